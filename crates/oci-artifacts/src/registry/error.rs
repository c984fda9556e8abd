//! The error of a failed exchange with a registry, which distinguishes DNS, refused connections, TLS and timeouts.

use std::error::Error;

use reqwest::Url;

use crate::{Failure, FailureKind};

use super::options::Limits;

/// Why an exchange failed, before the reference is known that it was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RegistryError {
    pub(super) kind: FailureKind,
    pub(super) message: String,
    pub(super) help: Vec<String>,
    /// Whether the same request may succeed later.
    pub(super) retryable: bool,
    /// Whether the whole host is unreachable, so that the batch sends it no other request.
    pub(super) host_unreachable: bool,
}

impl RegistryError {
    pub(super) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            help: Vec::new(),
            retryable: false,
            host_unreachable: false,
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// The failure for a reference or address.
    pub(super) fn failure(self, requested: &str) -> Failure {
        Failure {
            wanted: requested.to_owned(),
            kind: self.kind,
            message: self.message,
            help: self.help,
            place: None,
        }
    }

    /// Marks the error as one that a retry may fix.
    pub(super) fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    fn host_unreachable(mut self) -> Self {
        self.host_unreachable = true;
        self
    }
}

/// `host` or `host:port` of an address.
pub(super) fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// The error for a failed exchange. All causes are searched for known words, since the outermost says nothing specific.
pub(super) fn from_exchange(error: &reqwest::Error, url: &Url, limits: &Limits) -> RegistryError {
    let host = authority(url);
    let unreachable = |message: String| RegistryError::new(FailureKind::Unreachable, message);
    if error.is_timeout() {
        let message = if error.is_connect() {
            format!(
                "`{host}` accepted no connection within {:?}",
                limits.connect
            )
        } else {
            format!(
                "`{host}` accepted the request and sent nothing for {:?}",
                limits.read
            )
        };
        let failure = unreachable(message).retryable();
        return if error.is_connect() {
            failure.host_unreachable()
        } else {
            failure
        };
    }
    let causes = causes(error);
    let says = |word: &str| causes.iter().any(|cause| cause.contains(word));
    if let Some(error) = from_tls(&host, &says) {
        return error.host_unreachable();
    }
    if says("failed to lookup address") || says("dns error") {
        return unreachable(format!("the name of `{host}` is not known (DNS)"))
            .help("check the host's name, and the network that this machine is in")
            .host_unreachable();
    }
    if says("tunnel") || says("proxy") {
        let reason = causes.last().cloned().unwrap_or_default();
        return unreachable(format!(
            "the proxy on the way to `{host}` refused: {reason}"
        ))
        .help("check HTTPS_PROXY and HTTP_PROXY, or name the host in NO_PROXY")
        .host_unreachable();
    }
    if says("Connection refused") {
        return unreachable(format!("`{host}` refused the connection"))
            .help("check the port, and that the registry runs")
            .host_unreachable();
    }
    if says("invalid HTTP version") {
        return unreachable(format!("`{host}` does not support plain HTTP"))
            .help(format!(
                "remove `plain-http` of `{host}` below `registries: hosts:`"
            ))
            .host_unreachable();
    }
    let reason = causes.last().cloned().unwrap_or_default();
    if error.is_connect() {
        unreachable(format!("`{host}` cannot be reached: {reason}")).host_unreachable()
    } else {
        unreachable(format!("the connection to `{host}` broke: {reason}")).retryable()
    }
}

fn from_tls(host: &str, says: &dyn Fn(&str) -> bool) -> Option<RegistryError> {
    let error = |message: String| RegistryError::new(FailureKind::Unreachable, message);
    let setting = |setting: &str| format!("`registries: {{hosts: {{\"{host}\": {{{setting}}}}}}}`");
    let untrusted = [
        (
            "UnknownIssuer",
            "signed by an authority that is not trusted here",
        ),
        (
            "BadSignature",
            "signed by an authority that is not trusted here",
        ),
        ("CaUsedAsEndEntity", "that of an authority, not of a server"),
    ];
    if let Some((_, fault)) = untrusted.into_iter().find(|(word, _)| says(word)) {
        let message = format!("the certificate of `{host}` is {fault} (TLS)");
        return Some(error(message).help(format!(
            "name the authority's certificate in the project file: {}",
            setting("ca: FILE.pem")
        )));
    }
    let is_closed = says("tls handshake eof");
    if is_closed || says("InvalidContentType") || says("corrupt message") {
        let message = if is_closed {
            format!("`{host}` closed the connection during the TLS handshake")
        } else {
            format!("`{host}` does not support TLS on that port")
        };
        return Some(error(message).help(format!(
            "if it is to be queried without TLS, write in the project file: {}",
            setting("plain-http: true")
        )));
    }
    let fault = [
        ("NotValidForName", "is not for that host name"),
        ("not valid for name", "is not for that host name"),
        ("Expired", "has expired"),
        ("expired", "has expired"),
        ("NotValidYet", "is not valid yet"),
        ("not valid yet", "is not valid yet"),
        ("invalid peer certificate", "is not valid"),
    ];
    let (_, fault) = fault.into_iter().find(|(word, _)| says(word))?;
    let message = format!("the certificate of `{host}` {fault} (TLS)");
    Some(error(message).help(
        "check the host's name and this machine's clock, or contact the operator of the registry",
    ))
}

/// The messages of an error's causes, the outermost first.
fn causes(error: &reqwest::Error) -> Vec<String> {
    let mut causes = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    if causes.is_empty() {
        causes.push("no reason is given".to_owned());
    }
    causes
}
