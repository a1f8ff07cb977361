//! Files that once broke something: they must not again. New ones come from
//! `cargo run --release --example fuzz`.

pub(crate) mod formats;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use formats::Format;

#[test]
fn what_broke_something_once_is_read_or_refused_in_time() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut read = 0;
    for (format, _, _) in Format::ALL {
        let Ok(files) = fs::read_dir(corpus.join(format.name())) else {
            continue;
        };
        for file in files {
            let path = file.expect("an entry").path();
            let begun = Instant::now();
            format.consume(&fs::read(&path).expect("readable"), folder.path());
            assert!(
                begun.elapsed() < Duration::from_secs(10),
                "{}",
                path.display()
            );
            read += 1;
        }
    }
    assert!(read > 0, "there is nothing below {}", corpus.display());
}

#[test]
fn the_examples_that_inputs_are_made_of_are_sound() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (format, name, _) in Format::ALL {
        for example in format.examples(folder.path()) {
            assert!(!example.is_empty(), "{name}");
            format.consume(&example, folder.path());
        }
    }
}
