//! One connection: a request is read, a reply is written.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::reply::End;
use super::server::Shared;
use super::{Asked, Framing, Reply};

/// Serves one request. A client that leaves is counted, whatever the reason.
pub(super) async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    // Pieces arrive as they are written.
    drop(stream.set_nodelay(true));
    // A client that leaves within its request has asked nothing.
    let Ok(request) = read(&mut stream).await else { return };
    let reply = shared.asked(request);
    let (mut reading, mut writing) = stream.split();
    let mut byte = [0];
    let answered = tokio::select! {
        // The client sends nothing more, so this is the end of its side.
        _ = reading.read(&mut byte) => false,
        written = write(&mut writing, &reply) => written.is_ok(),
    };
    match reply.end {
        _ if !answered => shared.client_left(),
        End::Reset(_) => drop(stream.set_zero_linger()),
        _ => {
            drop(stream.shutdown().await);
            // Until the client has read everything: closing earlier could take it away.
            while stream.read(&mut byte).await.is_ok_and(|read| read > 0) {}
        }
    }
}

async fn read(stream: &mut TcpStream) -> io::Result<Asked> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        more(stream, &mut bytes).await?;
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let end = head + 4 + length.unwrap_or(0);
    while bytes.len() < end {
        more(stream, &mut bytes).await?;
    }
    let body = String::from_utf8_lossy(&bytes[head + 4..end]).into_owned();
    Ok(Asked { method, path, headers, body })
}

async fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<()> {
    match stream.read_buf(bytes).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

async fn write(stream: &mut (impl AsyncWriteExt + Unpin), reply: &Reply) -> io::Result<()> {
    if reply.end == End::Never {
        return std::future::pending().await;
    }
    sleep(reply.wait).await;
    stream.write_all(head(reply).as_bytes()).await?;
    stream.flush().await?;
    let end = match reply.end {
        End::Close(bytes) | End::Reset(bytes) => bytes.min(reply.body.len()),
        End::Whole | End::Never => reply.body.len(),
    };
    let mut at = 0;
    let mut pauses = reply.pauses.iter().peekable();
    while at < end {
        while let Some((_, wait)) = pauses.next_if(|(pause, _)| *pause <= at) {
            sleep(*wait).await;
        }
        let until = pauses.peek().map_or(end, |(pause, _)| *pause);
        let next = end.min(until).min(at.saturating_add(reply.piece));
        let piece = &reply.body[at..next];
        if reply.framing == Framing::Chunked {
            let size = format!("{:x}\r\n", piece.len());
            stream.write_all(&[size.as_bytes(), piece, b"\r\n"].concat()).await?;
        } else {
            stream.write_all(piece).await?;
        }
        stream.flush().await?;
        at = next;
    }
    for (_, wait) in pauses.filter(|(pause, _)| *pause <= end) {
        sleep(*wait).await;
    }
    if reply.framing == Framing::Chunked && reply.end == End::Whole {
        stream.write_all(b"0\r\n\r\n").await?;
    }
    Ok(())
}

fn head(reply: &Reply) -> String {
    let mut head = format!("HTTP/1.1 {} Played\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    match reply.framing {
        Framing::Chunked => head.push_str("transfer-encoding: chunked\r\n"),
        Framing::Length => head.push_str(&format!("content-length: {}\r\n", reply.body.len())),
        Framing::UntilClose => {}
    }
    head.push_str("\r\n");
    head
}
