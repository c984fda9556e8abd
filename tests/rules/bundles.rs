//! Component bundles: which fit a pool, and whether their bytes are pinned.

use super::super::support::project::Project;
use super::rows::assert_found;

const SUM: &str = "17eed95025dc9bd8aa92aa7f874216195c0b30c2ae4ebeb40ff3d5a50084836f";

/// A cluster whose control plane chooses a bundle so; `bundle` describes the only one.
fn cluster(bundle: &str, choice: &str) -> String {
    format!(
        "os_images: {{sle: {{uri: 'oci://h.org/sle:1', os: sle-micro, image-format: container}}}}\n\
         component_bundles: {{b: {{k8s_version: v1.31.8+rke2r1, k8s_flavor: rke2, {bundle}}}}}\n\
         cluster: {{k8s_version: v1.31.8+rke2r1, capi_providers: {{infra_provider: elemental, bootstrap_provider: cabpr}}, \
         elemental: {{image_key: sle, {choice}}}}}\n"
    )
}

#[test]
fn a_bundle_is_pinned_by_its_digest_or_its_checksum() {
    let digest = format!("uri: 'oci://h.org/b:1@sha256:{SUM}'");
    let checksum = format!("uri: 'https://h.org/b.tar.gz', sha256: {SUM}");
    let own_digest = format!("uri: 'oci://h.org/b:1', digest: 'sha256:{SUM}'");
    let unpinned: &[&str] = &["error control-plane [b, b] => metalmark lock"];
    for (bundle, expected) in [
        (&*digest, &[][..]),
        (&checksum, &[]),
        (&own_digest, &[]),
        ("uri: 'oci://h.org/b:1'", unpinned),
        (
            "uri: 'https://h.org/b.tar.gz'",
            &["error control-plane [b, b] => sha256"],
        ),
    ] {
        let project = Project::of(&cluster(bundle, "component_bundle_key: b"), "");
        assert_found("component-mismatch", &project, expected, bundle);
    }
}

/// Where nothing else speaks against a bundle, it is the selector that does not match it.
#[test]
fn a_selector_that_matches_no_bundle_names_what_excludes_each() {
    let pinned = format!("uri: 'https://h.org/b.tar.gz', sha256: {SUM}");
    for (selector, expected) in [
        ("{k8s-flavor: rke2}", &[][..]),
        (
            "{k8s-flavor: kubeadm}",
            &["error control-plane [{k8s-flavor: kubeadm}] => b"],
        ),
    ] {
        let choice = format!("component_bundle_selector: {selector}");
        let project = Project::of(&cluster(&pinned, &choice), "");
        assert_found("component-mismatch", &project, expected, selector);
        let judged = project.judged().into_iter();
        let help = judged.flat_map(|judged| judged.finding.help);
        let reported = help.filter(|help| help == "`b` does not match the selector");
        assert_eq!(reported.count(), expected.len(), "{selector}");
    }
}

/// What a lock lacks is reported once, by `lock-missing-image`.
#[test]
fn a_lock_pins_a_bundle_or_reports_it_itself() {
    let (pulled, fetched) = ("oci://h.org/b:1", "https://h.org/b.tar.gz");
    let unlocked = "error - [sle, b] => metalmark lock";
    for (uri, is_locked, expected, missing) in [
        (pulled, false, &[][..], unlocked),
        (
            fetched,
            false,
            &["error control-plane [b, b] => sha256"],
            "error - [sle] => metalmark lock",
        ),
        (fetched, true, &[], "error - [sle] => metalmark lock"),
    ] {
        let entry = format!("- key: b\n  reference: {uri}\n  digest: sha256:{SUM}\n");
        let images = if is_locked { &*entry } else { "" };
        let bundle = format!("uri: '{uri}'");
        let project = Project::new(&[
            (
                "metalmark.yaml",
                "version: 1\nclusters: [{name: edge, values: [values.yaml]}]\n",
            ),
            ("values.yaml", &cluster(&bundle, "component_bundle_key: b")),
            ("metalmark.lock", &format!("version: 1\nimages:\n{images}")),
        ]);
        assert_found("component-mismatch", &project, expected, uri);
        assert_eq!(project.found("lock-missing-image"), [missing], "{uri}");
    }
}

/// What a bundle is read for is another command's, so that `check` knows nothing of it.
#[test]
fn a_waiver_of_a_rule_about_bundles_is_no_unused_one() {
    let unused = |rule: &str| {
        let waiver = format!("policy: {{waivers: [{{rule: {rule}, where: lab, reason: old}}]}}\n");
        Project::of("cluster: {}", &waiver)
            .found("waiver-unused")
            .len()
    };
    for rule in [
        "bundle-cycle",
        "bundle-layout",
        "bundle-unpinned",
        "bundle-unsupported",
    ] {
        assert_eq!(unused(rule), 0, "{rule}");
    }
    assert_eq!(unused("unknown-image"), 1);
}

/// A bundle brings Kubernetes onto an image that has none; what an image holds itself has to be proven all the same.
#[test]
fn a_bundle_proves_no_version_that_the_image_holds() {
    let pinned = format!("uri: 'https://h.org/b.tar.gz', sha256: {SUM}");
    let values = cluster(&pinned, "component_bundle_key: b");
    for (held, count) in [
        ("", 0),
        (", k8s-version: 1.31.8+rke2r1", 0),
        (", k8s-version: '1.31'", 1),
        (", k8s-version: 1.31.8", 1),
    ] {
        let values = values.replace("os: sle-micro", &format!("os: sle-micro{held}"));
        let found = Project::of(&values, "").found("k8s-version-unproven");
        assert_eq!(found.len(), count, "{held}: {found:#?}");
    }
}
