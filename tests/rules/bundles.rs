//! Bundles of manifests and of components: what they hold, which fit a pool, and whether their bytes are pinned.

use snapbox::str;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::super::support::project::Project;
use super::super::support::stage::{Is, Stage, project};
use super::super::support::tarball::{Tarball, gzip};
use super::rows::{assert_cases, assert_found};
use super::{fails, passes, warns};

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
    let of = |bundle: &str| {
        let bundle = bundle.replace("SUM", SUM);
        let values = cluster(&bundle, "component_bundle_key: b");
        Project::of(&values, "").found("component-mismatch")
    };
    assert_cases(
        str![[r#"
uri: 'oci://h.org/b:1@sha256:SUM'
uri: 'https://h.org/b.tar.gz', sha256: SUM
uri: 'oci://h.org/b:1', digest: 'sha256:SUM'
uri: 'oci://h.org/b:1'
    error control-plane [b, b] => metalmark lock
uri: 'https://h.org/b.tar.gz'
    error control-plane [b, b] => sha256

"#]],
        of,
    );
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
        let entry = format!("\n- key: b\n  reference: {uri}\n  digest: sha256:{SUM}\n");
        let images = if is_locked { &*entry } else { "[]" };
        let bundle = format!("uri: '{uri}'");
        let project = Project::new(&[
            (
                "metalmark.yaml",
                "version: 1\nclusters: [{name: edge, values: [values.yaml]}]\n",
            ),
            ("values.yaml", &cluster(&bundle, "component_bundle_key: b")),
            ("metalmark.lock", &format!("version: 1\nimages: {images}")),
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

#[test]
fn bundle_cycle() {
    let project = project()
        .file(
            "app/manifests/app.yaml",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n",
        )
        .file(
            "database/manifests/app.yaml",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n",
        )
        .file(
            "bundles.yaml",
            "\
version: 1
bundles:
- {name: app, from: app, requires: [database]}
- {name: database, from: database, requires: [app]}
",
        );
    fails(
        "bundle-cycle",
        &project,
        "bundle inspect index:bundles.yaml",
    )
    .brief(str![[r#"
error[bundle-cycle]: the bundles `app`, `database` require each other in a circle, or what does
  bundles.yaml:3:37 `database`
1 error

"#]]);
    project.edit("bundles.yaml", ", requires: [app]", "");
    project.edit("database/manifests/app.yaml", "name: app", "name: database");
    passes(
        "bundle-cycle",
        &project,
        "bundle inspect index:bundles.yaml",
    );
}

#[test]
fn dependency_missing() {
    let project = project()
        .file(
            "app/manifests/app.yaml",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n",
        )
        .file(
            "bundles.yaml",
            "version: 1\nbundles: [{name: app, from: app, requires: [database]}]\n",
        );
    fails(
        "dependency-missing",
        &project,
        "bundle inspect index:bundles.yaml",
    )
    .brief(str![[r#"
error[dependency-missing]: `app` requires `database`, which the index does not name
  bundles.yaml:2:45 `database`
  help: add the bundle, or `provided: [database]` where somebody else installs it
1 error

"#]]);
    project.edit(
        "bundles.yaml",
        "version: 1",
        "version: 1\nprovided: [database]",
    );
    passes(
        "dependency-missing",
        &project,
        "bundle inspect index:bundles.yaml",
    );
}

#[test]
fn bundle_empty() {
    let project = project().file("bundle/manifests/app.yaml", "# nothing yet\n");
    fails("bundle-empty", &project, "bundle inspect bundle").screen(str![[r#"
kind         plain+v0
content      sha256:f9fbfe20fe9f180d2362d0f86c968b6a203237d4eb1d86bfa20935235ca3b8ba
files        1 file, 14 bytes
error[bundle-empty]: the bundle holds no object
 |
 = help: put at least one manifest into it

1 error

"#]]);
    project.write(
        "bundle/manifests/app.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n",
    );
    passes("bundle-empty", &project, "bundle inspect bundle");
}

#[test]
fn bundle_layout() {
    let project = project()
        .file(
            "bundle/manifests/app.yaml",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n",
        )
        .file(
            "bundle/manifests/settings/app.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: app}\n",
        );
    fails("bundle-layout", &project, "bundle inspect bundle").screen(str![[r#"
kind         plain+v0
content      sha256:2e69ea0512af231a170367099a368c1fefbb864d4b4448e5970b1fa746cc888e
files        2 files, 127 bytes
objects      1 ConfigMap
objects      1 Namespace
error[bundle-layout]: `settings` is a folder in `manifests/`, which is flat
--> manifests/settings
 = help: move its files up, or pack `manifests` itself, which is laid flat

1 error

"#]]);
    project.remove("bundle/manifests/settings/app.yaml");
    project.write(
        "bundle/manifests/settings.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: app}\n",
    );
    std::fs::remove_dir(project.path().join("bundle/manifests/settings")).expect("removed");
    passes("bundle-layout", &project, "bundle inspect bundle");
}

/// A bundle as the Operator Lifecycle Manager has it.
pub(crate) fn registry_bundle() -> Stage {
    project()
        .file("bundle/metadata/annotations.yaml", "annotations: {operators.operatorframework.io.bundle.mediatype.v1: registry+v1, operators.operatorframework.io.bundle.package.v1: web}\n")
        .file("bundle/manifests/web.clusterserviceversion.yaml", "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: web.v1.2.3}\n")
}

#[test]
fn bundle_unsupported() {
    let project = registry_bundle();
    fails("bundle-unsupported", &project, "bundle inspect bundle").screen(str![[r#"
kind         registry+v1
content      sha256:a5460171d3bb15e566adfcca5ad91750081792db7969c9607d4a395be10a7caf
files        2 files, 233 bytes
objects      1 ClusterServiceVersion
error[bundle-unsupported]: bundles of kind registry+v1 are not supported
--> bundle
 = help: with OLM in the cluster: a `ClusterExtension` in git, with the name of its package and its version
 = help: without OLM: what its project installs without it, such as `kubectl kustomize config/default | metalmark bundle pack - --to dir:OUT`

1 error

"#]]);
    project.remove("bundle/metadata/annotations.yaml");
    std::fs::remove_dir(project.path().join("bundle/metadata")).expect("removed");
    project.write(
        "bundle/manifests/web.clusterserviceversion.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n",
    );
    passes("bundle-unsupported", &project, "bundle inspect bundle");
}

#[test]
fn crd_order() {
    let project = project()
        .file(
            "bundle/manifests/a-widget.yaml",
            "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: first}\n",
        )
        .file(
            "bundle/manifests/b-crd.yaml",
            "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec: {group: example.org, scope: Cluster, names: {kind: Widget, plural: widgets}, versions: []}
",
        );
    fails("crd-order", &project, "bundle inspect bundle --order names").brief(str![[r#"
kind         plain+v0
content      sha256:bf291a57bdc946550eefca66aa49c9e4f18ad2d083b678766a28cc6cb9c8023f
files        2 files, 266 bytes
objects      1 CustomResourceDefinition
objects      1 Widget
error[crd-order]: `Widget first` is applied before `CustomResourceDefinition widgets.example.org`, which defines its kind
  bundle/manifests/a-widget.yaml:3:18 `first` applied first
  bundle/manifests/b-crd.yaml:3:18 `widgets.example.org` defined here
  help: pack with `--order numbered`, or give the file of `CustomResourceDefinition widgets.example.org` a name that comes first
1 error

"#]]);
    std::fs::rename(
        project.path().join("bundle/manifests/a-widget.yaml"),
        project.path().join("bundle/manifests/c-widget.yaml"),
    )
    .expect("renamed");
    passes("crd-order", &project, "bundle inspect bundle --order names");
}

#[test]
fn namespace_missing() {
    let project = project().file(
        "bundle/manifests/settings.yaml",
        "\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: elsewhere}
---
# Another kind of that name, in a group of its own.
apiVersion: example.org/v1
kind: Namespace
metadata: {name: elsewhere, namespace: default}
",
    );
    warns("namespace-missing", &project, "bundle inspect bundle").brief(str![[r#"
kind         plain+v0
content      sha256:87448aed3e07dc9edf0ae1e19c029d1559f67f648d4fd3cc194dfad7193c628d
files        1 file, 286 bytes
objects      2 ConfigMap
objects      1 Namespace
needs        Namespace.example.org, which is defined elsewhere
warning[namespace-missing]: `ConfigMap settings` is in no namespace
  bundle/manifests/settings.yaml:3:18 `settings` it lands wherever it is applied
  help: write `metadata.namespace`, or pack with `--namespace NAME`
warning[namespace-missing]: `ConfigMap elsewhere/other` is in namespace `elsewhere`, which the bundle does not hold
  bundle/manifests/settings.yaml:7:18 `other`
  help: add the Namespace `elsewhere`, unless it is there before the bundle
2 warnings

"#]]);
    project.edit(
        "bundle/manifests/settings.yaml",
        "{name: settings}",
        "{name: settings, namespace: app}",
    );
    project.edit(
        "bundle/manifests/settings.yaml",
        "name: other, namespace: elsewhere",
        "name: other, namespace: app",
    );
    project.write(
        "bundle/manifests/app.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n",
    );
    passes("namespace-missing", &project, "bundle inspect bundle");
}

#[test]
fn object_duplicate() {
    let project = project()
        .file(
            "bundle/manifests/a.yaml",
            "\
apiVersion: v1
kind: Namespace
metadata: {name: app}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: app}
",
        )
        .file(
            "bundle/manifests/b.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: app}\n",
        );
    fails("object-duplicate", &project, "bundle inspect bundle").brief(str![[r#"
kind         plain+v0
content      sha256:59b91b86699bcb9c8e162e08a51dd889274a649afce35ebe57c2cb3c897a882d
files        2 files, 205 bytes
objects      2 ConfigMap
objects      1 Namespace
error[object-duplicate]: `ConfigMap app/settings` occurs twice
  bundle/manifests/b.yaml:3:18 `settings` again here
  bundle/manifests/a.yaml:7:18 `settings` first here
  help: keep one of the two
1 error

"#]]);
    project.edit("bundle/manifests/b.yaml", "settings", "others");
    passes("object-duplicate", &project, "bundle inspect bundle");
}

#[test]
fn component_mismatch() {
    let project = project().cluster("edge", "\
os_images:
  sle: {uri: 'oci://registry.example.org/sle:1', os: sle-micro, os-release: '6.0', k8s-version: 1.31.8+rke2r1, image-format: container}
component_bundles:
  rke2: {uri: 'https://images.example/rke2.tar.gz', sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8, k8s_version: v1.30.1+rke2r1, k8s_flavor: rke2}
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: elemental, bootstrap_provider: cabpr}
  elemental: {image_key: sle, component_bundle_key: rke2}
").settings("images: {url: '{{ image.uri }}'}");
    fails("component-mismatch", &project, "check").brief(str![[r#"
warning[reference-unpinned]: image `sle` is not locked, so that its tag is rendered
  edge.yaml:8:26 `sle` machines pull this image
  edge.yaml:2:3 `sle` by this reference
  cluster: edge, pool control-plane
  help: run `metalmark lock` to query its registry, and commit the lock
error[component-mismatch]: component bundle `rke2` holds Kubernetes `1.30.1+rke2r1`, not `v1.31.8+rke2r1`
  edge.yaml:8:53 `rke2` selected here
  edge.yaml:4:3 `rke2` described here
  cluster: edge, pool control-plane
  help: name a bundle that fits; `component_bundle_selector: {}` in place of the key takes it from `component_bundles`
1 error, 1 warning in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", "v1.30.1+rke2r1", "v1.31.8+rke2r1");
    passes("component-mismatch", &project, "check");
}

/// All that may speak against a bundle, in one project: what each finding says.
#[test]
fn each_reason_against_a_component_bundle_is_said() {
    let project = project().settings("images: {url: '{{ image.uri }}'}").cluster("edge", "\
os_images:
  sle: {uri: 'oci://registry.example.org/sle:6.0', os: sle-micro, os-release: '6.0', arch: arm64, image-format: container}
component_bundles:
  old: {uri: 'oci://registry.example.org/rke2:1.30.1', k8s_version: v1.30.1+rke2r1, k8s_flavor: rke2, distros: [ubuntu, 'sle-micro:5.5'], archs: [amd64], env_required: [INSTALL_TYPE]}
  rke2-1-31-8: {uri: 'https://images.example.org/rke2.tar.gz', sha256: 17eed95025dc9bd8aa92aa7f874216195c0b30c2ae4ebeb40ff3d5a50084836f, env_declared: [INSTALL_TYPE], env: {INSTALL_TIPE: agent}}
cluster:
  k8s_version: v1.31.8
  capi_providers: {infra_provider: elemental, bootstrap_provider: cabpk}
  elemental: {image_key: sle, component_bundle_key: old}
  machine_deployments:
    md0: {elemental: {component_bundle_key: rke2-1-31-8}}
    md1: {elemental: {component_bundle_key: rke2-1-31-9}}
    md2: {elemental: {component_bundle_key: '', component_bundle_selector: {k8s-flavor: rke2}}}
");
    let screen = project.run("check").exit(1).outcome.stdout;
    let words = screen.lines().map(str::trim_start);
    let words = words
        .filter(|line| line.contains("[component-mismatch]: ") || line.starts_with("= help: `"));
    let words: Vec<&str> = words.collect();
    (words.join("\n") + "\n").is(str![[r#"
error[component-mismatch]: component bundle `old` holds Kubernetes `1.30.1+rke2r1`, not `v1.31.8`
error[component-mismatch]: component bundle `old` installs on `ubuntu`, `sle-micro:5.5`, and the image is `sle-micro 6.0`
error[component-mismatch]: component bundle `old` is made for rke2, not for kubeadm
error[component-mismatch]: component bundle `old` is not pinned to a digest
error[component-mismatch]: component bundle `old` runs on `amd64`, and the image is `arm64`
error[component-mismatch]: the installer of component bundle `old` needs `INSTALL_TYPE`
= help: `cluster.control_plane.elemental.component_bundle_env: {NAME: …}`, or `env` of `old` in `component_bundles`
warning[component-mismatch]: component bundle `rke2-1-31-8` does not say which Kubernetes version it holds
warning[component-mismatch]: the installer of component bundle `rke2-1-31-8` declares no `INSTALL_TIPE`
error[component-mismatch]: `component_bundles` has no `rke2-1-31-9`
error[component-mismatch]: no component bundle fits pool `md2`
= help: `old` holds Kubernetes `1.30.1+rke2r1`, not `v1.31.8`, is made for rke2, not for kubeadm, installs on `ubuntu`, `sle-micro:5.5`, and the image is `sle-micro 6.0`, runs on `amd64`, and the image is `arm64`
= help: `rke2-1-31-8` does not say which Kubernetes version it holds

"#]]);
}

/// A bundle as one file, its namespace and what else is in it.
fn archive(more: impl FnOnce(Tarball) -> Tarball) -> Vec<u8> {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n";
    gzip(&more(Tarball::new().file("manifests/namespace.yaml", namespace.as_bytes())).end())
}

#[test]
fn archive_refused() {
    let linked = archive(|tar| tar.link(b'2', "manifests/app.yaml", "/etc/passwd"));
    let project = project().file("bundle.tgz", linked);
    fails("archive-refused", &project, "bundle inspect bundle.tgz").screen(str![[r#"
error[archive-refused]: `bundle.tgz` is not unpacked: its entry `manifests/app.yaml` is a symbolic link to `/etc/passwd`, which is not a file of the archive
--> bundle.tgz
 = help: pack the file that the link leads to

1 error

"#]]);
    project.write("bundle.tgz", archive(|tar| tar));
    passes("archive-refused", &project, "bundle inspect bundle.tgz");
}

#[test]
fn component_contract() {
    let project = project()
        .file(
            "in/install.sh",
            "#!/bin/sh -eu\ninstall -m 0755 bin/agent /usr/local/bin/agent\n",
        )
        .file("in/bin/agent", "x");
    let permit = |path: &str| {
        let mode = Permissions::from_mode(0o755);
        fs::set_permissions(project.path().join(path), mode).expect("permitted");
    };
    permit("in/bin/agent");
    fails("component-contract", &project, "bundle inspect in").screen(str![[r#"
kind         components
content      sha256:cb485ae56f44096d306ff3cf524d4e2b3dce086203eac9437a636ad595debe45
files        2 files, 62 bytes
executable   bin/agent
installer    /bin/sh -eu
error[component-contract]: `install.sh` is not executable
--> in/install.sh
 = help: `chmod +x install.sh` before it is packed; in git: `git update-index --chmod=+x install.sh`

1 error

"#]]);
    permit("in/install.sh");
    passes("component-contract", &project, "bundle inspect in");
}

#[test]
fn bundle_unpinned() {
    let project = project()
        .settings("registries: {mirrors: {registry.example.org/bundles: oci-layout:layout}}")
        .file(
            "app/manifests/app.yaml",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n",
        );
    let _ = project
        .run("bundle pack app --to oci-layout:layout:registry.example.org/bundles/app:1.2")
        .exit(0);
    let words = "bundle pull oci://registry.example.org/bundles/app:1.2";
    let run = fails("bundle-unpinned", &project, &format!("{words} out")).screen(str![[r#"
error[bundle-unpinned]: `oci://registry.example.org/bundles/app:1.2` names a tag, which may move, and the lock does not know it
 |
 = help: write the digest that is meant; the tag names `oci://registry.example.org/bundles/app:1.2@sha256:43cfe624bda965f252aec73ff775d6325f5fef5f2cf4dfdee12de33820bc1e47` now

1 error

"#]]);
    let (_, pinned) = run
        .outcome
        .stderr
        .split_once("app:1.2@")
        .expect("the digest");
    let (digest, _) = pinned.split_once('`').expect("its end");
    passes(
        "bundle-unpinned",
        &project,
        &format!("{words}@{digest} out"),
    );
}
