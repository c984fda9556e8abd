//! Versions and images that no reference joins: the project file's `pairs:` say which belong together.
//!
//! A pair names two places, each as `PATTERN#PATH`. The pattern finds files; the path leads through keys, items by number,
//! `*` for each of them, and `**` for any number of keys. The image's pattern starts at the folder of the file with the
//! version; without one, the image is in the same document. The first `*` of the image's path mean the same keys as those of
//! the version's path.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use capi::secrets;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Located, Source, Sources, Spot};
use yaml_tree::value::{Entry, Map, Node};

use crate::error::Error;
use crate::files::{Files, Found};
use crate::model::cluster::{Choice, Cluster, ClusterOrigin, PoolName};
use crate::model::cluster_view::ClusterRead;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;

use super::super::environment;
use super::super::files::{display, source};
use super::super::gitops::{matches, resolve_path};
use super::super::places::Places;
use super::super::project::PairOptions;
use super::pools::{self, Boots};
use super::{no_values, seen::find_versions};

/// A file with values.
struct File {
    source: Arc<Source>,
    documents: Vec<Node>,
}

impl File {
    fn all(&self) -> impl Iterator<Item = Document<'_>> {
        self.documents
            .iter()
            .map(|document| (&self.source, document))
    }
}

/// A document and its file.
type Document<'n> = (&'n Arc<Source>, &'n Node);

/// A value at a path: the keys that its `*` mean, all keys, and the value.
struct At<'n> {
    bound: Vec<String>,
    keys: Vec<String>,
    node: &'n Node,
}

/// The clusters of a project's pairs, one for each version.
///
/// # Errors
/// A file or folder cannot be read.
pub(in crate::read) fn read_pairs(
    tree: &dyn Files,
    pairs: &[PairOptions],
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> Result<Vec<ClusterRead>, Error> {
    let mut reader = PairReader::new(tree);
    for (index, pair) in pairs.iter().enumerate() {
        let spot = places.item(&["pairs"], index);
        let parts = pair.version.split_once('#').zip(pair.image.split_once('#'));
        let wrong = |message: &str| Some(Finding::new(RuleId::ProjectFile, message));
        let problem = match parts {
            None => wrong("a place of a pair has no `#`"),
            Some(((version, version_path), (image, image_path))) => {
                match reader.pair(version, version_path, image, image_path)? {
                    0 => wrong("no file has both values of a pair"),
                    _ => None,
                }
            }
        };
        if let Some(finding) = problem {
            let help = "write `FILE#KEY.KEY`, such as `{version: values.yaml#kubernetesVersion, image: '#images.*.name'}`";
            reader
                .findings
                .push(finding.with_label(spot, "").help(help));
        }
    }
    let clusters = reader.clusters.into_values();
    let clusters = clusters.map(|(cluster, sources)| ClusterRead {
        cluster,
        sources,
        ..no_values()
    });
    findings.extend(reader.findings);
    Ok(clusters.collect())
}

/// Whether files have both values of a pair, written as in the project file.
///
/// # Errors
/// A file or folder cannot be read.
pub fn has_pair(tree: &dyn Files, version: &str, image: &str) -> Result<bool, Error> {
    let mut reader = PairReader::new(tree);
    let parts = version.split_once('#').zip(image.split_once('#'));
    let Some(((version, version_path), (image, image_path))) = parts else {
        return Ok(false);
    };
    Ok(reader.pair(version, version_path, image, image_path)? > 0)
}

struct PairReader<'t> {
    tree: &'t dyn Files,
    clusters: BTreeMap<String, (Cluster, Sources)>,
    findings: Vec<Finding>,
}

impl<'t> PairReader<'t> {
    fn new(tree: &'t dyn Files) -> Self {
        Self {
            tree,
            clusters: BTreeMap::new(),
            findings: Vec::new(),
        }
    }

    /// Reads one pair, and counts its node pools.
    fn pair(
        &mut self,
        pattern: &str,
        path: &str,
        image_pattern: &str,
        image_path: &str,
    ) -> Result<usize, Error> {
        let mut count = 0;
        for file in matches(self.tree, pattern)? {
            let Some(versions) = self.open(&file)? else {
                continue;
            };
            let folder = file.parent().unwrap_or(Path::new(""));
            let mut images = Vec::new();
            let pattern = resolve_path(folder, image_pattern).filter(|_| !image_pattern.is_empty());
            for file in pattern.map_or_else(
                || Ok(Vec::new()),
                |pattern| matches(self.tree, &display(&pattern)),
            )? {
                images.extend(self.open(&file)?);
            }
            for (number, document) in versions.documents.iter().enumerate() {
                let name = match versions.documents.len() {
                    1 => versions.source.path.to_string(),
                    _ => format!("{}:{}", versions.source.path, number + 1),
                };
                let own = (&versions.source, document);
                let images: Vec<_> = match image_pattern {
                    "" => vec![own],
                    _ => images.iter().flat_map(File::all).collect(),
                };
                count += self.pools(&name, (own, path), &images, image_path);
            }
        }
        Ok(count)
    }

    /// Adds the node pools of the versions in a document, with their images, and counts them.
    fn pools(
        &mut self,
        name: &str,
        ((source, document), path): (Document<'_>, &str),
        images: &[Document<'_>],
        image_path: &str,
    ) -> usize {
        let mut count = 0;
        let mut found: BTreeMap<Vec<String>, Vec<(&Arc<Source>, At<'_>)>> = BTreeMap::new();
        for version in find_values(document, path, &[]) {
            let name = if version.bound.is_empty() {
                name.to_owned()
            } else {
                format!("{name}#{}", version.bound.join("."))
            };
            let of_bound = found.entry(version.bound).or_insert_with_key(|bound| {
                let found = images.iter().flat_map(|(source, document)| {
                    let images = find_values(document, image_path, bound).into_iter();
                    images.map(move |image| (*source, image))
                });
                found.collect::<Vec<_>>()
            });
            for (source_of_image, image) in of_bound {
                let (cluster, sources) = self.clusters.entry(name.clone()).or_insert_with(|| {
                    let cluster = Cluster {
                        origin: ClusterOrigin::Manifests,
                        name: name.as_str().into(),
                        object_name: name.as_str().into(),
                        ..Cluster::default()
                    };
                    (cluster, Sources::default())
                });
                let version = locate_text(sources, source, version.node);
                let Some(image_text) = locate_text(sources, source_of_image, image.node) else {
                    continue;
                };
                let place = image_text.place;
                let pool = PoolName::MachineDeployment(image.keys.join(".").into());
                let boots = Boots {
                    bundle: None,
                    seen: find_versions(image.node, Some(image.node)),
                    choice: Ok(choice(image_text)),
                };
                let mut pool = pools::pool(pool, place, version, boots, false);
                for seen in &mut pool.seen {
                    seen.text.place = place;
                }
                cluster.pools.push(pool);
                count += 1;
            }
        }
        count
    }

    /// The values of a file; none if there is no such file, or it is not text or YAML.
    fn open(&mut self, path: &Path) -> Result<Option<File>, Error> {
        let Found::File(content) = self.tree.file(path)? else {
            return Ok(None);
        };
        let Ok(source) = source(path, &content, Engine::Kubectl) else {
            return Ok(None);
        };
        let source = Arc::new(source);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let read = if name.ends_with(".env") {
            Ok(vec![environment_map(&source)])
        } else if name.ends_with(".md") || name.ends_with(".markdown") {
            Ok(code_blocks(&source))
        } else {
            secrets::documents(&source, FileId(0), Engine::Kubectl).map(|read| read.documents)
        };
        match read {
            Ok(documents) => Ok(Some(File { source, documents })),
            Err(error) => {
                let spot = Spot::new(&source, error.place);
                self.findings.push(Finding::from_syntax(error, Some(spot)));
                Ok(None)
            }
        }
    }
}

/// A text in a cluster's files; none if the value is no text.
fn locate_text(
    sources: &mut Sources,
    source: &Arc<Source>,
    node: &Node,
) -> Option<Located<Arc<str>>> {
    let text = Arc::clone(node.value.text_with_labels()?);
    let mut place = node.place;
    place.file = sources.adopt(source);
    Some(Located::new(text, place))
}

/// The image that a text names: by a URL, a reference or a name.
fn choice(text: Located<Arc<str>>) -> Choice {
    if text.value.starts_with("http://") || text.value.starts_with("https://") {
        Choice {
            url: Some(text),
            ..Choice::default()
        }
    } else {
        Choice {
            name: Some(text),
            ..Choice::default()
        }
    }
}

/// The values at a path. Its first `*` mean the keys that are bound already.
fn find_values<'n>(document: &'n Node, path: &str, bound: &[String]) -> Vec<At<'n>> {
    let mut found = vec![At {
        bound: Vec::new(),
        keys: Vec::new(),
        node: document,
    }];
    for part in path.split('.') {
        let mut next = Vec::new();
        // Several `**` reach one value in more ways than there are values.
        let place = |value: &At<'_>| (value.keys.clone(), value.bound.clone());
        let mut passed: BTreeSet<_> = found.iter().map(place).collect();
        while let Some(value) = found.pop() {
            let is_open = part == "*" && value.bound.len() >= bound.len();
            let key = match part {
                "*" => bound.get(value.bound.len()).map_or("", String::as_str),
                key => key,
            };
            for (step, node) in yaml_tree::children(value.node) {
                let name = step.as_key();
                if !is_open && name != key && part != "**" {
                    continue;
                }
                let mut bound = value.bound.clone();
                if part == "*" {
                    bound.push(name.clone());
                }
                let keys = value.keys.iter().cloned().chain([name]).collect();
                let below = At { bound, keys, node };
                // `**` goes on below; what it has passed is a value of its own.
                match part {
                    "**" if passed.insert(place(&below)) => found.push(below),
                    "**" => {}
                    _ => next.push(below),
                }
            }
            if part == "**" {
                next.push(value);
            }
        }
        next.sort_by(|a, b| (&a.keys, &a.bound).cmp(&(&b.keys, &b.bound)));
        found = next;
    }
    found
}

/// The variables of a `.env` file as a map.
fn environment_map(source: &Source) -> Node {
    let entries = environment::variables(source, FileId(0)).into_iter();
    let entries = entries.map(|(name, value)| {
        let node = Node::new(String::from(&*value.value), value.place);
        Entry::holding(name, node)
    });
    Node::from_value(entries.collect::<Map>())
}

/// The documents of the YAML code blocks of a Markdown text. A block that is no YAML has none.
fn code_blocks(source: &Source) -> Vec<Node> {
    let text = &source.text;
    let (mut documents, mut start, mut offset) = (Vec::new(), None, 0);
    for line in text.split_inclusive('\n') {
        let fence = line.trim().strip_prefix("```");
        match (start, fence) {
            (None, Some("yaml" | "yml")) => start = Some(offset + line.len()),
            (Some(from), Some("")) => {
                let block = &text[from..offset];
                let block = if source.is_secret_file {
                    secrets::secret_source(Arc::clone(&source.path), block)
                } else {
                    secrets::source(Arc::clone(&source.path), block)
                };
                let read = secrets::documents(&block, FileId(0), Engine::Kubectl);
                let inner = read.map_or_else(|_| Vec::new(), |read| read.documents);
                documents.extend(inner.iter().map(|document| {
                    document.with_places(&mut |mut place| {
                        place.start += from as u32;
                        place.end += from as u32;
                        place
                    })
                }));
                start = None;
            }
            _ => {}
        }
        offset += line.len();
    }
    documents
}
