//! One line of bytes into a record: a hand-written parser of whole and decimal numbers, because
//! this is the inner loop of reading a trace of millions of lines.

use super::record::SwfRecord;

/// Times and processor counts beyond this are faults: 10¹⁰ s are three centuries, and sums over a
/// battery of n·x still fit 64 bits on a machine of 100,000 nodes.
const LARGEST_TIME: i64 = 10_000_000_000;
/// Digits that always fit a 64-bit integer.
const MOST_DIGITS: u32 = 18;
/// Digits that a double holds exactly.
const EXACT_DIGITS: u32 = 15;
/// Powers of ten that a double holds exactly, as far as [`EXACT_DIGITS`] needs them.
const POWERS_OF_TEN: [f64; 16] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// Why a line is not a record; positions are indices of fields from 0, texts are cut out by the
/// reader.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    TooFewFields { found: usize },
    TooManyFields,
    NotANumber { field: usize, text: String },
    OutOfRange { field: usize, text: String },
}

/// The bytes of a line that are still to be read, and what was changed so far.
struct Cursor<'line> {
    line: &'line [u8],
    position: usize,
    field: usize,
    rounded: u32,
}

/// A number as written: all its digits as one whole number, and how many of them stand behind the
/// point.
struct Digits {
    negative: bool,
    /// All digits in front of the point.
    whole: i64,
    /// All digits, the point left out; valid while there are at most [`MOST_DIGITS`].
    mantissa: i64,
    digits: u32,
    fraction_digits: u32,
    /// The first digit behind the point.
    tenths: u8,
    has_fraction: bool,
    start: usize,
}

impl Cursor<'_> {
    fn text_from(&self, start: usize) -> String {
        let end = self.line[start..]
            .iter()
            .position(|byte| byte.is_ascii_whitespace())
            .map_or(self.line.len(), |length| start + length);
        let shown = &self.line[start..end.min(start + 40)];
        String::from_utf8_lossy(shown).into_owned()
    }

    fn skip_blanks(&mut self) {
        while self
            .line
            .get(self.position)
            .is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
        {
            self.position += 1;
        }
    }

    #[inline]
    fn digits(&mut self) -> Result<Digits, Fault> {
        self.skip_blanks();
        let start = self.position;
        if start == self.line.len() {
            return Err(Fault::TooFewFields { found: self.field });
        }
        let negative = self.line[start] == b'-';
        if negative {
            self.position += 1;
        }
        let mut number = Digits {
            negative,
            whole: 0,
            mantissa: 0,
            digits: 0,
            fraction_digits: 0,
            tenths: 0,
            has_fraction: false,
            start,
        };
        let mut behind_point = false;
        loop {
            match self.line.get(self.position) {
                Some(byte @ b'0'..=b'9') => {
                    let digit = i64::from(byte - b'0');
                    number.mantissa = number.mantissa.wrapping_mul(10).wrapping_add(digit);
                    number.digits += 1;
                    if behind_point {
                        if number.fraction_digits == 0 {
                            number.tenths = byte - b'0';
                        }
                        number.has_fraction |= digit != 0;
                        number.fraction_digits += 1;
                    } else {
                        number.whole = number.mantissa;
                    }
                }
                Some(b'.') if !behind_point => behind_point = true,
                None | Some(b' ' | b'\t' | b'\r') if number.digits > 0 => break,
                _ => {
                    return Err(Fault::NotANumber {
                        field: self.field,
                        text: self.text_from(start),
                    });
                }
            }
            self.position += 1;
        }
        Ok(number)
    }

    fn out_of_range(&self, start: usize) -> Fault {
        Fault::OutOfRange {
            field: self.field,
            text: self.text_from(start),
        }
    }

    /// The next field if it is a whole number without more ado, which most are; else nothing is
    /// read but blanks.
    #[inline(always)]
    fn plain(&mut self) -> Option<i64> {
        let mut rest = self.line.get(self.position..)?;
        while let [b' ' | b'\t' | b'\r', behind @ ..] = rest {
            rest = behind;
        }
        self.position = self.line.len() - rest.len();
        let digits = rest.strip_prefix(b"-").unwrap_or(rest);
        let mut value: i64 = 0;
        for (count, &byte) in digits.iter().take(MOST_DIGITS as usize + 1).enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit < 10 {
                value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
            } else if count > 0 && byte == b' ' {
                self.position = self.line.len() - (digits.len() - count);
                let is_negative = digits.len() < rest.len();
                return Some(if is_negative { -value } else { value });
            } else {
                return None;
            }
        }
        None
    }

    /// The next field as a whole number, a decimal rounded half away from zero.
    #[inline]
    fn whole(&mut self) -> Result<i64, Fault> {
        if let Some(value) = self.plain() {
            self.field += 1;
            return Ok(value);
        }
        let number = self.digits()?;
        if number.digits - number.fraction_digits > MOST_DIGITS {
            return Err(self.out_of_range(number.start));
        }
        let mut value = number.whole;
        if number.has_fraction {
            value += i64::from(number.tenths >= 5);
            self.rounded += 1;
        }
        self.field += 1;
        Ok(if number.negative { -value } else { value })
    }

    /// The next field as a whole number that counts seconds or processors.
    #[inline]
    fn quantity(&mut self) -> Result<i64, Fault> {
        let before = self.position;
        match self.plain() {
            Some(value) if (-LARGEST_TIME..=LARGEST_TIME).contains(&value) => {
                self.field += 1;
                return Ok(value);
            }
            _ => self.position = before,
        }
        self.skip_blanks();
        let start = self.position;
        let value = self.whole()?;
        if !(-LARGEST_TIME..=LARGEST_TIME).contains(&value) {
            self.field -= 1;
            return Err(self.out_of_range(start));
        }
        Ok(value)
    }

    /// The next field as a decimal, correctly rounded to the nearest double.
    #[inline]
    fn decimal(&mut self) -> Result<f64, Fault> {
        let before = self.position;
        match self.plain() {
            // A double holds it exactly; 0 may have a sign.
            Some(value) if value != 0 && value.unsigned_abs() < 1_000_000_000_000_000 => {
                self.field += 1;
                return Ok(value as f64);
            }
            _ => self.position = before,
        }
        let number = self.digits()?;
        let magnitude = if number.digits <= EXACT_DIGITS {
            // Both are exact, so their quotient is the correctly rounded value.
            number.mantissa as f64 / POWERS_OF_TEN[number.fraction_digits as usize]
        } else {
            let start = number.start + usize::from(number.negative);
            std::str::from_utf8(&self.line[start..self.position])
                .ok()
                .and_then(|text| text.parse::<f64>().ok())
                .filter(|value| value.is_finite())
                .ok_or_else(|| self.out_of_range(number.start))?
        };
        self.field += 1;
        Ok(if number.negative {
            -magnitude
        } else {
            magnitude
        })
    }
}

/// Parses one line that is neither blank nor a comment. Returns the record and how many of its
/// fields were rounded.
pub(super) fn parse_record(line: &[u8]) -> Result<(SwfRecord, u32), Fault> {
    let mut cursor = Cursor {
        line,
        position: 0,
        field: 0,
        rounded: 0,
    };
    let record = SwfRecord {
        job_number: cursor.whole()?,
        submit: cursor.quantity()?,
        wait: cursor.quantity()?,
        run: cursor.quantity()?,
        allocated_processors: cursor.quantity()?,
        average_cpu_time: cursor.decimal()?,
        used_memory: cursor.decimal()?,
        requested_processors: cursor.quantity()?,
        requested_time: cursor.quantity()?,
        requested_memory: cursor.decimal()?,
        status: cursor.whole()?,
        user: cursor.whole()?,
        group: cursor.whole()?,
        executable: cursor.whole()?,
        queue: cursor.whole()?,
        partition: cursor.whole()?,
        preceding_job: cursor.whole()?,
        think_time: cursor.quantity()?,
    };
    cursor.skip_blanks();
    if cursor.position < line.len() {
        return Err(Fault::TooManyFields);
    }
    Ok((record, cursor.rounded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_the_ctc_log_keeps_its_decimal_cpu_time() {
        let line = b"    1        0 588530    937  306 142.00    -1   -1  35100    -1  1  97  -1 307  3 -1 -1 -1";
        let (record, rounded) = parse_record(line).unwrap();
        assert_eq!(
            (
                record.wait,
                record.allocated_processors,
                record.requested_time
            ),
            (588_530, 306, 35_100)
        );
        assert_eq!(record.average_cpu_time, 142.0);
        assert_eq!((record.user, record.executable, rounded), (97, 307, 0));
    }

    #[test]
    fn decimals_in_whole_fields_are_rounded_half_away_from_zero_and_counted() {
        let (record, rounded) =
            parse_record(b"1 10.5 -1.5 99.49 4.00 1.25 -1 4 100.9 -1 1 1 1 1 1 1 -1 -1").unwrap();
        assert_eq!(
            (record.submit, record.wait, record.run),
            (11, -2, 99),
            "10.5 -> 11, -1.5 -> -2, 99.49 -> 99"
        );
        assert_eq!(
            (record.allocated_processors, record.requested_time),
            (4, 101)
        );
        // Submit, wait, run and requested time changed; 4.00 did not, and the CPU time stays a
        // decimal.
        assert_eq!((rounded, record.average_cpu_time), (4, 1.25));
    }

    #[test]
    fn faults_name_the_field() {
        assert_eq!(
            parse_record(b"1 2 3 4"),
            Err(Fault::TooFewFields { found: 4 })
        );
        assert_eq!(
            parse_record(b"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"),
            Err(Fault::TooManyFields)
        );
        for (text, field) in [
            ("x", 3),
            ("12a", 3),
            ("-", 3),
            ("1.2.3", 3),
            ("1e5", 3),
            (".", 3),
        ] {
            assert_eq!(
                parse_record(
                    format!("1 2 3 {text} 5 6 7 8 9 10 11 12 13 14 15 16 17 18").as_bytes()
                ),
                Err(Fault::NotANumber {
                    field,
                    text: text.to_owned()
                })
            );
        }
        for (line, field) in [
            ("1 2 3 4 5 6 7 8 99999999999 10 11 12 13 14 15 16 17 18", 8),
            (
                "1234567890123456789 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18",
                0,
            ),
        ] {
            assert!(
                matches!(parse_record(line.as_bytes()), Err(Fault::OutOfRange { field: found, .. }) if found == field)
            );
        }
    }
}
