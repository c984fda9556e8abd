//! The options of an output that differ by cluster: plain-text templates, like the output's path.

use std::borrow::Cow;

use minijinja::Value as Context;
use serde_json::Value;

use super::engine::Engine;
use crate::model::finding::Finding;
use crate::model::settings::Output;

/// The mark of a template. Expressions of other programs, such as Argo CD's, do not contain it.
const OPENING: &str = "{{ cluster.";

/// The options of an output that are templates.
pub(super) struct Options {
    /// Each option's name, with the name of its template.
    templates: Vec<(String, String)>,
}

impl Options {
    /// Compiles the templates among an output's options.
    pub(super) fn compile(
        output: &Output,
        index: usize,
        engine: &mut Engine,
        findings: &mut Vec<Finding>,
    ) -> Self {
        let mut templates = Vec::new();
        for (option, value) in &output.options {
            let Some(text) = value.as_str().filter(|text| text.contains(OPENING)) else {
                continue;
            };
            let name = format!("outputs[{index}].{option}");
            engine.add_value(name.clone(), text, output.spot.clone(), findings);
            templates.push((option.clone(), name));
        }
        Self { templates }
    }

    /// The output with the values of its options for a cluster.
    pub(super) fn fill<'o>(
        &self,
        output: &'o Output,
        engine: &Engine,
        scope: &Context,
        findings: &mut Vec<Finding>,
    ) -> Cow<'o, Output> {
        let mut filled = Cow::Borrowed(output);
        for (option, template) in &self.templates {
            if engine.is_broken(template) {
                continue;
            }
            match engine.render(template, scope.clone()) {
                Ok(text) => {
                    let options = &mut filled.to_mut().options;
                    options.insert(option.clone(), Value::String(text));
                }
                Err(finding) => findings.push(*finding),
            }
        }
        filled
    }
}
