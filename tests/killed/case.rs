//! The commands that write, each with a workspace in which it has something to do. A new one is one more entry.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::support::{copy_of, repository};

/// A command that writes.
pub(crate) struct Case {
    /// What the test's messages call it.
    pub(crate) name: &'static str,
    /// What is typed.
    pub(crate) args: &'static [&'static str],
    /// The folder below the workspace where it is typed.
    pub(crate) within: &'static str,
    /// Makes a workspace where the command has something to do.
    pub(crate) workspace: fn() -> TempDir,
    /// A file that the command writes over, below the folder where it is typed.
    pub(crate) edits: &'static str,
    /// What the command writes into that file in a second step, once the first one is known to fit, and what is there before.
    pub(crate) second: Option<(&'static str, &'static str)>,
}

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "render",
        args: &["render", "--frozen"],
        within: "",
        workspace: rendered_otherwise,
        edits: "rendered/shared/os-images-info.yaml",
        second: None,
    },
    Case {
        name: "lock",
        args: &["lock"],
        within: "",
        workspace: locked_in_part,
        edits: "metalmark.lock",
        second: None,
    },
    Case {
        name: "update",
        args: &["update", "0.4.13", "--fix", "--k8s-versions"],
        within: "before",
        workspace: || copy_of(&repository().join("fixtures/update/locked")),
        edits: "values.yaml",
        second: Some(("\"1.31\": v1.31.9+rke2r1", "\"1.31\": v1.31.8+rke2r1")),
    },
    Case {
        name: "stamp",
        args: &["stamp"],
        within: "",
        workspace: || copy_of(&repository().join("fixtures/stamp/shapes")),
        edits: "01-plain.yaml",
        second: None,
    },
    Case {
        name: "stamp --rotate",
        args: &["stamp", "--rotate", "--set-version"],
        within: "",
        workspace: || copy_of(&repository().join("fixtures/stamp/rotate/before")),
        edits: "clusters/rke2.yaml",
        second: None,
    },
    Case {
        name: "check --fix",
        args: &["check", "--fix"],
        within: "",
        workspace: with_slips,
        edits: "edge-3.yaml",
        second: None,
    },
    Case {
        name: "bundle unpack",
        args: &["bundle", "unpack", "web.tgz", "--to", "apps/web", "--adopt"],
        within: "",
        workspace: unpacked_before,
        edits: "apps/web/manifests/one.yaml",
        second: None,
    },
];

/// The command of that name.
pub(crate) fn case(name: &str) -> &'static Case {
    CASES.iter().find(|case| case.name == name).expect("a case")
}

/// The commands that write below a project, one at a time; `bundle unpack` writes anywhere.
pub(crate) fn of_projects() -> impl Iterator<Item = &'static Case> {
    CASES.iter().filter(|case| case.args[0] != "bundle")
}

impl Case {
    /// The command, not started; what it prints goes nowhere.
    pub(crate) fn command(&self, workspace: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metalmark"));
        self.settle(&mut command, workspace);
        command.args(self.args);
        command
    }

    /// The same from a shell, after the shell's own commands.
    pub(crate) fn by_shell(&self, workspace: &Path, first: &str) -> Command {
        let mut command = Command::new("sh");
        self.settle(&mut command, workspace);
        command.args(["-c", &format!("{first} exec \"$0\" \"$@\"")]);
        command.arg(env!("CARGO_BIN_EXE_metalmark")).args(self.args);
        command
    }

    /// The folder, and the environment of a run.
    pub(crate) fn settle(&self, command: &mut Command, workspace: &Path) {
        make_repository(workspace);
        command
            .current_dir(self.root(workspace))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
    }

    /// Where the run says which edits it makes.
    pub(crate) fn run_file(&self, workspace: &Path) -> PathBuf {
        make_repository(workspace);
        let key = oci_artifacts::Digest::compute(self.within.as_bytes());
        run_files(workspace).join(&key.hex()[..16])
    }

    /// The project's folder.
    pub(crate) fn root(&self, workspace: &Path) -> PathBuf {
        workspace.join(self.within)
    }

    /// Runs it to its end. Its exit status, and what it said on stderr.
    pub(crate) fn run(&self, workspace: &Path) -> (Option<i32>, String) {
        let output = self.command(workspace).stderr(Stdio::piped()).output();
        let output = output.expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    }
}

/// A file as it stands: its bytes and its mode.
pub(crate) type Standing = (Vec<u8>, u32);

/// Every file below a folder.
pub(crate) type Tree = BTreeMap<PathBuf, Standing>;

/// Where a workspace has its run files.
fn run_files(workspace: &Path) -> PathBuf {
    workspace.join(".git/metalmark")
}

/// What metalmark takes for git's folder, with a place for run files.
pub(crate) fn make_repository(workspace: &Path) {
    fs::create_dir_all(run_files(workspace)).expect("made");
    fs::write(workspace.join(".git/HEAD"), "ref: refs/heads/main\n").expect("written");
}

/// Whether a run that did not end left the account of its edits.
pub(crate) fn has_run_file(workspace: &Path) -> bool {
    let files = fs::read_dir(run_files(workspace)).map(|mut files| files.next().is_some());
    files.unwrap_or(false)
}

/// The files below a folder, without git's.
pub(crate) fn tree(folder: &Path) -> Tree {
    use std::os::unix::fs::PermissionsExt;
    let entries = walkdir::WalkDir::new(folder).into_iter();
    let entries = entries.filter_entry(|entry| entry.file_name() != ".git");
    let files = entries.map(|entry| entry.expect("readable"));
    files
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry.path().strip_prefix(folder).expect("below");
            let bytes = fs::read(entry.path()).expect("readable");
            let mode = entry.metadata().expect("readable").permissions().mode();
            (path.to_owned(), (bytes, mode))
        })
        .collect()
}

fn demo() -> TempDir {
    let folder = copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"));
    fs::remove_dir_all(folder.path().join("expected")).expect("removed");
    folder
}

fn rewrite(file: &Path, change: impl FnOnce(String) -> String) {
    let before = fs::read_to_string(file).expect("text");
    let after = change(before.clone());
    assert_ne!(before, after, "{}", file.display());
    fs::write(file, after).expect("written");
}

/// The demo as it was rendered before everything changed: another address of all images, a cluster that is gone, one that is
/// new; a file of somebody else's beside the rendered ones.
fn rendered_otherwise() -> TempDir {
    let folder = demo();
    let root = folder.path();
    let status = Command::new(env!("CARGO_BIN_EXE_metalmark"))
        .args(["render", "--frozen", "--allow-empty"])
        .current_dir(root)
        .env_clear()
        .output()
        .expect("it runs")
        .status;
    assert!(status.success());
    fs::write(root.join("rendered/clusters/mine.yaml"), "mine: true\n").expect("written");
    rewrite(&root.join("metalmark.yaml"), |text| {
        text.replace("os-images.example.org", "images.example.net")
    });
    let clusters = root.join("environment-values/workload-clusters");
    fs::rename(clusters.join("edge-lyon"), clusters.join("edge-nice")).expect("renamed");
    rewrite(&root.join("rendered/shared/os-images-info.yaml"), |text| {
        format!("{text}# an edit by hand\n")
    });
    folder
}

/// The demo with a lock that lacks all images but the first.
fn locked_in_part() -> TempDir {
    let folder = demo();
    rewrite(&folder.path().join("metalmark.lock"), |text| {
        text.split("\n\n").take(2).collect::<Vec<_>>().join("\n\n") + "\n"
    });
    folder
}

/// Eight clusters, each with a slip that a finding is sure how to mend.
fn with_slips() -> TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let values = "\
sylva_diskimagebuilder_version: 0.4.12
os_images_oci_registries: {sylva: {url: 'oci://r.example/d', tag: 0.4.12, cosign_publickey: ''}}
sylva_diskimagebuilder_images:
  ubuntu-noble-plain-rke2-1-31-8: {os_images_oci_registry: sylva}
";
    let cluster = "\
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
  machine_deployments:
    md0: {capm3: {image_key: \"ubuntu-nobel-plain-rke2-1-31-8\"}} # a slip
";
    let project = "version: 1\nvalues: [values.yaml]\nclusters: [{each: 'edge-*.yaml'}]\n";
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    put("metalmark.yaml", project);
    put("values.yaml", values);
    for number in 0..8 {
        put(&format!("edge-{number}.yaml"), cluster);
    }
    folder
}

/// A bundle whose last version was unpacked: a file has changed since, one is new, one is gone.
fn unpacked_before() -> TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let bundle = |args: &[&str], files: &[(&str, &str)]| {
        let source = folder.path().join("source");
        fs::create_dir(&source).expect("made");
        for (name, data) in files {
            let text = format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: {data}}}\n"
            );
            fs::write(source.join(format!("{name}.yaml")), text).expect("written");
        }
        for args in [&["pack", "source", "--to", "web.tgz"], args] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_metalmark"));
            let command = command.arg("bundle").args(args).current_dir(folder.path());
            assert!(command.output().expect("it runs").status.success());
        }
        fs::remove_dir_all(source).expect("removed");
    };
    let unpack = ["unpack", "web.tgz", "--to", "apps/web"];
    bundle(
        &unpack,
        &[("one", "old"), ("two", "same"), ("three", "gone")],
    );
    fs::remove_file(folder.path().join("web.tgz")).expect("removed");
    bundle(
        &["inspect", "web.tgz"],
        &["one", "two", "four", "five", "six", "seven"].map(|name| match name {
            "two" => (name, "same"),
            name => (name, "new"),
        }),
    );
    folder
}
