//! `--shard I/N`: the shards' files are disjoint, their union is the whole run's, and no shard touches another one's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use metalmark::model::manifest::{Keeps, ManifestFile, ManifestTree};
use metalmark::model::rule::RuleId;
use metalmark::model::shard::Shard;
use metalmark::output::{self, Options};
use proptest::prelude::{Just, ProptestConfig, Strategy, proptest};
use proptest::sample::subsequence;
use tempfile::TempDir;

use super::support::{Metalmark, Outcome, copy_of, repository, rounds};

type Files = BTreeMap<PathBuf, Vec<u8>>;

const CLUSTERS: &str = "environment-values/workload-clusters";

/// The demo with workload clusters of these names, none of them with a finding.
fn fleet(names: &[&str]) -> TempDir {
    let folder = copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"));
    let root = folder.path();
    fs::remove_dir_all(root.join("expected")).expect("removed");
    let template = fs::read(root.join(CLUSTERS).join("edge-paris/values.yaml")).expect("values");
    fs::remove_dir_all(root.join(CLUSTERS)).expect("removed");
    let project = fs::read_to_string(root.join("metalmark.yaml")).expect("the project");
    let project = project.split("policy:").next().expect("its head");
    let outputs = "  - {target: helm-values, path: rendered/values}\n";
    fs::write(root.join("metalmark.yaml"), format!("{project}{outputs}")).expect("written");
    for name in names {
        let own = root.join(CLUSTERS).join(name);
        fs::create_dir_all(&own).expect("made");
        fs::write(own.join("values.yaml"), &template).expect("written");
    }
    folder
}

/// Other clusters, and other bytes for those that stay.
fn change(root: &Path, names: &[&str]) {
    let next = fleet(names);
    fs::remove_dir_all(root.join(CLUSTERS)).expect("removed");
    let clusters = next.path().join(CLUSTERS);
    if clusters.is_dir() {
        fs::rename(clusters, root.join(CLUSTERS)).expect("moved");
    }
    let file = root.join("metalmark.yaml");
    let text = fs::read_to_string(&file).expect("the project");
    let text = text.replace("os-images.example.org", "images.example.net");
    fs::write(file, text).expect("written");
}

fn run(root: &Path, args: &[&str]) -> Outcome {
    Metalmark::within(root).args(args.iter().copied()).run()
}

fn render(root: &Path, shard: Option<(usize, usize)>) {
    let shard = shard.map(|(index, count)| format!("{index}/{count}"));
    let mut args = vec!["render", "--frozen"];
    args.extend(shard.iter().flat_map(|shard| ["--shard", &**shard]));
    let outcome = run(root, &args);
    assert_eq!(outcome.status, 0, "{args:?}: {}", outcome.stderr);
}

/// Rendered files, with or without what says whose they are.
fn rendered(root: &Path, ownership: bool) -> Files {
    let files = walkdir::WalkDir::new(root.join("rendered")).into_iter();
    files
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .filter(|entry| ownership || entry.file_name() != ".metalmark-owned")
        .map(|entry| {
            let path = entry.path().strip_prefix(root).expect("below");
            (path.to_owned(), fs::read(entry.path()).expect("readable"))
        })
        .collect()
}

/// The files that differ, each with what became of it.
fn changed(before: &Files, after: &Files) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path))
        .map(|path| (path.clone(), after.get(path).cloned()))
        .collect()
}

const NAMES: [&str; 9] = [
    "edge-1", "edge-2", "edge-3", "edge-4", "edge-5", "paris", "lyon", "a", "site-7",
];

fn names() -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(NAMES.to_vec(), 1..NAMES.len())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(rounds(2, 8) as u32) })]

    #[test]
    fn shards_are_disjoint_and_their_union_is_the_whole_run(
        before in names(), after in names(),
        order in (1..5_usize).prop_flat_map(|count| Just((1..=count).collect::<Vec<_>>()).prop_shuffle()),
    ) {
        let count = order.len();
        let start = fleet(&before);
        // Rendered at first by shards, or whole: what comes after does not depend on it.
        match count % 2 {
            0 => render(start.path(), None),
            _ => (1..=3).for_each(|index| render(start.path(), Some((index, 3)))),
        }
        change(start.path(), &after);
        let whole = copy_of(start.path());
        render(whole.path(), None);

        let (old, new) = (rendered(start.path(), false), rendered(whole.path(), false));
        let mut union = BTreeMap::new();
        for index in &order {
            let alone = copy_of(start.path());
            render(alone.path(), Some((*index, count)));
            for (path, bytes) in changed(&old, &rendered(alone.path(), false)) {
                let other = union.insert(path.clone(), bytes);
                assert!(other.is_none(), "two shards write {}", path.display());
            }
        }
        assert!(union == changed(&old, &new), "the union is not the whole");

        // One after the other on one tree, they also leave the same account of whose files these are.
        for index in &order {
            render(start.path(), Some((*index, count)));
        }
        assert!(rendered(start.path(), true) == rendered(whole.path(), true));
        let check = run(start.path(), &["render", "--frozen", "--check"]);
        assert_eq!(check.status, 0, "{}", check.stdout);
    }
}

/// The clusters of a fleet that a shard holds.
fn held(index: usize, count: usize) -> Vec<&'static str> {
    let shard: Shard = format!("{index}/{count}").parse().expect("a shard");
    NAMES.into_iter().filter(|name| shard.holds(name)).collect()
}

/// The project without outputs that speak for all clusters.
fn without_shared(root: &Path) {
    let file = root.join("metalmark.yaml");
    let text = fs::read_to_string(&file).expect("the project");
    let kept = text.lines().filter(|line| {
        !line.contains("target: configmap") && !line.contains("target: helm-values")
    });
    let text: String = kept.map(|line| format!("{line}\n")).collect();
    fs::write(file, text).expect("written");
}

#[test]
fn a_shard_reads_no_values_of_others() {
    let fleet = fleet(&NAMES);
    without_shared(fleet.path());
    for index in 1..=3 {
        let own = held(index, 3);
        assert!(!own.is_empty() && own.len() < NAMES.len(), "{own:?}");
        let broken = copy_of(fleet.path());
        for name in NAMES.iter().filter(|name| !own.contains(name)) {
            let file = broken.path().join(CLUSTERS).join(name).join("values.yaml");
            fs::write(file, "a: [").expect("written");
        }
        let shard = format!("{index}/3");
        for args in [
            &["check", "--frozen", "--shard", &shard][..],
            &["lock", "--check", "--shard", &shard],
            &["render", "--frozen", "--shard", &shard],
        ] {
            let outcome = run(broken.path(), args);
            assert_eq!(
                outcome.status, 0,
                "{args:?}: {}{}",
                outcome.stdout, outcome.stderr
            );
        }
        let written = rendered(broken.path(), false);
        for name in NAMES {
            let folder = Path::new("rendered/clusters").join(name);
            let is_there = written.keys().any(|path| path.starts_with(&folder));
            assert_eq!(is_there, own.contains(&name), "{name}");
        }
        let whole = run(broken.path(), &["check", "--frozen"]);
        assert_eq!(whole.status, 1);
    }
}

#[test]
fn the_first_shard_writes_nothing_shared_that_another_ones_cluster_contradicts() {
    let fleet = fleet(&NAMES);
    let other = held(2, 3)[0];
    let file = fleet.path().join(CLUSTERS).join(other).join("values.yaml");
    fs::write(file, "a: [").expect("written");
    let first = run(fleet.path(), &["render", "--frozen", "--shard", "1/3"]);
    assert_eq!(first.status, 1, "{}", first.stderr);
    assert!(first.stderr.contains(other), "{}", first.stderr);
    assert_eq!(rendered(fleet.path(), true), Files::new());
    render(fleet.path(), Some((3, 3)));
}

/// A cluster's own findings are reported by its shard alone; findings that need all clusters, by none; those of the project file, by
/// each.
#[test]
fn no_shard_reports_what_only_the_fleet_knows() {
    let fleet = fleet(&NAMES);
    without_shared(fleet.path());
    let file = fleet.path().join("metalmark.yaml");
    let text = fs::read_to_string(&file).expect("the project");
    let waiver = "{rule: checksum-missing, where: nobody, reason: none}";
    let text = format!("{text}policy:\n  waivers:\n    - {waiver}\n");
    fs::write(&file, text).expect("written");
    // An image that the lock has and the catalog has no more.
    let chart = fleet.path().join("charts/sylva-units/values.yaml");
    let values = fs::read_to_string(&chart).expect("the chart's values");
    let entry = "  opensuse-15-6-plain-kubeadm-1-31-8:\n    os_images_oci_registry: sylva\n";
    assert!(values.contains(entry));
    fs::write(&chart, values.replace(entry, "")).expect("written");
    let whole = run(fleet.path(), &["check"]);
    for rule in ["[lock-unused]", "[waiver-unused]"] {
        assert!(whole.stdout.contains(rule), "{rule}: {}", whole.stdout);
    }
    for index in 1..=3 {
        let shard = format!("{index}/3");
        let part = run(fleet.path(), &["check", "--shard", &shard]);
        assert_eq!(part.status, 0);
        assert!(!part.stdout.contains("unused]"), "{}", part.stdout);
        let count = held(index, 3).len();
        let management: Shard = shard.parse().expect("a shard");
        let count = count + usize::from(management.holds("mgmt"));
        let counted = format!("{count} cluster");
        assert!(part.stdout.contains(&counted), "{counted}: {}", part.stdout);
    }
}

/// Names make most paths, so that clusters of two shards come to one path only by an output's path or where letter case
/// counts nothing.
#[test]
fn a_file_of_another_shards_cluster_is_not_overwritten() {
    let root = tempfile::tempdir().expect("a folder");
    let clusters = ["edge-1", "edge-2"];
    let of = |cluster: &str| {
        let shards = (1..=4).map(|index| format!("{index}/4").parse().expect("a shard"));
        let shards: Vec<Shard> = shards.collect();
        let found = shards.into_iter().find(|shard| shard.holds(cluster));
        found.expect("one of them")
    };
    assert_ne!(of("edge-1"), of("edge-2"));
    let plan = |cluster: &str, living: &[&str]| {
        let owner = format!("manifests/{cluster}");
        let tree = ManifestTree {
            files: vec![ManifestFile::new("one.yaml", cluster, owner.as_str())],
            keeps: Keeps::OtherShards {
                shard: of(cluster),
                these: BTreeSet::new(),
                clusters: living.iter().map(|name| Arc::from(*name)).collect(),
            },
        };
        output::plan(root.path(), tree, Options::default()).expect("planned")
    };
    output::apply(&plan("edge-1", &clusters)).expect("written");
    let refused = plan("edge-2", &clusters);
    let rules: Vec<RuleId> = refused
        .findings
        .iter()
        .map(|finding| finding.rule)
        .collect();
    assert_eq!(rules, [RuleId::OutputPathCollision]);
    output::apply(&refused).expect("nothing to do");
    let text = || fs::read_to_string(root.path().join("one.yaml")).expect("there");
    assert_eq!(text(), "edge-1");
    // The other cluster is gone from the fleet: its file can be taken over.
    output::apply(&plan("edge-2", &["edge-2"])).expect("written");
    assert_eq!(text(), "edge-2");
}

#[test]
fn what_is_no_shard_is_wrong_usage() {
    let fleet = fleet(&["edge-1"]);
    for (shard, reported) in [
        ("0/4", "`0/4` is no shard: `2/8` is the second of eight"),
        ("5/4", "there is no shard 5 of 4"),
        ("1", "`1` is no shard"),
        ("1/0", "`1/0` is no shard"),
        ("a/b", "`a/b` is no shard"),
    ] {
        for command in ["render", "check"] {
            let outcome = run(fleet.path(), &[command, "--shard", shard]);
            assert_eq!(outcome.status, 2);
            assert!(outcome.stderr.contains(reported), "{}", outcome.stderr);
        }
    }
    let lock = run(fleet.path(), &["lock", "--shard", "1/2"]);
    assert_eq!(lock.status, 2);
    assert!(lock.stderr.contains("--check"), "{}", lock.stderr);
}

#[test]
fn a_shard_without_clusters_is_no_empty_render() {
    let fleet = fleet(&["edge-1"]);
    without_shared(fleet.path());
    for index in 1..=9 {
        render(fleet.path(), Some((index, 9)));
    }
    let check = run(fleet.path(), &["render", "--frozen", "--check"]);
    assert_eq!(check.status, 0, "{}", check.stdout);
}
