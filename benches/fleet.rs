//! The whole tool on a fleet, beside a good script: `cargo bench --bench fleet -- [CLUSTERS …]`.
//!
//! Writes a deterministic fleet into a scratch folder (values files of about 5 KB a cluster, 0 to 5 machine deployments,
//! 60 images, 60 % choose by key and 40 % by selector), runs the release binary on it as a user would, and prints CPU
//! time (mean), wall time from start to exit (median) and peak memory of five runs: of forty below a hundred clusters, of
//! one from ten thousand on.
//! The peer runs where `python3` has PyYAML over libyaml. `SYLVA_CORE=FOLDER`, a checkout of sylva-core, adds the check of
//! one cluster of the real chart's values.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its table"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

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
        sizes = vec![1, 10, 100, 1000, 10_000];
    }
    println!("| clusters | what is run | CPU s | CPU ms per cluster | wall s | peak MiB |");
    println!("|--:|---|--:|--:|--:|--:|");
    let has_peer = has_peer();
    for clusters in sizes {
        let folder = tempfile::tempdir().expect("a scratch folder");
        write_fleet(folder.path(), clusters);
        let run = |name: &str, make: &dyn Fn() -> Command, fresh: Option<&str>| {
            let fresh = fresh.map(|out| folder.path().join(out));
            row(
                name,
                clusters,
                &measured(make, fresh.as_deref(), 0, runs(clusters)),
            );
        };
        run("`render`", &|| render(folder.path(), &[]), Some("out"));
        run(
            "`render --check`",
            &|| render(folder.path(), &["--check"]),
            None,
        );
        run(
            "`cmp generate`, one cluster",
            &|| generate(folder.path()),
            None,
        );
        if has_peer {
            run("Python, libyaml", &|| peer(folder.path()), Some("peer"));
        }
    }
    if let Some(checkout) = std::env::var_os("SYLVA_CORE") {
        let make = || sylva(Path::new(&checkout));
        row(
            "`check`, sylva-core's values",
            1,
            &measured(&make, None, 1, runs(1)),
        );
    }
}

fn runs(clusters: usize) -> usize {
    match clusters {
        // The kernel counts CPU time in hundredths of a second.
        0..100 => 40,
        100..10_000 => 5,
        _ => 1,
    }
}

/// The tool as a user of flags starts it.
fn render(folder: &Path, extra: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metalmark"));
    command.current_dir(folder).args([
        "render",
        "--values",
        "values.yaml",
        "--clusters",
        "clusters/*/values.yaml",
        "--info",
        "os-images-info.yaml",
        "--target",
        "manifests",
        "--image-url",
        "https://os-images.example.org/{{ image.filename }}",
        "--out",
        "out",
    ]);
    command.args(extra);
    command
}

/// One cluster as Argo CD asks for it.
fn generate(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metalmark"));
    command
        .current_dir(folder)
        .args(["cmp", "generate"])
        .env("ARGOCD_APP_NAME", "site-00000")
        .env("ARGOCD_APP_SOURCE_PATH", ".")
        .env("ARGOCD_ENV_FROZEN", "false");
    command
}

/// The same job by `benches/peers/baseline.py`.
fn peer(folder: &Path) -> Command {
    let mut command = Command::new("python3");
    command
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/benches/peers/baseline.py"
        ))
        .args([folder, &folder.join("peer")]);
    command
}

fn has_peer() -> bool {
    let found = Command::new("python3")
        .args(["-c", "from yaml import CSafeLoader"])
        .stderr(Stdio::null())
        .status();
    let has = found.is_ok_and(|status| status.success());
    if !has {
        eprintln!("no peer: python3 has no PyYAML over libyaml");
    }
    has
}

/// One cluster of the real chart. Its images have no facts, so that findings stand.
fn sylva(checkout: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metalmark"));
    command.current_dir(checkout).arg("check");
    for layer in [
        "charts/sylva-units/values.yaml",
        "charts/sylva-units/management.values.yaml",
        "environment-values/rke2-capm3/secrets.yaml",
    ] {
        command.args(["--values", layer]);
    }
    command.args(["--clusters", "environment-values/rke2-capm3/values.yaml"]);
    command.stderr(Stdio::null());
    command
}

/// What the runs of one command came to: mean CPU time, median wall time, the highest peak.
struct Figures {
    cpu: f64,
    wall: f64,
    peak: f64,
}

/// Runs a command that exits with `status`. `fresh` names a folder that is removed before each run.
fn measured(make: &dyn Fn() -> Command, fresh: Option<&Path>, status: i32, runs: usize) -> Figures {
    let (mut cpu, mut wall, mut peak) = (0.0, Vec::new(), 0_f64);
    for _ in 0..runs {
        if let Some(folder) = fresh {
            // The first run has nothing to remove.
            let _ = fs::remove_dir_all(folder);
        }
        let (before, started) = (children_cpu(), Instant::now());
        let mut child = make()
            .stdout(Stdio::null())
            .spawn()
            .expect("the program starts");
        let process = child.id();
        let watch = thread::spawn(move || peak_memory(process));
        let ended = child.wait().expect("the program ends");
        wall.push(started.elapsed().as_secs_f64());
        cpu += children_cpu() - before;
        peak = peak.max(watch.join().expect("the watch ends"));
        assert_eq!(ended.code(), Some(status), "the fleet has no fault");
    }
    Figures {
        cpu: cpu / runs as f64,
        wall: median(wall),
        peak,
    }
}

fn row(name: &str, clusters: usize, figures: &Figures) {
    println!(
        "| {clusters} | {name} | {:.3} | {:.2} | {:.3} | {:.0} |",
        figures.cpu,
        figures.cpu * 1000.0 / clusters as f64,
        figures.wall,
        figures.peak
    );
}

/// The highest resident set of a process in MiB, looked at until it ends (proc(5), `VmHWM`).
fn peak_memory(process: u32) -> f64 {
    let mut peak = 0;
    loop {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let Some(kibibytes) = line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        else {
            return f64::from(peak) / 1024.0;
        };
        peak = kibibytes;
        thread::sleep(Duration::from_millis(2));
    }
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

/// For the commands that take no flags; those that do leave it alone.
const PROJECT: &str = "\
version: 1
values: [values.yaml]
clusters: [{each: clusters/*/values.yaml}]
images: {facts: [os-images-info.yaml], url: 'https://os-images.example.org/{{ image.filename }}'}
outputs: [{target: manifests, path: out}]
";

fn write_fleet(folder: &Path, clusters: usize) {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let images = images();
    fs::write(folder.join("values.yaml"), shared(&images)).expect("written");
    fs::write(folder.join("os-images-info.yaml"), info(&images)).expect("written");
    fs::write(folder.join("metalmark.yaml"), PROJECT).expect("written");
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
