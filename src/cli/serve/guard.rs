//! Access control: only browsers of this machine may ask, only for pages of this server, and with
//! the token where one is needed.
//!
//! A foreign page in the same browser can send requests here. It is refused by the browser's
//! statement of where a request comes from (`Origin`, `Sec-Fetch-Site`); a foreign name that points
//! to this machine is refused by the `Host` header. No header lets another page read an answer.

use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr as _;
use std::sync::{Arc, LazyLock};

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use sha2::{Digest as _, Sha256};

use super::pages;
use bookahead_report::Inline;

/// What a server lets in.
#[derive(Debug)]
pub(super) struct Guard {
    address: SocketAddr,
    /// Names by which it may be asked for, in small letters, beside those of this machine alone.
    names: Vec<String>,
    token: Option<String>,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Method,
    Host,
    Foreign,
    Token,
}

/// What is done with a request.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Admitted,
    /// It brought the token in the address: from now on a cookie has it.
    Welcomed,
    Refused(Refusal),
}

impl Guard {
    /// For an address at which the server listens. Beyond this machine there is always a token.
    ///
    /// # Errors
    ///
    /// When the system gives no random numbers.
    pub(super) fn new(
        address: SocketAddr,
        wants_token: bool,
        names: &[String],
    ) -> io::Result<Self> {
        let token = if wants_token || !address.ip().to_canonical().is_loopback() {
            let mut bytes = [0_u8; 24];
            getrandom::fill(&mut bytes).map_err(io::Error::other)?;
            Some(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes))
        } else {
            None
        };
        let mut names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        if !address.ip().is_loopback() {
            names.extend(host_name().map(|name| name.to_lowercase()));
        }
        Ok(Self {
            address,
            names,
            token,
        })
    }

    /// The address of the first page, with the token where there is one.
    pub(super) fn url(&self) -> String {
        let ip = self.address.ip();
        let host = match self.names.first() {
            Some(name) if ip.is_unspecified() => name.clone(),
            _ if ip.is_unspecified() => "localhost".to_owned(),
            _ => bracketed(ip),
        };
        let token = self.token.as_ref();
        let token = token.map_or_else(String::new, |token| format!("?token={token}"));
        format!("http://{host}:{}/{token}", self.address.port())
    }

    /// What of the server stands in a cookie: servers on one machine share its cookies.
    fn cookie(&self) -> String {
        format!("bookahead-{}", self.address.port())
    }

    fn judge(&self, request: &Request) -> Verdict {
        let headers = request.headers();
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Verdict::Refused(Refusal::Method);
        }
        let Some(host) = only(headers, &header::HOST).filter(|host| self.is_served(host)) else {
            return Verdict::Refused(Refusal::Host);
        };
        let asked = request.uri().authority();
        if asked.is_some_and(|asked| !self.is_served(asked.as_str())) {
            return Verdict::Refused(Refusal::Host);
        }
        let path = request.uri().path();
        let query = request.uri().query();
        if !is_own(headers, host, path == "/" && query.is_none()) {
            return Verdict::Refused(Refusal::Foreign);
        }
        let Some(token) = &self.token else {
            return Verdict::Admitted;
        };
        let brought = query
            .filter(|_| path == "/")
            .and_then(|query| query.strip_prefix("token="));
        if brought.is_some_and(|brought| is_same(brought, token)) {
            return Verdict::Welcomed;
        }
        let name = self.cookie();
        let kept = headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|cookies| cookies.to_str().ok())
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(key, value)| key == name && is_same(value, token));
        if kept {
            Verdict::Admitted
        } else {
            Verdict::Refused(Refusal::Token)
        }
    }

    /// Whether a `Host` is this server. Any port will do: behind a forwarded port it is another
    /// one.
    fn is_served(&self, host: &str) -> bool {
        if host.contains('@') {
            return false;
        }
        let Ok(authority) = Authority::from_str(host) else {
            return false;
        };
        let name = authority.host().to_lowercase();
        if name == "localhost" || self.names.contains(&name) {
            return true;
        }
        let ip = name.trim_start_matches('[').trim_end_matches(']');
        let Ok(ip) = ip.parse::<IpAddr>() else {
            return false;
        };
        // Where it listens on every address, any number is one of them or reaches nobody: only
        // names can be made to point elsewhere.
        ip.is_loopback() || ip == self.address.ip() || self.address.ip().is_unspecified()
    }
}

/// Whether a browser says that a request comes from a page of this server or from its user. A link
/// elsewhere may lead to the first page, which asks for nothing.
fn is_own(headers: &HeaderMap, host: &str, is_first_page: bool) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(origin) = text("origin") {
        let own = ["http://", "https://"]
            .iter()
            .find_map(|scheme| origin.strip_prefix(scheme))
            .is_some_and(|origin| origin.eq_ignore_ascii_case(host));
        if !own {
            return false;
        }
    }
    match text("sec-fetch-site") {
        None | Some("same-origin" | "none") => true,
        Some(_) => {
            let is_navigation = text("sec-fetch-mode") == Some("navigate");
            is_first_page && is_navigation && text("sec-fetch-dest") == Some("document")
        }
    }
}

/// The value of a header that is there once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Takes as long for a nearly right token as for a wrong one.
fn is_same(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|text| Sha256::digest(text.as_bytes()));
    let differing = one.iter().zip(other.iter());
    differing.fold(0, |all, (one, other)| all | (one ^ other)) == 0
}

/// An address as it stands in a URL.
pub(super) fn bracketed(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Lets a request through or refuses it, and says in every answer what a browser may do with it.
pub(super) async fn admit(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match guard.judge(&request) {
        Verdict::Admitted => next.run(request).await,
        Verdict::Welcomed => welcome(&guard),
        Verdict::Refused(why) => refuse(&guard, why),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS.iter() {
        headers.insert(name, value.clone());
    }
    response
}

fn welcome(guard: &Guard) -> Response {
    let token = guard.token.as_deref().unwrap_or_default();
    let cookie = format!(
        "{}={token}; Path=/; HttpOnly; SameSite=Strict",
        guard.cookie()
    );
    let headers = [
        (header::LOCATION, "/".to_owned()),
        (header::SET_COOKIE, cookie),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}

fn refuse(guard: &Guard, why: Refusal) -> Response {
    let (status, title, remedy) = match why {
        Refusal::Method => (
            StatusCode::METHOD_NOT_ALLOWED,
            "Nothing can be changed here",
            "This page only reads: it answers GET and nothing else.".to_owned(),
        ),
        Refusal::Host => (
            StatusCode::MISDIRECTED_REQUEST,
            "This is not the server that was asked for",
            "Open the page as http://127.0.0.1 or http://localhost with its port. For another name of this machine start \
             `bookahead serve` with --name NAME."
                .to_owned(),
        ),
        Refusal::Foreign => (
            StatusCode::FORBIDDEN,
            "Another page asked for this",
            "Pages of other servers cannot ask for anything here. Type the address yourself, or begin at the first page.".to_owned(),
        ),
        Refusal::Token => (
            StatusCode::UNAUTHORIZED,
            "The token is missing",
            format!(
                "Open the address that `bookahead serve` printed, with all that follows `?token=`; it is needed once in a browser (port {}).",
                guard.address.port()
            ),
        ),
    };
    let mut response = (status, pages::failure_page(title, &remedy)).into_response();
    if why == Refusal::Method {
        let allowed = HeaderValue::from_static("GET, HEAD");
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}

/// The headers of every answer: a page may run what this program put into it and ask this server,
/// and nobody may frame it, keep it or take it for something else.
static HEADERS: LazyLock<Vec<(HeaderName, HeaderValue)>> = LazyLock::new(|| {
    let inline = Inline::with(pages::SCRIPT, &pages::style());
    let hashes = |sources: &[String]| {
        sources.iter().fold(String::new(), |mut text, source| {
            let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(source));
            let _ = write!(text, " 'sha256-{hash}'");
            text
        })
    };
    let policy = format!(
        "default-src 'none'; script-src{}; style-src{}; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'",
        hashes(&inline.scripts),
        hashes(&inline.styles)
    );
    let policy = HeaderValue::from_str(&policy);
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("cache-control", "no-store"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ];
    let fixed = fixed.map(|(name, value)| {
        (
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        )
    });
    // Hashes in base 64 are fit for a header.
    let policy = policy.map(|policy| (header::CONTENT_SECURITY_POLICY, policy));
    policy.into_iter().chain(fixed).collect()
});

#[cfg(test)]
mod tests;
