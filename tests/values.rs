//! `metalmark values`: the exact screens, and secrets that never show.

use std::fs;

use serde_json::Value;
use snapbox::str;

use super::oracle::typed;
use super::oracle::{accepted, canonical, cases};
use super::support::repository;
use super::support::seen::Seen;
use super::support::stage::{Is, Run, Stage, project, table};

fn demo() -> Stage {
    project().folder("fixtures/workspaces/sylva-baremetal")
}

/// A workspace of one cluster: chart values, secrets, values.
fn one(settings: &str, chart: &str, own: &str) -> Stage {
    project()
        .settings("values: [chart.yaml]\nclusters: [{name: one, values: [secrets.yaml, own.yaml]}]")
        .settings(settings)
        .file("chart.yaml", chart)
        .file("secrets.yaml", "password: correct-horse\npin: 48151623\n")
        .file("own.yaml", own)
}

/// The lines that each of these calls of `values` prints.
fn screens<'w>(stage: &Stage, calls: impl IntoIterator<Item = &'w str>) -> String {
    table(calls, |words| {
        let Run { outcome, .. } = stage.run(&format!("values {words}"));
        let screen = outcome.stdout + &outcome.stderr;
        let status = (outcome.status != 0).then(|| format!("exit {}", outcome.status));
        status
            .into_iter()
            .chain(screen.lines().map(str::to_owned))
            .collect()
    })
}

#[test]
fn values_are_printed_as_yaml_or_json_raw_or_with_their_origin() {
    let calls = [
        "edge-paris cluster.machine_deployments.storage",
        "edge-paris cluster.k8s_version",
        "edge-paris cluster.capm3.os_image_selector --output json",
        "edge-paris os_images_oci_registries.sylva --raw",
        "edge-paris cluster.capm3 --origin",
        "edge-paris k8s_version_short --origin --output json",
    ];
    screens(&demo(), calls).is(str![[r#"
edge-paris cluster.machine_deployments.storage
    capm3:
      hostSelector:
        matchLabels:
          cluster-role: storage
      image_key: opensuse-15-6-hardened-rke2-1-31-8
      os_image_selector: null
    replicas: 2
edge-paris cluster.k8s_version
    v1.31.8+rke2r1
edge-paris cluster.capm3.os_image_selector --output json
    {
      "hardened": false,
      "os": "ubuntu"
    }
edge-paris os_images_oci_registries.sylva --raw
    cosign_publickey: ""
    enabled: true
    tag: "{{ .Values.sylva_diskimagebuilder_version }}"
    url: "{{ .Values.sylva_base_oci_registry }}/sylva-elements/diskimage-builder"
edge-paris cluster.capm3 --origin
    cluster.capm3.machine_image_checksum_type: sha256  # charts/sylva-units/values.yaml:45:34 (layer 1)
    cluster.capm3.networks.primary.interface: ""  # charts/sylva-units/values.yaml:48:20 (layer 1)
    cluster.capm3.os_image_selector.hardened: false  # environment-values/workload-clusters/edge-paris/values.yaml:7:17 (layer 2)
    cluster.capm3.os_image_selector.os: ubuntu  # environment-values/workload-clusters/edge-paris/values.yaml:6:11 (layer 2)
edge-paris k8s_version_short --origin --output json
    [
      {
        "path": "k8s_version_short",
        "value": "1.31",
        "file": "charts/sylva-units/values.yaml",
        "line": 14,
        "column": 20,
        "layer": 1
      }
    ]

"#]]);
}

#[test]
fn the_chain_of_expressions_is_reported() {
    // An expression reads another one, which reads a third: each is reported with the place that reads it.
    let calls = [
        "edge-paris --why os_images_oci_registries.sylva.url",
        "edge-paris --why cluster.k8s_version",
    ];
    screens(&demo(), calls).is(str![[r#"
edge-paris --why os_images_oci_registries.sylva.url
    os_images_oci_registries.sylva.url is a string: oci://registry.example.org/sylva-projects/sylva-elements/diskimage-builder
    set by, the last one wins
      "{{ .Values.sylva_base_oci_registry }}/sylva-elements/diskimage-builder"  # charts/sylva-units/values.yaml:9:10 (layer 1)
    evaluated to oci://registry.example.org/sylva-projects/sylva-elements/diskimage-builder
      reads sylva_base_oci_registry: oci://registry.example.org/sylva-projects  # charts/sylva-units/values.yaml:3:26 (layer 1)
edge-paris --why cluster.k8s_version
    cluster.k8s_version is a string: v1.31.8+rke2r1
    set by, the last one wins
      '{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version defined for %s" .Values.k8s_version_short) }}'  # charts/sylva-units/values.yaml:42:16 (layer 1)
    evaluated to v1.31.8+rke2r1
      reads k8s_version_short: "1.31"  # charts/sylva-units/values.yaml:14:20 (layer 1)
      reads _internal.k8s_version_map."1.31": "{{- $version := \"v1.31.8\" -}} {{- if .Values.cluster.capi_providers.bootstrap_provider | eq \"cabpr\" -}}\n  {{- $version = \"v1.31.8+rke2r1\" -}}\n{{- end -}} {{- $version -}}"  # charts/sylva-units/values.yaml:54:13 (layer 1)
        which is v1.31.8+rke2r1
        reads cluster.capi_providers.bootstrap_provider: cabpr  # charts/sylva-units/values.yaml:41:25 (layer 1)

"#]]);
}

#[test]
fn every_layer_that_sets_a_value_is_reported_in_order() {
    let chart = "a: {b: 1, c: 2}\nlist: [x]\nd: {e: {f: 1}}\nname: x\nmap:\n  'a-{{ .Values.name }}.b': {c: 1}\n";
    let stage = one(
        "",
        chart,
        "a: {b: 3, c: null}\nlist: [y, z]\nd: {e: null}\n",
    );
    // A null removes the map around a value; a key may be an expression.
    let calls = [
        "--why a.b",
        "--why a.c",
        "--why list[1]",
        "--why a",
        "--why d.e.f",
        "--why map[a-x.b].c",
    ];
    screens(&stage, calls).is(str![[r#"
--why a.b
    a.b is a number: 3
    set by, the last one wins
      1  # chart.yaml:1:8 (layer 1)
      3  # own.yaml:1:8 (layer 3)
--why a.c
    a.c has no value
    set by, the last one wins
      2  # chart.yaml:1:14 (layer 1)
      null, which removes it  # own.yaml:1:14 (layer 3)
--why list[1]
    list[1] is a string: z
    set by, the last one wins
      list: a list of 1  # chart.yaml:2:7 (layer 1)
      z  # own.yaml:2:11 (layer 3)
--why a
    a is a map
    set by, the last one wins
      merges a map of b, c  # chart.yaml:1:4 (layer 1)
      merges a map of b, c  # own.yaml:1:4 (layer 3)
--why d.e.f
    d.e.f has no value
    set by, the last one wins
      1  # chart.yaml:3:12 (layer 1)
      d.e: null, which removes it  # own.yaml:3:8 (layer 3)
--why map[a-x.b].c
    map."a-x.b".c is a number: 1
    set by, the last one wins
      map."a-{{ .Values.name }}.b".c: 1  # chart.yaml:6:33 (layer 1)

"#]]);
}

#[test]
fn a_path_that_is_not_there_gets_a_suggestion() {
    let calls = [
        "edge-paris cluster.k8s_verson",
        "edge-pari",
        "",
        "edge-paris --why",
        "edge-paris a..b",
    ];
    screens(&demo(), calls).is(str![[r#"
edge-paris cluster.k8s_verson
    exit 2
    error: cluster `edge-paris` has no value `cluster.k8s_verson`
    help: did you mean `cluster.k8s_version`?
edge-pari
    exit 2
    error: there is no cluster `edge-pari`
    help: did you mean `edge-paris`?

    exit 2
    error: which cluster?
    help: name one of mgmt, edge-lyon, edge-paris, lab-7
edge-paris --why
    exit 2
    error: `--why` explains one value
    help: name its path: `metalmark values CLUSTER --why PATH`
edge-paris a..b
    exit 2
    error: `a..b` is not a path: a key is missing
    help: write keys with dots between them, quote those that hold a dot: `a."b.c"[0]` or `a[b.c][0]`

"#]]);
}

#[test]
fn what_fails_is_reported_and_only_where_it_is_requested() {
    let chart = "map: {good: '{{ .Values.x }}', bad: '{{ fail \"no luck\" }}'}\nx: 1\n";
    let calls = ["map.good", "map", "map --raw", "--why map.bad"];
    screens(&one("", chart, ""), calls).is(str![[r#"
map.good
    "1"
map
    exit 1
    good: "1"
    error[expression-error]: no luck
     --> chart.yaml:1:41
      |
    1 | map: {good: '{{ .Values.x }}', bad: '{{ fail "no luck" }}'}
      |                                         ^^^^^^^^^^^^^^ in `map.bad`
      |
      = cluster: one
    
    1 error in 1 cluster
map --raw
    bad: '{{ fail "no luck" }}'
    good: "{{ .Values.x }}"
--why map.bad
    exit 1
    map.bad cannot be evaluated
    set by, the last one wins
      '{{ fail "no luck" }}'  # chart.yaml:1:37 (layer 1)
    evaluated by map.bad
    error[expression-error]: no luck
     --> chart.yaml:1:41
      |
    1 | map: {good: '{{ .Values.x }}', bad: '{{ fail "no luck" }}'}
      |                                         ^^^^^^^^^^^^^^ in `map.bad`
      |
      = cluster: one
    
    1 error in 1 cluster

"#]]);
}

/// A program that reads the output takes an empty one for an answer.
#[test]
fn a_value_whose_expression_is_refused_is_no_answer() {
    let project = project().cluster("edge", "{x: '{{ now }}', known: 1}");
    for (words, status) in [("x --output json", 1), ("x", 1), ("known --output json", 0)] {
        let run = project.run(&format!("values edge {words}"));
        run.exit(status);
    }
}

#[test]
fn values_that_need_each_other_end_in_a_finding() {
    let both = "x: '{{ .Values.z }}'\nz: '{{ .Values.x }}'\n";
    let by_name =
        "os_images: {'img-{{ .Values.z }}': {}}\nz: '{{ .Values.os_images | keys | first }}'\n";
    let findings = table(["lazy", "exact"], |evaluation| {
        let first = |text: &str, path: &str| {
            let stage = one(&format!("evaluation: {evaluation}"), "", text);
            let run = stage.run(&format!("values {path}")).exit(1);
            let line = run.outcome.stderr.lines().next().expect("a finding");
            format!("{path}: {line}")
        };
        vec![
            first(both, "x"),
            first(both, "z"),
            first(by_name, "os_images"),
        ]
    });
    findings.is(str![[r#"
lazy
    x: error[expression-error]: the value depends on itself: `x` → `z` → `x`
    z: error[expression-error]: the value depends on itself: `z` → `x` → `z`
    os_images: error[expression-error]: the value depends on itself: `os_images."img-{{ .Values.z }}"` → `z` → `os_images."img-{{ .Values.z }}"`
exact
    x: error[expression-error]: the result of the expression is an expression again, 1000 times over
    z: error[expression-error]: the result of the expression is an expression again, 1000 times over
    os_images: error[expression-error]: the result of the expression is an expression again, 1000 times over

"#]]);
}

/// Values that are made of a secret in every way there is.
const LEAKS: &str = r#"
password: ""
login: 'user:{{ .Values.password }}'
encoded: '{{ .Values.login | b64enc }}'
indirect: '{{ .Values.copy }}'
copy: '{{ .Values.password }}'
hash: '{{ .Values.nested | toJson | sha256sum }}'
length: '{{ .Values.password | len }}'
part: '{{ substr 0 2 .Values.password }}'
is_set: '{{ if .Values.password }}on{{ else }}off{{ end }}'
again: '{{ print "{{" " .Values.password " "}}" }}'
text: '{{ tpl .Values.nested.raw . }}'
typed: '{{ .Values.nested | include "preserve-type" }}'
fails: '{{ fail .Values.password }}'
double: "\u007b{ .Values.password }}"
anchor: &a '{{ .Values.password }}'
alias: *a
nested:
  list: ['{{ .Values.password | upper }}', {deep: '{{ .Values.pin }}'}]
  '{{ .Values.password }}': key
  raw: '{{ "{{ .Values.password }}" }}'
  whole: '{{ .Values | toJson }}'
_internal:
  token: '{{ .Values.password }}'
  state: {}
through: '{{ .Values._internal.token }}'
plain: nobody's secret
greeting: 'hello {{ .Values.plain }}'
"#;

#[test]
fn a_secret_is_never_printed_whatever_is_made_of_it() {
    let secrets = [
        "correct-horse",
        "CORRECT-HORSE",
        "48151623",
        "Y29ycmVjd",
        "dXNlcjpj",
    ];
    let seen = Seen::new(&[
        "a hidden secret",
        "a plain value",
        "an origin",
        "a chain",
        "a failure",
    ]);
    for evaluation in ["lazy", "exact"] {
        let stage = one(&format!("evaluation: {evaluation}"), LEAKS, "");
        let keys = LEAKS.lines().filter(|line| !line.starts_with(' '));
        let keys = keys.filter_map(|line| Some(line.split_once(':')?.0));
        let paths = keys.chain(["nested.list[0]", "nested.list[1].deep"]);
        let whys =
            paths.flat_map(|path| ["", " --output json"].map(|end| format!("--why {path}{end}")));
        let calls = ["", "--raw", "--origin", "--output json"].map(str::to_owned);
        for call in calls.into_iter().chain(whys) {
            let outcome = stage.run(&format!("values {call}")).outcome;
            let all = outcome.stdout + &outcome.stderr;
            for secret in secrets {
                assert!(
                    !all.contains(secret),
                    "{evaluation} {call}: {secret}\n{all}"
                );
            }
            seen.note_if(
                all.contains("<secret secrets.yaml: password>"),
                "a hidden secret",
            );
            seen.note_if(all.contains("hello nobody's secret"), "a plain value");
            seen.note_if(all.contains("# chart.yaml:"), "an origin");
            seen.note_if(all.contains("reads password: "), "a chain");
            seen.note_if(all.contains("error[expression-error]"), "a failure");
        }
        let outcome = stage.run("values --output json").outcome;
        let values: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        for key in ["login", "copy", "part", "anchor", "through"] {
            let text = values[key]
                .as_str()
                .unwrap_or("<secret secrets.yaml: left out");
            assert!(
                text.contains("<secret secrets.yaml: "),
                "{evaluation} {key}: {text}"
            );
        }
        // A secret may be tested for emptiness; any other look fails.
        assert_eq!(values["is_set"], "on");
        assert_eq!(values["length"], Value::Null);
        assert_eq!(values["greeting"], "hello nobody's secret");
        assert_eq!(values["password"], "<secret secrets.yaml: password>");
    }
    seen.assert_each(2);
}

#[test]
fn secrets_of_a_file_and_of_a_folder_that_is_composed_are_not_printed() {
    screens(&demo(), ["mgmt cluster.baremetal_hosts"]).is(str![[r#"
mgmt cluster.baremetal_hosts
    server-1:
      credentials:
        password: "<secret environment-values/mgmt/secrets.yaml: cluster.baremetal_hosts.server-1.credentials.password>"
        username: "<secret environment-values/mgmt/secrets.yaml: cluster.baremetal_hosts.server-1.credentials.username>"

"#]]);
    let flux = project().folder("fixtures/workspaces/sylva-flux");
    let clusters = "clusters: [{each: environment-values/workload-clusters/*/}, {each: environment-values/*/}]";
    let calls = ["edge-3 cluster.secret --origin", "lyon cluster.bmc"];
    screens(&flux.settings(clusters), calls).is(str![[r#"
edge-3 cluster.secret --origin
    cluster.secret: "<secret environment-values/workload-clusters/edge-3/objects.yaml: items.1.data.values.yaml.cluster.secret>"  # environment-values/workload-clusters/edge-3/objects.yaml:15:25 (layer 5)
lyon cluster.bmc
    password: "<secret environment-values/lyon/secrets.yaml: cluster.bmc.password>"

"#]]);
}

#[test]
fn in_sylvas_order_the_values_are_sylvas() {
    let mut wrong = Vec::new();
    let is_exception = |id: &str| {
        typed::EXCEPTIONS
            .iter()
            .any(|(exception, _)| *exception == id)
    };
    for case in cases("typed.jsonl") {
        let id = case["id"].as_str().expect("an id");
        if is_exception(id) {
            continue;
        }
        let own = case["values"].as_str().expect("values");
        let chart = "_internal: {state: {}}\nunit_templates: {}\n";
        let stage = one("evaluation: exact", chart, own).file("secrets.yaml", "{}\n");
        let outcome = stage.run("values --output json").outcome;
        let agrees =
            accepted(&case["expect"]["helm3"])
                .iter()
                .any(|expect| match expect["json"].as_str() {
                    Some(theirs) => {
                        outcome.status == 0
                            && canonical(&without_kept(&outcome.stdout)) == canonical(theirs)
                    }
                    None => outcome.status == 1,
                });
        if !agrees {
            wrong.push(format!(
                "{id}\n{}{}\n{}",
                outcome.stdout, outcome.stderr, case["expect"]["helm3"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The data leaves out what the run puts back as it was.
fn without_kept(json: &str) -> String {
    let mut values: Value = serde_json::from_str(json).unwrap_or_default();
    if let Some(map) = values.as_object_mut() {
        map.remove("unit_templates");
        map.remove("unit_definition_defaults");
    }
    values.to_string()
}

#[test]
fn the_commands_of_the_page_run() {
    let page = fs::read_to_string(repository().join("docs/values.md")).expect("docs/values.md");
    let stage = demo();
    let mut ran = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().expect("text");
        let (line, screen) = block.split_once('\n').expect("a command and its screen");
        let words = line.strip_prefix("$ metalmark ").expect("a command");
        let run = stage.run(words).exit(0).stderr("");
        assert_eq!(run.outcome.stdout, screen, "{line}");
        ran += 1;
    }
    assert!(ran >= 4, "{ran} commands");
}
