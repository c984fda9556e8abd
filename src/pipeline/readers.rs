//! Edits of a Kubernetes version that several clusters read, such as an entry of Sylva's map: one is offered only if it is right for
//! all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use yaml_tree::place::Spot;

use crate::error::Error;
use crate::model::cluster::MappedVersion;
use crate::model::cluster_view::ClusterView;
use crate::model::finding::Finding;
use crate::model::fix::Fix;
use crate::model::proposal::ProposedChange;
use crate::model::version::{BOOTSTRAP_PROVIDERS, Version, flavor_of};
use crate::pipeline::check;
use crate::pipeline::fleet::Fleet;
use crate::read::{self, ClusterEntry};
use crate::rules::{self, ClusterInput};

/// How many clusters a help names.
const MOST_NAMED: usize = 3;

/// What an edit writes.
#[derive(Clone, PartialEq)]
struct VersionEdit {
    spot: Spot,
    value: String,
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
struct Readings {
    flavor: Option<&'static str>,
    /// The edits, by number, within entries of its map.
    mapped: BTreeSet<usize>,
    /// The edits that are wrong for it.
    wrong: BTreeMap<usize, OtherReader>,
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
        let mut edits: Vec<VersionEdit> = Vec::new();
        for fix in findings.iter().filter_map(|it| it.fix.as_ref()) {
            let (spot, value) = (fix.spot.clone(), fix.value.clone());
            let edit = VersionEdit { spot, value };
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        }
        if edits.is_empty() {
            return Ok(());
        }
        let all: Vec<&ClusterEntry> = self.workspace.clusters.iter().collect();
        let read = all.par_iter().map(|entry| self.readings(entry, &edits));
        let read: Vec<Readings> = read.collect::<Result<_, _>>()?;
        let flavors: BTreeSet<&str> = read.iter().filter_map(|it| it.flavor).collect();
        let others: Vec<BTreeSet<OtherReader>> = { edits.iter().enumerate() }
            .map(|(index, edit)| {
                let proposers = { findings.iter() }
                    .filter(|it| it.fix.as_ref().is_some_and(|fix| edit.is_made_by(fix)))
                    .filter_map(|it| it.subject.cluster.as_deref());
                let proposers: BTreeSet<&str> = proposers.collect();
                let wrong = read.iter().filter_map(|it| it.wrong.get(&index));
                let wrong = wrong.filter(|it| {
                    let name = it.cluster.as_deref();
                    !name.is_some_and(|name| proposers.contains(name))
                });
                let with_map = all.iter().zip(&read);
                let mut with_map = with_map.filter(|(_, it)| it.mapped.contains(&index));
                let of_flavors = with_map
                    .next()
                    .map(|(entry, _)| self.unused_flavors(entry, edit, &flavors));
                let of_flavors = of_flavors.transpose()?.unwrap_or_default();
                Ok(wrong.cloned().chain(of_flavors).collect())
            })
            .collect::<Result<_, Error>>()?;
        let flavor = |name: &str| {
            let index = all.iter().position(|entry| *entry.name == *name)?;
            read[index].flavor
        };
        let rivals: Vec<(VersionEdit, OtherReader)> = { findings.iter() }
            .filter_map(|finding| {
                let fix = finding.fix.as_ref()?;
                let cluster = finding.subject.cluster.as_deref();
                let reader = OtherReader {
                    cluster: cluster.map(Arc::from),
                    flavor: cluster.and_then(flavor),
                    version: fix.value.as_str().into(),
                };
                let (spot, value) = (fix.spot.clone(), fix.value.clone());
                Some((VersionEdit { spot, value }, reader))
            })
            .collect();
        for finding in &mut findings {
            let Some(fix) = &finding.fix else {
                continue;
            };
            let alike = rivals.iter().filter(|(edit, _)| edit.spot == fix.spot);
            let highest = alike.clone().map(|(edit, _)| &edit.value);
            let highest = highest.max_by_key(|value| Version::parse(value));
            let lower = alike.filter(|(edit, _)| Some(&edit.value) != highest);
            let of_edits = edits.iter().zip(&others);
            let of_edits = of_edits.filter(|(edit, _)| edit.spot == fix.spot);
            let mut others: BTreeSet<OtherReader> = of_edits
                .flat_map(|(_, others)| others.iter().cloned())
                .collect();
            others.extend(lower.map(|(_, reader)| reader.clone()));
            if !others.is_empty() {
                let own = finding.subject.cluster.as_deref().and_then(flavor);
                refuse_edit(finding, own, &others);
            }
        }
        Ok(())
    }

    /// What a cluster says of edits: each of them that replaces the version that it runs is tried.
    fn readings(&self, entry: &ClusterEntry, edits: &[VersionEdit]) -> Result<Readings, Error> {
        let view = self.view(entry)?;
        let settings = &self.workspace.settings;
        let input = ClusterInput::new(&view, settings);
        let provider = view.cluster.bootstrap_provider.as_ref();
        let mut readings = Readings {
            flavor: provider.and_then(|provider| flavor_of(&provider.value)),
            mapped: BTreeSet::new(),
            wrong: BTreeMap::new(),
        };
        let own = rules::cluster_version(&view);
        for mapped in view.cluster.k8s_versions.iter().chain(&own) {
            for (index, edit) in edits.iter().enumerate() {
                if edit.is_within(&view, mapped) {
                    readings.mapped.insert(index);
                }
                let change = ProposedChange::K8sVersion(edit.value.as_str().into());
                if input.runs(mapped)
                    && edit.replaces(&input, mapped)
                    && check::breaks(&view, settings, &change)
                {
                    let reader = OtherReader {
                        cluster: Some(Arc::clone(&entry.name)),
                        flavor: readings.flavor,
                        version: Arc::clone(&mapped.version.value),
                    };
                    readings.wrong.insert(index, reader);
                }
            }
        }
        Ok(readings)
    }

    /// The flavors without a cluster whose images hold what an edit within an entry of a cluster's map replaces.
    fn unused_flavors(
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
    fn is_made_by(&self, fix: &Fix) -> bool {
        self.spot == fix.spot && self.value == fix.value
    }

    /// Whether it edits a part of an entry.
    fn is_within(&self, view: &ClusterView, mapped: &MappedVersion) -> bool {
        let spot = view.sources.resolve(mapped.version.place);
        spot.is_some_and(|spot| {
            spot.source.path == self.spot.source.path
                && spot.start <= self.spot.start
                && self.spot.end <= spot.end
        })
    }

    /// Whether it replaces what gives an entry its version.
    fn replaces(&self, input: &ClusterInput<'_>, mapped: &MappedVersion) -> bool {
        let fix = input.fix_mapped_version(mapped, &self.value);
        fix.is_some_and(|fix| fix.spot == self.spot)
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
    let of_flavor = others.iter().find(is_other);
    let help = of_flavor.map(|it| {
        let (other, own) = (it.flavor.unwrap_or("others"), own.unwrap_or("each flavor"));
        format!(
            "`{path}` is what `{other}` needs, `{}`, too: give `{own}` a version of its own in the entry, by an expression over \
             `cluster.capi_providers.bootstrap_provider`",
            it.version
        )
    });
    let mut alike = others.iter().filter(|it| !is_other(it));
    let named = alike.by_ref().take(MOST_NAMED).filter_map(|it| {
        let (name, version) = (it.cluster.as_ref()?, &it.version);
        Some(format!(
            "`{name}` reads `{path}` too, and its images are of `{version}`: write `cluster.k8s_version: {version}` in the values of \
             `{name}` alone"
        ))
    });
    let mut helps: Vec<String> = help.into_iter().chain(named).collect();
    let more = alike.count();
    if more > 0 {
        helps.push(format!("and the same for {more} more"));
    }
    helps.append(&mut finding.help);
    finding.help = helps;
}
