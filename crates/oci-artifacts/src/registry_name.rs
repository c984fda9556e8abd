//! The name of a registry, in one spelling.

use std::fmt;
use std::net::Ipv6Addr;
use std::sync::Arc;

use url::{Host, Url};

/// Docker Hub, by the name that references write.
const DOCKER_HUB: &str = "docker.io";

/// The host that serves Docker Hub.
const DOCKER_HUB_SERVER: &str = "registry-1.docker.io";

/// The host in Docker Hub's old references, under which `docker login` stores its credentials.
const DOCKER_HUB_INDEX: &str = "index.docker.io";

/// The port of HTTPS, which a name leaves out.
const HTTPS: u16 = 443;

/// A registry's host, with its port unless that is 443. There is one spelling of each: letters are small, ports are numbers,
/// addresses are as the URL Standard writes them, and Docker Hub is `docker.io`. So equal names mean one registry, to policies,
/// mirrors, credentials and connections alike. Names are not looked up: `localhost` and `127.0.0.1` are two.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegistryName(Arc<str>);

impl RegistryName {
    /// Reads `host` or `host:port` in any spelling.
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, port)) => {
                address.parse::<Ipv6Addr>().ok()?;
                (&text[..address.len() + 2], port)
            }
            None => {
                let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
                host.split('.').all(is_label).then_some((host, port))?
            }
        };
        let port = match port {
            "" => HTTPS,
            port => read_port(port.strip_prefix(':')?)?,
        };
        Some(Self::new(&Host::parse(host).ok()?.to_string(), port))
    }

    /// The name of the host of a web address, whatever its scheme.
    pub fn from_url(url: &Url) -> Option<Self> {
        let host = url.host_str()?;
        // A dot at the end is the same host's.
        let host = host.strip_suffix('.').unwrap_or(host);
        Some(Self::new(host, url.port().unwrap_or(HTTPS)))
    }

    /// This machine, as the registry of what is in none.
    pub(super) fn localhost() -> Self {
        Self("localhost".into())
    }

    fn new(host: &str, port: u16) -> Self {
        Self(match (host, port) {
            (DOCKER_HUB_SERVER | DOCKER_HUB_INDEX, HTTPS) => DOCKER_HUB.into(),
            (host, HTTPS) => host.into(),
            (host, port) => format!("{host}:{port}").into(),
        })
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is Docker Hub, whose official images are in `library/`.
    pub(super) fn is_docker_hub(&self) -> bool {
        &*self.0 == DOCKER_HUB
    }

    /// The host that serves it, with its port.
    pub fn server(&self) -> &str {
        if self.is_docker_hub() {
            DOCKER_HUB_SERVER
        } else {
            &self.0
        }
    }
}

impl fmt::Display for RegistryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A label of a host name (RFC 1123, section 2.1).
fn is_label(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !text.is_empty() && text.bytes().all(is_plain) && !text.starts_with('-') && !text.ends_with('-')
}

/// Digits only: the number's own parser also takes a `+`.
fn read_port(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::RegistryName;

    #[test]
    fn a_registry_has_one_name_however_it_is_spelled() {
        for (spelled, name) in [
            ("LOCALHOST:5815", "localhost:5815"),
            ("localhost:05815", "localhost:5815"),
            ("R.Example", "r.example"),
            ("r.example:443", "r.example"),
            ("r.example:0443", "r.example"),
            ("r.example:80", "r.example:80"),
            ("127.1:5000", "127.0.0.1:5000"),
            ("0x7f000001", "127.0.0.1"),
            ("2130706433:1", "127.0.0.1:1"),
            ("[0:0::1]:443", "[::1]"),
            ("[::FFFF:127.0.0.1]:1", "[::ffff:7f00:1]:1"),
            ("index.docker.io", "docker.io"),
            ("Registry-1.docker.io:443", "docker.io"),
            ("index.docker.io:80", "index.docker.io:80"),
        ] {
            let read = RegistryName::parse(spelled).map(|it| it.to_string());
            assert_eq!(read.as_deref(), Some(name), "{spelled}");
            let again = RegistryName::parse(name).map(|it| it.to_string());
            assert_eq!(again.as_deref(), Some(name));
        }
    }
}
