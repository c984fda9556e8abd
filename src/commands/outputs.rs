//! The folders that a run owns: each output's leading folders that no template names, so that a cluster that is gone is
//! pruned with its folder.

use crate::error::Error;
use crate::model::manifest::{ChangeSet, Keeps, ManifestFile};
use crate::model::output_path;
use crate::model::workspace::Output;
use crate::read::Workspace;
use crate::write::{Foreign, Options, Part, Plan, Previous};

/// Where the outputs go.
pub(super) struct Outputs {
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
    pub(super) fn open(
        workspace: &Workspace,
        foreign: Foreign,
        previous: Previous,
    ) -> Result<Self, Error> {
        let folder =
            |output: &Output| match output_path::root(output.path.trim_start_matches("./")).0 {
                "." => String::new(),
                folder => folder.to_owned(),
            };
        let mut folders: Vec<String> = workspace.settings.outputs.iter().map(folder).collect();
        folders.sort();
        folders.dedup();
        // The deepest folder that holds a file owns it.
        folders.reverse();
        let tree = |folder: String| -> Result<Tree, Error> {
            let (root, shown) = match &workspace.out {
                Some(out) => (
                    workspace.settings.root.join(out),
                    out.to_string_lossy().into_owned(),
                ),
                None => (workspace.settings.root.join(&folder), folder.clone()),
            };
            let plan = Plan::start(
                &root,
                Options {
                    shown,
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

    /// Compares files with what stands on disk: one part a folder.
    pub(super) fn compare(&self, files: Vec<ManifestFile>) -> Result<Vec<Part>, Error> {
        let mut sorted: Vec<Vec<ManifestFile>> = self.trees.iter().map(|_| Vec::new()).collect();
        for mut file in files {
            let holds = |tree: &Tree| below(&file.path, &tree.folder).is_some();
            if let Some(index) = self.trees.iter().position(holds) {
                file.path = below(&file.path, &self.trees[index].folder)
                    .unwrap_or_default()
                    .to_owned();
                sorted[index].push(file);
            }
        }
        self.trees
            .iter()
            .zip(sorted)
            .map(|(tree, files)| tree.plan.compare(files))
            .collect()
    }

    /// Puts each folder's parts together.
    pub(super) fn finish(
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

/// The part of a path below a folder.
fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() {
        Some(path)
    } else {
        path.strip_prefix(folder)?.strip_prefix('/')
    }
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn a_folder_holds_no_file_that_only_begins_like_it() {
        assert_eq!(below("rendered-old/a.yaml", "rendered"), None);
        assert_eq!(below("rendered/a.yaml", "rendered"), Some("a.yaml"));
    }
}
