//! What is rendered for Flux, reconciled by its own controllers: values arrive as they were rendered, a change is rolled out, and
//! what is gone is pruned or kept as documented. `METALMARK_KUSTOMIZE_CONTROLLER` and `METALMARK_HELM_CONTROLLER` name the programs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use metalmark::model::engine::Engine;
use metalmark::model::json::{Html, to_json};
use metalmark::model::place::FileId;
use metalmark::yaml;
use serde_json::{Value, json};

use super::flux_controllers::{Flux, object};
use super::objects::{Object, objects};
use super::server::{Server, own_server};
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
const NAMESPACES: [&str; 4] = ["edge-lyon", "edge-paris", "lab-7", "sylva-system"];

/// The demo with these outputs.
fn demo(outputs: &str) -> tempfile::TempDir {
    let scratch = copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"));
    fs::remove_dir_all(scratch.path().join("expected")).expect("removed");
    let file = scratch.path().join("metalmark.yaml");
    let project = fs::read_to_string(&file).expect("a project file");
    let (head, tail) = project.split_once("\noutputs:").expect("outputs");
    let (_, policy) = tail.split_once("\npolicy:").expect("a policy");
    fs::write(&file, format!("{head}\n{outputs}policy:{policy}")).expect("written");
    scratch
}

fn render(folder: &Path) {
    let outcome = Metalmark::within(folder).args(["render"]).run();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
}

fn chart() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("templates")).expect("created");
    for (path, text) in CHART {
        fs::write(folder.path().join(path), text).expect("written");
    }
    folder
}

/// The values that the chart was given in a namespace.
fn seen(server: &Server, namespace: &str) -> Option<Value> {
    let like = object("v1", "ConfigMap", namespace, "values-seen", &json!({}));
    let reply = server.get(&like);
    let values = reply.body["data"]["values.json"].as_str()?;
    serde_json::from_str(values).ok()
}

/// The objects in the YAML files below a folder, but for kustomize's own.
fn rendered(folder: &Path) -> Vec<Object> {
    let files = walkdir::WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter();
    let files = files.map(|entry| entry.expect("readable").into_path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "yaml"));
    let all = files.flat_map(|path| objects(&fs::read_to_string(path).expect("text")));
    all.filter(|object| object.group_version().0 != "kustomize.config.k8s.io")
        .collect()
}

/// The values that the rendered files give to a HelmRelease: those of its ConfigMap, and its own over them.
fn given(folder: &Path, namespace: &str) -> Value {
    let objects = rendered(folder);
    let of = |kind: &str| {
        let mut all = objects.iter();
        all.find(|object| object.kind() == kind && object.namespace() == namespace)
            .unwrap_or_else(|| panic!("no {kind} in {namespace}"))
    };
    let text = of("ConfigMap").json["data"]["values.yaml"]
        .as_str()
        .expect("values")
        .to_owned();
    let tree = yaml::values(&text, FileId(0), Engine::Helm4).expect("YAML");
    let mut values: Value = serde_json::from_str(&to_json(&tree.value, Html::Plain)).expect("JSON");
    let own = of("HelmRelease").json["spec"]["values"]
        .as_object()
        .cloned();
    for (key, value) in own.unwrap_or_default() {
        // The demo's keys are of either one or the other.
        values[key] = value;
    }
    values
}

fn replace(path: &PathBuf, old: &str, new: &str) {
    let text = fs::read_to_string(path).expect("read");
    assert!(text.contains(old), "{old}: {text}");
    fs::write(path, text.replace(old, new)).expect("written");
}

#[test]
fn flux_gives_each_chart_the_values_that_were_rendered() {
    let Some(mut server) = own_server() else {
        return;
    };
    let Some(flux) = Flux::start(&mut server) else {
        return;
    };
    let demo = demo("outputs:\n  - {target: flux, path: out}\n");
    let (folder, chart) = (demo.path(), chart());
    let chart = chart.path();
    render(folder);
    server.prepare(&rendered(folder.join("out").as_path()));
    flux.push(&mut server, "flux-system", folder);
    flux.reconcile(&mut server, "fleet", "flux-system", "./out");
    let arrived = |folder: &Path, namespaces: &[&str], server: &Server| {
        namespaces
            .iter()
            .all(|namespace| seen(server, namespace) == Some(given(folder, namespace)))
    };
    let out = folder.join("out");
    flux.wait(&server, "the first values", chart, |server| {
        arrived(&out, &NAMESPACES, server)
    });
    // Another image: the release is upgraded at once, for the label of the ConfigMap has it watched.
    let values = folder.join("environment-values/workload-clusters/edge-lyon/values.yaml");
    let before = given(&out, "edge-lyon");
    replace(
        &values,
        "ubuntu-noble-plain-kubeadm-1-31-8",
        "opensuse-15-6-plain-kubeadm-1-31-8",
    );
    render(folder);
    assert_ne!(given(&out, "edge-lyon"), before);
    flux.push(&mut server, "flux-system", folder);
    flux.wait(&server, "the values after a change", chart, |server| {
        arrived(&out, &NAMESPACES, server)
    });
    // A cluster that is gone.
    let gone = folder.join("environment-values/workload-clusters/lab-7");
    fs::remove_dir_all(gone).expect("removed");
    replace(
        &folder.join("metalmark.yaml"),
        "    - rule: checksum-by-url\n      where: lab-7\n",
        "    - rule: checksum-by-url\n      where: none\n",
    );
    render(folder);
    flux.push(&mut server, "flux-system", folder);
    let releases = object(
        "helm.toolkit.fluxcd.io/v2",
        "HelmRelease",
        "default",
        "x",
        &json!({}),
    );
    flux.wait(
        &server,
        "the release of the removed cluster is pruned",
        chart,
        |server| {
            let namespaces: BTreeSet<String> = server
                .all_like(&releases)
                .iter()
                .filter_map(|release| release["metadata"]["namespace"].as_str().map(str::to_owned))
                .collect();
            namespaces
                == BTreeSet::from(["edge-lyon", "edge-paris", "sylva-system"].map(str::to_owned))
        },
    );
    assert_eq!(
        seen(&server, "lab-7"),
        None,
        "what the release installed is gone with it"
    );
}

#[test]
fn flux_applies_rendered_manifests_and_keeps_the_templates_that_machines_were_made_from() {
    let Some(mut server) = own_server() else {
        return;
    };
    let Some(flux) = Flux::start(&mut server) else {
        return;
    };
    let demo = demo("outputs:\n  - {target: manifests, path: \"out/{{ cluster.name }}\"}\n");
    let (folder, chart) = (demo.path(), chart());
    let (chart, out) = (chart.path(), folder.join("out"));
    render(folder);
    server.prepare(&rendered(&out));
    flux.push(&mut server, "flux-system", folder);
    flux.reconcile(&mut server, "fleet", "flux-system", "./out");
    // The objects of the kinds that are rendered, by name: exactly those of the files.
    let names = |objects: &[Value]| -> BTreeSet<String> {
        objects
            .iter()
            .map(|object| {
                let metadata = &object["metadata"];
                format!(
                    "{} {}/{}",
                    object["kind"], metadata["namespace"], metadata["name"]
                )
            })
            .collect()
    };
    let is_as_rendered = |server: &Server, rendered: &[Object]| {
        let wanted: Vec<Value> = rendered.iter().map(|object| object.json.clone()).collect();
        let kinds: BTreeSet<(&str, &str)> = rendered
            .iter()
            .map(|object| {
                (
                    object.json["apiVersion"].as_str().unwrap_or_default(),
                    object.kind(),
                )
            })
            .collect();
        let stored: Vec<Value> = kinds
            .into_iter()
            .flat_map(|(version, kind)| {
                server.all_like(&object(version, kind, "default", "x", &json!({})))
            })
            .filter(|object| object["metadata"]["name"] != "kube-root-ca.crt")
            .collect();
        names(&stored) == names(&wanted)
    };
    let first = rendered(&out);
    flux.wait(&server, "the first manifests", chart, |server| {
        is_as_rendered(server, &first)
    });
    let values = folder.join("environment-values/workload-clusters/edge-lyon/values.yaml");
    replace(
        &values,
        "ubuntu-noble-plain-kubeadm-1-31-8",
        "opensuse-15-6-plain-kubeadm-1-31-8",
    );
    render(folder);
    let second = rendered(&out);
    // docs/providers.md: a template that is replaced stays, for machines were made from it.
    let both: Vec<Object> = first.iter().chain(&second).cloned().collect();
    let is_new = |object: &&Object| first.iter().all(|known| known.name() != object.name());
    assert_eq!(
        second.iter().filter(is_new).count(),
        2,
        "one a pool of the cluster"
    );
    flux.push(&mut server, "flux-system", folder);
    flux.wait(&server, "the manifests after a change", chart, |server| {
        is_as_rendered(server, &both)
    });
}
