//! What becomes of a store's answers on the way to a verdict: each failure, each limit, each lie.

use oci_artifacts::signature::{self, Form, Question, Verdict};
use oci_artifacts::{Digest, Failure, FailureKind, Reference};
use serde_json::{Value, json};
use yaml_tree::bytes::BASE64;

use super::{NAME, form};
use crate::support::cosign::{
    ANNOTATION, BUNDLE, Key, SIGN, SIMPLE, Signs, payload, signed_bundle, statement,
};
use crate::support::stub::Stub;

/// A store with one image, and the key that counts.
struct World {
    store: Stub,
    image: Digest,
    mine: Key,
    stranger: Key,
}

impl World {
    fn new() -> Self {
        let mut store = Stub::default();
        let image = store.put(&at("1"), json!({}));
        Self {
            store,
            image,
            mine: Key::new(),
            stranger: Key::new(),
        }
    }

    /// The layer of a signature of the image.
    fn payload(&mut self, is_mine: bool) -> Value {
        let by = if is_mine { &self.mine } else { &self.stranger };
        let text = payload(&self.image, NAME);
        let signature = BASE64.encode(&by.sign(text.as_bytes()));
        let mut layer = self.store.layer(SIMPLE, text.as_bytes());
        layer["annotations"] = json!({ANNOTATION: signature});
        layer
    }

    /// The layer of a bundle of the image.
    fn bundle(&mut self, is_mine: bool) -> Value {
        let by = if is_mine { &self.mine } else { &self.stranger };
        let text = signed_bundle(by, &statement(&self.image, SIGN));
        self.store.layer(BUNDLE, text.as_bytes())
    }

    fn sig(&self) -> String {
        at(&format!("sha256-{}.sig", self.image.hex()))
    }

    fn at_tag(&mut self, layers: &[Value]) {
        let sig = self.sig();
        self.store.put(&sig, json!({"layers": layers}));
    }

    fn refer(&mut self, layers: &[Value]) {
        let image = self.image.clone();
        self.store.refer(&image, None, layers);
    }

    fn check(&self) -> Result<Verdict, Failure> {
        let reference = Reference::parse(&at("1")).expect("a reference");
        let question = Question {
            of: reference,
            signed_as: None,
            digest: self.image.clone(),
            key: self.mine.public(),
        };
        signature::check_one(&self.store, question)
    }

    fn form(&self) -> Option<Form> {
        form(&self.check().expect("a verdict"))
    }

    fn failure(&self) -> FailureKind {
        self.check().expect_err("a failure").kind
    }
}

fn at(tag: &str) -> String {
    format!("oci://{NAME}:{tag}")
}

/// The kinds of failure that are no answer.
const FAILURES: [FailureKind; 4] = [
    FailureKind::Unreachable,
    FailureKind::Denied,
    FailureKind::Corrupt,
    FailureKind::TooLarge,
];

#[test]
fn a_tag_that_cannot_be_requested_is_a_failure_whatever_refers_to_the_image() {
    for kind in FAILURES {
        let mut world = World::new();
        let sig = world.sig();
        world.store.manifests.insert(sig, Err(kind));
        let image = world.image.clone();
        for answer in [Err(FailureKind::NotFound), Ok(Vec::new())] {
            world.store.referrers.insert(image.clone(), answer);
            assert_eq!(world.failure(), kind);
        }
    }
}

#[test]
fn referrers_that_cannot_be_listed_are_a_failure_unless_the_tag_proves_it() {
    for kind in FAILURES {
        let mut world = World::new();
        let image = world.image.clone();
        world.store.referrers.insert(image, Err(kind));
        assert_eq!(world.failure(), kind);
        let strange = world.payload(false);
        world.at_tag(&[strange]);
        assert_eq!(
            world.failure(),
            kind,
            "another key's signature answers nothing"
        );
        let mine = world.payload(true);
        world.at_tag(&[mine]);
        let before = world.store.requested("referrers");
        assert_eq!(world.form(), Some(Form::Tag));
        assert_eq!(
            world.store.requested("referrers"),
            before,
            "they are not needed"
        );
    }
    let mut world = World::new();
    let image = world.image.clone();
    let missing = Err(FailureKind::NotFound);
    world.store.referrers.insert(image, missing);
    assert_eq!(world.check(), Ok(Verdict::Missing));
}

#[test]
fn a_referrer_that_cannot_be_had_is_a_failure_unless_it_is_gone_or_another_one_is_good() {
    for kind in FAILURES.into_iter().chain([FailureKind::NotFound]) {
        let mut world = World::new();
        let strange = world.bundle(false);
        world.refer(&[strange]);
        assert_eq!(world.check(), Ok(Verdict::WrongKey));
        let image = world.image.clone();
        let gone = world.store.referrers[&image].as_ref().expect("a list")[0].clone();
        let gone = gone.digest.to_string();
        world.store.manifests.insert(gone, Err(kind));
        // A list under a tag keeps entries whose artifacts were deleted.
        if kind == FailureKind::NotFound {
            assert_eq!(world.check(), Ok(Verdict::Missing));
        } else {
            assert_eq!(world.failure(), kind);
        }
        let mine = world.bundle(true);
        world.refer(&[mine]);
        assert_eq!(world.form(), Some(Form::Bundle));
    }
}

#[test]
fn a_payload_that_cannot_be_had_is_a_failure_unless_another_one_is_good() {
    for kind in FAILURES.into_iter().chain([FailureKind::NotFound]) {
        let mut world = World::new();
        let mut gone = world.payload(true);
        gone["digest"] = Digest::compute(b"gone").as_str().into();
        let gone_blob = Digest::compute(b"gone");
        world.store.blobs.insert(gone_blob, Err(kind));
        world.at_tag(std::slice::from_ref(&gone));
        assert_eq!(world.failure(), kind);
        let strange = world.payload(false);
        world.at_tag(&[strange, gone.clone()]);
        assert_eq!(world.failure(), kind);
        let mine = world.payload(true);
        world.at_tag(&[gone, mine]);
        assert_eq!(world.form(), Some(Form::Tag));
    }
}

/// A bundle that signs the manifest itself needs its bytes.
#[test]
fn a_manifest_that_cannot_be_had_is_a_failure_and_other_bytes_are_no_proof() {
    let world = |manifest: &Value| {
        let mut world = World::new();
        let signature = BASE64.encode(&world.mine.sign(manifest.to_string().as_bytes()));
        let text = json!({"messageSignature": {"signature": signature}}).to_string();
        let layer = world.store.layer(BUNDLE, text.as_bytes());
        world.refer(&[layer]);
        world
    };
    for kind in FAILURES.into_iter().chain([FailureKind::NotFound]) {
        let mut world = world(&json!({}));
        let image = world.image.to_string();
        world.store.manifests.insert(image, Err(kind));
        assert_eq!(world.failure(), kind);
        // A signed statement names the digest, so its bundle needs no manifest.
        let mut world = World::new();
        let mine = world.bundle(true);
        world.refer(&[mine]);
        let image = world.image.to_string();
        world.store.manifests.insert(image, Err(kind));
        assert_eq!(world.form(), Some(Form::Bundle));
    }
    // The key signed other bytes, and the store hands them out for the image's digest.
    let other =
        json!({"config": {"mediaType": "a", "digest": Digest::compute(b"x").as_str(), "size": 1}});
    let mut lied_to = world(&other);
    let image = lied_to.image.to_string();
    let lie = other.to_string().into_bytes();
    lied_to.store.manifests.insert(image, Ok(lie));
    assert_eq!(lied_to.check(), Ok(Verdict::WrongKey));
}

#[test]
fn only_layers_of_a_signatures_types_are_signatures() {
    for media_type in [
        "application/vnd.oci.image.layer.v1.tar+gzip",
        "application/vnd.dev.cosign.simplesigning.v2+json",
        "text/plain",
    ] {
        let mut world = World::new();
        let mut layer = world.payload(true);
        layer["mediaType"] = media_type.into();
        world.at_tag(std::slice::from_ref(&layer));
        world.refer(&[layer]);
        assert_eq!(world.check(), Ok(Verdict::Missing), "{media_type}");
    }
    // Of bundles any version counts.
    let mut world = World::new();
    let mut layer = world.bundle(true);
    layer["mediaType"] = "application/vnd.dev.sigstore.bundle.v0.4+json".into();
    world.refer(&[layer]);
    assert_eq!(world.form(), Some(Form::Bundle));
    // An index at the tag has no layers.
    let mut world = World::new();
    let sig = world.sig();
    let index = json!({"schemaVersion": 2, "manifests": []}).to_string();
    world.store.manifests.insert(sig, Ok(index.into_bytes()));
    assert_eq!(world.check(), Ok(Verdict::Missing));
}

/// The most payloads, and the most referrers, that are read of one artifact.
const MOST: usize = 256;

#[test]
fn the_first_payloads_are_read_and_no_more() {
    for (before, expected) in [(MOST - 1, Some(Form::Tag)), (MOST, None)] {
        let mut world = World::new();
        let strange = world.payload(false);
        let mut layers = vec![strange; before];
        layers.push(world.payload(true));
        world.at_tag(&layers);
        assert_eq!(world.form(), expected, "{before} before it");
        assert_eq!(
            world.store.requested("blobs"),
            1,
            "one blob is requested once"
        );
    }
}

#[test]
fn more_referrers_than_are_read_are_a_failure_and_likely_ones_come_first() {
    let crowded = |count: usize| {
        let mut world = World::new();
        let strange = world.bundle(false);
        let image = world.image.clone();
        for _ in 0..count {
            world
                .store
                .refer(&image, None, std::slice::from_ref(&strange));
        }
        world
    };
    assert_eq!(crowded(MOST).check(), Ok(Verdict::WrongKey));
    let reported = crowded(MOST + 1).check().expect_err("a failure");
    assert_eq!(reported.kind, FailureKind::TooLarge);
    assert!(
        reported.message.contains("257 artifacts refer to it"),
        "{reported}"
    );
    // The last of the list is read where its type says that it is a signature.
    for (artifact_type, expected) in [
        (Some("application/vnd.dev.sigstore.bundle.v0.3+json"), true),
        (
            Some("application/vnd.dev.cosign.artifact.sig.v1+json"),
            true,
        ),
        (Some("application/spdx+json"), false),
        (None, false),
    ] {
        let mut world = crowded(MOST);
        let mine = world.bundle(true);
        let image = world.image.clone();
        world.store.refer(&image, artifact_type, &[mine]);
        let good = world.check().is_ok_and(|verdict| verdict.is_proven());
        assert_eq!(good, expected, "{artifact_type:?}");
    }
}

#[test]
fn a_layer_longer_than_any_signature_is_not_read() {
    const LIMIT: u64 = 256 << 10;
    for (size, is_read) in [(LIMIT, true), (LIMIT + 1, false)] {
        let mut world = World::new();
        let mut layer = world.payload(true);
        layer["size"] = size.into();
        world.at_tag(&[layer]);
        assert_eq!(world.form(), is_read.then_some(Form::Tag), "{size}");
        let mut world = World::new();
        let mut layer = world.bundle(true);
        layer["size"] = size.into();
        world.refer(&[layer]);
        let expected = if is_read { Some(Form::Bundle) } else { None };
        let verdict = world.check().expect("a verdict");
        assert_eq!(form(&verdict), expected, "{size}");
        assert_eq!(verdict == Verdict::NotASignature, !is_read, "{size}");
    }
}

#[test]
fn each_image_of_a_batch_has_its_own_answer() {
    let mine = Key::new();
    let mut store = Stub::default();
    let mut wanted = Vec::new();
    // Images of one content in two repositories, and of another content; signed in one repository only.
    for (repository, version, referrers) in [
        ("r/a", "1", 0),
        ("r/b", "1", 0),
        ("r/a", "2", 2),
        ("r/a", "3", 1),
        ("r/a", "4", 0),
    ] {
        let name = format!("oci://{repository}:{version}");
        let image = store.put(&name, json!({"annotations": {"version": version}}));
        for place in 0..referrers {
            let statement = statement(&image, SIGN);
            let by = if place == 1 { &mine } else { &Key::new() };
            let layer = store.layer(BUNDLE, signed_bundle(by, &statement).as_bytes());
            store.refer(&image, None, &[layer]);
        }
        let reference = Reference::parse(&name).expect("a reference");
        wanted.push(Question {
            of: reference,
            signed_as: None,
            digest: image,
            key: mine.public(),
        });
    }
    let text = payload(&wanted[0].digest, "r/a");
    let mut layer = store.layer(SIMPLE, text.as_bytes());
    layer["annotations"] = json!({ANNOTATION: BASE64.encode(&mine.sign(text.as_bytes()))});
    let tag = format!("oci://r/a:sha256-{}.sig", wanted[0].digest.hex());
    store.put(&tag, json!({"layers": [layer]}));
    let answers = signature::check(&store, &wanted);
    let forms: Vec<_> = answers
        .iter()
        .map(|answer| form(answer.as_ref().expect("a verdict")))
        .collect();
    assert_eq!(
        forms,
        [Some(Form::Tag), None, Some(Form::Bundle), None, None]
    );
    assert_eq!(answers[1], Ok(Verdict::Missing));
    assert_eq!(answers[3], Ok(Verdict::WrongKey));
    assert_eq!(answers[4], Ok(Verdict::Missing));
}
