//! What the authors of the founding documents wrote themselves, to the letter: it works, or the help that it gets works when it is followed.
//!
//! Sources: rancher/elemental, issues 990 and 1011; operator-framework/rukpak, issue 16; sylva-projects/sylva-core, "simplify baremetal OS
//! images settings". The fifth, kubernetes-sigs/cluster-api 681, has no YAML.

use snapbox::str;

use super::support::stage::{Run, Stage, assert_cases, assert_text, project};

/// The one manifest of rancher/elemental#990.
const COMPONENTS: &str = "\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: ElementalMachineTemplate
metadata:
  name: elemental-cluster-md-0
  namespace: default
spec:
  template:
    spec:
      componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1
";

fn print(run: &Run) -> String {
    format!("{}{}", run.outcome.stdout, run.outcome.stderr)
}

/// The object that its help describes.
fn deployment(version: &str) -> String {
    format!(
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineDeployment\nmetadata: {{name: md-0, namespace: default}}\nspec:\n  \
         clusterName: elemental-cluster\n  template:\n    spec:\n      clusterName: elemental-cluster\n      version: {version}\n      \
         infrastructureRef: {{kind: ElementalMachineTemplate, name: elemental-cluster-md-0}}\n"
    )
}

#[test]
fn a_machine_template_alone_says_what_makes_machines_of_it() {
    let stage = project().file("template.yaml", COMPONENTS);
    stage.run("check").exit(1).screen(str![[r#"
error[nothing-checked]: ElementalMachineTemplate `elemental-cluster-md-0` is not used by a node pool yet: nothing makes machines from it
 --> template.yaml:4:9
  |
4 |   name: elemental-cluster-md-0
  |         ^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: add a MachineDeployment whose `spec.template.spec` has `clusterName`, `version` and `infrastructureRef: {kind: ElementalMachineTemplate, name: elemental-cluster-md-0}`: its version is what the template is compared with
  = help: or type `--allow-empty`

1 error

"#]]);
    stage.run("clusters").exit(0).screen(str![[r#"
error[nothing-checked]: ElementalMachineTemplate `elemental-cluster-md-0` is not used by a node pool yet: nothing makes machines from it
 --> template.yaml:4:9
  |
4 |   name: elemental-cluster-md-0
  |         ^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: add a MachineDeployment whose `spec.template.spec` has `clusterName`, `version` and `infrastructureRef: {kind: ElementalMachineTemplate, name: elemental-cluster-md-0}`: its version is what the template is compared with

1 error

"#]]);
    stage.write("md.yaml", deployment("v1.26.7+rke2r1"));
    stage.run("check").exit(0).screen(str![[r#"
warning[component-mismatch]: component bundle `registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7_rke2r1` is not pinned to a digest
 --> template.yaml:9:25
  |
9 |       componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1
  |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ selected here
  |
  = cluster: elemental-cluster, pool md-0
  = help: write its digest behind the tag: `registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7_rke2r1@sha256:…`

warning[component-mismatch]: no release of Elemental has the field: the API server drops it
 --> template.yaml:9:25
  |
9 |       componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1
  |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ selected here
  |
  = cluster: elemental-cluster, pool md-0
  = help: docs/components.md says what brings a bundle to machines

2 warnings in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
    stage.write("md.yaml", deployment("v1.27.3+rke2r1"));
    stage.run("check").exit(1).screen(str![[r#"
error[component-mismatch]: component bundle `registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7_rke2r1` holds Kubernetes `1.26.7+rke2r1`, not `v1.27.3+rke2r1`
 --> template.yaml:9:25
  |
9 |       componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1
  |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ selected here
  |
  = cluster: elemental-cluster, pool md-0
  = help: name a bundle that fits, by its tag and digest: `REGISTRY/REPOSITORY:VERSION@sha256:…`

warning[component-mismatch]: component bundle `registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7_rke2r1` is not pinned to a digest
 --> template.yaml:9:25
  |
9 |       componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1
  |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ selected here
  |
  = cluster: elemental-cluster, pool md-0
  = help: write its digest behind the tag: `registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7_rke2r1@sha256:…`

warning[component-mismatch]: no release of Elemental has the field: the API server drops it
 --> template.yaml:9:25
  |
9 |       componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1
  |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ selected here
  |
  = cluster: elemental-cluster, pool md-0
  = help: docs/components.md says what brings a bundle to machines

1 error, 2 warnings in 1 cluster; 1 node pool checked: 1 mismatched

"#]]);
}

/// Of templates elsewhere in the repository nothing is said.
#[test]
fn a_machine_template_is_no_loose_end_of_another_folder() {
    let stage = project()
        .file("templates/template.yaml", COMPONENTS)
        .file(
            "other/readme.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
        )
        .file("metalmark.yaml", "version: 1\nmanifests: [other]\n");
    let run = stage.run("check").exit(1);
    assert!(
        !print(&run).contains("elemental-cluster-md-0"),
        "{}",
        print(&run)
    );
    // Neither what configures machines nor a pool of a provider's own is a machine template.
    for kind in [
        "infrastructure.cluster.x-k8s.io/v1beta2\nkind: AWSMachinePool",
        "bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate",
    ] {
        stage.write(
            "other/readme.yaml",
            format!("apiVersion: {kind}\nmetadata: {{name: a}}\n"),
        );
        let run = stage.run("check").exit(1);
        assert!(
            print(&run).contains("no node pool was checked"),
            "{}",
            print(&run)
        );
    }
    stage.write("metalmark.yaml", "version: 1\nmanifests: [templates]\n");
    let run = stage.run("check").exit(1);
    assert!(
        print(&run).contains("elemental-cluster-md-0"),
        "{}",
        print(&run)
    );
}

/// A cluster of other machines, a class, a file that is not read: what makes machines of it is there, or may be.
#[test]
fn nothing_is_said_of_a_machine_template_that_something_may_use() {
    let class = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata: {name: edge, namespace: default}
spec:
  workers:
    machineDeployments:
      - class: md
        template:
          infrastructure:
            ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: ElementalMachineTemplate, name: elemental-cluster-md-0}
";
    let other = COMPONENTS.replace("md-0", "md-1");
    let pool = deployment("v1.26.7+rke2r1").replace("md-0", "md-1");
    let said = |files: &[(&str, &str)]| {
        let stage = project().file("template.yaml", COMPONENTS);
        for (path, text) in files {
            stage.write(path, text);
        }
        print(&stage.run("check"))
    };
    let rendered = deployment("{{ version }}");
    let is_said = |files: &[(&str, &str)]| said(files).contains("is not used by a node pool yet");
    assert!(is_said(&[]));
    assert!(!is_said(&[("class.yaml", class)]));
    assert!(!is_said(&[("md.yaml.j2", &rendered)]));
    assert!(!is_said(&[("md.yaml", &pool), ("other.yaml", &other)]));
}

/// rancher/elemental#1011: its four steps, in plain manifests, with the endpoint left blank.
fn endpoint(infrastructure: &str, spec: &str) -> Stage {
    project().file(
        "cluster.yaml",
        format!(
            "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {{name: site, namespace: default}}\nspec:\n  \
             infrastructureRef: {{kind: {infrastructure}, name: site}}\n  controlPlaneRef: {{kind: RKE2ControlPlane, name: site}}\n---\n\
             apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: {infrastructure}\nmetadata: {{name: site, namespace: default}}\n\
             spec: {spec}\n---\n\
             apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: RKE2ControlPlane\nmetadata: {{name: site, namespace: default}}\nspec:\n  \
             replicas: 3\n  version: v1.31.8+rke2r1\n  infrastructureRef: {{kind: ElementalMachineTemplate, name: cp}}\n---\n\
             apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: ElementalMachineTemplate\nmetadata: {{name: cp, namespace: default}}\n\
             spec: {{template: {{spec: {{selector: {{matchLabels: {{control-plane: \"true\"}}}}, osVersionManagement: {{osVersion: {{imageUri: \
             'oci://registry.example.org/sle-rke2-v1.31.8-rke2r1@sha256:31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8'}}}}}}}}}}\n"
        ),
    )
}

#[test]
fn a_blank_endpoint_says_what_is_known_of_its_provider() {
    let stage = endpoint(
        "ElementalCluster",
        "{controlPlaneEndpoint: {host: \"\", port: 6443}}",
    );
    stage.run("check").exit(0).screen(str![[r#"
warning[endpoint-missing]: ElementalCluster `site` has no control plane endpoint: no release of its controller is known to fill it in
  --> cluster.yaml:10:18
   |
10 | metadata: {name: site, namespace: default}
   |                  ^^^^
   |
   = help: write the address that is to answer for the control plane: `spec.controlPlaneEndpoint: {host: …, port: 6443}`

1 warning in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
    // As for values: the first of the hosts with the label, with its address.
    let host = |name: &str, is_control_plane: bool, address: &str| {
        format!(
            "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: ElementalHost\nmetadata: {{name: {name}, namespace: default, \
             labels: {{control-plane: \"{is_control_plane}\"}}, annotations: {{metalmark.dev/address.internal: {address}}}}}\n"
        )
    };
    let hosts = [("c", true, 13), ("b", true, 12), ("a", false, 11)];
    let hosts =
        hosts.map(|(name, is_leader, last)| host(name, is_leader, &format!("192.0.2.{last}")));
    stage.write("hosts.yaml", hosts.concat());
    let help = "= help: host `b` of the control plane's has the address `192.0.2.12`";
    let screen = print(&stage.run("check").exit(0));
    assert!(screen.contains(help), "{screen}");
    stage.edit("hosts.yaml", "192.0.2.12", "'1:2'");
    let screen = print(&stage.run("check").exit(0));
    assert!(
        screen.contains("host `c` of the control plane's"),
        "{screen}"
    );
    // Of Metal3 its hosts count, by whatever card they have an address.
    stage.edit(
        "hosts.yaml",
        "metalmark.dev/address.internal: 192.0.2.13",
        "a: b",
    );
    let card = "---\napiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata: {name: d, namespace: default, labels: {control-plane: \"true\"}}\n\
                status: {hardware: {nics: [{name: eno1, ip: 192.0.2.14}]}}\n";
    stage.write("card.yaml", card);
    let screen = print(&stage.run("check").exit(0));
    assert!(!screen.contains("of the control plane's"), "{screen}");
    stage.edit(
        "card.yaml",
        "metal3.io/v1alpha1\nkind: BareMetalHost",
        "infrastructure.cluster.x-k8s.io/v1beta1\nkind: MachineInventory",
    );
    stage.edit(
        "card.yaml",
        "labels:",
        "annotations: {metalmark.dev/address.eno1: 192.0.2.14}, labels:",
    );
    let screen = print(&stage.run("check").exit(0));
    let help = "= help: host `d` of the control plane's has the address `192.0.2.14`";
    assert!(screen.contains(help), "{screen}");
    stage.edit("cluster.yaml", "host: \"\"", "host: 192.0.2.11");
    stage.run("check").exit(0).screen(str![[r#"
no findings in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
    let found = |infrastructure: &str, spec: &str| {
        let run = endpoint(infrastructure, spec).run("check").exit(0);
        let stderr = print(&run);
        let found = stderr
            .lines()
            .find(|line| line.contains("endpoint-missing"));
        found.unwrap_or_default().to_owned()
    };
    assert!(found("Metal3Cluster", "{}").contains("its webhook refuses that"));
    assert!(
        found("ElementalCluster", "{controlPlaneEndpoint: null}")
            .contains("ElementalCluster `site`")
    );
    assert!(
        found(
            "ElementalCluster",
            "{controlPlaneEndpoint: {host: null, port: 6443}}"
        )
        .contains("ElementalCluster `site`")
    );
    // Another controller fills it in; of a webhook that refuses it, that is no way out.
    for (kind, is_found) in [("ElementalCluster", false), ("Metal3Cluster", true)] {
        let stage = endpoint(kind, "{}");
        stage.edit(
            "cluster.yaml",
            &format!("kind: {kind}\nmetadata: {{"),
            &format!(
                "kind: {kind}\nmetadata: {{annotations: {{cluster.x-k8s.io/managed-by: ops}}, "
            ),
        );
        let found = print(&stage.run("check")).contains("endpoint-missing");
        assert_eq!(found, is_found, "{kind}");
    }
    // What another program fills in, and what a provider makes itself, is not blank.
    for endpoint in ["{host: '${ENDPOINT}', port: 6443}", "'${ENDPOINT}'"] {
        assert_eq!(
            found(
                "ElementalCluster",
                &format!("{{controlPlaneEndpoint: {endpoint}}}")
            ),
            ""
        );
    }
    assert_eq!(found("AWSCluster", "{}"), "");
    let stage = endpoint("ElementalCluster", "{}");
    // A patch of what does not build may say it.
    stage.write(
        "kustomization.yaml",
        "resources: [cluster.yaml]\ncrds: [crd.json]\n",
    );
    assert!(!print(&stage.run("check")).contains("endpoint-missing"));
    // So may one of the Cluster alone.
    let text = stage.texts()["cluster.yaml"].clone();
    let (cluster, rest) = text.split_once("---\n").expect("two objects");
    stage.write("cluster.yaml", cluster);
    stage.write("infrastructure/site.yaml", rest);
    assert!(!print(&stage.run("check")).contains("endpoint-missing"));
    stage.remove("kustomization.yaml");
    assert!(print(&stage.run("check")).contains("endpoint-missing"));
    stage.edit(
        "cluster.yaml",
        "spec:\n  infra",
        "spec:\n  controlPlaneEndpoint: {host: api.example.org, port: 6443}\n  infra",
    );
    assert!(!print(&stage.run("check").exit(0)).contains("endpoint-missing"));
}

/// operator-framework/rukpak#16: `0<n>_<file_name>`, and one bundle that needs the definitions of another.
#[test]
fn rukpaks_order_and_its_nested_bundles_work_by_their_help() {
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: groups.example.org}\n\
        spec: {group: example.org, scope: Namespaced, names: {kind: Group, plural: groups}, versions: []}\n";
    let group = "apiVersion: example.org/v1\nkind: Group\nmetadata: {name: all, namespace: app}\n";
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n";
    let stage = project().files(&[
        ("own/manifests/01_namespace.yaml", namespace),
        ("own/manifests/02_definition.yaml", definition),
        ("own/manifests/03_group.yaml", group),
        ("api/manifests/a.yaml", definition),
        ("app/manifests/a.yaml", group),
        ("both.yaml", "version: 1\nbundles: [{name: app, from: app, requires: [api]}, {name: api, from: api}]\n"),
    ]);
    stage
        .run("bundle pack own --order names --to dir:out/own")
        .exit(0);
    stage
        .run("bundle pack index:both.yaml --to dir:out/both")
        .exit(1)
        .screen(str![[r#"
error[crd-order]: `Group app/all` is in one bundle with `CustomResourceDefinition groups.example.org`, which defines its kind: RukPak looks up every kind before it applies anything
 --> app/manifests/a.yaml:3:18
  |
3 | metadata: {name: all, namespace: app}
  |                  ^^^ of this kind
  |
 ::: api/manifests/a.yaml:3:18
  |
3 | metadata: {name: groups.example.org}
  |                  ------------------ defined here
  |
  = help: for RukPak: pack the definition as a bundle of its own; an index names that one in `provided:`, not in `bundles:`
  = help: for Flux and Argo CD, which apply definitions first: `--kind artifact`
  = help: for `kubectl apply`, file by file: `--order numbered`

warning[namespace-missing]: `Group app/all` is in namespace `app`, which the bundle does not hold
 --> app/manifests/a.yaml:3:18
  |
3 | metadata: {name: all, namespace: app}
  |                  ^^^
  |
  = help: add the Namespace `app`, unless it is there before the bundle

1 error, 1 warning

"#]]);
    // Each help, followed.
    stage.run("bundle pack api --to dir:out/api").exit(0);
    stage.edit(
        "both.yaml",
        ", {name: api, from: api}]",
        "]\nprovided: [api]",
    );
    stage
        .run("bundle pack index:both.yaml --to dir:out/app")
        .exit(0);
    stage.edit(
        "both.yaml",
        "]\nprovided: [api]",
        ", {name: api, from: api}]",
    );
    stage
        .run("bundle pack index:both.yaml --kind artifact --to oci-layout:out/layout:1")
        .exit(0);
    stage
        .run("bundle pack index:both.yaml --order numbered --to dir:out/numbered")
        .exit(0);
    assert_eq!(stage.list("out/numbered").len(), 2);
}

/// Sylva's "What we have today": the image server's entry, and the URL that machines boot it from.
#[test]
fn the_image_of_a_url_is_used_and_served_while_machines_boot_its_file() {
    let stage = project()
        .settings("values: [values.yaml]")
        .file(
            "values.yaml",
            "\
sylva_base_oci_registry: oci://registry.gitlab.com/sylva-projects
os_images:
  ubuntu-jammy-plain-rke2-1-26-9:
    uri: \"{{ .Values.sylva_base_oci_registry }}/sylva-elements/diskimage-builder/ubuntu-jammy-plain-rke2-1.26.9:0.0.12\"
    filename: ubuntu-jammy-plain-rke2-1.26.9.qcow2
    checksum: ffdc81fcdc0104151aa792a508eefe0d47660b18683949edcd734b3a4f938f20
    persistence:
      enabled: true
      size: 3Gi
",
        )
        .cluster(
            "site",
            "\
cluster:
  k8s_version: v1.26.9+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
  control_plane_replicas: 1
  capm3:
    machine_image_url: http://ubuntu-jammy-plain-rke2-1-26-9.os-images.svc.cluster.local:8080/ubuntu-jammy-plain-rke2-1.26.9.qcow2
    machine_image_format: qcow2
    machine_image_checksum: http://ubuntu-jammy-plain-rke2-1-26-9.os-images.svc.cluster.local:8080/ubuntu-jammy-plain-rke2-1.26.9.qcow2.sha256sum
    machine_image_checksum_type: sha256
",
        );
    stage.run("check").exit(0).screen(str![[r#"
warning[k8s-version-unproven]: nothing proves that image `ubuntu-jammy-plain-rke2-1-26-9` holds Kubernetes `v1.26.9+rke2r1`
 --> site.yaml:6:24
  |
2 |   k8s_version: v1.26.9+rke2r1
  |                -------------- this version is required
...
6 |     machine_image_url: http://ubuntu-jammy-plain-rke2-1-26-9.os-images.svc.cluster.local:8080/ubuntu-jammy-plain-rke2-1.26.9.qcow2
  |                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ only the image's name says `1.26.9`
  |
  = cluster: site, pool control-plane
  = help: select the image by `image_key`, so that its facts are known

warning[checksum-by-url]: the checksum is a URL
 --> site.yaml:8:29
  |
8 |     machine_image_checksum: http://ubuntu-jammy-plain-rke2-1-26-9.os-images.svc.cluster.local:8080/ubuntu-jammy-plain-rke2-1.26.9.qco...
  |                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ fetched when a node is provisioned
  |
  = cluster: site, pool control-plane
  = help: `cluster.capm3.machine_image_checksum: ffdc81fcdc0104151aa792a508eefe0d47660b18683949edcd734b3a4f938f20`

2 warnings in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
    let served = |stage: &Stage| {
        let images = stage.run("images --output json").outcome.stdout;
        images.contains("\"served\": true")
    };
    assert!(served(&stage));
    // Its help, followed: the digest itself.
    let sum = "http://ubuntu-jammy-plain-rke2-1-26-9.os-images.svc.cluster.local:8080/ubuntu-jammy-plain-rke2-1.26.9.qcow2.sha256sum";
    stage.edit(
        "site.yaml",
        sum,
        "ffdc81fcdc0104151aa792a508eefe0d47660b18683949edcd734b3a4f938f20",
    );
    stage.run("check").exit(0).screen(str![[r#"
warning[k8s-version-unproven]: nothing proves that image `ubuntu-jammy-plain-rke2-1-26-9` holds Kubernetes `v1.26.9+rke2r1`
 --> site.yaml:6:24
  |
2 |   k8s_version: v1.26.9+rke2r1
  |                -------------- this version is required
...
6 |     machine_image_url: http://ubuntu-jammy-plain-rke2-1-26-9.os-images.svc.cluster.local:8080/ubuntu-jammy-plain-rke2-1.26.9.qcow2
  |                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ only the image's name says `1.26.9`
  |
  = cluster: site, pool control-plane
  = help: select the image by `image_key`, so that its facts are known

1 warning in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
    stage.edit("site.yaml", "8080/ubuntu-jammy", "8080/another-jammy");
    stage.edit("site.yaml", "ffdc81fc", "00000000");
    let unused = print(&stage.run("check"));
    assert!(unused.contains("[image-unused]"), "{unused}");
}

/// An Elemental cluster without an image gets its own provider's key.
#[test]
fn help_names_the_key_of_the_cluster_s_own_provider() {
    let cluster = |infra: &str| {
        let values = "cluster: {k8s_version: v1.31.8+rke2r1, capi_providers: {infra_provider: INFRA, bootstrap_provider: cabpr}, control_plane_replicas: 1}\n";
        let project = project().cluster("site", &values.replace("INFRA", infra));
        print(&project.run("check").exit(1))
    };
    assert!(cluster("elemental").contains("`cluster.elemental.image_key: …`"));
    assert!(cluster("capv").contains("`cluster.capv.image_key: …`"));
}

/// Of a choice that selects no bundle, or one that says nothing of itself, it is not known what it installs.
#[test]
fn a_choice_of_a_bundle_that_nobody_knows_is_no_cluster_as_before() {
    let mut text = String::new();
    for (what, edits, from, to) in [
        (
            "a selector that selects none",
            &[(
                "component_bundle_selector: {} ",
                "component_bundle_selector: {k8s-version: 1.30.1} ",
            )][..],
            "1.30.1}",
            "1.30.2}",
        ),
        (
            "bundles that say nothing",
            &[
                (
                    "    uri: oci://registry.example.org/components/rke2:v1.31.8-1\n",
                    "",
                ),
                (
                    "    uri: oci://registry.example.org/components/rke2:v1.32.4-1\n",
                    "",
                ),
                (
                    "component_bundle_selector: {} ",
                    "component_bundle_key: rke2-1-31-8 ",
                ),
            ],
            "component_bundle_key: rke2-1-31-8",
            "component_bundle_key: rke2-1-32-4",
        ),
    ] {
        let stage = project().folder("fixtures/workspaces/elemental");
        for (from, to) in edits {
            stage.edit("values.yaml", from, to);
        }
        let Some(stage) = stage.commit("before") else {
            return;
        };
        stage.edit("values.yaml", from, to);
        let run = stage.run("impact --against HEAD").outcome.stdout;
        let lines = run.lines().filter(|line| {
            line.contains("component bundle")
                || line.contains("component_bundle")
                || line.contains("as before")
        });
        text += &format!("# {what}\n{}\n", lines.collect::<Vec<_>>().join("\n"));
    }
    assert_text(
        &text,
        str![[r#"
# a selector that selects none
                   values cluster.elemental.component_bundle_selector.k8s-version  1.30.1 → 1.30.2
not known of 1 whole cluster, 1 cluster as before
# bundles that say nothing
                   component bundle control-plane  rke2-1-31-8 → rke2-1-32-4
                   component bundle md0  rke2-1-31-8 → rke2-1-32-4
no machine is re-provisioned, 1 cluster as before

"#]],
    );
}

/// rancher/elemental#990: bundles are updated for themselves. Under one key, and by the lock alone too, machines to come get other files.
#[test]
fn another_component_bundle_is_no_cluster_as_before() {
    let stage = project().folder("fixtures/workspaces/elemental");
    let Some(stage) = stage.commit("before") else {
        return;
    };
    let before = stage.texts();
    let mut text = String::new();
    let mut note = |what: &str, file: &str, from: &str, to: &str| {
        stage.edit(file, from, to);
        let run = stage.run("impact --against HEAD").outcome.stdout;
        let lines = run.lines().filter(|line| {
            ["component", "in place", "as before"]
                .iter()
                .any(|word| line.contains(word))
        });
        text += &format!("# {what}\n{}\n", lines.collect::<Vec<_>>().join("\n"));
        for (path, own) in &before {
            stage.write(path, own);
        }
    };
    note(
        "another tag",
        "values.yaml",
        "uri: oci://registry.example.org/components/rke2:v1.31.8-1",
        "k8s_version: v1.31.8+rke2r1\n    uri: oci://registry.example.org/components/rke2:v1.31.8-2",
    );
    note(
        "another digest in the lock",
        "metalmark.lock",
        "b2a67ca0d381",
        "c2a67ca0d381",
    );
    note(
        "another key of the same bundle",
        "values.yaml",
        "component_bundle_selector: {} ",
        "component_bundle_key: rke2-1-31-8 ",
    );
    note(
        "no bundle",
        "values.yaml",
        "    component_bundle_selector: {} ",
        "    #",
    );
    note(
        "another Kubernetes version",
        "values.yaml",
        "  k8s_version: v1.31.8+rke2r1\n  capi",
        "  k8s_version: v1.32.4+rke2r1\n  capi",
    );
    assert_text(
        &text,
        str![[r#"
# another tag
  whole cluster  in place: existing machines stay as they are, later ones differ
                   component bundle control-plane  oci://registry.example.org/components/rke2:v1.31.8-1 → oci://registry.example.org/components/rke2:v1.31.8-2
                   component bundle md0  oci://registry.example.org/components/rke2:v1.31.8-1 → oci://registry.example.org/components/rke2:v1.31.8-2
no machine is re-provisioned, 1 cluster as before
# another digest in the lock
  whole cluster  in place: existing machines stay as they are, later ones differ
                   component bundle control-plane  sha256:b2a67ca0d381df721e7e0b0d3ad83eba17ff0a681589840447dbb498efb088c0 → sha256:c2a67ca0d381df721e7e0b0d3ad83eba17ff0a681589840447dbb498efb088c0
                   component bundle md0  sha256:b2a67ca0d381df721e7e0b0d3ad83eba17ff0a681589840447dbb498efb088c0 → sha256:c2a67ca0d381df721e7e0b0d3ad83eba17ff0a681589840447dbb498efb088c0
no machine is re-provisioned, 1 cluster as before
# another key of the same bundle
no machine is re-provisioned, 2 clusters as before
# no bundle
  whole cluster  in place: existing machines stay as they are, later ones differ
                   component bundle control-plane  rke2-1-31-8 → none
                   component bundle md0  rke2-1-31-8 → none
no machine is re-provisioned, 1 cluster as before
# another Kubernetes version
  whole cluster  in place: existing machines stay as they are, later ones differ
                   component bundle control-plane  rke2-1-31-8 → rke2-1-32-4
                   component bundle md0  rke2-1-31-8 → rke2-1-32-4
4 machines in 1 cluster re-provisioned, 1 cluster as before

"#]],
    );
}

/// What neither side's catalog has is not known to be the same.
#[test]
fn another_key_of_a_bundle_that_nobody_knows_is_said() {
    let stage = project().folder("fixtures/workspaces/elemental");
    stage.edit(
        "values.yaml",
        "component_bundle_selector: {} ",
        "component_bundle_key: one ",
    );
    let Some(stage) = stage.commit("before") else {
        return;
    };
    stage.edit(
        "values.yaml",
        "component_bundle_key: one ",
        "component_bundle_key: other ",
    );
    let run = stage.run("impact --against HEAD").outcome.stdout;
    assert!(run.contains("component_bundle_key"), "{run}");
}

/// Sylva's proposal: values of a deployment that select images, and say nothing else yet.
#[test]
fn init_finds_the_cluster_of_values_that_select_an_image() {
    let stage = project().files(&[
        ("values.yaml", "sylva_diskimagebuilder_version: 0.1.1\ndiskimage_builder_os_images: {ubuntu-jammy-plain-rke2-1.26.9: {}}\n"),
        ("site.yaml", "cluster:\n  capm3:\n    os_image_key: ubuntu-jammy-plain-rke2-1.26.9\n"),
    ]);
    let screen = print(&stage.run("init").exit(0));
    assert!(screen.contains("found 1 cluster"), "{screen}");
    let screen = print(&stage.run("check").exit(1));
    assert!(
        screen.contains("`cluster.k8s_version` is not set"),
        "{screen}"
    );
    // Its catalog is beside it.
    assert!(!screen.contains("unknown-image"), "{screen}");
}

/// rancher/elemental#1011 asks which interface: a word that nobody reads would leave the first one.
#[test]
fn a_misspelled_key_of_the_endpoint_is_an_error() {
    let values = "\
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: elemental, bootstrap_provider: cabpr}
  control_plane_replicas: 1
  elemental: {image_key: sle, selector: {matchLabels: {role: cp}}}
  inventory: {a: {labels: {role: cp}, addresses: {internal: 192.0.2.11, public: 203.0.113.11}}}
  control_plane_endpoint: {ENDPOINT}
os_images: {sle: {uri: 'oci://registry.example.org/sle:1', image-format: container, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1}}
";
    assert_cases(
        str![[r#"
host: {address2: public}
    error[value-type]: `cluster.control_plane_endpoint.host` has no key `address2`
    = help: did you mean `address`?
host: {address: public}
explicit: {hots: api.example.org}
    error[value-type]: `cluster.control_plane_endpoint.explicit` has no key `hots`
    = help: did you mean `host`?
explicit: {host: api.example.org, protocol: tcp}
    error[value-type]: `cluster.control_plane_endpoint.explicit` has no key `protocol`
    = help: it has `host`, `port`
ports: 6443
    error[value-type]: `cluster.control_plane_endpoint` has no key `ports`
    = help: did you mean `port`?
vpi: 192.0.2.10
    error[value-type]: `cluster.control_plane_endpoint` has no key `vpi`
    = help: did you mean `vip`?

"#]],
        |endpoint| {
            let stage = project().cluster("site", &values.replace("ENDPOINT", endpoint));
            let brief = print(&stage.run("check"));
            let lines = brief.lines().filter(|line| {
                line.contains("no key")
                    || line.contains("did you mean")
                    || line.contains("it has `")
            });
            lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
        },
    );
}
