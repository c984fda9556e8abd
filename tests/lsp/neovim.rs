//! Neovim's own client, driven by a script: what a person does.

use std::fs;
use std::process::{Command, Stdio};

use crate::programs;

use super::{PARIS, sylva};
use crate::support::repository;

#[test]
fn neovim_hovers_jumps_finds_and_fixes() {
    let Some(neovim) = programs::find("nvim") else {
        return;
    };
    let folder = sylva();
    let home = tempfile::tempdir().expect("a folder");
    let log = home.path().join("log");
    let status = Command::new(neovim)
        .args(["--headless", "-n", "-u"])
        .arg(repository().join("tests/lsp/neovim.lua"))
        .env("METALMARK", env!("CARGO_BIN_EXE_metalmark"))
        .env("ROOT", folder.path())
        .env("FILE", folder.path().join(PARIS))
        .env("LOG", &log)
        .env("HOME", home.path())
        .stdin(Stdio::null())
        .output()
        .expect("it starts");
    let log = fs::read_to_string(log).unwrap_or_else(|_| panic!("{status:?}"));
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(
        lines,
        [
            "hover: edge-paris/storage boots image `opensuse-15-6-hardened-rke2-1-31-8`",
            "definition: sylva-units/values.yaml:30",
            "found: k8s-version-mismatch in line 23",
            "action: Set `cluster.machine_deployments.storage.capm3.image_key: ubuntu-noble-hardened-rke2-1-31-8`",
            "left: 0",
            "line:         image_key: ubuntu-noble-hardened-rke2-1-31-8",
            "ended: well",
        ]
    );
}
