//! Finds the secrets in a text. In a file that is named after secrets, or encrypted by SOPS, these are all values. In any other
//! file, these are the values in `data` and `stringData` of a Secret, in `users` of a kubeconfig, and in `literals` of a
//! `secretGenerator`, also inside a patch of a kustomization. Each secret is masked wherever it is printed.
//!
//! The structure of a document decides, not words in it: the values of a chart may contain the template of a Secret, which is not
//! secret. A key of a secrets file is secret if the user chose it, unlike the keys of a schema.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;

use yaml_tree::bytes::BASE64;
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::{FileId, Place, Secrets, Source, Sources};
use yaml_tree::value::{Node, Value};

pub mod known;

use yaml_tree::{Documents, Spelling, read};

use known as secret;

/// A file with its secrets. `is_secret` marks it as a secrets file regardless of its name.
pub fn source(path: impl Into<Arc<str>>, text: impl Into<String>, is_secret: bool) -> Source {
    let mut source = Source::new(path, text);
    source.is_hidden = is_secret || is_named_secret(Path::new(&*source.path));
    source.secrets = secrets(&source.text, source.is_hidden);
    source
}

/// Publishes the words of secrets that everybody reads in other files.
pub fn publish(sources: &Sources) {
    for source in sources.all().filter(|source| source.has_secrets()) {
        let words = source.secret_words();
        words
            .filter(|word| sources.is_public(word))
            .for_each(secret::publish);
    }
}

/// Whether the name of the file, or of one of its folders, marks it as a secrets file, such as Sylva's `secrets.yaml`.
pub fn is_named_secret(file: &Path) -> bool {
    let name = |name: &OsStr| name.to_string_lossy().to_lowercase();
    let folders = file.parent().into_iter().flat_map(Path::components);
    let mut folders = folders.map(|folder| name(folder.as_os_str()));
    let is_named = file
        .file_name()
        .is_some_and(|file| name(file).contains("secret"));
    is_named || folders.any(|folder| matches!(&*folder, "secret" | "secrets" | ".secrets"))
}

/// The secrets of a file. A file that mentions Secrets and is not valid YAML is secret as a whole.
pub fn secrets(text: &str, is_named_secret: bool) -> Secrets {
    if !is_named_secret && !mentions_secret(text) {
        return Secrets::None;
    }
    let Ok(Documents { documents, .. }) = read(text, FileId(0), Engine::Kubectl) else {
        if is_named_secret {
            words(text).for_each(secret::learn);
        }
        return Secrets::Whole;
    };
    let mut found = Vec::new();
    let mut add = |place: Place| {
        let range = place.start..place.end;
        learn_written(&text[range.start as usize..range.end as usize]);
        found.push(range);
    };
    for document in &documents {
        if is_named_secret || is_encrypted(document) {
            user_chosen_keys(document, &mut add);
            scalars(document, &mut add);
        } else {
            collect(document, Origin::File(text), &mut add)
        }
    }
    found.into_iter().collect()
}

/// What only files with secrets say. Each file is searched, so the searches are prepared once.
static MARKS: LazyLock<[Finder<'static>; 4]> =
    LazyLock::new(|| ["secretGenerator", "sops:", "\"sops\"", "ENC["].map(Finder::new));
static KIND: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("kind"));

fn mentions_secret(text: &str) -> bool {
    let is_secret = |rest: &str| {
        let kind = rest.trim_start_matches(['"', '\'', ' ', ':']);
        let is_config = || {
            let after = kind.strip_prefix("Config");
            after.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        };
        kind.starts_with("Secret") || is_config()
    };
    let bytes = text.as_bytes();
    let mut kinds = KIND.find_iter(bytes);
    MARKS.iter().any(|mark| mark.find(bytes).is_some())
        || kinds.any(|at| is_secret(&text[at + "kind".len()..]))
}

/// Whether SOPS encrypted a document (<https://github.com/getsops/sops>).
fn is_encrypted(document: &Node) -> bool {
    let has = |key: &str| document.get_path(&["sops", key]).is_some();
    has("mac") || has("lastmodified") || has("version")
}

/// The words of an unparsable text that may be values.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let around = ['"', '\'', ',', '{', '}', '[', ']', '&', '*'];
    let words = text.split_whitespace().filter(|word| !word.ends_with(':'));
    words.map(move |word| word.trim_matches(around))
}

/// Registers a text as a secret. If it contains YAML, such as a `clouds.yaml`, registers each value in it; if it is a manifest,
/// registers the same parts as in a file.
pub fn learn(text: &str) {
    // The text of an expression is not secret; its result is.
    if text.contains("{{") {
        return;
    }
    let documents = if text.contains('\n') {
        read(text, FileId(0), Engine::Kubectl).map_or_else(|_| Vec::new(), |read| read.documents)
    } else {
        Vec::new()
    };
    let is_data = |node: &Node| matches!(node.value, Value::Map(_) | Value::List(_));
    if documents.is_empty() || !documents.iter().all(is_data) {
        return secret::learn(text);
    }
    for document in &documents {
        if document.get_path(&["kind"]).is_some() {
            collect(document, Origin::Patch, &mut |_| {})
        } else {
            each_scalar(document, &mut |value| secret::learn(&value))
        }
    }
}

fn each_scalar(node: &Node, with: &mut dyn FnMut(String)) {
    match &node.value {
        Value::Map(map) => map.iter().for_each(|entry| each_scalar(&entry.node, with)),
        Value::List(items) => items.iter().for_each(|item| each_scalar(item, with)),
        Value::String(text) if text.contains("{{") => {}
        Value::String(text) => with(text.to_string()),
        other => with(to_json(other, Html::Plain)),
    }
}

/// Registers a single-line text of a file without its quotes, because it may differ from the value: `0755` is read as a number.
fn learn_written(text: &str) {
    if !text.contains('\n') && !text.contains("{{") {
        secret::learn(text.trim_matches(['"', '\'']));
    }
}

/// Adds the keys that the user chose: those that cannot be keys of a schema.
fn user_chosen_keys(node: &Node, add: &mut dyn FnMut(Place)) {
    match &node.value {
        Value::Map(map) => {
            for entry in map.iter() {
                let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                if !entry.key.chars().all(is_word) {
                    add(entry.key_place);
                }
                user_chosen_keys(&entry.node, add);
            }
        }
        Value::List(items) => items.iter().for_each(|item| user_chosen_keys(item, add)),
        _ => {}
    }
}

/// The text that a node was parsed from.
#[derive(Clone, Copy)]
enum Origin<'t> {
    File(&'t str),
    /// A patch in a file.
    Patch,
}

/// Adds the secrets of the objects in a node.
fn collect(node: &Node, origin: Origin<'_>, add: &mut dyn FnMut(Place)) {
    match &node.value {
        Value::Map(map) => {
            let kind = node
                .get_path(&["kind"])
                .and_then(|kind| kind.value.as_str());
            let is = |expected: &str| kind.is_some_and(|kind| &**kind == expected);
            let (is_secret, is_kubeconfig) = (is("Secret"), is("Config"));
            for entry in map.iter() {
                match &*entry.key {
                    "data" if is_secret => {
                        scalars(&entry.node, add);
                        learn_decoded(&entry.node);
                    }
                    "stringData" if is_secret => scalars(&entry.node, add),
                    "users" if is_kubeconfig => scalars(&entry.node, add),
                    "secretGenerator" => literals(&entry.node, add),
                    "patch" | "patchesStrategicMerge" => patches(&entry.node, origin, add),
                    _ => collect(&entry.node, origin, add),
                }
            }
        }
        Value::List(items) => {
            for item in items.iter() {
                collect(item, origin, add);
            }
        }
        Value::String(text) if text.starts_with("ENC[") => add(node.place),
        _ => {}
    }
}

/// Registers the decoded values of a Secret's `data`.
fn learn_decoded(data: &Node) {
    for text in data
        .entries(&[])
        .filter_map(|entry| entry.node.value.as_str())
    {
        let bytes = BASE64.decode(text.trim().as_bytes()).unwrap_or_default();
        if let Ok(text) = std::str::from_utf8(&bytes) {
            learn(text);
        }
    }
}

/// Registers all values of a node as secrets, at any depth, and adds their spans.
pub fn scalars(node: &Node, add: &mut dyn FnMut(Place)) {
    match &node.value {
        Value::Map(map) => map.iter().for_each(|entry| scalars(&entry.node, add)),
        Value::List(items) => items.iter().for_each(|item| scalars(item, add)),
        Value::Null => {}
        scalar => {
            match scalar {
                Value::String(text) => learn(text),
                other => secret::learn(&to_json(other, Html::Plain)),
            }
            add(node.place);
        }
    }
}

fn literals(generators: &Node, add: &mut dyn FnMut(Place)) {
    for generator in generators.value.as_list().unwrap_or_default() {
        if let Some(literals) = generator.get_path(&["literals"]) {
            scalars(literals, add);
        }
    }
}

/// Adds the secrets of the patch in a scalar, or of the patches in a list. A patch inside a patch is secret as a whole if it
/// mentions a Secret.
fn patches(node: &Node, origin: Origin<'_>, add: &mut dyn FnMut(Place)) {
    for scalar in node.value.as_list().unwrap_or(std::slice::from_ref(node)) {
        let inner = scalar.value.as_str().filter(|inner| mentions_secret(inner));
        let Some(inner) = inner else { continue };
        match (read(inner, FileId(0), Engine::Kubectl), origin) {
            (Ok(Documents { documents, .. }), Origin::File(text)) => {
                let spelling = Spelling::new(text, scalar.place, inner);
                let mut add = |place: Place| {
                    add(spelling.place(inner, place.start as usize..place.end as usize));
                };
                for document in &documents {
                    collect(document, Origin::Patch, &mut add);
                }
            }
            _ => add(scalar.place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::secrets;
    use yaml_tree::place::Source;

    /// The words of a text that are secret.
    fn hidden(text: &str, is_named_secret: bool) -> Vec<&str> {
        let mut source = Source::new("a.yaml", text);
        source.secrets = secrets(text, is_named_secret);
        let words = text.split(['\n', ' ', ',', '{', '}', '[', ']']);
        words
            .filter(|word| !word.is_empty())
            .filter(|word| {
                let start = word.as_ptr().addr() - text.as_ptr().addr();
                source.hides(start as u32..(start + word.len()) as u32)
            })
            .collect()
    }

    #[test]
    fn only_the_data_of_a_secret_is_secret() {
        let text = "kind: Secret\nmetadata: {name: a}\nstringData:\n  user: me\n  more: {pin: 12}\n---\n\
                    kind: List\nitems:\n- {kind: Secret, data: {b: eA==}}\n- {kind: ConfigMap, data: {c: plain}}\n";
        assert_eq!(hidden(text, false), ["me", "12", "eA=="]);
    }

    #[test]
    fn the_template_of_a_secret_is_not_secret() {
        let text = "units:\n  a:\n    template: |\n      kind: Secret\n      data:\n        key: value\nversion: 1\n";
        assert_eq!(hidden(text, false), [""; 0]);
    }

    #[test]
    fn generator_literals_and_patched_secrets_are_secret() {
        let text = "secretGenerator:\n- name: a\n  literals: [password=hunter2]\npatches:\n- patch: |\n    kind: Secret\n    \
                    metadata: {name: b}\n    stringData:\n      token: correct-horse\n- path: c.yaml\n";
        assert_eq!(hidden(text, false), ["password=hunter2", "correct-horse"]);
    }

    #[test]
    fn in_a_secrets_file_all_values_and_user_chosen_keys_are_secret() {
        let text = "images:\n  ubuntu-noble : {enabled: true}\npassword: hunter2\n";
        assert_eq!(hidden(text, true), ["ubuntu-noble", "true", "hunter2"]);
        assert_eq!(hidden(text, false), [""; 0]);
    }

    #[test]
    fn a_document_encrypted_by_sops_is_secret() {
        let text = "user: me\nsops:\n  version: 3.9.0\n";
        assert_eq!(hidden(text, false), ["me", "3.9.0"]);
        assert_eq!(hidden("user: me\nsops: {}\n", false), [""; 0]);
        assert_eq!(hidden("a: ENC[x]\nb: plain\n", false), ["ENC", "x"]);
    }

    #[test]
    fn the_users_of_a_kubeconfig_are_secret() {
        let text = "kind: Config\nclusters: [{name: a}]\nusers: [{name: b, user: {token: c}}]\n";
        assert_eq!(hidden(text, false), ["b", "c"]);
    }

    #[test]
    fn an_unparsable_text_that_mentions_a_secret_is_secret() {
        assert_eq!(hidden("kind: Secret\ndata: [", false).len(), 3);
        assert_eq!(hidden("kind: Other\ndata: [", false), [""; 0]);
    }
}
