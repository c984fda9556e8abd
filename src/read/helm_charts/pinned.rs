//! Which Helm deploys a chart: the one that its Flux or Argo CD embeds, by the version that is pinned nearest to what deploys it.
//!
//! Source: docs/oracle.md.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use yaml_tree::engine::Engine;
use yaml_tree::place::Sources;

use crate::error::Error;
use crate::files::{Files, Found};

use super::super::gitops::{Composition, Deployer};

/// The Helm where none is known.
const NEWEST: Engine = Engine::Helm4;

/// A program that embeds Helm.
struct Program {
    deployer: Deployer,
    /// What its version is written behind.
    marks: &'static [&'static str],
    /// The first versions with Helm 3.19 and with Helm 4.
    helm3_19: [u32; 2],
    helm4: [u32; 2],
}

const PROGRAMS: [Program; 3] = [
    Program {
        deployer: Deployer::Flux,
        marks: &["fluxcd/helm-controller:v"],
        helm3_19: [1, 4],
        helm4: [1, 5],
    },
    Program {
        deployer: Deployer::Flux,
        marks: &["# Flux Version: v"],
        helm3_19: [2, 7],
        helm4: [2, 8],
    },
    Program {
        deployer: Deployer::ArgoCd,
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

/// The versions of Helm that the files of a repository pin.
pub(in crate::read) struct Pins {
    pins: Vec<Pin>,
    /// Where nothing pins one.
    other: Engine,
}

struct Pin {
    folder: PathBuf,
    deployer: Deployer,
    engine: Engine,
}

impl Pins {
    /// Those of these files, unless the project names one. Of several in one file for Flux, the one of its helm-controller counts.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(in crate::read) fn read(
        tree: &dyn Files,
        files: &BTreeSet<PathBuf>,
        named: Option<Engine>,
    ) -> Result<Self, Error> {
        let mut pins: Vec<Pin> = Vec::new();
        for file in files.iter().filter(|_| named.is_none()) {
            let content = match tree.file(file) {
                Ok(Found::File(content)) => content,
                Ok(_) | Err(Error::Pointer { .. }) => continue,
                Err(error) => return Err(error),
            };
            let text = String::from_utf8_lossy(content.plain().unwrap_or_default());
            let first = pins.len();
            for program in &PROGRAMS {
                let is_known = pins[first..]
                    .iter()
                    .any(|pin| pin.deployer == program.deployer);
                let version = { program.marks.iter() }.find_map(|mark| {
                    let (_, version) = text.split_once(mark)?;
                    minor(version)
                });
                let pinned = version.filter(|_| !is_known).map(|version| Pin {
                    folder: file.parent().unwrap_or(Path::new("")).to_owned(),
                    deployer: program.deployer,
                    engine: program.engine(version),
                });
                pins.extend(pinned);
            }
        }
        let other = named.unwrap_or(NEWEST);
        Ok(Self { pins, other })
    }

    /// The versions that may deploy a release, the newest first: those that are pinned nearest to it.
    pub(super) fn engines(&self, release: &Composition, sources: &Sources) -> Vec<Engine> {
        let file = sources
            .get(release.place.file)
            .map_or("", |source| &source.path);
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let common = |pin: &Pin| {
            let folders = pin.folder.iter().zip(folder);
            folders.take_while(|(one, other)| one == other).count()
        };
        let own = || { self.pins.iter() }.filter(|pin| pin.deployer == release.deployer);
        let nearest = own().map(common).max();
        let nearest = own().filter(|pin| Some(common(pin)) == nearest);
        self.sort_newest(nearest)
    }

    /// The newest version that is pinned anywhere.
    pub(in crate::read) fn newest_engine(&self) -> Engine {
        self.sort_newest(self.pins.iter())[0]
    }

    /// The versions of these pins, without repetition.
    fn sort_newest<'p>(&self, pins: impl Iterator<Item = &'p Pin>) -> Vec<Engine> {
        const ORDER: [Engine; 3] = [Engine::Helm4, Engine::Helm3, Engine::Helm3_18];
        let all: Vec<Engine> = pins.map(|pin| pin.engine).collect();
        if all.is_empty() {
            return vec![self.other];
        }
        let all = ORDER.into_iter().filter(|engine| all.contains(engine));
        all.collect()
    }
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
