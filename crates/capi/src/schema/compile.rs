//! Compiles a definition's schema: typed, with compiled patterns.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use cel::Program;

use go_template::regexp::{self, Regexp};
use yaml_tree::json::{Html, to_json};
use yaml_tree::value::{Node, Number, Value};

/// The deepest nesting of schemas; the well-known definitions have at most about thirty levels.
const DEPTH: usize = 200;

/// A structural schema
/// (<https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema>).
#[derive(Debug, Default)]
pub(super) struct Schema {
    pub(super) kind: Option<SchemaType>,
    pub(super) nullable: bool,
    /// `x-kubernetes-int-or-string`
    pub(super) int_or_string: bool,
    /// `x-kubernetes-preserve-unknown-fields`
    pub(super) preserves: bool,
    /// `x-kubernetes-embedded-resource`, and every root: apiVersion, kind and metadata are allowed.
    pub(super) embedded: bool,
    pub(super) properties: BTreeMap<Arc<str>, Schema>,
    pub(super) additional: Additional,
    /// Without fields that have a default, which the API server adds before it validates.
    pub(super) required: Vec<Arc<str>>,
    pub(super) items: Option<Box<Schema>>,
    /// The allowed values, as JSON.
    pub(super) allowed: Vec<String>,
    pub(super) pattern: Option<Pattern>,
    pub(super) length: Bounds,
    pub(super) count: Bounds,
    pub(super) fields: Bounds,
    pub(super) minimum: Option<Limit>,
    pub(super) maximum: Option<Limit>,
    pub(super) multiple_of: Option<f64>,
    pub(super) format: Option<Arc<str>>,
    /// `x-kubernetes-list-type`: `set` and `map` allow no duplicates.
    pub(super) unique: Unique,
    pub(super) all_of: Vec<Schema>,
    pub(super) any_of: Vec<Schema>,
    pub(super) one_of: Vec<Schema>,
    pub(super) not: Option<Box<Schema>>,
    /// What the API server adds where the value is missing.
    pub(super) default: Option<Node>,
    /// `x-kubernetes-validations`
    pub(super) rules: Vec<Rule>,
}

/// A pattern of a schema.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) text: Arc<str>,
    /// Compiled when a text is first compared with it: a definition has hundreds of patterns, and an object needs a few.
    compiled: OnceLock<Result<Regexp, regexp::Error>>,
}

impl Pattern {
    fn new(text: &Arc<str>) -> Self {
        Self {
            text: Arc::clone(text),
            compiled: OnceLock::new(),
        }
    }

    /// Whether it matches anywhere in the text; why not, if it is no pattern of Go's.
    pub(super) fn matches(&self, text: &str) -> Result<bool, &regexp::Error> {
        let compiled = self.compiled.get_or_init(|| Regexp::new(&self.text));
        compiled.as_ref().map(|regexp| regexp.is_match(text))
    }
}

/// A rule of a schema in CEL.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) text: Arc<str>,
    /// What the definition says of an object that breaks the rule.
    pub(super) message: Option<Arc<str>>,
    /// Compiled when an object is first checked; none if it cannot be.
    pub(super) program: OnceLock<Option<Program>>,
}

impl Rule {
    /// The rules of a schema.
    pub(super) fn all(schema: &Node) -> Vec<Self> {
        let rules = schema.items(&["x-kubernetes-validations"]).iter();
        rules
            .filter_map(|rule| {
                let text = |key| rule.get_path(&[key])?.value.as_str().cloned();
                Some(Self {
                    text: text("rule")?,
                    message: text("message"),
                    program: OnceLock::new(),
                })
            })
            .collect()
    }
}

impl Schema {
    /// The schema of a field.
    pub(super) fn field(&self, key: &str) -> Option<&Self> {
        match (self.properties.get(key), &self.additional) {
            (Some(known), _) => Some(known),
            (None, Additional::Schema(other)) => Some(other),
            (None, _) => None,
        }
    }

    /// Whether the values are floats, also those that are written without a fraction.
    pub(super) fn is_number(&self) -> bool {
        self.kind == Some(SchemaType::Number)
    }
}

/// A schema's `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaType {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

/// The schema of fields that are not in `properties`.
#[derive(Debug, Default)]
pub(super) enum Additional {
    /// None: the API server drops such fields, so they are refused here.
    #[default]
    Unspecified,
    Any,
    Schema(Box<Schema>),
}

/// A minimum and a maximum.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    pub(super) least: Option<usize>,
    pub(super) most: Option<usize>,
}

/// A number's bound; an exclusive one is not allowed itself.
#[derive(Debug)]
pub(super) struct Limit {
    pub(super) bound: f64,
    pub(super) exclusive: bool,
}

#[derive(Debug, Default)]
pub(super) enum Unique {
    #[default]
    No,
    Items,
    Keys(Vec<Arc<str>>),
}

/// The schema of a kind's objects.
pub(super) fn root(node: &Node) -> Result<Schema, String> {
    let mut schema = compile(node, DEPTH)?;
    schema.embedded = true;
    Ok(schema)
}

fn compile(node: &Node, depth: usize) -> Result<Schema, String> {
    let depth = depth
        .checked_sub(1)
        .ok_or("the schema is nested too deeply")?;
    let one = |key| {
        node.get_path(&[key])
            .map(|node| compile(node, depth))
            .transpose()
    };
    let many = |key| -> Result<Vec<Schema>, String> {
        let items = node.items(&[key]).iter();
        items.map(|item| compile(item, depth)).collect()
    };
    let properties = node.entries(&["properties"]);
    Ok(Schema {
        kind: text(node, "type").and_then(|kind| kind_of(kind)),
        nullable: node.flag(&["nullable"]),
        int_or_string: node.flag(&["x-kubernetes-int-or-string"]),
        preserves: node.flag(&["x-kubernetes-preserve-unknown-fields"]),
        embedded: node.flag(&["x-kubernetes-embedded-resource"]),
        properties: properties
            .map(|entry| Ok((Arc::clone(&entry.key), compile(&entry.node, depth)?)))
            .collect::<Result<_, String>>()?,
        additional: additional(node, depth)?,
        required: mandatory_keys(node),
        items: one("items")?.map(Box::new),
        allowed: enum_values(node),
        pattern: text(node, "pattern").map(Pattern::new),
        length: bounds(node, "minLength", "maxLength"),
        count: bounds(node, "minItems", "maxItems"),
        fields: bounds(node, "minProperties", "maxProperties"),
        minimum: limit(node, "minimum", "exclusiveMinimum"),
        maximum: limit(node, "maximum", "exclusiveMaximum"),
        multiple_of: number(node, "multipleOf"),
        format: text(node, "format").cloned(),
        unique: unique(node),
        all_of: many("allOf")?,
        any_of: many("anyOf")?,
        one_of: many("oneOf")?,
        not: one("not")?.map(Box::new),
        default: node.get_path(&["default"]).cloned(),
        rules: Rule::all(node),
    })
}

fn additional(node: &Node, depth: usize) -> Result<Additional, String> {
    let Some(node) = node.get_path(&["additionalProperties"]) else {
        return Ok(Additional::Unspecified);
    };
    Ok(match node.value {
        Value::Bool(false) => Additional::Unspecified,
        Value::Bool(true) => Additional::Any,
        _ => Additional::Schema(Box::new(compile(node, depth)?)),
    })
}

fn unique(node: &Node) -> Unique {
    match text(node, "x-kubernetes-list-type").map(|kind| &**kind) {
        Some("set") => Unique::Items,
        Some("map") => Unique::Keys(texts(node, "x-kubernetes-list-map-keys")),
        _ => Unique::No,
    }
}

fn kind_of(name: &str) -> Option<SchemaType> {
    Some(match name {
        "object" => SchemaType::Object,
        "array" => SchemaType::Array,
        "string" => SchemaType::String,
        "integer" => SchemaType::Integer,
        "number" => SchemaType::Number,
        "boolean" => SchemaType::Boolean,
        _ => return None,
    })
}

fn text<'a>(node: &'a Node, key: &str) -> Option<&'a Arc<str>> {
    node.get_path(&[key])?.value.as_str()
}

fn mandatory_keys(node: &Node) -> Vec<Arc<str>> {
    let mut keys = texts(node, "required");
    keys.retain(|key| node.get_path(&["properties", key, "default"]).is_none());
    keys
}

fn texts(node: &Node, key: &str) -> Vec<Arc<str>> {
    let texts = node.items(&[key]).iter();
    texts
        .filter_map(|item| item.value.as_str().cloned())
        .collect()
}

fn number(node: &Node, key: &str) -> Option<f64> {
    match node.get_path(&[key])?.value {
        Value::Number(Number::Int(int)) => Some(int as f64),
        Value::Number(Number::Float(float)) => Some(float),
        _ => None,
    }
}

fn enum_values(node: &Node) -> Vec<String> {
    let values = node.items(&["enum"]).iter();
    values
        .map(|item| to_json(&item.value, Html::Plain))
        .collect()
}

fn bounds(node: &Node, least: &str, most: &str) -> Bounds {
    let whole = |key| {
        number(node, key)
            .filter(|bound| *bound >= 0.0)
            .map(|bound| bound as usize)
    };
    Bounds {
        least: whole(least),
        most: whole(most),
    }
}

fn limit(node: &Node, key: &str, exclusive: &str) -> Option<Limit> {
    Some(Limit {
        bound: number(node, key)?,
        exclusive: node.flag(&[exclusive]),
    })
}
