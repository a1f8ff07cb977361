//! The scripts and styles of the pages of this program, so that a server can tell the browser to
//! run nothing else.

use super::{comparison, gantt, html, profile};

/// What stands inside the pages of this program between the tags of styles and scripts, letter by
/// letter.
#[derive(Clone, Debug)]
pub struct Inline {
    /// Between `<script>` and `</script>`.
    pub scripts: Vec<String>,
    /// Between `<style>` and `</style>`.
    pub styles: Vec<String>,
}

impl Inline {
    /// The scripts and styles of reports, comparisons and drawings of plans, and more of the
    /// caller's, which go through [`script`](super::script) and [`document`](super::document).
    #[must_use]
    pub fn with(script: &str, style: &str) -> Self {
        let scripts = [html::SCRIPT, gantt::SCRIPT, script];
        let styles = [
            &html::style(),
            &comparison::style(),
            gantt::PAGE_STYLE,
            &profile::page_style(),
            style,
        ];
        let mut styles: Vec<String> = styles.map(html::between_tags).into();
        // It stands in the drawing, not in the head of the page.
        styles.push(gantt::STYLE.to_owned());
        Self {
            scripts: scripts.map(html::between_tags).into(),
            styles,
        }
    }
}
