//! Lists of hosts as Slurm writes them: `n[001-100,105],login,r[1-2]c[01-04]`.

/// Hosts of one list at most.
const MOST: usize = 1_000_000;

/// The names of a list, in order.
///
/// # Errors
/// What is wrong with it.
pub(super) fn expand(list: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for part in split(list)? {
        let mut begun = vec![String::new()];
        let mut rest = part;
        while let Some(open) = rest.find('[') {
            let (before, behind) = rest.split_at(open);
            let close = behind
                .find(']')
                .ok_or_else(|| format!("`{part}`: a bracket is not closed"))?;
            let numbers = numbers(&behind[1..close]).map_err(|what| format!("`{part}`: {what}"))?;
            if begun.len().saturating_mul(numbers.len()) > MOST {
                return Err(format!("`{part}`: more than {MOST} hosts"));
            }
            begun = (begun.iter())
                .flat_map(|begin| {
                    (numbers.iter()).map(move |number| format!("{begin}{before}{number}"))
                })
                .collect();
            rest = &behind[close + 1..];
        }
        if rest.contains(']') {
            return Err(format!("`{part}`: a bracket was not opened"));
        }
        names.extend(begun.into_iter().map(|begin| begin + rest));
        if names.len() > MOST {
            return Err(format!("more than {MOST} hosts"));
        }
    }
    Ok(names)
}

/// Parts between commas that stand outside of brackets.
fn split(list: &str) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let (mut begin, mut is_inside) = (0, false);
    for (at, letter) in list.char_indices() {
        match letter {
            '[' if is_inside => return Err(format!("`{list}`: brackets inside brackets")),
            '[' => is_inside = true,
            ']' => is_inside = false,
            ',' if !is_inside => {
                parts.push(list[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list[begin..].trim());
    if parts.iter().any(|part| part.is_empty()) {
        return Err(format!("`{list}`: a name is empty"));
    }
    Ok(parts)
}

/// `001-003,7`: each as it is written, with leading zeros.
fn numbers(text: &str) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for range in text.split(',') {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            (digits.parse::<usize>().ok().filter(|_| is_number))
                .ok_or_else(|| format!("`{range}` is no range of numbers"))
        };
        let (first, last) = (number(from)?, number(to)?);
        if last < first || last - first >= MOST {
            return Err(format!("`{range}` is no range of at most {MOST} numbers"));
        }
        let width = from.len();
        all.extend((first..=last).map(|number| format!("{number:0width$}")));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_keep_their_zeros_and_several_brackets_multiply() {
        let names = expand("n[008-010,105],login, r[1-2]c[01-02]x").unwrap();
        assert_eq!(
            names,
            [
                "n008", "n009", "n010", "n105", "login", "r1c01x", "r1c02x", "r2c01x", "r2c02x"
            ]
        );
    }

    #[test]
    fn what_is_no_list_is_told() {
        for (list, told) in [
            ("n[1-2", "not closed"),
            ("n1]", "not opened"),
            ("n[[1]]", "inside"),
            ("a,,b", "empty"),
            ("n[3-1]", "no range"),
            ("n[a-b]", "no range"),
            ("n[0-9999999]", "no range of at most"),
            ("n[0-9999][0-9999]", "more than 1000000"),
        ] {
            let error = expand(list).unwrap_err();
            assert!(error.contains(told), "{list}: {error}");
        }
    }
}
