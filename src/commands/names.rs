//! Lists the names in a project, for completion in a shell.

use std::collections::BTreeSet;

use capi::image::ImageKey;

use crate::error::Error;
use crate::model::date::Date;
use crate::model::rule::RuleId;
use crate::pipeline::fleet::Fleet;
use crate::read::{self, Request};
use crate::rules::rule;

/// Which names are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// What `explain` explains: rules, clusters, pools and images.
    Subjects,
    /// Clusters.
    Clusters,
}

/// A name, and what it names.
#[derive(Debug)]
pub struct Name {
    /// As it is typed.
    pub name: String,
    /// In a few words.
    pub about: &'static str,
}

/// The names that begin with a text.
struct Matches<'t> {
    typed: &'t str,
    names: Vec<Name>,
}

impl Matches<'_> {
    fn add(&mut self, name: impl AsRef<str>, about: &'static str) {
        if name.as_ref().starts_with(self.typed) {
            self.names.push(Name {
                name: name.as_ref().to_owned(),
                about,
            });
        }
    }
}

/// The names that begin with a text. Pools come once their cluster is typed, and images where nothing else begins so, since
/// both take reading values.
///
/// # Errors
/// There is no project, or a file cannot be read.
pub fn names(
    request: &Request,
    typed: &str,
    wanted: Named,
    today: Date,
) -> Result<Vec<Name>, Error> {
    let mut found = Matches {
        typed,
        names: Vec::new(),
    };
    if wanted == Named::Subjects {
        for id in RuleId::ALL {
            found.add(id.as_str(), rule(*id).summary());
        }
    }
    let workspace = match read::workspace(request) {
        Ok(workspace) => workspace,
        // The rules are the same everywhere.
        Err(_) if !found.names.is_empty() => return Ok(found.names),
        Err(error) => return Err(error),
    };
    for entry in &workspace.clusters {
        found.add(&entry.name, "cluster");
    }
    if wanted == Named::Clusters || (!found.names.is_empty() && !typed.is_empty()) {
        return Ok(found.names);
    }
    let fleet = Fleet::open(workspace, today)?;
    let workspace = &fleet.workspace;
    let is_typed = |name: &str| {
        let rest = typed.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let mut clusters = workspace.clusters.iter();
    if let Some(entry) = clusters.find(|entry| is_typed(&entry.name)) {
        let view = fleet.view(entry)?;
        for pool in &view.cluster.pools {
            found.add(format!("{}/{}", entry.name, pool.name), "node pool");
        }
        return Ok(found.names);
    }
    let catalogs = fleet.check(|view, _, _| {
        let keys: Vec<ImageKey> = view.images.keys().cloned().collect();
        Ok(keys)
    })?;
    let keys: BTreeSet<ImageKey> = catalogs.results.into_iter().flatten().collect();
    for key in keys {
        found.add(&key, "image");
    }
    Ok(found.names)
}
