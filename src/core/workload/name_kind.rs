//! What names in logs stand for.

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A user: field 12.
    User,
    /// A group or account: field 13.
    Group,
    /// A queue or quality of service: field 15.
    Queue,
    /// A partition: field 16.
    Partition,
}

impl NameKind {
    /// All kinds with their names.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::User, "user"),
        (Self::Group, "group"),
        (Self::Queue, "queue"),
        (Self::Partition, "partition"),
    ];
}
