//! The process's own streams and environment, looked at once.

use std::io::{self, IsTerminal, Write};

use crate::commands::{Color, Stream, Terminal};
use crate::error::Error;

/// The process's streams, buffered; a closed pipe downstream ends the output quietly.
pub(super) fn open(color: Color) -> Terminal {
    let wanted = |is_terminal: bool| match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    };
    let (out, err) = (io::stdout(), io::stderr());
    let (out_color, err_color) = (wanted(out.is_terminal()), wanted(err.is_terminal()));
    Terminal {
        out: Stream::new(Box::new(io::BufWriter::new(out)), out_color),
        err: Stream::new(Box::new(io::BufWriter::new(err)), err_color),
    }
}

/// Says why the run ended with status 2.
pub(super) fn say(terminal: &mut Terminal, error: &Error) {
    // Nothing is left to tell anyone when stderr itself is gone.
    let _ = writeln!(terminal.err, "error: {error}");
    let _ = terminal.err.flush();
}
