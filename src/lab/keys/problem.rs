//! What is wrong with an experiment file: every problem with its file, line, key, underlined place
//! and what is allowed.

use bookahead_core::printable::{one_line, printable};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode};

/// Why an experiment file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The file could not be read.
    #[error("the experiment file {path} cannot be read: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no experiment file at all, but something large.
    #[error(
        "the experiment file {path} has more than {limit} bytes: an experiment is a short text; name its file",
        path = path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How many bytes are read at most.
        limit: u64,
    },
    /// The file is not text.
    #[error(
        "{path}:{line}: the experiment file is not UTF-8 text from this line on; save it as UTF-8",
        path = path.display()
    )]
    NotText {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The file was read and something in it is wrong.
    #[error("{}", summary(.0))]
    Invalid(Vec<Problem>),
}

fn summary(problems: &[Problem]) -> String {
    match problems {
        [only] => only.to_string(),
        many => format!("{} problems in the experiment file:\n{}", many.len(), {
            many.iter()
                .map(|problem| format!("  {problem}"))
                .collect::<Vec<_>>()
                .join("\n")
        }),
    }
}

impl ExperimentError {
    /// The problems found in the file; empty where it could not be read.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Unreadable { .. } | Self::TooLarge { .. } | Self::NotText { .. } => &[],
            Self::Invalid(problems) => problems,
        }
    }
}

/// The kind of a problem, for programs; people read the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// The text is not TOML.
    Syntax,
    /// A key or table that means nothing.
    UnknownKey,
    /// A key by the name that it had before.
    FormerKey,
    /// A required key is absent.
    Missing,
    /// A value of the wrong type.
    WrongType,
    /// A value outside what is possible.
    OutOfRange,
    /// A name that is not one of the known ones.
    UnknownName,
    /// Keys that exclude each other.
    Conflict,
    /// An axis on a key that does not exist.
    UnknownAxisKey,
    /// The same key on two axes, or the same value twice on one.
    Duplicate,
    /// A row of a `[[zip]]` with the wrong number of values.
    RowLength,
    /// A range with step 0, or from > to, or no values.
    EmptyAxis,
    /// More points than a sweep may have.
    TooManyPoints,
    /// An exclusion that matches no combination (a warning).
    NeverMatches,
}

/// One problem at one place of an experiment file.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What kind of problem it is.
    pub kind: ProblemKind,
    /// The file as the user named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// The dotted key.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What is allowed, or what to do.
    pub help: String,
    /// The underlined bytes of the text.
    pub span: Range<usize>,
    /// Whether the sweep can run all the same.
    pub warning: bool,
    /// Whether the place is shown with its lines.
    is_shown: bool,
    text: NamedSource<Arc<str>>,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: ", self.file, self.line)?;
        if !self.key.is_empty() {
            write!(formatter, "`{}`: ", self.key)?;
        }
        write!(formatter, "{} ({})", self.message, self.help)
    }
}

impl std::error::Error for Problem {}

/// [`Problem`] for miette: the headline without the help, which miette prints on a line of its own.
#[derive(Debug)]
struct Rendered<'a>(&'a Problem);

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = self.0;
        write!(formatter, "{}:{}: ", problem.file, problem.line)?;
        if !problem.key.is_empty() {
            write!(formatter, "`{}`: ", problem.key)?;
        }
        formatter.write_str(&problem.message)
    }
}

impl std::error::Error for Rendered<'_> {}

impl Diagnostic for Rendered<'_> {
    fn severity(&self) -> Option<Severity> {
        Some(if self.0.warning {
            Severity::Warning
        } else {
            Severity::Error
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.0.help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.0.text)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::underline(self.0.span.clone());
        Some(Box::new(std::iter::once(label)))
    }
}

/// A longer line (a megabyte without a line end) is no picture for a terminal.
const LONGEST_LINE: usize = 400;

impl Problem {
    /// The longest of the lines that a picture of the place shows: the place's own, the one before
    /// and the one after.
    fn longest_line_shown(&self) -> usize {
        let first = self.line.saturating_sub(2);
        let lines = self.text.inner().split('\n').skip(first).take(3);
        lines.map(str::len).max().unwrap_or(0)
    }

    fn headline(&self) -> String {
        if self.key.is_empty() {
            self.message.clone()
        } else {
            format!("`{}`: {}", self.key, self.message)
        }
    }

    /// The problem as a picture of the file with the place underlined, for a terminal (with colours
    /// where it has them).
    #[must_use]
    pub fn render(&self, colours: bool) -> String {
        if !self.is_shown || self.longest_line_shown() > LONGEST_LINE {
            return format!(
                "  × {}:{}: {}\n  help: {}\n",
                self.file,
                self.line,
                self.headline(),
                self.help
            );
        }
        let theme = if colours {
            miette::GraphicalTheme::unicode()
        } else {
            miette::GraphicalTheme::unicode_nocolor()
        };
        let mut text = String::new();
        let handler = miette::GraphicalReportHandler::new_themed(theme).with_width(110);
        match handler.render_report(&mut text, &Rendered(self)) {
            Ok(()) => text,
            Err(fmt::Error) => self.to_string(),
        }
    }
}

/// Collects problems while a file is checked; the same problem of many combinations is kept once.
#[derive(Debug)]
pub struct Problems {
    file: String,
    text: Arc<str>,
    is_ours: bool,
    list: Vec<Problem>,
}

/// After so many problems checking stops: a reader mends the first ones first.
const ENOUGH: usize = 20;

impl Problems {
    /// None yet in this file with its text.
    #[must_use]
    pub fn new(file: &str, text: &str) -> Self {
        Self {
            file: one_line(file).into_owned(),
            // The file is shown with its problems.
            text: Arc::from(&*printable(text)),
            is_ours: true,
            list: Vec::new(),
        }
    }

    /// The file is none of ours: its problems say where they are, and show nothing of what it
    /// holds.
    pub fn conceal(&mut self) {
        self.is_ours = false;
    }

    /// Adds an error: where it is, what is wrong, and what to do.
    pub fn add(
        &mut self,
        kind: ProblemKind,
        key: &str,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(kind, key, span, message.into(), help.into(), false);
    }

    /// Adds a warning: the file can be used as it is.
    pub fn warn(
        &mut self,
        kind: ProblemKind,
        key: &str,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(kind, key, span, message.into(), help.into(), true);
    }

    fn push(
        &mut self,
        kind: ProblemKind,
        key: &str,
        span: Range<usize>,
        message: String,
        help: String,
        warning: bool,
    ) {
        let known = |problem: &Problem| {
            problem.span == span && problem.key == key && problem.message == message
        };
        // A value that was refused is not missing as well.
        let refused = |problem: &Problem| kind == ProblemKind::Missing && problem.key == key;
        if self
            .list
            .iter()
            .any(|problem| known(problem) || refused(problem))
        {
            return;
        }
        let start = span.start.min(self.text.len());
        let line = 1 + self.text.as_bytes()[..start]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        self.list.push(Problem {
            kind,
            file: self.file.clone(),
            line,
            key: one_line(key).into_owned(),
            message: one_line(&message).into_owned(),
            help: one_line(&help).into_owned(),
            span: start..span.end.clamp(start, self.text.len()),
            warning,
            is_shown: self.is_ours,
            text: NamedSource::new(&self.file, Arc::clone(&self.text)),
        });
    }

    /// How many errors there are, warnings not counted.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.list.iter().filter(|problem| !problem.warning).count()
    }

    /// Whether there are so many that checking may stop.
    #[must_use]
    pub fn enough(&self) -> bool {
        self.errors() >= ENOUGH
    }

    /// Stops if there is any error.
    ///
    /// # Errors
    ///
    /// With all problems, in the order of the file.
    pub fn check(&mut self) -> Result<(), ExperimentError> {
        if self.errors() == 0 {
            return Ok(());
        }
        let mut list = std::mem::take(&mut self.list);
        list.sort_by_key(|problem| (problem.warning, problem.span.start));
        Err(ExperimentError::Invalid(list))
    }

    /// The warnings of a file without errors.
    #[must_use]
    pub fn into_warnings(self) -> Vec<Problem> {
        self.list
    }
}
