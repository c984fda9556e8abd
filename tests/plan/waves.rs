//! The waves of an upgrade: how clusters are spread over them, and what applying one changes.

use std::collections::BTreeMap;

use proptest::collection::vec;
use serde_json::Value;
use snapbox::str;

use super::{LINES, key, list, listed, read_json, text};
use crate::support::stage::{Stage, Texts, assert_text, project, table};
use crate::support::{property, rounds};

/// A project with an image of each minor from 1.29 to 1.32, these settings, and clusters that run these minors.
pub(super) fn fleet(settings: &str, clusters: &[(&str, u32)]) -> Stage {
    let image = |minor: u32| {
        listed(
            &key((0, minor, 4)),
            "plain",
            LINES[0].1,
            &format!("1.{minor}.4"),
        )
    };
    let images: Vec<String> = (29..33).map(image).collect();
    let images: Vec<&str> = images.iter().map(String::as_str).collect();
    let stage = project()
        .settings(&format!(
            "clusters: [{{each: 'clusters/*.yaml'}}]\n{settings}"
        ))
        .catalog(&images);
    for (name, minor) in clusters {
        stage.write(&file(name), values(*minor));
    }
    stage
}

fn file(cluster: &str) -> String {
    format!("clusters/{cluster}.yaml")
}

fn values(minor: u32) -> String {
    format!(
        "cluster:\n  k8s_version: v1.{minor}.4 # café\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpk}}\n  \
         control_plane_replicas: 3\n  capm3: {{image_key: {}}}\n  machine_deployments:\n    md0: {{replicas: 1}}\n",
        key((0, minor, 4))
    )
}

/// Each wave with its minor and its clusters.
fn waves(stage: &Stage, goal: u32) -> Vec<(String, Vec<String>)> {
    let plan = read_json(stage, &format!("plan --to 1.{goal}"));
    let of = |(index, wave): (usize, &Value)| {
        assert_eq!(wave["number"], index + 1);
        let names = list(wave, "clusters").map(|it| text(&it["cluster"]));
        (text(&wave["to"]), names.collect())
    };
    list(&plan, "waves").enumerate().map(of).collect()
}

/// The lines of waves in a plan to 1.31.
fn lines(stage: &Stage) -> Vec<String> {
    let plan = stage.run("plan --to 1.31").outcome.stdout;
    let lines = plan.lines().filter(|line| line.starts_with("wave "));
    lines.map(str::to_owned).collect()
}

#[test]
fn clusters_whose_last_window_that_matches_differs_are_in_different_waves() {
    let windows = [
        "lyon-*: Tuesday 02:00 UTC, '*': any day, 'lyon-a': never",
        "lyon-*: Tuesday 02:00 UTC",
    ];
    let plans = table(windows, |windows| {
        let owners = "owners: {'*': edge team, lab-*: lab}";
        let settings = format!("plan: {{windows: {{{windows}}}, {owners}}}\n");
        lines(&fleet(&settings, &[("lab-a", 30), ("lyon-a", 30)]))
    });
    assert_text(
        &plans,
        str![[r#"
lyon-*: Tuesday 02:00 UTC, '*': any day, 'lyon-a': never
    wave 1, to 1.31, 4 machines, any day, lab: lab-a
    wave 2, to 1.31, 4 machines, never, edge team: lyon-a
lyon-*: Tuesday 02:00 UTC
    wave 1, to 1.31, 4 machines, lab: lab-a
    wave 2, to 1.31, 4 machines, Tuesday 02:00 UTC, edge team: lyon-a

"#]],
    );
}

const OPTIONS: &str = "plan: {most: 2, first: [lab-*], last: [mgmt], groups: [paris-*], windows: {lyon-b: at night}}\n";

/// The stage of a cluster of this name, as [`OPTIONS`] describe it.
fn stage_of(name: &str) -> u32 {
    match name {
        "mgmt" => 2,
        name if name.starts_with("lab-") => 0,
        _ => 1,
    }
}

#[test]
fn waves_keep_the_order_the_size_and_the_groups_and_reach_the_goal_one_by_one() {
    let names = [
        "lab-a", "lab-b", "lab-c", "lyon-a", "lyon-b", "mgmt", "paris-a", "paris-b", "paris-c",
    ];
    property(rounds(3, 15), &vec(29..33_u32, names.len()), |minors| {
        let clusters: Vec<(&str, u32)> = names.into_iter().zip(minors).collect();
        let stage = fleet(OPTIONS, &clusters);
        let mut planned = waves(&stage, 32);
        let mut at: BTreeMap<String, u32> = clusters
            .iter()
            .map(|(name, minor)| ((*name).to_owned(), *minor))
            .collect();
        let mut last = (0, 0);
        while !planned.is_empty() {
            let (to, members) = planned[0].clone();
            let minor: u32 = to.trim_start_matches("1.").parse().expect("a minor");
            let own = stage_of(&members[0]);
            let of_paris = members.iter().filter(|name| name.starts_with("paris-"));
            assert!(
                (1..=2).contains(&members.len()) && of_paris.count() < 2,
                "{members:?}"
            );
            assert!(members.len() == 1 || !members.contains(&"lyon-b".to_owned()));
            assert!(
                members.iter().all(|name| stage_of(name) == own),
                "{members:?}"
            );
            assert!((minor, own) >= last, "{planned:?}");
            last = (minor, own);
            // Nothing follows that could have come in an earlier stage of this minor.
            let is_late = |(name, runs): (&String, &u32)| *runs < minor && stage_of(name) < own;
            assert!(!at.iter().any(is_late), "{planned:?}");
            let mut expected: Texts = stage.texts();
            stage.run("plan --to 1.32 --apply 1").exit(0);
            for name in &members {
                assert_eq!(at.insert(name.clone(), minor), Some(minor - 1), "{name}");
                expected.insert(file(name), values(minor));
            }
            assert_eq!(stage.texts(), expected);
            stage.run("check").exit(0);
            // The rest of the plan is as it was.
            let rest = waves(&stage, 32);
            assert_eq!(rest, planned[1..], "after {members:?}");
            planned = rest;
        }
        assert!(at.values().all(|minor| *minor == 32), "{at:?}");
    });
}

#[test]
fn impact_names_the_pools_of_the_wave() {
    let fleet = fleet(OPTIONS, &[("lab-a", 30), ("lyon-a", 30)]);
    let Some(stage) = fleet.commit("start") else {
        return;
    };
    stage.run("plan --to 1.31 --apply 1").exit(0);
    stage.run("impact --against HEAD").exit(0).stdout(str![[r#"
Against e58e8abcc2, `HEAD`

lab-a
  control-plane  3 machines re-provisioned, by roll
                   image       ubuntu-noble-plain-kubeadm-1-30-4 → ubuntu-noble-plain-kubeadm-1-31-4
                   kubernetes  v1.30.4 → v1.31.4
  md0            1 machine re-provisioned, by roll
                   image       ubuntu-noble-plain-kubeadm-1-30-4 → ubuntu-noble-plain-kubeadm-1-31-4
                   kubernetes  v1.30.4 → v1.31.4

images newly served
  + ubuntu-noble-plain-kubeadm-1-31-4  size unknown  https://images.example/ubuntu-noble-plain-kubeadm-1-31-4.raw

4 machines in 1 cluster re-provisioned, 1 cluster as before

"#]]);
}

/// What applying the first wave says; where it fails, it has changed nothing.
fn apply(stage: &Stage) -> Vec<String> {
    let before = stage.texts();
    let run = stage.run("plan --to 1.31 --apply 1");
    assert_eq!(
        stage.texts() == before,
        run.outcome.status == 1,
        "{}",
        run.outcome.stderr
    );
    run.outcome.stderr.lines().map(str::to_owned).collect()
}

#[test]
fn a_wave_is_made_as_planned_or_changes_nothing() {
    let own = |text: &str| values(30).replace("v1.30.4 # café", text);
    // Sylva's chart looks the version up by its minor; an entry of its map for another patch than that of the images is none.
    let looked_up = |map: &str| {
        let version = own("'{{ index .Values.k8s_version_map .Values.k8s_version_short }}'");
        format!("{version}k8s_version_short: \"1.30\"\nk8s_version_map: {map}\n")
    };
    // An error that is there already, and one that only another version brings.
    let failing = |when: &str| {
        let count = format!(
            "'{{{{ if {when} }}}}{{{{ fail \"no machines\" }}}}{{{{ else }}}}1{{{{ end }}}}'"
        );
        values(30).replace("replicas: 1}", &format!("replicas: {count}}}"))
    };
    let cases = [
        (
            "computed from a value that is not known",
            own("'v1.{{ .Values.minor }}.4'") + "minor: 30\n",
        ),
        ("looked up", looked_up("{'1.30': v1.30.4, '1.31': v1.31.4}")),
        (
            "looked up, of another patch",
            looked_up("{'1.30': v1.30.4, '1.31': v1.31.3}"),
        ),
        (
            "an error that this version brings",
            failing("contains \"1.31\" .Values.cluster.k8s_version"),
        ),
        ("an error that is there already", failing("true")),
    ];
    let results = table(cases.iter().map(|(name, _)| name), |name| {
        let (_, text) = cases.iter().find(|case| case.0 == **name).expect("it");
        let stage = fleet("", &[("edge", 30), ("other", 30)]);
        stage.write(&file("edge"), text);
        apply(&stage)
    });
    assert_text(
        &results,
        str![[r#"
computed from a value that is not known
    not applied: edge: `k8s_version` at clusters/edge.yaml:2:16 is computed or secret: edit what it is made from
looked up
    edited clusters/edge.yaml:8:20: `k8s_version_short: 1.31`
    edited clusters/edge.yaml:5:22: `image_key: ubuntu-noble-plain-kubeadm-1-31-4`
    edited clusters/other.yaml:2:16: `k8s_version: v1.31.4`
    edited clusters/other.yaml:5:22: `image_key: ubuntu-noble-plain-kubeadm-1-31-4`
looked up, of another patch
    not applied: edge: its files do not make it run 1.31.4 after the edits
    not applied: edge: error[k8s-version-mismatch]: image `ubuntu-noble-plain-kubeadm-1-31-4` holds Kubernetes `1.31.4`, not `v1.31.3`
an error that this version brings
    not applied: edge: error[expression-error]: no machines
an error that is there already
    edited clusters/edge.yaml:2:16: `k8s_version: v1.31.4`
    edited clusters/edge.yaml:5:22: `image_key: ubuntu-noble-plain-kubeadm-1-31-4`
    edited clusters/other.yaml:2:16: `k8s_version: v1.31.4`
    edited clusters/other.yaml:5:22: `image_key: ubuntu-noble-plain-kubeadm-1-31-4`

"#]],
    );
}

#[test]
fn a_value_that_clusters_of_other_waves_share_is_written_to_the_files_of_the_wave() {
    // As in Sylva's chart: the version comes of its minor, and clusters do not say any.
    let by_minor = "k8s_version_short: \"1.30\"\nk8s_version_map: {'1.30': v1.30.4, '1.31': v1.31.4}\n\
                    cluster: {k8s_version: '{{ index .Values.k8s_version_map .Values.k8s_version_short }}'}\n";
    let cases = ["cluster: {k8s_version: v1.30.4}\n", by_minor];
    let results = table(["a version", "a minor"], |name| {
        let stage = fleet("plan: {most: 1}\n", &[("a", 30), ("b", 30)]);
        let shared = cases[usize::from(*name == "a minor")];
        stage.write("catalog.yaml", stage.read("catalog.yaml") + shared);
        for name in ["a", "b"] {
            stage.edit(&file(name), "  k8s_version: v1.30.4 # café\n", "");
        }
        let mut lines = apply(&stage);
        lines.extend(stage.read(&file("a")).lines().map(str::to_owned));
        stage.run("check").exit(0);
        stage.run("plan --to 1.31 --apply 1").exit(0);
        stage.run("check").exit(0);
        assert!(stage.read("catalog.yaml").ends_with(shared));
        lines
    });
    assert_text(
        &results,
        str![[r#"
a version
    edited clusters/a.yaml:4:22: `image_key: ubuntu-noble-plain-kubeadm-1-31-4`
    cluster:
      capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}
      control_plane_replicas: 3
      capm3: {image_key: ubuntu-noble-plain-kubeadm-1-31-4}
      machine_deployments:
        md0: {replicas: 1}
      k8s_version: v1.31.4
a minor
    edited clusters/a.yaml:4:22: `image_key: ubuntu-noble-plain-kubeadm-1-31-4`
    cluster:
      capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}
      control_plane_replicas: 3
      capm3: {image_key: ubuntu-noble-plain-kubeadm-1-31-4}
      machine_deployments:
        md0: {replicas: 1}
    k8s_version_short: "1.31"

"#]],
    );
}

#[test]
fn a_value_is_written_once_to_the_lowest_file_that_only_the_wave_reads() {
    let stage = fleet(
        "plan: {first: ['[ab]']}\n",
        &[("a", 30), ("b", 30), ("c", 30)],
    );
    stage.edit(
        "metalmark.yaml",
        "[{each: 'clusters/*.yaml'}]",
        "[{name: a, values: [secrets.yaml, sealed.yaml, site.yaml, clusters/a.yaml]}, \
         {name: b, values: [secrets.yaml, sealed.yaml, site.yaml, clusters/b.yaml]}, {name: c, values: [clusters/c.yaml]}]",
    );
    stage.write("secrets.yaml", "token: hidden\n");
    stage.write("sealed.yaml", "sops: {version: 3.9.0}\n");
    stage.write(
        "catalog.yaml",
        stage.read("catalog.yaml") + "cluster: {k8s_version: v1.30.4}\n",
    );
    stage.write("site.yaml", "# The site.\n");
    for name in ["a", "b", "c"] {
        stage.edit(&file(name), "  k8s_version: v1.30.4 # café\n", "");
    }
    assert_text(
        &apply(&stage).join("\n"),
        str![[r#"
edited clusters/a.yaml:4:22: `image_key: ubuntu-noble-plain-kubeadm-1-31-4`
edited clusters/b.yaml:4:22: `image_key: ubuntu-noble-plain-kubeadm-1-31-4`
edited site.yaml
"#]],
    );
    assert_text(
        &stage.read("site.yaml"),
        str![[r#"
# The site.
cluster:
  k8s_version: v1.31.4

"#]],
    );
}

#[test]
fn a_version_that_comes_of_the_chart_is_written_to_the_values_of_the_wave() {
    let written = "{version: 1, clusters: [{each: environment-values/workload-clusters/*/}], images: {facts: [exported.yaml]}, \
                   plan: {most: 1}}\n";
    let stage = project()
        .folder("fixtures/tutorials/sylva")
        .file("metalmark.yaml", written);
    let chart = "charts/sylva-units/values.yaml";
    stage.edit(
        chart,
        "k8s_version_short: \"1.31\"",
        "k8s_version_short: \"1.30\"",
    );
    let folder = "environment-values/workload-clusters";
    for name in ["edge-lyon", "edge-paris"] {
        let kind = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
        stage.edit(&format!("{folder}/{name}/kustomization.yaml"), kind, "");
    }
    assert_text(
        &apply(&stage).join("\n"),
        str![
            "edited environment-values/workload-clusters/edge-lyon/values.yaml:4:16: `image_key: ubuntu-noble-hardened-rke2-1-31-8`"
        ],
    );
    assert_text(
        &stage.read(&format!("{folder}/edge-lyon/values.yaml")),
        str![[r#"
cluster:
  name: edge-lyon
  capm3:
    image_key: ubuntu-noble-hardened-rke2-1-31-8
  machine_deployments:
    md0: {replicas: 2}
k8s_version_short: "1.31"

"#]],
    );
    assert_text(
        &apply(&stage).join("\n"),
        str!["edited environment-values/workload-clusters/edge-paris/values.yaml"],
    );
    assert!(stage.read(chart).contains("k8s_version_short: \"1.30\""));
    stage.run("check").exit(0);
}

#[test]
fn no_wave_is_applied_while_a_pattern_of_the_clusters_that_go_first_is_none() {
    let stage = fleet("plan: {most: 1, first: ['[b']}\n", &[("a", 30), ("b", 30)]);
    let before = stage.read(&file("a"));
    let run = stage.run("plan --to 1.31 --apply 1").exit(1);
    assert!(run.outcome.stderr.contains("error[project-file]"));
    assert_eq!(stage.read(&file("a")), before);
}

#[test]
fn a_values_file_without_keys_ends_with_a_line_break_after_a_wave() {
    let stage = fleet("plan: {most: 1}\n", &[("a", 30), ("b", 30)]);
    stage.write("catalog.yaml", stage.read("catalog.yaml") + &values(30));
    let comment = "# All of it is shared.\n";
    for name in ["a", "b"] {
        stage.write(&file(name), comment);
    }
    stage.run("plan --to 1.31 --apply 1").exit(0);
    let image = key((0, 31, 4));
    assert_eq!(
        stage.read(&file("a")),
        format!("{comment}cluster:\n  k8s_version: v1.31.4\n  capm3:\n    image_key: {image}\n")
    );
}

#[test]
fn a_map_that_is_an_alias_holds_no_value_of_a_wave() {
    let stage = fleet("plan: {most: 1}\n", &[("a", 30), ("b", 30)]);
    stage.write("catalog.yaml", stage.read("catalog.yaml") + &values(30));
    for name in ["a", "b"] {
        let own = "x: &own {control_plane_replicas: 1}\ncluster: *own\n";
        stage.write(&file(name), own);
    }
    assert_text(
        &apply(&stage).join("\n"),
        str![[r#"
not applied: a: `k8s_version: v1.31.4` at catalog.yaml:7:16 is for clusters of other waves too, and no values file of its own can hold it
not applied: a: `image_key: ubuntu-noble-plain-kubeadm-1-31-4` at catalog.yaml:10:22 is for clusters of other waves too, and no values file of its own can hold it
"#]],
    );
}

#[test]
fn clusters_that_have_no_file_of_their_own_are_in_one_wave_or_none() {
    let stage = fleet("plan: {most: 1}\n", &[("both", 30)]);
    stage.edit(
        "metalmark.yaml",
        "[{each: 'clusters/*.yaml'}]",
        "[{name: a, values: [clusters/both.yaml]}, {name: b, values: [clusters/both.yaml]}]",
    );
    assert_text(
        &apply(&stage).join("\n"),
        str![[r#"
not applied: a: `k8s_version: v1.31.4` at clusters/both.yaml:2:16 is for clusters of other waves too, and no values file of its own can hold it
not applied: a: `image_key: ubuntu-noble-plain-kubeadm-1-31-4` at clusters/both.yaml:5:22 is for clusters of other waves too, and no values file of its own can hold it
"#]],
    );
    stage.edit("metalmark.yaml", "plan: {most: 1}\n", "");
    assert_text(
        &apply(&stage).join("\n"),
        str![[r#"
edited clusters/both.yaml:2:16: `k8s_version: v1.31.4`
edited clusters/both.yaml:5:22: `image_key: ubuntu-noble-plain-kubeadm-1-31-4`
"#]],
    );
}

#[test]
fn the_version_in_a_selector_follows() {
    let stage = fleet("", &[("edge", 30)]);
    let selector = "os_image_selector: {os: ubuntu, k8s-version: '1\\.30.*'}";
    stage.edit(
        &file("edge"),
        &format!("image_key: {}", key((0, 30, 4))),
        selector,
    );
    assert_text(
        &apply(&stage).join("\n"),
        str![[r#"
edited clusters/edge.yaml:2:16: `k8s_version: v1.31.4`
edited clusters/edge.yaml:5:56: `k8s-version: 1\.31\.4`
"#]],
    );
    stage.run("check").exit(0);
}

#[test]
fn a_wave_of_another_number_or_of_a_later_step_is_refused() {
    let stage = fleet("", &[("edge", 30)]);
    let cases = [
        "--to 1.32 --apply 0",
        "--to 1.32 --apply 3",
        "--to 1.32 --apply 2",
        "--to 1.30 --apply 1",
    ];
    let errors = table(cases, |words| {
        let run = stage.run(&format!("plan {words}")).exit(2);
        run.outcome.stderr.lines().map(str::to_owned).collect()
    });
    assert_text(
        &errors,
        str![[r#"
--to 1.32 --apply 0
    error: there is no wave 0: the plan has waves 1 to 2
--to 1.32 --apply 3
    error: there is no wave 3: the plan has waves 1 to 2
--to 1.32 --apply 2
    error: cluster `edge` makes another step before that of wave 2
    help: apply an earlier wave first
--to 1.30 --apply 1
    error: there is nothing to apply: no cluster has a step to make

"#]],
    );
}

#[test]
fn options_that_are_none_are_findings_of_the_project_file() {
    let options = [
        "{most: 0}",
        "{most: 101%}",
        "{most: lots}",
        "{most-machines: 0%}",
        "{first: ['[']}",
        "{windows: {'[': never}}",
        "{owners: {'[': nobody}}",
        "{to: latest}",
        "{soak: -1}",
        "{wave: 1}",
    ];
    let findings = table(options, |options| {
        let stage = fleet(&format!("plan: {options}\n"), &[("edge", 30)]);
        let lines = stage.check().of_rule("project-file").join("\n");
        vec![lines]
    });
    assert_text(
        &findings,
        str![[r#"
{most: 0}
    error[project-file] metalmark.yaml:3:14 `0` => 10 | 10%
{most: 101%}
    error[project-file] metalmark.yaml:3:14 `101%` => 10 | 10%
{most: lots}
    error[project-file] metalmark.yaml:3:14 `lots` => 10 | 10%
{most-machines: 0%}
    error[project-file] metalmark.yaml:3:23 `0%` => 10 | 10%
{first: ['[']}
    error[project-file] metalmark.yaml:3:16 `'['` => * | **
{windows: {'[': never}}
    error[project-file] metalmark.yaml:3:23 `never` => * | **
{owners: {'[': nobody}}
    error[project-file] metalmark.yaml:3:22 `nobody` => * | **
{to: latest}
    error[project-file] metalmark.yaml:3:12 `latest`
{soak: -1}
    error[project-file] metalmark.yaml:3:14 `-1`
{wave: 1}
    error[project-file] metalmark.yaml:3:8 `wave` => first | groups | last | most | most-machines | owners | soak | to | windows

"#]],
    );
}

#[test]
fn a_wave_has_no_more_clusters_and_machines_than_it_may() {
    let sites: Vec<String> = (0..10).map(|number| format!("site-{number}")).collect();
    let sites: Vec<(&str, u32)> = sites.iter().map(|name| (&**name, 30)).collect();
    let four = [("a", 30), ("b", 30), ("c", 30), ("d", 30)];
    // Four machines each. One cluster has more than a wave may have; one does not say how many it has, and of the twelve that
    // are known half are less than two clusters have.
    let cases = [
        ("{most: 30%}", &sites[..], "replicas: 1"),
        ("{most-machines: 9}", &four, "replicas: 40"),
        ("{most-machines: 50%}", &four, ""),
    ];
    let plans = table(cases.map(|(options, ..)| options), |options| {
        let (_, clusters, replicas) = cases.iter().find(|case| case.0 == *options).expect("it");
        let stage = fleet(&format!("plan: {options}\n"), clusters);
        let (name, _) = clusters[1];
        stage.edit(&file(name), "replicas: 1", replicas);
        lines(&stage)
    });
    assert_text(
        &plans,
        str![[r#"
{most: 30%}
    wave 1, to 1.31, 12 machines: site-0, site-1, site-2
    wave 2, to 1.31, 12 machines: site-3, site-4, site-5
    wave 3, to 1.31, 12 machines: site-6, site-7, site-8
    wave 4, to 1.31, 4 machines: site-9
{most-machines: 9}
    wave 1, to 1.31, 8 machines: a, c
    wave 2, to 1.31, 43 machines: b
    wave 3, to 1.31, 4 machines: d
{most-machines: 50%}
    wave 1, to 1.31, 4 machines: a
    wave 2, to 1.31: b
    wave 3, to 1.31, 4 machines: c
    wave 4, to 1.31, 4 machines: d

"#]],
    );
}
