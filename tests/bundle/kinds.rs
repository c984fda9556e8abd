//! Each kind of bundle, each way to order and name what is in it.

use serde_json::Value;
use snapbox::str;

use super::{NAMESPACE, SETTINGS, WEB, clean, ends, exists, files, manifests, refusal};
use crate::rules::registry_bundle;
use crate::support::Metalmark;
use crate::support::stage::{Is, Stage, project};

/// The names of the files below a folder.
fn names(stage: &Stage, folder: &str) -> Vec<String> {
    files(stage, folder).into_keys().collect()
}

#[test]
fn a_stream_becomes_numbered_files_in_helms_order() {
    let stage = project();
    let pack = |args: &str, stream: &str| {
        let args = format!("bundle pack - {args}");
        Metalmark::within(stage.path())
            .args(args.split_whitespace())
            .run_with(stream)
    };
    let stream = format!("{WEB}---\n{SETTINGS}---\n{NAMESPACE}");
    let outcome = pack("--order numbered --namespace app --to dir:out", &stream);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(
        names(&stage, "out"),
        [
            "manifests/001-namespace-app.yaml",
            "manifests/002-configmap-settings.yaml",
            "manifests/003-deployment-web.yaml",
        ]
    );
    let broken = pack("--to a.tgz", "a: [");
    assert_eq!(broken.status, 1);
    assert!(broken.stderr.contains("-:1:"), "{}", broken.stderr);
}

#[test]
fn what_a_project_renders_is_packed_as_flux_and_argo_take_it() {
    let stage = project().folder("fixtures/workspaces/sylva-flux");
    let pack =
        "pack --kind artifact --source https://git.example.org/fleet --revision main@sha1:0123";
    for (name, option, layer) in [
        ("oci", "", "application/vnd.oci.image.layer.v1.tar+gzip"),
        (
            "flux",
            "--media-type flux",
            "application/vnd.cncf.flux.content.v1.tar+gzip",
        ),
    ] {
        clean(&stage, &format!("{pack} {option} --to oci-layout:l:{name}"));
        let reported = stage.data(&format!("bundle inspect oci-layout:l:{name}"));
        assert_eq!(reported["kind"], "artifact");
        let annotation =
            |name| &reported["annotations"][format!("org.opencontainers.image.{name}")];
        assert_eq!(annotation("created"), "1970-01-01T00:00:00Z");
        assert_eq!(annotation("revision"), "main@sha1:0123");
        assert!(
            reported["objects"]
                .as_array()
                .is_some_and(|it| !it.is_empty())
        );
        let digest = reported["digest"].as_str().expect("a digest");
        let digest = digest.strip_prefix("sha256:").expect("sha256");
        let manifest = stage.read(&format!("l/blobs/sha256/{digest}"));
        let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
        assert_eq!(manifest["layers"][0]["mediaType"], layer);
        let config = &manifest["config"]["mediaType"];
        assert_eq!(config, "application/vnd.cncf.flux.config.v1+json");
    }
    clean(&stage, "unpack oci-layout:l:flux --to back");
    let _ = stage.run("render").exit(0);
    let back = files(&stage, "back");
    assert!(!back.is_empty());
    for (path, bytes) in back {
        assert_eq!(stage.read(&path).as_bytes(), bytes, "{path}");
    }
}

#[test]
fn config_maps_have_the_names_that_rukpak_gives_them() {
    let stage = project();
    manifests(&stage, "in");
    let pack = "pack in --namespace app --to configmaps:maps --name web";
    let list = clean(&stage, pack).stdout;
    let map = names(&stage, "maps").remove(0);
    let head = stage.read(&format!("maps/{map}"));
    let (_, head) = head.split_once("immutable").expect("its data first");
    let head = format!("immutable{head}");
    let newer = clean(
        &stage,
        &format!("{pack} --deployment v1alpha2 --install-namespace app"),
    );
    let older = clean(&stage, &format!("{pack} --deployment v1alpha1"));
    let image = clean(
        &stage,
        "pack in --namespace app --to oci-layout:l:1 --deployment v1alpha2 --image oci://r.example/web",
    );
    let texts = [
        list,
        map + "\n",
        head,
        newer.stdout,
        older.stdout,
        image.stdout,
    ];
    texts.join("---\n").is(str![[r#"
configMaps:
- configMap:
    name: web-f53f9bfcfb06
  path: manifests
---
web-f53f9bfcfb06.yaml
---
immutable: true
kind: ConfigMap
metadata:
  name: web-f53f9bfcfb06
  namespace: rukpak-system
---
apiVersion: core.rukpak.io/v1alpha2
kind: BundleDeployment
metadata:
  name: web
spec:
  installNamespace: app
  provisionerClassName: core-rukpak-io-plain
  source:
    configMaps:
    - configMap:
        name: web-f53f9bfcfb06
      path: manifests
    type: configMaps
---
apiVersion: core.rukpak.io/v1alpha1
kind: BundleDeployment
metadata:
  name: web
spec:
  provisionerClassName: core-rukpak-io-plain
  template:
    metadata:
      labels:
        app: web
    spec:
      provisionerClassName: core-rukpak-io-plain
      source:
        local:
          configMap:
            name: web-f53f9bfcfb06
            namespace: rukpak-system
        type: local
---
apiVersion: core.rukpak.io/v1alpha2
kind: BundleDeployment
metadata:
  name: bundle
spec:
  installNamespace: default
  provisionerClassName: core-rukpak-io-plain
  source:
    image:
      ref: r.example/web@sha256:d47b4077eb64987e16d352fdde96eec4ff63cc0f31249a1ce2375ef8bcdd0773
    type: image

"#]]);
    ends(&stage, 2, "pack in --to a.tgz --deployment v1alpha2");
    let large = SETTINGS
        .replace("name: settings", "name: large")
        .replace("\"blue \"", &"x".repeat(1 << 20));
    stage.write("in/large.yaml", &large);
    refusal(&stage, pack, "object-too-large");
}

#[test]
fn an_index_puts_what_is_required_first() {
    let inner = "version: 1\nbundles: [{name: base, from: base}]\n";
    let outer = "version: 1\nbundles:\n- {name: app, from: app, requires: [platform]}\n- {name: platform, from: 'index:inner.yaml'}\n";
    let stage = project().files(&[
        ("app/manifests/web.yaml", WEB),
        ("base/manifests/namespace.yaml", NAMESPACE),
        ("inner.yaml", inner),
        ("outer.yaml", outer),
    ]);
    let pack = "pack index:outer.yaml --to dir:out";
    clean(&stage, pack);
    assert_eq!(
        names(&stage, "out"),
        [
            "manifests/01-platform-01-base-namespace.yaml",
            "manifests/02-app-web.yaml"
        ]
    );
    stage.edit("inner.yaml", "from: base", "from: 'index:./outer.yaml'");
    let reported = refusal(&stage, pack, "bundle-cycle");
    assert!(reported.contains("inner.yaml:2:"), "{reported}");
}

#[test]
fn a_registry_bundle_is_refused_by_name() {
    let stage = registry_bundle();
    let index = "version: 1\nbundles: [{name: web, from: bundle}]\n";
    stage.write("bundles.yaml", index);
    for arguments in [
        "inspect bundle",
        "unpack bundle --to out",
        "pack index:bundles.yaml --to dir:out",
    ] {
        let reported = refusal(&stage, arguments, "bundle-unsupported");
        let expected = "bundles of kind registry+v1 are not supported";
        assert!(reported.contains(expected), "{reported}");
    }
    assert!(!exists(&stage, "out"));
}
