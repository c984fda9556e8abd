//! One truth, wherever a run starts: the repository is what may be read, and the folder only selects whose clusters are reported.

use std::collections::{BTreeMap, BTreeSet};

use snapbox::str;

use crate::git;
use crate::support::manifests::{GOOD, cluster};
use crate::support::stage::{Is, Stage, project, table};

const PATCH: &str = "\
resources: [../../base]
namespace: NAME
patches:
- target: {kind: KubeadmControlPlane}
  patch: '- {op: replace, path: /spec/version, value: v1.35.1}'
";

/// A repository of [`files`], as far as it needs no git.
fn repository() -> Stage {
    files().file(".git/HEAD", "ref: refs/heads/main\n")
}

/// A base, two overlays, and a folder with nothing to do with them.
fn files() -> Stage {
    let other = cluster("v1.31.8", GOOD).replace("edge", "far");
    project()
        .file("base/kustomization.yaml", "resources: [c.yaml]\n")
        .file("base/c.yaml", cluster("v1.31.8", GOOD))
        .file(
            "clusters/prod/kustomization.yaml",
            PATCH.replace("NAME", "prod"),
        )
        .file(
            "clusters/lyon/kustomization.yaml",
            PATCH.replace("NAME", "lyon").replace("v1.35.1", "v1.31.8"),
        )
        .file("far/c.yaml", other)
        .file(
            "far/broken.yaml",
            "apiVersion: cluster.x-k8s.io/v1beta1\nkind: [\n",
        )
        .file("ci/readme.txt", "nothing")
}

/// What `check` says below a folder: clusters, pools, and findings, with each path as from the top.
fn judged(project: &Stage, folder: &str, words: &str) -> Vec<String> {
    let run = project.run_in(folder, &format!("check --output json {words}"));
    let text = run.outcome.stdout;
    let top = project.path().to_string_lossy().into_owned();
    let Ok(document) = serde_json::from_str::<serde_json::Value>(&text) else {
        return run
            .outcome
            .stderr
            .lines()
            .take(1)
            .map(|line| line.replace(&top, "TOP"))
            .collect();
    };
    let list = |key: &str| document[key].as_array().cloned().unwrap_or_default();
    let word = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    let pools = list("pools").into_iter().map(|pool| {
        let words = ["cluster", "pool", "judgment"].map(|key| word(&pool[key]));
        words.join(" ")
    });
    let findings = list("findings").into_iter().map(|finding| {
        let labels = finding["labels"].as_array().cloned().unwrap_or_default();
        let places = labels
            .iter()
            .map(|label| format!("{}:{}", word(&label["path"]), label["line"]));
        let places: Vec<String> = places.collect();
        format!("{}: {}", word(&finding["rule"]), places.join(" "))
    });
    pools.chain(findings).collect()
}

#[test]
fn a_run_in_a_folder_judges_its_clusters_as_a_run_at_the_top() {
    let repository = repository();
    let folders = [
        "",
        "base",
        "clusters",
        "clusters/prod",
        "clusters/lyon",
        "far",
        "ci",
    ];
    table(folders, |folder| judged(&repository, folder, "")).is(str![[r#"

    clusters/lyon/edge control-plane by_name
    clusters/lyon/edge edge-md by_name
    clusters/prod/edge control-plane mismatched
    clusters/prod/edge edge-md by_name
    far control-plane by_name
    far far-md by_name
    version-skew: base/c.yaml:23 clusters/prod/kustomization.yaml:5
    k8s-version-mismatch: base/c.yaml:29 clusters/prod/kustomization.yaml:5
    yaml-syntax: far/broken.yaml:3
base
    ../clusters/lyon/edge control-plane by_name
    ../clusters/lyon/edge edge-md by_name
    ../clusters/prod/edge control-plane mismatched
    ../clusters/prod/edge edge-md by_name
    version-skew: c.yaml:23 ../clusters/prod/kustomization.yaml:5
    k8s-version-mismatch: c.yaml:29 ../clusters/prod/kustomization.yaml:5
clusters
    lyon/edge control-plane by_name
    lyon/edge edge-md by_name
    prod/edge control-plane mismatched
    prod/edge edge-md by_name
    version-skew: ../base/c.yaml:23 prod/kustomization.yaml:5
    k8s-version-mismatch: ../base/c.yaml:29 prod/kustomization.yaml:5
clusters/prod
    edge control-plane mismatched
    edge edge-md by_name
    version-skew: ../../base/c.yaml:23 kustomization.yaml:5
    k8s-version-mismatch: ../../base/c.yaml:29 kustomization.yaml:5
clusters/lyon
    edge control-plane by_name
    edge edge-md by_name
far
    far control-plane by_name
    far far-md by_name
    yaml-syntax: broken.yaml:3
ci
    error: there is no `metalmark.yaml` here or in a folder above, and no cluster in the manifests below

"#]]);
    assert_eq!(
        judged(&repository, "", "-C clusters/prod"),
        judged(&repository, "clusters/prod", "")
    );
}

#[test]
fn a_project_in_a_folder_judges_the_manifests_that_it_names_as_one_at_the_top() {
    let named = [
        "..",
        "../clusters/prod",
        "../far/c.yaml",
        ".",
        "../none",
        "../../out",
    ];
    let results = table(named, |named| {
        let project = repository();
        let text = format!("version: 1\nmanifests: ['{named}']\n");
        project.write("ci/metalmark.yaml", text);
        judged(&project, "ci", "")
    });
    results.is(str![[r#"
..
    ../clusters/lyon/edge control-plane by_name
    ../clusters/lyon/edge edge-md by_name
    ../clusters/prod/edge control-plane mismatched
    ../clusters/prod/edge edge-md by_name
    far control-plane by_name
    far far-md by_name
    version-skew: ../base/c.yaml:23 ../clusters/prod/kustomization.yaml:5
    k8s-version-mismatch: ../base/c.yaml:29 ../clusters/prod/kustomization.yaml:5
    yaml-syntax: ../far/broken.yaml:3
../clusters/prod
    edge control-plane mismatched
    edge edge-md by_name
    version-skew: ../base/c.yaml:23 ../clusters/prod/kustomization.yaml:5
    k8s-version-mismatch: ../base/c.yaml:29 ../clusters/prod/kustomization.yaml:5
../far/c.yaml
    far control-plane by_name
    far far-md by_name
.
    nothing-checked: 
../none
    project-file: metalmark.yaml:2
../../out
    project-file: metalmark.yaml:2

"#]]);
}

/// A folder whose name begins with a dot is read where it is named, or where the run starts.
#[test]
fn a_hidden_folder_is_read_where_the_run_starts() {
    let project = project()
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file(".deploy/c.yaml", cluster("v1.31.8", GOOD));
    table([".deploy", ""], |folder| judged(&project, folder, "")).is(str![[r#"
.deploy
    edge control-plane by_name
    edge edge-md by_name

    error: there is no `metalmark.yaml` here or in a folder above, and no cluster in the manifests below

"#]]);
}

/// What a project renders is no manifest of its clusters, from wherever it is read.
#[test]
fn what_is_rendered_is_not_read_back_from_the_top() {
    let project = repository();
    let rendered = format!(
        "# Rendered by metalmark for cluster edge; edit the values, not this file.\n{}",
        cluster("v1.29.9", GOOD).replace("Cluster\n", "Other\n")
    );
    project.write("ci/out/c.yaml", rendered);
    project.write(
        "ci/metalmark.yaml",
        "version: 1\nmanifests: [., ../clusters/prod]\noutputs: [{target: configmap, path: out}]\n",
    );
    judged(&project, "ci", "").join("\n").is(str![[r#"
edge control-plane mismatched
edge edge-md by_name
version-skew: ../base/c.yaml:23 ../clusters/prod/kustomization.yaml:5
k8s-version-mismatch: ../base/c.yaml:29 ../clusters/prod/kustomization.yaml:5
"#]]);
}

/// What git does not track is left out, in whichever folder.
#[test]
fn a_run_over_tracked_files_in_a_folder_reads_the_others_of_the_repository() {
    let Some(project) = files().commit("all") else {
        return;
    };
    let render = "version: 1\nmanifests: [.]\noutputs: [{target: configmap, path: out}]\n";
    project.write("ci/metalmark.yaml", render);
    assert!(git::commit_all(project.path(), "a project"));
    project.write(
        "ci/new.yaml",
        cluster("v1.31.8", GOOD).replace("edge", "new"),
    );
    let link = project.path().join("ci/link.yaml");
    std::os::unix::fs::symlink("none.yaml", link).expect("linked");
    let run = project.run_in("ci", "render --check --tracked");
    project.remove("ci/link.yaml");
    run.screen(str![[r#"
error[nothing-checked]: no node pool was checked
 |
 = help: add manifests with a control plane, MachineDeployment or MachinePool, or name their folders: `manifests: [FOLDER]`
 = help: or type `--allow-empty`

warning[project-file]: git does not track `ci/link.yaml` and 1 more, which this run leaves out
 |
 = help: `git add ci/link.yaml` where it belongs to this commit

1 error, 1 warning

"#]]);
    assert!(git::commit_all(project.path(), "more"));
    project.edit("base/c.yaml", "replicas: 3", "replicas: 5");
    let run = project.run_in("clusters/prod", "impact --against HEAD");
    run.brief(str![[r#"
Against c6feeed211, `HEAD`
edge
  control-plane  2 machines provisioned
                   replicas    3 → 5
no machine is re-provisioned, 2 machines provisioned, 0 clusters as before
error[version-skew]: node pool `edge-md` runs Kubernetes `v1.31.8`, more than three minors older than its control plane's `v1.35.1`
  ../../base/c.yaml:23:16
  note: this pool's version
  kustomization.yaml:5:55 `v1.35.1` the control plane's version
  cluster: edge, pool edge-md
  help: run `v1.35.1` in both
error[k8s-version-mismatch]: image `ubuntu-2204-kube-v1.31.8` holds Kubernetes `1.31.8`, not `v1.35.1`
  ../../base/c.yaml:29:49
  note: this image is selected here
  kustomization.yaml:5:55 `v1.35.1` this version is required
  cluster: edge, pool control-plane
  help: name an image with Kubernetes `v1.35.1`, in a machine template of a new name
2 errors in 1 cluster

"#]]);
}

/// For each cluster of a repository: what it is from the top, it is from its own folder.
#[test]
fn each_cluster_is_what_it_is_from_its_folder() {
    let project = repository();
    let all = judged(&project, "", "");
    let of = |lines: &[String]| -> BTreeMap<String, BTreeSet<String>> {
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for line in lines.iter().filter(|line| !line.contains(": ")) {
            let (cluster, rest) = line.split_once(' ').expect("a pool");
            found
                .entry(cluster.to_owned())
                .or_default()
                .insert(rest.to_owned());
        }
        found
    };
    let from_top = of(&all);
    for (folder, name) in [
        ("clusters/prod", "clusters/prod/edge"),
        ("clusters/lyon", "clusters/lyon/edge"),
        ("far", "far"),
    ] {
        let own = of(&judged(&project, folder, ""));
        let pools: Vec<_> = own.values().collect();
        assert_eq!(pools, [&from_top[name]], "{folder}");
    }
}

/// What a first project file would find is what is there without one.
#[test]
fn a_project_is_proposed_for_the_clusters_of_a_folder() {
    let project = repository();
    let run = project.run_in("far", "init --dry-run");
    run.screen(str![[r#"
# What metalmark stamps: `metalmark stamp --check` shows what would change, `metalmark stamp` writes it.
# `metalmark schema` prints the schema of this file for editors.
version: 1
manifests: ['.']
images:
  # What is known of each image, by its key. `k8s: {flavor: kubeadm, version: 1.34.1}` says which Kubernetes it holds.
  records:
    ubuntu-2204-kube-v1-31-8:
      locations: {glance: {name: ubuntu-2204-kube-v1.31.8}}
      # k8s: {version: '1.31.8'}    # so says the name: remove the first `#` if it is right
# Which image each object boots; the first entry that fits counts. A comment in a file says the same, and first:
# `# metalmark: image=KEY` above the object.
stamps:
  - {kind: OpenStackMachineTemplate, image: ubuntu-2204-kube-v1-31-8}
.gitattributes:
# What metalmark writes is compared by its bytes, on every system.
metalmark.lock text eol=lf
*.evidence text eol=lf merge=union linguist-generated gitlab-generated

found 1 cluster with 2 node pools: Cluster API manifests
described 1 image under `images.records`; `stamps` says who boots which
1 error, 1 warning in 1 cluster; 2 node pools checked: 2 by name only
1 error must be fixed first: yaml-syntax 1
  such as: broken.yaml:3:1: expected a value, found the end of the file
next: `metalmark check` shows each error at its place, and what to do

"#]]);
}
