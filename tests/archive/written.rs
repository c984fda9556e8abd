//! What is written is read back, by us and by GNU tar.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use oci_artifacts::archive::{Limits, Member, pack, read};
use proptest::prelude::{Strategy, prop_assert_eq, proptest};

use super::content;
use crate::programs;

type Files = std::collections::BTreeMap<String, (bool, Vec<u8>)>;

fn packed(files: &Files) -> Vec<u8> {
    let members = files.iter().map(|(path, (is_executable, content))| Member {
        path,
        is_executable: *is_executable,
        size: content.len() as u64,
        content,
    });
    let packed = pack(members.collect(), &|_| {}).expect("memory");
    let mut bytes = Vec::new();
    let mut reader = packed.content.open().expect("kept");
    reader.read_to_end(&mut bytes).expect("kept");
    bytes
}

fn files() -> impl Strategy<Value = Files> {
    // Names that are no file and folder at once: files end in a letter that folders do not have.
    let path = "([a-dä]{1,60}/){0,4}[a-d. -]{0,80}x";
    let content = proptest::collection::vec(proptest::num::u8::ANY, 0..2000);
    proptest::collection::btree_map(path, (proptest::bool::ANY, content), 0..12)
}

proptest! {
    #[test]
    fn what_was_packed_is_what_is_read(files in files()) {
        let Ok(tree) = read(&packed(&files)[..], Limits::default()) else {
            panic!("refused");
        };
        let back: Files = tree
            .files
            .iter()
            .map(|(path, entry)| (path.clone(), (entry.mode.is_executable(), content(&tree, path))))
            .collect();
        prop_assert_eq!(back, files);
    }
}

#[test]
fn gnu_tar_lists_what_was_packed() {
    let Some(tar) = programs::find("tar") else {
        return;
    };
    let long = format!("manifests/{}", "n".repeat(150));
    let files = Files::from([
        ("install.sh".to_owned(), (true, b"#!/bin/sh\n".to_vec())),
        ("manifests/a.yaml".to_owned(), (false, b"a: 1\n".to_vec())),
        (long.clone(), (false, Vec::new())),
    ]);
    let mut child = Command::new(tar)
        .args(["-tvz", "--utc", "--numeric-owner"])
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("tar runs");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(&packed(&files)).expect("written");
    drop(input);
    let output = child.wait_with_output().expect("tar ends");
    let listed = String::from_utf8(output.stdout).expect("UTF-8");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = listed.lines().map(words).collect();
    let date = "1970-01-01 00:00";
    assert_eq!(
        lines,
        [
            format!("-rwxr-xr-x 0/0 10 {date} install.sh"),
            format!("drwxr-xr-x 0/0 0 {date} manifests/"),
            format!("-rw-r--r-- 0/0 5 {date} manifests/a.yaml"),
            format!("-rw-r--r-- 0/0 0 {date} {long}"),
        ]
    );
}
