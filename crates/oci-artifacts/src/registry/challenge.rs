//! Reads which authentication a registry requires when it answers 401: a password, or a token from a token server.
//!
//! Source: RFC 9110, section 11; <https://distribution.github.io/distribution/spec/auth/token/>.

use http_auth::{ChallengeParser, ChallengeRef};
use reqwest::Url;
use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};

/// The authentication that a registry requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// User and password with each request.
    Basic,
    /// A token with each request.
    Bearer {
        /// The address of the token server.
        realm: Box<Url>,
        /// The service that the token is for.
        service: Option<String>,
        /// The scope to request, where it is not the usual one of a repository.
        scope: Option<String>,
    },
    /// An unsupported scheme.
    Unknown(String),
}

/// The challenge to answer, tokens before passwords; none if the registry requires no authentication.
pub(super) fn find(headers: &HeaderMap) -> Option<Challenge> {
    let mut found = None;
    for value in headers.get_all(WWW_AUTHENTICATE) {
        let challenges = ChallengeParser::new(value.to_str().unwrap_or_default());
        for challenge in challenges
            .map_while(Result::ok)
            .map(|challenge| read(&challenge))
        {
            let is_better = matches!(
                (&found, &challenge),
                (None | Some(Challenge::Unknown(_)), _)
                    | (Some(Challenge::Basic), Challenge::Bearer { .. })
            );
            if is_better {
                found = Some(challenge);
            }
        }
    }
    found
}

fn read(challenge: &ChallengeRef<'_>) -> Challenge {
    let parameter = |name: &str| {
        let mut parameters = challenge.params.iter();
        let found = parameters.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.to_unescaped())
    };
    if challenge.scheme.eq_ignore_ascii_case("basic") {
        return Challenge::Basic;
    }
    let realm = parameter("realm").and_then(|realm| Url::parse(&realm).ok());
    match realm {
        Some(mut realm) if challenge.scheme.eq_ignore_ascii_case("bearer") => {
            // Credentials in the address are the server's invention: they are not sent.
            let _ = realm.set_username("");
            let _ = realm.set_password(None);
            let is_usual =
                |scope: &String| scope.starts_with("repository:") || scope.starts_with("registry:");
            Challenge::Bearer {
                realm: Box::new(realm),
                service: parameter("service"),
                scope: parameter("scope").filter(|scope| !scope.is_empty() && !is_usual(scope)),
            }
        }
        _ => Challenge::Unknown(challenge.scheme.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::Url;
    use reqwest::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};

    use super::{Challenge, find};

    fn challenge(values: &[&'static str]) -> Option<Challenge> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(value));
        }
        find(&headers)
    }

    fn bearer(scope: Option<&str>) -> Option<Challenge> {
        Some(Challenge::Bearer {
            realm: Box::new(Url::parse("https://a.example/token").expect("an address")),
            service: Some("r.example".to_owned()),
            scope: scope.map(str::to_owned),
        })
    }

    #[test]
    fn a_bearer_challenge_wins_over_a_basic_one() {
        let usual = r#"Bearer realm="https://a.example/token",service="r.example",scope="repository:a/b:pull""#;
        assert_eq!(challenge(&[usual]), bearer(None));
        let own = r#"bearer realm="https://u:p@a.example/token", service="r.example", scope="aws""#;
        assert_eq!(challenge(&[own]), bearer(Some("aws")));
        assert_eq!(challenge(&[r#"Basic realm="x""#, usual]), bearer(None));
    }

    #[test]
    fn unsupported_schemes_are_reported() {
        assert_eq!(challenge(&[]), None);
        assert_eq!(challenge(&["Basic realm=x"]), Some(Challenge::Basic));
        let unknown = Some(Challenge::Unknown("Digest".to_owned()));
        assert_eq!(challenge(&[r#"Digest realm="x""#]), unknown);
        let no_address = Some(Challenge::Unknown("Bearer".to_owned()));
        assert_eq!(challenge(&[r#"Bearer realm="x""#]), no_address);
    }
}
