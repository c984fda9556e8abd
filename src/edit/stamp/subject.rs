//! Finds the object, or the field of one, that a marker applies to.

use std::cell::OnceCell;

use capi::objects::ManifestObject;
use yaml_tree::edit::Step;
use yaml_tree::value::{Node, Value};

use super::marker::Marker;

/// What a marker is about.
pub(super) enum Subject {
    /// The object of that index among those of the text.
    Object(usize),
    /// A scalar of that object.
    Field(usize, Vec<Step>, Node),
    /// Nothing: it is in a string, or where no object follows; in one clause.
    Nothing(&'static str),
}

/// The objects of a text in their order, those below another one behind it, with the parts of each, once a marker needs them.
pub(super) struct Subjects<'o> {
    pub(super) objects: &'o [&'o ManifestObject],
    parts: Vec<OnceCell<Parts<'o>>>,
}

/// The scalars of an object by their places, and the end of its last line.
struct Parts<'o> {
    scalars: Vec<Scalar<'o>>,
    end: u32,
}

/// A scalar of an object, with the way to it.
type Scalar<'o> = (Vec<Step>, &'o Node);

impl<'o> Subjects<'o> {
    pub(super) fn new(objects: &'o [&'o ManifestObject]) -> Self {
        let parts = objects.iter().map(|_| OnceCell::new()).collect();
        Self { objects, parts }
    }

    fn parts(&self, index: usize) -> &Parts<'o> {
        let object = self.objects[index];
        let parts = || {
            let scalars = object.scalars();
            let end = end(object, &scalars);
            Parts { scalars, end }
        };
        self.parts[index].get_or_init(parts)
    }
}

/// What a marker is about; `is_machine` says which objects have image fields of their own.
pub(super) fn subject(
    marker: &Marker,
    all: &Subjects<'_>,
    is_machine: impl Fn(&ManifestObject) -> bool,
) -> Subject {
    let (at, objects) = (marker.at, all.objects);
    let before = objects.partition_point(|object| object.node.place.start <= at);
    let inside = |node: &Node| node.place.start <= at && at < node.place.end;
    let holds = |index: usize| {
        let scalars = &all.parts(index).scalars;
        let before = scalars.partition_point(|(_, node)| node.place.start <= at);
        // Aliases of one anchor have one place.
        scalars[..before]
            .last()
            .is_some_and(|(_, node)| inside(node))
    };
    if enclosing_objects(objects, before).any(holds) {
        return Subject::Nothing(
            "it is in a string that is not YAML, or that holds no map or list",
        );
    }
    let Some(index) = owner(at, all, before) else {
        return Subject::Nothing("no object follows it in its document");
    };
    let text = &*objects[index].text.source.text;
    let names_field = marker
        .request
        .as_ref()
        .is_ok_and(|request| request.field.is_some());
    if is_machine(objects[index]) && !names_field {
        return Subject::Object(index);
    }
    match nearest_scalar(marker, text, objects[index], &all.parts(index).scalars) {
        Some((_, node)) if has_lines(&node) => {
            Subject::Nothing("the string beside it holds several lines: write the marker in it")
        }
        Some((steps, node)) => Subject::Field(index, steps, node),
        None => Subject::Nothing(
            "no field, or not one alone, is beside it, and its object has no image of its own",
        ),
    }
}

fn has_lines(node: &Node) -> bool {
    matches!(&node.value, Value::String(text) if text.contains('\n'))
}

/// The last object that starts before a place, and those that it is in.
fn enclosing_objects<'o>(
    objects: &'o [&ManifestObject],
    before: usize,
) -> impl Iterator<Item = usize> + 'o {
    let last = objects[..before].last();
    let holds_last = move |index: &usize| {
        let object = objects[*index];
        last.is_some_and(|last| last.steps.starts_with(&object.steps))
    };
    let same =
        move |index: &usize| last.is_some_and(|last| objects[*index].document == last.document);
    (0..before).rev().take_while(same).filter(holds_last)
}

/// The scalar on a marker's line, or on the next one. Of several on that line it is the one of the key `value`, or of the key that
/// the marker's field is called by.
fn nearest_scalar(
    marker: &Marker,
    text: &str,
    object: &ManifestObject,
    scalars: &[Scalar<'_>],
) -> Option<(Vec<Step>, Node)> {
    let at = marker.at;
    let before = scalars.partition_point(|(_, node)| node.place.start < at);
    let nearest = if marker.is_alone {
        scalars[before..]
            .first()
            .filter(|(_, node)| follows(&text[at as usize..node.place.start as usize]))
    } else {
        scalars[..before]
            .last()
            .filter(|(_, node)| !text[node.place.start as usize..at as usize].contains('\n'))
    };
    let nearest = nearest?;
    let line = line_of(text, nearest.1.place.start);
    let place = |end: u32| scalars.partition_point(|(_, node)| node.place.start < end);
    let beside: Vec<_> = scalars[place(line.start)..place(line.end)].iter().collect();
    let field = marker.request.as_ref().ok()?.field.as_deref();
    let called = |name: &str| {
        let is_called =
            |steps: &[Step]| matches!(steps.last(), Some(Step::Key(key)) if key == name);
        beside.iter().find(|(steps, _)| is_called(steps)).copied()
    };
    let (steps, node) = match beside.len() {
        1 => nearest,
        _ => called("value").or_else(|| called(field?))?,
    };
    (!is_identity(&steps[object.steps.len()..])).then(|| (steps.clone(), (*node).clone()))
}

/// Whether a field says which object it is: the first line below a marker is often `apiVersion`.
fn is_identity(steps: &[Step]) -> bool {
    matches!(steps, [Step::Key(key)] if key == "apiVersion" || key == "kind")
}

/// The bytes of the line that a place is on.
fn line_of(text: &str, at: u32) -> std::ops::Range<u32> {
    let at = at as usize;
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline);
    start as u32..end as u32
}

/// Whether only the marker's own line, comments and one line's beginning lie between.
fn follows(between: &str) -> bool {
    let mut lines = between.lines().skip(1).filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    lines.next().is_some() && lines.next().is_none()
}

/// The object that a place is in, or directly above; `before` of them start before it.
fn owner(at: u32, all: &Subjects<'_>, before: usize) -> Option<usize> {
    let objects = all.objects;
    let end = |index: usize| all.parts(index).end;
    let text = &*objects.first()?.text.source.text;
    let next = objects.get(before).map(|object| object.node.place.start);
    let within = enclosing_objects(objects, before).find(|index| at <= end(*index));
    if let Some(within) = within {
        // Between the items of a list of objects, it is about the one below.
        let gap = |next: u32| text.get(at as usize..next as usize).is_some_and(opens_item);
        let is_deeper = |next: &ManifestObject| next.steps.len() > objects[within].steps.len();
        let is_below = next.is_some_and(gap) && is_deeper(objects[before]);
        return Some(if is_below { before } else { within });
    }
    let parted = |from: u32, to: u32| {
        let between = text.get(from as usize..to as usize).unwrap_or_default();
        between.starts_with("---") || between.contains("\n---")
    };
    let next = next?;
    match before.checked_sub(1) {
        Some(last) if parted(at, next) && !parted(end(last), at) => None,
        _ => Some(before),
    }
}

/// The end of an object's last line.
fn end(object: &ManifestObject, scalars: &[Scalar<'_>]) -> u32 {
    let text = &object.text.source.text;
    let last = scalars.iter().map(|(_, node)| node.place.end).max();
    let last = last.unwrap_or(object.node.place.end) as usize;
    let line = text.get(last..).and_then(|rest| rest.find('\n'));
    line.map_or(text.len(), |line| last + line) as u32
}

/// Whether only comments, and a list's `-` or a key, lie between a marker and what follows it.
fn opens_item(between: &str) -> bool {
    let mut lines = between.lines().skip(1).map(str::trim);
    lines.all(|line| line.is_empty() || line.starts_with('#') || line == "-" || line.ends_with(':'))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::marker::{Marker, markers};
    use super::{Subject, Subjects, subject};
    use capi::objects::objects;
    use yaml_tree::place::Source;

    /// What each marker of a text is about.
    fn marked(text: &str) -> Vec<String> {
        let source = Arc::new(Source::new("a.yaml", text));
        let found = objects(&source).expect("YAML").objects;
        let objects: Vec<_> = found.iter().collect();
        let all = Subjects::new(&objects);
        let of = |marker: &Marker| match subject(marker, &all, |object| &*object.kind == "M") {
            Subject::Object(index) => objects[index].name.to_string(),
            Subject::Field(_, steps, _) => format!("{:?}", steps.last()),
            Subject::Nothing(why) => why.to_owned(),
        };
        markers(&found[0].text).iter().map(of).collect()
    }

    #[test]
    fn a_marker_is_about_the_object_around_it_or_below_it() {
        let object = |name: &str| format!("apiVersion: v1\nkind: M\nmetadata: {{name: {name}}}\n");
        let (a, b) = (object("a"), object("b"));
        let mark = "# metalmark: image=x\n";
        assert_eq!(marked(&format!("{mark}{a}---\n{b}")), ["a"]);
        assert_eq!(marked(&format!("{mark}---\n{a}---\n{b}")), ["a"]);
        assert_eq!(marked(&format!("{a}---\n{mark}{b}")), ["b"]);
        assert_eq!(
            marked(&format!("{a}spec: 1 # metalmark: image=x\n---\n{b}")),
            ["a"]
        );
        let stray = marked(&format!("{a}{mark}---\n{b}"));
        assert_eq!(stray, ["no object follows it in its document"]);
        let list = "apiVersion: v1\nkind: List\nitems:\n# metalmark: image=x\n- {apiVersion: v1, kind: M, metadata: {name: a}}\n\
                    # metalmark: image=y\n- {apiVersion: v1, kind: M, metadata: {name: b}} # metalmark: image=z\n";
        assert_eq!(marked(list), ["a", "b", "b"]);
    }

    #[test]
    fn a_field_of_any_object_may_be_marked() {
        let text = "apiVersion: v1\nkind: Cluster\nspec:\n  - name: image # metalmark: image=x\n    # metalmark: image=x\n    # more\n    value: y\n";
        let fields = marked(text);
        assert!(
            fields[0].contains("name") && fields[1].contains("value"),
            "{fields:?}"
        );
    }

    #[test]
    fn text_in_a_string_is_no_marker() {
        let text = "apiVersion: v1\nkind: M\na: 'b # metalmark: image=x'\nc: |\n  # metalmark: image=x\n  d\n";
        let why = "it is in a string that is not YAML, or that holds no map or list";
        assert_eq!(marked(text), [why, why]);
    }
}
