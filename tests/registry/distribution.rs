//! The CNCF distribution registry, Debian's `docker-registry`, where it is installed.

use metalmark::model::registries::{Host, RegistrySettings};
use metalmark::oci::{Content, Digest, FailureKind, Reference, Store};
use metalmark::registry::Registries;

use super::super::support::distribution::{Distribution, Pushed};
use super::super::support::registry::image;
use super::{failure, options};

fn client(registry: &Distribution) -> Registries {
    let host = Host {
        plain_http: true,
        ..Host::default()
    };
    Registries::new(options(RegistrySettings {
        hosts: [(registry.host().into(), host)].into(),
        ..RegistrySettings::default()
    }))
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
    let named =
        |rest: &str| Reference::parse(&format!("{}/{rest}", registry.host())).expect("a reference");
    let digest = push(&registry, "group/one", "1.31.8", &[("sylva/os", "ubuntu")]);
    push(&registry, "group/one", "1.31.9", &[]);
    let client = client(&registry);
    let manifest = super::one(&client, named("group/one:1.31.8")).expect("a manifest");
    assert_eq!(manifest.digest, digest);
    let Content::Image { config, .. } = &manifest.content else {
        panic!("an image")
    };
    let reference = named("group/one").at(&digest);
    let blob = client
        .blobs(&[(reference.clone(), (**config).clone())], 100)
        .remove(0);
    assert_eq!(blob.as_deref(), Ok(&b"{}"[..]));
    let nothing = registry.blob("group/one", b"");
    let sizes = [&config.digest, &nothing].map(|digest| (reference.clone(), digest.clone()));
    assert_eq!(client.sizes(&sizes), [Ok(Some(2)), Ok(Some(0))]);
    let absent = (reference.clone(), Digest::of(b"absent"));
    let told = client.sizes(&[absent]).remove(0).expect_err("a failure");
    assert_eq!(told.kind, FailureKind::NotFound);
    assert_eq!(
        client.tags(&reference),
        Ok(vec!["1.31.8".to_owned(), "1.31.9".to_owned()])
    );
    assert_eq!(
        client.repositories(&reference),
        Ok(vec!["group/one".to_owned()])
    );
    assert_eq!(client.referrers(&[(reference, digest)]), [Ok(Vec::new())]);
    let told = failure(&client, named("group/one:1.31.7"));
    assert_eq!(told.kind, FailureKind::NotFound);
    assert!(told.help[0].contains("the nearest tag is"), "{told}");
    let told = failure(&client, named("group/onne:1.31.8"));
    assert!(
        told.help[0].contains("the nearest repository is `group/one`"),
        "{told}"
    );
}
