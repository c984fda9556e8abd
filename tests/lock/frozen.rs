//! `--frozen`: the lock holds everything, and nothing else is asked.

use std::net::TcpListener;
use std::process::Command;

use snapbox::str;

use super::write_registry;
use super::{
    JAMMY, NOBLE, PROJECT_FILE, append_settings, locked_site, remove_registry, site, story,
};
use crate::programs::missing;

#[test]
fn what_is_not_locked_is_an_error_that_lists_the_keys() {
    let stage = site();
    let mut story = story(&stage);
    story.note("no lock").judge(&["check", "check --frozen"]);
    write_registry(&stage, &[NOBLE], "0.4.12", "a");
    // One that nobody uses is a warning; frozen, it is an error.
    story
        .runs(&["lock"])
        .judge(&["check", "check --frozen", "lock --check", "render --frozen"]);
    story.note("facts from another file do not excuse it");
    let info =
        format!("os_images:\n  {JAMMY}: {{image-format: raw, k8s-version: 1.31.8+rke2r1}}\n");
    stage.write("info.yaml", info);
    append_settings(&stage, "images: {facts: [info.yaml]}");
    story.judge(&["check --frozen"]);
    story.is(str![[r#"
# no lock
$ check => 1
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ check --frozen => 1
error[lock-missing-image]: there is no lock, and so none of 2 images: `JAMMY`, `NOBLE`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock => 1
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
error[catalog-drift]: the catalog names image `JAMMY`, and oci-layout:registry has no artifact of that name --> values.yaml:3:3
$ check => 0
warning[lock-missing-image]: the lock does not hold image `JAMMY`
$ check --frozen, lock --check, render --frozen => 1
error[lock-missing-image]: the lock does not hold image `JAMMY`
# facts from another file do not excuse it
$ check --frozen => 1
error[lock-missing-image]: the lock does not hold image `JAMMY`

"#]]);
}

#[test]
fn a_lock_that_the_project_names_and_nobody_wrote_is_empty() {
    let stage = site();
    append_settings(&stage, "images: {facts: [locks/images.lock]}");
    let mut story = story(&stage);
    story.judge(&["check"]);
    write_registry(&stage, &[NOBLE, JAMMY], "0.4.12", "a");
    std::fs::create_dir_all(stage.path().join("locks")).expect("created");
    story.runs(&["lock", "check --frozen"]);
    story.is(str![[r#"
$ check => 1
error[lock-missing-image]: the lock does not hold image `NOBLE`
warning[lock-missing-image]: the lock does not hold image `JAMMY`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock => 0
added   JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
locks/images.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ check --frozen => 0
no findings in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    assert!(stage.read("locks/images.lock").contains(NOBLE));
}

#[test]
fn frozen_rendering_opens_no_connection() {
    let stage = locked_site();
    remove_registry(&stage);
    // No mirror, so that whoever asked would have to go through the proxy.
    let lines = PROJECT_FILE.lines();
    let lines = lines.filter(|line| !line.starts_with("registries"));
    stage.write("metalmark.yaml", lines.collect::<Vec<_>>().join("\n"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("set");
    let proxy = format!("http://{}", listener.local_addr().expect("bound"));
    let variables = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"].map(|name| (name, &*proxy));
    let run = |command: &str| {
        let program = stage.program().envs(&variables);
        program.args(command.split(' ')).run()
    };
    for command in ["render --frozen", "check --frozen", "lock --check"] {
        let outcome = run(command);
        assert_eq!(outcome.status, 0, "{command}: {}", outcome.stderr);
    }
    let connection = listener.accept();
    assert!(connection.is_err(), "somebody connected: {connection:?}");
    // A run that names it uses it.
    drop(listener);
    stage.remove("metalmark.lock");
    let asked = run("lock");
    assert_eq!(asked.status, 2, "{}", asked.stderr);
    let words = "the proxy on the way to `registry.example.org` refused";
    assert!(asked.stderr.contains(words), "{}", asked.stderr);
}

#[test]
fn the_system_sees_no_socket_of_a_frozen_rendering() {
    let stage = locked_site();
    let traced = Command::new("strace")
        .current_dir(stage.path())
        .args(["-f", "-qq", "-e", "trace=socket,connect", "-o", "trace"])
        .arg(env!("CARGO_BIN_EXE_metalmark"))
        .args(["render", "--frozen"])
        .output();
    match traced {
        Ok(traced) if traced.status.success() => {
            let calls = stage.read("trace");
            let sockets = calls
                .lines()
                .filter(|line| line.contains("socket(") || line.contains("connect("));
            assert_eq!(sockets.collect::<Vec<_>>(), Vec::<&str>::new());
        }
        // It is not there, or may not trace.
        _ => missing("strace"),
    }
}
