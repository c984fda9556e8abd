//! EKS Anywhere's Cluster, and its configurations of machines and datacenters.

use super::{Table, rows};

/// EKS Anywhere's Cluster. What runs etcd alone runs no Kubernetes.
pub(in crate::read) static CLUSTER: Table = Table {
    rows: rows! {
        Done "": "apiVersion kind"
        Whole "": "metadata"
        NoEffect "": "status"
        Done "spec": "kubernetesVersion"
        Whole "spec": "datacenterRef"
        NoEffect "spec": "bundlesRef clusterNetwork controlPlaneConfiguration eksaVersion"
        NoEffect "spec": "etcdEncryption externalEtcdConfiguration gitOpsRef"
        NoEffect "spec": "identityProviderRefs licenseToken machineHealthCheck"
        NoEffect "spec": "managementCluster packages podIamConfig proxyConfiguration registryMirrorConfiguration"
        Done "spec.controlPlaneConfiguration": "count"
        Whole "spec.controlPlaneConfiguration": "machineGroupRef"
        Done "spec.workerNodeGroupConfigurations[]": "count kubernetesVersion name"
        Whole "spec.workerNodeGroupConfigurations[]": "machineGroupRef"
        NoEffect "spec.workerNodeGroupConfigurations[]": "autoscalingConfiguration failureDomains labels taints"
        NoEffect "spec.workerNodeGroupConfigurations[]": "kubeletConfiguration machineHealthCheck"
        NoEffect "spec.workerNodeGroupConfigurations[]": "upgradeRolloutStrategy"
    },
    is_strict: false,
};

/// The configurations, of every provider that names an image in them. The actions of a template may write another image.
pub(in crate::read) static MACHINES: Table = Table {
    rows: rows! {
        Done "": "apiVersion kind"
        Whole "": "metadata"
        NoEffect "": "status"
        Done "spec": "amiID osImageURL template template.id template.name"
        Whole "spec": "image"
        NotKnown "spec": "templateRef"
        NoEffect "spec": "additionalCategories affinity affinityGroupIds bootType"
        NoEffect "spec": "cloneMode cluster computeOffering containersVolume datastore"
        NoEffect "spec": "devices diskGiB diskOffering folder gpus hardwareAffinity"
        NoEffect "spec": "hardwareSelector hookImagesURLPath hookIsoURL hostOSConfiguration instanceType isoBoot"
        NoEffect "spec": "loadBalancerInterface memoryMiB memorySize network networks"
        NoEffect "spec": "nonRootVolumes numCPUs osFamily physicalNetworkConnector"
        NoEffect "spec": "project resourcePool skipLoadBalancerDeployment sshKeyName"
        NoEffect "spec": "storagePolicyName subnet symlinks systemDiskSize tags"
        NoEffect "spec": "tinkerbellIP userCustomDetails users vcpuSockets vcpusPerSocket"
    },
    is_strict: false,
};
