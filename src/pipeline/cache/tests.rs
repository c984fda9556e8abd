//! How many clusters are evaluated, by what has changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use tempfile::TempDir;

use super::{Cache, Clean};
use crate::model::cluster_view::ClusterView;
use crate::model::finding::Finding;
use crate::pipeline::check::Checked;
use crate::pipeline::fleet::Fleet;
use crate::read::{self, Flags, Request};
use crate::testing::today;

const SHARED: &str = "\
os_images:
  noble-a: {uri: 'https://example.org/a.raw', k8s-version: v1.31.8, sha256: 'SUM', image-format: raw}
  noble-b: {uri: 'https://example.org/b.raw', k8s-version: v1.31.8, sha256: 'SUM', image-format: raw}
cluster:
  k8s_version: v1.31.8
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}
";

const PROJECT: &str = "\
version: 1
values: [values.yaml]
clusters: [{each: clusters/*/values.yaml}]
policy: {rules: {image-unused: off}}
";

/// Four clusters, and a folder of caches beside them.
fn fleet_of_four() -> TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let root = folder.path().join("project");
    for name in ["a", "b", "c", "d"] {
        write(
            &root,
            &format!("clusters/{name}/values.yaml"),
            &values("noble-a"),
        );
    }
    write(&root, "values.yaml", &shared("0"));
    write(&root, "metalmark.yaml", PROJECT);
    folder
}

/// The layer that all share, with checksums of one digit.
fn shared(digit: &str) -> String {
    SHARED.replace("SUM", &digit.repeat(64))
}

fn values(key: &str) -> String {
    format!("cluster: {{capm3: {{image_key: {key}}}}}\n")
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
}

/// The clusters that a check evaluates.
fn evaluated(folder: &TempDir) -> String {
    let request = Request {
        directory: Some(folder.path().join("project")),
        flags: Flags {
            cache: Some(folder.path().join("caches")),
            ..Flags::default()
        },
        ..Request::default()
    };
    let workspace = read::workspace(&request).expect("read");
    let fleet = Fleet::open(workspace, today()).expect("read");
    let cache = Cache::open(&request, &fleet, Clean).expect("read");
    let names = Mutex::new(BTreeSet::new());
    let keep = |view: &ClusterView, _: &Checked, _: &mut Vec<Finding>| {
        let mut names = names.lock().expect("no panic");
        names.insert(view.cluster.name.to_string());
        Ok(())
    };
    let check = fleet.check_changed(cache, keep).expect("checked");
    assert_eq!(check.counts.checked, fleet.workspace.clusters.len());
    let names = names.into_inner().expect("no panic");
    names.into_iter().collect::<Vec<_>>().concat()
}

#[test]
fn one_changed_file_is_one_evaluated_cluster() {
    let folder = fleet_of_four();
    let root = folder.path().join("project");
    assert_eq!(evaluated(&folder), "abcd");
    assert_eq!(evaluated(&folder), "");
    write(&root, "clusters/b/values.yaml", &values("noble-b"));
    assert_eq!(evaluated(&folder), "b");
    assert_eq!(evaluated(&folder), "");
    write(&root, "clusters/c/values.yaml", &values("noble-a"));
    assert_eq!(evaluated(&folder), "");
}

#[test]
fn what_all_clusters_share_is_an_input_of_each() {
    let folder = fleet_of_four();
    let root = folder.path().join("project");
    evaluated(&folder);
    write(&root, "values.yaml", &shared("2"));
    assert_eq!(evaluated(&folder), "abcd");
    let project = format!("{PROJECT}images: {{url: 'https://example.net/x'}}\n");
    write(&root, "metalmark.yaml", &project);
    assert_eq!(evaluated(&folder), "abcd");
    write(&root, "clusters/e/values.yaml", &values("noble-a"));
    assert_eq!(evaluated(&folder), "abcde");
    fs::remove_dir_all(root.join("clusters/a")).expect("removed");
    assert_eq!(evaluated(&folder), "bcde");
    assert_eq!(evaluated(&folder), "");
}

#[test]
fn a_cluster_with_a_finding_or_a_secret_is_evaluated_each_time() {
    let folder = fleet_of_four();
    let root = folder.path().join("project");
    let surprising = format!("{}odd: 0777\n", values("noble-a"));
    write(&root, "clusters/b/values.yaml", &surprising);
    let secret = format!(
        "{}kind: Secret\ndata: {{a: hunter2hunter2}}\n",
        values("noble-a")
    );
    write(&root, "clusters/d/values.yaml", &secret);
    assert_eq!(evaluated(&folder), "abcd");
    assert_eq!(evaluated(&folder), "bd");
    assert_eq!(evaluated(&folder), "bd");
}

#[test]
fn a_damaged_cache_is_none() {
    let folder = fleet_of_four();
    evaluated(&folder);
    let caches = fs::read_dir(folder.path().join("caches")).expect("a folder");
    let path = caches
        .into_iter()
        .next()
        .expect("a cache")
        .expect("read")
        .path();
    let text = fs::read_to_string(&path).expect("text");
    let damaged = [
        text[..text.len() - 1].to_owned(),
        text.replacen("\"proven\":1", "\"proven\":0", 1),
        text.replacen("metalmark", "METALMARK", 1),
        String::new(),
    ];
    for damaged in damaged {
        assert_ne!(damaged, text);
        fs::write(&path, damaged).expect("written");
        assert_eq!(evaluated(&folder), "abcd");
        assert_eq!(fs::read_to_string(&path).expect("text"), text);
    }
    assert_eq!(evaluated(&folder), "");
}
