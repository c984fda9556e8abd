//! The journey in the reduced copy. Plain steps need metalmark only; a real Helm confirms each of them.

use std::collections::BTreeSet;

use super::facts;
use super::helm;
use super::project::{AFTER, BEFORE, Project, Reported};

pub(super) const CHART: &str = "charts/sylva-units/values.yaml";
const REGISTRY: &str = "oci://registry.example.org/images/builder";
const SITE: &str = "environment-values/workload-clusters/edge-selector/values.yaml";
pub(super) const OVERLAYS: &str = "[{target: helm-values, path: overlays}]";

/// Each cluster with its folder.
const CLUSTERS: [(&str, &str); 4] = [
    ("cloud", "environment-values/cloud"),
    ("edge-key", "environment-values/workload-clusters/edge-key"),
    (
        "edge-selector",
        "environment-values/workload-clusters/edge-selector",
    ),
    ("metal", "environment-values/metal"),
];

/// The image of each pool at first, as the levels select it.
const POOLS: &str = "\
cloud/control-plane ubuntu-noble-plain-kubeadm-1-31-8
cloud/md0 ubuntu-noble-hardened-kubeadm-1-31-8
cloud/md1 ubuntu-noble-plain-kubeadm-1-31-8
edge-key/control-plane ubuntu-noble-plain-rke2-1-31-8
edge-key/md0 opensuse-15-6-plain-rke2-1-31-8
edge-key/md1 ubuntu-noble-hardened-rke2-1-31-8
edge-selector/control-plane ubuntu-noble-hardened-rke2-1-30-12
edge-selector/md0 site-debian
metal/control-plane ubuntu-noble-hardened-rke2-1-31-8
metal/md0 ubuntu-noble-plain-rke2-1-31-8
metal/md1 opensuse-15-6-plain-rke2-1-31-8
";

/// What the overlays set: one line per level that selects, and nothing else.
const PINS: &str = "\
cloud cluster.control_plane.capo.image_key=ubuntu-noble-plain-kubeadm-1-31-8
cloud cluster.machine_deployment_default.capo.os_image_selector._os_images_key_=(sylva--)?ubuntu-noble-hardened-kubeadm-1-31-8
cloud cluster.machine_deployments.md1.capo.os_image_selector._os_images_key_=(sylva--)?ubuntu-noble-plain-kubeadm-1-31-8
edge-key cluster.capm3.image_key=ubuntu-noble-plain-rke2-1-31-8
edge-key cluster.machine_deployment_default.capm3.image_key=opensuse-15-6-plain-rke2-1-31-8
edge-key cluster.machine_deployments.md1.capm3.image_key=ubuntu-noble-hardened-rke2-1-31-8
edge-selector cluster.capm3.os_image_selector._os_images_key_=(sylva--)?ubuntu-noble-hardened-rke2-1-30-12
edge-selector cluster.machine_deployments.md0.capm3.os_image_selector._os_images_key_=site-debian
metal cluster.capm3.os_image_selector._os_images_key_=(sylva--)?ubuntu-noble-plain-rke2-1-31-8
metal cluster.control_plane.capm3.os_image_selector._os_images_key_=(sylva--)?ubuntu-noble-hardened-rke2-1-31-8
metal cluster.machine_deployments.md1.capm3.os_image_selector._os_images_key_=(sylva--)?opensuse-15-6-plain-rke2-1-31-8
";

/// The image that nobody boots, and that an additional selector of `metal` serves.
const ADDITIONAL: &str = "ubuntu-noble-plain-rke2-1-30-12";

/// The selections that a person changes: three clusters, one level each. The file, the old text and the new one.
const CHANGES: [(&str, &str, &str); 3] = [
    (
        "environment-values/metal/values.yaml",
        "hardened: false # until the audit",
        "hardened: true # since the audit",
    ),
    (
        "environment-values/cloud/values.yaml",
        "image_key: ubuntu-noble-plain-kubeadm-1-31-8",
        "image_key: ubuntu-noble-hardened-kubeadm-1-31-8",
    ),
    (
        "environment-values/workload-clusters/edge-key/values.yaml",
        "capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}",
        "capm3: {image_key: ubuntu-noble-hardened-rke2-1-31-8}",
    ),
];

/// The keys of the next version: newer patches of the same images.
pub(super) fn next(text: &str) -> String {
    text.replace("-1-31-8", "-1-31-9")
        .replace("-1-30-12", "-1-30-13")
}

/// A copy with the facts of both versions and the list of what the next version offers, before `init`.
pub(super) fn copy() -> Project {
    let project = Project::copy("fixtures/journey");
    let images = images(&project);
    project.write("os-images-info.yaml", facts::info(&images));
    let offered = images.iter().filter(|(_, tag)| *tag == AFTER);
    let offered: Vec<&str> = offered.map(|(key, _)| key.as_str()).collect();
    project.write("offered.txt", offered.join("\n"));
    project
}

/// Every image of both versions, as key and version.
fn images(project: &Project) -> Vec<(String, &'static str)> {
    let catalog = facts::catalog(&project.read(CHART));
    assert_eq!(catalog.len(), 9);
    let of = |tag| move |key: String| (key, tag);
    let after = catalog.iter().map(|key| next(key)).map(of(AFTER));
    catalog
        .iter()
        .cloned()
        .map(of(BEFORE))
        .chain(after)
        .collect()
}

/// The same after `init`, with overlays as the only output.
pub(super) fn start() -> Project {
    let project = copy();
    project.init(OVERLAYS);
    project
}

/// The arguments of `update` to the next version.
pub(super) fn update() -> String {
    format!("update {AFTER} --images offered.txt --fix --k8s-versions")
}

fn overlay(cluster: &str) -> String {
    format!("overlays/{cluster}.values.yaml")
}

fn change(project: &Project) {
    for (path, from, to) in CHANGES {
        project.edit(path, from, to);
    }
}

/// What the changed selections make of the lines of [`POOLS`] and [`PINS`].
fn changed(lines: &str) -> String {
    let is_changed = |line: &str| {
        let pools = [
            "cloud/control-plane ",
            "edge-key/control-plane ",
            "metal/md0 ",
        ];
        let levels = [
            "cloud cluster.control_plane.",
            "edge-key cluster.capm3.",
            "metal cluster.capm3.",
        ];
        [pools, levels]
            .as_flattened()
            .iter()
            .any(|start| line.starts_with(start))
    };
    lines
        .lines()
        .map(|line| {
            if is_changed(line) {
                line.replace("-plain-", "-hardened-") + "\n"
            } else {
                format!("{line}\n")
            }
        })
        .collect()
}

/// Requires the images, references and checksums that those lines and that version of the builder mean.
fn reports(project: &Project, pools: &str, tag: &str) -> Reported {
    let reported = project.reported();
    let lines: String = reported
        .pools
        .iter()
        .map(|(pool, [key, ..])| format!("{pool} {key}\n"))
        .collect();
    assert_eq!(lines, pools);
    for (pool, [key, uri, sha256]) in &reported.pools {
        if key != "site-debian" {
            assert_eq!(*uri, format!("{REGISTRY}/{key}:{tag}"), "{pool}");
            assert_eq!(facts::of(key, tag)["sha256"], **sha256, "{pool}");
        }
    }
    let additional = if tag == AFTER {
        next(ADDITIONAL)
    } else {
        ADDITIONAL.to_owned()
    };
    let used = reported.pools.values().map(|[key, ..]| key.clone());
    let served: BTreeSet<String> = used.chain([additional]).collect();
    assert_eq!(reported.served, served);
    reported
}

fn writes(project: &Project, pins: &str) {
    let mut written = String::new();
    for (cluster, _) in CLUSTERS {
        for pin in project.pins(&overlay(cluster)) {
            written += &format!("{cluster} {pin}\n");
        }
    }
    assert_eq!(written, pins);
}

/// A person renders what a selection or a version changed; then nothing is left to write.
fn renders(project: &Project) {
    project.succeeds("render");
    let again = project.succeeds("render");
    assert_eq!(again.stdout, "5 files rendered: 5 unchanged\n");
    let check = project.succeeds("render --check");
    assert_eq!(check.stdout, again.stdout);
}

/// The site's own image is of the next patch version too, which is its owner's work.
pub(super) fn own_image_is_rebuilt(project: &Project) {
    project.edit(SITE, "1.30.12+rke2r1", "1.30.13+rke2r1");
    project.edit(SITE, "debian:7", "debian:8");
}

#[test]
fn init_finds_every_cluster_and_pool() {
    let project = copy();
    let outcome = project.init(OVERLAYS);
    assert!(
        outcome
            .stdout
            .contains("found 4 clusters with 11 node pools"),
        "{}",
        outcome.stdout
    );
    assert!(
        !outcome.stdout.contains("must be fixed first"),
        "{}",
        outcome.stdout
    );
    let check = project.succeeds("check");
    assert_eq!(
        check.stdout,
        "no findings in 4 clusters; 11 node pools checked: 11 proven\n"
    );
}

#[test]
fn the_first_render_pins_the_image_of_each_level() {
    let project = start();
    project.succeeds("render");
    reports(&project, POOLS, BEFORE);
    writes(&project, PINS);
    renders(&project);
}

#[test]
fn a_changed_selection_changes_the_overlays_of_its_clusters() {
    let project = start();
    project.succeeds("render");
    change(&project);
    let before = project.files("");
    assert_eq!(project.run("render --check").status, 1);
    assert_eq!(project.changed_since(&before), [""; 0]);
    renders(&project);
    reports(&project, &changed(POOLS), BEFORE);
    writes(&project, &changed(PINS));
    let differing = project.changed_since(&before);
    for (cluster, _) in CLUSTERS {
        let is_changed = differing.contains(&overlay(cluster));
        assert_eq!(
            is_changed,
            cluster != "edge-selector",
            "{cluster}: {differing:?}"
        );
    }
    assert!(
        differing.iter().all(|path| path.starts_with("overlays/")),
        "{differing:?}"
    );
}

#[test]
fn update_moves_every_pool_to_the_next_version() {
    let project = start();
    project.succeeds("render");
    change(&project);
    project.succeeds("render");
    own_image_is_rebuilt(&project);
    let (files, before) = (project.files(""), project.read(CHART));
    let check = project.run(&format!("{} --check", update()));
    assert_eq!(check.status, 1, "{}", check.stderr);
    assert_eq!(project.changed_since(&files), [""; 0]);
    project.succeeds(&update());
    // Each line of the chart is the old one, with the next version's names and numbers.
    let wanted = next(&before)
        .replace(BEFORE, AFTER)
        .replace("v1.31.8", "v1.31.9")
        .replace("v1.30.12+rke2r1", "v1.30.13+rke2r1");
    assert_eq!(project.read(CHART), wanted);
    reports(&project, &next(&changed(POOLS)), AFTER);
    writes(&project, &next(&changed(PINS)));
    for (cluster, version) in CLUSTERS.map(|(cluster, _)| cluster).into_iter().zip([
        "v1.31.9",
        "v1.31.9+rke2r1",
        "v1.30.13+rke2r1",
        "v1.31.9+rke2r1",
    ]) {
        assert_eq!(project.k8s_version(cluster), version, "{cluster}");
    }
    renders(&project);
    let again = project.succeeds(&update());
    assert!(
        again.stderr.contains("the catalog lists what"),
        "{}",
        again.stderr
    );
    renders(&project);
}

#[test]
fn an_own_image_of_the_site_keeps_its_facts() {
    let project = start();
    project.succeeds("render");
    let site = project.values(SITE);
    let rendered = project.values(&overlay("edge-selector"));
    let own = &site["os_images"]["site-debian"];
    let written = &rendered["os_images"]["site-debian"];
    assert!(written.is_null() || written == own, "{written}");
}

/// Requires that both Helms hand over what is reported, in every cluster. The overlay pins the selected images: without it
/// the chart selects the same.
fn chart_agrees(programs: &helm::Programs, project: &Project, step: &str) {
    let reported = project.reported();
    let mut served = BTreeSet::new();
    for (cluster, folder) in CLUSTERS {
        let release = programs.release(project.path(), folder, "{}");
        let overlay = project.read(&overlay(cluster));
        let version = project.k8s_version(cluster);
        for (name, program) in &programs.helms {
            for (way, overlay) in [("overlay", Some(&*overlay)), ("no overlay", None)] {
                let at = format!("{cluster}, {step}, {name}, {way}");
                let chart = project.path().join("charts/sylva-units");
                let printed = helm::template(program, project.path(), &chart, &release, overlay)
                    .unwrap_or_else(|error| panic!("{at}: {error}"));
                served.extend(helm::agrees(&at, &reported, cluster, &version, &printed));
            }
        }
    }
    assert_eq!(served, reported.served, "{step}");
}

#[test]
fn the_chart_receives_the_reported_images() {
    let Some(programs) = helm::programs() else {
        return;
    };
    let project = start();
    let known = facts::registry(REGISTRY, &images(&project));
    project.write("charts/sylva-units/facts.yaml", &known);
    project.succeeds("render");
    chart_agrees(&programs, &project, "first render");
    change(&project);
    project.succeeds("render");
    chart_agrees(&programs, &project, "changed selections");
    own_image_is_rebuilt(&project);
    project.succeeds(&update());
    chart_agrees(&programs, &project, "update");
}

/// From Sylva 1.6, the chart calls an image of its catalog `REGISTRY--NAME` where it gathers facts (docs/sylva.md#the-catalog).
#[test]
fn pins_select_the_same_images_where_the_chart_calls_them_by_their_registry() {
    let Some(programs) = helm::programs() else {
        return;
    };
    let project = start();
    let known = facts::registry(REGISTRY, &images(&project));
    project.write("charts/sylva-units/facts.yaml", &known);
    project.succeeds("render");
    let reported = project.reported();
    project.edit(
        "charts/sylva-units/templates/_images.tpl",
        "{{ dict $key (dict",
        "{{ dict (printf \"%s--%s\" $image.os_images_oci_registry $key) (dict",
    );
    let chart = project.path().join("charts/sylva-units");
    for (cluster, folder) in [CLUSTERS[2], CLUSTERS[3]] {
        let release = programs.release(project.path(), folder, "{}");
        let overlay = project.read(&overlay(cluster));
        for (name, program) in &programs.helms {
            let printed = helm::template(program, project.path(), &chart, &release, Some(&overlay));
            let printed = printed.unwrap_or_else(|error| panic!("{cluster}, {name}: {error}"));
            let handed = helm::handed(&printed, cluster);
            assert!(!handed.pools.is_empty());
            for (pool, [key, uri, sha256]) in handed.pools {
                let [ours, same @ ..] = &reported.pools[&pool];
                let called = match &**ours {
                    "site-debian" => ours.clone(),
                    _ => format!("sylva--{ours}"),
                };
                assert_eq!(key, called, "{pool}, {name}");
                assert_eq!([uri, sha256], *same, "{pool}, {name}");
            }
        }
    }
}

/// The reduced chart is no rubber stamp: it refuses what Sylva's library refuses.
#[test]
fn the_chart_refuses_what_the_library_refuses() {
    let Some(programs) = helm::programs() else {
        return;
    };
    let project = start();
    let known = facts::registry(REGISTRY, &images(&project));
    project.write("charts/sylva-units/facts.yaml", &known);
    let chart = project.path().join("charts/sylva-units");
    let selector = |text: &str| format!("cluster: {{capm3: {{os_image_selector: {{{text}}}}}}}\n");
    let cases = [
        ("metal", selector("os: debian"), "0 images match"),
        ("metal", selector("os: .*"), "images match"),
        (
            "metal",
            selector("_os_images_key_: ubuntu-noble-plain-rke2-1-30-12"),
            "0 images match",
        ),
        (
            "metal",
            "cluster: {capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}}\n".to_owned(),
            "oneOf",
        ),
        (
            "edge-key",
            "cluster: {capm3: {image_key: not-there}}\n".to_owned(),
            "there is no image",
        ),
        (
            "edge-key",
            "os_images: {own-image: {uri: 'oci://r.example/own:1'}}\n".to_owned(),
            "is required of os_images.own-image",
        ),
        (
            "edge-key",
            format!("sylva_diskimagebuilder_version: {AFTER}\n"),
            "the registry has no",
        ),
    ];
    for (cluster, overlay, refusal) in cases {
        let (_, folder) = CLUSTERS[if cluster == "metal" { 3 } else { 1 }];
        let release = programs.release(project.path(), folder, "{}");
        for (name, program) in &programs.helms {
            let printed = helm::template(program, project.path(), &chart, &release, Some(&overlay));
            let error = printed.expect_err("refused");
            assert!(error.contains(refusal), "{name}: {overlay}: {error}");
        }
    }
}
