//! kubectl without a server: how it reads files, and what its patches make of objects.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::programs;
use crate::support::stage::project;

pub(super) struct Kubectl(PathBuf);

impl Kubectl {
    pub(super) fn find() -> Option<Self> {
        programs::find("kubectl").map(Self)
    }

    /// What `kubectl patch --local` makes of the objects in these files.
    fn patched(&self, folder: &Path, files: &[String], patch: &str) -> Vec<Value> {
        let form = if patch.starts_with('[') {
            "json"
        } else {
            "merge"
        };
        let output = Command::new(&self.0)
            .args([
                "patch",
                "--local",
                "--output=json",
                "--type",
                form,
                "--patch",
                patch,
            ])
            .args(files.iter().map(|file| format!("--filename={file}")))
            .current_dir(folder)
            .env_clear()
            .env("HOME", folder)
            .output()
            .expect("kubectl starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{patch}: {errors}");
        let values = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
        values.map(|value| value.expect("JSON")).collect()
    }

    /// The objects that kubectl reads from a folder.
    pub(super) fn folder(&self, folder: &Path) -> Vec<Value> {
        self.patched(folder, &[".".to_owned()], "{}")
    }

    /// The objects of texts, as kubectl reads them, in order.
    pub(super) fn read(&self, texts: &[&str]) -> Vec<Value> {
        self.patch(texts, "{}")
    }

    /// The objects of texts after a patch of each: a JSON patch if it is a list, else a merge patch.
    pub(super) fn patch(&self, texts: &[&str], patch: &str) -> Vec<Value> {
        let scratch = project();
        let files: Vec<String> = (0..texts.len())
            .map(|index| format!("{index}.yaml"))
            .collect();
        for (file, text) in files.iter().zip(texts) {
            scratch.write(file, text);
        }
        self.patched(scratch.path(), &files, patch)
    }
}
