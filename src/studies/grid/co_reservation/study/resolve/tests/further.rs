//! Licences and storage of clusters, and parts that need them.

use super::*;
use bookahead_core::workload::{FurtherCounts, PartNeed};

const LICENCES: &str = "[requests]\nlicences_percent = 50\nlicences = 2\n";
const STORAGE: &str = "[requests]\nstorage_percent = 50\nstorage_gb = 2\n";

#[test]
fn counts_are_specified_where_clusters_have_some_and_parts_need_some() {
    let counts = |licences, storage_gb| FurtherCounts {
        licences,
        storage_gb,
    };
    let needed = Some(PartNeed {
        percent: 50.0,
        each: 2,
    });
    let some = "[local]\nlicences = 4\nstorage_gb = 9\n";
    let found = study(spec(&format!("{LICENCES}{some}")));
    assert_eq!(found.settings.local.further, counts(4, 0));
    let requests = found.requests.unwrap();
    assert_eq!((requests.licences, requests.storage), (needed, None));
    let found = study(spec(&format!("{STORAGE}{some}")));
    assert_eq!(found.settings.local.further, counts(0, 9));
    let requests = found.requests.unwrap();
    assert_eq!((requests.licences, requests.storage), (None, needed));
    let both = format!("{LICENCES}storage_percent = 50\n{some}");
    let found = study(spec(&both));
    assert_eq!(found.settings.local.further, counts(4, 9));
    // 100 GB where the file says nothing.
    let each = found.requests.unwrap().storage.map(|it| it.each);
    assert_eq!(each, Some(100));

    let plain = canonical_json(&spec("[requests]\n")).unwrap();
    assert!(!plain.contains("licences") && !plain.contains("storage"));
    for rest in [
        LICENCES,
        STORAGE,
        "[requests]\nlicences_percent = 50\n[local]\nlicences = 0\n",
        "[requests]\nlicences = 3\n[local]\nlicences = 4\n",
        "[requests]\nstorage_percent = 50\n[local]\nstorage_gb = 0\n",
        "[requests]\nstorage_gb = 3\n[local]\nstorage_gb = 4\n",
        "[requests]\nlicences_percent = 50\n[local]\nstorage_gb = 4\n",
    ] {
        assert_eq!(canonical_json(&spec(rest)).unwrap(), plain, "{rest}");
    }
    // Without requests there is nobody who could need any.
    let jobs_only = canonical_json(&spec(some)).unwrap();
    assert_eq!(jobs_only, canonical_json(&spec("")).unwrap());
}

#[test]
fn settings_with_counts_are_read_again_as_they_were_written() {
    let some = "[local]\nlicences = 4\nstorage_gb = 9\n";
    for rest in [
        format!("{LICENCES}storage_percent = 50\n{some}"),
        format!("{STORAGE}{some}"),
        format!("[requests]\n{some}"),
    ] {
        let written = study(spec(&rest)).settings;
        let text = serde_json::to_string(&written).unwrap();
        let read: CoReservationSettings = serde_json::from_str(&text).unwrap();
        assert_eq!(read, written, "{text}");
    }
    // As before there was storage: beside the other settings of a cluster.
    let text = serde_json::to_value(study(spec(&format!("{LICENCES}{some}"))).settings).unwrap();
    assert_eq!(text["local"]["licences"], 4);
    assert!(text["local"].get("storage_gb").is_none());
}

#[test]
fn what_cannot_carry_counts_is_refused_with_the_reason() {
    for (needed, some, percent, each, most, noun) in [
        (
            LICENCES,
            "[local]\nlicences = 4\n",
            "requests.licences_percent",
            ("requests.licences", "1 to 1000000"),
            (
                "local.licences",
                "licences = 1000001",
                "so many licences of each cluster",
            ),
            "licences",
        ),
        (
            STORAGE,
            "[local]\nstorage_gb = 4\n",
            "requests.storage_percent",
            ("requests.storage_gb", "1 to 100000000"),
            (
                "local.storage_gb",
                "storage_gb = 100000001",
                "so many GB of each cluster",
            ),
            "storage",
        ),
    ] {
        let leaf = |path: &str| path.split_once('.').map(|it| it.1.to_owned()).unwrap();
        for (rest, key, says) in [
            (
                format!("{needed}{some}[broker]\nalgorithm = \"barrier\"\n"),
                "broker.algorithm",
                format!("parts in it hold no {noun}: leave `{percent}` out"),
            ),
            (
                format!("{needed}workflow_percent = 10\nworkflow_file = \"w.xml\"\n{some}"),
                percent,
                format!("does not say which tasks need {noun}: leave one of the two out"),
            ),
            (
                format!("[requests]\n{} = 101\n", leaf(percent)),
                percent,
                "0 to 100".to_owned(),
            ),
            (
                format!("[requests]\n{} = 0\n", leaf(each.0)),
                each.0,
                each.1.to_owned(),
            ),
            (format!("[local]\n{}\n", most.1), most.0, most.2.to_owned()),
        ] {
            let error = parse(&rest).expect_err(&rest);
            assert_eq!(error.problems().len(), 1, "{error}");
            assert_eq!(error.problems()[0].key, key, "{error}");
            assert!(error.to_string().contains(&says), "{error}");
        }
        // Everything that reserves carries them.
        for rest in [
            format!("{needed}workflow_percent = 10\n{some}partition_percent = 20\n"),
            format!("{needed}{some}[risk]\n"),
        ] {
            let further = settings(&rest).local.further;
            assert_eq!(further.licences + further.storage_gb, 4, "{rest}");
        }
    }
}

#[test]
fn parts_that_fit_on_no_cluster_for_their_counts_are_warned_of() {
    for (needed, some, says) in [
        (
            LICENCES,
            "licences = 1",
            "no part that needs 2 licences fits on a cluster of 1",
        ),
        (
            STORAGE,
            "storage_gb = 1",
            "no part that needs 2 GB of storage fits on a cluster of 1",
        ),
    ] {
        let found = parse(&format!("{needed}[local]\n{some}\n")).expect("it runs");
        let warnings = format!("{:?}", found.warnings);
        assert!(warnings.contains(says), "{warnings}");
        let enough = parse(&format!("{needed}[local]\n{}\n", some.replace('1', "2")));
        let enough = format!("{:?}", enough.expect("it runs").warnings);
        assert!(!enough.contains("fits on a cluster"), "{enough}");
    }
}
