//! Fetches each reference from where it is available: its registry, a mirror, or an image layout.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oci_artifacts::layout::Layout;
use oci_artifacts::registries::{Mirror, RegistrySettings};
use oci_artifacts::registry::{Progress, Registries, RegistryOptions};
use oci_artifacts::{
    Artifact, Descriptor, Digest, Failure, FailureKind, Manifest, Put, Reference, Sink, Store,
};
use parking_lot::Mutex;

/// All registries and layouts, behind the project's mirrors. A reference that has a mirror is requested from the mirror only.
pub struct Stores {
    root: PathBuf,
    settings: RegistrySettings,
    registries: Registries,
    layouts: Mutex<Opened>,
}

/// The layouts that were opened, by folder.
type Opened = BTreeMap<Arc<str>, Result<Arc<Layout>, Failure>>;

/// The stores of a project whose relative paths start from `root`. Nothing is opened yet.
pub fn stores(root: &Path, settings: &RegistrySettings, progress: Option<Progress>) -> Stores {
    let mut options = RegistryOptions::new(settings.clone());
    options.progress = progress;
    Stores::new(root, options)
}

/// The store of a reference, and the name there.
enum Route {
    Registry(Reference),
    Mirror(Reference),
    Layout(Arc<str>),
}

impl Stores {
    /// The same with limits and credentials of one's own.
    pub fn new(root: &Path, options: RegistryOptions) -> Self {
        Self {
            root: root.to_owned(),
            settings: options.settings.clone(),
            registries: Registries::new(options),
            layouts: Mutex::default(),
        }
    }

    /// The names of the repositories below a prefix `registry/path`, or below a registry where the path is empty, as the
    /// registry lists them, or its mirror does.
    ///
    /// # Errors
    /// It cannot be queried, or offers no list.
    pub fn list_repositories(&self, prefix: &Reference) -> Result<Vec<String>, Failure> {
        let (all, path) = match self.route(prefix)? {
            Route::Registry(of) => (self.registries.repositories(&of)?, of.repository),
            Route::Mirror(mirror) => {
                let failed = |failure| mirror_failure(failure, &prefix.name(), &mirror.name());
                let all = self.registries.repositories(&mirror).map_err(failed)?;
                (all, mirror.repository)
            }
            // A layout may name its images without their registry's path.
            Route::Layout(folder) => {
                let mut all = self.layout(&folder)?.repositories(prefix)?;
                let bare = all.iter().filter(|name| !name.contains('/'));
                let bare: Vec<String> = bare
                    .map(|name| format!("{}/{name}", prefix.repository))
                    .collect();
                all.extend(bare);
                (all, prefix.repository.clone())
            }
        };
        let path = match path.trim_end_matches('/') {
            "" => String::new(),
            path => format!("{path}/"),
        };
        let below = all.iter().filter_map(|name| name.strip_prefix(&path));
        Ok(below.map(str::to_owned).collect())
    }

    /// The other name under which an artifact may have been signed.
    pub fn find_signing_name(&self, of: &Reference) -> Option<Reference> {
        self.settings.find_signing_name(of)
    }

    /// The text at an address of the web; mirrors are for registries alone.
    ///
    /// # Errors
    /// It cannot be had.
    pub fn page(&self, address: &str) -> Result<String, Failure> {
        self.registries.page(address)
    }

    /// Writes the file at an address of the web, of any length.
    ///
    /// # Errors
    /// It cannot be had, or the writer fails.
    pub fn download(&self, address: &str, into: &mut (dyn Write + Send)) -> Result<(), Failure> {
        self.registries.download(address, into)
    }

    /// The texts at several addresses of the web, in their order.
    pub fn pages(&self, addresses: Vec<String>) -> Vec<Result<String, Failure>> {
        self.registries.pages(addresses)
    }

    /// The longest prefix counts; a digest stays, for content is the same wherever it lies.
    fn route(&self, reference: &Reference) -> Result<Route, Failure> {
        match self.settings.mirror(reference) {
            None => Ok(Route::Registry(reference.clone())),
            Some((Mirror::Layout(folder), _)) => Ok(Route::Layout(Arc::clone(folder))),
            Some((Mirror::Prefix(prefix), rest)) => {
                let mirror = reference.with_prefix(prefix, rest);
                if mirror.repository.is_empty() && !reference.repository.is_empty() {
                    let message = format!("its mirror `{}` leaves it no repository", prefix.name());
                    return Err(Failure::new(reference, FailureKind::Unsupported, message));
                }
                Ok(Route::Mirror(mirror))
            }
        }
    }

    fn layout(&self, folder: &Arc<str>) -> Result<Arc<Layout>, Failure> {
        let mut layouts = self.layouts.lock();
        let open = || Layout::open(&self.root, folder).map(Arc::new);
        layouts
            .entry(Arc::clone(folder))
            .or_insert_with(open)
            .clone()
    }

    /// Queries each store once for all that is its own; the answers have the order of the queries.
    fn each<T: Clone, R>(
        &self,
        wanted: &[T],
        reference: impl Fn(&mut T) -> &mut Reference,
        query: impl Fn(&dyn Store, &[T]) -> Vec<Result<R, Failure>>,
        found: impl Fn(&mut R, &Reference),
    ) -> Vec<Result<R, Failure>> {
        let mut answers: Vec<Option<Result<R, Failure>>> = wanted.iter().map(|_| None).collect();
        let (mut queried, mut places) = (Vec::new(), Vec::new());
        let mut folders: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
        for (place, item) in wanted.iter().enumerate() {
            let mut item = item.clone();
            let original = reference(&mut item).clone();
            let (other, mirrored) = match self.route(&original) {
                Ok(Route::Registry(same)) => (same, None),
                Ok(Route::Mirror(other)) => (other, Some(original)),
                Ok(Route::Layout(folder)) => {
                    folders.entry(folder).or_default().push(place);
                    continue;
                }
                Err(failure) => {
                    answers[place] = Some(Err(failure));
                    continue;
                }
            };
            *reference(&mut item) = other;
            queried.push(item);
            places.push((place, mirrored));
        }
        if !queried.is_empty() {
            let got = query(&self.registries, &queried);
            for (((place, mirrored), mut item), answer) in places.into_iter().zip(queried).zip(got)
            {
                answers[place] = Some(match mirrored {
                    None => answer,
                    Some(original) => restore_name(answer, &original, reference(&mut item), &found),
                });
            }
        }
        for (folder, places) in folders {
            let items: Vec<T> = places.iter().map(|place| wanted[*place].clone()).collect();
            let got = match self.layout(&folder) {
                Ok(layout) => query(&*layout, &items),
                Err(failure) => items.iter().map(|_| Err(failure.clone())).collect(),
            };
            places
                .into_iter()
                .zip(got)
                .for_each(|(place, answer)| answers[place] = Some(answer));
        }
        let lost = || {
            Err(Failure::new(
                "",
                FailureKind::Unreachable,
                "it was not requested",
            ))
        };
        answers
            .into_iter()
            .map(|answer| answer.unwrap_or_else(lost))
            .collect()
    }
}

/// An answer of a mirror, reported under the requested name.
fn restore_name<R>(
    answer: Result<R, Failure>,
    original: &Reference,
    mirror: &Reference,
    found: &impl Fn(&mut R, &Reference),
) -> Result<R, Failure> {
    match answer {
        Ok(mut answer) => {
            found(&mut answer, mirror);
            Ok(answer)
        }
        Err(failure) => Err(mirror_failure(
            failure,
            &original.to_string(),
            &mirror.to_string(),
        )),
    }
}

fn mirror_failure(mut failure: Failure, original: &str, mirror: &str) -> Failure {
    failure.wanted = format!("{original} (mirrored as {mirror})");
    if failure.kind == FailureKind::NotFound {
        failure.help.push(
            "copy what is locked there, with its signatures: `metalmark mirror`; a mirrored registry is never queried itself".to_owned(),
        );
    }
    failure
}

impl Store for Stores {
    fn manifests(&self, wanted: &[Reference]) -> Vec<Result<Manifest, Failure>> {
        let query = |store: &dyn Store, wanted: &[Reference]| store.manifests(wanted);
        let found = |manifest: &mut Manifest, mirror: &Reference| {
            manifest.mirror = Some(mirror.to_string());
        };
        self.each(wanted, |reference| reference, query, found)
    }

    fn blobs(
        &self,
        wanted: &[(Reference, Descriptor)],
        limit: u64,
    ) -> Vec<Result<Vec<u8>, Failure>> {
        let query =
            |store: &dyn Store, wanted: &[(Reference, Descriptor)]| store.blobs(wanted, limit);
        self.each(wanted, |(reference, _)| reference, query, |_, _| ())
    }

    fn copy(
        &self,
        of: &Reference,
        blob: &Descriptor,
        into: &mut (dyn Write + Send),
    ) -> Result<(), Failure> {
        match self.route(of)? {
            Route::Registry(of) => self.registries.copy(&of, blob, into),
            Route::Mirror(mirror) => {
                let failed =
                    |failure| mirror_failure(failure, &of.to_string(), &mirror.to_string());
                self.registries.copy(&mirror, blob, into).map_err(failed)
            }
            Route::Layout(folder) => self.layout(&folder)?.copy(of, blob, into),
        }
    }

    fn sizes(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Option<u64>, Failure>> {
        let query = |store: &dyn Store, wanted: &[(Reference, Digest)]| store.sizes(wanted);
        self.each(wanted, |(reference, _)| reference, query, |_, _| ())
    }

    fn referrers(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Vec<Descriptor>, Failure>> {
        let query = |store: &dyn Store, wanted: &[(Reference, Digest)]| store.referrers(wanted);
        self.each(wanted, |(reference, _)| reference, query, |_, _| ())
    }

    fn tags(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        match self.route(of)? {
            Route::Registry(of) => self.registries.tags(&of),
            Route::Mirror(mirror) => {
                let failed = |failure| mirror_failure(failure, &of.name(), &mirror.name());
                self.registries.tags(&mirror).map_err(failed)
            }
            Route::Layout(folder) => self.layout(&folder)?.tags(of),
        }
    }

    fn tag_lists(&self, of: &[Reference]) -> Vec<Result<Vec<String>, Failure>> {
        let query = |store: &dyn Store, of: &[Reference]| store.tag_lists(of);
        self.each(of, |reference| reference, query, |_, _| ())
    }

    /// Of a mirror, what is below its prefix, by the names that its registry has for them.
    fn repositories(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        let of = Reference {
            repository: "".into(),
            ..of.clone()
        };
        match self.route(&of)? {
            Route::Registry(of) => self.registries.repositories(&of),
            Route::Layout(folder) => self.layout(&folder)?.repositories(&of),
            Route::Mirror(mirror) => {
                let all = self.registries.repositories(&mirror)?;
                let prefix = match mirror.repository.trim_end_matches('/') {
                    "" => String::new(),
                    path => format!("{path}/"),
                };
                let below = all.iter().filter_map(|name| name.strip_prefix(&prefix));
                Ok(below.map(str::to_owned).collect())
            }
        }
    }
}

impl Sink for Stores {
    /// Never to a mirror, which its owner fills: what is meant to go there is named by its own name.
    fn put(&self, to: &Reference, artifact: &Artifact) -> Result<Put, Failure> {
        let (what, help) = match self.route(to)? {
            Route::Registry(to) => return self.registries.put(&to, artifact),
            Route::Mirror(mirror) => (
                format!("`{}` is its mirror", mirror.name()),
                format!("push to `{mirror}`, if that is meant"),
            ),
            Route::Layout(folder) => (
                format!("the folder `{folder}` is its mirror"),
                format!("put it into the folder, if that is meant: `oci-layout:{folder}`"),
            ),
        };
        let message = format!("{what}, and mirrors are only read");
        Err(Failure::new(to, FailureKind::Unsupported, message).help(help))
    }
}
