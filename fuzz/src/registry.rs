//! Answers of a registry: one byte says what is asked for; then follow the raw answers, a line `===` between two.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use oci_artifacts::registries::{Host, RegistrySettings};
use oci_artifacts::registry::{Environment, Limits, Registries, RegistryOptions};
use oci_artifacts::{Descriptor, Digest, Reference, RegistryName, Store};

use super::memory::find;

/// What is still to be answered, whoever asks.
static ANSWERS: Mutex<VecDeque<Vec<u8>>> = Mutex::new(VecDeque::new());

/// One run at a time: they share the answers.
static TURN: Mutex<()> = Mutex::new(());

pub(super) fn run(data: &[u8]) -> bool {
    let Some((what, mut rest)) = data.split_first() else {
        return false;
    };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut answers = VecDeque::new();
    while let Some(end) = find(rest, b"\n===\n") {
        answers.push_back(rest[..end].to_vec());
        rest = &rest[end + 5..];
    }
    answers.push_back(rest.to_vec());
    // No answer sends this client out into the world: TLS is refused before a name is looked up.
    let answers = answers.into_iter().map(without_tls);
    *ANSWERS.lock().unwrap_or_else(PoisonError::into_inner) = answers.collect();
    request(*what)
}

/// Asks for it; whether there was an answer.
fn request(what: u8) -> bool {
    let host = host();
    let reference = Reference::parse(&format!("oci://{host}/os/noble:1")).expect("a reference");
    let digest = Digest::compute(b"{}");
    let registries = client(host);
    match what % 7 {
        0 => {
            let found = registries.manifests(&[reference]);
            let found: Vec<_> = found.into_iter().flatten().collect();
            for manifest in &found {
                assert!(manifest.digest.is_of(&manifest.bytes));
            }
            !found.is_empty()
        }
        1 => {
            let found = registries.manifests(&[reference.with_digest(&digest)]);
            let found: Vec<_> = found.into_iter().flatten().collect();
            for manifest in &found {
                assert_eq!(
                    manifest.digest, digest,
                    "another manifest than was asked for"
                );
            }
            !found.is_empty()
        }
        2 => {
            let tags = registries.tags(&reference).unwrap_or_default();
            assert!(tags.is_sorted());
            !tags.is_empty()
        }
        3 => {
            let found = registries.referrers(&[(reference, digest)]);
            found.iter().any(Result::is_ok)
        }
        4 => registries.repositories(&reference).is_ok(),
        5 => {
            let descriptor = Descriptor {
                media_type: "application/json".to_owned(),
                digest: digest.clone(),
                size: 2,
                annotations: Default::default(),
                architecture: None,
                os: None,
                artifact_type: None,
            };
            let _ = registries.sizes(&[(reference.clone(), digest)]);
            let found = registries.blobs(&[(reference, descriptor)], 100);
            for blob in found.iter().flatten() {
                assert_eq!(blob, b"{}", "another blob than was asked for");
            }
            found.iter().any(Result::is_ok)
        }
        _ => registries.page(&format!("http://{host}/notes")).is_ok(),
    }
}

/// A client that gives up soon.
fn client(host: &str) -> Registries {
    let plain = Host {
        plain_http: true,
        ..Host::default()
    };
    let long = Duration::from_secs(2);
    Registries::new(RegistryOptions {
        settings: RegistrySettings {
            hosts: [(RegistryName::parse(host).expect(host), plain)].into(),
            concurrency: 1,
            ..RegistrySettings::default()
        },
        limits: Limits {
            connect: Duration::from_millis(500),
            read: Duration::from_millis(500),
            request: long,
            batch: long,
            retries: 1,
            piece: Limits::default().piece,
            first_pause: Duration::from_millis(1),
            longest_pause: Duration::from_millis(2),
            helper: long,
        },
        environment: Environment::default(),
        progress: None,
    })
}

/// The host of a server that says what it is told to.
fn host() -> &'static str {
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let host = listener.local_addr().expect("an address").to_string();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream);
            }
        });
        host
    })
}

fn answer(mut stream: TcpStream) {
    let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
    let mut request = Vec::new();
    let mut part = [0; 4096];
    while find(&request, b"\r\n\r\n").is_none() {
        match stream.read(&mut part) {
            Ok(length) if length > 0 => request.extend_from_slice(&part[..length]),
            _ => return,
        }
    }
    let next = ANSWERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop_front();
    let answer =
        next.unwrap_or_else(|| b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec());
    let _ = stream.write_all(&answer);
}

fn without_tls(mut answer: Vec<u8>) -> Vec<u8> {
    let mut from = 0;
    while let Some(at) = answer[from..]
        .windows(5)
        .position(|part| part.eq_ignore_ascii_case(b"https"))
    {
        from += at + 4;
        answer[from] = b'x';
    }
    answer
}
