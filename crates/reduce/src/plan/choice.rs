//! Which schedule runs, where nobody says: the one that should take least on this link.
//!
//! The choice follows from what all ranks have agreed on, so it is the same on every rank; and whatever it is, the bits are.

use std::env;
use std::fmt;

use distribution::Ownership;
use schedule::{Collective, Link, Load, Parameters, Schedule};
use tree_index::Tree;

use crate::algorithm::Algorithm;
use crate::algorithm1::MessageBuffer;
use crate::error::{BuildError, UnknownName};
use crate::terms::Choice;
use crate::world::World;

/// Names the algorithm of plans that do not say which.
pub const ALGORITHM_VARIABLE: &str = "TREEFOLD_ALGORITHM";

/// The schedules to choose from, the first of equals: the others are the fastest nowhere, or by a hair.
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

/// So many ranks are looked at to see how many values stand for the items of one.
const SAMPLES: usize = 16;

/// Rows are cut into strips of so many bytes, if that costs little: all that a rank needs for one fits into its own cache.
const STRIP_BYTES: usize = 1 << 19;

/// What a plan was told about its schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hints {
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) blocks: Option<usize>,
    pub(crate) ports: Option<usize>,
    pub(crate) node_ranks: Option<usize>,
    pub(crate) levels: Option<(Algorithm, Algorithm)>,
    pub(crate) link: Link,
    /// Of [`Algorithm::Algorithm1`].
    pub(crate) message_buffer: MessageBuffer,
}

/// What ranks compare.
impl fmt::Display for Hints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            algorithm: _,
            blocks,
            ports,
            node_ranks,
            levels,
            link,
            message_buffer:
                MessageBuffer {
                    values,
                    flush_leaves,
                },
        } = self;
        let number = |number: Option<usize>| match number {
            Some(number) => number.to_string(),
            None => "open".to_owned(),
        };
        write!(
            f,
            "blocks {}, ports {}, ranks of a node {}, ",
            number(*blocks),
            number(*ports),
            number(*node_ranks)
        )?;
        if let Some((inner, outer)) = levels {
            write!(f, "{inner} within and {outer} between nodes, ")?;
        }
        let (alpha, beta, gamma) = (link.latency_ns, link.byte_ns, link.combine_byte_ns);
        write!(f, "a link of {alpha} ns, {beta} and {gamma} ns/byte, ")?;
        write!(
            f,
            "messages of {values} values, sent before {flush_leaves} leaves"
        )
    }
}

/// What is to be reduced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'t> {
    pub(crate) ownership: &'t Ownership,
    pub(crate) width: usize,
    pub(crate) element_bytes: usize,
}

impl Hints {
    /// For this link, and open otherwise.
    pub(crate) fn of(link: Link) -> Self {
        Self {
            algorithm: None,
            blocks: None,
            ports: None,
            node_ranks: None,
            levels: None,
            link,
            message_buffer: MessageBuffer::default(),
        }
    }

    /// The program's algorithm, or else the environment's.
    pub(crate) fn named_algorithm(&self) -> Result<Option<Algorithm>, UnknownName> {
        if self.algorithm.is_some() {
            return Ok(self.algorithm);
        }
        let Some(name) = env::var_os(ALGORITHM_VARIABLE) else {
            return Ok(None);
        };
        let named = name.to_string_lossy().parse();
        named.map(Some).map_err(|error| UnknownName {
            variable: ALGORITHM_VARIABLE,
            error,
        })
    }

    /// Whether the parameters can be followed.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let MessageBuffer { values, .. } = self.message_buffer;
        if !(1..=MessageBuffer::VALUES_MAX).contains(&values) {
            return Err(BuildError::MessageBuffer { values });
        }
        let parameters = self.parameters(1, 1)?;
        // The schedule that uses most of them stands for all.
        Schedule::new(schedule::Algorithm::Hierarchical, Collective::Allreduce, 1)
            .and_then(|schedule| schedule.with(parameters))?;
        Ok(())
    }

    /// These hints as parameters of a schedule; `blocks` and `node_ranks` where they leave them open.
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

    /// The algorithm, its parameters and the strips of a row, of checked hints. The algorithm is what all ranks named.
    pub(crate) fn choose(&self, named: Option<Algorithm>, world: &World, task: Task<'_>) -> Choice {
        let (ranks, transport) = (world.size(), world.transport().hints());
        let row_bytes = task.width.saturating_mul(task.element_bytes);
        #[expect(clippy::cast_precision_loss, reason = "a row is far below 2^53 bytes")]
        let load = Load {
            row_bytes: row_bytes as f64,
            rows: rows_of_a_rank(task.ownership),
        };
        let node_ranks = match transport.node_ranks {
            Some(node) if (2..ranks).contains(&node) => node,
            _ => Parameters::default().node_ranks,
        };
        let parameters = |blocks| {
            let parameters = self.parameters(blocks, node_ranks);
            parameters.expect("the hints are checked")
        };
        let takes_turns = ranks > transport.concurrency;
        let named = match named.map(|algorithm| (algorithm, algorithm.schedule())) {
            // Ranks that take turns on a core are as slow as all their messages together.
            None if takes_turns => Some(schedule::Algorithm::Binomial),
            None => None,
            Some((_, Some(schedule))) => Some(schedule),
            Some((algorithm, None)) => {
                return Choice {
                    algorithm,
                    parameters: parameters(1),
                    strips: 1,
                };
            }
        };
        let candidates = match &named {
            Some(named) => std::slice::from_ref(named),
            None => &CANDIDATES,
        };
        let (link, width) = (self.link, task.width);
        let schedule = Schedule::fastest(candidates, ranks, parameters(1), load, link, width);
        let strips = match self.blocks {
            _ if schedule.algorithm().is_pipelined() => 1,
            Some(blocks) => blocks.min(width),
            None if takes_turns => 1,
            None => schedule.most_strips(load, link, (row_bytes / STRIP_BYTES).clamp(1, width)),
        };
        let blocks = schedule.algorithm().best_blocks(ranks, load, link, width);
        Choice {
            algorithm: Algorithm::of_schedule(schedule.algorithm()),
            parameters: parameters(blocks),
            strips,
        }
    }
}

fn scheduled(algorithm: Algorithm) -> Result<schedule::Algorithm, BuildError> {
    algorithm
        .schedule()
        .ok_or(BuildError::NoSchedule { algorithm })
}

/// The mean number of values, or rows, that stand for the items of one rank.
fn rows_of_a_rank(ownership: &Ownership) -> f64 {
    let (ranks, tree) = (ownership.ranks(), Tree::new(ownership.items()));
    let samples = ranks.min(SAMPLES);
    let counts = (0..samples).map(|sample| {
        let position = sample * ranks / samples;
        tree.fragment(ownership.union(position..position + 1))
            .count()
    });
    #[expect(clippy::cast_precision_loss, reason = "nodes and samples are few")]
    let mean = counts.fold(0, |total, count| total + count) as f64 / samples as f64;
    mean.max(1.0)
}
