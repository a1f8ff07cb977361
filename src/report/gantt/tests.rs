//! What the drawing of a plan looks like.

use super::STYLE;

/// A rule for all rectangles of the field took the outlines of promised slots away.
#[test]
fn no_rule_of_the_style_is_for_rectangles_of_every_kind() {
    assert!(STYLE.contains(".gantt .promise{fill:none;stroke:#24292f"));
    assert!(!STYLE.contains("rect"), "{STYLE}");
}
