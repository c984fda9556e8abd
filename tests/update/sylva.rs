//! A platform as Sylva's are in 2026: two builders, names without a patch, a map of Kubernetes versions, and a bot.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use super::bot::{self, BUILDER};
use crate::git::{commit_all, git};
use crate::support::registry::{Registry, Reply};
use crate::support::stage::{Run, Stage, changes, project};
use crate::sylva_2026::annotations;

/// The names of the registries of the two builders.
pub(super) const DIB: &str = "sylva";
pub(super) const KIWI: &str = "kiwi";

/// The platform, its registry and its bot.
pub(super) struct Sylva {
    pub(super) stage: Stage,
    registry: Registry,
    builders: BTreeMap<&'static str, Builder>,
    /// The description of each release, by path; what is empty is not there.
    releases: Arc<Mutex<BTreeMap<String, String>>>,
    /// The builders whose version the bot has raised.
    raised: BTreeSet<&'static str>,
}

/// What a builder has released last.
struct Builder {
    dependency: &'static str,
    /// The version that main has.
    merged: String,
    version: String,
    /// The Kubernetes version of each image.
    images: BTreeMap<String, String>,
}

impl Sylva {
    /// Locked, rendered and committed; none where there is no git.
    pub(super) fn new() -> Option<Self> {
        Self::build(|stage, _| stage, &[])
    }

    /// The same with a site that runs an older release, and a flavor with versions of its own.
    pub(super) fn with_laggards() -> Option<Self> {
        let prepare = |stage: Stage, registry: &Registry| {
            serve_older(registry, "0.5.13", "1.33.5+rke2r1");
            let host = registry.host();
            let selector = |provider: &str, further: &str, selector: &str| {
                format!(
                    "k8s_version_short: '1.33'\ncluster:\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: {provider}}}\n  \
                     capm3: {{os_image_selector: {{{selector}}}}}\n{further}"
                )
            };
            let site = "  os_image_selector_autoselect_registries: sylva-n-1\n";
            let stage = stage
                .cluster(
                    "site",
                    &selector("cabpr", site, "os: ubuntu, hardened: true"),
                )
                .cluster("ck", &selector("cabpck", "", "os: ubuntu"));
            let values = stage.read("values.yaml");
            let (before, rest) = values.split_once("    '1.33': ").expect("an entry");
            let (_, after) = rest.split_once("    '1.34': ").expect("the next one");
            let provider = ".Values.cluster.capi_providers.bootstrap_provider";
            let entry = format!(
                "'{{{{ if eq {provider} \"cabpr\" }}}}v1.33.5+rke2r1{{{{ else if eq {provider} \"cabpck\" }}}}v1.33.4{{{{ else }}}}v1.33.5{{{{ end }}}}'"
            );
            let older = format!(
                "os_images:\n  sylva-n-1--{OLDER}: {{uri: 'oci://{host}/{DIB}/{OLDER}:0.5.13', oci-image-registry-key: sylva-n-1}}\n"
            );
            let values = format!("{before}    '1.33': {entry}\n    '1.34': {after}")
                .replace("_internal:\n", &format!("  ubuntu-noble-plain-ck8s-1-33: {{os_images_oci_registry: {DIB}}}\n{older}_internal:\n"))
                .replace("cluster:\n", &format!("cluster:\n  os_image_selector_autoselect_registries: {DIB}|{KIWI}\n"))
                .replace(
                    "sylva_diskimagebuilder_images:\n",
                    &format!("  sylva-n-1: {{url: 'oci://{host}/{DIB}', tag: 0.5.13, cosign_publickey: ''}}\nsylva_diskimagebuilder_images:\n"),
                );
            stage.write("values.yaml", values);
            stage
        };
        Self::build(prepare, &[("ubuntu-noble-plain-ck8s-1-33", "1.33.4")])
    }

    /// The older release gets another version, which a person raises, with the site's.
    pub(super) fn raise_older(&self, from: &str, to: &str, versions: [&str; 2]) {
        serve_older(&self.registry, to, versions[1]);
        self.stage.edit("site.yaml", versions[0], versions[1]);
        self.stage.edit(
            "values.yaml",
            &format!("tag: {from}"),
            &format!("tag: {to}"),
        );
        self.stage
            .edit("values.yaml", &format!(":{from}'"), &format!(":{to}'"));
    }

    fn build(
        prepare: impl FnOnce(Stage, &Registry) -> Stage,
        further: &[(&str, &str)],
    ) -> Option<Self> {
        let registry = Registry::plain();
        let releases: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
        let pages = Arc::clone(&releases);
        registry.hook(move |request, _| {
            let pages = pages.lock().expect("not poisoned");
            let page = pages.get(&request.path).cloned();
            let is_page = request.path.starts_with("/releases/");
            match page {
                Some(page) if !page.is_empty() => Some(Reply::new(200, page)),
                None if !is_page => None,
                _ => Some(Reply::new(404, "{}")),
            }
        });
        let host = registry.host();
        let cluster = |provider: &str, selector: &str| {
            format!(
                "k8s_version_short: '1.33'\ncluster:\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: {provider}}}\n  capm3: {{os_image_selector: {{{selector}}}}}\n"
            )
        };
        let stage = project()
            .cluster("rke", &cluster("cabpr", "os: ubuntu, hardened: true"))
            .cluster("leap", &cluster("cabpr", "os: leapmicro"))
            .cluster("kadm", &cluster("cabpk", "os: ubuntu, hardened: false"))
            .settings(&format!(
                "values: [values.yaml]\n\
                 outputs: [{{target: helm-values, path: rendered}}]\n\
                 registries: {{hosts: {{\"{host}\": {{plain-http: true}}}}}}\n\
                 update: {{releases: {{{DIB}: 'http://{host}/releases/{DIB}/VERSION', {KIWI}: 'http://{host}/releases/{KIWI}/VERSION'}}}}\n"
            ))
            .file("values.yaml", values(&host));
        let stage = prepare(stage, &registry);
        let builder = |dependency, version: &str| Builder {
            dependency,
            merged: version.to_owned(),
            version: version.to_owned(),
            images: BTreeMap::new(),
        };
        let kiwi = "sylva-projects/sylva-elements/kiwi-imagebuilder";
        let mut sylva = Self {
            stage,
            registry,
            builders: [
                (DIB, builder(BUILDER, "0.7.4")),
                (KIWI, builder(kiwi, "0.4.1")),
            ]
            .into(),
            releases,
            raised: BTreeSet::new(),
        };
        sylva.publish(
            DIB,
            &[
                ("ubuntu-noble-hardened-rke2-1-32", "1.32.9+rke2r1"),
                ("ubuntu-noble-hardened-rke2-1-33", "1.33.5+rke2r1"),
                ("ubuntu-noble-plain-kubeadm-1-33", "1.33.5"),
            ],
        );
        sylva.publish(DIB, further);
        sylva.publish(
            KIWI,
            &[
                ("leapmicro-6-0-plain-rke2-1-32", "1.32.9+rke2r1"),
                ("leapmicro-6-0-plain-rke2-1-33", "1.33.5+rke2r1"),
            ],
        );
        for command in ["lock", "render"] {
            sylva.stage.run(command).exit(0);
        }
        commit_all(sylva.stage.path(), "Begin").then_some(sylva)
    }

    /// Publishes a release in which some images hold other versions, come, or, without a version, go; the bot raises the version.
    pub(super) fn release(
        &mut self,
        builder: &'static str,
        version: &str,
        images: &[(&str, &str)],
    ) {
        self.announce(builder, version);
        self.publish(builder, images);
    }

    /// Raises a builder's version, of which nothing is published yet.
    pub(super) fn announce(&mut self, builder: &'static str, version: &str) {
        self.stage.edit(
            "values.yaml",
            &format!("_version: {} # {builder}", self.builders[builder].version),
            &format!("_version: {version} # {builder}"),
        );
        self.tag(builder, version);
        self.raised.insert(builder);
    }

    /// Gives a builder's next version, of which nothing is published yet, and which nobody raised.
    pub(super) fn tag(&mut self, builder: &'static str, version: &str) {
        let of = self.builders.get_mut(builder).expect("a builder");
        version.clone_into(&mut of.version);
    }

    /// Publishes the images of the version that was announced, and its notes, in which each has other tags too.
    pub(super) fn publish(&mut self, builder: &'static str, images: &[(&str, &str)]) {
        let of = self.builders.get_mut(builder).expect("a builder");
        for (name, version) in images {
            if version.is_empty() {
                of.images.remove(*name);
            } else {
                of.images.insert((*name).to_owned(), (*version).to_owned());
            }
        }
        let mut notes = format!(
            "# {}\n## Changes\n* k8s 1.29 is no longer built !404\n\n",
            of.version
        );
        for (at, (name, version)) in of.images.iter().enumerate() {
            let (path, tag) = (format!("{builder}/{name}"), &of.version);
            let reference = format!("oci://{}/{path}:{tag}", self.registry.host());
            let facts = annotations(&reference, version);
            self.registry.image(&path, tag, &facts);
            let sum = facts.iter().find(|(fact, _)| fact.ends_with("/sha256"));
            let (_, sum) = sum.expect("a checksum");
            let tags = [
                format!("{tag} 0.0.1"),
                format!("0.0.1 {tag}"),
                format!("zz-test {tag}"),
            ];
            let tags = &tags[at % tags.len()];
            notes += &format!(
                "Image: \"{}:{tags}\"\n\"sha256: {sum}\"\n\n",
                reference.rsplit_once(':').expect("a tag").0
            );
        }
        let page = serde_json::json!({ "description": notes }).to_string();
        let path = format!("/releases/{builder}/{}", of.version);
        self.releases
            .lock()
            .expect("not poisoned")
            .insert(path, page);
    }

    /// What Renovate calls a builder.
    pub(super) fn dependency(&self, builder: &str) -> &'static str {
        self.builders[builder].dependency
    }

    /// Edits the notes of the version that was announced last.
    pub(super) fn edit_notes(&self, builder: &str, edit: impl Fn(&str) -> String) {
        let path = format!("/releases/{builder}/{}", self.builders[builder].version);
        let mut pages = self.releases.lock().expect("not poisoned");
        let page = pages.get_mut(&path).expect("a release");
        *page = edit(page);
    }

    /// Whether the image that a builder has released is in its registry.
    pub(super) fn serve(&self, builder: &str, name: &str, is_there: bool) {
        let path = format!(
            "/v2/{builder}/{name}/manifests/{}",
            self.builders[builder].version
        );
        let mut pages = self.releases.lock().expect("not poisoned");
        if is_there {
            pages.remove(&path);
        } else {
            pages.insert(path, String::new());
        }
    }

    /// One run of the bot's command, with what the bot says of its upgrades.
    pub(super) fn run_bot(&self) -> Run {
        let raised = self.raised.iter().map(|name| &self.builders[name]);
        let upgrades: Vec<_> = raised
            .map(|builder| (builder.dependency, &*builder.merged, &*builder.version))
            .collect();
        bot::run_in(&self.stage, "", Some(&bot::data(&upgrades)))
    }

    /// The merge request of the bot is merged, and main is green: nothing is left to do.
    pub(super) fn merge(&mut self) -> String {
        let before = self.main();
        let run = self.run_bot().exit(0).stdout("");
        let after = self.stage.texts();
        self.run_bot().exit(0);
        assert_eq!(self.stage.texts(), after, "a second run changes nothing");
        self.stage.run("check --frozen").exit(0);
        self.stage.run("render --check --frozen").exit(0);
        commit_all(self.stage.path(), "Raise");
        self.accept();
        self.said(&run) + &changes(&before, &values_of(&after))
    }

    /// The merge request stays open, with the bot's edit alone. Answers why.
    pub(super) fn refuse(&self, status: i32) -> String {
        let raised = self.stage.texts();
        let run = self.run_bot().exit(status).stdout("");
        assert_eq!(self.stage.texts(), raised, "nothing is written");
        let stderr = &run.outcome.stderr;
        let is_done = |line: &str| {
            ["fixed ", "added ", "dropped ", "changed "]
                .iter()
                .any(|done| line.starts_with(done))
                || line.ends_with("; written")
        };
        assert!(
            !stderr.lines().any(is_done),
            "what is undone is not said to be done: {stderr}"
        );
        let said = self.said(&run);
        let lines: Vec<&str> = said.lines().take(3).collect();
        lines.join("\n") + "\n"
    }

    /// What main has of the values.
    fn main(&self) -> crate::support::stage::Texts {
        let text = git(self.stage.path(), &["show", "HEAD:values.yaml"]) + "\n";
        [("values.yaml".to_owned(), text)].into()
    }

    fn accept(&mut self) {
        self.raised.clear();
        for builder in self.builders.values_mut() {
            builder.version.clone_into(&mut builder.merged);
        }
    }

    /// What a run says, without what differs from run to run, and without the lines of single images.
    pub(super) fn said(&self, run: &Run) -> String {
        self.text(&run.outcome.stderr)
    }

    /// The same of a text that quotes a run.
    pub(super) fn text(&self, quoted: &str) -> String {
        let is_image = |line: &&str| line.starts_with("dropped ") || line.starts_with("added ");
        let lines = quoted
            .lines()
            .filter(|line| !is_image(line) && !line.starts_with("metalmark.lock"));
        lines
            .map(|line| line.replace(&self.registry.host(), "HOST") + "\n")
            .collect()
    }
}

fn values_of(texts: &crate::support::stage::Texts) -> crate::support::stage::Texts {
    let values = texts.iter().filter(|(path, _)| *path == "values.yaml");
    values
        .map(|(path, text)| (path.clone(), text.clone()))
        .collect()
}

/// The image of the site that runs an older release.
const OLDER: &str = "ubuntu-noble-hardened-rke2-1-33";

/// Publishes it.
fn serve_older(registry: &Registry, tag: &str, version: &str) {
    let reference = format!("oci://{}/{DIB}/{OLDER}:{tag}", registry.host());
    registry.image(
        &format!("{DIB}/{OLDER}"),
        tag,
        &annotations(&reference, version),
    );
}

/// The chart's values, of the first releases.
fn values(host: &str) -> String {
    let images: String = [
        (DIB, "ubuntu-noble-hardened-rke2-1-33"),
        (DIB, "ubuntu-noble-hardened-rke2-1-32"),
        (DIB, "ubuntu-noble-plain-kubeadm-1-33"),
        (KIWI, "leapmicro-6-0-plain-rke2-1-33"),
        (KIWI, "leapmicro-6-0-plain-rke2-1-32"),
    ]
    .iter()
    .map(|(registry, name)| format!("  {name}: {{os_images_oci_registry: {registry}}}\n"))
    .collect();
    let map: String = ["1.32.9", "1.33.5", "1.34.0"]
        .iter()
        .map(|version| {
            let minor = &version[..4];
            format!(
                "    '{minor}': >-\n      {{{{- $v := \"v{version}\" -}}}}\n      \
                 {{{{- if eq .Values.cluster.capi_providers.bootstrap_provider \"cabpr\" -}}}}{{{{- $v = \"v{version}+rke2r1\" -}}}}{{{{- end -}}}}\n      \
                 {{{{- $v -}}}}\n"
            )
        })
        .collect();
    format!(
        "# renovate: depName={BUILDER}\n\
         sylva_diskimagebuilder_version: 0.7.4 # {DIB}\n\
         # renovate: depName=sylva-projects/sylva-elements/kiwi-imagebuilder\n\
         acme_kiwi_version: 0.4.1 # {KIWI}\n\
         os_images_oci_registries:\n\
        \x20 {DIB}: {{url: 'oci://{host}/{DIB}', tag: '{{{{ .Values.sylva_diskimagebuilder_version }}}}', cosign_publickey: ''}}\n\
        \x20 {KIWI}: {{url: 'oci://{host}/{KIWI}', tag: '{{{{ .Values.acme_kiwi_version }}}}', cosign_publickey: ''}}\n\
         sylva_diskimagebuilder_images:\n\
{images}_internal:\n  k8s_version_map:\n{map}\
         cluster:\n  k8s_version: '{{{{ index .Values._internal.k8s_version_map .Values.k8s_version_short }}}}'\n"
    )
}
