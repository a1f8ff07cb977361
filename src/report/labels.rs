//! Words of a report that its reader writes in another way: in the figures of a paper and in its
//! tables as LaTeX. Pages, and files for programs, keep theirs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::figure::{Figure, Scale, ScaleKind};
use super::table::{Cell, Table};
use bookahead_lab::keys::nearest;

/// What to write in place of titles, headings, names of axes and names in legends and cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    file: PathBuf,
    words: BTreeMap<String, String>,
}

/// Why labels cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// The file cannot be read.
    #[error("it cannot be read: {0}")]
    File(String),
    /// The file is no TOML.
    #[error("it is no TOML: {0}")]
    Toml(String),
    /// It has something else than a table of texts.
    #[error(
        "{0}; a file of labels has one table `[labels]` with a text for a text, as in \"Gain (VC)\" = \"Gain (coins)\""
    )]
    Shape(String),
    /// A label stands nowhere in the report.
    #[error("no figure and no table of the report has `{label}`{near}")]
    Unknown {
        /// What stands nowhere.
        label: String,
        /// What it may have been meant for, as the end of a sentence.
        near: String,
    },
}

impl Labels {
    /// Those of a file with this text.
    ///
    /// # Errors
    ///
    /// When it has something else than one table of texts.
    pub fn new(file: &Path, text: &str) -> Result<Self, LabelError> {
        let read: toml::Table =
            (text.parse()).map_err(|error: toml::de::Error| LabelError::Toml(error.to_string()))?;
        if let Some(key) = read.keys().find(|key| *key != "labels") {
            return Err(LabelError::Shape(format!("`{key}` is unknown")));
        }
        let Some(toml::Value::Table(labels)) = read.get("labels") else {
            return Err(LabelError::Shape("there is no table `[labels]`".to_owned()));
        };
        let labels = labels.iter().map(|(label, text)| match text.as_str() {
            Some(text) => Ok((label.clone(), text.to_owned())),
            None => Err(LabelError::Shape(format!("`{label}` is given no text"))),
        });
        Ok(Self {
            file: file.to_owned(),
            words: labels.collect::<Result<_, _>>()?,
        })
    }

    /// The file that they are read from.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Whether every label stands somewhere in these figures and tables.
    ///
    /// # Errors
    ///
    /// For the first that does not.
    pub(super) fn check<'c>(
        &self,
        figures: &'c [Figure],
        tables: impl Iterator<Item = &'c Table>,
    ) -> Result<(), LabelError> {
        if self.words.is_empty() {
            return Ok(());
        }
        let mut known: BTreeSet<&str> = figures.iter().flat_map(of_figure).collect();
        known.extend(tables.flat_map(of_table));
        let Some(label) = self
            .words
            .keys()
            .find(|label| !known.contains(label.as_str()))
        else {
            return Ok(());
        };
        let known: Vec<&str> = known.into_iter().collect();
        let near = nearest(label, &known).map_or_else(
            || "; write it as it stands there".to_owned(),
            |near| format!("; did you mean `{near}`?"),
        );
        Err(LabelError::Unknown {
            label: label.clone(),
            near,
        })
    }

    /// A figure with these labels.
    pub(super) fn figure<'f>(&self, figure: &'f Figure) -> Cow<'f, Figure> {
        if self.words.is_empty() {
            return Cow::Borrowed(figure);
        }
        let mut labelled = figure.clone();
        self.replace(&mut labelled.title);
        for scale in [&mut labelled.x, &mut labelled.y] {
            self.replace(&mut scale.title);
            if let ScaleKind::Categories(names) = &mut scale.kind {
                names.iter_mut().for_each(|name| self.replace(name));
            }
        }
        for series in &mut labelled.series {
            self.replace(&mut series.label);
        }
        Cow::Owned(labelled)
    }

    /// A table with these labels.
    pub(super) fn table<'t>(&self, table: &'t Table) -> Cow<'t, Table> {
        if self.words.is_empty() {
            return Cow::Borrowed(table);
        }
        let mut labelled = table.clone();
        self.replace(&mut labelled.title);
        for column in &mut labelled.columns {
            self.replace(&mut column.title);
        }
        for cell in labelled.rows.iter_mut().flatten() {
            if let Cell::Text(text) = cell {
                self.replace(text);
            }
        }
        Cow::Owned(labelled)
    }

    fn replace(&self, text: &mut String) {
        if let Some(label) = self.words.get(text) {
            text.clone_from(label);
        }
    }
}

fn of_figure(figure: &Figure) -> impl Iterator<Item = &str> {
    let scales = [&figure.x, &figure.y].into_iter().flat_map(of_scale);
    let series = figure.series.iter().map(|series| series.label.as_str());
    [figure.title.as_str()]
        .into_iter()
        .chain(scales)
        .chain(series)
}

fn of_scale(scale: &Scale) -> impl Iterator<Item = &str> {
    let names = match &scale.kind {
        ScaleKind::Categories(names) => names.as_slice(),
        ScaleKind::Linear | ScaleKind::Logarithmic => &[],
    };
    [scale.title.as_str()]
        .into_iter()
        .chain(names.iter().map(String::as_str))
}

fn of_table(table: &Table) -> impl Iterator<Item = &str> {
    let titles = table.columns.iter().map(|column| column.title.as_str());
    let cells = table.rows.iter().flatten().filter_map(|cell| match cell {
        Cell::Text(text) => Some(text.as_str()),
        _ => None,
    });
    [table.title.as_str()]
        .into_iter()
        .chain(titles)
        .chain(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_labels_is_one_table_of_texts() {
        let read = |text: &str| Labels::new(Path::new("labels.toml"), text);
        let labels = read("[labels]\n\"Gain (VC)\" = \"Gain\"\n").expect("labels");
        let mut text = "Gain (VC)".to_owned();
        labels.replace(&mut text);
        assert_eq!(text, "Gain");
        let refused = |text: &str| read(text).expect_err("no labels").to_string();
        assert!(refused("[labels]\n\"a\" = 3\n").starts_with("`a` is given no text; "));
        assert!(refused("").starts_with("there is no table `[labels]`; "));
        assert!(refused("[labels]\n[more]\n").starts_with("`more` is unknown; "));
        assert!(refused("[labels").starts_with("it is no TOML: "));
    }
}
