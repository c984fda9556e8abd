//! What is told of manifests that stand without any Sylva values.

use std::fs;

use super::{files, fixtures};
use crate::support::{Metalmark, copy_of, golden};

/// Runs `stamp` over a fixture and holds what it says against the golden text.
fn told(name: &str) {
    let scratch = copy_of(&fixtures().join(name));
    let _ = fs::remove_file(scratch.path().join("printed.txt"));
    let before = files(scratch.path());
    let outcome = Metalmark::within(scratch.path()).args(["stamp"]).run();
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    let printed = format!("{}{}", outcome.stdout, outcome.stderr);
    golden(&fixtures().join(name).join("printed.txt"), &printed);
    assert_eq!(files(scratch.path()), before, "an error stands");
}

#[test]
fn what_cannot_be_edited_is_told_at_its_place() {
    told("refused");
}

#[test]
fn versions_flavours_and_formats_are_held_against_the_images() {
    told("findings");
}
