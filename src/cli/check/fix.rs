//! `bookahead check FILE --fix`: keys by their present names, in the file itself.

use std::io::{self, Write as _};
use std::path::Path;

use crate::cli::run::RunError;
use crate::cli::studies;
use crate::sweep::keys::Keys;
use crate::sweep::{Experiment, rewritten};
use bookahead_core::output::OutputFile;

/// Writes the keys of an experiment file by their present names, and says which it changed.
///
/// # Errors
///
/// When the file cannot be read, rewritten or replaced; it is left as it is then.
pub(super) fn fix(path: &Path) -> Result<(), RunError> {
    let text = Experiment::text_of(path)?;
    let new = rewritten(Keys::of(studies()), &text).map_err(|source| RunError::Rewrite {
        path: path.to_owned(),
        source,
    })?;
    if new.renamed.is_empty() {
        crate::cli::say(format_args!(
            "{}: no key of it has another name now; nothing was changed",
            path.display()
        ));
        return Ok(());
    }
    write(path, &new.text).map_err(|source| RunError::Unwritten {
        path: path.to_owned(),
        source,
    })?;
    for renamed in &new.renamed {
        crate::cli::say(format_args!(
            "{}:{}: `{}` is `{}` now",
            path.display(),
            renamed.line,
            renamed.key.was,
            renamed.key.now
        ));
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(text.as_bytes())?;
    file.finish()
}
