//! Reads one file of the workspace, and reports what is surprising in it.

use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::secrets;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place, Source, Sources, Spot};
use yaml_tree::suggest::did_you_mean;
use yaml_tree::value::{Node, Value};
use yaml_tree::{Documents, Misreading, Notice, NoticeKind, SyntaxError};

use crate::{budget, files};

use crate::error::Error;
use crate::files::{Content, Files, read_argument};
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};

use super::host_objects;

/// A file as text, with its secrets marked.
///
/// # Errors
/// It is not text.
pub(super) fn source(
    path: &Path,
    content: &Content,
    engine: Engine,
) -> Result<Source, Box<Finding>> {
    content.source(display(path), engine).map_err(|error| {
        let message = format!("`{}` is not text: {error}", display(path));
        Box::new(Finding::new(RuleId::YamlSyntax, message))
    })
}

/// The tree of a values file, which is added to `sources`. A file that is no YAML reads as an empty map, with the finding that
/// says where it breaks.
pub(super) fn values(
    files: &dyn Files,
    file: &Path,
    engine: Engine,
    sources: &mut Sources,
    findings: &mut Vec<Finding>,
) -> Result<Node, Error> {
    let empty = || Node::from_value(Value::empty_map());
    let _work = budget::enter(format!("the file `{}`", display(file)))?;
    let content = match files.content(file) {
        Err(Error::Read { cause, .. }) if cause.kind() == ErrorKind::FileTooLarge => {
            let message = format!("`{}` is not read: {cause}", display(file));
            findings.push(Finding::new(RuleId::YamlSyntax, message));
            return Ok(empty());
        }
        read => read?,
    };
    let tree = source(file, &content, engine).and_then(|source| {
        let source = Arc::new(source);
        let id = sources.add(Arc::clone(&source));
        if let Some(inventory) = host_objects::inventory(&source, id) {
            return Ok(inventory);
        }
        let read = secrets::documents(&source, id, engine);
        values_of(read, None, sources, findings)
    });
    Ok(tree.unwrap_or_else(|finding| {
        findings.push(*finding);
        empty()
    }))
}

/// The values of a text that was read, in a file that is one of `sources`. What would surprise their author is added to
/// `findings`. Where the text is not the whole file, `within` turns a place in it into one of the file.
///
/// # Errors
/// The text is no values file.
pub(super) fn values_of(
    read: Result<Documents, SyntaxError>,
    within: Option<&dyn Fn(Place) -> Place>,
    sources: &Sources,
    findings: &mut Vec<Finding>,
) -> Result<Node, Box<Finding>> {
    let at = |place| within.map_or(place, |within| within(place));
    let read = read.and_then(|read| Ok((read.values()?, read.notices)));
    let (tree, notices) = read.map_err(|mut error| {
        error.place = at(error.place);
        Box::new(syntax_finding(error, sources))
    })?;
    for mut notice in notices {
        notice.relocate(at);
        findings.extend(notice_finding(&notice, sources));
    }
    Ok(match within {
        Some(_) => tree.with_places(&mut |place| at(place)),
        None => tree,
    })
}

/// A path as it is shown: with slashes on every system, without a leading `./`.
pub(super) fn display(file: &Path) -> String {
    let text = file.to_string_lossy().replace('\\', "/");
    text.strip_prefix("./").map_or(text.clone(), str::to_owned)
}

/// What a path that leads to nothing may mean, with any of its parts misspelled.
pub(super) fn nearest_path(tree: &dyn Files, path: &Path) -> Option<PathBuf> {
    let missing = path.ancestors().take_while(|above| !tree.is_there(above));
    let Some(missing) = missing.last() else {
        return Some(path.to_owned());
    };
    let folder = missing.parent().unwrap_or(Path::new(""));
    let names = tree.folder(folder).ok().flatten().unwrap_or_default();
    let name = missing.file_name().unwrap_or_default().to_string_lossy();
    let others = names
        .iter()
        .map(String::as_str)
        .filter(|other| *other != name);
    // What files have in common at their ends makes no name nearer.
    let stem = |name: &str| {
        name.rsplit_once('.')
            .map_or(name.len(), |(stem, _)| stem.len())
    };
    let near = did_you_mean(&name, others)?;
    did_you_mean(&name[..stem(&name)], [&near[..stem(near)]])?;
    let rest = path.strip_prefix(missing).ok()?.components();
    let mut whole = folder.join(near);
    whole.extend(rest);
    nearest_path(tree, &whole)
}

/// What breaks a file.
pub(super) fn syntax_finding(error: SyntaxError, sources: &Sources) -> Finding {
    let spot = sources.resolve(error.place);
    Finding::from_syntax(error, spot)
}

/// What would surprise a file's author.
pub(super) fn notice_finding(notice: &Notice, sources: &Sources) -> Option<Finding> {
    let sealed = raw_finding(&notice.seal(), sources)?;
    Some(raw_finding(notice, sources)?.with_sealed(sealed))
}

fn raw_finding(notice: &Notice, sources: &Sources) -> Option<Finding> {
    let at = |place: Place| sources.resolve(place);
    Some(match &notice.kind {
        NoticeKind::DuplicateKey {
            key,
            first,
            same_value,
        } => {
            let (message, level, label) = if *same_value {
                (
                    format!("`{key}` occurs twice, with the same value"),
                    Level::Warning,
                    "again here",
                )
            } else {
                (
                    format!("`{key}` occurs twice, with different values"),
                    Level::Error,
                    "this one counts",
                )
            };
            Finding::new(RuleId::DuplicateKey, message)
                .with_label(at(notice.place), label)
                .with_label(at(*first), "first here")
                .help("remove one of the two")
                .unless_set(level)
        }
        NoticeKind::MergeReplaces { key, merged } => {
            let message = format!("`<<` replaces the value that `{key}` has further up");
            Finding::new(RuleId::ValueSurprising, message)
                .with_label(at(notice.place), "loses its value")
                .with_label(at(*merged), "to this one")
                .help("move `<<` to the top of the map, so that the map's own keys win")
        }
        NoticeKind::Misread {
            text,
            becomes,
            why,
            is_key,
        } => {
            let spot = at(notice.place);
            let takes = |spot: &Spot| takes_boolean(key_before(spot));
            if *why == Misreading::Boolean && !is_key && spot.as_ref().is_some_and(takes) {
                return None;
            }
            misread(text, becomes, *why, *is_key).with_label(spot, "")
        }
        NoticeKind::More { count } => {
            let message =
                format!("{count} more places of this file are as odd as those that are reported");
            Finding::new(RuleId::ValueSurprising, message)
                .with_label(at(notice.place), "the first of them")
        }
        NoticeKind::IgnoredDocuments => Finding::new(
            RuleId::ValueSurprising,
            "Helm 3 reads only the first document of a values file",
        )
        .with_label(at(notice.place), "nothing is read from here on")
        .help("merge the documents into one, or set `helm: 4` if you deploy with Helm 4"),
    })
}

/// The key on the line of a value, before it; empty where there is none.
fn key_before(spot: &Spot) -> &str {
    /// Names are shorter; a line may be as long as the file.
    const LONGEST: usize = 200;
    let end = spot.start as usize;
    let text = &spot.source.text;
    let before = text.get(text.floor_char_boundary(end.saturating_sub(LONGEST))..end);
    let line = before.unwrap_or_default().lines().next_back();
    let key = line.unwrap_or_default().trim_end().strip_suffix(':');
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    let key = key.unwrap_or_default().trim_end();
    let key = key.trim_end_matches(['"', '\'']);
    key.rsplit(|letter| !is_part(letter))
        .next()
        .unwrap_or_default()
}

/// Whether a key's name says that its value is a yes or a no, so that `on` and `no` are no surprise there.
fn takes_boolean(key: &str) -> bool {
    const WORDS: [&str; 10] = [
        "enabled",
        "disabled",
        "enable",
        "disable",
        "optional",
        "required",
        "hardened",
        "insecure",
        "available",
        "suspend",
    ];
    const BEGINNINGS: [&str; 13] = [
        "enable", "disable", "use", "is", "has", "skip", "allow", "force", "with", "should",
        "auto", "ignore", "keep",
    ];
    let begins = |word: &&str| {
        let rest = key.strip_prefix(*word);
        rest.is_some_and(|rest| {
            rest.starts_with(|c: char| matches!(c, '_' | '-') || c.is_uppercase())
        })
    };
    WORDS.contains(&key)
        || key.ends_with("_enabled")
        || key.ends_with("Enabled")
        || BEGINNINGS.iter().any(begins)
}

fn misread(text: &str, becomes: &str, why: Misreading, is_key: bool) -> Finding {
    let what = if is_key { "the key" } else { "the value" };
    let message = format!("{what} `{text}` looks like {why} and reads as `{becomes}`");
    let quoted = if is_key {
        format!("\"{text}\":")
    } else {
        format!("\"{text}\"")
    };
    Finding::new(RuleId::ValueSurprising, message).help(format!(
        "write `{quoted}` if text is meant, `{becomes}` if it is not"
    ))
}

/// The PEM text of a key: the value itself, or the content of the file of the project that it names.
///
/// # Errors
/// Why the file cannot be read, in words.
pub fn key_text(files: &dyn Files, value: &str) -> Result<String, String> {
    if value.contains("-----BEGIN") {
        return Ok(value.to_owned());
    }
    let path = Path::new(value.trim());
    match files.read_file(path) {
        Ok(bytes) => {
            String::from_utf8(bytes).map_err(|_| "the file that it names is not text".to_owned())
        }
        Err(Error::Read { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
            Err("it is not a PEM public key, and there is no such file".to_owned())
        }
        Err(_) => Err("the file that it names cannot be read".to_owned()),
    }
}

/// The objects of a file.
///
/// # Errors
/// The file cannot be read, or is no YAML.
pub fn objects(path: &Path) -> Result<Vec<Node>, Error> {
    let content = read_argument(path)?.into();
    let usage = |message| Error::Usage { message };
    let source = source(path, &content, Engine::Kubectl);
    let source = source.map_err(|finding| usage(finding.message))?;
    let read = secrets::documents(&source, FileId(0), Engine::Kubectl).map_err(|error| {
        let (line, column) = source.line_column(error.place.start);
        usage(format!("{}:{line}:{column}: {error}", source.path))
    })?;
    Ok(read.documents)
}

/// No list of images is longer, in bytes.
const LIMIT: u64 = 16 << 20;

/// The text of a file, or of the standard input for `-`.
///
/// # Errors
/// It cannot be read, is no UTF-8, or is longer than 16 MiB.
pub fn argument_text(path: &Path) -> Result<String, Error> {
    let read = if path == Path::new("-") {
        read_limited(io::stdin().lock())
    } else {
        read_limited(files::open(path)?)
    };
    read.map_err(Error::reading(path))
}

fn read_limited(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    let read = from.take(LIMIT + 1).read_to_string(&mut text)?;
    if read as u64 > LIMIT {
        return Err(io::Error::other("it is longer than 16 MiB"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{key_before, takes_boolean};
    use yaml_tree::place::{Source, Spot};

    #[test]
    fn a_key_of_a_boolean_takes_a_boolean_word() {
        for key in [
            "enabled",
            "default_enabled",
            "enable_tls",
            "useProxy",
            "use-proxy",
            "is_ha",
            "skip_checks",
        ] {
            assert!(takes_boolean(key), "{key}");
        }
        for key in [
            "", "country", "username", "island", "user", "answer", "hash",
        ] {
            assert!(!takes_boolean(key), "{key}");
        }
    }

    #[test]
    fn the_key_of_a_value_is_before_it_on_its_line() {
        let before = |text: &str| {
            let start = text.find("no").expect("the value is there") as u32;
            let source = Arc::new(Source::new("a.yaml", text));
            let spot = Spot::from_range(&source, start, start + 2);
            key_before(&spot).to_owned()
        };
        assert_eq!(before("a:\n  enabled: no\n"), "enabled");
        assert_eq!(before("{a: 1, \"use_x\" : no}"), "use_x");
        assert_eq!(before("- no\n"), "");
        assert_eq!(before("enabled:\n  no\n"), "");
    }
}
