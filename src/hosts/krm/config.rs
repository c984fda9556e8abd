//! The `functionConfig`: which function, and its options.

use std::path::{Path, PathBuf};

use yaml_tree::suggest::did_you_mean;
use yaml_tree::value::{Map, Node, Value};

use crate::error::Error;
use crate::model::settings::ChecksumStyle;
use crate::read::Request;

use super::result::ItemReference;

/// The group of the kinds that name a function.
const GROUP: &str = "metalmark.dev";
/// The annotation of a machine template that names its image.
pub(super) const IMAGE_ANNOTATION: &str = "metalmark.dev/image";

/// What the list is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    /// Adds what `render --stdout` prints.
    Generator,
    /// Stamps the machine templates among the items.
    Transformer,
    /// Says what the transformer would change, and what the rules say.
    Validator,
}

const FUNCTIONS: &[(&str, &str, Function)] = &[
    ("MetalmarkGenerator", "generator", Function::Generator),
    ("MetalmarkTransformer", "transformer", Function::Transformer),
    ("MetalmarkValidator", "validator", Function::Validator),
];

/// The options of a function.
#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) function: Function,
    /// The configuration itself: kustomize passes it to a generator as an item.
    pub(super) identity: ItemReference,
    /// One cluster instead of all.
    pub(super) cluster: Option<String>,
    /// Some of the project's outputs instead of all.
    pub(super) targets: Vec<String>,
    /// The image of every machine template that names none itself.
    pub(super) image: Option<String>,
    /// The project file or its folder.
    project: Option<String>,
    image_url: Option<String>,
    checksum: Option<ChecksumStyle>,
}

const KEYS: [&str; 6] = [
    "project",
    "cluster",
    "targets",
    "image",
    "image-url",
    "checksum",
];

impl Config {
    /// Reads an object of our own kinds, with `spec`, or a ConfigMap with `data`, as kpt's `configMap` makes it.
    pub(super) fn read(config: Option<&Node>) -> Result<Self, Error> {
        let Some(config) = config else {
            return Err(Error::usage(NO_CONFIG));
        };
        let identity = ItemReference::from_item(config);
        let is_map = identity.kind == "ConfigMap" && identity.api_version == "v1";
        let part = if is_map { "data" } else { "spec" };
        let empty = Map::default();
        let section = config
            .get_path(&[part])
            .and_then(|node| node.value.as_map());
        let section = section.map_or(&empty, |section| section);
        let function = if is_map {
            text(section, "function")?.unwrap_or_default()
        } else {
            identity.kind.clone()
        };
        let is_ours = is_map || identity.api_version.split('/').next() == Some(GROUP);
        let found = FUNCTIONS.iter().find(|(kind, word, _)| {
            let wanted = if is_map { word } else { kind };
            is_ours && **wanted == function
        });
        let Some((_, _, function)) = found else {
            return Err(Error::usage(NO_CONFIG));
        };
        check_keys(section, is_map)?;
        Ok(Self {
            function: *function,
            cluster: text(section, "cluster")?,
            targets: list(section, "targets")?,
            image: text(section, "image")?,
            project: text(section, "project")?,
            image_url: text(section, "image-url")?,
            checksum: checksum(text(section, "checksum")?)?,
            identity,
        })
    }

    /// The request with what the configuration says.
    pub(super) fn request(&self, request: &Request) -> Request {
        let mut request = request.clone();
        if let Some(project) = &self.project {
            match Path::new(project).extension() {
                Some(_) => request.project = Some(PathBuf::from(project)),
                None => {
                    let start = request.directory.unwrap_or_default();
                    request.directory = Some(start.join(project));
                }
            }
        }
        if self.image_url.is_some() {
            request.flags.image_url.clone_from(&self.image_url);
        }
        request.flags.checksum = self.checksum.or(request.flags.checksum);
        request
    }
}

const NO_CONFIG: &str = "the functionConfig names no function of metalmark\n\
     help: write `apiVersion: metalmark.dev/v1` and a kind: MetalmarkGenerator, MetalmarkTransformer or MetalmarkValidator\n\
     help: or a ConfigMap with `data: {function: generator}`, `transformer` or `validator`";

fn check_keys(section: &Map, is_map: bool) -> Result<(), Error> {
    for entry in section {
        let key = &*entry.key;
        if KEYS.contains(&key) || is_map && key == "function" {
            continue;
        }
        let help = match did_you_mean(key, KEYS) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there are: {}", KEYS.join(", ")),
        };
        return Err(Error::usage(format!(
            "the functionConfig has no option `{key}`\nhelp: {help}"
        )));
    }
    Ok(())
}

fn text(section: &Map, key: &str) -> Result<Option<String>, Error> {
    match section.get(key).map(|node| &node.value) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.to_string())),
        Some(other) => {
            let kind = other.kind();
            Err(Error::usage(format!(
                "`{key}` in the functionConfig is a text, not {kind}"
            )))
        }
    }
}

/// A list, or a text with commas, as a ConfigMap has it.
fn list(section: &Map, key: &str) -> Result<Vec<String>, Error> {
    let Some(items) = section.get(key).and_then(|node| node.value.as_list()) else {
        let text = text(section, key)?.unwrap_or_default();
        let parts = text.split(',').map(|part| part.trim().to_owned());
        return Ok(parts.filter(|part| !part.is_empty()).collect());
    };
    let texts = items
        .iter()
        .map(|item| item.value.as_str().map(|text| text.to_string()));
    let texts: Option<Vec<String>> = texts.collect();
    texts.ok_or_else(|| Error::usage(format!("`{key}` in the functionConfig is a list of texts")))
}

fn checksum(word: Option<String>) -> Result<Option<ChecksumStyle>, Error> {
    match word.as_deref() {
        None => Ok(None),
        Some("literal") => Ok(Some(ChecksumStyle::Literal)),
        Some("url") => Ok(Some(ChecksumStyle::Url)),
        Some(other) => Err(Error::usage(format!(
            "`checksum` in the functionConfig is literal or url, not `{other}`"
        ))),
    }
}
