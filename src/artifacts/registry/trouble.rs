//! Why an exchange with a registry came to nothing: DNS, a refused connection, TLS and time-outs told apart.

use std::error::Error;

use reqwest::Url;

use crate::oci::{Failure, FailureKind};

use super::options::Limits;

/// Why an exchange came to nothing, before it is known for which reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) kind: FailureKind,
    pub(super) message: String,
    pub(super) help: Vec<String>,
    /// Whether the same request may yet succeed.
    pub(super) again: bool,
    /// Whether the whole host is out of reach, so that no other request of the batch need try.
    pub(super) host_is_gone: bool,
}

impl Trouble {
    pub(super) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            help: Vec::new(),
            again: false,
            host_is_gone: false,
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// For whom it is.
    pub(super) fn failure(self, wanted: &str) -> Failure {
        Failure {
            wanted: wanted.to_owned(),
            kind: self.kind,
            message: self.message,
            help: self.help,
            place: None,
        }
    }

    /// The same request may yet succeed.
    pub(super) fn again(mut self) -> Self {
        self.again = true;
        self
    }

    fn host_is_gone(mut self) -> Self {
        self.host_is_gone = true;
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

/// What a failed exchange was: the words of all its causes are looked through, for the outermost says nothing.
pub(super) fn of_exchange(error: &reqwest::Error, url: &Url, limits: &Limits) -> Trouble {
    let host = authority(url);
    let unreachable = |message: String| Trouble::new(FailureKind::Unreachable, message);
    if error.is_timeout() {
        let message = match error.is_connect() {
            true => format!("`{host}` took no connection within {:?}", limits.connect),
            false => format!(
                "`{host}` took the request and sent nothing for {:?}",
                limits.read
            ),
        };
        let trouble = unreachable(message).again();
        return match error.is_connect() {
            true => trouble.host_is_gone(),
            false => trouble,
        };
    }
    let causes = causes(error);
    let says = |word: &str| causes.iter().any(|cause| cause.contains(word));
    if let Some(trouble) = of_tls(&host, &says) {
        return trouble.host_is_gone();
    }
    if says("failed to lookup address") || says("dns error") {
        return unreachable(format!("the name of `{host}` is not known (DNS)"))
            .help("check the host's name, and the network that this machine is in")
            .host_is_gone();
    }
    if says("tunnel") || says("proxy") {
        let reason = causes.last().cloned().unwrap_or_default();
        return unreachable(format!(
            "the proxy on the way to `{host}` refused: {reason}"
        ))
        .help("check HTTPS_PROXY and HTTP_PROXY, or name the host in NO_PROXY")
        .host_is_gone();
    }
    if says("Connection refused") {
        return unreachable(format!("`{host}` refused the connection"))
            .help("check the port, and that the registry runs")
            .host_is_gone();
    }
    if says("invalid HTTP version") {
        return unreachable(format!("`{host}` does not speak plain HTTP"))
            .help(format!(
                "remove `plain-http` of `{host}` below `registries: hosts:`"
            ))
            .host_is_gone();
    }
    let reason = causes.last().cloned().unwrap_or_default();
    match error.is_connect() {
        true => unreachable(format!("`{host}` cannot be reached: {reason}")).host_is_gone(),
        false => unreachable(format!("the connection to `{host}` broke: {reason}")).again(),
    }
}

fn of_tls(host: &str, says: &dyn Fn(&str) -> bool) -> Option<Trouble> {
    let trouble = |message: String| Trouble::new(FailureKind::Unreachable, message);
    let setting = |setting: &str| format!("`registries: {{hosts: {{\"{host}\": {{{setting}}}}}}}`");
    if says("UnknownIssuer") || says("BadSignature") {
        let message = format!(
            "the certificate of `{host}` is by an authority that is not trusted here (TLS)"
        );
        return Some(trouble(message).help(format!(
            "name the authority's certificate in the project file: {}",
            setting("ca: FILE.pem")
        )));
    }
    let is_broken_off = says("tls handshake eof");
    if is_broken_off || says("InvalidContentType") || says("corrupt message") {
        let message = match is_broken_off {
            true => format!("`{host}` broke off the TLS handshake"),
            false => format!("`{host}` does not speak TLS on that port"),
        };
        return Some(trouble(message).help(format!(
            "if it is meant to be asked without TLS, say so in the project file: {}",
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
        ("CaUsedAsEndEntity", "is an authority's own, not a server's"),
        ("invalid peer certificate", "is not valid"),
    ];
    let (_, fault) = fault.into_iter().find(|(word, _)| says(word))?;
    let message = format!("the certificate of `{host}` {fault} (TLS)");
    Some(
        trouble(message)
            .help("check the host's name and this machine's clock, or ask who runs the registry"),
    )
}

/// What the causes of an error say, the outermost first.
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
