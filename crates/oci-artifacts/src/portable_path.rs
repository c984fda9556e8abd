//! Which names a file may have: the ones that stay in their folder on every system that unpacks or checks them out.

use icu_normalizer::ComposingNormalizerBorrowed;

/// The longest name of a file or folder, in bytes: what Linux, macOS and Windows file systems share.
const LONGEST_NAME: usize = 255;

/// The longest path below its folder, in bytes; deeper ones meet the limits of systems and of git.
const LONGEST_PATH: usize = 1024;

/// Windows device names: a repository that holds one cannot be checked out there
/// (<https://learn.microsoft.com/windows/win32/fileio/naming-a-file>).
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// What is wrong with a path below a folder, as the end of the sentence "the path …"; none where it is fine.
pub fn fault(path: &str) -> Option<String> {
    if path.is_empty() {
        return Some("is empty".to_owned());
    }
    if path.starts_with('/') {
        return Some("is absolute".to_owned());
    }
    if path.len() > LONGEST_PATH {
        return Some(format!("is longer than {LONGEST_PATH} bytes"));
    }
    path.split('/').find_map(name_fault)
}

/// A path as file systems compare it that know no letter case and compose letters (NTFS, APFS, HFS+).
pub fn fold(path: &str) -> String {
    let lower = path.to_lowercase();
    if lower.is_ascii() {
        lower
    } else {
        ComposingNormalizerBorrowed::new_nfc()
            .normalize(&lower)
            .into_owned()
    }
}

/// Whether a system takes a name in lower case for git's folder, as git itself decides
/// (<https://git-scm.com/docs/git-config#Documentation/git-config.txt-coreprotectHFS>, and `core.protectNTFS`): HFS+ passes over
/// some characters, NTFS has short names.
fn is_git(lower: &str) -> bool {
    const PASSED_OVER: [std::ops::RangeInclusive<char>; 4] = [
        '\u{200c}'..='\u{200f}',
        '\u{202a}'..='\u{202e}',
        '\u{206a}'..='\u{206f}',
        '\u{feff}'..='\u{feff}',
    ];
    let passed_over = |letter: &char| PASSED_OVER.iter().any(|range| range.contains(letter));
    let plain: String = lower
        .chars()
        .filter(|letter| !passed_over(letter))
        .collect();
    let short = plain.strip_prefix("git~");
    plain == ".git" || short.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn name_fault(name: &str) -> Option<String> {
    let lower = fold(name);
    let stem = lower.split('.').next().unwrap_or_default().trim_end();
    let fault = if name.is_empty() {
        "has an empty name between two slashes"
    } else if name == "." || name == ".." {
        "leaves its folder by `.` or `..`"
    } else if name.len() > LONGEST_NAME {
        "has a name longer than 255 bytes"
    } else if name.chars().any(char::is_control) {
        "has a control character"
    } else if name.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) {
        "has a character that Windows refuses (one of `\\ : * ? \" < > |`)"
    } else if name.ends_with(['.', ' ']) {
        "has a name that ends in a dot or a space, which Windows drops"
    } else if is_git(&lower) {
        "leads into git's own folder"
    } else if DEVICES.contains(&stem) {
        "has a name that is a device on Windows"
    } else {
        return None;
    };
    Some(fault.to_owned())
}

/// `a/b` and `a` for `a/b/c`, outermost first.
pub fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(slash, _)| &path[..slash])
}

#[cfg(test)]
mod tests {
    use super::{fault, fold};

    #[test]
    fn ordinary_names_pass() {
        for path in [
            "a.yaml",
            "edge-1/md0.yaml",
            "größe/ä.yaml",
            "..a/b..c",
            "console.yaml",
            ".github/x",
        ] {
            assert_eq!(fault(path), None, "{path}");
        }
    }

    #[test]
    fn names_that_leave_the_folder_or_trick_a_system_do_not() {
        for path in [
            "",
            "/etc/passwd",
            "..",
            "a/../../b",
            "a//b",
            "a/",
            "./a",
            "a\0b",
            "a\nb",
            "a\\..\\b",
            "C:x",
            "nul",
            "sub/COM1.yaml",
            "a.",
            "a ",
            ".git/hooks/post-checkout",
            ".GIT/config",
            ".g\u{200c}it/config",
            ".git\u{feff}",
            "GIT~1/config",
            "git~2",
        ] {
            assert!(fault(path).is_some(), "{path:?}");
        }
    }

    #[test]
    fn names_that_some_system_takes_for_one_are_folded_alike() {
        assert_eq!(fold("A/\u{e9}.yaml"), fold("a/e\u{301}.yaml"));
        assert_ne!(fold("a/e.yaml"), fold("a/\u{e9}.yaml"));
    }

    #[test]
    fn the_longest_name_and_path_are_taken_and_longer_ones_are_not() {
        assert_eq!(fault(&"x".repeat(255)), None);
        assert!(fault(&"x".repeat(256)).is_some());
        assert_eq!(
            fault(&format!("{}x", "xxx/xxx/".repeat(128)[1..].to_owned())),
            None
        );
        assert!(fault(&format!("{}x", "xxx/xxx/".repeat(128))).is_some());
    }
}
