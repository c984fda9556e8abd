//! The engines that are compared with: `tests/interop/helm`, built by Go once for each minor of Helm.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value as Json;
use yaml_tree::engine::Engine;

use crate::programs;
use crate::support::repository;

/// A minor of Helm, with the versions of the libraries that decide its answers: those of its own `go.mod`.
#[derive(Debug)]
pub(super) struct Minor {
    pub(super) name: &'static str,
    /// The one of ours that is to agree.
    pub(super) engine: Engine,
    pub(super) semver: &'static str,
    helm: &'static str,
    sigs_yaml: &'static str,
    go_yaml: &'static str,
    toml: &'static str,
}

const fn minor(
    name: &'static str,
    engine: Engine,
    helm: &'static str,
    [semver, sigs_yaml, go_yaml, toml]: [&'static str; 4],
) -> Minor {
    Minor {
        name,
        engine,
        semver,
        helm,
        sigs_yaml,
        go_yaml,
        toml,
    }
}

/// docs/oracle.md says who embeds them. A new row needs sums: `GOFLAGS=-mod=mod` on one run lets Go write them into
/// `target/tmp/helm-modules/*.sum`, from where they go into `tests/interop/helm/go.sum`.
pub(super) const MINORS: &[Minor] = &[
    minor(
        "3.17",
        Engine::Helm3_18,
        "v3.17.3",
        ["v3.3.0", "v1.4.0", "v2.4.2", "v1.4.0"],
    ),
    minor(
        "3.19",
        Engine::Helm3,
        "v3.19.4",
        ["v3.4.0", "v1.6.0", "v2.4.2", "v1.5.0"],
    ),
    minor(
        "4.1",
        Engine::Helm4,
        "v4.1.4",
        ["v3.4.0", "v1.6.0", "v2.4.3", "v1.6.0"],
    ),
    minor(
        "4.2",
        Engine::Helm4,
        "v4.2.2",
        ["v3.5.0", "v1.6.0", "v2.4.3", "v1.6.0"],
    ),
    minor(
        "4.3",
        Engine::Helm4,
        "v4.3.1",
        ["v3.5.0", "v1.6.0", "v2.4.4", "v1.6.0"],
    ),
];

impl Minor {
    fn major(&self) -> &'static str {
        &self.name[..1]
    }

    /// Where Go puts the program.
    fn program(&self) -> PathBuf {
        let name = format!("helm-{}{}", self.name, std::env::consts::EXE_SUFFIX);
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
    }

    /// The module file with this minor's versions in place of those that it names.
    fn modules(&self) -> String {
        let source = repository().join("tests/interop/helm/go.mod");
        let base = fs::read_to_string(source).expect("the module file");
        let helm = format!("helm.sh/helm/v{}", self.major());
        let versions = [
            (&*helm, self.helm),
            ("github.com/Masterminds/semver/v3", self.semver),
            ("sigs.k8s.io/yaml", self.sigs_yaml),
            ("go.yaml.in/yaml/v2", self.go_yaml),
            ("github.com/BurntSushi/toml", self.toml),
        ];
        let lines =
            versions.map(|(module, version)| format!("\nreplace {module} => {module} {version}"));
        base + &lines.concat() + "\n"
    }

    /// Builds the program; Go does nothing where it is built already.
    fn build(&self, go: &Path) -> bool {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("helm-modules");
        fs::create_dir_all(&folder).expect("a folder");
        let modules = folder.join(format!("{}.mod", self.name));
        let write = |path: &Path, text: &str| {
            if fs::read_to_string(path).is_ok_and(|written| written == text) {
                return;
            }
            fs::write(path, text).expect("a module file");
        };
        let source = repository().join("tests/interop/helm");
        let sums = fs::read_to_string(source.join("go.sum")).expect("the sums");
        write(&modules, &self.modules());
        write(&modules.with_extension("sum"), &sums);
        let status = Command::new(go)
            .current_dir(source)
            .args(["build", "-trimpath", "-buildvcs=false"])
            .arg(format!("-modfile={}", modules.display()))
            .arg(format!("-tags=helm{}", self.major()))
            .arg("-o")
            .arg(self.program())
            .arg(".")
            .env("CGO_ENABLED", "0")
            .status();
        status.is_ok_and(|status| status.success())
    }
}

/// Whether the programs of all minors can be started. They are built only where `METALMARK_DIFFERENTIAL` is set or
/// `METALMARK_REQUIRE` names `go`: a plain `cargo test` downloads no modules and does not compile for minutes.
pub(super) fn are_built() -> bool {
    static BUILT: OnceLock<bool> = OnceLock::new();
    *BUILT.get_or_init(|| {
        let required = std::env::var("METALMARK_REQUIRE").unwrap_or_default();
        let wanted = required.split([',', ' ']).any(|word| word == "go")
            || std::env::var_os("METALMARK_DIFFERENTIAL").is_some();
        if !wanted {
            return MINORS.iter().all(|minor| minor.program().is_file()) || missing("helm_engine");
        }
        let Some(go) = programs::find("go") else {
            return false;
        };
        MINORS.iter().all(|minor| minor.build(&go)) || missing("go")
    })
}

fn missing(name: &str) -> bool {
    programs::missing(name);
    false
}

/// What an engine answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Text(String),
    Error(String),
    /// The process ended: Go's stack, or the limits of `serve.go`.
    Death,
}

impl Answer {
    /// As it is printed: JSON of Go's and of ours in one spelling.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(text) => match serde_json::from_str::<Json>(text) {
                Ok(json) => json.to_string(),
                Err(_) => format!("{text:?}"),
            },
            Self::Error(message) => format!("error: {message}"),
            Self::Death => "the process ended".to_owned(),
        }
    }
}

/// A process that answers for one minor, started again where a request ends it.
pub(super) struct Server {
    pub(super) minor: &'static Minor,
    process: Option<Process>,
}

struct Process {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Server {
    pub(super) fn new(minor: &'static Minor) -> Self {
        Self {
            minor,
            process: None,
        }
    }

    /// An answer for each request.
    pub(super) fn evaluate(&mut self, batch: &[Json]) -> Vec<Answer> {
        let process = self.process.get_or_insert_with(|| {
            Process::start(&self.minor.program()).expect("the engine starts")
        });
        if let Some(answers) = process.evaluate(batch) {
            assert_eq!(answers.len(), batch.len(), "an answer for each request");
            return answers;
        }
        self.process = None;
        if batch.len() == 1 {
            return vec![Answer::Death];
        }
        let single = batch.chunks(1).map(|request| self.evaluate(request));
        single.collect::<Vec<_>>().concat()
    }
}

impl Process {
    fn start(program: &Path) -> Option<Self> {
        let mut child = Command::new(program)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        Some(Self {
            requests: child.stdin.take()?,
            answers: BufReader::new(child.stdout.take()?),
            child,
        })
    }

    fn evaluate(&mut self, batch: &[Json]) -> Option<Vec<Answer>> {
        #[derive(Deserialize)]
        struct Line {
            text: Option<String>,
            error: Option<String>,
        }
        let line = Json::from(batch.to_vec()).to_string() + "\n";
        self.requests.write_all(line.as_bytes()).ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        let lines: Vec<Line> = serde_json::from_str(&line).ok()?;
        let answers = lines.into_iter().map(|line| match line.text {
            Some(text) => Answer::Text(text),
            None => Answer::Error(line.error.unwrap_or_default()),
        });
        Some(answers.collect())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
