//! What an application can set: a parameter, else a variable of its `plugin.env`, else the project file decides.

use serde::Deserialize;
use yaml_tree::suggest::did_you_mean;

use crate::error::Error;
use crate::model::lock::Locking;
use crate::model::settings::ChecksumStyle;
use crate::read::Flags;

use super::environment::{ENV_PREFIX, Environment, PARAMETERS};

/// One parameter as Argo CD's form shows it.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) tooltip: &'static str,
    pub(super) is_list: bool,
}

pub(super) const CLUSTER: &str = "cluster";
pub(super) const SCOPE: &str = "scope";
pub(super) const TARGETS: &str = "targets";
pub(super) const IMAGE_URL: &str = "image-url";
pub(super) const CHECKSUM: &str = "checksum";
pub(super) const FROZEN: &str = "frozen";
const ALLOW_EMPTY: &str = "allow-empty";

/// Every parameter, in the order of the form.
pub(super) const ALL: &[Parameter] = &[
    text(
        CLUSTER,
        "Cluster",
        "The cluster whose objects are rendered; without it, the one that the application is called like",
    ),
    text(
        SCOPE,
        "Scope",
        "cluster: one cluster's objects; shared: what all clusters share, such as os-images-info; all: everything",
    ),
    Parameter {
        is_list: true,
        ..text(
            TARGETS,
            "Targets",
            "Which of the project's outputs; without it, all but those made for argocd and flux",
        )
    },
    text(
        IMAGE_URL,
        "Image URL",
        "Template of the URL that machines fetch an image from; knows image and cluster",
    ),
    text(
        CHECKSUM,
        "Checksum",
        "literal: the digest itself; url: the URL of a file that holds it",
    ),
    text(
        FROZEN,
        "Frozen",
        "true: every image must be in metalmark.lock; false: a lock is used where there is one",
    ),
    text(
        ALLOW_EMPTY,
        "Allow empty",
        "true: a render without objects is not an error, and Argo CD may prune everything",
    ),
];

const fn text(name: &'static str, title: &'static str, tooltip: &'static str) -> Parameter {
    Parameter {
        name,
        title,
        tooltip,
        is_list: false,
    }
}

/// What part of the project an application holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Scope {
    #[default]
    Cluster,
    Shared,
    All,
}

/// What the application set.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    pub(super) cluster: Option<String>,
    pub(super) scope: Scope,
    /// Empty: the project decides.
    pub(super) targets: Vec<String>,
    pub(super) allow_empty: bool,
    locking: Locking,
    image_url: Option<String>,
    checksum: Option<ChecksumStyle>,
}

/// One parameter as Argo CD passes it.
#[derive(Debug, Deserialize)]
struct Passed {
    #[serde(default)]
    name: String,
    string: Option<String>,
    array: Option<Vec<String>>,
    map: Option<serde_json::Map<String, serde_json::Value>>,
}

impl Given {
    /// Reads the parameters. An empty text counts as not set, as the form leaves it.
    pub(super) fn read(environment: &Environment) -> Result<Self, Error> {
        let passed = parse_parameters(environment)?;
        let list = |name| values(name, &passed, environment);
        let one = |name| list(name).map(|found| found.into_iter().next());
        Ok(Self {
            cluster: one(CLUSTER)?,
            scope: word(SCOPE, one(SCOPE)?, SCOPES)?.unwrap_or_default(),
            targets: list(TARGETS)?,
            allow_empty: word(ALLOW_EMPTY, one(ALLOW_EMPTY)?, YES_OR_NO)?.unwrap_or_default(),
            // What a sidecar renders shall be what was committed, and it has no network to look further.
            locking: word(FROZEN, one(FROZEN)?, LOCKINGS)?.unwrap_or(Locking::Frozen),
            image_url: one(IMAGE_URL)?,
            checksum: word(CHECKSUM, one(CHECKSUM)?, CHECKSUMS)?,
        })
    }

    /// Sets the flags that represent parameters.
    pub(super) fn set(&self, flags: &mut Flags) {
        if self.image_url.is_some() {
            flags.image_url.clone_from(&self.image_url);
        }
        flags.checksum = self.checksum.or(flags.checksum);
        flags.locking = self.locking;
    }
}

const SCOPES: &[(&str, Scope)] = &[
    ("cluster", Scope::Cluster),
    ("shared", Scope::Shared),
    ("all", Scope::All),
];
pub(super) const CHECKSUMS: &[(&str, ChecksumStyle)] = &[
    ("literal", ChecksumStyle::Literal),
    ("url", ChecksumStyle::Url),
];
const LOCKINGS: &[(&str, Locking)] = &[("true", Locking::Frozen), ("false", Locking::Loose)];
const YES_OR_NO: &[(&str, bool)] = &[("true", true), ("false", false)];

/// The parameters passed. Argo CD writes `null` where a plugin block has none, and nothing where there is no block.
fn parse_parameters(environment: &Environment) -> Result<Vec<Passed>, Error> {
    let text = environment.get(PARAMETERS).unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let read: Result<Option<Vec<Passed>>, _> = serde_json::from_str(text);
    let passed = read.map_err(|error| Error::Usage {
        message: format!("{PARAMETERS} is not a JSON list of parameters: {error}"),
    })?;
    let passed = passed.unwrap_or_default();
    for (index, parameter) in passed.iter().enumerate() {
        let name = &parameter.name;
        if ALL.iter().all(|known| known.name != *name) {
            return Err(no_such_parameter(name));
        }
        if passed[..index].iter().any(|earlier| earlier.name == *name) {
            return Err(Error::Usage {
                message: format!("the parameter `{name}` is set twice"),
            });
        }
    }
    Ok(passed)
}

fn no_such_parameter(name: &str) -> Error {
    let known = || ALL.iter().map(|parameter| parameter.name);
    let help = match did_you_mean(name, known()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are: {}", known().collect::<Vec<_>>().join(", ")),
    };
    Error::Usage {
        message: format!("there is no parameter `{name}`\nhelp: {help}"),
    }
}

/// A parameter's values, else its variable's: several are parted by commas there.
fn values(
    name: &'static str,
    passed: &[Passed],
    environment: &Environment,
) -> Result<Vec<String>, Error> {
    let is_list = ALL.iter().any(|known| known.name == name && known.is_list);
    let parameter = passed.iter().find(|parameter| parameter.name == name);
    let mut found = match parameter {
        Some(parameter) => parameter_values(parameter, is_list)?,
        None => Vec::new(),
    };
    found.retain(|value| !value.is_empty());
    if found.is_empty() {
        let variable = format!("{ENV_PREFIX}{}", name.to_uppercase().replace('-', "_"));
        let text = environment.get(&variable).unwrap_or_default();
        found = if is_list {
            text.split(',').map(|part| part.trim().to_owned()).collect()
        } else {
            vec![text.to_owned()]
        };
        found.retain(|value| !value.is_empty());
    }
    Ok(found)
}

fn parameter_values(parameter: &Passed, is_list: bool) -> Result<Vec<String>, Error> {
    let Passed {
        name,
        string,
        array,
        map,
    } = parameter;
    match (string, array, map, is_list) {
        (Some(text), None, None, false) => Ok(vec![text.clone()]),
        (None, Some(list), None, true) => Ok(list.clone()),
        (None, None, None, _) => Ok(Vec::new()),
        _ => Err(Error::Usage {
            message: if is_list {
                format!("the parameter `{name}` is a list: set its `array`")
            } else {
                format!("the parameter `{name}` is a text: set its `string`")
            },
        }),
    }
}

/// One of a few words.
fn word<T: Copy>(
    name: &str,
    value: Option<String>,
    words: &[(&str, T)],
) -> Result<Option<T>, Error> {
    let Some(value) = value else {
        return Ok(None);
    };
    match words.iter().find(|(word, _)| *word == value) {
        Some((_, meaning)) => Ok(Some(*meaning)),
        None => {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let known = known.join(", ");
            let message = format!("the parameter `{name}` is one of {known}, not `{value}`");
            Err(Error::usage(message))
        }
    }
}
