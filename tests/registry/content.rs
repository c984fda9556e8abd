//! Manifests, blobs, lists: what is taken and what is refused.

use oci_artifacts::{Content, Descriptor, Digest, FailureKind, MANIFEST_LIMIT, Store};
use snapbox::str;

use super::super::support::registry::{INDEX, MANIFEST, Registry, Reply, Way, fault, image};
use super::super::support::stage::Is;
use super::{client, failure, one, said};

#[test]
fn a_tag_and_a_digest_name_a_manifest() {
    let registry = Registry::plain();
    let digest = registry.image("group/one", "1.0", &[("sylva/os", "ubuntu")]);
    let client = client(&registry);
    let by_tag = one(&client, registry.reference("group/one:1.0")).expect("a manifest");
    assert_eq!(by_tag.digest, digest);
    let by_digest = one(
        &client,
        registry.reference("group/one").with_digest(&digest),
    )
    .expect("a manifest");
    assert_eq!(by_digest.bytes, by_tag.bytes);
    assert_eq!(by_tag.mirror, None);
    assert_eq!(registry.count(), 2);
}

#[test]
fn a_thousand_references_cost_a_thousand_requests() {
    let registry = Registry::plain();
    let references: Vec<_> = (0..1000)
        .map(|number| {
            let number = number.to_string();
            registry.image(
                &format!("group/{number}"),
                "1",
                &[("sylva/number", &number)],
            );
            registry.reference(&format!("group/{number}:1"))
        })
        .collect();
    let answers = client(&registry).manifests(&references);
    for (number, answer) in answers.iter().enumerate() {
        let manifest = answer.as_ref().expect("a manifest");
        let Content::Image { annotations, .. } = &manifest.content else {
            panic!("an image");
        };
        assert_eq!(annotations["sylva/number"], number.to_string());
    }
    assert_eq!(registry.count(), 1000);
}

#[test]
fn a_registrys_own_reason_is_reported_unless_it_repeats_a_secret() {
    let cases = [
        (400, "quota exceeded", "400 (quota exceeded)"),
        (
            412,
            "blocked by the scanner",
            "412 (blocked by the scanner)",
        ),
        (501, "disk \u{1b}[31mfull", "501 (disk [31mfull)"),
        (418, "", "418 (DENIED)"),
    ];
    for (status, message, expected) in cases {
        let registry = Registry::plain();
        registry.hook(move |_, _| Some(fault(status, "DENIED", message)));
        let answer = one(&client(&registry), registry.reference("a:1"));
        let reported = answer.expect_err("a failure").message;
        let expected = format!("`{}` answered {expected}", registry.host());
        assert_eq!(reported, expected);
    }
}

#[test]
fn all_failures_of_a_batch_are_reported_in_order() {
    let registry = Registry::plain();
    registry.image("a", "1.31.8", &[]);
    let wanted = ["a:1.31.8", "a:1.31.9", "b:1"].map(|rest| registry.reference(rest));
    let answers = client(&registry).manifests(&wanted);
    assert!(answers[0].is_ok());
    let failures = answers[1..]
        .iter()
        .map(|answer| answer.as_ref().expect_err("a failure"));
    let texts: String = failures.map(|failure| said(failure, &registry)).collect();
    texts.is(str![[r#"
oci://HOST/a:1.31.9: `HOST` answered 404 (not found)
  help: check the names of the repository and the tag; some registries answer this to users without read permission
oci://HOST/b:1: `HOST` answered 404 (not found)
  help: check the names of the repository and the tag; some registries answer this to users without read permission

"#]]);
    assert_eq!(
        answers[1].as_ref().map_err(|failure| failure.kind).err(),
        Some(FailureKind::NotFound)
    );
    assert_eq!(registry.count(), 3);
}

#[test]
fn bytes_other_than_the_requested_ones_are_refused() {
    let registry = Registry::plain();
    let digest = registry.image("a", "1", &[]);
    registry.hook(|_, _| Some(Reply::new(200, image(&[("altered", "yes")]))));
    let failure = failure(
        &client(&registry),
        registry.reference("a").with_digest(&digest),
    );
    assert_eq!(failure.kind, FailureKind::Corrupt);
    assert!(failure.message.contains(digest.as_str()), "{failure}");
}

#[test]
fn a_header_that_disagrees_with_the_body_is_refused() {
    let registry = Registry::plain();
    let lie = Digest::compute(b"another").to_string();
    registry.hook(move |request, _| {
        let header = if request.path.ends_with("broken") {
            "sha256:x".to_owned()
        } else {
            lie.clone()
        };
        Some(Reply::new(200, image(&[])).header("Docker-Content-Digest", header))
    });
    for tag in ["1", "broken"] {
        let failure = failure(&client(&registry), registry.reference("a").with_tag(tag));
        assert_eq!(failure.kind, FailureKind::Corrupt);
        assert!(failure.message.contains("its own header"), "{failure}");
    }
}

#[test]
fn a_header_of_sha512_is_compared_with_the_body() {
    use sha2::Digest as _;
    let registry = Registry::plain();
    let honest: String = sha2::Sha512::digest(image(&[]))
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    registry.hook(move |request, _| {
        let digits = if request.path.ends_with("honest") {
            honest.clone()
        } else {
            "0".repeat(128)
        };
        let header = format!("sha512:{digits}");
        Some(Reply::new(200, image(&[])).header("Docker-Content-Digest", header))
    });
    let client = client(&registry);
    let manifest = one(&client, registry.reference("a:honest")).expect("a manifest");
    assert_eq!(manifest.digest, Digest::compute(image(&[]).as_bytes()));
    assert_eq!(
        failure(&client, registry.reference("a:lie")).kind,
        FailureKind::Corrupt
    );
}

#[test]
fn a_manifest_beyond_the_limit_is_refused_while_it_comes() {
    let registry = Registry::plain();
    registry.hook(|_, _| Some(Reply::new(200, vec![b' '; MANIFEST_LIMIT + 1]).way(Way::Chunked)));
    let failure = failure(&client(&registry), registry.reference("a:1"));
    assert_eq!(failure.kind, FailureKind::TooLarge);
    let words = "sends more than 4194304 bytes";
    assert!(failure.message.contains(words), "{failure}");
    assert_eq!(registry.count(), 1);
}

#[test]
fn what_is_no_manifest_is_refused() {
    let registry = Registry::plain();
    registry.hook(|_, _| Some(Reply::new(200, "<html>please log in</html>")));
    assert_eq!(
        failure(&client(&registry), registry.reference("a:1")).kind,
        FailureKind::Corrupt
    );
}

#[test]
fn an_index_stays_an_index() {
    let registry = Registry::plain();
    let child = registry.image("a", "child", &[]);
    let index = format!(
        r#"{{"schemaVersion":2,"manifests":[{{"mediaType":"{MANIFEST}","digest":"{child}","size":1,"platform":{{"architecture":"arm64","os":"linux"}}}}]}}"#
    );
    registry.put("a", "1", INDEX, index.as_bytes());
    let manifest = one(&client(&registry), registry.reference("a:1")).expect("an index");
    let Content::Index { manifests, .. } = manifest.content else {
        panic!("an index");
    };
    assert_eq!(manifests[0].digest, child);
    let accept = registry.seen()[0].header("accept").map(str::to_owned);
    assert!(accept.is_some_and(|accept| accept.contains(INDEX) && accept.contains(MANIFEST)));
}

#[test]
fn a_blob_is_whole_or_refused() {
    let registry = Registry::plain();
    let (digest, other) = (registry.blob(b"payload"), Digest::compute(b"another"));
    let lie = other.clone();
    registry.hook(move |request, _| {
        request
            .path
            .ends_with(lie.as_str())
            .then(|| Reply::new(200, "PAYLOAD"))
    });
    let client = client(&registry);
    let reference = registry.reference("a:1");
    let get = |digest: &Digest, size, limit| {
        let descriptor = descriptor(digest, size);
        client
            .blobs(&[(reference.clone(), descriptor)], limit)
            .remove(0)
            .map_err(|failure| failure.kind)
    };
    assert_eq!(get(&digest, 7, 100).as_deref(), Ok(&b"payload"[..]));
    assert_eq!(get(&digest, 7, 7).as_deref(), Ok(&b"payload"[..]));
    assert_eq!(get(&digest, 7, 6), Err(FailureKind::TooLarge));
    assert_eq!(get(&digest, 8, 100), Err(FailureKind::Corrupt));
    assert_eq!(get(&digest, 6, 100), Err(FailureKind::TooLarge));
    assert_eq!(get(&other, 7, 100), Err(FailureKind::Corrupt));
    assert_eq!(
        get(&Digest::compute(b"nowhere"), 7, 100),
        Err(FailureKind::NotFound)
    );
}

fn descriptor(digest: &Digest, size: u64) -> Descriptor {
    serde_json::from_value(serde_json::json!({
        "mediaType": "application/octet-stream", "digest": digest.as_str(), "size": size,
    }))
    .expect("a descriptor")
}

#[test]
fn lists_are_read_page_by_page() {
    let registry = Registry::plain();
    for number in 0..25 {
        registry.image("a", &format!("t{number:02}"), &[]);
        registry.image(&format!("r{number:02}"), "1", &[]);
    }
    registry.page(10);
    let client = client(&registry);
    let of = registry.reference("a:1");
    let tags = client.tags(&of).expect("tags");
    assert_eq!(
        (tags.len(), tags[0].as_str(), tags[24].as_str()),
        (25, "t00", "t24")
    );
    assert_eq!(registry.count(), 3);
    let repositories = client.repositories(&of).expect("repositories");
    assert_eq!(repositories.len(), 26);
    assert_eq!(registry.count(), 6);
}

#[test]
fn a_list_that_goes_in_circles_or_elsewhere_ends() {
    let registry = Registry::plain();
    registry.hook(|request, _| {
        let next = if request.path.contains("circle") {
            "</v2/circle/tags/list?n=1>; rel=\"next\""
        } else {
            "<http://127.0.0.1:1/v2/x/tags/list>; rel=\"next\""
        };
        Some(Reply::new(200, r#"{"tags":["a"]}"#).header("Link", next))
    });
    let client = client(&registry);
    let reported = client.tags(&registry.reference("circle:1"));
    let reported = reported.expect_err("a failure").message;
    assert!(
        reported.contains("leads back to a page of it"),
        "{reported}"
    );
    assert_eq!(registry.count(), 2, "no page is read twice");
    let reported = client.tags(&registry.reference("elsewhere:1"));
    let reported = reported.expect_err("a failure").message;
    assert!(
        reported.contains("continues its list at another host"),
        "{reported}"
    );
}

#[test]
fn referrers_come_from_the_interface_or_the_fallback_tag() {
    let registry = Registry::plain();
    let digest = registry.image("a", "1", &[]);
    let listed = format!(
        r#"{{"mediaType":"{MANIFEST}","digest":"{}","size":3}}"#,
        Digest::compute(b"sig")
    );
    let client = client(&registry);
    let ask = || {
        let wanted = [(registry.reference("a:1"), digest.clone())];
        client.referrers(&wanted).remove(0).expect("a list").len()
    };
    assert_eq!(ask(), 0);
    let fallback = format!(r#"{{"schemaVersion":2,"manifests":[{listed}]}}"#);
    registry.put(
        "a",
        &format!("sha256-{}", digest.hex()),
        INDEX,
        fallback.as_bytes(),
    );
    assert_eq!(ask(), 1);
    for status in [400, 404, 405, 406, 501] {
        registry.hook(move |request, _| {
            let is_asked = request.path.contains("/referrers/");
            is_asked.then(|| Reply::new(status, "no such thing"))
        });
        assert_eq!(ask(), 1, "{status}");
    }
    registry.hook(|_, _| None);
    registry.refer(&digest, &listed);
    registry.refer(&digest, &listed);
    assert_eq!(ask(), 2);
}

#[test]
fn how_long_a_blob_is_costs_one_byte() {
    let registry = Registry::plain();
    let (long, none) = (registry.blob(&[7; 100_000]), registry.blob(b""));
    let one = registry.reference("one:1");
    let wanted = [&long, &none, &Digest::compute(b"absent")].map(|of| (one.clone(), of.clone()));
    let sizes = client(&registry).sizes(&wanted);
    assert_eq!(sizes[..2], [Ok(Some(100_000)), Ok(Some(0))]);
    let reported = sizes[2].as_ref().expect_err("a failure");
    assert_eq!(reported.kind, FailureKind::NotFound);
    assert!(
        reported.wanted.contains(&wanted[2].1.to_string()),
        "{reported}"
    );
    assert_eq!(registry.count(), 3);
    // Who knows no ranges begins to send all: the header is enough, and the rest is not waited for.
    registry.hook(|_, _| {
        let body = vec![7; 4000];
        Some(Reply::new(200, body).way(Way::Stalled(20_000)))
    });
    let started = std::time::Instant::now();
    assert_eq!(client(&registry).sizes(&wanted[..1]), [Ok(Some(4000))]);
    assert!(started.elapsed() < std::time::Duration::from_secs(15));
    // Of nothing there is no first byte; the answer may have a body of its own.
    registry
        .hook(|_, _| Some(Reply::new(416, "no such range").header("Content-Range", "bytes */0")));
    assert_eq!(client(&registry).sizes(&wanted[1..2]), [Ok(Some(0))]);
    registry.hook(|_, _| Some(Reply::new(200, "seven b").way(Way::Chunked)));
    let reported = client(&registry).sizes(&wanted[..1]).remove(0);
    let reported = reported.expect_err("a failure");
    assert!(
        reported
            .message
            .ends_with("does not report how many bytes it has"),
        "{reported}"
    );
}
