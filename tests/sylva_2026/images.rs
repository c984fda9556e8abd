//! The images of two builders and three generations, and the registries that they come from.

use snapbox::str;

use super::{gathered, locked, sylva, two_releases};
use crate::support::stage::{Is, assert_text, project, table};

#[test]
fn images_of_two_builders_are_proven_by_their_annotations() {
    let stage = locked("two-builders");
    stage.check_with("--frozen").is(str![[r#"
site-a/control-plane v1.35.6+rke2r1 (values.yaml:20:16): proven, ubuntu-noble-hardened-rke2-1-35 (clusters/site-a/values.yaml:4:30) holds 1.35.6+rke2r1 (metalmark.lock:69:18)
site-a/edge v1.35.6+rke2r1 (values.yaml:20:16): proven, leapmicro-6-0-plain-rke2-1-35 (clusters/site-a/values.yaml:6:39) holds 1.35.6+rke2r1 (metalmark.lock:33:18)

"#]]);
}

#[test]
fn generations_are_one_image_each_and_what_spans_them_is_reported() {
    let stage = locked("generations");
    stage.check().is(str![[r#"
error[several-images-match] forgot/control-plane clusters/forgot/values.yaml:6:30 `{os: ubuntu, hardened: true}` => sylva--ubuntu-noble-hardened-rke2-1-33 | cluster.capm3.os_image_selector.oci-image-registry-key: sylva | sylva-n-1--ubuntu-noble-hardened-rke2-1-33 | cluster.capm3.os_image_selector.oci-image-registry-key: sylva-n-1
warning[selector-too-broad] forgot values.yaml:17:22 `k8s-flavor` => sylva-n-1 | os_image_server_additional_selectors.wide.oci-image-registry-key: sylva-n-1 | sylva-n-2 | os_image_server_additional_selectors.wide.oci-image-registry-key: sylva-n-2
forgot/control-plane v1.33.13+rke2r1 (clusters/forgot/values.yaml:3:16): unknown (several images match its selector)
mgmt/control-plane v1.35.6+rke2r1 (clusters/mgmt/values.yaml:2:16): proven, sylva--ubuntu-noble-hardened-rke2-1-35 (clusters/mgmt/values.yaml:4:30) holds 1.35.6+rke2r1 (metalmark.lock:30:18)
old-site/control-plane v1.33.13+rke2r1 (clusters/old-site/values.yaml:3:16): proven, sylva-n-1--ubuntu-noble-hardened-rke2-1-33 (clusters/old-site/values.yaml:6:30) holds 1.33.13+rke2r1 (metalmark.lock:60:18)

"#]]);
}

#[test]
fn what_no_cluster_selects_is_missed_too_and_the_rest_is_locked() {
    let stage = sylva("missing-images");
    let _ = stage.run("lock").exit(1).stderr(str![[r#"
error[catalog-drift]: the catalog names image `ubuntu-noble-plain-rke2-1-30`, and oci-layout:registry has no artifact of that name
  --> values.yaml:10:3
   |
10 |   ubuntu-noble-plain-rke2-1-30: {os_images_oci_registry: sylva}          # dropped by the builder at 0.7.x
   |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ required here
   |
   = help: it has `registry.example.org/acme/builders/dib/ubuntu-noble-plain-rke2-1-33:0.7.4`

error[catalog-drift]: the catalog names image `leapmicro-6-0-plain-rke2-1-30`, and oci-layout:registry has no artifact of that name
  --> values.yaml:11:3
   |
11 |   leapmicro-6-0-plain-rke2-1-30: {os_images_oci_registry: sylva-n-1}     # built by kiwi, never in dib
   |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ required here
   |
   = help: it has `registry.example.org/acme/builders/dib/ubuntu-noble-plain-rke2-1-33:0.7.4`
   = help: no other image below `oci://registry.example.org/acme/builders/dib` is of `leapmicro`: the registry of the entry may be wrong

error[registry-unknown]: the `url` of registry `dev` is not `oci://…`
  --> values.yaml:12:62
   |
12 |   opensuse-15-6-hardened-rke2-1-31: {os_images_oci_registry: dev}
   |                                                              ^^^ nothing says where this image is

3 errors

"#]]);
    stage.check().is(str![[r#"
warning[lock-missing-image] c1 values.yaml:11:3 `leapmicro-6-0-plain-rke2-1-30` values.yaml:10:3 `ubuntu-noble-plain-rke2-1-30` => metalmark lock
error[registry-unknown] values.yaml:12:62 `dev`
c1/control-plane v1.33.5+rke2r1 (values.yaml:13:24): proven, ubuntu-noble-plain-rke2-1-33 (clusters/c1/values.yaml:3:30) holds 1.33.5+rke2r1 (metalmark.lock:15:18)

"#]]);
}

#[test]
fn an_image_of_another_registry_than_it_says_is_reported() {
    let stage = sylva("generations");
    let dib = "oci://registry.example.org/acme/builders/dib/ubuntu-noble-hardened-rke2-1-33:0.7.14";
    stage.edit("values.yaml", dib, &dib.replace("0.7.14", "0.5.13"));
    let found = stage.check();
    assert_text(
        &found.of_rule("fact-conflict").join("\n"),
        str![[
            r#"warning[fact-conflict] values.yaml:10:3 `sylva-n-1--ubuntu-noble-hardened-rke2-1-33` values.yaml:10:53 `"oci://registry.example.org/acme/builders/dib/ubuntu-noble-hardened-rke2-1-33:0.5.13"` => uri"#
        ]],
    );
}

#[test]
fn an_image_that_the_registry_filter_alone_keeps_away_is_the_nearest() {
    let stage = locked("two-step-upgrade");
    let filter = "os_image_selector_autoselect_registries: sylva";
    stage.edit(
        "values.yaml",
        &format!("{filter}-n-1\n"),
        &format!("{filter}\n"),
    );
    let found = stage.run("check site-a").exit(1).outcome.stdout;
    let helps = found.lines().filter(|line| line.contains("= help: "));
    assert_text(
        &helps.collect::<Vec<_>>().join("\n"),
        str![[r#"
   = help: to boot `sylva-n-1--ubuntu-noble-plain-kubeadm-1-33`: `cluster.control_plane.capm3.os_image_selector.oci-image-registry-key: sylva-n-1`
   = help: to boot `sylva--ubuntu-noble-plain-kubeadm-1-33`: `cluster.k8s_version: v1.33.13`
   = help: to boot `sylva--ubuntu-noble-plain-kubeadm-1-34`: `cluster.k8s_version: v1.34.9`
"#]],
    );
    let found = stage.run("check site-b").exit(1).outcome.stdout;
    let helps = found.lines().filter(|line| line.contains("= help: "));
    assert_text(
        &helps.collect::<Vec<_>>().join("\n"),
        str![[r#"
   = help: to boot `sylva-n-1--ubuntu-noble-plain-kubeadm-1-32`: `cluster.control_plane.capm3.os_image_selector.oci-image-registry-key: sylva-n-1`
   = help: to boot `sylva--ubuntu-noble-plain-kubeadm-1-33`: `cluster.k8s_version: v1.33.13`
   = help: `sylva--ubuntu-noble-plain-kubeadm-1-34` is near: it has `k8s-version: 1.34.9`, not `1.32.11`
"#]],
    );
}

#[test]
fn an_additional_selector_that_serves_nothing_is_reported() {
    let stage = locked("generations");
    let line = "  narrow: {os: ubuntu, k8s-flavor: rke2, k8s-version: '1\\.33\\..*', oci-image-registry-key: sylva-n-1}";
    let found = |selector: &str| {
        stage.edit("values.yaml", line, &format!("{line}\n  more: {selector}"));
        let stdout = stage.run("check mgmt").outcome.stdout;
        stage.edit("values.yaml", &format!("\n  more: {selector}"), "");
        let lines = stdout
            .lines()
            .skip_while(|line| !line.contains("`os_image_server_additional_selectors.more`"));
        let lines = lines.take_while(|line| !line.is_empty());
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_text(
        &(found("{oci-image-registry-key: sylva-n1}")
            + &found("{os: ubuntu, k8s-version: '1\\.34\\..*'}")
            + &found("{_os_images_key_: 'ubuntu.*'}")
            // Of no image is this known.
            + &found("{flavor: minimal}")
            + &found("{os: 15.6}")
            + &found("{k8s-version: 'v1\\.33\\..*'}")),
        str![[r#"
warning[no-image-matches]: no image matches `os_image_server_additional_selectors.more`, so it serves none
  --> values.yaml:17:10
   |
17 |   more: {oci-image-registry-key: sylva-n1}
   |          ^^^^^^^^^^^^^^^^^^^^^^ this selector
   |
   = cluster: mgmt
   = help: `sylva--ubuntu-noble-hardened-rke2-1-33` has `oci-image-registry-key: sylva`, and it wants `sylva-n1`
warning[no-image-matches]: no image matches `os_image_server_additional_selectors.more`, so it serves none
  --> values.yaml:17:22
   |
17 |   more: {os: ubuntu, k8s-version: '1\.34\..*'}
   |                      ^^^^^^^^^^^ this selector
   |
   = cluster: mgmt
   = help: `sylva--ubuntu-noble-hardened-rke2-1-33` has `k8s-version: 1.33.13+rke2r1`, and it wants `1\.34\..*`
warning[no-image-matches]: no image matches `os_image_server_additional_selectors.more`, so it serves none
  --> values.yaml:17:10
   |
17 |   more: {_os_images_key_: 'ubuntu.*'}
   |          ^^^^^^^^^^^^^^^ this selector
   |
   = cluster: mgmt
   = help: `sylva--ubuntu-noble-hardened-rke2-1-33` has `_os_images_key_: sylva--ubuntu-noble-hardened-rke2-1-33`, and it wants `ubuntu.*`
warning[no-image-matches]: no image matches `os_image_server_additional_selectors.more`, so it serves none
  --> values.yaml:17:10
   |
17 |   more: {k8s-version: 'v1\.33\..*'}
   |          ^^^^^^^^^^^ this selector
   |
   = cluster: mgmt
   = help: an image's version has no `v`: `os_image_server_additional_selectors.more.k8s-version: '1\.33\..*'`
   = help: `sylva--ubuntu-noble-hardened-rke2-1-33` has `k8s-version: 1.33.13+rke2r1`, and it wants `v1\.33\..*`

"#]],
    );
    std::fs::remove_file(stage.path().join("metalmark.lock")).expect("the lock");
    assert_eq!(found("{k8s-version: '1\\.35\\..*'}"), "");
}

#[test]
fn an_additional_selector_spans_generations_unless_it_names_each() {
    let said = table(
        [
            "sylva-n-[12]",
            ".*",
            "sylva-n-1|sylva-n-2",
            "(sylva-n-2|sylva-n-1)",
            "sylva-n-2",
        ],
        |pattern| {
            let stage = locked("generations");
            let wide = "wide: {os: ubuntu, k8s-flavor: rke2, k8s-version: '1\\.32\\..*'";
            stage.edit(
                "values.yaml",
                wide,
                &format!("{wide}, oci-image-registry-key: '{pattern}'"),
            );
            let found = stage.check_with("mgmt");
            found
                .of_rule("selector-too-broad")
                .into_iter()
                .map(str::to_owned)
                .collect()
        },
    );
    said.is(str![[r#"
sylva-n-[12]
    warning[selector-too-broad] mgmt values.yaml:17:66 `oci-image-registry-key` => sylva-n-1 | os_image_server_additional_selectors.wide.oci-image-registry-key: sylva-n-1 | sylva-n-2 | os_image_server_additional_selectors.wide.oci-image-registry-key: sylva-n-2
.*
    warning[selector-too-broad] mgmt values.yaml:17:66 `oci-image-registry-key` => sylva-n-1 | os_image_server_additional_selectors.wide.oci-image-registry-key: sylva-n-1 | sylva-n-2 | os_image_server_additional_selectors.wide.oci-image-registry-key: sylva-n-2
sylva-n-1|sylva-n-2
(sylva-n-2|sylva-n-1)
sylva-n-2

"#]]);
}

#[test]
fn an_image_of_an_older_generation_that_only_the_export_has_is_in_the_catalog() {
    let image = "ubuntu-noble-plain-rke2-1-35";
    let listed =
        format!("sylva_diskimagebuilder_images: {{{image}: {{os_images_oci_registry: sylva}}}}\n");
    let values = two_releases("", &listed)
        .replace("1.35.6", "1.35.1")
        .replace(
            "os: ubuntu",
            "os: ubuntu, oci-image-registry-key: sylva-n-1",
        );
    let judged = |tag: &str| {
        let exported = gathered(&format!("sylva-n-1--{image}"), image, tag, "1.35.1+rke2r1");
        let exported = exported.replace("uri:", "oci-image-registry-key: sylva-n-1, uri:");
        let stage = project()
            .cluster("edge", &values)
            .settings("images: {facts: [info.yaml]}")
            .file("info.yaml", format!("os_images:\n{exported}"));
        stage.check().pool_lines()
    };
    // What was exported of another release is none of the registry's images.
    table(["0.7.14", "0.7.13"], |tag| judged(tag)).is(str![[r#"
0.7.14
    edge/control-plane v1.35.1+rke2r1 (edge.yaml:5:24): proven, sylva-n-1--ubuntu-noble-plain-rke2-1-35 (edge.yaml:5:135) holds 1.35.1+rke2r1 (info.yaml:2:193)
0.7.13
    edge/control-plane v1.35.1+rke2r1 (edge.yaml:5:24): unknown (no image matches its selector)

"#]]);
}

/// Of the registry, of which the list has another image.
#[test]
fn an_image_that_only_the_export_has_stays_beside_others_of_its_registry() {
    let image = "ubuntu-noble-plain-rke2-1-35";
    let listed = format!(
        "sylva_diskimagebuilder_images: {{{image}: {{os_images_oci_registry: sylva}}, \
         leapmicro-6-0-plain-rke2-1-35: {{os_images_oci_registry: sylva-n-1}}}}\n"
    );
    let values = two_releases("", &listed).replace("1.35.6", "1.35.1");
    let exported = gathered(
        &format!("sylva-n-1--{image}"),
        image,
        "0.7.14",
        "1.35.1+rke2r1",
    );
    let exported = exported.replace("uri:", "oci-image-registry-key: sylva-n-1, uri:");
    let stage = project()
        .settings("images: {facts: [info.yaml]}")
        .cluster(
            "edge",
            &values.replace(
                "os: ubuntu",
                "os: ubuntu, oci-image-registry-key: sylva-n-1",
            ),
        )
        .file("info.yaml", format!("os_images:\n{exported}"));
    assert_text(
        &stage.check().pool_lines().join("\n"),
        str![
            "edge/control-plane v1.35.1+rke2r1 (edge.yaml:5:24): proven, sylva-n-1--ubuntu-noble-plain-rke2-1-35 (edge.yaml:5:135) holds 1.35.1+rke2r1 (info.yaml:2:193)"
        ],
    );
}

#[test]
fn a_name_means_the_only_image_that_the_chart_has_of_it() {
    let name = "ubuntu-noble-plain-rke2-1-35";
    let image = gathered(
        &format!("sylva-n-1--{name}"),
        name,
        "0.7.14",
        "1.35.6+rke2r1",
    );
    let values = two_releases("", &format!("os_images:\n{image}"));
    let selector = "os_image_selector: {os: ubuntu}";
    for choice in [
        format!("image_key: {name}"),
        format!("{selector}, image_key: {name}"),
    ] {
        let stage = project().cluster("edge", &values.replace(selector, &choice));
        let lines = stage.check().pool_lines().join("\n");
        let proven = format!("proven, sylva-n-1--{name}");
        assert!(lines.contains(&proven), "{lines}");
    }
}

#[test]
fn a_registry_before_a_name_is_no_part_of_what_the_name_says() {
    let image = |key: &str| {
        format!(
            "os_images: {{{key}: {{uri: 'https://images.example.org/a.raw', sha256: {}, image-format: raw}}}}\n",
            "a".repeat(64)
        )
    };
    for key in [
        "ubuntu-noble-plain-rke2-1-35-6",
        "sylva--ubuntu-noble-plain-rke2-1-35-6",
    ] {
        let stage = project().cluster("edge", &two_releases("", &image(key)));
        let stage = stage.settings("matching: normalized");
        let stdout = stage.run("check").exit(0).outcome.stdout;
        assert!(stdout.contains("1 by name only"), "{stdout}");
    }
}

#[test]
fn a_selector_for_an_image_of_which_nothing_is_known_names_its_key() {
    let image = format!(
        "os_images: {{gateway: {{uri: 'https://images.example.org/a.raw', sha256: {}, image-format: raw}}}}\n",
        "a".repeat(64)
    );
    let values = two_releases("", &image);
    let keyed = values.replace("os_image_selector: {os: ubuntu}", "image_key: gateway");
    let stage = project()
        .file("edge.yaml", keyed)
        .file("mgmt.yaml", values.replace("os: ubuntu", "os: other"))
        .settings("clusters: [{name: mgmt, values: [mgmt.yaml]}, {name: edge, values: [edge.yaml], management: mgmt}]");
    let stdout = stage.run("check").outcome.stdout;
    let help = stdout
        .lines()
        .find(|line| line.contains("additional_selectors"));
    assert_eq!(
        help.map(str::trim),
        Some(
            "= help: `os_image_server_additional_selectors.gateway: {_os_images_key_: 'gateway'}`"
        )
    );
}

#[test]
fn a_name_without_its_registry_is_near_the_images_of_that_name() {
    let images: String = [
        "sylva--ubuntu-noble-plain-rke2-1-35",
        "sylva-n-1--ubuntu-noble-plain-rke2-1-35",
    ]
    .map(|key| {
        gathered(
            key,
            "ubuntu-noble-plain-rke2-1-35",
            "0.7.14",
            "1.35.6+rke2r1",
        )
    })
    .concat();
    let values = two_releases("", &format!("os_images:\n{images}"));
    let selector = "os_image_selector: {os: ubuntu}";
    let keyed = values.replace(selector, "image_key: ubuntu-noble-plain-rke2-1-35");
    let stdout = project()
        .cluster("edge", &keyed)
        .run("check")
        .exit(1)
        .outcome
        .stdout;
    let near = "`sylva--ubuntu-noble-plain-rke2-1-35` is near";
    assert!(stdout.contains(near), "{stdout}");
}
