//! Every word, an empty route, payloads, raw names; routes are returned as they are.
#![deny(warnings)]

use graph_engine::{CanDirect, CanFinish, CanStay, END, IntoNext, IntoOutcome, Move, Next, Route, State};

#[derive(State, Clone, Default)]
struct Trip {
    city: String,
}

#[derive(Route)]
#[route(stay, direct)]
#[route(finish)]
enum FromExplore {
    CompareAll,
    Quote(String),
    #[route(to = "explore-tools")]
    Tools,
    #[route(end)]
    r#Done,
}

#[derive(Route)]
#[route(stay)]
enum Again {}

fn all<R: CanStay + CanDirect + CanFinish>() {}

fn main() {
    all::<FromExplore>();
    let names: Vec<_> = FromExplore::SPEC.targets.iter().map(|target| target.name).collect();
    assert_eq!(names, ["compare_all", "quote", "explore-tools", END]);
    assert!(FromExplore::SPEC.targets[1].payload.is_some() && FromExplore::SPEC.targets[0].payload.is_none());
    assert!(
        FromExplore::SPEC.stay && FromExplore::SPEC.direct && FromExplore::SPEC.finish && !FromExplore::SPEC.dynamic
    );

    let (index, payload) = FromExplore::Quote("Inn".into()).into_target();
    assert_eq!((index, payload.unwrap().get::<String>().unwrap().as_str()), (1, "Inn"));
    assert_eq!(FromExplore::Done.into_target().0, 3);
    assert_eq!(FromExplore::Tools.into_next().unwrap().to_move(), Move::Go(vec!["explore-tools".into()]));
    let outcome = IntoOutcome::<Trip>::into_outcome(FromExplore::CompareAll).unwrap();
    assert_eq!(outcome.to_move(), Move::Go(vec!["compare_all".into()]));

    assert!(Again::SPEC.targets.is_empty() && Again::SPEC.stay && !Again::SPEC.direct);
    let _: Next<Again> = Next::stay("again");
    let _ = Trip::default().city;
}
