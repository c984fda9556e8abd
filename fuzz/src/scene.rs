//! A repository on disk that a stranger made, in a folder of its own beside files that are not part of it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use oci_artifacts::Digest;
use tempfile::TempDir;

use super::memory::Memory;

/// A text that only files outside the repository contain.
pub(super) const MARKER: &str = "q7x-outside-x7q";

/// What a path is replaced by where a text of the repository has this word: the folder outside, absolute.
const ABSOLUTE: &str = "OUTSIDE";

/// The project that each repository has, as far as its own files leave room.
const PROJECT: &str = "\
=== metalmark.yaml
version: 1
values: [values.yaml]
clusters: [{each: 'clusters/*/values.yaml'}]
manifests: [manifests]
stamps: [{kind: DockerMachineTemplate, image: node}]
images: {url: '{{ image.uri }}'}
outputs:
  - {target: manifests, path: rendered}
=== values.yaml
os_images:
  node: {uri: 'oci://docker.io/kindest/node:v1.34.1', os: ubuntu, os-release: noble, k8s-flavor: kubeadm, k8s-version: 1.34.1, image-format: container}
cluster:
  k8s_version: v1.34.1
  capi_providers: {infra_provider: docker, bootstrap_provider: cabpk}
  docker: {image_key: node}
=== clusters/edge/values.yaml
cluster: {control_plane_replicas: 3}
=== manifests/template.yaml
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: DockerMachineTemplate
metadata: {name: edge, namespace: edge}
spec:
  template:
    spec:
      customImage: docker.io/kindest/node:v1.33.0
";

/// Somebody else's project beside it, rendered.
const OTHER: &str = "\
=== metalmark.yaml
version: 1
values: [values.yaml]
clusters: [{name: edge, values: []}]
outputs: [{target: manifests, path: rendered}]
=== values.yaml
cluster: {k8s_version: q7x-outside-x7q, capi_providers: {infra_provider: docker}, docker: {image_key: q7x-outside-x7q}}
os_images: {q7x-outside-x7q: {uri: 'oci://q7x-outside-x7q'}}
=== facts/SHA256SUMS
q7x-outside-x7q
=== torn.yaml
q7x-outside-x7q: [
=== .metalmark-tmp-values.yaml
q7x-outside-x7q
=== rendered/gone.yaml
q7x-outside-x7q
=== rendered/.metalmark-owned
gone.yaml\tSUM\tmanifests/gone
notes.txt\tsha256:fcbc800db3f1867000b852f1ce0044b8f1584f76ade1ed6e65189824f95c3cda\tmanifests/gone
";

/// The repository and the other project, in a scratch folder.
pub(super) struct Scene(TempDir);

/// What a folder contains, but for one folder in it: modes, and bytes or what links lead to.
pub(super) type Snapshot = BTreeMap<PathBuf, (u32, Option<Vec<u8>>)>;

/// Something in a repository.
enum Entry {
    File(Vec<u8>),
    Link(String),
    Pipe,
}

impl Scene {
    /// The repository of a text in which each file follows a line `=== PATH`, a link a line `=== @PATH`, and a pipe is a line
    /// `=== |PATH`.
    pub(super) fn new(data: &[u8], is_committed: bool) -> Self {
        let scene = Self(tempfile::tempdir().expect("a scratch folder"));
        let sum = Digest::compute(format!("{MARKER}\n").as_bytes()).to_string();
        let other = entries(OTHER.replace("SUM", &sum).as_bytes());
        write(&scene.0.path().join("other"), &other);
        let (mut files, absolute) = (entries(PROJECT.as_bytes()), scene.0.path().join("other"));
        for (path, entry) in entries(data) {
            // What is in the way of a stranger's file is not part of the project.
            files.retain(|other, _| !other.starts_with(&path) && !path.starts_with(other));
            files.insert(path, entry.at(&absolute.to_string_lossy()));
        }
        let top = scene.top();
        if is_committed {
            let gits = |path: &Path| path.starts_with(".git");
            let (inner, outer) = files.into_iter().partition(|(path, _)| gits(path));
            write(&top, &outer);
            commit(&top);
            files = inner;
        }
        write(&top, &files);
        if top.join(".git").symlink_metadata().is_err() {
            fs::create_dir(top.join(".git")).expect("a folder");
        }
        scene
    }

    /// The repository's folder.
    pub(super) fn top(&self) -> PathBuf {
        self.0.path().join("repository")
    }

    /// What is outside the repository.
    pub(super) fn outside(&self) -> Snapshot {
        snapshot(self.0.path(), &self.top())
    }

    /// What is in the repository.
    pub(super) fn inside(&self) -> Snapshot {
        snapshot(&self.top(), Path::new(""))
    }
}

impl Entry {
    fn at(self, absolute: &str) -> Self {
        match self {
            Self::File(bytes) => Self::File(match String::from_utf8(bytes) {
                Ok(text) => text.replace(ABSOLUTE, absolute).into_bytes(),
                Err(error) => error.into_bytes(),
            }),
            Self::Link(to) => Self::Link(to.replace(ABSOLUTE, absolute)),
            Self::Pipe => Self::Pipe,
        }
    }
}

fn entries(data: &[u8]) -> BTreeMap<PathBuf, Entry> {
    /// Far more than a seed has.
    const MOST: usize = 60;
    let entry = |(path, bytes): (PathBuf, Vec<u8>)| {
        let name = path.to_str()?;
        Some(match (name.strip_prefix('@'), name.strip_prefix('|')) {
            (Some(link), _) => {
                let to = String::from_utf8_lossy(&bytes);
                (PathBuf::from(link), Entry::Link(to.trim_end().to_owned()))
            }
            (_, Some(pipe)) => (PathBuf::from(pipe), Entry::Pipe),
            _ => (path, Entry::File(bytes)),
        })
    };
    let files = Memory::of(data).into_files().take(MOST);
    // Without the letter before it, a path may lead out.
    let is_below = |path: &Path| {
        let is_name = |part| matches!(part, Component::Normal(_));
        !path.as_os_str().is_empty() && path.components().all(is_name)
    };
    let entries = files.filter_map(entry);
    entries.filter(|(path, _)| is_below(path)).collect()
}

/// Writes what can be written: no link exists before all files do, so that none is written through one.
fn write(folder: &Path, entries: &BTreeMap<PathBuf, Entry>) {
    fs::create_dir_all(folder).expect("a folder");
    for path in entries.keys() {
        let _ = path
            .parent()
            .map(|above| fs::create_dir_all(folder.join(above)));
    }
    for (path, entry) in entries {
        let path = folder.join(path);
        let _ = match entry {
            Entry::File(bytes) => fs::write(path, bytes),
            Entry::Pipe => Command::new("mkfifo")
                .arg("--")
                .arg(path)
                .stderr(Stdio::null())
                .status()
                .map(drop),
            Entry::Link(_) => Ok(()),
        };
    }
    for (path, entry) in entries {
        if let Entry::Link(to) = entry {
            let _ = symlink(to, folder.join(path));
        }
    }
}

/// Makes a repository of a folder, with everything in one commit. Without git there is none.
fn commit(top: &Path) {
    for arguments in [
        &["init", "--quiet", "--template=", "--initial-branch=main"][..],
        &["add", "--all", "--force", "."],
        &["commit", "--quiet", "--allow-empty", "--message=Base"],
    ] {
        let mut git = Command::new("git");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            git.env_remove(name);
        }
        let _ = git
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
            .args(arguments)
            .current_dir(top)
            .envs([
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("GIT_CONFIG_NOSYSTEM", "1"),
            ])
            .env("GIT_CEILING_DIRECTORIES", top.parent().unwrap_or(top))
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .status();
    }
}

fn snapshot(folder: &Path, but: &Path) -> Snapshot {
    let (mut found, mut open) = (Snapshot::new(), vec![folder.to_owned()]);
    while let Some(inner) = open.pop() {
        for entry in fs::read_dir(inner).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = path.symlink_metadata().expect("it is there");
            let content = if metadata.is_symlink() {
                let to = fs::read_link(&path).expect("a link");
                Some(to.to_string_lossy().into_owned().into_bytes())
            } else if metadata.is_file() {
                Some(fs::read(&path).expect("a file"))
            } else {
                None
            };
            if path == but {
                continue;
            }
            if metadata.is_dir() {
                open.push(path.clone());
            }
            let below = path.strip_prefix(folder).expect("below").to_owned();
            found.insert(below, (metadata.mode(), content));
        }
    }
    found
}
