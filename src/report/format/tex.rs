//! Text as parts of a LaTeX document or a BibTeX entry. Every text passes through here, stays text,
//! and is ASCII afterwards: pdfLaTeX needs no package for it, whatever the encoding of its fonts.

use bookahead_core::printable::{one_line, printable};

use super::inline::with_code;

/// Text within a line, as it stands: nothing in it is a command, a comment, a column or a formula.
///
/// ```
/// use bookahead_report::format::tex::text;
///
/// assert_eq!(text("pof_max ≤ 5 %"), r"pof\_max \ensuremath{\leq} 5 \%");
/// ```
#[must_use]
pub fn text(text: &str) -> String {
    as_text(text, false)
}

/// As [`text`]; quotation marks of code stay straight.
fn as_text(text: &str, is_code: bool) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut before = None;
    for letter in one_line(text).chars() {
        // Two of these beside each other would be one other character.
        if before == Some(letter) && matches!(letter, '-' | '\'' | ',') {
            safe.push_str("{}");
        }
        match letter {
            '"' if !is_code => safe.push_str(quotation_mark(before)),
            _ => push(letter, &mut safe),
        }
        before = Some(letter);
    }
    safe
}

/// A sentence with names in it: as [`text`], but single backticks in pairs make code.
#[must_use]
pub fn sentence(sentence: &str) -> String {
    with_code(sentence, text, |code| {
        format!("\\texttt{{{}}}", as_text(code, true))
    })
}

/// A quotation mark behind this character: the fonts of old have no straight one.
fn quotation_mark(before: Option<char>) -> &'static str {
    match before {
        Some(letter) if letter != ' ' && letter != '(' => "\\textquotedblright{}",
        _ => "\\textquotedblleft{}",
    }
}

/// A number of a table: `12.5`, `-3`, `12 ± 3`, `12 [9, 17]`, `0 (< 0.37)`, each perhaps with the
/// number of replications behind it, `(n 4)`. Its commas between thousands stay.
pub(super) fn number(shown: &str) -> String {
    let (value, count) = match shown.split_once(" (n ") {
        Some((value, count)) => (value, format!(" (n {count}")),
        None => (shown, String::new()),
    };
    let is_formula = |letter: char| letter.is_ascii_digit() || " .,±-[]()<".contains(letter);
    if !value.chars().all(is_formula) {
        return text(shown);
    }
    let mut formula = String::new();
    for (at, letter) in value.char_indices() {
        match letter {
            '±' => formula.push_str("\\pm"),
            ',' if !value[at + 1..].starts_with(' ') => formula.push_str("{,}"),
            ',' => formula.push_str(",\\"),
            letter => formula.push(letter),
        }
    }
    format!("${}${}", formula.replace(" [", "\\ ["), text(&count)).replace(" (<", "\\ (<")
}

/// Lines of text as comments.
pub(super) fn comment(lines: &str) -> String {
    printable(lines)
        .lines()
        .map(|line| format!("% {line}").trim_end().to_owned() + "\n")
        .collect()
}

fn push(letter: char, safe: &mut String) {
    if let Some(command) = command(letter) {
        safe.push_str(command);
    } else if letter.is_ascii() {
        safe.push(letter);
    } else if let Some((accent, plain)) = accented(letter) {
        // A command of a letter would go on with the letter behind it, one of a sign does not.
        safe.extend(['\\', accent, '{']);
        match plain {
            'i' => safe.push_str("\\i"),
            plain => safe.push(plain),
        }
        safe.push('}');
    } else {
        // Its number, where LaTeX would stop.
        safe.push_str(&format!("{{[}}U+{:04X}{{]}}", u32::from(letter)));
    }
}

/// What stands for a character that LaTeX takes for something else, or does not know.
fn command(letter: char) -> Option<&'static str> {
    Some(match letter {
        '\\' => "\\textbackslash{}",
        // BibTeX counts braces, whatever stands before them.
        '{' => "\\textbraceleft{}",
        '}' => "\\textbraceright{}",
        '%' => "\\%",
        '&' => "\\&",
        '#' => "\\#",
        '_' => "\\_",
        '$' => "\\$",
        '~' => "\\textasciitilde{}",
        '^' => "\\textasciicircum{}",
        '`' => "\\textasciigrave{}",
        // The fonts of old have other characters in these places.
        '<' => "\\textless{}",
        '>' => "\\textgreater{}",
        '|' => "\\textbar{}",
        // Some languages make a command of it.
        '"' => "{\\char34}",
        // Behind the end of a row they would be its arguments.
        '[' => "{[}",
        ']' => "{]}",
        '*' => "{*}",
        '\u{a0}' => "~",
        '\u{2009}' | '\u{202f}' => "\\,",
        '–' => "\\textendash{}",
        '—' => "\\textemdash{}",
        '‐' | '‑' => "-",
        '‘' => "\\textquoteleft{}",
        '’' => "\\textquoteright{}",
        '“' => "\\textquotedblleft{}",
        '”' => "\\textquotedblright{}",
        '„' => "\\quotedblbase{}",
        '…' => "\\ldots{}",
        '•' => "\\textbullet{}",
        '§' => "\\S{}",
        '¶' => "\\P{}",
        '©' => "\\copyright{}",
        '€' => "\\texteuro{}",
        '°' => "\\textdegree{}",
        'ß' => "\\ss{}",
        'Æ' => "\\AE{}",
        'æ' => "\\ae{}",
        'Œ' => "\\OE{}",
        'œ' => "\\oe{}",
        'Ø' => "\\O{}",
        'ø' => "\\o{}",
        'Ł' => "\\L{}",
        'ł' => "\\l{}",
        'ı' => "\\i{}",
        'Å' => "\\r{A}",
        'å' => "\\r{a}",
        letter => return formula(letter),
    })
}

/// Characters that are commands of formulas.
fn formula(letter: char) -> Option<&'static str> {
    macro_rules! formulas {
        ($($letter:pat => $command:literal,)*) => {
            match letter {
                $($letter => Some(concat!("\\ensuremath{", $command, "}")),)*
                _ => None,
            }
        };
    }
    formulas! {
        '−' => "-",
        '±' => "\\pm",
        '×' => "\\times",
        '÷' => "\\div",
        '·' => "\\cdot",
        '≤' => "\\leq",
        '≥' => "\\geq",
        '≠' => "\\neq",
        '≈' => "\\approx",
        '≪' => "\\ll",
        '≫' => "\\gg",
        '∞' => "\\infty",
        '∈' => "\\in",
        '√' => "\\surd",
        '∑' => "\\sum",
        '∏' => "\\prod",
        '∫' => "\\int",
        '∧' => "\\wedge",
        '∨' => "\\vee",
        '¬' => "\\neg",
        '∅' => "\\emptyset",
        '∝' => "\\propto",
        '→' => "\\rightarrow",
        '←' => "\\leftarrow",
        '↔' => "\\leftrightarrow",
        '⇒' => "\\Rightarrow",
        '↑' => "\\uparrow",
        '↓' => "\\downarrow",
        '◆' | '◇' | '⋄' => "\\diamond",
        '⁻' => "^{-}",
        '⁰' => "^0",
        '¹' => "^1",
        '²' => "^2",
        '³' => "^3",
        '⁴' => "^4",
        '⁵' => "^5",
        '⁶' => "^6",
        '⁷' => "^7",
        '⁸' => "^8",
        '⁹' => "^9",
        '₀' => "_0",
        '₁' => "_1",
        '₂' => "_2",
        '₃' => "_3",
        '₄' => "_4",
        '₅' => "_5",
        '₆' => "_6",
        '₇' => "_7",
        '₈' => "_8",
        '₉' => "_9",
        'α' => "\\alpha",
        'β' => "\\beta",
        'γ' => "\\gamma",
        'δ' => "\\delta",
        'ε' => "\\varepsilon",
        'ζ' => "\\zeta",
        'η' => "\\eta",
        'θ' => "\\theta",
        'ι' => "\\iota",
        'κ' => "\\kappa",
        'λ' => "\\lambda",
        'µ' | 'μ' => "\\mu",
        'ν' => "\\nu",
        'ξ' => "\\xi",
        'π' => "\\pi",
        'ρ' => "\\rho",
        'ς' => "\\varsigma",
        'σ' => "\\sigma",
        'τ' => "\\tau",
        'υ' => "\\upsilon",
        'φ' => "\\varphi",
        'χ' => "\\chi",
        'ψ' => "\\psi",
        'ω' => "\\omega",
        'Γ' => "\\Gamma",
        'Δ' | '∆' => "\\Delta",
        'Θ' => "\\Theta",
        'Λ' => "\\Lambda",
        'Ξ' => "\\Xi",
        'Π' => "\\Pi",
        'Σ' => "\\Sigma",
        'Φ' => "\\Phi",
        'Ψ' => "\\Psi",
        'Ω' => "\\Omega",
    }
}

/// The accents that LaTeX sets above letters, with the letters that have them and those below.
const ACCENTS: [(char, &str, &str); 7] = [
    ('`', "ÀÈÌÒÙàèìòù", "AEIOUaeiou"),
    ('\'', "ÁÉÍÓÚÝáéíóúýĆćŃńŚśŹź", "AEIOUYaeiouyCcNnSsZz"),
    ('^', "ÂÊÎÔÛâêîôû", "AEIOUaeiou"),
    ('"', "ÄËÏÖÜäëïöüÿŸ", "AEIOUaeiouyY"),
    ('~', "ÃÑÕãñõ", "ANOano"),
    ('v', "ČčĎďĚěŇňŘřŠšŤťŽž", "CcDdEeNnRrSsTtZz"),
    ('c', "ÇçŞş", "CcSs"),
];

/// The accent of a letter, and the letter without it.
fn accented(letter: char) -> Option<(char, char)> {
    ACCENTS.iter().find_map(|(accent, with, without)| {
        let mut pairs = with.chars().zip(without.chars());
        let (_, plain) = pairs.find(|(with, _)| *with == letter)?;
        Some((*accent, plain))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn characters_that_latex_reads_as_commands_stay_characters() {
        for (given, safe) in [
            ("5 % & more", r"5 \% \& more"),
            ("pof_max #1 $2", r"pof\_max \#1 \$2"),
            (
                r"~/x^2 {a}\b",
                r"\textasciitilde{}/x\textasciicircum{}2 \textbraceleft{}a\textbraceright{}\textbackslash{}b",
            ),
            ("a<b>c|d", r"a\textless{}b\textgreater{}c\textbar{}d"),
            ("[1, 2]*", "{[}1, 2{]}{*}"),
            ("--out it''s", "-{}-out it'{}'s"),
            ("a\nb\u{1b}", "a b?"),
            (
                "the table \"best\" (\"1\")",
                r"the table \textquotedblleft{}best\textquotedblright{} (\textquotedblleft{}1\textquotedblright{})",
            ),
        ] {
            assert_eq!(text(given), safe);
        }
    }

    #[test]
    fn characters_beyond_ascii_are_commands() {
        for (given, safe) in [
            (
                "ρ ≤ α",
                r"\ensuremath{\rho} \ensuremath{\leq} \ensuremath{\alpha}",
            ),
            ("−1 ± 2", r"\ensuremath{-}1 \ensuremath{\pm} 2"),
            (
                "Universität Ångström naïve",
                "Universit\\\"{a}t \\r{A}ngstr\\\"{o}m na\\\"{\\i}ve",
            ),
            ("Dvořák, Straße", r"Dvo\v{r}\'{a}k, Stra\ss{}e"),
            ("世", "{[}U+4E16{]}"),
        ] {
            assert_eq!(text(given), safe);
        }
        assert_eq!(sentence("see `a_b`, 5 %"), r"see \texttt{a\_b}, 5 \%");
        assert_eq!(sentence("`a \"b\"`"), r"\texttt{a {\char34}b{\char34}}");
    }

    #[test]
    fn every_accented_letter_has_one_below() {
        for (accent, with, without) in ACCENTS {
            assert_eq!(with.chars().count(), without.chars().count(), "{accent}");
        }
    }

    #[test]
    fn numbers_are_formulas() {
        for (given, safe) in [
            ("12.5", "$12.5$"),
            ("-1,234.5", "$-1{,}234.5$"),
            ("12,000 ± 3", r"$12{,}000 \pm 3$"),
            ("0.20 [0.05, 0.54]", r"$0.20\ [0.05,\ 0.54]$"),
            ("0.0 (< 0.37)", r"$0.0\ (< 0.37)$"),
            ("3 ± 1 (n 4)", r"$3 \pm 1$ (n 4)"),
            ("NaN", "NaN"),
        ] {
            assert_eq!(number(given), safe);
        }
    }

    #[test]
    fn a_comment_has_no_line_that_is_none() {
        assert_eq!(comment("SELECT 1\r\n\nFROM x"), "% SELECT 1\n%\n% FROM x\n");
        let harmful = "a\u{b}b\u{c}c\u{2028}d\u{85}e\rf";
        assert_eq!(comment(harmful).lines().count(), 1);
    }

    /// The characters that act in LaTeX, outside of commands that this module writes.
    fn acting(safe: &str) -> Vec<char> {
        let mut rest = safe.to_owned();
        let commands = (0..=0x2fff).filter_map(char::from_u32).filter_map(command);
        let mut commands: Vec<&str> = commands.filter(|known| known.len() > 1).collect();
        commands.sort_by_key(|known| std::cmp::Reverse(known.len()));
        for known in commands.into_iter().filter(|known| *known != "\\,") {
            rest = rest.replace(known, "");
        }
        for (accent, _, without) in ACCENTS {
            for plain in without.chars() {
                rest = rest.replace(&format!("\\{accent}{{{plain}}}"), "");
            }
            rest = rest.replace(&format!("\\{accent}{{\\i}}"), "");
        }
        rest = rest.replace("\\,", "").replace("{}", "");
        let acts = |letter: &char| "\\{}%&#_$^`<>|\"[]*".contains(*letter);
        rest.chars().filter(acts).collect()
    }

    proptest! {
        #[test]
        fn whatever_a_text_holds_nothing_of_it_acts(
            given in "([\\\\{}%&#_$~^`<>|\"\\[\\]*',-]|[ρα≤±−äßÅŁ…]|[a-zA-Z0-9 ]|\\PC|\\pC){0,40}"
        ) {
            let safe = text(&given);
            prop_assert!(safe.is_ascii() && !safe.contains('\n'), "{safe}");
            prop_assert_eq!(acting(&safe), Vec::<char>::new(), "{}", safe);
            for pair in ["--", "''", ",,"] {
                prop_assert!(!safe.contains(pair), "{}", safe);
            }
            let depth = safe.chars().try_fold(0_u32, |depth, letter| {
                match letter {
                    '{' => Some(depth + 1),
                    '}' => depth.checked_sub(1),
                    _ => Some(depth),
                }
            });
            prop_assert_eq!(depth, Some(0), "{}", safe);
        }
    }
}
