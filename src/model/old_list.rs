//! The list of rendered files that an output folder had before each said in its first line whose it is: path, digest and owner,
//! one a line. It is read once more, so that the files that it names get that line or are deleted, and is then deleted itself.

use std::collections::BTreeMap;

use oci_artifacts::Digest;

use super::output_path;
use super::ownership::Owner;

/// The list's name.
pub const OLD_LIST: &str = ".metalmark-owned";

/// The digests and the owner of each file, by its path below the list's folder.
#[derive(Clone, Debug, Default)]
pub struct OldList {
    files: BTreeMap<String, (Vec<String>, Owner)>,
}

impl OldList {
    /// Reads a list. Lines that say nothing, such as git's conflict marks, are passed over.
    pub fn parse(text: &str) -> Self {
        let mut list = Self::default();
        for (path, digest, owner) in text.lines().filter_map(line) {
            let entry = list.files.entry(path.to_owned());
            entry
                .or_insert((Vec::new(), owner))
                .0
                .push(digest.to_owned());
        }
        list
    }

    /// The paths that it names.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Whose a file is, if it has the bytes that the list names. A clone may convert line ends.
    pub fn owner(&self, path: &str, bytes: &[u8]) -> Option<&Owner> {
        let (digests, owner) = self.files.get(path)?;
        let is_listed = |bytes: &[u8]| digests.contains(&Digest::compute(bytes).to_string());
        let is_converted = || is_listed(&with_plain_ends(bytes));
        (is_listed(bytes) || is_converted()).then_some(owner)
    }
}

/// A text with the line ends that a run writes.
fn with_plain_ends(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let lines = lines.map(|line| match line.strip_suffix(b"\r\n") {
        Some(line) => [line, b"\n"].concat(),
        None => line.to_vec(),
    });
    lines.flatten().collect()
}

/// A path is obeyed only where a rendered file could have it.
fn line(line: &str) -> Option<(&str, &str, Owner)> {
    let (path, rest) = line.split_once('\t')?;
    let (digest, maker) = rest.split_once('\t')?;
    let is_legal = output_path::fault(path).is_none();
    is_legal.then(|| (path, digest, Owner::from_maker(maker)))
}
