//! Rotation: a template with changed content gets a new name, all references are updated, and the old template is kept for the
//! machines that still refer to it.
//!
//! The object that people edit keeps its place, its comments and its marker under the new name; what is kept of the past is a
//! copy behind it, marked by an annotation. Upstream's advice: the new template and the version in one change
//! (<https://cluster-api.sigs.k8s.io/tasks/updating-machine-templates>).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::objects::{ManifestObject, Reference, Text, references};
use yaml_tree::edit::{Edit, Step, Target, edit, node_at};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Source};
use yaml_tree::value::{Node, Value};

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::render::objects::hash;
use crate::rules;

use super::past::{Past, base};
use super::plan::Plan;
use super::since::machine_answer;

/// The longest name of an object.
const LONGEST_NAME: usize = 253;

/// Renames the templates whose content changes, and moves what refers to them.
pub(super) fn rotate(
    objects: &[ManifestObject],
    keep: usize,
    unread: &[Arc<Source>],
    plan: &mut Plan,
) {
    let references = references(objects);
    let mut referring: BTreeMap<usize, Vec<&Reference<'_>>> = BTreeMap::new();
    for reference in &references {
        if let Some(template) = reference.to {
            referring.entry(template).or_default().push(reference);
        }
    }
    let past = Past::new(objects, keep, referring.keys().copied().collect());
    let mut given = BTreeSet::new();
    for (index, spec) in specs(objects, plan) {
        let object = &objects[index];
        let former = past.name_of(index, &spec);
        let former = former.filter(|name| !given.contains(&identity(object, name)));
        let name = former.unwrap_or_else(|| new_name(object, &spec, &given));
        if name == *object.name {
            continue;
        }
        if let Some(file) = unread.iter().find(|file| names(&file.text, object)) {
            plan.results[index].problems.push(format!(
                "`{}` refers to it and is not YAML: write the reference into a file that is",
                file.path
            ));
            continue;
        }
        if let Some(problem) = keep_name_reason(object) {
            plan.results[index].problems.push(problem.to_owned());
            continue;
        }
        match past.follow(index, &name, plan) {
            Ok(()) => {
                let referring = referring.get(&index).map_or(&[][..], Vec::as_slice);
                if keep > 0 {
                    plan.findings
                        .extend(missing_patch(objects, index, &name, referring));
                }
                rename(objects, index, &name, referring, plan);
                given.insert(identity(object, &name));
            }
            Err(problem) => plan.results[index].problems.push(problem),
        }
    }
}

/// Why a template keeps its name, where a kustomization says it.
fn keep_name_reason(object: &ManifestObject) -> Option<&'static str> {
    match (
        object.is_renamed,
        object.is_template() && object.is_named_alone,
    ) {
        (true, _) => Some(
            "a kustomization gives it a name that does not follow its content: \
             change that name, and run `metalmark stamp` without `--rotate`",
        ),
        (false, true) => Some(
            "a JSON patch writes its name into a reference: \
             write the reference whole, with `apiVersion`, `kind` and `name`",
        ),
        (false, false) => None,
    }
}

/// Whether a text that cannot be read names an object: its kind, and its name behind a key `name`.
fn names(text: &str, object: &ManifestObject) -> bool {
    let is_name = |rest: &str| {
        let rest = rest.trim_start().trim_start_matches(['"', '\'']);
        let rest = rest.strip_prefix(&*object.name);
        let goes_on = |letter: char| letter.is_alphanumeric() || "-._{".contains(letter);
        rest.is_some_and(|rest| !rest.starts_with(goes_on))
    };
    let mut named = text.split("name:").skip(1);
    text.contains(&*object.kind) && named.any(is_name)
}

/// A name that a template gets in its file.
type Identity<'a> = (*const Source, &'a str, &'a str, String);

fn identity<'o>(object: &'o ManifestObject, name: &str) -> Identity<'o> {
    let file = Arc::as_ptr(object.file());
    (file, &object.kind, &object.namespace, name.to_owned())
}

/// The new specs of templates whose fields have changed.
fn specs(objects: &[ManifestObject], plan: &Plan) -> BTreeMap<usize, Value> {
    let mut texts: BTreeMap<*const Text, Vec<Node>> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for (index, object) in objects.iter().enumerate() {
        let mut changes = plan.results[index].changes.iter();
        let overwrites = changes.any(|change| change.overwrites);
        if !object.is_template() || !overwrites || object.name.is_empty() {
            continue;
        }
        let documents = texts
            .entry(Arc::as_ptr(&object.text))
            .or_insert_with(|| edit_documents(objects, &object.text, plan));
        let Some(document) = documents.get(object.document) else {
            continue;
        };
        let node = node_at(document, &object.steps).and_then(|node| node.get_path(&["spec"]));
        found.insert(index, node.map_or(Value::Null, |spec| spec.value.clone()));
    }
    found
}

/// The documents of a text with the edits of its objects; none where they cannot be made, which is reported later.
fn edit_documents(objects: &[ManifestObject], text: &Arc<Text>, plan: &Plan) -> Vec<Node> {
    let own = plan
        .edits
        .iter()
        .filter(|(index, _)| Arc::ptr_eq(&objects[**index].text, text));
    let own: Vec<Edit> = own.flat_map(|(_, edits)| edits.clone()).collect();
    let edited = edit(&text.source.text, Engine::Kubectl, &own).ok();
    let read = edited.and_then(|text| yaml_tree::read(&text, FileId(0), Engine::Kubectl).ok());
    read.map_or_else(Vec::new, |read| read.documents)
}

/// The template's own name, and every reference to it.
fn rename(
    objects: &[ManifestObject],
    index: usize,
    name: &str,
    referring: &[&Reference<'_>],
    plan: &mut Plan,
) {
    let own = (index, objects[index].name_steps());
    let moved = referring.iter();
    let moved = moved.map(|reference| (reference.from, reference.steps.clone()));
    for (object, steps) in moved.chain([own]) {
        // Its patches get the new name too.
        plan.results[object].is_rotated |= steps == objects[object].name_steps();
        let at = Target::Path(objects[object].document, steps);
        let value = name.into();
        plan.edit(object, Edit::Set { at, value });
    }
}

/// That the copy of a template which is kept is not what it was, where patches move to the new name.
fn missing_patch(
    objects: &[ManifestObject],
    index: usize,
    name: &str,
    referring: &[&Reference<'_>],
) -> Option<Finding> {
    let is_of_patch = |reference: &Reference<'_>| match &reference.steps[..] {
        [.., Step::Key(patches), Step::Index(_), Step::Key(target), _] => {
            patches.starts_with("patches") && target == "target"
        }
        steps => objects[reference.from].is_patch && steps == objects[reference.from].name_steps(),
    };
    let patch = referring.iter().find(|reference| is_of_patch(reference))?;
    let object = &objects[index];
    let (why, level) = rules::not_applied(machine_answer(object));
    let message = format!(
        "the kept copy of {} loses its patches to `{name}`, {why}",
        object.title()
    );
    let spot = objects[patch.from].spot(patch.name.place);
    let finding = Finding::new(RuleId::TemplateEditedInPlace, message)
        .with_label(object.name_spot(), "")
        .with_label(spot, "this patch")
        .help("run with `--keep 0`");
    Some(finding.unless_set(level))
}

/// The name without the hash of earlier content, and with the hash of this. Where another template gets that name in this run, what
/// looks like a hash is taken as a part of the name.
fn new_name(object: &ManifestObject, spec: &Value, given: &BTreeSet<Identity<'_>>) -> String {
    let hash = hash::compute(&yaml_tree::emit(spec));
    let with_hash = |base: &str| {
        let end = base.floor_char_boundary(LONGEST_NAME - 1 - hash.len());
        format!("{}-{hash}", base[..end].trim_end_matches(['-', '.']))
    };
    let name = with_hash(base(&object.name));
    if given.contains(&identity(object, &name)) {
        with_hash(&object.name)
    } else {
        name
    }
}
