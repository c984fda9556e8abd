//! The `replacements` of a kustomization: values that are copied from a field of one object to fields of others.
//!
//! <https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/replacements/>

use std::path::Path;
use std::sync::Arc;

use yaml_tree::Step;
use yaml_tree::value::{Node, Number, Value};

use super::depth::check_depth;
use super::files::resolve_path;
use super::json_patch::DEEPEST;
use super::object::Object;
use super::reader::LayerReader;
use super::selector::Selector;
use super::set::assign;
use crate::read::error::ReadError;

/// Applies a kustomization's replacements, inline or in files.
pub(super) fn replace(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    kustomization: &Node,
    objects: &mut [Object],
) -> Result<(), ReadError> {
    for item in kustomization.items(&["replacements"]) {
        let documents = match item.text(&["path"]) {
            None => vec![item.clone()],
            Some(named) => {
                let read = match resolve_path(folder, named) {
                    Some(path) => reader.objects(&path)?,
                    None => None,
                };
                let missing = || reader.refusal(format!("there is no file `{named}`"), item.place);
                read.ok_or_else(missing)?.to_vec()
            }
        };
        for document in &documents {
            let own = std::slice::from_ref(document);
            for replacement in document.value.as_list().unwrap_or(own) {
                apply(replacement, objects)
                    .map_err(|message| reader.refusal(message, replacement.place))?;
            }
        }
    }
    Ok(())
}

fn apply(replacement: &Node, objects: &mut [Object]) -> Result<(), String> {
    let value = source(replacement, objects)?;
    for target in replacement.items(&["targets"]) {
        let select = target
            .get_path(&["select"])
            .ok_or("a target lacks its `select`")?;
        let select = Selector::new(select)?;
        let rejected = target.items(&["reject"]).iter().map(Selector::new);
        let rejected: Vec<Selector> = rejected.collect::<Result<_, _>>()?;
        let meant = objects.iter_mut().filter(|object| {
            select.selects(object) && !rejected.iter().any(|reject| reject.selects(object))
        });
        let options = Options::from_node(target);
        let paths = target.items(&["fieldPaths"]);
        let default = Node::from_value("metadata.name");
        let paths = if paths.is_empty() {
            std::slice::from_ref(&default)
        } else {
            paths
        };
        for object in meant {
            for path in paths.iter().filter_map(|path| path.value.as_str()) {
                let (fields, before, mut count) = (parse(path)?, object.tree.clone(), 0);
                let mut set = |steps: &[Step], field: Option<&Node>| {
                    count += 1;
                    check_depth(&value, steps.len())?;
                    let mut field = field
                        .cloned()
                        .unwrap_or_else(|| Node::from_value(Value::Null));
                    options.set(&mut field, &value)?;
                    assign(&mut object.tree, steps, &field)
                };
                fields.walk(&before, options.creates, &mut set)?;
                if count == 0 {
                    let object = format!("{} `{}`", object.kind(), object.name());
                    return Err(format!("{object} has no field `{path}`"));
                }
            }
        }
    }
    Ok(())
}

/// The value that is copied.
fn source(replacement: &Node, objects: &[Object]) -> Result<Node, String> {
    if let Some(value) = replacement.get_path(&["sourceValue"]) {
        return Ok(value.clone());
    }
    let source = replacement
        .get_path(&["source"])
        .ok_or("a replacement lacks its `source`")?;
    let part = |key: &str| source.text(&[key]).filter(|text| !text.is_empty());
    let is_one = |object: &&Object| {
        let is = |key: &str, own: &str| part(key).is_none_or(|wanted| wanted == own);
        is("group", object.group())
            && is("version", object.version())
            && is("kind", object.kind())
            && object
                .names()
                .any(|named| is("name", &named.name) && is("namespace", &named.namespace))
    };
    let mut found = objects.iter().filter(is_one);
    let object = found
        .next()
        .ok_or("no object is the source of a replacement")?;
    if found.next().is_some() {
        return Err("several objects are the source of a replacement".to_owned());
    }
    let path = part("fieldPath").unwrap_or("metadata.name");
    let mut value = None;
    let mut get = |_: &[Step], node| -> Result<(), String> {
        value = value.or(node);
        Ok(())
    };
    parse(path)?.walk(&object.tree, false, &mut get)?;
    let missing = || {
        format!(
            "{} `{}` has no field `{path}`",
            object.kind(),
            object.name()
        )
    };
    let value = value.ok_or_else(missing)?.clone();
    let options = Options::from_node(source);
    match options.delimiter {
        "" => Ok(value),
        // A part of a secret is one.
        _ if value.opaque().is_some() => Ok(value),
        delimiter => {
            let whole = expect_text(&value)?;
            let index = usize::try_from(options.index).map_err(|_| "an index is negative")?;
            let part = whole.split(delimiter).nth(index);
            let part = part.ok_or_else(|| format!("`{path}` has no part {index}"))?;
            Ok(Node {
                value: part.into(),
                place: value.place,
            })
        }
    }
}

/// The `options` of a source or target.
struct Options<'n> {
    delimiter: &'n str,
    index: i64,
    creates: bool,
}

impl<'n> Options<'n> {
    fn from_node(node: &'n Node) -> Self {
        let index = node.get_path(&["options", "index"]).map(|node| &node.value);
        Self {
            delimiter: node.text(&["options", "delimiter"]).unwrap_or_default(),
            index: match index {
                Some(Value::Number(Number::Int(index))) => *index,
                _ => 0,
            },
            creates: node.flag(&["options", "create"]),
        }
    }

    /// Sets a field, or one part of it.
    fn set(&self, node: &mut Node, value: &Node) -> Result<(), String> {
        if self.delimiter.is_empty() {
            *node = value.clone();
            return Ok(());
        }
        if let Value::Opaque(_) = node.value {
            // What is a part of it is not known, and it stays a secret.
            return Ok(());
        }
        let part = match &value.value {
            Value::Opaque(opaque) => Arc::clone(&opaque.text),
            _ => expect_text(value)?,
        };
        let whole = expect_text(node)?;
        let mut parts: Vec<&str> = whole.split(self.delimiter).collect();
        match usize::try_from(self.index) {
            Err(_) => parts.insert(0, &part),
            Ok(index) if index >= parts.len() => parts.push(&part),
            Ok(index) => parts[index] = &part,
        }
        node.value = parts.join(self.delimiter).into();
        node.place = value.place;
        Ok(())
    }
}

fn expect_text(node: &Node) -> Result<Arc<str>, String> {
    let text = node.value.as_str().map(Arc::clone);
    text.ok_or_else(|| {
        format!(
            "a delimiter needs a string, and this is {}",
            node.value.kind()
        )
    })
}

fn parse(path: &str) -> Result<yaml_tree::Path, String> {
    let parsed = yaml_tree::Path::parse_field_path(path);
    match parsed.depth() {
        0..=DEEPEST => Ok(parsed),
        _ => Err(format!("a path leads deeper than {DEEPEST} keys")),
    }
}
