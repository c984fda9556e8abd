//! What people, other programs and runs do to an output folder, at random.

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;

/// Rendered files: path and text.
pub(super) type Tree = Vec<(String, String)>;

/// Paths that nest, so that files turn into folders and back.
const PATHS: [&str; 9] = ["a", "a/b", "a/b/c", "a/d", "e", "e/f", "g", "h/i", "h/j"];
/// Where other people have files: at rendered paths, beside them and in their folders.
const THEIRS: [&str; 14] = [
    "a",
    "a/b",
    "a/b/c",
    "a/d",
    "e",
    "e/f",
    "g",
    "h/i",
    "h/j",
    "a/b/x",
    "h",
    "x",
    "h/x",
    "a/b/.metalmark-tmp-x",
];

#[derive(Clone, Debug)]
pub(super) enum Step {
    Run {
        tree: Tree,
        adopts: bool,
        kept: Vec<String>,
        kill: Option<usize>,
    },
    Put(&'static str, String),
    Remove(&'static str),
    Folder(&'static str),
    Link(&'static str, &'static str),
    /// A file that says whose it is, whoever wrote it.
    Claim(&'static str, &'static str, String),
    /// A list of an earlier version that names the files at these paths, with their digests or with others.
    List(Vec<&'static str>, bool),
}

fn a_tree() -> impl Strategy<Value = Tree> {
    let files = proptest::collection::btree_map(select(&PATHS[..]), "[xyz]{0,2}", 0..7);
    (files, 0..12_u8).prop_map(|(files, odd)| {
        let mut tree = Tree::new();
        for (path, text) in files {
            let collides = tree
                .iter()
                .any(|(file, _)| path.starts_with(&format!("{file}/")));
            if odd == 0 || !collides {
                tree.push((path.to_owned(), text));
            }
        }
        if odd == 1 {
            tree.push(("../outside/d".to_owned(), "x".to_owned()));
        }
        tree
    })
}

fn a_run() -> impl Strategy<Value = Step> {
    let kept = prop_oneof![1 => Just(vec![]), 1 => proptest::collection::vec(select(vec!["a".to_owned(), "h".to_owned()]), 1)];
    let kill = proptest::option::weighted(0.3, any::<usize>());
    (a_tree(), proptest::bool::weighted(0.3), kept, kill).prop_map(|(tree, adopts, kept, kill)| {
        Step::Run {
            tree,
            adopts,
            kept,
            kill,
        }
    })
}

pub(super) fn a_step() -> impl Strategy<Value = Step> {
    let theirs = || select(&THEIRS[..]);
    let targets = vec!["../outside", "../outside/d", "nowhere", "h", "/dev/null"];
    prop_oneof![
        8 => a_run(),
        6 => (theirs(), "[xyz]{0,2}").prop_map(|(path, text)| Step::Put(path, text)),
        2 => theirs().prop_map(Step::Remove),
        2 => select(&THEIRS[..13]).prop_map(Step::Folder),
        2 => (theirs(), select(targets)).prop_map(|(path, to)| Step::Link(path, to)),
        3 => (theirs(), select(vec!["a", "h", "gone"]), "[xyz]{0,2}")
            .prop_map(|(path, owner, text)| Step::Claim(path, owner, text)),
        4 => (proptest::collection::vec(theirs(), 1..5), any::<bool>())
            .prop_map(|(paths, is_true)| Step::List(paths, is_true)),
    ]
}
