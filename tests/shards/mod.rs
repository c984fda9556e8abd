//! `--shard I/N`: the shards' files are disjoint, their union is the whole run's, and no shard touches another one's.

mod hosts;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use metalmark::model::manifest::{ChangeSet, Keeps, ManifestFile, ManifestTree};
use metalmark::model::rule::RuleId;
use metalmark::model::shard::{Part, Shard};
use metalmark::output::{self, Options};
use proptest::prelude::{Just, Strategy};
use proptest::sample::subsequence;
use snapbox::str;

use super::support::rounds;
use super::support::seen::Seen;
use super::support::stage::{Stage, Texts, assert_text, project, table};
use super::tracked::demo;

const CLUSTERS: &str = "environment-values/workload-clusters";

fn values(cluster: &str) -> String {
    format!("{CLUSTERS}/{cluster}/values.yaml")
}

/// The demo with workload clusters of these names, none of them with a finding, and with further outputs of all clusters.
fn fleet(names: &[&str], shared: &str) -> Stage {
    let stage = demo();
    let template = stage.read(&values("edge-paris"));
    let text = stage.read("metalmark.yaml");
    let head = text.split("policy:").next().expect("its head");
    stage.write(
        "metalmark.yaml",
        head.replace("  - {target: configmap, path: rendered/shared}\n", shared),
    );
    clusters(&stage, names, &template);
    stage
}

/// Replaces the workload clusters.
fn clusters(stage: &Stage, names: &[&str], template: &str) {
    fs::remove_dir_all(stage.path().join(CLUSTERS)).expect("removed");
    fs::create_dir(stage.path().join(CLUSTERS)).expect("made");
    for name in names {
        stage.write(&values(name), template);
    }
}

const SHARED: &str = "  - {target: configmap, path: rendered/shared}\n  - {target: helm-values, path: rendered/values}\n";

fn copy(stage: &Stage) -> Stage {
    project().folder(stage.path().to_str().expect("text"))
}

fn render(stage: &Stage, shard: &str) {
    stage.run(&format!("render --frozen {shard}")).exit(0);
}

/// Rendered files.
fn rendered(stage: &Stage) -> Texts {
    let mut texts = stage.texts();
    texts.retain(|path, _| path.starts_with("rendered/"));
    texts
}

/// The files that differ, each with what became of it.
fn changed(before: &Texts, after: &Texts) -> BTreeMap<String, Option<String>> {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differ = paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path));
    differ
        .map(|path| (path.clone(), after.get(path).cloned()))
        .collect()
}

const NAMES: [&str; 9] = [
    "edge-1", "edge-2", "edge-3", "edge-4", "edge-5", "paris", "lyon", "a", "site-7",
];

fn names() -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(NAMES.to_vec(), 1..NAMES.len())
}

/// The shard of four that holds a cluster.
fn shard_of(cluster: &str) -> Shard {
    let shards = (1..=4).map(|index| format!("{index}/4").parse::<Shard>().expect("a shard"));
    let mut own = shards.filter(|shard| shard.holds(cluster));
    own.next().expect("one of them")
}

/// What a run of the cluster's shard plans for one file of it, in a fleet of these clusters.
fn plan(root: &Path, path: &str, cluster: &str, living: &[&str]) -> ChangeSet {
    let owner = format!("manifests/{cluster}");
    let tree = ManifestTree {
        files: vec![ManifestFile::new(path, cluster, owner.as_str())],
        keeps: Keeps {
            part: Part::Shard(shard_of(cluster)),
            clusters: living.iter().map(|name| Arc::from(*name)).collect(),
            ..Keeps::default()
        },
    };
    output::plan(root, tree, Options::default()).expect("planned")
}

fn rules(changes: &ChangeSet) -> Vec<RuleId> {
    changes
        .findings
        .iter()
        .map(|finding| finding.rule)
        .collect()
}

/// Whether no shard plans to write over what another one's cluster has; none where there is no such pair.
fn keeps_others(stage: &Stage, living: &[&str]) -> Option<bool> {
    let [one, other] = living.iter().find_map(|one| {
        let other = living
            .iter()
            .find(|other| shard_of(one) != shard_of(other))?;
        Some([*one, *other])
    })?;
    let path = format!("rendered/clusters/{one}/{one}.yaml");
    Some(rules(&plan(stage.path(), &path, other, living)) == [RuleId::OutputPathCollision])
}

#[test]
fn shards_are_disjoint_and_their_union_is_the_whole_run() {
    let order =
        (1..5_usize).prop_flat_map(|count| Just((1..=count).collect::<Vec<_>>()).prop_shuffle());
    let seen = Seen::new(&["changed", "gone", "new", "clusters of two shards"]);
    seen.property(
        rounds(3, 12),
        1,
        &(names(), names(), order),
        |(before, after, order)| {
            let count = order.len();
            let shards: Vec<String> = order
                .iter()
                .map(|index| format!("--shard {index}/{count}"))
                .collect();
            let start = fleet(&before, SHARED);
            // Rendered at first by shards, or whole: what comes after does not depend on it.
            match count % 2 {
                0 => render(&start, ""),
                _ => (1..=3).for_each(|index| render(&start, &format!("--shard {index}/3"))),
            }
            let old = rendered(&start);
            // Other clusters, and other bytes for those that stay.
            let template = start.read(&values(before[0]));
            clusters(&start, &after, &template);
            start.edit(
                "metalmark.yaml",
                "os-images.example.org",
                "images.example.net",
            );
            let whole = copy(&start);
            render(&whole, "");
            let new = rendered(&whole);
            let mut union = BTreeMap::new();
            for shard in &shards {
                let alone = copy(&start);
                render(&alone, shard);
                for (path, text) in changed(&old, &rendered(&alone)) {
                    let is_known = old.contains_key(&path);
                    seen.note(match (is_known, &text) {
                        (true, Some(_)) => "changed",
                        (true, None) => "gone",
                        (false, _) => "new",
                    });
                    assert!(
                        union.insert(path.clone(), text).is_none(),
                        "two shards write {path}"
                    );
                }
            }
            assert!(union == changed(&old, &new), "the union is not the whole");
            // One after the other on one tree, they leave the same.
            for shard in &shards {
                render(&start, shard);
            }
            assert!(rendered(&start) == rendered(&whole));
            start.run("render --frozen --check").exit(0);
            let kept = keeps_others(&start, &after);
            seen.note_if(kept == Some(true), "clusters of two shards");
            assert_ne!(
                kept,
                Some(false),
                "a file of another shard's cluster is overwritten"
            );
        },
    );
}

/// The clusters of a fleet that a shard holds.
fn held(index: usize, count: usize) -> Vec<&'static str> {
    let shard: Shard = format!("{index}/{count}").parse().expect("a shard");
    NAMES.into_iter().filter(|name| shard.holds(name)).collect()
}

#[test]
fn a_shard_reads_no_values_of_others() {
    let fleet = fleet(&NAMES, "");
    for index in 1..=3 {
        let own = held(index, 3);
        assert!(!own.is_empty() && own.len() < NAMES.len(), "{own:?}");
        let broken = copy(&fleet);
        for name in NAMES.iter().filter(|name| !own.contains(name)) {
            broken.write(&values(name), "a: [");
        }
        for words in ["check --frozen", "lock --check", "render --frozen"] {
            broken.run(&format!("{words} --shard {index}/3")).exit(0);
        }
        let written = rendered(&broken);
        for name in NAMES {
            let folder = format!("rendered/clusters/{name}/");
            let is_there = written.keys().any(|path| path.starts_with(&folder));
            assert_eq!(is_there, own.contains(&name), "{name}");
        }
        broken.run("check --frozen").exit(1);
    }
}

#[test]
fn the_first_shard_writes_nothing_shared_that_another_ones_cluster_contradicts() {
    let stage = fleet(&NAMES, SHARED);
    let other = held(2, 3)[0];
    stage.write(&values(other), "a: [");
    let first = stage
        .run("render --frozen --shard 1/3")
        .exit(1)
        .outcome
        .stderr;
    assert!(first.contains(other), "{first}");
    assert_eq!(rendered(&stage), Texts::new());
    render(&stage, "--shard 3/3");
}

/// A cluster's own findings are reported by its shard alone; findings that need all clusters, by none; those of the project file, by
/// each.
#[test]
fn no_shard_reports_what_only_the_fleet_knows() {
    let stage = fleet(&NAMES, "");
    let text = stage.read("metalmark.yaml");
    let waiver =
        "policy:\n  waivers:\n    - {rule: checksum-missing, where: nobody, reason: none}\n";
    stage.write("metalmark.yaml", text + waiver);
    // An image that the lock has and the catalog has no more.
    let entry = "  opensuse-15-6-plain-kubeadm-1-31-8:\n    os_images_oci_registry: sylva\n";
    stage.edit("charts/sylva-units/values.yaml", entry, "");
    let checks = table(["", "--shard 1/3", "--shard 2/3", "--shard 3/3"], |words| {
        let screen = stage.run(&format!("check {words}")).outcome.stdout;
        let is_one = |line: &&str| line.contains("unused]") || line.contains(" in ");
        let lines = screen.lines().filter(is_one);
        lines.map(str::to_owned).collect()
    });
    assert_text(
        &checks,
        str![[r#"

    warning[lock-unused]: the lock holds `oci://registry.example.org/sylva-projects/sylva-elements/diskimage-builder/opensuse-15-6-plain-kubeadm-1-31-8:0.4.12`, which no cluster requires
    warning[waiver-unused]: the waiver of `checksum-missing` for `nobody` accepts nothing
--shard 1/3
    no findings in 2 clusters; 5 node pools checked: 5 proven
--shard 2/3
    no findings in 5 clusters; 15 node pools checked: 15 proven
--shard 3/3
    no findings in 3 clusters; 9 node pools checked: 9 proven

"#]],
    );
}

/// Names make most paths, so that clusters of two shards come to one path only by an output's path or where letter case
/// counts nothing.
#[test]
fn a_file_of_another_shards_cluster_is_not_overwritten() {
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    let clusters = ["edge-1", "edge-2"];
    assert_ne!(shard_of("edge-1"), shard_of("edge-2"));
    output::apply(&plan(root, "one.yaml", "edge-1", &clusters)).expect("written");
    let refused = plan(root, "one.yaml", "edge-2", &clusters);
    assert_eq!(rules(&refused), [RuleId::OutputPathCollision]);
    output::apply(&refused).expect("nothing to do");
    let text = || fs::read_to_string(root.join("one.yaml")).expect("there");
    assert!(text().ends_with(".\nedge-1"));
    // The other cluster is gone from the fleet: its file can be taken over.
    output::apply(&plan(root, "one.yaml", "edge-2", &["edge-2"])).expect("written");
    assert!(text().ends_with(".\nedge-2"));
}

#[test]
fn what_is_no_shard_is_wrong_usage() {
    let stage = fleet(&["edge-1"], "");
    let cases = [
        "check --shard 0/4",
        "render --shard 5/4",
        "render --shard 1",
        "render --shard 1/0",
        "check --shard a/b",
        "lock --shard 1/2",
    ];
    let errors = table(cases, |words| {
        let run = stage.run(words).exit(2);
        run.outcome
            .stderr
            .lines()
            .take(2)
            .map(str::to_owned)
            .collect()
    });
    assert_text(
        &errors,
        str![[r#"
check --shard 0/4
    error: invalid value '0/4' for '--shard <I/N>': `0/4` is no shard: `2/8` is the second of eight
    
render --shard 5/4
    error: invalid value '5/4' for '--shard <I/N>': there is no shard 5 of 4
    
render --shard 1
    error: invalid value '1' for '--shard <I/N>': `1` is no shard: `2/8` is the second of eight
    
render --shard 1/0
    error: invalid value '1/0' for '--shard <I/N>': `1/0` is no shard: `2/8` is the second of eight
    
check --shard a/b
    error: invalid value 'a/b' for '--shard <I/N>': `a/b` is no shard: `2/8` is the second of eight
    
lock --shard 1/2
    error: the following required arguments were not provided:
      --check

"#]],
    );
}

#[test]
fn a_shard_without_clusters_is_no_empty_render() {
    let stage = fleet(&["edge-1"], "");
    for index in 1..=9 {
        render(&stage, &format!("--shard {index}/9"));
    }
    stage.run("render --frozen --check").exit(0);
}
