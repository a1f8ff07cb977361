use std::io::Write;

use super::parse::calendar_seconds;
use super::*;
use crate::failures::{NodeEvent, NodeRates};

const TITLE: &str = "Failure data of all systems 1996-2005\n\n";
const HEADER: &str = "System,machine type,nodes,nodenumz,Prob Started,Prob Fixed,Down Time\n";

fn parse(rows: &str, systems: &[u32]) -> Result<LanlTable, FailureError> {
    let text = format!("{TITLE}{HEADER}{rows}");
    LanlTable::parse(text.as_bytes(), Path::new("table.csv"), systems)
}

/// Two systems of 3 and 2 nodes; node 1 of system 5 is down twice, overlapping.
const ROWS: &str = "\
5,cluster,3,1,2/28/2004 23:00,3/1/2004 1:00,60
5,cluster,3,1,2/28/2004 23:30,3/1/2004 2:00,60
5,cluster,3,0,2/28/2004 22:00,2/28/2004 22:10,10
7,cluster,2,0,,1/1/2005 0:00,
7,cluster,2,1,1/1/2005 0:00,1/1/2005 0:30,30
9,single,nonsense,,,,
";

fn events(trace: &FailureTrace) -> Vec<(i64, u32, bool)> {
    trace
        .events
        .iter()
        .map(|event| (event.time.0, event.node.0, event.up))
        .collect()
}

#[test]
fn systems_have_their_own_clocks_and_their_nodes_follow_one_another() {
    let table = parse(ROWS, &[5, 7]).unwrap();
    assert_eq!(table.nodes(), Nodes(5));
    let trace = table.trace(Nodes(5), Seconds(0), Seconds(1_000));
    // System 5 starts at 22:00 and has 2004's leap day in it; node 1 is down from 23:00 (3,600 s)
    // on, outside this horizon. Node 1 of system 7 is node 4 and fails when its clock starts.
    assert_eq!(
        events(&trace),
        [
            (0, 0, false),
            (0, 4, false),
            (600, 0, true),
            (1_800, 4, true)
        ]
    );
    // 23:00 on 28 February to 2:00 on 1 March: 27 h, because of the leap day.
    let longer = table.trace(Nodes(2), Seconds(0), Seconds(3_601));
    let node_1 = [(3_600, 1, false), (3_600 + 27 * 3_600, 1, true)];
    assert_eq!(events(&longer)[2..], node_1);
}

#[test]
fn rows_with_a_missing_time_are_left_out_and_counted() {
    let table = parse(ROWS, &[7, 5]).unwrap();
    let counts: Vec<(u32, u64, u64)> = table
        .systems()
        .iter()
        .map(|system| (system.number, system.records, system.missing_times))
        .collect();
    assert_eq!(counts, [(7, 1, 1), (5, 3, 0)]);
}

#[test]
fn nodes_beyond_the_table_are_the_first_ones_again() {
    let table = parse(ROWS, &[5, 7]).unwrap();
    let trace = table.trace(Nodes(6), Seconds(0), Seconds(1));
    assert_eq!(
        events(&trace)[..3],
        [(0, 0, false), (0, 4, false), (0, 5, false)]
    );
}

#[test]
fn a_run_longer_than_the_table_meets_it_again() {
    // System 7: one failure of 30 min and nothing else, so its period is 1,800 s and node 1 is down
    // for ever.
    let table = parse(ROWS, &[7]).unwrap();
    let always = table.trace(Nodes(2), Seconds(0), Seconds(5_000));
    assert_eq!(events(&always), [(0, 1, false), (5_400, 1, true)]);
    // System 5: from 22:00 until 2:00 two days later, 28 h.
    let table = parse(ROWS, &[5]).unwrap();
    assert_eq!(table.systems()[0].period, Seconds::HOUR * 28);
    let twice = table.trace(Nodes(1), Seconds(0), Seconds::HOUR * 29);
    let again = 28 * 3_600;
    assert_eq!(
        events(&twice),
        [
            (0, 0, false),
            (600, 0, true),
            (again, 0, false),
            (again + 600, 0, true)
        ]
    );
}

#[test]
fn a_table_of_one_second_was_repeated_until_the_memory_was_full_and_is_refused() {
    let row = "6,cluster,2,1,1/1/2005 0:00,1/1/2005 0:00,0\n";
    let error = parse(row, &[6]).unwrap_err().to_string();
    assert!(error.contains("a minute or more"), "{error}");
}

#[test]
fn an_offset_moves_the_start_and_keeps_what_is_down_down() {
    let table = parse(ROWS, &[5]).unwrap();
    let offset = Seconds(7_200);
    let trace = table.trace(Nodes(3), offset, Seconds::HOUR * 24);
    assert_eq!(events(&trace), [(0, 1, false), (26 * 3_600, 1, true)]);
    let whole = table
        .trace(Nodes(3), Seconds(0), Seconds::HOUR * 26)
        .starting_at(offset);
    assert_eq!(trace, whole);
}

#[test]
fn impossible_rows_are_errors_with_file_and_line() {
    for (row, problem) in [
        (
            "x,cluster,3,1,1/1/2004 0:00,1/1/2004 1:00,60\n",
            "`System` should be a whole number",
        ),
        (
            "5,cluster,3,3,1/1/2004 0:00,1/1/2004 1:00,60\n",
            "node 3 does not exist",
        ),
        (
            "5,cluster,3,1,1/1/2004,1/1/2004 1:00,60\n",
            "m/d/yyyy h:mm, but is `1/1/2004`",
        ),
        (
            "5,cluster,3,1,2/29/2003 0:00,3/1/2003 1:00,60\n",
            "but is `2/29/2003 0:00`",
        ),
        (
            "5,cluster,3,1,1/1/2004 0:00,1/1/2004 24:00,60\n",
            "but is `1/1/2004 24:00`",
        ),
        (
            "5,cluster,3,1,1/1/2004 1:00,1/1/2004 0:00,60\n",
            "before it started",
        ),
        (
            "5,cluster,4,1,1/1/2004 0:00,1/1/2004 1:00,60\n",
            "has 4 nodes here and 3",
        ),
        ("5,cluster,3,1\n", "has 4 fields instead of 7"),
    ] {
        let error = parse(&format!("{ROWS}{row}"), &[5])
            .unwrap_err()
            .to_string();
        // One title, one empty line, the header, six good rows: the tenth line.
        assert!(error.starts_with("table.csv, line 10: "), "{error}");
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn what_is_no_table_is_an_error() {
    let read = |text: &str| LanlTable::parse(text.as_bytes(), Path::new("other.csv"), &[5]);
    let error = read("a,b,c\n1,2,3\n").unwrap_err();
    assert!(
        matches!(
            error,
            FailureError::Header {
                column: "System",
                ..
            }
        ),
        "{error}"
    );
    assert!(matches!(read(""), Err(FailureError::Header { .. })));
    let renamed = HEADER.replace("nodenumz", "node");
    let error = read(&renamed.repeat(30)).unwrap_err();
    assert!(
        matches!(
            error,
            FailureError::Header {
                column: "nodenumz",
                lines: 20,
                ..
            }
        ),
        "{error}"
    );
    match parse(ROWS, &[5, 8]) {
        Err(FailureError::SystemAbsent {
            system: 8, present, ..
        }) => assert_eq!(present, [5, 7, 9]),
        other => panic!("{other:?}"),
    }
    for systems in [&[] as &[u32], &[5, 5]] {
        assert!(matches!(
            parse(ROWS, systems),
            Err(FailureError::Parameter { key: "systems", .. })
        ));
    }
}

#[test]
fn a_packed_table_is_found_and_read_like_the_plain_one() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{TITLE}{HEADER}{ROWS}");
    std::fs::write(folder.path().join("plain.csv"), &text).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    std::fs::write(folder.path().join("zipped.csv.gz"), gzip.finish().unwrap()).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(text.as_bytes()).unwrap();
    std::fs::write(folder.path().join("squeezed.csv.xz"), xz.finish().unwrap()).unwrap();
    let expected = parse(ROWS, &[5, 7]).unwrap();
    for name in [
        "plain.csv",
        "plain.csv.gz",
        "zipped.csv",
        "zipped.csv.gz",
        "squeezed.csv",
    ] {
        let path = find_table(name, Some(folder.path())).unwrap();
        assert_eq!(
            LanlTable::read(&path, &[5, 7], MemoryBudget::UNLIMITED).unwrap(),
            expected,
            "{name}"
        );
    }
}

#[test]
fn a_missing_table_says_where_it_was_looked_for_and_where_it_is_offered() {
    let error = find_table("none.csv.gz", Some(Path::new("some/folder")))
        .unwrap_err()
        .to_string();
    for part in [
        "`none.csv.gz`",
        "some/folder/none.csv",
        "BOOKAHEAD_FAILURES",
        "LA-UR-05-7318",
        "usenix.org/cfdr-data",
    ] {
        assert!(error.contains(part), "{error} lacks {part}");
    }
}

#[test]
fn times_are_those_of_the_calendar() {
    for (text, expected) in [
        ("1/1/1970 0:00", Some(0)),
        ("3/1/2000 00:01", Some(951_868_860)),
        ("12/31/1999 23:59", Some(946_684_740)),
        ("6/21/05 10:54", Some(1_119_351_240)),
        ("02/29/2004 1:00", Some(1_078_016_400)),
        ("2/29/1900 1:00", None),
        ("13/1/2000 0:00", None),
        ("1/1/2000 0:60", None),
        ("1/1/200 0:00", None),
        ("1/+1/2000 0:00", None),
        ("1/1/2000/1 0:00", None),
        ("", None),
    ] {
        assert_eq!(calendar_seconds(text), expected, "{text}");
    }
}

/// The table LA-UR-05-7318, if the folder of failure data is known.
fn real_table(systems: &[u32]) -> Option<LanlTable> {
    let Some(folder) = std::env::var_os("BOOKAHEAD_FAILURES") else {
        eprintln!("skipped: BOOKAHEAD_FAILURES is not set");
        return None;
    };
    let path = find_table(
        "LA-UR-05-7318-failure-data-1996-2005.csv",
        Some(Path::new(&folder)),
    )
    .unwrap();
    Some(LanlTable::read(&path, systems, MemoryBudget::UNLIMITED).unwrap())
}

#[test]
fn systems_18_and_19_fail_at_1_3006e_4_and_are_repaired_at_0_313_per_hour() {
    let Some(table) = real_table(&[18, 19]) else {
        return;
    };
    let counts: Vec<(u64, u64, u32)> = table
        .systems()
        .iter()
        .map(|system| (system.records, system.missing_times, system.nodes.0))
        .collect();
    assert_eq!(counts, [(3_997, 0, 1_024), (3_284, 0, 1_024)]);
    let rates = table.rates();
    assert!(
        (rates.failure_rate_per_hour - 1.3006e-4).abs() < 0.000_05e-4,
        "{rates:?}"
    );
    assert!(
        (rates.repair_rate_per_hour - 0.313).abs() < 0.000_5,
        "{rates:?}"
    );
}

#[test]
fn a_replay_of_the_real_table_is_in_order_and_wraps_after_2048_nodes() {
    let Some(table) = real_table(&[18, 19]) else {
        return;
    };
    let year = Seconds::HOUR * (24 * 365);
    let trace = table.trace(Nodes(2_060), Seconds(0), year * 4);
    trace.validate().unwrap();
    // Both systems' tables have begun again within four years.
    let failures = trace.events.iter().filter(|event| !event.up).count();
    assert!(failures > 7_281, "{failures}");
    let of_node = |node: u32| -> Vec<(Seconds, bool)> {
        let events = trace.events.iter().filter(|event| event.node.0 == node);
        events.map(|event| (event.time, event.up)).collect()
    };
    assert_eq!(of_node(2_048 + 7), of_node(7));
    // The first failure of system 18: node 140 for half an hour.
    let first = |up, time| NodeEvent {
        time: Seconds(time),
        node: NodeIndex(140),
        up,
    };
    assert_eq!(trace.events[0], first(false, 0));
    assert!(trace.events.contains(&first(true, 1_800)));
    let shorter = table.trace(Nodes(430), Seconds(0), year);
    shorter.validate().unwrap();
    let before = |trace: &FailureTrace| -> Vec<NodeEvent> {
        let events = trace
            .events
            .iter()
            .filter(|event| event.time < year && event.node.0 < 430);
        events.copied().collect()
    };
    assert_eq!(before(&shorter), before(&trace));
    let moved = table.trace(Nodes(430), year, year);
    moved.validate().unwrap();
    let mut from_start = table
        .trace(Nodes(430), Seconds(0), year * 2)
        .starting_at(year);
    let in_time = |event: &NodeEvent| event.time < year;
    from_start.events.retain(in_time);
    assert!(
        moved
            .events
            .iter()
            .filter(|event| in_time(event))
            .eq(&from_start.events)
    );
}

impl LanlTable {
    /// The systems in the order in which they were chosen.
    fn systems(&self) -> &[LanlSystem] {
        &self.systems
    }

    /// How many different nodes the systems have together; nodes beyond that are the first ones
    /// again.
    fn nodes(&self) -> Nodes {
        Nodes(self.systems.iter().map(|system| system.nodes.0).sum())
    }

    /// The rates of the chosen systems: λ is failures ÷ Σ (nodes · observed span of their system),
    /// where the span lasts from the first to the last failure's start; μ is one over the mean
    /// down-time of a failure.
    fn rates(&self) -> NodeRates {
        let failures: u64 = self.systems.iter().map(|system| system.records).sum();
        let observed: i64 = self
            .systems
            .iter()
            .map(|system| system.nodes.for_span(system.observed).0)
            .sum();
        let down: i64 = self.systems.iter().map(|system| system.down_time.0).sum();
        NodeRates {
            failure_rate_per_hour: failures as f64 / (observed as f64 / 3_600.0),
            repair_rate_per_hour: failures as f64 / (down as f64 / 3_600.0),
        }
    }
}
