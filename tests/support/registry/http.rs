//! HTTP/1.1 as far as a client of a registry speaks it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// With its query.
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// A reply, and how it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) way: Way,
}

/// How a reply is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As it should be.
    Whole,
    /// The connection ends before the first byte.
    Cut,
    /// The connection ends in the middle of the body.
    CutBody,
    /// Nothing comes for that many milliseconds, half of the body sent.
    Stalled(u64),
    /// Without a `Content-Length`: in chunks.
    Chunked,
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            way: Way::Whole,
        }
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn way(mut self, way: Way) -> Self {
        self.way = way;
        self
    }
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// Answers what comes through a connection until it ends.
pub(super) fn serve(
    stream: TcpStream,
    tls: Option<Arc<rustls::ServerConfig>>,
    answer: impl Fn(Request) -> Reply,
) {
    let _ = stream.set_nodelay(true);
    let stream: Box<dyn Stream> = match tls {
        None => Box::new(stream),
        Some(config) => match rustls::ServerConnection::new(config) {
            Ok(connection) => Box::new(rustls::StreamOwned::new(connection, stream)),
            Err(_) => return,
        },
    };
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream) {
        let reply = answer(request);
        if write(stream.get_mut(), &reply).is_none() {
            return;
        }
    }
    // What was no request gets an answer too, as from real servers; at the connection's end nobody reads it.
    let _ = stream
        .get_mut()
        .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
}

fn read(stream: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    stream
        .read_line(&mut line)
        .ok()
        .filter(|count| *count > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut request = Request {
        method,
        path,
        headers,
        body: String::new(),
    };
    let length = request
        .header("content-length")
        .and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).ok()?;
    Some(request)
}

/// Sends a reply; none where the connection is to end.
fn write(stream: &mut dyn Stream, reply: &Reply) -> Option<()> {
    if reply.way == Way::Cut {
        return None;
    }
    let mut head = format!("HTTP/1.1 {} x\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&match reply.way {
        Way::Chunked => "Transfer-Encoding: chunked\r\n\r\n".to_owned(),
        _ => format!("Content-Length: {}\r\n\r\n", reply.body.len()),
    });
    let mut whole = head.into_bytes();
    let half = &reply.body[..reply.body.len() / 2];
    match reply.way {
        Way::Whole => {
            whole.extend(&reply.body);
            stream.write_all(&whole).ok()?;
        }
        Way::Chunked => {
            for chunk in reply.body.chunks(65_536) {
                whole.extend(format!("{:x}\r\n", chunk.len()).bytes());
                whole.extend(chunk);
                whole.extend(b"\r\n");
            }
            whole.extend(b"0\r\n\r\n");
            stream.write_all(&whole).ok()?;
        }
        Way::CutBody | Way::Stalled(_) | Way::Cut => {
            whole.extend(half);
            stream.write_all(&whole).ok()?;
            stream.flush().ok()?;
            if let Way::Stalled(milliseconds) = reply.way {
                thread::sleep(Duration::from_millis(milliseconds));
            }
            return None;
        }
    }
    stream.flush().ok()
}
