//! The input sets of the Sylva of 2026 as they are written, with the answers that Sylva's own library gives through Helm.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use snapbox::str;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

use super::programs::{find, missing, named, python_with_yaml, sylva_sets};
use super::support::layout::LayoutWriter;
use super::support::repository;
use super::support::stage::{Stage, assert_text, project};
use super::sylva_2026::locked;

/// The sets whose pools the library was asked about, each with the folders of its values.
const SETS: [(&str, &[&str]); 4] = [
    ("1-two-builders", &[""]),
    ("2-n-1-n-2", &[""]),
    ("3-missing-images", &[""]),
    ("5-version-map-drift", &["before", "bot", "human"]),
];

/// What sylva-library 0.9.0 answers through Helm 3.17: `tests/interop/selection/sets.py`.
const ANSWERS: &str = "\
1-two-builders//site-a/control-plane ubuntu-noble-hardened-rke2-1-35
1-two-builders//site-a/edge leapmicro-6-0-plain-rke2-1-35
2-n-1-n-2//forgot/control-plane several
2-n-1-n-2//mgmt/control-plane sylva--ubuntu-noble-hardened-rke2-1-35
2-n-1-n-2//old-site/control-plane sylva-n-1--ubuntu-noble-hardened-rke2-1-33
3-missing-images//c1/control-plane ubuntu-noble-plain-rke2-1-33
5-version-map-drift/before/ck8s/control-plane no-match
5-version-map-drift/before/kadm/control-plane ubuntu-noble-plain-kubeadm-1-33
5-version-map-drift/before/leap/control-plane leapmicro-6-0-plain-rke2-1-33
5-version-map-drift/before/rke/control-plane ubuntu-noble-hardened-rke2-1-33
5-version-map-drift/bot/ck8s/control-plane no-match
5-version-map-drift/bot/kadm/control-plane no-match
5-version-map-drift/bot/leap/control-plane leapmicro-6-0-plain-rke2-1-33
5-version-map-drift/bot/rke/control-plane no-match
5-version-map-drift/human/ck8s/control-plane no-match
5-version-map-drift/human/kadm/control-plane ubuntu-noble-plain-kubeadm-1-33
5-version-map-drift/human/leap/control-plane no-match
5-version-map-drift/human/rke/control-plane ubuntu-noble-hardened-rke2-1-33
";

#[test]
fn the_library_gives_the_recorded_answers() {
    let (Some(sets), Some(checkout), Some(helm), Some(python)) = (
        sylva_sets(),
        named("SYLVA_CORE"),
        find("helm"),
        python_with_yaml(),
    ) else {
        return;
    };
    let script = repository().join("tests/interop/selection/sets.py");
    let output = Command::new(python)
        .arg(script)
        .arg(checkout)
        .arg(helm)
        .arg(sets)
        .output();
    let output = output.expect("it runs");
    if !output.status.success() {
        // A shallow clone has no such branch.
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains("'show'"), "{stderr}");
        return missing("sylva_library");
    }
    let answers: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let answers = answers.as_object().expect("a map").iter();
    let lines: String = answers
        .map(|(pool, answer)| format!("{pool} {}\n", answer.as_str().expect("a text")))
        .collect();
    assert_eq!(lines, ANSWERS);
}

/// A set as it is written, locked from a layout of its artifacts.
fn lock_set(sets: &Path, set: &str, folder: &str) -> Stage {
    let settings = "values: [values.yaml, unsigned.yaml]\nclusters: [{each: clusters/*/values.yaml}]\n\
                    registries: {mirrors: {registry.example.org/acme: 'oci-layout:registry'}}";
    let read =
        |path: &str| fs::read_to_string(sets.join(set).join(path)).expect("a file of the set");
    let stage = project()
        .settings(settings)
        .file(
            "values.yaml",
            read(format!("{folder}/values.yaml").trim_start_matches('/')),
        )
        .file(
            "unsigned.yaml",
            "security: {os_images: {skip_signing_check: true}}\n",
        );
    for cluster in fs::read_dir(sets.join(set).join("clusters")).expect("clusters") {
        let name = cluster
            .expect("a cluster")
            .file_name()
            .into_string()
            .expect("a name");
        let path = format!("clusters/{name}/values.yaml");
        stage.write(&path, read(&path));
    }
    let mut registry = LayoutWriter::new(&stage.path().join("registry"));
    let artifacts: Value = serde_json::from_str(&read("artifacts.json")).expect("JSON");
    for (reference, artifact) in artifacts.as_object().expect("a map") {
        let annotations = artifact["annotations"].as_object().expect("annotations");
        let annotations: Vec<(&str, &str)> = annotations
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str().expect("a text")))
            .collect();
        registry.image(reference.strip_prefix("oci://"), &annotations);
    }
    let _ = stage.run("lock");
    stage
}

/// What `check --output json` says of a pool.
fn find_pool(check: &str, pool: &str) -> Value {
    let check: Value = serde_json::from_str(check).expect("JSON");
    let mut pools = check["pools"].as_array().expect("pools").iter();
    let name = |it: &&Value| {
        format!(
            "{}/{}",
            it["cluster"].as_str().unwrap_or_default(),
            it["pool"].as_str().unwrap_or_default()
        ) == pool
    };
    pools
        .find(name)
        .cloned()
        .unwrap_or_else(|| panic!("{pool}: {check}"))
}

#[test]
fn each_pool_of_the_sets_boots_what_the_library_selects() {
    let Some(sets) = sylva_sets() else { return };
    let mut ours = String::new();
    for (set, folder) in SETS
        .iter()
        .flat_map(|(set, folders)| folders.iter().map(move |it| (set, it)))
    {
        let stage = lock_set(&sets, set, folder);
        let check = stage.run("check --output json").outcome.stdout;
        let said: Value = serde_json::from_str(&check).expect("JSON");
        for pool in said["pools"].as_array().expect("pools") {
            let class = match (
                pool["image"].as_str(),
                pool["reason"].as_str().unwrap_or_default(),
            ) {
                (Some(image), _) => image,
                (None, reason) if reason.contains("several") => "several",
                (None, reason) if reason.contains("no image matches") => "no-match",
                (None, reason) => reason,
            };
            let (cluster, name) = (pool["cluster"].as_str(), pool["pool"].as_str());
            let (cluster, name) = (cluster.expect("a cluster"), name.expect("a pool"));
            writeln!(ours, "{set}/{folder}/{cluster}/{name} {class}").expect("a text");
        }
    }
    assert_eq!(ours, ANSWERS);
}

#[test]
fn each_image_of_the_sets_has_the_facts_that_are_expected() {
    let Some(sets) = sylva_sets() else { return };
    let mut count = 0;
    for (set, folder) in SETS
        .iter()
        .flat_map(|(set, folders)| folders.iter().map(move |it| (set, it)))
    {
        let text = fs::read_to_string(sets.join(set).join("expected.yaml")).expect("answers");
        let expected = yaml_tree::values(&text, FileId(0), Engine::Kubectl).expect("YAML");
        let mut expected = Value::from(&expected.value);
        if !folder.is_empty() {
            expected = expected[folder].take();
        }
        let Some(pins) = expected["pins"].as_object() else {
            continue;
        };
        let stage = lock_set(&sets, set, folder);
        let images = stage.run("images --output json").outcome.stdout;
        let images: Vec<Value> = serde_json::from_str(&images).expect("JSON");
        for (pool, pin) in pins {
            let is_used = |image: &&Value| {
                let used = image["used_by"].as_array().into_iter().flatten();
                used.filter_map(Value::as_str)
                    .any(|by| by == pool || by.strip_suffix("/control-plane") == Some(pool))
            };
            let image = images
                .iter()
                .find(is_used)
                .unwrap_or_else(|| panic!("{set} {pool}: {images:?}"));
            // `org.opencontainers.image.created` is annotated too, and no fact.
            assert!(image["facts"]["created"].is_null(), "{image}");
            match pin.as_str() {
                // NAME@TAG VERSION
                Some(pin) => {
                    let (image_at, version) = pin.split_once(' ').expect("a version");
                    let (name, tag) = image_at.split_once('@').expect("a tag");
                    assert_eq!(image["key"], name);
                    assert_eq!(image["facts"]["commit-tag"], tag);
                    assert_eq!(image["facts"]["k8s-version"], version);
                }
                None => {
                    assert_eq!(image["key"], pin["image"]);
                    assert_eq!(image["uri"], pin["uri"]);
                    for fact in ["sha256", "filename", "k8s-version"] {
                        assert_eq!(image["facts"][fact], pin[fact], "{set} {pool}");
                    }
                }
            }
            count += 1;
        }
    }
    assert_eq!(count, 10);
}

#[test]
fn the_two_steps_as_they_are_written_have_their_answers() {
    let name = "two-step-as-written";
    let stage = locked(name);
    for file in ["state.yaml", "values.yaml"] {
        if let Some(sets) = sylva_sets() {
            let written = fs::read_to_string(sets.join("6-two-step-upgrade").join(file));
            assert_eq!(stage.read(file), written.expect("the set"));
        }
    }
    // What the state says of each cluster is what runs.
    let state = stage.read("state.yaml");
    let pools = stage.run("check --output json").outcome.stdout;
    let clusters = state.lines().filter(|line| line.contains("k8s_version: "));
    let mut count = 0;
    for line in clusters {
        let (cluster, rest) = line.split_once(": {").expect("a cluster");
        let (_, version) = rest.split_once("k8s_version: ").expect("a version");
        let version = version.split([',', '}']).next().expect("a version");
        let runs = find_pool(&pools, &format!("{cluster}/control-plane"));
        assert_eq!(runs["k8s_version"]["value"], version, "{runs}");
        assert!(rest.contains("builder: 0.7.14"), "{rest}");
        count += 1;
    }
    assert_eq!(count, 3);
    let Some(stage) = stage.commit("The state today") else {
        return;
    };
    let found = |command: &str| {
        let run = stage.run(command);
        let lines = (run.outcome.stdout + &run.outcome.stderr)
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        let is_said = |line: &&String| {
            let line = line.trim_start();
            ["error[", "warning[", "= help: ", "now ", "to 1.", "add to "]
                .iter()
                .any(|word| line.starts_with(word))
        };
        let said = lines
            .iter()
            .filter(is_said)
            .map(|line| format!("  {}\n", line.trim()));
        format!("{command}\n{}", said.collect::<String>())
    };
    let take = |cluster: &str| {
        let old = format!("name: {cluster}, values: [values-1.6.yaml");
        stage.edit("metalmark.yaml", &old, &old.replace("-1.6", ""));
        let _ = stage.run("lock").exit(0);
    };
    take("mgmt");
    stage.edit("clusters/mgmt.yaml", "  k8s_version: v1.33.9\n", "");
    let mut said = found("impact --against HEAD");
    stage.edit(
        "clusters/mgmt.yaml",
        "security:",
        "k8s_version_short: '1.34'\nsecurity:",
    );
    said += &found("impact --against HEAD");
    said += &found("plan --to 1.35 mgmt");
    take("site-b");
    said += &found("check site-b");
    assert_text(
        &said,
        str![[r#"
impact --against HEAD
  error[version-skip]: the control plane would go from Kubernetes `v1.33.9` to `v1.35.6`, past 1.34
  = help: go to 1.34 first, in a change of its own: image `ubuntu-noble-plain-kubeadm-1-34` holds `1.34.9`
  warning[image-not-enabled]: management cluster `mgmt` does not serve `ubuntu-noble-plain-kubeadm-1-32:0.7.14`, `ubuntu-noble-plain-kubeadm-1-33:0.7.14`, which machines of other clusters boot
  = help: list `ubuntu-noble-plain-kubeadm-1-32:0.7.14` in the catalog of `mgmt`: `site-b` boots it
  = help: list `ubuntu-noble-plain-kubeadm-1-33:0.7.14` in the catalog of `mgmt`: `site-a` boots it
impact --against HEAD
  warning[image-not-enabled]: management cluster `mgmt` does not serve `ubuntu-noble-plain-kubeadm-1-32:0.7.14`, `ubuntu-noble-plain-kubeadm-1-33:0.7.14`, which machines of other clusters boot
  = help: list `ubuntu-noble-plain-kubeadm-1-32:0.7.14` in the catalog of `mgmt`: `site-b` boots it
  = help: list `ubuntu-noble-plain-kubeadm-1-33:0.7.14` in the catalog of `mgmt`: `site-a` boots it
plan --to 1.35 mgmt
  now  ubuntu-noble-plain-kubeadm-1-32:0.7.14  site-b  still run it  not in the catalog
  now  ubuntu-noble-plain-kubeadm-1-33:0.7.14  site-a  still run it  not in the catalog
  now  ubuntu-noble-plain-kubeadm-1-34:0.11.13  mgmt  still run it  served
  to 1.35  ubuntu-noble-plain-kubeadm-1-32:0.7.14  site-b  still run it  not in the catalog
  to 1.35  ubuntu-noble-plain-kubeadm-1-33:0.7.14  site-a  still run it  not in the catalog
  to 1.35  ubuntu-noble-plain-kubeadm-1-34:0.11.13  mgmt  until they are replaced  not selected
  to 1.35  ubuntu-noble-plain-kubeadm-1-35:0.11.13  mgmt  new  served
  add to mgmt: `os_image_server_additional_selectors.ubuntu-kubeadm-sylva: {k8s-flavor: 'kubeadm', k8s-version: '1\.34\..*', oci-image-registry-key: 'sylva', os: 'ubuntu'}`
check site-b
  error[no-image-matches]: no image matches the selector
  = help: to boot `ubuntu-noble-plain-kubeadm-1-33`: `cluster.k8s_version: v1.33.13`
  = help: `ubuntu-noble-plain-kubeadm-1-34` is near: it has `k8s-version: 1.34.9`, not `1.32.11`
  = help: `ubuntu-noble-plain-kubeadm-1-35` is near: it has `k8s-version: 1.35.6`, not `1.32.11`

"#]],
    );
}
