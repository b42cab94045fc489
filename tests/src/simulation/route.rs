//! Moves of the plan as typed routes of the engine.

use graph_engine::{
    Builder, CanDirect, CanFinish, CanStay, Command, END, Next, NodeError, Payload, Route, RouteSpec, START, TargetSpec,
};

use super::behave::{Hop, Way};
use super::plan::NAMES;
use super::state::{Sim, SimUpdate};

/// What a router does: a choice, an error or a panic.
pub(super) type Decide = Box<dyn Fn(&Sim) -> Result<Way, NodeError> + Send + Sync>;

/// Every node, then every node with a payload, then the end.
struct Anywhere(usize, Option<u64>);

const fn everywhere() -> [TargetSpec; 2 * NAMES.len() + 1] {
    let mut targets = [TargetSpec::new(END); 2 * NAMES.len() + 1];
    let mut at = 0;
    while at < NAMES.len() {
        targets[at] = TargetSpec::new(NAMES[at]);
        targets[NAMES.len() + at] = TargetSpec::with_payload::<u64>(NAMES[at]);
        at += 1;
    }
    targets
}

static EVERYWHERE: [TargetSpec; 2 * NAMES.len() + 1] = everywhere();
static ANYWHERE: RouteSpec = RouteSpec::new(&EVERYWHERE).moves(true, true, true);

impl Route for Anywhere {
    const SPEC: &'static RouteSpec = &ANYWHERE;

    fn into_target(self) -> (usize, Option<Payload>) {
        match self {
            Self(to, None) => (to, None),
            Self(to, Some(payload)) => (NAMES.len() + to, Some(Payload::new(payload))),
        }
    }
}

impl CanStay for Anywhere {}
impl CanDirect for Anywhere {}
impl CanFinish for Anywhere {}

impl Aims for Anywhere {
    fn aim(to: Option<usize>, payload: Option<u64>) -> Self {
        match to {
            Some(to) => Self(to, payload),
            None => Self(2 * NAMES.len(), None),
        }
    }
}

/// A router of a node between two others and the end.
struct Via<const A: usize, const B: usize>(usize, Option<u64>);

impl<const A: usize, const B: usize> Via<A, B> {
    const TARGETS: &'static [TargetSpec] = &[
        TargetSpec::new(NAMES[A]),
        TargetSpec::new(NAMES[B]),
        TargetSpec::with_payload::<u64>(NAMES[A]),
        TargetSpec::with_payload::<u64>(NAMES[B]),
        TargetSpec::new(END),
    ];
    const WHOLE: RouteSpec = RouteSpec::new(Self::TARGETS).moves(true, true, true);
}

impl<const A: usize, const B: usize> Route for Via<A, B> {
    const SPEC: &'static RouteSpec = &Self::WHOLE;

    fn into_target(self) -> (usize, Option<Payload>) {
        match self.1 {
            Some(payload) => (self.0 + 2, Some(Payload::new(payload))),
            None => (self.0, None),
        }
    }
}

impl<const A: usize, const B: usize> CanStay for Via<A, B> {}
impl<const A: usize, const B: usize> CanDirect for Via<A, B> {}
impl<const A: usize, const B: usize> CanFinish for Via<A, B> {}

impl<const A: usize, const B: usize> Aims for Via<A, B> {
    fn aim(to: Option<usize>, payload: Option<u64>) -> Self {
        match to {
            Some(to) if to == A => Self(0, payload),
            Some(_) => Self(1, payload),
            None => Self(4, None),
        }
    }
}

/// The router of START to one node or the end: it can't stay.
struct Into<const A: usize>(usize, Option<u64>);

impl<const A: usize> Into<A> {
    const TARGETS: &'static [TargetSpec] =
        &[TargetSpec::new(NAMES[A]), TargetSpec::with_payload::<u64>(NAMES[A]), TargetSpec::new(END)];
    const WHOLE: RouteSpec = RouteSpec::new(Self::TARGETS).moves(false, true, false);
}

impl<const A: usize> Route for Into<A> {
    const SPEC: &'static RouteSpec = &Self::WHOLE;

    fn into_target(self) -> (usize, Option<Payload>) {
        (self.0, self.1.map(Payload::new))
    }
}

impl<const A: usize> CanDirect for Into<A> {}

impl<const A: usize> Aims for Into<A> {
    fn aim(to: Option<usize>, payload: Option<u64>) -> Self {
        match (to, payload) {
            (None, _) => Self(2, None),
            (Some(_), None) => Self(0, None),
            (Some(_), payload) => Self(1, payload),
        }
    }
}

/// A route that is made from a place and a payload.
trait Aims: Route {
    fn aim(to: Option<usize>, payload: Option<u64>) -> Self;
}

fn hops<R: Aims>(hops: &[Hop]) -> Next<R> {
    let aimed = |hop: &Hop| R::aim(hop.to, hop.send.flatten());
    match hops {
        [hop] if hop.send.is_none_or(|payload| payload.is_some()) => Next::go(aimed(hop)),
        _ if hops.iter().all(|hop| hop.send.is_some()) => Next::fan_out(hops.iter().map(aimed)),
        _ => Next::go_all(hops.iter().map(aimed)),
    }
}

/// The command of a node.
pub(super) fn command(way: &Way, update: SimUpdate) -> impl graph_engine::IntoOutcome<Sim> + use<> {
    let command: Command<Sim, Anywhere> = match way {
        Way::Declared => Command::declared(),
        Way::Hops(to) => hops::<Anywhere>(to).into(),
        // Only the engine makes one.
        Way::Rescue(..) => Command::declared(),
        Way::Stay(feedback) => Command::stay(feedback),
        Way::Direct(reply) => Command::direct(reply),
        Way::Finish(reply) => Command::finish(reply),
    };
    command.with(update)
}

fn next<R: Aims + CanStay + CanDirect + CanFinish>(way: &Way) -> Next<R> {
    match way {
        Way::Declared => Next::declared(),
        Way::Hops(to) => hops(to),
        Way::Rescue(..) => Next::declared(),
        Way::Stay(feedback) => Next::stay(feedback),
        Way::Direct(reply) => Next::direct(reply),
        Way::Finish(reply) => Next::finish(reply),
    }
}

type Add = fn(Builder<Sim>, usize, Decide) -> Builder<Sim>;

fn via<const A: usize, const B: usize>(builder: Builder<Sim>, from: usize, decide: Decide) -> Builder<Sim> {
    builder.route(NAMES[from], move |sim| decide(sim).map(|way| next::<Via<A, B>>(&way)))
}

fn into<const A: usize>(builder: Builder<Sim>, _: usize, decide: Decide) -> Builder<Sim> {
    builder.route(START, move |sim| {
        decide(sim).map(|way| match way {
            Way::Direct(reply) => Next::direct(reply),
            Way::Hops(to) => hops::<Into<A>>(&to),
            _ => Next::declared(),
        })
    })
}

macro_rules! row {
    ($a:literal) => {
        [
            via::<$a, 0>,
            via::<$a, 1>,
            via::<$a, 2>,
            via::<$a, 3>,
            via::<$a, 4>,
            via::<$a, 5>,
            via::<$a, 6>,
            via::<$a, 7>,
            via::<$a, 8>,
            via::<$a, 9>,
        ]
    };
}

static ROUTERS: [[Add; 10]; 10] =
    [row!(0), row!(1), row!(2), row!(3), row!(4), row!(5), row!(6), row!(7), row!(8), row!(9)];
static ENTRIES: [Add; 10] =
    [into::<0>, into::<1>, into::<2>, into::<3>, into::<4>, into::<5>, into::<6>, into::<7>, into::<8>, into::<9>];

/// Adds the router of a node between two others and the end.
pub(super) fn add_router(builder: Builder<Sim>, from: usize, to: (usize, usize), decide: Decide) -> Builder<Sim> {
    ROUTERS[to.0][to.1](builder, from, decide)
}

/// Adds the router of START.
pub(super) fn add_entry(builder: Builder<Sim>, to: usize, decide: Decide) -> Builder<Sim> {
    ENTRIES[to](builder, to, decide)
}
