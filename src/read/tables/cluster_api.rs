//! Cluster API's Cluster and ClusterClass.

use super::{Table, rows};

/// Cluster API's Cluster. `rolloutAfter` makes new machines of the same version; `definitionFrom` says of which definition a value is,
/// where patches define variables of their own.
pub(in crate::read) static CLUSTER: Table = Table {
    rows: rows! {
        Done "": "apiVersion kind"
        Whole "": "metadata"
        NoEffect "": "status"
        NoEffect "spec": "availabilityGates controlPlaneEndpoint infrastructureRef managedExternalEtcdRef paused"
        Whole "spec": "clusterNetwork controlPlaneRef"
        Done "spec.topology": "class classNamespace version"
        Done "spec.topology.classRef": "name namespace"
        NoEffect "spec.topology": "rolloutAfter"
        Done "spec.topology.variables[]": "name"
        Whole "spec.topology.variables[]": "value"
        NotKnown "spec.topology.variables[]": "definitionFrom"
        Done "spec.topology.controlPlane": "replicas variables.overrides[].name"
        Whole "spec.topology.controlPlane.variables.overrides[]": "value"
        NotKnown "spec.topology.controlPlane.variables.overrides[]": "definitionFrom"
        NoEffect "spec.topology.controlPlane": "deletion healthCheck machineHealthCheck metadata nodeDeletionTimeout"
        NoEffect "spec.topology.controlPlane": "nodeDrainTimeout nodeVolumeDetachTimeout readinessGates rollout taints"
        Done "spec.topology.workers.*[]": "class name replicas"
        Done "spec.topology.workers.*[].variables.overrides[]": "name"
        Whole "spec.topology.workers.*[].variables.overrides[]": "value"
        NotKnown "spec.topology.workers.*[].variables.overrides[]": "definitionFrom"
        NoEffect "spec.topology.workers.*[]": "deletion failureDomain failureDomains"
        NoEffect "spec.topology.workers.*[]": "healthCheck machineHealthCheck metadata"
        NoEffect "spec.topology.workers.*[]": "minReadySeconds nodeDeletionTimeout"
        NoEffect "spec.topology.workers.*[]": "nodeDrainTimeout nodeVolumeDetachTimeout"
        NoEffect "spec.topology.workers.*[]": "readinessGates rollout strategy taints"
    },
    is_strict: false,
};

/// Cluster API's ClusterClass. What names objects makes names of run time, which are not known anyway.
pub(in crate::read) static CLASS: Table = Table {
    rows: rows! {
        Done "": "apiVersion kind"
        Whole "": "metadata"
        NoEffect "": "status"
        NoEffect "spec": "availabilityGates infrastructure infrastructureNamingStrategy"
        Done "spec": "kubernetesVersions[]"
        Done "spec.upgrade.external": "generateUpgradePlanExtension"
        Whole "spec.controlPlane": "ref templateRef"
        Whole "spec.controlPlane.machineInfrastructure": "ref templateRef"
        NoEffect "spec.controlPlane": "deletion healthCheck machineHealthCheck metadata"
        NoEffect "spec.controlPlane": "naming namingStrategy nodeDeletionTimeout"
        NoEffect "spec.controlPlane": "nodeDrainTimeout nodeVolumeDetachTimeout readinessGates taints"
        NoEffect "spec.patches[]": "name description"
        Done "spec.patches[]": "enabledIf"
        Done "spec.patches[].definitions[].jsonPatches[]": "op path"
        Whole "spec.patches[].definitions[].jsonPatches[]": "value"
        Done "spec.patches[].definitions[].jsonPatches[].valueFrom": "template variable"
        Done "spec.patches[].definitions[].selector": "apiVersion kind"
        Done "spec.patches[].definitions[].selector.matchResources": "controlPlane"
        NoEffect "spec.patches[].definitions[].selector.matchResources": "infrastructureCluster"
        Done "spec.patches[].definitions[].selector.matchResources": "machineDeploymentClass.names[]"
        Done "spec.patches[].definitions[].selector.matchResources": "machinePoolClass.names[]"
        Done "spec.patches[].external": "discoverVariablesExtension generateExtension generatePatchesExtension"
        NoEffect "spec.patches[].external": "settings validateExtension validateTopologyExtension"
        Done "spec.variables[]": "name"
        Whole "spec.variables[]": "schema"
        NoEffect "spec.variables[]": "deprecatedV1Beta1Metadata metadata required"
        Done "spec.workers.*[]": "class"
        Whole "spec.workers.*[]": "bootstrap infrastructure"
        Whole "spec.workers.*[].template": "bootstrap infrastructure"
        NoEffect "spec.workers.*[].template": "metadata"
        NoEffect "spec.workers.*[]": "deletion failureDomain failureDomains healthCheck"
        NoEffect "spec.workers.*[]": "machineHealthCheck metadata minReadySeconds naming"
        NoEffect "spec.workers.*[]": "namingStrategy nodeDeletionTimeout nodeDrainTimeout"
        NoEffect "spec.workers.*[]": "nodeVolumeDetachTimeout readinessGates rollout strategy taints"
    },
    is_strict: false,
};
