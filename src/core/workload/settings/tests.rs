//! What settings of workloads are called.

use super::*;
use crate::workload::WhichEstimate;

#[test]
fn the_key_names_the_log_and_everything_that_shapes_its_jobs() {
    let log = WorkloadSource::Trace {
        file: "logs/CTC-SP2-1996-3.1-cln.swf.gz".to_owned(),
    };
    let settings = WorkloadSettings {
        evaluation_jobs: 20_000,
        battery_jobs: 1_000,
        compression: Compression::Factor { factor: 0.15 },
        ..WorkloadSettings::of(log, Nodes(430))
    };
    assert_eq!(
        settings.key(),
        "trace=CTC-SP2-1996-3.1-cln;nodes=430;evaluation=20000;battery=1000;processors=allocated;\
         zero-runtime=drop;overruns=keep;cancelled=keep;compression=factor:0.15;laxity=2"
    );
    let elsewhere = WorkloadSettings {
        source: WorkloadSource::Trace {
            file: "CTC-SP2-1996-3.1-cln.swf".to_owned(),
        },
        ..settings.clone()
    };
    assert_eq!(elsewhere.key(), settings.key());
    let tightness = Some(Tightness {
        load: WhichEstimate::Recorded,
        ..Tightness::of(0.25)
    });
    let tighter = WorkloadSettings {
        tightness,
        ..settings.clone()
    };
    assert_eq!(
        tighter.key(),
        format!("{};tightness=0.25,load:recorded", settings.key())
    );
}
