//! Reports what `metalmark init` found and wrote, and the next steps.

use std::collections::BTreeMap;
use std::io::{self, Write};

use yaml_tree::place::Spot;

use super::quantity;

/// The one thing to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Say what the images hold, which only their names say.
    SupplyFacts,
    /// Say which image each machine template boots, where there is no cluster.
    DescribeImages,
    /// Look at the errors.
    Check,
    /// Write the outputs.
    Render,
    /// Commit the settings of hosts.
    Commit,
    /// Write the settings of hosts; which code host, the user has to say, unless something here says it.
    Automate {
        /// Whether something says it.
        knows_host: bool,
    },
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

/// What the repository holds.
pub fn print_found(
    kind: &str,
    clusters: usize,
    pools: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let clusters = quantity(clusters, "cluster");
    let pools = quantity(pools, "node pool");
    writeln!(out, "found {clusters} with {pools}: {kind}")
}

/// How many images the project file describes, and the machine templates that it leaves out, by the reason.
pub fn print_described(
    records: usize,
    left_out: &BTreeMap<&str, Vec<Option<Spot>>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if records > 0 {
        let images = quantity(records, "image");
        writeln!(
            out,
            "described {images} under `images.records`; `stamps` says who boots which"
        )?;
    }
    for (why, spots) in left_out {
        let templates = quantity(spots.len(), "machine template");
        write!(out, "left out {templates} whose {why}")?;
        if let Some(spot) = spots.iter().flatten().next() {
            let at = match spots.len() {
                1 => ":",
                _ => ", such as at",
            };
            write!(out, "{at} {spot}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The next step.
pub fn next(step: NextStep, out: &mut dyn Write) -> io::Result<()> {
    let text = match step {
        NextStep::SupplyFacts => {
            "supply the images' facts: run `metalmark lock`, or export them and name the file under `images.facts`:\n  \
             kubectl -n sylva-system get configmap os-images-info -o yaml > os-images-info.yaml"
        }
        NextStep::DescribeImages => {
            "describe the images under `images.records`, and who boots them under `stamps`; then `metalmark stamp --check`"
        }
        NextStep::Check => "`metalmark check` shows each error at its place, and what to do",
        NextStep::Render => "`metalmark render`, then commit what it wrote",
        NextStep::Commit => "commit these files; a hook also needs `pre-commit install`, once",
        NextStep::Automate { knows_host: true } => {
            "`metalmark init --pre-commit --ci` sets up a hook and a CI job, which check every change"
        }
        NextStep::Automate { knows_host: false } => {
            "`metalmark init --pre-commit --ci=gitlab`, or `--ci=github`, sets up a hook and a CI job, which check every change"
        }
    };
    writeln!(out, "next: {text}")
}
