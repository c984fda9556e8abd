//! What a chart hands over, by real programs: kubectl composes an environment's layers, Helm 3 and 4 evaluate them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use yaml_tree::bytes::BASE64;

use super::project::{Reported, parsed};
use crate::programs;
use crate::support::stage::project;

pub(super) struct Programs {
    pub(super) helms: Vec<(&'static str, PathBuf)>,
    kubectl: PathBuf,
}

/// The programs, where they are found.
pub(super) fn programs() -> Option<Programs> {
    let kubectl = programs::find("kubectl")?;
    let found = ["helm", "helm4"].map(|name| Some((name, programs::find(name)?)));
    let helms: Vec<_> = found.into_iter().flatten().collect();
    (!helms.is_empty()).then_some(Programs { helms, kubectl })
}

/// An environment as Flux would install it.
pub(super) struct Release {
    namespace: String,
    /// Values files of the repository, and then the texts of `valuesFrom`.
    files: Vec<String>,
    texts: Vec<String>,
    inline: String,
}

impl Programs {
    /// The release that a folder of a repository composes. `state` is a layer that exists only at run time.
    pub(super) fn release(&self, root: &Path, folder: &str, state: &str) -> Release {
        let mut command = Command::new(&self.kubectl);
        command.arg("kustomize").arg(root.join(folder));
        let text = succeeds(command.output()).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let objects: Vec<Value> = text.split("\n---\n").map(parsed).collect();
        let of = |kind: &str, name: &str| {
            let found = objects
                .iter()
                .find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
            found.map(|object| &object["data"])
        };
        let release = objects
            .iter()
            .find(|object| object["kind"] == "HelmRelease")
            .expect("a release");
        let spec = &release["spec"];
        let mut texts = Vec::new();
        for from in spec["valuesFrom"].as_array().into_iter().flatten() {
            let part = |field: &str| from[field].as_str().unwrap_or_default();
            let Some(found) = of(part("kind"), part("name")) else {
                if from["optional"] != true {
                    texts.push(state.to_owned());
                }
                continue;
            };
            let Some(text) = found[part("valuesKey")].as_str() else {
                continue;
            };
            texts.push(match part("kind") {
                "Secret" => {
                    let bytes = BASE64.decode(text.as_bytes()).expect("base64");
                    String::from_utf8(bytes).expect("text")
                }
                _ => text.to_owned(),
            });
        }
        let files = spec["chart"]["spec"]["valuesFiles"].as_array();
        Release {
            namespace: release["metadata"]["namespace"]
                .as_str()
                .unwrap_or("default")
                .to_owned(),
            files: files
                .into_iter()
                .flatten()
                .map(|file| file.as_str().expect("a path").to_owned())
                .collect(),
            texts,
            inline: spec["values"].to_string(),
        }
    }
}

/// What `helm template` prints of that release of a chart, with an overlay as the last of its `valuesFrom`.
pub(super) fn template(
    helm: &Path,
    root: &Path,
    chart: &Path,
    release: &Release,
    overlay: Option<&str>,
) -> Result<String, String> {
    let scratch = project();
    let mut command = Command::new(helm);
    command.arg("template").arg("sylva-units").arg(chart);
    command.args(["--namespace", &release.namespace]);
    for file in &release.files {
        command.arg("-f").arg(root.join(file));
    }
    let inline = std::iter::once(release.inline.as_str());
    let texts = release.texts.iter().map(String::as_str);
    for (number, text) in texts.chain(overlay).chain(inline).enumerate() {
        let file = format!("{number}.yaml");
        scratch.write(&file, text);
        command.arg("-f").arg(scratch.path().join(file));
    }
    succeeds(command.output())
}

/// What the chart's `handed` line says, in metalmark's words: pools with the cluster's name before them.
pub(super) struct Handed {
    pub(super) k8s_version: String,
    pub(super) pools: BTreeMap<String, [String; 3]>,
    pub(super) served: BTreeSet<String>,
}

pub(super) fn handed(printed: &str, cluster: &str) -> Handed {
    let line = printed
        .lines()
        .find_map(|line| line.strip_prefix("handed: "))
        .expect("the chart's line");
    let json: Value = serde_json::from_str(line).expect("JSON");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let pools = json["pools"].as_object().expect("pools");
    Handed {
        k8s_version: text(&json["k8s_version"]),
        pools: pools
            .iter()
            .map(|(pool, image)| {
                let image = [0, 1, 2].map(|part| text(&image[part]));
                (format!("{cluster}/{pool}"), image)
            })
            .collect(),
        served: json["served"]
            .as_array()
            .expect("keys")
            .iter()
            .map(text)
            .collect(),
    }
}

/// Requires that the chart hands over what metalmark reports of a cluster: version, and image of each pool. Gives what the
/// image server serves.
pub(super) fn agrees(
    at: &str,
    reported: &Reported,
    cluster: &str,
    k8s_version: &str,
    printed: &str,
) -> BTreeSet<String> {
    let handed = handed(printed, cluster);
    assert_eq!(
        k8s_version, handed.k8s_version,
        "{at}: the Kubernetes version"
    );
    for (pool, image) in &handed.pools {
        assert_eq!(reported.pools.get(pool), Some(image), "{at}: {pool}");
        assert!(handed.served.contains(&image[0]), "{at}: {pool} is served");
    }
    let prefix = format!("{cluster}/");
    let ours = reported
        .pools
        .keys()
        .filter(|pool| pool.starts_with(&prefix));
    assert!(ours.eq(handed.pools.keys()), "{at}: the pools");
    handed.served
}

fn succeeds(output: std::io::Result<Output>) -> Result<String, String> {
    let output = output.expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    if output.status.success() {
        Ok(text(output.stdout))
    } else {
        Err(text(output.stderr))
    }
}
