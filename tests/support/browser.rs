//! A browser for tests of pages.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};

/// A browser behind its driver, spoken to in the words of WebDriver.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A driver that is gone already must not hide what failed before.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            self.call("DELETE", "", &Value::Null)
        }));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Browser {
    /// `None` where there is none.
    pub fn start() -> Option<Self> {
        let binary =
            std::env::var("BOOKAHEAD_CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
        if !Path::new(&binary).exists() {
            println!(
                "skipped: no browser at {binary}; install chromium and chromium-driver, or set BOOKAHEAD_CHROMIUM"
            );
            return None;
        }
        // The port that it finds free may be taken by the next one that starts: then it says none.
        let started = (0..5).find_map(|_| match Self::drive() {
            Ok(found) => found.map(Ok),
            Err(error) => Some(Err(error)),
        });
        let (driver, port) = match started.expect("the driver says its port") {
            Ok(started) => started,
            Err(error) => {
                println!("skipped: chromedriver cannot be started: {error}");
                return None;
            }
        };
        let profile = tempfile::tempdir().expect("a folder");
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            _profile: profile,
        };
        let options = json!({ "capabilities": { "alwaysMatch": {
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
            "goog:chromeOptions": {
                "binary": binary,
                "args": [
                    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                    "--disable-background-networking", "--disable-component-update", "--disable-sync",
                    "--window-size=1366,768", "--force-device-scale-factor=1",
                    format!("--user-data-dir={}", browser._profile.path().display()),
                ],
            },
        }}});
        let answer = browser.send("POST", "/session", &options);
        browser.session = answer["sessionId"]
            .as_str()
            .unwrap_or_else(|| panic!("no session: {answer}"))
            .to_owned();
        // A page that no window shows has no focus where the system has no windows.
        let focus = json!({
            "cmd": "Emulation.setFocusEmulationEnabled", "params": { "enabled": true }
        });
        browser.call("POST", "/goog/cdp/execute", &focus);
        Some(browser)
    }

    /// Starts the driver; `None` where it ends at once.
    fn drive() -> std::io::Result<Option<(Child, u16)>> {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut lines = BufReader::new(driver.stdout.take().expect("it is piped")).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("successfully on port ")?;
            port.trim_end_matches('.').parse().ok()
        });
        let Some(port) = port else {
            driver.wait()?;
            return Ok(None);
        };
        // A driver whose words nobody hears would stop.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Some((driver, port)))
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() {
            "{}".to_owned()
        } else {
            body.to_string()
        };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the driver listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("a time-out");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .expect("sent");
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a head");
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut content = vec![0; length];
        reader.read_exact(&mut content).expect("an answer");
        let answer: Value = serde_json::from_slice(&content).expect("JSON");
        answer["value"].clone()
    }

    /// A command of WebDriver in this session.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        self.send(method, &format!("/session/{}{path}", self.session), body)
    }

    /// Opens a file.
    pub fn open(&self, page: &Path) {
        self.visit(&format!("file://{}", page.display()));
    }

    /// Opens an address.
    pub fn visit(&self, url: &str) {
        self.call("POST", "/url", &json!({ "url": url }));
    }

    /// The value of an expression in the page.
    pub fn ask(&self, expression: &str) -> Value {
        let body = json!({ "script": format!("return ({expression});"), "args": [] });
        let answer = self.call("POST", "/execute/sync", &body);
        assert!(answer.get("error").is_none(), "{expression}: {answer}");
        answer
    }

    /// What the browser noted since it was asked last.
    pub fn log(&self, kind: &str) -> Vec<Value> {
        let log = self.call("POST", "/se/log", &json!({ "type": kind }));
        log.as_array()
            .unwrap_or_else(|| panic!("no log: {log}"))
            .clone()
    }

    /// Makes the window so large, in pixels.
    pub fn size(&self, width: u32, height: u32) {
        let body = json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false } });
        self.call("POST", "/goog/cdp/execute", &body);
    }

    /// What is seen, as PNG.
    pub fn picture(&self) -> Vec<u8> {
        let picture = self.call("GET", "/screenshot", &Value::Null);
        base64::engine::general_purpose::STANDARD
            .decode(picture.as_str().expect("a picture"))
            .expect("base 64")
    }
}
