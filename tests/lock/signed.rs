//! Where a key is known, only what its holder signed is locked. Signatures are openssl's.

use std::fs;
use std::path::Path;
use std::process::Command;

use oci_artifacts::Digest;
use serde_json::json;
use yaml_tree::bytes::BASE64;

use super::{JAMMY, NOBLE, Project, push};
use crate::support::cosign::payload;
use crate::support::layout::LayoutWriter;

/// Makes a key pair in the project: `NAME.key` and `NAME.pub`. False where there is no openssl.
pub(super) fn key(project: &Project, name: &str) -> bool {
    let run = |arguments: &[&str]| {
        let mut openssl = Command::new("openssl");
        let run = openssl.current_dir(project.path()).args(arguments).output();
        run.is_ok_and(|run| run.status.success())
    };
    let (private, public) = (format!("{name}.key"), format!("{name}.pub"));
    let made = run(&[
        "genpkey",
        "-algorithm",
        "EC",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-out",
        &private,
    ]) && run(&["pkey", "-in", &private, "-pubout", "-out", &public]);
    if !made {
        crate::programs::missing("openssl");
    }
    made
}

/// What cosign signs of an image, and openssl's signature of it under a key of the folder.
pub(super) fn signature(
    folder: &Path,
    repository: &str,
    digest: &Digest,
    key: &str,
) -> (String, String) {
    let payload = payload(digest, repository);
    fs::write(folder.join("payload"), &payload).expect("written");
    let signed = Command::new("openssl")
        .current_dir(folder)
        .args(["dgst", "-sha256", "-sign", &format!("{key}.key"), "payload"])
        .output()
        .expect("openssl starts");
    assert!(signed.status.success());
    (payload, BASE64.encode(&signed.stdout))
}

/// Signs an image of the layout, as cosign stores it at a tag.
fn sign(folder: &Path, layout: &mut LayoutWriter, image: &str, digest: &Digest, key: &str) {
    let repository = format!("registry.example.org/os/{image}");
    let (payload, signature) = signature(folder, &repository, digest, key);
    let mut layer = layout.blob(
        "application/vnd.dev.cosign.simplesigning.v1+json",
        payload.as_bytes(),
    );
    layer["annotations"] = json!({"dev.cosignproject.cosign/signature": signature});
    let name = format!("{repository}:sha256-{}.sig", digest.hex());
    layout.manifest(Some(&name), json!({"layers": [layer]}));
}

/// A project whose registry has a key, and whose first image is signed with `key`.
fn signed(project: &Project, key: &str, further: &str) {
    project.values(
        "0.4.12",
        &[NOBLE, JAMMY],
        &format!("    cosign_publickey: sylva.pub\n{further}"),
    );
    let root = project.path().join("registry");
    let _ = fs::remove_dir_all(&root);
    let mut layout = LayoutWriter::new(&root);
    let noble = push(&mut layout, NOBLE, "0.4.12", "a");
    push(&mut layout, JAMMY, "0.4.12", "a");
    sign(project.path(), &mut layout, NOBLE, &noble, key);
}

#[test]
fn what_is_not_signed_is_not_locked() {
    let project = Project::new();
    if !key(&project, "sylva") || !key(&project, "stranger") {
        return;
    }
    signed(&project, "sylva", "");
    let lock = project.run("lock");
    assert_eq!(lock.status, 1, "{}", lock.stderr);
    assert!(
        lock.stderr
            .contains("error[signature-missing]: `oci://registry.example.org/os/ubuntu-jammy"),
        "{}",
        lock.stderr
    );
    let text = project.read("metalmark.lock");
    assert!(
        text.contains(&format!("key: {NOBLE}")) && !text.contains(JAMMY),
        "{text}"
    );
    assert!(
        text.contains("  verified:\n    form: tag\n    key: sha256:"),
        "{text}"
    );
    let verify = project.run("verify");
    assert_eq!(verify.status, 0, "{}", verify.stderr);
    assert!(
        verify.stdout.contains("as locked  sha256:"),
        "{}",
        verify.stdout
    );
    // What the values say not to look at is not looked at.
    signed(
        &project,
        "sylva",
        "security: {os_images: {skip_signing_check: true}}\n",
    );
    let skipped = project.run("lock");
    assert!(project.read("metalmark.lock").contains(JAMMY));
    // But what was verified once is not forgotten by that.
    assert_eq!(skipped.status, 1);
    assert!(
        skipped
            .stderr
            .contains("error[signature-unchecked]: `oci://registry.example.org/os/ubuntu-noble"),
        "{}",
        skipped.stderr
    );
    signed(&project, "sylva", "");
    let later = project.run("lock");
    assert_eq!(later.status, 1, "{}", later.stderr);
    assert!(
        project.read("metalmark.lock").contains(JAMMY),
        "what stood there stays"
    );
}

#[test]
fn another_key_is_distinguished_from_an_invalid_key() {
    let project = Project::new();
    if !key(&project, "sylva") || !key(&project, "stranger") {
        return;
    }
    signed(&project, "stranger", "");
    let lock = project.run("lock");
    assert_eq!(lock.status, 1, "{}", lock.stderr);
    assert!(
        lock.stderr
            .contains("error[signature-invalid]: `oci://registry.example.org/os/ubuntu-noble"),
        "{}",
        lock.stderr
    );
    assert_eq!(project.read("metalmark.lock"), "");
    fs::remove_file(project.path().join("sylva.pub")).expect("removed");
    let lock = project.run("lock");
    assert!(
        lock.stderr
            .contains("error[signature-invalid]: the key that images of registry `sylva`"),
        "{}",
        lock.stderr
    );
    assert!(
        lock.stderr.contains("there is no such file"),
        "{}",
        lock.stderr
    );
}
