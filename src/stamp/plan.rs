//! What a run comes to: which image each object boots, the edits of each file, and what is wrong with either.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::engine::Engine;
use crate::model::finding::Finding;
use crate::model::place::Source;
use crate::model::stamping::{Asked, StampEntry, Wish};
use crate::model::value::{Map, Node, Value};
use crate::objects::standing::{Choice, FieldChange, Manifests, Standing, version_node};
use crate::providers::{self, Kind, Provider, Stamp, edited};
use crate::yaml::edit::{Edit, Step, Target, edit};

use super::choose::{self, Chooser};
use super::fields::{self, Change};
use super::rotate::{self, AllCopies};
use super::wish::{Wished, known, wishes};

/// What stamping comes to.
#[derive(Default)]
pub struct Plan {
    /// What each object comes to, in the objects' order.
    pub choices: Vec<Choice>,
    /// The Kubernetes versions that are written, by the object's index.
    pub versions: BTreeMap<usize, Arc<str>>,
    /// The files that change, each with its new text.
    pub files: Vec<(Arc<Source>, String)>,
    /// What is wrong with markers and choices.
    pub findings: Vec<Finding>,
    /// The edits of each object.
    pub(super) edits: BTreeMap<usize, Vec<Edit>>,
}

/// How templates are stamped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Rename a template whose image changes, and move what refers to it.
    pub rotate: bool,
    /// How many templates of the past are kept.
    pub keep: usize,
    /// Bring the Kubernetes version of those who use a template to its image's.
    pub set_version: bool,
}

/// Plans the edits of all files. Where an object has a problem nothing of it changes, and its choice says why.
pub fn plan(
    objects: &[Standing],
    entries: &[StampEntry],
    chooser: &Chooser<'_>,
    options: &Options,
) -> Plan {
    let mut plan = Plan {
        choices: vec![Choice::default(); objects.len()],
        ..Plan::default()
    };
    let wishes = wishes(objects, entries, &mut plan.choices, &mut plan.findings);
    let runners = all_runners(objects, chooser);
    // A version that follows the image says nothing of which image is meant.
    let versions = match options.set_version {
        true => BTreeMap::new(),
        false => versions(objects, &runners),
    };
    let mut contents = BTreeMap::new();
    for wished in &wishes {
        let runs = versions.get(&wished.object).map(|text| &**text);
        one(objects, wished, runs, chooser, &mut plan, &mut contents);
    }
    if options.set_version {
        rotate::set_versions(objects, &runners, chooser, &mut plan);
    }
    let copies = match options.rotate {
        true => rotate::rotate(objects, &contents, options, &mut plan),
        false => AllCopies::new(),
    };
    let (files, is_whole) = files(objects, &plan.edits, &copies, &mut plan.choices);
    // A name that changes in one file and not in another would leave references in the air.
    if is_whole || !options.rotate {
        plan.files = files;
    }
    plan
}

fn all_runners(objects: &[Standing], chooser: &Chooser<'_>) -> BTreeMap<usize, Vec<usize>> {
    let manifests = Manifests {
        objects,
        choices: &[],
        images: chooser.images,
        versions: &BTreeMap::new(),
        matching: chooser.matching,
    };
    manifests.all_runners()
}

/// The Kubernetes version of each template's machines, where its runners agree on one.
fn versions(
    objects: &[Standing],
    runners: &BTreeMap<usize, Vec<usize>>,
) -> BTreeMap<usize, Arc<str>> {
    let one = runners.iter().filter_map(|(template, runners)| {
        let said = runners.iter().filter_map(|index| {
            let (_, node) = version_node(&objects[*index])?;
            node.value.as_str().cloned()
        });
        let mut said: Vec<Arc<str>> = said.collect();
        said.sort();
        said.dedup();
        match &said[..] {
            [version] => Some((*template, Arc::clone(version))),
            _ => None,
        }
    });
    one.collect()
}

/// One wish: its image, and the edits that bring the object to it.
fn one(
    objects: &[Standing],
    wished: &Wished,
    runs: Option<&str>,
    chooser: &Chooser<'_>,
    plan: &mut Plan,
    contents: &mut BTreeMap<usize, Map>,
) {
    let (index, object) = (wished.object, &objects[wished.object]);
    let choice = &mut plan.choices[index];
    if matches!(wished.wish.asked, Asked::Nothing) || object.is_kept() {
        return;
    }
    if wished.field.is_none() {
        choice.spot.clone_from(&wished.wish.spot);
    }
    let key = match chooser.image(&wished.wish, runs) {
        Ok(key) => key,
        Err(finding) => return plan.findings.push(*finding),
    };
    let Some(stamp) = chooser
        .images
        .get(&key)
        .and_then(|image| (chooser.stamp)(image))
    else {
        return;
    };
    let stamp = match stamp {
        Ok(stamp) => Stamp {
            region: wished.wish.region.clone(),
            ..stamp
        },
        Err(finding) => return plan.findings.push(*finding),
    };
    let made = match &wished.field {
        Some(field) => of_field(object, field, &wished.wish, &stamp),
        None => of_object(object, &stamp).map(|(changes, content)| {
            contents.insert(index, content);
            changes
        }),
    };
    if wished.field.is_none() {
        choice.image = Some(key);
    }
    match made {
        Ok(changes) => {
            choice
                .changes
                .extend(changes.iter().map(|change| told(object, change)));
            let edits = changes.into_iter().filter_map(|change| change.edit);
            plan.edits.entry(index).or_default().extend(edits);
        }
        Err(problems) => {
            choice.spot.clone_from(&wished.wish.spot);
            choice.problems.extend(problems);
        }
    }
}

/// The image fields of an object that are not as its image says, and the object with them.
fn of_object(object: &Standing, stamp: &Stamp) -> Result<(Vec<Change>, Map), Vec<String>> {
    let Some((provider, kind)) = providers::of_object(&object.api_version, &object.kind) else {
        let (_, version) = object.group_version();
        let versions = known(object).map_or(String::new(), |kind| kind.versions.join(", "));
        let message = format!("{} is known in {versions}, not in {version}", object.kind);
        return Err(vec![message]);
    };
    let mut problems = fields::problems(stamp, provider, kind);
    match changed(object, provider, kind, stamp) {
        Ok(changes) if problems.is_empty() => return Ok(changes),
        Ok(_) => {}
        Err(problem) => problems.push(problem),
    }
    Err(problems)
}

fn changed(
    object: &Standing,
    provider: &dyn Provider,
    kind: &Kind,
    stamp: &Stamp,
) -> Result<(Vec<Change>, Map), String> {
    let (_, version) = object.group_version();
    let wanted = provider.stamp(kind, version, stamp)?;
    let changes = fields::changes(&object.node, (object.document, &object.steps), &wanted)?;
    let root = object.node.value.as_map();
    let root = root.map_or_else(Map::default, |map| (**map).clone());
    Ok((changes, edited(root, &wanted)?))
}

/// One scalar that a marker names.
fn of_field(
    object: &Standing,
    (steps, node): &(Vec<Step>, Node),
    wish: &Wish,
    stamp: &Stamp,
) -> Result<Vec<Change>, Vec<String>> {
    let name = wish.field.as_deref().unwrap_or("url");
    let Some(text) = choose::word(stamp, name) else {
        let key = stamp.key.as_deref().unwrap_or_default();
        return Err(vec![format!("nothing says `{name}` of image `{key}`")]);
    };
    let value = match &node.value {
        Value::String(old) if old.starts_with('v') && name == "k8s-version" => {
            format!("v{}", text.strip_prefix('v').unwrap_or(&text)).into()
        }
        _ => Value::String(text),
    };
    if node.value.same(&value) {
        return Ok(Vec::new());
    }
    let at = Target::Path(object.document, steps.clone());
    Ok(vec![Change {
        path: shown(&steps[object.steps.len()..]),
        current: Some(node.clone()),
        proposed: Some(value.clone()),
        edit: Some(Edit::Set { at, value }),
    }])
}

/// `spec.variables[0].value`
fn shown(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.push_str(&format!(".{key}")),
            Step::Item(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

fn told(object: &Standing, change: &Change) -> FieldChange {
    let says = |node: &Node| {
        let is_empty = node.value.as_str().is_some_and(|text| text.is_empty());
        !node.value.is_null() && !is_empty
    };
    FieldChange {
        path: change.path.clone(),
        spot: change.place().and_then(|place| object.spot(place)),
        overwrites: change.current.as_ref().is_some_and(says),
    }
}

/// The texts of the files that change, and whether none is left out. A file that cannot be edited as a whole stays; the objects to blame are told.
fn files(
    objects: &[Standing],
    edits: &BTreeMap<usize, Vec<Edit>>,
    copies: &AllCopies,
    choices: &mut [Choice],
) -> (Vec<(Arc<Source>, String)>, bool) {
    let (mut changed, mut is_whole) = (Vec::new(), true);
    let mut start = 0;
    for file in objects.chunk_by(|a, b| Arc::ptr_eq(&a.source, &b.source)) {
        let range = start..start + file.len();
        start = range.end;
        let all: Vec<Edit> = edits
            .range(range.clone())
            .flat_map(|(_, edits)| edits.clone())
            .collect();
        if all.is_empty() {
            continue;
        }
        let source = &file[0].source;
        match edit(&source.text, Engine::Kubectl, &all) {
            Ok(text) => {
                let copied = copies.get(&source.path);
                let text = copied.map_or(Some(text.clone()), |copies| copies.applied(&text));
                is_whole &= text.is_some();
                changed.extend(text.map(|text| (Arc::clone(source), text)));
            }
            Err(error) => {
                is_whole = false;
                let mut blamed = 0;
                for (index, own) in edits.range(range.clone()) {
                    if let Err(error) = edit(&source.text, Engine::Kubectl, own) {
                        choices[*index].problems.push(error.to_string());
                        blamed += 1;
                    }
                }
                let first = edits.range(range).map(|(index, _)| *index).next();
                if let (0, Some(first)) = (blamed, first) {
                    choices[first].problems.push(error.to_string());
                }
            }
        }
    }
    (changed, is_whole)
}
