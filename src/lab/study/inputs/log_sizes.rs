//! How large the machines of logs were: what the size of a machine is where a file gives it a log
//! and no size.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;

use super::InputFolders;
use crate::keys::problem::{ProblemKind, Problems};
use crate::keys::workload::MOST_NODES;
use crate::units::Nodes;
use crate::workload::TraceFolder;
use bookahead_core::workload::swf::SwfReader;

/// What to do about a machine without a size.
pub(crate) const ADD_NODES: &str = "add `nodes = …`, the size of the machine";

/// The sizes that the headers of logs say, each read once, in the folder that the environment
/// names.
#[derive(Debug, Default)]
pub struct LogSizes(RefCell<BTreeMap<String, Result<Nodes, String>>>);

impl LogSizes {
    /// The size of the machine of a log, for the key that a file leaves out; `None` after it has
    /// said why it is not known.
    pub fn machine_of(
        &self,
        trace: &Spanned<String>,
        key: &str,
        problems: &mut Problems,
    ) -> Option<Nodes> {
        match self.of(trace.get_ref()) {
            Ok(size) => Some(size),
            Err(why) => {
                let message = format!("the machine has no size, as {why}");
                problems.add(ProblemKind::Missing, key, trace.span(), message, ADD_NODES);
                None
            }
        }
    }

    /// The size of the machine of a log; else why it is not known, as a clause.
    fn of(&self, file: &str) -> Result<Nodes, String> {
        let mut known = self.0.borrow_mut();
        let size = known.entry(file.to_owned());
        size.or_insert_with(|| read(file)).clone()
    }
}

fn read(file: &str) -> Result<Nodes, String> {
    let folders = InputFolders::from_environment();
    let folder = TraceFolder {
        path: folders.traces,
        memory: folders.memory,
    };
    let path = folder.find(file).map_err(|error| error.to_string())?;
    if !path.is_file() {
        return Err(format!("{file} is no file, and can be read only once"));
    }
    of_header(&path, file)
}

/// The header stands before the first record.
fn of_header(path: &Path, file: &str) -> Result<Nodes, String> {
    let mut reader = SwfReader::open(path).map_err(|error| error.to_string())?;
    if let Some(Err(error)) = reader.next() {
        return Err(error.to_string());
    }
    let size = reader.header().machine();
    let size =
        size.ok_or_else(|| format!("the header of {file} names neither MaxProcs nor MaxNodes"))?;
    match i64::from(size) > MOST_NODES {
        true => Err(format!(
            "the header of {file} says {size} nodes, which are too many"
        )),
        false => Ok(Nodes(size)),
    }
}
