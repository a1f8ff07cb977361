//! Elements, numbers and colours of an SVG file.

use std::collections::BTreeMap;
use std::io;
use std::iter::Peekable;

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;

pub(super) type Attributes = BTreeMap<String, String>;

/// The fault of a drawing with something that figures are not drawn with.
pub(super) fn unknown(what: &str) -> io::Error {
    io::Error::other(format!("the drawing has {what}, which no PDF is made of"))
}

/// An element's name, and what its attributes say.
pub(super) fn element(start: &BytesStart<'_>) -> io::Result<(String, Attributes)> {
    let attributes = start.attributes().map(|attribute| {
        let attribute = attribute.map_err(io::Error::other)?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(io::Error::other)?;
        Ok((attribute.key.as_ref().to_owned(), value.into_owned()))
    });
    let name = start.local_name().as_ref().to_owned();
    Ok((name, attributes.collect::<io::Result<_>>()?))
}

/// A number among attributes.
pub(super) fn number(attributes: &Attributes, name: &str) -> io::Result<f32> {
    let value = attributes.get(name).map_or("0", String::as_str);
    parsed(value)
}

/// A finite number.
pub(super) fn parsed(value: &str) -> io::Result<f32> {
    let number = value
        .parse::<f32>()
        .ok()
        .filter(|number| number.is_finite());
    number.ok_or_else(|| unknown(&format!("`{value}` for a number")))
}

/// All numbers of a text, between spaces and commas.
pub(super) fn numbers(text: &str) -> io::Result<Vec<f32>> {
    let pieces = text.split([' ', ',']).filter(|piece| !piece.is_empty());
    pieces.map(parsed).collect()
}

/// The colour `#rrggbb`; `None` for `none`.
pub(super) fn colour_of(text: &str) -> io::Result<Option<[f32; 3]>> {
    if text == "none" {
        return Ok(None);
    }
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6);
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let [_, colour @ ..] = number
        .ok_or_else(|| unknown(&format!("the colour `{text}`")))?
        .to_be_bytes();
    // Thousandths are finer than 255 steps.
    Ok(Some(
        colour.map(|part| (f32::from(part) / 0.255).round() / 1000.0),
    ))
}

/// What comes before the next letter, which begins the next piece of a path.
pub(super) fn until_letter(letters: &mut Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(letter) = letters.next_if(|letter| !letter.is_ascii_alphabetic()) {
        text.push(letter);
    }
    text
}
