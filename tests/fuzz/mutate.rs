//! Inputs from examples: a few changes each, drawn from the input's own number.

use std::fs;
use std::io::Write;
use std::path::Path;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rusqlite::Connection;

use crate::formats::Format;

/// Of [`NUMBERS`] those that are whole and fit into 64 bits: any of them may stand where JSON
/// expects a whole number.
const WHOLE: std::ops::Range<usize> = 2..16;

/// Numbers that sit at the edge of something.
const NUMBERS: [&str; 26] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "255",
    "65536",
    "1000000",
    "10000000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "1e9",
    "1e18",
    "1e308",
    "-1e308",
    "1e-300",
    "0.1",
    "nan",
    "inf",
    "1e999",
];

/// Pieces that mean something somewhere.
const PIECES: [&str; 18] = [
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "&lt;",
    "<!--",
    "\n",
    "\r\n",
    "\0",
    "\u{1b}[31m",
    "\u{feff}",
    "[[axis]]\n",
    ",,",
    "=",
];

/// Lines of a log whose every line is changed.
const LINES: usize = 64;

/// The input with this number: the same for the same examples, seed and number.
pub fn input(
    format: Format,
    examples: &[Vec<u8>],
    seed: u64,
    number: u64,
    folder: &Path,
) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(number);
    let mut bytes = pick(&mut random, examples).clone();
    if format == Format::Store {
        return store(&mut random, bytes, folder);
    }
    if matches!(format, Format::Sacct | Format::Csv | Format::Batsim) && random.random_ratio(1, 4) {
        return line_by_line(&mut random, format, &bytes, examples);
    }
    for _ in 0..random.random_range(1..=6) {
        change_text(&mut random, &mut bytes, examples);
    }
    if format == Format::Swf && random.random_ratio(1, 10) {
        bytes = if random.random() {
            gzip(&bytes)
        } else {
            xz(&bytes)
        };
        if random.random() {
            change_bytes(&mut random, &mut bytes);
        }
    }
    bytes
}

/// A log whose lines are changed one by one. A line of a table that is wrong costs itself only, so
/// the others are read as well. A workload of Batsim is one object, and stays one: of lines of jobs
/// a number becomes a whole number.
fn line_by_line(
    random: &mut impl Rng,
    format: Format,
    bytes: &[u8],
    examples: &[Vec<u8>],
) -> Vec<u8> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let Some((heading, rows)) = lines.split_first().filter(|(_, rows)| !rows.is_empty()) else {
        return bytes.to_vec();
    };
    let mut made = heading.to_vec();
    if format == Format::Batsim {
        let jobs = rows.iter().filter(|row| row.ends_with(b"},\n"));
        let jobs: Vec<_> = jobs.take_while(|row| !row.contains(&b']')).collect();
        for _ in 0..if jobs.is_empty() { 0 } else { LINES } {
            let mut job = pick(random, &jobs).to_vec();
            change_number(random, &mut job, &NUMBERS[WHOLE]);
            made.extend(job);
        }
        made.extend(rows.concat());
        return made;
    }
    for _ in 0..LINES {
        let mut row = pick(random, rows).to_vec();
        for _ in 0..random.random_range(1..=3) {
            match random.random_range(0..6) {
                0 => change_bytes(random, &mut row),
                1 | 2 => change_word(random, &mut row, examples),
                _ => change_number(random, &mut row, &NUMBERS),
            }
        }
        if !row.ends_with(b"\n") {
            row.push(b'\n');
        }
        made.extend(row);
    }
    made
}

fn pick<'a, T>(random: &mut impl Rng, from: &'a [T]) -> &'a T {
    &from[random.random_range(0..from.len())]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).expect("a vector takes everything");
    writer.finish().expect("a vector takes everything")
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = liblzma::write::XzEncoder::new(Vec::new(), 0);
    writer.write_all(bytes).expect("a vector takes everything");
    writer.finish().expect("a vector takes everything")
}

/// A part of these bytes, of so many at most.
fn part(random: &mut impl Rng, length: usize, most: usize) -> std::ops::Range<usize> {
    let from = random.random_range(0..=length);
    from..(from + random.random_range(0..=most)).min(length)
}

fn change_bytes(random: &mut impl Rng, bytes: &mut Vec<u8>) {
    match random.random_range(0..5) {
        _ if bytes.is_empty() => bytes.push(random.random()),
        0 => {
            let at = random.random_range(0..bytes.len());
            bytes[at] ^= 1 << random.random_range(0..8);
        }
        1 => {
            let at = random.random_range(0..bytes.len());
            bytes[at] = *pick(random, &[0, 1, 0x7f, 0x80, 0xff, b' ', b'\n']);
        }
        2 => {
            let gone = part(random, bytes.len(), 16);
            bytes.drain(gone);
        }
        3 => {
            let copy = bytes[part(random, bytes.len(), 64)].to_vec();
            let at = random.random_range(0..=bytes.len());
            bytes.splice(at..at, copy);
        }
        _ => {
            let keep = random.random_range(0..=bytes.len());
            bytes.truncate(keep);
        }
    }
}

fn change_text(random: &mut impl Rng, bytes: &mut Vec<u8>, examples: &[Vec<u8>]) {
    match random.random_range(0..10) {
        0 => change_bytes(random, bytes),
        1..=4 => change_number(random, bytes, &NUMBERS),
        5 | 6 => change_word(random, bytes, examples),
        // A line more, once or often, or one less.
        7 | 8 => {
            let other = pick(random, examples);
            let is_line = |byte: u8| byte != b'\n';
            let (lines, others) = (runs(bytes, is_line), runs(other, is_line));
            if !lines.is_empty() && !others.is_empty() {
                let at = pick(random, &lines).clone();
                let mut line = other[pick(random, &others).clone()].to_vec();
                line.push(b'\n');
                match random.random_range(0..12) {
                    0..4 => drop(bytes.drain(at)),
                    4..11 => drop(bytes.splice(at.start..at.start, line)),
                    _ => {
                        let many = line.repeat(random.random_range(2..2_000));
                        bytes.splice(at.start..at.start, many);
                    }
                }
            }
        }
        _ => {
            let at = random.random_range(0..=bytes.len());
            let times = if random.random_ratio(1, 8) { 5_000 } else { 1 };
            let piece = pick(random, &PIECES).repeat(times);
            bytes.splice(at..at, piece.into_bytes());
        }
    }
}

/// A number becomes another one.
fn change_number(random: &mut impl Rng, bytes: &mut Vec<u8>, others: &[&str]) {
    let numbers = runs(bytes, |byte| {
        byte.is_ascii_digit() || b".-+e".contains(&byte)
    });
    let numbers: Vec<_> = numbers
        .into_iter()
        .filter(|run| bytes[run.clone()].iter().any(u8::is_ascii_digit))
        .collect();
    if !numbers.is_empty() {
        let run = pick(random, &numbers).clone();
        bytes.splice(run, pick(random, others).bytes());
    }
}

/// A word becomes a word of the same or of another example.
fn change_word(random: &mut impl Rng, bytes: &mut Vec<u8>, examples: &[Vec<u8>]) {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let other = pick(random, examples);
    let (words, others) = (runs(bytes, is_word), runs(other, is_word));
    if !words.is_empty() && !others.is_empty() {
        let run = pick(random, &words).clone();
        bytes.splice(run, other[pick(random, &others).clone()].to_vec());
    }
}

/// The longest parts whose bytes are all like that.
fn runs(bytes: &[u8], is_like_that: impl Fn(u8) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut begin = None;
    for (at, byte) in bytes.iter().enumerate() {
        match (is_like_that(*byte), begin) {
            (true, None) => begin = Some(at),
            (false, Some(from)) => {
                found.push(from..at);
                begin = None;
            }
            _ => {}
        }
    }
    found.extend(begin.map(|from| from..bytes.len()));
    found
}

/// A store with other values in some columns, or with other bytes.
fn store(random: &mut impl Rng, mut bytes: Vec<u8>, folder: &Path) -> Vec<u8> {
    if random.random_ratio(1, 3) {
        for _ in 0..random.random_range(1..=8) {
            // The first pages say what everything else is.
            let most = if random.random() { 4_096 } else { bytes.len() };
            let at = random.random_range(0..most.min(bytes.len()));
            bytes[at] = random.random();
        }
        return bytes;
    }
    let path = folder.join("changed.db");
    fs::write(&path, &bytes).expect("a writable folder");
    let connection = Connection::open(&path).expect("a store");
    let pragmas = "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON";
    // What a pragma answers is of no interest, and neither is a change that SQLite refuses.
    drop(connection.execute_batch(pragmas));
    let columns: Vec<(String, String)> = connection
        .prepare(
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' ORDER BY 1, 2",
        )
        .and_then(|mut statement| {
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
        .expect("the columns of a store");
    for _ in 0..random.random_range(1..=3) {
        let (table, column) = pick(random, &columns);
        let value = match random.random_range(0..4) {
            0 => format!("'{}'", pick(random, &PIECES).replace(['\'', '\0'], "")),
            1 => "NULL".to_owned(),
            2 => format!("{:e}", random.random::<f64>() * 1e300),
            _ => (*pick(random, &NUMBERS[..17])).to_owned(),
        };
        let few = if random.random() {
            ""
        } else {
            " WHERE abs(random()) % 4 = 0"
        };
        drop(connection.execute_batch(&format!(
            "UPDATE OR IGNORE \"{table}\" SET \"{column}\" = {value}{few}"
        )));
    }
    drop(connection);
    fs::read(&path).expect("a store")
}
