//! Parquet files that are small and ask for much: rows, pages, dictionaries and lists.

use std::fs;
use std::path::Path;

use parquet::basic::{Compression, GzipLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use polars_parquet_format::thrift::protocol::{TCompactInputProtocol, TCompactOutputProtocol};
use polars_parquet_format::{DictionaryPageHeader, Encoding, PageHeader, PageType};

use super::{limited, refusal_of};
use crate::support::program::{folder, output, program, text};

const MAPPING: &str = "title = \"t\"\n[fields]\nsubmit = { column = \"submit\", unit = \"seconds\" }\nrun = { column = \"run\" }\n\
    allocated_processors = { value = 1 }\nuser = { column = \"who\" }\n";

/// Writes a table of these rows, one group of them.
fn table(path: &Path, run: &str, rows: &[(i64, &[i64], &str)], properties: WriterProperties) {
    let schema = format!(
        "message t {{ required int64 submit; {run} int64 run; required binary who (UTF8); }}"
    );
    let schema = parse_message_type(&schema).expect("a schema");
    let file = fs::File::create(path).expect("a file in a new folder");
    let mut file = SerializedFileWriter::new(file, schema.into(), properties.into()).expect("it");
    let mut group = file.next_row_group().expect("a group");
    let submits: Vec<i64> = rows.iter().map(|row| row.0).collect();
    let runs: Vec<i64> = rows.iter().flat_map(|row| row.1).copied().collect();
    let texts: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(row.2)).collect();
    let in_a_list = |row: &(i64, &[i64], &str)| (0..row.1.len()).map(|at| i16::from(at > 0));
    let begins: Vec<i16> = rows.iter().flat_map(in_a_list).collect();
    let levels = vec![1; begins.len()];
    let is_list = run == "repeated";
    for place in 0..3 {
        let mut column = group.next_column().expect("readable").expect("a column");
        match place {
            0 => column
                .typed::<Int64Type>()
                .write_batch(&submits, None, None),
            1 => column.typed::<Int64Type>().write_batch(
                &runs,
                is_list.then_some(&levels[..]),
                is_list.then_some(&begins[..]),
            ),
            _ => column
                .typed::<ByteArrayType>()
                .write_batch(&texts, None, None),
        }
        .expect("values");
        column.close().expect("a column");
    }
    group.close().expect("a group");
    file.close().expect("a file");
}

fn gzip() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::GZIP(GzipLevel::default()))
        .build()
}

/// Puts another head before the first page of a column, which ends where it ended: behind a longer
/// head it is cut, behind a shorter one zeros follow.
fn lie(path: &Path, column: usize, change: impl FnOnce(&mut PageHeader)) {
    let file = fs::File::open(path).expect("a table");
    let (start, _) = SerializedFileReader::new(file)
        .expect("a table")
        .metadata()
        .row_group(0)
        .column(column)
        .byte_range();
    let mut bytes = fs::read(path).expect("a table");
    let start = usize::try_from(start).expect("small");
    let mut behind = &bytes[start..];
    let mut head =
        PageHeader::read_from_in_protocol(&mut TCompactInputProtocol::new(&mut behind, 1 << 20))
            .expect("a head");
    let page = bytes.len() - behind.len();
    let end = page + usize::try_from(head.compressed_page_size).expect("small");
    let content = bytes[page..end].to_vec();
    change(&mut head);
    // The length of the head depends on the size that it says, by a byte at most.
    let mut place = Vec::new();
    for _ in 0..2 {
        place.clear();
        head.write_to_out_protocol(&mut TCompactOutputProtocol::new(&mut place))
            .expect("a head");
        head.compressed_page_size = i32::try_from(end - start - place.len()).expect("small");
    }
    place.extend(content);
    place.resize(end - start, 0);
    bytes[start..end].copy_from_slice(&place);
    fs::write(path, bytes).expect("a table");
}

const IMPORT: [&str; 7] = [
    "trace",
    "import",
    "t.parquet",
    "--mapping",
    "mapping.toml",
    "--out",
    "out.swf",
];

/// What the import says that refuses a table. Its address space is limited, so that one which takes
/// much ends by an abort.
fn refused(place: &Path, memory: &str) -> String {
    let import = program(place, &[&IMPORT[..], &["--memory", memory]].concat());
    let said = refusal_of(limited(import, 2_000_000));
    assert!(!place.join("out.swf").exists(), "it wrote a file");
    said
}

#[test]
fn a_table_of_more_rows_than_the_budget_holds_is_refused() {
    let place = folder();
    fs::write(place.path().join("mapping.toml"), MAPPING).unwrap();
    let rows = vec![(1_000, &[5][..], "ada"); 200_000];
    let path = place.path().join("t.parquet");
    table(&path, "required", &rows, WriterProperties::default());
    assert!(fs::metadata(&path).unwrap().len() < 10_000);
    let said = refused(place.path(), "5MB");
    for part in ["jobs take", "memory budget of", "--memory"] {
        assert!(said.contains(part), "{said}");
    }
    let whole = output(program(
        place.path(),
        &[&IMPORT[..], &["--memory", "200MB"]].concat(),
    ));
    assert!(whole.status.success(), "{}", text(&whole.stderr));
}

#[test]
fn a_page_that_is_large_when_it_is_unpacked_took_more_than_the_budget() {
    let place = folder();
    fs::write(place.path().join("mapping.toml"), MAPPING).unwrap();
    let path = place.path().join("t.parquet");
    let long = "a".repeat(40 << 20);
    table(&path, "required", &[(1, &[5], &long)], gzip());
    assert!(fs::metadata(&path).unwrap().len() < 1_000_000);
    let said = refused(place.path(), "20MB");
    for part in ["column who", "bytes of unpacked pages", "--memory"] {
        assert!(said.contains(part), "{said}");
    }
    // With room for it, it is no name all the same.
    let said = refused(place.path(), "1GB");
    assert!(said.contains("column who has more than 4 MB"), "{said}");
}

#[test]
fn a_page_that_is_larger_than_its_head_says_is_refused_before_it_is_unpacked() {
    let place = folder();
    fs::write(place.path().join("mapping.toml"), MAPPING).unwrap();
    let path = place.path().join("t.parquet");
    let long = "a".repeat(40 << 20);
    table(&path, "required", &[(1, &[5], &long)], gzip());
    lie(&path, 2, |head| head.uncompressed_page_size = 1_000);
    let said = refused(place.path(), "20MB");
    assert!(said.contains("unpacks to more than it says"), "{said}");
}

#[test]
fn heads_of_pages_that_ask_for_gigabytes_ended_the_program() {
    let place = folder();
    fs::write(place.path().join("mapping.toml"), MAPPING).unwrap();
    let path = place.path().join("t.parquet");
    let rows = vec![(1_000, &[5][..], "ada"); 2_000];
    let snappy = || {
        WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .build()
    };
    table(&path, "required", &rows, snappy());
    lie(&path, 0, |head| head.uncompressed_page_size = i32::MAX);
    let said = refused(place.path(), "500MB");
    assert!(said.contains("bytes of unpacked pages"), "{said}");
    table(&path, "required", &rows, snappy());
    lie(&path, 2, |head| {
        assert_eq!(head.type_, PageType::DICTIONARY_PAGE);
        head.dictionary_page_header =
            Some(DictionaryPageHeader::new(i32::MAX, Encoding::PLAIN, false));
    });
    let said = refused(place.path(), "500MB");
    assert!(said.contains("bytes of unpacked pages"), "{said}");
}

#[test]
fn a_list_is_no_field_of_a_job_however_long_it_is() {
    let place = folder();
    fs::write(place.path().join("mapping.toml"), MAPPING).unwrap();
    let path = place.path().join("t.parquet");
    let list = vec![5; 1_000_000];
    table(
        &path,
        "repeated",
        &[(1, &list, "ada")],
        WriterProperties::default(),
    );
    let said = refused(place.path(), "1GB");
    assert!(said.contains("run"), "{said}");
}

#[test]
fn lengths_of_texts_that_are_packed_by_themselves_are_not_read() {
    let place = folder();
    fs::write(place.path().join("mapping.toml"), MAPPING).unwrap();
    let path = place.path().join("t.parquet");
    let who = ColumnPath::from("who");
    let packed = WriterProperties::builder()
        .set_column_dictionary_enabled(who.clone(), false)
        .set_column_encoding(who, parquet::basic::Encoding::DELTA_LENGTH_BYTE_ARRAY)
        .build();
    let rows = vec![(1_000, &[5][..], ""); 1_000];
    table(&path, "required", &rows, packed);
    let said = refused(place.path(), "1GB");
    for part in [
        "column who",
        "DELTA_LENGTH_BYTE_ARRAY",
        "plain or dictionary encoding",
    ] {
        assert!(said.contains(part), "{said}");
    }
}
