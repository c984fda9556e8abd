//! What the benchmark asks: `docker-registry` filled over HTTP, or a registry in this process that answers all with one image.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use oci_artifacts::Digest;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// A registry at `127.0.0.1:port`, until it is dropped.
pub(crate) struct Served {
    pub(crate) host: String,
    pub(crate) what: &'static str,
    process: Option<Child>,
    _folder: tempfile::TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Starts it with images `g/r0:1`, `g/r1:1` and so on.
pub(crate) fn start(count: usize) -> Served {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let config = folder.path().join("config.yml");
    let text = format!(
        "version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\nstorage: {{filesystem: {{rootdirectory: '{}'}}}}\nhttp: {{addr: '{host}', secret: x}}\n",
        folder.path().join("data").display()
    );
    std::fs::write(&config, text).unwrap();
    let mut command = Command::new("docker-registry");
    command
        .arg("serve")
        .arg(&config)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let is_there = Command::new("docker-registry")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if is_there.is_err() {
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || answer(stream));
            }
        });
        let (process, what) = (None, "a registry in this process");
        return Served {
            host,
            what,
            process,
            _folder: folder,
        };
    }
    drop(listener);
    let process = Some(command.spawn().unwrap());
    while TcpStream::connect(&host).is_err() {
        thread::sleep(Duration::from_millis(50));
    }
    (0..count).for_each(|number| push(&host, number));
    let what = "docker-registry";
    Served {
        host,
        what,
        process,
        _folder: folder,
    }
}

fn image(number: usize) -> String {
    let config = Digest::compute(b"{}");
    format!(
        r#"{{"schemaVersion":2,"mediaType":"{MANIFEST}","config":{{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"{config}","size":2}},"layers":[],"annotations":{{"sylva/number":"{number}"}}}}"#
    )
}

fn push(host: &str, number: usize) {
    let repository = format!("g/r{number}");
    let upload = send(
        host,
        "POST",
        &format!("/v2/{repository}/blobs/uploads/"),
        "",
        "",
    );
    let path = upload
        .lines()
        .find_map(|line| line.strip_prefix("Location: "))
        .unwrap();
    let path = path.split(host).last().unwrap();
    send(
        host,
        "PUT",
        &format!("{path}&digest={}", Digest::compute(b"{}")),
        "application/octet-stream",
        "{}",
    );
    let put = send(
        host,
        "PUT",
        &format!("/v2/{repository}/manifests/1"),
        MANIFEST,
        &image(number),
    );
    assert!(put.starts_with("HTTP/1.1 201"), "{put}");
}

fn send(host: &str, method: &str, path: &str, media_type: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    let length = body.len();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn answer(stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut stream = BufReader::new(stream);
    let body = image(0);
    let reply = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {MANIFEST}\r\nDocker-Content-Digest: {}\r\nContent-Length: {}\r\n\r\n{body}",
        Digest::compute(body.as_bytes()),
        body.len()
    );
    let mut line = String::new();
    while stream.read_line(&mut line).is_ok_and(|count| count > 0) {
        let is_end = line.trim_end().is_empty();
        line.clear();
        if is_end && stream.get_mut().write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}
