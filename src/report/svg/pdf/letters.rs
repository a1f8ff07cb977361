//! Letters of two of the fonts that every viewer of PDF has: where a character stands in them, and
//! how wide it is.

/// A font: its characters from the code 32 on, and their widths in thousandths of its size. Where
/// it has none, the width is 0.
struct Font {
    letters: &'static str,
    widths: &'static [u16],
}

/// The first code of both fonts.
const FIRST: u8 = 32;

/// One of the fonts of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Face {
    /// Helvetica, for Western European letters.
    Latin,
    /// Symbol, for Greek letters and signs of formulas.
    Symbol,
}

impl Face {
    pub(super) const ALL: [Self; 2] = [Self::Latin, Self::Symbol];

    fn font(self) -> &'static Font {
        match self {
            Self::Latin => &HELVETICA,
            Self::Symbol => &SYMBOL,
        }
    }

    /// The name of its font, which viewers know.
    pub(super) fn font_name(self) -> &'static [u8] {
        match self {
            Self::Latin => b"Helvetica",
            Self::Symbol => b"Symbol",
        }
    }

    /// What a page calls it.
    pub(super) fn key(self) -> &'static [u8] {
        match self {
            Self::Latin => b"F1",
            Self::Symbol => b"F2",
        }
    }

    fn glyph(self, letter: char) -> Option<(u8, u16)> {
        let mut codes = self
            .font()
            .letters
            .chars()
            .zip(self.font().widths)
            .zip(FIRST..=u8::MAX);
        let ((_, width), code) = codes.find(|((known, _), _)| *known == letter)?;
        (*width > 0).then_some((code, *width))
    }
}

/// Where letters stand in their line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Line,
    Above,
    Below,
}

impl Level {
    /// Size and rise of its letters, in sizes of the text.
    pub(super) fn size_and_rise(self) -> (f32, f32) {
        match self {
            Self::Line => (1.0, 0.0),
            Self::Above => (0.65, 0.4),
            Self::Below => (0.65, -0.15),
        }
    }
}

/// Letters beside each other, of one font at one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) face: Face,
    pub(super) level: Level,
    pub(super) codes: Vec<u8>,
    /// In thousandths of the font's size.
    width: u32,
}

impl Run {
    /// In sizes of the text.
    pub(super) fn width(&self) -> f32 {
        self.width as f32 / 1000.0 * self.level.size_and_rise().0
    }
}

/// A text as runs of letters. A character that both fonts lack is written as its number,
/// `[U+4E16]`.
pub(super) fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for letter in text.chars() {
        match glyph(letter) {
            Some(glyph) => push(&mut runs, glyph),
            None => {
                let number = format!("[U+{:04X}]", u32::from(letter));
                let glyphs = number.chars().filter_map(glyph);
                glyphs.for_each(|glyph| push(&mut runs, glyph));
            }
        }
    }
    runs
}

type Glyph = (Face, Level, (u8, u16));

fn push(runs: &mut Vec<Run>, (face, level, (code, width)): Glyph) {
    match runs.last_mut() {
        Some(last) if (last.face, last.level) == (face, level) => {
            last.codes.push(code);
            last.width += u32::from(width);
        }
        _ => runs.push(Run {
            face,
            level,
            codes: vec![code],
            width: u32::from(width),
        }),
    }
}

fn glyph(letter: char) -> Option<Glyph> {
    let (level, letter) = plain(letter);
    let mut faces = Face::ALL.into_iter();
    faces.find_map(|face| Some((face, level, face.glyph(letter)?)))
}

/// What a character looks like that the fonts have by another name, or only as large ones.
fn plain(letter: char) -> (Level, char) {
    const DIGITS: &str = "0123456789";
    let digit = |place: usize| DIGITS.chars().nth(place);
    let small = |all: &str| {
        all.chars()
            .position(|known| known == letter)
            .and_then(digit)
    };
    if let Some(digit) = small("⁰\0\0\0⁴⁵⁶⁷⁸⁹") {
        return (Level::Above, digit);
    }
    if let Some(digit) = small("₀₁₂₃₄₅₆₇₈₉") {
        return (Level::Below, digit);
    }
    match letter {
        '⁻' => (Level::Above, '−'),
        '\u{a0}' | '\u{2009}' | '\u{202f}' => (Level::Line, ' '),
        '‐' | '‑' => (Level::Line, '-'),
        'μ' => (Level::Line, 'µ'),
        '∆' => (Level::Line, 'Δ'),
        '⋄' | '◇' => (Level::Line, '◊'),
        '◆' => (Level::Line, '♦'),
        _ => (Level::Line, letter),
    }
}

/// In the encoding of Windows for Western Europe (`WinAnsiEncoding`).
const HELVETICA: Font = Font {
    letters: " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_\
    `abcdefghijklmnopqrstuvwxyz{|}~�€�‚ƒ„…†‡ˆ‰Š‹Œ�Ž��‘’“”•–—˜™š›œ�žŸ\
    �¡¢£¤¥¦§¨©ª«¬�®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞß\
    àáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ",
    widths: &[
        278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556,
        556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722,
        722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722,
        667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556,
        556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,
        500, 334, 260, 334, 584, 0, 556, 0, 222, 556, 333, 1000, 556, 556, 333, 1000, 667, 333,
        1000, 0, 611, 0, 0, 222, 222, 333, 333, 350, 556, 1000, 333, 1000, 500, 333, 944, 0, 500,
        667, 0, 333, 556, 556, 556, 556, 260, 556, 333, 737, 370, 556, 584, 0, 737, 333, 400, 584,
        333, 333, 333, 556, 537, 278, 333, 333, 365, 556, 834, 834, 834, 611, 667, 667, 667, 667,
        667, 667, 1000, 722, 667, 667, 667, 667, 278, 278, 278, 278, 722, 722, 778, 778, 778, 778,
        778, 584, 778, 722, 722, 722, 722, 667, 667, 611, 556, 556, 556, 556, 556, 556, 889, 500,
        556, 556, 556, 556, 278, 278, 278, 278, 556, 556, 556, 556, 556, 556, 556, 584, 611, 556,
        556, 556, 556, 500, 556, 500,
    ],
};

/// In the font's own encoding, without what Helvetica has.
const SYMBOL: Font = Font {
    letters: "��∀�∃��∋��∗��−������������������≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ�∴�⊥�\
    �αβχδεφγηιϕκλ�νοπθρστυϖωξψζ���∼���������������������������������\
    �ϒ′≤�∞�♣♦♥♠↔←↑→↓��″≥�∝∂��≠≡≈����ℵ���⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇���∏√⋅�∧∨⇔⇐⇑⇒⇓\
    ◊⟨���∑���⌈�⌊�����⟩∫������⌉�⌋���",
    widths: &[
        0, 0, 713, 0, 549, 0, 0, 439, 0, 0, 500, 0, 0, 549, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 549, 722, 667, 722, 612, 611, 763, 603, 722, 333, 631, 722, 686, 889, 722,
        722, 768, 741, 556, 592, 611, 690, 439, 768, 645, 795, 611, 0, 863, 0, 658, 0, 0, 631, 549,
        549, 494, 439, 521, 411, 603, 329, 603, 549, 549, 0, 521, 549, 549, 521, 549, 603, 439,
        576, 713, 686, 493, 686, 494, 0, 0, 0, 549, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 620, 247, 549, 0, 713, 0, 753, 753,
        753, 753, 1042, 987, 603, 987, 603, 0, 0, 411, 549, 0, 713, 494, 0, 0, 549, 549, 549, 0, 0,
        0, 0, 823, 0, 0, 0, 768, 768, 823, 768, 768, 713, 713, 713, 713, 713, 713, 713, 768, 713,
        0, 0, 0, 823, 549, 250, 0, 603, 603, 1042, 987, 603, 987, 603, 494, 329, 0, 0, 0, 713, 0,
        0, 0, 384, 0, 384, 0, 0, 0, 0, 0, 329, 274, 0, 0, 0, 0, 0, 0, 384, 0, 384, 0, 0, 0,
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_a_font_has_a_width() {
        for face in Face::ALL {
            let Font { letters, widths } = face.font();
            assert_eq!(letters.chars().count(), widths.len(), "{face:?}");
            for (letter, width) in letters.chars().zip(*widths) {
                assert_eq!(letter == '\u{fffd}', *width == 0, "{letter}");
            }
        }
    }

    #[test]
    fn letters_that_both_fonts_lack_are_written_as_their_numbers() {
        let codes = |text: &str| -> Vec<(Face, Vec<u8>)> {
            let runs = runs(text).into_iter();
            runs.map(|run| (run.face, run.codes)).collect()
        };
        assert_eq!(
            codes("ρ ≤ 5 –"),
            [
                (Face::Symbol, vec![114]),
                (Face::Latin, vec![32]),
                (Face::Symbol, vec![163]),
                (Face::Latin, vec![32, 53, 32, 150]),
            ]
        );
        assert_eq!(codes("世"), [(Face::Latin, b"[U+4E16]".to_vec())]);
    }

    /// Of the fonts' metrics: digits 556, ρ 549, superscripts at 0.65 of their size.
    #[test]
    fn widths_are_those_of_the_fonts() {
        let width = |text: &str| runs(text).iter().map(Run::width).sum::<f32>();
        assert!((width("10") - 1.112).abs() < 1e-6);
        assert!((width("ρ") - 0.549).abs() < 1e-6);
        assert!((width("10⁶") - 1.4734).abs() < 1e-6);
    }
}
