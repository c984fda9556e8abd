//! One etcd and one kube-apiserver on loopback for the whole run, started by the first test that uses them.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT, CONTENT_TYPE, WARNING};
use reqwest::{Certificate, Client, Method};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use yaml_tree::bytes::BASE64;

use super::definitions::Definitions;
use super::objects::Object;
use crate::programs;
use crate::programs::crds;
use crate::support::registry::Authority;

const TOKEN: &str = "of-the-tests";
/// How long a busy machine may take to start the server, or to serve a new kind.
const PATIENCE: Duration = Duration::from_secs(180);

static SERVER: LazyLock<Option<Mutex<Server>>> = LazyLock::new(|| own_server().map(Mutex::new));

/// A server for one test alone, which ends with it. None where a program or the CRDs are missing.
pub(super) fn own_server() -> Option<Server> {
    let programs = (
        programs::find("etcd"),
        programs::find("kube-apiserver"),
        crds(),
    );
    match programs {
        (Some(etcd), Some(server), Some(crds)) => Some(Server::start(&etcd, &server, &crds)),
        (Some(_), Some(_), None) => {
            programs::missing("crds");
            None
        }
        _ => None,
    }
}

/// The server, for one test at a time and without objects of earlier tests. None where a program or the CRDs are missing.
pub(super) fn server() -> Option<MutexGuard<'static, Server>> {
    let server = SERVER.as_ref()?;
    let mut server = server.lock().unwrap_or_else(PoisonError::into_inner);
    server.clear();
    Some(server)
}

/// A running API server and what tests put there.
pub(super) struct Server {
    runtime: Runtime,
    client: Client,
    folder: PathBuf,
    /// The file with the certificate of the server's authority.
    authority: PathBuf,
    url: String,
    definitions: Definitions,
    /// The paths of the objects that were applied.
    applied: BTreeSet<String>,
    namespaces: BTreeSet<String>,
    /// Ends with its stdin, which the operating system closes with this process.
    _supervisor: Child,
}

/// What the server answered.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Value,
    pub(super) warnings: Vec<String>,
}

impl Reply {
    pub(super) fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The server's reason, where it refused.
    pub(super) fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }
}

impl Server {
    fn start(etcd: &Path, program: &Path, crds: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder").keep();
        let authority = Authority::new();
        authority.server_files(&folder);
        let authority = authority.file(&folder);
        let pem = fs::read(&authority).expect("a certificate");
        fs::write(
            folder.join("tokens"),
            format!("{TOKEN},tests,tests,system:masters\n"),
        )
        .expect("written");
        let listeners = [0; 3].map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let ports = listeners.map(|listener| listener.local_addr().expect("an address").port());
        let supervisor = Command::new("sh")
            .args(["-c", include_str!("serve.sh"), "serve.sh"])
            .args([etcd, program, &folder])
            .args(ports.map(|port| port.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let certificate = Certificate::from_pem(&pem).expect("a certificate");
        let client = Client::builder().tls_certs_only([certificate]).no_proxy();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let server = Self {
            runtime: runtime.expect("a runtime"),
            client: client.build().expect("a client"),
            url: format!("https://127.0.0.1:{}", ports[0]),
            definitions: Definitions::of(crds),
            applied: BTreeSet::new(),
            namespaces: BTreeSet::from(["default".to_owned()]),
            _supervisor: supervisor,
            authority,
            folder,
        };
        server.wait("/readyz");
        server
    }

    /// Waits until a path is served.
    fn wait(&self, path: &str) {
        let start = Instant::now();
        while self.request(&Method::GET, path, "", "").map(|it| it.status) != Some(200) {
            let log = |name| fs::read_to_string(self.folder.join(name)).unwrap_or_default();
            let server = log("server.log");
            if server.contains("command failed") || start.elapsed() > PATIENCE {
                panic!("{path} is not served:\n{}\n{server}", log("etcd.log"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// One request. None where nobody answers.
    fn request(&self, method: &Method, path: &str, content: &str, body: &str) -> Option<Reply> {
        let request = self
            .client
            .request(method.clone(), format!("{}{path}", self.url))
            .bearer_auth(TOKEN)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, content)
            .body(body.to_owned());
        self.runtime.block_on(async {
            let response = request.send().await.ok()?;
            let status = response.status().as_u16();
            let warnings = response.headers().get_all(WARNING).iter();
            let warnings = warnings.map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned());
            let warnings = warnings.collect();
            let text = response.text().await.ok()?;
            let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
            Some(Reply {
                status,
                body,
                warnings,
            })
        })
    }

    fn send(&self, method: &Method, path: &str, content: &str, body: &str) -> Reply {
        let reply = self.request(method, path, content, body);
        reply.unwrap_or_else(|| panic!("no answer: {method} {path}"))
    }

    /// Whether a CRD or the server itself defines the object's kind.
    pub(super) fn serves(&self, object: &Object) -> bool {
        self.definitions.path(object).is_some()
    }

    /// Defines the kinds of these objects, as far as there are CRDs, and makes their namespaces.
    pub(super) fn prepare<'o>(&mut self, objects: impl IntoIterator<Item = &'o Object>) {
        let mut collections = BTreeSet::new();
        for object in objects {
            let Some(path) = self.definitions.path(object) else {
                continue;
            };
            if let Some(text) = self.definitions.install(object) {
                let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
                let reply = self.send(&Method::POST, crds, "application/yaml", &text);
                // Argo CD defines some of its kinds itself.
                let is_defined = reply.is_ok() || reply.status == 409;
                assert!(is_defined, "{}: {}", object.title(), reply.message());
            }
            self.make(path.namespace);
            collections.insert(format!("{}?limit=1", path.collection));
        }
        for path in collections {
            self.wait(&path);
        }
    }

    fn make(&mut self, namespace: Option<String>) {
        if let Some(name) = namespace
            && self.namespaces.insert(name.clone())
        {
            let text = format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}}}}}");
            let path = "/api/v1/namespaces";
            let reply = self.send(&Method::POST, path, "application/yaml", &text);
            assert!(reply.is_ok(), "{}", reply.message());
        }
    }

    /// Applies an object as its file has it, server side, with strict field validation.
    pub(super) fn apply(&mut self, object: &Object) -> Reply {
        let path = self.path(object);
        let reply = self.patch(&path, object, "");
        if reply.is_ok() {
            self.applied.insert(path);
        }
        reply
    }

    /// The same, without storing anything.
    pub(super) fn dry_run(&self, object: &Object) -> Reply {
        self.patch(&self.path(object), object, "&dryRun=All")
    }

    fn patch(&self, path: &str, object: &Object, more: &str) -> Reply {
        let path = format!("{path}?fieldManager=metalmark&fieldValidation=Strict&force=true{more}");
        let content = "application/apply-patch+yaml";
        self.send(&Method::PATCH, &path, content, &object.text)
    }

    /// The stored object.
    pub(super) fn get(&self, object: &Object) -> Reply {
        self.send(&Method::GET, &self.path(object), "", "")
    }

    pub(super) fn delete(&mut self, object: &Object) {
        let path = self.path(object);
        let reply = self.send(&Method::DELETE, &path, "", "");
        assert!(reply.is_ok(), "{path}: {}", reply.message());
    }

    fn path(&self, object: &Object) -> String {
        let path = self.definitions.path(object);
        path.expect("a kind that is served").object
    }

    /// Sets fields of an object's status, as a controller does.
    pub(super) fn set_status(&self, object: &Object, status: &Value) {
        let path = format!("{}/status", self.path(object));
        self.merge_at(&path, &json!({ "status": status }));
    }

    /// Sets fields of an object.
    pub(super) fn merge(&self, object: &Object, fields: &Value) {
        self.merge_at(&self.path(object), fields);
    }

    fn merge_at(&self, path: &str, fields: &Value) {
        let content = "application/merge-patch+json";
        let reply = self.send(&Method::PATCH, path, content, &fields.to_string());
        assert!(reply.is_ok(), "{path}: {}", reply.message());
    }

    /// The objects of the same kind in all namespaces, by their JSON.
    pub(super) fn all_like(&self, object: &Object) -> Vec<Value> {
        let path = self
            .definitions
            .path(object)
            .expect("a kind that is served");
        let reply = self.send(&Method::GET, &path.everywhere, "", "");
        let items = reply.body["items"].as_array().cloned();
        let mut items = items.unwrap_or_else(|| panic!("{}: {}", path.everywhere, reply.message()));
        // Items of a list do not repeat what they are.
        for item in &mut items {
            for key in ["apiVersion", "kind"] {
                item[key] = object.json[key].clone();
            }
        }
        items
    }

    /// How a client finds the server, as a file in the server's own folder, which goes with it.
    pub(super) fn kubeconfig(&self) -> PathBuf {
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "tests",
            "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
            "clusters": [{"name": "tests", "cluster": {
                "server": self.url,
                "certificate-authority": self.authority,
            }}],
            "users": [{"name": "tests", "user": {"token": TOKEN}}],
        });
        let path = self.folder.join("kubeconfig");
        fs::write(&path, config.to_string()).expect("written");
        path
    }

    /// The same as Argo CD keeps it of a cluster: the address, and how to connect.
    pub(super) fn connection(&self) -> (&str, Value) {
        let authority = fs::read(&self.authority).expect("a certificate");
        let config = json!({
            "bearerToken": TOKEN,
            "tlsClientConfig": {"caData": BASE64.encode(&authority)},
        });
        (&self.url, config)
    }

    /// Deletes what was applied.
    pub(super) fn clear(&mut self) {
        for path in std::mem::take(&mut self.applied) {
            let reply = self.send(&Method::DELETE, &path, "", "");
            // An object that was applied in two versions has two paths.
            let is_gone = reply.is_ok() || reply.status == 404;
            assert!(is_gone, "{path}: {}", reply.message());
        }
    }
}

/// An object without what the server itself counts.
pub(super) fn content(mut stored: Value) -> Value {
    if let Some(metadata) = stored["metadata"].as_object_mut() {
        for key in [
            "managedFields",
            "resourceVersion",
            "uid",
            "creationTimestamp",
            "generation",
        ] {
            metadata.remove(key);
        }
    }
    stored
}
