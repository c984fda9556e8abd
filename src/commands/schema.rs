//! `metalmark schema`: the JSON Schema of the project file, for editors.

use std::io::Write;

use crate::error::Error;
use crate::read;

use super::{Terminal, Verdict};

/// Prints the schema.
///
/// # Errors
/// It cannot be printed.
pub fn schema(terminal: &mut Terminal) -> Result<Verdict, Error> {
    let schema = read::published_schema();
    serde_json::to_writer_pretty(&mut terminal.out, &schema).map_err(std::io::Error::from)?;
    writeln!(terminal.out)?;
    Ok(Verdict::Clean)
}
