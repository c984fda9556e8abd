//! The two streams: results on stdout, everything else on stderr.

use crate::printer::Printer;
use oci_artifacts::registry::Progress;

/// Where a command prints.
pub struct Terminal {
    /// Results.
    pub out: Printer,
    /// Talk.
    pub err: Printer,
    /// Draws how far a batch of requests is; none where stderr is no terminal. Commands that print for machines leave it out.
    pub progress: Option<Progress>,
}
