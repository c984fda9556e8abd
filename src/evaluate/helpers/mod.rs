//! Sylva's named templates that values call by `include`, implemented in Rust. They are used for values without their chart;
//! those that interpret values always are.
//!
//! Source: the templates are in sylva-core `charts/sylva-units/templates/*.tpl` and in sylva-library; docs/expressions.md
//! describes them. A template that queries the cluster finds nothing, as under `helm template`. A template that generates random
//! text is refused, because the same input must give the same output.

mod arguments;
mod images;
mod interpreting;
mod network;
mod text;
mod typed;
mod units;

use std::sync::Arc;

use yaml_tree::opaque::is_opaque;

use go_template::{Definition, Engine, Error, ErrorClass, Host, Template, Value};

use super::session::Session;

/// The implementation of a helper: returns its text.
type Body = fn(&Session, &Value) -> Result<String, Error>;

/// All helpers, sorted by name.
const TABLE: &[(&str, Body)] = &[
    ("as-bool", typed::as_bool),
    (
        "dict_to_key_values_separated_string",
        text::dict_to_key_values_separated_string,
    ),
    (
        "finalize-os-image-selector",
        images::finalize_os_image_selector,
    ),
    (
        "find-cluster-image-selectors",
        images::find_cluster_image_selectors,
    ),
    ("generate-os-images", images::generate_os_images),
    ("get-helm-version", units::get_helm_version),
    (
        "images_from_diskimagebuilder",
        images::images_from_diskimagebuilder,
    ),
    ("internalPersistentRandomPasswd", refuse),
    ("interpret", interpreting::interpret),
    ("interpret-and-hash", interpreting::interpret_and_hash),
    ("interpret-as-bool", interpreting::interpret_as_bool),
    ("interpret-as-string", interpreting::interpret_as_string),
    ("interpret-for-test", interpreting::interpret_for_test),
    ("interpret-inner-gotpl", interpreting::interpret_inner_gotpl),
    ("interpret-ternary", interpreting::interpret_ternary),
    ("k8s-flavor-from-cabpX", images::k8s_flavor_from_cabpx),
    ("k8s-version-match", text::k8s_version_match),
    ("merge-append", units::merge_append),
    ("preserve-type", typed::preserve_type),
    ("set-if-defined", typed::set_if_defined),
    ("set-only-if", typed::set_only_if),
    ("sylva-units.no_proxy", network::no_proxy),
    ("unit-enabled", units::unit_enabled),
    ("unshield-raw", text::unshield_raw),
];

/// Supplies the named templates of the chart, and the helpers if there is no chart or the helper interprets values.
impl Host for Session {
    fn engine(&self) -> Engine {
        self.options.engine
    }

    fn find_definition(&self, name: &str) -> Option<Definition<'_>> {
        let templates = self.options.templates.as_ref();
        let in_chart = templates.filter(|_| !is_interpreter(name));
        if let Some(template) = in_chart.and_then(|templates| templates.find_template(name)) {
            return Some(Definition::Template(template));
        }
        let index = TABLE.binary_search_by(|(own, _)| (*own).cmp(name)).ok()?;
        let (_, body) = TABLE[index];
        let call = move |argument| {
            let result = self.run_helper(|| body(self, &argument));
            result.map_err(|error| self.name_secret(error))
        };
        Some(Definition::Native(Box::new(call)))
    }

    fn missing(&self, name: &str) -> Error {
        let mut error = go_template::missing_template(name);
        if let Some(templates) = &self.options.templates {
            for fault in templates.faults() {
                error.message = format!("{}; {fault}", error.message);
            }
        }
        error
    }

    fn parse(&self, text: &Arc<str>) -> Result<Template, Error> {
        self.cache.parse(text)
    }
}

impl Session {
    /// The error of a helper; one that is about a secret depends on it.
    fn name_secret(&self, error: Error) -> Error {
        let is_secret = self.budget.has_labels() && is_opaque(&error.message);
        let class = if is_secret {
            ErrorClass::Secret
        } else {
            error.class
        };
        Error { class, ..error }
    }
}

/// Whether a helper interprets values. Our implementation of such a helper replaces that of the chart: lazy evaluation passes
/// evaluated values, and random text is refused.
fn is_interpreter(name: &str) -> bool {
    const INTERPRETERS: [&str; 14] = [
        "as-bool",
        "internalPersistentRandomPasswd",
        "interpret",
        "interpret-and-hash",
        "interpret-as-bool",
        "interpret-as-string",
        "interpret-for-test",
        "interpret-inner-gotpl",
        "interpret-ternary",
        "interpret-values-gotpl",
        "preserve-type",
        "set-if-defined",
        "set-only-if",
        "unshield-raw",
    ];
    INTERPRETERS.contains(&name)
}

fn refuse(_session: &Session, _argument: &Value) -> Result<String, Error> {
    Err(Error::new(
        ErrorClass::Refused,
        "`internalPersistentRandomPasswd` generates random text, and is not evaluated here",
    ))
}

#[cfg(test)]
mod tests {
    use super::TABLE;

    #[test]
    fn the_table_is_sorted_by_name() {
        assert!(TABLE.is_sorted_by(|(a, _), (b, _)| a < b));
    }
}
