//! Which repository the sources of Applications and Flux's GitRepositories are in: this one, or another.
//!
//! They name it by its address. This repository is the one of a remote of the work tree if any of them names that, else the one with the most paths that exist here. Forks and mirrors have other addresses, but the same name.

use std::collections::{BTreeMap, BTreeSet};

use yaml_tree::value::Node;

/// The names of this repository; empty where nobody knows them.
#[derive(Clone, Debug, Default)]
pub(super) struct Repositories(BTreeSet<String>);

impl Repositories {
    /// Of the repositories that sources name, with how many of their paths exist here: those of a remote, else those with the most.
    pub(super) fn new(paths: BTreeMap<String, usize>, remotes: &[String]) -> Self {
        let remotes = remotes.iter().filter_map(|address| last_part(address));
        let remotes: BTreeSet<String> = remotes.filter(|name| paths.contains_key(name)).collect();
        if !remotes.is_empty() {
            return Self(remotes);
        }
        let most = paths.values().max().copied().unwrap_or_default();
        let named = paths.into_iter();
        let named = named.filter(|(_, count)| *count == most && most > 0);
        Self(named.map(|(name, _)| name).collect())
    }

    /// Whether a source, or a generator, is in another repository.
    pub(super) fn is_other(&self, source: &Node) -> bool {
        source
            .text(&["repoURL"])
            .is_some_and(|address| self.is_other_address(address))
    }

    /// Whether an address is known to be this repository's.
    pub(super) fn is_own_address(&self, address: &str) -> bool {
        repository_name(address).is_some_and(|name| self.0.contains(&name))
    }

    /// Whether an address is that of another repository.
    pub(super) fn is_other_address(&self, address: &str) -> bool {
        let Self(own) = self;
        !own.is_empty() && repository_name(address).is_some_and(|name| !own.contains(&name))
    }
}

/// The name of the repository at an address; none where it is filled in.
pub(super) fn repository_name(address: &str) -> Option<String> {
    last_part(address).filter(|_| !address.contains(['{', '$']))
}

/// The last part of an address, without `.git`: all protocols and hosts have it in common.
fn last_part(address: &str) -> Option<String> {
    let address = address.trim_end_matches('/');
    let address = address.strip_suffix(".git").unwrap_or(address);
    let name = address.rsplit(['/', ':']).next()?.to_lowercase();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::last_part;

    #[test]
    fn an_address_ends_in_a_name() {
        for address in [
            "https://host/Group/fleet.git",
            "git@host:fleet",
            "ssh://git@host:22/group/fleet/",
            "fleet",
        ] {
            assert_eq!(last_part(address).as_deref(), Some("fleet"), "{address}");
        }
        assert_eq!(last_part(""), None);
    }
}
