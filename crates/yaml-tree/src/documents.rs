//! Splits a text into documents as the engines do, and parses those that they read.

use std::ops::Range;

use crate::engine::Engine;
use crate::place::{FileId, Place};

use super::compose::{Composer, Values};
use super::notice::Notices;
use super::opaque::OPEN;
use super::{Documents, SyntaxError, json_text};

/// How git marks where a conflict begins.
const MARK: &str = "<<<<<<<";

/// The maximum size of a text, in bytes.
const SIZE: usize = 16 << 20;

/// Parses a text as an engine does. What begins with a brace is JSON for kubectl, and YAML where it is no JSON: kubectl since
/// 1.33, which prints such YAML itself (<https://kubernetes.io/docs/reference/encodings/kyaml/>), and kustomize read it so.
///
/// # Errors
/// The first syntax error for the engine, or a text that is too large or nested too deeply.
pub fn read(text: &str, file: FileId, engine: Engine) -> Result<Documents, SyntaxError> {
    let has_labels = check_text(text, file)?;
    if engine == Engine::Kubectl
        && text.trim_start().starts_with('{')
        && let Ok(documents) = json_text::read(text, file, has_labels)
    {
        return Ok(documents);
    }
    let parts = split(text, file, engine)?;
    let (mut documents, mut notices) = (Vec::with_capacity(parts.len()), Notices::default());
    let mut values = Values::default();
    for part in parts {
        let mut composer = Composer::new(&text[..part.end], part.start, file, engine);
        composer.has_labels = has_labels;
        composer.notices = notices;
        composer.values = values;
        let document = composer.document().map_err(|error| {
            conflict(text, file).unwrap_or_else(|| with_quoting_help(error, text))
        })?;
        let text_of_document = document.value.as_str();
        if text_of_document.is_some_and(|own| own.starts_with(MARK))
            && let Some(error) = conflict(text, file)
        {
            return Err(error);
        }
        documents.push(document);
        (notices, values) = (composer.notices, composer.values);
    }
    Ok(Documents {
        documents,
        notices: notices.finish(),
    })
}

/// The ranges that are parsed separately. Helm 4 and kubectl split at lines that start with `---` before they parse any YAML
/// (<https://pkg.go.dev/k8s.io/apimachinery/pkg/util/yaml#YAMLReader>); Helm 3 does not.
pub(super) fn split(
    text: &str,
    file: FileId,
    engine: Engine,
) -> Result<Vec<Range<usize>>, SyntaxError> {
    let mut parts = Vec::new();
    if engine.is_helm3() {
        parts.push(0..text.len());
        return Ok(parts);
    }
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let line_end = at + line.len();
        if let Some(rest) = line.strip_prefix("---") {
            let rest = rest.trim();
            if !rest.is_empty() && !rest.starts_with('#') {
                let place = Place {
                    file,
                    start: at as u32,
                    end: (at + line.trim_end().len()) as u32,
                };
                let message = "only a comment may follow `---`".to_owned();
                return Err(SyntaxError::new(message, place));
            }
            if at > start {
                parts.push(start..at);
                start = line_end;
            }
        }
        at = line_end;
    }
    if at > start {
        parts.push(start..at);
    }
    Ok(parts)
}

/// Refuses characters that YAML does not allow (<https://yaml.org/spec/1.1/#c-printable>), and a text that is too large. Whether
/// there are labels of secrets.
fn check_text(text: &str, file: FileId) -> Result<bool, SyntaxError> {
    let place = |start: usize, end: usize| Place {
        file,
        start: start as u32,
        end: end as u32,
    };
    if text.len() > SIZE {
        let message = format!("the file is larger than {} MiB", SIZE >> 20);
        return Err(SyntaxError::new(message, place(0, 0)));
    }
    let (mut from, mut has_labels) = (0, false);
    let bytes = text.as_bytes();
    while let Some(index) = next_suspect(bytes, from) {
        has_labels |= text[index..].starts_with(OPEN);
        let width = match bytes[index] {
            // Allowed are NEL and U+00A0 on; U+FFFE and U+FFFF are not allowed.
            0xC2 if bytes[index + 1] >= 0xA0 || bytes[index + 1] == 0x85 => 0,
            0xC2 => 2,
            0xEF if bytes[index + 1] == 0xBF && bytes[index + 2] >= 0xBE => 3,
            0xEF => 0,
            _ => 1,
        };
        if width > 0 {
            let code = text[index..].chars().next().map_or(0, u32::from);
            let message = format!("the control character U+{code:04X} is not allowed in YAML");
            return Err(SyntaxError::new(message, place(index, index + width)));
        }
        from = index + 1;
    }
    Ok(has_labels)
}

/// The index of the next byte that may be, or start, a character that YAML does not allow.
fn next_suspect(bytes: &[u8], from: usize) -> Option<usize> {
    /// The number of bytes that are tested at once, without a branch for each.
    const CHUNK: usize = 32;
    let mut start = from;
    for chunk in bytes[from..].chunks(CHUNK) {
        let any = chunk
            .iter()
            .fold(false, |any, byte| any | is_suspect(*byte));
        if any {
            let within = chunk.iter().position(|byte| is_suspect(*byte));
            return within.map(|within| start + within);
        }
        start += chunk.len();
    }
    None
}

/// Whether the byte is an ASCII control character, or may start a character that is not allowed.
fn is_suspect(byte: u8) -> bool {
    let control = (byte < 32) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
    control | (byte == 127) | (byte == 0xC2) | (byte == 0xEF)
}

/// The first mark of a conflict that git left in a text: whatever else is wrong with the text follows from it.
fn conflict(text: &str, file: FileId) -> Option<SyntaxError> {
    let inside = || Some(text.find(&format!("\n{MARK}"))? + 1);
    let is_first = text.starts_with(MARK);
    let start = Some(0).filter(|_| is_first).or_else(inside)?;
    let end = text[start..]
        .find(['\n', '\r'])
        .map_or(text.len(), |end| start + end);
    let message = "git left a conflict of a merge here".to_owned();
    let mut error = SyntaxError::from_range(text, file, start..end, message);
    error.help = Some(
        "keep one side of each conflict, and remove its marks: `<<<<<<<`, `=======`, `>>>>>>>`"
            .to_owned(),
    );
    Some(error)
}

/// Adds a help text if the line contains an unquoted expression, which is the most common cause of a syntax error in values.
fn with_quoting_help(mut error: SyntaxError, text: &str) -> SyntaxError {
    let start = (error.place.start as usize).min(text.len());
    error.place.end = error.place.end.min(text.len() as u32);
    error.place.start = start as u32;
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[line_start..].lines().next().unwrap_or_default();
    let unquoted = line.find("{{").is_some_and(|open| {
        let before = line[..open].trim_end();
        before.is_empty() || before.ends_with([':', '-', '[', ','])
    });
    if unquoted {
        error.help = Some("quote the expression: `'{{ … }}'`".to_owned());
    }
    error
}
