//! Conversations that are kept: killed, gone on with, listed, forked, shared and refused.

mod kept;
mod killed;
mod place;
mod refused;
mod unfinished;
