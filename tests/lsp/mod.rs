//! `metalmark lsp` as editors use it: the real binary, every position compared with the text of the file.

mod neovim;
mod protocol;
mod repository;
mod values;

use snapbox::str;

use super::support::lsp::{Client, assert_lines};
use super::support::stage::{Stage, project};

const LYON: &str = "environment-values/workload-clusters/edge-lyon/values.yaml";
const PARIS: &str = "environment-values/workload-clusters/edge-paris/values.yaml";
const LAB: &str = "environment-values/workload-clusters/lab-7/values.yaml";
const UNITS: &str = "charts/sylva-units/values.yaml";

fn sylva() -> Stage {
    project().folder("fixtures/workspaces/sylva-baremetal")
}

#[test]
fn a_mistake_is_found_while_it_is_typed_and_its_fix_removes_it() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[PARIS]);
    assert_eq!(client.findings(PARIS), [""; 0]);
    let (old, wrong) = (
        "opensuse-15-6-hardened-rke2-1-31-8",
        "ubuntu-noble-hardened-rke2-1-30-12",
    );
    client.replace(PARIS, old, wrong);
    assert_lines(
        &client.findings(PARIS),
        str![[r#"
error k8s-version-mismatch: ubuntu-noble-hardened-rke2-1-30-12

"#]],
    );
    let actions = client.actions(PARIS);
    let titles: Vec<&str> = actions.iter().map(|(title, _)| &**title).collect();
    assert_lines(
        &titles,
        str![[r#"
Set `cluster.machine_deployments.storage.capm3.image_key: ubuntu-noble-hardened-rke2-1-31-8`
Accept `k8s-version-mismatch` of `edge-paris/storage` with a waiver in the project file
Make every edit that metalmark is sure of

"#]],
    );
    let fix = actions.iter().find(|(title, _)| title.starts_with("Set "));
    client.apply(&fix.expect("a fix").1);
    assert_eq!(client.findings(PARIS), [""; 0]);
    let fixed = sylva
        .read(PARIS)
        .replace(old, "ubuntu-noble-hardened-rke2-1-31-8");
    assert_eq!(client.text(PARIS), fixed);
    assert_eq!(client.shutdown(), 0);
}

#[test]
fn what_a_shared_file_breaks_is_found_in_the_files_that_it_breaks() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[UNITS]);
    let [right, wrong] = ["1.31", "1.30"].map(|minor| format!("k8s_version_short: \"{minor}\""));
    let before = client.settled(UNITS);
    let before = (before, client.files_with_findings().join("\n"));
    client.replace(UNITS, &right, &wrong);
    client.settled(UNITS);
    assert_lines(
        &client.files_with_findings(),
        str![[r#"
environment-values/workload-clusters/edge-lyon/values.yaml
environment-values/workload-clusters/edge-paris/values.yaml
environment-values/workload-clusters/lab-7/values.yaml

"#]],
    );
    client.replace(UNITS, &wrong, &right);
    let after = client.settled(UNITS);
    assert_eq!((after, client.files_with_findings().join("\n")), before);
}

#[test]
fn half_typed_yaml_is_one_finding_and_everything_else_stays_known() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[UNITS, LAB]);
    let before = client.findings(LAB);
    assert!(!before.is_empty());
    let whole = "k8s_version_short: \"1.31\"";
    client.replace(UNITS, whole, whole.trim_end_matches('"'));
    let broken = client.findings(UNITS);
    assert!(
        broken.len() == 1 && broken[0].starts_with("error yaml-syntax"),
        "{broken:?}"
    );
    assert_eq!(client.findings(LAB), before);
    // Also once it is saved as it is.
    client.save(UNITS);
    assert_eq!(client.findings(LAB), before);
    let hover = client.hover(LAB, "image_key: ubuntu-noble|-plain");
    assert!(hover.contains("lab-7/control-plane"), "{hover}");
}

#[test]
fn the_findings_of_the_clusters_that_are_typed_come_before_those_of_the_fleet() {
    let project_file = "version: 1
values: [charts/sylva-units/values.yaml]
clusters:
  - each: sites/*/values.yaml
policy:
  waivers:
    - {rule: k8s-version-mismatch, where: site-7, reason: moves on Monday, until: 2099-12-31}
";
    let sylva = sylva().file("metalmark.yaml", project_file);
    for site in 0..32 {
        let minor = if site == 7 { "30-12" } else { "31-8" };
        let values = format!(
            "cluster:\n  name: site-{site}\n  k8s_version: 1.31.8+rke2r1\n  capm3: {{image_key: ubuntu-noble-plain-rke2-1-{minor}}}\n"
        );
        sylva.write(&format!("sites/site-{site}/values.yaml"), values);
    }
    let site = "sites/site-7/values.yaml";
    let mut client = Client::start(&sylva, &["metalmark.yaml", site]);
    assert_eq!(client.findings(site), [""; 0]);
    client.published.clear();
    // Whether a waiver is of use is known at the end; in one message its file would come first.
    client.replace(site, "1-30-12}", "1-30-11}");
    assert_lines(
        &client.findings(site),
        str![[r#"
error unknown-image: ubuntu-noble-plain-rke2-1-30-11

"#]],
    );
    assert_eq!(client.published, [site, "metalmark.yaml"]);
    // A letter that breaks the document leaves what is known of the fleet.
    client.published.clear();
    client.replace(site, "1-30-11}", "1-30-11");
    let broken = client.findings(site);
    assert!(broken[0].starts_with("error yaml-syntax"), "{broken:?}");
    assert_eq!(client.published, [site]);
    client.replace(site, "1-30-11", "1-30-12}");
    assert_eq!(client.findings(site), [""; 0]);
}

#[test]
fn a_hover_is_what_explain_prints() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[LYON, PARIS, UNITS, "metalmark.yaml"]);
    let pool = client.hover(LYON, "image_key: ubuntu|-noble");
    let printed = sylva.run("explain edge-lyon/control-plane").exit(0);
    assert!(pool.starts_with("```text\n"), "{pool}");
    for line in printed.outcome.stdout.lines() {
        assert!(pool.contains(line), "{line}\n{pool}");
    }
    for (file, part, shown) in [
        (
            LYON,
            "image_key: ubuntu|-noble",
            "edge-lyon/md0 boots ubuntu-noble-plain-kubeadm-1-31-8 (1.31.8, proven)",
        ),
        (PARIS, "os: ub|untu", "edge-paris/control-plane"),
        (
            UNITS,
            "opensuse-15-6-hardened-rke2-1|-31-8:",
            "used by: edge-paris/storage",
        ),
        (
            "metalmark.yaml",
            "k8s-version|-mismatch",
            "k8s-version-mismatch (error unless",
        ),
    ] {
        let hover = client.hover(file, part);
        assert!(hover.contains(shown), "{hover}");
    }
    assert_eq!(client.hover(LYON, "# Kub|eadm"), "");
}

#[test]
fn choices_lead_to_images_and_images_to_choices() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[LYON, PARIS, UNITS]);
    let (definition, references) = ("textDocument/definition", "textDocument/references");
    let mut places = Vec::new();
    for (method, file, part) in [
        (definition, LYON, "image_key: ubuntu|-noble"),
        (definition, PARIS, "os: ub|untu"),
        (references, UNITS, "  ubuntu-noble-plain-kubeadm|-1-31-8:"),
        // A value that the first cluster, `mgmt`, takes from the chart.
        (definition, UNITS, "k8s_version_short: \"1|.31\""),
    ] {
        places.push(format!("{method} of {part}"));
        places.extend(client.places(method, file, part));
    }
    assert_lines(
        &places,
        str![[r#"
textDocument/definition of image_key: ubuntu|-noble
charts/sylva-units/values.yaml: ubuntu-noble-plain-kubeadm-1-31-8
textDocument/definition of os: ub|untu
charts/sylva-units/values.yaml: ubuntu-noble-plain-rke2-1-31-8
textDocument/references of   ubuntu-noble-plain-kubeadm|-1-31-8:
environment-values/workload-clusters/edge-lyon/values.yaml: ubuntu-noble-plain-kubeadm-1-31-8
textDocument/definition of k8s_version_short: "1|.31"
charts/sylva-units/values.yaml: "1.31"

"#]],
    );
}

#[test]
fn a_template_and_its_references_lead_to_each_other() {
    let manifests = project()
        .folder("fixtures/tutorials/manifests")
        .file(".git/HEAD", "");
    let machines = "base/machines.yaml";
    let mut client = Client::start(&manifests, &[machines]);
    let findings = client.findings(machines);
    assert!(
        findings.iter().any(|line| line.contains("k8s-version")),
        "{findings:?}"
    );
    let first = "Metal3MachineTemplate\n      name: edge-|noble\n---";
    let template = client.places("textDocument/definition", machines, first);
    assert_eq!(template, ["base/machines.yaml: edge-noble"]);
    let references = client.places("textDocument/references", machines, first);
    let count = client.text(machines).matches("name: edge-noble").count();
    assert_eq!(references.len(), count - 1, "{references:?}");
}

#[test]
fn the_images_that_fit_are_offered_first() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[LYON]);
    client.settled(LYON);
    // While typing, nothing waits for a check, and the text is no YAML.
    client.replace(
        LYON,
        "image_key: ubuntu-noble-plain-kubeadm-1-31-8",
        "image_key: \"ub",
    );
    assert_lines(
        &client.completion(LYON, "image_key: \"ub|"),
        str![[r#"
opensuse-15-6-plain-kubeadm-1-31-8 (Kubernetes 1.31.8, fits)
ubuntu-noble-plain-kubeadm-1-31-8 (Kubernetes 1.31.8, fits)
opensuse-15-6-hardened-rke2-1-31-8 (Kubernetes 1.31.8+rke2r1)
ubuntu-noble-hardened-rke2-1-31-8 (Kubernetes 1.31.8+rke2r1)
ubuntu-noble-plain-rke2-1-31-8 (Kubernetes 1.31.8+rke2r1)
ubuntu-noble-hardened-rke2-1-30-12 (Kubernetes 1.30.12+rke2r1, does not fit)
ubuntu-noble-plain-rke2-1-30-12 (Kubernetes 1.30.12+rke2r1, does not fit)

"#]],
    );
    client.replace(LYON, "image_key: \"ub", "os_image_selector:\n      os: |");
    assert_lines(
        &client.completion(LYON, "os: |"),
        str![[r#"
opensuse (opensuse)
ubuntu (ubuntu)

"#]],
    );
}

#[test]
fn the_project_file_is_completed_from_its_schema() {
    let file = "metalmark.yaml";
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[file]);
    let mut complete = |old: &str, new: &str| {
        client.replace(file, old, new);
        let found = client.completion(file, &format!("{new}|"));
        client.replace(file, new, old);
        found
    };
    let mut rules = complete("- rule: checksum-by-url", "- rule: check");
    rules.retain(|rule| rule.starts_with("check"));
    assert_lines(
        &rules,
        str![[r#"
checksum-beside-oci (an `oci://` image has a checksum that Metal3 refuses, or lacks one that it demands)
checksum-by-url (a checksum comes from the server whose image it should verify)
checksum-malformed (a checksum is not a valid digest of its type)
checksum-missing (an image would be stamped without a checksum)
checksum-other-file (a checksum belongs to another file than the image, or soon will)

"#]],
    );
    assert_lines(
        &complete("      where: lab-7", "      w"),
        str![[r#"
reason
rule
until
where

"#]],
    );
    assert_lines(
        &complete("\npolicy:\n", "\nzz"),
        str![[r#"
clusters
evaluation
helm
images
manifests
matching
names
outputs
pairs
plan
policy
registries
schemas
stamps
state
sylva_library
templates
update
values
version

"#]],
    );
    let levels = "\npolicy:\n  clusters:\n    edge-*:\n      k8s-version-mismatch: w";
    assert_lines(
        &complete("\npolicy:\n", levels),
        str![[r#"
error
off
warning

"#]],
    );
}

#[test]
fn each_pool_shows_what_it_boots() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[LYON, PARIS]);
    assert_lines(
        &client.hints(LYON),
        str![[r#"
image_key: ubuntu-noble-plain-kubeadm-1-31-8 → ubuntu-noble-plain-kubeadm-1-31-8 (1.31.8, proven)

"#]],
    );
    assert_lines(
        &client.hints(PARIS),
        str![[r#"
os: ubuntu → ubuntu-noble-plain-rke2-1-31-8 (1.31.8+rke2r1, proven)
image_key: opensuse-15-6-hardened-rke2-1-31-8 → opensuse-15-6-hardened-rke2-1-31-8 (1.31.8+rke2r1, proven)

"#]],
    );
    assert_lines(
        &client.symbols(LYON),
        str![[r#"
edge-lyon/control-plane: ubuntu-noble-plain-kubeadm-1-31-8 (1.31.8, proven)
edge-lyon/md0: ubuntu-noble-plain-kubeadm-1-31-8 (1.31.8, proven)

"#]],
    );
    assert_eq!(client.names("STORAGE"), ["edge-paris/storage"]);
}

#[test]
fn a_waiver_is_written_into_the_project_file() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[LYON, "metalmark.yaml"]);
    client.replace(LYON, "plain-kubeadm-1-31-8", "plain-rke2-1-30-12");
    let mut left = client.findings(LYON).len();
    assert!(left > 0);
    while left > 0 {
        let actions = client.actions(LYON).into_iter();
        let mut waivers = actions.filter(|(title, _)| title.starts_with("Accept `"));
        client.apply(&waivers.next().expect("a waiver").1);
        let now = client.findings(LYON).len();
        assert_eq!(now, left, "a waiver without a reason accepts nothing");
        client.replace(
            "metalmark.yaml",
            "write why this is accepted",
            "ticket 4711",
        );
        let now = client.findings(LYON).len();
        assert!(now < left, "{now} of {left} are left");
        left = now;
    }
    let project = client.text("metalmark.yaml");
    let count = |part: &str| project.matches(part).count();
    assert!(count("reason: ticket 4711") > 0, "{project}");
    assert_eq!(count("until: "), count("reason: "), "{project}");
    assert!(project.starts_with("# The main job"), "{project}");
}

#[test]
fn no_secret_is_sent() {
    let secrets = "environment-values/mgmt/secrets.yaml";
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[secrets]);
    let key =
        "username: admin\n  capm3:\n    image_key: example-password-that-must-never-be-printed";
    client.replace(secrets, "username: admin", key);
    let found = client.settled(secrets);
    let hover = client.hover(secrets, "password: example|-password");
    let offered = client.completion(secrets, "image_key: example|-password");
    let actions = client.actions(secrets);
    let sent = format!("{found:?}{hover}{offered:?}{actions:?}");
    assert!(
        !found.is_empty() && !sent.contains("must-never-be-printed"),
        "{sent}"
    );
}
