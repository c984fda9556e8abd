//! The names in a project, for completion in a shell.

use crate::error::Error;
use crate::model::policy::Date;
use crate::model::rule::RuleId;
use crate::pipeline::fleet;
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

/// A name, and what it names where that is worth a word.
#[derive(Debug)]
pub struct Name {
    /// As it is typed.
    pub name: String,
    /// In a few words.
    pub about: Option<&'static str>,
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
    let mut names = Vec::new();
    let mut add = |name: &str, about| {
        if name.starts_with(typed) {
            let name = name.to_owned();
            names.push(Name { name, about });
        }
    };
    if wanted == Named::Subjects {
        for id in RuleId::ALL {
            add(id.as_str(), Some(rule(*id).summary()));
        }
    }
    let mut workspace = match read::workspace(request) {
        Ok(workspace) => workspace,
        // The rules are the same everywhere.
        Err(_) if !names.is_empty() => return Ok(names),
        Err(error) => return Err(error),
    };
    for entry in &workspace.clusters {
        add(&entry.name, Some("cluster"));
    }
    if wanted == Named::Clusters || (!names.is_empty() && !typed.is_empty()) {
        return Ok(names);
    }
    let tools = fleet::tools(&mut workspace, today)?;
    let of_cluster = |name: &str| {
        typed
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    let mut add = |name: String, about| {
        if name.starts_with(typed) {
            names.push(Name { name, about });
        }
    };
    let typed_cluster = workspace
        .clusters
        .iter()
        .find(|entry| of_cluster(&entry.name));
    if let Some(entry) = typed_cluster {
        let view = fleet::view(&workspace, &tools, entry)?;
        for pool in &view.cluster.pools {
            add(format!("{}/{}", entry.name, pool.name), Some("node pool"));
        }
        return Ok(names);
    }
    let found = fleet::check_fleet(&workspace, &tools, |view, _| {
        let keys = view.images.keys().map(|key| key.to_string());
        Ok((keys.collect::<Vec<String>>(), Vec::new()))
    })?;
    let mut keys: Vec<String> = found.results.into_iter().flatten().collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        add(key, Some("image"));
    }
    Ok(names)
}
