//! What is rendered for Flux, reconciled by its own controllers: values arrive as they were rendered, a change is rolled out, and
//! what is gone is pruned or kept as documented. `METALMARK_KUSTOMIZE_CONTROLLER` and `METALMARK_HELM_CONTROLLER` name the programs.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::demo::{
    NAMESPACES, chart, demo, render, render_another_image, render_without_a_cluster, seen, stored,
};
use super::flux_controllers::Flux;
use super::golden::objects_of;
use super::objects::{Object, object, values};
use super::server::{Server, own_server};

/// The values that the rendered files give to a HelmRelease: those of its ConfigMap, and its own over them.
fn given(folder: &Path, namespace: &str) -> Value {
    let objects = objects_of(folder);
    let of = |kind: &str| {
        let mut all = objects.iter();
        all.find(|object| object.kind() == kind && object.namespace() == namespace)
            .unwrap_or_else(|| panic!("no {kind} in {namespace}"))
    };
    let text = of("ConfigMap").json["data"]["values.yaml"].as_str();
    let mut values = values(text.expect("values"));
    let own = of("HelmRelease").json["spec"]["values"]
        .as_object()
        .cloned();
    for (key, value) in own.unwrap_or_default() {
        // The demo's keys are of either one or the other.
        values[key] = value;
    }
    values
}

#[test]
fn flux_gives_each_chart_the_values_that_were_rendered() {
    let Some(mut server) = own_server() else {
        return;
    };
    let Some(flux) = Flux::start(&mut server) else {
        return;
    };
    let (demo, charts) = (demo("outputs:\n  - {target: flux, path: out}\n"), chart());
    let (folder, chart) = (demo.path(), charts.path());
    render(&demo);
    server.prepare(&objects_of(&folder.join("out")));
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
    let before = given(&out, "edge-lyon");
    render_another_image(&demo);
    assert_ne!(given(&out, "edge-lyon"), before);
    flux.push(&mut server, "flux-system", folder);
    flux.wait(&server, "the values after a change", chart, |server| {
        arrived(&out, &NAMESPACES, server)
    });
    // A cluster that is gone.
    render_without_a_cluster(&demo);
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
    render(&demo);
    server.prepare(&objects_of(&out));
    flux.push(&mut server, "flux-system", folder);
    flux.reconcile(&mut server, "fleet", "flux-system", "./out");
    // The objects of the kinds that are rendered, by name: exactly those of the files.
    let is_as_rendered = |server: &Server, rendered: &[Object]| {
        let wanted: BTreeSet<String> = rendered.iter().map(Object::title).collect();
        stored(server, rendered)
            .into_keys()
            .collect::<BTreeSet<_>>()
            == wanted
    };
    let first = objects_of(&out);
    flux.wait(&server, "the first manifests", chart, |server| {
        is_as_rendered(server, &first)
    });
    render_another_image(&demo);
    let second = objects_of(&out);
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
