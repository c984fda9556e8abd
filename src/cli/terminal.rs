//! The process's own streams and environment, read once.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use clap::ValueEnum;
use oci_artifacts::registry::Progress;
use terminal_size::{Width, terminal_size};

use crate::error::Error;
use crate::pipeline::Terminal;
use crate::printer::{Color, Printer};

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorMode {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The process's streams, buffered.
pub(super) fn open(mode: ColorMode) -> Terminal {
    let (out, err) = (io::stdout(), io::stderr());
    let progress = err.is_terminal().then(progress);
    let (out_color, err_color) = (
        color(mode, out.is_terminal()),
        color(mode, err.is_terminal()),
    );
    let (out_width, err_width) = (width(&out), width(&err));
    let mut out = Printer::new(Box::new(io::BufWriter::new(out)), out_color);
    let mut err = Printer::new(Box::new(io::BufWriter::new(err)), err_color);
    (out.width, err.width) = (out_width, err_width);
    Terminal { out, err, progress }
}

/// A line that is drawn over itself, a hundred times at most, and wiped at its end.
fn progress() -> Progress {
    Arc::new(|done, total| {
        let step = (total / 100).max(1);
        let line = match done == total {
            true => "\r\x1b[K".to_owned(),
            false if done % step == 0 => format!("\r\x1b[K{done} of {total} done"),
            false => return,
        };
        let mut err = io::stderr().lock();
        // There is nowhere to report that stderr itself is gone.
        let _ = err.write_all(line.as_bytes()).and_then(|()| err.flush());
    })
}

/// The columns of the terminal that a stream leads to.
fn width(stream: &impl IsTerminal) -> Option<usize> {
    let (Width(columns), _) = stream.is_terminal().then(terminal_size)??;
    Some(usize::from(columns))
}

/// An empty NO_COLOR counts as unset (no-color.org).
fn color(mode: ColorMode, is_terminal: bool) -> Color {
    let wanted = match mode {
        ColorMode::Always => true,
        ColorMode::Never => false,
        ColorMode::Auto => {
            let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
            let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            is_terminal && !is_dumb && !no_color
        }
    };
    if wanted { Color::Always } else { Color::Never }
}

/// Says why the run ended with status 2.
pub(super) fn say(terminal: &mut Terminal, error: &Error) {
    // There is nowhere to report that stderr itself is gone.
    let _ = writeln!(terminal.err, "error: {error}");
}
