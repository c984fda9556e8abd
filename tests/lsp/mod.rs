//! `metalmark lsp` as editors use it: the real binary, every position compared with the text of the file.

mod client;
mod neovim;
mod repository;
mod values;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::support::{Metalmark, copy_of, repository};
use client::{Client, usual};

const LYON: &str = "environment-values/workload-clusters/edge-lyon/values.yaml";
const PARIS: &str = "environment-values/workload-clusters/edge-paris/values.yaml";
const LAB: &str = "environment-values/workload-clusters/lab-7/values.yaml";
const UNITS: &str = "charts/sylva-units/values.yaml";

fn sylva() -> tempfile::TempDir {
    copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"))
}

#[test]
fn a_mistake_is_found_while_it_is_typed_and_its_fix_removes_it() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    client.open(PARIS);
    assert_eq!(client.findings(PARIS), [""; 0]);
    client.replace(
        PARIS,
        "opensuse-15-6-hardened-rke2-1-31-8",
        "ubuntu-noble-hardened-rke2-1-30-12",
    );
    assert_eq!(
        client.findings(PARIS),
        ["error k8s-version-mismatch: ubuntu-noble-hardened-rke2-1-30-12"]
    );
    let actions = client.actions(PARIS);
    let wanted = "Set `cluster.machine_deployments.storage.capm3.image_key: ubuntu-noble-hardened-rke2-1-31-8`";
    let fix = actions.iter().find(|(title, _)| *title == wanted);
    let (_, edit) = fix.unwrap_or_else(|| panic!("{actions:#?}"));
    client.apply(edit);
    assert_eq!(client.findings(PARIS), [""; 0]);
    let text = fs::read_to_string(folder.path().join(PARIS)).expect("a text");
    let expected = text.replace(
        "opensuse-15-6-hardened-rke2-1-31-8",
        "ubuntu-noble-hardened-rke2-1-31-8",
    );
    assert_eq!(client.text(PARIS), expected);
    assert_eq!(client.shutdown(), 0);
}

#[test]
fn what_a_shared_file_breaks_is_found_in_the_files_that_it_breaks() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    client.open(UNITS);
    client.replace(
        UNITS,
        "k8s_version_short: \"1.31\"",
        "k8s_version_short: \"1.30\"",
    );
    client.settled(UNITS);
    let with_findings = client.files_with_findings();
    assert!(with_findings.contains(&LYON), "{with_findings:?}");
    client.replace(
        UNITS,
        "k8s_version_short: \"1.30\"",
        "k8s_version_short: \"1.31\"",
    );
    client.settled(UNITS);
    let with_findings = client.files_with_findings();
    assert!(!with_findings.contains(&LYON), "{with_findings:?}");
}

#[test]
fn half_typed_yaml_is_one_finding_and_everything_else_stays_known() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    client.open(UNITS);
    client.open(LAB);
    let before = client.findings(LAB);
    assert!(!before.is_empty());
    client.replace(
        UNITS,
        "k8s_version_short: \"1.31\"",
        "k8s_version_short: \"1.31",
    );
    let broken = client.findings(UNITS);
    let [only] = &*broken else {
        panic!("{broken:?}");
    };
    assert!(only.starts_with("error yaml-syntax"), "{only}");
    assert_eq!(client.findings(LAB), before);
    // Also once it is saved as it is.
    let saved = json!({ "textDocument": { "uri": client.uri(UNITS) } });
    client.notify("textDocument/didSave", saved);
    assert_eq!(client.findings(LAB), before);
    assert!(
        client
            .hover(LAB, "image_key: ubuntu-noble|-plain")
            .contains("lab-7/control-plane")
    );
}

#[test]
fn the_findings_of_the_clusters_that_are_typed_come_before_those_of_the_fleet() {
    let folder = sylva();
    let project = "version: 1
values: [charts/sylva-units/values.yaml]
clusters:
  - each: sites/*/values.yaml
policy:
  waivers:
    - {rule: k8s-version-mismatch, where: site-7, reason: moves on Monday, until: 2099-12-31}
";
    fs::write(folder.path().join("metalmark.yaml"), project).expect("written");
    for site in 0..32 {
        let minor = if site == 7 { "30-12" } else { "31-8" };
        let values = format!(
            "cluster:
  name: site-{site}
  k8s_version: 1.31.8
  capm3: {{image_key: ubuntu-noble-plain-rke2-1-{minor}}}
"
        );
        let below = folder.path().join(format!("sites/site-{site}"));
        fs::create_dir_all(&below).expect("made");
        fs::write(below.join("values.yaml"), values).expect("written");
    }
    let site = "sites/site-7/values.yaml";
    let mut client = Client::start(folder.path(), &usual());
    client.open("metalmark.yaml");
    client.open(site);
    assert_eq!(client.findings(site), [""; 0]);
    client.published.clear();
    // Whether a waiver is of use is known at the end; in one message its file would come first.
    client.replace(site, "1-30-12}", "1-30-11}");
    let unknown = client.findings(site);
    assert_eq!(
        unknown,
        ["error unknown-image: ubuntu-noble-plain-rke2-1-30-11"]
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
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    for file in [LYON, PARIS, UNITS, "metalmark.yaml"] {
        client.open(file);
    }
    let pool = client.hover(LYON, "image_key: ubuntu|-noble");
    let printed = Metalmark::within(folder.path())
        .args(["explain", "edge-lyon/control-plane"])
        .run();
    assert!(pool.starts_with("```text\n"), "{pool}");
    for line in printed.stdout.lines() {
        assert!(pool.contains(line), "{line}\n{pool}");
    }
    assert!(
        pool.contains("edge-lyon/md0 boots ubuntu-noble-plain-kubeadm-1-31-8 (1.31.8, proven)"),
        "{pool}"
    );
    assert!(
        client
            .hover(PARIS, "os: ub|untu")
            .contains("edge-paris/control-plane")
    );
    let image = client.hover(UNITS, "opensuse-15-6-hardened-rke2-1|-31-8:");
    assert!(image.contains("used by: edge-paris/storage"), "{image}");
    let rule = client.hover("metalmark.yaml", "k8s-version|-mismatch");
    assert!(
        rule.contains("k8s-version-mismatch (error unless"),
        "{rule}"
    );
    assert_eq!(client.hover(LYON, "# Kub|eadm"), "");
}

#[test]
fn choices_lead_to_images_and_images_to_choices() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    for file in [LYON, PARIS, UNITS] {
        client.open(file);
    }
    let definition = "textDocument/definition";
    let image = client.places(definition, LYON, "image_key: ubuntu|-noble");
    assert_eq!(
        image,
        [format!("{UNITS}: ubuntu-noble-plain-kubeadm-1-31-8")]
    );
    let selected = client.places(definition, PARIS, "os: ub|untu");
    assert_eq!(
        selected,
        [format!("{UNITS}: ubuntu-noble-plain-rke2-1-31-8")]
    );
    let references = client.places(
        "textDocument/references",
        UNITS,
        "  ubuntu-noble-plain-kubeadm|-1-31-8:",
    );
    assert_eq!(
        references,
        [format!("{LYON}: ubuntu-noble-plain-kubeadm-1-31-8")]
    );
    // A value that the first cluster, `mgmt`, takes from the chart.
    let set = client.places(definition, UNITS, "k8s_version_short: \"1|.31\"");
    assert_eq!(set, [format!("{UNITS}: \"1.31\"")]);
}

#[test]
fn a_template_and_its_references_lead_to_each_other() {
    let folder = copy_of(&repository().join("fixtures/tutorials/manifests"));
    fs::create_dir(folder.path().join(".git")).expect("made");
    let machines = "base/machines.yaml";
    let mut client = Client::start(folder.path(), &usual());
    client.open(machines);
    let findings = client.findings(machines);
    assert!(
        findings.iter().any(|line| line.contains("k8s-version")),
        "{findings:?}"
    );
    let text = client.text(machines);
    let first = "Metal3MachineTemplate\n      name: edge-|noble\n---";
    let template = client.places("textDocument/definition", machines, first);
    assert_eq!(template, ["base/machines.yaml: edge-noble"]);
    let references = client.places("textDocument/references", machines, first);
    assert_eq!(
        references.len(),
        text.matches("name: edge-noble").count() - 1,
        "{references:?}"
    );
}

#[test]
fn the_images_that_fit_are_offered_first() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    client.open(LYON);
    client.settled(LYON);
    // While typing, nothing waits for a check, and the text is no YAML.
    client.replace(
        LYON,
        "image_key: ubuntu-noble-plain-kubeadm-1-31-8",
        "image_key: \"ub",
    );
    let images = client.completion(LYON, "image_key: \"ub|");
    assert!(
        images[0].contains("1-31-8 (Kubernetes 1.31.8"),
        "{images:?}"
    );
    assert!(images[0].ends_with(", fits)"), "{images:?}");
    assert!(
        images
            .last()
            .is_some_and(|last| last.ends_with(", does not fit)")),
        "{images:?}"
    );
    client.replace(LYON, "image_key: \"ub", "os_image_selector:\n      os: |");
    let systems = client.completion(LYON, "os: |");
    assert_eq!(systems, ["opensuse (opensuse)", "ubuntu (ubuntu)"]);
}

#[test]
fn the_project_file_is_completed_from_its_schema() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    client.open("metalmark.yaml");
    client.replace(
        "metalmark.yaml",
        "waivers:\n    - rule: checksum-by-url",
        "waivers:\n    - rule: check",
    );
    let rules = client.completion("metalmark.yaml", "- rule: check|");
    assert!(
        rules
            .iter()
            .any(|rule| rule.starts_with("checksum-by-url (")),
        "{rules:?}"
    );
    client.replace("metalmark.yaml", "      where: lab-7", "      w");
    let keys = client.completion("metalmark.yaml", "      w|\n");
    assert_eq!(keys, ["reason", "rule", "until", "where"]);
}

#[test]
fn each_pool_shows_what_it_boots() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    for file in [LYON, PARIS] {
        client.open(file);
    }
    let lyon = "image_key: ubuntu-noble-plain-kubeadm-1-31-8 → ubuntu-noble-plain-kubeadm-1-31-8 (1.31.8, proven)";
    assert_eq!(client.hints(LYON), [lyon]);
    let paris = client.hints(PARIS);
    assert_eq!(paris.len(), 2, "{paris:?}");
    assert!(
        paris[1].contains("→ opensuse-15-6-hardened-rke2-1-31-8 ("),
        "{paris:?}"
    );
    assert_eq!(
        client.symbols(LYON),
        ["edge-lyon/control-plane", "edge-lyon/md0"]
            .map(|pool| format!("{pool}: ubuntu-noble-plain-kubeadm-1-31-8 (1.31.8, proven)"))
    );
    let found = client
        .request("workspace/symbol", json!({ "query": "STORAGE" }))
        .expect("symbols");
    let names: Vec<&Value> = found
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, ["edge-paris/storage"]);
}

#[test]
fn a_waiver_is_written_into_the_project_file() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    client.open(LYON);
    client.replace(LYON, "plain-kubeadm-1-31-8", "plain-rke2-1-30-12");
    let before = client.findings(LYON);
    assert!(!before.is_empty());
    let mut left = before.len();
    while left > 0 {
        let actions = client.actions(LYON);
        let waiver = actions
            .iter()
            .find(|(title, _)| title.starts_with("Accept `"));
        let (_, edit) = waiver.unwrap_or_else(|| panic!("{actions:#?}"));
        client.apply(edit);
        let now = client.findings(LYON).len();
        assert!(now < left, "{now} of {left} are left");
        left = now;
    }
    let project = client.text("metalmark.yaml");
    assert!(
        project.contains("reason: write why this is accepted"),
        "{project}"
    );
    assert!(project.starts_with("# The main job"), "{project}");
}

#[test]
fn positions_are_right_behind_letters_of_every_width_and_with_windows_line_ends() {
    let folder = sylva();
    for (encoding, is_known) in [("utf-16", true), ("utf-8", false)] {
        let text = "# \u{1f4a1} é\r\ncluster: {name: edge-lyon, note: \"\u{1f4a1}é\", capm3: {image_key: nowhere}, capi_providers: {bootstrap_provider: cabpk}}\r\n";
        let mut capabilities = usual();
        capabilities["general"] = json!({ "positionEncodings": [encoding] });
        let mut client = Client::start(folder.path(), &capabilities);
        assert_eq!(client.capabilities["positionEncoding"], encoding);
        client.open_as(LYON, text);
        if is_known {
            assert_eq!(client.findings(LYON), ["error unknown-image: nowhere"]);
        } else {
            let found = client.settled(LYON);
            let line = text.lines().nth(1).expect("a line");
            let start = line.find("nowhere").expect("it is there");
            assert_eq!(
                found[0]["range"]["start"],
                json!({ "line": 1, "character": start })
            );
        }
    }
}

#[test]
fn a_file_that_changes_on_disk_is_read_again() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    client.open(LAB);
    client.settled(LAB);
    assert!(
        client
            .received
            .contains(&"client/registerCapability".to_owned())
    );
    assert!(client.received.contains(&"$/progress".to_owned()));
    let path = folder.path().join(LYON);
    let text = fs::read_to_string(&path).expect("a text");
    fs::write(&path, text.replace("kubeadm-1-31-8", "nothing")).expect("written");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    client.settled(LAB);
    assert!(client.files_with_findings().contains(&LYON));
}

#[test]
fn no_message_ends_the_server_and_the_exit_status_says_how_it_ended() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    client.notify("textDocument/didOpen", json!({ "textDocument": 1 }));
    client.notify("textDocument/didChange", json!({}));
    client.notify("no/such", Value::Null);
    let unknown = client
        .request("no/such", json!({}))
        .expect_err("it is not known");
    assert_eq!(unknown.code, -32601);
    let wrong = json!({ "textDocument": { "uri": client.uri(LYON) }, "position": "here" });
    client.open(LYON);
    let wrong = client
        .request("textDocument/hover", wrong)
        .expect_err("it is not valid");
    assert_eq!(wrong.code, -32602);
    for uri in [
        "untitled:1",
        "file:///no/such/file.yaml",
        "http://a.example/b.yaml",
    ] {
        let at =
            json!({ "textDocument": { "uri": uri }, "position": { "line": 9, "character": 9 } });
        assert_eq!(
            client.request("textDocument/hover", at).expect("an answer"),
            Value::Null
        );
    }
    let far = json!({
        "textDocument": { "uri": client.uri(LYON) }, "position": { "line": 4_000_000, "character": 4_000_000 },
    });
    client
        .request("textDocument/definition", far)
        .expect("an answer");
    assert_eq!(client.exit(), 1);
    let client = Client::start(folder.path(), &usual());
    assert_eq!(client.shutdown(), 0);
}

#[test]
fn a_request_that_is_canceled_is_answered_as_such() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    client.open(LYON);
    let params = json!({ "textDocument": { "uri": client.uri(LYON) }, "position": { "line": 7, "character": 20 } });
    let id = client.begin("textDocument/hover", params);
    client.notify("$/cancelRequest", json!({ "id": id }));
    match client.end(&id) {
        Err(error) => assert_eq!(error.code, -32800),
        // It may have been answered before.
        Ok(answer) => assert!(answer["contents"].is_object()),
    }
}

#[test]
fn no_secret_is_sent() {
    let folder = sylva();
    let secrets = "environment-values/mgmt/secrets.yaml";
    let mut client = Client::start(folder.path(), &usual());
    client.open(secrets);
    client.replace(
        secrets,
        "username: admin",
        "username: admin\n  capm3:\n    image_key: example-password-that-must-never-be-printed",
    );
    let found = client.settled(secrets);
    let hover = client.hover(secrets, "password: example|-password");
    let offered = client.completion(secrets, "image_key: example|-password");
    let actions = client.actions(secrets);
    let sent = format!("{found:?}{hover}{offered:?}{actions:?}");
    assert!(!sent.contains("must-never-be-printed"), "{sent}");
}

#[test]
fn nothing_is_read_outside_of_a_project_or_a_repository() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("values.yaml"), "cluster: {name: a}\n").expect("written");
    let mut client = Client::start(folder.path(), &usual());
    client.open("values.yaml");
    assert_eq!(client.symbols("values.yaml"), [""; 0]);
    assert!(client.files_with_findings().is_empty());
    // A project file makes it one.
    fs::write(
        folder.path().join("metalmark.yaml"),
        "version: 1\nclusters:\n  - {name: a, values: [values.yaml]}\n",
    )
    .expect("written");
    client.open("metalmark.yaml");
    client.settled("metalmark.yaml");
    assert!(!client.files_with_findings().is_empty());
}

#[test]
fn a_project_that_cannot_be_read_is_a_finding_in_its_file_until_it_can() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = "version: 1\nclusters:\n  - {name: a, values: [../../../../etc/hostname]}\n";
    fs::write(folder.path().join("metalmark.yaml"), project).expect("written");
    let values = "cluster: {name: a, capm3: {image_key: none}}\n";
    fs::write(folder.path().join("values.yaml"), values).expect("written");
    let mut client = Client::start(folder.path(), &usual());
    client.open("metalmark.yaml");
    let failure = |client: &mut Client| {
        let found = client.settled("metalmark.yaml");
        let [only] = &*found else {
            panic!("{found:#?}");
        };
        only["message"].as_str().expect("a text").to_owned()
    };
    let outside = failure(&mut client);
    assert!(
        outside.contains("outside the repository\nhelp: "),
        "{outside}"
    );
    client.replace("metalmark.yaml", "../../../../etc/hostname", "no.yaml");
    let missing = failure(&mut client);
    assert!(
        missing.ends_with("no.yaml`: No such file or directory"),
        "{missing}"
    );
    // The same failure is logged once.
    client.replace("metalmark.yaml", "name: a", "name: b");
    assert_eq!(failure(&mut client), missing);
    let logged = client.received.iter();
    let logged = logged.filter(|method| *method == "window/logMessage");
    assert_eq!(logged.count(), 2);
    client.replace("metalmark.yaml", "no.yaml", "values.yaml");
    assert_eq!(client.settled("metalmark.yaml"), [Value::Null; 0]);
    assert_eq!(client.files_with_findings(), ["values.yaml"]);
    assert_eq!(client.shutdown(), 0);
}

#[test]
fn a_layer_beside_the_project_is_part_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join(".git")).expect("made");
    for name in ["fleet", "shared"] {
        fs::create_dir(folder.path().join(name)).expect("made");
    }
    let write = |file: &str, text: &str| {
        fs::write(folder.path().join(file), text).expect("written");
    };
    write(
        "fleet/metalmark.yaml",
        "version: 1\nclusters:\n  - {name: a, values: [../shared/values.yaml]}\n",
    );
    let shared = "shared/values.yaml";
    write(shared, "cluster: {name: a, capm3: {image_key: none}}\n");
    let mut client = Client::start(folder.path(), &usual());
    client.open(shared);
    assert_eq!(client.symbols(shared), [""; 0]);
    // The folder around both has no project file: that of the project is known once a file of it is opened.
    client.open("fleet/metalmark.yaml");
    let at = |found: &[Value]| -> Vec<Value> {
        let start = |found: &Value| found["range"]["start"].clone();
        found.iter().map(start).collect()
    };
    let found = client.settled(shared);
    assert!(!found.is_empty());
    client.replace(shared, "cluster:", "# typed\ncluster:");
    let moved = client.settled(shared);
    assert_eq!(moved.len(), found.len());
    for (before, after) in at(&found).iter().zip(at(&moved)) {
        let line = before["line"].as_u64().expect("a number") + 1;
        assert_eq!(
            after,
            json!({ "line": line, "character": before["character"] })
        );
    }
    assert!(!client.symbols(shared).is_empty());
}

#[test]
fn the_command_line_cannot_say_where_the_projects_are() {
    for place in [["-C", "."], ["--project", "metalmark.yaml"]] {
        let run = Metalmark::within(Path::new("."))
            .args(["lsp"])
            .args(place)
            .run();
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(
            run.stderr
                .contains("reads the projects of the folders that the editor opens")
        );
        assert!(run.stderr.contains("help: "), "{}", run.stderr);
    }
}

#[test]
fn folders_come_and_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = "version: 1\nclusters:\n  - {name: a, values: [values.yaml]}\n";
    for name in ["one", "two"] {
        let below = folder.path().join(name);
        fs::create_dir(&below).expect("made");
        fs::write(below.join("metalmark.yaml"), project).expect("written");
        let values = format!("cluster: {{name: a, capm3: {{image_key: {name}}}}}\n");
        fs::write(below.join("values.yaml"), values).expect("written");
    }
    let mut client = Client::start(folder.path(), &usual());
    let change = |client: &Client, added: &[&str], removed: &[&str]| {
        let folders = |names: &[&str]| -> Vec<Value> {
            let folder = |name: &&str| json!({ "uri": client.uri(name), "name": name });
            names.iter().map(folder).collect()
        };
        json!({ "event": { "added": folders(added), "removed": folders(removed) } })
    };
    let both = change(&client, &["one", "two"], &[]);
    client.notify("workspace/didChangeWorkspaceFolders", both);
    client
        .request("workspace/symbol", json!({ "query": "" }))
        .expect("symbols");
    assert_eq!(
        client.files_with_findings(),
        ["one/values.yaml", "two/values.yaml"]
    );
    let without = change(&client, &[], &["two"]);
    client.notify("workspace/didChangeWorkspaceFolders", without);
    client
        .request("workspace/symbol", json!({ "query": "" }))
        .expect("symbols");
    assert_eq!(client.files_with_findings(), ["one/values.yaml"]);
}
