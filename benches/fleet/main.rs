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
    let (out, its) = (folder.join("out"), folder.join(OUT));
    let mut row = |name: &str, make: &dyn Fn() -> Command, fresh, status| {
        table.row(
            name,
            clusters,
            &measured(make, fresh, status, runs(clusters)),
        );
    };
    row("`render`", &|| render(folder, &[]), Some(out.as_path()), 0);
    row(
        "`render --check`",
        &|| render(folder, &["--check"]),
        None,
        0,
    );
    row("`check`", &|| check(folder), None, 0);
    row("`cmp generate`, one cluster", &|| generate(folder), None, 0);
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

/// The rows of plain manifests, each of which compares the same node pools.
fn plain(table: &mut Table) {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let (folders, overlays) = (scratch.path().join("plain"), scratch.path().join("built"));
    manifests::write_folders(&folders, MANIFESTS);
    manifests::write_overlays(&overlays, MANIFESTS);
    let pools = MANIFESTS * manifests::POOLS;
    let mut row = |name: &str, make: &dyn Fn() -> Command, printed: &str| {
        let output = make().output().expect("runs");
        let output = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.contains(&format!("{pools} {printed}")),
            "{name}: {output}"
        );
        table.row(name, MANIFESTS, &measured(make, None, 0, runs(MANIFESTS)));
    };
    let compared = "node pools checked";
    row(
        "`check`, ten plain manifests each",
        &|| check(&folders),
        compared,
    );
    row(
        "`check`, an overlay of one base each",
        &|| check(&overlays),
        compared,
    );
    if let Some(python) = peers::manifests() {
        row(
            "Python, libyaml, ten plain manifests each",
            &|| python(&folders),
            "pools, 0 mismatched",
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
