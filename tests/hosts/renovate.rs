//! The Renovate preset: its patterns find what values files hold, and nothing in it needs a shell.

use std::fs;

use regex_automata::meta::Regex;
use serde_json::Value;

use crate::programs::named;
use crate::support::repository;

fn preset() -> Value {
    let text = fs::read_to_string(repository().join("templates/hosts/renovate/metalmark.json"));
    serde_json::from_str(&text.expect("the preset")).expect("it is JSON")
}

/// What the managers find in a text: depName, currentValue.
fn found(text: &str) -> Vec<(String, String)> {
    let preset = preset();
    let managers = preset["customManagers"].as_array().expect("a list");
    let patterns = managers
        .iter()
        .flat_map(|manager| manager["matchStrings"].as_array().expect("a list"));
    let patterns = patterns.map(|pattern| pattern.as_str().expect("a pattern"));
    let mut found = Vec::new();
    for pattern in patterns {
        // No look-around and no back-references: what RE2 takes, this does.
        let regex = Regex::new(pattern).expect("the pattern compiles");
        let mut captures = regex.create_captures();
        let mut start = 0;
        while start <= text.len() {
            regex.captures(
                regex_automata::Input::new(text).range(start..),
                &mut captures,
            );
            let Some(whole) = captures.get_match() else {
                break;
            };
            let group = |name: &str| {
                text[captures.get_group_by_name(name).expect("set").range()].to_owned()
            };
            found.push((group("depName"), group("currentValue")));
            start = whole.end();
        }
    }
    found
}

fn pair(dependency: &str, value: &str) -> Vec<(String, String)> {
    vec![(dependency.to_owned(), value.to_owned())]
}

#[test]
fn the_version_line_is_found_under_both_names() {
    let builder = "sylva-projects/sylva-elements/diskimage-builder";
    let sylva = format!(
        "a: 1\n# renovate: depName={builder}\nsylva_diskimagebuilder_version: 0.4.12\n\nb: 2\n"
    );
    assert_eq!(found(&sylva), pair(builder, "0.4.12"));
    let proposal = "# renovate: datasource=github-tags depName=acme/diskimage-builder versioning=semver\r\ndiskimage_builder_version: \"v1.2.3\"  # note\r\n";
    assert_eq!(found(proposal), pair("acme/diskimage-builder", "v1.2.3"));
}

#[test]
fn the_version_of_each_builder_is_found() {
    let kiwi = "sylva-projects/sylva-elements/kiwi-imagebuilder";
    let text = format!("# renovate: depName={kiwi}\nacme_kiwi_version: 0.5.11\n");
    assert_eq!(found(&text), pair(kiwi, "0.5.11"));
}

#[test]
fn a_registrys_own_tag_is_found_and_an_expression_is_not() {
    let registries = "\
os_images_oci_registries:
  own:
    url: oci://registry.example.org/images
    # renovate: depName=acme/diskimage-builder
    tag: '0.4.12'
  sylva:
    # renovate: depName=acme/diskimage-builder
    tag: '{{ .Values.sylva_diskimagebuilder_version }}'
chart:
  # renovate: depName=acme/chart
  tag: 1.2.3
";
    assert_eq!(found(registries), pair("acme/diskimage-builder", "0.4.12"));
}

#[test]
fn a_line_without_the_comment_is_nobodys() {
    assert_eq!(
        found("sylva_diskimagebuilder_version: 0.4.12\ntag: 1.0.0\n"),
        []
    );
}

#[test]
fn sylvas_own_values_hold_one_version() {
    let Some(checkout) = named("SYLVA_CORE") else {
        return;
    };
    let path = checkout.join("charts/sylva-units/values.yaml");
    let text = fs::read_to_string(path).expect("sylva-core's values");
    let found = found(&text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        found[0].0,
        "sylva-projects/sylva-elements/diskimage-builder"
    );
}

#[test]
fn the_files_that_are_looked_at_are_values_files() {
    let preset = preset();
    for manager in preset["customManagers"].as_array().expect("a list") {
        let pattern = manager["managerFilePatterns"][0]
            .as_str()
            .expect("a pattern");
        let regex = Regex::new(pattern.trim_matches('/')).expect("the pattern compiles");
        for path in [
            "values.yaml",
            "charts/sylva-units/values.yaml",
            "a/mgmt.values.yml",
            "a/lab-values.yaml",
        ] {
            assert!(regex.is_match(path), "{path}");
        }
        for path in ["a/myvalues.yaml", "values.yaml.bak", "a/values/x.yaml"] {
            assert!(!regex.is_match(path), "{path}");
        }
    }
}

#[test]
fn what_runs_after_an_upgrade_needs_no_shell() {
    let preset = preset();
    let tasks = &preset["packageRules"][0]["postUpgradeTasks"];
    for command in tasks["commands"].as_array().expect("a list") {
        let command = command.as_str().expect("a command");
        assert!(command.starts_with("metalmark "), "{command}");
        assert!(
            !command.contains(['&', '|', ';', '<', '>', '$', '`', '"', '\'', '*']),
            "{command}"
        );
    }
    assert_eq!(tasks["executionMode"], "branch");
    // The page allows what the preset runs, and no more.
    let page = fs::read_to_string(repository().join("docs/hosts/renovate.md")).expect("the page");
    let allowed = "allowedCommands: [\"^metalmark update --from-renovate$\"]";
    assert!(page.contains(allowed), "{page}");
    assert_eq!(
        tasks["commands"],
        serde_json::json!(["metalmark update --from-renovate"])
    );
    // A second manager that finds the version, such as sylva-core's own, must not make a second merge request.
    let rule = &preset["packageRules"][0];
    let names = serde_json::json!(["**/*diskimage-builder", "**/*imagebuilder"]);
    assert_eq!(rule["matchDepNames"], names);
    // Nor must an update that goes further than the other builder's.
    for name in ["MajorMinor", "MinorPatch", "MultipleMinor"] {
        assert_eq!(rule[format!("separate{name}")], false, "{name}");
    }
    let matchers = rule.as_object().expect("a map").keys();
    assert_eq!(matchers.filter(|key| key.starts_with("match")).count(), 1);
}
