//! Bundles to registries and back: the same bytes, by their digests, with their origin.

use std::fs;
use std::path::Path;
use std::process::Command;

use oci_artifacts::Digest;
use serde_json::Value;

use super::{files, manifests, refused, write};
use crate::support::distribution::{Distribution, Pushed, USER};
use crate::support::layout::LayoutWriter;
use crate::support::registry::{Registry, Reply};
use crate::support::{Metalmark, Outcome, rounds};

/// A project file that says of a registry what is special of it.
fn project(folder: &Path, host: &str, setting: &str) {
    let text = format!("version: 1\nregistries: {{hosts: {{\"{host}\": {{{setting}}}}}}}\n");
    write(folder, "metalmark.yaml", &text);
}

/// A folder with a text, a program and what is no text.
fn tree(folder: &Path) {
    write(folder, "apps/web.yaml", "kind: Web\n");
    write(folder, "run.sh", "#!/bin/sh\n");
    fs::write(folder.join("image.bin"), [0, 159, 146, 150]).expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.join("run.sh"), mode).expect("set");
}

/// A run of `bundle` without a finding; SOURCE and others in `{…}` are put in.
fn clean(folder: &Path, args: &str) -> Outcome {
    with(folder, args, &[])
}

fn with(folder: &Path, args: &str, variables: &[(&str, &str)]) -> Outcome {
    let args = std::iter::once("bundle").chain(args.split_whitespace());
    let path = std::env::var("PATH").unwrap_or_default();
    let run = Metalmark::within(folder)
        .args(args)
        .envs(&[("PATH", &path)]);
    let outcome = run.envs(variables).run();
    let reported = format!("{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.status, 0, "{reported}");
    outcome
}

fn there_and_back(folder: &Path, host: &str, variables: &[(&str, &str)]) -> String {
    tree(&folder.join("in"));
    let to = format!("oci://{host}/group/tree:1");
    let pushed = with(folder, &format!("push in {to} --tag stable"), variables);
    let digest = pushed.stdout.trim().to_owned();
    let again = with(folder, &format!("push in {to} --output json"), variables);
    let reported: serde_json::Value = serde_json::from_str(&again.stdout).expect("JSON");
    assert_eq!(
        (&reported["sent"], &reported["unchanged"]),
        (&0.into(), &true.into())
    );
    assert_eq!(reported["reference"], format!("{to}@{digest}"));
    let pull = format!("pull oci://{host}/group/tree:stable@{digest} out");
    with(folder, &pull, variables);
    assert_eq!(files(&folder.join("in")), files(&folder.join("out")));
    let runs = |path: &str| {
        let metadata = fs::metadata(folder.join(path)).expect("there");
        std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
    };
    assert!(runs("out/run.sh") && !runs("out/apps/web.yaml"));
    digest
}

#[test]
fn what_is_pushed_is_pulled_to_the_byte() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    let registry = Registry::plain();
    project(folder, &registry.host(), "plain-http: true");
    let digest = there_and_back(folder, &registry.host(), &[]);
    // Another machine, another day: only names and content count.
    let other = tempfile::tempdir().expect("a folder");
    project(other.path(), &registry.host(), "plain-http: true");
    tree(&other.path().join("elsewhere"));
    let push = format!("push elsewhere oci://{}/group/other:2", registry.host());
    assert_eq!(clean(other.path(), &push).stdout.trim(), digest);
    let dated = with(other.path(), &push, &[("SOURCE_DATE_EPOCH", "1700000000")]);
    assert_ne!(dated.stdout.trim(), digest);
}

#[test]
fn the_distribution_registry_keeps_it_too() {
    let scratch = || tempfile::tempdir().expect("a folder");
    if let Some(registry) = Distribution::open() {
        let folder = scratch();
        project(folder.path(), &registry.host(), "plain-http: true");
        there_and_back(folder.path(), &registry.host(), &[]);
    }
    if let Some(registry) = Distribution::with_password() {
        let folder = scratch();
        project(folder.path(), &registry.host(), "plain-http: true");
        let (user, password) = USER;
        let auth = serde_json::json!({"username": user, "password": password});
        let auth = serde_json::json!({"auths": {registry.host(): auth}});
        write(folder.path(), "auth.json", &auth.to_string());
        let file = folder.path().join("auth.json");
        let file = file.to_string_lossy();
        there_and_back(
            folder.path(),
            &registry.host(),
            &[("REGISTRY_AUTH_FILE", &file)],
        );
    }
    if let Some(registry) = Distribution::over_tls() {
        let folder = scratch();
        let ca = format!("ca: {}", registry.certificate().display());
        project(folder.path(), &registry.host(), &ca);
        there_and_back(folder.path(), &registry.host(), &[]);
    }
}

#[test]
fn a_tag_is_pulled_where_the_lock_knows_it_or_it_is_allowed() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    let registry = Registry::plain();
    project(folder, &registry.host(), "plain-http: true");
    manifests(&folder.join("in"));
    let to = format!("oci://{}/group/app:1", registry.host());
    let push = format!("push in {to} --kind plain --namespace app");
    let digest = clean(folder, &push).stdout;
    let digest = digest.trim();
    let reported = refused(folder, &format!("pull {to} out"), "bundle-unpinned");
    assert!(reported.stderr.contains(digest), "{}", reported.stderr);
    assert!(!folder.join("out").exists());
    let allowed = clean(folder, &format!("pull {to} allowed --allow-tag"));
    assert!(allowed.stderr.contains(digest), "{}", allowed.stderr);
    let lock = format!(
        "version: 1\nimages:\n\n- key: app\n  reference: {to}\n  digest: {digest}\n  facts: {{}}\n"
    );
    write(folder, "metalmark.lock", &lock);
    clean(folder, &format!("pull {to} out"));
    assert_eq!(files(&folder.join("out")), files(&folder.join("allowed")));
    // The tag moves, and what the lock knows is had all the same.
    write(
        folder,
        "in/more.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: more}\n",
    );
    assert_ne!(clean(folder, &push).stdout.trim(), digest);
    clean(folder, &format!("pull {to} locked"));
    assert_eq!(
        files(&folder.join("locked")),
        files(&folder.join("allowed"))
    );
}

#[test]
fn the_commit_is_reported_and_not_the_way_to_it() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    let registry = Registry::plain();
    let git = |arguments: &str| {
        let output = Command::new("git")
            .current_dir(folder)
            .args([
                "-c",
                "user.name=x",
                "-c",
                "user.email=x@x",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(arguments.split(' '))
            .output()
            .expect("git starts");
        assert!(output.status.success(), "{arguments}");
        String::from_utf8(output.stdout)
            .expect("UTF-8")
            .trim()
            .to_owned()
    };
    project(folder, &registry.host(), "plain-http: true");
    tree(&folder.join("in"));
    git("init -q");
    git("remote add origin git@git.example:group/repo.git");
    git("add -A");
    git("commit -qm x");
    let push = format!("push in oci://{}/group/tree:1", registry.host());
    let digest = clean(folder, &push).stdout;
    let annotations = |registry: &Registry| {
        let (_, bytes) = registry.manifest_at("group/tree", "1").expect("pushed");
        let manifest: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        manifest["annotations"].clone()
    };
    let reported = annotations(&registry);
    let key = |name: &str| reported[format!("org.opencontainers.image.{name}")].clone();
    assert_eq!(key("source"), "https://git.example/group/repo");
    assert_eq!(key("revision"), format!("sha1:{}", git("rev-parse HEAD")));
    let when: u64 = git("log -1 --format=%ct").parse().expect("a number");
    let date = metalmark::model::date::Date::from_unix(when).to_string();
    assert!(
        key("created")
            .as_str()
            .is_some_and(|reported| reported.starts_with(&date))
    );
    // Another branch and another way to the server are the same commit.
    git("checkout -qb other");
    git("remote set-url origin https://me:secret@git.example/group/repo");
    assert_eq!(clean(folder, &push).stdout, digest);
    write(folder, "in/new", "x");
    let changed = clean(folder, &push);
    assert!(
        changed.stderr.contains("uncommitted changes"),
        "{}",
        changed.stderr
    );
    assert!(annotations(&registry)["org.opencontainers.image.revision"].is_null());
    clean(
        folder,
        &format!("{push} --revision main@sha1:abc --annotation a=b --no-provenance"),
    );
    let reported = annotations(&registry);
    assert_eq!(
        (&reported["a"], &reported["org.opencontainers.image.source"]),
        (&"b".into(), &serde_json::Value::Null)
    );
    assert_eq!(
        reported["org.opencontainers.image.revision"],
        "main@sha1:abc"
    );
}

#[test]
fn a_mirrored_registry_is_not_pushed_to() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    let (registry, mirror) = (Registry::plain(), Registry::plain());
    let text = format!(
        "version: 1\nregistries:\n  hosts: {{\"{0}\": {{plain-http: true}}, \"{1}\": {{plain-http: true}}}}\n  mirrors: {{\"{0}/group\": \"{1}/copies\"}}\n",
        registry.host(),
        mirror.host()
    );
    write(folder, "metalmark.yaml", &text);
    tree(&folder.join("in"));
    let push = format!("push in oci://{}/group/tree:1", registry.host());
    let reported = super::bundle(folder, &push);
    assert_eq!(reported.status, 2);
    let advice = format!("push to `oci://{}/copies/tree:1`", mirror.host());
    assert!(reported.stderr.contains(&advice), "{}", reported.stderr);
    assert_eq!((registry.count(), mirror.count()), (0, 0));
}

#[test]
fn what_a_registry_changed_is_not_pulled() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    let registry = Registry::plain();
    project(folder, &registry.host(), "plain-http: true");
    tree(&folder.join("in"));
    let name = format!("oci://{}/group/tree", registry.host());
    let digest = clean(folder, &format!("push in {name}:1")).stdout;
    let pushed = Digest::parse(digest.trim()).expect("a digest");
    let (_, manifest) = registry
        .manifest_at("group/tree", pushed.as_str())
        .expect("pushed");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    let layer = &manifest["layers"][0];
    let layer = Digest::parse(layer["digest"].as_str().expect("text")).expect("a digest");
    let mut altered = registry.stored(&layer).expect("stored");
    *altered.last_mut().expect("bytes") ^= 1;
    for (bytes, words) in [
        (b"what nobody pushed".to_vec(), "sent 18 bytes of blob"),
        (altered, "not the requested digest"),
    ] {
        registry.hook(move |request, _| {
            let is_blob = request.method == "GET" && request.path.contains("/blobs/");
            is_blob.then(|| Reply::new(200, bytes.clone()))
        });
        let reported = super::bundle(folder, &format!("pull {name}@{} out", digest.trim()));
        assert_eq!(reported.status, 2);
        assert!(reported.stderr.contains(words), "{}", reported.stderr);
        assert!(!folder.join("out").exists());
    }
}

#[test]
fn an_image_layout_is_pushed_to_the_byte_with_all_that_its_index_names() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    let registry = Registry::plain();
    project(folder, &registry.host(), "plain-http: true");
    let mut layout = LayoutWriter::new(&folder.join("l"));
    let amd = layout.image(None, &[("a", "amd64")]);
    let arm = layout.image(None, &[("a", "arm64")]);
    let index = layout.index(Some("both"), &[("amd64", &amd), ("arm64", &arm)]);
    let to = format!("oci://{}/group/both:1", registry.host());
    let pushed = clean(folder, &format!("push oci-layout:l:both {to}"));
    assert_eq!(pushed.stdout.trim(), index.as_str());
    for digest in [&index, &amd, &arm] {
        let (_, bytes) = registry
            .manifest_at("group/both", digest.as_str())
            .expect("pushed");
        assert!(digest.is_of(&bytes));
    }
    fs::remove_file(layout.file(&arm)).expect("removed");
    let reported = super::bundle(folder, &format!("push oci-layout:l:both {to}"));
    assert_eq!(reported.status, 2, "{}", reported.stderr);
}

#[test]
fn what_is_large_goes_there_and_back_in_little_memory() {
    let Some(registry) = Distribution::open() else {
        return;
    };
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    project(folder, &registry.host(), "plain-http: true");
    let size = rounds(16, 200) << 20;
    let mut layout = LayoutWriter::new(&folder.join("l"));
    let layer = layout.blob("application/vnd.oci.image.layer.v1.tar", &tar("big", size));
    let digest = layout.manifest(Some("1"), serde_json::json!({"layers": [layer]}));
    let name = format!("oci://{}/group/big", registry.host());
    super::large::assert_small(folder, &format!("bundle push oci-layout:l:1 {name}:1"));
    super::large::assert_small(folder, &format!("bundle pull {name}@{digest} out"));
    assert_eq!(
        fs::metadata(folder.join("out/big")).expect("there").len(),
        size
    );
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
