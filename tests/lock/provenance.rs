//! What the project demands to be signed of an image's origin is looked for once, kept, and proven by every command without a
//! registry.

use std::fs;

use oci_artifacts::Digest;
use serde_json::{Value, json};
use snapbox::str;

use super::{
    NOBLE, append_settings, lock_of, push, registry, remove_registry, site, story, write_values,
};
use crate::support::cosign::{BUNDLE, Key, SIGN, SIMPLE, payload, signed_bundle};
use crate::support::layout::{LayoutWriter, MANIFEST};
use crate::support::sigstore::{GITLAB, JOB, Signing, Sigstore, statement};
use crate::support::stage::Stage;

const SLSA: &str = "https://slsa.dev/provenance/v1";
const SPDX: &str = "https://spdx.dev/Document/v2.3";

/// What the job of the repository says that it built from a commit.
fn slsa(source: &str, commit: &str) -> Value {
    json!({
        "buildDefinition": {
            "externalParameters": {"source": source},
            "resolvedDependencies": [{"uri": source, "digest": {"gitCommit": commit}}],
        },
        "runDetails": {"builder": {"id": "https://gitlab.example/os/images/-/runners/7"}},
    })
}

const SOURCE: &str = "https://gitlab.example/os/images";

/// The policy: the job signs provenance of its repository, and a list of contents.
const POLICY: &str = "policy:\n  provenance:\n    - images: registry.example.org/os\n      \
    identity: https://gitlab.example/os/images//.gitlab-ci.yml@refs/tags/*\n      issuer: https://gitlab.example\n      \
    trusted-root: root.json\n      slsa: {source: https://gitlab.example/os/images}\n      sbom: spdx\n";

/// A project of one image whose origin has to be proven by an instance.
fn demanding(instance: &Sigstore) -> Stage {
    let stage = site();
    write_values(&stage, "0.4.12", &[NOBLE], "");
    stage.write("root.json", instance.root().to_string());
    append_settings(&stage, POLICY);
    stage
}

/// The registry with the image, and these bundles that refer to it.
fn publish(stage: &Stage, bundles: impl FnOnce(&Digest) -> Vec<Value>) -> LayoutWriter {
    let mut layout = registry(stage);
    let digest = push(&mut layout, NOBLE, "0.4.12", "a");
    for bundle in bundles(&digest) {
        let layer = layout.blob(BUNDLE, bundle.to_string().as_bytes());
        let subject = layout.describe(&digest, MANIFEST);
        layout.manifest(None, json!({"layers": [layer], "subject": subject}));
    }
    layout
}

/// What the job attests of the image.
fn attested(instance: &Sigstore, digest: &Digest, source: &str) -> Vec<Value> {
    let attest = |kind, predicate: &Value| {
        instance.attest(&statement(digest, kind, predicate), &Signing::default())
    };
    vec![
        attest(SLSA, &slsa(source, "c0ffee")),
        attest(SPDX, &json!({"spdxVersion": "SPDX-2.3"})),
    ]
}

#[test]
fn what_is_attested_is_locked_with_its_origin_and_proven_without_a_registry() {
    let instance = Sigstore::new();
    let stage = demanding(&instance);
    let mut story = story(&stage);
    publish(&stage, |_| Vec::new());
    story
        .note("nothing is attested")
        .runs(&["lock", "check --frozen"]);
    assert!(!lock_of(&stage).contains(NOBLE));
    publish(&stage, |digest| {
        attested(&instance, digest, "https://gitlab.example/os/fork")
    });
    story.note("built from a fork").runs(&["lock"]);
    publish(&stage, |digest| attested(&instance, digest, SOURCE));
    story.note("as demanded").runs(&["lock", "verify"]);
    remove_registry(&stage);
    story.note("without the registry");
    story.runs(&["lock", "lock --check", "check --frozen", "render --frozen"]);
    for words in [
        "images --output json",
        "page",
        "explain edge-1/control-plane",
    ] {
        let said = stage.run(words).outcome.stdout;
        assert!(
            said.contains("c0ffee") && said.contains("/-/runners/7"),
            "{words}: {said}"
        );
    }
    let lock = lock_of(&stage);
    let (_, provenance) = lock.split_once("  provenance:\n").expect("provenance");
    let expected = format!(
        "    builder: https://gitlab.example/os/images/-/runners/7\n    revision: c0ffee\n    \
         signer: {JOB} (issuer {GITLAB})\n    source: {SOURCE}\n"
    );
    let provenance = provenance.replace('"', "");
    assert!(provenance.starts_with(&expected), "{provenance}");
    story.is(str![[r#"
# nothing is attested
$ lock => 1
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
error[provenance-unproven]: `oci://registry.example.org/os/NOBLE:0.4.12` is not proven to come from where the project says: it has no SLSA provenance; it has no SBOM in SPDX --> values.yaml:2:3
$ check --frozen => 1
error[lock-missing-image]: there is no lock, and so none of image `NOBLE` --> values.yaml:2:3
error[checksum-missing]: the sha256 of image `NOBLE` is not known --> values.yaml:13:22
error[format-missing]: the format of image `NOBLE` is not known --> values.yaml:13:22
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:13:22
3 errors, 1 warning in 1 cluster; 1 node pool checked: 1 by name only
# built from a fork
$ lock => 1
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
error[provenance-unproven]: `oci://registry.example.org/os/NOBLE:0.4.12` is not proven to come from where the project says: it has no SLSA provenance that counts: its `source` is `https://gitlab.example/os/fork`, not `https://gitlab.example/os/images` --> values.yaml:2:3
# as demanded
$ lock => 0
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
$ verify => 0
IMAGE                           TAG        SIGNED BY  REFERENCE
NOBLE  as locked  –          oci://registry.example.org/os/NOBLE:0.4.12
# without the registry
$ lock => 0
metalmark.lock: 1 kept, 0 added, 0 updated, 0 dropped; unchanged
$ lock --check => 0
no findings in 1 cluster
$ check --frozen => 0
no findings in 1 cluster; 1 node pool checked: 1 proven
$ render --frozen => 0
created  out/edge-1.yaml  +20
1 file rendered: 1 created

"#]]);
}

#[test]
fn an_edited_origin_missing_evidence_and_another_policy_are_errors_at_every_gate() {
    let instance = Sigstore::new();
    let stage = demanding(&instance);
    publish(&stage, |digest| attested(&instance, digest, SOURCE));
    let mut story = story(&stage);
    story.runs(&["lock"]);
    remove_registry(&stage);
    let (lock, evidence) = (
        stage.read("metalmark.lock"),
        stage.read("metalmark.evidence"),
    );
    let settings = stage.read("metalmark.yaml");
    let gates = ["check", "render --frozen", "lock --check"];
    stage.write("metalmark.lock", lock.replace("c0ffee", "c0ffef"));
    story.note("another commit").runs(&gates);
    stage.write("metalmark.lock", &lock);
    let line: Value = serde_json::from_str(evidence.lines().nth(1).expect("a line")).expect("JSON");
    let mut bare = line.clone();
    bare["signatures"] = json!([line["signatures"][0]]);
    let (head, _) = evidence.split_once('\n').expect("a head");
    stage.write("metalmark.evidence", format!("{head}\n{bare}\n"));
    story.note("an attestation less").runs(&gates);
    stage.write("metalmark.evidence", &evidence);
    stage.write(
        "metalmark.yaml",
        settings.replace("refs/tags/*", "refs/heads/main"),
    );
    story.note("another identity").runs(&["check"]);
    stage.write("root.json", Sigstore::new().root().to_string());
    stage.write("metalmark.yaml", &settings);
    story.note("another instance").runs(&["check"]);
    stage.write("root.json", "{}");
    story.note("no root").runs(&["check"]);
    stage.write("root.json", instance.root().to_string());
    stage.write("metalmark.yaml", settings.replace(POLICY, ""));
    story.note("nothing is demanded any more").runs(&["check"]);
    publish(&stage, |_| Vec::new());
    story.runs(&["lock", "check"]);
    stage.write("metalmark.lock", lock);
    stage.write("metalmark.yaml", settings);
    fs::remove_file(stage.path().join("metalmark.evidence")).expect("removed");
    story.note("no evidence").runs(&["check"]);
    story.is(str![[r#"
$ lock => 0
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
# another commit
$ check => 1
error[lock-tampered]: `revision` of `NOBLE` is `c0ffef` by the lock, `c0ffee` by what is attested --> metalmark.lock:7:11
$ render --frozen => 1
error[lock-tampered]: `revision` of `NOBLE` is `c0ffef` by the lock, `c0ffee` by what is attested --> metalmark.lock:7:11
$ lock --check => 1
error[lock-tampered]: `revision` of `NOBLE` is `c0ffef` by the lock, `c0ffee` by what is attested --> metalmark.lock:7:11
# an attestation less
$ check => 1
error[provenance-unproven]: `oci://registry.example.org/os/NOBLE:0.4.12` is not proven to come from where the project says: it has no SBOM in SPDX --> metalmark.lock:7:11
$ render --frozen => 1
error[provenance-unproven]: `oci://registry.example.org/os/NOBLE:0.4.12` is not proven to come from where the project says: it has no SBOM in SPDX --> metalmark.lock:7:11
$ lock --check => 1
error[provenance-unproven]: `oci://registry.example.org/os/NOBLE:0.4.12` is not proven to come from where the project says: it has no SBOM in SPDX --> metalmark.lock:7:11
# another identity
$ check => 1
error[provenance-unproven]: `oci://registry.example.org/os/NOBLE:0.4.12` is not proven to come from where the project says: it has no SLSA provenance that counts: it was signed by `https://gitlab.example/os/images//.gitlab-ci.yml@refs/tags/0.4.12` (issuer `https://gitlab.example`); it has no SBOM in SPDX that counts: it was signed by `https://gitlab.example/os/images//.gitlab-ci.yml@refs/tags/0.4.12` (issuer `https://gitlab.example`) --> metalmark.lock:7:11
# another instance
$ check => 1
error[provenance-unproven]: `oci://registry.example.org/os/NOBLE:0.4.12` is not proven to come from where the project says: it has no SLSA provenance that counts: its log entry is of no log that the trusted root has for its time; it has no SBOM in SPDX that counts: its log entry is of no log that the trusted root has for its time --> metalmark.lock:7:11
# no root
$ check => 1
error[project-file]: what has to have signed images cannot be used: failed to parse JSON: missing field `mediaType` at line 1 column 2 --> metalmark.yaml:7:7
# nothing is demanded any more
$ check => 1
error[lock-stale]: the lock says otherwise where `NOBLE` comes from than the project demands proof of --> metalmark.lock:7:11
$ lock => 0
updated NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 0 added, 1 updated, 0 dropped; written
$ check => 0
no findings in 1 cluster; 1 node pool checked: 1 proven
# no evidence
$ check => 1
error[provenance-unproven]: `oci://registry.example.org/os/NOBLE:0.4.12` is not proven to come from where the project says: it has no SLSA provenance; it has no SBOM in SPDX --> metalmark.lock:7:11
warning[lock-stale]: the lock has no evidence of `NOBLE`, so that nothing proves what it says of them --> metalmark.lock:7:11
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:13:22
1 error, 2 warnings in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
}

#[test]
fn a_waived_demand_is_locked_and_says_nothing_of_an_origin() {
    let instance = Sigstore::new();
    let stage = demanding(&instance);
    publish(&stage, |_| Vec::new());
    append_settings(
        &stage,
        "  waivers: [{rule: provenance-unproven, where: '*', reason: old builds}]",
    );
    let mut story = story(&stage);
    story.runs(&["lock", "check --frozen"]);
    assert!(!lock_of(&stage).contains("provenance:"));
    story.is(str![[r#"
$ lock => 0
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
accepted NOBLE: provenance-unproven, waived: old builds
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
$ check --frozen => 0
no findings in 1 cluster; 1 node pool checked: 1 proven

"#]]);
}

#[test]
fn attestations_at_cosigns_tags_count_under_a_key_and_a_certificate() {
    let (instance, key) = (Sigstore::new(), Key::new());
    let stage = site();
    write_values(&stage, "0.4.12", &[NOBLE], "");
    stage.write("root.json", instance.root().to_string());
    stage.write("ci.pub", key.pem());
    append_settings(
        &stage,
        "policy:\n  provenance:\n    - {images: registry.example.org/os, key: ci.pub, slsa: {}}\n    \
         - {images: registry.example.org/os, identity: 'https://gitlab.example/*', issuer: 'https://gitlab.example', trusted-root: root.json, signature: true, predicates: {'https://scan.example/v1': {result: passed}}}",
    );
    let mut layout = registry(&stage);
    let digest = push(&mut layout, NOBLE, "0.4.12", "a");
    let tag = |ending: &str| {
        format!(
            "registry.example.org/os/{NOBLE}:sha256-{}.{ending}",
            digest.hex()
        )
    };
    // cosign 2's form: envelopes at one tag, with the certificate in annotations where there is one.
    let envelope = "application/vnd.dsse.envelope.v1+json";
    let by_key = signed_bundle(&key, &statement(&digest, SLSA, &slsa(SOURCE, "c0ffee")));
    let by_key: Value = serde_json::from_str(&by_key).expect("JSON");
    let keyed = layout.blob(envelope, by_key["dsseEnvelope"].to_string().as_bytes());
    let scan = statement(
        &digest,
        "https://scan.example/v1",
        &json!({"result": "passed"}),
    );
    let (scanned, annotations) = instance.attest_2(&scan, &Signing::default());
    let mut certified = layout.blob(envelope, scanned.to_string().as_bytes());
    certified["annotations"] = annotations;
    layout.manifest(Some(&tag("att")), json!({"layers": [keyed, certified]}));
    let simple = payload(&digest, &format!("registry.example.org/os/{NOBLE}"));
    let mut signature = layout.blob(SIMPLE, simple.as_bytes());
    signature["annotations"] = instance.annotations(simple.as_bytes(), &Signing::default());
    layout.manifest(Some(&tag("sig")), json!({"layers": [signature]}));
    let fingerprint = key.fingerprint().to_string();
    let mut story = story(&stage).name(fingerprint.clone(), "CI");
    story.runs(&["lock"]);
    remove_registry(&stage);
    story.runs(&["check --frozen"]);
    let lock = lock_of(&stage);
    let signers = format!("    signer: {JOB} (issuer {GITLAB}), {fingerprint}\n");
    assert!(lock.replace('"', "").contains(&signers), "{lock}");
    assert!(lock.contains("    revision: c0ffee\n"), "{lock}");
    story.is(str![[r#"
$ lock => 0
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
$ check --frozen => 0
no findings in 1 cluster; 1 node pool checked: 1 proven

"#]]);
}

#[test]
fn a_signature_under_a_certificate_is_what_required_demands() {
    let instance = Sigstore::new();
    let stage = site();
    write_values(&stage, "0.4.12", &[NOBLE], "");
    stage.write("root.json", instance.root().to_string());
    let sign = |digest: &Digest| {
        vec![instance.attest(&statement(digest, SIGN, &json!({})), &Signing::default())]
    };
    append_settings(&stage, "policy:\n  signatures: required");
    publish(&stage, sign);
    let mut story = story(&stage);
    story.runs(&["lock"]);
    append_settings(
        &stage,
        "  provenance:\n    - {images: registry.example.org/os, identity: 'https://gitlab.example/*', issuer: 'https://gitlab.example', trusted-root: root.json}",
    );
    story
        .note("by whom")
        .runs(&["check", "lock", "check --frozen"]);
    write_values(
        &stage,
        "0.4.12",
        &[NOBLE],
        "    cosign_publickey: sylva.pub\n",
    );
    stage.write("sylva.pub", Key::new().pem());
    story.note("values name a key too").runs(&["check"]);
    story.is(str![[r#"
$ lock => 1
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
error[signature-unchecked]: `policy.signatures` requires signatures, and the values name no key for images of registry `sylva` --> values.yaml:4:3
1 error in 1 cluster
# by whom
$ check => 1
error[lock-missing-image]: the policy requires signatures, and there is no lock with those of `NOBLE` --> values.yaml:2:3
error[checksum-missing]: the sha256 of image `NOBLE` is not known --> values.yaml:13:22
error[format-missing]: the format of image `NOBLE` is not known --> values.yaml:13:22
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:13:22
3 errors, 1 warning in 1 cluster; 1 node pool checked: 1 by name only
$ lock => 0
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
$ check --frozen => 0
no findings in 1 cluster; 1 node pool checked: 1 proven
# values name a key too
$ check => 1
error[signature-invalid]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: it was signed under a certificate of `https://gitlab.example/os/images//.gitlab-ci.yml@refs/tags/0.4.12` (issuer `https://gitlab.example`), and under no key --> metalmark.lock:7:11

"#]]);
}

#[test]
fn an_entry_that_says_not_who_has_to_have_signed_is_refused() {
    let stage = site();
    let mut story = story(&stage);
    for entry in [
        "{images: 'no prefix', key: a.pub}",
        "{images: registry.example.org/os}",
        "{images: registry.example.org/os, identity: '**', issuer: a, trusted-root: b}",
        "{images: registry.example.org/os, identity: a, issuer: b}",
        "{images: registry.example.org/os, key: a.pub, identity: a, issuer: b, trusted-root: c}",
        "{images: registry.example.org/os, key: none.pub}",
    ] {
        let settings = stage.read("metalmark.yaml");
        append_settings(&stage, &format!("policy: {{provenance: [{entry}]}}"));
        story.note(entry).runs(&["check"]);
        stage.write("metalmark.yaml", settings);
    }
    story.is(str![[r#"
# {images: 'no prefix', key: a.pub}
$ check => 1
error[project-file]: `no prefix` is not a registry, nor a prefix of repositories in one --> metalmark.yaml:5:23
error[checksum-missing]: the sha256 of image `NOBLE` is not known --> values.yaml:14:22
error[format-missing]: the format of image `NOBLE` is not known --> values.yaml:14:22
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:14:22
3 errors, 1 warning in 1 cluster; 1 node pool checked: 1 by name only
# {images: registry.example.org/os}
$ check => 1
error[project-file]: it does not say who has to have signed: a key, or an identity with all that proves it --> metalmark.yaml:5:23
error[checksum-missing]: the sha256 of image `NOBLE` is not known --> values.yaml:14:22
error[format-missing]: the format of image `NOBLE` is not known --> values.yaml:14:22
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:14:22
3 errors, 1 warning in 1 cluster; 1 node pool checked: 1 by name only
# {images: registry.example.org/os, identity: '**', issuer: a, trusted-root: b}
$ check => 1
error[project-file]: `identity` means everybody --> metalmark.yaml:5:23
error[checksum-missing]: the sha256 of image `NOBLE` is not known --> values.yaml:14:22
error[format-missing]: the format of image `NOBLE` is not known --> values.yaml:14:22
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:14:22
3 errors, 1 warning in 1 cluster; 1 node pool checked: 1 by name only
# {images: registry.example.org/os, identity: a, issuer: b}
$ check => 1
error[project-file]: it does not say who has to have signed: a key, or an identity with all that proves it --> metalmark.yaml:5:23
error[checksum-missing]: the sha256 of image `NOBLE` is not known --> values.yaml:14:22
error[format-missing]: the format of image `NOBLE` is not known --> values.yaml:14:22
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:14:22
3 errors, 1 warning in 1 cluster; 1 node pool checked: 1 by name only
# {images: registry.example.org/os, key: a.pub, identity: a, issuer: b, trusted-root: c}
$ check => 1
error[project-file]: it does not say who has to have signed: a key, or an identity with all that proves it --> metalmark.yaml:5:23
error[checksum-missing]: the sha256 of image `NOBLE` is not known --> values.yaml:14:22
error[format-missing]: the format of image `NOBLE` is not known --> values.yaml:14:22
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:14:22
3 errors, 1 warning in 1 cluster; 1 node pool checked: 1 by name only
# {images: registry.example.org/os, key: none.pub}
$ check => 1
error[project-file]: what has to have signed images cannot be used: it is not a PEM public key, and there is no such file --> metalmark.yaml:5:23
error[checksum-missing]: the sha256 of image `NOBLE` is not known --> values.yaml:14:22
error[format-missing]: the format of image `NOBLE` is not known --> values.yaml:14:22
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:14:22
3 errors, 1 warning in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
}
