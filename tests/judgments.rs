//! Each node pool has one judgment, and every command prints that one.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use serde_json::Value;
use snapbox::str;

use super::impact_objects::CLASS;
use super::page::Data;
use super::support::manifests::{GOOD, cluster};
use super::support::stage::{Stage, project};

/// The numbers of judgments in the page's data.
const NUMBERS: [&str; 5] = ["proven", "by_name", "unproven", "mismatched", "unknown"];

/// Images: those that say a version, in several precisions, and those of which only the name does.
const CATALOG: &str = "os_images:
  whole: {k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, image-format: raw, uri: 'https://i.example/a'}
  no-build: {k8s-flavor: rke2, k8s-version: 1.31.8, image-format: raw, uri: 'https://i.example/b'}
  older: {k8s-flavor: rke2, k8s-version: 1.30.12+rke2r1, image-format: raw, uri: 'https://i.example/c'}
  ubuntu-noble-plain-rke2-1-31-8: {image-format: raw, uri: 'https://i.example/d'}
  ubuntu-noble-plain-rke2-1-31: {image-format: raw, uri: 'https://i.example/e'}
  mystery: {image-format: raw, uri: 'https://i.example/f'}
";

const CHOICES: [&str; 11] = [
    "image_key: whole",
    "image_key: no-build",
    "image_key: older",
    "image_key: ubuntu-noble-plain-rke2-1-31-8",
    "image_key: ubuntu-noble-plain-rke2-1-31",
    "image_key: mystery",
    "image_key: missing",
    "image_key: ''",
    "machine_image_url: 'https://i.example/ubuntu-jammy-plain-rke2-1.31.8.qcow2'",
    "os_image_selector: {k8s-flavor: rke2}",
    "os_image_selector: {os: plan9}",
];

const VERSIONS: [&str; 4] = ["v1.31.8+rke2r1", "v1.31.8", "v1.30.12+rke2r1", "v1.31"];

const NAMES: [&str; 5] = [
    "ubuntu-2204-kube-v1.31.8",
    "ubuntu-2204-kube-v1.30.2",
    "ubuntu-2204",
    "${IMAGE}",
    "ubuntu-2204-kube-v1.31",
];

/// Kinds of machine templates, known and not, and what they hold: an image `NAME`.
const TEMPLATES: [(&str, &str); 8] = [
    (
        "OpenStackMachineTemplate",
        "{image: {filter: {name: 'NAME'}}}",
    ),
    ("VSphereMachineTemplate", "{template: 'NAME'}"),
    (
        "Metal3MachineTemplate",
        "{image: {url: 'http://i/NAME.raw', checksum: 'http://i/NAME.sha256sum'}}",
    ),
    (
        "AzureMachineTemplate",
        "{image: {id: '/subscriptions/s/images/NAME'}}",
    ),
    (
        "DockerMachineTemplate",
        "{customImage: 'kindest/node:NAME'}",
    ),
    (
        "ProxmoxMachineTemplate",
        "{templateSelector: {matchTags: ['NAME']}}",
    ),
    ("AWSMachineTemplate", "{ami: {id: ami-1}}"),
    ("NovelMachineTemplate", "{os: 'NAME'}"),
];

const PLANES: [&str; 4] = [
    "KubeadmControlPlane",
    "RKE2ControlPlane",
    "TalosControlPlane",
    "NovelControlPlane",
];

fn pick<T: Copy>(all: &[T], number: u8) -> T {
    all[usize::from(number) % all.len()]
}

/// A project of values, with a cluster for each row of numbers.
fn values(rows: &[[u8; 5]]) -> Stage {
    let stage = project()
        .file("catalog.yaml", CATALOG)
        .settings("values: [catalog.yaml]");
    rows.iter().enumerate().fold(stage, |stage, (index, row)| {
        let [version, first, second, ..] = *row;
        let text = format!(
            "cluster:
  k8s_version: {}
  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}
  control_plane: {{capm3: {{{}}}}}
  machine_deployments: {{md0: {{capm3: {{{}}}}}}}
",
            pick(&VERSIONS, version),
            pick(&CHOICES, first),
            pick(&CHOICES, second),
        );
        stage.cluster(&format!("c{index}"), &text)
    })
}

/// A repository of manifests, the same way; of some clusters the machine template is missing, and some have a class.
fn manifests(rows: &[[u8; 5]]) -> Stage {
    rows.iter()
        .enumerate()
        .fold(project(), |stage, (index, row)| {
            let [version, name, template, plane, shape] = *row;
            let (version, name) = (pick(&["v1.31.8", "v1.30.2"], version), pick(&NAMES, name));
            let (kind, spec) = pick(&TEMPLATES, template);
            let text = match shape % 4 {
                // Each cluster has its own objects under the names of the class.
                0 => CLASS
                    .replacen("ubuntu-2204-kube-v1.30.2", name, 1)
                    .replace("version: v1.30.2", &format!("version: {version}"))
                    .replace(
                        "metadata: {name",
                        &format!("metadata: {{namespace: c{index}, name"),
                    ),
                _ => cluster(version, GOOD)
                    .replace(&format!("{{image: {GOOD}}}"), &spec.replace("NAME", name))
                    .replace("OpenStackMachineTemplate", kind)
                    .replace("KubeadmControlPlane", pick(&PLANES, plane)),
            };
            let text = text.replace("edge", &format!("c{index}"));
            let (head, _) = text.rsplit_once("---").expect("documents");
            let kept = if shape % 4 == 1 { head } else { &text };
            stage.file(&format!("clusters/c{index}.yaml"), kept)
        })
}

fn json(stage: &Stage, words: &str) -> Value {
    let outcome = stage.run(&format!("{words} --output json")).outcome;
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{words}: {}", outcome.stderr))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("a list").iter()
}

type Judgments = BTreeMap<String, String>;

/// The judgments of a list of pools.
fn judgments<'v>(pools: impl Iterator<Item = &'v Value>) -> Judgments {
    let text = |pool: &Value, key: &str| pool[key].as_str().expect("a text").to_owned();
    pools
        .map(|pool| {
            let name = format!("{}/{}", text(pool, "cluster"), text(pool, "pool"));
            (name, text(pool, "judgment"))
        })
        .collect()
}

/// All commands against `check`.
fn assert_agreement(stage: &Stage) {
    let check = json(stage, "check");
    let known = judgments(list(&check["pools"]));
    let counts = &check["summary"]["pools"];
    let count = |word: &str| known.values().filter(|known| *known == word).count();
    for word in &NUMBERS[..4] {
        assert_eq!(counts[*word], count(word), "{word} in {counts}");
    }
    let listed = json(stage, "clusters");
    let listed = judgments(list(&listed).flat_map(|row| list(&row["pools"])));
    assert_eq!(listed, known, "clusters");

    // The page has the worst last.
    let order = |word: &str| NUMBERS.iter().position(|number| *number == word);
    let worst = known.values().map(|word| order(word)).max().flatten();
    let is_refused = stage.run("check").outcome.status == 1;
    for (flag, word) in [
        ("by-name", "by_name"),
        ("unproven", "unproven"),
        ("unknown", "unknown"),
    ] {
        let status = stage.run(&format!("check --fail-on {flag}")).outcome.status;
        let is_bad = is_refused || worst >= order(word);
        assert_eq!(status, i32::from(is_bad), "--fail-on {flag}: {known:?}");
    }

    let images = json(stage, "images");
    for row in list(&images) {
        for (pool, judgment) in row["judgments"].as_object().expect("a map") {
            assert_eq!(
                judgment.as_str(),
                known.get(pool).map(String::as_str),
                "images"
            );
        }
    }
    let page = stage.run("page").exit(0).outcome.stdout;
    let page = Data::parse(&page);
    let mut shown = Judgments::new();
    for row in page.rows("clusters") {
        for pool in list(&row["p"]) {
            let name = format!("{}/{}", page.text(&row["n"]), page.text(&pool["n"]));
            let number = pool["s"].as_u64().expect("a number") as usize;
            shown.insert(name, NUMBERS[number].to_owned());
        }
    }
    assert_eq!(shown, known, "page");

    let plan = json(stage, "plan --patch-only");
    for row in list(&plan["clusters"]) {
        let name = row["cluster"].as_str().expect("a name");
        let explained = json(stage, &format!("explain {name}"));
        let mut own = known.clone();
        own.retain(|pool, _| pool.starts_with(&format!("{name}/")));
        assert_eq!(judgments(list(&explained)), own, "explain {name}");
        let reason = row["blocked"]["reason"].as_str().unwrap_or_default();
        let is_open = |word: &&str| own.values().any(|own| own == word);
        let open: Vec<&str> = NUMBERS[2..].iter().copied().filter(is_open).collect();
        let is_said = open
            .iter()
            .any(|word| reason.contains(&format!("is {word}: ")));
        assert_eq!(is_said, !open.is_empty(), "plan {name}: {reason} {own:?}");
    }
}

/// What `impact` says of the clusters of a stage, where there were none before.
fn assert_impact(stage: Stage) {
    let known = judgments(list(&json(&stage, "check")["pools"]));
    let files = stage.texts();
    for path in files.keys() {
        match &**path {
            "metalmark.yaml" => stage.write(path, "version: 1\n"),
            path => stage.remove(path),
        };
    }
    let Some(stage) = stage.file("README", "").commit("nothing") else {
        return;
    };
    for (path, text) in &files {
        stage.write(path, text);
    }
    let impact = json(&stage, "impact --against HEAD");
    let pools = list(&impact["clusters"]).flat_map(|cluster| {
        list(&cluster["pools"]).map(move |pool| {
            let mut pool = pool.clone();
            pool["cluster"] = cluster["cluster"].clone();
            pool
        })
    });
    let pools: Vec<Value> = pools.collect();
    assert_eq!(judgments(pools.iter()), known, "impact");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, ..ProptestConfig::default() })]

    #[test]
    fn every_command_prints_the_same_judgment(rows in vec(any::<[u8; 5]>(), 1..5)) {
        for stage in [values(&rows), manifests(&rows)] {
            assert_agreement(&stage);
            assert_impact(stage);
        }
    }
}

#[test]
fn a_change_says_what_its_pools_are_judged() {
    let Some(stage) = manifests(&[[0, 0, 0, 0, 2]]).commit("one") else {
        return;
    };
    stage.edit("clusters/c0.yaml", "kube-v1.31.8", "kube-v1.30.2");
    let impact = json(&stage, "impact --against HEAD");
    let pools: Vec<&Value> = list(&impact["clusters"][0]["pools"]).collect();
    assert!(!pools.is_empty());
    assert!(pools.iter().all(|pool| pool["judgment"] == "mismatched"));
}

#[test]
fn a_version_that_is_seen_and_proves_nothing_is_named() {
    let stage = project()
        .file(
            "a.yaml",
            cluster(
                "v1.31.8",
                "{filter: {name: own-1.30.2}}, serverMetadata: {from: k8s-1.31.8}",
            ),
        )
        .file(
            "b.yaml",
            cluster("v1.31.8", "{filter: {name: own}}").replace("edge", "b"),
        );
    stage.run("clusters").exit(0).screen(str![[r#"
CLUSTER  POOL           PROVIDER  KUBERNETES  IMAGE       JUDGMENT
b        control-plane  capo      v1.31.8     own         unproven: no source says which version it holds
b        b-md           capo      v1.31.8     own         unproven: no source says which version it holds
edge     control-plane  capo      v1.31.8     own-1.30.2  unproven: its machine template seems to name `1.30.2`
edge     edge-md        capo      v1.31.8     own-1.30.2  unproven: its machine template seems to name `1.30.2`

"#]]);
    stage
        .run("explain edge/control-plane")
        .exit(0)
        .screen(str![[r#"
edge/control-plane boots image `own-1.30.2`  (a.yaml:29:49)
  Kubernetes v1.31.8  (a.yaml:12:12)
  unproven: its machine template seems to name `1.30.2`

"#]]);
}

#[test]
fn clusters_are_listed_by_name_provider_judgment_version_and_label() {
    let stage = manifests(&[
        [0, 0, 0, 0, 2],
        [0, 1, 0, 0, 2],
        [0, 3, 0, 0, 2],
        [1, 1, 0, 0, 1],
    ]);
    stage.run("clusters").exit(0).screen(str![[r#"
CLUSTER  POOL           PROVIDER  KUBERNETES  IMAGE                     JUDGMENT
c0       control-plane  capo      v1.31.8     ubuntu-2204-kube-v1.31.8  by name only: `1.31.8` in the image's name
c0       c0-md          capo      v1.31.8     ubuntu-2204-kube-v1.31.8  by name only: `1.31.8` in the image's name
c1       control-plane  capo      v1.31.8     ubuntu-2204-kube-v1.30.2  mismatched: `1.30.2` in the image's name
c1       c1-md          capo      v1.31.8     ubuntu-2204-kube-v1.30.2  mismatched: `1.30.2` in the image's name
c2       control-plane  capo      v1.31.8     –                         unknown: its image or version is a variable
c2       c2-md          capo      v1.31.8     –                         unknown: its image or version is a variable
c3       control-plane  –         v1.30.2     –                         unknown: its machine template is not among the manifests
c3       c3-md          –         v1.30.2     –                         unknown: its machine template is not among the manifests

"#]]);
    let labels = "metadata: {name: c0, labels: {region: north}}";
    stage.edit(
        "clusters/c0.yaml",
        "kind: Cluster\nmetadata: {name: c0}",
        &format!("kind: Cluster\n{labels}"),
    );
    stage.run("clusters c1/control-plane").screen(str![[r#"
CLUSTER  POOL           PROVIDER  KUBERNETES  IMAGE                     JUDGMENT
c1       control-plane  capo      v1.31.8     ubuntu-2204-kube-v1.30.2  mismatched: `1.30.2` in the image's name

"#]]);
    stage.run("clusters c? --judgment unknown").screen(str![[r#"
CLUSTER  POOL           PROVIDER  KUBERNETES  IMAGE  JUDGMENT
c2       control-plane  capo      v1.31.8     –      unknown: its image or version is a variable
c2       c2-md          capo      v1.31.8     –      unknown: its image or version is a variable
c3       control-plane  –         v1.30.2     –      unknown: its machine template is not among the manifests
c3       c3-md          –         v1.30.2     –      unknown: its machine template is not among the manifests

"#]]);
    stage
        .run("clusters --judgment mismatched --judgment by-name --k8s-version 1.31")
        .screen(str![[r#"
CLUSTER  POOL           PROVIDER  KUBERNETES  IMAGE                     JUDGMENT
c0       control-plane  capo      v1.31.8     ubuntu-2204-kube-v1.31.8  by name only: `1.31.8` in the image's name
c0       c0-md          capo      v1.31.8     ubuntu-2204-kube-v1.31.8  by name only: `1.31.8` in the image's name
c1       control-plane  capo      v1.31.8     ubuntu-2204-kube-v1.30.2  mismatched: `1.30.2` in the image's name
c1       c1-md          capo      v1.31.8     ubuntu-2204-kube-v1.30.2  mismatched: `1.30.2` in the image's name

"#]]);
    stage
        .run("clusters --label region=north --provider capo")
        .screen(str![[r#"
CLUSTER  POOL           PROVIDER  KUBERNETES  IMAGE                     JUDGMENT
c0       control-plane  capo      v1.31.8     ubuntu-2204-kube-v1.31.8  by name only: `1.31.8` in the image's name
c0       c0-md          capo      v1.31.8     ubuntu-2204-kube-v1.31.8  by name only: `1.31.8` in the image's name

"#]]);
    stage
        .run("clusters --provider capz")
        .exit(0)
        .screen(str![[r#"
no node pool is listed

"#]]);
    stage
        .run("clusters --provider capz -q")
        .exit(0)
        .screen(str![]);
    stage.run("clusters --provider capx").exit(2);
    stage
        .run("clusters c0 c9/* --output json")
        .exit(2)
        .screen(str![[r#"
error: there is no file, cluster, node pool or image `c9/*`
help: `metalmark clusters` lists them all

"#]]);
    stage
        .run("clusters c1/control-plan")
        .exit(2)
        .screen(str![[r#"
error: there is no file, cluster, node pool or image `c1/control-plan`
help: did you mean `c1/control-plane`?

"#]]);
    stage.run("clusters south").exit(2).screen(str![[r#"
error: there is no file, cluster, node pool or image `south`
help: `metalmark clusters` lists them all

"#]]);
    stage
        .run("clusters ubuntu-2204-kube-v1.30.2")
        .screen(str![[r#"
CLUSTER  POOL           PROVIDER  KUBERNETES  IMAGE                     JUDGMENT
c1       control-plane  capo      v1.31.8     ubuntu-2204-kube-v1.30.2  mismatched: `1.30.2` in the image's name
c1       c1-md          capo      v1.31.8     ubuntu-2204-kube-v1.30.2  mismatched: `1.30.2` in the image's name

"#]]);
    stage.run("clusters --label region").exit(2);
    stage.run("clusters --k8s-version new").exit(2);
    stage.run("clusters [").exit(2);
}

#[test]
fn a_check_finds_what_a_render_refuses() {
    let lines = "cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capo, bootstrap_provider: cabpr}
  capo: {image_key: proven}
";
    let stage = project()
        .catalog(&[&format!("proven rke2 1.31.8+rke2r1 md5={}", "a".repeat(32))])
        .files(&[("one.yaml", lines), ("two.yaml", lines)])
        .file(
            "metalmark.yaml",
            "version: 1
values: [catalog.yaml]
clusters:
  - {name: one, namespace: fleet, values: [one.yaml]}
  - {name: two, namespace: fleet, values: [two.yaml]}
outputs:
  - {target: flux, path: flux}
",
        );
    stage.run("render --check").exit(1).screen(str![[r#"
error[object-duplicate]: ConfigMap `fleet/os-images-info` is rendered twice: `flux/one/objects/os-images-info.yaml` and `flux/two/objects/os-images-info.yaml`
 --> metalmark.yaml:7:5
  |
7 |   - {target: flux, path: flux}
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^ this output renders it
  |
  = cluster: two
  = help: write `config-map: "{{ cluster.name }}-os-images"` in the output, if its target has that option
  = help: give each cluster a `namespace` of its own, or name its API server with `management`

error[object-duplicate]: HelmRelease `fleet/cluster` is rendered twice: `flux/one/objects/helmrelease.yaml` and `flux/two/objects/helmrelease.yaml`
 --> metalmark.yaml:7:5
  |
7 |   - {target: flux, path: flux}
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^ this output renders it
  |
  = cluster: two
  = help: write `release: "{{ cluster.name }}"` in the output
  = help: give each cluster a `namespace` of its own, or name its API server with `management`

2 errors in 1 cluster; 2 node pools checked: 2 proven

"#]]);
    stage.run("check").exit(1).screen(str![[r#"
error[object-duplicate]: ConfigMap `fleet/os-images-info` is rendered twice: `flux/one/objects/os-images-info.yaml` and `flux/two/objects/os-images-info.yaml`
 --> metalmark.yaml:7:5
  |
7 |   - {target: flux, path: flux}
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^ this output renders it
  |
  = cluster: two
  = help: write `config-map: "{{ cluster.name }}-os-images"` in the output, if its target has that option
  = help: give each cluster a `namespace` of its own, or name its API server with `management`

error[object-duplicate]: HelmRelease `fleet/cluster` is rendered twice: `flux/one/objects/helmrelease.yaml` and `flux/two/objects/helmrelease.yaml`
 --> metalmark.yaml:7:5
  |
7 |   - {target: flux, path: flux}
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^ this output renders it
  |
  = cluster: two
  = help: write `release: "{{ cluster.name }}"` in the output
  = help: give each cluster a `namespace` of its own, or name its API server with `management`

2 errors in 1 cluster; 2 node pools checked: 2 proven

"#]]);
    stage.run("").exit(1).screen(str![[r#"
metalmark.yaml: 2 clusters
2 errors in 1 cluster; 2 node pools checked: 2 proven
2 errors must be fixed first: object-duplicate 2
  such as: metalmark.yaml:7:5: ConfigMap `fleet/os-images-info` is rendered twice: `flux/one/objects/os-images-info.yaml` and `flux/two/objects/os-images-info.yaml`
next: `metalmark check` shows each finding at its place; `metalmark help` lists the commands

"#]]);
    stage.run("check --output concise").exit(1).screen(str![[r#"
metalmark.yaml:7:5: error[object-duplicate]: ConfigMap `fleet/os-images-info` is rendered twice: `flux/one/objects/os-images-info.yaml` and `flux/two/objects/os-images-info.yaml` (cluster two)
metalmark.yaml:7:5: error[object-duplicate]: HelmRelease `fleet/cluster` is rendered twice: `flux/one/objects/helmrelease.yaml` and `flux/two/objects/helmrelease.yaml` (cluster two)
2 errors in 1 cluster; 2 node pools checked: 2 proven

"#]]);
    stage.run("check --statistics").exit(1).screen(str![[r#"
COUNT  LEVEL  RULE              WHAT IT FINDS
2      error  object-duplicate  an object is rendered twice, or is in a bundle twice
2 errors in 1 cluster; 2 node pools checked: 2 proven

"#]]);
    stage.edit(
        "metalmark.yaml",
        "name: two, namespace: fleet",
        "name: two, namespace: two",
    );
    stage.run("check --statistics").exit(0).screen(str![[r#"
no findings in 2 clusters; 2 node pools checked: 2 proven

"#]]);
    stage
        .run("render --output concise")
        .exit(0)
        .screen(str![[r#"
created  flux/one/kustomization.yaml  +5
created  flux/one/objects/helmrelease.yaml  +20
created  flux/one/objects/kustomization.yaml  +6
created  flux/one/objects/os-images-info.yaml  +19
created  flux/one/sync.yaml  +13
created  flux/two/kustomization.yaml  +5
created  flux/two/objects/helmrelease.yaml  +20
created  flux/two/objects/kustomization.yaml  +6
created  flux/two/objects/os-images-info.yaml  +19
created  flux/two/sync.yaml  +13
10 files rendered: 10 created

"#]]);
    assert!(!stage.list("flux").is_empty());
}

#[test]
fn what_follows_from_a_broken_lock_or_project_file_is_counted_beside_it() {
    let stage = values(&[[0; 5]; 2]).file("metalmark.lock", "<<<<<<< a\nversion: 1\nimages: []\n");
    stage.run("check --frozen").exit(1).screen(str![[r#"
error[lock-invalid]: git left a conflict here
 --> metalmark.lock:1:1
  |
1 | <<<<<<< a
  | ^^^^^^^^^
  |
  = help: git's marks are not in order: take the file of one side from git, then run `metalmark lock`

error[checksum-missing]: the sha256 of image `whole` is not known
 --> c0.yaml:4:38
  |
4 |   control_plane: {capm3: {image_key: whole}}
  |                                      ^^^^^ this image is selected here
  |
 ::: catalog.yaml:2:3
  |
2 |   whole: {k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, image-format: raw, uri: 'https://i.example/a'}
  |   ----- the catalog's entry has no checksum
  |
  = cluster: c0, pool control-plane
  = also at: c0.yaml:5:50 (c0), c1.yaml:4:38 (c1), c1.yaml:5:50 (c1)
  = help: `os_images.whole.sha256: …`
  = help: or stamp the image server's: `images: {checksum: url}` in metalmark.yaml

warning[image-unused]: no cluster uses image `no-build`
 --> catalog.yaml:3:3
  |
3 |   no-build: {k8s-flavor: rke2, k8s-version: 1.31.8, image-format: raw, uri: 'https://i.example/b'}
  |   ^^^^^^^^ declared here
  |
  = help: remove `os_images.no-build`

warning[image-unused]: no cluster uses image `older`
 --> catalog.yaml:4:3
  |
4 |   older: {k8s-flavor: rke2, k8s-version: 1.30.12+rke2r1, image-format: raw, uri: 'https://i.example/c'}
  |   ^^^^^ declared here
  |
  = help: remove `os_images.older`

warning[image-unused]: no cluster uses image `ubuntu-noble-plain-rke2-1-31-8`
 --> catalog.yaml:5:3
  |
5 |   ubuntu-noble-plain-rke2-1-31-8: {image-format: raw, uri: 'https://i.example/d'}
  |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ declared here
  |
  = help: remove `os_images.ubuntu-noble-plain-rke2-1-31-8`

warning[image-unused]: no cluster uses image `ubuntu-noble-plain-rke2-1-31`
 --> catalog.yaml:6:3
  |
6 |   ubuntu-noble-plain-rke2-1-31: {image-format: raw, uri: 'https://i.example/e'}
  |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ declared here
  |
  = help: remove `os_images.ubuntu-noble-plain-rke2-1-31`

warning[image-unused]: no cluster uses image `mystery`
 --> catalog.yaml:7:3
  |
7 |   mystery: {image-format: raw, uri: 'https://i.example/f'}
  |   ^^^^^^^ declared here
  |
  = help: remove `os_images.mystery`

5 errors, 5 warnings in 2 clusters; 4 node pools checked: 4 proven

"#]]);
    let stage = project()
        .catalog(&["proven rke2 1.31.8+rke2r1"])
        .settings("cluster: [{name: edge, values: [edge.yaml]}]\noutputs: []\npolicy: {waivers: [{rule: image-unused, for: '*', reason: none}]}");
    stage.run("check").exit(1).screen(str![[r#"
error[project-file]: the project file knows no `cluster`
 --> metalmark.yaml:3:1
  |
3 | cluster: [{name: edge, values: [edge.yaml]}]
  | ^^^^^^^
  |
  = help: did you mean `clusters`?

error[project-file]: `where` is missing in `policy.waivers[0]`
 --> metalmark.yaml:5:20
  |
5 | policy: {waivers: [{rule: image-unused, for: '*', reason: none}]}
  |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: write `where: …`

error[project-file]: the project file knows no `for` in `policy.waivers[0]`
 --> metalmark.yaml:5:41
  |
5 | policy: {waivers: [{rule: image-unused, for: '*', reason: none}]}
  |                                         ^^^
  |
  = help: known here: `reason`, `rule`, `until`, `where`

3 errors

"#]]);
}

#[test]
fn a_stamp_without_a_project_reads_what_a_check_reads() {
    let stage = manifests(&[[0, 0, 0, 0, 2]]);
    stage.run("check").exit(0).screen(str![[r#"
no findings in 1 cluster; 2 node pools checked: 2 by name only

"#]]);
    stage.run("stamp --check").exit(0).screen(str![[r#"
1 file of manifests, 0 to stamp
warning[image-unstamped]: nothing says which image OpenStackMachineTemplate `c0` boots
  --> clusters/c0.yaml:28:18
   |
28 | metadata: {name: c0}
   |                  ^^
   |
   = help: write `# metalmark: image=KEY` above it, or `# metalmark: ignore`

1 warning

"#]]);
}
