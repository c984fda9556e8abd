//! Bundles to registries and back: the same bytes, by their digests, with their origin.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use oci_artifacts::Digest;
use serde_json::{Value, json};

use super::{ends, exists, files, manifests, refusal, set_mode};
use crate::git::git;
use crate::support::distribution::{Distribution, Pushed, USER};
use crate::support::layout::LayoutWriter;
use crate::support::registry::{Registry, Reply};
use crate::support::stage::{Stage, project};
use crate::support::{Metalmark, Outcome, rounds};

/// A project that says of a registry what is special of it, with a folder of a text, a program and what is no text.
fn site(host: &str, setting: &str) -> Stage {
    let file = format!("version: 1\nregistries: {{hosts: {{\"{host}\": {{{setting}}}}}}}\n");
    let stage = project().files(&[
        ("metalmark.yaml", &file),
        ("in/apps/web.yaml", "kind: Web\n"),
        ("in/run.sh", "#!/bin/sh\n"),
    ]);
    stage.write("in/image.bin", [0, 159, 146, 150]);
    set_mode(&stage.path().join("in/run.sh"), 0o755);
    stage
}

const PLAIN: &str = "plain-http: true";

/// What a run of `bundle` prints that has nothing to complain of.
fn clean(stage: &Stage, args: &str) -> String {
    run_with(stage, args, &[]).stdout
}

fn run_with(stage: &Stage, args: &str, variables: &[(&str, &str)]) -> Outcome {
    let args = std::iter::once("bundle").chain(args.split_whitespace());
    let path = std::env::var("PATH").unwrap_or_default();
    let run = Metalmark::within(stage.path()).args(args);
    let outcome = run.envs(&[("PATH", &path)]).envs(variables).run();
    let reported = format!("{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.status, 0, "{reported}");
    outcome
}

/// Pushes the folder and pulls it again; the digest.
fn there_and_back(stage: &Stage, host: &str, variables: &[(&str, &str)]) -> String {
    let run = |args: String| run_with(stage, &args, variables).stdout;
    let to = format!("oci://{host}/group/tree:1");
    let pushed = run(format!("push in {to} --tag stable"));
    let digest = pushed.trim().to_owned();
    let again: Value =
        serde_json::from_str(&run(format!("push in {to} --output json"))).expect("JSON");
    let expected = json!([0, true, format!("{to}@{digest}")]);
    assert_eq!(
        json!([again["sent"], again["unchanged"], again["reference"]]),
        expected
    );
    run(format!("pull oci://{host}/group/tree:stable@{digest} out"));
    assert_eq!(files(stage, "in"), files(stage, "out"));
    let is_executable = |path: &str| {
        let file = fs::metadata(stage.path().join(path)).expect("there");
        file.permissions().mode() & 0o111 != 0
    };
    assert!(is_executable("out/run.sh") && !is_executable("out/apps/web.yaml"));
    digest
}

#[test]
fn what_is_pushed_is_pulled_to_the_byte() {
    let registry = Registry::plain();
    let stage = site(&registry.host(), PLAIN);
    let digest = there_and_back(&stage, &registry.host(), &[]);
    // Another machine, another day: only names and content count.
    let other = site(&registry.host(), PLAIN);
    let push = format!("push in oci://{}/group/other:2", registry.host());
    assert_eq!(clean(&other, &push).trim(), digest);
    let dated = run_with(&other, &push, &[("SOURCE_DATE_EPOCH", "1700000000")]);
    assert_ne!(dated.stdout.trim(), digest);
}

#[test]
fn the_distribution_registry_keeps_it_too() {
    if let Some(registry) = Distribution::with_password() {
        let stage = site(&registry.host(), PLAIN);
        let auth = json!({"username": USER.0, "password": USER.1});
        let auth = json!({"auths": {registry.host(): auth}});
        stage.write("auth.json", auth.to_string());
        let file = stage.path().join("auth.json");
        let variables = [("REGISTRY_AUTH_FILE", &*file.to_string_lossy())];
        there_and_back(&stage, &registry.host(), &variables);
    }
    if let Some(registry) = Distribution::over_tls() {
        let ca = format!("ca: {}", registry.certificate().display());
        let stage = site(&registry.host(), &ca);
        there_and_back(&stage, &registry.host(), &[]);
    }
}

#[test]
fn a_tag_is_pulled_where_the_lock_knows_it_or_it_is_allowed() {
    let registry = Registry::plain();
    let stage = site(&registry.host(), PLAIN);
    manifests(&stage, "app");
    let to = format!("oci://{}/group/app:1", registry.host());
    let push = format!("push app {to} --kind plain --namespace app");
    let digest = clean(&stage, &push);
    let digest = digest.trim();
    let reported = refusal(&stage, &format!("pull {to} out"), "bundle-unpinned");
    assert!(reported.contains(digest), "{reported}");
    assert!(!exists(&stage, "out"));
    let allowed = run_with(&stage, &format!("pull {to} allowed --allow-tag"), &[]).stderr;
    assert!(allowed.contains(digest), "{allowed}");
    let lock = format!(
        "version: 1\nimages:\n\n- key: app\n  reference: {to}\n  digest: {digest}\n  facts: {{}}\n"
    );
    stage.write("metalmark.lock", &lock);
    clean(&stage, &format!("pull {to} out"));
    assert_eq!(files(&stage, "out"), files(&stage, "allowed"));
    // The tag moves, and what the lock knows is had all the same.
    let more = "apiVersion: v1\nkind: Namespace\nmetadata: {name: more}\n";
    stage.write("app/more.yaml", more);
    assert_ne!(clean(&stage, &push).trim(), digest);
    clean(&stage, &format!("pull {to} locked"));
    assert_eq!(files(&stage, "locked"), files(&stage, "allowed"));
}

#[test]
fn the_commit_is_reported_and_not_the_way_to_it() {
    let registry = Registry::plain();
    let stage = site(&registry.host(), PLAIN);
    let Some(stage) = stage.commit("x") else {
        return;
    };
    let git = |arguments: &str| {
        let words: Vec<&str> = arguments.split(' ').collect();
        git(stage.path(), &words)
    };
    git("remote add origin git@git.example:group/repo.git");
    let push = format!("push in oci://{}/group/tree:1", registry.host());
    let annotations = || {
        let (_, bytes) = registry.manifest_at("group/tree", "1").expect("pushed");
        let manifest: Value = serde_json::from_slice(&bytes).expect("JSON");
        manifest["annotations"].clone()
    };
    let key = |name: &str| annotations()[format!("org.opencontainers.image.{name}")].clone();
    let digest = clean(&stage, &push);
    assert_eq!(key("source"), "https://git.example/group/repo");
    assert_eq!(key("revision"), format!("sha1:{}", git("rev-parse HEAD")));
    let when: u64 = git("log -1 --format=%ct").parse().expect("a number");
    let date = metalmark::model::date::Date::from_unix(when).to_string();
    let created = key("created");
    let created = created.as_str().expect("a text");
    assert!(created.starts_with(&date), "{created}");
    // Another branch and another way to the server are the same commit.
    git("checkout -qb other");
    git("remote set-url origin https://me:secret@git.example/group/repo");
    assert_eq!(clean(&stage, &push), digest);
    stage.write("in/new", "x");
    let changed = run_with(&stage, &push, &[]).stderr;
    assert!(changed.contains("uncommitted changes"), "{changed}");
    assert_eq!(key("revision"), Value::Null);
    let by_hand = "--revision main@sha1:abc --annotation a=b --no-provenance";
    clean(&stage, &format!("{push} {by_hand}"));
    let said = json!([annotations()["a"], key("source"), key("revision")]);
    assert_eq!(said, json!(["b", null, "main@sha1:abc"]));
}

#[test]
fn a_mirrored_registry_is_not_pushed_to() {
    let (registry, mirror) = (Registry::plain(), Registry::plain());
    let stage = site(&registry.host(), PLAIN);
    let text = format!(
        "version: 1\nregistries:\n  hosts: {{\"{0}\": {{plain-http: true}}, \"{1}\": {{plain-http: true}}}}\n  mirrors: {{\"{0}/group\": \"{1}/copies\"}}\n",
        registry.host(),
        mirror.host()
    );
    stage.write("metalmark.yaml", &text);
    let push = format!("push in oci://{}/group/tree:1", registry.host());
    let reported = ends(&stage, 2, &push).stderr;
    let advice = format!("push to `oci://{}/copies/tree:1`", mirror.host());
    assert!(reported.contains(&advice), "{reported}");
    assert_eq!((registry.count(), mirror.count()), (0, 0));
}

/// What is shorter or longer than promised is refused by the same reader, after pauses: see `registry::copy`.
#[test]
fn what_a_registry_changed_is_not_pulled() {
    let registry = Registry::plain();
    let stage = site(&registry.host(), PLAIN);
    let name = format!("oci://{}/group/tree", registry.host());
    let digest = clean(&stage, &format!("push in {name}:1"));
    let digest = digest.trim();
    let (_, manifest) = registry.manifest_at("group/tree", digest).expect("pushed");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    let layer = manifest["layers"][0]["digest"].as_str().expect("text");
    let layer = Digest::parse(layer).expect("a digest");
    let mut altered = registry.stored(&layer).expect("stored");
    *altered.last_mut().expect("bytes") ^= 1;
    registry.hook(move |request, _| {
        let is_blob = request.method == "GET" && request.path.contains("/blobs/");
        is_blob.then(|| Reply::new(200, altered.clone()))
    });
    let reported = ends(&stage, 2, &format!("pull {name}@{digest} out")).stderr;
    assert!(reported.contains("not the requested digest"), "{reported}");
    assert!(!exists(&stage, "out"));
}

#[test]
fn an_image_layout_is_pushed_to_the_byte_with_all_that_its_index_names() {
    let registry = Registry::plain();
    let stage = site(&registry.host(), PLAIN);
    let mut layout = LayoutWriter::new(&stage.path().join("l"));
    let amd = layout.image(None, &[("a", "amd64")]);
    let arm = layout.image(None, &[("a", "arm64")]);
    let index = layout.index(Some("both"), &[("amd64", &amd), ("arm64", &arm)]);
    let push = format!(
        "push oci-layout:l:both oci://{}/group/both:1",
        registry.host()
    );
    assert_eq!(clean(&stage, &push).trim(), index.as_str());
    for digest in [&index, &amd, &arm] {
        let stored = registry.manifest_at("group/both", digest.as_str());
        assert!(digest.is_of(&stored.expect("pushed").1));
    }
    fs::remove_file(layout.file(&arm)).expect("removed");
    ends(&stage, 2, &push);
}

#[test]
fn what_is_large_goes_there_and_back_in_little_memory() {
    let Some(registry) = Distribution::open() else {
        return;
    };
    let stage = site(&registry.host(), PLAIN);
    let size = rounds(16, 200) << 20;
    let mut layout = LayoutWriter::new(&stage.path().join("l"));
    let layer = layout.blob("application/vnd.oci.image.layer.v1.tar", &tar("big", size));
    let digest = layout.manifest(Some("1"), json!({"layers": [layer]}));
    let name = format!("oci://{}/group/big", registry.host());
    super::large::assert_small(&stage, &format!("bundle push oci-layout:l:1 {name}:1"));
    super::large::assert_small(&stage, &format!("bundle pull {name}@{digest} out"));
    let pulled = fs::metadata(stage.path().join("out/big")).expect("there");
    assert_eq!(pulled.len(), size);
}

/// An archive of one file of zeros.
fn tar(name: &str, size: u64) -> Vec<u8> {
    let mut header = [0; 512];
    let mut put =
        |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{size:011o}\0"));
    put(136, "00000000000\0");
    put(148, "        0");
    put(257, "ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut archive = header.to_vec();
    archive.resize(
        512 + usize::try_from(size.next_multiple_of(512)).expect("fits") + 1024,
        0,
    );
    archive
}
