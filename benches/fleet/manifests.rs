//! A fleet of plain Cluster API manifests: ten objects a cluster, in a folder each, as an overlay of one base, as a chart each,
//! or as clusters of one class.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Node pools of a cluster: its control plane and its machine deployments.
pub(super) const POOLS: usize = 5;

/// Node pools of a cluster of the class.
pub(super) const CLASS_POOLS: usize = 3;

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

/// Writes a chart for each cluster, whose values hold the versions.
pub(super) fn write_charts(folder: &Path, clusters: usize) {
    for index in 0..clusters {
        let chart = folder.join(format!("charts/site-{index:05}"));
        let templates = chart.join("templates");
        fs::create_dir_all(&templates).expect("created");
        let about = format!("apiVersion: v2\nname: site-{index:05}\nversion: 1.0.0\n");
        fs::write(chart.join("Chart.yaml"), about).expect("written");
        fs::write(chart.join("values.yaml"), "version: v1.31.8\n").expect("written");
        for (file, text) in objects("{{ .Release.Name }}", "{{ .Values.version }}") {
            // What the provider itself fills in is no template of Helm's.
            let text = text.replace("{{ ds.meta_data.uuid }}", "{{ `{{ ds.meta_data.uuid }}` }}");
            fs::write(templates.join(file), text).expect("written");
        }
    }
}

/// Writes one class, and clusters of it.
pub(super) fn write_class(folder: &Path, clusters: usize) {
    let template =
        |kind: &str, name: &str| format!("{{ref: {{apiVersion: {kind}, name: {name}}}}}");
    let infrastructure = "infrastructure.cluster.x-k8s.io/v1beta1, kind";
    let image = "http://images.example.org/UBUNTU_{{ .release }}_NODE_IMAGE_K8S_{{ .builtin.cluster.topology.version }}.qcow2";
    let class = format!(
        "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata: {{name: edge}}
spec:
  controlPlane:
    ref: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlaneTemplate, name: edge}}
    machineInfrastructure: {cp}
  workers:
    machineDeployments:
    - class: worker
      template: {{bootstrap: {bootstrap}, infrastructure: {md}}}
  variables:
  - {{name: release, required: true, schema: {{openAPIV3Schema: {{type: string}}}}}}
  patches:
  - name: image
    definitions:
    - selector:
        apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
        kind: Metal3MachineTemplate
        matchResources: {{controlPlane: true, machineDeploymentClass: {{names: [worker]}}}}
      jsonPatches:
      - {{op: replace, path: /spec/template/spec/image/url, valueFrom: {{template: '{image}'}}}}
      - {{op: replace, path: /spec/template/spec/image/checksum, valueFrom: {{template: '{image}.sha256sum'}}}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlaneTemplate
metadata: {{name: edge}}
spec: {{template: {{spec: {{kubeadmConfigSpec: {{}}}}}}}}
---
",
        cp = template(&format!("{infrastructure}: Metal3MachineTemplate"), "edge-cp"),
        md = template(&format!("{infrastructure}: Metal3MachineTemplate"), "edge-md"),
        bootstrap = template("bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate", "edge"),
    );
    let [_, _, (_, templates)] = objects("edge", "v1.31.8");
    fs::create_dir_all(folder).expect("created");
    fs::write(folder.join("class.yaml"), class + &templates).expect("written");
    let deployments: Vec<String> = (1..CLASS_POOLS)
        .map(|pool| format!("{{class: worker, name: md-{pool}, replicas: 2}}"))
        .collect();
    for index in 0..clusters {
        let cluster = format!(
            "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {{name: site-{index:05}}}
spec:
  topology:
    class: edge
    version: v1.31.8
    controlPlane: {{replicas: 3}}
    variables: [{{name: release, value: '24.04'}}]
    workers: {{machineDeployments: [{}]}}
",
            deployments.join(", ")
        );
        fs::write(folder.join(format!("site-{index:05}.yaml")), cluster).expect("written");
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
