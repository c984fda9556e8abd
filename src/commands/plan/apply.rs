//! The edits of a wave, made where the project with them is what the plan says, and nowhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::image::ImageKey;
use yaml_tree::engine::Engine;
use yaml_tree::place::{Source, Sources};

use crate::decide::plan::{Goal, PlanStep, PoolState};
use crate::decide::waves::{Wave, WaveStep};
use crate::edit::texts::EditedFile;
use crate::edit::{fix, own_layer, step, texts};
use crate::error::Error;
use crate::model::cluster::ClusterOrigin;
use crate::model::fix::Fix;
use crate::model::name::split_registry;
use crate::output;
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{Terminal, Verdict};
use crate::read::{ClusterEntry, Request};
use crate::report;

use super::manifests::PoolMove;
use super::{Plans, errors, manifests};

/// The wave of a number, all of whose clusters are to make their first step.
///
/// # Errors
/// There is no such wave, or one before it has to be applied first.
pub(super) fn find_wave(waves: &[Wave], number: usize) -> Result<&Wave, Error> {
    let Some(wave) = waves.iter().find(|wave| wave.number == number) else {
        let message = match waves.len() {
            0 => "there is nothing to apply: no cluster has a step to make".to_owned(),
            count => format!("there is no wave {number}: the plan has waves 1 to {count}"),
        };
        return Err(Error::usage(message));
    };
    match wave.clusters.iter().find(|it| it.step > 0) {
        None => Ok(wave),
        Some(it) => Err(Error::usage(format!(
            "cluster `{}` makes another step before that of wave {number}\nhelp: apply an earlier wave first",
            it.cluster
        ))),
    }
}

/// A wave to apply.
pub(super) struct Apply<'a> {
    pub(super) request: &'a Request,
    pub(super) fleet: &'a Fleet,
    /// The clusters as they are.
    pub(super) plans: &'a Plans,
    pub(super) goal: Goal,
    pub(super) wave: &'a Wave,
}

impl Apply<'_> {
    /// Edits the files, or says why not.
    ///
    /// # Errors
    /// A file cannot be read or written, or has changed meanwhile.
    pub(super) fn run(&self, terminal: &mut Terminal) -> Result<Verdict, Error> {
        let Edits {
            fixes,
            files,
            refused,
        } = self.edits()?;
        if !refused.is_empty() {
            for why in refused {
                writeln!(terminal.err, "not applied: {why}")?;
            }
            return Ok(Verdict::Findings);
        }
        let mut held = output::hold(&self.fleet.workspace.settings.root)?;
        texts::replace(&self.fleet.workspace, &files, &mut held)?;
        // Several clusters may need one edit.
        let mut printed = BTreeSet::new();
        for fix in &fixes {
            let line = format!("edited {}: `{}`", fix.spot, fix.text);
            if printed.insert(line.clone()) {
                writeln!(terminal.err, "{line}")?;
            }
        }
        let is_fixed =
            |source: &Source| fixes.iter().any(|fix| fix.spot.source.path == source.path);
        for file in files.iter().filter(|file| !is_fixed(&file.source)) {
            writeln!(terminal.err, "edited {}", file.source.path)?;
        }
        let clusters = report::quantity(self.wave.clusters.len(), "cluster");
        let files = report::quantity(files.len(), "file");
        writeln!(
            terminal.out,
            "wave {}: {clusters} to {}, {files} edited",
            self.wave.number, self.wave.to
        )?;
        Ok(Verdict::Clean)
    }

    fn step(&self, of: &WaveStep) -> &PlanStep {
        &self.plans.plans[of.plan].steps[of.step]
    }

    /// The layers of each cluster of the wave that none outside of it has, lowest first.
    fn own_layers(&self) -> BTreeMap<&str, Vec<&Path>> {
        let members: BTreeSet<&str> = self.wave.clusters.iter().map(|it| &*it.cluster).collect();
        let entries = self.fleet.workspace.entries();
        let (own, others): (Vec<&ClusterEntry>, Vec<&ClusterEntry>) =
            entries.partition(|entry| members.contains(&*entry.name));
        let others: BTreeSet<&Path> = others.into_iter().flat_map(layers).collect();
        let own = own.into_iter().map(|entry| {
            let own = layers(entry).filter(|layer| !others.contains(layer));
            (&*entry.name, own.collect())
        });
        own.collect()
    }

    /// The edits of all clusters of the wave, tried in memory.
    fn edits(&self) -> Result<Edits, Error> {
        let of = |name: &str| self.wave.clusters.iter().find(|it| *it.cluster == *name);
        let made = self.fleet.check(|view, _, _| {
            let Some(step) = of(&view.cluster.name).map(|it| self.step(it)) else {
                return Ok(Planned::Other(paths(&view.sources)));
            };
            let moves = manifests::moves(view, step);
            let edits = match view.cluster.origin {
                ClusterOrigin::Values => step::edits(view, step),
                ClusterOrigin::Manifests => Ok(Vec::new()),
            };
            let edits = edits.map_err(|why| format!("{}: {why}", view.cluster.name));
            Ok(Planned::Member {
                cluster: Arc::clone(&view.cluster.name),
                edits,
                moves,
                sources: view.sources.clone(),
            })
        })?;
        let engine = self.fleet.workspace.engine;
        let (mut all, mut moves) = (Edits::default(), Vec::new());
        let own_layers = self.own_layers();
        let (mut others, mut shared) = (BTreeSet::new(), Vec::new());
        for planned in &made.results {
            if let Planned::Other(paths) = planned {
                others.extend(paths.iter().cloned());
            }
        }
        for planned in made.results {
            let Planned::Member {
                cluster,
                edits,
                moves: own,
                sources,
            } = planned
            else {
                continue;
            };
            moves.extend(own);
            match edits {
                Ok(fixes) => {
                    let layers = own_layers.get(&*cluster).map_or(&[][..], Vec::as_slice);
                    let is_shared = |fix: &Fix| {
                        let path = &fix.spot.source.path;
                        let is_own = |layer: &&Path| Path::new(&**path).starts_with(layer);
                        others.contains(path) && !layers.iter().any(is_own)
                    };
                    let (others_too, own) = fixes.into_iter().partition(is_shared);
                    all.fixes.extend::<Vec<Fix>>(own);
                    shared.push(SharedFixes {
                        cluster,
                        layers,
                        fixes: others_too,
                        sources,
                    });
                }
                Err(why) => all.refused.push(why),
            }
        }
        match fix::all(&all.fixes, engine) {
            Ok(files) => all.files = files,
            Err(why) => all.refused.push(why),
        }
        for SharedFixes {
            cluster,
            layers,
            fixes,
            sources,
        } in shared
        {
            let layer = own_layer::find_file(&sources, layers, engine);
            for fix in fixes {
                let is_written = layer.is_some_and(|layer| all.write(&fix, layer, engine));
                if !is_written {
                    all.refused.push(format!(
                        "{cluster}: `{}` at {} is for clusters of other waves too, and no values file of its own can hold it",
                        fix.text, fix.spot
                    ));
                }
            }
        }
        if all.refused.is_empty() && !moves.is_empty() {
            match manifests::edits(self.request, self.fleet, &moves)? {
                Ok(files) => all.join(files),
                Err(why) => all.refused = why,
            }
        }
        if all.refused.is_empty() {
            all.refused = self.differences(&all.files)?;
        }
        Ok(all)
    }

    /// What the project with edited files is other than the plan says: the wave's clusters run their step's version on its
    /// images, no other cluster changes, and no rule finds an error that was none before.
    fn differences(&self, files: &[EditedFile]) -> Result<Vec<String>, Error> {
        let after = texts::read_with(self.request, self.fleet, files)?;
        let after = Plans::read(&after, self.goal, None)?;
        let mut found = Vec::new();
        for (index, plan) in self.plans.plans.iter().enumerate() {
            let state = &after.states[index];
            let (is_meant, why) = match self.wave.clusters.iter().find(|it| it.plan == index) {
                Some(it) => {
                    let step = self.step(it);
                    let runs = after.plans[index].from.as_ref() == Some(&step.version);
                    let why = format!(
                        "its files do not make it run {} after the edits{}",
                        it.version,
                        describe_missed(&self.plans.states[index], state, step)
                    );
                    (runs && boots(state, step), why)
                }
                None => {
                    let why = "it is in another wave and would change too".to_owned();
                    (*state == self.plans.states[index], why)
                }
            };
            if !is_meant {
                found.push(format!("{}: {why}", plan.cluster));
            }
        }
        let known = errors(&self.plans.judged);
        found.extend(errors(&after.judged).difference(&known).cloned());
        Ok(found)
    }
}

/// What a cluster has to do with a wave.
enum Planned {
    /// It is in it.
    Member {
        cluster: Arc<str>,
        /// The edits of its values, or why there are none.
        edits: Result<Vec<Fix>, String>,
        moves: Vec<PoolMove>,
        sources: Sources,
    },
    /// It is not: the files that it may read.
    Other(Vec<Arc<str>>),
}

/// Edits of values that clusters of other waves read too, and the layers and files of the cluster that they are for.
struct SharedFixes<'l> {
    cluster: Arc<str>,
    layers: &'l [&'l Path],
    fixes: Vec<Fix>,
    sources: Sources,
}

fn layers(entry: &ClusterEntry) -> impl Iterator<Item = &Path> {
    entry.layers.iter().map(PathBuf::as_path)
}

fn paths(sources: &Sources) -> Vec<Arc<str>> {
    let paths = sources.all().map(|source| Arc::clone(&source.path));
    paths.collect()
}

/// The edits of a wave.
#[derive(Default)]
struct Edits {
    fixes: Vec<Fix>,
    /// The files that they are in, each with its text after them.
    files: Vec<EditedFile>,
    /// Why nothing is written, if anything is against it.
    refused: Vec<String>,
}

impl Edits {
    /// Writes the value of a fix to another values file. Whether that is possible.
    fn write(&mut self, fix: &Fix, layer: &Arc<Source>, engine: Engine) -> bool {
        let mut known = self.files.iter_mut();
        let known = known.rfind(|file| file.source.path == layer.path);
        let text = known.as_ref().map_or(&layer.text, |file| &file.text);
        let Some(text) = own_layer::write_value(fix, text, engine) else {
            return false;
        };
        match known {
            Some(file) => file.text = text,
            None => self.files.push(EditedFile {
                source: Arc::clone(layer),
                text,
            }),
        }
        true
    }

    /// Adds the edits of manifests. What is edited as values too is refused.
    fn join(&mut self, files: Vec<EditedFile>) {
        for file in files {
            let path = &file.source.path;
            if self.files.iter().any(|known| known.source.path == *path) {
                let why = format!("`{path}` holds values and manifests of the wave");
                self.refused.push(why);
            }
            self.files.push(file);
        }
    }
}

/// The first pool that does not boot the image of a step, and why, if that is of another registry than what it boots.
fn describe_missed(before: &[PoolState], after: &[PoolState], step: &PlanStep) -> String {
    let missed = before.iter().zip(after).find_map(|(before, after)| {
        let wanted = step.images.get(&after.name.to_string())?;
        (after.image.as_ref() != Some(wanted)).then_some((before, wanted))
    });
    let Some((before, wanted)) = missed else {
        return String::new();
    };
    let registry = split_registry(wanted).0;
    let is_other = |image: &ImageKey| split_registry(image).0 != registry;
    let why = match registry {
        Some(registry) if before.image.as_ref().is_some_and(is_other) => format!(
            ", which is of `{registry}`: let its selectors take that registry first, by \
             `cluster.os_image_selector_autoselect_registries` or `oci-image-registry-key`"
        ),
        _ => String::new(),
    };
    format!(
        "; node pool `{}` does not boot `{wanted}`{why}",
        before.name
    )
}

/// Whether pools boot the images of a step.
fn boots(pools: &[PoolState], step: &PlanStep) -> bool {
    let is_of_step =
        |pool: &PoolState| pool.image.as_ref() == step.images.get(&pool.name.to_string());
    pools.iter().all(is_of_step)
}
