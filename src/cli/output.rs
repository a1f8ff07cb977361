//! The one way from the program to a terminal.
//!
//! Printed text may repeat text from elsewhere: a name, a value of a file, an argument. So no other
//! module here writes to standard output or standard error (`tests/architecture.rs` holds that),
//! and everything loses the characters that a terminal would act on ([`printable`]). Data for
//! programs keep their bytes if the output is not a terminal.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write};

use bookahead_core::printable::{is_harmful, printable};
use serde::Serialize;

use super::{aligned, paragraphs};

/// Text on its way out, without what a terminal would act on. Characters may arrive in pieces.
#[derive(Debug)]
pub(super) struct Output<W: Write> {
    target: W,
    cleans: bool,
    /// The beginning of a character whose end has not come.
    begun: Vec<u8>,
}

/// Standard output for people.
pub(super) fn people() -> Output<io::Stdout> {
    Output::new(io::stdout(), true)
}

/// Standard output for data: the bytes as they are, but for a terminal.
pub(super) fn data() -> Output<io::Stdout> {
    Output::new(io::stdout(), is_terminal())
}

/// Whether a terminal is behind standard output.
pub(super) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

impl<W: Write> Output<W> {
    fn new(target: W, cleans: bool) -> Self {
        Self {
            target,
            cleans,
            begun: Vec::new(),
        }
    }

    /// Writes what is complete of `bytes`; what is no UTF-8 becomes question marks.
    fn clean(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (text, wrong) = match std::str::from_utf8(bytes) {
                Ok(text) => (text, Some(0)),
                Err(error) => {
                    let (text, _) = bytes.split_at(error.valid_up_to());
                    // Valid up to there, as the error says.
                    (
                        std::str::from_utf8(text).unwrap_or_default(),
                        error.error_len(),
                    )
                }
            };
            self.target.write_all(printable(text).as_bytes())?;
            bytes = &bytes[text.len()..];
            let Some(wrong) = wrong else {
                self.begun = bytes.to_vec();
                return Ok(());
            };
            self.target.write_all(&b"????"[..wrong.min(4)])?;
            bytes = &bytes[wrong..];
        }
        Ok(())
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.cleans {
            return self.target.write(bytes);
        }
        if self.begun.is_empty() {
            self.clean(bytes)?;
        } else {
            let mut whole = std::mem::take(&mut self.begun);
            whole.extend_from_slice(bytes);
            self.clean(&whole)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

/// A line for people on standard error. That nobody can read it (a closed pipe, a full disk)
/// changes nothing about what was done: `eprintln!` would panic.
pub(super) fn say(line: impl Display) {
    let line = line.to_string();
    let line = printable(&line);
    let line = match screen_of_messages() {
        Some(screen) => paragraphs::fitted(&line, screen),
        None => line.into_owned(),
    };
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Columns of the screen behind standard error, if there is one.
pub(super) fn screen_of_messages() -> Option<usize> {
    is_terminal_behind_messages()
        .then(aligned::screen)
        .flatten()
}

/// Whether a terminal is before standard input.
pub(super) fn is_terminal_before_input() -> bool {
    io::stdin().is_terminal()
}

/// Whether a terminal is behind standard error.
pub(super) fn is_terminal_behind_messages() -> bool {
    io::stderr().is_terminal()
}

/// Text for people on standard output; on standard error where that holds tab-separated values.
pub(super) fn print(text: &str) -> io::Result<()> {
    if aligned::is_tsv() {
        say(text.trim_end_matches('\n'));
        return Ok(());
    }
    let text = printable(text);
    match aligned::screen() {
        Some(screen) => io::stdout()
            .lock()
            .write_all(paragraphs::fitted(&text, screen).as_bytes()),
        None => io::stdout().lock().write_all(text.as_bytes()),
    }
}

/// A value as JSON for [`print()`]: two spaces an indent, a line's end, and escapes for what a
/// terminal would act on.
pub(super) fn json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    Ok(bookahead_core::printable::json(serde_json::to_string_pretty(value)?) + "\n")
}

/// Whether records are printed in the place of text: as JSON, or as tab-separated values.
pub(super) fn are_records(as_json: bool) -> bool {
    as_json || aligned::is_tsv()
}

/// Records (an object or a list of them) for [`print_records`]: as JSON, or as tab-separated values
/// where these are asked for.
pub(super) fn records(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let json = json(value)?;
    match aligned::is_tsv() {
        true => aligned::tsv_of_json(&json),
        false => Ok(json),
    }
}

/// Prints records as they are.
pub(super) fn print_records(records: &str) -> io::Result<()> {
    people().write_all(records.as_bytes())
}

/// Prints a value as JSON, or as the tab-separated values that are asked for.
pub(super) fn print_json(value: &serde_json::Value) -> io::Result<()> {
    print_records(&records(value)?)
}

/// Text with colours of our own on standard error: it was made of parts without any, so only
/// colours are let through.
pub(super) fn coloured(text: &str) -> io::Result<()> {
    io::stderr().lock().write_all(with_colours(text).as_bytes())
}

/// What the command line's parser says: help, the version, or what is wrong with the arguments,
/// which it repeats.
pub(super) fn parsed(error: &clap::Error, repeats_harmful: bool) {
    if repeats_harmful {
        let text = error.render().to_string();
        match error.use_stderr() {
            true => say(text.trim_end()),
            // A reader that has gone has seen enough.
            false => drop(print(&text)),
        }
    } else {
        // With colours, where they are wanted; help and version are answers, not errors, and go to
        // standard output.
        let _ = error.print();
    }
}

/// Takes away so many lines above the cursor, to draw them anew.
pub(super) fn take_away(lines: usize) -> io::Result<()> {
    match lines {
        0 => Ok(()),
        lines => write!(io::stdout().lock(), "\u{1b}[{lines}A\u{1b}[0J"),
    }
}

/// The text, printable but for sequences that set colours.
fn with_colours(text: &str) -> String {
    const BEGIN: &str = "\u{1b}[";
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(BEGIN) {
        clean.push_str(&printable(&rest[..at]));
        let sequence = &rest[at..];
        let inside = sequence[BEGIN.len()..]
            .trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';');
        let length = match inside.strip_prefix('m') {
            Some(after) => sequence.len() - after.len(),
            None => BEGIN.len(),
        };
        let (sequence, after) = sequence.split_at(length);
        match length > BEGIN.len() {
            true => clean.push_str(sequence),
            false => clean.push_str(&printable(sequence)),
        }
        rest = after;
    }
    clean.push_str(&printable(rest));
    clean
}

/// Whether a terminal would act on one of the arguments if it were repeated.
pub(super) fn are_harmful(arguments: &[std::ffi::OsString]) -> bool {
    (arguments.iter()).any(|argument| argument.to_string_lossy().contains(is_harmful))
}

/// Standard error as a place to write that never fails, as [`say`].
#[derive(Debug)]
pub(super) struct StandardError(Output<io::Stderr>);

impl StandardError {
    pub(super) fn new() -> Self {
        Self(Output::new(io::stderr(), true))
    }
}

impl Write for StandardError {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(cleans: bool, pieces: &[&[u8]]) -> Vec<u8> {
        let mut output = Output::new(Vec::new(), cleans);
        for piece in pieces {
            output.write_all(piece).unwrap();
        }
        output.target
    }

    #[test]
    fn what_acts_on_a_terminal_is_taken_out_of_text_and_kept_in_data() {
        let text = "ä\u{1b}[2J\u{9b}m\u{202e}x\n".as_bytes();
        assert_eq!(written(true, &[text]), "ä?[2J??m???x\n".as_bytes());
        assert_eq!(written(false, &[text]), text);
    }

    #[test]
    fn a_character_in_two_pieces_is_one_character() {
        let text = "ä\u{202e}€".as_bytes();
        for cut in 0..=text.len() {
            let (first, second) = text.split_at(cut);
            assert_eq!(written(true, &[first, second]), "ä???€".as_bytes(), "{cut}");
        }
        assert_eq!(written(true, &[b"a\xff\x9bb"]), b"a??b");
    }

    #[test]
    fn only_colours_are_let_through_where_there_are_colours() {
        let text = "\u{1b}[31;1merror\u{1b}[0m \u{1b}[2J \u{1b}]0;t\u{7} \u{1b}[";
        assert_eq!(
            with_colours(text),
            "\u{1b}[31;1merror\u{1b}[0m ?[2J ?]0;t? ?["
        );
    }
}
