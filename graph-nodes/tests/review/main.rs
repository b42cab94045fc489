//! Edges where one part meets another: broken keys, models that panic, turns that stop between two stages, replies that
//! would break a history.

mod batch;
mod cassette;
mod coalescer;
mod edges;
mod flow;
mod guards;
mod history;
mod support;
mod turns;
