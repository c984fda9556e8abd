//! Which names a rendered file may have: the ones that stay in the output folder on every system that checks it out, and are none of
//! metalmark's own.

use oci_artifacts::portable_path::{self, fold};

/// Files of metalmark's own in an output folder start with this: the ownership file and files that are being written.
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
/// `{{ cluster.name }}/x` for `rendered/{{ cluster.name }}/x`. The folder is the one that the ownership file lies in, so that
/// a cluster that is gone is still known there.
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

#[cfg(test)]
mod tests {
    use super::{fault, root};

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
        for path in ["x/.metalmark-owned", ".Metalmark-tmp-1"] {
            assert!(fault(path).is_some(), "{path:?}");
        }
        assert_eq!(fault("x/metalmark-owned"), None);
    }
}
