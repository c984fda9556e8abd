//! The fields of Flux's and Argo CD's objects: each is carried out, has no effect, or makes what is behind it unknown.

use snapbox::str;

use crate::support::manifests::{GOOD, cluster, object};
use crate::support::stage::{Is, Stage, project};

use super::composed::releases;
use super::{checked, judged};

/// A base and an overlay of it that Flux and Argo CD deploy.
fn overlay(object: &str, overlay: &str) -> Stage {
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
    project()
        .file("object.yaml", object)
        .file("base/kustomization.yaml", "resources: [edge.yaml]\n")
        .file("base/edge.yaml", cluster("v1.31.8", GOOD))
        .file("over/kustomization.yaml", format!("resources: [../base]\n{overlay}"))
        .file(
            "component/kustomization.yaml",
            format!("{component}patches: [{{target: {{kind: KubeadmControlPlane}}, patch: '{VERSION}'}}]\n"),
        )
}

const VERSION: &str = "- {op: replace, path: /spec/version, value: v1.30.2}";

fn application(source: &str) -> String {
    let spec = format!("spec:\n  destination: {{namespace: apps}}\n  source: {source}");
    object("argoproj.io/v1alpha1 Application argocd/app", &spec)
}

#[test]
fn the_kustomize_of_a_source_is_an_overlay() {
    let target = "target: {kind: KubeadmControlPlane}";
    let cases = [
        (
            "a patch",
            format!("patches: [{{{target}, patch: '{VERSION}'}}]"),
            "",
        ),
        (
            "after others",
            format!("patches: [{{{target}, patch: '{VERSION}'}}]"),
            "patches: [{target: {kind: KubeadmControlPlane}, patch: '- {op: replace, path: /spec/version, value: v1}'}]\n",
        ),
        ("a component", "components: [../component]".to_owned(), ""),
        (
            "a missing one",
            "ignoreMissingComponents: true, components: [../no, ../component]".to_owned(),
            "",
        ),
        (
            "a missing one that counts",
            "components: [../no]".to_owned(),
            "",
        ),
        (
            "names",
            "namePrefix: a-, nameSuffix: -z, namespace: other".to_owned(),
            "",
        ),
        (
            "labels that are there",
            "commonLabels: {a: b}".to_owned(),
            "commonLabels: {a: c}\n",
        ),
        (
            "a commit",
            "commonLabels: {a: $ARGOCD_APP_REVISION}".to_owned(),
            "",
        ),
        (
            "a version of Kubernetes",
            "kubeVersion: v1.31.8".to_owned(),
            "",
        ),
    ];
    let cases = cases.map(|(name, kustomize, own)| {
        let source = format!("{{path: over, kustomize: {{{kustomize}}}}}");
        (name, overlay(&application(&source), own))
    });
    checked(cases).is(str![[r#"
a patch
after others
    error[version-skew] edge/edge-md base/edge.yaml:23:16 `v1.31.8` object.yaml:7:136 `v1.30.2` => v1.31.8
    error[k8s-version-mismatch] edge/control-plane base/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` object.yaml:7:136 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (object.yaml:7:136): mismatched, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a component
a missing one
    error[version-skew] edge/edge-md base/edge.yaml:23:16 `v1.31.8` component/kustomization.yaml:3:101 `v1.30.2` => v1.31.8
    error[k8s-version-mismatch] edge/control-plane base/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` component/kustomization.yaml:3:101 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (component/kustomization.yaml:3:101): mismatched, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a missing one that counts
    warning[composition-failed] object.yaml:7:49 `../no`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
names
    error[reference-dangling] a-edge-z base/edge.yaml:5:105 `edge-cp` => namePrefix | nameSuffix | a-edge-cp-z | nameReference | configurations
    error[reference-dangling] a-edge-cp-z/control-plane base/edge.yaml:14:116 `edge` => namePrefix | nameSuffix | a-edge-z | nameReference | configurations
    error[reference-dangling] edge/a-edge-md-z base/edge.yaml:24:118 `edge` => namePrefix | nameSuffix | a-edge-z | nameReference | configurations
    a-edge-cp-z/control-plane v1.31.8 (base/edge.yaml:12:12): unknown (its machine template is not among the manifests)
    a-edge-z/control-plane: unknown (neither its control plane nor a node pool is among the manifests)
    edge/a-edge-md-z v1.31.8 (base/edge.yaml:23:16): unknown (its machine template is not among the manifests)
labels that are there
    warning[composition-failed] object.yaml:7:54 `b`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
a commit
    warning[composition-unsupported] object.yaml:7:54 `$ARGOCD_APP_REVISION`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
a version of Kubernetes
    warning[composition-unsupported] object.yaml:7:49 `v1.31.8`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)

"#]]);
}

/// Each build of an overlay is a cluster; several that are the same are one.
#[test]
fn each_application_has_its_own_overlay() {
    let one = |name: &str, source: &str| {
        application(source).replace("name: app,", &format!("name: {name},"))
    };
    let sources = [
        one("a", "{path: over, kustomize: {namePrefix: a-}}"),
        one("b", "{path: over, kustomize: {namePrefix: b-}}"),
        one("c", "{path: over, kustomize: {namePrefix: b-}}"),
        one("d", "{path: over}"),
        one("e", "{path: over, plugin: {name: x}}"),
        one("f", "{path: gone, kustomize: {namePrefix: f-}}"),
    ];
    let set = "spec:
  generators: [{clusters: {}}]
  template: {spec: {source: {path: 'o{{name}}r', kustomize: {namePrefix: g-}}}}
";
    let set = object("argoproj.io/v1alpha1 ApplicationSet all", set);
    let as_it_is = set.replace(", kustomize: {namePrefix: g-}", "");
    let cases = [
        ("applications", sources.concat()),
        ("a set that is not evaluated", set),
        ("one that changes nothing", as_it_is),
    ];
    let cases = cases.map(|(name, objects)| (name, overlay(&objects, "")));
    checked(cases).is(str![[r#"
applications
    warning[composition-unsupported] object.yaml:35:32 `{name: x}`
    ./edge/control-plane v1.31.8 (base/edge.yaml:12:12), ./edge/a-edge-md v1.31.8 (base/edge.yaml:23:16), ./edge/b-edge-md v1.31.8 (base/edge.yaml:23:16), ./edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
    a-edge/control-plane: unknown (neither its control plane nor a node pool is among the manifests)
    a-edge-cp/control-plane v1.31.8 (base/edge.yaml:12:12): unknown (its kustomization does not build)
    b-edge/control-plane: unknown (neither its control plane nor a node pool is among the manifests)
    b-edge-cp/control-plane v1.31.8 (base/edge.yaml:12:12): unknown (its kustomization does not build)
    over/edge/control-plane v1.31.8 (base/edge.yaml:12:12), over/edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a set that is not evaluated
    warning[composition-unsupported] object.yaml:6:27 `{}` => clusters
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
one that changes nothing
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8

"#]]);
}

#[test]
fn each_field_of_a_flux_kustomization_counts() {
    let cases = [
        (
            "components",
            "ignoreMissingComponents: true, components: [../no, ../component]",
        ),
        (
            "a patch",
            "patches: [{target: {kind: KubeadmControlPlane}, patch: '- {op: replace, path: /spec/version, value: v1.30.2}'}]",
        ),
        ("functions", "postBuild: {substitute: {v: v1.30.2}}"),
        ("a new field", "new: 1"),
        ("one below a field", "images: [{name: a, new: b}]"),
        ("one below a text", "targetNamespace: {a: b}"),
        ("no effect", "interval: 5m, prune: true, wait: true"),
        ("outside", "path: ../../.."),
    ];
    let cases = cases.map(|(name, fields)| {
        let fields = if fields.starts_with("path") {
            fields.to_owned()
        } else {
            format!("path: ./over, {fields}")
        };
        let flux = object(
            "kustomize.toolkit.fluxcd.io/v1 Kustomization flux/over",
            &format!("spec: {{{fields}}}"),
        );
        let version = if name == "functions" {
            "v${v#v}"
        } else {
            "v1.31.8"
        };
        (
            name,
            overlay(&flux, "").file("base/edge.yaml", cluster(version, GOOD)),
        )
    });
    checked(cases).is(str![[r#"
components
    error[version-skew] edge/edge-md base/edge.yaml:23:16 `v1.31.8` component/kustomization.yaml:3:101 `v1.30.2` => v1.31.8
    error[k8s-version-mismatch] edge/control-plane base/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` component/kustomization.yaml:3:101 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (component/kustomization.yaml:3:101): mismatched, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a patch
    error[version-skew] edge/edge-md base/edge.yaml:23:16 `v1.31.8` object.yaml:5:122 `v1.30.2` => v1.31.8
    error[k8s-version-mismatch] edge/control-plane base/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` object.yaml:5:122 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (object.yaml:5:122): mismatched, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
functions
    error[k8s-version-mismatch] edge/control-plane base/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` base/edge.yaml:12:12 `v${v#v}` => v1.30.2
    edge/control-plane v1.30.2 (base/edge.yaml:12:12), edge/edge-md v1.30.2 (base/edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a new field
    warning[composition-unsupported] object.yaml:5:27 `1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
one below a field
    warning[composition-unsupported] object.yaml:5:46 `b`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
one below a text
    warning[composition-unsupported] object.yaml:5:43 `b`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
no effect
outside
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8

"#]]);
}

/// Only the label says which cluster the MachineDeployment belongs to.
#[test]
fn common_metadata_of_flux_is_on_each_object() {
    let flux = |labels: &str| {
        let spec = format!(
            "spec: {{path: ./over, commonMetadata: {{labels: {labels}, annotations: {{a: b}}}}}}"
        );
        let flux = object(
            "kustomize.toolkit.fluxcd.io/v1 Kustomization flux/over",
            &spec,
        );
        let template = cluster("v1.31.8", GOOD).replace("  clusterName: edge\n", "");
        overlay(&flux, "").file("base/edge.yaml", template)
    };
    let cases = [
        ("without", flux("{}")),
        ("with", flux("{cluster.x-k8s.io/cluster-name: edge}")),
    ];
    checked(cases).is(str![[r#"
without
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge-md/edge-md v1.31.8 (base/edge.yaml:22:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:28:49) holds 1.31.8
with
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:22:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:28:49) holds 1.31.8

"#]]);
}

/// An application of a chart with a cluster.
fn deployed(object: &str) -> Stage {
    project()
        .file("object.yaml", object)
        .file(
            "chart/Chart.yaml",
            "apiVersion: v2\nname: edge\nversion: 1.0.0\n",
        )
        .file("chart/values.yaml", "v: v1.31.8\n")
        .file(
            "chart/templates/edge.yaml",
            cluster("{{ .Values.v }}", GOOD),
        )
        .file(
            "other/Chart.yaml",
            "apiVersion: v2\nname: other\nversion: 1.0.0\n",
        )
        .file("other/values.yaml", "v: v1.31.8\n")
        .file(
            "other/templates/edge.yaml",
            cluster("{{ .Values.v }}", GOOD),
        )
}

#[test]
fn a_field_that_is_not_carried_out_leaves_the_chart_unchecked() {
    let release = |fields: &str| {
        let spec = format!(
            "spec: {{chart: {{spec: {{chart: ./chart, sourceRef: {{kind: GitRepository, name: a}}}}}}, {fields}}}"
        );
        object("helm.toolkit.fluxcd.io/v2 HelmRelease apps/edge", &spec)
    };
    let cases = [
        ("a release", release("interval: 5m")),
        (
            "one that keeps values",
            release("upgrade: {preserveValues: true}"),
        ),
        (
            "an application",
            application("{path: chart, helm: {skipCrds: true}}"),
        ),
        ("a plugin", application("{path: chart, plugin: {name: a}}")),
        (
            "a version of Kubernetes",
            application("{path: chart, helm: {kubeVersion: v1.31.8}}"),
        ),
        (
            "a hydrator",
            application("{path: chart}").replace("  source:", "  sourceHydrator: {}\n  source:"),
        ),
    ];
    let cases = cases.map(|(name, object)| (name, deployed(&object)));
    checked(cases).is(str![[r#"
a release
    ./edge/control-plane v1.31.8 (chart/values.yaml:1:4), ./edge/edge-md v1.31.8 (chart/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    other/edge/control-plane v1.31.8 (other/values.yaml:1:4), other/edge/edge-md v1.31.8 (other/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.31.8 (other/templates/edge.yaml:29:49) holds 1.31.8
one that keeps values
    warning[composition-unsupported] object.yaml:2:1 `apiVersion: helm.toolkit.fluxcd.io/v2`
    edge/control-plane v1.31.8 (other/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.31.8 (other/templates/edge.yaml:29:49) holds 1.31.8
    edge/edge: unknown (the values of its chart are not known)
    edge/edge-md v1.31.8 (other/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.31.8 (other/templates/edge.yaml:29:49) holds 1.31.8
an application
    ./edge/control-plane v1.31.8 (chart/values.yaml:1:4), ./edge/edge-md v1.31.8 (chart/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    other/edge/control-plane v1.31.8 (other/values.yaml:1:4), other/edge/edge-md v1.31.8 (other/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.31.8 (other/templates/edge.yaml:29:49) holds 1.31.8
a plugin
a version of Kubernetes
a hydrator
    warning[composition-unsupported] object.yaml:2:1 `apiVersion: argoproj.io/v1alpha1`
    app/edge: unknown (the values of its chart are not known)
    edge/control-plane v1.31.8 (other/values.yaml:1:4), edge/edge-md v1.31.8 (other/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.31.8 (other/templates/edge.yaml:29:49) holds 1.31.8

"#]]);
}

#[test]
fn each_source_that_is_a_chart_is_deployed() {
    let sources = "[{path: other, helm: {releaseName: b, namespace: n, parameters: [{name: v, value: v1.30.2}]}}, {path: chart}, {repoURL: a, ref: x}]";
    let both = application("{}").replace("source: {}", &format!("sources: {sources}"));
    checked([("both", deployed(&both))]).is(str![[r#"
both
    error[k8s-version-mismatch] ./edge#2/control-plane other/templates/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` object.yaml:7:94 `v1.30.2` => v1.30.2
    ./edge/control-plane v1.31.8 (chart/values.yaml:1:4), ./edge/edge-md v1.31.8 (chart/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    ./edge#2/control-plane v1.30.2 (object.yaml:7:94), ./edge#2/edge-md v1.30.2 (object.yaml:7:94): mismatched, ubuntu-2204-kube-v1.31.8 (other/templates/edge.yaml:29:49) holds 1.31.8

"#]]);
}

#[test]
fn the_environment_of_a_source_is_filled_in() {
    let source = |helm: &str| {
        let source = format!("{{path: chart, repoURL: r, targetRevision: main, helm: {{{helm}}}}}");
        let app = application(&source).replace("spec:\n", "spec:\n  project: p\n");
        let project = deployed(&app)
            .file("env/a.yaml", "from: a\na: 1\n")
            .file("env/b.yaml", "from: b\nb: 1\n")
            .file("env/app.yaml", "from: app\n")
            .file("env/deep/c.yaml", "from: c\nc: 1\n");
        releases(&project, "object.yaml").join("\n")
    };
    let lines = [
        source("valueFiles: ['/env/*.yaml']"),
        source("valueFiles: ['/env/[ab].yaml', ../env/a.yaml, '../env/?.yaml']"),
        source("valueFiles: ['/env/**/*.yaml', '/env/${ARGOCD_APP_NAME}.yaml']"),
        source("valueFiles: ['/env/no*.yaml'], ignoreMissingValueFiles: true"),
        source("valueFiles: ['/env/no*.yaml']"),
        source("valueFiles: ['https://example.org/a.yaml']"),
        source(
            "parameters: [{name: x, value: '$ARGOCD_APP_NAME-${ARGOCD_APP_NAMESPACE}-$$-${ARGOCD_APP_PROJECT_NAME}-$ARGOCD_APP_SOURCE_PATH/$ARGOCD_APP_SOURCE_REPO_URL@$ARGOCD_APP_SOURCE_TARGET_REVISION-$NO-${NO}-$-${'}]",
        ),
        source("parameters: [{name: x, value: '$ARGOCD_APP_REVISION'}]"),
    ];
    lines.join("\n").is(str![[r#"
app in `apps`
  a = 1 (env/a.yaml:2:4)
  b = 1 (env/b.yaml:2:4)
  from = "b" (env/b.yaml:1:7)
  v = "v1.31.8" (chart/values.yaml:1:4)
app in `apps`
  a = 1 (env/a.yaml:2:4)
  b = 1 (env/b.yaml:2:4)
  from = "a" (env/a.yaml:1:7)
  v = "v1.31.8" (chart/values.yaml:1:4)
app in `apps`
  a = 1 (env/a.yaml:2:4)
  b = 1 (env/b.yaml:2:4)
  c = 1 (env/deep/c.yaml:2:4)
  from = "app" (env/app.yaml:1:7)
  v = "v1.31.8" (chart/values.yaml:1:4)
app in `apps`
  v = "v1.31.8" (chart/values.yaml:1:4)
object in ``
  composition-failed: there is no file `/env/no*.yaml` (object.yaml:8:79)
app in `apps`
  missing HelmChart/chart https://example.org/a.yaml
  v = "v1.31.8" (chart/values.yaml:1:4)
app in `apps`
  v = "v1.31.8" (chart/values.yaml:1:4)
  x = "app-apps-$-p-chart/r@main---$-${" (object.yaml:8:96)
object in ``
  composition-unsupported: `$ARGOCD_APP_REVISION` is known only where Argo CD runs (object.yaml:8:96)
"#]]);
}

/// Each is the answer of Flux's own tests.
#[test]
fn a_target_path_is_read_as_helm_reads_it() {
    let value = |path: &str, value: &str, literal: bool| {
        let map = object("v1 ConfigMap apps/m", &format!("data: {{k: '{value}'}}"));
        let from = format!(
            "[{{kind: ConfigMap, name: m, valuesKey: k, targetPath: '{path}', literal: {literal}}}]"
        );
        let release = format!(
            "spec: {{chart: {{spec: {{chart: ./chart, sourceRef: {{kind: GitRepository, name: a}}}}}}, valuesFrom: {from}}}"
        );
        let release = object("helm.toolkit.fluxcd.io/v2 HelmRelease apps/edge", &release);
        releases(&deployed(&format!("{release}{map}")), "object.yaml").join("\n")
    };
    let lines = [
        value("outer.inner", "value", false),
        value("name", "{a,b,c}", false),
        value("name", "value1\\,value2", false),
        value("merge.at", "true", false),
        value("merge.at", "\"true\"", false),
        value("merge.at[2]", "value", false),
        value("nodeSelector.kubernetes\\.io/role", "master", false),
        value("a.application\\.yml.content", "x: 1, {y}\\", true),
        value("a[0].b", "x", true),
    ];
    lines.join("\n").is(str![[r#"
edge in `apps`
  outer.inner = "value" (object.yaml:10:11)
  v = "v1.31.8" (chart/values.yaml:1:4)
edge in `apps`
  name.0 = "a" (object.yaml:10:11)
  name.1 = "b" (object.yaml:10:11)
  name.2 = "c" (object.yaml:10:11)
  v = "v1.31.8" (chart/values.yaml:1:4)
edge in `apps`
  name = "value1,value2" (object.yaml:10:11)
  v = "v1.31.8" (chart/values.yaml:1:4)
edge in `apps`
  merge.at = true (object.yaml:10:11)
  v = "v1.31.8" (chart/values.yaml:1:4)
edge in `apps`
  merge.at = "true" (object.yaml:10:11)
  v = "v1.31.8" (chart/values.yaml:1:4)
edge in `apps`
  merge.at.0 = null (nowhere)
  merge.at.1 = null (nowhere)
  merge.at.2 = "value" (object.yaml:10:11)
  v = "v1.31.8" (chart/values.yaml:1:4)
edge in `apps`
  nodeSelector.kubernetes.io/role = "master" (object.yaml:10:11)
  v = "v1.31.8" (chart/values.yaml:1:4)
edge in `apps`
  a.application.yml.content = "x: 1, {y}\\" (object.yaml:10:11)
  v = "v1.31.8" (chart/values.yaml:1:4)
edge in `apps`
  a.0.b = "x" (object.yaml:10:11)
  v = "v1.31.8" (chart/values.yaml:1:4)
"#]]);
}

#[test]
fn what_a_resource_set_fills_in_is_a_variable() {
    let template = cluster("<< inputs.version >>", GOOD);
    let resources = template.split("---\n").map(|object| {
        let lines: Vec<String> = object.lines().map(|line| format!("    {line}")).collect();
        format!("  -\n{}\n", lines.join("\n"))
    });
    let resources: String = resources.collect();
    let set = object(
        "fluxcd.controlplane.io/v1 ResourceSet apps/edge",
        &format!("spec:\n  inputs: [{{version: v1.30.2}}]\n  resources:\n{resources}"),
    );
    checked([("a set", project().file("set.yaml", set))]).is(str![[r#"
a set
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane << inputs.version >> (set.yaml:20:16), edge/edge-md << inputs.version >> (set.yaml:31:20): unknown (its image or version is a variable)

"#]]);
}

/// Two management clusters share what they deploy, and each has its own ConfigMap of one name.
#[test]
fn variables_of_a_config_map_that_is_there_twice_or_may_be_there_are_not_known() {
    let flux = |optional: bool| {
        object(
            "kustomize.toolkit.fluxcd.io/v1 Kustomization flux/inner",
            &format!(
                "spec: {{path: ./inner, postBuild: {{substituteFrom: [{{kind: ConfigMap, name: a, optional: {optional}}}]}}}}"
            ),
        )
    };
    let of = |version: &str| object("v1 ConfigMap flux/a", &format!("data: {{V: {version}}}"));
    let stage = |optional| {
        project()
            .file("infra/ks.yaml", flux(optional))
            .file("inner/edge.yaml", cluster("${V:=v1.31.8}", GOOD))
    };
    let cases = [
        (
            "one",
            stage(false).file("clusters/x/cm.yaml", of("v1.31.8")),
        ),
        (
            "two",
            stage(false)
                .file("clusters/x/cm.yaml", of("v1.31.8"))
                .file("clusters/y/cm.yaml", of("v1.30.2")),
        ),
        ("none", stage(false)),
        ("one that may be there", stage(true)),
    ];
    checked(cases).is(str![[r#"
one
    edge/control-plane v1.31.8 (clusters/x/cm.yaml:5:11), edge/edge-md v1.31.8 (clusters/x/cm.yaml:5:11): by_name, ubuntu-2204-kube-v1.31.8 (inner/edge.yaml:29:49) holds 1.31.8
two
none
one that may be there
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane, edge/edge-md: unknown (its image or version is a variable)

"#]]);
}

/// Argo CD takes the type of a source from its settings: it builds no kustomization for `directory`.
#[test]
fn a_source_whose_settings_are_of_another_type_than_its_folder_is_unknown() {
    let source = |path: &str, settings: &str| {
        overlay(&application(&format!("{{path: {path}, {settings}}}")), "")
            .file(
                "plain/edge.yaml",
                cluster("v1.31.8", GOOD).replace("edge", "plain"),
            )
            .file(
                "chart/Chart.yaml",
                "apiVersion: v2\nname: c\nversion: 1.0.0\n",
            )
            .file(
                "chart/templates/edge.yaml",
                cluster("v1.31.8", GOOD).replace("edge", "chart"),
            )
    };
    let cases = [
        "over, directory: {recurse: true}",
        "over, directory: {exclude: '*.json'}",
        "over, directory: {recurse: false, exclude: ''}",
        "over, helm: {releaseName: x}",
        "over, kustomize: {namePrefix: p-}",
        "over, kustomize: {namePrefix: p-}, helm: {releaseName: x}",
        "plain, kustomize: {namePrefix: p-}",
        "plain, directory: {recurse: true}",
        "chart, directory: {recurse: true}",
        "chart, kustomize: {namePrefix: p-}",
        "chart, helm: {releaseName: x}",
        "none, helm: {releaseName: x}",
    ];
    let stages = cases.map(|case| {
        let (path, settings) = case.split_once(", ").expect("a path and settings");
        (case, source(path, settings))
    });
    checked(stages).is(str![[r#"
over, directory: {recurse: true}
    warning[composition-unsupported] object.yaml:7:11 `{path: over, directory: {recurse: true}}`
    chart/control-plane v1.31.8 (chart/templates/edge.yaml:12:12), chart/chart-md v1.31.8 (chart/templates/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
    plain/control-plane v1.31.8 (plain/edge.yaml:12:12), plain/plain-md v1.31.8 (plain/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (plain/edge.yaml:29:49) holds 1.31.8
over, directory: {exclude: '*.json'}
    warning[composition-unsupported] object.yaml:7:11 `{path: over, directory: {exclude: '*.json'}}`
    chart/control-plane v1.31.8 (chart/templates/edge.yaml:12:12), chart/chart-md v1.31.8 (chart/templates/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
    plain/control-plane v1.31.8 (plain/edge.yaml:12:12), plain/plain-md v1.31.8 (plain/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (plain/edge.yaml:29:49) holds 1.31.8
over, directory: {recurse: false, exclude: ''}
    chart/control-plane v1.31.8 (chart/templates/edge.yaml:12:12), chart/chart-md v1.31.8 (chart/templates/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    plain/control-plane v1.31.8 (plain/edge.yaml:12:12), plain/plain-md v1.31.8 (plain/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (plain/edge.yaml:29:49) holds 1.31.8
over, helm: {releaseName: x}
    warning[composition-unsupported] object.yaml:7:11 `{path: over, helm: {releaseName: x}}`
    chart/control-plane v1.31.8 (chart/templates/edge.yaml:12:12), chart/chart-md v1.31.8 (chart/templates/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
    plain/control-plane v1.31.8 (plain/edge.yaml:12:12), plain/plain-md v1.31.8 (plain/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (plain/edge.yaml:29:49) holds 1.31.8
over, kustomize: {namePrefix: p-}
    error[reference-dangling] p-edge base/edge.yaml:5:105 `edge-cp` => namePrefix | nameSuffix | p-edge-cp | nameReference | configurations
    error[reference-dangling] p-edge-cp/control-plane base/edge.yaml:14:116 `edge` => namePrefix | nameSuffix | p-edge | nameReference | configurations
    error[reference-dangling] edge/p-edge-md base/edge.yaml:24:118 `edge` => namePrefix | nameSuffix | p-edge | nameReference | configurations
    chart/control-plane v1.31.8 (chart/templates/edge.yaml:12:12), chart/chart-md v1.31.8 (chart/templates/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    edge/p-edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its machine template is not among the manifests)
    p-edge/control-plane: unknown (neither its control plane nor a node pool is among the manifests)
    p-edge-cp/control-plane v1.31.8 (base/edge.yaml:12:12): unknown (its machine template is not among the manifests)
    plain/control-plane v1.31.8 (plain/edge.yaml:12:12), plain/plain-md v1.31.8 (plain/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (plain/edge.yaml:29:49) holds 1.31.8
over, kustomize: {namePrefix: p-}, helm: {releaseName: x}
    warning[composition-unsupported] object.yaml:7:11 `{path: over, kustomize: {namePrefix: p-}, helm: {releaseName: x}}`
    chart/control-plane v1.31.8 (chart/templates/edge.yaml:12:12), chart/chart-md v1.31.8 (chart/templates/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
    plain/control-plane v1.31.8 (plain/edge.yaml:12:12), plain/plain-md v1.31.8 (plain/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (plain/edge.yaml:29:49) holds 1.31.8
plain, kustomize: {namePrefix: p-}
    warning[composition-unsupported] object.yaml:7:11 `{path: plain, kustomize: {namePrefix: p-}}`
    chart/control-plane v1.31.8 (chart/templates/edge.yaml:12:12), chart/chart-md v1.31.8 (chart/templates/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    plain/control-plane v1.31.8 (plain/edge.yaml:12:12), plain/plain-md v1.31.8 (plain/edge.yaml:23:16): unknown (its kustomization does not build)
plain, directory: {recurse: true}
    chart/control-plane v1.31.8 (chart/templates/edge.yaml:12:12), chart/chart-md v1.31.8 (chart/templates/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    plain/control-plane v1.31.8 (plain/edge.yaml:12:12), plain/plain-md v1.31.8 (plain/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (plain/edge.yaml:29:49) holds 1.31.8
chart, directory: {recurse: true}
    warning[composition-unsupported] object.yaml:7:11 `{path: chart, directory: {recurse: true}}`
    app/c: unknown (the values of its chart are not known)
    chart/control-plane v1.31.8 (chart/templates/edge.yaml:12:12), chart/chart-md v1.31.8 (chart/templates/edge.yaml:23:16): unknown (its kustomization does not build)
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    plain/control-plane v1.31.8 (plain/edge.yaml:12:12), plain/plain-md v1.31.8 (plain/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (plain/edge.yaml:29:49) holds 1.31.8
chart, kustomize: {namePrefix: p-}
    warning[composition-unsupported] object.yaml:2:1 `apiVersion: argoproj.io/v1alpha1`
    app/c: unknown (the values of its chart are not known)
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    plain/control-plane v1.31.8 (plain/edge.yaml:12:12), plain/plain-md v1.31.8 (plain/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (plain/edge.yaml:29:49) holds 1.31.8
chart, helm: {releaseName: x}
none, helm: {releaseName: x}
    chart/control-plane v1.31.8 (chart/templates/edge.yaml:12:12), chart/chart-md v1.31.8 (chart/templates/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    plain/control-plane v1.31.8 (plain/edge.yaml:12:12), plain/plain-md v1.31.8 (plain/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (plain/edge.yaml:29:49) holds 1.31.8

"#]]);
}

/// Its sources count too where it is said which repository this is.
#[test]
fn an_application_counts_however_it_is_written() {
    let application = |repository: &str, path: &str, kustomize: &str| {
        let source = format!(
            r#""repoURL": "https://h/{repository}", "path": "{path}", "kustomize": {kustomize}"#
        );
        let head = r#""apiVersion": "argoproj.io/v1alpha1", "kind": "Application""#;
        format!(r#"{{{head}, "metadata": {{"name": "app"}}, "spec": {{"source": {{{source}}}}}}}"#)
    };
    let list = |items: &[&str]| {
        let items: String = items.iter().map(|item| format!("- {item}\n")).collect();
        format!("apiVersion: v1\nkind: List\nitems:\n{items}")
    };
    let target = r#""target": {"kind": "KubeadmControlPlane"}"#;
    let kustomize = format!(r#"{{"patches": [{{{target}, "patch": "{VERSION}"}}]}}"#);
    let [own, other] = ["own", "other"].map(|name| application(name, "over", &kustomize));
    let known = ["over", "base"].map(|path| application("own", path, "{}"));
    let cases = [
        ("in braces", "object.yaml", own.clone()),
        ("as JSON", "object.json", own.clone()),
        ("in a list", "object.yaml", list(&[&own])),
        (
            "in a list, of another repository",
            "object.yaml",
            list(&[&other, &known[0], &known[1]]),
        ),
    ];
    let cases = cases.map(|(name, file, text)| (name, overlay("", "").file(file, text)));
    judged(cases).is(str![[r#"
in braces
    edge/control-plane v1.30.2 (object.yaml:1:280): mismatched, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
as JSON
    edge/control-plane v1.30.2 (object.json:1:280): mismatched, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
in a list
    edge/control-plane v1.30.2 (object.yaml:4:282): mismatched, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
in a list, of another repository
    ./edge/control-plane v1.31.8 (base/edge.yaml:12:12), ./edge/edge-md v1.31.8 (base/edge.yaml:23:16), ./edge#2/control-plane v1.31.8 (base/edge.yaml:12:12), ./edge#2/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8

"#]]);
}

/// Argo CD builds the kustomization, unless the settings are those of a chart.
#[test]
fn a_folder_with_a_chart_and_a_kustomization_is_what_argo_cd_takes_it_for() {
    let stage = |settings: &str| {
        project()
            .file(
                "object.yaml",
                application(&format!("{{path: both{settings}}}")),
            )
            .file(
                "both/Chart.yaml",
                "apiVersion: v2\nname: c\nversion: 1.0.0\n",
            )
            .file("both/values.yaml", "v: v1.31.8\n")
            .file("both/templates/edge.yaml", cluster("{{ .Values.v }}", GOOD))
            .file(
                "both/kustomization.yaml",
                "resources: [made.yaml]\nnamespace: k\n",
            )
            .file("both/made.yaml", cluster("v1.30.2", GOOD))
    };
    let cases = [
        "",
        ", helm: {parameters: [{name: v, value: v1.29.9}]}",
        ", kustomize: {namespace: z}",
    ];
    checked(cases.map(|case| (format!("both{case}"), stage(case)))).is(str![[r#"
both
    error[k8s-version-mismatch] edge/control-plane both/made.yaml:29:49 `ubuntu-2204-kube-v1.31.8` both/made.yaml:12:12 `v1.30.2` => v1.30.2
    warning[composition-unsupported] object.yaml:7:18 `both`
    c/c: unknown (the values of its chart are not known)
    edge/control-plane v1.30.2 (both/made.yaml:12:12), edge/edge-md v1.30.2 (both/made.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (both/made.yaml:29:49) holds 1.31.8
both, helm: {parameters: [{name: v, value: v1.29.9}]}
    error[k8s-version-mismatch] both/edge/control-plane both/made.yaml:29:49 `ubuntu-2204-kube-v1.31.8` both/made.yaml:12:12 `v1.30.2` => v1.30.2
    error[k8s-version-mismatch] ./edge/control-plane both/templates/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` object.yaml:7:61 `v1.29.9` => v1.29.9
    ./edge/control-plane v1.29.9 (object.yaml:7:61), ./edge/edge-md v1.29.9 (object.yaml:7:61): mismatched, ubuntu-2204-kube-v1.31.8 (both/templates/edge.yaml:29:49) holds 1.31.8
    both/edge/control-plane v1.30.2 (both/made.yaml:12:12), both/edge/edge-md v1.30.2 (both/made.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (both/made.yaml:29:49) holds 1.31.8
both, kustomize: {namespace: z}
    error[k8s-version-mismatch] edge/control-plane both/made.yaml:29:49 `ubuntu-2204-kube-v1.31.8` both/made.yaml:12:12 `v1.30.2` => v1.30.2
    warning[composition-unsupported] object.yaml:7:18 `both`
    c/c: unknown (the values of its chart are not known)
    edge/control-plane v1.30.2 (both/made.yaml:12:12), edge/edge-md v1.30.2 (both/made.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (both/made.yaml:29:49) holds 1.31.8

"#]]);
}

/// Argo CD does not build it: it has no kustomization.
#[test]
fn plain_files_below_a_source_of_another_type_are_unknown_as_far_as_it_reads_them() {
    let stage = |settings: &str| {
        let named = |name: &str| cluster("v1.31.8", GOOD).replace("edge", name);
        project()
            .file(
                "object.yaml",
                application(&format!("{{path: plain, {settings}}}")),
            )
            .file("plain/edge.yaml", named("edge"))
            .file("plain/deep/edge.yaml", named("deep"))
            .file("beside/edge.yaml", named("beside"))
    };
    let cases = [
        "plugin: {name: p}",
        "plugin: {name: p}, directory: {recurse: true}",
    ];
    judged(cases.map(|case| (case, stage(case)))).is(str![[r#"
plugin: {name: p}
    beside/control-plane v1.31.8 (beside/edge.yaml:12:12), beside/beside-md v1.31.8 (beside/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (beside/edge.yaml:29:49) holds 1.31.8
    deep/control-plane v1.31.8 (plain/deep/edge.yaml:12:12), deep/deep-md v1.31.8 (plain/deep/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (plain/deep/edge.yaml:29:49) holds 1.31.8
    edge/control-plane v1.31.8 (plain/edge.yaml:12:12), edge/edge-md v1.31.8 (plain/edge.yaml:23:16): unknown (its kustomization does not build)
plugin: {name: p}, directory: {recurse: true}
    beside/control-plane v1.31.8 (beside/edge.yaml:12:12), beside/beside-md v1.31.8 (beside/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (beside/edge.yaml:29:49) holds 1.31.8
    deep/control-plane v1.31.8 (plain/deep/edge.yaml:12:12), deep/deep-md v1.31.8 (plain/deep/edge.yaml:23:16), edge/control-plane v1.31.8 (plain/edge.yaml:12:12), edge/edge-md v1.31.8 (plain/edge.yaml:23:16): unknown (its kustomization does not build)

"#]]);
}

/// As Argo CD Image Updater writes them.
#[test]
fn a_file_that_argo_cd_merges_over_a_source_leaves_it_unknown() {
    let stage = || overlay(&application("{repoURL: r, path: over}"), "");
    let patch = format!(
        "kustomize: {{patches: [{{target: {{kind: KubeadmControlPlane}}, patch: '{VERSION}'}}]}}\n"
    );
    let cases = [
        (
            "of the Application",
            stage().file("over/.argocd-source-app.yaml", &patch),
        ),
        ("of all", stage().file("over/.argocd-source.yaml", &patch)),
        (
            "of another",
            stage().file("over/.argocd-source-other.yaml", &patch),
        ),
    ];
    checked(cases).is(str![[r#"
of the Application
of all
    warning[composition-unsupported] object.yaml:7:11 `{repoURL: r, path: over}`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
of another
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8

"#]]);
}

/// What deploys a folder is patched where it is deployed itself, as of each management cluster.
#[test]
fn what_a_build_changes_of_what_deploys_a_folder_leaves_the_folder_unknown() {
    let flux = |name: &str, spec: &str| {
        object(
            &format!("kustomize.toolkit.fluxcd.io/v1 Kustomization flux/{name}"),
            &format!("spec: {{{spec}}}"),
        )
    };
    let add = "patches: [{target: {kind: Kustomization}, patch: '- {op: add, path: /spec/postBuild, value: {substitute: {V: v1.30.2}}}'}]";
    let infra = |kustomization: &str| {
        let resources = format!("resources: [../../infra]\n{kustomization}\n");
        project()
            .file(
                "infra/kustomization.yaml",
                "resources: [ks.yaml, cm.yaml]\n",
            )
            .file(
                "infra/ks.yaml",
                flux(
                    "inner",
                    "path: ./inner, postBuild: {substituteFrom: [{kind: ConfigMap, name: a}]}",
                ),
            )
            .file(
                "infra/cm.yaml",
                object("v1 ConfigMap flux/a", "data: {K: k}"),
            )
            .file("clusters/prod/kustomization.yaml", resources)
            .file("inner/edge.yaml", cluster("${V:=v1.31.8}", GOOD))
    };
    let map = "patches: [{target: {kind: ConfigMap}, patch: '- {op: add, path: /data/V, value: v1.30.2}'}]";
    let outer = |more: &str| {
        infra("").file(
            "outer.yaml",
            flux("outer", &format!("path: ./clusters/prod{more}")),
        )
    };
    let application = |kustomization: &str| {
        overlay(
            &application("{repoURL: r, path: over, kustomize: {commonAnnotations: {a: b}}}"),
            "",
        )
        .file(
            "kustomization.yaml",
            format!("resources: [object.yaml]\n{kustomization}\n"),
        )
    };
    let source = "patches: [{target: {kind: Application}, patch: '- {op: add, path: /spec/source/kustomize/namePrefix, value: a-}'}]";
    let cases = [
        ("labels", infra("labels: [{pairs: {a: b}}]")),
        ("a patch", infra(add)),
        ("a map", infra(map)),
        ("what does not build", infra("helmCharts: [{name: a}]")),
        ("an outer one", outer("")),
        ("one that patches", outer(&format!(", {add}"))),
        ("an Application", application("")),
        ("one that is patched", application(source)),
    ];
    checked(cases).is(str![[r#"
labels
    edge/control-plane v1.31.8 (inner/edge.yaml:12:12), edge/edge-md v1.31.8 (inner/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (inner/edge.yaml:29:49) holds 1.31.8
a patch
    warning[composition-unsupported] infra/ks.yaml:2:1 `apiVersion: kustomize.toolkit.fluxcd.io/v1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (inner/edge.yaml:12:12), edge/edge-md v1.31.8 (inner/edge.yaml:23:16): unknown (its kustomization does not build)
a map
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane, edge/edge-md: unknown (its image or version is a variable)
what does not build
    warning[composition-failed] clusters/prod/kustomization.yaml:2:14 `{name: a}`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (inner/edge.yaml:12:12), edge/edge-md v1.31.8 (inner/edge.yaml:23:16): unknown (its kustomization does not build)
an outer one
    edge/control-plane v1.31.8 (inner/edge.yaml:12:12), edge/edge-md v1.31.8 (inner/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (inner/edge.yaml:29:49) holds 1.31.8
one that patches
    warning[composition-unsupported] infra/ks.yaml:2:1 `apiVersion: kustomize.toolkit.fluxcd.io/v1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (inner/edge.yaml:12:12), edge/edge-md v1.31.8 (inner/edge.yaml:23:16): unknown (its kustomization does not build)
an Application
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
one that is patched
    warning[composition-unsupported] object.yaml:2:1 `apiVersion: argoproj.io/v1alpha1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)

"#]]);
}

/// What Flux takes from another repository is no folder of this one, whatever its path.
#[test]
fn a_git_repository_of_flux_is_another_one_by_its_address() {
    let source = |name: &str, url: &str| {
        let name = format!("source.toolkit.fluxcd.io/v1 GitRepository flux-system/{name}");
        object(&name, &format!("spec: {{url: '{url}'}}"))
    };
    let flux = |name: &str, source: &str, path: &str, more: &str| {
        let name = format!("kustomize.toolkit.fluxcd.io/v1 Kustomization flux-system/{name}");
        let spec =
            format!("path: {path}, sourceRef: {{kind: GitRepository, name: {source}}}{more}");
        object(&name, &format!("spec: {{{spec}}}"))
    };
    let patch =
        format!(", patches: [{{target: {{kind: KubeadmControlPlane}}, patch: '{VERSION}'}}]");
    let own = flux("own", "fleet", "base", "") + &flux("second", "fleet", "component", "");
    let sources = |url: &str| source("fleet", "ssh://git@host/group/fleet") + &source("other", url);
    let cases = [
        ("another repository", "https://host/group/other.git"),
        ("a mirror of this one", "https://mirror/fleet"),
    ];
    let cases = cases.map(|(name, url)| {
        let all = sources(url) + &own + &flux("patched", "other", "over", &patch);
        (name, overlay(&all, ""))
    });
    checked(cases).is(str![[r#"
another repository
    base/edge/control-plane v1.31.8 (base/edge.yaml:12:12), base/edge/edge-md v1.31.8 (base/edge.yaml:23:16), over/edge/control-plane v1.31.8 (base/edge.yaml:12:12), over/edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a mirror of this one
    error[version-skew] over/edge/edge-md base/edge.yaml:23:16 `v1.31.8` object.yaml:25:167 `v1.30.2` => v1.31.8
    error[k8s-version-mismatch] over/edge/control-plane base/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` object.yaml:25:167 `v1.30.2` => v1.30.2
    base/edge/control-plane v1.31.8 (base/edge.yaml:12:12), base/edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    over/edge/control-plane v1.30.2 (object.yaml:25:167): mismatched, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    over/edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8

"#]]);
}

/// Of several repositories this one is that of a remote, else the one with the most paths here. Forks and mirrors have its name.
#[test]
fn a_source_of_another_repository_is_not_looked_for_here() {
    let one = |name: &str, source: &str| {
        application(source).replace("name: app,", &format!("name: {name},"))
    };
    let patch = format!(
        "kustomize: {{patches: [{{target: {{kind: KubeadmControlPlane}}, patch: '{VERSION}'}}]}}"
    );
    let patched = |url: &str| {
        one(
            "patched",
            &format!("{{repoURL: '{url}', path: over, {patch}}}"),
        )
    };
    let own = one(
        "own",
        "{repoURL: 'https://host/group/fleet.git', path: base}",
    ) + &one(
        "second",
        "{repoURL: 'git@host:group/fleet', path: component}",
    );
    let config = "[core]\n\turl = x\n[remote \"origin\"]\n\turl = https://host/group/other\n";
    let with_set = |url: &str| {
        let set = format!(
            "spec:
  goTemplate: true
  generators: [{{git: {{repoURL: '{url}', directories: [{{path: over}}]}}}}]
  template: {{metadata: {{name: a}}, spec: {{source: {{repoURL: 'https://host/group/fleet', path: over, {patch}}}}}}}
"
        );
        overlay(
            &(own.clone() + &object("argoproj.io/v1alpha1 ApplicationSet all", &set)),
            "",
        )
    };
    let other = own.clone() + &patched("https://host/group/other");
    let top = |name: &str| one(name, "{repoURL: 'https://host/group/other', path: .}");
    let tops = top("a") + &top("b");
    let cases = [
        (
            "the only one",
            overlay(&patched("https://host/group/other"), ""),
        ),
        ("another", overlay(&other, "")),
        (
            "others of their tops",
            overlay(&(other.clone() + &tops), ""),
        ),
        (
            "a fork",
            overlay(&(own.clone() + &patched("https://mirror/fleet")), ""),
        ),
        (
            "the one of a remote",
            overlay(&other, "")
                .file(".git/HEAD", "ref: refs/heads/main\n")
                .file(".git/config", config),
        ),
        ("a set of this one", with_set("https://host/group/fleet")),
        ("a set of another", with_set("https://host/group/other")),
    ];
    checked(cases).is(str![[r#"
the only one
    error[version-skew] edge/edge-md base/edge.yaml:23:16 `v1.31.8` object.yaml:7:173 `v1.30.2` => v1.31.8
    error[k8s-version-mismatch] edge/control-plane base/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` object.yaml:7:173 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (object.yaml:7:173): mismatched, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
another
others of their tops
    base/edge/control-plane v1.31.8 (base/edge.yaml:12:12), base/edge/edge-md v1.31.8 (base/edge.yaml:23:16), over/edge/control-plane v1.31.8 (base/edge.yaml:12:12), over/edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a fork
    error[version-skew] ./edge/edge-md base/edge.yaml:23:16 `v1.31.8` object.yaml:21:169 `v1.30.2` => v1.31.8
    error[k8s-version-mismatch] ./edge/control-plane base/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` object.yaml:21:169 `v1.30.2` => v1.30.2
    ./edge/control-plane v1.30.2 (object.yaml:21:169): mismatched, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    ./edge/edge-md v1.31.8 (base/edge.yaml:23:16), base/edge/control-plane v1.31.8 (base/edge.yaml:12:12), base/edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
the one of a remote
    error[version-skew] edge/edge-md base/edge.yaml:23:16 `v1.31.8` object.yaml:21:173 `v1.30.2` => v1.31.8
    error[k8s-version-mismatch] edge/control-plane base/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` object.yaml:21:173 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (object.yaml:21:173): mismatched, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a set of this one
    error[version-skew] ./edge/edge-md base/edge.yaml:23:16 `v1.31.8` object.yaml:22:212 `v1.30.2` => v1.31.8
    error[k8s-version-mismatch] ./edge/control-plane base/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` object.yaml:22:212 `v1.30.2` => v1.30.2
    ./edge/control-plane v1.30.2 (object.yaml:22:212): mismatched, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
    ./edge/edge-md v1.31.8 (base/edge.yaml:23:16), base/edge/control-plane v1.31.8 (base/edge.yaml:12:12), base/edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a set of another
    warning[composition-unsupported] object.yaml:21:22 `{repoURL: 'https://host/group/other', directories: [{path: over}]}` => clusters
    ./edge/control-plane v1.31.8 (base/edge.yaml:12:12), ./edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
    base/edge/control-plane v1.31.8 (base/edge.yaml:12:12), base/edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8

"#]]);
}

#[test]
fn values_in_another_repository_are_not_looked_for_here() {
    let app = |url: &str| {
        let sources = format!("spec:
  sources:
  - {{repoURL: 'https://host/group/fleet', path: chart, helm: {{valueFiles: [$values/chart/values.yaml]}}}}
  - {{repoURL: '{url}', ref: values}}
");
        deployed(&object(
            "argoproj.io/v1alpha1 Application argocd/app",
            &sources,
        ))
    };
    let chart = "spec: {source: {repoURL: 'https://host/group/elsewhere', path: other}}";
    let chart = object("argoproj.io/v1alpha1 Application argocd/chart", chart);
    let cases = [
        ("of this one", app("https://host/group/fleet.git")),
        ("of another", app("https://host/group/values")),
        (
            "a chart of another",
            app("https://host/group/fleet").file(
                "more.yaml",
                chart
                    + &application("{repoURL: 'https://host/group/fleet', path: other/templates}"),
            ),
        ),
    ];
    checked(cases).is(str![[r#"
of this one
    ./edge/control-plane v1.31.8 (chart/values.yaml:1:4), ./edge/edge-md v1.31.8 (chart/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    other/edge/control-plane v1.31.8 (other/values.yaml:1:4), other/edge/edge-md v1.31.8 (other/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.31.8 (other/templates/edge.yaml:29:49) holds 1.31.8
of another
    warning[composition-unsupported] object.yaml:2:1 `apiVersion: argoproj.io/v1alpha1`
    app/edge: unknown (the values of its chart are not known)
    edge/control-plane v1.31.8 (other/values.yaml:1:4), edge/edge-md v1.31.8 (other/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.31.8 (other/templates/edge.yaml:29:49) holds 1.31.8
a chart of another
    warning[composition-unsupported] more.yaml:5:64 `other`
    edge/control-plane v1.31.8 (chart/values.yaml:1:4), edge/edge-md v1.31.8 (chart/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.31.8 (chart/templates/edge.yaml:29:49) holds 1.31.8
    other/other: unknown (the values of its chart are not known)

"#]]);
}

/// The kinds that deploy clusters have tables of all their fields: a key that no table has, and that is near one, is said.
#[test]
fn a_misspelled_field_is_said_with_the_near_one() {
    let chart = |source: &str| overlay(&application(source), "");
    checked([
        ("repoUrl", chart("{repoUrl: 'https://g/f', path: over}")),
        ("pth", chart("{repoURL: 'https://g/f', pth: over}")),
        (
            "nameprefix",
            chart("{repoURL: 'https://g/f', path: over, kustomize: {nameprefx: a-}}"),
        ),
        ("path", chart("{repoURL: 'https://g/f', path: over}")),
    ])
    .is(str![[r#"
repoUrl
    warning[key-misspelled] object.yaml:7:12 `repoUrl` => repoURL
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
pth
    warning[key-misspelled] object.yaml:7:36 `pth` => path
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
nameprefix
    warning[key-misspelled] object.yaml:7:60 `nameprefx` => namePrefix
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): unknown (its kustomization does not build)
path
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8

"#]]);
    let cluster = cluster("v1.31.8", GOOD);
    let topology = cluster.replacen("spec:\n", "spec:\n  topologyy: {class: a}\n", 1);
    let stage = project().file("edge.yaml", topology);
    checked([("topologyy", stage)]).is(str![[r#"
topologyy
    error[key-misspelled] edge edge.yaml:5:3 `topologyy` => topology
    edge/control-plane v1.31.8 (edge.yaml:13:12), edge/edge-md v1.31.8 (edge.yaml:24:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:30:49) holds 1.31.8

"#]]);
    let edit = |from: &str, to: &str| project().file("edge.yaml", cluster.replace(from, to));
    checked([
        ("a reference", edit("infrastructureRef", "infrastructureReff")),
        ("a version", edit("  version: ", "  verison: ")),
        (
            "a label is no field",
            edit(
                "name: edge-cp}\nspec:\n  replicas: 3\n  version: v1.31.8\n",
                "name: edge-cp, labels: {Version: a}}\nspec:\n  replicas: 3\n",
            ),
        ),
        ("an image", edit("{image: ", "{imagee: ")),
        (
            "a part of an image",
            edit("{filter: {name:", "{filter: {nam:"),
        ),
    ])
    .is(str![[r#"
a reference
    error[key-misspelled] edge edge.yaml:14:5 `infrastructureReff` => infrastructureRef
    error[key-misspelled] edge edge.yaml:24:7 `infrastructureReff` => infrastructureRef
    edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (no reference to a machine template)
a version
    error[key-misspelled] edge edge.yaml:12:3 `verison` => version
    error[key-misspelled] edge edge.yaml:23:7 `verison` => version
    edge/control-plane, edge/edge-md: unknown (no Kubernetes version), ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49)
a label is no field
    edge/control-plane: unknown (no Kubernetes version), ubuntu-2204-kube-v1.31.8 (edge.yaml:28:49)
    edge/edge-md v1.31.8 (edge.yaml:22:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:28:49) holds 1.31.8
an image
    error[key-misspelled] edge edge.yaml:29:26 `imagee` => image
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (the kind of its machine template is not known)
a part of an image
    error[key-misspelled] edge edge.yaml:29:43 `nam` => name
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (the kind of its machine template is not known)

"#]]);
}
