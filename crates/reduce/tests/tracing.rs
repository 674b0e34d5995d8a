//! Tests the spans and events that plans emit with feature `tracing`.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use distribution::Ownership;
use reduce::threads::run;
use reduce::{Algorithm, Plan};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Counts spans and events by name.
#[derive(Clone, Default)]
struct Counter(Arc<Mutex<BTreeMap<&'static str, usize>>>);

impl Counter {
    fn count(&self, name: &'static str) {
        *self.0.lock().unwrap().entry(name).or_default() += 1;
    }
}

impl Subscriber for Counter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("reduce")
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.count(span.metadata().name());
        Id::from_u64(1)
    }
    fn event(&self, event: &Event<'_>) {
        let is_warning = *event.metadata().level() == Level::WARN;
        self.count(if is_warning { "warning" } else { "message" });
    }
    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

/// Builds and runs one reduce by `algorithm` on three ranks. Returns the number of its spans or events of each name.
fn counts(algorithm: Algorithm) -> BTreeMap<&'static str, usize> {
    let counter = Counter::default();
    run(3, |world| {
        let _guard = tracing::subscriber::set_default(counter.clone());
        // Nine items on three ranks, as in Figure 2.2 of the thesis.
        let plan = Plan::builder(world)
            .local_items(3)
            .algorithm(algorithm)
            .build::<f64>()
            .unwrap();
        plan.reduce(&[f64::from(u32::try_from(world.rank()).unwrap()); 3])
            .unwrap();
    })
    .unwrap();
    counter.0.lock().unwrap().clone()
}

#[test]
fn a_reduction_shows_its_plan_work_waiting_and_messages() {
    let counts = counts(Algorithm::Algorithm1);
    assert_eq!(counts["plan"], 3);
    // Rank 0 folds [0, 2) and [2, 3), rank 1 [3, 4) and [4, 6), rank 2 [6, 8) and [8, 9).
    assert_eq!(counts["local work"], 6);
    // Rank 1 sends subtrees 3 and 4 together; rank 2 sends subtree 6 to rank 1 and 8 to rank 0.
    assert_eq!(counts["message"], 3);
    assert_eq!(counts["waiting"], 3);
}

#[test]
fn a_schedule_shows_the_same() {
    let counts = counts(Algorithm::Binomial);
    assert_eq!(counts["plan"], 3);
    assert_eq!(counts["local work"], 3);
    // Ranks 1 and 2 send to rank 0.
    assert_eq!(counts["message"], 2);
    assert_eq!(counts["waiting"], 2);
}

/// If scattered items make a plan's messages long, building the plan emits a warning, and the printed plan contains the warning, too.
#[test]
fn scattered_items_are_warned_of() {
    let warnings = |items: u64, block_items: u64| {
        let counter = Counter::default();
        let printed = run(3, |world| {
            let _guard = tracing::subscriber::set_default(counter.clone());
            let ownership = Ownership::block_cyclic(items, 3, block_items).unwrap();
            let builder = Plan::builder(world).ownership(&ownership);
            builder.build::<f64>().unwrap().to_string()
        });
        let printed = printed.unwrap().swap_remove(0);
        let warnings = counter.0.lock().unwrap().get("warning").copied();
        let words = "an exact sum (`build_exact`) needs no order and sends 320 bytes";
        assert_eq!(printed.contains(words), warnings.is_some(), "{printed}");
        warnings
    };
    assert_eq!(warnings(60_000, 1), Some(3));
    assert_eq!(warnings(60_000, 20_000), None);
    assert_eq!(warnings(60, 1), None);
}
