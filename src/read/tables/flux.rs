//! Flux's Kustomization and HelmRelease.

use super::{Table, rows};

/// Flux's Kustomization.
pub(in crate::read) static KUSTOMIZATION: Table = Table {
    rows: rows! {
        Done "": "apiVersion kind"
        Whole "": "metadata"
        NoEffect "": "status"
        NoEffect "spec": "buildMetadata decryption deletionPolicy dependsOn force"
        NoEffect "spec": "healthCheckExprs healthChecks ignore interval kubeConfig"
        NoEffect "spec": "prune retryInterval serviceAccountName suspend timeout validation wait"
        Done "spec": "path targetNamespace namePrefix nameSuffix components[] ignoreMissingComponents"
        Whole "spec": "commonMetadata.annotations commonMetadata.labels"
        Done "spec.images[]": "digest name newName newTag"
        Done "spec.patches[]": "patch"
        Done "spec.patches[].target": "group version kind name namespace labelSelector annotationSelector"
        NotKnown "spec": "patchesJson6902[] patchesStrategicMerge[]"
        Whole "spec.postBuild": "substitute"
        Done "spec.postBuild": "substituteStrategy"
        Done "spec.postBuild.substituteFrom[]": "kind name optional"
        Done "spec.sourceRef": "apiVersion kind name namespace"
    },
    is_strict: false,
};

/// Flux's HelmRelease. What leaves a chart's schema out is not carried out; a release with `postRenderers` is not rendered.
pub(in crate::read) static HELM_RELEASE: Table = Table {
    rows: rows! {
        Done "": "apiVersion kind"
        Whole "": "metadata"
        NoEffect "": "status"
        NoEffect "spec": "commonMetadata dependsOn driftDetection healthCheckExprs"
        NoEffect "spec": "install interval kubeConfig maxHistory persistentClient"
        NoEffect "spec": "postRenderStrategy rollback serviceAccountName"
        NoEffect "spec": "storageNamespace suspend test timeout uninstall upgrade waitStrategy"
        NotKnown "spec.install": "disableSchemaValidation"
        NotKnown "spec.upgrade": "disableSchemaValidation preserveValues"
        NotKnown "spec": "chartRef"
        NoEffect "spec.chart": "metadata"
        NoEffect "spec.chart.spec": "interval reconcileStrategy verify"
        Done "spec.chart.spec": "chart version valuesFile valuesFiles[] ignoreMissingValuesFiles"
        Done "spec.chart.spec.sourceRef": "apiVersion kind name namespace"
        Done "spec": "releaseName targetNamespace"
        Whole "spec": "values postRenderers"
        Done "spec.valuesFrom[]": "kind name valuesKey targetPath optional literal"
    },
    is_strict: false,
};
