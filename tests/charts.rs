//! Helm reads what is rendered: overlays laid over the user's own values, and the ConfigMap's values, in a small chart.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::programs;
use super::support::{Metalmark, copy_of, repository};

/// Prints what a chart would make machine templates of, level by level.
const TEMPLATE: &str = "\
{{- range $name, $level := dict \"cluster\" .Values.cluster \"control_plane\" .Values.cluster.control_plane }}
{{ $name }}: {{ dig \"capm3\" \"machine_image_url\" \"\" $level }} {{ dig \"capm3\" \"machine_image_checksum\" \"\" $level }}
{{- end }}
images: {{ keys (default dict .Values.os_images) | sortAlpha | join \" \" }}
";

/// The lines that the chart prints of those values files.
fn print(helm: &Path, folder: &Path, files: &[&str]) -> String {
    let chart = folder.join("chart");
    fs::create_dir_all(chart.join("templates")).expect("created");
    fs::write(
        chart.join("Chart.yaml"),
        "apiVersion: v2\nname: small\nversion: 1.0.0\n",
    )
    .expect("written");
    fs::write(chart.join("templates/print.yaml"), TEMPLATE).expect("written");
    let mut command = Command::new(helm);
    command
        .current_dir(folder)
        .args(["template", "release", "chart"]);
    for file in files {
        command.args(["-f", file]);
    }
    let output = command.output().expect("helm starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn helm_reads_the_overlay_over_the_users_own_values() {
    let Some(helm) = programs::find("helm") else {
        return;
    };
    let scratch = copy_of(&repository().join("fixtures/workspaces/proposal"));
    let outcome = Metalmark::within(scratch.path()).args(["render"]).run();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    // The user's key with an expression in it is Sylva's to evaluate: Helm passes it through.
    let printed = print(
        &helm,
        scratch.path(),
        &[
            "values.yaml",
            "site-a.values.yaml",
            "rendered/site-a.values.yaml",
        ],
    );
    let host = "os-images.cluster.local:8080";
    let plain = "ubuntu-jammy-plain-rke2-1-26-9";
    let hardened = "ubuntu-jammy-hardened-rke2-1-26-9";
    assert!(
        printed.contains(&format!(
            "cluster: http://{plain}.{host}/{plain}/image.qcow2 5b41362b"
        )),
        "{printed}"
    );
    assert!(
        printed.contains(&format!(
            "control_plane: http://{hardened}.{host}/{hardened}/image.qcow2 f60f2d65"
        )),
        "{printed}"
    );
    // The catalog's images are the chart's to list.
    assert!(printed.trim_end().ends_with("images:"), "{printed}");
}
