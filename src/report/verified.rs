//! Reports how the lock compares with the registries.

use std::io;

use serde::Serialize;

use super::format::Format;
use super::table::Table;
use crate::catalog::locking::{Verification, VerifiedImage};
use crate::printer::Printer;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    images: Vec<Image<'a>>,
}

#[derive(Serialize)]
struct Image<'a> {
    key: &'a str,
    reference: &'a str,
    in_place: Option<bool>,
    signed_by: Option<&'a str>,
}

fn image(image: &VerifiedImage) -> Image<'_> {
    Image {
        key: &image.key,
        reference: &image.reference,
        in_place: image.in_place,
        signed_by: image.signed_by.as_deref(),
    }
}

/// Prints what the registries have now of each image of the lock.
pub fn verification(verified: &Verification, format: Format, out: &mut Printer) -> io::Result<()> {
    if format == Format::Json {
        let document = Document {
            version: 1,
            images: verified.images.iter().map(image).collect(),
        };
        return out.json(&document);
    }
    let mut table = Table::new(&["image", "tag", "signed by", "reference"]);
    for image in &verified.images {
        let tag = match image.in_place {
            Some(true) => "as locked",
            Some(false) => "not as locked",
            None => "unknown",
        };
        let signed = image.signed_by.as_deref().unwrap_or("–");
        let signed: String = signed.chars().take(19).collect();
        let cells = [&*image.key, tag, &*signed, &*image.reference];
        table.row(cells.map(str::to_owned));
    }
    table.write(out)
}
