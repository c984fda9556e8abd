//! `metalmark registry ls|facts`, the real binary against the registry in this process.

use std::os::unix::fs::PermissionsExt;

use snapbox::str;

use super::super::support::registry::{INDEX, Lock, MANIFEST, Registry};
use super::super::support::stage::{Is, Stage, project};
use super::super::support::story::Story;

/// A project whose file lets that registry be asked.
fn site(registry: &Registry, more: &str) -> Stage {
    let host = registry.host();
    let text = format!("registries:\n  hosts:\n    \"{host}\": {{plain-http: true}}\n{more}");
    project().file("metalmark.yaml", text)
}

fn story<'a>(stage: &'a Stage, registry: &Registry) -> Story<'a> {
    Story::new(stage).name(registry.host(), "HOST")
}

#[test]
fn the_tags_of_a_repository_are_listed_without_those_of_signatures() {
    let registry = Registry::plain();
    for tag in ["0.4.12", "0.5.0", "sha256-00.sig"] {
        registry.image("group/one", tag, &[]);
    }
    let stage = site(&registry, "");
    let host = registry.host();
    let lists = [
        format!("oci://{host}/group/one"),
        format!("oci://{host}/group/one --output yaml"),
        format!("{host} --output json"),
    ];
    let lists = lists.map(|of| {
        let run = stage.run(&format!("registry ls {of}")).exit(0);
        run.outcome.stdout
    });
    lists.join("---\n").is(str![[r#"
0.4.12
0.5.0
---
- "0.4.12"
- "0.5.0"
---
[
  "group/one"
]

"#]]);
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
    registry.put("one", "both", INDEX, index.as_bytes());
    let stage = site(&registry, "");
    let host = registry.host();
    let texts = [
        format!("{host}/one:1"),
        format!("{host}/one:both --output json"),
    ];
    let texts = texts.map(|of| {
        let run = stage.run(&format!("registry facts {of}")).exit(0);
        run.outcome.stdout.replace(&host, "HOST")
    });
    texts.concat().is(str![[r#"
FACT         VALUE
reference    oci://HOST/one:1
digest       sha256:335c7f4a347a6d65ef9ef627f3a1194849a7cee86e6a6742b8574bad00bf1f1d
k8s-version  1.31.8+rke2r1
os           ubuntu
{
  "reference": "oci://HOST/one:both",
  "digest": "sha256:335c7f4a347a6d65ef9ef627f3a1194849a7cee86e6a6742b8574bad00bf1f1d",
  "index": "sha256:48275b4563b34968acddd825a0e3a4564201de68e3e2f6c22175095611f5e37f",
  "facts": {
    "k8s-version": "1.31.8+rke2r1",
    "os": "ubuntu"
  }
}

"#]]);
}

#[test]
fn what_cannot_be_had_is_reported_and_ends_with_status_2() {
    let registry = Registry::plain();
    registry.image("one", "1.31.8", &[]);
    let stage = site(&registry, "");
    let facts = format!("registry facts {}/one:1.31.9", registry.host());
    let run = stage.run(&facts).exit(2);
    let reported = run.outcome.stderr.replace(&registry.host(), "HOST");
    reported.is(str![[r#"
error: oci://HOST/one:1.31.9: `HOST` answered 404 (not found)
  help: check the names of the repository and the tag; some registries answer this to users without read permission

"#]]);
    let ls = stage.run_args(&["registry", "ls", "not a reference"]);
    let _ = ls.exit(2).screen(str![[r#"
error: `not a reference` is not an OCI reference: the registry must be followed by `/` and a repository

"#]]);
}

#[test]
fn with_a_misspelled_mirror_the_registry_is_never_queried() {
    let registry = Registry::plain();
    registry.image("one", "1", &[]);
    let more = format!("  mirrors: {{\"{}\": \"Not A Host\"}}\n", registry.host());
    let stage = site(&registry, &more);
    let mut story = story(&stage, &registry);
    let ls = format!("registry ls {}/one", registry.host());
    story.runs(&[&ls]).is(str![[r#"
$ registry ls HOST/one => 2
error: the project file cannot be relied on: `Not A Host` is not a registry, nor a prefix of repositories in one
help: `metalmark check` shows where

"#]]);
    assert_eq!(registry.count(), 0);
}

/// Docker's configuration is in the project's folder, and helpers in its `bin`.
#[test]
fn credential_helpers_are_queried() {
    let registry = Registry::plain();
    registry.image("one", "1", &[]);
    let (user, password) = ("bob".to_owned(), "hunter2".to_owned());
    registry.lock(Lock::Basic { user, password });
    let stage = site(&registry, "");
    let folder = stage.path().to_string_lossy().into_owned();
    let stage = stage
        .variable("DOCKER_CONFIG", &folder)
        .variable("PATH", &format!("{folder}/bin:/usr/bin:/bin"));
    let host = registry.host();
    let ls = format!("registry ls {host}/one");
    let configs = [
        format!(r#"{{"credHelpers": {{"{host}": "keeper"}}}}"#),
        format!(r#"{{"auths": {{"{host}": {{}}}}, "credsStore": "keeper"}}"#),
    ];
    let helpers = [
        r#"read server; echo "{\"ServerURL\":\"$server\",\"Username\":\"bob\",\"Secret\":\"hunter2\"}""#,
        "read server; echo credentials not found in native keychain; exit 1",
        "echo hunter2 is locked >&2; exit 3",
        "",
    ];
    let run = |config: &String, helper: &&str| {
        let program = "bin/docker-credential-keeper";
        stage.write(program, format!("#!/bin/sh\n{helper}\n"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(stage.path().join(program), mode).expect("set");
        let is_there = !helper.is_empty();
        let keeper = if is_there { "keeper" } else { "nobody" };
        stage.write("config.json", config.replace("keeper", keeper));
        let run = stage
            .run(&ls)
            .exit(if helper.contains("ServerURL") { 0 } else { 2 });
        let said = run.outcome.stdout + &run.outcome.stderr;
        assert!(!said.contains("hunter2"), "{said}");
        // The user's own file, which is elsewhere for each user, comes last.
        let lines = said
            .lines()
            .map(|line| line.split(", `/run/").next().unwrap_or(line));
        let said: String = lines.map(|line| format!("{line}\n")).collect();
        said.replace(&host, "HOST")
    };
    let [said, same] = configs.map(|config| {
        let said: Vec<String> = helpers.iter().map(|helper| run(&config, helper)).collect();
        said.join("---\n")
    });
    said.is(str![[r#"
1
---
error: oci://HOST/one: `HOST` answered 401 (authentication required) to a request for one without credentials
  help: log in with `docker login` or `podman login`: no credentials for `HOST` in `[FOLDER]/config.json` (nothing for `HOST`)
---
error: oci://HOST/one: `HOST` answered 401 (authentication required) to a request for one without credentials
  help: log in with `docker login` or `podman login`: no credentials for `HOST` in `[FOLDER]/config.json` (`docker-credential-keeper` ended with exit status: 3)
---
error: oci://HOST/one: `HOST` answered 401 (authentication required) to a request for one without credentials
  help: log in with `docker login` or `podman login`: no credentials for `HOST` in `[FOLDER]/config.json` (cannot run `docker-credential-nobody`: entity not found)

"#]]);
    assert_eq!(same, said);
}
