//! Manifests to stamp: what is stamped once is not stamped again, whatever else stands in the file.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::objects::objects;
use metalmark::edit::stamp::{self, Chooser, Job, Options, Plan};
use metalmark::render::Renderer;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Source};

use super::memory::{Memory, repository};
use super::pipeline::{self, Open};

const OPTIONS: [Options; 2] = [
    Options {
        rotate: false,
        keep: 0,
        set_version: false,
    },
    Options {
        rotate: true,
        keep: 1,
        set_version: true,
    },
];

pub(super) fn run(data: &[u8]) -> bool {
    let Ok(text) = yaml_tree::decode(data, Engine::Kubectl) else {
        return false;
    };
    let mut is_any = false;
    for options in OPTIONS {
        let Some(once) = stamped(&text, &options) else {
            continue;
        };
        is_any = true;
        assert!(
            yaml_tree::read(&once, FileId(0), Engine::Kubectl).is_ok(),
            "{once}"
        );
        let twice = stamped(&once, &options);
        assert_eq!(twice, None, "{options:?} of\n{text}\nwas first\n{once}");
    }
    is_any
}

/// The text that a file becomes; none where nothing of it changes.
fn stamped(text: &str, options: &Options) -> Option<String> {
    let source = Arc::new(Source::new("a.yaml", text));
    let found = objects(&source).ok()?;
    let plan = DEMO.with(|demo| {
        let shared = demo.shared().expect("the fixture resolves");
        let (settings, none) = (&demo.workspace.settings, BTreeMap::new());
        let renderer = Renderer::new(settings, &none, None, &mut Vec::new());
        let chooser = Chooser {
            images: &shared.images,
            keys: Default::default(),
            matching: settings.matching,
            patterns: &demo.patterns,
            stamp: &|image| renderer.stamp_of(&shared.images, image, None),
        };
        let job = Job {
            options: *options,
            ..Job::default()
        };
        stamp::plan(&found.objects, &demo.workspace.stamps, &chooser, &job, &[])
    });
    let Plan { files, .. } = plan;
    files.into_iter().map(|file| file.text).next()
}

thread_local! {
    static DEMO: Open = {
        let folder = repository().join("fixtures/stamp/shapes");
        let project = std::fs::read(folder.join("metalmark.yaml")).expect("the fixture");
        let files = Memory::default().with("metalmark.yaml", &project);
        pipeline::open(files).expect("the fixture is a project")
    };
}
