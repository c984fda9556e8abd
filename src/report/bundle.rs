//! Reports on bundles: kind and content, where one was pushed, and who signed it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

use super::format::Format;
use super::quantity;
use crate::printer::Printer;

/// What a bundle is and holds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BundleDescription {
    /// Its kind.
    pub kind: String,
    /// The digest of its manifest, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The digest of its files.
    pub content: String,
    /// The bytes of all files.
    pub bytes: u64,
    /// Its files.
    pub files: Vec<FileDescription>,
    /// The objects of its manifests.
    pub objects: Vec<ObjectDescription>,
    /// The kinds of objects that are defined elsewhere: by no object of it, and not by Kubernetes.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub needs: BTreeSet<String>,
    /// What installs it, if it has components.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installer: Option<InstallerDescription>,
    /// The annotations of its manifest.
    pub annotations: BTreeMap<String, String>,
}

/// A file of a bundle.
#[derive(Serialize)]
pub struct FileDescription {
    /// Its path.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// Whether it is executable.
    pub executable: bool,
}

/// An object of a bundle.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectDescription {
    /// Its `apiVersion`.
    pub api_version: String,
    /// Its `kind`.
    pub kind: String,
    /// Its namespace; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The path of its file.
    pub file: String,
}

/// What installs a component bundle.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallerDescription {
    /// The program that runs it, if its first line names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The variables that it reads.
    pub optional: Vec<String>,
    /// The variables that it requires.
    pub required: Vec<String>,
}

/// A bundle that was pushed.
#[derive(Serialize)]
pub struct PushedBundle<'a> {
    /// Grows when a field changes its meaning.
    pub version: u32,
    /// The reference, with its digest.
    pub reference: String,
    /// The digest of its manifest.
    pub digest: &'a str,
    /// Its tags.
    pub tags: Vec<&'a str>,
    /// How many blobs were sent.
    pub sent: usize,
    /// Whether the registry had all of it under these tags.
    pub unchanged: bool,
    /// `now` or `before`, if it was to be signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed: Option<&'static str>,
}

/// A bundle that was verified.
#[derive(Serialize)]
pub struct VerifiedBundle {
    /// Grows when a field changes its meaning.
    pub version: u32,
    /// The reference, with its digest.
    pub reference: String,
    /// Its kind.
    pub kind: String,
    /// How many files it has.
    pub files: usize,
    /// Who signed it, if that was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Whether there is no error.
    pub ok: bool,
}

/// Prints what a bundle is and holds: for people, the objects by kind.
pub fn bundle(
    description: &BundleDescription,
    format: Format,
    out: &mut Printer,
) -> io::Result<()> {
    match format {
        Format::Human => human(description, out),
        format => format.data(description, out),
    }
}

fn human(description: &BundleDescription, out: &mut Printer) -> io::Result<()> {
    writeln!(out, "kind         {}", description.kind)?;
    if let Some(digest) = &description.digest {
        writeln!(out, "digest       {digest}")?;
    }
    writeln!(out, "content      {}", description.content)?;
    let files = quantity(description.files.len(), "file");
    writeln!(out, "files        {files}, {} bytes", description.bytes)?;
    for file in description.files.iter().filter(|file| file.executable) {
        writeln!(out, "executable   {}", file.path)?;
    }
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for object in &description.objects {
        *kinds.entry(&object.kind).or_default() += 1;
    }
    for (kind, count) in kinds {
        writeln!(out, "objects      {count} {kind}")?;
    }
    for kind in &description.needs {
        writeln!(out, "needs        {kind}, which is defined elsewhere")?;
    }
    if let Some(installer) = &description.installer {
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
    for (key, value) in &description.annotations {
        writeln!(out, "annotation   {key}: {value}")?;
    }
    Ok(())
}

impl fmt::Display for PushedBundle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.reference)?;
        if self.unchanged {
            f.write_str("nothing changed")?
        } else {
            write!(f, "{} sent", quantity(self.sent, "blob"))?
        }
        f.write_str(match self.signed {
            None => "",
            Some("now") => ", signed",
            Some(_) => ", signed by this key before",
        })
    }
}

impl fmt::Display for VerifiedBundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = quantity(self.files, "file");
        let signature = self.signature.as_deref();
        let signature = signature.unwrap_or("its signature was not checked (`--key`)");
        write!(
            f,
            "{}: {} bundle of {files}, {signature}",
            self.reference, self.kind
        )
    }
}
