//! An editing session on a fleet: `cargo bench --bench editor -- [CLUSTERS …]`.
//!
//! Runs the release binary's language server as an editor does. A person opens a cluster's values, and types another image key letter
//! by letter; then opens the values that all clusters share, and changes them. After each letter the time is taken until the
//! diagnostics of the whole fleet are those of the new text. Prints medians and maxima, and the server's peak memory.
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

const LETTERS: usize = 24;

/// The server, and what its last messages said.
struct Server {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    number: i32,
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
    let typed = server.type_letters(&own, &text);
    let text = server.open(&shared);
    server.settle(&shared);
    let behind = server.type_letters(&shared, &text);
    let peak = server.end();
    for (what, times) in [
        ("start to first diagnostics", first),
        ("a letter in one cluster's values", typed),
        ("a letter in the values of all", behind),
    ] {
        let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        println!(
            "| {clusters} | {what} | {:.0} | {:.0} | {peak} |",
            ms(median),
            ms(most)
        );
    }
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
        };
        let folders = json!([{ "uri": uri(root), "name": "fleet" }]);
        server.request(
            "initialize",
            json!({ "capabilities": {}, "workspaceFolders": folders }),
        );
        server.notify("initialized", json!({}));
        server
    }

    fn notify(&mut self, method: &str, params: Value) {
        let method = method.to_owned();
        let message = Message::from(Notification { method, params });
        message.write(&mut self.to).unwrap();
    }

    fn request(&mut self, method: &str, params: Value) {
        self.number += 1;
        let (id, method) = (self.number.into(), method.to_owned());
        let message = Message::from(Request { id, method, params });
        message.write(&mut self.to).unwrap();
        while !matches!(
            Message::read(&mut self.from).unwrap().unwrap(),
            Message::Response(_)
        ) {}
    }

    fn open(&mut self, path: &Path) -> String {
        let text = fs::read_to_string(path).unwrap();
        let document =
            json!({ "uri": uri(path), "languageId": "yaml", "version": 0, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        text
    }

    /// Waits until everything that was typed is checked.
    fn settle(&mut self, path: &Path) {
        let document = json!({ "textDocument": { "uri": uri(path) } });
        self.request("textDocument/documentSymbol", document);
    }

    /// Types a comment and a key at the end of a file; the times in order.
    fn type_letters(&mut self, path: &Path, text: &str) -> Vec<Duration> {
        let line = text.lines().count();
        let mut times = Vec::new();
        for (column, letter) in "note_of_the_day: a value".chars().take(LETTERS).enumerate() {
            let at = json!({ "line": line, "character": column });
            let change = json!({ "range": { "start": at, "end": at }, "text": letter.to_string() });
            let start = Instant::now();
            self.notify(
                "textDocument/didChange",
                json!({
                    "textDocument": { "uri": uri(path), "version": column + 1 },
                    "contentChanges": [change],
                }),
            );
            self.settle(path);
            times.push(start.elapsed());
        }
        times.sort();
        times
    }

    /// Ends the session; the most memory that it had, in MiB.
    fn end(mut self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.child.wait().unwrap();
        peak.unwrap_or_default() / 1024
    }
}
