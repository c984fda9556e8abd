//! A fleet of plain Cluster API manifests: ten objects a cluster, in a folder each, or as an overlay of one base.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Node pools of a cluster: its control plane and its machine deployments.
pub(super) const POOLS: usize = 5;

/// Writes a folder for each cluster.
pub(super) fn write_folders(folder: &Path, clusters: usize) {
    for index in 0..clusters {
        let below = folder.join(format!("clusters/site-{index:05}"));
        fs::create_dir_all(&below).expect("created");
        for (file, text) in objects(&format!("site-{index:05}"), "v1.31.8") {
            fs::write(below.join(file), text).expect("written");
        }
    }
}

/// Writes one base, and an overlay for each cluster with its name and version.
pub(super) fn write_overlays(folder: &Path, clusters: usize) {
    let write = |path: String, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("below the fleet")).expect("created");
        fs::write(path, text).expect("written");
    };
    let mut kustomization = "resources:\n".to_owned();
    for (file, text) in objects("edge", "v1.30.0") {
        write(format!("base/{file}"), &text);
        let _ = writeln!(kustomization, "- {file}");
    }
    write("base/kustomization.yaml".to_owned(), &kustomization);
    let patch = "\
resources: [../../base]
patches:
- target: {kind: KubeadmControlPlane}
  patch: '- {op: replace, path: /spec/version, value: v1.31.8}'
- target: {kind: MachineDeployment}
  patch: '- {op: replace, path: /spec/template/spec/version, value: v1.31.8}'
";
    for index in 0..clusters {
        let text = format!("namespace: site-{index:05}\n{patch}");
        write(
            format!("overlays/site-{index:05}/kustomization.yaml"),
            &text,
        );
    }
}

/// The files of a cluster.
fn objects(name: &str, version: &str) -> [(&'static str, String); 3] {
    let reference = |pool: &str| {
        format!(
            "{{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: {name}-{pool}}}"
        )
    };
    let cluster = format!(
        "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {{name: {name}}}
spec:
  clusterNetwork:
    pods: {{cidrBlocks: [192.168.0.0/18]}}
    services: {{cidrBlocks: [10.96.0.0/12]}}
  controlPlaneRef: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: {name}}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {{name: {name}}}
spec:
  replicas: 3
  version: {version}
  machineTemplate: {{infrastructureRef: {cp}}}
  kubeadmConfigSpec:
    initConfiguration: {{nodeRegistration: {{kubeletExtraArgs: {{node-labels: 'metal3.io/uuid={{{{ ds.meta_data.uuid }}}}'}}}}}}
    preKubeadmCommands: [systemctl enable --now keepalived, systemctl enable --now crio]
",
        cp = reference("cp")
    );
    let mut workers = String::new();
    for pool in 1..POOLS {
        let _ = write!(
            workers,
            "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {{name: {name}-md-{pool}}}
spec:
  clusterName: {name}
  replicas: 2
  template:
    spec:
      clusterName: {name}
      version: {version}
      bootstrap: {{configRef: {{apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: {name}}}}}
      infrastructureRef: {worker}
---
",
            worker = reference("md")
        );
    }
    let mut templates = String::new();
    for (pool, builder) in [("cp", "24.04"), ("md", "22.04")] {
        let image =
            format!("http://images.example.org/UBUNTU_{builder}_NODE_IMAGE_K8S_v1.31.8.qcow2");
        let _ = write!(
            templates,
            "\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {{name: {name}-{pool}}}
spec:
  template:
    spec:
      image: {{url: '{image}', checksum: '{image}.sha256sum', checksumType: sha256, format: qcow2}}
      hostSelector: {{matchLabels: {{role: {pool}}}}}
---
"
        );
    }
    let _ = write!(
        templates,
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {{name: {name}}}\nspec: {{template: {{spec: {{joinConfiguration: {{}}}}}}}}\n"
    );
    [
        ("cluster.yaml", cluster),
        ("machinedeployments.yaml", workers),
        ("templates.yaml", templates),
    ]
}
