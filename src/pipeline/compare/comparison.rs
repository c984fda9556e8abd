//! Compares the clusters of both sides one by one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use capi::providers::Stamp;
use parking_lot::Mutex;

use crate::error::Error;
use crate::model::cluster::{Cluster, ClusterOrigin};
use crate::model::cluster_view::ClusterView;
use crate::model::date::Date;
use crate::model::finding::Finding;
use crate::model::rule::Level;
use crate::pipeline::check;
use crate::pipeline::fleet::Fleet;
use crate::read::{ClusterEntry, Workspace};
use crate::render::Renderer;
use crate::report::impact::{self, ClusterChange, FieldChange, ImpactKind, Owner, Owners, Served};
use crate::rules::{ChangeInput, Side};

use super::delivery::{Delivered, Deliveries};
use super::unread::{Unread, has_failed, texts};
use super::values::{self, ValuesSide};

/// One side of the change.
pub(crate) struct End {
    pub(crate) fleet: Fleet,
    api_version: Option<String>,
}

impl End {
    pub(super) fn new(workspace: Workspace, today: Date) -> Result<Self, Error> {
        let fleet = Fleet::open(workspace, today)?;
        let mut outputs = fleet.workspace.settings.outputs.iter();
        let version = outputs.find_map(|output| output.options.get("api-version")?.as_str());
        Ok(Self {
            api_version: version.map(str::to_owned),
            fleet,
        })
    }

    pub(super) fn renderer(&self) -> Renderer<'_> {
        let workspace = &self.fleet.workspace;
        // `check` and `render` report what is wrong with a template.
        Renderer::new(
            &workspace.settings,
            &workspace.templates,
            None,
            &mut Vec::new(),
        )
    }
}

/// The result for one cluster.
#[derive(Default)]
pub(super) struct Compared {
    pub(super) change: Option<ClusterChange>,
    pub(super) note: Option<String>,
}

impl From<ClusterChange> for Compared {
    fn from(change: ClusterChange) -> Self {
        Self {
            change: Some(change),
            note: None,
        }
    }
}

/// Whether a stamp lacks the format or checksum that another one has, and differs in neither otherwise.
fn is_only_completed(old: Option<&Stamp>, new: &Stamp) -> bool {
    old.is_none_or(|old| {
        let facts = [(&old.format, &new.format), (&old.checksum, &new.checksum)];
        let differing = || facts.into_iter().filter(|(old, new)| old != new);
        differing().next().is_some() && differing().all(|(old, _)| old.is_none())
    })
}

/// What a cluster is that is not read.
const UNREAD: &str = "not read";

/// Compares clusters, and gathers the images that each side serves.
pub(super) struct Comparison<'a> {
    pub(super) before: &'a End,
    pub(super) after: &'a End,
    pub(super) deliveries: Deliveries,
    /// What each side does not read.
    pub(super) unread: &'a (Unread, Unread),
    pub(super) renderers: (Renderer<'a>, Renderer<'a>),
    pub(super) commit: &'a str,
    pub(super) served: Mutex<(Served, Served)>,
    /// What owns machines: of clusters that stay, and of the later side.
    pub(super) owners: Mutex<(Owners, Owners)>,
    /// The clusters of the later side, by name.
    pub(super) entries: BTreeMap<&'a str, &'a ClusterEntry>,
}

impl Comparison<'_> {
    /// A cluster that exists after the change; what its change breaks are findings.
    ///
    /// # Errors
    /// A layer of its values cannot be read.
    pub(super) fn cluster(
        &self,
        old: Option<&ClusterEntry>,
        view: &ClusterView,
        findings: &mut Vec<Finding>,
    ) -> Result<Compared, Error> {
        let stamps = self.renderers.1.stamps(view, &mut Vec::new());
        let after = Side {
            view,
            stamps: &stamps,
            api_version: self.after.api_version.as_deref(),
        };
        self.serve(None, Some(view));
        let name = &view.cluster.name;
        self.owners.lock().1.extend(owners(&view.cluster, name));
        let before = old.map(|entry| self.before.fleet.view(entry));
        let old_view = match before {
            Some(Ok(old_view)) => old_view,
            None if !self.unread.0.has_source_of(view) => {
                if let Some(why) = view.cluster.unbuilt(None) {
                    let change = FieldChange {
                        from: None,
                        ..FieldChange::from_files(None, Some(why))
                    };
                    return Ok(Compared::from(impact::cluster_change(
                        &view.cluster.name,
                        change,
                    )));
                }
                return Ok(Compared::from(impact::whole(&after, ImpactKind::Added)));
            }
            unread => {
                let error = unread.and_then(Result::err);
                let name = &view.cluster.name;
                return Ok(Compared {
                    note: error.map(|error| {
                        let error = first_line(&error);
                        format!("`{name}` cannot be read as it was: {error}")
                    }),
                    ..Compared::from(impact::cluster_change(
                        name,
                        FieldChange::not_known("files", UNREAD, "known"),
                    ))
                });
            }
        };
        self.serve(Some(&old_view), None);
        let mut old_stamps = self.renderers.0.stamps(&old_view, &mut Vec::new());
        self.add_learned_facts((&old_view, &mut old_stamps), (view, &stamps));
        let before = Side {
            view: &old_view,
            stamps: &old_stamps,
            api_version: self.before.api_version.as_deref(),
        };
        let input = ChangeInput {
            before,
            after,
            revision: self.commit.get(..10).unwrap_or(self.commit),
        };
        let is_in_place = self.has_own_templates() && {
            let old = self.renderers.0.cluster(&old_view, &mut Vec::new());
            let new = self.renderers.1.cluster(view, &mut Vec::new());
            impact::keeps_names(&old, &new)
        };
        let is_of_values = view.cluster.origin == ClusterOrigin::Values;
        let entries = old.zip(self.entries.get(&*view.cluster.name));
        let mut fields = match entries.filter(|_| is_of_values) {
            Some((old, new)) => {
                let before = ValuesSide {
                    workspace: &self.before.fleet.workspace,
                    entry: old,
                    view: &old_view,
                    stamps: &old_stamps,
                };
                let after = ValuesSide {
                    workspace: &self.after.fleet.workspace,
                    entry: new,
                    view,
                    stamps: &stamps,
                };
                values::changes(&before, &after)?
            }
            None => Vec::new(),
        };
        let (mut kept, mut forced) = (BTreeMap::new(), BTreeMap::new());
        if let Some((old, new)) = entries {
            let was = Delivered {
                entry: old,
                view: &old_view,
            };
            let is = Delivered { entry: new, view };
            let delivery = self.deliveries.compare(was, is)?;
            if delivery.is_deleted {
                return Ok(Compared::from(impact::whole(
                    &input.before,
                    ImpactKind::Removed,
                )));
            }
            fields.extend(delivery.changes);
            (kept, forced) = (delivery.kept, delivery.forced);
        }
        let sides = [&old_view, view];
        if sides.iter().any(|view| has_failed(view)) && texts(&old_view) != texts(view) {
            let [from, to] = sides.map(|view| if has_failed(view) { UNREAD } else { "known" });
            let why = FieldChange::not_known("files", from, to);
            if sides.iter().any(|view| view.cluster.pools.is_empty()) {
                let name = &view.cluster.name;
                return Ok(Compared::from(impact::cluster_change(name, why)));
            }
            fields.push(why);
        }
        let mut change = impact::cluster(&input, is_in_place, fields, &kept);
        let pools = change.iter_mut().flat_map(|change| &mut change.pools);
        pools.for_each(|pool| pool.doubt_forced(&forced));
        let is_same = change
            .as_ref()
            .is_none_or(|change| change.change != ImpactKind::Replaced);
        if is_same {
            self.owners.lock().0.extend(owners(&old_view.cluster, name));
        }
        let is_built = sides
            .iter()
            .all(|view| view.cluster.unbuilt(None).is_none());
        if is_same && is_built {
            let settings = &self.after.fleet.workspace.settings;
            findings.extend(check::change(&input, settings));
        }
        Ok(Compared { change, note: None })
    }

    /// Gives the earlier side what only the later one knows of an image that is the same. Without it, an error kept the earlier side
    /// from being rendered, so that no machine was made of what it lacks.
    fn add_learned_facts(
        &self,
        (before, old): (&ClusterView, &mut [Option<Stamp>]),
        (after, new): (&ClusterView, &[Option<Stamp>]),
    ) {
        let mut later = BTreeMap::new();
        for (it, stamp) in after.pools().zip(new) {
            later.insert(&it.pool.name, (after.selected_image(it.selection), stamp));
        }
        let learned = before.pools().zip(old).filter_map(|(it, old)| {
            let (image, new) = later.get(&it.pool.name)?;
            let (image, was) = ((*image)?, before.selected_image(it.selection)?);
            let is_same = image.key == was.key
                && image.uri.as_ref().map(|uri| &uri.value)
                    == was.uri.as_ref().map(|uri| &uri.value);
            (is_same && is_only_completed(old.as_ref(), new.as_ref()?)).then_some((old, *new))
        });
        let learned: Vec<_> = learned.collect();
        let fleet = &self.before.fleet;
        let has_error = || {
            let checked = check::cluster(before, &fleet.workspace.settings, fleet.today);
            let mut found = checked.findings.iter();
            found.any(|judged| judged.level == Level::Error)
        };
        if !learned.is_empty() && has_error() {
            learned
                .into_iter()
                .for_each(|(old, new)| old.clone_from(new));
        }
    }

    /// A cluster that is gone.
    pub(super) fn removal(&self, entry: &ClusterEntry) -> Compared {
        match self.before.fleet.view(entry) {
            Ok(view) => {
                self.serve(Some(&view), None);
                if let Some(change) = self.absence(entry, &view) {
                    let owners = owners(&view.cluster, &entry.name);
                    self.owners.lock().0.extend(owners);
                    return Compared::from(impact::cluster_change(&entry.name, change));
                }
                let stamps = self.renderers.0.stamps(&view, &mut Vec::new());
                let side = Side {
                    view: &view,
                    stamps: &stamps,
                    api_version: self.before.api_version.as_deref(),
                };
                Compared::from(impact::whole(&side, ImpactKind::Removed))
            }
            Err(error) => {
                let name = &entry.name;
                let error = first_line(&error);
                Compared {
                    note: Some(format!(
                        "`{name}` is gone, and cannot be read as it was: {error}"
                    )),
                    ..Compared::from(impact::cluster_change(
                        name,
                        FieldChange::not_known("files", UNREAD, "gone"),
                    ))
                }
            }
        }
    }

    /// Why nobody knows whether a cluster is gone that is not there any more.
    fn absence(&self, entry: &ClusterEntry, view: &ClusterView) -> Option<FieldChange> {
        if self.unread.1.has_source_of(view) {
            return Some(FieldChange::not_known("files", "known", UNREAD));
        }
        if let Some(why) = view.cluster.unbuilt(None) {
            return Some(FieldChange {
                to: None,
                ..FieldChange::from_files(Some(why), None)
            });
        }
        // What is rendered of it goes; without that, whatever reads its files still does.
        let (before, after) = (&self.before.fleet.workspace, &self.after.fleet.workspace);
        let objects = view.cluster.objects.iter().map(|one| &one.object);
        let mut files = objects.map(|object| PathBuf::from(&*object.file().path));
        let is_selected = |path: &PathBuf| {
            let mut selected = after.manifests.iter();
            selected.any(|named| path.starts_with(self.deliveries.after.path(named)))
        };
        let is_left = match entry.layers.last() {
            Some(layer) => before.settings.outputs.is_empty() && after.files.is_there(layer),
            None => !after.manifests.is_empty() && !files.any(|path| is_selected(&path)),
        };
        if is_left {
            let why = "not named by the project";
            return Some(FieldChange::not_known("files", "known", why));
        }
        let mut objects = view.cluster.objects.iter();
        objects.find_map(|one| self.deliveries.find_keeper(&one.object))
    }

    fn serve(&self, before: Option<&ClusterView>, after: Option<&ClusterView>) {
        let mut served = self.served.lock();
        if let Some(view) = before {
            impact::add_served(view, &mut served.0);
        }
        if let Some(view) = after {
            impact::add_served(view, &mut served.1);
        }
    }

    /// Whether the names of machine templates may be other than ours, which end in a hash of their content.
    fn has_own_templates(&self) -> bool {
        let mut sides = [self.before, self.after].into_iter();
        sides.any(|end| {
            let mut names = end.fleet.workspace.templates.keys();
            names.any(|name| name.starts_with("manifests/"))
        })
    }
}

/// What owns machines of a cluster that has this name in the project.
fn owners(cluster: &Cluster, name: &Arc<str>) -> Owners {
    let owners = Owner::all(cluster).map(|owner| (owner, Arc::clone(name)));
    owners.collect()
}

fn first_line(error: &Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}
