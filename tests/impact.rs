//! `impact` against real repositories: folders that moved, links, submodules, worktrees, bare repositories, hooks.

use std::fs;

use serde_json::Value;
use snapbox::str;

use super::git::{commit_all, git, repository};
use super::support::manifests::{GOOD, cluster};
use super::support::stage::{Stage, assert_text, project, table};

/// The values of a cluster: its name, its version and its image.
fn values(name: &str, version: &str, image: &str) -> String {
    format!(
        "cluster:\n  name: {name}\n  k8s_version: {version}\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}\n  \
         control_plane_replicas: 3\n  capm3: {{image_key: {image}}}\n"
    )
}

const OLD: &str = "v1.30.12+rke2r1";
const NEW: &str = "v1.31.8+rke2r1";

fn images() -> Stage {
    project().catalog(&[
        "noble-30 rke2 1.30.12+rke2r1",
        "noble-31 rke2 1.31.8+rke2r1",
    ])
}

/// A repository with a project in a folder, such as `a/b/`, committed before its one cluster was upgraded.
fn upgraded(below: &str) -> Option<Stage> {
    let texts = images()
        .cluster("edge", &values("edge-1", OLD, "noble-30"))
        .texts();
    let stage = project();
    for (path, text) in &texts {
        stage.write(&format!("{below}{path}"), text);
    }
    let stage = stage.commit("before")?;
    stage.write(
        &format!("{below}edge.yaml"),
        values("edge-1", NEW, "noble-31"),
    );
    Some(stage)
}

/// What a machine is made of stays the same when only the project learns more of it.
#[test]
fn facts_that_a_project_learns_replace_no_machine() {
    let stage = project()
        .settings("values: [catalog.yaml]\noutputs: [{target: manifests, path: out}]")
        .file(
            "catalog.yaml",
            "os_images: {noble-31: {uri: 'oci://registry.example.org/noble-31:1'}}\n",
        )
        .cluster("edge", &values("edge-1", NEW, "noble-31"));
    let Some(stage) = stage.commit("before") else {
        return;
    };
    stage.write(
        "facts.yaml",
        format!(
            "os_images: {{noble-31: {{k8s-flavor: rke2, k8s-version: {NEW}, image-format: raw, filename: n.raw, sha256: {}}}}}\n",
            "31a8".repeat(16)
        ),
    );
    let file = stage.read("metalmark.yaml");
    stage.write(
        "metalmark.yaml",
        format!("{file}images: {{facts: [facts.yaml]}}\n"),
    );
    stage.run("check").exit(0).screen(str![[r#"
no findings in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    stage.run("impact --against HEAD").screen(str![[r#"
Against 2b9b5377cb, `HEAD`

no machine is re-provisioned, 1 cluster as before

"#]]);
}

const UPGRADE: &str = "v1.30.12+rke2r1 → v1.31.8+rke2r1";

/// That a run shows the upgrade.
#[track_caller]
fn assert_upgrade(stage: &Stage, args: &[&str], variables: &[(&str, &str)]) -> String {
    let outcome = stage
        .program()
        .args(args.iter().copied())
        .envs(variables)
        .run();
    assert_eq!(outcome.status, 0, "{args:?}: {}", outcome.stderr);
    assert!(
        outcome.stdout.contains(UPGRADE),
        "{args:?}: {}",
        outcome.stdout
    );
    outcome.stdout
}

#[test]
fn an_upgrade_says_what_becomes_of_each_pool() {
    let Some(stage) = upgraded("") else { return };
    stage.run("impact --against HEAD").exit(0).stdout(str![[r#"
Against 8b07c18bdf, `HEAD`

edge
  control-plane  3 machines re-provisioned, by roll
                   image       noble-30 → noble-31
                   kubernetes  v1.30.12+rke2r1 → v1.31.8+rke2r1

images newly served
  + noble-31  size unknown  https://images.example/noble-31.raw

images no longer served
  - noble-30  size unknown  https://images.example/noble-30.raw

3 machines in 1 cluster re-provisioned, 0 clusters as before

"#]]);
    stage
        .run("impact --against HEAD --output markdown")
        .exit(0)
        .stdout(str![[r#"
### What this change does

**3 machines in 1 cluster re-provisioned, 0 clusters as before**

| cluster | pool | machines | change |
|---|---|---|---|
| edge | `control-plane` | 3 machines re-provisioned, by roll | image `noble-30` → `noble-31`<br>kubernetes `v1.30.12+rke2r1` → `v1.31.8+rke2r1` |

Newly served:

- `noble-31` (size unknown, `https://images.example/noble-31.raw`)

No longer served:

- `noble-30` (size unknown, `https://images.example/noble-30.raw`)

<sub>Against 8b07c18bdf, `HEAD`.</sub>

"#]]);
}

#[test]
fn a_project_below_the_top_is_compared_whatever_its_folder_is_called() {
    let Some(stage) = upgraded("a b/ü/") else {
        return;
    };
    for args in [
        &["-C", "a b/ü", "impact", "--against", "main"][..],
        &["-C", "a b/ü", "impact"],
    ] {
        assert_upgrade(&stage, args, &[]);
    }
    // A hook's environment leads nowhere else.
    let hook = [("GIT_DIR", ".git"), ("GIT_INDEX_FILE", ".git/index")];
    assert_upgrade(
        &stage,
        &["-C", "a b/ü", "impact", "--against", "HEAD"],
        &hook,
    );
}

#[test]
fn two_commits_are_compared_in_a_bare_repository_and_in_a_worktree() {
    let Some(stage) = upgraded("") else { return };
    commit_all(stage.path(), "after");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let [bare, tree] =
        ["bare.git", "tree"].map(|name| elsewhere.path().join(name).display().to_string());
    git(stage.path(), &["clone", "--quiet", "--bare", ".", &bare]);
    git(
        stage.path(),
        &["worktree", "add", "--quiet", "--detach", &tree],
    );
    for folder in [&*bare, &tree, "."] {
        assert_upgrade(
            &stage,
            &["-C", folder, "impact", "HEAD", "--against", "HEAD~1"],
            &[],
        );
    }
    stage.run("impact --against HEAD").exit(0).stdout(str![[r#"
Against 19e7423b44, `HEAD`

no machine is re-provisioned, 1 cluster as before

"#]]);
}

#[test]
fn a_project_whose_folder_was_renamed_is_the_same_project() {
    let Some(stage) = upgraded("old/") else {
        return;
    };
    fs::rename(stage.path().join("old"), stage.path().join("new")).expect("renamed");
    let screen = assert_upgrade(&stage, &["-C", "new", "impact", "--against", "HEAD"], &[]);
    assert!(
        screen.contains("note: the project was in `old` at "),
        "{screen}"
    );
}

#[test]
fn a_commit_without_a_project_file_is_read_with_todays() {
    let Some(stage) = upgraded("") else { return };
    git(
        stage.path(),
        &["rm", "--quiet", "--cached", "metalmark.yaml"],
    );
    git(
        stage.path(),
        &["commit", "--quiet", "--amend", "-m", "values alone"],
    );
    let screen = assert_upgrade(&stage, &["impact", "--against", "HEAD"], &[]);
    assert!(
        screen.contains("note: there was no `metalmark.yaml` at "),
        "{screen}"
    );
}

#[test]
fn facts_that_are_new_are_no_error_of_the_earlier_side() {
    let stage = images().cluster("edge", &values("edge-1", OLD, "noble-30"));
    let Some(stage) = stage.commit("before") else {
        return;
    };
    stage.write("new.yaml", "noble-30: {k8s-version: v1.30.12+rke2r1}\n");
    let shown = stage.run("impact --against HEAD --info new.yaml").exit(0);
    let shown = shown.outcome.stdout;
    assert!(
        shown.contains("note: there was no `new.yaml` at"),
        "{shown}"
    );
}

/// Cluster API copies the endpoint once, and no controller replaces machines for another one.
#[test]
fn another_endpoint_in_manifests_is_not_both_unknown_and_harmless() {
    const SITE: &str = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: site, namespace: default}
spec:
  controlPlaneEndpoint: {host: 192.0.2.10, port: 6443}
  infrastructureRef: {kind: ElementalCluster, name: site}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: ElementalCluster
metadata: {name: site, namespace: default}
spec: {controlPlaneEndpoint: {host: 192.0.2.11, port: 6443}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: md, namespace: default}
spec:
  clusterName: site
  template:
    spec:
      clusterName: site
      version: v1.31.8+rke2r1
      infrastructureRef: {kind: ElementalMachineTemplate, name: md}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: ElementalMachineTemplate
metadata: {name: md, namespace: default}
spec: {template: {spec: {selector: {matchLabels: {worker: 'true'}}}}}
";
    let Some(stage) = project().file("site.yaml", SITE).commit("before") else {
        return;
    };
    let mut found = String::new();
    for (from, to) in [("192.0.2.11", "192.0.2.12"), ("192.0.2.10", "192.0.2.13")] {
        stage.write("site.yaml", SITE.replace(from, to));
        let printed = stage.run("impact --against HEAD").outcome.stdout;
        let lines = printed.lines().skip(1).filter(|line| !line.is_empty());
        found += &format!("{}\n", lines.collect::<Vec<_>>().join("\n"));
    }
    assert_text(
        &found,
        str![[r#"
site
  whole cluster  in place: existing machines stay as they are, later ones differ
                   ElementalCluster/site spec.controlPlaneEndpoint.host  192.0.2.11 → 192.0.2.12
no machine is re-provisioned, 0 clusters as before
site
  whole cluster  in place: existing machines stay as they are, later ones differ
                   Cluster/site spec.controlPlaneEndpoint.host  192.0.2.10 → 192.0.2.13
no machine is re-provisioned, 0 clusters as before

"#]],
    );
}

/// A fleet, each cluster in a folder of its own.
fn fleet() -> Stage {
    images().settings("clusters: [{each: 'clusters/*/values.yaml', namespace: metal}]")
}

fn put(stage: &Stage, folder: &str, values: &str) {
    stage.write(&format!("clusters/{folder}/values.yaml"), values);
}

#[test]
fn clusters_come_go_and_are_renamed() {
    let stage = fleet();
    for name in ["same", "goes", "moves", "turns"] {
        put(&stage, name, &values(name, NEW, "noble-31"));
    }
    let Some(stage) = stage.commit("before") else {
        return;
    };
    for name in ["goes", "moves"] {
        stage.remove(&format!("clusters/{name}/values.yaml"));
    }
    put(&stage, "comes", &values("comes", NEW, "noble-31"));
    put(&stage, "moved", &values("moves", NEW, "noble-31"));
    // Another cluster has no version before it, so its older one is no downgrade.
    put(&stage, "turns", &values("other", OLD, "noble-30"));
    stage.run("impact --against HEAD").exit(0).stdout(str![[r#"
Against 60cbef9bd9, `HEAD`

comes (new)
  control-plane  3 machines provisioned
                   image       none → noble-31
                   kubernetes  none → v1.31.8+rke2r1

moved (was `moves`)

turns (the cluster `metal/turns` goes, another one comes)
  control-plane  3 machines deleted
                   image       noble-31 → none
                   kubernetes  v1.31.8+rke2r1 → none
  control-plane  3 machines provisioned
                   image       none → noble-30
                   kubernetes  none → v1.30.12+rke2r1

goes (gone)
  control-plane  3 machines deleted
                   image       noble-31 → none
                   kubernetes  v1.31.8+rke2r1 → none

images newly served
  + noble-30  size unknown  https://images.example/noble-30.raw

6 machines deleted, 6 machines provisioned, 1 cluster new, 1 cluster gone, 1 cluster replaced, 1 cluster as before

"#]]);
    let json = stage
        .run("impact --against HEAD --output json")
        .exit(0)
        .outcome
        .stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let clusters = json["clusters"].as_array().expect("a list").iter();
    let line = |it: &Value| {
        let pools = it["pools"].as_array().expect("a list").iter();
        let pools =
            pools.map(|pool| format!(" {} {} {}", pool["pool"], pool["change"], pool["machines"]));
        format!(
            "{} {} {}{}\n",
            it["cluster"],
            it["change"],
            it["from"],
            pools.collect::<String>()
        )
    };
    let lines: String = clusters.map(line).collect();
    assert_text(
        &format!("{lines}{} unchanged\n", json["unchanged"]),
        str![[r#"
"comes" "added" null "control-plane" "added" 3
"moved" "renamed" "moves"
"turns" "replaced" "metal/turns" "control-plane" "removed" 3 "control-plane" "added" 3
"goes" "removed" null "control-plane" "removed" 3
1 unchanged

"#]],
    );
}

#[test]
fn what_a_pool_boots_and_runs_is_compared_by_its_meaning() {
    let cases = [
        // The same version in another spelling.
        (
            values("edge", NEW, "noble-31"),
            values("edge", "1.31.8+rke2r1", "noble-31"),
        ),
        (values("edge", NEW, "''"), values("edge", NEW, "noble-31")),
        (values("edge", NEW, "noble-31"), values("edge", NEW, "''")),
        (
            values("edge", NEW, "noble-30"),
            values("edge", NEW, "noble-31"),
        ),
    ];
    let names = [
        "a v less",
        "an image where none was",
        "none where one was",
        "another image",
    ];
    let screens = table(names, |name| {
        let (before, after) =
            cases[names.iter().position(|other| other == name).expect("it")].clone();
        let Some(stage) = images().cluster("edge", &before).commit("before") else {
            return Vec::new();
        };
        stage.write("edge.yaml", after);
        let run = stage.run("impact --against HEAD");
        run.outcome
            .stdout
            .lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    });
    assert_text(
        &screens,
        str![[r#"
a v less
    Against 44abf13983, `HEAD`
    no machine is re-provisioned, 1 cluster as before
an image where none was
    Against dd87c4c88c, `HEAD`
    edge
      control-plane  3 machines re-provisioned, by roll
                       image       none → noble-31
    images newly served
      + noble-31  size unknown  https://images.example/noble-31.raw
    3 machines in 1 cluster re-provisioned, 0 clusters as before
none where one was
    Against 44abf13983, `HEAD`
    edge
      control-plane  3 machines re-provisioned, by roll
                       image       noble-31 → none
    images no longer served
      - noble-31  size unknown  https://images.example/noble-31.raw
    3 machines in 1 cluster re-provisioned, 0 clusters as before
another image
    Against c2802db4f2, `HEAD`
    edge
      control-plane  3 machines re-provisioned, by roll
                       image       noble-30 → noble-31
    images newly served
      + noble-31  size unknown  https://images.example/noble-31.raw
    images no longer served
      - noble-30  size unknown  https://images.example/noble-30.raw
    3 machines in 1 cluster re-provisioned, 0 clusters as before

"#]],
    );
}

#[test]
fn a_number_of_machines_that_comes_or_goes_is_not_known_of_values_either() {
    let pool = |replicas: &str| {
        values("edge", NEW, "noble-31")
            + &format!("  machine_deployments: {{md0: {{{replicas}}}}}\n")
    };
    let plane = pool("replicas: 2");
    let without = plane.replace("  control_plane_replicas: 3\n", "");
    let mut all = String::new();
    for (name, before, after) in [
        ("a number goes", pool("replicas: 3"), pool("")),
        ("a number comes", pool(""), pool("replicas: 3")),
        ("the control plane's goes", plane, without),
    ] {
        let Some(stage) = images().cluster("edge", &before).commit("before") else {
            return;
        };
        stage.write("edge.yaml", after);
        let shown = stage.run("impact --against HEAD").outcome.stdout;
        let lines = shown.lines().skip(2).filter(|line| !line.is_empty());
        let lines: Vec<&str> = lines.collect();
        all += &table([name], |_| lines.clone());
    }
    assert_text(
        &all,
        str![[r#"
a number goes
    edge
      md0  not known whether machines are re-provisioned
             replicas    3 → none
    not known of 1 pool, 0 clusters as before
a number comes
    edge
      md0  not known whether machines are re-provisioned
             replicas    none → 3
    not known of 1 pool, 0 clusters as before
the control plane's goes
    edge
      control-plane  not known whether machines are re-provisioned
                       replicas    3 → none
    not known of 1 pool, 0 clusters as before

"#]],
    );
}

#[test]
fn another_choice_of_an_image_that_nobody_knows_is_not_denied() {
    let pools = |[plane, workers]: [&str; 2]| {
        values("edge", NEW, "''")
            + &format!("  control_plane: {{capm3: {{image_key: {plane}}}}}\n")
            + &format!(
                "  machine_deployments: {{md0: {{replicas: 2, capm3: {{image_key: {workers}}}}}}}\n"
            )
    };
    let cases = [
        (
            "of all pools",
            [values("edge", NEW, "one"), values("edge", NEW, "two")],
        ),
        (
            "of the control plane",
            [["one", "noble-31"], ["two", "noble-31"]].map(pools),
        ),
        (
            "of the workers",
            [["noble-31", "one"], ["noble-31", "two"]].map(pools),
        ),
        (
            "beside one of the control plane",
            [["noble-30", "one"], ["noble-31", "one"]].map(pools),
        ),
        (
            "beside one of the workers",
            [["one", "noble-30"], ["one", "noble-31"]].map(pools),
        ),
        (
            "of an image that is known then",
            [values("edge", NEW, "one"), values("edge", NEW, "noble-31")],
        ),
        (
            "of all workers",
            ["one", "two"].map(|key| {
                pools(["noble-31", "''"])
                    + &format!("  machine_deployment_default: {{capm3: {{image_key: {key}}}}}\n")
            }),
        ),
        (
            "by a selector",
            ["one", "two"].map(|os| {
                values("edge", NEW, "''")
                    .replace("image_key: ''", &format!("os_image_selector: {{os: {os}}}"))
            }),
        ),
    ];
    let mut all = String::new();
    for (name, [before, after]) in cases {
        let Some(stage) = images().cluster("edge", &before).commit("before") else {
            return;
        };
        stage.write("edge.yaml", after);
        let shown = stage.run("impact --against HEAD").outcome.stdout;
        let (shown, _) = shown.split_once("\nimages").unwrap_or((&shown, ""));
        let lines = shown.lines().skip(2).filter(|line| !line.is_empty());
        let lines: Vec<&str> = lines.collect();
        all += &table([name], |_| lines.clone());
    }
    assert_text(
        &all,
        str![[r#"
of all pools
    edge
      whole cluster  not known: what the charts make of these values is not compared
                       values cluster.capm3.image_key  one → two
    not known of 1 whole cluster, 0 clusters as before
of the control plane
    edge
      whole cluster  not known: what the charts make of these values is not compared
                       values cluster.control_plane.capm3.image_key  one → two
    not known of 1 whole cluster, 0 clusters as before
of the workers
    edge
      whole cluster  not known: what the charts make of these values is not compared
                       values cluster.machine_deployments.md0.capm3.image_key  one → two
    not known of 1 whole cluster, 0 clusters as before
beside one of the control plane
    edge
      control-plane  3 machines re-provisioned, by roll
                       image       noble-30 → noble-31
beside one of the workers
    edge
      md0  2 machines re-provisioned, by roll
             image       noble-30 → noble-31
of an image that is known then
    edge
      control-plane  3 machines re-provisioned, by roll
                       image       none → noble-31
of all workers
    edge
      whole cluster  not known: what the charts make of these values is not compared
                       values cluster.machine_deployment_default.capm3.image_key  one → two
    not known of 1 whole cluster, 0 clusters as before
by a selector
    edge
      whole cluster  not known: what the charts make of these values is not compared
                       values cluster.capm3.os_image_selector.os  one → two
    not known of 1 whole cluster, 0 clusters as before

"#]],
    );
}

/// What `impact` says of the cluster `edge` of one image, of what its settings and the catalog become.
fn moved(
    provider: &str,
    settings: [&str; 2],
    images: [&str; 2],
    project_file: &str,
) -> Vec<String> {
    let values = settings.map(|settings| {
        format!(
            "cluster: {{k8s_version: {NEW}, control_plane_replicas: 3, capi_providers: {{infra_provider: {provider}, \
             bootstrap_provider: cabpr}}, {settings}}}"
        )
    });
    let catalogs =
        images.map(|image| format!("os_images: {{noble: {{k8s-version: 1.31.8, {image}}}}}\n"));
    let stage = project()
        .settings("values: [catalog.yaml]")
        .settings(project_file)
        .file("catalog.yaml", &catalogs[0])
        .cluster("edge", &values[0]);
    let Some(stage) = stage.commit("before") else {
        return Vec::new();
    };
    stage.write("edge.yaml", &values[1]);
    stage.write("catalog.yaml", &catalogs[1]);
    let shown = stage.run("impact --against HEAD").outcome.stdout;
    let lines = shown.lines().skip(2).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

#[test]
fn an_image_that_a_choice_may_select_is_not_denied() {
    let [one, two] = ["uri: 'oci://r/noble:1'", "uri: 'oci://r/noble:2'"];
    let select = |selector: &str| format!("capm3: {{os_image_selector: {{{selector}}}}}");
    let cases = [
        ("as before", select("os: ubuntu"), [one, one]),
        ("its tag", select("os: ubuntu"), [one, two]),
        (
            "a fact",
            select("os: ubuntu"),
            [one, "uri: 'oci://r/noble:1', os: debian"],
        ),
        (
            "one that comes",
            select("os: ubuntu"),
            [one, "uri: 'oci://r/noble:1'}, more: {uri: 'oci://r/more:1'"],
        ),
        (
            "one that fits no longer",
            select("os: ubuntu").replace("capm3", "capa"),
            ["uri: 'oci://r/noble:1', os: ubuntu", one],
        ),
        ("of no choice", "capm3: {}".to_owned(), [one, two]),
    ];
    let shown = table(cases.each_ref().map(|case| case.0), |name| {
        let found = cases.iter().find(|case| case.0 == *name);
        let (_, settings, images) = found.expect("it is one");
        let provider = &settings[..settings.find(':').unwrap_or_default()];
        moved(provider, [settings; 2], *images, "")
    });
    assert_text(
        &shown,
        str![[r#"
as before
    no machine is re-provisioned, 1 cluster as before
its tag
    edge
      control-plane  not known whether machines are re-provisioned
                       image noble uri  oci://r/noble:1 → oci://r/noble:2
    not known of 1 pool, 0 clusters as before
a fact
    edge
      control-plane  not known whether machines are re-provisioned
                       image noble os  none → debian
    not known of 1 pool, 0 clusters as before
one that comes
    edge
      control-plane  not known whether machines are re-provisioned
                       image more uri  none → oci://r/more:1
    not known of 1 pool, 0 clusters as before
one that fits no longer
    edge
      control-plane  not known whether machines are re-provisioned
                       image noble os  ubuntu → none
    not known of 1 pool, 0 clusters as before
of no choice
    no machine is re-provisioned, 1 cluster as before

"#]],
    );
}

#[test]
fn settings_count_where_the_provider_has_no_place_for_the_image() {
    let image = "uri: 'https://images.example/noble.raw', image-format: raw, sha256: ".to_owned()
        + &"a".repeat(64);
    let cases = [
        ["capa", "instanceType: m5.large", "instanceType: m5.xlarge"],
        ["capa", "region: eu-west-1", "region: eu-west-2"],
        ["capg", "instanceType: n1", "instanceType: n2"],
        ["proxmox", "memoryMiB: 1024", "memoryMiB: 2048"],
        // Nobody knows what this one's templates are made of.
        ["other", "hostSelector: {a: b}", "hostSelector: {a: c}"],
    ];
    let names = cases
        .each_ref()
        .map(|[provider, from, _]| format!("{provider} {from}"));
    let shown = table(names.each_ref().map(String::as_str), |name| {
        let at = names.iter().position(|other| other == name).expect("it");
        let [provider, from, to] = cases[at];
        let key = if provider == "other" {
            "capm3"
        } else {
            provider
        };
        let settings = [from, to].map(|own| format!("{key}: {{image_key: noble, {own}}}"));
        moved(
            provider,
            settings.each_ref().map(String::as_str),
            [&image, &image],
            "",
        )
    });
    assert_text(
        &shown,
        str![[r#"
capa instanceType: m5.large
    edge
      control-plane  3 machines re-provisioned, by roll: its machine template changes
                       machine template template.spec.instanceType  m5.large → m5.xlarge
    3 machines in 1 cluster re-provisioned, 0 clusters as before
capa region: eu-west-1
    edge
      control-plane  3 machines re-provisioned, by roll: its machine template changes
                       machine template region  eu-west-1 → eu-west-2
    3 machines in 1 cluster re-provisioned, 0 clusters as before
capg instanceType: n1
    edge
      control-plane  3 machines re-provisioned, by roll: its machine template changes
                       machine template template.spec.instanceType  n1 → n2
    3 machines in 1 cluster re-provisioned, 0 clusters as before
proxmox memoryMiB: 1024
    edge
      control-plane  3 machines re-provisioned, by roll: its machine template changes
                       machine template template.spec.memoryMiB  1024 → 2048
    3 machines in 1 cluster re-provisioned, 0 clusters as before
other hostSelector: {a: b}
    edge
      whole cluster  not known: what the charts make of these values is not compared
                       values cluster.capm3.hostSelector.a  b → c
    not known of 1 whole cluster, 0 clusters as before

"#]],
    );
}

#[test]
fn null_is_content_of_a_machine_template_too() {
    let image = "uri: 'https://images.example/noble.raw', image-format: raw, sha256: ".to_owned()
        + &"a".repeat(64);
    let labels = ["{a: b}", "{a: b}, matchExpressions: null"];
    let settings = labels.map(|labels| {
        format!("capm3: {{image_key: noble, hostSelector: {{matchLabels: {labels}}}}}")
    });
    let shown = moved(
        "capm3",
        settings.each_ref().map(String::as_str),
        [&image, &image],
        "",
    );
    assert_text(
        &table(["null"], |_| shown.clone()),
        str![[r#"
null
    edge
      control-plane  3 machines re-provisioned, by roll: its machine template changes
    3 machines in 1 cluster re-provisioned, 0 clusters as before

"#]],
    );
}

/// The URL that is stamped stays, and no checksum of it is: only the catalog says that something else lies there.
#[test]
fn another_content_of_an_image_is_not_denied_where_the_stamp_says_nothing_of_it() {
    let [a, b] = ["a", "b"].map(|digit| digit.repeat(64));
    let image = |name: &str, more: &str| {
        format!("uri: 'https://images.example/{name}.raw', image-format: raw{more}")
    };
    let [one, two] = ["one", "two"].map(|name| image(name, ""));
    let cases = [
        ("another file", "capm3", "", [&one, &two]),
        (
            "a URL of unknown facts",
            "capm3",
            "images: {url: 'http://s/{{ image.sha256 }}'}",
            [&one, &two],
        ),
        ("no place", "capa", "", [&one, &two]),
        ("a store's name", "capo", "", [&one, &two]),
        (
            "beside a checksum's file",
            "capm3",
            "images: {checksum: url}",
            [&one, &two],
        ),
        (
            "a digest behind a checksum's file",
            "capm3",
            "images: {checksum: url}",
            [
                &image("one", &format!(", sha256: {a}")),
                &image("one", &format!(", sha256: {b}")),
            ],
        ),
        (
            "a provider that nobody knows",
            "other",
            "",
            [
                &image("one", &format!(", sha256: {a}")),
                &image("one", &format!(", sha256: {b}")),
            ],
        ),
        (
            "one digest elsewhere",
            "capm3",
            "",
            [
                &image("one", &format!(", sha256: {a}")),
                &image("two", &format!(", sha256: {a}")),
            ],
        ),
        (
            "a digest is learned",
            "capo",
            "",
            [&one, &image("one", &format!(", sha256: {a}"))],
        ),
    ];
    let shown = table(cases.each_ref().map(|case| case.0), |name| {
        let found = cases.iter().find(|case| case.0 == *name);
        let (_, provider, project, images) = found.expect("it");
        let key = if *provider == "other" {
            "capm3"
        } else {
            provider
        };
        let settings = format!("{key}: {{image_key: noble}}");
        moved(
            provider,
            [&settings; 2],
            images.map(String::as_str),
            project,
        )
    });
    assert_text(
        &shown,
        str![[r#"
another file
    edge
      control-plane  not known whether machines are re-provisioned
                       image       https://images.example/one.raw → https://images.example/two.raw
    images newly served
      + noble  size unknown  https://images.example/two.raw
    images no longer served
      - noble  size unknown  https://images.example/one.raw
    not known of 1 pool, 0 clusters as before
a URL of unknown facts
    edge
      control-plane  not known whether machines are re-provisioned
                       image       https://images.example/one.raw → https://images.example/two.raw
    images newly served
      + noble  size unknown  https://images.example/two.raw
    images no longer served
      - noble  size unknown  https://images.example/one.raw
    not known of 1 pool, 0 clusters as before
no place
    edge
      control-plane  not known whether machines are re-provisioned
                       image       https://images.example/one.raw → https://images.example/two.raw
    images newly served
      + noble  size unknown  https://images.example/two.raw
    images no longer served
      - noble  size unknown  https://images.example/one.raw
    not known of 1 pool, 0 clusters as before
a store's name
    edge
      control-plane  not known whether machines are re-provisioned
                       image       https://images.example/one.raw → https://images.example/two.raw
    images newly served
      + noble  size unknown  https://images.example/two.raw
    images no longer served
      - noble  size unknown  https://images.example/one.raw
    not known of 1 pool, 0 clusters as before
beside a checksum's file
    edge
      control-plane  in place: existing machines stay as they are, later ones differ
                       image       https://images.example/one.raw → https://images.example/two.raw
    images newly served
      + noble  size unknown  https://images.example/two.raw
    images no longer served
      - noble  size unknown  https://images.example/one.raw
    no machine is re-provisioned, 0 clusters as before
a digest behind a checksum's file
    edge
      control-plane  in place: existing machines stay as they are, later ones differ
                       image       noble (aaaaaaaaaaaa) → noble (bbbbbbbbbbbb)
    images newly served
      + noble  size unknown  https://images.example/one.raw
    images no longer served
      - noble  size unknown  https://images.example/one.raw
    no machine is re-provisioned, 0 clusters as before
a provider that nobody knows
    edge
      whole cluster  not known: what the charts make of these values is not compared
                       values os_images.noble.sha256  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… → bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…
    not known of 1 whole cluster, 0 clusters as before
one digest elsewhere
    images newly served
      + noble  size unknown  https://images.example/two.raw
    images no longer served
      - noble  size unknown  https://images.example/one.raw
    no machine is re-provisioned, 1 cluster as before
a digest is learned
    no machine is re-provisioned, 1 cluster as before

"#]],
    );
}

#[test]
fn what_moves_in_a_machine_template_is_named() {
    let values = "cluster: {k8s_version: v1.31.8+rke2r1, control_plane_replicas: 3, \
        capi_providers: {infra_provider: capo, bootstrap_provider: cabpr}, capo: {image_key: noble}}";
    let stage = project()
        .catalog(&["noble rke2 1.31.8+rke2r1"])
        .settings("images: {records: {noble: {locations: {glance: {name: one}}}}}")
        .cluster("edge", values);
    let Some(stage) = stage.commit("One") else {
        return;
    };
    stage.edit("metalmark.yaml", "name: one", "name: two");
    stage.run("impact --against HEAD").stdout(str![[r#"
Against 768482e6f2, `HEAD`

edge
  control-plane  3 machines re-provisioned, by roll
                   image       one → two

3 machines in 1 cluster re-provisioned, 0 clusters as before

"#]]);
}

/// A repository with a cluster whose image gets other bytes at its URL.
fn replaced_in_place(stage: Stage) -> Option<Stage> {
    let stage = stage
        .cluster("edge", &values("edge", NEW, "noble-31"))
        .commit("before")?;
    let text = stage.read("catalog.yaml");
    let sum = &text.rsplit_once("sha256: '").expect("a sum").1[..64];
    stage.edit("catalog.yaml", sum, &"b".repeat(64));
    Some(stage)
}

#[test]
fn a_template_that_keeps_its_name_replaces_no_machine() {
    let template = "{% for template in templates %}---\napiVersion: {{ template.apiVersion }}\nkind: {{ template.kind }}\nmetadata:\n  \
                    name: fixed\n  namespace: {{ template.namespace }}\nspec:\n  {{ template.spec | yaml(2) }}\n{% endfor %}";
    let stage = images()
        .settings("templates: own\noutputs: [{target: manifests, path: rendered}]")
        .file("own/manifests/cluster.yaml.j2", template);
    let Some(stage) = replaced_in_place(stage) else {
        return;
    };
    let run = stage.run("impact --against HEAD");
    let screen = run.outcome.stdout;
    assert!(
        screen.contains("in place: existing machines stay as they are"),
        "{screen}"
    );
}

#[test]
fn a_waiver_of_an_image_accepts_other_bytes_at_its_url() {
    for (image, status) in [("noble-31", 0), ("another", 1)] {
        let waiver = format!("{{rule: image-replaced-in-place, where: {image}, reason: tried}}");
        let stage = images().settings(&format!("policy: {{waivers: [{waiver}]}}"));
        let Some(stage) = replaced_in_place(stage) else {
            return;
        };
        stage.run("impact --against HEAD").exit(status);
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_the_commit() {
    let Some(stage) = upgraded("") else { return };
    fs::rename(
        stage.path().join("edge.yaml"),
        stage.path().join("real.yaml"),
    )
    .expect("renamed");
    std::os::unix::fs::symlink("./sub/../real.yaml", stage.path().join("edge.yaml"))
        .expect("linked");
    stage.write("sub/x", "");
    commit_all(stage.path(), "linked");
    stage.edit("real.yaml", "replicas: 3", "replicas: 5");
    stage.run("impact --against HEAD").exit(0).stdout(str![[r#"
Against 77a4fdd850, `HEAD`

edge
  control-plane  2 machines provisioned
                   replicas    3 → 5

no machine is re-provisioned, 2 machines provisioned, 0 clusters as before

"#]]);
}

#[test]
fn a_submodule_is_read_at_the_commit_that_it_is_pinned_to() {
    let (Some(stage), Some(library)) = (upgraded(""), repository()) else {
        return;
    };
    let (folder, url) = (stage.path(), library.path().to_str().expect("text"));
    fs::rename(folder.join("edge.yaml"), library.path().join("edge.yaml")).expect("moved");
    commit_all(library.path(), "values");
    git(
        folder,
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            url,
            "lib",
        ],
    );
    stage.edit("metalmark.yaml", "[edge.yaml]", "[lib/edge.yaml]");
    commit_all(folder, "with a library");
    stage.edit("lib/edge.yaml", "replicas: 3", "replicas: 4");
    let seen = stage.run("impact --against HEAD").exit(0).outcome.stdout;
    assert!(seen.contains("replicas    3 → 4"), "{seen}");
    git(
        folder,
        &["submodule", "--quiet", "deinit", "--force", "lib"],
    );
    let unseen = stage
        .run("impact HEAD --against HEAD")
        .exit(2)
        .outcome
        .stderr;
    assert!(
        unseen.contains("help: git submodule update --init lib"),
        "{unseen}"
    );
}

/// Whatever it is called, it is no file.
#[test]
fn a_submodule_beside_manifests_is_not_read_as_one() {
    let manifest = cluster("v1.31.8", GOOD);
    let stage = project().file("edge.yaml", manifest).commit("a cluster");
    let Some(stage) = stage else { return };
    let commit = git(stage.path(), &["rev-parse", "HEAD"]);
    let submodule = format!("160000,{commit},in/lib.yaml");
    let add = ["update-index", "--add", "--cacheinfo", &submodule];
    git(stage.path(), &add);
    git(stage.path(), &["commit", "--quiet", "-m", "a submodule"]);
    let run = stage.run("impact HEAD --against HEAD");
    assert_text(
        &run.outcome.stdout,
        str![[r#"
Against 2992bfa3e7, `HEAD`

no machine is re-provisioned, 1 cluster as before

"#]],
    );
}

#[test]
fn what_git_cannot_answer_is_reported_in_words() {
    let Some(stage) = upgraded("") else { return };
    stage
        .run("impact --against no-such")
        .exit(2)
        .stderr(str![[r#"
error: there is no commit `no-such` in this clone
help: name a branch, a tag or a commit that this clone has; `git fetch` gets those of the server

"#]]);
    stage.run("impact --against=--output=x").exit(2);
    let new = project().file("edge.yaml", stage.read("edge.yaml"));
    new.shell("git init --quiet .").exit(0);
    new.run("impact").exit(2).stderr(str![[r#"
error: this repository has no commit yet
help: commit your files: changes are compared with a commit

"#]]);
    let upgraded = stage.read("edge.yaml");
    stage.write(
        "edge.yaml",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    );
    commit_all(stage.path(), "pointer");
    stage.write("edge.yaml", upgraded);
    let pointer = stage.run("impact --against HEAD").outcome.stdout;
    assert!(
        pointer.contains("git holds only the Git LFS pointer to it"),
        "{pointer}"
    );
    let gitless = stage
        .run_with("impact", &[("PATH", "/nonexistent")])
        .outcome
        .stderr;
    assert!(gitless.contains("there is no `git` command"), "{gitless}");
    fs::remove_dir_all(stage.path().join(".git")).expect("removed");
    let outside = stage.run("impact").exit(2).outcome.stderr;
    assert!(outside.contains("is not in a git repository"), "{outside}");
}

#[test]
fn images_are_newly_served_or_no_longer_served_to_any_cluster() {
    let image = |key: &str| {
        format!(
            "  {key}: {{uri: 'oci://registry.example.org/{key}:1', filename: {key}.raw, image-format: raw, k8s-flavor: rke2, \
             k8s-version: 1.31.8+rke2r1, sha256: {}}}\n",
            key.repeat(64)
        )
    };
    let stage = fleet().file(
        "catalog.yaml",
        format!("os_images:\n{}", ["a", "b", "c"].map(image).concat()),
    );
    let boots =
        |stage: &Stage, name: &str, image: &str| put(stage, name, &values(name, NEW, image));
    for (name, image) in [("one", "a"), ("two", "a"), ("gone", "b")] {
        boots(&stage, name, image);
    }
    let Some(stage) = stage.commit("before") else {
        return;
    };
    let served = |stage: &Stage| {
        let json = stage
            .run("impact --against HEAD --output json")
            .outcome
            .stdout;
        let impact: Value = serde_json::from_str(&json).expect("JSON");
        ["added", "removed"].map(|side| {
            let images = impact["served"][side].as_array().expect("a list").iter();
            images
                .map(|image| image["key"].as_str().expect("a key"))
                .collect::<String>()
        })
    };
    assert_eq!(served(&stage), ["", ""]);
    boots(&stage, "one", "c");
    assert_eq!(
        served(&stage),
        ["c", ""],
        "the other cluster boots `a` still"
    );
    boots(&stage, "two", "c");
    assert_eq!(served(&stage), ["c", "a"]);
    stage.remove("clusters/gone/values.yaml");
    assert_eq!(served(&stage), ["c", "ab"], "with a cluster that is gone");
}

/// What composed is not compared with what did not, and the cause is the one finding.
#[test]
fn nothing_is_known_of_a_cluster_whose_values_do_not_compose() {
    let stage = project().folder("fixtures/tutorials/sylva");
    stage.shell("mv exported.yaml os-images-info.yaml").exit(0);
    stage.run("init").exit(0);
    let Some(stage) = stage.commit("before") else {
        return;
    };
    let harms = [
        "rm workload-clusters/edge-paris/values.yaml",
        "echo 'cluster: [' > workload-clusters/edge-paris/values.yaml",
        "find . -name kustomization.yaml | xargs sed -i.bak /disableNameSuffixHash/d",
        "sed -i.bak -e /resources/d -e /behavior/d mgmt/kustomization.yaml",
    ];
    let found = table(harms, |harm| {
        stage
            .shell(&format!("cd environment-values && {harm}"))
            .exit(0);
        let screen = stage.run("impact").exit(1).outcome.stdout;
        let lines = screen.lines().filter(|line| !line.starts_with("Against"));
        let mut lines: Vec<String> = lines.map(str::to_owned).collect();
        let checked = stage.check();
        for rule in [
            "composition-failed",
            "project-file",
            "yaml-syntax",
            "value-missing",
            "image-not-chosen",
        ] {
            lines.extend(checked.of_rule(rule).into_iter().map(str::to_owned));
        }
        stage
            .shell("git checkout --quiet . && git clean --quiet --force")
            .exit(0);
        lines
    });
    assert_text(
        &found,
        str![[r#"
rm workload-clusters/edge-paris/values.yaml
    
    edge-paris
      whole cluster  not known whether machines are re-provisioned
                       files       known → not read
    
    not known of 1 whole cluster, 2 clusters as before
    error[composition-failed] edge-paris environment-values/workload-clusters/edge-paris/kustomization.yaml:8:13 `values=values.yaml`
echo 'cluster: [' > workload-clusters/edge-paris/values.yaml
    
    edge-paris
      whole cluster  not known whether machines are re-provisioned
                       files       known → not read
    
    not known of 1 whole cluster, 2 clusters as before
    error[yaml-syntax] edge-paris environment-values/workload-clusters/edge-paris/values.yaml:2:1 ``
find . -name kustomization.yaml | xargs sed -i.bak /disableNameSuffixHash/d
    
    mgmt, edge-lyon, edge-paris
      whole cluster  not known whether machines are re-provisioned
                       files       known → not read
    
    images no longer served
      - ubuntu-noble-hardened-rke2-1-30-12  size unknown  oci://registry.example.org/diskimage-builder/ubuntu-noble-hardened-rke2-1-30-12:0.4.12
      - ubuntu-noble-hardened-rke2-1-31-8  size unknown  oci://registry.example.org/diskimage-builder/ubuntu-noble-hardened-rke2-1-31-8:0.4.12
    
    not known of 3 whole clusters, 0 clusters as before
    error[composition-failed] edge-lyon environment-values/base/release.yaml:13:31 `sylva-units-values` environment-values/workload-clusters/edge-lyon/kustomization.yaml:5:5 `name: sylva-units-values` => options: {disableNameSuffixHash: true}
sed -i.bak -e /resources/d -e /behavior/d mgmt/kustomization.yaml
    
    mgmt
      whole cluster  not known whether machines are re-provisioned
                       files       known → not read
    
    not known of 1 whole cluster, 2 clusters as before
    error[project-file] mgmt

"#]],
    );
}

/// What no chart reads was not known.
#[test]
fn a_value_that_metalmark_alone_reads_replaces_no_machine() {
    const SETTINGS: &str = "  install_image_key: noble-30
  control_plane_endpoint: {vip: 192.0.2.10, port: 6443, cert_sans: [192.0.2.10], kube_vip: {image: 'ghcr.io/kube-vip/kube-vip:v1.2.3', interface: eth0}}
  infra_cluster: {cloudProviderEnabled: false}
  inventory_default: {labels: {site: a}}
  inventory: {m-1: {labels: {role: a}, addresses: {internal: 192.0.2.11}}}
";
    let stage = images().settings("outputs: [{target: manifests, path: out, infra-cluster: true}]");
    let stage = stage.cluster("edge", &(values("edge-1", NEW, "noble-31") + SETTINGS));
    stage.edit(
        "edge.yaml",
        "{image_key: noble-31}",
        "{image_key: noble-31, component_bundle_env: {TYPE: server}}",
    );
    let Some(stage) = stage.commit("before") else {
        return;
    };
    let before = stage.read("edge.yaml");
    let changes = [
        ("install_image_key: noble-30", "install_image_key: noble-31"),
        ("port: 6443", "port: 443"),
        ("vip: 192.0.2.10", "vip: 192.0.2.20"),
        ("cert_sans: [192.0.2.10]", "cert_sans: [192.0.2.10, api]"),
        ("kube-vip:v1.2.3", "kube-vip:v1.2.4"),
        ("site: a", "site: b"),
        ("192.0.2.11", "192.0.2.12"),
        ("TYPE: server", "TYPE: agent"),
        ("cloudProviderEnabled: false", "cloudProviderEnabled: true"),
    ];
    let screens = table(changes.map(|(_, to)| to), |to| {
        let (from, _) = changes.iter().find(|(_, it)| *it == *to).expect("a change");
        assert!(before.contains(from), "{from}");
        stage.write("edge.yaml", before.replacen(from, to, 1));
        let screen = stage.run("impact --against HEAD").outcome.stdout;
        let lines = screen.lines().skip(2).filter(|line| !line.is_empty());
        lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    });
    assert_text(
        &screens,
        str![[r#"
install_image_key: noble-31
    edge
    whole cluster  in place: existing machines stay as they are, later ones differ
    values cluster.install_image_key  noble-30 → noble-31
    no machine is re-provisioned, 0 clusters as before
port: 443
    edge
    whole cluster  in place: existing machines stay as they are, later ones differ
    endpoint spec.controlPlaneEndpoint  192.0.2.10:6443 → 192.0.2.10:443
    no machine is re-provisioned, 0 clusters as before
vip: 192.0.2.20
    edge
    whole cluster  in place: existing machines stay as they are, later ones differ
    endpoint spec.controlPlaneEndpoint  192.0.2.10:6443 → 192.0.2.20:6443
    no machine is re-provisioned, 0 clusters as before
cert_sans: [192.0.2.10, api]
    no machine is re-provisioned, 1 cluster as before
kube-vip:v1.2.4
    edge
    whole cluster  in place: existing machines stay as they are, later ones differ
    values cluster.control_plane_endpoint.kube_vip.image  ghcr.io/kube-vip/kube-vip:v1.2.3 → ghcr.io/kube-vip/kube-vip:v1.2.4
    no machine is re-provisioned, 0 clusters as before
site: b
    no machine is re-provisioned, 1 cluster as before
192.0.2.12
    no machine is re-provisioned, 1 cluster as before
TYPE: agent
    edge
    whole cluster  in place: existing machines stay as they are, later ones differ
    values cluster.capm3.component_bundle_env.TYPE  server → agent
    no machine is re-provisioned, 0 clusters as before
cloudProviderEnabled: true
    edge
    whole cluster  not known: what the charts make of these values is not compared
    values cluster.infra_cluster.cloudProviderEnabled  false → true
    not known of 1 whole cluster, 0 clusters as before

"#]],
    );
}
