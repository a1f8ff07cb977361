//! A server under test, and requests to it as they go over the line.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::program::{Watch, program};

/// Longer than any test needs a server, on a machine that does ten other things.
const LONGEST: Duration = Duration::from_secs(900);

/// The program as it serves.
pub struct Server {
    pub process: Child,
    _watch: Watch,
    /// The address that it printed.
    pub url: String,
    pub port: u16,
}

/// What it answers.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Events as they come.
pub struct Events(BufReader<TcpStream>);

impl Events {
    /// The data of the next one.
    pub fn next(&mut self) -> String {
        loop {
            let mut line = String::new();
            let read = self.0.read_line(&mut line).expect("an event");
            assert!(read > 0, "the server has closed the line");
            if let Some(data) = line.strip_prefix("data: ") {
                return data.trim_end().to_owned();
            }
        }
    }
}

impl Server {
    /// Starts it on a free port, unless the arguments say another one.
    pub fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::started(program(folder, &[]), arguments)
    }

    /// The same through another program, whose arguments end with the command.
    pub fn start_as(mut other: Command, folder: &Path, arguments: &[&str]) -> Self {
        let command = program(folder, &[]);
        other.arg(command.get_program()).current_dir(folder);
        other.stdin(Stdio::null()).stderr(Stdio::null());
        Self::started(other, arguments)
    }

    fn started(mut command: Command, arguments: &[&str]) -> Self {
        let common = ["serve", "--quiet", "--address", "127.0.0.1:0"];
        let first = if arguments.contains(&"--address") {
            2
        } else {
            4
        };
        let mut process = command
            .args(&common[..first])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let watch = Watch::new(&process, LONGEST);
        let mut url = String::new();
        let stdout = process.stdout.take().expect("it is piped");
        BufReader::new(stdout)
            .read_line(&mut url)
            .expect("an address");
        let url = url.trim_end().to_owned();
        let host = url
            .strip_prefix("http://")
            .and_then(|url| url.split('/').next());
        let port = host.and_then(|host| host.rsplit(':').next()?.parse().ok());
        Self {
            process,
            _watch: watch,
            port: port.unwrap_or_else(|| panic!("no address: {url}")),
            url,
        }
    }

    /// As a browser on this machine that was told the address.
    pub fn get(&self, path: &str) -> Answer {
        let host = format!("127.0.0.1:{}", self.port);
        self.request("GET", path, &[("Host", &host)])
    }

    /// A request with these headers alone.
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut reader = BufReader::new(self.line(method, path, headers));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(
                reader.read_line(&mut head).expect("a head") > 0,
                "{path}: {head}"
            );
        }
        let mut lines = head.lines();
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let mut body = Vec::new();
        let is_stream = headers
            .iter()
            .any(|(_, value)| value == "text/event-stream");
        if !is_stream {
            reader.read_to_end(&mut body).expect("a body");
        }
        Answer {
            status: status.expect("a status"),
            headers,
            body: String::from_utf8(body).expect("UTF-8"),
        }
    }

    /// A request whose answer nobody reads; it is given up where the line is dropped.
    pub fn send(&self, method: &str, path: &str) -> TcpStream {
        let host = format!("127.0.0.1:{}", self.port);
        self.line(method, path, &[("Host", &host)])
    }

    /// The news of the runs.
    pub fn events(&self) -> Events {
        Events(BufReader::new(self.send("GET", "/events")))
    }

    fn line(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let time = Some(Duration::from_secs(60));
        stream.set_read_timeout(time).expect("a time-out");
        let headers: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"
        )
        .expect("sent");
        stream
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
