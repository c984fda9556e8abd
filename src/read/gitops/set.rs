//! Helm's `--set` syntax: `a.b=1,list[0].c=x,names={x,y}`, with `\` as the escape character
//! (<https://helm.sh/docs/intro/using_helm/#the-format-and-limitations-of---set>).

use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

use yaml_tree::Step;
use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Node, Number, Value};

/// How the value after `=` is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `--set`: numbers, booleans and null are recognized.
    Typed,
    /// `--set-string`: all values are strings.
    Strings,
    /// `--set-file`, and Flux's `literal`: the rest of the text is one string.
    Literal,
}

/// A path and its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Assignment {
    pub(super) path: Vec<Step>,
    pub(super) value: Node,
}

/// The deepest path, as in Helm.
const DEEPEST: usize = 30;

/// The highest index of a list, as in Helm.
const HIGHEST: usize = 65_536;

/// Parses `path=value,…`; each value gets `place`.
pub(super) fn parse(text: &str, style: Style, place: Place) -> Result<Vec<Assignment>, String> {
    let mut parser = Parser {
        chars: text.chars().peekable(),
        style,
        place,
    };
    let mut assignments = Vec::new();
    while parser.chars.peek().is_some() {
        assignments.extend(parser.assignment()?);
    }
    Ok(assignments)
}

struct Parser<'t> {
    chars: Peekable<Chars<'t>>,
    style: Style,
    place: Place,
}

impl Parser<'_> {
    /// One assignment; none if its key is empty, which Helm ignores at the top level.
    fn assignment(&mut self) -> Result<Option<Assignment>, String> {
        let mut path = Vec::new();
        loop {
            let is_behind_index = matches!(path.last(), Some(Step::Index(_)));
            let stops: &[char] = if is_behind_index {
                &['=', '[', '.']
            } else {
                &['=', '[', '.', ',']
            };
            let (mut key, mut stop) = self.take_until(stops);
            if is_behind_index {
                if !key.is_empty() {
                    return Err(format!("`{key}` follows an index"));
                }
                if stop == Some('.') {
                    (key, stop) = self.take_until(&['=', '[', '.', ',']);
                }
            }
            let is_key = !is_behind_index || !key.is_empty();
            if is_key && key.is_empty() && path.is_empty() && stop.is_none() {
                return Ok(None);
            }
            if is_key {
                path.push(Step::from(key.as_str()));
            }
            match stop {
                Some('=') => break,
                Some('[') => path.push(Step::Index(self.index()?)),
                Some('.') => {}
                _ => return Err(format!("the key `{key}` has no value")),
            }
            if path.len() > DEEPEST {
                return Err(format!("the path is deeper than {DEEPEST} keys"));
            }
        }
        let value = self.value()?;
        let is_nowhere = |step: &Step| matches!(step, Step::Key(key) if key.is_empty());
        match path.iter().position(is_nowhere) {
            None => Ok(Some(Assignment { path, value })),
            Some(0) => Ok(None),
            Some(_) => Err("a key within the path is empty".to_owned()),
        }
    }

    fn index(&mut self) -> Result<usize, String> {
        let (text, stop) = self.take_until(&[']']);
        if stop.is_none() {
            return Err("an index lacks its `]`".to_owned());
        }
        match text.parse::<usize>() {
            Ok(index) if index <= HIGHEST => Ok(index),
            Ok(index) => Err(format!("the index {index} is above {HIGHEST}")),
            Err(_) => Err(format!("`{text}` is not an index")),
        }
    }

    fn value(&mut self) -> Result<Node, String> {
        if self.style == Style::Literal {
            let rest: String = self.chars.by_ref().collect();
            return Ok(self.node(Value::from(rest)));
        }
        if self.chars.next_if_eq(&'{').is_none() {
            let (text, _) = self.take_until(&[',']);
            let value = self.infer_type(text);
            return Ok(self.node(value));
        }
        let mut items = Vec::new();
        loop {
            let (text, stop) = self.take_until(&[',', '}']);
            if stop.is_none() {
                return Err("a list lacks its `}`".to_owned());
            }
            let is_end = stop == Some('}');
            // `{}` is a list of one empty text.
            let value = self.infer_type(text);
            items.push(self.node(value));
            if is_end {
                self.chars.next_if_eq(&',');
                return Ok(self.node(Value::from(items)));
            }
        }
    }

    fn node(&self, value: Value) -> Node {
        Node::new(value, self.place)
    }

    fn infer_type(&self, text: String) -> Value {
        if self.style == Style::Strings {
            return Value::from(text);
        }
        if text.eq_ignore_ascii_case("true") {
            return Value::Bool(true);
        }
        if text.eq_ignore_ascii_case("false") {
            return Value::Bool(false);
        }
        if text.eq_ignore_ascii_case("null") {
            return Value::Null;
        }
        // A leading zero makes it a text: `007`.
        let is_number = text == "0" || !text.starts_with('0');
        match text.parse::<i64>() {
            Ok(number) if is_number => Value::Number(Number::Int(number)),
            _ => Value::from(text),
        }
    }

    /// The text up to one of these characters, which is consumed, without escape characters.
    fn take_until(&mut self, stops: &[char]) -> (String, Option<char>) {
        let mut text = String::new();
        while let Some(character) = self.chars.next() {
            if stops.contains(&character) {
                return (text, Some(character));
            }
            match character {
                '\\' => text.extend(self.chars.next()),
                other => text.push(other),
            }
        }
        (text, None)
    }
}

/// Assigns a value at a path, and creates missing maps and lists.
pub(super) fn assign(tree: &mut Node, path: &[Step], value: &Node) -> Result<(), String> {
    let Some((step, rest)) = path.split_first() else {
        *tree = value.clone();
        return Ok(());
    };
    match step {
        Step::Key(key) => {
            if !matches!(tree.value, Value::Map(_) | Value::Null) {
                return Err(format!("`{key}` cannot be set in {}", tree.value.kind()));
            }
            let new = Entry {
                key: key.as_str().into(),
                key_place: value.place,
                node: fresh(rest, value.place),
            };
            assign(tree.map_mut(&[]).get_or_insert(new), rest, value)
        }
        Step::Index(index) => {
            let Value::List(items) = &mut tree.value else {
                return Err(format!(
                    "the index {index} leads into {}",
                    tree.value.kind()
                ));
            };
            let items = Arc::make_mut(items);
            while items.len() <= *index {
                items.push(Node::from_value(Value::Null));
            }
            let item = &mut items[*index];
            let is_kept = match rest.first() {
                Some(Step::Key(_)) => item.value.as_map().is_some(),
                Some(Step::Index(_)) => !item.value.is_null(),
                None => true,
            };
            if !is_kept {
                *item = fresh(rest, value.place);
            }
            assign(item, rest, value)
        }
    }
}

/// The new value for the rest of a path.
fn fresh(rest: &[Step], place: Place) -> Node {
    let value = match rest.first() {
        Some(Step::Key(_)) => Value::empty_map(),
        Some(Step::Index(_)) => Value::from(Vec::new()),
        None => Value::Null,
    };
    Node { value, place }
}

#[cfg(test)]
mod tests {
    use yaml_tree::place::Place;
    use yaml_tree::value::{Node, Value};

    use super::{Style, assign, parse};

    fn set(text: &str, style: Style) -> Result<String, String> {
        let mut tree = Node::from_value(Value::empty_map());
        for assignment in parse(text, style, Place::NONE)? {
            assign(&mut tree, &assignment.path, &assignment.value)?;
        }
        Ok(shown(&tree.value))
    }

    fn shown(value: &Value) -> String {
        match value {
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => format!("{number:?}"),
            Value::String(text) => format!("{text:?}"),
            Value::Opaque(opaque) => format!("{:?}", opaque.text),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(|item| shown(&item.value)).collect();
                format!("[{}]", items.join(","))
            }
            Value::Map(map) => {
                let entries: Vec<String> = map
                    .iter()
                    .map(|entry| format!("{}:{}", entry.key, shown(&entry.node.value)))
                    .collect();
                format!("{{{}}}", entries.join(","))
            }
        }
    }

    #[test]
    fn values_are_typed_by_their_text() {
        for (text, expected) in [
            ("a=1", "{a:Int(1)}"),
            ("a=007", r#"{a:"007"}"#),
            ("a=0", "{a:Int(0)}"),
            ("a=1.5", r#"{a:"1.5"}"#),
            ("a=TRUE,b=null,c=", r#"{a:true,b:null,c:""}"#),
            ("a.b=x,a.c=y", r#"{a:{b:"x",c:"y"}}"#),
            (r"a\.b=x\,y", r#"{a.b:"x,y"}"#),
            ("a={},b={x}c=1", r#"{a:[""],b:["x"],c:Int(1)}"#),
            ("a={x,1},b=2", r#"{a:["x",Int(1)],b:Int(2)}"#),
            ("a[1].b=x", r#"{a:[null,{b:"x"}]}"#),
            ("a[0][1]=x", r#"{a:[[null,"x"]]}"#),
        ] {
            assert_eq!(set(text, Style::Typed).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn strings_and_literals_stay_text() {
        assert_eq!(
            set("a=1,b=true", Style::Strings).as_deref(),
            Ok(r#"{a:"1",b:"true"}"#)
        );
        assert_eq!(
            set("a.b=1,b={x}", Style::Literal).as_deref(),
            Ok(r#"{a:{b:"1,b={x}"}}"#)
        );
        assert_eq!(
            set(r"a.b\.c=x\,y", Style::Literal).as_deref(),
            Ok(r#"{a:{b.c:"x\\,y"}}"#)
        );
    }

    #[test]
    fn texts_that_helm_refuses_are_refused() {
        for text in [
            "a",
            "a,b=1",
            "a[x]=1",
            "a[-1]=1",
            "a[0",
            "a={x",
            "a=1,a.b=2",
            "a=1,a[0]=2",
            "a[99999]=1",
        ] {
            assert!(set(text, Style::Typed).is_err(), "{text}");
        }
    }

    #[test]
    fn the_deepest_path_and_the_highest_index_are_set_and_more_are_not() {
        let path = |keys: usize| format!("{}a=1", "a.".repeat(keys - 1));
        assert!(set(&path(31), Style::Typed).is_ok());
        assert!(set(&path(32), Style::Typed).is_err());
        assert!(set("a[65536]=1", Style::Typed).is_ok());
        assert!(set("a[65537]=1", Style::Typed).is_err());
    }
}
