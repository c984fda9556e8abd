//! The sentences that the text and the Markdown of an impact share. Clusters with the same change are grouped.

use super::{
    Booted, Cause, ClusterChange, Edit, Impact, ImpactKind, Machines, PoolChange, Rollout,
};
use crate::report::quantity;

/// How many names of clusters are listed before they are only counted.
const NAMED: usize = 12;

/// Clusters that change alike, in the order of the first of them.
pub(in crate::report) fn groups(impact: &Impact) -> Vec<Vec<&ClusterChange>> {
    let mut groups: Vec<Vec<&ClusterChange>> = Vec::new();
    let mut index = std::collections::HashMap::new();
    for change in &impact.clusters {
        let is_alone = matches!(change.change, ImpactKind::Renamed | ImpactKind::Replaced);
        let same = format!("{:?} {:?}", change.change, change.pools);
        match index.get(&same) {
            Some(at) if !is_alone => {
                let group: &mut Vec<&ClusterChange> = &mut groups[*at];
                group.push(change);
            }
            _ => {
                index.insert(same, groups.len());
                groups.push(vec![change]);
            }
        }
    }
    groups
}

/// The clusters of a group and what becomes of them.
pub(in crate::report) fn head(group: &[&ClusterChange]) -> String {
    let names = group.iter().take(NAMED).map(|change| &*change.cluster);
    let mut names = names.collect::<Vec<_>>().join(", ");
    if group.len() > NAMED {
        names = format!("{names} and {} more", group.len() - NAMED);
    }
    let Some(first) = group.first() else {
        return names;
    };
    let from = first.from.as_deref().unwrap_or_default();
    match (first.change, group.len()) {
        (ImpactKind::Changed, _) => names,
        (ImpactKind::Added, 1) => format!("{names} (new)"),
        (ImpactKind::Added, _) => format!("{names} (all new)"),
        (ImpactKind::Removed, 1) => format!("{names} (gone)"),
        (ImpactKind::Removed, _) => format!("{names} (all gone)"),
        (ImpactKind::Renamed, _) => format!("{names} (was `{from}`)"),
        (ImpactKind::Replaced, _) => {
            format!("{names} (the cluster `{from}` goes, another one comes)")
        }
    }
}

/// What happens to a pool's machines.
pub(in crate::report) fn machines(pool: &PoolChange) -> String {
    let count = |machines: Option<Machines>| match machines {
        Some(Machines::Number(1)) => "1 machine".to_owned(),
        Some(Machines::Number(number)) => format!("{number} machines"),
        Some(Machines::All) | None => "all machines".to_owned(),
    };
    match (pool.change, pool.rollout) {
        (ImpactKind::Added, _) => format!("{} provisioned", count(pool.machines)),
        (ImpactKind::Removed, _) => format!("{} deleted", count(pool.machines)),
        (_, Some(Rollout::Roll)) => {
            let why = match pool.because.as_slice() {
                [Cause::MachineTemplate] => ": its machine template changes",
                _ => "",
            };
            format!("{} re-provisioned, by roll{why}", count(pool.machines))
        }
        (_, Some(Rollout::InPlace)) => {
            "in place: existing machines stay as they are, later ones differ".to_owned()
        }
        (_, Some(Rollout::Unknown)) => {
            "not known: it depends on a secret that may change".to_owned()
        }
        _ => "no machine is re-provisioned".to_owned(),
    }
}

/// What changes of a pool, with its name.
pub(in crate::report) fn edits(pool: &PoolChange) -> Vec<(&'static str, (String, String))> {
    let image = pool.image.as_ref().map(|edit| ("image", self::image(edit)));
    let kubernetes = pool.kubernetes.as_ref();
    let kubernetes = kubernetes.map(|edit| ("kubernetes", self::edit(edit)));
    let replicas = pool.replicas.as_ref();
    let replicas = replicas.map(|edit| ("replicas", self::edit(edit)));
    [image, kubernetes, replicas]
        .into_iter()
        .flatten()
        .collect()
}

/// From one image to another, by what differs.
pub(in crate::report) fn image(edit: &Edit<Booted>) -> (String, String) {
    let name = |booted: &Booted| booted.key.as_deref().unwrap_or(&booted.url).to_owned();
    let (from, to) = match (&edit.from, &edit.to) {
        (Some(from), Some(to)) => (from, to),
        (from, to) => {
            let named = |booted: &Option<Booted>| booted.as_ref().map_or("none".to_owned(), name);
            return (named(from), named(to));
        }
    };
    if from.key != to.key {
        return (name(from), name(to));
    }
    if from.uri != to.uri {
        let uri = |booted: &Booted| booted.uri.as_deref().unwrap_or(&booted.url).to_owned();
        return (uri(from), uri(to));
    }
    if from.url != to.url {
        return (from.url.to_string(), to.url.to_string());
    }
    let sum = |booted: &Booted| {
        let sum = booted.checksum.as_deref().unwrap_or("no checksum");
        format!("{} ({})", name(booted), sum.get(..12).unwrap_or(sum))
    };
    (sum(from), sum(to))
}

/// The old and the new value as texts; `none` for a missing one.
pub(in crate::report) fn edit<T: std::fmt::Display>(edit: &Edit<T>) -> (String, String) {
    let shown = |value: &Option<T>| value.as_ref().map_or("none".to_owned(), T::to_string);
    (shown(&edit.from), shown(&edit.to))
}

/// The summary in one line.
pub(in crate::report) fn sum(impact: &Impact) -> String {
    let mut parts = Vec::new();
    let pools = impact.clusters.iter().flat_map(|change| &change.pools);
    let open = pools.filter(|pool| pool.rollout == Some(Rollout::Unknown));
    let open = open.count();
    let (mut machines, mut clusters, mut unknown) = (0_usize, 0_usize, 0_usize);
    for change in &impact.clusters {
        let rolled = change
            .pools
            .iter()
            .filter(|pool| pool.rollout == Some(Rollout::Roll));
        let mut is_rolled = false;
        for pool in rolled {
            is_rolled = true;
            match pool.machines {
                Some(Machines::Number(number)) => machines += number as usize,
                _ => unknown += 1,
            }
        }
        clusters += usize::from(is_rolled);
    }
    if machines + unknown > 0 {
        let further = match unknown {
            0 => String::new(),
            1 => " and one whole pool".to_owned(),
            many => format!(" and {many} whole pools"),
        };
        let (machines, clusters) = (quantity(machines, "machine"), quantity(clusters, "cluster"));
        parts.push(format!("{machines}{further} in {clusters} re-provisioned"));
    } else if open == 0 {
        parts.push("no machine is re-provisioned".to_owned());
    }
    if open > 0 {
        let pools = quantity(open, "pool");
        parts.push(format!("not known of {pools}, which a secret decides"));
    }
    let of = |kind: ImpactKind| {
        impact
            .clusters
            .iter()
            .filter(|change| change.change == kind)
            .count()
    };
    for (kind, word) in [
        (ImpactKind::Added, "new"),
        (ImpactKind::Removed, "gone"),
        (ImpactKind::Replaced, "replaced"),
    ] {
        match of(kind) {
            0 => {}
            count => parts.push(format!("{} {word}", quantity(count, "cluster"))),
        }
    }
    parts.push(format!(
        "{} as before",
        quantity(impact.unchanged, "cluster")
    ));
    parts.join(", ")
}

/// Bytes in decimal units, as registries and disks count them.
pub(in crate::report) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if count < 1000 {
        return format!("{count} B");
    }
    let (mut value, mut unit) = (count as f64 / 1000.0, 0);
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn bytes_have_one_digit() {
        let printed = [0, 999, 1000, 2_001_524_043, 999_999, u64::MAX].map(bytes);
        let wanted = ["0 B", "999 B", "1.0 kB", "2.0 GB", "1.0 MB", "18446.7 PB"];
        assert_eq!(printed, wanted);
    }
}
