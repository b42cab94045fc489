//! What the answers of all calls do to the state, and where they lead.

use graph_engine::{Name, NodeError, Outcome, State};

use super::conflict::{RouteOf, choose};
use super::correction::text_of;
use super::dispatch::Answered;
use super::{GateBook, NextPrompt, RouteConflict, StageError, ToolLedger, ToolsNode};
use crate::message::{Message, check_history};
use crate::model::Response;
use crate::tool::{ToolRoute, TypedReply};

/// One update and one route, made of everything.
pub(super) struct Effects<S: State> {
    pub(super) outcome: Outcome<S>,
    pub(super) conflict: Option<RouteConflict>,
}

impl<S: State> ToolsNode<S> {
    /// The assistant message, one tool message per call, then messages of the replies, then a direct reply; and behind
    /// them what the tools write.
    pub(super) fn effects(
        &self,
        response: &Response,
        mut answers: Vec<Answered<S>>,
        mut book: GateBook,
        ledger: ToolLedger,
    ) -> Result<Effects<S>, NodeError> {
        let (taken, conflict) = choose(&self.stage, answers.iter().filter_map(|one| one.route.clone()).collect());
        let content_type = taken.as_ref().and_then(|taken| {
            let of = |one: &&mut Answered<S>| one.route.as_ref().is_some_and(|route| route.call_id == taken.call_id);
            answers.iter_mut().find(of)?.extras.content_type.take()
        });
        let route = taken.map(|taken| taken.route);
        let route = self.unless_broken(route, &ledger).map_err(StageError::fatal)?;
        self.keep_prompt(route.as_ref(), &answers, &mut book);

        let mut messages = vec![response.to_message()];
        let (mut later, mut written) = (Vec::new(), S::Update::default());
        for one in answers {
            messages.push(one.message);
            later.extend(one.extras.messages);
            if let Some(update) = one.update {
                written = S::compose(written, update);
            }
        }
        messages.extend(later);
        if let Some(ToolRoute::Direct(reply) | ToolRoute::Finish(reply)) = &route {
            // An assistant that says nothing is nothing to remember.
            let text = text_of(reply);
            if !text.is_empty() {
                messages.push(Message::assistant(text));
            }
        }
        debug_assert_eq!(check_history(&messages), Ok(()), "stage `{}`", self.stage);

        let mut update = S::Update::default();
        self.seat.history.put(&mut update, messages.into_iter().collect());
        self.seat.draft.put(&mut update, None);
        book.tools.insert(self.stage.clone(), ledger);
        if let Some(conflict) = &conflict {
            book.conflict(conflict.clone());
        }
        self.seat.book.put(&mut update, book);
        let outcome = Outcome::of(S::compose(update, written));
        let typed = |content| match content_type {
            None => Ok(content),
            Some(content_type) => serde_json::to_value(TypedReply { content_type, content }).map_err(NodeError::fatal),
        };
        let outcome = match route {
            Some(ToolRoute::Finish(reply)) => outcome.finish(typed(reply)?),
            Some(ToolRoute::Direct(reply)) => outcome.direct(typed(reply)?),
            Some(ToolRoute::Go(node)) => outcome.go(node),
            Some(ToolRoute::Stay) | None => match &self.then {
                Some(node) => outcome.go(node),
                None => outcome,
            },
        };
        Ok(Effects { outcome, conflict })
    }

    /// The route, or the way out when the model would be asked again and no tool is left that it could call.
    fn unless_broken(&self, route: Option<ToolRoute>, ledger: &ToolLedger) -> Result<Option<ToolRoute>, StageError> {
        let Ok(tools) = &self.tools else { return Ok(route) };
        let names = || tools.entries().map(|entry| entry.spec.name.as_str());
        let again = matches!(route, None | Some(ToolRoute::Stay));
        let broken = again && names().next().is_some() && names().all(|tool| ledger.is_open(tool, self.guards.breaker));
        match &self.all_broken {
            _ if !broken => Ok(route),
            Some(node) => Ok(Some(ToolRoute::Go(node.clone()))),
            None => Err(StageError::AllToolsBroken {
                stage: self.stage.clone(),
                tools: names().map(str::to_owned).collect(),
            }),
        }
    }

    /// Where a route leads, as the key of a prompt; none for the end of the thread.
    fn destination<'a>(&'a self, route: Option<&'a ToolRoute>) -> Option<&'a Name> {
        match route {
            Some(ToolRoute::Go(node)) => Some(node),
            Some(ToolRoute::Finish(_)) => None,
            Some(ToolRoute::Stay | ToolRoute::Direct(_)) | None => Some(self.then.as_ref().unwrap_or(&self.stage)),
        }
    }

    /// Keeps the last prompt that is meant for where the stage goes.
    fn keep_prompt(&self, route: Option<&ToolRoute>, answers: &[Answered<S>], book: &mut GateBook) {
        let Some(to) = self.destination(route) else { return };
        let meant =
            answers.iter().filter(|one| self.destination(one.route.as_ref().map(|of: &RouteOf| &of.route)) == Some(to));
        if let Some(text) = meant.filter_map(|one| one.extras.prompt.as_ref()).next_back() {
            book.prompts.insert(to.clone(), NextPrompt { text: text.clone(), taken_by: None });
        }
    }
}
