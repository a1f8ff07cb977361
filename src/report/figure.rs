//! A figure before it is drawn: named data, so that its SVG file, its CSV file and the page show
//! the same.

use crate::PublishedNumber;

/// One picture of a report with everything that is needed to draw it, to read it, and to get its
/// numbers again.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Name of its files, without extension; unique within a report.
    pub name: String,
    /// Which part of the report it belongs to.
    pub section: Section,
    /// Its heading.
    pub title: String,
    /// What the other axes are fixed at, `(key, value)`: what the filter of the page looks at.
    /// Empty where all are folded.
    pub given: Vec<(String, String)>,
    /// The horizontal scale.
    pub x: Scale,
    /// The vertical scale.
    pub y: Scale,
    /// What is drawn, in the order of the legend.
    pub series: Vec<Series>,
    /// What a reader must know; shown below it.
    pub note: String,
    /// The query that gives its numbers.
    pub sql: String,
}

/// Which kinds of published numbers a figure has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishedKinds {
    /// Values.
    pub values: bool,
    /// Bounds.
    pub bounds: bool,
}

impl Figure {
    /// Whether it shows the same over the same axis as another one, in any situation.
    #[must_use]
    pub fn is_of_quantity_of(&self, other: &Self) -> bool {
        self.section == other.section && self.y == other.y && self.x.title == other.x.title
    }

    /// Which kinds of published numbers it has.
    #[must_use]
    pub fn published(&self) -> PublishedKinds {
        let mut kinds = PublishedKinds::default();
        for mark in self.series.iter().flat_map(|series| &series.published) {
            match mark.number {
                PublishedNumber::Value { .. } => kinds.values = true,
                PublishedNumber::AtMost(_) | PublishedNumber::AtLeast(_) => kinds.bounds = true,
            }
        }
        kinds
    }
}

/// The parts of a report that have figures, in their order on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// What axes and pairs of axes explain.
    Axes,
    /// Gain, fees, penalties.
    Money,
    /// Accepted, successful, failed, dropped jobs; rejection rate.
    Jobs,
    /// Requests for reservations: granted and refused.
    Reservations,
    /// Workflows that buy their resources.
    Workflows,
    /// What their plans met when they were carried out.
    CarriedOut,
    /// Requests for co-reservations: granted and refused, offsets, cost.
    CoReservations,
    /// What co-reservations do to local jobs.
    Fairness,
    /// Parts of co-reservations that clusters lost.
    LostParts,
    /// Promised risk of co-reservations, and what it cost.
    Risk,
    /// What a broker and its clusters say to each other.
    Messages,
    /// Clusters beside each other.
    Clusters,
    /// What happened over the time of one simulation.
    OverTime,
    /// What reservations cost others.
    Prices,
    /// Utilisation of the machine.
    Machine,
    /// Mean waits and slowdowns.
    Waits,
    /// Advertised slots.
    Slots,
    /// Virtual against real reservations.
    Virtual,
    /// Predicted against realised waits.
    Predictions,
    /// Distributions of waits and slowdowns.
    Distributions,
    /// Predicted against realised failures.
    Calibration,
}

impl Section {
    /// Its heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Axes => "Which axis matters",
            Self::Money => "Gain, fees and penalties",
            Self::Jobs => "Jobs",
            Self::Reservations => "Reservations",
            Self::Workflows => "Workflows",
            Self::CarriedOut => "Plans carried out",
            Self::CoReservations => "Co-reservations",
            Self::Fairness => "Fairness",
            Self::LostParts => "Lost parts",
            Self::Risk => "Risk",
            Self::Messages => "Messages",
            Self::Clusters => "Clusters",
            Self::OverTime => "Over time",
            Self::Prices => "Prices",
            Self::Machine => "Utilisation",
            Self::Waits => "Waits and slowdowns",
            Self::Slots => "Slots",
            Self::Virtual => "Virtual reservations",
            Self::Predictions => "Predictions",
            Self::Distributions => "Distributions",
            Self::Calibration => "Do predictions come true?",
        }
    }
}

/// A scale of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// What it shows, with the unit: "mean wait (s)".
    pub title: String,
    /// How values are laid out.
    pub kind: ScaleKind,
}

impl Scale {
    /// A scale in proportion.
    pub fn linear(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            kind: ScaleKind::Linear,
        }
    }

    /// A scale by magnitude.
    pub fn logarithmic(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            kind: ScaleKind::Logarithmic,
        }
    }

    /// One place a name.
    pub fn categories(title: impl Into<String>, names: impl Iterator<Item = String>) -> Self {
        Self {
            title: title.into(),
            kind: ScaleKind::Categories(names.collect()),
        }
    }
}

/// How values are laid out on a scale.
#[derive(Clone, Debug, PartialEq)]
pub enum ScaleKind {
    /// In proportion.
    Linear,
    /// By magnitude; values of 0 or less are drawn at the lower end.
    Logarithmic,
    /// One place a name; the values of marks are indices, from 0.
    Categories(Vec<String>),
}

/// Marks that belong together: one strategy, usually.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// Decides its colour: the place of its strategy in the registry, so that a strategy has one
    /// colour in all figures.
    pub rank: usize,
    /// Its marks.
    pub marks: Marks,
    /// The series that its marks are compared with ([`Mark::paired`]).
    pub reference: Option<String>,
    /// What a paper published of it.
    pub published: Vec<PublishedMark>,
    /// How its values change along it; `None` where the design of the run does not tell.
    pub course: Option<Course>,
}

/// How the values of a line change from its first place to its last.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// The values of the axes that tell the line from the others of its figure, `(key, value)`.
    pub of: Vec<(String, String)>,
    /// What they do.
    pub change: Change,
    /// Where a line that peaks or dips has its highest or lowest value; `None` of any other.
    pub turn: Option<f64>,
}

/// What the values of a line do from its first place to its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The last one is higher than the first, and none between them beyond both.
    Rises,
    /// The last one is lower than the first, and none between them beyond both.
    Falls,
    /// One between them is higher than both.
    Peaks,
    /// One between them is lower than both.
    Dips,
    /// No such difference is significant.
    Level,
}

impl Series {
    /// A series with its name, what decides its colour, and its marks.
    pub fn new(label: impl Into<String>, rank: usize, marks: Marks) -> Self {
        Self {
            label: label.into(),
            rank,
            marks,
            reference: None,
            published: Vec::new(),
            course: None,
        }
    }
}

/// The marks of a series.
#[derive(Clone, Debug, PartialEq)]
pub enum Marks {
    /// A line through means, with a band where there are intervals. In order of x.
    Curve(Vec<Mark>),
    /// A line through means, with a bar each for the spread. In order of x.
    Whiskers(Vec<Mark>),
    /// Stairs through values that no other beats in both: what can be had at most at a place. In
    /// order of x.
    Front(Vec<Mark>),
    /// Rings around values, each with a name beside it.
    Named(Vec<(Mark, String)>),
    /// Points with an interval each, not joined (calibration).
    Points(Vec<Mark>),
    /// A step function `(x, share of values at or below x)`, in order of x (ECDF).
    Steps(Vec<(f64, f64)>),
    /// Boxes.
    Boxes(Vec<BoxMark>),
    /// Bars from zero with an interval each.
    Bars(Vec<Mark>),
    /// Cells of a heat map, over two scales of categories.
    Cells(Vec<HeatCell>),
}

impl Marks {
    /// Over how many replications each mean is, where all are over as many.
    pub(super) fn common_count(&self) -> Option<u64> {
        let (Self::Curve(marks)
        | Self::Whiskers(marks)
        | Self::Front(marks)
        | Self::Points(marks)
        | Self::Bars(marks)) = self
        else {
            return None;
        };
        let count = marks.first()?.count;
        marks
            .iter()
            .all(|mark| mark.count == count)
            .then_some(count)
    }
}

/// A cell of a heat map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatCell {
    /// Its column and its value.
    pub mark: Mark,
    /// Its place on the vertical scale.
    pub row: f64,
    /// How it stands beside those that it is compared with.
    pub standing: Standing,
    /// Whether the value is significantly more than the baseline's, or less; `None` where it is
    /// neither.
    pub surplus: Option<Sign>,
}

/// How a cell of a heat map stands beside the best of those that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is the best.
    Best,
    /// It is not significantly worse.
    NotWorse,
    /// It is significantly worse, or that cannot be said.
    Other,
}

/// Whether a difference is above 0 or below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Above.
    Plus,
    /// Below.
    Minus,
}

/// A mean at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Place on the horizontal scale.
    pub x: f64,
    /// The value.
    pub mean: f64,
    /// Lower end of its 95 % interval, or one standard deviation below the mean; the mean itself
    /// where there is none.
    pub low: f64,
    /// Upper end of its 95 % interval, or one standard deviation above the mean; the mean itself
    /// where there is none.
    pub high: f64,
    /// Its 95 % interval where the other ends are one standard deviation from the mean.
    pub interval: Option<(f64, f64)>,
    /// How many values it is made of: replications, or jobs.
    pub count: u64,
    /// How much more it is than the mark of the reference series at the same place, replication by
    /// replication.
    pub paired: Option<Paired>,
}

impl Mark {
    /// A value without an interval.
    #[must_use]
    pub fn value(x: f64, value: f64, count: u64) -> Self {
        Self {
            x,
            mean: value,
            low: value,
            high: value,
            interval: None,
            count,
            paired: None,
        }
    }

    /// The ends of its 95 % interval, whatever is drawn; the mean twice where there is none.
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        self.interval.unwrap_or((self.low, self.high))
    }
}

/// A mean difference over the replications that two settings share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// The mean difference.
    pub mean: f64,
    /// Ends of its 95 % interval; `None` with a single replication.
    pub interval: Option<(f64, f64)>,
}

/// A published number beside the marks of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedMark {
    /// Place on the horizontal scale.
    pub x: f64,
    /// Where it was published of all places of the series: the last of them.
    pub until: Option<f64>,
    /// The number, on the vertical scale.
    pub number: PublishedNumber,
    /// The finding that it is of.
    pub id: String,
}

/// Five quantiles of a distribution at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxMark {
    /// Place on the horizontal scale.
    pub x: f64,
    /// The quantiles at 5, 25, 50, 75 and 95 %.
    pub quantiles: [f64; 5],
    /// The mean.
    pub mean: f64,
    /// How many values it is made of.
    pub count: u64,
}
