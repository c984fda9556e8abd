//! The waves of an upgrade: how clusters are spread over them, and what applying one changes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use proptest::collection::vec;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Metalmark, Outcome, property, rounds};

/// A project with an image of each minor from 1.29 to 1.32, these options of `plan`, and clusters that run these minors.
fn fleet(options: &str, clusters: &[(String, u32)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut listed, mut facts) = (String::new(), String::new());
    for minor in 29..33 {
        let key = key(minor);
        let _ = writeln!(
            listed,
            "  {key}: {{uri: 'oci://registry.example.org/{key}:1'}}"
        );
        let _ = writeln!(
            facts,
            "  {key}: {{filename: {key}.raw, image-format: raw, sha256: {}, os: ubuntu, os-release: noble, flavor: plain, \
             hardened: 'false', k8s-flavor: kubeadm, k8s-version: 1.{minor}.4}}",
            "a".repeat(64)
        );
    }
    let project = format!(
        "version: 1\nvalues: [catalog.yaml]\nclusters: [{{each: 'clusters/*.yaml'}}]\nimages: {{facts: [info.yaml]}}\n{options}"
    );
    for (path, text) in [
        ("metalmark.yaml", project),
        ("catalog.yaml", format!("os_images:\n{listed}")),
        ("info.yaml", format!("os_images:\n{facts}")),
    ] {
        fs::write(folder.path().join(path), text).expect("written");
    }
    fs::create_dir(folder.path().join("clusters")).expect("created");
    for (name, minor) in clusters {
        write(folder.path(), name, &values(*minor));
    }
    folder
}

fn key(minor: u32) -> String {
    format!("ubuntu-noble-plain-kubeadm-1-{minor}-4")
}

fn values(minor: u32) -> String {
    format!(
        "cluster:\n  k8s_version: v1.{minor}.4 # café\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpk}}\n  \
         control_plane_replicas: 3\n  capm3: {{image_key: {}}}\n  machine_deployments:\n    md0: {{replicas: 1}}\n",
        key(minor)
    )
}

fn write(folder: &Path, cluster: &str, text: &str) {
    fs::write(folder.join(format!("clusters/{cluster}.yaml")), text).expect("written");
}

fn texts(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder.join("clusters")).expect("a folder");
    let of = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("an entry").path();
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        (name, fs::read_to_string(path).expect("read"))
    };
    entries.map(of).collect()
}

fn run(folder: &Path, line: &str) -> Outcome {
    Metalmark::within(folder).args(line.split(' ')).run()
}

/// Each wave with its minor and its clusters.
fn waves(folder: &Path, goal: u32) -> Vec<(String, Vec<String>)> {
    let outcome = run(folder, &format!("plan --to 1.{goal} --output json"));
    let plan: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let waves = plan["waves"].as_array().expect("a list").iter().enumerate();
    let of = |(index, wave): (usize, &Value)| {
        assert_eq!(wave["number"], index + 1);
        let clusters = wave["clusters"].as_array().expect("a list").iter();
        let names = clusters.map(|it| it["cluster"].as_str().expect("a name").to_owned());
        (
            wave["to"].as_str().expect("a minor").to_owned(),
            names.collect(),
        )
    };
    waves.map(of).collect()
}

#[test]
fn the_words_of_a_window_are_beside_its_clusters() {
    let clusters = [("lab-a".to_owned(), 30), ("lyon-a".to_owned(), 30)];
    let folder = fleet(
        "plan: {windows: {lyon-*: Tuesday 02:00 UTC, '*': any day, 'lyon-a': never}}\n",
        &clusters,
    );
    let plan = run(folder.path(), "plan --to 1.31");
    assert!(
        plan.stdout
            .contains("\nwave 1, to 1.31, 8 machines: lab-a (any day), lyon-a (never)\n"),
        "{}",
        plan.stdout
    );
    let folder = fleet("plan: {windows: {lyon-*: Tuesday 02:00 UTC}}\n", &clusters);
    let plan = run(folder.path(), "plan --to 1.31");
    assert!(
        plan.stdout
            .contains("\nwave 1, to 1.31, 8 machines: lab-a, lyon-a (Tuesday 02:00 UTC)\n"),
        "{}",
        plan.stdout
    );
}

const OPTIONS: &str = "plan: {most: 2, first: [lab-*], last: [mgmt], groups: [paris-*]}\n";

/// The stage and the group of a cluster of this name, as [`OPTIONS`] describe them.
fn place(name: &str) -> (u32, bool) {
    let stage = match name {
        "mgmt" => 2,
        name if name.starts_with("lab-") => 0,
        _ => 1,
    };
    (stage, name.starts_with("paris-"))
}

#[test]
fn waves_keep_the_order_the_size_and_the_groups_and_reach_the_goal_one_by_one() {
    let names = [
        "lab-a", "lab-b", "lab-c", "lyon-a", "lyon-b", "mgmt", "paris-a", "paris-b", "paris-c",
    ];
    property(rounds(3, 15), &vec(29..33_u32, names.len()), |minors| {
        let names = names.iter().map(|name| (*name).to_owned());
        let clusters: Vec<(String, u32)> = names.zip(minors).collect();
        let folder = fleet(OPTIONS, &clusters);
        let mut planned = waves(folder.path(), 32);
        let mut at: BTreeMap<String, u32> = clusters.into_iter().collect();
        let mut last = (0, 0);
        while !planned.is_empty() {
            let (to, members) = planned[0].clone();
            let minor: u32 = to.trim_start_matches("1.").parse().expect("a minor");
            assert!((1..=2).contains(&members.len()), "{members:?}");
            assert!(
                members.iter().filter(|name| place(name).1).count() < 2,
                "{members:?}"
            );
            let stage = place(&members[0]).0;
            assert!(
                members.iter().all(|name| place(name).0 == stage),
                "{members:?}"
            );
            assert!((minor, stage) >= last, "{planned:?}");
            last = (minor, stage);
            // Nothing follows that could have come in an earlier stage of this minor.
            for (name, own) in &at {
                assert!(
                    *own + 1 > minor || place(name).0 >= stage,
                    "{name} is late: {planned:?}"
                );
            }
            let mut expected = texts(folder.path());
            let applied = run(folder.path(), "plan --to 1.32 --apply 1");
            assert_eq!(applied.status, 0, "{}", applied.stderr);
            for name in &members {
                assert_eq!(at.insert(name.clone(), minor), Some(minor - 1), "{name}");
                expected.insert(name.clone(), values(minor));
            }
            assert_eq!(texts(folder.path()), expected);
            let check = run(folder.path(), "check");
            assert_eq!(check.status, 0, "{}", check.stdout);
            // The rest of the plan is as it was.
            let rest = waves(folder.path(), 32);
            assert_eq!(rest, planned[1..], "after {members:?}");
            planned = rest;
        }
        assert!(at.values().all(|minor| *minor == 32), "{at:?}");
    });
}

#[test]
fn impact_names_the_pools_of_the_wave() {
    use crate::git::{commit, git};
    let clusters = [("lab-a".to_owned(), 30), ("lyon-a".to_owned(), 30)];
    let folder = fleet(OPTIONS, &clusters);
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "."]);
    commit(folder.path(), "start");
    assert_eq!(run(folder.path(), "plan --to 1.31 --apply 1").status, 0);
    let outcome = run(folder.path(), "impact --against HEAD --output json");
    let impact: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let text = impact.to_string();
    assert!(text.contains("lab-a") && !text.contains("lyon-a"), "{text}");
}

#[test]
fn a_wave_that_cannot_be_made_as_planned_changes_nothing() {
    let own = |text: &str| values(30).replace("v1.30.4 # café", text);
    // What an expression computes from a value that metalmark does not know.
    let folder = fleet("", &[("edge".to_owned(), 30)]);
    let computed = own("'v1.{{ .Values.minor }}.4'") + "minor: 30\n";
    write(folder.path(), "edge", &computed);
    let outcome = run(folder.path(), "plan --to 1.31 --apply 1");
    assert_eq!(outcome.status, 1);
    assert!(
        outcome.stderr.starts_with(
            "not applied: edge: `k8s_version` at clusters/edge.yaml:2:16 is computed or secret"
        ),
        "{}",
        outcome.stderr
    );
    assert_eq!(texts(folder.path())["edge"], computed);
    // Sylva's chart looks the version up by its minor; an entry of its map for another patch than that of the images is none.
    for (map, is_made) in [
        ("{'1.30': v1.30.4, '1.31': v1.31.4}", true),
        ("{'1.30': v1.30.4, '1.31': v1.31.3}", false),
    ] {
        let folder = fleet("", &[("edge".to_owned(), 30)]);
        let computed = format!(
            "{}k8s_version_short: \"1.30\"\nk8s_version_map: {map}\n",
            own("'{{ index .Values.k8s_version_map .Values.k8s_version_short }}'")
        );
        write(folder.path(), "edge", &computed);
        let outcome = run(folder.path(), "plan --to 1.31 --apply 1");
        assert_eq!(
            outcome.status,
            i32::from(!is_made),
            "{map}: {}",
            outcome.stderr
        );
        let after = &texts(folder.path())["edge"];
        assert_eq!(
            after.contains("k8s_version_short: \"1.31\""),
            is_made,
            "{after}"
        );
        assert_eq!(*after == computed, !is_made);
    }
    // A value that clusters of other waves share.
    let folder = fleet(
        "plan: {most: 1}\n",
        &[("a".to_owned(), 30), ("b".to_owned(), 30)],
    );
    let catalog = folder.path().join("catalog.yaml");
    let shared = fs::read_to_string(&catalog).expect("read") + "cluster: {k8s_version: v1.30.4}\n";
    fs::write(&catalog, &shared).expect("written");
    for name in ["a", "b"] {
        write(
            folder.path(),
            name,
            &values(30).replace("  k8s_version: v1.30.4 # café\n", ""),
        );
    }
    let outcome = run(folder.path(), "plan --to 1.31 --apply 1");
    assert_eq!(outcome.status, 1);
    assert!(
        outcome
            .stderr
            .contains("not applied: b: it is in another wave and would change too"),
        "{}",
        outcome.stderr
    );
    assert_eq!(fs::read_to_string(&catalog).expect("read"), shared);
}

#[test]
fn a_wave_that_brings_an_error_changes_nothing() {
    let folder = fleet("", &[("edge".to_owned(), 30), ("old".to_owned(), 30)]);
    // An error that is there already, and one that only another version brings.
    let fails = |when: &str| {
        let count = format!(
            "'{{{{ if {when} }}}}{{{{ fail \"no machines\" }}}}{{{{ else }}}}1{{{{ end }}}}'"
        );
        values(30).replace("replicas: 1}", &format!("replicas: {count}}}"))
    };
    let conditional = fails("contains \"1.31\" .Values.cluster.k8s_version");
    write(folder.path(), "edge", &conditional);
    write(folder.path(), "old", &fails("true"));
    let outcome = run(folder.path(), "plan --to 1.31 --apply 1");
    assert_eq!(outcome.status, 1, "{}", outcome.stdout);
    assert_eq!(
        outcome.stderr,
        "not applied: edge: error[expression-error]: no machines\n"
    );
    assert_eq!(texts(folder.path())["edge"], conditional);
}

#[test]
fn the_version_in_a_selector_follows() {
    let folder = fleet("", &[("edge".to_owned(), 30)]);
    let selector = "os_image_selector: {os: ubuntu, k8s-version: '1\\.30.*'}";
    let text = values(30).replace(&format!("image_key: {}", key(30)), selector);
    write(folder.path(), "edge", &text);
    let outcome = run(folder.path(), "plan --to 1.31 --apply 1");
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let after = &texts(folder.path())["edge"];
    assert!(after.contains(r"k8s-version: '1\.31\.4'"), "{after}");
    assert_eq!(run(folder.path(), "check").status, 0);
}

#[test]
fn a_wave_of_another_number_or_of_a_later_step_is_refused() {
    let folder = fleet("", &[("edge".to_owned(), 30)]);
    for (number, why) in [
        (0, "there is no wave 0: the plan has waves 1 to 2"),
        (3, "there is no wave 3: the plan has waves 1 to 2"),
        (2, "cluster `edge` makes another step before that of wave 2"),
    ] {
        let outcome = run(folder.path(), &format!("plan --to 1.32 --apply {number}"));
        assert_eq!(outcome.status, 2);
        assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
    }
    let outcome = run(folder.path(), "plan --to 1.30 --apply 1");
    assert!(
        outcome.stderr.contains("there is nothing to apply"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn options_that_are_none_are_findings_of_the_project_file() {
    for (options, expected) in [
        ("plan: {most: 0}\n", "plan.most"),
        ("plan: {most: 101%}\n", "plan.most"),
        ("plan: {most: lots}\n", "plan.most"),
        ("plan: {most-machines: 0%}\n", "plan.most-machines"),
        ("plan: {first: ['[']}\n", "`[` is not a pattern"),
        ("plan: {windows: {'[': never}}\n", "`[` is not a pattern"),
        ("plan: {wave: 1}\n", "wave"),
    ] {
        let folder = fleet(options, &[("edge".to_owned(), 30)]);
        let check = run(folder.path(), "check");
        assert!(
            check.stdout.contains("error[project-file]"),
            "{options}: {}",
            check.stdout
        );
        assert!(
            check.stdout.contains(expected),
            "{options}: {}",
            check.stdout
        );
    }
    let names = (0..10).map(|number| (format!("site-{number}"), 31));
    let clusters: Vec<(String, u32)> = names.collect();
    let folder = fleet("plan: {most: 30%}\n", &clusters);
    let sizes = waves(folder.path(), 32)
        .into_iter()
        .map(|(_, members)| members.len());
    assert_eq!(sizes.collect::<Vec<_>>(), [3, 3, 3, 1]);
}

/// The names of each wave of a plan to 1.31.
fn members(folder: &Path) -> Vec<Vec<String>> {
    let waves = waves(folder, 31).into_iter();
    waves.map(|(_, members)| members).collect()
}

#[test]
fn a_wave_has_no_more_machines_than_it_may() {
    let names = ["a", "b", "c", "d"].map(|name| (name.to_owned(), 30));
    // Four machines each, and one with more than a wave may have.
    let folder = fleet("plan: {most-machines: 9}\n", &names);
    write(
        folder.path(),
        "b",
        &values(30).replace("replicas: 1", "replicas: 40"),
    );
    assert_eq!(
        members(folder.path()),
        [vec!["a", "c"], vec!["b"], vec!["d"]]
    );
    let plan = run(folder.path(), "plan --to 1.31 --output json");
    let plan: Value = serde_json::from_str(&plan.stdout).expect("JSON");
    let machines = |index: usize| plan["waves"][index]["machines"].as_u64();
    assert_eq!([0, 1, 2].map(machines), [Some(8), Some(43), Some(4)]);
    // Twelve machines are known: half of them are less than two clusters have. One that does not say how many it has is alone.
    let folder = fleet("plan: {most-machines: 50%}\n", &names);
    write(
        folder.path(),
        "b",
        &values(30).replace("{replicas: 1}", "{}"),
    );
    assert_eq!(
        members(folder.path()),
        [vec!["a"], vec!["b"], vec!["c"], vec!["d"]]
    );
    let plan = run(folder.path(), "plan --to 1.31");
    assert!(
        plan.stdout.contains("\nwave 2, to 1.31: b\n"),
        "{}",
        plan.stdout
    );
}
