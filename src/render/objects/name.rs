//! Names of Kubernetes objects: validation, and shortening.

use super::hash;

/// The longest name that can also be a label's value.
const LABEL_LENGTH: usize = 63;
/// The longest RFC 1123 subdomain that the API server accepts.
const SUBDOMAIN_LENGTH: usize = 253;

/// The name of a node pool's machine template: `<cluster>-<pool>-<hash of spec>`. A new image gives a new name, which replaces the
/// machines: Cluster API does not replace machines when a template changes in place.
///
/// A name of more than 63 characters is shortened: the readable part loses its end, and the hash covers cluster, pool and spec, so
/// that two pools with the same shortened names do not collide.
pub fn machine_template(cluster: &str, pool: &str, spec: &str) -> String {
    let readable = format!("{cluster}-{pool}");
    let hash = hash::compute(spec);
    if readable.len() + 1 + hash.len() <= LABEL_LENGTH {
        return format!("{readable}-{hash}");
    }
    let hash = hash::compute(&format!("{cluster}/{pool}/{spec}"));
    let mut end = LABEL_LENGTH - 1 - hash.len();
    while !readable.is_char_boundary(end) {
        end -= 1;
    }
    let cut = readable[..end].trim_end_matches(['-', '.']);
    format!("{cut}-{hash}")
}

/// The name of a pool's object whose name does not depend on its content: `<cluster>-<pool>`, shortened like that of
/// [`machine_template`] if it is too long.
pub fn pool_object(cluster: &str, pool: &str) -> String {
    let readable = format!("{cluster}-{pool}");
    if readable.len() <= LABEL_LENGTH {
        readable
    } else {
        machine_template(cluster, pool, "")
    }
}

/// Whether a text is an RFC 1123 subdomain: the syntax of most objects' names.
pub fn is_subdomain(text: &str) -> bool {
    let mut parts = text.as_bytes().split(|byte| *byte == b'.');
    text.len() <= SUBDOMAIN_LENGTH && parts.all(is_dns_part)
}

/// Whether a text is an RFC 1123 label: the syntax of a namespace's name.
pub fn is_label(text: &str) -> bool {
    text.len() <= LABEL_LENGTH && is_dns_part(text.as_bytes())
}

/// Whether a text may be the value of a label: empty, or at most 63 letters, digits, `-`, `_` and `.`, with a letter or
/// digit at either end. (<https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set>)
pub fn is_label_value(text: &str) -> bool {
    text.is_empty() || (text.len() <= LABEL_LENGTH && is_qualified_part(text))
}

/// Whether a text may be the key of a label or annotation: a name, optionally with a DNS subdomain and `/` before it.
pub fn is_label_key(text: &str) -> bool {
    let (prefix, name) = text
        .split_once('/')
        .map_or((None, text), |(prefix, name)| (Some(prefix), name));
    prefix.is_none_or(is_subdomain) && name.len() <= LABEL_LENGTH && is_qualified_part(name)
}

fn is_dns_part(text: &[u8]) -> bool {
    text.iter()
        .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        && has_ends(text)
}

fn is_qualified_part(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && has_ends(text.as_bytes())
}

fn has_ends(text: &[u8]) -> bool {
    [text.first(), text.last()]
        .iter()
        .all(|end| end.is_some_and(u8::is_ascii_alphanumeric))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, proptest};

    use super::{is_label, is_label_key, is_label_value, is_subdomain, machine_template};

    #[test]
    fn a_short_name_is_readable_and_ends_in_the_hash_of_its_spec() {
        let name = machine_template("edge-1", "control-plane", "abc");
        assert_eq!(name, "edge-1-control-plane-ba7816bf8f");
        assert_eq!(
            machine_template("edge-2", "md0", "abc"),
            "edge-2-md0-ba7816bf8f"
        );
    }

    #[test]
    fn shortened_names_of_two_pools_differ_even_with_the_same_spec() {
        let pool = |end| format!("{}-{end}", "p".repeat(60));
        let one = machine_template("c", &pool("a"), "abc");
        let other = machine_template("c", &pool("b"), "abc");
        assert_eq!((one.len(), other.len()), (63, 63));
        assert_ne!(one, other);
    }

    #[test]
    fn legal_and_illegal_names_are_distinguished() {
        assert!(is_subdomain("a.b-c.d1") && !is_subdomain("a..b") && !is_subdomain("A"));
        assert!(!is_subdomain("") && !is_subdomain("-a") && !is_subdomain(&"a".repeat(254)));
        assert!(is_label("a-b") && !is_label("a.b") && !is_label(&"a".repeat(64)));
        assert!(is_label_value("") && is_label_value("A_b.c") && !is_label_value("a/b"));
        assert!(
            is_label_key("sylva.os-images-info") && is_label_key("a.b/C") && !is_label_key("a/b/c")
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn any_name_fits_and_legal_parts_give_a_legal_name(
            cluster in "[a-z]([a-z0-9.-]{0,80}[a-z0-9])?", pool in "[a-z]([a-z0-9-]{0,80}[a-z0-9])?", spec in ".{0,20}"
        ) {
            let name = machine_template(&cluster, &pool, &spec);
            assert!(name.len() <= 63);
            assert!(is_subdomain(&name) || !is_subdomain(&cluster), "{name}");
        }

        #[test]
        fn no_text_panics(cluster in ".{0,90}", pool in ".{0,90}") {
            assert!(machine_template(&cluster, &pool, "").len() <= 63);
        }
    }
}
