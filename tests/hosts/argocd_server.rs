//! The plugin inside the real argocd-cmp-server: started with the plugin.yaml of the image, asked over its socket by Argo CD's
//! own client (tests/interop/argocd). `METALMARK_ARGOCD` names Argo CD's programs in one, `METALMARK_CMP_CLIENT` the client.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{demo, run_as_argocd};
use crate::programs;
use crate::support::stage::{Stage, project};
use crate::support::{binary, repository};

/// A running server, ended when dropped.
pub(crate) struct Server {
    process: Child,
    folder: Stage,
    socket: PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    /// The folder of its socket, which the repo-server looks into.
    pub(crate) fn plugins(&self) -> PathBuf {
        self.folder.path().join("plugins")
    }
}

/// Starts the server with the plugin.yaml of the image, as the sidecar does: read-only binaries, a work folder, no home.
pub(crate) fn start_sidecar(server: &Path) -> Server {
    let plugin = fs::read_to_string(repository().join("templates/hosts/argocd/plugin.yaml"));
    start(server, &plugin.expect("readable"))
}

fn start(server: &Path, plugin: &str) -> Server {
    let folder = project().file("config/plugin.yaml", plugin);
    let at = |name: &str| folder.path().join(name);
    for name in ["bin", "plugins", "work"] {
        fs::create_dir(at(name)).expect("created");
    }
    fs::copy(binary(), at("bin/metalmark")).expect("copied");
    fs::copy(server, at("bin/argocd-cmp-server")).expect("copied");
    let mode = |name: &str, mode: u32| {
        fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).expect("its own file");
    };
    mode("", 0o755);
    mode("plugins", 0o777);
    mode("work", 0o777);
    let command = || {
        let mut command = Command::new(at("bin/argocd-cmp-server"));
        command
            .arg("--config-dir-path")
            .arg(at("config"))
            .env_clear()
            .env("PATH", at("bin"))
            .env("HOME", "/nowhere/at/all")
            .env("ARGOCD_PLUGINSOCKFILEPATH", at("plugins"))
            .env("ARGOCD_CMP_WORKDIR", at("work"))
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    let process = run_as_argocd(command, Command::spawn);
    let socket = at("plugins/metalmark.sock");
    let server = Server {
        process,
        folder,
        socket,
    };
    let started = Instant::now();
    while !server.socket.exists() {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "no socket appears"
        );
        thread::sleep(Duration::from_millis(50));
    }
    server
}

/// What Argo CD's client receives for an Application.
fn receive(client: &Path, server: &Server, demo: &Stage, app: &str) -> Value {
    server.folder.write("app.yaml", app);
    let output = Command::new(client)
        .arg("-socket")
        .arg(&server.socket)
        .arg("-repository")
        .arg(demo.path())
        .arg("-app")
        .arg(server.folder.path().join("app.yaml"))
        .args(["-revision", &"0".repeat(40), "-kube-version", "1.32.4"])
        .output()
        .expect("the client starts");
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{reported}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn application(name: &str, plugin: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n  \
         project: fleet\n  destination: {{server: https://kubernetes.default.svc, namespace: edge}}\n  source:\n    \
         repoURL: https://git.example.org/fleet.git\n    path: environment-values/workload-clusters\n    \
         targetRevision: main\n{plugin}"
    )
}

/// The programs, and the demo workspace in a folder.
fn given() -> Option<(PathBuf, PathBuf, Stage)> {
    let server = programs::find("argocd")?;
    let client = programs::find("cmp_client")?;
    Some((server, client, demo()))
}

/// The objects of a stream as Argo CD passes them on: JSON.
fn objects(stream: &str) -> Vec<Value> {
    let place = yaml_tree::place::FileId(0);
    let engine = yaml_tree::engine::Engine::Kubectl;
    let read = yaml_tree::read(stream, place, engine).expect("YAML");
    let plain = yaml_tree::json::Html::Plain;
    read.documents
        .iter()
        .map(|object| yaml_tree::json::to_json(&object.value, plain))
        .map(|json| serde_json::from_str(&json).expect("JSON"))
        .collect()
}

fn simulate(demo: &Stage, app: &str, more: &str) -> String {
    demo.write("app.yaml", app);
    let line = format!("cmp simulate --app app.yaml --kube-version 1.32.4 {more}");
    demo.run(&line).exit(0).outcome.stdout
}

#[test]
fn the_real_server_generates_what_is_simulated() {
    let Some((server, client, demo)) = given() else {
        return;
    };
    let server = start_sidecar(&server);
    let block = "    plugin:\n      name: metalmark\n      env: [{name: IMAGE_URL, value: 'https://$ARGOCD_APP_NAMESPACE/$$x/{{ image.filename }}'}]\n      \
                 parameters: [{name: cluster, string: edge-lyon}, {name: targets, array: [manifests]}]\n";
    for app in [
        application("edge-paris", ""),
        application("edge-paris", "    plugin: {name: metalmark}\n"),
        application("anything", block),
    ] {
        let answer = receive(&client, &server, &demo, &app);
        assert_eq!(answer["errors"], Value::Null, "{answer}");
        assert_eq!(answer["discovery"], false);
        let manifests = answer["manifests"].as_array().expect("a list");
        let manifests: Vec<Value> = manifests
            .iter()
            .map(|text| serde_json::from_str(text.as_str().expect("a text")).expect("JSON"))
            .collect();
        assert!(!manifests.is_empty());
        assert_eq!(manifests, objects(&simulate(&demo, &app, "")));

        let lines = answer["environment"].as_array().expect("a list");
        let mut lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
        lines.sort_unstable();
        let environment = simulate(&demo, &app, "--environment");
        assert_eq!(lines, environment.lines().collect::<Vec<_>>());

        let announced = answer["parameters"].as_array().expect("a list");
        let names = announced.iter().filter_map(|one| one["name"].as_str());
        let names: Vec<&str> = names.collect();
        assert_eq!(
            names,
            [
                "cluster",
                "scope",
                "targets",
                "image-url",
                "checksum",
                "frozen",
                "allow-empty"
            ]
        );
    }
    let mut left = fs::read_dir(server.folder.path().join("work/_cmp_server")).ok();
    assert!(
        left.as_mut().is_none_or(|left| left.next().is_none()),
        "its copies are gone"
    );
}

#[test]
fn the_real_server_shows_why_an_application_fails() {
    let Some((server, client, demo)) = given() else {
        return;
    };
    let plugin = demo.run("cmp plugin-config --discover").exit(0);
    let server = start(&server, &plugin.outcome.stdout);
    let app = |name: &str| application(name, "");
    let answer = receive(&client, &server, &demo, &app("edge-paris"));
    assert_eq!(
        (&answer["discovery"], &answer["matches"]),
        (&true.into(), &true.into())
    );
    let answer = receive(&client, &server, &demo, &app("grafana"));
    assert_eq!(answer["matches"], false);
    let errors = answer["errors"].to_string();
    assert!(
        errors.contains("`metalmark cmp generate` failed exit status 2: error: no cluster is called like the application, `grafana`"),
        "{errors}"
    );
    let values = "environment-values/workload-clusters/edge-paris/values.yaml";
    demo.write(values, "cluster: [\n");
    let answer = receive(&client, &server, &demo, &app("edge-paris"));
    let errors = answer["errors"].to_string();
    assert!(
        errors.contains("failed exit status 1: error[yaml-syntax]: ") && errors.contains(values),
        "{errors}"
    );
}
