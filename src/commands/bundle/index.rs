//! An index of bundles: a file that names bundles and other indexes, and which of them requires which. It is read as one bundle
//! of manifests, what is required first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::bundle::{Bundle, File, Kind, MANIFESTS, registry};
use crate::error::Error;
use crate::files;
use crate::model::engine::Engine;
use crate::model::finding::Finding;
use crate::model::place::{FileId, Place, Source, Spot};
use crate::model::suggest::did_you_mean;
use crate::model::value::Node;
use crate::read::Request;
use crate::registry::Progress;
use crate::yaml;

use super::from::{From, Loaded};
use super::{below, lost};

/// The annotation of a bundle that was made of others: their names, in their order.
const CONTAINS: &str = "dev.metalmark.bundle.contains";

/// The longest index that is read, in bytes.
const LONGEST: u64 = 4 << 20;

/// How many indexes may stand in each other.
const DEEPEST: usize = 16;

/// One bundle of an index.
struct Child {
    name: Arc<str>,
    from: Arc<str>,
    from_place: Place,
    requires: Vec<(Arc<str>, Place)>,
}

/// What an index says.
struct Index {
    source: Arc<Source>,
    provided: BTreeSet<Arc<str>>,
    children: Vec<Child>,
    findings: Vec<Finding>,
}

/// The indexes that are being read, outermost first.
#[derive(Default)]
pub(super) struct Above(Vec<PathBuf>);

/// The bundle that an index comes to.
///
/// # Errors
/// A bundle that it names cannot be had.
pub(super) fn load(
    written: &Path,
    request: &Request,
    progress: Option<&Progress>,
    above: &mut Above,
) -> Result<Loaded, Error> {
    let shown = written.to_string_lossy().into_owned();
    let mut index = read(written, &below(request, written))?;
    let order = index.order();
    let mut loaded = Loaded {
        bundle: Bundle::empty(Kind::Plain),
        folders: vec![MANIFESTS.to_owned()],
        findings: std::mem::take(&mut index.findings),
        digest: None,
        shown,
    };
    above.0.push(plain(written));
    let (mut gathered, mut names) = (Vec::new(), Vec::new());
    for (number, child) in order
        .iter()
        .map(|child| &index.children[*child])
        .enumerate()
    {
        let folder = written.parent().unwrap_or(Path::new(""));
        let files = index.child(
            child,
            folder,
            request,
            (progress, &mut *above),
            &mut loaded.findings,
        )?;
        let prefix = format!("{MANIFESTS}/{:02}-{}-", number + 1, child.name);
        gathered.extend(files.into_iter().map(|file| {
            let name = file.path.strip_prefix(MANIFESTS).unwrap_or(&file.path);
            let name = name.trim_start_matches('/').replace('/', "-");
            File {
                path: format!("{prefix}{name}").into(),
                ..file
            }
        }));
        names.push(child.name.to_string());
    }
    above.0.pop();
    let twice = |path: Arc<str>| Error::Usage {
        message: format!("two files come to `{path}`"),
    };
    loaded.bundle = Bundle::new(Kind::Plain, gathered).map_err(twice)?;
    loaded
        .bundle
        .annotations
        .insert(CONTAINS.to_owned(), names.join(","));
    Ok(loaded)
}

impl Index {
    /// The manifests of one bundle.
    fn child(
        &self,
        child: &Child,
        folder: &Path,
        request: &Request,
        (progress, above): (Option<&Progress>, &mut Above),
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<File>, Error> {
        let spot = self.spot(child.from_place);
        let from = match From::parse(&child.from) {
            Ok(from) => from.within(folder),
            Err(message) => {
                findings.push(Finding::new("manifest-invalid", message).at(spot, ""));
                return Ok(Vec::new());
            }
        };
        if let From::Index(path) = &from {
            let is_circle = above.0.contains(&plain(path));
            if is_circle || above.0.len() >= DEEPEST {
                let message = match is_circle {
                    true => format!(
                        "the index `{}` names itself, by way of others or not",
                        path.display()
                    ),
                    false => format!("more than {DEEPEST} indexes stand in each other"),
                };
                findings.push(Finding::new("bundle-cycle", message).at(spot, ""));
                return Ok(Vec::new());
            }
        }
        let loaded = match &from {
            From::Index(path) => load(path, request, progress, above)?,
            from => from.load(request, progress)?,
        };
        let is_sound = loaded.findings.is_empty();
        findings.extend(loaded.findings);
        match loaded.bundle.kind {
            Kind::Plain => Ok(loaded.bundle.files().to_vec()),
            Kind::Registry => {
                match registry::plain(loaded.bundle.files(), None).map_err(lost(&loaded.shown))? {
                    Ok(files) => Ok(files),
                    Err(found) => {
                        findings.extend(found);
                        Ok(Vec::new())
                    }
                }
            }
            kind if is_sound => {
                let message = format!(
                    "`{}` is a bundle of kind {kind}, and an index names bundles of manifests",
                    child.from
                );
                findings.push(Finding::new("bundle-unsupported", message).at(spot, ""));
                Ok(Vec::new())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The bundles, each behind those that it requires, else as they are written. What is missing or goes in a circle is a finding.
    fn order(&mut self) -> Vec<usize> {
        let places: BTreeMap<Arc<str>, usize> = self
            .children
            .iter()
            .enumerate()
            .map(|(at, child)| (Arc::clone(&child.name), at))
            .collect();
        let mut found = Vec::new();
        let mut needs: Vec<BTreeSet<usize>> = Vec::new();
        for child in &self.children {
            let mut own = BTreeSet::new();
            for (name, place) in &child.requires {
                match places.get(name) {
                    Some(needed) => drop(own.insert(*needed)),
                    None if self.provided.contains(name) => {}
                    None => found.push(self.missing(child, name, *place, &places)),
                }
            }
            needs.push(own);
        }
        let (mut order, mut done) = (Vec::new(), BTreeSet::new());
        while order.len() < self.children.len() {
            let is_next = |at: &usize| !done.contains(at) && needs[*at].is_subset(&done);
            let Some(next) = (0..self.children.len()).find(is_next) else {
                break;
            };
            done.insert(next);
            order.push(next);
        }
        let rest: Vec<&Child> = self
            .children
            .iter()
            .enumerate()
            .filter(|(at, _)| !done.contains(at))
            .map(|(_, child)| child)
            .collect();
        if let Some(first) = rest.first() {
            let names: Vec<String> = rest
                .iter()
                .map(|child| format!("`{}`", child.name))
                .collect();
            let message = format!(
                "the bundles {} require each other in a circle, or what does",
                names.join(", ")
            );
            let place = first
                .requires
                .first()
                .map_or(first.from_place, |(_, place)| *place);
            found.push(Finding::new("bundle-cycle", message).at(self.spot(place), ""));
        }
        self.findings.append(&mut found);
        order
    }

    fn missing(
        &self,
        child: &Child,
        name: &str,
        place: Place,
        known: &BTreeMap<Arc<str>, usize>,
    ) -> Finding {
        let message = format!(
            "`{}` requires `{name}`, which the index does not name",
            child.name
        );
        let finding = Finding::new("dependency-missing", message).at(self.spot(place), "");
        match did_you_mean(name, known.keys().map(|name| &**name)) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help(format!(
                "add the bundle, or `provided: [{name}]` where somebody else installs it"
            )),
        }
    }

    fn spot(&self, place: Place) -> Option<Spot> {
        Some(Spot {
            source: Arc::clone(&self.source),
            start: place.start,
            end: place.end,
        })
    }

    fn refuse(&mut self, place: Place, message: &str) {
        let spot = self.spot(place);
        self.findings
            .push(Finding::new("manifest-invalid", message).at(spot, ""));
    }

    fn text(&mut self, node: &Node, what: &str) -> Option<Arc<str>> {
        let text = node.value.as_str().filter(|text| !text.is_empty()).cloned();
        if text.is_none() {
            self.refuse(node.place, &format!("{what} is a text"));
        }
        text
    }

    fn add(&mut self, node: &Node) {
        let (name, from) = (node.at(&["name"]), node.at(&["from"]));
        let (Some(name), Some(from)) = (name, from) else {
            self.refuse(node.place, "a bundle of an index has `name` and `from`");
            return;
        };
        let from_place = from.place;
        let (Some(name), Some(from)) = (self.text(name, "`name`"), self.text(from, "`from`"))
        else {
            return;
        };
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.len() > 63 || !name.bytes().all(is_plain) {
            self.refuse(
                node.place,
                "a bundle's name is at most 63 lower-case letters, digits and dashes",
            );
            return;
        }
        if self.children.iter().any(|child| child.name == name) {
            self.refuse(node.place, &format!("the bundle `{name}` stands twice"));
            return;
        }
        let items = node.at(&["requires"]).and_then(|list| list.value.as_list());
        let items: Vec<Node> = items.unwrap_or_default().to_vec();
        let requires = items
            .iter()
            .filter_map(|item| Some((self.text(item, "what is required")?, item.place)));
        let requires = requires.collect();
        self.children.push(Child {
            name,
            from,
            from_place,
            requires,
        });
    }
}

fn read(written: &Path, path: &Path) -> Result<Index, Error> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let opened = files::body(path).open();
    opened
        .and_then(|reader| reader.take(LONGEST).read_to_end(&mut bytes))
        .map_err(|cause| Error::Read {
            path: path.to_owned(),
            cause,
        })?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut index = Index {
        source: Arc::new(Source::new(written.to_string_lossy(), text)),
        provided: BTreeSet::new(),
        children: Vec::new(),
        findings: Vec::new(),
    };
    let source = Arc::clone(&index.source);
    let documents = match yaml::read(&source.text, FileId(0), Engine::Kubectl) {
        Ok(read) => read.documents,
        Err(error) => {
            let spot = index.spot(error.place);
            index
                .findings
                .push(Finding::new("yaml-syntax", error.message).at(spot, ""));
            return Ok(index);
        }
    };
    let Some(document) = documents.first() else {
        index
            .findings
            .push(Finding::new("bundle-empty", "the index names no bundle"));
        return Ok(index);
    };
    for item in document
        .at(&["provided"])
        .and_then(|list| list.value.as_list())
        .unwrap_or_default()
    {
        let name = index.text(item, "what is provided");
        index.provided.extend(name);
    }
    match document
        .at(&["bundles"])
        .and_then(|list| list.value.as_list())
    {
        Some(items) => items.iter().for_each(|item| index.add(item)),
        None => index.refuse(document.place, "an index has a list `bundles`"),
    }
    Ok(index)
}

/// A path without `.` and, as far as it is spelt, without `..`: two spellings of one index are one.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}
