//! Keys that the project file names: any, all or some of them, by prefix, and those that prove nothing any more.

use serde_json::{Value, json};
use snapbox::str;

use super::{JAMMY, NOBLE, append_settings, lock_of, site, story, write_signed};
use super::{remove_registry, write_values};
use crate::support::Outcome;
use crate::support::cosign::Key;
use crate::support::stage::{Stage, project};
use crate::support::story::Story;

const GATES: [&str; 3] = ["check --frozen", "lock --check", "verify"];

/// A project with two images of one registry, signed by other keys each, whose values name no key.
struct Signed {
    stage: Stage,
    old: Key,
    new: Key,
}

impl Signed {
    fn new() -> Self {
        // Several signers are printed in the order of their fingerprints.
        let mut keys = [Key::new(), Key::new()];
        keys.sort_by_key(|key| key.fingerprint().to_string());
        let (stage, [old, new]) = (site(), keys);
        stage.write("old.pub", old.pem());
        stage.write("new.pub", new.pem());
        write_signed(&stage, &[(NOBLE, &[&old, &new]), (JAMMY, &[&old])]);
        stage.write("project", stage.read("metalmark.yaml"));
        Self { stage, old, new }
    }

    /// The project file with that policy.
    fn write_policy(&self, policy: &str) {
        let file = self.stage.read("project");
        self.stage.write("metalmark.yaml", file);
        append_settings(&self.stage, &format!("policy:\n{policy}"));
    }

    fn story(&self) -> Story<'_> {
        story(&self.stage)
            .name(self.old.fingerprint().to_string(), "OLD")
            .name(self.new.fingerprint().to_string(), "NEW")
    }
}

const KEYS: &str = "  keys: {old: old.pub, new: new.pub}\n";

#[test]
fn any_all_or_some_keys_have_to_have_signed() {
    let signed = Signed::new();
    let mut story = signed.story();
    for demand in [
        "{'*': {keys: [old, new]}}",
        "{registry.example.org/os: {keys: [old, new], need: all}}",
        "{'*': {keys: [new], need: 1}}",
        // The longest prefix counts.
        "{registry.example.org: required, registry.example.org/os: {keys: [old]}}",
    ] {
        signed.write_policy(&format!("{KEYS}  signatures: {demand}"));
        let _ = std::fs::remove_file(signed.stage.path().join("metalmark.lock"));
        let _ = std::fs::remove_file(signed.stage.path().join("metalmark.evidence"));
        story.note(demand).run("lock");
        let lock = lock_of(&signed.stage);
        let count = |key: &Key| lock.matches(key.fingerprint().as_str()).count();
        story.note(&format!(
            "old {}, new {}",
            count(&signed.old),
            count(&signed.new)
        ));
    }
    story.is(str![[r#"
# {'*': {keys: [old, new]}}
$ lock => 0
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
# old 2, new 1
# {registry.example.org/os: {keys: [old, new], need: all}}
$ lock => 1
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
error[signature-invalid]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read; 1 of the 2 keys of `policy.signatures` signed it, and 2 have to --> values.yaml:3:3
# old 1, new 1
# {'*': {keys: [new], need: 1}}
$ lock => 1
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
error[signature-invalid]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read --> values.yaml:3:3
# old 0, new 1
# {registry.example.org: required, registry.example.org/os: {keys: [old]}}
$ lock => 0
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
# old 2, new 0

"#]]);
}

/// The keys of both years count until all images are signed with the new one, then the old one is taken away.
#[test]
fn a_key_is_rotated_with_an_overlap() {
    let signed = Signed::new();
    let mut story = signed.story();
    let overlap = format!("{KEYS}  signatures: {{'*': {{keys: [old, new]}}}}");
    signed.write_policy(&overlap);
    story.runs(&["lock", "verify", "verify --key old", "verify --key new"]);
    let resting = signed.stage.data("verify --key old");
    let images = resting["images"].as_array().expect("a list").iter();
    let others: Vec<&Value> = images.map(|image| &image["others"]).collect();
    let new = json!([signed.new.fingerprint().as_str()]);
    assert_eq!(others, [&json!([]), &new], "{resting}");
    assert_eq!(resting["key"], signed.old.fingerprint().as_str());
    signed.write_policy(&format!("{KEYS}  signatures: {{'*': {{keys: [new]}}}}"));
    story.note("without the old one").judge(&GATES);
    write_signed(
        &signed.stage,
        &[(NOBLE, &[&signed.new]), (JAMMY, &[&signed.new])],
    );
    story.note("all is signed again").run("lock");
    remove_registry(&signed.stage);
    story.judge(&GATES[..2]);
    story.run("verify --key old.pub");
    story.run(&format!("verify --key {}", signed.new.fingerprint()));
    story.run("verify --key gone.pub");
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ verify => 0
IMAGE                           TAG        SIGNED BY                                 REFERENCE
JAMMY  as locked  OLD                       oci://registry.example.org/os/JAMMY:0.4.12
NOBLE  as locked  OLD, NEW  oci://registry.example.org/os/NOBLE:0.4.12
$ verify --key old => 0
IMAGE                           SIGNED BY OTHERS     REFERENCE
JAMMY  –                    oci://registry.example.org/os/JAMMY:0.4.12
NOBLE  NEW  oci://registry.example.org/os/NOBLE:0.4.12
$ verify --key new => 0
IMAGE                           SIGNED BY OTHERS     REFERENCE
NOBLE  OLD  oci://registry.example.org/os/NOBLE:0.4.12
# without the old one
$ check --frozen, lock --check, verify => 1
error[signature-invalid]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read
# all is signed again
$ lock => 0
updated JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
updated NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 0 added, 2 updated, 0 dropped; written
$ check --frozen, lock --check => 0
$ verify --key old.pub => 0
no locked image is signed by the key OLD
$ verify --key NEW => 0
IMAGE                           SIGNED BY OTHERS  REFERENCE
JAMMY  –                 oci://registry.example.org/os/JAMMY:0.4.12
NOBLE  –                 oci://registry.example.org/os/NOBLE:0.4.12
$ verify --key gone.pub => 2
error: `gone.pub` is not a key under `policy.keys`, no fingerprint and no public key: it is not a PEM public key, and there is no such file

"#]]);
}

/// The key has leaked: nothing rests on it any more, whichever file names it.
#[test]
fn a_denied_key_proves_nothing() {
    let signed = Signed::new();
    write_values(
        &signed.stage,
        "0.4.12",
        &[NOBLE, JAMMY],
        "    cosign_publickey: old.pub\n",
    );
    let mut story = signed.story();
    story.run("lock");
    signed.write_policy("  denied-keys: [old.pub]");
    story.note("a file").judge(&GATES);
    signed.write_policy(&format!("  denied-keys: ['{}']", signed.old.fingerprint()));
    story.note("a fingerprint").judge(&GATES);
    signed.write_policy(&format!(
        "{KEYS}  denied-keys: [old]\n  signatures: {{'*': {{keys: [new]}}}}"
    ));
    story
        .note("the project file names another key")
        .judge(&GATES);
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
# a file
$ check --frozen, lock --check, verify => 1
error[signature-invalid]: the key that images of registry `sylva` are signed with cannot be used: the project file denies it: `policy.denied-keys`
# a fingerprint
$ check --frozen, lock --check, verify => 1
error[signature-invalid]: the key that images of registry `sylva` are signed with cannot be used: the project file denies it: `policy.denied-keys`
# the project file names another key
$ check --frozen, lock --check, verify => 1
error[signature-invalid]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read
error[signature-invalid]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read

"#]]);
}

#[test]
fn a_project_file_that_contradicts_itself_is_refused() {
    let signed = Signed::new();
    let mut story = signed.story();
    for policy in [
        "  signatures: {'*': {keys: [old, new], need: 3}}",
        "  signatures: {'*': {keys: []}}",
        "  signatures: {'*': {keys: [old, new], need: 0}}",
        "  signatures: {'*': {keys: [old, old.pub]}}",
        "  signatures: {'*': {keys: [older]}}",
        "  signatures: {'*': {keys: [metalmark.yaml]}}",
        "  denied-keys: [old]\n  signatures: {'*': {keys: [old, new]}}",
        "  denied-keys: [gone.pub]",
        "  signatures: required\n  rules: {signature-unchecked: off}",
        "  signatures: {'*': {keys: [old]}}\n  rules: {signature-missing: warning}",
        "  signatures: {'*': {keys: [old]}}\n  rules: {signature-invalid: error}",
        "  signatures: {'no prefix': required}",
    ] {
        signed.write_policy(&format!("{KEYS}{policy}"));
        story.note(policy).judge(&["check"]);
    }
    story.is(str![[r#"
#   signatures: {'*': {keys: [old, new], need: 3}}
$ check => 1
error[project-file]: 3 of 2 keys can never have signed an image
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
#   signatures: {'*': {keys: []}}
$ check => 1
error[project-file]: 1 of 0 keys can never have signed an image
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
#   signatures: {'*': {keys: [old, new], need: 0}}
$ check => 1
error[project-file]: 0 of 2 keys can never have signed an image
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
#   signatures: {'*': {keys: [old, old.pub]}}
$ check => 1
error[project-file]: the key `old.pub` is listed twice, and would count twice
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
#   signatures: {'*': {keys: [older]}}
$ check => 1
error[project-file]: the key `older` cannot be used: it is not a PEM public key, and there is no such file
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
#   signatures: {'*': {keys: [metalmark.yaml]}}
$ check => 1
error[project-file]: the key `metalmark.yaml` cannot be used: it holds no `-----BEGIN PUBLIC KEY-----`: cosign writes one to cosign.pub
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
#   denied-keys: [old]
  signatures: {'*': {keys: [old, new]}}
$ check => 1
error[project-file]: the key `old` is denied by `denied-keys`, and has to have signed images here
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
#   denied-keys: [gone.pub]
$ check => 1
error[project-file]: the key `gone.pub` cannot be used: it is not a PEM public key, and there is no such file
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
#   signatures: required
  rules: {signature-unchecked: off}
$ check => 1
error[project-file]: `policy.signatures` requires signatures, and `policy.rules` makes `signature-unchecked` no error
error[lock-missing-image]: the policy requires signatures, and there is no lock with those of `JAMMY`, `NOBLE`
error[signature-unchecked]: `policy.signatures` requires signatures, and the values name no key for images of registry `sylva`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
#   signatures: {'*': {keys: [old]}}
  rules: {signature-missing: warning}
$ check => 1
error[project-file]: `policy.signatures` requires signatures, and `policy.rules` makes `signature-missing` no error
error[lock-missing-image]: the policy requires signatures, and there is no lock with those of `JAMMY`, `NOBLE`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
#   signatures: {'*': {keys: [old]}}
  rules: {signature-invalid: error}
$ check => 1
error[lock-missing-image]: the policy requires signatures, and there is no lock with those of `JAMMY`, `NOBLE`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
#   signatures: {'no prefix': required}
$ check => 1
error[project-file]: `no prefix` is not a registry, nor a prefix of repositories in one
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`

"#]]);
}

/// What it demands would protect nothing.
#[test]
fn a_prefix_that_nothing_can_be_below_is_an_error() {
    for (prefix, is_refused) in [
        ("registry.example.org/Sylva-Projects", true),
        ("oci://registry.example.org/Sylva-Projects", true),
        ("registry.example.org/*", true),
        ("https://registry.example.org/*", true),
        ("REGISTRY.example.org:443/sylva-projects", false),
        ("https://registry.example.org/Sylva-Projects", false),
    ] {
        for policy in [
            format!("{{signatures: {{'{prefix}': required}}}}"),
            format!("{{provenance: [{{images: '{prefix}', key: a.pub, signature: true}}]}}"),
        ] {
            let stage = project()
                .settings(&format!("policy: {policy}"))
                .cluster("edge", "cluster: {k8s_version: v1.31.8+rke2r1}");
            let said = format!("`{prefix}` is not a registry, nor a prefix");
            let Outcome { stdout, stderr, .. } = stage.run("check").outcome;
            let shown = stdout + &stderr;
            assert_eq!(shown.contains(&said), is_refused, "{policy}: {shown}");
        }
    }
}

/// A level for one cluster would take back what the policy demands of all.
#[test]
fn no_level_anywhere_takes_back_what_the_policy_demands() {
    let signed = Signed::new();
    write_values(
        &signed.stage,
        "0.4.12",
        &[NOBLE, JAMMY],
        "    cosign_publickey: old.pub\n",
    );
    let mut story = signed.story();
    story.run("lock");
    signed.stage.remove("metalmark.evidence");
    let proven = "  provenance: [{images: registry.example.org, signature: true, key: old.pub}]\n";
    for policy in [
        "  signatures: required\n  rules: {lock-stale: off}",
        "  signatures: required\n  rules: {artifact-other-image: warning, project-file: off}",
        "  signatures: required\n  rules: {lock-stale: {level: off}, image-outdated: warning, provenance-unproven: off}",
        "  signatures: required\n  clusters: {'*': {lock-stale: off}, 'ed*': {signature-unchecked: warning}}",
        &format!(
            "{proven}  clusters: {{edge: {{provenance-unproven: off, signature-missing: off}}}}"
        ),
        &format!("{proven}  rules: {{lock-stale: warning}}"),
    ] {
        signed.write_policy(policy);
        story.note(policy).judge(&GATES[..2]);
    }
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
#   signatures: required
  rules: {lock-stale: off}
$ check --frozen => 1
error[project-file]: `policy.signatures` requires signatures, and `policy.rules` makes `lock-stale` no error
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --check => 1
error[project-file]: `policy.signatures` requires signatures, and `policy.rules` makes `lock-stale` no error
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
#   signatures: required
  rules: {artifact-other-image: warning, project-file: off}
$ check --frozen => 1
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --check => 1
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
#   signatures: required
  rules: {lock-stale: {level: off}, image-outdated: warning, provenance-unproven: off}
$ check --frozen => 1
error[project-file]: `policy.signatures` requires signatures, and `policy.rules` makes `lock-stale` no error
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --check => 1
error[project-file]: `policy.signatures` requires signatures, and `policy.rules` makes `lock-stale` no error
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
#   signatures: required
  clusters: {'*': {lock-stale: off}, 'ed*': {signature-unchecked: warning}}
$ check --frozen => 1
error[project-file]: `policy.signatures` requires signatures, and `policy.clusters.*` makes `lock-stale` no error
error[project-file]: `policy.signatures` requires signatures, and `policy.clusters.ed*` makes `signature-unchecked` no error
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --check => 1
error[project-file]: `policy.signatures` requires signatures, and `policy.clusters.*` makes `lock-stale` no error
error[project-file]: `policy.signatures` requires signatures, and `policy.clusters.ed*` makes `signature-unchecked` no error
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
#   provenance: [{images: registry.example.org, signature: true, key: old.pub}]
  clusters: {edge: {provenance-unproven: off, signature-missing: off}}
$ check --frozen => 1
error[project-file]: `policy.provenance` requires proof, and `policy.clusters.edge` makes `provenance-unproven` no error
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
warning[project-file]: `policy.clusters` has `edge`, which matches no cluster and no node pool
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --check => 1
error[project-file]: `policy.provenance` requires proof, and `policy.clusters.edge` makes `provenance-unproven` no error
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
#   provenance: [{images: registry.example.org, signature: true, key: old.pub}]
  rules: {lock-stale: warning}
$ check --frozen => 1
error[project-file]: `policy.provenance` requires proof, and `policy.rules` makes `lock-stale` no error
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --check => 1
error[project-file]: `policy.provenance` requires proof, and `policy.rules` makes `lock-stale` no error
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that their signatures cannot be proven

"#]]);
}

/// A waiver names an image, whichever registry lacks the key.
#[test]
fn a_waiver_reaches_an_image_without_a_key() {
    let signed = Signed::new();
    let waiver = |pattern: &str| {
        format!(
            "  waivers: [{{rule: signature-unchecked, where: {pattern}, reason: lab, until: 2099-01-01}}]"
        )
    };
    let mut story = signed.story();
    for pattern in [NOBLE, "'ubuntu-*'"] {
        signed.write_policy(&format!("  signatures: required\n{}", waiver(pattern)));
        story.note(pattern).runs(&["lock", "check --frozen"]);
    }
    story.is(str![[r#"
# ubuntu-noble-plain-rke2-1-31-8
$ lock => 1
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
accepted NOBLE: signature-unchecked, waived: lab
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
error[signature-unchecked]: `policy.signatures` requires signatures, and the values name no key for images of registry `sylva` --> values.yaml:5:3
1 error in 1 cluster
$ check --frozen => 1
error[lock-missing-image]: the lock does not hold image `JAMMY` --> values.yaml:3:3
error[signature-unchecked]: `policy.signatures` requires signatures, and the values name no key for images of registry `sylva` --> values.yaml:5:3
2 errors in 1 cluster; 1 node pool checked: 1 proven
# 'ubuntu-*'
$ lock => 0
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
accepted JAMMY: signature-unchecked, waived: lab
accepted NOBLE: signature-unchecked, waived: lab
metalmark.lock: 1 kept, 1 added, 0 updated, 0 dropped; written
$ check --frozen => 0
no findings in 1 cluster; 1 node pool checked: 1 proven

"#]]);
}

/// What `policy.provenance` demands of a key rests on it as well.
#[test]
fn a_denied_key_proves_no_origin() {
    let signed = Signed::new();
    let mut story = signed.story();
    let demand = "  provenance: [{images: registry.example.org, key: old.pub, signature: true}]";
    signed.write_policy(demand);
    story.runs(&["lock", "verify --key old.pub"]);
    signed.write_policy(&format!("  denied-keys: [old.pub]\n{demand}"));
    story.note("denied").judge(&GATES).run("lock");
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ verify --key old.pub => 0
IMAGE                           SIGNED BY OTHERS  REFERENCE
JAMMY  –                 oci://registry.example.org/os/JAMMY:0.4.12
NOBLE  –                 oci://registry.example.org/os/NOBLE:0.4.12
# denied
$ check --frozen, lock --check => 1
error[project-file]: the key OLD is denied by `denied-keys`, and has to have signed images here
$ verify => 2
error: the project file cannot be relied on: the key OLD is denied by `denied-keys`, and has to have signed images here
$ lock => 1
error[project-file]: the key OLD is denied by `denied-keys`, and has to have signed images here --> metalmark.yaml:7:16

"#]]);
}
