//! Any sequence of trees, and any run that is killed, ends in exactly the last tree beside the files of others.

use std::collections::BTreeSet;
use std::fs;

use metalmark::model::manifest::Origin;
use metalmark::write;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};
use tempfile::TempDir;

use crate::support::rounds;

use super::{Files, files, on_disk, plan, render, rules, tree};

/// Paths that nest, so that files turn into folders and back.
fn a_tree() -> impl Strategy<Value = Vec<(String, String)>> {
    let path = prop_oneof![
        Just("a"),
        Just("a/b"),
        Just("a/b/c"),
        Just("a/d"),
        Just("e"),
        Just("e/f"),
        Just("g"),
        Just("h/i"),
    ];
    let files = proptest::collection::btree_map(path, "[xyz]{0,2}", 0..6);
    files.prop_map(|files| {
        let mut kept: Vec<(String, String)> = Vec::new();
        for (path, text) in files {
            let below = |(file, _): &(String, String)| path.starts_with(&format!("{file}/"));
            if !kept.iter().any(below) {
                kept.push((path.to_owned(), text));
            }
        }
        kept
    })
}

fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files
        .iter()
        .map(|(path, text)| (&**path, &**text))
        .collect()
}

/// The tree's files and their folders, and the foreign ones.
fn expected(tree: &[(String, String)], foreign: &[(&str, &str)]) -> Files {
    let mut all = files(&borrowed(tree));
    all.extend(files(foreign));
    let paths: Vec<String> = all.keys().cloned().collect();
    for path in paths {
        for (slash, _) in path.match_indices('/') {
            all.insert(path[..=slash].to_owned(), String::new());
        }
    }
    all
}

const FOREIGN: [(&str, &str); 2] = [("foreign", "1"), ("h/foreign", "2")];

fn with_foreign() -> TempDir {
    let root = TempDir::new().expect("a folder");
    fs::create_dir(root.path().join("h")).expect("made");
    for (path, text) in FOREIGN {
        fs::write(root.path().join(path), text).expect("written");
    }
    root
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(rounds(64, 256) as u32) })]

    #[test]
    fn any_sequence_of_trees_ends_in_the_last_one(trees in proptest::collection::vec(a_tree(), 1..5)) {
        let root = with_foreign();
        for tree in &trees {
            assert_eq!(rules(&render(root.path(), &borrowed(tree))), [""; 0]);
            assert_eq!(on_disk(root.path()), expected(tree, &FOREIGN));
        }
    }

    #[test]
    fn a_killed_run_leaves_whole_files_and_the_next_one_mends_it(
        (before, killed, next) in (a_tree(), a_tree(), a_tree()), steps in 0..40_usize,
    ) {
        let root = with_foreign();
        render(root.path(), &borrowed(&before));
        let changes = plan(root.path(), tree(&borrowed(&killed)));
        for step in write::phases(&changes).iter().flatten().take(steps) {
            step.run().expect("the folder can be written");
        }
        let whole: BTreeSet<(String, String)> = expected(&before, &FOREIGN)
            .into_iter()
            .chain(expected(&killed, &FOREIGN))
            .collect();
        let staged = |path: &str| path.contains(".metalmark-tmp-");
        for found in on_disk(root.path()) {
            assert!(whole.contains(&found) || staged(&found.0), "{found:?}");
        }
        let mended = render(root.path(), &borrowed(&next));
        assert_eq!(rules(&mended), [""; 0]);
        assert!(mended.changes.iter().all(|change| change.origin == Origin::Run));
        assert_eq!(on_disk(root.path()), expected(&next, &FOREIGN));
            assert!(!plan(root.path(), tree(&borrowed(&next))).drift());
    }
}
