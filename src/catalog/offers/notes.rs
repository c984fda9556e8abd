//! Reads which images a builder's version offers from any text that names them, such as its release notes.

use std::borrow::Cow;
use std::collections::BTreeSet;

use oci_artifacts::{Reference, is_oci};
use serde_json::Value;

use crate::model::name::key_of;
use crate::model::version::Version;

use super::builder::folder;
use super::offer::{SNAPSHOTS, is_image_name, name_and_tag};
use super::{Offer, Sites};

/// What editors of Windows put before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The images of a version that a text names: release notes with `oci://REGISTRY/…/NAME:VERSION` lines, or a list of
/// references or names. One artifact may have several tags, in any order and beside other words, up to the next reference or the
/// end of the line: `"oci://REGISTRY/…/NAME:0.5.11 0.5.9 0.6.0"`. A reference of other versions alone is left out; so are
/// snapshots, names of files, other builders' images, and what lies at an address without images, as charts do.
///
/// Where the version is apart from any reference, it may be of each reference of other versions; in a heading, only of those above it.
pub fn parse_offer(text: &str, version: &str, sites: &Sites) -> Offer {
    let notes = notes(text.trim_start_matches(BYTE_ORDER_MARK));
    let lines = lines(&notes);
    let mut reader = NotesReader {
        version,
        sites,
        folders: image_folders(lines.iter().flatten().copied(), sites),
        offer: Offer::default(),
        last: None,
        others: Vec::new(),
        doubted: 0,
    };
    for words in &lines {
        reader.line(words);
    }
    // The text may end within a word, and so may a tag.
    let last = notes.trim_end_matches(['\n', '\r']);
    let last = last.rsplit(is_between).next().unwrap_or_default();
    reader.doubt_cut(last);
    if version.len() > last.len() && version.starts_with(last) && !last.is_empty() {
        let all = sites.listed.iter().cloned();
        reader
            .offer
            .doubtful
            .extend(all.map(|key| (key, last.to_owned())));
    }
    let NotesReader {
        mut offer,
        mut others,
        doubted,
        ..
    } = reader;
    others.truncate(doubted);
    offer.doubtful.extend(others);
    let Offer {
        images, doubtful, ..
    } = &mut offer;
    doubtful.retain(|key, _| !images.contains_key(key));
    offer
}

/// Reads notes, a line after another.
struct NotesReader<'a> {
    version: &'a str,
    sites: &'a Sites,
    /// The addresses that hold images.
    folders: BTreeSet<Result<Reference, &'a str>>,
    offer: Offer,
    /// The image whose checksum may be in the next words.
    last: Option<String>,
    /// The references of other versions, by their keys.
    others: Vec<(String, String)>,
    /// How many of these the version may be of.
    doubted: usize,
}

impl<'a> NotesReader<'a> {
    fn line(&mut self, words: &[&'a str]) {
        let sites = self.sites;
        let is_heading = words.first().is_some_and(|word| word.starts_with('#'));
        let is_next = |word: &str| is_reference(word) || image_keys(word, sites).next().is_some();
        for artifact in words.chunk_by(|_, next| !is_next(next)) {
            let word = artifact.first().copied().unwrap_or_default();
            let word = sites.link_target(word).unwrap_or(word);
            match name_and_tag(word).filter(|_| !sites.is_foreign(word)) {
                Some((name, tag)) => self.artifact(word, name, tag, artifact),
                None => self.other_words(word, artifact, is_heading),
            }
        }
    }

    /// A reference or a name, and its other tags and words.
    fn artifact(&mut self, word: &'a str, name: &str, tag: Option<&str>, words: &[&str]) {
        self.last = None;
        let more = &words[1..];
        let tags = tag.into_iter().chain(more.iter().copied());
        let is_of_version = tag.is_none() || tags.clone().any(|tag| tag == self.version);
        let mut others = tags.filter(|tag| Version::parse(tag).is_some()).peekable();
        let offer = &mut self.offer;
        match key_of(name) {
            Ok(key) if !word.contains('/') && self.sites.is_others(&key) => {}
            _ if !self.folders.is_empty() && !self.folders.contains(&folder(word)) => {
                let left_out = is_of_version.then(|| word.to_owned());
                offer.unread.extend(left_out);
                offer.doubt(word, self.sites);
            }
            Ok(key) if is_of_version => {
                offer.add(&key, name);
                match checksum(more) {
                    Some(sum) => drop(offer.checksums.insert(key.to_string(), sum)),
                    None => self.last = Some(key.to_string()),
                }
            }
            // What is said of the version in other words, as `v0.4.13` or `tag:0.4.13`, is none of another version.
            key if !is_of_version
                && others.peek().is_some()
                && !words.iter().any(|word| mentions(word, self.version)) =>
            {
                let named = key.map(|key| (key.to_string(), word.to_owned()));
                self.others.extend(named);
                offer.other_versions.extend(others.map(str::to_owned));
            }
            _ => {
                if self.sites.is_own(word) {
                    offer.unreadable.insert(word.to_owned());
                }
                offer.doubt(word, self.sites);
            }
        }
    }

    /// Doubts the images whose reference a word may be cut from.
    fn doubt_cut(&mut self, word: &str) {
        if !word.is_empty() {
            let cut = self.sites.find_cut(word, self.version);
            let cut = cut.map(|key| (key.clone(), word.to_owned()));
            self.offer.doubtful.extend(cut);
        }
    }

    /// Words that are none of an artifact of this builder.
    fn other_words(&mut self, word: &str, words: &[&str], is_heading: bool) {
        let Self { offer, sites, .. } = self;
        if let Some(key) = self.last.take().filter(|_| !is_reference(word)) {
            let sum = checksum(words).map(|sum| (key, sum));
            offer.checksums.extend(sum);
        }
        let is_broken = || is_oci(word) && Reference::parse(word).is_err();
        if sites.is_within(word) || sites.is_own(word) && is_broken() {
            offer.unreadable.insert(word.to_owned());
        }
        let address = word.split_once("://").map_or(word, |(_, address)| address);
        if sites.is_foreign(address) || word.contains(SNAPSHOTS) {
            return;
        }
        offer.doubt(word, sites);
        if sites.is_own(address) {
            self.doubt_cut(word.trim_end_matches('…'));
        }
        let is_version = |word: &&str| !word.starts_with("http") && mentions(word, self.version);
        if words.iter().any(is_version) {
            let above = if is_heading {
                self.others.len()
            } else {
                usize::MAX
            };
            self.doubted = self.doubted.max(above);
        }
    }
}

/// The keys of images that a word names beside other characters, as `NAME=1.2.3` does.
fn image_keys<'w>(word: &'w str, sites: &'w Sites) -> impl Iterator<Item = String> + use<'w> {
    let is_apart = |letter: char| !letter.is_ascii_alphanumeric() && !"-.".contains(letter);
    let parts = word.split(is_apart);
    let names = parts.map(|part| part.trim_matches(['-', '.']).to_ascii_lowercase());
    names.filter_map(|name| {
        let key = key_of(&name).ok()?;
        (is_image_name(&name) || sites.listed.contains(&*key)).then(|| key.to_string())
    })
}

/// The addresses that hold images: this builder's, and those of references that are named like images or that the catalog lists.
fn image_folders<'a>(
    words: impl Iterator<Item = &'a str>,
    sites: &Sites,
) -> BTreeSet<Result<Reference, &'a str>> {
    let is_listed = |name: &str| sites.listed.contains(&name.replace('.', "-"));
    let images = words.filter(|word| {
        name_and_tag(word).is_some_and(|(name, _)| is_image_name(name) || is_listed(name))
    });
    let own = sites.own.iter().cloned().map(Ok);
    images.map(folder).chain(own).collect()
}

/// Whether a word holds a version as a whole, maybe behind letters such as `v`.
fn mentions(word: &str, version: &str) -> bool {
    let is_start = |letter: char| letter.is_ascii_digit() || ".-+".contains(letter);
    let is_end = |letter: char| letter.is_ascii_alphanumeric() || ".-+_".contains(letter);
    word.match_indices(version).any(|(at, _)| {
        let after = word[at + version.len()..].trim_end_matches('.');
        !word[..at].ends_with(is_start) && !after.starts_with(is_end)
    })
}

/// The words of each line, without marks between them. Versions alone in a line belong to the line above: somebody wrapped it.
fn lines(notes: &str) -> Vec<Vec<&str>> {
    let mut lines: Vec<Vec<&str>> = Vec::new();
    for line in notes.lines() {
        let words = line
            .split(is_between)
            .map(|word| word.trim_end_matches(['.', ':']));
        let is_word = |word: &&str| word.contains(|it: char| it.is_alphanumeric() || it == '#');
        let words: Vec<&str> = words.filter(is_word).collect();
        let are_versions = words.iter().all(|word| Version::parse(word).is_some());
        match lines.last_mut().filter(|above| !above.is_empty()) {
            Some(above) if are_versions && !words.is_empty() => above.extend(words),
            _ => lines.push(words),
        }
    }
    lines
}

/// The SHA-256 among words: `sha256: HEX`, as Sylva's builders write that of the image's file.
fn checksum(words: &[&str]) -> Option<String> {
    let is_sum = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut pairs = words.windows(2);
    let found = pairs.find(|pair| pair[0] == "sha256" && is_sum(pair[1]))?;
    Some(found[1].to_ascii_lowercase())
}

/// Whether a word may have tags behind it, or ends those of the word before.
fn is_reference(word: &str) -> bool {
    word.contains('/') || name_and_tag(word).is_some()
}

/// The notes in a text: in JSON its texts, a line each, and of a release only GitLab's `description` and GitHub's `body`; any other
/// text is notes itself.
/// (<https://docs.gitlab.com/api/releases/#get-a-release-by-a-tag-name>,
/// <https://docs.github.com/en/rest/releases/releases#get-a-release-by-tag-name>)
fn notes(text: &str) -> Cow<'_, str> {
    match serde_json::from_str(text) {
        Ok(json) => {
            let mut notes = String::new();
            collect_texts(&json, &mut notes);
            Cow::Owned(notes)
        }
        Err(_) => Cow::Borrowed(text),
    }
}

fn collect_texts(json: &Value, notes: &mut String) {
    match json {
        Value::String(text) => {
            notes.push_str(text);
            notes.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, notes)),
        Value::Object(fields) => {
            let release = ["description", "body"].map(|name| fields.get(name));
            let mut release = release.into_iter().flatten().peekable();
            if release.peek().is_some() {
                release.for_each(|text| collect_texts(text, notes));
            } else {
                fields
                    .values()
                    .for_each(|field| collect_texts(field, notes));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The characters around references and tags in Markdown, YAML and JSON.
fn is_between(letter: char) -> bool {
    letter.is_whitespace() || ",;()<>[]{}\"'`|*".contains(letter)
}

impl Offer {
    /// Adds the images that a word names without saying of which version they are.
    fn doubt(&mut self, word: &str, sites: &Sites) {
        let named = image_keys(word, sites).map(|key| (key, word.to_owned()));
        self.doubtful.extend(named);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};

    use super::{Reference, Sites, notes, parse_offer};

    #[test]
    fn a_text_that_ends_within_a_reference_or_a_version_leaves_images_in_doubt() {
        let key = "ubuntu-noble-plain-rke2-1-34";
        let own = Reference::parse("oci://r.example/dib").expect("a reference");
        let sites = Sites {
            listed: BTreeSet::from([key.to_owned()]),
            own: BTreeSet::from([own]),
            ..Sites::default()
        };
        let other = "oci://r.example/dib/ubuntu-noble-plain-rke2-1-33:0.4.13\n";
        for (end, is_doubtful) in [
            ("", false),
            ("oci://r.example/dib/ubuntu-noble-plain-rke", true),
            ("see 0.4.1", true),
            ("see 0.4.12", false),
        ] {
            let offer = parse_offer(&format!("{other}{end}"), "0.4.13", &sites);
            assert_eq!(offer.doubtful.contains_key(key), is_doubtful, "{end}");
        }
    }

    #[test]
    fn notes_may_begin_with_a_byte_order_mark() {
        let key = "ubuntu-noble-plain-rke2-1-34";
        let text = format!("\u{feff}oci://r.example/dib/{key}:0.4.13\n");
        let offer = parse_offer(&text, "0.4.13", &Sites::default());
        assert!(offer.images.contains_key(key), "{offer:?}");
    }

    #[test]
    fn a_name_of_another_builders_line_is_none_of_this_builder() {
        let keys = |keys: &[&str]| keys.iter().map(ToString::to_string).collect();
        let (own, other) = (
            "leapmicro-6-0-plain-rke2-1-33",
            "ubuntu-noble-plain-rke2-1-34",
        );
        let sites = Sites {
            listed: keys(&[own, other]),
            others: keys(&[other]),
            ..Sites::default()
        };
        let offered = |text: &str| {
            let offer = parse_offer(text, "0.4.13", &sites);
            offer.images.into_keys().collect::<Vec<_>>()
        };
        let list = "ubuntu-noble-plain-rke2-1-34\nubuntu-noble-plain-rke2-1-35\nleapmicro-6-0-plain-rke2-1-34";
        assert_eq!(offered(list), ["leapmicro-6-0-plain-rke2-1-34"]);
        assert_eq!(
            offered("oci://r.example/kiwi/ubuntu-noble-plain-rke2-1-34:0.4.13"),
            [other]
        );
    }

    fn images(text: &str) -> Vec<String> {
        parse_offer(text, "0.4.13", &Sites::default())
            .images
            .into_keys()
            .collect()
    }

    #[test]
    fn release_notes_are_read() {
        let notes = "\
## Images
* `oci://registry.gitlab.com/sylva-projects/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-9:0.4.13`
  sha256: 5a3f, file ubuntu-noble-plain-rke2-1-31-9-0.4.13.raw
| [hardened](oci://r.example/d/ubuntu-noble-hardened-rke2-1-31-9:0.4.13) |
* oci://r.example/d/ubuntu-noble-plain-rke2-1-30-12:0.4.12
* oci://r.example/d/snapshots/ubuntu-noble-plain-rke2-1-29-1:0.4.13
See https://r.example/d/ubuntu-noble-plain-rke2-1-28-1.
";
        assert_eq!(
            images(notes),
            [
                "ubuntu-noble-hardened-rke2-1-31-9",
                "ubuntu-noble-plain-rke2-1-31-9"
            ]
        );
        let others = parse_offer(notes, "0.4.13", &Sites::default()).other_versions;
        assert_eq!(others.into_iter().collect::<Vec<_>>(), ["0.4.12"]);
    }

    /// A builder's images below `oci://r.example/d`, and another one's.
    fn sites() -> Sites {
        Sites {
            own: Reference::parse_prefix("r.example/d").into_iter().collect(),
            foreign: Reference::parse_prefix("r.example/other")
                .into_iter()
                .collect(),
            ..Sites::default()
        }
    }

    #[test]
    fn one_artifact_may_have_several_tags() {
        let read = |version: &str| {
            let notes = "\
Image: \"oci://r.example/d/a-1-30:0.5.10 0.4.13\"
\"sha256: 00\"
| oci://r.example/d/b-1-31:0.5.11 | 0.4.13 | `0.6.0` |
Image: \"oci://r.example/d/c-1-32:0.4.13 zz-test\"
* oci://r.example/d/d-1-32:0.4.130 0.4
* oci://r.example/d/e-1-32:0.5.10, oci://r.example/d/snapshots/f-1-32:x 0.4.13
Image: \"oci://r.example/other/g-1-32:0.4.13 0.5.10\"
and 0.4.13 is here
";
            let offer = parse_offer(notes, version, &sites());
            assert!(offer.unreadable.is_empty());
            let names: Vec<String> = offer.images.into_keys().collect();
            let others: Vec<String> = offer.other_versions.into_iter().collect();
            format!("{} beside {}", names.join(" "), others.join(" "))
        };
        assert_eq!(
            read("0.4.13"),
            "a-1-30 b-1-31 c-1-32 beside 0.4 0.4.130 0.5.10"
        );
        assert_eq!(read("0.4"), "d-1-32 beside 0.4.13 0.5.10 0.5.11 0.6.0");
        assert_eq!(
            read("0.4.0"),
            " beside 0.4 0.4.13 0.4.130 0.5.10 0.5.11 0.6.0"
        );
    }

    /// A host has no case, neither the builder's own nor another's, and a port that goes without saying.
    #[test]
    fn a_host_in_another_spelling_is_the_same_registry() {
        let notes = "\
oci://R.Example/d/a-1-30:0.4.13
OCI://r.example:443/d/b-1-30:0.4.13
R.EXAMPLE/d/ubuntu-noble-plain-rke2-1-31:0.4.12 0.4.13
oci://R.Example/other/c-1-32:0.4.13
oci://R.Example/d/d-1-32:latest
REF=oci://R.Example/d/e-1-32:0.4.13
D/A and R.Example/D/f-1-32
";
        let offer = parse_offer(notes, "0.4.13", &sites());
        let names: Vec<String> = offer.images.into_keys().collect();
        assert_eq!(names, ["a-1-30", "b-1-30", "ubuntu-noble-plain-rke2-1-31"]);
        let unreadable: Vec<String> = offer.unreadable.into_iter().collect();
        assert_eq!(
            unreadable,
            [
                "REF=oci://R.Example/d/e-1-32:0.4.13",
                "oci://R.Example/d/d-1-32:latest"
            ]
        );
        // A tag has one.
        let notes = "oci://R.Example/d/a-1-30:0.4.13 0.5.0-RC1";
        let offer = parse_offer(notes, "0.5.0-RC1", &sites());
        assert_eq!(offer.images.len(), 1);
    }

    #[test]
    fn what_may_be_an_image_of_the_version_is_not_left_out() {
        for (notes, unreadable) in [
            (
                "oci://r.example/d/a-1-32:latest",
                "oci://r.example/d/a-1-32:latest",
            ),
            (
                "oci://r.example/d/A_B:0.4.13",
                "oci://r.example/d/A_B:0.4.13",
            ),
            (
                "r.example/d/ubuntu-noble-plain-rke2-1-32:dev",
                "r.example/d/ubuntu-noble-plain-rke2-1-32:dev",
            ),
            (
                "~~oci://r.example/d/a-1-32:0.4.13~~ withdrawn",
                "~~oci://r.example/d/a-1-32:0.4.13~~",
            ),
            (
                "oci://r.example/d/a-1-32:0.4.12/0.4.13",
                "oci://r.example/d/a-1-32:0.4.12/0.4.13",
            ),
            (
                "https://r.example/d/a-1-32:0.4.13",
                "r.example/d/a-1-32:0.4.13",
            ),
            ("https://r.example/other/a-1-32:0.4.13", ""),
            (
                "oci://r.example/d/a-1-32:0.4.12 v0.4.13",
                "oci://r.example/d/a-1-32:0.4.12",
            ),
            ("oci://r.example/d/A_B:0.4.12", ""),
            ("oci://r.example/d/snapshots/a-1-32:latest", ""),
            ("oci://r.example/tools/cosign:latest", ""),
            ("oci://r.example/other/a-1-32:latest", ""),
        ] {
            let found = parse_offer(notes, "0.4.13", &sites());
            let found: Vec<String> = found.unreadable.into_iter().collect();
            assert_eq!(found.concat(), unreadable, "{notes}");
        }
    }

    proptest! {
        /// Notes as builders write them: an image is offered where one of its tags is the version, in whatever order they are.
        #[test]
        fn an_image_is_offered_exactly_where_one_of_its_tags_is_the_version(
            lines in prop::collection::vec(
                (
                    "[a-c]-1-3[0-3]",
                    prop::collection::vec("0\\.4\\.13|0\\.4|0\\.5\\.[0-9]|zz-[a-z]{1,4}", 1..4),
                    prop::sample::select(vec!["Image: \"{}\"", "* `{}`", "| {} | 00 |", "{} sha256: 0f"]),
                ),
                0..6,
            )
        ) {
            let (mut notes, mut offered) = (String::new(), BTreeSet::new());
            for (name, tags, form) in &lines {
                let reference = format!("oci://r.example/d/{name}:{}", tags.join(" "));
                notes += &format!("{}\n\n", form.replace("{}", &reference));
                offered.extend(tags.contains(&"0.4.13".to_owned()).then(|| name.clone()));
            }
            let found = parse_offer(&notes, "0.4.13", &sites()).images;
            prop_assert_eq!(found.into_keys().collect::<BTreeSet<_>>(), offered);
        }
    }

    #[test]
    fn an_image_may_be_of_a_version_that_is_apart_from_any_reference() {
        let image = "ubuntu-noble-plain-rke2-1-32";
        for (notes, is_doubtful) in [
            ("NAME:0.4.12\n\n0.4.13", true),
            ("NAME&#58;0.4.13", true),
            ("oci://r.example/d/b-1-32:0.4.13 NAME&#58;0.4.13", true),
            ("0.4.13: oci://r.example/d/NAME:0.4.12", true),
            ("NAME_0.4.13", true),
            ("oci://r.example/d/NAME/:0.4.13", true),
            ("NAME:0.4.12\n# 0.4.13", true),
            ("# 0.4.13\nNAME:0.4.12", false),
            (
                "# 0.4.13\nNAME:0.4.12\n\n0.4.130 and https://r.example/0.4.13",
                false,
            ),
            ("NAME:0.4.12 0.4.13\n\n0.4.13", false),
            ("oci://r.example/other/NAME:0.4.12\n\n0.4.13", false),
            ("https://r.example/other/NAME\n\n0.4.13", false),
            ("oci://r.example/d/snapshots/NAME:0.4.12\n\n0.4.13", false),
            ("NAME-0.4.13.raw\n\n0.4.13", false),
        ] {
            let notes = notes.replace("NAME", image);
            let offer = parse_offer(&notes, "0.4.13", &sites());
            assert_eq!(offer.find_doubt(image).is_some(), is_doubtful, "{notes}");
        }
        let offer = parse_offer(
            "ubuntu-noble-plain-rke2-1-32-5&#58;0.4.13",
            "0.4.13",
            &sites(),
        );
        let doubt = |patch: &str| offer.find_doubt(&format!("{image}.{patch}")).is_some();
        assert_eq!(["4", "5", "6"].map(doubt), [true, true, false]);
    }

    proptest! {
        /// However notes join an image, its other tags and the version: it is offered, or it stops what would remove it.
        #[test]
        fn an_image_beside_the_version_is_never_left_out(
            images in prop::collection::vec(
                (
                    "(oci://r\\.example/d/|r\\.example/d/|https://r\\.example/d/|)ubuntu-noble-plain-rke2-1-3[0-3]",
                    prop::option::of(": ?0\\.4\\.12( v0\\.3)?"),
                    "[ \n|/=:_@~>`\"]{1,4}|\n\n(\\* |> |# |\\| |tag: )?|&#58;|%3A|&colon;|: v| → | \\(",
                    "\n{1,2}|, | ",
                ),
                1..4,
            )
        ) {
            let mut notes = String::new();
            for (name, tag, joint, end) in &images {
                let tag = tag.as_deref().unwrap_or_default();
                notes += &format!("{name}{tag}{joint}0.4.13{end}");
            }
            let offer = parse_offer(&notes, "0.4.13", &sites());
            for (name, ..) in &images {
                let name = name.rsplit('/').next().expect("a name");
                let is_safe = offer.images.contains_key(name)
                    || !offer.unreadable.is_empty()
                    || offer.find_doubt(name).is_some();
                prop_assert!(is_safe, "{name} in {notes:?}: {offer:?}");
            }
        }
    }

    #[test]
    fn a_release_holds_its_notes() {
        for (text, wanted) in [
            (r#"{"tag_name": "1", "description": "a\nb"}"#, "a\nb\n"),
            (r#"{"name": "x", "body": "a"}"#, "a\n"),
            (r#"{"name": "x", "description": null, "body": null}"#, ""),
            (r#"[{"description": "a"}, {"body": "b"}]"#, "a\nb\n"),
            (r#"{"images": ["a", "b"], "count": 2}"#, "a\nb\n"),
            ("* a", "* a"),
        ] {
            assert_eq!(notes(text), wanted, "{text}");
        }
    }

    #[test]
    fn the_last_tag_of_a_line_is_read_in_a_release_as_its_forge_sends_it() {
        let text = "{\"description\": \"Image: \\\"oci://r.example/d/a-1-31:0.4.12 0.4.13\\\"\\n\\\"sha256: 00\\\"\"}";
        assert_eq!(images(text), ["a-1-31"]);
    }

    #[test]
    fn tags_that_are_wrapped_belong_to_the_line_above() {
        let text = "oci://r.example/d/a-1-31:0.4.12\n  0.4.13 0.5.0\n\n0.4.13\noci://r.example/d/b-1-31:0.4.12\n0.4.13 is new\n";
        assert_eq!(images(text), ["a-1-31"]);
    }

    #[test]
    fn a_checksum_is_of_the_image_before_it() {
        let [one, two] = ["1", "2"].map(|digit| digit.repeat(64));
        for (notes, sums) in [
            (
                format!("oci://r.example/d/a-1-31:0.4.13\n\n\"sha256: {one}\"\nsha256: {two}"),
                "a-1-31 1",
            ),
            (
                format!("* oci://r.example/d/a-1-31:0.4.13 sha256: {two}\nsha256: {one}"),
                "a-1-31 2",
            ),
            (
                format!("oci://r.example/d/a-1-31:0.4.13\nOther files\nsha256: {one}"),
                "",
            ),
            (
                format!(
                    "oci://r.example/d/a-1-31:0.4.13\noci://r.example/other/x-1-31:0.4.13 sha256: {one}"
                ),
                "",
            ),
            (
                format!(
                    "oci://r.example/d/a-1-31:0.4.13\noci://r.example/d/b-1-31:0.4.12\nsha256: {one}"
                ),
                "",
            ),
            ("oci://r.example/d/a-1-31:0.4.13\nsha256: 00".to_owned(), ""),
        ] {
            let found = parse_offer(&notes, "0.4.13", &sites()).checksums;
            let found = found
                .iter()
                .map(|(key, sum)| format!("{key} {}", &sum[..1]));
            assert_eq!(found.collect::<Vec<_>>().join(", "), sums, "{notes}");
        }
    }

    #[test]
    fn a_chart_in_the_notes_is_no_image() {
        let notes = "\
* oci://up.example/b/ubuntu-noble-plain-rke2-1-31:0.4.13 oci://up.example/b/gateway:0.4.13
* oci://up.example/charts/units:0.4.13, oci://r.example/charts/units:0.4.13 oci://r.example/charts/old:0.4.12
* oci://r.example/d/edge:0.4.13
* oci://old.example/own.image:0.4.13 oci://old.example/new:0.4.13
";
        let listed = Sites {
            listed: ["own-image".to_owned()].into(),
            ..sites()
        };
        let offer = parse_offer(notes, "0.4.13", &listed);
        let found: Vec<String> = offer.images.into_keys().collect();
        let left_out: Vec<String> = offer.unread.into_iter().collect();
        assert_eq!(
            [found.join(" "), left_out.join(" ")],
            [
                "edge gateway new own-image ubuntu-noble-plain-rke2-1-31",
                "oci://r.example/charts/units:0.4.13 oci://up.example/charts/units:0.4.13"
            ]
        );
    }

    #[test]
    fn a_list_of_names_is_read() {
        assert_eq!(
            images(
                "ubuntu-noble-plain-rke2-1.31.9\n# opensuse-15-6-plain-kubeadm-1-31-9\nword\n1.31.9\n"
            ),
            [
                "opensuse-15-6-plain-kubeadm-1-31-9",
                "ubuntu-noble-plain-rke2-1-31-9"
            ]
        );
        assert!(images("").is_empty());
    }

    #[test]
    fn a_reference_with_a_tag_names_an_image_whatever_its_name_says() {
        assert_eq!(images("* oci://r.example/d/gateway:0.4.13"), ["gateway"]);
        for prose in [
            "r.example/d/gateway:0.4.13",
            "oci://r.example/d/gateway",
            "oci://gateway:0.4.13",
        ] {
            assert!(images(prose).is_empty(), "{prose}");
        }
    }
}
