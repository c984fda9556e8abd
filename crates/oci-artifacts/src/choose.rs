//! Resolves references to images: for an index, to the manifest of a platform.

use std::sync::Arc;

use super::{Content, Descriptor, Failure, FailureKind, Manifest, Reference, Store};

/// Which manifest of an index is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// The architecture, as Go or Linux spells it: `amd64` and `x86_64` are one.
    pub architecture: Arc<str>,
    /// The operating system.
    pub os: Arc<str>,
    /// The annotation `disktype` by which Ironic distinguishes forms of one image: `qcow2`, `raw`.
    pub disktype: Option<Arc<str>>,
}

impl Default for Platform {
    fn default() -> Self {
        Self {
            architecture: "amd64".into(),
            os: "linux".into(),
            disktype: None,
        }
    }
}

/// The image of a reference.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The image's own manifest, never an index.
    pub manifest: Manifest,
    /// The index that the reference names, if it names one.
    pub index: Option<Manifest>,
}

impl Chosen {
    /// What the reference names: the index, if there is one.
    pub fn whole(&self) -> &Manifest {
        self.index.as_ref().unwrap_or(&self.manifest)
    }
}

/// The images of references, in their order: one batch of requests, and one more for all indexes among them.
pub fn images(
    store: &dyn Store,
    references: &[Reference],
    platform: &Platform,
) -> Vec<Result<Chosen, Failure>> {
    let mut chosen = Vec::with_capacity(references.len());
    let (mut children, mut places) = (Vec::new(), Vec::new());
    for (place, (reference, answer)) in references
        .iter()
        .zip(store.manifests(references))
        .enumerate()
    {
        chosen.push(answer.and_then(|manifest| {
            if let Content::Index { manifests, .. } = &manifest.content {
                let child =
                    find_part(manifests, platform).map_err(|why| why.into_failure(reference))?;
                children.push(reference.with_digest(&child.digest));
                places.push(place);
            }
            Ok(Chosen {
                manifest,
                index: None,
            })
        }));
    }
    if children.is_empty() {
        return chosen;
    }
    let answers = store.manifests(&children);
    for ((place, child), answer) in places.into_iter().zip(&children).zip(answers) {
        let index = std::mem::replace(&mut chosen[place], Err(Failure::no_answer(child)));
        chosen[place] = index.and_then(|index| choose_child(index.manifest, child, answer));
    }
    chosen
}

/// The image of one reference.
///
/// # Errors
/// It cannot be fetched, or its index has none for the platform, or several.
pub fn image(
    store: &dyn Store,
    reference: &Reference,
    platform: &Platform,
) -> Result<Chosen, Failure> {
    let answer = images(store, std::slice::from_ref(reference), platform).pop();
    answer.unwrap_or_else(|| Err(Failure::no_answer(reference)))
}

/// Why no manifest of an index is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPart {
    /// What is wrong, in one clause.
    pub message: String,
    help: String,
}

impl NoPart {
    fn into_failure(self, reference: &Reference) -> Failure {
        Failure::new(reference, FailureKind::Unsupported, self.message).help(self.help)
    }
}

/// The annotation of what Docker's builder puts beside images: provenance.
const ATTACHED: &str = "vnd.docker.reference.type";

/// The annotation of the form of a disk image.
const DISKTYPE: &str = "disktype";

/// The one manifest of an index for a platform; where there is only one and it names no architecture, that one.
///
/// # Errors
/// None fits, or several.
pub fn find_part<'a>(
    manifests: &'a [Descriptor],
    platform: &Platform,
) -> Result<&'a Descriptor, NoPart> {
    let Platform {
        architecture,
        os,
        disktype,
    } = platform;
    let images = manifests.iter();
    let images: Vec<_> = images
        .filter(|it| !it.annotations.contains_key(ATTACHED))
        .collect();
    let form = |part: &Descriptor| part.annotations.get(DISKTYPE).cloned();
    let is_only = images.len() == 1;
    let fits = |part: &&&Descriptor| {
        let own = part.architecture.as_deref();
        own.map_or(is_only, |own| go_spelling(own) == go_spelling(architecture))
            && part.os.as_deref().is_none_or(|own| *own == **os)
            && disktype
                .as_deref()
                .is_none_or(|it| form(part).as_deref() == Some(it))
    };
    let found: Vec<&Descriptor> = images.iter().filter(fits).copied().collect();
    let (message, key, offered) = match &*found {
        [only] => return Ok(only),
        [] => {
            let disk = { disktype.iter() }.map(|it| format!(" of the disktype `{it}`"));
            let disk: String = disk.collect();
            let message = format!("its index has no manifest for `{os}/{architecture}`{disk}");
            let names = images.iter().filter_map(|part| {
                let system = { part.os.iter() }.map(|os| format!("{os}/"));
                Some(system.collect::<String>() + part.architecture.as_ref()?)
            });
            (message, "architecture", names.collect::<Vec<_>>())
        }
        several => {
            let count = several.len();
            let message = format!("its index has {count} manifests for `{os}/{architecture}`");
            let forms = several.iter().filter_map(|part| form(part));
            (message, DISKTYPE, forms.collect())
        }
    };
    let mut offered: Vec<String> = offered
        .into_iter()
        .filter(|it| !it.ends_with("unknown"))
        .collect();
    offered.sort_unstable();
    offered.dedup();
    let help = if offered.is_empty() {
        format!("the index does not say `{key}`: name the digest of the manifest")
    } else {
        format!(
            "it has: {}; select one with `registries: {{{key}: …}}` in the project file",
            offered.join(", ")
        )
    };
    Err(NoPart { message, help })
}

/// An architecture as Go spells it.
fn go_spelling(text: &str) -> &str {
    match text {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn choose_child(
    index: Manifest,
    child: &Reference,
    answer: Result<Manifest, Failure>,
) -> Result<Chosen, Failure> {
    // An index that names missing manifests is broken, which is not an error of the catalog.
    let manifest = answer.map_err(|failure| Failure {
        kind: match failure.kind {
            FailureKind::NotFound => FailureKind::Corrupt,
            kind => kind,
        },
        ..failure
    })?;
    if matches!(manifest.content, Content::Index { .. }) {
        let message = "its index names another index, which is not followed";
        return Err(Failure::new(child, FailureKind::Unsupported, message));
    }
    Ok(Chosen {
        manifest,
        index: Some(index),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use super::super::{
        Descriptor, Digest, Failure, FailureKind, Manifest, Reference, Store, Target,
    };
    use super::{Platform, find_part, images};

    /// Manifests by tag or digest, and the number of references in each batch.
    #[derive(Default)]
    struct FakeStore {
        content: BTreeMap<String, Vec<u8>>,
        batches: Mutex<Vec<usize>>,
    }

    impl FakeStore {
        fn put(&mut self, tag: &str, text: &str) -> Digest {
            let digest = Digest::compute(text.as_bytes());
            self.content.insert(digest.to_string(), text.into());
            self.content.insert(tag.to_owned(), text.into());
            digest
        }

        fn image(&mut self, tag: &str) -> Digest {
            let config = Digest::compute(tag.as_bytes());
            self.put(
                tag,
                &format!(r#"{{"config":{{"mediaType":"x","digest":"{config}","size":1}}}}"#),
            )
        }

        fn index(&mut self, tag: &str, of: &[(&str, &Digest)]) -> Digest {
            let entry = |(platform, digest): &(&str, &Digest)| {
                format!(r#"{{"mediaType":"x","digest":"{digest}","size":1{platform}}}"#)
            };
            let entries: Vec<String> = of.iter().map(entry).collect();
            self.put(tag, &format!(r#"{{"manifests":[{}]}}"#, entries.join(",")))
        }
    }

    impl Store for FakeStore {
        fn manifests(&self, references: &[Reference]) -> Vec<Result<Manifest, Failure>> {
            self.batches
                .lock()
                .expect("not poisoned")
                .push(references.len());
            let get = |reference: &Reference| {
                let key = match reference.target() {
                    Target::Tag(tag) => tag,
                    Target::Digest(digest) => digest.as_str(),
                };
                let missing = || Failure::new(reference, FailureKind::NotFound, "missing");
                let bytes = self.content.get(key).cloned().ok_or_else(missing)?;
                Ok(Manifest::read(bytes).expect("a manifest"))
            };
            references.iter().map(get).collect()
        }

        fn blobs(&self, _: &[(Reference, Descriptor)], _: u64) -> Vec<Result<Vec<u8>, Failure>> {
            Vec::new()
        }

        fn sizes(&self, _: &[(Reference, Digest)]) -> Vec<Result<Option<u64>, Failure>> {
            Vec::new()
        }

        fn referrers(&self, _: &[(Reference, Digest)]) -> Vec<Result<Vec<Descriptor>, Failure>> {
            Vec::new()
        }

        fn tags(&self, _: &Reference) -> Result<Vec<String>, Failure> {
            Ok(Vec::new())
        }

        fn repositories(&self, _: &Reference) -> Result<Vec<String>, Failure> {
            Ok(Vec::new())
        }
    }

    const AMD64: &str = r#","platform":{"architecture":"amd64","os":"linux"}"#;
    const ARM64: &str = r#","platform":{"architecture":"arm64","os":"linux"}"#;

    #[test]
    fn indexes_are_resolved_for_the_architecture_in_one_more_batch() {
        let mut store = FakeStore::default();
        let (plain, amd, arm) = (store.image("plain"), store.image("amd"), store.image("arm"));
        let both = store.index("both", &[(ARM64, &arm), (AMD64, &amd)]);
        let bare = store.index("bare", &[("", &plain)]);
        store.index("arm-only", &[(ARM64, &arm)]);
        store.index("nested", &[(AMD64, &both)]);
        let tags = ["plain", "both", "bare", "arm-only", "nested", "missing"];
        let references =
            tags.map(|tag| Reference::parse(&format!("r.example/a:{tag}")).expect("one"));
        let chosen = images(&store, &references, &Platform::default());
        let digests = |place: usize| {
            let chosen = chosen[place].as_ref().expect("an image");
            [chosen.whole(), &chosen.manifest].map(|it| it.digest.clone())
        };
        assert_eq!(digests(0), [plain.clone(), plain.clone()]);
        assert_eq!(digests(1), [both, amd]);
        assert_eq!(digests(2), [bare, plain]);
        let kind = |place: usize| chosen[place].as_ref().map_err(|failure| failure.kind).err();
        assert_eq!(kind(3), Some(FailureKind::Unsupported));
        assert_eq!(kind(4), Some(FailureKind::Unsupported));
        assert_eq!(kind(5), Some(FailureKind::NotFound));
        assert_eq!(*store.batches.lock().expect("not poisoned"), [6, 3]);
    }

    #[test]
    fn the_one_manifest_that_fits_is_taken_and_ambiguity_is_refused() {
        let part = |text: &str| -> Descriptor {
            let digest = Digest::compute(text.as_bytes());
            let text = format!(r#"{{"mediaType":"x","digest":"{digest}","size":1,{text}}}"#);
            serde_json::from_str(&text).expect("a descriptor")
        };
        let on = |architecture: &str, os: &str, more: &str| {
            let platform = format!(r#""architecture":"{architecture}","os":"{os}""#);
            part(&format!(
                r#""platform":{{{platform}}},"annotations":{{{more}}}"#
            ))
        };
        let raw = on("x86_64", "linux", r#""disktype":"raw""#);
        let qcow2 = on("amd64", "linux", r#""disktype":"qcow2""#);
        let windows = on("amd64", "windows", "");
        let attached = on(
            "amd64",
            "linux",
            r#""vnd.docker.reference.type":"attestation-manifest""#,
        );
        let arm = on("aarch64", "linux", "");
        let find = |parts: &[&Descriptor], architecture: &str, disktype: Option<&str>| {
            let parts: Vec<Descriptor> = parts.iter().copied().cloned().collect();
            let platform = Platform {
                architecture: architecture.into(),
                disktype: disktype.map(Into::into),
                ..Platform::default()
            };
            let found = find_part(&parts, &platform).map(|it| it.digest.clone());
            found.map_err(|it| format!("{}: {}", it.message, it.help))
        };
        let all = [&raw, &windows, &attached, &arm];
        assert_eq!(find(&all, "amd64", None), Ok(raw.digest.clone()));
        assert_eq!(find(&all, "arm64", None), Ok(arm.digest.clone()));
        let both = [&qcow2, &raw];
        assert_eq!(find(&both, "x86_64", Some("raw")), Ok(raw.digest.clone()));
        let refused = |parts: &[&Descriptor], architecture, disktype| {
            find(parts, architecture, disktype).expect_err("refused")
        };
        assert_eq!(
            refused(&both, "amd64", None),
            "its index has 2 manifests for `linux/amd64`: it has: qcow2, raw; select one with `registries: {disktype: …}` in the project file"
        );
        assert_eq!(
            refused(&all, "s390x", Some("raw")),
            "its index has no manifest for `linux/s390x` of the disktype `raw`: it has: linux/aarch64, linux/x86_64, windows/amd64; select one with `registries: {architecture: …}` in the project file"
        );
        assert_eq!(
            refused(&[&windows, &windows], "amd64", None),
            "its index has no manifest for `linux/amd64`: it has: windows/amd64; select one with `registries: {architecture: …}` in the project file"
        );
        let bare = part(r#""annotations":{}"#);
        assert_eq!(
            find(&[&bare, &attached], "amd64", None),
            Ok(bare.digest.clone())
        );
        assert_eq!(
            refused(&[&bare, &bare], "amd64", None),
            "its index has no manifest for `linux/amd64`: the index does not say `architecture`: name the digest of the manifest"
        );
    }
}
