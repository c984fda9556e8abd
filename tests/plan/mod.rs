//! `plan`: the steps of an upgrade, compared with a second description of them, and applied.

mod manifests;
mod offers;
mod waves;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use proptest::collection::vec;
use proptest::prelude::Strategy;
use serde_json::{Value, json};

use crate::support::{Metalmark, Outcome, copy_of, property, repository, rounds};

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

/// A project of one cluster whose pools boot these images, the first one the control plane's.
struct Project {
    folder: tempfile::TempDir,
    catalog: BTreeSet<Built>,
}

impl Project {
    fn new(catalog: &BTreeSet<Built>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let project = "version: 1\nvalues: [catalog.yaml]\nclusters: [{name: edge, values: [edge.yaml]}]\nimages: {facts: [info.yaml]}\n";
        fs::write(folder.path().join("metalmark.yaml"), project).expect("written");
        let (mut listed, mut facts) = (String::new(), String::new());
        for built in catalog {
            let (flavor, distribution, _) = LINES[built.0];
            let (key, version) = (key(*built), version(*built));
            let hardened = flavor == "hardened";
            let _ = writeln!(
                listed,
                "  {key}: {{uri: 'oci://registry.example.org/{key}:1'}}"
            );
            let _ = writeln!(
                facts,
                "  {key}: {{filename: {key}.raw, image-format: raw, sha256: {}, os: ubuntu, os-release: noble, \
                 flavor: {flavor}, hardened: '{hardened}', k8s-flavor: {distribution}, k8s-version: {version}}}",
                "a".repeat(64)
            );
        }
        fs::write(
            folder.path().join("catalog.yaml"),
            format!("os_images:\n{listed}"),
        )
        .expect("written");
        fs::write(
            folder.path().join("info.yaml"),
            format!("os_images:\n{facts}"),
        )
        .expect("written");
        Self {
            folder,
            catalog: catalog.clone(),
        }
    }

    /// Writes the cluster's values: its version, and the image of each pool by key.
    fn runs(&self, distribution: &str, version: &str, images: &[String]) {
        let provider = if distribution == "rke2" {
            "cabpr"
        } else {
            "cabpk"
        };
        let workers: String = images[1..]
            .iter()
            .enumerate()
            .map(|(index, key)| format!("    md{index}: {{capm3: {{image_key: {key}}}}}\n"))
            .collect();
        let values = format!(
            "cluster:\n  k8s_version: v{version}\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: {provider}}}\n  \
             control_plane_replicas: 3\n  capm3: {{image_key: {}}}\n  machine_deployments:\n{workers}",
            images[0]
        );
        fs::write(self.folder.path().join("edge.yaml"), values).expect("written");
    }

    fn values(&self) -> String {
        fs::read_to_string(self.folder.path().join("edge.yaml")).expect("read")
    }

    fn run(&self, line: &str) -> Outcome {
        Metalmark::within(self.folder.path())
            .args(line.split(' '))
            .run()
    }

    fn plan(&self, goal: u32) -> Value {
        let outcome = self.run(&format!("plan --to 1.{goal} --output json"));
        let plan: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        let plan = plan["clusters"][0].clone();
        assert_eq!(
            outcome.status,
            i32::from(!plan["blocked"].is_null()),
            "{plan}"
        );
        plan
    }

    /// The versions of the steps, from the rules alone: in each minor the newest version that all lines have, and the minor
    /// that stops it.
    fn expected(
        &self,
        lines: &[usize],
        start: (u32, u32),
        goal: u32,
    ) -> (Vec<(u32, u32)>, Option<u32>) {
        let has =
            |line: usize, version: (u32, u32)| self.catalog.contains(&(line, version.0, version.1));
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
    property(rounds(24, 400), &fleet(), |fleet| {
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
        let project = Project::new(&catalog);
        let distribution = LINES[lines[0]].1;
        let built =
            |version: (u32, u32)| lines.iter().map(move |line| (*line, version.0, version.1));
        let keys = |version| built(version).map(key).collect::<Vec<String>>();
        let of = |at: (u32, u32)| version((lines[0], at.0, at.1));
        project.runs(distribution, &of(start), &keys(start));
        let plan = project.plan(goal);
        let (steps, blocked) = project.expected(&lines, start, goal.max(start.0));
        let (steps, blocked) = if goal < start.0 {
            (Vec::new(), None)
        } else {
            (steps, blocked)
        };
        let planned: Vec<&str> = plan["steps"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|step| step["version"].as_str().expect("a version"))
            .collect();
        let versions: Vec<String> = steps.iter().map(|step| of(*step)).collect();
        assert_eq!(planned, versions, "{plan}");
        let minor = blocked.map_or(Value::Null, |minor| json!(format!("1.{minor}")));
        assert_eq!(plan["blocked"]["before"], minor, "{plan}");
        // Applied one after another, each step passes the rules, and names the image of each pool's own line.
        for (step, at) in plan["steps"].as_array().expect("a list").iter().zip(&steps) {
            let images: BTreeMap<String, String> =
                serde_json::from_value(step["images"].clone()).expect("images");
            let wanted = keys(*at);
            assert_eq!(images["control-plane"], wanted[0]);
            for (index, key) in wanted[1..].iter().enumerate() {
                assert_eq!(images[&format!("md{index}")], *key);
            }
            let applied = project.run(&format!("plan --to 1.{goal} --apply 1"));
            assert_eq!(applied.status, 0, "{}", applied.stderr);
            let expected = format!("wave 1: 1 cluster to 1.{}, 1 file edited\n", at.0);
            assert_eq!(applied.stdout, expected);
            // The same file as a person would have written.
            let edited = project.values();
            project.runs(distribution, &of(*at), &wanted);
            assert_eq!(edited, project.values());
            let check = project.run("check");
            assert_eq!(check.status, 0, "{}", check.stdout);
            assert!(
                check.stdout.contains(&format!("{0} proven", wanted.len())),
                "{}",
                check.stdout
            );
        }
        // The plan of the last state goes on from there.
        let after = project.plan(goal);
        assert_eq!(after["steps"], json!([]), "{after}");
    });
}

#[test]
fn what_stops_an_upgrade_is_named_with_what_is_missing() {
    let catalog = BTreeSet::from([
        (0, 30, 2),
        (0, 31, 4),
        (0, 31, 9),
        (0, 32, 1),
        (1, 30, 2),
        (1, 31, 4),
    ]);
    let project = Project::new(&catalog);
    project.runs(
        "kubeadm",
        "1.30.2",
        &[key((0, 30, 2)), key((0, 30, 2)), key((1, 30, 2))],
    );
    let outcome = project.run("plan --to 1.32");
    assert_eq!(
        outcome.stdout,
        "\
edge: 1.30.2 → 1.31.4, blocked before 1.32: an image is missing
  1.31.4  control-plane  ubuntu-noble-plain-kubeadm-1-31-4
  1.31.4  md0  ubuntu-noble-plain-kubeadm-1-31-4
  1.31.4  md1  ubuntu-noble-hardened-kubeadm-1-31-4
  nothing follows `ubuntu-noble-hardened-kubeadm-1-31-4`: md1

missing: an image of 1.32 in the line of `ubuntu-noble-hardened-kubeadm-1-31-4`, for 1 cluster
wave 1, to 1.31: edge
1 cluster: 0 to upgrade in 1 step, 0 at 1.32 or newer, 1 blocked
"
    );
    assert_eq!(outcome.status, 1);
    let ticket = project.run("plan --to 1.32 --output markdown");
    assert_eq!(
        ticket.stdout,
        "\
### The way to Kubernetes 1.32

**1 cluster: 0 to upgrade in 1 step, 0 at 1.32 or newer, 1 blocked**

Missing:

- an image of 1.32 in the line of `ubuntu-noble-hardened-kubeadm-1-31-4`, for 1 cluster

- wave 1, to 1.31: edge

| cluster | Kubernetes | images | blocked |
|---|---|---|---|
| edge | 1.30.2 → 1.31.4 | 1.31.4: ubuntu-noble-hardened-kubeadm-1-31-4, ubuntu-noble-plain-kubeadm-1-31-4 | blocked before 1.32: an image is missing |
"
    );
}

#[test]
fn the_newest_patch_is_planned_without_another_minor() {
    let catalog = BTreeSet::from([
        (0, 30, 2),
        (0, 30, 5),
        (0, 30, 9),
        (0, 31, 4),
        (1, 30, 2),
        (1, 30, 5),
    ]);
    let project = Project::new(&catalog);
    project.runs("kubeadm", "1.30.2", &[key((0, 30, 2)), key((1, 30, 2))]);
    let plan = project.run("plan --patch-only");
    assert_eq!(plan.status, 0, "{}", plan.stdout);
    assert!(
        plan.stdout.starts_with("edge: 1.30.2 → 1.30.5\n"),
        "{}",
        plan.stdout
    );
    assert!(
        plan.stdout
            .ends_with("1 cluster: 1 to upgrade in 1 step, 0 at the newest patch, 0 blocked\n"),
        "{}",
        plan.stdout
    );
    assert_eq!(project.run("plan --patch-only --apply 1").status, 0);
    assert_eq!(project.run("check").status, 0);
    let plan = project.run("plan --patch-only --output json");
    let plan: Value = serde_json::from_str(&plan.stdout).expect("JSON");
    assert_eq!(
        (&plan["goal"], &plan["clusters"][0]["steps"]),
        (&Value::Null, &json!([]))
    );
    assert_eq!(project.run("plan").status, 2);
    assert_eq!(project.run("plan --to 1.31 --patch-only").status, 2);
}

#[test]
fn a_cluster_that_boots_another_version_than_it_runs_is_not_planned() {
    let project = Project::new(&BTreeSet::from([(0, 30, 2), (0, 31, 4)]));
    project.runs("kubeadm", "1.31.4", &[key((0, 30, 2))]);
    let plan = project.plan(31);
    let reason = plan["blocked"]["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("holds `1.30.2`, which is not the version"),
        "{reason}"
    );
    project.runs("kubeadm", "1.31.4", &["not-in-the-catalog".to_owned()]);
    let reason = project.plan(31)["blocked"]["reason"].to_string();
    assert!(
        reason.contains("of node pool `control-plane` is not known"),
        "{reason}"
    );
}

#[test]
fn a_fleet_is_summed_up_and_a_goal_is_a_minor() {
    let folder = copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"));
    let outcome = Metalmark::within(folder.path())
        .args(["plan", "--to", "1.31"])
        .run();
    assert_eq!(
        outcome.status, 1,
        "lab-7 boots another version than it runs"
    );
    assert!(
        outcome
            .stdout
            .ends_with("\n4 clusters: 0 to upgrade in 0 steps, 3 at 1.31 or newer, 1 blocked\n"),
        "{}",
        outcome.stdout
    );
    for goal in ["1.33.1", "1", "v1.33-rc1", "latest"] {
        let outcome = Metalmark::within(folder.path())
            .args(["plan", "--to", goal])
            .run();
        assert_eq!(outcome.status, 2);
        assert!(
            outcome
                .stderr
                .contains("a goal is a minor version, such as 1.33"),
            "{}",
            outcome.stderr
        );
    }
}
