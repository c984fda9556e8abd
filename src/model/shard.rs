//! One part of a fleet: which clusters a run answers for where several machines share the work, or a person names some.

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::Arc;

use oci_artifacts::Digest;

use super::ownership::Owner;

/// A part of the clusters, `I/N`: the I-th of N, counted from one.
///
/// A cluster's part is the first 64 bits of the SHA-256 of its name, modulo N, plus one: the same on each machine. Nothing stays
/// behind in a part, so it does not matter that another N moves most clusters to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: NonZeroU32,
    count: NonZeroU32,
}

impl Shard {
    /// Whether the part holds a cluster.
    pub fn holds(self, cluster: &str) -> bool {
        let digest = Digest::compute(cluster.as_bytes());
        let leading = digest.hex().get(..16).unwrap_or_default();
        // Sixteen hex digits are a number.
        let number = u64::from_str_radix(leading, 16).unwrap_or_default();
        number % u64::from(self.count.get()) + 1 == u64::from(self.index.get())
    }

    /// Whether it is the part that answers for what all clusters share.
    pub fn is_first(self) -> bool {
        self.index == NonZeroU32::MIN
    }
}

/// Which clusters a run answers for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    #[default]
    Whole,
    /// Those of one shard.
    Shard(Shard),
    /// Those that the command line names.
    Named(BTreeSet<Arc<str>>),
}

impl Part {
    /// Whether the part holds a cluster.
    pub fn holds(&self, cluster: &str) -> bool {
        match self {
            Self::Whole => true,
            Self::Shard(shard) => shard.holds(cluster),
            Self::Named(names) => names.contains(cluster),
        }
    }

    /// The clusters of the part among those that are known, and nothing beside them.
    #[must_use]
    pub fn name<'n>(&self, known: impl Iterator<Item = &'n Arc<str>>) -> Self {
        Self::Named(known.filter(|name| self.holds(name)).cloned().collect())
    }

    /// Whether the run answers for what all clusters share. One of named clusters does not know the others' part of it.
    pub fn has_shared(&self) -> bool {
        match self {
            Self::Whole => true,
            Self::Shard(shard) => shard.is_first(),
            Self::Named(_) => false,
        }
    }

    /// Whether files of that owner are this part's.
    pub fn owns(&self, owner: &Owner) -> bool {
        match owner {
            Owner::Cluster(name) => self.holds(name),
            Owner::All => self.has_shared(),
        }
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no shard: `2/8` is the second of eight");
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.parse::<NonZeroU32>().map_err(|_| wrong());
        let (index, count) = (number(index)?, number(count)?);
        if index <= count {
            Ok(Self { index, count })
        } else {
            Err(format!("there is no shard {index} of {count}"))
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Part, Shard};
    use crate::model::ownership::Owner;

    fn shard(text: &str) -> Shard {
        text.parse().expect("a shard")
    }

    #[test]
    fn a_shard_is_a_number_of_a_total() {
        assert_eq!(shard("2/8").to_string(), "2/8");
        for text in [
            "",
            "1",
            "0/4",
            "5/4",
            "1/0",
            "-1/2",
            "1/2/3",
            "a/b",
            "1/99999999999",
        ] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    /// `printf %s edge-1 | sha256sum | cut -c-16`, as a number modulo four, plus one.
    #[test]
    fn a_cluster_is_in_the_same_shard_on_each_machine() {
        let of = |cluster: &str| {
            let in_it = (1..=4).filter(|index| shard(&format!("{index}/4")).holds(cluster));
            in_it.collect::<Vec<_>>()
        };
        let found = ["edge-1", "edge-2", "mgmt", "é"].map(of);
        assert_eq!(found, EXPECTED);
    }

    const EXPECTED: [[i32; 1]; 4] = [[1], [4], [2], [4]];

    #[test]
    fn what_all_clusters_share_is_the_first_ones() {
        let part = |text: &str| Part::Shard(shard(text));
        assert!(part("1/3").owns(&Owner::All));
        assert!(!part("2/3").owns(&Owner::All));
        let owner = Owner::Cluster("edge-1".into());
        let owners = (1..=3).filter(|index| part(&format!("{index}/3")).owns(&owner));
        assert_eq!(owners.count(), 1);
    }

    #[test]
    fn shards_are_of_one_size_or_nearly() {
        for index in 1..=8 {
            let shard = shard(&format!("{index}/8"));
            let held = (0..8000).filter(|number| shard.holds(&format!("edge-{number}")));
            let held = held.count();
            assert!((850..1150).contains(&held), "{shard}: {held}");
        }
    }

    proptest! {
        #[test]
        fn each_cluster_is_in_exactly_one_shard(name in "\\PC{0,20}", count in 1_u32..50) {
            let holders = (1..=count).filter(|index| shard(&format!("{index}/{count}")).holds(&name));
            prop_assert_eq!(holders.count(), 1);
        }
    }
}
