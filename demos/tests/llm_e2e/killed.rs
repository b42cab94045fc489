//! The crash proof: the program is killed while the model writes its second answer of a turn. Started again, the turn
//! is finished, and the first stage isn't asked again.

use crate::proxy::Proxy;
use demos::hotel::guided;
use graph_engine_sqlite::SqliteStore;
use graph_nodes::message::check_history;
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn start(folder: &Path, url: &str, resume: bool) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotel"));
    command.args(["--today", "2026-06-10", "--thread", "anna", "--guided", "--llm", url, "--model", "local"]);
    command.args(resume.then_some("--resume")).current_dir(folder).env_remove("OPENAI_API_KEY");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn killed_in_the_second_call_of_the_model_the_first_stage_is_not_asked_again() {
    let Some(url) = crate::server() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("llm_e2e");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    // The program never sees the second answer, although the model writes it.
    let proxy = Proxy::start(&url, Some(1));
    let mut hotel = start(&folder, &proxy.url(), false);
    std::io::Write::write_all(hotel.stdin.as_mut().unwrap(), b"Lisbon 3-6 July for 2\n").unwrap();
    proxy.wait_for(1);
    // SIGKILL: the program learns nothing of it.
    hotel.kill().unwrap();
    hotel.wait().unwrap();
    assert_eq!(proxy.seen().len(), 2);

    let output = start(&folder, &proxy.url(), true).wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said} {}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("I found 11 hotels: Lisbon, 3 to 6 July 2026 (3 nights), 2 guests."), "{said}");
    let seen = proxy.seen();
    assert_eq!(seen[0].offered(), ["find_hotels", "close_conversation"]);
    // What was asked when the program died is asked again, letter by letter; what was answered before is not.
    assert_eq!(seen[2].body, seen[1].body);
    assert!(seen[1..].iter().all(|asked| asked.offered() == ["tell_guest"]), "{seen:?}");

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = SqliteStore::open(folder.join("hotel.sqlite")).unwrap();
    let found = runtime.block_on(guided::graph().unwrap().runner().store(store).thread("anna").state()).unwrap();
    let state = &*found.state;
    assert_eq!(check_history(state.history.iter()), Ok(()));
    assert!(found.next.is_empty() && state.draft.is_none() && found.interrupts.is_empty());
    assert_eq!(
        (state.book.totals("explore").attempts, state.book.totals("present").attempts as usize),
        (1, seen.len() - 2)
    );
    // Only the answer that died is not in the book: nobody had received it.
    assert_eq!(state.book.tokens(), proxy.tokens() - seen[1].tokens);
    let calls: Vec<&str> =
        state.history.iter().flat_map(|message| message.calls()).map(|call| call.name.as_str()).collect();
    assert_eq!(calls, ["find_hotels", "tell_guest"]);
}
