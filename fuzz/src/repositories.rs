//! A stranger's repository: two letters select a command that reads and one that writes, the rest is its files (see
//! [`super::scene`]). Whatever links, records and configuration it has:
//!
//! * nothing outside changes, also by no program that its configuration names;
//! * no text from outside is printed or rendered;
//! * a command that reads changes nothing; one that writes leaves git's own folder as it is;
//! * no file is deleted that the ownership file or the run file does not prove, and each new file is whole.

use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use metalmark::commands::{
    self, CheckOptions, ExplainOptions, FrozenOption, ImagesOptions, ImpactOptions, LockOptions,
    OfferOptions, PageOptions, PlanOptions, RenderOptions, StampOptions,
};
use metalmark::edit::stamp;
use metalmark::error::Error;
use metalmark::files::Provenance;
use metalmark::hosts::cmp::{self, Environment};
use metalmark::model::ownership::sum;
use metalmark::pipeline::{Reporting, Terminal, Verdict};
use metalmark::printer::{Color, Printer};
use metalmark::read::Request;
use metalmark::report::{CommentFormat, Format, ListFormat};
use oci_artifacts::Digest;
use serde_json::Value;

use super::cmp::Screen;
use super::memory::find;
use super::pipeline::today;
use super::scene::{MARKER, Scene, Snapshot};

type Run = fn(&Request, &mut Terminal) -> Result<Verdict, Error>;

/// Commands that read. Seeds name them by letters, in this order.
const READING: [Run; 11] = [
    |request, terminal| check(request, false, terminal),
    |request, terminal| render(request, true, terminal),
    generate,
    explain,
    images,
    |request, terminal| lock(request, terminal),
    impact,
    |request, terminal| stamp(request, true, terminal),
    provenance,
    plan,
    page,
];
/// Those that read a commit too.
const OF_COMMITS: Range<usize> = 6..9;

/// Commands that write.
const WRITING: [Run; 3] = [
    |request, terminal| render(request, false, terminal),
    |request, terminal| check(request, true, terminal),
    |request, terminal| stamp(request, false, terminal),
];

const OWNERSHIP_FILE: &str = ".metalmark-owned";
const RUN_FILE: &str = ".metalmark-run";

pub(super) fn run(data: &[u8]) -> bool {
    let Some(([reads, writes], files)) = data.split_first_chunk() else {
        return false;
    };
    if find(data, MARKER.as_bytes()).is_some() {
        return false;
    }
    let selected = |letter: u8, count| usize::from(letter.wrapping_sub(b'a')) % count;
    let reads = selected(*reads, READING.len());
    let scene = Scene::new(files, OF_COMMITS.contains(&reads));
    let request = Request {
        directory: Some(scene.top()),
        ..Request::default()
    };
    let (outside, before) = (scene.outside(), scene.inside());
    let text = printed(&request, READING[reads]);
    assert_eq!(scene.outside(), outside, "outside\n{text}");
    assert_eq!(scene.inside(), before, "a command that reads\n{text}");
    let text = printed(&request, WRITING[selected(*writes, WRITING.len())]);
    assert_eq!(scene.outside(), outside, "outside\n{text}");
    let after = scene.inside();
    written(&before, &after, &text);
    after != before
}

/// What a command prints to both streams: no text from outside.
fn printed(request: &Request, run: Run) -> String {
    let screen = Screen::default();
    let printer = || Printer::new(Box::new(screen.clone()), Color::Never);
    let mut terminal = Terminal {
        out: printer(),
        err: printer(),
        progress: None,
    };
    if let Err(error) = run(request, &mut terminal) {
        writeln!(terminal.err, "error: {error}").expect("memory takes it");
    }
    drop(terminal);
    let text = screen.text();
    assert!(!text.contains(MARKER), "{text}");
    text
}

/// What a command may have made of a repository.
fn written(before: &Snapshot, after: &Snapshot, text: &str) {
    let gits = |snapshot: &Snapshot| -> Snapshot {
        let gits = snapshot.iter().filter(|(path, _)| path.starts_with(".git"));
        gits.map(|(path, found)| (path.clone(), found.clone()))
            .collect()
    };
    assert_eq!(gits(before), gits(after), "git's own folder\n{text}");
    let edits = edits(before);
    for (path, (mode, content)) in before {
        const FOLDER: u32 = 0o040_000;
        let is_metalmarks = name(path).starts_with(".metalmark-");
        if after.contains_key(path) || mode & 0o170_000 == FOLDER || is_metalmarks {
            continue;
        }
        let is_ours = content.as_deref().is_some_and(|bytes| {
            is_owned(path, bytes, before) || is_taken_back(&edits, path, Some(bytes), None)
        });
        assert!(is_ours, "{path:?} is deleted\n{text}");
    }
    for (path, (_, content)) in after {
        let Some(bytes) = content else { continue };
        let is_gits = path.starts_with(".git");
        assert!(
            is_gits || find(bytes, MARKER.as_bytes()).is_none(),
            "{path:?} has a text from outside\n{text}"
        );
        let old = before.get(path).map(|(_, content)| content.as_deref());
        if old == Some(Some(bytes)) || name(path) == OWNERSHIP_FILE {
            continue;
        }
        let old = old.flatten();
        let is_known = old.is_some() && !is_named(path, after);
        let is_text = |edit: &Edit| edit.path == *path && edit.before() == Some(bytes);
        let is_whole = is_owned(path, bytes, after)
            || is_taken_back(&edits, path, old, Some(bytes))
            || is_known && !edits.iter().any(is_text);
        assert!(is_whole, "{path:?} is neither whole nor proven\n{text}");
    }
}

fn name(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}

/// Whether an ownership file above a path names it with the digest of the bytes.
fn is_owned(path: &Path, bytes: &[u8], files: &Snapshot) -> bool {
    is_recorded(path, &format!("\t{}\t", Digest::compute(bytes)), files)
}

/// Whether an ownership file above a path names it.
fn is_named(path: &Path, files: &Snapshot) -> bool {
    is_recorded(path, "\t", files)
}

fn is_recorded(path: &Path, rest: &str, files: &Snapshot) -> bool {
    path.ancestors().skip(1).any(|folder| {
        let below = path.strip_prefix(folder).expect("it is above");
        let line = format!("{}{rest}", below.display());
        let record = files.get(&folder.join(OWNERSHIP_FILE));
        let record = record.and_then(|(_, record)| record.as_deref());
        record.is_some_and(|record| find(record, line.as_bytes()).is_some())
    })
}

/// A line of the run file.
struct Edit {
    path: PathBuf,
    before: Option<String>,
    after: Value,
}

/// What the run file of a killed run says.
fn edits(files: &Snapshot) -> Vec<Edit> {
    let text = files
        .get(Path::new(RUN_FILE))
        .and_then(|(_, text)| text.as_deref());
    let text = String::from_utf8_lossy(text.unwrap_or_default()).into_owned();
    let edit = |line: &str| {
        let line: Value = serde_json::from_str(line.strip_prefix("edited ")?).ok()?;
        Some(Edit {
            path: PathBuf::from(line["path"].as_str()?),
            before: line["before"].as_str().map(str::to_owned),
            after: line["after"].clone(),
        })
    };
    text.lines().filter_map(edit).collect()
}

impl Edit {
    /// The bytes that the file had before it.
    fn before(&self) -> Option<&[u8]> {
        self.before.as_deref().map(str::as_bytes)
    }
}

/// Whether the run file says that a killed run made of a file what it was, and what it was made of is what it is.
fn is_taken_back(edits: &[Edit], path: &Path, was: Option<&[u8]>, is: Option<&[u8]>) -> bool {
    let was = Value::from(was.map(|bytes| sum(bytes).to_vec()));
    let edits = || edits.iter().filter(|edit| edit.path == path);
    edits().any(|edit| edit.after == was) && edits().any(|edit| edit.before() == is)
}

fn check(request: &Request, fix: bool, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let options = CheckOptions {
        fix,
        ..CheckOptions::default()
    };
    commands::check(request, &options, today(), terminal)
}

fn render(request: &Request, stdout: bool, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let options = RenderOptions {
        stdout,
        allow_empty: true,
        ..RenderOptions::default()
    };
    commands::render(request, &options, today(), terminal)
}

fn generate(request: &Request, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let variables = [("ARGOCD_APP_NAME", "edge"), ("ARGOCD_APP_SOURCE_PATH", ".")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    cmp::generate(
        request,
        &Environment::from_iter(variables),
        today(),
        terminal,
    )
}

fn explain(request: &Request, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let options = ExplainOptions {
        subject: "edge".to_owned(),
        format: Format::Json,
    };
    commands::explain(request, &options, today(), terminal)
}

fn images(request: &Request, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let options = ImagesOptions {
        format: ListFormat::Yaml,
    };
    commands::images(request, &options, today(), terminal)
}

fn plan(request: &Request, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let options = PlanOptions {
        to: "1.33".parse().ok(),
        patch_only: false,
        security_before: None,
        to_builder: None,
        offer: OfferOptions::default(),
        format: CommentFormat::Markdown,
        apply: None,
    };
    commands::plan(request, &options, today(), terminal)
}

fn page(request: &Request, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let options = PageOptions {
        to: "-".into(),
        title: "Fleet".to_owned(),
        source_url: None,
        against: None,
        plan: "1.33".parse().ok(),
    };
    commands::page(request, &options, today(), terminal)
}

fn lock(request: &Request, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let options = LockOptions {
        check: true,
        ..LockOptions::default()
    };
    commands::lock(request, &options, today(), terminal)
}

fn impact(request: &Request, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let options = ImpactOptions {
        to: None,
        against: Some("HEAD".to_owned()),
        format: CommentFormat::Markdown,
    };
    commands::impact(request, &options, today(), terminal)
}

fn stamp(request: &Request, is_check: bool, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let options = StampOptions {
        paths: Vec::new(),
        check: is_check,
        templates: stamp::Options {
            rotate: true,
            keep: 1,
            set_version: true,
        },
        against: is_check.then(|| "HEAD".to_owned()),
        reporting: Reporting::default(),
        frozen: FrozenOption::default(),
    };
    commands::stamp(request, &options, today(), terminal)
}

/// What `bundle push` queries of git, at the top and in a folder.
fn provenance(request: &Request, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let top = request.directory.as_deref().expect("a folder");
    for folder in [top, &top.join("rendered")] {
        writeln!(terminal.out, "{:?}", Provenance::from_folder(folder))?;
    }
    Ok(Verdict::Clean)
}
