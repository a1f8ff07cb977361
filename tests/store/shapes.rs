//! What the schema says about itself, which merging and digests read.

use super::connection;
use bookahead::store::{ExportKind, RunId, Store, definitions, views};
use bookahead::studies::STUDIES;
use bookahead_lab::tables::{Kind, Table, Tables};

#[test]
fn every_table_of_the_schema_is_numbered_or_part_of_something_numbered_and_comes_after_its_parents()
{
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(STUDIES, &folder.path().join("a.db")).unwrap();
    let tables = Tables::read(&connection(&store)).unwrap().unwrap();
    assert!(tables.0.len() >= 30);
    let owner = |name: &str| match tables.0[tables.place(name)].kind {
        Kind::Part { of, .. } => Some(tables.0[of].name.clone()),
        Kind::Numbered { .. } => None,
    };
    for (name, expected) in [
        ("job", Some("workload")),
        ("job_outcome", Some("simulation")),
        ("simulation_timing", Some("simulation")),
        ("cluster_measure", Some("simulation")),
        ("offer", Some("simulation")),
        ("axis_value", Some("run")),
        ("point_axis", Some("run")),
        ("simulation", None),
        ("point", None),
        ("strategy", None),
        ("measure", None),
    ] {
        assert_eq!(owner(name).as_deref(), expected, "{name}");
    }
    for (place, table) in tables.0.iter().enumerate() {
        for parent in table.refers.iter().flatten() {
            assert!(*parent < place, "{} before its parent", table.name);
        }
    }
}

#[test]
fn every_table_that_a_simulation_fills_is_emptied_for_a_new_result_and_can_be_exported() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(STUDIES, &folder.path().join("a.db")).unwrap();
    let tables = Tables::read(&connection(&store)).unwrap().unwrap();
    let filled: Vec<&Table> = tables
        .parts(tables.place("simulation"))
        .map(|(place, _)| &tables.0[place])
        .collect();
    let mut several: Vec<&str> = filled
        .iter()
        .filter(|table| table.key.len() > 1)
        .map(|table| table.name.as_str())
        .collect();
    let mut emptied: Vec<&str> = definitions(STUDIES)
        .flat_map(|tables| tables.results)
        .copied()
        .collect();
    several.sort_unstable();
    emptied.sort_unstable();
    assert_eq!(emptied, several);
    let names = |sql: &str, name: &str| {
        sql.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .any(|word| word == name)
    };
    let mut exports: Vec<String> = ExportKind::all(STUDIES)
        .map(|kind| {
            store
                .export(RunId(1), kind, &Default::default())
                .unwrap()
                .sql
        })
        .collect();
    for (view, sql) in views(STUDIES) {
        if exports.iter().any(|export| names(export, view)) {
            exports.push(sql);
        }
    }
    for table in filled {
        let name = &table.name;
        assert!(
            exports.iter().any(|export| names(export, name)),
            "{name} is not exported"
        );
    }
}

#[test]
fn what_a_column_refers_to_is_found_through_other_tables() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(STUDIES, &folder.path().join("a.db")).unwrap();
    let tables = Tables::read(&connection(&store)).unwrap().unwrap();
    let measure = &tables.0[tables.place("cluster_measure")];
    let refers =
        |column: &str| measure.refers[measure.column(column)].map(|of| tables.0[of].name.clone());
    assert_eq!(refers("simulation").as_deref(), Some("simulation"));
    assert_eq!(refers("measure").as_deref(), Some("measure"));
    assert_eq!(refers("cluster"), None);
    let outcome = &tables.0[tables.place("job_outcome")];
    assert!(outcome.insert().contains("\"end\""));
}
