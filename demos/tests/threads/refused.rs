//! What can't be done is said, with what to do instead.

use crate::place::Place;
use expect_test::expect;
use rusqlite::Connection;
use std::time::Duration;

#[test]
fn files_that_cannot_be_used_are_named_with_what_to_do() {
    let place = Place::new("files");
    assert_eq!(place.talk("--store no/such/folder", &[]).status.code(), Some(1));
    expect![[r#"
        hotel: conversations can't be kept in `no/such/folder`; name another file with `--store FILE`, or keep nothing with `--store memory`: the checkpoint store is unavailable: the file can't be opened: unable to open database file: no/such/folder; its folder has to be there and writable; repeating the call is harmless
    "#]].assert_eq(&place.said("--store no/such/folder", &[]));
    expect![[r#"
        hotel: conversations can't be kept in `.`; name another file with `--store FILE`, or keep nothing with `--store memory`: the checkpoint store is unavailable: the file can't be opened: unable to open database file: .; its folder has to be there and writable; repeating the call is harmless
    "#]].assert_eq(&place.said("--store .", &[]));
    std::fs::write(place.file(), "no database at all, and long enough to be read as a header: ".repeat(4)).unwrap();
    expect![[r#"
        hotel: conversations can't be kept in `hotel.sqlite`; name another file with `--store FILE`, or keep nothing with `--store memory`: the checkpoints of thread `(all of `hotel.sqlite`)` are corrupt: file is not a database; `PRAGMA integrity_check` says what is damaged, `sqlite3 FILE .recover` saves what can be read; read an older one with `state_at`, restore a backup or `delete` the thread
    "#]].assert_eq(&place.said("", &["hello"]));
    std::fs::remove_file(place.file()).unwrap();
    place.talk("", &["hello"]);
    let newer = Connection::open(place.file()).unwrap();
    newer.execute("INSERT INTO migrations VALUES (99, '')", []).unwrap();
    drop(newer);
    expect![[r#"
        hotel: conversations can't be kept in `hotel.sqlite`; name another file with `--store FILE`, or keep nothing with `--store memory`: the checkpoint store is unavailable: `hotel.sqlite` has schema version 99, this program knows 2; open it with the newer program that wrote it; repeating the call is harmless
    "#]].assert_eq(&place.said("--resume", &["hello"]));
}

#[test]
fn what_is_not_kept_is_named_with_what_is() {
    let place = Place::new("unknown");
    expect![[r#"
        hotel: there is no conversation in `hotel.sqlite`; begin one without `--resume`, `--history` and `--fork`
    "#]]
    .assert_eq(&place.said("--resume", &[]));
    expect![[r#"
        hotel: there is no conversation in `hotel.sqlite`; begin one without `--resume`, `--history` and `--fork`
    "#]]
    .assert_eq(&place.said("--history", &[]));
    place.talk("--thread anna", &["hello"]);
    place.talk("", &["hello"]);
    expect![[r#"
        hotel: there is no conversation `berta` in `hotel.sqlite`; name one that is there with `--thread`: `anna`, `guest-1`
    "#]].assert_eq(&place.said("--thread berta --resume", &[]));
    expect![[r#"
        hotel: `guest-1` has no entry 40 in its history, they are 1 to 4; `--history` lists them
    "#]]
    .assert_eq(&place.said("--fork 40", &[]));
    expect![[r#"
        hotel: `anna` has no entry 0 in its history, they are 1 to 4; `--history` lists them
    "#]]
    .assert_eq(&place.said("--thread anna --fork 0", &[]));
    expect![[r#"
        hotel: thread `guest-1` exists already; choose another id, or `delete` it first
    "#]]
    .assert_eq(&place.said("--thread anna --fork 1 --as guest-1", &[]));
    assert_eq!(place.talk("--thread a.b", &[]).status.code(), Some(2));
    assert_eq!(place.talk("--history --resume", &[]).status.code(), Some(2));
    assert_eq!(place.talk("--as anna", &[]).status.code(), Some(2));
}

/// A damaged row is met when it is read.
#[test]
fn a_damaged_conversation_is_an_error_and_others_go_on() {
    let place = Place::new("damaged");
    place.talk("--thread anna", &["hello"]);
    place.talk("--thread berta", &["hello"]);
    let file = Connection::open(place.file()).unwrap();
    let damage = "UPDATE blocks SET bytes = x'00' WHERE key >> 32 = (SELECT space FROM places WHERE thread = 'anna')";
    assert!(file.execute(damage, []).unwrap() > 0);
    drop(file);
    let output = place.talk("--thread anna", &["hello"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("hotel: ") && told.contains("anna") && told.contains("checkpoint"), "{told}");
    assert!(place.talk("--thread berta", &["hello"]).status.success());
}

#[test]
fn a_question_that_somebody_else_answered_is_not_answered_twice() {
    let place = Place::new("answered");
    let mut talk = place.start("--thread anna");
    talk.say(&["Lisbon 3-6 July for 2", "book the first", "yes"]);
    talk.read_to("Please say yes or no.");
    assert!(place.said("--thread anna", &["no"]).contains("nothing is booked"));
    talk.say(&["yes"]);
    let output = talk.end();
    assert_eq!(output.status.code(), Some(1));
    expect![[r#"
        > yes
        error: another program goes on with `anna` too, and was faster
        hotel: `anna` can't go on here; what was kept of it is whole, go on later with `--thread anna --resume`
    "#]]
    .assert_eq(&String::from_utf8([output.stdout, output.stderr].concat()).unwrap());
    assert!(place.state("anna").state.booking.is_none());
}

/// Both have read the same checkpoint when they write: exactly one wins.
#[test]
fn of_two_programs_on_one_thread_one_wins_and_the_other_says_so() {
    let place = Place::new("two");
    place.talk("--thread anna", &["Lisbon 3-6 July for 2"]);
    for _ in 0..10 {
        let mut talks = [place.start("--thread anna"), place.start("--thread anna")];
        talks.iter_mut().for_each(|talk| talk.read_to("Say \"more\""));
        let lock = place.lock();
        talks.iter_mut().for_each(|talk| {
            talk.say(&["compare the first two"]);
            talk.read_to("> compare");
        });
        // They have no way to say that they wait for the lock, so the moment is tried until it is met.
        std::thread::sleep(Duration::from_millis(300));
        drop(lock);
        let codes = talks.map(|talk| {
            let output = talk.end();
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert_eq!(!output.status.success(), said.contains("another program goes on with `anna` too"), "{said}");
            output.status.code()
        });
        assert!(place.state("anna").next.is_empty());
        if codes.contains(&Some(1)) {
            assert!(codes.contains(&Some(0)), "{codes:?}");
            return;
        }
    }
    panic!("the two never met");
}
