//! Reads each file of a composition once, as objects, values or plain text, with places.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yaml_tree::bytes::BASE64;
use yaml_tree::engine::Engine;
use yaml_tree::json::scalar_text;
use yaml_tree::opaque::is_opaque;
use yaml_tree::place::{FileId, Place, Source, Sources};
use yaml_tree::value::{Entry, Map, Node, Value};
use yaml_tree::{Documents, Spelling, SyntaxError};

use capi::secrets;

use crate::files::{Files, Found, KUSTOMIZATIONS};
use crate::model::date::{Date, MIDNIGHT};
use crate::model::finding::Finding;
use crate::model::ownership::Owner;
use crate::model::rule::{Level, RuleId};

use super::super::files::{display, nearest_path, source, syntax_finding, values_of};
use super::super::own_output::OwnOutput;
use super::configuration::Configuration;
use super::files::resolve_path;
use super::repositories::Repositories;
use super::{FAILED, Options, RunTime, UNSUPPORTED};
use crate::read::error::ReadError;
use crate::read::tables::{Table, find_fault};

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::read) struct PlacedError {
    pub(super) place: Place,
    pub(in crate::read) message: String,
}

/// Files that were read, by path.
pub(super) type Loads = BTreeMap<PathBuf, Load>;

/// A file, and its parsed forms as far as they were needed.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) file: FileId,
    /// Whether its bytes are UTF-8; kustomize keeps others as binary data, which contains no values.
    pub(super) is_text: bool,
    objects: Option<Arc<Vec<Node>>>,
    values: Option<Node>,
}

/// Reads files, and caches them.
pub(super) struct LayerReader<'r> {
    pub(super) files: &'r dyn Files,
    pub(super) engine: Engine,
    pub(super) sources: &'r mut Sources,
    pub(super) findings: Vec<Finding>,
    /// The files that were read for all clusters.
    pub(super) shared: &'r Loads,
    /// The files that were read for this cluster.
    pub(super) loads: Loads,
    /// The texts of whole files that generators put into objects, encoded or not: all of them share one.
    pub(super) generated: HashMap<(FileId, bool), Value>,
    /// The known content of run-time objects.
    pub(super) run_time: Option<&'r dyn RunTime>,
    /// Kustomize's own configuration.
    pub(super) configuration: Configuration,
    /// Which sources of Applications are in this repository.
    pub(super) repositories: Repositories,
    /// The cluster whose values are read; none where they are not read for one.
    pub(super) cluster: Option<&'r str>,
    /// The files that metalmark renders.
    own_output: &'r OwnOutput,
}

impl<'r> LayerReader<'r> {
    pub(super) fn new(
        files: &'r dyn Files,
        options: &'r Options,
        sources: &'r mut Sources,
    ) -> Self {
        Self {
            files,
            engine: options.engine,
            sources,
            findings: Vec::new(),
            shared: &options.shared.loads,
            loads: Loads::new(),
            generated: HashMap::new(),
            run_time: None,
            configuration: Configuration::own(),
            repositories: Repositories::default(),
            cluster: None,
            own_output: &options.own_output,
        }
    }

    /// Whether metalmark renders the file or the kustomization at a path, so that it is skipped: what it changes is what a run renders
    /// for this cluster. What it changes for another one is not known here, and is refused.
    pub(super) fn is_own_output(&mut self, path: &Path, place: Place) -> Result<bool, ReadError> {
        if let (Some(Owner::Cluster(other)), Some(cluster)) = (self.owner(path)?, self.cluster)
            && *other != *cluster
        {
            let named = display(path);
            let message =
                format!("`{named}` is rendered for cluster `{other}`, and applied in `{cluster}`");
            let help = format!("name what is rendered for `{cluster}`, or nothing");
            return Err(self.finding(UNSUPPORTED, message, place).help(help).into());
        }
        self.is_own_object(path, place)
    }

    /// Whether metalmark renders the objects at a path, for any cluster. A file that is not rendered yet is reported, since its
    /// path may be misspelled.
    pub(super) fn is_own_object(&mut self, path: &Path, place: Place) -> Result<bool, ReadError> {
        if self.owner(path)?.is_some() {
            return Ok(true);
        }
        let is_missing = self.own_output.will_have(self.files, path);
        if is_missing {
            let message = format!("`{}` is not rendered yet, and left out", display(path));
            let finding = self.finding(FAILED, message, place);
            let help = "run `metalmark render`; if nothing is rendered there, correct the path";
            let finding = finding.help(help).unless_set(Level::Warning);
            self.findings.push(finding);
        }
        Ok(is_missing)
    }

    /// Whose the rendered file or kustomization at a path is.
    fn owner(&self, path: &Path) -> Result<Option<Owner>, ReadError> {
        Ok(match self.own_output.owner(self.files, path)? {
            Some(owner) => Some(owner),
            None => { self.own_output }.owner(self.files, &path.join(KUSTOMIZATIONS[0]))?,
        })
    }

    /// Whether values are in a file that metalmark rendered, as [`LayerReader::is_own_output`]; a release takes them at a place.
    pub(super) fn is_rendered(&mut self, values: Place, place: Place) -> Result<bool, ReadError> {
        let source = self.source(values.file);
        self.is_own_output(Path::new(&*source.path), place)
    }

    /// The file at a path; none if there is none.
    pub(super) fn open(&mut self, path: &Path) -> Result<Option<Load>, ReadError> {
        if let Some(load) = self.loads.get(path).or_else(|| self.shared.get(path)) {
            return Ok(Some(load.clone()));
        }
        let content = match self.files.file(path)? {
            Found::File(content) => content,
            Found::Nothing => return Ok(None),
            Found::Outside => {
                let message = format!("`{}` leads out of the repository", display(path));
                return Err(Finding::new(FAILED, message).into());
            }
        };
        let is_text = content.is_text();
        let source = source(path, &content, Engine::Kubectl);
        let source = source.unwrap_or_else(|_| Source::new(display(path), ""));
        Ok(Some(self.keep(path, source, is_text)))
    }

    fn keep(&mut self, path: &Path, source: Source, is_text: bool) -> Load {
        let load = Load {
            file: self.sources.add(source),
            is_text,
            objects: None,
            values: None,
        };
        self.loads.insert(path.to_owned(), load.clone());
        load
    }

    /// Whether a file exists and has such a text.
    pub(super) fn has_text(
        &mut self,
        path: &Path,
        is_meant: impl Fn(&str) -> bool,
    ) -> Result<bool, ReadError> {
        let load = self.open(path)?;
        Ok(load.is_some_and(|load| is_meant(&self.source(load.file).text)))
    }

    /// Whether a folder has a chart.
    pub(super) fn has_chart(&self, folder: Option<&Path>) -> bool {
        folder.is_some_and(|folder| self.files.is_file(&folder.join("Chart.yaml")))
    }

    /// Whether a folder has a kustomization.
    pub(super) fn has_kustomization(&self, folder: &Path) -> bool {
        let mut files = KUSTOMIZATIONS.iter().map(|name| folder.join(name));
        files.any(|file| self.files.is_file(&file))
    }

    /// The documents of a file of Kubernetes objects, parsed as by kubectl; none if there is no such file.
    pub(super) fn objects(&mut self, path: &Path) -> Result<Option<Arc<Vec<Node>>>, ReadError> {
        let Some(load) = self.open(path)? else {
            return Ok(None);
        };
        if let Some(objects) = load.objects {
            return Ok(Some(objects));
        }
        let source = self.source(load.file);
        let read = secrets::documents(&source, load.file, Engine::Kubectl)
            .map_err(|error| syntax_finding(error, self.sources))?;
        let objects = Arc::new(present(read));
        if let Some(load) = self.loads.get_mut(path) {
            load.objects = Some(Arc::clone(&objects));
        }
        Ok(Some(objects))
    }

    /// A values file, parsed as by Helm; none if there is no such file.
    pub(super) fn values(&mut self, path: &Path) -> Result<Option<Node>, ReadError> {
        let Some(load) = self.open(path)? else {
            return Ok(None);
        };
        if self.own_output.has(self.files, path)? {
            return Ok(Some(Node::from_value(Value::empty_map())));
        }
        if let Some(values) = load.values {
            return Ok(Some(values));
        }
        let source = self.source(load.file);
        let read = secrets::documents(&source, load.file, self.engine);
        let values = self.values_in(read, None)?;
        if let Some(load) = self.loads.get_mut(path) {
            load.values = Some(values.clone());
        }
        Ok(Some(values))
    }

    /// Parses values in a text of a ConfigMap, a Secret or an Application. Their places are in the file that is the source of the
    /// text, if it was a whole file, otherwise within the scalar.
    pub(super) fn read_embedded(&mut self, text: &str, place: Place) -> Result<Node, ReadError> {
        let source = self.source(place.file);
        if is_whole(&source, place) && (source.text == text || is_opaque(text)) {
            let path = PathBuf::from(&*source.path);
            if let Some(load) = self.open(&path)?
                && load.file == place.file
                && let Some(values) = self.values(&path)?
            {
                return Ok(values);
            }
            let read = yaml_tree::read(text, place.file, self.engine);
            return self.values_in(read, None);
        }
        let spelling = Spelling::new(&source.text, place, text);
        let at = |inner: Place| spelling.place(text, inner.start as usize..inner.end as usize);
        let read = yaml_tree::read(text, place.file, self.engine);
        self.values_in(read, Some(&at))
    }

    /// Parses the documents in a scalar: an inline patch.
    pub(super) fn inline(&self, text: &str, place: Place) -> Result<Vec<Node>, ReadError> {
        let source = self.source(place.file);
        let spelling = Spelling::new(&source.text, place, text);
        let at = |inner: Place| spelling.place(text, inner.start as usize..inner.end as usize);
        // Nobody knows of a patch that cannot be read whether it is one of a Secret.
        let read = yaml_tree::read(text, place.file, Engine::Kubectl).map_err(|mut error| {
            error.place = at(error.place);
            error.message = error.message.seal();
            syntax_finding(error, self.sources)
        })?;
        let documents = present(read);
        Ok(documents
            .iter()
            .map(|node| node.with_places(&mut |place| at(place)))
            .collect())
    }

    fn values_in(
        &mut self,
        read: Result<Documents, SyntaxError>,
        within: Option<&dyn Fn(Place) -> Place>,
    ) -> Result<Node, ReadError> {
        let (sources, findings) = (&*self.sources, &mut self.findings);
        Ok(values_of(read, within, sources, findings)?)
    }

    /// The source with this ID; an empty one for values without a file.
    pub(super) fn source(&self, file: FileId) -> Arc<Source> {
        let found = self.sources.get(file);
        found.map_or_else(|| Arc::new(Source::new("", "")), Arc::clone)
    }

    /// The text of an item that names a file or a folder, or is a text in place of one.
    ///
    /// # Errors
    /// It is no text: kustomize has a list of texts there.
    pub(super) fn path_text<'n>(&self, item: &'n Node) -> Result<&'n Arc<str>, ReadError> {
        item.value.text_with_labels().ok_or_else(|| {
            let kind = item.value.kind();
            let message = format!("an item names a file or a folder, and this is {kind}");
            self.refusal(message, item.place)
        })
    }

    /// A scalar as it is written, without its quotes.
    pub(super) fn spelling(&self, node: &Node) -> Arc<str> {
        if let Some(text) = node.value.text_with_labels() {
            return Arc::clone(text);
        }
        let written = self.text_at(node.place);
        // What an alias leads to is not written at its place.
        if !written.is_empty() && yaml_tree::plain(&written).same(&node.value) {
            return written.into();
        }
        scalar_text(&node.value).unwrap_or_default()
    }

    /// What kustomize reads of an object or a patch otherwise; none where that is nothing. An unquoted date is the time of its midnight, in
    /// `metadata.annotations` a text.
    pub(super) fn spell_object(&self, object: &Node) -> Option<Node> {
        let spelled = has_flags(object).then(|| self.spell(object));
        let current = spelled.as_ref().unwrap_or(object);
        if !has_date(current) {
            return spelled;
        }
        let written = current.get_path(&["metadata", "annotations"]).cloned();
        let mut spelled = self.spell_dates(current);
        if let Some(written) = written {
            spelled.set(&["metadata", "annotations"], written.value);
        }
        Some(spelled)
    }

    /// A tree whose unquoted dates are times.
    pub(super) fn spell_dates(&self, node: &Node) -> Node {
        let mut spelled = node.map_children(&mut |child| self.spell_dates(child));
        if let Value::String(text) = &node.value
            && has_date(node)
            && *self.text_at(node.place) == **text
        {
            spelled.value = Value::String(format!("{text}{MIDNIGHT}").into());
        }
        spelled
    }

    /// What kustomize reads with a newer YAML: `yes`, `on` and `y` are texts there, as keys and as values.
    pub(super) fn spell(&self, node: &Node) -> Node {
        let mut spelled = node.map_children(&mut |child| self.spell(child));
        match &spelled.value {
            Value::Map(map) => {
                let entries = map.iter().map(|entry| Entry {
                    key: self.spell_key(entry),
                    ..entry.clone()
                });
                spelled.value = Value::from(entries.collect::<Map>());
            }
            Value::Bool(_) => {
                let written = self.spelling(node);
                if !is_flag(&written.to_lowercase()) {
                    spelled.value = Value::String(written);
                }
            }
            _ => {}
        }
        spelled
    }

    fn spell_key(&self, entry: &Entry) -> Arc<str> {
        let key = Arc::clone(&entry.key);
        if !is_flag(&key) {
            return key;
        }
        let written = self.text_at(entry.key_place);
        let is_word = ["y", "n", "yes", "no", "on", "off"].contains(&&*written.to_lowercase());
        if is_word { written.into() } else { key }
    }

    /// Whether a text is in quotes, or a block.
    pub(super) fn is_quoted(&self, node: &Node) -> bool {
        let is_text = node.value.as_str().is_some();
        is_text && self.text_at(node.place).starts_with(['"', '\'', '|', '>'])
    }

    fn text_at(&self, place: Place) -> String {
        let Place { file, start, end } = place;
        let source = self.source(file);
        let text = source.text.get(start as usize..end as usize);
        text.unwrap_or_default().to_owned()
    }

    /// Fails for an object with a field that is not carried out, and may matter.
    pub(super) fn check_fields(
        &self,
        table: &Table,
        title: &str,
        node: &Node,
    ) -> Result<(), ReadError> {
        find_fault(table, title, node).map_or(Ok(()), |fault| {
            let mut finding = self.finding(fault.rule, fault.message, fault.place);
            finding.help.extend(fault.help);
            Err(finding.into())
        })
    }

    /// A finding at a place.
    pub(super) fn finding(
        &self,
        rule: RuleId,
        message: impl Into<String>,
        place: Place,
    ) -> Finding {
        Finding::new(rule, message).with_label(self.sources.resolve(place), "")
    }

    /// The error for what Flux or kustomize would refuse, at a place.
    pub(super) fn refusal(&self, message: impl Into<String>, place: Place) -> ReadError {
        self.finding(FAILED, message, place).into()
    }

    /// The same, where the place is known with what is wrong.
    pub(super) fn refuse(&self, error: PlacedError) -> ReadError {
        self.refusal(error.message, error.place)
    }

    /// The error for what is not carried out here, at a place.
    pub(super) fn support_error(&self, message: impl Into<String>, place: Place) -> ReadError {
        self.finding(UNSUPPORTED, message, place).into()
    }

    /// The error for a file that is named at a place, and not there.
    pub(super) fn missing_file(&self, named: &str, path: &Path, place: Place) -> ReadError {
        self.absence_error(format!("there is no file `{named}`"), path, place)
    }

    /// The error for a path that leads to nothing, with the one that it almost is.
    pub(super) fn absence_error(&self, message: String, path: &Path, place: Place) -> ReadError {
        let near = nearest_path(self.files, path).filter(|near| near != path);
        let mut finding = self.finding(FAILED, message, place);
        let help = near.map(|near| format!("did you mean `{}`?", display(&near)));
        finding.help.extend(help);
        finding.into()
    }

    /// The path below the repository's root that is named at a place, as seen from a folder.
    pub(super) fn path(
        &self,
        folder: &Path,
        named: &str,
        place: Place,
    ) -> Result<PathBuf, ReadError> {
        let outside = || format!("`{named}` lies outside of the repository");
        resolve_path(folder, named).ok_or_else(|| self.refusal(outside(), place))
    }
}

/// Whether a tree has what kustomize may read otherwise: see [`LayerReader::spell`].
fn has_flags(node: &Node) -> bool {
    let mut entries = node.entries(&[]);
    matches!(node.value, Value::Bool(_))
        || entries.any(|entry| is_flag(&entry.key))
        || node.children().any(has_flags)
}

/// Whether a tree has a text that is a date.
fn has_date(node: &Node) -> bool {
    let date = node.value.as_str().and_then(|text| Date::parse(text));
    date.is_some() || node.children().any(has_date)
}

fn is_flag(key: &str) -> bool {
    ["true", "false"].contains(&key)
}

/// The decoded value of a Secret's `data`.
pub(super) fn decode(node: &Node) -> Option<String> {
    let text = match &node.value {
        // The label of a secret is not encoded.
        Value::Opaque(opaque) => return Some(opaque.text.to_string()),
        value => value.as_str()?,
    };
    String::from_utf8(BASE64.decode(text.as_bytes()).ok()?).ok()
}

/// The documents that are not null.
fn present(read: Documents) -> Vec<Node> {
    let mut documents = read.documents;
    documents.retain(|document| !document.value.is_null());
    documents
}

fn is_whole(source: &Source, place: Place) -> bool {
    place.start == 0 && place.end as usize == source.text.len()
}
