//! `metalmark bundle push|pull|verify|diff` on the command line.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::bundle::reference;
use super::bundle_packing::{
    ArtifactArguments, DeclaredArguments, KindArgument, ManifestArguments, packing,
};
use super::report::{FindingsArguments, ReportArguments};
use crate::artifacts::signature::SignatureForm;
use crate::bundle::commands::{
    self as command, DiffOptions, From, PullOptions, PushOptions, PushSource, Signing, Tags,
    UnpackOptions, VerifyBundleOptions,
};
use crate::cli::today;
use crate::error::Error;
use crate::model::policy::Date;
use crate::oci::Reference;
use crate::pipeline::{Terminal, Verdict};
use crate::read::Request;

/// What opens cosign's private keys, as cosign itself reads it.
const PASSWORD: &str = "COSIGN_PASSWORD";

#[derive(Debug, Args)]
pub(super) struct PushArguments {
    /// A folder, an archive or `oci-layout:DIR[:NAME]`, and where it goes: `oci://REGISTRY/REPOSITORY:TAG`.
    #[arg(value_names = ["SOURCE", "TO"], num_args = 1..=2, required = true)]
    what: Vec<String>,
    /// Push what the project renders; then no SOURCE is named.
    #[arg(long)]
    rendered: bool,
    /// As what it is pushed.
    #[arg(long, value_enum, default_value_t = KindArgument::Artifact, value_name = "KIND")]
    kind: KindArgument,
    /// Another tag for the same artifact; may be given several times.
    #[arg(long = "tag", value_name = "TAG", value_parser = tag)]
    tags: Vec<String>,
    /// Tell neither the repository nor the commit that it comes from, unless `--source` and `--revision` do.
    #[arg(long)]
    no_provenance: bool,
    /// Sign it with this private key: cosign.key, or PKCS #8 or SEC 1 as PEM, ECDSA P-256. COSIGN_PASSWORD opens it.
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
    /// Where the signature goes.
    #[arg(long, value_enum, default_value_t = FormArgument::Tag, value_name = "FORM", requires = "sign")]
    sign_as: FormArgument,
    #[command(flatten)]
    manifests: ManifestArguments,
    #[command(flatten)]
    artifact: ArtifactArguments,
    #[command(flatten)]
    declared: DeclaredArguments,
    #[command(flatten)]
    report: ReportArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormArgument {
    /// To the tag `sha256-<hex>.sig`, where every cosign and Flux look.
    Tag,
    /// Into a Sigstore bundle that refers to the artifact, as cosign 3 does it.
    Bundle,
}

#[derive(Debug, Args)]
pub(super) struct PullArguments {
    /// `oci://REGISTRY/REPOSITORY@sha256:…`, or with a tag that the lock knows.
    #[arg(value_name = "REF", value_parser = reference)]
    of: Reference,
    /// The folder that the files go into.
    #[arg(value_name = "DIR")]
    into: PathBuf,
    /// Take a tag for what it stands for now.
    #[arg(long)]
    allow_tag: bool,
    /// Refuse it unless this public key, cosign.pub, has signed it.
    #[arg(long, value_name = "KEY")]
    key: Option<PathBuf>,
    #[command(flatten)]
    manifests: ManifestArguments,
    /// Take over files that stand in the way and were not written by metalmark.
    #[arg(long)]
    adopt: bool,
    #[command(flatten)]
    findings: FindingsArguments,
}

#[derive(Debug, Args)]
pub(super) struct VerifyBundleArguments {
    /// `oci://REGISTRY/REPOSITORY@sha256:…`, or with a tag: what it stands for now.
    #[arg(value_name = "REF", value_parser = reference)]
    of: Reference,
    /// The public key that it has to be signed with: cosign.pub. Without one its content alone is looked at.
    #[arg(long, value_name = "KEY")]
    key: Option<PathBuf>,
    #[command(flatten)]
    report: ReportArguments,
}

#[derive(Debug, Args)]
pub(super) struct DiffArguments {
    /// `oci://…`, `oci-layout:DIR[:NAME]`, an archive or a folder.
    #[arg(value_name = "FROM", value_parser = From::parse)]
    of: From,
    /// The folder that it is compared with.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    report: ReportArguments,
}

impl PushArguments {
    /// Runs the command.
    pub(super) fn run(
        &self,
        request: &Request,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        command::bundle_push(request, &self.options(today)?, terminal)
    }

    fn options(&self, today: Date) -> Result<PushOptions, Error> {
        let usage = |message: String| Error::Usage { message };
        let (source, to) = match (self.what.as_slice(), self.rendered) {
            ([source, to], false) => (Some(source), to),
            ([to], true) => (None, to),
            ([_], false) => {
                let message = "name what is pushed and where: `bundle push SOURCE oci://REGISTRY/REPOSITORY:TAG`, \
                               or add `--rendered`";
                return Err(usage(message.to_owned()));
            }
            _ => {
                let message = "`--rendered` pushes what the project renders: leave out the SOURCE";
                return Err(usage(message.to_owned()));
            }
        };
        let signing = self.sign.as_ref().map(|key| Signing {
            key: key.clone(),
            password: std::env::var(PASSWORD).ok(),
            form: match self.sign_as {
                FormArgument::Tag => SignatureForm::Tag,
                FormArgument::Bundle => SignatureForm::Bundle,
            },
        });
        Ok(PushOptions {
            what: self.source(source.map(String::as_str)).map_err(usage)?,
            to: reference(to).map_err(usage)?,
            tags: self.tags.clone(),
            tells_provenance: !self.no_provenance,
            created: today::epoch()?,
            signing,
            format: self.report.format(),
            today,
        })
    }

    fn source(&self, text: Option<&str>) -> Result<PushSource, String> {
        let packing = |inputs| {
            let (artifact, declared) = (&self.artifact, &self.declared);
            packing(
                inputs,
                self.kind.kind(),
                &self.manifests,
                artifact,
                declared,
            )
        };
        let Some(text) = text else {
            return Ok(PushSource::Files(packing(Vec::new())));
        };
        let is_archive = [".tgz", ".tar.gz", ".tar"]
            .iter()
            .any(|end| text.ends_with(end));
        Ok(match From::parse(text)? {
            From::Layout(folder, name) => PushSource::Layout(folder, name),
            From::Registry(_) | From::ConfigMaps(_) => {
                return Err("a folder, an archive or `oci-layout:DIR[:NAME]` is pushed".to_owned());
            }
            _ if is_archive && !Path::new(text).is_dir() => {
                PushSource::Archive(text.into(), packing(Vec::new()))
            }
            _ => PushSource::Files(packing(vec![text.into()])),
        })
    }
}

impl PullArguments {
    /// Runs the command.
    pub(super) fn run(
        &self,
        request: &Request,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let options = PullOptions {
            of: self.of.clone(),
            tags: match self.allow_tag {
                true => Tags::Allow,
                false => Tags::Refuse,
            },
            key: self.key.clone(),
            unpack: UnpackOptions {
                from: From::Registry(self.of.clone()),
                into: self.into.clone(),
                order: self.manifests.order(),
                namespace: self.manifests.namespace.clone(),
                adopt: self.adopt,
                reporting: self.findings.reporting(),
                today,
            },
        };
        command::bundle_pull(request, &options, terminal)
    }
}

impl VerifyBundleArguments {
    /// Runs the command.
    pub(super) fn run(
        &self,
        request: &Request,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let options = VerifyBundleOptions {
            of: self.of.clone(),
            key: self.key.clone(),
            format: self.report.format(),
            today,
        };
        command::bundle_verify(request, &options, terminal)
    }
}

impl DiffArguments {
    /// Runs the command.
    pub(super) fn run(
        &self,
        request: &Request,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let options = DiffOptions {
            of: self.of.clone(),
            folder: self.folder.clone(),
            format: self.report.format(),
            today,
        };
        command::bundle_diff(request, &options, terminal)
    }
}

fn tag(text: &str) -> Result<String, String> {
    let is_tag = Reference::parse(&format!("localhost/x:{text}")).is_ok_and(|it| it.tag.is_some());
    match is_tag {
        true => Ok(text.to_owned()),
        false => Err("a tag is at most 128 letters, digits, `_`, `.` and `-`".to_owned()),
    }
}
