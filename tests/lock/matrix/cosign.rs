//! The real cosign answers about the same images: what is locked as verified it verifies, and what is refused it refuses.

use std::collections::BTreeSet;
use std::process::Command;

use super::rules::{ANSWERS, Answer, Entry, Key, Proof, Signer};
use super::world::{Cell, World};
use crate::programs;

#[test]
fn cosign_verifies_what_is_locked_as_verified_and_nothing_else() {
    let Some(cosign) = programs::find("cosign") else {
        return;
    };
    let (key, entry) = (Key::A, Entry::Absent);
    let cells = ANSWERS.map(|answer| Cell { key, entry, answer });
    let world = World::new(&cells);
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut differs = BTreeSet::new();
    for signer in [Signer::A, Signer::B] {
        let key = folder.path().join("key.pub");
        std::fs::write(&key, world.key(signer).pem()).expect("written");
        for cell in cells {
            let repository = format!("{}/os/{}", world.registry.host(), cell.name());
            let is_referrer = cell.answer == Answer::ReferrerOfA;
            let output = Command::new(&cosign)
                .current_dir(folder.path())
                .args([
                    "verify",
                    "--insecure-ignore-tlog",
                    "--allow-http-registry",
                    "--key",
                ])
                .arg(&key)
                .args(is_referrer.then_some("--experimental-oci11"))
                .arg(format!("{repository}@{}", world.digest(cell)))
                .output()
                .expect("cosign starts");
            let is_good = matches!(cell.answer.proves(signer), Proof::Good(_));
            if output.status.success() != is_good {
                let reported = String::from_utf8_lossy(&output.stderr).into_owned();
                differs.insert((cell.answer, format!("{signer:?}"), reported));
            }
        }
    }
    // Documented in docs/signatures.md: cosign compares no names ("Copies"), and takes any statement of a bundle that the key
    // signed, provenance too ("What is verified", 2).
    let expected = [Answer::OnlyAttested, Answer::OtherName];
    let expected = expected.map(|answer| (answer, "A".to_owned()));
    let pairs = differs
        .iter()
        .map(|(answer, signer, _)| (*answer, signer.clone()));
    assert_eq!(pairs.collect::<Vec<_>>(), expected, "{differs:#?}");
}
