//! Builds the stamp of an image: its URL, format and checksum.

use capi::image::{Image, Images, fact};
use capi::location::{checksum_at, last_part};
use capi::providers::Stamp;
use oci_artifacts::{Reference, is_oci};

use crate::model::cluster::Pool;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::selection::{Outcome, Selection};
use crate::model::settings::ChecksumStyle;

/// The engine's name for the template of `images.url`.
pub(super) const URL_TEMPLATE: &str = "images.url";
/// What image servers append to the image's URL for its checksum (docs/sylva.md#the-image-server).
const CHECKSUM_SUFFIX: &str = ".sha256sum";

/// The stamp of an image at its URL. A machine that pulls from a registry gets the reference by its locked digest, and no checksum.
pub(super) fn for_image(image: &Image, url: String, style: ChecksumStyle) -> Stamp {
    let mut stamp = Stamp {
        key: Some(image.key.clone()),
        url: pin(image, url).into(),
        format: image
            .facts
            .get(fact::IMAGE_FORMAT)
            .map(|format| format.value.clone()),
        facts: image.facts.clone(),
        digest: image.pulled.clone(),
        ..Stamp::default()
    };
    let checksum = match style {
        _ if stamp.is_oci() => None,
        ChecksumStyle::Literal => checksum_at(&stamp.url, &image.facts),
        ChecksumStyle::Url => Some(("sha256", format!("{}{CHECKSUM_SUFFIX}", stamp.url).into())),
    };
    if let Some((kind, text)) = checksum {
        stamp.checksum = Some(text);
        stamp.checksum_type = Some(kind.into());
    }
    stamp
}

/// A URL by the digest that is locked, where it names the image's own artifact, in its registry or at a mirror.
fn pin(image: &Image, url: String) -> String {
    let pinned = || {
        let written = is_oci(&url).then(|| Reference::parse(&url).ok())??;
        let own = Reference::parse(&image.uri.as_ref()?.value).ok()?;
        let is_own = last_part(&written.repository) == last_part(&own.repository)
            && written.target() == own.target();
        let digest = image.pulled.as_ref().filter(|_| is_own)?;
        Some(written.pin(digest).to_string())
    };
    pinned().unwrap_or(url)
}

/// That machines pull a locked image by a tag all the same, because the template of its URL names another repository or tag. What
/// is not locked is reported with the catalog.
pub(super) fn find_unpinned(stamp: &Stamp, images: &Images) -> Option<Finding> {
    let key = stamp.key.as_ref()?;
    images.get(key)?.digest_reference()?;
    let has_digest = Reference::parse(&stamp.url).is_ok_and(|it| it.digest.is_some());
    if !stamp.is_oci() || has_digest {
        return None;
    }
    let message = format!("`{}` names a tag, which may move", stamp.url);
    let finding = Finding::new(RuleId::ReferenceUnpinned, message);
    Some(finding.help(
        "write `{{ image.pinned }}` into `images.url`, or `@{{ image.digest }}` instead of the tag",
    ))
}

/// The stamp for a pool's selection: that of the image, or the URL and checksum in the values.
pub(super) fn for_pool(
    pool: &Pool,
    selection: &Selection,
    images: &Images,
    stamp: &dyn Fn(&Image) -> Option<Stamp>,
) -> Option<Stamp> {
    match &selection.outcome {
        Outcome::Image(key) => stamp(images.get(key)?),
        Outcome::Explicit(_) => explicit(pool),
        Outcome::Nothing
        | Outcome::Named(_)
        | Outcome::Unknown(_)
        | Outcome::NoMatch
        | Outcome::Several(_)
        | Outcome::Disagree { .. }
        | Outcome::Invalid(_) => None,
    }
}

fn explicit(pool: &Pool) -> Option<Stamp> {
    let choice = &pool.choice;
    let text = |field: &Option<yaml_tree::place::Located<std::sync::Arc<str>>>| {
        field.as_ref().map(|located| located.value.clone())
    };
    Some(Stamp {
        url: text(&choice.url)?,
        format: text(&choice.format),
        checksum: text(&choice.checksum),
        checksum_type: text(&choice.checksum_type),
        ..Stamp::default()
    })
}
