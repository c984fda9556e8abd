//! The gate between files and documents: the texts of secrets stay behind it.
//!
//! In a file that is named after secrets, or encrypted by SOPS, all texts and numbers are secret. In any other file, these are the
//! ones in `data` and `stringData` of a Secret, in `users` of a kubeconfig, and in `literals` of a `secretGenerator`, also where a
//! string holds such an object. The structure of a document decides, not words in it. In the tree, a label is in place of each
//! ([`yaml_tree::opaque`]). Keys of maps, lists, booleans, what is empty or zero, and the kinds and names that objects are found by
//! stay, for they are structure.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;
use yaml_tree::bytes::BASE64;
use yaml_tree::engine::Engine;
use yaml_tree::opaque::{Opaque, OpaqueKind, is_opaque, label};
use yaml_tree::place::{FileId, Place, Secrets, Source, hide_quotes};
use yaml_tree::value::{Map, Node, Value};
use yaml_tree::{Documents, Spelling, SyntaxError};

/// How deeply strings that hold objects may be nested.
pub(crate) const DEPTH: usize = 4;

/// A file with the ranges of its secrets. `is_secret` marks it as a secrets file regardless of its name.
pub fn source(path: impl Into<Arc<str>>, text: impl Into<String>, is_secret: bool) -> Source {
    let mut source = Source::new(path, text);
    source.is_secret_file = is_secret || is_named_secret(Path::new(&*source.path));
    source.is_hidden = source.is_secret_file;
    if source.is_hidden || mentions_secret(&source.text) {
        source.secrets = secrets(&source);
    }
    source
}

/// The documents of a file as an engine reads them, with labels instead of its secrets.
///
/// # Errors
/// The text is not valid YAML for the engine.
pub fn documents(source: &Source, file: FileId, engine: Engine) -> Result<Documents, SyntaxError> {
    let read = yaml_tree::read(&source.text, file, engine);
    let mut read = read.map_err(|error| hide_error_quotes(error, source))?;
    if source.has_secrets() {
        let mut seals = Seals::new(source);
        for document in &mut read.documents {
            seals.document(document, source.is_secret_file);
        }
        // What an alias shows has the place of its anchor.
        if source.text.contains('&') {
            let known = seals.found.iter();
            let known = known.map(|seal| (seal.range.start, Arc::clone(&seal.text)));
            let known: HashMap<u32, Arc<str>> = known.collect();
            for document in &mut read.documents {
                seals.seal_anchors(document, &known);
            }
        }
    }
    Ok(read)
}

/// A syntax error without what it quotes of a text with secrets.
fn hide_error_quotes(mut error: SyntaxError, source: &Source) -> SyntaxError {
    if source.is_hidden || source.has_secrets() {
        error.message = hide_quotes(&error.message);
        error.help = error.help.map(|help| hide_quotes(&help));
    }
    error
}

/// The text of a file, with labels instead of its secrets.
pub fn text(source: &Source) -> Cow<'_, str> {
    match &source.secrets {
        _ if source.is_secret_file => seal_text(&source.text, &source.path, "").into(),
        Secrets::None => Cow::Borrowed(&source.text),
        Secrets::Whole => label(&source.path, "").into(),
        Secrets::Ranges(ranges) => {
            let (mut sealed, mut kept) = (String::with_capacity(source.text.len()), 0);
            for range in &**ranges {
                sealed += &source.text[kept..range.start as usize];
                sealed += &label(&source.path, "");
                kept = range.end as usize;
            }
            (sealed + &source.text[kept..]).into()
        }
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

/// The text of a secret with labels instead of its texts and numbers, if it is a document itself, such as a values file; else a
/// label.
pub fn seal_text(text: &str, file: &str, keys: &str) -> String {
    let Some(documents) = data(text, keys) else {
        return label(file, keys);
    };
    let mut seals = Seals::for_text(file, "");
    let texts = documents.into_iter().map(|mut document| {
        seals.seal_data(&mut document, keys);
        yaml_tree::emit(&document.value)
    });
    texts.collect::<Vec<_>>().join("---\n")
}

/// Replaces each text and number of a tree by a label. Maps, lists, booleans, and what is empty or zero stay.
pub fn seal(node: &mut Node, file: &str, keys: &str) {
    Seals::for_text(file, "").seal(node, keys);
}

/// The keys to an entry.
fn join(keys: &str, key: &str) -> String {
    if keys.is_empty() {
        key.to_owned()
    } else {
        format!("{keys}.{key}")
    }
}

/// The documents of a text that holds maps and lists; none of any other text. `a: b` on one line may be a password, unless its
/// key is the name of a file.
fn data(text: &str, keys: &str) -> Option<Vec<Node>> {
    let is_data = |node: &Node| matches!(node.value, Value::Map(_) | Value::List(_));
    let read = |engine| {
        let documents = yaml_tree::read(text, FileId(0), engine).ok()?.documents;
        let is_all = !documents.is_empty() && documents.iter().all(is_data);
        is_all.then_some(documents)
    };
    let documents = read(Engine::Kubectl).or_else(|| read(Engine::Helm3))?;
    let is_nested = || documents.iter().flat_map(Node::children).any(is_data);
    let is_file = [".yaml", ".yml", ".json"]
        .iter()
        .any(|end| keys.ends_with(end));
    let is_written_so = text.trim_end().contains('\n') || text.starts_with(['{', '[']);
    (is_file || is_written_so || is_nested()).then_some(documents)
}

/// The text of a Secret's value, with labels instead of its secrets.
pub fn seal_value(text: &str, file: &str, keys: &str) -> Value {
    if text.trim().is_empty() {
        return Value::from(text);
    }
    let sealed = seal_text(text, file, keys);
    sealed.into()
}

/// The secrets of a file that mentions any. One that is not valid YAML is secret as a whole.
fn secrets(source: &Source) -> Secrets {
    let Ok(Documents { documents, .. }) = yaml_tree::read(&source.text, FileId(0), Engine::Kubectl)
    else {
        return Secrets::Whole;
    };
    let mut seals = Seals::new(source);
    for mut document in documents {
        seals.document(&mut document, source.is_secret_file);
    }
    seals.found.into_iter().map(|seal| seal.range).collect()
}

/// What only files with secrets say. Each file is searched, so the searches are prepared once.
static MARKS: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| {
    let words = ["Secret", "secretGenerator", "sops:", "\"sops\"", "ENC["];
    // An escape may spell any of them.
    let escapes = ["\\x", "\\u", "\\U"];
    words.into_iter().chain(escapes).map(Finder::new).collect()
});
/// What a kubeconfig says.
static KUBECONFIG: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| ["Config", "users"].map(Finder::new));

/// Whether a text may hold a secret. The structure of its documents says whether it does, however the words are written.
fn mentions_secret(text: &str) -> bool {
    let has = |mark: &Finder<'_>| mark.find(text.as_bytes()).is_some();
    MARKS.iter().any(has) || KUBECONFIG.iter().all(has)
}

/// Whether SOPS encrypted a document (<https://github.com/getsops/sops>).
fn is_encrypted(document: &Node) -> bool {
    let has = |key: &str| document.get_path(&["sops", key]).is_some();
    has("mac") || has("lastmodified") || has("version")
}

/// A secret that was replaced.
struct Seal {
    /// Its range in the text.
    range: Range<u32>,
    /// The label in its place.
    text: Arc<str>,
}

/// Replaces the secrets of a text's documents.
struct Seals<'a> {
    path: &'a str,
    text: &'a str,
    /// How many strings are around the text.
    depth: usize,
    found: Vec<Seal>,
}

impl<'a> Seals<'a> {
    fn new(source: &'a Source) -> Self {
        Self::for_text(&source.path, &source.text)
    }

    fn for_text(path: &'a str, text: &'a str) -> Self {
        Self {
            path,
            text,
            depth: 0,
            found: Vec::new(),
        }
    }

    fn document(&mut self, document: &mut Node, is_secret: bool) {
        if is_secret || is_encrypted(document) {
            self.seal_data(document, "");
        } else {
            self.objects(document, "");
        }
    }

    /// Replaces the secrets of the objects in a node.
    fn objects(&mut self, node: &mut Node, keys: &str) {
        let kind = node.text(&["kind"]);
        let (is_secret, is_kubeconfig) = (kind == Some("Secret"), kind == Some("Config"));
        match &mut node.value {
            Value::Map(map) => self.entries(map, keys, |seals, key, node, keys| match key {
                "data" if is_secret => seals.seal_encoded(node, keys),
                "stringData" if is_secret => seals.seal(node, keys),
                "users" if is_kubeconfig => seals.seal(node, keys),
                "secretGenerator" => seals.literals(node, keys),
                _ => seals.objects(node, keys),
            }),
            Value::List(items) => self.items(items, keys, Self::objects),
            Value::String(text) if text.starts_with("ENC[") => self.seal(node, keys),
            Value::String(text) => {
                let text = Arc::clone(text);
                self.string(node, &text, keys);
            }
            _ => {}
        }
    }

    /// Replaces all texts and numbers at and below a node, but for what objects and references are found by.
    fn seal_data(&mut self, node: &mut Node, keys: &str) {
        let kind = node.text(&["kind"]);
        let (is_object, is_secret) = (kind.is_some(), kind == Some("Secret"));
        match &mut node.value {
            Value::Map(map) => self.entries(map, keys, |seals, key, node, keys| match key {
                "apiVersion" | "apiGroup" | "kind" | "name" | "namespace" if is_object => {}
                "clusterName" => {}
                "metadata" if is_object => seals.seal_metadata(node, keys),
                "data" if is_secret => seals.seal_encoded(node, keys),
                _ => seals.seal_data(node, keys),
            }),
            Value::List(items) => self.items(items, keys, Self::seal_data),
            _ => self.seal(node, keys),
        }
    }

    fn seal_metadata(&mut self, node: &mut Node, keys: &str) {
        if let Value::Map(map) = &mut node.value {
            self.entries(map, keys, |seals, key, node, keys| match key {
                "name" | "namespace" | "labels" => {}
                _ => seals.seal(node, keys),
            });
        }
    }

    /// Applies a function to the nodes in a map that holds a secret.
    fn entries(
        &mut self,
        map: &mut Arc<Map>,
        keys: &str,
        seal: impl Fn(&mut Self, &str, &mut Node, &str),
    ) {
        let entries = map.iter().cloned().map(|mut entry| {
            let key = Arc::clone(&entry.key);
            seal(self, &key, &mut entry.node, &join(keys, &key));
            entry
        });
        *map = Arc::new(entries.collect());
    }

    fn items(
        &mut self,
        items: &mut Arc<Vec<Node>>,
        keys: &str,
        seal: impl Fn(&mut Self, &mut Node, &str),
    ) {
        for (index, item) in Arc::make_mut(items).iter_mut().enumerate() {
            seal(self, item, &join(keys, &index.to_string()));
        }
    }

    /// Replaces all texts and numbers at and below a node.
    fn seal(&mut self, node: &mut Node, keys: &str) {
        let sealed = match &mut node.value {
            Value::Map(map) => {
                return self.entries(map, keys, |seals, _, node, keys| seals.seal(node, keys));
            }
            Value::List(items) => return self.items(items, keys, Self::seal),
            Value::String(text) => seal_value(text, self.path, keys),
            Value::Number(number) if !number.is_zero() => {
                let (text, kind) = (label(self.path, keys).into(), OpaqueKind::Number);
                Opaque { text, kind }.into()
            }
            _ => return,
        };
        self.replace(node, sealed);
    }

    /// Replaces what is written where a secret is: the anchor of an alias, or another alias of it.
    fn seal_anchors(&mut self, node: &mut Node, known: &HashMap<u32, Arc<str>>) {
        match &mut node.value {
            Value::Map(map) => self.entries(map, "", |seals, _, node, _| {
                seals.seal_anchors(node, known);
            }),
            Value::List(items) => self.items(items, "", |seals, item, _| {
                seals.seal_anchors(item, known);
            }),
            Value::String(text) if text.is_empty() => {}
            value => {
                let kind = match value {
                    Value::String(_) => OpaqueKind::Scalar,
                    Value::Number(_) => OpaqueKind::Number,
                    _ => return,
                };
                if let Some(text) = known.get(&node.place.start).map(Arc::clone) {
                    *value = Opaque { text, kind }.into();
                }
            }
        }
    }

    /// Replaces texts in base64.
    fn seal_encoded(&mut self, node: &mut Node, keys: &str) {
        let sealed = match &mut node.value {
            Value::Map(map) => {
                return self.entries(map, keys, |seals, _, node, keys| {
                    seals.seal_encoded(node, keys)
                });
            }
            Value::String(text) => {
                let bytes = BASE64.decode(text.trim().as_bytes()).unwrap_or_default();
                let decoded = String::from_utf8(bytes).ok();
                let decoded = decoded.filter(|decoded| !decoded.trim().is_empty());
                seal_value(decoded.as_deref().unwrap_or(text), self.path, keys)
            }
            _ => return self.seal(node, keys),
        };
        self.replace(node, sealed);
    }

    fn replace(&mut self, node: &mut Node, sealed: Value) {
        if let Some(text) = sealed.text_with_labels().filter(|text| is_opaque(text)) {
            let Place { start, end, .. } = node.place;
            let text = Arc::clone(text);
            self.found.push(Seal {
                range: start..end,
                text,
            });
        }
        node.value = sealed;
    }

    fn literals(&mut self, generators: &mut Node, keys: &str) {
        let Value::List(generators) = &mut generators.value else {
            return;
        };
        self.items(generators, keys, |seals, generator, keys| {
            if let Value::Map(map) = &mut generator.value {
                seals.entries(map, keys, |seals, key, node, keys| {
                    if key == "literals"
                        && let Value::List(items) = &mut node.value
                    {
                        seals.items(items, keys, Self::literal);
                    }
                });
            }
        });
    }

    /// Replaces the value of a literal `KEY=VALUE`.
    fn literal(&mut self, node: &mut Node, keys: &str) {
        let Some((key, value)) = node.value.as_str().and_then(|text| text.split_once('=')) else {
            return self.seal(node, keys);
        };
        let value = seal_value(value, self.path, &join(keys, key));
        let value = value.text_with_labels().map_or("", |text| text);
        let sealed = format!("{key}={value}").into();
        self.replace(node, sealed);
    }

    /// Replaces the secrets of the objects in a string. One that is no YAML is secret as a whole, unless it is a template.
    fn string(&mut self, node: &mut Node, text: &str, keys: &str) {
        if !mentions_secret(text) {
            return;
        }
        let is_template = text.contains("{{");
        let Ok(mut read) = yaml_tree::read(text, FileId(0), Engine::Kubectl) else {
            if !is_template {
                self.seal(node, keys);
            }
            return;
        };
        let is_data = |node: &Node| matches!(node.value, Value::Map(_) | Value::List(_));
        if !read.documents.iter().any(is_data) {
            return;
        }
        if self.depth >= DEPTH {
            return self.seal(node, keys);
        }
        let mut inner = Seals {
            depth: self.depth + 1,
            ..Seals::for_text(self.path, text)
        };
        for document in &mut read.documents {
            inner.objects(document, keys);
        }
        let mut found = inner.found;
        // The template of a secret is none.
        let spelled = |seal: &Seal| &text[seal.range.start as usize..seal.range.end as usize];
        found.retain(|seal| !spelled(seal).contains("{{"));
        if found.is_empty() {
            return;
        }
        found.sort_by_key(|seal| seal.range.start);
        let spelling = Spelling::new(self.text, node.place, text);
        let (mut sealed, mut kept) = (String::with_capacity(text.len()), 0);
        for seal in found {
            let (start, end) = (seal.range.start as usize, seal.range.end as usize);
            // An alias shows the same secret again.
            if start < kept {
                continue;
            }
            sealed += &text[kept..start];
            sealed += &yaml_tree::quote(&seal.text);
            kept = end;
            let Place { start, end, .. } = spelling.place(text, start..end);
            self.found.push(Seal {
                range: start..end,
                text: seal.text,
            });
        }
        sealed += &text[kept..];
        node.value = sealed.into();
    }
}

#[cfg(test)]
mod tests {
    use yaml_tree::engine::Engine;
    use yaml_tree::json::{Html, to_json};
    use yaml_tree::opaque::show_labels;
    use yaml_tree::place::FileId;

    use super::{documents, source};

    /// The documents of a file as JSON, with labels for people.
    fn read(text: &str, is_secret: bool) -> String {
        let source = source("f.yaml", text, is_secret);
        let read = documents(&source, FileId(0), Engine::Kubectl).expect("the text is YAML");
        let texts = read.documents.iter().map(|document| {
            let json = to_json(&document.value, Html::Plain);
            show_labels(&json).into_owned()
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn only_the_data_of_a_secret_is_secret() {
        assert_eq!(
            read(
                "kind: Secret\nmetadata: {name: a}\nstringData:\n  user: me\n  on: true\n  none: ''\n  more: {pin: 12, zero: 0}\n",
                false
            ),
            r#"{"kind":"Secret","metadata":{"name":"a"},"stringData":{"more":{"pin":"<secret f.yaml: stringData.more.pin>","zero":0},"none":"","true":true,"user":"<secret f.yaml: stringData.user>"}}"#
        );
        assert_eq!(
            read(
                "kind: List\nitems:\n- {kind: Secret, data: {b: eA==}}\n- {kind: ConfigMap, data: {c: plain}}\n",
                false
            ),
            r#"{"items":[{"data":{"b":"<secret f.yaml: items.0.data.b>"},"kind":"Secret"},{"data":{"c":"plain"},"kind":"ConfigMap"}],"kind":"List"}"#
        );
    }

    #[test]
    fn a_values_file_in_a_secret_keeps_its_structure() {
        let text = "kind: Secret\nstringData:\n  values.yaml: |\n    a: {b: [x, true]}\n";
        assert_eq!(
            read(text, false),
            r#"{"kind":"Secret","stringData":{"values.yaml":"a:\n  b:\n  - \"<secret f.yaml: stringData.values.yaml.a.b.0>\"\n  - true\n"}}"#
        );
        // `a: x`, and a line.
        let text = "kind: Secret\ndata: {values.yaml: YTogeAo=}\n";
        assert_eq!(
            read(text, false),
            r#"{"data":{"values.yaml":"a: \"<secret f.yaml: data.values.yaml.a>\"\n"},"kind":"Secret"}"#
        );
    }

    #[test]
    fn a_secret_in_a_string_is_one_and_its_template_is_none() {
        let text =
            "extra:\n- |\n  kind: Secret\n  stringData: {a: 'SEK RET', b: \"{{ .x }}\"}\n  c: d\n";
        assert_eq!(
            read(text, false),
            r#"{"extra":["kind: Secret\nstringData: {a: \"<secret f.yaml: extra.0.stringData.a>\", b: \"{{ .x }}\"}\nc: d\n"]}"#
        );
        let text = "k: |\n  kind: Config\n  users: [{user: {token: SEKRET}}]\n";
        assert!(!read(text, false).contains("SEKRET"));
        let text = "k: \"{\\\"kind\\\": \\\"Secret\\\", \\\"stringData\\\": {\\\"a\\\": \\\"SEKRET\\\"}}\"\n";
        assert!(!read(text, false).contains("SEKRET"));
        let text = "units:\n  a:\n    template: |\n      {{- if .x }}\n      kind: Secret\n      {{- end }}\n";
        assert!(read(text, false).contains("{{- if .x }}"));
    }

    #[test]
    fn generator_literals_and_patched_secrets_are_secret() {
        let text = "secretGenerator:\n- name: a\n  literals: [password=hunter2]\npatches:\n- patch: |\n    kind: Secret\n    \
                    metadata: {name: b}\n    stringData:\n      token: correct-horse\n- path: c.yaml\n";
        let read = read(text, false);
        assert!(read.contains("password=<secret f.yaml: secretGenerator.0.literals.0.password>"));
        assert!(!read.contains("hunter2") && !read.contains("correct-horse"));
    }

    #[test]
    fn in_a_secrets_file_and_an_encrypted_document_all_values_are_secret() {
        let text = "images:\n  ubuntu-noble : {enabled: true}\npassword: hunter2\n";
        assert_eq!(
            read(text, true),
            r#"{"images":{"ubuntu-noble":{"enabled":true}},"password":"<secret f.yaml: password>"}"#
        );
        assert!(!read("user: me\nsops:\n  version: 3.9.0\n", false).contains("me\""));
        assert!(read("user: me\nsops: {}\n", false).contains("me\""));
        assert_eq!(
            read("a: ENC[x]\nb: plain\n", false),
            r#"{"a":"<secret f.yaml: a>","b":"plain"}"#
        );
    }

    #[test]
    fn the_ranges_of_secrets_are_known() {
        let text = "kind: Config\nclusters: [{name: a}]\nusers: [{name: b, user: {token: c}}]\n";
        let source = source("f.yaml", text, false);
        let hidden = |word: &str| {
            let start = text.find(word).expect("it is there") as u32;
            source.hides(start..start + word.len() as u32)
        };
        assert!(hidden("b,") && hidden("c}") && !hidden("a}"));
        assert!(super::source("f.yaml", "kind: Secret\ndata: [", false).hides(0..1));
        assert!(!super::source("f.yaml", "kind: Other\ndata: [", false).has_secrets());
    }
}
