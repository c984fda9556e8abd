//! What an update did, short enough for a merge request.

use std::collections::BTreeSet;

use super::{Drift, Moves};
use crate::printer::Safe;

/// What changed, for whom.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The builders' versions.
    pub versions: Vec<VersionChange>,
    /// The Kubernetes versions that moved with their images.
    pub moves: Moves,
    /// The entries of the catalog.
    pub drift: Drift,
    /// The node pools whose image changes; none where nothing was changed yet.
    pub pools: Option<Vec<PoolChange>>,
    /// What the pools were compared with, where that is not what was on disk.
    pub since: Option<String>,
    /// Why more pools may change than are reported.
    pub doubt: Option<String>,
}

/// A version of a builder that changes.
#[derive(Clone, Debug)]
pub struct VersionChange {
    /// What the builder is called.
    pub builder: String,
    /// The version before, where one was known.
    pub from: Option<String>,
    /// The version now.
    pub to: String,
}

/// A node pool whose image changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoolChange {
    /// The cluster.
    pub cluster: String,
    /// The node pool.
    pub pool: String,
    /// The image before, and its version's tag; none where the pool booted none.
    pub before: Option<String>,
    /// The image now.
    pub after: Option<String>,
}

impl Summary {
    /// In Markdown.
    pub fn markdown(&self) -> Safe {
        let mut parts = vec![
            "## OS images: ".into(),
            Safe::markdown(&self.title()),
            "\n".into(),
        ];
        for (title, lines) in self.sections() {
            parts.extend(["\n### ".into(), title.into(), "\n\n".into()]);
            for line in &lines {
                parts.extend(["- ".into(), Safe::markdown(line), "\n".into()]);
            }
        }
        if let Some(closing) = self.closing() {
            parts.extend(["\n".into(), Safe::markdown(&closing), "\n".into()]);
        }
        Safe::join(parts, "")
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut out = format!("OS images: {}\n", self.title());
        for (title, lines) in self.sections() {
            out += &format!("\n{title}\n\n");
            for line in lines {
                out += &format!("- {}\n", line.replace('`', ""));
            }
        }
        if let Some(closing) = self.closing() {
            out += &format!("\n{}\n", closing.replace('`', ""));
        }
        out
    }

    /// Titles with their lines, in which names are between backquotes.
    fn sections(&self) -> Vec<(&'static str, Vec<String>)> {
        let drift = &self.drift;
        let quoted = |name: &String| format!("`{name}`");
        let changed = drift.renamed.iter();
        let changed = changed.map(|(old, new)| format!("`{old}` → `{new}`"));
        let added = drift.added.iter().map(|added| quoted(&added.name));
        let removed = drift.removed.iter().map(quoted);
        let moved = self.moves.iter();
        let moved = moved.map(|((flavor, from), to)| format!("{flavor} `{from}` → `{to}`"));
        let image = |image: &Option<String>| image.as_ref().map_or("no image".to_owned(), quoted);
        let described = |change: &&PoolChange| {
            let (before, after) = (image(&change.before), image(&change.after));
            format!("{}/{}: {before} → {after}", change.cluster, change.pool)
        };
        let (rolled, lost) = self.partition_pools();
        let mut sections = vec![
            ("Changed", changed.collect()),
            ("Added", added.collect()),
            ("Removed", removed.collect()),
            ("Kubernetes versions", moved.collect()),
            (
                "Node pools whose machines will be re-provisioned",
                rolled.iter().map(described).collect(),
            ),
            (
                "Node pools left without an image",
                lost.iter().map(described).collect(),
            ),
        ];
        sections.retain(|(_, lines): &(_, Vec<String>)| !lines.is_empty());
        sections
    }

    fn partition_pools(&self) -> (Vec<&PoolChange>, Vec<&PoolChange>) {
        let pools = self.pools.iter().flatten();
        pools.partition(|change| change.after.is_some())
    }

    /// How many pools; that others are not known to stay is said in the same breath.
    fn closing(&self) -> Option<String> {
        self.pools.as_ref()?;
        let (rolled, _) = self.partition_pools();
        let clusters: BTreeSet<&str> = rolled.iter().map(|pool| &*pool.cluster).collect();
        let s = |count: usize| if count == 1 { "" } else { "s" };
        let since = match &self.since {
            Some(since) => format!(", compared with {since}"),
            None => String::new(),
        };
        let text = format!(
            "{} node pool{} in {} cluster{} will be re-provisioned{since}",
            rolled.len(),
            s(rolled.len()),
            clusters.len(),
            s(clusters.len())
        );
        Some(match (rolled.len(), &self.doubt) {
            (0, None) => format!("No machine is re-provisioned{since}."),
            (0, Some(why)) => {
                format!("Which node pools will be re-provisioned is unknown: {why}.")
            }
            (_, None) => format!("{text}."),
            (_, Some(why)) => format!("{text}; whether others are is unknown: {why}."),
        })
    }

    /// The versions, each with its builder where there are several.
    pub fn title(&self) -> String {
        let changes = self.versions.iter().map(|change| {
            let VersionChange { builder, from, to } = change;
            let text = match from {
                Some(from) if from != to => format!("{from} → {to}"),
                _ => to.clone(),
            };
            if self.versions.len() == 1 {
                text
            } else {
                format!("{builder} {text}")
            }
        });
        changes.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::{PoolChange, Summary};

    #[test]
    fn what_is_not_known_is_not_none() {
        let closing = |pools: Vec<PoolChange>, doubt: Option<&str>| {
            let summary = Summary {
                pools: Some(pools),
                doubt: doubt.map(str::to_owned),
                ..Summary::default()
            };
            summary
                .text()
                .lines()
                .last()
                .map(str::to_owned)
                .unwrap_or_default()
        };
        let pool = PoolChange {
            cluster: "edge".into(),
            pool: "md0".into(),
            before: None,
            after: Some("a".into()),
        };
        assert_eq!(closing(vec![], None), "No machine is re-provisioned.");
        assert_eq!(
            closing(vec![], Some("no git")),
            "Which node pools will be re-provisioned is unknown: no git."
        );
        assert_eq!(
            closing(vec![pool], Some("no git")),
            "1 node pool in 1 cluster will be re-provisioned; whether others are is unknown: no git."
        );
    }
}
