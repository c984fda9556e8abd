//! The real cosign signs at Debian's registry, and the lock takes it.

use std::path::Path;
use std::process::Command;

use super::{KEY, PLAIN, Site, publish};
use crate::lock::NOBLE;
use crate::programs;
use crate::support::distribution::{Distribution, Pushed};

fn cosign(program: &Path, site: &Site, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .current_dir(site.stage.path())
        .env("COSIGN_PASSWORD", "")
        .args(arguments)
        .output()
        .expect("cosign starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn what_cosign_signed_is_locked_under_its_key_and_under_no_other() {
    let Some(program) = programs::find("cosign") else {
        return;
    };
    let Some(registry) = Distribution::open() else {
        return;
    };
    let site = Site::of(&registry, PLAIN);
    site.stage.remove("sylva.pub");
    for key in ["sylva", "stranger"] {
        cosign(
            &program,
            &site,
            &["generate-key-pair", "--output-key-prefix", key],
        );
    }
    let digest = publish(&registry, NOBLE, "0.4.12", "a");
    let image = format!("{}/os/{NOBLE}@{digest}", registry.host());
    let sign = [
        "sign",
        "--yes",
        "--key",
        "sylva.key",
        "--tlog-upload=false",
        "--allow-http-registry",
    ];
    // Only cosign 3 has a configuration to leave out; it writes bundles.
    let help = cosign(&program, &site, &["sign", "--help"]);
    let is_3 = help.contains("--use-signing-config=true");
    let more: &[&str] = if is_3 {
        &["--use-signing-config=false"]
    } else {
        &[]
    };
    cosign(&program, &site, &[&sign[..], more, &[&image]].concat());
    site.write_values("0.4.12", &[NOBLE], &KEY.replace("sylva", "stranger"));
    let reported = site.stage.run("lock").exit(1).outcome.stderr;
    assert!(reported.contains("error[signature-invalid]"), "{reported}");
    assert_eq!(site.lock(), "");
    site.write_values("0.4.12", &[NOBLE], KEY);
    let _ = site.stage.run("lock").exit(0);
    let form = if is_3 { "bundle" } else { "tag" };
    let lock = site.lock();
    assert!(lock.contains(&format!("    form: {form}\n")), "{lock}");
    let _ = site.stage.run("verify").exit(0);
    let _ = site.stage.run("render --frozen").exit(0);
}
