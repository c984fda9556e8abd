//! Neovim's own client, driven by a script: what a person does.

use std::process::{Command, Stdio};

use snapbox::str;

use super::{PARIS, sylva};
use crate::programs;
use crate::support::stage::{Is, project};
use crate::support::{binary, repository};

#[test]
fn neovim_hovers_jumps_finds_and_fixes() {
    let Some(neovim) = programs::find("nvim") else {
        return;
    };
    let (folder, home) = (sylva(), project());
    let log = home.path().join("log");
    let status = Command::new(neovim)
        .args(["--headless", "-n", "-u"])
        .arg(repository().join("tests/lsp/neovim.lua"))
        .env("METALMARK", binary())
        .env("ROOT", folder.path())
        .env("FILE", folder.path().join(PARIS))
        .env("LOG", &log)
        .env("HOME", home.path())
        .stdin(Stdio::null())
        .output()
        .expect("it starts");
    let made = home.list("");
    assert!(made.contains(&"log".to_owned()), "{made:?} {status:?}");
    home.read("log").is(str![[r#"
hover: edge-paris/storage boots image `opensuse-15-6-hardened-rke2-1-31-8`
definition: sylva-units/values.yaml:30
found: k8s-version-mismatch in line 23
action: Set `cluster.machine_deployments.storage.capm3.image_key: ubuntu-noble-hardened-rke2-1-31-8`
left: 0
line:         image_key: ubuntu-noble-hardened-rke2-1-31-8
ended: well

"#]]);
}
