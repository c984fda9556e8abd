//! Edits that a person can take: what repairs a finding, a waiver in the project file, a key instead of a selector.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use lsp_types::{
    CodeAction, CodeActionKind, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    NumberOrString, Range, TextEdit, Uri, WorkspaceEdit,
};

use yaml_tree::edit::{Edit, Position as At, Target, edit};
use yaml_tree::engine::Engine;
use yaml_tree::place::Source;
use yaml_tree::value::Value;

use crate::edit::fix;
use crate::edit::texts::EditedFile;
use crate::error::Error;
use crate::files::Found;
use crate::model::fix::Fix;
use crate::model::policy::NO_REASON;
use crate::model::rule::Level;
use crate::printer;
use crate::read::PROJECT_FILE_NAME;

use super::answers::{self, Answers, Locations};
use super::navigation::meet;
use super::position::{Encoding, Lines};
use super::project::Problem;

/// How long a waiver holds that an editor writes, in months.
const MONTHS: u8 = 3;

/// Writes the same in another way.
pub(super) const REWRITE: CodeActionKind = CodeActionKind::REFACTOR_REWRITE;

/// Repairs everything in a document that has one certain edit.
pub(super) const FIX_ALL: CodeActionKind = CodeActionKind::SOURCE_FIX_ALL;

/// The diagnostic of a finding that has a place.
pub(super) fn diagnostic<'p>(
    problem: &'p Problem,
    locations: &mut Locations<'p>,
) -> Option<Diagnostic> {
    let range = match &problem.spot {
        Some(spot) => locations.location(spot)?.range,
        None => Range::default(),
    };
    let related = problem.related.iter().filter_map(|(spot, text)| {
        let message = match &**text {
            "" => "also here",
            text => text,
        };
        Some(DiagnosticRelatedInformation {
            location: locations.location(spot)?,
            message: message.to_owned(),
        })
    });
    let related: Vec<_> = related.collect();
    Some(Diagnostic {
        range,
        severity: Some(match problem.level {
            Level::Error => DiagnosticSeverity::ERROR,
            Level::Warning | Level::Off => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(problem.rule.as_str().to_owned())),
        source: Some("metalmark".to_owned()),
        message: problem.text.clone(),
        related_information: Some(related),
        ..Diagnostic::default()
    })
}

/// The diagnostic of a file that is wrong as a whole.
pub(super) fn error(message: String) -> Diagnostic {
    Diagnostic {
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some("metalmark".to_owned()),
        message,
        ..Diagnostic::default()
    }
}

impl Answers<'_> {
    /// What can be done about the findings in a range of the document, and with the selector at its start.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub(super) fn actions(
        &self,
        within: Range,
        only: Option<&[CodeActionKind]>,
    ) -> Result<Vec<CodeAction>, Error> {
        let is_wanted = |kind: &CodeActionKind| {
            let covers = |only: &CodeActionKind| {
                let rest = kind.as_str().strip_prefix(only.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            only.is_none_or(|only| only.iter().any(covers))
        };
        let mut actions = Vec::new();
        let here = self.here();
        for (problem, diagnostic) in &here {
            if meet(diagnostic.range, within) && is_wanted(&CodeActionKind::QUICKFIX) {
                actions.extend(self.fix(problem, diagnostic));
                actions.extend(self.waive(problem, diagnostic));
            }
        }
        if is_wanted(&REWRITE)
            && let Some(pin) = self.pin(self.offset(within.start))?
        {
            actions.extend(self.edit(&[pin.file]).map(|edit| CodeAction {
                title: format!("Pin `{}` instead of the selector", pin.key),
                kind: Some(REWRITE),
                edit: Some(edit),
                ..CodeAction::default()
            }));
        }
        if is_wanted(&FIX_ALL) {
            let fixes: Vec<Fix> = { here.iter() }
                .filter_map(|(problem, _)| problem.fix.clone())
                .collect();
            actions.extend(self.edit_of_fixes(&fixes).map(|edit| CodeAction {
                title: "Make every edit that metalmark is sure of".to_owned(),
                kind: Some(FIX_ALL),
                edit: Some(edit),
                ..CodeAction::default()
            }));
        }
        Ok(actions)
    }

    /// The findings in the document.
    fn here(&self) -> Vec<(&Problem, Diagnostic)> {
        let is_here = |problem: &&Problem| {
            let spot = problem.spot.as_ref();
            spot.is_some_and(|spot| *spot.source.path == *self.path.to_string_lossy())
        };
        let here = self.problems.iter().filter(is_here);
        let mut locations = Locations::new(self.analysis.root(), self.encoding);
        let with_diagnostic = |problem| {
            let diagnostic = diagnostic(problem, &mut locations)?;
            Some((problem, diagnostic))
        };
        here.filter_map(with_diagnostic).collect()
    }

    /// The edit that `check --fix` makes.
    fn fix(&self, problem: &Problem, diagnostic: &Diagnostic) -> Option<CodeAction> {
        let fix = problem.fix.as_ref()?;
        Some(CodeAction {
            title: format!("Set `{}`", fix.text),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![diagnostic.clone()]),
            edit: Some(self.edit_of_fixes(std::slice::from_ref(fix))?),
            is_preferred: Some(true),
            ..CodeAction::default()
        })
    }

    fn edit_of_fixes(&self, fixes: &[Fix]) -> Option<WorkspaceEdit> {
        let files = fix::all(fixes, self.analysis.workspace().engine).ok()?;
        if files.is_empty() {
            None
        } else {
            self.edit(&files)
        }
    }

    fn edit(&self, files: &[EditedFile]) -> Option<WorkspaceEdit> {
        let root = self.analysis.root();
        workspace_edit(files, self.encoding, |path| answers::uri(&root.join(path)))
    }

    /// The project file as it was read; none where there is none.
    fn project_file(&self) -> Option<Arc<Source>> {
        let found = self
            .analysis
            .workspace()
            .files
            .file(Path::new(PROJECT_FILE_NAME));
        let Ok(Found::File(content)) = found else {
            return None;
        };
        let text = std::str::from_utf8(content.plain()?).ok()?;
        Some(Arc::new(Source::new(PROJECT_FILE_NAME, text)))
    }

    /// An entry of `policy.waivers` that accepts the finding; it holds once a person has written why.
    fn waive(&self, problem: &Problem, diagnostic: &Diagnostic) -> Option<CodeAction> {
        let project = self.project_file()?;
        let subject = problem.subject.as_deref()?;
        let waiver: Value = serde_json::json!({
            "rule": problem.rule.as_str(),
            "where": subject,
            "reason": NO_REASON,
            "until": self.analysis.fleet.today.add_months(MONTHS).to_string(),
        })
        .into();
        let text = with_waiver(&project.text, waiver, self.analysis.workspace().engine)?;
        Some(CodeAction {
            title: format!(
                "Accept `{}` of `{subject}` with a waiver in the project file",
                problem.rule
            ),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![diagnostic.clone()]),
            edit: Some(self.edit(&[EditedFile {
                source: project,
                text,
            }])?),
            ..CodeAction::default()
        })
    }
}

/// A project file with another waiver.
fn with_waiver(text: &str, waiver: Value, engine: Engine) -> Option<String> {
    let list: Value = serde_json::json!([serde_json::Value::from(&waiver)]).into();
    let policy: Value = serde_json::json!({ "waivers": serde_json::Value::from(&list) }).into();
    let insert = |map: &[&str], key: &str, value: Value| Edit::Insert {
        map: Target::keys(map),
        key: key.to_owned(),
        value,
        position: At::Last,
    };
    let item = Edit::InsertItem {
        list: Target::keys(&["policy", "waivers"]),
        value: waiver,
        position: At::Last,
    };
    let tries = [
        item,
        insert(&["policy"], "waivers", list),
        insert(&[], "policy", policy),
    ];
    let mut made = tries.into_iter().map(|one| edit(text, engine, &[one]));
    made.find_map(Result::ok)
}

/// The edits that turn the texts of files into others; none where one of them would show a secret.
fn workspace_edit(
    files: &[EditedFile],
    encoding: Encoding,
    uri: impl Fn(&str) -> Option<Uri>,
) -> Option<WorkspaceEdit> {
    // A URI is the key because it is in the protocol; it is not changed while it is one.
    #[expect(clippy::mutable_key_type, reason = "the protocol's own type")]
    let mut changes = HashMap::new();
    for EditedFile { source, text } in files {
        let edit = difference(&source.text, text, encoding)?;
        changes.insert(uri(&source.path)?, vec![edit]);
    }
    let edit = WorkspaceEdit {
        changes: Some(changes),
        ..WorkspaceEdit::default()
    };
    Some(edit)
}

/// The one edit between two texts: what is the same at both ends stays.
fn difference(old: &str, new: &str, encoding: Encoding) -> Option<TextEdit> {
    let same = |(a, b): &(u8, u8)| a == b;
    let start = old.bytes().zip(new.bytes()).take_while(same).count();
    let start = old
        .floor_char_boundary(start)
        .min(new.floor_char_boundary(start));
    let ends = old[start..].bytes().rev().zip(new[start..].bytes().rev());
    let end = ends.take_while(same).count();
    let old_end = old.ceil_char_boundary(old.len() - end);
    let new_end = new.len() - (old.len() - old_end);
    let text = &new[start..new_end];
    let is_plain = text.split("\r\n").all(|line| printer::plain(line) == line);
    is_plain.then(|| TextEdit {
        range: Lines::new(old, encoding).range(start..old_end),
        new_text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::super::position::{Encoding, Lines};
    use super::difference;

    proptest! {
        #[test]
        fn an_edit_makes_the_new_text(old in "[ab\u{e9}\n]{0,12}", new in "[ab\u{e9}\n]{0,12}") {
            let edit = difference(&old, &new, Encoding::Utf16).expect("no secret");
            let lines = Lines::new(&old, Encoding::Utf16);
            let (start, end) = (lines.offset(edit.range.start), lines.offset(edit.range.end));
            let made = format!("{}{}{}", &old[..start], edit.new_text, &old[end..]);
            prop_assert_eq!(made, new);
        }
    }
}
