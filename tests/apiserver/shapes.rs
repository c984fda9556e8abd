//! What stamping each shape of fixtures/stamp/shapes should amount to, as patches that kubectl understands.

/// `{url}`, `{sum}` and `{jammy}` are those of the images in the shapes' project.
const METAL3: &str = r#"{"spec": {"template": {"spec": {"image":
    {"url": "{url}", "checksum": "{sum}", "checksumType": "sha256", "format": "raw"}}}}}"#;
const SAME: &str = "{}";

/// A text and the patch of each of its objects. Behind `#` is the way to a string in its parent's objects; what is no object is
/// the `value` of one.
pub(super) const SHAPES: &[(&str, &[&str])] = &[
    ("01-plain.yaml", &[METAL3]),
    ("02-crlf.yaml", &[METAL3]),
    ("03-comments.yaml", &[METAL3]),
    ("04-flow.yaml", &[METAL3]),
    ("05-flow-image.yaml", &[METAL3]),
    ("06-anchors.yaml", &[METAL3]),
    ("07-quoted-keys.yaml", &[METAL3]),
    ("08-no-final-newline.yaml", &[METAL3]),
    ("09-two-documents.yaml", &[METAL3; 2]),
    ("10-list.yaml", &[METAL3; 2]),
    ("11-missing-image.yaml", &[METAL3]),
    ("12-partial-image.yaml", &[METAL3]),
    // The field has another name in this version.
    (
        "13-v1beta2.yaml",
        &[r#"{"spec": {"template": {"spec": {"image":
        {"url": "{url}", "checksum": "{sum}", "format": null, "diskFormat": "raw"}}}}}"#],
    ),
    ("14-selector.yaml", &[METAL3]),
    (
        "15-by-label.yaml",
        &[r#"{"spec": {"template": {"spec": {"image":
        {"url": "https://images.example.org/jammy-2.qcow2", "checksum": "{jammy}", "format": "qcow2"}}}}}"#],
    ),
    (
        "16-host.yaml",
        &[
            r#"{"spec": {"image": {"url": "{url}", "checksum": "{sum}", "checksumType": "sha256", "format": "raw"}}}"#,
        ],
    ),
    // One object of each provider.
    (
        "17-providers.yaml",
        &[
            r#"{"spec": {"template": {"spec": {"image":
        {"filter": null, "id": "8f1b2c3d-0000-4000-8000-000000000001"}}}}}"#,
            r#"{"spec": {"template": {"spec": {"template": "noble-2"}}}}"#,
            r#"{"spec": {"template": {"spec": {"ami": {"id": "ami-0a1b2c3d4e5f60718"}}}}}"#,
            r#"{"spec": {"awsLaunchTemplate": {"ami": {"id": "ami-0a1b2c3d4e5f60718"}}}}"#,
            r#"{"spec": {"template": {"spec": {"image": {"computeGallery": {"version": "1.34.2"}}}}}}"#,
            r#"{"spec": {"template": {"image": {"computeGallery": {"version": "1.34.2"}}}}}"#,
            r#"{"spec": {"template": {"spec": {"image": "projects/capi/global/images/noble-2"}}}}"#,
            r#"{"spec": {"image": "projects/capi/global/images/noble-2"}}"#,
            r#"[{"op": "replace", "value": "quay.io/capk/noble:2",
        "path": "/spec/template/spec/virtualMachineTemplate/spec/template/spec/volumes/1/containerDisk/image"}]"#,
            r#"{"spec": {"template": {"spec": {"sourceNode": "pve2", "templateID": 102}}}}"#,
            r#"{"spec": {"template": {"spec": {"imageName": "noble-2"}}}}"#,
            r#"{"spec": {"template": {"spec": {"installImage": {"image":
            {"url": "https://images.example.org/noble-2.tar.gz", "name": "noble-2"}}}}}}"#,
            r#"{"spec": {"template": {"spec": {"imageLookupFormat": "registry.example.org/noble:2"}}}}"#,
            r#"{"spec": {"template": {"spec": {"customImage": "kindest/node:v1.34.2"}}}}"#,
            r#"{"spec": {"template": {"spec": {"backend": {"docker": {"customImage": "kindest/node:v1.34.2"}}}}}}"#,
            r#"{"spec": {"template": {"spec": {"osVersionManagement": {"osVersion": {"imageUri":
        "oci://registry.example.org/os@sha256:2222222222222222222222222222222222222222222222222222222222222222"}}}}}}"#,
        ],
    ),
    (
        "19-topology-variable.yaml",
        &[r#"[
        {"op": "replace", "path": "/spec/topology/variables/0/value", "value": "{url}"},
        {"op": "replace", "path": "/spec/topology/variables/1/value", "value": "{sum}"}]"#],
    ),
    ("21-long-text-around.yaml", &[SAME, METAL3, SAME]),
    (
        "22-helm-values-list.yaml",
        &[r#"[
        {"op": "replace", "path": "/value/extraObjects/0/spec/template/spec/image/url", "value": "{url}"},
        {"op": "replace", "path": "/value/extraObjects/0/spec/template/spec/image/checksum", "value": "{sum}"},
        {"op": "replace", "path": "/value/extraObjects/1/spec/template/spec/image/id",
         "value": "8f1b2c3d-0000-4000-8000-000000000001"},
        {"op": "replace", "path": "/value/machineImage", "value": {"url": "{url}", "checksum": "{sum}"}}]"#],
    ),
    ("23-configmap.yaml", &[SAME]),
    (
        "23-configmap.yaml#/0/data/templates.yaml",
        &[METAL3, SAME, METAL3],
    ),
    ("24-resource-set.yaml", &[SAME, SAME]),
    ("24-resource-set.yaml#/1/stringData/one.yaml", &[METAL3]),
    ("24-resource-set.yaml#/1/stringData/two.yaml", &[METAL3]),
    (
        "25-helm-release.yaml",
        &[r#"[
        {"op": "replace", "path": "/spec/values/resources/0/spec/template/spec/image/url", "value": "{url}"},
        {"op": "replace", "path": "/spec/values/resources/0/spec/template/spec/image/checksum", "value": "{sum}"}]"#],
    ),
    ("25-helm-release.yaml#/0/spec/values/templates/0", &[METAL3]),
    ("26-kustomize-patch.yaml", &[SAME]),
    (
        "26-kustomize-patch.yaml#/0/patches/0/patch",
        &[r#"[
        {"op": "replace", "path": "/value/0/value", "value": "{url}"},
        {"op": "replace", "path": "/value/1/value", "value": "{sum}"}]"#],
    ),
    ("26-kustomize-patch.yaml#/0/patches/1/patch", &[METAL3]),
    ("27-strategic-patch.yaml", &[METAL3]),
    ("28-byte-order-mark.yaml", &[METAL3]),
    ("29-merge-keys.yaml", &[SAME, METAL3, METAL3]),
    ("30-document-ends.yaml", &[METAL3]),
    ("31-tags.yaml", &[METAL3]),
    ("32-beyond-ascii.yaml", &[METAL3]),
    ("33-tabs-in-comments.yaml", &[METAL3]),
    ("34-json.json", &[METAL3]),
    ("35-folded-text-around.yaml", &[METAL3]),
    ("36-crlf-configmap.yaml", &[SAME]),
    ("36-crlf-configmap.yaml#/0/data/a.yaml", &[METAL3]),
    ("37-values-in-a-configmap.yaml", &[SAME]),
    (
        "37-values-in-a-configmap.yaml#/0/data/values.yaml",
        &[r#"[
        {"op": "replace", "path": "/value/imageURL", "value": "{url}"}]"#],
    ),
    (
        "37-values-in-a-configmap.yaml#/0/data/values.yaml#/0/value/extraManifests/0",
        &[METAL3],
    ),
    (
        "46-variables.yaml",
        &[
            r#"[{"op": "replace", "path": "/spec/topology/variables/0/value", "value": "{url}"},
            {"op": "replace", "path": "/spec/topology/variables/1/value", "value": {"url": "{url}", "checksum": "{sum}"}},
            {"op": "replace", "path": "/spec/topology/workers/machineDeployments/0/variables/overrides/0/value",
             "value": "{url}"}]"#,
            r#"[{"op": "test", "path": "/spec/topology/variables/0/value", "value": "https://images.example.org/own.raw"}]"#,
            r#"[{"op": "replace", "path": "/spec/variables/0/schema/openAPIV3Schema/default", "value": "{url}"}]"#,
        ],
    ),
];
