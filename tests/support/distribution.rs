//! The CNCF distribution registry, Debian's `docker-registry`: open, behind a password, or over TLS.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use oci_artifacts::registries::{Host, RegistrySettings};
use oci_artifacts::{Digest, RegistryName};
use yaml_tree::bytes::BASE64;

use super::registry::{Authority, MANIFEST, Registry};
use crate::programs;

/// Who may ask `docker-registry` that wants a password, and the line that `htpasswd -B` makes of it.
pub(crate) const USER: (&str, &str) = ("bob", "hunter2");
const HTPASSWD: &str = "bob:$2y$05$abcdefghijklmnopqrstuuoXuKqgZXLiJqzfmMXDDhSFPIvxV7t8.\n";

/// The name of a registry at a host.
pub(crate) fn name(host: &str) -> RegistryName {
    RegistryName::parse(host).expect(host)
}

/// What to say of registries that speak plain HTTP.
pub(crate) fn plain_http(hosts: &[String]) -> RegistrySettings {
    let plain = Host {
        plain_http: true,
        ..Host::default()
    };
    let hosts = hosts.iter();
    RegistrySettings {
        hosts: hosts.map(|host| (name(host), plain.clone())).collect(),
        ..RegistrySettings::default()
    }
}

/// A registry that tests push to.
pub(crate) trait Pushed {
    /// `127.0.0.1:port`
    fn host(&self) -> String;
    fn blob(&self, repository: &str, bytes: &[u8]) -> Digest;
    /// A manifest, whose blobs are there.
    fn manifest(&self, repository: &str, tag: &str, text: &str) -> Digest;
}

impl Pushed for Registry {
    fn host(&self) -> String {
        Registry::host(self)
    }

    fn blob(&self, _: &str, bytes: &[u8]) -> Digest {
        Registry::blob(self, bytes)
    }

    fn manifest(&self, repository: &str, tag: &str, text: &str) -> Digest {
        self.put(repository, tag, MANIFEST, text.as_bytes())
    }
}

/// A registry process, ended when it is dropped.
pub(crate) struct Distribution {
    process: Child,
    host: String,
    has_password: bool,
    authority: Option<Authority>,
    folder: tempfile::TempDir,
}

impl Drop for Distribution {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Distribution {
    /// Open to everyone, over plain HTTP. None where the program is not installed.
    pub(crate) fn open() -> Option<Self> {
        Self::start("", false, None)
    }

    /// For [`USER`] only, over plain HTTP.
    pub(crate) fn with_password() -> Option<Self> {
        let auth = "auth: {htpasswd: {realm: tests, path: '{folder}/htpasswd'}}\n";
        Self::start(auth, true, None)
    }

    /// Over TLS, with a certificate of an authority of its own.
    pub(crate) fn over_tls() -> Option<Self> {
        Self::start("", false, Some(Authority::new()))
    }

    fn start(more: &str, has_password: bool, authority: Option<Authority>) -> Option<Self> {
        let program = programs::find("docker-registry")?;
        let folder = tempfile::tempdir().expect("a folder");
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let host = free.local_addr().expect("an address").to_string();
        drop(free);
        let tls = match &authority {
            Some(authority) => {
                authority.server_files(folder.path());
                "  tls: {certificate: '{folder}/server.pem', key: '{folder}/server.key'}\n"
            }
            None => "",
        };
        fs::write(folder.path().join("htpasswd"), HTPASSWD).expect("written");
        let text = format!(
            "version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\n\
             storage: {{filesystem: {{rootdirectory: '{{folder}}/data'}}}}\n{more}http:\n  addr: '{host}'\n  secret: x\n{tls}"
        );
        let file = folder.path().join("config.yml");
        let text = text.replace("{folder}", &folder.path().to_string_lossy());
        fs::write(&file, text).expect("written");
        let process = Command::new(program)
            .arg("serve")
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let started = Self {
            process,
            host,
            has_password,
            authority,
            folder,
        };
        for _ in 0..1200 {
            if TcpStream::connect(&started.host).is_ok() {
                return Some(started);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("docker-registry does not listen at {}", started.host);
    }

    /// The certificate of its authority, as a file.
    pub(crate) fn certificate(&self) -> PathBuf {
        let authority = self.authority.as_ref().expect("started over TLS");
        authority.file(self.folder.path())
    }

    /// Where it keeps the bytes of a blob.
    pub(crate) fn stored(&self, digest: &Digest) -> PathBuf {
        let hex = digest.hex();
        let below = format!("docker/registry/v2/blobs/sha256/{}/{hex}/data", &hex[..2]);
        self.folder.path().join("data").join(Path::new(&below))
    }

    /// The status and the `Location` of an answer.
    fn send(&self, method: &str, path: &str, media_type: &str, body: &[u8]) -> (u16, String) {
        let proof = if self.has_password {
            let pair = BASE64.encode(format!("{}:{}", USER.0, USER.1).as_bytes());
            format!("Authorization: Basic {pair}\r\n")
        } else {
            String::new()
        };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{proof}Content-Type: {media_type}\r\nContent-Length: {}\r\n\r\n",
            self.host,
            body.len()
        );
        let stream = TcpStream::connect(&self.host).expect("it listens");
        let message = [head.as_bytes(), body].concat();
        let answer = match &self.authority {
            None => exchange(stream, &message),
            Some(authority) => {
                let name = rustls::pki_types::ServerName::try_from("127.0.0.1").expect("a name");
                let client = rustls::ClientConnection::new(Arc::new(authority.client()), name);
                exchange(
                    rustls::StreamOwned::new(client.expect("a client"), stream),
                    &message,
                )
            }
        };
        let status = answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let location = answer
            .lines()
            .find_map(|line| line.strip_prefix("Location: "));
        (
            status.expect("a status"),
            location.unwrap_or_default().to_owned(),
        )
    }
}

fn exchange(mut stream: impl Read + Write, message: &[u8]) -> String {
    stream.write_all(message).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

impl Pushed for Distribution {
    fn host(&self) -> String {
        self.host.clone()
    }

    fn blob(&self, repository: &str, bytes: &[u8]) -> Digest {
        let start = format!("/v2/{repository}/blobs/uploads/");
        let (_, location) = self.send("POST", &start, "", b"");
        let path = location.split(&self.host).last().unwrap_or_default();
        let digest = Digest::compute(bytes);
        let end = format!("{path}&digest={digest}");
        let (status, _) = self.send("PUT", &end, "application/octet-stream", bytes);
        assert_eq!(status, 201, "{end}");
        digest
    }

    fn manifest(&self, repository: &str, tag: &str, text: &str) -> Digest {
        let path = format!("/v2/{repository}/manifests/{tag}");
        let (status, _) = self.send("PUT", &path, MANIFEST, text.as_bytes());
        assert_eq!(status, 201, "{path}");
        Digest::compute(text.as_bytes())
    }
}
