//! Rules over what plain manifests say of images, versions and endpoints, as over values.

use snapbox::str;

use super::super::support::manifests::{cluster, hosted, manifest, object};
use super::super::support::stage::{Is, Stage, project};
use super::rows::assert_cases;
use super::{fails, passes, warns};

const SUM: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/// A cluster of Metal3 with these fields of its image.
fn metal3(image: &str) -> String {
    let image = image.replace("SUM", SUM);
    cluster("v1.34.1", &format!("{{{image}}}")).replace("OpenStack", "Metal3")
}

/// A Metal3 cluster that boots this image.
fn boots(image: &str) -> Stage {
    manifest(metal3(image))
}

/// What `check` finds: level and rule, each once.
fn rule_lines(project: &Stage) -> Vec<String> {
    let checked = project.check();
    let rule = |line: &String| line.split(' ').next().unwrap_or_default().to_owned();
    let mut found: Vec<String> = checked.findings.iter().map(rule).collect();
    found.dedup();
    found
}

#[test]
fn the_image_of_a_machine_template_is_checked_as_that_of_values() {
    let of = |image: &str| rule_lines(&boots(image));
    assert_cases(
        str![[r#"
url: "https://i/u-kube-v1.34.1.raw", checksum: SUM, checksumType: sha256, format: raw
url: "https://i/u-kube-v1.34.1.raw", checksum: "SUM", checksumType: md5, format: raw
    error[checksum-malformed]
url: "https://i/u-kube-v1.34.1.raw", checksum: "11111111111111111111111111111111", checksumType: sha256, format: raw
    error[checksum-malformed]
url: "https://i/u-kube-v1.34.1.raw", checksum: "SUM", checksumType: sha512, format: raw
    error[checksum-malformed]
url: "https://i/u-kube-v1.34.1.raw", checksum: "SUM", checksumType: auto, format: raw
    error[checksum-malformed]
url: "https://i/u-kube-v1.34.1.raw", checksum: "SUM", format: raw
# A checksum by URL.
url: "https://i/u-kube-v1.34.1.raw", checksum: "https://i/u-kube-v1.34.1.raw.sha256sum", format: raw
url: "https://i/u-kube-v1.34.1.raw", checksum: "https://i/u-kube-v1.33.1.raw.sha256sum", format: raw
    error[checksum-other-file]
url: "https://i/u-kube-v1.34.1.raw", checksum: "https://i/suse.raw.sha256sum", format: raw
    warning[checksum-other-file]
# None.
url: "https://i/u-kube-v1.34.1.raw", format: raw
    error[checksum-missing]
url: "https://i/u-kube-v1.34.1.raw", checksum: "", format: raw
    error[checksum-missing]
url: "https://i/u-kube-v1.34.1.raw", checksum: null, format: raw
    error[checksum-missing]
url: "https://i/u-kube-v1.34.1.iso", format: live-iso
# What another program fills in may be anything.
url: "https://i/u-kube-v1.34.1.raw", checksum: "${SUM_OF_IMAGE}", format: "${FORMAT}"
# The format.
url: "https://i/u-kube-v1.34.1.raw", checksum: SUM, format: qcow2
    warning[format-differs]
url: "https://i/u-kube-v1.34.1.QCOW2?x=1", checksum: SUM, format: raw
    warning[format-differs]
url: "https://i/u-kube-v1.34.1.img", checksum: SUM, format: qcow2
url: "https://i/u-kube-v1.34.1.raw", checksum: SUM, format: ova
    error[format-unsupported]
    warning[format-differs]
url: "https://i/u-kube-v1.34.1.raw", checksum: SUM
# A URL whose content moves on.
url: "https://i/latest/u.raw", checksum: SUM, format: raw
    warning[checksum-other-file]
url: "https://i/latest/u-kube-v1.34.1.raw", checksum: SUM, format: raw
url: "https://i/latest/u-kube-v1.34.1.raw", checksum: "https://i/latest/SHA256SUMS", format: raw

"#]],
        of,
    );
}

#[test]
fn a_format_is_demanded_of_templates_that_hand_it_on() {
    let project = boots("url: 'https://i/u-kube-v1.34.1.raw', checksum: SUM");
    assert_eq!(rule_lines(&project), [""; 0]);
    let text = project.read("edge.yaml");
    let template = "infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3";
    let newer = text.replace(template, &template.replace("v1beta1", "v1beta2"));
    project.write("edge.yaml", newer);
    assert_eq!(rule_lines(&project), ["warning[format-missing]"]);
    project.edit(
        "edge.yaml",
        "checksum:",
        "diskFormat: '${FORMAT}', checksum:",
    );
    assert_eq!(rule_lines(&project), [""; 0]);
}

/// A Metal3 cluster that pulls its image, and CAPM3 of these versions.
fn pulls(image: &str, installed: &[&str]) -> Stage {
    let project = boots(&format!(
        "url: 'oci://r.example.org/u-kube-v1.34.1:1', {image}"
    ));
    let versions = installed.iter().enumerate();
    versions.fold(project, |project, (number, version)| {
        let name = "operator.cluster.x-k8s.io/v1alpha2 InfrastructureProvider metal3";
        let text = object(name, &format!("spec: {{version: {version}}}"));
        project.file(&format!("capm3-{number}.yaml"), text)
    })
}

#[test]
fn the_release_of_capm3_decides_about_the_checksum_of_a_pulled_image() {
    let of = |case: &str| {
        let (installed, image) = case.split_once(':').expect("versions and fields");
        let installed: Vec<&str> = installed.split_whitespace().collect();
        pulls(image, &installed).check().findings
    };
    assert_cases(
        str![[r#"
: format: raw
    warning[reference-unpinned] edge/control-plane edge.yaml:29:39 `'oci://r.example.org/u-kube-v1.34.1:1'` => oci://…@sha256:…
: checksum: SUM
    warning[checksum-beside-oci] edge/control-plane edge.yaml:29:90 `9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08` edge.yaml:29:39 `'oci://r.example.org/u-kube-v1.34.1:1'` => https://
: checksum: "", checksumType: ""
    warning[reference-unpinned] edge/control-plane edge.yaml:29:39 `'oci://r.example.org/u-kube-v1.34.1:1'` => oci://…@sha256:…
    error[checksum-malformed] edge/control-plane edge.yaml:29:108 `""` => checksumType: sha256
: checksumType: sha256
    warning[reference-unpinned] edge/control-plane edge.yaml:29:39 `'oci://r.example.org/u-kube-v1.34.1:1'` => oci://…@sha256:…
    warning[checksum-beside-oci] edge/control-plane edge.yaml:29:94 `sha256` edge.yaml:29:39 `'oci://r.example.org/u-kube-v1.34.1:1'` => https://
: checksum: "${SUM_OF_IMAGE}"
v1.13.1: checksum: SUM
v1.13.1: format: raw
    error[checksum-beside-oci] edge/control-plane capm3-0.yaml:5:17 `v1.13.1` edge.yaml:29:39 `'oci://r.example.org/u-kube-v1.34.1:1'` => https://
    warning[reference-unpinned] edge/control-plane edge.yaml:29:39 `'oci://r.example.org/u-kube-v1.34.1:1'` => oci://…@sha256:…
v1.14.0: checksum: SUM
    error[checksum-beside-oci] edge/control-plane edge.yaml:29:90 `9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08` capm3-0.yaml:5:17 `v1.14.0` edge.yaml:29:39 `'oci://r.example.org/u-kube-v1.34.1:1'`
v1.14.0: format: raw
    warning[reference-unpinned] edge/control-plane edge.yaml:29:39 `'oci://r.example.org/u-kube-v1.34.1:1'` => oci://…@sha256:…
v1.14.0 v1.13.1: checksum: SUM
    warning[checksum-beside-oci] edge/control-plane edge.yaml:29:90 `9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08` edge.yaml:29:39 `'oci://r.example.org/u-kube-v1.34.1:1'` => https://
"${CAPM3}": checksum: SUM
    warning[checksum-beside-oci] edge/control-plane edge.yaml:29:90 `9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08` edge.yaml:29:39 `'oci://r.example.org/u-kube-v1.34.1:1'` => https://

"#]],
        of,
    );
}

#[test]
fn checksum_beside_oci() {
    let project = pulls("checksum: SUM, format: raw", &["v1.14.0"]);
    fails("checksum-beside-oci", &project, "check").brief(str![[r#"
error[checksum-beside-oci]: CAPM3 from 1.14 on refuses the checksum of an `oci://` image
  edge.yaml:29:89
  edge.yaml:29 `'oci://r.example.org/u-kube-v1.34.1:1'` pulled by its digest or its tag
  edge.yaml:29 `9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08` this one
  capm3-0.yaml:5:17 `v1.14.0` this CAPM3 is installed
  cluster: edge, pool control-plane
  also in pools: edge-md
  help: remove it
1 error in 1 cluster; 2 node pools checked: 2 by name only

"#]]);
    project.edit("edge.yaml", &format!("checksum: {SUM}, "), "");
    passes("checksum-beside-oci", &project, "check");
}

#[test]
fn checksum_other_file() {
    let project = boots(
        "url: 'https://i/u-kube-v1.34.1.raw', checksum: 'https://i/u-kube-v1.33.1.raw.sha256sum', format: raw",
    );
    fails("checksum-other-file", &project, "check").brief(str![[r#"
error[checksum-other-file]: the checksum is that of another file
  edge.yaml:29:81
  edge.yaml:29 `'https://i/u-kube-v1.34.1.raw'` this image
  edge.yaml:29 `'https://i/u-kube-v1.33.1.raw.sha256sum'` this checksum
  cluster: edge, pool control-plane
  also in pools: edge-md
  help: name the checksums of this image
1 error in 1 cluster; 2 node pools checked: 2 by name only

"#]]);
    project.edit("edge.yaml", "v1.33.1", "v1.34.1");
    passes("checksum-other-file", &project, "check");
}

#[test]
fn format_differs() {
    let project = boots("url: 'https://i/u-kube-v1.34.1.raw', checksum: SUM, format: qcow2");
    warns("format-differs", &project, "check").brief(str![[r#"
warning[format-differs]: the format is `qcow2`, and the file a `.raw`
  edge.yaml:29:155
  edge.yaml:29 `'https://i/u-kube-v1.34.1.raw'` this image
  edge.yaml:29 `qcow2` this format
  cluster: edge, pool control-plane
  also in pools: edge-md
  help: write `raw`, if the file is what it is called
1 warning in 1 cluster; 2 node pools checked: 2 by name only

"#]]);
    project.edit("edge.yaml", "format: qcow2", "format: raw");
    passes("format-differs", &project, "check");
}

/// A cluster with a control plane and a worker of these kinds and versions.
fn versions(plane: &str, plane_version: &str, bootstrap: &str, worker_version: &str) -> String {
    let text = cluster(worker_version, "{filter: {name: u}}");
    let text = text.replace("KubeadmControlPlane", plane);
    let text = text.replacen(
        &format!("version: {worker_version}"),
        &format!("version: {plane_version}"),
        1,
    );
    let reference = format!(
        "      bootstrap: {{configRef: {{apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: {bootstrap}, name: edge}}}}\n      infrastructureRef"
    );
    text.replacen("      infrastructureRef", &reference, 1)
        .replacen(
            "  clusterName: edge\n",
            "  clusterName: edge\n  replicas: 2\n",
            1,
        )
}

#[test]
fn versions_of_rke2_and_k3s_have_a_build_and_those_of_kubeadm_a_patch_level() {
    let of = |case: &str| {
        let [plane, version, bootstrap, worker] = *case.split(' ').collect::<Vec<_>>() else {
            panic!("{case}")
        };
        let project = manifest(versions(plane, version, bootstrap, worker));
        let checked = project.check();
        let found = checked.of_rule("k8s-version-incomplete");
        found.into_iter().map(str::to_owned).collect()
    };
    assert_cases(
        str![[r#"
RKE2ControlPlane v1.31.4 RKE2ConfigTemplate v1.31.4+rke2r1
    error[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `v1.31.4` => …+rke2r1
RKE2ControlPlane v1.31.4+rke2r1 RKE2ConfigTemplate v1.31.4
    warning[k8s-version-incomplete] edge/edge-md edge.yaml:24:16 `v1.31.4` => …+rke2r1
RKE2ControlPlane v1.31.4-rke2r1 RKE2ConfigTemplate v1.31.4+rke2r1
    error[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `v1.31.4-rke2r1` => …+rke2r1
RKE2ControlPlane v1.31.4+k3s1 RKE2ConfigTemplate v1.31.4+rke2r1
    error[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `v1.31.4+k3s1` => …+rke2r1
RKE2ControlPlane ${VERSION} RKE2ConfigTemplate latest
KThreesControlPlane v1.31.4 KThreesConfigTemplate v1.31.4+k3s2
    warning[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `v1.31.4` => …+k3s1
KubeadmControlPlane v1.31.4 KubeadmConfigTemplate v1.31.4
KubeadmControlPlane v1.31 KubeadmConfigTemplate v1.31.4
    error[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `v1.31` => v1.31.N
KubeadmControlPlane v1.31.4 KubeadmConfigTemplate v1.31
    error[k8s-version-incomplete] edge/edge-md edge.yaml:24:16 `v1.31` => v1.31.N

"#]],
        of,
    );
}

#[test]
fn k8s_version_incomplete() {
    let text = versions(
        "RKE2ControlPlane",
        "v1.31.4",
        "RKE2ConfigTemplate",
        "v1.31.4+rke2r1",
    );
    let project = manifest(text);
    fails("k8s-version-incomplete", &project, "check").brief(str![[r#"
error[k8s-version-incomplete]: Kubernetes `v1.31.4` has no `+rke2rN`
  edge.yaml:12:12 `v1.31.4` this version is required
  cluster: edge, pool control-plane
  help: name a release of the distribution: `…+rke2r1`
1 error in 1 cluster; 2 node pools checked: 2 unproven

"#]]);
    project.edit(
        "edge.yaml",
        "version: v1.31.4\n",
        "version: v1.31.4+rke2r1\n",
    );
    passes("k8s-version-incomplete", &project, "check");
}

#[test]
fn workers_may_follow_their_control_plane_in_a_later_change() {
    let of = |case: &str| {
        let (plane, worker) = case.split_once(' ').expect("two versions");
        let text = versions(
            "KubeadmControlPlane",
            plane,
            "KubeadmConfigTemplate",
            worker,
        );
        rule_lines(&manifest(text))
    };
    assert_cases(
        str![[r#"
v1.34.1 v1.33.5
v1.34.1 v1.31.5
v1.34.1 v1.30.5
    error[version-skew]
v1.33.5 v1.34.1
    error[version-skew]

"#]],
        of,
    );
}

/// What `impact` finds where a file of a cluster changes.
fn findings_of_change(before: &str, after: &str, rule: &str) -> Option<Vec<String>> {
    let project = manifest(before).commit("before")?;
    project.write("edge.yaml", after);
    let outcome = project.run("impact --against HEAD").outcome;
    let screen = outcome.stdout + &outcome.stderr;
    let mark = format!("[{rule}]: ");
    let lines = screen.lines().filter(|line| line.contains(&mark));
    Some(lines.map(str::to_owned).collect())
}

#[test]
fn machines_are_added_to_no_pool_that_is_behind_its_control_plane() {
    let behind = versions(
        "KubeadmControlPlane",
        "v1.34.1",
        "KubeadmConfigTemplate",
        "v1.33.5",
    );
    let equal = behind.replace("v1.33.5", "v1.34.1");
    let rke2 = behind.replace("Kubeadm", "RKE2");
    let grown = |text: &str| text.replacen("  replicas: 2", "  replicas: 3", 1);
    let (_, template) = behind.rsplit_once("---").expect("a template");
    let (without, _) = behind
        .split_once("---\napiVersion: cluster.x-k8s.io")
        .expect("a worker");
    let without = format!("{without}---{template}");
    let cases = [
        ("more machines", behind.clone(), grown(&behind)),
        ("fewer", grown(&behind), behind.clone()),
        ("in step", equal.clone(), grown(&equal)),
        ("RKE2", rke2.clone(), grown(&rke2)),
        ("a new pool", without, behind.clone()),
        (
            "more control planes",
            behind.clone(),
            behind.replace("replicas: 3\n  version", "replicas: 5\n  version"),
        ),
    ];
    let mut text = String::new();
    for (name, before, after) in cases {
        let Some(found) = findings_of_change(&before, &after, "version-skew") else {
            return;
        };
        text += &format!("{name}: {}\n", found.join("\n"));
    }
    text.is(str![[r#"
more machines: warning[version-skew]: node pool `edge-md` would get machines with Kubernetes `v1.33.5`, which kubeadm does not join to a control plane of `v1.34.1`
fewer: 
in step: 
RKE2: 
a new pool: warning[version-skew]: node pool `edge-md` would get machines with Kubernetes `v1.33.5`, which kubeadm does not join to a control plane of `v1.34.1`
more control planes: 

"#]]);
}

#[test]
fn a_hosted_control_plane_skips_no_minor() {
    let before = hosted("v1.30.1", "{filter: {name: u}}");
    let mut text = String::new();
    for (name, kind) in [
        ("Kamaji", "KamajiControlPlane"),
        ("k0smotron", "K0smotronControlPlane"),
    ] {
        for version in ["v1.31.4", "v1.32.4"] {
            let before = before.replace("KamajiControlPlane", kind);
            let after = before.replace("v1.30.1", version);
            let Some(found) = findings_of_change(&before, &after, "version-skip") else {
                return;
            };
            text += &format!("{name} {version}: {}\n", found.join("\n"));
        }
    }
    text.is(str![[r#"
Kamaji v1.31.4: 
Kamaji v1.32.4: error[version-skip]: the control plane would go from Kubernetes `v1.30.1` to `v1.32.4`, past 1.31
k0smotron v1.31.4: 
k0smotron v1.32.4: error[version-skip]: the control plane would go from Kubernetes `v1.30.1` to `v1.32.4`, past 1.31

"#]]);
}

/// A cluster with this endpoint of its infrastructure, and these fields of its own.
fn endpoint(infrastructure: &str, fields: &str) -> Stage {
    let text = cluster("v1.34.1", "{filter: {name: u-kube-v1.34.1}}");
    let reference = format!(
        "spec:\n  infrastructureRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackCluster, name: edge}}\n  {fields}\n  controlPlaneRef"
    );
    let text = text.replacen("spec:\n  controlPlaneRef", &reference, 1);
    let name = "infrastructure.cluster.x-k8s.io/v1beta1 OpenStackCluster edge";
    let infrastructure = format!("spec: {{controlPlaneEndpoint: {infrastructure}}}");
    manifest(text + &object(name, &infrastructure))
}

#[test]
fn the_endpoint_of_manifests_is_in_no_network_of_the_cluster() {
    let of = |case: &str| {
        let (infrastructure, fields) = case.split_once(" | ").expect("two parts");
        endpoint(infrastructure, fields).check().findings
    };
    assert_cases(
        str![[r#"
{host: 10.43.166.191, port: 6443} | clusterNetwork: {services: {cidrBlocks: [10.43.0.0/16]}}
    error[endpoint-collides] edge edge.yaml:36:37 `10.43.166.191` edge.yaml:6:44 `10.43.0.0/16`
{host: 192.168.1.10, port: 6443} | clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16, no network]}}
    warning[endpoint-collides] edge edge.yaml:36:37 `192.168.1.10` edge.yaml:6:40 `192.168.0.0/16`
{host: 192.0.2.10, port: 6443} | clusterNetwork: {pods: {cidrBlocks: [10.42.0.0/16]}, services: {cidrBlocks: [10.43.0.0/16]}}
{host: "${VIP}", port: 6443} | clusterNetwork: {services: {cidrBlocks: [10.43.0.0/16]}}
# Both objects name it.
{host: 192.0.2.10, port: 6443} | controlPlaneEndpoint: {host: 192.0.2.10, port: 6443}
{host: 192.0.2.10, port: 6443} | controlPlaneEndpoint: {host: 192.0.2.11, port: 6443}
    warning[endpoint-disagrees] edge edge.yaml:36:37 `192.0.2.10` edge.yaml:6:32 `192.0.2.11` => spec.controlPlaneEndpoint | 192.0.2.10
{host: 192.0.2.10, port: 6443} | controlPlaneEndpoint: {host: 192.0.2.10, port: 443}
    warning[endpoint-disagrees] edge edge.yaml:36:37 `192.0.2.10` edge.yaml:6:50 `443` => spec.controlPlaneEndpoint | 6443
{host: "", port: 0} | controlPlaneEndpoint: {host: 192.0.2.10, port: 6443}

"#]],
        of,
    );
}

#[test]
fn a_field_of_another_type_is_found_and_its_cluster_counted() {
    let text = versions(
        "KubeadmControlPlane",
        "v1.34.1",
        "KubeadmConfigTemplate",
        "v1.34.1",
    );
    let of = |case: &str| {
        let (from, to) = case.split_once(" -> ").expect("two texts");
        assert!(text.contains(from), "{case}");
        let checked = manifest(text.replacen(from, to, 1)).check();
        checked.lines()
    };
    assert_cases(
        str![[r#"
version: v1.34.1 -> version: 1.20
    error[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `1.20` => 1.20.N
    error[value-type] edge edge.yaml:12:12 `1.20` => "1.20"
    error[version-skew] edge/edge-md edge.yaml:24:16 `v1.34.1` edge.yaml:12:12 `1.20` => v1.34.1
    edge/control-plane 1.20 (edge.yaml:12:12), edge/edge-md v1.34.1 (edge.yaml:24:16): unproven, u (edge.yaml:31:49)
version: v1.34.1 -> version: true
    error[value-type] edge edge.yaml:12:12 `true` => "true"
    edge/control-plane true (edge.yaml:12:12): unknown (its Kubernetes version is not a version)
    edge/edge-md v1.34.1 (edge.yaml:24:16): unproven, u (edge.yaml:31:49)
version: v1.34.1 -> version: [1.20]
    error[value-type] edge edge.yaml:12:12 `[1.20]`
    edge/control-plane: unknown (no Kubernetes version), u (edge.yaml:31:49)
    edge/edge-md v1.34.1 (edge.yaml:24:16): unproven, u (edge.yaml:31:49)
version: v1.34.1 -> version: null
    edge/control-plane: unknown (no Kubernetes version), u (edge.yaml:31:49)
    edge/edge-md v1.34.1 (edge.yaml:24:16): unproven, u (edge.yaml:31:49)
replicas: 2 -> replicas: "2"
    error[value-type] edge edge.yaml:21:13 `"2"`
    edge/control-plane v1.34.1 (edge.yaml:12:12), edge/edge-md v1.34.1 (edge.yaml:24:16): unproven, u (edge.yaml:31:49)
replicas: 2 -> replicas: ${REPLICAS}
    edge/control-plane v1.34.1 (edge.yaml:12:12), edge/edge-md v1.34.1 (edge.yaml:24:16): unproven, u (edge.yaml:31:49)
replicas: 2 -> replicas: -1
    edge/control-plane v1.34.1 (edge.yaml:12:12), edge/edge-md v1.34.1 (edge.yaml:24:16): unproven, u (edge.yaml:31:49)
name: edge-md -> name: 123
    error[value-type] edge.yaml:18:18 `123`
    edge/control-plane v1.34.1 (edge.yaml:12:12), edge/ v1.34.1 (edge.yaml:24:16): unproven, u (edge.yaml:31:49)
kind: KubeadmControlPlane, name: edge-cp -> kind: KubeadmControlPlane, name: 123
    error[value-type] edge.yaml:5:105 `123`
    edge/edge-md v1.34.1 (edge.yaml:24:16), edge-cp/control-plane v1.34.1 (edge.yaml:12:12): unproven, u (edge.yaml:31:49)

"#]],
        of,
    );
}

#[test]
fn a_rule_for_values_only_says_why() {
    let explained = project()
        .run("explain selectors-overlap")
        .exit(0)
        .outcome
        .stdout;
    assert!(
        explained.contains("Only clusters of values are looked at: "),
        "{explained}"
    );
}

/// The cluster's own definition says what its CAPM3 demands, where nothing says which release is installed.
#[test]
fn the_definition_of_the_template_decides_where_the_release_is_not_known() {
    let of = |required: &str, installed: &[&str], image: &str| {
        let image_schema = format!(
            "{{type: object, required: [{required}], properties: {{url: {{type: string}}, checksum: {{type: string}}}}}}"
        );
        let nested =
            |schema: &str, key: &str| format!("{{type: object, properties: {{{key}: {schema}}}}}");
        let schema = ["image", "spec", "template", "spec"]
            .iter()
            .fold(image_schema, |schema, key| nested(&schema, key));
        let definition = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
             metadata: {{name: metal3machinetemplates.infrastructure.cluster.x-k8s.io}}\n\
             spec:\n  group: infrastructure.cluster.x-k8s.io\n  names: {{kind: Metal3MachineTemplate}}\n  \
             versions:\n  - {{name: v1beta1, schema: {{openAPIV3Schema: {schema}}}}}\n"
        );
        let project = pulls(image, installed).file("crds/metal3.yaml", definition);
        let checked = project
            .settings("manifests: ['.']\nschemas: crds\n")
            .check();
        checked.of_rule("checksum-beside-oci").len()
    };
    let with = "checksum: SUM";
    let without = "format: raw";
    for (required, installed, image, expected) in [
        ("checksum, url", &[][..], without, 1),
        ("checksum, url", &[], with, 0),
        ("url", &[], with, 1),
        ("url", &[], without, 0),
        // The release that is installed is more exact.
        ("checksum, url", &["v1.14.0"], without, 0),
        ("url", &["v1.13.1"], without, 1),
        ("url", &["v1.14.0-beta.0"], without, 1),
        ("checksum, url", &["v1.14.0-rc.0"], without, 0),
        ("checksum, url", &["v1.14"], without, 0),
    ] {
        let found = of(required, installed, image);
        assert_eq!(found, expected, "{required}, {installed:?}, {image}");
    }
}
