//! Makes a bundle from files and options, for `bundle pack` and `bundle push`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use capi::objects::bundled::Order;
use clap::Args;
use yaml_tree::place::Spot;

use crate::bundle::{self, Bundle, BundleKind, File, LayerType};
use crate::error::Error;
use crate::files::{self, InsideKind};
use crate::model::component::{Declared, INSTALLER, annotation};
use crate::model::finding::Finding;
use crate::pipeline::{Reporting, Terminal, Verdict};
use crate::read::Workspace;

use super::gather::{self, Gathered, PackKind};
use super::input::{self, Input};
use super::manifests::{ManifestOptions, Prepared, prepare, print_left_out};
use super::{Run, collision};

/// What is packed, beside its files.
#[derive(Debug, Args)]
pub(super) struct PackingOptions {
    #[command(flatten)]
    manifests: ManifestOptions,
    #[command(flatten)]
    artifact: ArtifactOptions,
    #[command(flatten)]
    declared: DeclaredOptions,
}

/// The annotations and the media type of an artifact.
#[derive(Debug, Args)]
#[command(next_help_heading = "Artifact")]
struct ArtifactOptions {
    /// How the layer of an artifact is named: `oci` suits Argo CD and Flux.
    #[arg(long, value_enum, default_value_t = LayerType::Oci, value_name = "TYPE")]
    media_type: LayerType,
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
struct DeclaredOptions {
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

/// Where the files come from that are packed.
pub(super) enum Source {
    /// What the project renders.
    Project,
    /// Folders and files, `-`, or one `index:FILE`.
    Files(Vec<PathBuf>),
    /// An archive, whose files are packed again.
    Archive(PathBuf),
}

impl Source {
    /// The one path that it is, if it is one.
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Files(inputs) => match inputs.as_slice() {
                [only] => Some(only),
                _ => None,
            },
            Self::Archive(path) => Some(path),
            Self::Project => None,
        }
    }
}

impl Run<'_> {
    /// A folder, a file, or the files of an archive, which a file of components is unless it is their installer.
    pub(super) fn source(&self, path: &Path, kind: PackKind) -> Result<Source, Error> {
        let name = path.to_string_lossy();
        let is_named_so = match kind {
            PackKind::Components => !path.ends_with(INSTALLER),
            _ => gather::is_archive(path),
        };
        let is_archive = is_named_so
            && matches!(Input::parse(&name), Ok(Input::Path(_)))
            && files::path_kind(&self.resolve(path))? != InsideKind::Folder;
        Ok(if is_archive {
            Source::Archive(path.to_owned())
        } else {
            Source::Files(vec![path.to_owned()])
        })
    }
}

/// The files of several inputs, of which archives may be some.
fn collect_all(run: &Run<'_>, inputs: &[PathBuf], kind: PackKind) -> Result<Gathered, Error> {
    let is_archive = |path: &PathBuf| gather::is_archive(path) && !run.resolve(path).is_dir();
    let (archives, inputs): (Vec<PathBuf>, Vec<PathBuf>) =
        inputs.iter().cloned().partition(is_archive);
    let mut gathered = gather::collect_files(run, &inputs, kind)?;
    for archive in archives {
        if kind != PackKind::Plain {
            return Err(Error::usage(format!(
                "`{}` is an archive beside other inputs: alone, its files are packed; to pack it as a file, name the folder that it is in",
                archive.display()
            )));
        }
        gathered.merge(input::collect_archive(run, &archive, kind)?);
    }
    Ok(gathered)
}

impl PackingOptions {
    /// The bundle of a source, for a consumer that has an order of its own or none; none if something is wrong with it, which is printed.
    pub(super) fn pack(
        &self,
        run: &Run<'_>,
        source: &Source,
        kind: PackKind,
        own: Option<Order>,
        reporting: &Reporting,
        terminal: &mut Terminal,
    ) -> Result<Option<(Prepared, Workspace)>, Error> {
        let mut workspace = run.workspace(matches!(source, Source::Project))?;
        let gathered = match source {
            Source::Project => {
                let made = gather::render_project(workspace, kind, run.today, terminal)?;
                let Some((made, read)) = made else {
                    return Ok(None);
                };
                workspace = read;
                made
            }
            Source::Archive(file) => input::collect_archive(run, file, kind)?,
            Source::Files(inputs) => match inputs.as_slice() {
                [only] if only.to_string_lossy().starts_with("index:") => {
                    let index = Input::parse(&only.to_string_lossy()).map_err(Error::usage)?;
                    index.load(run)?.into()
                }
                inputs => collect_all(run, inputs, kind)?,
            },
        };
        for note in gathered.find_unkept().filter(|_| kind != PackKind::Plain) {
            writeln!(terminal.err, "note: {note}")?;
        }
        let mut packed = match kind {
            PackKind::Plain => {
                let policy = &workspace.settings.policy;
                let order = self.manifests.order.to_order(Order::Together);
                prepare(run, gathered, &self.manifests, own.unwrap_or(order), policy)?
            }
            PackKind::Artifact => {
                self.tree(BundleKind::Artifact(self.artifact.media_type), gathered)?
            }
            PackKind::Components => self.tree(BundleKind::Components, gathered)?,
        };
        print_left_out(&packed.left_out, terminal)?;
        let annotations = self.artifact.annotations();
        packed.bundle.annotations.extend(annotations);
        // What is wrong with the whole bundle is at its source.
        let place = |finding: Finding| match source.path() {
            Some(path) if finding.labels.is_empty() => {
                finding.with_label(Some(Spot::from_path(&path.to_string_lossy())), "")
            }
            _ => finding,
        };
        let findings = std::mem::take(&mut packed.findings);
        let findings = findings.into_iter().map(place).collect();
        Ok(
            match run.report(&workspace, findings, reporting, terminal)? {
                Verdict::Findings => None,
                _ => Some((packed, workspace)),
            },
        )
    }

    /// The bundle of a tree of files.
    fn tree(&self, kind: BundleKind, gathered: Gathered) -> Result<Prepared, Error> {
        let mut findings = gathered.findings;
        let files: Vec<File> = gathered.files.into_values().collect();
        let mut declared = self.declared.to_declared();
        if kind == BundleKind::Components && (findings.is_empty() || !files.is_empty()) {
            let contract =
                bundle::contract(&files, declared).map_err(Error::reading("install.sh"))?;
            findings.extend(contract.findings);
            declared = contract.declared;
        }
        let mut bundle = Bundle::new(kind, files).map_err(collision)?;
        bundle.annotations = declared.annotations();
        Ok(Prepared::new(bundle, findings))
    }
}

impl ArtifactOptions {
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

impl DeclaredOptions {
    fn to_declared(&self) -> Declared {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let lists = [
            (annotation::DISTROS, self.distro.join(",")),
            (annotation::ARCHS, self.arch.join(",")),
            (annotation::K8S_FLAVOR, text(&self.k8s_flavor)),
            (annotation::K8S_VERSION, text(&self.k8s_version)),
            (annotation::ENV, self.env.join(",")),
            (annotation::ENV_REQUIRED, self.env_required.join(",")),
        ];
        let given = lists.into_iter().filter(|(_, list)| !list.is_empty());
        let given = given.map(|(key, list)| (key.to_owned(), list));
        Declared::from_annotations(&given.collect())
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write KEY=VALUE".to_owned()),
    }
}
