//! Small builders of Cluster API objects.

use super::stage::{Stage, project};

/// The image of an OpenStackMachineTemplate, whose name contains v1.31.8.
pub(crate) const GOOD: &str = "{filter: {name: ubuntu-2204-kube-v1.31.8}}";

/// A folder with these files, and no project file.
pub(crate) fn repository(files: &[(&str, &str)]) -> Stage {
    project().files(files)
}

/// A folder with one manifest.
pub(crate) fn manifest(text: impl AsRef<str>) -> Stage {
    project().file("edge.yaml", text.as_ref())
}

/// The API version of most machine templates.
pub(crate) const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io/v1beta1";

/// An object: its API version, kind and name (`NAMESPACE/NAME`), and the lines of its other fields.
pub(crate) fn object(named: &str, fields: &str) -> String {
    let words: Vec<&str> = named.split(' ').collect();
    let [version, kind, name] = words[..] else {
        panic!("VERSION KIND NAME: {named}");
    };
    let name = match name.split_once('/') {
        Some((namespace, name)) => format!("name: {name}, namespace: {namespace}"),
        None => format!("name: {name}"),
    };
    format!("---\napiVersion: {version}\nkind: {kind}\nmetadata: {{{name}}}\n{fields}\n")
}

/// A reference to an infrastructure provider's object.
pub(crate) fn infrastructure(kind: &str, name: &str) -> String {
    format!("{{apiVersion: {INFRASTRUCTURE}, kind: {kind}, name: {name}}}")
}

/// A Cluster with a control plane and a MachineDeployment, which share a machine template.
pub(crate) fn cluster(version: &str, image: &str) -> String {
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

/// [`cluster`] with a control plane that is hosted: it has no machines.
pub(crate) fn hosted(version: &str, image: &str) -> String {
    let own = "  machineTemplate:\n    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: edge}\n";
    let text = cluster(version, image).replace("KubeadmControlPlane", "KamajiControlPlane");
    text.replacen(own, "", 1)
}
