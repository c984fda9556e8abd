//! Prints everything that people, code hosts and programs read: every command prints through a [`Printer`].
//!
//! All text is treated as untrusted. Labels of secrets are spelled for people, URLs lose their passwords and queries, control
//! characters are replaced, and commands of CI runners are broken up. Data goes through [`Printer::json`] and [`Printer::yaml`],
//! which do so with each string; markup is printed only as [`Safe`], which only literals and the escaping functions create. Output that must stay unchanged, such as rendered
//! manifests, goes through [`Printer::product`]; `tests/architecture.rs` lists the files that may use it.

mod data;
mod safe;
mod text;
mod url;

use std::io::{self, ErrorKind, Write};

use serde::Serialize;

use yaml_tree::value::Value;

pub use data::display_value;
pub use safe::{Safe, fence};
pub use text::{display, is_unsafe, plain};
pub use url::may_name_user;

/// Whether a stream supports terminal colors, which the command line decides (a terminal, and no `NO_COLOR`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// Plain text.
    #[default]
    Never,
    /// With ANSI escapes.
    Always,
}

/// How much of the findings people are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Errors, and no summary.
    Quiet,
    /// Findings of one cause together, then the summary.
    #[default]
    Folded,
    /// Each finding by itself, then the summary.
    Whole,
}

/// One output stream, or a buffer in memory. If the reader closes a stream, the run continues, and the rest of the output is
/// discarded.
pub struct Printer {
    sink: Sink,
    /// Whether the reader has closed the stream.
    gone: bool,
    /// An incomplete line of text.
    line: Vec<u8>,
    /// Whether the stream supports colors.
    pub color: Color,
    /// The columns of the terminal, if it is one.
    pub width: Option<usize>,
    /// How much of the findings is printed.
    pub detail: Detail,
}

enum Sink {
    Stream(Box<dyn Write>),
    Memory(Vec<u8>),
}

impl Printer {
    /// A printer over a stream.
    pub fn new(writer: Box<dyn Write>, color: Color) -> Self {
        Self::with_sink(Sink::Stream(writer), color)
    }

    fn with_sink(sink: Sink, color: Color) -> Self {
        Self {
            sink,
            gone: false,
            line: Vec::new(),
            color,
            width: None,
            detail: Detail::default(),
        }
    }

    /// The printed text, for a file.
    ///
    /// # Errors
    /// Those of `print`.
    pub fn print_to_string(
        color: Color,
        print: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<String> {
        let mut printer = Self::with_sink(Sink::Memory(Vec::new()), color);
        print(&mut printer)?;
        printer.end_line()?;
        Ok(match &printer.sink {
            Sink::Memory(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Sink::Stream(_) => String::new(),
        })
    }

    /// Prints data as JSON, with a line break at the end.
    ///
    /// # Errors
    /// The stream fails; the data cannot be serialized.
    pub fn json<T: Serialize + ?Sized>(&mut self, data: &T) -> io::Result<()> {
        self.end_line()?;
        let mut raw = Raw(self);
        data::json(data, &mut raw)?;
        raw.write_all(b"\n")
    }

    /// Prints data as JSON in one line, for an element of an HTML page.
    ///
    /// # Errors
    /// The stream fails; the data cannot be serialized.
    pub fn embed_json<T: Serialize + ?Sized>(&mut self, data: &T) -> io::Result<()> {
        self.end_line()?;
        data::embed(data, &mut Raw(self))
    }

    /// Prints data as YAML.
    ///
    /// # Errors
    /// The stream fails; the data cannot be serialized.
    pub fn yaml<T: Serialize + ?Sized>(&mut self, data: &T) -> io::Result<()> {
        self.value(&Value::from(serde_json::to_value(data)?))
    }

    /// Prints a value as YAML.
    ///
    /// # Errors
    /// The stream fails.
    pub fn value(&mut self, value: &Value) -> io::Result<()> {
        let text = data::yaml(value)?;
        self.product(text.as_bytes())
    }

    /// Prints text with its own colors. The caller has replaced escape characters in untrusted text.
    ///
    /// # Errors
    /// The stream fails.
    pub fn drawing(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        for line in text.split_inclusive('\n') {
            let line = text::line(line, self.color == Color::Always);
            self.raw(line.as_bytes())?;
        }
        Ok(())
    }

    /// Prints markup.
    ///
    /// # Errors
    /// The stream fails.
    pub fn markup(&mut self, markup: &Safe) -> io::Result<()> {
        self.product(markup.as_str().as_bytes())
    }

    /// Prints output without escaping: manifests, scripts, pages.
    ///
    /// # Errors
    /// The stream fails.
    pub fn product(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.end_line()?;
        self.raw(bytes)
    }

    fn end_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return Ok(());
        }
        let line = String::from_utf8_lossy(&line);
        self.raw(text::line(&line, false).as_bytes())
    }

    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.gone {
            return Ok(());
        }
        match &mut self.sink {
            Sink::Memory(memory) => memory.extend_from_slice(bytes),
            Sink::Stream(writer) => match writer.write_all(bytes) {
                Err(cause) if cause.kind() == ErrorKind::BrokenPipe => self.gone = true,
                written => written?,
            },
        }
        Ok(())
    }
}

/// Text, which is printed line by line.
impl Write for Printer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.end_line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end_line()?;
        let Sink::Stream(writer) = &mut self.sink else {
            return Ok(());
        };
        match writer.flush() {
            Err(cause) if cause.kind() == ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(())
            }
            flushed => flushed,
        }
    }
}

impl Drop for Printer {
    fn drop(&mut self) {
        // A failed run has reported its error; if the streams are closed, nothing more can be reported.
        let _ = self.flush();
    }
}

/// The stream itself, for output that is already escaped.
struct Raw<'p>(&'p mut Printer);

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.raw(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write as _};

    use proptest::prelude::{prop_assert, proptest};

    use super::{Color, Printer, display, is_unsafe};

    fn printed(print: impl FnOnce(&mut Printer) -> io::Result<()>) -> String {
        Printer::print_to_string(Color::Never, print).expect("memory takes it")
    }

    #[test]
    fn a_line_written_in_parts_is_printed_as_one() {
        let text = printed(|out| {
            write!(out, "  :")?;
            write!(out, ":error:")?;
            writeln!(out, ":x")?;
            write!(out, "end \u{9b}")
        });
        assert_eq!(text, "  : :error::x\nend \u{fffd}");
    }

    #[test]
    fn products_are_printed_unchanged() {
        let text = printed(|out| {
            write!(out, "a")?;
            out.product("::x\u{1b}\n".as_bytes())
        });
        assert_eq!(text, "a::x\u{1b}\n");
    }

    proptest! {
        #[test]
        fn nothing_unsafe_is_printed_whatever_is_written(text in "\\PC{0,20}|[ :#\\[\\]\u{1b}\u{9b}\u{202e}\u{2028}\r\na-z]{0,20}") {
            let (data, text) = ([text.clone()], text);
            for out in [
                printed(|out| writeln!(out, "{text}")),
                printed(|out| out.drawing(&text)),
                printed(|out| out.json(&data)),
                printed(|out| out.yaml(&data)),
            ] {
                prop_assert!(!out.chars().any(|letter| letter != '\n' && letter != '\t' && is_unsafe(letter)), "{out:?}");
                prop_assert!(!out.contains("##["), "{out:?}");
                for line in out.lines() {
                    let line = line.trim_start();
                    prop_assert!(!line.starts_with("::") || line.starts_with("::: "), "{out:?}");
                }
            }
            let read: Vec<String> = serde_json::from_str(&printed(|out| out.json(&data))).expect("JSON");
            prop_assert!(read == [display(&text)]);
        }
    }
}
