//! `init` in repositories of every kind: what it writes is read without a finding of the project file, and nothing is lost.

mod hosts;
mod records;

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::support::manifests;
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
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome
            .stdout
            .starts_with("`metalmark.yaml` is there already"),
        "{}",
        outcome.stdout
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
fn the_management_cluster_beside_workload_clusters_is_one_of_them() {
    let scratch = workspace("sylva-baremetal");
    let outcome = init(scratch.path(), &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("found 4 clusters"),
        "{}",
        outcome.stdout
    );
    let text = fs::read_to_string(scratch.path().join("metalmark.yaml")).expect("written");
    let entry = "  - {name: mgmt, values: [environment-values/mgmt/values.yaml]}\n";
    assert!(text.contains(entry), "{text}");
}

#[test]
fn in_a_repository_without_values_the_missing_files_are_reported() {
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

/// Values of a cluster that selects no image.
const VALUES: &str = "cluster:\n  k8s_version: v1.31.8\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}\n  control_plane_replicas: 1\n";

/// What `init` makes of values files at these paths: its screen and the project file.
fn of_values(paths: &[&str]) -> (TempDir, String, String) {
    let scratch = tempfile::tempdir().expect("a folder");
    for path in paths {
        let path = scratch.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, VALUES).expect("written");
    }
    let outcome = init(scratch.path(), &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    is_read(scratch.path());
    let text = fs::read_to_string(scratch.path().join("metalmark.yaml")).expect("written");
    (scratch, outcome.stdout, text)
}

#[test]
fn values_in_folders_of_one_name_are_named_by_the_folders_that_differ() {
    let (_, screen, text) = of_values(&[
        "sites/paris/prod/values.yaml",
        "sites/paris/test/values.yaml",
        "sites/lyon/prod/values.yaml",
    ]);
    let entry = "  - each: 'sites/*/*/values.yaml'    # one cluster a match\n    name: \"{{ path.segments[1] }}-{{ path.segments[2] }}\"\n";
    assert!(text.contains(entry), "{text}");
    assert!(screen.contains("found 3 clusters"), "{screen}");
}

#[test]
fn values_files_anywhere_become_clusters() {
    let (scratch, screen, text) = of_values(&[
        "fleet/eu/paris.yaml",
        "fleet/eu/lyon.yaml",
        "fleet/us/austin.yaml",
        "fleet/us/boston.yaml",
        "other/special/cluster.yaml",
    ]);
    assert!(
        text.contains("  - {name: special, values: [other/special/cluster.yaml]}\n"),
        "{text}"
    );
    assert!(
        text.contains("  - each: 'fleet/*/*.yaml'    # one cluster a match, named by its file\n"),
        "{text}"
    );
    assert!(screen.contains("found 5 clusters"), "{screen}");
    // A pattern that found another file too would make a cluster of it.
    let (_, _, text) = of_values(&["a/one/values.yaml", "a/two/values.yaml"]);
    assert!(text.contains("'a/*/values.yaml'"), "{text}");
    fs::remove_file(scratch.path().join("metalmark.yaml")).expect("removed");
    fs::write(scratch.path().join("fleet/eu/notes.yaml"), "a: 1\n").expect("written");
    let printed = init(scratch.path(), &["--dry-run"]).stdout;
    assert!(!printed.contains("each:"), "{printed}");
    assert!(printed.contains("{name: austin, "), "{printed}");
}

#[test]
fn as_many_errors_are_announced_as_check_prints() {
    let (scratch, screen, _) = of_values(&["clusters/a/values.yaml", "clusters/b/values.yaml"]);
    let expected = "2 errors must be fixed first: image-not-chosen 2\n  such as: no node pool selects an image (2 times)\n";
    assert!(screen.contains(expected), "{screen}");
    let check = Metalmark::within(scratch.path()).args(["check"]).run();
    assert!(
        check.stdout.contains("\n2 errors in 2 clusters"),
        "{}",
        check.stdout
    );
}

/// A file that patches what it deploys names no object of Cluster API.
#[test]
fn check_finds_the_same_before_and_after_init() {
    let machines = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: w}
spec:
  clusterName: edge
  template:
    spec:
      version: v1.33.1
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: DockerMachineTemplate, name: w}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: DockerMachineTemplate
metadata: {name: w}
spec: {template: {spec: {customImage: 'kindest/node:v1.33.1'}}}
";
    let patch = "  - target: {kind: MachineDeployment}\n    patch: '- {op: replace, path: /spec/template/spec/version, value: v1.34.1}'\n";
    let overlay = format!("resources: [../base]\npatches:\n{patch}");
    let flux = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: edge, namespace: flux-system}}\nspec:\n  path: ./base\n  prune: true\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n  patches:\n{patch}"
    );
    for (path, text) in [
        ("lyon/kustomization.yaml", overlay),
        ("flux/edge.yaml", flux),
    ] {
        let scratch = manifests::repository(&[
            ("base/c.yaml", machines),
            ("base/kustomization.yaml", "resources: [c.yaml]\n"),
            (path, &text),
        ]);
        let check = || {
            let outcome = Metalmark::within(scratch.path()).args(["check"]).run();
            (
                outcome.status,
                outcome.stdout.contains("error[k8s-version-mismatch]"),
            )
        };
        assert_eq!(check(), (1, true), "{path}");
        assert_eq!(init(scratch.path(), &[]).status, 0);
        assert_eq!(check(), (1, true), "{path}");
    }
}
