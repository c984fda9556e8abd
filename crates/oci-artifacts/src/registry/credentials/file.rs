//! Reads the credential files that `docker login`, `podman login` and others write.

use std::collections::BTreeMap;

use serde::Deserialize;

use yaml_tree::bytes;

use crate::Reference;

use super::secret::{Credential, Secret};

/// The content of such a file, by registry or by the start of references.
#[derive(Debug, Default)]
pub(super) struct AuthFile {
    /// The entries of `auths`.
    pub(super) entries: BTreeMap<Reference, Named<Entry>>,
    /// `credHelpers`: the suffix of the program `docker-credential-<name>`.
    pub(super) helpers: BTreeMap<Reference, Named<String>>,
    /// `credsStore`: the suffix of the program for all other registries.
    pub(super) store: Option<String>,
}

/// What a file has under a key. Helpers and stores know it by the key as it is written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named<T> {
    pub(super) written: String,
    pub(super) value: T,
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
            let value = entry.read();
            let Some(key) = key(&written) else { continue };
            // Of two spellings of one registry, the one that has something counts.
            if !(value == Entry::Empty && file.entries.contains_key(&key)) {
                file.entries.insert(key, Named { written, value });
            }
        }
        for (written, value) in raw.cred_helpers {
            if let Some(key) = key(&written).filter(|_| !value.is_empty()) {
                file.helpers.insert(key, Named { written, value });
            }
        }
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

/// What a key means, without scheme and without the API version that old logins wrote. None of a key that names no registry, as
/// stores leave them for tokens of their own.
fn key(written: &str) -> Option<Reference> {
    let mut schemes = ["https://", "http://"].iter();
    let bare = schemes.find_map(|scheme| {
        let (start, rest) = written.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    let bare = bare.unwrap_or(written).trim_end_matches('/');
    let mut versions = ["/v1", "/v2"].iter();
    let bare = versions
        .find_map(|version| bare.strip_suffix(version))
        .unwrap_or(bare);
    Reference::parse_prefix(bare)
}

#[cfg(test)]
mod tests {
    use super::{AuthFile, Credential, Entry, Reference, Secret};

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
        let entry = |name| {
            let key = Reference::parse_prefix(name).expect("a prefix");
            &file.entries[&key]
        };
        assert_eq!(entry("a.example").value, password("bob", "a:b"));
        assert_eq!(entry("b.example").value, password("eve", "p"));
        let token = Credential::Identity(Secret::new("t".to_owned()));
        assert_eq!(
            entry("c.example:5000/group").value,
            Entry::Credential(token)
        );
        assert_eq!(entry("docker.io").value, Entry::Empty);
        assert_eq!(entry("docker.io").written, "https://index.docker.io/v1/");
        assert_eq!(entry("d.example").value, Entry::Unreadable);
    }

    #[test]
    fn a_key_means_one_registry_however_it_is_spelled() {
        let of = |text: &str| super::key(text).map(|key| key.name());
        for (written, name) in [
            ("HTTPS://A.example:0443/v2/", Some("a.example")),
            ("A.example:05000/Group", None),
            ("A.example:05000/group/", Some("a.example:5000/group")),
            ("index.docker.io", Some("docker.io")),
            ("https://registry-1.docker.io/v2/", Some("docker.io")),
        ] {
            assert_eq!(of(written).as_deref(), name, "{written}");
        }
        let text = br#"{"auths": {"A.example": {"auth": "Ym9iOmE6Yg=="}, "a.example": {}}}"#;
        let file = AuthFile::read(text).expect("readable");
        let entries: Vec<_> = file.entries.values().collect();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].value, password("bob", "a:b"));
    }

    #[test]
    fn errors_do_not_quote_the_file() {
        let reason = AuthFile::read(b"{\"auths\": hunter2").expect_err("not JSON");
        assert!(!reason.contains("hunter2"), "{reason}");
    }
}
