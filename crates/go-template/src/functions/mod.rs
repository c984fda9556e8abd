//! The functions that Helm adds to those of text/template: Sprig's and Helm's own, one module per family.
//!
//! Results match Go's, including its quirks.

mod constraint;
mod convert;
mod decimal;
mod defaults;
mod dicts;
mod durations;
mod encoding;
mod json;
mod json_text;
mod letter_case;
mod lists;
mod math;
mod merge;
mod paths;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod recorded_toml;
mod regex;
mod semver;
mod strings;
mod toml;
mod types;
mod url;
mod version;
mod words;
mod yaml;

use super::Value;
use super::function::Function;

/// The functions of all families.
pub(super) const TABLES: &[&[Function]] = &[
    defaults::TABLE,
    dicts::TABLE,
    durations::TABLE,
    encoding::TABLE,
    json::TABLE,
    lists::TABLE,
    math::TABLE,
    merge::TABLE,
    paths::TABLE,
    regex::TABLE,
    semver::TABLE,
    strings::TABLE,
    toml::TABLE,
    types::TABLE,
    url::TABLE,
    words::TABLE,
    yaml::TABLE,
];

/// Parses JSON as `fromJson` does; none if the text is not JSON.
pub fn from_json(text: &str) -> Option<Value> {
    json_text::read(text).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::{ProptestConfig, Strategy, prop, prop_oneof, proptest};

    use super::TABLES;
    use crate::{Budget, Limits, NoHost, Value, execute, parse};

    /// Edge cases: limits of ranges, texts that may be split within a character, values of a wrong type.
    const ARGUMENTS: &[&str] = &[
        "0",
        "1",
        "-1",
        "3",
        "70000",
        "9223372036854775807",
        "-9223372036854775808",
        "1e308",
        "5e-324",
        "-0.5",
        r#""""#,
        r#""é☃𝄞""#,
        r#""1.0.""#,
        r#""-9223372036854775808""#,
        r#""18446744073709551616""#,
        r#""1e999""#,
        r#""v1.2.3-rc.1+b""#,
        r#"">= 1.2 - 1.4 || ~x""#,
        r#""((a|é)*?)+$1${1}""#,
        r#""%[1]*.[2]*d%!%.70000f%-070000U%T""#,
        r#""https://u:p@[::1]:8/%zz?a#b""#,
        r#""{a: [1, *x], 'b"#,
        r#""[1, {\"a\": \"\\ud800\"}]""#,
        r#""YQ=\n=""#,
        r#""/../a//.b.""#,
        "true",
        "nil",
        ".none",
        ".self",
        r#"(list 1 "é" nil 1.5 (list))"#,
        r#"(dict "a" 1 "é" (dict "b" nil))"#,
        r#"(semver "1.2.3")"#,
    ];

    fn call() -> impl Strategy<Value = String> {
        let names: Vec<&str> = TABLES
            .iter()
            .flat_map(|table| table.iter().map(|function| function.name))
            .chain([
                "printf", "print", "index", "len", "slice", "html", "js", "urlquery",
            ])
            .collect();
        let text = "[ -~é]{0,12}".prop_map(|text| format!("{text:?}"));
        let argument = prop_oneof![
            4 => prop::sample::select(ARGUMENTS).prop_map(str::to_owned),
            1 => text,
        ];
        (
            prop::sample::select(names),
            prop::collection::vec(argument, 0..5),
        )
            .prop_map(|(name, arguments)| format!("{{{{ {name} {} }}}}", arguments.join(" ")))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn no_argument_makes_a_function_panic(text in call()) {
            let Ok(template) = parse("text", &text) else {
                return Ok(());
            };
            let dot = Value::map(BTreeMap::new());
            if let Value::Map(map) = &dot {
                map.set("self", dot.clone());
            }
            let limits = Limits { steps: 200_000, ..Limits::default() };
            let _ = execute(&template, &dot, &NoHost, &Budget::new(limits));
        }
    }
}
