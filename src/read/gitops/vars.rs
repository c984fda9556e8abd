//! The `vars` of kustomizations: `$(NAME)` in the fields that `varReference` of a configuration lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use yaml_tree::json::scalar_text;
use yaml_tree::place::Place;
use yaml_tree::value::{Node, Value};

use super::configuration::{Configuration, Missing};
use super::object::Object;
use super::reader::PlacedError;

/// A variable, whose value an object has.
pub(super) struct Var {
    name: Arc<str>,
    field: Arc<str>,
    place: Place,
}

impl Var {
    /// Those of a kustomization. The objects that have their values are marked.
    pub(super) fn read_all(
        kustomization: &Node,
        objects: &mut [Object],
    ) -> Result<Vec<Self>, String> {
        let mut all = Vec::new();
        for node in kustomization.items(&["vars"]) {
            let part = |path: &[&str]| node.nonempty_text(path);
            let name: Arc<str> = part(&["name"]).ok_or("a variable lacks its `name`")?.into();
            let (group, version) = match part(&["objref", "apiVersion"]) {
                Some(version) if let Some((group, version)) = version.split_once('/') => {
                    (Some(group), Some(version))
                }
                version => {
                    let version = version.or_else(|| part(&["objref", "version"]));
                    (part(&["objref", "group"]), version)
                }
            };
            let is = |wanted: Option<&str>, own: &str| wanted.unwrap_or_default() == own;
            let namespace = part(&["objref", "namespace"]);
            let meant = objects.iter_mut().filter(|object| {
                let mut names = object.names();
                is(group, object.group())
                    && is(version, object.version())
                    && is(part(&["objref", "kind"]), object.kind())
                    && names.any(|named| {
                        is(part(&["objref", "name"]), &named.name)
                            && namespace.is_none_or(|wanted| *wanted == *named.namespace)
                    })
            });
            let mut meant: Vec<&mut Object> = meant.collect();
            match &mut *meant {
                [] => {}
                [object] => object.variables.push(Arc::clone(&name)),
                _ => return Err(format!("several objects have the variable `{name}`")),
            }
            all.push(Self {
                name,
                // Its documents write it in lower case, and its reader takes both.
                field: part(&["fieldref", "fieldPath"])
                    .or_else(|| part(&["fieldref", "fieldpath"]))
                    .unwrap_or("metadata.name")
                    .into(),
                place: node.place,
            });
        }
        Ok(all)
    }

    /// Adds those of another kustomization.
    pub(super) fn merge(all: &mut Vec<Self>, more: Vec<Self>) -> Result<(), String> {
        for var in more {
            if all.iter().any(|known| known.name == var.name) {
                return Err(format!("the variable `{}` is declared twice", var.name));
            }
            all.push(var);
        }
        Ok(())
    }

    /// The value, in the object that has it.
    fn value(&self, objects: &[Object]) -> Result<Node, String> {
        let mut objects = objects.iter();
        let object = objects.find(|object| object.variables.contains(&self.name));
        let object = object.ok_or_else(|| format!("no object has the variable `{}`", self.name))?;
        let mut found = None;
        let mut visit = |_: &[yaml_tree::Step], node| -> Result<(), String> {
            found = found.or(node);
            Ok(())
        };
        yaml_tree::Path::parse_field_path(&self.field).walk(&object.tree, false, &mut visit)?;
        let is_scalar = |node: &&Node| scalar_text(&node.value).is_some();
        let missing = || {
            format!(
                "the field `{}` of {} has no value",
                self.field,
                object.title()
            )
        };
        found.filter(is_scalar).cloned().ok_or_else(missing)
    }
}

/// Fills all variables in.
pub(super) fn resolve(
    vars: &[Var],
    objects: &mut [Object],
    configuration: &Configuration,
) -> Result<(), PlacedError> {
    let at = |place: Place| move |message: String| PlacedError { place, message };
    let mut values = BTreeMap::new();
    for var in vars {
        let value = var.value(objects).map_err(at(var.place))?;
        values.insert(&*var.name, value);
    }
    let Some(first) = vars.first() else {
        return Ok(());
    };
    for object in objects {
        for field in configuration.fields("varReference") {
            let filled = field.change(object, Missing::Left, &mut |node| fill(node, &values));
            filled.map_err(at(first.place))?;
        }
    }
    Ok(())
}

type Values<'v> = BTreeMap<&'v str, Node>;

/// Fills in a text, or the texts of a map or a list.
fn fill(node: &mut Node, values: &Values<'_>) -> Result<(), String> {
    match &mut node.value {
        Value::String(text) => {
            if let Some(filled) = expand(text, values) {
                *node = filled;
            }
        }
        Value::Map(map) => {
            let texts = Arc::make_mut(map).iter_mut().map(|(_, below)| below);
            for text in texts.filter(|below| below.value.as_str().is_some()) {
                fill(text, values)?;
            }
        }
        Value::List(items) => {
            for item in Arc::make_mut(items) {
                if item.value.as_str().is_none() {
                    return Err(format!(
                        "a variable is expected, and this is {}",
                        item.value.kind()
                    ));
                }
                fill(item, values)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// A text with its variables filled in; one that is nothing but a variable gets the value itself. None if there is none.
fn expand(text: &str, values: &Values<'_>) -> Option<Node> {
    let mut filled = Node::from_value("");
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once('$') {
        out += before;
        rest = behind;
        let Some(inner) = rest.strip_prefix('(') else {
            // `$$` is one sign.
            rest = rest.strip_prefix('$').unwrap_or(rest);
            out.push('$');
            continue;
        };
        let Some((name, behind)) = inner.split_once(')') else {
            out.push('$');
            continue;
        };
        rest = behind;
        match values.get(name) {
            None => out += &format!("$({name})"),
            Some(value) if before.len() + name.len() + 3 == text.len() => {
                return Some(value.clone());
            }
            Some(value) => {
                out += &scalar_text(&value.value).unwrap_or_default();
                filled.place = value.place;
            }
        }
    }
    out += rest;
    filled.value = out.into();
    (filled.value.as_str().map(|filled| &**filled) != Some(text)).then_some(filled)
}
