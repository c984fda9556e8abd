//! Programs that run metalmark, or that run because of it. Each gets the same bytes: of a workspace as the command writes it, as
//! a stream, inside Argo CD and from the KRM function.

mod argocd;
pub(crate) mod argocd_server;
mod hooks;
mod krm;
pub(crate) mod pages;
mod pipelines;
mod releases;
mod renovate;
mod waves;

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

use metalmark::model::ownership::body;

use super::support::stage::{Stage, project};

/// Argo CD's own user, which its sidecar runs as.
const ARGOCD: u32 = 999;

/// The demo workspace, for an application at its top.
fn demo() -> Stage {
    let demo = project().folder("fixtures/workspaces/sylva-baremetal");
    demo.variable("ARGOCD_APP_SOURCE_PATH", ".")
}

/// Runs a copy of a program as Argo CD's own user, where the test may become it.
fn run_as_argocd<T>(
    command: impl Fn() -> Command,
    run: impl Fn(&mut Command) -> io::Result<T>,
) -> T {
    loop {
        let result = match run(command().uid(ARGOCD).gid(ARGOCD)) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => run(&mut command()),
            other => other,
        };
        match result {
            // Another test that forks holds the copy open for writing until it becomes another program.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(20));
            }
            other => return other.expect("it starts"),
        }
    }
}

/// Documents by the path of their file, in their order there.
type Files = BTreeMap<String, Vec<String>>;

/// The documents of one file's text.
fn documents(text: &str) -> Vec<String> {
    let parts = text.split("\n---\n");
    parts
        .map(|part| format!("{}\n", part.trim_end_matches('\n')))
        .collect()
}

/// What a stream holds, by the paths that it names.
fn read_stream(stream: &str) -> Files {
    let mut files = Files::new();
    for part in format!("\n{stream}").split("\n---\n# ").skip(1) {
        let (path, text) = part.split_once('\n').expect("a path");
        files.insert(path.to_owned(), documents(text));
    }
    files
}

#[test]
fn every_host_gets_the_same_bytes() {
    let demo = demo();
    let stream = |words: &str| {
        let run = demo.run_with(words, &[("ARGOCD_ENV_SCOPE", "all")]);
        read_stream(&run.exit(0).outcome.stdout)
    };
    let streams = ["render --stdout", "cmp generate"].map(stream);
    let list = demo.feed("fn", krm::GENERATOR).exit(0).outcome.stdout;
    assert_eq!(demo.list("rendered"), [""; 0], "only `render` writes");
    demo.run("render").exit(0);
    let files = demo.list("rendered").into_iter();
    let objects = files.filter(|path| path.ends_with(".yaml"));
    let paths = objects.map(|path| format!("rendered/{path}"));
    let expected: Files = paths
        .map(|path| (path.clone(), documents(body(&demo.read(&path)))))
        .collect();
    assert!(expected.len() > 4, "{:?}", expected.keys());
    assert_eq!(streams, [expected.clone(), expected.clone()]);
    assert_eq!(krm::files(&list), expected);
}

/// `kubectl apply` takes no values, so they are in a stream only where nothing else is rendered.
#[test]
fn a_stream_of_values_alone_is_printed() {
    let stream = demo().run("render --stdout --target helm-values --out out");
    let stream = stream.exit(0).outcome.stdout;
    assert!(stream.contains("cluster:\n"), "{stream}");
}
