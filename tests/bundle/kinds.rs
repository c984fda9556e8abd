//! Each kind of bundle, each way to order and name what is in it.

use std::process::Command;

use serde_json::Value;
use snapbox::str;

use super::{NAMESPACE, SETTINGS, WEB, clean, ends, exists, files, manifests, refusal};
use crate::rules::registry_bundle;
use crate::support::Metalmark;
use crate::support::stage::{Is, Stage, project};
use crate::support::tarball::{Tarball, gzip};

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
    stage.write("below.yaml", index.replace("from: bundle", "from: below"));
    for path in stage.list("bundle") {
        let text = stage.read(&format!("bundle/{path}"));
        stage.write(&format!("below/web/{path}"), text);
    }
    archive(&stage, "bundle");
    archive(&stage, "below");
    for arguments in [
        "inspect bundle",
        "unpack bundle --to out",
        "pack index:bundles.yaml --to dir:out",
        "pack bundle --to dir:out",
        "pack bundle.tgz --to dir:out",
        "pack below.tgz --to dir:out",
        "pack below --to dir:out",
        "pack index:below.yaml --to dir:out",
    ] {
        let reported = refusal(&stage, arguments, "bundle-unsupported");
        let expected = "bundles of kind registry+v1 are not supported";
        assert!(reported.contains(expected), "{reported}");
    }
    assert!(!exists(&stage, "out"));
}

/// `NAME.tgz`, of what is in a folder.
fn archive(stage: &Stage, folder: &str) {
    let packed = Command::new("tar")
        .current_dir(stage.path())
        .args(["-C", folder, "-czf", &format!("{folder}.tgz"), "."])
        .status();
    assert!(packed.is_ok_and(|status| status.success()));
}

/// An archive without `manifests/` at its root was packed as a bundle of no file, and its objects were counted all the same.
#[test]
fn an_archive_is_packed_as_its_folder_would_be() {
    for within in ["", "x/", "x/manifests/", "manifests/"] {
        let stage = project();
        for (path, text) in [
            ("web.yaml", WEB),
            ("namespace.yaml", NAMESPACE),
            ("kustomization.yaml", "resources: [web.yaml]\n"),
            ("readme.md", "not a manifest"),
        ] {
            if within != "manifests/" || path.starts_with(['w', 'n']) {
                stage.write(&format!("in/{within}{path}"), text);
            }
        }
        stage.write("in/Dockerfile", "FROM scratch\n");
        archive(&stage, "in");
        for kind in ["plain", "artifact"] {
            let digest = |from: &str| {
                let to = format!("{from}-{kind}.tgz");
                clean(&stage, &format!("pack {from} --kind {kind} --to {to}")).stdout
            };
            assert_eq!(digest("in.tgz"), digest("in"), "{within} {kind}");
        }
        clean(&stage, "pack in.tgz --to dir:out");
        assert_eq!(files(&stage, "out").len(), 2, "{within}");
    }
}

/// Whatever it is called, it installs nothing.
#[test]
fn a_bundle_of_nothing_is_refused_wherever_it_comes_from() {
    let stage = project().file("in/readme.md", "not a manifest");
    stage.write("empty.tgz", gzip(&Tarball::new().end()));
    stage.write("none.yaml", "version: 1\nbundles: []\n");
    archive(&stage, "in");
    for arguments in [
        "pack in --to out.tgz",
        "pack in.tgz --to dir:out",
        "pack empty.tgz --to oci-layout:l:1",
        "pack empty.tgz --kind artifact --to out.tgz",
        "pack in.tgz --to configmaps:maps",
        "push in.tgz oci://registry.invalid/a:1 --kind plain",
        "pack index:none.yaml --to out.tgz",
        "unpack empty.tgz --to out",
        "unpack index:none.yaml --to out",
    ] {
        refusal(&stage, arguments, "bundle-empty");
    }
    for path in ["out", "out.tgz", "l", "maps"] {
        assert!(!exists(&stage, path), "{path}");
    }
}

/// `require` for `requires` was taken, and the bundle packed before what it requires.
#[test]
fn what_an_index_says_and_nobody_reads_is_refused() {
    let stage = project().files(&[("app/a.yaml", NAMESPACE), ("db/b.yaml", WEB)]);
    let whole = "version: 1\nprovided: [x]\nbundles:\n- {name: app, from: app, requires: [db]}\n- {name: db, from: db}\n";
    let mut reported = String::new();
    for (right, wrong) in [
        ("requires: [db]", "require: [db]"),
        ("requires: [db]", "requires: db"),
        ("requires: [db]", "requires: [[db]]"),
        ("requires: [db]", "size: 3"),
        ("version: 1", "version: 2"),
        ("version: 1", "version: one"),
        ("provided:", "provides:"),
        ("provided: [x]", "provided: x"),
        ("bundles:\n", "bundle2:\n"),
        ("bundles:\n", "bundles:\nbundle2:\n"),
        ("version: 1\n", "version: 1\n---\n"),
    ] {
        stage.write("index.yaml", whole.replace(right, wrong));
        let screen = refusal(
            &stage,
            "pack index:index.yaml --to dir:out",
            "manifest-invalid",
        );
        let lines = screen.lines().filter(|line| {
            ["error[", "-->", "= help"]
                .iter()
                .any(|part| line.contains(part))
        });
        reported.push_str(&format!("# {}\n", wrong.trim()));
        reported.extend(lines.map(|line| format!("{}\n", line.trim_start())));
    }
    reported.is(str![[r#"
# require: [db]
error[manifest-invalid]: a bundle of an index has no key `require`
--> index.yaml:4:26
= help: did you mean `requires`?
# requires: db
error[manifest-invalid]: `requires` is a list
--> index.yaml:4:36
# requires: [[db]]
error[manifest-invalid]: what is required is a text
--> index.yaml:4:37
# size: 3
error[manifest-invalid]: a bundle of an index has no key `size`
--> index.yaml:4:26
= help: it has `from`, `name`, `requires`
# version: 2
error[manifest-invalid]: the `version` of an index is 1
--> index.yaml:1:10
# version: one
error[manifest-invalid]: the `version` of an index is 1
--> index.yaml:1:10
# provides:
error[manifest-invalid]: an index has no key `provides`
--> index.yaml:2:1
= help: did you mean `provided`?
# provided: x
error[manifest-invalid]: `provided` is a list
--> index.yaml:2:11
# bundle2:
error[manifest-invalid]: an index has a list `bundles`
--> index.yaml:1:1
error[manifest-invalid]: an index has no key `bundle2`
--> index.yaml:3:1
= help: did you mean `bundles`?
# bundles:
bundle2:
error[manifest-invalid]: an index has a list `bundles`
--> index.yaml:1:1
error[manifest-invalid]: an index has no key `bundle2`
--> index.yaml:4:1
= help: did you mean `bundles`?
# version: 1
---
error[manifest-invalid]: an index has a list `bundles`
--> index.yaml:1:1
error[manifest-invalid]: an index is one document
--> index.yaml:3:1

"#]]);
    let long = format!("{whole}# {}\n", "x".repeat(4 << 20));
    stage.write("index.yaml", long);
    let screen = refusal(
        &stage,
        "pack index:index.yaml --to dir:out",
        "manifest-invalid",
    );
    assert!(
        screen.contains("an index has at most 4 MiB"),
        "it says: {screen}"
    );
    stage.write("index.yaml", whole);
    clean(&stage, "pack index:index.yaml --to dir:out");
    let first = names(&stage, "out").remove(0);
    assert_eq!(first, "manifests/01-db-b.yaml");
}

#[test]
fn one_of_three_config_maps_cannot_be_missing() {
    let stage = project();
    for name in ["a", "b", "c"] {
        let data = name.repeat(600 << 10);
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: app}}\ndata: {{x: {data}}}\n"
        );
        stage.write(&format!("in/{name}.yaml"), text);
    }
    clean(&stage, "pack in --to configmaps:maps");
    let maps = names(&stage, "maps");
    assert_eq!(maps.len(), 3);
    clean(&stage, "unpack configmaps:maps --to whole");
    assert_eq!(files(&stage, "whole"), {
        clean(&stage, "pack in --to dir:out");
        files(&stage, "out")
    });
    for map in maps {
        let path = format!("maps/{map}");
        let text = stage.read(&path);
        stage.remove(&path);
        let reported = refusal(&stage, "unpack configmaps:maps --to out", "bundle-layout");
        let expected = "a bundle is in 3 ConfigMaps, and 2 are here";
        assert!(reported.contains(expected), "{reported}");
        stage.write(&path, text);
    }
}

#[test]
fn a_bundle_is_read_from_the_file_of_its_config_map_too() {
    let stage = project();
    stage.write(
        "in/a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: app}\ndata: {x: y}\n",
    );
    clean(&stage, "pack in --to configmaps:maps");
    let map = names(&stage, "maps").concat();
    clean(&stage, &format!("unpack configmaps:maps/{map} --to out"));
    clean(&stage, "pack in --to dir:whole");
    assert_eq!(files(&stage, "out"), files(&stage, "whole"));
}

/// `--order numbered` divides a file, and not an object.
#[test]
fn a_large_object_is_helped_by_what_takes_it() {
    let stage = project();
    let object = |name: &str, size: usize| {
        let data = "x".repeat(size);
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: app}}\ndata: {{x: {data}}}\n"
        )
    };
    let pack = "pack in --to configmaps:maps";
    let two = format!("{}---\n{}", object("a", 600 << 10), object("b", 600 << 10));
    stage.write("in/a.yaml", two);
    let reported = refusal(&stage, pack, "object-too-large");
    assert!(reported.contains("`--order numbered`"), "{reported}");
    clean(&stage, &format!("{pack} --order numbered"));
    for text in [
        object("a", 1536 << 10),
        format!("{}---\n{}", object("a", 1536 << 10), object("b", 1)),
    ] {
        stage.write("in/a.yaml", text);
        let reported = refusal(&stage, pack, "object-too-large");
        assert!(!reported.contains("`--order numbered`"), "{reported}");
        assert!(reported.contains("`oci-layout:DIR`"), "{reported}");
    }
    clean(&stage, "pack in --to oci-layout:l:1");
}
