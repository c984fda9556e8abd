//! The whole tool on a fleet, beside what users run instead: `cargo bench --bench fleet -- [CLUSTERS …] [--docs]`.
//!
//! Runs the release binary as a user would and prints CPU time (mean), wall time from start to exit (median) and peak memory
//! of five runs: of twenty below a hundred clusters, of one from ten thousand on. The peers run where their programs are found,
//! and the bench stops where a peer's machine templates do not boot the same images. `SYLVA_CORE=FOLDER`, a checkout of
//! sylva-core, adds one cluster of the real chart's values. `--docs` puts the table and its chart into docs/benchmarks.md.
//!
//! `cargo bench --bench fleet -- --write FOLDER CLUSTERS [MISMATCHED %]` only writes a fleet, for a profiler.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its table"
)]

mod chart;
mod generator;
mod manifests;
mod measured;
mod peers;
mod table;

use std::path::Path;
use std::process::Command;

use generator::write_fleet;
use measured::measured;
use peers::{OUT, Peer, images, peers};
use table::Table;

/// Plain manifests are checked at this size alone: 10,000 objects.
const MANIFESTS: usize = 1000;

/// Charts that are rendered, and clusters of one class, beside them.
const CHARTS: usize = 200;
const CLASSED: usize = 3000;

/// Of a hundred clusters, how many are wrong in the run that tells findings.
const MISMATCHED: usize = 30;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let numbers = words.iter().filter_map(|word| word.parse().ok());
    let mut sizes: Vec<usize> = numbers.collect();
    if let Some(place) = words.iter().position(|word| word == "--write") {
        let folder = Path::new(&words[place + 1]);
        return write_fleet(folder, sizes[0], sizes.get(1).copied().unwrap_or(0));
    }
    if sizes.is_empty() {
        sizes = vec![1, 10, 100, 1000, 10_000];
    }
    let mut table = Table::new();
    table.row(
        "`--version`: start and exit",
        1,
        &measured(&version, None, 0, runs(1)),
    );
    let peers = peers();
    for clusters in sizes {
        fleet(clusters, &peers, &mut table);
        if clusters == MANIFESTS {
            plain(&mut table);
        }
    }
    if let Some(checkout) = std::env::var_os("SYLVA_CORE") {
        let make = || sylva(Path::new(&checkout));
        let figures = measured(&make, None, 1, runs(1));
        table.row("`check`, sylva-core's values", 1, &figures);
    }
    table.machine();
    if words.iter().any(|word| word == "--docs") {
        table.into_docs();
    }
}

/// All rows of one size.
fn fleet(clusters: usize, peers: &[Peer], table: &mut Table) {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    write_fleet(folder, clusters, 0);
    let (out, its, copied) = (folder.join("out"), folder.join(OUT), folder.join("copied"));
    let mut row = |name: &str, make: &dyn Fn() -> Command, fresh, status| {
        table.row(
            name,
            clusters,
            &measured(make, fresh, status, runs(clusters)),
        );
    };
    row("`render`", &|| render(folder, &[]), Some(out.as_path()), 0);
    row(
        "`cp -r` of what it wrote",
        &|| copy(&out, &copied),
        Some(copied.as_path()),
        0,
    );
    row(
        "`render`, nothing changed",
        &|| render(folder, &[]),
        None,
        0,
    );
    row(
        "`render --check`",
        &|| render(folder, &["--check"]),
        None,
        0,
    );
    row("`check`", &|| check(folder), None, 0);
    row("`cmp generate`, one cluster", &|| generate(folder), None, 0);
    row("`plan`", &|| plan(folder), None, 0);
    row("`page`", &|| page(folder), None, 0);
    let ours = images(&out);
    for peer in peers.iter().filter(|peer| clusters <= peer.at_most) {
        (peer.prepare)(folder);
        row(peer.name, &|| (peer.make)(folder), Some(&its), 0);
        assert!(images(&its) == ours, "{} chose other images", peer.name);
    }
    let wrong = tempfile::tempdir().expect("a scratch folder");
    write_fleet(wrong.path(), clusters, MISMATCHED);
    let name = format!("`check`, {MISMATCHED} of 100 mismatched");
    row(&name, &|| check(wrong.path()), None, 1);
}

/// The rows of plain manifests. Each says how many node pools it compares, so that none does less than the others.
fn plain(table: &mut Table) {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let mut row = |name: &str, clusters: usize, make: &dyn Fn() -> Command, printed: &str| {
        let output = make().output().expect("runs");
        let output = String::from_utf8_lossy(&output.stdout);
        assert!(output.contains(printed), "{name}: {output}");
        table.row(name, clusters, &measured(make, None, 0, runs(clusters)));
    };
    type Write = fn(&Path, usize);
    let inputs: [(&str, Write, usize, usize); 4] = [
        (
            "ten plain manifests each",
            manifests::write_folders,
            MANIFESTS,
            manifests::POOLS,
        ),
        (
            "an overlay of one base each",
            manifests::write_overlays,
            MANIFESTS,
            manifests::POOLS,
        ),
        (
            "a chart each",
            manifests::write_charts,
            CHARTS,
            manifests::POOLS,
        ),
        (
            "one class",
            manifests::write_class,
            CLASSED,
            manifests::CLASS_POOLS,
        ),
    ];
    for (name, write, clusters, pools) in inputs {
        let folder = scratch.path().join(name);
        write(&folder, clusters);
        let printed = format!("{} node pools checked", clusters * pools);
        row(
            &format!("`check`, {name}"),
            clusters,
            &|| check(&folder),
            &printed,
        );
    }
    if let Some(python) = peers::manifests() {
        let folder = scratch.path().join(inputs[0].0);
        let printed = format!("{} pools, 0 mismatched", MANIFESTS * manifests::POOLS);
        row(
            "Python, libyaml, ten plain manifests each",
            MANIFESTS,
            &|| python(&folder),
            &printed,
        );
    }
}

fn runs(clusters: usize) -> usize {
    match clusters {
        // The kernel counts CPU time in hundredths of a second.
        0..100 => 20,
        100..10_000 => 5,
        _ => 1,
    }
}

fn metalmark(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metalmark"));
    command.current_dir(folder);
    command
}

fn version() -> Command {
    let mut command = metalmark(Path::new("."));
    command.arg("--version");
    command
}

fn render(folder: &Path, extra: &[&str]) -> Command {
    let mut command = metalmark(folder);
    command.arg("render").args(extra);
    command
}

fn check(folder: &Path) -> Command {
    let mut command = metalmark(folder);
    command.arg("check");
    command
}

fn plan(folder: &Path) -> Command {
    let mut command = metalmark(folder);
    command.args(["plan", "--to", "1.32"]);
    command
}

fn page(folder: &Path) -> Command {
    let mut command = metalmark(folder);
    command.args(["page", "--to", "page.html"]);
    command
}

/// The least that writing the same files takes.
fn copy(from: &Path, to: &Path) -> Command {
    let mut command = Command::new("cp");
    command.arg("-r").arg(from).arg(to);
    command
}

/// One cluster as Argo CD asks for it.
fn generate(folder: &Path) -> Command {
    let mut command = metalmark(folder);
    command
        .args(["cmp", "generate"])
        .env("ARGOCD_APP_NAME", "site-00000")
        .env("ARGOCD_APP_SOURCE_PATH", ".")
        .env("ARGOCD_ENV_FROZEN", "false");
    command
}

/// One cluster of the real chart. Its images have no facts, so that findings stand.
fn sylva(checkout: &Path) -> Command {
    let mut command = check(checkout);
    for layer in [
        "charts/sylva-units/values.yaml",
        "charts/sylva-units/management.values.yaml",
        "environment-values/rke2-capm3/secrets.yaml",
    ] {
        command.args(["--values", layer]);
    }
    command.args(["--clusters", "environment-values/rke2-capm3/values.yaml"]);
    command
}
