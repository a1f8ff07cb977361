//! Every kind of rows can be exported, on a small store of every study.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use bookahead::store::ExportKind;
use bookahead::studies::STUDIES;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::support::program::{output, program, run, text};

#[test]
fn every_kind_of_rows_is_exported_with_its_columns_in_the_order_of_simulations() {
    let experiments = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/experiments");
    let mut found = BTreeSet::new();
    for study in [
        "overbooking",
        "best-effort",
        "reservations",
        "slots",
        "virtual-reservations",
        "co-reservation-failures",
        "co-reservation-free-cpus",
        "co-reservation-information",
        "co-reservation-licences",
        "co-reservation-storage",
        "kinds-of-requests",
        "provisioning-advertised",
        "provisioning-refunds",
        "provisioning-sites",
        "market-migration",
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        fs::copy(
            experiments.join(format!("{study}.toml")),
            path.join("small.toml"),
        )
        .expect("copied");
        let mut command = run(path, "small", &["--time-decisions"]);
        assert!(command.status().expect("runs").success());
        // Models lose no records, only logs do; and nobody said anything of the run.
        rusqlite::Connection::open(path.join("small.db"))
            .and_then(|store| {
                store.execute_batch(
                    "INSERT INTO run_loss VALUES (1, 'a log', 'overrun', 9, 1);
                     INSERT INTO run_machine VALUES (1, 'a log', 8, 16, 9, 1, NULL, NULL);
                     INSERT INTO run_rule VALUES
                         (1, 'stop', 'gain', NULL, NULL, NULL, 0.1, 1, 0.95, 16, 8, 64, 0, NULL);
                     INSERT INTO run_turn VALUES (1, 1, 0);
                     INSERT INTO decision SELECT 1, 1, 1, min(place), 'gain', 16, 1.5, 0.1, 0.2, 5
                         FROM run_point WHERE run = 1;
                     INSERT INTO run_tag VALUES (1, 'paper');
                     INSERT INTO run_note VALUES (1, 'with failures');
                     INSERT INTO run_gone VALUES (9, 'another', 0, 1, NULL)",
                )
            })
            .expect("rows are entered");
        for kind in ExportKind::all(STUDIES).chain(ExportKind::tables(STUDIES)) {
            let export = |format: &str, out: &str| {
                let said = output(program(
                    path,
                    &[
                        "export", "latest", "--store", "small.db", "--format", format, "--what",
                        kind.name, "--out", out,
                    ],
                ));
                assert!(
                    said.status.success(),
                    "{}: {}",
                    kind.name,
                    text(&said.stderr)
                );
                said.stdout
            };
            let mut csv = csv::Reader::from_reader(std::io::Cursor::new(export("csv", "-")));
            let header = csv.headers().expect("a header").clone();
            let rows: Vec<csv::StringRecord> =
                csv.records().collect::<Result<_, _>>().expect("CSV");
            if rows.is_empty() {
                continue;
            }
            let numbers: Vec<i64> = rows
                .iter()
                .map(|row| row[0].parse().expect("a simulation or a run"))
                .collect();
            assert!(
                numbers.is_sorted() || &header[0] == "id",
                "{study}: {}",
                kind.name
            );
            let parquet = format!("{}.parquet", kind.name);
            export("parquet", &parquet);
            let file = fs::File::open(path.join(parquet)).expect("written");
            let reader = SerializedFileReader::new(file).expect("Parquet");
            let about = reader.metadata().file_metadata();
            assert_eq!(
                about.num_rows(),
                rows.len() as i64,
                "{study}: {}",
                kind.name
            );
            let columns = about.schema_descr().columns().iter();
            assert!(columns.map(|column| column.name()).eq(header.iter()));
            found.insert(kind.name);
        }
    }
    let missing: Vec<&str> = ExportKind::all(STUDIES)
        .chain(ExportKind::tables(STUDIES))
        .map(|kind| kind.name)
        .filter(|name| !found.contains(name))
        .collect();
    assert!(missing.is_empty(), "no study has rows of {missing:?}");
}
