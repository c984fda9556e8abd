//! What stamping writes, held against the CRDs of the providers, where they are at hand.

use std::fs;
use std::sync::Arc;

use metalmark::model::place::Source;
use metalmark::objects::standing::objects;
use metalmark::providers;
use metalmark::schema::Schemas;

use super::{files, fixtures};
use crate::providers::crds;

#[test]
fn the_golden_files_are_what_the_crds_allow() {
    let Some(folder) = crds() else {
        eprintln!("skipped: no folder of CRDs; name one in CRDS");
        return;
    };
    let definitions = walkdir::WalkDir::new(folder).sort_by_file_name();
    let definitions = definitions
        .into_iter()
        .map(|entry| entry.expect("readable"));
    let definitions =
        definitions.filter(|entry| entry.path().extension().is_some_and(|end| end == "yaml"));
    let schemas = Schemas::new(definitions.map(|entry| {
        let text = fs::read_to_string(entry.path()).expect("text");
        Arc::new(Source::new(entry.path().to_string_lossy().as_ref(), text))
    }));
    let (mut checked, mut wrong) = (0, Vec::new());
    let folders = [
        "shapes-after",
        "capm3/after",
        "capo/after",
        "capv/after",
        "rotate/after",
    ];
    for folder in folders {
        for (path, text) in files(&fixtures().join(folder)) {
            let source = Arc::new(Source::new(path.to_string_lossy().as_ref(), text));
            for object in objects(&source).expect("YAML").objects {
                if providers::of_object(&object.api_version, &object.kind).is_none() {
                    continue;
                }
                checked += 1;
                for problem in schemas.check(&object.node) {
                    // The shapes leave out what has nothing to do with images.
                    if problem.message.ends_with("is required") && !problem.path.contains("image") {
                        continue;
                    }
                    let path = path.display();
                    wrong.push(format!(
                        "{folder}/{path}: {}: {}: {}",
                        object.title(),
                        problem.path,
                        problem.message
                    ));
                }
            }
        }
    }
    assert!(checked > 50, "only {checked} objects");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
