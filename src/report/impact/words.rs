//! The sentences that the text and the Markdown of an impact share. Clusters with the same change are grouped.

use super::field::shorten;
use super::{
    Booted, Cause, ClusterChange, Edit, FieldChange, Impact, ImpactKind, Machines, PoolChange,
    Rollout, WHOLE,
};
use crate::report::quantity;

/// How many names of clusters are listed before they are only counted.
const NAMED: usize = 12;
/// How many fields of a pool's objects are listed before they are only counted.
const FIELDS: usize = 6;

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
                [Cause::Provider] => ": the API of its provider changes",
                _ => "",
            };
            format!("{} re-provisioned, by roll{why}", count(pool.machines))
        }
        (_, Some(Rollout::InPlace)) => {
            "in place: existing machines stay as they are, later ones differ".to_owned()
        }
        (_, Some(Rollout::Propagated)) => {
            "in place: existing machines get the change and are not replaced".to_owned()
        }
        (_, Some(Rollout::Refused)) => {
            "refused by its webhook: nothing changes, and the sync fails".to_owned()
        }
        (_, Some(Rollout::Unknown)) if pool.because.contains(&Cause::Secret) => {
            "not known: it depends on a secret that may change".to_owned()
        }
        (_, Some(Rollout::Unknown)) if pool.has_field("deployed by") => {
            "not known: its objects are deployed by something else, or by nothing".to_owned()
        }
        (_, Some(Rollout::Unknown)) if pool.has_field("values") => {
            "not known: what the charts make of these values is not compared".to_owned()
        }
        (_, Some(Rollout::Unknown)) => "not known whether machines are re-provisioned".to_owned(),
        _ => {
            let [deleted, added] = pool.scaling();
            match deleted.max(added) {
                0 => "no machine is re-provisioned".to_owned(),
                number => {
                    let what = if deleted > 0 {
                        "deleted"
                    } else {
                        "provisioned"
                    };
                    format!("{} {what}", quantity(number as usize, "machine"))
                }
            }
        }
    }
}

/// What changes, from one text to another.
pub(in crate::report) struct Line {
    pub(in crate::report) what: String,
    pub(in crate::report) from: String,
    pub(in crate::report) to: String,
}

/// What changes of a pool, with its name. Its fields follow, but for those that say the same.
pub(in crate::report) fn edits(pool: &PoolChange) -> Vec<Line> {
    let mut lines = summary(pool);
    let fields = fields(pool).into_iter().take(FIELDS);
    lines.extend(fields.map(|field| {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        let (from, to) = if field.is_secret {
            ("a secret".to_owned(), "perhaps another".to_owned())
        } else {
            (text(&field.from), text(&field.to))
        };
        let what = format!("{} {}", field.object, field.field);
        Line {
            what: what.trim_end().to_owned(),
            from,
            to,
        }
    }));
    lines
}

/// How many fields are not among the lines.
pub(in crate::report) fn further(pool: &PoolChange) -> Option<String> {
    let left = fields(pool).len().saturating_sub(FIELDS);
    (left > 0).then(|| format!("and {}", quantity(left, "further field")))
}

/// The fields that the summary of a pool does not say already, what matters most first.
fn fields(pool: &PoolChange) -> Vec<&FieldChange> {
    let mut known: Vec<[Option<String>; 2]> = Vec::new();
    for line in summary(pool) {
        known.push([Some(line.from), Some(line.to)]);
    }
    if let Some(image) = &pool.image {
        let texts = |booted: &Option<Booted>| {
            let booted = booted.as_ref();
            let url = booted.and_then(|booted| booted.url.as_deref());
            let sum = booted.and_then(|booted| booted.checksum.as_deref());
            [url, sum].map(|text| text.map(shorten))
        };
        let [[url, sum], [next_url, next_sum]] = [texts(&image.from), texts(&image.to)];
        known.extend([[url, next_url], [sum, next_sum]]);
    }
    let is_new = |field: &&FieldChange| !known.contains(&[field.from.clone(), field.to.clone()]);
    let mut fields: Vec<&FieldChange> = pool.changes.iter().filter(is_new).collect();
    fields.sort_by_key(|field| std::cmp::Reverse(field.rollout));
    fields
}

fn summary(pool: &PoolChange) -> Vec<Line> {
    let image = pool.image.as_ref().map(|edit| ("image", self::image(edit)));
    let kubernetes = pool.kubernetes.as_ref();
    let kubernetes = kubernetes.map(|edit| ("kubernetes", self::edit(edit)));
    let replicas = pool.replicas.as_ref();
    let replicas = replicas.map(|edit| ("replicas", self::edit(edit)));
    let provider = pool.provider.as_ref();
    let provider = provider.map(|edit| ("provider", self::edit(edit)));
    let lines = [image, kubernetes, provider, replicas]
        .into_iter()
        .flatten();
    let line = |(what, (from, to)): (&str, (String, String))| Line {
        what: what.to_owned(),
        from,
        to,
    };
    lines.map(line).collect()
}

/// From one image to another, by what differs.
pub(in crate::report) fn image(edit: &Edit<Booted>) -> (String, String) {
    fn location(booted: &Booted) -> &str {
        let text = booted.url.as_deref().or(booted.name.as_deref());
        text.unwrap_or_default()
    }
    let name = |booted: &Booted| {
        let key = booted.key.as_deref();
        key.unwrap_or_else(|| location(booted)).to_owned()
    };
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
        let uri = |booted: &Booted| {
            let uri = booted.uri.as_deref();
            uri.unwrap_or_else(|| location(booted)).to_owned()
        };
        return (uri(from), uri(to));
    }
    if location(from) != location(to) {
        return (location(from).to_owned(), location(to).to_owned());
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

/// The machines of some pools: those whose number is known, and how many pools there are whose number is not.
#[derive(Default)]
struct Count {
    machines: usize,
    pools: usize,
}

impl Count {
    fn new<'p>(pools: impl Iterator<Item = &'p PoolChange>) -> Self {
        let mut count = Self::default();
        for pool in pools {
            match pool.machines {
                Some(Machines::Number(number)) => count.machines += number as usize,
                _ => count.pools += 1,
            }
        }
        count
    }

    /// In words; none where there is none.
    fn words(&self) -> Option<String> {
        let machines = (self.machines > 0).then(|| quantity(self.machines, "machine"));
        let pools = match self.pools {
            0 => None,
            1 => Some("one whole pool".to_owned()),
            many => Some(format!("{many} whole pools")),
        };
        let parts: Vec<String> = machines.into_iter().chain(pools).collect();
        (!parts.is_empty()).then(|| parts.join(" and "))
    }
}

/// The summary in one line. That no machine is replaced is said where every difference is known to replace none.
pub(in crate::report) fn sum(impact: &Impact) -> String {
    if impact.clusters.is_empty() && impact.unchanged == 0 {
        return "there is no cluster to compare".to_owned();
    }
    let mut parts = Vec::new();
    let pools = || impact.clusters.iter().flat_map(|change| &change.pools);
    let is_rolled = |pool: &&PoolChange| pool.rollout == Some(Rollout::Roll);
    let is = |kind: ImpactKind| move |pool: &&PoolChange| pool.change == kind;
    let rolled = Count::new(pools().filter(is_rolled)).words();
    let scaled = |at: usize| pools().map(move |pool| pool.scaling()[at]).sum::<u32>();
    let of_scaled = |kind, at| {
        let mut count = Count::new(pools().filter(is(kind)));
        count.machines += scaled(at) as usize;
        count.words()
    };
    let deleted = of_scaled(ImpactKind::Removed, 0);
    let added = of_scaled(ImpactKind::Added, 1);
    let unknown = pools().filter(|pool| pool.rollout == Some(Rollout::Unknown));
    let (secret, open): (Vec<_>, Vec<_>) =
        unknown.partition(|pool| pool.because.contains(&Cause::Secret));
    match &rolled {
        Some(machines) => {
            let clusters = { impact.clusters.iter() }
                .filter(|change| change.pools.iter().any(|pool| is_rolled(&pool)));
            let clusters = quantity(clusters.count(), "cluster");
            parts.push(format!("{machines} in {clusters} re-provisioned"));
        }
        None if deleted.is_none()
            && secret.is_empty()
            && open.is_empty()
            && impact.unread.changed == 0 =>
        {
            parts.push("no machine is re-provisioned".to_owned());
        }
        None => {}
    }
    parts.extend(deleted.map(|machines| format!("{machines} deleted")));
    parts.extend(added.map(|machines| format!("{machines} provisioned")));
    let (whole, open): (Vec<&PoolChange>, Vec<_>) =
        open.into_iter().partition(|pool| pool.pool == WHOLE);
    for (count, word) in [(open.len(), "pool"), (whole.len(), "whole cluster")] {
        if count > 0 {
            parts.push(format!("not known of {}", quantity(count, word)));
        }
    }
    if impact.unread.changed > 0 {
        let unread = quantity(impact.unread.changed, "source");
        parts.push(format!("not known of {unread} not read"));
    }
    if !secret.is_empty() {
        let pools = quantity(secret.len(), "pool");
        parts.push(format!("not known of {pools}, which a secret decides"));
    }
    let refused = pools().filter(|pool| pool.rollout == Some(Rollout::Refused));
    match refused.count() {
        0 => {}
        count => parts.push(format!(
            "refused by webhooks in {}",
            quantity(count, "pool")
        )),
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
    if impact.unread.unchanged > 0 {
        let unread = quantity(impact.unread.unchanged, "source");
        parts.push(format!("{unread} not read, as before"));
    }
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
