use axum::body::Body;

use super::*;

fn guard(address: &str, token: bool) -> Guard {
    Guard::new(
        address.parse().unwrap(),
        token,
        &["Cluster.Example".to_owned()],
    )
    .unwrap()
}

fn request(target: &str, headers: &[(&str, &str)]) -> Request {
    let request = headers
        .iter()
        .fold(Request::builder().uri(target), |request, (name, value)| {
            request.header(*name, *value)
        });
    request.body(Body::empty()).unwrap()
}

fn judged(guard: &Guard, target: &str, headers: &[(&str, &str)]) -> Verdict {
    guard.judge(&request(target, headers))
}

#[test]
fn a_server_of_this_machine_is_asked_for_by_names_of_this_machine_whatever_the_port() {
    let guard = guard("127.0.0.1:8642", false);
    for host in [
        "127.0.0.1:8642",
        "localhost:9000",
        "LOCALHOST",
        "[::1]:8642",
        "127.0.0.1",
        "cluster.example:80",
    ] {
        let verdict = judged(&guard, "/", &[("host", host)]);
        assert_eq!(verdict, Verdict::Admitted, "{host}");
    }
    for host in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:8642",
        "evil@127.0.0.1",
        "10.0.0.1:8642",
        "0.0.0.0:8642",
        "",
        "localhost:8642:1",
    ] {
        let verdict = judged(&guard, "/", &[("host", host)]);
        assert_eq!(verdict, Verdict::Refused(Refusal::Host), "{host}");
    }
    let none = judged(&guard, "/", &[]);
    assert_eq!(none, Verdict::Refused(Refusal::Host));
    let two = [("host", "localhost"), ("host", "evil.example")];
    assert_eq!(judged(&guard, "/", &two), Verdict::Refused(Refusal::Host));
    // A request as for a proxy names the server twice.
    let proxied = judged(&guard, "http://evil.example/", &[("host", "localhost")]);
    assert_eq!(proxied, Verdict::Refused(Refusal::Host));
}

#[test]
fn pages_of_others_are_refused_and_their_links_lead_to_the_first_page_only() {
    let guard = guard("127.0.0.1:8642", false);
    let host = ("host", "localhost:8642");
    let navigation = [
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
    ];
    let from = |site: &'static str| [host, ("sec-fetch-site", site), navigation[0], navigation[1]];
    for target in ["/", "/runs/1", "/sql?q=SELECT+1"] {
        for site in ["same-origin", "none"] {
            assert_eq!(judged(&guard, target, &from(site)), Verdict::Admitted);
        }
        for site in ["cross-site", "same-site", "of a later browser"] {
            let expected = match target {
                "/" => Verdict::Admitted,
                _ => Verdict::Refused(Refusal::Foreign),
            };
            assert_eq!(
                judged(&guard, target, &from(site)),
                expected,
                "{site} {target}"
            );
        }
    }
    // Neither as a picture, nor in a frame, nor by a script.
    for (mode, destination) in [
        ("no-cors", "image"),
        ("navigate", "iframe"),
        ("cors", "empty"),
    ] {
        let headers = [
            host,
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", mode),
            ("sec-fetch-dest", destination),
        ];
        assert_eq!(
            judged(&guard, "/", &headers),
            Verdict::Refused(Refusal::Foreign)
        );
    }
    for (origin, is_own) in [
        ("http://localhost:8642", true),
        ("http://localhost:3000", false),
        ("http://evil.example", false),
        ("null", false),
        ("file://localhost:8642", false),
    ] {
        let verdict = judged(&guard, "/events", &[host, ("origin", origin)]);
        assert_eq!(verdict == Verdict::Admitted, is_own, "{origin}");
    }
}

#[test]
fn beyond_this_machine_nobody_is_admitted_without_the_token() {
    for guard in [guard("0.0.0.0:8642", false), guard("127.0.0.1:8642", true)] {
        let token = guard.token.clone().unwrap();
        assert_eq!(token.len(), 32);
        let host = ("host", "127.0.0.1:8642");
        let refused = Verdict::Refused(Refusal::Token);
        assert_eq!(judged(&guard, "/", &[host]), refused);
        let wrong = format!("/?token={}", "a".repeat(32));
        assert_eq!(judged(&guard, &wrong, &[host]), refused);
        assert_eq!(judged(&guard, "/?token=", &[host]), refused);
        let right = format!("/?token={token}");
        assert_eq!(judged(&guard, &right, &[host]), Verdict::Welcomed);
        // The token is for the first page alone: no other address of the history has it.
        let elsewhere = format!("/sql?token={token}");
        assert_eq!(judged(&guard, &elsewhere, &[host]), refused);
        let cookie = format!("other=1; bookahead-8642={token}");
        assert_eq!(
            judged(&guard, "/sql", &[host, ("cookie", &cookie)]),
            Verdict::Admitted
        );
        let of_another = format!("bookahead-8643={token}");
        assert_eq!(
            judged(&guard, "/sql", &[host, ("cookie", &of_another)]),
            refused
        );
        assert!(guard.url().ends_with(&right));
    }
    assert_ne!(
        guard("0.0.0.0:1", false).token,
        guard("0.0.0.0:1", false).token
    );
    assert_eq!(guard("[::1]:8642", false).url(), "http://[::1]:8642/");
}

#[test]
fn only_reading_is_answered() {
    let guard = guard("127.0.0.1:8642", false);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT"] {
        let mut request = request("/", &[("host", "localhost")]);
        *request.method_mut() = method.parse().unwrap();
        assert_eq!(
            guard.judge(&request),
            Verdict::Refused(Refusal::Method),
            "{method}"
        );
    }
}
