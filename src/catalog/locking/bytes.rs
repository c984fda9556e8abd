//! Reads locked images whole: whether their bytes have the digest, the length and the format that is said of them. A checksum that
//! was published wrong, or a file that was replaced, is found before a machine fails on it.

use std::io::{self, Write};

use capi::image::fact;
use oci_artifacts::{Digesting, Failure, FailureKind, Platform, Reference, Store};
use yaml_tree::place::Sources;

use super::verification::{Verification, entry_finding};
use crate::budget;
use crate::catalog::sources::{Artifact, Stores};
use crate::model::checksum::is_url;
use crate::model::lock::{Lock, LockedImage};
use crate::model::rule::RuleId;

/// How the files of formats begin. A raw image begins with whatever the disk does.
const BEGINNINGS: [(&str, &[u8]); 4] = [
    ("qcow2", b"QFI\xfb"),
    ("vmdk", b"KDMV"),
    ("vhdx", b"vhdxfile"),
    ("vhd", b"conectix"),
];

/// How compressed files begin, in which the image is not looked for: gzip, xz, zstd, bzip2.
const COMPRESSED: [&[u8]; 4] = [b"\x1f\x8b", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"BZh"];

/// Reads every image of the lock, one after the other: each layer of an artifact, each file of a web server.
pub fn verify_bytes(
    lock: &Lock,
    sources: &Sources,
    platform: &Platform,
    stores: &Stores,
    out: &mut Verification,
) {
    for image in lock.images() {
        match Reference::parse(&image.reference.value) {
            Ok(reference) => read_layers(image, &reference, platform, sources, stores, out),
            Err(_) if is_url(&image.reference.value) => read_file(image, sources, stores, out),
            Err(_) => {}
        }
    }
}

/// Reads the layers that the entry's evidence names.
fn read_layers(
    image: &LockedImage,
    reference: &Reference,
    platform: &Platform,
    sources: &Sources,
    stores: &Stores,
    out: &mut Verification,
) {
    let digest = &image.digest.value;
    let evidence = image.evidence.as_ref();
    let proven = evidence.map(|evidence| Artifact::from_evidence(evidence, digest, platform));
    // What has no evidence is reported.
    let Some(Ok(artifact)) = proven else { return };
    let is_alone = artifact.layers.len() == 1;
    for layer in &artifact.layers {
        let mut read = Reading::default();
        match stores.copy(&reference.with_digest(digest), layer, &mut read) {
            Ok(()) if is_alone => compare_format(image, &read, sources, out),
            Ok(()) => {}
            Err(failure) => report(image, failure, sources, out),
        }
    }
}

/// Reads a file, whose digest its page lists.
fn read_file(image: &LockedImage, sources: &Sources, stores: &Stores, out: &mut Verification) {
    let digest = &image.digest.value;
    let mut into = Digesting::like(digest, Reading::default());
    if let Err(failure) = stores.download(&image.reference.value, &mut into) {
        report(image, failure, sources, out);
        return;
    }
    let read = into.finish();
    let size = image.fact(fact::SIZE);
    let message = if read.digest != *digest {
        format!(
            "its bytes have the digest `{}`, and `{digest}` is locked",
            read.digest
        )
    } else if size.parse::<u64>().is_ok_and(|size| size != read.size) {
        format!("it has {} bytes, and its `size` is {size}", read.size)
    } else {
        compare_format(image, &read.into, sources, out);
        return;
    };
    let failure = Failure::new(&image.reference.value, FailureKind::Corrupt, message);
    report(image, failure, sources, out);
}

/// Wrong bytes are a finding; bytes that could not be read are unknown.
fn report(image: &LockedImage, failure: Failure, sources: &Sources, out: &mut Verification) {
    if failure.kind != FailureKind::Corrupt {
        out.fail(failure, image, sources);
        return;
    }
    let message = format!("`{}`: {}", image.reference.value, failure.message);
    let finding = entry_finding(image, RuleId::ImageIncomplete, message);
    let spot = sources.resolve(image.digest.place);
    out.findings.push(finding.with_label(spot, "locked here").help(
        "do not use it: have its publisher compare the file with the checksum, and put the right one there",
    ));
}

/// That an image is of another format than its facts say.
fn compare_format(image: &LockedImage, read: &Reading, sources: &Sources, out: &mut Verification) {
    let Some(fact) = image.facts.get(fact::IMAGE_FORMAT) else {
        return;
    };
    let begins = |beginning: &[u8]| read.start.starts_with(beginning);
    let is_known = |(name, _): &(&str, &[u8])| *name == &*fact.value;
    // What is packed, or of a format that is not recognized, is not looked into.
    let is_comparable = &*fact.value == "raw" || BEGINNINGS.iter().any(is_known);
    if !is_comparable || COMPRESSED.iter().any(|it| begins(it)) || is_tar(&read.start) {
        return;
    }
    let found = BEGINNINGS.iter().find(|(_, beginning)| begins(beginning));
    let found = found.map_or("raw", |(name, _)| name);
    if found == &*fact.value {
        return;
    }
    let message = format!(
        "`image-format` of `{}` is `{}`, and its bytes are those of `{found}`",
        image.key.value, fact.value
    );
    let finding = entry_finding(image, RuleId::FactConflict, message);
    out.findings
        .push(finding.with_label(sources.resolve(fact.place), "not what it is"));
}

/// `ustar` is in the first header of every archive of today.
fn is_tar(start: &[u8]) -> bool {
    start.get(257..262) == Some(b"ustar")
}

/// Takes bytes, keeps the first ones, and counts all for the budget.
#[derive(Default)]
struct Reading {
    start: Vec<u8>,
    /// Bytes that the budget does not know yet.
    open: u64,
}

impl Reading {
    /// How many of the first bytes are kept.
    const KEPT: usize = 512;
    /// How many bytes are reported to the budget at once.
    const STEP: u64 = 1 << 20;
}

impl Write for Reading {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = Self::KEPT - self.start.len();
        self.start.extend(bytes.iter().take(room));
        self.open += bytes.len() as u64;
        budget::add_bytes(self.open / Self::STEP * Self::STEP);
        self.open %= Self::STEP;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
