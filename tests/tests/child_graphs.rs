//! Graphs inside graphs.

mod children;
mod children_drawn;
mod children_events;
mod children_interrupts;
mod children_persistence;
mod children_time;
mod children_unkept;
