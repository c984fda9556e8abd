//! `impact` is closed over objects: whatever differs is classified, and no machine is said to stay where nobody knows.

use proptest::prelude::*;
use serde_json::Value;
use snapbox::str;

use super::manifests::references::impacts;
use super::support::manifests::{
    GOOD, INFRASTRUCTURE, cluster, hosted, infrastructure, manifest, object,
};
use super::support::stage::{assert_text, project, table};

/// A cluster whose workers have a bootstrap configuration; `template` is the kind of its machine template.
fn edge(template: &str) -> String {
    cluster("v1.31.8", GOOD)
        .replace("OpenStackMachineTemplate", template)
        .replace(
            "      version: v1.31.8\n",
            "      version: v1.31.8\n      bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: b}}\n",
        )
        + &["b", "b2"]
            .map(|name| {
                object(
                    &format!("bootstrap.cluster.x-k8s.io/v1beta1 KubeadmConfigTemplate {name}"),
                    "spec: {template: {spec: {verbosity: 1}}}",
                )
            })
            .concat()
}

/// Each change of a text, by its name.
fn edits<'n>(text: &str, edits: &[(&'n str, &str, &str)]) -> Vec<(&'n str, String)> {
    let edited = |(name, from, to): &(&'n str, &str, &str)| {
        let edited = text.replacen(from, to, 1);
        assert_ne!(edited, text, "{name}");
        (*name, edited)
    };
    edits.iter().map(edited).collect()
}

#[test]
fn whatever_differs_between_objects_is_classified() {
    let before = edge("OpenStackMachineTemplate");
    let changes = edits(
        &before,
        &[
            (
                "bootstrap commands of the control plane",
                "  replicas: 3\n",
                "  replicas: 3\n  kubeadmConfigSpec: {preKubeadmCommands: [x]}\n",
            ),
            (
                "a roll at a time",
                "  replicas: 3\n",
                "  replicas: 3\n  rolloutAfter: 2026-01-01T00:00:00Z\n",
            ),
            (
                "what the webhook refuses",
                "  replicas: 3\n",
                "  replicas: 3\n  kubeadmConfigSpec: {clusterConfiguration: {networking: {dnsDomain: x}}}\n",
            ),
            (
                "a field that nobody knows",
                "  replicas: 3\n",
                "  replicas: 3\n  novel: 1\n",
            ),
            (
                "a timeout that is propagated",
                "  machineTemplate:\n",
                "  machineTemplate:\n    nodeDrainTimeout: 10s\n",
            ),
            (
                "a label of an object",
                "{name: edge-md}",
                "{name: edge-md, labels: {a: b}}",
            ),
            (
                "another bootstrap configuration",
                "KubeadmConfigTemplate, name: b}",
                "KubeadmConfigTemplate, name: b2}",
            ),
            (
                "a failure domain",
                "      bootstrap:",
                "      failureDomain: a\n      bootstrap:",
            ),
            ("another number", "  replicas: 3\n", "  replicas: 5\n"),
            (
                "a bootstrap configuration in place",
                "verbosity: 1",
                "verbosity: 2",
            ),
            (
                "null instead of nothing",
                "  replicas: 3\n",
                "  replicas: 3\n  rolloutAfter: null\n",
            ),
        ],
    );
    let Some(impacts) = impacts(&before, &changes) else {
        return;
    };
    assert_text(
        &impacts,
        str![[r#"
bootstrap commands of the control plane
    edge
      control-plane  3 machines re-provisioned, by roll
                       KubeadmControlPlane/edge-cp spec.kubeadmConfigSpec.preKubeadmCommands[0]  none → x
    3 machines in 1 cluster re-provisioned, 0 clusters as before
a roll at a time
    edge
      control-plane  3 machines re-provisioned, by roll
                       KubeadmControlPlane/edge-cp spec.rolloutAfter  none → 2026-01-01T00:00:00Z
    3 machines in 1 cluster re-provisioned, 0 clusters as before
what the webhook refuses
    edge
      control-plane  refused by its webhook: nothing changes, and the sync fails
                       KubeadmControlPlane/edge-cp spec.kubeadmConfigSpec.clusterConfiguration.networking.dnsDomain  none → x
    no machine is re-provisioned, refused by webhooks in 1 pool, 0 clusters as before
a field that nobody knows
    edge
      control-plane  not known whether machines are re-provisioned
                       KubeadmControlPlane/edge-cp spec.novel  none → 1
    not known of 1 pool, 0 clusters as before
a timeout that is propagated
    edge
      control-plane  in place: existing machines get the change and are not replaced
                       KubeadmControlPlane/edge-cp spec.machineTemplate.nodeDrainTimeout  none → 10s
    no machine is re-provisioned, 0 clusters as before
a label of an object
    edge
      edge-md  no machine is re-provisioned
                 MachineDeployment/edge-md metadata.labels.a  none → b
    no machine is re-provisioned, 0 clusters as before
another bootstrap configuration
    edge
      edge-md  all machines re-provisioned, by roll
                 MachineDeployment/edge-md spec.template.spec.bootstrap.configRef.name  b → b2
    one whole pool in 1 cluster re-provisioned, 0 clusters as before
a failure domain
    edge
      edge-md  all machines re-provisioned, by roll
                 MachineDeployment/edge-md spec.template.spec.failureDomain  none → a
    one whole pool in 1 cluster re-provisioned, 0 clusters as before
another number
    edge
      control-plane  2 machines provisioned
                       replicas    3 → 5
    no machine is re-provisioned, 2 machines provisioned, 0 clusters as before
a bootstrap configuration in place
    edge
      edge-md  in place: existing machines stay as they are, later ones differ
                 KubeadmConfigTemplate/b spec.template.spec.verbosity  1 → 2
    no machine is re-provisioned, 0 clusters as before
    warning[template-edited-in-place]: KubeadmConfigTemplate `b` changes under the same name, and no machine that runs is replaced
      --> edge.yaml:34:18
       |
    34 | metadata: {name: b}
       |                  ^ `spec.template.spec.verbosity` changes
       |
       = cluster: edge, pool edge-md
       = help: give it another name, and write that into what refers to it
    1 warning in 1 cluster
null instead of nothing
    no machine is re-provisioned, 1 cluster as before

"#]],
    );
}

/// What `impact` says of one change of the cluster.
fn sum(from: &str, to: &str) -> Option<String> {
    let before = edge("OpenStackMachineTemplate");
    let changes = edits(&before, &[("it", from, to)]);
    impacts(&before, &changes)
}

#[test]
fn fields_of_two_api_versions_are_not_compared() {
    let own = "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane\nmetadata: {name: edge-cp}\nspec:\n";
    let new = own.replace("v1beta1", "v1beta2");
    let (Some(alone), Some(both)) = (
        sum(own, &new),
        sum(own, &format!("{new}  rollout: {{after: x}}\n")),
    ) else {
        return;
    };
    assert!(
        alone.contains("no machine is re-provisioned, 0 clusters"),
        "{alone}"
    );
    assert!(both.contains("not known of 1 pool"), "{both}");
}

#[test]
fn a_hosted_control_plane_has_no_machines_that_roll() {
    let text = |version: &str| {
        edge("OpenStackMachineTemplate")
            .replace("KubeadmControlPlane", "KamajiControlPlane")
            .replacen("  version: v1.31.8\n", &format!("  version: {version}\n"), 1)
            .replacen("  machineTemplate:\n    infrastructureRef:", "  other:", 1)
            .replacen("other: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: edge}", "other: 1", 1)
    };
    let Some(impacts) = impacts(&text("v1.31.8"), &[("it", text("v1.31.9"))]) else {
        return;
    };
    let line = "KamajiControlPlane/edge-cp spec.version  v1.31.8 → v1.31.9";
    assert!(impacts.contains(line), "{impacts}");
    assert!(
        impacts.contains("no machine is re-provisioned, 0 clusters"),
        "{impacts}"
    );
}

#[test]
fn only_a_control_plane_that_is_known_to_be_hosted_has_no_machines() {
    let text = |kind: &str, version: &str| {
        hosted("v1.31.8", GOOD)
            .replace("KamajiControlPlane", kind)
            .replacen(
                "  version: v1.31.8\n",
                &format!("  version: {version}\n"),
                1,
            )
    };
    let kinds = [
        "AWSManagedControlPlane",
        "KubeadmControlPlane",
        "UnheardControlPlane",
    ];
    let shown = kinds.map(|kind| {
        let changes = [(kind, text(kind, "v1.31.9"))];
        impacts(&text(kind, "v1.31.8"), &changes).unwrap_or_default()
    });
    assert_text(
        &shown.concat(),
        str![[r#"
AWSManagedControlPlane
    edge
      whole cluster  no machine is re-provisioned
                       AWSManagedControlPlane/edge-cp spec.version  v1.31.8 → v1.31.9
    no machine is re-provisioned, 0 clusters as before
KubeadmControlPlane
    edge
      whole cluster  not known whether machines are re-provisioned
                       KubeadmControlPlane/edge-cp spec.version  v1.31.8 → v1.31.9
    not known of 1 whole cluster, 0 clusters as before
UnheardControlPlane
    edge
      whole cluster  not known whether machines are re-provisioned
                       UnheardControlPlane/edge-cp spec.version  v1.31.8 → v1.31.9
    not known of 1 whole cluster, 0 clusters as before

"#]],
    );
}

#[test]
fn another_number_of_machines_is_in_the_sum() {
    let before = edge("OpenStackMachineTemplate");
    let changes = edits(
        &before,
        &[
            ("fewer", "  replicas: 3\n", "  replicas: 1\n"),
            ("more", "  replicas: 3\n", "  replicas: 5\n"),
            (
                "what a webhook or an autoscaler says",
                "  replicas: 3\n",
                "",
            ),
            (
                "nobody knows from how many",
                "  clusterName: edge\n  template:\n",
                "  clusterName: edge\n  replicas: 3\n  template:\n",
            ),
        ],
    );
    assert_text(
        &impacts(&before, &changes).unwrap_or_default(),
        str![[r#"
fewer
    edge
      control-plane  2 machines deleted
                       replicas    3 → 1
    2 machines deleted, 0 clusters as before
more
    edge
      control-plane  2 machines provisioned
                       replicas    3 → 5
    no machine is re-provisioned, 2 machines provisioned, 0 clusters as before
what a webhook or an autoscaler says
    edge
      control-plane  not known whether machines are re-provisioned
                       replicas    3 → none
                       KubeadmControlPlane/edge-cp spec.replicas  3 → none
    not known of 1 pool, 0 clusters as before
nobody knows from how many
    edge
      edge-md  not known whether machines are re-provisioned
                 replicas    none → 3
                 MachineDeployment/edge-md spec.replicas  none → 3
    not known of 1 pool, 0 clusters as before

"#]],
    );
}

#[test]
fn machines_of_an_object_that_stays_are_not_deleted() {
    let before = edge("OpenStackMachineTemplate");
    let mut changes = edits(
        &before,
        &[
            (
                "a pool in another cluster",
                "{name: edge-md}\nspec:\n  clusterName: edge\n",
                "{name: edge-md}\nspec:\n  clusterName: other\n",
            ),
            (
                "a control plane of no cluster",
                "  controlPlaneRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: edge-cp}\n",
                "  paused: false\n",
            ),
            (
                "a control plane without a template",
                "  machineTemplate:\n    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: edge}\n",
                "",
            ),
        ],
    );
    let without = changes[2].1.clone();
    let renamed = before.replace(
        "kind: Cluster\nmetadata: {name: edge}",
        "kind: Cluster\nmetadata: {name: other}",
    );
    let renamed = renamed.replace("clusterName: edge", "clusterName: other");
    changes.push(("a cluster under another name", renamed));
    changes.push((
        "a pool in another cluster, of another version",
        changes[0].1.replace("v1.31.8", "v1.31.9"),
    ));
    let again = [("a control plane with a template", before.clone())];
    let shown = impacts(&before, &changes).zip(impacts(&without, &again));
    assert_text(
        &shown.map_or(String::new(), |(gone, come)| gone + &come),
        str![[r#"
a pool in another cluster
    edge
      edge-md  not known whether machines are re-provisioned
                 MachineDeployment/edge-md  edge → other
    other (new)
      edge-md  not known whether machines are re-provisioned
                 MachineDeployment/edge-md  edge → other
    not known of 2 pools, 1 cluster new, 0 clusters as before
a control plane of no cluster
    edge
      control-plane  not known whether machines are re-provisioned
                       KubeadmControlPlane/edge-cp  edge → edge-cp
      whole cluster  not known whether machines are re-provisioned
                       Cluster/edge spec.controlPlaneRef.apiVersion  controlplane.cluster.x-k8s.io/v1beta1 → none
                       Cluster/edge spec.controlPlaneRef.kind  KubeadmControlPlane → none
                       Cluster/edge spec.controlPlaneRef.name  edge-cp → none
                       Cluster/edge spec.paused  none → false
    edge-cp (new)
      control-plane  not known whether machines are re-provisioned
                       KubeadmControlPlane/edge-cp  edge → edge-cp
    not known of 2 pools, not known of 1 whole cluster, 1 cluster new, 0 clusters as before
a control plane without a template
    edge
      control-plane  not known whether machines are re-provisioned
                       KubeadmControlPlane/edge-cp spec.machineTemplate.infrastructureRef.apiVersion  infrastructure.cluster.x-k8s.io/v1beta1 → none
                       KubeadmControlPlane/edge-cp spec.machineTemplate.infrastructureRef.kind  OpenStackMachineTemplate → none
                       KubeadmControlPlane/edge-cp spec.machineTemplate.infrastructureRef.name  edge → none
                       OpenStackMachineTemplate/edge  an object → none
    not known of 1 pool, 0 clusters as before
a cluster under another name
    other (new)
      control-plane  3 machines provisioned
                       image       none → ubuntu-2204-kube-v1.31.8
                       kubernetes  none → v1.31.8
      edge-md        all machines provisioned
                       image       none → ubuntu-2204-kube-v1.31.8
                       kubernetes  none → v1.31.8
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 3 machines and one whole pool provisioned, 1 cluster new, 1 cluster gone, 0 clusters as before
a pool in another cluster, of another version
    edge
      control-plane  3 machines re-provisioned, by roll
                       image       ubuntu-2204-kube-v1.31.8 → ubuntu-2204-kube-v1.31.9
                       kubernetes  v1.31.8 → v1.31.9
      edge-md        not known whether machines are re-provisioned
                       image       ubuntu-2204-kube-v1.31.8 → ubuntu-2204-kube-v1.31.9
                       kubernetes  v1.31.8 → v1.31.9
                       MachineDeployment/edge-md  edge → other
    other (new)
      edge-md  not known whether machines are re-provisioned
                 image       ubuntu-2204-kube-v1.31.8 → ubuntu-2204-kube-v1.31.9
                 kubernetes  v1.31.8 → v1.31.9
                 MachineDeployment/edge-md  edge → other
    3 machines in 1 cluster re-provisioned, not known of 2 pools, 1 cluster new, 0 clusters as before
    error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes under the same name, and its webhook refuses changes below `spec.template.spec`
      --> edge.yaml:29:18
       |
    29 | metadata: {name: edge}
       |                  ^^^^
    30 | spec: {template: {spec: {image: {filter: {name: ubuntu-2204-kube-v1.31.9}}}}}
       |                                                 ------------------------ `spec.template.spec.image.filter.name` changes
       |
       = cluster: edge, pool control-plane
       = help: give it another name, and write that into what refers to it
    1 error in 1 cluster
a control plane with a template
    edge
      control-plane  not known whether machines are re-provisioned
                       KubeadmControlPlane/edge-cp spec.machineTemplate.infrastructureRef.apiVersion  none → infrastructure.cluster.x-k8s.io/v1beta1
                       KubeadmControlPlane/edge-cp spec.machineTemplate.infrastructureRef.kind  none → OpenStackMachineTemplate
                       KubeadmControlPlane/edge-cp spec.machineTemplate.infrastructureRef.name  none → edge
                       OpenStackMachineTemplate/edge  none → an object
    not known of 1 pool, 0 clusters as before

"#]],
    );
}

/// What `impact` says of files that are written over others, in rows.
fn rows(before: &[(&str, &str)], after: &[(&str, &str)]) -> Option<Vec<String>> {
    let stage = project().files(before).commit("before")?;
    for (path, text) in after {
        stage.write(path, text);
    }
    let outcome = stage.run("impact --against HEAD").outcome;
    let lines = outcome.stdout.lines().map(str::to_owned);
    let is_told = |line: &String| !line.is_empty() && !line.starts_with("Against ");
    Some(lines.filter(is_told).collect())
}

#[test]
fn the_machines_of_each_kind_of_pool_move_with_its_object() {
    let kinds = ["MachineDeployment", "MachineSet", "MachinePool", "Machine"];
    let moved = kinds.map(|kind| {
        let before = edge("OpenStackMachineTemplate").replace("MachineDeployment", kind);
        let before = match kind {
            "Machine" => before
                .replace("  template:\n    spec:\n", "")
                .replace("\n      ", "\n  "),
            _ => before,
        };
        let after = before.replace("spec:\n  clusterName: edge", "spec:\n  clusterName: other");
        assert_ne!(after, before);
        rows(&[("edge.yaml", &before)], &[("edge.yaml", &after)])
    });
    let Some(moved) = moved.into_iter().collect::<Option<Vec<_>>>() else {
        return;
    };
    let shown = table(kinds, |kind| {
        let index = kinds.iter().position(|it| it == kind);
        moved[index.expect("it is one")].clone()
    });
    assert_text(
        &shown,
        str![[r#"
MachineDeployment
    edge
      edge-md  not known whether machines are re-provisioned
                 MachineDeployment/edge-md  edge → other
    other (new)
      edge-md  not known whether machines are re-provisioned
                 MachineDeployment/edge-md  edge → other
    not known of 2 pools, 1 cluster new, 0 clusters as before
MachineSet
    edge
      edge-md  not known whether machines are re-provisioned
                 MachineSet/edge-md  edge → other
    other (new)
      edge-md  not known whether machines are re-provisioned
                 MachineSet/edge-md  edge → other
    not known of 2 pools, 1 cluster new, 0 clusters as before
MachinePool
    edge
      edge-md  not known whether machines are re-provisioned
                 MachinePool/edge-md  edge → other
    other (new)
      edge-md  not known whether machines are re-provisioned
                 MachinePool/edge-md  edge → other
    not known of 2 pools, 1 cluster new, 0 clusters as before
Machine
    edge
      edge-md  not known whether machines are re-provisioned
                 Machine/edge-md  edge → other
    other (new)
      edge-md  not known whether machines are re-provisioned
                 Machine/edge-md  edge → other
    not known of 2 pools, 1 cluster new, 0 clusters as before

"#]],
    );
}

#[test]
fn what_a_pool_refers_to_does_not_move_with_it() {
    let worker = object(
        "cluster.x-k8s.io/v1beta1 MachineDeployment other-md",
        "spec: {clusterName: other, template: {spec: {version: v1.31.8, infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: edge}}}}",
    );
    let before = cluster("v1.31.8", GOOD) + &worker;
    let documents = before.split("---\n");
    let after = documents.filter(|document| !document.contains("name: edge-md"));
    let after = after.collect::<Vec<_>>().join("---\n");
    let Some(rows) = rows(&[("edge.yaml", &before)], &[("edge.yaml", &after)]) else {
        return;
    };
    assert_text(
        &rows.join("\n"),
        str![[r#"
edge
  edge-md  all machines deleted
             image       ubuntu-2204-kube-v1.31.8 → none
             kubernetes  v1.31.8 → none
one whole pool deleted, 1 cluster as before
"#]],
    );
}

#[test]
fn a_pool_moves_out_of_a_cluster_that_is_renamed_and_goes_with_one_that_is_replaced() {
    let own = cluster("v1.31.8", GOOD);
    let namesake = object(
        "cluster.x-k8s.io/v1beta1 Cluster far/edge",
        "spec: {controlPlaneRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: far-cp}}",
    );
    let moved = own.replace("clusterName: edge", "clusterName: other");
    let replaced = own.replace(
        "metadata: {name: edge}\nspec:\n",
        "metadata: {name: edge, namespace: far}\nspec:\n",
    );
    let cases = [
        (
            "renamed",
            vec![("a/edge.yaml", &*moved), ("b/edge.yaml", &*namesake)],
        ),
        ("replaced", vec![("a/edge.yaml", &*replaced)]),
    ];
    let shown = table(["renamed", "replaced"], |name| {
        let after = cases.iter().find(|case| case.0 == *name);
        let (_, after) = after.expect("it is one");
        rows(&[("a/edge.yaml", &own)], after).unwrap_or_default()
    });
    assert_text(
        &shown,
        str![[r#"
renamed
    a/edge (was `edge`)
      edge-md  not known whether machines are re-provisioned
                 MachineDeployment/edge-md  a/edge → other
    b/edge (new)
      control-plane  all machines provisioned
    other (new)
      edge-md  not known whether machines are re-provisioned
                 MachineDeployment/edge-md  a/edge → other
    one whole pool provisioned, not known of 2 pools, 2 clusters new, 0 clusters as before
replaced
    edge (the cluster `/edge` goes, another one comes)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      control-plane  3 machines provisioned
                       image       none → ubuntu-2204-kube-v1.31.8
                       kubernetes  none → v1.31.8
      edge-md        all machines provisioned
                       image       none → ubuntu-2204-kube-v1.31.8
                       kubernetes  none → v1.31.8
    3 machines and one whole pool deleted, 3 machines and one whole pool provisioned, 1 cluster replaced, 0 clusters as before

"#]],
    );
}

#[test]
fn clusters_that_come_alike_are_reported_together() {
    let plane = |name: &str| {
        let text = cluster("v1.31.8", GOOD).replace("edge", name);
        let documents = text.split("---\n");
        let planes = documents.filter(|document| !document.contains("kind: MachineDeployment"));
        planes.collect::<Vec<_>>().join("---\n")
    };
    let [one, two] = ["one", "two"].map(plane);
    let own = cluster("v1.31.8", GOOD);
    let before = [("edge.yaml", &*own)];
    let Some(rows) = rows(&before, &[("one.yaml", &one), ("two.yaml", &two)]) else {
        return;
    };
    assert_text(
        &rows.join("\n"),
        str![[r#"
one, two (all new)
  control-plane  3 machines provisioned
                   image       none → ubuntu-2204-kube-v1.31.8
                   kubernetes  none → v1.31.8
no machine is re-provisioned, 6 machines provisioned, 2 clusters new, 1 cluster as before
"#]],
    );
}

#[test]
fn what_a_patch_reads_of_a_cluster_is_not_denied() {
    let class = |patch: &str| {
        CLASS.replace(
            "spec:\n  controlPlane:\n    machineI",
            &format!("spec:\n  patches: [{{name: p, {patch}}}]\n  controlPlane:\n    machineI"),
        )
    };
    let patch = |value: &str| {
        format!(
            "definitions: [{{selector: {{apiVersion: x/v1, kind: X, matchResources: {{}}}}, jsonPatches: [{{op: add, path: /spec/x, valueFrom: {{{value}}}}}]}}]"
        )
    };
    let cases = [
        (
            "the number",
            patch("variable: builtin.controlPlane.replicas"),
        ),
        ("all of it", patch("template: '{{ .builtin | toJson }}'")),
        (
            "a part",
            patch("template: '{{ toJson .builtin.controlPlane }}'"),
        ),
        (
            "an extension",
            "external: {generatePatchesExtension: x}".to_owned(),
        ),
        ("another field", patch("variable: builtin.cluster.name")),
    ];
    let sums = cases.map(|(name, patch)| {
        let before = class(&patch);
        let after = before.replace("{replicas: 3}", "{replicas: 5}");
        assert_ne!(before, after);
        let shown = impacts(&before, &[(name, after)]).unwrap_or_default();
        let sum = shown.lines().rfind(|line| line.ends_with("as before"));
        format!("{name}: {}\n", sum.unwrap_or_default().trim())
    });
    assert_text(
        &sums.concat(),
        str![[r#"
the number: 2 machines provisioned, not known of 1 pool, 0 clusters as before
all of it: 2 machines provisioned, not known of 1 pool, 0 clusters as before
a part: 2 machines provisioned, not known of 1 pool, 0 clusters as before
an extension: 2 machines provisioned, not known of 1 pool, 0 clusters as before
another field: no machine is re-provisioned, 2 machines provisioned, 0 clusters as before

"#]],
    );
}

#[test]
fn an_object_in_another_namespace_is_not_the_same() {
    let Some(impacts) = sum("{name: edge-cp}\n", "{name: edge-cp, namespace: x}\n") else {
        return;
    };
    let denial = "no machine is re-provisioned";
    assert!(
        !impacts.contains(denial) || impacts.contains("deleted"),
        "{impacts}"
    );
}

#[test]
fn nothing_is_denied_where_no_cluster_is_compared() {
    let Some(stage) = project().settings("clusters: []").commit("before") else {
        return;
    };
    let shown = stage.run("impact --against HEAD").outcome.stdout;
    assert!(shown.contains("there is no cluster to compare"), "{shown}");
}

/// A template of a kind whose image is not read, with one field.
fn template(kind: &str, name: &str, field: &str) -> String {
    object(
        &format!("{INFRASTRUCTURE} {kind} {name}"),
        &format!("spec: {{template: {{spec: {{{field}}}}}}}"),
    )
}

#[test]
fn a_reference_to_another_template_rolls_whatever_its_kind_is() {
    for (kind, one, two) in [
        (
            "ProxmoxMachineTemplate",
            "templateID: 100",
            "templateID: 101",
        ),
        ("VCDMachineTemplate", "template: a", "template: b"),
        ("UnheardMachineTemplate", "image: a", "image: a"),
    ] {
        let templates = template(kind, "t1", one) + &template(kind, "t2", two);
        let text = |name: &str| {
            let text = edge("OpenStackMachineTemplate");
            let own = infrastructure("OpenStackMachineTemplate", "edge");
            assert!(text.contains(&own), "{text}");
            text.replace(&own, &infrastructure(kind, name)) + &templates
        };
        let Some(impacts) = impacts(&text("t1"), &[(kind, text("t2"))]) else {
            return;
        };
        assert!(impacts.contains("re-provisioned, by roll"), "{impacts}");
        assert!(
            impacts.contains("infrastructureRef.name  t1 → t2"),
            "{impacts}"
        );
        assert!(
            !impacts.contains("no machine is re-provisioned"),
            "{impacts}"
        );
    }
}

#[test]
fn the_rule_and_impact_say_the_same_of_a_template_edited_in_place() {
    let kinds = [
        "AWSMachineTemplate",
        "NutanixMachineTemplate",
        "CloudStackMachineTemplate",
        "ProxmoxMachineTemplate",
        "OscMachineTemplate",
        "VCDMachineTemplate",
        "UnheardMachineTemplate",
    ];
    let mut screen = String::new();
    for kind in kinds {
        let text = |value: &str| {
            let own = infrastructure("OpenStackMachineTemplate", "edge");
            edge("OpenStackMachineTemplate").replace(&own, &infrastructure(kind, "t"))
                + &template(kind, "t", &format!("template: {value}"))
        };
        let Some(impacts) = impacts(&text("a"), &[(kind, text("b"))]) else {
            return;
        };
        let is_answer = |line: &&str| {
            line.contains("edge-md ") || line.contains("template-edited") || !line.starts_with(' ')
        };
        screen.extend(
            impacts
                .lines()
                .filter(is_answer)
                .map(|line| format!("{line}\n")),
        );
    }
    assert_text(
        &screen,
        str![[r#"
AWSMachineTemplate
      edge-md        refused by its webhook: nothing changes, and the sync fails
    error[template-edited-in-place]: AWSMachineTemplate `t` changes under the same name, and its webhook refuses changes below `spec.template.spec`
NutanixMachineTemplate
      edge-md        in place: existing machines stay as they are, later ones differ
    warning[template-edited-in-place]: NutanixMachineTemplate `t` changes under the same name, and no machine that runs is replaced
CloudStackMachineTemplate
      edge-md        refused by its webhook: nothing changes, and the sync fails
    error[template-edited-in-place]: CloudStackMachineTemplate `t` changes under the same name, and its webhook refuses changes below `spec.template.spec.template`
ProxmoxMachineTemplate
      edge-md        refused by its webhook: nothing changes, and the sync fails
    error[template-edited-in-place]: ProxmoxMachineTemplate `t` changes under the same name, and its webhook refuses changes below `spec`
OscMachineTemplate
      edge-md        refused by its webhook: nothing changes, and the sync fails
    error[template-edited-in-place]: OscMachineTemplate `t` changes under the same name, and its webhook refuses changes below `spec.template.spec`
VCDMachineTemplate
      edge-md        in place: existing machines stay as they are, later ones differ
    warning[template-edited-in-place]: VCDMachineTemplate `t` changes under the same name, and no machine that runs is replaced
UnheardMachineTemplate
      edge-md        not known whether machines are re-provisioned

"#]],
    );
}

#[test]
fn the_image_of_every_provider_is_shown() {
    let images = [
        (
            "VSphereMachineTemplate",
            "template: ubuntu-2204-kube-v1.31.8",
            "template: ubuntu-2404-kube-v1.31.8",
        ),
        ("AWSMachineTemplate", "ami: {id: ami-1}", "ami: {id: ami-2}"),
        (
            "GCPMachineTemplate",
            "image: projects/p/global/images/a",
            "image: projects/p/global/images/b",
        ),
        (
            "AzureMachineTemplate",
            "image: {id: /images/a}",
            "image: {id: /images/b}",
        ),
        (
            "DockerMachineTemplate",
            "customImage: 'kindest/node:v1.31.8'",
            "customImage: 'kindest/node:v1.31.9'",
        ),
    ];
    let mut screen = String::new();
    for (kind, one, two) in images {
        let text = |name: &str| {
            let own = infrastructure("OpenStackMachineTemplate", "edge");
            edge("OpenStackMachineTemplate").replace(&own, &infrastructure(kind, name))
                + &template(kind, "t1", one)
                + &template(kind, "t2", two)
        };
        let Some(impacts) = impacts(&text("t1"), &[(kind, text("t2"))]) else {
            return;
        };
        let is_image = |line: &&str| line.contains("image  ") || !line.starts_with(' ');
        let lines = impacts.lines().filter(is_image).take(2);
        screen.extend(lines.map(|line| format!("{line}\n")));
    }
    assert_text(
        &screen,
        str![[r#"
VSphereMachineTemplate
                       image       ubuntu-2204-kube-v1.31.8 → ubuntu-2404-kube-v1.31.8
AWSMachineTemplate
                       image       ami-1 → ami-2
GCPMachineTemplate
                       image       projects/p/global/images/a → projects/p/global/images/b
AzureMachineTemplate
                       image       /images/a → /images/b
DockerMachineTemplate
                       image       kindest/node:v1.31.8 → kindest/node:v1.31.9

"#]],
    );
}

#[test]
fn a_cluster_that_goes_or_is_replaced_counts_its_machines() {
    let own = edge("OpenStackMachineTemplate");
    let other = own.replace("edge", "other");
    let replaced = own.replace("{name: edge}", "{name: edge, namespace: prod}");
    let changes = [
        ("gone", other.clone()),
        ("replaced", replaced + "---\n" + &other),
    ];
    let Some(impacts) = impacts(&(own + "---\n" + &other), &changes) else {
        return;
    };
    let sums = impacts
        .lines()
        .filter(|line| line.contains("cluster") && line.contains(','));
    let sums: Vec<&str> = sums.map(str::trim).collect();
    assert_text(
        &sums.join("\n"),
        str![[r#"
3 machines and one whole pool deleted, 1 cluster gone, 1 cluster as before
edge (the cluster `/edge` goes, another one comes)
3 machines and one whole pool deleted, 3 machines and one whole pool provisioned, 1 cluster replaced, 1 cluster as before
"#]],
    );
}

/// A class with one template, and a cluster of it.
pub(crate) const CLASS: &str = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: edge}
spec:
  topology:
    class: plain
    version: v1.30.2
    variables: [{name: a, value: 1}]
    controlPlane: {replicas: 3}
    workers: {machineDeployments: [{class: worker, name: md-0, replicas: 2}]}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata: {name: plain}
spec:
  controlPlane:
    machineInfrastructure: {ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: cp}}
  workers:
    machineDeployments:
    - class: worker
      template:
        infrastructure: {ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: w}}
  variables: [{name: a, schema: {openAPIV3Schema: {type: integer}}}]
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: cp}
spec: {template: {spec: {image: {url: 'http://i/ubuntu-2204-kube-v1.30.2.raw', checksum: 'http://i/a.sha256sum'}}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: w}
spec: {template: {spec: {nodeReuse: false, image: {url: 'http://i/ubuntu-2204-kube-v1.30.2.raw', checksum: 'http://i/a.sha256sum'}}}}
";

#[test]
fn the_templates_of_a_class_count_by_their_contents() {
    let mut changes = edits(
        CLASS,
        &[
            (
                "a setting of the workers' template",
                "nodeReuse: false",
                "nodeReuse: true",
            ),
            (
                "a failure domain",
                "name: md-0,",
                "name: md-0, failureDomain: a,",
            ),
            ("a value of a variable", "value: 1", "value: 2"),
            (
                "a roll at a time",
                "    class: plain\n",
                "    class: plain\n    rolloutAfter: 2026-01-01T00:00:00Z\n",
            ),
            (
                "patches of the class",
                "  workers:\n    machine",
                "  patches: []\n  workers:\n    machine",
            ),
            (
                "one worker more",
                "replicas: 2}",
                "replicas: 2}, {class: worker, name: md-1, replicas: 1}",
            ),
        ],
    );
    let renamed = CLASS.replace("name: w}", "name: w2}");
    changes.push(("equal contents under another name", renamed));
    let renamed = CLASS
        .replace("name: w}", "name: w2}")
        .replace("nodeReuse: false", "nodeReuse: true");
    changes.push(("other contents under another name", renamed));
    let Some(impacts) = impacts(CLASS, &changes) else {
        return;
    };
    assert_text(
        &impacts,
        str![[r#"
a setting of the workers' template
    edge
      md-0  2 machines re-provisioned, by roll: its machine template changes
              Metal3MachineTemplate/w spec.template.spec.nodeReuse  false → true
    2 machines in 1 cluster re-provisioned, 0 clusters as before
a failure domain
    edge
      md-0  2 machines re-provisioned, by roll
              Cluster/edge spec.topology.workers.machineDeployments[md-0].failureDomain  none → a
    2 machines in 1 cluster re-provisioned, 0 clusters as before
a value of a variable
    edge
      whole cluster  not known whether machines are re-provisioned
                       Cluster/edge spec.topology.variables[a].value  1 → 2
    not known of 1 whole cluster, 0 clusters as before
a roll at a time
    edge
      whole cluster  no machine is re-provisioned
                       Cluster/edge spec.topology.rolloutAfter  none → 2026-01-01T00:00:00Z
    no machine is re-provisioned, 0 clusters as before
patches of the class
    edge
      whole cluster  not known whether machines are re-provisioned
                       ClusterClass/plain spec.patches  none → []
    not known of 1 whole cluster, 0 clusters as before
one worker more
    edge
      md-1  1 machine provisioned
              image       none → http://i/ubuntu-2204-kube-v1.30.2.raw
              kubernetes  none → v1.30.2
    no machine is re-provisioned, 1 machine provisioned, 0 clusters as before
equal contents under another name
    edge
      whole cluster  no machine is re-provisioned
                       ClusterClass/plain spec.workers.machineDeployments[0].template.infrastructure.ref.name  w → w2
    no machine is re-provisioned, 0 clusters as before
other contents under another name
    edge
      md-0  2 machines re-provisioned, by roll: its machine template changes
              Metal3MachineTemplate/w2 spec.template.spec.nodeReuse  false → true
    2 machines in 1 cluster re-provisioned, 0 clusters as before

"#]],
    );
}

#[test]
fn values_whose_effect_nobody_knows_are_not_denied() {
    let values = |more: &str| {
        format!(
            "cluster:\n  k8s_version: v1.31.8+rke2r1\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}\n  \
             control_plane_replicas: 3\n  capm3: {{image_key: noble}}\n{more}"
        )
    };
    let before = values("  rke2: {nodes: '{{ .Values.count }}'}\ncount: 1\nother: 1\n");
    let Some(stage) = project()
        .catalog(&["noble rke2 1.31.8+rke2r1"])
        .cluster("edge", &before)
        .commit("before")
    else {
        return;
    };
    let cases = [
        (
            "what its charts read",
            values(
                "  rke2: {nodes: '{{ .Values.count }}'}\n  sysctls: {a: b}\ncount: 1\nother: 1\n",
            ),
        ),
        (
            "through an expression",
            values("  rke2: {nodes: '{{ .Values.count }}'}\ncount: 2\nother: 1\n"),
        ),
        (
            "elsewhere",
            values("  rke2: {nodes: '{{ .Values.count }}'}\ncount: 1\nother: 2\n"),
        ),
        (
            "the chart of the machines",
            values(
                "  rke2: {nodes: '{{ .Values.count }}'}\ncount: 1\nother: 1\nunits: {cluster: {repo: x}}\nsource_templates: {x: {spec: {ref: {tag: 1.0.0}}}}\n",
            ),
        ),
    ];
    let mut screen = String::new();
    for (name, text) in cases {
        stage.write("edge.yaml", text);
        let shown = stage.run("impact --against HEAD").exit(0).outcome.stdout;
        let lines = shown.lines().skip(1).filter(|line| !line.is_empty());
        screen += &format!("{name}\n{}\n", lines.collect::<Vec<_>>().join("\n"));
    }
    assert_text(
        &screen,
        str![[r#"
what its charts read
edge
  whole cluster  not known: what the charts make of these values is not compared
                   values cluster.sysctls.a  none → b
not known of 1 whole cluster, 0 clusters as before
through an expression
edge
  whole cluster  not known: what the charts make of these values is not compared
                   values cluster.rke2.nodes  1 → 2
not known of 1 whole cluster, 0 clusters as before
elsewhere
no machine is re-provisioned, 1 cluster as before
the chart of the machines
edge
  whole cluster  not known: what the charts make of these values is not compared
                   values source_templates.x.spec.ref.tag  none → 1.0.0
                   values units.cluster.repo  none → x
not known of 1 whole cluster, 0 clusters as before

"#]],
    );
}

#[test]
fn a_secret_of_a_file_that_stays_is_the_same_one() {
    let plane = cluster("v1.31.8", GOOD).replacen(
        "  replicas: 3\n",
        "  replicas: 3\n  kubeadmConfigSpec: {files: [{path: /k, contentFrom: {secret: {name: s, key: k}}}]}\n",
        1,
    );
    let secret = |text: &str| object("v1 Secret s", &format!("stringData: {{k: '{text}'}}"));
    let mut shown = String::new();
    for text in ["SEKRIT", "${SEKRIT}"] {
        let before = plane.clone() + &secret(text);
        let changes = [
            ("as before", before.clone()),
            ("moved", secret(text) + "---\n" + &plane),
            ("another", plane.clone() + &secret("OTHER")),
        ];
        let Some(lines) = impacts(&before, &changes) else {
            return;
        };
        shown += &format!("{text}\n{lines}");
    }
    assert_text(
        &shown,
        str![[r#"
SEKRIT
as before
    no machine is re-provisioned, 1 cluster as before
moved
    no machine is re-provisioned, 1 cluster as before
another
    edge
      control-plane  not known: it depends on a secret that may change
                       Secret/s stringData.k  a secret → perhaps another
    not known of 1 pool, which a secret decides, 0 clusters as before
${SEKRIT}
as before
    no machine is re-provisioned, 1 cluster as before
moved
    no machine is re-provisioned, 1 cluster as before
another
    edge
      control-plane  not known: it depends on a secret that may change
                       Secret/s stringData.k  a secret → perhaps another
    not known of 1 pool, which a secret decides, 0 clusters as before

"#]],
    );
}

#[test]
fn a_secret_that_another_file_fills_in_may_be_another() {
    let text = cluster("v1.31.8", GOOD).replacen(
        "  replicas: 3\n",
        "  replicas: 3\n  kubeadmConfigSpec: {files: [{path: /k, contentFrom: {secret: {name: s, key: k}}}]}\n",
        1,
    ) + &object("v1 Secret s", "stringData: {k: '${SEKRIT}'}");
    let stage = manifest(text).file(".env", "SEKRIT=one\n").commit("before");
    let Some(stage) = stage else {
        return;
    };
    stage.write(".env", "SEKRIT=two\n");
    let shown = stage.run("impact --against HEAD").exit(0).outcome.stdout;
    let lines = shown.lines().skip(1).filter(|line| !line.is_empty());
    assert_text(
        &table(["edge"], |_| lines.clone().collect()),
        str![[r#"
edge
    edge
      control-plane  not known: it depends on a secret that may change
                       Secret/s stringData.k  a secret → perhaps another
    not known of 1 pool, which a secret decides, 0 clusters as before

"#]],
    );
}

#[test]
fn what_names_its_cluster_alone_is_compared() {
    let data = |mtu: u32| {
        object(
            &format!("{INFRASTRUCTURE} Metal3DataTemplate data"),
            &format!("spec: {{clusterName: edge, networkData: {{mtu: {mtu}}}}}"),
        )
    };
    let old = |size: u32| {
        object(
            &format!("{INFRASTRUCTURE} OpenStackMachineTemplate old"),
            &format!("spec: {{template: {{spec: {{size: {size}}}}}}}"),
        )
        .replace(
            "{name: old}",
            "{name: old, labels: {cluster.x-k8s.io/cluster-name: edge}}",
        )
    };
    let text = |mtu: u32, size: u32| cluster("v1.31.8", GOOD) + &data(mtu) + &old(size);
    let changes = [
        ("data", text(9000, 1)),
        (
            "a name that nothing refers to",
            text(1500, 1).replace("{name: data}", "{name: other}"),
        ),
        ("a template of the past", text(1500, 2)),
    ];
    let Some(shown) = impacts(&text(1500, 1), &changes) else {
        return;
    };
    assert_text(
        &shown,
        str![[r#"
data
    edge
      whole cluster  refused by its webhook: nothing changes, and the sync fails
                       Metal3DataTemplate/data spec.networkData.mtu  1500 → 9000
    no machine is re-provisioned, refused by webhooks in 1 pool, 0 clusters as before
    error[template-edited-in-place]: Metal3DataTemplate `data` changes under the same name, and its webhook refuses changes below `spec.networkData`
      --> edge.yaml:33:18
       |
    33 | metadata: {name: data}
       |                  ^^^^ `spec.networkData.mtu` changes
       |
       = cluster: edge
       = help: give it another name, and write that into what refers to it
    1 error in 1 cluster
a name that nothing refers to
    edge
      whole cluster  not known whether machines are re-provisioned
                       Metal3DataTemplate/other metadata.name  data → other
    not known of 1 whole cluster, 0 clusters as before
a template of the past
    no machine is re-provisioned, 1 cluster as before

"#]],
    );
}

#[test]
fn a_secret_of_the_values_that_changes_is_not_denied() {
    let stage = project()
        .catalog(&["noble rke2 1.31.8+rke2r1"])
        .cluster(
            "edge",
            "cluster:\n  k8s_version: v1.31.8+rke2r1\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}\n  \
             control_plane_replicas: 3\n  capm3: {image_key: noble}\n",
        )
        .file("secrets.yaml", "cluster: {rke2: {token: one}}\n");
    stage.edit("metalmark.yaml", "[edge.yaml]", "[edge.yaml, secrets.yaml]");
    let Some(stage) = stage.commit("before") else {
        return;
    };
    stage.write("secrets.yaml", "cluster: {rke2: {token: two}}\n");
    stage.run("impact --against HEAD").exit(0).screen(str![[r#"
Against da57842904, `HEAD`

edge
  whole cluster  not known: it depends on a secret that may change
                   values cluster.rke2.token  a secret → perhaps another

not known of 1 pool, which a secret decides, 0 clusters as before

"#]]);
}

#[test]
fn a_comment_has_what_the_change_adds_and_is_never_too_long() {
    let clusters = |version: &str, count: usize| -> String {
        let one = |index: usize| {
            let text = cluster(version, GOOD).replace("edge", &format!("edge{index}"));
            format!(
                "---\n{}",
                text.replace("replicas: 3", &format!("replicas: {}", index + 3))
            )
        };
        (0..count).map(one).collect()
    };
    let Some(stage) = manifest(clusters("v1.30.1", 2)).commit("before") else {
        return;
    };
    stage.write(
        "edge.yaml",
        clusters("v1.30.1", 2).replace("replicas: 3", "replicas: 5"),
    );
    let comment = stage.run("impact --against HEAD --output markdown");
    comment.exit(1).stdout(str![[r#"
### What this change does

**no machine is re-provisioned, 2 machines provisioned, 1 cluster as before**

| cluster | pool | machines | change |
|---|---|---|---|
| edge0 | `control-plane` | 2 machines provisioned | replicas `3` → `5` |

1 error as before.

<sub>Against df969d18bf, `HEAD`.</sub>

"#]]);
    stage.write("edge.yaml", clusters("v1.32.1", 400));
    let long = stage.run("impact --against HEAD --output markdown").outcome;
    assert!(
        long.stdout.chars().count() < 60_000,
        "{}",
        long.stdout.len()
    );
    assert!(long.stdout.contains("further row"), "{}", long.stdout);
}

/// What `impact` prints of one change, for people, as a comment and as JSON.
fn outputs(before: &str, after: &str) -> Option<[String; 3]> {
    let stage = manifest(before).commit("before")?;
    stage.write("edge.yaml", after);
    let options = ["", " --output markdown", " --output json"];
    Some(options.map(|options| {
        let run = stage.run(&format!("impact --against HEAD{options}"));
        run.outcome.stdout
    }))
}

/// The text of a cluster whose control plane has further fields.
fn with_fields(fields: &str) -> String {
    edge("OpenStackMachineTemplate").replacen(
        "  replicas: 3\n",
        &format!("  replicas: 3\n{fields}"),
        1,
    )
}

#[test]
fn a_url_that_is_cut_shows_no_password() {
    let text = "  novel: curl -fsSL https://deploy:hunter2hunter2hunter2hunter2hunter2@host/x\n";
    let Some(outputs) = outputs(&with_fields(""), &with_fields(text)) else {
        return;
    };
    for output in outputs {
        assert!(output.contains("curl -fsSL https://…@host/x"), "{output}");
        assert!(!output.contains("hunter2"), "{output}");
    }
}

/// What is paused when the change is there, or replaced manually alone, rolls nothing; a part that is not paused does.
#[test]
fn what_is_paused_does_not_roll() {
    let text = edge("OpenStackMachineTemplate");
    let workers = "  clusterName: edge\n";
    let held = edits(
        &text,
        &[
            ("none", "  replicas: 3\n", "  replicas: 5\n"),
            (
                "cluster",
                "  controlPlaneRef:",
                "  paused: true\n  controlPlaneRef:",
            ),
            ("workers", workers, "  clusterName: edge\n  paused: true\n"),
            (
                "workers by hand",
                workers,
                "  clusterName: edge\n  strategy: {type: OnDelete}\n",
            ),
            (
                "control plane",
                "{name: edge-cp}",
                "{name: edge-cp, annotations: {cluster.x-k8s.io/paused: ''}}",
            ),
        ],
    );
    let mut all = String::new();
    for (name, before) in held {
        let rolled = "version: v1.31.8\n  rolloutAfter: 2026-01-01T00:00:00Z\n";
        let after = before.replace("configRef: {", "configRef: {namespace: x, ");
        let after = after.replacen("version: v1.31.8\n", rolled, 1);
        let Some(found) = impacts(&before, &[(name, after)]) else {
            return;
        };
        all += &found;
    }
    assert_text(
        &all,
        str![[r#"
none
    edge
      control-plane  5 machines re-provisioned, by roll
                       KubeadmControlPlane/edge-cp spec.rolloutAfter  none → 2026-01-01T00:00:00Z
      edge-md        all machines re-provisioned, by roll
                       MachineDeployment/edge-md spec.template.spec.bootstrap.configRef.namespace  none → x
    5 machines and one whole pool in 1 cluster re-provisioned, 0 clusters as before
cluster
    edge
      control-plane  no machine is re-provisioned
                       KubeadmControlPlane/edge-cp spec.rolloutAfter  none → 2026-01-01T00:00:00Z
      edge-md        no machine is re-provisioned
                       MachineDeployment/edge-md spec.template.spec.bootstrap.configRef.namespace  none → x
    no machine is re-provisioned, 0 clusters as before
workers
    edge
      control-plane  3 machines re-provisioned, by roll
                       KubeadmControlPlane/edge-cp spec.rolloutAfter  none → 2026-01-01T00:00:00Z
      edge-md        no machine is re-provisioned
                       MachineDeployment/edge-md spec.template.spec.bootstrap.configRef.namespace  none → x
    3 machines in 1 cluster re-provisioned, 0 clusters as before
workers by hand
    edge
      control-plane  3 machines re-provisioned, by roll
                       KubeadmControlPlane/edge-cp spec.rolloutAfter  none → 2026-01-01T00:00:00Z
      edge-md        no machine is re-provisioned
                       MachineDeployment/edge-md spec.template.spec.bootstrap.configRef.namespace  none → x
    3 machines in 1 cluster re-provisioned, 0 clusters as before
control plane
    edge
      control-plane  no machine is re-provisioned
                       KubeadmControlPlane/edge-cp spec.rolloutAfter  none → 2026-01-01T00:00:00Z
      edge-md        all machines re-provisioned, by roll
                       MachineDeployment/edge-md spec.template.spec.bootstrap.configRef.namespace  none → x
    one whole pool in 1 cluster re-provisioned, 0 clusters as before

"#]],
    );
}

#[test]
fn versions_names_and_numbers_are_shown() {
    let text =
        "  novel: {version: v1, name: one, image: i/j:2, number: 47, profiles: a, none: []}\n";
    let Some([shown, ..]) = outputs(&with_fields(""), &with_fields(text)) else {
        return;
    };
    for value in ["v1", "one", "i/j:2", "47", "a", "[]"] {
        assert!(shown.contains(&format!("none → {value}\n")), "{shown}");
    }
}

#[test]
fn the_order_of_named_items_counts() {
    let text = |users: &str| with_fields(&format!("  kubeadmConfigSpec: {{users: [{users}]}}\n"));
    let [one, two, three] = ["{name: u1}", "{name: u2}", "{name: u3}"];
    let changes = [
        ("reversed", text(&format!("{two}, {one}"))),
        ("one more between", text(&format!("{one}, {three}, {two}"))),
        ("another first", text(&format!("{three}, {two}"))),
        (
            "others in another order",
            text(&format!("{three}, {{name: u2, shell: sh}}, {one}")),
        ),
    ];
    let Some(impacts) = impacts(&text(&format!("{one}, {two}")), &changes) else {
        return;
    };
    assert_text(
        &impacts,
        str![[r#"
reversed
    edge
      control-plane  3 machines re-provisioned, by roll
                       KubeadmControlPlane/edge-cp spec.kubeadmConfigSpec.users  u1, u2 → u2, u1
    3 machines in 1 cluster re-provisioned, 0 clusters as before
one more between
    edge
      control-plane  3 machines re-provisioned, by roll
                       KubeadmControlPlane/edge-cp spec.kubeadmConfigSpec.users[u3].name  none → u3
    3 machines in 1 cluster re-provisioned, 0 clusters as before
another first
    edge
      control-plane  3 machines re-provisioned, by roll
                       KubeadmControlPlane/edge-cp spec.kubeadmConfigSpec.users[u1].name  u1 → none
                       KubeadmControlPlane/edge-cp spec.kubeadmConfigSpec.users[u3].name  none → u3
    3 machines in 1 cluster re-provisioned, 0 clusters as before
others in another order
    edge
      control-plane  3 machines re-provisioned, by roll
                       KubeadmControlPlane/edge-cp spec.kubeadmConfigSpec.users  u1, u2 → u2, u1
                       KubeadmControlPlane/edge-cp spec.kubeadmConfigSpec.users[u2].shell  none → sh
                       KubeadmControlPlane/edge-cp spec.kubeadmConfigSpec.users[u3].name  none → u3
    3 machines in 1 cluster re-provisioned, 0 clusters as before

"#]],
    );
}

#[test]
fn a_control_plane_under_another_name_is_another_one() {
    let text = |name: &str| {
        let text = edge("OpenStackMachineTemplate");
        let (_, machines) = text.split_once("---\n").expect("a Cluster");
        machines.replace(
            "{name: edge-cp}",
            &format!("{{name: {name}, labels: {{cluster.x-k8s.io/cluster-name: edge}}}}"),
        )
    };
    let Some(impacts) = impacts(&text("a"), &[("another name", text("b"))]) else {
        return;
    };
    assert_text(
        &impacts,
        str![[r#"
another name
    edge
      control-plane  not known whether machines are re-provisioned
                       KubeadmControlPlane/b  none → an object
                       KubeadmControlPlane/a  an object → none
    not known of 1 pool, 0 clusters as before

"#]],
    );
}

/// Of several control planes and workers of one name in one repository, each is compared with itself.
#[test]
fn pools_of_one_name_in_two_files_are_not_compared_crosswise() {
    let whole = cluster("v1.31.8", GOOD);
    let documents: Vec<&str> = whole.split("---\n").collect();
    let label = "{name: edge-cp, labels: {cluster.x-k8s.io/cluster-name: edge}}";
    let more = [
        documents[1].replace("{name: edge-cp}", label),
        documents[2].to_owned(),
    ];
    let more = more.join("---\n").replace("v1.31.8", "v1.30.2");
    let project = project()
        .file("a/edge.yaml", &whole)
        .file("b/more.yaml", &more);
    let Some(project) = project.commit("before") else {
        return;
    };
    let show = |edit: &str| {
        let shown = project.run("impact --against HEAD").outcome.stdout;
        let (_, shown) = shown.split_once('\n').expect("the revision");
        format!("{edit}\n{shown}")
    };
    let clean = show("a clean tree");
    project.write("b/more.yaml", more.replace("v1.30.2", "v1.30.3"));
    let edited = show("an edit of one");
    project.remove("b/more.yaml");
    assert_text(
        &[clean, edited, show("without one")].concat(),
        str![[r#"
a clean tree

no machine is re-provisioned, 1 cluster as before
an edit of one

edge
  control-plane  3 machines re-provisioned, by roll
                   kubernetes  v1.30.2 → v1.30.3
  edge-md        all machines re-provisioned, by roll
                   kubernetes  v1.30.2 → v1.30.3

3 machines and one whole pool in 1 cluster re-provisioned, 0 clusters as before
without one

edge
  control-plane  not known whether machines are re-provisioned
                   KubeadmControlPlane/edge-cp  an object → none
                   OpenStackMachineTemplate/edge  an object → none
  edge-md        not known whether machines are re-provisioned
                   MachineDeployment/edge-md  an object → none
                   OpenStackMachineTemplate/edge  an object → none
  control-plane  not known whether machines are re-provisioned
                   KubeadmControlPlane/edge-cp  an object → none
                   OpenStackMachineTemplate/edge  an object → none
  edge-md        not known whether machines are re-provisioned
                   MachineDeployment/edge-md  an object → none
                   OpenStackMachineTemplate/edge  an object → none

not known of 4 pools, 0 clusters as before

"#]],
    );
}

#[test]
fn a_class_under_another_name_counts_by_its_contents() {
    let renamed = CLASS.replace("plain", "plain-2");
    let other = renamed.replace("nodeReuse: false", "nodeReuse: true");
    let changes = [("the same contents", renamed), ("other contents", other)];
    let Some(impacts) = impacts(CLASS, &changes) else {
        return;
    };
    assert_text(
        &impacts,
        str![[r#"
the same contents
    edge
      whole cluster  no machine is re-provisioned
                       Cluster/edge spec.topology.class  plain → plain-2
    no machine is re-provisioned, 0 clusters as before
other contents
    edge
      md-0  2 machines re-provisioned, by roll: its machine template changes
              Metal3MachineTemplate/w spec.template.spec.nodeReuse  false → true
    2 machines in 1 cluster re-provisioned, 0 clusters as before

"#]],
    );
}

#[test]
fn what_no_longer_holds_machines_back_is_not_denied() {
    let edge = edge("OpenStackMachineTemplate");
    let cases = [
        (
            "a cluster",
            &*edge,
            "  controlPlaneRef:",
            "  paused: true\n  controlPlaneRef:",
        ),
        (
            "a deployment",
            &edge,
            "  clusterName: edge\n",
            "  clusterName: edge\n  paused: true\n",
        ),
        (
            "its strategy",
            &edge,
            "  clusterName: edge\n",
            "  clusterName: edge\n  strategy: {type: OnDelete}\n",
        ),
        (
            "its strategy in another version",
            &edge,
            "  clusterName: edge\n",
            "  clusterName: edge\n  rollout: {strategy: {type: OnDelete}}\n",
        ),
        (
            "an annotation",
            &edge,
            "{name: edge-md}",
            "{name: edge-md, annotations: {cluster.x-k8s.io/paused: ''}}",
        ),
        (
            "workers of a class",
            CLASS,
            "name: md-0,",
            "name: md-0, strategy: {type: OnDelete},",
        ),
        (
            "workers of a class in another version",
            CLASS,
            "name: md-0,",
            "name: md-0, rollout: {strategy: {type: OnDelete}},",
        ),
    ];
    for (name, free, from, to) in cases {
        let held = free.replacen(from, to, 1);
        let other = held
            .replace("true", "false")
            .replace("OnDelete", "RollingUpdate");
        let (Some(freed), Some(changed), Some(stopped)) = (
            impacts(&held, &[(name, free.to_owned())]),
            impacts(&held, &[(name, other.clone())]),
            impacts(&other, &[(name, held.clone())]),
        ) else {
            return;
        };
        assert!(freed.contains("not known of 1 "), "{freed}");
        let is_another = held != other;
        assert!(
            changed.contains("not known of 1 ") == is_another,
            "{changed}"
        );
        assert!(
            stopped.contains("no machine is re-provisioned"),
            "{stopped}"
        );
    }
}

#[test]
fn what_only_looks_like_a_reference_leaves_a_new_name_open() {
    let data = object(
        &format!("{INFRASTRUCTURE} Metal3DataTemplate edge"),
        "spec: {clusterName: edge}",
    );
    let before = edge("OpenStackMachineTemplate")
        .replace("{name: edge-md}", "{name: edge-md, annotations: {x: edge}}")
        + &data;
    let renamed = before.replace(&data, &data.replace("{name: edge}", "{name: new}"));
    let control_plane = "infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: ";
    let mut changes = edits(
        &renamed,
        &[
            ("an annotation", "{x: edge}", "{x: new}"),
            ("another value in place", "verbosity: 1", "verbosity: new"),
            (
                "another reference",
                &format!("{control_plane}edge}}"),
                &format!("{control_plane}new}}"),
            ),
        ],
    );
    changes[2].1 += &template("OpenStackMachineTemplate", "new", &format!("image: {GOOD}"));
    for change in changes {
        let Some(shown) = impacts(&before, std::slice::from_ref(&change)) else {
            return;
        };
        let name = "Metal3DataTemplate/new metadata.name  edge → new";
        assert!(shown.contains(name), "{shown}");
        assert!(shown.contains("not known of 1 whole cluster"), "{shown}");
    }
}

/// No object refers to a health check: it names its cluster. Which machines it replaces depends on how they are.
#[test]
fn an_object_that_only_names_its_cluster_belongs_to_it() {
    let checks = object(
        "cluster.x-k8s.io/v1beta1 MachineHealthCheck checks",
        "spec: {clusterName: edge, maxUnhealthy: 40%, unhealthyConditions: [{type: Ready, status: Unknown, timeout: 300s}]}",
    );
    let edge = edge("OpenStackMachineTemplate");
    let before = format!("{edge}{checks}");
    let mut changes = edits(
        &before,
        &[
            ("a label", "name: checks", "name: checks, labels: {a: b}"),
            ("more may be replaced", "40%", "50%"),
            ("sooner", "300s", "1s"),
        ],
    );
    changes.push(("none is", edge));
    let Some(impacts) = impacts(&before, &changes) else {
        return;
    };
    assert_text(
        &impacts,
        str![[r#"
a label
    edge
      whole cluster  no machine is re-provisioned
                       MachineHealthCheck/checks metadata.labels.a  none → b
    no machine is re-provisioned, 0 clusters as before
more may be replaced
    edge
      whole cluster  not known whether machines are re-provisioned
                       MachineHealthCheck/checks spec.maxUnhealthy  40% → 50%
    not known of 1 whole cluster, 0 clusters as before
sooner
    edge
      whole cluster  not known whether machines are re-provisioned
                       MachineHealthCheck/checks spec.unhealthyConditions[0].timeout  300s → 1s
    not known of 1 whole cluster, 0 clusters as before
none is
    edge
      whole cluster  not known whether machines are re-provisioned
                       MachineHealthCheck/checks  an object → none
    not known of 1 whole cluster, 0 clusters as before

"#]],
    );
}

#[test]
fn a_reference_into_another_group_is_no_other_spelling() {
    let text = |version: &str| {
        let own = infrastructure("OpenStackMachineTemplate", "edge");
        let other = own.replace(INFRASTRUCTURE, version);
        edge("OpenStackMachineTemplate").replacen(&own, &other, 1)
    };
    let changes = [
        (
            "another version",
            text("infrastructure.cluster.x-k8s.io/v1beta2"),
        ),
        ("another group", text("infrastructure.example.org/v1beta1")),
    ];
    let Some(impacts) = impacts(&text(INFRASTRUCTURE), &changes) else {
        return;
    };
    assert_text(
        &impacts,
        str![[r#"
another version
    edge
      control-plane  no machine is re-provisioned
                       KubeadmControlPlane/edge-cp spec.machineTemplate.infrastructureRef.apiVersion  infrastructure.cluster.x-k8s.io/v1beta1 → infrastructure.cluster.x-k8s.io/v1beta2
    no machine is re-provisioned, 0 clusters as before
another group
    edge
      control-plane  not known whether machines are re-provisioned
                       image       ubuntu-2204-kube-v1.31.8 → none
                       KubeadmControlPlane/edge-cp spec.machineTemplate.infrastructureRef.apiVersion  infrastructure.cluster.x-k8s.io/v1beta1 → infrastructure.example.org/v1beta1
                       OpenStackMachineTemplate/edge  an object → none
    not known of 1 pool, 0 clusters as before

"#]],
    );
}

#[test]
fn a_row_that_is_too_long_is_shortened() {
    let key = "x".repeat(900);
    let deep = format!("{{{key}: ").repeat(75) + "1" + &"}".repeat(75);
    let Some([_, comment, _]) = outputs(
        &with_fields(""),
        &with_fields(&format!("  novel: {deep}\n")),
    ) else {
        return;
    };
    let row = "| edge | `control-plane` | not known whether machines are re-provisioned | KubeadmControlPlane/edge-cp spec.novel.xxx";
    assert!(comment.contains(row), "{comment}");
    assert!(comment.contains("x… `none` → `1` |"), "{comment}");
    assert!(comment.len() < 60_000, "{}", comment.len());
}

/// The paths to every scalar of a document.
pub(crate) fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                leaves(value, &format!("{path}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                leaves(value, &format!("{path}/{index}"), found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}

/// The objects of clusters of several kinds, with more fields than the others here, as JSON.
fn fleets() -> [Vec<Value>; 4] {
    let metal3 = edge("Metal3MachineTemplate")
        .replace(
            "  replicas: 3\n",
            "  replicas: 3\n  kubeadmConfigSpec: {preKubeadmCommands: [x], files: [{path: /a, content: b}]}\n  other: {a: [1, {b: c}]}\n  \
             rolloutAfter: 2026-01-01T00:00:00Z\n  rolloutStrategy: {rollingUpdate: {maxSurge: 0}}\n  remediationStrategy: {maxRetry: 1}\n",
        )
        .replace(
            "  clusterName: edge\n  template:\n",
            "  clusterName: edge\n  replicas: 2\n  minReadySeconds: 1\n  strategy: {rollingUpdate: {maxSurge: 1}, type: RollingUpdate}\n  template:\n    metadata: {labels: {a: b}}\n",
        )
        .replace("    spec:\n      version", "    spec:\n      nodeDrainTimeout: 1m\n      failureDomain: a\n      version")
        .replace("{name: edge-cp}", "{name: edge-cp, annotations: {a: b}}")
        + &object(
            &format!("{INFRASTRUCTURE} Metal3DataTemplate data"),
            "spec: {clusterName: edge, networkData: {mtu: 1500}}",
        )
        + &object(
            "cluster.x-k8s.io/v1beta1 MachineHealthCheck checks",
            "spec: {clusterName: edge, unhealthyConditions: [{type: Ready, timeout: 300s}]}",
        );
    let rke2 = edge("VSphereMachineTemplate")
        .replace("Kubeadm", "RKE2")
        .replace(
            "  replicas: 3\n",
            "  replicas: 3\n  serverConfig: {cni: calico}\n",
        );
    let pool = edge("AWSMachineTemplate").replace("kind: MachineDeployment", "kind: MachinePool");
    [metal3, rke2, pool, CLASS.to_owned()].map(|text| {
        let texts = text.split("---\n").filter(|text| !text.trim().is_empty());
        texts.map(yaml_value).collect()
    })
}

pub(crate) fn yaml_value(text: &str) -> Value {
    let read = yaml_tree::read(
        text,
        yaml_tree::place::FileId(0),
        yaml_tree::engine::Engine::Kubectl,
    );
    let node = &read.expect("YAML").documents[0];
    let json = yaml_tree::json::to_json(&node.value, yaml_tree::json::Html::Plain);
    serde_json::from_str(&json).expect("JSON")
}

/// Removes what is at a path, or writes something else there.
fn edit(object: &mut Value, path: &str, removes: bool) {
    let (parent, key) = path.rsplit_once('/').expect("a path");
    let is_name =
        path.ends_with("/kind") || path.ends_with("/apiVersion") || path == "/metadata/name";
    match object.pointer_mut(parent).expect("a parent") {
        Value::Object(map) if removes && !is_name => {
            map.remove(key);
        }
        Value::Object(map) => {
            map.insert(key.to_owned(), Value::from("edited"));
        }
        other => other[key.parse::<usize>().expect("an index")] = Value::from("edited"),
    }
}

/// Whether an edit of a field replaces no machine: by what its controller and its webhook do, and not by our own table.
fn is_idle_field(object: &Value, path: &str) -> bool {
    let idle: &[&str] = match object["kind"].as_str().expect("a kind") {
        // Nothing refers to it.
        "KubeadmConfigTemplate" | "RKE2ConfigTemplate" if object["metadata"]["name"] == "b2" => {
            return true;
        }
        // Only later machines have what these say, or the webhook refuses it.
        "KubeadmConfigTemplate"
        | "RKE2ConfigTemplate"
        | "AWSMachineTemplate"
        | "Metal3MachineTemplate"
        | "VSphereMachineTemplate" => &["/spec/template/spec/"],
        "Metal3DataTemplate" => &["/spec/networkData/"],
        "Cluster" => &[
            "/spec/topology/controlPlane/replicas",
            "/spec/topology/workers/machineDeployments/0/replicas",
        ],
        "KubeadmControlPlane" | "RKE2ControlPlane" => &[
            "/metadata/annotations/",
            "/spec/remediationStrategy/",
            "/spec/replicas",
            "/spec/rolloutStrategy/",
        ],
        "MachineDeployment" => &[
            "/spec/minReadySeconds",
            "/spec/replicas",
            "/spec/strategy/",
            "/spec/template/metadata/",
            "/spec/template/spec/nodeDrainTimeout",
        ],
        _ => &[],
    };
    idle.iter().any(|idle| path.starts_with(idle))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Random edits of any fields are never without a word: the objects are equal, or nothing but idle fields differs.
    #[test]
    fn no_edit_of_a_built_object_is_denied(fleet: prop::sample::Index, picks in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>()), 4)) {
        let fleets = fleets();
        let objects = fleet.get(&fleets).clone();
        let print = |objects: &[Value]| {
            let texts = objects.iter().map(|object| format!("---\n{object}\n"));
            texts.collect::<String>()
        };
        let Some(stage) = manifest(print(&objects)).commit("before") else {
            return Ok(());
        };
        for picks in [&picks[..1], &picks[1..2], &picks[2..]] {
            let mut edited = objects.clone();
            let mut paths = Vec::new();
            let (mut is_used, mut is_idle) = (false, true);
            for (object, field, removes) in picks {
                let index = object.index(edited.len());
                let object = &mut edited[index];
                let mut all = Vec::new();
                leaves(object, "", &mut all);
                let path = field.get(&all).clone();
                edit(object, &path, *removes);
                is_used |= objects[index]["metadata"]["name"] != "b2";
                is_idle &= is_idle_field(&objects[index], &path);
                paths.push(format!("{} {path}", objects[index]["kind"]));
            }
            stage.write("edge.yaml", print(&edited));
            let run = stage.run("impact --against HEAD --output json").outcome;
            // What cannot be read is an error, which denies nothing.
            if run.stdout.is_empty() {
                prop_assert!(run.status != 0 && run.stderr.contains("error"), "{paths:?}: {}", run.stderr);
                continue;
            }
            let impact: Value = serde_json::from_str(&run.stdout).expect("JSON");
            let shown = stage.run("impact --against HEAD").outcome.stdout;
            let sum = shown.lines().last().unwrap_or_default();
            let clusters = impact["clusters"].as_array().expect("a list");
            prop_assert!(!clusters.is_empty() || !is_used, "{paths:?}: {shown}");
            let is_denied = sum.starts_with("no machine is re-provisioned");
            prop_assert!(!is_denied || is_idle, "{paths:?}: {shown}");
        }
    }
}
