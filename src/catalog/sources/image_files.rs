//! Image files by their names, as a folder or a web server lists them, and the digests in the checksum files beside them.
//!
//! Images are not read: a digest that no file holds is not known. A digest is of the file that it names, so that of
//! `x.raw.gz` is the archive's.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::fact;
use yaml_tree::place::{Located, Place};

use crate::model::checksum::{self, ChecksumKind, KINDS};
use crate::model::name::key_of;
use crate::model::written::WrittenImage;

/// What image files end in, and the format that it says; `img` and `tar` say none by themselves.
const FORMATS: [(&str, Option<&str>); 10] = [
    ("qcow2", Some("qcow2")),
    ("raw", Some("raw")),
    ("img", None),
    ("iso", Some("iso")),
    ("ova", Some("ova")),
    ("vmdk", Some("vmdk")),
    ("vhd", Some("vhd")),
    ("vhdx", Some("vhdx")),
    ("vdi", Some("vdi")),
    ("tar", Some("tar")),
];
const COMPRESSIONS: [&str; 4] = ["gz", "bz2", "xz", "zst"];
/// Lists of digests of several files, and the kind that each holds.
pub(super) const LISTS: [(&str, &str); 3] = [
    ("SHA256SUMS", "sha256"),
    ("SHA512SUMS", "sha512"),
    ("MD5SUMS", "md5"),
];
/// What the digest of one file ends in.
const SUFFIXES: [(&str, &str); 6] = [
    (".sha256sum", "sha256"),
    (".sha256", "sha256"),
    (".sha512sum", "sha512"),
    (".sha512", "sha512"),
    (".md5sum", "md5"),
    (".md5", "md5"),
];
/// The longest list of digests that is read, in bytes.
pub(super) const LONGEST_LIST: usize = 4 << 20;

/// Digests by file name, then by kind.
pub(super) type Digests = BTreeMap<String, BTreeMap<&'static str, String>>;

/// The kind of digest in a checksum file, and the file that the digest is for, unless it is a list.
pub(super) fn checksum_file(name: &str) -> Option<(ChecksumKind, Option<&str>)> {
    if let Some((_, kind)) = LISTS.iter().find(|(list, _)| *list == name) {
        return Some((ChecksumKind::from_name(kind)?, None));
    }
    let (of, kind) = SUFFIXES
        .iter()
        .find_map(|(suffix, kind)| Some((name.strip_suffix(suffix)?, *kind)))?;
    Some((ChecksumKind::from_name(kind)?, Some(of)))
}

/// The digests of a checksum file, each with the file that it is for: `DIGEST  NAME`, `DIGEST *NAME`, `SHA256 (NAME) = DIGEST`,
/// or a digest alone where the checksum file is one image's.
pub(super) fn lines(text: &str, kind: ChecksumKind, of: Option<&str>) -> Vec<(String, String)> {
    let line = |line: &str| {
        let line = line.trim();
        let (digest, name) = match line.rsplit_once(" = ") {
            Some((named, digest)) => {
                let name = named.split_once('(')?.1.strip_suffix(')')?;
                (digest, Some(name))
            }
            None => match line.split_once(char::is_whitespace) {
                Some((digest, name)) => (digest, Some(name.trim_start_matches([' ', '\t', '*']))),
                None => (line, None),
            },
        };
        let digest = digest.to_ascii_lowercase();
        // The name of a checksum file says which image it is for; the name in it may be older.
        let name = of.or(name)?.trim_start_matches("./");
        checksum::fault(&digest, Some(kind))
            .is_none()
            .then(|| (name.to_owned(), digest))
    };
    text.lines().filter_map(line).collect()
}

/// The images among files of these names, with what names and digests say of them.
pub(super) fn images(names: &[String], digests: &Digests) -> Vec<WrittenImage> {
    // Where both `x.raw` and `x.raw.gz` are served they are one image.
    let mut images: BTreeMap<String, WrittenImage> = BTreeMap::new();
    for name in names {
        let Some((stem, format, compression)) = parts(name) else {
            continue;
        };
        let plain = match compression {
            Some(compression) => &name[..name.len() - compression.len() - 1],
            None => name,
        };
        let mut properties: Vec<(Arc<str>, Located<Arc<str>>)> = Vec::new();
        let mut say = |fact: &str, text: &str| {
            properties.push((fact.into(), Located::new(text.into(), Place::NONE)));
        };
        say(fact::FILENAME, name);
        if let Some(format) = format {
            say(fact::IMAGE_FORMAT, format);
        }
        say(fact::COMPRESSION, compression.unwrap_or("none"));
        for kind in KINDS {
            let of = |file: &str| digests.get(file).and_then(|kinds| kinds.get(kind.name));
            if let Some(digest) = of(plain) {
                say(kind.name, digest);
            }
            if let Some(digest) = of(name).filter(|_| compression.is_some()) {
                say(&format!("archive-{}", kind.name), digest);
            }
        }
        let image = WrittenImage {
            properties,
            ..WrittenImage::new(key(stem).into(), Place::NONE)
        };
        // The uncompressed file is what machines fetch.
        if compression.is_none() {
            images.insert(stem.to_owned(), image);
        } else {
            images.entry(stem.to_owned()).or_insert(image);
        }
    }
    images.into_values().collect()
}

/// The parts of an image file's name: what is before its extension, the format and the compression.
fn parts(name: &str) -> Option<(&str, Option<&'static str>, Option<&'static str>)> {
    let (rest, compression) = COMPRESSIONS
        .iter()
        .find_map(|ending| Some((strip_ending(name, ending)?, Some(*ending))))
        .unwrap_or((name, None));
    if let Some(stem) = rest.strip_suffix("-raw.img") {
        return Some((stem, Some("raw"), compression));
    }
    FORMATS
        .iter()
        .find_map(|(ending, format)| Some((strip_ending(rest, ending)?, *format, compression)))
}

fn strip_ending<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let stem = name.strip_suffix(ending)?.strip_suffix('.')?;
    (!stem.is_empty()).then_some(stem)
}

/// The key of a file's name: what a key cannot hold becomes a dash, or a small letter.
fn key(stem: &str) -> String {
    let legal = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() => c,
        _ => '-',
    };
    let key: String = stem.chars().map(legal).collect();
    key_of(&key).map_or(key, |key| key.to_string())
}

#[cfg(test)]
mod tests {
    use super::{checksum_file, images, key, lines, parts};
    use crate::model::checksum::ChecksumKind;

    #[test]
    fn every_way_to_write_a_digest_is_read() {
        let digest = "0123456789ABCDEF".repeat(2);
        let kind = ChecksumKind::from_name("md5").expect("a kind");
        let expected = vec![("x.raw".to_owned(), digest.to_ascii_lowercase())];
        for line in [
            format!("{digest}  x.raw\n"),
            format!("{digest} *x.raw"),
            format!("{digest}  ./x.raw\r\n"),
            format!("MD5 (x.raw) = {digest}"),
            format!("# comment\n\n{digest}\tx.raw"),
        ] {
            assert_eq!(lines(&line, kind, None), expected, "{line}");
        }
        assert_eq!(lines(&digest, kind, Some("x.raw")), expected);
        let renamed = format!("{digest}  built-as.raw");
        assert_eq!(lines(&renamed, kind, Some("x.raw")), expected);
        assert_eq!(lines(&digest[1..], kind, Some("x.raw")), []);
    }

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(parts("a.qcow2"), Some(("a", Some("qcow2"), None)));
        assert_eq!(parts("a.raw.gz"), Some(("a", Some("raw"), Some("gz"))));
        assert_eq!(parts("A_1-raw.img"), Some(("A_1", Some("raw"), None)));
        assert_eq!(parts("a.img"), Some(("a", None, None)));
        assert_eq!(
            (parts("a.gz"), parts(".raw"), parts("a.txt")),
            (None, None, None)
        );
        assert_eq!(key("UBUNTU_22.04_NODE_IMAGE"), "ubuntu-22-04-node-image");
        assert!(checksum_file("a.raw.sha256sum").is_some_and(|(_, of)| of == Some("a.raw")));
        assert!(checksum_file("SHA256SUMS").is_some_and(|(_, of)| of.is_none()));
    }

    #[test]
    fn the_uncompressed_file_is_the_image_and_a_digest_is_of_its_own_file() {
        let names = ["a.raw", "a.raw.gz", "b.raw.gz", "notes.txt"].map(str::to_owned);
        let digest = |name: &str, text: &str| {
            let kinds = [("sha256", text.to_owned())].into_iter().collect();
            (name.to_owned(), kinds)
        };
        let digests = [
            digest("a.raw", "1"),
            digest("b.raw", "2"),
            digest("b.raw.gz", "3"),
        ];
        let images = images(&names, &digests.into_iter().collect());
        let said: Vec<String> = images
            .iter()
            .map(|image| {
                let said = image.properties.iter();
                let said = said.map(|(name, text)| format!("{name}={}", text.value));
                format!("{}: {}", image.name, said.collect::<Vec<_>>().join(" "))
            })
            .collect();
        assert_eq!(
            said,
            [
                "a: filename=a.raw image-format=raw compression=none sha256=1",
                "b: filename=b.raw.gz image-format=raw compression=gz sha256=2 archive-sha256=3",
            ]
        );
    }
}
