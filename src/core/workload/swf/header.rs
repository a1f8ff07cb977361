//! The comment lines of a trace: what the data is, how large its machine, and whom to acknowledge.

/// The comment lines of a trace in their order, raw, with look-up of `Key: value`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwfHeader {
    /// The lines as they stand, each with its leading `;`, without line ends.
    pub lines: Vec<String>,
}

impl SwfHeader {
    /// The note of a trace whose processors are nodes.
    pub const COUNTS_NODES: &'static str = "processors in this file are nodes";

    /// The first value of `key`, continuation lines joined by a space.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<String> {
        self.all(key).into_iter().next()
    }

    /// Every value of `key` in the order of the file. A line that is indented by two blanks or more
    /// continues the value above it, as the archive writes long values.
    #[must_use]
    pub fn all(&self, key: &str) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        let mut inside = false;
        for line in &self.lines {
            let text = line.trim_start().trim_start_matches(';');
            let indent = text.len() - text.trim_start().len();
            if indent >= 2 && !text.trim().is_empty() {
                if let Some(value) = values.last_mut().filter(|_| inside) {
                    value.push(' ');
                    value.push_str(text.trim());
                }
                continue;
            }
            inside = text
                .trim()
                .split_once(':')
                .is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case(key));
            if let Some((_, value)) = text.trim().split_once(':').filter(|_| inside) {
                values.push(value.trim().to_owned());
            }
        }
        values
    }

    /// The leading whole number of the first value of `key`: `338 (batch partition; 512 total)`
    /// is 338.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<i64> {
        let value = self.get(key)?;
        let end = value
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(value.len());
        value[..end].parse().ok()
    }

    /// `MaxProcs`: the number of processors of the machine.
    #[must_use]
    pub fn max_procs(&self) -> Option<u32> {
        self.number("MaxProcs")
            .and_then(|number| u32::try_from(number).ok())
    }

    /// `MaxNodes`: the number of nodes of the machine; in the archive a node may have several
    /// processors.
    #[must_use]
    pub fn max_nodes(&self) -> Option<u32> {
        self.number("MaxNodes")
            .and_then(|number| u32::try_from(number).ok())
    }

    /// The size of the machine that the log was recorded on, in what its jobs are counted in:
    /// `MaxProcs`, else `MaxNodes`.
    #[must_use]
    pub fn machine(&self) -> Option<u32> {
        let is_size = |size: &u32| *size > 0;
        let processors = self.max_procs().filter(is_size);
        processors.or_else(|| self.max_nodes().filter(is_size))
    }

    /// Whether it says that its processors are nodes, as logs of machines are imported whose nodes
    /// are not shared.
    #[must_use]
    pub fn counts_nodes(&self) -> bool {
        let mut notes = self.all("Note").into_iter();
        notes.any(|note| note == Self::COUNTS_NODES)
    }

    /// `UnixStartTime`: the moment of submit time 0, in seconds since 1970.
    #[must_use]
    pub fn unix_start_time(&self) -> Option<i64> {
        self.number("UnixStartTime")
    }

    /// Whom to acknowledge, and under which terms: the values of `Acknowledge` and `Copyright`.
    #[must_use]
    pub fn acknowledgement(&self) -> Option<String> {
        let mut values = self.all("Acknowledge");
        values.extend(self.all("Copyright"));
        (!values.is_empty()).then(|| values.join("; "))
    }

    /// Says that the machine has so many processors. Lines that said otherwise are kept under
    /// `SourceMaxProcs`.
    pub fn set_max_procs(&mut self, processors: u32) {
        if self.max_procs() == Some(processors) {
            return;
        }
        let says = |line: &String| {
            let text = line.trim_start().trim_start_matches(';').trim_start();
            text.split_once(':')
                .is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("MaxProcs"))
        };
        let place = self.lines.iter().position(says);
        for line in self.lines.iter_mut().filter(|line| says(line)) {
            let value = line.split_once(':').map_or("", |(_, value)| value);
            *line = format!("; SourceMaxProcs:{value}");
        }
        self.lines.insert(
            place.unwrap_or(self.lines.len()),
            format!("; MaxProcs: {processors}"),
        );
    }

    /// Appends a `; Note:` line, for what was derived from the trace. Line breaks in `text` become
    /// blanks.
    pub fn note(&mut self, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.lines.push(format!("; Note: {text}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> SwfHeader {
        SwfHeader {
            lines: text.lines().map(str::to_owned).collect(),
        }
    }

    #[test]
    fn a_machine_of_another_size_is_said_and_what_the_source_said_is_kept() {
        let mut larger = header("; Version: 2\n;MaxProcs: 430 (all)\n; MaxNodes: 215");
        larger.set_max_procs(64);
        assert_eq!(larger.max_procs(), Some(64));
        assert_eq!(
            larger.lines,
            [
                "; Version: 2",
                "; MaxProcs: 64",
                "; SourceMaxProcs: 430 (all)",
                "; MaxNodes: 215"
            ]
        );
        let unchanged = larger.clone();
        larger.set_max_procs(64);
        assert_eq!(larger, unchanged);
        let mut none = header("");
        none.set_max_procs(8);
        assert_eq!(none.max_procs(), Some(8));
    }

    #[test]
    fn values_are_found_with_their_continuation_lines() {
        let header = header(
            "; Version: 2.2\n; Acknowledge: Dan Dwyer and Steve Hotovy\n; Information: http://www.tc.cornell.edu/\n\
             ;              http://www.cs.huji.ac.il/labs/parallel/workload/\n\
             ; MaxNodes: 338 (batch partition; 512 total)\n; MaxProcs: 338\n;\n; UnixStartTime: 835823160",
        );
        assert_eq!(header.get("version").as_deref(), Some("2.2"));
        assert_eq!(
            header.get("Information").as_deref(),
            Some("http://www.tc.cornell.edu/ http://www.cs.huji.ac.il/labs/parallel/workload/")
        );
        assert_eq!(header.max_nodes(), Some(338));
        assert_eq!(header.max_procs(), Some(338));
        assert_eq!(header.machine(), Some(338));
        assert_eq!(header.unix_start_time(), Some(835_823_160));
        assert_eq!(
            header.acknowledgement().as_deref(),
            Some("Dan Dwyer and Steve Hotovy")
        );
        assert_eq!(header.get("Preemption"), None);
    }

    #[test]
    fn a_copyright_notice_belongs_to_the_acknowledgement() {
        let header = header(
            "; Acknowledge: Victor Hazlewood\n; Copyright: Data Usage Agreement:\n;   for research",
        );
        assert_eq!(
            header.acknowledgement().as_deref(),
            Some("Victor Hazlewood; Data Usage Agreement: for research")
        );
    }
}
