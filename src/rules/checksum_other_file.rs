//! A checksum belongs to another file than the image, or soon will.

use capi::location::file_name;

use crate::model::checksum;
use crate::model::finding::Finding;
use crate::model::name::SeenVersion;
use crate::model::rule::{Level, RuleId};
use crate::rules::ClusterInput;

/// What the names of files of checksums end in, behind the name of the file that they are of.
const SUMS: [&str; 8] = [
    ".sha256sum",
    ".sha256",
    ".sha512sum",
    ".sha512",
    ".md5sum",
    ".md5",
    ".checksum",
    ".sum",
];

/// What the names of images end in.
const IMAGES: [&str; 4] = [".raw", ".qcow2", ".img", ".iso"];

/// The words of a URL whose content is replaced by later ones.
const MOVING: [&str; 4] = ["current", "daily", "latest", "nightly"];

/// The digits of a day, the fewest that it is written with: `240131`.
const DAY: usize = 6;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for (pool, url) in input.explicit() {
        let Some(sum) = pool
            .choice
            .checksum
            .as_ref()
            .filter(|it| !it.value.is_empty())
        else {
            continue;
        };
        let fault = if checksum::is_url(&sum.value) {
            difference(&url.value, &sum.value)
        } else {
            moving_word(&url.value).map(Fault::Moves)
        };
        let Some(fault) = fault else { continue };
        let finding = match &fault {
            Fault::Moves(word) => {
                let message = format!("the checksum is that of one day's image: `{word}` moves on");
                Finding::new(RuleId::ChecksumOtherFile, message)
                    .unless_set(Level::Warning)
                    .help("name the image by a URL that stays, such as one with its date")
            }
            Fault::Version | Fault::Name => {
                let finding = Finding::new(
                    RuleId::ChecksumOtherFile,
                    "the checksum is that of another file",
                )
                .help("name the checksums of this image");
                if fault == Fault::Version {
                    finding
                } else {
                    finding.unless_set(Level::Warning)
                }
            }
        };
        findings.push(
            finding
                .with_subject(input.subject(Some(pool)))
                .with_label(input.spot(sum.place), "this checksum")
                .with_label(input.spot(url.place), "this image"),
        );
    }
}

/// How a checksum is that of another file.
#[derive(Debug, PartialEq, Eq)]
enum Fault {
    /// The two differ in numbers alone.
    Version,
    /// They have other names.
    Name,
    /// The image is replaced by design: the word that says so.
    Moves(String),
}

/// How the file of a checksum's URL is of another image than the URL's; none where it may be of that one, as a list is.
fn difference(url: &str, sum: &str) -> Option<Fault> {
    let (name, sum_name) = (file_name(url), file_name(sum));
    let lower = sum_name.to_ascii_lowercase();
    let end = SUMS.iter().find(|end| lower.ends_with(**end));
    let of = end.map_or("", |end| &sum_name[..sum_name.len() - end.len()]);
    let bare = name.rsplit_once('.').map_or(name, |(bare, _)| bare);
    let is_half =
        |one: &str, other: &str| one != other && remove_digits(one) == remove_digits(other);
    let is_own = of.is_empty() || of == name || of == bare;
    if !is_own && (is_half(of, name) || is_half(of, bare)) {
        return Some(Fault::Version);
    }
    // Mirrors differ in numbers too.
    let is_other_folder = FileUrl::parse(url)
        .zip(FileUrl::parse(sum))
        .is_some_and(|(one, other)| one.host == other.host && is_half(one.folder, other.folder));
    let is_image = IMAGES.iter().any(|end| of.ends_with(end));
    (is_other_folder || !is_own && is_image).then_some(Fault::Name)
}

/// Where a file lies.
struct FileUrl<'u> {
    host: &'u str,
    path: &'u str,
    /// The path without the file's name.
    folder: &'u str,
}

impl<'u> FileUrl<'u> {
    fn parse(url: &'u str) -> Option<Self> {
        let (host, path) = url.split_once("://")?.1.split_once('/')?;
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        Some(Self { host, path, folder })
    }
}

fn remove_digits(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_ascii_digit())
        .collect()
}

/// The word of a URL's path that says that its content moves on. One of a folder says nothing of a file that names its version or day.
fn moving_word(url: &str) -> Option<String> {
    let path = FileUrl::parse(url)?.path;
    let name = file_name(path);
    let numbers = name.split(|letter: char| !letter.is_ascii_digit());
    let has_day = numbers.map(str::len).max() >= Some(DAY);
    let is_dated = has_day || SeenVersion::find(name, true).is_some();
    let place = if is_dated { name } else { path };
    let mut words = place.split(|letter: char| !letter.is_ascii_alphanumeric());
    let word = words.find(|word| MOVING.contains(&&*word.to_ascii_lowercase()))?;
    Some(word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Fault, difference, moving_word};

    #[test]
    fn a_checksum_of_another_version_is_known_by_its_name_or_its_folder() {
        let image = "http://i/v1.34/ubuntu-kube-v1.34.1.raw";
        for own in [
            "http://i/v1.34/ubuntu-kube-v1.34.1.raw.sha256sum",
            "https://sums/ubuntu-kube-v1.34.1.SHA256",
            "http://i/v1.34/SHA256SUMS",
            "http://i/by-hash/abc.sha256",
            "http://i2/v1.33/SHA256SUMS",
            "SHA256SUMS",
        ] {
            assert_eq!(difference(image, own), None, "{own}");
        }
        for other in [
            "http://i/v1.34/ubuntu-kube-v1.33.9.raw.sha256sum",
            "http://i/v1.34/ubuntu-kube-v1.33.9.md5",
        ] {
            assert_eq!(difference(image, other), Some(Fault::Version), "{other}");
        }
        for other in [
            "http://i/v1.34/suse.raw.sha256",
            "http://i/v1.33/SHA256SUMS",
        ] {
            assert_eq!(difference(image, other), Some(Fault::Name), "{other}");
        }
    }

    #[test]
    fn what_moves_says_so_in_a_word_of_its_path() {
        for moves in [
            "http://i/noble/current/n.img",
            "http://i/stream-9-latest.x86_64.qcow2",
            "http://i/kube-v1.34.1-latest.raw",
        ] {
            assert!(moving_word(moves).is_some(), "{moves}");
        }
        for stays in [
            "http://latest/a.raw",
            "http://i/currently/a.raw",
            "http://i/current/ubuntu-2404-kube-v1.34.1.raw",
            "http://i/current/noble-20260131.raw",
            "http://i",
        ] {
            assert_eq!(moving_word(stays), None, "{stays}");
        }
    }
}
