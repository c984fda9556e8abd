//! What the objects of a plain cluster say of its pools: bootstrap provider, infrastructure provider, and the fields of images.

use super::plain_manifests::{CLASS, GOOD, check, cluster, summary};

const METAL3: &str = "UBUNTU_24.04_NODE_IMAGE_K8S_v1.31.8.qcow2";

/// A cluster of Metal3 with these fields of its image, under that version of the provider's API.
fn metal3(api_version: &str, fields: &str) -> String {
    cluster(
        "v1.31.8",
        &format!("{{url: 'http://h/{METAL3}', {fields}}}"),
    )
    .replace("OpenStackMachineTemplate", "Metal3MachineTemplate")
    .replace(
        "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind",
        &format!("apiVersion: infrastructure.cluster.x-k8s.io/{api_version}\nkind"),
    )
}

#[test]
fn the_checksum_and_format_of_a_machine_template_are_what_metal3_takes() {
    let sum = "9f86d081884c7d65".repeat(4);
    for (api_version, fields, expected) in [
        (
            "v1beta1",
            "checksum: SUM, checksumType: sha256, format: raw",
            None,
        ),
        (
            "v1beta2",
            "checksum: SUM, checksumType: sha256, diskFormat: raw",
            None,
        ),
        (
            "v1beta1",
            "checksum: 'http://h/sum', checksumType: sha256",
            None,
        ),
        (
            "v1beta1",
            "checksum: SUM, checksumType: sha512",
            Some("it has 64 digits, sha512 has 128"),
        ),
        (
            "v1beta1",
            "checksum: 'sha256:SUM'",
            Some("= help: `checksum: SUM`"),
        ),
        // What is left without the prefix is no digest either.
        (
            "v1beta1",
            "checksum: 'sha256:abc'",
            Some("= help: `checksum: …`, as `sha256sum` prints it"),
        ),
        (
            "v1beta2",
            "checksum: SUM, checksumType: sha1",
            Some("= help: `checksumType: sha256`"),
        ),
        (
            "v1beta1",
            "format: ova",
            Some("does not boot images of format `ova`"),
        ),
        (
            "v1beta2",
            "diskFormat: ova",
            Some("does not boot images of format `ova`"),
        ),
        // Another program fills these in.
        (
            "v1beta1",
            "checksum: '${SUM}', checksumType: '${TYPE}', format: '${FORMAT}'",
            None,
        ),
    ] {
        let fields = fields
            .replace(" SUM", &format!(" {sum}"))
            .replace(":SUM", &format!(":{sum}"));
        let (screen, status) = check(&[("edge.yaml", &metal3(api_version, &fields))]);
        match expected {
            Some(expected) => {
                let expected = expected.replace("SUM", &sum);
                assert!(screen.contains(&expected), "{fields}: {screen}");
                assert_eq!(status, 1, "{fields}");
            }
            None => {
                let last = "no findings in 1 cluster; 2 node pools checked: 2 by name only";
                assert_eq!(screen.trim_end(), last, "{fields}");
            }
        }
    }
}

/// The image's name says that it is made for kubeadm.
#[test]
fn the_kind_of_a_control_plane_decides_what_its_nodes_boot() {
    let made_for =
        |flavor: &str| format!("{{filter: {{name: ubuntu-noble-plain-{flavor}-1-31-8}}}}");
    for (kind, flavor) in [
        ("KubeadmControlPlane", "kubeadm"),
        ("KamajiControlPlane", "kubeadm"),
        ("RKE2ControlPlane", "rke2"),
        ("KThreesControlPlane", "k3s"),
        ("CK8sControlPlane", "ck8s"),
    ] {
        for made in ["kubeadm", "rke2"] {
            let text = cluster("v1.31.8", &made_for(made)).replace("KubeadmControlPlane", kind);
            let (screen, _) = check(&[("edge.yaml", &text)]);
            let expected = format!("is made for {made}, not for {flavor}");
            assert_eq!(
                screen.contains(&expected),
                made != flavor,
                "{kind}: {screen}"
            );
        }
    }
}

/// The topology of [`CLASS`], with a class of that name in each of two namespaces; the one in `shared` is right.
fn in_namespaces(reference: &str) -> String {
    let (cluster, class) = CLASS.split_once("---\n").expect("documents");
    let of = |namespace: &str, image: &str| {
        class
            .replace(
                "metadata: {name",
                &format!("metadata: {{namespace: {namespace}, name"),
            )
            .replace("v1.31.8", image)
    };
    format!(
        "{}---\n{}---\n{}",
        cluster
            .replace("{name: edge}", "{name: edge, namespace: fleet}")
            .replace("class: quick", reference),
        of("shared", "v1.30.2"),
        of("fleet", "v1.31.8"),
    )
}

#[test]
fn a_class_may_be_in_another_namespace() {
    for (reference, expected) in [
        ("class: quick\n    classNamespace: shared", "2 by name only"),
        (
            "classRef: {name: quick, namespace: shared}",
            "2 by name only",
        ),
        ("class: quick", "1 by name only, 1 mismatched"),
        ("classRef: {name: quick}", "1 by name only, 1 mismatched"),
    ] {
        let last = summary(&[("edge.yaml", &in_namespaces(reference))]);
        assert!(last.ends_with(expected), "{reference}: {last}");
    }
}

#[test]
fn a_hosted_control_plane_of_a_class_has_no_machines() {
    let hosted = CLASS.replace(
        "    machineInfrastructure: {ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: cp}}",
        "    ref: {apiVersion: controlplane.cluster.x-k8s.io/v1alpha1, kind: KamajiControlPlaneTemplate, name: cp}",
    );
    let (screen, _) = check(&[("edge.yaml", &hosted)]);
    assert!(
        screen.ends_with("1 error in 1 cluster; 1 node pool checked: 1 mismatched\n"),
        "{screen}"
    );
    // Its version is the one that workers are compared with.
    let older = hosted.replace("version: v1.30.2", "version: v1.31.8");
    assert!(summary(&[("edge.yaml", &older)]).ends_with("1 node pool checked: 1 by name only"));
}

#[test]
fn a_topology_whose_class_is_not_there_says_so() {
    let (cluster, _) = CLASS.split_once("---\n").expect("documents");
    let line = summary(&[("edge.yaml", cluster)]);
    let end = "2 skipped: its ClusterClass is not among the manifests";
    assert!(line.ends_with(end), "{line}");
}

/// What a class says of workers: in the shape until v1beta1, and in the one since, which has no `template`.
#[test]
fn the_workers_of_a_class_are_those_that_the_topology_names() {
    let reference = |kind: &str, name: &str| {
        let group = if kind.ends_with("ConfigTemplate") {
            "bootstrap"
        } else {
            "infrastructure"
        };
        format!("{{apiVersion: {group}.cluster.x-k8s.io/v1beta1, kind: {kind}, name: {name}}}")
    };
    let old = CLASS
        .split_once("    machineDeployments:\n")
        .and_then(|(_, rest)| rest.split_once("  patches"))
        .expect("the workers")
        .0;
    let template = |name: &str| reference("Metal3MachineTemplate", name);
    for (shape, key) in [
        (
            "    - class: NAME\n      template: {bootstrap: {KEY: CONFIG}, infrastructure: {KEY: MACHINE}}\n",
            "ref",
        ),
        (
            "    - {class: NAME, bootstrap: {KEY: CONFIG}, infrastructure: {KEY: MACHINE}}\n",
            "templateRef",
        ),
    ] {
        let worker = |name: &str, config: &str, machine: &str| {
            shape
                .replace("NAME", name)
                .replace("KEY", key)
                .replace("CONFIG", &reference(config, "config"))
                .replace("MACHINE", &template(machine))
        };
        // The image of `md` is of another version than the topology's, that of `cp` is right.
        for (meant, end) in [
            ("md", "1 by name only, 1 mismatched"),
            ("cp", "2 by name only"),
        ] {
            let other = if meant == "md" { "cp" } else { "md" };
            let workers = worker("other", "KubeadmConfigTemplate", other)
                + &worker("worker", "KubeadmConfigTemplate", meant);
            let line = summary(&[("edge.yaml", &CLASS.replace(old, &workers))]);
            assert!(line.ends_with(end), "{key} {meant}: {line}");
        }
        let made_for_kubeadm = CLASS
            .replace(old, &worker("worker", "RKE2ConfigTemplate", "md"))
            .replace(
                "UBUNTU_24.04_NODE_IMAGE_K8S_v1.31.8",
                "ubuntu-noble-plain-kubeadm-1-30-2",
            );
        let (screen, _) = check(&[("edge.yaml", &made_for_kubeadm)]);
        assert!(
            screen.contains("is made for kubeadm, not for rke2"),
            "{key}: {screen}"
        );
    }
}

#[test]
fn a_cluster_beside_folders_with_its_name_is_named_after_its_own_folder() {
    let wrong = cluster("v1.30.2", "{filter: {name: ubuntu-2204-kube-v1.31.8}}");
    let (screen, _) = check(&[("edge.yaml", &wrong), ("a/edge.yaml", &wrong)]);
    for name in ["./edge", "a/edge"] {
        assert!(
            screen.contains(&format!("= cluster: {name}, pool")),
            "{name}: {screen}"
        );
    }
    assert!(
        screen.ends_with("4 node pools checked: 4 mismatched\n"),
        "{screen}"
    );
}

#[test]
fn what_has_no_machines_is_no_pool_and_no_cluster() {
    let line = |more: &str| summary(&[("edge.yaml", &(cluster("v1.31.8", GOOD) + "---\n" + more))]);
    let expected = "no findings in 1 cluster; 2 node pools checked: 2 by name only";
    for more in [
        "{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, metadata: {name: empty}, spec: {}}\n",
        // A class's template of a control plane, which names the machines itself.
        "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: RKE2ControlPlaneTemplate\nmetadata: {name: cp}\nspec: {template: {spec: {infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: edge}}}}\n",
        // Of another group.
        "{apiVersion: example.org/v1, kind: MachineSet, metadata: {name: other}, spec: {}}\n",
    ] {
        assert_eq!(line(more), expected, "{more}");
    }
}

/// A worker that is newer than its control plane would be a finding.
#[test]
fn a_pool_belongs_to_the_cluster_of_its_namespace() {
    let of = |namespace: &str, version: &str| {
        let image = format!("{{filter: {{name: ubuntu-2204-kube-{version}}}}}");
        cluster(version, &image).replace(
            "metadata: {",
            &format!("metadata: {{namespace: {namespace}, "),
        )
    };
    let text = of("one", "v1.30.2") + "---\n" + &of("two", "v1.31.8");
    assert_eq!(
        summary(&[("edge.yaml", &text)]),
        "no findings in 2 clusters; 4 node pools checked: 4 by name only"
    );
}

/// Each ConfigMap holds a whole cluster; what one names is not in the other.
#[test]
fn the_template_in_the_same_text_is_nearer_than_another_in_the_file() {
    let held = |name: &str, version: &str| {
        let image = format!("{{filter: {{name: ubuntu-2204-kube-{version}}}}}");
        let text = cluster(version, &image).replace("edge-", &format!("{name}-"));
        let text = text.replacen("{name: edge}", &format!("{{name: {name}}}"), 1);
        let text = text.replace("clusterName: edge", &format!("clusterName: {name}"));
        let lines: String = text.lines().map(|line| format!("    {line}\n")).collect();
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n  cluster.yaml: |\n{lines}"
        )
    };
    let file = held("one", "v1.30.2") + "---\n" + &held("two", "v1.31.8");
    assert_eq!(
        summary(&[("held.yaml", &file)]),
        "no findings in 2 clusters; 4 node pools checked: 4 by name only"
    );
}
