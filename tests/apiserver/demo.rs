//! The demo workspace as a GitOps engine gets it: rendered, changed, and with a chart that shows which values it was given.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use super::objects::{Object, object};
use super::server::Server;
use crate::support::stage::{Stage, project};

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
pub(super) fn demo(outputs: &str) -> Stage {
    let demo = project().folder("fixtures/workspaces/sylva-baremetal");
    fs::remove_dir_all(demo.path().join("expected")).expect("removed");
    let text = demo.read("metalmark.yaml");
    let (head, tail) = text.split_once("\noutputs:").expect("outputs");
    let (_, policy) = tail.split_once("\npolicy:").expect("a policy");
    demo.file(
        "metalmark.yaml",
        format!("{head}\n{outputs}policy:{policy}"),
    )
}

pub(super) fn render(demo: &Stage) {
    demo.run("render").exit(0);
}

/// Renders after another image was selected for one cluster.
pub(super) fn render_another_image(demo: &Stage) {
    let lyon = "environment-values/workload-clusters/edge-lyon/values.yaml";
    let [old, new] =
        ["ubuntu-noble", "opensuse-15-6"].map(|os| format!("{os}-plain-kubeadm-1-31-8"));
    render(demo.edit(lyon, &old, &new));
}

/// Renders after the cluster `lab-7` was removed.
pub(super) fn render_without_a_cluster(demo: &Stage) {
    let gone = "environment-values/workload-clusters/lab-7";
    fs::remove_dir_all(demo.path().join(gone)).expect("removed");
    let [old, new] =
        ["lab-7", "none"].map(|at| format!("    - rule: checksum-by-url\n      where: {at}\n"));
    render(demo.edit("metalmark.yaml", &old, &new));
}

/// A folder with the chart.
pub(super) fn chart() -> Stage {
    project().files(&CHART)
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
