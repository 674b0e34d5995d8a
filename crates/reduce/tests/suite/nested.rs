//! Tests operators that call treefold on the world that runs them. On every transport, every call that communicates is refused, and all other
//! calls succeed.

#![expect(clippy::float_cmp, reason = "sums of small integers are exact")]

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::rc::Rc;
use std::time::Duration;

use distribution::Ownership;
use reduce::operator::custom;
use reduce::{AnyPending, LanesPlan, Operation, Operator, Pending, Plan, RunError, Sum, World};
use reduce::{exact, threads, wait_all};

use super::{Check, offered};

pub(crate) const CHECKS: [(&str, Check); 4] = [
    ("every call of an operator is refused", every_call),
    ("an operator's name and empty value", while_a_plan_is_built),
    ("what an operator may do", what_is_no_collective_call),
    ("an operator that drops its own run", drops_its_own_run),
];

/// The handles on which operators make the [`CALLS`].
struct Hand {
    world: World,
    plan: Plan<f64, Sum>,
    lanes: LanesPlan<f64>,
    exact: exact::Plan<exact::Sum<f64>>,
    products: exact::Plan<exact::ProductSum<f64>>,
    complex: exact::Plan<exact::ComplexProductSum<f64>>,
    run: Pending<f64>,
    exact_run: Pending<exact::Sum<f64>>,
    keyed: exact::KeyedPlan<Keyed>,
    hashed: exact::HashedPlan<u64, ExactSum>,
    keyed_run: Pending<Keyed>,
}

type Keyed = exact::Keyed<ExactSum>;
type ExactSum = exact::Sum<f64>;

impl Hand {
    fn new(world: &World) -> Self {
        let exact = || {
            Plan::builder(world)
                .build_exact::<exact::Sum<f64>>()
                .unwrap()
        };
        let plan = || Plan::builder(world).local_items(1).build().unwrap();
        let keyed = || Plan::builder(world).build_keyed::<ExactSum>(2).unwrap();
        Self {
            world: world.clone(),
            plan: plan(),
            lanes: Plan::builder(world).local_items(1).build_lanes(1).unwrap(),
            exact: exact(),
            products: Plan::builder(world).build_exact().unwrap(),
            complex: Plan::builder(world).build_exact().unwrap(),
            run: plan().start_allreduce(&[1.0]).unwrap(),
            exact_run: exact().start_allreduce(&exact::Sum::of(&[1.0])).unwrap(),
            keyed: keyed(),
            hashed: Plan::builder(world).build_hashed().unwrap(),
            keyed_run: keyed().start_allreduce(&Keyed::new(2).unwrap()).unwrap(),
        }
    }
}

/// The outcome of a call. An error is kept as its text.
type Said = Result<(), String>;

fn said<R, E: Display>(outcome: Result<R, E>) -> Said {
    outcome.map(drop).map_err(|error| error.to_string())
}

/// The name of a call, and a function that makes it.
type Call = (&'static str, fn(&Hand) -> Said);

const ONE: &[f64] = &[1.0];

const KEY: [u64; 1] = [0];

/// Every call that communicates. The function [`complete`] checks that none is missing.
const CALLS: &[Call] = &[
    ("World::fresh_tag", |hand| said(hand.world.fresh_tag())),
    ("World::agree", |hand| said(hand.world.agree(true))),
    ("World::shrink", |hand| said(hand.world.shrink())),
    ("World::measure_link", |hand| {
        said(hand.world.measure_link())
    }),
    ("threads::duplicate", |hand| {
        said(threads::duplicate(&hand.world))
    }),
    ("threads::split", |hand| {
        said(threads::split(&hand.world, None, 0))
    }),
    ("Builder::build", |hand| {
        said(Plan::builder(&hand.world).local_items(1).build::<f64>())
    }),
    ("Builder::build, agreed", |hand| {
        let ownership = Ownership::one_item_each(hand.world.size()).unwrap();
        let builder = Plan::builder(&hand.world).ownership(&ownership).agreed();
        said(builder.build::<f64>())
    }),
    ("Builder::build_exact", |hand| {
        said(Plan::builder(&hand.world).build_exact::<exact::Sum<f64>>())
    }),
    ("Builder::build_keyed", |hand| {
        said(Plan::builder(&hand.world).build_keyed::<ExactSum>(2))
    }),
    ("Builder::build_hashed", |hand| {
        said(Plan::builder(&hand.world).build_hashed::<u64, ExactSum>())
    }),
    ("Plan::allreduce", |hand| said(hand.plan.allreduce(ONE))),
    ("Plan::allreduce_into", |hand| {
        said(hand.plan.allreduce_into(ONE, &mut [0.0]))
    }),
    ("Plan::reduce", |hand| said(hand.plan.reduce(ONE))),
    ("Plan::reduce_into", |hand| {
        said(hand.plan.reduce_into(ONE, &mut [0.0]))
    }),
    ("Plan::reduce_scatter", |hand| {
        said(hand.plan.reduce_scatter(ONE, &mut [0.0]))
    }),
    ("Plan::scan", |hand| said(hand.plan.scan(ONE, &mut [0.0]))),
    ("Plan::exscan", |hand| {
        said(hand.plan.exscan(ONE, &mut [0.0]))
    }),
    ("Plan::broadcast", |hand| {
        said(hand.plan.broadcast(&mut [0.0]))
    }),
    ("Plan::allreduce_folded", |hand| {
        said(hand.plan.allreduce_folded(Ok(ONE), &mut [0.0]))
    }),
    ("Plan::reduce_folded", |hand| {
        said(hand.plan.reduce_folded(Ok(ONE), &mut [0.0]))
    }),
    ("Plan::reduce_scatter_folded", |hand| {
        said(hand.plan.reduce_scatter_folded(Ok(ONE), &mut [0.0]))
    }),
    ("Plan::dot", |hand| said(hand.plan.dot(ONE, ONE))),
    ("Plan::dots", |hand| {
        said(hand.plan.dots(&[[ONE; 2]], &mut [0.0]))
    }),
    ("Plan::norm2", |hand| said(hand.plan.norm2(ONE))),
    ("Plan::reduce_dot", |hand| {
        said(hand.plan.reduce_dot(ONE, ONE))
    }),
    ("Plan::start_dot", |hand| {
        said(hand.plan.start_dot(ONE, ONE))
    }),
    ("Plan::start_dots", |hand| {
        said(hand.plan.start_dots(&[[ONE; 2]]))
    }),
    ("LanesPlan::build_lanes", |hand| {
        said(
            Plan::builder(&hand.world)
                .local_items(1)
                .build_lanes::<f64>(1),
        )
    }),
    ("LanesPlan::allreduce", |hand| {
        said(hand.lanes.allreduce(ONE))
    }),
    ("LanesPlan::reduce", |hand| said(hand.lanes.reduce(ONE))),
    ("LanesPlan::start_allreduce", |hand| {
        said(hand.lanes.start_allreduce(ONE))
    }),
    ("LanesPlan::start_reduce", |hand| {
        said(hand.lanes.start_reduce(ONE))
    }),
    ("Plan::start_allreduce", |hand| {
        said(hand.plan.start_allreduce(ONE))
    }),
    ("Plan::start_allreduce_row", |hand| {
        said(hand.plan.start_allreduce_row(ONE))
    }),
    ("Plan::start_reduce", |hand| {
        said(hand.plan.start_reduce(ONE))
    }),
    ("Plan::start_reduce_row", |hand| {
        said(hand.plan.start_reduce_row(ONE))
    }),
    ("Plan::start_reduce_scatter", |hand| {
        said(hand.plan.start_reduce_scatter(ONE))
    }),
    ("Plan::start_scan", |hand| said(hand.plan.start_scan(ONE))),
    ("Plan::start_exscan", |hand| {
        said(hand.plan.start_exscan(ONE))
    }),
    ("exact::Plan::allreduce", |hand| {
        said(hand.exact.allreduce(&exact::Sum::of(ONE)))
    }),
    ("exact::Plan::allreduce_into", |hand| {
        said(hand.exact.allreduce_into(&sums(), &mut sums()))
    }),
    ("exact::Plan::reduce", |hand| {
        said(hand.exact.reduce(&exact::Sum::of(ONE)))
    }),
    ("exact::Plan::reduce_into", |hand| {
        said(hand.exact.reduce_into(&sums(), &mut sums()))
    }),
    ("exact::Plan::reduce_scatter", |hand| {
        said(hand.exact.reduce_scatter(&sums(), &mut sums()))
    }),
    ("exact::Plan::scan", |hand| {
        said(hand.exact.scan(&exact::Sum::of(ONE)))
    }),
    ("exact::Plan::exscan", |hand| {
        said(hand.exact.exscan(&exact::Sum::of(ONE)))
    }),
    ("exact::Plan::scan_into", |hand| {
        said(hand.exact.scan_into(&sums(), &mut sums()))
    }),
    ("exact::Plan::exscan_into", |hand| {
        said(hand.exact.exscan_into(&sums(), &mut sums()))
    }),
    ("exact::Plan::start_allreduce", |hand| {
        said(hand.exact.start_allreduce(&exact::Sum::of(ONE)))
    }),
    ("exact::Plan::start_allreduce_row", |hand| {
        said(hand.exact.start_allreduce_row(&sums()))
    }),
    ("exact::Plan::start_reduce", |hand| {
        said(hand.exact.start_reduce(&exact::Sum::of(ONE)))
    }),
    ("exact::Plan::start_reduce_row", |hand| {
        said(hand.exact.start_reduce_row(&sums()))
    }),
    ("exact::Plan::start_reduce_scatter", |hand| {
        said(hand.exact.start_reduce_scatter(&sums()))
    }),
    ("exact::Plan::start_scan", |hand| {
        said(hand.exact.start_scan(&exact::Sum::of(ONE)))
    }),
    ("exact::Plan::start_exscan", |hand| {
        said(hand.exact.start_exscan(&exact::Sum::of(ONE)))
    }),
    ("exact::Plan::start_scan_row", |hand| {
        said(hand.exact.start_scan_row(&sums()))
    }),
    ("exact::Plan::start_exscan_row", |hand| {
        said(hand.exact.start_exscan_row(&sums()))
    }),
    ("exact::Plan::sum", |hand| said(hand.exact.sum(ONE))),
    ("exact::Plan::sum_rows", |hand| {
        said(hand.exact.sum_rows(ONE, &mut [0.0]))
    }),
    ("exact::Plan::sum_rows, no rows", |hand| {
        said(hand.exact.sum_rows(&[], &mut [0.0; 2]))
    }),
    ("exact::Plan::scan_items", |hand| {
        said(hand.exact.scan_items(ONE, &mut [0.0]))
    }),
    ("exact::Plan::exscan_items", |hand| {
        said(hand.exact.exscan_items(ONE, &mut [0.0]))
    }),
    ("exact::Plan::scan_items, two lengths", |hand| {
        said(hand.exact.scan_items(ONE, &mut []))
    }),
    ("exact::Plan::dot", |hand| said(hand.products.dot(ONE, ONE))),
    ("exact::Plan::dot, two lengths", |hand| {
        said(hand.products.dot(ONE, &[]))
    }),
    ("exact::Plan::conjugate_dot", |hand| {
        said(hand.complex.conjugate_dot(&[[1.0; 2]], &[[1.0; 2]]))
    }),
    ("exact::Plan::norm", |hand| said(hand.products.norm(ONE))),
    ("Pending::test", |hand| said(hand.run.test())),
    ("Pending::wait_timeout", |hand| {
        said(hand.run.wait_timeout(Duration::ZERO))
    }),
    ("Pending::test, exact", |hand| said(hand.exact_run.test())),
    ("Pending::wait_timeout, exact", |hand| {
        said(hand.exact_run.wait_timeout(Duration::from_secs(1)))
    }),
    ("exact::KeyedPlan::allreduce", |hand| {
        said(hand.keyed.allreduce(&Keyed::new(2).unwrap()))
    }),
    ("exact::KeyedPlan::allreduce_items", |hand| {
        said(hand.keyed.allreduce_items(&KEY, ONE))
    }),
    ("exact::KeyedPlan::reduce", |hand| {
        said(hand.keyed.reduce(&Keyed::new(2).unwrap()))
    }),
    ("exact::KeyedPlan::reduce_scatter", |hand| {
        said(hand.keyed.reduce_scatter(&Keyed::new(2).unwrap()))
    }),
    ("exact::KeyedPlan::start_allreduce", |hand| {
        said(hand.keyed.start_allreduce(&Keyed::new(2).unwrap()))
    }),
    ("exact::KeyedPlan::start_reduce", |hand| {
        said(hand.keyed.start_reduce(&Keyed::new(2).unwrap()))
    }),
    ("exact::KeyedPlan::start_reduce_scatter", |hand| {
        said(hand.keyed.start_reduce_scatter(&Keyed::new(2).unwrap()))
    }),
    ("exact::KeyedPlan::by_key", |hand| {
        said(hand.keyed.by_key(&KEY, ONE, &mut [0.0; 2]))
    }),
    ("exact::KeyedPlan::allreduce_values", |hand| {
        said(
            hand.keyed
                .allreduce_values(&Keyed::new(2).unwrap(), &mut [0.0; 2]),
        )
    }),
    ("exact::KeyedPlan::by_key, two lengths", |hand| {
        said(hand.keyed.by_key(&KEY, &[], &mut [0.0; 2]))
    }),
    ("exact::HashedPlan::reduce_scatter", |hand| {
        said(hand.hashed.reduce_scatter(&exact::Hashed::new()))
    }),
    ("exact::HashedPlan::allreduce", |hand| {
        said(hand.hashed.allreduce(&exact::Hashed::new()))
    }),
    ("exact::HashedPlan::reduce", |hand| {
        said(hand.hashed.reduce(&exact::Hashed::new()))
    }),
    ("exact::HashedPlan::start_allreduce", |hand| {
        let nothing = exact::Hashed::new();
        said(hand.hashed.start_allreduce(&nothing))
    }),
    ("exact::HashedPlan::by_key", |hand| {
        said(hand.hashed.by_key(&KEY, ONE))
    }),
    ("exact::HashedPlan::reduce_by_key", |hand| {
        said(hand.hashed.reduce_by_key(&KEY, ONE))
    }),
    ("exact::HashedPlan::reduce_scatter_by_key", |hand| {
        said(hand.hashed.reduce_scatter_by_key(&KEY, ONE))
    }),
    ("exact::HashedPlan::by_key, two lengths", |hand| {
        said(hand.hashed.by_key(&KEY, &[]))
    }),
    ("Pending::test, by key", |hand| said(hand.keyed_run.test())),
    ("Pending::wait_timeout, by key", |hand| {
        said(hand.keyed_run.wait_timeout(Duration::ZERO))
    }),
    ("AnyPending::test", |hand| {
        let run: &AnyPending = &hand.run;
        said(run.test())
    }),
    ("wait_all", |hand| {
        said(wait_all(&[&hand.run, &hand.exact_run, &hand.keyed_run]))
    }),
];

fn sums() -> [exact::Sum<f64>; 1] {
    [exact::Sum::of(ONE)]
}

/// Makes all calls when an operator first runs, and records those that are not refused.
#[derive(Default)]
struct Tried {
    is_done: Cell<bool>,
    wrong: RefCell<Vec<String>>,
}

impl Tried {
    fn all(&self, hand: &Hand) {
        if self.is_done.replace(true) {
            return;
        }
        for (name, call) in CALLS {
            let outcome = call(hand);
            let is_refused = outcome.as_ref().is_err_and(|text| {
                text.contains("an operator cannot")
                    && text.contains(&format!("rank {}", hand.world.rank()))
            });
            if !is_refused {
                self.wrong.borrow_mut().push(format!("{name}: {outcome:?}"));
            }
        }
    }
}

fn every_call(world: &World) {
    let size = world.size();
    for algorithm in offered(world) {
        for count in [1, 2] {
            let hand = Rc::new(Hand::new(world));
            let tried = Rc::new(Tried::default());
            let add = {
                let (hand, tried) = (Rc::clone(&hand), Rc::clone(&tried));
                move |left: f64, right: f64| {
                    tried.all(&hand);
                    left + right
                }
            };
            let builder = Plan::builder(world).algorithm(algorithm);
            let builder = builder
                .local_items(count)
                .operator(custom("add", add).with_empty(0.0));
            let plan = builder.build::<f64>().unwrap();
            let items = vec![1.0; usize::try_from(count).unwrap()];
            let total = (size * items.len()) as f64;
            let check = |operation: &str| {
                let wrong = tried.wrong.take();
                let is_done = tried.is_done.replace(false);
                assert!(
                    is_done || count == 1,
                    "{algorithm}, {operation}: the operator was never called"
                );
                assert!(wrong.is_empty(), "{algorithm}, {operation}: {wrong:?}");
            };
            assert_eq!(plan.allreduce(&items), Ok(total));
            check("allreduce");
            if algorithm.is_scheduled() {
                let mut prefixes = items.clone();
                plan.scan(&items, &mut prefixes).unwrap();
                check("scan");
                plan.start_allreduce(&items).unwrap().wait().unwrap();
                check("start_allreduce");
                let run = plan.start_exscan(&items).unwrap();
                tried.is_done.set(false);
                run.wait_into(&mut prefixes).unwrap();
                check("the end of an exscan");
            }
            drop(plan);
            // The refused calls have changed nothing, so these calls succeed.
            let hand = Rc::into_inner(hand).unwrap();
            assert_eq!(hand.plan.allreduce(ONE), Ok(size as f64));
            assert_eq!(hand.exact.sum(ONE), Ok(size as f64));
            assert_eq!(hand.products.norm(&[2.0]), Ok((4.0 * size as f64).sqrt()));
            assert_eq!(hand.run.wait(), Ok(size as f64));
            assert_eq!(hand.exact_run.wait().unwrap().value(), size as f64);
        }
    }
}

/// The data of [`Teller`], an operator that makes the calls when a plan asks for its name and its empty value.
struct Telling {
    hand: Hand,
    tried: Tried,
}

struct Teller(Rc<Telling>);

impl Operator<f64> for Teller {
    fn name(&self) -> &str {
        self.0.tried.all(&self.0.hand);
        "telling"
    }

    fn combine(&self, left: f64, right: f64) -> f64 {
        left + right
    }

    fn empty(&self) -> Option<f64> {
        self.0.tried.all(&self.0.hand);
        Some(0.0)
    }
}

fn while_a_plan_is_built(world: &World) {
    let telling = Rc::new(Telling {
        hand: Hand::new(world),
        tried: Tried::default(),
    });
    let teller = Teller(Rc::clone(&telling));
    let builder = Plan::builder(world).local_items(1).operator(teller);
    let plan = builder.build::<f64>().unwrap();
    assert!(telling.tried.is_done.get());
    assert_eq!(*telling.tried.wrong.borrow(), [""; 0]);
    assert_eq!(plan.allreduce(ONE), Ok(world.size() as f64));
    drop(plan);
    let Telling { hand, .. } = Rc::into_inner(telling).unwrap();
    assert_eq!(hand.run.wait(), Ok(world.size() as f64));
    assert!(hand.exact_run.wait().is_ok());
    assert!(hand.keyed_run.wait().is_ok());
}

/// Operators may query, print and drop handles, because these calls do not communicate.
fn what_is_no_collective_call(world: &World) {
    let size = world.size();
    for algorithm in offered(world) {
        let hand = Rc::new(RefCell::new(Some(Hand::new(world))));
        let add = {
            let hand = Rc::clone(&hand);
            move |left: f64, right: f64| {
                if let Some(hand) = hand.take() {
                    let Hand {
                        world,
                        plan,
                        lanes,
                        exact,
                        products,
                        complex,
                        run,
                        exact_run,
                        keyed,
                        hashed,
                        keyed_run,
                    } = hand;
                    let text = format!("{world:?} {plan:?} {plan} {exact} {run:?} {exact_run:?}");
                    let of_keys = format!("{keyed:?} {keyed} {hashed:?} {keyed_run:?}");
                    assert!(of_keys.contains("2 keys of 16 bytes"), "{of_keys}");
                    assert!(!text.is_empty());
                    let looked = (
                        plan.algorithm(Operation::Scan),
                        plan.rounds(),
                        exact.rounds(),
                        world.traffic(),
                    );
                    assert!(looked.0.is_some());
                    world.set_silence_limit(Duration::from_secs(60));
                    let its_network = world.network();
                    assert!(its_network.near.latency_ns > 0.0);
                    run.cancel();
                    drop((exact_run, plan, lanes, exact, products, complex));
                    keyed_run.cancel();
                    drop((keyed, hashed));
                    world.tell_abandoned();
                    // This is the operator's last handle. Its plan is still running.
                    drop(world);
                }
                left + right
            }
        };
        let builder = Plan::builder(world).algorithm(algorithm);
        let builder = builder.local_items(2).operator(custom("add", add));
        let plan = builder.build::<f64>().unwrap();
        for _ in 0..3 {
            assert_eq!(
                plan.allreduce(&[1.0; 2]),
                Ok(2.0 * size as f64),
                "{algorithm}"
            );
        }
        assert!(hand.borrow().is_none(), "{algorithm}");
    }
}

/// While the wait for another plan drives a run, the run's operator drops the run's handle. The run is abandoned when the operator returns.
fn drops_its_own_run(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let held: Rc<RefCell<Option<Pending<f64>>>> = Rc::default();
    let is_dropped = Rc::new(Cell::new(false));
    let add = {
        let (held, is_dropped) = (Rc::clone(&held), Rc::clone(&is_dropped));
        move |left: f64, right: f64| {
            if let Some(run) = held.take() {
                let shown = format!("{run:?}");
                assert!(shown.contains("Pending"));
                drop(run);
                is_dropped.set(true);
            }
            left + right
        }
    };
    let plan = Plan::builder(world)
        .local_items(1)
        .operator(custom("add", add));
    let plan = plan.build::<f64>().unwrap();
    let run = plan.start_allreduce(ONE).unwrap();
    *held.borrow_mut() = Some(run);
    let others = Plan::builder(world).local_items(1).build::<f64>().unwrap();
    // The allreduces of the plan `others` also drive the run.
    for _ in 0..3 {
        assert_eq!(others.allreduce(ONE), Ok(size as f64));
    }
    if let Some(run) = held.take() {
        // The operator was not called, because no message arrived or there was nothing to combine.
        drop(run);
    } else {
        assert!(is_dropped.get());
    }
    assert_eq!(plan.allreduce(ONE), Err(RunError::Spent { rank }));
    let fresh = Plan::builder(world).local_items(1).build::<f64>().unwrap();
    assert_eq!(fresh.allreduce(ONE), Ok(size as f64));
}

/// The names of those public functions of a source file that are documented as "Collective".
fn collective_calls(source: &str) -> Vec<String> {
    let mut calls = Vec::new();
    let mut is_collective = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("///") {
            is_collective |= line.contains("Collective");
        } else if let Some(rest) = line.strip_prefix("pub fn ") {
            let name = rest.split(['(', '<']).next().unwrap_or_default();
            calls.extend(is_collective.then(|| name.to_owned()));
            is_collective = false;
        } else if !line.starts_with("#[") {
            is_collective = false;
        }
    }
    calls
}

/// Checks that [`CALLS`] has every collective call that these source files declare.
#[allow(dead_code, reason = "only one backend calls it")]
pub(crate) fn complete() {
    let sources = [
        ("World", include_str!("../../src/world/mod.rs")),
        ("threads", include_str!("../../src/world/threads.rs")),
        ("Plan", include_str!("../../src/plan/mod.rs")),
        ("Builder", include_str!("../../src/plan/builder.rs")),
        ("Builder", include_str!("../../src/exact/build.rs")),
        ("Plan", include_str!("../../src/plan/dots.rs")),
        ("LanesPlan", include_str!("../../src/plan/lanes.rs")),
        ("exact::Plan", include_str!("../../src/exact/plan.rs")),
        (
            "exact::KeyedPlan",
            include_str!("../../src/exact/keyed/plan.rs"),
        ),
        (
            "exact::HashedPlan",
            include_str!("../../src/exact/keyed/hashed.rs"),
        ),
    ];
    for (owner, source) in sources {
        let found = collective_calls(source);
        assert!(!found.is_empty(), "{owner}");
        for name in found {
            let full = format!("{owner}::{name}");
            let is_there = CALLS.iter().any(|(call, _)| *call == full);
            assert!(
                is_there,
                "{full} is collective, but `CALLS` does not have it"
            );
        }
    }
}
