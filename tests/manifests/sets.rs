//! The Applications of ApplicationSets, as Argo CD's documents of its generators and templates have them.

use snapbox::str;

use crate::support::manifests::{GOOD, cluster, object};
use crate::support::stage::{Is, Stage, assert_cases, project};

use super::checked;
use super::composed::releases;

/// The values that a set gives to a chart: `GENERATORS => VALUES`, with Go templates unless `fast` is before it.
fn values(case: &str) -> Vec<String> {
    let (generators, values) = case.split_once(" => ").expect("GENERATORS => VALUES");
    let go = "goTemplate: true, goTemplateOptions: ['missingkey=error']";
    let (options, generators) = match generators.split_once(": ") {
        Some(("fast", rest)) => ("goTemplate: false", rest),
        Some(("loose", rest)) => ("goTemplate: true", rest),
        Some(("nested", rest)) => ("goTemplate: true, applyNestedSelectors: true", rest),
        _ => (go, generators),
    };
    let source = format!("{{path: chart, helm: {{valuesObject: {values}}}}}");
    let template = format!("{{metadata: {{name: app}}, spec: {{source: {source}}}}}");
    let spec = format!("spec: {{{options}, generators: {generators}, template: {template}}}");
    releases(&files(&spec), "set.yaml")
}

fn files(spec: &str) -> Stage {
    let set = object("argoproj.io/v1alpha1 ApplicationSet all", spec);
    project()
        .file("set.yaml", set)
        .file("chart/values.yaml", "{}")
        .file(
            "cfg/one.json",
            r#"{"name": "one", "at": {"v": "1.30"}, "n": 3, "no": null}"#,
        )
        .file("cfg/two.yaml", "[{name: two}, {name: three}]")
        .file("cfg/deep/four.yaml", "name: four")
        .file("cfg/empty.yaml", "")
        .file("env/North_1/a.txt", "a")
        .file("env/south/a.txt", "a")
        .file("env/south/deep/a.txt", "a")
}

#[test]
fn each_generator_gives_its_parameters() {
    assert_cases(
        str![[r#"
[{list: {elements: [{name: a, num: 1000000}]}}] => {x: '{{ .name }}', num: '{{ .num }}'}
    app in ``
      num = "1e+06" (set.yaml:5:236)
      x = "a" (set.yaml:5:216)
[{list: {elements: [{a: {b: [c]}}], elementsYaml: '[{a: {b: [d]}}]'}}] => {x: '{{ index .a.b 0 }}'}
    app in ``
      x = "c" (set.yaml:5:239)
    app in ``
      x = "d" (set.yaml:5:239)
[{list: {elementsYaml: '{'}}] => {x: 1}
    all in ``
      composition-unsupported: `elementsYaml` is not YAML (set.yaml:5:102)
fast: [{list: {elements: [{name: a, values: {v: v1}}]}}] => {x: '{{name}}-{{ values.v }}-{{other}}', '{{name}}': 1}
    app in ``
      a = 1 (set.yaml:5:228)
      x = "a-v1-{{other}}" (set.yaml:5:179)
fast: [{list: {elements: [{name: a, num: 3}]}}] => {x: '{{name}}'}
    all in ``
      composition-unsupported: `num` is not text, which an element needs without `goTemplate` (set.yaml:5:74)
fast: [{list: {elementsYaml: '[{name: a, num: 3}]'}}] => {x: '{{name}} {{num}}'}
    app in ``
      x = "a {{num}}" (set.yaml:5:176)
[{git: {directories: [{path: env/*}]}}] => {x: '{{ .path.path }} {{ .path.basename }} {{ .path.basenameNormalized }} {{ index .path.segments 1 }}'}
    app in ``
      x = "env/North_1 North_1 north-1 North_1" (set.yaml:5:208)
    app in ``
      x = "env/south south south south" (set.yaml:5:208)
[{git: {directories: [{path: env/**}, {path: env/s*, exclude: true}], values: {v: 'v-{{ .path.basename }}'}}}] => {x: '{{ .values.v }}'}
    app in ``
      x = "v-North_1" (set.yaml:5:279)
[{git: {directories: [{path: env/south}], pathParamPrefix: my}}] => {x: '{{ .my.path.basename }}'}
    app in ``
      x = "south" (set.yaml:5:233)
fast: [{git: {directories: [{path: env/N*}], pathParamPrefix: my, values: {v: 'v-{{my.path.basename}}'}}}] => {x: '{{my.path}} {{my.path[0]}} {{my.path.basenameNormalized}} {{values.v}}'}
    app in ``
      x = "env/North_1 env north-1 v-North_1" (set.yaml:5:229)
fast: [{git: {directories: [{path: env/south}, {path: '[', exclude: true}]}}] => {x: '{{path}}'}
    all in ``
      composition-failed: `[` is not a pattern of paths (set.yaml:5:80)
[{git: {files: [{path: cfg/*.json}]}}] => {x: '{{ .name }} {{ .at.v }} {{ .n }} {{ .path.path }} {{ .path.filename }} {{ .path.filenameNormalized }}'}
    app in ``
      x = "one 1.30 3 cfg one.json one.json" (set.yaml:5:207)
[{git: {files: [{path: 'cfg/*.yaml'}, {path: cfg/empty.yaml, exclude: true}]}}] => {x: '{{ .name }} {{ .path.basename }}'}
    app in ``
      x = "four deep" (set.yaml:5:248)
    app in ``
      x = "two cfg" (set.yaml:5:248)
    app in ``
      x = "three cfg" (set.yaml:5:248)
[{git: {files: [{path: 'cfg/deep/four.yaml'}]}}] => {x: '{{ .path.path }}'}
    app in ``
      x = "cfg/deep" (set.yaml:5:217)
fast: [{git: {files: [{path: cfg/one.json}]}}] => {x: '{{name}} {{at.v}} {{n}} {{no}} {{path}} {{path.filename}}'}
    app in ``
      x = "one 1.30 3 <nil> cfg one.json" (set.yaml:5:169)
[{git: {files: [{path: '['}]}}] => {x: 1}
    all in ``
      composition-failed: `[` is not a pattern of paths (set.yaml:5:95)
[{git: {files: [{path: set.yaml}]}}] => {x: '{{ .path.path }} {{ .path.basename }}'}
    app in ``
      x = ". ." (set.yaml:5:205)
[{clusters: {}}] => {x: 1}
    all in ``
      composition-unsupported: the generator `clusters` of an ApplicationSet is not evaluated (set.yaml:5:91)
[{list: {elements: [{a: b}]}}, {scmProvider: {}}] => {x: 1}
    app in ``
      x = 1 (set.yaml:5:218)
    all in ``
      composition-unsupported: the generator `scmProvider` of an ApplicationSet is not evaluated (set.yaml:5:124)

"#]],
        values,
    );
}

#[test]
fn generators_are_combined_and_selected() {
    assert_cases(
        str![[r#"
[{matrix: {generators: [{list: {elements: [{a: 1, c: {x: 1}}, {a: 2}]}}, {list: {elements: [{b: 'of {{ .a }}', c: {x: 2, z: 2}}]}}]}}] => {x: '{{ .a }} {{ .b }} {{ toJson .c }}'}
    app in ``
      x = "1 of 1 {\"x\":1,\"z\":2}" (set.yaml:5:303)
    app in ``
      x = "2 of 2 {\"x\":2,\"z\":2}" (set.yaml:5:303)
[{matrix: {generators: [{git: {directories: [{path: env/south}]}}, {git: {files: [{path: 'cfg/{{ .path.basename | replace "south" "one" }}.json'}], pathParamPrefix: f}}]}}] => {x: '{{ .name }} {{ .path.basename }} {{ .f.path.basename }}'}
    app in ``
      x = "one south cfg" (set.yaml:5:341)
[{matrix: {generators: [{list: {elements: [{list: [{k: a}]}]}}, {list: {elementsYaml: '{{ .list | toJson }}', template: {metadata: {name: '{{ .no }}'}}}}]}}] => {x: '{{ .k }}'}
    app in ``
      x = "a" (set.yaml:5:326)
fast: [{matrix: {generators: [{list: {elements: [{a: x}]}}, {list: {elements: [{b: '{{a}}y'}]}}]}}] => {x: '{{a}} {{b}}'}
    app in ``
      x = "x xy" (set.yaml:5:222)
fast: [{matrix: {generators: [{list: {elements: [{a: x}]}}, {list: {elements: [{a: z}]}}]}}] => {x: '{{a}}'}
    all in ``
      composition-unsupported: both generators of a matrix give `a` (set.yaml:5:49)
[{matrix: {generators: [{list: {elements: [{a: x}]}}]}}] => {x: 1}
    all in ``
      composition-unsupported: a matrix has two generators (set.yaml:5:89)
[{matrix: {generators: [{list: {elements: [{a: x}]}}, {clusters: {}}]}}] => {x: 1}
    all in ``
      composition-unsupported: the generator `clusters` of an ApplicationSet is not evaluated (set.yaml:5:144)
[{matrix: {generators: [{matrix: {generators: [{list: {elements: [{a: x}]}}, {list: {elements: [{b: b}]}}]}}, {list: {elements: [{c: z}]}}]}}] => {x: '{{ .a }}{{ .b }}{{ .c }}'}
    app in ``
      x = "xbz" (set.yaml:5:311)
[{matrix: {generators: [{matrix: {generators: [{matrix: {}}, {list: {}}]}}, {list: {}}]}}] => {x: 1}
    all in ``
      composition-unsupported: the generator `matrix` of an ApplicationSet is not evaluated (set.yaml:5:135)
[{merge: {mergeKeys: [k], generators: [{list: {elements: [{k: a, v: 1, w: {a: 1}}, {k: b, v: 1, w: {}}]}}, {list: {elements: [{k: a, v: 2, w: {b: 2}}, {k: c}]}}]}}] => {x: '{{ .k }} {{ .v }} {{ toJson .w }}'}
    app in ``
      x = "a 2 {\"a\":1,\"b\":2}" (set.yaml:5:333)
    app in ``
      x = "b 1 {}" (set.yaml:5:333)
fast: [{merge: {mergeKeys: [k], generators: [{list: {elements: [{k: a, v: '1'}]}}, {list: {elements: [{k: a, v: '2'}]}}]}}] => {x: '{{k}} {{v}}'}
    app in ``
      x = "a 2" (set.yaml:5:246)
[{merge: {mergeKeys: [k], generators: [{list: {elements: [{k: a}, {k: a}]}}, {list: {}}]}}] => {x: 1}
    all in ``
      composition-unsupported: the `mergeKeys` are those of several sets of parameters of a generator (set.yaml:5:88)
[{merge: {generators: [{list: {}}, {list: {}}]}}] => {x: 1}
    all in ``
      composition-unsupported: the `mergeKeys` are those of several sets of parameters of a generator (set.yaml:5:88)
[{list: {elements: [{k: a, l: {e: prod}}, {k: b, l: {e: dev}}]}, selector: {matchLabels: {l.e: prod}}}] => {x: '{{ .k }}'}
    app in ``
      x = "a" (set.yaml:5:272)
[{list: {elements: [{k: a}, {k: b}, {j: c}]}, selector: {matchExpressions: [{key: k, operator: In, values: [a]}]}}] => {x: '{{ .k }}'}
    app in ``
      x = "a" (set.yaml:5:284)
[{list: {elements: [{k: a}, {k: b}]}, selector: {matchExpressions: [{key: k, operator: NotIn, values: [a]}]}}] => {x: '{{ .k }}'}
    app in ``
      x = "b" (set.yaml:5:279)
[{list: {elements: [{k: a}, {j: b}]}, selector: {matchExpressions: [{key: k, operator: Exists}]}}] => {x: '{{ .k }}'}
    app in ``
      x = "a" (set.yaml:5:267)
[{list: {elements: [{k: a}, {j: [b]}]}, selector: {matchExpressions: [{key: k, operator: DoesNotExist}]}}] => {x: '{{ .j }}'}
    app in ``
      x = "[b]" (set.yaml:5:275)
[{matrix: {generators: [{list: {elements: [{a: 1}, {a: 2}]}, selector: {matchLabels: {a: '2'}}}, {list: {elements: [{b: 1}]}}]}}] => {x: '{{ .a }}'}
    app in ``
      x = "2" (set.yaml:5:298)
loose: [{matrix: {generators: [{matrix: {generators: [{list: {elements: [{a: 1}, {a: 2}]}, selector: {matchLabels: {a: '2'}}}, {list: {elements: [{b: 1}]}}]}}, {list: {elements: [{c: 1}]}}]}}] => {x: '{{ .a }}'}
    app in ``
      x = "1" (set.yaml:5:313)
    app in ``
      x = "2" (set.yaml:5:313)
nested: [{matrix: {generators: [{matrix: {generators: [{list: {elements: [{a: 1}, {a: 2}]}, selector: {matchLabels: {a: '2'}}}, {list: {elements: [{b: 1}]}}]}}, {list: {elements: [{c: 1}]}}]}}] => {x: '{{ .a }}'}
    app in ``
      x = "2" (set.yaml:5:341)

"#]],
        values,
    );
}

#[test]
fn templates_have_the_functions_of_argo_cd() {
    assert_cases(
        str![[r#"
[{list: {elements: [{k: 'Feat/A_b.C-'}]}}] => {x: '{{ .k | normalize }} {{ .k | lower }} {{ slugify .k }} {{ slugify 6 .k }} {{ slugify 6 false .k }} {{ slugify 2 .k }}'}
    app in ``
      x = "feat-a-b.c feat/a_b.c- feat-a-b-c feat-a feat-a fe" (set.yaml:5:211)
[{list: {elements: [{k: {a: [b]}}]}}] => {x: '{{ toYaml .k }}', f: '{{ (fromYaml "z: 1").z }}', z: '{{ printf "%s" (get .k "no" | default "none") }}'}
    app in ``
      f = "1" (set.yaml:5:228)
      x = "a:\n- b" (set.yaml:5:206)
      z = "none" (set.yaml:5:260)
[{list: {elements: [{k: a}]}}] => {x: '{{ .no }}'}
    all in ``
      composition-unsupported: `{{ .no }}` of an ApplicationSet: the map has no entry for key `no` (set.yaml:5:199)
loose: [{list: {elements: [{k: a}]}}] => {x: '{{ .no }}-{{ .k }}'}
    app in ``
      x = "<no value>-a" (set.yaml:5:158)
[{list: {elements: [{k: a}]}}] => {x: '{{ required "x" .k }}'}
    all in ``
      composition-unsupported: `{{ required "x" .k }}` of an ApplicationSet: there is no function `required` (set.yaml:5:199)
[{list: {elements: [{k: a}]}}] => {x: '{{ slugify 1 2 .k }}'}
    all in ``
      composition-unsupported: `{{ slugify 1 2 .k }}` of an ApplicationSet: `slugify` needs a length, a bool and a string and got `int` (set.yaml:5:199)
[{list: {elements: [{k: a}]}}] => {x: '{{ include "a" . }}'}
    all in ``
      composition-unsupported: `{{ include "a" . }}` of an ApplicationSet: there is no function `include` (set.yaml:5:199)
[{list: {elements: [{k: a}]}}] => {x: '{{ template "a" }}'}
    all in ``
      composition-unsupported: `{{ template "a" }}` of an ApplicationSet: there is no template `a` (set.yaml:5:199)
[{list: {elements: [{k: a}]}}] => {x: '{{ .k'}
    all in ``
      composition-unsupported: `{{ .k` of an ApplicationSet: the action is not closed by `}}` (set.yaml:5:199)
fast: [{list: {elements: [{k: a}]}}] => {x: '{{k', list: ['{{ k }}', 3]}
    app in ``
      list.0 = "a" (set.yaml:5:173)
      list.1 = 3 (set.yaml:5:184)
      x = "{{k" (set.yaml:5:159)

"#]],
        values,
    );
}

#[test]
fn a_generator_has_a_template_of_its_own_and_the_set_a_patch() {
    let spec = |generators: &str, patch: &str| {
        let source =
            "{path: chart, helm: {valuesObject: {from: set}, parameters: [{name: p, value: set}]}}";
        let template =
            format!("{{metadata: {{name: 'app-{{{{.k}}}}'}}, spec: {{source: {source}}}}}");
        let patch = format!("templatePatch: {patch}");
        let options = format!("goTemplate: true, generators: {generators}, template: {template}");
        releases(
            &files(&format!("spec:\n  {{{options}, {patch}}}\n")),
            "set.yaml",
        )
    };
    let own = "{spec: {destination: {namespace: '{{.k}}'}, source: {path: '', helm: {valuesObject: {own: 1}, parameters: []}}}}";
    let own = format!("[{{list: {{elements: [{{k: a}}], template: {own}}}}}]");
    let plain = "[{list: {elements: [{k: a}, {k: b}]}}]";
    let patch = r#"'{{ if eq .k "a" }}spec: {source: {helm: {releaseName: {{.k}}-x, parameters: [{name: q, value: "1"}]}}}{{ else }}{}{{ end }}'"#;
    let cases = [
        ("own", spec(&own, "null")),
        ("patch", spec(plain, patch)),
        ("no YAML", spec(plain, "'{'")),
        ("no map", spec(plain, "'spec: 1'")),
        ("no text", spec(plain, "''")),
        (
            "blank lines",
            spec(
                plain,
                r#""{{ if eq .k `b` }}spec: {source: {helm: {releaseName: x}}}{{ end }}\n""#,
            ),
        ),
        ("nothing", spec(plain, "'$patch: delete'")),
    ];
    let lines = cases.map(|(name, lines)| format!("{name}\n{}", lines.join("\n")));
    lines.join("\n").is(str![[r#"
own
app-a in `a`
  own = 1 (set.yaml:6:163)
  p = "set" (set.yaml:6:326)
patch
a-x in ``
  from = "set" (set.yaml:6:174)
  q = 1 (set.yaml:6:236)
app-b in ``
  from = "set" (set.yaml:6:174)
  p = "set" (set.yaml:6:210)
no YAML
all in ``
  composition-unsupported: `templatePatch` is not YAML once it is filled in (set.yaml:6:236)
all in ``
  composition-unsupported: `templatePatch` is not YAML once it is filled in (set.yaml:6:236)
no map
all in ``
  composition-unsupported: the patch has a number where the object has a map (set.yaml:6:236)
all in ``
  composition-unsupported: the patch has a number where the object has a map (set.yaml:6:236)
no text
app-a in ``
  from = "set" (set.yaml:6:174)
  p = "set" (set.yaml:6:210)
app-b in ``
  from = "set" (set.yaml:6:174)
  p = "set" (set.yaml:6:210)
blank lines
app-a in ``
  from = "set" (set.yaml:6:174)
  p = "set" (set.yaml:6:210)
x in ``
  from = "set" (set.yaml:6:174)
  p = "set" (set.yaml:6:210)
nothing
all in ``
  composition-unsupported: `templatePatch` deletes the whole Application (set.yaml:6:236)
all in ``
  composition-unsupported: `templatePatch` deletes the whole Application (set.yaml:6:236)
"#]]);
}

/// A chart of a cluster, a set of it, and what `check` says.
fn set_of_chart(set: &str) -> Stage {
    let set = object(
        "argoproj.io/v1alpha1 ApplicationSet all",
        &format!("spec:\n{set}"),
    );
    project()
        .file("set.yaml", set)
        .file(
            "charts/edge/Chart.yaml",
            "apiVersion: v2\nname: edge\nversion: 1.0.0\n",
        )
        .file("charts/edge/values.yaml", "v: v1.31.8\n")
        .file(
            "charts/edge/templates/edge.yaml",
            cluster("{{ .Values.v }}", GOOD),
        )
}

/// Its chart would be checked with values that nothing deploys.
#[test]
fn a_set_that_is_not_evaluated_is_said_for_each_chart_that_it_may_deploy() {
    let template = |path: &str| {
        format!("  template: {{metadata: {{name: app}}, spec: {{source: {{path: '{path}'}}}}}}\n")
    };
    let clusters = "  generators: [{clusters: {}}]\n";
    let list = "  goTemplate: true\n  generators: [{list: {elements: [{v: v1.30.2}]}}]\n";
    let patch = "  templatePatch: 'spec: {source: {helm: {parameters: [{name: v, value: \"{{ .v }}\"}]}}}'\n";
    let own = "  generators: [{scmProvider: {template: {spec: {source: {path: charts/edge}}}}}]\n";
    let cases = [
        ("a chart", format!("{clusters}{}", template("charts/edge"))),
        (
            "any chart",
            format!("{clusters}{}", template("charts/{{name}}")),
        ),
        (
            "some charts",
            format!("{clusters}{}", template("/charts/e{{name}}e/")),
        ),
        ("others", format!("{clusters}{}", template("apps/{{name}}"))),
        (
            "one that fails",
            format!("{list}{}", template("charts/{{ .no.more }}")),
        ),
        (
            "a function",
            format!("{list}{}", template("charts/{{ required .v }}")),
        ),
        ("a template of a generator", own.to_owned()),
        (
            "a patch",
            format!("{list}{patch}{}", template("charts/edge")),
        ),
        (
            "a path in a patch",
            format!("{clusters}  templatePatch: 'spec: {{source: {{path: x}}}}'\n"),
        ),
        (
            "a new field",
            format!("{list}  new: 1\n{}", template("charts/edge")),
        ),
    ];
    let cases = cases.map(|(name, set)| (name, set_of_chart(&set)));
    checked(cases).is(str![[r#"
a chart
any chart
some charts
    warning[composition-unsupported] set.yaml:2:1 `apiVersion: argoproj.io/v1alpha1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    all/edge: unknown (the values of its chart are not known)
others
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:4), edge/edge-md v1.31.8 (charts/edge/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.31.8 (charts/edge/templates/edge.yaml:29:49) holds 1.31.8
one that fails
a function
a template of a generator
    warning[composition-unsupported] set.yaml:2:1 `apiVersion: argoproj.io/v1alpha1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    all/edge: unknown (the values of its chart are not known)
a patch
    error[k8s-version-mismatch] edge/control-plane charts/edge/templates/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` set.yaml:8:18 `'spec: {source: {helm: {parameters: [{name: v, value: "{{ .v }}"}]}}}'` => v1.30.2
    edge/control-plane v1.30.2 (set.yaml:8:18), edge/edge-md v1.30.2 (set.yaml:8:18): mismatched, ubuntu-2204-kube-v1.31.8 (charts/edge/templates/edge.yaml:29:49) holds 1.31.8
a path in a patch
    warning[composition-unsupported] set.yaml:6:27 `{}` => clusters
    error[nothing-checked] => metalmark clusters | --allow-empty
    all/edge: unknown (the values of its chart are not known)
a new field
    warning[composition-unsupported] set.yaml:2:1 `apiVersion: argoproj.io/v1alpha1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    all/edge: unknown (the values of its chart are not known)

"#]]);
}

/// Nobody knows whether the base is deployed by itself; what no kustomization names is checked as it is anyway.
#[test]
fn what_a_generator_with_a_field_that_is_not_known_may_deploy_is_unknown() {
    let stage = |generators: &str, source: &str| {
        let template = format!("{{metadata: {{name: app}}, spec: {{source: {{{source}}}}}}}");
        let spec =
            format!("spec: {{goTemplate: true, generators: {generators}, template: {template}}}");
        project()
            .file(
                "set.yaml",
                object("argoproj.io/v1alpha1 ApplicationSet all", &spec),
            )
            .file("base/kustomization.yaml", "resources: [edge.yaml]\n")
            .file("base/edge.yaml", cluster("v1.31.8", GOOD))
            .file(
                "over/kustomization.yaml",
                "resources: [../base]\nnamespace: o\n",
            )
    };
    let git = "{git: {directories: [{path: over}], new: x}}";
    let list = "{list: {elements: [{a: b}]}}";
    let path = "path: '{{.path.path}}'";
    let chart = format!("{path}, helm: {{releaseName: x}}");
    let patched = format!("{path}, kustomize: {{nameSuffix: -x}}");
    let cases = [
        ("known", "[{git: {directories: [{path: over}]}}]".to_owned(), path),
        ("a field", format!("[{git}]"), path),
        ("a field in a matrix", format!("[{{matrix: {{generators: [{list}, {git}]}}}}]"), path),
        ("a field, and the path is known", format!("[{git}]"), "path: over"),
        ("a field, and it deploys charts", format!("[{git}]"), &chart),
        ("a field, and it changes what it deploys", format!("[{git}]"), &patched),
        ("a generator", "[{new: {}}]".to_owned(), path),
        ("an operator", "[{git: {directories: [{path: over}]}, selector: {matchExpressions: [{key: path.path, operator: Is}]}}]".to_owned(), path),
    ];
    let cases = cases.map(|(name, generators, path)| (name, stage(&generators, path)));
    checked(cases).is(str![[r#"
known
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a field
    warning[composition-unsupported] set.yaml:5:80 `x`
    ./edge/control-plane v1.31.8 (base/edge.yaml:12:12), ./edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
    over/edge/control-plane v1.31.8 (base/edge.yaml:12:12), over/edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a field in a matrix
    warning[composition-unsupported] set.yaml:5:133 `x`
    ./edge/control-plane v1.31.8 (base/edge.yaml:12:12), ./edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
    over/edge/control-plane v1.31.8 (base/edge.yaml:12:12), over/edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a field, and the path is known
a field, and it deploys charts
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a field, and it changes what it deploys
    warning[composition-unsupported] set.yaml:5:80 `x`
    error[nothing-checked] => metalmark clusters | --allow-empty
    ./edge/control-plane v1.31.8 (base/edge.yaml:12:12), ./edge/edge-md v1.31.8 (base/edge.yaml:23:16), ./edge#2/control-plane v1.31.8 (base/edge.yaml:12:12), ./edge#2/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
a generator
    warning[composition-unsupported] set.yaml:5:45 `{}` => clusters
    ./edge/control-plane v1.31.8 (base/edge.yaml:12:12), ./edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
    over/edge/control-plane v1.31.8 (base/edge.yaml:12:12), over/edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
an operator
    warning[composition-unsupported] set.yaml:5:86 `{matchExpressions: [{key: path.path, operator: Is}]}` => clusters
    ./edge/control-plane v1.31.8 (base/edge.yaml:12:12), ./edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
    over/edge/control-plane v1.31.8 (base/edge.yaml:12:12), over/edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8

"#]]);
}

#[test]
fn a_generator_that_finds_nothing_in_this_repository_says_so() {
    let deployed = |generator: &str| {
        let source = "{repoURL: https://git.example/fleet, path: chart}";
        let spec = format!(
            "spec: {{goTemplate: true, generators: [{{git: {{repoURL: https://git.example/fleet, {generator}}}}}], template: \
             {{metadata: {{name: app}}, spec: {{source: {source}}}}}}}"
        );
        let chart = "apiVersion: v2\nname: chart\nversion: 1.0.0\n";
        files(&spec)
            .file("chart/Chart.yaml", chart)
            .file("chart/templates/cluster.yaml", cluster("v1.31.8", GOOD))
    };
    let generators = [
        "files: [{path: cgf/*.json}]",
        "files: [{path: cfg/*.jsn}]",
        "directories: [{path: envs/*}]",
        "directories: [{path: env/*}, {path: env/south, exclude: true}]",
        "directories: [{path: env/south}, {path: env/south, exclude: true}]",
    ];
    checked(generators.map(|generator| (generator, deployed(generator)))).is(str![[r#"
files: [{path: cgf/*.json}]
files: [{path: cfg/*.jsn}]
directories: [{path: envs/*}]
    warning[composition-unsupported] set.yaml:2:1 `apiVersion: argoproj.io/v1alpha1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    all/chart: unknown (the values of its chart are not known)
directories: [{path: env/*}, {path: env/south, exclude: true}]
    edge/control-plane v1.31.8 (chart/templates/cluster.yaml:12:12), edge/edge-md v1.31.8 (chart/templates/cluster.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/cluster.yaml:29:49) holds 1.31.8
directories: [{path: env/south}, {path: env/south, exclude: true}]
    warning[composition-unsupported] set.yaml:2:1 `apiVersion: argoproj.io/v1alpha1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    all/chart: unknown (the values of its chart are not known)

"#]]);
    assert_cases(
        str![[r#"
[{git: {files: [{path: cgf/*.json}]}}] => {x: 1}
    all in ``
      composition-failed: nothing matches `cgf/*.json`: no Application is made (set.yaml:5:102)

"#]],
        values,
    );
}
