//! Finds the credentials for a repository, and reports where they were searched.
//!
//! Source: containers-auth.json(5) for keys and files, Docker's `config.json` for helpers and stores. The existing crates
//! support neither keys with a path nor a timeout for helpers, and do not report which file was read.

mod file;
mod helper;
mod secret;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::{Reference, RegistryName};

use file::{AuthFile, Entry, Named};
pub(super) use secret::{Credential, Secret};

/// Where credentials are searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The files in order of precedence, each with its name in messages.
    pub files: Vec<(String, PathBuf)>,
}

impl Environment {
    /// `$REGISTRY_AUTH_FILE`, then Docker's, podman's and skopeo's files, as far as the environment locates them.
    pub fn from_process() -> Self {
        Self::new(&|name| std::env::var_os(name), user_id())
    }

    /// The files for an environment and a user ID.
    fn new(variable: &dyn Fn(&str) -> Option<OsString>, user: Option<u32>) -> Self {
        let folder = |name: &str| {
            let value = variable(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        let mut files = Vec::new();
        let mut add = |path: PathBuf| files.push((path.display().to_string(), path));
        if let Some(file) = folder("REGISTRY_AUTH_FILE") {
            add(file);
        }
        let docker = folder("DOCKER_CONFIG").or_else(|| Some(folder("HOME")?.join(".docker")));
        if let Some(docker) = docker {
            add(docker.join("config.json"));
        }
        // Without a session, as in a CI container, podman keeps logins by user ID (containers-auth.json(5)).
        let by_user_id = || user.map(|user| PathBuf::from(format!("/run/containers/{user}")));
        let runtime = folder("XDG_RUNTIME_DIR").map(|runtime| runtime.join("containers"));
        if let Some(containers) = runtime.or_else(by_user_id) {
            add(containers.join("auth.json"));
        }
        let config = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
        if let Some(config) = config {
            add(config.join("containers/auth.json"));
        }
        Self { files }
    }
}

/// The user ID of this process, on Unix.
fn user_id() -> Option<u32> {
    #[cfg(unix)]
    return Some(rustix::process::getuid().as_raw());
    #[cfg(not(unix))]
    None
}

/// The result of a search for the credentials of a repository.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The credential, if any file has one.
    pub(super) credential: Option<Credential>,
    /// The file and key that it is from, or the files that were searched: the end of a sentence.
    pub(super) origin: String,
}

/// Finds credentials. Each file is read once; each helper runs once per server.
pub(super) struct Credentials {
    environment: Environment,
    timeout: Duration,
    files: OnceLock<Vec<Result<Option<AuthFile>, String>>>,
    helper_results: Mutex<HelperResults>,
}

/// The results of helpers, by helper and server.
type HelperResults = HashMap<(String, String), Result<Option<Credential>, String>>;

impl Credentials {
    pub(super) fn new(environment: Environment, timeout: Duration) -> Self {
        Self {
            environment,
            timeout,
            files: OnceLock::new(),
            helper_results: Mutex::default(),
        }
    }

    /// The credential for a repository. A file that cannot be read and a helper that fails are skipped and reported.
    pub(super) async fn find(&self, host: &RegistryName, repository: &str) -> Found {
        let mut searched = Vec::new();
        let keys = keys(host, repository);
        for ((shown, _), file) in self.environment.files.iter().zip(self.files()) {
            let file = match file {
                Ok(Some(file)) => file,
                Ok(None) => {
                    searched.push(format!("`{shown}` (no such file)"));
                    continue;
                }
                Err(reason) => {
                    searched.push(format!("`{shown}` ({reason})"));
                    continue;
                }
            };
            match self.search_file(file, host, &keys).await {
                Ok(Some((credential, key))) => {
                    let origin = format!("{} from `{shown}`, key `{key}`", credential.display());
                    let credential = Some(credential);
                    return Found { credential, origin };
                }
                Ok(None) => searched.push(format!("`{shown}` (nothing for `{host}`)")),
                Err(reason) => searched.push(format!("`{shown}` ({reason})")),
            }
        }
        let origin = if searched.is_empty() {
            "neither HOME, DOCKER_CONFIG nor REGISTRY_AUTH_FILE names a file with credentials"
                .to_owned()
        } else {
            format!("no credentials for `{host}` in {}", searched.join(", "))
        };
        Found {
            credential: None,
            origin,
        }
    }

    fn files(&self) -> &[Result<Option<AuthFile>, String>] {
        self.files.get_or_init(|| {
            let files = self.environment.files.iter();
            files.map(|(_, path)| read(path)).collect()
        })
    }

    /// Searches one file: for each key the host's helper, then the entry, longest key first; then the store for all other hosts.
    /// Docker writes an empty entry for a host in its store: it does not count.
    async fn search_file(
        &self,
        file: &AuthFile,
        host: &RegistryName,
        keys: &[Reference],
    ) -> Result<Option<(Credential, String)>, String> {
        for key in keys {
            if let Some(Named { written, value }) = file.helpers.get(key) {
                let found = self.run_helper(value, written).await?;
                if let Some(credential) = found {
                    return Ok(Some((credential, format!("{written}` by helper `{value}"))));
                }
            }
            let Some(Named { written, value }) = file.entries.get(key) else {
                continue;
            };
            match value {
                Entry::Credential(credential) => {
                    return Ok(Some((credential.clone(), written.clone())));
                }
                Entry::Unreadable => {
                    return Err(format!(
                        "its entry `{written}` is neither `user:password` in base64 nor a token"
                    ));
                }
                Entry::Empty => {}
            }
        }
        let Some(store) = &file.store else {
            return Ok(None);
        };
        let entry = keys.last().and_then(|host| file.entries.get(host));
        let server = entry.map_or(host.as_str(), |entry| &entry.written);
        let found = self.run_helper(store, server).await?;
        Ok(found.map(|credential| (credential, format!("{server}` by store `{store}"))))
    }

    /// Runs a helper, once for each server.
    async fn run_helper(&self, helper: &str, server: &str) -> Result<Option<Credential>, String> {
        let key = (helper.to_owned(), server.to_owned());
        let mut results = self.helper_results.lock().await;
        if let Some(known) = results.get(&key) {
            return known.clone();
        }
        let result = helper::get(helper, server, self.timeout).await;
        results.insert(key, result.clone());
        result
    }
}

/// What credentials of a repository may be stored for, longest first: `host/a/b`, `host/a`, `host`.
fn keys(host: &RegistryName, repository: &str) -> Vec<Reference> {
    let ends = repository.match_indices('/').map(|(slash, _)| slash).rev();
    let all = std::iter::once(repository.len()).chain(ends);
    let paths = all.filter(|end| *end > 0).map(|end| &repository[..end]);
    let key = |path: &str| Reference {
        registry: host.clone(),
        repository: path.into(),
        tag: None,
        digest: None,
    };
    paths.chain([""]).map(key).collect()
}

fn read(path: &Path) -> Result<Option<AuthFile>, String> {
    match std::fs::read(path) {
        Ok(bytes) => AuthFile::read(&bytes).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot be read: {}", error.kind())),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{Environment, Reference, RegistryName, keys};

    #[test]
    fn without_a_session_logins_are_found_by_user_id() {
        let files = |variables: &[(&str, &str)], user| -> Vec<String> {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            };
            let files = Environment::new(&variable, user).files;
            files.into_iter().map(|(shown, _)| shown).collect()
        };
        let home = ("HOME", "/root");
        assert_eq!(
            files(&[home, ("XDG_RUNTIME_DIR", "")], Some(0)),
            [
                "/root/.docker/config.json",
                "/run/containers/0/auth.json",
                "/root/.config/containers/auth.json"
            ]
        );
        let session = ("XDG_RUNTIME_DIR", "/run/user/7");
        let all = files(
            &[
                home,
                session,
                ("XDG_CONFIG_HOME", "/c"),
                ("REGISTRY_AUTH_FILE", "/a"),
                ("DOCKER_CONFIG", "/d"),
            ],
            Some(7),
        );
        let expected = [
            "/a",
            "/d/config.json",
            "/run/user/7/containers/auth.json",
            "/c/containers/auth.json",
        ];
        assert_eq!(all, expected);
        assert_eq!(files(&[], None), Vec::<String>::new());
    }

    #[test]
    fn keys_go_from_the_repository_to_the_host() {
        let names = |host: &str, repository| -> Vec<String> {
            let host = RegistryName::parse(host).expect(host);
            let keys = keys(&host, repository);
            keys.iter().map(Reference::name).collect()
        };
        assert_eq!(
            names("A.b:05000", "c/d"),
            ["a.b:5000/c/d", "a.b:5000/c", "a.b:5000"]
        );
        assert_eq!(names("a.b", ""), ["a.b"]);
    }
}
