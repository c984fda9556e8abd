//! Whose a rendered file is: its first line says so, and nothing else does. A comment, so that every tool reads the rest.

use std::sync::Arc;

use oci_artifacts::sha256;

/// The SHA-256 of a file's bytes.
pub type Sum = [u8; 32];

/// The sum of a file's bytes.
pub fn sum(bytes: &[u8]) -> Sum {
    sha256(bytes)
}

/// Whose values a rendered file is made of. By it a run knows whether it answers for a file that it did not render.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// One cluster's, by the project's name of it.
    Cluster(Arc<str>),
    /// Those of all clusters.
    All,
}

const START: &str = "# Rendered by metalmark for ";
const CLUSTER: &str = "cluster ";
const ALL: &str = "all clusters";
const END: &str = "; edit the values, not this file.";

/// The most bytes of a first line: the longest name, with each letter escaped.
pub const LONGEST_LINE: usize = 4096;

impl Owner {
    /// Of what made a file: `target/cluster`, or `target` for what all clusters share.
    pub fn from_maker(maker: &str) -> Self {
        match maker.split_once('/') {
            Some((_, cluster)) => Self::Cluster(cluster.into()),
            None => Self::All,
        }
    }

    /// The first line of a rendered file, with its line break.
    pub fn line(&self) -> String {
        match self {
            Self::Cluster(name) => format!("{START}{CLUSTER}{}{END}\n", escape(name)),
            Self::All => format!("{START}{ALL}{END}\n"),
        }
    }

    /// The owner that the first line of a file names; none where it is not metalmark's.
    pub fn from_start(bytes: &[u8]) -> Option<Self> {
        let start = &bytes[..bytes.len().min(LONGEST_LINE)];
        let line = start.split(|byte| *byte == b'\n').next()?;
        // A clone may convert line ends.
        let line = std::str::from_utf8(line).ok()?.trim_end_matches('\r');
        match line.strip_prefix(START)?.strip_suffix(END)? {
            ALL => Some(Self::All),
            named => Some(Self::Cluster(
                unescape(named.strip_prefix(CLUSTER)?)?.into(),
            )),
        }
    }
}

/// The text of a rendered file without its first line.
pub fn body(text: &str) -> &str {
    match Owner::from_start(text.as_bytes()) {
        Some(_) => text.split_once('\n').map_or("", |(_, body)| body),
        None => text,
    }
}

/// A name without the letters that end a comment or are no YAML. No name has a backslash of its own.
fn escape(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for letter in name.chars() {
        let is_plain = letter.is_alphanumeric() || letter.is_ascii_graphic() || letter == ' ';
        if is_plain && letter != '\\' {
            escaped.push(letter);
        } else {
            escaped.extend(letter.escape_unicode());
        }
    }
    escaped
}

fn unescape(text: &str) -> Option<String> {
    let mut parts = text.split("\\u{");
    let mut name = parts.next()?.to_owned();
    for part in parts {
        let (number, rest) = part.split_once('}')?;
        name.push(char::from_u32(u32::from_str_radix(number, 16).ok()?)?);
        name.push_str(rest);
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Owner, body};

    #[test]
    fn the_line_is_short_and_names_the_cluster() {
        assert_eq!(
            Owner::from_maker("manifests/edge-a").line(),
            "# Rendered by metalmark for cluster edge-a; edit the values, not this file.\n"
        );
        assert_eq!(
            Owner::from_maker("configmap").line(),
            "# Rendered by metalmark for all clusters; edit the values, not this file.\n"
        );
    }

    #[test]
    fn other_first_lines_are_nobodys() {
        let line = Owner::All.line();
        assert_eq!(
            Owner::from_start(line.replace('\n', "\r\n").as_bytes()),
            Some(Owner::All)
        );
        for other in [
            "",
            "a: 1\n",
            &format!("---\n{line}"),
            &format!(" {line}"),
            &format!("\u{feff}{line}"),
            &line.replace("; edit", "; do not edit"),
            &line.replace("all clusters", "edge-a"),
        ] {
            assert_eq!(Owner::from_start(other.as_bytes()), None, "{other}");
            assert_eq!(body(other), other);
        }
    }

    proptest! {
        #[test]
        fn any_name_is_read_back(name in "\\PC{0,30}|[\u{2028}\u{85}\u{feff}; a-z.\"#:]{0,20}") {
            let owner = Owner::Cluster(name.into());
            let line = owner.line();
            prop_assert_eq!(line.lines().count(), 1);
            prop_assert_eq!(Owner::from_start(format!("{line}a: 1\n").as_bytes()), Some(owner));
            let text = format!("{line}a: 1\n");
            prop_assert_eq!(body(&text), "a: 1\n");
        }
    }
}
