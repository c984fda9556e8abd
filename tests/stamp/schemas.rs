//! What stamping writes, held against the CRDs of the providers, where they are at hand.

use std::fs;
use std::sync::Arc;

use capi::objects::{ManifestObject, objects};
use capi::providers;
use capi::schema::Schemas;
use yaml_tree::place::Source;

use super::{files, fixtures};
use crate::programs::crds;

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
fn the_golden_files_are_what_the_crds_allow() {
    let Some(schemas) = schemas() else {
        return;
    };
    let (mut checked, mut wrong) = (0, Vec::new());
    let folders = [
        "shapes-after",
        "capm3/after",
        "capo/after",
        "capv/after",
        "rotate/after",
    ];
    let all = folders
        .iter()
        .flat_map(|folder| files(&fixtures().join(folder)));
    for (path, text) in all {
        let source = Arc::new(Source::new(path.to_string_lossy().as_ref(), text));
        let objects = objects(&source).expect("YAML").objects;
        let is_machine = |object: &&ManifestObject| {
            providers::find_for_object(&object.api_version, &object.kind).is_some()
        };
        for object in objects.iter().filter(is_machine) {
            checked += 1;
            for problem in schemas.check(&object.node) {
                // The shapes leave out what has nothing to do with images.
                if problem.message.ends_with("is required") && !problem.path.contains("image") {
                    continue;
                }
                let (path, title) = (path.display(), object.title());
                wrong.push(format!(
                    "{path}: {title}: {}: {}",
                    problem.path, problem.message
                ));
            }
        }
    }
    assert!(checked > 50, "only {checked} objects");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
