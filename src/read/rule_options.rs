//! What the project file sets of rules: a level, or a map with a level and the options of the rule.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::model::policy::RuleSettings;
use crate::model::rule::{Level, RuleId};
use crate::rules::{RULES, Rule};

use super::unknown::suggestion;

/// Levels and options, by rule.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct RuleOptions(BTreeMap<RuleId, Written>);

/// What is written of one rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Written {
    Level(Level),
    Map {
        level: Option<Level>,
        #[serde(flatten)]
        options: BTreeMap<String, u32>,
    },
}

impl RuleOptions {
    /// As the policy takes them.
    pub(super) fn settings(&self) -> BTreeMap<RuleId, RuleSettings> {
        let settings = |written: &Written| match written.clone() {
            Written::Level(level) => level.into(),
            Written::Map { level, options } => RuleSettings { level, options },
        };
        let written = self.0.iter();
        written
            .map(|(rule, written)| (*rule, settings(written)))
            .collect()
    }
}

/// That there is no rule of that id, and what to do.
pub(super) fn no_rule(id: &str) -> (String, String) {
    let ids: Vec<&str> = RuleId::ALL.iter().map(|rule| rule.as_str()).collect();
    let help = suggestion(id, &ids, "`metalmark rules` lists the rules");
    (format!("there is no rule `{id}`"), help)
}

/// Each rule with its options. `x-names` says that the keys are rules.
impl JsonSchema for RuleOptions {
    fn schema_name() -> Cow<'static, str> {
        "RuleOptions".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let level = generator.subschema_for::<Level>();
        let rules = RULES.iter();
        let rules = rules.map(|rule| (rule.id.to_string(), rule_schema(rule, &level)));
        json_schema!({
            "type": "object",
            "description": "Levels and options, by rule.",
            "x-names": "rule",
            "properties": rules.collect::<Map<_, _>>(),
            "additionalProperties": false,
        })
    }
}

/// What may be written of a rule.
fn rule_schema(rule: &Rule, level: &Schema) -> Json {
    let mut known = Map::new();
    let mut own = level.clone();
    own.insert("description".to_owned(), "The level.".into());
    known.insert("level".to_owned(), own.into());
    for option in rule.options {
        let schema = json_schema!({
            "type": "integer",
            "format": "uint32",
            "minimum": 0,
            "default": option.default,
            "description": option.meaning,
        });
        known.insert(option.name.to_owned(), schema.into());
    }
    json_schema!({
        "description": rule.summary(),
        "default": rule.id.level(),
        "anyOf": [
            level,
            {"type": "object", "properties": known, "additionalProperties": false},
        ],
    })
    .into()
}
