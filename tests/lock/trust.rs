//! What a lock proves without a network, what the project's policy accepts and what it requires.

use snapbox::str;

use super::{
    JAMMY, NOBLE, append_settings, lock_of, locked_site, prepend_values, push, registry, story,
};
use super::{remove_registry, sign, site, write_registry, write_signed, write_values};
use crate::support::cosign::Key;
use crate::support::stage::{Is, Stage, table};

const GATES: [&str; 5] = [
    "check",
    "check --frozen",
    "lock --check",
    "render --frozen --stdout",
    "verify",
];

/// How the values name the key of the registry.
const KEY: &str = "    cosign_publickey: a.pub\n";

/// A project whose values name a key.
fn site_with(key: &Key) -> Stage {
    let stage = site();
    stage.write("a.pub", key.pem());
    write_values(&stage, "0.4.12", &[NOBLE, JAMMY], KEY);
    stage
}

/// A project whose images are signed and locked.
fn signed() -> (Stage, Key) {
    let key = Key::new();
    let stage = site_with(&key);
    write_signed(&stage, &[(NOBLE, &[&key]), (JAMMY, &[&key])]);
    let _ = stage.run("lock").exit(0);
    (stage, key)
}

fn fingerprint(key: &Key) -> String {
    key.fingerprint().to_string()
}

/// The evidence proves a signer that the lock leaves out: somebody edited the lock, and no gate may pass that over.
#[test]
fn a_signer_that_is_left_out_of_the_lock_is_reported() {
    let (stage, key) = signed();
    let lock = stage.read("metalmark.lock");
    let block = format!(
        "  verified:\n    form: tag\n    key: {}\n",
        fingerprint(&key)
    );
    assert_eq!(lock.matches(&block).count(), 2);
    stage.write("metalmark.lock", lock.replace(&block, ""));
    let mut story = story(&stage).name(fingerprint(&key), "A");
    story.judge(&GATES).is(str![[r#"
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 1
error[lock-tampered]: the lock leaves out that `JAMMY` is signed by the key A
error[lock-tampered]: the lock leaves out that `NOBLE` is signed by the key A

"#]]);
}

#[test]
fn evidence_that_was_edited_left_out_or_taken_from_another_image_is_refused() {
    let (stage, key) = signed();
    let evidence = stage.read("metalmark.evidence");
    let lines: Vec<&str> = evidence.lines().collect();
    let write = |lines: &[&str]| stage.write("metalmark.evidence", lines.join("\n") + "\n");
    let manifest = |line: &str| line[..line.find("\"signatures\"").expect("one")].to_owned();
    let signatures = |line: &str| line[line.find("\"signatures\"").expect("one")..].to_owned();
    let mut story = story(&stage).name(fingerprint(&key), "A");
    story.judge(&GATES);
    stage.write("metalmark.evidence", evidence.replace("1.31.8", "1.31.9"));
    story
        .note("another manifest under the same digest")
        .judge(&GATES);
    write(&lines[..2]);
    story.note("a line less").judge(&GATES);
    stage.remove("metalmark.evidence");
    story.note("no file").judge(&GATES);
    let swapped = manifest(lines[1]) + &signatures(lines[2]);
    write(&[lines[0], &swapped, lines[2]]);
    story.note("the other image's signature").judge(&GATES);
    let bare = |line| manifest(line).trim_end_matches(',').to_owned() + "}";
    write(&[lines[0], &bare(lines[1]), &bare(lines[2])]);
    story.note("no signature at all").judge(&GATES);
    // `lock` puts it right, and says the same as the first time.
    story.runs(&["lock"]).judge(&GATES);
    story.is(str![[r#"
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 0
# another manifest under the same digest
$ check, check --frozen, render --frozen --stdout => 1
error[lock-tampered]: the manifest of `sha256:0d9d36ba8dacca6971251478600d1d7b82a0590ef31f75c83ed5184cb51066b9` has another digest: it was changed
error[lock-tampered]: the manifest of `sha256:433d32059244eb502a9ddb6fd999fe3bc05d1638e7e36f02d8f1432f2640fa24` has another digest: it was changed
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --check, verify => 1
error[lock-tampered]: the manifest of `sha256:0d9d36ba8dacca6971251478600d1d7b82a0590ef31f75c83ed5184cb51066b9` has another digest: it was changed
error[lock-tampered]: the manifest of `sha256:433d32059244eb502a9ddb6fd999fe3bc05d1638e7e36f02d8f1432f2640fa24` has another digest: it was changed
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
# a line less
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 1
error[lock-stale]: the lock has no evidence of `JAMMY`, so that their signatures cannot be proven
# no file
$ check, check --frozen, render --frozen --stdout => 1
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --check, verify => 1
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
# the other image's signature
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 1
error[signature-invalid]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: its signature is one of `sha256:433d32059244eb502a9ddb6fd999fe3bc05d1638e7e36f02d8f1432f2640fa24`
# no signature at all
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 1
error[signature-missing]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: the lock has no signature of it under the key of the values
error[signature-missing]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: the lock has no signature of it under the key of the values
$ lock => 0
updated JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
updated NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 0 added, 2 updated, 0 dropped; written
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 0

"#]]);
    assert_eq!(stage.read("metalmark.evidence"), evidence);
}

/// Argo CD's plugin renders one cluster, and nothing looks at the whole fleet.
#[test]
fn what_is_not_proven_is_refused_where_one_cluster_alone_is_rendered() {
    let (stage, key) = signed();
    let stage = stage
        .variable("ARGOCD_APP_NAME", "edge-1")
        .variable("ARGOCD_APP_SOURCE_PATH", ".");
    let generate = ["cmp generate"];
    let mut story = story(&stage).name(fingerprint(&key), "A");
    story.judge(&generate);
    let evidence = stage.read("metalmark.evidence");
    stage.remove("metalmark.evidence");
    story.note("no evidence").judge(&generate);
    stage.write("metalmark.evidence", &evidence);
    write_values(&stage, "0.4.12", &[NOBLE, JAMMY], "");
    story.note("no key").judge(&generate);
    write_values(&stage, "0.4.12", &[NOBLE, JAMMY], KEY);
    stage.write("a.pub", Key::new().pem());
    story.note("another key").judge(&generate);
    story.is(str![[r#"
$ cmp generate => 0
# no evidence
$ cmp generate => 1
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
# no key
$ cmp generate => 1
error[signature-unchecked]: `oci://registry.example.org/os/JAMMY:0.4.12` is locked as signed by the key A, and the values name no key for it any more
error[signature-unchecked]: `oci://registry.example.org/os/NOBLE:0.4.12` is locked as signed by the key A, and the values name no key for it any more
# another key
$ cmp generate => 1
error[signature-invalid]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read
error[signature-invalid]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read

"#]]);
}

#[test]
fn a_lock_without_evidence_and_without_keys_is_refused_where_all_has_to_be_locked() {
    let stage = locked_site();
    stage.remove("metalmark.evidence");
    let mut story = story(&stage);
    story.runs(&["check", "check --frozen"]);
    // What is asked for again is the tag, not the digest that the lock says.
    write_registry(&stage, &[NOBLE, JAMMY], "0.4.12", "b");
    story.note("the tags moved").runs(&["lock"]);
    story.is(str![[r#"
$ check => 0
warning[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that nothing proves what it says of them --> metalmark.lock:7:11
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:14:22
2 warnings in 1 cluster; 1 node pool checked: 1 by name only
$ check --frozen => 1
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that nothing proves what it says of them --> metalmark.lock:7:11
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:14:22
1 error, 1 warning in 1 cluster; 1 node pool checked: 1 by name only
# the tags moved
$ lock => 1
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
error[tag-moved]: `oci://registry.example.org/os/JAMMY:0.4.12` has moved: it is `sha256:9480718545f210e5dcc74ccb1f53b0d6e4cb84bde90a913e13a667d27f74d69c` now --> metalmark.lock:7:11
error[tag-moved]: `oci://registry.example.org/os/NOBLE:0.4.12` has moved: it is `sha256:5d7b036fc56e3fc0a59a72085495d5c02cf7acbfdef4dad3104a89f85d3cd9c8` now --> metalmark.lock:20:11

"#]]);
}

#[test]
fn a_rotated_key_is_refused_everywhere_until_the_image_is_signed_again() {
    let (stage, old) = signed();
    let next = Key::new();
    stage.write("a.pub", next.pem());
    let mut story = story(&stage)
        .name(fingerprint(&old), "OLD")
        .name(fingerprint(&next), "NEXT");
    story.judge(&GATES).runs(&["lock"]);
    write_signed(&stage, &[(NOBLE, &[&next]), (JAMMY, &[&next])]);
    story.note("signed again").runs(&["lock"]).judge(&GATES);
    story.is(str![[r#"
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 1
error[signature-invalid]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read
error[signature-invalid]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read
$ lock => 1
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
error[signature-invalid]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read --> values.yaml:2:3
error[signature-invalid]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read --> values.yaml:3:3
# signed again
$ lock => 0
updated JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
updated NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 0 added, 2 updated, 0 dropped; written
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 0

"#]]);
}

#[test]
fn a_key_that_was_blanked_is_refused_until_each_image_is_named() {
    let (stage, key) = signed();
    write_values(
        &stage,
        "0.4.12",
        &[NOBLE, JAMMY],
        "    cosign_publickey: ''\n",
    );
    let mut story = story(&stage).name(fingerprint(&key), "A");
    story.judge(&GATES).judge(&["lock", "lock --upgrade"]);
    let each = format!("lock --upgrade {NOBLE} {JAMMY}");
    story.runs(&[&each]).judge(&GATES);
    story.is(str![[r#"
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 1
error[signature-unchecked]: `oci://registry.example.org/os/JAMMY:0.4.12` is locked as signed by the key A, and the values name no key for it any more
error[signature-unchecked]: `oci://registry.example.org/os/NOBLE:0.4.12` is locked as signed by the key A, and the values name no key for it any more
$ lock, lock --upgrade => 1
error[signature-unchecked]: `oci://registry.example.org/os/JAMMY:0.4.12` is locked as signed by the key A, and the values name no key for it any more
error[signature-unchecked]: `oci://registry.example.org/os/NOBLE:0.4.12` is locked as signed by the key A, and the values name no key for it any more
$ lock --upgrade NOBLE JAMMY => 0
updated JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
updated NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 0 added, 2 updated, 0 dropped; written
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 0

"#]]);
    assert!(!lock_of(&stage).contains("verified"));
}

#[test]
fn another_images_name_is_a_finding_of_its_own_and_a_waiver_of_it_locks_the_image() {
    let key = Key::new();
    let stage = site_with(&key);
    let mut layout = registry(&stage);
    for (image, name) in [(NOBLE, "another"), (JAMMY, JAMMY)] {
        let digest = push(&mut layout, image, "0.4.12", "a");
        sign(&mut layout, image, &digest, &[&key], name);
    }
    let mut story = story(&stage).name(fingerprint(&key), "A");
    story.runs(&["lock"]);
    assert!(!lock_of(&stage).contains(NOBLE));
    let file = stage.read("metalmark.yaml");
    for rule in ["signature-invalid", "artifact-other-image"] {
        let waiver = format!("{{rule: {rule}, where: {NOBLE}, reason: renamed}}");
        stage.write("metalmark.yaml", &file);
        append_settings(&stage, &format!("policy: {{waivers: [{waiver}]}}"));
        story.note(&format!("a waiver of {rule}")).runs(&["lock"]);
    }
    assert_eq!(lock_of(&stage).matches("  verified:").count(), 1);
    story.judge(&GATES);
    remove_registry(&stage);
    story.note("nobody is asked again").runs(&["lock"]);
    story.is(str![[r#"
$ lock => 1
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: its signature was made for `registry.example.org/os/another` --> values.yaml:2:3
# a waiver of signature-invalid
$ lock => 1
metalmark.lock: 1 kept, 0 added, 0 updated, 0 dropped; unchanged
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: its signature was made for `registry.example.org/os/another` --> values.yaml:2:3
# a waiver of artifact-other-image
$ lock => 0
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
accepted NOBLE: artifact-other-image, waived: renamed
metalmark.lock: 1 kept, 1 added, 0 updated, 0 dropped; written
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 0
# nobody is asked again
$ lock => 0
accepted NOBLE: artifact-other-image, waived: renamed
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged

"#]]);
}

#[test]
fn a_waiver_of_an_invalid_signature_locks_what_it_accepts() {
    let stage = site_with(&Key::new());
    write_signed(&stage, &[(NOBLE, &[&Key::new()]), (JAMMY, &[])]);
    append_settings(
        &stage,
        "policy: {waivers: [{rule: signature-invalid, where: ubuntu-*, reason: one}, {rule: signature-missing, where: ubuntu-*, reason: two}]}",
    );
    let mut story = story(&stage);
    story.runs(&["lock"]).judge(&GATES);
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
accepted JAMMY: signature-missing, waived: two
accepted NOBLE: signature-invalid, waived: one
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 0

"#]]);
}

#[test]
fn required_signatures_are_not_relaxed_by_any_values_file() {
    let (stage, key) = signed();
    append_settings(&stage, "policy: {signatures: required}");
    let mut story = story(&stage).name(fingerprint(&key), "A");
    story.judge(&GATES);
    write_values(&stage, "0.4.12", &[NOBLE, JAMMY], "");
    story
        .note("the values name no key")
        .judge(&GATES)
        .judge(&["lock"]);
    stage.remove("metalmark.lock");
    story.note("no lock").judge(&["lock"]);
    assert_eq!(lock_of(&stage), "", "nothing is locked");
    write_values(&stage, "0.4.12", &[NOBLE, JAMMY], KEY);
    story
        .note("a key again")
        .judge(&["check", "render --stdout"]);
    // To skip the check is a value like any other.
    let skip = format!("{KEY}security: {{os_images: {{skip_signing_check: true}}}}\n");
    write_values(&stage, "0.4.12", &[NOBLE, JAMMY], &skip);
    write_signed(&stage, &[(NOBLE, &[&key]), (JAMMY, &[])]);
    story
        .note("skipped, and one is not signed")
        .judge(&["lock"]);
    assert!(!lock_of(&stage).contains(JAMMY));
    write_signed(&stage, &[(NOBLE, &[&key]), (JAMMY, &[&key])]);
    story
        .note("skipped, and both are")
        .judge(&["lock"])
        .judge(&GATES);
    // An address instead of an image, which nobody signs.
    let address = "capm3: {machine_image_url: 'https://x.example/a.raw', machine_image_checksum: 'https://x.example/a.raw.sha256sum', machine_image_checksum_type: sha256, machine_image_format: raw}";
    let image = format!("capm3: {{image_key: {NOBLE}}}");
    stage.edit("values.yaml", &image, address);
    story.note("an address").judge(&["check"]);
    story.is(str![[r#"
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 0
# the values name no key
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 1
error[signature-unchecked]: `policy.signatures` requires signatures, and the values name no key for images of registry `sylva`
$ lock => 1
error[signature-unchecked]: `policy.signatures` requires signatures, and the values name no key for images of registry `sylva`
# no lock
$ lock => 1
error[signature-unchecked]: `policy.signatures` requires signatures, and the values name no key for images of registry `sylva`
# a key again
$ check, render --stdout => 1
error[lock-missing-image]: the policy requires signatures, and there is no lock with those of `JAMMY`, `NOBLE`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
# skipped, and one is not signed
$ lock => 1
error[signature-missing]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: it has no signature
# skipped, and both are
$ lock => 0
$ check, check --frozen, lock --check, render --frozen --stdout, verify => 0
# an address
$ check => 1
error[k8s-version-unproven]: nothing proves that image `a.raw` holds Kubernetes `v1.31.8+rke2r1`
error[signature-unchecked]: `policy.signatures` requires signatures, and nothing can sign the address that node pool `control-plane` boots: it is not an OCI artifact
warning[checksum-by-url]: the checksum is a URL

"#]]);
}

/// What nothing can sign counts where its server is among those that require signatures.
#[test]
fn a_file_of_a_web_server_is_required_to_be_signed_below_the_prefixes_alone() {
    let prefixes = [
        "files.example.org",
        "https://files.example.org/os",
        "files.example.org/o",
        "registry.example.org",
    ];
    let table = table(prefixes, |prefix| {
        let stage = site();
        write_values(&stage, "0.4.12", &[], "");
        let facts = format!(
            "filename: a.raw, image-format: raw, sha256: {}, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1",
            "a".repeat(64)
        );
        prepend_values(
            &stage,
            &format!(
                "os_images: {{{NOBLE}: {{uri: 'https://files.example.org/os/a.raw', {facts}}}}}\n"
            ),
        );
        append_settings(
            &stage,
            &format!("policy: {{signatures: {{'{prefix}': required}}}}"),
        );
        stage.check().findings
    });
    table.is(str![[r#"
files.example.org
    error[signature-unchecked] edge-1 values.yaml:1:13 `ubuntu-noble-plain-rke2-1-31-8` => cosign sign | oci://…
https://files.example.org/os
    error[signature-unchecked] edge-1 values.yaml:1:13 `ubuntu-noble-plain-rke2-1-31-8` => cosign sign | oci://…
files.example.org/o
    warning[project-file] metalmark.yaml:5:46 `required`
registry.example.org
    warning[project-file] metalmark.yaml:5:47 `required`

"#]]);
}

#[test]
fn signatures_are_required_below_a_registry() {
    let prefixes = [
        "registry.example.org/os",
        "oci://registry.example.org",
        "registry.example.org/o",
    ];
    let required = |prefix: &str| format!("policy: {{signatures: {{'{prefix}': required}}}}");
    let table = table(prefixes, |prefix| {
        let stage = site();
        write_registry(&stage, &[NOBLE, JAMMY], "0.4.12", "a");
        append_settings(&stage, &required(prefix));
        let outcome = stage.run("lock").outcome;
        let lines = outcome.stderr.lines().chain(outcome.stdout.lines());
        let lines = lines.filter(|it| it.starts_with("error[") || it.starts_with("metalmark.lock"));
        lines.map(str::to_owned).collect()
    });
    table.is(str![[r#"
registry.example.org/os
    error[signature-unchecked]: `policy.signatures` requires signatures, and the values name no key for images of registry `sylva`
    metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
oci://registry.example.org
    error[signature-unchecked]: `policy.signatures` requires signatures, and the values name no key for images of registry `sylva`
    metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
registry.example.org/o
    metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written

"#]]);
    // Where there is a lock, what it lacks is reported of it.
    let (stage, _) = signed();
    append_settings(&stage, &required("registry.example.org/os"));
    let more = [NOBLE, JAMMY, "ubuntu-noble-plain-rke2-1-30-1"];
    write_values(&stage, "0.4.12", &more, KEY);
    let mut story = story(&stage);
    story.judge(&["check --frozen"]);
    stage.edit(
        "metalmark.yaml",
        &required("registry.example.org/os"),
        "policy: {signatures: optional}",
    );
    story.judge(&["check"]);
    story.is(str![[r#"
$ check --frozen => 1
error[lock-missing-image]: the lock does not hold image `ubuntu-noble-plain-rke2-1-30-1`
$ check => 1
error[project-file]: `policy.signatures` is one of `required`, not `optional`
warning[lock-missing-image]: the lock does not hold image `ubuntu-noble-plain-rke2-1-30-1`

"#]]);
}

#[test]
fn a_registry_is_one_however_its_host_is_spelled() {
    let written = "oci://registry.example.org/os";
    let spellings = [
        written,
        "OCI://Registry.EXAMPLE.org/os/",
        "oci://registry.example.org:443/os",
        "oci://REGISTRY.example.org:00443/os",
    ];
    // The policy of the registry holds.
    for (prefix, url) in spellings.iter().zip(spellings.iter().rev()) {
        let stage = site();
        write_registry(&stage, &[NOBLE, JAMMY], "0.4.12", "a");
        append_settings(
            &stage,
            &format!("policy: {{signatures: {{'{prefix}': required}}}}"),
        );
        stage.edit("values.yaml", written, url);
        let outcome = stage.run("lock").exit(1).outcome;
        let reported = outcome
            .stderr
            .contains("`policy.signatures` requires signatures");
        assert!(reported, "{prefix} {url}: {}", outcome.stderr);
        assert_eq!(lock_of(&stage), "", "{prefix} {url}");
    }
    // Requests go to its mirror, and its images are locked under one name.
    let stage = locked_site();
    let lock = lock_of(&stage);
    for (prefix, url) in spellings.iter().zip(spellings.iter().rev()) {
        let stage = site();
        write_registry(&stage, &[NOBLE, JAMMY], "0.4.12", "a");
        let mirror = prefix.split_once("://").expect("a scheme").1;
        stage.edit("metalmark.yaml", "registry.example.org/os", mirror);
        stage.edit("values.yaml", written, url);
        let _ = stage.run("lock").exit(0);
        assert_eq!(lock_of(&stage), lock, "{prefix} {url}");
        // And locked under another spelling of it, they are locked.
        let other = lock.replace(written, "oci://Registry.example.org:443/os");
        stage.write("metalmark.lock", other);
        let _ = stage.run("check --frozen").exit(0);
    }
}

#[test]
fn an_images_own_key_that_cannot_be_evaluated_locks_nothing() {
    let table = table(["'{{ .Values.keys.gone.pub }}'", "[]", "{a: b}"], |key| {
        let stage = site();
        write_registry(&stage, &[NOBLE], "0.4.12", "a");
        write_values(&stage, "0.4.12", &[], "");
        stage.edit("values.yaml", "sylva_diskimagebuilder_images:\n", "");
        prepend_values(
            &stage,
            &format!(
                "os_images:\n  {NOBLE}: {{uri: 'oci://registry.example.org/os/{NOBLE}:0.4.12', cosign_publickey: {key}}}\n"
            ),
        );
        let reported = stage.run("lock").exit(1).outcome.stderr;
        assert_eq!(lock_of(&stage), "", "{key}");
        let lines = reported.lines().filter(|line| line.starts_with("error["));
        lines.map(str::to_owned).collect()
    });
    table.is(str![[r#"
'{{ .Values.keys.gone.pub }}'
    error[signature-invalid]: the key that images of image `ubuntu-noble-plain-rke2-1-31-8` are signed with cannot be used: its value cannot be evaluated
    error[value-missing]: cannot read `.gone` of nil
[]
    error[signature-invalid]: the key that images of image `ubuntu-noble-plain-rke2-1-31-8` are signed with cannot be used: its value cannot be evaluated
{a: b}
    error[signature-invalid]: the key that images of image `ubuntu-noble-plain-rke2-1-31-8` are signed with cannot be used: its value cannot be evaluated

"#]]);
}

#[test]
fn what_could_not_be_had_is_reported_with_the_line_that_wants_it_and_once_a_cause() {
    let stage = site();
    stage.edit("metalmark.yaml", "oci-layout:registry", "nosuch.invalid/os");
    let outcome = stage.run("lock").exit(2).outcome;
    let reported = outcome.stderr;
    assert_eq!(reported.matches("(DNS)").count(), 1, "{reported}");
    for (line, key) in [(3, JAMMY), (2, NOBLE)] {
        let place = format!("\n  --> values.yaml:{line}:3 (`{key}`)\n");
        assert!(reported.contains(&place), "{reported}");
    }
}

/// A pool may name an artifact that is no image of the catalog: then the lock has no entry that proves it.
#[test]
fn an_address_of_a_pool_is_demanded_to_be_signed_until_it_is_an_image() {
    let (stage, _) = signed();
    let address = |reference: &str| {
        format!(
            "capm3: {{machine_image_url: 'oci://registry.example.org/{reference}', machine_image_format: qcow2}}"
        )
    };
    let values = stage.read("values.yaml");
    let image = format!("capm3: {{image_key: {NOBLE}}}");
    let file = stage.read("metalmark.yaml");
    let demands = [
        "signatures: {registry.example.org/os: required}",
        "provenance: [{images: registry.example.org/os, key: a.pub, signature: true}]",
    ];
    let locked = format!("os/{NOBLE}:0.4.12");
    let table = table(demands, |demand| {
        stage.write("metalmark.yaml", format!("{file}policy: {{{demand}}}\n"));
        let said = |reference: &str| {
            stage.write("values.yaml", values.replace(&image, &address(reference)));
            let found = stage.check().findings.into_iter();
            let found = found.filter(|it| it.contains("signature-"));
            let found = found.map(|it| format!("  {it}"));
            [reference.to_owned()]
                .into_iter()
                .chain(found)
                .collect::<Vec<_>>()
        };
        ["os/other:1", "others/x:1", &*locked].map(said).concat()
    });
    table.is(str![[r#"
signatures: {registry.example.org/os: required}
    os/other:1
      error[signature-unchecked] edge-1 values.yaml:15:30 `'oci://registry.example.org/os/other:1'` => uri | images.records | metalmark lock
    others/x:1
    os/ubuntu-noble-plain-rke2-1-31-8:0.4.12
provenance: [{images: registry.example.org/os, key: a.pub, signature: true}]
    os/other:1
      error[signature-unchecked] edge-1 values.yaml:15:30 `'oci://registry.example.org/os/other:1'` => uri | images.records | metalmark lock
    others/x:1
    os/ubuntu-noble-plain-rke2-1-31-8:0.4.12

"#]]);
}
