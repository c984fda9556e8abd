//! Image facts as the image builder annotates its artifacts, made from the images' names.

use std::collections::BTreeMap;

use oci_artifacts::Digest;
use serde_json::{Map, Value, json};

/// The facts of a built image, such as `ubuntu-noble-plain-rke2-1-31-8`, at a version of the builder.
pub(super) fn of(key: &str, tag: &str) -> Value {
    let parts: Vec<&str> = key.split('-').collect();
    let [os, release @ .., hardening, flavor, major, minor, patch] = &parts[..] else {
        panic!("{key} is not the name of an image");
    };
    let build = if *flavor == "rke2" { "+rke2r1" } else { "" };
    let digest = Digest::compute(format!("{key}:{tag}").as_bytes());
    let sha256 = digest.as_str().trim_start_matches("sha256:");
    json!({
        "os": os,
        "os-release": release.join("."),
        "hardened": (*hardening == "hardened").to_string(),
        "flavor": hardening,
        "k8s-flavor": flavor,
        "k8s-version": format!("{major}.{minor}.{patch}{build}"),
        "filename": format!("{key}-{tag}.raw"),
        "image-format": "raw",
        "compression": "gz",
        "sha256": sha256,
        "md5": sha256[..32],
        "size": "22000000000",
        "archive-size": "2067967998",
        "commit-tag": tag,
    })
}

/// An `os-images-info` file with the facts of those images, each a key and a version of the builder.
pub(super) fn info(images: &[(String, &str)]) -> String {
    let facts: Map<String, Value> = images
        .iter()
        .map(|(key, tag)| (key.clone(), of(key, tag)))
        .collect();
    json!({ "os_images": facts }).to_string()
}

/// The same facts by reference, as the registry below `root` knows them.
pub(super) fn registry(root: &str, images: &[(String, &str)]) -> String {
    let facts: BTreeMap<String, Value> = images
        .iter()
        .map(|(key, tag)| (format!("{root}/{key}:{tag}"), of(key, tag)))
        .collect();
    json!(facts).to_string()
}

/// The keys of the catalog that a values text writes, in its order.
pub(super) fn catalog(values: &str) -> Vec<String> {
    values
        .lines()
        .skip_while(|line| !line.starts_with("sylva_diskimagebuilder_images:"))
        .skip(1)
        .take_while(|line| line.is_empty() || line.starts_with(' '))
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'))
        .filter(|key| !key.starts_with([' ', '#']))
        .map(str::to_owned)
        .collect()
}
