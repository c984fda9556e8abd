//! Sylva as it is in 2026: two builders, three generations of images, names without a patch, and a map of versions that each
//! release of a builder leaves behind.

mod images;
mod readers;
mod served;
mod signing;
mod version_map;
mod written;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::support::layout::LayoutWriter;
use crate::support::stage::{Stage, project};

/// A project of `fixtures/sylva-2026`, and the registry with the artifacts that it lists, each with its version of Kubernetes.
fn sylva(name: &str) -> Stage {
    let stage = project().folder(&format!("fixtures/sylva-2026/{name}"));
    serve(&stage);
    stage
}

/// Writes the registry with the artifacts of a project.
pub(crate) fn serve(stage: &Stage) {
    let mut registry = LayoutWriter::new(&stage.path().join("registry"));
    for line in stage.read("artifacts.txt").lines() {
        let (reference, version) = line.split_once(' ').expect("a reference and a version");
        registry.image(Some(reference), &annotations(reference, version));
    }
}

/// What a builder annotates.
pub(crate) fn annotations<'a>(reference: &'a str, version: &'a str) -> Vec<(&'a str, &'a str)> {
    let (_, name) = reference.rsplit_once('/').expect("a path");
    let (name, tag) = name.split_once(':').expect("a tag");
    let flavor = ["rke2", "kubeadm", "ck8s"];
    let flavor = flavor.into_iter().find(|flavor| name.contains(flavor));
    let mut parts = name.split('-');
    let mut part = || parts.next().expect("a system and its release");
    let (os, major) = (part(), part());
    let release: &str = match os {
        "ubuntu" => major,
        _ => Box::leak(format!("{major}.{}", part()).into_boxed_str()),
    };
    let hardened = if name.contains("hardened") {
        "true"
    } else {
        "false"
    };
    let file: &str = Box::leak(format!("{name}-{tag}.raw").into_boxed_str());
    let hash: &str = Box::leak(HEXLOWER.encode(&Sha256::digest(reference)).into_boxed_str());
    vec![
        ("sylvaproject.org/diskimage/commit-tag", tag),
        ("sylvaproject.org/diskimage/filename", file),
        ("sylvaproject.org/diskimage/hardened", hardened),
        ("sylvaproject.org/diskimage/image-format", "raw"),
        (
            "sylvaproject.org/diskimage/k8s-flavor",
            flavor.expect("a flavor"),
        ),
        ("sylvaproject.org/diskimage/k8s-version", version),
        ("sylvaproject.org/diskimage/os", os),
        ("sylvaproject.org/diskimage/os-release", release),
        ("sylvaproject.org/diskimage/sha256", hash),
        ("org.opencontainers.image.version", "no fact"),
    ]
}

/// The same, locked.
pub(crate) fn locked(name: &str) -> Stage {
    let stage = sylva(name);
    let _ = stage.run("lock").exit(0);
    stage
}

/// Raises both builders of the project `version-map`, and locks what they offer.
fn raise(stage: &Stage, disk: &str, kiwi: &str) {
    stage.edit(
        "values.yaml",
        "_diskimagebuilder_version: 0.7.4",
        &format!("_diskimagebuilder_version: {disk}"),
    );
    stage.edit(
        "values.yaml",
        "_kiwi_imagebuilder_version: 0.4.1",
        &format!("_kiwi_imagebuilder_version: {kiwi}"),
    );
    let _ = stage.run("lock").exit(0);
}

/// The facts of an image as the chart gathers them, and its reference.
fn gathered(key: &str, name: &str, tag: &str, version: &str) -> String {
    let reference = format!("oci://registry.example.org/dib/{name}:{tag}");
    let facts = annotations(&reference, version);
    let facts = facts.iter().filter_map(|(fact, value)| {
        let fact = fact.strip_prefix("sylvaproject.org/diskimage/")?;
        Some(format!("{fact}: '{value}', "))
    });
    let facts: String = facts.collect();
    format!("  {key}: {{{facts}uri: '{reference}'}}\n")
}

/// The catalog of two releases of a builder, and a cluster of its own.
fn two_releases(own: &str, images: &str) -> String {
    format!(
        "os_images_oci_registries:\n\
         \u{20} sylva: {{url: 'oci://registry.example.org/dib', tag: 0.11.13}}\n\
         \u{20} sylva-n-1: {{url: 'oci://registry.example.org/dib', tag: 0.7.14{own}}}\n\
         {images}\
         cluster: {{k8s_version: v1.35.6+rke2r1, capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}, \
         capm3: {{os_image_selector: {{os: ubuntu}}}}}}\n"
    )
}
