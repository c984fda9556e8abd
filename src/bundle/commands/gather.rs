//! Collects the files of a bundle: from folders, files, a stream of manifests, or the rendered project.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use oci_artifacts::archive::{MOST_LINKS, Mode, Spooling, link_target};
use yaml_tree::place::Spot;

use crate::bundle::plain::{is_hidden, is_part};
use crate::bundle::{BundleKind, File, MANIFESTS, registry_bundle_finding, registry_root};
use crate::error::Error;
use crate::files::{self, Inside, InsideKind};
use crate::model::date::Date;
use crate::model::finding::Finding;
use crate::model::manifest::FileKind;
use crate::model::output_path;
use crate::model::rule::RuleId;
use crate::read::Workspace;

use super::Run;
use crate::pipeline::fleet::Fleet;
use crate::pipeline::rendered::{self, RenderedPart};
use crate::pipeline::{Terminal, Verdict};
use crate::report::Format;

/// The longest stream of manifests that is read, in bytes.
const STREAM: u64 = 64 << 20;

/// What is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PackKind {
    /// Manifests in one flat folder, as RukPak takes them (plain+v0).
    Plain,
    /// A tree of files, as Flux and Argo CD take it.
    Artifact,
    /// What is installed on hosts by its `install.sh`.
    Components,
}

/// The files to pack, by path, and what is wrong with their paths.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) files: BTreeMap<String, File>,
    /// Folders that a plain bundle may not have.
    pub(super) folders: Vec<String>,
    pub(super) findings: Vec<Finding>,
    /// The files that a plain bundle does not hold, as they are shown.
    pub(super) left_out: Vec<Arc<str>>,
    /// The annotations of the bundle.
    pub(super) annotations: BTreeMap<String, String>,
}

/// What is at a path of a folder or an archive.
struct Entry {
    path: String,
    /// Where it was found, as findings show it.
    from: String,
    found: Found,
}

enum Found {
    Folder,
    File(File),
    /// Nothing that a bundle holds: what it is.
    Unfit(&'static str),
}

/// The files that are named.
pub(super) fn collect_files(
    run: &Run<'_>,
    inputs: &[PathBuf],
    kind: PackKind,
) -> Result<Gathered, Error> {
    let mut gathered = Gathered::default();
    for input in inputs {
        if input.as_os_str() == "-" {
            gathered.stream(kind)?;
            continue;
        }
        let path = run.resolve(input);
        match files::path_kind(&path)? {
            InsideKind::Folder => gathered.lay(folder_entries(input, &path)?, input, kind),
            InsideKind::File { size, mode } => {
                let name = input
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                let file = disk_file(&input.to_string_lossy(), &path, size, mode);
                gathered.add(path_in_bundle(&name, kind), file);
            }
            InsideKind::Link | InsideKind::Other => {
                let input = input.display();
                return Err(Error::usage(format!(
                    "`{input}` is neither a file nor a folder"
                )));
            }
        }
    }
    Ok(gathered)
}

/// A folder, whose files make its kind: a plain bundle holds what is packed of it, any other one all files.
pub(super) fn collect_folder(
    shown: &Path,
    folder: &Path,
) -> Result<(Gathered, Option<BundleKind>), Error> {
    let entries = folder_entries(shown, folder)?;
    let has = |path: &str| entries.iter().any(|entry| entry.path == path);
    let is_manifests = |it: &Entry| it.path == MANIFESTS && matches!(it.found, Found::Folder);
    let bundle_kind = BundleKind::from_files(has, entries.iter().any(is_manifests));
    let kind = match bundle_kind {
        Some(BundleKind::Plain) => PackKind::Plain,
        _ => PackKind::Artifact,
    };
    let mut gathered = Gathered::default();
    gathered.lay(entries, shown, kind);
    Ok((gathered, bundle_kind))
}

/// Files and folders that lie in an archive: what its folder would give.
pub(super) fn lay_out(
    folders: Vec<String>,
    files: &[File],
    archive: &Path,
    kind: PackKind,
) -> Gathered {
    let folders = folders.into_iter().map(|path| Entry {
        from: path.clone(),
        path,
        found: Found::Folder,
    });
    let files = files.iter().map(|file| Entry {
        path: file.path.to_string(),
        from: file.from.to_string(),
        found: Found::File(file.clone()),
    });
    let mut gathered = Gathered::default();
    gathered.lay(folders.chain(files).collect(), archive, kind);
    gathered
}

/// The files that the project renders, and the project; none if there is an error, which is printed.
pub(super) fn render_project(
    workspace: Workspace,
    kind: PackKind,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Option<(Gathered, Workspace)>, Error> {
    let fleet = Fleet::open(workspace, today)?;
    let made = rendered::render(fleet, RenderedPart::Whole)?;
    if made.report(Format::Human, terminal)? == Verdict::Findings {
        return Ok(None);
    }
    let mut gathered = Gathered::default();
    let is_plain = kind == PackKind::Plain;
    for file in made.files {
        if is_plain && file.kind == FileKind::Input {
            continue;
        }
        let path = if is_plain {
            path_in_bundle(&flat(&file.path), kind)
        } else {
            file.path.clone()
        };
        let file = File {
            from: file.path.as_str().into(),
            ..File::text(path.as_str(), file.text.into_bytes())
        };
        gathered.add(path, file);
    }
    // Its findings are printed with those of rendering.
    let mut workspace = made.workspace;
    workspace.findings.clear();
    Ok(Some((gathered, workspace)))
}

impl Gathered {
    /// Nothing, since something is wrong.
    pub(super) fn from_finding(finding: Finding) -> Self {
        Self {
            findings: vec![finding],
            ..Self::default()
        }
    }

    fn stream(&mut self, kind: PackKind) -> Result<(), Error> {
        if kind != PackKind::Plain {
            let message = "a stream holds manifests: name files or folders, or leave out `--kind`";
            return Err(Error::usage(message));
        }
        let mut spooling = Spooling::new();
        let stdin = std::io::stdin().lock();
        let size = std::io::copy(&mut stdin.take(STREAM + 1), &mut spooling)
            .map_err(Error::reading("-"))?;
        if size > STREAM {
            return Err(Error::usage(format!(
                "the stream is longer than {} MiB: write its manifests to files, and name their folder",
                STREAM >> 20
            )));
        }
        let file = File {
            path: "".into(),
            from: "-".into(),
            mode: Mode::PLAIN,
            size,
            content: Arc::new(spooling.finish().whole()),
        };
        self.add(path_in_bundle("stream.yaml", kind), file);
        Ok(())
    }

    /// What is in a folder or an archive. One that has `manifests/` is laid out as a bundle is; of another one the manifests are
    /// taken, laid flat.
    fn lay(&mut self, entries: Vec<Entry>, shown: &Path, kind: PackKind) {
        let paths = || entries.iter().map(|entry| &*entry.path);
        let laid_flat = kind == PackKind::Plain && !paths().any(|path| path == MANIFESTS);
        let registry = registry_root(paths().filter(|path| !is_hidden(path)));
        if kind == PackKind::Plain && registry.is_some_and(|root| laid_flat || root.is_empty()) {
            let spot = Spot::from_path(&shown.to_string_lossy());
            self.findings.push(registry_bundle_finding(Some(spot)));
            return;
        }
        for Entry { path, from, found } in entries {
            let is_taken = match kind {
                PackKind::Plain if laid_flat => is_manifest(&path),
                PackKind::Plain => is_part(&path),
                PackKind::Artifact | PackKind::Components => true,
            };
            match found {
                Found::Folder => self.folders.extend((!laid_flat).then_some(path)),
                _ if !is_taken => self.left_out.push(from.into()),
                Found::File(file) if laid_flat => {
                    self.add(path_in_bundle(&flat(&path), kind), file)
                }
                Found::File(file) => self.add(path, file),
                Found::Unfit(what) => self.refuse(&from, what),
            }
        }
    }

    /// Adds the files of an archive among other inputs.
    pub(super) fn merge(&mut self, archive: Self) {
        for (path, file) in archive.files {
            self.add(path, file);
        }
        self.folders.extend(archive.folders);
        self.left_out.extend(archive.left_out);
        self.findings.extend(archive.findings);
    }

    /// What of them a bundle does not keep: folders that hold nothing, and modes beyond what may be run.
    pub(super) fn find_unkept(&self) -> impl Iterator<Item = String> {
        [self.find_empty_folders(), self.find_special_modes()]
            .into_iter()
            .flatten()
    }

    fn find_special_modes(&self) -> Option<String> {
        let mut special = self.files.values().filter(|file| file.mode.is_special());
        let first = special.next()?;
        let others = special.count();
        Some(format!(
            "{} packed without setuid, setgid or sticky bits, because a bundle keeps modes 0644 and 0755: `{}` ({}){}",
            match others {
                0 => "1 file is".to_owned(),
                _ => format!("{} files are", others + 1),
            },
            first.from,
            first.mode,
            if others == 0 { "" } else { " …" }
        ))
    }

    fn find_empty_folders(&self) -> Option<String> {
        let is_empty = |folder: &&String| {
            let below = format!("{folder}/");
            let first = self.files.range(below.clone()..).next();
            !first.is_some_and(|(path, _)| path.starts_with(&below))
        };
        let mut empty = self.folders.iter().filter(is_empty);
        let first = empty.next()?;
        let others = empty.count();
        Some(format!(
            "{} left out, because a bundle holds files: `{first}`{}",
            match others {
                0 => "an empty folder is".to_owned(),
                _ => format!("{} empty folders are", others + 1),
            },
            if others == 0 { "" } else { " …" }
        ))
    }

    fn add(&mut self, path: String, file: File) {
        if let Some(fault) = output_path::fault(&path) {
            self.refuse(
                &file.from,
                &format!("cannot be in a bundle: its path {fault}"),
            );
            return;
        }
        if let Some(other) = self.files.get(&path) {
            let other = Arc::clone(&other.from);
            self.refuse(
                &file.from,
                &format!("has the path `{path}`, as `{other}` does"),
            );
            return;
        }
        let file = File {
            path: path.as_str().into(),
            ..file
        };
        self.files.insert(path, file);
    }

    fn refuse(&mut self, from: &str, what: &str) {
        let finding = Finding::new(RuleId::BundleLayout, format!("`{from}` {what}"));
        self.findings
            .push(finding.with_label(Some(Spot::from_path(from)), ""));
    }
}

/// What is in a folder, each symbolic link the file that it leads to.
fn folder_entries(shown: &Path, folder: &Path) -> Result<Vec<Entry>, Error> {
    let inside = files::tree(folder)?;
    let mut entries = Vec::with_capacity(inside.len());
    for entry in &inside {
        let from = shown.join(&entry.path).to_string_lossy().into_owned();
        let followed = match entry.kind {
            InsideKind::Folder => None,
            _ => follow_links(&inside, entry)?,
        };
        let file = followed.and_then(|followed| match followed.kind {
            InsideKind::File { size, mode } => Some(disk_file(&from, &followed.at, size, mode)),
            _ => None,
        });
        let found = match (file, entry.kind) {
            (Some(file), _) => Found::File(file),
            (None, InsideKind::Folder) => Found::Folder,
            (None, InsideKind::Link) => {
                Found::Unfit("is a symbolic link to something outside the bundle")
            }
            (None, _) => Found::Unfit("is not a file, or has a name that is not UTF-8"),
        };
        entries.push(Entry {
            path: entry.path.clone(),
            from,
            found,
        });
    }
    Ok(entries)
}

/// What an entry of a folder is, or what it leads to as a symbolic link, by way of others or not; none outside.
fn follow_links<'i>(
    inside: &'i [Inside],
    mut entry: &'i Inside,
) -> Result<Option<&'i Inside>, Error> {
    for _ in 0..=MOST_LINKS {
        if entry.kind != InsideKind::Link {
            return Ok(Some(entry));
        }
        let target = link_target(&entry.path, &files::read_link(&entry.at)?);
        let place = target.map(|target| inside.binary_search_by(|it| it.path.cmp(&target)));
        let Some(Ok(place)) = place else { break };
        entry = &inside[place];
    }
    Ok(None)
}

/// A file on disk, whose path in the bundle is set when it is added.
pub(super) fn disk_file(from: &str, at: &Path, size: u64, mode: Mode) -> File {
    File {
        path: "".into(),
        from: from.into(),
        mode,
        size,
        content: files::body(at),
    }
}

/// Whether a path is named as an archive is.
pub(super) fn is_archive(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let ends = [".tgz", ".tar.gz", ".tar"];
    ends.iter().any(|end| name.ends_with(end))
}

fn path_in_bundle(name: &str, kind: PackKind) -> String {
    match kind {
        PackKind::Plain => format!("{MANIFESTS}/{name}"),
        PackKind::Artifact | PackKind::Components => name.to_owned(),
    }
}

/// A path as one name.
fn flat(path: &str) -> String {
    path.replace('/', "-")
}

/// Files of manifests by their names, none of them in a hidden folder.
fn is_manifest(path: &str) -> bool {
    !is_hidden(path) && is_yaml(path)
}

/// Whether a file is YAML, or JSON, by its name.
pub(super) fn is_yaml(path: &str) -> bool {
    let ends = [".yaml", ".yml", ".json"];
    ends.iter().any(|end| path.ends_with(end))
}
