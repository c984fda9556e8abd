//! Component bundles from the values to a machine: locked, rendered, fetched and installed; and decoupled from the OS image.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use metalmark::model::component::annotation;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

use super::programs;
use super::support::registry::{Lock, MANIFEST, Registry};
use super::support::{Metalmark, Outcome, copy_of, repository};

/// What a run in a folder came to, which is meant to go well.
fn run(folder: &Path, args: &[&str]) -> Outcome {
    let outcome = Metalmark::within(folder).args(args.iter().copied()).run();
    assert_eq!(
        outcome.status, 0,
        "{args:?}: {}{}",
        outcome.stdout, outcome.stderr
    );
    outcome
}

/// The names of the objects that a project renders, with each one's annotation and first data, by kind and cluster.
fn objects(folder: &Path) -> Vec<(String, String, String)> {
    let text = run(folder, &["render", "--stdout"]).stdout;
    let read = yaml_tree::read(&text, FileId(0), Engine::Kubectl).expect("YAML");
    let object = |object: &yaml_tree::value::Node| {
        let text = |path: &[&str]| {
            let text = object.get_path(path).and_then(|node| node.value.as_str());
            text.map(|text| text.to_string()).unwrap_or_default()
        };
        let script = text(&["stringData", "install-components.sh"]);
        (text(&["kind"]), text(&["metadata", "name"]), script)
    };
    read.documents.iter().map(object).collect()
}

fn names(folder: &Path, kind: &str, containing: &str) -> Vec<String> {
    let all = objects(folder).into_iter();
    let found = all.filter(|(own, name, _)| own == kind && name.contains(containing));
    found.map(|(_, name, _)| name).collect()
}

fn replace(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).expect("text");
    assert!(text.contains(from), "{from}");
    fs::write(file, text.replace(from, to)).expect("written");
}

#[test]
fn a_new_bundle_renames_no_machine_template_and_a_new_image_no_bundle() {
    let scratch = copy_of(&repository().join("fixtures/workspaces/elemental"));
    let folder = scratch.path();
    let both = || {
        let secrets = names(folder, "Secret", "-components-");
        (names(folder, "ElementalMachineTemplate", ""), secrets)
    };
    let (templates, secrets) = both();
    assert_eq!((templates.len(), secrets.len()), (4, 4));
    let lock = folder.join("metalmark.lock");
    // As `metalmark lock --upgrade` would write it for a bundle of other bytes.
    let tarball = "17eed95025dc9bd8aa92aa7f874216195c0b30c2ae4ebeb40ff3d5a50084836f";
    replace(&lock, tarball, &"0".repeat(64));
    replace(&lock, "b2a67ca0", "00000000");
    let (same, new_secrets) = both();
    assert_eq!(same, templates);
    let changed: Vec<bool> = secrets
        .iter()
        .zip(&new_secrets)
        .map(|(a, b)| a != b)
        .collect();
    assert_eq!(changed, [true, true, false, false]);
    replace(&lock, "3c0e1c44", "00000000");
    let (new_templates, same) = both();
    assert_eq!(same, new_secrets);
    assert!(new_templates.iter().zip(&templates).all(|(a, b)| a != b));
}

#[test]
fn the_literal_field_is_reported_and_does_not_count_in_the_name() {
    let scratch = copy_of(&repository().join("fixtures/workspaces/elemental"));
    let before = names(scratch.path(), "ElementalMachineTemplate", "");
    replace(
        &scratch.path().join("metalmark.yaml"),
        "[secret, annotation]",
        "field",
    );
    let outcome = run(scratch.path(), &["render", "--stdout"]);
    assert!(
        outcome.stderr.contains("has no field `componentsBundle`"),
        "{}",
        outcome.stderr
    );
    let field = "componentsBundle: registry.example.org/components/rke2:v1.31.8-1@sha256:";
    assert!(outcome.stdout.contains(field));
    assert_eq!(
        names(scratch.path(), "ElementalMachineTemplate", ""),
        before
    );
}

#[test]
fn the_fixtures_lock_is_what_its_registry_says() {
    let scratch = copy_of(&repository().join("fixtures/workspaces/elemental"));
    let before = fs::read_to_string(scratch.path().join("metalmark.lock")).expect("a lock");
    run(scratch.path(), &["lock", "--upgrade"]);
    let after = fs::read_to_string(scratch.path().join("metalmark.lock")).expect("a lock");
    assert_eq!(after, before);
    run(scratch.path(), &["lock", "--check"]);
    run(scratch.path(), &["check", "--frozen"]);
    // Its layers lie nowhere, as nobody who locks needs them.
    let verified = Metalmark::within(scratch.path()).args(["verify"]).run();
    assert!(
        !verified.stdout.contains("fact-conflict"),
        "{}",
        verified.stdout
    );
}

/// A tarball with an installer that writes down what it is given.
fn tarball(folder: &Path) -> Option<Vec<u8>> {
    let root = folder.join("bundle");
    fs::create_dir(&root).expect("created");
    let installer = "#!/bin/sh\nprintf '%s|%s\\n' \"$WHAT\" \"$WHERE\" >>\"$OUT\"\n";
    fs::write(root.join("install.sh"), installer).expect("written");
    let script = "chmod 755 bundle/install.sh && tar -C bundle -czf - .";
    let packed = Command::new("sh")
        .current_dir(folder)
        .args(["-c", script])
        .output();
    packed
        .ok()
        .filter(|it| it.status.success())
        .map(|it| it.stdout)
}

fn has_tools() -> bool {
    let mut tools = ["curl", "sha256sum", "tar", "mktemp"].into_iter();
    tools.all(|tool| programs::find(tool).is_some())
}

/// A bundle in a registry that wants a token, locked and rendered; the script that machines are given, its state in the folder.
fn script(registry: &Registry, folder: &Path, bytes: &[u8]) -> String {
    let digest = registry.blob(bytes);
    let annotations: BTreeMap<&str, &str> = [
        (annotation::K8S_VERSION, "1.31.8"),
        (annotation::ENV_REQUIRED, "OUT,WHAT,WHERE"),
    ]
    .into();
    let manifest = serde_json::json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": registry.blob(b"{}").as_str(), "size": 2},
        "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": digest.as_str(), "size": bytes.len()}],
        "annotations": annotations,
    });
    registry.put(
        "components/k8s",
        "1",
        MANIFEST,
        manifest.to_string().as_bytes(),
    );
    let host = registry.host();
    let project = format!(
        "version: 1\nclusters: [{{name: edge-1, values: [values.yaml]}}]\nregistries: {{hosts: {{'{host}': {{plain-http: true}}}}}}\n\
         images: {{url: 'oci://r.example/os:1'}}\noutputs: [{{target: manifests, path: out}}]\n"
    );
    fs::write(folder.join("metalmark.yaml"), project).expect("written");
    let out = folder.join("installed.txt");
    let values = format!(
        "component_bundles:\n  k8s: {{uri: 'oci://{host}/components/k8s:1', env: {{OUT: '{}', WHERE: here}}}}\n\
         cluster:\n  k8s_version: v1.31.8\n  capi_providers: {{infra_provider: elemental, bootstrap_provider: cabpk}}\n  \
         control_plane_replicas: 1\n  elemental: {{machine_image_url: 'oci://r.example/os@sha256:{}', machine_image_format: container, component_bundle_key: k8s, component_bundle_env: {{WHAT: \"it's $(id)\"}}}}\n",
        out.display(),
        "0".repeat(64),
    );
    fs::write(folder.join("values.yaml"), values).expect("written");
    let locked = Metalmark::within(folder).args(["lock"]).run();
    assert!(
        locked.stdout.contains("added   k8s"),
        "{}{}",
        locked.stdout,
        locked.stderr
    );
    let all = objects(folder);
    let (_, _, script) = all
        .iter()
        .find(|(kind, ..)| kind == "Secret")
        .expect("a Secret");
    let state = format!("state='{}'", folder.join("state").display());
    let script = script.replace("state=/var/lib/component-bundle", &state);
    let script = script.replace("[FOLDER]", &folder.to_string_lossy());
    // The test's registry speaks no TLS.
    script.replace(&format!("https://{host}"), &format!("http://{host}"))
}

fn sh(script: &str) -> Output {
    let output = Command::new("sh")
        .args(["-c", script])
        .env("HOME", "/nonexistent")
        .output();
    output.expect("a shell")
}

#[test]
fn a_machine_installs_the_bundle_once_and_nothing_but_its_bytes() {
    if !has_tools() {
        return;
    }
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    let registry = Registry::plain();
    registry.lock(Lock::Bearer {
        realm: None,
        password: None,
        identity: None,
        life: 300,
    });
    let bytes = tarball(folder).expect("tar");
    let script = script(&registry, folder, &bytes);
    for _ in 0..2 {
        let output = sh(&script);
        let reported = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{reported}\n{script}");
    }
    let installed = fs::read_to_string(folder.join("installed.txt")).expect("installed");
    assert_eq!(
        installed, "it's $(id)|here\n",
        "once, its variables unread by the shell"
    );
    let left: Vec<_> = fs::read_dir(folder.join("state")).expect("state").collect();
    assert_eq!(left.len(), 1, "only what says that it is done");
    // Other bytes than those that were locked.
    fs::remove_dir_all(folder.join("state")).expect("removed");
    let digest = oci_artifacts::Digest::compute(&bytes);
    registry.hook(move |request, _| {
        let is_blob = request.path.ends_with(digest.as_str());
        is_blob.then(|| super::support::registry::Reply::new(200, b"other bytes".to_vec()))
    });
    assert!(!sh(&script).status.success());
    let still = fs::read_to_string(folder.join("installed.txt")).expect("installed");
    assert_eq!(still, installed);
}
