//! The colours of series.

/// For light and for dark paper, by the rank of a series. Whatever colours a reader can see, any
/// two differ by at least 10 in CIELAB (1976); in grey, lines differ by their dashes.
pub const COLOURS: [(&str, &str); 7] = [
    ("#0072b2", "#56a8e0"),
    ("#d55e00", "#ff8a3d"),
    ("#009e73", "#2fc79a"),
    ("#b0508c", "#e39ac6"),
    ("#7a5200", "#f0b429"),
    ("#7d3fbf", "#b380ff"),
    ("#444444", "#cccccc"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::marks::{DASHES, dashes};
    use super::COLOURS;

    /// How a colour (linear red, green, blue) looks to those who lack one kind of cone, by Machado,
    /// Oliveira and Fernandes (IEEE Trans. Vis. Comput. Graph. 15, 2009), and to all others.
    const VISIONS: [(&str, [[f64; 3]; 3]); 4] = [
        (
            "all cones",
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        ),
        (
            "protanopia",
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255528, -0.076749, -0.178779],
                [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900],
            ],
        ),
    ];

    fn product(matrix: &[[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(vector).map(|(one, other)| one * other).sum())
    }

    /// Linear red, green and blue of `#rrggbb`.
    fn linear(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| {
            let byte = u8::from_str_radix(&colour[at..at + 2], 16).expect("two digits");
            let share = f64::from(byte) / 255.0;
            match share <= 0.04045 {
                true => share / 12.92,
                false => ((share + 0.055) / 1.055).powf(2.4),
            }
        })
    }

    /// Lightness and both opponent colours of CIELAB under the white of sRGB.
    fn lab(colour: [f64; 3]) -> [f64; 3] {
        let to_xyz = [
            [0.4124, 0.3576, 0.1805],
            [0.2126, 0.7152, 0.0722],
            [0.0193, 0.1192, 0.9505],
        ];
        let xyz = product(&to_xyz, colour.map(|share| share.clamp(0.0, 1.0)));
        let white = [0.9505, 1.0, 1.089];
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let share = xyz[axis] / white[axis];
            match share > 0.008856 {
                true => share.cbrt(),
                false => 7.787 * share + 16.0 / 116.0,
            }
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn whatever_colours_a_reader_sees_any_two_series_are_told_apart() {
        let by_day = COLOURS.map(|(by_day, _)| by_day);
        let by_night = COLOURS.map(|(_, by_night)| by_night);
        for (vision, matrix) in &VISIONS {
            for colours in [by_day, by_night] {
                let seen = colours.map(|colour| lab(product(matrix, linear(colour))));
                for (number, one) in seen.iter().enumerate() {
                    for (more, other) in seen[number + 1..].iter().enumerate() {
                        let squares = one
                            .iter()
                            .zip(other)
                            .map(|(one, other)| (one - other).powi(2));
                        let apart = squares.sum::<f64>().sqrt();
                        let pair = (colours[number], colours[number + 1 + more]);
                        assert!(apart >= 10.0, "{vision}: {pair:?} differ by {apart:.1}");
                    }
                }
            }
        }
    }

    #[test]
    fn in_grey_any_two_lines_differ_by_their_dashes() {
        for one in 0..COLOURS.len() {
            for other in 0..one {
                assert_ne!(dashes(one, 0), dashes(other, 0), "{one} and {other}");
            }
            assert_ne!(dashes(one, 0), dashes(one, 1), "{one}");
        }
        let styles: BTreeSet<&str> = DASHES.iter().map(|(_, style)| *style).collect();
        assert_eq!(styles.len(), DASHES.len());
    }

    /// A line of 3 : 1 against its paper is seen by those who see little (WCAG 2.2, 1.4.11).
    #[test]
    fn every_colour_stands_out_from_its_paper() {
        let luminance = |colour: &str| {
            let [red, green, blue] = linear(colour);
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        };
        for (by_day, by_night) in COLOURS {
            assert!(luminance("#ffffff") / luminance(by_day) >= 3.0, "{by_day}");
            assert!(
                luminance(by_night) / luminance("#0d1117") >= 3.0,
                "{by_night}"
            );
        }
    }
}
