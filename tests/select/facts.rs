//! What files say of images: of which build, in which type, and where it disagrees with another source.

use super::super::support::project::Project;
use super::super::support::stage::project;
use super::{CLUSTER, answers, rows};

/// A cluster whose images are described in a file.
fn with_facts(matching: &str, values: &str, facts: &str) -> Project {
    let file = format!(
        "version: 1\nmatching: {matching}\nclusters: [{{name: edge, values: [values.yaml]}}]\nimages: {{facts: [facts.yaml]}}\n"
    );
    Project::new(&[
        ("metalmark.yaml", &file),
        ("values.yaml", values),
        ("facts.yaml", facts),
    ])
}

/// Sylva stops at a fact that is no string once a selector reaches it, wherever it comes from (docs/sylva.md#selectors); what the
/// values say with a string is that string.
#[test]
fn a_number_among_the_facts_of_a_file_stops_only_exact_matching() {
    let facts = "os_images: {img-a: {os: suse, os-release: 15.6, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1}}\n";
    for (values, exact) in [("", "(invalid)"), (", os-release: '15.6'", "img-a")] {
        for (mode, expected) in [("exact", exact), ("normalized", "img-a")] {
            let values = format!(
                "os_images: {{img-a: {{uri: 'https://s/a'{values}}}}}\n\
                 {CLUSTER}  capm3: {{os_image_selector: {{os: suse, os-release: '15.6'}}}}\n"
            );
            let answers = answers(&with_facts(mode, &values, facts).view());
            assert_eq!(answers[0].1, expected, "{mode}: {values}");
        }
    }
}

/// What a file says of an image counts only for the build that the catalog takes, from whatever mirror it was read.
#[test]
fn facts_of_another_build_prove_nothing() {
    let cases = [
        ("oci://lab.org/os/img-a:0.4.11", true),
        ("oci://mirror.org/img-a:0.4.11", true),
        ("oci://lab.org/os/img-a:0.4.11@sha256:00", true),
        ("https://lab.org/img-a.raw", true),
        ("oci://lab.org/os/img-a:0.4.12", false),
        ("oci://lab.org/os/img-b:0.4.11", false),
    ];
    for (uri, is_same) in cases {
        let values = format!(
            "os_images_oci_registries: {{lab: {{url: 'oci://lab.org/os', tag: 0.4.11}}}}\n\
             sylva_diskimagebuilder_images: {{img-a: {{os_images_oci_registry: lab}}}}\n{CLUSTER}"
        );
        let facts =
            format!("os_images: {{img-a: {{uri: '{uri}', os: suse}}, listed: {{os: suse}}}}\n");
        let project = with_facts("normalized", &values, &facts);
        let view = project.view();
        // The builder's list says which images there are; a file adds none.
        let keys: Vec<&str> = view.images.keys().map(|key| &**key).collect();
        assert_eq!(keys, ["img-a"], "{uri}");
        let image = &view.images["img-a"];
        assert_eq!(image.facts.text("os").is_some(), is_same, "{uri}");
        assert_eq!(
            image.facts.text("uri"),
            Some("oci://lab.org/os/img-a:0.4.11"),
            "{uri}"
        );
        assert_eq!(project.found("fact-conflict").is_empty(), is_same, "{uri}");
    }
}

/// Two sources of one fact agree if they mean the same; a name may leave out what another source adds.
#[test]
fn facts_that_disagree_are_found() {
    let name = "ubuntu-noble-plain-rke2-1-31-8";
    for [facts, agrees] in rows(
        "
        | yes
        k8s-version: 1.31.8+rke2r1 | yes
        k8s-version: 1.31.8-rke2r1 | yes
        k8s-version: v1.31.8 | yes
        k8s-version: 1.31.9 | no
        k8s-version: '1.31' | no
        os: ubuntu, os-release: '24.04' | yes
        os: ubuntu, os-release: jammy | no
        hardened: 'true' | no
        k8s-flavor: kubeadm | no
        filename: ubuntu-noble-plain-rke2-1-31-8.qcow2, image-format: qcow2 | yes
        filename: ubuntu-noble-plain-rke2-1-31-8.qcow2, image-format: raw | no
        ",
    ) {
        let facts = format!("os_images: {{{name}: {{{facts}}}}}\n");
        let values = format!(
            "sylva_diskimagebuilder_version: 1\nsylva_diskimagebuilder_images: {{{name}: {{}}}}\n{CLUSTER}"
        );
        let project = with_facts("normalized", &values, &facts);
        let is_clean = project.found("fact-conflict").is_empty();
        assert_eq!(is_clean, agrees == "yes", "{facts}");
    }
}

/// The values are the user's own, so that the finding is about them.
#[test]
fn what_the_values_say_beside_a_stronger_source_is_to_be_corrected() {
    let values = format!("os_images: {{img-a: {{uri: 'oci://s/a:1', os: suse}}}}\n{CLUSTER}");
    let manifest = r#"{"config":{"mediaType":"x","digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":0},"annotations":{"sylva/os":"ubuntu"}}"#;
    let digest = oci_artifacts::Digest::compute(manifest.as_bytes());
    let line = serde_json::json!({"digest": digest.as_str(), "manifest": manifest});
    let lock = format!(
        "version: 1\nimages:\n- key: img-a\n  reference: oci://s/a:1\n  digest: {digest}\n  facts:\n    os: ubuntu\n"
    );
    let project = Project::new(&[
        (
            "metalmark.yaml",
            "version: 1\nclusters: [{name: edge, values: [values.yaml]}]\n",
        ),
        ("values.yaml", &values),
        ("metalmark.lock", &lock),
        ("metalmark.evidence", &format!("{line}\n")),
    ]);
    assert_eq!(project.found("fact-conflict"), ["warning - [suse, ubuntu]"]);
    let judged = project.judged().into_iter().map(|judged| judged.finding);
    let conflict =
        judged.filter(|finding| finding.rule == metalmark::model::rule::RuleId::FactConflict);
    let help: Vec<String> = conflict.flat_map(|finding| finding.help).collect();
    assert_eq!(help, ["remove it here, or correct it"]);
}

#[test]
fn a_fact_of_an_image_is_a_scalar_a_list_of_them_or_a_path_in_a_map() {
    for [property, fact, expected] in rows(
        "
        mine: a | mine | a
        mine: 1 | mine | 1
        mine: true | mine | true
        mine: null | mine |
        sysexts: [containerd, kubernetes] | sysexts | containerd,kubernetes
        sysexts: [a, 1, true] | sysexts | a,1,true
        sysexts: [] | sysexts |
        sysexts: [a, {b: c}] | sysexts |
        mine: {size: 10, deep: {a: [b, c]}} | mine.size | 10
        mine: {size: 10, deep: {a: [b, c]}} | mine.deep.a | b,c
        mine: {size: 10} | mine |
        ",
    ) {
        let values = format!("os_images: {{img-a: {{uri: 'https://s/a', {property}}}}}\n{CLUSTER}");
        let view = Project::of(&values, "").view();
        let found = view.images["img-a"].facts.text(fact);
        assert_eq!(found.unwrap_or_default(), expected, "{property}");
        assert_ne!(found, Some(""), "{property}");
    }
}

#[test]
fn what_is_false_is_the_text_false() {
    let values = format!(
        "os_images: {{img-a: {{uri: 'https://s/a', hardened: false, signed: true}}}}\n{CLUSTER}"
    );
    let view = Project::of(&values, "").view();
    let facts = &view.images["img-a"].facts;
    assert_eq!(facts.text("hardened"), Some("false"));
    assert_eq!(facts.text("signed"), Some("true"));
}

/// A map without one of the usual names holds images where each value is a map and one of them has a fact of images.
#[test]
fn a_file_of_other_maps_holds_no_image_facts() {
    for (facts, holds) in [
        ("img-a: {sha256: aa}\nimg-b: {os: suse}\n", true),
        ("img-a: {k8s-version: 1.31.8}\n", true),
        ("img-a: {os: suse}\n", false),
        ("server: {port: '80'}\nclient: {name: x}\n", false),
        ("img-a: {sha256: aa}\nversion: '1'\n", false),
    ] {
        let stage = project()
            .cluster("edge", CLUSTER)
            .settings("images: {facts: [facts.yaml]}")
            .file("facts.yaml", facts);
        let printed = stage.run("check").outcome.stdout;
        let is_empty = printed.contains("`facts.yaml` holds no image facts");
        assert_eq!(is_empty, !holds, "{facts}: {printed}");
    }
}
