//! The gate between files and documents: the texts of secrets stay behind it.
//!
//! In a file that is named after secrets, or encrypted by SOPS, all texts and numbers are secret. In any other file, these are the
//! ones in `data` and `stringData` of a Secret, and in patches of one, in `users` of a kubeconfig, and in a `secretGenerator`, also
//! where a string holds such an object, or a template of one. The structure of a document decides, not words in it. In the tree, a label is in place of each
//! ([`yaml_tree::opaque`]). Keys of maps, lists, booleans, what is empty or zero, and the kinds and names that objects are found by
//! stay, for they are structure.

mod chart_template;
mod layers;
mod seals;
mod template;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;
use yaml_tree::engine::Engine;
use yaml_tree::opaque::label;
use yaml_tree::place::{FileId, Secrets, Source};
use yaml_tree::value::{Node, Value};
use yaml_tree::{Documents, SyntaxError};

pub use chart_template::{ChartTemplate, Included, parse_template};
pub use layers::Holders;
use seals::{Seals, print_again};
pub use seals::{is_patch_of_secret, may_be_patch_of_secret};

/// How deeply strings that hold objects may be nested.
pub(crate) const DEPTH: usize = 4;

/// A text with the ranges of its secrets: those that its structure shows, and all where its path is named after secrets.
pub fn source(path: impl Into<Arc<str>>, text: impl Into<String>) -> Source {
    let source = Source::new(path, text);
    let is_secret = is_named_secret(Path::new(&*source.path));
    mark(source, is_secret)
}

/// A text that is secret as a whole, whatever its path.
pub fn secret_source(path: impl Into<Arc<str>>, text: impl Into<String>) -> Source {
    mark(Source::new(path, text), true)
}

/// A text that a template made, with the ranges of its secrets. What the template is called says nothing of it.
pub fn output_source(path: impl Into<Arc<str>>, text: impl Into<String>) -> Source {
    mark(Source::new(path, text), false)
}

fn mark(mut source: Source, is_secret: bool) -> Source {
    source.is_secret_file = is_secret;
    source.is_hidden = is_secret;
    if is_secret || mentions_secret(&source.text) {
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
        error.message = error.message.seal();
    }
    error
}

/// The text of a file, with labels instead of its secrets.
pub fn text(source: &Source) -> Cow<'_, str> {
    match &source.secrets {
        // Its keys are there, and nobody knows how they are written.
        _ if source.is_secret_file => label(&source.path, "").into(),
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
    let Some(mut documents) = data(text, keys) else {
        return label(file, keys);
    };
    let mut seals = Seals::for_text(file, "");
    for document in &mut documents {
        seals.seal_data(document, keys);
    }
    print_again(text, &documents)
}

/// Replaces each text and number of a tree by a label. Maps, lists, booleans, and what is empty or zero stay.
pub fn seal(node: &mut Node, file: &str, keys: &str) {
    Seals::for_text(file, "").seal(node, keys);
}

/// Replaces the secrets of the objects in a tree that was made of several texts, such as a Secret with the values of a patch.
pub fn seal_objects(node: &mut Node, file: &str) {
    Seals::for_text(file, "").objects(node, "");
}

/// The operations of a JSON patch that is applied to a Secret, with labels instead of what they put into it.
pub fn seal_operations(operations: &[Node], file: &str) -> Vec<Node> {
    let mut operations = operations.to_vec();
    let mut seals = Seals::for_text(file, "");
    for operation in &mut operations {
        seals.walk_secrets(|seals| seals.objects(operation, ""));
    }
    operations
}

/// The keys to an entry.
pub(crate) fn join(keys: &str, key: &str) -> String {
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

/// The secrets of a file that may have some. One that is not valid YAML is secret as a whole, if it names any.
fn secrets(source: &Source) -> Secrets {
    let Ok(Documents { documents, .. }) = yaml_tree::read(&source.text, FileId(0), Engine::Kubectl)
    else {
        let is_whole = source.is_secret_file || names_secret(&source.text);
        return if is_whole {
            Secrets::Whole
        } else {
            Secrets::None
        };
    };
    let mut seals = Seals::new(source);
    for mut document in documents {
        seals.document(&mut document, source.is_secret_file);
    }
    let found = seals.found.into_iter().map(|seal| seal.range);
    found.chain(seals.hidden).collect()
}

/// How a private key begins and ends, as PEM.
const PRIVATE_KEY: &str = "PRIVATE KEY-----";

/// What only files with secrets say. Each file is searched, so the searches are prepared once, and few.
static MARKS: LazyLock<[Mark; 10]> = LazyLock::new(|| {
    [
        Mark::new("Secret", &[]),
        Mark::new("secretGenerator", &[]),
        Mark::new("stringData", &[]),
        Mark::new("passwd", &[]),
        Mark::new("password", &["passwordHash", "password_hash"]),
        Mark::new(PRIVATE_KEY, &[]),
        Mark::new("sops", &["sops:", "\"sops\""]),
        Mark::new("ENC[", &[]),
        // An escape may spell any of them.
        Mark::new("\\", &["\\x", "\\u", "\\U"]),
        // A kubeconfig.
        Mark::new("users", &["Config", "contexts", "user:", "\"user\""]),
    ]
});
/// What patches and objects say that may be those of a Secret.
static OBJECTS: LazyLock<[Mark; 3]> = LazyLock::new(|| {
    [
        Mark::new("target", &["patch"]),
        Mark::new("/data", &["path"]),
        Mark::new("{{", &["kind"]),
    ]
});

/// What a text has: a word, and any of others if there are some.
struct Mark {
    first: Finder<'static>,
    others: Vec<Finder<'static>>,
}

impl Mark {
    fn new(first: &'static str, others: &[&'static str]) -> Self {
        Self {
            first: Finder::new(first),
            others: others.iter().copied().map(Finder::new).collect(),
        }
    }

    fn is_in(&self, text: &str) -> bool {
        let has = |word: &Finder<'_>| word.find(text.as_bytes()).is_some();
        has(&self.first) && (self.others.is_empty() || self.others.iter().any(has))
    }
}

/// Whether a text may hold a secret. The structure of its documents says whether it does, however the words are written.
fn mentions_secret(text: &str) -> bool {
    names_secret(text) || OBJECTS.iter().any(|mark| mark.is_in(text))
}

/// Whether a text has a word of one that holds secrets.
fn names_secret(text: &str) -> bool {
    MARKS.iter().any(|mark| mark.is_in(text))
}

/// Whether SOPS encrypted a document (<https://github.com/getsops/sops>).
fn is_encrypted(document: &Node) -> bool {
    let has = |key: &str| document.get_path(&["sops", key]).is_some();
    has("mac") || has("lastmodified") || has("version")
}

#[cfg(test)]
mod tests {
    use yaml_tree::engine::Engine;
    use yaml_tree::json::{Html, to_json};
    use yaml_tree::opaque::show_labels;
    use yaml_tree::place::FileId;

    use super::{documents, is_patch_of_secret, secret_source, source};

    /// The documents of a file as JSON, with labels for people.
    fn read(text: &str, is_secret: bool) -> String {
        let source = if is_secret {
            secret_source("f.yaml", text)
        } else {
            source("f.yaml", text)
        };
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
        // JSON stays JSON, which `fromJson` reads.
        let text = "kind: Secret\nstringData: {a: '{\"b\": [\"x\", true]}'}\n";
        assert_eq!(
            read(text, false),
            r#"{"kind":"Secret","stringData":{"a":"{\"b\":[\"<secret f.yaml: stringData.a.b.0>\",true]}"}}"#
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
        let text = "k: '{\"users\": [{\"user\": {\"token\": \"SEKRET\"}}], \"clusters\": []}'\nl: {users: [{user: {token: SEKRET}}]}\n";
        assert!(!read(text, false).contains("SEKRET"));
        let text = "users: [{name: a, user: me}]\n";
        assert!(read(text, false).contains("me"));
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
    fn the_target_of_a_patch_names_secrets_by_a_word_or_a_pattern() {
        for (kind, is_secret) in [
            ("Secret", true),
            ("Sec.*", true),
            ("ConfigMap|Secret", true),
            ("Secrets", false),
            ("Config.*", false),
        ] {
            let text = format!("target: {{kind: '{kind}'}}");
            let read = yaml_tree::read(&text, FileId(0), Engine::Kubectl).expect("YAML");
            assert_eq!(is_patch_of_secret(&read.documents[0]), is_secret, "{kind}");
        }
    }

    #[test]
    fn a_text_that_is_no_yaml_is_secret_if_it_has_both_words_of_a_mark() {
        for (text, is_secret) in [
            ("users: [Config", true),
            ("users: [a", false),
            ("user: [Config", false),
            ("a: [stringData", true),
            ("a: [\\x", true),
            ("a: [\\n", false),
        ] {
            assert_eq!(source("f.yaml", text).has_secrets(), is_secret, "{text}");
        }
    }

    #[test]
    fn all_values_of_a_secrets_file_and_an_encrypted_document_are_secret() {
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
        let source = source("f.yaml", text);
        let hidden = |word: &str| {
            let start = text.find(word).expect("it is there") as u32;
            source.hides(start..start + word.len() as u32)
        };
        assert!(hidden("b,") && hidden("c}") && !hidden("a}"));
        assert!(super::source("f.yaml", "kind: Secret\ndata: [").hides(0..1));
        assert!(!super::source("f.yaml", "kind: Other\ndata: [").has_secrets());
    }

    #[test]
    fn a_tree_is_sealed_but_for_its_structure() {
        let text = "a: [x, 7, true, null]\nb: {c: '', d: 0, e: y}\n";
        let tree = yaml_tree::values(text, FileId(0), Engine::Helm3);
        let mut tree = tree.expect("values");
        super::seal(&mut tree, "f.yaml", "k");
        let shown = yaml_tree::emit(&tree.value);
        let shown = yaml_tree::opaque::show_labels(&shown).into_owned();
        assert!(
            !shown.contains('x') && !shown.contains('7') && !shown.contains("e: y"),
            "{shown}"
        );
        assert!(shown.contains("<secret f.yaml: k.a.0>"), "{shown}");
        assert!(shown.contains("true") && shown.contains("d: 0"), "{shown}");
    }
}
