//! Questions in SQL from outside: read only, streamed row by row, with errors that show where.

mod error;
mod value;

use rusqlite::ErrorCode;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

use super::{Store, StoreError};
use error::{LONGEST_VALUE_BYTES, MOST_MEMORY_BYTES};

pub use error::QueryError;
pub use value::SqlValue;

/// Steps of SQLite's virtual machine between two looks at whether a question is to end: some ten
/// microseconds.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;

/// The column of an axis in the view `points`.
fn axis_column(key: &str) -> String {
    key.replace('.', "_").replace('"', "\"\"")
}

/// What is put in the place of a parameter of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// `x` for `:x`, `@x` or `$x`; without a name they take the places of `?` in their order.
    pub name: Option<String>,
    /// The value.
    pub value: SqlValue,
}

/// What a question does with each row; `false` ends it.
type Take<'a> = &'a mut dyn FnMut(&[SqlValue]) -> std::io::Result<bool>;

impl Store {
    /// Ends whatever this store is asked as soon as `stop` says so: [`QueryError::Interrupted`]. It
    /// is asked again and again while a question is under way, on the thread that asks the
    /// question.
    ///
    /// # Errors
    ///
    /// When SQLite refuses, which it does not for an open store.
    pub fn stop_when(
        &mut self,
        stop: impl Fn() -> bool + Send + 'static,
    ) -> Result<(), StoreError> {
        self.connection
            .progress_handler(STEPS_BETWEEN_LOOKS, Some(stop))
            .map_err(|error| self.error("setting its limit", error))
    }

    /// Answers one question without parameters, as [`Store::query_with`] does.
    ///
    /// # Errors
    ///
    /// Those of [`Store::query_with`].
    pub fn query(
        &self,
        sql: &str,
        begin: &mut dyn FnMut(&[String]) -> std::io::Result<()>,
        take: Take<'_>,
    ) -> Result<(), QueryError> {
        self.query_with(sql, &[], begin, take)
    }

    /// Answers one question that reads: `begin` gets the names of the columns, `take` each row in
    /// turn. Nothing is held but one row.
    ///
    /// # Errors
    ///
    /// When the text is wrong, when it would write ([`QueryError::Refused`]), when it has other
    /// parameters than `parameters`, or when `begin` or `take` fail.
    pub fn query_with(
        &self,
        sql: &str,
        parameters: &[Parameter],
        begin: &mut dyn FnMut(&[String]) -> std::io::Result<()>,
        take: Take<'_>,
    ) -> Result<(), QueryError> {
        check(sql)?;
        // Where this changes, SQLite forgets all temporary views: so it comes first.
        self.connection
            .execute_batch("PRAGMA temp_store = FILE")
            .map_err(|error| self.error("asking", error))?;
        self.axis_columns()?;
        // The file is open read-only; this also refuses temporary tables and changes that a
        // function might make.
        self.connection
            .execute_batch(&format!(
                "PRAGMA query_only = ON; PRAGMA hard_heap_limit = {MOST_MEMORY_BYTES}"
            ))
            .and_then(|()| {
                self.connection
                    .set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE_BYTES)
                    .map(drop)
            })
            // A misspelt column in double quotes would be taken for a text, and the answer would be
            // wrong without a word.
            .and_then(|()| {
                self.connection
                    .set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)
            })
            .map_err(|error| self.error("asking", error))?;
        let mut statement = self
            .connection
            .prepare(sql)
            .map_err(|error| self.query_error(sql, error))?;
        if !statement.readonly() {
            return Err(QueryError::Refused {
                word: format!("{} … that writes", first_words(sql).0),
            });
        }
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        self.bind(&mut statement, sql, parameters)?;
        begin(&names)?;
        let mut rows = statement.raw_query();
        let mut row_values = Vec::with_capacity(names.len());
        while let Some(row) = rows.next().map_err(|error| self.query_error(sql, error))? {
            row_values.clear();
            for column in 0..names.len() {
                let value = row
                    .get_ref(column)
                    .map_err(|error| self.query_error(sql, error))?;
                row_values.push(SqlValue::from_ref(value));
            }
            if !take(&row_values)? {
                break;
            }
        }
        Ok(())
    }

    /// Puts every parameter in its place.
    fn bind(
        &self,
        statement: &mut rusqlite::Statement<'_>,
        sql: &str,
        parameters: &[Parameter],
    ) -> Result<(), QueryError> {
        let wrong = |message: String, offset| QueryError::Wrong {
            message,
            sql: sql.to_owned(),
            offset,
            near: Vec::new(),
        };
        let mut used = vec![false; parameters.len()];
        for index in 1..=statement.parameter_count() {
            let shown = statement.parameter_name(index).unwrap_or("?").to_owned();
            let name = shown.strip_prefix([':', '@', '$']);
            let mut at = (0..parameters.len()).filter(|at| parameters[*at].name.as_deref() == name);
            let skipped = if name.is_none() { index - 1 } else { 0 };
            let Some(at) = at.nth(skipped) else {
                return Err(wrong(
                    format!(
                        "the question has a parameter `{shown}` and nothing to put there: write the value itself, or give it with --parameters"
                    ),
                    sql.find(&shown),
                ));
            };
            used[at] = true;
            statement
                .raw_bind_parameter(index, &parameters[at].value)
                .map_err(|error| self.query_error(sql, error))?;
        }
        match used.iter().position(|used| !used) {
            None => Ok(()),
            Some(at) => Err(wrong(
                match &parameters[at].name {
                    Some(name) => {
                        format!("there is a value for `:{name}`, which the question does not have")
                    }
                    None => format!("there are {} values for {at} parameters", parameters.len()),
                },
                None,
            )),
        }
    }

    /// Makes the view `points` for this connection: `v_point` with a column for each axis that any
    /// run has, called after its key with `_` for each dot; NULL where a run does not have it.
    fn axis_columns(&self) -> Result<(), QueryError> {
        let columns: String = self
            .axis_keys()?
            .iter()
            .map(|key| {
                format!(
                    ", (SELECT v.value FROM v_axis a JOIN point_axis c ON c.run = a.run AND c.place = p.place AND c.axis = a.position
                        JOIN axis_value v ON v.run = a.run AND v.axis = a.position AND v.position = c.value
                        WHERE a.run = p.run AND a.key = '{}') AS \"{}\"",
                    key.replace('\'', "''"),
                    axis_column(key)
                )
            })
            .collect();
        self.connection
            .execute_batch(&format!(
                "PRAGMA query_only = OFF; CREATE TEMP VIEW IF NOT EXISTS points AS SELECT p.*{columns} FROM v_point p"
            ))
            .map_err(|error| QueryError::Store(self.error("naming its axes", error)))
    }

    /// The keys that some run varies.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn axis_keys(&self) -> Result<Vec<String>, StoreError> {
        let sql = |error| self.error("looking for axes", error);
        let mut keys = self
            .connection
            .prepare("SELECT DISTINCT key FROM v_axis ORDER BY key")
            .map_err(sql)?;
        let keys = keys.query_map([], |row| row.get(0)).map_err(sql)?;
        keys.collect::<Result<_, _>>().map_err(sql)
    }

    /// Runs `work` while the store stands still: every question in it sees the same data, whatever
    /// a running sweep adds.
    ///
    /// # Errors
    ///
    /// Those of `work`, and of the store.
    pub fn standing_still<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let transaction = self
            .connection
            .unchecked_transaction()
            .map_err(|error| self.error("reading", error))?;
        let result = work();
        drop(transaction);
        result
    }

    fn query_error(&self, sql: &str, error: rusqlite::Error) -> QueryError {
        if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) {
            return QueryError::Interrupted;
        }
        if matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::OutOfMemory | ErrorCode::TooBig)
        ) {
            return QueryError::TooMuch;
        }
        match error {
            rusqlite::Error::SqlInputError { msg, offset, .. } => {
                let near = self.near_names(&msg);
                QueryError::Wrong {
                    offset: usize::try_from(offset)
                        .ok()
                        .filter(|offset| *offset < sql.len())
                        .or_else(|| unknown_name(&msg).and_then(|name| sql.find(name))),
                    message: msg,
                    sql: sql.to_owned(),
                    near,
                }
            }
            rusqlite::Error::SqliteFailure(code, _)
                if code.code == ErrorCode::AuthorizationForStatementDenied
                    || error.to_string().contains("not authorized") =>
            {
                QueryError::Refused {
                    word: "load_extension".to_owned(),
                }
            }
            rusqlite::Error::MultipleStatement => QueryError::NotOne("there is more than one"),
            rusqlite::Error::SqliteFailure(code, Some(message))
                if code.code == ErrorCode::Unknown =>
            {
                QueryError::Wrong {
                    near: self.near_names(&message),
                    offset: unknown_name(&message).and_then(|name| sql.find(name)),
                    message,
                    sql: sql.to_owned(),
                }
            }
            error => QueryError::Store(self.error("asking", error)),
        }
    }

    /// Names of tables, views or columns that are like the one that SQLite did not find.
    fn near_names(&self, message: &str) -> Vec<String> {
        let Some(wanted) = unknown_name(message) else {
            return Vec::new();
        };
        if message.starts_with("no such function") {
            return Vec::new();
        }
        let wanted = wanted.rsplit('.').next().unwrap_or(wanted).to_lowercase();
        let source = if message.starts_with("no such table") {
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
        } else {
            "SELECT DISTINCT c.name FROM sqlite_schema s, pragma_table_info(s.name) c
             WHERE s.type IN ('table', 'view') ORDER BY c.name"
        };
        let names: Result<Vec<String>, _> = self.connection.prepare(source).and_then(|mut all| {
            all.query_map([], |row| row.get(0))
                .and_then(Iterator::collect)
        });
        let mut names: Vec<(usize, String)> = names
            .unwrap_or_default()
            .into_iter()
            .map(|name| {
                let plain = name.to_lowercase();
                let inside = plain.contains(&wanted) || wanted.contains(&plain);
                let away = strsim::levenshtein(&wanted, &plain);
                (if inside { away.min(2) } else { away }, name)
            })
            .filter(|(away, _)| *away <= 2.max(wanted.chars().count() / 3))
            .collect();
        names.sort();
        names.into_iter().take(5).map(|(_, name)| name).collect()
    }

    /// The views and tables of the store, views first.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn table_names(&self) -> Result<Vec<String>, StoreError> {
        let sql = |error| self.error("listing its tables", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'
                 ORDER BY type DESC, name",
            )
            .map_err(sql)?;
        statement
            .query_map([], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(sql)
    }
}

/// The name that a message of SQLite says is unknown.
fn unknown_name(message: &str) -> Option<&str> {
    ["no such column: ", "no such table: ", "no such function: "]
        .iter()
        .find_map(|lead| message.strip_prefix(lead))
        .map(
            |name| match name.strip_prefix('"').and_then(|name| name.split_once('"')) {
                Some((quoted, _)) => quoted,
                None => name.split([' ', '\n']).next().unwrap_or(name),
            },
        )
}

/// Refuses by the first word, before SQLite sees the text: a read-only connection would still let
/// VACUUM INTO and ATTACH write other files.
fn check(sql: &str) -> Result<(), QueryError> {
    let (first, rest) = first_words(sql);
    match first.as_str() {
        "" => Err(QueryError::NotOne("there is no question")),
        "SELECT" | "WITH" | "VALUES" | "EXPLAIN" => Ok(()),
        "PRAGMA" => {
            let name: String = rest
                .trim_start()
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                .collect();
            let looks = [
                "table_info",
                "table_xinfo",
                "table_list",
                "index_list",
                "index_info",
                "foreign_key_list",
                "user_version",
                "application_id",
                "page_count",
                "page_size",
                "integrity_check",
                "quick_check",
                "foreign_key_check",
                "compile_options",
            ];
            if looks.contains(&name.to_lowercase().as_str()) && !rest.contains('=') {
                Ok(())
            } else {
                Err(QueryError::Refused {
                    word: format!("PRAGMA {name}"),
                })
            }
        }
        _ => Err(QueryError::Refused { word: first }),
    }
}

/// The first word in capitals, and what follows it; comments before it are passed over.
fn first_words(sql: &str) -> (String, &str) {
    let mut rest = sql.trim_start();
    loop {
        rest = if let Some(comment) = rest.strip_prefix("--") {
            comment.split_once('\n').map_or("", |(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, after)| after)
        } else if let Some(after) = rest.strip_prefix(';') {
            after
        } else {
            break;
        }
        .trim_start();
    }
    let end = rest
        .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .unwrap_or(rest.len());
    // Something that is no word at all is left to SQLite, whose message marks the place.
    let word = if end == 0 && !rest.is_empty() {
        "SELECT".to_owned()
    } else {
        rest[..end].to_uppercase()
    };
    (word, &rest[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_asks_for_too_much_memory_is_refused_and_not_the_end_of_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(
            crate::study::Studies::default(),
            &folder.path().join("store.db"),
        )
        .unwrap();
        for question in [
            "SELECT randomblob(1000000000)",
            "SELECT length(zeroblob(2000000000))",
            "SELECT replace(hex(zeroblob(30000000)), '0', 'twelve bytes')",
        ] {
            let error = store
                .query(question, &mut |_| Ok(()), &mut |_| Ok(true))
                .unwrap_err();
            assert!(matches!(error, QueryError::TooMuch), "{question}: {error}");
        }
    }
}
