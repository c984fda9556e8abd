//! Image, Kubernetes and provider are changed one at a time, with every provider: what each change rolls, and that it moves nothing else.
//!
//! Source: kubernetes-sigs/cluster-api, issue 681: "are they bound to a choice of VM image and installed software, or is there some
//! ability to mix and match?"

use serde_json::Value;
use snapbox::str;

use super::support::stage::{Is, Stage, project};

/// Each provider's cluster in `fixtures/workspaces/providers`, with what names its image there, and another image of the same
/// Kubernetes version.
const IMAGES: [(&str, &str, &str); 12] = [
    ("capa", "ami-08f7e6d5c4b3a2910", "ami-11111111111111111"),
    ("capg", "1760000000", "1770000000"),
    ("capm3", "sha256: 0123", "sha256: 1123"),
    ("capo", "000000000001", "000000000002"),
    ("capv", "kube-v1.34.1\ncluster", "kube-v1.34.1-cve\ncluster"),
    ("capz", "capi-ubun2-2404", "capi-ubun2-2404-cve"),
    ("docker", "node:v1.34.1", "node:v1.34.1-cve"),
    ("elemental", "sha256:0123", "sha256:1123"),
    (
        "hcloud",
        "image: ubuntu-2404-kube-v1.34.1",
        "image: ubuntu-2404-kube-v1.34.1-cve",
    ),
    (
        "kubevirt",
        "container-disk:v1.34.1",
        "container-disk:v1.34.1-cve",
    ),
    (
        "proxmox",
        "tags: ubuntu-2404,kube-v1.34.1",
        "tags: ubuntu-2404,kube-v1.34.1,cve",
    ),
    ("tinkerbell", "v1.34.1.gz", "v1.34.1-cve.gz"),
];

/// The workspace with images that bring no Kubernetes, so that the two change for themselves.
fn workspace() -> Option<Stage> {
    let stage = project().folder("fixtures/workspaces/providers");
    let image = "k8s-flavor: kubeadm, k8s-version: \"1.34.1\"";
    stage.edit("values.yaml", image, "k8s-flavor: none");
    stage.commit("before")
}

/// What a change does to each pool, a line a provider: what moved, and how machines get it.
fn impact(stage: &Stage) -> Vec<String> {
    let run = stage.run("impact --against HEAD --output json").outcome;
    let impact: Value = serde_json::from_str(&run.stdout).expect(&run.stderr);
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let pool = |pool: &Value| {
        let moved = ["image", "kubernetes", "provider"].into_iter();
        let moved = moved.filter(|what| pool.get(what).is_some());
        let moved: Vec<&str> = moved.collect();
        let because = pool["because"].as_array().into_iter().flatten();
        let because: Vec<String> = because.map(text).collect();
        format!(
            "{} {} [{}] by {}",
            text(&pool["pool"]),
            text(&pool["rollout"]),
            moved.join(" "),
            because.join(" ")
        )
    };
    let clusters = impact["clusters"].as_array().expect("a list").iter();
    clusters
        .map(|cluster| {
            let pools: Vec<String> = { cluster["pools"].as_array().into_iter().flatten() }
                .map(pool)
                .collect();
            format!("{}: {}", text(&cluster["cluster"]), pools.join(", "))
        })
        .collect()
}

#[test]
fn each_of_image_kubernetes_and_provider_changes_for_itself() {
    let Some(stage) = workspace() else {
        return;
    };
    let before = stage.texts();
    let mut text = String::new();
    let mut note = |what: &str, stage: &Stage| {
        text += &format!("# {what}\n{}\n", impact(stage).join("\n"));
        for (path, text) in &before {
            stage.write(path, text);
        }
    };
    for (cluster, from, to) in IMAGES {
        stage.edit(&format!("clusters/{cluster}/values.yaml"), from, to);
    }
    note("another image", &stage);
    stage.edit(
        "values.yaml",
        "k8s_version: v1.34.1",
        "k8s_version: v1.34.2",
    );
    note("another Kubernetes version", &stage);
    stage.edit(
        "metalmark.yaml",
        "infra-cluster: true",
        "infra-cluster: true, api-version: v1beta2",
    );
    note(
        "another version of the provider's API, where it has two",
        &stage,
    );
    let paths = IMAGES.map(|(cluster, ..)| format!("clusters/{cluster}/values.yaml"));
    let next = paths.iter().cycle().skip(1);
    for (path, next) in paths.iter().zip(next) {
        stage.write(path, &before[next]);
    }
    note("the next provider of the list", &stage);
    text.is(str![[r#"
# another image
capa: control-plane roll [image] by image, md0 roll [image] by image
capg: control-plane roll [image] by image, md0 roll [image] by image
capm3: control-plane roll [image] by image, md0 roll [image] by image
capo: control-plane roll [image] by image, md0 roll [image] by image
capv: control-plane roll [image] by image, md0 roll [image] by image
capz: control-plane roll [image] by image, md0 roll [image] by image
docker: control-plane roll [image] by image, md0 roll [image] by image
elemental: control-plane roll [image] by image, md0 roll [image] by image
hcloud: control-plane roll [image] by image, md0 roll [image] by image
kubevirt: control-plane roll [image] by image, md0 roll [image] by image
proxmox: control-plane roll [image] by image, md0 roll [image] by image
tinkerbell: control-plane roll [image] by image, md0 roll [image] by image
# another Kubernetes version
capa: control-plane roll [kubernetes] by kubernetes, md0 roll [kubernetes] by kubernetes
capg: control-plane roll [kubernetes] by kubernetes, md0 roll [kubernetes] by kubernetes
capm3: control-plane roll [kubernetes] by kubernetes, md0 roll [kubernetes] by kubernetes
capo: control-plane roll [kubernetes] by kubernetes, md0 roll [kubernetes] by kubernetes
capv: control-plane roll [kubernetes] by kubernetes, md0 roll [kubernetes] by kubernetes
capz: control-plane roll [kubernetes] by kubernetes, md0 roll [kubernetes] by kubernetes
docker: control-plane roll [kubernetes] by kubernetes, md0 roll [kubernetes] by kubernetes
elemental: control-plane roll [kubernetes] by kubernetes, md0 roll [kubernetes] by kubernetes
hcloud: control-plane roll [kubernetes] by kubernetes, md0 roll [kubernetes] by kubernetes
kubevirt: control-plane roll [kubernetes] by kubernetes, md0 roll [kubernetes] by kubernetes
proxmox: control-plane roll [kubernetes] by kubernetes, md0 roll [kubernetes] by kubernetes
tinkerbell: control-plane roll [kubernetes] by kubernetes, md0 roll [kubernetes] by kubernetes
# another version of the provider's API, where it has two
capm3: control-plane roll [provider] by provider, md0 roll [provider] by provider
capo: control-plane roll [provider] by provider, md0 roll [provider] by provider
# the next provider of the list
capa: control-plane roll [image provider] by image provider, md0 roll [image provider] by image provider
capg: control-plane roll [image provider] by image provider, md0 roll [image provider] by image provider
capm3: control-plane roll [image provider] by image provider, md0 roll [image provider] by image provider
capo: control-plane roll [image provider] by image provider, md0 roll [image provider] by image provider
capv: control-plane roll [image provider] by image provider, md0 roll [image provider] by image provider
capz: control-plane roll [image provider] by image provider, md0 roll [image provider] by image provider
docker: control-plane roll [image provider] by image provider, md0 roll [image provider] by image provider
elemental: control-plane roll [image provider] by image provider, md0 roll [image provider] by image provider
hcloud: control-plane roll [image provider] by image provider, md0 roll [image provider] by image provider
kubevirt: control-plane roll [image provider] by image provider, md0 roll [image provider] by image provider
proxmox: control-plane roll [image provider] by image provider, md0 roll [image provider] by image provider
tinkerbell: control-plane roll [image provider] by image provider, md0 roll [image provider] by image provider

"#]]);
}

#[test]
fn another_version_of_a_providers_api_is_said_as_such() {
    let Some(stage) = workspace() else {
        return;
    };
    stage.edit(
        "metalmark.yaml",
        "infra-cluster: true",
        "infra-cluster: true, api-version: v1beta2",
    );
    let printed = stage.run("impact --against HEAD").outcome.stdout;
    let lines = printed.lines().map(str::trim);
    let lines = lines.filter(|line| line.contains("provider") || line.ends_with(" changes"));
    let lines: Vec<&str> = lines.collect();
    lines.join("\n").is(str![[r#"
control-plane  3 machines re-provisioned, by roll: the API of its provider changes
provider    Metal3MachineTemplate v1beta1 → Metal3MachineTemplate v1beta2
md0            2 machines re-provisioned, by roll: the API of its provider changes
provider    Metal3MachineTemplate v1beta1 → Metal3MachineTemplate v1beta2
control-plane  3 machines re-provisioned, by roll: the API of its provider changes
provider    OpenStackMachineTemplate v1beta1 → OpenStackMachineTemplate v1beta2
md0            2 machines re-provisioned, by roll: the API of its provider changes
provider    OpenStackMachineTemplate v1beta1 → OpenStackMachineTemplate v1beta2
"#]]);
}

/// The artifact counted for every provider, and machines that its store serves were "not known". What lies at the URL that Metal3
/// fetches, nothing says.
#[test]
fn an_artifact_that_a_provider_does_not_boot_moves_none_of_its_machines() {
    let Some(stage) = workspace() else {
        return;
    };
    let edit = |stage: &Stage, change: &dyn Fn(&str) -> String| {
        for (provider, ..) in IMAGES {
            let path = format!("clusters/{provider}/values.yaml");
            let values = stage.read(&path);
            stage.write(&path, change(&values));
        }
    };
    // One checksum would say that the content is the same.
    let drop_sums = |values: &str| {
        let is_sum = |line: &&str| {
            ["    sha256: ", "    md5: "]
                .iter()
                .any(|it| line.starts_with(it))
        };
        let kept = values.lines().filter(|line| !is_sum(line));
        kept.map(|line| format!("{line}\n")).collect()
    };
    edit(&stage, &drop_sums);
    let stage = stage.commit("without checksums").expect("git");
    edit(&stage, &|values| {
        let moved = values.replace("uri: https://", "uri: https://mirror.");
        let moved = moved.replace("uri: oci://", "uri: oci://mirror.");
        assert_ne!(moved, values);
        moved
    });
    (impact(&stage).join("\n") + "\n").is(str![[r#"
capm3: control-plane unknown [image] by image, md0 unknown [image] by image
docker: control-plane roll [image] by image, md0 roll [image] by image
elemental: control-plane roll [image] by image, md0 roll [image] by image
tinkerbell: control-plane roll [image] by image, md0 roll [image] by image

"#]]);
}
