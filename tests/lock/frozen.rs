//! `--frozen`: the lock holds everything, and nothing else is asked.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use crate::programs::missing;

use super::{JAMMY, NOBLE, Project};

#[test]
fn what_is_not_locked_is_an_error_that_lists_the_keys() {
    let project = Project::new();
    assert_eq!(project.run("check").stdout.matches("lock-").count(), 0);
    let frozen = project.run("check --frozen");
    assert_eq!(frozen.status, 1);
    let reported = format!(
        "error[lock-missing-image]: there is no lock, and so none of 2 images: `{JAMMY}`, `{NOBLE}`"
    );
    assert!(frozen.stdout.contains(&reported), "{}", frozen.stdout);
    project.registry(&[NOBLE], "0.4.12", "a");
    assert_eq!(project.run("lock").status, 1);
    // One that nobody uses is a warning; frozen, it is an error.
    let loose = project.run("check");
    assert!(
        loose
            .stdout
            .contains("warning[lock-missing-image]: the lock does not hold image `ubuntu-jammy"),
        "{}",
        loose.stdout
    );
    assert_eq!(loose.status, 0, "{}", loose.stdout);
    assert_eq!(project.run("check --frozen").status, 1);
    let covers = project.run("lock --check");
    assert_eq!(covers.status, 1, "{}", covers.stdout);
    assert_eq!(project.run("render --frozen").status, 1);
    // Facts from another file do not excuse it.
    let info =
        format!("os_images:\n  {JAMMY}: {{image-format: raw, k8s-version: 1.31.8+rke2r1}}\n");
    project.write("info.yaml", &info);
    let file = project.read("metalmark.yaml") + "images: {facts: [info.yaml]}\n";
    project.write("metalmark.yaml", &file);
    assert_eq!(project.run("check --frozen").status, 1);
}

#[test]
fn a_lock_that_the_project_names_and_nobody_wrote_is_empty() {
    let project = Project::new();
    let file = project.read("metalmark.yaml") + "images: {facts: [locks/images.lock]}\n";
    project.write("metalmark.yaml", &file);
    assert!(
        project
            .run("check")
            .stdout
            .contains("error[lock-missing-image]")
    );
    project.registry(&[NOBLE, JAMMY], "0.4.12", "a");
    fs::create_dir_all(project.path().join("locks")).expect("created");
    assert_eq!(project.run("lock").status, 0);
    assert!(project.read("locks/images.lock").contains(NOBLE));
    assert_eq!(project.run("check --frozen").status, 0);
}

#[test]
fn frozen_rendering_opens_no_connection() {
    let project = Project::new();
    project.registry(&[NOBLE, JAMMY], "0.4.12", "a");
    assert_eq!(project.run("lock").status, 0);
    fs::remove_dir_all(project.path().join("registry")).expect("removed");
    // No mirror, so that whoever asked would have to go through the proxy.
    let file = project.read("metalmark.yaml");
    let file: Vec<&str> = file
        .lines()
        .filter(|line| !line.starts_with("registries"))
        .collect();
    project.write("metalmark.yaml", &file.join("\n"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("set");
    let proxy = format!("http://{}", listener.local_addr().expect("bound"));
    for arguments in [
        ["render", "--frozen"],
        ["check", "--frozen"],
        ["lock", "--check"],
    ] {
        let run = Command::new(env!("CARGO_BIN_EXE_metalmark"))
            .current_dir(project.path())
            .args(arguments)
            .env("HTTPS_PROXY", &proxy)
            .env("HTTP_PROXY", &proxy)
            .env("ALL_PROXY", &proxy)
            .output()
            .expect("it starts");
        assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stderr)
        );
    }
    let connection = listener.accept();
    assert!(connection.is_err(), "somebody connected: {connection:?}");
}

#[test]
fn the_system_sees_no_socket_of_a_frozen_rendering() {
    let project = Project::new();
    project.registry(&[NOBLE, JAMMY], "0.4.12", "a");
    assert_eq!(project.run("lock").status, 0);
    let traced = Command::new("strace")
        .current_dir(project.path())
        .args(["-f", "-qq", "-e", "trace=socket,connect", "-o", "trace"])
        .arg(env!("CARGO_BIN_EXE_metalmark"))
        .args(["render", "--frozen"])
        .output();
    match traced {
        Ok(traced) if traced.status.success() => {
            let calls = project.read("trace");
            let sockets = calls
                .lines()
                .filter(|line| line.contains("socket(") || line.contains("connect("));
            assert_eq!(sockets.collect::<Vec<_>>(), Vec::<&str>::new());
        }
        // It is not there, or may not trace.
        _ => missing("strace"),
    }
}
