//! Argo CD beside the API server: its repo-server with the plugin's sidecar, its controllers of Applications and of
//! ApplicationSets, and Redis. They read a git repository on disk, and know the API server as GitOps teams register a cluster.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::objects::{Object, object};
use super::server::Server;
use crate::git::{commit, git};
use crate::hosts::argocd_server;
use crate::programs::{self, Running};
use crate::support::stage::{Stage, project};

/// How long a busy machine may take to start a program, or to reconcile something.
const PATIENCE: Duration = Duration::from_secs(120);
const NAMESPACE: &str = "argocd";
const VERSION: &str = "argoproj.io/v1alpha1";
/// The annotations that request a comparison with the newest commit, and are removed when that is done.
const REFRESH: [(&str, &str); 2] = [
    ("Application", "argocd.argoproj.io/refresh"),
    (
        "ApplicationSet",
        "argocd.argoproj.io/application-set-refresh",
    ),
];

/// The running programs.
pub(super) struct ArgoCd {
    programs: Running,
    folder: Stage,
    sidecar: argocd_server::Server,
}

impl ArgoCd {
    /// Starts the programs. None where one is missing.
    pub(super) fn start(server: &mut Server) -> Option<Self> {
        let argocd = programs::find("argocd")?;
        let redis = programs::find("redis-server")?;
        let helm = programs::find("helm4")?;
        programs::find("git")?;
        prepare(server);
        let folder = project();
        symlink(helm, folder.path().join("helm")).expect("linked");
        let listeners = [0; 2].map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let [data, rendering] = listeners.map(|it| it.local_addr().expect("an address"));
        let mut started = Self {
            programs: Running::default(),
            sidecar: argocd_server::start_sidecar(&argocd),
            folder,
        };
        let port = data.port().to_string();
        started.run(&redis, "redis-server", |command| {
            command.args(["--bind", "127.0.0.1", "--save", "", "--port", &port]);
        });
        let plugins = started.sidecar.plugins();
        started.run(&argocd, "argocd-repo-server", |command| {
            command
                .args(["--disable-tls", "--client-ca-path=", "--metrics-port=0"])
                .args(["--address=127.0.0.1", "--metrics-address=127.0.0.1"])
                .args(["--redis", &data.to_string()])
                .arg(format!("--port={}", rendering.port()))
                .env("ARGOCD_PLUGINSOCKFILEPATH", plugins);
        });
        for address in [data, rendering] {
            let start = Instant::now();
            while TcpStream::connect(address).is_err() {
                assert!(start.elapsed() < PATIENCE, "{}", started.said(server));
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        let kubeconfig = server.kubeconfig();
        started.run(&argocd, "argocd-application-controller", |command| {
            command
                .args(["--repo-server-plaintext", "--metrics-port=0"])
                .args(["--redis", &data.to_string()])
                .args(["--repo-server", &rendering.to_string()])
                .args(["--namespace", NAMESPACE])
                .env("KUBECONFIG", &kubeconfig);
        });
        started.run(&argocd, "argocd-applicationset-controller", |command| {
            command
                .args(["--repo-server-plaintext", "--metrics-addr=127.0.0.1:0"])
                .args(["--probe-addr=127.0.0.1:0", "--webhook-addr=127.0.0.1:0"])
                .args(["--argocd-repo-server", &rendering.to_string()])
                .args(["--namespace", NAMESPACE])
                .env("KUBECONFIG", &kubeconfig);
        });
        Some(started)
    }

    /// Starts a program under a name, which Argo CD's go by.
    fn run(&mut self, program: &Path, name: &str, adapt: impl FnOnce(&mut Command)) {
        let folder = self.folder.path();
        let log = fs::File::create(folder.join(format!("{name}.log"))).expect("a log");
        let paths = std::env::var_os("PATH").unwrap_or_default();
        // Argo CD's script for signatures is beside its programs; Helm is linked here.
        let beside = program.parent().unwrap_or(folder).to_owned();
        let paths = [folder.to_owned(), beside]
            .into_iter()
            .chain(std::env::split_paths(&paths));
        let mut command = Command::new(program);
        command
            .arg0(name)
            .env("PATH", std::env::join_paths(paths).expect("paths"))
            .env("HOME", folder)
            .env("TMPDIR", folder)
            .env("ARGOCD_ASK_PASS_SOCK", folder.join("ask-pass.sock"))
            .env("ARGOCD_GPG_ENABLED", "false")
            .env("ARGOCD_TLS_DATA_PATH", folder)
            .env("ARGOCD_SSH_DATA_PATH", folder)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log);
        adapt(&mut command);
        self.programs.0.push(command.spawn().expect("a program"));
    }

    /// Commits the files of a folder and has everything compared with that commit, which it returns.
    pub(super) fn push(&self, server: &Server, folder: &Path) -> String {
        if !folder.join(".git").exists() {
            git(folder, &["init", "--quiet", "--initial-branch=main"]);
        }
        commit(folder, "Render");
        for (kind, annotation) in REFRESH {
            let fields = json!({"metadata": {"annotations": {annotation: "true"}}});
            for known in server.all_like(&object(VERSION, kind, NAMESPACE, "x", &json!({}))) {
                server.merge(&Object::of(known), &fields);
            }
        }
        git(folder, &["rev-parse", "HEAD"])
    }

    /// Applies an Application of a path in a folder's repository, which syncs and prunes by itself: in the background, for no
    /// garbage collector is there.
    pub(super) fn deploy(&self, server: &mut Server, name: &str, folder: &Path, source: Value) {
        let mut source = source;
        source["repoURL"] = json!(address(folder));
        source["targetRevision"] = json!("main");
        let spec = json!({
            "project": "default",
            "destination": {"server": server.connection().0, "namespace": NAMESPACE},
            "source": source,
            "syncPolicy": {
                "automated": {"prune": true, "selfHeal": true},
                "syncOptions": ["PrunePropagationPolicy=background"],
            },
        });
        let applied = server.apply(&application(name, &spec));
        assert!(applied.is_ok(), "{}", applied.message());
    }

    /// Syncs an Application, as its button does, and waits until that is done.
    pub(super) fn sync(&self, server: &Server, name: &str, by: &str) {
        let app = application(name, &json!({}));
        let operation = json!({"initiatedBy": {"username": by}, "sync": {"prune": true}});
        server.merge(&app, &json!({ "operation": operation }));
        self.wait(server, &format!("{name} synced by {by}"), |server| {
            let app = server.get(&app).body;
            let state = &app["status"]["operationState"];
            app["operation"].is_null()
                && state["operation"]["initiatedBy"]["username"] == by
                && state["phase"] == "Succeeded"
        });
    }

    /// Waits until an Application is synced with a commit and nothing is under way.
    pub(super) fn wait_synced(&self, server: &Server, name: &str, revision: &str) {
        let app = application(name, &json!({}));
        self.wait(server, &format!("{name} at {revision}"), |server| {
            let app = server.get(&app).body;
            let (status, annotations) = (&app["status"], &app["metadata"]["annotations"]);
            app["operation"].is_null()
                && annotations[REFRESH[0].1].is_null()
                && status["sync"]["status"] == "Synced"
                && status["sync"]["revision"] == revision
                && status["operationState"]["phase"] == "Succeeded"
        });
    }

    /// Waits for something.
    pub(super) fn wait(&self, server: &Server, what: &str, is_done: impl Fn(&Server) -> bool) {
        let start = Instant::now();
        while !is_done(server) {
            assert!(start.elapsed() < PATIENCE, "{what}\n{}", self.said(server));
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// What Argo CD says of the Applications, and the ends of its logs.
    fn said(&self, server: &Server) -> String {
        let mut said = String::new();
        for app in server.all_like(&application("x", &json!({}))) {
            let (name, status) = (&app["metadata"]["name"], &app["status"]);
            said += &format!(
                "{name}: {}\n{}\n{}\n{}\n",
                status["sync"], status["conditions"], status["operationState"], status["resources"],
            );
        }
        for program in fs::read_dir(self.folder.path()).expect("readable") {
            let path = program.expect("readable").path();
            if path.extension().is_some_and(|end| end == "log") {
                let log = fs::read_to_string(&path).unwrap_or_default();
                let lines: Vec<&str> = log.lines().rev().take(12).collect();
                said += &format!("{}: {}\n", path.display(), lines.join("\n"));
            }
        }
        said
    }
}

/// The address of a folder's repository.
pub(super) fn address(folder: &Path) -> String {
    format!("file://{}", folder.display())
}

/// An Application.
pub(super) fn application(name: &str, spec: &Value) -> Object {
    object(VERSION, "Application", NAMESPACE, name, spec)
}

/// What an installation of Argo CD has: its kinds and settings, a project that allows everything, and the cluster.
fn prepare(server: &mut Server) {
    let everything = json!([{"group": "*", "kind": "*"}]);
    let project = json!({
        "sourceRepos": ["*"],
        "destinations": [{"server": "*", "namespace": "*"}],
        "clusterResourceWhitelist": everything,
    });
    let set = object(VERSION, "ApplicationSet", NAMESPACE, "x", &json!({}));
    let (address, config) = server.connection();
    let settings = |kind: &str, name: &str| {
        json!({
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"app.kubernetes.io/part-of": "argocd"}},
        })
    };
    let mut cluster = settings("Secret", "cluster");
    cluster["metadata"]["labels"] = json!({"argocd.argoproj.io/secret-type": "cluster"});
    cluster["stringData"] =
        json!({"name": "tests", "server": address, "config": config.to_string()});
    let mut secret = settings("Secret", "argocd-secret");
    secret["stringData"] = json!({"server.secretkey": "of-the-tests"});
    let objects = [
        object(VERSION, "AppProject", NAMESPACE, "default", &project),
        Object::of(settings("ConfigMap", "argocd-cm")),
        Object::of(secret),
        Object::of(cluster),
    ];
    server.prepare(objects.iter().chain([&application("x", &json!({})), &set]));
    for object in &objects {
        let applied = server.apply(object);
        assert!(applied.is_ok(), "{}: {}", object.title(), applied.message());
    }
}
