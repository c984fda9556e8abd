//! Announces the parameters that Argo CD's form shows.

use serde::Serialize;

use crate::read::Workspace;

use super::environment::Environment;
use super::parameters::{
    ALL, CHECKSUM, CHECKSUMS, CLUSTER, FROZEN, Given, IMAGE_URL, SCOPE, TARGETS,
};
use super::selection;

/// One announcement (`reposerver/repository/repository.proto`, `ParameterAnnouncement`).
#[derive(Debug, Serialize)]
pub(super) struct Announcement {
    name: &'static str,
    title: &'static str,
    tooltip: &'static str,
    #[serde(rename = "collectionType")]
    collection_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    string: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    array: Option<Vec<String>>,
}

/// Every parameter with what holds unless it is set. Argo CD shows these defaults and never sends them.
pub(super) fn list(workspace: Option<&Workspace>, environment: &Environment) -> Vec<Announcement> {
    let default = |name: &str| -> Option<Vec<String>> {
        let settings = &workspace?.settings;
        let text = match name {
            CLUSTER => {
                let entry = selection::cluster(workspace?, &Given::default(), environment)?;
                entry.name.to_string()
            }
            SCOPE => "cluster".to_owned(),
            TARGETS => {
                let mut outputs = settings.outputs.clone();
                selection::outputs(&mut outputs, &[]).ok()?;
                let mut targets: Vec<String> =
                    outputs.into_iter().map(|output| output.target).collect();
                targets.sort();
                targets.dedup();
                return Some(targets);
            }
            IMAGE_URL => settings.images.url.clone(),
            CHECKSUM => {
                let style = settings.images.checksum;
                CHECKSUMS
                    .iter()
                    .find(|(_, known)| *known == style)?
                    .0
                    .to_owned()
            }
            FROZEN => "true".to_owned(),
            _ => "false".to_owned(),
        };
        Some(vec![text])
    };
    let announced = ALL.iter().map(|parameter| {
        let default = default(parameter.name);
        let (string, array) = if parameter.is_list {
            (None, default)
        } else {
            (default.and_then(|mut all| all.pop()), None)
        };
        Announcement {
            name: parameter.name,
            title: parameter.title,
            tooltip: parameter.tooltip,
            collection_type: if parameter.is_list { "array" } else { "string" },
            string,
            array,
        }
    });
    announced.collect()
}
