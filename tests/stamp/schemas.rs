//! What stamping writes, held against the CRDs of the providers, where they are at hand.

use std::fs;
use std::sync::Arc;

use capi::objects::{ManifestObject, objects};
use capi::providers;
use capi::schema::Schemas;
use yaml_tree::place::Source;

use super::REFERENCES;
use crate::programs::crds;
use crate::support::stage::project;

/// The definitions that are at hand.
fn schemas() -> Option<Schemas> {
    let files = walkdir::WalkDir::new(crds()?).sort_by_file_name();
    let files = files.into_iter().map(|entry| entry.expect("readable"));
    let files = files.filter(|entry| entry.path().extension().is_some_and(|end| end == "yaml"));
    Some(Schemas::new(files.map(|entry| {
        let text = fs::read_to_string(entry.path()).expect("text");
        Arc::new(Source::new(entry.path().to_string_lossy().as_ref(), text))
    })))
}

#[test]
fn what_is_stamped_is_what_the_crds_allow() {
    let Some(schemas) = schemas() else { return };
    let (mut checked, mut wrong) = (0, Vec::new());
    let capi = ["capm3", "capo", "capv"].map(|name| format!("fixtures/stamp/{name}"));
    let rotated = capi
        .iter()
        .map(|folder| (&**folder, "stamp --rotate --set-version"));
    let all = [
        ("fixtures/stamp/shapes", "stamp"),
        (REFERENCES, "stamp --rotate --set-version"),
    ];
    for (folder, words) in all.into_iter().chain(rotated) {
        let stage = project().folder(folder);
        stage.run(words).exit(0);
        for (path, text) in stage.texts() {
            let source = Arc::new(Source::new(&*path, text));
            let objects = objects(&source).expect("YAML").objects;
            let is_machine = |object: &&ManifestObject| {
                providers::find_for_object(&object.api_version, &object.kind).is_some()
            };
            for object in objects.iter().filter(is_machine) {
                checked += 1;
                for problem in schemas.check(&object.node) {
                    // The shapes leave out what has nothing to do with images.
                    if !problem.message.ends_with("is required") || problem.path.contains("image") {
                        let (title, at) = (object.title(), &problem.path);
                        wrong.push(format!("{path}: {title}: {at}: {}", problem.message));
                    }
                }
            }
        }
    }
    assert!(checked > 50, "only {checked} objects");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
