//! Reads the credential files that `docker login`, `podman login` and others write.

use std::collections::BTreeMap;

use serde::Deserialize;

use yaml_tree::bytes;

use super::secret::{Credential, Secret};

/// The content of such a file, by host or by host and path.
#[derive(Debug, Default)]
pub(super) struct AuthFile {
    /// The entries of `auths`.
    pub(super) entries: BTreeMap<String, Entry>,
    /// `credHelpers`: for each host, the suffix of the program `docker-credential-<name>`.
    pub(super) helpers: BTreeMap<String, String>,
    /// `credsStore`: the suffix of the program for all other hosts.
    pub(super) store: Option<String>,
    /// The original spelling of the keys of `auths`, under which a store knows them.
    pub(super) written: BTreeMap<String, String>,
}

/// One entry of `auths`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Credential(Credential),
    /// Docker writes these for hosts whose credentials are in its store.
    Empty,
    /// Neither a credential nor empty.
    Unreadable,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawFile {
    #[serde(default)]
    auths: BTreeMap<String, RawEntry>,
    #[serde(default)]
    cred_helpers: BTreeMap<String, String>,
    #[serde(default)]
    creds_store: Option<String>,
}

#[derive(Deserialize)]
struct RawEntry {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    identitytoken: Option<String>,
}

impl AuthFile {
    /// Parses a file. An error message never quotes its content.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        let raw: RawFile = serde_json::from_slice(text)
            .map_err(|error| format!("is not what logins write, at line {}", error.line()))?;
        let mut file = Self::default();
        for (written, entry) in raw.auths {
            let key = key(&written);
            file.entries.insert(key.clone(), entry.read());
            file.written.insert(key, written);
        }
        let helpers = raw.cred_helpers.into_iter();
        file.helpers = helpers.filter(|(_, helper)| !helper.is_empty()).collect();
        file.store = raw.creds_store.filter(|store| !store.is_empty());
        Ok(file)
    }
}

impl RawEntry {
    fn read(self) -> Entry {
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        if let Some(token) = filled(self.identitytoken) {
            return Entry::Credential(Credential::Identity(Secret::new(token)));
        }
        if let (Some(user), Some(password)) = (filled(self.username), filled(self.password)) {
            let password = Secret::new(password);
            return Entry::Credential(Credential::Password { user, password });
        }
        let Some(auth) = filled(self.auth) else {
            return Entry::Empty;
        };
        let decoded = bytes::BASE64
            .decode(auth.as_bytes())
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        match decoded.as_deref().and_then(|text| text.split_once(':')) {
            Some((user, password)) => Entry::Credential(Credential::Password {
                user: user.to_owned(),
                // Docker's own parser removes trailing NULs as well.
                password: Secret::new(password.trim_matches('\0').to_owned()),
            }),
            None => Entry::Unreadable,
        }
    }
}

/// A key without scheme and without the API version that old logins wrote, with one spelling of docker.io.
fn key(written: &str) -> String {
    let bare = ["https://", "http://"]
        .iter()
        .find_map(|scheme| written.strip_prefix(scheme))
        .unwrap_or(written)
        .trim_end_matches('/');
    let bare = ["/v1", "/v2"]
        .iter()
        .find_map(|version| bare.strip_suffix(version))
        .unwrap_or(bare);
    match bare {
        "index.docker.io" | "registry-1.docker.io" => "docker.io".to_owned(),
        _ => bare.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{AuthFile, Credential, Entry, Secret};

    fn password(user: &str, password: &str) -> Entry {
        let (user, password) = (user.to_owned(), Secret::new(password.to_owned()));
        Entry::Credential(Credential::Password { user, password })
    }

    #[test]
    fn entries_are_read_in_all_their_forms() {
        let text = br#"{"auths": {
            "a.example": {"auth": "Ym9iOmE6Yg=="},
            "https://b.example/v2/": {"username": "eve", "password": "p"},
            "c.example:5000/group": {"identitytoken": "t", "auth": "Ym9iOg=="},
            "https://index.docker.io/v1/": {},
            "d.example": {"auth": "???"}}}"#;
        let file = AuthFile::read(text).expect("readable");
        assert_eq!(file.entries["a.example"], password("bob", "a:b"));
        assert_eq!(file.entries["b.example"], password("eve", "p"));
        let token = Credential::Identity(Secret::new("t".to_owned()));
        assert_eq!(
            file.entries["c.example:5000/group"],
            Entry::Credential(token)
        );
        assert_eq!(file.entries["docker.io"], Entry::Empty);
        assert_eq!(file.entries["d.example"], Entry::Unreadable);
        assert_eq!(file.written["docker.io"], "https://index.docker.io/v1/");
    }

    #[test]
    fn errors_do_not_quote_the_file() {
        let reason = AuthFile::read(b"{\"auths\": hunter2").expect_err("not JSON");
        assert!(!reason.contains("hunter2"), "{reason}");
    }
}
