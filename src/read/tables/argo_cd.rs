//! Argo CD's Application and ApplicationSet.

use super::{Table, rows};

/// Argo CD's Application. Its sources have a table of their own.
pub(in crate::read) const APPLICATION: Table = Table {
    rows: rows! {
        Done "": "apiVersion kind"
        Whole "": "metadata"
        NoEffect "": "operation status"
        Done "spec": "project"
        Done "spec.destination": "name namespace server"
        Whole "spec": "source sources"
        NotKnown "spec": "sourceHydrator"
        NoEffect "spec": "ignoreDifferences info revisionHistoryLimit syncPolicy"
    },
    is_strict: false,
};

/// A source of an Application. Of folders without a chart or a kustomization manifests are read wherever they are.
pub(in crate::read) const SOURCE: Table = Table {
    rows: rows! {
        Done "": "chart path ref repoURL targetRevision"
        NoEffect "": "directory name tagPrefix"
        NotKnown "": "directory.jsonnet plugin"
        Done "helm": "ignoreMissingValueFiles namespace releaseName valueFiles[] values"
        Whole "helm": "valuesObject"
        Done "helm.fileParameters[]": "name path"
        Done "helm.parameters[]": "forceString name value"
        NoEffect "helm": "passCredentials skipCrds skipTests version"
        NotKnown "helm": "apiVersions kubeVersion skipSchemaValidation"
        Done "kustomize": "commonAnnotations.* commonAnnotationsEnvsubst"
        Done "kustomize": "commonLabels.* labelIncludeTemplates labelWithoutSelector"
        Done "kustomize": "forceCommonAnnotations forceCommonLabels components[] ignoreMissingComponents images[]"
        Done "kustomize": "namePrefix nameSuffix namespace"
        Done "kustomize.patches[]": "options.* patch path"
        Done "kustomize.patches[].target": "group version kind name namespace labelSelector annotationSelector"
        Done "kustomize.replicas[]": "count name"
        NoEffect "kustomize": "version"
        NotKnown "kustomize": "apiVersions kubeVersion"
    },
    is_strict: false,
};

/// Argo CD's ApplicationSet. The Applications that its templates make have their own table, and generators in others are looked at
/// one by one.
pub(in crate::read) const APPLICATION_SET: Table = Table {
    rows: rows! {
        Done "": "apiVersion kind"
        Whole "": "metadata"
        NoEffect "": "status"
        NoEffect "spec": "ignoreApplicationDifferences preservedFields strategy syncPolicy"
        Done "spec": "applyNestedSelectors goTemplate goTemplateOptions[] templatePatch"
        Whole "spec": "template"
        Done "spec.generators[].git": "pathParamPrefix repoURL revision values.*"
        Done "spec.generators[].git.directories[]": "exclude path"
        Done "spec.generators[].git.files[]": "exclude path"
        NoEffect "spec.generators[].git": "requeueAfterSeconds"
        Whole "spec.generators[].git": "template"
        Whole "spec.generators[].list": "elements elementsYaml template"
        Whole "spec.generators[].matrix": "generators template"
        Whole "spec.generators[].merge": "generators template"
        Done "spec.generators[].merge": "mergeKeys[]"
        Whole "spec.generators[].selector": "matchLabels"
        Done "spec.generators[].selector.matchExpressions[]": "key operator values[]"
        NotKnown "spec.generators[]": "clusterDecisionResource clusters plugin pullRequest scmProvider"
    },
    is_strict: false,
};
