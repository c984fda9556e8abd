//! `metalmark bundle` on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::bundle_packing::{
    ArtifactArguments, DeclaredArguments, KindArgument, ManifestArguments, OrderArgument,
    namespace, packing,
};
use super::bundle_remote::{DiffArguments, PullArguments, PushArguments, VerifyBundleArguments};
use super::report::{FindingsArguments, ReportArguments};
use super::workspace::ProjectArguments;
use crate::bundle::commands::{
    self as command, From, InspectOptions, PackKind, PackOptions, To, UnpackOptions,
};
use crate::bundle::{Deployment, DeploymentVersion};
use crate::cli::today;
use crate::error::Error;
use crate::model::policy::Date;
use crate::objects::bundled::Order;
use crate::oci::Reference;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct BundleArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Packs files into a bundle: manifests, a rendered tree, or what is installed on hosts.
    ///
    /// The same files are the same digest, wherever and whenever they are packed; `SOURCE_DATE_EPOCH` says when an artifact was
    /// made, else it says 1970.
    Pack(Box<PackArguments>),
    /// Writes the files of a bundle into a folder, and refuses what a hostile one would do.
    Unpack(UnpackArguments),
    /// Tells what a bundle is and holds.
    Inspect(InspectArguments),
    /// Pushes a bundle to a registry, and prints its digest.
    ///
    /// A folder is packed; an archive is packed anew; what an image layout holds is sent to the byte. Credentials are those of
    /// `docker login` and `podman login`. A registry that the project file names a mirror for is not pushed to.
    Push(Box<PushArguments>),
    /// Pulls a bundle out of a registry into a folder, by its digest.
    ///
    /// A tag may move: it is refused unless the lock has its digest.
    Pull(PullArguments),
    /// Holds a bundle in a registry against a public key and the contract of its kind. Nothing of it is kept or run.
    Verify(VerifyBundleArguments),
    /// Compares a bundle with a folder by what is in their files; exits with 1 where they differ.
    Diff(DiffArguments),
}

#[derive(Debug, Args)]
struct PackArguments {
    /// Folders and files, `-` for a stream of manifests, or `index:FILE`; without any, what the project renders.
    #[arg(value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// What is packed.
    #[arg(long, value_enum, default_value_t = KindArgument::Plain, value_name = "KIND", conflicts_with = "components")]
    kind: KindArgument,
    /// A folder whose files are installed on hosts, with `install.sh` at its root.
    #[arg(long, value_name = "DIR", conflicts_with = "inputs")]
    components: Option<PathBuf>,
    /// `dir:DIR`, `FILE.tgz`, `oci-layout:DIR[:NAME]`, or `configmaps:DIR`.
    #[arg(long, value_name = "DEST", value_parser = To::parse)]
    to: To,
    #[command(flatten)]
    manifests: ManifestArguments,
    #[command(flatten)]
    artifact: ArtifactArguments,
    #[command(flatten)]
    declared: DeclaredArguments,
    #[command(flatten)]
    deployment: DeploymentArguments,
    /// Take over files that stand in the way and were not written by metalmark.
    #[arg(long)]
    adopt: bool,
    #[command(flatten)]
    findings: FindingsArguments,
}

/// How RukPak is told of the bundle.
#[derive(Debug, Args)]
#[command(next_help_heading = "RukPak")]
struct DeploymentArguments {
    /// What ConfigMaps and the BundleDeployment are named after.
    #[arg(long, value_name = "NAME", default_value = "bundle", value_parser = namespace)]
    name: String,
    /// The namespace of ConfigMaps: the one that RukPak runs in.
    #[arg(long, value_name = "NAME", default_value = "rukpak-system", value_parser = namespace)]
    system_namespace: String,
    /// Print a BundleDeployment of this version.
    #[arg(long, value_enum, value_name = "VERSION")]
    deployment: Option<VersionArgument>,
    /// The namespace that the BundleDeployment installs into; it must exist.
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = namespace)]
    install_namespace: String,
    /// Where the image is to be had that the BundleDeployment names: `oci://registry/repository`.
    #[arg(long, value_name = "REF", requires = "deployment", value_parser = reference)]
    image: Option<Reference>,
}

#[derive(Debug, Args)]
struct UnpackArguments {
    /// A folder, an archive, `-`, `oci-layout:DIR[:NAME]`, `configmaps:PATH`,
    /// `index:FILE`, or `oci://…@sha256:…`.
    #[arg(value_name = "FROM", value_parser = From::parse)]
    from: From,
    /// The folder that the files go into.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    #[command(flatten)]
    manifests: ManifestArguments,
    /// Take over files that stand in the way and were not written by metalmark.
    #[arg(long)]
    adopt: bool,
    #[command(flatten)]
    findings: FindingsArguments,
}

#[derive(Debug, Args)]
struct InspectArguments {
    /// A folder, an archive, `-`, `oci-layout:DIR[:NAME]`, `configmaps:PATH`,
    /// `index:FILE`, or `oci://…@sha256:…`.
    #[arg(value_name = "FROM", value_parser = From::parse)]
    from: From,
    /// In which order objects are applied.
    #[arg(long, value_enum, default_value_t = OrderArgument::Kind, value_name = "ORDER")]
    order: OrderArgument,
    #[command(flatten)]
    report: ReportArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum VersionArgument {
    /// RukPak up to v0.16.
    V1alpha1,
    /// RukPak from v0.17 on.
    V1alpha2,
}

impl BundleArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let request = place.request();
        match &self.command {
            Command::Pack(pack) => command::bundle_pack(&request, &pack.options(today)?, terminal),
            Command::Unpack(unpack) => {
                command::bundle_unpack(&request, &unpack.options(today), terminal)
            }
            Command::Inspect(inspect) => {
                let options = InspectOptions {
                    from: inspect.from.clone(),
                    order: match inspect.order {
                        OrderArgument::Kind => Order::Kind,
                        OrderArgument::Names | OrderArgument::Numbered => Order::Names,
                    },
                    format: inspect.report.format(),
                    today,
                };
                command::bundle_inspect(&request, &options, terminal)
            }
            Command::Push(push) => push.run(&request, today, terminal),
            Command::Pull(pull) => pull.run(&request, today, terminal),
            Command::Verify(verify) => verify.run(&request, today, terminal),
            Command::Diff(diff) => diff.run(&request, today, terminal),
        }
    }
}

impl PackArguments {
    fn options(&self, today: Date) -> Result<PackOptions, Error> {
        let kind = match &self.components {
            Some(_) => PackKind::Components,
            None => self.kind.kind(),
        };
        let inputs = self.inputs.iter().chain(&self.components).cloned();
        let (artifact, declared) = (&self.artifact, &self.declared);
        Ok(PackOptions {
            packing: packing(inputs.collect(), kind, &self.manifests, artifact, declared),
            to: self.to.clone(),
            name: self.deployment.name.clone(),
            system_namespace: self.deployment.system_namespace.clone(),
            deployment: self.deployment.wanted(),
            created: today::made_at()?,
            adopt: self.adopt,
            reporting: self.findings.reporting(),
            today,
        })
    }
}

impl DeploymentArguments {
    fn wanted(&self) -> Option<(Deployment, Option<Reference>)> {
        let version = match self.deployment? {
            VersionArgument::V1alpha1 => DeploymentVersion::V1Alpha1,
            VersionArgument::V1alpha2 => DeploymentVersion::V1Alpha2,
        };
        let deployment = Deployment {
            version,
            name: self.name.clone(),
            install_namespace: self.install_namespace.clone(),
        };
        Some((deployment, self.image.clone()))
    }
}

impl UnpackArguments {
    fn options(&self, today: Date) -> UnpackOptions {
        UnpackOptions {
            from: self.from.clone(),
            into: self.to.clone(),
            order: self.manifests.order(),
            namespace: self.manifests.namespace.clone(),
            adopt: self.adopt,
            reporting: self.findings.reporting(),
            today,
        }
    }
}

pub(super) fn reference(text: &str) -> Result<Reference, String> {
    Reference::parse(text).map_err(|error| error.to_string())
}
