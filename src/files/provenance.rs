//! The provenance of content: its repository and commit.

use std::path::Path;

use url::Url;

use super::git::Repository;

/// The provenance of a folder. It is the same on every machine that has the same commit checked out: it depends neither on
/// the branch nor on the protocol of the remote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The web address of `origin`, without user and password.
    pub source: Option<String>,
    /// The commit; none if the folder has uncommitted changes.
    pub commit: Option<String>,
    /// When it was committed, in seconds since 1970.
    pub committed: Option<u64>,
    /// Whether the folder has uncommitted changes.
    pub is_changed: bool,
}

impl Provenance {
    /// Queries git; empty if the folder is not in a repository, or there is no git.
    pub fn from_folder(folder: &Path) -> Self {
        let Ok(repository) = Repository::find(folder) else {
            return Self::default();
        };
        let line = |arguments: &[&str]| repository.optional(arguments);
        let origin = line(&["config", "--get", "remote.origin.url"]);
        let source = origin.as_deref().and_then(address);
        // If git cannot compare, the folder counts as changed.
        let is_changed = repository.is_changed().unwrap_or(true);
        let known = |arguments: &[&str]| (!is_changed).then(|| line(arguments)).flatten();
        let committed = known(&["log", "-1", "--format=%ct"]);
        Self {
            source,
            commit: known(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),
            committed: committed.and_then(|seconds| seconds.parse().ok()),
            is_changed,
        }
    }
}

/// `https://host/path` for any protocol of a remote; none for a local path.
fn address(origin: &str) -> Option<String> {
    let whole = match origin.split_once("://") {
        Some(_) => origin.to_owned(),
        // `git@host:path`, the syntax of scp.
        None => {
            let (host, path) = origin.split_once(':')?;
            let host = host.rsplit('@').next().unwrap_or(host);
            format!("ssh://{host}/{}", path.trim_start_matches('/'))
        }
    };
    let url = Url::parse(&whole).ok()?;
    let host = url.host_str().filter(|host| !host.is_empty())?;
    let port = match url.scheme() {
        "https" | "http" => url.port().map(|port| format!(":{port}")),
        // The port of ssh is not that of a web server.
        "ssh" | "git" | "git+ssh" => None,
        _ => return None,
    };
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    Some(format!("https://{host}{}{path}", port.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn the_address_does_not_depend_on_the_protocol() {
        for origin in [
            "https://git.example/group/repo.git",
            "https://me:secret@git.example/group/repo",
            "git@git.example:group/repo.git",
            "ssh://git@git.example:2222/group/repo.git/",
        ] {
            let found = address(origin);
            assert_eq!(
                found.as_deref(),
                Some("https://git.example/group/repo"),
                "{origin}"
            );
        }
        assert_eq!(
            address("https://git.example:8443/a?token=x#y").as_deref(),
            Some("https://git.example:8443/a")
        );
        for origin in ["/srv/git/repo", "../repo", "file:///srv/repo", ""] {
            assert_eq!(address(origin), None, "{origin}");
        }
    }
}
