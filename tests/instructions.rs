//! Instructions that a cluster takes, counted by callgrind: the same on every machine with one processor architecture, whatever
//! else it does, so that a regression of a few percent is visible, and so is what takes more than twice for twice as much.

#[path = "../benches/fleet/generator.rs"]
mod generator;
#[path = "../benches/fleet/manifests.rs"]
mod manifests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use generator::{BuiltImage, images, info, shared, write_fleet};
use manifests::{write_charts, write_class, write_folders, write_overlays};

use super::programs;
use super::support::is_long;
use super::support::stage::project;

/// What a cluster of the benchmark's fleet took when it was counted last, in the static binary of a release for x86_64. Who
/// changes a number says why in the commit.
const COUNTED: [(&str, u64); 2] = [("check", 1_397_000), ("render --check", 1_397_000)];

/// The percentage by which a run may differ: more is a regression, and a number that is far too high would hide the next one.
const ALLOWED: u64 = 5;

/// Two sizes: what a run takes once is in both.
const SIZES: [usize; 2] = [100, 400];

#[test]
fn a_cluster_takes_no_more_instructions_than_it_did() {
    let Some(counter) = Counter::find() else {
        return;
    };
    let fleets = SIZES.map(|size| {
        let folder = project();
        write_fleet(folder.path(), size, 0);
        let rendered = run(Command::new(&counter.binary).arg("render"), folder.path());
        assert!(rendered.status.success());
        folder
    });
    let mut changed = Vec::new();
    for (command, counted) in COUNTED {
        let [few, many] = [&fleets[0], &fleets[1]].map(|it| counter.count(command, it.path()));
        let now = (many - few) / (SIZES[1] - SIZES[0]) as u64;
        let (least, most) = (
            counted * (100 - ALLOWED) / 100,
            counted * (100 + ALLOWED) / 100,
        );
        if !(least..=most).contains(&now) {
            changed.push(format!(
                "`{command}` takes {now} instructions a cluster, and {counted} are committed"
            ));
        }
    }
    assert!(
        changed.is_empty(),
        "{changed:#?}: change the numbers with the reason"
    );
}

/// What is there in any number, and the commands that read it.
struct Input {
    name: &'static str,
    write: fn(&Path, usize),
    commands: &'static [&'static str],
}

const INPUTS: [Input; 9] = [
    Input {
        name: "values files",
        write: |folder, clusters| write_fleet(folder, clusters, 0),
        commands: &["check", "plan --to 1.32", "page --to page.html"],
    },
    Input {
        name: "manifests in one file",
        write: write_file,
        commands: &["check", "plan --to 1.32", "page --to page.html"],
    },
    Input {
        name: "manifests in folders",
        write: write_folders,
        commands: &["check"],
    },
    Input {
        name: "overlays of one base",
        write: write_overlays,
        commands: &["check"],
    },
    Input {
        name: "charts",
        write: write_charts,
        commands: &["check"],
    },
    Input {
        name: "clusters of one class",
        write: write_class,
        commands: &["check"],
    },
    Input {
        name: "images",
        write: write_catalog,
        commands: &["check", "images", "page --to page.html"],
    },
    Input {
        name: "findings",
        write: |folder, clusters| write_fleet(folder, clusters, 100),
        commands: &["check", "page --to page.html"],
    },
    Input {
        name: "layers",
        write: write_layers,
        commands: &["check"],
    },
];

/// How many, doubled twice, in the short form and the long one.
const DOUBLED: [[usize; 3]; 2] = [[15, 30, 60], [50, 100, 200]];

/// What the second doubling may add, by what the first one adds, in percent: 200 where each takes the same, 400 where it
/// takes as much as there are others. What a run takes once is in neither.
const ADDED: u64 = 220;

#[test]
fn twice_as_much_takes_twice_the_instructions() {
    let Some(counter) = Counter::find() else {
        return;
    };
    let doubled = DOUBLED[usize::from(is_long())];
    let mut slow = Vec::new();
    for input in INPUTS {
        let folders = doubled.map(|number| {
            let folder = project();
            (input.write)(folder.path(), number);
            folder
        });
        for command in input.commands {
            let count = || {
                folders
                    .each_ref()
                    .map(|folder| counter.count(command, folder.path()))
            };
            let added = |[one, two, four]: [u64; 3]| (four - two) * 100 / (two - one);
            let mut counts = count();
            // The watchdog looks more often while other programs run too, so the least of several counts is nearer.
            for _ in 0..3 {
                if added(counts) <= ADDED {
                    break;
                }
                let again = count();
                counts = std::array::from_fn(|index| counts[index].min(again[index]));
            }
            let added = added(counts);
            if added > ADDED {
                slow.push(format!("`{command}` of {}: {added} %", input.name));
            }
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

/// Each output of a cluster was rendered in a thread of its own, which took three times as long as the rest of the run.
#[test]
fn a_cluster_starts_no_thread() {
    let Some(strace) = programs::find("strace") else {
        return;
    };
    let [few, many] = [10, 40].map(|clusters| {
        let folder = project();
        write_fleet(folder.path(), clusters, 0);
        let strace = strace.display();
        let line = format!("{strace} -f -e trace=clone,clone3 -o started metalmark check");
        folder.shell(&line).exit(0);
        let started = folder.read("started");
        let is_start = |line: &&str| line.contains("clone3(") || line.contains("clone(");
        started.lines().filter(is_start).count()
    });
    assert!(few > 0, "threads are counted");
    assert_eq!(few, many);
}

/// Writes the manifests of all clusters into one file.
fn write_file(folder: &Path, clusters: usize) {
    let folders = project();
    write_folders(folders.path(), clusters);
    let texts: Vec<String> = folders.texts().into_values().collect();
    fs::write(folder.join("fleet.yaml"), texts.join("---\n")).expect("written");
}

/// Writes one cluster, and this many images beside those of the benchmark.
fn write_catalog(folder: &Path, number: usize) {
    let mut all = images();
    for (index, image) in images().into_iter().cycle().take(number).enumerate() {
        let name = format!("{}-{index}", image.name);
        all.push(BuiltImage { name, ..image });
    }
    write_fleet(folder, 1, 0);
    fs::write(folder.join("values.yaml"), shared(&all)).expect("written");
    fs::write(folder.join("os-images-info.yaml"), info(&all)).expect("written");
}

/// Writes one cluster, and layers of values below its own.
fn write_layers(folder: &Path, layers: usize) {
    write_fleet(folder, 1, 0);
    let mut names = Vec::new();
    for layer in 0..layers {
        let text = format!("site: {{rack-{layer}: {{unit: {layer}}}, last: {layer}}}\n");
        fs::write(folder.join(format!("layer-{layer}.yaml")), text).expect("written");
        names.push(format!("layer-{layer}.yaml"));
    }
    let project = folder.join("metalmark.yaml");
    let text = fs::read_to_string(&project).expect("a project");
    let text = text.replace(
        "[values.yaml]",
        &format!("[values.yaml, {}]", names.join(", ")),
    );
    fs::write(project, text).expect("written");
}

fn run(command: &mut Command, folder: &Path) -> std::process::Output {
    command.current_dir(folder).output().expect("it runs")
}

/// Counts the instructions of a released program.
struct Counter {
    valgrind: PathBuf,
    binary: PathBuf,
}

impl Counter {
    fn find() -> Option<Self> {
        let binary = programs::named("METALMARK_RELEASED")?;
        let valgrind = programs::find("valgrind")?;
        if !cfg!(target_arch = "x86_64") {
            programs::missing("x86_64");
            return None;
        }
        let binary = fs::canonicalize(binary).expect("a binary");
        Some(Self { valgrind, binary })
    }

    /// The instructions of one run that ends as it should, with or without findings.
    fn count(&self, line: &str, folder: &Path) -> u64 {
        let output = run(
            Command::new(&self.valgrind)
                .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
                .arg(&self.binary)
                .args(line.split(' ')),
            folder,
        );
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{line}: {printed}"
        );
        let (_, count) = printed.rsplit_once("Collected :").expect("a count");
        let count = count.split_whitespace().next().expect("a number");
        count.parse().expect("a number")
    }
}
