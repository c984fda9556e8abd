//! What functions do with labels of secrets: texts that are not there (see [`yaml_tree::opaque`]).
//!
//! A function that is not declared to pass texts along fails when an argument holds a label. One that is declared so can at worst
//! be wrong about what is unknown; it can print nothing that is secret.

use std::collections::HashSet;
use std::sync::Arc;

use yaml_tree::opaque::{CLOSE, MAYBE, OPEN};

use super::function::{Call, Labels};
use super::print::NESTING;
use super::secret::{error, may_be_empty, secret};
use super::{Error, ErrorClass, Value};

/// Runs a function. Every call goes through here, so that none looks at a secret unless it is declared to pass it along.
pub(super) fn run(
    mut call: Call<'_>,
    body: fn(&mut Call<'_>) -> Result<Value, Error>,
    labels: Labels,
) -> Result<Value, Error> {
    match labels {
        Labels::Carried => {}
        Labels::Refused => refuse(call.arguments)?,
        Labels::ComparedWithNothing => {
            let is_empty = |value: &Value| matches!(value, Value::String(text) if text.is_empty());
            match call.arguments {
                [one, other] if is_empty(one) || is_empty(other) => {
                    // Whether it is empty may not be known.
                    one.truth()?;
                    other.truth()?;
                }
                arguments => refuse(arguments)?,
            }
        }
        Labels::InStructure => {
            for argument in call.arguments {
                if let Value::String(text) = argument {
                    error(text).map_or(Ok(()), Err)?;
                }
            }
        }
        Labels::InText => return run_on_text(call, body),
        Labels::InTextOrNothing => {
            return Ok(match run_on_text(call, body)? {
                Value::String(made) if is_only_labels(&made) && !may_be_empty(&made) => {
                    let rest = &made[made.find(OPEN).unwrap_or(0) + OPEN.len_utf8()..];
                    format!("{OPEN}{MAYBE}{rest}").into()
                }
                made => made,
            });
        }
        Labels::Parsed => {
            // The text of a secret may be anything.
            if let Some(Value::String(text)) = call.arguments.first()
                && text.trim_start().starts_with(OPEN)
            {
                return Err(secret(text));
            }
        }
    }
    body(&mut call)
}

/// The text that a function makes; its labels alone where it changes them or makes something else.
fn run_on_text(
    mut call: Call<'_>,
    body: fn(&mut Call<'_>) -> Result<Value, Error>,
) -> Result<Value, Error> {
    let mut given = Vec::new();
    for argument in call.arguments {
        collect(argument, 0, &mut given)?;
    }
    if given.is_empty() {
        return body(&mut call);
    }
    Ok(match body(&mut call) {
        Ok(Value::String(text)) if keeps(&text, &given) => Value::String(text),
        Err(error) if matches!(error.class, ErrorClass::Limit | ErrorClass::Secret) => {
            return Err(error);
        }
        _ => given.concat().into(),
    })
}

/// Fails if a value holds a label of a secret, at any depth.
pub(super) fn refuse(values: &[Value]) -> Result<(), Error> {
    let mut found = Vec::new();
    for value in values {
        collect(value, 0, &mut found)?;
    }
    if found.is_empty() {
        Ok(())
    } else {
        Err(secret(&found.concat()))
    }
}

/// Whether a text consists of labels.
fn is_only_labels(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(OPEN)
        && text.split(OPEN).skip(1).all(|part| {
            let rest = part.split_once(CLOSE).map_or("", |(_, rest)| rest);
            rest.trim().is_empty()
        })
}

/// Adds the labels in a value, each with its marks.
fn collect(value: &Value, depth: usize, found: &mut Vec<String>) -> Result<(), Error> {
    if depth > NESTING {
        return Err(Error::new(
            ErrorClass::Depth,
            format!("values are nested more than {NESTING} deep"),
        ));
    }
    match value {
        Value::String(text) => add_labels(text, found),
        Value::List(list) => {
            for item in &list.items {
                collect(item, depth + 1, found)?;
            }
        }
        Value::Map(map) => {
            for (_, item) in map.entries()? {
                collect(&item, depth + 1, found)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn add_labels(text: &str, found: &mut Vec<String>) {
    for part in text.split(OPEN).skip(1) {
        let label = part.split(CLOSE).next().unwrap_or(part);
        let label = format!("{OPEN}{label}{CLOSE}");
        if found.last() != Some(&label) {
            found.push(label);
        }
    }
}

/// Whether a text holds all these labels.
fn keeps(text: &Arc<str>, labels: &[String]) -> bool {
    let mut kept = Vec::new();
    add_labels(text, &mut kept);
    let kept: HashSet<String> = kept.into_iter().collect();
    labels.iter().all(|label| kept.contains(label))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use yaml_tree::opaque::{is_opaque, label, show_labels};

    use crate::{Budget, ErrorClass, Limits, NoHost, Value, execute, parse};

    /// What a template makes of the secret `.pw`, or the class of its error.
    fn made(text: &str) -> Result<String, ErrorClass> {
        let secret = Value::from(label("s.yaml", "pw"));
        let nested = Value::map(BTreeMap::from([("a".into(), secret.clone())]));
        let dot = Value::map(BTreeMap::from([
            ("pw".into(), secret),
            ("map".into(), nested),
            ("plain".into(), "x".into()),
        ]));
        let budget = Budget::new(Limits::default());
        budget.note_label();
        let template = parse("text", text).expect("the template is valid");
        let made = execute(&template, &dot, &NoHost, &budget);
        made.map(|text| show_labels(&text).into_owned())
            .map_err(|error| error.class)
    }

    #[test]
    fn what_passes_a_secret_along_keeps_its_label() {
        for (text, expected) in [
            ("a-{{ .pw }}", "a-<secret s.yaml: pw>"),
            ("{{ .pw | quote }}", "\"<secret s.yaml: pw>\""),
            (
                "{{ printf \"%s/%q\" .plain .pw }}",
                "x/\"<secret s.yaml: pw>\"",
            ),
            (
                "{{ .map | toYaml | nindent 2 }}",
                "\n  a: <secret s.yaml: pw>",
            ),
            ("{{ (.map | toJson | fromJson).a }}", "<secret s.yaml: pw>"),
            (
                "{{ (tpl \"b: {{ .pw }}\" . | fromYaml).b }}",
                "<secret s.yaml: pw>",
            ),
            ("{{ default \"x\" .pw }}", "<secret s.yaml: pw>"),
            ("{{ if .pw }}yes{{ end }}{{ eq .pw \"\" }}", "yesfalse"),
            (
                "{{ .pw | b64enc }}{{ .pw | sha256sum }}",
                "<secret s.yaml: pw><secret s.yaml: pw>",
            ),
            (
                "{{ .pw | upper }} {{ printf \"%.2s\" .pw }}",
                "<secret s.yaml: pw> <secret s.yaml: pw>",
            ),
            ("{{ .pw | replace \"s\" \"x\" }}", "<secret s.yaml: pw>"),
            ("{{ len .map }}{{ eq .plain \"x\" }}", "1true"),
        ] {
            let made = made(text);
            assert_eq!(made.as_deref(), Ok(expected), "{text}");
        }
    }

    /// `kind: Secret` in a chart's template, which others include and read.
    #[test]
    fn what_is_secret_of_a_template_is_a_label() {
        let text = "{{ define \"s\" }}a: b\npw: SEKRET{{ end }}{{ include \"s\" . }} {{ (include \"s\" . | fromYaml).pw }} \
                    {{ \"SEKRET\" | quote }}";
        let at = |from: usize| {
            let start = from + text[from..].find("SEKRET").expect("it is there");
            start as u32..start as u32 + 6
        };
        let ranges = [at(0), at(40)];
        let label = label("s.yaml", "");
        let sealed = crate::Sealed {
            ranges: &ranges,
            label: &label,
        };
        let template = crate::parse_sealed("text", text, sealed).expect("the template is valid");
        let budget = Budget::new(Limits::default());
        let made = execute(&template, &Value::Nil, &NoHost, &budget).expect("it is printed");
        assert_eq!(
            show_labels(&made),
            "a: b\npw: <secret s.yaml> <secret s.yaml> \"<secret s.yaml>\""
        );
    }

    #[test]
    fn a_look_at_a_secret_fails() {
        for text in [
            "{{ eq .pw \"x\" }}",
            "{{ len .pw }}",
            "{{ contains \"x\" .pw }}",
            "{{ if trimPrefix \"x\" .pw }}{{ end }}",
            "{{ semverCompare \">1\" .pw }}",
            "{{ index .map .pw }}",
            "{{ dict .pw 1 }}",
            "{{ .pw.a }}",
            "{{ until .pw }}",
            "{{ fromYaml .pw }}",
            "{{ deepEqual .map .map }}",
            "{{ splitList \"-\" .pw }}",
            "{{ add 1 .pw }}",
            "{{ kindOf .pw }}",
            "{{ tpl (printf \"{{ %s }}\" .pw) . }}",
            "{{ range .pw }}{{ end }}",
        ] {
            assert_eq!(made(text), Err(ErrorClass::Secret), "{text}");
        }
        assert!(!is_opaque("x"));
    }
}
