//! What is asked again, how often, and what is said when it was no use.

use std::time::{Duration, Instant};

use oci_artifacts::registries::RegistrySettings;
use oci_artifacts::registry::Registries;
use oci_artifacts::{FailureKind, Reference, Store};

use super::super::support::distribution::name;
use super::super::support::registry::{Registry, Reply, Way};
use super::{client, failure, one, options, plain, quick};

#[test]
fn errors_of_the_server_are_waited_out() {
    for status in [500, 502, 503, 504, 408] {
        let registry = Registry::plain();
        registry.image("a", "1", &[]);
        registry.hook(move |_, before| (before < 2).then(|| Reply::new(status, "")));
        one(&client(&registry), registry.reference("a:1")).expect("a manifest");
        assert_eq!(registry.count(), 3, "{status}");
    }
}

#[test]
fn too_many_requests_are_sent_again_when_the_registry_says() {
    let registry = Registry::plain();
    registry.image("a", "1", &[]);
    registry.hook(|_, before| {
        let reply = Reply::new(429, "");
        let dated = || {
            reply
                .clone()
                .header("Date", "Wed, 21 Oct 2026 07:28:00 GMT")
                .header("Retry-After", "Wed, 21 Oct 2026 07:28:01 GMT")
        };
        [dated(), reply.clone().header("Retry-After", "1")]
            .get(before)
            .cloned()
    });
    let mut options = options(plain(&registry));
    options.limits.longest_pause = Duration::from_millis(150);
    let started = Instant::now();
    one(&Registries::new(options), registry.reference("a:1")).expect("a manifest");
    assert!(
        started.elapsed() >= Duration::from_millis(300),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(registry.count(), 3);
}

#[test]
fn what_stays_refused_is_reported_after_the_last_attempt() {
    let registry = Registry::plain();
    registry.hook(|_, _| Some(Reply::new(429, "").header("Retry-After", "3600")));
    let reported = failure(&client(&registry), registry.reference("a:1"));
    assert_eq!(reported.kind, FailureKind::Unreachable);
    assert!(reported.message.contains("429"), "{reported}");
    assert_eq!(registry.count(), 4);
    let registry = Registry::plain();
    registry.hook(|_, _| Some(Reply::new(503, "")));
    let reported = failure(&client(&registry), registry.reference("a:1"));
    assert!(reported.message.contains("503"), "{reported}");
    assert_eq!(registry.count(), 4);
}

#[test]
fn broken_connections_are_made_again() {
    for way in [Way::Cut, Way::CutBody] {
        let registry = Registry::plain();
        registry.image("a", "1", &[]);
        registry.hook(move |_, before| (before < 2).then(|| Reply::new(200, "{...}").way(way)));
        one(&client(&registry), registry.reference("a:1")).expect("a manifest");
        assert!(registry.count() >= 3, "{way:?}");
    }
    let registry = Registry::plain();
    registry.hook(|_, _| Some(Reply::new(200, "{...}").way(Way::CutBody)));
    let reported = failure(&client(&registry), registry.reference("a:1"));
    assert!(reported.message.contains("broke"), "{reported}");
    assert!(reported.message.ends_with("4 times"), "{reported}");
}

#[test]
fn a_body_that_does_not_come_ends_in_time() {
    let registry = Registry::plain();
    registry.hook(|_, _| Some(Reply::new(200, vec![b' '; 100]).way(Way::Stalled(20_000))));
    let mut options = options(plain(&registry));
    options.limits.retries = 1;
    options.limits.read = Duration::from_millis(100);
    let started = Instant::now();
    let reported = failure(&Registries::new(options), registry.reference("a:1"));
    assert!(
        reported.message.contains("sent nothing for 100ms"),
        "{reported}"
    );
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[test]
fn one_thing_and_a_whole_batch_have_their_deadlines() {
    let registry = Registry::plain();
    registry.hook(|_, _| Some(Reply::new(200, vec![b' '; 100]).way(Way::Stalled(20_000))));
    let mut options = options(plain(&registry));
    options.limits.read = Duration::from_secs(10);
    options.limits.request = Duration::from_millis(200);
    let reported = failure(&Registries::new(options.clone()), registry.reference("a:1"));
    assert!(reported.message.contains("within 200ms"), "{reported}");
    options.limits.batch = Duration::from_millis(150);
    options.settings.concurrency = 1;
    let wanted = ["a:1", "a:2", "a:3"].map(|rest| registry.reference(rest));
    let answers = Registries::new(options).manifests(&wanted);
    assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), 3);
}

#[test]
fn a_host_that_is_gone_is_tried_once_a_batch() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let host = gone.local_addr().expect("an address").to_string();
    drop(gone);
    let registry = Registry::plain();
    let mut settings = plain(&registry);
    let plain = settings.hosts.values().next().cloned().expect("a host");
    settings.hosts.insert(name(&host), plain);
    let reference = Reference::parse(&format!("{host}/a:1")).expect("a reference");
    let answers = Registries::new(options(settings)).manifests(&vec![reference; 200]);
    for answer in answers {
        let reported = answer.expect_err("a failure");
        assert!(
            reported.message.contains("refused the connection"),
            "{reported}"
        );
        assert_eq!(reported.kind, FailureKind::Unreachable);
    }
}

#[test]
fn a_name_that_nobody_knows_is_reported() {
    let reference = Reference::parse("registry.invalid/a:1").expect("a reference");
    let reported = failure(
        &Registries::new(options(RegistrySettings::default())),
        reference,
    );
    assert!(reported.message.contains("not known (DNS)"), "{reported}");
}

#[test]
fn the_concurrency_is_bounded() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let registry = Registry::plain();
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    registry.hook(move |_, _| {
        seen.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(3));
        now.fetch_sub(1, Ordering::SeqCst);
        Some(Reply::new(200, super::super::support::registry::image(&[])))
    });
    let mut options = options(plain(&registry));
    options.settings.concurrency = 3;
    options.limits = quick();
    let wanted = vec![registry.reference("a:1"); 60];
    let answers = Registries::new(options).manifests(&wanted);
    assert!(answers.iter().all(Result::is_ok));
    assert!(most.load(Ordering::SeqCst) <= 3);
}

#[test]
fn progress_is_reported_to_the_end() {
    use std::sync::{Arc, Mutex};
    let registry = Registry::plain();
    registry.image("a", "1", &[]);
    let reported = Arc::new(Mutex::new(Vec::new()));
    let mut options = options(plain(&registry));
    let keep = Arc::clone(&reported);
    options.progress = Some(Arc::new(move |done, total| {
        keep.lock().expect("not poisoned").push((done, total));
    }));
    Registries::new(options).manifests(&vec![registry.reference("a:1"); 20]);
    let mut reported = reported.lock().expect("not poisoned").clone();
    reported.sort_unstable();
    assert_eq!(
        reported,
        (1..=20).map(|done| (done, 20)).collect::<Vec<_>>()
    );
}
