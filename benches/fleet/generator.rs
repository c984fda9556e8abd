//! The fleet: values files of the size and shape that platform teams keep, the same on every machine.
//!
//! About 5 KB a cluster, no to five machine deployments, 60 images; 60 % of the clusters choose by key, the others by selector.
//! On request some ask for a Kubernetes version that no image holds.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const RELEASES: [(&str, &str, &str); 3] = [
    ("ubuntu", "noble", "noble"),
    ("ubuntu", "jammy", "jammy"),
    ("opensuse", "15-6", "15.6"),
];
const VERSIONS: [&str; 5] = ["1.28.15", "1.29.15", "1.30.12", "1.31.8", "1.32.4"];

/// A small deterministic generator; the same fleet on every machine.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }
}

/// An image of the catalog with the facts that selectors ask for.
#[derive(Clone)]
pub(super) struct BuiltImage {
    pub(super) name: String,
    pub(super) os: &'static str,
    pub(super) release: &'static str,
    pub(super) is_hardened: bool,
    pub(super) flavor: &'static str,
    /// As annotated, RKE2's build part included.
    pub(super) version: String,
}

/// Three OS releases, plain and hardened, two flavors, five versions.
pub(super) fn images() -> Vec<BuiltImage> {
    let mut images = Vec::new();
    for (os, slug, release) in RELEASES {
        for is_hardened in [false, true] {
            for flavor in ["rke2", "kubeadm"] {
                for version in VERSIONS {
                    let kind = if is_hardened { "hardened" } else { "plain" };
                    let name = format!("{os}-{slug}-{kind}-{flavor}-{}", version.replace('.', "-"));
                    let version = match flavor {
                        "rke2" => format!("{version}+rke2r1"),
                        _ => version.to_owned(),
                    };
                    images.push(BuiltImage {
                        name,
                        os,
                        release,
                        is_hardened,
                        flavor,
                        version,
                    });
                }
            }
        }
    }
    images
}

/// For the commands that take no flags; those that do leave it alone.
const PROJECT: &str = "\
version: 1
values: [values.yaml]
clusters: [{each: clusters/*/values.yaml}]
images: {facts: [os-images-info.yaml], url: 'https://os-images.example.org/{{ image.filename }}'}
outputs: [{target: manifests, path: out}]
";

/// Writes a fleet into a folder: project file, shared values, image facts, a values file a cluster. Of each hundred
/// clusters, `mismatched` ask for a Kubernetes version that no image holds.
pub(super) fn write_fleet(folder: &Path, clusters: usize, mismatched: usize) {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let images = images();
    fs::write(folder.join("values.yaml"), shared(&images)).expect("written");
    fs::write(folder.join("os-images-info.yaml"), info(&images)).expect("written");
    fs::write(folder.join("metalmark.yaml"), PROJECT).expect("written");
    for number in 0..clusters {
        let cluster = folder.join(format!("clusters/site-{number:05}"));
        fs::create_dir_all(&cluster).expect("created");
        fs::write(
            cluster.join("values.yaml"),
            cluster_values(number, mismatched, &mut dice),
        )
        .expect("written");
    }
}

/// What all clusters share.
pub(super) fn shared(images: &[BuiltImage]) -> String {
    let mut text = String::from(
        "os_images_oci_registries:\n  sylva:\n    url: oci://registry.example.org/diskimage-builder\n    tag: 0.4.12\n    \
         cosign_publickey: \"\"\nsylva_diskimagebuilder_version: 0.4.12\nsylva_diskimagebuilder_images:\n",
    );
    for BuiltImage { name, .. } in images {
        let _ = write!(text, "  {name}:\n    os_images_oci_registry: sylva\n");
    }
    text.push_str("cluster:\n  capi_providers:\n    infra_provider: capm3\n  capm3:\n    machine_image_checksum_type: sha256\n");
    text
}

/// The images' facts.
pub(super) fn info(images: &[BuiltImage]) -> String {
    let mut text = String::from("os_images:\n");
    for (index, image) in images.iter().enumerate() {
        let BuiltImage {
            name,
            os,
            release,
            is_hardened,
            flavor,
            version,
        } = image;
        let _ = write!(
            text,
            "  {name}:\n    os: {os}\n    os-release: \"{release}\"\n    hardened: \"{is_hardened}\"\n    k8s-flavor: {flavor}\n    \
             k8s-version: {version}\n    commit-tag: 0.4.12\n    image-format: raw\n    compression: gz\n    \
             filename: {name}-0.4.12.raw\n    size: \"22000000000\"\n    archive-size: \"2067967998\"\n    sha256: \"{index:064x}\"\n"
        );
    }
    text
}

/// One cluster's own values.
pub(super) fn cluster_values(number: usize, mismatched: usize, dice: &mut Dice) -> String {
    let flavor = if dice.percent(70) { "rke2" } else { "kubeadm" };
    let version = VERSIONS[dice.below(5) as usize];
    let asked = if number % 100 < mismatched {
        "1.27.1"
    } else {
        version
    };
    let (provider, full) = if flavor == "rke2" {
        ("cabpr", format!("v{asked}+rke2r1"))
    } else {
        ("cabpk", format!("v{asked}"))
    };
    let mut image = |dice: &mut Dice| {
        let (os, slug, _) = RELEASES[dice.below(3) as usize];
        let kind = if dice.percent(50) {
            "hardened"
        } else {
            "plain"
        };
        format!("{os}-{slug}-{kind}-{flavor}-{}", version.replace('.', "-"))
    };
    let by_key = dice.percent(60);
    let choice = if by_key {
        format!("    image_key: {}\n", image(dice))
    } else {
        let (os, _, release) = RELEASES[dice.below(3) as usize];
        format!(
            "    os_image_selector:\n      os: {os}\n      os-release: \"{release}\"\n      hardened: {}\n",
            dice.percent(50)
        )
    };
    let own = |dice: &mut Dice, indent: &str, image: &mut dyn FnMut(&mut Dice) -> String| {
        if by_key {
            format!("{indent}image_key: {}\n", image(dice))
        } else {
            format!(
                "{indent}os_image_selector:\n{indent}  hardened: {}\n",
                dice.percent(50)
            )
        }
    };
    let mut text = format!(
        "cluster_virtual_ip: 10.{}.{}.10\ncluster:\n  name: site-{number:05}\n  k8s_version: {full}\n  capi_providers:\n    \
         bootstrap_provider: {provider}\n  control_plane_replicas: 3\n  capm3:\n{choice}",
        number / 250 % 250,
        number % 250
    );
    text.push_str(&networks("    ", number));
    text.push_str("    dns_servers:\n      - 192.0.2.53\n      - 198.51.100.53\n  control_plane:\n    capm3:\n");
    if dice.percent(30) {
        text.push_str(&own(dice, "      ", &mut image));
    }
    text.push_str(
        "      hostSelector:\n        matchLabels:\n          cluster-role: control-plane\n",
    );
    text.push_str(&interfaces("    "));
    let deployments = dice.below(6);
    if deployments > 0 {
        text.push_str("  machine_deployments:\n");
    }
    for index in 0..deployments {
        let _ = write!(
            text,
            "    md{index}:\n      replicas: {}\n      capm3:\n",
            1 + dice.below(20)
        );
        if dice.percent(40) {
            text.push_str(&own(dice, "        ", &mut image));
        }
        let _ = write!(
            text,
            "        hostSelector:\n          matchLabels:\n            cluster-role: worker-{index}\n"
        );
    }
    text.push_str("  baremetal_hosts:\n");
    let mut host = 0;
    while text.len() < 4700 {
        host += 1;
        let _ = write!(
            text,
            "    server-{host}:\n      bmh_metadata:\n        labels:\n          cluster-role: control-plane\n      bmh_spec:\n        \
             description: rack {} unit {host}\n        online: true\n        bootMode: UEFI\n        bmc:\n          \
             address: redfish-virtualmedia://192.0.2.{host}/redfish/v1/Systems/1\n          disableCertificateVerification: true\n        \
             bootMACAddress: 52:54:00:{:02x}:{:02x}:{host:02x}\n        rootDeviceHints:\n          deviceName: /dev/sda\n",
            number % 40,
            number / 256 % 256,
            number % 256
        );
    }
    text
}

fn networks(indent: &str, number: usize) -> String {
    format!(
        "{indent}networks:\n{indent}  primary:\n{indent}    subnet: 10.188.{0}.128/26\n{indent}    gateway: 10.188.{0}.129\n\
         {indent}    start: 10.188.{0}.148\n{indent}    end: 10.188.{0}.158\n{indent}  provisioning:\n{indent}    subnet: 10.199.{0}.192/27\n\
         {indent}    start: 10.199.{0}.200\n{indent}    end: 10.199.{0}.219\n",
        number % 250
    )
}

fn interfaces(indent: &str) -> String {
    let mut text = format!(
        "{indent}network_interfaces:\n{indent}  bond0:\n{indent}    type: bond\n{indent}    interfaces:\n"
    );
    for name in ["ens1f0", "ens1f1"] {
        let _ = writeln!(text, "{indent}      - {name}");
    }
    let _ = write!(text, "{indent}    vlans:\n{indent}      - id: 13\n");
    for name in ["ens1f0", "ens1f1"] {
        let _ = write!(text, "{indent}  {name}:\n{indent}    type: phy\n");
    }
    text
}
