//! Whatever a repository names, and wherever its links lead: no file outside of it is read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use metalmark::files::Folder;

use crate::programs;
use crate::support::{Metalmark, Outcome, copy_into, repository};

/// What no output may hold.
const SECRET: &str = "hunter2";
const OUTSIDE: &str = "password: hunter2\nauths: {r.io: {auth: hunter2}}\nhunter2\u{0}: [\n";

/// A repository beside a file that is not part of it.
struct Scene {
    scratch: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        fs::write(scratch.path().join("secret.yaml"), OUTSIDE).expect("written");
        fs::create_dir(scratch.path().join("other")).expect("made");
        fs::write(scratch.path().join("other/values.yaml"), OUTSIDE).expect("written");
        fs::write(scratch.path().join("other/SHA256SUMS"), OUTSIDE).expect("written");
        let top = scratch.path().join("repository");
        copy_into(
            &repository().join("fixtures/workspaces/sylva-baremetal"),
            &top,
        );
        fs::create_dir(top.join(".git")).expect("made");
        Self { scratch }
    }

    fn top(&self) -> PathBuf {
        self.scratch.path().join("repository")
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.top().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// A link in a file's place; relative to the file, or absolute.
    fn link(&self, path: &str, to: impl AsRef<Path>) {
        let path = self.top().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let _ = fs::remove_file(&path);
        symlink(to, path).expect("linked");
    }

    fn run(&self, line: &str) -> Outcome {
        Metalmark::within(&self.top())
            .args(line.split(' '))
            .envs(&[
                ("ARGOCD_APP_NAME", "edge-paris"),
                ("ARGOCD_APP_SOURCE_PATH", "."),
                ("TOKEN", SECRET),
            ])
            .run()
    }

    /// No command reads what is outside, with the plugin's rules or a person's.
    fn nothing_is_read(&self, trick: &str) {
        for line in [
            "cmp generate",
            "check",
            "check --output json",
            "render --stdout",
            "values edge-paris",
            "explain edge-paris",
            "images",
            "lock --check",
            "impact --against HEAD",
        ] {
            let outcome = self.run(line);
            let screen = outcome.stdout + &outcome.stderr;
            assert!(!screen.contains(SECRET), "{trick}: {line}: {screen}");
        }
        let outcome = self.run("cmp generate");
        assert_ne!(outcome.status, 0, "{trick} goes unnoticed");
        self.nothing_is_opened(trick);
    }

    fn nothing_is_opened(&self, trick: &str) {
        for line in ["cmp generate", "check"] {
            for path in self.opened(line) {
                let is_outside =
                    path.starts_with(self.scratch.path()) && !path.starts_with(self.top());
                let is_secret = path.ends_with("hostname");
                assert!(!is_outside && !is_secret, "{trick}: {line} opens {path:?}");
            }
        }
    }

    /// The paths of the files that a command opens, by what the kernel says; none where there is no strace.
    fn opened(&self, line: &str) -> Vec<PathBuf> {
        let Some(strace) = programs::find("strace") else {
            return Vec::new();
        };
        let log = self.scratch.path().join("log");
        let traced = Command::new(strace)
            .args(["-f", "-y", "-qq", "-e", "trace=open,openat,openat2", "-o"])
            .arg(&log)
            .arg(env!("CARGO_BIN_EXE_metalmark"))
            .args(line.split(' '))
            .current_dir(self.top())
            .env("ARGOCD_APP_NAME", "edge-paris")
            .env("ARGOCD_APP_SOURCE_PATH", ".")
            .output();
        traced.expect("strace runs");
        let text = fs::read_to_string(&log).expect("the log");
        fs::remove_file(&log).expect("removed");
        // The result is `= 5</the/path>`.
        let results = text
            .lines()
            .filter_map(|line| line.rsplit_once(" = ")?.1.split_once('<'));
        let paths = results.map(|(_, path)| PathBuf::from(path.trim_end_matches('>')));
        let paths: Vec<PathBuf> = paths.collect();
        assert!(!paths.is_empty(), "{text}");
        paths
    }
}

const VALUES: &str = "environment-values/workload-clusters/edge-paris/values.yaml";

#[test]
fn a_values_file_that_a_pattern_matches_is_no_link_out() {
    for to in [
        "../../../../secret.yaml",
        "/proc/self/environ",
        "/etc/hostname",
    ] {
        let scene = Scene::new();
        scene.link(VALUES, to);
        scene.nothing_is_read(to);
    }
    let scene = Scene::new();
    scene.link(VALUES, scene.scratch.path().join("secret.yaml"));
    scene.nothing_is_read("an absolute link");
}

#[test]
fn a_folder_that_is_a_link_out_is_not_entered() {
    let scene = Scene::new();
    fs::remove_dir_all(
        scene
            .top()
            .join("environment-values/workload-clusters/edge-paris"),
    )
    .expect("removed");
    scene.link(
        "environment-values/workload-clusters/edge-paris",
        "../../../other",
    );
    scene.nothing_is_read("a cluster's folder");
}

#[test]
fn links_to_links_and_climbing_links_do_not_lead_out() {
    let scene = Scene::new();
    scene.link("one", "two");
    scene.link("two", "..");
    scene.link(VALUES, "../../../one/secret.yaml");
    scene.nothing_is_read("a link through links");
    let scene = Scene::new();
    scene.put("deep/er/x", "");
    scene.link("way", "deep/er/../../..");
    scene.link(VALUES, "../../../way/secret.yaml");
    scene.nothing_is_read("a link with `..` in its middle");
}

#[test]
fn the_lock_and_the_project_file_are_no_links_out() {
    for name in ["metalmark.lock", "metalmark.yaml"] {
        for to in ["../secret.yaml", "/proc/self/environ"] {
            let scene = Scene::new();
            scene.link(name, to);
            scene.nothing_is_read(&format!("{name} → {to}"));
        }
    }
}

/// Each key of the project file that names something to be read, with a path that leads out in each of the known ways.
#[test]
fn no_key_of_the_project_file_leads_out() {
    let base = "outputs: [{target: manifests, path: out}]\n";
    let a = "clusters: [{name: edge-paris, values: [a.yaml]}]\n";
    // None of the commands writes.
    let scene = Scene::new();
    for path in [
        "../secret.yaml",
        "link.yaml",
        "folder/secret.yaml",
        "ABSOLUTE",
        "inner/../../secret.yaml",
        "/proc/self/environ",
        "/dev/stdin",
    ] {
        for place in [
            format!("values: ['{path}']\n{a}"),
            format!("clusters: [{{name: edge-paris, values: ['{path}']}}]\n"),
            format!("images: {{facts: ['{path}']}}\n{a}"),
            format!("schemas: '{path}'\n{a}"),
            format!("templates: '{path}'\n{a}"),
            format!("state: {{ConfigMap/x: '{path}'}}\n{a}"),
            format!("clusters: [{{each: '{path}'}}]\n"),
            format!("manifests: ['{path}']\n{a}"),
        ] {
            let absolute = scene.scratch.path().join("secret.yaml");
            let place = place.replace("ABSOLUTE", &absolute.to_string_lossy());
            scene.put("metalmark.yaml", &format!("{place}{base}"));
            scene.put("a.yaml", "cluster: {}\n");
            scene.put("inner/x", "");
            scene.link("link.yaml", "../secret.yaml");
            scene.link("folder", "..");
            for line in ["cmp generate", "check", "stamp --check"] {
                let outcome = scene.run(line);
                let screen = outcome.stdout + &outcome.stderr;
                assert!(!screen.contains(SECRET), "{place}: {line}: {screen}");
            }
            if path == "link.yaml" {
                scene.nothing_is_opened(&place);
            }
        }
    }
}

#[test]
fn files_of_folders_that_are_read_whole_are_no_links_out() {
    let scene = Scene::new();
    let a = "clusters: [{name: edge-paris, values: [a.yaml]}]\n";
    scene.put("a.yaml", "cluster: {}\n");
    for (key, file) in [
        ("images: {facts: [folder]}", "folder/SHA256SUMS"),
        ("schemas: folder", "folder/crd.yaml"),
        ("templates: folder", "folder/metal3.yaml"),
        ("values: [folder]", "folder/kustomization.yaml"),
        ("manifests: [folder]", "folder/objects.yaml"),
    ] {
        scene.put("metalmark.yaml", &format!("{key}\n{a}"));
        scene.link(file, scene.scratch.path().join("secret.yaml"));
        for line in ["cmp generate", "check", "stamp --check"] {
            let outcome = scene.run(line);
            let screen = outcome.stdout + &outcome.stderr;
            assert!(!screen.contains(SECRET), "{key}: {line}: {screen}");
        }
        scene.nothing_is_opened(key);
        fs::remove_dir_all(scene.top().join("folder")).expect("removed");
    }
}

/// Its rendered files would be deleted.
#[test]
fn a_cluster_whose_values_are_a_link_to_nothing_is_not_forgotten() {
    let scene = Scene::new();
    scene.link(VALUES, "nothing.yaml");
    for line in ["check", "render"] {
        let outcome = scene.run(line);
        assert_eq!(outcome.status, 2, "{line}: {}", outcome.stdout);
        let reported = format!("cannot read `{VALUES}`");
        assert!(
            outcome.stderr.contains(&reported),
            "{line}: {}",
            outcome.stderr
        );
    }
}

/// What is no regular file is refused at once, where a pipe would be waited for.
#[test]
fn pipes_and_devices_are_not_waited_for() {
    let scene = Scene::new();
    let file = scene.top().join(VALUES);
    fs::remove_file(&file).expect("removed");
    let made = Command::new("mkfifo").arg(&file).status();
    assert!(made.expect("mkfifo runs").success());
    let outcome = scene.run("check");
    assert_eq!(outcome.status, 2, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("it is not a regular file"),
        "{}",
        outcome.stderr
    );
    // A file may become a pipe after it was looked at.
    let folder = Folder::new(&scene.top(), None);
    let read = folder.walk().expect("a folder").read(VALUES, 1);
    assert!(read.is_err());
}

/// The person who types a path may name any; links inside the repository lead where they lead.
#[test]
fn what_flags_name_is_read_and_so_are_links_inside() {
    let scene = Scene::new();
    fs::write(scene.scratch.path().join("more.yaml"), "cluster: {}\n").expect("written");
    let inside = scene.top().join(VALUES);
    scene.put(
        "kept/values.yaml",
        &fs::read_to_string(&inside).expect("there"),
    );
    let expected = scene.run("render --stdout").stdout;
    scene.link(VALUES, "../../../kept/values.yaml");
    assert_eq!(scene.run("render --stdout").stdout, expected);
    scene.link(VALUES, scene.top().join("kept/values.yaml"));
    assert_eq!(scene.run("render --stdout").stdout, expected);
    let outcome = scene.run("check --values ../more.yaml");
    assert!(!outcome.stderr.contains("outside"), "{}", outcome.stderr);
    let outcome = scene.run("stamp --check ../more.yaml");
    assert!(!outcome.stderr.contains("outside"), "{}", outcome.stderr);
}

/// A file that a flag names opens nothing that is beside it.
#[test]
fn no_link_leads_to_a_file_beside_one_that_a_flag_names() {
    let scene = Scene::new();
    fs::write(scene.scratch.path().join("info.yaml"), "os_images: {}\n").expect("written");
    scene.link(VALUES, scene.scratch.path().join("secret.yaml"));
    for line in ["check", "check --info ../info.yaml"] {
        let outcome = scene.run(line);
        let screen = outcome.stdout + &outcome.stderr;
        assert!(screen.contains("outside"), "{line}: {screen}");
        assert!(!screen.contains(SECRET), "{line}: {screen}");
    }
}

/// A plugin's run whose host does not say where the repository is reads nothing.
#[test]
fn the_plugin_reads_nothing_where_its_repository_is_not_known() {
    let scene = Scene::new();
    let outcome = Metalmark::within(&scene.top())
        .args(["cmp", "generate"])
        .envs(&[("ARGOCD_APP_NAME", "edge-paris")])
        .run();
    assert_eq!((outcome.status, &*outcome.stdout), (2, ""));
    assert!(
        outcome.stderr.contains("ARGOCD_APP_SOURCE_PATH"),
        "{}",
        outcome.stderr
    );
}

/// Where the kernel has Landlock, it enforces the same for the programs that run metalmark.
#[test]
fn the_kernel_guards_runs_in_other_programs() {
    let Some(strace) = programs::find("strace") else {
        return;
    };
    let scene = Scene::new();
    for line in ["cmp generate", "cmp parameters", "fn", "lsp"] {
        let log = scene.scratch.path().join("log");
        let traced = Command::new(&strace)
            .args(["-f", "-qq", "-e", "trace=/landlock", "-o"])
            .arg(&log)
            .arg(env!("CARGO_BIN_EXE_metalmark"))
            .args(line.split(' '))
            .current_dir(scene.top())
            .env("ARGOCD_APP_NAME", "edge-paris")
            .env("ARGOCD_APP_SOURCE_PATH", ".")
            .stdin(std::process::Stdio::null())
            .output();
        traced.expect("strace runs");
        let text = fs::read_to_string(&log).expect("the log");
        let has_landlock =
            text.contains("LANDLOCK_CREATE_RULESET_VERSION) = ") && !text.contains("= -1");
        let is_enforced = text
            .lines()
            .any(|line| line.contains("landlock_restrict_self") && line.ends_with("= 0"));
        assert!(is_enforced || !has_landlock, "{line}: {text}");
    }
}

/// A function's configuration is the repository's text.
#[test]
fn a_function_reads_no_project_outside() {
    let scene = Scene::new();
    let other = scene.scratch.path().join("other");
    fs::write(
        other.join("metalmark.yaml"),
        "values: [values.yaml]\nclusters: [{name: hunter2, values: []}]\n",
    )
    .expect("written");
    for project in ["../other", "../other/metalmark.yaml"] {
        let list = format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n  \
             apiVersion: metalmark.io/v1\n  kind: Metalmark\n  metadata: {{name: m}}\n  project: {project}\n"
        );
        let outcome = Metalmark::within(&scene.top()).args(["fn"]).run_with(&list);
        let screen = outcome.stdout + &outcome.stderr;
        assert!(
            !screen.contains(SECRET) && outcome.status != 0,
            "{project}: {screen}"
        );
    }
}
