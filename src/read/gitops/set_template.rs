//! The templates of an ApplicationSet: Go's, with the functions of Argo CD, or texts with `{{name}}`
//! (<https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/GoTemplate/>).

use std::sync::Arc;

use go_template::function::{Call, Function, Type};
use go_template::{Budget, Definition, Engine, Error, Host, Limits, convert};
use yaml_tree::value::{Entry, Map, Node, Value};

use super::UNSUPPORTED;
use super::reader::LayerReader;
use crate::read::dialects::NOT_IN_ARGO_CD;
use crate::read::error::ReadError;

/// Argo CD's own functions.
const OWN: &[Function] = &[
    Function::new("normalize", &[Type::String], |call| {
        Ok(normalize(&call.string(0)?).into())
    }),
    Function::variadic("slugify", &[], Type::Any, slugify),
];

/// How the texts of a set are filled in.
pub(super) struct SetTemplate {
    pub(super) is_go: bool,
    /// Whether a key that is missing is an error: `missingkey=error`.
    needs_keys: bool,
    budget: Budget,
}

impl SetTemplate {
    /// That of an ApplicationSet.
    pub(super) fn new(set: &Node) -> Self {
        let budget = Budget::new(Limits::default());
        budget.note_label();
        let mut options = set.items(&["spec", "goTemplateOptions"]).iter();
        Self {
            is_go: set.flag(&["spec", "goTemplate"]),
            needs_keys: options.any(|option| option.text(&[]) == Some("missingkey=error")),
            budget,
        }
    }

    /// A tree with all texts and keys in it filled in.
    pub(super) fn fill(
        &self,
        reader: &LayerReader<'_>,
        node: &Node,
        parameters: &Node,
    ) -> Result<Node, ReadError> {
        let fill = |text: &Arc<str>| {
            if !text.contains("{{") {
                return Ok(Arc::clone(text));
            }
            let filled = self.text(text, parameters);
            filled.map(Arc::from).map_err(|error| {
                let message = format!("`{text}` of an ApplicationSet: {}", error.message);
                ReadError::from(reader.finding(UNSUPPORTED, message, node.place))
            })
        };
        let value = match &node.value {
            Value::String(text) => Value::String(fill(text)?),
            Value::List(items) => {
                let items = items.iter().map(|item| self.fill(reader, item, parameters));
                Value::from(items.collect::<Result<Vec<_>, _>>()?)
            }
            Value::Map(map) => {
                let entries = map.iter().map(|entry| {
                    Ok(Entry {
                        key: fill(&entry.key)?,
                        node: self.fill(reader, &entry.node, parameters)?,
                        ..entry.clone()
                    })
                });
                Value::from(entries.collect::<Result<Map, ReadError>>()?)
            }
            other => other.clone(),
        };
        Ok(Node::new(value, node.place))
    }

    fn text(&self, text: &str, parameters: &Node) -> Result<String, Error> {
        if !self.is_go {
            return Ok(replace(text, parameters));
        }
        let template = go_template::parse_with("tpl", text, NOT_IN_ARGO_CD, OWN)?;
        let dot = convert::from_model(&parameters.value);
        go_template::execute_plain(&template, &dot, self, &self.budget)
    }
}

impl Host for SetTemplate {
    fn engine(&self) -> Engine {
        Engine::Helm4
    }

    fn find_definition(&self, _name: &str) -> Option<Definition<'_>> {
        None
    }

    fn needs_keys(&self) -> bool {
        self.needs_keys
    }
}

/// A text with each `{{name}}` that is a parameter replaced; others are kept.
fn replace(text: &str, parameters: &Node) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else {
            break;
        };
        filled.push_str(before);
        match parameters.text(&[name.trim()]) {
            Some(value) => filled.push_str(value),
            None => filled.extend(["{{", name, "}}"]),
        }
        rest = after;
    }
    filled + rest
}

/// A value as Go prints it.
pub(super) fn print(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        other => go_template::print::short(&convert::from_model(other)),
    }
}

/// A text as the name of an object: `normalize`.
pub(super) fn normalize(text: &str) -> String {
    /// In bytes, as Kubernetes has it.
    const LONGEST: usize = 253;
    let is_kept = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || ['-', '.'].contains(&letter)
    };
    let lower = text.to_lowercase();
    let letters = lower
        .chars()
        .map(|letter| if is_kept(letter) { letter } else { '-' });
    let name: String = letters.take(LONGEST).collect();
    name.trim_matches(['-', '.']).to_owned()
}

/// `slugify [LENGTH [WHOLE_WORDS]] NAME`: the words of a name that fit, with `-` between them.
fn slugify(call: &mut Call<'_>) -> Result<go_template::Value, Error> {
    use go_template::Value;
    let (length, is_whole, name) = match call.arguments {
        [Value::String(name)] => (50, true, name),
        [Value::Int(length), Value::String(name)] => (*length, true, name),
        [
            Value::Int(length),
            Value::Bool(is_whole),
            Value::String(name),
        ] => (*length, *is_whole, name),
        _ => return Err(call.argument_error(0, "length, a bool and a string")),
    };
    let length = usize::try_from(length).unwrap_or(0);
    let name = normalize(name);
    let words: Vec<&str> = { name.split(['-', '.']) }
        .filter(|word| !word.is_empty())
        .collect();
    let slug = words.join("-");
    let Some(cut) = slug
        .get(..length)
        .filter(|_| length > 0 && slug.len() > length)
    else {
        return Ok(slug.into());
    };
    if !is_whole {
        return Ok(cut.into());
    }
    let mut kept = String::new();
    for word in words {
        let joint = if kept.is_empty() { "" } else { "-" };
        if kept.len() + joint.len() + word.len() > length {
            break;
        }
        kept.extend([joint, word]);
    }
    let kept = if kept.is_empty() { cut } else { &*kept };
    Ok(kept.into())
}
