//! The report in a real browser: it opens from a file without a complaint, sorts, filters, tells
//! values, and fits.
//!
//! Needs `chromium` and `chromedriver` (`BOOKAHEAD_CHROMIUM` names another browser); without them
//! the test says that it was skipped.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::browser::Browser;
use crate::support::program::{folder, run};

#[test]
fn the_report_opens_from_a_file_sorts_filters_tells_values_and_fits() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let folder = folder();
    let status = run(folder.path(), "seen", &[]).status();
    assert!(status.expect("it starts").success());
    let page = folder.path().join("seen-report/index.html");
    browser.size(1366, 768);
    browser.open(&page);

    // The first screen says what came out, and shows it.
    for id in ["said", "headline"] {
        let bottom = browser.ask(&format!(
            "document.querySelector('#{id} dl, #{id} svg').getBoundingClientRect().bottom"
        ));
        assert!(
            bottom
                .as_f64()
                .is_some_and(|bottom| bottom > 50.0 && bottom <= 768.0),
            "{id}: {bottom}"
        );
    }
    assert_eq!(
        browser.ask("document.querySelectorAll('#outcome tbody tr').length"),
        4
    );
    assert!(
        browser
            .ask("document.querySelectorAll('figure svg').length")
            .as_u64()
            >= Some(10)
    );
    let empty = "[...document.querySelectorAll('figure svg')].filter(s => s.textContent.includes('no data')).length";
    assert_eq!(browser.ask(empty), 0);

    // What is below opens in place: by a link into it, or all at once.
    let open = "document.querySelectorAll('.chapter[open]').length";
    assert_eq!(browser.ask(open), 0);
    browser.ask("(location.hash = '#table-summary', 0)");
    let is_open = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        browser.ask("document.getElementById('summary').open") == true
    });
    assert!(is_open);
    assert_eq!(browser.ask(open), 1);
    browser.ask("document.getElementById('open-all').click()");
    let chapters = browser.ask("document.querySelectorAll('.chapter').length");
    assert_eq!(browser.ask(open), chapters);

    // Sorting by a number, both ways.
    let column = "(() => { const t = document.getElementById('table-summary'); \
                  const i = [...t.tHead.rows[0].cells].findIndex(c => c.dataset.key === 'gain'); \
                  return [...t.tBodies[0].rows].map(r => Number(r.cells[i].dataset.v)); })()";
    let press = "document.querySelector('#table-summary th[data-key=gain] button').click()";
    for ascending in [true, false] {
        browser.ask(press);
        let values: Vec<f64> = serde_json::from_value(browser.ask(column)).expect("numbers");
        assert_eq!(values.len(), 20);
        let sorted = values.windows(2).all(|pair| {
            if ascending {
                pair[0] <= pair[1]
            } else {
                pair[0] >= pair[1]
            }
        });
        assert!(sorted, "{values:?}");
    }

    // Filtering acts on rows, and the way back shows everything.
    let shown =
        "[...document.querySelectorAll('#table-summary tbody tr')].filter(r => !r.hidden).length";
    let choose = |axis: &str, value: &str| {
        browser.ask(&format!(
            "(() => {{ const s = document.querySelector('select[data-axis=\"{axis}\"]'); s.value = '{value}'; \
             s.dispatchEvent(new Event('change', {{ bubbles: true }})); return s.value; }})()"
        ))
    };
    assert_eq!(browser.ask(shown), 20);
    assert_eq!(
        choose("scheduling.strategy", "easy-backfilling"),
        "easy-backfilling"
    );
    assert_eq!(browser.ask(shown), 5);
    choose("acceptance.pof_max", "0.3");
    assert_eq!(browser.ask(shown), 1);
    choose("scheduling.strategy", "");
    choose("acceptance.pof_max", "");
    assert_eq!(browser.ask(shown), 20);

    // Filtering acts on curves, too, and so does the legend; the address of the page says it.
    let curves =
        "[...document.querySelectorAll('#headline .series:not(.gone)')].map(s => s.dataset.s)";
    choose("scheduling.strategy", "heuristic-overbooking");
    assert_eq!(browser.ask(curves), json!(["heuristic-overbooking"]));
    choose("scheduling.strategy", "");
    let key = "document.querySelector('#headline .key[data-s=heuristic-overbooking]')";
    browser.ask(&format!(
        "{key}.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))"
    ));
    let shown_curves = browser.ask(curves);
    assert!(
        !shown_curves.as_array().expect("names").is_empty()
            && !shown_curves.to_string().contains("heuristic-overbooking"),
        "{shown_curves}"
    );
    assert_eq!(browser.ask("location.hash"), "#hide=heuristic-overbooking");
    browser.ask("location.reload()");
    assert_eq!(browser.ask(curves), shown_curves);
    browser.ask(&format!(
        "{key}.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))"
    ));

    // Values under the keyboard's focus, and what is behind a mark.
    let mark = "document.querySelector('#figure-gain-by-acceptance-pof-max .m')";
    browser.ask(&format!("{mark}.focus()"));
    let tip =
        "document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent";
    let told = browser.ask(tip);
    assert!(
        told.as_str()
            .is_some_and(|tip| tip.contains("pof_max") && tip.contains("], n = 4")),
        "{told}"
    );
    // A strategy says how much more it earns than its baseline, replication by replication.
    browser.ask(
        "document.querySelector('#headline .series[data-s=heuristic-overbooking] .m').focus()",
    );
    let compared = browser.ask(tip);
    assert!(
        compared.as_str().is_some_and(|text| {
            text.contains(", n = 4\n") && text.ends_with("] against heuristic-planning, paired")
        }),
        "{compared}"
    );
    browser.ask(&format!(
        "{mark}.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))"
    ));
    let behind = browser.ask("document.querySelector('.behind:not([hidden]) code').textContent");
    assert!(
        behind
            .as_str()
            .is_some_and(|text| text.starts_with("bookahead sql") && text.contains("0.1")),
        "{behind}"
    );

    // Dark and light.
    let paper = "getComputedStyle(document.body).backgroundColor";
    let before = browser.ask(paper);
    browser.ask("document.getElementById('theme').click()");
    assert_ne!(browser.ask(paper), before);

    // A phone shows it without scrolling sideways.
    browser.size(390, 844);
    let over =
        browser.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(over, 0);

    // The plans stand in the report, and the page that zooms does.
    assert_eq!(
        browser.ask("document.querySelectorAll('#plans svg.gantt').length"),
        4
    );
    browser.open(
        &folder
            .path()
            .join("seen-report/plots/plan-heuristic-overbooking.html"),
    );
    let width = "document.querySelector('svg.gantt').viewBox.baseVal.width";
    let whole = browser.ask(width).as_f64();
    browser.ask("document.querySelector('[data-zoom=\"0.5\"]').click()");
    assert!(browser.ask(width).as_f64() < whole);

    // Not a word of complaint, and nothing was fetched but the page itself.
    let complaints: Vec<Value> = browser.log("browser");
    assert!(complaints.is_empty(), "{complaints:?}");
    let fetched: Vec<String> = browser
        .log("performance")
        .iter()
        .filter_map(|entry| serde_json::from_str::<Value>(entry["message"].as_str()?).ok())
        .filter(|event| event["message"]["method"] == "Network.requestWillBeSent")
        .filter_map(|event| {
            Some(
                event["message"]["params"]["request"]["url"]
                    .as_str()?
                    .to_owned(),
            )
        })
        .filter(|url| url.starts_with("http") || url.starts_with("ws"))
        .collect();
    assert!(fetched.is_empty(), "{fetched:?}");
}

/// What a page must keep at every width, alone in its folder.
fn assert_is_whole_and_fits(browser: &Browser, page: &Path, name: &str) {
    browser.open(page);
    for (width, height) in [(1400, 900), (820, 1180), (390, 844)] {
        browser.size(width, height);
        browser
            .ask("document.querySelectorAll('.chapter').forEach(chapter => chapter.open = true)");
        let over = browser
            .ask("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(over, 0, "{name} at {width} pixels");
    }
    let dead = browser.ask(
        "[...document.querySelectorAll('[href], [src]')].map(e => e.getAttribute('href') ?? e.getAttribute('src'))
         .filter(to => !to.startsWith('data:') && !(to.startsWith('#') && document.getElementById(to.slice(1))))",
    );
    assert_eq!(dead, json!([]), "{name}");
    let cdp = |command: &str, parameters: Value| {
        browser.call(
            "POST",
            "/goog/cdp/execute",
            &json!({ "cmd": command, "params": parameters }),
        )
    };
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    cdp("Emulation.setEmulatedMedia", dark);
    // The page is told of it a moment later.
    let is_dark = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        browser.ask("document.documentElement.dataset.theme") == "dark"
    });
    assert!(is_dark, "{name}");
    cdp("Emulation.setEmulatedMedia", json!({ "features": [] }));
    let printed = cdp("Page.printToPDF", json!({}));
    let printed = printed["data"].as_str().unwrap_or_default();
    // "%PDF-" as it is sent.
    assert!(printed.starts_with("JVBERi0"), "{name}: {printed:.40}");
    let complaints = browser.log("browser");
    assert!(complaints.is_empty(), "{name}: {complaints:?}");
}

#[test]
fn the_report_of_every_study_is_whole_on_its_own_and_fits_every_screen() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let experiments = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/experiments");
    for entry in std::fs::read_dir(experiments).expect("experiments") {
        let file = entry.expect("an entry").path();
        let name = file
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let folder = tempfile::tempdir().expect("a folder");
        let output = Command::new(env!("CARGO_BIN_EXE_bookahead"))
            .args(["run", "--quiet", "--store", "s.db", "--report", "report"])
            .arg(&file)
            .current_dir(folder.path())
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{name}: {output:?}");
        let alone = folder.path().join("alone.html");
        std::fs::rename(folder.path().join("report/index.html"), &alone).expect("a page");
        std::fs::remove_dir_all(folder.path().join("report")).expect("a folder");
        assert_is_whole_and_fits(&browser, &alone, &name);
        let answer = browser.ask("document.querySelectorAll('#said dd').length");
        assert!(answer.as_u64() >= Some(2), "{name}: {answer}");
        // Of each quantity one situation is seen.
        let seen = browser.ask(
            "[...document.querySelectorAll('.panels')].map(p => p.querySelectorAll('figure:not([hidden])').length)",
        );
        let seen = seen.as_array().expect("numbers").clone();
        assert!(seen.iter().all(|seen| seen == 1), "{name}: {seen:?}");
    }
}

#[test]
fn a_page_of_advice_is_whole_on_its_own_and_its_first_screen_has_the_answers() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    crate::advise::log(folder.path());
    let arguments = [
        "advise", "log.swf", "--quiet", "--store", "s.db", "--report", "page",
    ];
    let output = crate::support::program::output(crate::support::program::program(
        folder.path(),
        &arguments,
    ));
    assert!(output.status.success(), "{output:?}");
    let alone = folder.path().join("alone.html");
    std::fs::rename(folder.path().join("page/index.html"), &alone).expect("a page");
    assert_is_whole_and_fits(&browser, &alone, "advice");
    for (width, height) in [(1400, 900), (390, 844)] {
        browser.size(width, height);
        browser.open(&alone);
        let places = browser.ask(
            "[...document.querySelectorAll('#answers li')].map(a => a.getBoundingClientRect().top)",
        );
        let places = places.as_array().expect("places").clone();
        assert_eq!(places.len(), 6, "{places:?}");
        let seen = places
            .iter()
            .filter(|top| top.as_f64() < Some(f64::from(height)));
        // On a phone the first screen has whether the log is explained, and what to do.
        let least = if width > 1000 { 6 } else { 0 };
        assert!(seen.count() >= least, "{width}: {places:?}");
        for id in ["explained", "recommended"] {
            let top = browser.ask(&format!(
                "document.getElementById('{id}').getBoundingClientRect().top"
            ));
            assert!(
                top.as_f64() < Some(f64::from(height)),
                "{width}: {id} at {top}"
            );
        }
    }
}

/// The first screen of the quick start's report. With `BOOKAHEAD_PAGES=write` the pictures of the
/// README are made again.
#[test]
fn the_first_screen_of_the_quick_start_says_which_strategy_which_threshold_and_how_sure() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_bookahead"))
        .args(["run", "--quiet", "--store", "s.db", "--report", "report"])
        .arg(root.join("configs/quickstart.toml"))
        .current_dir(folder.path())
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{output:?}");
    for (width, height) in [(1400, 900), (390, 844)] {
        browser.size(width, height);
        browser.open(&folder.path().join("report/index.html"));
        let questions =
            browser.ask("[...document.querySelectorAll('#said dt')].map(q => q.textContent)");
        assert_eq!(
            questions,
            json!(["Which strategy?", "Which pof_max?", "How sure?"])
        );
        let bottom = browser.ask("document.querySelector('#said').getBoundingClientRect().bottom");
        assert!(
            bottom.as_f64() < Some(f64::from(height)),
            "{width}: {bottom}"
        );
        let top =
            browser.ask("document.querySelector('#headline svg').getBoundingClientRect().top");
        assert!(top.as_f64() < Some(f64::from(height)), "{width}: {top}");
        if std::env::var("BOOKAHEAD_PAGES").is_ok_and(|wish| wish == "write") {
            let file = root.join(format!("docs/images/report-{width}.png"));
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, browser.picture()).expect("written");
        }
    }
}

#[test]
fn the_command_behind_a_mark_gives_its_points() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let folder = folder();
    let status = run(folder.path(), "seen", &[]).status();
    assert!(status.expect("it starts").success());
    browser.open(&folder.path().join("seen-report/index.html"));
    browser.ask(
        "document.querySelector('#figure-gain-by-acceptance-pof-max .m').dispatchEvent(new MouseEvent('click', { bubbles: true }))",
    );
    let command = browser.ask("document.querySelector('.behind:not([hidden]) code').textContent");
    let command = command.as_str().expect("a text").replacen(
        "bookahead sql",
        &format!(
            "{} sql --store seen.db --format csv",
            env!("CARGO_BIN_EXE_bookahead")
        ),
        1,
    );
    let output = Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.path())
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        said.lines().count(),
        5,
        "a head and four replications: {said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// What a penalty costs, and how overloaded the machine is, decide what to do.
#[test]
fn a_choice_of_situation_changes_what_is_said_the_rows_and_the_scale_with_the_figure() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let folder = folder();
    let file = folder.path().join("small.toml");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let more = "\n[[axis]]\nkey = \"acceptance.penalty_ratio\"\nvalues = [0.5, 8.0]\n\
                \n[[axis]]\nkey = \"workload.laxity\"\nvalues = [2.0, 4.0]\n";
    std::fs::write(&file, text + more).expect("written");
    let status = run(folder.path(), "seen", &[]).status();
    assert!(status.expect("it starts").success());
    browser.size(1400, 900);
    browser.open(&folder.path().join("seen-report/index.html"));

    let said = "document.querySelectorAll('#said .situation:not([hidden])').length";
    let rows =
        "[...document.querySelectorAll('#outcome tr')].filter(r => r.checkVisibility()).length";
    let title = "document.querySelector('#outcome h2').textContent";
    let figure = "document.querySelector('#headline figure:not([hidden]) svg').innerHTML";
    let before = [rows, title, figure].map(|what| browser.ask(what));
    assert_eq!(browser.ask(said), 0);
    browser.ask(
        "(() => { const s = document.querySelector('#headline .choose select[data-axis=\"acceptance.penalty_ratio\"]'); \
         s.value = '8'; s.dispatchEvent(new Event('change', { bubbles: true })); return 0; })()",
    );
    assert_eq!(browser.ask(said), 1);
    let answer =
        browser.ask("document.querySelector('#said .situation:not([hidden])').textContent");
    let answer = answer.as_str().expect("a text");
    assert!(
        answer.contains("penalty_ratio 8") && answer.contains("earns most"),
        "{answer}"
    );
    let after = [rows, title, figure].map(|what| browser.ask(what));
    let heading = after[1].as_str().expect("a text");
    assert!(heading.contains("penalty_ratio 8, laxity 2"), "{heading}");
    // Its heading and a row for each strategy.
    assert_eq!(after[0], 5);
    assert_ne!(after[2], before[2]);

    // The way back, and a link that shows the same.
    browser.ask("document.querySelector('#of-situation a').click()");
    assert_eq!(browser.ask(said), 0);
    assert_eq!([rows, title].map(|what| browser.ask(what)), before[..2]);
    browser.ask("(location.hash = '#at+acceptance.penalty_ratio=8&last=acceptance.penalty_ratio', location.reload(), 0)");
    let is_shown = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        browser.ask(said) == 1
    });
    assert!(is_shown);
}
