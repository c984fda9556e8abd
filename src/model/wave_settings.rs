//! How the project file spreads an upgrade over waves.

use std::sync::Arc;

use capi::labels::Labels;

use super::pattern::Pattern;

/// How clusters are spread over waves.
#[derive(Clone, Debug, Default)]
pub struct WaveSettings {
    /// The minor version that the clusters are going to: its major and its minor.
    pub to: Option<(u32, u32)>,
    /// The days between what merged last and the next wave.
    pub soak: u16,
    /// The most clusters of a wave; all unless set.
    pub most: Option<Most>,
    /// The most machines of a wave; all unless set.
    pub most_machines: Option<Most>,
    /// The clusters that reach each version before the others, pattern by pattern.
    pub first: Vec<ClusterPattern>,
    /// Those that follow the others.
    pub last: Vec<ClusterPattern>,
    /// Of the clusters that one of these matches, with one value of the label where it is about one, at most one is in a wave.
    pub groups: Vec<ClusterPattern>,
    /// When clusters may be changed, in words; the last pattern that matches counts.
    pub windows: Vec<(ClusterPattern, Arc<str>)>,
    /// Who answers for clusters, alike.
    pub owners: Vec<(ClusterPattern, Arc<str>)>,
}

/// Clusters by name, or by a label of their objects.
#[derive(Clone, Debug)]
pub struct ClusterPattern {
    /// None where the name is compared.
    label: Option<Arc<str>>,
    pattern: Pattern,
}

impl ClusterPattern {
    /// A pattern of names, or `LABEL=PATTERN`.
    ///
    /// # Errors
    /// The pattern is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (label, text) = match text.split_once('=') {
            Some((label, text)) => (Some(label.into()), text),
            None => (None, text),
        };
        let pattern = Pattern::parse(text)?;
        Ok(Self { label, pattern })
    }

    /// The label's value, or an empty text, of a cluster that is matched.
    pub fn match_cluster(&self, cluster: &str, labels: &Labels) -> Option<Arc<str>> {
        match &self.label {
            None => self.pattern.is_match(cluster).then(Arc::default),
            Some(label) => {
                let value = labels.get(label);
                value.filter(|it| self.pattern.is_match(&***it)).cloned()
            }
        }
    }
}

/// How many clusters or machines a wave may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Most {
    /// A number.
    Count(usize),
    /// A share of all, and at least one.
    Percent(usize),
}

impl Most {
    /// `10` or `10%`, above 0.
    pub fn parse(text: &str) -> Option<Self> {
        let most = match text.strip_suffix('%') {
            Some(share) => Self::Percent(share.parse().ok().filter(|share| *share <= 100)?),
            None => Self::Count(text.parse().ok()?),
        };
        (!matches!(most, Self::Count(0) | Self::Percent(0))).then_some(most)
    }

    /// The number that this is of all, at least 1.
    pub fn count(self, all: usize) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Percent(share) => (all * share / 100).max(1),
        }
    }
}
