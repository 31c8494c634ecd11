//! From a method and a path to a route.

use super::{Method, Route, all};

/// What a path and a method lead to.
#[derive(Debug)]
pub enum Found {
    /// A route, and what its parameters are.
    Route(&'static Route, Params),
    /// The path exists, with other methods.
    OtherMethods(Vec<Method>),
    /// Nothing.
    Nothing,
}

/// Parameters of a path, by name. At most two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params(Vec<(&'static str, String)>);

impl Params {
    /// The parameter of that name; empty when the route has none.
    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(known, _)| *known == name)
            .map_or("", |(_, value)| value)
    }
}

/// Finds the route of a path that passed [`crate::api::path::check`].
///
/// A path is the most literal template that fits it and no other: `/api/v1/jobs/preview` is never a job,
/// which is why no job may have that id ([`is_reserved`]). `HEAD` is the caller's business: it is `GET`
/// without a body.
#[must_use]
pub fn find(method: &str, path: &str) -> Found {
    let fitting = || all().filter_map(|route| fit(route.path, path).map(|params| (route, params)));
    let Some(fewest) = fitting().map(|(_, params)| params.0.len()).min() else {
        return Found::Nothing;
    };
    let mut others = Vec::new();
    for (route, params) in fitting().filter(|(_, params)| params.0.len() == fewest) {
        if route.method.as_str() == method {
            return Found::Route(route, params);
        }
        others.push(route.method);
    }
    others.sort_unstable();
    others.dedup();
    Found::OtherMethods(others)
}

/// Whether a job of that id would be hidden by a path of another meaning.
#[must_use]
pub fn is_reserved(job: &str) -> bool {
    let literal = |route: &Route| route.path.strip_prefix("/api/v1/jobs/") == Some(job);
    all().any(literal)
}

fn fit(template: &'static str, path: &str) -> Option<Params> {
    let mut params = Params::default();
    let mut found = path.split('/');
    for wanted in template.split('/') {
        let segment = found.next()?;
        match wanted
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'))
        {
            Some(name) if !segment.is_empty() => params.0.push((name, segment.to_owned())),
            None if wanted == segment => {}
            Some(_) | None => return None,
        }
    }
    found.next().is_none().then_some(params)
}

#[cfg(test)]
mod tests {
    use super::super::Op;
    use super::*;

    fn op(method: &str, path: &str) -> Option<(Op, Params)> {
        match find(method, path) {
            Found::Route(route, params) => Some((route.op, params)),
            Found::OtherMethods(_) | Found::Nothing => None,
        }
    }

    #[test]
    fn literals_go_before_parameters() {
        assert_eq!(
            op("POST", "/api/v1/jobs/preview").unwrap().0,
            Op::PreviewSchedule
        );
        assert!(op("GET", "/api/v1/jobs/preview").is_none());
        assert!(is_reserved("preview") && is_reserved("validate") && !is_reserved("order"));
    }

    #[test]
    fn parameters_are_read_by_name() {
        let (found, params) = op("POST", "/api/v1/endpoints/ep_1/deliveries/run_1/replay").unwrap();
        assert_eq!(found, Op::ReplayDelivery);
        assert_eq!(
            (
                params.get("endpointId"),
                params.get("scheduleId"),
                params.get("x")
            ),
            ("ep_1", "run_1", "")
        );
    }

    #[test]
    fn what_is_not_in_the_table_does_not_exist() {
        for path in [
            "/api/v1",
            "/api/v1/job",
            "/api/v1/jobs/a/b",
            "/api/v2/jobs",
            "/setup",
            "/api/v1/jobs/a/runs/b",
            "/assets",
            "",
        ] {
            assert!(matches!(find("GET", path), Found::Nothing), "{path}");
        }
    }

    #[test]
    fn another_method_is_told_which_ones_there_are() {
        let Found::OtherMethods(methods) = find("TRACE", "/api/v1/jobs/a") else {
            panic!("found")
        };
        assert_eq!(
            methods,
            [Method::Get, Method::Put, Method::Patch, Method::Delete]
        );
    }
}
