//! Reports what `mirror` copied.

use std::io::{self, Write};

use serde::Serialize;

use crate::catalog::mirroring::{MirrorState, Mirrored};
use crate::printer::Printer;

use super::format::Format;
use super::impact::words::bytes;
use super::table::Table;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    images: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    key: &'a str,
    reference: String,
    to: String,
    state: &'static str,
    attached: usize,
    bytes: u64,
}

/// Prints a row for each image.
pub fn copies(images: &[Mirrored<'_>], format: Format, out: &mut Printer) -> io::Result<()> {
    let rows: Vec<Row<'_>> = images.iter().map(row).collect();
    if format != Format::Human {
        let images = rows;
        return format.data(&Document { version: 1, images }, out);
    }
    let mut table = Table::new(&["image", "state", "signatures and others", "size", "copy"]);
    for row in rows {
        let size = if row.bytes == 0 {
            "–".to_owned()
        } else {
            bytes(row.bytes)
        };
        table.row([
            row.key.to_owned(),
            row.state.to_owned(),
            row.attached.to_string(),
            size,
            row.to,
        ]);
    }
    table.write(out)
}

/// Says that one more image was copied.
pub fn copy_progress(
    image: &Mirrored<'_>,
    done: usize,
    all: usize,
    out: &mut Printer,
) -> io::Result<()> {
    writeln!(
        out,
        "{done} of {all}: {}, {}",
        image.task.key,
        bytes(image.bytes)
    )?;
    out.flush()
}

fn row<'a>(image: &Mirrored<'a>) -> Row<'a> {
    Row {
        key: &image.task.key,
        reference: image.task.name.to_string(),
        to: image.task.to.to_string(),
        state: match image.state {
            MirrorState::There => "there",
            MirrorState::Lacking => "lacking",
            MirrorState::Copied => "copied",
        },
        attached: image.attached,
        bytes: image.bytes,
    }
}
