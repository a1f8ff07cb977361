//! Built-in mappings: layouts of public data sets, each with its source.

use std::path::Path;

use bookahead_core::memory::MemoryBudget;
use miette::{IntoDiagnostic, miette};

use crate::ours::told;
use crate::workload::input_file::read_whole;
use bookahead_operators::foreign::Mapping;

const KNOWN: [(&str, &str); 6] = [
    (
        "alibaba-gpu-2023",
        include_str!("mappings/alibaba-gpu-2023.toml"),
    ),
    ("f-data", include_str!("mappings/f-data.toml")),
    ("m100", include_str!("mappings/m100.toml")),
    (
        "mit-supercloud",
        include_str!("mappings/mit-supercloud.toml"),
    ),
    ("nrel-eagle", include_str!("mappings/nrel-eagle.toml")),
    ("pm100", include_str!("mappings/pm100.toml")),
];

/// Their names.
pub(super) fn names() -> Vec<&'static str> {
    KNOWN.iter().map(|(name, _)| *name).collect()
}

/// The mapping of this name, else the one in the file of this name.
pub(super) fn mapping(name: &str) -> miette::Result<Mapping> {
    let (text, place) = match KNOWN.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => ((*text).to_owned(), name.to_owned()),
        None => {
            let bytes = read_whole(Path::new(name), MemoryBudget::UNLIMITED).map_err(|error| {
                miette!(
                    "cannot read the mapping {name}: {error}; it is a file, or one of {}",
                    names().join(", ")
                )
            })?;
            let text = String::from_utf8(bytes)
                .map_err(|_| miette!("the mapping {name} is not UTF-8 text"))?;
            (text, name.to_owned())
        }
    };
    let mapping: Mapping = toml::from_str(&text).map_err(|error| {
        const EXPECTED: &str =
            "a mapping is TOML with a `title` and a table [fields]; docs/importing.md says how it is written";
        let is_key = |path: &str| {
            path.strip_prefix("fields.")
                .is_some_and(|field| Mapping::FIELDS.contains(&field))
        };
        miette!("the mapping {place}: {}", told(&error, &text, EXPECTED, is_key))
    })?;
    mapping.check().into_diagnostic()?;
    Ok(mapping)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_mapping_is_sound_and_says_where_its_layout_was_read() {
        for (name, text) in KNOWN {
            let mapping = mapping(name).unwrap();
            assert!(mapping.source.is_some(), "{name}");
            assert!(
                text.starts_with("# ") && text.contains("https://"),
                "{name}"
            );
            assert!(!mapping.read_columns().is_empty());
        }
        assert!(
            mapping("nothing.toml")
                .unwrap_err()
                .to_string()
                .contains("pm100")
        );
    }
}
