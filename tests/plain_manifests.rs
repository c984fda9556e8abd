//! Clusters of plain Cluster API manifests: found without a project file, checked by the image that each machine template names.

use std::fs;

use tempfile::TempDir;

use super::git::{commit, git};
use super::support::Metalmark;

pub(super) fn repository(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }
    folder
}

/// What `metalmark check` prints, and its exit status.
pub(super) fn check(files: &[(&str, &str)]) -> (String, i32) {
    let folder = repository(files);
    let outcome = Metalmark::within(folder.path()).args(["check"]).run();
    (outcome.stdout + &outcome.stderr, outcome.status)
}

pub(super) fn summary(files: &[(&str, &str)]) -> String {
    let (screen, _) = check(files);
    screen.lines().last().unwrap_or_default().to_owned()
}

/// A Cluster with a control plane and a MachineDeployment, each with a machine template.
pub(super) fn cluster(version: &str, image: &str) -> String {
    format!(
        "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {{name: edge}}
spec:
  controlPlaneRef: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: edge-cp}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {{name: edge-cp}}
spec:
  replicas: 3
  version: {version}
  machineTemplate:
    infrastructureRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: edge}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {{name: edge-md}}
spec:
  clusterName: edge
  template:
    spec:
      version: {version}
      infrastructureRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: edge}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: OpenStackMachineTemplate
metadata: {{name: edge}}
spec: {{template: {{spec: {{image: {image}}}}}}}
"
    )
}

pub(super) const GOOD: &str = "{filter: {name: ubuntu-2204-kube-v1.31.8}}";

#[test]
fn another_version_in_the_images_name_is_found_without_a_project() {
    let files = [("clusters/edge.yaml", &*cluster("v1.30.2", GOOD))];
    let (screen, status) = check(&files);
    assert_eq!(status, 1, "{screen}");
    let first = "\
error[k8s-version-mismatch]: image `ubuntu-2204-kube-v1.31.8` holds Kubernetes `1.31.8`, not `v1.30.2`
  --> clusters/edge.yaml:29:49
";
    assert!(screen.starts_with(first), "{screen}");
    assert!(
        screen.contains("= cluster: edge, pool control-plane"),
        "{screen}"
    );
    let last = "1 error in 1 cluster; 2 node pools checked: 2 mismatched";
    assert_eq!(screen.lines().last(), Some(last));
}

#[test]
fn the_version_of_the_name_is_counted_as_such() {
    let files = [("edge.yaml", &*cluster("v1.31.8", GOOD))];
    let (screen, status) = check(&files);
    assert_eq!(status, 0, "{screen}");
    assert_eq!(
        screen.trim_end(),
        "no findings in 1 cluster; 2 node pools checked: 2 by name only"
    );
}

#[test]
fn an_image_that_says_no_version_is_no_finding() {
    for image in [
        "{filter: {name: ubuntu-24.04}}",
        "{id: 19e017ae-2759-479c-90ac-a400a3f64678}",
    ] {
        let found = summary(&[("edge.yaml", &cluster("v1.31.8", image))]);
        assert_eq!(
            found,
            "no findings in 1 cluster; 2 node pools checked: 2 unproven"
        );
    }
}

#[test]
fn an_object_of_the_same_file_counts_before_one_without_a_namespace_elsewhere() {
    let own = cluster("v1.30.2", GOOD);
    let (own, template) = own.rsplit_once("---\n").expect("several documents");
    let template = template.replace("name: edge}", "name: edge, namespace: prod}");
    let own = format!("{own}---\n{template}");
    let other = template
        .replace(", namespace: prod", "")
        .replace("v1.31.8", "v1.30.2");
    let files = [("a/edge.yaml", &*own), ("z/template.yaml", &other)];
    assert!(summary(&files).ends_with("2 mismatched"));
}

#[test]
fn an_image_of_any_api_version_is_read() {
    let old = cluster("v1.30.2", "ubuntu-2204-kube-v1.31.8").replace(
        "infrastructure.cluster.x-k8s.io/v1beta1\nkind: OpenStackMachineTemplate",
        "infrastructure.cluster.x-k8s.io/v1alpha3\nkind: OpenStackMachineTemplate",
    );
    assert!(summary(&[("edge.yaml", &old)]).ends_with("2 mismatched"));
}

#[test]
fn one_name_in_two_folders_is_two_clusters() {
    let (dev, prod) = (
        cluster("v1.31.8", GOOD),
        cluster("v1.30.2", "{filter: {name: ubuntu-2204-kube-v1.30.2}}"),
    );
    let found = summary(&[("dev/all.yaml", &dev), ("prod/all.yaml", &prod)]);
    assert_eq!(
        found,
        "no findings in 2 clusters; 4 node pools checked: 4 by name only"
    );
    let (screen, _) = check(&[
        ("dev/all.yaml", &cluster("v1.30.9", GOOD)),
        ("prod/all.yaml", &prod),
    ]);
    assert!(
        screen.contains("= cluster: dev/edge, pool control-plane\n   = also in pools: edge-md"),
        "{screen}"
    );
    assert!(!screen.contains("prod"), "{screen}");
}

#[test]
fn a_namespace_that_one_side_does_not_name_fits() {
    let text = cluster("v1.30.2", GOOD)
        .replace(
            "{name: edge-cp}\nspec:\n  replicas",
            "{name: edge-cp, namespace: fleet}\nspec:\n  replicas",
        )
        .replace(
            "metadata: {name: edge}\nspec:\n  controlPlaneRef",
            "metadata: {name: edge, namespace: fleet}\nspec:\n  controlPlaneRef",
        );
    assert!(text.matches("fleet").count() == 2);
    assert!(
        summary(&[("edge.yaml", &text)])
            .ends_with("in 1 cluster; 2 node pools checked: 2 mismatched")
    );
}

#[test]
fn what_is_not_known_is_counted_with_its_reason() {
    let variable = cluster("${KUBERNETES_VERSION}", GOOD);
    assert!(
        summary(&[("edge.yaml", &variable)])
            .ends_with("2 skipped: its image or version is a variable")
    );
    let whole = cluster("v1.31.8", GOOD);
    let (without, _) = whole.rsplit_once("---").expect("documents");
    assert!(
        summary(&[("edge.yaml", without)])
            .ends_with("2 skipped: its machine template is not among the manifests")
    );
    let empty = cluster("v1.31.8", "{filter: {tags: [a]}}");
    assert!(
        summary(&[("edge.yaml", &empty)])
            .ends_with("2 skipped: its machine template names no image")
    );
}

pub(super) const CLASS: &str = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: edge}
spec:
  topology:
    class: quick
    version: v1.30.2
    workers: {machineDeployments: [{class: worker, name: md-0}]}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata: {name: quick}
spec:
  controlPlane:
    machineInfrastructure: {ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: cp}}
  workers:
    machineDeployments:
    - class: worker
      template:
        infrastructure: {ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: md}}
  patches: []
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: cp}
spec: {template: {spec: {image: {url: 'http://h/UBUNTU_24.04_NODE_IMAGE_K8S_v1.30.2.qcow2', checksum: 'http://h/sum'}}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: md}
spec: {template: {spec: {image: {url: 'http://h/UBUNTU_24.04_NODE_IMAGE_K8S_v1.31.8.qcow2', checksum: 'http://h/sum'}}}}
";

#[test]
fn the_pools_of_a_topology_boot_the_images_of_its_class() {
    let (screen, _) = check(&[("edge.yaml", CLASS)]);
    assert!(screen.contains("= cluster: edge, pool md-0"), "{screen}");
    assert!(
        screen.ends_with(
            "1 error in 1 cluster; 2 node pools checked: 1 by name only, 1 mismatched\n"
        ),
        "{screen}"
    );
    // The names and references of v1beta2.
    let newer = CLASS
        .replace("class: quick", "classRef: {name: quick}")
        .replace("{ref: {", "{templateRef: {");
    assert!(summary(&[("edge.yaml", &newer)]).ends_with("1 by name only, 1 mismatched"));
}

/// The topology of [`CLASS`] with these parts: what the class defines and patches, and what the Cluster sets.
pub(super) fn patched(of_class: &str, of_topology: &str) -> (String, i32) {
    let text = CLASS
        .replace("  patches: []\n", of_class)
        .replace("    version: v1.30.2\n", of_topology);
    check(&[("edge.yaml", &text)])
}

/// A patch of the image of some machines.
pub(super) fn patch(machines: &str, value: &str) -> String {
    format!(
        "
  - name: image
    definitions:
    - selector: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, matchResources: {machines}}}
      jsonPatches:
      - op: replace
        path: /spec/template/spec/image/url
        {value}
"
    )
}

pub(super) const WORKERS: &str = "{machineDeploymentClass: {names: [work*]}}";

#[test]
fn the_image_that_a_class_computes_from_the_version_is_the_pools() {
    let value = "valueFrom: {template: 'http://h/UBUNTU_24.04_NODE_IMAGE_K8S_{{ .builtin.machineDeployment.version }}.qcow2'}";
    let of_class = format!("  patches:{}", patch(WORKERS, value));
    let (screen, _) = patched(&of_class, "    version: v1.30.2\n");
    let last = "no findings in 1 cluster; 2 node pools checked: 2 by name only\n";
    assert!(screen.ends_with(last), "{screen}");
    // The control plane's is its template's.
    let (screen, _) = patched(&of_class, "    version: v1.30.3\n");
    assert!(screen.contains("pool control-plane"), "{screen}");
    assert!(
        screen.ends_with("1 by name only, 1 mismatched\n"),
        "{screen}"
    );
}

#[test]
fn a_variable_of_the_topology_names_the_image_and_is_where_the_finding_points() {
    let variables = "
  variables:
  - name: image
    schema:
      openAPIV3Schema:
        type: object
        default: {}
        properties:
          urls: {type: array, items: {type: string}, default: ['http://h/UBUNTU_24.04_NODE_IMAGE_K8S_v1.30.2.qcow2']}
";
    let patches = patch(WORKERS, "valueFrom: {variable: 'image.urls[0]'}");
    let of_class = format!("{}  patches:{patches}", &variables[1..]);
    let (screen, _) = patched(&of_class, "    version: v1.30.2\n");
    assert!(screen.ends_with("2 by name only\n"), "{screen}");

    let set = "    version: v1.30.2\n    variables:\n    - name: image\n      value:\n        urls: ['http://h/UBUNTU_24.04_NODE_IMAGE_K8S_v1.29.9.qcow2']\n";
    let (screen, _) = patched(&of_class, set);
    assert!(
        screen.contains("`UBUNTU_24.04_NODE_IMAGE_K8S_v1.29.9.qcow2`"),
        "{screen}"
    );
    assert!(screen.contains("--> edge.yaml:11:16"), "{screen}");

    let overridden = CLASS
        .replace("  patches: []\n", &of_class)
        .replace("name: md-0}", "name: md-0, variables: {overrides: [{name: image, value: {urls: ['http://h/UBUNTU_24.04_NODE_IMAGE_K8S_v1.28.1.qcow2']}}]}}");
    let (screen, _) = check(&[("edge.yaml", &overridden)]);
    assert!(
        screen.contains("`UBUNTU_24.04_NODE_IMAGE_K8S_v1.28.1.qcow2`"),
        "{screen}"
    );
}

#[test]
fn a_patch_counts_for_the_machines_that_it_selects_and_where_it_is_enabled() {
    let none = "{controlPlane: false, machineDeploymentClass: {names: [other]}}";
    let value = "value: http://h/UBUNTU_24.04_NODE_IMAGE_K8S_v1.30.2.qcow2";
    for (machines, enabled, last) in [
        (WORKERS, "", "2 by name only\n"),
        (
            WORKERS,
            "    enabledIf: '{{ eq .builtin.cluster.name \"edge\" }}'\n",
            "2 by name only\n",
        ),
        (
            WORKERS,
            "    enabledIf: '{{ ne .builtin.cluster.name \"edge\" }}'\n",
            "1 by name only, 1 mismatched\n",
        ),
        ("{controlPlane: true}", "", "1 by name only, 1 mismatched\n"),
        (none, "", "1 by name only, 1 mismatched\n"),
    ] {
        let of_class = format!("  patches:{}{enabled}", patch(machines, value));
        let (screen, _) = patched(&of_class, "    version: v1.30.2\n");
        assert!(screen.ends_with(last), "{machines} {enabled}: {screen}");
    }
}

#[test]
fn an_image_that_only_a_controller_can_compute_is_unknown() {
    let failed = "1 by name only; 1 skipped: the patches of its ClusterClass cannot be evaluated\n";
    for value in [
        "valueFrom: {variable: missing}",
        "valueFrom: {variable: builtin.machineDeployment.name}",
        "valueFrom: {template: 'http://h/{{ .builtin.machineDeployment.name }}-v1.30.2.qcow2'}",
        "valueFrom: {template: '{{ fail \"no\" }}'}",
        "valueFrom: {template: '{{ now }}'}",
    ] {
        let of_class = format!("  patches:{}", patch(WORKERS, value));
        let (screen, _) = patched(&of_class, "    version: v1.30.2\n");
        assert!(screen.ends_with(failed), "{value}: {screen}");
    }
    let external = "  patches: [{name: x, external: {generateExtension: e}}]\n";
    let (screen, _) = patched(external, "    version: v1.30.2\n");
    let last = "2 skipped: a runtime extension may change the image of its ClusterClass\n";
    assert!(screen.ends_with(last), "{screen}");
}

#[test]
fn a_hosted_control_plane_has_no_machines() {
    let text = cluster("v1.31.8", GOOD)
        .replace("KubeadmControlPlane", "KamajiControlPlane")
        .replace("  machineTemplate:\n    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: edge}\n---\napiVersion: cluster", "---\napiVersion: cluster");
    assert_eq!(
        summary(&[("edge.yaml", &text)]),
        "no findings in 1 cluster; 1 node pool checked: 1 by name only"
    );
    let newer = text.replace("      version: v1.31.8", "      version: v1.32.1");
    assert!(
        check(&[("edge.yaml", &newer)])
            .0
            .contains("error[version-skew]")
    );
}

#[test]
fn without_any_cluster_a_project_is_required() {
    let (screen, status) = check(&[(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    )]);
    assert_eq!(status, 2);
    assert!(
        screen.contains("there is no `metalmark.yaml` here"),
        "{screen}"
    );
}

#[test]
fn the_manifests_of_a_project_are_checked_beside_its_values() {
    let project = "version: 1\nmanifests: [clusters]\n";
    let found = summary(&[
        ("metalmark.yaml", project),
        ("clusters/edge.yaml", &cluster("v1.30.2", GOOD)),
    ]);
    assert_eq!(
        found,
        "1 error in 1 cluster; 2 node pools checked: 2 mismatched"
    );
}

#[test]
fn templates_of_overlays_are_not_taken_for_the_bases() {
    let whole = cluster("v1.30.2", GOOD);
    let (base, template) = whole.rsplit_once("---\n").expect("documents");
    let other = template.replace("1.31.8", "1.30.2");
    let files = [
        ("base/cluster.yaml", base),
        ("dev/template.yaml", template),
        ("prod/template.yaml", &*other),
    ];
    let last = "2 skipped: several machine templates have its template's name";
    assert!(summary(&files).ends_with(last), "{}", summary(&files));
    let same = [files[0], files[1], ("prod/template.yaml", template)];
    assert!(summary(&same).ends_with("2 mismatched"));
}

#[test]
fn the_images_that_manifests_name_are_listed_with_who_boots_them() {
    let folder = repository(&[("edge.yaml", &cluster("v1.31.8", GOOD))]);
    let outcome = Metalmark::within(folder.path()).args(["images"]).run();
    let row: Vec<&str> = outcome
        .stdout
        .lines()
        .nth(1)
        .expect("a row")
        .split_whitespace()
        .collect();
    assert_eq!(row[0], "ubuntu-2204-kube-v1.31.8", "{}", outcome.stdout);
    assert!(row.contains(&"1.31.8"), "{row:?}");
    assert!(
        outcome.stdout.contains("edge/control-plane and 1 more"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_pool_is_explained_by_its_manifests() {
    let folder = repository(&[("edge.yaml", &cluster("v1.31.8", GOOD))]);
    let outcome = Metalmark::within(folder.path())
        .args(["explain", "edge/edge-md"])
        .run();
    let screen = outcome.stdout + &outcome.stderr;
    assert_eq!(outcome.status, 0, "{screen}");
    assert!(screen.contains("ubuntu-2204-kube-v1.31.8"), "{screen}");
    assert!(!screen.contains("machine_image_url"), "{screen}");
}

#[test]
fn an_image_in_a_secret_is_neither_compared_nor_shown() {
    let inner = cluster("v1.30.2", "{filter: {name: hush-ubuntu-2204-kube-v1.31.8}}");
    let lines: String = inner.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData:\n  all.yaml: |\n{lines}"
    );
    let folder = repository(&[("all.yaml", &text)]);
    for arguments in [
        &["check"][..],
        &["images"],
        &["explain", "edge/control-plane"],
    ] {
        let outcome = Metalmark::within(folder.path())
            .args(arguments.iter().copied())
            .run();
        let screen = outcome.stdout + &outcome.stderr;
        assert!(
            !screen.contains("1.31.8") && !screen.contains("hush"),
            "{screen}"
        );
    }
    assert!(
        summary(&[("all.yaml", &text)]).ends_with("2 skipped: its image or version is in a Secret")
    );
}

#[test]
fn a_worker_whose_version_is_a_variable_is_not_compared_with_its_control_planes() {
    let text = cluster("v1.31.8", GOOD)
        .replace("KubeadmControlPlane", "KamajiControlPlane")
        .replace("  machineTemplate:\n    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: edge}\n---\napiVersion: cluster", "---\napiVersion: cluster")
        .replace("  version: v1.31.8\n---", "  version: v1.30.2\n---")
        .replace("      version: v1.31.8", "      version: ${WORKER_VERSION}");
    let last = "1 skipped: its image or version is a variable";
    assert!(
        summary(&[("edge.yaml", &text)]).ends_with(last),
        "{}",
        summary(&[("edge.yaml", &text)])
    );
}

#[test]
fn a_template_that_is_edited_under_its_name_moves_no_machine() {
    let before = cluster("v1.31.8", GOOD);
    let folder = repository(&[("edge.yaml", &before)]);
    git(
        folder.path(),
        &["init", "--quiet", "--initial-branch", "main"],
    );
    commit(folder.path(), "Add a cluster");
    let impact = |text: &str| {
        fs::write(folder.path().join("edge.yaml"), text).expect("written");
        let arguments = ["impact", "--against", "HEAD"];
        let outcome = Metalmark::within(folder.path()).args(arguments).run();
        outcome.stdout + &outcome.stderr
    };
    const REFUSED: &str =
        "error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes";
    let edited = before.replace("kube-v1.31.8", "efi-kube-v1.31.8");
    let screen = impact(&edited);
    assert!(
        screen.contains("edge-md        in place: existing machines stay"),
        "{screen}"
    );
    assert!(screen.contains(REFUSED), "{screen}");
    assert!(screen.contains("also in pools: edge-md"), "{screen}");
    assert!(screen.contains("- `image.filter.name` changes"), "{screen}");
    // A new name, and all references to it.
    let renamed = edited.replace("name: edge}}\n", "name: edge-2}}\n");
    let renamed = renamed.replace(
        "metadata: {name: edge}\nspec: {template",
        "metadata: {name: edge-2}\nspec: {template",
    );
    let renamed = renamed.replace(
        "MachineTemplate, name: edge}",
        "MachineTemplate, name: edge-2}",
    );
    let screen = impact(&renamed);
    assert!(
        screen.contains("control-plane  3 machines re-provisioned, by roll"),
        "{screen}"
    );
    assert!(!screen.contains("template-edited-in-place"), "{screen}");
    // The same content under another name is another template too.
    let screen = impact(&renamed.replace("efi-kube", "kube"));
    assert!(
        screen.contains("by roll: its machine template changes"),
        "{screen}"
    );
    // Another setting of the machines, under the old name.
    let screen = impact(&before.replace("{spec: {image", "{spec: {flavor: big, image"));
    assert!(screen.contains("in place"), "{screen}");
    assert!(screen.contains(REFUSED), "{screen}");
    assert!(
        impact(&before).contains("re-provisions no machine")
            || impact(&before).contains("as before"),
        "{}",
        impact(&before)
    );
    // A version makes machines roll, whatever their template.
    let screen = impact(&before.replace("version: v1.31.8", "version: v1.31.9"));
    assert!(screen.contains("by roll"), "{screen}");
}

#[test]
fn the_parts_of_a_pools_name_may_have_slashes() {
    let whole = cluster("v1.31.8", GOOD);
    let files = [
        ("clusters/a/edge.yaml", &*whole),
        ("clusters/b/edge.yaml", &*whole),
    ];
    let folder = repository(&files);
    let explain = |subject: &str| {
        let run = Metalmark::within(folder.path())
            .args(["explain", subject])
            .run();
        run.stdout
    };
    let screen = explain("clusters/b/edge/edge-md");
    assert!(screen.contains("(clusters/b/edge.yaml:"), "{screen}");
    assert_eq!(
        explain("clusters/a/edge").matches(" boots image").count(),
        2
    );
}

#[test]
fn a_record_proves_what_lies_at_its_url() {
    let text = cluster("v1.31.8", GOOD)
        .replace("OpenStackMachineTemplate", "Metal3MachineTemplate")
        .replace(GOOD, "{url: 'http://images/x.qcow2', checksum: none}");
    let project = "\
version: 1
manifests: [clusters]
images:
  records:
    noble: {k8s: {flavor: kubeadm, version: 1.31.7}, locations: {https: 'http://images/x.qcow2'}}
";
    let files = [("clusters/edge.yaml", &*text), ("metalmark.yaml", project)];
    let (screen, _) = check(&files);
    assert!(
        screen.contains("image `noble` holds Kubernetes `1.31.7`, not `v1.31.8`"),
        "{screen}"
    );
    assert!(screen.ends_with("2 mismatched\n"), "{screen}");
    let right = project.replace("1.31.7", "1.31.8");
    assert!(summary(&[files[0], ("metalmark.yaml", &right)]).ends_with("2 proven"));
}
