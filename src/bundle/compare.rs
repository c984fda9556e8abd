//! Two sets of files by what is in them: archives of the same files differ in their bytes wherever they were packed otherwise.

use std::io::{self, Read};

use super::File;
use crate::model::manifest::{Change, ChangeKind, Origin};

/// Longer files are compared, but their texts not shown.
const SHOWN: u64 = 1 << 20;

/// What differs between two sets.
#[derive(Debug, Default)]
pub struct Comparison {
    /// From the old set to the new one, by path. Texts only of files that are text and not long.
    pub changes: Vec<Change>,
    /// Files that differ only in whether they may be run.
    pub modes: Vec<String>,
}

/// Compares sets of files, each sorted by path.
///
/// # Errors
/// A file cannot be read.
pub fn compare(old: &[File], new: &[File]) -> io::Result<Comparison> {
    let mut found = Comparison::default();
    let (mut olds, mut news) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let order = match (olds.peek(), news.peek()) {
            (None, None) => return Ok(found),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(old), Some(new)) => old.path.as_bytes().cmp(new.path.as_bytes()),
        };
        let before = olds.next_if(|_| order.is_le());
        let after = news.next_if(|_| order.is_ge());
        let kind = match (before, after) {
            (None, _) => ChangeKind::Created,
            (_, None) => ChangeKind::Deleted,
            (Some(before), Some(after)) if are_same(before, after)? => {
                if before.is_executable != after.is_executable {
                    found.modes.push(before.path.to_string());
                }
                continue;
            }
            (Some(_), Some(_)) => ChangeKind::Updated,
        };
        let path = before.or(after).map(|file| file.path.to_string());
        found.changes.push(Change {
            path: path.unwrap_or_default(),
            kind,
            old: before.map(text).transpose()?.flatten(),
            new: after.map(text).transpose()?.flatten(),
            origin: Origin::Run,
            // It is printed, and never written.
            seen: None,
        });
    }
}

fn are_same(a: &File, b: &File) -> io::Result<bool> {
    if a.size != b.size {
        return Ok(false);
    }
    let (mut a, mut b) = (a.content.open()?, b.content.open()?);
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    loop {
        for (reader, block) in [(&mut a, &mut of_a), (&mut b, &mut of_b)] {
            block.clear();
            reader.take(64 << 10).read_to_end(block)?;
        }
        if of_a != of_b {
            return Ok(false);
        }
        if of_a.is_empty() {
            return Ok(true);
        }
    }
}

/// A file's text; none where it is long, or no text.
fn text(file: &File) -> io::Result<Option<String>> {
    if file.size > SHOWN {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.content.open()?.take(SHOWN).read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes).ok();
    Ok(text.filter(|text| !text.contains('\0')))
}

#[cfg(test)]
mod tests {
    use super::{ChangeKind, File, compare};

    #[test]
    fn what_is_new_gone_other_or_may_be_run_is_reported() {
        let file = |path: &str, text: &[u8]| File::text(path, text.to_vec());
        let runs = |path: &str| File {
            is_executable: true,
            ..file(path, b"x")
        };
        let old = [
            file("a", b"1"),
            file("b", b"2"),
            file("d", b"\0"),
            file("e", b"x"),
        ];
        let new = [
            file("b", b"3"),
            file("c", b"4"),
            file("d", b"\0\0"),
            runs("e"),
        ];
        let found = compare(&old, &new).expect("memory");
        let reported: Vec<_> = found
            .changes
            .iter()
            .map(|change| {
                (
                    &*change.path,
                    change.kind,
                    change.old.as_deref(),
                    change.new.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            reported,
            [
                ("a", ChangeKind::Deleted, Some("1"), None),
                ("b", ChangeKind::Updated, Some("2"), Some("3")),
                ("c", ChangeKind::Created, None, Some("4")),
                ("d", ChangeKind::Updated, None, None),
            ]
        );
        assert_eq!(found.modes, ["e"]);
    }
}
