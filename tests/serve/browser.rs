//! The pages of the server in a real browser, large and small.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Server;
use super::{long_run, two_runs};
use crate::support::browser::Browser;

/// Waits until an expression in the page is true.
fn wait_for(browser: &Browser, expression: &str) {
    let began = Instant::now();
    while browser.ask(expression) != json!(true) {
        assert!(began.elapsed() < Duration::from_secs(60), "{expression}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Keeps what is seen where `BOOKAHEAD_PICTURES` names a folder.
fn keep(browser: &Browser, name: &str) {
    if let Some(folder) = std::env::var_os("BOOKAHEAD_PICTURES") {
        fs::write(
            std::path::Path::new(&folder).join(format!("{name}.png")),
            browser.picture(),
        )
        .expect("written");
    }
}

#[test]
fn every_page_fits_every_screen_and_the_browser_does_not_complain() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let folder = two_runs();
    let server = Server::start(folder.path(), &["--store", "seen.db", "--token"]);
    // With the token, once; then a cookie has it.
    browser.visit(&server.url);
    assert_eq!(browser.ask("location.search"), "");
    let base = format!("http://127.0.0.1:{}", server.port);
    let pages = [
        ("list", "/"),
        ("report", "/runs/2"),
        ("comparison", "/compare?run=1&run=2"),
        ("plans", "/runs/1/plans"),
        ("plan", "/runs/1/plan?point=3"),
        ("sql", "/sql"),
        ("rows", "/sql?q=SELECT+*+FROM+points"),
        ("wrong", "/sql?worked=4"),
        ("trouble", "/sql?q=SELECT+nothing+FROM+run"),
    ];
    for (name, path) in pages {
        for (width, height) in [(1400, 900), (390, 844)] {
            browser.size(width, height);
            browser.visit(&format!("{base}{path}"));
            let over = browser
                .ask("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert_eq!(over, 0, "{name} at {width} pixels");
            // Styles were let through, and so were scripts.
            assert_eq!(
                browser.ask("getComputedStyle(document.body).marginTop"),
                "0px",
                "{name}"
            );
            wait_for(
                &browser,
                "document.documentElement.hasAttribute('data-theme')",
            );
            keep(&browser, &format!("{name}-{width}"));
        }
        let complaints: Vec<Value> = browser
            .log("browser")
            .into_iter()
            // That a wrong question is answered with 400 is no fault of the page.
            .filter(|complaint| {
                !(name == "trouble" && complaint.to_string().contains("status of 400"))
            })
            .collect();
        assert!(complaints.is_empty(), "{name}: {complaints:?}");
    }
    // The script of a report works under the policy, and saves what it shows.
    browser.visit(&format!("{base}/runs/2"));
    wait_for(
        &browser,
        "(mark => (mark.blur(), mark.focus(), !document.getElementById('tip').hidden))(document.querySelector(\
         '#figure-gain-by-acceptance-pof-max .m'))",
    );
    // A mark leads to the plans of the points behind it, and these to a plan.
    browser.ask(
        "document.querySelector('#figure-gain-by-acceptance-pof-max .m').dispatchEvent(new MouseEvent('click', { bubbles: true }))",
    );
    browser.ask("document.querySelector('figure .plans a').click()");
    wait_for(
        &browser,
        "location.pathname === '/runs/2/plans' && document.querySelector('main section a') !== null",
    );
    assert_eq!(
        browser.ask("document.querySelectorAll('main section li a').length"),
        4
    );
    keep(&browser, "plans-of-a-mark-1400");
    browser.visit(&format!("{base}/runs/2"));
    browser.ask("document.querySelector('figure .save').click()");
    // Another page in the browser learns nothing: neither by a script nor in a frame.
    browser.visit("data:text/html,<title>evil</title>");
    let asked = browser.ask(&format!(
        "fetch('{base}/runs/1', {{ credentials: 'include' }}).then(a => a.text()).catch(() => 'refused')"
    ));
    assert_eq!(asked, "refused");
    browser.log("browser");
}

#[test]
fn runs_progress_in_the_page_without_being_loaded_again_and_ticks_stay() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let folder = two_runs();
    let server = Server::start(folder.path(), &["--store", "seen.db"]);
    browser.size(1400, 900);
    browser.visit(&server.url);
    browser.ask("window.loaded = 'once'");
    browser.ask("document.querySelector('tr[data-run=\"1\"] input').click()");
    assert_eq!(
        browser.ask("document.getElementById('compare').disabled"),
        true
    );
    let mut sweep = long_run(folder.path(), 40);
    wait_for(
        &browser,
        "document.querySelector('tr[data-run=\"3\"] .state.running') !== null",
    );
    assert_eq!(
        browser.ask("document.querySelector('#runs tbody tr').dataset.run"),
        "3"
    );
    assert_eq!(
        browser.ask("document.getElementById('live').textContent"),
        "1 run under way"
    );
    keep(&browser, "live-1400");
    let points = "Number(document.querySelector('tr[data-run=\"3\"] .done').textContent)";
    let seen = browser.ask(points).as_f64().expect("a number");
    browser.ask("document.querySelector('tr[data-run=\"3\"] input').click()");
    wait_for(&browser, &format!("{points} > {seen}"));
    // How long it takes is up to the machine.
    assert!(sweep.wait().expect("it ran").success());
    wait_for(
        &browser,
        "document.getElementById('live').textContent === 'nothing runs'",
    );
    assert_eq!(browser.ask(points), 800);
    assert_eq!(browser.ask("window.loaded"), "once");
    assert_eq!(
        browser.ask("document.querySelectorAll('#runs input:checked').length"),
        2
    );
    browser.ask("document.getElementById('compare').click()");
    wait_for(
        &browser,
        "location.pathname === '/compare' && document.querySelector('.answer') !== null",
    );
    let complaints = browser.log("browser");
    assert!(complaints.is_empty(), "{complaints:?}");
}
