//! Errors of describing a model behind an OpenAI-compatible server.

use graph_nodes::model::ModelError;
use graph_nodes_openai::{
    ApiKey, BuildError, EmbedError, KeyError, OpenAi, Tiktoken, Timeouts, UnknownVocabulary, reqwest,
};

use crate::doc::{Entry, Section};

fn local() -> OpenAi {
    OpenAi::new("http://127.0.0.1:8080/v1", "local")
}

fn refused(model: OpenAi) -> BuildError {
    model.build().expect_err("refused")
}

pub(crate) fn section() -> Section {
    let key = |error: KeyError, means| Entry::variant("KeyError", &error, means);
    let build = |error: BuildError, means| Entry::variant("BuildError", &error, means);
    let at = |base: &str| refused(OpenAi::new(base, "local"));
    let name = || "OPENAI_API_KEY".to_owned();
    let missing = ApiKey::from_env("GRAPH_NO_SUCH_KEY").expect_err("missing");
    let own = reqwest::Client::builder().no_proxy().build().expect("a client");
    let connect = Timeouts::new().connect(std::time::Duration::from_secs(1));
    Section {
        title: "Describing a model behind an OpenAI-compatible server",
        intro: "Given before anything is sent. What a call can end with is in \"Asking a model\".",
        entries: vec![
            key(missing, "Nothing else is looked up: no file and no other variable."),
            key(KeyError::Empty { name: name() }, "White space alone is empty too."),
            key(KeyError::NotText { name: name() }, "A key is a text in every provider."),
            build(at("127.0.0.1:8080/v1"), "The URL is the part before `/chat/completions`.")
                .and(&at("ftp://127.0.0.1"))
                .and(&at("http://127.0.0.1/v1?version=2")),
            build(at("http://user:password@127.0.0.1/v1"), "URLs are in logs and errors, so they hold no secret."),
            build(at("https://127.0.0.1/v1"), "Which TLS a program has is its own choice: it is large."),
            build(refused(OpenAi::new("http://127.0.0.1:8080/v1", "")), "A server with one model takes any name."),
            build(refused(local().header("x team", "a")), "Mostly a line end that came along with the value.")
                .and(&refused(local().header("x-team", "a\nb"))),
            build(refused(local().key("a\nb")), "Mostly two keys in one file. The key is not shown."),
            build(refused(local().key("a").header("authorization", "b")), "Whichever were sent would be a guess."),
            build(refused(local().http_client(own).timeouts(connect)), "A client opens its connections itself."),
            build(
                BuildError::Client { reason: "no certificates".to_owned() },
                "Mostly a proxy of the environment that is no URL, or a system without certificates.",
            ),
            build(
                local().build_embedder(0).expect_err("refused"),
                "An embedder is told how many numbers its vectors have, as the store was.",
            ),
            Entry::plain(
                "`UnknownVocabulary`",
                [unknown_vocabulary()],
                "Known are the models of the crate `tiktoken-rs`.",
            ),
        ],
    }
}

fn unknown_vocabulary() -> UnknownVocabulary {
    Tiktoken::of("smollm2").expect_err("unknown")
}

pub(crate) fn vectors() -> Section {
    let embed = |error: EmbedError, means| Entry::variant("EmbedError", &error, means);
    Section {
        title: "Vectors from an OpenAI-compatible server",
        intro: "Said by `OpenAiEmbedder`; the call of the long-term store fails with it and changes nothing.",
        entries: vec![
            embed(
                EmbedError::Model(ModelError::transport("connection refused")),
                "The reason in brackets is a `ModelError`, whose kind says whether trying again helps.",
            ),
            embed(
                EmbedError::Answer { reason: "1 vectors came for 2 texts".to_owned() },
                "Never guessed: a vector at the wrong text would be found for ever.",
            ),
            embed(
                EmbedError::Dims { text: 3, expected: 384, got: 768 },
                "Texts are counted from 0. Vectors of another model can't be compared with those that are kept.",
            ),
        ],
    }
}
