//! Which requests wait for a check, and their answers.

use std::path::PathBuf;
use std::sync::Arc;

use lsp_server::{ErrorCode, Request};
use lsp_types::request::{self as requests, Request as _};
use lsp_types::{
    CodeActionParams, CompletionParams, DocumentSymbolParams, GotoDefinitionParams, HoverParams,
    InlayHintParams, MarkupKind, ReferenceParams, TextDocumentPositionParams,
    WorkspaceSymbolParams,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;

use super::answers::{Answers, file};
use super::projects::Project;
use super::session::{Refused, Session};
use super::symbols;

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

impl Session<'_> {
    /// Answers the requests that wait for nothing any more.
    pub(super) fn answer_waiting(&mut self) {
        let mut waiting = Vec::new();
        for request in std::mem::take(&mut self.waiting) {
            if self.waits(&request) {
                waiting.push(request)
            } else {
                let answer = self.answer(&request);
                self.respond(request.id, answer);
            }
        }
        self.waiting = waiting;
    }

    /// Whether a request is about something that is being checked. Completion is for text that is typed right now, which waits
    /// for the first check only.
    fn waits(&mut self, request: &Request) -> bool {
        let is_typed = request.method == requests::Completion::METHOD;
        match self.project_of(&request.params) {
            Some((path, project)) => {
                let is_checked = !is_typed && !project.is_fresh();
                is_checked || self.projects.is_first(&path)
            }
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
        let number = self.projects.find_project(&path)?;
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
                .flat_map(|analysis| symbols::search(analysis, &params.query, self.client.encoding))
                .collect();
            return to_value(&found);
        }
        self.shows_hints |= request.method == requests::InlayHintRequest::METHOD;
        if !ABOUT_DOCUMENTS.contains(&&*request.method) {
            let message = format!("`{}` is not known", request.method);
            return Err((ErrorCode::MethodNotFound, message));
        }
        let Some((file, project)) = self.project_of(&request.params) else {
            return Ok(Value::Null);
        };
        let (Some(analysis), Some(path)) = (project.analysis.clone(), project.relative_path(&file))
        else {
            return Ok(Value::Null);
        };
        let (problems, rolls) = (Arc::clone(&project.problems), project.rolls.clone());
        let Some(document) = self.documents.get(&file) else {
            return Ok(Value::Null);
        };
        let answers = Answers {
            analysis: &analysis,
            problems: &problems,
            rolls: &rolls,
            encoding: self.client.encoding,
            path: &path,
            text: &document.text,
        };
        self.answer_document(&answers, request)
    }

    /// The answer to a request about a document.
    fn answer_document(&self, answers: &Answers<'_>, request: &Request) -> Result<Value, Refused> {
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
                to_value(&answers.actions(params.range, only).map_err(failed)?)
            }
        }
    }
}

fn valid<T: DeserializeOwned>(params: &Value) -> Result<T, Refused> {
    T::deserialize(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn to_value(answer: &impl Serialize) -> Result<Value, Refused> {
    serde_json::to_value(answer).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}
