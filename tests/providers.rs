//! What each provider's fixture workspace renders, held against the providers' own CRDs where a folder of them is at hand.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use capi::providers::PROVIDERS;
use capi::schema::Schemas;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Source};

use super::programs::missing;
use super::support::{Metalmark, repository};
use super::workspaces::trees;

/// The folder of CRDs, by API group: what `CRDS` names, else one beside the repository.
pub(crate) fn crds() -> Option<PathBuf> {
    let named = std::env::var_os("CRDS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| repository().join("../shared/crds"));
    if folder.is_dir() {
        return Some(folder);
    }
    missing("crds");
    None
}

/// The apiVersion and kind of every object that the fixture workspaces render, with its problems against the CRDs that are given.
fn objects(schemas: &Schemas) -> Vec<(String, String, Vec<String>)> {
    let mut found = Vec::new();
    for tree in trees() {
        for text in tree.texts() {
            let read = yaml_tree::read(&text, FileId(0), Engine::Kubectl).expect("YAML");
            let documents = read.documents.iter();
            // Values files are no objects.
            for object in documents.filter(|it| it.get_path(&["apiVersion"]).is_some()) {
                let word = |key: &str| {
                    let node = object.get_path(&[key]).expect("an object");
                    node.value.as_str().expect("a text").to_string()
                };
                let problems = schemas.check(object);
                let problems = problems
                    .into_iter()
                    .map(|it| format!("{}: {}", it.path, it.message));
                found.push((word("apiVersion"), word("kind"), problems.collect()));
            }
        }
    }
    found
}

#[test]
fn every_template_of_every_provider_is_in_a_golden_tree_in_each_version() {
    let golden = objects(&Schemas::new([]));
    let golden: BTreeSet<(&str, &str)> = golden
        .iter()
        .map(|(version, kind, _)| (&**version, &**kind))
        .collect();
    for provider in PROVIDERS {
        for kind in provider
            .data()
            .kinds
            .iter()
            .filter(|kind| kind.is_template())
        {
            for version in kind.versions {
                let api_version = format!("{}/{version}", kind.group);
                let key = (&*api_version, kind.kind);
                assert!(
                    golden.contains(&key),
                    "no golden {api_version} {}",
                    kind.kind
                );
            }
        }
    }
}

#[test]
fn what_is_rendered_fits_the_providers_crds() {
    let Some(folder) = crds() else {
        return;
    };
    let templates = walkdir::WalkDir::new(folder).sort_by_file_name();
    let templates = templates.into_iter().map(|entry| entry.expect("readable"));
    let templates = templates.filter(|entry| {
        let name = entry.file_name().to_string_lossy();
        name.ends_with("machinetemplates.yaml")
            || name.ends_with("clusters.yaml")
            || name.ends_with("clustertemplates.yaml")
            || name.ends_with("registrations.yaml")
    });
    let sources = templates.map(|entry| {
        let text = fs::read_to_string(entry.path()).expect("text");
        Arc::new(Source::new(entry.path().to_string_lossy(), text))
    });
    let schemas = Schemas::new(sources);
    assert!(schemas.len() >= PROVIDERS.len(), "{} CRDs", schemas.len());
    let objects = objects(&schemas);
    assert!(objects.len() >= 40, "{} objects", objects.len());
    for (api_version, kind, problems) in objects {
        assert_eq!(problems, Vec::<String>::new(), "{api_version} {kind}");
    }
}

/// One record serves every provider: a host pulls the artifact, and Metal3 fetches the file. The proposal's `url` is where an
/// image is served, whatever the template of URLs says.
#[test]
fn an_image_is_fetched_from_the_location_that_its_provider_needs() {
    let rendered = |provider: &str, images: &str, info: &str| {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let put = |name: &str, text: &str| {
            fs::write(scratch.path().join(name), text).expect("written");
        };
        put(
            "metalmark.yaml",
            &format!(
                "version: 1\nclusters: [{{name: edge, values: [edge.yaml]}}]\noutputs: [{{target: manifests, path: out}}]\nimages:\n{images}"
            ),
        );
        put("info.yaml", info);
        put(
            "edge.yaml",
            &format!(
                "cluster: {{k8s_version: v1.31.8, capi_providers: {{infra_provider: {provider}, bootstrap_provider: cabpk}}, {provider}: {{image_key: noble}}}}\n"
            ),
        );
        let outcome = Metalmark::within(scratch.path()).args(["render"]).run();
        assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
        let files = walkdir::WalkDir::new(scratch.path().join("out")).into_iter();
        let files = files.map(|entry| entry.expect("readable"));
        let files = files.filter(|entry| entry.path().extension().is_some_and(|it| it == "yaml"));
        files
            .map(|entry| fs::read_to_string(entry.path()).expect("text"))
            .collect::<String>()
    };
    let sha = "a".repeat(64);
    let record = format!(
        "  records:\n    noble:\n      k8s: {{flavor: kubeadm, version: 1.31.8}}\n      format: raw\n      digests: {{uncompressed: {{sha256: '{sha}'}}}}\n      locations: {{https: 'https://images.example.org/noble.raw', oci: 'oci://registry.example.org/noble:1'}}\n"
    );
    let metal3 = rendered("capm3", &record, "");
    assert!(
        metal3.contains("url: https://images.example.org/noble.raw"),
        "{metal3}"
    );
    let elemental = rendered(
        "elemental",
        &record.replace("format: raw", "format: container"),
        "",
    );
    assert!(
        elemental.contains("imageUri: oci://registry.example.org/noble:1"),
        "{elemental}"
    );
    let info = format!(
        "os_images_info:\n  noble: {{url: 'https://my.server/real-name.qcow2', checksum: '{sha}', checksumType: sha256, format: qcow2, k8s-flavor: kubeadm, k8s-version: 1.31.8}}\n"
    );
    let metal3 = rendered("capm3", "  facts: [info.yaml]\n", &info);
    assert!(
        metal3.contains("url: https://my.server/real-name.qcow2"),
        "{metal3}"
    );
}
