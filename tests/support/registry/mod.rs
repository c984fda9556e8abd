//! A small OCI registry in this process: plain or over TLS, open or locked, honest or lying. It keeps what it was asked.

mod answer;
mod http;
mod tls;
mod uploads;

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use oci_artifacts::Digest;

pub(crate) use answer::fault;
pub(crate) use http::{Early, Reply, Request, Way};
pub(crate) use tls::Authority;

/// The media type of an image manifest.
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// The media type of an index.
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// A registry that runs until it is dropped.
pub(crate) struct Registry {
    address: SocketAddr,
    state: Arc<State>,
}

/// Who may ask.
#[derive(Clone, Debug, Default)]
pub(crate) enum Lock {
    /// Everyone.
    #[default]
    Open,
    /// Whoever has this password.
    Basic { user: String, password: String },
    /// Everyone who reads; who writes, with this password.
    Writers { user: String, password: String },
    /// Whoever has a token, which this very registry gives at `/token`.
    Bearer {
        /// Another address to buy tokens at.
        realm: Option<String>,
        /// Who is given one: `None` everyone, else this user and password.
        password: Option<(String, String)>,
        /// Who is given one: this refresh token.
        identity: Option<String>,
        /// For how many seconds tokens say that they hold.
        life: u64,
    },
}

type Hook = Box<dyn Fn(&Request, usize) -> Option<Reply> + Send + Sync>;
type EarlyHook = Box<dyn Fn(&Request) -> Option<Early> + Send + Sync>;

/// The manifests of a repository by tag or digest: media type and bytes.
type Manifests = BTreeMap<String, (String, Vec<u8>)>;

#[derive(Default)]
pub(super) struct State {
    /// By repository.
    manifests: Mutex<BTreeMap<String, Manifests>>,
    blobs: Mutex<BTreeMap<String, Vec<u8>>>,
    referrers: Mutex<Option<BTreeMap<String, Vec<String>>>>,
    lock: Mutex<Lock>,
    /// How many names a page of a list has.
    page: Mutex<usize>,
    hook: Mutex<Option<Hook>>,
    early: Mutex<Option<EarlyHook>>,
    uploads: Mutex<uploads::Uploads>,
    seen: Mutex<Vec<Request>>,
    tokens: Mutex<Vec<String>>,
    own: Mutex<String>,
    stop: AtomicBool,
}

impl Registry {
    /// Over plain HTTP on a free port.
    pub(crate) fn plain() -> Self {
        Self::start(None)
    }

    /// Over TLS, with a certificate of that authority.
    pub(crate) fn tls(authority: &Authority) -> Self {
        Self::start(Some(authority.server()))
    }

    /// Over TLS, with a certificate that signs itself; and that certificate in a file.
    pub(crate) fn self_signed(folder: &Path) -> (Self, PathBuf) {
        let (config, file) = tls::self_signed(folder);
        (Self::start(Some(config)), file)
    }

    fn start(tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(State::default());
        *held(&state.page) = usize::MAX;
        let scheme = if tls.is_some() { "https" } else { "http" };
        *held(&state.own) = format!("{scheme}://{address}");
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.stop.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (state, tls) = (Arc::clone(&shared), tls.clone());
                thread::spawn(move || {
                    let early = |request: &Request| {
                        held(&state.early).as_ref().and_then(|early| early(request))
                    };
                    http::serve(stream, tls, early, |request| state.answer(request));
                });
            }
        });
        Self { address, state }
    }

    /// `127.0.0.1:port`
    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    /// The reference of something in it, `oci://127.0.0.1:port/…`.
    pub(crate) fn reference(&self, rest: &str) -> oci_artifacts::Reference {
        oci_artifacts::Reference::parse(&format!("{}/{rest}", self.host())).expect("a reference")
    }

    pub(crate) fn lock(&self, lock: Lock) {
        *held(&self.state.lock) = lock;
    }

    /// Puts each page of a list to that many names.
    pub(crate) fn page(&self, names: usize) {
        *held(&self.state.page) = names;
    }

    /// Receives each request first, with the number of earlier ones of the same path, and answers instead of the registry.
    pub(crate) fn hook(
        &self,
        hook: impl Fn(&Request, usize) -> Option<Reply> + Send + Sync + 'static,
    ) {
        *held(&self.state.hook) = Some(Box::new(hook));
    }

    /// Looks at each request before its body is read.
    pub(crate) fn early(&self, early: impl Fn(&Request) -> Option<Early> + Send + Sync + 'static) {
        *held(&self.state.early) = Some(Box::new(early));
    }

    /// What it was asked so far.
    pub(crate) fn seen(&self) -> Vec<Request> {
        held(&self.state.seen).clone()
    }

    /// How many requests it was asked so far.
    pub(crate) fn count(&self) -> usize {
        held(&self.state.seen).len()
    }

    /// Stores bytes under a tag and their digest.
    pub(crate) fn put(
        &self,
        repository: &str,
        tag: &str,
        media_type: &str,
        bytes: &[u8],
    ) -> Digest {
        let digest = Digest::compute(bytes);
        let mut manifests = held(&self.state.manifests);
        let repository = manifests.entry(repository.to_owned()).or_default();
        let content = (media_type.to_owned(), bytes.to_vec());
        repository.insert(digest.to_string(), content.clone());
        repository.insert(tag.to_owned(), content);
        digest
    }

    /// Stores an image with annotations.
    pub(crate) fn image(
        &self,
        repository: &str,
        tag: &str,
        annotations: &[(&str, &str)],
    ) -> Digest {
        self.put(repository, tag, MANIFEST, image(annotations).as_bytes())
    }

    pub(crate) fn blob(&self, bytes: &[u8]) -> Digest {
        let digest = Digest::compute(bytes);
        held(&self.state.blobs).insert(digest.to_string(), bytes.to_vec());
        digest
    }

    /// Lets it offer the API of referrers, and lists a descriptor there.
    pub(crate) fn refer(&self, to: &Digest, descriptor: &str) {
        let mut referrers = held(&self.state.referrers);
        let known = referrers.get_or_insert_default();
        known
            .entry(to.to_string())
            .or_default()
            .push(descriptor.to_owned());
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        let _ = std::net::TcpStream::connect(self.address);
    }
}

/// The manifest of an image without layers.
pub(crate) fn image(annotations: &[(&str, &str)]) -> String {
    let annotations: BTreeMap<&str, &str> = annotations.iter().copied().collect();
    serde_json::json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": Digest::compute(b"{}").as_str(), "size": 2},
        "layers": [],
        "annotations": annotations,
    })
    .to_string()
}

pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
