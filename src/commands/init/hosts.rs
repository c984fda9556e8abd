//! What pre-commit and Renovate need: written where they have no settings yet, else said.

use std::io::Write;
use std::path::Path;

use crate::error::Error;
use crate::files::Files;
use crate::output;

/// Settings of one host.
pub(super) struct Snippet {
    /// The files that hold its settings; the first is the one to write.
    files: &'static [&'static str],
    /// A whole file.
    whole: String,
    /// What to add to one that is there, and where.
    part: String,
    place: &'static str,
}

/// pre-commit and prek, with an installed metalmark: what `metalmark-render-system` of `.pre-commit-hooks.yaml` runs, as a
/// hook of the repository's own, since nobody knows here where metalmark's is.
pub(super) fn pre_commit() -> Snippet {
    Snippet {
        files: &[".pre-commit-config.yaml", ".pre-commit-config.yml"],
        whole: format!("repos:\n{HOOK}"),
        part: HOOK.to_owned(),
        place: "under `repos:`",
    }
}

// Its first line keeps its two spaces.
const HOOK: &str = "  - repo: local
    hooks:
      - id: metalmark-render
        name: metalmark render
        entry: metalmark render --fail-on-change
        language: system
        pass_filenames: false
        always_run: true
        require_serial: true
        stages: [pre-commit, pre-merge-commit, pre-push, manual]
";

/// Renovate: the preset, which finds the version and runs the update.
pub(super) fn renovate() -> Snippet {
    let lists = PRESET.find("  \"customManagers\"").unwrap_or_default();
    let (head, lists) = PRESET.split_at(lists);
    let end = lists.rfind('}').unwrap_or(lists.len());
    Snippet {
        files: &[
            "renovate.json",
            "renovate.json5",
            ".github/renovate.json",
            ".github/renovate.json5",
            ".gitlab/renovate.json",
            ".gitlab/renovate.json5",
            ".renovaterc",
            ".renovaterc.json",
            ".renovaterc.json5",
        ],
        whole: format!("{head}  \"extends\": [\"config:recommended\"],\n{lists}"),
        part: lists[..end].to_owned(),
        place: "to the lists of these names",
    }
}

const PRESET: &str = include_str!("../../../templates/hosts/renovate/metalmark.json");

/// Writes a host's settings where it has none; else, and in a dry run, says what they are.
///
/// # Errors
/// The file cannot be written.
pub(super) fn give(
    snippet: &Snippet,
    (root, files): (&Path, &dyn Files),
    dry_run: bool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let existing = |name: &&&str| files.is_file(Path::new(name));
    if let Some(name) = snippet.files.iter().find(existing) {
        writeln!(out, "add {} in `{name}`:\n{}", snippet.place, snippet.part)?;
        return Ok(());
    }
    let name = snippet.files.first().copied().unwrap_or_default();
    match dry_run || !output::new_file(&root.join(name), snippet.whole.as_bytes())? {
        true => writeln!(out, "{name}:\n{}", snippet.whole)?,
        false => writeln!(out, "wrote {name}")?,
    }
    Ok(())
}
