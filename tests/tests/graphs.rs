//! What a graph is before it runs: compiling, specs, exports.

mod compile_branches;
mod compile_levels;
mod compile_lints;
mod dyn_state;
mod exports;
mod graph_spec;
mod terminal_drawing;
