//! Renders checked clusters into files: each output's target builds a context, and its templates turn it into text. Pure, and
//! the only user of the template engine.
//!
//! Templates are compiled once. A template of the user replaces the embedded one with the same name (`<target>/<file>`); others
//! can be included by name. In `*.yaml.j2`, `{{ … }}` writes a YAML scalar, quoted if necessary; `{{ tree | yaml(4) }}` writes a
//! whole tree indented by four columns. An undefined variable is an error. The `path` of an output and the URL of images are
//! plain-text templates with the variables `cluster` and `image`.

mod context;
mod documents;
mod duplicates;
mod engine;
mod names;
pub mod objects;
mod options;
mod stamp;
pub mod targets;
mod urls;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::{Image, Images};
use capi::providers::Stamp;
use capi::schema::Schemas;
use minijinja::Value as Context;
use yaml_tree::opaque;
use yaml_tree::place::{Source, Spot};
use yaml_tree::suggest::did_you_mean;

use crate::model::cluster::{Cluster, ClusterOrigin};
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::finding::{Finding, Label, Subject};
use crate::model::manifest::{FileKind, ManifestFile};
use crate::model::rule::{Level, RuleId};
use crate::model::served_images::ServedImages;
use crate::model::settings::{Output, Settings};
pub use duplicates::{Duplicates, FileObjects, Home, duplicates, objects};
use engine::Engine;
pub use names::ClusterNames;
use options::Options;
use targets::{Content, SharedInput, Target, TargetFile, TargetInput};
pub use urls::ImageUrls;

/// Renders any number of clusters; shared between threads.
pub struct Renderer<'a> {
    settings: &'a Settings,
    schemas: Option<&'a Schemas>,
    engine: Engine,
    overridden: BTreeSet<String>,
    outputs: Vec<Prepared<'a>>,
}

struct Prepared<'a> {
    output: &'a Output,
    target: &'static dyn Target,
    /// Its index in the project file.
    index: usize,
    path_template: String,
    names_cluster: bool,
    options: Options,
}

impl<'a> Renderer<'a> {
    /// Compiles the templates. `overrides` are the user's own, by `<target>/<file>`. Errors in a template are reported; files of
    /// that template are then omitted.
    pub fn new(
        settings: &'a Settings,
        overrides: &BTreeMap<String, Arc<Source>>,
        schemas: Option<&'a Schemas>,
        findings: &mut Vec<Finding>,
    ) -> Self {
        let mut engine = Engine::new();
        for target in targets::TARGETS {
            for (file, text) in target.templates() {
                let name = format!("{}/{file}", target.name());
                if !overrides.contains_key(&name) {
                    engine.add(name, Arc::new(Source::new(*file, *text)), findings);
                }
            }
        }
        for (name, source) in overrides {
            if let Some(finding) = near_miss(name, source) {
                findings.push(finding);
            }
            engine.add(name.clone(), Arc::clone(source), findings);
        }
        let (url, spot) = (&settings.images.url, settings.images.url_spot.clone());
        engine.add_value(stamp::URL_TEMPLATE.to_owned(), url, spot, findings);
        let mut outputs = Vec::with_capacity(settings.outputs.len());
        for (index, output) in settings.outputs.iter().enumerate() {
            let Some(target) = targets::find(&output.target) else {
                // Reported when the project file is read.
                continue;
            };
            let path_template = format!("outputs[{index}].path");
            let spot = output.spot.clone();
            engine.add_value(path_template.clone(), &output.path, spot, findings);
            let names_cluster = engine.mentions(&path_template, "cluster");
            outputs.push(Prepared {
                output,
                target,
                index,
                path_template,
                names_cluster,
                options: Options::compile(output, index, &mut engine, findings),
            });
        }
        findings.extend(outputs.iter().flat_map(|one| {
            let is_inside = |other: &&Prepared<'_>| {
                let inside = strip_folder(other).strip_prefix(strip_folder(one));
                let is_below = inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
                is_below && other.index != one.index && one.target.is_applied_whole(one.output)
            };
            outputs
                .iter()
                .find(is_inside)
                .map(|other| neighbor_finding(one.output, other.output))
        }));
        Self {
            settings,
            schemas,
            engine,
            overridden: overrides.keys().cloned().collect(),
            outputs,
        }
    }

    /// The stamp of each pool's image, in the order of the pools; none for a pool without an image.
    pub fn stamps(&self, view: &ClusterView, findings: &mut Vec<Finding>) -> Vec<Option<Stamp>> {
        let cluster = context::cluster(&view.cluster);
        let refused = RefCell::new(findings);
        let stamp = |image: &Image| {
            let made = self.stamp(&view.images, image, Some(&cluster))?;
            made.map_err(|finding| refused.borrow_mut().push(*finding))
                .ok()
        };
        let of_pool = |it: SelectedPool<'_>| {
            let made = stamp::for_pool(it.pool, it.selection, &view.images, &stamp)?;
            if let Some(mut finding) = stamp::find_unpinned(&made, &view.images) {
                finding.subject.cluster = Some(view.cluster.name.to_string());
                finding.subject.pool = Some(it.pool.name.to_string());
                finding.subject.image = made.key.as_ref().map(ToString::to_string);
                let spot = self.settings.images.url_spot.clone();
                let finding = finding.with_label(spot, "machines pull this image");
                refused.borrow_mut().push(finding);
            }
            Some(made)
        };
        view.pools().map(of_pool).collect()
    }

    /// The files of one cluster, for every output.
    pub fn cluster(&self, view: &ClusterView, findings: &mut Vec<Finding>) -> Vec<ManifestFile> {
        // Its objects exist already, in the user's own manifests.
        if view.cluster.origin == ClusterOrigin::Manifests {
            return Vec::new();
        }
        let found_before = findings.len();
        // Nothing of it is rendered, so that no byte depends on a secret.
        let unknown = &view.cluster.unknown_values;
        if !unknown.is_empty() && !self.outputs.is_empty() {
            let findings_of = unknown.iter().map(|value| {
                let message = format!("{}, and cannot be rendered", value.value);
                Finding::new(RuleId::ManifestInvalid, message)
                    .with_subject(Subject::cluster(&view.cluster.name))
                    .with_label(view.sources.resolve(value.place), "this value")
                    .help("name images and versions in a file that is not secret")
            });
            findings.extend(findings_of);
            return Vec::new();
        }
        let refused = RefCell::new(Vec::new());
        let cluster = context::cluster(&view.cluster);
        let stamp = |image: &Image| {
            let made = self.stamp(&view.images, image, Some(&cluster))?;
            made.map_err(|finding| refused.borrow_mut().push(*finding))
                .ok()
        };
        let stamps = self.stamps(view, findings);
        let mut files = Vec::new();
        for prepared in &self.outputs {
            let scope = context::scope(None, Some(&cluster));
            let Some(folder) = self.folder(prepared, scope.clone(), findings) else {
                continue;
            };
            let start = findings.len();
            let options = &prepared.options;
            let output = options.fill(prepared.output, &self.engine, &scope, findings);
            let input = TargetInput {
                view,
                registries: &self.settings.registries,
                output: &output,
                folder: &folder,
                stamps: &stamps,
                stamp: &stamp,
            };
            let made = prepared.target.cluster(&input, findings);
            let maker = format!("{}/{}", prepared.target.name(), view.cluster.name);
            let first = files.len();
            self.files(prepared, &folder, &maker, made, &mut files, findings);
            place(&mut findings[start..], prepared.output);
            for file in &mut files[first..] {
                file.subject.cluster = Some(view.cluster.name.to_string());
            }
        }
        findings.append(&mut refused.into_inner());
        for finding in &mut findings[found_before..] {
            let subject = &mut finding.subject.cluster;
            subject.get_or_insert_with(|| view.cluster.name.to_string());
        }
        files
    }

    /// The stamp of an image of a catalog, for a cluster or for none; nothing if the URL's template did not compile, which is
    /// already reported.
    pub fn stamp_of(
        &self,
        images: &Arc<Images>,
        image: &Image,
        cluster: Option<&Cluster>,
    ) -> Option<Result<Stamp, Box<Finding>>> {
        let cluster = cluster.map(context::cluster);
        self.stamp(images, image, cluster.as_ref())
    }

    /// The files that all clusters share, for every output whose path does not contain the cluster.
    pub fn render_shared(
        &self,
        served: &ServedImages,
        findings: &mut Vec<Finding>,
    ) -> Vec<ManifestFile> {
        let refused = RefCell::new(Vec::new());
        let stamp = |image: &Image| {
            let made = self.stamp(&served.images, image, None)?;
            made.map_err(|finding| refused.borrow_mut().push(*finding))
                .ok()
        };
        let mut files = Vec::new();
        for prepared in self.outputs_for_all(findings) {
            let scope = context::scope(None, None);
            let Some(folder) = self.folder(prepared, scope, findings) else {
                continue;
            };
            let start = findings.len();
            let input = SharedInput {
                images: served,
                output: prepared.output,
                folder: &folder,
                stamp: &stamp,
            };
            let made = prepared.target.render_shared(&input, findings);
            let maker = prepared.target.name();
            self.files(prepared, &folder, maker, made, &mut files, findings);
            place(&mut findings[start..], prepared.output);
        }
        findings.append(&mut refused.into_inner());
        files
    }

    /// Whether any output has files that all clusters share.
    pub fn has_shared(&self) -> bool {
        !self.outputs_for_all(&mut Vec::new()).is_empty()
    }

    fn outputs_for_all(&self, findings: &mut Vec<Finding>) -> Vec<&Prepared<'_>> {
        let mut is_shared = |prepared: &&Prepared<'_>| {
            let start = findings.len();
            let target = prepared.target;
            let is_shared = !prepared.names_cluster && target.is_shared(prepared.output, findings);
            place(&mut findings[start..], prepared.output);
            is_shared
        };
        self.outputs.iter().filter(&mut is_shared).collect()
    }

    /// The stamp of an image; none if the URL's template did not compile, which is already reported.
    fn stamp(
        &self,
        images: &Arc<Images>,
        image: &Image,
        cluster: Option<&Context>,
    ) -> Option<Result<Stamp, Box<Finding>>> {
        if let Some(url) = self.settings.images.own_url(image) {
            let style = self.settings.images.checksum;
            return Some(Ok(stamp::for_image(image, url.to_owned(), style)));
        }
        if self.engine.is_broken(stamp::URL_TEMPLATE) {
            return None;
        }
        let context = context::scope(Some(context::image(images, &image.key)), cluster);
        let url = self.engine.render_line(stamp::URL_TEMPLATE, context);
        let stamped = url.map(|url| stamp::for_image(image, url, self.settings.images.checksum));
        Some(stamped.map_err(|mut finding| {
            finding.subject.image = Some(image.key.to_string());
            finding
        }))
    }

    /// The folder of an output, without leading or trailing slash.
    fn folder(
        &self,
        prepared: &Prepared<'_>,
        scope: Context,
        findings: &mut Vec<Finding>,
    ) -> Option<String> {
        if self.engine.is_broken(&prepared.path_template) {
            return None;
        }
        match self.engine.render_line(&prepared.path_template, scope) {
            Ok(folder) => Some(
                folder
                    .trim_start_matches("./")
                    .trim_end_matches('/')
                    .to_owned(),
            ),
            Err(finding) => {
                findings.push(*finding);
                None
            }
        }
    }

    fn files(
        &self,
        prepared: &Prepared<'_>,
        folder: &str,
        maker: &str,
        made: Vec<TargetFile>,
        files: &mut Vec<ManifestFile>,
        findings: &mut Vec<Finding>,
    ) {
        let Prepared { target, output, .. } = prepared;
        let root: Arc<str> = if target.is_one_folder(output) {
            folder.into()
        } else {
            maker.into()
        };
        for file in made {
            let template = format!("{}/{}", target.name(), file.template);
            let path = match folder {
                "" | "." => file.path,
                folder => format!("{folder}/{}", file.path),
            };
            if !stays_inside(&path) {
                findings.push(leaves_folder(&path).with_label(output.spot.clone(), ""));
                continue;
            }
            if self.engine.is_broken(&template) {
                continue;
            }
            match self
                .engine
                .render(&template, context::map(&Arc::new(file.context)))
            {
                // If a user's template writes no object, the file is omitted: an empty file would prune just as no file.
                Ok(text) if file.content != Content::Yaml && documents::is_blank(&text) => {}
                Ok(text) if opaque::is_opaque(&text) => {
                    findings.push(shows_secret(&path, &text).with_label(output.spot.clone(), ""));
                }
                Ok(text) => {
                    let content = match file.content {
                        Content::TheseObjects(_) if self.overridden.contains(&template) => {
                            Content::Objects
                        }
                        content => content,
                    };
                    let mut file =
                        ManifestFile::from_project(&self.settings.project, path, &text, maker);
                    file.objects =
                        documents::check(&file.path, &file.text, &content, self.schemas, findings);
                    file.output = prepared.index;
                    file.root = Arc::clone(&root);
                    if content == Content::Yaml {
                        file.kind = FileKind::Input;
                    }
                    files.push(file);
                }
                Err(finding) => findings.push(*finding),
            }
        }
    }
}

/// Adds the place of the output to findings about its options.
fn place(findings: &mut [Finding], output: &Output) {
    let is_placeless =
        |finding: &&mut Finding| finding.rule == RuleId::ProjectFile && finding.labels.is_empty();
    for finding in findings.iter_mut().filter(is_placeless) {
        let text = String::new();
        let spot = output.spot.clone();
        finding.labels.extend(spot.map(|spot| Label { spot, text }));
    }
}

fn strip_folder<'a>(prepared: &Prepared<'a>) -> &'a str {
    let path = prepared.output.path.trim_start_matches("./");
    path.trim_end_matches(['/', '.'])
}

/// Files of another output in a folder of which Flux applies every file.
fn neighbor_finding(one: &Output, other: &Output) -> Finding {
    let (path, target) = (&one.path, &other.target);
    let message =
        format!("Flux applies every file below `{path}`, also those of the output `{target}`");
    Finding::new(RuleId::ProjectFile, message)
        .with_label(other.spot.clone(), "")
        .help("give each output a folder of its own")
}

/// Whether a relative path has only plain names, so that no name from values leads out of the output's folder.
fn stays_inside(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | ".."))
        && !path.contains(|letter: char| letter.is_control() || letter == '\\')
}

/// What is rendered is read by everybody: no byte of it depends on a secret.
fn shows_secret(path: &str, text: &str) -> Finding {
    let labels = opaque::labels(text).unwrap_or_default();
    let message = format!("`{path}` is not rendered: it would show a secret, {labels}");
    Finding::new(RuleId::ManifestInvalid, message)
        .help("write the value in a file that is not secret, or let the cluster read a Secret")
}

fn leaves_folder(path: &str) -> Finding {
    Finding::new(
        RuleId::OutputPathIllegal,
        format!(
            "the output path `{}` leaves the project's folder",
            path.escape_debug()
        ),
    )
    .help("write a relative path without `..`: `--out` writes elsewhere")
}

/// A warning for a template of the user that replaces none but has a similar name; other templates may exist to be included.
fn near_miss(name: &str, source: &Arc<Source>) -> Option<Finding> {
    let embedded: Vec<String> = targets::TARGETS
        .iter()
        .flat_map(|target| {
            let files = target.templates().iter();
            files.map(|(file, _)| format!("{}/{file}", target.name()))
        })
        .collect();
    if embedded.iter().any(|known| known == name) {
        return None;
    }
    let meant = did_you_mean(name, embedded.iter().map(String::as_str))?;
    let spot = Spot::from_range(source, 0, 0);
    let finding = Finding::new(
        RuleId::TemplateError,
        format!("template `{name}` replaces nothing"),
    );
    let finding = finding
        .with_label(Some(spot), "")
        .unless_set(Level::Warning);
    Some(finding.help(format!("did you mean `{meant}`?")))
}
