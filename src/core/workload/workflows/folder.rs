//! Where workflow files are looked for.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::error::{WorkflowError, WorkflowFault};
use super::read::{Negatives, ReadWorkflow, read_workflow};
use crate::memory::MemoryBudget;
use crate::workload::input_file;
use crate::workload::swf::hex;

/// The folder of workflow files, where there is one (the environment variable
/// `BOOKAHEAD_WORKFLOWS`), and how much memory a workflow may take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkflowFolder {
    /// Its path.
    pub path: Option<PathBuf>,
    /// What one workflow may take.
    pub memory: MemoryBudget,
}

impl WorkflowFolder {
    /// The file of this name: as it stands, then in the folder, then in its folder `dax`.
    ///
    /// # Errors
    ///
    /// When there is no such file; says where it was looked for.
    pub fn find(&self, name: &str) -> Result<PathBuf, WorkflowError> {
        let mut looked = vec![PathBuf::from(name)];
        if let Some(folder) = &self.path {
            looked.extend([folder.join(name), folder.join("dax").join(name)]);
        }
        if let Some(found) = input_file::first_there(&looked) {
            return Ok(found.clone());
        }
        let fault = WorkflowFault::NotFound {
            looked,
            folder_is_set: self.path.is_some(),
        };
        Err(fault.at(name, None))
    }

    /// Finds and reads a workflow, with the hash of what determines it.
    ///
    /// # Errors
    ///
    /// When there is no such file, or it is faulty; with file, line and element.
    pub fn read(
        &self,
        name: &str,
        negatives: Negatives,
    ) -> Result<(ReadWorkflow, String), WorkflowError> {
        let path = self.find(name)?;
        let bytes = input_file::read_whole(&path, self.memory).map_err(|error| {
            WorkflowFault::Unreadable(error).at(&path.display().to_string(), None)
        })?;
        let read = read_workflow(&path, negatives, self.memory)?;
        Ok((read, hex(&Sha256::digest(&bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_looked_for_as_it_stands_then_in_the_folder_then_in_its_folder_dax() {
        let home = tempfile::tempdir().unwrap();
        let folder = WorkflowFolder {
            path: Some(home.path().to_owned()),
            ..WorkflowFolder::default()
        };
        let job = r#"<adag name="n"><job id="A" runtime="2"/></adag>"#;
        std::fs::create_dir(home.path().join("dax")).unwrap();
        std::fs::write(home.path().join("dax/w.xml"), job).unwrap();
        assert_eq!(folder.find("w.xml").unwrap(), home.path().join("dax/w.xml"));
        std::fs::write(home.path().join("w.xml"), job).unwrap();
        assert_eq!(folder.find("w.xml").unwrap(), home.path().join("w.xml"));
        let (read, hash) = folder.read("w.xml", Negatives::Zero).unwrap();
        assert_eq!((read.workflow.tasks().len(), hash.len()), (1, 64));
    }

    #[test]
    fn a_missing_file_names_the_variable_and_where_it_was_looked_for() {
        let without = WorkflowFolder::default().find("w.xml").unwrap_err();
        assert!(
            without
                .to_string()
                .contains("BOOKAHEAD_WORKFLOWS is not set"),
            "{without}"
        );
        let folder = WorkflowFolder {
            path: Some(PathBuf::from("/nowhere")),
            ..WorkflowFolder::default()
        };
        let with = folder.find("w.xml").unwrap_err().to_string();
        for part in [
            "w.xml: not found",
            "/nowhere/dax/w.xml",
            "BOOKAHEAD_WORKFLOWS",
        ] {
            assert!(with.contains(part), "{with}");
        }
    }
}
