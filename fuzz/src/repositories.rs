//! A stranger's repository: two letters select a command that reads and one that writes, the rest is its files (see
//! [`super::scene`]). Whatever links, records and configuration it has:
//!
//! * nothing outside changes, also by no program that its configuration names;
//! * no text from outside is printed or rendered;
//! * a command that reads changes nothing; one that writes leaves git's own folder as it is;
//! * no file is deleted whose first line does not say that metalmark rendered it, and each new file says so.

use std::io::Write as _;
use std::ops::Range;
use std::path::Path;

use metalmark::commands::{
    self, CheckOptions, ExplainOptions, FrozenOption, ImagesOptions, ImpactOptions, LockOptions,
    OfferOptions, PageOptions, PlanOptions, RenderOptions, StampOptions,
};
use metalmark::edit::stamp;
use metalmark::error::Error;
use metalmark::files::Provenance;
use metalmark::hosts::cmp::{self, Environment};
use metalmark::model::old_list::OLD_LIST;
use metalmark::model::ownership::Owner;
use metalmark::pipeline::{Reporting, Terminal, Verdict};
use metalmark::printer::{Color, Printer};
use metalmark::read::Request;
use metalmark::report::{CommentFormat, Format};
use oci_artifacts::Digest;

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
    // Of git's own folder, the run file's.
    let gits = |snapshot: &Snapshot| -> Snapshot {
        let is_gits = |path: &Path| path.starts_with(".git") && !path.starts_with(".git/metalmark");
        let gits = snapshot.iter().filter(|(path, _)| is_gits(path));
        gits.map(|(path, found)| (path.clone(), found.clone()))
            .collect()
    };
    assert_eq!(gits(before), gits(after), "git's own folder\n{text}");
    for (path, (mode, content)) in before {
        const FOLDER: u32 = 0o040_000;
        let is_metalmarks = name(path).starts_with(".metalmark-");
        if after.contains_key(path) || mode & 0o170_000 == FOLDER || is_metalmarks {
            continue;
        }
        let is_ours = content
            .as_deref()
            .is_some_and(|bytes| is_owned(path, bytes, before));
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
        if is_gits || old == Some(Some(bytes)) {
            continue;
        }
        let is_edited = old.is_some() && Owner::from_start(bytes).is_none();
        let is_ours = Owner::from_start(bytes).is_some()
            && old.flatten().is_none_or(|old| is_owned(path, old, before));
        assert!(is_edited || is_ours, "{path:?} is nobody's\n{text}");
    }
}

fn name(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}

/// Whether a file says that metalmark rendered it, or a list of an earlier version above it does.
fn is_owned(path: &Path, bytes: &[u8], files: &Snapshot) -> bool {
    let is_listed = path.ancestors().skip(1).any(|folder| {
        let below = path.strip_prefix(folder).expect("it is above");
        let line = format!("{}\t{}\t", below.display(), Digest::compute(bytes));
        let list = files.get(&folder.join(OLD_LIST));
        let list = list.and_then(|(_, list)| list.as_deref());
        list.is_some_and(|list| find(list, line.as_bytes()).is_some())
    });
    is_listed || Owner::from_start(bytes).is_some()
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
        format: Format::Yaml,
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
        status: false,
        apply: None,
        planned: Vec::new(),
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
