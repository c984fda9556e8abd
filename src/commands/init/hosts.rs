//! What pre-commit and Renovate need: written where they have no settings yet, else said.

use std::io::Write;
use std::path::Path;

use crate::error::Error;
use crate::files::Files;
use crate::write;

/// Settings of one host.
#[derive(Clone, Copy)]
pub(super) struct Snippet {
    /// The files that hold its settings; the first is the one to write.
    files: &'static [&'static str],
    /// A whole file.
    whole: &'static str,
    /// What to add to one that is there, and where.
    part: &'static str,
    place: &'static str,
}

/// pre-commit and prek, with an installed metalmark.
pub(super) const PRE_COMMIT: Snippet = Snippet {
    files: &[".pre-commit-config.yaml", ".pre-commit-config.yml"],
    whole: "\
repos:
  - repo: local
    hooks:
      - id: metalmark-render
        name: metalmark render
        entry: metalmark render
        language: system
        files: \\.(ya?ml|lock|j2)$
        pass_filenames: false
",
    // Its first line keeps its two spaces.
    part: "  - repo: local
    hooks:
      - id: metalmark-render
        name: metalmark render
        entry: metalmark render
        language: system
        files: \\.(ya?ml|lock|j2)$
        pass_filenames: false
",
    place: "under `repos:`",
};

/// Renovate: the line with the version of the image builder.
pub(super) const RENOVATE: Snippet = Snippet {
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
    whole: r#"{
  "$schema": "https://docs.renovatebot.com/renovate-schema.json",
  "extends": ["config:recommended"],
  "customManagers": [
    {
      "customType": "regex",
      "managerFilePatterns": ["/\\.ya?ml$/"],
      "matchStrings": ["(?:sylva_diskimagebuilder|diskimage_builder)_version:\\s*[\"']?(?<currentValue>[^\\s\"'#]+)"],
      "depNameTemplate": "sylva-projects/sylva-elements/diskimage-builder",
      "datasourceTemplate": "gitlab-tags"
    }
  ]
}
"#,
    part: r#"    {
      "customType": "regex",
      "managerFilePatterns": ["/\\.ya?ml$/"],
      "matchStrings": ["(?:sylva_diskimagebuilder|diskimage_builder)_version:\\s*[\"']?(?<currentValue>[^\\s\"'#]+)"],
      "depNameTemplate": "sylva-projects/sylva-elements/diskimage-builder",
      "datasourceTemplate": "gitlab-tags"
    }
"#,
    place: "to the list `customManagers`",
};

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
    let standing = |name: &&&str| files.is_file(Path::new(name));
    if let Some(name) = snippet.files.iter().find(standing) {
        writeln!(out, "add {} in `{name}`:\n{}", snippet.place, snippet.part)?;
        return Ok(());
    }
    let name = snippet.files.first().copied().unwrap_or_default();
    match dry_run || !write::new_file(&root.join(name), snippet.whole.as_bytes())? {
        true => writeln!(out, "{name}:\n{}", snippet.whole)?,
        false => writeln!(out, "wrote {name}")?,
    }
    Ok(())
}
