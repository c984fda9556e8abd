//! What `metalmark bundle pack` and `push` are told of what they pack.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::bundle;
use crate::bundle::commands::{ManifestOrder, PackKind, Packing};
use crate::model::component::{Declared, annotation};

/// What is done with manifests.
#[derive(Debug, Args)]
pub(super) struct ManifestArguments {
    /// In which order objects are applied.
    #[arg(long, value_enum, default_value_t = OrderArgument::Kind, value_name = "ORDER")]
    order: OrderArgument,
    /// Put objects that name no namespace into this one.
    #[arg(long, value_name = "NAME", value_parser = namespace)]
    pub(super) namespace: Option<String>,
}

/// What an artifact says of itself.
#[derive(Debug, Args)]
#[command(next_help_heading = "Artifact")]
pub(super) struct ArtifactArguments {
    /// How the layer of an artifact is named: `oci` suits Argo CD and Flux.
    #[arg(long, value_enum, default_value_t = LayerArgument::Oci, value_name = "TYPE")]
    media_type: LayerArgument,
    /// The repository that the content comes from.
    #[arg(long, value_name = "URL")]
    source: Option<String>,
    /// The revision of it, as Flux writes it: `main@sha1:COMMIT`.
    #[arg(long, value_name = "REVISION")]
    revision: Option<String>,
    /// Any annotation; may be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    annotation: Vec<(String, String)>,
}

/// What a component bundle is made for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Component bundle")]
pub(super) struct DeclaredArguments {
    /// A distribution that it installs on, with or without a release: `ubuntu:noble`.
    #[arg(long, value_name = "NAME[:RELEASE]")]
    distro: Vec<String>,
    /// An architecture of its programs: `amd64`.
    #[arg(long, value_name = "ARCH")]
    arch: Vec<String>,
    /// The Kubernetes distribution: `kubeadm`, `rke2`, `k3s`.
    #[arg(long, value_name = "NAME")]
    k8s_flavor: Option<String>,
    /// The Kubernetes version: `1.31.8+rke2r1`.
    #[arg(long, value_name = "VERSION")]
    k8s_version: Option<String>,
    /// An environment variable that `install.sh` reads.
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// An environment variable that `install.sh` cannot do without.
    #[arg(long, value_name = "NAME")]
    env_required: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum KindArgument {
    /// Manifests in one flat folder, as RukPak takes them (plain+v0).
    Plain,
    /// A tree of files, as Flux and Argo CD take it.
    Artifact,
    /// What is installed on hosts by its `install.sh`.
    Components,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum OrderArgument {
    /// By kind, as RukPak, Flux and Argo CD do by themselves; files keep their names.
    Kind,
    /// By the names of the files, as `kubectl apply -f` does; checked, not changed.
    Names,
    /// By the names of the files: each object becomes one, numbered in Helm's order of kinds.
    Numbered,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LayerArgument {
    /// As images name their layers.
    Oci,
    /// As `flux push artifact` does.
    Flux,
}

/// What is packed, and as what.
pub(super) fn packing(
    inputs: Vec<PathBuf>,
    kind: PackKind,
    manifests: &ManifestArguments,
    artifact: &ArtifactArguments,
    declared: &DeclaredArguments,
) -> Packing {
    Packing {
        inputs,
        kind,
        order: manifests.order(),
        namespace: manifests.namespace.clone(),
        layer_type: match artifact.media_type {
            LayerArgument::Oci => bundle::LayerType::Oci,
            LayerArgument::Flux => bundle::LayerType::Flux,
        },
        annotations: artifact.annotations(),
        declared: declared.declared(),
    }
}

impl KindArgument {
    pub(super) fn kind(self) -> PackKind {
        match self {
            Self::Plain => PackKind::Plain,
            Self::Artifact => PackKind::Artifact,
            Self::Components => PackKind::Components,
        }
    }
}

impl ManifestArguments {
    pub(super) fn order(&self) -> ManifestOrder {
        match self.order {
            OrderArgument::Kind => ManifestOrder::Kind,
            OrderArgument::Names => ManifestOrder::Names,
            OrderArgument::Numbered => ManifestOrder::Numbered,
        }
    }
}

impl ArtifactArguments {
    fn annotations(&self) -> BTreeMap<String, String> {
        let named = [
            (bundle::SOURCE, &self.source),
            (bundle::REVISION, &self.revision),
        ];
        let named = named
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value.clone()?)));
        named.chain(self.annotation.iter().cloned()).collect()
    }
}

impl DeclaredArguments {
    fn declared(&self) -> Declared {
        let lists = [
            (annotation::DISTROS, self.distro.join(",")),
            (annotation::ARCHS, self.arch.join(",")),
            (
                annotation::K8S_FLAVOR,
                self.k8s_flavor.clone().unwrap_or_default(),
            ),
            (
                annotation::K8S_VERSION,
                self.k8s_version.clone().unwrap_or_default(),
            ),
            (annotation::ENV, self.env.join(",")),
            (annotation::ENV_REQUIRED, self.env_required.join(",")),
        ];
        let said = lists.into_iter().filter(|(_, list)| !list.is_empty());
        let said = said.map(|(key, list)| (key.to_owned(), list));
        Declared::of_annotations(&said.collect())
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write KEY=VALUE".to_owned()),
    }
}

/// A label of DNS, as Kubernetes names namespaces (RFC 1123).
pub(super) fn namespace(text: &str) -> Result<String, String> {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = (1..=63).contains(&text.len())
        && text.bytes().all(|byte| is_word(byte) || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-');
    match is_label {
        true => Ok(text.to_owned()),
        false => Err("a name is at most 63 lower-case letters, digits and dashes".to_owned()),
    }
}
