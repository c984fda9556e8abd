//! kustomize-controller and helm-controller of Flux beside the API server, with a stand-in for source-controller: artifacts are
//! archives on loopback, and their sources have them in their status.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use oci_artifacts::Digest;
use serde_json::{Value, json};

use super::objects::{Object, object};
use super::server::Server;
use crate::programs::{self, Running};
use crate::support::stage::{Stage, project};
use crate::support::tarball::{Tarball, gzip};

/// How long a busy machine may take to reconcile something.
const PATIENCE: Duration = Duration::from_secs(120);
/// When all conditions of this test changed.
const TIME: &str = "2026-01-01T00:00:00Z";

/// The kinds that the controllers watch, which must be served before they start.
const WATCHED: [(&str, &str); 8] = [
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
    ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
    ("source.toolkit.fluxcd.io/v1", "Bucket"),
    ("source.toolkit.fluxcd.io/v1", "ExternalArtifact"),
    ("source.toolkit.fluxcd.io/v1", "GitRepository"),
    ("source.toolkit.fluxcd.io/v1", "HelmChart"),
    ("source.toolkit.fluxcd.io/v1", "HelmRepository"),
    ("source.toolkit.fluxcd.io/v1", "OCIRepository"),
];

/// The running controllers.
pub(super) struct Flux {
    _controllers: Running,
    folder: Stage,
    artifacts: Artifacts,
}

impl Flux {
    /// Starts the controllers. None where they are missing.
    pub(super) fn start(server: &mut Server) -> Option<Self> {
        let programs = [
            programs::find("kustomize-controller")?,
            programs::find("helm-controller")?,
        ];
        server.prepare(
            &WATCHED.map(|(version, kind)| object(version, kind, "flux-system", "x", &json!({}))),
        );
        let folder = project();
        let kubeconfig = server.kubeconfig();
        let controllers = programs.iter().map(|program| {
            let name = program.file_name().expect("a program").to_string_lossy();
            let log = fs::File::create(folder.path().join(&*name)).expect("a log");
            Command::new(program)
                .args([
                    "--metrics-addr=127.0.0.1:0",
                    "--health-addr=127.0.0.1:0",
                    "--requeue-dependency=1s",
                ])
                .arg("--watch-all-namespaces=true")
                .env("KUBECONFIG", &kubeconfig)
                .env("RUNTIME_NAMESPACE", "flux-system")
                .env("HOME", folder.path())
                .env("TMPDIR", folder.path())
                .stdin(Stdio::null())
                .stdout(log.try_clone().expect("a log"))
                .stderr(log)
                .spawn()
                .expect("a controller")
        });
        Some(Self {
            _controllers: Running(controllers.collect()),
            artifacts: Artifacts::serve(),
            folder,
        })
    }

    /// What a GitRepository holds from now on: the files of a folder.
    pub(super) fn push(&self, server: &mut Server, name: &str, folder: &Path) {
        let spec = json!({"interval": "1h", "url": "https://git.example.org/fleet.git"});
        let repository = object(
            "source.toolkit.fluxcd.io/v1",
            "GitRepository",
            "flux-system",
            name,
            &spec,
        );
        server.prepare([&repository]);
        let applied = server.apply(&repository);
        assert!(applied.is_ok(), "{}", applied.message());
        let artifact = self.artifacts.add(&packed(folder, ""), "main@sha1:");
        stored(server, &applied.body, artifact);
    }

    /// Applies the Kustomization of a path, which prunes.
    pub(super) fn reconcile(&self, server: &mut Server, name: &str, repository: &str, path: &str) {
        let spec = json!({
            "interval": "1h",
            "path": path,
            "prune": true,
            "sourceRef": {"kind": "GitRepository", "name": repository},
        });
        let outermost = object(
            "kustomize.toolkit.fluxcd.io/v1",
            "Kustomization",
            "flux-system",
            name,
            &spec,
        );
        let applied = server.apply(&outermost);
        assert!(applied.is_ok(), "{}", applied.message());
    }

    /// Waits for something, and gives each chart that a HelmRelease requests.
    pub(super) fn wait(
        &self,
        server: &Server,
        what: &str,
        chart: &Path,
        is_done: impl Fn(&Server) -> bool,
    ) {
        let chart = packed(chart, "chart/");
        let like = object(
            "source.toolkit.fluxcd.io/v1",
            "HelmChart",
            "flux-system",
            "x",
            &json!({}),
        );
        let start = Instant::now();
        while !is_done(server) {
            for requested in server.all_like(&like) {
                if requested["status"]["observedGeneration"] != requested["metadata"]["generation"]
                {
                    stored(server, &requested, self.artifacts.add(&chart, ""));
                }
            }
            assert!(start.elapsed() < PATIENCE, "{what}\n{}", self.said(server));
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// What the controllers say of what they reconcile, and the ends of their logs.
    fn said(&self, server: &Server) -> String {
        let mut said = String::new();
        for (version, kind) in &WATCHED[..2] {
            for found in server.all_like(&object(version, kind, "flux-system", "x", &json!({}))) {
                let metadata = &found["metadata"];
                let conditions = &found["status"]["conditions"];
                said += &format!(
                    "{kind} {}/{}: {conditions}\n",
                    metadata["namespace"], metadata["name"]
                );
            }
        }
        for entry in fs::read_dir(self.folder.path()).expect("readable") {
            let path = entry.expect("readable").path();
            let log = fs::read_to_string(&path).unwrap_or_default();
            let lines: Vec<&str> = log.lines().rev().take(6).collect();
            said += &format!("{}: {}\n", path.display(), lines.join("\n"));
        }
        said
    }
}

/// Sets the artifact of a source, as source-controller does when it has stored one.
fn stored(server: &Server, source: &Value, mut artifact: Value) {
    let generation = &source["metadata"]["generation"];
    let mut status = json!({
        "observedGeneration": generation,
        "conditions": [{
            "type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored",
            "lastTransitionTime": TIME, "observedGeneration": generation,
        }],
    });
    if source["kind"] == "HelmChart" {
        status["observedChartName"] = source["spec"]["chart"].clone();
        artifact["revision"] = json!("0.1.0");
    }
    status["artifact"] = artifact;
    server.set_status(&Object::of(source.clone()), &status);
}

/// The files of a folder as source-controller packs them.
fn packed(folder: &Path, prefix: &str) -> Vec<u8> {
    let mut archive = Tarball::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.expect("readable");
        if entry.file_type().is_file() {
            let below = entry.path().strip_prefix(folder).expect("below");
            let bytes = fs::read(entry.path()).expect("read");
            archive = archive.file(&format!("{prefix}{}", below.display()), &bytes);
        }
    }
    gzip(&archive.end())
}

/// Archives by the paths that they are served at.
struct Artifacts {
    address: String,
    served: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl Artifacts {
    fn serve() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let served = Arc::new(Mutex::new(BTreeMap::<String, Vec<u8>>::new()));
        let all = Arc::clone(&served);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let mut head = Vec::new();
                let mut letter = [0];
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut letter).unwrap_or(0) == 1 {
                    head.push(letter[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default();
                let body = all.lock().expect("no panic").get(path).cloned();
                let status = if body.is_some() {
                    "200 OK"
                } else {
                    "404 Not Found"
                };
                let body = body.unwrap_or_default();
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                // A client that goes away comes again.
                let _ = stream
                    .write_all(head.as_bytes())
                    .and_then(|()| stream.write_all(&body));
            }
        });
        Self { address, served }
    }

    /// Serves an archive, and describes it as the status of its source does.
    fn add(&self, archive: &[u8], revision: &str) -> Value {
        let digest = Digest::compute(archive).to_string();
        let hex = digest.trim_start_matches("sha256:");
        let path = format!("/{hex}.tar.gz");
        let artifact = json!({
            "digest": digest,
            "url": format!("http://{}{path}", self.address),
            "path": path.trim_start_matches('/'),
            "size": archive.len(),
            "lastUpdateTime": TIME,
            "revision": format!("{revision}{}", &hex[..40]),
        });
        self.served
            .lock()
            .expect("no panic")
            .insert(path, archive.to_vec());
        artifact
    }
}
