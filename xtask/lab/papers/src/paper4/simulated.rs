//! Figures 7 to 14: the paper's two clusters, simulated.

use harness::Error;
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size};

use super::times::{CLUSTERS, Cluster, Posting, Times, Variant};
use crate::said::times_at_the_end;
use crate::{Comparison, Context, Page};

/// Bytes of one integer, and of 255 doubles.
const ROWS: [(&str, &str, f64); 2] = [
    ("one integer", "integer", 4.0),
    ("255 doubles", "doubles", 2040.0),
];

/// Both clusters, both rows.
pub(super) fn clusters(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(
        "One process a socket, two a node. The clusters are not here: all times are simulated, with links that are assumed, not published, and the sum's γ also for the maximum, so that figures 7 and 8 are one here, \
         9 and 10, 11 and 12, 13 and 14. A node has one port, through which the bytes of its processes' messages go one after another. What a message costs its sender to post lies \
         between two extremes, which are both shown: nothing beyond its bytes (n messages at once), or a whole latency (one after another).",
    );
    for cluster in &CLUSTERS {
        page.heading(cluster.name);
        let Cluster { near, far, .. } = cluster;
        page.paragraph(format!(
            "Within a node α = {} ns, β = {} ns/byte; between nodes α = {} ns, β = {} ns/byte; γ = {} ns/byte. P = 2 to {}.",
            near.latency_ns, near.byte_ns, far.latency_ns, far.byte_ns, near.combine_byte_ns, cluster.most
        ));
        let mut comparisons = Vec::new();
        for (row, (name, part, bytes)) in ROWS.into_iter().enumerate() {
            let mut lines = Vec::new();
            for posting in Posting::ALL {
                let most = if context.quick { 28 } else { cluster.most };
                let times = (2..=most).map(|ranks| Times::of(cluster, posting, ranks, bytes));
                let times: Vec<Times> = times.collect();
                lines.extend(drawn(&times, posting));
                comparisons.extend(claims(cluster, posting, row, name, &times));
            }
            let last = lines.first().and_then(|line| line.points.last());
            let most = last.map_or(0.0, |point| point.0);
            page.plot(
                &format!("{}-{part}", cluster.part),
                Plot {
                    title: format!("On {most} processes, {}", times_at_the_end(&lines)),
                    subtitle: format!(
                        "Simulated allreduce of {name}, {}; messages of a round at once or in turn",
                        cluster.name
                    ),
                    x: Axis::linear("P, processes"),
                    y: Axis::linear("time, µs"),
                    lines,
                    size: Size::Page,
                },
            )?;
        }
        page.compare(comparisons);
    }
    page.heading("What that says");
    page.paragraph(
        "The fewest rounds win for one integer if the latencies of a round's messages overlap; if they follow one another, Bruck with n = 5 pays five of them a round. That the paper found Bruck the fastest \
         says that they overlapped on its clusters. For 255 doubles it is bytes that count: Bruck with n = 5 sends up to five rows a round through a port that two processes share, pairwise exchange \
         one. There the n-way dissemination with its small n is as good for many P; the paper's had more to do for every message than is simulated. In one order, ranges with holes or around the end are \
         several rows, which costs these algorithms, but not the tree.",
    );
    Ok(())
}

/// The lines of one plot: what has one message a round is the same for both postings.
fn drawn(times: &[Times], posting: Posting) -> Vec<Line> {
    let has_choice = |variant: Variant| matches!(variant, Variant::Dissemination | Variant::Bruck);
    let variants = Variant::ALL.into_iter();
    let variants = variants.filter(|&variant| posting == Posting::AtOnce || has_choice(variant));
    let line = |variant: Variant| {
        let points = times.iter().map(|times| {
            let time_us = times.unordered_ns[variant as usize] / 1e3;
            (times.ranks as f64, time_us)
        });
        let name = if has_choice(variant) {
            format!("{}, {}", variant.short_name(), posting.short_name())
        } else {
            variant.name().to_owned()
        };
        Line::new(name, points.collect())
    };
    variants.map(line).collect()
}

/// What the paper says of one row's length.
fn claims(
    cluster: &Cluster,
    posting: Posting,
    row: usize,
    name: &str,
    times: &[Times],
) -> Vec<Comparison> {
    let what = |what: &str| format!("{name}, {}: {what}", posting.name());
    let of = |count: usize| format!("for {count} of {} P", times.len());
    let fastest = |variant| {
        of(times
            .iter()
            .filter(|times| times.is_fastest(variant))
            .count())
    };
    let (best, published) = [
        (Variant::Bruck, "Bruck is the fastest"),
        (Variant::Exchange, "pairwise exchange is the fastest"),
    ][row];
    let others = Variant::ALL.into_iter().filter(|&variant| variant != best);
    let others = others.map(|variant| format!("{} {}", variant.name(), fastest(variant)));
    let longest = |variant: Variant| {
        let times = times
            .iter()
            .map(|times| times.unordered_ns[variant as usize]);
        times.fold(0.0, f64::max) / 1e3
    };
    let mut comparisons = vec![
        Comparison::simulated(what(published), fastest(best))
            .published("overall")
            .because(format!(
                "the fastest, or one of them: {}",
                others.collect::<Vec<String>>().join("; ")
            )),
        Comparison::simulated(what("Bruck, longest, µs"), longest(Variant::Bruck))
            .published(cluster.bruck_us[row])
            .because("links are assumed, and a GASPI library's own time is not simulated"),
    ];
    for variant in [Variant::Exchange, Variant::Dissemination, Variant::Bruck] {
        let is_faster = |times: &&Times| {
            times.unordered_ns[variant as usize] < times.unordered_ns[Variant::Binomial as usize]
        };
        let faster = of(times.iter().filter(is_faster).count());
        let claim = Comparison::simulated(
            what(&format!("{} is faster than the tree", variant.name())),
            faster,
        );
        comparisons.push(claim.published(if row == 1 { "always" } else { "often" }));
    }
    let jump = |variant: Variant| {
        let jumps = times.windows(2).map(|pair| {
            let [from, to] = [0, 1].map(|index| pair[index].unordered_ns[variant as usize]);
            (to / from - 1.0).abs()
        });
        100.0 * jumps.fold(0.0, |sum, jump| sum + jump) / (times.len() - 1) as f64
    };
    comparisons.push(
        Comparison::simulated(
            what("mean change from P to P + 1, dissemination"),
            format!("{} %", digits(jump(Variant::Dissemination))),
        )
        .published("very volatile")
        .because(format!(
            "n changes with P; Bruck: {} %",
            digits(jump(Variant::Bruck))
        )),
    );
    let costs = Variant::ALL.map(|variant| {
        let ratios = times
            .iter()
            .map(|times| times.ordered_ns[variant as usize] / times.unordered_ns[variant as usize]);
        let mean = ratios.fold(0.0, |sum, ratio| sum + ratio) / times.len() as f64;
        format!("{}: {}", variant.name(), digits(mean))
    });
    comparisons.push(Comparison::simulated(
        what("mean time in one order over that in any"),
        costs.join("; "),
    ));
    comparisons
}
