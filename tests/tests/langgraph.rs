//! Behaviours that users of LangGraph know or reported.

mod langgraph_checkpoints;
mod langgraph_failures;
mod langgraph_interrupts;
mod langgraph_limits;
mod langgraph_policies;
mod langgraph_routing;
mod langgraph_state;
mod langgraph_streams;
mod reported_bugs;
