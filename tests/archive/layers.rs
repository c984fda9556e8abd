//! An image's layers lie over each other.

use oci_artifacts::archive::{Layers, Limits, ReadError, Reason, Tree, Whiteouts};

use super::content;
use crate::support::tarball::{Tarball, gzip};

fn stacked(layers: &[Tarball]) -> Result<Tree, ReadError> {
    let mut stack = Layers::new(Limits::default(), Whiteouts::Hide);
    for layer in layers {
        stack.add(&gzip(&layer.clone().end())[..], &|_| {})?;
    }
    Ok(stack.finish())
}

fn names(tree: &Tree) -> Vec<&str> {
    let files = tree.files.keys().map(String::as_str);
    files
        .chain(tree.folders.iter().map(String::as_str))
        .collect()
}

#[test]
fn what_lies_above_replaces_and_hides_what_lies_below() {
    let below = Tarball::new()
        .file("a", b"old")
        .file("d/x", b"x")
        .file("d/y", b"y")
        .file("e/f/g", b"");
    let above = Tarball::new()
        .file("a", b"new")
        .file("d/.wh.x", b"")
        .file(".wh.e", b"");
    let tree = stacked(&[below, above]).expect("taken");
    assert_eq!(names(&tree), ["a", "d/y", "d"]);
    assert_eq!(content(&tree, "a"), b"new");
}

#[test]
fn an_opaque_folder_hides_only_what_lies_below() {
    let below = Tarball::new()
        .file("d/x", b"")
        .file("d.e", b"")
        .file("d/s/t", b"");
    for above in [
        Tarball::new()
            .file("d/new", b"")
            .file("d/.wh..wh..opq", b""),
        Tarball::new()
            .file("d/.wh..wh..opq", b"")
            .file("d/new", b""),
    ] {
        let tree = stacked(&[below.clone(), above]).expect("taken");
        assert_eq!(names(&tree), ["d.e", "d/new", "d"]);
    }
    let empty = Tarball::new().file("d/.wh..wh..opq", b"");
    let tree = stacked(&[below, empty]).expect("taken");
    assert_eq!(names(&tree), ["d.e", "d"]);
}

#[test]
fn a_file_takes_the_place_of_a_folder_and_the_other_way_round() {
    let below = Tarball::new().file("a/b", b"").file("c", b"");
    let above = Tarball::new().file("a", b"").file("c/d", b"");
    let tree = stacked(&[below, above]).expect("taken");
    assert_eq!(names(&tree), ["a", "c/d", "c"]);
}

#[test]
fn a_whiteout_hides_nothing_of_its_own_layer_and_nothing_twice() {
    let own = Tarball::new().file("a", b"").file(".wh.a", b"");
    assert_eq!(names(&stacked(&[own]).expect("taken")), ["a"]);
    for broken in [
        Tarball::new().file(".wh.a", b"").file(".wh.a", b""),
        Tarball::new().file(".wh.", b""),
        Tarball::new().folder(".wh.a"),
        Tarball::new().file(".wh..wh.plnk", b""),
    ] {
        let Err(ReadError::Refused(refusal)) = stacked(&[broken]) else {
            panic!("taken");
        };
        assert!(matches!(
            refusal.reason,
            Reason::Whiteout | Reason::IllegalPath(_)
        ));
    }
}
