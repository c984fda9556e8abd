//! Which Helm deploys the charts of a repository: the one that its Flux or Argo CD embeds, by the version that is pinned there.
//!
//! Source: docs/oracle.md.

use std::collections::BTreeSet;
use std::path::PathBuf;

use yaml_tree::engine::Engine;

use crate::error::Error;
use crate::files::{Files, Found};

/// The Helm where none is known.
pub(in crate::read) const NEWEST: Engine = Engine::Helm4;

/// A program that embeds Helm.
struct Program {
    /// What its version is written behind.
    marks: &'static [&'static str],
    /// The first versions with Helm 3.19 and with Helm 4.
    helm3_19: [u32; 2],
    helm4: [u32; 2],
}

const PROGRAMS: [Program; 3] = [
    Program {
        marks: &["fluxcd/helm-controller:v"],
        helm3_19: [1, 4],
        helm4: [1, 5],
    },
    Program {
        marks: &["# Flux Version: v"],
        helm3_19: [2, 7],
        helm4: [2, 8],
    },
    Program {
        marks: &[
            "argoproj/argocd:v",
            "argoproj/argo-cd/v",
            "argoproj/argo-cd//manifests/cluster-install?ref=v",
            "argoproj/argo-cd//manifests/ha/cluster-install?ref=v",
        ],
        helm3_19: [3, 3],
        helm4: [3, 5],
    },
];

/// The Helm of the first program whose version a file pins; Flux's before Argo CD's.
///
/// # Errors
/// A file cannot be read.
pub(in crate::read) fn find_engine(
    tree: &dyn Files,
    files: &BTreeSet<PathBuf>,
) -> Result<Option<Engine>, Error> {
    let mut found = [None; PROGRAMS.len()];
    for file in files {
        let content = match tree.file(file) {
            Ok(Found::File(content)) => content,
            Ok(_) | Err(Error::Pointer { .. }) => continue,
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(content.plain().unwrap_or_default());
        for (program, found) in PROGRAMS.iter().zip(&mut found) {
            let pinned = program.marks.iter().find_map(|mark| {
                let (_, version) = text.split_once(mark)?;
                minor(version)
            });
            *found = found.or(pinned.map(|version| program.engine(version)));
        }
    }
    Ok(found.into_iter().flatten().next())
}

/// The first two numbers of a version.
fn minor(text: &str) -> Option<[u32; 2]> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let mut numbers = text.split(|letter| !is_digit(letter));
    Some([numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?])
}

impl Program {
    fn engine(&self, version: [u32; 2]) -> Engine {
        if version >= self.helm4 {
            Engine::Helm4
        } else if version >= self.helm3_19 {
            Engine::Helm3
        } else {
            Engine::Helm3_18
        }
    }
}
