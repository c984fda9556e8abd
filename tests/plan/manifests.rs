//! Plans of fleets that values and manifests make, applied wave by wave.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::Strategy;
use serde_json::Value;
use tempfile::TempDir;

use crate::git::{commit, git};
use crate::support::{Metalmark, Outcome, property, rounds};

/// How the files of a cluster say which image it boots.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Helm values with a key.
    Values,
    /// Manifests without a word of `stamp`.
    Plain,
    /// A marker with a key above each machine template.
    Marker,
    /// A marker with a selector, which takes the version of the machines.
    Selector,
    /// An entry of `stamps` for each of its machine templates.
    Entry,
    /// A Cluster with a topology, and a ClusterClass of its own.
    Topology,
}

const SHAPES: [Shape; 6] = [
    Shape::Values,
    Shape::Plain,
    Shape::Marker,
    Shape::Selector,
    Shape::Entry,
    Shape::Topology,
];

/// A cluster of a fleet.
#[derive(Clone, Debug)]
struct Cluster {
    shape: Shape,
    minor: u32,
    workers: usize,
}

fn name(index: usize) -> String {
    format!("c{index}")
}

fn key(minor: u32) -> String {
    format!("noble-1-{minor}-4")
}

/// The image fields of a machine template.
fn image(minor: u32) -> String {
    format!(
        "{{url: 'https://images.example.org/{}.raw', checksum: {}, checksumType: sha256, format: raw}}",
        key(minor),
        checksum(minor)
    )
}

fn checksum(minor: u32) -> String {
    format!("{minor:0>64x}").replace('0', "a")
}

/// A project of these clusters, with these options of `plan`.
fn fleet(options: &str, clusters: &[Cluster]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let (mut records, mut listed, mut stamps) = (String::new(), String::new(), String::new());
    for minor in 29..33 {
        let key = key(minor);
        let _ = writeln!(
            records,
            "    {key}:\n      os: {{name: ubuntu, version: '24.04', codename: noble}}\n      k8s: {{flavor: kubeadm, version: 1.{minor}.4}}\n      \
             format: raw\n      digests: {{uncompressed: {{sha256: {}}}}}\n      locations: {{https: 'https://images.example.org/{key}.raw'}}",
            checksum(minor)
        );
        let _ = writeln!(
            listed,
            "  {key}: {{uri: 'oci://registry.example.org/{key}:1', filename: {key}.raw, hardened: 'false'}}"
        );
    }
    fs::create_dir(root.join("values")).expect("created");
    fs::create_dir(root.join("manifests")).expect("created");
    for (index, cluster) in clusters.iter().enumerate() {
        let name = name(index);
        if let Shape::Entry = cluster.shape {
            for pool in pools(&name, cluster.workers) {
                let _ = writeln!(
                    stamps,
                    "  - {{kind: Metal3MachineTemplate, name: '{pool}*', namespace: {name}, image: {}}} # of {name}",
                    key(cluster.minor)
                );
            }
        }
        let (file, text) = match cluster.shape {
            Shape::Values => (format!("values/{name}.yaml"), values(cluster)),
            Shape::Topology => (format!("manifests/{name}.yaml"), topology(&name, cluster)),
            _ => (format!("manifests/{name}.yaml"), manifests(&name, cluster)),
        };
        fs::write(root.join(file), text).expect("written");
    }
    let has = |wanted: fn(Shape) -> bool| clusters.iter().any(|cluster| wanted(cluster.shape));
    let mut project = format!(
        "version: 1\nimages:\n  url: 'https://images.example.org/{{{{ image.filename }}}}'\n  records:\n{records}{options}"
    );
    if has(|shape| matches!(shape, Shape::Values)) {
        project += "values: [catalog.yaml]\nclusters: [{each: 'values/*.yaml'}]\n";
    }
    if has(|shape| !matches!(shape, Shape::Values)) {
        project += "manifests: [manifests]\n";
    }
    if !stamps.is_empty() {
        project += &format!("stamps:\n{stamps}");
    }
    fs::write(root.join("metalmark.yaml"), project).expect("written");
    fs::write(root.join("catalog.yaml"), format!("os_images:\n{listed}")).expect("written");
    folder
}

/// The names of a cluster's control plane and its machine deployments.
fn pools(name: &str, workers: usize) -> Vec<String> {
    let workers = (0..workers).map(|number| format!("{name}-md{number}"));
    std::iter::once(format!("{name}-cp"))
        .chain(workers)
        .collect()
}

fn values(cluster: &Cluster) -> String {
    let mut text = format!(
        "cluster:\n  k8s_version: v1.{}.4\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpk}}\n  \
         control_plane_replicas: 3\n  capm3: {{image_key: {}}}\n",
        cluster.minor,
        key(cluster.minor)
    );
    for number in 0..cluster.workers {
        if number == 0 {
            text += "  machine_deployments:\n";
        }
        let _ = writeln!(text, "    md{number}: {{replicas: 2}}");
    }
    text
}

/// A machine template.
fn template(name: &str, namespace: &str, cluster: &Cluster) -> String {
    let marker = match cluster.shape {
        Shape::Marker => format!("# metalmark: image={}\n", key(cluster.minor)),
        Shape::Selector => "# metalmark: selector={os: ubuntu, k8s-flavor: kubeadm}\n".to_owned(),
        _ => String::new(),
    };
    format!(
        "---\n{marker}apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\n\
         metadata: {{name: {name}, namespace: {namespace}}}  # café\nspec:\n  template:\n    spec:\n      image: {}\n",
        image(cluster.minor)
    )
}

fn manifests(name: &str, cluster: &Cluster) -> String {
    let minor = cluster.minor;
    let mut text = format!(
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {{name: {name}, namespace: {name}, labels: {{site: s{minor}}}}}\n\
         spec:\n  controlPlaneRef: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: {name}-cp}}\n"
    );
    for pool in pools(name, cluster.workers) {
        let reference = format!(
            "{{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: {pool}}}"
        );
        text += &if pool.ends_with("-cp") {
            format!(
                "---\napiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane\nmetadata: {{name: {pool}, namespace: {name}}}\n\
             spec:\n  version: v1.{minor}.4 # of the cluster\n  replicas: 3\n  machineTemplate:\n    infrastructureRef: {reference}\n"
            )
        } else {
            format!(
                "---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineDeployment\nmetadata: {{name: {pool}, namespace: {name}}}\n\
             spec:\n  clusterName: {name}\n  replicas: 2\n  template:\n    spec:\n      clusterName: {name}\n      version: v1.{minor}.4\n      \
             bootstrap: {{configRef: {{apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: {name}}}}}\n      \
             infrastructureRef: {reference}\n"
            )
        };
        text += &template(&pool, name, cluster);
    }
    text += &format!(
        "---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {{name: {name}, namespace: {name}}}\n\
         spec: {{template: {{spec: {{preKubeadmCommands: [\"swapoff -a\"]}}}}}}\n"
    );
    text
}

fn topology(name: &str, cluster: &Cluster) -> String {
    let reference = |kind: &str, group: &str, name: &str| {
        format!(
            "{{ref: {{apiVersion: {group}.cluster.x-k8s.io/v1beta1, kind: {kind}, name: {name}}}}}"
        )
    };
    let machines = |name: &str| reference("Metal3MachineTemplate", "infrastructure", name);
    let workers: String = (0..cluster.workers)
        .map(|number| format!("        - {{class: w, name: md{number}, replicas: 2}}\n"))
        .collect();
    let listed = match &*workers {
        "" => String::new(),
        workers => format!("    workers:\n      machineDeployments:\n{workers}"),
    };
    let mut text = format!(
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {{name: {name}, namespace: {name}}}\nspec:\n  topology:\n    class: {name}\n    \
         version: v1.{}.4\n    controlPlane: {{replicas: 1}}\n{listed}---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: ClusterClass\n\
         metadata: {{name: {name}, namespace: {name}}}\nspec:\n  controlPlane:\n    ref: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, \
         kind: KubeadmControlPlaneTemplate, name: {name}}}\n    machineInfrastructure: {}\n  workers:\n    machineDeployments:\n      - class: w\n        \
         template:\n          bootstrap: {}\n          infrastructure: {}\n",
        cluster.minor,
        machines(&format!("{name}-cp")),
        reference("KubeadmConfigTemplate", "bootstrap", name),
        machines(&format!("{name}-md0")),
    );
    for pool in ["cp", "md0"] {
        text += &template(&format!("{name}-{pool}"), name, cluster);
    }
    text += &format!(
        "---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {{name: {name}, namespace: {name}}}\n\
         spec: {{template: {{spec: {{preKubeadmCommands: [\"swapoff -a\"]}}}}}}\n---\napiVersion: controlplane.cluster.x-k8s.io/v1beta1\n\
         kind: KubeadmControlPlaneTemplate\nmetadata: {{name: {name}, namespace: {name}}}\nspec: {{template: {{spec: {{kubeadmConfigSpec: {{}}}}}}}}\n"
    );
    text
}

fn run(folder: &Path, line: &str) -> Outcome {
    Metalmark::within(folder).args(line.split(' ')).run()
}

fn json(folder: &Path, line: &str) -> Value {
    let outcome = run(folder, line);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{}", outcome.stderr))
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value[name].as_array().expect("a list").iter()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// The pools of the first wave, each with its cluster and its version, as the plan names them.
fn first_wave(plan: &Value) -> BTreeMap<(String, String), String> {
    let members: BTreeSet<String> = list(&plan["waves"][0], "clusters")
        .map(|it| text(&it["cluster"]))
        .collect();
    let plans = list(plan, "clusters").filter(|it| members.contains(&text(&it["cluster"])));
    plans
        .flat_map(|it| {
            let step = &it["steps"][0];
            let pools = step["images"].as_object().expect("a map").keys();
            let (cluster, version) = (text(&it["cluster"]), text(&step["version"]));
            pools.map(move |pool| ((cluster.clone(), pool.clone()), version.clone()))
        })
        .collect()
}

/// The pools whose machines a change replaces.
fn replaced(folder: &Path) -> BTreeSet<(String, String)> {
    let impact = json(folder, "impact --against HEAD --output json");
    let clusters = list(&impact, "clusters");
    clusters
        .flat_map(|it| list(it, "pools").map(move |pool| (it, pool)))
        .inspect(|(_, pool)| assert_eq!(pool["rollout"], "roll", "{pool}"))
        .map(|(it, pool)| (text(&it["cluster"]), text(&pool["pool"])))
        .collect()
}

fn clusters() -> impl Strategy<Value = Vec<Cluster>> {
    let cluster = (0..SHAPES.len(), 29..33_u32, 0..3_usize);
    let cluster = cluster.prop_map(|(shape, minor, workers)| Cluster {
        shape: SHAPES[shape],
        minor,
        workers,
    });
    vec(cluster, 1..5)
}

#[test]
fn all_waves_in_order_reach_the_goal_and_impact_names_the_pools_of_each() {
    property(rounds(4, 30), &clusters(), |clusters| {
        let options = "plan: {most: 2, most-machines: 8, groups: ['site=*']}\n";
        let folder = fleet(options, &clusters);
        let root = folder.path();
        git(root, &["init", "-q"]);
        git(root, &["add", "."]);
        commit(root, "start");
        let steps = clusters
            .iter()
            .map(|cluster| 32 - cluster.minor)
            .sum::<u32>();
        for _ in 0..steps {
            let plan = json(root, "plan --to 1.32 --output json");
            assert!(
                list(&plan, "clusters").all(|it| it["blocked"].is_null()),
                "{plan}"
            );
            if list(&plan, "waves").next().is_none() {
                break;
            }
            let expected = first_wave(&plan);
            let applied = run(root, "plan --to 1.32 --apply 1");
            assert_eq!(applied.status, 0, "{expected:?}: {}", applied.stderr);
            let check = run(root, "check");
            assert_eq!(check.status, 0, "{expected:?}: {}", check.stdout);
            assert_eq!(replaced(root), expected.keys().cloned().collect());
            let after = json(root, "plan --to 1.32 --output json");
            for ((cluster, _), version) in &expected {
                let mut plans = list(&after, "clusters");
                let own = plans
                    .find(|it| text(&it["cluster"]) == *cluster)
                    .expect("it");
                assert_eq!(text(&own["from"]), *version, "{cluster}");
            }
            git(root, &["add", "."]);
            commit(root, "a wave");
        }
        let plan = json(root, "plan --to 1.32 --output json");
        assert!(
            list(&plan, "clusters").all(|it| text(&it["from"]) == "1.32.4"),
            "{plan}"
        );
    });
}

/// One cluster of each shape.
fn one_of_each() -> Vec<Cluster> {
    let cluster = |shape: &Shape| Cluster {
        shape: *shape,
        minor: 30,
        workers: 1,
    };
    SHAPES.iter().map(cluster).collect()
}

#[test]
fn a_wave_renames_templates_and_changes_what_names_their_image() {
    let folder = fleet("", &one_of_each());
    let root = folder.path();
    let applied = run(root, "plan --to 1.31 --apply 1");
    assert_eq!(applied.status, 0, "{}", applied.stderr);
    assert_eq!(
        applied.stdout,
        "wave 1: 6 clusters to 1.31, 7 files edited\n"
    );
    // Each value at its place, each file of manifests by its name.
    let edited: Vec<&str> = applied.stderr.lines().collect();
    assert_eq!(
        edited,
        [
            "edited values/c0.yaml:2:16: `k8s_version: v1.31.4`",
            "edited values/c0.yaml:5:22: `image_key: noble-1-31-4`",
            "edited manifests/c1.yaml",
            "edited manifests/c2.yaml",
            "edited manifests/c3.yaml",
            "edited manifests/c4.yaml",
            "edited manifests/c5.yaml",
            "edited metalmark.yaml",
        ]
    );
    let read = |file: &str| fs::read_to_string(root.join(file)).expect("read");
    let marked = read("manifests/c2.yaml");
    // Also in the copies that are kept.
    assert_eq!(
        marked.matches("# metalmark: image=noble-1-31-4\n").count(),
        4
    );
    assert!(!marked.contains("image=noble-1-30-4"), "{marked}");
    assert!(marked.contains("version: v1.31.4 # of the cluster\n"));
    assert_eq!(marked.matches("  # café\n").count(), 4, "comments stay");
    assert_eq!(marked.matches("metalmark.dev/kept").count(), 2);
    let project = read("metalmark.yaml");
    assert_eq!(project.matches("image: noble-1-31-4} # of c4").count(), 2);
    assert!(
        read("manifests/c3.yaml")
            .contains("# metalmark: selector={os: ubuntu, k8s-flavor: kubeadm}\n")
    );
    assert!(read("manifests/c5.yaml").contains("version: v1.31.4\n"));
    // Nothing is left to stamp.
    let stamped = run(root, "stamp --check --rotate");
    assert!(
        stamped.stdout.is_empty() || stamped.status == 0,
        "{}{}",
        stamped.stdout,
        stamped.stderr
    );
}

#[test]
fn what_cannot_be_applied_is_named_and_nothing_is_written() {
    let plain = |minor| Cluster {
        shape: Shape::Plain,
        minor,
        workers: 1,
    };
    let state = |root: &Path| {
        let read = |file: &str| fs::read_to_string(root.join(file)).expect("read");
        (read("manifests/c0.yaml"), read("metalmark.yaml"))
    };
    let refused = |folder: TempDir, why: &str| {
        let before = state(folder.path());
        let outcome = run(folder.path(), "plan --to 1.31 --apply 1");
        assert_eq!(outcome.status, 1, "{}{}", outcome.stdout, outcome.stderr);
        assert!(
            outcome.stderr.starts_with("not applied: ") && outcome.stderr.contains(why),
            "{}",
            outcome.stderr
        );
        assert_eq!(state(folder.path()), before);
    };
    let edited = |folder: TempDir, from: &str, to: &str| {
        let file = folder.path().join("manifests/c0.yaml");
        let text = fs::read_to_string(&file).expect("read");
        assert!(text.contains(from), "{text}");
        fs::write(file, text.replace(from, to)).expect("written");
        folder
    };
    // Templates that clusters of several waves share.
    let folder = fleet("plan: {most: 1}\n", &[plain(30), plain(30)]);
    let file = folder.path().join("manifests/c1.yaml");
    let text = fs::read_to_string(&file).expect("read");
    let (kept, _) = text
        .split_once("---\napiVersion: infrastructure")
        .expect("a template");
    let shared = kept
        .replace(
            "kind: Metal3MachineTemplate, name: c1-cp",
            "kind: Metal3MachineTemplate, name: c0-cp, namespace: c0",
        )
        .replace("namespace: c1", "namespace: c0");
    fs::write(&file, shared).expect("written");
    refused(folder, "c1: it is in another wave and would change too");
    // A marker that says to leave the template alone.
    let folder = edited(
        fleet("", &[plain(30)]),
        "---\napiVersion: infrastructure",
        "---\n# metalmark: ignore\napiVersion: infrastructure",
    );
    refused(
        folder,
        "a marker says to ignore Metal3MachineTemplate `c0-cp`",
    );
    // A reference that cannot be moved.
    let folder = fleet("", &[plain(30)]);
    fs::write(
        folder.path().join("manifests/chart.yaml"),
        "{{ if .Values.x }}\napiVersion: v1\nkind: Metal3MachineTemplate\nname: c0-cp\n{{ end }}\n",
    )
    .expect("written");
    refused(folder, "refers to it and is no YAML");
}

#[test]
fn waves_are_ordered_and_grouped_by_labels() {
    let plain = |minor| Cluster {
        shape: Shape::Plain,
        minor,
        workers: 0,
    };
    let waves = |options: &str, clusters: &[Cluster]| -> Vec<Vec<String>> {
        let folder = fleet(options, clusters);
        let plan = json(folder.path(), "plan --to 1.31 --output json");
        list(&plan, "waves")
            .map(|wave| {
                list(wave, "clusters")
                    .map(|it| text(&it["cluster"]))
                    .collect()
            })
            .collect()
    };
    // The label `site` of a cluster is named after its minor; values have no labels.
    let values = Cluster {
        shape: Shape::Values,
        ..plain(30)
    };
    let three = [plain(30), plain(30), values];
    assert_eq!(
        waves("plan: {groups: ['site=*']}\n", &three),
        [vec!["c2", "c0"], vec!["c1"]]
    );
    assert_eq!(
        waves("plan: {groups: ['site=s29']}\n", &three),
        [vec!["c2", "c0", "c1"]]
    );
    assert_eq!(
        waves("plan: {first: ['site=s3?']}\n", &three),
        [vec!["c0", "c1"], vec!["c2"]]
    );
    assert_eq!(
        waves("plan: {last: ['site=*', c0]}\n", &three),
        [vec!["c2"], vec!["c0", "c1"]]
    );
    let folder = fleet("plan: {windows: {'site=s30': at night}}\n", &three);
    let plan = run(folder.path(), "plan --to 1.31");
    assert!(
        plan.stdout.contains(": c2, c0 (at night), c1 (at night)\n"),
        "{}",
        plan.stdout
    );
}

#[test]
fn images_that_were_built_before_a_day_are_replaced_by_newer_ones() {
    let cluster = |minor| Cluster {
        shape: Shape::Plain,
        minor,
        workers: 0,
    };
    let folder = fleet("", &[cluster(30), cluster(31), cluster(32)]);
    let project = folder.path().join("metalmark.yaml");
    let text = fs::read_to_string(&project).expect("read");
    // The image of 1.30 is old and has a newer patch, that of 1.31 is old and has none, that of 1.32 is new.
    let newer = "    noble-1-30-9:\n      os: {name: ubuntu, version: '24.04', codename: noble}\n      k8s: {flavor: kubeadm, version: 1.30.9}\n      \
                 format: raw\n      digests: {uncompressed: {sha256: '1111111111111111111111111111111111111111111111111111111111111111'}}\n      \
                 locations: {https: 'https://images.example.org/noble-1-30-9.raw'}\n";
    let mut text = text.replace("  records:\n", &format!("  records:\n{newer}"));
    for (version, day) in [
        ("1.30.9", "2026-07-22T10:00:00Z"),
        ("1.30.4", "2026-01-01T10:00:00Z"),
        ("1.31.4", "2026-01-01T10:00:00Z"),
        ("1.32.4", "2026-07-23T10:00:00Z"),
    ] {
        let k8s = format!("version: {version}}}\n");
        let known = format!("{k8s}      provenance: {{timestamp: '{day}'}}\n");
        text = text.replace(&k8s, &known);
    }
    fs::write(&project, &text).expect("written");
    let line = "plan --security-before 2026-07-22";
    let plan = run(folder.path(), line);
    assert_eq!(plan.status, 1, "{}{}", plan.stdout, plan.stderr);
    assert_eq!(
        plan.stdout,
        "c0: 1.30.4 → 1.30.9\n\
         \x20 1.30.9  control-plane  noble-1-30-9\n\
         c1: 1.31.4, blocked before 1.31: an image is missing\n\
         \x20 nothing follows `noble-1-31-4`: control-plane\n\
         c2: 1.32.4\n\n\
         missing: an image of 1.31 built on 2026-07-22 or later in the line of `noble-1-31-4`, for 1 cluster\n\
         wave 1, to 1.30, 3 machines: c0\n\
         3 clusters: 1 to upgrade in 1 step, 1 at images built since 2026-07-22, 1 blocked\n"
    );
    let applied = run(folder.path(), &format!("{line} --apply 1"));
    assert_eq!(applied.status, 0, "{}", applied.stderr);
    let plan = json(folder.path(), &format!("{line} --output json"));
    assert_eq!(plan["built_since"], "2026-07-22");
    assert_eq!(plan["clusters"][0]["from"], "1.30.9");
    assert_eq!(plan["waves"], serde_json::json!([]));
    // What is not known stops the plan.
    fs::write(
        &project,
        text.replace(
            "provenance: {timestamp: '2026-01-01T10:00:00Z'}",
            "provenance: {}",
        ),
    )
    .expect("written");
    let plan = run(folder.path(), line);
    assert!(
        plan.stdout.contains("c1: not planned: it is not known when image `noble-1-31-4` of node pool `control-plane` was built\n"),
        "{}",
        plan.stdout
    );
    assert_eq!(
        run(folder.path(), "plan --security-before yesterday").status,
        2
    );
}
