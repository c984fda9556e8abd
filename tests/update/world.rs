//! What a version offers, asked of the world: registries that list themselves, registries that do not, releases.

use std::fs;

use tempfile::TempDir;

use crate::support::registry::{Registry, Reply};
use crate::support::{Metalmark, Outcome};

const IMAGES: [&str; 2] = [
    "ubuntu-noble-plain-rke2-1-31-8",
    "opensuse-15-6-plain-rke2-1-31-8",
];

/// A project whose catalog is that registry's, below `sylva/builder`.
fn project(registry: &Registry, more: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let host = registry.host();
    let project = format!(
        "version: 1\nvalues: [values.yaml]\nclusters: [{{name: edge, values: [edge.yaml]}}]\n\
         registries: {{hosts: {{\"{host}\": {{plain-http: true}}}}}}\n{more}"
    );
    fs::write(folder.path().join("metalmark.yaml"), project).expect("written");
    fs::write(folder.path().join("edge.yaml"), "cluster: {name: edge}\n").expect("written");
    fs::write(
        folder.path().join("values.yaml"),
        values(&host, "0.4.12", &IMAGES),
    )
    .expect("written");
    folder
}

fn values(host: &str, version: &str, images: &[&str]) -> String {
    let entry = |name: &&str| format!("  {name}: {{os_images_oci_registry: own}}\n");
    let entries: String = images.iter().map(entry).collect();
    format!(
        "os_images_oci_registries: {{own: {{url: 'oci://{host}/sylva/builder', cosign_publickey: ''}}}}\n\
         sylva_diskimagebuilder_version: {version}\n\
         sylva_diskimagebuilder_images:\n{entries}"
    )
}

fn update(folder: &TempDir, arguments: &[&str]) -> Outcome {
    let all = ["update"].into_iter().chain(arguments.iter().copied());
    Metalmark::within(folder.path()).args(all).run()
}

fn read(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("values.yaml")).expect("values")
}

/// Images of two versions, beside what is no image of this builder.
fn filled() -> Registry {
    let registry = Registry::plain();
    let both = |name: &str, tags: &[&str]| {
        for tag in tags {
            registry.image(&format!("sylva/builder/{name}"), tag, &[]);
        }
    };
    both("ubuntu-noble-plain-rke2-1-31-8", &["0.4.11", "0.4.12"]);
    both("ubuntu-noble-plain-rke2-1-31-9", &["0.4.13"]);
    both("opensuse-15-6-plain-rke2-1-31-8", &["0.4.12", "0.4.13"]);
    both("cache", &["0.4.13"]);
    both("snapshots/ubuntu-noble-plain-rke2-1-33-1", &["0.4.13"]);
    registry.image("other/ubuntu-noble-plain-rke2-1-33-1", "0.4.13", &[]);
    registry
}

const AFTER: [&str; 2] = [
    "ubuntu-noble-plain-rke2-1-31-9",
    "opensuse-15-6-plain-rke2-1-31-8",
];

#[test]
fn a_registry_that_lists_itself_is_queried_page_by_page() {
    let registry = filled();
    registry.page(2);
    let folder = project(&registry, "");
    let outcome = update(&folder, &["0.4.13"]);
    assert_ne!(outcome.status, 2, "{}", outcome.stderr);
    assert_eq!(read(&folder), values(&registry.host(), "0.4.13", &AFTER));
    // No node pool changes, and the catalog's changes are reported all the same.
    let reported = "OS images: 0.4.12 → 0.4.13\n";
    assert!(outcome.stderr.contains(reported), "{}", outcome.stderr);
    let asked: Vec<String> = registry
        .seen()
        .into_iter()
        .map(|request| request.path)
        .collect();
    assert_eq!(
        asked
            .iter()
            .filter(|path| path.contains("_catalog"))
            .count(),
        3,
        "{asked:?}"
    );
    let lists = asked.iter().filter(|path| path.contains("/tags/list"));
    assert_eq!(lists.count(), 3, "{asked:?}");
    // The requested version does not exist: the newest ones are reported, and nothing is written.
    let before = read(&folder);
    let outcome = update(&folder, &["0.9.0"]);
    let expected = format!(
        "error: `oci://{}/sylva/builder` has no image of version `0.9.0`\nhelp: there are images of 0.4.11, 0.4.12, 0.4.13\n      \
         1 repository left out, because its name is not read as an image's: `cache`\n",
        registry.host()
    );
    assert_eq!((outcome.status, outcome.stderr), (2, expected));
    assert_eq!(read(&folder), before);
}

#[test]
fn a_registry_without_a_list_leads_to_the_other_ways() {
    for status in [404, 401] {
        let registry = filled();
        registry.hook(move |request, _| {
            let is_list = request.path.starts_with("/v2/_catalog");
            is_list.then(|| Reply::new(status, "{}"))
        });
        let folder = project(&registry, "");
        let outcome = update(&folder, &["0.4.13"]);
        assert_eq!(outcome.status, 2, "{}", outcome.stderr);
        assert!(
            outcome.stderr.ends_with(
                "help: say what the version offers: `--releases URL`, `--release-notes FILE` or `--images FILE`\n"
            ),
            "{}",
            outcome.stderr
        );
        assert_eq!(read(&folder), values(&registry.host(), "0.4.12", &IMAGES));
    }
}

#[test]
fn an_emptied_repository_has_no_image_and_any_other_failure_stops_the_update() {
    for (status, after) in [(404, Some(&AFTER[..1])), (403, None)] {
        let registry = filled();
        registry.hook(move |request, _| {
            let is_list = request
                .path
                .starts_with("/v2/sylva/builder/opensuse-15-6-plain-rke2-1-31-8/tags/list");
            is_list.then(|| Reply::new(status, "{}"))
        });
        let folder = project(&registry, "");
        let outcome = update(&folder, &["0.4.13"]);
        assert_eq!(outcome.status == 2, after.is_none(), "{}", outcome.stderr);
        let (version, images) = after.map_or(("0.4.12", &IMAGES[..]), |left| ("0.4.13", left));
        assert_eq!(read(&folder), values(&registry.host(), version, images));
    }
}

#[test]
fn a_catalog_without_a_registry_leads_to_the_other_ways() {
    let registry = filled();
    let folder = project(&registry, "");
    let web = read(&folder).replace("oci://", "https://");
    fs::write(folder.path().join("values.yaml"), &web).expect("written");
    let outcome = update(&folder, &["0.4.13"]);
    let expected = "error: the catalog names no registry that can be queried\n\
                    help: say what the version offers: `--releases URL`, `--release-notes FILE` or `--images FILE`\n";
    assert_eq!((outcome.status, &*outcome.stderr), (2, expected));
    assert_eq!((read(&folder), registry.count()), (web, 0));
}

#[test]
fn a_mirror_is_queried_instead_of_its_registry() {
    let registry = filled();
    let host = registry.host();
    let folder = project(&registry, "");
    let project = format!(
        "version: 1\nvalues: [values.yaml]\nclusters: [{{name: edge, values: [edge.yaml]}}]\n\
         registries: {{hosts: {{\"{host}\": {{plain-http: true}}}}, mirrors: {{registry.invalid/sylva: \"{host}/sylva\"}}}}\n"
    );
    fs::write(folder.path().join("metalmark.yaml"), project).expect("written");
    let of = |version: &str, images: &[&str]| values("registry.invalid", version, images);
    fs::write(folder.path().join("values.yaml"), of("0.4.12", &IMAGES)).expect("written");
    let outcome = update(&folder, &["0.4.13"]);
    assert_ne!(outcome.status, 2, "{}", outcome.stderr);
    assert_eq!(read(&folder), of("0.4.13", &AFTER));
}

/// The description of a release, in a forge's form.
fn release(registry: &Registry, path: &'static str, key: &str) {
    let lines: Vec<String> = AFTER
        .iter()
        .map(|name| format!("* oci://registry.example.org/sylva/builder/{name}:0.4.13"))
        .collect();
    let body = serde_json::json!({"tag_name": "0.4.13", key: lines.join("\n")}).to_string();
    registry.hook(move |request, _| {
        let found = request.path == path;
        Some(if found {
            Reply::new(200, body.clone())
        } else {
            Reply::new(404, r#"{"message": "404 Not Found"}"#)
        })
    });
}

#[test]
fn a_release_of_either_forge_is_read_without_credentials() {
    let registry = Registry::plain();
    let host = registry.host();
    release(
        &registry,
        "/api/v4/projects/7/releases/0.4.13",
        "description",
    );
    let named =
        format!("update: {{releases: 'http://{host}/api/v4/projects/7/releases/VERSION'}}\n");
    let folder = project(&registry, &named);
    let outcome = update(&folder, &["0.4.13"]);
    assert_ne!(outcome.status, 2, "{}", outcome.stderr);
    assert_eq!(read(&folder), values(&host, "0.4.13", &AFTER));
    release(&registry, "/repos/o/n/releases/tags/0.4.13", "body");
    let folder = project(&registry, &named);
    let address = format!("http://{host}/repos/o/n/releases/tags/VERSION");
    let outcome = update(&folder, &["0.4.13", "--releases", &address]);
    assert_ne!(outcome.status, 2, "{}", outcome.stderr);
    assert_eq!(read(&folder), values(&host, "0.4.13", &AFTER));
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
    let host = registry.host();
    release(&registry, "/releases/0.4.13", "description");
    let folder = project(&registry, "");
    let address = format!("http://{host}/releases/VERSION?private_token=hunter2");
    let outcome = update(&folder, &["0.5.0", "--releases", &address]);
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.stderr.starts_with(&format!(
            "error: http://{host}/releases/0.5.0: `{host}` answered 404 (not found)\n  help: check the version `0.5.0`"
        )),
        "{}",
        outcome.stderr
    );
    assert!(!outcome.stderr.contains("hunter2"), "{}", outcome.stderr);
    assert_eq!(read(&folder), values(&host, "0.4.12", &IMAGES));
    let outcome = update(
        &folder,
        &["0.5.0", "--releases", "https://r.example/releases"],
    );
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.stderr.contains("the word VERSION"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn with_an_invalid_project_file_nothing_is_queried() {
    let registry = filled();
    let folder = project(
        &registry,
        "update: {releases: 'https://r.example/releases'}\n",
    );
    let outcome = update(&folder, &["0.4.13"]);
    assert_eq!(outcome.status, 2);
    assert!(
        outcome
            .stderr
            .starts_with("error: the project file cannot be relied on: `releases` is no address"),
        "{}",
        outcome.stderr
    );
    assert_eq!(registry.count(), 0);
}

/// An image of the user's own says nothing about the builder's registry.
#[test]
fn a_repository_named_like_an_image_of_the_user_is_left_out() {
    let registry = filled();
    let folder = project(&registry, "");
    let own = "os_images: {cache: {uri: 'https://images.example.org/cache.raw'}}\n";
    let of = |version: &str, images: &[&str]| {
        format!("{own}{}", values(&registry.host(), version, images))
    };
    fs::write(folder.path().join("values.yaml"), of("0.4.12", &IMAGES)).expect("written");
    let outcome = update(&folder, &["0.4.13"]);
    assert_eq!(read(&folder), of("0.4.13", &AFTER), "{}", outcome.stderr);
}

/// What the builder's list names is the builder's, whatever its name says.
#[test]
fn an_image_whose_name_says_nothing_is_kept() {
    let registry = filled();
    registry.image("sylva/builder/custom", "0.4.13", &[]);
    let folder = project(&registry, "");
    let of = |version: &str, [ubuntu, opensuse]: [&str; 2]| {
        values(&registry.host(), version, &[ubuntu, opensuse, "custom"])
    };
    fs::write(folder.path().join("values.yaml"), of("0.4.12", IMAGES)).expect("written");
    let outcome = update(&folder, &["0.4.13"]);
    assert_eq!(read(&folder), of("0.4.13", AFTER), "{}", outcome.stderr);
}

/// Successors are found for images of any system, and what is left out is counted.
#[test]
fn an_image_of_any_system_is_kept() {
    let systems = ["sles-15-6", "rhel-9-4", "rocky-9", "sle-micro-6-0"];
    let named = |patch: u32| systems.map(|system| format!("{system}-hardened-rke2-1-31-{patch}"));
    let registry = Registry::plain();
    for name in named(9) {
        registry.image(&format!("sylva/builder/{name}"), "0.4.13", &[]);
    }
    registry.image(
        "sylva/builder/ubuntu2404-plain-kubeadm-1.28.1",
        "0.4.13",
        &[],
    );
    let folder = project(&registry, "");
    let of = |version: &str, patch: u32| {
        let names = named(patch);
        values(
            &registry.host(),
            version,
            &names.each_ref().map(String::as_str),
        )
    };
    fs::write(folder.path().join("values.yaml"), of("0.4.12", 8)).expect("written");
    let outcome = update(&folder, &["0.4.13"]);
    assert_eq!(read(&folder), of("0.4.13", 9), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("1 repository left out, because its name is not read as an image's: `ubuntu2404-plain-kubeadm-1.28.1`"),
        "{}",
        outcome.stderr
    );
}
