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
    /// As text; of what is pushed, nothing.
    pub(crate) body: String,
    /// What is pushed.
    pub(crate) bytes: Vec<u8>,
    /// Whether the connection broke before all of it came.
    pub(crate) is_cut: bool,
}

/// What is done before the body of a request is read.
pub(crate) enum Early {
    /// So many bytes of it are read, and the connection ends.
    CutAfter(usize),
    /// It is answered, and the connection ends.
    Reply(Reply),
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
    early: impl Fn(&Request) -> Option<Early>,
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
    while let Some(mut request) = head(&mut stream) {
        let cut = match early(&request) {
            Some(Early::Reply(reply)) => {
                write(stream.get_mut(), &reply);
                return;
            }
            Some(Early::CutAfter(bytes)) => Some(bytes),
            None => None,
        };
        if body(&mut stream, &mut request, cut).is_none() {
            break;
        }
        if request.is_cut {
            answer(request);
            return;
        }
        let is_head = request.method == "HEAD";
        let mut reply = answer(request);
        if is_head {
            reply.body.clear();
        }
        if write(stream.get_mut(), &reply).is_none() {
            return;
        }
    }
    // What was no request gets an answer too, as from real servers; at the connection's end nobody reads it.
    let _ = stream
        .get_mut()
        .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
}

fn head(stream: &mut impl BufRead) -> Option<Request> {
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
    Some(Request {
        method,
        path,
        headers,
        body: String::new(),
        bytes: Vec::new(),
        is_cut: false,
    })
}

fn body(stream: &mut impl Read, request: &mut Request, cut: Option<usize>) -> Option<()> {
    let length = request
        .header("content-length")
        .and_then(|length| length.parse().ok());
    let length = length.unwrap_or(0);
    request.is_cut = cut.is_some_and(|cut| cut < length);
    let mut body = vec![0; cut.unwrap_or(length).min(length)];
    stream.read_exact(&mut body).ok()?;
    match request.header("content-type") {
        Some("application/x-www-form-urlencoded") => request.body = String::from_utf8(body).ok()?,
        _ => request.bytes = body,
    }
    Some(())
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
