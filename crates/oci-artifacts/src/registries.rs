//! How registries are queried: mirrors, certificates, limits. What the project file says under `registries:`, validated.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// How many requests are under way at once unless the project file says otherwise.
pub const CONCURRENCY: usize = 16;

/// The architecture whose manifest is taken of an index unless the project file says otherwise.
pub const ARCHITECTURE: &str = "amd64";

/// How registries are queried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrySettings {
    /// Where artifacts are had instead, by prefix of `registry/repository`: the longest wins, and ends at a `/`.
    pub mirrors: BTreeMap<Arc<str>, Mirror>,
    /// What is special about a registry, by its host with its port.
    pub hosts: BTreeMap<Arc<str>, Host>,
    /// The architecture whose manifest is taken of an index, as Go spells it: `amd64`, `arm64`.
    pub architecture: Arc<str>,
    /// How many requests are under way at once; at least 1.
    pub concurrency: usize,
}

/// Where artifacts are had instead of their registry. The registry itself is then never queried: a mirror is for sites that
/// cannot, or must not, reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mirror {
    /// Below this `registry/prefix`.
    Prefix(Arc<str>),
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
            hosts: BTreeMap::new(),
            architecture: ARCHITECTURE.into(),
            concurrency: CONCURRENCY,
        }
    }
}

impl RegistrySettings {
    /// The mirror of `registry/repository`, and the part of the name after its prefix: empty, or starting with `/`.
    pub fn mirror<'a>(&self, name: &'a str) -> Option<(&Mirror, &'a str)> {
        let whole = name.match_indices('/').map(|(slash, _)| slash).rev();
        std::iter::once(name.len()).chain(whole).find_map(|end| {
            let (prefix, rest) = name.split_at(end);
            Some((self.mirrors.get(prefix)?, rest))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Mirror, RegistrySettings};

    fn settings(mirrors: &[(&str, &str)]) -> RegistrySettings {
        let mirror = |(from, to): &(&str, &str)| ((*from).into(), Mirror::Prefix((*to).into()));
        RegistrySettings {
            mirrors: mirrors.iter().map(mirror).collect(),
            ..RegistrySettings::default()
        }
    }

    #[test]
    fn the_longest_prefix_wins_and_ends_at_a_slash() {
        let settings = settings(&[("a.b", "host"), ("a.b/c", "group"), ("a.b/c/d", "one")]);
        let find = |name| {
            let (mirror, rest) = settings.mirror(name)?;
            match mirror {
                Mirror::Prefix(prefix) => Some(format!("{prefix}{rest}")),
                Mirror::Layout(_) => None,
            }
        };
        assert_eq!(find("a.b/x").as_deref(), Some("host/x"));
        assert_eq!(find("a.b/c/x").as_deref(), Some("group/x"));
        assert_eq!(find("a.b/cc/x").as_deref(), Some("host/cc/x"));
        assert_eq!(find("a.b/c/d").as_deref(), Some("one"));
        assert_eq!(find("a.bb/c"), None);
    }
}
