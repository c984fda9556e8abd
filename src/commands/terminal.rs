//! The two streams: results on stdout, everything else on stderr.

use std::io::{self, ErrorKind, Write};

use crate::model::finding::Judged;
use crate::registry::Progress;
use crate::report::{Colour, Findings};

use super::Format;

/// Where a command writes.
pub struct Terminal {
    /// Results.
    pub out: Stream,
    /// Talk.
    pub err: Stream,
    /// Draws how far a batch of requests is; none where stderr is no terminal. Commands that print for machines leave it out.
    pub progress: Option<Progress>,
}

/// One stream. Whoever reads it may stop reading: the run goes on, does what it was asked for, and says the rest to nobody.
pub struct Stream {
    writer: Box<dyn Write>,
    /// Nobody reads it any more.
    gone: bool,
    /// Whether it takes colours.
    pub colour: Colour,
}

impl Stream {
    /// A stream over a writer.
    pub fn new(writer: Box<dyn Write>, colour: Colour) -> Self {
        Self {
            writer,
            gone: false,
            colour,
        }
    }

    /// Writes findings in a format.
    pub(super) fn findings(
        &mut self,
        judged: &[Judged],
        checked: usize,
        format: Format,
    ) -> io::Result<()> {
        let findings = Findings::new(judged, checked, self.colour);
        format.report().findings(&findings, self)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.gone {
            return Ok(bytes.len());
        }
        match self.writer.write(bytes) {
            Err(cause) if cause.kind() == ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(bytes.len())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.writer.flush() {
            Err(cause) if cause.kind() == ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(())
            }
            flushed => flushed,
        }
    }
}
