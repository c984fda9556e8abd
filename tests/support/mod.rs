//! Runs the real binary in a scratch folder, with a clean environment.

pub(crate) mod artifact;
pub(crate) mod code;
pub(crate) mod cosign;
pub(crate) mod distribution;
pub(crate) mod grammar;
pub(crate) mod layout;
pub(crate) mod lsp;
pub(crate) mod manifests;
pub(crate) mod project;
pub(crate) mod recorded;
pub(crate) mod registry;
pub(crate) mod seen;
pub(crate) mod sigstore;
pub(crate) mod skips;
pub(crate) mod stage;
pub(crate) mod story;
pub(crate) mod stub;
pub(crate) mod tarball;
pub(crate) mod webdriver;

use std::io::{ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) use seen::property;

/// The repository's folder.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The program under test.
pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_metalmark"))
}

/// The search path of a run that finds the program under test on it, before everything else.
pub(crate) fn search_path() -> String {
    let folder = binary().parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{path}", folder.display())
}

/// How often a test repeats itself, or how much it moves: the first number in plain `cargo test`, the second where
/// `METALMARK_LONG` is set to 1, and N times the second where it is N.
pub(crate) fn rounds(short: u64, long: u64) -> u64 {
    let given = std::env::var("METALMARK_LONG").ok();
    let times: Option<u64> = given.and_then(|times| times.parse().ok());
    match times {
        None | Some(0) => short,
        Some(times) => long * times,
    }
}

/// Whether long tests take their long form: see [`rounds`].
pub(crate) fn is_long() -> bool {
    rounds(0, 1) > 0
}

/// A run of the binary, described step by step.
pub(crate) struct Metalmark {
    command: Command,
    folder: PathBuf,
}

/// What a run came to.
pub(crate) struct Outcome {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Metalmark {
    /// A run in that folder, untouched by the developer's environment.
    pub(crate) fn within(folder: &Path) -> Self {
        let mut command = Command::new(binary());
        command.current_dir(folder).env_clear().stdin(Stdio::null());
        Self {
            command,
            folder: folder.to_owned(),
        }
    }

    pub(crate) fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.command.args(args);
        self
    }

    /// Sets variables.
    pub(crate) fn envs(mut self, variables: &[(&str, &str)]) -> Self {
        self.command.envs(variables.iter().copied());
        self
    }

    /// Runs it with that text on stdin.
    pub(crate) fn run_with(mut self, input: &str) -> Outcome {
        let mut file = tempfile::tempfile().expect("a scratch file");
        file.write_all(input.as_bytes()).expect("written");
        file.rewind().expect("a file");
        self.command.stdin(file);
        self.run()
    }

    /// Runs it with that many letters in a pipe on stdin; and whether it read them all.
    pub(crate) fn run_fed(mut self, letters: usize) -> (Outcome, bool) {
        let pipes = self.command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut input = child.stdin.take().expect("a pipe");
        let piece = [b'x'; 64 << 10];
        let mut left = letters;
        while left > 0 {
            let now = left.min(piece.len());
            match input.write_all(&piece[..now]) {
                Ok(()) => left -= now,
                Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
                Err(error) => panic!("the pipe: {error}"),
            }
        }
        drop(input);
        let output = child.wait_with_output().expect("it ends");
        (self.outcome(output), left == 0)
    }

    /// Runs it. The folder's own path reads `[FOLDER]` in what it printed.
    pub(crate) fn run(mut self) -> Outcome {
        let output = self.command.output().expect("the binary starts");
        self.outcome(output)
    }

    fn outcome(&self, output: Output) -> Outcome {
        let Output {
            status,
            stdout,
            stderr,
        } = output;
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("output is UTF-8");
            text.replace(&self.folder.to_string_lossy().into_owned(), "[FOLDER]")
        };
        Outcome {
            status: status.code().expect("not killed"),
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }
}

/// A shell with metalmark on its PATH and the variables of a runner.
pub(crate) fn shell(folder: &Path, variables: &[(&str, &str)], script: &str) -> Output {
    Command::new("sh")
        .args(["-euc", script])
        .current_dir(folder)
        .env_clear()
        .envs(variables.iter().copied())
        .env("PATH", search_path())
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("sh runs")
}

/// A scratch copy of a folder of the repository.
pub(crate) fn copy_of(folder: &Path) -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    copy_into(folder, scratch.path());
    scratch
}

/// Copies what a folder holds into another one.
pub(crate) fn copy_into(folder: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("created");
    for entry in walkdir::WalkDir::new(folder).min_depth(1) {
        let entry = entry.expect("readable");
        let to = to.join(entry.path().strip_prefix(folder).expect("below"));
        if entry.path_is_symlink() {
            let target = std::fs::read_link(entry.path()).expect("a link");
            std::os::unix::fs::symlink(target, to).expect("linked");
        } else if entry.file_type().is_dir() {
            std::fs::create_dir_all(to).expect("created");
        } else {
            std::fs::copy(entry.path(), to).expect("copied");
        }
    }
}

/// Compares a text with a golden file; `BLESS=1` writes it instead.
pub(crate) fn golden(file: &Path, actual: &str) {
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("created");
        std::fs::write(file, actual).expect("written");
        return;
    }
    let expected = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        expected == actual,
        "{} differs (BLESS=1 rewrites it):\n{}",
        file.display(),
        similar::TextDiff::from_lines(&expected, actual)
            .unified_diff()
            .header("expected", "actual")
    );
}
