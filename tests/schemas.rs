//! CRD schemas against objects: what the API server would refuse is reported, with the field's path.

use std::sync::Arc;

use capi::schema::Schemas;
use snapbox::str;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Source};

use super::support::stage::Is;

/// A definition of `Widget` in `example.org/v1` with the given schema of `spec`.
fn widget(spec: &str) -> Schemas {
    let indented: String = spec
        .lines()
        .map(|line| format!("            {line}\n"))
        .collect();
    let text = format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.org
spec:
  group: example.org
  names:
    kind: Widget
  versions:
  - name: v1
    served: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
{indented}"
    );
    Schemas::new([Arc::new(Source::new("widgets.yaml", text))])
}

/// What is wrong with each spec of a widget, a line each, below its schema.
fn problems(schema: &str, specs: &[&str]) -> String {
    let schemas = widget(schema);
    assert_eq!(schemas.len(), 1);
    let mut text = format!("{}\n", schema.replace('\n', " / "));
    for spec in specs {
        let object = format!(
            "apiVersion: example.org/v1\nkind: Widget\nmetadata: {{name: w}}\nspec: {spec}\n"
        );
        let read = yaml_tree::read(&object, FileId(0), Engine::Kubectl).expect("YAML");
        let found = schemas.check(&read.documents[0]).into_iter();
        let found = found.map(|it| format!("{}: {}", it.path, it.message));
        let found: Vec<String> = found.collect();
        text += format!("    {spec} => {}", found.join("; ")).trim_end();
        text += "\n";
    }
    text
}

/// Schemas with specs that fit them and specs that do not.
const CASES: [(&str, &[&str]); 19] = [
    (
        "type: object\nproperties:\n  count: {type: integer}\n  s: {type: string}",
        &[
            "{count: 1, s: a}",
            "{count: '1'}",
            "{count: 2.0}",
            "{count: 1.5}",
            "{}",
            "{s: true}",
            "[]",
        ],
    ),
    (
        "type: object\nrequired: [a]\nproperties:\n  a: {type: string}",
        &["{a: x}", "{}", "{a: x, b: z}"],
    ),
    // A required field with a default may be missing.
    (
        "type: object\nrequired: [a, b]\nproperties:\n  a: {type: string}\n  b: {type: string, default: Secret}",
        &["{a: x}", "{}"],
    ),
    (
        "type: object\nx-kubernetes-preserve-unknown-fields: true\nproperties:\n  a: {type: string}",
        &["{b: 1}", "{a: 1}"],
    ),
    (
        "type: object\nadditionalProperties: {type: string}",
        &["{b: x}", "{b: 1}"],
    ),
    (
        "type: object\nproperties:\n  a: {type: string, nullable: true}\n  b: {type: string}",
        &["{a: null}", "{b: null}"],
    ),
    (
        "x-kubernetes-int-or-string: true\nanyOf:\n- type: integer\n- type: string",
        &["1", "true", "50%", "1.5"],
    ),
    ("type: string\nenum: [raw, qcow2]", &["raw", "vdi"]),
    ("type: string\npattern: ^[0-9]+m$", &["10m", "m"]),
    ("type: string\nmaxLength: 2", &["éé", "abc"]),
    (
        "type: array\nminItems: 1\nitems: {type: string}",
        &["[a]", "[]"],
    ),
    (
        "type: object\nminProperties: 1\nadditionalProperties: true",
        &["{a: 1}", "{}"],
    ),
    ("type: integer\nminimum: 1\nmaximum: 3", &["3", "4"]),
    (
        "type: integer\nformat: int32",
        &["2147483647", "2147483648"],
    ),
    (
        "type: array\nx-kubernetes-list-type: set\nitems: {type: string}",
        &["[a, b]", "[a, a]"],
    ),
    (
        "type: array\nx-kubernetes-list-type: map\nx-kubernetes-list-map-keys: [k]\nitems: {type: object, x-kubernetes-preserve-unknown-fields: true}",
        &["[{k: a}, {k: b}]", "[{k: a, v: 1}, {k: a}]"],
    ),
    (
        "type: object\nproperties:\n  a: {type: string}\n  b: {type: string}\noneOf:\n- required: [a]\n- required: [b]",
        &["{a: x}", "{a: x, b: z}"],
    ),
    ("type: string\nnot: {enum: [x]}", &["z", "x"]),
    (
        "type: object\nproperties:\n  a: {type: string}\nallOf:\n- properties:\n    a: {minLength: 2}",
        &["{a: xx}", "{a: x}"],
    ),
];

#[test]
fn what_fits_no_schema_is_reported_with_its_field() {
    let found = CASES.map(|(schema, specs)| problems(schema, specs));
    found.concat().is(str![[r#"
type: object / properties: /   count: {type: integer} /   s: {type: string}
    {count: 1, s: a} =>
    {count: '1'} => spec.count: must be an integer, not a string
    {count: 2.0} =>
    {count: 1.5} => spec.count: must be an integer, not a number
    {} =>
    {s: true} => spec.s: must be a string, not a boolean
    [] => spec: must be a map, not a list
type: object / required: [a] / properties: /   a: {type: string}
    {a: x} =>
    {} => spec: `a` is required
    {a: x, b: z} => spec.b: the schema has no field `b`, only a
type: object / required: [a, b] / properties: /   a: {type: string} /   b: {type: string, default: Secret}
    {a: x} =>
    {} => spec: `a` is required
type: object / x-kubernetes-preserve-unknown-fields: true / properties: /   a: {type: string}
    {b: 1} =>
    {a: 1} => spec.a: must be a string, not a number
type: object / additionalProperties: {type: string}
    {b: x} =>
    {b: 1} => spec.b: must be a string, not a number
type: object / properties: /   a: {type: string, nullable: true} /   b: {type: string}
    {a: null} =>
    {b: null} => spec.b: must be a string, not null
x-kubernetes-int-or-string: true / anyOf: / - type: integer / - type: string
    1 =>
    true => spec: must be an integer or a string, not a boolean
    50% =>
    1.5 => spec: must be an integer or a string, not a number
type: string / enum: [raw, qcow2]
    raw =>
    vdi => spec: must be one of "raw", "qcow2", not "vdi"
type: string / pattern: ^[0-9]+m$
    10m =>
    m => spec: `m` does not match `^[0-9]+m$`
type: string / maxLength: 2
    éé =>
    abc => spec: has 3 characters and may have 2
type: array / minItems: 1 / items: {type: string}
    [a] =>
    [] => spec: has 0 items and needs 1 at least
type: object / minProperties: 1 / additionalProperties: true
    {a: 1} =>
    {} => spec: has 0 fields and needs 1 at least
type: integer / minimum: 1 / maximum: 3
    3 =>
    4 => spec: 4 is above the maximum of 3
type: integer / format: int32
    2147483647 =>
    2147483648 => spec: 2147483648 has more than 32 bits
type: array / x-kubernetes-list-type: set / items: {type: string}
    [a, b] =>
    [a, a] => spec: occurs twice in the list
type: array / x-kubernetes-list-type: map / x-kubernetes-list-map-keys: [k] / items: {type: object, x-kubernetes-preserve-unknown-fields: true}
    [{k: a}, {k: b}] =>
    [{k: a, v: 1}, {k: a}] => spec: occurs twice in the list
type: object / properties: /   a: {type: string} /   b: {type: string} / oneOf: / - required: [a] / - required: [b]
    {a: x} =>
    {a: x, b: z} => spec: must fit exactly one of the schema's alternatives (oneOf) and fits 2
type: string / not: {enum: [x]}
    z =>
    x => spec: is what the schema excludes (not)
type: object / properties: /   a: {type: string} / allOf: / - properties: /     a: {minLength: 2}
    {a: xx} =>
    {a: x} => spec.a: has 1 characters and needs 2 at least

"#]]);
}

#[test]
fn a_version_that_is_not_served_is_reported_and_other_kinds_are_not_checked() {
    let schemas = widget("type: string");
    let check = |text: &str| {
        let read = yaml_tree::read(text, FileId(0), Engine::Kubectl).expect("YAML");
        schemas.check(&read.documents[0])
    };
    let found = check("apiVersion: example.org/v2\nkind: Widget\n");
    assert_eq!(found[0].message, "Widget has no version `v2`, only v1");
    assert!(check("apiVersion: example.org/v1\nkind: Other\nspec: 1\n").is_empty());
    assert!(check("apiVersion: v1\nkind: ConfigMap\n").is_empty());
}

#[test]
fn several_definitions_may_be_in_one_file_in_any_layout() {
    let crd = |kind: &str| {
        format!(
            "{{\"kind\": \"CustomResourceDefinition\", \"spec\": {{\"group\": \"g.org\", \"names\": {{\"kind\": \"{kind}\"}}, \"versions\": []}}}}\n"
        )
    };
    let text = format!(
        "# comment\n---\n{}---\nkind: Deployment\n---\n{}",
        crd("A"),
        crd("B")
    );
    assert_eq!(
        Schemas::new([Arc::new(Source::new("all.yaml", text))]).len(),
        2
    );
}

/// What the built-in definitions say of an object.
fn built_in(object: &str) -> Vec<String> {
    let read = yaml_tree::read(object, FileId(0), Engine::Kubectl).expect("YAML");
    let found = Schemas::builtin(None).check(&read.documents[0]);
    let shown = |problem: capi::schema::Problem| {
        assert!(problem.is_built_in);
        format!("{}: {}", problem.path, problem.message)
    };
    found.into_iter().map(shown).collect()
}

#[test]
fn every_machine_template_is_defined_without_a_folder() {
    let schemas = Schemas::builtin(None);
    for provider in capi::providers::PROVIDERS {
        for kind in provider
            .data()
            .kinds
            .iter()
            .filter(|kind| kind.is_template())
        {
            let object = format!(
                "apiVersion: {}/{}\nkind: {}\nmetadata: {{name: a}}\nspec: 1\n",
                kind.group, kind.versions[0], kind.kind
            );
            let found = built_in(&object);
            assert!(
                found.iter().any(|it| it.starts_with("spec: ")),
                "{object}{found:?}"
            );
        }
    }
    assert!(schemas.len() > 40, "{}", schemas.len());
}

#[test]
fn a_required_field_is_missed_without_a_folder() {
    let template = |version: &str, network: &str| {
        format!(
            "apiVersion: infrastructure.cluster.x-k8s.io/{version}\nkind: VSphereMachineTemplate\nmetadata: {{name: a}}\n\
             spec: {{template: {{spec: {{template: t{network}}}}}}}\n"
        )
    };
    assert_eq!(
        built_in(&template("v1beta1", "")),
        ["spec.template.spec: `network` is required"]
    );
    let network = ", network: {devices: [{networkName: a, dhcp4: true}]}";
    assert_eq!(built_in(&template("v1beta1", network)), [""; 0]);
    // Another release may have that version.
    assert_eq!(built_in(&template("v1beta9", "")), [""; 0]);
}

#[test]
fn a_rule_in_cel_is_kept_without_a_folder() {
    let object = |kind: &str, spec: &str| {
        built_in(&format!(
            "apiVersion: infrastructure.cluster.x-k8s.io/{kind}\nmetadata: {{name: a}}\nspec: {{template: {{spec: {spec}}}}}\n"
        ))
    };
    let openstack = "v1beta1\nkind: OpenStackMachineTemplate";
    let image = "image: {filter: {name: noble}}";
    assert_eq!(
        object(openstack, &format!("{{{image}}}")),
        ["spec.template.spec: at least one of flavor or flavorID must be set"]
    );
    for flavor in ["flavor: m1", "flavorID: m-1"] {
        let spec = format!("{{{flavor}, {image}}}");
        assert_eq!(object(openstack, &spec), [""; 0]);
    }
    let proxmox = "v1alpha1\nkind: ProxmoxMachineTemplate";
    let spec = |full: &str| format!("{{sourceNode: a, templateID: 1, format: raw{full}}}");
    // The API server adds `full: true` before it asks.
    assert_eq!(object(proxmox, &spec("")), [""; 0]);
    assert_eq!(object(proxmox, &spec(", full: false")).len(), 1);
    // The longest rules.
    let cluster = "kind: OpenStackCluster\nmetadata: {name: a}\nspec: {disableExternalNetwork: true, bastion: {enabled: true, floatingIP: 192.0.2.1, spec: {flavor: m1, image: {id: a}}}}\n";
    let found = built_in(&format!(
        "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\n{cluster}"
    ));
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn a_definition_of_ones_own_replaces_the_one_that_is_built_in() {
    let text = "\
kind: CustomResourceDefinition
spec:
  group: infrastructure.cluster.x-k8s.io
  names:
    kind: VSphereMachineTemplate
  versions: [{name: v1beta1, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
";
    let own = Schemas::new([Arc::new(Source::new("own.yaml", text))]);
    let schemas = Schemas::builtin(Some(own));
    let object = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: VSphereMachineTemplate\nmetadata: {name: a}\nspec: {}\n";
    let read = yaml_tree::read(object, FileId(0), Engine::Kubectl).expect("YAML");
    assert_eq!(schemas.check(&read.documents[0]), []);
}

#[test]
fn the_built_in_definitions_are_those_of_the_folder() {
    if !super::support::is_long() {
        return;
    }
    let Some(folder) = super::programs::crds() else {
        return;
    };
    let script = "tests/interop/schemas.py";
    let output = std::process::Command::new("python3")
        .arg(script)
        .arg(folder)
        .output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        super::programs::missing("python3 with PyYAML");
        return;
    };
    let built_in = std::fs::read("crates/capi/src/schema/builtin.yaml.gz").expect("the file");
    let text = |bytes: &[u8]| {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(bytes), &mut text)
            .expect("gzip");
        text
    };
    assert!(
        text(&output.stdout) == text(&built_in),
        "run {script} again"
    );
}
