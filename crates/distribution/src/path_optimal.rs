use crate::critical_path::{Step, Subtree, critical_path_ns, subtrees};
use crate::{Cost, Distribution, Error, Scheme};
use tree_index::parent;

/// The start of every rank, then N.
pub(crate) fn boundaries(items: u64, ranks: usize, cost: &Cost) -> Result<Vec<u64>, Error> {
    let cost = cost.checked()?;
    let mut best_starts: Vec<u64> = Distribution::score_optimal(items, ranks, &cost)?
        .starts()
        .collect();
    let mut best_ns = time_ns(&best_starts, &cost);
    for scheme in [Scheme::Upper, Scheme::PowerOfTwo, Scheme::Optimized] {
        let starts: Vec<u64> = scheme.distribute(items, ranks)?.starts().collect();
        let ns = time_ns(&starts, &cost);
        if ns < best_ns {
            (best_ns, best_starts) = (ns, starts);
        }
    }
    let width = (WORK / ranks).clamp(WIDTH_MIN, WIDTH_MAX);
    let mut impossible_ns = 0.0;
    while best_ns - impossible_ns > best_ns * PRECISION {
        let limit_ns = impossible_ns + (best_ns - impossible_ns) / 2.0;
        match within(items, ranks, &cost, limit_ns, width) {
            Some(starts) => {
                best_ns = time_ns(&starts, &cost).min(limit_ns);
                best_starts = starts;
            }
            None => impossible_ns = limit_ns,
        }
    }
    Ok(best_starts)
}

const WORK: usize = 1 << 12;
const WIDTH_MIN: usize = 2;
const WIDTH_MAX: usize = 64;
const PRECISION: f64 = 1e-6;

fn time_ns(starts: &[u64], cost: &Cost) -> f64 {
    let ranges = starts.windows(2).rev().map(|pair| pair[0]..pair[1]);
    let items = starts[starts.len() - 1];
    critical_path_ns(items, ranges.filter(|range| !range.is_empty()), cost)
}

#[derive(Clone, Debug)]
struct State {
    start: u64,
    /// deadlines of what start cuts; the leftmost last
    due_ns: Vec<f64>,
    path: usize,
}

fn within(items: u64, ranks: usize, cost: &Cost, limit_ns: f64, width: usize) -> Option<Vec<u64>> {
    let mut paths: Vec<(u64, usize)> = vec![(0, 0)];
    let mut layer = vec![State {
        start: 0,
        due_ns: vec![limit_ns],
        path: 0,
    }];
    for _ in 0..ranks {
        let mut next: Vec<State> = Vec::new();
        for state in &layer {
            let Some(mut end) = state.furthest(items, cost) else {
                continue;
            };
            if end == items {
                let mut starts = Vec::new();
                let mut at = state.path;
                loop {
                    starts.push(paths[at].0);
                    if at == 0 {
                        break;
                    }
                    at = paths[at].1;
                }
                starts.reverse();
                starts.resize(ranks + 1, items);
                return Some(starts);
            }
            while end > state.start {
                next.push(State {
                    start: end,
                    due_ns: state.due(end, items, cost),
                    path: state.path,
                });
                end = parent(end);
            }
        }
        let rate = |s: &State| s.start as f64 * cost.add_ns - s.due_ns.len() as f64 * cost.send_ns;
        next.sort_by(|a, b| rate(b).total_cmp(&rate(a)).then(b.start.cmp(&a.start)));
        layer.clear();
        for mut state in next {
            if layer.iter().any(|known: &State| {
                known.start == state.start
                    && known.due_ns.iter().zip(&state.due_ns).all(|(k, s)| k >= s)
            }) {
                continue;
            }
            paths.push((state.start, state.path));
            state.path = paths.len() - 1;
            layer.push(state);
            if layer.len() == width {
                break;
            }
        }
    }
    None
}

impl State {
    fn furthest(&self, items: u64, cost: &Cost) -> Option<u64> {
        let mut now = 0.0;
        let mut end = self.start;
        for (subtree, &due) in subtrees(self.start, items).zip(self.due_ns.iter().rev()) {
            let send = if subtree.start > 0 { cost.send_ns } else { 0.0 };
            let whole = now + (subtree.len() - 1) as f64 * cost.add_ns + send;
            if whole <= due {
                now = whole;
                end = subtree.start + subtree.len();
                continue;
            }
            let fits = |local: u64| {
                let receives = subtree.climb(local).filter(|&s| s == Step::Receive).count() as u64;
                now + (local - 1 + receives) as f64 * cost.add_ns + send <= due
            };
            let (mut lo, mut hi) = (0, subtree.len());
            while hi - lo > 1 {
                let mid = lo + (hi - lo) / 2;
                if fits(mid) { lo = mid } else { hi = mid }
            }
            if lo > 0 {
                end = subtree.start + lo;
            }
            break;
        }
        (end > self.start).then_some(end)
    }
    fn due(&self, end: u64, items: u64, cost: &Cost) -> Vec<f64> {
        let mut before: Option<Subtree> = None;
        let mut kept = self.due_ns.len();
        for subtree in subtrees(self.start, items) {
            if subtree.start >= end {
                break;
            }
            kept -= 1;
            before = Some(subtree);
        }
        let cut = before.unwrap();
        let mut due = self.due_ns[..kept].to_vec();
        let mut now = self.due_ns[kept] - if cut.start > 0 { cost.send_ns } else { 0.0 };
        for step in cut.climb(cut.local_items(end)).rev() {
            now -= cost.add_ns;
            if step == Step::Receive {
                due.push(now);
            }
        }
        due
    }
}
