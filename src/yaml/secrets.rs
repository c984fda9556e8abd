//! What of a text is secret: the values of a file that is named after secrets, and of any other file the values of a
//! Secret's `data` and `stringData` and the literals of a `secretGenerator`, also within a kustomization's patch.
//!
//! A node decides, never the words of a file: the values of a chart may hold the template of a Secret and are no secret.
//! Keys are none either.

use crate::model::engine::Engine;
use crate::model::place::{FileId, Place, Secrets};
use crate::model::value::{Node, Value};

use super::{Documents, Spelling, read};

/// What of a file is secret. Of a file that is no YAML and mentions Secrets, everything is.
pub fn secrets(text: &str, is_named_secret: bool) -> Secrets {
    if !is_named_secret && !mentions_secret(text) {
        return Secrets::None;
    }
    let Ok(Documents { documents, .. }) = read(text, FileId(0), Engine::Kubectl) else {
        return Secrets::Whole;
    };
    let mut found = Vec::new();
    let mut add = |place: Place| found.push(place.start..place.end);
    for document in &documents {
        match is_named_secret {
            true => scalars(document, &mut add),
            false => of_node(document, (text, false), &mut add),
        }
    }
    found.into_iter().collect()
}

fn mentions_secret(text: &str) -> bool {
    let is_secret = |behind: &str| {
        let kind = behind.trim_start_matches(['"', '\'', ' ', ':']);
        kind.starts_with("Secret")
    };
    text.contains("secretGenerator") || text.split("kind").skip(1).any(is_secret)
}

/// The secrets of a node's objects. `text` is what it was read from: a file, or a patch in one.
fn of_node(node: &Node, (text, is_patch): (&str, bool), add: &mut dyn FnMut(Place)) {
    match &node.value {
        Value::Map(map) => {
            let kind = node.at(&["kind"]).and_then(|kind| kind.value.as_str());
            let is_secret = kind.is_some_and(|kind| &**kind == "Secret");
            for entry in map.iter() {
                match &*entry.key {
                    "data" | "stringData" if is_secret => scalars(&entry.node, add),
                    "secretGenerator" => literals(&entry.node, add),
                    "patch" | "patchesStrategicMerge" => {
                        patches(&entry.node, (text, is_patch), add)
                    }
                    _ => of_node(&entry.node, (text, is_patch), add),
                }
            }
        }
        Value::List(items) => {
            for item in items.iter() {
                of_node(item, (text, is_patch), add);
            }
        }
        _ => {}
    }
}

/// The values of a node, however deep.
pub fn scalars(node: &Node, add: &mut dyn FnMut(Place)) {
    match &node.value {
        Value::Map(map) => map.iter().for_each(|entry| scalars(&entry.node, add)),
        Value::List(items) => items.iter().for_each(|item| scalars(item, add)),
        Value::Null => {}
        _ => add(node.place),
    }
}

fn literals(generators: &Node, add: &mut dyn FnMut(Place)) {
    for generator in generators.value.as_list().unwrap_or_default() {
        if let Some(literals) = generator.at(&["literals"]) {
            scalars(literals, add);
        }
    }
}

/// The secrets of the patches in a scalar, or in each scalar of a list. A patch of a patch is secret as a whole where it
/// mentions a Secret.
fn patches(node: &Node, (text, is_patch): (&str, bool), add: &mut dyn FnMut(Place)) {
    for scalar in node.value.as_list().unwrap_or(std::slice::from_ref(node)) {
        let inner = scalar.value.as_str().filter(|inner| mentions_secret(inner));
        let Some(inner) = inner else { continue };
        match read(inner, FileId(0), Engine::Kubectl) {
            Ok(Documents { documents, .. }) if !is_patch => {
                let spelling = Spelling::new(text, scalar.place, inner);
                let mut add = |place: Place| {
                    add(spelling.place(inner, place.start as usize..place.end as usize));
                };
                for document in &documents {
                    of_node(document, (inner, true), &mut add);
                }
            }
            _ => add(scalar.place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::secrets;
    use crate::model::place::Source;

    /// The texts that are secret.
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
    fn the_data_of_a_secret_is_secret_and_nothing_else_of_it() {
        let text = "kind: Secret\nmetadata: {name: a}\nstringData:\n  user: me\n  more: {pin: 12}\n---\n\
                    kind: List\nitems:\n- {kind: Secret, data: {b: eA==}}\n- {kind: ConfigMap, data: {c: plain}}\n";
        assert_eq!(hidden(text, false), ["me", "12", "eA=="]);
    }

    #[test]
    fn the_template_of_a_secret_is_no_secret() {
        let text = "units:\n  a:\n    template: |\n      kind: Secret\n      data:\n        key: value\nversion: 1\n";
        assert_eq!(hidden(text, false), [""; 0]);
    }

    #[test]
    fn a_secret_generator_s_literals_and_a_patched_secret_are_secret() {
        let text = "secretGenerator:\n- name: a\n  literals: [password=hunter2]\npatches:\n- patch: |\n    kind: Secret\n    \
                    metadata: {name: b}\n    stringData:\n      token: correct-horse\n- path: c.yaml\n";
        assert_eq!(hidden(text, false), ["password=hunter2", "correct-horse"]);
    }

    #[test]
    fn of_a_file_named_after_secrets_each_value_is_secret_and_no_key() {
        let text = "images:\n  ubuntu-noble: {enabled: true}\npassword: hunter2\n";
        assert_eq!(hidden(text, true), ["true", "hunter2"]);
        assert_eq!(hidden(text, false), [""; 0]);
    }

    #[test]
    fn what_cannot_be_read_is_secret_where_it_mentions_one() {
        assert_eq!(hidden("kind: Secret\ndata: [", false).len(), 3);
        assert_eq!(hidden("kind: Other\ndata: [", false), [""; 0]);
    }
}
