//! `plan`: the steps of an upgrade, compared with a second description of them, and applied.

mod manifests;
mod missing;
mod offers;
mod spread;
mod status;
mod waves;

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::Strategy;
use serde_json::{Value, json};
use snapbox::str;

use crate::support::rounds;
use crate::support::stage::{Stage, assert_text, project, table};

/// What a command prints as JSON.
fn read_json(stage: &Stage, words: &str) -> Value {
    let outcome = stage.run(&format!("{words} --output json")).outcome;
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{}", outcome.stderr))
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value[name].as_array().expect("a list").iter()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// What stays in an upgrade: the flavor of an image and the distribution with its build.
const LINES: [(&str, &str, &str); 3] = [
    ("plain", "kubeadm", ""),
    ("hardened", "kubeadm", ""),
    ("plain", "rke2", "+rke2r1"),
];

/// An image of a line, with the minor and the patch of its version.
type Built = (usize, u32, u32);

fn key((line, minor, patch): Built) -> String {
    let (flavor, distribution, _) = LINES[line];
    format!("ubuntu-noble-{flavor}-{distribution}-1-{minor}-{patch}")
}

fn version((line, minor, patch): Built) -> String {
    format!("1.{minor}.{patch}{}", LINES[line].2)
}

/// A line of [`Stage::catalog`].
fn listed(key: &str, flavor: &str, distribution: &str, version: &str) -> String {
    let hardened = flavor == "hardened";
    format!(
        "{key} {distribution} {version} os=ubuntu os-release=noble flavor={flavor} hardened={hardened}"
    )
}

/// A project with these images.
fn with_images(images: impl IntoIterator<Item = Built>) -> Stage {
    let line = |built: Built| {
        let (flavor, distribution, _) = LINES[built.0];
        listed(&key(built), flavor, distribution, &version(built))
    };
    let lines: Vec<String> = images.into_iter().map(line).collect();
    project().catalog(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The values of a cluster: its version, and the image of each pool by key, the first one the control plane's.
fn values(distribution: &str, version: &str, images: &[String]) -> String {
    let provider = if distribution == "rke2" {
        "cabpr"
    } else {
        "cabpk"
    };
    let worker = |(index, key): (usize, &String)| {
        format!("    md{index}: {{capm3: {{image_key: {key}}}}}\n")
    };
    let workers: String = images[1..].iter().enumerate().map(worker).collect();
    format!(
        "cluster:\n  k8s_version: v{version}\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: {provider}}}\n  \
         control_plane_replicas: 3\n  capm3: {{image_key: {}}}\n  machine_deployments:\n{workers}",
        images[0]
    )
}

/// The plan of the one cluster. It fails where it says what blocks it.
fn plan(stage: &Stage, goal: u32) -> Value {
    let run = stage.run(&format!("plan --to 1.{goal} --output json"));
    let plan: Value = serde_json::from_str(&run.outcome.stdout).expect("JSON");
    let plan = plan["clusters"][0].clone();
    assert_eq!(
        run.outcome.status,
        i32::from(!plan["blocked"].is_null()),
        "{plan}"
    );
    plan
}

/// The versions of the steps, from the rules alone: in each minor the newest version that all lines have; and the minor that
/// stops it.
fn expected(
    catalog: &BTreeSet<Built>,
    lines: &[usize],
    start: (u32, u32),
    goal: u32,
) -> (Vec<(u32, u32)>, Option<u32>) {
    let has = |line: usize, at: (u32, u32)| catalog.contains(&(line, at.0, at.1));
    let first = if start.0 == goal { goal } else { start.0 + 1 };
    let (mut steps, mut at) = (Vec::new(), start);
    for minor in first..=goal {
        let patches = (0..20).rev().map(|patch| (minor, patch));
        let mut of_all = patches
            .filter(|version| *version >= at && lines.iter().all(|line| has(*line, *version)));
        match of_all.next() {
            Some(next) if next != at => steps.push(next),
            Some(_) => {}
            None => return (steps, Some(minor)),
        }
        at = steps.last().copied().unwrap_or(at);
    }
    (steps, None)
}

/// A fleet of one cluster, and where it is to go.
#[derive(Clone, Debug)]
struct Fleet {
    images: Vec<Built>,
    /// The line of each pool, where the cluster's distribution is kubeadm.
    lines: Vec<usize>,
    is_rke2: bool,
    /// The minor and the patch that all pools run.
    start: (u32, u32),
    goal: u32,
}

fn fleet() -> impl Strategy<Value = Fleet> {
    let images = vec((0..3_usize, 28..33_u32, 0..4_u32), 0..30);
    let pools = (vec(0..2_usize, 1..4), proptest::bool::ANY);
    let way = ((28..31_u32, 0..4_u32), 28..33_u32);
    (images, pools, way).prop_map(|(images, (lines, is_rke2), (start, goal))| Fleet {
        images,
        lines,
        is_rke2,
        start,
        goal,
    })
}

#[test]
fn each_step_is_the_newest_version_that_every_pool_has_an_image_for_and_check_accepts_it() {
    let seen = crate::support::seen::Seen::new(&["a step", "a block", "nothing to do"]);
    seen.property(rounds(24, 400), 3, &fleet(), |fleet| {
        let Fleet {
            images,
            lines,
            is_rke2,
            start,
            goal,
        } = fleet;
        // A cluster has one distribution.
        let lines: Vec<usize> = if is_rke2 { vec![2; lines.len()] } else { lines };
        let mut catalog: BTreeSet<Built> = images.into_iter().collect();
        catalog.extend(lines.iter().map(|line| (*line, start.0, start.1)));
        let keys = |at: (u32, u32)| -> Vec<String> {
            lines.iter().map(|line| key((*line, at.0, at.1))).collect()
        };
        let of = |at: (u32, u32)| version((lines[0], at.0, at.1));
        let written = |at: (u32, u32)| values(LINES[lines[0]].1, &of(at), &keys(at));
        let stage = with_images(catalog.iter().copied()).cluster("edge", &written(start));
        let planned = plan(&stage, goal);
        let (steps, blocked) = if goal < start.0 {
            (Vec::new(), None)
        } else {
            expected(&catalog, &lines, start, goal)
        };
        let versions: Vec<String> = list(&planned, "steps")
            .map(|step| text(&step["version"]))
            .collect();
        assert_eq!(
            versions,
            steps.iter().map(|step| of(*step)).collect::<Vec<_>>(),
            "{planned}"
        );
        let minor = blocked.map_or(Value::Null, |minor| json!(format!("1.{minor}")));
        assert_eq!(planned["blocked"]["before"], minor, "{planned}");
        seen.note_if(blocked.is_some(), "a block");
        seen.note_if(blocked.is_none() && steps.is_empty(), "nothing to do");
        // Applied one after another, each step passes the rules, and names the image of each pool's own line.
        for (step, at) in list(&planned, "steps").zip(&steps) {
            seen.note("a step");
            let images: BTreeMap<String, String> =
                serde_json::from_value(step["images"].clone()).expect("images");
            let wanted = keys(*at);
            assert_eq!(images["control-plane"], wanted[0]);
            for (index, key) in wanted[1..].iter().enumerate() {
                assert_eq!(images[&format!("md{index}")], *key);
            }
            let applied = format!("wave 1: 1 cluster to 1.{}, 1 file edited\n", at.0);
            let _ = stage
                .run(&format!("plan --to 1.{goal} --apply 1"))
                .exit(0)
                .stdout(applied);
            // The same file as a person would have written.
            assert_eq!(stage.read("edge.yaml"), written(*at));
            let check = stage.run("check").exit(0).outcome.stdout;
            assert!(
                check.contains(&format!("{} proven", wanted.len())),
                "{check}"
            );
        }
        // The plan of the last state goes on from there.
        assert_eq!(plan(&stage, goal)["steps"], json!([]));
    });
}

/// A cluster of kubeadm whose pools boot these images, in a project with all of these.
fn edge(images: impl IntoIterator<Item = Built>, version: &str, boots: &[Built]) -> Stage {
    let boots: Vec<String> = boots.iter().map(|built| key(*built)).collect();
    with_images(images).cluster("edge", &values("kubeadm", version, &boots))
}

#[test]
fn what_stops_an_upgrade_is_named_with_what_is_missing() {
    let images = [
        (0, 30, 2),
        (0, 31, 4),
        (0, 31, 9),
        (0, 32, 1),
        (1, 30, 2),
        (1, 31, 4),
    ];
    let stage = edge(images, "1.30.2", &[(0, 30, 2), (0, 30, 2), (1, 30, 2)]);
    stage.run("plan --to 1.32").exit(1).stdout(str![[r#"
edge: 1.30.2 → 1.31.4, blocked before 1.32: an image is missing
  1.31.4  control-plane  ubuntu-noble-plain-kubeadm-1-31-4
  1.31.4  md0  ubuntu-noble-plain-kubeadm-1-31-4
  1.31.4  md1  ubuntu-noble-hardened-kubeadm-1-31-4
  no successor of `ubuntu-noble-hardened-kubeadm-1-31-4`: md1

missing: `ubuntu-noble-hardened-kubeadm-1-32-1`, an image of 1.32.1 in the line of `ubuntu-noble-hardened-kubeadm-1-31-4`, for 1 cluster
wave 1, to 1.31: edge
1 cluster: 1 to upgrade in 1 step, 0 at 1.32 or newer, 1 blocked

"#]]);
    stage
        .run("plan --to 1.32 --output markdown")
        .exit(1)
        .stdout(str![[r#"
### The way to Kubernetes 1.32

**1 cluster: 1 to upgrade in 1 step, 0 at 1.32 or newer, 1 blocked**

Missing:

- `ubuntu-noble-hardened-kubeadm-1-32-1`, an image of 1.32.1 in the line of `ubuntu-noble-hardened-kubeadm-1-31-4`, for 1 cluster

- wave 1, to 1.31: edge

| cluster | Kubernetes | images | blocked |
|---|---|---|---|
| edge | 1.30.2 → 1.31.4 | 1.31.4: ubuntu-noble-hardened-kubeadm-1-31-4, ubuntu-noble-plain-kubeadm-1-31-4 | blocked before 1.32: an image is missing |

"#]]);
}

#[test]
fn the_newest_patch_is_planned_without_another_minor() {
    let images = [
        (0, 30, 2),
        (0, 30, 5),
        (0, 30, 9),
        (0, 31, 4),
        (1, 30, 2),
        (1, 30, 5),
    ];
    let stage = edge(images, "1.30.2", &[(0, 30, 2), (1, 30, 2)]);
    stage.run("plan --patch-only").exit(0).stdout(str![[r#"
edge: 1.30.2 → 1.30.5
  1.30.5  control-plane  ubuntu-noble-plain-kubeadm-1-30-5
  1.30.5  md0  ubuntu-noble-hardened-kubeadm-1-30-5

wave 1, to 1.30: edge
1 cluster: 1 to upgrade in 1 step, 0 at the newest patch, 0 blocked

"#]]);
    stage.run("plan --patch-only --apply 1").exit(0);
    stage.run("check").exit(0);
    stage.run("plan --patch-only").exit(0).stdout(str![[r#"
edge: 1.30.5

1 cluster: 0 to upgrade in 0 steps, 1 at the newest patch, 0 blocked

"#]]);
    assert_eq!(read_json(&stage, "plan --patch-only")["goal"], Value::Null);
    stage.run("plan").exit(2);
    stage.run("plan --to 1.31 --patch-only").exit(2);
}

#[test]
fn a_cluster_that_boots_another_version_than_it_runs_is_not_planned() {
    let stage = edge([(0, 30, 2), (0, 31, 4)], "1.31.4", &[(0, 30, 2)]);
    stage.run("plan --to 1.31").exit(1).stdout(str![[r#"
edge: not planned: image `ubuntu-noble-plain-kubeadm-1-30-2` of node pool `control-plane` is mismatched: `1.30.2` in the values

1 cluster: 0 to upgrade in 0 steps, 0 at 1.31 or newer, 0 blocked, 1 not planned

"#]]);
    stage.edit("edge.yaml", &key((0, 30, 2)), "not-in-the-catalog");
    stage.run("plan --to 1.31").exit(1).stdout(str![[r#"
edge: not planned: the image of node pool `control-plane` is unknown: its image key is not in the catalog

1 cluster: 0 to upgrade in 0 steps, 0 at 1.31 or newer, 0 blocked, 1 not planned

"#]]);
}

#[test]
fn a_step_leads_to_a_whole_version_that_is_released() {
    // The newest patch of its own minor is no step of its own.
    let cases = [
        "1.31.4 1.31.5-rc1",
        "1.31.4 1.31.3",
        "1.30.9 1.31.4",
        "1.31.5-rc1",
        "1.31",
    ];
    let plans = table(cases, |case| {
        let versions = std::iter::once("1.30.2").chain(case.split(' ')).enumerate();
        let images: Vec<String> = versions
            .map(|(index, version)| listed(&format!("image-{index}"), "plain", "kubeadm", version))
            .collect();
        let images: Vec<&str> = images.iter().map(String::as_str).collect();
        let values = values("kubeadm", "1.30.2", &["image-0".to_owned()])
            .replace("  machine_deployments:\n", "");
        let plan = project()
            .catalog(&images)
            .cluster("edge", &values)
            .run("plan --to 1.31");
        plan.outcome
            .stdout
            .lines()
            .next()
            .map(str::to_owned)
            .into_iter()
            .collect()
    });
    assert_text(
        &plans,
        str![[r#"
1.31.4 1.31.5-rc1
    edge: 1.30.2 → 1.31.4
1.31.4 1.31.3
    edge: 1.30.2 → 1.31.4
1.30.9 1.31.4
    edge: 1.30.2 → 1.31.4
1.31.5-rc1
    edge: 1.30.2, blocked before 1.31: an image is missing
1.31
    edge: 1.30.2, blocked before 1.31: an image is missing

"#]],
    );
}

#[test]
fn a_fleet_is_summed_up_and_a_goal_is_a_minor() {
    // `lab-7` boots another version than it runs.
    let stage = project().folder("fixtures/workspaces/sylva-baremetal");
    stage.run("plan --to 1.31").exit(1).stdout(str![[r#"
mgmt: 1.31.8+rke2r1
edge-lyon: 1.31.8
edge-paris: 1.31.8+rke2r1
lab-7: not planned: image `ubuntu-noble-plain-rke2-1-30-12` of node pool `control-plane` is mismatched: `1.30.12+rke2r1` in the lock

4 clusters: 0 to upgrade in 0 steps, 3 at 1.31 or newer, 0 blocked, 1 not planned

"#]]);
    let errors = table(["1.33.1", "1", "v1.33-rc1", "latest", "2.0"], |goal| {
        let run = stage.run(&format!("plan --to {goal}")).exit(2);
        run.outcome
            .stderr
            .lines()
            .next()
            .map(str::to_owned)
            .into_iter()
            .collect()
    });
    assert_text(
        &errors,
        str![[r#"
1.33.1
    error: invalid value '1.33.1' for '--to <MINOR>': a goal is a minor version of Kubernetes, such as 1.33
1
    error: invalid value '1' for '--to <MINOR>': a goal is a minor version of Kubernetes, such as 1.33
v1.33-rc1
    error: invalid value 'v1.33-rc1' for '--to <MINOR>': a goal is a minor version of Kubernetes, such as 1.33
latest
    error: invalid value 'latest' for '--to <MINOR>': a goal is a minor version of Kubernetes, such as 1.33
2.0
    error: invalid value '2.0' for '--to <MINOR>': a goal is a minor version of Kubernetes, such as 1.33

"#]],
    );
}

#[test]
fn a_project_file_that_is_no_yaml_is_not_a_fleet_without_clusters() {
    let stage = project().file("metalmark.yaml", "clusters: [\n");
    stage.run("plan --to 1.33").exit(1).screen(str![[r#"
error[yaml-syntax]: expected a value, found the end of the file
 --> metalmark.yaml:2:1
  |
2 |
  | ^

1 error

"#]]);
}
