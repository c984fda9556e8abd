//! A session with one editor: messages in, answers and diagnostics out.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crossbeam_channel::{after, never, select};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self as notifications, Notification as _};
use lsp_types::request::{self as requests, Request as _};
use lsp_types::{
    Diagnostic, DidChangeTextDocumentParams, DidChangeWatchedFilesRegistrationOptions,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    FileSystemWatcher, GlobPattern, InitializeParams, NumberOrString, ProgressParams,
    ProgressParamsValue, PublishDiagnosticsParams, Registration, RegistrationParams,
    WorkDoneProgress, WorkDoneProgressBegin, WorkDoneProgressCreateParams, WorkDoneProgressEnd,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::budget::Turn;
use crate::error::Error;
use crate::model::date::Date;
use crate::printer::plain;

use super::answers::{file, uri};
use super::client::{Client, capabilities, folders};
use super::position::Lines;
use super::projects::{Document, Documents, Outcome, Project, Projects};
use super::rolls::Bases;

/// A session.
pub(super) struct Session<'c> {
    connection: &'c Connection,
    pub(super) client: Client,
    pub(super) documents: Documents,
    pub(super) projects: Projects,
    /// What the client was last sent, by file.
    published: BTreeMap<PathBuf, Vec<Diagnostic>>,
    /// The requests that wait for the end of a check.
    pub(super) waiting: Vec<Request>,
    today: &'c dyn Fn() -> Date,
    bases: Arc<Bases>,
    /// Whether the client shows inlay hints: only they show comparisons.
    pub(super) shows_hints: bool,
    /// The number of the next request to the client.
    next: i32,
    /// Whether the client has said that the session ends.
    has_shut_down: bool,
}

/// An answer that is an error of the protocol.
pub(super) type Refused = (ErrorCode, String);

/// Serves one editor until it ends the session. Returns whether it sent `shutdown` before `exit`. A session may last for days:
/// each check takes the day from `today`. `bases` is started before a sandbox is.
///
/// # Errors
/// The client does not follow the protocol, or is gone.
pub fn serve(
    connection: &Connection,
    bases: Bases,
    today: &dyn Fn() -> Date,
) -> Result<bool, Error> {
    let broken = |error: lsp_server::ProtocolError| {
        Error::usage(format!("the client of `metalmark lsp`: {error}"))
    };
    let (id, params) = connection.initialize_start().map_err(broken)?;
    let params: InitializeParams = serde_json::from_value(params).map_err(|error| {
        Error::usage(format!("the client's `initialize` is not valid: {error}"))
    })?;
    let client = Client::new(&params);
    let answer = json!({
        "capabilities": capabilities(&client),
        "serverInfo": { "name": "metalmark", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, answer).map_err(broken)?;
    let mut session = Session {
        connection,
        client,
        documents: Documents::new(),
        projects: Projects::new(),
        published: BTreeMap::new(),
        waiting: Vec::new(),
        today,
        bases: Arc::new(bases),
        shows_hints: false,
        next: 0,
        has_shut_down: false,
    };
    for folder in folders(&params) {
        session.projects.open_folder(&folder);
    }
    session.watch();
    Ok(session.run())
}

impl Session<'_> {
    /// Returns whether the client sent `shutdown` before `exit`.
    fn run(mut self) -> bool {
        let (messages, outcomes) = (
            self.connection.receiver.clone(),
            self.projects.outcomes.clone(),
        );
        loop {
            let turn = Turn::begin();
            let first = self.projects.start(&self.documents, (self.today)());
            for project in first {
                self.progress(project, true);
            }
            self.answer_waiting();
            drop(turn);
            let pause = self.projects.pause().filter(|_| self.shows_hints);
            let pause = pause.map_or_else(never, after);
            select! {
                recv(messages) -> message => match message {
                    Ok(Message::Request(request)) => {
                        self.take_request(request);
                    }
                    Ok(Message::Notification(notification)) => {
                        if notification.method == notifications::Exit::METHOD {
                            return self.has_shut_down;
                        }
                        self.take_notification(notification);
                    }
                    Ok(Message::Response(_)) => {}
                    Err(_) => return false,
                },
                recv(outcomes) -> outcome => {
                    if let Ok(outcome) = outcome {
                        self.finish(outcome);
                    }
                },
                recv(pause) -> _ => self.projects.compare(&self.bases, (self.today)()),
            }
        }
    }

    /// Takes a request.
    fn take_request(&mut self, request: Request) {
        if self.has_shut_down {
            let message = "the session is over".to_owned();
            self.respond(request.id, Err((ErrorCode::InvalidRequest, message)));
        } else if request.method == requests::Shutdown::METHOD {
            self.has_shut_down = true;
            self.respond(request.id, Ok(Value::Null));
        } else {
            self.waiting.push(request);
        }
    }

    /// Takes a notification. One that is not valid, or not known, changes nothing.
    fn take_notification(&mut self, notification: Notification) {
        let _turn = Turn::begin();
        let Notification { method, params } = notification;
        match &*method {
            notifications::DidOpenTextDocument::METHOD => {
                if let Some(params) = parse_params::<DidOpenTextDocumentParams>(params) {
                    let document = params.text_document;
                    self.open(&document.uri, document.version, document.text);
                }
            }
            notifications::DidChangeTextDocument::METHOD => {
                if let Some(params) = parse_params(params) {
                    self.change(params);
                }
            }
            notifications::DidCloseTextDocument::METHOD => {
                let params = parse_params::<DidCloseTextDocumentParams>(params);
                if let Some(path) = params.and_then(|params| file(&params.text_document.uri)) {
                    self.documents.remove(&path);
                    self.projects.mark_stale();
                }
            }
            notifications::DidSaveTextDocument::METHOD
            | notifications::DidChangeWatchedFiles::METHOD => self.projects.disk_changed(),
            notifications::DidChangeWorkspaceFolders::METHOD => {
                if let Some(params) = parse_params::<DidChangeWorkspaceFoldersParams>(params) {
                    let removed = params.event.removed.iter();
                    for folder in removed.filter_map(|folder| file(&folder.uri)) {
                        self.projects.close_folder(&folder);
                    }
                    self.publish();
                    let added = params.event.added.iter();
                    for folder in added.filter_map(|folder| file(&folder.uri)) {
                        self.projects.open_folder(&folder);
                    }
                }
            }
            notifications::Cancel::METHOD => self.cancel(&params),
            _ => {}
        }
    }

    fn open(&mut self, uri: &lsp_types::Uri, version: i32, text: String) {
        if let Some(path) = file(uri) {
            self.projects.find_project(&path);
            let text = text.into();
            self.documents.insert(path, Document { text, version });
            self.projects.mark_stale();
        }
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) {
        let Some(path) = file(&params.text_document.uri) else {
            return;
        };
        let Some(document) = self.documents.get_mut(&path) else {
            return;
        };
        let mut text = document.text.to_string();
        for change in params.content_changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let lines = Lines::new(&text, self.client.encoding);
                    let start = lines.offset(range.start);
                    let end = lines.offset(range.end).max(start);
                    text.replace_range(start..end, &change.text);
                }
            }
        }
        document.text = text.into();
        document.version = params.text_document.version;
        self.projects.mark_stale();
    }

    /// Forgets a request that waits.
    fn cancel(&mut self, params: &Value) {
        let id: Option<RequestId> = params.get("id").cloned().and_then(parse_params);
        let is_canceled = |request: &Request| Some(&request.id) == id.as_ref();
        if let Some(index) = self.waiting.iter().position(is_canceled) {
            let request = self.waiting.remove(index);
            let message = "canceled".to_owned();
            self.respond(request.id, Err((ErrorCode::RequestCanceled, message)));
        }
    }

    /// Takes the result of a check, and sends what it has changed.
    fn finish(&mut self, outcome: Outcome) {
        let _turn = Turn::begin();
        let number = outcome.project;
        let Project {
            failure, is_first, ..
        } = &self.projects.all[number];
        let (failure, was_first) = (failure.clone(), *is_first);
        let has_other_hints = self.projects.finish(outcome, self.client.encoding);
        if has_other_hints && self.client.refreshes_hints {
            self.request::<requests::InlayHintRefreshRequest>(&());
        }
        if was_first && !self.projects.all[number].is_first {
            self.progress(number, false);
        }
        let project = &self.projects.all[number];
        if let Some(message) = &project.failure
            && project.failure != failure
        {
            let message = format!("{}: {message}", project.root.display());
            self.notify::<notifications::ShowMessage>(&json!({ "type": 1, "message": message }));
        }
        self.publish();
    }

    /// Sends the diagnostics of files where they are not what the client has.
    fn publish(&mut self) {
        let mut now: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
        for project in &self.projects.all {
            for (path, found) in &project.diagnostics {
                let known = now.entry(path.clone()).or_default();
                // What two projects say of one file; by its text, for diagnostics have no order.
                let mut seen: HashSet<(String, u32, u32)> = HashSet::new();
                let mut is_new = |one: &Diagnostic| {
                    let at = one.range.start;
                    seen.insert((one.message.clone(), at.line, at.character))
                };
                known.retain(&mut is_new);
                known.extend(found.iter().filter(|one| is_new(one)).cloned());
            }
        }
        let paths: BTreeSet<PathBuf> = now.keys().chain(self.published.keys()).cloned().collect();
        for path in paths {
            let found = now.get(&path).cloned().unwrap_or_default();
            if self.published.get(&path).unwrap_or(&Vec::new()) != &found {
                self.send_diagnostics(&path, found);
            }
        }
        now.retain(|_, found| !found.is_empty());
        self.published = now;
    }

    fn send_diagnostics(&self, path: &Path, diagnostics: Vec<Diagnostic>) {
        let Some(uri) = uri(path) else {
            return;
        };
        let version = self.documents.get(path).map(|document| document.version);
        let params = PublishDiagnosticsParams {
            uri,
            diagnostics,
            version,
        };
        self.notify::<notifications::PublishDiagnostics>(&params);
    }

    pub(super) fn respond(&self, id: RequestId, answer: Result<Value, Refused>) {
        let response = match answer {
            Ok(value) => Response::new_ok(id, sanitize(value)),
            Err((code, message)) => Response::new_err(id, code as i32, plain(&message)),
        };
        self.send(response.into());
    }

    fn notify<N: notifications::Notification>(&self, params: &impl Serialize) {
        let params = sanitize(serde_json::to_value(params).unwrap_or_default());
        let method = N::METHOD.to_owned();
        self.send(Notification { method, params }.into());
    }

    fn request<R: requests::Request>(&mut self, params: &impl Serialize) {
        self.next += 1;
        let request = Request {
            id: self.next.into(),
            method: R::METHOD.to_owned(),
            params: serde_json::to_value(params).unwrap_or_default(),
        };
        self.send(request.into());
    }

    fn send(&self, message: Message) {
        // A client that is gone is noticed where its messages are received.
        let _ = self.connection.sender.send(message);
    }

    /// Requests that the client reports changed files.
    fn watch(&mut self) {
        if !self.client.watches_files {
            return;
        }
        let pattern = "**/*.{yaml,yml,json,lock,tpl,toml}".to_owned();
        let options = DidChangeWatchedFilesRegistrationOptions {
            watchers: vec![FileSystemWatcher {
                glob_pattern: GlobPattern::String(pattern),
                kind: None,
            }],
        };
        let registration = Registration {
            id: "files".to_owned(),
            method: notifications::DidChangeWatchedFiles::METHOD.to_owned(),
            register_options: serde_json::to_value(options).ok(),
        };
        let registrations = vec![registration];
        self.request::<requests::RegisterCapability>(&RegistrationParams { registrations });
    }

    /// Shows that a project is read for the first time, or that it was.
    fn progress(&mut self, project: usize, is_start: bool) {
        if !self.client.shows_progress {
            return;
        }
        let token = NumberOrString::String(format!("metalmark/{project}"));
        let progress = if is_start {
            let token = token.clone();
            let create = WorkDoneProgressCreateParams { token };
            self.request::<requests::WorkDoneProgressCreate>(&create);
            WorkDoneProgress::Begin(WorkDoneProgressBegin {
                title: "metalmark: reading the project".to_owned(),
                ..WorkDoneProgressBegin::default()
            })
        } else {
            WorkDoneProgress::End(WorkDoneProgressEnd::default())
        };
        let value = ProgressParamsValue::WorkDone(progress);
        self.notify::<notifications::Progress>(&ProgressParams { token, value });
    }
}

/// What the client is sent: every text without secrets, and without characters that an editor obeys. Addresses stay, and so does
/// the text of edits, which have none.
fn sanitize(mut value: Value) -> Value {
    match &mut value {
        Value::String(text) => *text = plain(text),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| *item = sanitize(item.take())),
        Value::Object(map) => {
            let entries = map.iter_mut();
            let is_shown = |name: &str| !["uri", "newText"].contains(&name);
            for (_, value) in entries.filter(|(name, _)| is_shown(name)) {
                *value = sanitize(value.take());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    value
}

fn parse_params<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}
