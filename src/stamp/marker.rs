//! Marker comments: `# metalmark: image=KEY`, and which object or field each one is about.

use std::sync::Arc;

use crate::model::engine::Engine;
use crate::model::place::{FileId, Source, Spot};
use crate::model::selector::{Selector, Term, Wanted};
use crate::model::stamping::{Asked, Wish};
use crate::model::value::{Map, Node, Value};
use crate::objects::standing::Standing;
use crate::yaml;
use crate::yaml::edit::Step;

/// The word behind the `#`.
const WORD: &str = "metalmark:";

/// A marker as it stands.
pub(super) struct Marker {
    /// From its `#` to the end of the line.
    pub(super) spot: Spot,
    /// Whether the line holds nothing else.
    is_alone: bool,
    /// What it says, or why it is not understood.
    pub(super) wish: Result<Wish, String>,
}

/// What a marker is about.
pub(super) enum Subject {
    /// The object of that index among those of the file.
    Object(usize),
    /// A scalar of that object.
    Field(usize, Vec<Step>, Node),
    /// Nothing: it stands in a string, or where no object follows; in one clause.
    Nothing(&'static str),
}

/// The markers of a file, in their order. Text in quotes may look like one: [`subject`] tells.
pub(super) fn markers(source: &Arc<Source>) -> Vec<Marker> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        found.extend(in_line(source, line.trim_end(), start));
        start += line.len();
    }
    found
}

fn in_line(source: &Arc<Source>, line: &str, start: usize) -> Option<Marker> {
    let (at, rest) = line.match_indices('#').find_map(|(at, _)| {
        let opens = at == 0 || line[..at].ends_with([' ', '\t']);
        let rest = line[at + 1..].trim_start().strip_prefix(WORD)?;
        opens.then_some((at, rest))
    })?;
    let spot = Spot {
        source: Arc::clone(source),
        start: (start + at) as u32,
        end: (start + line.len()) as u32,
    };
    Some(Marker {
        is_alone: line[..at].trim().is_empty(),
        wish: wish(rest.trim(), &spot),
        spot,
    })
}

/// `image=KEY` or `selector={…}` or `ignore`, then `field=…` and `region=…`.
fn wish(text: &str, spot: &Spot) -> Result<Wish, String> {
    let mut wish = Wish {
        asked: Asked::Nothing,
        field: None,
        region: None,
        spot: Some(spot.clone()),
    };
    let (mut rest, mut is_said) = (text, false);
    while !rest.is_empty() {
        let (word, behind) = word(rest)?;
        let asked = match word.split_once('=') {
            Some((_, "")) => return Err(format!("`{word}` says nothing behind `=`")),
            Some(("image", key)) => Some(Asked::Image(key.into())),
            Some(("selector", map)) => Some(Asked::Selector(selector(map)?)),
            Some(("field", name)) => {
                wish.field = Some(name.into());
                None
            }
            Some(("region", name)) => {
                wish.region = Some(name.into());
                None
            }
            None if word == "ignore" => Some(Asked::Nothing),
            _ => return Err(format!("a marker knows no `{word}`")),
        };
        if let Some(asked) = asked {
            if is_said {
                return Err("it names more than one image".to_owned());
            }
            (wish.asked, is_said) = (asked, true);
        }
        rest = behind.trim_start();
    }
    match is_said {
        true => Ok(wish),
        false => Err("it names no image".to_owned()),
    }
}

/// The first word; a map in braces is one.
fn word(text: &str) -> Result<(&str, &str), String> {
    let blank = text.find(char::is_whitespace).unwrap_or(text.len());
    match text.find('{').filter(|brace| *brace < blank) {
        Some(_) => {
            let end = text.rfind('}').ok_or("its `{` is not closed")?;
            Ok(text.split_at(end + 1))
        }
        None => Ok(text.split_at(blank)),
    }
}

fn selector(text: &str) -> Result<Selector, String> {
    let document = format!("selector: {text}\n");
    let read = yaml::values(&document, FileId(0), Engine::Kubectl);
    let tree = read.map_err(|error| format!("its selector is no YAML: {error}"))?;
    let node = tree.at(&["selector"]);
    let map = node.and_then(|node| node.value.as_map());
    let map = map.ok_or("its selector is no map in braces")?;
    Ok(terms(map))
}

/// A selector as the terms that matching takes. Numbers are refused there.
fn terms(map: &Map) -> Selector {
    let none = crate::model::place::Place::NONE;
    let terms = map.iter().map(|entry| Term {
        fact: Arc::clone(&entry.key),
        wanted: match &entry.node.value {
            Value::String(pattern) => Wanted::Pattern(Arc::clone(pattern)),
            Value::Bool(flag) => Wanted::Bool(*flag),
            other => Wanted::Invalid(other.kind()),
        },
        place: none,
        key_place: none,
    });
    Selector {
        terms: terms.collect(),
    }
}

/// What a marker is about. `objects` are those of its file in their order; `is_machine` says which have image fields of
/// their own.
pub(super) fn subject(
    marker: &Marker,
    objects: &[&Standing],
    is_machine: impl Fn(&Standing) -> bool,
) -> Subject {
    let (text, at) = (&*marker.spot.source.text, marker.spot.start);
    let within = |object: &&Standing| {
        let inside = |node: &Node| node.place.start <= at && at < node.place.end;
        object.scalars().iter().any(|(_, node)| inside(node))
    };
    if objects.iter().any(within) {
        return Subject::Nothing("it stands in a string, which is not looked into");
    }
    let Some(index) = owner(text, at, objects) else {
        return Subject::Nothing("no object follows it in its document");
    };
    let names_field = marker.wish.as_ref().is_ok_and(|wish| wish.field.is_some());
    if is_machine(objects[index]) && !names_field {
        return Subject::Object(index);
    }
    let scalars = objects[index].scalars();
    let beside = match marker.is_alone {
        true => scalars
            .into_iter()
            .find(|(_, node)| node.place.start >= at)
            .filter(|(_, node)| follows(&text[at as usize..node.place.start as usize])),
        false => scalars
            .into_iter()
            .rfind(|(_, node)| node.place.start < at)
            .filter(|(_, node)| !text[node.place.start as usize..at as usize].contains('\n')),
    };
    match beside {
        Some((steps, node)) => Subject::Field(index, steps, node.clone()),
        None => {
            Subject::Nothing("no field stands beside it, and its object has no image of its own")
        }
    }
}

/// Whether only the marker's own line, comments and one line's beginning lie between.
fn follows(between: &str) -> bool {
    let mut lines = between.lines().skip(1).filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    lines.next().is_some() && lines.next().is_none()
}

/// The object that a place is in, or directly above.
fn owner(text: &str, at: u32, objects: &[&Standing]) -> Option<usize> {
    let end = |object: &Standing| {
        let scalars = object.scalars();
        let last = scalars.iter().map(|(_, node)| node.place.end).max();
        let last = last.unwrap_or(object.node.place.end) as usize;
        let line = text.get(last..).and_then(|rest| rest.find('\n'));
        line.map_or(text.len(), |line| last + line) as u32
    };
    let before = objects
        .iter()
        .rposition(|object| object.node.place.start <= at);
    let behind = before.map(|index| (index, end(objects[index])));
    if let Some((index, end)) = behind
        && at <= end
    {
        return Some(index);
    }
    let next = before.map_or(0, |index| index + 1);
    let start = objects.get(next)?.node.place.start;
    let parted = |from: u32, to: u32| {
        let between = text.get(from as usize..to as usize).unwrap_or_default();
        between.starts_with("---") || between.contains("\n---")
    };
    match behind {
        Some((_, end)) if parted(at, start) && !parted(end, at) => None,
        _ => Some(next),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Subject, markers, subject};
    use crate::model::place::Source;
    use crate::model::stamping::Asked;
    use crate::objects::standing::objects;

    /// What each marker of a text is about.
    fn told(text: &str) -> Vec<String> {
        let source = Arc::new(Source::new("a.yaml", text));
        let objects = objects(&source).expect("YAML");
        let objects: Vec<_> = objects.iter().collect();
        let of =
            |marker: &super::Marker| match subject(marker, &objects, |object| &*object.kind == "M")
            {
                Subject::Object(index) => objects[index].name.to_string(),
                Subject::Field(_, steps, _) => format!("{:?}", steps.last()),
                Subject::Nothing(why) => why.to_owned(),
            };
        markers(&source).iter().map(of).collect()
    }

    fn said(text: &str) -> Result<String, String> {
        let source = Arc::new(Source::new("a.yaml", format!("# metalmark: {text}")));
        let marker = markers(&source).pop().expect("a marker");
        marker.wish.map(|wish| match wish.asked {
            Asked::Image(key) => format!("{key} {:?} {:?}", wish.field, wish.region),
            Asked::Selector(selector) => format!("{} terms", selector.terms.len()),
            Asked::Nothing => "nothing".to_owned(),
        })
    }

    #[test]
    fn a_marker_says_one_image() {
        assert_eq!(said("image=a"), Ok("a None None".into()));
        let whole = said("image=a field=url region=eu-west-1");
        assert_eq!(whole, Ok("a Some(\"url\") Some(\"eu-west-1\")".into()));
        let map = "selector={os: ubuntu, os-release: 'no.*'} region=x";
        assert_eq!(said(map), Ok("2 terms".into()));
        assert_eq!(said("ignore"), Ok("nothing".into()));
        for bad in [
            "",
            "image=",
            "image=a image=b",
            "selector=x",
            "selector={a",
            "imgae=a",
        ] {
            assert!(said(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_marker_is_about_the_object_around_it_or_below_it() {
        let object = |name: &str| format!("apiVersion: v1\nkind: M\nmetadata: {{name: {name}}}\n");
        let (a, b) = (object("a"), object("b"));
        let mark = "# metalmark: image=x\n";
        assert_eq!(told(&format!("{mark}{a}---\n{b}")), ["a"]);
        assert_eq!(told(&format!("{mark}---\n{a}---\n{b}")), ["a"]);
        assert_eq!(told(&format!("{a}---\n{mark}{b}")), ["b"]);
        assert_eq!(
            told(&format!("{a}spec: 1 # metalmark: image=x\n---\n{b}")),
            ["a"]
        );
        let stray = told(&format!("{a}{mark}---\n{b}"));
        assert_eq!(stray, ["no object follows it in its document"]);
        let list = "apiVersion: v1\nkind: List\nitems:\n# metalmark: image=x\n- {apiVersion: v1, kind: M, metadata: {name: a}}\n\
                    # metalmark: image=y\n- {apiVersion: v1, kind: M, metadata: {name: b}} # metalmark: image=z\n";
        assert_eq!(told(list), ["a", "b", "b"]);
    }

    #[test]
    fn a_field_of_any_object_may_be_marked() {
        let text = "apiVersion: v1\nkind: Cluster\nspec:\n  - name: image # metalmark: image=x\n    # metalmark: image=x\n    # more\n    value: y\n";
        let fields = told(text);
        assert!(
            fields[0].contains("name") && fields[1].contains("value"),
            "{fields:?}"
        );
    }

    #[test]
    fn what_stands_in_a_string_is_no_marker() {
        let text = "apiVersion: v1\nkind: M\na: 'b # metalmark: image=x'\nc: |\n  # metalmark: image=x\n  d\n";
        let why = "it stands in a string, which is not looked into";
        assert_eq!(told(text), [why, why]);
    }
}
