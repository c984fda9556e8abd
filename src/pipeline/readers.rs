//! Edits of a Kubernetes version that several clusters read, such as an entry of Sylva's map: one is offered only if it is right for
//! all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use yaml_tree::place::Spot;

use crate::error::Error;
use crate::model::cluster::MappedVersion;
use crate::model::finding::Finding;
use crate::model::proposal::ProposedChange;
use crate::model::version::{BOOTSTRAP_PROVIDERS, Version, flavor_of};
use crate::pipeline::check;
use crate::pipeline::fleet::Fleet;
use crate::read::{self, ClusterEntry};
use crate::rules::{self, ClusterInput};

/// How many clusters a help names.
const MOST_NAMED: usize = 3;

/// An edit that findings offer: what it replaces and writes.
struct VersionEdit {
    spot: Spot,
    value: String,
    /// The clusters of the findings.
    proposers: BTreeSet<Option<Arc<str>>>,
}

/// Who reads what an edit replaces, and needs another version than it writes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct OtherReader {
    /// The cluster; none where no cluster has images of the flavor.
    cluster: Option<Arc<str>>,
    flavor: Option<&'static str>,
    version: Arc<str>,
}

/// What one cluster says of edits.
#[derive(Default)]
struct Readings<'e> {
    flavor: Option<&'static str>,
    /// The edits within entries of its map.
    mapped: Vec<&'e VersionEdit>,
    /// The edits that are wrong for it, each with the version that it needs.
    wrong: Vec<(&'e VersionEdit, Arc<str>)>,
}

impl Fleet {
    /// Takes the edit from each finding whose version is read by a cluster, or a flavor of images, that needs another one. The help says
    /// which one that is, and gives it a version of its own.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn keep_common_edits<'f>(
        &self,
        findings: impl Iterator<Item = &'f mut Finding>,
    ) -> Result<(), Error> {
        let mut findings: Vec<&mut Finding> = findings.filter(|it| is_of_version(it)).collect();
        let edits = VersionEdits::new(&findings);
        let entries = &self.workspace.clusters;
        let shared = edits.find_shared(entries);
        let readings = |entry: &ClusterEntry| {
            if shared.is_empty() {
                Ok(Readings::default())
            } else {
                self.readings(entry, &shared)
            }
        };
        let read = entries.par_iter().map(readings);
        let read: Vec<Readings<'_>> = read.collect::<Result<_, Error>>()?;
        let names = entries.iter().map(|entry| &*entry.name);
        let flavors: HashMap<&str, Option<&'static str>> =
            names.zip(read.iter().map(|it| it.flavor)).collect();
        let flavor = |cluster: Option<&str>| *flavors.get(cluster?)?;
        let mut others: BTreeMap<EditPlace, BTreeSet<OtherReader>> = BTreeMap::new();
        let mut add = |edit: &VersionEdit, other: OtherReader| {
            others.entry(edit.place()).or_default().insert(other);
        };
        let used: BTreeSet<&str> = read.iter().filter_map(|it| it.flavor).collect();
        let mut seen = BTreeSet::new();
        for (entry, readings) in entries.iter().zip(&read) {
            let cluster = Some(Arc::clone(&entry.name));
            for (edit, version) in &readings.wrong {
                if !edit.proposers.contains(&cluster) {
                    let other = OtherReader {
                        cluster: cluster.clone(),
                        flavor: readings.flavor,
                        version: Arc::clone(version),
                    };
                    add(edit, other);
                }
            }
            for edit in &readings.mapped {
                if seen.insert((edit.place(), &edit.value)) {
                    let unused = self.find_flavors_without_cluster(entry, edit, &used)?;
                    unused.into_iter().for_each(|other| add(edit, other));
                }
            }
        }
        // What is the same for many clusters is made once.
        let mut refusals = BTreeMap::new();
        for finding in &mut findings {
            let Some(fix) = &finding.fix else {
                continue;
            };
            let own = flavor(finding.subject.cluster.as_deref());
            let place = place(&fix.spot);
            let key = (place.clone(), fix.value.clone(), own);
            let others = refusals.entry(key).or_insert_with(|| {
                let rivals = edits.rivals(&place, &fix.value, own, flavor);
                let others = others.get(&place).into_iter().flatten();
                others.cloned().chain(rivals).collect::<BTreeSet<_>>()
            });
            if !others.is_empty() {
                refuse_edit(finding, own, others);
            }
        }
        Ok(())
    }

    /// What a cluster says of edits: each of them that replaces the version that it runs is tried.
    fn readings<'e>(
        &self,
        entry: &ClusterEntry,
        edits: &VersionEdits<&'e VersionEdit>,
    ) -> Result<Readings<'e>, Error> {
        let view = self.view(entry)?;
        let settings = &self.workspace.settings;
        let input = ClusterInput::new(&view, settings);
        let provider = view.cluster.bootstrap_provider.as_ref();
        let mut readings = Readings {
            flavor: provider.and_then(|provider| flavor_of(&provider.value)),
            ..Readings::default()
        };
        let own = rules::cluster_version(&view);
        for mapped in view.cluster.k8s_versions.iter().chain(&own) {
            let Some(spot) = view.sources.resolve(mapped.version.place) else {
                continue;
            };
            for edit in edits.find_within(&spot) {
                readings.mapped.push(edit);
                let change = ProposedChange::K8sVersion(edit.value.as_str().into());
                if input.runs(mapped)
                    && edit.replaces(&input, mapped)
                    && check::breaks(&view, settings, &change)
                {
                    let version = Arc::clone(&mapped.version.value);
                    readings.wrong.push((edit, version));
                }
            }
        }
        Ok(readings)
    }

    /// The flavors without a cluster whose images hold what an edit within an entry of a cluster's map replaces.
    fn find_flavors_without_cluster(
        &self,
        entry: &ClusterEntry,
        edit: &VersionEdit,
        flavors: &BTreeSet<&str>,
    ) -> Result<Vec<OtherReader>, Error> {
        let view = self.view_without_lock(entry)?;
        let input = ClusterInput::new(&view, &self.workspace.settings);
        let mut found = Vec::new();
        let others = BOOTSTRAP_PROVIDERS.iter();
        for (provider, flavor) in others.filter(|(_, flavor)| !flavors.contains(flavor)) {
            let map = read::version_map(&self.workspace, entry, &self.templates, provider)?;
            let stays = |it: &&MappedVersion| {
                edit.replaces(&input, it) && rules::is_held(&input, flavor, it)
            };
            found.extend(map.iter().find(stays).map(|mapped| OtherReader {
                cluster: None,
                flavor: Some(*flavor),
                version: Arc::clone(&mapped.version.value),
            }));
        }
        Ok(found)
    }
}

impl VersionEdit {
    fn place(&self) -> EditPlace {
        place(&self.spot)
    }

    /// Whether it replaces what gives an entry its version.
    fn replaces(&self, input: &ClusterInput<'_>, mapped: &MappedVersion) -> bool {
        let fix = input.fix_mapped_version(mapped, &self.value);
        fix.is_some_and(|fix| fix.spot == self.spot)
    }
}

/// What an edit replaces: bytes of a file.
type EditPlace = (Arc<str>, u32, u32);

fn place(spot: &Spot) -> EditPlace {
    (Arc::clone(&spot.source.path), spot.start, spot.end)
}

/// Edits by what they replace.
struct VersionEdits<E>(BTreeMap<EditPlace, Vec<E>>);

impl VersionEdits<VersionEdit> {
    fn new(findings: &[&mut Finding]) -> Self {
        let mut all: BTreeMap<EditPlace, Vec<VersionEdit>> = BTreeMap::new();
        for finding in findings {
            let Some(fix) = &finding.fix else {
                continue;
            };
            let alike = all.entry(place(&fix.spot)).or_default();
            let at =
                { alike.iter().position(|edit| edit.value == fix.value) }.unwrap_or_else(|| {
                    alike.push(VersionEdit {
                        spot: fix.spot.clone(),
                        value: fix.value.clone(),
                        proposers: BTreeSet::new(),
                    });
                    alike.len() - 1
                });
            alike[at]
                .proposers
                .insert(finding.subject.cluster.as_deref().map(Arc::from));
        }
        Self(all)
    }

    /// The edits of files that more than one cluster may read: all but those of a values file that is one cluster's layer, where no
    /// folder composes values.
    fn find_shared(&self, entries: &[ClusterEntry]) -> VersionEdits<&VersionEdit> {
        let layers = || entries.iter().flat_map(|entry| &entry.layers);
        let mut readers: HashMap<&Path, usize> = HashMap::new();
        layers().for_each(|layer| *readers.entry(layer).or_default() += 1);
        let is_composed = layers().any(|layer| layer.extension().is_none());
        let is_shared = |file: &str| is_composed || readers.get(Path::new(file)) != Some(&1);
        let shared = self.0.iter().filter(|((file, ..), _)| is_shared(file));
        let shared = shared.map(|(place, edits)| (place.clone(), edits.iter().collect()));
        VersionEdits(shared.collect())
    }

    /// Who is offered another version for a place. The newest one is the entry's, but each flavor may have its own.
    fn rivals(
        &self,
        place: &EditPlace,
        value: &str,
        own: Option<&str>,
        flavor: impl Fn(Option<&str>) -> Option<&'static str>,
    ) -> Vec<OtherReader> {
        let edits = self.0.get(place).into_iter().flatten();
        let newest = edits.clone().map(|edit| &edit.value);
        let newest = newest.max_by_key(|value| Version::parse(value));
        let readers = edits.flat_map(|edit| {
            let readers = edit.proposers.iter().map(|cluster| OtherReader {
                cluster: cluster.clone(),
                flavor: flavor(cluster.as_deref()),
                version: edit.value.as_str().into(),
            });
            let is_newest = Some(&edit.value) == newest;
            readers.filter(move |it| !is_newest || edit.value != value && it.flavor != own)
        });
        readers.collect()
    }
}

impl<'e> VersionEdits<&'e VersionEdit> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of a part of a place.
    fn find_within(&self, spot: &Spot) -> impl Iterator<Item = &'e VersionEdit> {
        let file = &spot.source.path;
        let bounds = (Arc::clone(file), spot.start, 0)..=(Arc::clone(file), spot.end, spot.end);
        let found = self.0.range(bounds);
        let found = found.filter(|((_, _, end), _)| *end <= spot.end);
        found.flat_map(|(_, edits)| edits.iter().copied())
    }
}

/// Whether a finding offers an edit of a version.
fn is_of_version(finding: &Finding) -> bool {
    let fix = finding.fix.as_ref();
    fix.is_some_and(|fix| Version::parse(&fix.value).is_some())
}

/// Says what to do first instead of the edit: give others, or the flavor of the finding's cluster, a version of their own.
fn refuse_edit(finding: &mut Finding, own: Option<&str>, others: &BTreeSet<OtherReader>) {
    let Some(fix) = finding.fix.take() else {
        return;
    };
    let (path, _) = fix.text.rsplit_once(": ").unwrap_or((&fix.text, ""));
    let is_of_fix = |line: &String| {
        line.ends_with(&format!("`{}`", fix.text)) || line.ends_with(&format!("`{}`", fix.value))
    };
    finding.help.retain(|line| !is_of_fix(line));
    let is_other = |it: &&OtherReader| it.cluster.is_none() || it.flavor != own;
    let mut helps = Vec::new();
    if let Some(it) = others.iter().find(is_other) {
        let (other, own) = (it.flavor.unwrap_or("others"), own.unwrap_or("each flavor"));
        helps.push(format!(
            "`{path}` is for `{other}` too, which needs `{}`: give `{own}` a version of its own in the entry, by an expression over \
             `cluster.capi_providers.bootstrap_provider`",
            it.version
        ));
    } else {
        let named = others.iter().take(MOST_NAMED).filter_map(|it| {
            let (name, version) = (it.cluster.as_ref()?, &it.version);
            Some(format!(
                "`{name}` reads `{path}` too, and its images are of `{version}`: write `cluster.k8s_version: {version}` in the values of \
                 `{name}` alone"
            ))
        });
        helps.extend(named);
        let more = others.len().saturating_sub(MOST_NAMED);
        if more > 0 {
            helps.push(format!("do the same for {more} more"));
        }
    }
    helps.append(&mut finding.help);
    finding.help = helps;
}
