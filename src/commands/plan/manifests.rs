//! The edits of a wave in plain manifests: what `stamp --rotate --set-version` does once markers and the project file name the images
//! of the plan.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::ImageKey;
use capi::objects::ManifestObject;
use yaml_tree::edit::{Edit, Target, edit};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Source, Spot};

use crate::commands::stamp::plan_stamp;
use crate::decide::plan::PlanStep;
use crate::edit::stamp::{self, Job, Moves, NamedImage, Options};
use crate::edit::texts::{self, EditedFile};
use crate::error::Error;
use crate::model::cluster::ClusterOrigin;
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::pipeline::fleet::Fleet;
use crate::read::{self, Request};

/// Where a pool's manifests name its image, and the images before and after a step.
pub(super) struct PoolMove {
    /// The cluster and the pool, for people.
    pool: String,
    at: Option<Spot>,
    old: ImageKey,
    new: ImageKey,
}

/// The moves of a cluster's pools; none where it is read from values.
pub(super) fn moves(view: &ClusterView, step: &PlanStep) -> Vec<PoolMove> {
    if view.cluster.origin != ClusterOrigin::Manifests {
        return Vec::new();
    }
    let pools = view.pools();
    let moves = pools.filter_map(
        |SelectedPool {
             pool, selection, ..
         }| {
            let old = view.described_image(selection)?;
            Some(PoolMove {
                pool: format!("{}/{}", view.cluster.name, pool.name),
                at: view.sources.resolve(pool.choice.place()),
                old: Arc::clone(&old.key),
                new: Arc::clone(step.images.get(&pool.name.to_string())?),
            })
        },
    );
    moves.collect()
}

/// The files after a wave's moves; `Err` says why nothing is to be written.
///
/// # Errors
/// I/O failed.
pub(super) fn edits(
    request: &Request,
    fleet: &Fleet,
    moves: &[PoolMove],
) -> Result<Result<Vec<EditedFile>, Vec<String>>, Error> {
    let mut job = Job {
        options: Options {
            rotate: true,
            keep: 1,
            set_version: true,
        },
        ..Job::default()
    };
    let on_disk = Fleet::open(read::workspace(request)?, fleet.today)?;
    let before = read::manifests(&on_disk.workspace, request, &[])?;
    let (plan, checked) = plan_stamp(&on_disk, &before, &job, None)?;
    if let Some(file) = plan.files.first() {
        let why = format!(
            "`{}` is not stamped: run `metalmark stamp --rotate` first",
            file.source.path
        );
        return Ok(Err(vec![why]));
    }
    let known = super::errors(&checked.findings);
    job.moves = match locate_moves(&before.objects, moves) {
        Ok(located) => located,
        Err(why) => return Ok(Err(why)),
    };
    let shared = fleet.resolve_shared()?;
    let named = stamp::find_names(
        &before.objects,
        &on_disk.workspace.stamps,
        &shared.images,
        &job.moves,
    );
    let named = match named.and_then(|named| rename_images(&named)) {
        Ok(named) => named,
        Err(why) => return Ok(Err(vec![why])),
    };
    let renamed = texts::read_with(request, &on_disk, &named)?;
    let objects = read::manifests(&renamed.workspace, request, &[])?;
    let (plan, checked) = plan_stamp(&renamed, &objects, &job, None)?;
    let errors = super::errors(&checked.findings);
    let mut refused: BTreeSet<String> = errors.difference(&known).cloned().collect();
    for (object, result) in objects.objects.iter().zip(&plan.results) {
        // Most are findings too, unless their rule is off.
        let is_new = |problem: &&String| !refused.iter().any(|said| said.ends_with(&***problem));
        let problems: Vec<&String> = result.problems.iter().filter(is_new).collect();
        let problems = { problems.iter() }.map(|problem| format!("{}: {problem}", object.title()));
        refused.extend(problems);
    }
    if !refused.is_empty() {
        return Ok(Err(refused.into_iter().collect()));
    }
    let mut files: BTreeMap<Arc<str>, EditedFile> = BTreeMap::new();
    for EditedFile { source, text } in named.into_iter().chain(plan.files) {
        match files.entry(Arc::clone(&source.path)) {
            Entry::Occupied(mut known) => known.get_mut().text = text,
            Entry::Vacant(new) => drop(new.insert(EditedFile { source, text })),
        }
    }
    let files: Vec<EditedFile> = files.into_values().collect();
    let edited = texts::read_with(request, &on_disk, &files)?;
    let after = read::manifests(&edited.workspace, request, &[])?;
    let job = Job {
        options: Options {
            rotate: true,
            ..Options::default()
        },
        ..Job::default()
    };
    let (left, _) = plan_stamp(&edited, &after, &job, None)?;
    Ok(match left.files.first() {
        None => Ok(files),
        Some(file) => Err(vec![format!(
            "`{}` would be stamped otherwise by the next `metalmark stamp`: a marker or `stamps` does not select the images of the plan",
            file.source.path
        )]),
    })
}

/// The objects whose fields name the images; what is in none is named.
fn locate_moves(objects: &[ManifestObject], moves: &[PoolMove]) -> Result<Moves, Vec<String>> {
    let paths = moves
        .iter()
        .filter_map(|it| Some(&*it.at.as_ref()?.source.path));
    let paths: BTreeSet<&str> = paths.collect();
    let mut holders: BTreeMap<(&str, u32), usize> = BTreeMap::new();
    for (index, object) in objects.iter().enumerate() {
        let path = &*object.file().path;
        if !paths.contains(path) {
            continue;
        }
        let spots = object.scalars().into_iter();
        let spots = spots.filter_map(|(_, node)| object.spot(node.place));
        holders.extend(spots.map(|spot| ((path, spot.start), index)));
    }
    let (mut found, mut lost) = (Moves::new(), Vec::new());
    for PoolMove { pool, at, old, new } in moves {
        let holder = at
            .as_ref()
            .and_then(|at| holders.get(&(&*at.source.path, at.start)));
        match (holder, at) {
            (Some(holder), _) => {
                let of_object = found.entry(*holder).or_default();
                of_object.insert(Arc::clone(old), Arc::clone(new));
            }
            (None, Some(at)) => lost.push(format!(
                "{pool}: its image is named at {at}, which no stamp reaches: mark the field of its machine template, or list the object in `stamps`"
            )),
            (None, None) => lost.push(format!("{pool}: no file names its image: select one with a marker or in `stamps`")),
        }
    }
    if lost.is_empty() {
        Ok(found)
    } else {
        Err(lost)
    }
}

/// The files of markers and of entries of the project file, with other images in them.
fn rename_images(named: &[NamedImage]) -> Result<Vec<EditedFile>, String> {
    let mut files: BTreeMap<Arc<str>, (Arc<Source>, Vec<&NamedImage>)> = BTreeMap::new();
    for it in named {
        let file = files.entry(Arc::clone(&it.spot.source.path));
        let file = file.or_insert_with(|| (Arc::clone(&it.spot.source), Vec::new()));
        file.1.push(it);
    }
    let mut texts = Vec::new();
    for (source, mut named) in files.into_values() {
        // From the end, so that places before an edit stay.
        named.sort_by_key(|it| std::cmp::Reverse(it.spot.start));
        let mut text = source.text.clone();
        for it in named {
            text = with_image(&text, it).ok_or_else(|| {
                format!(
                    "{}: `{}` cannot be replaced by `{}`",
                    it.spot, it.name, it.key
                )
            })?;
        }
        texts.push(EditedFile { source, text });
    }
    Ok(texts)
}

/// A text with another image in one marker or entry.
fn with_image(text: &str, NamedImage { spot, name, key }: &NamedImage) -> Option<String> {
    let range = spot.start as usize..spot.end as usize;
    let own = text.get(range.clone())?;
    if own.starts_with('#') {
        let mut text = text.to_owned();
        let at = range.start + own.find(&format!("image={name}"))? + "image=".len();
        text.replace_range(at..at + name.len(), key);
        return Some(text);
    }
    let tree = yaml_tree::values(text, FileId(0), Engine::Kubectl).ok()?;
    let entries = tree.get_path(&["stamps"])?.value.as_list()?;
    let entry = entries
        .iter()
        .find(|entry| entry.place.start == spot.start)?;
    let place = entry.get_path(&["image"])?.place;
    let at = Target::Place(place.start as usize..place.end as usize);
    let value = (&**key).into();
    edit(text, Engine::Kubectl, &[Edit::Set { at, value }]).ok()
}
