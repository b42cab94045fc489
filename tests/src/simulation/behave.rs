//! What a node or router does, as a pure function of the plan and of what it was given: asked by the nodes when they
//! run, and by the oracle when it judges them.

use super::plan::{GraphPlan, Moves, Target};
use super::rng::{Rng, mix};
use super::state::{Entry, Op, PANICS, REFUSED, View};

/// What a node was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// The turn, counted by the session from 0.
    pub turn: u64,
    /// The task.
    pub step: u64,
    /// Its place in the frontier.
    pub rank: u32,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The node.
    pub node: usize,
    /// The state.
    pub view: View,
    /// What was sent to it.
    pub payload: Option<u64>,
    /// What stays said.
    pub feedback: Vec<u64>,
}

/// What a node does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Act {
    /// Events before the work.
    pub emits: u32,
    /// It tells at every 4 ms that it lives.
    pub beats: bool,
    /// How long it works, in milliseconds.
    pub delay: u64,
    /// How it ends.
    pub end: End,
}

/// How an attempt ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With an update and a move.
    Done(Vec<Op>, Way),
    /// With a failure that may be tried again.
    Retryable,
    /// With one that may not.
    Fatal,
    /// With a panic.
    Panic,
}

/// Where to go next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The declared edges or router.
    Declared,
    /// These, in this order.
    Hops(Vec<Hop>),
    /// Again.
    Stay(u64),
    /// The node that takes over from the failed task, and what it is given.
    Rescue(usize, u64),
    /// A reply.
    Direct(u64),
    /// The last reply of the thread.
    Finish(u64),
}

/// A target: plain, or sent with or without a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    /// The node.
    pub to: Target,
    /// `None` is a plain target.
    pub send: Option<Option<u64>>,
}

/// Longer than any timeout, in milliseconds.
const LONG: u64 = 4000;

/// What the node does when it is called like this.
#[must_use]
pub(super) fn behave(graph: &GraphPlan, seed: u64, call: &Call) -> Act {
    let Call { turn, step, rank, attempt, node, view, payload, feedback } = call;
    let given = payload.map_or(0, |payload| payload + 1);
    let said = feedback.iter().fold(0, |hash, word| mix(&[hash, *word]));
    let place = mix(&[seed, *turn, *step, u64::from(*rank), u64::from(*attempt), *node as u64]);
    let mut rng = Rng::of(&[place, mix(&view.words()), given, said]);
    let plan = &graph.nodes[*node];
    let temper = plan.temper;
    let emits = if rng.percent(25) { 1 + u32::from(rng.percent(50)) } else { 0 };
    let delay = if rng.percent(temper.hangs) {
        LONG
    } else if rng.percent(temper.slow) {
        4 * rng.between(1, 8)
    } else {
        0
    };
    let end = if rng.percent(temper.retryable) {
        End::Retryable
    } else if rng.percent(temper.fatal) {
        End::Fatal
    } else if rng.percent(temper.panics) {
        End::Panic
    } else {
        let entry = Entry(*step, *rank, *node, *attempt);
        End::Done(writes(graph, *node, entry, &mut rng), command(graph, call, &mut rng))
    };
    Act { emits, beats: rng.percent(40), delay, end }
}

fn writes(graph: &GraphPlan, node: usize, entry: Entry, rng: &mut Rng) -> Vec<Op> {
    let temper = graph.nodes[node].temper;
    let mut ops = vec![Op::Log(entry.clone()), Op::Burn(1)];
    if rng.percent(50) {
        ops.push(Op::Add(i64::try_from(rng.below(1000)).unwrap_or(0)));
    }
    if rng.percent(30) {
        ops.push(Op::Last(rng.next()));
    }
    if rng.percent(30) {
        ops.push(Op::Draft(rng.next()));
    }
    if rng.percent(temper.owns) {
        ops.push(Op::Owner(rng.next()));
    }
    if rng.percent(temper.replaces) {
        ops.push(if rng.percent(30) { Op::Rewrite(vec![entry]) } else { Op::Replace(7) });
        if rng.percent(50) {
            ops.push(Op::Add(3));
        }
    }
    if rng.percent(temper.refused) {
        ops.push(Op::Add(if rng.percent(30) { PANICS } else { REFUSED }));
    }
    ops
}

/// Whether loops, stays and sends are still allowed.
fn fuelled(graph: &GraphPlan, turn: u64, view: &View) -> bool {
    view.fuel < graph.cap * (turn + 1)
}

fn command(graph: &GraphPlan, call: &Call, rng: &mut Rng) -> Way {
    let plan = &graph.nodes[call.node];
    let fuelled = fuelled(graph, call.turn, &call.view);
    let goes_back = |to: &usize| graph.nodes[*to].order <= plan.order;
    // An edge that leads back is left by a command once there is no fuel.
    let must = !fuelled && plan.edges.iter().flatten().any(goes_back);
    if !must && !rng.percent(plan.eager) {
        return Way::Declared;
    }
    let targets: Vec<usize> = plan.commands.iter().copied().filter(|to| fuelled || !goes_back(to)).collect();
    let way = choose(&targets, plan.can, fuelled, rng);
    match way {
        Way::Declared if must => Way::Hops(vec![Hop { to: None, send: None }]),
        other => other,
    }
}

/// One of the moves that are allowed; `Declared` when none is.
fn choose(targets: &[usize], can: Moves, fuelled: bool, rng: &mut Rng) -> Way {
    let value = rng.next() % 1000;
    let mut ways = Vec::new();
    if can.stay && fuelled {
        ways.extend([Way::Stay(value), Way::Stay(value)]);
    }
    if can.direct {
        ways.push(Way::Direct(value));
    }
    if can.finish {
        ways.push(Way::Finish(value));
    }
    let plain = |to: usize| Hop { to: Some(to), send: None };
    if !targets.is_empty() {
        let one = rng.pick(targets);
        ways.push(Way::Hops(vec![plain(one)]));
        ways.push(Way::Hops(targets.iter().rev().map(|to| plain(*to)).chain([plain(one)]).collect()));
        if can.send && fuelled {
            let count = 1 + rng.below(3);
            let send = |at: usize, to: usize| Hop { to: Some(to), send: Some(Some(value + at as u64)) };
            let sends: Vec<Hop> = (0..count).map(|at| send(at, rng.pick(targets))).collect();
            let mixed = sends.iter().copied().chain([plain(one)]).collect();
            ways.extend([Way::Hops(sends.clone()), Way::Hops(sends), Way::Hops(mixed)]);
            ways.push(Way::Hops(vec![Hop { to: Some(one), send: Some(None) }; count]));
        }
    }
    if ways.is_empty() { Way::Declared } else { ways.swap_remove(rng.below(ways.len())) }
}

/// What the router of a node chooses on this state, or that it fails in this turn: by an error (false) or a panic.
///
/// # Errors
/// Whether it panics.
pub(super) fn decide(graph: &GraphPlan, seed: u64, turn: u64, node: usize, view: &View) -> Result<Way, bool> {
    let plan = &graph.nodes[node];
    let Some(router) = plan.router else { return Ok(Way::Declared) };
    let mut failing = Rng::of(&[seed, turn, node as u64, 77]);
    if failing.percent(router.fails) {
        return Err(failing.percent(30));
    }
    let mut rng = Rng::of(&[seed, node as u64, mix(&view.words())]);
    let fuelled = fuelled(graph, turn, view);
    let mut targets = vec![router.a, router.b];
    targets.retain(|to| fuelled || graph.nodes[*to].order > plan.order);
    Ok(match choose(&targets, router.can, fuelled, &mut rng) {
        Way::Declared => Way::Hops(vec![Hop { to: None, send: None }]),
        way => way,
    })
}

/// What the router of START chooses.
///
/// # Errors
/// Whether it panics.
pub(super) fn enter(graph: &GraphPlan, seed: u64, turn: u64, view: &View) -> Result<Way, bool> {
    let mut rng = Rng::of(&[seed, turn, 99, mix(&view.words())]);
    if rng.percent(8) {
        return Err(rng.percent(30));
    }
    let to = graph.start[0];
    let value = rng.next() % 1000;
    let send = |payload| Hop { to: Some(to), send: Some(Some(payload)) };
    Ok(match rng.below(10) {
        0 => Way::Direct(value),
        1 => Way::Hops(vec![Hop { to: None, send: None }]),
        2 | 3 => Way::Hops(vec![send(value), send(value + 1), Hop { to: Some(to), send: None }]),
        _ => Way::Hops(vec![Hop { to: Some(to), send: None }]),
    })
}
