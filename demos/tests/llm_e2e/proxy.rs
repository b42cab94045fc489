//! Between the program and the model's server: it counts, remembers, and holds an answer back where it is told to.

use serde_json::Value;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// One request and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) body: String,
    /// The tokens that the server reported.
    pub(crate) tokens: u64,
    /// The server has begun to answer.
    pub(crate) answering: bool,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The names of the tools that are offered.
    pub(crate) fn offered(&self) -> Vec<String> {
        let tools = self.json()["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// A proxy that serves one request a connection, for as long as the process lives.
pub(crate) struct Proxy {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Proxy {
    /// In front of the server with this base URL. The answer to the request of this number, from 0, never arrives.
    pub(crate) fn start(base: &str, held: Option<usize>) -> Self {
        let upstream = base.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let known = seen.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (known, upstream) = (known.clone(), upstream.clone());
                // A client or a server that leaves is what some tests are about.
                std::thread::spawn(move || drop(serve(client, &upstream, &known, held)));
            }
        });
        Self { address, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until the server answers the request of this number.
    pub(crate) fn wait_for(&self, number: usize) {
        let limit = Instant::now() + Duration::from_secs(300);
        while !self.seen().get(number).is_some_and(|seen| seen.answering) {
            assert!(Instant::now() < limit, "{:?}", self.seen());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// All tokens that the server reported.
    pub(crate) fn tokens(&self) -> u64 {
        self.seen().iter().map(|seen| seen.tokens).sum()
    }
}

fn serve(mut client: TcpStream, upstream: &str, known: &Mutex<Vec<Seen>>, held: Option<usize>) -> io::Result<()> {
    let (path, body) = request(&mut client)?;
    let number = {
        let mut known = known.lock().unwrap();
        known.push(Seen { body: body.clone(), tokens: 0, answering: false });
        known.len() - 1
    };
    let mut server = TcpStream::connect(upstream)?;
    let length = body.len();
    write!(
        server,
        "POST {path} HTTP/1.1\r\nhost: {upstream}\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n{body}"
    )?;
    let (mut buffer, mut answer) = ([0; 4096], Vec::new());
    loop {
        let read = server.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        answer.extend_from_slice(&buffer[..read]);
        {
            let mut known = known.lock().unwrap();
            known[number].answering = true;
            known[number].tokens = tokens(&String::from_utf8_lossy(&answer));
        }
        if held != Some(number) {
            client.write_all(&buffer[..read])?;
        }
    }
}

/// The path and the body.
fn request(client: &mut TcpStream) -> io::Result<(String, String)> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:")).map_or("0", str::trim);
            if bytes.len() >= end + 4 + length.parse::<usize>().unwrap() {
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                return Ok((path, String::from_utf8_lossy(&bytes[end + 4..]).into_owned()));
            }
        }
        match client.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}

/// The sum that a stream reports, if it has come so far.
fn tokens(answer: &str) -> u64 {
    let said = answer.rsplit_once("\"total_tokens\":").map_or("", |(_, rest)| rest);
    said.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
}
