//! `metalmark bundle push`: a bundle into a registry, and its signature beside it.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use oci_artifacts::layout::Layout;
use oci_artifacts::signature::{self, SignatureForm, Signed, SigningKey};
use oci_artifacts::{Artifact, Digest, Failure, Put, Reference, Sink, Store, whole};

use crate::bundle::{REVISION, SOURCE};
use crate::catalog::sources::Stores;
use crate::error::Error;
use crate::files::Provenance;
use crate::pipeline::{Reporting, Terminal, Verdict};
use crate::report::{Format, PushedBundle};

use super::gather::PackKind;
use super::input::Input;
use super::manifests::Prepared;
use super::packing::{PackingOptions, Source};
use super::{Run, reference};

/// What is pushed, and where to.
#[derive(Debug, Args)]
pub struct PushOptions {
    /// A folder, an archive or `oci-layout:DIR[:NAME]`, and where it goes: `oci://REGISTRY/REPOSITORY:TAG`.
    #[arg(value_names = ["SOURCE", "TO"], num_args = 1..=2, required = true)]
    what: Vec<String>,
    /// Push what the project renders; then no SOURCE is named.
    #[arg(long)]
    rendered: bool,
    /// As what it is pushed.
    #[arg(long, value_enum, default_value_t = PackKind::Artifact, value_name = "KIND")]
    kind: PackKind,
    /// Another tag for the same artifact; may be given several times.
    #[arg(long = "tag", value_name = "TAG", value_parser = tag)]
    tags: Vec<String>,
    /// Annotate neither the repository nor the commit that it comes from, unless `--source` and `--revision` do.
    #[arg(long)]
    no_provenance: bool,
    /// Sign it with this private key without a password: PEM, ECDSA P-256. With others, `cosign sign` signs after the push.
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
    /// Where the signature goes.
    #[arg(long, value_parser = form(), default_value = "tag", value_name = "FORM", requires = "sign")]
    sign_as: SignatureForm,
    #[command(flatten)]
    packing: PackingOptions,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    format: Format,
}

/// What is pushed.
enum Pushed {
    /// What is packed.
    Packed(Source),
    /// What an image layout holds, to the byte.
    Layout(String, Option<String>),
}

/// Pushes a bundle and prints its digest.
pub(super) fn push(
    run: &Run<'_>,
    options: &PushOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let (source, to) = options.source(run)?;
    let tags = options.tags(&to)?;
    // A key that cannot be used is reported before anything is sent.
    let key = options.sign.as_deref().map(|file| run.signing_key(file));
    let key = key.transpose()?;
    let artifacts = match source {
        Pushed::Layout(folder, name) => {
            let layout = Layout::open(run.folder(), &folder)?;
            let of = layout.pick(name.as_deref())?;
            let pieces = whole::own_pieces(&layout, std::slice::from_ref(&of)).pop();
            let pieces = pieces.unwrap_or_else(|| Err(Failure::no_answer(&of)))?;
            let store: Arc<dyn Store> = Arc::new(layout);
            pieces.iter().map(|piece| piece.artifact(&store)).collect()
        }
        Pushed::Packed(source) => match artifact(run, options, &source, terminal)? {
            Some(artifact) => vec![artifact],
            None => return Ok(Verdict::Findings),
        },
    };
    let stores = run.stores()?;
    let (put, digest) = put(&stores, &to, &tags, &artifacts)?;
    let signed = key
        .map(|key| sign(&stores, &to, &artifacts, &key, options.sign_as))
        .transpose()?;
    let reference = Reference {
        tag: tags.first().map(|tag| (*tag).into()),
        ..to.with_digest(&digest)
    };
    let pushed = PushedBundle {
        version: 1,
        reference: reference.to_string(),
        digest: digest.as_str(),
        tags,
        sent: put.sent,
        unchanged: put.is_unchanged,
        signed: signed.map(|signed| match signed {
            Signed::New => "now",
            Signed::Already => "before",
        }),
    };
    match options.format {
        Format::Human => {
            writeln!(terminal.out, "{digest}")?;
            writeln!(terminal.err, "{pushed}")?;
        }
        format => format.data(&pushed, &mut terminal.out)?,
    }
    Ok(Verdict::Clean)
}

impl PushOptions {
    /// What is pushed, and the reference that it is pushed to.
    fn source(&self, run: &Run<'_>) -> Result<(Pushed, Reference), Error> {
        let (text, to) = match (self.what.as_slice(), self.rendered) {
            ([source, to], false) => (source, to),
            ([to], true) => {
                let to = reference(to).map_err(Error::usage)?;
                return Ok((Pushed::Packed(Source::Project), to));
            }
            ([_], false) => {
                return Err(Error::usage(
                    "name what is pushed and where: `bundle push SOURCE oci://REGISTRY/REPOSITORY:TAG`, \
                     or add `--rendered`",
                ));
            }
            _ => {
                let message = "`--rendered` pushes what the project renders: leave out the SOURCE";
                return Err(Error::usage(message));
            }
        };
        let source = match Input::parse(text).map_err(Error::usage)? {
            Input::Layout(folder, name) => Pushed::Layout(folder, name),
            Input::Registry(_) | Input::ConfigMaps(_) => {
                let message = "a folder, an archive or `oci-layout:DIR[:NAME]` is pushed";
                return Err(Error::usage(message));
            }
            Input::Path(path) => Pushed::Packed(run.source(&path, self.kind)?),
            _ => Pushed::Packed(Source::Files(vec![text.into()])),
        };
        Ok((source, reference(to).map_err(Error::usage)?))
    }

    fn tags<'a>(&'a self, to: &'a Reference) -> Result<Vec<&'a str>, Error> {
        let own = to.tag.as_deref();
        let tags: Vec<&str> = own
            .into_iter()
            .chain(self.tags.iter().map(String::as_str))
            .collect();
        let message = match (tags.is_empty(), &to.digest) {
            (_, Some(_)) => {
                "a push has no digest before it is made: write `oci://REGISTRY/REPOSITORY:TAG`"
            }
            (true, None) => {
                "a push needs a tag: write `oci://REGISTRY/REPOSITORY:TAG`, or add `--tag`"
            }
            (false, None) => return Ok(tags),
        };
        Err(Error::usage(message))
    }
}

/// The artifact of a source; none if something is wrong with it, which is printed.
fn artifact(
    run: &Run<'_>,
    options: &PushOptions,
    source: &Source,
    terminal: &mut Terminal,
) -> Result<Option<Artifact>, Error> {
    // Nobody knows what an archive was packed from.
    let has_provenance = !options.no_provenance
        && options.kind == PackKind::Artifact
        && !matches!(source, Source::Archive(_));
    let provenance = if has_provenance {
        Some(provenance(run, source, terminal)?)
    } else {
        None
    };
    let packed = options.packing.pack(
        run,
        source,
        options.kind,
        None,
        &Reporting::default(),
        terminal,
    )?;
    let Some((Prepared { mut bundle, .. }, _)) = packed else {
        return Ok(None);
    };
    let mut created = run.epoch;
    if let Some(of) = provenance {
        created = created.or(of.committed);
        let revision = of.commit.map(|commit| format!("sha1:{commit}"));
        for (key, value) in [(SOURCE, of.source), (REVISION, revision)] {
            if let Some(value) = value {
                bundle.annotations.entry(key.to_owned()).or_insert(value);
            }
        }
    }
    let counting = run.counting(bundle.files().len());
    let artifact = bundle.artifact(created.unwrap_or(0), &counting);
    Ok(Some(artifact.map_err(Error::reading("the bundle"))?))
}

/// Where what is packed comes from: the repository of the first input, or the project's.
fn provenance(
    run: &Run<'_>,
    source: &Source,
    terminal: &mut Terminal,
) -> Result<Provenance, Error> {
    let input = match source {
        Source::Files(inputs) => inputs.first(),
        Source::Project | Source::Archive(_) => None,
    };
    let folder = match input.map(|input| run.resolve(input)) {
        Some(path) if path.is_dir() => path,
        Some(path) => path.parent().unwrap_or(run.folder()).to_owned(),
        None => run.folder().to_owned(),
    };
    let of = Provenance::from_folder(&folder);
    if of.is_changed {
        writeln!(
            terminal.err,
            "note: `{}` has uncommitted changes, so the artifact names no revision",
            folder.display()
        )?;
    }
    Ok(of)
}

/// Puts everything there, the last artifact under each tag.
fn put(
    stores: &Stores,
    to: &Reference,
    tags: &[&str],
    artifacts: &[Artifact],
) -> Result<(Put, Digest), Error> {
    let mut all = Put {
        sent: 0,
        is_unchanged: true,
    };
    let mut add = |to: &Reference, artifact: &Artifact| -> Result<(), Failure> {
        let put = stores.put(to, artifact)?;
        all.sent += put.sent;
        all.is_unchanged &= put.is_unchanged;
        Ok(())
    };
    let Some((last, children)) = artifacts.split_last() else {
        return Err(Error::usage("there is nothing to push"));
    };
    let bare = Reference {
        tag: None,
        ..to.clone()
    };
    for child in children {
        add(&bare.with_digest(&child.descriptor.digest), child)?;
    }
    for tag in tags {
        add(&to.with_tag(tag), last)?;
    }
    Ok((all, last.descriptor.digest.clone()))
}

/// Signs an index and each manifest that it names: a machine that pulls one of them has its digest only.
fn sign(
    stores: &Stores,
    to: &Reference,
    artifacts: &[Artifact],
    key: &SigningKey,
    form: SignatureForm,
) -> Result<Signed, Error> {
    let mut signed = Signed::Already;
    for artifact in artifacts {
        if signature::sign(stores, stores, to, &artifact.descriptor, key, form)? == Signed::New {
            signed = Signed::New;
        }
    }
    Ok(signed)
}

fn tag(text: &str) -> Result<String, String> {
    let is_tag = Reference::parse(&format!("localhost/x:{text}")).is_ok_and(|it| it.tag.is_some());
    if is_tag {
        Ok(text.to_owned())
    } else {
        Err("a tag is at most 128 letters, digits, `_`, `.` and `-`".to_owned())
    }
}

/// The forms of a signature.
fn form() -> impl TypedValueParser<Value = SignatureForm> {
    let tag = "To the tag `sha256-<hex>.sig`, where every cosign and Flux look";
    let bundle = "Into a Sigstore bundle that refers to the artifact, as cosign 3 does it";
    PossibleValuesParser::new([
        PossibleValue::new("tag").help(tag),
        PossibleValue::new("bundle").help(bundle),
    ])
    .map(|name| match name.as_str() {
        "bundle" => SignatureForm::Bundle,
        _ => SignatureForm::Tag,
    })
}
