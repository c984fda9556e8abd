//! Reports what `metalmark init` found and wrote, and the next steps.

use std::io::{self, Write};
use std::path::Path;

use super::quantity;

/// The machine templates of a repository without values.
pub struct Templates<'a> {
    /// The number of files with machine templates.
    pub files: usize,
    /// One of them.
    pub first: &'a Path,
    /// The number of images that the project file describes.
    pub records: usize,
    /// The number of machine templates whose images it does not describe.
    pub left_out: usize,
}

/// What `metalmark render` would do with the new project file.
pub struct Outlook {
    /// The number of clusters.
    pub clusters: usize,
    /// The number of their node pools.
    pub pools: usize,
    /// The number of images that are served for them.
    pub served: usize,
    /// The number of files that would be written.
    pub rendered: usize,
    /// The number of clusters without an error.
    pub clean: usize,
}

/// The project file was there before.
pub fn exists(name: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "`{name}` is there already, and is left as it is: `metalmark init --dry-run` prints what would be written"
    )
}

/// A file was written.
pub fn wrote(name: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "wrote {name}")
}

/// A file has settings for metalmark.
pub fn has_metalmark(name: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "`{name}` has metalmark already")
}

/// Settings for a file that is not changed, and where to add them.
pub fn to_add(name: &str, place: &str, part: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "add {place} in `{name}`:\n{part}")
}

/// The content of a file that is not written.
pub fn whole(name: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{name}:\n{text}")
}

/// The next step with versions and images that belong together.
pub fn pairs(out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "next: `metalmark check` compares the versions with the images under `pairs`"
    )
}

/// The machine templates, and the next step with them.
pub fn templates(found: &Templates<'_>, out: &mut dyn Write) -> io::Result<()> {
    let files = quantity(found.files, "file");
    let first = found.first.display();
    writeln!(
        out,
        "found {files} with machine templates (`{first}`), and no Sylva values"
    )?;
    if found.records == 0 {
        return writeln!(
            out,
            "next: describe the images under `images.records`, say under `stamps` who boots which; then `metalmark stamp --check`"
        );
    }
    let images = quantity(found.records, "image");
    writeln!(
        out,
        "wrote {images} that they name under `images.records`, and who boots them under `stamps`: `metalmark stamp` changes nothing yet"
    )?;
    if found.left_out > 0 {
        let left_out = quantity(found.left_out, "machine template");
        writeln!(
            out,
            "left out {left_out}: an image that is a variable, that a record cannot describe, that differs under one name or does not fit its version"
        )?;
    }
    writeln!(
        out,
        "next: `metalmark check`; then say under `images.records` which Kubernetes version each image holds"
    )
}

/// What a render would do.
pub fn outlook(outlook: &Outlook, out: &mut dyn Write) -> io::Result<()> {
    let Outlook {
        clusters,
        pools,
        served,
        rendered,
        clean,
    } = outlook;
    writeln!(
        out,
        "found {clusters} clusters with {pools} node pools, which are served {served} images"
    )?;
    writeln!(
        out,
        "`metalmark render` would write {rendered} files for {clean} clusters that have no error"
    )
}

/// The next steps with values.
pub fn next(has_facts: bool, can_render: bool, out: &mut dyn Write) -> io::Result<()> {
    if !has_facts {
        writeln!(
            out,
            "next: export what the image servers know, and name the file under `images.facts`:\n  \
             kubectl -n sylva-system get configmap os-images-info -o yaml > os-images-info.yaml"
        )?;
    }
    if can_render {
        writeln!(out, "next: `metalmark render`, then commit what it wrote")
    } else {
        writeln!(
            out,
            "next: `metalmark check` shows each at its place; `metalmark explain RULE` says why it matters"
        )
    }
}
