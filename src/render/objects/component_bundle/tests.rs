//! Tests of the objects and scripts for machines: no text of the values is interpreted by the shell.

use std::process::Command;

use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};
use yaml_tree::value::{Entry, Map, Node, Value};

use super::{Delivery, PATH, annotate, fill_cloud_config, fill_field};
use super::{Script, text};
use crate::render::objects::shell::quote;
use crate::testing::Given;

/// The text that a shell passes on after quoting.
fn through_a_shell(text: &str) -> Option<String> {
    let line = format!("printf %s {}", quote(text));
    let output = Command::new("sh").args(["-c", &line]).output().ok()?;
    String::from_utf8(output.stdout).ok()
}

#[test]
fn texts_of_values_are_one_word_to_a_shell() {
    for hostile in [
        "$(touch /tmp/x)",
        "`id`",
        "'; reboot; '",
        "a'b''c",
        "\\'\\",
        "a\nb",
        "!!",
        "-n",
        "*",
        "~",
        "",
    ] {
        if let Some(seen) = through_a_shell(hostile) {
            assert_eq!(seen, hostile);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_text_is_one_word(said in "[^\0]{0,40}") {
        if let Some(seen) = through_a_shell(&said) {
            prop_assert_eq!(seen, said);
        }
    }
}

#[test]
fn a_title_stays_a_comment() {
    let script = text(&Script {
        title: "one\nrm -rf /",
        url: "https://h/b",
        sha256: "00",
        env: &[("A", "it's")],
        id: "00-1",
    });
    assert!(script.starts_with("#!/bin/sh\n# one rm -rf /\nset -eu\n"));
    assert!(script.contains("env \\\n  A='it'\\''s' \\\n  ./install.sh\n"));
}

fn delivery() -> Delivery {
    Delivery {
        pool: "control-plane".into(),
        reference: "oci://r.example/rke2@sha256:00".into(),
        script: "#!/bin/sh\n".into(),
        env: Default::default(),
    }
}

fn object(pool: &str, kind: &str) -> Node {
    Node::from_value(Map::from_iter([
        Entry::from_value("kind", kind),
        Entry::from_value("pool", pool),
        Entry::from_value("name", "stays"),
    ]))
}

fn text_at(node: &Node, path: &[&str]) -> Option<String> {
    node.get_path(path)?
        .value
        .as_str()
        .map(|text| text.to_string())
}

#[test]
fn objects_of_the_pool_are_annotated_and_keep_their_names() {
    let mut objects = [object("control-plane", "A"), object("md0", "A")];
    annotate(&[delivery()], &mut objects);
    let path = ["annotations", "metalmark.dev/component-bundle"];
    let reference = Some("oci://r.example/rke2@sha256:00".to_owned());
    assert_eq!(text_at(&objects[0], &path), reference);
    assert_eq!(text_at(&objects[0], &["name"]).as_deref(), Some("stays"));
    assert_eq!(text_at(&objects[1], &path), None);
}

#[test]
fn the_literal_field_is_written_with_a_warning_and_without_a_scheme() {
    let (view, mut found) = (Given::new().finished(), Vec::new());
    let mut objects = [object("control-plane", "ElementalMachineTemplate")];
    fill_field(&view, &[delivery()], &mut objects, &mut found);
    let path = ["spec", "template", "spec", "componentsBundle"];
    let reference = Some("r.example/rke2@sha256:00".to_owned());
    assert_eq!(text_at(&objects[0], &path), reference);
    assert!(found[0].message.ends_with("the API server drops it"));
}

#[test]
fn cloud_config_keeps_the_users_commands_and_a_missing_registration_is_reported() {
    let (view, mut found) = (Given::new().finished(), Vec::new());
    let mut own = object("control-plane", "ElementalRegistration");
    let commands = vec![Node::from_value("theirs")];
    own.set(&["spec", "config", "cloudConfig", "runcmd"], commands);
    let mut objects = [own];
    fill_cloud_config(&view, &[delivery()], &mut objects, &mut found);
    assert!(found.is_empty());
    let commands = objects[0].get_path(&["spec", "config", "cloudConfig", "runcmd"]);
    let commands = commands.map(|node| node.value.clone());
    let expected = vec![Node::from_value("theirs"), Node::from_value(PATH)];
    assert_eq!(commands, Some(Value::from(expected)));
    fill_cloud_config(&view, &[delivery()], &mut [], &mut found);
    assert!(found[0].message.contains("has no registration"));
}
