//! What Packer writes of its builds, as kubernetes-sigs/image-builder has it write: `packer-manifest.json` beside an OVA,
//! `manifest.json` of the clouds.
//!
//! Both hold a list `builds`; the facts are in each build's `custom_data`, the image is its `artifact_id` or its files.

use std::sync::Arc;

use capi::image::fact;
use yaml_tree::json::format_number;
use yaml_tree::place::{Located, Place};
use yaml_tree::value::{Map, Node, Value};

use crate::model::name::{Release, architecture};
use crate::model::version::Version;
use crate::model::written::WrittenImage;

/// What image-builder calls facts that are one word here.
const FACTS: [(&str, &str); 5] = [
    ("build_timestamp", fact::BUILD_TIMESTAMP),
    ("ib_version", "builder-version"),
    ("containerd_version", "containerd-version"),
    ("kubernetes_cni_semver", "kubernetes-cni-version"),
    ("firmware", fact::FIRMWARE),
];

/// The images of a manifest, the newest of each name. Packer appends: a later build of a name replaces the one before.
pub(super) fn images(builds: &[Node]) -> Vec<WrittenImage> {
    let mut images: Vec<WrittenImage> = Vec::new();
    for build in builds.iter().rev().filter_map(image) {
        if images.iter().all(|image| image.name != build.name) {
            images.push(build);
        }
    }
    images.reverse();
    images
}

fn image(build: &Node) -> Option<WrittenImage> {
    let map = build.value.as_map()?;
    let custom = build
        .get_path(&["custom_data"])
        .and_then(|node| node.value.as_map());
    let said = |name: &str| {
        let node = custom?.get(name)?;
        let text = node.value.as_str().filter(|text| !text.is_empty())?;
        Some(Located::new(Arc::clone(text), node.place))
    };
    let name = said("build_name").or_else(|| {
        let node = map.get("name")?;
        Some(Located::new(Arc::clone(node.value.as_str()?), node.place))
    })?;
    let version = ["kubernetes_semver", "kubernetes_version"]
        .iter()
        .find_map(|key| said(key));
    let version = version.filter(|version| Version::parse(&version.value).is_some());
    let mut properties = Vec::new();
    let mut say = |fact: &str, text: &str, place: Place| {
        properties.push((Arc::from(fact), Located::new(text.into(), place)));
    };
    say(fact::BUILDER, "image-builder", name.place);
    if let Some(version) = &version {
        let text = version.value.strip_prefix('v').unwrap_or(&version.value);
        say(fact::K8S_VERSION, text, version.place);
        // image-builder installs kubeadm, and nothing else.
        say(fact::K8S_FLAVOR, "kubeadm", version.place);
    }
    let os = said("distro_name").or_else(|| said("os_name"));
    let os = os.map(|os| Located::new(os.value.to_ascii_lowercase(), os.place));
    if let Some(os) = &os {
        say(fact::OS, &os.value, os.place);
    }
    if let Some(release) = said("distro_version") {
        let read = Release::read(os.as_ref().map(|os| &*os.value), &release.value);
        say(
            fact::OS_RELEASE,
            read.label().unwrap_or(&release.value),
            release.place,
        );
    }
    if let Some(arch) = said("distro_arch") {
        say(fact::ARCH, architecture(&arch.value), arch.place);
    }
    for (key, fact) in FACTS {
        if let Some(text) = said(key) {
            say(fact, &text.value, text.place);
        }
    }
    locations(map, &mut say);
    let name = match &version {
        Some(version) => {
            let version = version.value.strip_prefix('v').unwrap_or(&version.value);
            format!("{}-kube-v{version}", name.value)
        }
        None => name.value.to_string(),
    };
    Some(WrittenImage {
        properties,
        ..WrittenImage::new(name.into(), build.place)
    })
}

/// Where a build lies: in the cloud that its builder made it in, or in its files.
fn locations(build: &Map, say: &mut dyn FnMut(&str, &str, Place)) {
    let node = |key: &str| build.get(key);
    let text = |key: &str| node(key).and_then(|node| node.value.as_str());
    let place = node("artifact_id").map_or(Place::NONE, |node| node.place);
    let id = text("artifact_id")
        .map(|id| &**id)
        .filter(|id| !id.is_empty());
    let builder = text("builder_type").map_or("", |builder| &**builder);
    match (builder, id) {
        ("amazon-ebs" | "amazon-ebssurrogate", Some(id)) => {
            for (region, image) in id.split(',').filter_map(|one| one.split_once(':')) {
                say(&format!("{}ami.{region}", fact::LOCATIONS), image, place);
            }
            say(fact::IMAGE_FORMAT, "ami", place);
        }
        ("azure-arm", Some(id)) => say("locations.azure.id", id, place),
        ("googlecompute", Some(id)) => say("locations.gce.image", id, place),
        ("openstack", Some(id)) => say("locations.glance.id", id, place),
        ("hcloud", Some(id)) => say("locations.hcloud.snapshot", id, place),
        _ => {}
    }
    let files = node("files").and_then(|files| files.value.as_list());
    for file in files.unwrap_or_default() {
        let name = file.get_path(&["name"]);
        let Some((name, place)) = name.and_then(|node| Some((node.value.as_str()?, node.place)))
        else {
            continue;
        };
        let base = name.rsplit('/').next().unwrap_or(name);
        let ending = base.rsplit_once('.').map_or("", |(_, ending)| ending);
        if matches!(ending, "ova" | "qcow2" | "raw" | "vhd") {
            say(fact::FILENAME, base, place);
            say(fact::IMAGE_FORMAT, ending, place);
            if let Some(Value::Number(size)) = file.get_path(&["size"]).map(|node| &node.value) {
                say(fact::SIZE, &format_number(*size), place);
            }
            return;
        }
    }
}
