//! The demo workspace as a GitOps engine gets it: rendered, changed, and with a chart that shows which values it was given.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::objects::{Object, object};
use super::server::Server;
use crate::support::{Metalmark, copy_of, repository};

/// A chart that shows which values it was given.
const CHART: [(&str, &str); 2] = [
    (
        "Chart.yaml",
        "apiVersion: v2\nname: chart\nversion: 0.1.0\n",
    ),
    (
        "templates/seen.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: values-seen}\ndata: {values.json: {{ .Values | toJson | quote }}}\n",
    ),
];

/// The clusters of the demo by namespace.
pub(super) const NAMESPACES: [&str; 4] = ["edge-lyon", "edge-paris", "lab-7", "sylva-system"];

/// The demo with these outputs.
pub(super) fn demo(outputs: &str) -> tempfile::TempDir {
    let scratch = copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"));
    fs::remove_dir_all(scratch.path().join("expected")).expect("removed");
    let file = scratch.path().join("metalmark.yaml");
    let project = fs::read_to_string(&file).expect("a project file");
    let (head, tail) = project.split_once("\noutputs:").expect("outputs");
    let (_, policy) = tail.split_once("\npolicy:").expect("a policy");
    fs::write(&file, format!("{head}\n{outputs}policy:{policy}")).expect("written");
    scratch
}

pub(super) fn render(folder: &Path) {
    let outcome = Metalmark::within(folder).args(["render"]).run();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
}

/// Renders after another image was selected for one cluster.
pub(super) fn render_another_image(folder: &Path) {
    replace(
        &folder.join("environment-values/workload-clusters/edge-lyon/values.yaml"),
        "ubuntu-noble-plain-kubeadm-1-31-8",
        "opensuse-15-6-plain-kubeadm-1-31-8",
    );
    render(folder);
}

/// Renders after the cluster `lab-7` was removed.
pub(super) fn render_without_a_cluster(folder: &Path) {
    let gone = folder.join("environment-values/workload-clusters/lab-7");
    fs::remove_dir_all(gone).expect("removed");
    replace(
        &folder.join("metalmark.yaml"),
        "    - rule: checksum-by-url\n      where: lab-7\n",
        "    - rule: checksum-by-url\n      where: none\n",
    );
    render(folder);
}

pub(super) fn replace(path: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(path).expect("read");
    assert!(text.contains(old), "{old}: {text}");
    fs::write(path, text.replace(old, new)).expect("written");
}

/// A folder with the chart.
pub(super) fn chart() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("templates")).expect("created");
    for (path, text) in CHART {
        fs::write(folder.path().join(path), text).expect("written");
    }
    folder
}

/// The values that the chart was given in a namespace.
pub(super) fn seen(server: &Server, namespace: &str) -> Option<Value> {
    let like = object("v1", "ConfigMap", namespace, "values-seen", &json!({}));
    let reply = server.get(&like);
    let values = reply.body["data"]["values.json"].as_str()?;
    serde_json::from_str(values).ok()
}

/// The stored objects of the kinds of these, by kind, namespace and name.
pub(super) fn stored(server: &Server, like: &[Object]) -> BTreeMap<String, Value> {
    let kinds: BTreeSet<(&str, &str)> = like
        .iter()
        .map(|object| {
            (
                object.json["apiVersion"].as_str().unwrap_or_default(),
                object.kind(),
            )
        })
        .collect();
    kinds
        .into_iter()
        .flat_map(|(version, kind)| {
            server.all_like(&object(version, kind, "default", "x", &json!({})))
        })
        .filter(|object| object["metadata"]["name"] != "kube-root-ca.crt")
        .map(|json| (Object::of(json.clone()).title(), json))
        .collect()
}
