//! A chart that a kustomization renders (`helmCharts`) is rendered as kustomize and Helm render it, or what it builds is unknown.

use std::process::Command;

use snapbox::str;

use super::charts::{METADATA, RIGHT, TEMPLATE, plain, with_chart};
use super::helm;
use crate::programs;
use crate::support::stage::{Is, Stage, project, table};

/// A kustomization beside the charts, by the fields of its one chart.
fn inflated(fields: &str) -> String {
    format!("helmGlobals: {{chartHome: ../charts}}\nhelmCharts: [{{name: edge, {fields}}}]\n")
}

/// The chart with what a kustomization may give it.
fn stage(fields: &str) -> Stage {
    with_chart(RIGHT, &[("apps/kustomization.yaml", &inflated(fields))])
        .file("apps/old.yaml", "version: v1.29.1\nimage: null\n")
        .file("apps/more.yaml", "version: v1.28.9\n")
        .file(
            "apps/image.yaml",
            "image: {name: ubuntu-2204-kube-v1.28.9}\n",
        )
        .file("apps/empty.yaml", "# none\n")
        .file("apps/words.yaml", "version: yes\n")
        .file(
            "apps/alias.yaml",
            "old: &old v1.29.1\n# a *note\nversion: *old\n",
        )
        .file("charts/more/edge-1.0.0/edge/Chart.yaml", METADATA)
        .file("charts/more/edge-1.0.0/edge/values.yaml", "{}\n")
}

const CASES: [&str; 29] = [
    "releaseName: r",
    "releaseName: ''",
    "releaseName: r, namespace: lab",
    // Those of a kustomization win over those of the chart; without a value, they take it away.
    "releaseName: r, valuesInline: {version: v1.31.8}",
    "releaseName: r, valuesInline: {version: 1.30}",
    "releaseName: r, valuesInline: {image: {name: ubuntu-2204-kube-v1.31.8, more: []}}",
    "releaseName: r, valuesInline: {version: null}",
    "releaseName: r, valuesInline: {}",
    "releaseName: r, valuesInline: text",
    "releaseName: r, valuesInline: {image: text}",
    // They yield to it.
    "releaseName: r, valuesMerge: merge, valuesInline: {version: v1.31.8, image: {other: a}}",
    "releaseName: r, valuesMerge: replace, valuesInline: {version: v1.31.8}",
    "releaseName: r, valuesMerge: replace, valuesFile: none.yaml, valuesInline: {version: v1.31.8}",
    "releaseName: r, valuesMerge: other, valuesInline: {version: v1.31.8}",
    "releaseName: r, valuesFile: old.yaml",
    "releaseName: r, valuesFile: old.yaml, valuesInline: {image: {name: ubuntu-2204-kube-v1.29.1}}",
    "releaseName: r, valuesFile: old.yaml, valuesMerge: merge, valuesInline: {image: {name: ubuntu-2204-kube-v1.29.1}}",
    "releaseName: r, additionalValuesFiles: [old.yaml, more.yaml], valuesInline: {version: v1.31.8}",
    "releaseName: r, valuesFile: empty.yaml, valuesInline: {version: v1.31.8}",
    "releaseName: r, valuesFile: none.yaml",
    "releaseName: r, additionalValuesFiles: [none.yaml]",
    "releaseName: r, nameTemplate: '{{ 1 }}'",
    "releaseName: r, kubeVersion: '1.27.0'",
    "releaseName: R",
    "releaseName: a-.b",
    "releaseName: a.b-c",
    // Kustomize merges words of YAML 1.1 as texts, and drops the value behind an alias.
    "releaseName: r, valuesFile: words.yaml, valuesInline: {other: a}",
    "releaseName: r, valuesFile: alias.yaml, valuesInline: {other: a}",
    "releaseName: r, valuesFile: old.yaml, additionalValuesFiles: [image.yaml]",
];

#[test]
fn a_chart_of_a_kustomization_is_checked_with_the_values_that_it_gives() {
    let table = table(CASES, |fields| stage(fields).check().pool_lines());
    table.is(str![[r#"
releaseName: r
    r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
releaseName: ''
    release-name/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
releaseName: r, namespace: lab
    r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
releaseName: r, valuesInline: {version: v1.31.8}
    r/control-plane v1.31.8 (apps/kustomization.yaml:2:67): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
releaseName: r, valuesInline: {version: 1.30}
    r/control-plane 1.3 (apps/kustomization.yaml:2:67): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
releaseName: r, valuesInline: {image: {name: ubuntu-2204-kube-v1.31.8, more: []}}
    r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): mismatched, ubuntu-2204-kube-v1.31.8 (apps/kustomization.yaml:2:72) holds 1.31.8
releaseName: r, valuesInline: {version: null}
    r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
releaseName: r, valuesInline: {}
    r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
releaseName: r, valuesInline: text
    edge/edge: unknown (the values of its chart are not known)
releaseName: r, valuesInline: {image: text}
    edge/edge: unknown (the values of its chart are not known)
releaseName: r, valuesMerge: merge, valuesInline: {version: v1.31.8, image: {other: a}}
    r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
releaseName: r, valuesMerge: replace, valuesInline: {version: v1.31.8}
    r/control-plane v1.31.8 (apps/kustomization.yaml:2:89): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
releaseName: r, valuesMerge: replace, valuesFile: none.yaml, valuesInline: {version: v1.31.8}
    r/control-plane v1.31.8 (apps/kustomization.yaml:2:112): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
releaseName: r, valuesMerge: other, valuesInline: {version: v1.31.8}
    edge/edge: unknown (the values of its chart are not known)
releaseName: r, valuesFile: old.yaml
    edge/edge: unknown (the values of its chart are not known)
releaseName: r, valuesFile: old.yaml, valuesInline: {image: {name: ubuntu-2204-kube-v1.29.1}}
    r/control-plane v1.29.1 (apps/old.yaml:1:10): by_name, ubuntu-2204-kube-v1.29.1 (apps/kustomization.yaml:2:94) holds 1.29.1
releaseName: r, valuesFile: old.yaml, valuesMerge: merge, valuesInline: {image: {name: ubuntu-2204-kube-v1.29.1}}
    r/control-plane v1.29.1 (apps/old.yaml:1:10): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
releaseName: r, additionalValuesFiles: [old.yaml, more.yaml], valuesInline: {version: v1.31.8}
    edge/edge: unknown (the values of its chart are not known)
releaseName: r, valuesFile: empty.yaml, valuesInline: {version: v1.31.8}
    edge/edge: unknown (the values of its chart are not known)
releaseName: r, valuesFile: none.yaml
    edge/edge: unknown (the values of its chart are not known)
releaseName: r, additionalValuesFiles: [none.yaml]
    edge/edge: unknown (the values of its chart are not known)
releaseName: r, nameTemplate: '{{ 1 }}'
    edge/edge: unknown (the values of its chart are not known)
releaseName: r, kubeVersion: '1.27.0'
    edge/edge: unknown (the values of its chart are not known)
releaseName: R
    edge/edge: unknown (the values of its chart are not known)
releaseName: a-.b
    edge/edge: unknown (the values of its chart are not known)
releaseName: a.b-c
    a.b-c/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
releaseName: r, valuesFile: words.yaml, valuesInline: {other: a}
    r/control-plane yes (charts/edge/templates/cluster.yaml:7:15): unknown (its Kubernetes version is not a version)
releaseName: r, valuesFile: alias.yaml, valuesInline: {other: a}
    edge/edge: unknown (the values of its chart are not known)
releaseName: r, valuesFile: old.yaml, additionalValuesFiles: [image.yaml]
    r/control-plane v1.29.1 (apps/old.yaml:1:10): mismatched, ubuntu-2204-kube-v1.28.9 (apps/image.yaml:1:15) holds 1.28.9

"#]]);
}

/// What is said of what does not build, and the node pools.
fn said(files: &[(&str, &str)]) -> Vec<String> {
    let stage = with_chart(RIGHT, files);
    let text = stage.run("check").outcome.stdout;
    let is_said = |line: &&str| line.starts_with("warning") || line.starts_with("error");
    let mut lines: Vec<String> = text.lines().filter(is_said).map(str::to_owned).collect();
    lines.extend(stage.check().pools);
    lines
}

/// As a generator that is a file: the fields of the chart and its home are beside each other.
#[test]
fn a_chart_of_a_generator_is_one_of_the_kustomization() {
    let generator = |fields: &str| {
        let head = "apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: g}";
        format!("{{{head}, configHome: /tmp/helm, {fields}}}\n")
    };
    let cases = [
        "name: edge, chartHome: ../charts, releaseName: r, valuesInline: {version: v1.31.8}",
        "name: edge, chartHome: ../charts, valuesFile: old.yaml, valuesInline: {image: {name: ubuntu-2204-kube-v1.28.9}}",
        "name: edge, releaseName: r",
        "name: edge, chartHome: ../charts, kubeVersion: '1.27.0'",
        "name: edge, chartHome: ../charts, other: field",
    ];
    let kustomization = "generators: [chart.yaml]\npatches:\n- target: {kind: KubeadmControlPlane}\n  patch: '- {op: replace, path: /spec/replicas, value: 5}'\n";
    let table = table(cases, |fields| {
        said(&[
            ("apps/kustomization.yaml", kustomization),
            ("apps/chart.yaml", &generator(fields)),
            ("apps/old.yaml", "version: v1.29.1\nimage: null\n"),
        ])
    });
    let inline = format!(
        "generators:\n- |\n  {}",
        generator("name: edge, chartHome: ../charts, releaseName: i")
    );
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec: {path: ./apps, sourceRef: {kind: GitRepository, name: fleet}}\n";
    let chart = generator(cases[0]);
    let of_text = said(&[("apps/kustomization.yaml", &inline)]);
    let files = [
        ("apps/kustomization.yaml", kustomization),
        ("apps/chart.yaml", &*chart),
        ("flux.yaml", flux),
    ];
    let of_flux = said(&files);
    let beside_none = said(&[
        (
            "apps/kustomization.yaml",
            "generators: [none.yaml, chart.yaml]\n",
        ),
        ("apps/chart.yaml", &chart),
    ]);
    // What it makes is no generator.
    let inner = inflated("releaseName: r").replace("../charts", "../../charts");
    let of_charts = said(&[
        ("apps/kustomization.yaml", "generators: [more]\n"),
        ("apps/more/kustomization.yaml", &inner),
    ]);
    let parts = [of_text, of_flux, beside_none, of_charts];
    let parts = parts.map(|lines| lines.join("\n")).join("\n\n");
    [table, parts].join("\n").is(str![[r#"
name: edge, chartHome: ../charts, releaseName: r, valuesInline: {version: v1.31.8}
    error[k8s-version-mismatch]: image `ubuntu-2204-kube-v1.30.2` holds Kubernetes `1.30.2`, not `v1.31.8`
    r/control-plane v1.31.8 (apps/chart.yaml:1:176): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
name: edge, chartHome: ../charts, valuesFile: old.yaml, valuesInline: {image: {name: ubuntu-2204-kube-v1.28.9}}
    error[k8s-version-mismatch]: image `ubuntu-2204-kube-v1.28.9` holds Kubernetes `1.28.9`, not `v1.29.1`
    release-name/control-plane v1.29.1 (apps/old.yaml:1:10): mismatched, ubuntu-2204-kube-v1.28.9 (apps/chart.yaml:1:187) holds 1.28.9
name: edge, releaseName: r
    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
name: edge, chartHome: ../charts, kubeVersion: '1.27.0'
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/chart.yaml` deploys it: what names it is not composed here
    warning[composition-unsupported]: `apps` does not build: a HelmChartInflationGenerator has the field `helmCharts[].kubeVersion`, which is not carried out here
    error[nothing-checked]: 0 node pools checked; 1 skipped: the values of its chart are not known
    edge/edge: unknown (the values of its chart are not known)
name: edge, chartHome: ../charts, other: field
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/chart.yaml` deploys it: what names it is not composed here
    warning[composition-unsupported]: `apps` does not build: a HelmChartInflationGenerator has the field `helmCharts[].other`, which is not carried out here
    error[nothing-checked]: 0 node pools checked; 1 skipped: the values of its chart are not known
    edge/edge: unknown (the values of its chart are not known)

i/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2

warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/chart.yaml` deploys it: what names it is not composed here
warning[composition-failed]: `apps` does not build: Flux renders no `helmCharts`: it runs kustomize without Helm
error[nothing-checked]: 0 node pools checked; 1 skipped: the values of its chart are not known
edge/edge: unknown (the values of its chart are not known)

warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/chart.yaml` deploys it: what names it is not composed here
warning[composition-failed]: `apps` does not build: `none.yaml` is neither a file nor a folder with a kustomization
error[nothing-checked]: 0 node pools checked; 1 skipped: the values of its chart are not known
edge/edge: unknown (the values of its chart are not known)

warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/more/kustomization.yaml` deploys it: what names it is not composed here
warning[composition-unsupported]: `apps` does not build: a KubeadmControlPlane is not run here
edge/edge: unknown (the values of its chart are not known)
r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
"#]]);
}

#[test]
fn a_chart_of_a_kustomization_is_a_part_of_what_it_builds() {
    let chart = inflated("releaseName: r");
    let failing = format!("{chart}resources: [none.yaml]\n");
    let repair = "patches:\n- target: {kind: KubeadmControlPlane}\n  patch: '- {op: replace, path: /spec/version, value: v1.31.8}'\n";
    let patched = format!("{chart}{repair}");
    let over = |prefix: &str| format!("resources: [../apps]\nnamePrefix: {prefix}\n");
    let (over_a, over_b) = (over("a-"), over("b-"));
    let broken = format!("{}patches: [{{path: none.yaml}}]\n", over("b-"));
    let hook = TEMPLATE.replace(
        "labels: {",
        "annotations: {helm.sh/hook: 'pre-install, test'}\n  labels: {",
    );
    let test = TEMPLATE.replace(
        "labels: {",
        "annotations: {helm.sh/hook: pre-install}\n  labels: {",
    );
    let without_hooks = inflated("releaseName: r, skipHooks: true");
    let without_tests = inflated("releaseName: r, skipTests: true");
    let template = "charts/edge/templates/cluster.yaml";
    let of_cluster = TEMPLATE.replace(
        "{{ .Values.version | quote }}",
        "{{ if .Capabilities.APIVersions.Has \"a/v1\" }}v1.31.8{{ else }}v1.30.2{{ end }}",
    );
    let pulled = inflated("releaseName: r, repo: 'https://example.org', version: 2.0.0");
    let pulled = format!("{pulled}resources: [plain.yaml]\n");
    let plain = plain("plain", "v1.31.8");
    let kept = "helmGlobals: {chartHome: ../vendor}\nhelmCharts: [{name: edge, releaseName: r, repo: 'https://example.org', version: 1.0.0}]\n";
    let kept_template = TEMPLATE.replace("{{ .Values.version | quote }}", "v1.31.8");
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec: {path: ./apps, prune: true, interval: 1m, sourceRef: {kind: GitRepository, name: fleet}}\n";
    let argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: apps, namespace: argocd}\nspec: {project: default, destination: {namespace: a}, source: {repoURL: 'https://example.org/fleet.git', path: apps, kustomize: {namePrefix: argo-}}}\n";
    let strict = r#"{"required": ["size"]}"#;
    let none = "helmCharts: [{name: none, releaseName: r}]\nresources: [plain.yaml]\n";
    let deep = "helmCharts: [{name: a/edge, releaseName: r}]\nresources: [plain.yaml]\n";
    let unnamed = "helmCharts: [{releaseName: r}]\nresources: [plain.yaml]\n";
    let outside =
        "helmGlobals: {chartHome: ../..}\nhelmCharts: [{name: edge}]\nresources: [plain.yaml]\n";
    let apps = "apps/kustomization.yaml";
    let cases: Vec<(&str, Vec<(&str, &str)>)> = vec![
        ("alone", vec![(apps, &chart)]),
        ("patched", vec![(apps, &patched)]),
        (
            "two overlays",
            vec![
                (apps, &chart),
                ("a/kustomization.yaml", &over_a),
                ("b/kustomization.yaml", &over_b),
            ],
        ),
        (
            "one of them does not build",
            vec![
                (apps, &chart),
                ("a/kustomization.yaml", &over_a),
                ("b/kustomization.yaml", &broken),
            ],
        ),
        ("it does not build", vec![(apps, &failing)]),
        ("of Flux", vec![(apps, &chart), ("flux.yaml", flux)]),
        ("of Argo CD", vec![(apps, &chart), ("argo.yaml", argo)]),
        (
            "a helmfile names it too",
            vec![
                (apps, &chart),
                (
                    "helmfile.yaml",
                    "releases: [{name: h, chart: ./charts/edge}]\n",
                ),
            ],
        ),
        (
            "without hooks",
            vec![(apps, &without_hooks), (template, &hook)],
        ),
        (
            "without tests",
            vec![(apps, &without_tests), (template, &hook)],
        ),
        (
            "of which it is none",
            vec![(apps, &without_tests), (template, &test)],
        ),
        ("with all hooks", vec![(apps, &chart), (template, &hook)]),
        (
            "of the cluster",
            vec![(apps, &chart), (template, &of_cluster)],
        ),
        (
            "its schema refuses it",
            vec![(apps, &chart), ("charts/edge/values.schema.json", strict)],
        ),
        ("pulled", vec![(apps, &pulled), ("apps/plain.yaml", &plain)]),
        (
            "pulled before",
            vec![
                (apps, kept),
                ("vendor/edge-1.0.0/edge/Chart.yaml", METADATA),
                ("vendor/edge-1.0.0/edge/values.yaml", RIGHT),
                (
                    "vendor/edge-1.0.0/edge/templates/cluster.yaml",
                    &kept_template,
                ),
            ],
        ),
        ("not there", vec![(apps, none), ("apps/plain.yaml", &plain)]),
        (
            "of a deeper folder",
            vec![
                (apps, deep),
                ("apps/plain.yaml", &plain),
                ("apps/charts/a/edge/Chart.yaml", METADATA),
                ("apps/charts/a/edge/values.yaml", RIGHT),
            ],
        ),
        (
            "without a name",
            vec![(apps, unnamed), ("apps/plain.yaml", &plain)],
        ),
        (
            "outside",
            vec![(apps, outside), ("apps/plain.yaml", &plain)],
        ),
    ];
    let mut lines = String::new();
    for (title, files) in cases {
        lines += &format!("{title}\n");
        for line in said(&files) {
            lines += &format!("    {line}\n");
        }
    }
    lines.is(str![[r#"
alone
    r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
patched
    error[k8s-version-mismatch]: image `ubuntu-2204-kube-v1.30.2` holds Kubernetes `1.30.2`, not `v1.31.8`
    r/control-plane v1.31.8 (apps/kustomization.yaml:5:55): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
two overlays
    error[reference-dangling]: KubeadmControlPlane `a-r` refers to OpenStackMachineTemplate `r`, which is not there
    error[reference-dangling]: KubeadmControlPlane `b-r` refers to OpenStackMachineTemplate `r`, which is not there
    a/r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): unknown (its machine template is not among the manifests)
    b/r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): unknown (its machine template is not among the manifests)
one of them does not build
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/kustomization.yaml` deploys it: what names it is not composed here
    warning[composition-failed]: `b` does not build: there is no file `none.yaml`
    error[reference-dangling]: KubeadmControlPlane `a-r` refers to OpenStackMachineTemplate `r`, which is not there
    edge/edge: unknown (the values of its chart are not known)
    r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): unknown (its machine template is not among the manifests)
it does not build
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/kustomization.yaml` deploys it: what names it is not composed here
    warning[composition-failed]: `apps` does not build: `none.yaml` is neither a file nor a folder with a kustomization
    error[nothing-checked]: 0 node pools checked; 1 skipped: the values of its chart are not known
    edge/edge: unknown (the values of its chart are not known)
of Flux
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/kustomization.yaml` deploys it: what names it is not composed here
    warning[composition-failed]: `apps` does not build: Flux renders no `helmCharts`: it runs kustomize without Helm
    error[nothing-checked]: 0 node pools checked; 1 skipped: the values of its chart are not known
    edge/edge: unknown (the values of its chart are not known)
of Argo CD
    error[reference-dangling]: KubeadmControlPlane `argo-r` refers to OpenStackMachineTemplate `r`, which is not there
    r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): unknown (its machine template is not among the manifests)
a helmfile names it too
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `helmfile.yaml` deploys it: what names it is not composed here
    edge/edge: unknown (the values of its chart are not known)
    r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
without hooks
    error[nothing-checked]: OpenStackMachineTemplate `r` is not used by a node pool yet: nothing makes machines from it
without tests
    error[nothing-checked]: OpenStackMachineTemplate `r` is not used by a node pool yet: nothing makes machines from it
of which it is none
    r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
with all hooks
    r/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
of the cluster
    warning[composition-unsupported]: `apps` does not build: the chart `charts/edge` is not checked as `apps/kustomization.yaml` renders it: what it renders depends on the cluster that it is in (`.Capabilities`)
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/kustomization.yaml` deploys it: what names it is not composed here
    error[nothing-checked]: 0 node pools checked; 1 skipped: the values of its chart are not known
    edge/edge: unknown (the values of its chart are not known)
its schema refuses it
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/kustomization.yaml` deploys it: what names it is not composed here
    warning[values-schema]: `apps` does not build: `size` is required
    error[nothing-checked]: 0 node pools checked; 1 skipped: the values of its chart are not known
    edge/edge: unknown (the values of its chart are not known)
pulled
    warning[composition-unsupported]: `apps` does not build: the chart `charts/edge-2.0.0/edge` is not in the repository, and none is pulled here
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `apps/kustomization.yaml` deploys it: what names it is not composed here
    error[nothing-checked]: 0 node pools checked; 1 skipped: its kustomization does not build; 1 skipped: the values of its chart are not known
    edge/edge: unknown (the values of its chart are not known)
    plain/control-plane v1.31.8 (apps/plain.yaml:7:12): unknown (its kustomization does not build)
pulled before
    error[k8s-version-mismatch]: image `ubuntu-2204-kube-v1.30.2` holds Kubernetes `1.30.2`, not `v1.31.8`
    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
    r/control-plane v1.31.8 (vendor/edge-1.0.0/edge/templates/cluster.yaml:7:12): mismatched, ubuntu-2204-kube-v1.30.2 (vendor/edge-1.0.0/edge/values.yaml:2:15) holds 1.30.2
not there
    warning[composition-failed]: `apps` does not build: the chart `apps/charts/none` is not in the repository, and no `repo` says where kustomize gets it
    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
    plain/control-plane v1.31.8 (apps/plain.yaml:7:12): unknown (its kustomization does not build)
of a deeper folder
    warning[composition-failed]: `apps` does not build: a chart of `helmCharts` has a `name`, which is that of a folder
    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
    plain/control-plane v1.31.8 (apps/plain.yaml:7:12): unknown (its kustomization does not build)
without a name
    warning[composition-failed]: `apps` does not build: a chart of `helmCharts` has a `name`, which is that of a folder
    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
    plain/control-plane v1.31.8 (apps/plain.yaml:7:12): unknown (its kustomization does not build)
outside
    warning[composition-failed]: `apps` does not build: the chart `edge` lies outside of the repository
    edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
    plain/control-plane v1.31.8 (apps/plain.yaml:7:12): unknown (its kustomization does not build)

"#]]);
}

/// What each makes, without the places in which it is written.
#[test]
fn a_real_kustomize_with_helm_agrees() {
    let (Some(kustomize), Some((helm, _))) = (programs::find("kustomize"), helm()) else {
        return;
    };
    let mut wrong = Vec::new();
    for fields in CASES {
        let stage = stage(fields);
        // Kustomize reads `helm version` as only Helm 3 prints it.
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = version ]; then echo v3.17.0; else exec '{}' \"$@\"; fi\n",
            helm.display()
        );
        stage.write("helm.sh", script);
        stage.shell("chmod +x helm.sh").exit(0);
        let built = Command::new(&kustomize)
            .args(["build", "--enable-helm", "--helm-command", "./helm.sh"])
            .args(["--load-restrictor", "LoadRestrictionsNone", "apps"])
            .current_dir(stage.path())
            .output()
            .expect("kustomize starts");
        let ours = stage.check().pools;
        let theirs = project().file("all.yaml", &built.stdout);
        let is_unknown = ours.iter().all(|pool| pool.contains("unknown"));
        let is_same = if built.status.success() {
            is_unknown
                && ["alias", "kubeVersion"]
                    .iter()
                    .any(|word| fields.contains(word))
                || strip_places(&ours) == strip_places(&theirs.check().pools)
        } else {
            is_unknown && !ours.is_empty()
        };
        if !is_same {
            let said = String::from_utf8_lossy(&built.stderr).into_owned();
            wrong.push(format!("{fields}: {ours:?} {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn strip_places(pools: &[String]) -> Vec<String> {
    let strip = |pool: &String| {
        let words = pool.split(' ').map(|word| {
            let colon = if word.ends_with(':') { ":" } else { "" };
            if word.starts_with('(') { colon } else { word }
        });
        words.collect::<Vec<_>>().join(" ")
    };
    pools.iter().map(strip).collect()
}
