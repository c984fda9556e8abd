//! The edits of the values that bring version and catalog to what a new builder version offers.

mod entries;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use yaml_tree::NoticeKind;
use yaml_tree::edit::{Edit, Target};
use yaml_tree::place::{FileId, Source, Spot};

use crate::catalog::offers::{Builder, Caller, Drift, Offer, drift};
use crate::edit::texts::EditedFile;
use crate::error::Error;
use crate::model::catalog::ReadCatalog;
use crate::model::fix::Fix;
use crate::pipeline::fleet::Fleet;
use crate::read::Workspace;

use super::fix;

use entries::{find_entry, insert};

/// The version that an update moves a builder's images to.
#[derive(Clone)]
pub(crate) struct UpdateTarget {
    /// The builder, with the version in the values.
    pub(crate) builder: Builder,
    /// The version that they move to.
    pub(crate) to: String,
    /// The version that they come from, if it is known.
    pub(crate) from: Option<String>,
}

impl UpdateTarget {
    /// Whether the values name the version already, so that they do not show the previous one.
    pub(crate) fn is_raised(&self) -> bool {
        self.builder.version.as_deref() == Some(&*self.to)
    }

    /// The builder after it.
    pub(crate) fn to_builder(&self) -> Builder {
        Builder {
            version: Some(self.to.as_str().into()),
            ..self.builder.clone()
        }
    }
}

/// What an update does to the files.
pub(crate) struct Update {
    /// What it does to the catalog.
    pub(crate) drift: Drift,
    /// Where the version is written that is raised, or that was raised before.
    pub(crate) versions: Vec<Spot>,
    /// The entries with a key that an expression makes, each with its key and place. They are not edited.
    pub(crate) computed: Vec<(String, Spot)>,
    /// The files that change, each with its new text.
    pub(crate) files: Vec<EditedFile>,
}

impl Update {
    /// Whether it adds an entry of one of these keys.
    pub(crate) fn adds(&self, keys: &BTreeSet<String>) -> bool {
        let mut added = self.drift.added.iter();
        added.any(|added| keys.contains(&added.name.replace('.', "-")))
    }
}

/// The edits that are needed, made in memory. `untouched` are images that entries named by expressions will be, besides
/// those that they are now.
pub(crate) fn change(
    fleet: &Fleet,
    catalogs: &[ReadCatalog],
    target: &UpdateTarget,
    offer: &Offer,
    untouched: &BTreeSet<String>,
    caller: Caller,
) -> Result<Update, Error> {
    let workspace = &fleet.workspace;
    let Listed {
        entries,
        computed,
        others,
    } = list_entries(catalogs, &target.builder);
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in &entries {
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    let mut untouched = untouched.clone();
    untouched.extend(computed.iter().map(|(key, _)| key.clone()));
    untouched.extend(others);
    let drift = drift(&names, &untouched, offer);
    if let Some((name, word)) = drift
        .list_gone()
        .find_map(|name| Some((name, offer.find_doubt(name)?)))
    {
        return Err(Error::usage(format!(
            "the release names `{word}`, and not whether that is an image of version `{}`; without it, `{name}` would be removed\n\
             help: {}",
            target.to,
            caller.repair()
        )));
    }
    let mut files = Files::default();
    let spots = version_spots(catalogs, &target.builder);
    if let Some(from) = &target.builder.version
        && spots.is_empty()
        && !target.is_raised()
    {
        return Err(Error::usage(format!(
            "no value is `{from}` literally, the version of {}\n\
             help: raise it where the values compute it, then run `metalmark update` without a version",
            target.builder.name()
        )));
    }
    for spot in spots.iter().filter(|_| !target.is_raised()) {
        let value = target.to.as_str().into();
        let at = place(spot);
        files.add(&spot.source, Edit::Set { at, value });
    }
    for (name, spot) in &entries {
        if let Some((_, new)) = drift.renamed.iter().find(|(old, _)| **old == **name) {
            refuse_twice(workspace, name, spot)?;
            let (at, key) = (place(spot), new.clone());
            files.add(&spot.source, Edit::Rename { at, key });
        } else if drift.removed.iter().any(|old| **old == **name) {
            refuse_twice(workspace, name, spot)?;
            match find_entry(workspace, &spot.source, name) {
                Ok((list, _)) => {
                    let at = Target::keys(&[list, name]);
                    files.remove(&spot.source, Edit::Remove { at });
                }
                Err(_) => files.add(&spot.source, Edit::Remove { at: place(spot) }),
            }
        }
    }
    for added in &drift.added {
        let (source, edit) = insert(workspace, &entries, catalogs, added)?;
        files.add(&source, edit);
    }
    let files = files.into_edited_files(workspace)?;
    Ok(Update {
        drift,
        versions: spots,
        computed,
        files,
    })
}

/// Refuses an entry that its list has twice: the edit of one of the two would leave the other.
fn refuse_twice(workspace: &Workspace, name: &str, spot: &Spot) -> Result<(), Error> {
    let read = yaml_tree::read(&spot.source.text, FileId(0), workspace.engine);
    let notices = read.map(|read| read.notices).unwrap_or_default();
    let first = notices.iter().find_map(|notice| match notice.kind {
        NoticeKind::DuplicateKey { first, .. } if notice.place.start == spot.start => Some(first),
        _ => None,
    });
    let Some(first) = first else {
        return Ok(());
    };
    let first = Spot::new(&spot.source, first);
    Err(Error::usage(format!(
        "{spot}: `{name}` occurs twice, first at {first}, so it is not updated\n\
         help: remove one of the two"
    )))
}

/// The builder's entries of the version that is updated.
struct Listed {
    /// Those that a file names, in the order of the files.
    entries: Vec<(Arc<str>, Spot)>,
    /// The keys of those that an expression or a secret names, which are not edited.
    computed: Vec<(String, Spot)>,
    /// The keys of other builders' entries.
    others: BTreeSet<String>,
}

fn list_entries(catalogs: &[ReadCatalog], builder: &Builder) -> Listed {
    let mut listed = Listed {
        entries: Vec::new(),
        computed: Vec::new(),
        others: BTreeSet::new(),
    };
    for ReadCatalog { catalog, sources } in catalogs {
        for entry in &catalog.entries {
            if entry.built && builder.is_elsewhere(catalog, entry) {
                continue;
            }
            if !entry.built || !builder.is_of(catalog, entry) {
                listed.others.insert(entry.name.value.replace('.', "-"));
                continue;
            }
            let Some(spot) = sources.resolve(entry.name.place) else {
                continue;
            };
            let name = &entry.name.value;
            if Fix::replace(Some(spot.clone()), name, "", "").is_none() {
                let computed = (name.replace('.', "-"), spot);
                if !listed.computed.contains(&computed) {
                    listed.computed.push(computed);
                }
            } else if listed.entries.iter().all(|(_, known)| *known != spot) {
                listed.entries.push((Arc::clone(name), spot));
            }
        }
    }
    listed
}

/// The keys of the entries that expressions name.
pub(crate) fn expression_keys(catalogs: &[ReadCatalog], builder: &Builder) -> BTreeSet<String> {
    let computed = list_entries(catalogs, builder).computed.into_iter();
    computed.map(|(key, _)| key).collect()
}

/// Where a builder's version is written.
fn version_spots(catalogs: &[ReadCatalog], builder: &Builder) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    for ReadCatalog { catalog, sources } in catalogs {
        for found in builder.versions(catalog) {
            let fix = Fix::replace(sources.resolve(found.place), &found.value, "", "");
            if let Some(fix) = fix.filter(|fix| !spots.contains(&fix.spot)) {
                spots.push(fix.spot);
            }
        }
    }
    spots
}

fn place(spot: &Spot) -> Target {
    Target::Place(spot.start as usize..spot.end as usize)
}

/// Edits by file.
#[derive(Default)]
struct Files(BTreeMap<Arc<str>, FileEdits>);

/// The edits of one file. Entries are removed last, for a new entry may be written behind one that goes.
struct FileEdits {
    source: Arc<Source>,
    edits: Vec<Edit>,
    removals: Vec<Edit>,
}

impl Files {
    fn file_edits(&mut self, source: &Arc<Source>) -> &mut FileEdits {
        let file = self.0.entry(Arc::clone(&source.path));
        file.or_insert_with(|| FileEdits {
            source: Arc::clone(source),
            edits: Vec::new(),
            removals: Vec::new(),
        })
    }

    fn add(&mut self, source: &Arc<Source>, edit: Edit) {
        self.file_edits(source).edits.push(edit);
    }

    fn remove(&mut self, source: &Arc<Source>, edit: Edit) {
        self.file_edits(source).removals.push(edit);
    }

    /// The files' new texts.
    fn into_edited_files(self, workspace: &Workspace) -> Result<Vec<EditedFile>, Error> {
        let mut files = Vec::new();
        for file in self.0.into_values() {
            let engine = workspace.engine;
            let text = fix::apply_edits(&file.source.text, engine, &file.edits)
                .and_then(|text| fix::apply_edits(&text, engine, &file.removals))
                .map_err(|why| {
                    Error::usage(format!("`{}` cannot be edited: {why}", file.source.path))
                })?;
            files.push(EditedFile {
                source: file.source,
                text,
            });
        }
        Ok(files)
    }
}
