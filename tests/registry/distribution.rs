//! The CNCF distribution registry, Debian's `docker-registry`, where it is installed.

use oci_artifacts::registries::{Host, RegistrySettings};
use oci_artifacts::registry::{Limits, Registries};
use oci_artifacts::{Content, Digest, FailureKind, Reference, Sink, Store};
use serde_json::json;

use super::super::support::artifact::{artifact, blob, made};
use super::super::support::distribution::{Distribution, Pushed, USER, name, plain_http};
use super::super::support::registry::{MANIFEST, image};
use super::{failure, options, options_with};

fn reference(registry: &Distribution, rest: &str) -> Reference {
    Reference::parse(&format!("{}/{rest}", registry.host())).expect("a reference")
}

fn push(registry: &Distribution, repository: &str, tag: &str, facts: &[(&str, &str)]) -> Digest {
    registry.blob(repository, b"{}");
    registry.manifest(repository, tag, &image(facts))
}

#[test]
fn the_distribution_registry_is_understood() {
    let Some(registry) = Distribution::open() else {
        return;
    };
    let named = |rest: &str| reference(&registry, rest);
    let digest = push(&registry, "group/one", "1.31.8", &[("sylva/os", "ubuntu")]);
    push(&registry, "group/one", "1.31.9", &[]);
    let client = Registries::new(options(plain_http(&[registry.host()])));
    let manifest = super::one(&client, named("group/one:1.31.8")).expect("a manifest");
    assert_eq!(manifest.digest, digest);
    let Content::Image { config, .. } = &manifest.content else {
        panic!("an image")
    };
    let reference = named("group/one").with_digest(&digest);
    let blob = client
        .blobs(&[(reference.clone(), (**config).clone())], 100)
        .remove(0);
    assert_eq!(blob.as_deref(), Ok(&b"{}"[..]));
    let nothing = registry.blob("group/one", b"");
    let sizes = [&config.digest, &nothing].map(|digest| (reference.clone(), digest.clone()));
    assert_eq!(client.sizes(&sizes), [Ok(Some(2)), Ok(Some(0))]);
    let absent = (reference.clone(), Digest::compute(b"absent"));
    let reported = client.sizes(&[absent]).remove(0).expect_err("a failure");
    assert_eq!(reported.kind, FailureKind::NotFound);
    assert_eq!(
        client.tags(&reference),
        Ok(vec!["1.31.8".to_owned(), "1.31.9".to_owned()])
    );
    assert_eq!(
        client.repositories(&reference),
        Ok(vec!["group/one".to_owned()])
    );
    assert_eq!(client.referrers(&[(reference, digest)]), [Ok(Vec::new())]);
    let reported = failure(&client, named("group/one:1.31.7"));
    assert_eq!(reported.kind, FailureKind::NotFound);
    let reported = failure(&client, named("group/onne:1.31.8"));
    assert_eq!(reported.kind, FailureKind::NotFound);
}

/// Pushes an image whose layer goes in pieces and what refers to it, and has both again.
fn there_and_back(registry: &Distribution, client: &Registries) {
    let named = |rest: &str| reference(registry, rest);
    let layer = made((3 << 20) + 17);
    let image = artifact(vec![layer.clone(), blob("text/plain", b"")], json!({}));
    let to = named("group/bundle:1");
    let put = client.put(&to, &image).expect("put");
    assert_eq!((put.sent, put.is_unchanged), (3, false));
    let put = client.put(&to, &image).expect("put");
    assert_eq!((put.sent, put.is_unchanged), (0, true));
    let found = super::one(client, to.clone()).expect("a manifest");
    assert_eq!(found.bytes, image.manifest);
    let mut into = Vec::new();
    client
        .copy(&to, &layer.descriptor, &mut into)
        .expect("copied");
    assert!(layer.descriptor.digest.is_of(&into));
    let of = &image.descriptor;
    let subject = json!({"mediaType": MANIFEST, "digest": of.digest.as_str(), "size": of.size});
    let referrer = artifact(vec![], json!({"subject": subject}));
    let at = named("group/bundle").with_digest(&referrer.descriptor.digest);
    client.put(&at, &referrer).expect("put");
    let listed = client
        .referrers(&[(to, of.digest.clone())])
        .remove(0)
        .expect("a list");
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].digest, referrer.descriptor.digest);
}

#[test]
fn the_distribution_registry_takes_what_is_pushed_by_one_request() {
    let Some(registry) = Distribution::open() else {
        return;
    };
    let mut options = options(plain_http(&[registry.host()]));
    options.limits = Limits::default();
    let image = artifact(vec![made(3 << 20)], json!({}));
    let put = Registries::new(options).put(&reference(&registry, "other:1"), &image);
    assert_eq!(put.expect("put").sent, 2);
}

#[test]
fn the_distribution_registry_takes_it_in_pieces_with_a_password_or_over_tls() {
    if let Some(registry) = Distribution::with_password() {
        let auth = json!({"username": USER.0, "password": USER.1});
        let auth = json!({"auths": {registry.host(): auth}});
        let settings = plain_http(&[registry.host()]);
        let image = artifact(vec![blob("text/plain", b"x")], json!({}));
        let to = reference(&registry, "group/bundle:1");
        let refused = Registries::new(options(settings.clone())).put(&to, &image);
        let refused = refused.map_err(|failure| failure.kind);
        assert_eq!(refused, Err(FailureKind::Denied));
        let (options, _stage) = options_with(settings, &auth.to_string());
        there_and_back(&registry, &Registries::new(options));
    }
    if let Some(registry) = Distribution::over_tls() {
        let host = Host {
            ca: Some(registry.certificate()),
            ..Host::default()
        };
        let settings = RegistrySettings {
            hosts: [(name(&registry.host()), host)].into(),
            ..RegistrySettings::default()
        };
        there_and_back(&registry, &Registries::new(options(settings)));
    }
}
