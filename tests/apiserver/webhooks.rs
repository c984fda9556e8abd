//! What Cluster API's own admission webhooks say to rendered, stamped and rotated objects. `METALMARK_WEBHOOKS` names the program of
//! tests/interop/webhooks; built with a checkout of CAPM3, it has the webhooks of that provider too.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::golden::objects_of;
use super::objects::Object;
use super::rotation::{fleet, rotate};
use crate::programs;

use crate::support::stage::project;
use crate::workspaces::trees;

/// The answers to changes from one object, or none, to another; none where the program is not found.
fn reviews(changes: &[(Option<&Object>, &Object)]) -> Option<Vec<Value>> {
    let program = programs::find("webhooks")?;
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    let lines: Vec<String> = { changes.iter() }
        .map(|(old, new)| json!({"old": old.map(|old| &old.json), "new": new.json}).to_string())
        .collect();
    let writer =
        std::thread::spawn(move || lines.iter().try_for_each(|line| writeln!(input, "{line}")));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("written").expect("taken");
    let answers = String::from_utf8(output.stdout).expect("text");
    let answers = answers
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    Some(answers.collect())
}

/// How many changes of each kind the webhooks accept, as `KIND VERB`. Fails where they refuse one.
fn accepted(changes: &[(Option<&Object>, &Object)]) -> Option<BTreeMap<String, usize>> {
    let answers = reviews(changes)?;
    assert_eq!(answers.len(), changes.len());
    let (mut accepted, mut refused) = (BTreeMap::new(), Vec::new());
    for ((old, new), answer) in changes.iter().zip(answers) {
        let verb = if old.is_some() { "updated" } else { "created" };
        if let Some(why) = answer["error"].as_str() {
            refused.push(format!("{} {verb}: {why}", new.title()));
        } else if answer["known"] == true {
            *accepted
                .entry(format!("{} {verb}", new.kind()))
                .or_default() += 1;
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    Some(accepted)
}

#[test]
fn webhooks_accept_what_stamp_changes() {
    let folder = project().folder("fixtures/stamp/fleet");
    let mut before = fleet(folder.path());
    for build in 1..3 {
        rotate(&folder, build);
        let after = fleet(folder.path());
        let was: BTreeMap<String, &Object> = before
            .iter()
            .map(|object| (object.title(), object))
            .collect();
        let changes = after
            .iter()
            .map(|new| (was.get(&new.title()).copied(), new));
        let changes: Vec<(Option<&Object>, &Object)> = changes.collect();
        let Some(accepted) = accepted(&changes) else {
            return;
        };
        for change in ["KubeadmControlPlane updated", "MachineDeployment updated"] {
            assert!(accepted.contains_key(change), "{change}: {accepted:?}");
        }
        before = after;
    }
}

#[test]
fn webhooks_accept_what_is_rendered() {
    let all: Vec<Object> = trees()
        .iter()
        .flat_map(|tree| objects_of(&tree.folder()))
        .collect();
    let changes: Vec<(Option<&Object>, &Object)> = all.iter().map(|new| (None, new)).collect();
    let Some(accepted) = accepted(&changes) else {
        return;
    };
    // Cluster API's own kinds are in none of the trees.
    if accepted.is_empty() {
        programs::missing("capm3");
        return;
    }
    let templates = accepted.get("Metal3MachineTemplate created");
    assert!(templates.is_some_and(|count| *count > 40), "{accepted:?}");
}

#[test]
fn webhooks_refuse_what_is_wrong() {
    let control_plane = |version: &str, image: &str| {
        Object::of(json!({
            "apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "KubeadmControlPlane",
            "metadata": {"name": "edge", "namespace": "edge"},
            "spec": {"replicas": 3, "version": version, "machineTemplate": {"spec": {"infrastructureRef": {
                "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Metal3MachineTemplate", "name": image,
            }}}, "kubeadmConfigSpec": {}},
        }))
    };
    let (old, skipped) = (control_plane("v1.31.0", "a"), control_plane("v1.33.0", "b"));
    let next = control_plane("v1.32.1", "b");
    let changes = [(None, &old), (Some(&old), &next), (Some(&old), &skipped)];
    let Some(answers) = reviews(&changes) else {
        return;
    };
    let errors: Vec<bool> = answers
        .iter()
        .map(|answer| answer["error"].is_string())
        .collect();
    assert_eq!(errors, [false, false, true], "{answers:?}");
    assert!(answers.iter().all(|answer| answer["known"] == true));
}
