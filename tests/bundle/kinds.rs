//! Each kind of bundle, each way to order and name what is in it.

use std::fs;

use super::{NAMESPACE, SETTINGS, WEB, bundle, clean, files, manifests, refused, write};
use crate::rules::registry_bundle;
use crate::support::{Metalmark, copy_of, repository};

#[test]
fn a_stream_becomes_numbered_files_in_helms_order() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    let stream = format!("{WEB}---\n{SETTINGS}---\n{NAMESPACE}");
    let args = "bundle pack - --order numbered --namespace app --to dir:out";
    let outcome = Metalmark::within(folder)
        .args(args.split_whitespace())
        .run_with(&stream);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let names: Vec<String> = files(&folder.join("out")).into_keys().collect();
    assert_eq!(
        names,
        [
            "manifests/001-namespace-app.yaml",
            "manifests/002-configmap-settings.yaml",
            "manifests/003-deployment-web.yaml",
        ]
    );
    let alone = Metalmark::within(folder)
        .args(["bundle", "pack", "-", "--to", "a.tgz"])
        .run_with("a: [");
    assert!(
        alone.status == 1 && alone.stderr.contains("-:1:"),
        "{}",
        alone.stderr
    );
}

#[test]
fn what_a_project_renders_is_packed_as_flux_and_argo_take_it() {
    let scratch = copy_of(&repository().join("fixtures/workspaces/sylva-flux"));
    let folder = scratch.path();
    let pack =
        "pack --kind artifact --source https://git.example.org/fleet --revision main@sha1:0123";
    clean(folder, &format!("{pack} --to oci-layout:l:oci"));
    clean(
        folder,
        &format!("{pack} --media-type flux --to oci-layout:l:flux"),
    );
    for (name, layer) in [
        ("oci", "application/vnd.oci.image.layer.v1.tar+gzip"),
        ("flux", "application/vnd.cncf.flux.content.v1.tar+gzip"),
    ] {
        let reported = clean(
            folder,
            &format!("inspect oci-layout:l:{name} --output json"),
        );
        let reported: serde_json::Value = serde_json::from_str(&reported.stdout).expect("JSON");
        assert_eq!(reported["kind"], "artifact");
        let annotations = &reported["annotations"];
        assert_eq!(
            annotations["org.opencontainers.image.created"],
            "1970-01-01T00:00:00Z"
        );
        assert_eq!(
            annotations["org.opencontainers.image.revision"],
            "main@sha1:0123"
        );
        assert!(
            reported["objects"]
                .as_array()
                .is_some_and(|objects| !objects.is_empty())
        );
        let digest = reported["digest"]
            .as_str()
            .and_then(|digest| digest.strip_prefix("sha256:"));
        let path = folder
            .join("l/blobs/sha256")
            .join(digest.expect("a digest"));
        let manifest: serde_json::Value =
            serde_json::from_slice(&fs::read(path).expect("there")).expect("JSON");
        assert_eq!(manifest["layers"][0]["mediaType"], layer);
        assert_eq!(
            manifest["config"]["mediaType"],
            "application/vnd.cncf.flux.config.v1+json"
        );
    }
    clean(folder, "unpack oci-layout:l:flux --to back");
    let rendered = Metalmark::within(folder).args(["render"]).run();
    assert_eq!(rendered.status, 0, "{}", rendered.stderr);
    let back = files(&folder.join("back"));
    assert!(!back.is_empty());
    for (path, bytes) in back {
        assert_eq!(
            fs::read(folder.join(&path)).expect("rendered"),
            bytes,
            "{path}"
        );
    }
}

#[test]
fn config_maps_have_the_names_that_rukpak_gives_them() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    manifests(&folder.join("in"));
    let pack = "pack in --namespace app --to configmaps:maps --name web";
    let list = clean(folder, pack).stdout;
    let made: Vec<String> = files(&folder.join("maps")).into_keys().collect();
    let name = made[0].strip_suffix(".yaml").expect("YAML");
    assert_eq!(
        list,
        format!("configMaps:\n- configMap:\n    name: {name}\n  path: manifests\n")
    );
    let text = fs::read_to_string(folder.join("maps").join(&made[0])).expect("there");
    for line in [
        "immutable: true\n",
        "kind: ConfigMap\n",
        "  namespace: rukpak-system\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let newer = clean(
        folder,
        &format!("{pack} --deployment v1alpha2 --install-namespace app"),
    )
    .stdout;
    assert!(
        newer.contains("installNamespace: app\n") && newer.contains(name),
        "{newer}"
    );
    let older = clean(folder, &format!("{pack} --deployment v1alpha1")).stdout;
    assert!(older.contains("type: local\n"), "{older}");
    let image = clean(
        folder,
        "pack in --namespace app --to oci-layout:l:1 --deployment v1alpha2 --image oci://r.example/web",
    );
    assert!(
        image.stdout.contains("ref: r.example/web@sha256:"),
        "{}",
        image.stdout
    );
    let outcome = bundle(folder, "pack in --to a.tgz --deployment v1alpha2");
    assert_eq!(outcome.status, 2);
    let large = SETTINGS
        .replace("name: settings", "name: large")
        .replace("\"blue \"", &"x".repeat(1 << 20));
    write(folder, "in/large.yaml", &large);
    refused(folder, pack, "object-too-large");
}

#[test]
fn an_index_puts_what_is_required_first() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    write(folder, "app/manifests/web.yaml", WEB);
    write(folder, "base/manifests/namespace.yaml", NAMESPACE);
    write(
        folder,
        "inner.yaml",
        "version: 1\nbundles: [{name: base, from: base}]\n",
    );
    let outer = "version: 1\nbundles:\n- {name: app, from: app, requires: [platform]}\n- {name: platform, from: 'index:inner.yaml'}\n";
    write(folder, "outer.yaml", outer);
    clean(folder, "pack index:outer.yaml --to dir:out");
    let names: Vec<String> = files(&folder.join("out")).into_keys().collect();
    assert_eq!(
        names,
        [
            "manifests/01-platform-01-base-namespace.yaml",
            "manifests/02-app-web.yaml"
        ]
    );
    write(
        folder,
        "inner.yaml",
        "version: 1\nbundles: [{name: base, from: 'index:./outer.yaml'}]\n",
    );
    let reported = refused(folder, "pack index:outer.yaml --to dir:out", "bundle-cycle");
    assert!(
        reported.stderr.contains("inner.yaml:2:"),
        "{}",
        reported.stderr
    );
}

#[test]
fn a_registry_bundle_is_refused_by_name() {
    let scratch = registry_bundle();
    let folder = scratch.path();
    write(
        folder,
        "bundles.yaml",
        "version: 1\nbundles: [{name: web, from: bundle}]\n",
    );
    for arguments in [
        "inspect bundle",
        "unpack bundle --to out",
        "pack index:bundles.yaml --to dir:out",
    ] {
        let refused = refused(folder, arguments, "bundle-unsupported");
        let expected = "bundles of kind registry+v1 are not supported";
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    }
    assert!(!folder.join("out").exists());
}
