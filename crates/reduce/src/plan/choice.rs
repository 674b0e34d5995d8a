//! Chooses a schedule if the program names no algorithm: the schedule that should take the least time on this network.
//!
//! The choice depends only on what all ranks have agreed on, so every rank makes the same choice. The bits do not depend on the choice.

use std::fmt;

use comm::setting;
use distribution::Ownership;
use schedule::{Collective, Link, Load, Network, Parameters, Schedule};
use tree_index::Tree;

use crate::algorithm::Algorithm;
use crate::engines::terms::Choice;
use crate::error::{BuildError, UnknownName};
use crate::message_buffer::MessageBuffer;
use crate::world::World;

/// The environment variable that names the algorithm of plans whose program names no algorithm. An empty value names no algorithm.
pub const ALGORITHM_VARIABLE: &str = "TREEFOLD_ALGORITHM";

/// Candidates, in order of preference on ties. No other schedule is faster by a relevant margin.
const CANDIDATES: [schedule::Algorithm; 8] = [
    schedule::Algorithm::RecursiveDoubling,
    schedule::Algorithm::Bruck,
    schedule::Algorithm::Binomial,
    schedule::Algorithm::Rabenseifner,
    schedule::Algorithm::Circulant,
    schedule::Algorithm::Ring,
    schedule::Algorithm::LinearDoublyPipelined,
    schedule::Algorithm::TwoTree,
];

/// Further candidates if messages to other nodes take longer than messages within a node.
const CANDIDATES_BETWEEN_NODES: [schedule::Algorithm; 2] = [
    schedule::Algorithm::Direct,
    schedule::Algorithm::Hierarchical,
];

/// The candidates that `hierarchical` runs between nodes.
const BETWEEN_NODES: [schedule::Algorithm; 2] = [
    schedule::Algorithm::RecursiveDoubling,
    schedule::Algorithm::Direct,
];

/// The number of ranks that are sampled to estimate how many values represent a rank's items on average.
const SAMPLES: usize = 16;

/// The greatest number of ranges that are sampled on one rank. A rank may have a million times that number.
const SAMPLED_RANGES: usize = 1024;

/// The length of a strip of a row, in bytes: all that a rank needs for one strip fits into its own cache. Rows are cut into longer strips if
/// strips of this length would cost too much latency.
const STRIP_BYTES: usize = 1 << 19;

/// Rows are cut into strips whose messages fit into shared memory. If only messages of fewer bytes than this fit, there would be too many.
const SHARED_STRIP_BYTES_MIN: usize = 1 << 14;

/// The builder's options for the schedule. An option that is `None` was not set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScheduleOptions {
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) blocks: Option<usize>,
    pub(crate) ports: Option<usize>,
    pub(crate) node_ranks: Option<usize>,
    pub(crate) levels: Option<(Algorithm, Algorithm)>,
    pub(crate) network: Network,
    /// For [`Algorithm::Algorithm1`].
    pub(crate) message_buffer: MessageBuffer,
}

/// The text that ranks compare.
impl fmt::Display for ScheduleOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            algorithm: _,
            blocks,
            ports,
            node_ranks,
            levels,
            network,
            message_buffer:
                MessageBuffer {
                    values,
                    flush_leaves,
                },
        } = self;
        let number = |number: Option<usize>| match number {
            Some(number) => number.to_string(),
            None => "default".to_owned(),
        };
        write!(
            f,
            "blocks: {}, ports: {}, ranks per node: {}, ",
            number(*blocks),
            number(*ports),
            number(*node_ranks)
        )?;
        if let Some((inner, outer)) = levels {
            write!(f, "{inner} within and {outer} between nodes, ")?;
        }
        write!(f, "{network}, ")?;
        write!(
            f,
            "messages of {values} values, sent before subtrees of over {flush_leaves} leaves"
        )
    }
}

/// Checks a network's parameters, so that predicted times are numbers.
fn check_network(network: Network) -> Result<(), BuildError> {
    let Network {
        near,
        far,
        node_ranks,
        crowding_ns,
        port_ranks,
    } = network;
    let is_time = |time: f64| time.is_finite() && time > 0.0;
    let links = [near, far];
    let all = |time: fn(Link) -> f64| links.map(time).into_iter().all(is_time);
    let demands = [
        (
            "`latency_ns` must be finite and positive",
            all(|link| link.latency_ns),
        ),
        (
            "`byte_ns` must be finite and positive",
            all(|link| link.byte_ns),
        ),
        (
            "`combine_byte_ns` must be finite and positive",
            all(|link| link.combine_byte_ns),
        ),
        (
            "`crowding_ns` must be finite, and positive or 0",
            is_time(crowding_ns) || crowding_ns == 0.0,
        ),
        ("`node_ranks` must be at least 1", node_ranks > 0),
        ("`port_ranks` must be at least 1", port_ranks > 0),
    ];
    match demands.into_iter().find(|&(_, is_met)| !is_met) {
        None => Ok(()),
        Some((demand, _)) => Err(BuildError::Network { demand, network }),
    }
}

/// The reduction that a schedule is chosen for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'t> {
    pub(crate) ownership: &'t Ownership,
    pub(crate) width: usize,
    pub(crate) element_bytes: usize,
}

impl ScheduleOptions {
    /// Options in which only the network is set.
    pub(crate) fn of(network: Network) -> Self {
        Self {
            algorithm: None,
            blocks: None,
            ports: None,
            node_ranks: None,
            levels: None,
            network,
            message_buffer: MessageBuffer::default(),
        }
    }

    /// The algorithm that the program names; if it names none, the algorithm that the environment variable names.
    pub(crate) fn named_algorithm(&self) -> Result<Option<Algorithm>, UnknownName> {
        if self.algorithm.is_some() {
            return Ok(self.algorithm);
        }
        let Some(name) = setting::value(ALGORITHM_VARIABLE) else {
            return Ok(None);
        };
        let named = name.to_string_lossy().parse();
        named.map(Some).map_err(|error| UnknownName {
            variable: ALGORITHM_VARIABLE,
            error,
        })
    }

    /// Checks the parameters.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let MessageBuffer { values, .. } = self.message_buffer;
        if !(1..=MessageBuffer::VALUES_MAX).contains(&values) {
            return Err(BuildError::MessageBuffer { values });
        }
        check_network(self.network)?;
        let parameters = self.parameters(1, 1)?;
        // Hierarchical schedules use the most parameters. Parameters that they accept are valid for all schedules.
        Schedule::new(schedule::Algorithm::Hierarchical, Collective::Allreduce, 1)
            .and_then(|schedule| schedule.with(parameters))?;
        Ok(())
    }

    /// These options as parameters of a schedule; `blocks` and `node_ranks` replace options that were not set.
    fn parameters(&self, blocks: usize, node_ranks: usize) -> Result<Parameters, BuildError> {
        let default = Parameters::default();
        let (inner, outer) = match self.levels {
            None => (default.inner, default.outer),
            Some((inner, outer)) => (scheduled(inner)?, scheduled(outer)?),
        };
        Ok(Parameters {
            blocks: self.blocks.unwrap_or(blocks),
            ports: self.ports,
            node_ranks: self.node_ranks.unwrap_or(node_ranks),
            inner,
            outer,
        })
    }

    /// Chooses the algorithm, its parameters and the strips of a row. The options have been checked. `named` is the algorithm that all ranks named.
    pub(crate) fn choose(&self, named: Option<Algorithm>, world: &World, task: Task<'_>) -> Choice {
        let (ranks, transport_hints) = (world.size(), world.transport().hints());
        let row_bytes = task.width.saturating_mul(task.element_bytes);
        #[expect(clippy::cast_precision_loss, reason = "a row is far below 2^53 bytes")]
        let load = Load {
            row_bytes: row_bytes as f64,
            rows: rows_of_a_rank(task.ownership),
        };
        let (network, width) = (self.network, task.width);
        let nodes = Nodes::of(&network, ranks, transport_hints.node_ranks);
        let parameters = |blocks| {
            let parameters = self.parameters(blocks, nodes.ranks());
            parameters.expect("the options are checked")
        };
        let takes_turns = ranks > transport_hints.concurrency;
        let shared_strips = if takes_turns {
            1
        } else {
            strips_through(transport_hints.shared_bytes, load.rows, task)
        };
        let only = match named.map(|algorithm| (algorithm, algorithm.scheduled())) {
            // If ranks share a core, the times of their messages add up, so the schedule with the fewest messages wins.
            None if takes_turns && !nodes.are_far => Some(schedule::Algorithm::Binomial),
            None => None,
            Some((_, Some(schedule))) => Some(schedule),
            Some((algorithm, None)) => {
                return Choice {
                    algorithm,
                    parameters: parameters(1),
                    strips: 1,
                    rows: load.rows,
                };
            }
        };
        let candidates = match only {
            Some(only) => vec![only],
            None => nodes.candidates(),
        };
        let schedules = candidates.into_iter().flat_map(|algorithm| {
            let blocks = algorithm.best_blocks(ranks, load, network.far, width);
            let parameters = parameters(blocks);
            let levels = match self.levels {
                None => nodes.variants(algorithm, parameters),
                Some(_) => vec![parameters],
            };
            levels.into_iter().map(move |parameters| {
                Schedule::new(algorithm, Collective::Allreduce, ranks)
                    .and_then(|schedule| schedule.with(parameters))
                    .expect("there are ranks, and the parameters are sound")
            })
        });
        #[expect(clippy::cast_precision_loss, reason = "strips are far fewer than 2^53")]
        let strip_load = Load {
            row_bytes: load.row_bytes / shared_strips as f64,
            ..load
        };
        let schedule = Schedule::fastest(schedules, strip_load, network);
        let schedule = schedule.expect("there is a candidate");
        let algorithm = schedule.algorithm();
        let (blocks, strips) = if algorithm.is_pipelined() {
            (algorithm.best_blocks(ranks, load, network.far, width), 1)
        } else {
            let strips = match self.blocks {
                Some(blocks) => blocks.min(width),
                None if takes_turns => 1,
                None if shared_strips > 1 => shared_strips,
                None => {
                    schedule.most_strips(load, network, (row_bytes / STRIP_BYTES).clamp(1, width))
                }
            };
            (1, strips)
        };
        Choice {
            algorithm: Algorithm::of_schedule(algorithm),
            parameters: Parameters {
                outer: schedule.parameters().outer,
                ..parameters(blocks)
            },
            strips,
            rows: load.rows,
        }
    }
}

/// The number of strips of columns with which a strip's messages fit into shared memory; 1 if there is little or no shared memory.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a message is short, and lengths are positive"
)]
fn strips_through(shared_bytes: usize, rows: f64, task: Task<'_>) -> usize {
    if shared_bytes < SHARED_STRIP_BYTES_MIN {
        return 1;
    }
    let columns = shared_bytes as f64 / (rows * task.element_bytes as f64);
    task.width.div_ceil((columns as usize).max(1))
}

/// What is known about the nodes of the machine.
#[derive(Clone, Copy, Debug)]
struct Nodes {
    /// Whether messages between nodes take longer than messages within a node.
    are_far: bool,
    /// The number of ranks of each node, if this is more than one and there is more than one node.
    known_ranks: Option<usize>,
}

impl Nodes {
    fn of(network: &Network, ranks: usize, hint: Option<usize>) -> Self {
        let are_far = !network.is_flat() && ranks > network.node_ranks;
        let known_ranks = if are_far {
            Some(network.node_ranks)
        } else {
            hint
        };
        Self {
            are_far,
            known_ranks: known_ranks.filter(|node_ranks| (2..ranks).contains(node_ranks)),
        }
    }

    /// The number of ranks of each node, or the default if it is unknown.
    fn ranks(self) -> usize {
        let assumed = Parameters::default().node_ranks;
        self.known_ranks.unwrap_or(assumed)
    }

    /// The algorithms that are compared.
    fn candidates(self) -> Vec<schedule::Algorithm> {
        let between = match (self.are_far, self.known_ranks) {
            (false, _) => &[][..],
            // If nodes have one rank each, `hierarchical` has no inner level.
            (true, None) => &[schedule::Algorithm::Direct],
            (true, Some(_)) => &CANDIDATES_BETWEEN_NODES,
        };
        [&CANDIDATES[..], between].concat()
    }

    /// The parameters with which an algorithm is compared, if the program gives no levels.
    fn variants(self, algorithm: schedule::Algorithm, parameters: Parameters) -> Vec<Parameters> {
        match algorithm {
            schedule::Algorithm::Hierarchical if self.are_far => {
                let with = |outer| Parameters {
                    outer,
                    ..parameters
                };
                BETWEEN_NODES.map(with).to_vec()
            }
            _ => vec![parameters],
        }
    }
}

fn scheduled(algorithm: Algorithm) -> Result<schedule::Algorithm, BuildError> {
    algorithm
        .scheduled()
        .ok_or(BuildError::NoSchedule { algorithm })
}

/// The mean number of values, or rows, that represent the items of a rank, estimated from some ranges of some ranks.
#[expect(clippy::cast_precision_loss, reason = "a mean is not exact")]
fn rows_of_a_rank(ownership: &Ownership) -> f64 {
    let (ranks, tree) = (ownership.ranks(), Tree::new(ownership.items()));
    let samples = ranks.min(SAMPLES);
    let counts = (0..samples).map(|sample| {
        let position = sample * ranks / samples;
        let ranges = || {
            let ranges = ownership.union(position..position + 1);
            ranges.take(SAMPLED_RANGES)
        };
        let items = ownership.count(ownership.rank_at(position));
        let sampled_items = ranges().fold(0, |sum, range| sum + (range.end - range.start));
        let rows = tree.fragment(ranges()).count() as f64;
        rows * (items as f64 / sampled_items.max(1) as f64)
    });
    let mean = counts.fold(0.0, |total, count| total + count) / samples as f64;
    mean.max(1.0)
}
