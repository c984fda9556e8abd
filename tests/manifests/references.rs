//! References between the objects of a cluster, and what a change of the object behind one does.

use snapbox::str;

use crate::support::manifests::{GOOD, INFRASTRUCTURE, cluster, manifest, object, repository};
use crate::support::seen::Seen;
use crate::support::stage::{Is, assert_cases, assert_text, project, table};

const REFERENCE: &str = "kind: OpenStackMachineTemplate, name: edge}";

/// A cluster whose pools refer to one name, and whose template has another.
fn named(from: &str, to: &str) -> String {
    let text = cluster("v1.31.8", GOOD)
        .replace(REFERENCE, &REFERENCE.replace("edge", &format!("'{from}'")));
    let (before, template) = text
        .rsplit_once("metadata: {name: edge}")
        .expect("a template");
    format!("{before}metadata: {{name: '{to}'}}{template}")
}

#[test]
fn a_reference_to_a_template_that_is_not_there_is_found() {
    // Two variables may have the same value.
    assert_cases(
        str![[r#"
edge to edge
edge-v1 to edge-v2
    error[reference-dangling] edge/control-plane edge.yaml:14:116 `'edge-v1'`
    error[reference-dangling] edge/edge-md edge.yaml:24:118 `'edge-v1'`
${NAME}-a to ${NAME}-a
${NAME}-a to ${NAME}-b
    error[reference-dangling] edge/control-plane edge.yaml:14:116 `'${NAME}-a'` => name: ${NAME}-b
    error[reference-dangling] edge/edge-md edge.yaml:24:118 `'${NAME}-a'` => name: ${NAME}-b
${ NAME }-a to ${NAME}-a
    error[nothing-checked] => metalmark clusters | --allow-empty
${ NAME }-a to ${NAME}-b
    error[reference-dangling] edge/control-plane edge.yaml:14:116 `'${ NAME }-a'` => name: ${NAME}-b
    error[reference-dangling] edge/edge-md edge.yaml:24:118 `'${ NAME }-a'` => name: ${NAME}-b
${NAME}-a to ${OTHER}-b
    error[nothing-checked] => metalmark clusters | --allow-empty
${NAME}-a to edge-a
    error[nothing-checked] => metalmark clusters | --allow-empty
edge-a to ${NAME}-a
    error[nothing-checked] => metalmark clusters | --allow-empty
{{ name }}-a to {{ name }}-b
    error[reference-dangling] edge/control-plane edge.yaml:14:116 `'{{ name }}-a'` => name: {{ name }}-b
    error[reference-dangling] edge/edge-md edge.yaml:24:118 `'{{ name }}-a'` => name: {{ name }}-b

"#]],
        |case| {
            let (from, to) = case.split_once(" to ").expect("two names");
            manifest(named(from, to)).check().findings
        },
    );
    let own = "metadata: {name: edge-md}";
    let with = |text: &str, more: &str| manifest(text.replace(own, &own.replace('}', more)));
    // Where there is none of its kind it may be kept elsewhere.
    let other = named("edge", "edge").replace("\nkind: OpenStackMachineTemplate", "\nkind: Other");
    manifest(other).check().findings(str![[r#"
error[nothing-checked] => metalmark clusters | --allow-empty

"#]]);
    // What `kubectl get -o yaml` prints refers to objects in the cluster that it came from.
    let printed =
        ", uid: 4f1c, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}'}}";
    with(&named("edge-v1", "edge-v2"), printed)
        .check()
        .findings(str![[r#"
error[reference-dangling] edge/control-plane edge.yaml:14:116 `'edge-v1'`

"#]]);
    // A controller sets the owners of an object again, which `clusterctl move` and backups leave in its manifest.
    let owned = ", ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, name: gone, uid: 4f1c}]}";
    with(&cluster("v1.31.8", GOOD), owned)
        .check()
        .findings(str![]);
}

/// Who obeyed had two clusters with one control plane.
#[test]
fn what_another_cluster_uses_is_not_advised() {
    let own = cluster("v1.31.8", GOOD);
    let other = own.replace("edge", "edgy");
    let without = |kind: &str| {
        let documents = other.split("---\n");
        let is_left = |document: &&str| !document.contains(&format!("\nkind: {kind}\n"));
        let left: Vec<&str> = documents.filter(is_left).collect();
        manifest(format!("{own}---\n{}", left.join("---\n")))
    };
    let kinds = ["OpenStackMachineTemplate", "KubeadmControlPlane"];
    let found = kinds.map(|kind| (kind, without(kind).check().findings));
    let found = table(kinds, |kind| {
        let found = found.iter().find(|found| found.0 == *kind);
        found.map(|found| found.1.clone()).unwrap_or_default()
    });
    assert_text(
        &found,
        str![[r#"
OpenStackMachineTemplate
    error[reference-dangling] edgy/control-plane edge.yaml:44:116 `edgy`
    error[reference-dangling] edgy/edgy-md edge.yaml:54:118 `edgy`
KubeadmControlPlane
    error[reference-dangling] edgy edge.yaml:35:105 `edgy-cp`

"#]],
    );
}

/// As in the provider for RKE2's own example for AWS. Of the templates of other groups the nearest one is shown.
#[test]
fn a_reference_whose_group_has_a_version_means_nothing() {
    let version = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind";
    let text =
        cluster("v1.31.8", GOOD).replace(version, &version.replace("apiVersion", "apiGroup"));
    let (_, template) = text.rsplit_once("---\n").expect("several documents");
    let project = project().file("a.yaml", template).file("b.yaml", &text);
    project.run("check").exit(1).brief(str![[r#"
error[reference-dangling]: KubeadmControlPlane `edge-cp` refers to OpenStackMachineTemplate `edge`, which is not there
  b.yaml:14:114 `edge`
  b.yaml:28:18 `edge` this one is of the group `infrastructure.cluster.x-k8s.io`
  cluster: edge, pool control-plane
  help: write `apiGroup: infrastructure.cluster.x-k8s.io`, or the same group in `apiVersion`
error[field-not-in-version]: MachineDeployment `edge-md` has `spec.template.spec.infrastructureRef.apiGroup`, which `cluster.x-k8s.io/v1beta1` lacks
  b.yaml:24:27 `apiGroup`
  cluster: edge
  help: write `spec.template.spec.infrastructureRef.apiVersion`
error[reference-dangling]: MachineDeployment `edge-md` refers to OpenStackMachineTemplate `edge`, which is not there
  b.yaml:24:116 `edge`
  b.yaml:28:18 `edge` this one is of the group `infrastructure.cluster.x-k8s.io`
3 errors in 1 cluster; 0 node pools checked; 2 skipped: its machine template is not among the manifests

"#]]);
}

/// `stamp` looks at the clusters that there will be, with the rules that `check` has: where it changes nothing, it finds the same.
#[test]
fn where_nothing_changes_both_commands_find_the_same() {
    let seen = Seen::new(&[
        "k8s-flavor-mismatch",
        "k8s-version-incomplete",
        "k8s-version-mismatch",
        "reference-dangling",
        "version-skew",
        "nothing",
    ]);
    let image = "{filter: {name: ubuntu-noble-plain-kubeadm-1-31-8}}";
    let good = cluster("v1.31.8", image);
    let rke2 = good.replace("KubeadmControlPlane", "RKE2ControlPlane");
    let worker = |text: &str, version: &str| {
        text.replace(
            "      version: v1.31.8",
            &format!("      version: {version}"),
        )
    };
    let settings = "manifests: [.]
images:
  records:
    ubuntu-noble-plain-kubeadm-1-31-8:
      k8s: {flavor: kubeadm, version: 1.31.8}
      locations: {glance: {name: ubuntu-noble-plain-kubeadm-1-31-8}}
stamps: [{kind: OpenStackMachineTemplate, image: ubuntu-noble-plain-kubeadm-1-31-8}]
";
    for text in [
        good.clone(),
        cluster("v1.30.2", image),
        worker(&good, "v1.32.1"),
        worker(&rke2, "v1.27.1"),
        good.replacen("Template, name: edge}", "Template, name: edgy}", 1),
        cluster("v1.31.8+rke2r1", image).replace("KubeadmControlPlane", "RKE2ControlPlane"),
        good.replace("v1.31.8\n", "\"${VERSION}\"\n"),
    ] {
        let project = manifest(&text).settings(settings);
        let errors = |command: &str| {
            let outcome = project.run(command).outcome;
            let screen = outcome.stdout + &outcome.stderr;
            let lines = screen.lines().filter(|line| line.starts_with("error["));
            let mut lines: Vec<String> = lines.map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        let checked = errors("check --allow-empty");
        assert_eq!(checked, errors("stamp --check"), "{text}");
        seen.note_if(checked.is_empty(), "nothing");
        for rule in checked
            .iter()
            .filter_map(|line| line["error[".len()..].split(']').next())
        {
            seen.note(rule);
        }
    }
    seen.assert_each(1);
}

/// What `impact` says of a change of the manifest; nothing where there is no git.
pub(crate) fn impacts(before: &str, changes: &[(&str, String)]) -> Option<String> {
    let project = manifest(before).commit("Add a cluster")?;
    let impact = |(name, after): &(&str, String)| {
        project.write("edge.yaml", after);
        let outcome = project.run("impact --against HEAD").outcome;
        let screen = outcome.stdout + &outcome.stderr;
        let lines = screen.lines().map(str::to_owned);
        let is_told = |line: &String| !line.is_empty() && !line.starts_with("Against ");
        table([name], |_| lines.clone().filter(is_told).collect())
    };
    Some(changes.iter().map(impact).collect())
}

#[test]
fn a_template_that_is_edited_under_its_name_moves_no_machine_and_a_new_name_moves_all() {
    let before = cluster("v1.31.8", GOOD);
    let edited = before.replace("kube-v1.31.8", "efi-kube-v1.31.8");
    let renamed = edited
        .replace(
            "metadata: {name: edge}\nspec: {template",
            "metadata: {name: edge-2}\nspec: {template",
        )
        .replace(
            "MachineTemplate, name: edge}",
            "MachineTemplate, name: edge-2}",
        );
    let changes = [
        ("no change", before.clone()),
        ("another image", edited.clone()),
        (
            "another setting",
            before.replace("{spec: {image", "{spec: {flavor: big, image"),
        ),
        ("another name, and all references to it", renamed.clone()),
        (
            "another name, the same content",
            renamed.replace("efi-kube", "kube"),
        ),
        (
            "another kind of that name",
            edited.replace("OpenStackMachineTemplate", "AzureMachineTemplate"),
        ),
        (
            "another version",
            before.replace("version: v1.31.8", "version: v1.31.9"),
        ),
    ];
    let Some(impacts) = impacts(&before, &changes) else {
        return;
    };
    impacts.is(str![[r#"
no change
    no machine is re-provisioned, 1 cluster as before
another image
    edge
      control-plane  refused by its webhook: nothing changes, and the sync fails
                       image       ubuntu-2204-kube-v1.31.8 → ubuntu-2204-efi-kube-v1.31.8
      edge-md        refused by its webhook: nothing changes, and the sync fails
                       image       ubuntu-2204-kube-v1.31.8 → ubuntu-2204-efi-kube-v1.31.8
    no machine is re-provisioned, refused by webhooks in 2 pools, 0 clusters as before
    error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes under the same name, and its webhook refuses changes below `spec.template.spec`
      --> edge.yaml:28:18
       |
    28 | metadata: {name: edge}
       |                  ^^^^
    29 | spec: {template: {spec: {image: {filter: {name: ubuntu-2204-efi-kube-v1.31.8}}}}}
       |                                                 ---------------------------- `spec.template.spec.image.filter.name` changes
       |
       = cluster: edge, pool control-plane
       = also in pools: edge-md
       = help: give it another name, and write that into what refers to it
    1 error in 1 cluster
another setting
    edge
      control-plane  refused by its webhook: nothing changes, and the sync fails
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → big
      edge-md        refused by its webhook: nothing changes, and the sync fails
                       OpenStackMachineTemplate/edge spec.template.spec.flavor  none → big
    no machine is re-provisioned, refused by webhooks in 2 pools, 0 clusters as before
    error[template-edited-in-place]: OpenStackMachineTemplate `edge` changes under the same name, and its webhook refuses changes below `spec.template.spec`
      --> edge.yaml:28:18
       |
    28 | metadata: {name: edge}
       |                  ^^^^
    29 | spec: {template: {spec: {flavor: big, image: {filter: {name: ubuntu-2204-kube-v1.31.8}}}}}
       |                                  --- `spec.template.spec.flavor` changes
       |
       = cluster: edge, pool control-plane
       = also in pools: edge-md
       = help: give it another name, and write that into what refers to it
    1 error in 1 cluster
another name, and all references to it
    edge
      control-plane  3 machines re-provisioned, by roll
                       image       ubuntu-2204-kube-v1.31.8 → ubuntu-2204-efi-kube-v1.31.8
                       KubeadmControlPlane/edge-cp spec.machineTemplate.infrastructureRef.name  edge → edge-2
      edge-md        all machines re-provisioned, by roll
                       image       ubuntu-2204-kube-v1.31.8 → ubuntu-2204-efi-kube-v1.31.8
                       MachineDeployment/edge-md spec.template.spec.infrastructureRef.name  edge → edge-2
    3 machines and one whole pool in 1 cluster re-provisioned, 0 clusters as before
another name, the same content
    edge
      control-plane  3 machines re-provisioned, by roll: its machine template changes
                       KubeadmControlPlane/edge-cp spec.machineTemplate.infrastructureRef.name  edge → edge-2
      edge-md        all machines re-provisioned, by roll: its machine template changes
                       MachineDeployment/edge-md spec.template.spec.infrastructureRef.name  edge → edge-2
    3 machines and one whole pool in 1 cluster re-provisioned, 0 clusters as before
another kind of that name
    edge
      control-plane  3 machines re-provisioned, by roll
                       image       ubuntu-2204-kube-v1.31.8 → none
                       KubeadmControlPlane/edge-cp spec.machineTemplate.infrastructureRef.kind  OpenStackMachineTemplate → AzureMachineTemplate
                       AzureMachineTemplate/edge  none → an object
                       OpenStackMachineTemplate/edge  an object → none
      edge-md        all machines re-provisioned, by roll
                       image       ubuntu-2204-kube-v1.31.8 → none
                       MachineDeployment/edge-md spec.template.spec.infrastructureRef.kind  OpenStackMachineTemplate → AzureMachineTemplate
                       AzureMachineTemplate/edge  none → an object
                       OpenStackMachineTemplate/edge  an object → none
    3 machines and one whole pool in 1 cluster re-provisioned, 0 clusters as before
another version
    edge
      control-plane  3 machines re-provisioned, by roll
                       kubernetes  v1.31.8 → v1.31.9
      edge-md        all machines re-provisioned, by roll
                       kubernetes  v1.31.8 → v1.31.9
    3 machines and one whole pool in 1 cluster re-provisioned, 0 clusters as before
    error[k8s-version-mismatch]: image `ubuntu-2204-kube-v1.31.8` holds Kubernetes `1.31.8`, not `v1.31.9`
      --> edge.yaml:29:49
       |
    29 | spec: {template: {spec: {image: {filter: {name: ubuntu-2204-kube-v1.31.8}}}}}
       |                                                 ^^^^^^^^^^^^^^^^^^^^^^^^ this image is selected here
       |
      ::: edge.yaml:12:12
       |
    12 |   version: v1.31.9
       |            ------- this version is required
       |
       = cluster: edge, pool control-plane
       = also in pools: edge-md
       = help: name an image with Kubernetes `v1.31.9`, in a machine template of a new name
    1 error in 1 cluster

"#]]);
}

/// A machine pool's own provider replaces its machines.
#[test]
fn a_machine_pool_whose_image_is_edited_is_no_template_that_rolls_nothing() {
    let pool = |image: &str| {
        let own = "      version: v1.31.8\n      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: edge}\n";
        cluster("v1.31.8", GOOD)
            .replace("MachineDeployment", "MachinePool")
            .replace(
                own,
                &own.replace("OpenStackMachineTemplate", "AzureMachinePool"),
            )
            + &object(
                &format!("{INFRASTRUCTURE} AzureMachinePool edge"),
                &format!("spec: {{template: {{image: {{id: {image}}}}}}}"),
            )
    };
    let Some(impacts) = impacts(&pool("/images/a"), &[("another image", pool("/images/b"))]) else {
        return;
    };
    impacts.is(str![[r#"
another image
    edge
      edge-md  all machines re-provisioned, by roll
                 image       /images/a → /images/b
    one whole pool in 1 cluster re-provisioned, 0 clusters as before

"#]]);
}

/// A digest that becomes a URL, as in lentzi90/playground, says nothing of what is behind it.
#[test]
fn only_digests_say_that_an_image_is_replaced() {
    let text = |checksum: &str| {
        let image = format!("{{url: 'https://images.example.org/a.raw', checksum: '{checksum}'}}");
        cluster("v1.31.8", &image).replace("OpenStackMachineTemplate", "Metal3MachineTemplate")
    };
    let (one, two) = ("0".repeat(64), "1".repeat(64));
    let sums = "https://images.example.org/SHA256SUMS";
    let digest = [
        ("the same", text(&one)),
        ("another digest", text(&two)),
        ("a URL", text(sums)),
    ];
    let url = [
        ("a digest instead of a URL", text(&one)),
        ("another URL", text("https://images.example.org/sums")),
    ];
    let (Some(digest), Some(url)) = (impacts(&text(&one), &digest), impacts(&text(sums), &url))
    else {
        return;
    };
    (digest + &url).is(str![[r#"
the same
    no machine is re-provisioned, 1 cluster as before
another digest
    edge
      control-plane  in place: existing machines stay as they are, later ones differ
                       image       https://images.example.org/a.raw (000000000000) → https://images.example.org/a.raw (111111111111)
      edge-md        in place: existing machines stay as they are, later ones differ
                       image       https://images.example.org/a.raw (000000000000) → https://images.example.org/a.raw (111111111111)
    no machine is re-provisioned, 0 clusters as before
    warning[template-edited-in-place]: Metal3MachineTemplate `edge` changes under the same name, and no machine that runs is replaced
      --> edge.yaml:28:18
       |
    28 | ...e: edge}
       |       ^^^^
    29 | ...e: {spec: {image: {url: 'https://images.example.org/a.raw', checksum: '1111111111111111111111111111111111111111111111111111111111111111'}}}}
       |                                                                          ------------------------------------------------------------------ `spec.template.spec.image.checksum` changes
       |
       = cluster: edge, pool control-plane
       = also in pools: edge-md
       = help: give it another name, and write that into what refers to it
    error[image-replaced-in-place]: another image would be at `https://images.example.org/a.raw`: its checksum goes from `000000000000` to `111111111111`
      --> edge.yaml:29:39
       |
    29 | spec: {template: {spec: {image: {url: 'https://images.example.org/a.raw', checksum: '11111111111111111111111111111111111111111111111...
       |                                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = cluster: edge, pool control-plane
       = also in pools: edge-md
       = help: give it a URL of its own: a file name or a tag with the version
    1 error, 1 warning in 1 cluster
a URL
    edge
      control-plane  in place: existing machines stay as they are, later ones differ
                       image       https://images.example.org/a.raw (000000000000) → https://images.example.org/a.raw (https://imag)
      edge-md        in place: existing machines stay as they are, later ones differ
                       image       https://images.example.org/a.raw (000000000000) → https://images.example.org/a.raw (https://imag)
    no machine is re-provisioned, 0 clusters as before
    warning[template-edited-in-place]: Metal3MachineTemplate `edge` changes under the same name, and no machine that runs is replaced
      --> edge.yaml:28:18
       |
    28 | metadata: {name: edge}
       |                  ^^^^
    29 | spec: {template: {spec: {image: {url: 'https://images.example.org/a.raw', checksum: 'https://images.example.org/SHA256SUMS'}}}}
       |                                                                                     --------------------------------------- `spec.template.spec.image.checksum` changes
       |
       = cluster: edge, pool control-plane
       = also in pools: edge-md
       = help: give it another name, and write that into what refers to it
    1 warning in 1 cluster
a digest instead of a URL
    edge
      control-plane  in place: existing machines stay as they are, later ones differ
                       image       https://images.example.org/a.raw (https://imag) → https://images.example.org/a.raw (000000000000)
      edge-md        in place: existing machines stay as they are, later ones differ
                       image       https://images.example.org/a.raw (https://imag) → https://images.example.org/a.raw (000000000000)
    no machine is re-provisioned, 0 clusters as before
    warning[template-edited-in-place]: Metal3MachineTemplate `edge` changes under the same name, and no machine that runs is replaced
      --> edge.yaml:28:18
       |
    28 | ...e: edge}
       |       ^^^^
    29 | ...e: {spec: {image: {url: 'https://images.example.org/a.raw', checksum: '0000000000000000000000000000000000000000000000000000000000000000'}}}}
       |                                                                          ------------------------------------------------------------------ `spec.template.spec.image.checksum` changes
       |
       = cluster: edge, pool control-plane
       = also in pools: edge-md
       = help: give it another name, and write that into what refers to it
    1 warning in 1 cluster
another URL
    edge
      control-plane  in place: existing machines stay as they are, later ones differ
                       image       https://images.example.org/a.raw (https://imag) → https://images.example.org/a.raw (https://imag)
      edge-md        in place: existing machines stay as they are, later ones differ
                       image       https://images.example.org/a.raw (https://imag) → https://images.example.org/a.raw (https://imag)
    no machine is re-provisioned, 0 clusters as before
    warning[template-edited-in-place]: Metal3MachineTemplate `edge` changes under the same name, and no machine that runs is replaced
      --> edge.yaml:28:18
       |
    28 | metadata: {name: edge}
       |                  ^^^^
    29 | spec: {template: {spec: {image: {url: 'https://images.example.org/a.raw', checksum: 'https://images.example.org/sums'}}}}
       |                                                                                     --------------------------------- `spec.template.spec.image.checksum` changes
       |
       = cluster: edge, pool control-plane
       = also in pools: edge-md
       = help: give it another name, and write that into what refers to it
    1 warning in 1 cluster

"#]]);
}

/// The machines' own bootstrap configuration says which distribution they run, else the kind of their control plane.
#[test]
fn an_image_is_compared_with_what_bootstraps_its_own_pool() {
    assert_cases(
        str![[r#"
Kubeadm boots kubeadm
Kubeadm boots rke2
    error[k8s-flavor-mismatch] edge/control-plane edge.yaml:29:49 `ubuntu-noble-plain-rke2-1-31-8` edge.yaml:9:18 `edge-cp`
Kamaji boots kubeadm
Kamaji boots rke2
    error[k8s-flavor-mismatch] edge/control-plane edge.yaml:29:49 `ubuntu-noble-plain-rke2-1-31-8` edge.yaml:9:18 `edge-cp`
RKE2 boots kubeadm
    error[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `v1.31.8` => …+rke2r1
    warning[k8s-version-incomplete] edge/edge-md edge.yaml:23:16 `v1.31.8` => …+rke2r1
    error[k8s-flavor-mismatch] edge/control-plane edge.yaml:29:49 `ubuntu-noble-plain-kubeadm-1-31-8` edge.yaml:9:18 `edge-cp`
RKE2 boots rke2
    error[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `v1.31.8` => …+rke2r1
    warning[k8s-version-incomplete] edge/edge-md edge.yaml:23:16 `v1.31.8` => …+rke2r1
KThrees boots rke2
    warning[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `v1.31.8` => …+k3s1
    warning[k8s-version-incomplete] edge/edge-md edge.yaml:23:16 `v1.31.8` => …+k3s1
    error[k8s-flavor-mismatch] edge/control-plane edge.yaml:29:49 `ubuntu-noble-plain-rke2-1-31-8` edge.yaml:9:18 `edge-cp`
CK8s boots rke2
    error[k8s-flavor-mismatch] edge/control-plane edge.yaml:29:49 `ubuntu-noble-plain-rke2-1-31-8` edge.yaml:9:18 `edge-cp`
RKE2 with RKE2ConfigTemplate boots rke2
    error[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `v1.31.8` => …+rke2r1
    warning[k8s-version-incomplete] edge/edge-md edge.yaml:23:16 `v1.31.8` => …+rke2r1
RKE2 with KubeadmConfigTemplate boots rke2
    error[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `v1.31.8` => …+rke2r1
    error[k8s-flavor-mismatch] edge/edge-md edge.yaml:30:49 `ubuntu-noble-plain-rke2-1-31-8` edge.yaml:24:85 `KubeadmConfigTemplate`

"#]],
        |case| {
            let (kind, made) = case.split_once(" boots ").expect("a kind and a flavor");
            let (kind, own) = kind.split_once(" with ").unwrap_or((kind, ""));
            let image = format!("{{filter: {{name: ubuntu-noble-plain-{made}-1-31-8}}}}");
            let text = cluster("v1.31.8", &image).replace("Kubeadm", kind);
            let reference = "      infrastructureRef:";
            let config = format!(
                "      bootstrap: {{configRef: {{apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: {own}, name: edge}}}}\n{reference}"
            );
            let text = if own.is_empty() {
                text
            } else {
                text.replace(reference, &config)
            };
            manifest(text).check().findings
        },
    );
}

#[test]
fn a_dangling_reference_belongs_to_the_cluster_of_the_object_that_refers() {
    let good = cluster("v1.31.8", GOOD);
    let bad = named("edge-v1", "edge-v2").replace("edge", "other");
    let stage = repository(&[("a/edge.yaml", &good), ("b/other.yaml", &bad)]);
    stage.check_with("edge").is(str![[r#"
edge/control-plane v1.31.8 (a/edge.yaml:12:12), edge/edge-md v1.31.8 (a/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (a/edge.yaml:29:49) holds 1.31.8

"#]]);
    stage.check_with("other").findings(str![[r#"
error[reference-dangling] other/control-plane b/other.yaml:14:116 `'other-v1'`
error[reference-dangling] other/other-md b/other.yaml:24:118 `'other-v1'`

"#]]);
    let project = "version: 1\nmanifests: [.]\npolicy: {waivers: [{rule: reference-dangling, where: other, reason: later, until: 2099-01-31}]}\n";
    stage.write("metalmark.yaml", project);
    stage.check().findings(str![]);
}
