//! The two streams: results on stdout, everything else on stderr.

use std::io::{self, Write};

/// Where a command writes, and whether each stream takes colours.
pub struct Terminal {
    /// Results.
    pub out: Stream,
    /// Talk.
    pub err: Stream,
}

/// One stream.
pub struct Stream {
    writer: Box<dyn Write>,
    /// Whether escape codes are wanted.
    pub color: bool,
}

impl Stream {
    /// A stream over a writer.
    pub fn new(writer: Box<dyn Write>, color: bool) -> Self {
        Self { writer, color }
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
