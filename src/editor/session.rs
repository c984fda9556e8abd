//! A session with one editor: messages in, answers and diagnostics out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crossbeam_channel::select;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self as notifications, Notification as _};
use lsp_types::request::{self as requests, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionParams, CompletionOptions, CompletionParams,
    Diagnostic, DidChangeTextDocumentParams, DidChangeWatchedFilesRegistrationOptions,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DocumentSymbolParams, FileSystemWatcher, GlobPattern, GotoDefinitionParams, HoverParams,
    HoverProviderCapability, InitializeParams, InlayHintParams, MarkupKind, NumberOrString, OneOf,
    ProgressParams, ProgressParamsValue, PublishDiagnosticsParams, ReferenceParams, Registration,
    RegistrationParams, ServerCapabilities, TextDocumentPositionParams, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressCreateParams, WorkDoneProgressEnd, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities, WorkspaceSymbolParams,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::Url;

use crate::error::Error;
use crate::model::policy::Date;
use crate::printer::plain;

use super::actions;
use super::answers::{Answers, file};
use super::position::{Encoding, Lines};
use super::projects::{Document, Documents, Outcome, Project, Projects};
use super::symbols;

/// What the client can do.
#[derive(Default)]
struct Client {
    encoding: Encoding,
    markup: Option<MarkupKind>,
    shows_progress: bool,
    watches_files: bool,
}

/// A session.
struct Session<'c> {
    connection: &'c Connection,
    client: Client,
    documents: Documents,
    projects: Projects,
    /// What the client was last sent, by file.
    published: BTreeMap<PathBuf, Vec<Diagnostic>>,
    /// The requests that wait for the end of a check.
    waiting: Vec<Request>,
    today: Date,
    /// The number of the next request to the client.
    next: i32,
    /// Whether the client has said that the session ends.
    has_shut_down: bool,
}

/// An answer that is an error of the protocol.
type Refused = (ErrorCode, String);

/// Serves one editor until it ends the session. Answers whether it did so in the right order.
///
/// # Errors
/// The client does not follow the protocol, or is gone.
pub fn serve(connection: &Connection, today: Date) -> Result<bool, Error> {
    let broken = |error: lsp_server::ProtocolError| {
        Error::usage(format!("the client of `metalmark lsp`: {error}"))
    };
    let (id, params) = connection.initialize_start().map_err(broken)?;
    let params: InitializeParams = serde_json::from_value(params).map_err(|error| {
        Error::usage(format!("the client's `initialize` is not valid: {error}"))
    })?;
    let client = Client::of(&params);
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
        next: 0,
        has_shut_down: false,
    };
    for folder in folders(&params) {
        session.projects.open_folder(&folder);
    }
    session.watch();
    Ok(session.run())
}

impl Client {
    fn of(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let general = capabilities.general.as_ref();
        let document = capabilities.text_document.as_ref();
        let hover = document.and_then(|document| document.hover.as_ref());
        let markup = hover.and_then(|hover| hover.content_format.as_ref()?.first().cloned());
        let workspace = capabilities.workspace.as_ref();
        let watched = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        let window = capabilities.window.as_ref();
        Self {
            encoding: Encoding::of_client(
                general.and_then(|general| general.position_encodings.as_deref()),
            ),
            markup,
            shows_progress: window.and_then(|window| window.work_done_progress) == Some(true),
            watches_files: watched.and_then(|watched| watched.dynamic_registration) == Some(true),
        }
    }
}

fn capabilities(client: &Client) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(client.encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                save: Some(true.into()),
                ..TextDocumentSyncOptions::default()
            },
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([" ", ":"].map(str::to_owned).into()),
            ..CompletionOptions::default()
        }),
        code_action_provider: Some(
            CodeActionOptions {
                code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, actions::FIX_ALL]),
                ..CodeActionOptions::default()
            }
            .into(),
        ),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    }
}

/// The folders that the client has opened.
fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    #[expect(deprecated, reason = "older clients say it in no other way")]
    let root = params.root_uri.iter();
    match &params.workspace_folders {
        Some(folders) if !folders.is_empty() => folders
            .iter()
            .filter_map(|folder| file(&folder.uri))
            .collect(),
        _ => root.filter_map(file).collect(),
    }
}

impl Session<'_> {
    /// Answers whether the client ended the session in the right order.
    fn run(mut self) -> bool {
        let (messages, outcomes) = (
            self.connection.receiver.clone(),
            self.projects.outcomes.clone(),
        );
        loop {
            let first = self.projects.start(&self.documents, self.today);
            for project in first {
                self.progress(project, true);
            }
            self.answer_waiting();
            select! {
                recv(messages) -> message => match message {
                    Ok(Message::Request(request)) => {
                        self.requested(request);
                    }
                    Ok(Message::Notification(notification)) => {
                        if notification.method == notifications::Exit::METHOD {
                            return self.has_shut_down;
                        }
                        self.notified(notification);
                    }
                    Ok(Message::Response(_)) => {}
                    Err(_) => return false,
                },
                recv(outcomes) -> outcome => {
                    if let Ok(outcome) = outcome {
                        self.finish(outcome);
                    }
                }
            }
        }
    }

    /// Takes a request.
    fn requested(&mut self, request: Request) {
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
    fn notified(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match &*method {
            notifications::DidOpenTextDocument::METHOD => {
                if let Some(params) = parsed::<DidOpenTextDocumentParams>(params) {
                    let document = params.text_document;
                    self.open(&document.uri, document.version, document.text);
                }
            }
            notifications::DidChangeTextDocument::METHOD => {
                if let Some(params) = parsed(params) {
                    self.change(params);
                }
            }
            notifications::DidCloseTextDocument::METHOD => {
                let params = parsed::<DidCloseTextDocumentParams>(params);
                if let Some(path) = params.and_then(|params| file(&params.text_document.uri)) {
                    self.documents.remove(&path);
                    self.projects.changed();
                }
            }
            notifications::DidSaveTextDocument::METHOD
            | notifications::DidChangeWatchedFiles::METHOD => self.projects.changed(),
            notifications::DidChangeWorkspaceFolders::METHOD => {
                if let Some(params) = parsed::<DidChangeWorkspaceFoldersParams>(params) {
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
            self.projects.of_file(&path);
            let text = text.into();
            self.documents.insert(path, Document { text, version });
            self.projects.changed();
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
        self.projects.changed();
    }

    /// Forgets a request that waits.
    fn cancel(&mut self, params: &Value) {
        let id: Option<RequestId> = params.get("id").cloned().and_then(parsed);
        let is_canceled = |request: &Request| Some(&request.id) == id.as_ref();
        if let Some(index) = self.waiting.iter().position(is_canceled) {
            let request = self.waiting.remove(index);
            let message = "canceled".to_owned();
            self.respond(request.id, Err((ErrorCode::RequestCanceled, message)));
        }
    }

    /// Takes the result of a check, and sends what it has changed.
    fn finish(&mut self, outcome: Outcome) {
        let number = self.projects.finish(outcome, self.client.encoding);
        if std::mem::take(&mut self.projects.all[number].is_first) {
            self.progress(number, false);
        }
        let project = &self.projects.all[number];
        if let Some(failure) = &project.failure {
            let message = format!("{}: {failure}", project.root.display());
            self.notify::<notifications::LogMessage>(&json!({ "type": 1, "message": message }));
        }
        self.publish();
    }

    /// Sends the diagnostics of files where they are not what the client has.
    fn publish(&mut self) {
        let mut now: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
        for project in &self.projects.all {
            for (path, found) in &project.diagnostics {
                let known = now.entry(path.clone()).or_default();
                for diagnostic in found {
                    if !known.contains(diagnostic) {
                        known.push(diagnostic.clone());
                    }
                }
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
        let Some(uri) = Url::from_file_path(path)
            .ok()
            .and_then(|url| url.as_str().parse().ok())
        else {
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

    /// Answers the requests that wait for nothing any more.
    fn answer_waiting(&mut self) {
        let mut waiting = Vec::new();
        for request in std::mem::take(&mut self.waiting) {
            match self.waits(&request) {
                true => waiting.push(request),
                false => {
                    let answer = self.answer(&request);
                    self.respond(request.id, answer);
                }
            }
        }
        self.waiting = waiting;
    }

    /// Whether a request is about something that is being checked. Completion is for text that is typed right now, which waits
    /// for the first check only.
    fn waits(&mut self, request: &Request) -> bool {
        let is_typed = request.method == requests::Completion::METHOD;
        match self.project_of(&request.params) {
            Some((_, project)) if is_typed => project.is_first,
            Some((_, project)) => !project.is_fresh(),
            None if request.method == requests::WorkspaceSymbolRequest::METHOD => {
                !self.projects.all.iter().all(Project::is_fresh)
            }
            None => false,
        }
    }

    /// The file that a request is about, and its project.
    fn project_of(&mut self, params: &Value) -> Option<(PathBuf, &Project)> {
        let uri = params.get("textDocument")?.get("uri")?.as_str()?;
        let path = file(&uri.parse().ok()?)?;
        let number = self.projects.of_file(&path)?;
        Some((path, &self.projects.all[number]))
    }

    fn answer(&mut self, request: &Request) -> Result<Value, Refused> {
        if request.method == requests::WorkspaceSymbolRequest::METHOD {
            let params: WorkspaceSymbolParams = valid(&request.params)?;
            let analyses = self
                .projects
                .all
                .iter()
                .filter_map(|project| project.analysis.as_ref());
            let found: Vec<_> = analyses
                .flat_map(|analysis| symbols::named(analysis, &params.query, self.client.encoding))
                .collect();
            return to_value(&found);
        }
        if !ABOUT_DOCUMENTS.contains(&&*request.method) {
            let message = format!("`{}` is not known", request.method);
            return Err((ErrorCode::MethodNotFound, message));
        }
        let Some((file, project)) = self.project_of(&request.params) else {
            return Ok(Value::Null);
        };
        let (Some(analysis), Some(path)) = (project.analysis.clone(), project.named(&file)) else {
            return Ok(Value::Null);
        };
        let Some(document) = self.documents.get(&file) else {
            return Ok(Value::Null);
        };
        let answers = Answers {
            analysis: &analysis,
            encoding: self.client.encoding,
            path: &path,
            text: &document.text,
        };
        self.about(&answers, request)
    }

    /// The answer to a request about a document.
    fn about(&self, answers: &Answers<'_>, request: &Request) -> Result<Value, Refused> {
        let params = &request.params;
        let offset = |at: &TextDocumentPositionParams| answers.offset(at.position);
        let failed = |error: Error| (ErrorCode::RequestFailed, error.to_string());
        match &*request.method {
            requests::HoverRequest::METHOD => {
                let params: HoverParams = valid(params)?;
                let markup = self.client.markup.clone().unwrap_or(MarkupKind::Markdown);
                let at = offset(&params.text_document_position_params);
                to_value(&answers.hover(at, &markup).map_err(failed)?)
            }
            requests::GotoDefinition::METHOD => {
                let params: GotoDefinitionParams = valid(params)?;
                let at = offset(&params.text_document_position_params);
                to_value(&answers.definition(at).map_err(failed)?)
            }
            requests::References::METHOD => {
                let params: ReferenceParams = valid(params)?;
                let at = offset(&params.text_document_position);
                to_value(&answers.references(at, params.context.include_declaration))
            }
            requests::DocumentSymbolRequest::METHOD => {
                valid::<DocumentSymbolParams>(params)?;
                to_value(&answers.symbols())
            }
            requests::InlayHintRequest::METHOD => {
                let params: InlayHintParams = valid(params)?;
                to_value(&answers.hints(params.range))
            }
            requests::Completion::METHOD => {
                let params: CompletionParams = valid(params)?;
                let at = offset(&params.text_document_position);
                to_value(&answers.completion(at).map_err(failed)?)
            }
            _ => {
                let params: CodeActionParams = valid(params)?;
                let only = params.context.only.as_deref();
                to_value(&answers.actions(params.range, only))
            }
        }
    }

    fn respond(&self, id: RequestId, answer: Result<Value, Refused>) {
        let response = match answer {
            Ok(value) => Response::new_ok(id, shown(value)),
            Err((code, message)) => Response::new_err(id, code as i32, plain(&message)),
        };
        self.send(response.into());
    }

    fn notify<N: notifications::Notification>(&self, params: &impl Serialize) {
        let params = shown(serde_json::to_value(params).unwrap_or_default());
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
        let progress = match is_start {
            true => {
                let token = token.clone();
                let create = WorkDoneProgressCreateParams { token };
                self.request::<requests::WorkDoneProgressCreate>(&create);
                WorkDoneProgress::Begin(WorkDoneProgressBegin {
                    title: "metalmark: reading the project".to_owned(),
                    ..WorkDoneProgressBegin::default()
                })
            }
            false => WorkDoneProgress::End(WorkDoneProgressEnd::default()),
        };
        let value = ProgressParamsValue::WorkDone(progress);
        self.notify::<notifications::Progress>(&ProgressParams { token, value });
    }
}

/// The requests about a document.
const ABOUT_DOCUMENTS: [&str; 7] = [
    requests::HoverRequest::METHOD,
    requests::GotoDefinition::METHOD,
    requests::References::METHOD,
    requests::DocumentSymbolRequest::METHOD,
    requests::InlayHintRequest::METHOD,
    requests::Completion::METHOD,
    requests::CodeActionRequest::METHOD,
];

/// What the client is sent: every text without secrets, and without characters that an editor obeys. Addresses stay, and so does
/// the text of edits, which have none.
fn shown(mut value: Value) -> Value {
    match &mut value {
        Value::String(text) => *text = plain(text),
        Value::Array(items) => items.iter_mut().for_each(|item| *item = shown(item.take())),
        Value::Object(map) => {
            let entries = map.iter_mut();
            let is_shown = |name: &str| !["uri", "newText"].contains(&name);
            for (_, value) in entries.filter(|(name, _)| is_shown(name)) {
                *value = shown(value.take());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    value
}

fn parsed<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}

fn valid<T: DeserializeOwned>(params: &Value) -> Result<T, Refused> {
    T::deserialize(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn to_value(answer: &impl Serialize) -> Result<Value, Refused> {
    serde_json::to_value(answer).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}
