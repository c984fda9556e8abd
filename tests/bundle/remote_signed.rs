//! Signatures of bundles in registries, and the programs of others that read what is pushed.

use std::fs;

use snapbox::str;

use super::{clean, ends, exists, files, manifests, refusal, run};
use crate::programs;
use crate::support::distribution::{Distribution, Pushed};
use crate::support::registry::Registry;
use crate::support::stage::{Stage, project};
use crate::support::story::Story;

fn site(host: &str) -> Stage {
    let file = format!("version: 1\nregistries: {{hosts: {{\"{host}\": {{plain-http: true}}}}}}\n");
    project().file("metalmark.yaml", file)
}

/// A pair of keys, `NAME.key` and `NAME.pub`.
fn write_keys(stage: &Stage, name: &str) {
    let pair = rcgen::KeyPair::generate().expect("a key");
    stage.write(&format!("{name}.key"), pair.serialize_pem());
    stage.write(&format!("{name}.pub"), pair.public_key_pem());
}

#[test]
fn a_bundle_is_taken_under_the_key_that_signed_it_and_no_other() {
    let registry = Registry::plain();
    let stage = site(&registry.host());
    write_keys(&stage, "mine");
    write_keys(&stage, "other");
    manifests(&stage, "in");
    let name = format!("oci://{}/group/app", registry.host());
    let push = format!("push in {name}:1 --kind plain --namespace app");
    let digest = clean(&stage, &push).stdout;
    let verify = |key: &str| format!("verify {name}:1 --key {key}");
    let pull = |key: &str| format!("pull {name}@{} out --key {key}", digest.trim());
    refusal(&stage, &verify("mine.pub"), "signature-missing");
    refusal(&stage, &pull("mine.pub"), "signature-missing");
    for form in ["tag", "bundle"] {
        let signed = clean(&stage, &format!("{push} --sign mine.key --sign-as {form}"));
        assert!(signed.stderr.contains(", signed"), "{}", signed.stderr);
        let verified = clean(&stage, &verify("mine.pub")).stdout;
        assert!(verified.contains("signed by the key sha256:"), "{verified}");
    }
    refusal(&stage, &verify("other.pub"), "signature-invalid");
    refusal(&stage, &pull("other.pub"), "signature-invalid");
    assert!(!exists(&stage, "out"));
    clean(&stage, &pull("mine.pub"));
    let secret = stage.read("mine.key");
    let secret = secret.lines().nth(1).expect("a line");
    for args in [format!("{push} --sign mine.pub"), verify("mine.key")] {
        let reported = ends(&stage, 2, &args).stderr;
        assert!(!reported.contains(secret), "{reported}");
        assert!(reported.contains("mine."), "{reported}");
    }
}

#[test]
fn a_bundle_that_breaks_the_contract_of_its_kind_is_not_pushed() {
    let registry = Registry::plain();
    let stage = site(&registry.host());
    stage.write("in/install.sh", "#!/bin/sh\necho $NODE\n");
    // Pushed as a tree of files nobody looks for an installer; as an image it is one that cannot be run.
    clean(&stage, "pack in --kind artifact --to bad.tgz");
    let mut story = Story::new(&stage).name(registry.host(), "HOST");
    let to = format!("oci://{}/group/components:1", registry.host());
    let push = |from: &str| format!("bundle push {from} {to} --kind components");
    fs::rename(stage.path().join("bad.tgz"), stage.path().join("bad")).expect("renamed");
    story
        .runs(&[&push("bad"), &push("in/install.sh")])
        .is(str![[r#"
$ bundle push bad oci://HOST/group/components:1 --kind components => 1
error[component-contract]: `install.sh` is not executable --> bad:install.sh
$ bundle push in/install.sh oci://HOST/group/components:1 --kind components => 1
error[component-contract]: `install.sh` is not executable --> in/install.sh

"#]]);
    assert_eq!(registry.count(), 0, "nothing is sent");
}

#[test]
fn other_programs_read_what_is_pushed_and_theirs_is_pulled() {
    let Some(registry) = Distribution::open() else {
        return;
    };
    let host = registry.host();
    let stage = site(&host);
    manifests(&stage, "in");
    let to = format!("oci://{host}/group/app:1");
    let pushed = clean(
        &stage,
        &format!("push in {to} --kind plain --namespace app"),
    );
    let digest = pushed.stdout.trim();
    clean(
        &stage,
        &format!("pull oci://{host}/group/app@{digest} ours"),
    );
    let ours = files(&stage, "ours");
    if let Some(crane) = programs::find("crane") {
        run(
            &crane,
            &stage,
            &format!("validate --insecure --remote {host}/group/app:1"),
        );
        assert_eq!(
            run(
                &crane,
                &stage,
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
        &stage,
        &format!("{copy} docker://{host}/group/app:1 oci:l:1"),
    );
    run(&umoci, &stage, "unpack --rootless --image l:1 theirs");
    assert_eq!(files(&stage, "theirs/rootfs"), ours);
    // From scratch, with `/manifests`, as `FROM scratch` and `COPY manifests /manifests` come to.
    for args in ["init --layout made", "new --image made:1"] {
        run(&umoci, &stage, args);
    }
    let insert = "insert --rootless --image made:1 ours/manifests /manifests";
    run(&umoci, &stage, insert);
    let copy = "copy --quiet --dest-tls-verify=false";
    run(
        &skopeo,
        &stage,
        &format!("{copy} oci:made:1 docker://{host}/group/made:1"),
    );
    clean(
        &stage,
        &format!("pull oci://{host}/group/made:1 pulled --allow-tag"),
    );
    assert_eq!(files(&stage, "pulled"), ours);
    clean(&stage, &format!("verify oci://{host}/group/made:1"));
}

#[test]
fn cosign_verifies_what_is_pushed_and_signed_in_one_go() {
    let (Some(cosign), Some(registry)) = (programs::find("cosign"), Distribution::open()) else {
        return;
    };
    let host = registry.host();
    let stage = site(&host);
    stage.write("in/a.txt", "x");
    run(&cosign, &stage, "generate-key-pair");
    let push = format!("push in oci://{host}/group/tree:1");
    let refused = ends(&stage, 2, &format!("{push} --sign cosign.key")).stderr;
    assert!(
        refused.contains("cosign sign --key cosign.key"),
        "{refused}"
    );
    write_keys(&stage, "key");
    let digest = clean(&stage, &format!("{push} --sign key.key")).stdout;
    let image = format!("{host}/group/tree@{}", digest.trim());
    let verify = "verify --insecure-ignore-tlog --allow-http-registry";
    run(&cosign, &stage, &format!("{verify} --key key.pub {image}"));
    let verify = format!("verify oci://{image} --key cosign.pub");
    ends(&stage, 1, &verify);
    // As docs/bundles.md says; cosign 2 has one option less.
    let is_3 = run(&cosign, &stage, "sign --help").contains("--use-signing-config=true");
    let more = if is_3 {
        "--use-signing-config=false"
    } else {
        ""
    };
    let sign = "sign --key cosign.key --tlog-upload=false --allow-http-registry --yes";
    run(&cosign, &stage, &format!("{sign} {more} {image}"));
    clean(&stage, &verify);
}
