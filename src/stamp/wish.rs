//! Who speaks for which object: the markers of its file, else the project file.

use std::sync::Arc;

use crate::model::finding::Finding;
use crate::model::stamping::{StampEntry, Wish};
use crate::model::value::Node;
use crate::objects::standing::{Choice, Standing};
use crate::providers::{Kind, PROVIDERS};
use crate::yaml::edit::Step;

use super::marker::{self, Marker, Subject};

/// What is wished of an object, or of a field in it.
pub(super) struct Wished {
    /// The object's index.
    pub(super) object: usize,
    /// The field; none where the object's own image fields are meant.
    pub(super) field: Option<(Vec<Step>, Node)>,
    /// What is wished.
    pub(super) wish: Wish,
}

/// What people wish, in the order of the objects. Choices learn that somebody speaks for them; what is wrong with markers is told.
pub(super) fn wishes(
    objects: &[Standing],
    entries: &[StampEntry],
    choices: &mut [Choice],
    findings: &mut Vec<Finding>,
) -> Vec<Wished> {
    let mut found: Vec<Wished> = Vec::new();
    let mut start = 0;
    for file in objects.chunk_by(|a, b| Arc::ptr_eq(&a.source, &b.source)) {
        let of_file: Vec<&Standing> = file.iter().collect();
        for marker in marker::markers(&file[0].source) {
            let spot = marker.spot.clone();
            match marked(marker, &of_file, start, choices, &found) {
                Ok(wished) => found.push(wished),
                Err((message, help)) => {
                    let finding = Finding::new("image-unstamped", message);
                    findings.push(finding.at(Some(spot), "this marker").help(help));
                }
            }
        }
        start += file.len();
    }
    for (index, object) in objects.iter().enumerate() {
        if choices[index].is_made || !is_machine(object) {
            continue;
        }
        if let Some(entry) = entries.iter().find(|entry| fits(entry, object)) {
            choices[index].is_made = true;
            found.push(Wished {
                object: index,
                field: None,
                wish: entry.wish.clone(),
            });
        }
    }
    found
}

/// The wish of one marker in a file whose objects start at that index.
fn marked(
    marker: Marker,
    of_file: &[&Standing],
    start: usize,
    choices: &mut [Choice],
    found: &[Wished],
) -> Result<Wished, (String, &'static str)> {
    let (index, field) = match marker::subject(&marker, of_file, is_machine) {
        Subject::Object(index) => (start + index, None),
        Subject::Field(index, steps, node) => (start + index, Some((steps, node))),
        Subject::Nothing(why) => {
            return Err((format!("the marker stamps nothing: {why}"), WHERE));
        }
    };
    choices[index].is_made |= field.is_none();
    let wish = marker.wish;
    let wish = wish.map_err(|why| (format!("the marker is not understood: {why}"), HOW))?;
    let twice = |known: &Wished| known.object == index && known.field.is_none();
    if field.is_none() && found.iter().any(twice) {
        let name = &of_file[index - start].name;
        return Err((
            format!("two markers speak for `{name}`"),
            "keep one of them",
        ));
    }
    Ok(Wished {
        object: index,
        field,
        wish,
    })
}

const WHERE: &str = "write it in the object, above it, or beside the field that it is about";
const HOW: &str =
    "write `# metalmark: image=KEY`, `# metalmark: selector={os: ubuntu}` or `# metalmark: ignore`";

/// Whether an object is of a kind with an image in it, in a version that is known or not.
fn is_machine(object: &Standing) -> bool {
    known(object).is_some()
}

pub(super) fn known(object: &Standing) -> Option<&'static Kind> {
    let (group, _) = object.group_version();
    let mut kinds = PROVIDERS.iter().flat_map(|provider| provider.kinds());
    kinds.find(|kind| kind.kind == &*object.kind && kind.group == group)
}

fn fits(entry: &StampEntry, object: &Standing) -> bool {
    let matches = |pattern: &Option<globset::GlobMatcher>, text: &str| {
        pattern
            .as_ref()
            .is_none_or(|pattern| pattern.is_match(text))
    };
    let has = |(name, wanted): (&String, &String)| {
        object.label(name).is_some_and(|label| **label == **wanted)
    };
    matches(&entry.kind, &object.kind)
        && matches(&entry.name, &object.name)
        && matches(&entry.namespace, &object.namespace)
        && entry.labels.iter().all(has)
}
