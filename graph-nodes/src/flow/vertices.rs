//! The vertices that a stage stands for.

use graph_engine::{Builder, Field, Name, NodeExt, State};
use serde_json::{Map, Value};

use super::enter::AllHooks;
use super::onward::Onward;
use super::stage::{Kind, ModelStage};
use super::{Catalogue, CompactNode, Cursor, EnterNode, FlowProblem, ModelEntry, Stage};
use crate::gate::{GatePolicy, Streaming};
use crate::stage::{AgentNode, GateNode, GatedNode, Seat, StageError, ToolsNode};
use crate::tool::ToolBox;

/// What all stages of a flow share.
pub(super) struct Parts<'a, S: State> {
    pub(super) seat: Seat<S>,
    pub(super) cursor: Field<S, Cursor>,
    pub(super) tools: &'a ToolBox<S>,
    pub(super) catalogue: &'a Catalogue,
    pub(super) model: Option<&'a str>,
    pub(super) parameters: &'a Map<String, Value>,
    pub(super) policy: &'a GatePolicy,
    pub(super) hooks: AllHooks<S>,
}

/// The vertices that ask and judge.
enum Asked<S: State> {
    Apart(Box<AgentNode<S>>, Box<GateNode<S>>),
    Together(Box<GatedNode<S>>),
}

impl<S: State> Asked<S> {
    fn new(agent: AgentNode<S>, gate: GateNode<S>, streaming: Streaming) -> Self {
        match streaming {
            Streaming::HoldAll => Self::Apart(Box::new(agent), Box::new(gate)),
            _ => Self::Together(Box::new(GatedNode::new(agent, gate).streaming(streaming))),
        }
    }

    fn check(&self) -> Result<(), StageError> {
        match self {
            Self::Apart(agent, gate) => gate.check_agent(agent),
            Self::Together(both) => both.check(),
        }
    }
}

fn named(stage: &Name, vertex: &str) -> Name {
    format!("{stage}_{vertex}").into()
}

impl<S: State> Parts<'_, S> {
    /// Adds the cluster of a stage, or what is wrong with it.
    pub(super) fn add(&self, builder: Builder<S>, stage: Stage<S>, problems: &mut Vec<FlowProblem>) -> Builder<S> {
        let Stage { name, kind, .. } = stage;
        let enter = EnterNode::new(&name, self.cursor).with_hooks(self.hooks.clone());
        match kind {
            Kind::Model(stage) => self.model_stage(builder, &name, enter, *stage, problems),
            Kind::Logic(node) => {
                let logic = named(&name, "logic");
                let node = node.layer(Onward(name.clone()));
                builder
                    .cluster(&name, &logic, |cluster| cluster.node(&name, enter).node(&logic, node).edge(&name, &logic))
            }
            Kind::End(text) => {
                let end = named(&name, "end");
                let node = super::end::EndNode { history: self.seat.history, text };
                builder.cluster(&name, &end, |cluster| cluster.node(&name, enter).node(&end, node).edge(&name, &end))
            }
        }
    }

    fn model_stage(
        &self,
        builder: Builder<S>,
        name: &Name,
        enter: EnterNode<S>,
        mut stage: ModelStage<S>,
        problems: &mut Vec<FlowProblem>,
    ) -> Builder<S> {
        let seat = Seat { history: stage.memory.unwrap_or(self.seat.history), ..self.seat };
        let names = ["agent", "gate", "tools", "compact"].map(|vertex| named(name, vertex));
        let [agent_name, gate_name, tools_name, compact_name] = &names;
        let compact =
            stage.compaction.take().map(|compaction| CompactNode::new(name, seat.history, compaction).book(seat.book));
        let agent = self.agent(name, seat, &mut stage, problems);
        let gate = self.gate(name, seat, &mut stage, tools_name);
        let run = (!stage.tools.is_empty()).then(|| {
            let run = ToolsNode::new(name, seat, self.tools.clone(), &stage.tools)
                .then(agent_name)
                .targets(stage.leads_to.iter().cloned());
            stage.run.iter().fold(run, |run, change| change(run))
        });
        let asked = Asked::new(agent, gate, stage.streaming);
        let wrong = asked.check().err();
        problems.extend(wrong.map(|reason| FlowProblem::Vertex { stage: name.clone(), reason: reason.to_string() }));
        builder.cluster(name, agent_name, |mut cluster| {
            cluster = cluster.node(name, enter);
            cluster = match compact {
                Some(compact) => {
                    cluster.node(compact_name, compact).edge(name, compact_name).edge(compact_name, agent_name)
                }
                None => cluster.edge(name, agent_name),
            };
            cluster = match asked {
                Asked::Apart(agent, gate) => {
                    cluster.node(agent_name, *agent).node(gate_name, *gate).edge(agent_name, gate_name)
                }
                Asked::Together(both) => cluster.node(agent_name, *both),
            };
            match run {
                Some(run) => cluster.node(tools_name, run),
                None => cluster,
            }
        })
    }

    fn agent(
        &self,
        name: &Name,
        seat: Seat<S>,
        stage: &mut ModelStage<S>,
        problems: &mut Vec<FlowProblem>,
    ) -> AgentNode<S> {
        let policy = stage.policy.as_ref().unwrap_or(self.policy);
        let mut agent = AgentNode::new(name, seat).policy(policy);
        match stage.prompt.take() {
            None => {}
            Some(Ok(prompt)) => agent = agent.try_prompt(move |state| prompt(state)),
            Some(Err(reason)) => problems.push(FlowProblem::Template { stage: name.clone(), reason }),
        }
        match self.tools.expose(&stage.tools) {
            Ok(tools) => agent = agent.tools(tools),
            Err(reason) => problems.push(FlowProblem::Tools { stage: name.clone(), reason }),
        }
        if let Some(examples) = stage.examples.take() {
            agent = agent.examples(move |state| examples(state));
        }
        agent = agent.tool_choice(stage.choice.clone());
        let entry = self.entry(name, stage.model.as_deref(), problems);
        if let Some(model) = entry.and_then(ModelEntry::model) {
            agent = agent.with_model(model);
        }
        if let Some(name_of_fallback) = stage.fallback.take()
            && let Some(entry) = self.entry(name, Some(&name_of_fallback), problems)
        {
            match entry.model() {
                Some(model) => agent = agent.fallback_model(model),
                None => problems.push(FlowProblem::ProvidedFallback { stage: name.clone(), model: name_of_fallback }),
            }
        }
        let mut parameters = self.parameters.clone();
        parameters.append(&mut stage.parameters);
        if let Some(entry) = entry {
            let unknown = parameters.keys().filter(|parameter| !entry.can(parameter));
            problems.extend(unknown.map(|parameter| FlowProblem::unsupported(name, entry, parameter)));
        }
        let id = entry.and_then(ModelEntry::provider_id).map(str::to_owned);
        let configure = stage.request.take();
        let structured = stage.validators.structured().cloned().or_else(|| stage.output.take());
        agent = agent.request(move |state, mut request| {
            request.model.clone_from(&id);
            request.parameters.extend(parameters.clone());
            if let Some(structured) = &structured {
                request = structured.request(request);
            }
            match &configure {
                Some(configure) => configure(state, request),
                None => request,
            }
        });
        stage.agent.iter().fold(agent, |agent, change| change(agent))
    }

    fn entry(&self, name: &Name, model: Option<&str>, problems: &mut Vec<FlowProblem>) -> Option<&ModelEntry> {
        let model = model.or(self.model)?;
        let entry = self.catalogue.get(model);
        if entry.is_none() {
            problems.push(FlowProblem::UnknownModel {
                stage: name.clone(),
                model: model.to_owned(),
                known: self.catalogue.names().map(str::to_owned).collect(),
            });
        }
        entry
    }

    fn gate(&self, name: &Name, seat: Seat<S>, stage: &mut ModelStage<S>, tools: &Name) -> GateNode<S> {
        let policy = stage.policy.clone().unwrap_or_else(|| self.policy.clone());
        let validators = std::mem::take(&mut stage.validators);
        let mut gate = GateNode::new(name, seat, policy, validators).accepted(stage.accepted.clone());
        for (edge, node) in stage.edges.drain(..) {
            gate = gate.escalate(edge, node);
        }
        if let Some(node) = stage.exhausted.take() {
            gate = gate.exhausted(node);
        }
        if !stage.tools.is_empty() {
            gate = gate.calls(tools);
        }
        stage.gate.iter().fold(gate, |gate, change| change(gate))
    }
}
