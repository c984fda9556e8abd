//! A large fleet: the bytes of its page are counted.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Data, page};
use crate::support::rounds;
use crate::support::stage::project;

/// At most, compressed, for ten thousand clusters.
const WHOLE: u64 = 4 << 20;

/// Clusters in folders of regions, with no to three machine deployments, by key and by selector.
pub(super) fn write_fleet(folder: &Path, clusters: u64) {
    let mut shared = String::from("os_images:\n");
    for version in 0..12 {
        let (minor, patch) = (28 + version / 3, version % 3);
        let _ = write!(
            shared,
            "  noble-{minor}-{patch}:\n    uri: oci://registry.example.org/noble:1.{minor}.{patch}\n    k8s-version: 1.{minor}.{patch}\n    \
             k8s-flavor: kubeadm\n    os: ubuntu\n    os-release: noble\n    hardened: \"{}\"\n    commit-tag: 0.{patch}.1\n    \
             sha256: \"{version:064x}\"\n    image-format: raw\n    filename: noble-{minor}-{patch}.raw\n",
            patch == 0
        );
    }
    shared.push_str(
        "cluster:\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}\n",
    );
    fs::write(folder.join("shared.yaml"), shared).expect("written");
    let project = "version: 1\nvalues: [shared.yaml]\nclusters: [{each: 'sites/*/*/values.yaml'}]\n\
                   images: {url: 'https://images.example.org/{{ image.filename }}'}\n";
    fs::write(folder.join("metalmark.yaml"), project).expect("written");
    for number in 0..clusters {
        let (minor, patch) = (28 + number % 4, number / 4 % 3);
        let site = folder.join(format!("sites/region-{}/site-{number:05}", number % 7));
        fs::create_dir_all(&site).expect("created");
        // Lines before the settings, so that places differ as they do in files of people.
        let comments = "# a line of a person\n".repeat((number * number % 31) as usize);
        let selection = match number % 5 {
            0 => format!(
                "    os_image_selector: {{os: ubuntu, hardened: {}}}\n",
                patch == 0
            ),
            _ => format!("    image_key: noble-{minor}-{patch}\n"),
        };
        let mut values = format!(
            "{comments}cluster:\n  k8s_version: v1.{minor}.{patch}\n  control_plane_replicas: 3\n  capm3:\n{selection}"
        );
        for pool in 0..number % 4 {
            if pool == 0 {
                values.push_str("  machine_deployments:\n");
            }
            let _ = writeln!(values, "    md{pool}: {{replicas: {}}}", 1 + number % 9);
        }
        fs::write(site.join("values.yaml"), values).expect("written");
    }
}

/// 1,000 clusters and a tenth of the bytes, unless the long forms are run.
#[test]
fn ten_thousand_clusters_take_four_megabytes() {
    let clusters = rounds(1000, 10_000).min(10_000);
    let folder = project();
    write_fleet(folder.path(), clusters);
    let page = page(folder.path(), "");
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(page.as_bytes()).expect("memory takes it");
    let packed = packed.finish().expect("memory takes it").len() as u64;
    let most = WHOLE * clusters / 10_000;
    assert!(packed < most, "{packed} bytes of {most}");
    let data = Data::parse(&page);
    assert_eq!(data.rows("clusters").len() as u64, clusters);
    // What clusters share is stored once.
    assert!(
        data.rows("reasons").len() < 1000,
        "{}",
        data.rows("reasons").len()
    );
}
