//! What an update did, short enough for a merge request.

use std::collections::BTreeSet;

use super::Drift;
use crate::printer::Safe;

/// What changed, for whom.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The builders' versions.
    pub versions: Vec<VersionChange>,
    /// The Kubernetes versions that move with their images, a line each.
    pub moves: BTreeSet<String>,
    /// Why others stay, which a terminal shows before the errors.
    pub stays: BTreeSet<String>,
    /// The minor versions of images that the map lacks.
    pub unmapped: BTreeSet<String>,
    /// The entries of the catalog.
    pub drift: Drift,
    /// The node pools whose image changes; none where nothing was changed yet.
    pub pools: Option<Vec<PoolChange>>,
    /// What the pools were compared with, where that is not what was on disk.
    pub since: Option<String>,
    /// Why more pools may change than are reported.
    pub doubt: Option<String>,
    /// Whether nothing is written, because of errors.
    pub is_refused: bool,
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

impl VersionChange {
    /// From which one to which one.
    pub fn text(&self) -> String {
        match &self.from {
            Some(from) if *from != self.to => format!("{from} → {}", self.to),
            _ => self.to.clone(),
        }
    }
}

impl Summary {
    /// In Markdown.
    pub fn markdown(&self) -> Safe {
        let mut parts = vec![
            "## OS images: ".into(),
            Safe::markdown(&self.title()),
            "\n".into(),
        ];
        if let Some(result) = self.result() {
            parts.extend(["\n".into(), Safe::markdown(&result), "\n".into()]);
        }
        let lines = |lines: &BTreeSet<String>| -> Vec<String> { lines.iter().cloned().collect() };
        let stays = [
            ("Kubernetes versions that stay", lines(&self.stays)),
            ("Kubernetes versions to add", lines(&self.unmapped)),
        ]
        .into_iter();
        let stays = stays.filter(|(_, lines): &(_, Vec<String>)| !lines.is_empty());
        for (title, lines) in stays.chain(self.sections()) {
            parts.extend(["\n### ".into(), title.into(), "\n\n".into()]);
            for line in &lines {
                parts.extend(["- ".into(), Safe::markdown(line), "\n".into()]);
            }
        }
        Safe::join(parts, "")
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut out = format!("OS images: {}\n", self.title());
        if let Some(result) = self.result() {
            out += &format!("{}\n", result.replace('`', ""));
        }
        for (title, lines) in self.sections() {
            out += &format!("\n{title}\n\n");
            for line in lines {
                out += &format!("- {}\n", line.replace('`', ""));
            }
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
            ("Kubernetes versions", self.moves.iter().cloned().collect()),
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
    fn result(&self) -> Option<String> {
        self.pools.as_ref()?;
        if self.is_refused {
            return Some("Nothing is written, because of errors. It would do this:".to_owned());
        }
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
    fn title(&self) -> String {
        let versions = self.versions.iter().map(VersionChange::text);
        if versions.len() == 1 {
            return versions.collect();
        }
        let names = self.versions.iter().map(|change| &change.builder);
        let named = names
            .zip(versions)
            .map(|(name, text)| format!("{name} {text}"));
        named.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::{PoolChange, Summary};

    #[test]
    fn what_is_not_known_is_not_none() {
        let result = |pools: Vec<PoolChange>, doubt: Option<&str>| {
            let summary = Summary {
                pools: Some(pools),
                doubt: doubt.map(str::to_owned),
                ..Summary::default()
            };
            summary.result().expect("pools are known")
        };
        let pool = PoolChange {
            cluster: "edge".into(),
            pool: "md0".into(),
            before: None,
            after: Some("a".into()),
        };
        assert_eq!(result(vec![], None), "No machine is re-provisioned.");
        assert_eq!(
            result(vec![], Some("no git")),
            "Which node pools will be re-provisioned is unknown: no git."
        );
        assert_eq!(
            result(vec![pool], Some("no git")),
            "1 node pool in 1 cluster will be re-provisioned; whether others are is unknown: no git."
        );
    }
}
