//! The node pools of one cluster: what each object declares about its machines.

use std::collections::BTreeSet;
use std::sync::Arc;

use capi::location::{Location, file_name};
use capi::objects::{ManifestObject, Reference, version_node};
use capi::providers;
use capi::providers::{NamedBy, NamedImage, image_fields, strip_lookup};
use capi::unknown::Unknown;
use yaml_tree::edit::Step;
use yaml_tree::opaque::is_opaque;
use yaml_tree::place::{Located, Place, Sources, Spot};
use yaml_tree::suggest::only_meant;
use yaml_tree::value::{Entry, Node, Number, Value};

use crate::model::cluster::{
    BundleChoice, Choice, Cluster, NamedTemplate, Pool, PoolName, SeenText,
};
use crate::model::finding::Finding;
use crate::model::name::SeenVersion;
use crate::model::rule::{Level, RuleId};
use crate::model::version::Version;
use crate::read::tables::{Table, find_fault};
use crate::render::objects::name::is_label_value;

use super::seen::{find_versions, has_image_text};
use super::{EKS_ANYWHERE, Graph, TEMPLATE_KEYS, Template, is_control_plane};

/// Where a MachineDeployment, a MachineSet, a MachinePool or a Machine names the kind of its bootstrap configuration.
const CONFIGURATIONS: [&[&str]; 2] = [
    &["spec", "template", "spec", "bootstrap", "configRef", "kind"],
    &["spec", "bootstrap", "configRef", "kind"],
];

/// The field with a component bundle, as Elemental's proposal writes it (rancher/elemental#990).
const BUNDLE: &str = "componentsBundle";

/// The image that machines boot.
pub(super) struct Boots {
    /// It, or the reason why it is not known.
    pub(super) choice: Result<Choice, Unknown>,
    /// The component bundle that its hosts are to get.
    pub(super) bundle: Option<Located<Arc<str>>>,
    /// The texts beside them that seem to name a version.
    pub(super) seen: Vec<SeenText>,
}

impl From<Result<Choice, Unknown>> for Boots {
    fn from(choice: Result<Choice, Unknown>) -> Self {
        Self {
            choice,
            bundle: None,
            seen: Vec::new(),
        }
    }
}

/// Reads one cluster.
pub(super) struct PoolReader<'g, 'a> {
    pub(super) graph: &'g Graph<'a>,
    pub(super) sources: Sources,
    /// What is wrong with it.
    pub(super) findings: Vec<Finding>,
    /// Which objects it is made from, as far as they are known.
    pub(super) added: BTreeSet<usize>,
}

/// The fields that lead to what controllers read of an object's machines. Labels and settings of programs have keys of any name.
const WAY: [&str; 3] = ["spec", "template", "machineTemplate"];

/// The first field of an object, or of its machines, that is almost one of these.
fn find_misspelled<'n>(
    node: &'n Node,
    names: &[&'static str],
) -> Option<(&'n Entry, &'static str)> {
    let near = |entry: &'n Entry| Some((entry, only_meant(&entry.key, names.iter().copied())?));
    let own = node.entries(&[]).find_map(near);
    own.or_else(|| {
        let mut below = WAY.iter().filter_map(|key| node.get_path(&[*key]));
        below.find_map(|below| find_misspelled(below, names))
    })
}

fn misspelling(object: &ManifestObject, (entry, meant): (&Entry, &str)) -> Finding {
    let message = format!("`{}` has no effect, and is almost `{meant}`", entry.key);
    let finding = Finding::new(RuleId::KeyMisspelled, message)
        .with_label(object.spot(entry.key_place), "this key");
    finding.help(format!("write `{meant}`"))
}

/// The node pool of a control plane or of workers.
pub(super) fn pool_name(object: &ManifestObject) -> PoolName {
    if is_control_plane(object) {
        PoolName::ControlPlane
    } else {
        PoolName::MachineDeployment(Arc::clone(&object.name))
    }
}

impl PoolReader<'_, '_> {
    /// A place of an object, in this cluster's files.
    pub(super) fn place(&mut self, object: &ManifestObject, place: Place) -> Place {
        object.adopt_place(place, &mut self.sources)
    }

    /// A value of an object, with its places in this cluster's files.
    pub(super) fn adopt(&mut self, object: &ManifestObject, node: &Node) -> Node {
        object.adopt_node(node, &mut self.sources)
    }

    /// The text of a field. A number or a boolean is a finding, and what is written there counts.
    pub(super) fn text(
        &mut self,
        object: &ManifestObject,
        node: &Node,
    ) -> Option<Located<Arc<str>>> {
        let place = self.place(object, node.place);
        if let Some(text) = node.value.text_with_labels() {
            return Some(Located::new(Arc::clone(text), place));
        }
        if !matches!(node.value, Value::Number(_) | Value::Bool(_)) {
            return None;
        }
        let spot = object.spot(node.place);
        let word: Option<Arc<str>> = spot.as_ref().and_then(Spot::word).map(Into::into);
        let kind = node.value.kind();
        let finding = wrong_type(
            object,
            node.place,
            &format!("{kind}, and a text is expected"),
        );
        // Its own command-line tool quotes them.
        let finding = if object.group() == EKS_ANYWHERE {
            finding.unless_set(Level::Warning)
        } else {
            finding
        };
        self.findings.push(match &word {
            Some(word) => finding.help(format!("quote it: `\"{word}\"`")),
            None => finding.help("quote it"),
        });
        Some(Located::new(word?, place))
    }

    /// A control plane, a MachineDeployment, a MachineSet or a MachinePool.
    pub(super) fn object(&mut self, index: usize, cluster: &mut Cluster) {
        let object = &self.graph.objects[index];
        let is_template = |reference: &Reference<'_>| {
            let key = reference.steps.iter().rev().nth(1);
            matches!(key, Some(Step::Key(key)) if TEMPLATE_KEYS.contains(&&**key))
        };
        let reference = self.graph.reference(index, is_template);
        let template = self.graph.template(index, reference);
        if template == Template::Unnamed {
            let near = find_misspelled(&object.node, &TEMPLATE_KEYS);
            self.findings
                .extend(near.map(|near| misspelling(object, near)));
        }
        let is_leader = is_control_plane(object);
        let bootstrap_provider = if is_leader {
            bootstrap_provider(&object.kind).map(|provider| {
                let place = object.name_place();
                Located::new(provider.into(), self.place(object, place))
            })
        } else {
            CONFIGURATIONS
                .iter()
                .find_map(|path| self.bootstrap_provider(object, object.node.get_path(path)?))
        };
        if is_leader {
            cluster.bootstrap_provider.clone_from(&bootstrap_provider);
        }
        let name = pool_name(object);
        let version = version_node(object).and_then(|(_, node)| self.version(index, node));
        if is_leader && template == Template::Unnamed {
            // A hosted control plane has no machines of its own; its workers are compared with its version.
            cluster.k8s_version = version;
            return;
        }
        if version.is_none() {
            let near = find_misspelled(&object.node, &["version"]);
            self.findings
                .extend(near.map(|near| misspelling(object, near)));
        }
        let replicas = object.node.get_path(&["spec", "replicas"]).cloned();
        let place = self.place(object, object.name_place());
        let is_variable = version.is_none() && has_variable_version(object);
        let selection = self.selection(template);
        let mut pool = pool(name, place, version, selection, is_variable);
        pool.replicas = replicas.and_then(|node| self.count(object, &node));
        let reference = reference.map_or(Place::NONE, |reference| reference.name.place);
        let reference = self.place(object, reference);
        pool.template = template
            .index()
            .and_then(|index| self.name_template(index, reference));
        pool.bootstrap_provider = bootstrap_provider;
        self.push(pool, [Some(index), template.index()], cluster);
        self.provider(template, cluster);
    }

    /// Makes pools unknown if an object that they depend on has a field that is not carried out.
    pub(super) fn require_fields(&mut self, table: &Table, index: usize, pools: &mut [Pool]) {
        let object = &self.graph.objects[index];
        let title = format!("{} `{}`", object.kind, object.name);
        let Some(fault) = find_fault(table, &title, &object.node) else {
            return;
        };
        let spot = object.spot(fault.place);
        self.findings.push(match fault.help {
            Some(help) => Finding::new(RuleId::KeyMisspelled, fault.message)
                .with_label(spot, "")
                .help(help),
            None => Finding::new(fault.rule, fault.message)
                .with_label(spot, "")
                .help("its node pools are unknown; remove the field if it does nothing")
                .unless_set(Level::Warning),
        });
        for pool in pools {
            pool.choice = Choice::default();
            pool.seen.clear();
            pool.unknown.get_or_insert(Unknown::Field);
        }
    }

    /// A Cluster of which no machines are known.
    pub(super) fn push_unknown(&mut self, index: usize, cluster: &mut Cluster) {
        let object = &self.graph.objects[index];
        let place = self.place(object, object.name_place());
        let version = cluster.k8s_version.clone();
        let why = match version {
            Some(_) => Unknown::NoWorker,
            None => Unknown::NoPool,
        };
        let unknown = Err(object.unknown.unwrap_or(why)).into();
        cluster
            .pools
            .push(pool(PoolName::ControlPlane, place, version, unknown, false));
    }

    /// Adds a pool, with the image that is stamped into the first of these objects that gets one; of several images, a pool for
    /// each.
    pub(super) fn push(
        &mut self,
        pool: Pool,
        made_from: [Option<usize>; 2],
        cluster: &mut Cluster,
    ) {
        let mut objects =
            { made_from.into_iter().flatten() }.map(|index| &self.graph.objects[index]);
        if let Some(why) = objects.find_map(|object| object.unknown) {
            cluster.pools.push(pool_without_image(pool, why));
            return;
        }
        let Some(stamped) = self.graph.stamped else {
            cluster.pools.push(pool);
            return;
        };
        let image = |index| stamped.images.get(&index);
        let Some((keys, spot)) = made_from.into_iter().flatten().find_map(image) else {
            cluster
                .pools
                .push(pool_without_image(pool, Unknown::NotStamped));
            return;
        };
        let place = spot.as_ref().map_or(Place::NONE, |spot| Place {
            file: self.sources.adopt(&spot.source),
            start: spot.start,
            end: spot.end,
        });
        cluster.pools.extend(keys.iter().map(|key| Pool {
            choice: Choice {
                key: Some(Located::new(Arc::clone(key), place)),
                ..Choice::default()
            },
            seen: Vec::new(),
            unknown: None,
            ..pool.clone()
        }));
    }

    /// The Kubernetes version of an object: the one that is stamped into it, else its own.
    pub(super) fn version(&mut self, index: usize, node: &Node) -> Option<Located<Arc<str>>> {
        let object = &self.graph.objects[index];
        if matches!(node.value, Value::List(_) | Value::Map(_)) {
            let problem = format!("{}, and a version is expected", node.value.kind());
            let finding = wrong_type(object, node.place, &problem);
            self.findings.push(finding.help("write one version"));
            return None;
        }
        let own = self.text(object, node)?;
        Some(match self.graph.version_after_stamp(index) {
            Some(version) => Located::new(Arc::clone(version), own.place),
            None => own,
        })
    }

    /// The bootstrap provider that the kind of a control plane or a bootstrap configuration belongs to.
    pub(super) fn bootstrap_provider(
        &mut self,
        object: &ManifestObject,
        kind: &Node,
    ) -> Option<Located<Arc<str>>> {
        let kind = self.text(object, kind)?;
        let provider = bootstrap_provider(&kind.value)?;
        Some(Located::new(provider.into(), kind.place))
    }

    pub(super) fn count(&mut self, object: &ManifestObject, node: &Node) -> Option<Located<u32>> {
        let count = match &node.value {
            Value::Number(Number::Int(count)) => u32::try_from(*count).ok()?,
            // Another text may be what a program replaces by a number.
            Value::String(text) => {
                let spot = object.spot(node.place)?;
                let written = spot
                    .source
                    .text
                    .get(spot.start as usize..spot.end as usize)?;
                let bare = written.trim_matches(['"', '\'']);
                let count = text
                    .parse()
                    .ok()
                    .filter(|_| bare != written && bare == &**text)?;
                let problem = "a text, and a number is expected";
                let finding = wrong_type(object, node.place, problem);
                self.findings.push(finding.help("remove the quotes"));
                count
            }
            _ => return None,
        };
        Some(Located::new(count, self.place(object, node.place)))
    }

    pub(super) fn provider(&mut self, template: Template, cluster: &mut Cluster) {
        let Some(template) = template.index() else {
            return;
        };
        let object = &self.graph.objects[template];
        let known = providers::find_by_kind(&object.kind).map(|provider| provider.data().name);
        if let Some(name) = known.filter(|_| cluster.infra_provider.is_none()) {
            cluster.infra_provider = Some(Located::new(name.into(), Place::NONE));
        }
    }

    /// A machine template by its name, and where a pool refers to it.
    fn name_template(&mut self, template: usize, reference: Place) -> Option<NamedTemplate> {
        let object = &self.graph.objects[template];
        let spec = image_fields(&object.kind)?.spec(&object.node)?;
        let place = self.place(object, object.name_place());
        Some(NamedTemplate {
            api_version: Arc::clone(&object.api_version),
            kind: Arc::clone(&object.kind),
            name: Located::new(Arc::clone(&object.name), place),
            reference,
            spec: self.adopt(object, spec),
        })
    }

    /// The image that the machines of a template boot.
    pub(super) fn selection(&mut self, template: Template) -> Boots {
        let object = match template {
            Template::Unnamed => return Err(Unknown::NoTemplate).into(),
            Template::Missing => return Err(Unknown::TemplateMissing).into(),
            Template::Several => return Err(Unknown::SeveralTemplates).into(),
            Template::At(index) => &self.graph.objects[index],
        };
        self.image(&object.kind, &object.node, Some(object))
    }

    /// The image that a machine template names. Its places are those of the object, or in this cluster's files already.
    pub(super) fn image(
        &mut self,
        kind: &str,
        template: &Node,
        object: Option<&ManifestObject>,
    ) -> Boots {
        let fields = image_fields(kind);
        let spec = fields.and_then(|fields| fields.spec(template));
        let image = fields
            .zip(spec)
            .and_then(|(fields, spec)| fields.image(spec));
        let bundle = spec.and_then(|spec| spec.get_path(&[BUNDLE]));
        let bundle = bundle.filter(|bundle| bundle.value.text_with_labels().is_some());
        if let Some((spec, object)) = spec.zip(object).filter(|_| bundle.is_none()) {
            let of_image = fields.filter(|_| image.is_none());
            let near =
                find_misspelled(spec, &[BUNDLE]).or_else(|| of_image?.find_misspelled_key(spec));
            self.findings
                .extend(near.map(|near| misspelling(object, near)));
        }
        let whole = template.get_path(&["spec"]);
        let mut seen = whole.map_or_else(Vec::new, |whole| {
            find_versions(whole, image.as_ref().map(|image| image.node))
        });
        // A bundle is judged itself.
        let is_of_bundle = |seen: &SeenText| {
            bundle.is_some_and(|bundle| bundle.value.text_with_labels() == Some(&seen.text.value))
        };
        seen.retain(|seen| !is_of_bundle(seen));
        if let Some(object) = object {
            for seen in &mut seen {
                seen.text.place = self.place(object, seen.text.place);
            }
        }
        let choice = match (fields, spec, image) {
            (None, ..) if whole.is_some_and(|whole| whole.children().next().is_some()) => {
                Err(Unknown::Kind)
            }
            (Some(fields), Some(spec), _) if fields.is_looked_up(spec) => Err(Unknown::LookedUp),
            (Some(fields), Some(spec), Some(image)) => {
                Ok(self.choice(image, fields.location(spec), spec, object))
            }
            // Its hosts have a system already.
            _ if bundle.is_some() => Ok(Choice::default()),
            // Another provider may have a kind of the same name.
            _ if whole.is_some_and(has_image_text) => Err(Unknown::Kind),
            _ => Err(Unknown::NoImage),
        };
        let bundle = bundle.and_then(|bundle| {
            let text = Arc::clone(bundle.value.text_with_labels()?);
            let place = object.map_or(bundle.place, |object| self.place(object, bundle.place));
            Some(Located::new(text, place))
        });
        Boots {
            choice,
            bundle,
            seen,
        }
    }

    /// What a machine's spec says of the image that it names.
    fn choice(
        &mut self,
        image: NamedImage<'_>,
        location: Option<Location>,
        spec: &Node,
        object: Option<&ManifestObject>,
    ) -> Choice {
        let place = match object {
            Some(object) => self.place(object, image.node.place),
            None => image.node.place,
        };
        let named = Some(Located::new(image.text, place));
        let mut text = |node: &Node| match object {
            Some(object) => self.text(object, node),
            None => Some(Located::new(
                Arc::clone(node.value.text_with_labels()?),
                node.place,
            )),
        };
        let mut is_open = false;
        // Nothing is known of a field that another program fills in.
        let mut field = |name: &str| {
            let node = spec.get_path(&["image", name])?;
            let text = text(node).filter(|text| !is_variable_text(&text.value));
            is_open |= text.is_none() && !node.value.is_null();
            text
        };
        match image.by {
            NamedBy::Name => Choice {
                name: named,
                location,
                ..Choice::default()
            },
            NamedBy::Url => Choice {
                format: field("format").or_else(|| field("diskFormat")),
                checksum: field("checksum"),
                checksum_type: field("checksumType"),
                url: named,
                location,
                is_open,
                ..Choice::default()
            },
        }
    }
}

/// A pool of which nobody knows what it boots.
fn pool_without_image(pool: Pool, why: Unknown) -> Pool {
    Pool {
        choice: Choice::default(),
        seen: Vec::new(),
        unknown: Some(why),
        ..pool
    }
}

/// A pool whose machines boot an image, or the reason why that is not known.
pub(super) fn pool(
    name: PoolName,
    place: Place,
    version: Option<Located<Arc<str>>>,
    boots: Boots,
    is_variable: bool,
) -> Pool {
    let Boots {
        choice,
        mut bundle,
        mut seen,
    } = boots;
    let (mut choice, mut unknown) = match choice {
        Ok(choice) => (choice, None),
        Err(why) => (Choice::default(), Some(why)),
    };
    let texts = || { [&choice.name, &choice.url, &bundle, &version].into_iter() }.flatten();
    let is_open = is_variable || texts().any(|text| is_variable_text(&text.value));
    // What describes an image is its name, or a part of it.
    let is_secret = texts().any(|text| is_opaque(&text.value));
    let is_version = |version: &Located<Arc<str>>| Version::parse(&version.value).is_some();
    let has_other = version.as_ref().is_some_and(|version| !is_version(version));
    let names = [&choice.name, &choice.url];
    let is_unfilled = { names.into_iter().flatten() }.any(|name| is_placeholder(&name.value));
    if is_secret || is_open || is_unfilled || has_other {
        let why = if is_secret {
            Unknown::Secret
        } else if is_open {
            Unknown::Variable
        } else if is_unfilled {
            Unknown::Placeholder
        } else {
            Unknown::OddVersion
        };
        (choice, bundle, unknown) = (Choice::default(), None, Some(why));
        seen.clear();
    }
    let version = version.filter(|version| !is_opaque(&version.value));
    Pool {
        choice,
        bundle: BundleChoice {
            key: bundle,
            ..BundleChoice::default()
        },
        k8s_version: version,
        seen,
        unknown,
        ..Pool::new(name, place)
    }
}

/// That a field of an object has a value of another type.
pub(super) fn wrong_type(object: &ManifestObject, place: Place, problem: &str) -> Finding {
    let message = format!("{} has {problem}", object.title());
    Finding::new(RuleId::ValueType, message).with_label(object.spot(place), "")
}

/// The labels of an object that the API server refuses, after everything that builds it: kustomize makes the time of its midnight of an
/// unquoted date.
pub(super) fn find_illegal_labels(object: &ManifestObject) -> impl Iterator<Item = Finding> {
    let entries = object.node.entries(&["metadata", "labels"]);
    entries.filter_map(|entry| {
        let text = entry.node.value.as_str()?;
        let is_known = !is_opaque(text) && !is_variable_text(text);
        (is_known && !is_label_value(text)).then(|| {
            let problem = format!("the label `{}: {text}`, which the API server refuses", entry.key);
            wrong_type(object, entry.node.place, &problem)
                .help("a label has at most 63 letters, digits, `-`, `_` and `.`; kustomize makes a time of a date without quotes")
        })
    })
}

/// The image that a machine template names.
pub(in crate::read) fn current_image(template: &ManifestObject) -> Option<NamedImage<'_>> {
    let fields = image_fields(&template.kind)?;
    fields.image(fields.spec(&template.node)?)
}

/// Whether the version that an object declares is filled in by another program.
fn has_variable_version(object: &ManifestObject) -> bool {
    let paths = [
        &["spec", "version"][..],
        &["spec", "template", "spec", "version"],
    ];
    let mut texts = paths.iter().filter_map(|path| object.node.text(path));
    texts.any(is_variable_text)
}

/// Whether another program fills in a part of a text.
pub(super) fn is_variable_text(text: &str) -> bool {
    let text = strip_lookup(text);
    let mut marks = ["$", "{{", "<<", "@@"].into_iter();
    marks.any(|mark| text.contains(mark))
}

/// Whether a person or a program is to replace the name of an image: `<IMAGE>`, `[[ image ]]`, `%IMAGE%`, `REPLACE_ME`,
/// `kube-v1.31.x`. Names of images have small letters or digits, and are not between marks.
pub fn is_placeholder(name: &str) -> bool {
    let last = file_name(name).split([':', '@', '.']).next();
    let is_words = |last: &str| {
        let is_of_word = |byte: u8| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-');
        last.len() > 2 && last.bytes().all(is_of_word)
    };
    let pairs = ["()", "[]", "{}", "<>", "%%", "@@"];
    let is_marked =
        { pairs.iter() }.any(|pair| name.starts_with(&pair[..1]) && name.ends_with(&pair[1..]));
    // `<no value>` is what a template makes of nothing.
    let mut marks = name
        .split('<')
        .skip(1)
        .filter_map(|rest| rest.split_once('>'));
    is_marked
        || marks.any(|(mark, _)| !mark.contains(' '))
        || last.is_some_and(is_words)
        || has_open_patch(name)
}

/// Whether a letter is there instead of a patch level, as in `1.31.x`, and no version beside it: any of the minor is meant.
/// What a folder is called says nothing of its files.
fn has_open_patch(name: &str) -> bool {
    let name = file_name(name);
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let is_open = parts.any(|part| {
        let numbers: Vec<&str> = part.trim_start_matches('v').split('.').collect();
        matches!(numbers.as_slice(), ["1", minor, "x" | "X", ..] if minor.parse::<u8>().is_ok())
    });
    is_open && SeenVersion::find(name, true).is_none_or(|seen| seen.version.is_partial())
}

/// Sylva's name, or its own, of the bootstrap provider of a control plane's or a bootstrap configuration's kind.
fn bootstrap_provider(kind: &str) -> Option<&'static str> {
    let known = [
        ("Kubeadm", "cabpk"),
        ("Kamaji", "cabpk"),
        ("RKE2", "cabpr"),
        ("KThrees", "cabpk3s"),
        ("CK8s", "cabpck"),
        ("OpenshiftAssisted", "cabpoa"),
        ("K0s", "k0smotron"),
        ("Talos", "talos"),
    ];
    let found = known.iter().find(|(prefix, _)| kind.starts_with(prefix));
    found.map(|(_, provider)| *provider)
}
