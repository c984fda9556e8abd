//! Templates that were edited by hand under the same name, held against git.

use std::fs;
use std::path::Path;

use super::fixtures;
use crate::git::git;
use crate::support::{Metalmark, Outcome};

const TEMPLATES: &str = "\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AWSMachineTemplate
metadata: {name: refused} # metalmark: ignore
spec:
  template:
    spec:
      instanceType: m5.large
      ami: {id: ami-0}
---
# metalmark: ignore
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: ignored}
spec: {template: {spec: {nodeReuse: true, image: {url: a, checksum: b}}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: {name: bootstrap}
spec: {template: {spec: {preKubeadmCommands: [a]}}}
";

fn repository(text: &str) -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a folder");
    let project = fs::read(fixtures().join("shapes/metalmark.yaml")).expect("the project");
    let project = String::from_utf8(project).expect("text");
    let project = project
        .replace("listed", "nobody")
        .replace("in-place: off", "in-place: error");
    fs::write(scratch.path().join("metalmark.yaml"), project).expect("written");
    fs::write(scratch.path().join("a.yaml"), text).expect("written");
    git(scratch.path(), &["init", "-q", "-b", "main"]);
    git(scratch.path(), &["add", "."]);
    git(scratch.path(), &["commit", "-qm", "first"]);
    scratch
}

fn check(folder: &Path, arguments: &[&str]) -> Outcome {
    let all = ["stamp", "--check"]
        .into_iter()
        .chain(arguments.iter().copied());
    Metalmark::within(folder).args(all).run()
}

/// The messages of a rule, as lines.
fn messages(outcome: &Outcome) -> Vec<String> {
    let all = format!("{}{}", outcome.stdout, outcome.stderr);
    let lines = all
        .lines()
        .filter(|line| line.contains("[template-edited-in-place]"));
    lines
        .map(|line| {
            line.split_once("]: ")
                .map_or("", |(_, text)| text)
                .to_owned()
        })
        .collect()
}

#[test]
fn a_manual_edit_is_reported_and_a_new_name_is_not() {
    let text = TEMPLATES.replace(
        "infrastructure.cluster.x-k8s.io/v1beta1\nkind: AWS",
        "infrastructure.cluster.x-k8s.io/v1beta2\nkind: AWS",
    );
    let scratch = repository(&text);
    assert_eq!(messages(&check(scratch.path(), &[])), Vec::<String>::new());
    let edited = text
        .replace("m5.large", "m5.xlarge")
        .replace("nodeReuse: true", "nodeReuse: false")
        .replace("[a]", "[a, b]");
    fs::write(scratch.path().join("a.yaml"), &edited).expect("written");
    let all = [
        "AWSMachineTemplate `refused` changes under the same name, and its webhook refuses changes below `spec.template.spec`",
        "KubeadmConfigTemplate `bootstrap` changes under the same name, and no machine that runs is replaced",
        "Metal3MachineTemplate `ignored` changes under the same name, and no machine that runs is replaced",
    ];
    let mut found = messages(&check(scratch.path(), &[]));
    found.sort();
    assert_eq!(found, all);
    let renamed = edited
        .replace("{name: refused}", "{name: refused-2}")
        .replace("{name: ignored}", "{name: ignored-2}")
        .replace("{name: bootstrap}", "{name: bootstrap-2}");
    fs::write(scratch.path().join("a.yaml"), renamed).expect("written");
    assert_eq!(messages(&check(scratch.path(), &[])), Vec::<String>::new());
}

#[test]
fn what_was_committed_is_compared_with_the_named_commit() {
    let scratch = repository(TEMPLATES);
    let edited = TEMPLATES.replace("nodeReuse: true", "nodeReuse: false");
    fs::write(scratch.path().join("a.yaml"), edited).expect("written");
    git(scratch.path(), &["commit", "-qam", "second"]);
    assert_eq!(messages(&check(scratch.path(), &[])).len(), 0);
    assert_eq!(
        messages(&check(scratch.path(), &["--against", "HEAD~1"])).len(),
        1
    );
    let unknown = check(scratch.path(), &["--against", "nowhere"]);
    assert_eq!(unknown.status, 2, "{}", unknown.stderr);
}

#[test]
fn a_stamp_of_what_is_not_committed_yet_edits_nothing_in_place() {
    let scratch = repository("a: 1\n");
    let text = TEMPLATES.replace("# metalmark: ignore\napi", "# metalmark: image=noble\napi");
    fs::write(scratch.path().join("b.yaml"), text).expect("written");
    assert_eq!(messages(&check(scratch.path(), &[])).len(), 0);
    git(scratch.path(), &["add", "."]);
    git(scratch.path(), &["commit", "-qm", "second"]);
    let found = messages(&check(scratch.path(), &[]));
    assert_eq!(
        found,
        [
            "Metal3MachineTemplate `ignored` gets another image, and no machine that runs is replaced"
        ]
    );
}

#[test]
fn each_file_is_compared_with_its_own_text() {
    let scratch = repository(TEMPLATES);
    let put = |name: &str, text: &str| fs::write(scratch.path().join(name), text).expect("written");
    let bare = "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: AWSMachineTemplate\n\
                metadata: {name: bare, labels: {a: b}}\n";
    let other = TEMPLATES.replace("{name: ", "{name: b-") + bare;
    put("b.yaml", &other);
    git(scratch.path(), &["add", "."]);
    git(scratch.path(), &["commit", "-qm", "second"]);
    let image = TEMPLATES.replace("# metalmark: ignore\napi", "# metalmark: image=noble\napi");
    let edited = other
        .replace("nodeReuse: true", "nodeReuse: false")
        .replace("{a: b}", "{a: c}");
    put("a.yaml", &image);
    put("b.yaml", &edited);
    let outcome = check(scratch.path(), &[]);
    let mut found = messages(&outcome);
    found.sort();
    let why = "and no machine that runs is replaced";
    let wanted = [
        format!("Metal3MachineTemplate `b-ignored` changes under the same name, {why}"),
        format!("Metal3MachineTemplate `ignored` gets another image, {why}"),
    ];
    assert_eq!(found, wanted);
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    let place = "----- `spec.template.spec.nodeReuse` changes";
    assert!(said.contains(place), "{said}");
}
