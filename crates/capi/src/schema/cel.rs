//! The rules of a schema in CEL: `x-kubernetes-validations`
//! (<https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules>).
//!
//! Only a rule that is false counts. One that the crate cannot evaluate says nothing: it may use a function of Kubernetes' own
//! (`isIP`) or a field that is not there.
//!
//! Only rules of built-in definitions are evaluated. The crate limits neither its stack nor its work: twenty brackets in one
//! another end a debug build, and a definition in a repository may be anyone's.

use std::collections::HashMap;
use std::sync::Arc;

use cel::extractors::This;
use cel::{Context, ExecutionError, Program};
use go_template::regexp::Regexp;
use yaml_tree::value::{Node, Number, Value};

use super::compile::{Rule, Schema};

impl Rule {
    /// What is wrong with a value of this schema, in one clause.
    pub(super) fn violation(&self, schema: &Schema, node: &Node) -> Option<String> {
        let program = self
            .program
            .get_or_init(|| Program::compile(&self.text).ok())
            .as_ref()?;
        let mut context = Context::default();
        context.add_variable_from_value("self", with_defaults(Some(schema), node));
        let _ = context.add_function("matches", matches);
        match program.execute(&context) {
            Ok(cel::Value::Bool(false)) => Some(match &self.message {
                Some(message) => message.to_string(),
                None => format!("breaks the rule `{}`", self.text),
            }),
            _ => None,
        }
    }
}

/// CEL's function, whose patterns are RE2's.
fn matches(This(text): This<Arc<String>>, pattern: Arc<String>) -> Result<bool, ExecutionError> {
    let pattern =
        Regexp::new(&pattern).map_err(|error| ExecutionError::function_error("matches", error))?;
    Ok(pattern.is_match(&text))
}

/// A value as the API server hands it to a rule: with the defaults of its schema, and without fields that are null by mistake.
fn with_defaults(schema: Option<&Schema>, node: &Node) -> cel::Value {
    match &node.value {
        Value::Null => cel::Value::Null,
        Value::Bool(flag) => cel::Value::Bool(*flag),
        Value::Number(Number::Int(int)) if schema.is_some_and(Schema::is_number) => {
            cel::Value::Float(*int as f64)
        }
        Value::Number(Number::Int(int)) => cel::Value::Int(*int),
        Value::Number(Number::Float(float)) => cel::Value::Float(*float),
        Value::String(text) => cel::Value::String(Arc::new(text.to_string())),
        // A rule that looks at it fails, and a rule that fails says nothing.
        Value::Opaque(_) => cel::Value::Null,
        Value::List(items) => {
            let of_item = schema.and_then(|schema| schema.items.as_deref());
            let items = { items.iter() }.map(|item| with_defaults(of_item, item));
            cel::Value::List(Arc::new(items.collect()))
        }
        Value::Map(map) => {
            let mut fields = HashMap::new();
            for entry in map.iter() {
                let of_field = schema.and_then(|schema| schema.field(&entry.key));
                let is_nullable = of_field.is_some_and(|field| field.nullable);
                if !entry.node.value.is_null() || is_nullable {
                    let value = with_defaults(of_field, &entry.node);
                    fields.insert(entry.key.to_string(), value);
                }
            }
            let known = schema.into_iter().flat_map(|schema| &schema.properties);
            for (key, of_field) in known {
                if let Some(default) = &of_field.default
                    && !fields.contains_key(&**key)
                {
                    let value = with_defaults(Some(of_field), default);
                    fields.insert(key.to_string(), value);
                }
            }
            cel::Value::from(fields)
        }
    }
}
