//! Whose a rendered file is: its first line says so, and nothing else does. A comment, so that every tool reads the rest.

use std::sync::Arc;

use oci_artifacts::sha256;

use super::settings::PROJECT_FILE_NAME;

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

const START: &str = "# Rendered by metalmark";
const FOR: &str = " for ";
const CLUSTER: &str = "cluster ";
const ALL: &str = "all clusters";
const END: &str = "; edit the values, not this file.";

/// How git marks a conflict. Where both branches renamed the file, the mark is longer.
const CONFLICT: &[u8] = b"<<<<<<<";

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

    /// The first line of a file that the project renders, with its line break.
    pub fn line(&self, project: &str) -> String {
        let project = match project {
            "" => String::new(),
            name => format!(" ({})", escape(name)),
        };
        match self {
            Self::Cluster(name) => {
                format!("{START}{project}{FOR}{CLUSTER}{}{END}\n", escape(name))
            }
            Self::All => format!("{START}{project}{FOR}{ALL}{END}\n"),
        }
    }

    /// The owner that the first line of a file names; none where it is not metalmark's.
    pub fn from_start(bytes: &[u8]) -> Option<Self> {
        Self::with_project(bytes).map(|(_, owner)| owner)
    }

    /// The same, of a file that this project rendered.
    pub fn from_start_of(project: &str, bytes: &[u8]) -> Option<Self> {
        let (named, owner) = Self::with_project(bytes)?;
        (named == project).then_some(owner)
    }

    /// The name of the project file that a first line names, where it is another one than this.
    pub fn other_project(project: &str, bytes: &[u8]) -> Option<String> {
        let (named, _) = Self::with_project(bytes)?;
        (named != project).then(|| match &*named {
            "" => PROJECT_FILE_NAME.to_owned(),
            named => named.to_owned(),
        })
    }

    /// The project file that a first line names, if it is not called as usual, and the owner.
    fn with_project(bytes: &[u8]) -> Option<(String, Self)> {
        let start = &bytes[..bytes.len().min(LONGEST_LINE)];
        let mut lines = start.split(|byte| *byte == b'\n');
        // Where two branches made a file of two clusters, git's mark comes first.
        let line = lines.find(|line| !line.starts_with(CONFLICT))?;
        // A clone may convert line ends.
        let line = std::str::from_utf8(line).ok()?.trim_end_matches('\r');
        let line = line.strip_prefix(START)?.strip_suffix(END)?;
        let (project, line) = match line.strip_prefix(" (") {
            Some(named) => named.split_once(')')?,
            None => ("", line),
        };
        let owner = match line.strip_prefix(FOR)? {
            ALL => Self::All,
            named => Self::Cluster(unescape(named.strip_prefix(CLUSTER)?)?.into()),
        };
        Some((unescape(project)?, owner))
    }
}

/// The text of a rendered file without its first line.
pub fn body(text: &str) -> &str {
    match Owner::from_start(text.as_bytes()) {
        Some(_) => text.split_once('\n').map_or("", |(_, body)| body),
        None => text,
    }
}

/// A name without the letters that end a comment or a name in it, or are no YAML.
fn escape(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for letter in name.chars() {
        let is_plain = letter.is_alphanumeric() || letter.is_ascii_graphic() || letter == ' ';
        if is_plain && !matches!(letter, '\\' | ')') {
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
            Owner::from_maker("manifests/edge-a").line(""),
            "# Rendered by metalmark for cluster edge-a; edit the values, not this file.\n"
        );
        assert_eq!(
            Owner::from_maker("configmap").line(""),
            "# Rendered by metalmark for all clusters; edit the values, not this file.\n"
        );
        let line = Owner::All.line("shared.yaml");
        assert_eq!(
            line,
            "# Rendered by metalmark (shared.yaml) for all clusters; edit the values, not this file.\n"
        );
        let of = |project| Owner::from_start_of(project, line.as_bytes());
        assert_eq!((of("shared.yaml"), of("")), (Some(Owner::All), None));
    }

    #[test]
    fn other_first_lines_are_nobodys() {
        let line = Owner::All.line("");
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

    #[test]
    fn a_mark_of_a_conflict_hides_no_owner() {
        let text = format!("<<<<<<< HEAD:a.yaml\n{}=======\n", Owner::All.line(""));
        assert_eq!(Owner::from_start(text.as_bytes()), Some(Owner::All));
        let renamed = format!("<<<<<<<< HEAD:a.yaml\r\n{}========\n", Owner::All.line(""));
        assert_eq!(Owner::from_start(renamed.as_bytes()), Some(Owner::All));
        assert_eq!(Owner::from_start(b"<<<<<<< HEAD\na: 1\n"), None);
    }

    proptest! {
        #[test]
        fn any_name_is_read_back(
            name in "\\PC{0,30}|[\u{2028}\u{85}\u{feff}; a-z.\"#:()]{0,20}",
            project in "\\PC{0,9}|[()a-z. ]{0,9}",
        ) {
            let owner = Owner::Cluster(name.into());
            let line = owner.line(&project);
            prop_assert_eq!(line.lines().count(), 1);
            let found = Owner::from_start_of(&project, format!("{line}a: 1\n").as_bytes());
            prop_assert_eq!(found, Some(owner));
            let text = format!("{line}a: 1\n");
            prop_assert_eq!(body(&text), "a: 1\n");
        }
    }
}
