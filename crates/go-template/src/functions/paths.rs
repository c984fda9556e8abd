//! Functions on slash-separated paths (Go's `path` package).

use super::super::Value;
use super::super::function::{Function, Type};

const TEXT: &[Type] = &[Type::String];

/// The functions of this module. The `os` variants are the same, because Helm runs where paths have slashes.
pub(super) const TABLE: &[Function] = &[
    Function::new("base", TEXT, |call| Ok(base(&call.string(0)?).into())).may_make_nothing(),
    Function::new("osBase", TEXT, |call| Ok(base(&call.string(0)?).into())).may_make_nothing(),
    Function::new("dir", TEXT, |call| Ok(dir(&call.string(0)?).into())).may_make_nothing(),
    Function::new("osDir", TEXT, |call| Ok(dir(&call.string(0)?).into())).may_make_nothing(),
    Function::new("ext", TEXT, |call| Ok(extension(&call.string(0)?).into())).may_make_nothing(),
    Function::new("osExt", TEXT, |call| Ok(extension(&call.string(0)?).into())).may_make_nothing(),
    Function::new("clean", TEXT, |call| Ok(clean(&call.string(0)?).into())).may_make_nothing(),
    Function::new("osClean", TEXT, |call| Ok(clean(&call.string(0)?).into())).may_make_nothing(),
    Function::new("isAbs", TEXT, |call| {
        Ok(Value::Bool(call.string(0)?.starts_with('/')))
    }),
    Function::new("osIsAbs", TEXT, |call| {
        Ok(Value::Bool(call.string(0)?.starts_with('/')))
    }),
];

/// The last element; `.` for an empty path, `/` for a path of slashes only.
fn base(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit('/').next() {
        Some("") | None => "/",
        Some(last) => last,
    }
}

/// The path without its last element.
fn dir(path: &str) -> String {
    let end = path.rfind('/').map_or(0, |index| index + 1);
    clean(&path[..end])
}

/// The extension of the last element, with its dot.
fn extension(path: &str) -> &str {
    let start = path.rfind('/').map_or(0, |index| index + 1);
    path[start..]
        .rfind('.')
        .map_or("", |index| &path[start + index..])
}

/// The shortest equivalent path.
fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if rooted => {}
            _ => kept.push(part),
        }
    }
    let joined = kept.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::{base, clean, dir, extension};

    #[test]
    fn paths_have_a_base_a_directory_and_an_extension() {
        let parts = |path| (base(path), dir(path), extension(path));
        assert_eq!(parts("/a/b.tar.gz"), ("b.tar.gz", "/a".into(), ".gz"));
        assert_eq!(parts("a.b/c"), ("c", "a.b".into(), ""));
        assert_eq!(parts("a/"), ("a", "a".into(), ""));
        assert_eq!(parts("//"), ("/", "/".into(), ""));
        assert_eq!(parts(""), (".", ".".into(), ""));
    }

    #[test]
    fn cleaning_gives_the_shortest_equivalent_path() {
        assert_eq!(clean("a//b/./c/.."), "a/b");
        assert_eq!(clean("/../a"), "/a");
        assert_eq!(clean("../../a/.."), "../..");
        assert_eq!(clean("./"), ".");
        assert_eq!(clean("/"), "/");
    }
}
