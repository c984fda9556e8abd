//! `init` in repositories of every kind: what it writes is read without a finding of the project file, and nothing is lost.

mod environments;
mod hosts;
mod records;

use snapbox::str;

use super::support::manifests::{cluster, object};
use super::support::stage::{Is, Stage, project};

/// What `init` says; it must end well.
fn init(stage: &Stage, words: &str) -> String {
    stage.run(&format!("init {words}")).exit(0).outcome.stdout
}

fn workspace(name: &str) -> Stage {
    let stage = project().folder(&format!("fixtures/workspaces/{name}"));
    stage.remove("metalmark.yaml");
    stage
}

/// The project file that `init` wrote, with which nothing is wrong: without its comments.
fn project_file(stage: &Stage) -> String {
    let checked = stage.check();
    assert_eq!(checked.of_rule("project-file"), [""; 0]);
    assert_ne!(checked.status, 2, "{:?}", checked.findings);
    let text = stage.read("metalmark.yaml");
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_repository_of_sylva_s_shape_becomes_a_project() {
    let flux = workspace("sylva-flux");
    init(&flux, "").is(str![[r#"
wrote metalmark.yaml
found 5 clusters with 6 node pools: Sylva environments
no findings in 5 clusters; 6 node pools checked: 6 proven
next: `metalmark render`, then commit what it wrote

"#]]);
    project_file(&flux).is(str![[r#"
version: 1
clusters:
  - {name: lyon, values: [environment-values/lyon]}
  - {name: paris, values: [environment-values/paris]}
  - each: 'environment-values/workload-clusters/*/'    # one cluster a match, named by its folder
images:
  facts: [os-images-info.yaml]
outputs:
  - {target: flux, path: environment-values/images, patch: sylva-units, chart: charts/sylva-units}

"#]]);
    let metal = workspace("sylva-baremetal");
    init(&metal, "").is(str![[r#"
wrote metalmark.yaml
found 4 clusters with 9 node pools: Sylva environments
1 error, 2 warnings in 1 cluster; 9 node pools checked: 7 proven, 1 by name only, 1 mismatched
1 error must be fixed first: k8s-version-mismatch 1
  such as: environment-values/workload-clusters/lab-7/values.yaml:8:16: image `ubuntu-noble-plain-rke2-1-30-12` holds Kubernetes `1.30.12+rke2r1`, not `v1.31.8+rke2r1`
next: `metalmark check` shows each error at its place, and what to do

"#]]);
    project_file(&metal).is(str![[r#"
version: 1
values:
  - charts/sylva-units/values.yaml
clusters:
  - {name: mgmt, values: [environment-values/mgmt/values.yaml]}
  - each: 'environment-values/workload-clusters/*/values.yaml'    # one cluster a match, named by its folder
images:
  facts: [os-images-info.yaml]
outputs:
  - {target: helm-values, path: rendered}

"#]]);
}

#[test]
fn a_project_file_that_is_there_is_left_alone_and_a_dry_run_writes_nothing() {
    let stage = project().folder("fixtures/workspaces/sylva-flux");
    let before = stage.read("metalmark.yaml");
    let said = init(&stage, "");
    assert!(
        said.starts_with("`metalmark.yaml` is there already"),
        "{said}"
    );
    let dry = init(&stage, "--dry-run");
    assert!(dry.starts_with("# What metalmark reads"), "{dry}");
    assert_eq!(stage.read("metalmark.yaml"), before);
    let stage = workspace("sylva-flux");
    let before = stage.list("");
    init(&stage, "--dry-run --pre-commit --renovate");
    assert_eq!(stage.list(""), before);
}

const TEMPLATE: &str = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\nmetadata: {name: a}\n";

#[test]
fn in_a_repository_without_values_the_missing_files_are_reported() {
    let stage = project();
    stage.run("init").exit(2).screen(str![[r#"
error: found no cluster: neither Helm values that hold `cluster:`, as Sylva's do, nor Cluster API manifests
help: run it at the top of the repository; for values that it does not recognize, type `metalmark check --values values.yaml --clusters 'clusters/*/values.yaml'`

"#]]);
    stage.write("template.yaml", TEMPLATE);
    init(&stage, "").is(str![[r#"
wrote metalmark.yaml
found 0 clusters with 0 node pools: Cluster API manifests
left out 1 machine template whose fields name no image that a record can describe: template.yaml:3:18
1 error
1 error must be fixed first: nothing-checked 1
  such as: template.yaml:3:18: Metal3MachineTemplate `a` is not used by a node pool yet: nothing makes machines from it
next: describe the images under `images.records`, and who boots them under `stamps`; then `metalmark stamp --check`

"#]]);
    let stderr = stage.run("stamp").exit(0).outcome.stderr;
    assert!(stderr.contains("nothing says which image"), "{stderr}");
}

/// Files in the root and objects with references on one line: what is left out is not checked.
#[test]
fn init_leaves_no_object_of_a_cluster_out() {
    let deployment = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineDeployment\nmetadata: {name: md}\n\
                      spec: {template: {spec: {infrastructureRef: {kind: Metal3MachineTemplate, name: a}}}}\n";
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  names:\n    kind: AMachineTemplate\n";
    let stage = project().files(&[
        ("templates/a.yaml", TEMPLATE),
        ("pools/md.yaml", deployment),
        ("crds/a.yaml", definition),
        (
            "eks/edge.yaml",
            "apiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: Cluster\nmetadata: {name: e}\n",
        ),
    ]);
    let manifests = || {
        let outcome = stage.run("init --dry-run").exit(0).outcome;
        let mut lines = outcome.stdout.lines().map(str::to_owned);
        lines.find(|line| line.starts_with("manifests:"))
    };
    assert_eq!(
        manifests().as_deref(),
        Some("manifests: [eks/, pools/, templates/]")
    );
    let cluster = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: c}\n";
    stage.write("cluster.yaml", cluster);
    assert_eq!(manifests().as_deref(), Some("manifests: ['.']"));
}

/// `check` reads these without a project file, so `init` makes a project of them.
#[test]
fn clusters_without_a_machine_template_are_a_project_too() {
    let stage = project().file(
        "edge.yaml",
        "apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: Cluster
metadata: {name: edge}
spec:
  kubernetesVersion: '1.31'
  controlPlaneConfiguration: {count: 1, machineGroupRef: {kind: VSphereMachineConfig, name: edge}}
  datacenterRef: {kind: VSphereDatacenterConfig, name: edge}
---
apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: VSphereMachineConfig
metadata: {name: edge}
spec: {template: /dc/vm/ubuntu-v1.31.6-eks-d-1-31-12-eks-a-0.22.0-amd64, osFamily: ubuntu}
",
    );
    let before = stage.run("check").exit(0).outcome.stdout;
    init(&stage, "").is(str![[r#"
wrote metalmark.yaml
found 1 cluster with 1 node pool: Cluster API manifests
no findings in 1 cluster; 1 node pool checked: 1 by name only
next: `metalmark init --pre-commit --ci=gitlab`, or `--ci=github`, sets up a hook and a CI job, which check every change

"#]]);
    project_file(&stage).is(str![[r#"
version: 1
manifests: ['.']

"#]]);
    assert_eq!(stage.run("check").exit(0).outcome.stdout, before);
}

#[test]
fn a_cluster_stack_has_a_pair_and_is_checked() {
    let images = "images: {worker: {name: ubuntu-capi-image-v1.32.4}}\n";
    let stage = project().files(&[
        (
            "providers/scs/csctl.yaml",
            "config: {kubernetesVersion: v1.32.5}\n",
        ),
        ("providers/scs/cluster-class/values.yaml", images),
    ]);
    init(&stage, "");
    project_file(&stage).is(str![[r#"
version: 1
pairs:
  - {version: '**/csctl.yaml#config.kubernetesVersion', image: 'cluster-class/values.yaml#images.**.name'}

"#]]);
    stage.check().pools(str![[r#"
providers/scs/csctl.yaml/images.worker.name v1.32.5 (providers/scs/csctl.yaml:1:29): mismatched, ubuntu-capi-image-v1.32.4 (providers/scs/cluster-class/values.yaml:1:25) holds 1.32.4

"#]]);
}

/// Values of a cluster that selects no image.
const VALUES: &str = "cluster:\n  k8s_version: v1.31.8\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}\n  control_plane_replicas: 1\n";

/// The clusters in what `init` makes of values files at these paths.
fn clusters(paths: &[&str]) -> String {
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (*path, VALUES)).collect();
    let stage = project().files(&files);
    let said = init(&stage, "");
    let count = format!("found {} clusters", paths.len());
    assert!(said.contains(&count), "{said}");
    let text = project_file(&stage);
    let (_, clusters) = text.split_once("clusters:\n").expect("clusters");
    let lines = clusters.lines().take_while(|line| line.starts_with(' '));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn values_files_anywhere_become_clusters_named_by_what_differs() {
    let names = ["sites/paris/prod", "sites/paris/test", "sites/lyon/prod"];
    let paths = names.map(|name| format!("{name}/values.yaml"));
    clusters(&paths.each_ref().map(String::as_str)).is(str![[r#"
  - each: 'sites/*/*/values.yaml'    # one cluster a match
    name: "{{ path.segments[1] }}-{{ path.segments[2] }}"

"#]]);
    let anywhere = [
        "fleet/eu/paris.yaml",
        "fleet/eu/lyon.yaml",
        "fleet/us/austin.yaml",
        "fleet/us/boston.yaml",
        "other/special/cluster.yaml",
    ];
    clusters(&anywhere).is(str![[r#"
  - {name: special, values: [other/special/cluster.yaml]}
  - each: 'fleet/*/*.yaml'    # one cluster a match, named by its file

"#]]);
    clusters(&["a/one/values.yaml", "a/two/values.yaml"]).is(str![[r#"
  - each: 'a/*/values.yaml'    # one cluster a match, named by its folder

"#]]);
    // What YAML would read as something else is quoted.
    let odd = [
        "x/yes/values.yaml",
        "y/1.30/a.yaml",
        "z/a b/b.yaml",
        "it's/c.yaml",
    ];
    clusters(&odd).is(str![[r#"
  - {name: 'it''s', values: ['it''s/c.yaml']}
  - {name: '1.30', values: [y/1.30/a.yaml]}
  - {name: 'a b', values: ['z/a b/b.yaml']}
  - {name: 'yes', values: [x/yes/values.yaml]}

"#]]);
    // A pattern that found another file too would make a cluster of it.
    let files = anywhere.map(|path| (path, VALUES));
    let stage = project()
        .files(&files)
        .file("fleet/eu/notes.yaml", "a: 1\n");
    let printed = init(&stage, "--dry-run");
    assert!(!printed.contains("each:"), "{printed}");
    assert!(printed.contains("{name: austin, "), "{printed}");
}

#[test]
fn as_many_errors_are_announced_as_check_prints() {
    let paths = ["clusters/a/values.yaml", "clusters/b/values.yaml"];
    let stage = project().files(&paths.map(|path| (path, VALUES)));
    let said = init(&stage, "");
    let expected = [
        "2 errors must be fixed first: image-not-chosen 2\n",
        ": no node pool selects an image (2 times)\n",
        "next: `metalmark check` shows each error",
    ];
    for expected in expected {
        assert!(said.contains(expected), "{said}");
    }
    assert_eq!(stage.check().of_rule("image-not-chosen").len(), 2);
}

/// Their files are read beside the values; the templates of a chart deploy what the values say.
#[test]
fn manifests_beside_values_stay_checked() {
    let stage = project()
        .folder("fixtures/tutorials/sylva")
        .folder("fixtures/tutorials/manifests");
    init(&stage, "").is(str![[r#"
wrote metalmark.yaml
found 5 clusters with 9 node pools: Sylva environments and Cluster API manifests
8 errors, 2 warnings in 4 clusters; 9 node pools checked: 5 by name only, 4 mismatched
8 errors must be fixed first: checksum-missing 3, format-missing 3, k8s-version-mismatch 2
  such as: environment-values/mgmt/values.yaml:4:16: the sha256 of image `ubuntu-noble-hardened-rke2-1-31-8` is not known (2 times)
next: supply the images' facts: run `metalmark lock`, or export them and name the file under `images.facts`:
  kubectl -n sylva-system get configmap os-images-info -o yaml > os-images-info.yaml

"#]]);
    project_file(&stage).is(str![[r#"
version: 1
clusters:
  - {name: mgmt, values: [environment-values/mgmt]}
  - each: 'environment-values/workload-clusters/*/'    # one cluster a match, named by its folder
manifests: [base/, clusters/, environment-values/]
images:
outputs:
  - {target: flux, path: environment-values/images, patch: sylva-units, chart: charts/sylva-units}

"#]]);
    let mismatched = stage.check().of_rule("k8s-version-mismatch").len();
    assert_eq!(mismatched, 2);
    let stage = project().folder("fixtures/tutorials/sylva").files(&[
        (
            "charts/own/Chart.yaml",
            "apiVersion: v2\nname: own\nversion: 1.0.0\n",
        ),
        ("charts/own/templates/template.yaml", TEMPLATE),
    ]);
    init(&stage, "");
    assert!(!project_file(&stage).contains("manifests:"));
}

#[test]
fn without_a_project_file_values_are_summed_up_as_init_would_read_them() {
    let sylva = project()
        .folder("fixtures/tutorials/sylva")
        .file(".git/HEAD", "");
    sylva.run("").exit(1).screen(str![[r#"
Sylva environments: 3 clusters, no project file
7 errors, 2 warnings in 3 clusters; 5 node pools checked: 3 by name only, 2 mismatched
7 errors must be fixed first: checksum-missing 3, format-missing 3, k8s-version-mismatch 1
  such as: environment-values/mgmt/values.yaml:4:16: the sha256 of image `ubuntu-noble-hardened-rke2-1-31-8` is not known (2 times)
next: `metalmark init` writes the project file, which the other commands read; `metalmark help` lists the commands

"#]]);
    let path = "clusters/a/values.yaml";
    let values = project().files(&[(path, VALUES), (".git/HEAD", "")]);
    let said = values.run("").exit(1).outcome.stdout;
    assert!(
        said.starts_with("Helm values: 1 cluster, no project file\n"),
        "{said}"
    );
    let both = values.folder("fixtures/tutorials/manifests");
    let said = both.run("").exit(1).outcome.stdout;
    assert!(
        said.starts_with("Helm values and Cluster API manifests: 3 clusters,"),
        "{said}"
    );
}

#[test]
fn values_beside_the_folders_of_clusters_are_a_layer_of_each() {
    let stage = project().files(&[
        ("values.yaml", "k8s: v1.31.8\n"),
        (
            "clusters/a/values.yaml",
            &VALUES.replace("v1.31.8", "'{{ .Values.k8s }}'"),
        ),
    ]);
    init(&stage, "");
    assert!(project_file(&stage).starts_with("version: 1\nvalues:\n  - values.yaml\nclusters:\n"));
    assert_eq!(stage.check().of_rule("value-missing"), [""; 0]);
    // The one cluster is no layer of itself.
    let alone = project().file("values.yaml", VALUES);
    init(&alone, "");
    assert!(!project_file(&alone).contains("\nvalues:"));
}

#[test]
fn a_catalog_among_the_values_of_clusters_is_a_layer_of_each() {
    let catalog = "os_images: {noble: {uri: 'https://h/noble.raw'}}\n";
    let stage = project().files(&[
        ("clusters/paris.yaml", VALUES),
        ("clusters/lyon.yaml", VALUES),
        ("clusters/images.yaml", catalog),
    ]);
    init(&stage, "");
    project_file(&stage).is(str![[r#"
version: 1
values:
  - clusters/images.yaml
clusters:
  - {name: lyon, values: [clusters/lyon.yaml]}
  - {name: paris, values: [clusters/paris.yaml]}
images:
  url: "http://os-image-server-{{ image.key }}.os-images.svc.cluster.local:8080/{{ image.filename }}"
outputs:
  - {target: manifests, path: "rendered/clusters/{{ cluster.name }}"}
  - {target: configmap, path: rendered/shared}

"#]]);
    assert_eq!(stage.check().of_rule("value-missing"), [""; 0]);
}

/// A file that patches what it deploys names no object of Cluster API.
#[test]
fn check_finds_the_same_before_and_after_init() {
    let machines = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: w}
spec:
  clusterName: edge
  template:
    spec:
      version: v1.33.1
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: DockerMachineTemplate, name: w}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: DockerMachineTemplate
metadata: {name: w}
spec: {template: {spec: {customImage: 'kindest/node:v1.33.1'}}}
";
    let patch = "  - target: {kind: MachineDeployment}\n    patch: '- {op: replace, path: /spec/template/spec/version, value: v1.34.1}'\n";
    let overlay = format!("resources: [../base]\npatches:\n{patch}");
    let flux = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: edge, namespace: flux-system}}\nspec:\n  path: ./base\n  prune: true\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n  patches:\n{patch}"
    );
    for (path, text) in [
        ("lyon/kustomization.yaml", overlay),
        ("flux/edge.yaml", flux),
    ] {
        let stage = project().files(&[
            (".git/HEAD", ""),
            ("base/c.yaml", machines),
            ("base/kustomization.yaml", "resources: [c.yaml]\n"),
            (path, &text),
        ]);
        let judge = || {
            let checked = stage.check();
            assert_eq!(checked.of_rule("k8s-version-mismatch").len(), 1, "{path}");
            assert_eq!(checked.findings.len(), 1, "{path}");
            checked.status
        };
        assert_eq!(judge(), 1);
        init(&stage, "");
        assert_eq!(judge(), 1);
    }
}

/// What an Application reads as values of its chart is a part of its cluster: markers in it are stamped.
#[test]
fn the_values_that_a_chart_is_deployed_with_are_among_the_manifests() {
    let chart = cluster("v1.31.8", "{filter: {name: '{{ .Values.image }}'}}");
    let stage = project()
        .file("charts/site/Chart.yaml", "apiVersion: v2\nname: site\nversion: 1.0.0\n")
        .file("charts/site/values.yaml", "image: ubuntu-2204-kube-v1.31.8\n")
        .file("charts/site/templates/cluster.yaml", chart)
        .file("sites/paris/values.yaml", "image: ubuntu-2404-kube-v1.31.8\n")
        .file(
            "apps/all.yaml",
            object(
                "argoproj.io/v1alpha1 ApplicationSet argocd/all",
                "spec:
  goTemplate: true
  generators: [{git: {repoURL: 'https://git.example.org/fleet', revision: HEAD, directories: [{path: sites/*}]}}]
  template:
    metadata: {name: '{{ .path.basename }}'}
    spec:
      project: default
      destination: {namespace: apps, server: https://kubernetes.default.svc}
      source: {repoURL: 'https://git.example.org/fleet', targetRevision: HEAD, path: charts/site, helm: {valueFiles: ['../../{{ .path.path }}/values.yaml']}}",
            ),
        );
    init(&stage, "").is(str![[r#"
wrote metalmark.yaml
found 1 cluster with 2 node pools: Cluster API manifests
left out 1 machine template whose image is a variable: charts/site/templates/cluster.yaml:29:49
no findings in 1 cluster; 2 node pools checked: 2 by name only
next: `metalmark init --pre-commit --ci=gitlab`, or `--ci=github`, sets up a hook and a CI job, which check every change

"#]]);
    project_file(&stage).is(str![[r#"
version: 1
manifests: [apps/, charts/, sites/]
images:
  records: {}
stamps: []

"#]]);
}
