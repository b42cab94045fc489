//! One whole conversation with the offline model.

use super::visit::{TODAY, runner};
use demos::hotel::catalogue::Catalogue;
use demos::hotel::model::{Concierge, Faulty};
use demos::hotel::state::Hotel;
use demos::hotel::tools::Desk;
use futures_util::StreamExt as _;
use graph_engine::{EventKind, Mode, Name, Status, StreamOptions};
use graph_nodes::message::{Role, check_history};
use graph_nodes::model::ChatModel;
use std::sync::Arc;

/// Six turns of exploring, then presenting, two comparisons, a booking.
const SCRIPT: [&str; 13] = [
    "hello",
    "somewhere in Lisbon",
    "from 31 June",
    "3-6 July",
    "with wifi",
    "for two",
    "more",
    "compare the first two",
    "tell me about the first two and compare them by price",
    "are they free 10-12 August?",
    "book the second",
    "yes",
    // To the question of the program.
    "yes",
];

/// In no committed state of it a call is unanswered, whether the model errs or not.
#[tokio::test(start_paused = true)]
async fn no_state_of_the_whole_conversation_holds_an_unanswered_call() {
    for faulty in [false, true] {
        let model: Arc<dyn ChatModel> = if faulty { Arc::new(Faulty::new(Concierge)) } else { Arc::new(Concierge) };
        let desk = Arc::new(Desk::new(Catalogue::in_memory().unwrap()));
        let thread = runner(model, desk).thread("guest");
        let mut states = 0;
        let mut last = None;
        let mut asked = false;
        for said in SCRIPT {
            let turn = if asked { thread.resume(true) } else { thread.run(Hotel::said(said, TODAY)) };
            let mut events = turn.stream_with(StreamOptions::default().modes([Mode::Nodes, Mode::State]));
            while let Some(event) = events.next().await {
                if let EventKind::StepFinished { state: Some(state), .. } = event.kind {
                    assert_eq!(check_history(state.history.iter()), Ok(()), "{said}");
                    states += 1;
                }
            }
            let end = events.end().await.unwrap();
            asked = end.status == Status::Paused;
            last = Some(end);
        }
        let end = last.unwrap();
        assert_eq!(end.status, Status::Completed);
        assert_eq!(end.state.booking.as_ref().map(|booking| booking.hotel.as_str()), Some("Tram Bell Inn"));
        let path: Vec<&str> = end.state.cursor.path().map(Name::as_str).collect();
        assert_eq!(path, ["explore", "present", "compare", "booking", "goodbye"]);
        let answers = end.state.history.iter().filter(|message| message.role() == Role::Tool).count();
        let calls: usize = end.state.history.iter().map(|message| message.calls().len()).sum();
        assert_eq!(answers, calls);
        assert!(states > 60 && calls >= 14, "{states} states, {calls} calls");
    }
}
