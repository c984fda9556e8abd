//! Values evaluated lazily and by name: the rules of Sylva's helpers, and the laws of evaluation.

use go_template::{Engine, ErrorClass};
use metalmark::evaluate::{Evaluation, Evaluator, Failure, Options, TemplateCache};
use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::FileId;
use yaml_tree::value::Node;

use super::support::grammar::expression;
use super::support::seen::property_of_each;

fn read(text: &str) -> Node {
    yaml_tree::values(text, FileId(0), Engine::Helm3).expect("the test's YAML is right")
}

fn evaluator(text: &str, evaluation: Evaluation) -> Evaluator {
    let options = Options {
        evaluation,
        ..Options::default()
    };
    Evaluator::new(&read(text), &options, &TemplateCache::default())
}

fn lazy(text: &str) -> Evaluator {
    evaluator(text, Evaluation::Lazy)
}

fn json(node: &Node) -> String {
    to_json(&node.value, Html::Plain)
}

fn answer(result: Result<Option<Node>, Failure>) -> String {
    match result {
        Ok(Some(node)) => json(&node),
        Ok(None) => "left out".to_owned(),
        Err(failure) => format!("{:?}", failure.class),
    }
}

/// What `v` comes to in both orders of evaluation.
fn both(text: &str) -> String {
    let by_name = answer(evaluator(text, Evaluation::Exact).get(&["v"]));
    let lazily = answer(lazy(text).get(&["v"]));
    if by_name == lazily {
        lazily
    } else {
        format!("lazily {lazily}, by name {by_name}")
    }
}

fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, expected)| (text, expected, both(text)))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(text, expected, found)| format!("{text}\n  expected {expected}\n  found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn strings_follow_the_four_rules() {
    check(&[
        ("v: plain", r#""plain""#),
        ("num: 5\nv: '{{ .Values.num }}'", r#""5""#),
        ("v: '{{}}'", r#""{{}}""#),
        ("v: '{{ }}'", "Parse"),
        ("v: '{{ not closed'", r#""{{ not closed""#),
        ("v: '{{ \"{{ .Values.c }}\" }}'\nc: deep", r#""deep""#),
        ("v: '{{ `{{ \"{{ 1 }}\" }}` }}'", r#""1""#),
        ("v: |\n  line {{ .Values.i }}\ni: 7", r#""line 7\n""#),
        ("v: '{{ dict \"k\" 1 }}'", r#""map[k:1]""#),
        ("v: '{{ 1000000.0 }}'", r#""1e+06""#),
        ("v: '{{ 1 | include \"preserve-type\" }} trailing'", "null"),
        ("v: ' {{ 1 | include \"preserve-type\" }} '", "1"),
        (
            "v: 'x-{{ 1 | include \"preserve-type\" }}'",
            r#""x-{\"encapsulated-result\":1}""#,
        ),
        (
            "v: \"\\t{{ 1 | include \\\"preserve-type\\\" }}\"",
            r#""\t{\"encapsulated-result\":1}""#,
        ),
    ]);
}

#[test]
fn missing_values_are_empty_and_fields_of_nil_are_errors() {
    check(&[
        ("v: '{{ .Values.x }}'", r#""""#),
        ("m: {}\nv: '{{ .Values.m.q }}'", r#""""#),
        ("v: '{{ .Values.zz.q }}'", "NilPointer"),
        ("v: '{{ (.Values.zz).q }}'", r#""""#),
    ]);
}

#[test]
fn lists_and_maps_are_evaluated_with_keys() {
    check(&[
        ("v: ['{{ 1 }}', 2, ['{{ 3 }}']]", r#"["1",2,["3"]]"#),
        ("k: dyn\nv: {'{{ .Values.k }}': 1}", r#"{"dyn":1}"#),
        (
            "k: a\nv: {'{{ .Values.k }}': templated, a: literal}",
            r#"{"a":"templated"}"#,
        ),
        ("v: {'{{ \"\" }}': 1}", r#"{"":1}"#),
        (
            "v: {'{{ list | include \"preserve-type\" }}': 1}",
            "WrongType",
        ),
        ("v: ['{{ \"\" }}', {a: '{{ \"\" }}'}]", r#"["",{"a":""}]"#),
        (
            "v: {'(raw)': '{{ as it is }}'}\n",
            "lazily \"{{ as it is }}\", by name \"《 as it is }}\"",
        ),
        ("v: {'(raw)': a, b: 1}", "Fail"),
        ("v: {'(raw)': 5}", "Fail"),
        (
            "m: {k: '{{ 1 }}'}\nv: '{{ .Values.m | include \"preserve-type\" }}'",
            r#"{"k":"1"}"#,
        ),
    ]);
}

#[test]
fn entries_are_left_out_by_the_skip_text() {
    let skip = "{{ tuple 1 false | include \"set-only-if\" }}";
    check(&[
        (&format!("v: [a, '{skip}', b]"), r#"["a","b"]"#),
        (&format!("v: {{a: 1, b: '{skip}'}}"), r#"{"a":1}"#),
        (
            &format!("v: ['x{skip}']"),
            r#"["xskip-as-set-only-if-result-was-false"]"#,
        ),
        ("v: [skip-as-set-only-if-result-was-false]", "[]"),
        ("v: ['{\"encapsulated-result\":[1]}']", "[[1]]"),
        (&format!("v: '{skip}'"), "left out"),
        (&format!("b: '{skip}'\nv: ['{{{{ .Values.b }}}}']"), "[]"),
        (
            &format!("b: '{skip}'\nv: ['{{{{ .Values.b | include \"set-if-defined\" }}}}']"),
            "[]",
        ),
        (
            "v: ['{{ .Values.no | include \"set-if-defined\" }}', '{{ false | include \"set-if-defined\" }}']",
            "[false]",
        ),
    ]);
}

/// Each as real Helm with Sylva's templates.
#[test]
fn what_is_left_out_before_an_expression_is_evaluated_is_missing() {
    let skip = "{{ tuple 1 false | include \"set-only-if\" }}";
    let values = format!(
        "_internal: {{state: {{s: '{skip}', t: '{{{{ .Values._internal.state.s | default 1 }}}}'}}, \
         p: '{skip}', l: [a, '{skip}'], j: '{{\"encapsulated-result\":[1]}}', \
         q: '{{{{ .Values._internal.p | default 1 }}}}', r: '{{{{ .Values._internal.state.s | default 2 }}}}', \
         h: '{{{{ hasKey .Values._internal \"p\" }}}} {{{{ hasKey .Values._internal.state \"s\" }}}}'}}\n\
         p: '{skip}'\n"
    );
    let cases = [
        (
            "{{ if .Values._internal.p }}1{{ else }}2{{ end }}",
            r#""2""#,
        ),
        ("{{ .Values._internal.p | default 2 }}", r#""2""#),
        ("{{ .Values._internal.p }}", r#""""#),
        ("a-{{ .Values._internal.p }}", r#""a-""#),
        ("{{ hasKey .Values._internal \"p\" }}", r#""false""#),
        (
            "{{ range $key, $_ := .Values._internal }}{{ $key }}{{ end }}",
            r#""hjlrstate""#,
        ),
        ("{{ len .Values._internal }}", r#""5""#),
        ("{{ .Values._internal.state | toJson }}", r#""{}""#),
        ("{{ .Values._internal.l | toJson }}", r#""[\"a\"]""#),
        ("{{ .Values._internal.j | toJson }}", r#""[1]""#),
        ("{{ .Values._internal.r }}", r#""2""#),
        ("{{ .Values._internal.h }}", r#""true false""#),
        // Helm gives the text of any other value, which is true, and left out where it is printed.
        ("{{ if .Values.p }}1{{ else }}2{{ end }}", r#""1""#),
        ("{{ .Values.p | default 2 }}", "left out"),
        ("{{ hasKey .Values \"p\" }}", r#""true""#),
    ];
    let cases =
        cases.map(|(expression, expected)| (format!("{values}v: '{expression}'"), expected));
    let cases = cases
        .each_ref()
        .map(|(text, expected)| (&**text, *expected));
    check(&cases);
}

#[test]
fn types_survive_what_preserves_them() {
    check(&[
        (
            "v: '{{ 12345678901 | include \"preserve-type\" }}'",
            "12345678901",
        ),
        (
            "v: '{{ \"<a&b>\" | include \"preserve-type\" }}'",
            r#""<a&b>""#,
        ),
        ("v: '{{ nil | include \"preserve-type\" }}'", "Other"),
        (
            "v: '{{ tuple nil true | include \"set-only-if\" }}'",
            "null",
        ),
        (
            "v: '{{ tuple (list 1) \"yes\" | include \"set-only-if\" }}'",
            "[1]",
        ),
        ("v: '{{ \"\" | include \"as-bool\" }}'", "false"),
        ("v: '{{ \"yes\" | include \"as-bool\" }}'", "Fail"),
        ("v: '{{ .Values.no | include \"as-bool\" }}'", "WrongType"),
        // A value that only names another one keeps its type: its text is printed, and then evaluated.
        (
            "b: '{{ list 1 | include \"preserve-type\" }}'\nv: '{{ .Values.b }}'",
            "[1]",
        ),
        // What stands under _internal was evaluated before, and is printed.
        (
            "_internal: {b: '{{ list 1 | include \"preserve-type\" }}'}\nv: '{{ .Values._internal.b }}'",
            r#""[1]""#,
        ),
    ]);
}

#[test]
fn helpers_evaluate_what_they_are_given() {
    check(&[
        (
            "a: x\nb: '{{ .Values.a }}'\nv: '{{ tuple . .Values.b | include \"interpret-as-string\" | upper }}'",
            r#""X""#,
        ),
        (
            "v: '{{ tuple . .Values.no | include \"interpret-as-string\" }}'",
            "Fail",
        ),
        (
            "sw: '{{ and true \"\" }}'\nv: '{{ tuple . .Values.sw | include \"interpret-for-test\" }}'",
            r#""""#,
        ),
        (
            "sw: '{{ eq 1 1 }}'\nv: '{{ tuple . .Values.sw 3 1 | include \"interpret-ternary\" | int | include \"preserve-type\" }}'",
            "3",
        ),
        (
            "v: '{{ tuple . false (list 1) (dict \"k\" 1) | include \"interpret-ternary\" }}'",
            r#""map[k:1]""#,
        ),
        (
            "b: '{{ 1 }}'\nv: '{{ tuple . \"b\" | include \"interpret\" }}{{ .Values.b | b64enc }}'",
            r#""MQ==""#,
        ),
        ("v: '{{ tuple . \"no\" | include \"interpret\" }}'", "Fail"),
        (
            "b: x\nv: '{{ tuple . \"b\" 1 | include \"interpret\" }}'",
            "Fail",
        ),
        (
            "d: {k: '{{ 1 }}'}\nv: '{{ tuple . .Values.d | include \"interpret-and-hash\" }}'",
            r#""6ff656377339fd3b26ca6c5c843aaff5d1a4e8c0a204165f4abade18694e4dd5""#,
        ),
        (
            "d: ['{{ 1 }}']\nv: '{{ index (tuple . .Values.d | include \"interpret-inner-gotpl\" | fromJson) \"result\" | first }}'",
            r#""1""#,
        ),
        (
            "v: '{{ tuple . \"x\" | include \"internalPersistentRandomPasswd\" }}'",
            "Refused",
        ),
        ("v: '{{ include \"no-such\" . }}'", "MissingTemplate"),
    ]);
}

#[test]
fn units_are_enabled_by_themselves_and_their_conditions() {
    let units = "units_enabled_default: true\nunits:\n  first: {enabled: true}\n  second: {enabled: '{{ eq 1 2 }}'}\n  plain: {info: {}}\n  empty: {}\n  asks: {enabled: true, enabled_conditions: ['{{ tuple . \"first\" | include \"unit-enabled\" }}', true, '', '{{ fail \"never asked\" }}']}\n  nulled: {enabled: null}\n";
    let ask = |name: &str| {
        both(&format!(
            "{units}v: '[{{{{ tuple . \"{name}\" | include \"unit-enabled\" }}}}]'"
        ))
    };
    assert_eq!(ask("first"), r#""[true]""#);
    assert_eq!(ask("second"), r#""[]""#);
    assert_eq!(ask("plain"), r#""[true]""#);
    assert_eq!(ask("asks"), r#""[]""#);
    assert_eq!(ask("empty"), "Fail");
    assert_eq!(ask("missing"), "Fail");
    assert_eq!(ask("nulled"), "Fail");
}

#[test]
fn chart_versions_are_chosen_by_truth() {
    let ask = |versions: &str| {
        both(&format!(
            "units: {{c: {{helm_chart_versions: {versions}}}}}\nv: '{{{{ tuple . \"c\" .Values.units.c | include \"get-helm-version\" }}}}'"
        ))
    };
    assert_eq!(ask("{1.0.0: true, 2.0.0: false}"), r#""1.0.0""#);
    assert_eq!(ask("{1.0.0: '{{ \"\" }}', 2.0.0: true}"), r#""2.0.0""#);
    assert_eq!(ask("{1.0.0: '{{ false }}', 2.0.0: true}"), "Fail");
}

#[test]
fn versions_match_without_their_pre_release() {
    let ask = |constraint: &str, version: &str| {
        both(&format!(
            "v: '{{{{ include \"k8s-version-match\" (tuple \"{constraint}\" \"{version}\") }}}}'"
        ))
    };
    assert_eq!(ask(">=1.31.0", "v1.31.0-rc.1+rke2r1"), r#""true""#);
    assert_eq!(ask(">=1.30.0,<1.32.0", "v1.31.8+rke2r1"), r#""true""#);
    assert_eq!(ask(">=1.32.0", "v1.31.8"), r#""""#);
    assert_eq!(ask(">=1.31.0", ""), "Other");
}

#[test]
fn maps_are_merged_with_their_lists_appended() {
    check(&[
        (
            "a: {l: [1], m: {x: 1}, s: t}\nb: {l: [2], m: {z: 2}, s: u}\nv: '{{ $d := dict }}{{ tuple $d .Values.a .Values.b | include \"merge-append\" }}{{ $d | include \"preserve-type\" }}'",
            r#"{"l":[1,2],"m":{"x":1,"z":2},"s":"u"}"#,
        ),
        (
            "v: '{{ tuple (dict) \"x\" | include \"merge-append\" }}'",
            "Fail",
        ),
    ]);
}

#[test]
fn selectors_are_finalized_and_collected() {
    let cluster = "\
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {bootstrap_provider: cabpr, infra_provider: capm3}
  capm3: {os_image_selector: {os: ubuntu, hardened: true}}
  control_plane: {capm3: {os_image_selector: {os: suse}}}
  machine_deployments:
    md0: {capm3: {image_key: kk, os_image_selector: null}}
    md1: {}
";
    assert_eq!(
        both(&format!(
            "{cluster}v: '{{{{ include \"finalize-os-image-selector\" (tuple .Values.cluster (dict \"os\" \"ubuntu\")) }}}}'"
        )),
        r#""{\"k8s-flavor\":\"rke2\",\"k8s-version\":\"1.31.8\\\\+rke2r1\",\"os\":\"ubuntu\"}""#
    );
    let all = format!(
        "{cluster}v: '{{{{ include \"find-cluster-image-selectors\" (tuple .Values.cluster) | fromJsonArray | include \"preserve-type\" }}}}'"
    );
    assert_eq!(
        both(&all),
        r#"[{"hardened":true,"k8s-flavor":"rke2","k8s-version":"1.31.8\\+rke2r1","os":"suse"},{"_os_images_key_":"kk"},{"hardened":true,"k8s-flavor":"rke2","k8s-version":"1.31.8\\+rke2r1","os":"ubuntu"}]"#
    );
    check(&[(
        "v: '{{ include \"k8s-flavor-from-cabpX\" \"cabpck\" }}'",
        r#""ck8s""#,
    )]);
    check(&[(
        "v: '{{ include \"k8s-flavor-from-cabpX\" \"cabpx\" }}'",
        "Fail",
    )]);
}

#[test]
fn images_are_generated_from_both_lists() {
    let images = |registries: &str| {
        both(&format!(
            "os_images: {{own: {{uri: 'http://h/f'}}}}\nsylva_diskimagebuilder_version: 0.4.12\nsylva_diskimagebuilder_images:\n  a1: {{os_images_oci_registry: r}}\n  '{{{{ printf \"b-%s\" \"2\" }}}}': {{os_images_oci_registry: r}}\nos_images_oci_registries: {registries}\nv: '{{{{ include \"generate-os-images\" . | fromYaml | dig \"os_images\" dict | keys | sortAlpha | join \" \" }}}}'"
        ))
    };
    assert_eq!(
        images("{r: {url: 'oci://h', tag: '{{ .Values.sylva_diskimagebuilder_version }}'}}"),
        r#""a1 b-2 own""#
    );
    assert_eq!(
        images("{r: {url: u, tag: t, enabled: '{{ \"\" }}'}}"),
        r#""own""#
    );
    assert_eq!(images("{}"), "Fail");
    check(&[(
        "sylva_diskimagebuilder_version: 1.10\nv: '{{ include \"generate-os-images\" . }}'",
        "Fail",
    )]);
}

#[test]
fn a_value_is_evaluated_once_and_only_if_it_is_needed() {
    let evaluator = lazy(
        "_internal:\n  map: {'1.31': '{{ printf \"v1.31.%d\" 8 }}', '1.32': '{{ fail \"never asked\" }}'}\nshort: '1.31'\ncluster:\n  k8s_version: '{{ .Values._internal.map | dig .Values.short \"\" | required \"none\" }}'\n  other: '{{ fail \"never asked\" }}'\na: '{{ .Values.cluster.k8s_version | upper }}'\nb: '{{ .Values.cluster.k8s_version | lower }}'\n",
    );
    assert_eq!(
        answer(evaluator.get(&["cluster", "k8s_version"])),
        r#""v1.31.8""#
    );
    assert_eq!(evaluator.expressions_run(), 2);
    assert_eq!(answer(evaluator.get(&["a"])), r#""V1.31.8""#);
    assert_eq!(answer(evaluator.get(&["b"])), r#""v1.31.8""#);
    assert_eq!(
        answer(evaluator.get(&["cluster", "k8s_version"])),
        r#""v1.31.8""#
    );
    assert_eq!(evaluator.expressions_run(), 4);
    assert_eq!(answer(evaluator.get(&["cluster"])), "Fail");
}

#[test]
fn cycles_are_reported_with_their_path() {
    let text = "a: 'x{{ .Values.b.c }}'\nb: {c: '{{ .Values.a | upper }}'}\n";
    let failure = lazy(text).get(&["a"]).expect_err("a needs itself");
    assert_eq!(failure.class, ErrorClass::Cycle);
    assert_eq!(
        failure.message,
        "the value depends on itself: `a` → `b.c` → `a`"
    );
    let by_name = evaluator("a: '{{ .Values.a }}'", Evaluation::Exact).get(&["a"]);
    assert_eq!(by_name.expect_err("endless").class, ErrorClass::Depth);
    let own_key = "m: {'{{ .Values.m | toJson }}': 1}";
    assert_eq!(answer(lazy(own_key).get(&["m"])), "Cycle");
}

#[test]
fn a_failure_says_where_in_which_value_and_who_needs_it() {
    let text = "a: >-\n  first\n  {{ .Values.b.c }}\nb:\n  c: |\n    {{- $x := 1 }}\n    {{ fail \"no good\" }}\n";
    let failure = lazy(text).get(&["a"]).expect_err("it fails");
    assert_eq!(
        (failure.class, &*failure.message),
        (ErrorClass::Fail, "no good")
    );
    let paths: Vec<&str> = failure.chain.iter().map(|step| &*step.path).collect();
    assert_eq!(paths, ["a", "b.c"]);
    let fault = failure.chain.last().expect("the faulty value");
    let span = fault.span.clone().expect("a place in it");
    let place = yaml_tree::locate(text, fault.place, &fault.text, span);
    let (start, end) = (place.start as usize, place.end as usize);
    assert_eq!(&text[start..end], "fail \"no good\"");
    let again = lazy(text);
    assert!(again.get(&["b"]).is_err());
    let failure = again.get(&["a"]).expect_err("remembered");
    assert_eq!(failure.chain.len(), 2);
}

#[test]
fn an_error_that_a_message_left_out_is_not_reported_in_its_place() {
    let text = r#"
m: {x: '{{ fail "inner" }}'}
v: '{{ include "interpret-as-string" (tuple . .Values.m) }}'
"#;
    let failure = lazy(text).get(&["v"]).expect_err("a map is not a string");
    let message = &failure.message;
    assert!(message.contains("needs a string and got"), "{message}");
}

#[test]
fn the_error_of_another_value_is_the_same_through_a_template() {
    let text = r#"
x: '{{ index .Values.none 0 }}'
v: '{{ define "t" }}{{ .Values.x }}{{ end }}{{ include "t" . }}'
"#;
    let evaluator = lazy(text);
    let message = |key| evaluator.get(&[key]).map_err(|failure| failure.message);
    assert_eq!(
        message("v").expect_err("fails"),
        message("x").expect_err("fails")
    );
}

#[test]
fn a_value_below_an_expression_has_one_path_for_every_reader() {
    let text = r#"
name: a
m: {'{{ .Values.name }}': '{{ fail "inner" }}'}
v: '{{ .Values.m.a }}'
"#;
    let evaluator = lazy(text);
    for key in ["m", "v"] {
        let failure = evaluator.get(&[key]).expect_err("the value fails");
        let innermost = failure.chain.last().map(|step| &*step.path);
        assert_eq!(innermost, Some("m.a"));
    }
}

#[test]
fn the_short_form_names_a_key_of_the_cluster() {
    let cluster = "cluster: {k8s_version: '{{ \"1.31\" }}.8'}\n";
    let ask = |expression: &str| answer(lazy(&format!("{cluster}v: '{expression}'")).get(&["v"]));
    assert_eq!(ask("ubuntu-{{ k8s_version }}"), r#""ubuntu-1.31.8""#);
    assert_eq!(
        ask("{{- k8s_version | replace \".\" \"-\" -}}"),
        r#""1-31-8""#
    );
    assert_eq!(
        ask("{{ range list 1 }}{{ (k8s_version) }}{{ end }}{{ k8s_version }}"),
        r#""1.31.81.31.8""#
    );
    assert_eq!(ask("{{ no_such }}"), "MissingFunction");
    assert_eq!(ask("{{ k8s_version \"x\" }}"), "MissingFunction");
    let text = format!("{cluster}v: '{{{{ k8s_version | fail }}}}'");
    let failure = lazy(&text).get(&["v"]).expect_err("it fails");
    assert_eq!(
        failure.span.map(|span| &"{{ k8s_version | fail }}"[span]),
        Some("fail")
    );
}

#[test]
fn what_helm_would_make_of_it_is_compared_where_it_matters() {
    let text = "k8s: 1.31.8\nversion: '{{ .Values.k8s }}'\nimages: {'ubuntu-{{ .Values.version | replace \".\" \"-\" }}': {}}\nprinted: 'x-{{ .Values.version }}'\ngood: '{{ tuple . .Values.version | include \"interpret-as-string\" | replace \".\" \"-\" }}'\n";
    let evaluator = lazy(text);
    assert_eq!(answer(evaluator.get(&["printed"])), r#""x-1.31.8""#);
    assert_eq!(evaluator.order_differences().len(), 0);
    assert_eq!(answer(evaluator.get(&["good"])), r#""1-31-8""#);
    assert_eq!(evaluator.order_differences().len(), 0);
    let images = evaluator.root().get_path(&["images"]);
    let images = images.expect("they evaluate").expect("there are some");
    let entries = images.entries().expect("they evaluate").expect("a map");
    assert_eq!(&*entries[0].key, "ubuntu-1-31-8");
    let differences = evaluator.order_differences();
    assert_eq!(differences.len(), 1);
    assert_eq!(json(&differences[0].lazy), r#""ubuntu-1-31-8""#);
    assert_eq!(
        differences[0].path,
        "images.\"ubuntu-{{ .Values.version | replace \".\" \"-\" }}\""
    );
    assert!(differences[0].exact.is_err());
    assert_eq!(evaluator.order_differences().len(), 0);
}

#[test]
fn the_root_is_that_of_helm_template() {
    let text = "v: '{{ .Release.Name }} {{ .Release.Namespace }} {{ .Release.IsInstall }} {{ .Release.Revision }} {{ .Release.Service }} {{ .Chart.Name }} {{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.APIVersions.Has \"apps/v1\" }} {{ .Capabilities.APIVersions.Has \"x/v1\" }}'";
    assert_eq!(
        both(text),
        r#""sylva-units sylva-system true 1 Helm sylva-units v1.34.0 true false""#
    );
}

#[test]
fn templates_taken_aside_are_empty_meanwhile_and_raw_afterwards() {
    let text = "unit_templates: {t: {k: '{{ .Values._unit_name_ }}'}}\nv: '{{ .Values.unit_templates | toJson }}'";
    assert_eq!(both(text), r#""{}""#);
    let raw = answer(lazy(text).get(&["unit_templates", "t"]));
    assert_eq!(raw, r#"{"k":"{{ .Values._unit_name_ }}"}"#);
}

#[test]
fn no_input_spends_more_than_the_limits() {
    let own =
        "v: '{{ $d := dict }}{{ $_ := set $d \"a\" $d }}{{ $d | include \"preserve-type\" }}'";
    let growing: String = (0..400)
        .map(|index| format!("k{index}: '{{{{ .Values.k{} | upper }}}}'\n", index + 1))
        .collect();
    let texts = [
        (own.to_owned(), ErrorClass::Depth),
        (
            format!("{growing}v: '{{{{ .Values.k0 | upper }}}}'"),
            ErrorClass::Depth,
        ),
    ];
    for (text, class) in texts {
        let (options, cache) = (Options::default(), TemplateCache::default());
        let evaluator = Evaluator::new(&read(&text), &options, &cache);
        let failure = evaluator.get(&["v"]).expect_err("it is refused");
        assert_eq!(failure.class, class, "{}", failure.message);
    }
}

/// Trees whose expressions read no other value.
fn tree() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(|flag| flag.to_string()),
        (0..1000i32).prop_map(|number| number.to_string()),
        Just("null".to_owned()),
        "[a-z{} ]{0,6}".prop_map(|text| format!("{text:?}")),
        (0..100i32).prop_map(|number| format!("'{{{{ add {number} 1 }}}}'")),
        (0..100i32).prop_map(|number| format!("'{{{{ {number} | include \"preserve-type\" }}}}'")),
        any::<bool>()
            .prop_map(|flag| format!("'{{{{ tuple \"x\" {flag} | include \"set-only-if\" }}}}'")),
        "[a-z]{1,3}".prop_map(|text| format!(
            "'{{{{ dict \"{text}\" (list 1 \"{{{{ 2 }}}}\") | include \"preserve-type\" }}}}'"
        )),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::btree_map("[a-z]{1,3}", inner.clone(), 0..4).prop_map(|map| {
                let entries: Vec<String> = map
                    .iter()
                    .map(|(key, value)| format!("\"{key}\": {value}"))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }),
            ("[a-z]{1,3}", inner)
                .prop_map(|(key, value)| { format!("{{'{{{{ \"{key}\" | upper }}}}': {value}}}") }),
        ]
    })
}

proptest! {
    #[test]
    fn without_references_both_orders_have_the_same_result(text in tree()) {
        let text = format!("v: {text}\n");
        let by_name = answer(evaluator(&text, Evaluation::Exact).get(&["v"]));
        prop_assert_eq!(answer(lazy(&text).get(&["v"])), by_name);
    }

    #[test]
    fn a_part_is_what_the_whole_has_there(text in tree()) {
        let text = format!("v: {{k: {text}}}\n");
        let whole = answer(lazy(&text).get(&["v"]));
        let part = lazy(&text).get(&["v", "k"]);
        let expected = match part {
            Ok(Some(node)) => format!("{{\"k\":{}}}", json(&node)),
            Ok(None) => "{}".to_owned(),
            Err(failure) => format!("{:?}", failure.class),
        };
        prop_assert_eq!(whole, expected);
    }

}

#[test]
fn no_expression_panics() {
    let inputs = (expression(), "[ -~]{0,20}");
    let outcomes = ["evaluated", "failed"];
    property_of_each(512, &inputs, &outcomes, |(expression, other)| {
        let text = format!(
            "v: {expression:?}\nw: {other:?}\nb: {{c: 1}}\ncluster: {{k8s_version: '{{{{ .Values.v }}}}'}}\n"
        );
        let values = yaml_tree::values(&text, FileId(0), Engine::Helm3).expect(&text);
        let evaluator = Evaluator::new(&values, &Options::default(), &TemplateCache::default());
        let is_evaluated = evaluator.get(&[]).is_ok();
        let _ = evaluator.order_differences();
        if is_evaluated { "evaluated" } else { "failed" }
    });
}
