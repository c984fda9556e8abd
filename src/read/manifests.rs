//! The manifests that are stamped in place: the files and folders that are named.
//!
//! Of a folder every YAML file counts that holds an `apiVersion`, but for files that metalmark wrote itself, and hidden ones that no
//! kustomization names. Files named after secrets give no object: they are counted if they may hold one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::objects::{MARKER, ManifestObject, Unread, objects};
use capi::providers::PROVIDERS;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Source, Sources, Spot};
use yaml_tree::{Notice, NoticeKind};

use capi::secrets;

use crate::budget;
use crate::error::Error;
use crate::files::{Below, Content, Files, KUSTOMIZATIONS, is_kustomization, is_yaml, real};
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::model::settings::PROJECT_FILE_NAME;

use super::expressions::{ACTIONS, blank_expressions};
use super::gitops::{OwnOutput, Patches};
use super::helm_charts::is_of_cluster_api;
use super::{Request, Workspace, files};

/// What was read.
#[derive(Default)]
pub struct ManifestFiles {
    /// The objects, file by file.
    pub objects: Vec<ManifestObject>,
    /// The folders with a kustomization.
    pub kustomizations: BTreeSet<PathBuf>,
    /// The folders of Helm charts.
    pub charts: BTreeSet<PathBuf>,
    /// How many files were read.
    pub read: usize,
    /// The files that are no YAML, such as charts' templates, and have no marker. One that is no text has none here.
    pub skipped: Vec<Arc<Source>>,
    /// What is wrong with the others.
    pub findings: Vec<Finding>,
    /// The files that may hold such manifests and are not read, with the reason.
    pub unread: BTreeMap<PathBuf, &'static str>,
}

/// Why a file is not read.
mod unread {
    pub(super) const TEMPLATE: &str = "a template of another program";
    pub(super) const POINTER: &str = "a pointer of Git LFS";
    pub(super) const ENCRYPTED: &str = "encrypted";
    pub(super) const NO_TEXT: &str = "not text";
    pub(super) const NAME: &str = "a name that ends in none of .yaml, .yml and .json";
    pub(super) const SECRET: &str = "named after secrets";
    pub(super) const LINK: &str = "a link to a file that metalmark does not read";
}

/// The ends of the names of templates for programs that are not run here, where nothing else in the name says what they make.
const TEMPLATES: [&str; 13] = [
    "cue",
    "erb",
    "gotmpl",
    "hbs",
    "j2",
    "jinja",
    "jinja2",
    "jsonnet",
    "libsonnet",
    "mustache",
    "tftpl",
    "tmpl",
    "tpl",
];

/// The starts of encrypted files: of git-crypt, age, OpenPGP, Ansible and OpenSSL.
const ENCRYPTED: [&[u8]; 7] = [
    b"\0GITCRYPT\0",
    b"age-encryption.org/",
    b"-----BEGIN AGE ENCRYPTED FILE-----",
    b"-----BEGIN PGP MESSAGE-----",
    b"$ANSIBLE_VAULT;",
    b"Salted__",
    b"U2FsdGVkX1",
];

impl ManifestFiles {
    /// What breaks the files that were to be manifests. The objects in such a file would be missing in silence. A template, whose
    /// expressions would have to be evaluated first, is none; what is no YAML without them either is a warning.
    pub(super) fn syntax_findings(&self, is_template: impl Fn(&Path) -> bool) -> Vec<Finding> {
        let is_manifest = |source: &&Arc<Source>| {
            let path = Path::new(&*source.path);
            let is_json = path.extension().is_some_and(|end| end == "json");
            (is_json || has_object(&source.text)) && !is_template(path)
        };
        let skipped = self.skipped.iter().filter(is_manifest);
        let broken = skipped.filter_map(|source| {
            if has_open_variables(&source.text) {
                return None;
            }
            let plain = blank_template(&source.text);
            let error = match &plain {
                Some(plain) => yaml_tree::read(plain, FileId(0), Engine::Kubectl).err()?,
                None => objects(source).err()?,
            };
            let spot = Spot::new(source, error.place);
            let finding = Finding::from_syntax(error, Some(spot));
            Some(match plain {
                Some(_) => finding.unless_set(Level::Warning).help(
                    "without its expressions it is not YAML either, so no object in it is checked",
                ),
                None => finding,
            })
        });
        let named = self.findings.iter().cloned();
        named
            .filter(|finding| finding.rule != RuleId::ImageUnstamped)
            .chain(broken)
            .collect()
    }
}

/// Whether an object begins at the start of a line, in a list or in braces as well.
fn has_object(text: &str) -> bool {
    text.lines().any(|line| {
        let key = line.split_once(':').map_or("", |(key, _)| key);
        !line.starts_with(' ') && key.trim_matches(['-', '[', '{', ' ', '"', '\'']) == "apiVersion"
    })
}

/// Whether a text is YAML only once the variables in it are filled in, as `[${KEYS}]` is: with a word for each, and nothing for
/// one that has a line of its own. One that begins a line may make it a comment.
fn has_open_variables(text: &str) -> bool {
    let marked = mark_variables(text);
    let is_yaml = |first: &str| {
        let lines = marked.lines().map(|line| {
            let is_own = line.trim_matches([' ', VARIABLE]).is_empty();
            let line = if is_own { "" } else { line };
            let rest = line.strip_prefix(VARIABLE);
            let line = rest.map_or_else(|| line.to_owned(), |rest| first.to_owned() + rest);
            line.replace(VARIABLE, "x") + "\n"
        });
        let filled: String = lines.collect();
        yaml_tree::read(&filled, FileId(0), Engine::Kubectl).is_ok()
    };
    text.contains("${") && ["x", "#"].into_iter().any(is_yaml)
}

/// What a variable is replaced by: no text of YAML has it.
const VARIABLE: char = '\u{1}';

/// A text with one character for each variable. The default of one may hold others, and lines.
fn mark_variables(text: &str) -> String {
    let mut marked = String::with_capacity(text.len());
    let (mut rest, mut open) = (text, 0_usize);
    while let Some(at) = rest.find(['$', '}']) {
        let (before, mark) = rest.split_at(at);
        let is_begin = mark.starts_with("${");
        let is_end = open > 0 && mark.starts_with('}');
        let (own, after) = mark.split_at(if is_begin { 2 } else { 1 });
        if open == 0 {
            marked += before;
            if is_begin {
                marked.push(VARIABLE);
            } else {
                marked += own;
            }
        }
        open = open + usize::from(is_begin) - usize::from(is_end);
        rest = after;
    }
    marked + rest
}

/// A template's text with a word for each expression and nothing for a line of expressions alone, each as long as what it
/// replaces; none where there is no expression.
fn blank_template(text: &str) -> Option<String> {
    let marks = [ACTIONS, ("{%", "%}"), ("<%", "%>")];
    let letter = |open: &str| if open == ACTIONS.0 { 'x' } else { ' ' };
    let plain = blank_expressions(text, marks, letter)?;
    let lines = plain.split_inclusive('\n').zip(text.split_inclusive('\n'));
    let blanked = lines.map(|(line, before)| {
        let is_expression = before.trim_start().starts_with("{{")
            && line.trim().bytes().all(|byte| matches!(byte, b'x' | b' '));
        if is_expression {
            line.replace('x', " ")
        } else {
            line.to_owned()
        }
    });
    Some(blanked.collect())
}

/// The manifests below these paths, as typed; else those that the project names; else all below its folder.
///
/// # Errors
/// Nothing is there, or it cannot be read.
pub fn manifests(
    workspace: &Workspace,
    request: &Request,
    typed: &[PathBuf],
) -> Result<ManifestFiles, Error> {
    let tree = &*workspace.files;
    let named = match typed {
        [] if workspace.manifests.is_empty() => vec![PathBuf::from(".")],
        [] => workspace.manifests.clone(),
        typed => typed
            .iter()
            .map(|path| path_from_root(request, &workspace.settings.root, path))
            .collect::<Result<_, _>>()?,
    };
    let mut found = collect(tree, &named, workspace.shared.own_output(), |text| {
        // A kustomization needs no version, and refers to objects by kind and name.
        text.contains("apiVersion") || text.contains(MARKER) || text.contains("kind")
    })?;
    // What a link leads to is stamped there, unless the link is meant.
    found.objects.retain(|object| {
        let path = Path::new(&*object.file().path);
        tree.leads_to(path).is_none() || named.iter().any(|named| named == path)
    });
    Ok(found)
}

/// The manifests of these files and folders whose text is one of those that are meant.
///
/// # Errors
/// One of them is not there, or cannot be read.
pub(super) fn collect(
    tree: &dyn Files,
    named: &[PathBuf],
    own_output: &OwnOutput,
    is_meant: impl Fn(&str) -> bool,
) -> Result<ManifestFiles, Error> {
    let (mut found, mut known) = (ManifestFiles::default(), BTreeSet::new());
    let (mut links, mut others) = (Vec::new(), Vec::new());
    for path in named {
        let is_folder = tree.is_folder(path);
        let inside = if is_folder {
            let is_wanted =
                |path: &Path| is_read(path) || has_end(path, &TEMPLATES) || has_yaml_in_name(path);
            folder_files(tree, path, own_output, is_wanted)?
        } else {
            Below {
                files: vec![path.clone()],
                ..Below::default()
            }
        };
        // What leads nowhere says nothing, and is counted with the other links.
        let leading = inside.links.iter().filter(|link| tree.is_file(link));
        for file in inside.files.iter().chain(leading) {
            let folder = || file.parent().unwrap_or(Path::new("")).to_owned();
            if is_kustomization(file) {
                found.kustomizations.insert(folder());
            } else if file.file_name().is_some_and(|name| name == "Chart.yaml") {
                found.charts.insert(folder());
            }
        }
        for file in inside.files {
            if is_folder && !is_read(&file) {
                others.push(file);
            } else if known.insert(files::display(&file)) {
                read_file(tree, file, is_folder, &is_meant, &mut found)?;
            }
        }
        links.extend(inside.links);
    }
    // What kustomizations name is read, whatever it is called, also where a link leads to it.
    loop {
        let patches = Patches::read(tree, &found.kustomizations, &found.objects)?;
        let odd = patches.resources.iter().filter(|path| {
            let is_odd = is_hidden(path) || !is_yaml(path) || tree.leads_to(path).is_some();
            is_odd && known.insert(files::display(path))
        });
        let odd: Vec<PathBuf> = odd.cloned().collect();
        if odd.is_empty() {
            patches.mark(&mut found.objects);
            others.retain(|file| known.insert(files::display(file)));
            for file in others {
                let why = find_omission(tree, &file, &is_meant)?;
                found.unread.extend(why.map(|why| (file, why)));
            }
            let unread = links.into_iter().filter(|link| {
                let is_read = |path: PathBuf| known.contains(&files::display(&path));
                !is_read(link.clone())
                    && !tree.leads_to(link).is_some_and(is_read)
                    && is_meant_or_open(tree, link, &is_meant)
            });
            found.unread.extend(unread.map(|link| (link, unread::LINK)));
            return Ok(found);
        }
        for path in odd {
            if KUSTOMIZATIONS
                .iter()
                .any(|name| tree.is_file(&path.join(name)))
            {
                found.kustomizations.insert(path);
            } else if tree.is_file(&path) && !is_rendered(tree, &path, own_output)? {
                read_file(tree, path, true, &is_meant, &mut found)?;
            }
        }
    }
}

/// Whether a link leads to a text that is meant, or to nothing that can be read.
fn is_meant_or_open(tree: &dyn Files, link: &Path, is_meant: impl Fn(&str) -> bool) -> bool {
    let is_text = |content: Content| is_meant(&String::from_utf8_lossy(content.raw_bytes()));
    !tree.is_folder(link) && tree.content(link).map_or(true, is_text)
}

/// Whether a file is read as manifests, whatever lies in it.
fn is_read(path: &Path) -> bool {
    is_yaml(path) || is_kustomization(path)
}

/// Whether a name says, in any letters, that YAML or JSON is in a file or is made of it: `edge.YAML`, `edge.yaml.in`.
fn has_yaml_in_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    [".yaml", ".yml", ".json"]
        .iter()
        .any(|end| name.contains(end))
}

/// Why a file is not read that is not called as manifests are; none of one that makes nothing that is meant.
fn find_omission(
    tree: &dyn Files,
    file: &Path,
    is_meant: impl Fn(&str) -> bool,
) -> Result<Option<&'static str>, Error> {
    let content = match tree.content(file) {
        Err(Error::Pointer { .. }) => return Ok(Some(unread::POINTER)),
        read => read?,
    };
    let bytes = content.raw_bytes();
    if is_encrypted(bytes) {
        return Ok(Some(unread::ENCRYPTED));
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Ok(Some(unread::NO_TEXT));
    };
    let is_template =
        || has_end(file, &TEMPLATES) || blank_template(text).is_some() || has_open_variables(text);
    Ok(is_meant(text).then(|| {
        if is_template() {
            unread::TEMPLATE
        } else {
            unread::NAME
        }
    }))
}

fn is_encrypted(bytes: &[u8]) -> bool {
    ENCRYPTED.iter().any(|start| bytes.starts_with(start))
}

/// Reads a file of manifests, or says why not. One that nobody has typed may be something else.
fn read_file(
    tree: &dyn Files,
    file: PathBuf,
    may_skip: bool,
    is_meant: impl Fn(&str) -> bool,
    found: &mut ManifestFiles,
) -> Result<(), Error> {
    if may_skip && has_end(&file, &TEMPLATES) {
        let why = find_omission(tree, &file, is_meant)?;
        found.unread.extend(why.map(|why| (file, why)));
        return Ok(());
    }
    if !secrets::is_named_secret(&file) {
        return read_manifest(tree, &file, may_skip, &is_meant, found);
    }
    let why = match tree.content(&file) {
        Err(Error::Pointer { .. }) => Some(unread::POINTER),
        read => is_meant(&String::from_utf8_lossy(read?.raw_bytes())).then_some(unread::SECRET),
    };
    found.unread.extend(why.map(|why| (file, why)));
    Ok(())
}

fn is_hidden(path: &Path) -> bool {
    path.iter()
        .any(|name| name.to_string_lossy().starts_with('.'))
}

/// A typed path as seen from the project's folder, `.` for that folder itself.
///
/// # Errors
/// There is nothing at the path.
pub(super) fn path_from_root(
    request: &Request,
    root: &Path,
    path: &Path,
) -> Result<PathBuf, Error> {
    let start = request.directory.as_deref().unwrap_or(Path::new("."));
    let (path, root) = (real(&start.join(path))?, real(root)?);
    Ok(path.strip_prefix(&root).map_or(path.clone(), |below| {
        let is_root = below.as_os_str().is_empty();
        PathBuf::from(if is_root { Path::new(".") } else { below })
    }))
}

/// The YAML files below these paths, and those that an engine of templates makes YAML of, that are somebody's own and not named after
/// secrets.
///
/// # Errors
/// A folder cannot be read.
pub(super) fn texts(
    tree: &dyn Files,
    named: &[PathBuf],
    own_output: &OwnOutput,
) -> Result<BTreeSet<PathBuf>, Error> {
    let is_text = |path: &Path| is_yaml(path) || has_end(path, &["gotmpl"]);
    let mut found = BTreeSet::new();
    for path in named.iter().filter(|path| tree.is_folder(path)) {
        let inside = folder_files(tree, path, own_output, is_text)?;
        let files = inside.files.into_iter();
        found.extend(files.filter(|file| !secrets::is_named_secret(file)));
    }
    Ok(found)
}

/// What is below a folder, wanted and somebody's own: what metalmark rendered is not, and a project file is no manifest.
fn folder_files(
    tree: &dyn Files,
    folder: &Path,
    own_output: &OwnOutput,
    is_wanted: impl Fn(&Path) -> bool,
) -> Result<Below, Error> {
    let wanted = |below: Vec<PathBuf>| {
        let is_manifest =
            |below: &PathBuf| !is_hidden(below) && !below.ends_with(PROJECT_FILE_NAME);
        let visible = below.into_iter().filter(is_manifest);
        let paths = visible.map(|below| {
            if folder.as_os_str() == "." {
                below
            } else {
                folder.join(&below)
            }
        });
        paths.filter(|path| is_wanted(path)).collect::<Vec<_>>()
    };
    let below = tree.list(folder)?;
    let mut own = Vec::new();
    for path in wanted(below.files) {
        if !is_rendered(tree, &path, own_output)? {
            own.push(path);
        }
    }
    Ok(Below {
        files: own,
        links: wanted(below.links),
    })
}

fn has_end(path: &Path, ends: &[&str]) -> bool {
    let end = path.extension().unwrap_or_default();
    ends.iter().any(|known| end == *known)
}

/// Whether metalmark rendered a file. It renders no Cluster: its first line over one, which anybody can write, hides none.
fn is_rendered(tree: &dyn Files, path: &Path, own_output: &OwnOutput) -> Result<bool, Error> {
    if !own_output.has(tree, path)? {
        return Ok(false);
    }
    let source = files::source(path, &tree.content(path)?, Engine::Kubectl);
    let is_cluster = |object: &ManifestObject| &*object.kind == "Cluster";
    let read = source
        .ok()
        .and_then(|source| objects(&Arc::new(source)).ok());
    Ok(read.is_some_and(|read| !read.objects.iter().any(is_cluster)))
}

fn read_manifest(
    tree: &dyn Files,
    file: &Path,
    may_skip: bool,
    is_meant: impl Fn(&str) -> bool,
    found: &mut ManifestFiles,
) -> Result<(), Error> {
    let _work = budget::enter(format!("the file `{}`", files::display(file)))?;
    let content = match tree.content(file) {
        Err(Error::Pointer { .. }) if may_skip => {
            found.unread.insert(file.to_owned(), unread::POINTER);
            return Ok(());
        }
        read => read?,
    };
    if is_encrypted(content.raw_bytes()) {
        found.unread.insert(file.to_owned(), unread::ENCRYPTED);
    }
    // One that is not meant has no secrets to look for.
    let bytes = content.raw_bytes();
    let is_utf_16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    if !is_utf_16 && !is_meant(&String::from_utf8_lossy(bytes)) {
        return Ok(());
    }
    let source = match files::source(file, &content, Engine::Kubectl) {
        Ok(source) => Arc::new(source),
        Err(_) if may_skip => {
            let path = files::display(file);
            found.skipped.push(Arc::new(Source::new(path, "")));
            return Ok(());
        }
        Err(finding) => {
            found.findings.push(*finding);
            return Ok(());
        }
    };
    let text = &source.text;
    let is_manifest = text.contains("apiVersion") || text.contains(MARKER);
    match objects(&source) {
        Ok(inside) => {
            found.read += usize::from(is_manifest || !inside.objects.is_empty());
            let is_twice =
                |notice: &&Notice| matches!(notice.kind, NoticeKind::DuplicateKey { .. });
            let mut sources = Sources::default();
            sources.add(Arc::clone(&source));
            let twice = inside.notices.iter().filter(is_twice);
            let twice = twice.filter_map(|notice| files::notice_finding(notice, &sources));
            // Files of other objects may hold passwords, and nothing of them is compared.
            if inside
                .objects
                .iter()
                .any(|object| is_of_cluster_api(object.group()))
            {
                found.findings.extend(twice);
            }
            found.objects.extend(inside.objects);
            found
                .findings
                .extend(inside.unread.into_iter().filter_map(unreadable_manifest));
        }
        Err(_) if may_skip && !source.text.contains(MARKER) => {
            if blank_template(&source.text).is_some() || has_open_variables(&source.text) {
                found.unread.insert(file.to_owned(), unread::TEMPLATE);
            }
            found.skipped.push(source);
        }
        Err(_) if !is_manifest => found.skipped.push(source),
        Err(error) => {
            let spot = Spot::new(&source, error.place);
            found.findings.push(Finding::from_syntax(error, Some(spot)));
        }
    }
    Ok(())
}

/// A string with a manifest that cannot be read, where its kind has an image.
fn unreadable_manifest(unread: Unread) -> Option<Finding> {
    let has_image = |kind: &&String| {
        let mut kinds = PROVIDERS.iter().flat_map(|provider| provider.data().kinds);
        kinds.any(|known| known.kind == **kind)
    };
    let kind = unread.kinds.iter().find(has_image)?;
    let (why, help) = if unread.has_expressions {
        (
            "that expressions of a template make no YAML",
            "mark what the expressions take their values from: `# metalmark: image=KEY field=url`",
        )
    } else {
        ("that is not YAML", "fix what is reported about it")
    };
    let message = format!("a {kind} is in a string {why}, and is not looked at");
    let finding = Finding::new(RuleId::ImageUnstamped, message)
        .with_label(unread.spot, unread.reason)
        .help(help);
    Some(finding.unless_set(Level::Warning))
}
