//! Where the project is: its file in this folder or above it, or the flags that replace one.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::files::{self, InsideKind, Scope, repository_top};

use super::Request;
use super::clusters::literal_prefix;

pub use crate::model::settings::PROJECT_FILE_NAME;

/// Where a project is.
#[derive(Clone, Debug)]
pub struct Location {
    /// The folder that its paths start from.
    pub root: PathBuf,
    /// The project file's name in it; none where flags replace one.
    pub file: Option<PathBuf>,
}

/// The requested project.
///
/// # Errors
/// No project and no flags that replace one; a folder to start in that is none.
pub fn location(request: &Request) -> Result<Location, Error> {
    let start = request
        .directory
        .clone()
        .unwrap_or_else(|| PathBuf::from("."));
    if request.directory.is_some() {
        is_folder(&start)?;
    }
    let may_lack = request.flags.without_project || request.flags.discovers;
    let path = match &request.project {
        Some(named) => Some(start.join(named)),
        None if has_flags(request) => None,
        None => project_file(&start, None),
    };
    let Some(path) = path else {
        return if has_flags(request) || may_lack {
            Ok(Location {
                root: start,
                file: None,
            })
        } else {
            Err(no_project(request, None))
        };
    };
    let root = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    Ok(Location {
        root: root.to_owned(),
        file: Some(
            path.file_name()
                .unwrap_or(PROJECT_FILE_NAME.as_ref())
                .into(),
        ),
    })
}

/// That the folder to start in is one.
fn is_folder(start: &Path) -> Result<(), Error> {
    match files::path_kind(start)? {
        InsideKind::Folder => Ok(()),
        _ => Err(Error::Read {
            path: start.to_owned(),
            cause: std::io::ErrorKind::NotADirectory.into(),
        }),
    }
}

/// What a command may read: the repository of its project, and what its flags name.
///
/// # Errors
/// There is no such folder.
pub fn scope(request: &Request, root: &Path) -> Result<Scope, Error> {
    let flags = &request.flags;
    if let Some(folder) = &flags.confined {
        return Scope::folder(folder);
    }
    let patterns = flags
        .values
        .iter()
        .chain(&flags.clusters)
        .chain(&flags.info);
    let folders = flags.schemas.iter().chain(&flags.templates);
    let named: Vec<PathBuf> = patterns
        .chain(folders)
        .map(|path| root.join(literal_prefix(Path::new(path))))
        .chain(flags.named.iter().cloned())
        .collect();
    Ok(Scope::repository(root)?.and(named.iter().map(PathBuf::as_path)))
}

fn has_flags(request: &Request) -> bool {
    !request.flags.values.is_empty() || !request.flags.clusters.is_empty()
}

/// The project file in a folder, or in one of the given number of folders above it; in any above it where no number is given.
pub fn project_file(start: &Path, steps: Option<usize>) -> Option<PathBuf> {
    let mut folder = start.to_owned();
    // A relative folder's parents are not spelled in it: `..` walks up until the file system ends.
    let limit = std::path::absolute(start).map_or(0, |path| path.components().count());
    for _ in 0..=steps.unwrap_or(limit).min(limit) {
        let file = folder.join(PROJECT_FILE_NAME);
        if matches!(files::path_kind(&file), Ok(InsideKind::File { .. })) {
            return Some(file);
        }
        folder.push("..");
    }
    None
}

/// What people call a project file that nothing reads.
pub(super) const MISNAMED: [&str; 3] = ["metalmark.yml", ".metalmark.yaml", ".metalmark.yml"];

/// The error where nothing says what to read; some environments are there that a project file could name.
pub(super) fn no_project(request: &Request, environment: Option<&str>) -> Error {
    // Other commands do not look for manifests.
    let manifests = if request.flags.discovers {
        ", and no cluster in the manifests below"
    } else {
        ""
    };
    let start = request.directory.as_deref().unwrap_or(Path::new("."));
    let is_there = |name: &&&str| {
        let kind = files::path_kind(&start.join(name));
        matches!(kind, Ok(InsideKind::File { .. }))
    };
    let help = match (MISNAMED.iter().find(is_there), environment) {
        (Some(name), _) => format!("rename `{name}` to `{PROJECT_FILE_NAME}`"),
        (None, None) => format!(
            "name what to read: --values values.yaml --clusters 'clusters/*/values.yaml', or write a `{PROJECT_FILE_NAME}`: \
             `metalmark init` proposes one"
        ),
        (None, Some(first)) => {
            format!("`metalmark init` writes one for the environments, such as `{first}`")
        }
    };
    Error::usage(format!(
        "there is no `{PROJECT_FILE_NAME}` here or in a folder above{manifests}\nhelp: {help}"
    ))
}

/// The project's folder below that of its repository, the nearest that holds a `.git`; empty where they are one, and where
/// there is no repository.
pub fn folder_in_repository(root: &Path) -> String {
    let below = root.canonicalize().ok().and_then(|root| {
        let top = repository_top(&root)?;
        Some(root.strip_prefix(top).ok()?.to_owned())
    });
    let names = below.iter().flat_map(|below| below.iter());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    names.join("/")
}

#[cfg(test)]
mod tests {
    use super::folder_in_repository;

    #[test]
    fn the_nearest_repository_counts() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let project = folder.path().join("deploy/lab");
        std::fs::create_dir_all(&project).expect("made");
        std::fs::write(folder.path().join(".git"), "gitdir: elsewhere").expect("written");
        assert_eq!(folder_in_repository(&project), "deploy/lab");
        assert_eq!(folder_in_repository(folder.path()), "");
        assert_eq!(folder_in_repository(&folder.path().join("nowhere")), "");
    }
}
