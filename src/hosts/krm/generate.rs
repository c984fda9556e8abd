//! The generator: what `render --stdout` prints, as items, the rendered bytes kept.

use yaml_tree::edit::{Edit, EditError, Position, Target, edit};
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::suggest::did_you_mean;
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::error::Error;
use crate::model::date::Date;
use crate::model::manifest::{FileKind, ManifestFile};
use crate::model::ownership;
use crate::pipeline::fleet::Fleet;
use crate::pipeline::rendered::{self, EMPTY, RenderedPart};
use crate::read::{self, Request, Workspace};

use super::config::Config;
use super::list::{List, item_target, set_key};
use super::result::{self, ItemReference, Outcome};

/// The file of an item and its index there, for hosts that write items to disk.
const PATH: &str = "internal.config.kubernetes.io/path";
const INDEX: &str = "internal.config.kubernetes.io/index";

/// A new item.
struct Item {
    /// The document with its annotations.
    text: String,
    node: Node,
    identity: ItemReference,
}

/// Adds the rendered objects to the list.
pub(super) fn run(
    request: &Request,
    config: &Config,
    list: &List<'_>,
    today: Date,
) -> Result<Outcome, Error> {
    let mut workspace = read::workspace(request)?;
    let outputs = &mut workspace.settings.outputs;
    if !config.targets.is_empty() {
        outputs.retain(|output| config.targets.contains(&output.target));
    }
    let entry = cluster(&workspace, config)?;
    let part = entry
        .as_ref()
        .map_or(RenderedPart::Whole, RenderedPart::Cluster);
    let rendered = rendered::render(Fleet::open(workspace, today)?, part)?;
    let results = result::results(&rendered.fleet_check.judged);
    if rendered.fleet_check.has_errors() {
        return Ok(super::pass_through(list, results));
    }
    let mut items = Vec::new();
    for file in &rendered.files {
        if file.kind == FileKind::Objects {
            collect_items(file, &mut items)?;
        }
    }
    if items.is_empty() {
        return Err(Error::usage(EMPTY));
    }
    let text = with_items(list, &config.identity, &items).map_err(|error| {
        Error::usage(format!(
            "the items find no place in the ResourceList: {error}"
        ))
    })?;
    Ok(Outcome {
        text,
        has_results: list.has_results,
        results,
    })
}

fn cluster(workspace: &Workspace, config: &Config) -> Result<Option<read::ClusterEntry>, Error> {
    let Some(name) = &config.cluster else {
        return Ok(None);
    };
    let mut entries = workspace.clusters.iter();
    if let Some(entry) = entries.find(|entry| *entry.name == **name) {
        return Ok(Some(entry.clone()));
    }
    let names = workspace.clusters.iter().map(|entry| &*entry.name);
    let help = did_you_mean(name, names);
    let help = help.map_or(String::new(), |meant| {
        format!("\nhelp: did you mean `{meant}`?")
    });
    Err(Error::usage(format!("there is no cluster `{name}`{help}")))
}

/// The documents of a rendered file.
fn collect_items(file: &ManifestFile, items: &mut Vec<Item>) -> Result<(), Error> {
    let broken =
        |error: String| Error::usage(format!("the rendered file `{}`: {error}", file.path));
    let text = ownership::body(&file.text);
    let parts = yaml_tree::parts(text).map_err(|error| broken(error.message.into()))?;
    let texts = parts.into_iter().map(|part| &text[part]);
    let texts = texts.filter(|text| !text.trim().is_empty());
    for (index, text) in texts.enumerate() {
        let read = |text: &str| -> Result<Option<Node>, Error> {
            let read = yaml_tree::read(text, FileId(0), Engine::Kubectl);
            let read = read.map_err(|error| broken(error.message.into()))?;
            Ok(read
                .documents
                .into_iter()
                .find(|node| !node.value.is_null()))
        };
        let Some(node) = read(text)? else {
            continue;
        };
        let text = annotate(text, &node, &file.path, index);
        let text = text.map_err(|error| broken(error.to_string()))?;
        if let Some(node) = read(&text)? {
            items.push(Item {
                identity: ItemReference::from_item(&node),
                text,
                node,
            });
        }
    }
    Ok(())
}

/// The document that says where it belongs.
fn annotate(text: &str, node: &Node, path: &str, index: usize) -> Result<String, EditError> {
    let index = index.to_string();
    let wanted = [(INDEX, &*index), (PATH, path)];
    let entries = || wanted.map(|(key, value)| Entry::from_value(key, value));
    let annotations = node.get_path(&["metadata", "annotations"]);
    let edits = match annotations.and_then(|node| node.value.as_map()) {
        None => vec![Edit::Insert {
            map: Target::keys(&["metadata"]),
            key: "annotations".to_owned(),
            value: Map::from_iter(entries()).into(),
            position: Position::First,
        }],
        Some(_) => {
            let insert = |entry: Entry| Edit::Insert {
                map: Target::keys(&["metadata", "annotations"]),
                key: entry.key.to_string(),
                value: entry.node.value,
                position: Position::Last,
            };
            entries().into_iter().map(insert).collect()
        }
    };
    edit(text, Engine::Kubectl, &edits)
}

/// The list with the new items: the configuration's own item goes, an object of the same identity is replaced in place,
/// others are added behind.
fn with_items(
    list: &List<'_>,
    config: &ItemReference,
    items: &[Item],
) -> Result<String, EditError> {
    let mut edits = Vec::new();
    let mut placed = vec![false; items.len()];
    for (index, item) in list.items.iter().enumerate() {
        let identity = ItemReference::from_item(item);
        let same = items.iter().position(|new| new.identity == identity);
        let at = item_target(index, &[]);
        match same.filter(|same| !placed[*same]) {
            Some(same) => {
                placed[same] = true;
                let Item { text, node, .. } = &items[same];
                let value = node.value.clone();
                edits.push(Edit::Set { at, value }.verbatim(text));
            }
            None if identity == *config => edits.push(Edit::Remove { at }),
            None => {}
        }
    }
    // A list that loses all that it has and gets others is another list.
    let is_another = edits.len() == list.items.len() && !placed.contains(&true);
    if !list.has_items || is_another {
        return edit(list.text, Engine::Kubectl, &[all_items(list, items)]);
    }
    let new = items.iter().zip(placed).filter(|(_, placed)| !placed);
    edits.extend(new.map(|(item, _)| {
        let insert = Edit::InsertItem {
            list: Target::keys(&["items"]),
            value: item.node.value.clone(),
            position: Position::Last,
        };
        insert.verbatim(&item.text)
    }));
    edit(list.text, Engine::Kubectl, &edits)
}

/// Makes the new items the only ones.
fn all_items(list: &List<'_>, items: &[Item]) -> Edit {
    let nodes = items.iter().map(|item| item.node.clone());
    let value = Value::from(nodes.collect::<Vec<Node>>());
    let text: String = items.iter().map(|item| to_list_item(&item.text)).collect();
    set_key("items", list.has_items, value, text)
}

/// A document as an item of a list.
fn to_list_item(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.lines().enumerate() {
        let before = match (number, line.is_empty()) {
            (0, _) => "- ",
            (_, true) => "",
            (_, false) => "  ",
        };
        out.extend([before, line, "\n"]);
    }
    out
}
