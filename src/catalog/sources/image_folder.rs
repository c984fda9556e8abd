//! Facts from a folder of image files, as a web server serves it: names, and the digests in the checksum files beside them.

use std::path::Path;

use capi::image::Origin;
use yaml_tree::place::{FileId, Place, Source};

use super::image_files::{Digests, LONGEST_LIST, checksum_file, images, lines};
use super::records::Records;
use super::{FactsFile, Fault};
use crate::error::Error;
use crate::files::Files;
use crate::model::rule::RuleId;
use crate::model::written::WrittenImage;

/// Reads the folder; `file` is its number among the files with facts. A checksum file that holds no digest is a fault.
///
/// # Errors
/// The folder or a checksum file cannot be read.
pub(super) fn read(
    tree: &dyn Files,
    path: &Path,
    shown: &str,
    file: FileId,
) -> Result<FactsFile, Error> {
    let names = tree.folder(path)?.unwrap_or_default();
    let start = Place {
        file,
        start: 0,
        end: 0,
    };
    let mut digests = Digests::default();
    let mut faults = Vec::new();
    for name in &names {
        let Some((kind, of)) = checksum_file(name) else {
            continue;
        };
        let bytes = tree.read_file(&path.join(name))?;
        let text = String::from_utf8(bytes).unwrap_or_default();
        let found = lines(&text, kind, of);
        if found.is_empty() || text.len() > LONGEST_LIST {
            faults.push(Fault {
                rule: RuleId::ChecksumMalformed,
                message: format!("`{shown}/{name}` holds no {} digest", kind.name),
                place: start,
                help: Some(format!("write it as `{}sum` prints it", kind.name)),
            });
            continue;
        }
        for (name, digest) in found {
            digests.entry(name).or_default().insert(kind.name, digest);
        }
    }
    let images: Vec<WrittenImage> = images(&names, &digests);
    if images.is_empty() {
        faults.push(Fault {
            rule: RuleId::ValueMissing,
            message: format!("`{shown}` holds no image file"),
            place: start,
            help: Some("name the folder that the image server serves".to_owned()),
        });
    }
    Ok(FactsFile {
        images: Box::new(Records::from_images(&images, file, Origin::InfoFile)),
        source: Source::new(shown, ""),
        faults,
    })
}
