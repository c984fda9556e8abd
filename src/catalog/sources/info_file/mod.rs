//! Facts from a file: an exported `os-images-info` ConfigMap, its `values.yaml` alone, a map of images, or what Packer wrote of
//! image-builder's builds. Its content decides which.

mod packer;

use std::path::Path;
use std::sync::Arc;

use capi::image::{Origin, fact};
use yaml_tree::Spelling;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place, Source};
use yaml_tree::value::{Entry, Map, Node, Value};

use capi::secrets;

use super::records::{self, Records};
use super::{FactsFile, Fault};
use crate::error::Error;
use crate::files::Files;
use crate::model::rule::RuleId;
use crate::model::written::WrittenImage;

/// What an info file is.
const EXPECTED: &str = "give the ConfigMap `os-images-info` as kubectl prints it, its `values.yaml`, or a map `os_images:`";

/// Reads an info file; its places get the number `file`. What cannot be read in it is a fault; everything else of it counts.
///
/// # Errors
/// The file cannot be read.
pub(super) fn read(
    tree: &dyn Files,
    path: &Path,
    shown: &str,
    file: FileId,
) -> Result<FactsFile, Error> {
    let content = tree.content(path)?;
    let mut reader = InfoReader {
        file,
        images: Records::empty(Origin::InfoFile),
        faults: Vec::new(),
    };
    let start = Place {
        file,
        start: 0,
        end: 0,
    };
    let source = match content.source(shown.to_owned(), Engine::Kubectl) {
        Ok(source) => source,
        Err(error) => {
            reader.fault(RuleId::YamlSyntax, error.to_string(), start);
            Source::new(shown, "")
        }
    };
    reader.file(&source);
    if reader.images.is_empty() && reader.faults.is_empty() {
        reader.faults.push(Fault {
            rule: RuleId::ValueMissing,
            message: format!("`{shown}` holds no image facts"),
            place: start,
            help: Some(EXPECTED.to_owned()),
        });
    }
    Ok(FactsFile {
        images: Box::new(reader.images),
        source,
        faults: reader.faults,
    })
}

/// The roots that may hold a map of images: today's, the one until 2024-03, and the proposal's.
const ROOTS: [&str; 3] = ["os_images", "osImages", "os_images_info"];

struct InfoReader {
    file: FileId,
    images: Records,
    faults: Vec<Fault>,
}

impl InfoReader {
    fn file(&mut self, source: &Source) {
        match secrets::documents(source, self.file, Engine::Kubectl) {
            Ok(read) => read
                .documents
                .iter()
                .for_each(|document| self.document(document, source)),
            Err(error) => self.syntax(error),
        }
    }

    /// A ConfigMap, a list of objects, values with one of the roots, or a bare map of images.
    fn document(&mut self, document: &Node, source: &Source) {
        let Some(map) = document.value.as_map() else {
            return;
        };
        if let Some(items) = map.get("items").and_then(|items| items.value.as_list()) {
            for item in items {
                self.document(item, source);
            }
        } else if let Some(builds) = map.get("builds").and_then(|builds| builds.value.as_list()) {
            for image in packer::images(builds) {
                let described = records::description(&image, self.file, Origin::InfoFile);
                self.images.add(described);
            }
        } else if map.get("kind").is_some() {
            let data = map.get("data").and_then(|data| data.value.as_map());
            for entry in data.into_iter().flat_map(|data| data.iter()) {
                self.data(entry, source);
            }
        } else if !self.roots(map, source) && is_map_of_images(map) {
            self.images(map, source);
        }
    }

    /// One data key: YAML within YAML. Data of other purposes is left alone.
    fn data(&mut self, entry: &Entry, source: &Source) {
        let Some(text) = entry.node.value.as_str() else {
            return;
        };
        if !ROOTS.iter().any(|root| text.contains(root)) {
            return;
        }
        let spelling = Spelling::new(&source.text, entry.node.place, text);
        let at = |inner: Place| spelling.place(text, inner.start as usize..inner.end as usize);
        match yaml_tree::values(text, self.file, Engine::Helm3) {
            Ok(values) => {
                let values = values.with_places(&mut |place| at(place));
                if let Some(map) = values.value.as_map() {
                    self.roots(map, source);
                }
            }
            Err(error) => self.syntax(yaml_tree::SyntaxError {
                place: at(error.place),
                ..error
            }),
        }
    }

    fn roots(&mut self, map: &Map, source: &Source) -> bool {
        let mut found = false;
        for root in ROOTS {
            let Some(node) = map.get(root) else {
                continue;
            };
            found = true;
            match &node.value {
                Value::Map(images) => self.images(images, source),
                Value::Null => {}
                other => {
                    let message = format!("`{root}` is {} where a map is needed", other.kind());
                    self.fault(RuleId::ValueType, message, node.place);
                }
            }
        }
        found
    }

    fn images(&mut self, images: &Map, source: &Source) {
        for entry in images {
            match &entry.node.value {
                Value::Map(properties) => self.image(entry, properties, source),
                Value::Null => self.image(entry, &Map::default(), source),
                other => {
                    let (key, kind) = (&entry.key, other.kind());
                    let message = format!("image `{key}` is {kind} where a map is needed");
                    self.fault(RuleId::ValueType, message, entry.node.place);
                }
            }
        }
    }

    fn image(&mut self, entry: &Entry, properties: &Map, source: &Source) {
        let mut image = WrittenImage::new(Arc::clone(&entry.key), entry.key_place);
        for property in properties {
            image.read(&property.key, &property.node, Some(source));
        }
        // The ConfigMap repeats its images under a second data key; of two that differ the first counts.
        let described = records::description(&image, self.file, Origin::InfoFile);
        self.images.add(described);
    }

    fn syntax(&mut self, error: yaml_tree::SyntaxError) {
        self.faults.push(Fault {
            rule: RuleId::YamlSyntax,
            message: error.message.into(),
            place: error.place,
            help: error.help,
        });
    }

    fn fault(&mut self, rule: RuleId, message: String, place: Place) {
        self.faults.push(Fault {
            rule,
            message,
            place,
            help: None,
        });
    }
}

/// Whether a map without a root is one of images all the same: each of its values is a map, and one has a fact that only
/// images have.
fn is_map_of_images(map: &Map) -> bool {
    const DISTINCTIVE: [&str; 5] = [
        fact::URI,
        fact::SHA256,
        fact::K8S_VERSION,
        fact::IMAGE_FORMAT,
        fact::FILENAME,
    ];
    let has_fact = |entry: &Entry| {
        let properties = entry.node.value.as_map();
        properties.is_some_and(|map| DISTINCTIVE.iter().any(|fact| map.get(fact).is_some()))
    };
    map.iter().all(|entry| entry.node.value.as_map().is_some()) && map.iter().any(has_fact)
}
