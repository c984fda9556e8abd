//! What becomes of each field of Flux's and Argo CD's kinds.

use yaml_tree::value::Node;

use super::UNSUPPORTED;
use super::fields::Meaning::{Done, NoEffect, NotKnown};
use super::fields::{Table, find_unknown_field};
use super::reader::LayerReader;
use crate::read::error::ReadError;

/// Flux's Kustomization.
pub(super) const KUSTOMIZATION: Table = &[
    ("apiVersion", Done),
    ("kind", Done),
    ("metadata", Done),
    ("spec.buildMetadata", NoEffect),
    ("spec.commonMetadata", Done),
    ("spec.components", Done),
    ("spec.decryption", NoEffect),
    ("spec.deletionPolicy", NoEffect),
    ("spec.dependsOn", NoEffect),
    ("spec.force", NoEffect),
    ("spec.healthCheckExprs", NoEffect),
    ("spec.healthChecks", NoEffect),
    ("spec.ignore", NoEffect),
    ("spec.ignoreMissingComponents", Done),
    ("spec.images", Done),
    ("spec.interval", NoEffect),
    ("spec.kubeConfig", NoEffect),
    ("spec.namePrefix", Done),
    ("spec.nameSuffix", Done),
    ("spec.patches", Done),
    ("spec.patchesJson6902", NotKnown),
    ("spec.patchesStrategicMerge", NotKnown),
    ("spec.path", Done),
    ("spec.postBuild", Done),
    ("spec.prune", NoEffect),
    ("spec.retryInterval", NoEffect),
    ("spec.serviceAccountName", NoEffect),
    ("spec.sourceRef", Done),
    ("spec.suspend", NoEffect),
    ("spec.targetNamespace", Done),
    ("spec.timeout", NoEffect),
    ("spec.validation", NoEffect),
    ("spec.wait", NoEffect),
    ("status", NoEffect),
];

/// Flux's HelmRelease. What comes behind the rendering of a chart, and what leaves its schema out, is not carried out.
pub(super) const HELM_RELEASE: Table = &[
    ("apiVersion", Done),
    ("kind", Done),
    ("metadata", Done),
    ("spec.chart.metadata", NoEffect),
    ("spec.chart.spec.chart", Done),
    ("spec.chart.spec.ignoreMissingValuesFiles", Done),
    ("spec.chart.spec.interval", NoEffect),
    ("spec.chart.spec.reconcileStrategy", NoEffect),
    ("spec.chart.spec.sourceRef", Done),
    ("spec.chart.spec.valuesFile", Done),
    ("spec.chart.spec.valuesFiles", Done),
    ("spec.chart.spec.verify", NoEffect),
    ("spec.chart.spec.version", Done),
    ("spec.chartRef", NotKnown),
    ("spec.commonMetadata", NoEffect),
    ("spec.dependsOn", NoEffect),
    ("spec.driftDetection", NoEffect),
    ("spec.healthCheckExprs", NoEffect),
    ("spec.install", NoEffect),
    ("spec.install.disableSchemaValidation", NotKnown),
    ("spec.interval", NoEffect),
    ("spec.kubeConfig", NoEffect),
    ("spec.maxHistory", NoEffect),
    ("spec.persistentClient", NoEffect),
    ("spec.postRenderStrategy", NoEffect),
    // A release with them is not rendered.
    ("spec.postRenderers", Done),
    ("spec.releaseName", Done),
    ("spec.rollback", NoEffect),
    ("spec.serviceAccountName", NoEffect),
    ("spec.storageNamespace", NoEffect),
    ("spec.suspend", NoEffect),
    ("spec.targetNamespace", Done),
    ("spec.test", NoEffect),
    ("spec.timeout", NoEffect),
    ("spec.uninstall", NoEffect),
    ("spec.upgrade", NoEffect),
    ("spec.upgrade.disableSchemaValidation", NotKnown),
    ("spec.upgrade.preserveValues", NotKnown),
    ("spec.values", Done),
    ("spec.valuesFrom", Done),
    ("spec.waitStrategy", NoEffect),
    ("status", NoEffect),
];

/// Argo CD's Application.
pub(super) const APPLICATION: Table = &[
    ("apiVersion", Done),
    ("kind", Done),
    ("metadata", Done),
    ("operation", NoEffect),
    ("spec.destination", Done),
    ("spec.ignoreDifferences", NoEffect),
    ("spec.info", NoEffect),
    ("spec.project", Done),
    ("spec.revisionHistoryLimit", NoEffect),
    // A source has its own table.
    ("spec.source", Done),
    ("spec.sourceHydrator", NotKnown),
    ("spec.sources", Done),
    ("spec.syncPolicy", NoEffect),
    ("status", NoEffect),
];

/// A source of an Application.
pub(super) const SOURCE: Table = &[
    ("chart", Done),
    // Manifests are read wherever they are.
    ("directory", NoEffect),
    ("directory.jsonnet", NotKnown),
    ("helm.apiVersions", NotKnown),
    ("helm.fileParameters", Done),
    ("helm.ignoreMissingValueFiles", Done),
    ("helm.kubeVersion", NotKnown),
    ("helm.namespace", Done),
    ("helm.parameters", Done),
    ("helm.passCredentials", NoEffect),
    ("helm.releaseName", Done),
    ("helm.skipCrds", NoEffect),
    ("helm.skipSchemaValidation", NotKnown),
    ("helm.skipTests", NoEffect),
    ("helm.valueFiles", Done),
    ("helm.values", Done),
    ("helm.valuesObject", Done),
    ("helm.version", NoEffect),
    ("kustomize.apiVersions", NotKnown),
    ("kustomize.commonAnnotations", Done),
    ("kustomize.commonAnnotationsEnvsubst", Done),
    ("kustomize.commonLabels", Done),
    ("kustomize.components", Done),
    ("kustomize.forceCommonAnnotations", Done),
    ("kustomize.forceCommonLabels", Done),
    ("kustomize.ignoreMissingComponents", Done),
    ("kustomize.images", Done),
    ("kustomize.kubeVersion", NotKnown),
    ("kustomize.labelIncludeTemplates", Done),
    ("kustomize.labelWithoutSelector", Done),
    ("kustomize.namePrefix", Done),
    ("kustomize.nameSuffix", Done),
    ("kustomize.namespace", Done),
    ("kustomize.patches", Done),
    ("kustomize.replicas", Done),
    ("kustomize.version", NoEffect),
    ("name", NoEffect),
    ("path", Done),
    ("plugin", NotKnown),
    ("ref", Done),
    ("repoURL", Done),
    ("tagPrefix", NoEffect),
    ("targetRevision", Done),
];

/// Argo CD's ApplicationSet. The Applications that its templates make have their own table.
pub(super) const APPLICATION_SET: Table = &[
    ("apiVersion", Done),
    ("kind", Done),
    ("metadata", Done),
    ("spec.applyNestedSelectors", Done),
    ("spec.generators[].clusterDecisionResource", NotKnown),
    ("spec.generators[].clusters", NotKnown),
    ("spec.generators[].git.directories", Done),
    ("spec.generators[].git.files", Done),
    ("spec.generators[].git.pathParamPrefix", Done),
    ("spec.generators[].git.repoURL", Done),
    ("spec.generators[].git.requeueAfterSeconds", NoEffect),
    ("spec.generators[].git.revision", Done),
    ("spec.generators[].git.template", Done),
    ("spec.generators[].git.values", Done),
    ("spec.generators[].list.elements", Done),
    ("spec.generators[].list.elementsYaml", Done),
    ("spec.generators[].list.template", Done),
    // Those in them are looked at one by one.
    ("spec.generators[].matrix.generators", Done),
    ("spec.generators[].matrix.template", Done),
    ("spec.generators[].merge.generators", Done),
    ("spec.generators[].merge.mergeKeys", Done),
    ("spec.generators[].merge.template", Done),
    ("spec.generators[].plugin", NotKnown),
    ("spec.generators[].pullRequest", NotKnown),
    ("spec.generators[].scmProvider", NotKnown),
    ("spec.generators[].selector", Done),
    ("spec.goTemplate", Done),
    ("spec.goTemplateOptions", Done),
    ("spec.ignoreApplicationDifferences", NoEffect),
    ("spec.preservedFields", NoEffect),
    ("spec.strategy", NoEffect),
    ("spec.syncPolicy", NoEffect),
    ("spec.template", Done),
    ("spec.templatePatch", Done),
    ("status", NoEffect),
];

/// Fails for an object with a field that is not carried out, and may matter.
pub(super) fn check_fields(
    reader: &LayerReader<'_>,
    table: Table,
    object: &Node,
) -> Result<(), ReadError> {
    let Some(unknown) = find_unknown_field(table, object) else {
        return Ok(());
    };
    let what = object.text(&["kind"]).unwrap_or("its source");
    let message = format!("`{}` of {what} is not carried out here", unknown.path);
    Err(reader.finding(UNSUPPORTED, message, unknown.place).into())
}

#[cfg(test)]
mod tests {
    use super::{APPLICATION, APPLICATION_SET, HELM_RELEASE, KUSTOMIZATION, SOURCE, Table};

    /// The fields of a CRD, one a line, that no row of a table has.
    fn unlisted(table: Table, fields: &str) -> Vec<&str> {
        let is_listed = |field: &&str| {
            let of_source = ["spec.source.", "spec.sources[]."];
            let mut of_source = of_source.iter().filter_map(|row| field.strip_prefix(row));
            let (table, field) = match of_source.next() {
                Some(field) => (SOURCE, field),
                None => (table, *field),
            };
            table.iter().any(|(row, _)| {
                let rest = field.strip_prefix(row);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            })
        };
        fields.lines().filter(|field| !is_listed(field)).collect()
    }

    #[test]
    fn each_field_of_the_schemas_has_a_row() {
        for (table, fields) in [
            (
                KUSTOMIZATION,
                include_str!("../../../tests/manifests/fields/kustomization.txt"),
            ),
            (
                HELM_RELEASE,
                include_str!("../../../tests/manifests/fields/helm-release.txt"),
            ),
            (
                APPLICATION,
                include_str!("../../../tests/manifests/fields/application.txt"),
            ),
            (
                APPLICATION_SET,
                include_str!("../../../tests/manifests/fields/application-set.txt"),
            ),
        ] {
            assert_eq!(unlisted(table, fields), Vec::<&str>::new());
            assert!(fields.lines().count() > 20);
        }
        assert_eq!(unlisted(KUSTOMIZATION, "spec.new"), ["spec.new"]);
    }
}
