//! What becomes of each field of the objects that make clusters: of Cluster API's Cluster and ClusterClass, and of EKS Anywhere.

use crate::read::gitops::Meaning::{Done, NoEffect, NotKnown};
use crate::read::gitops::Table;

/// Cluster API's Cluster.
pub(super) const CLUSTER: Table = &[
    ("apiVersion", Done),
    ("kind", Done),
    ("metadata", Done),
    ("status", NoEffect),
    ("spec.availabilityGates", NoEffect),
    ("spec.clusterNetwork", Done),
    ("spec.controlPlaneEndpoint", NoEffect),
    ("spec.controlPlaneRef", Done),
    ("spec.infrastructureRef", NoEffect),
    ("spec.paused", NoEffect),
    ("spec.topology.class", Done),
    ("spec.topology.classNamespace", Done),
    ("spec.topology.classRef", Done),
    // New machines of the same version.
    ("spec.topology.rolloutAfter", NoEffect),
    ("spec.topology.variables", Done),
    // Of which definition a value is, where patches define variables of their own.
    ("spec.topology.variables[].definitionFrom", NotKnown),
    ("spec.topology.version", Done),
    ("spec.topology.controlPlane.deletion", NoEffect),
    ("spec.topology.controlPlane.healthCheck", NoEffect),
    ("spec.topology.controlPlane.machineHealthCheck", NoEffect),
    ("spec.topology.controlPlane.metadata", NoEffect),
    ("spec.topology.controlPlane.nodeDeletionTimeout", NoEffect),
    ("spec.topology.controlPlane.nodeDrainTimeout", NoEffect),
    (
        "spec.topology.controlPlane.nodeVolumeDetachTimeout",
        NoEffect,
    ),
    ("spec.topology.controlPlane.readinessGates", NoEffect),
    ("spec.topology.controlPlane.replicas", Done),
    ("spec.topology.controlPlane.rollout", NoEffect),
    ("spec.topology.controlPlane.taints", NoEffect),
    ("spec.topology.controlPlane.variables", Done),
    (
        "spec.topology.controlPlane.variables.overrides[].definitionFrom",
        NotKnown,
    ),
    ("spec.topology.workers.*[].class", Done),
    ("spec.topology.workers.*[].deletion", NoEffect),
    ("spec.topology.workers.*[].failureDomain", NoEffect),
    ("spec.topology.workers.*[].failureDomains", NoEffect),
    ("spec.topology.workers.*[].healthCheck", NoEffect),
    ("spec.topology.workers.*[].machineHealthCheck", NoEffect),
    ("spec.topology.workers.*[].metadata", NoEffect),
    ("spec.topology.workers.*[].minReadySeconds", NoEffect),
    ("spec.topology.workers.*[].name", Done),
    ("spec.topology.workers.*[].nodeDeletionTimeout", NoEffect),
    ("spec.topology.workers.*[].nodeDrainTimeout", NoEffect),
    (
        "spec.topology.workers.*[].nodeVolumeDetachTimeout",
        NoEffect,
    ),
    ("spec.topology.workers.*[].readinessGates", NoEffect),
    ("spec.topology.workers.*[].replicas", Done),
    ("spec.topology.workers.*[].rollout", NoEffect),
    ("spec.topology.workers.*[].strategy", NoEffect),
    ("spec.topology.workers.*[].taints", NoEffect),
    ("spec.topology.workers.*[].variables", Done),
    (
        "spec.topology.workers.*[].variables.overrides[].definitionFrom",
        NotKnown,
    ),
];

/// Cluster API's ClusterClass. What names objects makes names of run time, which are not known anyway.
pub(super) const CLASS: Table = &[
    ("apiVersion", Done),
    ("kind", Done),
    ("metadata", Done),
    ("status", NoEffect),
    ("spec.availabilityGates", NoEffect),
    ("spec.controlPlane.deletion", NoEffect),
    ("spec.controlPlane.healthCheck", NoEffect),
    ("spec.controlPlane.machineHealthCheck", NoEffect),
    ("spec.controlPlane.machineInfrastructure.ref", Done),
    ("spec.controlPlane.machineInfrastructure.templateRef", Done),
    ("spec.controlPlane.metadata", NoEffect),
    ("spec.controlPlane.naming", NoEffect),
    ("spec.controlPlane.namingStrategy", NoEffect),
    ("spec.controlPlane.nodeDeletionTimeout", NoEffect),
    ("spec.controlPlane.nodeDrainTimeout", NoEffect),
    ("spec.controlPlane.nodeVolumeDetachTimeout", NoEffect),
    ("spec.controlPlane.readinessGates", NoEffect),
    ("spec.controlPlane.ref", Done),
    ("spec.controlPlane.taints", NoEffect),
    ("spec.controlPlane.templateRef", Done),
    ("spec.infrastructure", NoEffect),
    ("spec.infrastructureNamingStrategy", NoEffect),
    ("spec.kubernetesVersions", Done),
    ("spec.patches[].definitions[].jsonPatches[].op", Done),
    ("spec.patches[].definitions[].jsonPatches[].path", Done),
    ("spec.patches[].definitions[].jsonPatches[].value", Done),
    (
        "spec.patches[].definitions[].jsonPatches[].valueFrom.template",
        Done,
    ),
    (
        "spec.patches[].definitions[].jsonPatches[].valueFrom.variable",
        Done,
    ),
    ("spec.patches[].definitions[].selector.apiVersion", Done),
    ("spec.patches[].definitions[].selector.kind", Done),
    (
        "spec.patches[].definitions[].selector.matchResources.controlPlane",
        Done,
    ),
    (
        "spec.patches[].definitions[].selector.matchResources.infrastructureCluster",
        NoEffect,
    ),
    (
        "spec.patches[].definitions[].selector.matchResources.machineDeploymentClass.names",
        Done,
    ),
    (
        "spec.patches[].definitions[].selector.matchResources.machinePoolClass.names",
        Done,
    ),
    ("spec.patches[].description", NoEffect),
    ("spec.patches[].enabledIf", Done),
    ("spec.patches[].external.discoverVariablesExtension", Done),
    ("spec.patches[].external.generateExtension", Done),
    ("spec.patches[].external.generatePatchesExtension", Done),
    ("spec.patches[].external.settings", NoEffect),
    ("spec.patches[].external.validateExtension", NoEffect),
    (
        "spec.patches[].external.validateTopologyExtension",
        NoEffect,
    ),
    ("spec.patches[].name", NoEffect),
    ("spec.upgrade.external.generateUpgradePlanExtension", Done),
    ("spec.variables[].deprecatedV1Beta1Metadata", NoEffect),
    ("spec.variables[].metadata", NoEffect),
    ("spec.variables[].name", Done),
    ("spec.variables[].required", NoEffect),
    ("spec.variables[].schema", Done),
    ("spec.workers.*[].bootstrap", Done),
    ("spec.workers.*[].class", Done),
    ("spec.workers.*[].deletion", NoEffect),
    ("spec.workers.*[].failureDomain", NoEffect),
    ("spec.workers.*[].failureDomains", NoEffect),
    ("spec.workers.*[].healthCheck", NoEffect),
    ("spec.workers.*[].infrastructure", Done),
    ("spec.workers.*[].machineHealthCheck", NoEffect),
    ("spec.workers.*[].metadata", NoEffect),
    ("spec.workers.*[].minReadySeconds", NoEffect),
    ("spec.workers.*[].naming", NoEffect),
    ("spec.workers.*[].namingStrategy", NoEffect),
    ("spec.workers.*[].nodeDeletionTimeout", NoEffect),
    ("spec.workers.*[].nodeDrainTimeout", NoEffect),
    ("spec.workers.*[].nodeVolumeDetachTimeout", NoEffect),
    ("spec.workers.*[].readinessGates", NoEffect),
    ("spec.workers.*[].rollout", NoEffect),
    ("spec.workers.*[].strategy", NoEffect),
    ("spec.workers.*[].taints", NoEffect),
    ("spec.workers.*[].template.bootstrap", Done),
    ("spec.workers.*[].template.infrastructure", Done),
    ("spec.workers.*[].template.metadata", NoEffect),
];

/// EKS Anywhere's Cluster. What runs etcd alone runs no Kubernetes.
pub(super) const EKS_CLUSTER: Table = &[
    ("apiVersion", Done),
    ("kind", Done),
    ("metadata", Done),
    ("status", NoEffect),
    ("spec.bundlesRef", NoEffect),
    ("spec.clusterNetwork", NoEffect),
    ("spec.controlPlaneConfiguration", NoEffect),
    ("spec.controlPlaneConfiguration.count", Done),
    ("spec.controlPlaneConfiguration.machineGroupRef", Done),
    ("spec.datacenterRef", Done),
    ("spec.eksaVersion", NoEffect),
    ("spec.etcdEncryption", NoEffect),
    ("spec.externalEtcdConfiguration", NoEffect),
    ("spec.gitOpsRef", NoEffect),
    ("spec.identityProviderRefs", NoEffect),
    ("spec.kubernetesVersion", Done),
    ("spec.licenseToken", NoEffect),
    ("spec.machineHealthCheck", NoEffect),
    ("spec.managementCluster", NoEffect),
    ("spec.packages", NoEffect),
    ("spec.podIamConfig", NoEffect),
    ("spec.proxyConfiguration", NoEffect),
    ("spec.registryMirrorConfiguration", NoEffect),
    (
        "spec.workerNodeGroupConfigurations[].autoscalingConfiguration",
        NoEffect,
    ),
    ("spec.workerNodeGroupConfigurations[].count", Done),
    (
        "spec.workerNodeGroupConfigurations[].failureDomains",
        NoEffect,
    ),
    (
        "spec.workerNodeGroupConfigurations[].kubeletConfiguration",
        NoEffect,
    ),
    (
        "spec.workerNodeGroupConfigurations[].kubernetesVersion",
        Done,
    ),
    ("spec.workerNodeGroupConfigurations[].labels", NoEffect),
    ("spec.workerNodeGroupConfigurations[].machineGroupRef", Done),
    (
        "spec.workerNodeGroupConfigurations[].machineHealthCheck",
        NoEffect,
    ),
    ("spec.workerNodeGroupConfigurations[].name", Done),
    ("spec.workerNodeGroupConfigurations[].taints", NoEffect),
    (
        "spec.workerNodeGroupConfigurations[].upgradeRolloutStrategy",
        NoEffect,
    ),
];

/// EKS Anywhere's configurations of machines and datacenters, of every provider that names an image in them.
pub(super) const EKS_MACHINES: Table = &[
    ("apiVersion", Done),
    ("kind", Done),
    ("metadata", Done),
    ("status", NoEffect),
    ("spec.additionalCategories", NoEffect),
    ("spec.affinity", NoEffect),
    ("spec.affinityGroupIds", NoEffect),
    ("spec.amiID", Done),
    ("spec.bootType", NoEffect),
    ("spec.cloneMode", NoEffect),
    ("spec.cluster", NoEffect),
    ("spec.computeOffering", NoEffect),
    ("spec.containersVolume", NoEffect),
    ("spec.datastore", NoEffect),
    ("spec.devices", NoEffect),
    ("spec.diskGiB", NoEffect),
    ("spec.diskOffering", NoEffect),
    ("spec.folder", NoEffect),
    ("spec.gpus", NoEffect),
    ("spec.hardwareAffinity", NoEffect),
    ("spec.hardwareSelector", NoEffect),
    ("spec.hookImagesURLPath", NoEffect),
    ("spec.hookIsoURL", NoEffect),
    ("spec.hostOSConfiguration", NoEffect),
    ("spec.image", Done),
    ("spec.instanceType", NoEffect),
    ("spec.isoBoot", NoEffect),
    ("spec.loadBalancerInterface", NoEffect),
    ("spec.memoryMiB", NoEffect),
    ("spec.memorySize", NoEffect),
    ("spec.network", NoEffect),
    ("spec.networks", NoEffect),
    ("spec.nonRootVolumes", NoEffect),
    ("spec.numCPUs", NoEffect),
    ("spec.osFamily", NoEffect),
    ("spec.osImageURL", Done),
    ("spec.physicalNetworkConnector", NoEffect),
    ("spec.project", NoEffect),
    ("spec.resourcePool", NoEffect),
    ("spec.skipLoadBalancerDeployment", NoEffect),
    ("spec.sshKeyName", NoEffect),
    ("spec.storagePolicyName", NoEffect),
    ("spec.subnet", NoEffect),
    ("spec.symlinks", NoEffect),
    ("spec.systemDiskSize", NoEffect),
    ("spec.tags", NoEffect),
    ("spec.template", Done),
    // The template's own actions may write another image.
    ("spec.templateRef", NotKnown),
    ("spec.tinkerbellIP", NoEffect),
    ("spec.userCustomDetails", NoEffect),
    ("spec.users", NoEffect),
    ("spec.vcpuSockets", NoEffect),
    ("spec.vcpusPerSocket", NoEffect),
];

#[cfg(test)]
mod tests {
    use yaml_tree::engine::Engine;
    use yaml_tree::place::FileId;

    use super::*;
    use crate::read::gitops::find_unknown_field;

    /// The fields of the schemas, with `[]` for the items of a list and `*` for the keys of a map; a line `## KIND` before them.
    const FIELDS: &str = include_str!("../../../tests/manifests/fields.txt");

    /// A field as YAML: `a.b[].c` is `{a: {b: [{c: 1}]}}`.
    fn document(path: &str) -> String {
        path.split('.').rev().fold("1".to_owned(), |below, part| {
            match part.strip_suffix("[]") {
                Some(part) => format!("{{\"{part}\": [{below}]}}"),
                None => format!("{{\"{part}\": {below}}}"),
            }
        })
    }

    #[test]
    fn each_field_of_a_schema_is_in_the_table_of_its_kind() {
        let tables = [CLUSTER, CLASS, EKS_CLUSTER, EKS_MACHINES];
        let kinds = FIELDS.split("## ").skip(1);
        for (table, fields) in tables.into_iter().zip(kinds) {
            let (kind, fields) = fields.split_once('\n').expect("a kind");
            let unknown = fields.lines().filter(|field| {
                let text = document(field);
                let tree = yaml_tree::read(&text, FileId(0), Engine::default()).expect("YAML");
                find_unknown_field(table, &tree.documents[0]).is_some()
            });
            let not_known = table.iter().filter(|row| row.1 == NotKnown);
            let not_known: Vec<&str> = not_known.map(|row| row.0).collect();
            let is_row = |field: &&str| {
                let begins = |row: &&str| field.starts_with(*row);
                let of_pools = field.replace("machineDeployments", "*");
                let of_pools = of_pools.replace("machinePools", "*");
                let is_pools = |row: &&str| of_pools.starts_with(*row);
                not_known.iter().any(|row| begins(row) || is_pools(row))
            };
            let missing: Vec<&str> = unknown.filter(|field| !is_row(field)).collect();
            assert_eq!(missing, Vec::<&str>::new(), "{kind}");
        }
    }
}
