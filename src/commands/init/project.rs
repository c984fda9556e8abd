//! The text of a first project file.

use std::path::Path;

use crate::read::gitops::CHART;

use super::found::{Found, Sylva};
use super::patterns::Pattern;
use super::records::{self, Described};
use super::word::word;

/// The folders of the manifests, as a list's content.
fn manifest_folders(found: &Found) -> String {
    // Whole folders, so that objects are read together with the objects that they refer to.
    let mut folders: Vec<String> = Vec::new();
    for file in &found.manifests {
        let first = file.iter().next().unwrap_or_default();
        if file.iter().count() == 1 {
            folders = vec![".".to_owned()];
            break;
        }
        let name = format!("{}/", first.to_string_lossy());
        if !folders.contains(&name) {
            folders.push(name);
        }
    }
    folders
        .iter()
        .map(|folder| word(folder))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The project file of a repository of plain manifests.
pub(super) fn for_manifests(found: &Found, described: &Described) -> String {
    let pairs = found.pairs.iter().map(|(version, image)| {
        format!(
            "  - {{version: {}, image: {}}}\n",
            word(version),
            word(image)
        )
    });
    let pairs = if found.pairs.is_empty() {
        String::new()
    } else {
        format!(
            "# Versions and images that belong together: `metalmark check` compares them.\npairs:\n{}",
            pairs.collect::<String>()
        )
    };
    if found.templates.is_empty() {
        let manifests = match found.manifests.as_slice() {
            [] => String::new(),
            _ => format!("manifests: [{}]\n", manifest_folders(found)),
        };
        return format!(
            "# What metalmark compares. `metalmark schema` prints the schema of this file for editors.\n\
             version: 1\n{pairs}{manifests}"
        );
    }
    let (records, stamps) = records::to_yaml(described);
    let (records, stamps) = if !described.records.is_empty() {
        (
            format!("  records:\n{records}"),
            format!("stamps:\n{stamps}"),
        )
    } else {
        (
            "  records: {}\n    \
         # ubuntu-noble-kubeadm-1-34-1:\n    \
         #   os: {name: ubuntu, version: \"24.04\"}\n    \
         #   k8s: {flavor: kubeadm, version: 1.34.1}\n    \
         #   format: qcow2\n    \
         #   digests: {uncompressed: {sha256: 64 hex digits}}\n    \
         #   locations: {https: https://images.example.org/noble-1.34.1.qcow2}\n"
                .to_owned(),
            "stamps: []\n  \
         # - {kind: Metal3MachineTemplate, name: edge-*, image: ubuntu-noble-kubeadm-1-34-1}\n"
                .to_owned(),
        )
    };
    let policy = if described.is_unproven {
        "# Nothing but names says which Kubernetes the images hold: say it under `k8s` in each record, and remove this.\n\
             policy: {rules: {k8s-version-unproven: warning}}\n"
    } else {
        ""
    };
    format!(
        "# What metalmark stamps: `metalmark stamp --check` shows what would change, `metalmark stamp` writes it.\n\
         # `metalmark schema` prints the schema of this file for editors.\n\
         version: 1\n\
         {pairs}\
         manifests: [{}]\n\
         images:\n  \
         # What is known of each image, by its key. `k8s: {{flavor: kubeadm, version: 1.34.1}}` says which Kubernetes it holds.\n\
         {records}\
         # Which image each object boots; the first entry that fits counts. A comment in a file says the same, and first:\n\
         # `# metalmark: image=KEY` above the object.\n\
         {stamps}\
         {policy}",
        manifest_folders(found)
    )
}

/// The project file, with comments that say what each part is for.
pub(super) fn text(found: &Found) -> String {
    let mut text = String::from(
        "# What metalmark reads and writes: `metalmark check`, then `metalmark render`.\n\
         # `metalmark schema` prints the schema of this file for editors.\n\
         version: 1\n",
    );
    if !found.shared.is_empty() {
        text.push_str("# Layers that every cluster shares, lowest first; the first is the chart's own.\nvalues:\n");
        for layer in &found.shared {
            text.push_str(&format!("  - {}\n", word(&display_path(layer))));
        }
    }
    text.push_str(
        "# A folder means the values that its Kustomization and HelmRelease compose.\nclusters:\n",
    );
    for (name, folder) in &found.single {
        let folder = display_path(folder);
        text.push_str(&format!(
            "  - {{name: {}, values: [{}]}}\n",
            word(name),
            word(&folder)
        ));
    }
    for Pattern { each, name } in &found.each {
        let names = match (name, each.rsplit('/').next()) {
            (Some(name), _) => format!("\n    name: \"{name}\""),
            (None, Some(file)) if file.starts_with('*') => ", named by its file".to_owned(),
            (None, _) => ", named by its folder".to_owned(),
        };
        let each = word(each);
        text.push_str(&format!(
            "  - each: {each}    # one cluster a match{names}\n"
        ));
    }
    if !found.manifests.is_empty() {
        let folders = manifest_folders(found);
        text.push_str(&format!("manifests: [{folders}]\n"));
    }
    if let Some(chart) = &found.chart {
        let chart = word(&display_path(chart));
        text.push_str(&format!(
            "# Where the chart is that the releases name.\nstate: {{HelmChart/{CHART}: {chart}}}\n"
        ));
    }
    text.push_str("images:\n");
    match found.facts.as_slice() {
        [] => text.push_str(
            "  # What image servers know of their images:\n  \
             # kubectl -n sylva-system get configmap os-images-info -o yaml > os-images-info.yaml\n  \
             # facts: [os-images-info.yaml]\n",
        ),
        facts => {
            let facts: Vec<String> = facts.iter().map(|file| word(&display_path(file))).collect();
            text.push_str(&format!("  facts: [{}]\n", facts.join(", ")));
        }
    }
    let images = word(&display_path(&found.top.join("images")));
    let environments = format!(
        "# What `metalmark render` writes: a component for each environment, which pins its images. List it in `components:` of\n\
         # the environment's kustomization.yaml, once.\n\
         outputs:\n  \
         - {{target: flux, path: {images}, patch: sylva-units, chart: {CHART}}}\n"
    );
    text.push_str(match found.sylva {
        Some(Sylva::Environments) => &environments,
        Some(Sylva::ValuesFiles) => {
            "# What `metalmark render` writes: a values file for each cluster, which pins its images. It is the last `-f` of helm.\n\
             outputs:\n  \
             - {target: helm-values, path: rendered}\n"
        }
        None => {
            "  # Where machines fetch an image; this is the server inside a management cluster.\n  \
             url: \"http://os-image-server-{{ image.key }}.os-images.svc.cluster.local:8080/{{ image.filename }}\"\n\
             # What is written where; `helm-values`, `flux` and `argocd` are others.\n\
             outputs:\n  \
             - {target: manifests, path: \"rendered/clusters/{{ cluster.name }}\"}\n  \
             - {target: configmap, path: rendered/shared}\n"
        }
    });
    text
}

fn display_path(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
