//! Generated files: held against what they should be, or written again.

use std::fs;
use std::path::Path;

/// The folder of the project.
pub fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Holds a generated file against what it should be, or, where `BOOKAHEAD_PAGES` is `write`, writes
/// it. `tests` are the tests that write it.
pub fn assert_current(name: &str, now: &str, tests: &str) {
    let path = project().join(name);
    if std::env::var_os("BOOKAHEAD_PAGES").is_some_and(|value| value == "write") {
        fs::write(&path, now).expect("a writable project");
        return;
    }
    let before = fs::read_to_string(&path).unwrap_or_default();
    let difference = before
        .lines()
        .zip(now.lines())
        .find(|(before, now)| before != now);
    assert!(
        before == now,
        "{name} is not what the source declares: {difference:?}\n(BOOKAHEAD_PAGES=write cargo test --release {tests} writes it \
         again)"
    );
}
