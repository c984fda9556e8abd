//! Templates that were edited by hand under the same name, held against git.

use snapbox::str;

use super::noble;
use crate::git::commit_all;
use crate::support::stage::{Is, Stage, project};

const TEMPLATES: &str = "\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
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
/// What a rotation keeps: a copy that no machine is made from any more.
const KEPT: &str = "\
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata: {name: past, annotations: {metalmark.dev/kept: refused}}
spec: {template: {spec: {instanceType: m5.large, ami: {id: ami-0}}}}
";

/// A repository with this in `a.yaml`; none where there is no git.
fn committed(text: &str) -> Option<Stage> {
    let policy = "policy: {rules: {template-edited-in-place: error}}\n";
    let stage = project().file("metalmark.yaml", noble(2) + policy);
    stage.file("a.yaml", text).commit("first")
}

/// What `stamp --check` says of edits in place, the changed fields below.
fn edits(stage: &Stage, words: &str) -> String {
    let outcome = stage.run(&format!("stamp --check {words}")).outcome;
    let screen = outcome.stdout + &outcome.stderr;
    let mut is_one = false;
    let lines = screen.lines().filter_map(|line| {
        if line.contains("]: ") {
            is_one = line.contains("[template-edited-in-place]");
            return is_one.then(|| line.to_owned());
        }
        let change = line
            .split_once("---- ")
            .map(|(_, change)| format!("  {change}"));
        change.filter(|_| is_one)
    });
    lines.map(|line| line + "\n").collect()
}

#[test]
fn a_manual_edit_is_reported_and_neither_a_new_name_nor_a_kept_copy() {
    let Some(stage) = committed(&format!("{TEMPLATES}{KEPT}")) else {
        return;
    };
    assert_eq!(edits(&stage, ""), "");
    stage.write(
        "a.yaml",
        format!("{TEMPLATES}{KEPT}").replace("m5.large", "m5.xlarge"),
    );
    stage
        .edit("a.yaml", "nodeReuse: true", "nodeReuse: false")
        .edit("a.yaml", "[a]", "[a, b]");
    edits(&stage, "").is(str![[r#"
error[template-edited-in-place]: AWSMachineTemplate `refused` changes under the same name, and its webhook refuses changes below `spec.template.spec`
  `spec.template.spec.instanceType` changes
error[template-edited-in-place]: Metal3MachineTemplate `ignored` changes under the same name, and no machine that runs is replaced
  `spec.template.spec.nodeReuse` changes
error[template-edited-in-place]: KubeadmConfigTemplate `bootstrap` changes under the same name, and no machine that runs is replaced
  `spec.template.spec.preKubeadmCommands` changes

"#]]);
    for name in ["refused} #", "ignored}", "bootstrap}"] {
        stage.edit(
            "a.yaml",
            &format!("name: {name}"),
            &format!("name: new-{name}"),
        );
    }
    assert_eq!(edits(&stage, ""), "");
}

#[test]
fn what_was_committed_is_compared_with_the_named_commit() {
    let Some(stage) = committed(TEMPLATES) else {
        return;
    };
    stage.edit("a.yaml", "nodeReuse: true", "nodeReuse: false");
    commit_all(stage.path(), "second");
    assert_eq!(edits(&stage, ""), "");
    edits(&stage, "--against HEAD~1").is(str![[r#"
error[template-edited-in-place]: Metal3MachineTemplate `ignored` changes under the same name, and no machine that runs is replaced
  `spec.template.spec.nodeReuse` changes

"#]]);
    stage.run("stamp --check --against nowhere").exit(2);
}

#[test]
fn a_stamp_of_what_is_not_committed_yet_edits_nothing_in_place() {
    let Some(stage) = committed("a: 1\n") else {
        return;
    };
    stage.write(
        "b.yaml",
        TEMPLATES.replace("# metalmark: ignore\napi", "# metalmark: image=noble\napi"),
    );
    assert_eq!(edits(&stage, ""), "");
    commit_all(stage.path(), "second");
    edits(&stage, "").is(str![[r#"
error[template-edited-in-place]: Metal3MachineTemplate `ignored` gets another image, and no machine that runs is replaced

"#]]);
}

#[test]
fn each_file_is_compared_with_its_own_text() {
    let Some(stage) = committed(TEMPLATES) else {
        return;
    };
    let bare = "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: AWSMachineTemplate\n\
                metadata: {name: bare, labels: {a: b}}\n";
    stage.write("b.yaml", TEMPLATES.replace("{name: ", "{name: b-") + bare);
    commit_all(stage.path(), "second");
    stage.edit(
        "a.yaml",
        "# metalmark: ignore\napi",
        "# metalmark: image=noble\napi",
    );
    stage
        .edit("b.yaml", "nodeReuse: true", "nodeReuse: false")
        .edit("b.yaml", "{a: b}", "{a: c}");
    edits(&stage, "").is(str![[r#"
error[template-edited-in-place]: Metal3MachineTemplate `ignored` gets another image, and no machine that runs is replaced
error[template-edited-in-place]: Metal3MachineTemplate `b-ignored` changes under the same name, and no machine that runs is replaced
  `spec.template.spec.nodeReuse` changes

"#]]);
}
