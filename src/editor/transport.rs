//! Messages on a pair of streams: JSON behind a header with its length.
//!
//! `lsp_server` has a transport, which takes memory for any length that a header says, and ends the session at the first message
//! that is no JSON.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::bounded;
use lsp_server::{Connection, ErrorCode, Message};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// The most bytes of a message: one with the text of a file has twice the 16 MiB that are read of it, escaped.
const MESSAGE_LIMIT: u64 = 64 << 20;

/// The most bytes of a line of a header.
const HEADER_LINE: u64 = 4 << 10;

/// The threads of a connection.
pub struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits until all messages are written and none comes any more.
    ///
    /// # Errors
    /// A stream broke, or what came has no headers of the protocol.
    pub fn join(self) -> io::Result<()> {
        let ended = |thread: JoinHandle<io::Result<()>>| {
            thread
                .join()
                .unwrap_or_else(|_| Err(ErrorKind::Other.into()))
        };
        ended(self.reader)?;
        ended(self.writer)
    }
}

/// A connection over two streams, which are read and written on threads of their own.
///
/// # Errors
/// The system has no threads.
pub fn connect(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<(Connection, Threads)> {
    let (sender, to_write) = bounded::<Message>(0);
    let (arrived, receiver) = bounded::<Message>(0);
    let output = Arc::new(Mutex::new(output));
    let shared = Arc::clone(&output);
    let writer = std::thread::Builder::new().spawn(move || {
        let mut messages = to_write.into_iter();
        messages.try_for_each(|message| message.write(&mut *shared.lock()))
    })?;
    let reader = std::thread::Builder::new().spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let received = read(&mut input).or_else(|fault| {
                // Where the next message begins is not known.
                let answer = refuse(ErrorCode::InvalidRequest, &fault.to_string());
                write(&mut *output.lock(), &answer)?;
                Err(fault)
            })?;
            let Some(received) = received else {
                break;
            };
            match received {
                Ok(message) => {
                    let is_exit =
                        matches!(&message, Message::Notification(it) if it.method == "exit");
                    if arrived.send(message).is_err() || is_exit {
                        break;
                    }
                }
                Err(refusal) => write(&mut *output.lock(), &refusal)?,
            }
        }
        Ok(())
    })?;
    Ok((Connection { sender, receiver }, Threads { reader, writer }))
}

/// The next message, or the answer to one that is none; nothing at the end.
fn read(input: &mut impl BufRead) -> io::Result<Option<Result<Message, Value>>> {
    let Some(length) = read_header(input)? else {
        return Ok(None);
    };
    if length > MESSAGE_LIMIT {
        // Nobody waits for what may never come.
        let message = format!("a message of more than {} MiB", MESSAGE_LIMIT >> 20);
        return Err(io::Error::new(ErrorKind::InvalidData, message));
    }
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != length {
        return Ok(None);
    }
    Ok(Some(match serde_json::from_slice::<Value>(&bytes) {
        Err(_) => Err(refuse(ErrorCode::ParseError, "the message is not JSON")),
        Ok(value) => serde_json::from_value(value).map_err(|_| {
            refuse(
                ErrorCode::InvalidRequest,
                "the message is not a request, notification or response",
            )
        }),
    }))
}

/// The length that the header of a message says; none at the end.
fn read_header(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let malformed = || io::Error::new(ErrorKind::InvalidData, "a header of a message is malformed");
    let mut length = None;
    loop {
        let mut line = Vec::new();
        input.take(HEADER_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let line = line.strip_suffix(b"\r\n").ok_or_else(malformed)?;
        let line = std::str::from_utf8(line).map_err(|_| malformed())?;
        if line.is_empty() {
            return length.map(Some).ok_or_else(malformed);
        }
        let (name, value) = line.split_once(':').ok_or_else(malformed)?;
        if name.eq_ignore_ascii_case("Content-Length") {
            length = Some(value.trim().parse().map_err(|_| malformed())?);
        }
    }
}

/// The answer to a message whose number nobody knows.
fn refuse(code: ErrorCode, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": code as i32, "message": message}})
}

fn write(output: &mut impl Write, answer: &Value) -> io::Result<()> {
    let text = answer.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}
