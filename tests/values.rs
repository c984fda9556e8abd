//! `metalmark values`: the exact screens, and secrets that never show.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::oracle::typed;
use super::oracle::{accepted, canonical, cases};
use super::support::{Metalmark, Outcome, copy_of, repository};

fn demo(args: &str) -> Outcome {
    run(
        &repository().join("fixtures/workspaces/sylva-baremetal"),
        args,
    )
}

fn run(folder: &Path, args: &str) -> Outcome {
    Metalmark::within(folder)
        .args(std::iter::once("values").chain(args.split(' ').filter(|word| !word.is_empty())))
        .run()
}

fn printed(outcome: &Outcome) -> &str {
    assert_eq!((outcome.status, &*outcome.stderr), (0, ""));
    &outcome.stdout
}

/// A workspace of one cluster: chart values, secrets, values.
fn scratch(settings: &str, chart: &str, own: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let project = format!(
        "version: 1\nvalues: [chart.yaml]\nclusters: [{{name: one, values: [secrets.yaml, own.yaml]}}]\n{settings}"
    );
    for (name, text) in [
        ("metalmark.yaml", &*project),
        ("chart.yaml", chart),
        ("secrets.yaml", "password: correct-horse\npin: 48151623\n"),
        ("own.yaml", own),
    ] {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

#[test]
fn the_values_below_a_path_are_printed_as_yaml() {
    assert_eq!(
        printed(&demo("edge-paris cluster.machine_deployments.storage")),
        "\
capm3:
  hostSelector:
    matchLabels:
      cluster-role: storage
  image_key: opensuse-15-6-hardened-rke2-1-31-8
  os_image_selector: null
replicas: 2
"
    );
    assert_eq!(
        printed(&demo("edge-paris cluster.k8s_version")),
        "v1.31.8+rke2r1\n"
    );
}

#[test]
fn json_is_requested() {
    assert_eq!(
        printed(&demo(
            "edge-paris cluster.capm3.os_image_selector --output json"
        )),
        "{\n  \"hardened\": false,\n  \"os\": \"ubuntu\"\n}\n"
    );
}

#[test]
fn raw_values_are_not_evaluated() {
    assert_eq!(
        printed(&demo("edge-paris os_images_oci_registries.sylva --raw")),
        "\
cosign_publickey: \"\"
enabled: true
tag: \"{{ .Values.sylva_diskimagebuilder_version }}\"
url: \"{{ .Values.sylva_base_oci_registry }}/sylva-elements/diskimage-builder\"
"
    );
}

#[test]
fn each_leaf_has_its_origin() {
    assert_eq!(
        printed(&demo("edge-paris cluster.capm3 --origin")),
        "\
cluster.capm3.machine_image_checksum_type: sha256  # charts/sylva-units/values.yaml:45:34 (layer 1)
cluster.capm3.networks.primary.interface: \"\"  # charts/sylva-units/values.yaml:48:20 (layer 1)
cluster.capm3.os_image_selector.hardened: false  # environment-values/workload-clusters/edge-paris/values.yaml:7:17 (layer 2)
cluster.capm3.os_image_selector.os: ubuntu  # environment-values/workload-clusters/edge-paris/values.yaml:6:11 (layer 2)
"
    );
    let outcome = demo("edge-paris k8s_version_short --origin --output json");
    let leaves: Value = serde_json::from_str(printed(&outcome)).expect("JSON");
    let leaf = serde_json::json!({
        "path": "k8s_version_short", "value": "1.31",
        "file": "charts/sylva-units/values.yaml", "line": 14, "column": 20, "layer": 1,
    });
    assert_eq!(leaves, serde_json::json!([leaf]));
}

#[test]
fn the_chain_of_expressions_is_reported() {
    assert_eq!(
        printed(&demo("edge-paris --why os_images_oci_registries.sylva.url")),
        "\
os_images_oci_registries.sylva.url is a string: oci://registry.example.org/sylva-projects/sylva-elements/diskimage-builder
set by, the last one wins
  \"{{ .Values.sylva_base_oci_registry }}/sylva-elements/diskimage-builder\"  # charts/sylva-units/values.yaml:9:10 (layer 1)
evaluated to oci://registry.example.org/sylva-projects/sylva-elements/diskimage-builder
  reads sylva_base_oci_registry: oci://registry.example.org/sylva-projects  # charts/sylva-units/values.yaml:3:26 (layer 1)
"
    );
    // An expression reads another one, which reads a third: each is reported with the place that reads it.
    let reported = demo("edge-paris --why cluster.k8s_version");
    let indents: Vec<(usize, &str)> = printed(&reported)
        .lines()
        .filter_map(|line| {
            let (indent, rest) = line.split_once("reads ")?;
            Some((
                indent.len() / 2,
                rest.split(": ").next().unwrap_or_default(),
            ))
        })
        .collect();
    assert_eq!(
        indents,
        [
            (1, "k8s_version_short"),
            (1, "_internal.k8s_version_map.\"1.31\""),
            (2, "cluster.capi_providers.bootstrap_provider"),
        ]
    );
}

#[test]
fn every_layer_that_sets_a_value_is_reported_in_order() {
    let folder = scratch(
        "",
        "a: {b: 1, c: 2}\nlist: [x]\n",
        "a: {b: 3, c: null}\nlist: [y, z]\n",
    );
    assert_eq!(
        printed(&run(folder.path(), "--why a.b")),
        "a.b is a number: 3\nset by, the last one wins\n  1  # chart.yaml:1:8 (layer 1)\n  3  # own.yaml:1:8 (layer 3)\n"
    );
    assert_eq!(
        printed(&run(folder.path(), "--why a.c")),
        "a.c has no value\nset by, the last one wins\n  2  # chart.yaml:1:14 (layer 1)\n  null, which removes it  # own.yaml:1:14 (layer 3)\n"
    );
    assert_eq!(
        printed(&run(folder.path(), "--why list[1]")),
        "list[1] is a string: z\nset by, the last one wins\n  list: a list of 1  # chart.yaml:2:7 (layer 1)\n  z  # own.yaml:2:11 (layer 3)\n"
    );
    assert_eq!(
        printed(&run(folder.path(), "--why a")),
        "a is a map\nset by, the last one wins\n  merges a map of b, c  # chart.yaml:1:4 (layer 1)\n  merges a map of b, c  # own.yaml:1:4 (layer 3)\n"
    );
}

#[test]
fn a_null_that_removes_the_map_around_a_value_is_reported() {
    let folder = scratch("", "a: {b: {c: 1}}\n", "a: {b: null}\n");
    assert_eq!(
        printed(&run(folder.path(), "--why a.b.c")),
        "a.b.c has no value\nset by, the last one wins\n  1  # chart.yaml:1:12 (layer 1)\n  a.b: null, which removes it  # own.yaml:1:8 (layer 3)\n"
    );
}

#[test]
fn a_key_that_is_an_expression_is_found() {
    let folder = scratch(
        "",
        "name: x\nmap:\n  'a-{{ .Values.name }}.b': {c: 1}\n",
        "",
    );
    assert_eq!(
        printed(&run(folder.path(), "--why map[a-x.b].c")),
        "map.\"a-x.b\".c is a number: 1\nset by, the last one wins\n  map.\"a-{{ .Values.name }}.b\".c: 1  # chart.yaml:3:33 (layer 1)\n"
    );
}

#[test]
fn a_path_that_is_not_there_gets_a_suggestion() {
    for (args, error) in [
        (
            "edge-paris cluster.k8s_verson",
            "cluster `edge-paris` has no value `cluster.k8s_verson`\nhelp: did you mean `cluster.k8s_version`?",
        ),
        (
            "edge-pari",
            "there is no cluster `edge-pari`\nhelp: did you mean `edge-paris`?",
        ),
        (
            "",
            "which cluster?\nhelp: name one of mgmt, edge-lyon, edge-paris, lab-7",
        ),
        (
            "edge-paris --why",
            "`--why` explains one value\nhelp: name its path: `metalmark values CLUSTER --why PATH`",
        ),
        (
            "edge-paris a..b",
            "`a..b` is no path: a key is missing\nhelp: write keys with dots between them, quote those that hold a dot: `a.\"b.c\"[0]` or `a[b.c][0]`",
        ),
    ] {
        let outcome = demo(args);
        assert_eq!((outcome.status, &*outcome.stdout), (2, ""), "{args}");
        assert_eq!(outcome.stderr, format!("error: {error}\n"));
    }
}

#[test]
fn only_the_requested_values_are_evaluated() {
    let folder = scratch(
        "",
        "good: '{{ .Values.x }}'\nx: 1\nbad: '{{ fail \"no\" }}'\n",
        "",
    );
    assert_eq!(printed(&run(folder.path(), "good")), "\"1\"\n");
}

#[test]
fn what_fails_is_reported_and_the_rest_printed() {
    let folder = scratch(
        "",
        "map: {good: '{{ .Values.x }}', bad: '{{ fail \"no luck\" }}'}\nx: 1\n",
        "",
    );
    let outcome = run(folder.path(), "map");
    assert_eq!((outcome.status, &*outcome.stdout), (1, "good: \"1\"\n"));
    assert!(
        outcome
            .stderr
            .starts_with("error[expression-error]: no luck\n --> chart.yaml:1:41\n"),
        "{}",
        outcome.stderr
    );
    assert_eq!(run(folder.path(), "map --raw").status, 0);
    let why = run(folder.path(), "--why map.bad");
    assert!(
        why.stdout.starts_with("map.bad cannot be evaluated\n"),
        "{}",
        why.stdout
    );
}

#[test]
fn values_that_need_each_other_end_in_a_finding() {
    let both = "x: '{{ .Values.z }}'\nz: '{{ .Values.x }}'\n";
    let by_name =
        "os_images: {'img-{{ .Values.z }}': {}}\nz: '{{ .Values.os_images | keys | first }}'\n";
    for (evaluation, why) in [
        ("lazy", "the value depends on itself: "),
        (
            "exact",
            "the result of the expression is an expression again, 1000 times over",
        ),
    ] {
        for (text, path) in [(both, "x"), (both, "z"), (by_name, "os_images")] {
            let folder = scratch(&format!("evaluation: {evaluation}\n"), "", text);
            let outcome = run(folder.path(), path);
            assert_eq!(outcome.status, 1, "{evaluation} {text}");
            let finding = format!("error[expression-error]: {why}");
            assert!(outcome.stderr.starts_with(&finding), "{}", outcome.stderr);
        }
    }
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
    for evaluation in ["lazy", "exact"] {
        let folder = scratch(&format!("evaluation: {evaluation}\n"), LEAKS, "");
        let mut calls = vec![
            String::new(),
            "--raw".into(),
            "--origin".into(),
            "--output json".into(),
        ];
        for line in LEAKS.lines() {
            if let Some((key, _)) = line.split_once(':').filter(|_| !line.starts_with(' ')) {
                calls.extend([format!("--why {key}"), format!("--why {key} --output json")]);
            }
        }
        calls.extend([
            "--why nested.list[0]".into(),
            "--why nested.list[1].deep".into(),
        ]);
        for call in calls {
            let outcome = run(folder.path(), &call);
            let all = format!("{}{}", outcome.stdout, outcome.stderr);
            for secret in [
                "correct-horse",
                "CORRECT-HORSE",
                "48151623",
                "Y29ycmVjd",
                "dXNlcjpj",
            ] {
                assert!(
                    !all.contains(secret),
                    "{evaluation} {call}: {secret}\n{all}"
                );
            }
        }
        let outcome = run(folder.path(), "--output json");
        let values: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        for key in [
            "login", "copy", "hash", "length", "part", "is_set", "typed", "anchor", "through",
        ] {
            let hidden = values[key]
                .as_str()
                .is_some_and(|text| text.starts_with("<secret: chart.yaml:"));
            let left_out = values.get(key).is_none();
            assert!(hidden || left_out, "{evaluation} {key}: {}", values[key]);
        }
        assert_eq!(values["greeting"], "hello nobody's secret");
        assert_eq!(values["password"], "<secret: secrets.yaml:1:11>");
    }
}

#[test]
fn the_secrets_of_the_demo_are_not_printed() {
    assert_eq!(
        printed(&demo("mgmt cluster.baremetal_hosts")),
        "\
\"<secret: environment-values/mgmt/secrets.yaml:3:5>\":
  credentials:
    password: \"<secret: environment-values/mgmt/secrets.yaml:6:19>\"
    username: \"<secret: environment-values/mgmt/secrets.yaml:5:19>\"
"
    );
}

#[test]
fn a_secret_that_a_folder_composes_is_not_printed() {
    let folder = copy_of(&repository().join("fixtures/workspaces/sylva-flux"));
    let project = "version: 1\nclusters: [{each: environment-values/workload-clusters/*/}, {each: environment-values/*/}]\n";
    fs::write(folder.path().join("metalmark.yaml"), project).expect("written");
    assert_eq!(
        run(folder.path(), "edge-3 cluster.secret --origin").stdout,
        "cluster.secret: \"<secret: environment-values/workload-clusters/edge-3/objects.yaml:15:25>\"  \
         # environment-values/workload-clusters/edge-3/objects.yaml:15:25 (layer 5)\n"
    );
    assert_eq!(
        run(folder.path(), "lyon cluster.bmc").stdout,
        "password: \"<secret: environment-values/lyon/secrets.yaml:1:27>\"\n"
    );
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
        let folder = scratch(
            "evaluation: exact\n",
            "_internal: {state: {}}\nunit_templates: {}\n",
            "",
        );
        fs::write(folder.path().join("secrets.yaml"), "{}\n").expect("written");
        fs::write(
            folder.path().join("own.yaml"),
            case["values"].as_str().expect("values"),
        )
        .expect("written");
        let outcome = run(folder.path(), "--output json");
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
    let mut ran = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().expect("text");
        let (line, screen) = block.split_once('\n').expect("a command and its screen");
        let args = line.strip_prefix("$ metalmark values ").expect("a command");
        assert_eq!(printed(&demo(args)), screen, "{line}");
        ran += 1;
    }
    assert!(ran >= 4, "{ran} commands");
}
