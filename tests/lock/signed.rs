//! Where a key is known, only what its holder signed is locked.

use snapbox::str;

use super::{JAMMY, NOBLE, lock_of, site, story, write_signed, write_values};
use crate::support::cosign::Key;
use crate::support::stage::Stage;

/// The values name the registry's key, and the first image is signed with that key.
fn write_site(stage: &Stage, key: &Key, further: &str) {
    let registry = format!("    cosign_publickey: sylva.pub\n{further}");
    write_values(stage, "0.4.12", &[NOBLE, JAMMY], &registry);
    write_signed(stage, &[(NOBLE, &[key]), (JAMMY, &[])]);
}

#[test]
fn what_is_not_signed_is_not_locked() {
    let (stage, sylva) = (site(), Key::new());
    stage.write("sylva.pub", sylva.pem());
    let mut story = story(&stage).name(sylva.fingerprint().to_string(), "SYLVA");
    write_site(&stage, &sylva, "");
    story.runs(&["lock", "verify"]);
    let lock = lock_of(&stage);
    assert!(lock.contains(NOBLE) && !lock.contains(JAMMY), "{lock}");
    assert_eq!(lock.matches("  verified:\n    form: tag\n").count(), 1);
    // What the values say not to look at is not looked at, but what was verified once is not forgotten by that.
    let skip = "security: {os_images: {skip_signing_check: true}}\n";
    write_site(&stage, &sylva, skip);
    story.note("signatures are skipped").runs(&["lock"]);
    assert!(lock_of(&stage).contains(JAMMY));
    write_site(&stage, &sylva, "");
    story.note("no more").runs(&["lock"]);
    assert!(lock_of(&stage).contains(JAMMY), "what stood there stays");
    story.is(str![[r#"
$ lock => 1
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
error[signature-missing]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: it has no signature --> values.yaml:3:3
$ verify => 0
IMAGE                           TAG        SIGNED BY            REFERENCE
NOBLE  as locked  SYLVA  oci://registry.example.org/os/NOBLE:0.4.12
# signatures are skipped
$ lock => 1
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
metalmark.lock: 1 kept, 1 added, 0 updated, 0 dropped; written
error[signature-unchecked]: `oci://registry.example.org/os/NOBLE:0.4.12` is locked as signed by the key SYLVA, and the values name no key for it any more --> metalmark.lock:7:11
# no more
$ lock => 1
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
error[signature-missing]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: it has no signature --> values.yaml:3:3

"#]]);
}

#[test]
fn another_key_is_distinguished_from_an_invalid_key() {
    let stage = site();
    stage.write("sylva.pub", Key::new().pem());
    write_site(&stage, &Key::new(), "");
    let mut story = story(&stage);
    story.runs(&["lock"]);
    stage.remove("sylva.pub");
    story.note("the key is gone").runs(&["lock"]);
    story.is(str![[r#"
$ lock => 1
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
error[signature-invalid]: `oci://registry.example.org/os/NOBLE:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read --> values.yaml:2:3
error[signature-missing]: `oci://registry.example.org/os/JAMMY:0.4.12` is not trusted: it has no signature --> values.yaml:3:3
# the key is gone
$ lock => 1
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
error[signature-invalid]: the key that images of registry `sylva` are signed with cannot be used: it is not a PEM public key, and there is no such file --> values.yaml:8:23
1 error in 1 cluster

"#]]);
    assert_eq!(lock_of(&stage), "");
}
