//! What the registry answers.

use oci_artifacts::Digest;

use super::http::{Reply, Request};
use super::{INDEX, Lock, State, held};

impl State {
    pub(super) fn answer(&self, request: Request) -> Reply {
        let before = {
            let mut seen = held(&self.seen);
            let before = seen
                .iter()
                .filter(|known| known.path == request.path)
                .count();
            seen.push(Request {
                method: request.method.clone(),
                path: request.path.clone(),
                headers: request.headers.clone(),
                body: request.body.clone(),
                bytes: Vec::new(),
                is_cut: request.is_cut,
            });
            before
        };
        if let Some(reply) = held(&self.hook)
            .as_ref()
            .and_then(|hook| hook(&request, before))
        {
            return reply;
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        if path == "/token" {
            return self.sell(&request, query);
        }
        if let Some(refusal) = self.refusal(&request, path) {
            return refusal;
        }
        if let Some(reply) = self.pushed(&request, path, query) {
            return reply;
        }
        self.content(path, query, request.header("range"))
            .unwrap_or_else(|| fault(404, "NAME_UNKNOWN", "not known"))
    }

    fn content(&self, path: &str, query: &str, range: Option<&str>) -> Option<Reply> {
        let path = path.strip_prefix("/v2/")?;
        // Most clients begin with this question.
        if path.is_empty() {
            return Some(Reply::new(200, "{}"));
        }
        if path == "_catalog" {
            let names = held(&self.manifests).keys().cloned().collect();
            return Some(self.list("repositories", names, "/v2/_catalog", query));
        }
        if let Some(repository) = path.strip_suffix("/tags/list") {
            let manifests = held(&self.manifests);
            let tags = manifests.get(repository)?.keys();
            let tags = tags.filter(|name| !name.contains(':')).cloned().collect();
            return Some(self.list("tags", tags, &format!("/v2/{path}"), query));
        }
        if let Some((repository, name)) = path.split_once("/manifests/") {
            let manifests = held(&self.manifests);
            let (media_type, bytes) = manifests.get(repository)?.get(name)?;
            let reply = Reply::new(200, bytes.clone()).header("Content-Type", media_type);
            return Some(reply.header("Docker-Content-Digest", Digest::compute(bytes).as_str()));
        }
        if let Some((_, digest)) = path.split_once("/blobs/") {
            let bytes = held(&self.blobs).get(digest)?.clone();
            return Some(match range {
                Some("bytes=0-0") => first_byte(&bytes),
                Some(range) => from(range, bytes),
                None => Reply::new(200, bytes),
            });
        }
        let (_, digest) = path.split_once("/referrers/")?;
        let referrers = held(&self.referrers);
        let known = referrers.as_ref()?.get(digest).cloned().unwrap_or_default();
        let body = format!(
            r#"{{"schemaVersion":2,"mediaType":"{INDEX}","manifests":[{}]}}"#,
            known.join(",")
        );
        Some(Reply::new(200, body).header("Content-Type", INDEX))
    }

    /// A page of a list, and where the next one is.
    fn list(&self, key: &str, names: Vec<String>, path: &str, query: &str) -> Reply {
        let last = parameter(query, "last");
        let rest: Vec<String> = names
            .into_iter()
            .filter(|name| last.as_ref().is_none_or(|last| name > last))
            .collect();
        let size = (*held(&self.page)).min(rest.len());
        let mut reply = Reply::new(200, serde_json::json!({ key: rest[..size] }).to_string());
        if size < rest.len() {
            let next = format!("<{path}?n={size}&last={}>; rel=\"next\"", rest[size - 1]);
            reply = reply.header("Link", next);
        }
        reply
    }

    fn refusal(&self, request: &Request, path: &str) -> Option<Reply> {
        let proof = request.header("authorization").unwrap_or_default();
        let refused = fault(401, "UNAUTHORIZED", "authentication required");
        match &*held(&self.lock) {
            Lock::Open => None,
            Lock::Writers { user, password } => {
                let is_refused = request.method != "GET" && request.method != "HEAD";
                (is_refused && proof != basic(user, password))
                    .then(|| refused.header("WWW-Authenticate", "Basic realm=\"r\""))
            }
            Lock::Basic { user, password } => {
                let wanted = basic(user, password);
                (proof != wanted).then(|| refused.header("WWW-Authenticate", "Basic realm=\"r\""))
            }
            Lock::Bearer { realm, .. } => {
                let tokens = held(&self.tokens);
                let writes = request.method != "GET" && request.method != "HEAD";
                let known = |token: &str| {
                    tokens.iter().any(|known| known == token)
                        && (!writes || token.ends_with(":pull,push"))
                };
                let allowed = proof.strip_prefix("Bearer ").is_some_and(known);
                let own = format!("{}/token", held(&self.own));
                let realm = realm.as_deref().unwrap_or(&own);
                let repository = path.strip_prefix("/v2/").unwrap_or_default();
                let repository = repository.split("/manifests/").next().unwrap_or_default();
                let challenge = format!(
                    "Bearer realm=\"{realm}\",service=\"test\",scope=\"repository:{repository}:pull\""
                );
                (!allowed).then(|| refused.header("WWW-Authenticate", challenge))
            }
        }
    }

    /// Sells a token for a scope.
    fn sell(&self, request: &Request, query: &str) -> Reply {
        let Lock::Bearer {
            password,
            identity,
            life,
            ..
        } = held(&self.lock).clone()
        else {
            return fault(404, "UNKNOWN", "no tokens here");
        };
        let proof = request.header("authorization");
        let scope = parameter(query, "scope").or_else(|| parameter(&request.body, "scope"));
        let is_known = match (&identity, &password) {
            (Some(identity), _) => {
                request.method == "POST"
                    && parameter(&request.body, "refresh_token").as_ref() == Some(identity)
            }
            (None, Some((user, password))) => proof == Some(&basic(user, password)),
            (None, None) => proof.is_none(),
        };
        if !is_known {
            return fault(401, "UNAUTHORIZED", "incorrect user or password");
        }
        let mut tokens = held(&self.tokens);
        let token = format!(
            "secret-token-{}-{}",
            tokens.len(),
            scope.unwrap_or_default()
        );
        tokens.push(token.clone());
        Reply::new(200, format!(r#"{{"token":"{token}","expires_in":{life}}}"#))
    }

    /// Makes every token that was sold worthless. Their numbers are not used again: no new token equals an old one.
    pub(super) fn forget(&self) {
        held(&self.tokens).iter_mut().for_each(String::clear);
    }
}

impl super::Registry {
    /// Makes every token that was sold worthless.
    pub(crate) fn forget_tokens(&self) {
        self.state.forget();
    }
}

/// As a range of bytes; of nothing there is none.
fn first_byte(bytes: &[u8]) -> Reply {
    let length = bytes.len();
    match bytes.first() {
        Some(first) => {
            Reply::new(206, [*first]).header("Content-Range", format!("bytes 0-0/{length}"))
        }
        None => Reply::new(416, "").header("Content-Range", "bytes */0"),
    }
}

/// From a byte on.
fn from(range: &str, bytes: Vec<u8>) -> Reply {
    let length = bytes.len();
    let first = range
        .strip_prefix("bytes=")
        .and_then(|range| range.strip_suffix('-'));
    match first.and_then(|first| first.parse::<usize>().ok()) {
        Some(first) if first < length => {
            let range = format!("bytes {first}-{}/{length}", length - 1);
            Reply::new(206, &bytes[first..]).header("Content-Range", range)
        }
        _ => Reply::new(416, "").header("Content-Range", format!("bytes */{length}")),
    }
}

pub(crate) fn fault(status: u16, code: &str, message: &str) -> Reply {
    let body = serde_json::json!({"errors": [{"code": code, "message": message}]});
    Reply::new(status, body.to_string())
}

fn basic(user: &str, password: &str) -> String {
    let pair = format!("{user}:{password}");
    format!("Basic {}", yaml_tree::bytes::BASE64.encode(pair.as_bytes()))
}

/// A parameter of a query or a form.
pub(super) fn parameter(query: &str, name: &str) -> Option<String> {
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.into_owned())
}
