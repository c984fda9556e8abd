//! `metalmark bundle inspect`: what a bundle is and holds.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use crate::bundle::{self, Bundle, Kind, MANIFESTS, plain, registry};
use crate::error::Error;
use crate::model::component::{Declared, Need};
use crate::model::finding::Finding;
use crate::model::policy::{Date, Policy};
use crate::objects::bundled::{self, Order};
use crate::pipeline::check;
use crate::read::Request;
use crate::report;

use super::from::{From, Loaded};
use super::{counted, lost, told, workspace};
use crate::pipeline::{Format, Reporting, Terminal, Verdict};

/// What `bundle inspect` was asked for.
#[derive(Clone, Debug)]
pub struct InspectOptions {
    /// Where the bundle is.
    pub from: From,
    /// In which order whoever takes the bundle applies its objects.
    pub order: Order,
    /// The format of what is printed.
    pub format: Format,
    /// The day that waivers are held against.
    pub today: Date,
}

/// What is told of a bundle.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    content: String,
    bytes: u64,
    files: Vec<ToldFile>,
    objects: Vec<ToldObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    installer: Option<ToldInstaller>,
    annotations: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct ToldFile {
    path: String,
    bytes: u64,
    executable: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToldObject {
    api_version: String,
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    name: String,
    file: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToldInstaller {
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    optional: Vec<String>,
    required: Vec<String>,
}

/// Prints what a bundle is and holds; what is wrong with it goes to stderr.
///
/// # Errors
/// It cannot be read.
pub fn bundle_inspect(
    request: &Request,
    options: &InspectOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let workspace = workspace(request, false)?;
    let mut loaded = options.from.load(request, terminal.progress.as_ref())?;
    let mut found = std::mem::take(&mut loaded.findings);
    if found.is_empty() {
        let (told, wrong) = looked(&loaded, options.order, &workspace.settings.policy)?;
        found.extend(wrong);
        match options.format {
            Format::Human => print(&told, terminal)?,
            Format::Json => {
                terminal.out.json(&told)?;
            }
        }
    }
    let reporting = Reporting {
        output: report::REPORTS[0],
        files: Vec::new(),
    };
    told(&workspace, found, (options.today, &reporting), terminal)
}

fn looked(loaded: &Loaded, order: Order, policy: &Policy) -> Result<(Told, Vec<Finding>), Error> {
    let (bundle, unreadable) = (&loaded.bundle, lost(&loaded.shown));
    let mut told = shown(loaded)?;
    if bundle.kind == Kind::Components {
        let declared = Declared::of_annotations(&bundle.annotations);
        let (looked, found) = bundle::contract(bundle.files(), &declared).map_err(&unreadable)?;
        told.installer = looked.map(|looked| shown_installer(looked, &declared));
        return Ok((told, found));
    }
    let manifests = manifests(bundle);
    let index = plain::index(&manifests, &|_| {}).map_err(&unreadable)?;
    told.objects = index
        .objects
        .iter()
        .map(|object| shown_object(object, &manifests))
        .collect();
    let mut found = Vec::new();
    if bundle.kind == Kind::Registry {
        let converted = registry::plain(bundle.files(), None).map_err(&unreadable)?;
        found.extend(converted.err().unwrap_or_default());
    }
    if bundle.kind == Kind::Plain {
        let paths = bundle.files().iter().map(|file| &*file.path);
        let folders = loaded.folders.iter().map(String::as_str);
        found.extend(plain::misplaced(paths, folders));
        found.extend(index.findings);
        let texts = plain::Texts::new(&manifests);
        let seen = bundled::Bundle::new(&index.objects, &texts, order);
        found.extend(check::bundle(&seen, policy));
    }
    Ok((told, found))
}

/// What is told of any bundle.
fn shown(loaded: &Loaded) -> Result<Told, Error> {
    let bundle = &loaded.bundle;
    let content = bundle
        .content_digest(&|_| {})
        .map_err(lost(&loaded.shown))?;
    Ok(Told {
        kind: bundle.kind.to_string(),
        digest: loaded.digest.as_ref().map(ToString::to_string),
        content: content.to_string(),
        bytes: bundle.files().iter().map(|file| file.size).sum(),
        files: bundle.files().iter().map(shown_file).collect(),
        objects: Vec::new(),
        installer: None,
        annotations: bundle.annotations.clone(),
    })
}

/// The files that may hold objects: those of `manifests/`, and of a tree those that are YAML by their names.
fn manifests(bundle: &Bundle) -> Vec<bundle::File> {
    let is_manifest = |file: &&bundle::File| match bundle.kind {
        Kind::Artifact(_) => [".yaml", ".yml", ".json"]
            .iter()
            .any(|end| file.path.ends_with(end)),
        _ => file.path.starts_with(MANIFESTS),
    };
    bundle.files().iter().filter(is_manifest).cloned().collect()
}

fn shown_file(file: &bundle::File) -> ToldFile {
    ToldFile {
        path: file.path.to_string(),
        bytes: file.size,
        executable: file.is_executable,
    }
}

fn shown_object(object: &bundled::Bundled, files: &[bundle::File]) -> ToldObject {
    ToldObject {
        api_version: object.api_version.to_string(),
        kind: object.kind.to_string(),
        namespace: object.namespace.to_string(),
        name: object.name.to_string(),
        file: files[object.file].path.to_string(),
    }
}

fn shown_installer(installer: bundle::Installer, declared: &Declared) -> ToldInstaller {
    let variables = declared.variables.iter().flatten();
    let of = |need: Need| -> Vec<String> {
        let named = variables.clone().filter(|(_, has)| **has == need);
        named.map(|(name, _)| name.to_string()).collect()
    };
    ToldInstaller {
        program: installer.program,
        optional: of(Need::Optional),
        required: of(Need::Required),
    }
}

/// For people: the objects by kind, not one by one.
fn print(told: &Told, terminal: &mut Terminal) -> Result<(), Error> {
    let out = &mut terminal.out;
    writeln!(out, "kind         {}", told.kind)?;
    if let Some(digest) = &told.digest {
        writeln!(out, "digest       {digest}")?;
    }
    writeln!(out, "content      {}", told.content)?;
    let files = counted(told.files.len(), "file");
    writeln!(out, "files        {files}, {} bytes", told.bytes)?;
    for file in told.files.iter().filter(|file| file.executable) {
        writeln!(out, "executable   {}", file.path)?;
    }
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for object in &told.objects {
        *kinds.entry(&object.kind).or_default() += 1;
    }
    for (kind, count) in kinds {
        writeln!(out, "objects      {count} {kind}")?;
    }
    if let Some(installer) = &told.installer {
        let program = installer.program.as_deref().unwrap_or("a program");
        writeln!(out, "installer    {program}")?;
        for (word, names) in [
            ("requires", &installer.required),
            ("reads", &installer.optional),
        ] {
            if !names.is_empty() {
                writeln!(out, "{word:<12} {}", names.join(", "))?;
            }
        }
    }
    for (key, value) in &told.annotations {
        writeln!(out, "annotation   {key}: {value}")?;
    }
    Ok(())
}
