//! Plain manifests as kustomize, Flux and clusterctl deploy them: patches, names, replacements and variables.

use std::path::Path;
use std::process::Command;

use metalmark::files::Disk;
use metalmark::read::gitops;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Sources};
use yaml_tree::value::Node;

use super::compose::json;
use super::plain_manifests::{GOOD, check, cluster, repository, summary};
use super::programs;

const OVERLAY: &str = "\
resources: [../../base]
patches:
- path: version.yaml
";

fn version(version: &str) -> String {
    let patch = |kind: &str, group: &str, name: &str, spec: &str| {
        format!(
            "apiVersion: {group}cluster.x-k8s.io/v1beta1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n{spec}---\n"
        )
    };
    let of_workers = format!("  template:\n    spec:\n      version: {version}\n");
    patch(
        "KubeadmControlPlane",
        "controlplane.",
        "edge-cp",
        &format!("  version: {version}\n"),
    ) + &patch("MachineDeployment", "", "edge-md", &of_workers)
}

#[test]
fn each_overlay_is_a_cluster_and_its_base_is_none() {
    let base = cluster("v1.29.0", GOOD);
    let (right, wrong) = (version("v1.31.8"), version("v1.30.2"));
    let files = [
        ("base/kustomization.yaml", "resources: [cluster.yaml]\n"),
        ("base/cluster.yaml", &*base),
        ("overlays/dev/kustomization.yaml", OVERLAY),
        ("overlays/dev/version.yaml", &*right),
        ("overlays/prod/kustomization.yaml", OVERLAY),
        ("overlays/prod/version.yaml", &*wrong),
    ];
    let (screen, status) = check(&files);
    assert_eq!(status, 1, "{screen}");
    let last = "1 error in 1 cluster; 4 node pools checked: 2 by name only, 2 mismatched\n";
    assert!(screen.ends_with(last), "{screen}");
    assert!(
        screen.contains("= cluster: overlays/prod/edge, pool"),
        "{screen}"
    );
    assert!(
        screen.contains("overlays/prod/version.yaml:5:12"),
        "{screen}"
    );
    assert!(!screen.contains("dev"), "{screen}");
}

#[test]
fn a_component_and_a_replacement_change_what_is_built() {
    let base = cluster("v1.29.0", GOOD);
    let replacement = "\
kind: Component
apiVersion: kustomize.config.k8s.io/v1alpha1
replacements:
- source: {kind: KubeadmControlPlane, fieldPath: spec.version}
  targets:
  - {select: {kind: MachineDeployment}, fieldPaths: [spec.template.spec.version]}
  - select: {kind: OpenStackMachineTemplate}
    fieldPaths: [spec.template.spec.image.filter.name]
    options: {delimiter: kube-, index: 1}
";
    let overlay = "\
resources: [../base/cluster.yaml]
components: [../versions]
";
    let files = [
        ("base/cluster.yaml", &*base),
        ("versions/kustomization.yaml", replacement),
        ("prod/kustomization.yaml", overlay),
    ];
    let last = "no findings in 1 cluster; 2 node pools checked: 2 by name only";
    assert_eq!(summary(&files), last);
}

#[test]
fn a_folder_that_does_not_build_is_reported_and_its_files_are_read() {
    let whole = cluster("v1.30.2", GOOD);
    for (kustomization, message) in [
        (
            "resources: [cluster.yaml, missing.yaml]\n",
            "`a` does not build: `missing.yaml` is neither a file nor a folder with a kustomization",
        ),
        (
            "resources: [cluster.yaml]\ntransformers: [t.yaml]\n",
            "`a` does not build: its transformers are not built here",
        ),
    ] {
        let files = [
            ("a/kustomization.yaml", kustomization),
            ("a/cluster.yaml", &*whole),
        ];
        let (screen, _) = check(&files);
        assert!(screen.contains(message), "{screen}");
        assert!(screen.contains("--> a/kustomization.yaml:"), "{screen}");
        assert_eq!(screen.matches("does not build").count(), 1, "{screen}");
        assert!(screen.ends_with("2 mismatched\n"), "{screen}");
    }
}

#[test]
fn what_is_wrong_with_a_base_is_reported_once() {
    let base = "resources: [missing.yaml]\n";
    let overlay = "resources: [../base, cluster.yaml]\n";
    let whole = cluster("v1.31.8", GOOD);
    let files = [
        ("base/kustomization.yaml", base),
        ("a/kustomization.yaml", overlay),
        ("a/cluster.yaml", &*whole),
        ("b/kustomization.yaml", overlay),
        ("b/cluster.yaml", &*whole),
    ];
    let (screen, _) = check(&files);
    let message = "`a` and another folder do not build: `missing.yaml` is neither";
    assert!(screen.contains(message), "{screen}");
    assert!(
        screen.contains("--> base/kustomization.yaml:1:13"),
        "{screen}"
    );
    let last = "1 warning; 4 node pools checked: 4 by name only\n";
    assert!(screen.ends_with(last), "{screen}");
}

/// A folder that is right as a file, and whose patches make it wrong.
fn prod(kind: &str) -> String {
    format!("kind: {kind}\nresources: [cluster.yaml]\npatches:\n- path: version.yaml\n")
}

#[test]
fn what_is_never_built_takes_no_folder_away_from_the_builds() {
    let (whole, wrong) = (cluster("v1.31.8", GOOD), version("v1.30.2"));
    let decoys: [&[(&str, &str)]; 6] = [
        &[],
        &[(
            "decoy/kustomization.yaml",
            "kind: Component\nresources: [../prod]\n",
        )],
        &[
            ("d1/kustomization.yaml", "resources: [../prod, ../d2]\n"),
            ("d2/kustomization.yaml", "resources: [../d1]\n"),
        ],
        &[(
            "decoy/kustomization.yaml",
            "resources: [../prod, missing.yaml]\n",
        )],
        &[(
            "decoy/kustomization.yaml",
            "resources: [../prod]\ntransformers: [t.yaml]\n",
        )],
        &[(
            "decoy/kustomization.yaml",
            "resources: [../prod/cluster.yaml]\npatches: [{path: ../prod, target: {name: none}}]\n",
        )],
    ];
    for (kind, decoy) in decoys
        .iter()
        .flat_map(|decoy| [("Kustomization", *decoy), ("Component", *decoy)])
    {
        let own = prod(kind);
        let files = [
            ("prod/kustomization.yaml", &*own),
            ("prod/cluster.yaml", &*whole),
            ("prod/version.yaml", &*wrong),
        ];
        let (screen, status) = check(&[&files, decoy].concat());
        assert_eq!(status, 1, "{kind} {decoy:?}: {screen}");
        assert!(
            screen.contains("2 mismatched"),
            "{kind} {decoy:?}: {screen}"
        );
    }
}

#[test]
fn a_base_that_an_application_deploys_is_built_by_itself() {
    let (whole, wrong) = (cluster("v1.31.8", GOOD), version("v1.30.2"));
    let (own, right) = (prod("Kustomization"), version("v1.31.8"));
    let files = [
        ("prod/kustomization.yaml", &*own),
        ("prod/cluster.yaml", &*whole),
        ("prod/version.yaml", &*wrong),
        (
            "other/kustomization.yaml",
            "resources: [../prod]\npatches:\n- path: version.yaml\n",
        ),
        ("other/version.yaml", &*right),
    ];
    let last = "no findings in 1 cluster; 2 node pools checked: 2 by name only";
    assert_eq!(summary(&files), last);
    let application = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: prod}
spec: {source: {repoURL: https://git.example.org/fleet, path: prod}}
";
    let set = "\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all}
spec:
  generators:
  - git: {directories: [{path: pro*}]}
  template:
    metadata: {name: '{{path.basename}}'}
    spec: {sources: [{repoURL: https://git.example.org/fleet, path: '{{path}}'}]}
";
    for deploying in [application, set] {
        let (screen, status) = check(&[&files[..], &[("apps/all.yaml", deploying)]].concat());
        assert_eq!(status, 1, "{screen}");
        assert!(screen.contains("2 by name only, 2 mismatched"), "{screen}");
    }
}

#[test]
fn what_a_folder_and_its_part_have_wrong_is_reported_once() {
    let whole = cluster("v1.31.8", GOOD);
    let files = [
        (
            "a/kustomization.yaml",
            "resources: [../base, missing.yaml]\ncomponents: [../c]\n",
        ),
        ("base/kustomization.yaml", "resources: [cluster.yaml]\n"),
        ("base/cluster.yaml", &*whole),
        (
            "c/kustomization.yaml",
            "kind: Component\nresources: [../a/version.yaml]\npatches: [{path: none.yaml}]\n",
        ),
        ("a/version.yaml", &*version("v1.31.8")),
    ];
    let (screen, _) = check(&files);
    assert_eq!(screen.matches("does not build").count(), 1, "{screen}");
    assert!(
        screen.contains("`a` does not build: `missing.yaml`"),
        "{screen}"
    );
}

#[test]
fn a_long_chain_of_kustomizations_and_many_folders_that_share_it_end() {
    let whole = cluster("v1.31.8", GOOD);
    let mut files = vec![(
        "c0/kustomization.yaml".to_owned(),
        "resources: [cluster.yaml]\n".to_owned(),
    )];
    files.push(("c0/cluster.yaml".to_owned(), whole));
    for index in 1..600 {
        let text = format!("resources: [../c{}]\n", index - 1);
        files.push((format!("c{index}/kustomization.yaml"), text));
    }
    for index in 0..60 {
        files.push((
            format!("o{index}/kustomization.yaml"),
            "resources: [../c599]\n".to_owned(),
        ));
    }
    let files: Vec<(&str, &str)> = { files.iter() }
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let (screen, _) = check(&files);
    assert!(
        screen.contains("and 59 other folders do not build: kustomizations are nested too deeply"),
        "{screen}"
    );
    assert!(
        screen.ends_with("2 node pools checked: 2 by name only\n"),
        "{screen}"
    );
}

#[test]
fn flux_builds_the_folders_and_files_below_its_path() {
    let whole = cluster("v1.31.8", GOOD);
    let version = version("v1.30.2");
    let deployed = flux("all", "  path: ./apps/\n  targetNamespace: lab\n");
    let files = [
        ("flux.yaml", &*deployed),
        (
            "apps/kustomized/kustomization.yaml",
            "resources: [base]\npatches: [{path: version.yaml}]\n",
        ),
        ("apps/kustomized/version.yaml", &*version),
        (
            "apps/kustomized/base/kustomization.yaml",
            "resources: [cluster.yaml]\n",
        ),
        ("apps/kustomized/base/cluster.yaml", &*whole),
        (
            "apps/other.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
        ),
    ];
    let (screen, _) = check(&files);
    assert!(
        screen.ends_with("1 error in 1 cluster; 2 node pools checked: 2 mismatched\n"),
        "{screen}"
    );
    // Another repository's folder is not here.
    let elsewhere = flux("all", "  path: ./elsewhere\n");
    let (screen, _) = check(&[
        ("flux.yaml", &elsewhere),
        files[1],
        files[2],
        files[3],
        files[4],
    ]);
    assert!(screen.ends_with("2 mismatched\n"), "{screen}");
}

fn flux(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: flux-system}}\nspec:\n{spec}"
    )
}

#[test]
fn the_variables_of_flux_are_filled_in_for_each_kustomization() {
    let template = cluster(
        "${version}",
        "{filter: {name: 'ubuntu-2204-kube-${version:=v1.31.8}'}}",
    )
    .replacen("{name: edge}", "{name: '${name}'}", 1)
    .replace("clusterName: edge", "clusterName: ${name}");
    let dev = flux(
        "dev",
        "  path: ./template\n  postBuild: {substitute: {name: dev, version: v1.31.8}}\n",
    );
    let prod = flux(
        "prod",
        "  path: ./template
  patches:
  - target: {kind: OpenStackMachineTemplate}
    patch: |
      - {op: replace, path: /spec/template/spec/image/filter/name, value: ubuntu-2204-kube-v1.31.8}
  postBuild:
    substitute: {name: prod}
    substituteFrom:
    - {kind: ConfigMap, name: versions}
",
    );
    let versions = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: versions, namespace: flux-system}\ndata:\n  version: v1.30.2\n";
    let files = [
        ("template/cluster.yaml", &*template),
        ("flux/dev.yaml", &*dev),
        ("flux/prod.yaml", &*prod),
        ("flux/versions.yaml", versions),
    ];
    let (screen, _) = check(&files);
    let last = "1 error in 1 cluster; 4 node pools checked: 2 by name only, 2 mismatched\n";
    assert!(screen.ends_with(last), "{screen}");
    assert!(screen.contains("= cluster: prod, pool"), "{screen}");
    assert!(screen.contains("flux/versions.yaml:5:12"), "{screen}");

    // What a Secret sets is not known.
    let secret = prod.replace("kind: ConfigMap", "kind: Secret");
    let files = [files[0], ("flux/prod.yaml", &*secret)];
    assert!(
        summary(&files).ends_with("2 skipped: its image or version is a variable"),
        "{}",
        summary(&files)
    );
}

#[test]
fn the_variables_of_clusterctl_have_defaults_and_values_of_the_environment() {
    let text = cluster("${KUBERNETES_VERSION:=v1.31.8}", GOOD);
    let by_default = [("clusters/edge.yaml", &*text)];
    assert!(summary(&by_default).ends_with("2 by name only"));
    let files = [
        by_default[0],
        (".env", "export KUBERNETES_VERSION=v1.29.1\n"),
        ("clusters/.env", "KUBERNETES_VERSION=\"v1.30.2\" # newer\n"),
    ];
    let (screen, _) = check(&files);
    assert!(screen.contains("not `v1.30.2`"), "{screen}");
    assert!(screen.ends_with("2 mismatched\n"), "{screen}");
    // Values that look like passwords are not read.
    let text = text.replace("KUBERNETES_VERSION:=v1.31.8", "IMAGE_TOKEN");
    let files = [("edge.yaml", &*text), (".env", "IMAGE_TOKEN=v1.30.2\n")];
    assert!(summary(&files).ends_with("2 skipped: its image or version is a variable"));
}

/// Replacements and patches of manifests build to the same objects as with the real program, or both refuse them.
#[test]
fn replacements_are_as_kustomize_makes_them() {
    let Some(kubectl) = programs::find("kubectl") else {
        return;
    };
    let objects = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: versions, annotations: {a.b/c: x}}
data: {kubernetes: v1.31.8, image: ubuntu-kube-v1.30.2-x}
---
apiVersion: x.example/v1
kind: Pool
metadata: {name: one, labels: {role: a}}
spec: {version: v1.0.0, image: a-b-c, list: [{name: x, value: '1'}, {name: y.z, value: '2'}], numbers: [1, 2]}
---
apiVersion: x.example/v1
kind: Pool
metadata: {name: two, labels: {role: b}}
spec: {version: v1.0.0, image: a-b-c, list: [{name: x, value: '1'}], numbers: [1, 2]}
";
    let source = "{kind: ConfigMap, fieldPath: data.kubernetes}";
    let cases = [
        format!("- source: {source}\n  targets: [{{select: {{kind: Pool}}, fieldPaths: [spec.version]}}]"),
        format!("- source: {source}\n  targets: [{{select: {{kind: Pool}}, reject: [{{name: two}}], fieldPaths: [spec.version]}}]"),
        format!("- source: {source}\n  targets: [{{select: {{kind: Pool, labelSelector: role=b}}, fieldPaths: [spec.version]}}]"),
        format!("- source: {source}\n  targets: [{{select: {{name: one}}, fieldPaths: ['spec.list.[name=y.z].value']}}]"),
        format!("- source: {source}\n  targets: [{{select: {{kind: Pool}}, fieldPaths: ['spec.list.[name=x].value', spec.list.0.value]}}]"),
        format!("- source: {source}\n  targets: [{{select: {{kind: Pool}}, fieldPaths: ['spec.list.*.value']}}]"),
        format!("- source: {source}\n  targets: [{{select: {{kind: Pool}}, fieldPaths: [spec.image], options: {{delimiter: '-', index: 1}}}}]"),
        format!("- source: {source}\n  targets: [{{select: {{kind: Pool}}, fieldPaths: [spec.image], options: {{delimiter: '-', index: 9}}}}]"),
        format!("- source: {source}\n  targets: [{{select: {{kind: Pool}}, fieldPaths: [spec.image], options: {{delimiter: '-', index: -1}}}}]"),
        format!("- source: {source}\n  targets: [{{select: {{kind: Pool}}, fieldPaths: [spec.new.field], options: {{create: true}}}}]"),
        format!("- source: {source}\n  targets: [{{select: {{kind: Pool}}, fieldPaths: [spec.new.field]}}]"),
        format!("- source: {source}\n  targets: [{{select: {{kind: Nothing}}, fieldPaths: [spec.new.field]}}]"),
        "- source: {kind: ConfigMap, fieldPath: data.image, options: {delimiter: '-', index: 2}}\n  targets: [{select: {kind: Pool}, fieldPaths: [spec.version]}]".to_owned(),
        "- source: {kind: ConfigMap, fieldPath: data.image, options: {delimiter: '-', index: 7}}\n  targets: [{select: {kind: Pool}, fieldPaths: [spec.version]}]".to_owned(),
        "- source: {kind: ConfigMap, fieldPath: data.missing}\n  targets: [{select: {kind: Pool}, fieldPaths: [spec.version]}]".to_owned(),
        "- source: {kind: ConfigMap, fieldPath: 'metadata.annotations.[a.b/c]'}\n  targets: [{select: {kind: Pool}, fieldPaths: [spec.version]}]".to_owned(),
        r"- source: {kind: ConfigMap, fieldPath: metadata.annotations.a\.b/c}
  targets: [{select: {kind: Pool}, fieldPaths: [spec.version]}]".to_owned(),
        "- source: {kind: Pool, fieldPath: spec.version}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.kubernetes]}]".to_owned(),
        "- source: {kind: Pool, name: one, fieldPath: spec.numbers.1}\n  targets: [{select: {name: two}, fieldPaths: [spec.numbers.0]}]".to_owned(),
        "- source: {kind: Pool, name: one, fieldPath: spec.list}\n  targets: [{select: {name: two}, fieldPaths: [spec.list]}]".to_owned(),
        "- source: {kind: Pool, name: one}\n  targets: [{select: {name: two}, fieldPaths: [spec.version]}]".to_owned(),
    ];
    let cases = cases.iter().flat_map(|case| {
        let replacements = format!("replacements:\n{case}\n");
        [
            replacements.clone(),
            format!("namePrefix: p-\n{replacements}"),
        ]
    });
    same_as_kustomize(&kubectl, objects, cases);
    // Two objects of one name: the namespace says which of them is meant.
    let twin = |namespace: &str, version: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: twin, namespace: {namespace}}}\ndata: {{version: {version}}}\n---\n"
        )
    };
    let pool =
        "apiVersion: x.example/v1\nkind: Pool\nmetadata: {name: one}\nspec: {version: v1.0.0}\n";
    let twins = twin("a", "v1.30.2") + &twin("b", "v1.31.8") + pool;
    let sources = [
        "name: twin, namespace: b",
        "namespace: a",
        "name: twin",
        "name: twin, namespace: c",
    ];
    let cases = sources.map(|source| {
        format!(
            "replacements:\n- source: {{kind: ConfigMap, {source}, fieldPath: data.version}}\n  \
             targets: [{{select: {{kind: Pool}}, fieldPaths: [spec.version]}}]\n"
        )
    });
    same_as_kustomize(&kubectl, &twins, cases.into_iter());
}

/// References that a configuration declares follow their objects' new names, as with the real program.
#[test]
fn declared_references_follow_new_names_as_in_kustomize() {
    let Some(kubectl) = programs::find("kubectl") else {
        return;
    };
    let objects = "\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: edge}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: edge}
spec: {template: {spec: {infrastructureRef: {kind: Metal3MachineTemplate, name: edge}}}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata: {name: edge}
spec: {workers: {machineDeployments: [{infrastructure: {ref: {kind: Metal3MachineTemplate, name: edge}}}, {infrastructure: {ref: {kind: Metal3MachineTemplate, name: other}}}]}}
";
    let fields = "[{kind: MachineDeployment, path: spec/template/spec/infrastructureRef/name}, \
        {kind: ClusterClass, group: cluster.x-k8s.io, path: spec/workers/machineDeployments/infrastructure/ref/name}]";
    for configuration in [
        format!("nameReference: [{{kind: Metal3MachineTemplate, fieldSpecs: {fields}}}]"),
        format!(
            "nameReference: [{{kind: Metal3MachineTemplate, group: infrastructure.cluster.x-k8s.io, fieldSpecs: {fields}}}]"
        ),
        format!(
            "nameReference: [{{kind: Metal3MachineTemplate, group: example.org, fieldSpecs: {fields}}}]"
        ),
        "nameReference: []".to_owned(),
    ] {
        let cases = ["namePrefix: p-\n", "nameSuffix: -s\n", "namespace: lab\n"];
        let cases = cases.map(|names| format!("{names}configurations: [names.yaml]\n"));
        let files = [("names.yaml", &*configuration)];
        same_with_files(&kubectl, objects, &files, cases.into_iter());
    }
}

/// JSON patches build to the same objects as with the real program, or both refuse them.
#[test]
fn json_patches_are_as_kustomize_applies_them() {
    let Some(kubectl) = programs::find("kubectl") else {
        return;
    };
    let objects = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {x: '1'}
---
apiVersion: x.example/v1
kind: ConfigMap
metadata: {name: b, labels: {l: m}, annotations: {note: o}}
data: {x: '1'}
list: [{a: 1}, {a: 2}]
";
    let operations = [
        r#"{"op": "replace", "path": "/data/y", "value": "2"}"#,
        r#"{"op": "replace", "path": "/more/y", "value": "2"}"#,
        r#"{"op": "replace", "path": "/data", "value": {"z": "1"}}"#,
        r#"{"op": "remove", "path": "/data/y"}"#,
        r#"{"op": "remove", "path": "/data/x"}"#,
        r#"{"op": "move", "from": "/data/q", "path": "/data/y"}"#,
        r#"{"op": "move", "from": "/data/x", "path": "/data/y"}"#,
        r#"{"op": "copy", "from": "/data/q", "path": "/data/y"}"#,
        r#"{"op": "copy", "from": "/data/x", "path": "/data/y"}"#,
        r#"{"op": "copy", "from": "/more/x", "path": "/data/y"}"#,
        r#"{"op": "test", "path": "/data/q", "value": null}"#,
        r#"{"op": "test", "path": "/data/x", "value": "2"}"#,
        r#"{"op": "add", "path": "/metadata/annotations/x", "value": "2"}"#,
        r#"{"op": "replace", "path": "/metadata/annotations/x", "value": "2"}"#,
        r#"{"op": "add", "path": "/metadata/labels/x", "value": "2"}"#,
        r#"{"op": "add", "path": "/metadata/annotations", "value": {"p": "q"}}"#,
        r#"{"op": "replace", "path": "/list/0", "value": 3}"#,
        r#"{"op": "replace", "path": "/list/2", "value": 3}"#,
        r#"{"op": "replace", "path": "/list/0/b", "value": 3}"#,
        r#"{"op": "add", "path": "/list/-", "value": 3}"#,
        r#"{"op": "add", "path": "/new", "value": {"a": [1]}}"#,
        r#"{op: add, path: /data/y, value: '2'}"#,
    ];
    let cases = operations.iter().flat_map(|operation| {
        let as_list = format!("    - {operation}\n");
        let as_json = format!("    [{operation}]\n");
        ["a", "b"].into_iter().flat_map(move |name| {
            [&as_list, &as_json]
                .map(|text| format!("patches:\n- target: {{name: {name}}}\n  patch: |\n{text}"))
        })
    });
    same_as_kustomize(&kubectl, objects, cases);
}

fn same_as_kustomize(kubectl: &Path, objects: &str, cases: impl Iterator<Item = String>) {
    same_with_files(kubectl, objects, &[], cases);
}

fn same_with_files(
    kubectl: &Path,
    objects: &str,
    others: &[(&str, &str)],
    cases: impl Iterator<Item = String>,
) {
    let mut wrong = Vec::new();
    for case in cases {
        let kustomization = format!("resources: [objects.yaml]\n{case}");
        let own = [
            ("objects.yaml", objects),
            ("kustomization.yaml", &*kustomization),
        ];
        let folder = repository(&[&own, others].concat());
        let (theirs, ours) = (kustomize(kubectl, folder.path()), built(folder.path()));
        let is_same = match (&theirs, &ours) {
            (Ok(theirs), Ok(ours)) => theirs == ours,
            (Err(_), Err(_)) => true,
            _ => false,
        };
        if !is_same {
            wrong.push(format!(
                "{kustomization}\n  ours   {ours:#?}\n  theirs {theirs:#?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn kustomize(kubectl: &Path, folder: &Path) -> Result<Vec<String>, String> {
    let output = Command::new(kubectl)
        .arg("kustomize")
        .arg(folder)
        .output()
        .expect("runs");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8(output.stdout).expect("text");
    let read = yaml_tree::read(&text, FileId(0), Engine::Kubectl).expect("YAML");
    Ok(sorted(&read.documents))
}

fn built(folder: &Path) -> Result<Vec<String>, String> {
    let mut sources = Sources::default();
    let disk = Disk::new(folder).expect("a folder");
    let built = gitops::objects(&disk, Path::new(""), &mut sources).expect("readable");
    built
        .map(|objects| sorted(&objects))
        .map_err(|finding| finding.message)
}

fn sorted(objects: &[Node]) -> Vec<String> {
    let mut shown: Vec<String> = objects.iter().map(|object| json(&object.value)).collect();
    shown.sort_unstable();
    shown
}

#[test]
fn the_variables_of_a_folder_count_in_those_below_it_and_in_no_other() {
    let text = cluster("${KUBERNETES_VERSION}", GOOD);
    let of = |environment: &str| {
        summary(&[
            ("clusters/lab/edge.yaml", &text),
            (environment, "KUBERNETES_VERSION=v1.30.2\n"),
        ])
    };
    for environment in [".env", "clusters/.env", "clusters/lab/.env"] {
        let line = of(environment);
        assert!(line.ends_with("2 mismatched"), "{environment}: {line}");
    }
    for environment in ["clusters/lab/more/.env", "clusters/other/.env"] {
        let line = of(environment);
        let end = "2 skipped: its image or version is a variable";
        assert!(line.ends_with(end), "{environment}: {line}");
    }
}

/// A strategic merge patch, inline in a list of patches.
fn inline(patch: &str) -> String {
    let lines = patch.lines().map(|line| format!("    {line}\n"));
    format!("- patch: |\n{}", lines.collect::<String>())
}

#[test]
fn an_inline_patch_is_no_object_of_its_own() {
    let base = cluster("v1.29.0", GOOD);
    let patches = version("v1.31.8");
    let patches: Vec<String> = patches.split_terminator("---\n").map(inline).collect();
    let [control_plane, workers] = &patches[..] else {
        panic!("two patches")
    };
    let overlay = format!("resources: [../base]\npatches:\n{control_plane}{workers}");
    let flux: String = { control_plane.lines().chain(workers.lines()) }
        .map(|line| format!("  {line}\n"))
        .collect();
    let flux = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: x}}\n\
         spec:\n  path: ./base\n  patches:\n{flux}"
    );
    let gone = "$patch: delete\napiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineDeployment\nmetadata: {name: edge-md}\n";
    let gone = format!(
        "resources: [../base]\npatches:\n{control_plane}{}",
        inline(gone)
    );
    for (path, text, pools) in [
        ("over/kustomization.yaml", &overlay, "2 node pools"),
        ("flux/x.yaml", &flux, "2 node pools"),
        ("over/kustomization.yaml", &gone, "1 node pool"),
    ] {
        let files = [
            ("base/kustomization.yaml", "resources: [cluster.yaml]\n"),
            ("base/cluster.yaml", &*base),
            (path, &**text),
        ];
        let found = summary(&files);
        let expected = format!("no findings in 1 cluster; {pools} checked");
        assert!(found.starts_with(&expected), "{path}: {found}");
    }
}

#[test]
fn a_patch_of_an_overlay_that_does_not_build_is_no_object() {
    let files = [
        ("base/kustomization.yaml", "resources: [cluster.yaml]\n"),
        ("base/cluster.yaml", &*cluster("v1.31.8", GOOD)),
        (
            "over/kustomization.yaml",
            "resources: [../base, gone.yaml]\npatches: [{path: p.yaml}]\n",
        ),
        ("over/p.yaml", &*version("v1.30.2")),
    ];
    let found = summary(&files);
    let expected = "1 warning; 2 node pools checked: 2 by name only";
    assert_eq!(found, expected);
}
