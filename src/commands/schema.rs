//! `metalmark schema`: the JSON Schema of the project file, for editors.

use crate::error::Error;
use crate::read;

use crate::pipeline::{Terminal, Verdict};

/// Prints the schema.
///
/// # Errors
/// It cannot be printed.
pub fn schema(terminal: &mut Terminal) -> Result<Verdict, Error> {
    let schema = read::project_schema();
    terminal.out.json(&schema)?;
    Ok(Verdict::Clean)
}
