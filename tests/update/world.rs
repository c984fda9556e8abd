//! What a version offers, asked of the world: registries that list themselves, registries that do not, releases.

use snapbox::str;

use crate::support::registry::{Registry, Reply};
use crate::support::stage::{Is, Run, Stage, assert_text, project, table};

pub(super) const BEFORE: &[&str] = &[
    "ubuntu-noble-plain-rke2-1-31-8",
    "opensuse-15-6-plain-rke2-1-31-8",
];
const AFTER: &[&str] = &[
    "ubuntu-noble-plain-rke2-1-31-9",
    "opensuse-15-6-plain-rke2-1-31-8",
];

/// The values of a catalog of these images, in the builder's registry on a host.
pub(super) fn values(host: &str, version: &str, images: &[&str]) -> String {
    let entry = |name: &&str| format!("  {name}: {{os_images_oci_registry: own}}\n");
    let entries: String = images.iter().map(entry).collect();
    format!(
        "os_images_oci_registries: {{own: {{url: 'oci://{host}/sylva/builder', cosign_publickey: ''}}}}\n\
         sylva_diskimagebuilder_version: {version}\n\
         sylva_diskimagebuilder_images:\n{entries}"
    )
}

/// A project whose catalog lists these images of the registry at 0.4.12.
fn project_of(registry: &Registry, settings: &str, images: &[&str]) -> Stage {
    let host = registry.host();
    let hosts = format!(
        "values: [values.yaml]\nregistries: {{hosts: {{\"{host}\": {{plain-http: true}}}}}}\n"
    );
    project()
        .cluster("edge", "cluster: {name: edge}\n")
        .settings(&(hosts + settings))
        .file("values.yaml", values(&host, "0.4.12", images))
}

/// Images of two versions, beside what is no image of this builder.
pub(super) fn filled() -> Registry {
    let registry = Registry::plain();
    for (name, tags) in [
        (
            "sylva/builder/ubuntu-noble-plain-rke2-1-31-8",
            &["0.4.11", "0.4.12"][..],
        ),
        ("sylva/builder/ubuntu-noble-plain-rke2-1-31-9", &["0.4.13"]),
        (
            "sylva/builder/opensuse-15-6-plain-rke2-1-31-8",
            &["0.4.12", "0.4.13"],
        ),
        ("sylva/builder/cache", &["0.4.13"]),
        (
            "sylva/builder/snapshots/ubuntu-noble-plain-rke2-1-33-1",
            &["0.4.13"],
        ),
        ("other/ubuntu-noble-plain-rke2-1-33-1", &["0.4.13"]),
    ] {
        for tag in tags {
            registry.image(name, tag, &[]);
        }
    }
    registry
}

/// What a run says, the registry's host named `HOST`.
fn said(run: &Run, registry: &Registry) -> String {
    // Where credentials are looked for depends on the user.
    let lines = run
        .outcome
        .stderr
        .lines()
        .filter(|line| !line.contains("log in with"));
    let lines = lines.map(|line| line.replace(&registry.host(), "HOST") + "\n");
    lines.collect()
}

/// That an update to 0.4.13 leaves these images in the catalog.
#[track_caller]
fn assert_raised(stage: &Stage, registry: &Registry, words: &str, images: &[&str]) -> Run {
    let run = stage.run(&format!("update 0.4.13 {words}"));
    assert_ne!(run.outcome.status, 2, "{}", run.outcome.stderr);
    assert_eq!(
        stage.read("values.yaml"),
        values(&registry.host(), "0.4.13", images)
    );
    run
}

/// That an update fails and says this, and nothing is written.
#[track_caller]
fn assert_refused(
    stage: &Stage,
    registry: &Registry,
    words: &str,
    expected: impl Into<snapbox::Data>,
) {
    let before = stage.texts();
    let run = stage.run(&format!("update {words}")).exit(2);
    assert_text(&said(&run, registry), expected);
    assert_eq!(stage.texts(), before);
}

#[test]
fn a_registry_that_lists_itself_is_queried_page_by_page() {
    let registry = filled();
    registry.page(2);
    let stage = project_of(&registry, "", BEFORE);
    let run = assert_raised(&stage, &registry, "", AFTER);
    // No node pool changes, and the catalog's changes are reported all the same.
    said(&run, &registry).is(str![[r#"
1 repository left out, because its name is not read as an image's: `cache`
OS images: 0.4.12 → 0.4.13
No machine is re-provisioned.

Changed

- ubuntu-noble-plain-rke2-1-31-8 → ubuntu-noble-plain-rke2-1-31-9
changed values.yaml

"#]]);
    let asked: Vec<String> = registry
        .seen()
        .into_iter()
        .map(|request| request.path)
        .collect();
    let count = |part: &str| asked.iter().filter(|path| path.contains(part)).count();
    assert_eq!(
        (count("_catalog"), count("/tags/list")),
        (3, 3),
        "{asked:?}"
    );
    // The requested version does not exist: the newest ones are reported.
    assert_refused(
        &stage,
        &registry,
        "0.9.0",
        str![[r#"
error: `oci://HOST/sylva/builder` has no image of version `0.9.0`
help: there are images of 0.4.11, 0.4.12, 0.4.13
      1 repository left out, because its name is not read as an image's: `cache`

"#]],
    );
}

#[test]
fn a_registry_without_a_list_leads_to_the_other_ways() {
    let statuses = table([404, 401], |status| {
        let (registry, status) = (filled(), *status);
        registry.hook(move |request, _| {
            let is_list = request.path.starts_with("/v2/_catalog");
            is_list.then(|| Reply::new(status, "{}"))
        });
        let stage = project_of(&registry, "", BEFORE);
        let run = stage.run("update 0.4.13").exit(2);
        assert_eq!(
            stage.read("values.yaml"),
            values(&registry.host(), "0.4.12", BEFORE)
        );
        said(&run, &registry).lines().map(str::to_owned).collect()
    });
    statuses.is(str![[r#"
404
    error: oci://HOST: `HOST` offers no list of its repositories
      help: say what the version offers: `--releases URL`, `--release-notes FILE` or `--images FILE`
401
    error: oci://HOST: `HOST` answered 401 to a request for its list of repositories without credentials
      help: say what the version offers: `--releases URL`, `--release-notes FILE` or `--images FILE`

"#]]);
}

#[test]
fn an_image_whose_tags_are_not_listed_is_not_removed() {
    let refusals = table([404, 403], |status| {
        let (registry, status) = (filled(), *status);
        registry.hook(move |request, _| {
            let is_list = request
                .path
                .starts_with("/v2/sylva/builder/opensuse-15-6-plain-rke2-1-31-8/tags/list");
            is_list.then(|| Reply::new(status, "{}"))
        });
        let stage = project_of(&registry, "", BEFORE);
        let before = stage.texts();
        let run = stage.run("update 0.4.13").exit(2);
        assert_eq!(stage.texts(), before);
        said(&run, &registry).lines().map(str::to_owned).collect()
    });
    refusals.is(str![[r#"
404
    error: oci://HOST/sylva/builder/opensuse-15-6-plain-rke2-1-31-8: `HOST` answered 404 (not found)
      help: say what the version offers: `--releases URL`, `--release-notes FILE` or `--images FILE`
403
    error: oci://HOST/sylva/builder/opensuse-15-6-plain-rke2-1-31-8: `HOST` answered 403 to a request for sylva/builder/opensuse-15-6-plain-rke2-1-31-8 without credentials
      help: say what the version offers: `--releases URL`, `--release-notes FILE` or `--images FILE`

"#]]);
}

/// A replica may lack it, and a user may not see it.
#[test]
fn an_image_that_a_registry_does_not_show_is_not_removed() {
    let registry = filled();
    let listed = [BEFORE, &["ubuntu-noble-hardened-rke2-1-30-1"]].concat();
    let stage = project_of(&registry, "", &listed);
    let refused = || {
        assert_refused(
            &stage,
            &registry,
            "0.4.13",
            str![[r#"
error: the registries do not show `ubuntu-noble-hardened-rke2-1-30-1:0.4.13`, which is no proof that the image is gone, so the catalog keeps it
help: say what the version offers: `--releases URL`, `--release-notes FILE` or `--images FILE`

"#]],
        );
    };
    // `_catalog` has no such repository.
    refused();
    // Its tags do not have the version.
    registry.image(
        "sylva/builder/ubuntu-noble-hardened-rke2-1-30-1",
        "0.4.12",
        &[],
    );
    refused();
    // Who writes a list says that it is gone.
    stage.write("names.txt", AFTER.join("\n"));
    assert_raised(&stage, &registry, "--images names.txt", AFTER);
}

#[test]
fn an_emptied_repository_that_the_catalog_does_not_name_is_passed_over() {
    let registry = filled();
    registry.image("sylva/builder/ubuntu-noble-plain-rke2-1-30-1", "0.4.1", &[]);
    registry.hook(|request, _| {
        let is_list = request
            .path
            .starts_with("/v2/sylva/builder/ubuntu-noble-plain-rke2-1-30-1/tags/list");
        is_list.then(|| Reply::new(404, "{}"))
    });
    assert_raised(&project_of(&registry, "", BEFORE), &registry, "", AFTER);
}

#[test]
fn a_catalog_without_a_registry_leads_to_the_other_ways() {
    let registry = filled();
    let stage = project_of(&registry, "", BEFORE);
    stage.edit("values.yaml", "oci://", "https://");
    assert_refused(
        &stage,
        &registry,
        "0.4.13",
        str![[r#"
error: the catalog names no registry that can be queried
help: say what the version offers: `--releases URL`, `--release-notes FILE` or `--images FILE`

"#]],
    );
    assert_eq!(registry.count(), 0);
}

#[test]
fn a_mirror_is_queried_instead_of_its_registry() {
    let registry = filled();
    let host = registry.host();
    let stage = project_of(&registry, "", BEFORE);
    stage.edit(
        "metalmark.yaml",
        "true}}}",
        &format!("true}}}}, mirrors: {{registry.invalid/sylva: \"{host}/sylva\"}}}}"),
    );
    stage.write("values.yaml", values("registry.invalid", "0.4.12", BEFORE));
    let run = stage.run("update 0.4.13");
    assert_ne!(run.outcome.status, 2, "{}", run.outcome.stderr);
    assert_eq!(
        stage.read("values.yaml"),
        values("registry.invalid", "0.4.13", AFTER)
    );
}

/// The description of a release, in a forge's form.
fn release(registry: &Registry, path: &'static str, key: &str) {
    let line = |name: &&str| format!("* oci://registry.example.org/sylva/builder/{name}:0.4.13");
    let lines: Vec<String> = AFTER.iter().map(line).collect();
    let body = serde_json::json!({"tag_name": "0.4.13", key: lines.join("\n")}).to_string();
    registry.hook(move |request, _| {
        Some(if request.path == path {
            Reply::new(200, body.clone())
        } else {
            Reply::new(404, r#"{"message": "404 Not Found"}"#)
        })
    });
}

#[test]
fn a_release_of_either_forge_is_read_without_credentials() {
    let registry = Registry::plain();
    let address = format!("http://{}", registry.host());
    release(
        &registry,
        "/api/v4/projects/7/releases/0.4.13",
        "description",
    );
    let settings =
        format!("update: {{releases: '{address}/api/v4/projects/7/releases/VERSION'}}\n");
    assert_raised(
        &project_of(&registry, &settings, BEFORE),
        &registry,
        "",
        AFTER,
    );
    release(&registry, "/repos/o/n/releases/tags/0.4.13", "body");
    let words = format!("--releases {address}/repos/o/n/releases/tags/VERSION");
    assert_raised(
        &project_of(&registry, &settings, BEFORE),
        &registry,
        &words,
        AFTER,
    );
    let seen = registry.seen();
    assert_eq!(seen.len(), 2);
    assert!(
        seen.iter()
            .all(|request| request.header("authorization").is_none())
    );
}

#[test]
fn a_release_that_is_not_there_changes_nothing() {
    let registry = Registry::plain();
    release(&registry, "/releases/0.4.13", "description");
    let stage = project_of(&registry, "", BEFORE);
    let address = format!(
        "http://{}/releases/VERSION?private_token=hunter2",
        registry.host()
    );
    assert_refused(
        &stage,
        &registry,
        &format!("0.5.0 --releases {address}"),
        str![[r#"
error: http://HOST/releases/0.5.0: `HOST` answered 404 (not found)
  help: check the version `0.5.0` and the address; a project that is not public answers the same; with several builders, the project file has an address for each: `update: {releases: {REGISTRY: URL}}`
  help: say what the version offers: `--releases URL`, `--release-notes FILE` or `--images FILE`

"#]],
    );
    assert_refused(
        &stage,
        &registry,
        "0.5.0 --releases https://r.example/releases",
        str![[r#"
error: the address of a release is to hold the word VERSION in the version's place
help: `https://gitlab.com/api/v4/projects/ID/releases/VERSION`

"#]],
    );
}

#[test]
fn with_an_invalid_project_file_nothing_is_queried() {
    let registry = filled();
    let stage = project_of(
        &registry,
        "update: {releases: 'https://r.example/releases'}\n",
        BEFORE,
    );
    assert_refused(
        &stage,
        &registry,
        "0.4.13",
        str![[r#"
error: the project file cannot be relied on: `releases` is not an address of a release with `VERSION` in its version's place
help: `metalmark check` shows where

"#]],
    );
    let stage = project_of(
        &registry,
        "update: {releases: {kiwi: 'oci://r.example/VERSION'}}\n",
        BEFORE,
    );
    assert_refused(
        &stage,
        &registry,
        "0.4.13",
        str![[r#"
error: the project file cannot be relied on: `releases.kiwi` is not an address of a release with `VERSION` in its version's place
help: `metalmark check` shows where

"#]],
    );
    assert_eq!(registry.count(), 0);
}

/// An image of the user's own says nothing about the builder's registry.
#[test]
fn a_repository_named_like_an_image_of_the_user_is_left_out() {
    let registry = filled();
    let own = "os_images: {cache: {uri: 'https://images.example.org/cache.raw'}}\n";
    let of = |version: &str, images: &[&str]| {
        own.to_owned() + &values(&registry.host(), version, images)
    };
    let stage = project_of(&registry, "", BEFORE).file("values.yaml", of("0.4.12", BEFORE));
    let _ = stage.run("update 0.4.13");
    assert_eq!(stage.read("values.yaml"), of("0.4.13", AFTER));
}

/// What the builder's list names is the builder's, whatever its name says.
#[test]
fn an_image_whose_name_says_nothing_is_kept() {
    let registry = filled();
    registry.image("sylva/builder/custom", "0.4.13", &[]);
    let stage = project_of(&registry, "", &[BEFORE[0], BEFORE[1], "custom"]);
    assert_raised(&stage, &registry, "", &[AFTER[0], AFTER[1], "custom"]);
}

/// Successors are found for images of any system, and what is left out is counted.
#[test]
fn an_image_of_any_system_is_kept() {
    let systems = ["sles-15-6", "rhel-9-4", "rocky-9", "sle-micro-6-0"];
    let [before, after] =
        [8, 9].map(|patch| systems.map(|system| format!("{system}-hardened-rke2-1-31-{patch}")));
    let [before, after] = [&before, &after].map(|names| names.each_ref().map(String::as_str));
    let registry = Registry::plain();
    for name in after.iter().chain(&["ubuntu2404-plain-kubeadm-1.28.1"]) {
        registry.image(&format!("sylva/builder/{name}"), "0.4.13", &[]);
    }
    let run = assert_raised(&project_of(&registry, "", &before), &registry, "", &after);
    said(&run, &registry).is(str![[r#"
1 repository left out, because its name is not read as an image's: `ubuntu2404-plain-kubeadm-1.28.1`
OS images: 0.4.12 → 0.4.13
No machine is re-provisioned.

Changed

- sles-15-6-hardened-rke2-1-31-8 → sles-15-6-hardened-rke2-1-31-9
- rhel-9-4-hardened-rke2-1-31-8 → rhel-9-4-hardened-rke2-1-31-9
- rocky-9-hardened-rke2-1-31-8 → rocky-9-hardened-rke2-1-31-9
- sle-micro-6-0-hardened-rke2-1-31-8 → sle-micro-6-0-hardened-rke2-1-31-9
changed values.yaml

"#]]);
}
