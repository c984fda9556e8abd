//! The whole tool on a fleet: `cargo bench --bench fleet -- [CLUSTERS …]`.
//!
//! Writes a deterministic fleet into a scratch folder (values files of about 5 KB a cluster, 0 to 5 machine deployments,
//! 60 images, 60 % choose by key and 40 % by selector), runs the release binary on it as a user would, and prints CPU
//! seconds, CPU milliseconds a cluster and wall time, the median of five runs.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const RUNS: usize = 5;
const RELEASES: [(&str, &str, &str); 3] = [
    ("ubuntu", "noble", "noble"),
    ("ubuntu", "jammy", "jammy"),
    ("opensuse", "15-6", "15.6"),
];
const VERSIONS: [&str; 5] = ["1.28.15", "1.29.15", "1.30.12", "1.31.8", "1.32.4"];

fn main() {
    let mut sizes: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    if sizes.is_empty() {
        sizes = vec![10, 100, 1000];
    }
    println!("| clusters | command | CPU s | CPU ms per cluster | wall s |");
    println!("|--:|---|--:|--:|--:|");
    for clusters in sizes {
        let folder = tempfile::tempdir().expect("a scratch folder");
        write_fleet(folder.path(), clusters);
        measure(folder.path(), clusters, "render", &[], true);
        measure(
            folder.path(),
            clusters,
            "render --check",
            &["--check"],
            false,
        );
    }
}

/// Runs the tool and prints a row. `fresh` removes the output before each run.
fn measure(folder: &Path, clusters: usize, name: &str, extra: &[&str], fresh: bool) {
    let mut cpu = Vec::new();
    let mut wall = Vec::new();
    for _ in 0..RUNS {
        if fresh {
            // The first run has nothing to remove.
            let _ = fs::remove_dir_all(folder.join("out"));
        }
        let (before, started) = (children_cpu(), Instant::now());
        let status = Command::new(env!("CARGO_BIN_EXE_metalmark"))
            .current_dir(folder)
            .args([
                "render",
                "--values",
                "values.yaml",
                "--clusters",
                "clusters/*/values.yaml",
                "--info",
                "os-images-info.yaml",
            ])
            .args([
                "--target",
                "manifests",
                "--image-url",
                "https://os-images.example.org/{{ image.filename }}",
                "--out",
                "out",
            ])
            .args(extra)
            .stdout(Stdio::null())
            .status()
            .expect("the binary starts");
        assert!(status.success(), "the fleet has no fault: {status}");
        wall.push(started.elapsed().as_secs_f64());
        cpu.push(children_cpu() - before);
    }
    let (cpu, wall) = (median(cpu), median(wall));
    println!(
        "| {clusters} | `{name}` | {cpu:.2} | {:.3} | {wall:.2} |",
        cpu * 1000.0 / clusters as f64
    );
}

/// CPU seconds of all finished children, from the kernel's own accounting (proc(5), `cutime` and `cstime`).
fn children_cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("proc is mounted");
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .expect("a name in parentheses")
        .split_whitespace()
        .collect();
    let ticks: f64 = fields[13..15]
        .iter()
        .map(|field| field.parse::<f64>().expect("a number"))
        .sum();
    ticks / 100.0
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// A small deterministic generator; the same fleet on every machine.
struct Dice(u64);

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

/// The images: name, os, release, hardened, flavour, version as annotated.
fn images() -> Vec<(
    String,
    &'static str,
    &'static str,
    bool,
    &'static str,
    String,
)> {
    let mut images = Vec::new();
    for (os, slug, release) in RELEASES {
        for hardened in [false, true] {
            for flavor in ["rke2", "kubeadm"] {
                for version in VERSIONS {
                    let kind = if hardened { "hardened" } else { "plain" };
                    let name = format!("{os}-{slug}-{kind}-{flavor}-{}", version.replace('.', "-"));
                    let full = if flavor == "rke2" {
                        format!("{version}+rke2r1")
                    } else {
                        version.to_owned()
                    };
                    images.push((name, os, release, hardened, flavor, full));
                }
            }
        }
    }
    images
}

fn write_fleet(folder: &Path, clusters: usize) {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let images = images();
    fs::write(folder.join("values.yaml"), shared(&images)).expect("written");
    fs::write(folder.join("os-images-info.yaml"), info(&images)).expect("written");
    for number in 0..clusters {
        let cluster = folder.join(format!("clusters/site-{number:05}"));
        fs::create_dir_all(&cluster).expect("created");
        fs::write(cluster.join("values.yaml"), values(number, &mut dice)).expect("written");
    }
}

fn shared(images: &[(String, &str, &str, bool, &str, String)]) -> String {
    let mut text = String::from(
        "os_images_oci_registries:\n  sylva:\n    url: oci://registry.example.org/diskimage-builder\n    tag: 0.4.12\n    \
         cosign_publickey: \"\"\nsylva_diskimagebuilder_version: 0.4.12\nsylva_diskimagebuilder_images:\n",
    );
    for (name, ..) in images {
        let _ = write!(text, "  {name}:\n    os_images_oci_registry: sylva\n");
    }
    text.push_str("cluster:\n  capi_providers:\n    infra_provider: capm3\n  capm3:\n    machine_image_checksum_type: sha256\n");
    text
}

fn info(images: &[(String, &str, &str, bool, &str, String)]) -> String {
    let mut text = String::from("os_images:\n");
    for (index, (name, os, release, hardened, flavor, version)) in images.iter().enumerate() {
        let _ = write!(
            text,
            "  {name}:\n    os: {os}\n    os-release: \"{release}\"\n    hardened: \"{hardened}\"\n    k8s-flavor: {flavor}\n    \
             k8s-version: {version}\n    commit-tag: 0.4.12\n    image-format: raw\n    compression: gz\n    \
             filename: {name}-0.4.12.raw\n    size: \"22000000000\"\n    archive-size: \"2067967998\"\n    sha256: \"{index:064x}\"\n"
        );
    }
    text
}

fn values(number: usize, dice: &mut Dice) -> String {
    let flavor = if dice.percent(70) { "rke2" } else { "kubeadm" };
    let version = VERSIONS[dice.below(5) as usize];
    let (provider, full) = if flavor == "rke2" {
        ("cabpr", format!("v{version}+rke2r1"))
    } else {
        ("cabpk", format!("v{version}"))
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
