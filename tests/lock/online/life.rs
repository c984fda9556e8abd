//! One lock from its first line to a moved tag, the same at every registry.

use std::fs;

use super::{KEY, PLAIN, Site, layer, publish, reference, sign, signed_site};
use crate::lock::{JAMMY, NOBLE};
use crate::support::distribution::{Distribution, Pushed, USER};
use crate::support::registry::{Authority, Lock, Registry};

/// What a user does with signed images at a registry. `asked` counts its requests, where they can be counted.
fn life(site: &Site, registry: &dyn Pushed, asked: &dyn Fn() -> usize) {
    let first = site.ends(0, "lock");
    assert!(first.stdout.contains("2 added"), "{}", first.stdout);
    let lock = site.lock();
    assert_eq!(lock.matches("    form: tag\n").count(), 2, "{lock}");
    // What is locked is not asked for.
    let before = asked();
    let second = site.ends(0, "lock");
    assert!(
        second.stdout.ends_with("; unchanged\n"),
        "{}",
        second.stdout
    );
    for command in ["lock --check", "check --frozen", "render --frozen"] {
        site.ends(0, command);
    }
    assert_eq!(asked(), before);
    assert_eq!(site.lock(), lock);
    site.ends(0, "lock --upgrade");
    assert_eq!(site.lock(), lock);
    fs::remove_file(site.project.path().join("metalmark.lock")).expect("removed");
    site.ends(0, "lock");
    assert_eq!(site.lock(), lock, "the same answers give the same bytes");
    let verified = site.ends(0, "verify");
    assert_eq!(verified.stdout.matches("as locked  sha256:").count(), 2);
    offered(site, &lock);
    moved(site, registry, &lock);
    drifted(site);
}

/// `registry ls` and `facts` see what the lock holds.
fn offered(site: &Site, lock: &str) {
    let noble = reference(site, NOBLE, "0.4.12");
    let tags = site.ends(
        0,
        &format!("registry ls {}", noble.trim_end_matches(":0.4.12")),
    );
    assert_eq!(tags.stdout, "0.4.12\n");
    let all = site.ends(0, &format!("registry ls {}", site.host));
    assert_eq!(all.stdout, format!("os/{JAMMY}\nos/{NOBLE}\n"));
    let facts = site.ends(0, &format!("registry facts {noble} --output json"));
    let facts: serde_json::Value = serde_json::from_str(&facts.stdout).expect("JSON");
    assert_eq!(facts["facts"]["k8s-version"], "1.31.8+rke2r1");
    assert!(lock.contains(facts["digest"].as_str().expect("a digest")));
}

/// A tag that moves is refused; what is meant has to be signed too.
fn moved(site: &Site, registry: &dyn Pushed, lock: &str) {
    let digest = publish(registry, JAMMY, "0.4.12", "b");
    site.ends(0, "lock");
    for (command, is_reported_by) in [("lock --upgrade", JAMMY), ("verify", JAMMY)] {
        let reported = site.ends(1, command);
        assert_eq!(
            reported.stderr.matches("error[tag-moved]").count(),
            1,
            "{}",
            reported.stderr
        );
        assert!(
            reported.stderr.contains(is_reported_by),
            "{}",
            reported.stderr
        );
    }
    assert_eq!(site.lock(), lock);
    let unsigned = site.ends(1, &format!("lock --accept-moved {JAMMY}"));
    assert!(
        unsigned.stderr.contains("error[signature-missing]"),
        "{}",
        unsigned.stderr
    );
    assert_eq!(site.lock(), lock);
    sign(registry, &site.project, JAMMY, &digest, "sylva");
    let accepted = site.ends(0, &format!("lock --accept-moved {JAMMY}"));
    assert!(
        accepted.stdout.contains("1 kept, 0 added, 1 updated"),
        "{}",
        accepted.stdout
    );
    site.ends(0, "verify");
}

/// A missing version is reported, and so is a missing name.
fn drifted(site: &Site) {
    let unknown = NOBLE.replace("noble", "nobel");
    site.values("0.4.12", &[NOBLE, &unknown], KEY);
    let reported = site.ends(1, "lock");
    let expected = format!("error[catalog-drift]: the catalog names image `{unknown}`");
    assert!(reported.stderr.contains(&expected), "{}", reported.stderr);
    assert!(
        reported.stderr.contains("--> values.yaml:"),
        "{}",
        reported.stderr
    );
    site.values("0.4.13", &[NOBLE], KEY);
    let reported = site.ends(1, "lock");
    let expected = format!("error[catalog-drift]: the catalog names image `{NOBLE}`");
    assert!(reported.stderr.contains(&expected), "{}", reported.stderr);
}

fn uncounted() -> usize {
    0
}

#[test]
fn at_an_open_registry() {
    let registry = Registry::plain();
    let Some(site) = signed_site(&registry, PLAIN) else {
        return;
    };
    life(&site, &registry, &|| registry.count());
}

#[test]
fn at_a_registry_that_sells_tokens_over_tls() {
    let authority = Authority::new();
    let registry = Registry::tls(&authority);
    let Some(mut site) = signed_site(&registry, "{ca: site.pem}") else {
        return;
    };
    authority.file(site.project.path());
    registry.lock(Lock::Bearer {
        realm: None,
        password: Some((USER.0.to_owned(), USER.1.to_owned())),
        identity: None,
        life: 300,
    });
    site.log_in(USER.0, USER.1);
    life(&site, &registry, &|| registry.count());
}

#[test]
fn at_the_distribution_registry() {
    let Some(registry) = Distribution::open() else {
        return;
    };
    let Some(site) = signed_site(&registry, PLAIN) else {
        return;
    };
    life(&site, &registry, &uncounted);
    site.values("0.4.12", &[NOBLE, JAMMY], KEY);
    site.ends(0, "lock");
    // Half of a layer is lost, and all of another one.
    let of = |image: &str, build| {
        let digest = oci_artifacts::Digest::compute(layer(image, build).as_bytes());
        registry.stored(&digest)
    };
    fs::write(of(NOBLE, "a"), "the disk").expect("written");
    fs::remove_file(of(JAMMY, "b")).expect("removed");
    let reported = site.ends(1, "verify");
    assert_eq!(
        reported.stderr.matches("error[image-incomplete]").count(),
        2,
        "{}",
        reported.stderr
    );
    assert!(
        reported
            .stderr
            .contains("has 8 bytes, and its manifest says"),
        "{}",
        reported.stderr
    );
    assert!(reported.stderr.contains("is gone: "), "{}", reported.stderr);
}

#[test]
fn at_the_distribution_registry_behind_a_password() {
    let Some(registry) = Distribution::with_password() else {
        return;
    };
    let Some(mut site) = signed_site(&registry, PLAIN) else {
        return;
    };
    let reported = site.ends(2, "lock");
    assert!(
        reported.stderr.contains("log in with `docker login`"),
        "{}",
        reported.stderr
    );
    site.log_in(USER.0, "a guess of hunter2");
    let reported = site.ends(2, "lock");
    assert!(
        reported.stderr.contains("to user `bob` from `"),
        "{}",
        reported.stderr
    );
    site.log_in(USER.0, USER.1);
    life(&site, &registry, &uncounted);
}

#[test]
fn at_the_distribution_registry_over_tls() {
    let Some(registry) = Distribution::over_tls() else {
        return;
    };
    let Some(site) = signed_site(&registry, "{ca: site.pem}") else {
        return;
    };
    let copied = fs::copy(registry.certificate(), site.project.path().join("site.pem"));
    copied.expect("copied");
    life(&site, &registry, &uncounted);
    site.registries("");
    let reported = site.ends(2, "lock --upgrade");
    let setting = format!("`{}`", site.host);
    assert!(
        reported.stderr.contains("ca") && reported.stderr.contains(&setting),
        "{}",
        reported.stderr
    );
}
