//! What a builder has to produce for a plan: each image once, with the node pools that wait for it and the images that nearly fit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::ImageKey;
use serde::Serialize;

use super::followers::{LackingImage, MOST_NEAR, NearMiss};
use super::plan::ClusterPlan;
use super::successor::same_line;
use crate::model::date::Date;
use crate::model::name::{NameFacts, split_registry};
use crate::model::version::Version;

/// An image to build.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct MissingImage {
    /// The name in the spelling of its line, `*` for a patch that the builder chooses; none where its line's name has no version.
    pub name: Option<String>,
    /// The version, or a minor of which any patch will do.
    pub version: String,
    /// The image whose line it continues.
    pub line: ImageKey,
    /// The day on which it is to be built, or later.
    pub built_since: Option<String>,
    /// The node pools that wait for it, by cluster.
    pub pools: BTreeMap<Arc<str>, Vec<String>>,
    /// The images that differ from it in one thing.
    pub nearest: Vec<NearMiss>,
}

/// The images that are missing over all clusters, each once. Clusters may stop at several patches of a line, which is one image.
pub fn build_list(plans: &[ClusterPlan], since: Option<Date>) -> Vec<MissingImage> {
    let lacking = plans
        .iter()
        .flat_map(|plan| plan.to_build.iter().map(move |it| (&plan.cluster, it)));
    let lacking: Vec<(&Arc<str>, &LackingImage)> = lacking.collect();
    let keys: BTreeSet<&ImageKey> = lacking.iter().map(|(_, it)| &it.follows).collect();
    let mut lines: BTreeMap<&ImageKey, &ImageKey> = BTreeMap::new();
    for key in keys {
        let known = lines.values().find(|line| same_line(line, key)).copied();
        lines.insert(key, known.unwrap_or(key));
    }
    let exact: BTreeSet<_> = lacking
        .iter()
        .filter_map(|(_, it)| Some((it.minor, lines[&it.follows], it.version.as_ref()?)))
        .collect();
    let mut missing: BTreeMap<_, MissingImage> = BTreeMap::new();
    for (cluster, it) in lacking {
        let line = lines[&it.follows];
        // Where others need one patch, it does for those that take any.
        let of_line = exact
            .iter()
            .filter(|other| (other.0, other.1) == (it.minor, line));
        let version = it
            .version
            .as_ref()
            .or(of_line.map(|other| other.2).next_back());
        let image = missing
            .entry((it.minor, line, version))
            .or_insert_with(|| MissingImage {
                name: name(line, it.minor, version),
                version: version.map_or_else(
                    || format!("{}.{}", it.minor.0, it.minor.1),
                    Version::to_string,
                ),
                line: Arc::clone(line),
                built_since: since.map(|day| day.to_string()),
                pools: BTreeMap::new(),
                nearest: Vec::new(),
            });
        let pools = image.pools.entry(Arc::clone(cluster)).or_default();
        pools.extend(it.pools.iter().cloned());
        for near in &it.nearest {
            if image.nearest.len() < MOST_NEAR && !image.nearest.contains(near) {
                image.nearest.push(near.clone());
            }
        }
    }
    missing.into_values().collect()
}

/// The name of a line with another version.
fn name(line: &str, minor: (u32, u32), version: Option<&Version>) -> Option<String> {
    let own = NameFacts::parse(split_registry(line).1)?.k8s_version?;
    let spell = |separator: &str, version: (u32, u32), patch: Option<&str>| {
        let patch = patch.map_or_else(String::new, |patch| format!("{separator}{patch}"));
        format!("{}{separator}{}{patch}", version.0, version.1)
    };
    let old = own.patch.map(|patch| patch.to_string());
    let new = version.and_then(|version| Some(version.patch?.to_string()));
    let new = old.as_ref().map(|_| new.as_deref().unwrap_or("*"));
    ["-", "."].into_iter().find_map(|separator| {
        let written = spell(separator, (own.major, own.minor), old.as_deref());
        let named = |patch| line.replacen(&written, &spell(separator, minor, patch), 1);
        // What the name is read as decides whether the right part was replaced.
        let is_meant = same_line(line, &named(old.as_deref())) && line.contains(&written);
        (is_meant && own.build.is_none()).then(|| named(new))
    })
}

#[cfg(test)]
mod tests {
    use super::{build_list, name};
    use crate::decide::followers::{LackingImage, NearMiss};
    use crate::decide::plan::ClusterPlan;
    use crate::model::version::Version;

    fn lacking(pool: &str, follows: &str, version: Option<&str>) -> LackingImage {
        LackingImage {
            minor: (1, 32),
            version: version.and_then(Version::parse),
            follows: follows.into(),
            pools: vec![pool.to_owned()],
            nearest: vec![NearMiss {
                image: format!("near-{pool}").into(),
                difference: "has no `uri`".to_owned(),
            }],
        }
    }

    #[test]
    fn an_image_is_missing_once_for_a_line() {
        let plan = |cluster: &str, to_build: Vec<LackingImage>| ClusterPlan {
            cluster: cluster.into(),
            to_build,
            ..ClusterPlan::default()
        };
        let (first, later) = (
            "ubuntu-noble-plain-rke2-1-31-8",
            "ubuntu-noble-plain-rke2-1-31-9",
        );
        let other = "ubuntu-noble-hardened-rke2-1-31-9";
        let plans = [
            plan("a", vec![lacking("cp", first, None)]),
            plan(
                "b",
                vec![
                    lacking("cp", later, None),
                    lacking("md0", first, None),
                    lacking("md1", first, None),
                    lacking("md2", first, None),
                ],
            ),
            plan(
                "c",
                vec![
                    lacking("cp", later, None),
                    lacking("md0", other, Some("1.32.6+rke2r1")),
                ],
            ),
            plan("d", vec![lacking("cp", "own", None)]),
            plan(
                "e",
                vec![
                    lacking("cp", other, None),
                    lacking("md0", other, Some("1.32.5+rke2r1")),
                ],
            ),
        ];
        let list = build_list(&plans, None);
        let lines: Vec<String> = list
            .iter()
            .map(|it| {
                let near = it.nearest.iter().map(|near| &*near.image);
                let near: Vec<&str> = near.collect();
                let clusters: Vec<&str> = it.pools.keys().map(|name| &**name).collect();
                let name = it.name.as_deref().unwrap_or("none");
                format!("{name} {} {} {clusters:?} {near:?}", it.version, it.line)
            })
            .collect();
        assert_eq!(
            lines,
            [
                r#"none 1.32 own ["d"] ["near-cp"]"#,
                r#"ubuntu-noble-hardened-rke2-1-32-5 1.32.5+rke2r1 ubuntu-noble-hardened-rke2-1-31-9 ["e"] ["near-md0"]"#,
                r#"ubuntu-noble-hardened-rke2-1-32-6 1.32.6+rke2r1 ubuntu-noble-hardened-rke2-1-31-9 ["c", "e"] ["near-md0", "near-cp"]"#,
                r#"ubuntu-noble-plain-rke2-1-32-* 1.32 ubuntu-noble-plain-rke2-1-31-8 ["a", "b", "c"] ["near-cp", "near-md0", "near-md1"]"#,
            ]
        );
        assert_eq!(list[3].pools["b"], ["cp", "md0", "md1", "md2"]);
    }

    #[test]
    fn a_name_keeps_the_spelling_of_its_line() {
        let of = |line| name(line, (1, 32), None);
        for (line, expected) in [
            (
                "ubuntu-noble-plain-rke2-1-31-8",
                Some("ubuntu-noble-plain-rke2-1-32-*"),
            ),
            (
                "ubuntu-noble-plain-rke2-1.31.8",
                Some("ubuntu-noble-plain-rke2-1.32.*"),
            ),
            (
                "n--ubuntu-noble-plain-rke2-1-31-8",
                Some("n--ubuntu-noble-plain-rke2-1-32-*"),
            ),
            (
                "ubuntu-noble-hardened-rke2-1-31",
                Some("ubuntu-noble-hardened-rke2-1-32"),
            ),
            ("ubuntu-noble-plain-rke2-1-31-8-rke2r1", None),
            ("own", None),
        ] {
            assert_eq!(of(line).as_deref(), expected, "{line}");
        }
    }
}
