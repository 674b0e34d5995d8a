//! Tests the settings that ranks compare when they build a plan. If a setting differs on one rank, all
//! ranks get an error that names the setting.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use reduce::exact::quantity::Sums;
use reduce::exact::{Moments, ProductSum, Sum};
use reduce::operator::custom;
use reduce::{
    Algorithm, BuildError, Builder, DEFAULT_LINK, Link, Max, MessageBuffer, Plan, threads,
};

/// The plan that a rank builds: a kind of plan, with at most one unusual setting.
#[derive(Clone, Copy)]
struct Variant {
    kind: &'static str,
    /// The setting's name in errors.
    setting: &'static str,
    build: Build,
    set: Set,
}

type Build = fn(Builder) -> Result<(), BuildError>;
type Set = fn(Builder) -> Builder;

/// Changes no setting.
const USUAL: (&str, Set) = ("nothing", |builder| builder);

/// Settings that every kind except the last uses.
const SETTINGS: &[(&str, Set)] = &[
    USUAL,
    ("algorithm", |builder| builder.algorithm(Algorithm::Ring)),
    ("algorithm", |builder| {
        builder.algorithm(Algorithm::Hierarchical)
    }),
    ("parameters of the algorithm", |builder| builder.blocks(1)),
    ("parameters of the algorithm", |builder| builder.ports(1)),
    ("parameters of the algorithm", |builder| {
        builder.node_ranks(1)
    }),
    ("parameters of the algorithm", |builder| {
        builder.levels(Algorithm::Binomial, Algorithm::Direct)
    }),
    ("parameters of the algorithm", |builder| {
        builder.network(Link {
            latency_ns: DEFAULT_LINK.latency_ns.next_up(),
            ..DEFAULT_LINK
        })
    }),
    ("parameters of the algorithm", |builder| {
        builder.message_buffer(MessageBuffer {
            values: 1,
            ..MessageBuffer::default()
        })
    }),
    ("message limit", |builder| builder.message_limit(7)),
    ("root", |builder| builder.root(2)),
];

/// The settings of kinds that have a width.
const WIDTHS: &[(&str, Set)] = &[("width", |builder| builder.width(2))];

/// A kind of plan; the setting in which this entry differs from the kind's first entry; the build function; and the settings that the kind uses.
type Kind = (
    &'static str,
    &'static str,
    Build,
    &'static [&'static [(&'static str, Set)]],
);

const KINDS: &[Kind] = &[
    (
        "a reduction in tree order",
        "nothing",
        |builder| builder.build::<f64>().map(drop),
        &[SETTINGS, WIDTHS],
    ),
    (
        "a reduction in tree order",
        "element type",
        |builder| builder.build::<f32>().map(drop),
        &[],
    ),
    (
        "a reduction in tree order",
        "operator",
        |builder| builder.operator(Max).build::<f64>().map(drop),
        &[],
    ),
    (
        "a reduction in tree order",
        "empty value of the operator",
        |builder| {
            let operator = custom("sum", |left: f64, right: f64| left + right);
            let operator = operator.with_empty(-0.0);
            builder.operator(operator).build::<f64>().map(drop)
        },
        &[],
    ),
    (
        "a sum in lanes",
        "nothing",
        |builder| builder.build_lanes::<f64>(2).map(drop),
        &[SETTINGS],
    ),
    (
        "a sum in lanes",
        "number of lanes",
        |builder| builder.build_lanes::<f64>(4).map(drop),
        &[],
    ),
    (
        "a sum in lanes",
        "element type",
        |builder| builder.build_lanes::<f32>(2).map(drop),
        &[],
    ),
    (
        "an exact sum",
        "nothing",
        |builder| builder.build_exact::<Sum<f64>>().map(drop),
        &[SETTINGS, WIDTHS],
    ),
    (
        "an exact sum",
        "operator",
        |builder| builder.build_exact::<ProductSum<f64>>().map(drop),
        &[],
    ),
    (
        "an exact sum",
        "kind of plan",
        |builder| builder.build_quantity::<Sums<f64>>().map(drop),
        &[],
    ),
    (
        "exact sums by key",
        "nothing",
        |builder| builder.build_keyed::<Sum<f64>>(2).map(drop),
        &[SETTINGS],
    ),
    (
        "exact sums by key",
        "number of keys",
        |builder| builder.build_keyed::<Sum<f64>>(3).map(drop),
        &[],
    ),
    (
        "exact sums by key",
        "operator",
        |builder| builder.build_keyed::<Moments<f64>>(2).map(drop),
        &[],
    ),
    (
        "exact sums by keys of 64 bits",
        "nothing",
        |builder| builder.build_hashed::<u64, Sum<f64>>().map(drop),
        &[&[USUAL, ("root", |builder| builder.root(2))]],
    ),
    (
        "exact sums by keys of 64 bits",
        "operator",
        |builder| builder.build_hashed::<i64, Sum<f64>>().map(drop),
        &[],
    ),
];

fn variants() -> Vec<Variant> {
    let of_kind = |&(kind, type_setting, build, settings): &Kind| {
        let variant = move |setting, set| Variant {
            kind,
            setting,
            build,
            set,
        };
        let of_type = settings.is_empty().then(|| variant(type_setting, USUAL.1));
        let others = settings.iter().copied().flatten();
        of_type
            .into_iter()
            .chain(others.map(move |&(setting, set)| variant(setting, set)))
    };
    KINDS.iter().flat_map(of_kind).collect()
}

/// Builds every kind of plan with each of its settings on one rank, and every other kind and setting on the other ranks.
#[test]
fn all_ranks_hear_what_differs_on_one() {
    let variants = variants();
    for (index, &one) in variants.iter().enumerate() {
        for &others in variants.iter().skip(index + 1) {
            for odd in 0..2 {
                let ranks = threads::run(3, |world| {
                    let Variant { build, set, .. } = if world.rank() == odd { one } else { others };
                    let first = build(set(Plan::builder(world).local_items(4)));
                    // All ranks open the same number of conversations, so the next plan is built.
                    let next = Plan::builder(world).local_items(1).build::<f64>();
                    (first, next.unwrap().allreduce(&[1.0]))
                });
                let (outcomes, next): (Vec<_>, Vec<_>) = ranks.unwrap().into_iter().unzip();
                assert!(next.iter().all(|sum| *sum == Ok(3.0)), "{next:?}");
                let names = [one, others].map(|variant| (variant.kind, variant.setting));
                let text = |outcome: Result<(), BuildError>| match outcome {
                    Err(error) => error.to_string(),
                    Ok(()) => panic!("{names:?}: a plan was built"),
                };
                let texts: Vec<String> = outcomes.into_iter().map(text).collect();
                assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
                let told =
                    |name: &str| texts[0].contains(&format!("disagree on the {name}: rank "));
                let names = [one.setting, others.setting];
                if one.kind == others.kind {
                    assert!(names.into_iter().any(told), "{names:?}: {}", texts[0]);
                } else {
                    assert!(told("kind of plan"), "{}", texts[0]);
                    let has = |variant: Variant| texts[0].contains(variant.kind);
                    assert!(has(one) && has(others), "{}", texts[0]);
                }
            }
        }
    }
}
