//! 1000 elements on ever more nodes.

use harness::Error;
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size};
use schedule::Algorithm;

use super::eager;
use super::jupiter::{ELEMENT_BYTES, JUPITER, MODELS_WORDS, NODES, TREES, machine_words, nodes};
use crate::cluster::Run;
use crate::{Comparison, Context, Page};

/// The length of the array.
const ELEMENTS: usize = 1000;

/// One model's times in ns, tree by tree, by the number of nodes.
struct Sweep {
    name: &'static str,
    /// Why binary and Fibonacci trees compare as they do.
    why: &'static str,
    times_ns: [Vec<f64>; 3],
}

impl Sweep {
    fn new(name: &'static str, why: &'static str, time_ns: impl Fn(&Run) -> f64) -> Self {
        let times = |tree| {
            let runs = (1..=NODES).map(|count| Run::reduce(tree, &JUPITER, nodes(count)));
            runs.map(|run| time_ns(&run)).collect()
        };
        Self {
            name,
            why,
            times_ns: TREES.map(times),
        }
    }

    fn of(&self, tree: Algorithm) -> &[f64] {
        let place = TREES.iter().position(|&other| other == tree);
        &self.times_ns[place.expect("one of the three")]
    }

    /// At how many numbers of processes one takes less than all of the others.
    fn wins(&self, tree: Algorithm, others: &[Algorithm]) -> usize {
        let is_less = |&place: &usize| {
            let own = self.of(tree)[place];
            others.iter().all(|&other| own < self.of(other)[place])
        };
        (0..NODES).filter(is_less).count()
    }

    /// The mean over all numbers of processes of how much longer the best of the others takes.
    fn margin(&self, tree: Algorithm, others: &[Algorithm]) -> f64 {
        let ratio = |place: usize| {
            let others = others.iter().map(|&other| self.of(other)[place]);
            others.fold(f64::INFINITY, f64::min) / self.of(tree)[place]
        };
        (0..NODES).map(ratio).fold(0.0, |sum, ratio| sum + ratio) / NODES as f64
    }
}

/// The page.
pub(super) fn fill(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(machine_words());
    page.paragraph(format!(
        "A reduce of {ELEMENTS} elements to rank 0, on 1 to {NODES} nodes. {MODELS_WORDS}"
    ));
    let row_bytes = ELEMENTS as f64 * ELEMENT_BYTES;
    let rounds = "rounds alone count: two a level of a binary tree, one a level of a Fibonacci tree, which has 1.44 times as many";
    let depth = "latency is paid by the depth of the tree, not by its rounds, and a binary tree is the flattest; but its bytes and combinations come twice a level, so that it depends \
         on the length";
    let sweeps = [
        Sweep::new("synchronous", rounds, |run| run.time_ns(row_bytes, 1)),
        Sweep::new("eager", depth, |run| eager::reduce_ns(run, row_bytes)),
    ];
    for sweep in &sweeps {
        draw(page, sweep)?;
    }
    let halved = Sweep::new("eager, elements of half the size", depth, |run| {
        eager::reduce_ns(run, row_bytes / 2.0)
    });
    page.compare(sweeps.iter().chain([&halved]).flat_map(compare));
    page.table(
        ["processes".to_owned()].into_iter().chain(
            sweeps
                .iter()
                .flat_map(|sweep| TREES.map(|tree| format!("`{tree}`, {}, µs", sweep.name))),
        ),
        [1, 2, 4, 8, 16, 24, 32, 36].map(|count| {
            let cells = sweeps
                .iter()
                .flat_map(|sweep| TREES.map(|tree| digits(sweep.of(tree)[count - 1] / 1e3)));
            [(16 * count).to_string()]
                .into_iter()
                .chain(cells)
                .collect()
        }),
    );
    Ok(())
}

fn draw(page: &mut Page, sweep: &Sweep) -> Result<(), Error> {
    let line = |tree: Algorithm| {
        let points = (1_u32..).zip(sweep.of(tree));
        let points = points.map(|(nodes, time_ns)| (f64::from(16 * nodes), time_ns / 1e3));
        Line::new(tree.name(), points.collect())
    };
    let [binomial, fibonacci, binary] = TREES;
    let wins = sweep.wins(binomial, &[fibonacci, binary]);
    page.plot(
        sweep.name,
        Plot {
            title: format!(
                "With {} messages, binomial is the fastest tree on {wins} of {NODES} numbers of nodes",
                sweep.name
            ),
            subtitle: format!(
                "Simulated reduce of {ELEMENTS} elements on 1 to {NODES} nodes of 16 processes"
            ),
            x: Axis::linear("p, processes"),
            y: Axis::linear("time, µs"),
            lines: TREES.map(line).to_vec(),
            size: Size::Page,
        },
    )
}

fn compare(sweep: &Sweep) -> [Comparison; 4] {
    let [binomial, fibonacci, binary] = TREES;
    let what = |what: &str| format!("{}: {what}", sweep.name);
    let times = |wins: usize| format!("at {wins} of {NODES}");
    [
        Comparison::simulated(
            what("binomial is the fastest of the three"),
            times(sweep.wins(binomial, &[fibonacci, binary])),
        )
        .published("yes"),
        Comparison::simulated(
            what("the best of the others over binomial, mean"),
            sweep.margin(binomial, &[fibonacci, binary]),
        )
        .published("a big margin"),
        Comparison::simulated(
            what("binary is faster than Fibonacci"),
            times(sweep.wins(binary, &[fibonacci])),
        )
        .published("yes, a surprise")
        .because(sweep.why),
        Comparison::simulated(
            what("Fibonacci over binary, mean"),
            sweep.margin(binary, &[fibonacci]),
        ),
    ]
}
