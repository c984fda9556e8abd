//! What each target writes, byte for byte, for small clusters built by hand.

use metalmark::model::cluster::LevelName;
use metalmark::model::workspace::{ChecksumStyle, ClusterView};
use serde_json::json;

use crate::support::{cluster, file, key, level, output, pool, rendered, selector, settings, url};

/// A control plane and one machine deployment; each level chose by key.
fn keyed() -> ClusterView {
    let mut view = cluster("edge-1");
    level(&mut view, LevelName::Cluster, key("plain"));
    level(&mut view, LevelName::ControlPlane, key("hard"));
    let settings = json!({"image_key": "x", "nodeReuse": true, "hostSelector": {"matchLabels": {"role": "cp"}}});
    pool(&mut view, None, (key("hard"), Some("hard")), &settings);
    pool(
        &mut view,
        Some("md0"),
        (key("plain"), Some("plain")),
        &json!({"image_key": "x"}),
    );
    view
}

#[test]
fn show() {
    for (target, options) in [
        ("manifests", json!({})),
        ("manifests", json!({"api-version": "v1beta2"})),
        ("helm-values", json!({})),
        (
            "configmap",
            json!({"scope": "cluster", "os-images-info-root": true}),
        ),
        ("flux", json!({})),
        ("flux", json!({"patch": "cluster"})),
        (
            "argocd",
            json!({"repo-url": "https://git.example.org/charts.git", "value-files": ["a.yaml"]}),
        ),
        (
            "argocd",
            json!({"repo-url": "https://git.example.org/charts.git", "rendered-repo-url": "https://git.example.org/r.git", "applicationset": true}),
        ),
    ] {
        let settings = settings(vec![output(target, "out", &options)]);
        let (files, findings) = rendered(&settings, &[keyed()], None);
        for file in files {
            println!("#### {target} {options} {}\n{}", file.path, file.text);
        }
        println!("{findings:#?}");
    }
}
