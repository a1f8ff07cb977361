//! Keys of a machine as its operators configure it.

use bookahead_lab::keys::declaration::{Given, integer_within, one_of, real, text};
use bookahead_lab::{section, tables};

tables! {
    machine: RawMachineQueue = MACHINE,
}

section! {
    /// The machine as its operators configure it.
    MACHINE = "machine", RawMachineQueue {
        /// The machine file.
        file: Given<String> = text("the path of a machine file or `slurm.conf`"),
        /// The machine in the experiment itself.
        text: Given<String> = text("the text of a machine file, in the place of `file`"),
        /// What the numbers of the trace are called.
        names: Given<String> = text("the path of a list of names, as `bookahead trace import --names` writes it (default: those of the trace's header)"),
        /// The nodes of one reservation more, at a second that each replication draws.
        added_nodes: Given<u32> = integer_within(1, 1_000_000)
            .note(": nodes of one reservation that is added at a drawn second (default: none is added)"),
        /// How long it is.
        added_hours: Given<f64> = real().above(0.0)
            .note(" hours that it takes, up to 1,000")
            .default_is("4"),
        /// Which of the nodes that are open to a job it gets.
        nodes_by: Given<String> = one_of(|| vec!["number", "switch", "contiguous", "buddy"])
            .note(": the first, those below few switches, nodes in a row, or a row that begins at a multiple of a power of two")
            .default_is("number"),
        /// How many nodes, in the order of the classes, are below one switch.
        nodes_per_switch: Given<u32> = integer_within(1, 1_000_000)
            .words("1 or more nodes (default: all nodes are below one switch)"),
        /// How much longer a job runs whose nodes are below several switches.
        crossing_slowdown: Given<f64> = real().from(0.0).to(10.0)
            .note(" of its run time; nobody plans with it")
            .default_is("0"),
    }
}
