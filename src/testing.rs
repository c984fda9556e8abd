//! Clusters for the rules' unit tests: each value that is set gets a line of a values file.

#[allow(dead_code, reason = "a part of it is for tests of whole runs")]
#[path = "../tests/support/seen.rs"]
pub(crate) mod seen;

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::{Fact, Facts, Image, ImageKey, Images, Origin};
use capi::labels::LabelSelector;
use oci_artifacts::Address;
use yaml_tree::place::{FileId, Located, Place, Source, Sources};

use crate::decide::identity::Identities;
use crate::decide::proof::judge_pools;
use crate::model::catalog::Registry;
use crate::model::cluster::{Choice, ChoiceLevel, Cluster, LevelName, Pool, PoolName};
use crate::model::cluster_view::ClusterView;
use crate::model::date::Date;
use crate::model::endpoint::{ControlPlaneEndpoint, DEFAULT_PORT, Endpoint, Host, Way};
use crate::model::finding::Finding;
use crate::model::lock::Locking;
use crate::model::policy::Policy;
use crate::model::rule::RuleId;
use crate::model::selection::{Outcome, Selection};
use crate::model::selector::Matching;
use crate::model::selector::{Selector, Term, Wanted};
use crate::model::settings::{ChecksumStyle, ImageSettings, Output, Settings};
use crate::model::wave_settings::WaveSettings;
use crate::rules::{ClusterInput, rule};

/// A cluster `edge-1` on Metal3 and RKE2 at `v1.31.8+rke2r1`, with a control plane that chooses nothing yet.
pub(crate) struct Given {
    text: String,
    pub(crate) view: ClusterView,
    pub(crate) settings: Settings,
    images: Images,
    registries: BTreeMap<Arc<str>, Registry>,
}

/// A day on which no waiver of a test has expired.
pub(crate) fn today() -> Date {
    Date::parse("2026-11-21").expect("a day")
}

impl Given {
    pub(crate) fn new() -> Self {
        let mut given = Self {
            text: String::new(),
            view: empty_view(),
            settings: settings(),
            images: Images::new(),
            registries: BTreeMap::new(),
        };
        let version = given.line("k8s_version", "v1.31.8+rke2r1");
        let bootstrap = given.line("bootstrap_provider", "cabpr");
        given.view.cluster.k8s_version = Some(version);
        given.view.cluster.bootstrap_provider = Some(bootstrap);
        given.pool(PoolName::ControlPlane);
        given
    }

    /// Writes a line and returns its value with its place.
    pub(crate) fn line(&mut self, key: &str, value: &str) -> Located<Arc<str>> {
        let start = self.text.len() + key.len() + 2;
        self.text.push_str(&format!("{key}: {value}\n"));
        let place = Place {
            file: FileId(0),
            start: start as u32,
            end: (start + value.len()) as u32,
        };
        Located::new(value.into(), place)
    }

    /// Adds an image of the builder's with facts from an info file; those given as
    /// `name!fact` come from its name, as `values!fact` from the values.
    pub(crate) fn image(&mut self, key: &str, facts: &[(&str, &str)]) -> &mut Image {
        let place = self.line("image", key).place;
        let mut known = Facts::default();
        for (name, value) in facts {
            let (name, origin) = match name.split_once('!') {
                Some(("name", name)) => (name, Origin::Name),
                Some((_, name)) => (name, Origin::Values),
                None => (*name, Origin::InfoFile),
            };
            known.learn(name, Fact::new(*value, origin, Place::NONE));
        }
        let image = Image {
            key: key.into(),
            name: key.into(),
            artifact: key.into(),
            place,
            uri: Some(Located::new(
                Address::new(format!("oci://r/{key}:1")),
                place,
            )),
            digest: None,
            pulled: None,
            facts: known,
            enabled: None,
            built: true,
            list: "sylva_diskimagebuilder_images",
            registry: None,
        };
        self.images.entry(key.into()).or_insert(image)
    }

    /// Adds an image of `os_images`.
    pub(crate) fn declared(&mut self, key: &str, facts: &[(&str, &str)]) {
        let image = self.image(key, facts);
        (image.built, image.list) = (false, "os_images");
    }

    pub(crate) fn registry(&mut self, name: &str, enabled: bool) {
        let place = self.line("registry", name).place;
        let registry = Registry {
            url: None,
            tag: None,
            tag_value: None,
            enabled,
            place,
        };
        self.registries.insert(name.into(), registry);
    }

    /// The endpoint is that host, in a cluster without an inventory.
    pub(crate) fn endpoint(&mut self, way: Way, host: &str) -> &mut ControlPlaneEndpoint {
        let host = self.line("endpoint", host);
        let mut found = ControlPlaneEndpoint::unsaid(host.place);
        let port = DEFAULT_PORT;
        found.endpoint = Some(Endpoint { way, host, port });
        self.view.cluster.endpoint.insert(Box::new(found))
    }

    /// Adds a host to the inventory, behind the endpoint.
    pub(crate) fn host(&mut self, name: &str, labels: &[(&str, &str)], addresses: &[(&str, &str)]) {
        let place = self.line("host", name).place;
        let addresses = addresses.iter();
        let addresses = addresses
            .map(|(class, address)| ((*class).into(), self.line(class, address)))
            .collect();
        let labels = labels.iter();
        let host = Host {
            name: name.into(),
            kind: None,
            place,
            labels: labels.map(|(k, v)| ((*k).into(), (*v).into())).collect(),
            addresses,
        };
        let found = self.view.cluster.endpoint.as_mut();
        found.expect("an endpoint first").hosts.push(host);
    }

    /// The control plane's hosts are those, behind the endpoint.
    pub(crate) fn select_hosts(&mut self, selector: &str) {
        let read = yaml_tree::read(selector, FileId(0), yaml_tree::engine::Engine::Kubectl);
        let node = read.expect("YAML").documents.remove(0);
        let found = self.view.cluster.endpoint.as_mut();
        found.expect("an endpoint first").selector = LabelSelector::read(&node);
    }

    /// The project has an output that writes endpoints.
    pub(crate) fn with_endpoint_output(&mut self) {
        let options = [("infra-cluster".to_owned(), serde_json::Value::Bool(true))];
        self.settings.outputs.push(Output {
            target: "manifests".into(),
            path: "out".into(),
            options: options.into(),
            spot: None,
        });
    }

    /// Adds a pool that chooses nothing yet.
    pub(crate) fn pool(&mut self, name: PoolName) -> &mut Pool {
        let place = self.line("pool", &name.to_string()).place;
        self.view.selections.push(selection(Outcome::Nothing));
        let pools = &mut self.view.cluster.pools;
        pools.push(Pool::new(name, place));
        pools.last_mut().expect("just pushed")
    }

    pub(crate) fn machine_deployment(&mut self, name: &str) -> &mut Pool {
        self.pool(PoolName::MachineDeployment(name.into()))
    }

    /// The cluster's level and every pool select that, and it resolves to that.
    pub(crate) fn choose(&mut self, choice: &Choice, outcome: &Outcome) {
        self.view.cluster.levels = vec![ChoiceLevel {
            name: LevelName::Cluster,
            choice: choice.clone(),
        }];
        for pool in &mut self.view.cluster.pools {
            pool.choice = choice.clone();
        }
        for selection in &mut self.view.selections {
            selection.outcome = outcome.clone();
        }
    }

    /// Every pool boots the image of that key, named at the cluster's level.
    pub(crate) fn boots(&mut self, key: &str) {
        let choice = Choice {
            key: Some(self.line("image_key", key)),
            ..Choice::default()
        };
        self.choose(&choice, &Outcome::Image(key.into()));
    }

    /// Every pool boots what is behind a URL; further settings by their names after `machine_image_`.
    pub(crate) fn boots_url(&mut self, url: &str, further: &[(&str, &str)]) {
        let mut choice = Choice {
            url: Some(self.line("machine_image_url", url)),
            ..Choice::default()
        };
        for (name, value) in further {
            let line = Some(self.line(&format!("machine_image_{name}"), value));
            match *name {
                "format" => choice.format = line,
                "checksum" => choice.checksum = line,
                _ => choice.checksum_type = line,
            }
        }
        self.choose(&choice, &Outcome::Explicit(None));
        let identities = Identities::new(&self.images);
        for selection in &mut self.view.selections {
            selection.file = identities.find_by_file(url).cloned();
        }
    }

    /// Every pool selects by these patterns, with that outcome.
    pub(crate) fn selects(&mut self, terms: &[(&str, &str)], outcome: &Outcome) {
        let choice = Choice {
            selector: Some(self.selector(terms)),
            ..Choice::default()
        };
        self.choose(&choice, outcome);
        for selection in &mut self.view.selections {
            selection.finalized = choice.selector.clone().expect("just set").value;
        }
    }

    /// A selector with a line for each term.
    pub(crate) fn selector(&mut self, terms: &[(&str, &str)]) -> Located<Selector> {
        let place = self.line("os_image_selector", "").place;
        let terms = terms.iter().map(|(fact, pattern)| {
            let line = self.line(fact, pattern);
            let key_start = line.place.start - fact.len() as u32 - 2;
            Term {
                fact: (*fact).into(),
                wanted: Wanted::Pattern(line.value),
                place: line.place,
                key_place: Place {
                    start: key_start,
                    end: key_start + fact.len() as u32,
                    ..line.place
                },
            }
        });
        let terms = terms.collect();
        Located::new(Selector { terms }, place)
    }

    /// The view with everything set so far; every image is served unless some were said to be.
    pub(crate) fn finished(&self) -> ClusterView {
        let mut sources = Sources::default();
        sources.add(Source::new("values.yaml", self.text.clone()));
        let mut view = self.view.clone();
        if view.served.is_empty() {
            view.served = self
                .images
                .keys()
                .map(Arc::clone)
                .collect::<Vec<ImageKey>>();
        }
        view.images = Arc::new(self.images.clone());
        view.registries = Arc::new(self.registries.clone());
        view.sources = sources;
        judge_pools(view, self.settings.matching)
    }

    /// What a rule finds, as text: the message, a line for each label, a line for each help.
    pub(crate) fn found(&self, id: RuleId) -> String {
        let view = self.finished();
        let input = ClusterInput::new(&view, &self.settings);
        let mut findings = Vec::new();
        let check = rule(id).cluster.expect("a rule of clusters");
        check(&input, &mut findings);
        let texts = findings
            .into_iter()
            .map(|finding| printed(&finding.with_proposals()));
        texts.collect()
    }
}

/// A finding as text.
pub(crate) fn printed(finding: &Finding) -> String {
    let mut text = format!("{}\n", finding.message);
    for label in &finding.labels {
        let (line, _) = label.spot.line_column();
        let shown = label.spot.source.text.lines().nth(line - 1);
        text.push_str(&format!("  {}: {}\n", shown.unwrap_or(""), label.text));
    }
    for help in &finding.help {
        text.push_str(&format!("  help: {help}\n"));
    }
    text
}

pub(crate) fn selection(outcome: Outcome) -> Selection {
    Selection {
        finalized: Selector::default(),
        near_misses: Arc::default(),
        outcome,
        twins: Vec::new(),
        file: None,
        other_mode: None,
    }
}

pub(crate) fn settings() -> Settings {
    Settings {
        root: ".".into(),
        project: String::new(),
        images: ImageSettings {
            url: "https://images.example.org/{{ image.filename }}".into(),
            is_named: true,
            url_spot: None,
            checksum: ChecksumStyle::Literal,
            serve_all: false,
        },
        outputs: Vec::new(),
        policy: Policy::default(),
        matching: Matching::Normalized,
        schemes: Default::default(),
        locking: Locking::Loose,
        registries: Default::default(),
        releases: BTreeMap::new(),
        waves: WaveSettings::default(),
        capm3_demands_checksum: None,
    }
}

fn empty_view() -> ClusterView {
    ClusterView {
        cluster: Cluster {
            name: "edge-1".into(),
            object_name: "edge-1".into(),
            namespace: "edge-1".into(),
            ..Cluster::default()
        },
        images: Arc::default(),
        known_names: Arc::default(),
        bundles: Arc::default(),
        selections: Vec::new(),
        bundle_outcomes: Vec::new(),
        judgments: Vec::new(),
        disagreements: Vec::new(),
        schemes: Default::default(),
        registries: Arc::default(),
        served: Vec::new(),
        lock: None,
        signing: Default::default(),
        signed: Default::default(),
        sources: Sources::default(),
        findings: Vec::new(),
    }
}
