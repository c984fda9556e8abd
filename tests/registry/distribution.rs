//! The CNCF distribution registry, Debian's `docker-registry`, where it is installed.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use metalmark::model::registries::{Host, RegistrySettings};
use metalmark::oci::{Content, Digest, FailureKind, Reference, Store};
use metalmark::registry::Registries;

use super::super::programs;
use super::super::support::registry::{MANIFEST, image};
use super::{failure, options};

/// A registry process, ended when it is dropped.
struct Distribution {
    process: Child,
    host: String,
    _folder: tempfile::TempDir,
}

impl Drop for Distribution {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Distribution {
    /// None where the program is not installed.
    fn start() -> Option<Self> {
        let program = programs::find("docker-registry")?;
        let folder = tempfile::tempdir().expect("a folder");
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let host = free.local_addr().expect("an address").to_string();
        drop(free);
        let file = folder.path().join("config.yml");
        fs::write(&file, config(&folder.path().join("data"), &host)).expect("written");
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
            _folder: folder,
        };
        for _ in 0..400 {
            if TcpStream::connect(&started.host).is_ok() {
                return Some(started);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("docker-registry does not listen at {}", started.host);
    }

    fn client(&self) -> Registries {
        let host = Host {
            plain_http: true,
            ..Host::default()
        };
        let options = options(RegistrySettings {
            hosts: [(self.host.as_str().into(), host)].into(),
            ..RegistrySettings::default()
        });
        Registries::new(options)
    }

    fn reference(&self, rest: &str) -> Reference {
        Reference::parse(&format!("{}/{rest}", self.host)).expect("a reference")
    }

    /// Pushes an image as any client does: its configuration, then its manifest.
    fn push(&self, repository: &str, tag: &str, annotations: &[(&str, &str)]) -> Digest {
        let text = image(annotations);
        let http = Push { host: &self.host };
        let location = http
            .send("POST", &format!("/v2/{repository}/blobs/uploads/"), "", b"")
            .1;
        let path = location.split(&self.host).last().unwrap_or_default();
        let blob = format!("{path}&digest={}", Digest::of(b"{}"));
        assert_eq!(
            http.send("PUT", &blob, "application/octet-stream", b"{}").0,
            201
        );
        let path = format!("/v2/{repository}/manifests/{tag}");
        assert_eq!(http.send("PUT", &path, MANIFEST, text.as_bytes()).0, 201);
        Digest::of(text.as_bytes())
    }
}

fn config(data: &Path, host: &str) -> String {
    format!(
        "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: '{}'}}}}\nhttp: {{addr: '{host}', secret: x}}\n",
        data.display()
    )
}

struct Push<'a> {
    host: &'a str,
}

impl Push<'_> {
    /// The status and the `Location` of an answer.
    fn send(&self, method: &str, path: &str, media_type: &str, body: &[u8]) -> (u16, String) {
        use std::io::{Read, Write};
        let mut stream = TcpStream::connect(self.host).expect("it listens");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n",
            self.host,
            body.len()
        );
        stream
            .write_all(&[head.as_bytes(), body].concat())
            .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .expect("a status");
        let location = answer
            .lines()
            .find_map(|line| line.strip_prefix("Location: "));
        (status, location.unwrap_or_default().to_owned())
    }
}

#[test]
fn the_distribution_registry_is_understood() {
    let Some(registry) = Distribution::start() else {
        return;
    };
    let digest = registry.push("group/one", "1.31.8", &[("sylva/os", "ubuntu")]);
    registry.push("group/one", "1.31.9", &[]);
    let client = registry.client();
    let manifest = super::one(&client, registry.reference("group/one:1.31.8")).expect("a manifest");
    assert_eq!(manifest.digest, digest);
    let Content::Image { config, .. } = &manifest.content else {
        panic!("an image")
    };
    let reference = registry.reference("group/one").at(&digest);
    let blob = client
        .blobs(&[(reference.clone(), (**config).clone())], 100)
        .remove(0);
    assert_eq!(blob.as_deref(), Ok(&b"{}"[..]));
    assert_eq!(
        client.tags(&reference),
        Ok(vec!["1.31.8".to_owned(), "1.31.9".to_owned()])
    );
    assert_eq!(
        client.repositories(&reference),
        Ok(vec!["group/one".to_owned()])
    );
    assert_eq!(client.referrers(&[(reference, digest)]), [Ok(Vec::new())]);
    let told = failure(&client, registry.reference("group/one:1.31.7"));
    assert_eq!(told.kind, FailureKind::NotFound);
    assert!(told.help[0].contains("the nearest tag is"), "{told}");
    let told = failure(&client, registry.reference("group/onne:1.31.8"));
    assert!(
        told.help[0].contains("the nearest repository is `group/one`"),
        "{told}"
    );
}
