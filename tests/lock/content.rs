//! An artifact that says of itself that it is another image than the requested one is refused, in every form of signature.

use snapbox::str;

use super::{
    JAMMY, NOBLE, append_settings, facts, lock_of, prepend_values, push, registry, sign, site,
    story, write_registry, write_values,
};
use crate::support::cosign::{BUNDLE, Key, SIGN, signed_bundle, statement};
use crate::support::layout::LayoutWriter;
use crate::support::stage::{Stage, assert_cases, project};
use oci_artifacts::Digest;
use serde_json::json;

const GATES: [&str; 4] = [
    "check",
    "lock --check",
    "render --frozen --stdout",
    "verify",
];

/// An image of NOBLE's reference whose manifest says these facts, beside those of its build.
fn push_facts(stage: &Stage, tag: &str, of: &str, build: &str, more: &[(&str, &str)]) -> Digest {
    let mut layout = registry(stage);
    push(&mut layout, JAMMY, tag, "a");
    let own = facts(of, build, "a");
    let own = own.iter().map(|(name, value)| (*name, &**value));
    let all: Vec<(&str, &str)> = own.chain(more.iter().copied()).collect();
    let name = format!("registry.example.org/os/{NOBLE}:{tag}");
    layout.image(Some(&name), &all)
}

#[test]
fn yesterdays_bytes_under_todays_tag_are_refused_by_policy() {
    let stage = site();
    append_settings(&stage, "policy: {rules: {artifact-other-image: error}}");
    write_registry(&stage, &[NOBLE, JAMMY], "0.4.12", "a");
    let mut story = story(&stage);
    story.runs(&["lock"]);
    let mut layout = registry(&stage);
    let old = facts(NOBLE, "0.4.12", "a");
    let old: Vec<(&str, &str)> = old.iter().map(|(name, value)| (*name, &**value)).collect();
    for tag in ["0.4.12", "0.4.13"] {
        push(&mut layout, JAMMY, tag, "a");
        layout.image(
            Some(&format!("registry.example.org/os/{NOBLE}:{tag}")),
            &old,
        );
    }
    write_values(&stage, "0.4.13", &[NOBLE, JAMMY], "");
    story.note("0.4.12 is tagged as 0.4.13");
    story.runs(&["lock", "lock"]);
    write_values(&stage, "0.4.12", &[NOBLE, JAMMY], "");
    prepend_values(&stage, "sylva_diskimagebuilder_version: 0.4.12\n");
    let values = stage.read("values.yaml");
    stage.write("values.yaml", values.replace("    tag: 0.4.12\n", ""));
    story
        .runs(&["lock"])
        .note("an update")
        .runs(&["update 0.4.13 --fix"]);
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
# 0.4.12 is tagged as 0.4.13
$ lock => 1
dropped JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
added   JAMMY sha256:cc1b039914ce… oci://registry.example.org/os/JAMMY:0.4.13
dropped NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 2 dropped; written
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.13` is another image than it is called: `commit-tag` is `0.4.12` by its file's name, `0.4.13` by the tag --> values.yaml:2:3
$ lock => 1
metalmark.lock: 1 kept, 0 added, 0 updated, 0 dropped; unchanged
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.13` is another image than it is called: `commit-tag` is `0.4.12` by its file's name, `0.4.13` by the tag --> values.yaml:2:3
$ lock => 0
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
dropped JAMMY sha256:cc1b039914ce… oci://registry.example.org/os/JAMMY:0.4.13
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 1 dropped; written
# an update
$ update 0.4.13 --fix => 1
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.13` is another image than it is called: `commit-tag` is `0.4.12` by its file's name, `0.4.13` by the tag --> values.yaml:3:3
what was written is undone, because of the errors above
help: correct them and run this again; `--k8s-versions` moves Kubernetes versions to what they hold
help: `metalmark render CLUSTER…` renders clusters alone, without the update

"#]]);
}

#[test]
fn an_entry_that_was_replaced_by_that_of_another_version_is_refused_by_every_gate() {
    let stage = site();
    append_settings(&stage, "policy: {rules: {artifact-other-image: error}}");
    let old = [("sylva/commit-tag", "0.4.11")];
    push_facts(&stage, "0.4.11", NOBLE, "0.4.11", &old);
    write_values(&stage, "0.4.11", &[NOBLE, JAMMY], "");
    let _ = stage.run("lock").exit(0);
    write_values(&stage, "0.4.12", &[NOBLE, JAMMY], "");
    push_facts(&stage, "0.4.12", NOBLE, "0.4.11", &old);
    let lock = lock_of(&stage);
    stage.write(
        "metalmark.lock",
        lock.replace(":0.4.11", ":0.4.12")
            .replace("version: \"0.4.11", "version: \"0.4.12"),
    );
    story(&stage).judge(&GATES).is(str![[r#"
$ check, lock --check, render --frozen --stdout => 1
error[artifact-other-image]: `oci://registry.example.org/os/JAMMY:0.4.12` is another image than it is called: `commit-tag` is `0.4.11` by its file's name, `0.4.12` by the tag
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is another image than it is called: `commit-tag` is `0.4.11` by its facts, `0.4.12` by the tag
$ verify => 1
error[artifact-other-image]: `oci://registry.example.org/os/JAMMY:0.4.12` is another image than it is called: `commit-tag` is `0.4.11` by its file's name, `0.4.12` by the tag
error[tag-moved]: `oci://registry.example.org/os/JAMMY:0.4.12` has moved: it is `sha256:433d32059244eb502a9ddb6fd999fe3bc05d1638e7e36f02d8f1432f2640fa24` now
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is another image than it is called: `commit-tag` is `0.4.11` by its facts, `0.4.12` by the tag

"#]]);
}

/// Sylva tags one artifact with several of its releases.
#[test]
fn an_artifact_of_several_releases_is_locked_with_a_warning() {
    let stage = site();
    push_facts(
        &stage,
        "0.4.12",
        NOBLE,
        "0.4.11",
        &[("sylva/commit-tag", "0.4.11")],
    );
    story(&stage).runs(&["lock"]).is(str![[r#"
$ lock => 0
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
added   NOBLE sha256:b3b3e998d26a… oci://registry.example.org/os/NOBLE:0.4.12
accepted NOBLE: artifact-other-image, it is a warning unless the policy makes it an error
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
warning[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is another image than it is called: `commit-tag` is `0.4.11` by its facts, `0.4.12` by the tag --> values.yaml:2:3

"#]]);
}

/// A signature is as good on an old image as on a new one: with a required signature, nothing but the version tells them apart.
#[test]
fn a_signed_image_of_another_version_is_refused_where_signatures_are_required() {
    let key = Key::new();
    let stage = site();
    stage.write("a.pub", key.pem());
    write_values(&stage, "0.4.12", &[NOBLE], "    cosign_publickey: a.pub\n");
    let old = [("sylva/commit-tag", "0.4.12-rc.1")];
    let digest = push_facts(&stage, "0.4.12", NOBLE, "0.4.12", &old);
    let own = facts(NOBLE, "0.4.12", "a");
    let own = own.iter().map(|(name, value)| (*name, &**value));
    let all: Vec<(&str, &str)> = own.chain(old).collect();
    let mut layout = registry(&stage);
    let name = format!("registry.example.org/os/{NOBLE}:0.4.12");
    layout.image(Some(&name), &all);
    sign(&mut layout, NOBLE, &digest, &[&key], NOBLE);
    let mut story = story(&stage);
    story.runs(&["lock"]);
    let file = stage.read("metalmark.yaml");
    for policy in [
        "{signatures: {elsewhere.example: required}}",
        "{signatures: required}",
        "{provenance: [{images: registry.example.org, key: a.pub, signature: true}]}",
    ] {
        stage.write("metalmark.yaml", format!("{file}policy: {policy}\n"));
        story.note(policy).judge(&GATES);
    }
    story.is(str![[r#"
$ lock => 0
added   NOBLE sha256:59b95283ecca… oci://registry.example.org/os/NOBLE:0.4.12
accepted NOBLE: artifact-other-image, it is a warning unless the policy makes it an error
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
warning[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is another image than it is called: `commit-tag` is `0.4.12-rc.1` by its facts, `0.4.12` by the tag --> values.yaml:2:3
# {signatures: {elsewhere.example: required}}
$ check, render --frozen --stdout => 0
warning[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is another image than it is called: `commit-tag` is `0.4.12-rc.1` by its facts, `0.4.12` by the tag
warning[project-file]: no image is below `elsewhere.example` of `policy.signatures`
$ lock --check => 0
$ verify => 0
warning[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is another image than it is called: `commit-tag` is `0.4.12-rc.1` by its facts, `0.4.12` by the tag
# {signatures: required}
$ check, lock --check, render --frozen --stdout, verify => 1
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is another image than it is called: `commit-tag` is `0.4.12-rc.1` by its facts, `0.4.12` by the tag
# {provenance: [{images: registry.example.org, key: a.pub, signature: true}]}
$ check, lock --check, render --frozen --stdout, verify => 1
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is another image than it is called: `commit-tag` is `0.4.12-rc.1` by its facts, `0.4.12` by the tag
error[lock-stale]: the lock says otherwise where `NOBLE` comes from than the project demands proof of

"#]]);
}

/// Signs a manifest as cosign 3 does: by a bundle that refers to it.
fn bundle(layout: &mut LayoutWriter, digest: &Digest, key: &Key) {
    let text = signed_bundle(key, &statement(digest, SIGN));
    let layer = layout.blob(BUNDLE, text.as_bytes());
    let subject = json!({"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest.as_str(), "size": 1});
    layout.manifest(
        None,
        json!({"layers": [layer], "subject": subject, "artifactType": BUNDLE}),
    );
}

#[test]
fn a_plain_image_instead_of_a_hardened_one_is_refused_in_every_form_of_signature() {
    const HARD: &str = "ubuntu-noble-hardened-rke2-1-31-8";
    let key = Key::new();
    let stage = site();
    stage.write("a.pub", key.pem());
    append_settings(&stage, "policy: {signatures: required}");
    write_values(
        &stage,
        "0.4.12",
        &[NOBLE, HARD],
        "    cosign_publickey: a.pub\n",
    );
    let names = [(HARD, "bundle"), (HARD, "tag")];
    let mut story = story(&stage).name(HARD, "HARD");
    for (name, form) in names {
        let mut layout = registry(&stage);
        let plain = facts(NOBLE, "0.4.12", "a");
        let plain = plain.iter().map(|(name, value)| (*name, &**value));
        let plain: Vec<(&str, &str)> = plain.chain([("sylva/flavor", "plain")]).collect();
        let digest = layout.image(
            Some(&format!("registry.example.org/os/{NOBLE}:0.4.12")),
            &plain,
        );
        layout.image(
            Some(&format!("registry.example.org/os/{name}:0.4.12")),
            &plain,
        );
        sign(&mut layout, NOBLE, &digest, &[&key], NOBLE);
        if form == "bundle" {
            bundle(&mut layout, &digest, &key);
        } else {
            sign(&mut layout, HARD, &digest, &[&key], NOBLE);
        }
        story.note(form).runs(&["lock"]);
    }
    story.is(str![[r#"
# bundle
$ lock => 1
added   NOBLE sha256:e37bc820c4b9… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
error[artifact-other-image]: `oci://registry.example.org/os/HARD:0.4.12` is another image than it is called: `hardened` is `false` by its file's name, `true` by the reference; `flavor` is `plain` by its facts, `hardened` by the reference --> values.yaml:3:3
# tag
$ lock => 1
metalmark.lock: 1 kept, 0 added, 0 updated, 0 dropped; unchanged
error[artifact-other-image]: `oci://registry.example.org/os/HARD:0.4.12` is another image than it is called: `hardened` is `false` by its file's name, `true` by the reference; `flavor` is `plain` by its facts, `hardened` by the reference --> values.yaml:3:3

"#]]);
}

/// Each line is a key, a reference, and what the manifest says.
#[test]
fn a_name_is_compared_in_every_word_that_both_have() {
    let found = |case: &str| {
        let mut words = case.split(' ');
        let (key, reference) = (
            words.next().expect("a key"),
            words.next().expect("a reference"),
        );
        let stage = project()
            .settings("registries: {mirrors: {r.example: oci-layout:registry}}")
            .cluster(
                "edge",
                &format!("os_images: {{{key}: {{uri: 'oci://r.example/{reference}'}}}}"),
            );
        let said = words.map(|word| word.split_once('=').expect("a fact"));
        let said: Vec<(String, &str)> = said
            .map(|(name, value)| (format!("sylva/{name}"), value))
            .collect();
        let facts: Vec<(&str, &str)> = said.iter().map(|(name, value)| (&**name, *value)).collect();
        registry(&stage).image(Some(&format!("r.example/{reference}")), &facts);
        let outcome = stage.run("lock").outcome;
        let printed = format!("{}{}", outcome.stdout, outcome.stderr);
        let said = printed
            .lines()
            .filter_map(|line| line.split(" is another image than it is called: ").nth(1));
        said.map(str::to_owned).collect::<Vec<String>>()
    };
    assert_cases(
        str![[r#"
any os/any:1.0.0
any os/any:0.4.13 commit-tag=0.4.12
    `commit-tag` is `0.4.12` by its facts, `0.4.13` by the tag
any os/any:0.4 commit-tag=0.4.12
any os/any:0.4 commit-tag=0.4.12-rc.1
any os/any:0.4.12 commit-tag=0.4.12-rc.1
    `commit-tag` is `0.4.12-rc.1` by its facts, `0.4.12` by the tag
any os/any:0.4.12-rc.1 commit-tag=0.4.12-rc.1
any os/any:0.4.12-rc.10 commit-tag=0.4.12-rc.1
    `commit-tag` is `0.4.12-rc.1` by its facts, `0.4.12-rc.10` by the tag
any os/any:0.4.12-r2 commit-tag=0.4.12-r1
    `commit-tag` is `0.4.12-r1` by its facts, `0.4.12-r2` by the tag
any os/any:0.4.12-r1-lab commit-tag=0.4.12-r1
any os/any:0.4.12 commit-tag=0.4.12+build.5
any os/any:1.31.8-0.4.12 commit-tag=0.4.12-1.31.8
any os/any:0.4.12rc1 commit-tag=0.4.12
any os/any:release-7 commit-tag=release-6
    `commit-tag` is `release-6` by its facts, `release-7` by the tag
any os/any:release-6 commit-tag=release-6
any os/any:stable-7 commit-tag=release-6
any os/any:7 commit-tag=6
any os/any:0.4.12-lab.1 commit-tag=0.4.12
any os/any:0.4.12-1.30.2 commit-tag=0.4.12
any os/any:stable commit-tag=0.4.12
any os/any:1.0.0 commit-tag=main
any os/any:v1.31.8-rke2r1 commit-tag=0.4.12 k8s-version=1.31.8+rke2r1
any os/any:24.04 commit-tag=0.4.12 os=ubuntu os-release=noble
any os/any:24.10 commit-tag=0.4.12 os=ubuntu os-release=noble
    `commit-tag` is `0.4.12` by its facts, `24.10` by the tag
any os/any:20260302 commit-tag=20260301
    `commit-tag` is `20260301` by its facts, `20260302` by the tag
any os/images:hardened-0.4.12 commit-tag=0.4.12 flavor=plain
    `flavor` is `plain` by its facts, `hardened` by the reference
any os/images:hardened-0.4.12 commit-tag=0.4.12 hardened=true
any os/images:rke2-1.31.8 k8s-version=1.30.2+rke2r1
    `k8s-version` is `1.30.2+rke2r1` by its facts, `1.31.8` by the reference
any os/images:rke2-arm64 k8s-flavor=kubeadm arch=amd64
    `k8s-flavor` is `kubeadm` by its facts, `rke2` by the reference; `arch` is `amd64` by its facts, `arm64` by the reference
my-hardened-image os/any:1 hardened=false
    `hardened` is `false` by its facts, `true` by the key
plain-or-hardened-jammy os/any:1 hardened=true os-release=jammy
plain-or-hardened-jammy os/any:1 hardened=true os-release=noble
    `os-release` is `noble` by its facts, `jammy` by the key
ubuntu-noble-plain-rke2-1-31 os/any:1 filename=ubuntu-noble-plain-rke2-1-31-8-0.4.12.raw k8s-version=1.31.8+rke2r1
ubuntu-noble-plain-rke2-1-31-8 os/any:1 filename=ubuntu-noble-plain-rke2-1-31-0.5.0.raw
noble os/any:1.0.0 filename=ubuntu-jammy-hardened-rke2-1-31-8-0.4.12.raw
    `os-release` is `jammy` by its file's name, `noble` by the key; `commit-tag` is `0.4.12` by its file's name, `1.0.0` by the tag
ubuntu-noble-cis-rke2-1-31 os/any:1 flavor=hardened hardened=true

"#]],
        found,
    );
}

#[test]
fn a_signature_that_names_another_place_counts_where_the_project_says_so() {
    let key = Key::new();
    let stage = site();
    stage.write("a.pub", key.pem());
    write_values(&stage, "0.4.12", &[NOBLE], "    cosign_publickey: a.pub\n");
    let mut story = story(&stage);
    let mut sign_as = |name: &str, settings: &str| {
        let mut layout = registry(&stage);
        let digest = push(&mut layout, NOBLE, "0.4.12", "a");
        sign(&mut layout, NOBLE, &digest, &[&key], name);
        stage.write(
            "metalmark.yaml",
            super::PROJECT_FILE.replace("registries: {", &format!("registries: {{{settings}")),
        );
        stage.write("metalmark.lock", "version: 1\nimages: []\n");
        story.note(name).judge(&["lock"]);
    };
    sign_as(&format!("stage/{NOBLE}"), "");
    let allowed = "signed-as: {registry.example.org/os: registry.example.org/os/stage}, ";
    sign_as(&format!("stage/{NOBLE}"), allowed);
    sign_as(NOBLE, allowed);
    sign_as(&format!("{NOBLE}:0.4.12"), "");
    sign_as(&format!("{NOBLE}:0.4.11"), "");
    story.is(str![[r#"
# stage/ubuntu-noble-plain-rke2-1-31-8
$ lock => 1
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: its signature was made for `registry.example.org/os/stage/NOBLE`
# stage/ubuntu-noble-plain-rke2-1-31-8
$ lock => 0
# ubuntu-noble-plain-rke2-1-31-8
$ lock => 0
# ubuntu-noble-plain-rke2-1-31-8:0.4.12
$ lock => 0
# ubuntu-noble-plain-rke2-1-31-8:0.4.11
$ lock => 1
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: its signature was made for `registry.example.org/os/NOBLE:0.4.11`

"#]]);
}

/// The fleet of one image, whose lock somebody edits.
fn proven() -> Stage {
    let stage = project()
        .settings("registries: {mirrors: {r.example: oci-layout:registry}}")
        .cluster(
            "edge",
            "os_images: {img: {uri: 'oci://r.example/os/img:1', image-format: raw}}\ncluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: img}}",
        );
    let sum = "a".repeat(64);
    let facts = [
        ("sylva/k8s-version", "1.30.12+rke2r1"),
        ("sylva/sha256", &sum),
    ];
    registry(&stage).image(Some("r.example/os/img:1"), &facts);
    let _ = stage.run("lock").exit(0);
    stage
}

#[test]
fn a_fact_without_evidence_proves_no_more_than_a_name() {
    let stage = proven();
    let lock = lock_of(&stage);
    stage.write("metalmark.lock", lock.replace("1.30.12", "1.31.8"));
    let mut story = story(&stage);
    story.runs(&["check"]);
    let evidence = stage.read("metalmark.evidence");
    let head = evidence.lines().next().expect("a line");
    stage.write("metalmark.evidence", format!("{head}\n"));
    story.note("the line that proves the fact is deleted");
    story.runs(&[
        "check",
        "check --frozen",
        "lock --check",
        "render --frozen --target manifests --out out --stdout edge",
        "verify",
    ]);
    append_settings(&stage, "policy: {signatures: required}");
    story.note("signatures are required").runs(&["check"]);
    stage.write(
        "metalmark.lock",
        lock.replace(&"a".repeat(64), &"b".repeat(64)),
    );
    story.note("other bytes").judge(&["check --frozen"]);
    story.is(str![[r#"
$ check => 1
error[lock-tampered]: `k8s-version` of `img` is `1.31.8+rke2r1` by the lock, `1.30.12+rke2r1` by the artifact's annotations --> metalmark.lock:10:18
# the line that proves the fact is deleted
$ check => 0
warning[k8s-version-unproven]: nothing proves that image `img` holds Kubernetes `v1.31.8+rke2r1` --> edge.yaml:2:59
warning[lock-stale]: the lock has no evidence of `img`, so that nothing proves what it says of them --> metalmark.lock:7:11
2 warnings in 1 cluster; 1 node pool checked: 1 by name only
$ check --frozen => 1
warning[k8s-version-unproven]: nothing proves that image `img` holds Kubernetes `v1.31.8+rke2r1` --> edge.yaml:2:59
error[lock-stale]: the lock has no evidence of `img`, so that nothing proves what it says of them --> metalmark.lock:7:11
1 error, 1 warning in 1 cluster; 1 node pool checked: 1 by name only
$ lock --check => 1
error[lock-stale]: the lock has no evidence of `img`, so that nothing proves what it says of them --> metalmark.lock:7:11
$ render --frozen --target manifests --out out --stdout edge => 1
warning[k8s-version-unproven]: nothing proves that image `img` holds Kubernetes `v1.31.8+rke2r1` --> edge.yaml:2:59
error[lock-stale]: the lock has no evidence of `img`, so that nothing proves what it says of them --> metalmark.lock:7:11
1 error, 1 warning in 1 cluster; 1 node pool checked: 1 by name only
$ verify => 1
IMAGE  TAG        SIGNED BY  REFERENCE
img    as locked  –          oci://r.example/os/img:1
warning[lock-stale]: the lock has no evidence of `img`, so that nothing proves what it says of them --> metalmark.lock:7:11
error[lock-tampered]: `k8s-version` of `img` is `1.31.8+rke2r1` by the lock, `1.30.12+rke2r1` by the artifact's annotations --> metalmark.lock:10:18
# signatures are required
$ check => 1
error[signature-unchecked]: `policy.signatures` requires signatures, and the values name no key for images of image `img` --> edge.yaml:1:13
warning[k8s-version-unproven]: nothing proves that image `img` holds Kubernetes `v1.31.8+rke2r1` --> edge.yaml:2:59
error[lock-stale]: the lock has no evidence of `img`, so that nothing proves what it says of them --> metalmark.lock:7:11
2 errors, 1 warning in 1 cluster; 1 node pool checked: 1 by name only
# other bytes
$ check --frozen => 1
error[signature-unchecked]: `policy.signatures` requires signatures, and the values name no key for images of image `img`
error[k8s-version-mismatch]: image `img` holds Kubernetes `1.30.12+rke2r1`, not `v1.31.8+rke2r1`
error[lock-stale]: the lock has no evidence of `img`, so that nothing proves what it says of them

"#]]);
}

#[test]
fn a_part_that_its_index_does_not_name_is_tampered_with() {
    let stage = project()
        .settings("registries: {mirrors: {r.example: oci-layout:registry}}")
        .cluster(
            "edge",
            "os_images: {img: {uri: 'oci://r.example/os/img:1'}}\ncluster: {k8s_version: v1.31.8}",
        );
    let mut layout = registry(&stage);
    let parts = ["amd64", "arm64"].map(|arch| layout.image(None, &[("sylva/arch", arch)]));
    layout.index(
        Some("r.example/os/img:1"),
        &[("amd64", &parts[0]), ("arm64", &parts[1])],
    );
    let mut evidence = Vec::new();
    let file = stage.read("metalmark.yaml");
    for arch in ["arm64", "amd64"] {
        stage.write(
            "metalmark.yaml",
            file.replace(
                "registries: {",
                &format!("registries: {{architecture: {arch}, "),
            ),
        );
        let _ = stage.run("lock").exit(0);
        let text = stage.read("metalmark.evidence");
        evidence.push(text.lines().nth(1).expect("a line").to_owned());
    }
    let mut story = story(&stage);
    let both = [
        format!("{}\n{}\n", evidence[0], evidence[1]),
        format!("{}\n{}\n", evidence[1], evidence[0]),
    ];
    for text in both {
        stage.write("metalmark.evidence", text);
        story.note("lines of two branches").judge(&["lock --check"]);
    }
    let mut line: serde_json::Value = serde_json::from_str(&evidence[1]).expect("JSON");
    let part = line["part"].as_str().expect("a part");
    line["part"] = part.replace("amd64", "none").into();
    stage.write("metalmark.evidence", line.to_string());
    story
        .note("an edited part")
        .judge(&["check", "lock --check", "verify"]);
    stage.write("metalmark.evidence", &evidence[0]);
    story
        .note("the part of another architecture alone")
        .judge(&["lock --check"]);
    story.is(str![[r#"
# lines of two branches
$ lock --check => 0
# lines of two branches
$ lock --check => 0
# an edited part
$ check, verify => 1
error[lock-tampered]: `sha256:5d24d8208e00896026d2ebd14d63ecf08a5a45b80c0deff98c586ac86fbf5baf` names no manifest as the one beside it: it was changed
warning[lock-stale]: the lock has no evidence of `img`, so that nothing proves what it says of them
$ lock --check => 1
error[lock-tampered]: `sha256:5d24d8208e00896026d2ebd14d63ecf08a5a45b80c0deff98c586ac86fbf5baf` names no manifest as the one beside it: it was changed
error[lock-stale]: the lock has no evidence of `img`, so that nothing proves what it says of them
# the part of another architecture alone
$ lock --check => 1
error[lock-stale]: the lock has no evidence of `img`, so that nothing proves what it says of them

"#]]);
}

/// Each line is the template of an image's URL, below it what is rendered.
#[test]
fn machines_pull_what_is_locked() {
    let stage = site();
    let mut layout = registry(&stage);
    let image = |layout: &mut LayoutWriter, name: Option<&str>| {
        let facts = facts(NOBLE, "0.4.12", "a");
        let facts: Vec<(&str, &str)> = facts
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        layout.image(name, &facts)
    };
    let part = image(&mut layout, None);
    layout.index(
        Some(&format!("registry.example.org/os/{NOBLE}:0.4.12")),
        &[("amd64", &part)],
    );
    push(&mut layout, JAMMY, "0.4.12", "a");
    let _ = stage.run("lock").exit(0);
    // What is stamped by digest is the catalog's image.
    let values = stage.read("values.yaml");
    let own = format!(
        "{{machine_image_url: 'oci://mirror.example/a@{part}', machine_image_format: raw}}"
    );
    stage.write(
        "values.yaml",
        values.replace(&format!("{{image_key: {NOBLE}}}"), &own),
    );
    let said = stage.run("check").exit(0).outcome.stdout;
    assert!(said.contains("1 node pool checked: 1 proven"), "{said}");
    stage.write("values.yaml", &values);
    let url = |template: &str| {
        stage.write(
            "metalmark.yaml",
            format!("{}images: {{url: '{template}'}}\n", super::PROJECT_FILE),
        );
        let rendered = stage.run("render --frozen --stdout").outcome;
        let all = format!("{}{}", rendered.stdout, rendered.stderr);
        let lines = all.lines().map(str::trim).filter(|line| {
            let starts = ["url:", "checksum:", "error", "warning[reference-unpinned]"];
            starts.iter().any(|start| line.starts_with(start))
        });
        lines
            .map(|line| line.replace(part.as_str(), "PART").replace(NOBLE, "NOBLE"))
            .collect::<Vec<String>>()
    };
    assert_cases(
        str![[r#"
{{ image.uri }}
    url: oci://registry.example.org/os/NOBLE@PART
{{ image.pinned }}
    url: oci://registry.example.org/os/NOBLE@PART
oci://mirror.example/other/{{ image.artifact }}:0.4.12
    url: oci://mirror.example/other/NOBLE@PART
oci://mirror.example/other/{{ image.artifact }}:1
    url: oci://mirror.example/other/NOBLE:1
    warning[reference-unpinned]: `oci://mirror.example/other/NOBLE:1` names a tag, which may move
oci://mirror.example/other/built@{{ image.digest }}
    url: oci://mirror.example/other/built@PART
https://mirror.example/{{ image.registry }}/image.{{ image.format }}
    checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    url: https://mirror.example/sylva/image.raw
https://mirror.example/{{ image.digest }}.raw
    checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    url: https://mirror.example/PART.raw

"#]],
        url,
    );
}

/// Sylva's image server is the default of values; it has no image that a record says to be in a registry alone.
#[test]
fn an_image_that_lies_in_a_registry_alone_is_stamped_with_no_address_that_nobody_named() {
    const URL: &str = "oci://registry.example.org/one/noble:0.4.12";
    let template = format!(
        "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\n\
         metadata: {{name: noble}}\nspec:\n  template:\n    spec:\n      image:\n        url: {URL}\n"
    );
    let settings = format!(
        "manifests: [clusters]\nregistries: {{mirrors: {{registry.example.org: oci-layout:registry}}}}\n\
         images: {{records: {{noble: {{k8s: {{flavor: kubeadm, version: 1.31.8}}, format: raw, locations: {{oci: '{URL}'}}}}}}}}\n\
         stamps: [{{kind: Metal3MachineTemplate, image: noble}}]"
    );
    let stage = project()
        .settings(&settings)
        .file("clusters/noble.yaml", &template);
    let facts = facts("noble", "0.4.12", "a");
    let facts: Vec<(&str, &str)> = { facts.iter() }
        .map(|(name, value)| (*name, &**value))
        .collect();
    registry(&stage).image(Some(URL.trim_start_matches("oci://")), &facts);
    let mut story = story(&stage);
    story.runs(&["lock", "stamp"]);
    story.note(&stage.read("clusters/noble.yaml"));
    stage.write("clusters/noble.yaml", &template);
    let named = "images: {url: 'http://files.example/{{ image.key }}.raw', ";
    stage.edit("metalmark.yaml", "images: {", named);
    story.runs(&["stamp"]);
    story.note(&stage.read("clusters/noble.yaml"));
    story.is(str![[r#"
$ lock => 0
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
$ stamp => 0
stamped  clusters/noble.yaml
1 file of manifests, 1 stamped
# apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: noble}
spec:
  template:
    spec:
      image:
        url: oci://registry.example.org/one/noble:0.4.12
        format: raw

$ stamp => 1
error[image-unstamped]: Metal3MachineTemplate `noble` is not stamped: nothing says the checksum of image `noble` --> clusters/noble.yaml:3:18 ::: metalmark.yaml:5:10
# apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: noble}
spec:
  template:
    spec:
      image:
        url: oci://registry.example.org/one/noble:0.4.12


"#]]);
}

/// What `lock` says of an index: of its parts, each `ARCHITECTURE/OS/DISKTYPE`, where the last part is an index itself.
#[test]
fn an_index_that_can_be_read_in_two_ways_is_reported() {
    let stage = project()
        .settings("registries: {mirrors: {r.example: oci-layout:registry}}")
        .cluster(
            "edge",
            "os_images: {img: {uri: 'oci://r.example/os/img:1'}}\ncluster: {k8s_version: v1.31.8}",
        );
    let file = stage.read("metalmark.yaml");
    let mut story = story(&stage);
    let mut lock = |parts: &[&str], settings: &str, index: &[(&str, &str)]| {
        let mut layout = registry(&stage);
        let describe = |part: &&str| {
            let digest = layout.image(
                None,
                &[
                    ("sylva/os", "ubuntu"),
                    ("sylva/form", &part.replace('/', "-")),
                ],
            );
            let words: Vec<&str> = part.split('/').collect();
            let mut of = layout.describe(&digest, "application/vnd.oci.image.manifest.v1+json");
            of["platform"] = json!({"architecture": words[0], "os": words[1]});
            of["annotations"] = json!({"disktype": words[2]});
            of
        };
        let parts: Vec<serde_json::Value> = parts.iter().map(describe).collect();
        let annotations: serde_json::Map<_, _> = { index.iter() }
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        layout.put_index(
            "r.example/os/img:1",
            json!({"schemaVersion": 2, "manifests": parts, "annotations": annotations}),
        );
        stage.write(
            "metalmark.yaml",
            file.replace("registries: {", &format!("registries: {{{settings}")),
        );
        stage.write("metalmark.lock", "version: 1\nimages: []\n");
        story.note(&format!("{settings}{index:?}")).runs(&["lock"]);
    };
    let both = ["x86_64/linux/qcow2", "amd64/linux/raw", "amd64/windows/raw"];
    lock(&both, "", &[]);
    lock(&both, "disktype: raw, ", &[]);
    lock(&both, "os: windows, ", &[]);
    lock(&both, "architecture: arm64, ", &[]);
    lock(&both[..1], "", &[("sylva/os", "debian")]);
    lock(&both[..1], "", &[("sylva/os", "ubuntu")]);
    story.is(str![[r##"
# []
$ lock => 2
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; written
error: oci://r.example/os/img:1: its index has 2 manifests for `linux/amd64` --> edge.yaml:1:13 (`img`)
# disktype: raw, []
$ lock => 0
added   img sha256:1fa5de63fd83… oci://r.example/os/img:1
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
# os: windows, []
$ lock => 0
added   img sha256:1fa5de63fd83… oci://r.example/os/img:1
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
# architecture: arm64, []
$ lock => 2
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; written
error: oci://r.example/os/img:1: its index has no manifest for `linux/arm64` --> edge.yaml:1:13 (`img`)
# [("sylva/os", "debian")]
$ lock => 0
added   img sha256:e08a575aea21… oci://r.example/os/img:1
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
warning[fact-conflict]: image `img`: the index says `debian` for `os`, and its part `ubuntu`, which counts --> edge.yaml:1:13
# [("sylva/os", "ubuntu")]
$ lock => 0
added   img sha256:1e510585a4a0… oci://r.example/os/img:1
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written

"##]]);
}
