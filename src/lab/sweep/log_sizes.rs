//! How large the machines of logs were: what `workload.nodes` is where a file does not give it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use crate::keys::workload::MOST_NODES;
use crate::study::inputs::InputFolders;
use crate::units::Nodes;
use crate::workload::TraceFolder;
use bookahead_core::workload::swf::SwfReader;

/// The sizes that the headers of logs say, each read once, in the folder that the environment
/// names.
#[derive(Debug, Default)]
pub(crate) struct LogSizes(RefCell<BTreeMap<String, Result<Nodes, String>>>);

impl LogSizes {
    /// The size of the machine of a log; else why it is not known, as a clause.
    pub(super) fn of(&self, file: &str) -> Result<Nodes, String> {
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
