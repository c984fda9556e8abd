//! The folders that a run owns: each output's leading folders that no template names, so that a cluster that is gone is
//! pruned with its folder.

use std::path::PathBuf;

use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::manifest::{ChangeSet, Keeps, ManifestFile, OWNERSHIP_FILE};
use crate::model::output_path;
use crate::model::rule::RuleId;
use crate::model::settings::Output;
use crate::output::{Foreign, Options, Part, Plan, Previous};
use crate::read::{PROJECT_FILE_NAME, Workspace};

/// Where the outputs go.
pub(crate) struct Outputs {
    trees: Vec<Tree>,
}

/// One folder that is owned.
struct Tree {
    /// The folder below the project's root, without a slash at either end; empty for the root itself.
    folder: String,
    plan: Plan,
}

impl Outputs {
    /// Looks at what is owned in each output's folder.
    pub(crate) fn open(
        workspace: &Workspace,
        foreign: Foreign,
        previous: Previous,
    ) -> Result<Self, Error> {
        let mut folders: Vec<String> = workspace.settings.outputs.iter().map(folder).collect();
        // A finding names the others.
        folders.retain(|folder| folder.is_empty() || output_path::fault(folder).is_none());
        folders.sort();
        folders.dedup();
        // The deepest folder that holds a file owns it.
        folders.reverse();
        let tree = |folder: String| -> Result<Tree, Error> {
            let project = &workspace.settings.root;
            let (root, shown, base) = match &workspace.out {
                Some(out) => (project.join(out), out.to_string_lossy().into_owned(), None),
                None => (project.join(&folder), folder.clone(), Some(project.clone())),
            };
            let plan = Plan::start(
                &root,
                Options {
                    shown,
                    base,
                    foreign,
                    previous,
                },
            )?;
            Ok(Tree { folder, plan })
        };
        Ok(Self {
            trees: folders.into_iter().map(tree).collect::<Result<_, _>>()?,
        })
    }

    /// Compares files with what is on disk: one part a folder.
    pub(crate) fn compare(&self, files: Vec<ManifestFile>) -> Result<Vec<Part>, Error> {
        let mut sorted: Vec<Vec<ManifestFile>> = self.trees.iter().map(|_| Vec::new()).collect();
        for mut file in files {
            let holds = |tree: &Tree| strip_folder(&file.path, &tree.folder).is_some();
            if let Some(index) = self.trees.iter().position(holds) {
                file.path = strip_folder(&file.path, &self.trees[index].folder)
                    .unwrap_or_default()
                    .to_owned();
                sorted[index].push(file);
            }
        }
        let mut parts = Vec::with_capacity(self.trees.len());
        for (tree, files) in self.trees.iter().zip(sorted) {
            parts.push(tree.plan.compare(files)?);
        }
        Ok(parts)
    }

    /// Puts each folder's parts together.
    pub(crate) fn finish(
        self,
        parts: Vec<Vec<Part>>,
        keeps: &Keeps,
    ) -> Result<Vec<ChangeSet>, Error> {
        let mut sorted: Vec<Vec<Part>> = self.trees.iter().map(|_| Vec::new()).collect();
        for part in parts {
            for (index, part) in part.into_iter().enumerate() {
                sorted[index].push(part);
            }
        }
        let mut changes: Vec<ChangeSet> = Vec::with_capacity(sorted.len());
        for (tree, parts) in self.trees.into_iter().zip(sorted) {
            changes.push(tree.plan.finish(parts, keeps)?);
        }
        changes.reverse();
        Ok(changes)
    }
}

/// The folder that an output owns, below the root; empty for the root itself.
fn folder(output: &Output) -> String {
    match output_path::root(output.path.trim_start_matches("./")).0 {
        "." => String::new(),
        folder => folder.to_owned(),
    }
}

/// How deep below the root the folders of removed outputs are looked for.
const LEVELS: usize = 3;
/// A folder with more entries has a folder for each cluster, and none for outputs.
const ENTRIES: usize = 200;

/// The folders with files that this project rendered and that no output of it owns any more.
///
/// # Errors
/// A folder cannot be read.
pub(crate) fn orphans(workspace: &Workspace) -> Result<Vec<Finding>, Error> {
    let owned: Vec<String> = workspace.settings.outputs.iter().map(folder).collect();
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(".")];
    for depth in 0..=LEVELS {
        for path in std::mem::take(&mut folders) {
            let Some(names) = workspace.files.folder(&path)? else {
                continue;
            };
            let has = |wanted: &str| names.iter().any(|name| name == wanted);
            let shown = path.to_string_lossy().replace('\\', "/");
            if depth > 0 && has(PROJECT_FILE_NAME) {
                continue;
            }
            if depth > 0 && has(OWNERSHIP_FILE) && !owned.contains(&shown) {
                found.push(orphan(&shown));
            }
            if names.len() <= ENTRIES {
                let below = names.iter().filter(|name| !name.starts_with('.'));
                let below = below.filter(|name| !name.contains('.'));
                folders.extend(below.map(|name| match depth {
                    0 => PathBuf::from(name),
                    _ => path.join(name),
                }));
            }
        }
    }
    Ok(found)
}

fn orphan(folder: &str) -> Finding {
    let message = format!("`{folder}` has rendered files that no output of this project writes");
    Finding::new(RuleId::OutputOrphaned, message).help(format!(
        "delete the folder: `git rm -r {folder}`; or write the output again"
    ))
}

/// The part of a path below a folder.
fn strip_folder<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() {
        Some(path)
    } else {
        path.strip_prefix(folder)?.strip_prefix('/')
    }
}

#[cfg(test)]
mod tests {
    use super::strip_folder;

    #[test]
    fn a_folder_holds_no_file_that_only_begins_like_it() {
        assert_eq!(strip_folder("rendered-old/a.yaml", "rendered"), None);
        assert_eq!(strip_folder("rendered/a.yaml", "rendered"), Some("a.yaml"));
    }
}
