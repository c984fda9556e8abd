//! A run with a cache writes and reports what one without writes and reports, whatever has changed since the cache was written.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use metalmark::output::CacheFile;
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use tempfile::TempDir;

use super::support::{Metalmark, Outcome, copy_of, property, repository, rounds};

/// What happens between two runs.
#[derive(Clone, Debug)]
enum Change {
    /// A word of a file becomes another one.
    Word(usize, usize),
    /// A line of a file is left out.
    Line(usize, usize),
    /// A line is added at the end of a file.
    Append(usize, usize),
    /// A file is written again as it was.
    Touch(usize),
    /// A file is deleted.
    Delete(usize),
    /// The folder of a file is copied beside itself.
    Copy(usize),
    /// A file of the cache has another byte, or ends early.
    Damage(usize, Option<u8>),
    /// A run is killed.
    Kill(u64),
    /// Waivers end.
    Later,
}

fn changes() -> impl Strategy<Value = Change> {
    let number = || any::<usize>();
    prop_oneof![
        6 => (number(), number()).prop_map(|(file, word)| Change::Word(file, word)),
        2 => (number(), number()).prop_map(|(file, line)| Change::Line(file, line)),
        2 => (number(), number()).prop_map(|(file, line)| Change::Append(file, line)),
        1 => number().prop_map(Change::Touch),
        1 => number().prop_map(Change::Delete),
        1 => number().prop_map(Change::Copy),
        2 => (number(), any::<Option<u8>>()).prop_map(|(at, byte)| Change::Damage(at, byte)),
        1 => (0..60_u64).prop_map(Change::Kill),
        1 => Just(Change::Later),
    ]
}

const WORDS: [(&str, &str); 10] = [
    ("plain", "hardened"),
    ("hardened", "plain"),
    ("1-31-8", "1-30-12"),
    ("1.31", "1.30"),
    ("rke2", "kubeadm"),
    ("ubuntu", "opensuse"),
    ("edge", "core"),
    ("sha256", "sha512"),
    ("replicas: ", "replicas: 1"),
    ("example.org", "example.net"),
];

const LINES: [&str; 6] = [
    "# nothing\n",
    "k8s_version_short: \"1.30\"\n",
    "password: correct-horse-battery\n",
    "policy: {rules: {image-unused: error}}\n",
    "surprising: 0777\n",
    "\tbroken: [\n",
];

/// Where waivers of the demo have and have not ended: seconds since 1970.
const DAYS: [&str; 2] = ["1700000000", "4200000000"];

/// A project twice: with a cache, and without.
struct Twice {
    cached: TempDir,
    plain: TempDir,
    caches: TempDir,
    day: usize,
}

impl Twice {
    fn of(project: &Path) -> Self {
        let copy = || {
            let copy = copy_of(project);
            // Golden files, where there are any.
            let _ = fs::remove_dir_all(copy.path().join("expected"));
            copy
        };
        Self {
            cached: copy(),
            plain: copy(),
            caches: tempfile::tempdir().expect("a scratch folder"),
            day: 0,
        }
    }

    fn caches(&self) -> &str {
        self.caches.path().to_str().expect("UTF-8")
    }

    fn make(&mut self, change: &Change) {
        match change {
            Change::Later => self.day = 1,
            Change::Damage(at, byte) => self.damage(*at, *byte),
            Change::Kill(milliseconds) => self.kill(*milliseconds),
            change => {
                edit(self.cached.path(), change);
                edit(self.plain.path(), change);
            }
        }
    }

    fn damage(&self, at: usize, byte: Option<u8>) {
        let files = files(self.caches.path());
        for (path, mut bytes) in files {
            let at = at % bytes.len().max(1);
            match (byte, bytes.get_mut(at)) {
                (Some(byte), Some(there)) => *there = byte,
                _ => bytes.truncate(at),
            }
            fs::write(self.caches.path().join(path), bytes).expect("written");
        }
    }

    fn kill(&self, milliseconds: u64) {
        let mut run = Command::new(env!("CARGO_BIN_EXE_metalmark"))
            .arg("check")
            .current_dir(&self.cached)
            .env_clear()
            .env("XDG_CACHE_HOME", self.caches())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        sleep(Duration::from_millis(milliseconds));
        run.kill().expect("killed");
        run.wait().expect("it ended");
    }

    /// Runs a command in both, and compares.
    fn run(&self, args: &[&str]) {
        let day = ("SOURCE_DATE_EPOCH", DAYS[self.day]);
        let run = |root: &TempDir, more: &[(&str, &str)]| {
            let run = Metalmark::within(root.path()).args(args.iter().copied());
            let Outcome {
                status,
                stdout,
                stderr,
            } = run.envs(&[day]).envs(more).run();
            (status, stdout, stderr)
        };
        let cached = run(&self.cached, &[("XDG_CACHE_HOME", self.caches())]);
        let plain = run(&self.plain, &[]);
        assert_eq!(cached, plain, "{args:?}");
        assert_eq!(
            files(self.cached.path()),
            files(self.plain.path()),
            "{args:?}"
        );
    }

    /// How many clusters the caches keep.
    fn kept(&self) -> Vec<usize> {
        let caches = files(self.caches.path()).into_values();
        let kept = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("text");
            text.lines().skip(4).filter(|line| !line.is_empty()).count()
        };
        caches.map(kept).collect()
    }
}

/// All files below a folder.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let found = walkdir::WalkDir::new(root).into_iter();
    let found = found.map(|entry| entry.expect("readable"));
    found
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry.path().strip_prefix(root).expect("below");
            (path.to_owned(), fs::read(entry.path()).expect("readable"))
        })
        .collect()
}

fn edit(root: &Path, change: &Change) {
    let is_text =
        |path: &PathBuf| !path.starts_with("registry") && !path.starts_with("metalmark.evidence");
    let all: Vec<PathBuf> = files(root).into_keys().filter(is_text).collect();
    let (Change::Word(file, _)
    | Change::Line(file, _)
    | Change::Append(file, _)
    | Change::Touch(file)
    | Change::Delete(file)
    | Change::Copy(file)) = change
    else {
        return;
    };
    let path = root.join(&all[file % all.len()]);
    let text = fs::read_to_string(&path).expect("text");
    let edited = match change {
        Change::Word(_, word) => {
            // The first word that there is, from that one on.
            let words = WORDS
                .iter()
                .cycle()
                .skip(word % WORDS.len())
                .take(WORDS.len());
            let mut words = words.filter(|(old, _)| text.contains(old));
            words
                .next()
                .map_or(text.clone(), |(old, new)| text.replace(old, new))
        }
        Change::Line(_, line) => {
            let count = text.lines().count().max(1);
            let lines = text.split_inclusive('\n').enumerate();
            let kept = lines.filter(|(number, _)| *number != line % count);
            kept.map(|(_, line)| line).collect()
        }
        Change::Append(_, line) => format!("{text}{}", LINES[line % LINES.len()]),
        Change::Delete(_) => return fs::remove_file(path).expect("deleted"),
        Change::Copy(_) => {
            let folder = path.parent().expect("a folder");
            if folder != root {
                super::support::copy_into(folder, &folder.with_extension("copy"));
            }
            return;
        }
        _ => text,
    };
    fs::write(path, edited).expect("written");
}

fn same_after_each_change(project: &Path, cases: u64) {
    let steps = vec(changes(), 1..6);
    property(cases, &steps, |steps| {
        let mut twice = Twice::of(project);
        twice.run(&["check"]);
        twice.run(&["render", "--keep-going"]);
        for step in &steps {
            twice.make(step);
            twice.run(&["check", "--output", "json"]);
            twice.run(&["render", "--check"]);
            twice.run(&["render", "--keep-going"]);
        }
    });
}

#[test]
fn values_files_that_change_are_read_again() {
    let project = repository().join("fixtures/workspaces/sylva-baremetal");
    same_after_each_change(&project, rounds(5, 40));
}

#[test]
fn folders_that_change_are_composed_again() {
    let project = repository().join("fixtures/workspaces/sylva-flux");
    same_after_each_change(&project, rounds(5, 40));
}

/// The demo without its lab: a cluster with secrets, and two that are clean.
fn clean() -> TempDir {
    let project = copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"));
    fs::remove_dir_all(project.path().join("expected")).expect("removed");
    let lab = project
        .path()
        .join("environment-values/workload-clusters/lab-7");
    fs::remove_dir_all(lab).expect("removed");
    project
}

#[test]
fn clean_clusters_without_secrets_are_kept() {
    let twice = Twice::of(clean().path());
    twice.run(&["check"]);
    assert_eq!(twice.kept(), [2]);
    twice.run(&["render"]);
    assert_eq!(twice.kept(), [2, 2]);
    let before = files(twice.caches.path());
    twice.run(&["check"]);
    twice.run(&["check", "--no-cache"]);
    assert_eq!(files(twice.caches.path()), before);
}

#[test]
fn no_cache_is_written_where_none_is_wanted() {
    let (project, caches) = (clean(), tempfile::tempdir().expect("a scratch folder"));
    let folder = caches.path().to_str().expect("UTF-8");
    let run = |args: &[&str], variables: &[(&str, &str)]| {
        let run = Metalmark::within(project.path()).args(args.iter().copied());
        assert_eq!(run.envs(variables).run().status, 0);
        files(caches.path()).len()
    };
    assert_eq!(run(&["check", "--no-cache"], &[("HOME", folder)]), 0);
    for off in [("METALMARK_NO_CACHE", "1"), ("CI", "true")] {
        assert_eq!(run(&["check"], &[("HOME", folder), off]), 0);
    }
    assert_eq!(run(&["images"], &[("HOME", folder)]), 0);
    assert_eq!(run(&["check"], &[("HOME", folder)]), 1);
    assert!(caches.path().join(".cache/metalmark").is_dir());
}

/// A cache that somebody else wrote for the demo, in a folder.
fn forged(folder: &Path, project: &Path) {
    let run = Metalmark::within(project).args(["check"]);
    let folder = folder.to_str().expect("UTF-8");
    assert_eq!(run.envs(&[("XDG_CACHE_HOME", folder)]).run().status, 0);
}

#[test]
fn a_repositorys_own_files_are_no_cache() {
    let (project, elsewhere) = (clean(), tempfile::tempdir().expect("a scratch folder"));
    let root = project.path();
    forged(elsewhere.path(), root);
    let there = files(elsewhere.path());
    // The folder of caches is in the repository, or is reached by a link of it.
    super::support::copy_into(elsewhere.path(), &root.join("caches"));
    symlink(elsewhere.path(), root.join("link")).expect("linked");
    let values = root.join("environment-values/workload-clusters/edge-lyon/values.yaml");
    let text = fs::read_to_string(&values).expect("values");
    for name in ["caches", "link"] {
        fs::write(&values, format!("{text}# {name}\n")).expect("written");
        forged(&root.join(name), root);
        assert_eq!(files(elsewhere.path()), there, "{name}");
        assert_eq!(files(&root.join("caches")), there, "{name}");
    }
}

#[test]
fn a_cache_that_others_may_write_is_none() {
    use std::os::unix::fs::PermissionsExt as _;
    let (project, caches) = (clean(), tempfile::tempdir().expect("a scratch folder"));
    let folder = caches.path().join("metalmark");
    fs::create_dir(&folder).expect("made");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("set");
    forged(caches.path(), project.path());
    assert_eq!(files(caches.path()).len(), 0);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("set");
    forged(caches.path(), project.path());
    let written: Vec<PathBuf> = files(caches.path()).into_keys().collect();
    // What was written while it was private is not believed once it is not.
    let [name] = &written[..] else {
        panic!("{written:?}")
    };
    let name = name.file_name().expect("a name").to_str().expect("UTF-8");
    let file = CacheFile::new(&folder, project.path(), name.to_owned()).expect("outside");
    assert!(file.read().is_some());
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o770)).expect("set");
    assert!(file.read().is_none());
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("set");
    assert!(file.read().is_some());
    match chown(&folder, Some(65_534), None) {
        Ok(()) => assert!(file.read().is_none()),
        Err(_) => super::programs::missing("root"),
    }
}

#[test]
fn old_caches_are_deleted() {
    let (project, caches) = (clean(), tempfile::tempdir().expect("a scratch folder"));
    let folder = caches.path().join("metalmark");
    forged(caches.path(), project.path());
    for number in 0..100 {
        fs::write(folder.join(number.to_string()), "old").expect("written");
        let file = fs::File::open(folder.join(number.to_string())).expect("there");
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(number))
            .expect("set");
    }
    fs::write(
        project.path().join("os-images-info.yaml"),
        "os_images: {}\n",
    )
    .expect("written");
    let run = Metalmark::within(project.path()).args(["check"]);
    run.envs(&[("XDG_CACHE_HOME", caches.path().to_str().expect("UTF-8"))])
        .run();
    assert_eq!(files(&folder).len(), 64);
    assert!(folder.join("99").exists() && !folder.join("0").exists());
}

#[test]
fn runs_at_once_have_one_result() {
    let twice = Twice::of(clean().path());
    let values = "environment-values/workload-clusters/edge-lyon/values.yaml";
    for round in 0..5 {
        for root in [&twice.cached, &twice.plain] {
            let path = root.path().join(values);
            let text = fs::read_to_string(&path).expect("values");
            fs::write(path, format!("{text}# {round}\n")).expect("written");
        }
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| twice.run(&["check"]));
            }
        });
    }
    assert_eq!(twice.kept(), [2]);
}
