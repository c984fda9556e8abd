//! The Applications of an ApplicationSet whose generators read only this repository: lists, and folders or files in git
//! (<https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators/>).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use globset::GlobBuilder;

use yaml_tree::value::{Entry, Node, Number, Value};

use super::UNSUPPORTED;
use super::files::matches;
use super::object::{Object, set};
use super::reader::LayerReader;
use crate::read::error::ReadError;

/// The parameters of a generator, by name.
type Parameters = BTreeMap<String, String>;

/// The Applications that an ApplicationSet generates.
pub(super) fn applications(
    reader: &mut LayerReader<'_>,
    set: &Object,
) -> Result<Vec<Object>, ReadError> {
    let Some(template) = set.tree.get_path(&["spec", "template"]) else {
        return Ok(Vec::new());
    };
    let is_go = set.tree.flag(&["spec", "goTemplate"]);
    let mut made = Vec::new();
    for generator in set.tree.items(&["spec", "generators"]) {
        for parameters in parameters(reader, generator, is_go)? {
            made.push(application(reader, template, &parameters, is_go)?);
        }
    }
    Ok(made)
}

fn parameters(
    reader: &mut LayerReader<'_>,
    generator: &Node,
    is_go: bool,
) -> Result<Vec<Parameters>, ReadError> {
    let prefix = if is_go { "." } else { "" };
    if let Some(list) = generator.get_path(&["list"]) {
        let elements = list.items(&["elements"]).iter();
        return Ok(elements.map(|element| flat(element, prefix)).collect());
    }
    if let Some(git) = generator.get_path(&["git"]) {
        return match git.get_path(&["directories"]) {
            Some(_) => folders(reader, git, is_go),
            None => files(reader, git, prefix),
        };
    }
    let message = "this generator of an ApplicationSet is not supported".to_owned();
    let finding = reader.finding(UNSUPPORTED, message, generator.place);
    reader
        .findings
        .push(finding.help("name each cluster's values under `clusters`"));
    Ok(Vec::new())
}

fn folders(
    reader: &LayerReader<'_>,
    git: &Node,
    is_go: bool,
) -> Result<Vec<Parameters>, ReadError> {
    let mut excluded = Vec::new();
    for item in git
        .items(&["directories"])
        .iter()
        .filter(|item| item.flag(&["exclude"]))
    {
        let pattern = item.text(&["path"]).unwrap_or_default();
        match GlobBuilder::new(pattern).literal_separator(true).build() {
            Ok(glob) => excluded.push(glob.compile_matcher()),
            Err(_) => {
                return Err(
                    reader.refusal(format!("`{pattern}` is not a pattern of paths"), item.place)
                );
            }
        }
    }
    let mut found = BTreeSet::new();
    for item in git
        .items(&["directories"])
        .iter()
        .filter(|item| !item.flag(&["exclude"]))
    {
        for path in matches(reader.files, item.text(&["path"]).unwrap_or_default())? {
            if !excluded.iter().any(|glob| glob.is_match(&path))
                && reader.files.folder(&path)?.is_some()
            {
                found.insert(path);
            }
        }
    }
    Ok(found
        .iter()
        .map(|path| path_parameters(path, is_go))
        .collect())
}

fn path_parameters(path: &Path, is_go: bool) -> Parameters {
    let whole = path.to_string_lossy().into_owned();
    let base = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let names = if is_go {
        [".path.path", ".path.basename"]
    } else {
        ["path", "path.basename"]
    };
    let mut parameters: Parameters = names
        .map(str::to_owned)
        .into_iter()
        .zip([whole, base])
        .collect();
    for (index, part) in path.iter().enumerate() {
        let part = part.to_string_lossy().into_owned();
        let name = if is_go {
            format!("index .path.segments {index}")
        } else {
            format!("path[{index}]")
        };
        parameters.insert(name, part);
    }
    parameters
}

fn files(
    reader: &mut LayerReader<'_>,
    git: &Node,
    prefix: &str,
) -> Result<Vec<Parameters>, ReadError> {
    let mut paths = BTreeSet::new();
    for item in git.items(&["files"]) {
        paths.extend(matches(
            reader.files,
            item.text(&["path"]).unwrap_or_default(),
        )?);
    }
    let mut found = Vec::new();
    for path in paths {
        let documents = reader.objects(&path)?;
        for document in documents.iter().flat_map(|documents| documents.iter()) {
            let elements = document
                .value
                .as_list()
                .unwrap_or(std::slice::from_ref(document));
            for element in elements {
                let mut parameters =
                    path_parameters(path.parent().unwrap_or(Path::new("")), !prefix.is_empty());
                parameters.extend(flat(element, prefix));
                found.push(parameters);
            }
        }
    }
    Ok(found)
}

/// The scalars of an element, by path.
fn flat(element: &Node, prefix: &str) -> Parameters {
    let mut found = Parameters::new();
    let mut open = vec![(prefix.to_owned(), element)];
    while let Some((path, node)) = open.pop() {
        let shown = match &node.value {
            Value::Map(map) => {
                for entry in map.iter() {
                    let joint = if path.is_empty() || path.ends_with('.') {
                        ""
                    } else {
                        "."
                    };
                    open.push((format!("{path}{joint}{}", entry.key), &entry.node));
                }
                continue;
            }
            Value::String(text) => text.to_string(),
            Value::Opaque(opaque) => opaque.text.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(Number::Int(number)) => number.to_string(),
            Value::Number(Number::Float(number)) => number.to_string(),
            Value::Null | Value::List(_) => continue,
        };
        found.insert(path, shown);
    }
    found
}

fn application(
    reader: &LayerReader<'_>,
    template: &Node,
    parameters: &Parameters,
    is_go: bool,
) -> Result<Object, ReadError> {
    let mut tree = fill(reader, template, parameters, is_go)?;
    set(&mut tree, &["apiVersion"], "argoproj.io/v1alpha1".into());
    set(&mut tree, &["kind"], "Application".into());
    Ok(Object::new(tree))
}

/// The template with its `{{…}}` replaced.
fn fill(
    reader: &LayerReader<'_>,
    node: &Node,
    parameters: &Parameters,
    is_go: bool,
) -> Result<Node, ReadError> {
    let value = match &node.value {
        Value::String(text) if text.contains("{{") => {
            Value::from(fill_text(reader, text, node, parameters, is_go)?)
        }
        Value::List(items) => {
            let items = items
                .iter()
                .map(|item| fill(reader, item, parameters, is_go));
            Value::from(items.collect::<Result<Vec<_>, _>>()?)
        }
        Value::Map(map) => {
            let entries = map.iter().map(|entry| {
                let node = fill(reader, &entry.node, parameters, is_go)?;
                Ok(Entry {
                    node,
                    ..entry.clone()
                })
            });
            Value::Map(std::sync::Arc::new(
                entries.collect::<Result<_, ReadError>>()?,
            ))
        }
        other => other.clone(),
    };
    Ok(Node {
        value,
        place: node.place,
    })
}

fn fill_text(
    reader: &LayerReader<'_>,
    text: &str,
    node: &Node,
    parameters: &Parameters,
    is_go: bool,
) -> Result<String, ReadError> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else {
            break;
        };
        filled.push_str(before);
        match parameters.get(name.trim()) {
            Some(value) => filled.push_str(value),
            // Without Go templates, unknown names are kept.
            None if !is_go => filled.push_str(&format!("{{{{{name}}}}}")),
            None => {
                let message =
                    format!("`{{{{{name}}}}}` of an ApplicationSet is not evaluated here");
                return Err(reader.finding(UNSUPPORTED, message, node.place).into());
            }
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}
