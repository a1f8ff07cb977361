//! Published workflow files: the Pegasus gallery, the floodplain workflow, the ten tasks of the
//! HEFT paper.

use std::path::PathBuf;

use bookahead_core::memory::MemoryBudget;

use bookahead::workload::workflows::{
    Negatives, Network, Workflow, critical_path_seconds, heft, read_workflow, summarise_workflow,
};

/// The folder `dax` of the workflows, or a message that there is none.
fn folder() -> Option<PathBuf> {
    let folder =
        std::env::var_os("BOOKAHEAD_WORKFLOWS").map(|root| PathBuf::from(root).join("dax"));
    if folder.is_none() {
        println!("skipped: needs the folder of workflows that BOOKAHEAD_WORKFLOWS names");
    }
    folder
}

fn read(folder: &std::path::Path, file: &str) -> Workflow {
    read_workflow(&folder.join(file), Negatives::Zero, MemoryBudget::UNLIMITED)
        .unwrap_or_else(|error| panic!("{error}"))
        .workflow
}

/// File, tasks, edges, depth, width.
const FILES: [(&str, usize, usize, usize, usize); 21] = [
    ("CyberShake_100.xml", 100, 180, 4, 46),
    ("CyberShake_1000.xml", 1000, 1988, 4, 498),
    ("CyberShake_30.xml", 30, 52, 4, 14),
    ("CyberShake_50.xml", 50, 88, 4, 23),
    ("Epigenomics_100.xml", 100, 122, 8, 24),
    ("Epigenomics_24.xml", 24, 27, 8, 5),
    ("Epigenomics_46.xml", 47, 54, 9, 10),
    ("Epigenomics_997.xml", 997, 1234, 9, 245),
    ("HEFT_paper.xml", 10, 15, 4, 5),
    ("Inspiral_100.xml", 100, 119, 6, 24),
    ("Inspiral_1000.xml", 1000, 1233, 6, 251),
    ("Inspiral_30.xml", 30, 35, 6, 7),
    ("Inspiral_50.xml", 50, 60, 6, 12),
    ("Montage_100.xml", 100, 233, 9, 62),
    ("Montage_1000.xml", 1000, 2485, 9, 662),
    ("Montage_25.xml", 25, 45, 9, 9),
    ("Montage_50.xml", 50, 106, 9, 28),
    ("Sipht_100.xml", 97, 109, 5, 73),
    ("Sipht_30.xml", 29, 33, 5, 21),
    ("Sipht_60.xml", 58, 66, 5, 42),
    ("floodplain.xml", 7, 10, 4, 2),
];

#[test]
fn every_published_workflow_is_read_and_has_its_shape() {
    let Some(folder) = folder() else { return };
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder of workflows")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.ends_with(".xml"))
        .collect();
    names.sort();
    assert_eq!(names, FILES.map(|row| row.0));
    for (file, tasks, edges, depth, width) in FILES {
        let read = read_workflow(&folder.join(file), Negatives::Zero, MemoryBudget::UNLIMITED)
            .unwrap_or_else(|error| panic!("{error}"));
        let summary = summarise_workflow(&read.workflow, &Network::default());
        assert_eq!(
            (summary.tasks, summary.edges, summary.depth, summary.width),
            (tasks, edges, depth, width),
            "{file}"
        );
        assert!(summary.critical_path_seconds <= summary.critical_path_with_transfers_seconds);
        assert!(summary.critical_path_seconds <= summary.work_processor_seconds + 1e-6);
        // What the files say that cannot be: counted with another program.
        let (run_times, sizes) = if file == "Epigenomics_997.xml" {
            (57, 209)
        } else {
            (0, 0)
        };
        let undeclared = match file {
            "Inspiral_1000.xml" => 29,
            "Sipht_60.xml" => 32,
            "Sipht_100.xml" => 96,
            _ => 0,
        };
        assert_eq!(
            (
                read.notes.negative_run_times,
                read.notes.negative_sizes,
                read.notes.undeclared_transfers
            ),
            (run_times, sizes, undeclared),
            "{file}"
        );
    }
}

#[test]
fn negative_run_times_can_be_refused() {
    let Some(folder) = folder() else { return };
    let error = read_workflow(
        &folder.join("Epigenomics_997.xml"),
        Negatives::Refuse,
        MemoryBudget::UNLIMITED,
    )
    .expect_err("negative run times")
    .to_string();
    assert!(error.contains("Epigenomics_997.xml:"), "{error}");
    assert!(error.contains("`-"), "{error}");
}

#[test]
fn the_floodplain_workflow_has_wide_tasks() {
    let Some(folder) = folder() else { return };
    let summary = summarise_workflow(&read(&folder, "floodplain.xml"), &Network::default());
    assert_eq!(summary.widest_task_processors, 256);
    // Adcirc 256 and WaveWatchIII 256 side by side.
    assert_eq!(summary.width_processors, 512);
    // Adcirc, SWAN Outer North, SWAN Inner North, Adcirc.
    assert_eq!(
        summary.critical_path_seconds,
        39_600.0 + 46_800.0 + 14_400.0 + 16_200.0
    );
}

#[test]
fn the_file_of_the_heft_paper_with_the_costs_of_its_three_processors_ends_after_80() {
    let Some(folder) = folder() else { return };
    let file = read(&folder, "HEFT_paper.xml");
    // The file has the run times of the first processor; those of the other two are in Table 1 of
    // the paper only.
    let others = [
        (16.0, 9.0),
        (19.0, 18.0),
        (13.0, 19.0),
        (8.0, 17.0),
        (13.0, 10.0),
        (16.0, 9.0),
        (15.0, 11.0),
        (11.0, 14.0),
        (12.0, 20.0),
        (7.0, 16.0),
    ];
    let rows: Vec<Vec<f64>> = file
        .tasks()
        .iter()
        .zip(others)
        .map(|(task, (second, third))| vec![task.seconds, second, third])
        .collect();
    let workflow = file.with_seconds_by_resource(&rows).expect("ten rows");
    // 125 bytes are one unit of communication: at 1 kbit/s, one second.
    let network = Network {
        bandwidth_bits_per_second: 1_000.0,
        latency_seconds: 0.0,
        ..Network::default()
    };
    let schedule = heft::heft(&workflow, 3, &network).expect("a schedule");
    assert_eq!(schedule.makespan_seconds, 80.0);
    assert!((schedule.ranks[0] - 108.0).abs() < 1e-9);
    assert!((critical_path_seconds(&workflow, Some(&network)) - 108.0).abs() < 1e-9);
}
