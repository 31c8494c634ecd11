//! The two requests xtask makes to the local run.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// `GET path` on localhost: the status, or nothing if nobody answers.
pub fn get(port: u16, path: &str) -> Option<u16> {
    let addresses = ("localhost", port).to_socket_addrs().ok()?;
    let mut stream = addresses
        .filter_map(|address| TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok())
        .next()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .ok()?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    let mut answer = String::new();
    stream.take(64 * 1024).read_to_string(&mut answer).ok()?;
    answer.split_whitespace().nth(1)?.parse().ok()
}

/// Whether somebody already listens there.
pub fn taken(port: u16) -> bool {
    ("localhost", port)
        .to_socket_addrs()
        .is_ok_and(|mut addresses| {
            addresses.any(|address| {
                TcpStream::connect_timeout(&address, Duration::from_millis(300)).is_ok()
            })
        })
}
