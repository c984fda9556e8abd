//! How registries are queried: mirrors, certificates, limits. What the project file says under `registries:`, validated.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::{Platform, Reference, RegistryName};

/// How many requests are under way at once unless the project file says otherwise.
pub const CONCURRENCY: usize = 16;

/// How registries are queried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrySettings {
    /// Where artifacts are had instead, by prefix: the longest wins.
    pub mirrors: BTreeMap<Reference, Mirror>,
    /// Below which other prefix artifacts may have been signed, by prefix: the longest wins.
    pub signed_as: BTreeMap<Reference, Reference>,
    /// What is special about a registry.
    pub hosts: BTreeMap<RegistryName, Host>,
    /// Which manifest is taken of an index.
    pub platform: Platform,
    /// How many requests are under way at once; at least 1.
    pub concurrency: usize,
}

/// Where artifacts are had instead of their registry. The registry itself is then never queried: a mirror is for sites that
/// cannot, or must not, reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mirror {
    /// Below this prefix.
    Prefix(Reference),
    /// In the OCI image layout in this folder, as written: relative to the project file's.
    Layout(Arc<str>),
}

/// What is special about one registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// A PEM file with the certificates of authorities that it is trusted by, beside the system's.
    pub ca: Option<PathBuf>,
    /// Whether it is accessed without TLS.
    pub plain_http: bool,
    /// Whether anyone may pose as it: its certificate is not looked at.
    pub skip_verify: bool,
}

impl Default for RegistrySettings {
    fn default() -> Self {
        Self {
            mirrors: BTreeMap::new(),
            signed_as: BTreeMap::new(),
            hosts: BTreeMap::new(),
            platform: Platform::default(),
            concurrency: CONCURRENCY,
        }
    }
}

impl RegistrySettings {
    /// The mirror of a reference, and the part of its name after the prefix.
    pub fn mirror<'a>(&self, of: &'a Reference) -> Option<(&Mirror, &'a str)> {
        longest(&self.mirrors, of)
    }

    /// The other name under which an artifact may have been signed.
    pub fn find_signing_name(&self, of: &Reference) -> Option<Reference> {
        let (prefix, rest) = longest(&self.signed_as, of)?;
        Some(of.with_prefix(prefix, rest))
    }
}

/// What the longest prefix of a reference is mapped to, and the part of the name after it.
fn longest<'a, 'r, T>(
    prefixes: &'a BTreeMap<Reference, T>,
    of: &'r Reference,
) -> Option<(&'a T, &'r str)> {
    let found = prefixes.iter();
    let found = found.filter_map(|(prefix, to)| Some((to, of.strip_prefix(prefix)?)));
    found.min_by_key(|(_, rest)| rest.len())
}

#[cfg(test)]
mod tests {
    use super::{Mirror, RegistrySettings};
    use crate::Reference;

    fn settings(mirrors: &[(&str, &str)]) -> RegistrySettings {
        let prefix = |text: &str| Reference::parse_prefix(text).expect(text);
        let mirror = |(from, to): &(&str, &str)| (prefix(from), Mirror::Prefix(prefix(to)));
        RegistrySettings {
            mirrors: mirrors.iter().map(mirror).collect(),
            ..RegistrySettings::default()
        }
    }

    #[test]
    fn the_longest_prefix_wins_and_ends_at_a_slash() {
        let settings = settings(&[("a.b", "host"), ("a.b/c", "group"), ("a.b/c/d", "one")]);
        let find = |name| {
            let of = Reference::parse(name).expect(name);
            let (mirror, rest) = settings.mirror(&of)?;
            match mirror {
                Mirror::Prefix(prefix) => Some(of.with_prefix(prefix, rest).name()),
                Mirror::Layout(_) => None,
            }
        };
        assert_eq!(find("a.b/x").as_deref(), Some("host/x"));
        assert_eq!(find("A.B:443/x").as_deref(), Some("host/x"));
        assert_eq!(find("a.b/c/x").as_deref(), Some("group/x"));
        assert_eq!(find("a.b/cc/x").as_deref(), Some("host/cc/x"));
        assert_eq!(find("a.b/c/d").as_deref(), Some("one"));
        assert_eq!(find("a.bb/c"), None);
    }
}
