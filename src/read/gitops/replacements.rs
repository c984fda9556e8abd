//! The `replacements` of a kustomization: values that are copied from a field of one object to fields of others.
//!
//! <https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/replacements/>

use std::path::Path;
use std::sync::Arc;

use yaml_tree::value::{Entry, Node, Number, Value};

use super::files::below;
use super::json_patch::DEEPEST;
use super::object::{Object, map_mut};
use super::reader::Reader;
use super::selector::Selector;
use super::work::Work;
use crate::read::error::ReadError;

/// Applies a kustomization's replacements, inline or in files.
pub(super) fn replace(
    reader: &mut Reader<'_>,
    folder: &Path,
    kustomization: &Node,
    objects: &mut [Object],
) -> Result<(), ReadError> {
    for item in kustomization.items(&["replacements"]) {
        let documents = match item.text(&["path"]) {
            None => vec![item.clone()],
            Some(named) => {
                let read = match below(folder, named) {
                    Some(path) => reader.objects(&path)?,
                    None => None,
                };
                let missing = || reader.refused(format!("there is no file `{named}`"), item.place);
                read.ok_or_else(missing)?.to_vec()
            }
        };
        for document in &documents {
            let own = std::slice::from_ref(document);
            for replacement in document.value.as_list().unwrap_or(own) {
                reader.spend(objects.len(), replacement.place)?;
                apply(reader, replacement, objects)
                    .map_err(|message| reader.refused(message, replacement.place))?;
            }
        }
    }
    Ok(())
}

fn apply(reader: &Reader<'_>, replacement: &Node, objects: &mut [Object]) -> Result<(), String> {
    let work = &reader.work;
    let value = source(replacement, objects, work)?;
    for target in replacement.items(&["targets"]) {
        let select = target
            .at(&["select"])
            .ok_or("a target lacks its `select`")?;
        let select = Selector::new(select)?;
        let rejected = target.items(&["reject"]).iter().map(Selector::new);
        let rejected: Vec<Selector> = rejected.collect::<Result<_, _>>()?;
        work.spend(objects.len().saturating_mul(1 + rejected.len()))?;
        let meant = objects.iter_mut().filter(|object| {
            select.selects(object) && !rejected.iter().any(|reject| reject.selects(object))
        });
        let options = Options::of(target);
        let paths = target.items(&["fieldPaths"]);
        let default = Node::computed("metadata.name");
        let paths = if paths.is_empty() {
            std::slice::from_ref(&default)
        } else {
            paths
        };
        for object in meant {
            for path in paths.iter().filter_map(|path| path.value.as_str()) {
                let steps = steps(path)?;
                let mut set = |node: &mut Node| {
                    work.spend_on(&value, steps.len())?;
                    options.set(node, &value, work)
                };
                let count = visit(&mut object.tree, &steps, (options.creates, work), &mut set)?;
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
fn source(replacement: &Node, objects: &[Object], work: &Work) -> Result<Node, String> {
    if let Some(value) = replacement.at(&["sourceValue"]) {
        return Ok(value.clone());
    }
    let source = replacement
        .at(&["source"])
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
    let (mut tree, mut value) = (object.tree.clone(), None);
    let mut get = |node: &mut Node| {
        value.get_or_insert_with(|| node.clone());
        Ok(())
    };
    visit(&mut tree, &steps(path)?, (false, work), &mut get)?;
    let missing = || {
        format!(
            "{} `{}` has no field `{path}`",
            object.kind(),
            object.name()
        )
    };
    let value: Node = value.ok_or_else(missing)?;
    let options = Options::of(source);
    match options.delimiter {
        "" => Ok(value),
        delimiter => {
            let whole = written(&value)?;
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
    fn of(node: &'n Node) -> Self {
        let index = node.at(&["options", "index"]).map(|node| &node.value);
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
    fn set(&self, node: &mut Node, value: &Node, work: &Work) -> Result<(), String> {
        if self.delimiter.is_empty() {
            *node = value.clone();
            return Ok(());
        }
        let (whole, part) = (written(node)?, written(value)?);
        work.spend((whole.len() + part.len()) / STEP)?;
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

fn written(node: &Node) -> Result<Arc<str>, String> {
    let text = node.value.as_str().map(Arc::clone);
    text.ok_or_else(|| {
        format!(
            "a delimiter needs a string, and this is {}",
            node.value.kind()
        )
    })
}

/// A step of a field's path.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
    /// `*`: each item.
    Every,
    /// `[key=value]`: the items with that value.
    Where(String, String),
}

/// The bytes of a text that are one step of work.
const STEP: usize = 8;

/// The steps of a path: `a.b.[name=x].c`, `a.0`, `a.*`; a dot within a key has a backslash before it or brackets around it.
fn steps(path: &str) -> Result<Vec<Step>, String> {
    let mut parts = vec![String::new()];
    let (mut characters, mut is_inside) = (path.chars(), false);
    while let Some(character) = characters.next() {
        let last = parts.len() - 1;
        match character {
            '\\' => parts[last].extend(characters.next()),
            '[' => {
                is_inside = true;
                parts[last].push('[');
            }
            ']' => {
                is_inside = false;
                parts[last].push(']');
            }
            '.' if !is_inside => parts.push(String::new()),
            other => parts[last].push(other),
        }
    }
    if parts.len() > DEEPEST {
        return Err(format!("a path leads deeper than {DEEPEST} keys"));
    }
    let step = |part: String| {
        let inner = part
            .strip_prefix('[')
            .and_then(|part| part.strip_suffix(']'));
        match (inner.map(|inner| inner.split_once('=')), part.parse()) {
            (Some(Some((key, value))), _) => Step::Where(key.to_owned(), value.to_owned()),
            (Some(None), _) => Step::Key(inner.unwrap_or_default().to_owned()),
            (None, Ok(index)) => Step::Index(index),
            (None, _) if part == "*" => Step::Every,
            (None, _) => Step::Key(part),
        }
    };
    Ok(parts.into_iter().map(step).collect())
}

/// Visits the nodes at a path, and counts them.
fn visit(
    node: &mut Node,
    path: &[Step],
    (creates, work): (bool, &Work),
    visitor: &mut dyn FnMut(&mut Node) -> Result<(), String>,
) -> Result<usize, String> {
    let Some((step, rest)) = path.split_first() else {
        visitor(node)?;
        return Ok(1);
    };
    let is_missing = |node: &Node, key: &str| node.at(&[key]).is_none();
    if let (Step::Key(key), Value::Map(_) | Value::Null) = (step, &node.value) {
        if is_missing(node, key) && !creates {
            return Ok(0);
        }
        let map = map_mut(node);
        if map.get(key).is_none() {
            map.insert(Entry::computed(key.as_str(), Value::Null));
        }
        let below = map.get_mut(key);
        return below.map_or(Ok(0), |below| visit(below, rest, (creates, work), visitor));
    }
    if let (Step::Index(index), Value::Map(_)) = (step, &node.value) {
        let key = [Step::Key(index.to_string())];
        let mut below = |node: &mut Node| visit(node, rest, (creates, work), visitor).map(drop);
        return visit(node, &key, (creates, work), &mut below);
    }
    let Value::List(items) = &mut node.value else {
        return Ok(0);
    };
    let mut count = 0;
    work.spend(items.len())?;
    for (at, item) in Arc::make_mut(items).iter_mut().enumerate() {
        let is_meant = match step {
            Step::Index(index) => at == *index,
            Step::Every => true,
            Step::Where(key, value) => item.text(&[key]) == Some(value),
            Step::Key(_) => false,
        };
        if is_meant {
            count += visit(item, rest, (creates, work), visitor)?;
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::Step;

    fn steps(path: &str) -> Vec<Step> {
        super::steps(path).expect("a path")
    }

    #[test]
    fn a_path_has_keys_indexes_and_conditions() {
        let key = |key: &str| Step::Key(key.to_owned());
        let name = Step::Where("name".to_owned(), "a.b".to_owned());
        assert_eq!(
            steps("spec.containers.[name=a.b].image"),
            [key("spec"), key("containers"), name, key("image")]
        );
        assert_eq!(
            steps(r"a\.b.0.*"),
            [key("a.b"), Step::Index(0), Step::Every]
        );
        assert_eq!(steps("data.[x.y/z]"), [key("data"), key("x.y/z")]);
    }
}
