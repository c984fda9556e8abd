//! `init` in repositories of every kind: what it writes is read without a finding of the project file, and nothing is lost.

use std::fs;
use std::path::Path;

use metalmark::model::engine::Engine;
use metalmark::model::json::{Html, to_json};
use metalmark::model::place::FileId;
use tempfile::TempDir;

use super::support::{Metalmark, Outcome, copy_into, copy_of, repository};

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
fn for_an_own_renovate_configuration_the_lists_of_the_preset_are_printed() {
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

/// git, pre-commit and Renovate read the top of the repository alone.
#[test]
fn settings_of_a_project_in_a_folder_are_written_at_the_top() {
    let scratch = tempfile::tempdir().expect("a folder");
    let (top, deploy) = (scratch.path(), scratch.path().join("deploy"));
    fs::create_dir_all(top.join(".git")).expect("created");
    copy_into(
        &repository().join("fixtures/workspaces/sylva-flux"),
        &deploy,
    );
    let outcome = init(&deploy, &["--pre-commit", "--renovate"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    for (name, text) in [
        (".gitattributes", "deploy/rendered/** text eol=lf\n"),
        (".pre-commit-config.yaml", "        args: [-C, deploy]\n"),
        (
            "renovate.json",
            "[\"metalmark -C deploy update --from-renovate\"]",
        ),
    ] {
        let written = fs::read_to_string(top.join(name)).expect(name);
        assert!(written.contains(text), "{written}");
        assert!(!deploy.join(name).exists(), "{name}");
    }
    // A later run changes nothing, and says nothing that is done.
    let outcome = init(&deploy, &["--pre-commit", "--renovate"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let lines: Vec<&str> = outcome.stdout.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "`.gitattributes` has metalmark already",
            "`.pre-commit-config.yaml` has metalmark already",
            "`renovate.json` has metalmark already"
        ]
    );
}

/// Each host has its own rules for what is quoted.
#[test]
fn settings_of_a_project_in_a_folder_of_any_name_are_what_hosts_read() {
    let scratch = tempfile::tempdir().expect("a folder");
    let (top, project) = (scratch.path(), scratch.path().join("my d'ir"));
    fs::create_dir_all(top.join(".git")).expect("created");
    copy_into(
        &repository().join("fixtures/workspaces/sylva-flux"),
        &project,
    );
    let outcome = init(&project, &["--pre-commit", "--renovate"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let renovate = fs::read(top.join("renovate.json")).expect("read");
    let renovate: serde_json::Value = serde_json::from_slice(&renovate).expect("JSON");
    assert_eq!(
        renovate["packageRules"][0]["postUpgradeTasks"]["commands"][0],
        r"metalmark -C 'my d'\''ir' update --from-renovate"
    );
    let attributes = fs::read_to_string(top.join(".gitattributes")).expect("read");
    let line = "\n\"my d'ir/rendered/**\" text eol=lf\n";
    assert!(attributes.contains(line), "{attributes}");
    let hooks = fs::read_to_string(top.join(".pre-commit-config.yaml")).expect("read");
    assert!(hooks.contains("args: [-C, 'my d''ir']\n"), "{hooks}");
}

/// Renovate reads the first of its files, and no other.
#[test]
fn no_configuration_of_renovate_is_written_over_one_of_another_name() {
    for (name, text, is_own) in [
        ("renovate.jsonc", "{}", true),
        (".github/renovate.json5", "{}", true),
        (".renovaterc", "{}", true),
        ("package.json", "{\"renovate\": {}}", true),
        ("package.json", "{\"name\": \"a\"}", false),
    ] {
        let scratch = workspace("sylva-flux");
        let path = scratch.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(&path, text).expect("written");
        let outcome = init(scratch.path(), &["--renovate"]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        let is_said = outcome.stdout.contains(&format!("in `{name}`:"));
        let is_written = scratch.path().join("renovate.json").exists();
        assert_eq!(
            (is_said, is_written),
            (is_own, !is_own),
            "{name}: {}",
            outcome.stdout
        );
    }
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

/// A machine template with this spec.
fn template(kind: &str, version: &str, name: &str, spec: &str) -> String {
    format!(
        "apiVersion: infrastructure.cluster.x-k8s.io/{version}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  template:\n    spec: {spec}\n---\n"
    )
}

/// `init` there, and that the first `stamp` changes nothing. The project file.
fn described(files: &[(&str, &str)]) -> (String, String) {
    let scratch = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = scratch.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }
    let outcome = init(scratch.path(), &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let stamp = Metalmark::within(scratch.path())
        .args(["stamp", "--check"])
        .run();
    assert_eq!(stamp.status, 0, "{}{}", stamp.stdout, stamp.stderr);
    let stamp = Metalmark::within(scratch.path()).args(["stamp"]).run();
    assert_eq!(stamp.status, 0, "{}{}", stamp.stdout, stamp.stderr);
    for (path, text) in files {
        assert_eq!(
            fs::read_to_string(scratch.path().join(path)).expect("read"),
            *text
        );
    }
    let text = fs::read_to_string(scratch.path().join("metalmark.yaml")).expect("written");
    (outcome.stdout, text)
}

#[test]
fn images_of_each_provider_become_records_that_change_nothing() {
    let digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let metal3 = format!(
        "{{image: {{url: https://images.example.org/noble-1.raw, checksum: {digest}, checksumType: sha256, format: raw}}}}"
    );
    let v1beta2 = format!(
        "{{image: {{url: https://images.example.org/noble-1.raw, checksum: {digest}, checksumType: sha256, diskFormat: raw}}}}"
    );
    for (kind, version, spec, location) in [
        (
            "AWSMachineTemplate",
            "v1beta2",
            "{imageLookupFormat: capa-ami-ubuntu-22.04-v1.30.2-1}",
            "ami: {name: ",
        ),
        (
            "AzureMachineTemplate",
            "v1beta1",
            "{image: {id: /subscriptions/s/images/i}}",
            "azure: {id: ",
        ),
        (
            "AzureMachineTemplate",
            "v1beta1",
            "{image: {computeGallery: {gallery: g, name: capi-ubuntu, version: 1.34.1}}}",
            "gallery: g",
        ),
        (
            "DockerMachineTemplate",
            "v1beta1",
            "{customImage: 'kindest/node:v1.30.2'}",
            "docker: {image: ",
        ),
        (
            "HCloudMachineTemplate",
            "v1beta1",
            "{imageName: ubuntu-24.04}",
            "hcloud: {image: ubuntu-24.04}",
        ),
        ("Metal3MachineTemplate", "v1beta1", &*metal3, digest),
        ("Metal3MachineTemplate", "v1beta2", &*v1beta2, digest),
        (
            "OpenStackMachineTemplate",
            "v1beta1",
            "{image: {filter: {name: ubuntu-2204-kube-v1.31.8}}}",
            "glance: {name: ",
        ),
        (
            "OpenStackMachineTemplate",
            "v1beta1",
            "{image: {id: 8f1b2c3d-0000-4000-8000-000000000001}}",
            "glance: {id: ",
        ),
        (
            "VSphereMachineTemplate",
            "v1beta1",
            "{template: /dc/vm/ubuntu-2204-kube-v1.31.8}",
            "vsphere: {template: ",
        ),
    ] {
        let manifest = template(kind, version, "edge", spec);
        let (screen, text) = described(&[("edge.yaml", &manifest)]);
        assert!(screen.contains("wrote 1 image that "), "{kind}: {screen}");
        assert!(text.contains(location), "{text}");
        assert!(text.contains(&format!("kind: {kind}, image: ")), "{text}");
    }
}

#[test]
fn what_a_record_cannot_say_is_left_out() {
    let openstack = |name: &str, image: &str| {
        let spec = format!("{{image: {{filter: {{name: '{image}'}}}}}}");
        template("OpenStackMachineTemplate", "v1beta1", name, &spec)
    };
    let own = openstack("edge-md", "ubuntu-2204-kube-v1.31.8");
    let variable = openstack("edge-cp", "${IMAGE}");
    let [one, other] = ["v1.30.2", "v1.29.1"]
        .map(|version| openstack("twice", &format!("ubuntu-2204-kube-{version}")));
    let files = [
        ("clusters/edge.yaml", &*own),
        ("clusters/cp.yaml", &*variable),
        ("clusters/a/t.yaml", &*one),
        ("clusters/b/t.yaml", &*other),
    ];
    let (screen, text) = described(&files);
    assert!(screen.contains("wrote 1 image that "), "{screen}");
    assert!(screen.contains("left out 3 machine templates"), "{screen}");
    let stamps = "stamps:\n  - {kind: OpenStackMachineTemplate, name: edge-md, image: ubuntu-2204-kube-v1-31-8}\n";
    assert!(text.contains(stamps), "{text}");
}

#[test]
fn what_check_finds_it_still_finds_with_the_records() {
    let wrong = super::plain_manifests::cluster("v1.30.2", super::plain_manifests::GOOD);
    let right =
        super::plain_manifests::cluster("v1.32.4", "{filter: {name: ubuntu-2204-kube-v1.32.4}}")
            .replace("edge", "west");
    let files = [("edge.yaml", &*wrong), ("west.yaml", &*right)];
    let check = |folder: &Path| Metalmark::within(folder).args(["check"]).run();
    let scratch = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        fs::write(scratch.path().join(path), text).expect("written");
    }
    let before = check(scratch.path()).stdout;
    assert!(before.contains("2 mismatched"), "{before}");
    // The image that does not match gets no record, and is no reason to leave out the others: `stamp` runs.
    let (screen, text) = described(&files);
    assert!(screen.contains("wrote 1 image that "), "{screen}");
    assert!(
        text.contains("name: west, image: ubuntu-2204-kube-v1-32-4"),
        "{text}"
    );
    fs::write(scratch.path().join("metalmark.yaml"), text).expect("written");
    let after = check(scratch.path()).stdout;
    assert!(after.contains("2 mismatched"), "{after}");
}

#[test]
fn a_template_that_a_class_may_give_another_image_is_not_compared_with_a_version() {
    let patch = |path: &str| {
        format!(
            "apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata: {{name: quick}}
spec:
  controlPlane:
    machineInfrastructure: {{ref: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: edge}}}}
  patches:
  - name: image
    definitions:
    - selector: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, matchResources: {{controlPlane: true}}}}
      jsonPatches:
      - {{op: add, path: {path}, valueFrom: {{variable: image}}}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {{name: edge}}
spec: {{topology: {{class: quick, version: v1.35.2}}}}
---
"
        )
    };
    let template = template(
        "OpenStackMachineTemplate",
        "v1beta1",
        "edge",
        "{image: {filter: {name: ubuntu-2204-kube-v1.31.1}}}",
    );
    let project = "\
version: 1
manifests: [edge.yaml]
images: {records: {noble: {locations: {glance: {name: ubuntu-2204-kube-v1.31.1}}}}}
stamps: [{kind: OpenStackMachineTemplate, image: noble}]
";
    for (path, status) in [
        ("/spec/template/spec/image/filter/name", 0),
        ("/spec/template/spec/flavor", 1),
    ] {
        let scratch = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            fs::write(scratch.path().join(path), text).expect("written");
        };
        write("edge.yaml", &(patch(path) + &template));
        write("metalmark.yaml", project);
        let outcome = Metalmark::within(scratch.path());
        let outcome = outcome.args(["stamp", "--check"]).run();
        let screen = outcome.stdout + &outcome.stderr;
        assert_eq!(outcome.status, status, "{path}: {screen}");
        let is_told = screen.contains("k8s-version-mismatch");
        assert_eq!(is_told, status == 1, "{screen}");
    }
}
