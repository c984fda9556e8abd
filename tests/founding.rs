//! The wishes that the project was founded on, each with a command that shows it: docs/founding.md is made of what they print.
//!
//! `BLESS=1 cargo i founding` writes the page.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::support::golden;
use super::support::repository;
use super::support::stage::{Stage, project};

/// A wish of an author, and how it is met.
struct Wish {
    /// In his words, as far as they are few.
    wish: &'static str,
    stage: fn() -> Stage,
    /// What is run.
    command: &'static str,
    status: i32,
    /// What the line begins with, or has, that shows it.
    shows: &'static str,
    /// Why it is otherwise on purpose; empty where it is as the author wished.
    otherwise: &'static str,
}

/// A wish that is met as it was wished.
const fn wish(
    wish: &'static str,
    stage: fn() -> Stage,
    command: &'static str,
    status: i32,
    shows: &'static str,
) -> Wish {
    Wish {
        wish,
        stage,
        command,
        status,
        shows,
        otherwise: "",
    }
}

impl Wish {
    const fn otherwise(self, otherwise: &'static str) -> Self {
        Self { otherwise, ..self }
    }

    /// The row of the page: the wish, the command, and the line that it prints.
    fn row(&self) -> String {
        let stage = (self.stage)();
        let args: Vec<&str> = self.command.split(' ').collect();
        let outcome = stage.run_args(&args).outcome;
        let screen = format!("{}{}", outcome.stdout, outcome.stderr);
        assert_eq!(outcome.status, self.status, "{}:\n{screen}", self.command);
        let mut lines = screen.lines().map(str::trim);
        let line = lines.find(|line| line.contains(self.shows));
        let line =
            line.unwrap_or_else(|| panic!("{}: no `{}` in\n{screen}", self.command, self.shows));
        let line: String = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let line: String = match line.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        };
        let code = |text: &str| format!("`` {} ``", text.replace('|', "\\|"));
        let line = code(&line);
        let how = match self.otherwise {
            "" => line,
            reason => format!("**otherwise**: {reason}; {line}"),
        };
        format!(
            "| {} | {} | {how} |\n",
            self.wish,
            code(&format!("metalmark {}", self.command))
        )
    }
}

/// How many characters of a line are on the page.
const LONGEST: usize = 110;

#[test]
fn each_founding_wish_is_met_or_otherwise_on_purpose() {
    let documents = [
        ("Sylva: simplify the settings of OS images", SYLVA),
        ("Cluster API: a unified image stamping utility", STAMPING),
        ("Elemental: components beside the OS image", COMPONENTS),
        ("RukPak: the plain+v0 bundle provisioner", RUKPAK),
        ("Elemental: controlPlaneEndpoint provisioning", ENDPOINT),
    ];
    let mut page = String::from(
        "# The wishes that metalmark was founded on\n\n\
         Five public issues said what people wished for before there was metalmark. Each wish is a row: the command that shows it on a small project, and the line\n\
         that it prints. A test runs them all and compares this page (`tests/founding.rs`). Where something is otherwise on purpose, the row says why.\n",
    );
    let mut count = 0;
    for (title, wishes) in documents {
        page += &format!("\n## {title}\n\n| wish | command | what it prints |\n|---|---|---|\n");
        for wish in wishes {
            page += &wish.row();
            count += 1;
        }
    }
    assert_eq!(count, 49, "no wish is lost");
    golden(&repository().join("docs/founding.md"), &page);
}

// The documents, in the order of their authors' sentences.

const SYLVA: &[Wish] = &[
    wish("`os_images` with uri, filename and checksum, as it was", old, "images", 0, "ubuntu-jammy-plain-rke2-1-26-9"),
    wish("`machine_image_url`, format and checksum of `capm3`", old, "clusters", 0, "control-plane"),
    wish("the catalog to the letter, with its name that occurs twice", proposal, "images", 0, "ubuntu-jammy-plain-kubeadm-1-26-9"),
    wish("one version of the builder makes all references", proposal, "images --output json", 0, "\"uri\": \"oci://"),
    wish("only what has `enabled: true` is prepared", proposal, "images", 0, "ubuntu-jammy-plain-rke2-1-25-15"),
    wish("an entry whose name has an expression", proposal, "images", 0, "opensuse-15-5-plain-rke2-1-26-9"),
    wish("`os_image_key`, where `{{ k8s_version }}` may be used", proposal, "clusters", 0, "md0"),
    wish("a different image for the control plane", proposal, "clusters", 0, "control-plane"),
    wish("`image` of the machine template out of `os_images_info`", proposal, "render --target manifests --out out --stdout", 0, "url: "),
    wish("`os_images_info` for `valuesFrom`", proposal, "render --target configmap --out out --stdout", 0, "name: os-images-info"),
    wish("no `k8s_version: X` with an image of version Y, where that is enforced", mismatched, "check", 1, "error[k8s-version-mismatch]"),
    wish("no checksums typed for OCI artifacts", unlocked, "lock", 0, "added"),
    wish("provenance: artifacts are signed, signatures verified", signed, "lock --upgrade", 1, "signature-"),
    wish("the checksum is given to the IPA itself", proposal, "render --target manifests --out out --stdout", 0, "checksum: "),
    wish("one path for all images, `…/image.qcow2`", proposal, "render --target manifests --out out --stdout", 0, "/image.qcow2"),
    wish("neither filename nor checksum among the values", proposal, "values site-a diskimage_builder_os_images", 0, "ubuntu-jammy-plain-rke2-1.26.9")
        .otherwise("the rendered `os_images_info` has both, as Sylva's own job writes it, since its charts read them"),
    wish("Renovate updates the version", renovated, "-C before update --from-renovate", 0, "OS images"),
    wish("not every image of the builder is downloaded", proposal, "images", 0, "ubuntu-jammy-plain-kubeadm-1-26-9"),
];

const STAMPING: &[Wish] = &[
    wish("one way to describe an image, for every provider", one_image, "images", 0, "ubuntu-noble-cis-kubeadm-1-34-1"),
    wish("names by which builders and users agree", one_image, "names ib-kube --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.34.1", 0, "kube-v1.34.1"),
    wish("where images are hosted, not tampered with, and cached", elemental, "verify", 0, "as locked"),
    wish("a patched OS on all machines, Kubernetes as it is", patched, "impact --against HEAD", 0, "re-provisioned"),
    wish("mix and match image, software and provider", providers, "clusters", 0, "capv"),
    wish("the OVA that installs, beside the node image", install, "check", 1, "error[install-image]"),
    wish("images are stamped", one_image, "explain ubuntu-noble-cis-kubeadm-1-34-1", 0, "image-builder")
        .otherwise("image-builder and others build images; metalmark reads what they leave, and proves, pins and rolls it"),
];

const COMPONENTS: &[Wish] = &[
    wish(
        "components decoupled from the base image",
        elemental,
        "render --stdout",
        0,
        "metalmark.dev/component-bundle",
    ),
    wish(
        "`componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1`",
        delivered,
        "render --stdout",
        0,
        "url='https://registry.suse.com",
    ),
    wish(
        "a base image without any Kubernetes",
        elemental,
        "clusters",
        0,
        "site-1",
    ),
    wish(
        "a tarball with `install.sh`, called with variables",
        components,
        "bundle inspect rke2",
        0,
        "requires",
    ),
    wish(
        "bundles for other distributions",
        wrong_distribution,
        "check",
        1,
        "error[component-mismatch]",
    ),
    wish(
        "custom bundles, used in the same way",
        components,
        "bundle pack --components rke2 --to oci-layout:out",
        0,
        "components bundle of",
    ),
    wish(
        "upgrades within those of Cluster API",
        raised,
        "impact --against HEAD",
        0,
        "component bundle control-plane",
    ),
    wish(
        "bundles are signed and verified",
        pushed,
        "bundle verify oci://registry.example.org/bundles/app:1.2 --key cosign.pub",
        1,
        "signature-",
    ),
];

const RUKPAK: &[Wish] = &[
    wish("the format, and what its tests packed", bundles, "bundle pack valid --to dir:out", 0, "plain+v0 bundle"),
    wish("order: definitions first", bundles, "bundle pack both --to dir:out", 1, "error[crd-order]"),
    wish("contents sharded across ConfigMaps", shards, "bundle pack large --to configmaps:out", 0, "plain+v0 bundle"),
    wish("images pinned by their sha instead of tags", pushed, "bundle pull oci://registry.example.org/bundles/app:1.2 out", 1, "error[bundle-unpinned]"),
    wish("objects that lack a namespace", bundles, "bundle inspect homeless", 0, "warning[namespace-missing]"),
    wish("nested bundles, several sources, dependencies", bundles, "bundle pack index:bundles.yaml --order names --to dir:out", 0, "plain+v0 bundle"),
    wish("off-cluster", bundles, "bundle unpack valid --to out", 0, "plain+v0 bundle"),
    wish("an OLM-based provisioner", bundles, "bundle inspect olm", 1, "error[bundle-unsupported]")
        .otherwise("OLM decides in the cluster what it installs; a `ClusterExtension` in git installs the same version ([table](bundles.md#what-rukpak-did-in-a-cluster))"),
    wish("retries, authorization of contents, a kubectl plugin", pushed, "bundle pull oci://registry.example.org/bundles/app:1.2 out --allow-tag --key cosign.pub", 1, "error[signature-missing]")
        .otherwise("nothing is applied here: Flux and Argo CD retry, a merge request approves, and `--key` takes only what somebody signed ([table](bundles.md#what-rukpak-did-in-a-cluster))"),
];

const ENDPOINT: &[Wish] = &[
    wish(
        "a DNS name or an address that the user gives",
        explicit,
        "render --stdout",
        0,
        "host: api.example.org",
    ),
    wish(
        "the address of any of the 3 machines",
        any_host,
        "check",
        0,
        "warning[endpoint-single-host]",
    ),
    wish(
        "left blank, it is filled",
        blank,
        "render --stdout",
        0,
        "host: \"192.0.2.11\"",
    ),
    wish(
        "which interface, public or not",
        interface,
        "render --stdout",
        0,
        "host: \"203.0.113.12\"",
    ),
    wish(
        "kube-vip in ARP, BGP or WireGuard mode",
        kube_vip,
        "render --stdout",
        0,
        "vip_wireguard",
    ),
    wish(
        "learned from the ElementalHost",
        elemental_host,
        "render --stdout",
        0,
        "host: \"192.0.2.31\"",
    ),
    wish(
        "3 control plane nodes and 7 workers of 10 machines",
        three_and_seven,
        "check",
        1,
        "error[hosts-short]",
    ),
];

// What they run on.

fn fixture(name: &str) -> Stage {
    project().folder(&format!("fixtures/workspaces/{name}"))
}

fn proposal() -> Stage {
    fixture("proposal")
}

fn one_image() -> Stage {
    fixture("one-image")
}

fn providers() -> Stage {
    fixture("providers")
}

fn elemental() -> Stage {
    fixture("elemental")
}

fn kube_vip() -> Stage {
    fixture("endpoints-elemental")
}

/// After Renovate's edit, before the command that its preset runs.
fn renovated() -> Stage {
    let stage = project().folder("fixtures/update/locked");
    let edge = "before/clusters/edge-a.yaml";
    stage.edit(
        edge,
        "image_key: ubuntu-noble-plain-rke2-1-31-8 # chosen in spring",
        "os_image_selector: {os: ubuntu, hardened: false}",
    );
    stage.edit(
        edge,
        "'{{ .Values.k8s_version_map | dig \"1.31\" \"\" }}'",
        "v1.31.9+rke2r1",
    );
    let stage = stage.commit("Base").expect("git");
    stage.edit("before/values.yaml", "_version: 0.4.12", "_version: 0.4.13");
    stage
}

/// As the document shows what there is.
fn old() -> Stage {
    project().cluster(
        "site",
        "\
os_images:
  ubuntu-jammy-plain-rke2-1-26-9:
    uri: oci://registry.example.org/sylva-elements/diskimage-builder/ubuntu-jammy-plain-rke2-1.26.9:0.0.12
    filename: ubuntu-jammy-plain-rke2-1.26.9.qcow2
    checksum: ffdc81fcdc0104151aa792a508eefe0d47660b18683949edcd734b3a4f938f20
cluster:
  k8s_version: v1.26.9
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
  control_plane_replicas: 1
  capm3:
    machine_image_url: http://ubuntu-jammy-plain-rke2-1-26-9.os-images.svc.cluster.local:8080/ubuntu-jammy-plain-rke2-1.26.9.qcow2
    machine_image_format: qcow2
    machine_image_checksum: http://ubuntu-jammy-plain-rke2-1-26-9.os-images.svc.cluster.local:8080/ubuntu-jammy-plain-rke2-1.26.9.qcow2.sha256sum
    machine_image_checksum_type: sha256
",
    )
}

const CATALOG: [&str; 3] = [
    "noble-31 rke2 1.31.8+rke2r1",
    "noble-31-cve rke2 1.31.8+rke2r1",
    "noble-30 rke2 1.30.12+rke2r1",
];

fn edge(image: &str) -> Stage {
    let values = "cluster: {k8s_version: v1.31.8+rke2r1, control_plane_replicas: 3, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}, capm3: {image_key: IMAGE}}\n";
    project()
        .catalog(&CATALOG)
        .cluster("edge", &values.replace("IMAGE", image))
}

fn mismatched() -> Stage {
    edge("noble-30")
}

fn patched() -> Stage {
    let stage = edge("noble-31").commit("before").expect("git");
    stage.edit("edge.yaml", "noble-31", "noble-31-cve");
    stage
}

fn unlocked() -> Stage {
    let stage = elemental();
    stage.remove("metalmark.lock").remove("metalmark.evidence");
    stage
}

fn signed() -> Stage {
    let stage = elemental();
    let file = stage.read("metalmark.yaml");
    stage.write("metalmark.yaml", file + "policy: {signatures: required}\n");
    stage
}

fn install() -> Stage {
    project().cluster(
        "management",
        "\
os_images:
  node: {uri: 'https://images.example.org/ubuntu-2404-kube-v1.31.8.ova', image-format: ova, k8s-flavor: kubeadm, k8s-version: 1.31.8, locations.vsphere.template: node}
  install: {uri: 'https://images.example.org/install.ova', image-format: ova, k8s-version: 1.30.4}
cluster:
  k8s_version: v1.31.8
  capi_providers: {infra_provider: capv, bootstrap_provider: cabpk}
  capv: {image_key: node}
  install_image_key: install
",
    )
}

fn to_the_letter() -> Stage {
    project()
        .settings("images: {url: '{{ image.uri }}'}")
        .cluster(
            "site",
            "\
os_images: {sle: {uri: 'oci://registry.example.org/sle@sha256:31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8', image-format: container, k8s-flavor: none}}
cluster:
  k8s_version: v1.26.7+rke2r1
  capi_providers: {infra_provider: elemental, bootstrap_provider: cabpr}
  elemental: {image_key: sle, componentsBundle: 'registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1'}
",
        )
}

/// What `check` tells to do is done: the lock, of the registry's copy in a layout.
fn delivered() -> Stage {
    const MIRROR: &str = "registries: {mirrors: {registry.suse.com: 'oci-layout:layout'}}";
    let stage = components();
    stage.write("rke2/install.env", "CHANNEL=stable\nTYPE=server\n");
    stage.write("metalmark.yaml", format!("version: 1\nclusters: [{{name: site, values: [site.yaml]}}]\noutputs: [{{target: manifests, path: out}}]\n{MIRROR}\n"));
    stage.write(
        "site.yaml",
        "\
cluster:
  k8s_version: v1.26.7+rke2r1
  capi_providers: {infra_provider: elemental, bootstrap_provider: cabpr}
  elemental: {componentsBundle: 'registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1'}
",
    );
    let to = "oci-layout:layout:registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7_rke2r1";
    let _ = stage
        .run(&format!(
            "bundle pack --components rke2 --k8s-version 1.26.7+rke2r1 --to {to}"
        ))
        .exit(0);
    let refused = stage.run("check").exit(1).outcome.stdout;
    assert!(
        refused.contains("= help: run `metalmark lock`"),
        "{refused}"
    );
    let _ = stage.run("lock").exit(0);
    stage
}

fn wrong_distribution() -> Stage {
    let stage = to_the_letter();
    let sum = "31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8";
    let bundle = format!(
        "component_bundles: {{rke2: {{uri: 'https://images.example.org/rke2.tgz', sha256: {sum}, k8s_version: v1.26.7+rke2r1, distros: [ubuntu]}}}}\ncluster:"
    );
    let named =
        "componentsBundle: 'registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1'";
    stage
        .edit("site.yaml", "cluster:", &bundle)
        .edit("site.yaml", named, "component_bundle_key: rke2")
        .edit(
            "site.yaml",
            "k8s-flavor: none",
            "k8s-flavor: none, os: debian",
        );
    stage
}

fn raised() -> Stage {
    let stage = elemental().commit("before").expect("git");
    stage.edit(
        "values.yaml",
        "  k8s_version: v1.31.8+rke2r1\n  capi",
        "  k8s_version: v1.32.4+rke2r1\n  capi",
    );
    stage
}

fn components() -> Stage {
    let stage = project().files(&[
        ("rke2/install.sh", "#!/bin/sh\necho \"$TYPE ${CHANNEL}\"\n"),
        ("rke2/install.env", "CHANNEL=stable\nTYPE=\n"),
    ]);
    let installer = stage.path().join("rke2/install.sh");
    fs::set_permissions(installer, fs::Permissions::from_mode(0o755)).expect("permitted");
    stage
}

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n";

fn pushed() -> Stage {
    let stage = project()
        .settings("registries: {mirrors: {registry.example.org/bundles: oci-layout:layout}}")
        .file("app/manifests/app.yaml", NAMESPACE);
    let key = repository().join("fixtures/registry/cosign.pub");
    fs::copy(key, stage.path().join("cosign.pub")).expect("copied");
    let to = "oci-layout:layout:registry.example.org/bundles/app:1.2";
    let _ = stage.run(&format!("bundle pack app --to {to}")).exit(0);
    stage
}

fn bundles() -> Stage {
    const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: groups.example.org}\n\
        spec: {group: example.org, scope: Namespaced, names: {kind: Group, plural: groups}, versions: []}\n";
    const GROUP: &str =
        "apiVersion: example.org/v1\nkind: Group\nmetadata: {name: all, namespace: app}\n";
    project().files(&[
        ("valid/Dockerfile", "FROM scratch\nCOPY manifests /manifests\n"),
        ("valid/manifests/crds.yaml", DEFINITION),
        ("both/manifests/a.yaml", GROUP),
        ("both/manifests/b.yaml", DEFINITION),
        ("dependent/manifests/a.yaml", NAMESPACE),
        ("dependent/manifests/b.yaml", GROUP),
        ("homeless/manifests/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
        ("olm/manifests/web.clusterserviceversion.yaml", "kind: ClusterServiceVersion\n"),
        ("olm/metadata/annotations.yaml", "annotations: {}\n"),
        ("nested.yaml", "version: 1\nbundles: [{name: api, from: valid}]\n"),
        ("bundles.yaml", "version: 1\nbundles: [{name: app, from: dependent, requires: [api]}, {name: api, from: 'index:nested.yaml'}]\n"),
    ])
}

fn shards() -> Stage {
    let map = |name: &str| {
        let text = "x".repeat(700 << 10);
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: default}}\ndata: {{a: {text}}}\n"
        )
    };
    project().files(&[
        ("large/manifests/a.yaml", &map("a")),
        ("large/manifests/b.yaml", &map("b")),
    ])
}

/// Three labeled machines of ten, and what is said of the endpoint.
fn hosts(endpoint: &str, count: u32) -> Stage {
    let hosts = (1..=10).map(|number| {
        let role = if number <= count { "control-plane" } else { "worker" };
        format!("    host-{number:02}: {{labels: {{{role}: \"true\"}}, addresses: {{internal: 192.0.2.{}, public: 203.0.113.{}}}}}\n", number + 10, number + 11)
    });
    let hosts: String = hosts.collect();
    site(&format!("  inventory:\n{hosts}{endpoint}"))
}

fn site(more: &str) -> Stage {
    project()
        .settings("images: {url: '{{ image.uri }}'}\noutputs: [{target: manifests, path: out, infra-cluster: true}]")
        .cluster(
            "site",
            &format!(
                "\
os_images: {{sle: {{uri: 'oci://registry.example.org/sle@sha256:31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8', image-format: container, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1}}}}
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {{infra_provider: elemental, bootstrap_provider: cabpr}}
  control_plane_replicas: 3
  elemental: {{image_key: sle}}
  machine_deployment_default: {{elemental: {{selector: {{matchLabels: {{worker: \"true\"}}}}}}}}
  control_plane: {{elemental: {{selector: {{matchLabels: {{control-plane: \"true\"}}}}}}}}
  machine_deployments: {{md0: {{replicas: 6}}}}
{more}"
            ),
        )
}

fn explicit() -> Stage {
    hosts(
        "  control_plane_endpoint: {explicit: {host: api.example.org}}\n",
        3,
    )
}

fn any_host() -> Stage {
    hosts("  control_plane_endpoint: {host: {address: internal}}\n", 3)
}

fn blank() -> Stage {
    hosts("", 3)
}

fn interface() -> Stage {
    hosts("  control_plane_endpoint: {host: {address: public}}\n", 3)
}

fn three_and_seven() -> Stage {
    hosts("  control_plane_endpoint: {vip: 192.0.2.10}\n", 2)
}

fn elemental_host() -> Stage {
    let host = |number: u32| {
        let role = if number <= 3 {
            "control-plane"
        } else {
            "worker"
        };
        let address = number + 30;
        format!(
            "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: ElementalHost\nmetadata:\n  name: host-{number:02}\n  \
             labels: {{{role}: \"true\"}}\n  annotations: {{metalmark.dev/address.internal: 192.0.2.{address}}}\n---\n"
        )
    };
    let hosts: String = (1..=10).map(host).collect();
    let stage = site("").file("hosts.yaml", hosts);
    stage.edit("metalmark.yaml", "[site.yaml]", "[site.yaml, hosts.yaml]");
    stage
}
