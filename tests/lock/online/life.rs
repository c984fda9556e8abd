//! One lock from its first line to a moved tag, the same at every registry.

use std::fs;

use serde_json::Value;
use snapbox::str;

use super::{KEY, PLAIN, Site, layer, publish, reference, sign};
use crate::lock::{JAMMY, NOBLE};
use crate::support::distribution::{Distribution, Pushed, USER};
use crate::support::registry::{Authority, Lock, Registry};

/// What a user does with signed images at a registry. `count` counts its requests, where they can be counted.
fn live(site: &Site, registry: &dyn Pushed, count: &dyn Fn() -> usize) {
    let mut story = site.story();
    story.runs(&["lock"]);
    let lock = site.lock();
    // What is locked is not asked for.
    let before = count();
    story.runs(&["lock", "lock --check", "check --frozen", "render --frozen"]);
    assert_eq!(count(), before);
    story.runs(&["lock --upgrade"]);
    assert_eq!(site.lock(), lock);
    site.stage.remove("metalmark.lock");
    story.note("the lock is gone").runs(&["lock", "verify"]);
    assert_eq!(site.lock(), lock, "the same answers give the same bytes");
    // `registry ls` and `facts` see what the lock holds.
    let noble = reference(site, NOBLE, "0.4.12");
    let tags = format!("registry ls {}", noble.trim_end_matches(":0.4.12"));
    let all = format!("registry ls {}", site.host);
    story.runs(&[&tags, &all]);
    let facts = format!("registry facts {noble} --output json");
    let facts = site.stage.run(&facts).exit(0).outcome.stdout;
    let facts: Value = serde_json::from_str(&facts).expect("JSON");
    assert_eq!(facts["facts"]["k8s-version"], "1.31.8+rke2r1");
    assert!(lock.contains(facts["digest"].as_str().expect("a digest")));
    // A tag that moves is refused; what is meant has to be signed too.
    let digest = publish(registry, JAMMY, "0.4.12", "b");
    let accept = format!("lock --accept-moved {JAMMY}");
    story.note("jammy moved");
    story.runs(&["lock", "lock --upgrade", "verify", &accept]);
    assert_eq!(site.lock(), lock);
    sign(registry, JAMMY, &digest, &site.key);
    story.note("and is signed").runs(&[&accept, "verify"]);
    // A missing name is reported, and so is a missing version.
    let unknown = NOBLE.replace("noble", "nobel");
    site.write_values("0.4.12", &[NOBLE, &unknown], KEY);
    story.note("a name that is not there").runs(&["lock"]);
    site.write_values("0.4.13", &[NOBLE], KEY);
    story.note("a version that is not there").runs(&["lock"]);
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:db7319ac7f97… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ lock => 0
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
$ lock --check => 0
no findings in 1 cluster
$ check --frozen => 0
no findings in 1 cluster; 1 node pool checked: 1 proven
$ render --frozen => 0
created  out/edge-1.yaml  +20
1 file rendered: 1 created
$ lock --upgrade => 0
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
# the lock is gone
$ lock => 0
added   JAMMY sha256:db7319ac7f97… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ verify => 0
IMAGE                           TAG        SIGNED BY            REFERENCE
JAMMY  as locked  SYLVA  oci://HOST/os/JAMMY:0.4.12
NOBLE  as locked  SYLVA  oci://HOST/os/NOBLE:0.4.12
$ registry ls oci://HOST/os/NOBLE => 0
0.4.12
$ registry ls HOST => 0
os/JAMMY
os/NOBLE
# jammy moved
$ lock => 0
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
$ lock --upgrade => 1
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
error[tag-moved]: `oci://HOST/os/JAMMY:0.4.12` has moved: it is `sha256:f944f8c7a06b596daf621ab0961849b577e2d814d5805859c36510caede2e082` now --> metalmark.lock:7:11
$ verify => 1
IMAGE                           TAG            SIGNED BY            REFERENCE
JAMMY  not as locked  SYLVA  oci://HOST/os/JAMMY:0.4.12
NOBLE  as locked      SYLVA  oci://HOST/os/NOBLE:0.4.12
error[tag-moved]: `oci://HOST/os/JAMMY:0.4.12` has moved: it is `sha256:f944f8c7a06b596daf621ab0961849b577e2d814d5805859c36510caede2e082` now --> metalmark.lock:7:11
$ lock --accept-moved JAMMY => 1
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
error[signature-missing]: `oci://HOST/os/JAMMY:0.4.12` is not trusted: it has no signature --> values.yaml:3:3
# and is signed
$ lock --accept-moved JAMMY => 0
updated JAMMY sha256:f944f8c7a06b… oci://HOST/os/JAMMY:0.4.12
metalmark.lock: 1 kept, 0 added, 1 updated, 0 dropped; written
$ verify => 0
IMAGE                           TAG        SIGNED BY            REFERENCE
JAMMY  as locked  SYLVA  oci://HOST/os/JAMMY:0.4.12
NOBLE  as locked  SYLVA  oci://HOST/os/NOBLE:0.4.12
# a name that is not there
$ lock => 1
dropped JAMMY sha256:f944f8c7a06b… oci://HOST/os/JAMMY:0.4.12
metalmark.lock: 1 kept, 0 added, 0 updated, 1 dropped; written
error[catalog-drift]: the catalog names image `ubuntu-nobel-plain-rke2-1-31-8`, and `HOST` answered 404 (not found) --> values.yaml:3:3
# a version that is not there
$ lock => 1
dropped NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 0 added, 0 updated, 1 dropped; written
error[catalog-drift]: the catalog names image `NOBLE`, and `HOST` answered 404 (not found) --> values.yaml:2:3

"#]]);
}

fn uncounted() -> usize {
    0
}

#[test]
fn at_an_open_registry() {
    let registry = Registry::plain();
    let site = Site::signed(&registry, PLAIN);
    live(&site, &registry, &|| registry.count());
}

#[test]
fn at_a_registry_that_sells_tokens_over_tls() {
    let authority = Authority::new();
    let registry = Registry::tls(&authority);
    let site = Site::signed(&registry, "{ca: site.pem}");
    authority.file(site.stage.path());
    registry.lock(Lock::Bearer {
        realm: None,
        password: Some((USER.0.to_owned(), USER.1.to_owned())),
        identity: None,
        life: 300,
    });
    site.log_in(USER.0, USER.1);
    live(&site, &registry, &|| registry.count());
}

/// Debian's registry behind a password, and what of it is lost on its disk.
#[test]
fn at_the_distribution_registry_behind_a_password() {
    let Some(registry) = Distribution::with_password() else {
        return;
    };
    let site = Site::signed(&registry, PLAIN);
    let mut story = site.story();
    let mut reported = story.run("lock").stderr;
    site.log_in(USER.0, "a guess of hunter2");
    reported += &story.run("lock").stderr;
    for words in ["log in with `docker login`", "to user `bob` from `"] {
        assert!(reported.contains(words), "{words}: {reported}");
    }
    site.log_in(USER.0, USER.1);
    live(&site, &registry, &uncounted);
    site.write_values("0.4.12", &[NOBLE, JAMMY], KEY);
    story.runs(&["lock"]);
    // Half of a layer is lost, and all of another one.
    let file = |image: &str, build| {
        let digest = oci_artifacts::Digest::compute(layer(image, build).as_bytes());
        registry.stored(&digest)
    };
    fs::write(file(NOBLE, "a"), "the disk").expect("written");
    fs::remove_file(file(JAMMY, "b")).expect("removed");
    story.note("layers are lost").runs(&["verify"]);
    story.is(str![[r#"
$ lock => 2
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
error: oci://HOST/os/JAMMY:0.4.12: `HOST` answered 401 (authentication required) to a request for os/JAMMY without credentials --> values.yaml:3:3 (`JAMMY`)
oci://HOST/os/NOBLE:0.4.12: `HOST` answered 401 (authentication required) to a request for os/NOBLE without credentials --> values.yaml:2:3 (`NOBLE`)
$ lock => 2
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
error: oci://HOST/os/JAMMY:0.4.12: `HOST` answered 401 (authentication required) to user `bob` from `[FOLDER]/login/config.json`, key `HOST`, on a request for os/JAMMY --> values.yaml:3:3 (`JAMMY`)
oci://HOST/os/NOBLE:0.4.12: `HOST` answered 401 (authentication required) to user `bob` from `[FOLDER]/login/config.json`, key `HOST`, on a request for os/NOBLE --> values.yaml:2:3 (`NOBLE`)
$ lock => 0
added   JAMMY sha256:f944f8c7a06b… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
# layers are lost
$ verify => 1
IMAGE                           TAG        SIGNED BY            REFERENCE
JAMMY  as locked  SYLVA  oci://HOST/os/JAMMY:0.4.12
NOBLE  as locked  SYLVA  oci://HOST/os/NOBLE:0.4.12
error[image-incomplete]: layer `sha256:979893823f03b4863fb6551fec9ec1428d3cf238bca7b33eeb65107696119463` of `JAMMY` is gone: `HOST` answered 404 (not found) --> metalmark.lock:7:11
error[image-incomplete]: layer `sha256:faef16159ce4af984fd3869428e9d8b6d9ea33330ba503f58b5144b2c0c452be` of `NOBLE` has 8 bytes, and its manifest says 68 --> metalmark.lock:22:11

"#]]);
}

#[test]
fn at_the_distribution_registry_over_tls() {
    let Some(registry) = Distribution::over_tls() else {
        return;
    };
    let site = Site::signed(&registry, "{ca: site.pem}");
    let copied = fs::copy(registry.certificate(), site.stage.path().join("site.pem"));
    copied.expect("copied");
    live(&site, &registry, &uncounted);
    site.write_registries("");
    let reported = site.stage.run("lock --upgrade").exit(2).outcome.stderr;
    let setting = format!("`{}`", site.host);
    assert!(
        reported.contains("ca") && reported.contains(&setting),
        "{reported}"
    );
}
