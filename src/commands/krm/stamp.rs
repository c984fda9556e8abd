//! The transformer and the validator: the image fields of machine templates, held against what their images say.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::check;
use crate::commands::fleet::{self, Tools};
use crate::error::Error;
use crate::model::engine::Engine;
use crate::model::finding::{Finding, Judged};
use crate::model::policy::Date;
use crate::model::suggest::did_you_mean;
use crate::model::value::{Map, Node};
use crate::model::workspace::ClusterView;
use crate::providers::{PROVIDERS, Provider, Stamp};
use crate::read::{self, Request, Workspace};
use crate::render::Renderer;
use crate::yaml::edit::{Edit, Position, edit};

use super::config::{Config, IMAGE_ANNOTATION};
use super::findings;
use super::list::{List, below_item};
use super::result::{Field, FunctionResult, ItemReference, Outcome, Severity};

/// The label by which Cluster API's tools find a cluster's objects.
const CLUSTER_LABEL: &str = "cluster.x-k8s.io/cluster-name";
/// Where a machine template holds its image.
const IMAGE: [&str; 4] = ["spec", "template", "spec", "image"];

/// Stamps the items; as they came where an error stands.
pub(super) fn transform(
    request: &Request,
    config: &Config,
    list: &List<'_>,
    today: Date,
) -> Result<Outcome, Error> {
    let (stamped, _) = stamped(request, config, list, today)?;
    let Stamped { edits, results } = stamped;
    if results
        .iter()
        .any(|result| result.severity == Severity::Error)
    {
        return Ok(super::unchanged(list, results));
    }
    match edit(list.text, Engine::Kubectl, &edits) {
        Ok(text) => Ok(Outcome {
            text,
            has_results: list.has_results,
            results,
        }),
        Err(error) => {
            let message = format!("the machine templates cannot be stamped: {error}");
            let fault = FunctionResult::new(Severity::Error, message);
            Ok(super::unchanged(list, vec![fault]))
        }
    }
}

/// Says what the transformer would change, as errors, and what the rules say of the whole project. The items stay as they are.
pub(super) fn validate(
    request: &Request,
    config: &Config,
    list: &List<'_>,
    today: Date,
) -> Result<Outcome, Error> {
    let (stamped, mut workspace) = stamped(request, config, list, today)?;
    let tools = fleet::tools(&mut workspace, today)?;
    let survey = fleet::survey(&workspace, &tools, |_, _| Ok(((), Vec::new())))?;
    let mut results = findings::results(&survey.judged);
    let of_items = stamped
        .results
        .into_iter()
        .filter(|result| result.item.is_some());
    results.extend(of_items.map(as_fault));
    Ok(super::unchanged(list, results))
}

/// A change that the transformer would make, as the validator tells it.
fn as_fault(result: FunctionResult) -> FunctionResult {
    let Some(field) = result
        .field
        .as_ref()
        .filter(|_| result.severity == Severity::Info)
    else {
        return result;
    };
    FunctionResult {
        message: format!("`{}` is not what the project says", field.path),
        severity: Severity::Error,
        ..result
    }
}

/// What stamping comes to.
#[derive(Default)]
struct Stamped {
    edits: Vec<Edit>,
    results: Vec<FunctionResult>,
}

fn stamped(
    request: &Request,
    config: &Config,
    list: &List<'_>,
    today: Date,
) -> Result<(Stamped, Workspace), Error> {
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, today)?;
    let (settings, templates) = (workspace.settings.clone(), BTreeMap::new());
    let mut found = workspace.findings.clone();
    let renderer = Renderer::new(&settings, &templates, None, &mut |finding| {
        found.push(finding)
    });
    let mut stamped = Stamped::default();
    let checked = check::findings(found, &settings, today);
    stamped.results = findings::results(&checked.findings);
    let mut project = Project {
        workspace: &workspace,
        tools: &tools,
        renderer: &renderer,
        config,
        clusters: BTreeMap::new(),
        shared: None,
    };
    for (index, item) in list.items.iter().enumerate() {
        if let Some((provider, version)) = provider(item) {
            one(
                &mut project,
                item,
                index,
                (provider, &version),
                &mut stamped,
            )?;
        }
    }
    for (_, cluster) in project.clusters {
        stamped.results.extend(findings::results(&cluster.judged));
    }
    Ok((stamped, workspace))
}

/// Whose machine template an item is, and in which API version.
fn provider(item: &Node) -> Option<(&'static dyn Provider, String)> {
    let identity = ItemReference::of(item);
    let (group, version) = identity.api_version.split_once('/')?;
    let mut providers = PROVIDERS.iter().copied();
    let provider =
        providers.find(|known| known.kind() == identity.kind && known.group() == group)?;
    Some((provider, version.to_owned()))
}

/// The project as far as items asked for it.
struct Project<'a> {
    workspace: &'a Workspace,
    tools: &'a Tools,
    renderer: &'a Renderer<'a>,
    config: &'a Config,
    /// The clusters that items belong to, by name.
    clusters: BTreeMap<Arc<str>, Cluster>,
    /// What the shared layers alone hold.
    shared: Option<ClusterView>,
}

/// A cluster with its stamps.
struct Cluster {
    view: ClusterView,
    stamps: Vec<Option<Stamp>>,
    judged: Vec<Judged>,
    has_errors: bool,
}

/// What an item gets.
enum Choice {
    Stamp(Stamp),
    /// Its cluster has errors, which are told as such.
    Faulty,
    Refused(FunctionResult),
}

fn one(
    project: &mut Project<'_>,
    item: &Node,
    index: usize,
    (provider, version): (&dyn Provider, &str),
    stamped: &mut Stamped,
) -> Result<(), Error> {
    let about = |mut result: FunctionResult| {
        result.item = Some(ItemReference::of(item));
        result.file = file(item);
        result
    };
    if !provider.versions().contains(&version) {
        let known = provider.versions().join(", ");
        let message = format!("{} is known in {known}, not in {version}", provider.kind());
        let fault = FunctionResult::new(Severity::Error, message);
        stamped.results.push(about(fault));
        return Ok(());
    }
    let stamp = match project.choice(item)? {
        Choice::Stamp(stamp) => stamp,
        Choice::Faulty => return Ok(()),
        Choice::Refused(result) => {
            stamped.results.push(about(result));
            return Ok(());
        }
    };
    let problems = problems(&stamp, provider, version);
    if !problems.is_empty() {
        let faults = problems.into_iter();
        let faults = faults.map(|problem| about(FunctionResult::new(Severity::Error, problem)));
        stamped.results.extend(faults);
        return Ok(());
    }
    let key = stamp.key.as_deref().unwrap_or(&stamp.url);
    for change in changes(item, index, &stamp, (provider, version)) {
        let message = match &change.field.proposed {
            Some(_) => format!("`{}` is stamped for image `{key}`", change.field.path),
            None => format!("`{}` goes: image `{key}` has none", change.field.path),
        };
        let mut result = FunctionResult::new(Severity::Info, message);
        result.field = Some(change.field);
        stamped.results.push(about(result));
        stamped.edits.extend(change.edit);
    }
    Ok(())
}

/// Where an item comes from, as its annotations say.
fn file(item: &Node) -> Option<(String, Option<i64>)> {
    let annotation = |name: &str| {
        ["internal.config.kubernetes.io", "config.kubernetes.io"]
            .iter()
            .find_map(|group| {
                let key = format!("{group}/{name}");
                let node = item.at(&["metadata", "annotations", &key])?;
                node.value.as_str().map(|text| text.to_string())
            })
    };
    let index = annotation("index").and_then(|index| index.parse().ok());
    Some((annotation("path")?, index))
}

impl Project<'_> {
    /// The item's annotation, else the configuration, else the pool of the cluster that the item belongs to.
    fn choice(&mut self, item: &Node) -> Result<Choice, Error> {
        let text = |path: &[&str]| item.at(path).and_then(|node| node.value.as_str()).cloned();
        let own = text(&["metadata", "annotations", IMAGE_ANNOTATION]);
        let key = own.or_else(|| self.config.image.as_deref().map(Arc::from));
        let name = match &self.config.cluster {
            Some(name) => Some(Arc::from(name.as_str())),
            None => text(&["metadata", "labels", CLUSTER_LABEL]),
        };
        let name = name.or_else(|| text(&["metadata", "namespace"]));
        let cluster = match &name {
            Some(name) => self.cluster(name)?,
            None => None,
        };
        if let Some(key) = key {
            return self.by_key(&key, cluster.as_ref());
        }
        let Some(cluster) = cluster.and_then(|name| self.clusters.get(&name)) else {
            let message = format!(
                "no image is named, and no cluster of the project has this machine template: \
                 annotate it with `{IMAGE_ANNOTATION}`, or label it with `{CLUSTER_LABEL}`"
            );
            return Ok(Choice::Refused(FunctionResult::new(
                Severity::Warning,
                message,
            )));
        };
        Ok(by_pool(
            cluster,
            &text(&["metadata", "name"]).unwrap_or_default(),
        ))
    }

    /// Reads a cluster once, known by its name or by its objects'; its name if there is one.
    fn cluster(&mut self, name: &str) -> Result<Option<Arc<str>>, Error> {
        let known = |cluster: &Cluster| {
            [
                &cluster.view.cluster.name,
                &cluster.view.cluster.object_name,
            ]
            .iter()
            .any(|known| ***known == *name)
        };
        if let Some((name, _)) = self.clusters.iter().find(|(_, cluster)| known(cluster)) {
            return Ok(Some(Arc::clone(name)));
        }
        let mut entries = self.workspace.clusters.iter();
        let Some(entry) = entries.find(|entry| *entry.name == *name) else {
            return Ok(None);
        };
        let view = fleet::view(self.workspace, self.tools, entry)?;
        let settings = &self.workspace.settings;
        let mut checked = check::cluster(&view, settings, self.tools.today);
        let mut found: Vec<Finding> = Vec::new();
        let mut report = |mut finding: Finding| {
            finding.subject.cluster = Some(entry.name.to_string());
            found.push(finding);
        };
        let stamps = self.renderer.stamps(&view, &mut report);
        checked.join(check::findings(found, settings, self.tools.today));
        let cluster = Cluster {
            has_errors: checked.has_errors(),
            judged: checked.findings,
            stamps,
            view,
        };
        self.clusters.insert(Arc::clone(&entry.name), cluster);
        Ok(Some(Arc::clone(&entry.name)))
    }

    /// An image by its key: of the item's cluster, else of the layers that all clusters share.
    fn by_key(&mut self, key: &Arc<str>, cluster: Option<&Arc<str>>) -> Result<Choice, Error> {
        let known = cluster.and_then(|name| self.clusters.get(name));
        let view = match known {
            Some(cluster) if cluster.has_errors => return Ok(Choice::Faulty),
            Some(cluster) => &cluster.view,
            None => {
                if self.shared.is_none() {
                    self.shared = Some(fleet::shared(self.workspace, self.tools)?);
                }
                match &self.shared {
                    Some(view) => view,
                    None => return Ok(Choice::Faulty),
                }
            }
        };
        let Some(image) = view.images.get(key) else {
            let help = did_you_mean(key, view.images.keys().map(|known| &**known));
            let help = help.map_or(String::new(), |meant| format!(": did you mean `{meant}`?"));
            let message = format!("the catalogue has no image `{key}`{help}");
            return Ok(Choice::Refused(FunctionResult::new(
                Severity::Error,
                message,
            )));
        };
        let whose = known.map(|cluster| &cluster.view.cluster);
        Ok(match self.renderer.stamp_of(&view.images, image, whose) {
            Some(Ok(stamp)) => Choice::Stamp(stamp),
            Some(Err(finding)) => {
                let fault = FunctionResult::new(Severity::Error, finding.message.as_str());
                Choice::Refused(fault)
            }
            None => Choice::Faulty,
        })
    }
}

/// The stamp of the pool that a template's name begins with: `<cluster>-<pool>`, the longest of them.
fn by_pool(cluster: &Cluster, name: &str) -> Choice {
    if cluster.has_errors {
        return Choice::Faulty;
    }
    let of = &cluster.view.cluster;
    let pools = of.pools.iter().zip(&cluster.stamps);
    let named = pools.filter_map(|(pool, stamp)| {
        let prefix = format!("{}-{}", of.object_name, pool.name);
        let rest = name.strip_prefix(&prefix)?;
        (rest.is_empty() || rest.starts_with('-')).then_some((prefix.len(), stamp))
    });
    match named.max_by_key(|(length, _)| *length) {
        Some((_, Some(stamp))) => Choice::Stamp(stamp.clone()),
        Some((_, None)) => Choice::Faulty,
        None => {
            let pools: Vec<String> = of.pools.iter().map(|pool| pool.name.to_string()).collect();
            let message = format!(
                "the name says none of the pools of cluster `{}` ({}): `{}-POOL`, or annotate it with `{IMAGE_ANNOTATION}`",
                of.name,
                pools.join(", "),
                of.object_name
            );
            Choice::Refused(FunctionResult::new(Severity::Warning, message))
        }
    }
}

/// Why an image cannot be stamped, whoever chose it.
fn problems(stamp: &Stamp, provider: &dyn Provider, version: &str) -> Vec<String> {
    let key = stamp.key.as_deref().unwrap_or(&stamp.url);
    let mut problems = provider.problems(Some(stamp), &Node::computed(Map::default()), version);
    match stamp.format.as_deref() {
        None => problems.push(format!("nothing says the format of image `{key}`")),
        Some(format) if !provider.formats().contains(&format) => problems.push(format!(
            "{} cannot boot image `{key}`, whose format is `{format}`",
            provider.name()
        )),
        Some(_) => {}
    }
    if stamp.checksum.is_none() && !stamp.is_oci() {
        problems.push(format!("nothing says the checksum of image `{key}`"));
    }
    problems
}

/// One field that is not as it is to be.
struct Change {
    field: Field,
    /// None where the change is part of another one.
    edit: Option<Edit>,
}

fn changes(
    item: &Node,
    index: usize,
    stamp: &Stamp,
    (provider, version): (&dyn Provider, &str),
) -> Vec<Change> {
    let wanted = provider.image_fields(stamp, version);
    let image = item.at(&IMAGE).and_then(|node| node.value.as_map());
    let Some(image) = image else {
        return with_image(item, index, wanted);
    };
    let at = |key: &str| {
        let path: Vec<&str> = IMAGE.into_iter().chain([key]).collect();
        (path.join("."), below_item(index, &path))
    };
    let mut changes = Vec::new();
    for entry in &wanted {
        let (path, at) = at(&entry.key);
        let value = entry.node.value.clone();
        let current = image.get(&entry.key).map(|node| node.value.clone());
        let change = match &current {
            Some(current) if current.same(&value) => continue,
            Some(_) => Edit::Set {
                at,
                value: value.clone(),
            },
            None => Edit::Insert {
                map: below_item(index, &IMAGE),
                key: entry.key.to_string(),
                value: value.clone(),
                position: Position::Last,
            },
        };
        let field = Field {
            path,
            current,
            proposed: Some(value),
        };
        let edit = Some(change);
        changes.push(Change { field, edit });
    }
    for key in fields(provider) {
        if let (Some(node), None) = (image.get(&key), wanted.get(&key)) {
            let (path, at) = at(&key);
            let field = Field {
                path,
                current: Some(node.value.clone()),
                proposed: None,
            };
            let edit = Some(Edit::Remove { at });
            changes.push(Change { field, edit });
        }
    }
    changes
}

/// A template that has no image gets a whole one.
fn with_image(item: &Node, index: usize, wanted: Map) -> Vec<Change> {
    let depth = (0..IMAGE.len()).find(|depth| {
        let node = item.at(&IMAGE[..=*depth]);
        node.is_none_or(|node| node.value.as_map().is_none())
    });
    let depth = depth.unwrap_or(IMAGE.len() - 1);
    let value = IMAGE[depth + 1..]
        .iter()
        .rev()
        .fold(wanted.clone(), |inner, key| {
            Map::from_iter([crate::model::value::Entry::computed(*key, inner)])
        });
    let is_there = item.at(&IMAGE[..=depth]).is_some();
    let whole = match is_there {
        true => Edit::Set {
            at: below_item(index, &IMAGE[..=depth]),
            value: value.into(),
        },
        false => Edit::Insert {
            map: below_item(index, &IMAGE[..depth]),
            key: IMAGE[depth].to_owned(),
            value: value.into(),
            position: Position::Last,
        },
    };
    let mut whole = Some(whole);
    let change = |entry: &crate::model::value::Entry| Change {
        field: Field {
            path: format!("{}.{}", IMAGE.join("."), entry.key),
            current: None,
            proposed: Some(entry.node.value.clone()),
        },
        edit: whole.take(),
    };
    wanted.iter().map(change).collect()
}

/// Every field of an image that the provider writes, in any version.
fn fields(provider: &dyn Provider) -> Vec<String> {
    let word = || Some(Arc::from("x"));
    let full = Stamp {
        key: word(),
        url: "https://x/x".into(),
        format: word(),
        checksum: word(),
        checksum_type: word(),
    };
    let versions = provider.versions().iter();
    let all = versions.flat_map(|version| {
        let fields = provider.image_fields(&full, version);
        fields
            .iter()
            .map(|entry| entry.key.to_string())
            .collect::<Vec<_>>()
    });
    let mut all: Vec<String> = all.collect();
    all.sort();
    all.dedup();
    all
}
