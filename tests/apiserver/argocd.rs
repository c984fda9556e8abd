//! What is rendered for Argo CD, synced by its own repo-server and controllers: objects are stored as they were rendered, a chart
//! gets the values that were rendered, the plugin generates what the command renders, and what is gone is pruned or kept as
//! documented. `METALMARK_ARGOCD` names Argo CD's programs in one.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use super::argocd_controller::{ArgoCd, address, application};
use super::demo::{
    NAMESPACES, chart, demo, render, render_another_image, render_without_a_cluster, seen, stored,
};
use super::golden::{lost, objects_of};
use super::objects::{Object, object, values};
use super::server::{Server, own_server};
use crate::support::copy_into;
use crate::support::stage::Stage;

/// The server, and Argo CD. None where a program is missing.
fn start() -> Option<(Server, ArgoCd)> {
    let mut server = own_server()?;
    let argocd = ArgoCd::start(&mut server)?;
    Some((server, argocd))
}

/// Checks that an Application has exactly these objects on the server, as they were rendered, beside what its chart makes.
fn assert_stored(server: &Server, app: &str, wanted: &[Object]) {
    let owner = format!("{app}:");
    let mut stored = stored(server, wanted);
    stored.retain(|title, object| {
        let id = &object["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"];
        let is_own = id.as_str().is_some_and(|id| id.starts_with(&owner));
        is_own && !title.ends_with("/values-seen")
    });
    let wanted: BTreeMap<String, &Object> = wanted.iter().map(|it| (it.title(), it)).collect();
    assert!(stored.keys().eq(wanted.keys()), "{stored:?}");
    for (title, object) in wanted {
        let found = lost(&object.json, &stored[&title], "");
        assert!(found.is_empty(), "{title}: {found:?}");
    }
}

/// The demo for Argo CD with the chart, which is in the same repository.
fn demo_with_chart(server: &Server, more: &str) -> Stage {
    let demo = demo(&format!(
        "outputs:\n  - {{target: argocd, path: out, repo-url: REPOSITORY, server: SERVER{more}}}\n"
    ));
    let text = demo.read("metalmark.yaml");
    let text = text.replace("REPOSITORY", &address(demo.path()));
    demo.write(
        "metalmark.yaml",
        text.replace("SERVER", server.connection().0),
    );
    copy_into(
        chart().path(),
        &demo.path().join("charts/sylva-capi-cluster"),
    );
    demo
}

/// The objects of a kind.
fn of_kind<'o>(objects: &'o [Object], kind: &str) -> Vec<&'o Object> {
    let all = objects.iter();
    all.filter(|object| object.kind() == kind).collect()
}

/// The values of each Application by the namespace that it deploys to.
fn given(objects: &[Object]) -> BTreeMap<&str, &Value> {
    let apps = of_kind(objects, "Application").into_iter();
    apps.map(|app| {
        let spec = &app.json["spec"];
        let namespace = spec["destination"]["namespace"].as_str();
        let values = &spec["source"]["helm"]["valuesObject"];
        (namespace.expect("a namespace"), values)
    })
    .collect()
}

#[test]
fn argocd_syncs_rendered_manifests_and_keeps_the_templates_that_machines_were_made_from() {
    let Some((mut server, argocd)) = start() else {
        return;
    };
    let outputs = "outputs:\n  - {target: manifests, path: \"out/{{ cluster.name }}\"}\n";
    let shared = "  - {target: configmap, path: out/shared}\n";
    let demo = demo(&format!("{outputs}{shared}"));
    let (folder, out) = (demo.path(), demo.path().join("out"));
    render(&demo);
    let first = objects_of(&out);
    server.prepare(&first);
    let revision = argocd.push(&server, folder);
    let source = json!({"path": "out", "directory": {"recurse": true}});
    argocd.deploy(&mut server, "fleet", folder, source);
    argocd.wait_synced(&server, "fleet", &revision);
    assert_stored(&server, "fleet", &first);

    // Once more: not even a version changes.
    let before = stored(&server, &first);
    argocd.sync(&server, "fleet", "again");
    assert_eq!(stored(&server, &first), before);

    // docs/providers.md: a template that is replaced stays, for machines were made from it, and the Application is synced.
    render_another_image(&demo);
    let second = objects_of(&out);
    let is_new = |object: &&Object| first.iter().all(|known| known.name() != object.name());
    assert_eq!(
        second.iter().filter(is_new).count(),
        2,
        "one a pool of the cluster"
    );
    let revision = argocd.push(&server, folder);
    argocd.wait_synced(&server, "fleet", &revision);
    let both = [first, second].concat();
    assert_stored(&server, "fleet", &both);

    // What machines do not need is pruned.
    demo.edit("metalmark.yaml", shared, "");
    fs::remove_dir_all(out.join("shared")).expect("removed");
    render_without_a_cluster(&demo);
    let revision = argocd.push(&server, folder);
    argocd.wait_synced(&server, "fleet", &revision);
    let kept = both.iter().filter(|object| object.kind() != "ConfigMap");
    assert_stored(&server, "fleet", &kept.cloned().collect::<Vec<_>>());
    let [images] = of_kind(&both, "ConfigMap")[..1] else {
        panic!("no ConfigMap");
    };
    assert_eq!(server.get(images).status, 404);
}

#[test]
fn argocd_gives_each_chart_the_values_that_were_rendered() {
    let Some((mut server, argocd)) = start() else {
        return;
    };
    let demo = demo_with_chart(&server, "");
    let (folder, out) = (demo.path(), demo.path().join("out"));
    render(&demo);
    let first = objects_of(&out);
    server.prepare(&first);
    let revision = argocd.push(&server, folder);
    argocd.deploy(&mut server, "fleet", folder, json!({"path": "out"}));
    argocd.wait_synced(&server, "fleet", &revision);
    assert_stored(&server, "fleet", &first);
    let apps = of_kind(&first, "Application");
    assert_eq!(apps.len(), NAMESPACES.len());
    for app in &apps {
        argocd.sync(&server, app.name(), "first");
        argocd.wait_synced(&server, app.name(), &revision);
    }
    for (namespace, values) in given(&first) {
        assert_eq!(seen(&server, namespace).as_ref(), Some(values));
    }

    // Once more: not even a version changes.
    let others = first.iter().filter(|object| object.kind() != "Application");
    let others: Vec<Object> = others.cloned().collect();
    let before = stored(&server, &others);
    for app in apps.iter().map(|app| app.name()).chain(["fleet"]) {
        argocd.sync(&server, app, "again");
    }
    assert_eq!(stored(&server, &others), before);

    // Another image.
    render_another_image(&demo);
    let second = objects_of(&out);
    let changed = given(&second)["edge-lyon"].clone();
    assert_ne!(given(&first)["edge-lyon"], &changed);
    let revision = argocd.push(&server, folder);
    argocd.wait_synced(&server, "fleet", &revision);
    argocd.sync(&server, "edge-lyon", "second");
    assert_eq!(seen(&server, "edge-lyon"), Some(changed));

    // A cluster that is gone: its Application is pruned. What that installed stays, for it has no finalizer.
    render_without_a_cluster(&demo);
    let revision = argocd.push(&server, folder);
    argocd.wait_synced(&server, "fleet", &revision);
    let gone = application("lab-7", &json!({}));
    assert_eq!(server.get(&gone).status, 404);
    assert_eq!(
        seen(&server, "lab-7").as_ref(),
        Some(given(&first)["lab-7"])
    );
    let templates = of_kind(&first, "Metal3MachineTemplate").into_iter();
    for template in templates.filter(|template| template.namespace() == "lab-7") {
        assert_eq!(server.get(template).status, 200, "{}", template.title());
    }
}

#[test]
fn argocd_makes_an_application_of_each_cluster_from_a_rendered_set() {
    let Some((mut server, argocd)) = start() else {
        return;
    };
    let more = ", applicationset: true, rendered-repo-url: REPOSITORY";
    let demo = demo_with_chart(&server, more);
    let (folder, out) = (demo.path(), demo.path().join("out"));
    render(&demo);
    server.prepare(&objects_of(&out));
    let revision = argocd.push(&server, folder);
    argocd.deploy(&mut server, "fleet", folder, json!({"path": "out"}));
    argocd.wait_synced(&server, "fleet", &revision);
    for name in ["edge-lyon", "edge-paris", "lab-7", "mgmt"] {
        argocd.wait(&server, &format!("{name} is made"), |server| {
            server.get(&application(name, &json!({}))).is_ok()
        });
        argocd.sync(&server, name, "first");
        assert_stored(&server, name, &objects_of(&out.join(name).join("objects")));
        let text = fs::read_to_string(out.join(name).join("cluster.yaml")).expect("text");
        let cluster = values(&text);
        let namespace = cluster["namespace"].as_str().expect("a namespace");
        assert_eq!(seen(&server, namespace).as_ref(), Some(&cluster["values"]));
    }

    // A cluster that is gone: the set deletes its Application, which has a finalizer, with all that it installed. The test
    // does what the garbage collector would do.
    let mut installed = objects_of(&out.join("lab-7/objects"));
    installed.push(object(
        "v1",
        "ConfigMap",
        "lab-7",
        "values-seen",
        &json!({}),
    ));
    render_without_a_cluster(&demo);
    argocd.push(&server, folder);
    argocd.wait(&server, "the removed cluster", |server| {
        let left = installed.iter().filter(|object| {
            let reply = server.get(object);
            if reply.body["metadata"]["deletionTimestamp"].is_string() {
                server.merge(object, &json!({"metadata": {"finalizers": null}}));
            }
            reply.status != 404
        });
        left.count() == 0
    });
}

#[test]
fn argocd_syncs_what_the_plugin_generates() {
    let Some((mut server, argocd)) = start() else {
        return;
    };
    let demo = demo("outputs:\n  - {target: manifests, path: \"out/{{ cluster.name }}\"}\n");
    let folder = demo.path();
    // Nothing rendered is in the repository.
    let rendered = || {
        render(&demo);
        let objects = objects_of(&folder.join("out/edge-lyon"));
        fs::remove_dir_all(folder.join("out")).expect("removed");
        objects
    };
    let first = rendered();
    server.prepare(&first);
    let revision = argocd.push(&server, folder);
    let source = json!({"path": ".", "plugin": {"name": "metalmark"}});
    argocd.deploy(&mut server, "edge-lyon", folder, source);
    argocd.wait_synced(&server, "edge-lyon", &revision);
    assert_stored(&server, "edge-lyon", &first);
    let before = stored(&server, &first);
    argocd.sync(&server, "edge-lyon", "again");
    assert_eq!(stored(&server, &first), before);

    // Findings are shown, and nothing changes.
    let file = "environment-values/workload-clusters/edge-lyon/values.yaml";
    let text = demo.read(file);
    demo.write(file, "cluster: [\n");
    argocd.push(&server, folder);
    argocd.wait(&server, "the finding is shown", |server| {
        let app = server.get(&application("edge-lyon", &json!({}))).body;
        let conditions = app["status"]["conditions"].to_string();
        conditions.contains("ComparisonError") && conditions.contains("error[yaml-syntax]")
    });
    assert_eq!(stored(&server, &first), before);

    // Another image.
    demo.write(file, text);
    render_another_image(&demo);
    let second = rendered();
    let revision = argocd.push(&server, folder);
    argocd.wait_synced(&server, "edge-lyon", &revision);
    assert_stored(&server, "edge-lyon", &[first, second].concat());
}
