//! What goes wrong between a lock and its registry, and what stays of the lock.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::{KEY, PLAIN, Site, publish, reference, sign, signed_site};
use crate::lock::{JAMMY, NOBLE, signed};
use crate::support::distribution::USER;
use crate::support::registry::{Lock, Registry, Reply, Way, fault};

const FOCAL: &str = "ubuntu-focal-plain-rke2-1-31-8";
const LEAP: &str = "opensuse-leap-plain-rke2-1-31-8";

/// A site with unsigned images.
fn site(registry: &Registry, images: &[&str]) -> Site {
    let site = Site::of(registry, PLAIN);
    for image in images {
        publish(registry, image, "0.4.12", "a");
    }
    site.values("0.4.12", images, "");
    site
}

#[test]
fn all_that_failed_is_reported_at_once_and_the_rest_is_locked() {
    let registry = Registry::plain();
    let site = site(&registry, &[NOBLE, JAMMY, FOCAL, LEAP]);
    registry.hook(|request, _| {
        let is_closed = [JAMMY, LEAP].iter().any(|name| request.path.contains(name));
        is_closed.then(|| fault(403, "DENIED", "not for you"))
    });
    let reported = site.ends(2, "lock");
    for image in [JAMMY, LEAP] {
        let expected = format!("{}: ", reference(&site, image, "0.4.12"));
        assert_eq!(
            reported.stderr.matches(&expected).count(),
            1,
            "{}",
            reported.stderr
        );
    }
    assert_eq!(
        reported.stderr.matches("403 (not for you)").count(),
        2,
        "{}",
        reported.stderr
    );
    assert!(reported.stdout.contains("2 added"), "{}", reported.stdout);
    let lock = site.lock();
    assert!(lock.contains(NOBLE) && lock.contains(FOCAL), "{lock}");
    assert!(!lock.contains(JAMMY) && !lock.contains(LEAP), "{lock}");
}

#[test]
fn a_registry_that_is_down_changes_nothing() {
    let registry = Registry::plain();
    let site = site(&registry, &[NOBLE]);
    site.ends(0, "lock");
    let lock = site.lock();
    drop(registry);
    site.values("0.4.12", &[NOBLE, JAMMY, FOCAL], "");
    for command in ["lock", "lock --upgrade", "verify"] {
        let reported = site.ends(2, command);
        assert!(
            reported.stderr.contains("refused the connection"),
            "{}",
            reported.stderr
        );
        assert_eq!(site.lock(), lock);
        let is_unknown = reported.stdout.contains("  unknown  ");
        assert_eq!(is_unknown, command == "verify", "{}", reported.stdout);
    }
    let reported = site.ends(2, "lock");
    for image in [JAMMY, FOCAL] {
        assert!(
            reported.stderr.contains(&reference(&site, image, "0.4.12")),
            "{}",
            reported.stderr
        );
    }
    // What is locked renders all the same.
    site.values("0.4.12", &[NOBLE], "");
    site.ends(0, "render --frozen");
}

#[test]
fn without_a_login_the_places_of_credentials_are_reported() {
    let registry = Registry::plain();
    let mut site = site(&registry, &[NOBLE, JAMMY]);
    let (user, password) = (USER.0.to_owned(), USER.1.to_owned());
    registry.lock(Lock::Basic { user, password });
    site.log_in("bob", "another");
    let right = site.environment.clone();
    // A file that knows other registries only.
    let text = r#"{"auths": {"elsewhere.example": {"auth": "Ym9iOmh1bnRlcjI="}}}"#;
    site.project.write("login/config.json", text);
    for command in ["lock", "lock --upgrade"] {
        let reported = site.ends(2, command);
        for word in [
            "answered 401",
            "config.json` (nothing for `",
            "docker login",
        ] {
            assert!(
                reported.stderr.contains(word),
                "{word}: {}",
                reported.stderr
            );
        }
    }
    assert_eq!(site.lock(), "");
    site.environment = right;
    site.log_in(USER.0, USER.1);
    site.ends(0, "lock");
}

#[test]
fn what_another_key_signed_is_not_locked() {
    let registry = Registry::plain();
    let Some(site) = signed_site(&registry, PLAIN) else {
        return;
    };
    site.ends(0, "lock");
    let lock = site.lock();
    assert!(signed::key(&site.project, "stranger"), "openssl was there");
    let digest = publish(&registry, FOCAL, "0.4.12", "a");
    sign(&registry, &site.project, FOCAL, &digest, "stranger");
    publish(&registry, LEAP, "0.4.12", "a");
    site.values("0.4.12", &[NOBLE, JAMMY, FOCAL, LEAP], KEY);
    let reported = site.ends(1, "lock");
    for (rule, image) in [("signature-invalid", FOCAL), ("signature-missing", LEAP)] {
        let expected = format!("error[{rule}]: `{}`", reference(&site, image, "0.4.12"));
        assert!(reported.stderr.contains(&expected), "{}", reported.stderr);
    }
    assert_eq!(site.lock(), lock);
}

#[test]
fn a_mirror_is_queried_instead_of_the_registry_and_recorded() {
    let registry = Registry::plain();
    let site = site(&registry, &[NOBLE, JAMMY]);
    site.project.values("0.4.12", &[NOBLE, JAMMY], "");
    let mirror = format!("{}/os", site.host);
    site.registries(&format!(
        "mirrors: {{registry.example.org/os: '{mirror}'}}, hosts: {{'{}': {PLAIN}}}",
        site.host
    ));
    site.ends(0, "lock");
    let lock = site.lock();
    for image in [NOBLE, JAMMY] {
        let original = format!("  reference: oci://registry.example.org/os/{image}:0.4.12\n");
        assert!(lock.contains(&original), "{lock}");
        let mirrored = format!("  mirror: oci://{mirror}/{image}:0.4.12\n");
        assert!(lock.contains(&mirrored), "{lock}");
    }
    site.ends(0, "verify");
    site.ends(0, "render --frozen");
}

#[test]
fn a_lock_that_is_killed_while_it_waits_leaves_the_old_one() {
    let registry = Registry::plain();
    let site = site(&registry, &[NOBLE]);
    site.ends(0, "lock");
    let lock = site.lock();
    publish(&registry, JAMMY, "0.4.12", "a");
    publish(&registry, FOCAL, "0.4.12", "a");
    site.values("0.4.12", &[NOBLE, JAMMY, FOCAL], "");
    let before = registry.count();
    registry.hook(|request, _| {
        // The first one is answered: nobody else asks before.
        let waits = request.path.contains(JAMMY);
        waits.then(|| Reply::new(200, vec![b' '; 100]).way(Way::Stalled(60_000)))
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_metalmark"))
        .current_dir(site.project.path())
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
    let all: Vec<_> = walkdir::WalkDir::new(site.project.path())
        .max_depth(1)
        .into_iter()
        .filter_map(|entry| entry.ok()?.file_name().to_str().map(str::to_owned))
        .filter(|name| name.contains("lock"))
        .collect();
    assert_eq!(all, ["metalmark.lock"], "nothing is left behind");
}

#[test]
fn layers_that_are_lost_are_seen_by_verify() {
    let registry = Registry::plain();
    let site = site(&registry, &[NOBLE, JAMMY]);
    site.ends(0, "lock");
    let before = registry.count();
    site.ends(0, "verify");
    assert_eq!(registry.count() - before, 4, "a manifest and a layer each");
    registry.hook(|request, _| {
        let is_layer = request.path.contains("/blobs/");
        let whole = Reply::new(206, "t").header("Content-Range", "bytes 0-0/12");
        let gone = fault(404, "BLOB_UNKNOWN", "blob unknown to registry");
        let reply = if request.path.contains(NOBLE) {
            whole
        } else {
            gone
        };
        is_layer.then_some(reply)
    });
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
            .contains("has 12 bytes, and its manifest says"),
        "{}",
        reported.stderr
    );
    assert!(
        reported.stderr.contains("is gone: `127.0.0.1"),
        "{}",
        reported.stderr
    );
    assert!(
        reported.stderr.contains("--> metalmark.lock:"),
        "{}",
        reported.stderr
    );
}
