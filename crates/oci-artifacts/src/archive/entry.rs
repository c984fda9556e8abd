//! Validates the type and the names of an entry.

use super::Limits;
use super::blocks::Head;
use super::refusal::{Reason, Refusal};
use crate::portable_path;

/// How many symbolic links are followed to a file, as on Linux.
pub const MOST_LINKS: usize = 40;

/// The type of an entry with legal names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// A file; its contents follow.
    File,
    /// A folder.
    Folder,
    /// A hard link to an earlier file.
    HardLink(String),
    /// A symbolic link to what may be a file of the archive.
    SymbolicLink(String),
}

/// The path and type of an entry; none for the root of the archive.
pub(super) fn parse(head: &Head, limits: &Limits) -> Result<Option<(String, EntryKind)>, Refusal> {
    let shown = || String::from_utf8_lossy(&head.path).into_owned();
    let refuse = |reason: Reason| Err(reason.for_entry(shown()));
    let is_folder = head.kind == b'5' || (is_file(head.kind) && head.path.ends_with(b"/"));
    let no_content = match head.kind {
        b'3' => return refuse(Reason::Special("character device")),
        b'4' => return refuse(Reason::Special("block device")),
        b'6' => return refuse(Reason::Special("named pipe")),
        b'S' => return refuse(Reason::Sparse),
        _ if head.is_sparse => return refuse(Reason::Sparse),
        b'1' | b'2' => true,
        _ if is_folder => true,
        kind if is_file(kind) => false,
        kind => {
            return refuse(Reason::UnknownType(
                char::from(kind).escape_default().to_string(),
            ));
        }
    };
    // Readers disagree: some skip such contents, others interpret them as headers.
    if no_content && head.size > 0 {
        return refuse(Reason::Malformed("is a folder or a link, and has contents"));
    }
    let path = match path(&head.path, limits) {
        Ok(path) => path,
        Err(reason) => return refuse(reason),
    };
    match (path.is_empty(), is_folder, head.kind) {
        (true, true, _) => Ok(None),
        (true, false, _) => refuse(Reason::IllegalPath("has an empty name".to_owned())),
        (_, true, _) => Ok(Some((path, EntryKind::Folder))),
        (_, _, b'1') => {
            let target = self::path(&head.link, limits)
                .map_err(|_| hard_link(&head.link).for_entry(shown()))?;
            Ok(Some((path, EntryKind::HardLink(target))))
        }
        (_, _, b'2') => {
            let link = String::from_utf8_lossy(&head.link);
            match link_target(&path, &link) {
                Some(target) => Ok(Some((path, EntryKind::SymbolicLink(target)))),
                None => refuse(Reason::SymbolicLink(link.escape_debug().to_string())),
            }
        }
        _ => Ok(Some((path, EntryKind::File))),
    }
}

/// The path that a symbolic link at a path leads to, below the same root; none for one that leads out of it.
pub fn link_target(path: &str, link: &str) -> Option<String> {
    let mut names: Vec<&str> = path.split('/').collect();
    names.pop();
    for name in link.split('/') {
        match name {
            "." => {}
            ".." => drop(names.pop()?),
            // An absolute path begins with an empty name.
            "" => return None,
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

fn hard_link(target: &[u8]) -> Reason {
    Reason::HardLink(String::from_utf8_lossy(target).escape_debug().to_string())
}

/// Regular files: those of ustar, of the old format, and contiguous files.
fn is_file(kind: u8) -> bool {
    matches!(kind, b'0' | 0 | b'7')
}

/// A path without leading `./` and trailing `/`.
fn path(bytes: &[u8], limits: &Limits) -> Result<String, Reason> {
    let text = std::str::from_utf8(bytes).map_err(|_| Reason::UnreadableName)?;
    if text.contains('\0') {
        return Err(Reason::UnreadableName);
    }
    if text.len() > limits.path {
        return Err(Reason::PathTooLong(limits.path));
    }
    let windows_root = text.as_bytes().get(1) == Some(&b':');
    if text.starts_with(['/', '\\']) || windows_root {
        return Err(Reason::Outside);
    }
    if text.split(['/', '\\']).any(|name| name == "..") {
        return Err(Reason::Outside);
    }
    let mut text = text;
    while let Some(rest) = text.strip_prefix("./") {
        text = rest;
    }
    let text = text.strip_suffix('/').unwrap_or(text);
    if text.is_empty() || text == "." {
        return Ok(String::new());
    }
    if text.split('/').count() > limits.depth {
        return Err(Reason::TooDeep(limits.depth));
    }
    match portable_path::fault(text) {
        Some(fault) => Err(Reason::IllegalPath(fault)),
        None => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, Reason, link_target, path};

    #[test]
    fn a_link_leads_to_a_path_below_the_root_or_nowhere() {
        for (at, link, target) in [
            ("lib/a.so", "a.so.1", Some("lib/a.so.1")),
            ("lib/a.so", "./x/../../bin/a", Some("bin/a")),
            ("a", "b", Some("b")),
            ("a", "../b", None),
            ("lib/a", "../../b", None),
            ("a", "/etc/passwd", None),
            ("a", "b//c", None),
            ("a", "", None),
        ] {
            assert_eq!(link_target(at, link).as_deref(), target, "{at} {link}");
        }
    }

    #[test]
    fn paths_are_read_without_dot_and_slash() {
        let limits = Limits::default();
        for (written, read) in [
            ("a", "a"),
            ("./a/b", "a/b"),
            ("././a/", "a"),
            ("./", ""),
            (".", ""),
            ("..a/b..", ""),
        ] {
            let taken = path(written.as_bytes(), &limits);
            if read.is_empty() && written.contains('a') {
                assert!(matches!(taken, Err(Reason::IllegalPath(_))))
            } else {
                assert_eq!(taken.as_deref(), Ok(read))
            }
        }
    }

    #[test]
    fn paths_outside_the_folder_and_illegal_names_are_distinguished() {
        let limits = Limits::default();
        for out in [
            "/etc/passwd",
            "../a",
            "a/../b",
            "a/..",
            "\\a",
            "a\\..\\b",
            "C:\\a",
            "c:a",
        ] {
            assert_eq!(path(out.as_bytes(), &limits), Err(Reason::Outside), "{out}");
        }
        for illegal in ["a//b", "a/./b", "a\\b", "nul", "a.", ".git/config", "a\nb"] {
            let taken = path(illegal.as_bytes(), &limits);
            assert!(matches!(taken, Err(Reason::IllegalPath(_))), "{illegal}");
        }
        assert_eq!(path(b"a\0b", &limits), Err(Reason::UnreadableName));
        assert_eq!(path(b"\xff", &limits), Err(Reason::UnreadableName));
    }
}
