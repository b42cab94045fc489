//! The hotel by hand: the same bodies, which change what they are given.

use std::collections::HashMap;

use async_trait::async_trait;

use crate::workloads::hotel::{Phase, Said, TURNS, answers, asks, done, is_bad};

#[derive(Default)]
pub(crate) struct Hotel {
    pub(crate) log: Vec<Said>,
    pub(crate) phase: Phase,
    criteria: HashMap<String, String>,
    hotel: String,
    table: Vec<(u64, f64)>,
    turn: u64,
    retries: u32,
    ok: bool,
}

impl Hotel {
    /// What a super-step leaves, as JSON.
    pub(crate) fn delta(&self, said: &[Said]) -> Vec<u8> {
        serde_json::to_vec(&(said, self.phase, self.turn, self.retries, self.ok)).expect("JSON")
    }
}

#[async_trait]
trait Step: Send + Sync {
    async fn run(&self, hotel: &mut Hotel) -> Vec<Said>;
}

struct Agent(Phase);
struct Gate;
struct Tools;

#[async_trait]
impl Step for Agent {
    async fn run(&self, hotel: &mut Hotel) -> Vec<Said> {
        vec![answers(self.0, hotel.turn, hotel.retries, hotel.log.last())]
    }
}

#[async_trait]
impl Step for Gate {
    async fn run(&self, hotel: &mut Hotel) -> Vec<Said> {
        let bad = is_bad(hotel.log.last());
        hotel.ok = !bad;
        hotel.retries = if bad { hotel.retries + 1 } else { 0 };
        Vec::new()
    }
}

#[async_trait]
impl Step for Tools {
    async fn run(&self, hotel: &mut Hotel) -> Vec<Said> {
        let Some(Said::Ai(_, calls)) = hotel.log.last() else { return Vec::new() };
        let (calls, turn) = (calls.clone(), hotel.turn);
        for call in &calls {
            match &*call.name {
                "capture_choices" => {
                    let city = call.args["city"].as_str().expect("a city").to_owned();
                    hotel.criteria.insert(format!("k{turn}"), city);
                    if turn == 4 {
                        hotel.phase = Phase::Present;
                    }
                }
                "chosen_hotel" => {
                    hotel.hotel = format!("hotel-{turn}");
                    if turn == 7 {
                        hotel.phase = Phase::Compare;
                    }
                }
                _ => hotel.table.push((turn, 4.5)),
            }
        }
        calls.iter().map(done).collect()
    }
}

/// A conversation: how many super-steps it took, and what it left. Each super-step is given to `keep`.
pub(crate) async fn conversation(keep: &mut dyn FnMut(&[Said], &Hotel)) -> (u64, Hotel) {
    let agents = [Phase::Explore, Phase::Present, Phase::Compare].map(|phase| Box::new(Agent(phase)) as Box<dyn Step>);
    let (gate, tools): (Box<dyn Step>, Box<dyn Step>) = (Box::new(Gate), Box::new(Tools));
    let (mut hotel, mut steps) = (Hotel::default(), 0);
    let mut step = async |step: &dyn Step, hotel: &mut Hotel| {
        let said = step.run(hotel).await;
        keep(&said, hotel);
        hotel.log.extend(said);
        steps += 1;
    };
    for turn in 1..=TURNS {
        hotel.turn = turn;
        hotel.log.push(asks(turn));
        loop {
            let agent = &*agents[hotel.phase as usize];
            step(agent, &mut hotel).await;
            step(&*gate, &mut hotel).await;
            if !hotel.ok {
                continue;
            }
            if !matches!(hotel.log.last(), Some(Said::Ai(_, calls)) if !calls.is_empty()) {
                break;
            }
            step(&*tools, &mut hotel).await;
        }
    }
    (steps, hotel)
}
