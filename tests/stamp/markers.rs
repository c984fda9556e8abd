//! What a marker is about, where that is easy to mistake.

use std::sync::Arc;

use snapbox::str;
use yaml_tree::place::Source;

use super::model::{fields, version_of};
use super::names::{ROTATED, stamped, template};
use super::run::planned;
use super::stamp;
use crate::support::stage::{assert_text, project};

const STRING: &str = "the string beside it holds several lines: write the marker in it";
const NO_FIELD: &str =
    "no field, or not one alone, is beside it, and its object has no image of its own";

const OBJECT: &str = "apiVersion: v1\nkind: X\n";
const HOST: &str = "apiVersion: metal3.io/v1alpha1, kind: BareMetalHost, metadata: {name: host}";

/// A host whose image is `k0`'s but for the URL.
fn host() -> String {
    let [_, (_, checksum), (_, kind), (_, format)] = fields(0);
    let image = format!("url: NEW, checksum: '{checksum}', checksumType: {kind}, format: {format}");
    format!("{{{HOST}, spec: {{image: {{{image}}}}}}}")
}

#[test]
fn a_marker_changes_what_it_is_about_and_nothing_else() {
    let mark = "# metalmark: image=k0";
    let item =
        |value: &str, mark: &str| format!("- apiVersion: v1\n  kind: X\n  a: {value}{mark}\n");
    let list = "apiVersion: v1\nkind: List\nitems:\n";
    let first = item("NEW", &format!(" {mark}"));
    for text in [
        format!("{OBJECT}a: x\nb: NEW {mark}\n"),
        format!("{OBJECT}a: |\n  b\n{mark}\nc: NEW\n"),
        format!("{list}{first}{}", item("old", "")),
        format!("{list}{mark}\n# why\n- {}\n", host()),
        format!(
            "{OBJECT}spec:\n  {mark}\n  # why\n  manifests:\n  - {}\n",
            host()
        ),
        format!("{OBJECT}---\n{mark}\n---\n{}\n", host()),
    ] {
        let (after, problems) = stamped(&[&text.replace("NEW", "old")], ROTATED);
        assert_eq!(problems, [""; 0], "{text}");
        assert_eq!(after[0], text.replace("NEW", &fields(0)[0].1));
    }
}

/// A template whose marker stands further down in it.
fn above_spec(mark: &str) -> String {
    let text = template("a").replacen(&format!("{mark}\n"), "", 1);
    text.replacen("spec: {", &format!("{mark}\nspec: {{"), 1)
}

#[test]
fn a_marker_that_is_about_nothing_says_why() {
    let mark = "# metalmark: image=k0";
    for (text, why) in [
        (format!("{OBJECT}{mark}\na: |\n  b\n  c\n"), STRING),
        (format!("{OBJECT}{mark}\na:\n  b: c\n"), NO_FIELD),
        (format!("{OBJECT}a: b\nc: {mark}\n  d: e\n"), NO_FIELD),
        (
            format!(
                "{OBJECT}spec:\n  {mark}\n  d: {{e: f, g: h}}\n  manifests:\n  - {}\n",
                host()
            ),
            NO_FIELD,
        ),
        (
            above_spec(mark).replacen("Metal3Machine", "Metal3Data", 1),
            NO_FIELD,
        ),
        (
            above_spec(mark).replacen("infrastructure.cluster.x-k8s.io", "example.org", 1),
            NO_FIELD,
        ),
    ] {
        let (after, problems) = stamped(&[&text], ROTATED);
        assert_eq!(after[0], text);
        let problem = format!("the marker stamps nothing: {why}");
        assert_eq!(problems, [problem], "{text}");
    }
}

#[test]
fn a_marker_above_an_object_without_an_image_changes_no_api_version() {
    for field in ["", " field=url", " field=key"] {
        let text = format!("# metalmark: image=k0{field}\n{OBJECT}");
        let (after, problems) = stamped(&[&text], ROTATED);
        assert_eq!(after[0], text);
        assert_eq!(problems, [format!("the marker stamps nothing: {NO_FIELD}")]);
    }
}

#[test]
fn a_marker_that_names_a_field_of_a_machine_changes_that_field_alone() {
    let text = "\
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: host}
spec:
  image:
    url: old # metalmark: image=k0 field=url
    checksum: '1'
    checksumType: sha256
    format: qcow2
";
    let (after, problems) = stamped(&[text], ROTATED);
    assert_eq!(problems, [""; 0]);
    assert_eq!(after[0], text.replace("old", &fields(0)[0].1));
}

#[test]
fn an_object_has_one_marker() {
    let text = template("a");
    let (_, problems) = stamped(&[&format!("# metalmark: image=k1\n{text}")], ROTATED);
    assert_eq!(problems, ["two markers apply to `a`"]);
}

#[test]
fn a_template_without_a_name_gets_its_image_and_no_name() {
    let text = template("a").replacen("{name: a}", "{}", 1);
    let (after, problems) = stamped(&[&text], ROTATED);
    assert_eq!(problems, [""; 0]);
    assert!(after[0].contains(&fields(0)[0].1), "{}", after[0]);
    assert!(after[0].contains("metadata: {}\n"), "{}", after[0]);
}

#[test]
fn a_kept_template_keeps_its_annotations() {
    let text = template("a").replacen("{name: a}", "{name: a, annotations: {x: y}}", 1);
    let (after, problems) = stamped(&[&text], ROTATED);
    assert_eq!(problems, [""; 0]);
    let kept = "{name: a, annotations: {x: y, metalmark.dev/kept: ";
    assert!(after[0].contains(kept), "{}", after[0]);
}

#[test]
fn a_key_is_written_as_the_marker_spells_it() {
    // The catalog's key has a dash where the name has a dot.
    let stage = project()
        .settings(
            "manifests: [a.yaml]\nimages:\n  records:\n    ubuntu-v1.28.11: {format: qcow2, locations: {https: 'https://h.org/a.qcow2'}}",
        )
        .file("a.yaml", format!("{OBJECT}image: old # metalmark: image=ubuntu-v1.28.11 field=key\n"));
    assert_text(
        &stamp(&stage, ""),
        str![[r#"
a.yaml:3
-image: old # metalmark: image=ubuntu-v1.28.11 field=key
+image: ubuntu-v1.28.11 # metalmark: image=ubuntu-v1.28.11 field=key

"#]],
    );
}

#[test]
fn only_a_version_keeps_the_v_that_it_had() {
    let marked = |old: &str, field: &str| {
        let text = format!("{OBJECT}spec:\n  a: {old} # metalmark: image=k0 field={field}\n");
        let (after, problems) = stamped(&[&text], ROTATED);
        assert_eq!(problems, [""; 0], "{text}");
        let (_, value) = after[0].split_once("a: ").expect("the field");
        value.split(' ').next().expect("a value").to_owned()
    };
    let version = version_of(0);
    assert_eq!(marked("1.2.3", "k8s-version"), version);
    assert_eq!(marked("v1.2.3", "k8s-version"), format!("v{version}"));
    assert_eq!(marked("vintage", "key"), "k0");
}

#[test]
fn a_change_is_reported_by_the_path_in_its_object() {
    let text = format!("{OBJECT}spec:\n  a: [{{b: old}}] # metalmark: image=k0\n");
    let plan = planned(&[Arc::new(Source::new("a.yaml", text))], ROTATED);
    let changes = plan.results.iter().flat_map(|result| &result.changes);
    let paths: Vec<&str> = changes.map(|change| &*change.path).collect();
    assert_eq!(paths, ["spec.a[0].b"]);
}

#[test]
fn an_image_without_a_checksum_is_not_stamped() {
    let text = template("a");
    let stage = project()
        .settings("manifests: [a.yaml]\nimages: {records: {k0: {format: raw, locations: {https: 'https://h.org/a.raw'}}}}")
        .file("a.yaml", &text);
    stage.run("stamp").exit(1).stderr(str![[r#"
error[k8s-version-unproven]: nothing proves that image `k0` holds Kubernetes `v1.30.0`
  --> a.yaml:1:1
   |
 1 | # metalmark: image=k0
   | ^^^^^^^^^^^^^^^^^^^^^ no source says which version it holds
...
11 |   version: v1.30.0
   |            ------- this version is required
   |
   = cluster: user, pool control-plane
   = help: `images.records.k0.k8s.version: …` in metalmark.yaml, or a file with its facts under `images.facts`
   = help: `images.records.k0.k8s.flavor: none` in metalmark.yaml, if the image holds no Kubernetes, as those of Talos

error[image-unstamped]: Metal3MachineTemplate `a` is not stamped: nothing says the checksum of image `k0`
 --> a.yaml:4:18
  |
1 | # metalmark: image=k0
  | --------------------- its image is selected here
...
4 | metadata: {name: a}
  |                  ^

2 errors in 1 cluster

"#]]);
    assert_eq!(stage.read("a.yaml"), text);
}
