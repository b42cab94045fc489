//! The program is killed while the model is asked for the second time in a turn. What the first answer did is kept, and
//! nobody pays for it twice.

use crate::played::{Apart, call, offered};
use demos::hotel::state::Hotel;
use graph_engine::{Thread, ThreadState};
use graph_engine_sqlite::SqliteStore;
use graph_nodes::message::check_history;
use graph_nodes_openai::testing::Reply;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

fn place(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("llm").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn start(folder: &Path, url: &str, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotel"));
    command.args(["--today", "2026-06-10", "--thread", "anna", "--guided", "--llm", url, "--model", "played"]);
    command.args(arguments).current_dir(folder).env_remove("OPENAI_API_KEY");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn state(folder: &Path) -> ThreadState<Hotel> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = SqliteStore::open(folder.join("hotel.sqlite")).unwrap();
    let thread: Thread<Hotel> = demos::hotel::guided::graph().unwrap().runner().store(store).thread("anna");
    runtime.block_on(thread.state()).unwrap()
}

#[test]
fn killed_in_the_second_call_of_the_model_the_first_is_not_made_again() {
    let folder = place("second_call");
    let find = call("find_hotels", json!({"city": "Lisbon", "dates": "3-6 July", "guests": 2}));
    let played = Apart::start(vec![find, Reply::never()]);
    let url = played.server.base_url();
    let mut hotel = start(&folder, &url, &[]);
    std::io::Write::write_all(hotel.stdin.as_mut().unwrap(), b"Lisbon 3-6 July for 2\n").unwrap();
    played.asked(2);
    hotel.kill().unwrap();
    hotel.wait().unwrap();

    // What the first stage did is there, and the second one waits.
    let found = state(&folder);
    assert_eq!(found.state.cursor.stage().map(|stage| stage.as_str()), Some("present"));
    assert_eq!((found.state.offers.len(), found.next.as_slice()), (11, &["present_agent".into()][..]));

    played.server.push(call("tell_guest", json!({})));
    let output = start(&folder, &url, &["--resume"]).wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("I found 11 hotels: Lisbon, 3 to 6 July 2026 (3 nights), 2 guests."), "{said}");
    let requests = played.server.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(offered(&requests[0]), ["find_hotels", "close_conversation"]);
    assert_eq!((&requests[2].body, offered(&requests[2])), (&requests[1].body, vec!["tell_guest".to_owned()]));

    let found = state(&folder);
    assert_eq!(check_history(found.state.history.iter()), Ok(()));
    assert!(found.next.is_empty() && found.state.draft.is_none());
    // One call of each stage is counted; the one that was cut off cost nothing that anybody reported.
    let attempts = |stage: &str| found.state.book.totals(stage).attempts;
    assert_eq!((attempts("explore"), attempts("present")), (1, 1));
    let calls: Vec<&str> =
        found.state.history.iter().flat_map(|message| message.calls()).map(|call| call.name.as_str()).collect();
    assert_eq!(calls, ["find_hotels", "tell_guest"]);
}
