//! Pages: what they look like in HTML, and that nothing in them needs a weaker content security policy.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::path::Path;

use cronwright::ui::{Lang, assets, lang};

mod sample;
use sample::pages;

#[test]
fn every_page_is_its_golden_file_in_both_languages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let mut changed = Vec::new();
    for (name, html) in pages() {
        // A digest in a path changes with every edit of the style; a line per element reads better.
        let mut html = html.replace("><", ">\n<") + "\n";
        for asset in [assets::STYLE, assets::LIVE, assets::ICON] {
            html = html.replace(
                &asset.path(),
                &format!(
                    "/assets/{}",
                    asset.content_type.split(['/', ';']).nth(1).unwrap()
                ),
            );
        }
        let file = folder.join(format!("{name}.html"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &html).unwrap();
        }
        if std::fs::read_to_string(&file).unwrap_or_default() != html {
            changed.push(name);
        }
    }
    assert!(
        changed.is_empty(),
        "changed: {changed:?}; if that is meant: UPDATE_GOLDEN=1 cargo test --test pages, and read the diff"
    );
}

#[test]
fn no_page_needs_inline_script_or_style() {
    for (name, html) in pages() {
        for tag in html
            .split('<')
            .skip(1)
            .map(|rest| rest.split('>').next().unwrap())
        {
            let lower = tag.to_ascii_lowercase();
            assert!(
                !lower.starts_with("style") && !lower.contains(" style="),
                "{name}: <{tag}>"
            );
            assert!(
                !lower.starts_with("script") || lower.contains(" src=\"/assets/"),
                "{name}: <{tag}>"
            );
            assert!(
                !lower
                    .split_whitespace()
                    .skip(1)
                    .any(|part| part.starts_with("on")),
                "{name}: <{tag}>"
            );
            assert!(
                !lower.contains("javascript:")
                    && !lower.starts_with("base")
                    && !lower.starts_with("meta http-equiv"),
                "{name}: <{tag}>"
            );
        }
        assert_eq!(
            html.matches("<script").count(),
            html.matches("</script>").count(),
            "{name}"
        );
        assert_eq!(html.matches("<h1").count(), 1, "{name} has one heading");
    }
}

#[test]
fn every_asset_a_page_names_is_found_and_small() {
    for (name, html) in pages() {
        for path in html.split('"').filter(|part| part.starts_with("/assets/")) {
            assert!(assets::find(path).is_some(), "{name}: {path}");
        }
    }
    assert!(
        assets::LIVE.body.len() <= 3 * 1024,
        "{}",
        assets::LIVE.body.len()
    );
    assert!(assets::find("/assets/app.css").is_none());
    for sink in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "DOMParser",
        "eval(",
        ".style",
    ] {
        assert!(
            !assets::LIVE.body.contains(sink),
            "{sink} is refused by the content security policy"
        );
    }
}

#[test]
fn what_is_not_known_is_never_shown_as_absent() {
    for (name, html) in pages()
        .into_iter()
        .filter(|(name, _)| name.contains("down"))
    {
        for absence in [
            "Has not run yet",
            "Nothing planned",
            "Nothing has run yet",
            "No jobs yet",
            "尚未执行",
            "没有计划点",
            "还没有",
        ] {
            assert!(!html.contains(absence), "{name} says {absence}");
        }
    }
}

#[test]
fn the_language_is_the_asked_one_then_the_preferred_one_then_english() {
    let cases = [
        (None, None, Lang::En),
        (Some("zh"), Some("en"), Lang::Zh),
        (Some("xx"), Some("zh-CN,zh;q=0.9,en;q=0.8"), Lang::Zh),
        (None, Some("fr, en;q=0.5, zh;q=0.7"), Lang::Zh),
        (None, Some("en-GB,en;q=0.9,zh;q=0.8"), Lang::En),
        (None, Some("zh;q=0, de"), Lang::En),
        (None, Some(";;;q=,,zh;q=abc"), Lang::En),
        (Some("zh-Hans"), None, Lang::Zh),
    ];
    for (asked, accepted, expected) in cases {
        assert_eq!(lang(asked, accepted), expected, "{asked:?} {accepted:?}");
    }
}

#[test]
fn chinese_pages_have_no_english_sentence_left() {
    let allowed = ["Cronwright", "API", "English", "UTC", "ID"];
    for (name, html) in pages()
        .into_iter()
        .filter(|(name, _)| name.starts_with("sign-in.zh") || name.starts_with("error.zh"))
    {
        for text in html
            .split('>')
            .filter_map(|part| part.split('<').next())
            .filter(|text| text.chars().any(|c| c.is_ascii_alphabetic()))
        {
            let data = ["0.1.0", "2026c", "/jobz", "not_found", "req_01"]
                .iter()
                .any(|word| text.contains(word));
            assert!(
                data || text
                    .split([' ', '·'])
                    .all(|word| !word.chars().any(|c| c.is_ascii_alphabetic())
                        || allowed.contains(&word)),
                "{name}: {text}"
            );
        }
    }
}
