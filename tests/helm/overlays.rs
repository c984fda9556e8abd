//! Helm reads what is rendered: an overlay laid over the user's own values, in a small chart.

use std::process::Command;

use snapbox::str;

use super::helm;
use crate::support::stage::{Is, project};

/// Prints what a chart would make machine templates of, level by level.
const TEMPLATE: &str = "\
{{- range $name, $level := dict \"cluster\" .Values.cluster \"control_plane\" .Values.cluster.control_plane }}
{{ $name }}: {{ dig \"capm3\" \"machine_image_url\" \"\" $level }} {{ dig \"capm3\" \"machine_image_checksum\" \"\" $level }}
{{- end }}
images: {{ keys (default dict .Values.os_images) | sortAlpha | join \" \" }}
";

/// The user's key with an expression in it is Sylva's to evaluate: Helm passes it through. The catalog's images are the chart's to
/// list. That the overlay itself stays as it is, `workspaces` holds.
#[test]
fn helm_reads_the_overlay_over_the_users_own_values() {
    let Some((helm, _)) = helm() else {
        return;
    };
    let stage = project()
        .folder("fixtures/workspaces/proposal")
        .file(
            "chart/Chart.yaml",
            "apiVersion: v2\nname: small\nversion: 1.0.0\n",
        )
        .file("chart/templates/print.yaml", TEMPLATE);
    let _ = stage.run("render").exit(0);
    let words = "template release chart -f values.yaml -f site-a.values.yaml -f rendered/site-a.values.yaml";
    let output = Command::new(helm)
        .current_dir(stage.path())
        .args(words.split(' '))
        .output()
        .expect("helm starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8_lossy(&output.stdout).is(str![[r#"
---
# Source: small/templates/print.yaml
cluster: http://ubuntu-jammy-plain-rke2-1-26-9.os-images.cluster.local:8080/ubuntu-jammy-plain-rke2-1-26-9/image.qcow2 5b41362bc82b7f3d56edc5a306db22105707d01ff4819e26faef9724a2d406c9
control_plane: http://ubuntu-jammy-hardened-rke2-1-26-9.os-images.cluster.local:8080/ubuntu-jammy-hardened-rke2-1-26-9/image.qcow2 f60f2d65da046fcaaf8a10bd96b5630104b629e111aff46ce89792e1caa11b18
images:

"#]]);
}
