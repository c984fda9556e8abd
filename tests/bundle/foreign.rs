//! Bundles and the container tools of others.

use super::{clean, files, manifests, run};
use crate::programs;
use crate::support::stage::project;

#[test]
fn skopeo_and_umoci_read_what_was_packed() {
    let stage = project();
    manifests(&stage, "in");
    let digest = clean(&stage, "pack in --namespace app --to oci-layout:l:1").stdout;
    clean(&stage, "unpack oci-layout:l:1 --to ours");
    if let Some(skopeo) = programs::find("skopeo") {
        let reported = run(&skopeo, &stage, "inspect oci:l:1");
        let reported: serde_json::Value = serde_json::from_str(&reported).expect("JSON");
        assert_eq!(reported["Digest"], digest.trim());
        run(&skopeo, &stage, "copy --quiet oci:l:1 oci:copied:2");
        clean(&stage, "unpack oci-layout:copied:2 --to copied-files");
        assert_eq!(files(&stage, "copied-files"), files(&stage, "ours"));
    }
    if let Some(umoci) = programs::find("umoci") {
        run(&umoci, &stage, "unpack --rootless --image l:1 theirs");
        assert_eq!(files(&stage, "theirs/rootfs"), files(&stage, "ours"));
    }
}

#[test]
fn an_image_that_umoci_made_from_scratch_is_unpacked() {
    let Some(umoci) = programs::find("umoci") else {
        return;
    };
    let stage = project();
    manifests(&stage, "in");
    clean(&stage, "pack in --namespace app --to dir:flat");
    for args in [
        "init --layout l",
        "new --image l:1",
        "insert --rootless --image l:1 in /manifests",
        "insert --rootless --opaque --image l:1 flat/manifests /manifests",
    ] {
        run(&umoci, &stage, args);
    }
    clean(&stage, "unpack oci-layout:l:1 --to back");
    assert_eq!(files(&stage, "back"), files(&stage, "flat"));
}
