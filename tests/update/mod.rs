//! `metalmark update` on whole workspaces: the real binary, and every byte that it leaves.

mod bot;
mod builders;
mod notes;
mod renovate;
mod sylva;
mod world;
mod year;

use std::fs;

use snapbox::str;

use crate::git::{commit_all, git};
use crate::programs;
use crate::support::stage::{Is, Run, Stage, Texts, changes, project, table};

/// A project in the folder `before`, and beside it what it refers to.
fn fixture(name: &str) -> Stage {
    project().folder(&format!("fixtures/update/{name}"))
}

/// With what an update leaves to people as warnings, so that what it writes stays.
const LENIENT: &str = "policy: {rules: {checksum-missing: warning, format-missing: warning, image-name-invalid: warning, unknown-image: warning, nothing-checked: warning, k8s-version-mismatch: warning, no-image-matches: warning}}\n";

fn lenient(stage: Stage) -> Stage {
    let file = "before/metalmark.yaml";
    let text = stage.read(file) + LENIENT;
    stage.write(file, text);
    stage
}

fn update(stage: &Stage, words: &str) -> Run {
    stage.run(&format!("-C before update {words}"))
}

/// What a run printed, without the lines that findings quote.
fn said(run: &Run) -> String {
    let is_own = |line: &&str| {
        let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        !rest.starts_with([' ', '.']) || rest.starts_with(" error") || rest.starts_with(" file")
    };
    let lines = run
        .outcome
        .stdout
        .lines()
        .filter(is_own)
        .filter(|line| !line.is_empty());
    let stdout: String = lines.map(|line| format!("{line}\n")).collect();
    format!(
        "exit {}\n{stdout}{}",
        run.outcome.status, run.outcome.stderr
    )
}

/// The lines of a run that begin with one of these words.
fn lines(run: &Run, words: &[&str]) -> String {
    let screen = format!("{}{}", run.outcome.stdout, run.outcome.stderr);
    let is_one = |line: &&str| words.iter().any(|word| line.starts_with(word));
    let lines = screen.lines().filter(is_one);
    lines.map(|line| format!("{line}\n")).collect()
}

/// Runs an update, and once more, which leaves nothing to edit; says what the first one said and changed.
fn results(stage: &Stage, words: &str) -> (String, String) {
    let before = stage.texts();
    let said = said(&update(stage, words));
    let mut once = stage.texts();
    let changes = changes(&before, &once);
    let again = update(stage, words);
    assert!(again.outcome.stderr.contains("the catalog lists what"));
    let mut twice = stage.texts();
    for files in [&mut once, &mut twice] {
        files.remove("summary.md");
    }
    assert_eq!(once, twice);
    (said, changes)
}

#[test]
fn a_platform_gets_new_images_and_a_summary_and_what_is_left_is_reported() {
    let stage = lenient(fixture("sylva"));
    let words = "0.4.13 --release-notes ../notes.md --fix --k8s-versions --summary ../summary.md";
    let (said, changes) = results(&stage, words);
    said.is(str![[r#"
exit 0
warning[checksum-missing]: the sha256 of image `ubuntu-noble-plain-rke2-1-31-9` is not known
warning[format-missing]: the format of image `ubuntu-noble-plain-rke2-1-31-9` is not known
warning[k8s-version-mismatch]: image `ubuntu-noble-plain-rke2-1-31-9` holds Kubernetes `1.31.9`, not `v1.31.8+rke2r1`
warning[unknown-image]: image `ubuntu-noble-plain-rke2-1-29-15` is not in the catalog
warning[no-image-matches]: no image matches the selector
warning[value-missing]: no image facts are given, so nothing says which checksum, format and version the builder's images have
a Kubernetes version stays: `k8s_version_map.1.31` is `v1.31.8+rke2r1`, and only names say which version the images of it for `rke2` hold; lock them before the update: `metalmark lock`
OS images: 0.4.12 → 0.4.13
1 node pool in 1 cluster will be re-provisioned.

Changed

- ubuntu-noble-hardened-rke2-1-31-8 → ubuntu-noble-hardened-rke2-1-31-9
- ubuntu-noble-plain-rke2-1-31-8 → ubuntu-noble-plain-rke2-1-31-9

Added

- ubuntu-noble-plain-rke2-1-32-5

Removed

- ubuntu-noble-plain-rke2-1-29-15

Node pools whose machines will be re-provisioned

- by-key/control-plane: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13

Node pools left without an image

- by-key/md0: ubuntu-noble-plain-rke2-1-29-15:0.4.12 → no image
- by-selector/control-plane: ubuntu-noble-hardened-rke2-1-31-8:0.4.12 → no image
fixed clusters/by-key.yaml:5:16: `cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-9`
changed clusters/by-key.yaml
changed values.yaml

"#]]);
    changes.is(str![[r#"
before/clusters/by-key.yaml:5
-    image_key: 'ubuntu-noble-plain-rke2-1-31-8' # chosen in spring\r
+    image_key: 'ubuntu-noble-plain-rke2-1-31-9' # chosen in spring\r
before/values.yaml:15
-sylva_diskimagebuilder_version: 0.4.12   # raised by the bot
+sylva_diskimagebuilder_version: 0.4.13   # raised by the bot
before/values.yaml:19
-  "ubuntu-noble-hardened-rke2-1-31-8":
+  "ubuntu-noble-hardened-rke2-1-31-9":
before/values.yaml:23
-  ubuntu-noble-plain-rke2-1-31-8:
+  ubuntu-noble-plain-rke2-1-31-9:
before/values.yaml:27
-  # the last one with 1.29, for ubuntu-noble-plain-rke2-1-29-15 alone
-  ubuntu-noble-plain-rke2-1-29-15:
+  ubuntu-noble-plain-rke2-1-32-5:
summary.md:1
+## OS images: 0.4.12 → 0.4.13
+
+1 node pool in 1 cluster will be re-provisioned.
+
+### Kubernetes versions that stay
+
+- `k8s_version_map.1.31` is `v1.31.8+rke2r1`, and only names say which version the images of it for `rke2` hold; lock them before the update: `metalmark lock`
+
+### Changed
+
+- `ubuntu-noble-hardened-rke2-1-31-8` → `ubuntu-noble-hardened-rke2-1-31-9`
+- `ubuntu-noble-plain-rke2-1-31-8` → `ubuntu-noble-plain-rke2-1-31-9`
+
+### Added
+
+- `ubuntu-noble-plain-rke2-1-32-5`
+
+### Removed
+
+- `ubuntu-noble-plain-rke2-1-29-15`
+
+### Node pools whose machines will be re-provisioned
+
+- by-key/control-plane: `ubuntu-noble-plain-rke2-1-31-8:0.4.12` → `ubuntu-noble-plain-rke2-1-31-9:0.4.13`
+
+### Node pools left without an image
+
+- by-key/md0: `ubuntu-noble-plain-rke2-1-29-15:0.4.12` → no image
+- by-selector/control-plane: `ubuntu-noble-hardened-rke2-1-31-8:0.4.12` → no image

"#]]);
}

#[test]
fn a_locked_platform_is_locked_and_rendered_again() {
    let stage = fixture("locked");
    let before = stage.texts();
    let (said, _) = results(&stage, "0.4.13 --fix --k8s-versions");
    said.is(str![[r#"
exit 0
deleted  rendered/.metalmark-owned  (each rendered file says in its first line whose it is)
updated  rendered/edge-a/edge-a.yaml
updated  rendered/edge-b/edge-b.yaml
2 files rendered: 2 updated, 1 deleted
OS images: 0.4.12 → 0.4.13
4 node pools in 2 clusters will be re-provisioned.

Changed

- ubuntu-noble-plain-rke2-1-31-8 → ubuntu-noble-plain-rke2-1-31-9

Added

- ubuntu-noble-plain-rke2-1-32-5

Kubernetes versions

- v1.31.8+rke2r1 → v1.31.9+rke2r1

Node pools whose machines will be re-provisioned

- edge-a/control-plane: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-a/md0: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-b/control-plane: ubuntu-noble-hardened-rke2-1-30-12:0.4.12 → ubuntu-noble-hardened-rke2-1-30-12:0.4.13
- edge-b/md0: opensuse-15-6-plain-rke2-1-30-12:0.4.12 → opensuse-15-6-plain-rke2-1-30-12:0.4.13
`k8s_version_map.1.32` is missing, and there are images of Kubernetes 1.32 for `rke2`; add `k8s_version_map.1.32`, which is `v1.32.5+rke2r1` for `rke2`
fixed values.yaml:25:11: `k8s_version_map.1.31: v1.31.9+rke2r1`
fixed clusters/edge-a.yaml:6:16: `cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-9`
dropped opensuse-15-6-plain-rke2-1-30-12 sha256:b04531d63b1a… oci://registry.example.org/sylva/diskimage-builder/opensuse-15-6-plain-rke2-1-30-12:0.4.12
added   opensuse-15-6-plain-rke2-1-30-12 sha256:c56b9ba5469b… oci://registry.example.org/sylva/diskimage-builder/opensuse-15-6-plain-rke2-1-30-12:0.4.13
dropped ubuntu-noble-hardened-rke2-1-30-12 sha256:5788f6cd1218… oci://registry.example.org/sylva/diskimage-builder/ubuntu-noble-hardened-rke2-1-30-12:0.4.12
added   ubuntu-noble-hardened-rke2-1-30-12 sha256:9e5bf53c666e… oci://registry.example.org/sylva/diskimage-builder/ubuntu-noble-hardened-rke2-1-30-12:0.4.13
dropped ubuntu-noble-plain-rke2-1-31-8 sha256:2aedbdb27902… oci://registry.example.org/sylva/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12
added   ubuntu-noble-plain-rke2-1-31-9 sha256:7125283f537f… oci://registry.example.org/sylva/diskimage-builder/ubuntu-noble-plain-rke2-1-31-9:0.4.13
added   ubuntu-noble-plain-rke2-1-32-5 sha256:baba8cb2ddea… oci://registry.example.org/sylva/diskimage-builder/ubuntu-noble-plain-rke2-1-32-5:0.4.13
metalmark.lock: 0 kept, 4 added, 0 updated, 3 dropped; written
changed clusters/edge-a.yaml
changed values.yaml

"#]]);
    // What people wrote; the lock and the manifests are what these commands make of it.
    let own = |texts: Texts| -> Texts {
        let is_own = |path: &str| path.contains("/clusters/") || path.ends_with("/values.yaml");
        texts.into_iter().filter(|(path, _)| is_own(path)).collect()
    };
    changes(&own(before), &own(stage.texts())).is(str![[r#"
before/clusters/edge-a.yaml:6
-    image_key: ubuntu-noble-plain-rke2-1-31-8 # chosen in spring
+    image_key: ubuntu-noble-plain-rke2-1-31-9 # chosen in spring
before/values.yaml:8
-sylva_diskimagebuilder_version: 0.4.12
+sylva_diskimagebuilder_version: 0.4.13
before/values.yaml:11
-  ubuntu-noble-plain-rke2-1-31-8:
+  ubuntu-noble-plain-rke2-1-31-9:
+    os_images_oci_registry: sylva
+  ubuntu-noble-plain-rke2-1-32-5:
before/values.yaml:25
-  "1.31": v1.31.8+rke2r1
+  "1.31": v1.31.9+rke2r1

"#]]);
    stage.run("-C before lock --check").exit(0).stderr(str![]);
    stage
        .run("-C before render --check --frozen")
        .exit(0)
        .stdout(str![[r#"
2 files rendered: 2 unchanged

"#]]);
    stage.check_with("-C before").pools(str![[r#"
edge-a/control-plane v1.31.9+rke2r1 (clusters/edge-a.yaml:3:16), edge-a/md0 v1.31.9+rke2r1 (clusters/edge-a.yaml:3:16): proven, ubuntu-noble-plain-rke2-1-31-9 (clusters/edge-a.yaml:6:16) holds 1.31.9+rke2r1 (metalmark.lock:56:18)
edge-b/control-plane v1.30.12+rke2r1 (clusters/edge-b.yaml:4:16): proven, ubuntu-noble-hardened-rke2-1-30-12 (clusters/edge-b.yaml:7:24) holds 1.30.12+rke2r1 (metalmark.lock:36:18)
edge-b/md0 v1.30.12+rke2r1 (clusters/edge-b.yaml:4:16): proven, opensuse-15-6-plain-rke2-1-30-12 (clusters/edge-b.yaml:11:34) holds 1.30.12+rke2r1 (metalmark.lock:16:18)

"#]]);
}

#[test]
fn a_level_that_no_pool_uses_yet_is_fixed_with_the_others() {
    let stage = project()
        .file(
            "before/metalmark.yaml",
            "version: 1\nvalues: [values.yaml]\nclusters: [{name: edge, values: [edge.yaml]}]\n",
        )
        .file(
            "before/values.yaml",
            "\
sylva_diskimagebuilder_version: 0.4.12
sylva_diskimagebuilder_images:
  ubuntu-noble-plain-rke2-1-31-8: {}
  ubuntu-noble-hardened-rke2-1-31-8: {}
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
  capm3:
    image_key: ubuntu-noble-plain-rke2-1-31-8 # of pools without a key of their own: none yet
  machine_deployment_default:
    capm3: {image_key: opensuse-15-6-plain-rke2-1-31-8} # not from this catalog, and nothing follows it
",
        )
        .file(
            "before/edge.yaml",
            "\
cluster:
  control_plane: {capm3: {image_key: ubuntu-noble-hardened-rke2-1-31-8}}
  machine_deployments: {md0: {capm3: {image_key: ubuntu-noble-hardened-rke2-1-31-8}}}
",
        )
        .file(
            "before/offered.txt",
            "oci://registry.example.org/images/ubuntu-noble-plain-rke2-1-31-9:0.4.13\n\
             oci://registry.example.org/images/ubuntu-noble-hardened-rke2-1-31-9:0.4.13\n",
        );
    let words = "0.4.13 --images offered.txt --fix --k8s-versions";
    let stage = lenient(stage);
    let (said, changes) = results(&stage, words);
    said.is(str![[r#"
exit 0
warning[checksum-missing]: the sha256 of image `ubuntu-noble-hardened-rke2-1-31-9` is not known
warning[format-missing]: the format of image `ubuntu-noble-hardened-rke2-1-31-9` is not known
warning[k8s-version-mismatch]: image `ubuntu-noble-hardened-rke2-1-31-9` holds Kubernetes `1.31.9`, not `v1.31.8+rke2r1`
warning[value-missing]: no image facts are given, so nothing says which checksum, format and version the builder's images have
a Kubernetes version stays: `cluster.k8s_version` is `v1.31.8+rke2r1`, and only names say which version the images of it for `rke2` hold; lock them before the update: `metalmark lock`
OS images: 0.4.12 → 0.4.13
2 node pools in 1 cluster will be re-provisioned.

Changed

- ubuntu-noble-plain-rke2-1-31-8 → ubuntu-noble-plain-rke2-1-31-9
- ubuntu-noble-hardened-rke2-1-31-8 → ubuntu-noble-hardened-rke2-1-31-9

Node pools whose machines will be re-provisioned

- edge/control-plane: ubuntu-noble-hardened-rke2-1-31-8:0.4.12 → ubuntu-noble-hardened-rke2-1-31-9:0.4.13
- edge/md0: ubuntu-noble-hardened-rke2-1-31-8:0.4.12 → ubuntu-noble-hardened-rke2-1-31-9:0.4.13
fixed edge.yaml:2:38: `cluster.control_plane.capm3.image_key: ubuntu-noble-hardened-rke2-1-31-9`
fixed edge.yaml:3:50: `cluster.machine_deployments.md0.capm3.image_key: ubuntu-noble-hardened-rke2-1-31-9`
fixed values.yaml:9:16: `cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-9`
changed edge.yaml
changed values.yaml

"#]]);
    changes.is(str![[r#"
before/edge.yaml:2
-  control_plane: {capm3: {image_key: ubuntu-noble-hardened-rke2-1-31-8}}
-  machine_deployments: {md0: {capm3: {image_key: ubuntu-noble-hardened-rke2-1-31-8}}}
+  control_plane: {capm3: {image_key: ubuntu-noble-hardened-rke2-1-31-9}}
+  machine_deployments: {md0: {capm3: {image_key: ubuntu-noble-hardened-rke2-1-31-9}}}
before/values.yaml:1
-sylva_diskimagebuilder_version: 0.4.12
+sylva_diskimagebuilder_version: 0.4.13
before/values.yaml:3
-  ubuntu-noble-plain-rke2-1-31-8: {}
-  ubuntu-noble-hardened-rke2-1-31-8: {}
+  ubuntu-noble-plain-rke2-1-31-9: {}
+  ubuntu-noble-hardened-rke2-1-31-9: {}
before/values.yaml:9
-    image_key: ubuntu-noble-plain-rke2-1-31-8 # of pools without a key of their own: none yet
+    image_key: ubuntu-noble-plain-rke2-1-31-9 # of pools without a key of their own: none yet

"#]]);
}

#[test]
fn without_fix_the_image_that_follows_is_proposed() {
    let stage = project()
        .file(
            "before/metalmark.yaml",
            "version: 1\nvalues: [values.yaml]\nclusters: [{name: edge, values: [edge.yaml]}]\n",
        )
        .file(
            "before/values.yaml",
            "\
diskimage_builder_version: 0.4.13
diskimage_builder_os_images: {ubuntu-jammy-plain-rke2-1-28-8: {enabled: true}, opensuse-15-5-plain-rke2-1-28-8: {}}
cluster:
  k8s_version: v1.28.9+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
",
        )
        .file("before/edge.yaml", "cluster: {name: edge, capm3: {image_key: ubuntu-jammy-plain-rke2-1-28-8}}\n")
        .file(
            "before/offered.txt",
            "ubuntu-jammy-plain-rke2-1-28-9\nopensuse-15-5-plain-rke2-1-28-8\nopensuse-15-5-hardened-rke2-1-28-9\n",
        );
    let stage = lenient(stage);
    let (said, changes) = results(&stage, "--images offered.txt");
    said.is(str![[r#"
exit 0
warning[unknown-image]: image `ubuntu-jammy-plain-rke2-1-28-8` is not in the catalog
OS images: 0.4.13
Which node pools will be re-provisioned is unknown: the values name 0.4.13 already, and neither git nor a lock shows the version before.

Changed

- ubuntu-jammy-plain-rke2-1-28-8 → ubuntu-jammy-plain-rke2-1-28-9

Added

- opensuse-15-5-hardened-rke2-1-28-9

Node pools left without an image

- edge/control-plane: ubuntu-jammy-plain-rke2-1-28-8:0.4.13 → no image
changed values.yaml

"#]]);
    changes.is(str![[r#"
before/values.yaml:2
-diskimage_builder_os_images: {ubuntu-jammy-plain-rke2-1-28-8: {enabled: true}, opensuse-15-5-plain-rke2-1-28-8: {}}
+diskimage_builder_os_images: {ubuntu-jammy-plain-rke2-1-28-9: {enabled: true}, opensuse-15-5-plain-rke2-1-28-8: {}, opensuse-15-5-hardened-rke2-1-28-9: {}}

"#]]);
    stage.check_with("-C before").findings(str![[r#"
warning[unknown-image] edge/control-plane edge.yaml:1:42 `` fix ubuntu-jammy-plain-rke2-1-28-9 => cluster.capm3.image_key: ubuntu-jammy-plain-rke2-1-28-9
warning[nothing-checked] => cluster.capm3.image_key: … | --allow-empty

"#]]);
}

#[test]
fn check_says_what_it_would_do_and_does_nothing() {
    let words = ["would ", "the catalog", "OS images", "- ", "values.yaml"];
    let stages = [fixture("sylva"), fixture("locked")];
    let before = stages.each_ref().map(Stage::texts);
    let run = update(&stages[0], "0.4.13 --images ../notes.md --check").exit(1);
    lines(&run, &words).is(str![[r#"
OS images: 0.4.12 → 0.4.13
- ubuntu-noble-hardened-rke2-1-31-8 → ubuntu-noble-hardened-rke2-1-31-9
- ubuntu-noble-plain-rke2-1-31-8 → ubuntu-noble-plain-rke2-1-31-9
- ubuntu-noble-plain-rke2-1-32-5
- ubuntu-noble-plain-rke2-1-29-15
- by-key/control-plane: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → no image
- by-key/md0: ubuntu-noble-plain-rke2-1-29-15:0.4.12 → no image
- by-selector/control-plane: ubuntu-noble-hardened-rke2-1-31-8:0.4.12 → no image
would set values.yaml:15:33: version 0.4.12 → 0.4.13
would change values.yaml

"#]]);
    let run = update(&stages[0], "0.4.12 --images values.yaml --check").exit(0);
    lines(&run, &words).is(str![[r#"
the catalog lists what 0.4.12 offers
OS images: 0.4.12
values.yaml:15:33: version 0.4.12

"#]]);
    let run = update(&stages[1], "0.4.13 --check --fix --k8s-versions").exit(1);
    lines(&run, &words).is(str![[r#"
would fix clusters/edge-a.yaml:6:16: `cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-9`
OS images: 0.4.12 → 0.4.13
- ubuntu-noble-plain-rke2-1-31-8 → ubuntu-noble-plain-rke2-1-31-9
- ubuntu-noble-plain-rke2-1-32-5
- edge-a/control-plane: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-a/md0: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-b/control-plane: ubuntu-noble-hardened-rke2-1-30-12:0.4.12 → ubuntu-noble-hardened-rke2-1-30-12:0.4.13
- edge-b/md0: opensuse-15-6-plain-rke2-1-30-12:0.4.12 → opensuse-15-6-plain-rke2-1-30-12:0.4.13
would set values.yaml:8:33: version 0.4.12 → 0.4.13
would change values.yaml
would change clusters/edge-a.yaml
would lock 4 images

"#]]);
    assert_eq!(stages.each_ref().map(Stage::texts), before);
}

#[test]
fn only_a_catalog_that_lists_what_is_offered_is_said_to() {
    let listed = [
        "ubuntu-noble-hardened-rke2-1-31-8",
        "ubuntu-noble-plain-rke2-1-30-12",
        "ubuntu-noble-plain-rke2-1-31-8",
        "ubuntu-noble-plain-rke2-1-29-15",
    ]
    .join("\n");
    let cases = [
        ("the same", listed.clone()),
        (
            "one more",
            format!("{listed}\nubuntu-noble-plain-rke2-1-33-1"),
        ),
        (
            "one less",
            listed.replace("ubuntu-noble-plain-rke2-1-29-15", ""),
        ),
        (
            "another patch",
            listed.replace("plain-rke2-1-31-8", "plain-rke2-1-31-9"),
        ),
    ];
    let stage = fixture("sylva");
    let results = table(cases.each_ref().map(|(name, _)| *name), |name| {
        let (_, offered) = cases.iter().find(|case| case.0 == *name).expect("it");
        stage.write("before/names", offered);
        let outcome = update(&stage, "0.4.12 --check --images names").outcome;
        let first = outcome.stderr.lines().next().unwrap_or_default().to_owned();
        vec![format!("exit {}: {first}", outcome.status)]
    });
    results.is(str![[r#"
the same
    exit 0: the catalog lists what 0.4.12 offers
one more
    exit 1: OS images: 0.4.12
one less
    exit 1: OS images: 0.4.12
another patch
    exit 1: OS images: 0.4.12

"#]]);
}

#[test]
fn an_update_that_would_render_nothing_is_refused() {
    // OpenStack's machines of this cluster boot no image, so there is nothing to stamp.
    let stage = fixture("locked");
    stage.edit(
        "before/values.yaml",
        "infra_provider: capm3",
        "infra_provider: capo",
    );
    stage.write("before/clusters/edge-a.yaml", "cluster: {}\n");
    stage.remove("before/clusters/edge-b.yaml");
    let before = stage.texts();
    let run = update(&stage, "0.4.13").exit(1);
    lines(&run, &["error[", "what was"]).is(str![[r#"
error[nothing-checked]: 0 node pools checked; 1 skipped: no image selected
what was written is undone, because of the errors above

"#]]);
    assert_eq!(stage.texts(), before);
}

#[test]
fn a_catalog_without_clusters_is_raised() {
    let stage = fixture("sylva");
    stage.write(
        "before/metalmark.yaml",
        "version: 1\nvalues: [values.yaml]\n",
    );
    stage.write("before/names", "ubuntu-noble-plain-rke2-1-31-8");
    let before = stage.texts();
    update(&stage, "0.4.13 --images names").exit(0);
    changes(&before, &stage.texts()).is(str![[r#"
before/values.yaml:15
-sylva_diskimagebuilder_version: 0.4.12   # raised by the bot
+sylva_diskimagebuilder_version: 0.4.13   # raised by the bot
before/values.yaml:18
-  # Ubuntu, hardened
-  "ubuntu-noble-hardened-rke2-1-31-8":
-    os_images_oci_registry: sylva  # ours
before/values.yaml:21
-    os_images_oci_registry: sylva
-  ubuntu-noble-plain-rke2-1-30-12:
-    os_images_oci_registry: sylva
-  # the last one with 1.29, for ubuntu-noble-plain-rke2-1-29-15 alone
-  ubuntu-noble-plain-rke2-1-29-15:

"#]]);
}

/// The locked platform, raised as a bot does, and nothing else.
fn raise(stage: &Stage) {
    stage.edit("before/values.yaml", "_version: 0.4.12", "_version: 0.4.13");
}

/// What an update says of versions and machines.
fn rolled(stage: &Stage) -> String {
    let run = update(stage, "--check --fix --k8s-versions").exit(1);
    let is_one = |line: &&str| {
        line.starts_with("OS images")
            || line.starts_with("- ") && line.contains('/')
            || line.contains("re-provisioned")
    };
    let lines = run.outcome.stderr.lines().filter(is_one);
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_lock_or_git_shows_what_a_raised_version_rolls() {
    let stage = fixture("locked");
    raise(&stage);
    // The same bytes under both tags of `edge-b/md0`: nothing is stamped anew.
    rolled(&stage).is(str![[r#"
OS images: 0.4.12 → 0.4.13
4 node pools in 2 clusters will be re-provisioned.
Node pools whose machines will be re-provisioned
- edge-a/control-plane: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-a/md0: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-b/control-plane: ubuntu-noble-hardened-rke2-1-30-12:0.4.12 → ubuntu-noble-hardened-rke2-1-30-12:0.4.13
- edge-b/md0: opensuse-15-6-plain-rke2-1-30-12:0.4.12 → opensuse-15-6-plain-rke2-1-30-12:0.4.13

"#]]);
    stage.remove("before/metalmark.lock");
    rolled(&stage).is(str![[r#"
OS images: 0.4.13
2 node pools in 1 cluster will be re-provisioned; whether others are is unknown: the values name 0.4.13 already, and neither git nor a lock shows the version before.
Node pools whose machines will be re-provisioned
- edge-a/control-plane: ubuntu-noble-plain-rke2-1-31-8:0.4.13 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-a/md0: ubuntu-noble-plain-rke2-1-31-8:0.4.13 → ubuntu-noble-plain-rke2-1-31-9:0.4.13

"#]]);
    let stage = fixture("locked");
    stage.remove("before/metalmark.lock");
    let Some(stage) = stage.commit("Before") else {
        return;
    };
    raise(&stage);
    rolled(&stage).is(str![[r#"
OS images: 0.4.12 → 0.4.13
4 node pools in 2 clusters will be re-provisioned, compared with the last commit.
Node pools whose machines will be re-provisioned
- edge-a/control-plane: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-a/md0: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-b/control-plane: ubuntu-noble-hardened-rke2-1-30-12:0.4.12 → ubuntu-noble-hardened-rke2-1-30-12:0.4.13
- edge-b/md0: opensuse-15-6-plain-rke2-1-30-12:0.4.12 → opensuse-15-6-plain-rke2-1-30-12:0.4.13

"#]]);
    // Committed on a branch, as a bot does it: the branch's base tells.
    git(stage.path(), &["switch", "--quiet", "-c", "bot"]);
    commit_all(stage.path(), "Raise the builder");
    rolled(&stage).is(str![[r#"
OS images: 0.4.12 → 0.4.13
4 node pools in 2 clusters will be re-provisioned, compared with the merge base with main.
Node pools whose machines will be re-provisioned
- edge-a/control-plane: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-a/md0: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-b/control-plane: ubuntu-noble-hardened-rke2-1-30-12:0.4.12 → ubuntu-noble-hardened-rke2-1-30-12:0.4.13
- edge-b/md0: opensuse-15-6-plain-rke2-1-30-12:0.4.12 → opensuse-15-6-plain-rke2-1-30-12:0.4.13

"#]]);
}

#[test]
fn a_commit_without_a_catalog_shows_nothing() {
    let stage = fixture("locked");
    stage.remove("before/metalmark.lock");
    let values = stage.read("before/values.yaml");
    stage.write("before/values.yaml", "cluster: {}\n");
    let Some(stage) = stage.commit("Without a catalog") else {
        return;
    };
    stage.write("before/values.yaml", values);
    raise(&stage);
    rolled(&stage).is(str![[r#"
OS images: 0.4.13
2 node pools in 1 cluster will be re-provisioned; whether others are is unknown: the values name 0.4.13 already, and neither git nor a lock shows the version before.
Node pools whose machines will be re-provisioned
- edge-a/control-plane: ubuntu-noble-plain-rke2-1-31-8:0.4.13 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-a/md0: ubuntu-noble-plain-rke2-1-31-8:0.4.13 → ubuntu-noble-plain-rke2-1-31-9:0.4.13

"#]]);
}

/// A project of one cluster, with these values and this list of offered images.
fn of_values(values: &str, offered: &[&str]) -> Stage {
    project()
        .cluster("edge", "cluster: {name: edge}\n")
        .settings("values: [values.yaml]")
        .file("values.yaml", values)
        .file("offered.txt", offered.join("\n"))
}

#[test]
fn an_empty_catalog_is_filled_and_none_is_made_up() {
    let cases = [
        "sylva_diskimagebuilder_images: {}",
        "sylva_diskimagebuilder_images:",
        "sylva_diskimagebuilder_images: {} # none yet",
        "diskimage_builder_os_images: {}",
        "",
    ];
    let results = table(cases, |list| {
        let version = if list.starts_with("diskimage_builder") {
            "diskimage_builder_version"
        } else {
            "sylva_diskimagebuilder_version"
        };
        let offered = [
            "ubuntu-noble-plain-rke2-1-30-9",
            "opensuse-15-6-plain-rke2-1-31-9",
        ];
        let stage = of_values(
            &format!("{version}: 0.4.12\n{list}\ncluster: {{}}\n"),
            &offered,
        );
        let outcome = stage.run("update 0.4.13 --images offered.txt").outcome;
        let text = match outcome.status {
            0 => stage.read("values.yaml"),
            _ => outcome.stderr,
        };
        text.lines().map(str::to_owned).collect()
    });
    results.is(str![[r#"
sylva_diskimagebuilder_images: {}
    sylva_diskimagebuilder_version: 0.4.13
    sylva_diskimagebuilder_images:
      opensuse-15-6-plain-rke2-1-31-9: {}
      ubuntu-noble-plain-rke2-1-30-9: {}
    cluster: {}
sylva_diskimagebuilder_images:
    sylva_diskimagebuilder_version: 0.4.13
    sylva_diskimagebuilder_images:
      opensuse-15-6-plain-rke2-1-31-9: {}
      ubuntu-noble-plain-rke2-1-30-9: {}
    cluster: {}
sylva_diskimagebuilder_images: {} # none yet
    sylva_diskimagebuilder_version: 0.4.13
    sylva_diskimagebuilder_images: # none yet
      opensuse-15-6-plain-rke2-1-31-9: {}
      ubuntu-noble-plain-rke2-1-30-9: {}
    cluster: {}
diskimage_builder_os_images: {}
    diskimage_builder_version: 0.4.13
    diskimage_builder_os_images:
      opensuse-15-6-plain-rke2-1-31-9: {}
      ubuntu-noble-plain-rke2-1-30-9: {}
    cluster: {}

    error: the values have no catalog to list images in
    help: add `sylva_diskimagebuilder_images: {}` beside the version

"#]]);
}

#[test]
fn a_version_that_nothing_is_listed_for_changes_nothing() {
    let stage = fixture("sylva");
    let before = stage.texts();
    update(&stage, "0.5.0 --release-notes ../notes.md")
        .exit(2)
        .stderr(str![[r#"
error: `../notes.md` names no image of version `0.5.0`
help: there are images of 0.4.12, 0.4.13

"#]]);
    assert_eq!(stage.texts(), before);
}

#[test]
fn the_real_chart_keeps_every_other_byte() {
    let Some(root) = programs::named("SYLVA_CORE") else {
        return;
    };
    let path = "charts/sylva-units/values.yaml";
    let before = fs::read_to_string(root.join(path)).expect("the chart's values");
    let lists = before
        .split_once("\nsylva_diskimagebuilder_images:")
        .expect("the catalog")
        .1;
    let names = lists
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let newer = |text: &str| {
        text.replace("-1-31-8", "-1-31-9")
            .replace("0.4.12", "0.4.13")
    };
    let names: Vec<String> = names
        .filter(|name| name.contains("-1-"))
        .map(newer)
        .collect();
    assert!(names.len() > 8);
    let stage = project()
        .cluster("none", "{}\n")
        .settings(&format!("values: [{path}]"))
        .file(path, &before)
        .file("names", names.join("\n"));
    let _ = stage.run("update 0.4.13 --images names");
    let after = stage.read(path);
    assert_eq!(before.lines().count(), after.lines().count());
    let changed = before
        .lines()
        .zip(after.lines())
        .filter(|(old, new)| old != new);
    let changed: Vec<(&str, &str)> = changed.collect();
    assert!(changed.len() > 3);
    changed
        .iter()
        .for_each(|(old, new)| assert_eq!(newer(old), **new));
}

#[test]
fn an_entry_that_the_catalog_has_twice_is_refused_with_its_lines() {
    let image = |version: &str| format!("ubuntu-jammy-plain-rke2-1.26.9: {{enabled: {version}}}");
    let values = format!(
        "diskimage_builder_version: 0.1.1\nsylva_base_oci_registry: oci://registry.example.org/acme\n\
         diskimage_builder_os_images:\n  {}\n  ubuntu-jammy-plain-kubeadm-1.26.9: {{}}\n  {}\n",
        image("true"),
        image("true")
    );
    let offer = |names: [&str; 2]| {
        let lines = names.map(|name| {
            format!(
                "oci://registry.example.org/acme/sylva-elements/diskimage-builder/{name}:0.1.2\n"
            )
        });
        lines.concat()
    };
    let stage = project()
        .cluster("edge", &values)
        .file(
            "renamed",
            offer([
                "ubuntu-jammy-plain-rke2-1.26.10",
                "ubuntu-jammy-plain-kubeadm-1.26.9",
            ]),
        )
        .file(
            "gone",
            offer([
                "ubuntu-noble-plain-kubeadm-1.30.1",
                "ubuntu-jammy-plain-kubeadm-1.26.9",
            ]),
        );
    for names in ["renamed", "gone"] {
        let _ = stage
            .run(&format!("update 0.1.2 --images {names}"))
            .exit(2)
            .stderr(str![[r#"
error: edge.yaml:6:3: `ubuntu-jammy-plain-rke2-1.26.9` occurs twice, first at edge.yaml:4:3, so it is not updated
help: remove one of the two

"#]]);
        assert_eq!(stage.read("edge.yaml"), values);
    }
}

/// Two clusters, each with a catalog of its own beside that which they share.
fn two_catalogs(values: &str, offered: &[&str]) -> Stage {
    let own =
        |name: &str| format!("os_images: {{{name}: {{uri: x}}}}\ncluster: {{name: {name}}}\n");
    of_values(values, offered)
        .cluster("a", &own("a"))
        .cluster("b", &own("b"))
}

/// What an update writes into the values that clusters share, or why it writes nothing.
fn written(stage: &Stage, words: &str) -> String {
    let before = stage.texts();
    let run = stage.run(&format!("update {words} --images offered.txt"));
    let changes = changes(&before, &stage.texts());
    if changes.is_empty() {
        run.outcome.stderr
    } else {
        changes
    }
}

#[test]
fn an_entry_of_two_catalogs_is_renamed_and_reported_once() {
    let stage = two_catalogs(
        "sylva_diskimagebuilder_version: 0.4.12\nsylva_diskimagebuilder_images: {ubuntu-noble-plain-rke2-1-31-8: {}}\n",
        &["ubuntu-noble-plain-rke2-1-31-9"],
    )
    .settings(LENIENT);
    written(&stage, "0.4.13").is(str![[r#"
values.yaml:1
-sylva_diskimagebuilder_version: 0.4.12
-sylva_diskimagebuilder_images: {ubuntu-noble-plain-rke2-1-31-8: {}}
+sylva_diskimagebuilder_version: 0.4.13
+sylva_diskimagebuilder_images: {ubuntu-noble-plain-rke2-1-31-9: {}}

"#]]);
    let stage = two_catalogs(
        "key: ubuntu-noble-plain-rke2-1-31-8\nsylva_diskimagebuilder_version: 0.4.12\n\
         sylva_diskimagebuilder_images: {'{{ .Values.key }}': {}}\n",
        &["ubuntu-noble-plain-rke2-1-31-9"],
    );
    written(&stage, "0.4.13").is(str![[r#"
values.yaml:3:33: an expression names the entry `ubuntu-noble-plain-rke2-1-31-8`, and it is left as it is
OS images: 0.4.12 → 0.4.13
Nothing is written, because of errors. It would do this:

Added

- ubuntu-noble-plain-rke2-1-31-9
what was written is undone, because of the errors above
help: correct them and run this again; `--fix` moves selections to the new images, `--k8s-versions` moves Kubernetes versions to what they hold
help: `metalmark render CLUSTER…` renders clusters alone, without the update

"#]]);
}

#[test]
fn an_entry_that_an_expression_names_by_the_version_is_not_added_beside_it() {
    let key = r#"{{ .Values.sylva_diskimagebuilder_version | replace "0.4.1" "ubuntu-noble-plain-rke2-1-31-" }}"#;
    let stage = of_values(
        &format!(
            "sylva_diskimagebuilder_version: 0.4.12\nsylva_diskimagebuilder_images: {{'{key}': {{}}}}\n"
        ),
        &["ubuntu-noble-plain-rke2-1-31-3"],
    );
    written(&stage, "0.4.13").is(str![[r#"
values.yaml:1
-sylva_diskimagebuilder_version: 0.4.12
+sylva_diskimagebuilder_version: 0.4.13

"#]]);
}

#[test]
fn an_update_does_not_write_over_files_of_others() {
    let stage = fixture("locked");
    stage
        .remove("before/rendered/.metalmark-owned")
        .write("before/rendered/edge-a/edge-a.yaml", "mine");
    let before = stage.texts();
    let run = update(&stage, "0.4.13 --fix --k8s-versions").exit(1);
    lines(&run, &["error[", "what was"]).is(str![[r#"
error[file-not-owned]: `rendered/edge-a/edge-a.yaml` would be overwritten, and its first line does not say that metalmark rendered it
error[file-not-owned]: `rendered/edge-b/edge-b.yaml` would be overwritten, and its first line does not say that metalmark rendered it
what was written is undone, because of the errors above

"#]]);
    assert_eq!(stage.texts(), before);
}

/// Facts that were exported say nothing of images that come.
#[test]
fn an_update_without_a_lock_says_once_to_lock_first() {
    let stage = fixture("locked");
    for file in ["before/metalmark.lock", "before/metalmark.evidence"] {
        stage.remove(file);
    }
    let before = stage.texts();
    update(&stage, "0.4.13 --fix").exit(1).screen(str![[r#"
error: there is no lock, so that format and checksum of the new images are not known
  help: run `metalmark lock` first, and commit the lock: `update` then locks the new images too
OS images: 0.4.12 → 0.4.13
Nothing is written, because of errors. It would do this:

Changed

- ubuntu-noble-plain-rke2-1-31-8 → ubuntu-noble-plain-rke2-1-31-9

Added

- ubuntu-noble-plain-rke2-1-32-5

Node pools whose machines will be re-provisioned

- edge-a/control-plane: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-a/md0: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-b/control-plane: ubuntu-noble-hardened-rke2-1-30-12:0.4.12 → ubuntu-noble-hardened-rke2-1-30-12:0.4.13
- edge-b/md0: opensuse-15-6-plain-rke2-1-30-12:0.4.12 → opensuse-15-6-plain-rke2-1-30-12:0.4.13
would fix clusters/edge-a.yaml:6:16: `cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-9`
what was written is undone, because of the errors above
help: correct them and run this again; `--k8s-versions` moves Kubernetes versions to what they hold
help: `metalmark render CLUSTER…` renders clusters alone, without the update

"#]]);
    assert_eq!(stage.texts(), before);
}
