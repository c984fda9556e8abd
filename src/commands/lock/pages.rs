//! The index pages that the project names, each fetched once.

use oci_artifacts::Failure;

use crate::catalog::locking::Pages;
use crate::catalog::sources::{self, Stores};
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::read::Workspace;

/// What all pages together say.
#[derive(Default)]
pub(in crate::commands) struct Answers {
    /// What they list.
    pub(in crate::commands) pages: Pages,
    /// What is wrong with what they list.
    pub(in crate::commands) findings: Vec<Finding>,
    /// Why pages could not be fetched.
    pub(in crate::commands) failures: Vec<Failure>,
}

/// Fetches every page under `images.facts`. Sends no request where there is none.
pub(in crate::commands) fn pages(workspace: &Workspace, stores: &Stores) -> Answers {
    let mut answers = Answers::default();
    for path in &workspace.facts {
        let address = path.to_string_lossy();
        if !sources::is_page(&address) {
            continue;
        }
        let base = sources::page_base(&address);
        match sources::page(&address, &|wanted| stores.pages(wanted)) {
            Ok(page) => {
                let is_plain = address.starts_with("http://");
                answers
                    .findings
                    .extend(is_plain.then(|| plain_http(&address)));
                let found = missing_digests(&address, &page.without_digest);
                answers.findings.extend(found);
                answers.pages.offered.extend(page.images);
                answers.pages.read.push(base.to_owned());
            }
            Err(failure) => {
                answers.failures.push(failure);
                answers.pages.unread.push(base.to_owned());
            }
        }
    }
    answers
}

/// That nothing protects what a page lists.
fn plain_http(address: &str) -> Finding {
    let message = format!(
        "`{address}` is read over plain HTTP, so that anybody on the way can replace images together with their checksums"
    );
    let finding = Finding::new(RuleId::SignatureUnchecked, message).unless_set(Level::Warning);
    finding.help("name it by `https://`")
}

/// That files cannot be locked, in one finding.
fn missing_digests(address: &str, files: &[String]) -> Option<Finding> {
    /// Names that are shown.
    const SHOWN: usize = 5;
    if files.is_empty() {
        return None;
    }
    let named: Vec<String> = files
        .iter()
        .take(SHOWN)
        .map(|file| format!("`{file}`"))
        .collect();
    let more = match files.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "`{address}` lists images without a sha256 or sha512: {}{more}",
        named.join(", ")
    );
    let finding = Finding::new(RuleId::ChecksumMissing, message).unless_set(Level::Warning);
    Some(
        finding.help(
            "put `SHA256SUMS` or `FILE.sha256sum` beside them; without one they are not locked",
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::missing_digests;

    #[test]
    fn five_files_without_a_digest_are_named_and_the_rest_is_counted() {
        let message = |count: usize| {
            let files: Vec<String> = (0..count).map(|number| number.to_string()).collect();
            missing_digests("https://a.b/", &files).map(|finding| finding.message)
        };
        let five =
            "`https://a.b/` lists images without a sha256 or sha512: `0`, `1`, `2`, `3`, `4`";
        assert_eq!(message(0), None);
        assert_eq!(message(5), Some(five.to_owned()));
        assert_eq!(message(7), Some(format!("{five} and 2 more")));
    }
}
