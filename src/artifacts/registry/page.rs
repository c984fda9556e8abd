//! One document at an address that is no registry's: a release's notes. Asked as anyone, with the same certificates, proxies
//! and retries; no credentials are looked for, and none are taken from the address.

use reqwest::Url;

use crate::oci::{FailureKind, MANIFEST_LIMIT};

use super::content;
use super::question::{Act, Part, Question};
use super::session::{Sessions, Turn};
use super::trouble::{Trouble, authority};

const ACCEPT: &str = "application/json, text/plain;q=0.9, */*;q=0.5";

/// The text at an address.
pub(super) async fn text(
    sessions: &Sessions,
    address: &str,
    turn: Turn,
) -> Result<String, Trouble> {
    let question = Question {
        url: url(address)?,
        accept: ACCEPT,
        act: Act::Get,
        limit: MANIFEST_LIMIT as u64,
        part: Part::Whole,
        deadline: turn.deadline,
    };
    let answer = sessions.wire.ask(&question, None, &|_| ()).await?;
    let host = authority(&answer.url);
    if matches!(answer.status, 401 | 403) {
        let message = format!(
            "`{host}` answered {} to whoever names nobody",
            answer.status
        );
        return Err(Trouble::new(FailureKind::Denied, message).help(
            "no credentials are sent there: fetch it with your own client and give the file by `--release-notes FILE`",
        ));
    }
    let answer = content::found(answer)?;
    String::from_utf8(answer.body).map_err(|_| {
        let message = format!("`{host}` sent what is no text in UTF-8");
        Trouble::new(FailureKind::Corrupt, message)
    })
}

/// An address without a user: a password in it would be sent, and printed.
fn url(address: &str) -> Result<Url, Trouble> {
    let url = Url::parse(address).map_err(|error| {
        let message = format!("it is no address: {error}");
        Trouble::new(FailureKind::Unsupported, message)
    })?;
    if !url.username().is_empty() || url.password().is_some() {
        let message = "it holds a user or a password, which are not sent";
        return Err(Trouble::new(FailureKind::Unsupported, message)
            .help("write the address without what stands before `@`"));
    }
    if !matches!(url.scheme(), "http" | "https") {
        let message = format!("`{}` is no scheme that can be asked", url.scheme());
        return Err(Trouble::new(FailureKind::Unsupported, message).help("write `https://…`"));
    }
    Ok(url)
}

/// An address as it may be printed: without user, password, query and fragment.
pub(super) fn shown(address: &str) -> String {
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
    use super::{shown, url};

    #[test]
    fn no_password_is_sent_or_shown() {
        let address = "https://me:hunter2@h.example/releases/1?private_token=hunter3#x";
        let refused = url(address).expect_err("it holds a password");
        assert!(!format!("{refused:?}").contains("hunter"), "{refused:?}");
        assert_eq!(shown(address), "https://h.example/releases/1");
        assert_eq!(shown("https://h.example"), "https://h.example");
        assert!(url("file:///etc/passwd").is_err() && url("h.example/x").is_err());
    }
}
