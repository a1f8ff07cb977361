//! The papers that `reproduce` knows, with copies of their files.

use super::paper::{CurveTrace, Paper, PaperTrace, Results, TableTrace};

macro_rules! built_in {
    ($paper:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../configs/", $paper, "/", $name, ".toml")))),*]
    };
}

const ARCHIVE: &[&str] = &["runtime", "resources"];

/// Every paper, by name.
pub const PAPERS: &[Paper] = &[BIRKENHEUER_2012, HEINE_2005, SINGH_2008, MELTZER_2005];

const BIRKENHEUER_2012: Paper = Paper {
    name: "birkenheuer2012",
    results: Results::Tables(&[
        TableTrace {
            trace: PaperTrace {
                name: "ctc",
                subject: "CTC SP2, 430 processors",
                file: Some("CTC-SP2-1996-3.1-cln.swf"),
                remark: None,
            },
            batteries: 20,
            families: ARCHIVE,
        },
        TableTrace {
            trace: PaperTrace {
                name: "hpc2n",
                subject: "HPC2N, 240 processors",
                file: Some("HPC2N-2002-2.2-cln.swf"),
                remark: None,
            },
            batteries: 20,
            families: ARCHIVE,
        },
        TableTrace {
            trace: PaperTrace {
                name: "lanl",
                subject: "LANL CM-5, 1,024 processors",
                file: Some("LANL-CM5-1994-4.1-cln.swf"),
                remark: None,
            },
            batteries: 20,
            families: ARCHIVE,
        },
        TableTrace {
            trace: PaperTrace {
                name: "sdsc-blue",
                subject: "SDSC Blue Horizon, 1,152 processors",
                file: Some("SDSC-BLUE-2000-4.2-cln.swf"),
                remark: None,
            },
            batteries: 20,
            families: ARCHIVE,
        },
        TableTrace {
            trace: PaperTrace {
                name: "sdsc-datastar",
                subject: "SDSC DataStar, 1,664 processors",
                file: Some("SDSC-DS-2004-2.1-cln.swf"),
                remark: Some(
                    "No published numbers are checked for this trace: it is kept aside for independent validation.",
                ),
            },
            batteries: 20,
            families: ARCHIVE,
        },
        TableTrace {
            trace: PaperTrace {
                name: "sdsc-sp2",
                subject: "SDSC SP2, 128 processors",
                file: Some("SDSC-SP2-1998-4.2-cln.swf"),
                remark: None,
            },
            batteries: 20,
            families: ARCHIVE,
        },
        TableTrace {
            trace: PaperTrace {
                name: "arminius",
                subject: "Arminius, 200 nodes (model workload)",
                file: None,
                remark: Some(
                    "The Arminius log is not public. These jobs come from a model fitted to its published totals, so a \
                 difference from the paper may come from the model as well as from the simulation.",
                ),
            },
            batteries: 60,
            families: &["runtime", "resources", "application", "user"],
        },
    ]),
    built_in: built_in!("birkenheuer2012":
        "ablation-ctc-battery-load",
        "ablation-ctc-binning",
        "ablation-ctc-classes",
        "ablation-ctc-cleaning",
        "ablation-ctc-condition-on-elapsed",
        "ablation-ctc-down-horizon",
        "ablation-ctc-early-start",
        "ablation-ctc-early-start-and-restart",
        "ablation-ctc-equal-thresholds",
        "ablation-ctc-failure-offset",
        "ablation-ctc-failure-rate",
        "ablation-ctc-full-length-test",
        "ablation-ctc-laxity",
        "ablation-ctc-load",
        "ablation-ctc-no-failures",
        "ablation-ctc-no-restart",
        "ablation-ctc-overrun",
        "ablation-ctc-placing",
        "ablation-ctc-replan",
        "ablation-ctc-restart",
        "ablation-ctc-survival-form",
        "ablation-ctc-time-step",
        "ablation-hpc2n-down-horizon",
        "ablation-hpc2n-failure-offset",
        "ablation-hpc2n-no-restart",
        "ablation-hpc2n-processors",
        "ablation-hpc2n-restart",
        "ablation-lanl-cleaning",
        "ablation-lanl-down-horizon",
        "ablation-lanl-failure-offset",
        "ablation-lanl-no-restart",
        "ablation-lanl-overrun",
        "ablation-lanl-processors",
        "ablation-lanl-restart",
        "ablation-sdsc-blue-no-restart",
        "ablation-sdsc-blue-processors",
        "ablation-sdsc-sp2-no-restart",
        "arminius-pof",
        "arminius-risk",
        "ctc-pof",
        "ctc-risk",
        "hpc2n-pof",
        "hpc2n-risk",
        "lanl-pof",
        "lanl-risk",
        "explanations",
        "published",
        "sdsc-blue-pof",
        "sdsc-blue-risk",
        "sdsc-datastar-pof",
        "sdsc-datastar-risk",
        "sdsc-sp2-pof",
        "sdsc-sp2-risk",
    ),
};

const CTC: PaperTrace = PaperTrace {
    name: "ctc",
    subject: "CTC SP2, 430 processors",
    file: Some("CTC-SP2-1996-3.1-cln.swf"),
    remark: None,
};

const HEINE_2005: Paper = Paper {
    name: "heine2005",
    results: Results::Curves(&[CurveTrace {
        trace: CTC,
        stems: &["ctc"],
    }]),
    built_in: built_in!("heine2005":
        "ctc",
        "ctc-backfilling",
        "ctc-cleaning",
        "ctc-displacement",
        "ctc-guard",
        "ctc-keep",
        "ctc-only-overlapping",
        "ctc-order",
        "ctc-request-first",
        "explanations",
        "findings",
    ),
};

const SINGH_2008: Paper = Paper {
    name: "singh2008",
    results: Results::Curves(&[
        CurveTrace {
            trace: CTC,
            stems: &[
                "ctc-price-load",
                "ctc-slots-exact",
                "ctc-slots-exact-merged",
                "ctc-slots-recorded",
                "ctc-price-share",
                "ctc-price-half",
                "ctc-price-backfilling",
                "ctc-price-estimates",
                "ctc-virtual",
            ],
        },
        CurveTrace {
            trace: PaperTrace {
                name: "sdsc-sp2",
                subject: "SDSC SP2, 128 processors",
                file: Some("SDSC-SP2-1998-4.2-cln.swf"),
                remark: None,
            },
            stems: &[
                "sdsc-sp2-price-load",
                "sdsc-sp2-slots-exact",
                "sdsc-sp2-slots-exact-merged",
                "sdsc-sp2-slots-recorded",
                "sdsc-sp2-price-share",
                "sdsc-sp2-price-half",
                "sdsc-sp2-price-backfilling",
                "sdsc-sp2-price-estimates",
                "sdsc-sp2-virtual",
            ],
        },
    ]),
    built_in: built_in!("singh2008":
        "ctc-price-backfilling",
        "ctc-price-estimates",
        "ctc-price-half",
        "ctc-price-load",
        "ctc-price-load-calibrated",
        "ctc-price-share",
        "ctc-price-whole",
        "ctc-slots-exact",
        "ctc-slots-exact-merged",
        "ctc-slots-exact-plan",
        "ctc-slots-recorded",
        "ctc-virtual",
        "ctc-virtual-beyond",
        "ctc-virtual-played",
        "explanations",
        "findings",
        "sdsc-sp2-price-backfilling",
        "sdsc-sp2-price-estimates",
        "sdsc-sp2-price-half",
        "sdsc-sp2-price-load",
        "sdsc-sp2-price-load-calibrated",
        "sdsc-sp2-price-share",
        "sdsc-sp2-price-whole",
        "sdsc-sp2-slots-exact",
        "sdsc-sp2-slots-exact-merged",
        "sdsc-sp2-slots-exact-plan",
        "sdsc-sp2-slots-recorded",
        "sdsc-sp2-virtual",
        "sdsc-sp2-virtual-beyond",
        "sdsc-sp2-virtual-played",
    ),
};

const KEPT_ASIDE: &str = "The numbers of series 3 of Table 17 and of Table 20 are kept aside for independent validation: what was measured is shown \
     and nothing is judged.";

const MELTZER_2005: Paper = Paper {
    name: "meltzer2005",
    results: Results::Curves(&[
        CurveTrace {
            trace: PaperTrace {
                name: "fingerprint",
                subject: "SDSC Blue Horizon, seven excerpts chosen by fingerprint, 1,160 CPUs each",
                file: Some("SDSC-BLUE-2000-4.2-cln.swf"),
                remark: Some(KEPT_ASIDE),
            },
            stems: &[
                "fingerprint-e0",
                "fingerprint-e1",
                "fingerprint-e2",
                "fingerprint-e3",
                "fingerprint-e4",
                "fingerprint-e5",
                "fingerprint-e6",
                "fingerprint-e7",
            ],
        },
        CurveTrace {
            trace: PaperTrace {
                name: "drawn",
                subject: "SDSC Blue Horizon, excerpts drawn for each replication, 1,160 CPUs each",
                file: Some("SDSC-BLUE-2000-4.2-cln.swf"),
                remark: Some(
                    "The thesis never had these excerpts: the card says how far its statements and numbers depend on its own.",
                ),
            },
            stems: &[
                "drawn-e0", "drawn-e1", "drawn-e2", "drawn-e3", "drawn-e4", "drawn-e5", "drawn-e6",
                "drawn-e7",
            ],
        },
    ]),
    built_in: built_in!("meltzer2005":
        "drawn-e0",
        "drawn-e1",
        "drawn-e2",
        "drawn-e3",
        "drawn-e4",
        "drawn-e5",
        "drawn-e6",
        "drawn-e7",
        "explanations",
        "findings",
        "fingerprint-accuracy",
        "fingerprint-backlog",
        "fingerprint-e0",
        "fingerprint-e1",
        "fingerprint-e2",
        "fingerprint-e3",
        "fingerprint-e4",
        "fingerprint-e5",
        "fingerprint-e6",
        "fingerprint-e7",
        "fingerprint-event",
        "fingerprint-factor",
        "fingerprint-hours",
        "fingerprint-latency",
        "fingerprint-load",
        "fingerprint-merging",
        "fingerprint-nodes",
        "fingerprint-starts",
        "fingerprint-tariff",
        "fingerprint-tolerance",
        "fingerprint-visible",
    ),
};
