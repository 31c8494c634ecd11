//! Pages: view struct in, HTML out, and nothing else. No clock, no storage, no request.
//!
//! Everything that a page shows is in its view struct, the time and the language included, so that a
//! page is a golden file away from being tested. Text is escaped by construction; pages carry no inline
//! script and no inline style, and work without scripts.

pub mod assets;
pub mod error;
pub mod home;
pub mod sign_in;

mod bars;
mod jobs;
mod layout;
mod runs;
mod text;
mod when;
mod words;

pub use cronwright_core::schedule::Lang;
pub use layout::Frame;
pub use when::Moment;

/// The language of a page: what `?lang=` asks for, else the first of `Accept-Language` that there is,
/// else English.
#[must_use]
pub fn lang(asked: Option<&str>, accept_language: Option<&str>) -> Lang {
    let known = |tag: &str| match tag.trim().split(['-', '_']).next() {
        Some(primary) if primary.eq_ignore_ascii_case("zh") => Some(Lang::Zh),
        Some(primary) if primary.eq_ignore_ascii_case("en") => Some(Lang::En),
        _ => None,
    };
    let weight = |entry: &str| {
        let quality = entry
            .split(';')
            .skip(1)
            .find_map(|part| part.trim().strip_prefix("q="));
        quality.map_or(1.0, |q| q.trim().parse::<f32>().unwrap_or(0.0))
    };
    let accepted = accept_language.unwrap_or_default().split(',');
    let mut best: Option<(f32, Lang)> = None;
    for entry in accepted {
        let found = entry.split(';').next().and_then(known);
        if let (Some(lang), quality) = (found, weight(entry))
            && quality > best.map_or(0.0, |(quality, _)| quality)
        {
            best = Some((quality, lang));
        }
    }
    asked
        .and_then(known)
        .or(best.map(|(_, lang)| lang))
        .unwrap_or(Lang::En)
}

/// The tag of a language in HTML and in `?lang=`.
#[must_use]
pub const fn tag(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "en",
        Lang::Zh => "zh",
    }
}
