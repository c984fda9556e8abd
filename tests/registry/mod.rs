//! The registry client against a registry in this process: what it asks, how often, with what proof, and what it says when
//! it does not get it.

mod command;
mod content;
mod copy;
mod distribution;
mod limits;
mod mirrors;
mod proof;
mod push;
mod push_broken;
mod retries;

use std::path::PathBuf;
use std::time::Duration;

use oci_artifacts::registries::{Host, RegistrySettings};
use oci_artifacts::registry::{Environment, Limits, Registries, RegistryOptions};
use oci_artifacts::{Failure, Manifest, Reference, Store};

use super::support::registry::Registry;

/// Short pauses, and waits long enough for a busy machine; tests of what never comes shorten those.
fn quick() -> Limits {
    Limits {
        connect: Duration::from_secs(20),
        read: Duration::from_secs(20),
        request: Duration::from_secs(60),
        batch: Duration::from_secs(120),
        retries: 3,
        piece: 1 << 20,
        first_pause: Duration::from_millis(5),
        longest_pause: Duration::from_millis(50),
        helper: Duration::from_secs(20),
    }
}

/// What to say of a registry that speaks plain HTTP.
fn plain(registry: &Registry) -> RegistrySettings {
    let host = Host {
        plain_http: true,
        ..Host::default()
    };
    RegistrySettings {
        hosts: [(registry.host().into(), host)].into(),
        ..RegistrySettings::default()
    }
}

fn options(settings: RegistrySettings) -> RegistryOptions {
    RegistryOptions {
        settings,
        limits: quick(),
        environment: Environment::default(),
        progress: None,
    }
}

/// A client of a registry that speaks plain HTTP, without credentials.
fn client(registry: &Registry) -> Registries {
    Registries::new(options(plain(registry)))
}

/// A client with credentials in a file of that text.
fn client_with(registry: &Registry, auth: &str) -> (Registries, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("auth.json");
    std::fs::write(&file, auth).expect("written");
    let mut options = options(plain(registry));
    options.environment = files(&[("auth.json", file)]);
    (Registries::new(options), folder)
}

fn files(files: &[(&str, PathBuf)]) -> Environment {
    let named = |(name, path): &(&str, PathBuf)| ((*name).to_owned(), path.clone());
    Environment {
        files: files.iter().map(named).collect(),
    }
}

/// The one manifest.
fn one(store: &dyn Store, reference: Reference) -> Result<Manifest, Failure> {
    store.manifests(&[reference]).pop().expect("one answer")
}

/// Why there is none.
fn failure(store: &dyn Store, reference: Reference) -> Failure {
    one(store, reference).expect_err("a failure")
}
