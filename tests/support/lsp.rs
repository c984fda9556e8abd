//! An editor as the protocol sees it, with a project of the stage: it runs the real binary and counts positions in its own way.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use lsp_server::{Message, Notification, Request, RequestId, Response, ResponseError};
use serde_json::{Value, json};
use snapbox::Data;

use super::binary;
use super::stage::{Stage, assert_text};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// An editor with one folder.
pub(crate) struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<Message>,
    folder: PathBuf,
    next: i32,
    /// The texts of open documents.
    texts: BTreeMap<String, String>,
    versions: i32,
    /// What the server has sent last, by file.
    diagnostics: BTreeMap<String, Vec<Value>>,
    /// The files that it has sent diagnostics of, in this order.
    pub(crate) published: Vec<String>,
    /// The methods of everything else that it has sent.
    pub(crate) received: Vec<String>,
    /// What it can do.
    pub(crate) capabilities: Value,
}

/// What an editor of today says of itself.
pub(crate) fn usual() -> Value {
    json!({
        "textDocument": { "hover": { "contentFormat": ["markdown", "plaintext"] } },
        "workspace": {
            "didChangeWatchedFiles": { "dynamicRegistration": true },
            "inlayHint": { "refreshSupport": true },
        },
        "window": { "workDoneProgress": true },
    })
}

impl Client {
    /// A session of a usual editor that has begun, with these files open.
    pub(crate) fn start(stage: &Stage, files: &[&str]) -> Self {
        let mut client = Self::start_under(&[], stage, &usual());
        for file in files {
            client.open(file);
        }
        client
    }

    /// A session that has begun, with a program that runs and watches the server.
    pub(crate) fn start_under(watcher: &[&OsStr], stage: &Stage, capabilities: &Value) -> Self {
        let mut client = Self::spawn(watcher, stage.path());
        let root = client.uri("");
        let params = json!({
            "processId": null,
            "capabilities": capabilities,
            "workspaceFolders": [{ "uri": root, "name": "fleet" }],
        });
        let answer = client.request("initialize", params).expect("it starts");
        client.capabilities = answer["capabilities"].clone();
        client.notify("initialized", json!({}));
        client
    }

    /// The program before its first message.
    fn spawn(watcher: &[&OsStr], folder: &Path) -> Self {
        let server = [binary().as_os_str(), "lsp".as_ref()];
        let mut line = watcher.iter().chain(&server);
        let mut command = Command::new(line.next().expect("a program"));
        command.args(line).env_clear();
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.spawn().expect("the binary starts");
        let (to, from) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            while let Ok(Some(message)) = Message::read(&mut from) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            to,
            from: receiver,
            folder: folder.canonicalize().expect("a folder"),
            next: 0,
            texts: BTreeMap::new(),
            versions: 0,
            diagnostics: BTreeMap::new(),
            published: Vec::new(),
            received: Vec::new(),
            capabilities: Value::Null,
        }
    }

    pub(crate) fn uri(&self, file: &str) -> String {
        let url = url::Url::from_file_path(self.folder.join(file)).expect("an absolute path");
        url.to_string()
    }

    /// The file below the folder that an address names.
    fn file(&self, uri: &Value) -> String {
        let url = url::Url::parse(uri.as_str().expect("a text")).expect("an address");
        let path = url.to_file_path().expect("a file");
        let below = path
            .strip_prefix(&self.folder)
            .expect("a file of the project");
        below.to_string_lossy().into_owned()
    }

    pub(crate) fn send(&mut self, message: Message) {
        let to = self.to.as_mut().expect("the session goes on");
        message.write(to).expect("it is taken");
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let method = method.to_owned();
        self.send(Notification { method, params }.into());
    }

    /// Sends a request and answers with its number.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let id = RequestId::from(self.next);
        let request = Request {
            id: id.clone(),
            method: method.to_owned(),
            params,
        };
        self.send(request.into());
        id
    }

    /// The answer to a request.
    pub(crate) fn end(&mut self, wanted: &RequestId) -> Result<Value, ResponseError> {
        loop {
            match self.from.recv_timeout(PATIENCE).expect("an answer") {
                Message::Response(Response {
                    id,
                    response_result,
                }) if id == *wanted => {
                    return response_result;
                }
                Message::Response(response) => panic!("an answer to nothing: {response:?}"),
                Message::Notification(note) => self.noted(note),
                Message::Request(request) => {
                    self.received.push(request.method);
                    self.send(Response::new_ok(request.id, Value::Null).into());
                }
            }
        }
    }

    fn noted(&mut self, note: Notification) {
        if note.method == "textDocument/publishDiagnostics" {
            let file = self.file(&note.params["uri"]);
            let found = note.params["diagnostics"].as_array().expect("a list");
            self.published.push(file.clone());
            self.diagnostics.insert(file, found.clone());
        } else {
            self.received.push(note.method);
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, ResponseError> {
        let id = self.begin(method, params);
        self.end(&id)
    }

    /// Opens a file with the text that it has on disk.
    pub(crate) fn open(&mut self, file: &str) {
        let text = fs::read_to_string(self.folder.join(file)).expect("a text");
        self.open_as(file, &text);
    }

    /// Opens a file with a text.
    pub(crate) fn open_as(&mut self, file: &str, text: &str) {
        let document = json!({
            "uri": self.uri(file), "languageId": "yaml", "version": 0, "text": text,
        });
        self.texts.insert(file.to_owned(), text.to_owned());
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Types: replaces the one occurrence of a text by another.
    pub(crate) fn replace(&mut self, file: &str, old: &str, new: &str) {
        let text = &self.texts[file];
        assert_eq!(text.matches(old).count(), 1, "`{old}` in {file}");
        let start = text.find(old).expect("it is there");
        let range = json!({
            "start": position(text, start), "end": position(text, start + old.len()),
        });
        let changed = text.replacen(old, new, 1);
        self.texts.insert(file.to_owned(), changed);
        self.versions += 1;
        let uri = self.uri(file);
        let params = json!({
            "textDocument": { "uri": uri, "version": self.versions },
            "contentChanges": [{ "range": range, "text": new }],
        });
        self.notify("textDocument/didChange", params);
    }

    /// Makes the edits of an answer in open documents, and on disk in others.
    pub(crate) fn apply(&mut self, edit: &Value) {
        let changes = edit["changes"].as_object().expect("changes").clone();
        for (uri, edits) in changes {
            let file = self.file(&Value::from(uri));
            let path = self.folder.join(&file);
            let is_open = self.texts.contains_key(&file);
            let mut text = if is_open {
                self.texts[&file].clone()
            } else {
                fs::read_to_string(&path).expect("a text")
            };
            for edit in edits.as_array().expect("edits") {
                let (start, end) = bytes(&text, &edit["range"]);
                text.replace_range(start..end, edit["newText"].as_str().expect("a text"));
            }
            if is_open {
                self.versions += 1;
                let params = json!({
                    "textDocument": { "uri": self.uri(&file), "version": self.versions },
                    "contentChanges": [{ "text": text }],
                });
                self.texts.insert(file, text);
                self.notify("textDocument/didChange", params);
            } else {
                fs::write(path, text).expect("written");
                self.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
            }
        }
    }

    /// The findings in a file once everything that was typed is checked, each as `severity code: text of its range`.
    pub(crate) fn findings(&mut self, file: &str) -> Vec<String> {
        let found = self.settled(file);
        let text = self.text(file);
        let line = |found: &Value| {
            let (start, end) = bytes(&text, &found["range"]);
            let severity = match found["severity"].as_i64() {
                Some(1) => "error",
                _ => "warning",
            };
            let code = found["code"].as_str().expect("a code");
            format!("{severity} {code}: {}", &text[start..end])
        };
        found.iter().map(line).collect()
    }

    /// The diagnostics of a file once everything that was typed is checked.
    pub(crate) fn settled(&mut self, file: &str) -> Vec<Value> {
        self.symbols(file);
        self.diagnostics.get(file).cloned().unwrap_or_default()
    }

    /// The files that have diagnostics.
    pub(crate) fn files_with_findings(&self) -> Vec<&str> {
        let found = self
            .diagnostics
            .iter()
            .filter(|(_, found)| !found.is_empty());
        found.map(|(file, _)| &**file).collect()
    }

    /// A document's outline: `name: detail`.
    pub(crate) fn symbols(&mut self, file: &str) -> Vec<String> {
        let params = json!({ "textDocument": { "uri": self.uri(file) } });
        let answer = self
            .request("textDocument/documentSymbol", params)
            .expect("symbols");
        let symbols = answer.as_array().cloned().unwrap_or_default();
        let line = |symbol: &Value| {
            format!(
                "{}: {}",
                text_of(&symbol["name"]),
                text_of(&symbol["detail"])
            )
        };
        symbols.iter().map(line).collect()
    }

    /// Says that a file is saved.
    pub(crate) fn save(&mut self, file: &str) {
        let params = json!({ "textDocument": { "uri": self.uri(file) } });
        self.notify("textDocument/didSave", params);
    }

    /// The names of the symbols of all projects that a query finds, once everything that was typed is checked.
    pub(crate) fn names(&mut self, query: &str) -> Vec<String> {
        let found = self.request("workspace/symbol", json!({ "query": query }));
        let found = found.expect("symbols");
        let names = found.as_array().into_iter().flatten();
        names.map(|one| text_of(&one["name"]).to_owned()).collect()
    }

    /// Where `|` is in a part of a file's text.
    fn at(&self, file: &str, part: &str) -> Value {
        let (before, behind) = part.split_once('|').expect("a cursor");
        let part = format!("{before}{behind}");
        let text = self.text(file);
        assert_eq!(text.matches(&part).count(), 1, "`{part}` in {file}");
        let start = text.find(&part).expect("it is there");
        position(&text, start + before.len())
    }

    /// A request about a place: `|` in a part of a file's text.
    pub(crate) fn about(&mut self, method: &str, file: &str, part: &str) -> Value {
        let params = json!({
            "textDocument": { "uri": self.uri(file) },
            "position": self.at(file, part),
            "context": { "includeDeclaration": false, "triggerKind": 1 },
        });
        self.request(method, params).expect("an answer")
    }

    /// The hover at a place, as text.
    pub(crate) fn hover(&mut self, file: &str, part: &str) -> String {
        let answer = self.about("textDocument/hover", file, part);
        text_of(&answer["contents"]["value"]).to_owned()
    }

    /// Places as `file: text of the range`.
    pub(crate) fn places(&mut self, method: &str, file: &str, part: &str) -> Vec<String> {
        let answer = self.about(method, file, part);
        let places = answer.as_array().expect("places").clone();
        let line = |place: &Value| {
            let file = self.file(&place["uri"]);
            let text = self.text(&file);
            let (start, end) = bytes(&text, &place["range"]);
            format!("{file}: {}", &text[start..end])
        };
        places.iter().map(line).collect()
    }

    /// What is offered at a place: `label (detail)`, in the order that an editor shows.
    pub(crate) fn completion(&mut self, file: &str, part: &str) -> Vec<String> {
        let answer = self.about("textDocument/completion", file, part);
        let mut items = answer.as_array().expect("items").clone();
        items.sort_by_key(|item| text_of(&item["sortText"]).to_owned());
        let line = |item: &Value| match &item["detail"] {
            Value::Null => text_of(&item["label"]).to_owned(),
            detail => format!("{} ({})", text_of(&item["label"]), text_of(detail)),
        };
        items.iter().map(line).collect()
    }

    /// Waits until the server has sent a notification or a request once more than this often.
    pub(crate) fn wait_for(&mut self, method: &str, before: usize) {
        while self.count(method) <= before {
            match self.from.recv_timeout(PATIENCE).expect("a message") {
                Message::Notification(note) => self.noted(note),
                Message::Request(request) => {
                    self.received.push(request.method);
                    self.send(Response::new_ok(request.id, Value::Null).into());
                }
                Message::Response(response) => panic!("an answer to nothing: {response:?}"),
            }
        }
    }

    /// How often the server has sent something.
    pub(crate) fn count(&self, method: &str) -> usize {
        let received = self.received.iter();
        received.filter(|received| *received == method).count()
    }

    /// What can be done about a file's findings: titles and edits.
    pub(crate) fn actions(&mut self, file: &str) -> Vec<(String, Value)> {
        let text = self.text(file);
        let (start, end) = (position(&text, 0), position(&text, text.len()));
        self.actions_within(file, &start, &end)
    }

    /// What can be done at a place.
    pub(crate) fn actions_at(&mut self, file: &str, part: &str) -> Vec<(String, Value)> {
        let at = self.at(file, part);
        self.actions_within(file, &at, &at)
    }

    fn actions_within(&mut self, file: &str, start: &Value, end: &Value) -> Vec<(String, Value)> {
        let params = json!({
            "textDocument": { "uri": self.uri(file) },
            "range": { "start": start, "end": end },
            "context": { "diagnostics": [] },
        });
        let answer = self
            .request("textDocument/codeAction", params)
            .expect("actions");
        let actions = answer.as_array().expect("actions");
        let one = |action: &Value| (text_of(&action["title"]).to_owned(), action["edit"].clone());
        actions.iter().map(one).collect()
    }

    /// The hints of a file: `line: hint`.
    pub(crate) fn hints(&mut self, file: &str) -> Vec<String> {
        let text = self.text(file);
        let params = json!({
            "textDocument": { "uri": self.uri(file) },
            "range": { "start": position(&text, 0), "end": position(&text, text.len()) },
        });
        let answer = self
            .request("textDocument/inlayHint", params)
            .expect("hints");
        let hints = answer.as_array().expect("hints");
        let line = |hint: &Value| {
            let (end, _) = bytes(
                &text,
                &json!({ "start": hint["position"], "end": hint["position"] }),
            );
            let line = text[..end].lines().last().unwrap_or_default();
            assert!(text[end..].is_empty() || text[end..].starts_with(['\n', '\r']));
            format!("{} {}", line.trim(), text_of(&hint["label"]))
        };
        hints.iter().map(line).collect()
    }

    /// The text of a file as the editor has it.
    pub(crate) fn text(&self, file: &str) -> String {
        let open = self.texts.get(file).cloned();
        open.unwrap_or_else(|| fs::read_to_string(self.folder.join(file)).expect("a text"))
    }

    /// Ends the session, and answers with the exit status.
    pub(crate) fn shutdown(mut self) -> i32 {
        self.request("shutdown", Value::Null).expect("it answers");
        self.exit()
    }

    /// Says that the program may go, and answers with the exit status.
    pub(crate) fn exit(mut self) -> i32 {
        self.notify("exit", Value::Null);
        drop(self.to.take());
        let status = self.child.wait().expect("it ends");
        status.code().expect("not killed")
    }
}

/// Compares lines with a snapshot.
#[track_caller]
pub(crate) fn assert_lines(lines: &[impl AsRef<str>], expected: impl Into<Data>) {
    let lines = lines.iter().map(|line| format!("{}\n", line.as_ref()));
    assert_text(&lines.collect::<String>(), expected);
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A position in UTF-16, counted from the text's start.
fn position(text: &str, offset: usize) -> Value {
    let before = text[..offset].replace("\r\n", "\n");
    let line = before.matches('\n').count();
    let last = before.rsplit('\n').next().unwrap_or_default();
    json!({ "line": line, "character": last.encode_utf16().count() })
}

/// The bytes of a range in UTF-16.
fn bytes(text: &str, range: &Value) -> (usize, usize) {
    let offset = |position: &Value| {
        let mut offsets = (0..=text.len()).filter(|offset| text.is_char_boundary(*offset));
        let found = offsets.find(|offset| self::position(text, *offset) == *position);
        found.unwrap_or_else(|| panic!("{position} is not a position"))
    };
    (offset(&range["start"]), offset(&range["end"]))
}
