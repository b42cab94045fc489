//! Plain async functions with the durability of a graph: tasks are done once, questions pause, runs of a thread follow
//! one another.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{join, join_all, try_join};
use graph_engine::{
    Entrypoint, EventKind, Final, MemoryStore, NodeError, Retry, RunError, Status, TaskDiverged, Workflow, WorkflowEnd,
    WorkflowError, WorkflowThread,
};
use tokio::time::{Instant, sleep};

#[derive(Clone, Default)]
struct Count(Arc<AtomicUsize>);

impl Count {
    fn up(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn stored<I: serde::Serialize, O: serde::de::DeserializeOwned>(
    thread: graph_engine::WorkflowRunner<I, O>,
) -> WorkflowThread<I, O> {
    thread.store(MemoryStore::new()).thread("t")
}

/// What the function of a failed run said.
fn reason(error: &WorkflowError) -> String {
    let WorkflowError::Turn(failed) = error else { panic!("{error}") };
    failed.failures()[0].source.to_string()
}

#[tokio::test]
async fn a_finished_task_is_not_run_again_on_resume_and_the_body_begins_twice() {
    let (begun, charged) = (Count::default(), Count::default());
    let (begins, charges) = (begun.clone(), charged.clone());
    let pay = Entrypoint::new("pay", move |workflow: Workflow<String>, amount: u32| {
        begins.up();
        let charges = charges.clone();
        async move {
            let charge = || {
                let number = charges.up();
                async move { Ok::<_, NodeError>(format!("charge {number} of {amount}")) }
            };
            let first = workflow.task("charge", charge).await?;
            let sure: bool = workflow.interrupt("again?")?;
            let second = workflow.task("charge", charge).await?;
            Ok(format!("{first}, {second}, {sure}"))
        }
    });
    let thread = stored(pay.runner().unwrap());
    let paused = thread.run(&30).await.unwrap();
    assert_eq!((paused.status(), paused.output, charged.get()), (Status::Paused, None, 1));
    let end = thread.resume(true).await.unwrap();
    assert_eq!(end.output.as_deref(), Some("charge 1 of 30, charge 2 of 30, true"));
    assert_eq!((end.status(), begun.get(), charged.get()), (Status::Done, 2, 2));
}

#[tokio::test]
async fn what_is_returned_and_what_is_saved_differ_zero_then_six() {
    let doubled = Entrypoint::saving("doubled", |workflow: Workflow<u32>, n: u32| async move {
        Ok(Final { value: workflow.previous().copied().unwrap_or_default(), save: 2 * n })
    });
    let thread = stored(doubled.runner().unwrap());
    assert_eq!(thread.run(&3).await.unwrap().output, Some(0));
    assert_eq!(thread.saved::<u32>().await.unwrap(), Some(6));
    assert_eq!(thread.run(&1).await.unwrap().output, Some(6));
    assert_eq!(thread.saved::<u32>().await.unwrap(), Some(2));
}

#[tokio::test]
async fn a_paused_run_has_no_output_and_what_was_saved_is_what_the_last_finished_one_saved() {
    let ask = Entrypoint::new("ask", |workflow: Workflow<Option<u32>>, asks: bool| async move {
        if asks { workflow.interrupt::<Option<u32>>("how many?") } else { Ok(Some(7)) }
    });
    let thread = stored(ask.runner().unwrap());
    assert_eq!(thread.saved::<Option<u32>>().await.unwrap(), None);
    assert_eq!(thread.run(&false).await.unwrap().output, Some(Some(7)));
    let paused = thread.run(&true).await.unwrap();
    assert_eq!((paused.status(), paused.output), (Status::Paused, None));
    assert_eq!(thread.saved::<Option<u32>>().await.unwrap(), Some(Some(7)));
    // New input is refused until the question is answered, as on every thread.
    let WorkflowError::Turn(refused) = thread.run(&false).await.unwrap_err() else { panic!("a turn") };
    assert!(matches!(&*refused.error, RunError::Unfinished { .. }));
    let end = thread.resume(None::<u32>).await.unwrap();
    assert_eq!((end.output, thread.saved::<Option<u32>>().await.unwrap()), (Some(None), Some(None)));
}

#[tokio::test]
async fn a_failed_task_is_tried_anew_and_the_finished_ones_before_it_are_not() {
    let (good, bad) = (Count::default(), Count::default());
    let (goods, bads) = (good.clone(), bad.clone());
    let both = Entrypoint::new("both", move |workflow: Workflow<usize>, (): ()| {
        let (goods, bads) = (goods.clone(), bads.clone());
        async move {
            let first = workflow.task("good", || std::future::ready(Ok::<_, NodeError>(goods.up()))).await?;
            let second = workflow.task("bad", || {
                std::future::ready(if bads.up() == 1 { Err(NodeError::fatal("no room")) } else { Ok(10) })
            });
            Ok(first + second.await?)
        }
    });
    let thread = stored(both.runner().unwrap());
    assert_eq!(reason(&thread.run(&()).await.unwrap_err()), "no room");
    assert_eq!(thread.proceed().await.unwrap().output, Some(11));
    assert_eq!((good.get(), bad.get()), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_task_retries_and_times_out_within_its_call() {
    let tries = Count::default();
    let tried = tries.clone();
    let slow = Entrypoint::new("slow", move |workflow: Workflow<usize>, limit: u64| {
        let tried = tried.clone();
        async move {
            let work = || {
                let number = tried.up();
                async move {
                    sleep(Duration::from_secs(if number < 3 { 10 } else { 1 })).await;
                    Ok::<_, NodeError>(number)
                }
            };
            let retry = Retry::fixed(3, Duration::from_secs(5));
            workflow.task("fetch", work).retry(retry).timeout(Duration::from_secs(limit)).await
        }
    });
    let start = Instant::now();
    let runner = slow.runner().unwrap();
    assert_eq!(runner.thread("a").run(&2).await.unwrap().output, Some(3));
    // Two tries of 2 s, two waits of 5 s, one try of 1 s.
    assert_eq!((tries.get(), start.elapsed()), (3, Duration::from_secs(15)));
    let failed = runner.thread("b").run(&0).await.unwrap_err();
    assert_eq!(reason(&failed), "task `fetch` ran longer than its timeout of 0ns; raise it or add a retry");
    assert_eq!(tries.get(), 6);
}

#[tokio::test(start_paused = true)]
async fn concurrent_tasks_are_numbered_in_the_order_in_which_they_are_joined_whatever_ends_first() {
    let ran = Count::default();
    let runs = ran.clone();
    let all = Entrypoint::new("all", move |workflow: Workflow<Vec<u64>>, (): ()| {
        let runs = runs.clone();
        async move {
            let calls = (0..4_u64).map(|n| {
                let runs = runs.clone();
                workflow.task("wait", move || {
                    runs.up();
                    async move {
                        sleep(Duration::from_secs(10 - n)).await;
                        Ok::<_, NodeError>(n)
                    }
                })
            });
            let done: Result<Vec<u64>, NodeError> = join_all(calls).await.into_iter().collect();
            workflow.interrupt::<bool>("go on?")?;
            done
        }
    });
    let thread = stored(all.runner().unwrap());
    let start = Instant::now();
    thread.run(&()).await.unwrap();
    assert_eq!((ran.get(), start.elapsed()), (4, Duration::from_secs(10)));
    assert_eq!(thread.resume(true).await.unwrap().output, Some(vec![0, 1, 2, 3]));
    assert_eq!((ran.get(), start.elapsed()), (4, Duration::from_secs(10)));
}

#[tokio::test(start_paused = true)]
async fn branches_and_keys_keep_concurrent_parts_apart() {
    let speed = Count::default();
    let runs = Count::default();
    let (speeds, counted) = (speed.clone(), runs.clone());
    let parts = Entrypoint::new("parts", move |workflow: Workflow<(String, String)>, (): ()| {
        // The second run of the body has the other part first.
        let first_is_slow = speeds.up() == 1;
        let counted = counted.clone();
        async move {
            let part = |name: &'static str, slow: bool| {
                let (branch, counted) = (workflow.branch(name), counted.clone());
                async move {
                    if slow {
                        sleep(Duration::from_secs(1)).await;
                    }
                    let work = |step: &'static str| {
                        let counted = counted.clone();
                        move || {
                            counted.up();
                            std::future::ready(Ok::<_, NodeError>(format!("{name}{step}")))
                        }
                    };
                    let one = branch.task("one", work("1")).await?;
                    let two = branch.task("two", work("2")).key("second").await?;
                    Ok::<_, NodeError>(one + &two)
                }
            };
            let both = try_join(part("a", first_is_slow), part("b", !first_is_slow)).await?;
            workflow.interrupt::<bool>("go on?")?;
            Ok(both)
        }
    });
    let thread = stored(parts.runner().unwrap());
    thread.run(&()).await.unwrap();
    let end = thread.resume(true).await.unwrap();
    assert_eq!((end.output, runs.get()), (Some(("a1a2".into(), "b1b2".into())), 4));
}

#[tokio::test]
async fn a_resumed_run_that_calls_another_task_is_told_both_names() {
    let begun = Count::default();
    let begins = begun.clone();
    let fickle = Entrypoint::new("fickle", move |workflow: Workflow<u32>, (): ()| {
        let second = if begins.up() == 1 { "flight" } else { "rail" };
        async move {
            workflow.task("hotel", || async { Ok::<_, NodeError>(1) }).await?;
            workflow.task(second, || async { Ok::<_, NodeError>(2) }).await?;
            workflow.interrupt::<u32>("sure?")
        }
    });
    let thread = stored(fickle.runner().unwrap());
    thread.run(&()).await.unwrap();
    let WorkflowError::Turn(failed) = thread.resume(3).await.unwrap_err() else { panic!("a turn") };
    let diverged = failed.failures()[0].source.downcast_ref::<TaskDiverged>().unwrap();
    assert_eq!((diverged.number, &*diverged.stored, &*diverged.called), (1, "flight", "rail"));
}

#[tokio::test]
async fn a_stored_result_of_another_type_is_a_clear_error() {
    let store = MemoryStore::new();
    let before = Entrypoint::new("typed", |workflow: Workflow<u32>, (): ()| async move {
        workflow.task("count", || async { Ok::<_, NodeError>("three".to_owned()) }).await?;
        workflow.interrupt::<u32>("sure?")
    });
    before.runner().unwrap().store(store.clone()).thread("t").run(&()).await.unwrap();
    let after = Entrypoint::new("typed", |workflow: Workflow<u32>, (): ()| async move {
        let count: u32 = workflow.task("count", || async { Ok::<_, NodeError>(3) }).await?;
        Ok(count + workflow.interrupt::<u32>("sure?")?)
    });
    let thread = after.runner().unwrap().store(store).thread("t");
    let failed = thread.resume(1).await.unwrap_err();
    assert_eq!(
        reason(&failed),
        "what is stored of task `count` (call 0) is no `u32`: invalid type: string \"three\", expected u32 at line 1 \
         column 7; its type changed since, so give the task another key or `abandon` the unfinished run"
    );
    let wrong = thread.saved::<u32>().await.unwrap();
    assert_eq!(wrong, None);
}

#[tokio::test]
async fn an_input_or_a_saved_value_of_another_type_names_the_thread_or_the_node() {
    let store = MemoryStore::new();
    let texts = Entrypoint::new("echo", |_: Workflow<String>, said: String| async move { Ok(said) });
    texts.runner().unwrap().store(store.clone()).thread("t").run(&"hi".to_owned()).await.unwrap();
    let numbers = Entrypoint::new("echo", |_: Workflow<u32>, n: u32| async move { Ok(n) });
    let thread = numbers.runner().unwrap().store(store).thread("t");
    assert_eq!(
        reason(&thread.run(&3).await.unwrap_err()),
        "the saved value of the last run that is stored is no `core::option::Option<(u32,)>`: invalid type: string \
         \"hi\", expected u32; use another thread, or read the old type"
    );
    let WorkflowError::Stored { thread, what, .. } = thread.saved::<u32>().await.unwrap_err() else { panic!("stored") };
    assert_eq!((&*thread, what), ("t", "saved"));

    let float = Entrypoint::new("float", |_: Workflow<f64>, n: f64| async move { Ok(n) });
    let refused = float.runner().unwrap().thread("t").run(&f64::NAN).await.unwrap_err();
    assert!(matches!(refused, WorkflowError::Input { .. }), "{refused}");
}

#[tokio::test]
async fn without_a_store_tasks_simply_run_and_a_question_is_an_error_that_names_the_node() {
    let echo = Entrypoint::new("echo", |workflow: Workflow<u32>, asks: bool| async move {
        let one = workflow.task("one", || async { Ok::<_, NodeError>(1) }).await?;
        if asks { workflow.interrupt("sure?") } else { Ok(one) }
    });
    let thread = echo.runner().unwrap().thread("t");
    assert_eq!(thread.run(&false).await.unwrap().output, Some(1));
    let WorkflowError::Turn(failed) = thread.run(&true).await.unwrap_err() else { panic!("a turn") };
    assert_eq!(
        failed.failures()[0].to_string(),
        "`echo` (task 0.0) failed after 1 attempt: `interrupt` needs a checkpoint store; give the runner one with \
         `Runner::store`"
    );
}

#[tokio::test]
async fn events_of_a_run_are_streamed_and_its_end_is_read_from_them() {
    let talk = Entrypoint::new("talk", |workflow: Workflow<u32>, (): ()| async move {
        workflow.ctx().token("hm").await;
        let asked: u32 = workflow.interrupt("how many?")?;
        Ok(asked)
    });
    let thread = stored(talk.runner().unwrap());
    let mut events = thread.run(&()).stream().unwrap();
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        match event.kind {
            EventKind::Token(text) => told.push(text),
            EventKind::NodePaused { interrupts } => told.push(interrupts[0].question.to_string()),
            _ => {}
        }
    }
    let end = WorkflowEnd::<u32>::of(&"t".into(), events.end().await.unwrap()).unwrap();
    assert_eq!((told, end.status(), end.output), (vec!["hm".into(), "\"how many?\"".into()], Status::Paused, None));
}

#[tokio::test]
async fn several_questions_at_once_are_answered_by_id() {
    let both = Entrypoint::new("both", |workflow: Workflow<(u32, u32)>, (): ()| async move {
        let (a, b) = (workflow.branch("a"), workflow.branch("b"));
        let one = async |branch: &Workflow<(u32, u32)>, name: &str| branch.interrupt::<u32>(name);
        let (a, b) = join(one(&a, "a"), one(&b, "b")).await;
        Ok((a?, b?))
    });
    let thread = stored(both.runner().unwrap());
    let paused = thread.run(&()).await.unwrap();
    let [a, b] = paused.interrupts() else { panic!("two questions") };
    let half = thread.resume_by_id([(b.id, 2)]).await.unwrap();
    assert_eq!((half.output, half.interrupts()), (None, &[a.clone()][..]));
    assert_eq!(thread.resume(1).await.unwrap().output, Some((1, 2)));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_goes_on_without_doing_its_finished_tasks_again() {
    let ran = Count::default();
    let runs = ran.clone();
    let slow = Entrypoint::new("slow", move |workflow: Workflow<usize>, (): ()| {
        let runs = runs.clone();
        async move {
            let first = workflow.task("first", || std::future::ready(Ok::<_, NodeError>(runs.up()))).await?;
            sleep(Duration::from_secs(10)).await;
            Ok(first)
        }
    });
    let thread = stored(slow.runner().unwrap());
    let stopped = thread.run(&()).with(|turn| turn.cancel_on(sleep(Duration::from_secs(1)))).await.unwrap();
    assert_eq!((stopped.status(), stopped.output), (Status::Cancelled, None));
    assert_eq!((thread.proceed().await.unwrap().output, ran.get()), (Some(1), 1));
}

#[tokio::test]
async fn a_whole_function_retries_without_its_finished_tasks() {
    let (ran, begun) = (Count::default(), Count::default());
    let (runs, begins) = (ran.clone(), begun.clone());
    let shaky = Entrypoint::new("shaky", move |workflow: Workflow<usize>, (): ()| {
        let (runs, number) = (runs.clone(), begins.up());
        async move {
            let first = workflow.task("first", || std::future::ready(Ok::<_, NodeError>(runs.up()))).await?;
            if number < 3 { Err("not yet".into()) } else { Ok(first) }
        }
    });
    let thread = stored(shaky.retry(Retry::fixed(3, Duration::ZERO)).runner().unwrap());
    assert_eq!(thread.run(&()).await.unwrap().output, Some(1));
    assert_eq!((ran.get(), begun.get()), (1, 3));
}
