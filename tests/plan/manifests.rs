//! Plans of fleets that values and manifests make, applied wave by wave.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::prelude::Strategy;
use serde_json::Value;
use snapbox::str;

use super::{list, read_json, text};
use crate::git::commit_all;
use crate::support::manifests;
use crate::support::stage::{Stage, assert_text, changes, project, table};
use crate::support::{property, rounds};

/// How the files of a cluster say which image it boots.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Helm values with a key.
    Values,
    /// Manifests without a word of `stamp`.
    Plain,
    /// A marker with a key above each machine template.
    Marker,
    /// A marker with a selector, which takes the version of the machines.
    Selector,
    /// An entry of `stamps` for each of its machine templates.
    Entry,
    /// A Cluster with a topology, and a ClusterClass of its own.
    Topology,
}

const SHAPES: [Shape; 6] = [
    Shape::Values,
    Shape::Plain,
    Shape::Marker,
    Shape::Selector,
    Shape::Entry,
    Shape::Topology,
];

/// A cluster of a fleet.
#[derive(Clone, Debug)]
struct Cluster {
    shape: Shape,
    minor: u32,
    workers: usize,
}

fn name(index: usize) -> String {
    format!("c{index}")
}

fn key(minor: u32) -> String {
    format!("noble-1-{minor}-4")
}

/// The image fields of a machine template.
fn image(minor: u32) -> String {
    format!(
        "{{url: 'https://images.example.org/{}.raw', checksum: {}, checksumType: sha256, format: raw}}",
        key(minor),
        checksum(minor)
    )
}

fn checksum(minor: u32) -> String {
    format!("{minor:0>64x}").replace('0', "a")
}

/// A project of these clusters, with these options of `plan`.
fn fleet(options: &str, clusters: &[Cluster]) -> Stage {
    let stage = project();
    let (mut records, mut listed, mut stamps) = (String::new(), String::new(), String::new());
    for minor in 29..33 {
        let key = key(minor);
        let _ = writeln!(
            records,
            "    {key}:\n      os: {{name: ubuntu, version: '24.04', codename: noble}}\n      k8s: {{flavor: kubeadm, version: 1.{minor}.4}}\n      \
             format: raw\n      digests: {{uncompressed: {{sha256: {}}}}}\n      locations: {{https: 'https://images.example.org/{key}.raw'}}",
            checksum(minor)
        );
        let _ = writeln!(
            listed,
            "  {key}: {{uri: 'oci://registry.example.org/{key}:1', filename: {key}.raw, hardened: 'false'}}"
        );
    }
    for (index, cluster) in clusters.iter().enumerate() {
        let name = name(index);
        if let Shape::Entry = cluster.shape {
            for pool in pools(&name, cluster.workers) {
                let _ = writeln!(
                    stamps,
                    "  - {{kind: Metal3MachineTemplate, name: '{pool}*', namespace: {name}, image: {}}} # of {name}",
                    key(cluster.minor)
                );
            }
        }
        let (file, text) = match cluster.shape {
            Shape::Values => (format!("values/{name}.yaml"), values(cluster)),
            Shape::Topology => (format!("manifests/{name}.yaml"), topology(&name, cluster)),
            _ => (format!("manifests/{name}.yaml"), manifests(&name, cluster)),
        };
        stage.write(&file, text);
    }
    let has = |wanted: fn(Shape) -> bool| clusters.iter().any(|cluster| wanted(cluster.shape));
    let mut project = format!(
        "version: 1\nimages:\n  url: 'https://images.example.org/{{{{ image.filename }}}}'\n  records:\n{records}{options}"
    );
    if has(|shape| matches!(shape, Shape::Values)) {
        project += "values: [catalog.yaml]\nclusters: [{each: 'values/*.yaml'}]\n";
    }
    if has(|shape| !matches!(shape, Shape::Values)) {
        project += "manifests: [manifests]\n";
    }
    if !stamps.is_empty() {
        project += &format!("stamps:\n{stamps}");
    }
    stage
        .file("metalmark.yaml", project)
        .file("catalog.yaml", format!("os_images:\n{listed}"))
}

/// The names of a cluster's control plane and its machine deployments.
fn pools(name: &str, workers: usize) -> Vec<String> {
    let workers = (0..workers).map(|number| format!("{name}-md{number}"));
    std::iter::once(format!("{name}-cp"))
        .chain(workers)
        .collect()
}

fn values(cluster: &Cluster) -> String {
    let mut text = format!(
        "cluster:\n  k8s_version: v1.{}.4\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpk}}\n  \
         control_plane_replicas: 3\n  capm3: {{image_key: {}}}\n",
        cluster.minor,
        key(cluster.minor)
    );
    for number in 0..cluster.workers {
        if number == 0 {
            text += "  machine_deployments:\n";
        }
        let _ = writeln!(text, "    md{number}: {{replicas: 2}}");
    }
    text
}

/// A machine template.
fn template(name: &str, namespace: &str, cluster: &Cluster) -> String {
    let marker = match cluster.shape {
        Shape::Marker => format!("# metalmark: image={}\n", key(cluster.minor)),
        Shape::Selector => "# metalmark: selector={os: ubuntu, k8s-flavor: kubeadm}\n".to_owned(),
        _ => String::new(),
    };
    format!(
        "---\n{marker}apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\n\
         metadata: {{name: {name}, namespace: {namespace}}}  # café\nspec:\n  template:\n    spec:\n      image: {}\n",
        image(cluster.minor)
    )
}

fn manifests(name: &str, cluster: &Cluster) -> String {
    let minor = cluster.minor;
    let mut text = format!(
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {{name: {name}, namespace: {name}, labels: {{site: s{minor}}}}}\n\
         spec:\n  controlPlaneRef: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: {name}-cp}}\n"
    );
    for pool in pools(name, cluster.workers) {
        let reference = format!(
            "{{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: {pool}}}"
        );
        text += &if pool.ends_with("-cp") {
            format!(
                "---\napiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane\nmetadata: {{name: {pool}, namespace: {name}}}\n\
             spec:\n  version: v1.{minor}.4 # of the cluster\n  replicas: 3\n  machineTemplate:\n    infrastructureRef: {reference}\n"
            )
        } else {
            format!(
                "---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineDeployment\nmetadata: {{name: {pool}, namespace: {name}}}\n\
             spec:\n  clusterName: {name}\n  replicas: 2\n  template:\n    spec:\n      clusterName: {name}\n      version: v1.{minor}.4\n      \
             bootstrap: {{configRef: {{apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: {name}}}}}\n      \
             infrastructureRef: {reference}\n"
            )
        };
        text += &template(&pool, name, cluster);
    }
    text += &format!(
        "---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {{name: {name}, namespace: {name}}}\n\
         spec: {{template: {{spec: {{preKubeadmCommands: [\"swapoff -a\"]}}}}}}\n"
    );
    text
}

fn topology(name: &str, cluster: &Cluster) -> String {
    let reference = |kind: &str, group: &str, name: &str| {
        format!(
            "{{ref: {{apiVersion: {group}.cluster.x-k8s.io/v1beta1, kind: {kind}, name: {name}}}}}"
        )
    };
    let machines = |name: &str| reference("Metal3MachineTemplate", "infrastructure", name);
    let workers: String = (0..cluster.workers)
        .map(|number| format!("        - {{class: w, name: md{number}, replicas: 2}}\n"))
        .collect();
    let listed = match &*workers {
        "" => String::new(),
        workers => format!("    workers:\n      machineDeployments:\n{workers}"),
    };
    let mut text = format!(
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {{name: {name}, namespace: {name}}}\nspec:\n  topology:\n    class: {name}\n    \
         version: v1.{}.4\n    controlPlane: {{replicas: 1}}\n{listed}---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: ClusterClass\n\
         metadata: {{name: {name}, namespace: {name}}}\nspec:\n  controlPlane:\n    ref: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, \
         kind: KubeadmControlPlaneTemplate, name: {name}}}\n    machineInfrastructure: {}\n  workers:\n    machineDeployments:\n      - class: w\n        \
         template:\n          bootstrap: {}\n          infrastructure: {}\n",
        cluster.minor,
        machines(&format!("{name}-cp")),
        reference("KubeadmConfigTemplate", "bootstrap", name),
        machines(&format!("{name}-md0")),
    );
    for pool in ["cp", "md0"] {
        text += &template(&format!("{name}-{pool}"), name, cluster);
    }
    text += &format!(
        "---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {{name: {name}, namespace: {name}}}\n\
         spec: {{template: {{spec: {{preKubeadmCommands: [\"swapoff -a\"]}}}}}}\n---\napiVersion: controlplane.cluster.x-k8s.io/v1beta1\n\
         kind: KubeadmControlPlaneTemplate\nmetadata: {{name: {name}, namespace: {name}}}\nspec: {{template: {{spec: {{kubeadmConfigSpec: {{}}}}}}}}\n"
    );
    text
}

/// The pools of the first wave, each with its cluster and its version, as the plan names them.
fn first_wave(plan: &Value) -> BTreeMap<(String, String), String> {
    let members: BTreeSet<String> = list(&plan["waves"][0], "clusters")
        .map(|it| text(&it["cluster"]))
        .collect();
    let plans = list(plan, "clusters").filter(|it| members.contains(&text(&it["cluster"])));
    plans
        .flat_map(|it| {
            let step = &it["steps"][0];
            let pools = step["images"].as_object().expect("a map").keys();
            let (cluster, version) = (text(&it["cluster"]), text(&step["version"]));
            pools.map(move |pool| ((cluster.clone(), pool.clone()), version.clone()))
        })
        .collect()
}

/// The pools whose machines a change replaces.
fn replaced(stage: &Stage) -> BTreeSet<(String, String)> {
    let impact = read_json(stage, "impact --against HEAD");
    let clusters = list(&impact, "clusters");
    clusters
        .flat_map(|it| list(it, "pools").map(move |pool| (it, pool)))
        .inspect(|(_, pool)| assert_eq!(pool["rollout"], "roll", "{pool}"))
        .map(|(it, pool)| (text(&it["cluster"]), text(&pool["pool"])))
        .collect()
}

fn clusters() -> impl Strategy<Value = Vec<Cluster>> {
    let cluster = (0..SHAPES.len(), 29..33_u32, 0..3_usize);
    let cluster = cluster.prop_map(|(shape, minor, workers)| Cluster {
        shape: SHAPES[shape],
        minor,
        workers,
    });
    vec(cluster, 1..5)
}

#[test]
fn all_waves_in_order_reach_the_goal_and_impact_names_the_pools_of_each() {
    property(rounds(4, 30), &clusters(), |clusters| {
        let options = "plan: {most: 2, most-machines: 8, groups: ['site=*']}\n";
        let Some(stage) = fleet(options, &clusters).commit("start") else {
            return;
        };
        let plan = || read_json(&stage, "plan --to 1.32");
        for _ in 0..clusters.iter().map(|cluster| 32 - cluster.minor).sum() {
            let planned = plan();
            assert!(
                list(&planned, "clusters").all(|it| it["blocked"].is_null()),
                "{planned}"
            );
            if list(&planned, "waves").next().is_none() {
                break;
            }
            let expected = first_wave(&planned);
            stage.run("plan --to 1.32 --apply 1").exit(0);
            stage.run("check").exit(0);
            assert_eq!(replaced(&stage), expected.keys().cloned().collect());
            let after = plan();
            for ((cluster, _), version) in &expected {
                let own = list(&after, "clusters").find(|it| it["cluster"] == **cluster);
                assert_eq!(own.expect("it")["from"], **version, "{cluster}");
            }
            commit_all(stage.path(), "a wave");
        }
        let planned = plan();
        assert!(
            list(&planned, "clusters").all(|it| it["from"] == "1.32.4"),
            "{planned}"
        );
    });
}

fn cluster(shape: Shape, minor: u32, workers: usize) -> Cluster {
    Cluster {
        shape,
        minor,
        workers,
    }
}

#[test]
fn a_wave_renames_templates_and_changes_what_names_their_image() {
    let stage = fleet("", &SHAPES.map(|shape| cluster(shape, 30, 0)));
    let before = stage.texts();
    // Each value at its place, each file of manifests by its name.
    stage
        .run("plan --to 1.31 --apply 1")
        .exit(0)
        .screen(str![[r#"
wave 1: 6 clusters to 1.31, 7 files edited
edited values/c0.yaml:2:16: `k8s_version: v1.31.4`
edited values/c0.yaml:5:22: `image_key: noble-1-31-4`
edited manifests/c1.yaml
edited manifests/c2.yaml
edited manifests/c3.yaml
edited manifests/c4.yaml
edited manifests/c5.yaml
edited metalmark.yaml

"#]]);
    assert_text(
        &changes(&before, &stage.texts()),
        str![[r#"
manifests/c1.yaml:11
-  version: v1.30.4 # of the cluster
+  version: v1.31.4 # of the cluster
manifests/c1.yaml:14
-    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: c1-cp}
+    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: c1-cp-64ea12e898}
+---
+apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
+kind: Metal3MachineTemplate
+metadata: {name: c1-cp-64ea12e898, namespace: c1}  # café
+spec:
+  template:
+    spec:
+      image: {url: 'https://images.example.org/noble-1-31-4.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1f, checksumType: sha256, format: raw}
manifests/c1.yaml:26
-metadata: {name: c1-cp, namespace: c1}  # café
+metadata: {name: c1-cp, namespace: c1, annotations: {metalmark.dev/kept: c1-cp-64ea12e898}}  # café
manifests/c2.yaml:11
-  version: v1.30.4 # of the cluster
+  version: v1.31.4 # of the cluster
manifests/c2.yaml:14
-    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: c2-cp}
+    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: c2-cp-64ea12e898}
manifests/c2.yaml:16
-# metalmark: image=noble-1-30-4
+# metalmark: image=noble-1-31-4
manifests/c2.yaml:19
-metadata: {name: c2-cp, namespace: c2}  # café
+metadata: {name: c2-cp-64ea12e898, namespace: c2}  # café
+spec:
+  template:
+    spec:
+      image: {url: 'https://images.example.org/noble-1-31-4.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1f, checksumType: sha256, format: raw}
+---
+# metalmark: image=noble-1-31-4
+apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
+kind: Metal3MachineTemplate
+metadata: {name: c2-cp, namespace: c2, annotations: {metalmark.dev/kept: c2-cp-64ea12e898}}  # café
manifests/c3.yaml:11
-  version: v1.30.4 # of the cluster
+  version: v1.31.4 # of the cluster
manifests/c3.yaml:14
-    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: c3-cp}
+    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: c3-cp-64ea12e898}
manifests/c3.yaml:19
-metadata: {name: c3-cp, namespace: c3}  # café
+metadata: {name: c3-cp-64ea12e898, namespace: c3}  # café
+spec:
+  template:
+    spec:
+      image: {url: 'https://images.example.org/noble-1-31-4.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1f, checksumType: sha256, format: raw}
+---
+# metalmark: selector={os: ubuntu, k8s-flavor: kubeadm}
+apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
+kind: Metal3MachineTemplate
+metadata: {name: c3-cp, namespace: c3, annotations: {metalmark.dev/kept: c3-cp-64ea12e898}}  # café
manifests/c4.yaml:11
-  version: v1.30.4 # of the cluster
+  version: v1.31.4 # of the cluster
manifests/c4.yaml:14
-    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: c4-cp}
+    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: c4-cp-64ea12e898}
+---
+apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
+kind: Metal3MachineTemplate
+metadata: {name: c4-cp-64ea12e898, namespace: c4}  # café
+spec:
+  template:
+    spec:
+      image: {url: 'https://images.example.org/noble-1-31-4.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1f, checksumType: sha256, format: raw}
manifests/c4.yaml:26
-metadata: {name: c4-cp, namespace: c4}  # café
+metadata: {name: c4-cp, namespace: c4, annotations: {metalmark.dev/kept: c4-cp-64ea12e898}}  # café
manifests/c5.yaml:7
-    version: v1.30.4
+    version: v1.31.4
manifests/c5.yaml:16
-    machineInfrastructure: {ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: c5-cp}}
+    machineInfrastructure: {ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: c5-cp-64ea12e898}}
manifests/c5.yaml:26
-metadata: {name: c5-cp, namespace: c5}  # café
+metadata: {name: c5-cp-64ea12e898, namespace: c5}  # café
+spec:
+  template:
+    spec:
+      image: {url: 'https://images.example.org/noble-1-31-4.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1f, checksumType: sha256, format: raw}
+---
+apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
+kind: Metal3MachineTemplate
+metadata: {name: c5-cp, namespace: c5, annotations: {metalmark.dev/kept: c5-cp-64ea12e898}}  # café
metalmark.yaml:33
-  - {kind: Metal3MachineTemplate, name: 'c4-cp*', namespace: c4, image: noble-1-30-4} # of c4
+  - {kind: Metal3MachineTemplate, name: 'c4-cp*', namespace: c4, image: noble-1-31-4} # of c4
values/c0.yaml:2
-  k8s_version: v1.30.4
+  k8s_version: v1.31.4
values/c0.yaml:5
-  capm3: {image_key: noble-1-30-4}
+  capm3: {image_key: noble-1-31-4}

"#]],
    );
    // Nothing is left to stamp.
    stage.run("stamp --check --rotate").exit(0);
}

#[test]
fn what_cannot_be_applied_is_named_and_nothing_is_written() {
    let plain = cluster(Shape::Plain, 30, 1);
    let one = || fleet("", std::slice::from_ref(&plain));
    let apply = |stage: Stage| {
        let before = stage.texts();
        let run = stage.run("plan --to 1.31 --apply 1").exit(1);
        assert_eq!(stage.texts(), before);
        run.outcome.stderr
    };
    // Templates that clusters of several waves share.
    let stage = fleet("plan: {most: 1}\n", &[plain.clone(), plain.clone()]);
    let text = stage.read("manifests/c1.yaml");
    let (kept, _) = text
        .split_once("---\napiVersion: infrastructure")
        .expect("a template");
    let name = "kind: Metal3MachineTemplate, name: c";
    let shared = kept.replace(
        &format!("{name}1-cp"),
        &format!("{name}0-cp, namespace: c0"),
    );
    stage.write(
        "manifests/c1.yaml",
        shared.replace("namespace: c1", "namespace: c0"),
    );
    assert_text(
        &apply(stage),
        str![[r#"
not applied: c1: it is in another wave and would change too

"#]],
    );
    // A marker that says to leave the template alone.
    let stage = one();
    let text = stage.read("manifests/c0.yaml");
    let start = "---\napiVersion: infrastructure";
    stage.write(
        "manifests/c0.yaml",
        text.replace(start, &start.replace("---", "---\n# metalmark: ignore")),
    );
    assert_text(
        &apply(stage),
        str![[r#"
not applied: a marker says to ignore Metal3MachineTemplate `c0-cp`

"#]],
    );
    // A reference that cannot be moved.
    let chart =
        "{{ if .Values.x }}\napiVersion: v1\nkind: Metal3MachineTemplate\nname: c0-cp\n{{ end }}\n";
    assert_text(
        &apply(one().file("manifests/chart.yaml", chart)),
        str![[r#"
not applied: error[image-unstamped]: Metal3MachineTemplate `c0-cp` is not stamped: `manifests/chart.yaml` refers to it and is not YAML: write the reference into a file that is

"#]],
    );
}

#[test]
fn waves_are_ordered_and_grouped_by_labels() {
    // The label `site` of a cluster is named after its minor; values have no labels.
    let plain = cluster(Shape::Plain, 30, 0);
    let clusters = [plain.clone(), plain, cluster(Shape::Values, 30, 0)];
    let options = [
        "groups: ['site=*']",
        "groups: ['site=s29']",
        "first: ['site=s3?']",
        "last: ['site=*', c0]",
        "windows: {'site=s30': at night}",
    ];
    let waves = table(options, |options| {
        let run = fleet(&format!("plan: {{{options}}}\n"), &clusters).run("plan --to 1.31");
        let lines = run
            .outcome
            .stdout
            .lines()
            .filter(|line| line.starts_with("wave "));
        lines.map(str::to_owned).collect()
    });
    assert_text(
        &waves,
        str![[r#"
groups: ['site=*']
    wave 1, to 1.31, 6 machines: c2, c0
    wave 2, to 1.31, 3 machines: c1
groups: ['site=s29']
    wave 1, to 1.31, 9 machines: c2, c0, c1
first: ['site=s3?']
    wave 1, to 1.31, 6 machines: c0, c1
    wave 2, to 1.31, 3 machines: c2
last: ['site=*', c0]
    wave 1, to 1.31, 3 machines: c2
    wave 2, to 1.31, 6 machines: c0, c1
windows: {'site=s30': at night}
    wave 1, to 1.31, 3 machines: c2
    wave 2, to 1.31, 6 machines, at night: c0, c1

"#]],
    );
}

#[test]
fn images_that_were_built_before_a_day_are_replaced_by_newer_ones() {
    let stage = fleet(
        "",
        &[30, 31, 32].map(|minor| cluster(Shape::Plain, minor, 0)),
    );
    // The image of 1.30 is old and has a newer patch, that of 1.31 is old and has none, that of 1.32 is new.
    let newer = "    noble-1-30-9:\n      os: {name: ubuntu, version: '24.04', codename: noble}\n      k8s: {flavor: kubeadm, version: 1.30.9}\n      \
                 format: raw\n      digests: {uncompressed: {sha256: '1111111111111111111111111111111111111111111111111111111111111111'}}\n      \
                 locations: {https: 'https://images.example.org/noble-1-30-9.raw'}\n";
    stage.edit(
        "metalmark.yaml",
        "  records:\n",
        &format!("  records:\n{newer}"),
    );
    let days = [
        ("1.30.9", "2026-07-22"),
        ("1.30.4", "2026-01-01"),
        ("1.31.4", "2026-01-02"),
        ("1.32.4", "2026-07-23"),
    ];
    for (version, day) in days {
        let k8s = format!("version: {version}}}\n");
        let known = format!("{k8s}      provenance: {{timestamp: '{day}T10:00:00Z'}}\n");
        stage.edit("metalmark.yaml", &k8s, &known);
    }
    let words = "plan --security-before 2026-07-22";
    stage.run(words).exit(1).stdout(str![[r#"
c0: 1.30.4 → 1.30.9
  1.30.9  control-plane  noble-1-30-9
c1: 1.31.4, blocked before 1.31: an image is missing
  no successor of `noble-1-31-4`: control-plane
c2: 1.32.4

missing: an image of 1.31 built on 2026-07-22 or later in the line of `noble-1-31-4`, for 1 cluster
wave 1, to 1.30, 3 machines: c0
3 clusters: 1 to upgrade in 1 step, 1 at images built since 2026-07-22, 1 blocked

"#]]);
    stage.run(&format!("{words} --apply 1")).exit(0);
    stage.run(words).exit(1).stdout(str![[r#"
c0: 1.30.9
c1: 1.31.4, blocked before 1.31: an image is missing
  no successor of `noble-1-31-4`: control-plane
c2: 1.32.4

missing: an image of 1.31 built on 2026-07-22 or later in the line of `noble-1-31-4`, for 1 cluster
3 clusters: 0 to upgrade in 0 steps, 2 at images built since 2026-07-22, 1 blocked

"#]]);
    assert_eq!(read_json(&stage, words)["built_since"], "2026-07-22");
    // What is not known stops the plan.
    stage.edit(
        "metalmark.yaml",
        "{timestamp: '2026-01-02T10:00:00Z'}",
        "{}",
    );
    stage.run(words).exit(1).stdout(str![[r#"
c0: 1.30.9
c1: not planned: it is not known when image `noble-1-31-4` of node pool `control-plane` was built
c2: 1.32.4

3 clusters: 0 to upgrade in 0 steps, 2 at images built since 2026-07-22, 0 blocked, 1 not planned

"#]]);
    stage.run("plan --security-before yesterday").exit(2);
}

/// A template of vSphere is nothing that OpenStack can boot, whatever it is called.
#[test]
fn an_image_that_lies_at_no_location_of_the_provider_follows_nothing() {
    let record = |version: &str, location: &str| {
        format!(
            "    noble-{version}:\n      os: {{name: ubuntu, version: '24.04'}}\n      k8s: {{flavor: kubeadm, version: {version}}}\n      \
             locations: {location}\n"
        )
    };
    let stage = project().file(
        "edge.yaml",
        manifests::cluster("v1.33.1", "{filter: {name: ubuntu-2404-kube-v1.33.1}}"),
    );
    let planned = |location: &str| {
        let own = record("1.33.1", "{glance: {name: ubuntu-2404-kube-v1.33.1}}");
        let next = record("1.34.1", location);
        stage.write(
            "metalmark.yaml",
            format!("version: 1\nmanifests: [edge.yaml]\nimages:\n  records:\n{own}{next}"),
        );
        stage.run("plan --to 1.34").outcome.stdout
    };
    let locations = [
        "{vsphere: {template: ubuntu-2404-kube-v1.34.1}}",
        "{glance: {name: ubuntu-2404-kube-v1.34.1}}",
    ];
    let planned = table(locations, |location| {
        planned(location)
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    assert_text(
        &planned,
        str![[r#"
{vsphere: {template: ubuntu-2404-kube-v1.34.1}}
    edge: 1.33.1, blocked before 1.34: an image is missing
      no successor of `noble-1-33-1`: control-plane, edge-md
    
    missing: an image of 1.34 in the line of `noble-1-33-1`, for 1 cluster
    1 cluster: 0 to upgrade in 0 steps, 0 at 1.34 or newer, 1 blocked
{glance: {name: ubuntu-2404-kube-v1.34.1}}
    edge: 1.33.1 → 1.34.1
      1.34.1  control-plane  noble-1-34-1
      1.34.1  edge-md  noble-1-34-1
    
    wave 1, to 1.34: edge
    1 cluster: 1 to upgrade in 1 step, 0 at 1.34 or newer, 0 blocked

"#]],
    );
}
