//! Fetches one document from a web server that is not a registry, such as release notes. It uses the same certificates,
//! proxies and retries, but no credentials: neither from files nor from the address.

use std::io::Write;

use reqwest::Url;

use crate::FailureKind;

use super::error::{RegistryError, authority};
use super::request::{Answer, ByteRange, Request};
use super::session::{Context, Sessions};
use super::{content, copy};

const ACCEPT: &str = "application/json, text/plain;q=0.9, */*;q=0.5";

/// Fetches the text at an address.
pub(super) async fn text(
    sessions: &Sessions,
    address: &str,
    context: Context,
) -> Result<String, RegistryError> {
    let request = Request {
        accept: ACCEPT,
        ..Request::get(url(address)?, context.deadline)
    };
    let answer = get(sessions, &request).await?;
    let host = authority(&answer.url);
    String::from_utf8(answer.body).map_err(|_| {
        let message = format!("`{host}` sent something that is not text in UTF-8");
        RegistryError::new(FailureKind::Corrupt, message)
    })
}

/// Writes the file at an address, as its bytes arrive.
pub(super) async fn file(
    sessions: &Sessions,
    address: &str,
    context: Context,
    into: &mut (dyn Write + Send),
) -> Result<(), RegistryError> {
    let request = Request {
        range: ByteRange::From(0),
        ..Request::get(url(address)?, context.deadline)
    };
    let mut answer = get(sessions, &request).await?;
    let Some(rest) = answer.rest.as_mut() else {
        return Ok(());
    };
    while let Some(chunk) = copy::next(rest, &answer.url, &sessions.transport.limits).await? {
        into.write_all(&chunk).map_err(|error| {
            let message = format!("it cannot be stored: {error}");
            RegistryError::new(FailureKind::Unreachable, message)
        })?;
    }
    Ok(())
}

/// A successful answer to a request without credentials.
async fn get(sessions: &Sessions, request: &Request) -> Result<Answer, RegistryError> {
    let answer = sessions.transport.execute(request, None).await?;
    let host = authority(&answer.url);
    if matches!(answer.status, 401 | 403) {
        let message = format!(
            "`{host}` answered {} to a request without credentials",
            answer.status
        );
        return Err(RegistryError::new(FailureKind::Denied, message).help(
            "no credentials are sent there: fetch it with your own client and pass the file with `--release-notes FILE`",
        ));
    }
    content::require_success(answer)
}

/// Parses an address. A user or password in it is refused: it would be sent and printed.
fn url(address: &str) -> Result<Url, RegistryError> {
    let url = Url::parse(address).map_err(|error| {
        let message = format!("it is not an address: {error}");
        RegistryError::new(FailureKind::Unsupported, message)
    })?;
    if !url.username().is_empty() || url.password().is_some() {
        let message = "it contains a user or a password, which are not sent";
        return Err(RegistryError::new(FailureKind::Unsupported, message)
            .help("write the address without the part before `@`"));
    }
    if !matches!(url.scheme(), "http" | "https") {
        let message = format!("the scheme `{}` is not supported", url.scheme());
        return Err(RegistryError::new(FailureKind::Unsupported, message).help("write `https://…`"));
    }
    Ok(url)
}

/// An address as it may be printed: without user, password, query and fragment.
pub(super) fn display_url(address: &str) -> String {
    let bare = address.split(['?', '#']).next().unwrap_or_default();
    match bare.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit('@').next().unwrap_or(host);
            format!("{scheme}://{host}{path}")
        }
        None => bare.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{display_url, url};

    #[test]
    fn passwords_are_neither_sent_nor_printed() {
        let address = "https://me:hunter2@h.example/releases/1?private_token=hunter3#x";
        let refused = url(address).expect_err("it holds a password");
        assert!(!format!("{refused:?}").contains("hunter"), "{refused:?}");
        assert_eq!(display_url(address), "https://h.example/releases/1");
        assert_eq!(display_url("https://h.example"), "https://h.example");
        assert!(url("file:///etc/passwd").is_err() && url("h.example/x").is_err());
    }
}
