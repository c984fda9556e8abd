//! A chart is rendered exactly as its Helm would, or its node pools are unknown, with the reason: what Helm refuses, what is not in
//! the repository, and what names a chart and is not composed.

use std::path::Path;
use std::process::Command;

use snapbox::str;

use super::charts::{
    METADATA, OF_CLUSTER_API, RELEASE, RIGHT, TEMPLATE, VALUES, plain, version_in, with_chart,
};
use crate::programs;
use crate::support::manifests::object;
use crate::support::stage::{Is, Stage, assert_cases, assert_text, project, table};

/// What is said of charts, and the node pools.
fn said(stage: &Stage) -> Vec<String> {
    let text = stage.run("check").outcome.stdout;
    let lines = text.lines().filter(|line| line.contains("the chart `"));
    let mut lines: Vec<String> = lines.map(str::to_owned).collect();
    lines.extend(stage.check().pool_lines());
    lines
}

#[test]
fn a_dependency_that_is_not_there_leaves_the_node_pools_unknown() {
    let cases = [
        "name: common, version: 1.x",
        "name: common, version: 1.x, condition: common.enabled",
        "name: common, version: 1.x, tags: [lab]",
        // One of another version is there, and Helm renders it.
        "name: edge, version: 9.x, repository: 'file://../other'",
    ];
    let table = table(cases, |dependency| {
        let metadata = format!("{METADATA}dependencies:\n- {{{dependency}}}\n");
        let values = format!("{RIGHT}common: {{enabled: false}}\ntags: {{lab: true}}\n");
        let stage = with_chart(&values, &[("charts/edge/Chart.yaml", &metadata)]);
        stage.write("charts/other/Chart.yaml", METADATA);
        said(&stage)
    });
    table.is(str![[r#"
name: common, version: 1.x
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: it depends on `common`, which is not in `charts/`
    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): unknown (a dependency of its chart is not in the repository)
name: common, version: 1.x, condition: common.enabled
    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
name: common, version: 1.x, tags: [lab]
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: it depends on `common`, which is not in `charts/`
    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): unknown (a dependency of its chart is not in the repository)
name: edge, version: 9.x, repository: 'file://../other'
    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2

"#]]);
}

/// Helm refuses the chart where we do, where one is at hand.
#[test]
fn a_chart_yaml_that_helm_refuses_leaves_the_node_pools_unknown() {
    let helms = ["helm", "helm4"].map(programs::find);
    assert_cases(
        str![[r#"
{name: edge, version: 1.0.0}
    paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
{apiVersion: v3, name: edge, version: 1.0.0}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/Chart.yaml`: Helm 4 does not know `apiVersion: v3`
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, version: 1.0.0}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/Chart.yaml`: it has no `name`
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, name: a/edge, version: 1.0.0}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/Chart.yaml`: `a/edge` is not a name of a chart
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, name: edge}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/Chart.yaml`: it has no `version`
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, name: edge, version: 1.0}
    paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
{apiVersion: v2, name: edge, version: 7.2445e+06}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/Chart.yaml`: `7.2445e+06` is not a semantic version
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, name: edge, version: one}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/Chart.yaml`: `one` is not a semantic version
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, name: edge, version: [1]}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/Chart.yaml`: its `version` is not a text
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, name: edge, version: 1.0.0, type: junk}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/Chart.yaml`: `junk` is not a type of charts
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, name: edge, version: 1.0.0, type: library}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses it: it is a library, and no chart to install
    paris/edge: unknown (its chart does not render)
{apiVersion: v2, name: edge, version: 1.0.0, kubeVersion: junk}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses it: its `kubeVersion: junk` is not a range of versions
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, name: edge, version: 1.0.0, kubeVersion: '>=1.20'}
    paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
{apiVersion: v2, name: edge, version: 1.0.0, keywords: a}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/Chart.yaml`: its `keywords` is not a list
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, name: edge, version: 1.0.0, maintainers: [~]}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/Chart.yaml`: one of its maintainers is empty
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, name: edge, version: 1.0.0, dependencies: [~]}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/Chart.yaml`: one of its dependencies is empty
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, name: edge, version: 1.0.0, dependencies: [{name: sub, version: 1.x, alias: a.b}]}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/Chart.yaml`: `a.b` is not an alias of a dependency
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, name: edge, version: 1.0.0, dependencies: [{name: sub, version: 1.x}, {name: sub, version: 1.x}]}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/Chart.yaml`: two of its dependencies are called `sub`
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
{apiVersion: v2, name: edge, version: 1.0.0, dependencies: [{name: sub, version: 1.x}, {name: sub, version: 1.x, alias: b}]}
    paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2

"#]],
        |metadata| {
            let stage = with_chart(RIGHT, &[("paris.yaml", RELEASE)]);
            stage.write("charts/edge/Chart.yaml", format!("{metadata}\n"));
            let sub = "apiVersion: v2\nname: sub\nversion: 1.0.0\n";
            stage.write("charts/edge/charts/sub/Chart.yaml", sub);
            let folder = stage.path().join("charts/edge");
            for (helm, named) in helms.iter().zip(["'3.17'", "4"]) {
                let Some(helm) = helm else { continue };
                let settings = format!("version: 1\nmanifests: [.]\nhelm: {named}\n");
                stage.write("metalmark.yaml", settings);
                let ours = said(&stage);
                let theirs = template_of(helm, &folder);
                let is_known = ours.iter().all(|line| !line.contains("unknown"));
                assert_eq!(is_known, theirs.is_ok(), "{ours:?} {theirs:?}");
                stage.remove("metalmark.yaml");
            }
            said(&stage)
        },
    );
}

/// What helm says of a chart, of the release `edge`.
fn template_of(helm: &Path, folder: &Path) -> Result<String, String> {
    let output = std::process::Command::new(helm)
        .args(["template", "edge"])
        .arg(folder)
        .output();
    let output = output.expect("helm starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(text(&output.stderr))
    }
}

#[test]
fn what_is_in_a_chart_and_helm_refuses_or_nobody_can_read_leaves_the_node_pools_unknown() {
    let schema = r#"{"properties": {"port": {"type": "integer"}}}"#;
    let cases = [
        "README.md # Charts",
        "empty/README.md # Charts",
        ".gitkeep ",
        "_old/README.md # Charts",
        "sub/Chart.yaml apiVersion: v2\nname: sub\n",
        "sub/values.yaml port: x\n",
        "sub/values.yaml port: 1\n",
        "sub.tgz no archive",
    ];
    let table = table(cases, |case| {
        let stage = with_chart(RIGHT, &[("paris.yaml", RELEASE)]);
        let (file, text) = case.split_once(' ').expect("a file and its text");
        if file == "sub/values.yaml" {
            let sub = "apiVersion: v2\nname: sub\nversion: 1.0.0\n";
            stage.write("charts/edge/charts/sub/Chart.yaml", sub);
            stage.write("charts/edge/charts/sub/values.schema.json", schema);
        }
        stage.write(&format!("charts/edge/charts/{file}"), text);
        let rules = stage.check().findings;
        let rules = rules.into_iter().filter(|line| line.starts_with("error"));
        said(&stage).into_iter().chain(rules).collect()
    });
    table.is(str![[r#"
README.md # Charts
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/charts/README.md`, which is not a chart
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
    error[nothing-checked] => metalmark clusters | --allow-empty
empty/README.md # Charts
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/charts/empty`, which is not a chart
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
    error[nothing-checked] => metalmark clusters | --allow-empty
.gitkeep 
    paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
    error[k8s-version-mismatch] paris/control-plane paris.yaml:8:19 `ubuntu-2204-kube-v1.30.2` paris.yaml:7:14 `v1.30.4` => v1.30.4
_old/README.md # Charts
    paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
    error[k8s-version-mismatch] paris/control-plane paris.yaml:8:19 `ubuntu-2204-kube-v1.30.2` paris.yaml:7:14 `v1.30.4` => v1.30.4
sub/Chart.yaml apiVersion: v2
name: sub

    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses `charts/edge/charts/sub/Chart.yaml`: it has no `version`
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
    error[nothing-checked] => metalmark clusters | --allow-empty
sub/values.yaml port: x

    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (its chart does not render)
    error[values-schema] charts/edge/charts/sub/values.yaml:1:7 `x` => charts/edge/charts/sub/values.schema.json
sub/values.yaml port: 1

    paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
    error[k8s-version-mismatch] paris/control-plane paris.yaml:8:19 `ubuntu-2204-kube-v1.30.2` paris.yaml:7:14 `v1.30.4` => v1.30.4
sub.tgz no archive
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: `charts/edge/charts/sub.tgz` cannot be read: it is not a tar archive
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (a file of its chart cannot be read)
    error[nothing-checked] => metalmark clusters | --allow-empty

"#]]);
    let stage = with_chart(RIGHT, &[]);
    stage.write("charts/edge/templates/more.yaml", b"# \xff\n");
    said(&stage).join("\n").is(str![[r#"
warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: `charts/edge/templates/more.yaml` cannot be read: it is not UTF-8
edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): unknown (a file of its chart cannot be read)
"#]]);
}

#[test]
fn a_chart_that_cannot_be_loaded_is_counted() {
    let more = [
        ("charts/edge/Chart.yaml", "apiVersion: v2\nname: [\n"),
        ("other.yaml", &plain("other", "v1.31.8")),
    ];
    with_chart(RIGHT, &more).check().pools.join("\n").is(str![[r#"
edge/edge: unknown (its chart does not render)
other/control-plane v1.31.8 (other.yaml:7:12): by_name, ubuntu-2204-kube-v1.31.8 (other.yaml:20:30) holds 1.31.8
"#]]);
}

/// None of these is composed: what they name is never checked as if nothing deployed it.
#[test]
fn a_chart_that_a_file_names_is_not_checked_with_its_own_values() {
    let cases = [
        "apps/helmfile.yaml releases: [{name: a, chart: ../charts/edge, values: [a.yaml]}]",
        "apps/helmfile.d/a.yaml.gotmpl releases:\n- name: {{ .Environment.Name }}\n  chart: \"../../charts/edge\"\n",
        "apps/kustomization.yaml helmGlobals: {chartHome: ../charts}\nhelmCharts: [{name: edge, releaseName: r}]",
        "apps/chart.yaml {apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: g}, name: edge, chartHome: ../charts}",
        "apps/fleet.yaml helm:\n  chart: ../charts/edge # here\n",
        "set.yaml {apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, metadata: {name: s}, spec: {generators: [{clusters: {}}], template: {metadata: {name: '{{name}}'}, spec: {source: {path: charts/edge}}}}}",
        "set.yaml apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec:\n  generators: [{clusters: {}}]\n  template:\n    metadata: {name: '{{name}}'}\n    spec: {source: {path: 'charts/{{metadata.labels.chart}}'}}\n",
        "set.yaml apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec:\n  generators: [{clusters: {}}]\n  template:\n    metadata: {name: '{{name}}'}\n    spec: {source: {path: '{{values.path}}'}}\n",
        "of-apps/templates/a.yaml kind: Application\nspec: {source: {path: charts/edge, targetRevision: {{ .Values.revision }}}}\n",
        "config.json {\"path\": \"charts/edge\"}",
        "flux.yaml {apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmChart, metadata: {name: edge}, spec: {chart: ./charts/edge, sourceRef: {kind: GitRepository, name: fleet}}}\n---\n{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: paris}, spec: {chartRef: {kind: HelmChart, name: edge}, values: {version: v1.29.1}}}\n",
        "charts/edge/fleet.yaml defaultNamespace: a\nhelm:\n  values: {version: v1.29.1}\n",
        "charts/edge/helmfile.yaml releases: [{name: a, chart: .}]",
        "of-apps/templates/a.yaml kind: Application\nspec: {source: {path: '{{ .Values.p }}'}}\n",
        "of-apps/templates/a.yaml kind: Application\nspec:\n  source:\n    path: {{ .Values.p }}/edge\n",
        "app.yaml kind: Application\nspec:\n  source:\n    path: ${DIR}\n",
        "release.yaml kind: HelmRelease\nspec: {chart: {spec: {chart: '${CHART}', sourceRef: {kind: GitRepository}}}}\n",
        // These name another one.
        "release.yaml kind: HelmRelease\nspec: {chart: {spec: {chart: '${CHART}', sourceRef: {kind: HelmRepository}}}}\n",
        "charts/edge/fleet.yaml defaultNamespace: a\n",
        "charts/edge/values-prod.yaml chart: .\n",
        "other/fleet.yaml helm: {values: {version: v1.29.1}}\n",
        "apps/helmfile.yaml releases: [{name: a, chart: edge}, {name: b, chart: other/edge}]",
        "set.yaml # path: charts/edge\nname: '{{name}}'\npath: ''\n",
        "set.yaml apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: s}\nspec: {source: {path: apps/*}}\n",
    ];
    let table = table(cases, |case| {
        let (file, text) = case.split_once(' ').expect("a file and its text");
        said(&with_chart(RIGHT, &[(file, text)]))
    });
    table.is(str![[r#"
apps/helmfile.yaml releases: [{name: a, chart: ../charts/edge, values: [a.yaml]}]
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/helmfile.yaml` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
apps/helmfile.d/a.yaml.gotmpl releases:
- name: {{ .Environment.Name }}
  chart: "../../charts/edge"

    warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/helmfile.d/a.yaml.gotmpl` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
apps/kustomization.yaml helmGlobals: {chartHome: ../charts}
helmCharts: [{name: edge, releaseName: r}]
    r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
apps/chart.yaml {apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: g}, name: edge, chartHome: ../charts}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/chart.yaml` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
apps/fleet.yaml helm:
  chart: ../charts/edge # here

    warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/fleet.yaml` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
set.yaml {apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, metadata: {name: s}, spec: {generators: [{clusters: {}}], template: {metadata: {name: '{{name}}'}, spec: {source: {path: charts/edge}}}}}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `s` deploys it: the generator `clusters` of an ApplicationSet is not evaluated
    s/edge: unknown (the values of its chart are not known)
set.yaml apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: s}
spec:
  generators: [{clusters: {}}]
  template:
    metadata: {name: '{{name}}'}
    spec: {source: {path: 'charts/{{metadata.labels.chart}}'}}

    warning[composition-unsupported]: the chart `charts/edge` is not checked as `s` deploys it: the generator `clusters` of an ApplicationSet is not evaluated
    s/edge: unknown (the values of its chart are not known)
set.yaml apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: s}
spec:
  generators: [{clusters: {}}]
  template:
    metadata: {name: '{{name}}'}
    spec: {source: {path: '{{values.path}}'}}

    warning[composition-unsupported]: the chart `charts/edge` is not checked as `s` deploys it: the generator `clusters` of an ApplicationSet is not evaluated
    s/edge: unknown (the values of its chart are not known)
of-apps/templates/a.yaml kind: Application
spec: {source: {path: charts/edge, targetRevision: {{ .Values.revision }}}}

    warning[composition-unsupported]: the chart `charts/edge` is not checked as `of-apps/templates/a.yaml` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
config.json {"path": "charts/edge"}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `config.json` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
flux.yaml {apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmChart, metadata: {name: edge}, spec: {chart: ./charts/edge, sourceRef: {kind: GitRepository, name: fleet}}}
---
{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: paris}, spec: {chartRef: {kind: HelmChart, name: edge}, values: {version: v1.29.1}}}

    warning[composition-unsupported]: the chart `charts/edge` is not checked as `flux.yaml` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
charts/edge/fleet.yaml defaultNamespace: a
helm:
  values: {version: v1.29.1}

    warning[composition-unsupported]: the chart `charts/edge` is not checked as `charts/edge/fleet.yaml` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
charts/edge/helmfile.yaml releases: [{name: a, chart: .}]
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `charts/edge/helmfile.yaml` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
of-apps/templates/a.yaml kind: Application
spec: {source: {path: '{{ .Values.p }}'}}

    warning[composition-unsupported]: the chart `charts/edge` is not checked as `of-apps/templates/a.yaml` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
of-apps/templates/a.yaml kind: Application
spec:
  source:
    path: {{ .Values.p }}/edge

    warning[composition-unsupported]: the chart `charts/edge` is not checked as `of-apps/templates/a.yaml` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
app.yaml kind: Application
spec:
  source:
    path: ${DIR}

    warning[composition-unsupported]: the chart `charts/edge` is not checked as `app.yaml` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
release.yaml kind: HelmRelease
spec: {chart: {spec: {chart: '${CHART}', sourceRef: {kind: GitRepository}}}}

    warning[composition-unsupported]: the chart `charts/edge` is not checked as `release.yaml` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
release.yaml kind: HelmRelease
spec: {chart: {spec: {chart: '${CHART}', sourceRef: {kind: HelmRepository}}}}

    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
charts/edge/fleet.yaml defaultNamespace: a

    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
charts/edge/values-prod.yaml chart: .

    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
other/fleet.yaml helm: {values: {version: v1.29.1}}

    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
apps/helmfile.yaml releases: [{name: a, chart: edge}, {name: b, chart: other/edge}]
    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
set.yaml # path: charts/edge
name: '{{name}}'
path: ''

    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
set.yaml apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: s}
spec: {source: {path: apps/*}}

    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2

"#]]);
    // Beside a release that is composed, another mention is none.
    let more = [
        ("paris.yaml", RELEASE),
        ("helmfile.yaml", "releases: [{chart: ./charts/edge}]\n"),
    ];
    assert_text(
        &said(&with_chart(RIGHT, &more)).join("\n"),
        str![
            "paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2"
        ],
    );
}

#[test]
fn a_chart_that_makes_no_cluster_api_object_is_not_mentioned() {
    let cases = [
        "kind: ClusterRole\napiVersion: rbac.authorization.k8s.io/v1\nrules: [{apiGroups: [cluster.x-k8s.io]}]\n",
        "# apiVersion: cluster.x-k8s.io/v1beta1\nkind: ConfigMap\napiVersion: v1\n",
        "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nspec: {group: cluster.x-k8s.io}\n",
        "kind: ServiceExport\napiVersion: multicluster.x-k8s.io/v1alpha1\n",
        "kind: HelmChartProxy\napiVersion: addons.cluster.x-k8s.io/v1alpha1\n",
        "kind: Policy\napiVersion: kyverno.io/v1\nspec:\n  resource:\n    apiVersion: cluster.x-k8s.io/v1beta1\n    kind: Cluster\n",
        "kind: Cluster\napiVersion: postgresql.cnpg.io/v1\n",
        // Those of these may have node pools, but have none here.
        "{{ if .Values.on }}\napiVersion: {{ include \"api\" . }}\nkind: KubeadmControlPlane\n{{ end }}",
        "{{ if .Values.on }}\napiVersion: \"cluster.x-k8s.io/{{ .Values.api }}\"\nkind: {{ .Values.kind }}\n{{ end }}",
        "{{ if .Values.on }}\n{{ include \"head\" . }}\nkind: AWSMachinePool\n{{ end }}",
        "{{ if .Values.on }}{{ dict \"apiVersion\" \"cluster.x-k8s.io/v1beta1\" \"kind\" \"Cluster\" | toYaml }}{{ end }}",
        "{{ if .Values.on }}\napiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: Cluster\n{{ end }}",
    ];
    let table = table(cases, |template| {
        let stage = project().files(&[
            ("charts/edge/Chart.yaml", METADATA),
            ("charts/edge/README.md", "cluster.x-k8s.io"),
            ("charts/edge/templates/a.yaml", template),
            ("other.yaml", &plain("other", "v1.31.8")),
        ]);
        let mut lines = said(&stage);
        lines.retain(|line| !line.starts_with("other/"));
        lines
    });
    assert_text(
        &table,
        str![[r#"
kind: ClusterRole
apiVersion: rbac.authorization.k8s.io/v1
rules: [{apiGroups: [cluster.x-k8s.io]}]

# apiVersion: cluster.x-k8s.io/v1beta1
kind: ConfigMap
apiVersion: v1

kind: CustomResourceDefinition
apiVersion: apiextensions.k8s.io/v1
spec: {group: cluster.x-k8s.io}

kind: ServiceExport
apiVersion: multicluster.x-k8s.io/v1alpha1

kind: HelmChartProxy
apiVersion: addons.cluster.x-k8s.io/v1alpha1

kind: Policy
apiVersion: kyverno.io/v1
spec:
  resource:
    apiVersion: cluster.x-k8s.io/v1beta1
    kind: Cluster

kind: Cluster
apiVersion: postgresql.cnpg.io/v1

{{ if .Values.on }}
apiVersion: {{ include "api" . }}
kind: KubeadmControlPlane
{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: they make no Cluster API objects
{{ if .Values.on }}
apiVersion: "cluster.x-k8s.io/{{ .Values.api }}"
kind: {{ .Values.kind }}
{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: they make no Cluster API objects
{{ if .Values.on }}
{{ include "head" . }}
kind: AWSMachinePool
{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: they make no Cluster API objects
{{ if .Values.on }}{{ dict "apiVersion" "cluster.x-k8s.io/v1beta1" "kind" "Cluster" | toYaml }}{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: they make no Cluster API objects
{{ if .Values.on }}
apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: Cluster
{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: they make no Cluster API objects

"#]],
    );
}

#[test]
fn a_release_that_makes_no_cluster_is_no_warning() {
    let template = format!("{{{{ if .Values.on }}}}\n{TEMPLATE}{{{{ end }}}}\n");
    let more = [
        ("charts/edge/templates/cluster.yaml", &*template),
        ("paris.yaml", RELEASE),
        ("other.yaml", &plain("other", "v1.31.8")),
    ];
    assert_text(
        &said(&with_chart(VALUES, &more)).join("\n"),
        str![
            "other/control-plane v1.31.8 (other.yaml:7:12): by_name, ubuntu-2204-kube-v1.31.8 (other.yaml:20:30) holds 1.31.8"
        ],
    );
}

#[test]
fn a_chart_without_values_is_rendered() {
    let values =
        "helm: {valuesObject: {version: v1.30.2, image: {name: ubuntu-2204-kube-v1.30.2}}}";
    let application = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: lyon}}\nspec: {{source: {{path: charts/edge, {values}}}}}\n"
    );
    let stage = project().files(&[
        ("charts/edge/Chart.yaml", METADATA),
        ("charts/edge/templates/cluster.yaml", TEMPLATE),
        ("paris.yaml", RELEASE),
        ("lyon.yaml", &application),
    ]);
    stage.check().is(str![[r#"
error[k8s-version-mismatch] paris/control-plane paris.yaml:8:19 `ubuntu-2204-kube-v1.30.2` paris.yaml:7:14 `v1.30.4` => v1.30.4
lyon/control-plane v1.30.2 (lyon.yaml:4:67): by_name, ubuntu-2204-kube-v1.30.2 (lyon.yaml:4:90) holds 1.30.2
paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2

"#]]);
    // A file that is named and is not there is refused by Flux.
    stage.edit(
        "paris.yaml",
        "sourceRef:",
        "valuesFiles: [charts/edge/values.yaml], sourceRef:",
    );
    said(&stage).join("\n").is(str![[r#"
warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: `charts/edge/values.yaml` of the HelmChart `charts/edge` is not in the repository
lyon/control-plane v1.30.2 (lyon.yaml:4:67): by_name, ubuntu-2204-kube-v1.30.2 (lyon.yaml:4:90) holds 1.30.2
paris/edge: unknown (the values of its chart are not known)
"#]]);
}

/// A chart `top` with `sub`, and what the template of `top` makes of an expression.
fn with_sub(expression: &str) -> String {
    version_in(&[
        (
            "Chart.yaml",
            "apiVersion: v2\nname: top\nversion: 1.0.0\nappVersion: 1.10\ndependencies:\n- {name: sub, version: 1.x, alias: one, condition: one.on}\n- {name: sub, version: 1.x, alias: two, condition: two.on}\n",
        ),
        (
            "values.yaml",
            "one: {on: true, deep: {a: 1}}\ntwo: {\"on\": false}\n",
        ),
        (
            "templates/t.yaml",
            &format!("{OF_CLUSTER_API}{expression}\n"),
        ),
        (
            "charts/sub/Chart.yaml",
            "apiVersion: v2\nname: sub\nversion: 1.2.0\n",
        ),
        ("charts/sub/values.yaml", "k8s: v1.31.8\n"),
        ("charts/sub/a.txt", "v1.31.9"),
        ("charts/sub/templates/_set.yaml", ""),
        (
            "charts/sub/templates/s.yaml",
            "{{ if .Values.deep }}{{ $_ := set .Values.deep \"a\" 2 }}{{ $_ := set . \"more\" \"x\" }}{{ end }}",
        ),
    ])
}

#[test]
fn templates_see_the_charts_that_theirs_depends_on() {
    for (expression, expected) in [
        ("{{ keys .Subcharts | sortAlpha | join \"-\" }}", "one"),
        ("{{ if .Subcharts.one }}v1{{ else }}v2{{ end }}", "v1"),
        ("{{ .Subcharts.one.Values.k8s }}", "v1.31.8"),
        ("{{ .Subcharts.one.Chart.Version }}", "1.2.0"),
        ("{{ .Subcharts.one.Files.Get \"a.txt\" }}", "v1.31.9"),
        ("{{ .Subcharts.one.Release.Name }}", "top"),
        (
            "{{ .Subcharts.one.Template.Name }}",
            "top/charts/one/templates/s.yaml",
        ),
        ("{{ keys .Subcharts.one.Subcharts | len }}", "0"),
        // What the template of a dependency changes, which Helm renders first, its chart sees.
        ("{{ .Values.one.deep.a }}", "2"),
        ("{{ .Subcharts.one.more }}", "x"),
        ("{{ .Chart.AppVersion }}", "1.1"),
        (
            "{{ .Chart.Name }}{{ .Template.Name }}",
            "toptop/templates/t.yaml",
        ),
    ] {
        assert_eq!(with_sub(expression), expected, "{expression}");
    }
}

/// What only the cluster knows decides nothing in silence.
#[test]
fn what_only_the_cluster_knows_leaves_unknown_what_it_decides() {
    let cases = [
        "{{ if .Capabilities.APIVersions.Has \"x.io/v1/Y\" }}v1.30.2{{ else }}v1.29.1{{ end }}",
        "{{ .Capabilities.KubeVersion.Version }}",
        "{{ if semverCompare \"<1.20\" .Capabilities.KubeVersion.Version }}v1.29.1{{ else }}v1.30.2{{ end }}",
        "{{ if semverCompare \"<1.30-0\" .Capabilities.KubeVersion.Version }}{{ fail \"too old\" }}{{ end }}v1.30.2",
        "v1.30.2\n  annotations: {a: {{ .Capabilities.KubeVersion.Version }}}",
        "{{ if and (.Capabilities.APIVersions.Has \"x/v1\") (semverCompare \">=1.32-0\" .Capabilities.KubeVersion.Version) }}v1.29.1{{ else }}v1.30.2{{ end }}",
        "{{ if semverCompare \"<1.32-0\" .Capabilities.KubeVersion.Version }}{{ fail \"old\" }}{{ end }}{{ if .Capabilities.APIVersions.Has \"x/v1\" }}v1.29.1{{ else }}v1.30.2{{ end }}",
        "{{ if eq (get . \"Capabilities\").KubeVersion.Minor \"31\" }}v1.29.1{{ else }}v1.30.2{{ end }}",
    ];
    let table = table(cases, |version| {
        let stage = with_chart(RIGHT, &[("paris.yaml", RELEASE)]);
        let file = "charts/edge/templates/cluster.yaml";
        stage.edit(file, "{{ .Values.version | quote }}", version);
        said(&stage)
    });
    table.is(str![[r#"
{{ if .Capabilities.APIVersions.Has "x.io/v1/Y" }}v1.30.2{{ else }}v1.29.1{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Capabilities`)
    paris/control-plane v1.29.1 (charts/edge/templates/cluster.yaml:7:79): unknown (what its chart renders depends on the cluster)
{{ .Capabilities.KubeVersion.Version }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Capabilities`)
    paris/control-plane v1.35.0 (charts/edge/templates/cluster.yaml:7:15): unknown (what its chart renders depends on the cluster)
{{ if semverCompare "<1.20" .Capabilities.KubeVersion.Version }}v1.29.1{{ else }}v1.30.2{{ end }}
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:93): by_name, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
{{ if semverCompare "<1.30-0" .Capabilities.KubeVersion.Version }}{{ fail "too old" }}{{ end }}v1.30.2
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:107): by_name, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
v1.30.2
  annotations: {a: {{ .Capabilities.KubeVersion.Version }}}
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:12): by_name, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
{{ if and (.Capabilities.APIVersions.Has "x/v1") (semverCompare ">=1.32-0" .Capabilities.KubeVersion.Version) }}v1.29.1{{ else }}v1.30.2{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Capabilities`)
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:141): unknown (what its chart renders depends on the cluster)
{{ if semverCompare "<1.32-0" .Capabilities.KubeVersion.Version }}{{ fail "old" }}{{ end }}{{ if .Capabilities.APIVersions.Has "x/v1" }}v1.29.1{{ else }}v1.30.2{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Capabilities`)
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:165): unknown (what its chart renders depends on the cluster)
{{ if eq (get . "Capabilities").KubeVersion.Minor "31" }}v1.29.1{{ else }}v1.30.2{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Capabilities`)
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:86): unknown (what its chart renders depends on the cluster)

"#]]);
}

/// What it would make there counts for nothing.
#[test]
fn a_chart_is_in_no_cluster_that_its_kube_version_leaves_out() {
    let version = "{{ if semverCompare \"<1.33-0\" .Capabilities.KubeVersion.Version }}v1.29.1{{ else }}v1.30.2{{ end }}";
    assert_cases(
        str![[r#"
>=1.25.0-0
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Capabilities`)
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:95): unknown (what its chart renders depends on the cluster)
>=1.33.0-0
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:95): by_name, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
<1.33.0-0
    paris/control-plane v1.29.1 (charts/edge/templates/cluster.yaml:7:78): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
>=1.33.0
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:95): by_name, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
<1.20.0-0
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses it: its `kubeVersion` has no Kubernetes from 1.28 to 1.36
    paris/edge: unknown (its chart does not render)
>=1.99.0-0
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses it: its `kubeVersion` has no Kubernetes from 1.28 to 1.36
    paris/edge: unknown (its chart does not render)

"#]],
        |range| {
            let stage = with_chart(RIGHT, &[("paris.yaml", RELEASE)]);
            let file = "charts/edge/templates/cluster.yaml";
            stage.edit(file, "{{ .Values.version | quote }}", version);
            let metadata = format!("{METADATA}kubeVersion: '{range}'\n");
            stage.write("charts/edge/Chart.yaml", metadata);
            said(&stage)
        },
    );
}

/// An old cluster that the chart refuses too is no reason to know nothing.
#[test]
fn a_chart_is_rendered_for_the_newest_cluster_that_its_kube_version_admits() {
    let version = "{{ if semverCompare \"<1.30-0\" .Capabilities.KubeVersion.Version }}{{ fail \"too old\" }}{{ end }}v1.30.2";
    let stage = with_chart(RIGHT, &[("paris.yaml", RELEASE)]);
    let file = "charts/edge/templates/cluster.yaml";
    stage.edit(file, "{{ .Values.version | quote }}", version);
    let metadata = format!("{METADATA}kubeVersion: '<1.33.0-0'\n");
    stage.write("charts/edge/Chart.yaml", metadata);
    let said = said(&stage).concat();
    assert!(
        said.contains("by_name") && !said.contains("warning"),
        "{said}"
    );
}

/// No text of a template has the word, and what is evaluated has.
#[test]
fn what_only_tpl_leads_to_is_read_of_the_cluster_too() {
    assert_cases(
        str![[r#"
{{ .Capabilities.KubeVersion.Version }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Capabilities`)
    paris/control-plane v1.35.0 (charts/edge/templates/cluster.yaml:7:15): unknown (what its chart renders depends on the cluster)
{{ if .Release.IsUpgrade }}v1.29.1{{ else }}v1.30.2{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Release.Revision`)
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:15): unknown (what its chart renders depends on the cluster)
{{ (toYaml .Release | fromYaml).Revision }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Release.Revision`)
    paris/control-plane: unknown (what its chart renders depends on the cluster)
"{{ printf "%v" .Capabilities | trunc 8 }}"
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Capabilities`)
    paris/control-plane {v1.35.0 (charts/edge/templates/cluster.yaml:7:15): unknown (what its chart renders depends on the cluster)
{{ if .Release.IsUpgrade }}{{ .Capabilities.KubeVersion.Version }}{{ else }}v1.35.0{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Release.Revision`)
    paris/control-plane v1.35.0 (charts/edge/templates/cluster.yaml:7:15): unknown (what its chart renders depends on the cluster)
v1.30.2{{ .Capabilities.HelmVersion.Version | trunc 0 }}
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:15): by_name, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2

"#]],
        |text| {
            let stage = with_chart(RIGHT, &[("paris.yaml", RELEASE)]);
            let file = "charts/edge/templates/cluster.yaml";
            stage.edit(
                file,
                "{{ .Values.version | quote }}",
                "{{ tpl .Values.text . }}",
            );
            let values = stage.read("charts/edge/values.yaml");
            stage.write(
                "charts/edge/values.yaml",
                format!("{values}\ntext: '{text}'\n"),
            );
            said(&stage)
        },
    );
}

/// Flux installs and upgrades beside the cluster, which `lookup` reads; Argo CD renders as `helm template` does.
#[test]
fn what_differs_between_an_installation_and_an_upgrade_is_known_for_argo_cd_alone() {
    let argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: paris}\nspec:\n  \
                source: {repoURL: https://git.example.org/fleet.git, path: charts/edge, helm: {valuesObject: {version: v1.30.4}}}\n";
    let cases = [
        "{{ if .Release.IsUpgrade }}v1.29.1{{ else }}v1.30.2{{ end }}",
        "v1.30.2\n  annotations: {a: {{ .Release.Revision | quote }}}",
        "{{ if lookup \"v1\" \"Secret\" \"a\" \"b\" }}v1.29.1{{ else }}v1.30.2{{ end }}",
        "{{ if false }}{{ lookup \"v1\" \"Secret\" \"a\" \"b\" }}{{ end }}v1.30.2",
    ];
    let table = table(cases, |version| {
        let stage = with_chart(RIGHT, &[]);
        let file = "charts/edge/templates/cluster.yaml";
        stage.edit(file, "{{ .Values.version | quote }}", version);
        let of = |deployer: &str| {
            stage.write("paris.yaml", deployer);
            said(&stage)
        };
        [of(RELEASE), vec![String::from("Argo CD")], of(argo)].concat()
    });
    table.is(str![[r#"
{{ if .Release.IsUpgrade }}v1.29.1{{ else }}v1.30.2{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Release.Revision`)
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:56): unknown (what its chart renders depends on the cluster)
    Argo CD
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:56): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
v1.30.2
  annotations: {a: {{ .Release.Revision | quote }}}
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:12): by_name, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
    Argo CD
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:12): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
{{ if lookup "v1" "Secret" "a" "b" }}v1.29.1{{ else }}v1.30.2{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: `lookup` reads the cluster, whose objects are not known
    paris/edge: unknown (what its chart renders depends on the cluster)
    Argo CD
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:66): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
{{ if false }}{{ lookup "v1" "Secret" "a" "b" }}{{ end }}v1.30.2
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:69): by_name, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
    Argo CD
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:69): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2

"#]]);
}

/// A file that makes no object of Cluster API may look at what it wants.
#[test]
fn a_look_at_the_cluster_counts_where_clusters_are_made() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {{ (lookup \"v1\" \"Secret\" \"a\" \"b\").data | toYaml }}\n";
    let stage = with_chart(RIGHT, &[("paris.yaml", RELEASE)]);
    stage.write("charts/edge/templates/secret.yaml", secret);
    assert_text(
        &said(&stage).join("\n"),
        str![
            "paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2"
        ],
    );
}

/// Versions of vendors end otherwise, and what Kubernetes no longer serves is in no cluster.
#[test]
fn a_cluster_has_the_version_of_its_vendor_and_what_that_version_serves() {
    assert_cases(
        str![[r#"
{{ if semverCompare ">=1.28" .Capabilities.KubeVersion.Version }}v1.30.2{{ else }}v1.29.1{{ end }}
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:77): unknown (what its chart renders depends on the cluster)
{{ if semverCompare ">=1.28-0" .Capabilities.KubeVersion.GitVersion }}v1.30.2{{ else }}v1.29.1{{ end }}
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:82): by_name, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
{{ if contains "+rke2" .Capabilities.KubeVersion.Version }}v1.29.1{{ else }}v1.30.2{{ end }}
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:88): unknown (what its chart renders depends on the cluster)
{{ if contains "-gke" .Capabilities.KubeVersion.Version }}v1.29.1{{ else }}v1.30.2{{ end }}
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:87): unknown (what its chart renders depends on the cluster)
{{ if .Capabilities.APIVersions.Has "policy/v1beta1/PodSecurityPolicy" }}v1.29.1{{ else }}v1.30.2{{ end }}
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:102): by_name, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
{{ if .Capabilities.APIVersions.Has "networking.k8s.io/v1beta1/Ingress" }}v1.29.1{{ else }}v1.30.2{{ end }}
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:103): by_name, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
{{ if .Capabilities.APIVersions.Has "policy/v1beta1" }}v1.29.1{{ else }}v1.30.2{{ end }}
    paris/control-plane v1.29.1 (charts/edge/templates/cluster.yaml:7:67): unknown (what its chart renders depends on the cluster)
{{ if .Capabilities.APIVersions.Has "networking.k8s.io/v1beta1" }}v1.30.2{{ else }}v1.29.1{{ end }}
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:78): unknown (what its chart renders depends on the cluster)
{{ if .Capabilities.APIVersions.Has "apps/v1" }}v1.30.2{{ else }}v1.29.1{{ end }}
    paris/control-plane v1.30.2 (charts/edge/templates/cluster.yaml:7:60): by_name, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2

"#]],
        |version| {
            let stage = with_chart(RIGHT, &[("paris.yaml", RELEASE)]);
            let file = "charts/edge/templates/cluster.yaml";
            stage.edit(file, "{{ .Values.version | quote }}", version);
            let mut said = said(&stage);
            said.retain(|line| line.starts_with("paris/"));
            said
        },
    );
}

/// A field that no machine has, and an object of another kind, leave the node pools known.
#[test]
fn what_depends_on_the_cluster_and_is_nothing_to_machines_leaves_the_pools_known() {
    let guard = |text: &str| {
        format!("{{{{ if .Capabilities.APIVersions.Has \"x/v1\" }}}}{text}{{{{ end }}}}")
    };
    let cases = [
        "\n  remediation: {maxRetry: 1}",
        "\n  rolloutStrategy: {rollingUpdate: {maxSurge: 0}}",
        "\n---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineHealthCheck\nmetadata: {name: a}",
        "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}",
        "\n  replicas: 0",
        "\n  kubeadmConfigSpec: {files: [{path: a}]}",
        "\n---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: a}",
    ];
    let table = table(cases, |field| {
        let stage = with_chart(RIGHT, &[("paris.yaml", RELEASE)]);
        let file = "charts/edge/templates/cluster.yaml";
        let version = "{{ .Values.version | quote }}";
        let rest = stage.read(file);
        let own = if field.starts_with("\n---") {
            format!("{rest}{}\n", guard(field))
        } else {
            rest.replace(version, &format!("{version}{}", guard(field)))
        };
        stage.write(file, own);
        said(&stage)
    });
    table.is(str![[r#"

  remediation: {maxRetry: 1}
    paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2

  rolloutStrategy: {rollingUpdate: {maxSurge: 0}}
    paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2

---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineHealthCheck
metadata: {name: a}
    paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2

---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
    paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2

  replicas: 0
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Capabilities`)
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (what its chart renders depends on the cluster)

  kubeadmConfigSpec: {files: [{path: a}]}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Capabilities`)
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (what its chart renders depends on the cluster)

---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: a}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: what it renders depends on the cluster that it is in (`.Capabilities`)
    paris/control-plane v1.30.4 (paris.yaml:7:14): unknown (what its chart renders depends on the cluster)

"#]]);
}

/// Some of Helm's tables are one map under several keys, so that what is imported over one is in the others too.
#[test]
fn what_is_imported_over_a_table_is_where_it_comes_from_too() {
    let imports = "import-values: [{child: one, parent: a}, {child: two, parent: a}, {child: one, parent: b}]";
    let expected = |template: &str| {
        version_in(&[
            (
                "Chart.yaml",
                &format!(
                    "apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies:\n- {{name: sub, version: 1.x, {imports}}}\n"
                ),
            ),
            ("templates/t.yaml", &format!("{OF_CLUSTER_API}{template}\n")),
            (
                "charts/sub/Chart.yaml",
                "apiVersion: v2\nname: sub\nversion: 1.2.0\n",
            ),
            (
                "charts/sub/values.yaml",
                "one: {x: v1, in: {p: v1}}\ntwo: {z: v2, in: {q: v2}}\n",
            ),
            (
                "charts/sub/templates/s.yaml",
                "kind: A\napiVersion: b\nsub: {{ toJson .Values.one }}\n",
            ),
        ])
    };
    for (template, version) in [
        ("{{ keys .Values.a | sortAlpha | join \"-\" }}", "in-x-z"),
        ("{{ keys .Values.b | sortAlpha | join \"-\" }}", "in-x-z"),
        (
            "{{ keys .Values.sub.one | sortAlpha | join \"-\" }}",
            "in-x-z",
        ),
        (
            "{{ keys .Values.sub.two | sortAlpha | join \"-\" }}",
            "in-z",
        ),
        ("{{ keys .Values.b.in | sortAlpha | join \"-\" }}", "p-q"),
        (
            "{{ keys .Values.sub.one.in | sortAlpha | join \"-\" }}",
            "p-q",
        ),
    ] {
        assert_eq!(expected(template), version, "{template}");
    }
}

/// What differs by the version of Helm: `.Chart` is a struct of Helm 3, and 3.17 has no loop over a number.
#[test]
fn the_helm_that_deploys_a_chart_is_the_one_that_is_pinned_or_named() {
    let cases = [
        " ",
        "flux/gotk.yaml # Flux Version: v2.6.4\n",
        "flux/gotk.yaml kind: Deployment\nimage: ghcr.io/fluxcd/helm-controller:v1.4.2\n",
        "flux/gotk.yaml kind: Deployment\nimage: ghcr.io/fluxcd/helm-controller:v1.5.0\n",
        "argocd/kustomization.yaml resources: ['https://raw.githubusercontent.com/argoproj/argo-cd/v3.4.1/manifests/install.yaml']\n",
        "argocd/kustomization.yaml resources: ['https://github.com/argoproj/argo-cd//manifests/cluster-install?ref=v2.14.0']\n",
        "argocd/kustomization.yaml resources: ['https://github.com/argoproj/argo-cd//manifests/cluster-install?ref=main']\n",
        "metalmark.yaml {version: 1, manifests: [.], helm: 3}\n",
    ];
    let version = "{{ .Capabilities.HelmVersion.Version }}-{{ kindOf .Chart }}";
    let table = table(cases, |case| {
        let stage = with_chart(RIGHT, &[]);
        stage.edit(
            "charts/edge/templates/cluster.yaml",
            "{{ .Values.version | quote }}",
            version,
        );
        if let Some((file, text)) = case.split_once(' ').filter(|(file, _)| !file.is_empty()) {
            stage.write(file, text);
        }
        stage.check().pools
    });
    table.is(str![[r#"
 
    edge/control-plane v4.1.4-map (charts/edge/templates/cluster.yaml:7:15): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
flux/gotk.yaml # Flux Version: v2.6.4

    edge/control-plane v3.17.2-struct (charts/edge/templates/cluster.yaml:7:15): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
flux/gotk.yaml kind: Deployment
image: ghcr.io/fluxcd/helm-controller:v1.4.2

    edge/control-plane v3.19.4-struct (charts/edge/templates/cluster.yaml:7:15): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
flux/gotk.yaml kind: Deployment
image: ghcr.io/fluxcd/helm-controller:v1.5.0

    edge/control-plane v4.1.4-map (charts/edge/templates/cluster.yaml:7:15): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
argocd/kustomization.yaml resources: ['https://raw.githubusercontent.com/argoproj/argo-cd/v3.4.1/manifests/install.yaml']

    edge/control-plane v3.19.4-struct (charts/edge/templates/cluster.yaml:7:15): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
argocd/kustomization.yaml resources: ['https://github.com/argoproj/argo-cd//manifests/cluster-install?ref=v2.14.0']

    edge/control-plane v3.17.2-struct (charts/edge/templates/cluster.yaml:7:15): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
argocd/kustomization.yaml resources: ['https://github.com/argoproj/argo-cd//manifests/cluster-install?ref=main']

    edge/control-plane v4.1.4-map (charts/edge/templates/cluster.yaml:7:15): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
metalmark.yaml {version: 1, manifests: [.], helm: 3}

    edge/control-plane v3.19.4-struct (charts/edge/templates/cluster.yaml:7:15): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2

"#]]);
}

/// A commit holds a template that is named after secrets as the disk does: no link leads to it.
#[test]
fn a_template_that_is_named_after_secrets_is_read_of_a_commit_too() {
    let chart = |version: &str| {
        crate::support::manifests::cluster(
            "{{ .Values.v }}",
            &format!("{{filter: {{name: ubuntu-2204-kube-{version}}}}}"),
        )
    };
    let stage = project()
        .file(
            "chart/Chart.yaml",
            "apiVersion: v2\nname: c\nversion: 1.0.0\n",
        )
        .file("chart/values.yaml", "v: v1.31.8\n")
        .file("chart/templates/secret-pools.yaml", chart("v1.31.8"));
    let Some(stage) = stage.commit("before") else {
        return;
    };
    stage.write("chart/values.yaml", "v: v1.32.1\n");
    stage.write("chart/templates/secret-pools.yaml", chart("v1.32.1"));
    let shown = stage.run("impact").outcome.stdout;
    assert!(shown.contains("v1.31.8 → v1.32.1"), "{shown}");
    assert!(!shown.contains("deleted"), "{shown}");
}

/// Each management cluster has a Flux of its own, and an Argo CD beside it is none.
#[test]
fn the_helm_of_a_chart_is_the_one_of_the_program_that_deploys_it() {
    let argo = "argo/kustomization.yaml resources: ['https://raw.githubusercontent.com/argoproj/argo-cd/v2.14.0/manifests/install.yaml']";
    let cases = [
        "a/gotk.yaml # Flux Version: v2.6.4|b/gotk.yaml # Flux Version: v2.8.0",
        "a/x/gotk.yaml # Flux Version: v2.8.0|b/gotk.yaml # Flux Version: v2.6.4",
        argo,
        &format!("a/gotk.yaml # Flux Version: v2.7.1|{argo}"),
        "b/gotk.yaml # Flux Version: v2.6.4|c/gotk.yaml # Flux Version: v2.8.0",
    ];
    let table = table(cases, |case| {
        let mut lines = Vec::new();
        for version in ["{{ kindOf .Chart }}", "{{ .Values.version }}"] {
            let stage = with_chart(RIGHT, &[("a/paris.yaml", RELEASE)]);
            stage.edit(
                "charts/edge/templates/cluster.yaml",
                "{{ .Values.version | quote }}",
                &format!("v1.30.4-{version}"),
            );
            for written in case.split('|') {
                let (file, text) = written.split_once(' ').expect("a file and its text");
                stage.write(file, text);
            }
            lines.extend(said(&stage));
        }
        lines
    });
    table.is(str![[r#"
a/gotk.yaml # Flux Version: v2.6.4|b/gotk.yaml # Flux Version: v2.8.0
    paris/control-plane v1.30.4-struct (charts/edge/templates/cluster.yaml:7:12): mismatched, ubuntu-2204-kube-v1.30.2 (a/paris.yaml:8:19) holds 1.30.2
    paris/control-plane v1.30.4-v1.30.4 (a/paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (a/paris.yaml:8:19) holds 1.30.2
a/x/gotk.yaml # Flux Version: v2.8.0|b/gotk.yaml # Flux Version: v2.6.4
    paris/control-plane v1.30.4-map (charts/edge/templates/cluster.yaml:7:12): mismatched, ubuntu-2204-kube-v1.30.2 (a/paris.yaml:8:19) holds 1.30.2
    paris/control-plane v1.30.4-v1.30.4 (a/paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (a/paris.yaml:8:19) holds 1.30.2
argo/kustomization.yaml resources: ['https://raw.githubusercontent.com/argoproj/argo-cd/v2.14.0/manifests/install.yaml']
    paris/control-plane v1.30.4-map (charts/edge/templates/cluster.yaml:7:12): mismatched, ubuntu-2204-kube-v1.30.2 (a/paris.yaml:8:19) holds 1.30.2
    paris/control-plane v1.30.4-v1.30.4 (a/paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (a/paris.yaml:8:19) holds 1.30.2
a/gotk.yaml # Flux Version: v2.7.1|argo/kustomization.yaml resources: ['https://raw.githubusercontent.com/argoproj/argo-cd/v2.14.0/manifests/install.yaml']
    paris/control-plane v1.30.4-struct (charts/edge/templates/cluster.yaml:7:12): mismatched, ubuntu-2204-kube-v1.30.2 (a/paris.yaml:8:19) holds 1.30.2
    paris/control-plane v1.30.4-v1.30.4 (a/paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (a/paris.yaml:8:19) holds 1.30.2
b/gotk.yaml # Flux Version: v2.6.4|c/gotk.yaml # Flux Version: v2.8.0
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: several versions of Flux or Argo CD are pinned, whose Helms render it in two ways
    paris/control-plane v1.30.4-map (charts/edge/templates/cluster.yaml:7:12): unknown (the Helm that renders its chart is not known)
    paris/control-plane v1.30.4-v1.30.4 (a/paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (a/paris.yaml:8:19) holds 1.30.2

"#]]);
}

/// `sub` is a chart below it: Helm wants a map there, whether it is on or not.
#[test]
fn a_value_that_is_no_map_where_a_dependency_has_its_own_is_refused() {
    let helms = ["helm", "helm4"].map(programs::find);
    assert_cases(
        str![[r#"
{sub: x}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses its values: `sub` is not a map, and a dependency is called so
    paris/control-plane v1.30.4 (paris.yaml:8:14): unknown (its chart does not render)
{sub: ~}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses its values: `sub` is not a map, and a dependency is called so
    paris/control-plane v1.30.4 (paris.yaml:8:14): unknown (its chart does not render)
{sub: [], on: {sub: false}}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses its values: `sub` is not a map, and a dependency is called so
    paris/control-plane v1.30.4 (paris.yaml:8:14): unknown (its chart does not render)
{sub: {deep: 1}}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses its values: `deep` is not a map, and a dependency is called so
    paris/control-plane v1.30.4 (paris.yaml:8:14): unknown (its chart does not render)
{sub: {deep: {a: b}}}
    paris/control-plane v1.30.4 (paris.yaml:8:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:9:19) holds 1.30.2
{own: x}
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: Helm refuses its values: `own` is not a map, and a dependency is called so
    paris/control-plane v1.30.4 (paris.yaml:8:14): unknown (its chart does not render)
{own: ~}
    paris/control-plane v1.30.4 (paris.yaml:8:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:9:19) holds 1.30.2

"#]],
        |values| {
            let release = RELEASE.replace("  values:\n", &format!("  values:\n    <<: {values}\n"));
            let stage = with_chart(
                &format!("{RIGHT}own: {{a: b}}\n"),
                &[("paris.yaml", &release)],
            );
            let metadata = |name: &str| format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n");
            let dependencies = "dependencies: [{name: sub, version: 1.x, condition: on.sub}, {name: own, version: 1.x}]\n";
            stage.write("charts/edge/Chart.yaml", metadata("edge") + dependencies);
            for name in ["sub", "sub/charts/deep", "own"] {
                let last = name.rsplit('/').next().expect("a name");
                let file = format!("charts/edge/charts/{name}/Chart.yaml");
                stage.write(&file, metadata(last));
            }
            let said = said(&stage);
            for helm in helms.iter().flatten() {
                stage.write("values.json", values);
                let folder = stage.path().join("charts/edge");
                let values = stage.path().join("values.json");
                let outcome = Command::new(helm)
                    .args(["template", "paris"])
                    .args([&folder, Path::new("-f"), &values])
                    .output()
                    .expect("helm runs");
                let is_known = said.iter().all(|line| !line.contains("unknown"));
                assert_eq!(
                    outcome.status.success(),
                    is_known,
                    "{values:?}: {outcome:?}"
                );
            }
            said
        },
    );
}

/// Flux makes a kustomization of a folder that has none.
#[test]
fn values_in_a_file_beside_a_release_are_read() {
    let from = "  valuesFrom: [{kind: ConfigMap, name: paris-values}]\n";
    let release = RELEASE
        .split("  values:")
        .next()
        .expect("its start")
        .to_owned()
        + from;
    let values = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: paris-values}\ndata: {values.yaml: 'version: ${v:=v1.30.2}'}\n";
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n\
                spec: {path: ./apps, targetNamespace: clusters, postBuild: {substitute: {v: v1.30.9}}}\n";
    let image = "image: {name: ubuntu-2204-kube-v1.30.2}\nversion: v1.1.1\n";
    let plain = values.replace("${v:=v1.30.2}", "v1.30.2");
    let stage = with_chart(
        image,
        &[("apps/paris.yaml", &release), ("apps/values.yaml", &plain)],
    );
    stage.check().is(str![[r#"
paris/control-plane v1.30.2 (apps/values.yaml:4:31): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:1:15) holds 1.30.2

"#]]);
    // As Flux fills it in.
    stage.write("apps/values.yaml", values);
    stage.write("flux.yaml", flux);
    stage.check().is(str![[r#"
error[k8s-version-mismatch] paris/control-plane charts/edge/values.yaml:1:15 `ubuntu-2204-kube-v1.30.2` apps/values.yaml:4:21 `'version: ${v:=v1.30.2}'` => v1.30.9
paris/control-plane v1.30.9 (apps/values.yaml:4:21): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:1:15) holds 1.30.2

"#]]);
    // What another kustomization deploys is not beside it.
    stage.remove("flux.yaml");
    stage.write("apps/kustomization.yaml", "resources: [values.yaml]\n");
    stage.check().is(str![[r#"
warning[composition-unsupported] apps/paris.yaml:1:1 `apiVersion: helm.toolkit.fluxcd.io/v2`
error[nothing-checked] => metalmark clusters | --allow-empty
paris/edge: unknown (the values of its chart are not known)

"#]]);
}

#[test]
fn why_a_folder_does_not_build_is_said_of_what_it_deploys_and_not_that_it_changes_it() {
    let application = |name: &str, path: &str| {
        let spec =
            format!("spec: {{source: {{repoURL: https://git.example/fleet, path: {path}}}}}");
        object(&format!("argoproj.io/v1alpha1 Application {name}"), &spec)
    };
    let (all, edge) = (
        application("all", "apps"),
        application("edge", "charts/edge"),
    );
    let kustomization =
        "resources: [all.yaml, edge.yaml]\ngenerators: [https://example.org/generator.yaml]\n";
    let files = [
        ("apps/kustomization.yaml", kustomization),
        ("apps/all.yaml", &*all),
        ("apps/edge.yaml", &*edge),
    ];
    with_chart(RIGHT, &files).run("check").brief(str![[r#"
warning[composition-unsupported]: `apps` does not build: `https://example.org/generator.yaml` is remote and not built here
  apps/kustomization.yaml:2:14 `https://example.org/generator.yaml`
  help: the node pools that it deploys are not checked
error[nothing-checked]: 0 node pools checked; 1 skipped: the values of its chart are not known
  help: `metalmark clusters` says of each node pool why it is not known
  help: or type `--allow-empty`
1 error, 1 warning; 0 node pools checked; 1 skipped: the values of its chart are not known

"#]]);
}
