//! Patches of kustomizations: they refer to the template that they are applied to, and are none themselves.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::Metalmark;

const BASE: &str = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: w}
spec:
  clusterName: edge
  template:
    spec:
      version: v1.34.1
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: w}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: OpenStackMachineTemplate
metadata: {name: w}
spec: {template: {spec: {image: {filter: {name: noble-34}}}}}
";
const PROJECT: &str = "\
version: 1
manifests: [base, over]
images:
  records:
    noble-35: {k8s: {flavor: kubeadm, version: 1.35.1}, format: qcow2, locations: {glance: {name: noble-35}}}
stamps:
- {kind: OpenStackMachineTemplate, image: noble-35}
";
const PATCH: &str = "\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: OpenStackMachineTemplate
metadata: {name: w}
spec: {template: {spec: {flavor: large}}}
";

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("created");
    fs::write(path, text).expect("written");
}

/// A base, and an overlay with this kustomization and this patch in a file.
fn overlay(kustomization: &str, patch: &str) -> TempDir {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    write(folder, "metalmark.yaml", PROJECT);
    write(folder, "base/kustomization.yaml", "resources: [c.yaml]\n");
    write(folder, "base/c.yaml", BASE);
    let kustomization = format!("resources: [../base]\n{kustomization}");
    write(folder, "over/kustomization.yaml", &kustomization);
    write(folder, "over/p.yaml", patch);
    scratch
}

/// Rotates, and keeps nothing of the past; the texts of the overlay and of the patch's file.
fn rotated(folder: &Path) -> (String, String) {
    let arguments = ["stamp", "--rotate", "--set-version", "--keep", "0"];
    let outcome = Metalmark::within(folder).args(arguments).run();
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    let read = |path: &str| fs::read_to_string(folder.join(path)).expect("text");
    (read("over/kustomization.yaml"), read("over/p.yaml"))
}

/// The name of the template in the base.
fn name(folder: &Path) -> String {
    let base = fs::read_to_string(folder.join("base/c.yaml")).expect("text");
    let name = base.rsplit("metadata: {name: ").next();
    let name = name.and_then(|rest| rest.split('}').next());
    name.expect("a name").to_owned()
}

#[test]
fn a_patch_without_an_image_gets_the_new_name_and_no_image() {
    let inline: String = PATCH.lines().map(|line| format!("    {line}\n")).collect();
    for kustomization in [
        "patches:\n- path: p.yaml\n".to_owned(),
        "patches:\n- path: p.yaml\n  target: {kind: OpenStackMachineTemplate, name: w}\n"
            .to_owned(),
        "patchesStrategicMerge: [p.yaml]\n".to_owned(),
        format!("patches:\n- patch: |\n{inline}- path: p.yaml\n"),
        format!("patchesStrategicMerge:\n- |\n{inline}- p.yaml\n"),
    ] {
        let scratch = overlay(&kustomization, PATCH);
        let (over, patch) = rotated(scratch.path());
        let name = name(scratch.path());
        assert!(name.starts_with("w-"), "{name}");
        let moved = |text: &str| text.replace("name: w}", &format!("name: {name}}}"));
        assert_eq!(patch, moved(PATCH), "{kustomization}");
        let expected = format!("resources: [../base]\n{}", moved(&kustomization));
        assert_eq!(over, expected, "{kustomization}");
        let again = Metalmark::within(scratch.path())
            .args(["stamp", "--rotate", "--check"])
            .run();
        assert_eq!(again.status, 0, "{}{}", again.stdout, again.stderr);
    }
}

#[test]
fn stamping_in_place_writes_no_image_into_a_patch() {
    let scratch = overlay("patches: [{path: p.yaml}]\n", PATCH);
    let folder = scratch.path();
    let base = BASE.replace("image: {filter: {name: noble-34}}", "flavor: small");
    write(folder, "base/c.yaml", &base.replace("v1.34.1", "v1.35.1"));
    let outcome = Metalmark::within(folder).args(["stamp"]).run();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let read = |path: &str| fs::read_to_string(folder.join(path)).expect("text");
    assert!(read("base/c.yaml").contains("noble-35"));
    assert_eq!(read("over/p.yaml"), PATCH);
}

#[test]
fn a_patch_that_names_an_image_is_stamped_with_its_template() {
    let patch = PATCH.replace("flavor: large", "image: {filter: {name: noble-34}}");
    let scratch = overlay("patches: [{path: p.yaml}]\n", &patch);
    let (_, after) = rotated(scratch.path());
    let name = format!("name: {}}}", name(scratch.path()));
    let expected = patch.replace("noble-34", "noble-35");
    assert_eq!(after, expected.replace("name: w}", &name));
}

#[test]
fn a_copy_that_is_kept_without_its_patches_is_reported() {
    let scratch = overlay("patches: [{path: p.yaml}]\n", PATCH);
    let outcome = Metalmark::within(scratch.path())
        .args(["stamp", "--rotate", "--set-version"])
        .run();
    let lost = "the kept copy of OpenStackMachineTemplate `w` loses its patches to `w-";
    assert!(outcome.stderr.contains(lost), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("run with `--keep 0`"));
    // The webhook of the provider would refuse the copy.
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    let base = fs::read_to_string(scratch.path().join("base/c.yaml")).expect("text");
    assert_eq!(base, BASE);
}

#[test]
fn an_object_that_a_kustomization_renames_may_be_the_one_that_is_missing() {
    let target = "target: {kind: KubeadmConfigTemplate}";
    for (kustomization, is_renaming) in [
        (
            "patches:\n- TARGET\n  patch: '[{\"op\": \"replace\", \"path\": \"/metadata/name\", \"value\": \"md-1\"}]'\n",
            true,
        ),
        ("patchesJson6902:\n- TARGET\n  path: p.yaml\n", true),
        ("patches:\n- TARGET\n  path: q.yaml\n", false),
        (
            "patches:\n- TARGET\n  path: q.yaml\n  options: {allowNameChange: true}\n",
            true,
        ),
        (
            "replacements:\n- source: {kind: MachineDeployment, fieldPath: spec.template.spec.bootstrap.configRef.name}\n  targets:\n  - {select: {kind: KubeadmConfigTemplate}, fieldPaths: [metadata.name]}\n",
            true,
        ),
        (
            "patches:\n- target: {kind: Secret}\n  path: p.yaml\n",
            false,
        ),
    ] {
        let renaming = "- {op: replace, path: /metadata/name, value: md-1}\n";
        let scratch = overlay(&kustomization.replace("TARGET", target), renaming);
        let folder = scratch.path();
        write(
            folder,
            "over/q.yaml",
            "- {op: add, path: /metadata/namespace, value: a}\n",
        );
        let bootstrap = "      bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: md-1}}\n";
        let base = BASE.replace("      infra", &format!("{bootstrap}      infra"));
        let base = base
            .replace("v1.34.1", "v1.35.1")
            .replace("noble-34", "noble-35");
        let config = "---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {name: md-0}\n";
        write(folder, "base/c.yaml", &(base + config));
        let outcome = Metalmark::within(folder).args(["stamp"]).run();
        assert_eq!(
            outcome.status,
            i32::from(!is_renaming),
            "{kustomization}{}",
            outcome.stderr
        );
        assert_eq!(
            outcome.stderr.contains("`md-1`, which is not there"),
            !is_renaming
        );
    }
}

#[test]
fn a_template_whose_name_a_kustomization_sets_is_not_rotated() {
    let patch = "- {op: replace, path: /metadata/name, value: other}\n";
    let target = "patches:\n- {path: p.yaml, target: {kind: OpenStackMachineTemplate}}\n";
    let scratch = overlay(target, patch);
    let arguments = ["stamp", "--rotate", "--set-version"];
    let outcome = Metalmark::within(scratch.path()).args(arguments).run();
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    let why = "a kustomization gives it a name that does not follow its content";
    assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
}

#[test]
fn a_template_that_a_json_patch_names_is_rotated_with_the_whole_reference_only() {
    let target = "patches:\n- {path: p.yaml, target: {kind: MachineDeployment}}\n";
    let reference = "/spec/template/spec/infrastructureRef";
    let alone = format!("- {{op: replace, path: {reference}/name, value: w}}\n");
    let scratch = overlay(target, &alone);
    let arguments = ["stamp", "--rotate", "--set-version"];
    let outcome = Metalmark::within(scratch.path()).args(arguments).run();
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    let why = "a JSON patch writes its name into a reference";
    assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
    let whole = format!(
        "- op: replace\n  path: {reference}\n  value: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: w}}\n"
    );
    let scratch = overlay(target, &whole);
    let (_, patch) = rotated(scratch.path());
    let name = format!("name: {}}}", name(scratch.path()));
    assert_eq!(patch, whole.replace("name: w}", &name));
}
