//! Figures 7 to 14: the paper's two clusters, simulated.

use harness::Error;
use harness::markdown::digits;
use harness::plot::Line;

use super::times::{CLUSTERS, Posting, Times, Variant};
use crate::cluster::Cluster;
use crate::said::{line, mean, most, part_of, times_at_the_end};
use crate::{Context, Values};

/// A row that is reduced, and what the paper says of it.
struct Row {
    name: &'static str,
    part: &'static str,
    bytes: f64,
    /// The fastest, and how it is called.
    best: (Variant, &'static str),
    /// How often others are faster than the tree.
    often: &'static str,
}

/// One integer, and 255 doubles.
const ROWS: [Row; 2] = [
    Row {
        name: "one integer",
        part: "integer",
        bytes: 4.0,
        best: (Variant::Bruck, "Bruck"),
        often: "often",
    },
    Row {
        name: "255 doubles",
        part: "doubles",
        bytes: 2040.0,
        best: (Variant::Exchange, "pairwise exchange"),
        often: "always",
    },
];

/// Both clusters, both rows.
pub(super) fn clusters(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    for cluster in &CLUSTERS {
        let Cluster { near, far } = cluster.links;
        let page = page.case("cluster");
        page.set("cluster", cluster.name).set("most", cluster.most);
        page.set("near α", near.latency_ns)
            .set("near β", near.byte_ns);
        page.set("far α", far.latency_ns).set("far β", far.byte_ns);
        page.set("γ", near.combine_byte_ns);
        let most = context.quick_or(28, cluster.most);
        for (row, bruck_us) in ROWS.iter().zip(cluster.bruck_us) {
            let page = page.case("row");
            let mut lines = Vec::new();
            for posting in Posting::ALL {
                let times = (2..=most).map(|ranks| Times::of(cluster, posting, ranks, row.bytes));
                let times: Vec<Times> = times.collect();
                lines.extend(drawn(&times, posting));
                let case = page.case("posting");
                case.set("posting", posting.name());
                case.set("published", bruck_us).set("how often", row.often);
                case.set("best", row.best.1);
                claims(case, row.best.0, &times);
            }
            let part = format!("{}-{}", cluster.part, row.part);
            page.set("row", row.name).set("last", most);
            page.set("ends", times_at_the_end(&lines));
            page.draw(&part, lines);
            page.set("part", part);
        }
    }
    Ok(())
}

/// The lines of one plot: what has one message a round is the same for both postings.
fn drawn(times: &[Times], posting: Posting) -> impl Iterator<Item = Line> {
    let has_choice = |variant: &Variant| matches!(variant, Variant::Dissemination | Variant::Bruck);
    let variants = Variant::ALL.into_iter();
    let variants =
        variants.filter(move |variant| posting == Posting::AtOnce || has_choice(variant));
    variants.map(move |variant| {
        let name = if has_choice(&variant) {
            format!("{}, {}", variant.short_name(), posting.short_name())
        } else {
            variant.name().to_owned()
        };
        let points = times.iter();
        line(name, points, |times| {
            (times.ranks as f64, times.of_any_ns(variant) / 1e3)
        })
    })
}

/// What the paper says of one row's length.
fn claims(page: &mut Values, best: Variant, times: &[Times]) {
    let of = |is_so: &dyn Fn(&Times) -> bool| {
        let count = times.iter().filter(|times| is_so(times)).count();
        format!("for {} P", part_of(count, times.len()))
    };
    let fastest = |variant| of(&|times| times.is_fastest(variant));
    page.set("fastest", fastest(best));
    let others = Variant::ALL.into_iter().filter(|&variant| variant != best);
    let others = others.map(|variant| format!("{} {}", variant.name(), fastest(variant)));
    page.set("others", others.collect::<Vec<_>>().join("; "));
    let longest_ns = most(times.iter().map(|times| times.of_any_ns(Variant::Bruck)));
    page.set("longest", longest_ns / 1e3);
    for (name, variant) in [
        ("exchange", Variant::Exchange),
        ("dissemination", Variant::Dissemination),
        ("bruck", Variant::Bruck),
    ] {
        let faster = of(&|times| times.of_any_ns(variant) < times.of_any_ns(Variant::Binomial));
        page.set(&format!("faster {name}"), faster);
    }
    for (name, variant) in [
        ("dissemination", Variant::Dissemination),
        ("Bruck", Variant::Bruck),
    ] {
        let jumps = times
            .windows(2)
            .map(|pair| (pair[1].of_any_ns(variant) / pair[0].of_any_ns(variant) - 1.0).abs());
        let jumps = jumps.fold(0.0, |sum, jump| sum + jump);
        page.set(
            &format!("{name}'s change"),
            100.0 * jumps / (times.len() - 1) as f64,
        );
    }
    let costs = Variant::ALL.map(|variant| {
        let ratios = times.iter();
        let ratios = ratios.map(|times| times.in_order_ns(variant) / times.of_any_ns(variant));
        format!("{}: {}", variant.name(), digits(mean(ratios)))
    });
    page.set("costs", costs.join("; "));
}
