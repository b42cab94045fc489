//! What the concierge's graph allows, whatever a model says: the model is
//! scripted here, so that it can be wrong on purpose.

mod choosing;
mod criteria;
mod gates;
mod lookups;
mod script;
mod sentences;
mod stages;
mod visit;
