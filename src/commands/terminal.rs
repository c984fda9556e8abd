//! The two streams: results on stdout, everything else on stderr.

use std::io::{self, Write};

use crate::model::finding::Judged;
use crate::report::{Colour, Findings};

use super::Format;

/// Where a command writes.
pub struct Terminal {
    /// Results.
    pub out: Stream,
    /// Talk.
    pub err: Stream,
}

/// One stream.
pub struct Stream {
    writer: Box<dyn Write>,
    /// Whether it takes colours.
    pub colour: Colour,
}

impl Stream {
    /// A stream over a writer.
    pub fn new(writer: Box<dyn Write>, colour: Colour) -> Self {
        Self { writer, colour }
    }

    /// Writes findings in a format.
    pub(super) fn findings(
        &mut self,
        judged: &[Judged],
        checked: usize,
        format: Format,
    ) -> io::Result<()> {
        let findings = Findings::new(judged, checked, self.colour);
        format.report().findings(&findings, &mut self.writer)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
