//! Checksums that machine templates take, by provider, by style and for images that pools give by a URL.

use super::super::support::project::Project;
use super::rows::{boots, each, each_with, found};

const SUM: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[test]
fn every_image_that_is_stamped_has_the_checksum_that_its_provider_needs() {
    let own = "os_images";
    let built = "sylva_diskimagebuilder_images";
    let style = "images: {checksum: url}\n";
    let pulled = "images: {url: '{{ image.uri }}'}\n";
    let fixed = "images: {url: 'oci://h/{{ image.key }}'}\n";
    let served = "images: {url: 'https://h/{{ image.key }}'}\n";
    let lock = "metalmark lock";
    let by_url = "images: {checksum: url}";
    let info = "images: {facts: [os-images-info.yaml]}";
    let cases = [
        // Provider, list, facts, project; the edits, or that there is nothing to find.
        (
            "capm3",
            own,
            "uri: 'https://s/a'",
            "",
            Some(format!("os_images.img-a.sha256: … | {by_url}")),
        ),
        (
            "capm3",
            own,
            "uri: 'https://s/a', sha256: ''",
            "",
            Some(format!("os_images.img-a.sha256: … | {by_url}")),
        ),
        (
            "capm3",
            own,
            "uri: 'https://s/a', md5: ''",
            "",
            Some(format!("os_images.img-a.sha256: … | {by_url}")),
        ),
        ("capm3", own, "uri: 'https://s/a', sha256: aa", "", None),
        ("capm3", own, "uri: 'https://s/a', md5: aa", "", None),
        (
            "capm3",
            own,
            "uri: 'https://s/a', sha256: '', md5: aa",
            "",
            None,
        ),
        (
            "capm3",
            own,
            "uri: 'oci://r/a:1'",
            "",
            Some(format!("{lock} | os_images.img-a.sha256: … | {by_url}")),
        ),
        (
            "capm3",
            built,
            "",
            "",
            Some(format!("{lock} | {info} | {by_url}")),
        ),
        // A URL of the checksum, or a digest in the reference, is enough.
        ("capm3", own, "uri: 'https://s/a'", style, None),
        ("capm3", own, "uri: 'oci://r/a:1'", pulled, None),
        (
            "capm3",
            own,
            "uri: 'https://s/a'",
            pulled,
            Some(format!("os_images.img-a.sha256: … | {by_url}")),
        ),
        ("capm3", own, "uri: 'https://s/a'", fixed, None),
        (
            "capm3",
            own,
            "uri: 'oci://r/a:1'",
            served,
            Some(format!("{lock} | os_images.img-a.sha256: … | {by_url}")),
        ),
        // OpenStack takes the md5, of what the user declares: the builder's is pushed with it.
        (
            "capo",
            own,
            "uri: 'https://s/a', sha256: aa",
            "",
            Some("os_images.img-a.md5: …".to_owned()),
        ),
        (
            "capo",
            own,
            "uri: 'https://s/a', md5: ''",
            "",
            Some("os_images.img-a.md5: …".to_owned()),
        ),
        ("capo", own, "uri: 'https://s/a', md5: aa", "", None),
        (
            "capo",
            own,
            "uri: 'oci://r/a:1'",
            style,
            Some(format!("{lock} | os_images.img-a.md5: …")),
        ),
        ("capo", built, "", "", None),
        ("capv", own, "uri: 'https://s/a'", "", None),
    ];
    for (provider, list, facts, more, edits) in cases {
        let values = boots(provider, list, facts);
        let expected: Vec<String> = edits
            .map(|edits| format!("error control-plane [img-a, img-a] => {edits}"))
            .into_iter()
            .collect();
        assert_eq!(
            found("checksum-missing", &values, more),
            expected,
            "{more}{values}"
        );
    }
}

#[test]
fn a_checksum_is_a_digest_of_its_kind() {
    let sum = SUM;
    let (md5, sha512) = (&SUM[..32], SUM.repeat(2));
    for (name, value, edit) in [
        ("sha256", sum.to_owned(), None),
        ("md5", md5.to_owned(), None),
        ("sha256", String::new(), None),
        (
            "sha256",
            md5.to_owned(),
            Some("sha256: … | sha256sum".to_owned()),
        ),
        (
            "sha256",
            sha512.clone(),
            Some("sha256: … | sha256sum".to_owned()),
        ),
        ("md5", sum.to_owned(), Some("md5: … | md5sum".to_owned())),
        (
            "sha256",
            format!("sha256:{sum}"),
            Some(format!("sha256: {sum}")),
        ),
        ("sha256", sum.to_uppercase(), Some(format!("sha256: {sum}"))),
        (
            "sha256",
            sum.replacen('a', "g", 1),
            Some("sha256: … | sha256sum".to_owned()),
        ),
        (
            "sha512",
            "zz".to_owned(),
            Some("sha512: … | sha512sum".to_owned()),
        ),
    ] {
        let values = boots(
            "capm3",
            "os_images",
            &format!("uri: 'https://s/a', {name}: '{value}'"),
        );
        let expected: Vec<String> = edit
            .map(|edit| format!("error control-plane ['{value}'] => {edit}"))
            .into_iter()
            .collect();
        assert_eq!(
            found("checksum-malformed", &values, ""),
            expected,
            "{values}"
        );
    }
    let literal = |kind: &str, value: &str| {
        let kind = if kind.is_empty() {
            String::new()
        } else {
            format!(", machine_image_checksum_type: {kind}")
        };
        format!(
            "cluster: {{capm3: {{machine_image_url: 'https://s/a', machine_image_checksum: '{value}'{kind}}}}}"
        )
    };
    let wrong = "machine_image_checksum: … | sha256sum";
    for (kind, value, expected) in [
        ("", sum, None),
        ("", md5, None),
        ("", &sha512, None),
        ("", &sum[1..], Some(wrong)),
        ("sha256", sum, None),
        ("sha256", md5, Some(wrong)),
        ("md5", md5, None),
        ("sha512", &sha512, None),
        ("sha512", sum, Some("machine_image_checksum: … | sha512sum")),
        ("sha256", "https://s/a.sha256sum", None),
        ("sha256", "http://s/a.sha256sum", None),
        ("sha256", "ftp://s/a.sha256sum", Some(wrong)),
        ("sha256", "", None),
    ] {
        let values = literal(kind, value);
        let expected: Vec<String> = expected
            .map(|edit| format!("error control-plane ['{value}'] => {edit}"))
            .into_iter()
            .collect();
        assert_eq!(
            found("checksum-malformed", &values, ""),
            expected,
            "{values}"
        );
    }
    // `auto` is for hosts only; other providers are not asked for a type.
    let unknown = literal("auto", sum);
    assert_eq!(
        found("checksum-malformed", &unknown, ""),
        ["error control-plane [auto] => machine_image_checksum_type: sha256"]
    );
    let elsewhere = unknown.replace("capm3:", "capi_providers: {infra_provider: capo}, capo:");
    assert_eq!(
        found("checksum-malformed", &elsewhere, ""),
        Vec::<String>::new()
    );
}

/// No template names it, so that it is the reference that comes to mean another image.
#[test]
fn an_image_that_changes_behind_its_reference_is_reported() {
    let project = |uri: &str, sum: &str| {
        let facts = format!("uri: 'oci://s/{uri}', {sum}");
        Project::of(&boots("capm3", "os_images", &facts), "")
    };
    let (old, new) = (
        format!("sha256: {SUM}"),
        format!("sha256: {}", "b".repeat(64)),
    );
    let reported = format!("error - [{}]", "b".repeat(64));
    for ((was, sum), (is, now), expected) in [
        (("a:1", &*old), ("a:1", &*new), &[&*reported][..]),
        (("a:1", &old), ("a:2", &new), &[]),
        (("a:1", &old), ("a:1", &old), &[]),
        (("a:1", ""), ("a:1", &new), &[]),
    ] {
        let found = project(was, sum).found_in_change(&project(is, now), "image-replaced-in-place");
        assert_eq!(found, expected, "{was} {sum} {is} {now}");
    }
}

#[test]
fn a_checksum_is_better_a_digest_than_a_url() {
    let style = "images: {checksum: url}\n";
    each(
        "checksum-by-url",
        &[
            ("cluster: {capm3: {image_key: noble-31}}", &[]),
            (
                "cluster: {capm3: {machine_image_url: 'https://s/a', machine_image_checksum: aa}}",
                &[],
            ),
            ("cluster: {capm3: {machine_image_url: 'https://s/a'}}", &[]),
            (
                "cluster: {capm3: {machine_image_url: 'https://s/a', machine_image_checksum: 'https://s/b'}}",
                &[
                    "warning control-plane ['https://s/b'] => cluster.capm3.machine_image_checksum: … | sha256sum",
                ],
            ),
            // The catalog knows the file: its digest is the edit.
            (
                "os_images: {noble-31: {filename: n.raw}}\ncluster: {capm3: {machine_image_url: 'https://s/n.raw?x=1'}, control_plane: {capm3: {machine_image_checksum: 'http://s/b'}}}",
                &[
                    "warning control-plane ['http://s/b'] => cluster.control_plane.capm3.machine_image_checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                ],
            ),
            (
                "cluster: {capi_providers: {infra_provider: capo}, capo: {machine_image_url: 'https://s/a', machine_image_checksum: 'https://s/b'}}",
                &[],
            ),
        ],
    );
    each_with(
        style,
        "checksum-by-url",
        &[
            (
                "cluster: {capm3: {image_key: noble-31}}",
                &["warning control-plane [] => images: {checksum: literal}"],
            ),
            ("cluster: {capm3: {image_key: gone}}", &[]),
            (
                "cluster: {capi_providers: {infra_provider: capo}, capo: {image_key: noble-31}}",
                &[],
            ),
        ],
    );
    each_with(
        "images: {checksum: url, url: 'oci://h/{{ image.key }}'}\n",
        "checksum-by-url",
        &[("cluster: {capm3: {image_key: noble-31}}", &[])],
    );
}
