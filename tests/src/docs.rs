//! The examples of the documents outside of the crates, compiled and run as doc tests.

/// The README's example.
#[doc = include_str!("../../README.md")]
#[derive(Debug)]
pub struct Readme;

/// The guide to graphs in files.
#[doc = include_str!("../../docs/guide/config-graphs.md")]
#[derive(Debug)]
pub struct ConfigGraphsGuide;

/// The guide to child graphs.
#[doc = include_str!("../../docs/guide/children.md")]
#[derive(Debug)]
pub struct ChildrenGuide;

/// The guide to testing.
#[doc = include_str!("../../docs/guide/testing.md")]
#[derive(Debug)]
pub struct TestingGuide;

/// The guide to policies.
#[doc = include_str!("../../docs/guide/policies.md")]
#[derive(Debug)]
pub struct PoliciesGuide;

/// The guide to watching a turn.
#[doc = include_str!("../../docs/guide/watching.md")]
#[derive(Debug)]
pub struct WatchingGuide;

/// The guide to pausing and remembering.
#[doc = include_str!("../../docs/guide/pausing.md")]
#[derive(Debug)]
pub struct PausingGuide;

/// The guide to stores.
#[doc = include_str!("../../docs/guide/stores.md")]
#[derive(Debug)]
pub struct StoresGuide;

/// The guide to time travel.
#[doc = include_str!("../../docs/guide/time.md")]
#[derive(Debug)]
pub struct TimeGuide;

/// The guide to diagrams.
#[doc = include_str!("../../docs/guide/diagrams.md")]
#[derive(Debug)]
pub struct DiagramsGuide;

/// The page about stages.
#[doc = include_str!("../../docs/stages.md")]
#[derive(Debug)]
pub struct StagesPage;

/// The guide to models.
#[doc = include_str!("../../docs/guide/models.md")]
#[derive(Debug)]
pub struct ModelsGuide;

/// The guide to tools.
#[doc = include_str!("../../docs/guide/tools.md")]
#[derive(Debug)]
pub struct ToolsGuide;

/// The guide to MCP.
#[doc = include_str!("../../docs/guide/mcp.md")]
#[derive(Debug)]
pub struct McpGuide;

/// The guide to batches.
#[doc = include_str!("../../docs/guide/batching.md")]
#[derive(Debug)]
pub struct BatchingGuide;

/// The guide to messages.
#[doc = include_str!("../../docs/guide/messages.md")]
#[derive(Debug)]
pub struct MessagesGuide;

/// The guide to long-term stores.
#[doc = include_str!("../../docs/guide/longterm.md")]
#[derive(Debug)]
pub struct LongTermGuide;

/// The guide to plain functions that last.
#[doc = include_str!("../../docs/guide/functional.md")]
#[derive(Debug)]
pub struct FunctionalGuide;
