//! Whatever a repository names, and wherever its links lead: no file outside of it is read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use metalmark::files::Folder;
use snapbox::str;
use tempfile::TempDir;

use crate::programs;
use crate::support::stage::{Is, table};
use crate::support::{Metalmark, Outcome, copy_into, repository};

/// What no output may hold.
const SECRET: &str = "hunter2";
const OUTSIDE: &str = "password: hunter2\nauths: {r.io: {auth: hunter2}}\nhunter2\u{0}: [\n";
const VALUES: &str = "environment-values/workload-clusters/edge-paris/values.yaml";

/// The variables of a plugin's run, and one that is secret.
const VARIABLES: [(&str, &str); 3] = [
    ("ARGOCD_APP_NAME", "edge-paris"),
    ("ARGOCD_APP_SOURCE_PATH", "."),
    ("TOKEN", SECRET),
];

/// Commands that read, with the plugin's rules or a person's; the first two are watched.
const LINES: [&str; 7] = [
    "cmp generate",
    "check",
    "stamp --check",
    "render --stdout",
    "explain edge-paris",
    "images",
    "lock --check",
];

/// A repository beside a file that is not part of it.
struct Scene {
    scratch: TempDir,
}

impl Scene {
    /// Without a trick each of the commands succeeds and prints something: that is looked at once.
    fn new() -> Self {
        static CONTROL: OnceLock<()> = OnceLock::new();
        let scene = Self::bare();
        CONTROL.get_or_init(|| {
            for line in LINES {
                let Outcome {
                    status,
                    stdout,
                    stderr,
                } = scene.run(line);
                assert!(
                    status == 0 && !stdout.is_empty(),
                    "{line}: {status}: {stderr}"
                );
            }
        });
        scene
    }

    fn bare() -> Self {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let scene = Self { scratch };
        copy_into(
            &repository().join("fixtures/workspaces/sylva-baremetal"),
            &scene.top(),
        );
        for path in [
            "../secret.yaml",
            "../other/values.yaml",
            "../other/SHA256SUMS",
        ] {
            scene.put(path, OUTSIDE);
        }
        fs::create_dir(scene.top().join(".git")).expect("made");
        scene
    }

    fn top(&self) -> PathBuf {
        self.scratch.path().join("repository")
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.top().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// A link instead of a file; relative to the file, or absolute.
    fn link(&self, path: &str, to: impl AsRef<Path>) {
        let path = self.top().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let _ = fs::remove_file(&path);
        symlink(to, path).expect("linked");
    }

    fn run(&self, line: &str) -> Outcome {
        let run = Metalmark::within(&self.top()).args(line.split(' '));
        run.envs(&VARIABLES).run()
    }

    /// No command prints what is outside or opens it, and the plugin says this.
    fn nothing_is_read(&self, trick: &str, said: &str) {
        for (number, line) in LINES.into_iter().enumerate() {
            let (outcome, opened) = if number < 2 {
                self.watch(line)
            } else {
                (self.run(line), Vec::new())
            };
            let screen = outcome.stdout + &outcome.stderr;
            assert!(!screen.contains(SECRET), "{trick}: {line}: {screen}");
            let is_noticed = outcome.status != 0 && screen.contains(said);
            assert!(
                is_noticed || line != "cmp generate",
                "{trick}: {line}: {screen}"
            );
            for path in opened {
                let is_outside =
                    path.starts_with(self.scratch.path()) && !path.starts_with(self.top());
                let is_secret = path.ends_with("hostname");
                assert!(!is_outside && !is_secret, "{trick}: {line} opens {path:?}");
            }
        }
    }

    /// What a command came to, and the files that it opened, by what the kernel says; none where there is no strace.
    fn watch(&self, line: &str) -> (Outcome, Vec<PathBuf>) {
        let Some(strace) = programs::find("strace") else {
            return (self.run(line), Vec::new());
        };
        let log = self.scratch.path().join("log");
        let traced = Command::new(strace)
            .args(["-f", "-y", "-qq", "-e", "trace=open,openat,openat2", "-o"])
            .arg(&log)
            .arg(env!("CARGO_BIN_EXE_metalmark"))
            .args(line.split(' '))
            .current_dir(self.top())
            .envs(VARIABLES)
            .output()
            .expect("strace runs");
        let log = fs::read_to_string(&log).expect("the log");
        // The result is `= 5</the/path>`.
        let results = log
            .lines()
            .filter_map(|line| line.rsplit_once(" = ")?.1.split_once('<'));
        let paths = results.map(|(_, path)| PathBuf::from(path.trim_end_matches('>')));
        let paths: Vec<PathBuf> = paths.collect();
        assert!(!paths.is_empty(), "{log}");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        let outcome = Outcome {
            status: traced.status.code().expect("not killed"),
            stdout: text(traced.stdout),
            stderr: text(traced.stderr),
        };
        (outcome, paths)
    }
}

const OUT: &str = "it is outside the repository";

#[test]
fn a_values_file_that_a_pattern_matches_is_no_link_out() {
    let scene = Scene::new();
    let absolute = scene.scratch.path().join("secret.yaml");
    for to in [
        Path::new("../../../../secret.yaml"),
        Path::new("/proc/self/environ"),
        Path::new("/etc/hostname"),
        &absolute,
    ] {
        scene.link(VALUES, to);
        scene.nothing_is_read(
            &to.to_string_lossy(),
            &format!("cannot read `{VALUES}`: {OUT}"),
        );
    }
}

#[test]
fn a_folder_that_is_a_link_out_is_not_entered() {
    let scene = Scene::new();
    let folder = "environment-values/workload-clusters/edge-paris";
    fs::remove_dir_all(scene.top().join(folder)).expect("removed");
    scene.link(folder, "../../../other");
    scene.nothing_is_read("a cluster's folder", OUT);
}

#[test]
fn links_to_links_and_climbing_links_do_not_lead_out() {
    let scene = Scene::new();
    scene.link("one", "two");
    scene.link("two", "..");
    scene.link(VALUES, "../../../one/secret.yaml");
    scene.nothing_is_read("a link through links", OUT);
    scene.put("deep/er/x", "");
    scene.link("way", "deep/er/../../..");
    scene.link(VALUES, "../../../way/secret.yaml");
    scene.nothing_is_read("a link with `..` in its middle", OUT);
}

#[test]
fn the_lock_and_the_project_file_are_no_links_out() {
    for (name, said) in [
        ("metalmark.lock", "there is no lock"),
        (
            "metalmark.yaml",
            "cannot read `metalmark.yaml`: it is outside the repository",
        ),
    ] {
        let scene = Scene::new();
        for to in ["../secret.yaml", "/proc/self/environ"] {
            scene.link(name, to);
            scene.nothing_is_read(&format!("{name} → {to}"), said);
        }
    }
}

/// The ways that lead out.
const PATHS: [&str; 7] = [
    "link.yaml",
    "../secret.yaml",
    "folder/secret.yaml",
    "ABSOLUTE",
    "inner/../../secret.yaml",
    "/proc/self/environ",
    "/dev/stdin",
];

/// Each key of the project file that names something to be read, with a path that leads out in each of the known ways.
#[test]
fn no_key_of_the_project_file_leads_out() {
    let a = "clusters: [{name: edge-paris, values: [a.yaml]}]\n";
    let scene = Scene::new();
    let absolute = scene.scratch.path().join("secret.yaml");
    fs::remove_file(scene.top().join("metalmark.lock")).expect("removed");
    scene.put("a.yaml", "cluster: {}\n");
    scene.put("inner/x", "");
    scene.put("flux/kustomization.yaml", "resources: [release.yaml]\n");
    scene.put(
        "flux/release.yaml",
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: a}\n\
         spec: {chart: {spec: {chart: c, sourceRef: {kind: GitRepository, name: s}}}, valuesFrom: [{kind: ConfigMap, name: x}]}\n",
    );
    scene.link("link.yaml", "../secret.yaml");
    scene.link("folder", "..");
    let places = [
        format!("values: ['PATH']\n{a}"),
        "clusters: [{name: edge-paris, values: ['PATH']}]\n".to_owned(),
        format!("images: {{facts: ['PATH']}}\n{a}"),
        format!("schemas: 'PATH'\n{a}"),
        format!("templates: 'PATH'\n{a}"),
        "state: {ConfigMap/x: 'PATH'}\nclusters: [{name: edge-paris, values: [flux]}]\n".to_owned(),
        "clusters: [{each: 'PATH'}]\n".to_owned(),
        format!("manifests: ['PATH']\n{a}"),
    ];
    let said = table(places, |place| {
        let mut said: Vec<String> = Vec::new();
        for path in PATHS {
            let path = path.replace("ABSOLUTE", &absolute.to_string_lossy());
            let project = place.replace("PATH", &path);
            scene.put(
                "metalmark.yaml",
                &format!("{project}outputs: [{{target: manifests, path: out}}]\n"),
            );
            if path == "link.yaml" {
                scene.nothing_is_read(place, "error");
            }
            let outcome = scene.run("check");
            let screen = outcome.stdout + &outcome.stderr;
            assert!(
                !screen.contains(SECRET) && outcome.status != 0,
                "{project}: {screen}"
            );
            let line = screen
                .lines()
                .next()
                .expect("a line")
                .replace(&path, "PATH");
            if !said.contains(&line) {
                said.push(line);
            }
        }
        said
    });
    said.is(str![[r#"
values: ['PATH']
clusters: [{name: edge-paris, values: [a.yaml]}]

    error: cannot read `PATH`: it is outside the repository
clusters: [{name: edge-paris, values: ['PATH']}]

    error: cannot read `PATH`: it is outside the repository
images: {facts: ['PATH']}
clusters: [{name: edge-paris, values: [a.yaml]}]

    error: cannot read `PATH`: it is outside the repository
schemas: 'PATH'
clusters: [{name: edge-paris, values: [a.yaml]}]

    error: cannot read `PATH`: it is outside the repository
templates: 'PATH'
clusters: [{name: edge-paris, values: [a.yaml]}]

    error: cannot read `PATH`: it is outside the repository
state: {ConfigMap/x: 'PATH'}
clusters: [{name: edge-paris, values: [flux]}]

    error[composition-failed]: `PATH` leads out of the repository
clusters: [{each: 'PATH'}]

    error: cannot read `PATH`: it is outside the repository
manifests: ['PATH']
clusters: [{name: edge-paris, values: [a.yaml]}]

    error: cannot read `PATH`: it is outside the repository

"#]]);
}

#[test]
fn files_of_folders_that_are_read_whole_are_no_links_out() {
    let scene = Scene::new();
    fs::remove_file(scene.top().join("metalmark.lock")).expect("removed");
    scene.put("a.yaml", "cluster: {}\n");
    let places = [
        ("images: {facts: [folder]}", "folder/SHA256SUMS"),
        ("schemas: folder", "folder/crd.yaml"),
        ("templates: folder", "folder/metal3.yaml"),
        ("values: [folder]", "folder/kustomization.yaml"),
        ("manifests: [folder]", "folder/objects.yaml"),
    ];
    let said = table(places.map(|(key, _)| key), |key| {
        let (_, file) = places.iter().find(|(place, _)| place == key).expect("it");
        let project = format!("{key}\nclusters: [{{name: edge-paris, values: [a.yaml]}}]\n");
        scene.put("metalmark.yaml", &project);
        scene.link(file, scene.scratch.path().join("secret.yaml"));
        scene.nothing_is_read(key, "error");
        let outcome = scene.run("check");
        fs::remove_dir_all(scene.top().join("folder")).expect("removed");
        let screen = outcome.stdout + &outcome.stderr;
        screen.lines().take(1).map(str::to_owned).collect()
    });
    said.is(str![[r#"
images: {facts: [folder]}
    error: cannot read `folder/SHA256SUMS`: it is outside the repository
schemas: folder
    error[project-file]: there is no CustomResourceDefinition in `folder`, so nothing is validated
templates: folder
    error[nothing-checked]: 0 node pools checked; 1 skipped: no image selected
values: [folder]
    error: cannot read `folder`: it is not a regular file
manifests: [folder]
    error[nothing-checked]: 0 node pools checked; 1 skipped: no image selected; 1 file not read: a link to a file that metalmark does not read

"#]]);
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
