//! The limits of what a registry answers: what just fits is taken, one more is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use oci_artifacts::{Failure, FailureKind, Sink, Store};
use serde_json::json;

use super::super::support::artifact::{artifact, blob};
use super::super::support::registry::{Lock, Registry, Reply, image};
use super::{client, one};

/// A JSON text that is that long: spaces before its last brace.
fn padded(text: &str, length: usize) -> String {
    let (head, _) = text.split_at(text.len() - 1);
    format!("{head}{}}}", " ".repeat(length - text.len()))
}

fn kind<T>(answer: Result<T, Failure>) -> Result<(), FailureKind> {
    answer.map(drop).map_err(|failure| failure.kind)
}

#[test]
fn as_many_redirects_are_followed_as_is_stated() {
    let asked = |redirects: usize| {
        let registry = Registry::plain();
        let asked = AtomicUsize::new(0);
        registry.hook(move |_, _| {
            let asked = asked.fetch_add(1, Ordering::SeqCst);
            Some(if asked < redirects {
                Reply::new(307, "").header("Location", format!("/v2/a/{asked}"))
            } else {
                Reply::new(200, image(&[]))
            })
        });
        let answer = one(&client(&registry), registry.reference("a:1"));
        (answer.map_err(|failure| failure.message), registry.count())
    };
    let (taken, count) = asked(5);
    assert!(taken.is_ok(), "{taken:?}");
    assert_eq!(count, 6);
    let (refused, count) = asked(6);
    let refused = refused.expect_err("one more is refused");
    assert!(refused.contains("redirects more than 5 times"), "{refused}");
    assert_eq!(count, 6, "the sixth is not followed");
}

#[test]
fn an_answer_with_a_token_is_as_long_as_is_stated() {
    for (length, wanted) in [
        (1 << 20, Ok(())),
        ((1 << 20) + 1, Err(FailureKind::TooLarge)),
    ] {
        let registry = Registry::plain();
        registry.image("a", "1", &[]);
        registry.lock(Lock::Bearer {
            realm: None,
            password: None,
            identity: None,
            life: 300,
        });
        registry.hook(move |request, _| {
            let is_proven = request.header("authorization").is_some();
            let sold = || Reply::new(200, padded(r#"{"token":"t"}"#, length));
            if request.path.starts_with("/token") {
                Some(sold())
            } else {
                is_proven.then(|| Reply::new(200, image(&[])))
            }
        });
        let answer = one(&client(&registry), registry.reference("a:1"));
        assert_eq!(kind(answer), wanted, "{length} bytes");
    }
}

#[test]
fn an_answer_to_what_is_pushed_is_as_long_as_is_stated() {
    for (length, wanted) in [
        (1 << 20, Ok(())),
        ((1 << 20) + 1, Err(FailureKind::TooLarge)),
    ] {
        let registry = Registry::plain();
        registry.hook(move |request, _| {
            let is_manifest = request.method == "PUT" && request.path.contains("/manifests/");
            is_manifest.then(|| Reply::new(201, vec![b' '; length]))
        });
        let artifact = artifact(vec![blob("text/plain", b"some bytes")], json!({}));
        let answer = client(&registry).put(&registry.reference("group/one:1"), &artifact);
        assert_eq!(kind(answer), wanted, "{length} bytes");
    }
}

#[test]
fn no_more_of_a_refusal_is_read_than_is_stated() {
    let reported = |length: usize| {
        let registry = Registry::plain();
        registry.hook(move |_, _| {
            let reason = r#"{"errors":[{"message":"because"}]}"#;
            Some(Reply::new(403, padded(reason, length)))
        });
        let refused = one(&client(&registry), registry.reference("a:1"));
        refused.expect_err("a refusal").message
    };
    let (read, cut) = (reported(64 << 10), reported((64 << 10) + 1));
    assert!(read.contains("403 (because)"), "{read}");
    assert!(cut.contains("403") && !cut.contains("because"), "{cut}");
}

#[test]
fn the_longest_list_is_read_and_a_longer_one_is_refused() {
    const PAGE: usize = 2 << 20;
    for (pages, is_read) in [(8, true), (9, false)] {
        let registry = Registry::plain();
        let sent = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&sent);
        registry.hook(move |_, _| {
            let page = counted.fetch_add(1, Ordering::SeqCst) + 1;
            let next = format!("</v2/a/tags/list?page={page}>; rel=\"next\"");
            let reply = Reply::new(200, padded(&format!(r#"{{"tags":["t{page}"]}}"#), PAGE));
            Some(if page < pages {
                reply.header("Link", next)
            } else {
                reply
            })
        });
        let tags = client(&registry).tags(&registry.reference("a:1"));
        if is_read {
            assert_eq!(tags.expect("a list").len(), pages)
        } else {
            assert!(tags.expect_err("too long").message.contains("16 MiB"))
        }
    }
}

#[test]
fn as_many_pages_of_a_list_are_read_as_is_stated() {
    for (pages, is_read) in [(1000, true), (1001, false)] {
        let registry = Registry::plain();
        let sent = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&sent);
        registry.hook(move |_, _| {
            let page = counted.fetch_add(1, Ordering::SeqCst) + 1;
            let next = format!("</v2/a/tags/list?page={page}>; rel=\"next\"");
            let reply = Reply::new(200, format!(r#"{{"tags":["t{page}"]}}"#));
            Some(if page < pages {
                reply.header("Link", next)
            } else {
                reply
            })
        });
        let tags = client(&registry).tags(&registry.reference("a:1"));
        if is_read {
            assert_eq!(tags.expect("a list").len(), pages)
        } else {
            let message = tags.expect_err("too many").message;
            assert!(message.contains("more than 1000 pages"), "{message}");
        }
        assert_eq!(sent.load(Ordering::SeqCst), 1000);
    }
}
