//! The walk that puts labels in place of the secrets in documents.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use go_template::regexp::Regexp;
use yaml_tree::bytes::BASE64;
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::opaque::{Opaque, OpaqueKind, is_opaque, label};
use yaml_tree::place::{FileId, Place, Source};
use yaml_tree::value::{Entry, Map, Node, Value};
use yaml_tree::{Spelling, quote};

use super::template::Actions;
use super::{DEPTH, PRIVATE_KEY, is_encrypted, join, mentions_secret, seal_value};

/// A secret that was replaced.
pub(super) struct Seal {
    /// Its range in the text.
    pub(super) range: Range<u32>,
    /// The label in its place.
    pub(super) text: Arc<str>,
}

/// Which of a map's fields hold secrets, by what its other fields say.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Holder {
    is_encrypted: bool,
    is_secret: bool,
    is_list: bool,
    is_generator: bool,
    is_kubeconfig: bool,
    is_patch: bool,
    may_be_patch: bool,
}

impl Holder {
    pub(super) fn new(node: &Node) -> Self {
        let mut holder = Self::default();
        for Entry {
            key, node: field, ..
        } in node.entries(&[])
        {
            match &**key {
                "kind" => {
                    holder.is_secret = may_say(field, "Secret");
                    holder.is_list = may_say(field, "SecretList");
                    holder.is_generator = field.text(&[]) == Some("SecretGenerator");
                    holder.is_kubeconfig |= may_say(field, "Config");
                }
                "contexts" => holder.is_kubeconfig = true,
                "users" => holder.is_kubeconfig |= has_users(field),
                "sops" => holder.is_encrypted = is_encrypted(node),
                "target" => {
                    holder.is_patch = is_patch_of_secret(node);
                    holder.may_be_patch = may_be_patch_of_secret(node);
                }
                _ => {}
            }
        }
        holder
    }

    /// What either of them says, in another layer. SOPS encrypts a file of its own.
    pub(super) fn merge(self, other: Self) -> Self {
        Self {
            is_encrypted: false,
            is_secret: self.is_secret || other.is_secret,
            is_list: self.is_list || other.is_list,
            is_generator: self.is_generator || other.is_generator,
            is_kubeconfig: self.is_kubeconfig || other.is_kubeconfig,
            is_patch: self.is_patch || other.is_patch,
            may_be_patch: self.may_be_patch || other.may_be_patch,
        }
    }
}

/// Replaces the secrets of a text's documents.
pub(super) struct Seals<'a> {
    path: &'a str,
    text: &'a str,
    /// How many strings are around the text.
    depth: usize,
    /// Whether what says no kind is a Secret: a patch of one, or an item of a list of them.
    is_of_secrets: bool,
    pub(super) found: Vec<Seal>,
    /// What may be put into a Secret, and is not shown.
    pub(super) hidden: Vec<Range<u32>>,
}

impl<'a> Seals<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self::for_text(&source.path, &source.text)
    }

    pub(super) fn for_text(path: &'a str, text: &'a str) -> Self {
        Self {
            path,
            text,
            depth: 0,
            is_of_secrets: false,
            found: Vec::new(),
            hidden: Vec::new(),
        }
    }

    pub(super) fn document(&mut self, document: &mut Node, is_secret: bool) {
        if is_secret {
            self.seal_data(document, "");
        } else {
            self.objects(document, "");
        }
    }

    /// Replaces the secrets of the objects in a node.
    pub(super) fn objects(&mut self, node: &mut Node, keys: &str) {
        self.replace_secrets(Holder::new(node), node, keys);
    }

    /// Replaces the secrets of a node, and of the objects in it, that holds some as this says.
    pub(super) fn replace_secrets(&mut self, holder: Holder, node: &mut Node, keys: &str) {
        let Holder {
            is_encrypted,
            is_kubeconfig,
            is_list,
            is_generator,
            is_patch,
            may_be_patch,
            ..
        } = holder;
        // All that is written there: also a comment, and what a second key of the same name hides.
        let is_certain = !node.text(&["kind"]).is_some_and(is_expression);
        let has_data =
            || { ["data", "binaryData"].iter() }.any(|key| node.get_path(&[key]).is_some());
        if is_encrypted || holder.is_secret && (is_certain || has_data()) {
            self.hidden.push(node.place.start..node.place.end);
        }
        if is_encrypted {
            return self.seal_data(node, keys);
        }
        let is_secret = holder.is_secret
            || self.is_of_secrets && node.text(&["kind"]).is_none()
            || may_be_secret_by_key(node);
        let patched = first_key(node).map(str::to_owned);
        match &mut node.value {
            Value::Map(map) => self.entries(map, keys, |seals, key, node, keys| match key {
                "data" | "binaryData" if is_secret => seals.seal_encoded(node, keys),
                // A key that is an expression may be `data`, unless it is the kind.
                _ if is_secret && is_expression(key) && node.text(&[]) != Some("Secret") => {
                    seals.seal_encoded(node, keys);
                }
                // Nothing else has fields of these names.
                "stringData" | "passwd" | "hashed_passwd" | "plain_text_passwd" | "chpasswd"
                | "passwordHash" | "password_hash" => seals.seal(node, keys),
                "users" if is_kubeconfig => seals.seal(node, keys),
                "secretGenerator" => seals.generators(node, keys),
                "items" if is_list => seals.walk_secrets(|seals| seals.objects(node, keys)),
                "patch" if is_patch => seals.walk_secrets(|seals| seals.objects(node, keys)),
                "patch" if may_be_patch => {
                    seals.hidden.push(node.place.start..node.place.end);
                    seals.objects(node, keys);
                }
                "value" if patched.as_deref() == Some("stringData") => seals.seal(node, keys),
                "value" if patched.as_deref() == Some("data") && seals.is_of_secrets => {
                    seals.seal_encoded(node, keys);
                }
                "value" if patched.as_deref() == Some("data") => {
                    seals.hidden.push(node.place.start..node.place.end);
                    seals.objects(node, keys);
                }
                _ if is_generator => seals.generator_field(key, node, keys),
                _ => seals.objects(node, keys),
            }),
            Value::List(items) => self.items(items, keys, Self::objects),
            Value::String(text) if text.trim_start().starts_with("ENC[") => self.seal(node, keys),
            Value::String(text) => {
                let text = Arc::clone(text);
                self.string(node, &text, keys);
            }
            _ => {}
        }
    }

    /// Walks through what is a Secret where it says no kind.
    pub(super) fn walk_secrets(&mut self, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.is_of_secrets, true);
        walk(self);
        self.is_of_secrets = outer;
    }

    /// Replaces all texts and numbers at and below a node, but for what objects and references are found by.
    pub(super) fn seal_data(&mut self, node: &mut Node, keys: &str) {
        let kind = node.text(&["kind"]);
        let (is_object, is_secret) = (kind.is_some(), kind == Some("Secret"));
        let is_operation = first_key(node).is_some();
        match &mut node.value {
            Value::Map(map) => self.entries(map, keys, |seals, key, node, keys| match key {
                "apiVersion" | "apiGroup" | "kind" | "name" | "namespace" if is_object => {}
                "clusterName" => {}
                "op" | "path" | "from" if is_operation => {}
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
    pub(super) fn seal(&mut self, node: &mut Node, keys: &str) {
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
    pub(super) fn seal_anchors(&mut self, node: &mut Node, known: &HashMap<u32, Arc<str>>) {
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
                match seal_value(decoded.as_deref().unwrap_or(text), self.path, keys) {
                    // What has no text that is secret is in base64 as before.
                    Value::String(known) => BASE64.encode(known.as_bytes()).into(),
                    sealed => sealed,
                }
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

    fn generators(&mut self, node: &mut Node, keys: &str) {
        match &mut node.value {
            Value::List(items) => self.items(items, keys, Self::generators),
            Value::Map(map) => self.entries(map, keys, |seals, key, node, keys| {
                seals.generator_field(key, node, keys);
            }),
            _ => self.seal(node, keys),
        }
    }

    /// Replaces what a field of a secretGenerator holds, unless it says what is made, or of which files.
    fn generator_field(&mut self, key: &str, node: &mut Node, keys: &str) {
        match (key, &mut node.value) {
            ("apiVersion" | "kind" | "metadata" | "name" | "namespace" | "type", _) => {}
            ("behavior" | "options", _) => {}
            ("literals", Value::List(items)) => self.items(items, keys, Self::literal),
            ("files" | "envs" | "env", Value::List(items)) => {
                self.items(items, keys, Self::hide_file)
            }
            ("env", _) => self.hide_file(node, keys),
            _ => self.seal(node, keys),
        }
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

    /// Shows nothing of a file that is named behind a key: someone may have written `files` for `literals`, or `key: value` for
    /// `key=path`. Kustomize takes what has a second `=`, or is no text, for no path.
    fn hide_file(&mut self, node: &mut Node, keys: &str) {
        let named = node.value.as_str().map(|text| text.split_once(['=', ':']));
        if let Some(None) = named {
            return;
        }
        self.hidden.push(node.place.start..node.place.end);
        if named.flatten().is_none_or(|(_, path)| path.contains('=')) {
            self.seal(node, keys);
        }
    }

    /// Replaces the secrets of the objects in a string. One that is no YAML is secret as a whole; of a template, what is written
    /// around its actions is.
    fn string(&mut self, node: &mut Node, text: &str, keys: &str) {
        if !self.is_of_secrets && !mentions_secret(text) {
            return;
        }
        if text.trim_start().starts_with("-----BEGIN ") && text.contains(PRIVATE_KEY) {
            return self.seal(node, keys);
        }
        let actions = Actions::find(text);
        let plain = actions.blank(text);
        let (mut hidden, mut again) = (Vec::new(), None);
        let mut found = match yaml_tree::read(&plain, FileId(0), Engine::Kubectl) {
            Ok(read) => {
                let is_data = |node: &Node| matches!(node.value, Value::Map(_) | Value::List(_));
                if actions.is_empty() && !read.documents.iter().any(is_data) {
                    return;
                }
                if self.depth >= DEPTH {
                    return self.seal(node, keys);
                }
                let mut inner = Seals {
                    depth: self.depth + 1,
                    is_of_secrets: self.is_of_secrets,
                    ..Seals::for_text(self.path, &plain)
                };
                let mut documents = read.documents;
                for document in &mut documents {
                    inner.objects(document, keys);
                }
                hidden = inner.hidden;
                if actions.is_empty() && !inner.found.is_empty() {
                    again = Some(print_again(text, &documents));
                }
                inner.found
            }
            Err(_) if actions.is_empty() || self.is_of_secrets => return self.seal(node, keys),
            Err(_) => Vec::new(),
        };
        found.sort_by_key(|seal| seal.range.start);
        if !actions.is_empty() {
            // What is no YAML without the actions, or is not kept of several lines.
            let is_open = |range: &Range<u32>| {
                let before = found.partition_point(|seal| seal.range.start < range.end);
                let last = found[..before].last();
                last.is_none_or(|seal| seal.range.end <= range.start)
            };
            let made = actions.secret_arguments(text, text.contains("Secret"));
            let written = actions.data_blocks(text).into_iter().chain(made);
            let written = written.filter(is_open);
            let label: Arc<str> = label(self.path, keys).into();
            let seal = |range| Seal {
                range,
                text: Arc::clone(&label),
            };
            let written: Vec<Seal> = written.map(seal).collect();
            found.extend(written);
            found.sort_by_key(|seal| seal.range.start);
        }
        let spelling = Spelling::new(self.text, node.place, text);
        self.hidden.extend(hidden.into_iter().map(|range| {
            let place = spelling.place(text, range.start as usize..range.end as usize);
            place.start..place.end
        }));
        self.replace_in(node, text, found, &actions, &spelling);
        if let Some(again) = again {
            node.value = again.into();
        }
    }

    /// Replaces these secrets of a string's text.
    fn replace_in(
        &mut self,
        node: &mut Node,
        text: &str,
        found: Vec<Seal>,
        actions: &Actions,
        spelling: &Spelling,
    ) {
        if found.is_empty() {
            return;
        }
        let (mut sealed, mut kept) = (String::with_capacity(text.len()), 0);
        for seal in found {
            let (start, end) = (seal.range.start as usize, seal.range.end as usize);
            // An alias shows the same secret again.
            if start < kept {
                continue;
            }
            sealed += &text[kept..start];
            match actions.literals(text, start..end) {
                None => sealed += &quote(&seal.text),
                Some(literals) => {
                    let mut done = start;
                    for literal in literals {
                        sealed += &text[done..literal.start];
                        sealed += &label(self.path, "");
                        done = literal.end;
                    }
                    sealed += &text[done..end];
                }
            }
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

/// The documents of a text, printed again: nothing stays of it that they do not hold, such as a comment, or what a second key of the
/// same name hides.
pub(super) fn print_again(text: &str, documents: &[Node]) -> String {
    match documents {
        [document] if text.trim_start().starts_with(['{', '[']) => {
            to_json(&document.value, Html::Plain)
        }
        documents => {
            let texts = documents
                .iter()
                .map(|document| yaml_tree::emit(&document.value));
            texts.collect::<Vec<_>>().join("---\n")
        }
    }
}

/// Whether these are users as a kubeconfig lists them, each with its credentials.
fn has_users(users: &Node) -> bool {
    users.children().any(|user| {
        matches!(
            user.get_path(&["user"]),
            Some(Node {
                value: Value::Map(_),
                ..
            })
        )
    })
}

/// Whether a text is an expression, which may be any text once it is evaluated.
fn is_expression(text: &str) -> bool {
    text.contains("{{")
}

/// Whether a key that is an expression may be the `kind` of a Secret. Where its value is one too, only that of an object, which has
/// an `apiVersion` or data: the pools of a cluster may have such names.
fn may_be_secret_by_key(node: &Node) -> bool {
    let made = || node.entries(&[]).filter(|entry| is_expression(&entry.key));
    let is_object = || {
        let mut known = ["apiVersion", "data", "binaryData"].into_iter();
        let texts = made().filter(|entry| entry.node.text(&[]).is_some());
        known.any(|key| node.get_path(&[key]).is_some()) || texts.count() > 1
    };
    made().any(|entry| {
        entry.node.text(&[]) == Some("Secret") || may_say(&entry.node, "Secret") && is_object()
    })
}

/// Whether a node is this word, or may be it once it is evaluated.
fn may_say(node: &Node, word: &str) -> bool {
    match &node.value {
        Value::String(text) => match (text.split_once("{{"), text.rsplit_once("}}")) {
            (Some((before, _)), Some((_, behind))) => {
                word.starts_with(before) && word.ends_with(behind)
            }
            _ => **text == *word,
        },
        // Sylva's text that is not evaluated.
        Value::Map(map) => map.get("(raw)").is_some(),
        Value::Opaque(_) => true,
        _ => false,
    }
}

/// The first key of the path of an operation of a JSON patch.
fn first_key(node: &Node) -> Option<&str> {
    node.text(&["op"])?;
    node.text(&["path"])?.strip_prefix('/')?.split('/').next()
}

/// Whether a map is a patch of kustomize, whose target is a Secret.
pub fn is_patch_of_secret(node: &Node) -> bool {
    let kind = node.text(&["target", "kind"]);
    kind.is_some_and(|kind| {
        // Nearly all are words, and it takes a while to compile a pattern.
        if kind.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return kind == "Secret";
        }
        let pattern = Regexp::new(&format!("^(?:{kind})$"));
        is_expression(kind) || pattern.is_ok_and(|pattern| pattern.is_match("Secret"))
    })
}

/// Whether the target of a patch says no kind, so that Secrets may be patched: no line of it is quoted.
pub fn may_be_patch_of_secret(node: &Node) -> bool {
    let target = node.get_path(&["target"]);
    target.is_some_and(|target| target.text(&["kind"]).is_none())
}
