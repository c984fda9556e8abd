//! Which names a rendered file may have: the ones that stay in the output folder on every system that checks it out, and are none of
//! metalmark's own.

use std::path::Path;

use oci_artifacts::portable_path::{self, fold};

use super::pattern::Pattern;

/// Files of metalmark's own in an output folder start with this: files that are being written.
pub const RESERVED_PREFIX: &str = ".metalmark-";

/// What is wrong with a path below an output folder, as the end of the sentence "the path …"; none where it is fine.
pub fn fault(path: &str) -> Option<String> {
    let is_reserved = |name: &str| fold(name).starts_with(RESERVED_PREFIX);
    let reserved = || {
        let message = "has a name that starts with `.metalmark-`, which is reserved";
        path.split('/').any(is_reserved).then(|| message.to_owned())
    };
    portable_path::fault(path).or_else(reserved)
}

/// The folder that an output's `path` names before its first expression, and the rest: `rendered` and
/// `{{ cluster.name }}/x` for `rendered/{{ cluster.name }}/x`. Below that folder the files of a cluster that is gone are found.
pub fn root(template: &str) -> (&str, &str) {
    let expression = [template.find("{{"), template.find("{%")];
    match expression.into_iter().flatten().min() {
        None => (template.trim_end_matches('/'), ""),
        Some(end) => match template[..end].rfind('/') {
            Some(slash) => (&template[..slash.max(1)], &template[slash + 1..]),
            None => ("", template),
        },
    }
}

/// The folders of a project's outputs. Only in them does a first line say whose a file is: anybody can write one.
#[derive(Clone, Debug, Default)]
pub struct OutputFolders {
    folders: Vec<OutputFolder>,
}

#[derive(Clone, Debug)]
struct OutputFolder {
    /// The leading folders that no template names, without a slash at either end; empty for the project's own.
    root: String,
    files: Pattern,
}

impl OutputFolders {
    /// The folders of outputs with these paths.
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut folders: Vec<OutputFolder> = paths.into_iter().filter_map(folder).collect();
        folders.sort_by(|one, other| one.root.cmp(&other.root));
        Self { folders }
    }

    /// Whether a path is in one of them, whatever the expressions of the output's path evaluate to.
    pub fn holds(&self, path: &Path) -> bool {
        self.folders
            .iter()
            .any(|folder| folder.files.is_match(path))
    }

    /// The same, but of outputs with a folder of their own: in the project's own, any file may be the user's.
    pub fn holds_apart(&self, path: &Path) -> bool {
        let mut apart = self.folders.iter().filter(|folder| !folder.root.is_empty());
        apart.any(|folder| folder.files.is_match(path))
    }

    /// The leading folders, each once, sorted.
    pub fn roots(&self) -> Vec<&str> {
        let mut roots: Vec<&str> = self.folders.iter().map(|folder| &*folder.root).collect();
        roots.dedup();
        roots
    }
}

/// What matches the files below an output's path, whatever its expressions evaluate to.
fn folder(path: &str) -> Option<OutputFolder> {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let path = if path == "." { "" } else { path };
    let root = root(path).0.to_owned();
    // A finding names it.
    if !root.is_empty() && fault(&root).is_some() {
        return None;
    }
    let (mut rest, mut pattern) = (path, String::new());
    while let Some(start) = rest.find("{{").or_else(|| rest.find("{%")) {
        let ends = ["}}", "%}"].map(|end| rest[start..].find(end));
        let end = ends.into_iter().flatten().min()?;
        pattern += &globset::escape(&rest[..start]);
        pattern.push('*');
        rest = &rest[start + end + 2..];
    }
    pattern += &globset::escape(rest);
    let below = if pattern.is_empty() { "**" } else { "/**" };
    let files = Pattern::parse_across(&(pattern + below)).ok()?;
    Some(OutputFolder { root, files })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{OutputFolders, fault, root};

    #[test]
    fn an_output_matches_what_is_below_it() {
        let holds = |output: &str, path: &str| OutputFolders::new([output]).holds(Path::new(path));
        for (output, path) in [
            ("./images/", "images/edge/kustomization.yaml"),
            (
                "env/{{ cluster.name }}/images",
                "env/edge/images/os-images-info.yaml",
            ),
            ("a[1]", "a[1]/x"),
            (".", "values.yaml"),
            ("", "a/values.yaml"),
            ("{{ cluster.name }}", "edge/values.yaml"),
        ] {
            assert!(holds(output, path), "{output}: {path}");
        }
        for (output, path) in [
            ("images", "images"),
            ("images", "images-of-mine/x"),
            ("env/{{ cluster.name }}/images", "env/edge/values.yaml"),
            ("{{ cluster.name }}", "values.yaml"),
            ("../x", "x/values.yaml"),
        ] {
            assert!(!holds(output, path), "{output}: {path}");
        }
        let folders = OutputFolders::new(["a", "a/{{ c }}", ".", "b/c/"]);
        assert_eq!(folders.roots(), ["", "a", "b/c"]);
        assert!(!folders.holds_apart(Path::new("d/x")));
    }

    #[test]
    fn the_root_of_an_output_ends_before_the_first_expression() {
        assert_eq!(root("rendered"), ("rendered", ""));
        assert_eq!(root("a/b/"), ("a/b", ""));
        assert_eq!(root("a/{{ c }}/b"), ("a", "{{ c }}/b"));
        assert_eq!(root("a/b-{{ c }}"), ("a", "b-{{ c }}"));
        assert_eq!(root("{{ c }}"), ("", "{{ c }}"));
        assert_eq!(root("/{{ c }}"), ("/", "{{ c }}"));
        assert_eq!(
            root("a{% if c %}/{{ c }}{% endif %}"),
            ("", "a{% if c %}/{{ c }}{% endif %}")
        );
    }

    #[test]
    fn metalmarks_own_names_are_reserved() {
        for path in ["x/.metalmark-tmp-1", ".Metalmark-owned"] {
            assert!(fault(path).is_some(), "{path:?}");
        }
        assert_eq!(fault("x/metalmark-owned"), None);
    }
}
