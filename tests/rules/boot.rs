//! What a machine does when it boots: the Kubernetes that its bootstrap configuration installs.

use snapbox::str;

use super::super::support::manifests::{infrastructure, object};
use super::super::support::stage::{Stage, project};
use super::rows::assert_cases;
use super::{bare, fails, passes, values};

const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io/v1beta1";
const BOOTSTRAP: &str = "bootstrap.cluster.x-k8s.io/v1beta1";
const CLUSTER_API: &str = "cluster.x-k8s.io/v1beta1";

/// A control plane of a version with these further fields, whose image has a name.
fn control_plane(kind: &str, version: &str, fields: &str, image: &str) -> String {
    let reference = infrastructure("OpenStackMachineTemplate", "edge");
    [
        object(
            &format!("{CLUSTER_API} Cluster edge"),
            &format!("spec: {{controlPlaneRef: {{apiVersion: {CONTROL_PLANE}, kind: {kind}, name: edge}}}}"),
        ),
        object(
            &format!("{CONTROL_PLANE} {kind} edge"),
            &format!("spec:\n  replicas: 3\n  version: {version}\n  machineTemplate: {{infrastructureRef: {reference}}}\n  {}", fields.replace('\n', "\n  ")),
        ),
        object(
            "infrastructure.cluster.x-k8s.io/v1beta1 OpenStackMachineTemplate edge",
            &format!("spec: {{template: {{spec: {{image: {{filter: {{name: {image}}}}}}}}}}}"),
        ),
    ]
    .concat()
}

/// Workers of a version whose bootstrap configuration has this spec.
fn workers(kind: &str, version: &str, spec: &str) -> String {
    let reference = infrastructure("OpenStackMachineTemplate", "edge");
    [
        object(
            &format!("{CLUSTER_API} MachineDeployment md"),
            &format!("spec: {{clusterName: edge, replicas: 1, template: {{spec: {{clusterName: edge, version: {version}, bootstrap: {{configRef: {{apiVersion: {BOOTSTRAP}, kind: {kind}, name: md}}}}, infrastructureRef: {reference}}}}}}}"),
        ),
        object(
            &format!("{BOOTSTRAP} {kind} md"),
            &format!("spec:\n  template:\n    spec:\n      {}", spec.replace('\n', "\n      ")),
        ),
    ]
    .concat()
}

fn edge(text: impl AsRef<str>) -> Stage {
    project().file("edge.yaml", text.as_ref())
}

/// What `check` finds, and what it says of each pool.
fn lines(project: &Stage) -> Vec<String> {
    let checked = project.check();
    checked.lines()
}

#[test]
fn a_version_that_is_installed_at_boot_is_compared_as_that_of_an_image() {
    let kubeadm = |spec: &str| {
        lines(&edge(control_plane(
            "KubeadmControlPlane",
            "v1.33.1",
            spec,
            "golden",
        )))
    };
    assert_cases(
        str![[r#"
kubeadmConfigSpec: {preKubeadmCommands: [apt-get install -y kubelet=1.31.6-1.1 kubeadm=1.31.6-1.1]}
    error[k8s-version-mismatch] edge/control-plane edge.yaml:14:63 `kubelet=1.31.6-1.1` edge.yaml:14:82 `kubeadm=1.31.6-1.1` edge.yaml:12:12 `v1.33.1` => v1.33.1
    edge/control-plane v1.33.1 (edge.yaml:12:12): mismatched, golden (edge.yaml:19:49) holds 1.31.6 (edge.yaml:14:63)
kubeadmConfigSpec: {preKubeadmCommands: [apt-get install -y kubelet=1.33.1-1.1 kubeadm=1.33.1-1.1]}
    edge/control-plane v1.33.1 (edge.yaml:12:12): by_name, golden (edge.yaml:19:49) holds 1.33.1 (edge.yaml:14:63)
kubeadmConfigSpec: {preKubeadmCommands: ["apt-get install -y kubelet=1.33.*"]}
    edge/control-plane v1.33.1 (edge.yaml:12:12): unproven, golden (edge.yaml:19:49) holds 1.33 (edge.yaml:14:64)
kubeadmConfigSpec: {preKubeadmCommands: ["apt-get install -y kubelet=${VERSION}"]}
    edge/control-plane v1.33.1 (edge.yaml:12:12): unproven, golden (edge.yaml:19:49)
kubeadmConfigSpec: {postKubeadmCommands: ["curl -LO https://dl.k8s.io/release/v1.31.6/bin/linux/amd64/kubelet"]}
    error[k8s-version-mismatch] edge/control-plane edge.yaml:14:55 `https://dl.k8s.io/release/v1.31.6/bin/linux/amd64/kubelet` edge.yaml:12:12 `v1.33.1` => v1.33.1
    edge/control-plane v1.33.1 (edge.yaml:12:12): mismatched, golden (edge.yaml:19:49) holds 1.31.6 (edge.yaml:14:55)
kubeadmConfigSpec: {files: [{path: /etc/default/k8s, content: KUBERNETES_VERSION=v1.31.6}]}
    error[k8s-version-mismatch] edge/control-plane edge.yaml:14:65 `KUBERNETES_VERSION=v1.31.6` edge.yaml:12:12 `v1.33.1` => v1.33.1
    edge/control-plane v1.33.1 (edge.yaml:12:12): mismatched, golden (edge.yaml:19:49) holds 1.31.6 (edge.yaml:14:65)
kubeadmConfigSpec: {files: [{path: /etc/default/k8s, encoding: base64, content: S1VCRVJORVRFU19WRVJTSU9OPXYxLjMxLjY=}]}
    error[k8s-version-mismatch] edge/control-plane edge.yaml:14:83 `S1VCRVJORVRFU19WRVJTSU9OPXYxLjMxLjY=` edge.yaml:12:12 `v1.33.1` => v1.33.1
    edge/control-plane v1.33.1 (edge.yaml:12:12): mismatched, golden (edge.yaml:19:49) holds 1.31.6 (edge.yaml:14:83)
kubeadmConfigSpec: {files: [{path: /etc/default/k8s, encoding: gzip+base64, content: H4sIAAAAAAACA/MOdXIN8nMNcQ2OD3MNCvb097MtM9QzNtQzAwBl6xtuGgAAAA==}]}
    error[k8s-version-mismatch] edge/control-plane edge.yaml:14:88 `H4sIAAAAAAACA/MOdXIN8nMNcQ2OD3MNCvb097MtM9QzNtQzAwBl6xtuGgAAAA==` edge.yaml:12:12 `v1.33.1` => v1.33.1
    edge/control-plane v1.33.1 (edge.yaml:12:12): mismatched, golden (edge.yaml:19:49) holds 1.31.6 (edge.yaml:14:88)
kubeadmConfigSpec: {files: [{path: /etc/default/k8s, encoding: gzip+base64, content: S1VCRVJORVRFU19WRVJTSU9OPXYxLjMxLjY=}]}
    edge/control-plane v1.33.1 (edge.yaml:12:12): unproven, golden (edge.yaml:19:49)
kubeadmConfigSpec: {files: [{path: /etc/default/k8s, content: "S1VCRVJORVRFU19WRVJTSU9OPXYxLjMxLjY="}]}
    edge/control-plane v1.33.1 (edge.yaml:12:12): unproven, golden (edge.yaml:19:49)
kubeadmConfigSpec: {clusterConfiguration: {kubernetesVersion: v1.31.6}}
    error[k8s-version-mismatch] edge/control-plane edge.yaml:14:65 `v1.31.6` edge.yaml:12:12 `v1.33.1` => v1.33.1
    edge/control-plane v1.33.1 (edge.yaml:12:12): mismatched, golden (edge.yaml:19:49) holds 1.31.6 (edge.yaml:14:65)
kubeadmConfigSpec: {ignition: {containerLinuxConfig: {additionalConfig: "storage: {files: [{contents: {remote: {url: 'https://extensions.flatcar.org/extensions/kubernetes-v1.31.6-x86-64.raw'}}}]}"}}}
    error[k8s-version-mismatch] edge/control-plane edge.yaml:14:121 `https://extensions.flatcar.org/extensions/kubernetes-v1.31.6-x86-64.raw` edge.yaml:12:12 `v1.33.1` => v1.33.1
    edge/control-plane v1.33.1 (edge.yaml:12:12): mismatched, golden (edge.yaml:19:49) holds 1.31.6 (edge.yaml:14:121)
# Repositories and images of the right version may have others beside them.
kubeadmConfigSpec: {files: [{path: /a, content: "deb https://pkgs.k8s.io/core:/stable:/v1.32/deb/ /"}]}
    error[k8s-version-mismatch] edge/control-plane edge.yaml:14:56 `https://pkgs.k8s.io/core:/stable:/v1.32/deb/` edge.yaml:12:12 `v1.33.1` => v1.33.1
    edge/control-plane v1.33.1 (edge.yaml:12:12): mismatched, golden (edge.yaml:19:49) holds 1.32 (edge.yaml:14:56)
kubeadmConfigSpec: {files: [{path: /a, content: "deb https://pkgs.k8s.io/core:/stable:/v1.32/deb/ /"}, {path: /b, content: "deb https://pkgs.k8s.io/core:/stable:/v1.33/deb/ /"}]}
    edge/control-plane v1.33.1 (edge.yaml:12:12): unproven, golden (edge.yaml:19:49) holds 1.33 (edge.yaml:14:131)
kubeadmConfigSpec: {preKubeadmCommands: ["ctr images pull registry.k8s.io/kube-apiserver:v1.32.4"]}
    error[k8s-version-mismatch] edge/control-plane edge.yaml:14:61 `registry.k8s.io/kube-apiserver:v1.32.4` edge.yaml:12:12 `v1.33.1` => v1.33.1
    edge/control-plane v1.33.1 (edge.yaml:12:12): mismatched, golden (edge.yaml:19:49) holds 1.32.4 (edge.yaml:14:61)
kubeadmConfigSpec: {preKubeadmCommands: ["ctr images pull registry.k8s.io/kube-apiserver:v1.33.1", "ctr images pull registry.k8s.io/kube-apiserver:v1.34.0"]}
    edge/control-plane v1.33.1 (edge.yaml:12:12): by_name, golden (edge.yaml:19:49) holds 1.33.1 (edge.yaml:14:61)
# What RKE2 would install is none of kubeadm's machines.
kubeadmConfigSpec: {preKubeadmCommands: ["INSTALL_RKE2_VERSION=v1.31.6+rke2r1 sh install.sh"]}
    edge/control-plane v1.33.1 (edge.yaml:12:12): unproven, golden (edge.yaml:19:49)

"#]],
        kubeadm,
    );
}

#[test]
fn each_distribution_is_held_to_its_own_installer() {
    let edge = |kind: &str, version: &str, fields: &str| {
        edge(control_plane(
            &format!("{kind}ControlPlane"),
            version,
            fields,
            "golden",
        ))
    };
    let rke2 = |fields: &str| edge("RKE2", "v1.33.1+rke2r1", fields);
    for fields in [
        "preRKE2Commands: ['INSTALL_RKE2_VERSION=v1.31.6+rke2r1 sh install.sh']",
        "preRKE2Commands: ['INSTALL_RKE2_VERSION=v1.33.1+rke2r2 sh install.sh']",
    ] {
        let _ = fails("k8s-version-mismatch", &rke2(fields), "check");
    }
    for fields in [
        "preRKE2Commands: ['INSTALL_RKE2_VERSION=v1.33.1+rke2r1 sh install.sh']",
        "files: [{path: /a, content: apt-get install kubelet=1.31.6-1.1}]",
    ] {
        passes("k8s-version-mismatch", &rke2(fields), "check");
    }
    let k3s = "kthreesConfigSpec: {preK3sCommands: ['curl -sfL https://get.k3s.io | INSTALL_K3S_CHANNEL=v1.31 sh -']}";
    let _ = fails(
        "k8s-version-mismatch",
        &edge("KThrees", "v1.33.1+k3s1", k3s),
        "check",
    );
    let talos = "controlPlaneConfig: {controlplane: {strategicPatches: ['image: ghcr.io/siderolabs/kubelet:v1.31.6']}}";
    let _ = fails(
        "k8s-version-mismatch",
        &edge("Talos", "v1.33.1", talos),
        "check",
    );
}

#[test]
fn workers_are_held_to_their_own_bootstrap_configuration() {
    let kubeadm = |pinned: &str| {
        let plane = control_plane(
            "KubeadmControlPlane",
            "v1.33.1",
            "kubeadmConfigSpec: {}",
            "golden",
        );
        let spec = format!(
            "preKubeadmCommands:\n- |\n  set -e\n  # the version is pinned\n  apt-get install -y kubelet={pinned}"
        );
        edge(plane + &workers("KubeadmConfigTemplate", "v1.33.1", &spec))
    };
    kubeadm("1.31.6-1.1").run("check").exit(1).brief(str![[r#"
error[k8s-version-mismatch]: machines install Kubernetes `1.31.6` when they boot, not `v1.33.1`
  edge.yaml:36:28 `kubelet=1.31.6-1.1` `kubelet=1.31.6-1.1`
  edge.yaml:24:86 `v1.33.1` this version is required
  cluster: edge, pool md
  help: install Kubernetes `v1.33.1` there
1 error in 1 cluster; 2 node pools checked: 1 unproven, 1 mismatched

"#]]);
    passes("k8s-version-mismatch", &kubeadm("1.33.1-1.1"), "check");
    let k3s = |version: &str| {
        let plane = control_plane(
            "KThreesControlPlane",
            "v1.33.1+k3s1",
            "kthreesConfigSpec: {}",
            "golden",
        );
        edge(
            plane
                + &workers(
                    "KThreesConfigTemplate",
                    "v1.33.1+k3s1",
                    &format!("version: {version}"),
                ),
        )
    };
    let _ = fails("k8s-version-mismatch", &k3s("v1.31.6+k3s1"), "check");
    passes("k8s-version-mismatch", &k3s("v1.33.1+k3s1"), "check");
}

/// A version that another program fills in is not that of the cluster.
#[test]
fn nothing_is_compared_with_a_version_that_is_not_known() {
    let pinned = "kubeadmConfigSpec: {preKubeadmCommands: [apt-get install -y kubelet=1.31.6-1.1]}";
    let plane = control_plane("KubeadmControlPlane", "v1.31.6", pinned, "golden");
    let spec = "preKubeadmCommands: [apt-get install -y kubelet=1.30.2-1.1]";
    edge(plane + &workers("KubeadmConfigTemplate", "'${VERSION}'", spec))
        .check()
        .is(str![[r#"
edge/control-plane v1.31.6 (edge.yaml:12:12): by_name, golden (edge.yaml:19:49) holds 1.31.6 (edge.yaml:14:63)
edge/md: unknown (its image or version is a variable)

"#]]);
}

/// The image of the other version is still said, and the one that is installed beside it.
#[test]
fn an_image_and_an_installer_of_other_versions_are_both_said() {
    let spec = "kubeadmConfigSpec: {preKubeadmCommands: [apt-get install -y kubelet=1.31.6-1.1]}";
    let both = |image| edge(control_plane("KubeadmControlPlane", "v1.33.1", spec, image));
    both("ubuntu-2204-kube-v1.32.5").check().is(str![[r#"
error[k8s-version-mismatch] edge/control-plane edge.yaml:14:63 `kubelet=1.31.6-1.1` edge.yaml:12:12 `v1.33.1` => v1.33.1
error[k8s-version-mismatch] edge/control-plane edge.yaml:19:49 `ubuntu-2204-kube-v1.32.5` edge.yaml:12:12 `v1.33.1` => v1.33.1
edge/control-plane v1.33.1 (edge.yaml:12:12): mismatched, ubuntu-2204-kube-v1.32.5 (edge.yaml:19:49) holds 1.32.5

"#]]);
    let _ = fails(
        "k8s-version-mismatch",
        &both("ubuntu-2204-kube-v1.33.1"),
        "check",
    );
}

#[test]
fn values_say_what_is_installed_at_each_level() {
    let found = |case: &str| {
        let settings =
            format!("capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpk}}\n{case}");
        let text = values("", &settings).replace("v1.31.8+rke2r1", "v1.33.1");
        let text = text.replacen(
            "  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}\n",
            "",
            1,
        );
        lines(&project().cluster("edge", &text))
    };
    assert_cases(
        str![[r#"
additional_commands: {pre_bootstrap_commands: [apt-get install -y kubelet=1.31.6-1.1]}; machine_deployments: {md0: {}}
    error[image-not-chosen] edge edge.yaml:3:36 `capm3` => cluster.capm3.image_key: …
    error[k8s-version-mismatch] edge/control-plane edge.yaml:4:50 `apt-get install -y kubelet=1.31.6-1.1` edge.yaml:2:16 `v1.33.1` => v1.33.1
    edge/control-plane v1.33.1 (edge.yaml:2:16), edge/md0 v1.33.1 (edge.yaml:2:16): mismatched holds 1.31.6 (edge.yaml:4:50)
control_plane: {additional_commands: {pre_bootstrap_commands: [apt-get install -y kubelet=1.31.6-1.1]}}; machine_deployments: {md0: {}}
    error[image-not-chosen] edge edge.yaml:3:36 `capm3` => cluster.capm3.image_key: …
    error[k8s-version-mismatch] edge/control-plane edge.yaml:4:66 `apt-get install -y kubelet=1.31.6-1.1` edge.yaml:2:16 `v1.33.1` => v1.33.1
    edge/control-plane v1.33.1 (edge.yaml:2:16): mismatched holds 1.31.6 (edge.yaml:4:66)
    edge/md0 v1.33.1 (edge.yaml:2:16): unknown (no image selected)
machine_deployment_default: {additional_files: {repo: {content: "KUBERNETES_VERSION=1.31.6"}}}; machine_deployments: {md0: {}, md1: {additional_files: {repo: {content: "KUBERNETES_VERSION=1.33.1"}}}}
    error[image-not-chosen] edge edge.yaml:3:36 `capm3` => cluster.capm3.image_key: …
    error[k8s-version-mismatch] edge/md0 edge.yaml:4:67 `"KUBERNETES_VERSION=1.31.6"` edge.yaml:2:16 `v1.33.1` => v1.33.1
    edge/control-plane v1.33.1 (edge.yaml:2:16): unknown (no image selected)
    edge/md0 v1.33.1 (edge.yaml:2:16): mismatched holds 1.31.6 (edge.yaml:4:67)
    edge/md1 v1.33.1 (edge.yaml:2:16): unknown (no image selected)
machine_deployments: {md0: {additional_files: {repo: {content: "KUBERNETES_VERSION={{ .Values.cluster.k8s_version }}"}}}}
    error[image-not-chosen] edge edge.yaml:3:36 `capm3` => cluster.capm3.image_key: …
    edge/control-plane v1.33.1 (edge.yaml:2:16), edge/md0 v1.33.1 (edge.yaml:2:16): unknown (no image selected)

"#]],
        found,
    );
}

/// A project whose machines install one version and are to run another.
#[test]
fn an_installer_of_another_version_fails_until_it_is_moved() {
    let spec = |version| {
        format!("kubeadmConfigSpec: {{preKubeadmCommands: [apt-get install -y kubelet={version}]}}")
    };
    let with = |version| {
        edge(control_plane(
            "KubeadmControlPlane",
            "v1.33.1",
            &spec(version),
            "golden",
        ))
    };
    let _ = fails("k8s-version-mismatch", &with("1.31.6-1.1"), "check");
    passes("k8s-version-mismatch", &with("1.33.1-1.1"), "check");
}

/// A control plane of a version whose kubelet has this argument, and workers whose bootstrap configuration has it in a file.
fn with_argument(version: &str, argument: &str) -> Stage {
    let spec = format!(
        "kubeadmConfigSpec:\n  initConfiguration:\n    nodeRegistration:\n      kubeletExtraArgs: {argument}"
    );
    edge(control_plane(
        "KubeadmControlPlane",
        version,
        &spec,
        "golden",
    ))
}

/// Secrets are opaque, and what cannot be decoded is no text: nobody knows which Kubernetes they install.
#[test]
fn what_machines_do_at_boot_and_is_not_read_is_said() {
    let files = "kubeadmConfigSpec: {files: [{path: /a, contentFrom: {secret: {name: boot, key: a}}}, {path: /b, encoding: gzip, content: a}, {path: /d, contentFrom: {configMap: {name: boot, key: d}}}, {path: /c, encoding: base64, content: YQ==}]}";
    let workers = workers("KubeadmConfigTemplate", "v1.33.1", "{}");
    let reference = "configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: md}";
    assert!(workers.contains(reference));
    let text = control_plane(
        "KubeadmControlPlane",
        "v1.33.1",
        files,
        "ubuntu-2404-kube-v1.33.1",
    ) + &workers.replace(reference, "dataSecretName: boot");
    let project = edge(text);
    project.check().is(str![[r#"
edge/control-plane v1.33.1 (edge.yaml:12:12), edge/md v1.33.1 (edge.yaml:24:86): by_name, ubuntu-2404-kube-v1.33.1 (edge.yaml:19:49) holds 1.33.1

"#]]);
    project.run("explain edge").exit(0).screen(str![[r#"
edge/control-plane boots image `ubuntu-2404-kube-v1.33.1`  (edge.yaml:19:49)
  Kubernetes v1.33.1  (edge.yaml:12:12)
  by name only: `1.33.1` in the image's name
  what machines do at boot is not read: it depends on a secret  (edge.yaml:14:55)
  what machines do at boot is not read: its encoding cannot be decoded  (edge.yaml:14:124)
  what machines do at boot is not read: another object has it  (edge.yaml:14:152)

edge/md boots image `ubuntu-2404-kube-v1.33.1`  (edge.yaml:19:49)
  Kubernetes v1.33.1  (edge.yaml:24:86)
  by name only: `1.33.1` in the image's name
  what machines do at boot is not read: it depends on a secret  (edge.yaml:24:123)

"#]]);
    let metal3 = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\nmetadata: {name: edge}\nspec: {template: {spec: {image: {url: 'http://h/ubuntu-2404-kube-v1.33.1.raw', checksum: 'http://h/sum', format: raw}, userData: {name: boot}}}}\n";
    let text = control_plane(
        "KubeadmControlPlane",
        "v1.33.1",
        "kubeadmConfigSpec: {}",
        "golden",
    );
    let begin = text
        .find("apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\n")
        .expect("a template");
    let text = text[..begin].replace("OpenStack", "Metal3") + metal3;
    edge(text).run("explain edge").exit(0).screen(str![[r#"
edge/control-plane boots image `ubuntu-2404-kube-v1.33.1.raw`  (edge.yaml:19:39)
  Kubernetes v1.33.1  (edge.yaml:12:12)
  by name only: `1.33.1` in the image's name
  what machines do at boot is not read: it depends on a secret  (edge.yaml:19:130)

"#]]);
}

#[test]
fn removed_in_version() {
    let pause = "{pod-infra-container-image: registry.k8s.io/pause:3.9}";
    let project = with_argument("v1.35.2", pause);
    fails("removed-in-version", &project, "check").brief(str![[r#"
error[removed-in-version]: flag `--pod-infra-container-image` of kubelet is gone since Kubernetes 1.35, and machines are to run `v1.35.2`
  edge.yaml:17:55 `registry.k8s.io/pause:3.9` remove it
  edge.yaml:12:12 `v1.35.2` this version is required
  cluster: edge, pool control-plane
  help: https://github.com/openshift/microshift/blob/release-4.21/deps/github.com/openshift/kubernetes/pkg/kubelet/config/flags.go, read on 2026-11-27
1 error in 1 cluster; 1 node pool checked: 1 unproven

"#]]);
    passes(
        "removed-in-version",
        &with_argument("v1.34.8", pause),
        "check",
    );
    passes(
        "removed-in-version",
        &with_argument("v1.35.2", "{node-ip: 192.0.2.1}"),
        "check",
    );
}

#[test]
fn removed_names_are_found_in_files_and_values() {
    let plane = control_plane(
        "KubeadmControlPlane",
        "v1.33.1",
        "kubeadmConfigSpec: {}",
        "golden",
    );
    let file = "files:\n- path: /etc/kubernetes/patches/kubeletconfiguration.yaml\n  content: |\n    apiVersion: kubelet.config.k8s.io/v1beta1\n    kind: KubeletConfiguration\n    featureGates:\n      SeccompDefault: true";
    edge(plane + &workers("KubeadmConfigTemplate", "v1.33.1", file))
        .check()
        .findings(str![[r#"
error[removed-in-version] edge/md edge.yaml:38:29 `true` edge.yaml:24:86 `v1.33.1`

"#]]);
    let settings = "kubelet_extra_args: {container-runtime: remote}";
    let _ = fails("removed-in-version", &bare("", settings), "check");
}

/// Each step says what it removes, where the step before had it.
#[test]
fn a_plan_says_what_each_step_removes() {
    let images = ["1-33", "1-34", "1-35"].map(|minor| {
        let version = minor.replace('-', ".");
        format!("noble-{minor} kubeadm {version}.1 os=ubuntu os-release=noble hardened=false")
    });
    let settings = "kubelet_extra_args: {pod-infra-container-image: x, register-schedulable: 'true', container-runtime: remote}";
    let text = format!(
        "cluster:\n  k8s_version: v1.33.1\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpk}}\n  capm3: {{image_key: noble-1-33}}\n  control_plane_replicas: 3\n  {settings}\n"
    );
    let project = project()
        .catalog(&images.each_ref().map(String::as_str))
        .cluster("edge", &text);
    project.run("plan --to 1.35").screen(str![[r#"
edge: 1.33.1 → 1.34.1 → 1.35.1
  1.34.1  control-plane  noble-1-34
  1.34.1  control-plane  has no flag `--register-schedulable` of kubelet: remove it at edge.yaml:6:76
  1.35.1  control-plane  noble-1-35
  1.35.1  control-plane  has no flag `--pod-infra-container-image` of kubelet: remove it at edge.yaml:6:51

wave 1, to 1.34, 3 machines: edge
wave 2, to 1.35, 3 machines: edge
1 cluster: 1 to upgrade in 2 steps, 0 at 1.35 or newer, 0 blocked

"#]]);
    project
        .run("plan --to 1.35 --output markdown")
        .screen(str![[r#"
### The way to Kubernetes 1.35

**1 cluster: 1 to upgrade in 2 steps, 0 at 1.35 or newer, 0 blocked**

- wave 1, to 1.34, 3 machines: edge
- wave 2, to 1.35, 3 machines: edge

| cluster | Kubernetes | images | blocked |
|---|---|---|---|
| edge | 1.33.1 → 1.34.1 → 1.35.1 | 1.34.1: noble-1-34, control-plane  has no flag `--register-schedulable` of kubelet: remove it at edge.yaml:6:76; 1.35.1: noble-1-35, control-plane  has no flag `--pod-infra-container-image` of kubelet: remove it at edge.yaml:6:51 |  |

"#]]);
}

#[test]
fn os_unsupported() {
    let talos = |version: &str, image: &str, release: &str| {
        let patch = format!(
            "controlPlaneConfig: {{controlplane: {{strategicPatches: ['machine: {{install: {{image: \"factory.talos.dev/installer/ce4c1:{release}\"}}}}']}}}}"
        );
        edge(control_plane("TalosControlPlane", version, &patch, image))
    };
    let project = talos("v1.36.0", "talos-v1.12.4-openstack-amd64", "v1.13.0");
    fails("os-unsupported", &project, "check").brief(str![[r#"
error[os-unsupported]: Talos `1.12.4` supports Kubernetes 1.30 to 1.35, and machines are to run `v1.36.0`
  edge.yaml:19:49 `talos-v1.12.4-openstack-amd64` this release of Talos
  edge.yaml:12:12 `v1.36.0` this version is required
  cluster: edge, pool control-plane
  help: https://github.com/siderolabs/talos/blob/main/pkg/machinery/compatibility/talos112/talos112.go, read on 2026-11-27
1 error in 1 cluster; 1 node pool checked: 1 unproven

"#]]);
    let older = talos("v1.36.0", "talos-v1.13.0-openstack-amd64", "v1.12.4");
    let _ = fails("os-unsupported", &older, "check");
    let older = talos("v1.30.4", "talos-v1.13.0-openstack-amd64", "v1.12.4");
    let _ = fails("os-unsupported", &older, "check");
    let project = talos("v1.35.1", "talos-v1.12.4-openstack-amd64", "v1.99.0");
    passes("os-unsupported", &project, "check");
    passes(
        "os-unsupported",
        &talos("v1.36.0", "ubuntu-v1.12.4", "v1.13.0"),
        "check",
    );
}
