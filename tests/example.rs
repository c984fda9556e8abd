//! The test that docs/development.md begins with.

use snapbox::str;

use super::support::stage::project;

#[test]
fn a_mismatch_is_an_error_at_the_image_key() {
    let project = project()
        .catalog(&[
            "noble-31 rke2 1.31.8+rke2r1",
            "noble-30 rke2 1.30.12+rke2r1",
        ])
        .cluster(
            "edge",
            "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-30}}",
        );
    project.check().is(str![[r#"
warning[image-unused] catalog.yaml:2:3 `noble-31` => os_images.noble-31
error[k8s-version-mismatch] edge/control-plane edge.yaml:1:59 `noble-30` edge.yaml:1:24 `v1.31.8+rke2r1` catalog.yaml:3:45 `'1.30.12+rke2r1'` fix noble-31 => cluster.capm3.image_key: noble-31
edge/control-plane v1.31.8+rke2r1 (edge.yaml:1:24): mismatched, noble-30 (edge.yaml:1:59) holds 1.30.12+rke2r1 (catalog.yaml:3:45)

"#]]); // a line a finding, a line a node pool
    project
        .edit("edge.yaml", "noble-30", "noble-31")
        .check()
        .is(str![[r#"
warning[image-unused] catalog.yaml:3:3 `noble-30` => os_images.noble-30
edge/control-plane v1.31.8+rke2r1 (edge.yaml:1:24): proven, noble-31 (edge.yaml:1:59) holds 1.31.8+rke2r1 (catalog.yaml:2:45)

"#]]);
}
