//! The target `configmap`: the `os-images-info` ConfigMap with the image facts for Sylva's charts, and the map of served images.
//!
//! By default there is one for all clusters, in the namespace of the management cluster; with `scope: cluster` there is one for
//! each cluster, in its own namespace, with the images that are served for it. A values file beside it contains
//! `capm3_os_image_server_images`, which only the image server writes in a live system: with both, the sylva-capi-cluster chart
//! can be rendered offline. The file has no YAML extension, because it is not an object: Flux, Argo CD and `kubectl apply` read
//! each YAML file of a folder, and would refuse the whole folder.

use capi::image::Image;
use yaml_tree::value::{Entry, Map};

use super::{
    Content, SharedInput, Stamper, Target, TargetFile, TargetInput, flag_option, text_option,
    word_option,
};
use crate::model::finding::Finding;
use crate::model::settings::Output;
use crate::render::objects::info::{self, ConfigMapKind};

/// See the module documentation.
pub(super) struct ConfigMaps;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Shared,
    Cluster,
}

impl Target for ConfigMaps {
    fn name(&self) -> &'static str {
        "configmap"
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        templates!("configmap": "os-images-info.yaml.j2" "os-image-server-images.yaml.j2")
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        options! {
            "scope": "`shared` (default): one object for all clusters; `cluster`: one for each, in its namespace"
            "namespace": "the shared object's namespace (default `sylva-system`)"
            "name-suffix-hash": "true: the name ends in a hash of the content, so that a change of content is a change of name"
            "os-images-info-root": "true: the facts are under `os_images_info` as well, with url, checksum, checksumType and format"
            UUIDS: "true: the ConfigMap `openstack-images-uuids` is written too, with Glance's ids where they are known"
        }
    }

    fn cluster(&self, input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> Vec<TargetFile> {
        if scope(input.output, findings) == Scope::Shared {
            return Vec::new();
        }
        let images: Vec<&Image> = input.images_to_serve().collect();
        files(
            &images,
            &input.view.cluster.namespace,
            &format!("{}-", input.view.cluster.name),
            input.output,
            input.stamp,
            findings,
        )
    }

    fn is_shared(&self, output: &Output, findings: &mut Vec<Finding>) -> bool {
        scope(output, findings) == Scope::Shared
    }

    fn render_shared(
        &self,
        input: &SharedInput<'_>,
        findings: &mut Vec<Finding>,
    ) -> Vec<TargetFile> {
        let images = input.images_to_serve(|_| true, findings);
        let namespace = text_option(input.output, "namespace", "sylva-system", findings);
        files(&images, namespace, "", input.output, input.stamp, findings)
    }
}

fn scope(output: &Output, findings: &mut Vec<Finding>) -> Scope {
    let words = [("shared", Scope::Shared), ("cluster", Scope::Cluster)];
    word_option(output, "scope", &words, findings)
}

fn files(
    images: &[&Image],
    namespace: &str,
    prefix: &str,
    output: &Output,
    stamp: Stamper<'_>,
    findings: &mut Vec<Finding>,
) -> Vec<TargetFile> {
    let hashed = flag_option(output, "name-suffix-hash", false, findings);
    let mut values = Map::from_iter([Entry::from_value(
        "os_images",
        info::os_images(images.iter().copied(), findings),
    )]);
    if flag_option(output, "os-images-info-root", false, findings) {
        let facts = info::os_images_info(images.iter().copied(), stamp);
        values.insert(Entry::from_value("os_images_info", facts));
    }
    let info = |kind, values| {
        let name = match kind {
            ConfigMapKind::Info => info::CONFIG_MAP,
            ConfigMapKind::GlanceIds => info::GLANCE_IDS,
        };
        let object = info::config_map(kind, values, name, namespace, hashed, Map::default());
        Map::from_iter([Entry::holding("configmap", object.context)])
    };
    let served = info::image_server_images(images.iter().copied());
    let glance_ids = info::glance_ids(images.iter().copied());
    let glance_ids = flag_option(output, UUIDS, false, findings).then(|| TargetFile {
        path: format!("{prefix}{UUIDS}.yaml"),
        template: "os-images-info.yaml.j2",
        context: info(
            ConfigMapKind::GlanceIds,
            Map::from_iter([Entry::from_value("os_images", glance_ids)]),
        ),
        content: Content::Objects,
    });
    let mut files = vec![
        TargetFile {
            path: format!("{prefix}os-images-info.yaml"),
            template: "os-images-info.yaml.j2",
            context: info(ConfigMapKind::Info, values),
            content: Content::Objects,
        },
        TargetFile {
            path: format!("{prefix}os-image-server-images.values"),
            template: "os-image-server-images.yaml.j2",
            context: Map::from_iter([Entry::from_value("images", served)]),
            content: Content::Yaml,
        },
    ];
    files.extend(glance_ids);
    files
}

/// The option for the object with the IDs in Glance, and the name of its file.
const UUIDS: &str = "openstack-images-uuids";
