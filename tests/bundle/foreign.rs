//! Bundles and the container tools of others.

use super::{clean, files, manifests, run};
use crate::programs;

#[test]
fn skopeo_and_umoci_read_what_was_packed() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    manifests(&folder.join("in"));
    let digest = clean(folder, "pack in --namespace app --to oci-layout:l:1").stdout;
    clean(folder, "unpack oci-layout:l:1 --to ours");
    if let Some(skopeo) = programs::find("skopeo") {
        let reported = run(&skopeo, folder, "inspect oci:l:1");
        let reported: serde_json::Value = serde_json::from_str(&reported).expect("JSON");
        assert_eq!(reported["Digest"], digest.trim());
        run(&skopeo, folder, "copy --quiet oci:l:1 oci:copied:2");
        clean(folder, "unpack oci-layout:copied:2 --to copied-files");
        assert_eq!(
            files(&folder.join("copied-files")),
            files(&folder.join("ours"))
        );
    }
    if let Some(umoci) = programs::find("umoci") {
        run(&umoci, folder, "unpack --rootless --image l:1 theirs");
        assert_eq!(
            files(&folder.join("theirs/rootfs")),
            files(&folder.join("ours"))
        );
    }
}

#[test]
fn an_image_that_umoci_made_from_scratch_is_unpacked() {
    let Some(umoci) = programs::find("umoci") else {
        return;
    };
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    manifests(&folder.join("in"));
    clean(folder, "pack in --namespace app --to dir:flat");
    for args in [
        "init --layout l",
        "new --image l:1",
        "insert --rootless --image l:1 in /manifests",
        "insert --rootless --opaque --image l:1 flat/manifests /manifests",
    ] {
        run(&umoci, folder, args);
    }
    clean(folder, "unpack oci-layout:l:1 --to back");
    assert_eq!(files(&folder.join("back")), files(&folder.join("flat")));
}
