//! The ownership file: which files of an output folder are metalmark's, and what it last wrote into them.
//!
//! One line a file, sorted by path: path, tab, `sha256:` and the digest, tab, owner. Nothing in it changes unless a file
//! does, so that two branches merge where their files do. Lines that say nothing, such as git's conflict marks, are passed
//! over, and a path may occur twice: after a conflict both sides' files are owned, and the next run puts the file in order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use oci_artifacts::sha256;

use super::output_path;

const HEADER: &str =
    "# Files that metalmark owns: it rewrites them, and deletes those that it no longer renders.\n";
const UNFINISHED: &str = "# unfinished: the run was interrupted, run metalmark again\n";

/// The SHA-256 of a file's bytes.
pub type Sum = [u8; 32];

/// What is owned, by path below the output folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    pub files: BTreeMap<String, Owned>,
}

/// An owned file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    /// What was last written; several after an interrupted run or a merge conflict.
    pub sums: Vec<Sum>,
    /// What made it.
    pub owner: Arc<str>,
}

impl Record {
    /// Reads an ownership file; also says whether its run was interrupted.
    pub fn parse(text: &str) -> (Self, bool) {
        let mut lines: Vec<(&str, Owned)> = text.lines().filter_map(line).collect();
        lines.sort_by(|a, b| a.0.cmp(b.0));
        lines.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1.join(&later.1);
            }
            same
        });
        let files = lines
            .into_iter()
            .map(|(path, owned)| (path.to_owned(), owned))
            .collect();
        (Self { files }, text.contains(UNFINISHED))
    }

    /// The ownership file of a finished run; none where nothing is owned.
    pub fn print_finished(&self) -> Option<String> {
        (!self.files.is_empty()).then(|| self.print(HEADER.to_owned()))
    }

    /// The ownership file while files are being written.
    pub fn print_unfinished(&self) -> String {
        self.print(format!("{HEADER}{UNFINISHED}"))
    }

    /// The text of an ownership file without some of its paths.
    pub fn remove_paths(text: &str, paths: &[&str]) -> String {
        let is_kept = |line: &&str| match line.split_once('\t') {
            Some((path, _)) => !paths.contains(&path),
            None => true,
        };
        text.split_inclusive('\n').filter(is_kept).collect()
    }

    /// Whether an ownership file has nothing but its header and lines of files, in any order, as git merges it.
    pub fn is_whole(text: &str) -> bool {
        let lines = text
            .strip_prefix(HEADER)
            .filter(|lines| lines.ends_with('\n'));
        lines.is_some_and(|lines| lines.lines().all(|text| line(text).is_some()))
    }

    /// Whether the other lists the same files of the same owners, whatever was written into them.
    pub fn lists_as(&self, other: &Self) -> bool {
        let both = self.files.iter().zip(&other.files);
        self.files.len() == other.files.len()
            && both
                .into_iter()
                .all(|(one, other)| one.0 == other.0 && one.1.owner == other.1.owner)
    }

    /// Everything that either owns.
    pub fn union(mut self, other: &Self) -> Self {
        for (path, owned) in &other.files {
            self.files
                .entry(path.clone())
                .and_modify(|mine| mine.join(owned))
                .or_insert_with(|| owned.clone());
        }
        self
    }

    fn print(&self, mut text: String) -> String {
        for (path, owned) in &self.files {
            for sum in &owned.sums {
                text.push_str(path);
                text.push_str("\tsha256:");
                push_hex(&mut text, sum);
                text.push('\t');
                text.push_str(&plain(&owned.owner));
                text.push('\n');
            }
        }
        text
    }
}

impl Owned {
    /// Whether these bytes were last written.
    pub fn has_written(&self, bytes: &[u8]) -> bool {
        self.sums.contains(&sum(bytes))
    }

    fn join(&mut self, other: &Self) {
        for sum in &other.sums {
            if !self.sums.contains(sum) {
                self.sums.push(*sum);
            }
        }
    }
}

/// The sum of a file's bytes.
pub fn sum(bytes: &[u8]) -> Sum {
    sha256(bytes)
}

/// An owner as written in the file: control characters would break its line.
pub fn plain(owner: &str) -> Cow<'_, str> {
    if owner.contains(char::is_control) {
        Cow::Owned(owner.replace(char::is_control, "\u{fffd}"))
    } else {
        Cow::Borrowed(owner)
    }
}

/// A path that the file names is obeyed only where a rendered file could have it: the file itself may have been tampered
/// with, and the next prune deletes what it names.
fn line(line: &str) -> Option<(&str, Owned)> {
    let (path, rest) = line.split_once('\t')?;
    let (sum, owner) = rest.strip_prefix("sha256:")?.split_once('\t')?;
    let owned = Owned {
        sums: vec![parse_hex(sum)?],
        owner: owner.into(),
    };
    output_path::fault(path).is_none().then_some((path, owned))
}

fn push_hex(text: &mut String, sum: &Sum) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in sum {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

fn parse_hex(text: &str) -> Option<Sum> {
    let digits = text.as_bytes();
    let mut sum = [0; 32];
    if digits.len() != 64 {
        return None;
    }
    for (byte, pair) in sum.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{Owned, Record, sum};

    fn record(files: &[(&str, &[&str], &str)]) -> Record {
        let files = files
            .iter()
            .map(|(path, texts, owner)| {
                let sums = texts.iter().map(|text| sum(text.as_bytes())).collect();
                let owner = (*owner).into();
                ((*path).to_owned(), Owned { sums, owner })
            })
            .collect();
        Record { files }
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let record = record(&[
            ("a b.yaml", &["x"], "manifests/ä b"),
            ("a/b.yaml", &["x", "y"], ""),
        ]);
        let text = record.print_finished().expect("something is owned");
        assert_eq!(Record::parse(&text), (record.clone(), false));
        assert_eq!(Record::parse(&record.print_unfinished()), (record, true));
    }

    #[test]
    fn after_a_merge_conflict_both_sides_are_owned() {
        let ours = record(&[("a", &["1"], "o"), ("b", &["1"], "o")]);
        let theirs = record(&[("a", &["2"], "o"), ("c", &["1"], "o")]);
        let text = format!(
            "<<<<<<< HEAD\n{}=======\n{}>>>>>>> branch\n",
            ours.print_unfinished(),
            theirs.print_unfinished()
        );
        let expected = record(&[
            ("a", &["1", "2"], "o"),
            ("b", &["1"], "o"),
            ("c", &["1"], "o"),
        ]);
        assert_eq!(Record::parse(&text).0, expected);
        assert_eq!(ours.union(&theirs), expected);
    }

    #[test]
    fn a_tampered_path_owns_nothing() {
        let good = record(&[("x", &["1"], "o")])
            .print_finished()
            .expect("something is owned");
        for path in ["../x", "/etc/passwd", ".git/config"] {
            let text = good.replace("\nx\t", &format!("\n{path}\t"));
            assert_ne!(text, good);
            assert_eq!(Record::parse(&text).0, Record::default());
        }
    }

    #[test]
    fn an_owner_with_a_line_break_stays_on_its_line() {
        let text = record(&[("x", &["1"], "a\nb\tc")]).print_unfinished();
        assert_eq!(
            &*Record::parse(&text).0.files["x"].owner,
            "a\u{fffd}b\u{fffd}c"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC*|([a#\t\n:]|sha256|[0-9a-f]{64}){0,20}") {
            let (record, _) = Record::parse(&text);
            assert_eq!(Record::parse(&record.print_unfinished()).0, record);
        }
    }
}
