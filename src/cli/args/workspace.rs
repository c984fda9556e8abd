//! Where the project is, and the flags that replace a project file.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::model::selector::Matching;
use crate::model::settings::ChecksumStyle;
use crate::read::{Flags, Request};

/// Where the project is.
#[derive(Debug, Args)]
pub(super) struct ProjectArguments {
    /// Run as if started in this folder.
    #[arg(
        short = 'C',
        value_name = "DIR",
        global = true,
        help_heading = "Everywhere"
    )]
    directory: Option<PathBuf>,
    /// The project file; else `metalmark.yaml` in the working directory or the nearest folder above it.
    #[arg(long, value_name = "FILE", global = true, help_heading = "Everywhere")]
    project: Option<PathBuf>,
}

impl ProjectArguments {
    /// Whether the command line says where the project is.
    pub(super) fn is_given(&self) -> bool {
        self.directory.is_some() || self.project.is_some()
    }

    /// The project alone, without the flags that replace a project file.
    pub(super) fn request(&self) -> Request {
        self.request_with(Flags::default())
    }

    /// The request for the project, else for the manifests below the folder.
    pub(super) fn discovering(&self) -> Request {
        self.request_with(Flags {
            discovers: true,
            ..Flags::default()
        })
    }

    /// The request for the project, with those flags.
    pub(super) fn request_with(&self, flags: Flags) -> Request {
        Request {
            directory: self.directory.clone(),
            project: self.project.clone(),
            flags,
        }
    }
}

/// Which values make which clusters. With none of these, the project file says it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Workspace without a project file")]
pub(super) struct WorkspaceArguments {
    /// A values file that every cluster shares, lowest first; the first one is the chart's own values.yaml.
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    values: Vec<String>,
    /// A pattern of values files: one cluster a match, named by the file's folder.
    #[arg(long, hide_short_help = true, value_name = "GLOB")]
    clusters: Vec<String>,
    /// A file with image facts, such as an os-images-info ConfigMap.
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    info: Vec<String>,
    /// The URL that machines fetch an image from: a template with the variables `image` and `cluster`.
    #[arg(long, hide_short_help = true, value_name = "TEMPLATE")]
    image_url: Option<String>,
    /// Stamp checksums as literals or as the URL of a checksum file.
    #[arg(long, hide_short_help = true, value_name = "STYLE", value_parser = checksum())]
    checksum: Option<ChecksumStyle>,
    /// Serve every image of the catalog, used or not.
    #[arg(long, hide_short_help = true)]
    all_images: bool,
    /// How selectors compare Kubernetes versions.
    #[arg(long, hide_short_help = true, value_name = "MODE", value_parser = matching())]
    matching: Option<Matching>,
}

impl WorkspaceArguments {
    pub(super) fn flags(&self) -> Flags {
        Flags {
            values: self.values.clone(),
            clusters: self.clusters.clone(),
            info: self.info.clone(),
            image_url: self.image_url.clone(),
            checksum: self.checksum,
            all_images: self.all_images,
            matching: self.matching,
            ..Flags::default()
        }
    }
}

fn checksum() -> impl TypedValueParser<Value = ChecksumStyle> {
    PossibleValuesParser::new(["literal", "url"]).map(|style| match style.as_str() {
        "url" => ChecksumStyle::Url,
        _ => ChecksumStyle::Literal,
    })
}

fn matching() -> impl TypedValueParser<Value = Matching> {
    PossibleValuesParser::new(["exact", "normalized"]).map(|mode| match mode.as_str() {
        "exact" => Matching::Exact,
        _ => Matching::Normalized,
    })
}
