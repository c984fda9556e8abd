//! RukPak's own test bundles, by their shapes: what it took is taken, what it refused is refused for its reason.
//!
//! Source: operator-framework/rukpak, testdata/bundles and test/e2e/plain_provisioner_test.go.

use snapbox::str;

use super::{NAMESPACE, WEB};
use crate::support::stage::{Is, Stage, brief, project};
use crate::support::story::Story;

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: groups.example.org}\n\
    spec: {group: example.org, scope: Namespaced, names: {kind: Group, plural: groups}, versions: []}\n";
const GROUP: &str =
    "apiVersion: example.org/v1\nkind: Group\nmetadata: {name: all, namespace: app}\n";

/// Its projects, each with a recipe and a script beside `manifests/`.
fn projects() -> Stage {
    let stage = project();
    for (name, files) in [
        ("valid", &[("crds.yaml", DEFINITION)][..]),
        ("provides", &[("crd.yaml", DEFINITION)]),
        (
            "dependent",
            &[("namespace.yaml", NAMESPACE), ("cr-no-crd.yaml", GROUP)],
        ),
        (
            "crds-and-crs",
            &[
                ("a.yaml", NAMESPACE),
                ("b.yaml", GROUP),
                ("c.yaml", DEFINITION),
            ],
        ),
        ("no-manifests", &[(".gitignore", "*\n!.gitignore\n")]),
        (
            "subdir",
            &[
                ("a.yaml", NAMESPACE),
                ("subdir/b.yaml", NAMESPACE),
                ("emptydir/.gitignore", "*\n"),
            ],
        ),
    ] {
        stage.write(
            &format!("{name}/Dockerfile"),
            "FROM scratch\nCOPY manifests /manifests\n",
        );
        for (path, text) in files {
            stage.write(&format!("{name}/manifests/{path}"), text);
        }
    }
    stage.write("empty/emptyfile", "");
    for path in [
        "manifests/web.clusterserviceversion.yaml",
        "metadata/annotations.yaml",
        "Dockerfile",
    ] {
        stage.write(&format!("registry/{path}"), "kind: ClusterServiceVersion\n");
    }
    stage
}

#[test]
fn rukpaks_own_bundles_are_judged_as_rukpak_did() {
    let stage = projects();
    let mut story = Story::new(&stage);
    for name in [
        "valid",
        "provides",
        "dependent",
        "crds-and-crs",
        "empty",
        "no-manifests",
        "subdir",
        "registry",
    ] {
        story.runs(&[&format!("bundle pack {name} --to dir:out/{name}")]);
    }
    story.is(str![[r#"
$ bundle pack valid --to dir:out/valid => 0
sha256:c4e4dea9c99470b68015879d94906a7731624191ea5cd4c11646cf082ebb66ae
note: 1 file is left out, being hidden or no manifest: `valid/Dockerfile`
plain+v0 bundle of 1 file, 1 object; out/valid: 1 created, 0 updated, 0 unchanged
$ bundle pack provides --to dir:out/provides => 0
sha256:c9fcc871d0e1ffb19973d4cede48c7d4819da5a6b0a878f52a08e0f18e84bd14
note: 1 file is left out, being hidden or no manifest: `provides/Dockerfile`
plain+v0 bundle of 1 file, 1 object; out/provides: 1 created, 0 updated, 0 unchanged
$ bundle pack dependent --to dir:out/dependent => 0
sha256:d73f7d37bd618696fb04c39d23dac52044880a9254d10f113e2263b017119b06
note: 1 file is left out, being hidden or no manifest: `dependent/Dockerfile`
plain+v0 bundle of 2 files, 2 objects; out/dependent: 2 created, 0 updated, 0 unchanged
$ bundle pack crds-and-crs --to dir:out/crds-and-crs => 1
note: 1 file is left out, being hidden or no manifest: `crds-and-crs/Dockerfile`
error[crd-order]: `Group app/all` is in one bundle with `CustomResourceDefinition groups.example.org`, which defines its kind: RukPak looks up every kind before it applies anything --> crds-and-crs/manifests/b.yaml:3:18 ::: crds-and-crs/manifests/c.yaml:3:18
$ bundle pack empty --to dir:out/empty => 1
note: 1 file is left out, being hidden or no manifest: `empty/emptyfile`
error[bundle-empty]: the bundle holds no object --> empty
$ bundle pack no-manifests --to dir:out/no-manifests => 1
note: 2 files are left out, being hidden or no manifest: `no-manifests/Dockerfile` …
error[bundle-empty]: the bundle holds no object --> no-manifests
$ bundle pack subdir --to dir:out/subdir => 1
note: 2 files are left out, being hidden or no manifest: `subdir/Dockerfile` …
error[bundle-layout]: `emptydir` is a folder in `manifests/`, which is flat --> manifests/emptydir
error[bundle-layout]: `subdir` is a folder in `manifests/`, which is flat --> manifests/subdir
error[object-duplicate]: `Namespace app` occurs twice --> subdir/manifests/subdir/b.yaml:4:9 ::: subdir/manifests/a.yaml:4:9
$ bundle pack registry --to dir:out/registry => 1
error[bundle-unsupported]: bundles of kind registry+v1 are not supported --> registry

"#]]);
    assert_eq!(
        stage.list("out"),
        [
            "dependent/manifests/cr-no-crd.yaml",
            "dependent/manifests/namespace.yaml",
            "provides/manifests/crd.yaml",
            "valid/manifests/crds.yaml",
        ]
    );
}

/// RukPak refused such a bundle until the definitions were in the cluster; which are there is not known here, so it is said.
#[test]
fn kinds_that_are_defined_elsewhere_are_named() {
    let stage = projects();
    let needs = |name: &str| {
        let screen = stage
            .run(&format!("bundle inspect {name}"))
            .exit(0)
            .outcome
            .stdout;
        let needs = screen.lines().filter(|line| line.starts_with("needs"));
        needs.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        needs("dependent"),
        ["needs        Group.example.org, which is defined elsewhere"]
    );
    assert!(needs("valid").is_empty());
}

/// A definition and an object of its kind: refused for RukPak, which looks up every kind first; taken for those who order.
#[test]
fn a_definition_and_its_object_are_refused_or_ordered() {
    let stage = projects();
    stage.write(
        "index.yaml",
        "version: 1\nbundles: [{name: app, from: dependent, requires: [api]}, {name: api, from: provides}]\n",
    );
    let mut story = Story::new(&stage);
    story.runs(&[
        "bundle pack crds-and-crs --order numbered --to dir:numbered",
        "bundle pack crds-and-crs --order names --to dir:names",
        "bundle pack crds-and-crs --kind artifact --to oci-layout:l:1",
        "bundle unpack crds-and-crs --to files",
        "bundle pack index:index.yaml --to dir:index",
        "bundle pack index:index.yaml --order names --to dir:index",
        "bundle pack crds-and-crs --order numbered --to configmaps:maps",
        "bundle pack crds-and-crs --order numbered --to oci-layout:m:1 --deployment v1alpha2 --image oci://r.example/app",
    ]);
    story.is(str![[r#"
$ bundle pack crds-and-crs --order numbered --to dir:numbered => 0
sha256:24c9e7a95d71cba8925f097768fceb61d2b6eea417017f68d65b9d28694f0671
note: 1 file is left out, being hidden or no manifest: `crds-and-crs/Dockerfile`
plain+v0 bundle of 3 files, 3 objects; numbered: 3 created, 0 updated, 0 unchanged
$ bundle pack crds-and-crs --order names --to dir:names => 1
note: 1 file is left out, being hidden or no manifest: `crds-and-crs/Dockerfile`
error[crd-order]: `Group app/all` is applied before `CustomResourceDefinition groups.example.org`, which defines its kind --> crds-and-crs/manifests/b.yaml:3:18 ::: crds-and-crs/manifests/c.yaml:3:18
$ bundle pack crds-and-crs --kind artifact --to oci-layout:l:1 => 0
sha256:a57d64b7394263b465d16a7e74ccfa21f67f324703b4980d25e7ca0d4c272451
artifact bundle of 4 files; put into `oci-layout:l`
$ bundle unpack crds-and-crs --to files => 0
plain+v0 bundle of 3 files; files: 3 created, 0 updated, 0 unchanged
note: 1 file is left out, being hidden or no manifest: `crds-and-crs/Dockerfile`
$ bundle pack index:index.yaml --to dir:index => 1
note: 2 files are left out, being hidden or no manifest: `provides/Dockerfile` …
error[crd-order]: `Group app/all` is in one bundle with `CustomResourceDefinition groups.example.org`, which defines its kind: RukPak looks up every kind before it applies anything --> dependent/manifests/cr-no-crd.yaml:3:18 ::: provides/manifests/crd.yaml:3:18
$ bundle pack index:index.yaml --order names --to dir:index => 1
note: 2 files are left out, being hidden or no manifest: `provides/Dockerfile` …
error[crd-order]: `Group app/all` is applied before `Namespace app`, which is its namespace --> dependent/manifests/cr-no-crd.yaml:3:18 ::: dependent/manifests/namespace.yaml:4:9
$ bundle pack crds-and-crs --order numbered --to configmaps:maps => 1
note: 1 file is left out, being hidden or no manifest: `crds-and-crs/Dockerfile`
error[crd-order]: `Group app/all` is in one bundle with `CustomResourceDefinition groups.example.org`, which defines its kind: RukPak looks up every kind before it applies anything --> crds-and-crs/manifests/b.yaml:3:18 ::: crds-and-crs/manifests/c.yaml:3:18
$ bundle pack crds-and-crs --order numbered --to oci-layout:m:1 --deployment v1alpha2 --image oci://r.example/app => 1
note: 1 file is left out, being hidden or no manifest: `crds-and-crs/Dockerfile`
error[crd-order]: `Group app/all` is in one bundle with `CustomResourceDefinition groups.example.org`, which defines its kind: RukPak looks up every kind before it applies anything --> crds-and-crs/manifests/b.yaml:3:18 ::: crds-and-crs/manifests/c.yaml:3:18

"#]]);
    assert_eq!(
        stage.list("numbered"),
        [
            "manifests/001-namespace-app.yaml",
            "manifests/002-customresourcedefinition-groups.example.org.yaml",
            "manifests/003-group-all.yaml",
        ]
    );
}

/// Each definition is reported once, however many objects are of its kind.
#[test]
fn a_thousand_objects_of_one_kind_are_one_finding() {
    let objects: String = (0..1000)
        .map(|number| format!("---\n{}", GROUP.replace("all", &format!("g{number}"))))
        .collect();
    let stage = project().files(&[
        ("in/a.yaml", &objects),
        ("in/b.yaml", DEFINITION),
        ("in/c.yaml", NAMESPACE),
    ]);
    // By names their namespace is late too.
    for (order, count) in [("kind", 1), ("names", 2)] {
        let run = stage
            .run(&format!("bundle pack in --order {order} --to dir:out"))
            .exit(1);
        assert_eq!(run.outcome.stderr.matches("[crd-order]").count(), count);
    }
}

/// operator-framework/rukpak#16: `01_namespace.yaml`. What is in a namespace is applied after it.
#[test]
fn objects_come_after_their_namespace_in_the_order_of_names() {
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: app}\n";
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a, namespace: app}\n";
    let stage = project().files(&[
        ("in/manifests/00_settings.yaml", settings),
        ("in/manifests/01_namespace.yaml", NAMESPACE),
        ("other/manifests/00_role.yaml", role),
        ("other/manifests/01_namespace.yaml", NAMESPACE),
    ]);
    let mut story = Story::new(&stage);
    story.runs(&[
        "bundle pack in --order names --to dir:out",
        "bundle pack in --order numbered --to dir:numbered",
        "bundle pack in --to dir:together",
        "bundle pack other --order names --to dir:other-out",
    ]);
    stage.write(
        "in/manifests/02_settings.yaml",
        stage.read("in/manifests/00_settings.yaml"),
    );
    stage.remove("in/manifests/00_settings.yaml");
    story.runs(&["bundle pack in --order names --to dir:out"]);
    story.is(str![[r#"
$ bundle pack in --order names --to dir:out => 1
error[crd-order]: `ConfigMap app/a` is applied before `Namespace app`, which is its namespace --> in/manifests/00_settings.yaml:3:18 ::: in/manifests/01_namespace.yaml:4:9
$ bundle pack in --order numbered --to dir:numbered => 0
sha256:4f7702d075d1341ea43857521f8c9b0549305e657fb6567820afcc66f99740ea
plain+v0 bundle of 2 files, 2 objects; numbered: 2 created, 0 updated, 0 unchanged
$ bundle pack in --to dir:together => 0
sha256:6aa8295d1d4caf7f7705d92af5855d47de75cd8e470e9fea686ba1e2e5a7921e
plain+v0 bundle of 2 files, 2 objects; together: 2 created, 0 updated, 0 unchanged
$ bundle pack other --order names --to dir:other-out => 0
sha256:153d46206ce0da6ed86fa8c42888a734a4a2c3dbd398bcead828f8f720180786
plain+v0 bundle of 2 files, 2 objects; other-out: 2 created, 0 updated, 0 unchanged
$ bundle pack in --order names --to dir:out => 0
sha256:b13467d7a0a66156ff3f4c17f3e61f8dcffa21918746ad09dcf34093ff8fde88
plain+v0 bundle of 2 files, 2 objects; out: 2 created, 0 updated, 0 unchanged

"#]]);
}

/// Some of RukPak's own say no `kind`.
#[test]
fn a_kustomization_is_no_manifest_whatever_it_says() {
    let stage = project().files(&[
        ("in/kustomization.yml", "resources: [base]\n"),
        (
            "in/base/kustomization.yaml",
            "resources: [namespace.yaml]\n",
        ),
        ("in/base/namespace.yaml", NAMESPACE),
        ("bad/kustomization.yaml", "{{{{\n"),
        ("bundle/manifests/kustomization.yaml", "resources: []\n"),
        ("bundle/manifests/namespace.yaml", NAMESPACE),
    ]);
    stage.run("bundle pack in --to dir:out").exit(0);
    assert_eq!(stage.list("out"), ["manifests/base-namespace.yaml"]);
    let mut story = Story::new(&stage);
    story.runs(&["bundle pack bad --to dir:bad-out", "bundle inspect bundle"]);
    story.is(str![[r#"
$ bundle pack bad --to dir:bad-out => 1
error[yaml-syntax]: expected a value, found the end of the file --> bad/kustomization.yaml:2:1
$ bundle inspect bundle => 0
kind         plain+v0
content      sha256:b79b3b04f0768b7dfc49fa008bc6471864f9f77a533878091c439ac8d8c676fa
files        1 file, 53 bytes
objects      1 Namespace
note: 1 file is left out, being hidden or no manifest: `bundle/manifests/kustomization.yaml`

"#]]);
}

/// The name of a file says less than what it holds.
#[test]
fn an_object_in_a_file_called_kustomization_is_packed() {
    let stage = project().file("in/kustomization.yaml", NAMESPACE);
    stage.run("bundle pack in --to dir:out").exit(0);
    assert_eq!(stage.list("out"), ["manifests/kustomization.yaml"]);
}

/// All that an object comes too early for is said in one run; the first of two namespaces of one name is the one that counts.
#[test]
fn an_object_before_its_definition_and_its_namespace_is_reported_for_both() {
    let group = |name: &str| {
        format!(
            "apiVersion: example.org/v1\nkind: Group\nmetadata: {{name: {name}, namespace: app}}\n"
        )
    };
    let (one, two) = (group("one"), group("two"));
    let together = [&one, DEFINITION, NAMESPACE].join("---\n");
    let stage = project().files(&[
        ("in/manifests/1.yaml", &*one),
        ("in/manifests/2.yaml", &*two),
        ("in/manifests/3.yaml", DEFINITION),
        ("in/manifests/4.yaml", NAMESPACE),
        ("one/manifests/all.yaml", &together),
        ("twice/manifests/1.yaml", NAMESPACE),
        (
            "twice/manifests/2.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: app}\n",
        ),
        ("twice/manifests/3.yaml", NAMESPACE),
    ]);
    let found: String = ["in", "one", "twice"]
        .map(|folder| {
            let run = stage.run(&format!("bundle pack {folder} --order names --to dir:out"));
            brief(&run.exit(1).outcome.stderr)
        })
        .concat();
    found.is(str![[r#"
error[crd-order]: `Group app/one` is applied before `CustomResourceDefinition groups.example.org`, which defines its kind
  in/manifests/1.yaml:3:18 `one` applied first
  in/manifests/3.yaml:3:18 `groups.example.org` defined here
  help: pack with `--order numbered`, or give the file of `CustomResourceDefinition groups.example.org` a name that comes first
error[crd-order]: `Group app/one` is applied before `Namespace app`, which is its namespace
  in/manifests/1.yaml:3:18 `one` applied first
  in/manifests/4.yaml:4:9 `app` defined here
  help: pack with `--order numbered`, or give the file of `Namespace app` a name that comes first
2 errors
error[crd-order]: `Group app/one` is applied before `CustomResourceDefinition groups.example.org`, which defines its kind
  one/manifests/all.yaml:3:18 `one` applied first
  one/manifests/all.yaml:7:18 `groups.example.org` defined here
  help: pack with `--order numbered`, or move `CustomResourceDefinition groups.example.org` up
error[crd-order]: `Group app/one` is applied before `Namespace app`, which is its namespace
  one/manifests/all.yaml:3:18 `one` applied first
  one/manifests/all.yaml:13:9 `app` defined here
  help: pack with `--order numbered`, or move `Namespace app` up
2 errors
error[object-duplicate]: `Namespace app` occurs twice
  twice/manifests/3.yaml:4:9 `app` again here
  twice/manifests/1.yaml:4:9 `app` first here
  help: keep one of the two
1 error

"#]]);
}

#[test]
fn an_index_takes_flat_folders_and_archives_and_says_what_it_cannot_read() {
    let stage = project().files(&[
        ("flat/base/namespace.yaml", NAMESPACE),
        ("flat/readme.md", "not a manifest"),
        ("outer.yaml", "version: 1\nbundles: [{name: flat, from: flat}, {name: more, from: 'index:inner.yaml'}]\n"),
        ("inner.yaml", "version: 1\nbundles: [{name: web, from: web}]\n"),
        ("web/web.yaml", super::WEB),
        ("none/readme.md", "not a manifest"),
        ("none.yaml", "version: 1\nbundles: [{name: none, from: none}]\n"),
        ("components/install.sh", "#!/bin/sh\n"),
        ("components.yaml", "version: 1\nbundles: [{name: components, from: components}]\n"),
    ]);
    let mut story = Story::new(&stage);
    for index in ["outer", "none", "components"] {
        story.runs(&[&format!(
            "bundle pack index:{index}.yaml --to dir:out/{index}"
        )]);
    }
    story.is(str![[r#"
$ bundle pack index:outer.yaml --to dir:out/outer => 0
sha256:b93afc686c26bbc77426478ee96d1342eb5878f77201876541850240ab4b0e08
note: 1 file is left out, being hidden or no manifest: `flat/readme.md`
plain+v0 bundle of 2 files, 2 objects; out/outer: 2 created, 0 updated, 0 unchanged
$ bundle pack index:none.yaml --to dir:out/none => 1
error[bundle-empty]: `none` holds no manifest --> none.yaml:2:30
$ bundle pack index:components.yaml --to dir:out/components => 1
error[bundle-unsupported]: `components` is a bundle of kind components, and an index names bundles of manifests --> components.yaml:2:36

"#]]);
    assert_eq!(
        stage.list("out"),
        [
            "outer/manifests/01-flat-base-namespace.yaml",
            "outer/manifests/02-more-01-web-web.yaml"
        ]
    );
}

/// A file that is not read may hold objects: that there are none is not said beside it.
#[test]
fn a_bundle_that_cannot_be_read_is_not_empty_too() {
    let stage = project().file("in/manifests/a.yaml", "a: [\n");
    let mut story = Story::new(&stage);
    story.runs(&["bundle pack in --to dir:out", "bundle inspect in"]);
    story.is(str![[r#"
$ bundle pack in --to dir:out => 1
error[yaml-syntax]: expected a value, found the end of the file --> in/manifests/a.yaml:2:1
$ bundle inspect in => 1
kind         plain+v0
content      sha256:7f2d95ef2064e20bd9f18c9d07e49e3f95f2ba2f00c711244830f1210540ea27
files        1 file, 5 bytes
error[yaml-syntax]: expected a value, found the end of the file --> in/manifests/a.yaml:2:1

"#]]);
}

/// Packing a folder, looking at it and unpacking it each left out other files, and said nothing.
#[test]
fn a_folder_holds_the_same_whatever_is_done_with_it() {
    let stage = project().files(&[
        ("in/Dockerfile", "FROM scratch\n"),
        ("in/manifests/.gitignore", "*.bak\n"),
        (
            "in/manifests/kustomization.yaml",
            "resources: [namespace.yaml]\n",
        ),
        ("in/manifests/namespace.yaml", NAMESPACE),
        ("flat/.hidden/web.yaml", WEB),
        ("flat/README.md", "# Flat\n"),
        ("flat/kustomization.yaml", "resources: [web.yaml]\n"),
        ("flat/web.yaml", WEB),
        (
            "index.yaml",
            "version: 1\nbundles: [{name: in, from: in}, {name: flat, from: flat}]\n",
        ),
    ]);
    stage.shell("tar -C in -czf in.tgz .").exit(0);
    let mut story = Story::new(&stage);
    for from in ["in", "in.tgz", "index:index.yaml"] {
        let name = from.replace([':', '.'], "-");
        story.runs(&[
            &format!("bundle pack {from} --order names --to dir:packed-{name}"),
            &format!("bundle unpack {from} --order names --to unpacked-{name}"),
            &format!("bundle inspect {from} --order names"),
        ]);
        assert_eq!(
            stage.list(&format!("packed-{name}")),
            stage.list(&format!("unpacked-{name}"))
        );
    }
    story.runs(&["bundle pack flat --to dir:packed-flat"]);
    assert_eq!(stage.list("packed-flat"), ["manifests/web.yaml"]);
    story.is(str![[r#"
$ bundle pack in --order names --to dir:packed-in => 0
sha256:b79b3b04f0768b7dfc49fa008bc6471864f9f77a533878091c439ac8d8c676fa
note: 3 files are left out, being hidden or no manifest: `in/Dockerfile` …
plain+v0 bundle of 1 file, 1 object; packed-in: 1 created, 0 updated, 0 unchanged
$ bundle unpack in --order names --to unpacked-in => 0
plain+v0 bundle of 1 file; unpacked-in: 1 created, 0 updated, 0 unchanged
note: 3 files are left out, being hidden or no manifest: `in/Dockerfile` …
$ bundle inspect in --order names => 0
kind         plain+v0
content      sha256:b79b3b04f0768b7dfc49fa008bc6471864f9f77a533878091c439ac8d8c676fa
files        1 file, 53 bytes
objects      1 Namespace
note: 3 files are left out, being hidden or no manifest: `in/Dockerfile` …
$ bundle pack in.tgz --order names --to dir:packed-in-tgz => 0
sha256:b79b3b04f0768b7dfc49fa008bc6471864f9f77a533878091c439ac8d8c676fa
note: 3 files are left out, being hidden or no manifest: `in.tgz:Dockerfile` …
plain+v0 bundle of 1 file, 1 object; packed-in-tgz: 1 created, 0 updated, 0 unchanged
$ bundle unpack in.tgz --order names --to unpacked-in-tgz => 0
plain+v0 bundle of 1 file; unpacked-in-tgz: 1 created, 0 updated, 0 unchanged
note: 3 files are left out, being hidden or no manifest: `in.tgz:Dockerfile` …
$ bundle inspect in.tgz --order names => 0
kind         plain+v0
content      sha256:b79b3b04f0768b7dfc49fa008bc6471864f9f77a533878091c439ac8d8c676fa
files        1 file, 53 bytes
objects      1 Namespace
note: 3 files are left out, being hidden or no manifest: `in.tgz:Dockerfile` …
$ bundle pack index:index.yaml --order names --to dir:packed-index-index-yaml => 0
sha256:4c5888a3019e267c123d674b6f55229a4bab162fba842ad72966c90bb543b361
note: 6 files are left out, being hidden or no manifest: `in/Dockerfile` …
plain+v0 bundle of 2 files, 2 objects; packed-index-index-yaml: 2 created, 0 updated, 0 unchanged
$ bundle unpack index:index.yaml --order names --to unpacked-index-index-yaml => 0
plain+v0 bundle of 2 files; unpacked-index-index-yaml: 2 created, 0 updated, 0 unchanged
note: 6 files are left out, being hidden or no manifest: `in/Dockerfile` …
$ bundle inspect index:index.yaml --order names => 0
kind         plain+v0
content      sha256:4c5888a3019e267c123d674b6f55229a4bab162fba842ad72966c90bb543b361
files        2 files, 128 bytes
objects      1 Deployment
objects      1 Namespace
annotation   dev.metalmark.bundle.contains: in,flat
note: 6 files are left out, being hidden or no manifest: `in/Dockerfile` …
$ bundle pack flat --to dir:packed-flat => 0
sha256:92e1367362e05745dd2420cbda7ee306a4492eb007d3b981ce38f945d8930040
note: 3 files are left out, being hidden or no manifest: `flat/.hidden/web.yaml` …
warning[namespace-missing]: `Deployment app/web` is in namespace `app`, which the bundle does not hold --> flat/web.yaml:3:18
plain+v0 bundle of 1 file, 1 object; packed-flat: 1 created, 0 updated, 0 unchanged

"#]]);
}
