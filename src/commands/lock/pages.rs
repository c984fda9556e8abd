//! The index pages that the project names, asked for once.

use crate::model::finding::{Finding, Level};
use crate::oci::Failure;
use crate::read::Workspace;
use crate::sources::{self, OfferedImage, Stores};

/// What all pages together list.
#[derive(Default)]
pub(in crate::commands) struct Pages {
    /// The images with a digest.
    pub(in crate::commands) offered: Vec<OfferedImage>,
    /// What the addresses of files start with whose page could not be had.
    pub(in crate::commands) unread: Vec<String>,
    /// What is wrong with what they list.
    pub(in crate::commands) findings: Vec<Finding>,
    /// Why pages could not be had.
    pub(in crate::commands) failures: Vec<Failure>,
}

/// Asks for every page under `images.facts`. Nothing is asked where there is none.
pub(in crate::commands) fn pages(workspace: &Workspace, stores: &Stores) -> Pages {
    let mut pages = Pages::default();
    for path in &workspace.facts {
        let address = path.to_string_lossy();
        if !sources::is_page(&address) {
            continue;
        }
        match sources::page(&address, &|wanted| stores.pages(wanted)) {
            Ok(page) => {
                pages
                    .findings
                    .extend(undigested(&address, &page.without_digest));
                pages.offered.extend(page.images);
            }
            Err(failure) => {
                pages.failures.push(failure);
                pages.unread.push(sources::page_base(&address).to_owned());
            }
        }
    }
    pages
}

/// That files cannot be locked, in one finding.
fn undigested(address: &str, files: &[String]) -> Option<Finding> {
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
    let finding = Finding::new("checksum-missing", message).unless_set(Level::Warning);
    Some(
        finding.help(
            "put `SHA256SUMS` or `FILE.sha256sum` beside them; without one they are not locked",
        ),
    )
}
