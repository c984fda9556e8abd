//! The changes of templates since a commit: a manual edit under the same name is reported like one by this run.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::changes::{self, Answer, Effect};
use capi::objects::{ManifestObject, objects};
use yaml_tree::place::Source;

use super::plan::{FieldChange, Plan, TemplateChange};

/// What machines are made from.
const MACHINE: &str = "spec.template.spec";

/// What an object is found by in its file.
type Name<'a> = (&'a str, &'a str, &'a str);

/// Writes into each template's result how it changed since its file was that of `before`. `before` is called once a file that
/// holds templates; none is a file that was not there.
pub fn record_changes(
    all: &[ManifestObject],
    plan: &mut Plan,
    mut before: impl FnMut(&Source) -> Option<String>,
) {
    let mut start = 0;
    for file in all.chunk_by(|a, b| Arc::ptr_eq(a.file(), b.file())) {
        let range = start..start + file.len();
        start = range.end;
        let indexes: Vec<usize> = range
            .filter(|index| immutable_path(&all[*index]).is_some())
            .collect();
        if indexes.is_empty() {
            continue;
        }
        let source = file[0].file();
        let new = plan
            .files
            .iter()
            .find(|file| Arc::ptr_eq(&file.source, source));
        let new = new.map_or(&source.text, |file| &file.text);
        let old = before(source).unwrap_or_default();
        let same = old == *new;
        let (old, new) = if same {
            (Vec::new(), Vec::new())
        } else {
            (read(&old), read(new))
        };
        let (old, new) = (index_by_name(&old), index_by_name(&new));
        for index in indexes {
            let object = &all[index];
            let result = &mut plan.results[index];
            if result.is_rotated || object.is_kept() {
                continue;
            }
            result.since = match (same, old.get(&name(object)), new.get(&name(object))) {
                (false, Some(old), Some(new)) => compare(object, old, new),
                _ => TemplateChange::Same,
            };
        }
    }
}

/// Below which path a change of an object under its own name does not reach its machines; none where it does, and for kinds
/// that make none. Of Cluster API: <https://cluster-api.sigs.k8s.io/tasks/updating-machine-templates>.
pub fn immutable_path(object: &ManifestObject) -> Option<&'static str> {
    let answer = machine_answer(object);
    match answer.effect {
        Effect::Refused => Some(answer.row),
        Effect::InPlace if object.kind.ends_with("Template") => Some(MACHINE),
        _ => None,
    }
}

/// What a change of what machines are made from does, in a template.
pub(super) fn machine_answer(object: &ManifestObject) -> Answer {
    let path: Vec<&str> = MACHINE.split('.').collect();
    changes::answer(object, &path)
}

fn read(text: &str) -> Vec<ManifestObject> {
    let source = Arc::new(Source::new("", text));
    objects(&source).map_or_else(|_| Vec::new(), |found| found.objects)
}

fn name(object: &ManifestObject) -> Name<'_> {
    (&object.kind, &object.namespace, &object.name)
}

fn index_by_name(objects: &[ManifestObject]) -> BTreeMap<Name<'_>, &ManifestObject> {
    // The first of one name counts, as for references.
    objects
        .iter()
        .rev()
        .map(|object| (name(object), object))
        .collect()
}

/// What differs of an object between then and the end of this run.
fn compare(object: &ManifestObject, old: &ManifestObject, new: &ManifestObject) -> TemplateChange {
    let Some(path) = immutable_path(object) else {
        return TemplateChange::Same;
    };
    let guarded: Vec<&str> = path.split('.').collect();
    let found = match (old.node.get_path(&guarded), new.node.get_path(&guarded)) {
        (Some(old), Some(new)) => old.difference(new),
        (None, None) => None,
        _ => Some(Vec::new()),
    };
    let Some(below) = found else {
        return TemplateChange::Same;
    };
    let path = [guarded, below].concat();
    TemplateChange::Changed(FieldChange {
        spot: object.spot(object.node.place_at(&path)),
        path: path.join("."),
        overwrites: true,
    })
}
