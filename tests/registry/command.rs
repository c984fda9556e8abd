//! `metalmark registry ls|facts`, the real binary against the registry in this process.

use std::fs;

use super::super::support::registry::{MANIFEST, Registry};
use super::super::support::{Metalmark, Outcome};

/// A folder whose project file lets that registry be asked.
fn project(registry: &Registry, more: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let host = registry.host();
    let text = format!("registries:\n  hosts:\n    \"{host}\": {{plain-http: true}}\n{more}");
    fs::write(folder.path().join("metalmark.yaml"), text).expect("written");
    folder
}

fn run<'a>(folder: &tempfile::TempDir, args: impl IntoIterator<Item = &'a str>) -> Outcome {
    Metalmark::within(folder.path()).args(args).run()
}

#[test]
fn the_tags_of_a_repository_are_listed_without_those_of_signatures() {
    let registry = Registry::plain();
    for tag in ["0.4.12", "0.5.0", "sha256-00.sig"] {
        registry.image("group/one", tag, &[]);
    }
    let folder = project(&registry, "");
    let of = format!("oci://{}/group/one", registry.host());
    let outcome = run(&folder, ["registry", "ls", &of]);
    assert_eq!(
        (outcome.status, outcome.stdout.as_str()),
        (0, "0.4.12\n0.5.0\n"),
        "{}",
        outcome.stderr
    );
    let outcome = run(&folder, ["registry", "ls", &of, "--output", "yaml"]);
    assert_eq!(outcome.stdout, "- \"0.4.12\"\n- \"0.5.0\"\n");
    let outcome = run(
        &folder,
        ["registry", "ls", &registry.host(), "--output", "json"],
    );
    assert_eq!(outcome.stdout, "[\n  \"group/one\"\n]\n");
}

#[test]
fn the_facts_of_an_image_are_printed() {
    let registry = Registry::plain();
    let facts = [
        ("sylvaproject.org/diskimage/os", "ubuntu"),
        ("sylvaproject.org/diskimage/k8s-version", "1.31.8+rke2r1"),
    ];
    let digest = registry.image("one", "1", &facts);
    let index = format!(
        r#"{{"schemaVersion":2,"manifests":[{{"mediaType":"{MANIFEST}","digest":"{digest}","size":1,"platform":{{"architecture":"amd64","os":"linux"}}}}]}}"#
    );
    registry.put(
        "one",
        "both",
        super::super::support::registry::INDEX,
        index.as_bytes(),
    );
    let folder = project(&registry, "");
    let of = format!("{}/one:1", registry.host());
    let outcome = run(&folder, ["registry", "facts", &of]);
    let expected = format!(
        "FACT         VALUE\nreference    oci://{of}\ndigest       {digest}\nk8s-version  1.31.8+rke2r1\nos           ubuntu\n"
    );
    assert_eq!(
        (outcome.status, outcome.stdout),
        (0, expected),
        "{}",
        outcome.stderr
    );
    let outcome = run(
        &folder,
        [
            "registry",
            "facts",
            &of.replace(":1", ":both")
                .replace("127.0.0:both", "127.0.0.1"),
            "--output",
            "json",
        ],
    );
    let read: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
    assert_eq!(
        read["facts"]["os"], "ubuntu",
        "{}{}",
        outcome.stdout, outcome.stderr
    );
    assert!(read["index"].is_string());
}

#[test]
fn what_cannot_be_had_is_reported_and_ends_with_status_2() {
    let registry = Registry::plain();
    registry.image("one", "1.31.8", &[]);
    let folder = project(&registry, "");
    let outcome = run(
        &folder,
        [
            "registry",
            "facts",
            &format!("{}/one:1.31.9", registry.host()),
        ],
    );
    assert_eq!(outcome.status, 2);
    assert!(
        outcome
            .stderr
            .contains("check the names of the repository and the tag"),
        "{}",
        outcome.stderr
    );
    let outcome = run(&folder, ["registry", "ls", "not a reference"]);
    assert_eq!(outcome.status, 2);
}

#[test]
fn with_a_misspelled_mirror_the_registry_is_never_queried() {
    let registry = Registry::plain();
    registry.image("one", "1", &[]);
    let more = format!("  mirrors: {{\"{}\": \"Not A Host\"}}\n", registry.host());
    let folder = project(&registry, &more);
    let outcome = run(
        &folder,
        ["registry", "ls", &format!("{}/one", registry.host())],
    );
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.stderr.contains("`Not A Host` is no registry"),
        "{}",
        outcome.stderr
    );
    assert_eq!(registry.count(), 0);
}

/// Runs with docker's configuration from that folder, and helpers from its `bin`.
#[cfg(unix)]
fn with_docker(folder: &tempfile::TempDir, config: &str, helper: &str, of: &str) -> (i32, String) {
    use std::os::unix::fs::PermissionsExt;
    let bin = folder.path().join("bin");
    fs::create_dir_all(&bin).expect("created");
    let program = bin.join("docker-credential-keeper");
    fs::write(&program, format!("#!/bin/sh\n{helper}\n")).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("set");
    fs::write(folder.path().join("config.json"), config).expect("written");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_metalmark"))
        .current_dir(folder.path())
        .args(["registry", "ls", of])
        .env_clear()
        .env("DOCKER_CONFIG", folder.path())
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .output()
        .expect("the binary starts");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).expect("UTF-8");
    (output.status.code().expect("not killed"), text)
}

#[cfg(unix)]
#[test]
fn credential_helpers_are_queried() {
    use super::super::support::registry::Lock;
    let registry = Registry::plain();
    registry.image("one", "1", &[]);
    let (user, password) = ("bob".to_owned(), "hunter2".to_owned());
    registry.lock(Lock::Basic { user, password });
    let folder = project(&registry, "");
    let (host, of) = (registry.host(), format!("{}/one", registry.host()));
    let answers = r#"read server; echo "{\"ServerURL\":\"$server\",\"Username\":\"bob\",\"Secret\":\"hunter2\"}""#;
    let configs = [
        format!(r#"{{"credHelpers": {{"{host}": "keeper"}}}}"#),
        format!(r#"{{"auths": {{"{host}": {{}}}}, "credsStore": "keeper"}}"#),
    ];
    for config in &configs {
        let (status, text) = with_docker(&folder, config, answers, &of);
        assert_eq!((status, text.as_str()), (0, "1\n"));
        let knows_nothing = "read server; echo credentials not found in native keychain; exit 1";
        let (status, text) = with_docker(&folder, config, knows_nothing, &of);
        assert!(status == 2 && text.contains("(nothing for"), "{text}");
        let fails = "echo hunter2 is locked >&2; exit 3";
        let (status, text) = with_docker(&folder, config, fails, &of);
        assert!(
            status == 2 && text.contains("`docker-credential-keeper` ended with exit status: 3"),
            "{text}"
        );
        assert!(!text.contains("hunter2"), "{text}");
    }
    let other = configs[0].replace("keeper", "nobody");
    let (status, text) = with_docker(&folder, &other, answers, &of);
    assert!(
        status == 2 && text.contains("cannot run `docker-credential-nobody`"),
        "{text}"
    );
}
