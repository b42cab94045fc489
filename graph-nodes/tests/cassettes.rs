//! Recorded models: what is written, what is found again, and what is never written.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use graph_nodes::assemble::{AssemblyError, CallDelta};
use graph_nodes::message::{FinishReason, Message, ToolCall, Usage};
use graph_nodes::model::{
    Cassette, CassetteError, ChatModel, Chunk, FnModel, ModelError, Request, Response, ScriptedModel, ToolSpec, Turn,
};
use serde_json::{Value, json};

/// A file that is removed at the end of its test.
struct File(PathBuf);

impl File {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("graph-nodes-{}-{test}.jsonl", std::process::id()));
        drop(fs::remove_file(&path));
        Self(path)
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.0).unwrap()
    }

    fn lines(&self) -> Vec<String> {
        self.text().lines().map(str::to_owned).collect()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

fn scripted(turns: impl IntoIterator<Item = Turn>) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new(turns))
}

fn ask(text: &str) -> Request {
    Request::new([Message::user(text)])
}

async fn chunks(model: &dyn ChatModel, request: Request) -> Result<Vec<Result<Chunk, String>>, ModelError> {
    let items: Vec<_> = model.stream(request).await?.collect().await;
    Ok(items.into_iter().map(|item| item.map_err(|error| error.to_string())).collect())
}

#[tokio::test]
async fn chunks_and_errors_are_replayed_exactly() {
    let file = File::new("exactly");
    let turns = || {
        [
            Turn::text("grüße 🏨").with_call(ToolCall::new("c1", "search", &json!({"q": "日本"}))).cut_at([1, 3, 8]),
            Turn::text("half an answer").cut_at([4]).broken_after(1, ModelError::transport("reset")),
            Turn::error(ModelError::RateLimited {
                message: "slow".into(),
                retry_after: Some(Duration::from_millis(1500)),
            }),
            Turn::error(ModelError::Authentication { message: "bad key".into() }),
            Turn::error(ModelError::Quota { message: "no credit".into() }),
            Turn::error(ModelError::Provider {
                message: "busy".into(),
                retry_after: Some(Duration::from_secs(2)),
                received: Some(Box::default()),
            }),
            Turn::error(ModelError::truncated("no finish reason")),
            Turn::error(ModelError::rejected("unknown model")),
            Turn::error(ModelError::ContextTooLong { message: "long".into() }),
            Turn::error(AssemblyError::DuplicateId { call: 1, id: "c".into() }.into()),
            Turn::chunks([]),
        ]
    };
    let recording = Cassette::record(&file.0, scripted(turns())).open().unwrap();
    let plain = ScriptedModel::new(turns());
    let mut expected = Vec::new();
    for n in 0..11 {
        let live = chunks(&plain, ask(&format!("{n}"))).await.map_err(|error| error.to_string());
        let recorded = chunks(&recording, ask(&format!("{n}"))).await.map_err(|error| error.to_string());
        assert_eq!(live, recorded);
        expected.push(live);
    }
    recording.assert_done().unwrap();

    let replay = Cassette::replay(&file.0).open().unwrap();
    assert_eq!(replay.name(), "scripted");
    for (n, expected) in expected.into_iter().enumerate() {
        let request = ask(&format!("{n}"));
        let got = replay.stream(request).await;
        if n == 2 {
            assert_eq!(got.as_ref().err().unwrap().retry_after(), Some(Duration::from_millis(1500)));
        }
        let got = match got {
            Ok(stream) => Ok(stream.map(|item| item.map_err(|error| error.to_string())).collect::<Vec<_>>().await),
            Err(error) => Err(error.to_string()),
        };
        assert_eq!(got, expected);
    }
    assert_eq!(replay.assert_done(), Ok(()));
}

#[tokio::test]
async fn a_source_of_an_error_and_what_had_arrived_are_replayed() {
    let file = File::new("sources");
    let received = Box::new(Response::from_text("half").with_usage(Usage::new(7, 1)));
    let turns = [
        Turn::error(ModelError::Transport { message: "no answer".into(), source: Some("tls handshake".into()) }),
        Turn::error(ModelError::StreamBroken { message: "reset".into(), received }),
    ];
    let recording = Cassette::record(&file.0, scripted(turns)).open().unwrap();
    recording.complete(ask("a")).await.unwrap_err();
    recording.complete(ask("b")).await.unwrap_err();
    let replay = Cassette::replay(&file.0).open().unwrap();
    let error = replay.complete(ask("a")).await.unwrap_err();
    assert_eq!(std::error::Error::source(&error).map(ToString::to_string).as_deref(), Some("tls handshake"));
    let error = replay.complete(ask("b")).await.unwrap_err();
    assert_eq!(error.received().map(|response| response.text.as_str()), Some("half"));
}

#[tokio::test]
async fn the_same_request_gets_its_answers_in_order_and_no_one_more() {
    let file = File::new("order");
    let recording = Cassette::record(&file.0, scripted([Turn::text("one"), Turn::text("two")])).open().unwrap();
    recording.complete(ask("hi")).await.unwrap();
    recording.complete(ask("hi")).await.unwrap();

    let replay = Cassette::replay(&file.0).open().unwrap();
    assert_eq!(replay.complete(ask("hi")).await.unwrap().text, "one");
    let lines = CassetteError::Unused { path: file.0.clone(), lines: vec![2] };
    assert_eq!(replay.assert_done(), Err(lines.clone()));
    assert!(lines.to_string().starts_with("line 2 of the cassette `"), "{lines}");
    assert_eq!(replay.complete(ask("hi")).await.unwrap().text, "two");
    assert_eq!(replay.assert_done(), Ok(()));
    let error = replay.complete(ask("hi")).await.unwrap_err();
    assert!(!error.is_retryable());
    let ModelError::NotRecorded { nearest, .. } = &error else { panic!("{error}") };
    assert_eq!(nearest, "line 1 is equal, but it was asked for already");
    assert_eq!(replay.assert_done(), Err(CassetteError::Missing { path: file.0.clone(), requests: 1 }));
}

#[tokio::test]
async fn an_unknown_request_is_told_how_the_nearest_recorded_one_differs() {
    let file = File::new("nearest");
    let recording = Cassette::record(&file.0, scripted([Turn::text("a"), Turn::text("b")])).open().unwrap();
    let weather = |city: &str| {
        let tool = ToolSpec::new("weather", "The weather.", json!({"type": "object"}));
        ask(city).with_tools([tool]).with_parameter("temperature", 0)
    };
    recording.complete(ask("something else")).await.unwrap();
    recording.complete(weather("Bern")).await.unwrap();
    let replay = Cassette::replay(&file.0).open().unwrap();
    let nearest = async |request| match replay.complete(request).await.unwrap_err() {
        ModelError::NotRecorded { nearest, .. } => nearest,
        other => panic!("{other}"),
    };
    assert_eq!(
        nearest(weather("Thun")).await,
        "the nearest is line 2: `messages[0].content` is `\"Thun\"` instead of `\"Bern\"`",
    );
    assert_eq!(
        nearest(weather("Bern").with_parameter("seed", 7).with_model("m")).await,
        "the nearest is line 2: `model` is `\"m\"` instead of absent, and 1 more",
    );
    let long = nearest(weather(&"x".repeat(1_000_000))).await;
    assert!(long.len() < 200 && !long.contains('\n'), "{long}");
    let empty = File::new("empty");
    fs::write(&empty.0, "").unwrap();
    let error = Cassette::replay(&empty.0).open().unwrap().complete(ask("hi")).await.unwrap_err();
    assert!(matches!(error, ModelError::NotRecorded { nearest, .. } if nearest == "the cassette is empty"));
}

#[tokio::test]
async fn auto_replays_what_is_there_and_records_what_is_new() {
    let file = File::new("auto");
    let provider = scripted([Turn::text("one")]);
    let first = Cassette::auto(&file.0, provider.clone()).open().unwrap();
    assert_eq!(first.complete(ask("a")).await.unwrap().text, "one");
    assert_eq!(provider.requests().len(), 1);

    let provider = scripted([Turn::text("two")]);
    let second = Cassette::auto(&file.0, provider.clone()).open().unwrap();
    assert_eq!(second.complete(ask("a")).await.unwrap().text, "one");
    assert_eq!(second.complete(ask("b")).await.unwrap().text, "two");
    assert_eq!(provider.requests(), [ask("b")]);
    assert_eq!(second.assert_done(), Ok(()));
    assert_eq!(file.lines().len(), 2);
    // Recording begins anew.
    Cassette::record(&file.0, scripted([])).open().unwrap();
    assert_eq!(file.text(), "");
}

#[tokio::test]
async fn the_hash_depends_on_neither_key_order_nor_platform() {
    let file = File::new("hash");
    let recording = Cassette::record(&file.0, scripted([Turn::text("a")])).open().unwrap();
    recording
        .complete(ask("hi").with_parameter("b", 1.5).with_parameter("a", json!({"y": 1, "x": "ü"})))
        .await
        .unwrap();
    let line: Value = serde_json::from_str(&file.lines()[0]).unwrap();
    assert_eq!(line["hash"], "cb2092bcd3d2f41f");
    let replay = Cassette::replay(&file.0).open().unwrap();
    let other = ask("hi").with_parameter("a", json!({"x": "ü", "y": 1})).with_parameter("b", 1.5);
    assert_eq!(replay.complete(other).await.unwrap().text, "a");
}

const CANARY: &str = "canary-7f/\"ü\"-X";

/// Secrets in every place of requests and answers, in streams of every cut.
#[tokio::test]
async fn a_secret_never_reaches_the_file_wherever_it_is() {
    let file = File::new("canary");
    let arguments = json!({"key": CANARY, "nested": json!({"k": CANARY}).to_string(), CANARY: 1});
    let call = ToolCall::new(CANARY, format!("f-{CANARY}"), &arguments);
    let escaped = json!({"k": CANARY}).to_string().replace('ü', "\\u00fc").replace('/', "\\/");
    let chunks = |cut: usize| {
        let (a, b) = CANARY.split_at(CANARY.floor_char_boundary(cut));
        [
            Chunk::text(format!("say {a}")),
            Chunk::reasoning(a),
            Chunk::text(format!("{b}!")),
            Chunk::reasoning(b),
            Chunk::refusal(a),
            Chunk::refusal(b),
            Chunk::reasoning(json!({"signature": [CANARY]})),
            Chunk::call(CallDelta::new().id("x").name("f").text(escaped[..cut].to_owned())),
            Chunk::call(CallDelta::new().id("y").name(CANARY).value(json!({"k": CANARY}))),
            Chunk::call(CallDelta::new().id("x").text(escaped[cut..].to_owned())),
            Chunk::finish(FinishReason::Other(CANARY.into())),
        ]
    };
    let mut turns: Vec<Turn> = (0..CANARY.len()).map(|cut| Turn::chunks(chunks(cut))).collect();
    turns.extend((0..60).map(|cut| Turn::text(CANARY).with_call(call.clone()).cut_at([cut, cut + 5])));
    let broken = Box::new(Response::from_text(CANARY));
    turns.extend([
        Turn::error(ModelError::Transport { message: CANARY.into(), source: Some(format!("key {CANARY}").into()) }),
        Turn::error(ModelError::rejected(format!("bad key {CANARY}"))),
        Turn::error(ModelError::StreamBroken { message: CANARY.into(), received: broken }),
        Turn::error(AssemblyError::DuplicateId { call: 0, id: CANARY.into() }.into()),
    ]);
    let count = turns.len();
    let model = ScriptedModel::new(turns).with_name(&format!("model {CANARY}"));
    let recording = Cassette::record(&file.0, Arc::new(model)).secret(CANARY).secret("").open().unwrap();
    let request = |key: &str| {
        let called = Message::assistant("").with_calls([ToolCall::new("c1", "f", &json!({"key": key}))]);
        let answer = Message::tool("c1", key).with_tool_name(key).with_id(key);
        Request::new([Message::system(key), called, answer])
            .with_model(key)
            .with_tools([ToolSpec::new(key, key, json!({key: key}))])
            .with_response_schema(json!({"const": key}))
            .with_parameter("headers", json!({"authorization": format!("Bearer {key}"), key: 1}))
    };
    for _ in 0..count {
        drop(recording.complete(request(CANARY)).await);
    }
    let text = file.text();
    for part in ["canary", "7f", "-X", "ü", "00fc"] {
        let at = text.find(part).map(|at| &text[text.floor_char_boundary(at.saturating_sub(40))..][..80]);
        assert_eq!(at, None, "{part}");
    }
    // The request is found again with another key, as the hash was made without it.
    let replay = Cassette::replay(&file.0).secret("other").open().unwrap();
    for _ in 0..count {
        drop(
            replay
                .complete(request("other"))
                .await
                .map_err(|error| assert!(!matches!(error, ModelError::NotRecorded { .. }))),
        );
    }
    assert_eq!(replay.assert_done(), Ok(()));
}

#[tokio::test]
async fn a_pattern_hides_what_it_finds_over_chunks() {
    let file = File::new("pattern");
    let turn = Turn::text("the key is sk-abc123, keep it").cut_at([12, 15, 18]);
    let recording = Cassette::record(&file.0, scripted([turn])).secret_pattern("sk-[a-z0-9]+").open().unwrap();
    // Who asks gets what the model said.
    assert_eq!(recording.complete(ask("hi")).await.unwrap().text, "the key is sk-abc123, keep it");
    let replay = Cassette::replay(&file.0).open().unwrap();
    let got: Vec<_> = chunks(&replay, ask("hi")).await.unwrap().into_iter().map(|chunk| chunk.unwrap().text).collect();
    let texts: Vec<_> = got.iter().flatten().map(String::as_str).collect();
    assert_eq!(texts, ["the key is [secret]", "", "", ", keep it"]);
    let error = Cassette::replay(&file.0).secret_pattern("(").open().unwrap_err();
    assert!(matches!(&error, CassetteError::Pattern { pattern, .. } if pattern == "("), "{error}");
    assert!(!error.to_string().contains('\n'), "{error}");
    assert!(!format!("{:?}", Cassette::replay(&file.0).secret("hunter2")).contains("hunter2"));
}

#[tokio::test]
async fn corrupt_lines_are_named_by_their_number() {
    let file = File::new("corrupt");
    let recording = Cassette::record(&file.0, scripted([Turn::text("a"), Turn::text("b")])).open().unwrap();
    recording.complete(ask("1")).await.unwrap();
    recording.complete(ask("2")).await.unwrap();
    let good = file.lines();
    let fails = |lines: &[&str]| {
        fs::write(&file.0, lines.join("\n")).unwrap();
        match Cassette::replay(&file.0).open().unwrap_err() {
            CassetteError::Corrupt { line, reason, .. } => (line, reason),
            other => panic!("{other}"),
        }
    };
    let edited = good[1].replace("\"content\":\"2\"", "\"content\":\"3\"");
    let newer = good[0].replace("\"version\":1", "\"version\":9");
    assert_eq!(fails(&[&good[0], "", "{oops"]).0, 3);
    assert_eq!(fails(&["[]", &good[1]]).0, 1);
    assert_eq!(fails(&[&good[0], &good[1][..40]]).0, 2);
    assert!(matches!(fails(&[&good[0], &edited]), (2, reason) if reason.starts_with("its hash is ")));
    assert_eq!(fails(&[&newer]), (1, "it is of version 9, and this is version 1".into()));
    let deep = good[1].replace("\"content\":\"2\"", &format!("\"content\":{}", "[".repeat(100_000)));
    assert!(matches!(fails(&[&good[0], &deep]), (2, reason) if reason.starts_with("recursion limit exceeded")));
    fs::write(&file.0, b"\xff\n").unwrap();
    assert!(matches!(Cassette::replay(&file.0).open(), Err(CassetteError::Corrupt { line: 1, .. })));
    let text = Cassette::replay(&file.0).open().unwrap_err().to_string();
    assert!(text.starts_with("line 1 of the cassette `") && text.ends_with("; remove it, or record again"), "{text}");
}

#[tokio::test]
async fn a_crash_loses_at_most_the_last_entry() {
    let file = File::new("crash");
    let recording = Cassette::record(&file.0, scripted([Turn::text("a"), Turn::text("b")])).open().unwrap();
    recording.complete(ask("1")).await.unwrap();
    recording.complete(ask("2")).await.unwrap();
    let whole = file.text();
    let first = whole.find('\n').unwrap() + 1;
    for cut in [first, first + 1, first + 40, whole.len() - 2, whole.len() - 1] {
        fs::write(&file.0, &whole[..cut]).unwrap();
        let auto = Cassette::auto(&file.0, scripted([Turn::text("B"), Turn::text("c")])).open().unwrap();
        assert_eq!(auto.complete(ask("1")).await.unwrap().text, "a", "{cut}");
        // Only a line that lacks nothing but its end is whole.
        let second = if cut == whole.len() - 1 { "b" } else { "B" };
        assert_eq!(auto.complete(ask("2")).await.unwrap().text, second, "{cut}");
        auto.complete(ask("3")).await.unwrap();
        let unused = Cassette::replay(&file.0).open().unwrap().assert_done();
        assert_eq!(unused, Err(CassetteError::Unused { path: file.0.clone(), lines: vec![1, 2, 3] }), "{cut}");
    }
}

#[tokio::test]
async fn a_cancelled_call_is_not_recorded_and_one_that_said_its_end_is() {
    let file = File::new("dropped");
    let turns = [Turn::text("abc").cut_at([1]), Turn::text("abc").cut_at([1]), Turn::error(ModelError::Cancelled)];
    let recording = Cassette::record(&file.0, scripted(turns)).open().unwrap();
    let mut stream = recording.stream(ask("a")).await.unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    assert_eq!(file.text(), "");
    let mut stream = recording.stream(ask("b")).await.unwrap();
    while stream.next().await.unwrap().unwrap().finish.is_none() {}
    drop(stream);
    assert_eq!(file.lines().len(), 1);
    assert!(matches!(recording.complete(ask("c")).await, Err(ModelError::Cancelled)));
    assert_eq!(file.lines().len(), 1);
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_a_typed_error() {
    let missing = std::env::temp_dir().join("graph-nodes-no-such-folder/talk.jsonl");
    let model = || scripted([Turn::text("a")]);
    for (cassette, doing) in [
        (Cassette::replay(&missing), "read"),
        (Cassette::record(&missing, model()), "written"),
        (Cassette::auto(&missing, model()), "written"),
        (Cassette::replay(std::env::temp_dir()), "read"),
    ] {
        let error = cassette.open().unwrap_err();
        assert!(matches!(&error, CassetteError::File { doing: found, .. } if *found == doing), "{error}");
    }
    // What could not be read back is not written.
    let deep = (0..124).fold(json!({}), |inner, _| json!([inner]));
    let file = File::new("deep");
    let recording = Cassette::record(&file.0, model()).open().unwrap();
    let error = recording.complete(ask("a").with_parameter("deep", deep)).await.unwrap_err();
    assert!(matches!(error, ModelError::Cassette(CassetteError::Unreadable { .. })), "{error}");
    assert!(!error.is_retryable() && recording.assert_done().is_err());
    assert_eq!(file.text(), "");
}

#[tokio::test]
async fn many_at_once_write_whole_lines() {
    let file = File::new("many");
    let echo = FnModel::new_async("echo", async |request: Request| {
        tokio::task::yield_now().await;
        Ok(Response::from_text(request.messages[0].text()))
    });
    let recording = Cassette::record(&file.0, Arc::new(echo)).open().unwrap();
    let asked = (0..200).map(|n| recording.complete(ask(&format!("{n}"))));
    futures_util::future::join_all(asked).await;
    let replay = Cassette::replay(&file.0).open().unwrap();
    for n in 0..200 {
        assert_eq!(replay.complete(ask(&format!("{n}"))).await.unwrap().text, format!("{n}"));
    }
    assert_eq!(replay.assert_done(), Ok(()));
}
