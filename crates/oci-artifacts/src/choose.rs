//! Resolves references to images: for an index, to the manifest of an architecture.

use super::{Content, Descriptor, Digest, Failure, FailureKind, Manifest, Reference, Store};

/// The image of a reference.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The image's own manifest, never an index.
    pub manifest: Manifest,
    /// The digests from the reference to the image: that of an index first, if there is one, then that of the image's manifest.
    pub chain: Vec<Digest>,
}

/// The images of references, in their order: one batch of requests, and one more for all indexes among them.
pub fn images(
    store: &dyn Store,
    references: &[Reference],
    architecture: &str,
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
                let child = for_architecture(reference, manifests, architecture)?;
                children.push(reference.with_digest(&child.digest));
                places.push(place);
            }
            let chain = vec![manifest.digest.clone()];
            Ok(Chosen { manifest, chain })
        }));
    }
    if children.is_empty() {
        return chosen;
    }
    let answers = store.manifests(&children);
    for ((place, child), answer) in places.into_iter().zip(&children).zip(answers) {
        let Ok(index) = &chosen[place] else { continue };
        let above = index.chain.clone();
        chosen[place] = answer.and_then(|manifest| choose_child(above, child, manifest));
    }
    chosen
}

/// The image of one reference.
///
/// # Errors
/// It cannot be fetched, or its index has none for the architecture.
pub fn image(
    store: &dyn Store,
    reference: &Reference,
    architecture: &str,
) -> Result<Chosen, Failure> {
    let answer = images(store, std::slice::from_ref(reference), architecture).pop();
    answer.unwrap_or_else(|| Err(Failure::no_answer(reference)))
}

/// The descriptor for an architecture; if there is only one without an architecture, that one.
fn for_architecture<'a>(
    reference: &Reference,
    manifests: &'a [Descriptor],
    architecture: &str,
) -> Result<&'a Descriptor, Failure> {
    let mut fitting = manifests.iter();
    let fits = |descriptor: &&Descriptor| descriptor.architecture.as_deref() == Some(architecture);
    if let Some(found) = fitting.find(fits) {
        return Ok(found);
    }
    if let [only] = manifests
        && only.architecture.is_none()
    {
        return Ok(only);
    }
    let mut offered: Vec<&str> = manifests
        .iter()
        .filter_map(|descriptor| descriptor.architecture.as_deref())
        .filter(|architecture| *architecture != "unknown")
        .collect();
    offered.sort_unstable();
    offered.dedup();
    let message = format!("its index has no manifest for `{architecture}`");
    let failure = Failure::new(reference, FailureKind::NotFound, message);
    Err(if offered.is_empty() {
        failure.help("the index declares no architecture: name the digest of the manifest")
    } else {
        failure.help(format!(
            "it has: {}; select one with `registries: {{architecture: …}}` in the project file",
            offered.join(", ")
        ))
    })
}

fn choose_child(
    mut chain: Vec<Digest>,
    child: &Reference,
    manifest: Manifest,
) -> Result<Chosen, Failure> {
    if matches!(manifest.content, Content::Index { .. }) {
        let message = "its index names another index, which is not followed";
        return Err(Failure::new(child, FailureKind::Unsupported, message));
    }
    chain.push(manifest.digest.clone());
    Ok(Chosen { manifest, chain })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use super::super::{
        Descriptor, Digest, Failure, FailureKind, Manifest, Reference, Store, Target,
    };
    use super::images;

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
        let chosen = images(&store, &references, "amd64");
        let chains: Vec<Option<Vec<Digest>>> = chosen
            .iter()
            .map(|chosen| Some(chosen.as_ref().ok()?.chain.clone()))
            .collect();
        assert_eq!(chains[0], Some(vec![plain.clone()]));
        assert_eq!(chains[1], Some(vec![both, amd]));
        assert_eq!(chains[2], Some(vec![bare, plain]));
        let kind = |place: usize| chosen[place].as_ref().map_err(|failure| failure.kind).err();
        assert_eq!(kind(3), Some(FailureKind::NotFound));
        assert_eq!(kind(4), Some(FailureKind::Unsupported));
        assert_eq!(kind(5), Some(FailureKind::NotFound));
        assert_eq!(*store.batches.lock().expect("not poisoned"), [6, 3]);
    }
}
