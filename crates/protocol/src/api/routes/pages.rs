//! Pages for people. They are no part of the documented API.

use super::{Need, Op, Param, Reply, Route, Takes};

/// Filters of a page are parsed by the page: what it does not know it ignores, so old links keep working.
const FORM: usize = 16 * 1024;

const LANG: Param = Param("lang", Takes::Text(8), "The language: `en` or `zh`.");

pub(super) const ROUTES: &[Route] = &[
    Route::get(Op::ApiPage, "/api", Need::Anyone, "The API for readers").replies(&[Reply(
        200,
        "text/html",
        "The page.",
    )]),
    Route::get(Op::HomePage, "/", Need::Page, "Jobs and their runs")
        .query(&[
            LANG,
            Param("q", Takes::Text(100), "Part of a name or an id."),
            Param("status", Takes::Text(20), "Only jobs of this status."),
            Param("label", Takes::Text(264), "Only jobs with this label."),
            Param("cursor", Takes::Text(200), "Where the list begins."),
        ])
        .replies(&[Reply(200, "text/html", "The page.")]),
    Route::get(Op::SignInPage, "/sign-in", Need::Anyone, "Sign in")
        .query(&[
            LANG,
            Param(
                "code",
                Takes::Text(120),
                "A sign-in code, put into the form.",
            ),
            Param("next", Takes::Text(200), "Where to go afterwards."),
        ])
        .replies(&[Reply(200, "text/html", "The page.")]),
    Route::post(Op::SignIn, "/sign-in", Need::Anyone, "Sign in")
        .body("application/x-www-form-urlencoded", FORM)
        .replies(&[Reply(303, "", "To the page of jobs.")]),
    Route::post(Op::SignOut, "/sign-out", Need::Anyone, "Sign out").replies(&[Reply(
        303,
        "",
        "To the sign-in page.",
    )]),
    Route::get(
        Op::GetAsset,
        "/assets/{file}",
        Need::Anyone,
        "Styles and scripts",
    )
    .replies(&[Reply(200, "text/css", "The file.")]),
];
