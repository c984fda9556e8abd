//! `metalmark bundle push`: a bundle into a registry, and its signature beside it.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::artifacts::layout::Layout;
use crate::artifacts::signature::{self, SignatureForm, Signed, SigningKey};
use crate::bundle::{Bundle, REVISION, SOURCE};
use crate::catalog::sources::Stores;
use crate::error::Error;
use crate::files::Provenance;
use crate::model::policy::Date;
use crate::oci::{Artifact, Digest, Failure, Put, Reference, Sink};
use crate::read::Request;

use super::from::From;
use super::keys;
use super::packing::{PackKind, Packing, packed, packed_anew};
use super::{below, counted, counting, failed, lost, workspace};
use crate::pipeline::{Format, Reporting, Terminal, Verdict};

/// What `bundle push` was asked for.
#[derive(Clone, Debug)]
pub struct PushOptions {
    /// What is pushed.
    pub what: PushSource,
    /// Where it goes: a repository with a tag, or with none where other tags are given.
    pub to: Reference,
    /// More tags for the same artifact.
    pub tags: Vec<String>,
    /// Whether the repository and the commit that it comes from are told in its annotations.
    pub tells_provenance: bool,
    /// Seconds since 1970 that it says it was made at; else the commit's time, else 1970.
    pub created: Option<u64>,
    /// How it is signed, where it is.
    pub signing: Option<Signing>,
    /// The format of what is printed.
    pub format: Format,
    /// The day that waivers are held against.
    pub today: Date,
}

/// What is pushed.
#[derive(Clone, Debug)]
pub enum PushSource {
    /// Files, packed as they are told to be; without inputs, what the project renders.
    Files(Packing),
    /// An archive, its files packed anew.
    Archive(PathBuf, Packing),
    /// What an image layout holds, to the byte.
    Layout(String, Option<String>),
}

/// How something is signed.
#[derive(Clone)]
pub struct Signing {
    /// The file of the private key.
    pub key: PathBuf,
    /// What opens it.
    pub password: Option<String>,
    /// Where the signature goes.
    pub form: SignatureForm,
}

/// Without the password.
impl std::fmt::Debug for Signing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signing({}, {:?})", self.key.display(), self.form)
    }
}

#[derive(Serialize)]
struct Pushed<'a> {
    version: u32,
    reference: String,
    digest: &'a str,
    tags: Vec<&'a str>,
    sent: usize,
    unchanged: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    signed: Option<&'static str>,
}

/// Pushes a bundle and prints its digest.
///
/// # Errors
/// Something cannot be read; the registry does not take it; the key cannot sign.
pub fn bundle_push(
    request: &Request,
    options: &PushOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let tags = tags(options)?;
    // A key that cannot be used is told before anything is sent.
    let signing = options.signing.as_ref();
    let key = signing
        .map(|signing| keys::secret(request, signing))
        .transpose()?;
    let Some(artifacts) = artifacts(request, options, terminal)? else {
        return Ok(Verdict::Findings);
    };
    let stores = super::stores(request, terminal)?;
    let (put, digest) = put(&stores, options, &tags, &artifacts)?;
    let mut signed = None;
    if let (Some(key), Some(signing)) = (&key, signing) {
        signed = Some(sign(&stores, options, &artifacts, key, signing.form)?);
    }
    print(options, &tags, put, &digest, signed, terminal)?;
    Ok(Verdict::Clean)
}

fn tags(options: &PushOptions) -> Result<Vec<&str>, Error> {
    let own = options.to.tag.as_deref();
    let tags: Vec<&str> = own
        .into_iter()
        .chain(options.tags.iter().map(String::as_str))
        .collect();
    let message = match (tags.is_empty(), &options.to.digest) {
        (_, Some(_)) => "a digest is what a push comes to: write `oci://REGISTRY/REPOSITORY:TAG`",
        (true, None) => "a push needs a tag: write `oci://REGISTRY/REPOSITORY:TAG`, or add `--tag`",
        (false, None) => return Ok(tags),
    };
    Err(Error::Usage {
        message: message.to_owned(),
    })
}

/// What is to be sent, what an index names first; none where something is wrong with it, which is told.
fn artifacts(
    request: &Request,
    options: &PushOptions,
    terminal: &mut Terminal,
) -> Result<Option<Vec<Artifact>>, Error> {
    let (packing, archive) = match &options.what {
        PushSource::Layout(folder, name) => {
            let base = request.directory.as_deref().unwrap_or(Path::new("."));
            let layout = Layout::open(base, folder).map_err(failed)?;
            let of = layout.pick(name.as_deref()).map_err(failed)?;
            return layout.artifacts(&of).map(Some).map_err(failed);
        }
        PushSource::Files(packing) => (packing, None),
        PushSource::Archive(file, packing) => (packing, Some(file)),
    };
    let (mut packing, mut created) = (packing.clone(), options.created);
    // Nobody knows what an archive was packed from.
    if options.tells_provenance && packing.kind == PackKind::Artifact && archive.is_none() {
        let of = provenance(request, &packing, terminal)?;
        created = created.or(of.committed);
        annotate(&mut packing, of);
    }
    let Some(bundle) = bundle(request, &packing, archive, options.today, terminal)? else {
        return Ok(None);
    };
    let counting = counting(terminal.progress.as_ref(), bundle.files().len());
    let artifact = bundle.artifact(created.unwrap_or(0), &counting);
    Ok(Some(vec![artifact.map_err(lost("the bundle"))?]))
}

/// What nobody said otherwise.
fn annotate(packing: &mut Packing, of: Provenance) {
    let revision = of.commit.map(|commit| format!("sha1:{commit}"));
    for (key, value) in [(SOURCE, of.source), (REVISION, revision)] {
        if let Some(value) = value {
            packing.annotations.entry(key.to_owned()).or_insert(value);
        }
    }
}

fn bundle(
    request: &Request,
    packing: &Packing,
    archive: Option<&PathBuf>,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Option<Bundle>, Error> {
    let renders = archive.is_none() && packing.inputs.is_empty();
    let mut workspace = workspace(request, renders)?;
    let reporting = plainly();
    let telling = (today, &reporting);
    let packed = match archive {
        None => packed(request, &mut workspace, packing, telling, terminal)?,
        Some(file) => {
            let loaded = From::Path(file.clone()).load(request, terminal.progress.as_ref())?;
            packed_anew(&workspace, loaded, packing, telling, terminal)?
        }
    };
    Ok(packed.map(|(bundle, _)| bundle))
}

/// Findings as people read them.
fn plainly() -> Reporting {
    Reporting {
        output: Format::Human.report(),
        files: Vec::new(),
    }
}

/// Where what is packed comes from: the repository of the first input, or the project's.
fn provenance(
    request: &Request,
    packing: &Packing,
    terminal: &mut Terminal,
) -> Result<Provenance, Error> {
    let here = request.directory.clone().unwrap_or_else(|| ".".into());
    let folder = match packing.inputs.first() {
        Some(input) => {
            let path = below(request, input);
            match path.is_dir() {
                true => path,
                false => path.parent().map(Path::to_owned).unwrap_or(here),
            }
        }
        None => here,
    };
    let of = Provenance::of(&folder);
    if of.is_changed {
        writeln!(
            terminal.err,
            "note: `{}` holds what is not committed, so that no revision is told in the artifact",
            folder.display()
        )?;
    }
    Ok(of)
}

/// Puts everything there, the last artifact under each tag.
fn put(
    stores: &Stores,
    options: &PushOptions,
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
        let message = "there is nothing to push".to_owned();
        return Err(Error::Usage { message });
    };
    let bare = Reference {
        tag: None,
        ..options.to.clone()
    };
    for child in children {
        add(&bare.at(&child.descriptor.digest), child).map_err(failed)?;
    }
    for tag in tags {
        add(&options.to.tagged(tag), last).map_err(failed)?;
    }
    Ok((all, last.descriptor.digest.clone()))
}

fn sign(
    stores: &Stores,
    options: &PushOptions,
    artifacts: &[Artifact],
    key: &SigningKey,
    form: SignatureForm,
) -> Result<Signed, Error> {
    // An index is signed, and each manifest that it names: whoever takes one of them has its digest only.
    let mut signed = Signed::Already;
    for artifact in artifacts {
        let of = (&options.to, &artifact.descriptor);
        if signature::sign(stores, stores, of, key, form).map_err(failed)? == Signed::New {
            signed = Signed::New;
        }
    }
    Ok(signed)
}

fn print(
    options: &PushOptions,
    tags: &[&str],
    put: Put,
    digest: &Digest,
    signed: Option<Signed>,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    let reference = Reference {
        tag: tags.first().map(|tag| (*tag).into()),
        ..options.to.at(digest)
    };
    if options.format == Format::Json {
        let document = Pushed {
            version: 1,
            reference: reference.to_string(),
            digest: digest.as_str(),
            tags: tags.to_vec(),
            sent: put.sent,
            unchanged: put.is_unchanged,
            signed: signed.map(|signed| match signed {
                Signed::New => "now",
                Signed::Already => "before",
            }),
        };
        terminal.out.json(&document)?;
        return Ok(());
    }
    writeln!(terminal.out, "{digest}")?;
    let what = match put.is_unchanged {
        true => "nothing changed".to_owned(),
        false => format!("{} sent", counted(put.sent, "blob")),
    };
    let signed = match signed {
        None => "",
        Some(Signed::New) => ", signed",
        Some(Signed::Already) => ", signed by this key before",
    };
    writeln!(terminal.err, "{reference}: {what}{signed}")?;
    Ok(())
}
