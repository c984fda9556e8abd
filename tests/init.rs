//! `init` in repositories of every kind: what it writes is read without a finding of the project file, and nothing is lost.

use std::fs;
use std::path::Path;

use metalmark::model::engine::Engine;
use metalmark::model::json::{Html, to_json};
use metalmark::model::place::FileId;
use tempfile::TempDir;

use super::support::{Metalmark, Outcome, copy_of, repository};

fn init(folder: &Path, arguments: &[&str]) -> Outcome {
    let all = ["init"].into_iter().chain(arguments.iter().copied());
    Metalmark::within(folder).args(all).run()
}

fn workspace(name: &str) -> TempDir {
    let scratch = copy_of(&repository().join("fixtures/workspaces").join(name));
    fs::remove_file(scratch.path().join("metalmark.yaml")).expect("removed");
    scratch
}

/// That the project file is there and nothing is wrong with it.
fn is_read(folder: &Path) {
    let check = Metalmark::within(folder).args(["check"]).run();
    assert!(!check.stdout.contains("[project-file]"), "{}", check.stdout);
    assert_ne!(check.status, 2, "{}", check.stderr);
}

#[test]
fn a_repository_of_sylva_s_shape_becomes_a_project() {
    for name in ["sylva-flux", "sylva-baremetal"] {
        let scratch = workspace(name);
        let outcome = init(scratch.path(), &[]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        assert!(
            outcome.stdout.starts_with("wrote metalmark.yaml\nfound "),
            "{}",
            outcome.stdout
        );
        assert!(
            outcome.stdout.contains("`metalmark render` would write "),
            "{}",
            outcome.stdout
        );
        let text = fs::read_to_string(scratch.path().join("metalmark.yaml")).expect("written");
        assert!(text.contains("facts: [os-images-info.yaml]"), "{text}");
        is_read(scratch.path());
    }
}

#[test]
fn a_project_file_that_is_there_is_left_alone() {
    let scratch = copy_of(&repository().join("fixtures/workspaces/sylva-flux"));
    let path = scratch.path().join("metalmark.yaml");
    let before = fs::read(&path).expect("read");
    let outcome = init(scratch.path(), &[]);
    assert_eq!(outcome.status, 2);
    assert!(
        outcome
            .stderr
            .contains("there is a `metalmark.yaml` already"),
        "{}",
        outcome.stderr
    );
    assert_eq!(fs::read(&path).expect("read"), before);
    let dry = init(scratch.path(), &["--dry-run"]);
    assert_eq!(dry.status, 0, "{}", dry.stderr);
    assert!(
        dry.stdout.starts_with("# What metalmark reads"),
        "{}",
        dry.stdout
    );
    assert_eq!(fs::read(&path).expect("read"), before);
}

#[test]
fn a_dry_run_writes_nothing() {
    let scratch = workspace("sylva-flux");
    let outcome = init(scratch.path(), &["--dry-run", "--pre-commit", "--renovate"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    for name in ["metalmark.yaml", ".pre-commit-config.yaml", "renovate.json"] {
        assert!(!scratch.path().join(name).exists(), "{name}");
    }
}

#[test]
fn hosts_settings_are_written_where_there_are_none_and_said_where_there_are() {
    let scratch = workspace("sylva-flux");
    let own = "repos: [] # mine\n";
    fs::write(scratch.path().join(".pre-commit-config.yaml"), own).expect("written");
    let outcome = init(scratch.path(), &["--pre-commit", "--renovate"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome
            .stdout
            .contains("add under `repos:` in `.pre-commit-config.yaml`:\n  - repo: local"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains("wrote renovate.json"),
        "{}",
        outcome.stdout
    );
    assert_eq!(
        fs::read_to_string(scratch.path().join(".pre-commit-config.yaml")).expect("read"),
        own
    );
    let renovate = fs::read(scratch.path().join("renovate.json")).expect("read");
    let renovate: serde_json::Value = serde_json::from_slice(&renovate).expect("JSON");
    // The preset, and the usual rules of Renovate.
    let preset = repository().join("templates/hosts/renovate/metalmark.json");
    let preset = fs::read(preset).expect("the preset");
    let mut preset: serde_json::Value = serde_json::from_slice(&preset).expect("JSON");
    preset["extends"] = serde_json::json!(["config:recommended"]);
    assert_eq!(renovate, preset);
}

#[test]
fn a_renovate_configuration_of_one_s_own_is_told_the_preset_s_lists() {
    let scratch = workspace("sylva-flux");
    fs::write(scratch.path().join("renovate.json"), "{}\n").expect("written");
    let outcome = init(scratch.path(), &["--renovate"]);
    let (_, lists) = outcome
        .stdout
        .split_once("add to the lists of these names in `renovate.json`:\n")
        .expect("what to add");
    let (lists, _) = lists.split_once("\n\n").expect("its end");
    let lists: serde_json::Value = serde_json::from_str(&format!("{{{lists}}}")).expect("JSON");
    assert!(lists["customManagers"].is_array() && lists["packageRules"].is_array());
    assert_eq!(lists.as_object().map(serde_json::Map::len), Some(2));
}

#[test]
fn the_hook_that_is_written_is_the_manifest_s() {
    let scratch = workspace("sylva-flux");
    assert_eq!(init(scratch.path(), &["--pre-commit"]).status, 0);
    let read = |text: &str| -> serde_json::Value {
        let values = metalmark::yaml::values(text, FileId(0), Engine::Kubectl).expect("YAML");
        serde_json::from_str(&to_json(&values.value, Html::Plain)).expect("JSON")
    };
    let written = scratch.path().join(".pre-commit-config.yaml");
    let written = read(&fs::read_to_string(written).expect("written"));
    let manifest = fs::read_to_string(repository().join(".pre-commit-hooks.yaml")).expect("read");
    let manifest = read(&format!("hooks:\n{manifest}"));
    let hooks = manifest["hooks"].as_array().expect("a list");
    let mut hook = hooks
        .iter()
        .find(|hook| hook["id"] == "metalmark-render-system")
        .expect("the hook")
        .clone();
    let fields = hook.as_object_mut().expect("a map");
    // A local hook is of no package, and names itself.
    fields.remove("description");
    fields.remove("minimum_pre_commit_version");
    fields.insert("id".to_owned(), "metalmark-render".into());
    assert_eq!(written["repos"][0]["hooks"][0], hook);
}

#[test]
fn plain_values_files_become_clusters() {
    let scratch = tempfile::tempdir().expect("a folder");
    for name in ["a", "b"] {
        let folder = scratch.path().join("clusters").join(name);
        fs::create_dir_all(&folder).expect("created");
        fs::write(
            folder.join("values.yaml"),
            "cluster: {k8s_version: v1.31.8}\n",
        )
        .expect("written");
    }
    let outcome = init(scratch.path(), &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("found 2 clusters"),
        "{}",
        outcome.stdout
    );
    let text = fs::read_to_string(scratch.path().join("metalmark.yaml")).expect("written");
    assert!(text.contains("each: 'clusters/*/values.yaml'"), "{text}");
    is_read(scratch.path());
}

#[test]
fn a_repository_without_values_is_told_what_is_missing() {
    let scratch = tempfile::tempdir().expect("a folder");
    let empty = init(scratch.path(), &[]);
    assert_eq!(empty.status, 2);
    assert!(
        empty
            .stderr
            .contains("there is nothing here to make a project from\nhelp: "),
        "{}",
        empty.stderr
    );
    let manifest = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\nmetadata: {name: a}\n";
    fs::write(scratch.path().join("template.yaml"), manifest).expect("written");
    let plain = init(scratch.path(), &[]);
    assert_eq!(plain.status, 0, "{}", plain.stderr);
    assert!(
        plain
            .stdout
            .contains("found 1 file with machine templates (`template.yaml`)")
            && plain.stdout.contains("metalmark stamp --check"),
        "{}",
        plain.stdout
    );
    let stamped = Metalmark::within(scratch.path()).args(["stamp"]).run();
    assert_eq!(stamped.status, 0, "{}{}", stamped.stdout, stamped.stderr);
    assert!(
        stamped.stderr.contains("nothing says which image"),
        "{}",
        stamped.stderr
    );
}

/// Files in the root and objects with references on one line: what is left out is not checked.
#[test]
fn init_leaves_no_object_of_a_cluster_out() {
    let scratch = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = scratch.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    };
    let template = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\nmetadata: {name: a}\n";
    let deployment = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineDeployment\nmetadata: {name: md}\n\
                      spec: {template: {spec: {infrastructureRef: {kind: Metal3MachineTemplate, name: a}}}}\n";
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  names:\n    kind: AMachineTemplate\n";
    write("templates/a.yaml", template);
    write("pools/md.yaml", deployment);
    write("crds/a.yaml", definition);
    let outcome = init(scratch.path(), &["--dry-run"]);
    assert!(
        outcome.stdout.contains("manifests: [pools/, templates/]\n"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stderr
            .contains("found 1 file with machine templates"),
        "{}",
        outcome.stderr
    );
    write(
        "cluster.yaml",
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: c}\n",
    );
    let outcome = init(scratch.path(), &["--dry-run"]);
    assert!(
        outcome.stdout.contains("manifests: ['.']\n"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_cluster_stack_has_a_pair_and_is_checked() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let write = |path: &str, text: &str| {
        let path = scratch.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    };
    write(
        "providers/scs/csctl.yaml",
        "config: {kubernetesVersion: v1.32.5}\n",
    );
    write(
        "providers/scs/cluster-class/values.yaml",
        "images: {worker: {name: ubuntu-capi-image-v1.32.4}}\n",
    );
    let outcome = init(scratch.path(), &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let text = fs::read_to_string(scratch.path().join("metalmark.yaml")).expect("written");
    let pair = "  - {version: '**/csctl.yaml#config.kubernetesVersion', image: 'cluster-class/values.yaml#images.**.name'}\n";
    assert!(text.ends_with(pair), "{text}");
    let checked = Metalmark::within(scratch.path()).args(["check"]).run();
    assert!(
        checked.stdout.contains("1 mismatched"),
        "{}",
        checked.stdout
    );
}
