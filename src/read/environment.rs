//! `.env` files, which people read into the environment of clusterctl and envsubst.

use std::sync::Arc;

use yaml_tree::opaque::label;
use yaml_tree::place::{FileId, Located, Place, Source};

/// The variables of a text, in its order: `NAME=value`, `export NAME="value"`. Each may be a secret: a caller shows only what it uses as a
/// version, an image or a name. Those of a file of secrets, and of one that SOPS has encrypted, are labels.
pub(super) fn variables(source: &Source, file: FileId) -> Vec<(Arc<str>, Located<Arc<str>>)> {
    let text = &source.text;
    let lines = text.lines();
    let is_of_sops = |line| variable(line).is_some_and(|(name, _)| name.starts_with("sops_"));
    let is_secret = source.is_secret_file || lines.clone().any(is_of_sops);
    let variable = |line| {
        let (name, value) = variable(line)?;
        let start = value.as_ptr() as usize - text.as_ptr() as usize;
        let place = Place::new(file, start..start + value.len());
        let is_secret = is_secret && !value.is_empty() || value.starts_with("ENC[");
        let value = if is_secret {
            label(&source.path, name).into()
        } else {
            value.into()
        };
        Some((name.into(), Located::new(value, place)))
    };
    lines.filter_map(variable).collect()
}

/// The name and value of a line.
fn variable(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (name, value) = line
        .strip_prefix("export ")
        .unwrap_or(line)
        .split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|one| one.is_ascii_alphanumeric() || one == '_')
    };
    if !is_name(name) {
        return None;
    }
    let quoted = ['"', '\''].iter().find_map(|quote| {
        let (inner, _) = value.strip_prefix(*quote)?.split_once(*quote)?;
        Some(inner)
    });
    let bare = || {
        value
            .split_once(" #")
            .map_or(value, |(value, _)| value.trim())
    };
    Some((name, quoted.unwrap_or_else(bare)))
}

#[cfg(test)]
mod tests {
    use super::variables;
    use yaml_tree::place::{FileId, Source};

    #[test]
    fn a_line_of_an_environment_has_a_name_and_a_value() {
        for (line, expected) in [
            ("A=v1.31.8", Some(("A", "v1.31.8"))),
            ("export A=\"x y\" # z", Some(("A", "x y"))),
            ("  A = 'x'", Some(("A", "x"))),
            ("A=x # comment", Some(("A", "x"))),
            ("A=", Some(("A", ""))),
            ("# A=x", None),
            ("A B=x", None),
            ("just text", None),
        ] {
            let text = format!("# first\n{line}\n");
            let found = variables(&Source::new(".env", text.as_str()), FileId(0));
            let found = found.first().map(|(name, value)| {
                let (start, end) = (value.place.start as usize, value.place.end as usize);
                assert_eq!(&text[start..end], &*value.value);
                (&**name, &*value.value)
            });
            assert_eq!(found, expected, "{line}");
        }
    }
}
