//! Signatures of bundles in registries, and the programs of others that read what is pushed.

use std::fs;
use std::path::Path;

use super::{bundle, clean, files, manifests, refused, run, write};
use crate::programs;
use crate::support::distribution::{Distribution, Pushed};
use crate::support::registry::Registry;

fn project(folder: &Path, host: &str) {
    let text = format!("version: 1\nregistries: {{hosts: {{\"{host}\": {{plain-http: true}}}}}}\n");
    write(folder, "metalmark.yaml", &text);
}

/// A pair of keys, `NAME.key` and `NAME.pub`.
fn keys(folder: &Path, name: &str) {
    let pair = rcgen::KeyPair::generate().expect("a key");
    write(folder, &format!("{name}.key"), &pair.serialize_pem());
    write(folder, &format!("{name}.pub"), &pair.public_key_pem());
}

#[test]
fn a_bundle_is_taken_under_the_key_that_signed_it_and_no_other() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    let registry = Registry::plain();
    project(folder, &registry.host());
    keys(folder, "mine");
    keys(folder, "other");
    manifests(&folder.join("in"));
    let name = format!("oci://{}/group/app", registry.host());
    let push = format!("push in {name}:1 --kind plain --namespace app");
    let digest = clean(folder, &push).stdout;
    let at = format!("{name}@{}", digest.trim());
    refused(
        folder,
        &format!("verify {name}:1 --key mine.pub"),
        "signature-missing",
    );
    refused(
        folder,
        &format!("pull {at} out --key mine.pub"),
        "signature-missing",
    );
    for form in ["tag", "bundle"] {
        let signed = clean(folder, &format!("{push} --sign mine.key --sign-as {form}"));
        assert!(signed.stderr.contains(", signed"), "{}", signed.stderr);
        let verified = clean(folder, &format!("verify {name}:1 --key mine.pub"));
        assert!(
            verified.stdout.contains("signed by the key sha256:"),
            "{}",
            verified.stdout
        );
    }
    refused(
        folder,
        &format!("verify {name}:1 --key other.pub"),
        "signature-invalid",
    );
    refused(
        folder,
        &format!("pull {at} out --key other.pub"),
        "signature-invalid",
    );
    assert!(!folder.join("out").exists());
    clean(folder, &format!("pull {at} out --key mine.pub"));
    let secret = fs::read_to_string(folder.join("mine.key")).expect("a key");
    let secret = secret.lines().nth(1).expect("a line");
    for args in [
        format!("{push} --sign mine.pub"),
        format!("verify {name}:1 --key mine.key"),
    ] {
        let reported = bundle(folder, &args);
        assert_eq!(reported.status, 2, "{}", reported.stderr);
        assert!(!reported.stderr.contains(secret), "{}", reported.stderr);
    }
}

#[test]
fn a_bundle_that_breaks_the_contract_of_its_kind_does_not_verify() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    let registry = Registry::plain();
    project(folder, &registry.host());
    write(folder, "in/install.sh", "#!/bin/sh\necho $NODE\n");
    let to = format!("oci://{}/group/components:1", registry.host());
    // Pushed as a tree of files nobody looks for an installer; as an image it is one that cannot be run.
    clean(folder, "pack in --kind artifact --to bad.tgz");
    let pushed = bundle(folder, &format!("push bad.tgz {to} --kind components"));
    assert_eq!(pushed.status, 1, "{}", pushed.stderr);
    assert!(
        pushed.stderr.contains("[component-contract]"),
        "{}",
        pushed.stderr
    );
    assert_eq!(registry.count(), 0, "nothing is sent");
}

#[test]
fn other_programs_read_what_is_pushed_and_theirs_is_pulled() {
    let Some(registry) = Distribution::open() else {
        return;
    };
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    let host = registry.host();
    project(folder, &host);
    manifests(&folder.join("in"));
    let to = format!("oci://{host}/group/app:1");
    let pushed = clean(
        folder,
        &format!("push in {to} --kind plain --namespace app"),
    );
    let digest = pushed.stdout.trim();
    clean(
        folder,
        &format!("pull oci://{host}/group/app@{digest} ours"),
    );
    let ours = files(&folder.join("ours"));
    if let Some(crane) = programs::find("crane") {
        run(
            &crane,
            folder,
            &format!("validate --insecure --remote {host}/group/app:1"),
        );
        assert_eq!(
            run(
                &crane,
                folder,
                &format!("digest --insecure {host}/group/app:1")
            )
            .trim(),
            digest
        );
    }
    let (Some(skopeo), Some(umoci)) = (programs::find("skopeo"), programs::find("umoci")) else {
        return;
    };
    let copy = "copy --quiet --src-tls-verify=false";
    run(
        &skopeo,
        folder,
        &format!("{copy} docker://{host}/group/app:1 oci:l:1"),
    );
    run(&umoci, folder, "unpack --rootless --image l:1 theirs");
    assert_eq!(files(&folder.join("theirs/rootfs")), ours);
    // From scratch, with `/manifests`, as `FROM scratch` and `COPY manifests /manifests` come to.
    for args in ["init --layout made", "new --image made:1"] {
        run(&umoci, folder, args);
    }
    let insert = "insert --rootless --image made:1 ours/manifests /manifests";
    run(&umoci, folder, insert);
    let copy = "copy --quiet --dest-tls-verify=false";
    run(
        &skopeo,
        folder,
        &format!("{copy} oci:made:1 docker://{host}/group/made:1"),
    );
    clean(
        folder,
        &format!("pull oci://{host}/group/made:1 pulled --allow-tag"),
    );
    assert_eq!(files(&folder.join("pulled")), ours);
    clean(folder, &format!("verify oci://{host}/group/made:1"));
}

#[test]
fn cosign_verifies_what_is_pushed_and_signed_in_one_go() {
    let (Some(cosign), Some(registry)) = (programs::find("cosign"), Distribution::open()) else {
        return;
    };
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    let host = registry.host();
    project(folder, &host);
    write(folder, "in/a.txt", "x");
    run(&cosign, folder, "generate-key-pair");
    let push = format!("push in oci://{host}/group/tree:1");
    let refused = bundle(folder, &format!("{push} --sign cosign.key"));
    assert_eq!(refused.status, 2);
    assert!(
        refused.stderr.contains("cosign sign --key cosign.key"),
        "{}",
        refused.stderr
    );
    let pair = rcgen::KeyPair::generate().expect("a key");
    write(folder, "key.pem", &pair.serialize_pem());
    write(folder, "key.pub", &pair.public_key_pem());
    let digest = clean(folder, &format!("{push} --sign key.pem")).stdout;
    let image = format!("{host}/group/tree@{}", digest.trim());
    let verify = "verify --insecure-ignore-tlog --allow-http-registry";
    run(&cosign, folder, &format!("{verify} --key key.pub {image}"));
    let verify = format!("verify oci://{image} --key cosign.pub");
    assert_eq!(bundle(folder, &verify).status, 1);
    // As docs/bundles.md says; cosign 2 has one option less.
    let is_3 = run(&cosign, folder, "sign --help").contains("--use-signing-config=true");
    let more = if is_3 {
        "--use-signing-config=false"
    } else {
        ""
    };
    let sign = "sign --key cosign.key --tlog-upload=false --allow-http-registry --yes";
    run(&cosign, folder, &format!("{sign} {more} {image}"));
    clean(folder, &verify);
}
