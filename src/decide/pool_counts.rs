//! Counts the node pools of a run: those with an image that is proven to fit, and those that were not checked, with the reason.

use std::collections::BTreeMap;

use crate::model::cluster_view::ClusterView;
use crate::model::judgment::{Grade, Judgment};

/// The node pools of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PoolCounts {
    /// Those whose image was compared with their Kubernetes version.
    pub checked: usize,
    /// Of these, those whose image holds the version, by more than its name.
    pub proven: usize,
    /// Of these, those whose image holds the version by its name alone.
    pub by_name: usize,
    /// Of these, those whose image holds another version.
    pub mismatched: usize,
    /// Of these, those about whose image nothing certain is known.
    pub unproven: usize,
    /// Those that were not checked, by the reason.
    pub skipped: BTreeMap<&'static str, usize>,
    /// The files that mention clusters and were not read, by the reason.
    #[serde(rename = "files_not_read", skip_serializing_if = "BTreeMap::is_empty")]
    pub unread_files: BTreeMap<&'static str, usize>,
}

impl PoolCounts {
    /// The pools of a cluster.
    pub fn count_pools(view: &ClusterView) -> Self {
        let mut counts = Self::default();
        view.judgments.iter().for_each(|it| counts.count(it));
        counts
    }

    /// Counts one.
    pub fn count(&mut self, judgment: &Judgment) {
        let count = match judgment {
            Judgment::Proven(_) => &mut self.proven,
            Judgment::ByName(_) => &mut self.by_name,
            Judgment::Unproven(_) => &mut self.unproven,
            Judgment::Mismatched(_) | Judgment::Disputed { .. } => &mut self.mismatched,
            Judgment::Unknown(reason) => {
                *self.skipped.entry(reason.text()).or_default() += 1;
                return;
            }
        };
        *count += 1;
        self.checked += 1;
    }

    /// Adds those of another cluster.
    pub fn add(&mut self, other: &Self) {
        self.checked += other.checked;
        self.proven += other.proven;
        self.by_name += other.by_name;
        self.mismatched += other.mismatched;
        self.unproven += other.unproven;
        for (reason, count) in &other.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
    }

    /// `3 node pools checked: 2 proven, 1 unproven; 1 skipped: no image selected`. Nothing where there is no pool.
    pub fn text(&self) -> String {
        let skipped = self.skipped.iter();
        let skipped = skipped.map(|(reason, count)| format!("{count} skipped: {reason}"));
        let unread = self.unread_files.iter().map(|(reason, count)| {
            let plural = if *count == 1 { "" } else { "s" };
            format!("{count} file{plural} not read: {reason}")
        });
        let others: Vec<String> = skipped.chain(unread).collect();
        let plural = if self.checked == 1 { "" } else { "s" };
        let mut text = match (self.checked, others.is_empty()) {
            (0, true) => return String::new(),
            (checked, _) => format!("{checked} node pool{plural} checked"),
        };
        let kinds = [
            (self.proven, Grade::Proven),
            (self.by_name, Grade::ByName),
            (self.unproven, Grade::Unproven),
            (self.mismatched, Grade::Mismatched),
        ];
        let kinds = kinds.iter().filter(|(count, _)| *count > 0);
        let kinds: Vec<String> = kinds
            .map(|(count, kind)| format!("{count} {}", kind.words()))
            .collect();
        if !kinds.is_empty() {
            text += &format!(": {}", kinds.join(", "));
        }
        for other in others {
            text += &format!("; {other}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::PoolCounts;
    use crate::model::judgment::{Doubt, Judgment};
    use capi::image::{Fact, Origin};
    use capi::unknown::Unknown;
    use yaml_tree::place::Place;

    #[test]
    fn pools_are_counted_by_what_is_known_of_them() {
        let mut counts = PoolCounts::default();
        assert_eq!(counts.text(), "");
        let fact = Fact {
            value: "1.31.8".into(),
            origin: Origin::Name,
            place: Place::NONE,
        };
        counts.count(&Judgment::Proven(fact.clone()));
        assert_eq!(counts.text(), "1 node pool checked: 1 proven");
        let mut other = PoolCounts::default();
        other.count(&Judgment::ByName(fact.clone()));
        other.count(&Judgment::Mismatched(fact));
        other.count(&Judgment::Unproven(Doubt::Nothing));
        other.count(&Judgment::Unknown(Unknown::NotSelected));
        other.count(&Judgment::Unknown(Unknown::NotSelected));
        counts.add(&other);
        assert_eq!(
            counts.text(),
            "4 node pools checked: 1 proven, 1 by name only, 1 unproven, 1 mismatched; 2 skipped: no image selected"
        );
    }
}
