//! Argo CD's Application and ApplicationSet.

use super::{Table, rows};

/// Argo CD's Application. Its sources have a table of their own.
pub(in crate::read) static APPLICATION: Table = Table {
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
pub(in crate::read) static SOURCE: Table = Table {
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

/// Argo CD's ApplicationSet. The Applications that its templates make, and its generators, have their own tables.
pub(in crate::read) static APPLICATION_SET: Table = Table {
    rows: rows! {
        Done "": "apiVersion kind"
        Whole "": "metadata"
        NoEffect "": "status"
        NoEffect "spec": "ignoreApplicationDifferences preservedFields strategy syncPolicy"
        Done "spec": "applyNestedSelectors goTemplate goTemplateOptions[] templatePatch"
        Whole "spec": "generators template"
    },
    is_strict: false,
};

/// A generator of an ApplicationSet, by itself or in another one.
pub(in crate::read) static GENERATOR: Table = Table {
    rows: rows! {
        Done "git": "pathParamPrefix repoURL revision values.*"
        Done "git.directories[]": "exclude path"
        Done "git.files[]": "exclude path"
        NoEffect "git": "requeueAfterSeconds"
        Whole "git": "template"
        Whole "list": "elements elementsYaml template"
        Whole "matrix": "generators template"
        Whole "merge": "generators template"
        Done "merge": "mergeKeys[]"
        Whole "selector": "matchLabels"
        Done "selector.matchExpressions[]": "key operator values[]"
        NotKnown "": "clusterDecisionResource clusters plugin pullRequest scmProvider"
    },
    is_strict: false,
};
