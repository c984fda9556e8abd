//! What goes wrong between a lock and its registry, and what stays of the lock.

use std::process::{Command, Stdio};
use std::time::Duration;

use snapbox::str;

use super::{KEY, PLAIN, Site, publish, sign};
use crate::lock::{JAMMY, NOBLE, write_values};
use crate::support::cosign::Key;
use crate::support::distribution::USER;
use crate::support::registry::{Lock, Registry, Reply, Way, fault};

const FOCAL: &str = "ubuntu-focal-plain-rke2-1-31-8";
const LEAP: &str = "opensuse-leap-plain-rke2-1-31-8";

/// A site with unsigned images.
fn site_of(registry: &Registry, images: &[&str]) -> Site {
    let site = Site::of(registry, PLAIN);
    for image in images {
        publish(registry, image, "0.4.12", "a");
    }
    site.write_values("0.4.12", images, "");
    site
}

#[test]
fn all_that_failed_is_reported_at_once_and_the_rest_is_locked() {
    let registry = Registry::plain();
    let site = site_of(&registry, &[NOBLE, JAMMY, FOCAL, LEAP]);
    registry.hook(|request, _| {
        let is_closed = [JAMMY, LEAP].iter().any(|name| request.path.contains(name));
        is_closed.then(|| fault(403, "DENIED", "not for you"))
    });
    site.story().runs(&["lock"]).is(str![[r#"
$ lock => 2
added   ubuntu-focal-plain-rke2-1-31-8 sha256:0c1335ce78d6… oci://HOST/os/ubuntu-focal-plain-rke2-1-31-8:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
error: oci://HOST/os/opensuse-leap-plain-rke2-1-31-8:0.4.12: `HOST` answered 403 (not for you) to a request for os/opensuse-leap-plain-rke2-1-31-8 without credentials --> values.yaml:5:3 (`opensuse-leap-plain-rke2-1-31-8`)
oci://HOST/os/JAMMY:0.4.12: `HOST` answered 403 (not for you) to a request for os/JAMMY without credentials --> values.yaml:3:3 (`JAMMY`)

"#]]);
    let lock = site.lock();
    assert!(lock.contains(NOBLE) && lock.contains(FOCAL), "{lock}");
    assert!(!lock.contains(JAMMY) && !lock.contains(LEAP), "{lock}");
}

#[test]
fn a_registry_that_is_down_changes_nothing() {
    let registry = Registry::plain();
    let site = site_of(&registry, &[NOBLE]);
    let mut story = site.story();
    story.runs(&["lock"]);
    let lock = site.lock();
    drop(registry);
    site.write_values("0.4.12", &[NOBLE, JAMMY, FOCAL], "");
    story.note("the registry is down");
    story.runs(&["lock", "lock --upgrade", "verify"]);
    assert_eq!(site.lock(), lock);
    site.write_values("0.4.12", &[NOBLE], "");
    story.note("what is locked renders all the same");
    story.runs(&["render --frozen"]).is(str![[r#"
$ lock => 0
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
# the registry is down
$ lock => 2
metalmark.lock: 1 kept, 0 added, 0 updated, 0 dropped; unchanged
error: oci://HOST/os/ubuntu-focal-plain-rke2-1-31-8:0.4.12: `HOST` refused the connection --> values.yaml:4:3 (`ubuntu-focal-plain-rke2-1-31-8`) --> values.yaml:3:3 (`JAMMY`)
$ lock --upgrade => 2
metalmark.lock: 1 kept, 0 added, 0 updated, 0 dropped; unchanged
error: oci://HOST/os/ubuntu-focal-plain-rke2-1-31-8:0.4.12: `HOST` refused the connection --> values.yaml:4:3 (`ubuntu-focal-plain-rke2-1-31-8`) --> values.yaml:3:3 (`JAMMY`) --> values.yaml:2:3 (`NOBLE`)
$ verify => 2
IMAGE                           TAG      SIGNED BY  REFERENCE
NOBLE  unknown  –          oci://HOST/os/NOBLE:0.4.12
error: oci://HOST/os/NOBLE:0.4.12: `HOST` refused the connection --> metalmark.lock:6:14 (`NOBLE`)
# what is locked renders all the same
$ render --frozen => 0
created  out/edge-1.yaml  +20
1 file rendered: 1 created

"#]]);
}

#[test]
fn without_a_login_the_places_of_credentials_are_reported() {
    let registry = Registry::plain();
    let site = site_of(&registry, &[NOBLE, JAMMY]);
    let (user, password) = (USER.0.to_owned(), USER.1.to_owned());
    registry.lock(Lock::Basic { user, password });
    // A file that knows other registries only.
    let text = r#"{"auths": {"elsewhere.example": {"auth": "Ym9iOmh1bnRlcjI="}}}"#;
    site.stage.write("login/config.json", text);
    let mut story = site.story();
    let folder = site.stage.path().to_string_lossy().into_owned();
    story = story.name(folder, "[FOLDER]");
    let reported = story.run("lock").stderr;
    for words in ["docker login", "config.json` (nothing for `"] {
        assert!(reported.contains(words), "{words}: {reported}");
    }
    story.runs(&["lock --upgrade"]);
    assert_eq!(site.lock(), "");
    site.log_in(USER.0, USER.1);
    story.note("logged in").runs(&["lock"]).is(str![[r#"
$ lock => 2
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
error: oci://HOST/os/JAMMY:0.4.12: `HOST` answered 401 (authentication required) to a request for os/JAMMY without credentials --> values.yaml:3:3 (`JAMMY`)
oci://HOST/os/NOBLE:0.4.12: `HOST` answered 401 (authentication required) to a request for os/NOBLE without credentials --> values.yaml:2:3 (`NOBLE`)
$ lock --upgrade => 2
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
error: oci://HOST/os/JAMMY:0.4.12: `HOST` answered 401 (authentication required) to a request for os/JAMMY without credentials --> values.yaml:3:3 (`JAMMY`)
oci://HOST/os/NOBLE:0.4.12: `HOST` answered 401 (authentication required) to a request for os/NOBLE without credentials --> values.yaml:2:3 (`NOBLE`)
# logged in
$ lock => 0
added   JAMMY sha256:db7319ac7f97… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written

"#]]);
}

#[test]
fn what_another_key_signed_is_not_locked() {
    let registry = Registry::plain();
    let site = Site::signed(&registry, PLAIN);
    let mut story = site.story();
    story.runs(&["lock"]);
    let lock = site.lock();
    let digest = publish(&registry, FOCAL, "0.4.12", "a");
    sign(&registry, FOCAL, &digest, &Key::new());
    publish(&registry, LEAP, "0.4.12", "a");
    site.write_values("0.4.12", &[NOBLE, JAMMY, FOCAL, LEAP], KEY);
    story.runs(&["lock"]).is(str![[r#"
$ lock => 0
added   JAMMY sha256:db7319ac7f97… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ lock => 1
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
error[signature-invalid]: `oci://HOST/os/ubuntu-focal-plain-rke2-1-31-8:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read --> values.yaml:4:3
error[signature-missing]: `oci://HOST/os/opensuse-leap-plain-rke2-1-31-8:0.4.12` is not trusted: it has no signature --> values.yaml:5:3

"#]]);
    assert_eq!(site.lock(), lock);
}

#[test]
fn a_mirror_is_queried_instead_of_the_registry_and_recorded() {
    let registry = Registry::plain();
    let site = site_of(&registry, &[NOBLE, JAMMY]);
    write_values(&site.stage, "0.4.12", &[NOBLE, JAMMY], "");
    let mirror = format!("{}/os", site.host);
    site.write_registries(&format!(
        "mirrors: {{registry.example.org/os: '{mirror}'}}, hosts: {{'{}': {PLAIN}}}",
        site.host
    ));
    let mut story = site.story();
    story.runs(&["lock", "verify", "render --frozen"]);
    let lock = site.lock();
    let names = lock.lines().map(str::trim_start);
    let names = names.filter(|it| it.starts_with("reference: ") || it.starts_with("mirror: "));
    names.for_each(|line| {
        story.note(&line.replace(&site.host, "HOST"));
    });
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:db7319ac7f97… oci://registry.example.org/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ verify => 0
IMAGE                           TAG        SIGNED BY  REFERENCE
JAMMY  as locked  –          oci://registry.example.org/os/JAMMY:0.4.12
NOBLE  as locked  –          oci://registry.example.org/os/NOBLE:0.4.12
$ render --frozen => 0
created  out/edge-1.yaml  +20
1 file rendered: 1 created
# reference: oci://registry.example.org/os/ubuntu-jammy-plain-rke2-1-31-8:0.4.12
# mirror: oci://HOST/os/ubuntu-jammy-plain-rke2-1-31-8:0.4.12
# reference: oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.12
# mirror: oci://HOST/os/ubuntu-noble-plain-rke2-1-31-8:0.4.12

"#]]);
}

#[test]
fn a_lock_that_is_killed_while_it_waits_leaves_the_old_one() {
    let registry = Registry::plain();
    let site = site_of(&registry, &[NOBLE]);
    let _ = site.stage.run("lock").exit(0);
    let lock = site.lock();
    publish(&registry, JAMMY, "0.4.12", "a");
    publish(&registry, FOCAL, "0.4.12", "a");
    site.write_values("0.4.12", &[NOBLE, JAMMY, FOCAL], "");
    let before = registry.count();
    registry.hook(|request, _| {
        // The first one is answered: nobody else asks before.
        let waits = request.path.contains(JAMMY);
        waits.then(|| Reply::new(200, vec![b' '; 100]).way(Way::Stalled(60_000)))
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_metalmark"))
        .current_dir(site.stage.path())
        .arg("lock")
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    while registry.count() < before + 2 {
        assert!(child.try_wait().expect("asked").is_none(), "it waits");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(site.lock(), lock);
    let mut all = site.stage.list("");
    all.retain(|name| name.contains("lock"));
    assert_eq!(all, ["metalmark.lock"], "nothing is left behind");
}

#[test]
fn layers_that_are_lost_are_seen_by_verify() {
    let registry = Registry::plain();
    let site = site_of(&registry, &[NOBLE, JAMMY]);
    let mut story = site.story();
    story.runs(&["lock"]);
    let before = registry.count();
    story.runs(&["verify"]);
    assert_eq!(registry.count() - before, 4, "a manifest and a layer each");
    registry.hook(|request, _| {
        let is_layer = request.path.contains("/blobs/");
        let whole = Reply::new(206, "t").header("Content-Range", "bytes 0-0/12");
        let gone = fault(404, "BLOB_UNKNOWN", "blob unknown to registry");
        let is_noble = request.path.contains(NOBLE);
        is_layer.then_some(if is_noble { whole } else { gone })
    });
    story.note("layers are lost").runs(&["verify"]).is(str![[r#"
$ lock => 0
added   JAMMY sha256:db7319ac7f97… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ verify => 0
IMAGE                           TAG        SIGNED BY  REFERENCE
JAMMY  as locked  –          oci://HOST/os/JAMMY:0.4.12
NOBLE  as locked  –          oci://HOST/os/NOBLE:0.4.12
# layers are lost
$ verify => 1
IMAGE                           TAG        SIGNED BY  REFERENCE
JAMMY  as locked  –          oci://HOST/os/JAMMY:0.4.12
NOBLE  as locked  –          oci://HOST/os/NOBLE:0.4.12
error[image-incomplete]: layer `sha256:9a926172bae018ad45ec73cebdb6781bfad1723dde883006018deb1141a1d0d9` of `JAMMY` is gone: `HOST` answered 404 (not found) --> metalmark.lock:7:11
error[image-incomplete]: layer `sha256:faef16159ce4af984fd3869428e9d8b6d9ea33330ba503f58b5144b2c0c452be` of `NOBLE` has 12 bytes, and its manifest says 68 --> metalmark.lock:19:11

"#]]);
}

/// The registry has a layer of the right length with other bytes.
#[test]
fn the_bytes_of_layers_are_read_where_that_is_requested() {
    let registry = Registry::plain();
    let site = site_of(&registry, &[NOBLE, JAMMY]);
    let mut story = site.story();
    story.runs(&["lock", "verify --bytes"]);
    let layer = oci_artifacts::Digest::compute(super::layer(NOBLE, "a").as_bytes());
    let path = format!("os/{NOBLE}/blobs/{layer}");
    registry.hook(move |request, _| {
        let is_asked =
            request.path.ends_with(&path) && request.header("range") != Some("bytes=0-0");
        is_asked.then(|| Reply::new(200, super::layer(NOBLE, "b")))
    });
    story
        .note("other bytes")
        .runs(&["verify", "verify --bytes"]);
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:db7319ac7f97… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ verify --bytes => 0
IMAGE                           TAG        SIGNED BY  REFERENCE
JAMMY  as locked  –          oci://HOST/os/JAMMY:0.4.12
NOBLE  as locked  –          oci://HOST/os/NOBLE:0.4.12
# other bytes
$ verify => 0
IMAGE                           TAG        SIGNED BY  REFERENCE
JAMMY  as locked  –          oci://HOST/os/JAMMY:0.4.12
NOBLE  as locked  –          oci://HOST/os/NOBLE:0.4.12
$ verify --bytes => 1
IMAGE                           TAG        SIGNED BY  REFERENCE
JAMMY  as locked  –          oci://HOST/os/JAMMY:0.4.12
NOBLE  as locked  –          oci://HOST/os/NOBLE:0.4.12
error[image-incomplete]: `oci://HOST/os/NOBLE:0.4.12`: `HOST` sent 68 bytes with the digest `sha256:dc71a7d102fda394edde3c9fb048c7d5d017097a418701f5fc22b98441398af4`, not the requested digest `sha256:faef16159ce4af984fd3869428e9d8b6d9ea33330ba503f58b5144b2c0c452be` --> metalmark.lock:19:11

"#]]);
}
