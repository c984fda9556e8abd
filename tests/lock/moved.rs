//! A tag that stands for other bytes than when it was locked.

use snapbox::str;

use super::{JAMMY, NOBLE, locked_site, site, story, write_registry};

#[test]
fn a_tag_that_moved_is_refused_until_somebody_says_that_it_is_meant() {
    let stage = locked_site();
    let before = stage.read("metalmark.lock");
    write_registry(&stage, &[NOBLE, JAMMY], "0.4.12", "b");
    let mut story = story(&stage);
    story.runs(&["lock", "lock --upgrade"]);
    let one = format!("lock --upgrade {NOBLE}");
    story.runs(&[&one]);
    assert_eq!(stage.read("metalmark.lock"), before);
    let accept = format!("lock --accept-moved {NOBLE}");
    story.runs(&[&accept, "lock --upgrade ubuntu-noble-plain-rke2-1-31-9"]);
    story.is(str![[r#"
$ lock => 0
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
$ lock --upgrade => 1
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
error[tag-moved]: `oci://registry.example.org/os/JAMMY:0.4.12` has moved: it is `sha256:9480718545f210e5dcc74ccb1f53b0d6e4cb84bde90a913e13a667d27f74d69c` now --> metalmark.lock:7:11
error[tag-moved]: `oci://registry.example.org/os/NOBLE:0.4.12` has moved: it is `sha256:5d7b036fc56e3fc0a59a72085495d5c02cf7acbfdef4dad3104a89f85d3cd9c8` now --> metalmark.lock:20:11
$ lock --upgrade NOBLE => 1
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
error[tag-moved]: `oci://registry.example.org/os/NOBLE:0.4.12` has moved: it is `sha256:5d7b036fc56e3fc0a59a72085495d5c02cf7acbfdef4dad3104a89f85d3cd9c8` now --> metalmark.lock:20:11
$ lock --accept-moved NOBLE => 0
updated NOBLE sha256:5d7b036fc56e… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 1 kept, 0 added, 1 updated, 0 dropped; written
$ lock --upgrade ubuntu-noble-plain-rke2-1-31-9 => 2
error: no cluster's catalog has an image `ubuntu-noble-plain-rke2-1-31-9`
help: did you mean `NOBLE`?

"#]]);
    assert_ne!(stage.read("metalmark.lock"), before);
}

#[test]
fn verify_sees_what_moved_what_went_and_what_was_edited() {
    let stage = site();
    let mut story = story(&stage);
    story.note("no lock").runs(&["verify"]);
    write_registry(&stage, &[NOBLE, JAMMY], "0.4.12", "a");
    story.runs(&["lock", "verify"]);
    let lock = stage.read("metalmark.lock");
    stage.write(
        "metalmark.lock",
        lock.replace(&"a".repeat(64), &"c".repeat(64)),
    );
    story.note("the checksums are edited").runs(&["verify"]);
    write_registry(&stage, &[NOBLE], "0.4.12", "b");
    story.note("noble moved, jammy is gone").runs(&["verify"]);
    story.is(str![[r#"
# no lock
$ verify => 2
error: there is nothing to verify: `metalmark.lock` holds no image
help: run `metalmark lock`
$ lock => 0
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ verify => 0
IMAGE                           TAG        SIGNED BY  REFERENCE
JAMMY  as locked  –          oci://registry.example.org/os/JAMMY:0.4.12
NOBLE  as locked  –          oci://registry.example.org/os/NOBLE:0.4.12
# the checksums are edited
$ verify => 1
IMAGE                           TAG        SIGNED BY  REFERENCE
JAMMY  as locked  –          oci://registry.example.org/os/JAMMY:0.4.12
NOBLE  as locked  –          oci://registry.example.org/os/NOBLE:0.4.12
error[lock-tampered]: `sha256` of `JAMMY` is `cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc` by the lock, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` by the artifact's annotations --> metalmark.lock:13:13
error[lock-tampered]: `sha256` of `NOBLE` is `cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc` by the lock, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` by the artifact's annotations --> metalmark.lock:26:13
# noble moved, jammy is gone
$ verify => 1
IMAGE                           TAG            SIGNED BY  REFERENCE
JAMMY  not as locked  –          oci://registry.example.org/os/JAMMY:0.4.12
NOBLE  not as locked  –          oci://registry.example.org/os/NOBLE:0.4.12
error[catalog-drift]: `oci://registry.example.org/os/JAMMY:0.4.12` is gone: oci-layout:registry has no artifact of that name --> metalmark.lock:6:14
error[lock-tampered]: `sha256` of `JAMMY` is `cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc` by the lock, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` by the artifact's annotations --> metalmark.lock:13:13
error[tag-moved]: `oci://registry.example.org/os/NOBLE:0.4.12` has moved: it is `sha256:5d7b036fc56e3fc0a59a72085495d5c02cf7acbfdef4dad3104a89f85d3cd9c8` now --> metalmark.lock:20:11
error[lock-tampered]: `sha256` of `NOBLE` is `cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc` by the lock, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` by the artifact's annotations --> metalmark.lock:26:13

"#]]);
    assert_eq!(stage.data("verify")["images"][1]["in_place"], false);
}
