//! Random parts of a case.

use std::iter;
use std::ops::{Range, RangeInclusive};

use reduce::Algorithm;

use super::fault::{Fault, FaultKind, Trait};
use super::vocabulary::{Action, Keyed, Kind, Spec, Step};
use crate::Backend;
use crate::data::Random;

/// Under MPI, one in so many plans is none, but MPI's own functions.
const STARTED_RARITY: usize = 10;

/// Draws parts of a case.
pub(super) struct Dice(Random);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    pub(super) fn word(&mut self) -> u64 {
        self.0.word()
    }

    /// A number in 0..bound.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.0.below(bound as u64)).expect("it is below a usize")
    }

    pub(super) fn number(&mut self, bound: u32) -> u32 {
        u32::try_from(self.0.below(bound.into())).expect("it is below a u32")
    }

    pub(super) fn one_of<'c, C>(&mut self, choices: &'c [C]) -> &'c C {
        &choices[self.below(choices.len())]
    }

    /// A fault at one of the steps where it can happen, if there are such steps.
    pub(super) fn fault(
        &mut self,
        kind: FaultKind,
        ranks: usize,
        plans: &[Spec],
        steps: &[Step],
    ) -> Option<Fault> {
        let suiting: Vec<usize> = (0..steps.len())
            .filter(|&step| kind.suits(steps[step].action, &plans[steps[step].plan]))
            .filter(|&step| kind != FaultKind::Skip || !is_like_next(steps, step))
            .collect();
        if suiting.is_empty() {
            return None;
        }
        let (rank, step) = (self.below(ranks), *self.one_of(&suiting));
        let instead = match (kind, steps[step].action) {
            (FaultKind::OtherCollective, Action::Call(operation, mode)) => {
                let others = plans[steps[step].plan].others(operation, mode);
                Some(*self.one_of(&others))
            }
            _ => None,
        };
        Some(Fault {
            rank,
            step,
            kind,
            lasts: kind.is(Trait::Lasting) && self.below(2) == 0,
            instead,
        })
    }

    pub(super) fn within(&mut self, range: &RangeInclusive<usize>) -> usize {
        range.start() + self.below(range.end() + 1 - range.start())
    }

    /// A plan; a `small` one has few items of one element.
    pub(super) fn spec(&mut self, backend: Backend, ranks: usize, small: bool) -> Spec {
        if backend == Backend::Mpi && self.below(STARTED_RARITY) == 0 {
            return self.started(ranks, small);
        }
        let kind = *self.one_of(Kind::ALL);
        let algorithms: Vec<Algorithm> = Algorithm::all()
            .filter(|&algorithm| algorithm != Algorithm::MpiNative || backend == Backend::Mpi)
            .collect();
        let algorithm = (self.below(4) > 0).then(|| *self.one_of(&algorithms));
        // Moments are rows, even of one key.
        let algorithm = algorithm.filter(|algorithm| match kind {
            Kind::Keyed(Keyed::Moments) => algorithm.takes_rows(),
            _ => !kind.is_hashed(),
        });
        let is_scheduled = algorithm.is_none_or(Algorithm::is_scheduled);
        let width = match self.below(3) {
            _ if small || algorithm.is_some_and(|algorithm| !algorithm.takes_rows()) => 1,
            0 => 1 + self.below(5),
            // An exact sum is some hundred bytes.
            1 if matches!(kind, Kind::Exact(_)) => 1 + self.below(40),
            // Long rows are reduced where they lie.
            1 if self.below(4) == 0 => 256 + self.below(200),
            _ => 1,
        };
        let items = match (kind, self.below(8)) {
            (kind, 0) if !kind.has_empty() => 1,
            (_, 0) => 0,
            (_, 1) => 1,
            _ if small => 1 + self.below(8),
            _ if matches!(kind, Kind::Keyed(_)) && self.below(8) == 0 => 1 + self.below(2000),
            _ if width > 100 => 1 + self.below(20),
            _ => 1 + self.below(120),
        };
        let is_scattered = is_scheduled && self.below(3) == 0;
        Spec {
            kind,
            extents: if is_scattered {
                self.scattered(items as u64, ranks)
            } else {
                self.contiguous(items as u64, ranks)
            },
            gathers_extents: self.below(2) == 0,
            width,
            algorithm,
            root: self.below(ranks),
            message_limit: (self.below(6) == 0).then(|| 1 + self.below(4)),
            blocks: (self.below(4) == 0).then(|| 1 + self.below(width)),
        }
    }

    /// Sums by MPI's own functions, of an item a rank.
    fn started(&mut self, ranks: usize, small: bool) -> Spec {
        let width = match self.below(3) {
            0 if !small => 1 + self.below(400),
            1 if !small => 1 + self.below(8),
            _ => 1,
        };
        let extents = (0..ranks as u64).map(|item| iter::once(item..item + 1).collect());
        Spec {
            kind: Kind::Started,
            extents: extents.collect(),
            gathers_extents: false,
            width,
            algorithm: None,
            root: self.below(ranks),
            message_limit: None,
            blocks: None,
        }
    }

    /// Ranges in rank order, some of them empty.
    fn contiguous(&mut self, items: u64, ranks: usize) -> Vec<Vec<Range<u64>>> {
        let mut boundaries: Vec<u64> = (1..ranks).map(|_| self.0.below(items + 1)).collect();
        boundaries.extend([0, items]);
        boundaries.sort_unstable();
        let ranges = boundaries.windows(2).map(|ends| ends[0]..ends[1]);
        ranges
            .map(|range| Vec::from_iter((!range.is_empty()).then_some(range)))
            .collect()
    }

    /// Some ranges a rank, anywhere.
    fn scattered(&mut self, items: u64, ranks: usize) -> Vec<Vec<Range<u64>>> {
        let mut extents = vec![Vec::new(); ranks];
        let mut start = 0;
        while start < items {
            let end = items.min(start + 1 + self.0.below(items.div_ceil(ranks as u64) + 1));
            let own = &mut extents[self.below(ranks)];
            let place = self.below(own.len() + 1);
            own.insert(place, start..end);
            start = end;
        }
        extents
    }
}

/// Whether a step is followed by one like it: the plan is built again, or run again by the same operation. A rank that makes fewer of
/// them than the others is not in another call: what each passes to its first belongs together, and only the last can fail.
fn is_like_next(steps: &[Step], index: usize) -> bool {
    let Step { plan, action } = steps[index];
    let later = steps[index + 1..].iter().filter(|step| step.plan == plan);
    let is_build = |action: Action| matches!(action, Action::Build | Action::Rebuild(_));
    let Action::Call(operation, _) = action else {
        return is_build(action) && later.clone().any(|step| is_build(step.action));
    };
    let next = later
        .map(|step| step.action)
        .find(|action| !matches!(action, Action::Test | Action::Wait | Action::GiveUp));
    matches!(next, Some(Action::Call(other, _)) if other == operation)
}
