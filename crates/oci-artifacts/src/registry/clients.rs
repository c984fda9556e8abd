//! The HTTP clients: one for all hosts without settings, and one for each host with settings of its own. A permission for one
//! host (plain HTTP, no verification, a CA) therefore never applies to another host, not even after a redirect.

use std::collections::HashMap;
use std::path::Path;

use parking_lot::Mutex;
use reqwest::{Client, ClientBuilder, Url, redirect};
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::registries::{Host, RegistrySettings};
use crate::{FailureKind, RegistryName};

use super::error::{RegistryError, authority};
use super::options::Limits;
use super::trust;

/// The clients, each created when it is first used.
pub(super) struct Clients {
    settings: RegistrySettings,
    limits: Limits,
    made: Mutex<Made>,
}

/// By the host with settings (none for all others), and by whether a large body is sent.
type Made = HashMap<(Option<RegistryName>, bool), Result<Client, RegistryError>>;

impl Clients {
    pub(super) fn new(settings: RegistrySettings, limits: Limits) -> Self {
        Self {
            settings,
            limits,
            made: Mutex::default(),
        }
    }

    /// The settings of a registry, if it has any.
    pub(super) fn host(&self, name: &RegistryName) -> Option<&Host> {
        self.settings.hosts.get(name)
    }

    /// The settings of the host of an address. Without TLS, a name without a port means port 80.
    fn special(&self, url: &Url) -> Option<(&RegistryName, &Host)> {
        let find = |name: Option<RegistryName>| self.settings.hosts.get_key_value(&name?);
        let is_plain = url.scheme() == "http" && url.port().is_none();
        let with_port = || RegistryName::parse(&format!("{}:80", authority(url)));
        let own = is_plain.then(|| find(with_port())).flatten();
        own.or_else(|| find(RegistryName::from_url(url)))
    }

    /// The client for an address; an error for plain HTTP to a host whose settings do not allow it. With `sends`, the request
    /// has a large body and the client has no read timeout: the caller watches the progress.
    pub(super) fn get(&self, url: &Url, sends: bool) -> Result<Client, RegistryError> {
        let name = authority(url);
        let special = self.special(url);
        let is_plain = special.is_some_and(|(_, host)| host.plain_http);
        if url.scheme() != "https" && !is_plain {
            let message = format!("`{name}` would be queried without TLS, which no setting allows");
            return Err(RegistryError::new(FailureKind::Unreachable, message).help(format!(
                "to allow it, write in the project file: `registries: {{hosts: {{\"{name}\": {{plain-http: true}}}}}}`"
            )));
        }
        let key = (special.map(|(name, _)| name.clone()), sends);
        let mut made = self.made.lock();
        let client = made
            .entry(key)
            .or_insert_with(|| self.make(&name, special.map(|(_, host)| host), sends));
        client.clone()
    }

    fn make(&self, name: &str, host: Option<&Host>, sends: bool) -> Result<Client, RegistryError> {
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
            RegistryError::new(FailureKind::Unreachable, message).help(format!(
                "install the package ca-certificates, or name the registry's authority: `registries: {{hosts: {{\"{name}\": {{ca: FILE.pem}}}}}}`"
            ))
        })
    }
}

fn special(builder: ClientBuilder, host: &Host) -> Result<ClientBuilder, RegistryError> {
    // Plain HTTP needs no certificates: it must work on a machine without a CA store.
    if host.plain_http {
        return Ok(builder.tls_certs_only([]));
    }
    if host.skip_verify {
        return Ok(builder.tls_danger_accept_invalid_certs(true));
    }
    match &host.ca {
        Some(file) => Ok(builder.tls_backend_preconfigured(tls(file)?)),
        None => Ok(builder),
    }
}

/// TLS that trusts the certificates of a file.
fn tls(file: &Path) -> Result<ClientConfig, RegistryError> {
    let failure = |reason: String| {
        let message = format!("the CA file `{}` {reason}", file.display());
        RegistryError::new(FailureKind::Unreachable, message)
            .help("`ca` names files with `-----BEGIN CERTIFICATE-----` blocks, from the project file's folder")
    };
    let text = std::fs::read(file)
        .map_err(|error| failure(format!("cannot be read: {}", error.kind())))?;
    match CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>() {
        Ok(certificates) if !certificates.is_empty() => trust::config(certificates)
            .map_err(|_| failure("holds a certificate that cannot be read".to_owned())),
        _ => Err(failure("holds no certificate".to_owned())),
    }
}
