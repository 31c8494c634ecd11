//! The files that pages refer to. Their paths carry a digest, so that they can be cached for ever.

/// A file that is served as it is.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    stem: &'static str,
    extension: &'static str,
    /// For the `content-type` header.
    pub content_type: &'static str,
    /// The file.
    pub body: &'static str,
    digest: u64,
}

/// The style of all pages.
pub const STYLE: Asset = Asset::new(
    "app",
    "css",
    "text/css; charset=utf-8",
    include_str!("../assets/app.css"),
);
/// Refreshes live regions of a page.
pub const LIVE: Asset = Asset::new(
    "live",
    "js",
    "text/javascript; charset=utf-8",
    include_str!("../assets/live.js"),
);
/// The icon in the browser's tab.
pub const ICON: Asset = Asset::new(
    "icon",
    "svg",
    "image/svg+xml",
    include_str!("../assets/icon.svg"),
);

/// The mark in the head of the pages: part of the page, so that it takes the colour of the text.
pub(super) const MARK: &str = include_str!("../assets/mark.svg").trim_ascii();

impl Asset {
    const fn new(
        stem: &'static str,
        extension: &'static str,
        content_type: &'static str,
        body: &'static str,
    ) -> Self {
        Self {
            stem,
            extension,
            content_type,
            body,
            digest: fnv(body.as_bytes()),
        }
    }

    /// Where pages find it, such as `/assets/app.3f2a….css`.
    #[must_use]
    pub fn path(&self) -> String {
        format!(
            "/assets/{}.{:016x}.{}",
            self.stem, self.digest, self.extension
        )
    }
}

/// The asset at that path. An older digest finds nothing: its page is older than this Worker.
#[must_use]
pub fn find(path: &str) -> Option<Asset> {
    [STYLE, LIVE, ICON]
        .into_iter()
        .find(|asset| asset.path() == path)
}

/// FNV-1a, at compile time. Nobody gains by a collision: the files are our own.
const fn fnv(mut bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    while let [byte, rest @ ..] = bytes {
        hash = (hash ^ *byte as u64).wrapping_mul(0x0100_0000_01b3);
        bytes = rest;
    }
    hash
}
