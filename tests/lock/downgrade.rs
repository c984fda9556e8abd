//! Somebody who may write to the repository, and has no key, puts an older or an unsigned image in place of a signed one. No gate
//! has a network.

use snapbox::str;

use super::{JAMMY, NOBLE, append_settings, prepend_values, push, registry, remove_registry};
use super::{sign, site, story, write_values};
use crate::support::cosign::Key;
use crate::support::stage::Stage;

const GATES: [&str; 4] = [
    "check",
    "check --frozen",
    "lock --check",
    "render --frozen --stdout",
];

/// A lock and its evidence.
struct Locked {
    lock: String,
    evidence: String,
}

impl Locked {
    fn write(&self, stage: &Stage) {
        stage.write("metalmark.lock", &self.lock);
        stage.write("metalmark.evidence", &self.evidence);
    }

    /// The line of the evidence, or the entry of the lock, about one of the images, which have different contents.
    fn line(&self, digest: &str) -> &str {
        let mut lines = self.evidence.lines();
        lines.find(|line| line.contains(digest)).expect("a line")
    }

    /// The digest of the image that a pool boots.
    fn digest(&self) -> &str {
        let (_, entry) = self.lock.split_once(NOBLE).expect("an entry");
        let (_, digest) = entry.split_once("digest: ").expect("a digest");
        digest.split_whitespace().next().expect("a digest")
    }
}

/// What was locked of a registry with these contents.
fn lock(stage: &Stage, version: &str, build: &str, key: Option<&Key>) -> Locked {
    let named = if key.is_some() { KEY } else { "" };
    write_values(stage, version, &[NOBLE, JAMMY], named);
    for file in ["metalmark.lock", "metalmark.evidence"] {
        if stage.path().join(file).exists() {
            stage.remove(file);
        }
    }
    let mut layout = registry(stage);
    for image in [NOBLE, JAMMY] {
        let digest = push(&mut layout, image, version, build);
        let keys: Vec<&Key> = key.into_iter().collect();
        sign(&mut layout, image, &digest, &keys, image);
    }
    let _ = stage.run("lock").exit(0);
    Locked {
        lock: stage.read("metalmark.lock"),
        evidence: stage.read("metalmark.evidence"),
    }
}

/// How the values name the key.
const KEY: &str = "    cosign_publickey: a.pub\n";

/// The project's own demand, which somebody else reviews.
const DEMANDED: &str = "policy: {signatures: {registry.example.org/os: {keys: [a.pub]}}}";

#[test]
fn an_older_or_an_unsigned_image_does_not_take_the_place_of_a_signed_one() {
    let stage = site();
    let key = Key::new();
    stage.write("a.pub", key.pem());
    let older = lock(&stage, "0.4.11", "b", Some(&key));
    let moved = lock(&stage, "0.4.12", "c", Some(&key));
    let unsigned = lock(&stage, "0.4.12", "d", None);
    let now = lock(&stage, "0.4.12", "a", Some(&key));
    let project = stage.read("metalmark.yaml");
    let values = stage.read("values.yaml");
    remove_registry(&stage);
    let mut story = story(&stage)
        .name(key.fingerprint().to_string(), "A")
        .name(older.digest(), "OLDER")
        .name(moved.digest(), "MOVED")
        .name(unsigned.digest(), "UNSIGNED")
        .name(now.digest(), "NOW");
    append_settings(&stage, DEMANDED);
    let demanded = stage.read("metalmark.yaml");
    let forged = |with: &Locked| Locked {
        lock: now.lock.replace(now.digest(), with.digest()),
        evidence: now
            .evidence
            .replace(now.line(now.digest()), with.line(with.digest())),
    };
    let leave = |locked: &Locked| Locked {
        lock: locked.lock.clone(),
        evidence: now.evidence.clone(),
    };
    let block = format!(
        "  verified:\n    form: tag\n    key: {}\n",
        key.fingerprint()
    );
    assert!(now.lock.contains(&block));
    let attacks: [(&str, &dyn Fn()); 17] = [
        ("nothing is changed", &|| {}),
        ("the older lock and its evidence", &|| older.write(&stage)),
        (MOVED, &|| moved.write(&stage)),
        ("the older lock alone", &|| leave(&older).write(&stage)),
        (
            "the older image's digest and evidence under the new tag",
            &|| {
                forged(&older).write(&stage);
            },
        ),
        ("the older digest in the lock alone", &|| {
            stage.write(
                "metalmark.lock",
                now.lock.replace(now.digest(), older.digest()),
            );
        }),
        ("the unsigned lock and its evidence", &|| {
            unsigned.write(&stage)
        }),
        ("the unsigned image in the signed entry", &|| {
            forged(&unsigned).write(&stage);
        }),
        (SKIPPED, &|| {
            unsigned.write(&stage);
            prepend_values(
                &stage,
                "security: {os_images: {skip_signing_check: true}}\n",
            );
        }),
        (BLANKED, &|| {
            unsigned.write(&stage);
            stage.write("values.yaml", values.replace("a.pub", "''"));
        }),
        ("the lock forgets the signer", &|| {
            stage.write("metalmark.lock", now.lock.replace(&block, ""));
        }),
        ("another registry in the values", &|| {
            unsigned.write(&stage);
            let other = values.replace("registry.example.org/os", "registry.example.org/o");
            stage.write("values.yaml", other);
        }),
        (SPELLED, &|| {
            unsigned.write(&stage);
            let other = values.replace("oci://registry", "oci://REGISTRY");
            stage.write("values.yaml", other.replace("a.pub", "''"));
        }),
        ("an entry of its own beside the list", &|| {
            let own = format!(
                "os_images: {{{NOBLE}: {{uri: 'https://b.example/old.raw', sha256: {}, image-format: raw, k8s-version: 1.31.8+rke2r1}}}}\n",
                "b".repeat(64)
            );
            prepend_values(&stage, &own);
        }),
        ("the digest in the values", &|| {
            forged(&older).write(&stage);
            let own = format!(
                "oci://registry.example.org/os/{NOBLE}:0.4.12@{}",
                older.digest()
            );
            let text = values.replace(
                &format!("  {NOBLE}: {{os_images_oci_registry: sylva}}\n"),
                &format!("  {NOBLE}: {{os_images_oci_registry: sylva, uri: '{own}'}}\n"),
            );
            assert_ne!(text, values);
            stage.write("values.yaml", text);
        }),
        ("evidence of both, the older first", &|| {
            let line = older.line(older.digest());
            let both = now.evidence.replacen('\n', &format!("\n{line}\n"), 1);
            stage.write("metalmark.evidence", both);
        }),
        ("another key beside the values", &|| {
            stage.write("a.pub", Key::new().pem());
        }),
    ];
    let mut passing = Vec::new();
    for (how, attack) in attacks {
        for settings in [&project, &demanded] {
            stage.write("metalmark.yaml", settings);
            stage.write("values.yaml", &values);
            stage.write("a.pub", key.pem());
            now.write(&stage);
            attack();
            if settings == &demanded {
                story.note(how).judge(&GATES);
            } else if stage.run("check --frozen").outcome.status == 0 {
                passing.push(how);
            }
        }
    }
    // Who writes the values decides over a key that only they name (docs/signatures.md).
    let by_values = [
        "nothing is changed",
        MOVED,
        SKIPPED,
        BLANKED,
        SPELLED,
        "evidence of both, the older first",
    ];
    assert_eq!(passing, by_values);
    story.is(str![[r#"
# nothing is changed
$ check, check --frozen, lock --check, render --frozen --stdout => 0
# the older lock and its evidence
$ check => 1
error[lock-stale]: the lock holds another reference of image `NOBLE`
warning[lock-stale]: the lock holds another reference of image `JAMMY`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ check --frozen, render --frozen --stdout => 1
error[lock-stale]: the lock holds another reference of 2 images: `JAMMY`, `NOBLE`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --check => 1
error[lock-stale]: the lock holds another reference of 2 images: `JAMMY`, `NOBLE`
# the older image of the same tag and its evidence
$ check, check --frozen, lock --check, render --frozen --stdout => 0
# the older lock alone
$ check => 1
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that nothing proves what it says of them
error[lock-stale]: the lock holds another reference of image `NOBLE`
warning[lock-stale]: the lock holds another reference of image `JAMMY`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ check --frozen, render --frozen --stdout => 1
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that nothing proves what it says of them
error[lock-stale]: the lock holds another reference of 2 images: `JAMMY`, `NOBLE`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --check => 1
error[lock-stale]: the lock has no evidence of `JAMMY`, `NOBLE`, so that nothing proves what it says of them
error[lock-stale]: the lock holds another reference of 2 images: `JAMMY`, `NOBLE`
# the older image's digest and evidence under the new tag
$ check, check --frozen, lock --check, render --frozen --stdout => 1
error[lock-tampered]: `filename` of `NOBLE` is `NOBLE-0.4.12.raw` by the lock, `NOBLE-0.4.11.raw` by the artifact's annotations
error[lock-tampered]: `sha256` of `NOBLE` is `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` by the lock, `bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb` by the artifact's annotations
# the older digest in the lock alone
$ check, check --frozen, render --frozen --stdout => 1
error[lock-stale]: the lock has no evidence of `NOBLE`, so that their signatures cannot be proven
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --check => 1
error[lock-stale]: the lock has no evidence of `NOBLE`, so that their signatures cannot be proven
# the unsigned lock and its evidence
$ check, check --frozen, lock --check, render --frozen --stdout => 1
error[signature-missing]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: the lock has no signature of it under the key of `policy.signatures`
error[signature-missing]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: the lock has no signature of it under the key of `policy.signatures`
# the unsigned image in the signed entry
$ check, check --frozen, lock --check, render --frozen --stdout => 1
error[signature-missing]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: the lock has no signature of it under the key of `policy.signatures`
error[lock-tampered]: `sha256` of `NOBLE` is `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` by the lock, `dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd` by the artifact's annotations
# the same, and the values skip signatures
$ check, check --frozen, lock --check, render --frozen --stdout => 1
error[signature-missing]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: the lock has no signature of it under the key of `policy.signatures`
error[signature-missing]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: the lock has no signature of it under the key of `policy.signatures`
# the same, and the values blank the key
$ check, check --frozen, lock --check, render --frozen --stdout => 1
error[signature-missing]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: the lock has no signature of it under the key of `policy.signatures`
error[signature-missing]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: the lock has no signature of it under the key of `policy.signatures`
# the lock forgets the signer
$ check, check --frozen, lock --check, render --frozen --stdout => 1
error[lock-tampered]: the lock leaves out that `JAMMY` is signed by the key A
error[lock-tampered]: the lock leaves out that `NOBLE` is signed by the key A
# another registry in the values
$ check => 1
error[lock-stale]: the lock holds another reference of image `NOBLE`
warning[lock-stale]: the lock holds another reference of image `JAMMY`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ check --frozen, render --frozen --stdout => 1
error[lock-stale]: the lock holds another reference of 2 images: `JAMMY`, `NOBLE`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --check => 1
error[lock-stale]: the lock holds another reference of 2 images: `JAMMY`, `NOBLE`
# the registry spelled otherwise, and no key
$ check, check --frozen, lock --check, render --frozen --stdout => 1
error[signature-missing]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: the lock has no signature of it under the key of `policy.signatures`
error[signature-missing]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: the lock has no signature of it under the key of `policy.signatures`
# an entry of its own beside the list
$ check, check --frozen, lock --check, render --frozen --stdout => 1
error[image-name-collision]: `os_images` and the builder's list both have the image `NOBLE`
# the digest in the values
$ check, check --frozen, render --frozen --stdout => 1
error[lock-tampered]: `filename` of `NOBLE` is `NOBLE-0.4.12.raw` by the lock, `NOBLE-0.4.11.raw` by the artifact's annotations
error[lock-tampered]: `sha256` of `NOBLE` is `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` by the lock, `bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb` by the artifact's annotations
error[lock-stale]: the lock holds another reference of image `NOBLE`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --check => 1
error[lock-tampered]: `filename` of `NOBLE` is `NOBLE-0.4.12.raw` by the lock, `NOBLE-0.4.11.raw` by the artifact's annotations
error[lock-tampered]: `sha256` of `NOBLE` is `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` by the lock, `bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb` by the artifact's annotations
error[lock-stale]: the lock holds another reference of image `NOBLE`
# evidence of both, the older first
$ check, check --frozen, lock --check, render --frozen --stdout => 0
# another key beside the values
$ check, check --frozen, lock --check, render --frozen --stdout => 1
error[signature-invalid]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read
error[signature-invalid]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read

"#]]);
}

/// Without a network, nothing says that a tag had two contents; `verify` does.
const MOVED: &str = "the older image of the same tag and its evidence";
const SKIPPED: &str = "the same, and the values skip signatures";
const BLANKED: &str = "the same, and the values blank the key";
const SPELLED: &str = "the registry spelled otherwise, and no key";
