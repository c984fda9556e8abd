//! The `replacements` of a kustomization: values that are copied from a field of one object to fields of others.
//!
//! <https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/replacements/>

use std::path::Path;
use std::sync::Arc;

use yaml_tree::Step;
use yaml_tree::value::{Node, Number, Value};

use super::depth::check_extent;
use super::files::resolve_path;
use super::json_patch::DEEPEST;
use super::object::Object;
use super::reader::LayerReader;
use super::selector::{By, Selector};
use super::set::assign;
use crate::read::error::ReadError;

/// The value that a replacement copies.
struct Copied {
    node: Node,
    /// As it is written, if it is a scalar.
    text: Arc<str>,
}

/// Applies a kustomization's replacements, inline or in files.
pub(super) fn replace(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    replacements: &[Node],
    objects: &mut [Object],
) -> Result<(), ReadError> {
    for item in replacements {
        let documents = match item.text(&["path"]) {
            None => vec![item.clone()],
            Some(named) => {
                let path = resolve_path(folder, named).unwrap_or_default();
                let read = reader.objects(&path)?;
                let missing = || reader.missing_file(named, &path, item.place);
                read.ok_or_else(missing)?.to_vec()
            }
        };
        for document in &documents {
            let own = std::slice::from_ref(document);
            for replacement in document.value.as_list().unwrap_or(own) {
                let source = Copied::new(replacement, objects, reader);
                let applied = source.and_then(|copied| copied.apply(replacement, objects, reader));
                applied.map_err(|message| reader.refusal(message, replacement.place))?;
            }
        }
    }
    Ok(())
}

impl Copied {
    /// Writes it into all targets.
    fn apply(
        &self,
        replacement: &Node,
        objects: &mut [Object],
        reader: &LayerReader<'_>,
    ) -> Result<(), String> {
        for target in replacement.items(&["targets"]) {
            let select = target
                .get_path(&["select"])
                .ok_or("a target lacks its `select`")?;
            let select = Selector::new(select)?;
            let rejected = target.items(&["reject"]).iter().map(Selector::new);
            let rejected: Vec<Selector> = rejected.collect::<Result<_, _>>()?;
            let mut meant = Vec::new();
            for object in objects.iter_mut() {
                if is_target(&select, &rejected, object)? {
                    meant.push(object);
                }
            }
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
                        check_extent(&self.node, steps.len())?;
                        let field = match field {
                            Some(field) => options.set(field, self, reader)?,
                            None => self.fresh(),
                        };
                        assign(&mut object.tree, steps, &field)
                    };
                    fields.walk(&before, options.creates, &mut set)?;
                    if count == 0 {
                        return Err(format!("{} has no field `{path}`", object.title()));
                    }
                }
            }
        }
        Ok(())
    }

    /// The value that a replacement copies.
    fn new(
        replacement: &Node,
        objects: &[Object],
        reader: &LayerReader<'_>,
    ) -> Result<Self, String> {
        if let Some(node) = replacement.get_path(&["sourceValue"]) {
            let text = node
                .value
                .as_str()
                .ok_or("a `sourceValue` is not text: quote it")?;
            let value = yaml_tree::plain(text);
            return Ok(Self {
                text: Arc::clone(text),
                node: Node::new(value, node.place),
            });
        }
        let source = replacement
            .get_path(&["source"])
            .ok_or("a replacement lacks its `source`")?;
        let part = |key: &str| source.nonempty_text(&[key]);
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
        let fields = parse(path)?;
        if fields.has_every() {
            return Err("the source of a replacement is one field, without `*`".to_owned());
        }
        fields.walk(&object.tree, false, &mut get)?;
        let missing = || {
            format!(
                "{} has no field `{path}`, or nothing is in it",
                object.title()
            )
        };
        let is_empty = |node: &Node| match &node.value {
            Value::Map(_) | Value::List(_) => node.children().next().is_none(),
            value => value.is_null(),
        };
        let node = value
            .filter(|node| !is_empty(node))
            .ok_or_else(missing)?
            .clone();
        let text = reader.spelling(&node);
        let options = Options::from_node(source);
        // A part of a secret is one.
        if options.delimiter.is_empty() || node.opaque().is_some() {
            return Ok(Self { node, text });
        }
        expect_scalar(&node)?;
        let index = usize::try_from(options.index).map_err(|_| "an index is negative")?;
        let part = text.split(options.delimiter).nth(index);
        let text: Arc<str> = part
            .ok_or_else(|| format!("`{path}` has no part {index}"))?
            .into();
        let value = match node.value {
            Value::String(_) => Value::String(Arc::clone(&text)),
            _ => yaml_tree::plain(&text),
        };
        Ok(Self {
            node: Node::new(value, node.place),
            text,
        })
    }

    /// What is made where a field is created.
    fn fresh(&self) -> Node {
        match self.node.value {
            Value::String(_) => Node::new(yaml_tree::plain(&self.text), self.node.place),
            _ => self.node.clone(),
        }
    }

    /// A field with the value: its type stays.
    fn put_into(&self, field: &Node) -> Result<Node, String> {
        let plain = yaml_tree::plain(&self.text);
        let value = match (&field.value, plain) {
            (Value::Map(_) | Value::List(_), _) => self.node.value.clone(),
            _ if self.node.opaque().is_some() => self.node.value.clone(),
            (Value::String(_) | Value::Opaque(_), _) => Value::String(Arc::clone(&self.text)),
            (Value::Bool(_), Value::Bool(flag)) => Value::Bool(flag),
            (Value::Number(Number::Float(_)), Value::Number(number)) => Value::Number(number),
            (Value::Number(Number::Int(_)), Value::Number(Number::Int(number))) => {
                Value::Number(Number::Int(number))
            }
            (Value::Null, _) if self.text.is_empty() => "".into(),
            (other, _) => {
                return Err(format!("`{}` is not {}", self.text, other.kind()));
            }
        };
        Ok(Node::new(value, self.node.place))
    }
}

/// Whether a target means an object. Versions of kustomize differ: some compare names with patterns, others as they are.
fn is_target(select: &Selector, rejected: &[Selector], object: &Object) -> Result<bool, String> {
    let is_meant = |by: By| {
        let is_rejected = |reject: &Selector| {
            reject.has_name() && reject.names(object, by)
                || reject.has_marks() && reject.is_marked(object)
        };
        select.names(object, by) && select.is_marked(object) && !rejected.iter().any(is_rejected)
    };
    let (of_texts, of_patterns) = (is_meant(By::Text), is_meant(By::Pattern));
    if of_texts == of_patterns {
        return Ok(of_texts);
    }
    let shown = object.title();
    Err(format!(
        "whether a target means {shown} depends on the version of kustomize: name it whole"
    ))
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

    /// A field with the value, or with it as one part.
    fn set(&self, field: &Node, copied: &Copied, reader: &LayerReader<'_>) -> Result<Node, String> {
        if self.delimiter.is_empty() {
            return copied.put_into(field);
        }
        if let Value::Opaque(_) = field.value {
            // What is a part of it is not known, and it stays a secret.
            return Ok(field.clone());
        }
        expect_scalar(field)?;
        let (part, whole) = (&copied.text, reader.spelling(field));
        let mut parts: Vec<&str> = whole.split(self.delimiter).collect();
        match usize::try_from(self.index) {
            Err(_) => parts.insert(0, part),
            Ok(index) if index >= parts.len() => parts.push(part),
            Ok(index) => parts[index] = part,
        }
        let joined = Copied {
            text: parts.join(self.delimiter).into(),
            node: Node::from_value(Value::Null),
        };
        let mut field = joined.put_into(field)?;
        field.place = copied.node.place;
        Ok(field)
    }
}

fn expect_scalar(node: &Node) -> Result<(), String> {
    match &node.value {
        Value::Map(_) | Value::List(_) => {
            let kind = node.value.kind();
            Err(format!("a delimiter needs a scalar, and this is {kind}"))
        }
        _ => Ok(()),
    }
}

fn parse(path: &str) -> Result<yaml_tree::Path, String> {
    let parsed = yaml_tree::Path::parse_field_path(path);
    match parsed.depth() {
        0..=DEEPEST => Ok(parsed),
        _ => Err(format!("a path leads deeper than {DEEPEST} keys")),
    }
}
