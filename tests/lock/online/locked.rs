//! What the lock says against what the values say.

use snapbox::str;

use super::{PLAIN, Site, publish};
use crate::lock::{NOBLE, PROJECT_FILE, site, write_values};
use crate::support::layout::LayoutWriter;
use crate::support::registry::Registry;

/// A site with one image.
fn site_of(registry: &Registry) -> Site {
    let site = Site::of(registry, PLAIN);
    publish(registry, NOBLE, "0.4.12", "a");
    site.write_values("0.4.12", &[NOBLE], "");
    site
}

/// Facts come from the lock first; the value that says otherwise is shown at its line.
#[test]
fn the_users_value_agrees_with_the_lock() {
    let registry = Registry::plain();
    let site = site_of(&registry);
    let entry = format!("  {NOBLE}: {{os_images_oci_registry: sylva");
    let wrong = format!("{entry}, image-format: qcow2");
    site.stage.edit("values.yaml", &entry, &wrong);
    let mut story = site.story();
    story.runs(&["lock", "check --frozen"]);
    let rendered = story.run("render --frozen --stdout").stdout;
    story.is(str![[r#"
$ lock => 0
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
$ check --frozen => 1
error[image-disagrees]: `image-format` of image `NOBLE` is `raw` by the lock, and `qcow2` by the values --> metalmark.lock:10:19 ::: values.yaml:2:81
1 error in 1 cluster; 1 node pool checked: 1 mismatched
$ render --frozen --stdout => 1
error[image-disagrees]: `image-format` of image `NOBLE` is `raw` by the lock, and `qcow2` by the values --> metalmark.lock:10:19 ::: values.yaml:2:81
1 error in 1 cluster; 1 node pool checked: 1 mismatched

"#]]);
    assert!(!rendered.contains("kind:"), "{rendered}");
}

/// Where a fact is not known, the lock would tell it; once it is locked, that is no advice any more.
#[test]
fn what_the_lock_would_prove_is_to_be_locked() {
    let registry = Registry::plain();
    let site = site_of(&registry);
    let mut story = site.story();
    let reported = story.run("check").stdout;
    let advice = "help: run `metalmark lock` to query its registry";
    assert!(reported.contains(advice), "{reported}");
    story.runs(&["lock", "check"]).is(str![[r#"
$ check => 1
error[checksum-missing]: the sha256 of image `NOBLE` is not known --> values.yaml:13:22
error[format-missing]: the format of image `NOBLE` is not known --> values.yaml:13:22
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:13:22
2 errors, 1 warning in 1 cluster; 1 node pool checked: 1 by name only
$ lock => 0
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
$ check => 0
no findings in 1 cluster; 1 node pool checked: 1 proven

"#]]);
}

/// The project's architecture chooses the manifest of an index in a layout of facts too.
#[test]
fn facts_of_a_layout_are_those_of_the_wanted_architecture() {
    let stage = site();
    let mut layout = LayoutWriter::new(&stage.path().join("images"));
    let mut image = |format: &str| {
        let facts = [("sylva/image-format", format), ("sylva/sha256", "00")];
        layout.image(None, &facts)
    };
    let (amd, arm) = (image("raw"), image("qcow2"));
    let name = format!("registry.example.org/os/{NOBLE}:0.4.12");
    layout.index(Some(&name), &[("amd64", &amd), ("arm64", &arm)]);
    write_values(&stage, "0.4.12", &[NOBLE], "");
    for (architecture, format) in [("amd64", "raw"), ("arm64", "qcow2")] {
        let own = "{mirrors: {registry.example.org/os: 'oci-layout:registry'}}";
        let other =
            format!("{{architecture: {architecture}}}\nimages: {{facts: ['oci-layout:images']}}");
        stage.write("metalmark.yaml", PROJECT_FILE.replace(own, &other));
        let images = stage.run("images --output json").exit(0).outcome.stdout;
        let images: serde_json::Value = serde_json::from_str(&images).expect("JSON");
        assert_eq!(images[0]["facts"]["image-format"], format, "{images}");
    }
}
