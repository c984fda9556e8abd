//! An editing session on a fleet: `cargo bench --bench editor -- [CLUSTERS …]`.
//!
//! Runs the release binary's language server as an editor does. A person opens a cluster's values, deletes its Kubernetes version
//! letter by letter and types it again, then types a key that is new, which leaves the document half typed; then opens the values
//! that all clusters share, and does the same with a key there. After each letter the time is taken until the first diagnostics of
//! the document, and until those of the whole fleet are those of the new text. Prints medians and maxima, and the server's peak
//! memory.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::unwrap_used, reason = "what is missing ends it")]

#[path = "fleet/generator.rs"]
mod generator;

use std::fs;
use std::io::BufReader;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use lsp_server::{Message, Notification, Request};
use serde_json::{Value, json};

/// Half of its letters leave the document no valid YAML.
const KEY: &str = "note_of_the_day: a value";

/// The server.
struct Server {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// The number of the last request.
    number: i32,
    /// The version of the document that was changed last.
    version: i32,
}

fn main() {
    let words = std::env::args().skip(1);
    let mut sizes: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![100, 1000, 10_000];
    }
    println!("| clusters | what | median ms | most ms | peak MiB |\n|--:|---|--:|--:|--:|");
    for clusters in sizes {
        session(clusters);
    }
}

fn session(clusters: usize) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    generator::write_fleet(&root, clusters, 0);
    let (own, shared) = (own(&root), root.join("values.yaml"));
    let start = Instant::now();
    let mut server = Server::start(&root);
    let text = server.open(&own);
    server.settle(&own);
    let first = vec![start.elapsed()];
    let (version, all) = server.edit(&own, version_again(&text));
    let (_, half_typed) = server.edit(&own, key_below(&text));
    let text = server.open(&shared);
    server.settle(&shared);
    let (_, behind) = server.edit(&shared, key_below(&text));
    let peak = server.end();
    for (what, mut times) in [
        ("start to first diagnostics", first),
        ("a letter typed in a cluster's version: that file", version),
        ("a letter typed in a cluster's version: the fleet", all),
        (
            "a letter typed in a new key of a cluster: the fleet",
            half_typed,
        ),
        ("a letter typed in the values of all: the fleet", behind),
    ] {
        times.sort();
        let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        println!(
            "| {clusters} | {what} | {:.0} | {:.0} | {peak} |",
            ms(median),
            ms(most)
        );
    }
}

/// The Kubernetes version of a cluster's values, deleted and typed again.
fn version_again(text: &str) -> Vec<Value> {
    let mut lines = text.lines().enumerate();
    let is_version = |(_, line): &(usize, &str)| line.trim_start().starts_with("k8s_version: ");
    let (number, line) = lines.find(is_version).unwrap();
    let start = line.find(": ").unwrap() + 3;
    let deleted = (start..line.len())
        .rev()
        .map(|column| json!({ "range": range(number, column, column + 1), "text": "" }));
    let typed = (start..line.len()).map(
        |column| json!({ "range": range(number, column, column), "text": line[column..=column] }),
    );
    deleted.chain(typed).collect()
}

/// A key that is typed at the end of a file.
fn key_below(text: &str) -> Vec<Value> {
    let line = text.lines().count();
    let letters = KEY.chars().enumerate();
    let changes = letters.map(|(column, letter)| {
        json!({ "range": range(line, column, column), "text": letter.to_string() })
    });
    changes.collect()
}

fn range(line: usize, from: usize, to: usize) -> Value {
    json!({
        "start": { "line": line, "character": from },
        "end": { "line": line, "character": to },
    })
}

/// The values of a cluster in the middle.
fn own(root: &Path) -> std::path::PathBuf {
    let folders = fs::read_dir(root.join("clusters")).unwrap();
    let mut folders: Vec<_> = folders.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders[folders.len() / 2].join("values.yaml")
}

fn uri(path: &Path) -> String {
    url::Url::from_file_path(path).unwrap().to_string()
}

impl Server {
    fn start(root: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metalmark"));
        let pipes = command
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let mut server = Self {
            to: child.stdin.take().unwrap(),
            from: BufReader::new(child.stdout.take().unwrap()),
            child,
            number: 0,
            version: 0,
        };
        let folders = json!([{ "uri": uri(root), "name": "fleet" }]);
        server.request(
            "initialize",
            json!({ "capabilities": {}, "workspaceFolders": folders }),
            "",
        );
        server.notify("initialized", json!({}));
        server
    }

    fn notify(&mut self, method: &str, params: Value) {
        let method = method.to_owned();
        let message = Message::from(Notification { method, params });
        message.write(&mut self.to).unwrap();
    }

    /// Sends a request, and waits for its answer; when diagnostics of the file came first, if any did.
    fn request(&mut self, method: &str, params: Value, file: &str) -> Option<Instant> {
        self.number += 1;
        let (id, method) = (self.number.into(), method.to_owned());
        let message = Message::from(Request { id, method, params });
        message.write(&mut self.to).unwrap();
        let mut first = None;
        loop {
            match Message::read(&mut self.from).unwrap().unwrap() {
                Message::Response(_) => return first,
                Message::Notification(notification) if notification.params["uri"] == file => {
                    first.get_or_insert_with(Instant::now);
                }
                _ => {}
            }
        }
    }

    fn open(&mut self, path: &Path) -> String {
        let text = fs::read_to_string(path).unwrap();
        let document =
            json!({ "uri": uri(path), "languageId": "yaml", "version": 0, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        text
    }

    /// Waits until everything that was typed is checked; when diagnostics of the file came first, if any did.
    fn settle(&mut self, path: &Path) -> Option<Instant> {
        let document = json!({ "textDocument": { "uri": uri(path) } });
        self.request("textDocument/documentSymbol", document, &uri(path))
    }

    /// Changes an open document letter by letter: the times until its own diagnostics have changed, and until all have. A letter
    /// that changes none of its own has no first time.
    fn edit(&mut self, path: &Path, changes: Vec<Value>) -> (Vec<Duration>, Vec<Duration>) {
        let (mut first, mut all) = (Vec::new(), Vec::new());
        for change in changes {
            self.version += 1;
            let start = Instant::now();
            self.notify(
                "textDocument/didChange",
                json!({
                    "textDocument": { "uri": uri(path), "version": self.version },
                    "contentChanges": [change],
                }),
            );
            let own = self.settle(path);
            first.extend(own.map(|own| own - start));
            all.push(start.elapsed());
        }
        (first, all)
    }

    /// Ends the session; the most memory that it had, in MiB.
    fn end(mut self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        self.request("shutdown", Value::Null, "");
        self.notify("exit", Value::Null);
        self.child.wait().unwrap();
        peak.unwrap_or_default() / 1024
    }
}
