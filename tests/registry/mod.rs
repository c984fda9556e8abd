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

use std::time::Duration;

use oci_artifacts::registries::RegistrySettings;
use oci_artifacts::registry::{Environment, Limits, Registries, RegistryOptions};
use oci_artifacts::{Failure, Manifest, Reference, Store};

use super::support::distribution::plain_http;
use super::support::registry::Registry;
use super::support::stage::{Stage, project};

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
    plain_http(&[registry.host()])
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

/// Options with credentials in a file of that text, `auth.json`.
fn options_with(settings: RegistrySettings, auth: &str) -> (RegistryOptions, Stage) {
    let stage = project().file("auth.json", auth);
    let mut options = options(settings);
    options.environment = files(&stage, &["auth.json"]);
    (options, stage)
}

/// A client with credentials in a file of that text.
fn client_with(registry: &Registry, auth: &str) -> (Registries, Stage) {
    let (options, stage) = options_with(plain(registry), auth);
    (Registries::new(options), stage)
}

/// Credentials are looked for in these files.
fn files(stage: &Stage, names: &[&str]) -> Environment {
    let file = |name: &&str| ((*name).to_owned(), stage.path().join(name));
    Environment {
        files: names.iter().map(file).collect(),
    }
}

/// What is said of a failure.
fn said(failure: &Failure, registry: &Registry) -> String {
    format!("{failure}\n").replace(&registry.host(), "HOST")
}

/// The one manifest.
fn one(store: &dyn Store, reference: Reference) -> Result<Manifest, Failure> {
    store.manifests(&[reference]).pop().expect("one answer")
}

/// Why there is none.
fn failure(store: &dyn Store, reference: Reference) -> Failure {
    one(store, reference).expect_err("a failure")
}
