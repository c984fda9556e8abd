//! What the client says of itself, and what the server answers to that.

use std::path::PathBuf;

use lsp_types::{
    CodeActionKind, CodeActionOptions, CompletionOptions, HoverProviderCapability,
    InitializeParams, MarkupKind, OneOf, ServerCapabilities, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};

use super::actions;
use super::answers::file;
use super::position::Encoding;

/// What the client can do.
#[derive(Default)]
pub(super) struct Client {
    pub(super) encoding: Encoding,
    pub(super) markup: Option<MarkupKind>,
    pub(super) shows_progress: bool,
    pub(super) watches_files: bool,
    /// Whether it takes inlay hints again when the server says that they have changed.
    pub(super) refreshes_hints: bool,
}

impl Client {
    /// What `initialize` says.
    pub(super) fn new(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let general = capabilities.general.as_ref();
        let document = capabilities.text_document.as_ref();
        let hover = document.and_then(|document| document.hover.as_ref());
        let markup = hover.and_then(|hover| hover.content_format.as_ref()?.first().cloned());
        let workspace = capabilities.workspace.as_ref();
        let watched = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        let hints = workspace.and_then(|workspace| workspace.inlay_hint.as_ref());
        let window = capabilities.window.as_ref();
        Self {
            encoding: Encoding::negotiate(
                general.and_then(|general| general.position_encodings.as_deref()),
            ),
            markup,
            shows_progress: window.and_then(|window| window.work_done_progress) == Some(true),
            watches_files: watched.and_then(|watched| watched.dynamic_registration) == Some(true),
            refreshes_hints: hints.and_then(|hints| hints.refresh_support) == Some(true),
        }
    }
}

/// What this server does.
pub(super) fn capabilities(client: &Client) -> ServerCapabilities {
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
                code_action_kinds: Some(vec![
                    CodeActionKind::QUICKFIX,
                    actions::REWRITE,
                    actions::FIX_ALL,
                ]),
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
pub(super) fn folders(params: &InitializeParams) -> Vec<PathBuf> {
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
