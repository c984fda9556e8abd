//! `impact` is closed over what deploys the objects: whatever is deployed no longer, otherwise or unread is said.

use proptest::prelude::*;
use serde_json::Value;
use snapbox::str;

use super::impact_objects::{CLASS, leaves, yaml_value};
use super::support::manifests::{GOOD, cluster, object};
use super::support::stage::{Stage, assert_text, project, table};

/// A Flux Kustomization.
fn flux(name: &str, fields: &str) -> String {
    let name = format!("kustomize.toolkit.fluxcd.io/v1 Kustomization flux-system/{name}");
    object(&name, &format!("spec: {{interval: 5m, {fields}}}"))
}

const SOURCE: &str = "sourceRef: {kind: GitRepository, name: fleet}";

/// The Flux Kustomization `apps`, of the folder `apps`.
fn apps(more: &str) -> String {
    flux("apps", &format!("path: apps, {SOURCE}, {more}"))
}

/// The git repository that Flux reads.
fn git(fields: &str) -> String {
    object(
        "source.toolkit.fluxcd.io/v1 GitRepository flux-system/fleet",
        &format!("spec: {{url: https://git.example.org/fleet, {fields}}}"),
    )
}

/// A repository in which Flux deploys `flux`, which holds `apps`, which deploys a cluster.
fn fleet(prune: &str) -> Stage {
    project()
        .file(
            "root/root.yaml",
            flux("root", &format!("path: flux, {SOURCE}, {prune}")),
        )
        .file(
            "flux/kustomization.yaml",
            "resources: [apps.yaml, git.yaml]\n",
        )
        .file("flux/apps.yaml", apps(prune))
        .file("flux/git.yaml", git("ref: {branch: main}"))
        .file("apps/kustomization.yaml", "resources: [edge.yaml]\n")
        .file("apps/edge.yaml", cluster("v1.31.8", GOOD))
        .file("other/kustomization.yaml", "resources: [other.yaml]\n")
        .file(
            "other/other.yaml",
            cluster("v1.31.8", GOOD).replace("edge", "other"),
        )
}

/// What `impact` says of a change of a repository that is committed.
fn impact(stage: &Stage) -> String {
    let outcome = stage.run("impact --against HEAD").outcome;
    let screen = outcome.stdout + &outcome.stderr;
    let lines = screen
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("Against "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Changes of a repository, by their names.
type Changes<'c> = &'c [(&'c str, &'c dyn Fn(&Stage))];

/// What `impact` says of each change of a fleet.
fn impacts(before: impl Fn() -> Stage, changes: Changes<'_>) -> Option<String> {
    let mut shown = String::new();
    for (name, change) in changes {
        let stage = before().commit("before")?;
        change(&stage);
        let lines = impact(&stage);
        shown += &table([name], |_| lines.lines().map(str::to_owned).collect());
    }
    Some(shown)
}

#[test]
fn what_is_no_longer_deployed_is_deleted_where_it_is_pruned() {
    let changes: Changes<'_> = &[
        ("a resource dropped", &|stage: &Stage| {
            stage.write("apps/kustomization.yaml", "resources: []\n");
        }),
        ("what deploys it removed", &|stage| {
            stage.remove("flux/apps.yaml");
            stage.write("flux/kustomization.yaml", "resources: [git.yaml]\n");
        }),
        ("what deploys it left, and not deployed itself", &|stage| {
            stage.write("flux/kustomization.yaml", "resources: [git.yaml]\n");
        }),
        ("another path", &|stage| {
            stage.edit("flux/apps.yaml", "path: apps", "path: other");
        }),
        ("the first of all removed", &|stage| {
            stage.remove("root/root.yaml");
        }),
    ];
    let Some(pruned) = impacts(|| fleet("prune: true"), changes) else {
        return;
    };
    assert_text(
        &pruned,
        str![[r#"
a resource dropped
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 1 cluster as before
what deploys it removed
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 1 cluster as before
what deploys it left, and not deployed itself
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 1 cluster as before
another path
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    other
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  nothing → Kustomization flux-system/apps
    3 machines and one whole pool deleted, not known of 1 whole cluster, 1 cluster gone, 0 clusters as before
the first of all removed
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Kustomization flux-system/apps → nothing
                       deployed by  Kustomization flux-system/root → nothing
    not known of 1 whole cluster, 1 cluster as before

"#]],
    );
    let Some(left) = impacts(|| fleet("prune: false"), &changes[..2]) else {
        return;
    };
    assert_text(
        &left,
        str![[r#"
a resource dropped
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Kustomization flux-system/apps → nothing
    not known of 1 whole cluster, 1 cluster as before
what deploys it removed
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Kustomization flux-system/apps → nothing
    not known of 1 whole cluster, 1 cluster as before

"#]],
    );
    for mark in [
        "annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}",
        "annotations: {argocd.argoproj.io/sync-options: Prune=false}",
        "annotations: {helm.sh/resource-policy: keep}",
    ] {
        let kept = || {
            let stage = fleet("prune: true");
            let text = stage.read("apps/edge.yaml");
            let marked = format!("{{name: edge, {mark}}}\nspec:\n  controlPlaneRef");
            let text = text.replace("{name: edge}\nspec:\n  controlPlaneRef", &marked);
            stage.write("apps/edge.yaml", text);
            stage
        };
        let shown = impacts(kept, &changes[..1]).unwrap_or_default();
        assert!(
            shown.contains("not known of 1 whole cluster, 1 cluster"),
            "{shown}"
        );
    }
}

#[test]
fn what_deploys_objects_is_compared_field_by_field() {
    let changes: Changes<'_> = &[
        ("suspended", &|stage: &Stage| {
            stage.edit("flux/apps.yaml", "interval", "suspend: true, interval");
        }),
        ("another tag", &|stage| {
            stage.edit("flux/git.yaml", "branch: main", "tag: v2");
        }),
        ("another interval", &|stage| {
            stage.edit("flux/apps.yaml", "5m", "10m");
        }),
        ("another cluster", &|stage| {
            stage.edit(
                "root/root.yaml",
                "interval",
                "kubeConfig: {secretRef: {name: x}}, interval",
            );
        }),
        ("no source", &|stage| {
            stage.edit("flux/git.yaml", "name: fleet", "name: other");
        }),
        ("another name", &|stage| {
            stage.edit("flux/apps.yaml", "name: apps", "name: apps-2");
        }),
        ("another name of the first of all", &|stage| {
            stage.edit("root/root.yaml", "name: root", "name: first");
        }),
    ];
    let Some(shown) = impacts(|| fleet("prune: true"), changes) else {
        return;
    };
    assert_text(
        &shown,
        str![[r#"
suspended
    edge
      whole cluster  no machine is re-provisioned
                       Kustomization flux-system/apps spec.suspend  none → true
    no machine is re-provisioned, 1 cluster as before
another tag
    edge
      whole cluster  not known whether machines are re-provisioned
                       GitRepository/fleet spec.ref.branch  main → none
                       GitRepository/fleet spec.ref.tag  none → v2
    not known of 1 whole cluster, 1 cluster as before
another interval
    no machine is re-provisioned, 2 clusters as before
another cluster
    edge
      whole cluster  not known whether machines are re-provisioned
                       Kustomization flux-system/root spec.kubeConfig.secretRef.name  none → x
    not known of 1 whole cluster, 1 cluster as before
no source
    edge
      whole cluster  not known whether machines are re-provisioned
                       Kustomization flux-system/apps  a source → nothing
                       Kustomization flux-system/root  a source → nothing
    not known of 1 whole cluster, 1 cluster as before
another name
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Kustomization flux-system/apps → Kustomization flux-system/apps-2
    not known of 1 whole cluster, 1 cluster as before
another name of the first of all
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Kustomization flux-system/root → Kustomization flux-system/first
    not known of 1 whole cluster, 1 cluster as before

"#]],
    );
}

#[test]
fn what_was_suspended_or_not_deployed_is_not_known() {
    let suspended = || {
        let stage = fleet("prune: true");
        stage.edit("flux/apps.yaml", "interval", "suspend: true, interval");
        stage
    };
    let resumed: Changes<'_> = &[("resumed", &|stage: &Stage| {
        stage.edit("flux/apps.yaml", "suspend: true, ", "");
    })];
    let missing = || {
        let stage = fleet("prune: true");
        stage.write("apps/kustomization.yaml", "resources: []\n");
        stage
    };
    let deployed: Changes<'_> = &[("newly deployed", &|stage: &Stage| {
        stage.write("apps/kustomization.yaml", "resources: [edge.yaml]\n");
    })];
    let (Some(one), Some(other)) = (impacts(suspended, resumed), impacts(missing, deployed)) else {
        return;
    };
    assert_text(
        &(one + &other),
        str![[r#"
resumed
    edge
      whole cluster  not known whether machines are re-provisioned
                       Kustomization flux-system/apps spec.suspend  true → none
    not known of 1 whole cluster, 1 cluster as before
newly deployed
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  nothing → Kustomization flux-system/apps
    not known of 1 whole cluster, 1 cluster as before

"#]],
    );
}

#[test]
fn without_flux_a_kustomization_deploys() {
    let stage = || {
        project()
            .file("apps/kustomization.yaml", "resources: [edge.yaml]\n")
            .file("apps/edge.yaml", cluster("v1.31.8", GOOD))
    };
    let changes: Changes<'_> = &[
        ("dropped", &|stage: &Stage| {
            stage.write("apps/kustomization.yaml", "namePrefix: x-\n");
        }),
        ("moved", &|stage| {
            stage.remove("apps/kustomization.yaml");
            stage.write("all/kustomization.yaml", "resources: [../apps/edge.yaml]\n");
        }),
    ];
    let Some(shown) = impacts(stage, changes) else {
        return;
    };
    assert_text(
        &shown,
        str![[r#"
dropped
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  a kustomization → nothing
    not known of 1 whole cluster, 0 clusters as before
moved
    no machine is re-provisioned, 1 cluster as before

"#]],
    );
}

/// An Argo CD Application of a folder.
fn application(name: &str, more: &str) -> String {
    object(
        &format!("argoproj.io/v1alpha1 Application argocd/{name}"),
        &format!(
            "spec: {{project: default, destination: {{namespace: x}}, source: {{repoURL: 'https://git.example.org/fleet', path: {name}, targetRevision: main}}{more}}}"
        ),
    )
}

#[test]
fn argo_cd_prunes_where_it_is_automated_and_deletes_by_a_finalizer() {
    let automated = ", syncPolicy: {automated: {prune: true}}";
    let stage = |more: &str, finalizer: &str| {
        let own = application("apps", more).replace(
            "{name: apps",
            &format!("{{finalizers: [{finalizer}], name: apps"),
        );
        project()
            .file("argo/argo.yaml", application("argo", automated))
            .file("argo/apps.yaml", own)
            .file("apps/edge.yaml", cluster("v1.31.8", GOOD))
    };
    let finalizer = "resources-finalizer.argocd.argoproj.io";
    let remove: Changes<'_> = &[("removed", &|stage: &Stage| {
        stage.remove("argo/apps.yaml");
    })];
    let others: Changes<'_> = &[
        ("another revision", &|stage: &Stage| {
            stage.edit(
                "argo/apps.yaml",
                "targetRevision: main",
                "targetRevision: v2",
            );
        }),
        ("no longer automated", &|stage| {
            stage.edit(
                "argo/apps.yaml",
                "automated: {prune: true}",
                "automated: {enabled: false}",
            );
        }),
    ];
    let mut shown = String::new();
    for finalizer in [finalizer, "other"] {
        let Some(lines) = impacts(|| stage(automated, finalizer), remove) else {
            return;
        };
        shown += &lines;
    }
    shown += &impacts(|| stage(automated, finalizer), others).unwrap_or_default();
    assert_text(
        &shown,
        str![[r#"
removed
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 0 clusters as before
removed
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Application argocd/apps → nothing
    not known of 1 whole cluster, 0 clusters as before
another revision
    edge
      whole cluster  not known whether machines are re-provisioned
                       Application argocd/apps spec.source.targetRevision  main → v2
    not known of 1 whole cluster, 0 clusters as before
no longer automated
    edge
      whole cluster  no machine is re-provisioned
                       Application argocd/apps spec.syncPolicy.automated.enabled  none → false
                       Application argocd/apps spec.syncPolicy.automated.prune  true → none
    no machine is re-provisioned, 0 clusters as before

"#]],
    );
}

/// Argo CD deletes the last object only with allowEmpty, and takes no folder for another type than it is.
#[test]
fn argo_cd_keeps_what_is_last_and_what_does_not_build() {
    let stage = |automated: &str| {
        let more = format!(", syncPolicy: {{automated: {{{automated}}}}}");
        project()
            .file("argo/apps.yaml", application("apps", &more))
            .file("apps/edge.yaml", cluster("v1.31.8", GOOD))
            .file("argo/more.yaml", application("more", &more))
            .file(
                "more/more.yaml",
                cluster("v1.31.8", GOOD).replace("edge", "more"),
            )
            .file(
                "other.yaml",
                cluster("v1.31.8", GOOD).replace("edge", "other"),
            )
            .file("apps/README.md", "Clusters of this kind are here.\n")
            .file("apps/notes.txt", "kind: Cluster\n")
    };
    let changes: Changes<'_> = &[
        ("the last object becomes a comment", &|stage: &Stage| {
            stage.write("apps/edge.yaml", "# kind: Cluster\n");
        }),
        ("the last objects of two become comments", &|stage| {
            stage.write("apps/edge.yaml", "# kind: Cluster\n");
            stage.write("more/more.yaml", "# kind: Cluster\n");
        }),
        ("another object stays", &|stage| {
            stage.write("apps/edge.yaml", "# nothing\n");
            stage.write("apps/map.yml", object("v1 ConfigMap map", "data: {}"));
        }),
        ("an object in JSON stays", &|stage| {
            stage.write("apps/edge.yaml", "# nothing\n");
            let map = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map"}}"#;
            stage.write("apps/map.json", map);
        }),
        ("a file that is no YAML stays", &|stage| {
            stage.write("apps/edge.yaml", "# nothing\n");
            stage.write("apps/map.yaml", "kind: [\n");
        }),
        ("a kustomization of nothing", &|stage| {
            stage.write("apps/edge.yaml", "# nothing\n");
            let text = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [edge.yaml]\n";
            stage.write("apps/kustomization.yaml", text);
        }),
        ("settings of kustomize", &|stage| {
            let (from, to) = (
                "targetRevision: main",
                "targetRevision: main, kustomize: {namePrefix: a-}",
            );
            stage.edit("argo/apps.yaml", from, to);
        }),
    ];
    let mut shown = String::new();
    for automated in ["prune: true", "prune: true, allowEmpty: true"] {
        let Some(lines) = impacts(|| stage(automated), changes) else {
            return;
        };
        shown += &format!("{automated}\n{lines}");
    }
    assert_text(
        &shown,
        str![[r#"
prune: true
the last object becomes a comment
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Application argocd/apps → nothing
    not known of 1 whole cluster, 2 clusters as before
the last objects of two become comments
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Application argocd/apps → nothing
    more
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Application argocd/more → nothing
    not known of 2 whole clusters, 1 cluster as before
another object stays
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 2 clusters as before
an object in JSON stays
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 2 clusters as before
a file that is no YAML stays
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Application argocd/apps → nothing
    not known of 1 whole cluster, 2 clusters as before
a kustomization of nothing
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Application argocd/apps → nothing
    not known of 1 whole cluster, 2 clusters as before
settings of kustomize
    note: not known, because it is not read: `argo/apps.yaml` (`apps` does not build: a source has `kustomize`, so Argo CD takes `apps` for another type than it is), which is new
    edge
      whole cluster  not known whether machines are re-provisioned
                       files       known → not known: its kustomization does not build
    not known of 1 whole cluster, not known of 1 source not read, 2 clusters as before
    warning[composition-unsupported]: `apps` does not build: a source has `kustomize`, so Argo CD takes `apps` for another type than it is
     --> argo/apps.yaml:5:63
      |
    5 | spec: {project: default, destination: {namespace: x}, source: {repoURL: 'https://git.example.org/fleet', path: apps, targetRevision: ...
      |                                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: the node pools that it deploys are not checked
    1 warning
prune: true, allowEmpty: true
the last object becomes a comment
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 2 clusters as before
the last objects of two become comments
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    more (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      more-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    6 machines and 2 whole pools deleted, 2 clusters gone, 1 cluster as before
another object stays
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 2 clusters as before
an object in JSON stays
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 2 clusters as before
a file that is no YAML stays
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 2 clusters as before
a kustomization of nothing
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 2 clusters as before
settings of kustomize
    note: not known, because it is not read: `argo/apps.yaml` (`apps` does not build: a source has `kustomize`, so Argo CD takes `apps` for another type than it is), which is new
    edge
      whole cluster  not known whether machines are re-provisioned
                       files       known → not known: its kustomization does not build
    not known of 1 whole cluster, not known of 1 source not read, 2 clusters as before
    warning[composition-unsupported]: `apps` does not build: a source has `kustomize`, so Argo CD takes `apps` for another type than it is
     --> argo/apps.yaml:5:63
      |
    5 | spec: {project: default, destination: {namespace: x}, source: {repoURL: 'https://git.example.org/fleet', path: apps, targetRevision: ...
      |                                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: the node pools that it deploys are not checked
    1 warning

"#]],
    );
}

#[test]
fn what_was_not_read_is_not_denied() {
    let broken = || {
        project()
            .file(
                "edge.yaml",
                "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\na: [\n",
            )
            .file(
                "other.yaml",
                cluster("v1.31.8", GOOD).replace("edge", "other"),
            )
    };
    let fixed: Changes<'_> = &[("fixed", &|stage: &Stage| {
        stage.write("edge.yaml", cluster("v1.31.8", GOOD));
    })];
    let same: Changes<'_> = &[("as before", &|_: &Stage| {})];
    let whole = || {
        project().file("edge.yaml", cluster("v1.31.8", GOOD)).file(
            "other.yaml",
            cluster("v1.31.8", GOOD).replace("edge", "other"),
        )
    };
    let breaks: Changes<'_> = &[("broken", &|stage: &Stage| {
        stage.write(
            "edge.yaml",
            "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\na: [\n",
        );
    })];
    let [Some(fixed), Some(same), Some(breaks)] = [
        impacts(broken, fixed),
        impacts(broken, same),
        impacts(whole, breaks),
    ] else {
        return;
    };
    assert_text(
        &(fixed + &same + &breaks),
        str![[r#"
fixed
    note: not known, because it is not read: `edge.yaml` (expected a value, found the end of the file), which was there before
    edge
      whole cluster  not known whether machines are re-provisioned
                       files       not read → known
    not known of 1 whole cluster, not known of 1 source not read, 1 cluster as before
as before
    no machine is re-provisioned, 1 cluster as before, 1 source not read, as before
    error[yaml-syntax]: expected a value, found the end of the file
     --> edge.yaml:4:1
      |
    4 |
      | ^
    1 error
broken
    note: not known, because it is not read: `edge.yaml` (expected a value, found the end of the file), which is new
    edge
      whole cluster  not known whether machines are re-provisioned
                       files       known → not read
    not known of 1 whole cluster, not known of 1 source not read, 1 cluster as before
    error[yaml-syntax]: expected a value, found the end of the file
     --> edge.yaml:4:1
      |
    4 |
      | ^
    1 error

"#]],
    );
}

#[test]
fn an_overlay_that_does_not_build_is_not_denied() {
    let overlay = |more: &str| {
        format!(
            "resources: [../base]\npatches: [{{path: patch.yaml, target: {{kind: Missing.Kind}}}}]\n{more}"
        )
    };
    let stage = || {
        project()
            .file("base/kustomization.yaml", "resources: [edge.yaml]\n")
            .file("base/edge.yaml", cluster("v1.31.8", GOOD))
            .file("prod/kustomization.yaml", overlay("novel: 1\n"))
            .file("prod/patch.yaml", "a: 1\n")
            .file("elsewhere.txt", "1\n")
    };
    let changes: Changes<'_> = &[
        ("as before", &|stage: &Stage| {
            stage.write("elsewhere.txt", "2\n");
        }),
        ("another patch", &|stage| {
            stage.write("prod/patch.yaml", "a: 2\n");
        }),
        ("built", &|stage| {
            stage.write("prod/kustomization.yaml", "resources: [../base]\n");
        }),
    ];
    let Some(shown) = impacts(stage, changes) else {
        return;
    };
    assert_text(
        &shown,
        str![[r#"
as before
    no machine is re-provisioned, 1 cluster as before, 1 source not read, as before
    warning[composition-unsupported]: `prod` does not build: a Kustomization has the field `novel`, which is not carried out here
     --> prod/kustomization.yaml:3:8
      |
    3 | novel: 1
      |        ^
      |
      = help: the node pools that it deploys are not checked
    1 warning
another patch
    edge
      whole cluster  not known whether machines are re-provisioned
                       files       not known: its kustomization does not build → another `prod/patch.yaml`
    not known of 1 whole cluster, 0 clusters as before, 1 source not read, as before
    warning[composition-unsupported]: `prod` does not build: a Kustomization has the field `novel`, which is not carried out here
     --> prod/kustomization.yaml:3:8
      |
    3 | novel: 1
      |        ^
      |
      = help: the node pools that it deploys are not checked
    1 warning
built
    note: not known, because it is not read: `prod/kustomization.yaml` (`prod` does not build: a Kustomization has the field `novel`, which is not carried out here), which was there before
    edge
      whole cluster  not known whether machines are re-provisioned
                       files       not known: its kustomization does not build → known
    not known of 1 whole cluster, not known of 1 source not read, 0 clusters as before

"#]],
    );
}

/// [`fleet`] with an edit of the file of its cluster.
fn write_edge(stage: &Stage, edit: impl Fn(Vec<&str>) -> Vec<&str>) {
    let text = cluster("v1.31.8", GOOD);
    let documents = edit(text.split("---\n").collect());
    stage.write("apps/edge.yaml", documents.join("---\n"));
}

#[test]
fn what_does_not_build_is_not_gone() {
    let changes: Changes<'_> = &[
        ("a chart that refuses", &|stage: &Stage| {
            stage.write("charts/made/templates/no.yaml", "{{ fail \"no\" }}\n");
        }),
        ("a release with a field that is not carried out", &|stage| {
            stage.edit(
                "apps/release.yaml",
                "charts/made, ",
                "charts/made, novel: 1, ",
            );
        }),
        ("a folder that is not there", &|stage| {
            stage.edit("flux/apps.yaml", "path: apps", "path: nowhere");
        }),
        (
            "a kustomization with a field that is not carried out",
            &|stage| {
                let text = stage.read("apps/kustomization.yaml");
                stage.write("apps/kustomization.yaml", text + "novel: 1\n");
            },
        ),
    ];
    let scaled = || {
        let patch = "- {op: replace, path: /spec/replicas, value: 5}";
        released("prune: true").file(
            "apps/kustomization.yaml",
            format!(
                "resources: [edge.yaml, release.yaml]\npatches: [{{target: {{kind: KubeadmControlPlane}}, patch: '{patch}'}}]\n"
            ),
        )
    };
    let Some(shown) = impacts(scaled, changes) else {
        return;
    };
    assert_text(
        &shown,
        str![[r#"
a chart that refuses
    note: not known, because it is not read: `charts/made/templates/no.yaml` (the chart `charts/made` is not checked as `made` deploys it: no), which is new
    made
      whole cluster  not known whether machines are re-provisioned
                       files       known → not known: its chart does not render
    not known of 1 whole cluster, not known of 1 source not read, 2 clusters as before
    warning[composition-unsupported]: the chart `charts/made` is not checked as `made` deploys it: no
     --> charts/made/templates/no.yaml:1:4
      |
    1 | {{ fail "no" }}
      |    ^^^^^^^^^
    1 warning
a release with a field that is not carried out
    note: not known, because it is not read: `apps/release.yaml` (the chart `charts/made` is not checked as `made` deploys it: HelmRelease `made` has the field `spec.chart.spec.novel`, which is not carried out here), which is new
    made
      whole cluster  not known whether machines are re-provisioned
                       Cluster/made  an object → none
                       files       known → not known: the values of its chart are not known
    not known of 1 whole cluster, not known of 1 source not read, 2 clusters as before
    warning[composition-unsupported]: the chart `charts/made` is not checked as `made` deploys it: HelmRelease `made` has the field `spec.chart.spec.novel`, which is not carried out here
     --> apps/release.yaml:2:1
      |
    2 | apiVersion: helm.toolkit.fluxcd.io/v2
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    1 warning
a folder that is not there
    note: not known, because it is not read: Kustomization flux-system/apps, which is new
    note: not known, because it is not read: `flux/apps.yaml` (there is no folder `nowhere`: nothing is deployed), which is new
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Kustomization flux-system/apps → nothing
    made
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  HelmRelease flux-system/made → nothing
                       deployed by  Kustomization flux-system/apps → nothing
    not known of 2 whole clusters, not known of 2 sources not read, 1 cluster as before
    error[composition-failed]: there is no folder `nowhere`: nothing is deployed
     --> flux/apps.yaml:5:28
      |
    5 | spec: {interval: 5m, path: nowhere, sourceRef: {kind: GitRepository, name: fleet}, prune: true}
      |                            ^^^^^^^
      |
      = help: name a folder of this repository
    1 error
a kustomization with a field that is not carried out
    note: not known, because it is not read: `apps/kustomization.yaml` (`apps` does not build: a Kustomization has the field `novel`, which is not carried out here), which is new
    edge
      whole cluster  not known whether machines are re-provisioned
                       files       known → not known: its kustomization does not build
    made
      whole cluster  not known whether machines are re-provisioned
                       Cluster/made  an object → none
                       files       known → not known: the values of its chart are not known
    not known of 2 whole clusters, not known of 1 source not read, 1 cluster as before
    warning[composition-unsupported]: `apps` does not build: a Kustomization has the field `novel`, which is not carried out here
     --> apps/kustomization.yaml:3:8
      |
    3 | novel: 1
      |        ^
      |
      = help: the node pools that it deploys are not checked
    1 warning

"#]],
    );
}

#[test]
fn a_file_that_goes_deletes_nothing_that_is_not_pruned() {
    let changes: Changes<'_> = &[
        ("a cluster", &|stage: &Stage| {
            stage.remove("apps/edge.yaml");
            stage.write("apps/kustomization.yaml", "resources: []\n");
        }),
        ("a node pool", &|stage| {
            write_edge(stage, |documents| {
                let is_left = |text: &&str| !text.contains("kind: MachineDeployment");
                documents.into_iter().filter(is_left).collect()
            });
        }),
        ("a control plane", &|stage| {
            write_edge(stage, |documents| {
                let is_left = |text: &&str| !text.contains("kind: KubeadmControlPlane\nmeta");
                documents.into_iter().filter(is_left).collect()
            });
        }),
        ("a folder", &|stage| {
            stage.remove("apps/edge.yaml");
            stage.remove("apps/kustomization.yaml");
        }),
        ("a node pool that another cluster gets", &|stage| {
            let of = |name: &str| format!("{{name: edge-md}}\nspec:\n  clusterName: {name}\n");
            stage.edit("apps/edge.yaml", &of("edge"), &of("other"));
        }),
        ("a node pool of a cluster that goes", &|stage| {
            write_edge(stage, |documents| {
                let is_left = |text: &&str| !text.contains("kind: Cluster\n");
                documents.into_iter().filter(is_left).collect()
            });
            let of = |name: &str| format!("{{name: edge-md}}\nspec:\n  clusterName: {name}\n");
            stage.edit("apps/edge.yaml", &of("edge"), &of("other"));
        }),
    ];
    let mut shown = String::new();
    for prune in ["prune: true", "prune: false"] {
        let Some(lines) = impacts(|| fleet(prune), changes) else {
            return;
        };
        shown += &format!("{prune}\n{lines}");
    }
    assert_text(
        &shown,
        str![[r#"
prune: true
a cluster
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 1 cluster as before
a node pool
    edge
      edge-md  all machines deleted
                 image       ubuntu-2204-kube-v1.31.8 → none
                 kubernetes  v1.31.8 → none
    one whole pool deleted, 1 cluster as before
a control plane
    edge
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines deleted, 1 cluster as before
a folder
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 1 cluster as before
a node pool that another cluster gets
    edge
      edge-md  not known whether machines are re-provisioned
                 MachineDeployment/edge-md  edge → other
    other
      edge-md  not known whether machines are re-provisioned
                 MachineDeployment/edge-md  edge → other
    not known of 2 pools, 0 clusters as before
a node pool of a cluster that goes
    edge-cp (new)
      control-plane  3 machines provisioned
                       image       none → ubuntu-2204-kube-v1.31.8
                       kubernetes  none → v1.31.8
    other
      edge-md  all machines provisioned
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
prune: false
a cluster
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Kustomization flux-system/apps → nothing
    not known of 1 whole cluster, 1 cluster as before
a node pool
    edge
      edge-md  not known: its objects are deployed by something else, or by nothing
                 deployed by  Kustomization flux-system/apps → nothing
    not known of 1 pool, 1 cluster as before
a control plane
    edge
      control-plane  not known: its objects are deployed by something else, or by nothing
                       deployed by  Kustomization flux-system/apps → nothing
    not known of 1 pool, 1 cluster as before
a folder
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Kustomization flux-system/apps → nothing
    not known of 1 whole cluster, 1 cluster as before
a node pool that another cluster gets
    edge
      edge-md  not known whether machines are re-provisioned
                 MachineDeployment/edge-md  edge → other
    other
      edge-md  not known whether machines are re-provisioned
                 MachineDeployment/edge-md  edge → other
    not known of 2 pools, 0 clusters as before
a node pool of a cluster that goes
    edge-cp (new)
      control-plane  not known whether machines are re-provisioned
                       KubeadmControlPlane/edge-cp  edge → edge-cp
    other
      edge-md  not known whether machines are re-provisioned
                 MachineDeployment/edge-md  edge → other
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Kustomization flux-system/apps → nothing
    not known of 2 pools, not known of 1 whole cluster, 1 cluster new, 0 clusters as before

"#]],
    );
}

/// What is copied for a pool of a topology is nobody's object: without its line Cluster API deletes the machines, even if nothing prunes.
#[test]
fn a_pool_of_a_topology_goes_with_its_line() {
    let before = || fleet("prune: false").file("apps/edge.yaml", CLASS);
    let changes: Changes<'_> = &[("a line of the topology", &|stage: &Stage| {
        stage.edit(
            "apps/edge.yaml",
            "[{class: worker, name: md-0, replicas: 2}]",
            "[]",
        );
    })];
    let Some(shown) = impacts(before, changes) else {
        return;
    };
    assert_text(
        &shown,
        str![[r#"
a line of the topology
    edge
      md-0           2 machines deleted
                       image       http://i/ubuntu-2204-kube-v1.30.2.raw → none
                       kubernetes  v1.30.2 → none
      whole cluster  not known whether machines are re-provisioned
                       Metal3MachineTemplate/w  none → an object
    2 machines deleted, not known of 1 whole cluster, 1 cluster as before

"#]],
    );
}

#[test]
fn what_is_forced_is_refused_by_no_webhook() {
    let mut shown = String::new();
    for (name, fields, mark) in [
        ("refused", "prune: true", "labels: {a: b}"),
        (
            "forced by what deploys it",
            "prune: true, force: true",
            "labels: {a: b}",
        ),
        (
            "forced under Flux",
            "prune: true",
            "labels: {kustomize.toolkit.fluxcd.io/force: Enabled}",
        ),
        (
            "forced under Argo CD",
            "prune: true",
            "annotations: {argocd.argoproj.io/sync-options: Force=true}",
        ),
        (
            "replaced by force under Argo CD",
            "prune: true",
            "annotations: {argocd.argoproj.io/sync-options: 'Force=true,Replace=true'}",
        ),
    ] {
        let before = || {
            let stage = fleet(fields);
            for object in [
                "OpenStackMachineTemplate\nmetadata: {name: edge",
                "MachineDeployment\nmetadata: {name: edge-md",
            ] {
                stage.edit("apps/edge.yaml", object, &format!("{object}, {mark}"));
            }
            stage
        };
        let change = |stage: &Stage| {
            stage.edit("apps/edge.yaml", "spec: {image", "spec: {flavor: b, image");
        };
        let changes: Changes<'_> = &[
            (name, &change),
            ("no longer", &|stage: &Stage| {
                change(stage);
                let text = stage.read("apps/edge.yaml");
                stage.write("apps/edge.yaml", text.replace(&format!(", {mark}"), ""));
            }),
            ("what is not refused", &|stage| {
                stage.edit(
                    "apps/edge.yaml",
                    "clusterName: edge\n  template",
                    "clusterName: edge\n  minReadySeconds: 1\n  template",
                );
            }),
        ];
        let Some(lines) = impacts(before, changes) else {
            return;
        };
        shown += &lines;
    }
    // Of findings the first line does.
    let is_row = |line: &&str| line.contains("error[") || !line.contains(['|', '=', '[', '>']);
    let rows: String = shown
        .lines()
        .filter(is_row)
        .map(|line| format!("{line}\n"))
        .collect();
    assert_text(
        &rows,
        str![[r#"
refused
    edge
      control-plane  refused by its webhook: nothing changes, and the sync fails
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
      edge-md        refused by its webhook: nothing changes, and the sync fails
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
    no machine is re-provisioned, refused by webhooks in 2 pools, 1 cluster as before
    error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes under the same name, and its webhook refuses changes below `spec.template.spec`
    1 error in 1 cluster
no longer
    edge
      control-plane  refused by its webhook: nothing changes, and the sync fails
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
                       OpenStackMachineTemplate/edge metadata.labels.a  b → none
      edge-md        refused by its webhook: nothing changes, and the sync fails
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
                       MachineDeployment/edge-md metadata.labels.a  b → none
                       OpenStackMachineTemplate/edge metadata.labels.a  b → none
    no machine is re-provisioned, refused by webhooks in 2 pools, 1 cluster as before
    error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes under the same name, and its webhook refuses changes below `spec.template.spec`
    1 error in 1 cluster
what is not refused
    edge
      edge-md  in place: existing machines get the change and are not replaced
                 MachineDeployment/edge-md spec.minReadySeconds  none → 1
    no machine is re-provisioned, 1 cluster as before
forced by what deploys it
    edge
      control-plane  not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
      edge-md        not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
    not known of 2 pools, 1 cluster as before
    error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes under the same name, and its webhook refuses changes below `spec.template.spec`
    1 error in 1 cluster
no longer
    edge
      control-plane  not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
                       OpenStackMachineTemplate/edge metadata.labels.a  b → none
      edge-md        not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
                       MachineDeployment/edge-md metadata.labels.a  b → none
                       OpenStackMachineTemplate/edge metadata.labels.a  b → none
    not known of 2 pools, 1 cluster as before
    error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes under the same name, and its webhook refuses changes below `spec.template.spec`
    1 error in 1 cluster
what is not refused
    edge
      edge-md  in place: existing machines get the change and are not replaced
                 MachineDeployment/edge-md spec.minReadySeconds  none → 1
    no machine is re-provisioned, 1 cluster as before
forced under Flux
    edge
      control-plane  not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
      edge-md        not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
    not known of 2 pools, 1 cluster as before
    error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes under the same name, and its webhook refuses changes below `spec.template.spec`
    1 error in 1 cluster
no longer
    edge
      control-plane  not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
                       OpenStackMachineTemplate/edge metadata.labels.kustomize.toolkit.fluxcd.io/force  Enabled → none
      edge-md        not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
                       MachineDeployment/edge-md metadata.labels.kustomize.toolkit.fluxcd.io/force  Enabled → none
                       OpenStackMachineTemplate/edge metadata.labels.kustomize.toolkit.fluxcd.io/force  Enabled → none
    not known of 2 pools, 1 cluster as before
    error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes under the same name, and its webhook refuses changes below `spec.template.spec`
    1 error in 1 cluster
what is not refused
    edge
      edge-md  in place: existing machines get the change and are not replaced
                 MachineDeployment/edge-md spec.minReadySeconds  none → 1
    no machine is re-provisioned, 1 cluster as before
forced under Argo CD
    edge
      control-plane  not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
      edge-md        not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
    not known of 2 pools, 1 cluster as before
    error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes under the same name, and its webhook refuses changes below `spec.template.spec`
    1 error in 1 cluster
no longer
    edge
      control-plane  not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
      edge-md        not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
    not known of 2 pools, 1 cluster as before
    error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes under the same name, and its webhook refuses changes below `spec.template.spec`
    1 error in 1 cluster
what is not refused
    edge
      edge-md  in place: existing machines get the change and are not replaced
                 MachineDeployment/edge-md spec.minReadySeconds  none → 1
    no machine is re-provisioned, 1 cluster as before
replaced by force under Argo CD
    edge
      control-plane  not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
      edge-md        not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
    not known of 2 pools, 1 cluster as before
    error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes under the same name, and its webhook refuses changes below `spec.template.spec`
    1 error in 1 cluster
no longer
    edge
      control-plane  not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
      edge-md        not known whether machines are re-provisioned
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → b
    not known of 2 pools, 1 cluster as before
    error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes under the same name, and its webhook refuses changes below `spec.template.spec`
    1 error in 1 cluster
what is not refused
    edge
      edge-md  not known whether machines are re-provisioned
                 MachineDeployment/edge-md spec.minReadySeconds  none → 1
    not known of 1 pool, 1 cluster as before

"#]],
    );
}

#[test]
fn what_is_elsewhere_is_known_by_what_deploys_it() {
    let release = |version: &str| {
        object(
            "helm.toolkit.fluxcd.io/v2 HelmRelease apps/podinfo",
            &format!(
                "spec: {{chart: {{spec: {{chart: podinfo, version: {version}, sourceRef: {{kind: HelmRepository, name: charts}}}}}}}}"
            ),
        )
    };
    let stage = || {
        project()
            .file("edge.yaml", cluster("v1.31.8", GOOD))
            .file("podinfo.yaml", release("1.0.0"))
            .file(
                "base/kustomization.yaml",
                "resources: ['https://git.example.org/x?ref=v1']\n",
            )
    };
    let changes: Changes<'_> = &[
        ("as before", &|_: &Stage| {}),
        ("another version", &|stage| {
            stage.edit("podinfo.yaml", "1.0.0", "2.0.0");
        }),
        ("another base", &|stage| {
            stage.edit("base/kustomization.yaml", "v1", "v2");
        }),
        ("gone", &|stage| {
            stage.remove("podinfo.yaml");
        }),
    ];
    let Some(shown) = impacts(stage, changes) else {
        return;
    };
    assert_text(
        &shown,
        str![[r#"
as before
    no machine is re-provisioned, 1 cluster as before, 2 sources not read, as before
another version
    note: not known, because it is not read: HelmRelease apps/podinfo, which changes
    not known of 1 source not read, 1 cluster as before, 1 source not read, as before
another base
    note: not known, because it is not read: what `base` takes from elsewhere, which changes
    not known of 1 source not read, 1 cluster as before, 1 source not read, as before
gone
    note: not known, because it is not read: HelmRelease apps/podinfo, which was there before
    not known of 1 source not read, 1 cluster as before, 1 source not read, as before

"#]],
    );
}

#[test]
fn a_cluster_of_values_is_deployed_by_what_deploys_its_folder() {
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: edge, namespace: x}\nspec:\n  chart: {spec: {chart: c, version: 1.0.0, sourceRef: {kind: HelmRepository, name: r}}}\n  values: {cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-31}}}\n";
    let stage = || {
        project()
            .catalog(&["noble-31 rke2 1.31.8+rke2r1"])
            .settings("clusters: [{each: clusters/*/}]\n")
            .file(
                "clusters/edge/kustomization.yaml",
                "resources: [release.yaml]\n",
            )
            .file("clusters/edge/release.yaml", release)
            .file(
                "flux/edge.yaml",
                flux("edge", "path: clusters/edge, prune: true"),
            )
            .file("flux/root.yaml", flux("root", "path: flux, prune: true"))
    };
    let changes: Changes<'_> = &[
        ("another version of its chart", &|stage: &Stage| {
            stage.edit("clusters/edge/release.yaml", "1.0.0", "2.0.0");
        }),
        ("no longer deployed", &|stage| {
            stage.remove("flux/edge.yaml");
        }),
        ("suspended", &|stage| {
            stage.edit("flux/edge.yaml", "interval", "suspend: true, interval");
        }),
    ];
    let Some(shown) = impacts(stage, changes) else {
        return;
    };
    assert_text(
        &shown,
        str![[r#"
another version of its chart
    edge
      whole cluster  not known whether machines are re-provisioned
                       HelmRelease x/edge spec.chart.spec.version  1.0.0 → 2.0.0
    not known of 1 whole cluster, 0 clusters as before
no longer deployed
    edge (gone)
      control-plane  all machines deleted
                       image       noble-31 → none
                       kubernetes  v1.31.8+rke2r1 → none
    one whole pool deleted, 1 cluster gone, 0 clusters as before
suspended
    edge
      whole cluster  no machine is re-provisioned
                       Kustomization flux-system/edge spec.suspend  none → true
    no machine is re-provisioned, 0 clusters as before

"#]],
    );
}

#[test]
fn values_that_were_not_read_are_not_denied() {
    let stage = |text: &'static str| {
        move || {
            project()
                .catalog(&["noble-31 rke2 1.31.8+rke2r1"])
                .cluster("edge", text)
        }
    };
    let good = "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-31}}";
    let fixed: Changes<'_> = &[("fixed", &|stage: &Stage| {
        stage.write("edge.yaml", good);
    })];
    let same: Changes<'_> = &[("as before", &|_: &Stage| {})];
    let input: Changes<'_> = &[("another input of what fails", &|stage: &Stage| {
        stage.edit("edge.yaml", "hidden: 1", "hidden: 2");
    })];
    let fails = "hidden: 1\ncluster: {k8s_version: v1.31.8+rke2r1, other: '{{ .Values.hidden | fail }}', capm3: {image_key: noble-31}}";
    let [Some(fixed), Some(same), Some(input)] = [
        impacts(stage("cluster: ["), fixed),
        impacts(stage("cluster: ["), same),
        impacts(stage(fails), input),
    ] else {
        return;
    };
    assert_text(
        &(fixed + &same + &input),
        str![[r#"
fixed
    edge
      whole cluster  not known whether machines are re-provisioned
                       files       not read → known
    images newly served
      + noble-31  size unknown  https://images.example/noble-31.raw
    not known of 1 whole cluster, 0 clusters as before
as before
    no machine is re-provisioned, 1 cluster as before
    error[yaml-syntax]: expected a value, found the end of the file
     --> edge.yaml:1:11
      |
    1 | cluster: [
      |           ^
      |
      = cluster: edge
    1 error in 1 cluster
another input of what fails
    edge
      whole cluster  not known: what the charts make of these values is not compared
                       values hidden  1 → 2
    not known of 1 whole cluster, 0 clusters as before

"#]],
    );
}

#[test]
fn an_application_of_a_set_goes_with_its_element() {
    let set = |more: &str| {
        object(
            "argoproj.io/v1alpha1 ApplicationSet argocd/apps",
            &format!(
                "spec:
  generators: [{{list: {{elements: [{{folder: apps}}, {{folder: other}}]}}}}]
  {more}
  template:
    metadata: {{name: '{{{{folder}}}}'}}
    spec: {{project: default, destination: {{namespace: x}}, source: {{repoURL: 'https://git.example.org/fleet', path: '{{{{folder}}}}', targetRevision: main}}, syncPolicy: {{automated: {{prune: true}}}}}}"
            ),
        )
    };
    let stage = |more: &'static str| {
        move || {
            project()
                .file(
                    "argo/root.yaml",
                    application("argo", ", syncPolicy: {automated: {prune: true}}"),
                )
                .file("argo/set.yaml", set(more))
                .file("apps/kustomization.yaml", "resources: [edge.yaml]\n")
                .file("apps/edge.yaml", cluster("v1.31.8", GOOD))
                .file("other/kustomization.yaml", "resources: [other.yaml]\n")
                .file(
                    "other/other.yaml",
                    cluster("v1.31.8", GOOD).replace("edge", "other"),
                )
        }
    };
    let dropped: Changes<'_> = &[("dropped", &|stage: &Stage| {
        stage.edit("argo/set.yaml", "{folder: apps}, ", "");
    })];
    let preserved = "syncPolicy: {preserveResourcesOnDeletion: true}";
    let [Some(deleted), Some(preserved)] = [
        impacts(stage(""), dropped),
        impacts(stage(preserved), dropped),
    ] else {
        return;
    };
    assert_text(
        &(deleted + &preserved),
        str![[r#"
dropped
    edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 1 cluster as before
dropped
    edge
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  Application apps → nothing
    not known of 1 whole cluster, 1 cluster as before

"#]],
    );
}

#[test]
fn a_release_that_is_deleted_takes_its_cluster_with_it() {
    let Some(shown) = impacts(
        || released("prune: true"),
        &[
            ("deleted", &|stage: &Stage| {
                stage.remove("apps/release.yaml");
                stage.write("apps/kustomization.yaml", "resources: [edge.yaml]\n");
            }),
            ("another source", &|stage: &Stage| {
                stage.edit("apps/release.yaml", "name: fleet", "name: other");
            }),
        ],
    ) else {
        return;
    };
    assert_text(
        &shown,
        str![[r#"
deleted
    made (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      made-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 2 clusters as before
another source
    made
      whole cluster  not known whether machines are re-provisioned
                       HelmRelease flux-system/made spec.chart.spec.sourceRef.name  fleet → other
                       HelmRelease flux-system/made  a source → nothing
    not known of 1 whole cluster, 2 clusters as before

"#]],
    );
}

#[test]
fn a_cluster_that_the_project_no_longer_names_is_not_denied() {
    let manifests = || fleet("prune: true").settings("manifests: [apps, other]\n");
    let values = |settings: &'static str| {
        move || {
            project()
                .catalog(&["noble-31 rke2 1.31.8+rke2r1"])
                .settings(settings)
                .file(
                    "a/values.yaml",
                    "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-31}}",
                )
                .file(
                    "b/values.yaml",
                    "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-31}}",
                )
        }
    };
    let named =
        "clusters: [{name: a, values: [a/values.yaml]}, {name: b, values: [b/values.yaml]}]\n";
    let rendered = "clusters: [{name: a, values: [a/values.yaml]}, {name: b, values: [b/values.yaml]}]\noutputs: [{target: helm-values, path: out}]\n";
    let of_manifests: Changes<'_> = &[("manifests", &|stage: &Stage| {
        stage.edit("metalmark.yaml", "[apps, other]", "[other]");
    })];
    let of_values: Changes<'_> = &[
        ("values", &|stage: &Stage| {
            stage.edit("metalmark.yaml", ", {name: b, values: [b/values.yaml]}", "");
        }),
        ("values and their file", &|stage: &Stage| {
            stage.edit("metalmark.yaml", ", {name: b, values: [b/values.yaml]}", "");
            stage.remove("b/values.yaml");
        }),
    ];
    let [Some(one), Some(two), Some(three)] = [
        impacts(manifests, of_manifests),
        impacts(values(named), of_values),
        impacts(values(rendered), &of_values[..1]),
    ] else {
        return;
    };
    assert_text(
        &(one + &two + &three),
        str![[r#"
manifests
    edge
      whole cluster  not known whether machines are re-provisioned
                       files       known → not named by the project
    not known of 1 whole cluster, 1 cluster as before
values
    b
      whole cluster  not known whether machines are re-provisioned
                       files       known → not named by the project
    not known of 1 whole cluster, 1 cluster as before
values and their file
    b (gone)
      control-plane  all machines deleted
                       image       noble-31 → none
                       kubernetes  v1.31.8+rke2r1 → none
    one whole pool deleted, 1 cluster gone, 1 cluster as before
values
    b (gone)
      control-plane  all machines deleted
                       image       noble-31 → none
                       kubernetes  v1.31.8+rke2r1 → none
    one whole pool deleted, 1 cluster gone, 1 cluster as before

"#]],
    );
}

/// What deploys values is read beside them, and a file that nobody can read is no reason to stop.
#[test]
fn a_file_that_cannot_be_read_is_one_that_is_not_read() {
    let stage = || {
        project().catalog(&["noble-31 rke2 1.31.8+rke2r1"]).cluster(
            "edge",
            "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-31}}",
        )
    };
    let large: Changes<'_> = &[("too large", &|stage: &Stage| {
        stage.shell("truncate -s 1G flux.yaml").exit(0);
    })];
    let Some(shown) = impacts(stage, large) else {
        return;
    };
    assert_text(
        &shown,
        str![[r#"
too large
    note: not known, because it is not read: what deploys the objects, which is new
    not known of 1 source not read, 1 cluster as before

"#]],
    );
}

/// [`fleet`] with a cluster that a chart makes.
fn released(prune: &str) -> Stage {
    let release = object(
        "helm.toolkit.fluxcd.io/v2 HelmRelease flux-system/made",
        "spec: {chart: {spec: {chart: charts/made, sourceRef: {kind: GitRepository, name: fleet}}}}",
    );
    fleet(prune)
        .file(
            "apps/kustomization.yaml",
            "resources: [edge.yaml, release.yaml]\n",
        )
        .file("apps/release.yaml", release)
        .file(
            "charts/made/Chart.yaml",
            "apiVersion: v2\nname: made\nversion: 1.0.0\n",
        )
        .file(
            "charts/made/templates/all.yaml",
            cluster("v1.31.8", GOOD).replace("edge", "made"),
        )
}

/// Edits of what deploys the fleet: the file, what is replaced in it, and with what; without a text, the file is removed.
const EDITS: [(&str, &str, &str); 14] = [
    ("apps/kustomization.yaml", "edge.yaml, ", ""),
    ("apps/kustomization.yaml", ", release.yaml", ""),
    ("apps/release.yaml", "", ""),
    ("apps/release.yaml", "name: fleet", "name: other"),
    (
        "apps/release.yaml",
        "{spec: {chart:",
        "{spec: {version: 2.0.0, chart:",
    ),
    ("flux/apps.yaml", "path: apps", "path: other"),
    ("flux/apps.yaml", "name: apps", "name: others"),
    ("flux/apps.yaml", "", ""),
    ("flux/git.yaml", "branch: main", "tag: v2"),
    ("flux/git.yaml", "fleet, ", "other, "),
    ("flux/kustomization.yaml", "apps.yaml, ", ""),
    ("root/root.yaml", "", ""),
    ("root/root.yaml", "path: flux", "path: apps"),
    ("apps/edge.yaml", "kind: Cluster", "kind: ["),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    /// Whatever is no longer deployed, is deployed otherwise or is not read is never denied, whatever else changes with it.
    #[test]
    fn no_edit_of_what_deploys_is_denied(picks in proptest::collection::btree_set(0..EDITS.len(), 1..3), prunes: bool, is_suspended: bool) {
        let prune = format!("prune: {prunes}");
        let Some(stage) = released(&prune).commit("before") else {
            return Ok(());
        };
        if is_suspended {
            stage.edit("flux/apps.yaml", "interval", "suspend: true, interval");
        }
        for (file, from, to) in picks.iter().map(|pick| EDITS[*pick]) {
            let text = stage.texts().remove(file);
            match text {
                Some(_) if from.is_empty() => stage.remove(file),
                Some(text) => stage.write(file, text.replacen(from, to, 1)),
                None => &stage,
            };
        }
        let shown = stage.run("impact --against HEAD").outcome.stdout;
        let sum = shown.lines().last().unwrap_or_default();
        prop_assert!(sum.contains("cluster"), "{shown}");
        prop_assert!(!sum.contains("no machine is re-provisioned"), "{picks:?}: {shown}");
    }

    /// Each field of what deploys a cluster has its answer, whatever it becomes.
    #[test]
    fn no_edit_of_a_field_of_what_deploys_is_denied(pick: prop::sample::Index, removes: bool) {
        let files = ["root/root.yaml", "flux/apps.yaml", "flux/git.yaml", "apps/release.yaml"];
        let Some(stage) = released("prune: true").commit("before") else {
            return Ok(());
        };
        let objects = files.map(|file| yaml_value(stage.read(file).trim_start_matches("---\n")));
        let mut all = Vec::new();
        for (file, object) in objects.iter().enumerate() {
            let mut paths = Vec::new();
            leaves(object, "", &mut paths);
            all.extend(paths.into_iter().map(|path| (file, path)));
        }
        let (file, path) = pick.get(&all);
        let mut edited = objects[*file].clone();
        let (parent, key) = path.rsplit_once('/').expect("a path");
        let map = edited.pointer_mut(parent).and_then(Value::as_object_mut).expect("a map");
        if removes {
            map.remove(key);
        } else {
            map.insert(key.to_owned(), Value::from("edited"));
        }
        stage.write(files[*file], edited.to_string());
        let shown = stage.run("impact --against HEAD").outcome.stdout;
        let sum = shown.lines().last().unwrap_or_default();
        let is_idle = ["/spec/interval", "/spec/prune"].contains(&&**path);
        let is_denied = sum.contains("no machine is re-provisioned");
        prop_assert!(is_denied == is_idle, "{} {path}: {shown}", files[*file]);
    }
}

/// What the last overlay of a base made is gone with it: the base alone, which nothing deploys, is no cluster in its place.
#[test]
fn a_base_is_no_cluster_once_its_last_overlay_goes() {
    let stage = || {
        project()
            .file("base/kustomization.yaml", "resources: [edge.yaml]\n")
            .file("base/edge.yaml", cluster("v1.31.8", GOOD))
            .file("site/kustomization.yaml", "resources: [../base]\n")
            .file(
                "other/kustomization.yaml",
                "resources: [../base]\nnamespace: other\n",
            )
    };
    let changes: Changes<'_> = &[
        ("one of two", &|stage: &Stage| {
            stage.remove("other/kustomization.yaml");
        }),
        ("the last", &|stage| {
            stage.remove("site/kustomization.yaml");
            stage.remove("other/kustomization.yaml");
        }),
        ("the base is deployed instead", &|stage| {
            stage.remove("site/kustomization.yaml");
            stage.remove("other/kustomization.yaml");
            stage.write("flux.yaml", flux("edge", "path: base, prune: true"));
        }),
    ];
    let Some(shown) = impacts(stage, changes) else {
        return;
    };
    assert_text(
        &shown,
        str![[r#"
one of two
    edge (was `site/edge`)
    other/edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, 1 cluster gone, 0 clusters as before
the last
    note: `base` is taken for no cluster: it was a base of others, and nothing in the repository deploys it
    other/edge, site/edge (all gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    6 machines and 2 whole pools deleted, 2 clusters gone, 0 clusters as before
the base is deployed instead
    edge (was `site/edge`)
      whole cluster  not known: its objects are deployed by something else, or by nothing
                       deployed by  nothing → Kustomization flux-system/edge
    other/edge (gone)
      control-plane  3 machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
      edge-md        all machines deleted
                       image       ubuntu-2204-kube-v1.31.8 → none
                       kubernetes  v1.31.8 → none
    3 machines and one whole pool deleted, not known of 1 whole cluster, 1 cluster gone, 0 clusters as before

"#]],
    );
}
