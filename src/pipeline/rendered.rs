//! Renders into memory: for one stream on stdout, for Argo CD, or for the next KRM function.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::{Image, ImageKey};
use capi::schema::Schemas;
use yaml_tree::place::Source;

use crate::error::Error;
use crate::model::cluster_view::ClusterView;
use crate::model::date::Date;
use crate::model::finding::Finding;
use crate::model::manifest::{FileKind, ManifestFile};
use crate::model::ownership;
use crate::model::part::Part;
use crate::model::served_images::{ServedImage, ServedImages};
use crate::model::settings::Settings;
use crate::pipeline::check::{self, Checked};
use crate::read::{ClusterEntry, Workspace};
use crate::render::{self, FileObjects, Home, Renderer};

use super::fleet::{Fleet, FleetCheck};
use super::{Terminal, Verdict};
use crate::report::{Format, print_findings};

/// What of a workspace is rendered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RenderedPart<'a> {
    /// Every cluster, and what they share.
    Whole,
    /// What the clusters share.
    Shared,
    /// One cluster, without what it shares with others. No other cluster's files are read.
    Cluster(&'a ClusterEntry),
}

/// What was rendered, and what was found on the way.
pub(crate) struct Rendered {
    /// The files: clusters in order, then what they share. None while there is an error.
    pub(crate) files: Vec<ManifestFile>,
    /// The result of the clusters.
    pub(crate) fleet_check: FleetCheck<()>,
    /// How many clusters were looked at.
    pub(crate) clusters: usize,
    /// The workspace, without its templates and schemas.
    pub(crate) workspace: Workspace,
}

/// What is rendered with, taken out of the workspace so that what is wrong in it can join the workspace's findings.
pub(crate) struct Material {
    settings: Settings,
    templates: BTreeMap<String, Arc<Source>>,
    schemas: Schemas,
}

impl Material {
    /// The workspace's settings, and the user's templates and schemas, which it holds no more.
    pub(crate) fn take(workspace: &mut Workspace) -> Self {
        Self {
            settings: workspace.settings.clone(),
            templates: std::mem::take(&mut workspace.templates),
            schemas: Schemas::builtin(workspace.schemas.take()),
        }
    }

    /// The renderer; what is wrong with the templates joins the workspace's findings.
    pub(crate) fn renderer(&self, workspace: &mut Workspace) -> Renderer<'_> {
        let (templates, schemas) = (&self.templates, Some(&self.schemas));
        Renderer::new(&self.settings, templates, schemas, &mut workspace.findings)
    }
}

/// Renders a part of the fleet.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn render(mut fleet: Fleet, part: RenderedPart<'_>) -> Result<Rendered, Error> {
    let material = Material::take(&mut fleet.workspace);
    let renderer = material.renderer(&mut fleet.workspace);
    let scope = RenderScope::new(&fleet, &renderer)?;
    let RenderedFleet {
        mut fleet_check,
        shared,
        ..
    } = scope.render(&fleet, &renderer, part, |_, files| Ok(files))?;
    let files = if fleet_check.has_errors() {
        Vec::new()
    } else {
        let files = std::mem::take(&mut fleet_check.results).into_iter();
        files.flatten().chain(shared).collect()
    };
    let clusters = match part {
        RenderedPart::Cluster(_) => 1,
        RenderedPart::Whole | RenderedPart::Shared => fleet.workspace.entries().count(),
    };
    Ok(Rendered {
        files,
        fleet_check: fleet_check.drop_results(),
        clusters,
        workspace: fleet.workspace,
    })
}

/// What of the fleet a run renders: all, with the files that clusters share, or the clusters that are named.
pub(crate) struct RenderScope {
    pub(crate) part: Part,
    today: Date,
    /// The management cluster of each cluster that names one or is one.
    managements: BTreeMap<Arc<str>, Arc<str>>,
    /// The layers that all clusters share, where files that all clusters share are made of their images.
    shared: Option<ClusterView>,
}

impl RenderScope {
    /// The scope that the options select.
    ///
    /// # Errors
    /// A source of facts cannot be read.
    pub(crate) fn new(fleet: &Fleet, renderer: &Renderer<'_>) -> Result<Self, Error> {
        let (workspace, today) = (&fleet.workspace, fleet.today);
        let part = workspace.part.clone();
        let mut managements = BTreeMap::new();
        for entry in &workspace.clusters {
            if let Some(management) = &entry.management {
                managements.insert(Arc::clone(&entry.name), Arc::clone(management));
                let own = || Arc::clone(management);
                managements
                    .entry(Arc::clone(management))
                    .or_insert_with(own);
            }
        }
        Ok(Self {
            part,
            today,
            managements,
            shared: if renderer.has_shared() {
                Some(fleet.resolve_shared()?)
            } else {
                None
            },
        })
    }

    /// Whether the shared files are its part.
    pub(crate) fn shares(&self) -> bool {
        self.part.has_shared()
    }

    /// Renders a part of the fleet with all that is found on the way; `keep` takes the files of a cluster.
    ///
    /// # Errors
    /// A file cannot be read, or `keep` fails.
    pub(crate) fn render<T: Send>(
        &self,
        fleet: &Fleet,
        renderer: &Renderer<'_>,
        part: RenderedPart<'_>,
        keep: impl Fn(&ClusterView, Vec<ManifestFile>) -> Result<T, Error> + Sync,
    ) -> Result<RenderedFleet<T>, Error> {
        let make = |view: &ClusterView, checked: &Checked, findings: &mut Vec<Finding>| {
            let mut made = match part {
                RenderedPart::Shared => self.serve(view),
                RenderedPart::Whole | RenderedPart::Cluster(_) => {
                    self.cluster(&fleet.workspace, renderer, view, checked, findings)
                }
            };
            let files = std::mem::take(&mut made.files);
            Ok((made, keep(view, files)?))
        };
        let (made, mut fleet_check) = match part {
            RenderedPart::Cluster(entry) => fleet.check_one(entry, make)?,
            RenderedPart::Whole | RenderedPart::Shared => fleet.check(make)?,
        }
        .split();
        let (mut objects, mut served) = (Vec::new(), Vec::new());
        for mut made in made {
            objects.append(&mut made.objects);
            served.extend(self.images(&mut made));
        }
        compare(&objects, &[], fleet, &mut fleet_check);
        if matches!(part, RenderedPart::Whole) {
            fleet_check.require_pools(fleet);
        }
        // While there is an error, not all that they are made of is known.
        let shares = self.shares() && !matches!(part, RenderedPart::Cluster(_));
        let mut shared = if shares && !fleet_check.has_errors() {
            render_shared(fleet, renderer, served, &mut fleet_check)
        } else {
            Vec::new()
        };
        let of_all = render::objects(&mut shared, None);
        if !of_all.is_empty() {
            compare(&objects, &of_all, fleet, &mut fleet_check);
        }
        objects.extend(of_all);
        Ok(RenderedFleet {
            fleet_check,
            shared,
            objects,
        })
    }

    /// The files of a cluster, where they are its part. A cluster with an error has none.
    fn cluster(
        &self,
        workspace: &Workspace,
        renderer: &Renderer<'_>,
        view: &ClusterView,
        checked: &Checked,
        findings: &mut Vec<Finding>,
    ) -> Made {
        let name = &view.cluster.name;
        let mut made = self.serve(view);
        if checked.has_errors() || !self.part.holds(name) {
            return made;
        }
        let mut found = Vec::new();
        made.files = renderer.cluster(view, &mut found);
        if check::findings(found.clone(), &workspace.settings, self.today).has_errors() {
            made.files.clear();
        }
        findings.append(&mut found);
        made.objects = render::objects(&mut made.files, Some(&self.home(view)));
        made
    }

    /// A cluster without files: what it is served, for the files that all clusters share.
    fn serve(&self, view: &ClusterView) -> Made {
        let mut images = ClusterImages::default();
        if let Some(shared) = &self.shared {
            let served = view.served.iter();
            for image in served.filter_map(|key| view.images.get(key)) {
                if shared.images.get(&image.key) == Some(image) {
                    images.shared.push(Arc::clone(&image.key))
                } else {
                    images.own.push(serve_image(image, view))
                }
            }
        }
        Made {
            cluster: Arc::clone(&view.cluster.name),
            images,
            ..Made::default()
        }
    }

    /// The images that a cluster is served, taken out of what was rendered for it.
    fn images(&self, made: &mut Made) -> Vec<ServedImage> {
        let ClusterImages { shared, own } = std::mem::take(&mut made.images);
        let Some(view) = &self.shared else { return own };
        let shared = shared.iter().filter_map(|key| view.images.get(key));
        let shared = shared.map(|image| ServedImage {
            cluster: Arc::clone(&made.cluster),
            ..serve_image(image, view)
        });
        shared.chain(own).collect()
    }

    fn home(&self, view: &ClusterView) -> Arc<Home> {
        let cluster = &view.cluster;
        Arc::new(Home {
            cluster: Arc::clone(&cluster.name),
            object: (
                Arc::clone(&cluster.namespace),
                Arc::clone(&cluster.object_name),
            ),
            management: self.managements.get(&cluster.name).cloned(),
        })
    }
}

/// What was rendered for a fleet.
pub(crate) struct RenderedFleet<T> {
    /// The check, with what the caller keeps of each cluster.
    pub(crate) fleet_check: FleetCheck<T>,
    /// The files that clusters share.
    pub(crate) shared: Vec<ManifestFile>,
    /// The objects in all files.
    pub(crate) objects: Vec<FileObjects>,
}

/// What was rendered for a cluster.
#[derive(Default)]
struct Made {
    /// The project's name of the cluster.
    cluster: Arc<str>,
    /// The images that it is served, where all clusters share files.
    images: ClusterImages,
    /// Its files; none where it has an error.
    files: Vec<ManifestFile>,
    /// The objects in them.
    objects: Vec<FileObjects>,
}

/// The images that a cluster is served. Those of the catalog that clusters share are named only, so that thousands of clusters
/// keep no copies.
#[derive(Default)]
struct ClusterImages {
    shared: Vec<ImageKey>,
    own: Vec<ServedImage>,
}

fn serve_image(image: &Image, view: &ClusterView) -> ServedImage {
    ServedImage {
        image: image.clone(),
        cluster: Arc::clone(&view.cluster.name),
        spot: view.sources.resolve(image.place),
    }
}

/// Compares the objects of all clusters: one that two of them render is an error of both.
fn compare<T>(
    clusters: &[FileObjects],
    shared: &[FileObjects],
    fleet: &Fleet,
    fleet_check: &mut FleetCheck<T>,
) {
    let found = render::duplicates(clusters, shared, &fleet.workspace.settings);
    let errors = fleet_check.errors();
    fleet_check.add(found.findings, fleet);
    if fleet_check.errors() > errors {
        fleet_check.faulty.extend(found.clusters);
    }
}

/// What all clusters share. `served` are the images of all clusters, in their order.
fn render_shared<T>(
    fleet: &Fleet,
    renderer: &Renderer<'_>,
    served: Vec<ServedImage>,
    fleet_check: &mut FleetCheck<T>,
) -> Vec<ManifestFile> {
    let mut found = Vec::new();
    let files = renderer.render_shared(&ServedImages::new(served), &mut found);
    fleet_check.add(found, fleet);
    files
}

/// A GitOps engine that prunes would delete everything.
pub(crate) const EMPTY: &str = "the render yields no file, and a GitOps engine that prunes would delete everything\n\
     help: check `clusters`, or type --allow-empty if that is what you want";

impl Rendered {
    /// Writes findings to stderr.
    pub(crate) fn report(&self, format: Format, terminal: &mut Terminal) -> Result<Verdict, Error> {
        if !self.fleet_check.judged.is_empty() {
            print_findings(
                &mut terminal.err,
                &self.fleet_check.judged,
                self.clusters,
                format,
            )?;
        }
        Ok(self.fleet_check.verdict())
    }

    /// Writes the objects as one YAML stream, each file below its path as a comment, without its first line: a stream is nobody's file. What a tool reads to make objects, such as
    /// values, is in the stream only where there is nothing else, for `kubectl apply` takes no other documents.
    pub(crate) fn print(&self, terminal: &mut Terminal) -> Result<(), Error> {
        let is_applied = |file: &&ManifestFile| file.kind == FileKind::Objects;
        let has_objects = self.files.iter().any(|file| is_applied(&file));
        let printed = self.files.iter();
        for file in printed.filter(|file| !has_objects || is_applied(file)) {
            let text = ownership::body(&file.text);
            let text = text.strip_prefix("---\n").unwrap_or(text);
            let text = format!("---\n# {}\n{text}", file.path);
            terminal.out.product(text.as_bytes())?;
        }
        Ok(())
    }
}
