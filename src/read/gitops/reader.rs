//! Each file of a composition, read once: as objects, as values, or as plain text, with its places.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::files::{Files, Found};
use crate::model::engine::Engine;
use crate::model::finding::{Finding, Level};
use crate::model::place::{FileId, Place, Source, Sources};
use crate::model::value::{Entry, Node, Value};
use crate::yaml::{self, Documents, Notice, NoticeKind, Spelling};

use super::super::files::{broken, display, told};
use super::super::own_output::OwnOutput;
use super::kustomization::NAMES;
use super::work::Work;
use super::{FAILED, Options, RunTime, base64};

/// Why a composition ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// Somebody can mend it in a file.
    Finding(Box<Finding>),
    /// The world failed.
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<Finding> for Stop {
    fn from(finding: Finding) -> Self {
        Self::Finding(Box::new(finding))
    }
}

/// Files that were read for one composition and serve the others of the fleet, by path.
pub(super) type Loads = BTreeMap<PathBuf, Load>;

/// One file as it was read, as far as it was asked for.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) file: FileId,
    /// Whether its bytes are UTF-8; kustomize keeps others as binary data, which holds no values.
    pub(super) is_text: bool,
    objects: Option<Arc<Vec<Node>>>,
    values: Option<Node>,
}

/// Reads files and keeps them.
pub(super) struct Reader<'r> {
    pub(super) files: &'r dyn Files,
    pub(super) engine: Engine,
    pub(super) sources: &'r mut Sources,
    pub(super) findings: Vec<Finding>,
    /// What was read for all clusters.
    pub(super) shared: &'r Loads,
    /// What was read for this one.
    pub(super) loads: Loads,
    /// What is known of the run time.
    pub(super) run_time: Option<&'r dyn RunTime>,
    /// The files that metalmark rendered.
    own_output: &'r OwnOutput,
    /// What the build that is under way may still spend.
    pub(super) work: Work,
}

impl<'r> Reader<'r> {
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
            run_time: None,
            own_output: &options.own_output,
            work: Work::default(),
        }
    }

    /// Whether metalmark renders the file or the kustomization at a path, so that it is left out. What is not rendered yet
    /// is reported, for its path may be misspelled.
    pub(super) fn is_own_output(&mut self, path: &Path, place: Place) -> Result<bool, Stop> {
        let kustomization = path.join(NAMES[0]);
        if self.own_output.has(self.files, path)?
            || self.own_output.has(self.files, &kustomization)?
        {
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

    /// Whether a place is in a file that metalmark rendered.
    pub(super) fn is_rendered(&self, place: Place) -> Result<bool, Stop> {
        let source = self.source(place.file);
        Ok(self.own_output.has(self.files, Path::new(&*source.path))?)
    }

    /// The file at a path; none if there is none.
    pub(super) fn open(&mut self, path: &Path) -> Result<Option<Load>, Stop> {
        if let Some(load) = self.loads.get(path).or_else(|| self.shared.get(path)) {
            return Ok(Some(load.clone()));
        }
        let bytes = match self.files.file(path)? {
            Found::File(bytes) => bytes,
            Found::Nothing => return Ok(None),
            Found::Outside => {
                let message = format!("`{}` leads out of the repository", display(path));
                return Err(Finding::new(FAILED, message).into());
            }
        };
        let is_text = std::str::from_utf8(&bytes).is_ok();
        let leads_to = self.files.leads_to(path);
        let is_secret = [Some(path), leads_to.as_deref()];
        let is_secret = is_secret.into_iter().flatten().any(yaml::is_named_secret);
        let text = yaml::decode(&bytes, Engine::Kubectl).unwrap_or_default();
        let source = yaml::source(display(path), text, is_secret);
        let load = Load {
            file: self.sources.add(source),
            is_text,
            objects: None,
            values: None,
        };
        self.loads.insert(path.to_owned(), load.clone());
        Ok(Some(load))
    }

    /// The file at a path, all of whose values are secret because a Secret is made of it.
    pub(super) fn open_secret(&mut self, path: &Path) -> Result<Option<Load>, Stop> {
        let Some(load) = self.open(path)? else {
            return Ok(None);
        };
        let source = self.source(load.file);
        if source.is_hidden {
            return Ok(Some(load));
        }
        let source = yaml::source(Arc::clone(&source.path), source.text.as_str(), true);
        let load = Load {
            file: self.sources.add(source),
            is_text: load.is_text,
            objects: None,
            values: None,
        };
        self.loads.insert(path.to_owned(), load.clone());
        Ok(Some(load))
    }

    /// Whether a file is there and a line of it starts with this text.
    pub(super) fn mentions(&mut self, path: &Path, text: &str) -> Result<bool, Stop> {
        let Some(load) = self.open(path)? else {
            return Ok(false);
        };
        let source = self.source(load.file);
        Ok(source.text.lines().any(|line| line.starts_with(text)))
    }

    /// The documents of a file of Kubernetes objects, as kubectl reads them; none if there is no such file.
    pub(super) fn objects(&mut self, path: &Path) -> Result<Option<Arc<Vec<Node>>>, Stop> {
        let Some(load) = self.open(path)? else {
            return Ok(None);
        };
        if let Some(objects) = load.objects {
            return Ok(Some(objects));
        }
        let source = self.source(load.file);
        let read = yaml::read(&source.text, load.file, Engine::Kubectl)
            .map_err(|error| broken(&error, self.sources))?;
        let objects = Arc::new(present(read));
        if let Some(load) = self.loads.get_mut(path) {
            load.objects = Some(Arc::clone(&objects));
        }
        Ok(Some(objects))
    }

    /// A values file, as Helm reads it; none if there is no such file.
    pub(super) fn values(&mut self, path: &Path) -> Result<Option<Node>, Stop> {
        let Some(load) = self.open(path)? else {
            return Ok(None);
        };
        if self.own_output.has(self.files, path)? {
            return Ok(Some(Node::computed(Value::empty_map())));
        }
        if let Some(values) = load.values {
            return Ok(Some(values));
        }
        let source = self.source(load.file);
        let values = self.read_values(&source.text, load.file, None)?;
        if let Some(load) = self.loads.get_mut(path) {
            load.values = Some(values.clone());
        }
        Ok(Some(values))
    }

    /// The values that an object holds as text: in a ConfigMap, a Secret, an Application. They are placed in the file that
    /// the text came from, if it came from one as a whole, else inside the scalar that holds them.
    pub(super) fn embedded(&mut self, text: &str, place: Place) -> Result<Node, Stop> {
        let source = self.source(place.file);
        if is_whole(&source, place) && source.text == text {
            let path = PathBuf::from(&*source.path);
            if let Some(load) = self.open(&path)?
                && load.file == place.file
                && let Some(values) = self.values(&path)?
            {
                return Ok(values);
            }
            return self.read_values(text, place.file, None);
        }
        let spelling = Spelling::new(&source.text, place, text);
        let at = |inner: Place| spelling.place(text, inner.start as usize..inner.end as usize);
        self.read_values(text, place.file, Some(&at))
    }

    /// The documents in a text that a file holds in a scalar: an inline patch.
    pub(super) fn inline(&self, text: &str, place: Place) -> Result<Vec<Node>, Stop> {
        let source = self.source(place.file);
        let spelling = Spelling::new(&source.text, place, text);
        let at = |inner: Place| spelling.place(text, inner.start as usize..inner.end as usize);
        let read = yaml::read(text, place.file, Engine::Kubectl).map_err(|mut error| {
            error.place = at(error.place);
            broken(&error, self.sources)
        })?;
        let documents = present(read);
        Ok(documents.iter().map(|node| moved(node, &at)).collect())
    }

    fn read_values(
        &mut self,
        text: &str,
        file: FileId,
        within: Option<&dyn Fn(Place) -> Place>,
    ) -> Result<Node, Stop> {
        let at = |place| within.map_or(place, |within| within(place));
        let read =
            yaml::read(text, file, self.engine).and_then(|read| Ok((read.values()?, read.notices)));
        let (tree, notices) = read.map_err(|mut error| {
            error.place = at(error.place);
            broken(&error, self.sources)
        })?;
        for mut notice in notices {
            place_notice(&mut notice, &at);
            self.findings.extend(told(&notice, self.sources));
        }
        Ok(match within {
            Some(_) => moved(&tree, &at),
            None => tree,
        })
    }

    /// The file of that number; an empty one for values that stand in no file.
    pub(super) fn source(&self, file: FileId) -> Arc<Source> {
        let found = self.sources.get(file);
        found.map_or_else(|| Arc::new(Source::new("", "")), Arc::clone)
    }

    /// A finding at a place.
    pub(super) fn finding(&self, rule: &'static str, message: String, place: Place) -> Finding {
        Finding::new(rule, message).at(self.sources.resolve(place), "")
    }

    /// Spends steps of the build, for what stands at a place.
    pub(super) fn spend(&self, steps: usize, place: Place) -> Result<(), Stop> {
        let spent = self.work.spend(steps);
        spent.map_err(|message| self.refused(message, place))
    }

    /// What Flux or kustomize would refuse, at a place.
    pub(super) fn refused(&self, message: String, place: Place) -> Stop {
        self.finding(FAILED, message, place).into()
    }
}

/// The text of a Secret's `data` value.
pub(super) fn decoded(node: &Node) -> Option<String> {
    let text = node.value.as_str()?;
    String::from_utf8(base64::decode(text)?).ok()
}

/// Documents that are not null.
fn present(read: Documents) -> Vec<Node> {
    let mut documents = read.documents;
    documents.retain(|document| !document.value.is_null());
    documents
}

fn is_whole(source: &Source, place: Place) -> bool {
    place.start == 0 && place.end as usize == source.text.len()
}

fn place_notice(notice: &mut Notice, at: &impl Fn(Place) -> Place) {
    notice.place = at(notice.place);
    match &mut notice.kind {
        NoticeKind::DuplicateKey { first, .. } => *first = at(*first),
        NoticeKind::MergeReplaces { merged, .. } => *merged = at(*merged),
        NoticeKind::Misread { .. } | NoticeKind::IgnoredDocuments | NoticeKind::More { .. } => {}
    }
}

/// The same tree at other places. As deep as the reader lets a tree be.
fn moved(node: &Node, at: &impl Fn(Place) -> Place) -> Node {
    let place = if node.place.is_known() {
        at(node.place)
    } else {
        node.place
    };
    let value = match &node.value {
        Value::List(items) => {
            Value::from(items.iter().map(|item| moved(item, at)).collect::<Vec<_>>())
        }
        Value::Map(map) => {
            let entries = map.iter().map(|entry| Entry {
                key: Arc::clone(&entry.key),
                key_place: at(entry.key_place),
                node: moved(&entry.node, at),
            });
            Value::Map(Arc::new(entries.collect()))
        }
        scalar => scalar.clone(),
    };
    Node { value, place }
}
