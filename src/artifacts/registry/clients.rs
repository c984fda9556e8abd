//! The HTTP clients: one for all usual hosts, one for each host that the settings say something special of, so that what is
//! allowed to one host is allowed to no other, not even behind a redirect.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::{Certificate, Client, ClientBuilder, Url, redirect};

use crate::model::registries::{Host, RegistrySettings};
use crate::oci::FailureKind;

use super::options::Limits;
use super::trouble::{Trouble, authority};

/// The clients, each made when it is first needed.
pub(super) struct Clients {
    settings: RegistrySettings,
    limits: Limits,
    made: Mutex<Made>,
}

/// By the host that is special, none for all others; and whether much is sent.
type Made = HashMap<(Option<Arc<str>>, bool), Result<Client, Trouble>>;

impl Clients {
    pub(super) fn new(settings: RegistrySettings, limits: Limits) -> Self {
        Self {
            settings,
            limits,
            made: Mutex::default(),
        }
    }

    /// What the settings say of a host.
    pub(super) fn host(&self, authority: &str) -> Option<(&Arc<str>, &Host)> {
        self.settings.hosts.get_key_value(authority)
    }

    /// The client for an address; none for plain HTTP to a host that is not said to speak it. `sends`: so much that no answer
    /// is to be waited for until all of it is sent, which the caller watches.
    pub(super) fn of(&self, url: &Url, sends: bool) -> Result<Client, Trouble> {
        let name = authority(url);
        let special = self.host(&name);
        let is_plain = special.is_some_and(|(_, host)| host.plain_http);
        if url.scheme() != "https" && !is_plain {
            let message = format!("`{name}` is to be asked without TLS, which nothing allows");
            return Err(Trouble::new(FailureKind::Unreachable, message).help(format!(
                "if that is meant, allow it in the project file: `registries: {{hosts: {{\"{name}\": {{plain-http: true}}}}}}`"
            )));
        }
        let key = (special.map(|(name, _)| Arc::clone(name)), sends);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let client = made
            .entry(key)
            .or_insert_with(|| self.make(&name, special.map(|(_, host)| host), sends));
        client.clone()
    }

    fn make(&self, name: &str, host: Option<&Host>, sends: bool) -> Result<Client, Trouble> {
        let mut builder = Client::builder()
            .user_agent(concat!("metalmark/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.limits.connect)
            .redirect(redirect::Policy::none());
        if !sends {
            builder = builder.read_timeout(self.limits.read);
        }
        if let Some(host) = host {
            builder = special(builder, host)?;
        }
        builder.build().map_err(|_| {
            let message = format!("TLS cannot be set up for `{name}`: this machine has no CA certificates, or none can be read");
            Trouble::new(FailureKind::Unreachable, message).help(format!(
                "install the package ca-certificates, or name the registry's authority: `registries: {{hosts: {{\"{name}\": {{ca: FILE.pem}}}}}}`"
            ))
        })
    }
}

fn special(builder: ClientBuilder, host: &Host) -> Result<ClientBuilder, Trouble> {
    // No certificate is ever looked at over plain HTTP: a machine without a CA store must do.
    if host.plain_http {
        return Ok(builder.tls_certs_only([]));
    }
    if host.skip_verify {
        return Ok(builder.tls_danger_accept_invalid_certs(true));
    }
    match &host.ca {
        Some(file) => Ok(builder.tls_certs_merge(authorities(file)?)),
        None => Ok(builder),
    }
}

fn authorities(file: &Path) -> Result<Vec<Certificate>, Trouble> {
    let trouble = |reason: String| {
        let message = format!("the CA file `{}` {reason}", file.display());
        Trouble::new(FailureKind::Unreachable, message)
            .help("`ca` names files with `-----BEGIN CERTIFICATE-----` blocks, from the project file's folder")
    };
    let text = std::fs::read(file)
        .map_err(|error| trouble(format!("cannot be read: {}", error.kind())))?;
    match Certificate::from_pem_bundle(&text) {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => Err(trouble("holds no certificate".to_owned())),
    }
}
