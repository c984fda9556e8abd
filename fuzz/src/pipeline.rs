//! The stages over files in memory, as `render --stdout` and `check` call them, and the laws of what comes out.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use metalmark::catalog::resolve::{self, Catalogs};
use metalmark::catalog::sources;
use metalmark::decide::matching::PatternCache;
use metalmark::evaluate::TemplateCache;
use metalmark::model::cluster_view::ClusterView;
use metalmark::model::date::Date;
use metalmark::model::finding::Judged;
use metalmark::model::manifest::ManifestFile;
use metalmark::model::served_images::ServedImages;
use metalmark::pipeline::check;
use metalmark::printer::{Printer, is_unsafe};
use metalmark::read::{self, Location, PROJECT_FILE_NAME, Request, SharedCatalog, Workspace};
use metalmark::render::Renderer;
use metalmark::report::{Color, Findings, REPORTS};

use super::memory::Memory;

/// A workspace, and what its stages need beside it.
pub(super) struct Open {
    pub(super) workspace: Workspace,
    templates: TemplateCache,
    shared: SharedCatalog,
    pub(super) catalogs: Catalogs,
    pub(super) patterns: PatternCache,
}

/// A day on which no waiver of a fixture has ended.
pub(super) fn today() -> Date {
    Date::parse("2026-11-21").expect("a day")
}

/// Opens a repository's project; none where a file is not there.
pub(super) fn open(files: Memory) -> Option<Open> {
    let location = Location {
        // What a layout's folder would be looked for below: no file of this machine.
        root: PathBuf::from("/nonexistent"),
        file: Some(PathBuf::from(PROJECT_FILE_NAME)),
    };
    let mut workspace = read::workspace_in(&Request::default(), &location, Arc::new(files)).ok()?;
    let settings = &workspace.settings;
    let mut facts = sources::facts(
        &settings.root,
        &*workspace.files,
        &workspace.facts,
        &settings.registries.platform,
        &mut workspace.findings,
    )
    .ok()?;
    if let Some((records, file)) = &workspace.records {
        facts.add_records(records, file);
    }
    let templates = TemplateCache::default();
    Some(Open {
        shared: read::read_shared_catalog(&workspace, &templates),
        catalogs: Catalogs::new(facts, Default::default()),
        patterns: PatternCache::default(),
        templates,
        workspace,
    })
}

impl Open {
    /// What the shared layers come to by themselves.
    pub(super) fn shared(&self) -> Option<ClusterView> {
        let read = read::cluster_without_nodes(&self.workspace, &self.shared);
        let settings = &self.workspace.settings;
        resolve::cluster(read, &self.catalogs, settings, &self.patterns).ok()
    }

    /// Everything that is rendered, and everything that is found.
    fn rendered(&self) -> (Vec<ManifestFile>, Vec<Judged>) {
        /// One cluster a file is enough, and a pattern may name them all.
        const MOST: usize = 20;
        let (settings, schemas) = (&self.workspace.settings, self.workspace.schemas.as_ref());
        let (mut files, mut found, mut judged) =
            (Vec::new(), self.workspace.findings.clone(), Vec::new());
        let renderer = Renderer::new(settings, &self.workspace.templates, schemas, &mut found);
        for entry in self.workspace.clusters.iter().take(MOST) {
            let read = read::cluster(&self.workspace, entry, &self.shared, &self.templates);
            let view = read
                .and_then(|read| resolve::cluster(read, &self.catalogs, settings, &self.patterns));
            let Ok(view) = view else { continue };
            let checked = check::cluster(&view, settings, today());
            if !checked.has_errors() {
                files.extend(renderer.cluster(&view, &mut found));
            }
            judged.extend(checked.findings);
        }
        if let Some(shared) = self.shared() {
            let served = ServedImages {
                images: shared.images,
                ..ServedImages::default()
            };
            files.extend(renderer.render_shared(&served, &mut found));
        }
        judged.extend(check::findings(found, settings, today()).findings);
        (files, judged)
    }
}

/// Renders a repository: no path leaves its folder, findings can be told in every format, and a second run is the same. Whether
/// anything was rendered.
pub(super) fn laws(files: Memory) -> bool {
    let Some(first) = open(files.clone()) else {
        return false;
    };
    let (rendered, judged) = first.rendered();
    for file in &rendered {
        let inside = Path::new(&file.path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        assert!(inside, "{:?} leaves the folder", file.path);
    }
    check_reports(&judged);
    let second = open(files).expect("it was opened before");
    let (again, _) = second.rendered();
    let texts = |files: &[ManifestFile]| -> BTreeMap<String, String> {
        files
            .iter()
            .map(|file| (file.path.clone(), file.text.clone()))
            .collect()
    };
    assert_eq!(texts(&rendered), texts(&again));
    !rendered.is_empty()
}

fn check_reports(judged: &[Judged]) {
    for report in REPORTS {
        let findings = Findings::new(judged, 1, Color::Never);
        let text = Printer::print_to_string(Color::Never, |out| report.findings(&findings, out))
            .expect("memory takes it");
        assert!(!text.contains(|letter| !matches!(letter, '\n' | '\t') && is_unsafe(letter)));
    }
}
