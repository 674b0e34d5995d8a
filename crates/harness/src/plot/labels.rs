//! Names beside the ends of their lines, none on another.

/// A name as it is placed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Label {
    /// Where its line ends; downwards, in pixels.
    pub(super) wanted: f64,
    pub(super) height: f64,
}

/// The middles of labels between `top` and `bottom`: in the order of their lines' ends, apart, and together as near to them as can be.
pub(super) fn spread(labels: &[Label], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| labels[a].wanted.total_cmp(&labels[b].wanted));
    // Labels that touch are a stack, which moves as one.
    let mut stacks: Vec<Stack> = Vec::new();
    for &index in &order {
        stacks.push(Stack::of(index, labels[index]));
        while let [.., above, below] = &mut stacks[..] {
            if above.top(top, bottom) + above.height <= below.top(top, bottom) {
                break;
            }
            above.take(below, labels);
            stacks.pop();
        }
    }
    let mut middles = vec![0.0; labels.len()];
    for stack in stacks {
        let mut at = stack.top(top, bottom);
        for index in stack.indices {
            middles[index] = at + labels[index].height / 2.0;
            at += labels[index].height;
        }
    }
    middles
}

struct Stack {
    indices: Vec<usize>,
    height: f64,
    /// The mean place that its labels want its upper edge to have.
    wanted_top: f64,
}

impl Stack {
    fn of(index: usize, label: Label) -> Self {
        Self {
            indices: vec![index],
            height: label.height,
            wanted_top: label.wanted - label.height / 2.0,
        }
    }

    fn top(&self, top: f64, bottom: f64) -> f64 {
        self.wanted_top.min(bottom - self.height).max(top)
    }

    fn take(&mut self, below: &Stack, labels: &[Label]) {
        self.indices.extend(&below.indices);
        self.height += below.height;
        let mut above = 0.0;
        let mut wanted = 0.0;
        for &index in &self.indices {
            let label = labels[index];
            wanted += label.wanted - label.height / 2.0 - above;
            above += label.height;
        }
        self.wanted_top = wanted / self.indices.len() as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::{Label, spread};

    fn placed(wanted: &[f64]) -> Vec<f64> {
        let label = |&wanted: &f64| Label {
            wanted,
            height: 10.0,
        };
        let labels: Vec<Label> = wanted.iter().map(label).collect();
        spread(&labels, 0.0, 100.0)
    }

    #[test]
    fn labels_stay_where_they_can() {
        assert_eq!(placed(&[50.0, 20.0]), [50.0, 20.0]);
        assert_eq!(placed(&[]), [] as [f64; 0]);
    }

    #[test]
    fn labels_of_one_place_are_spread_around_it() {
        assert_eq!(placed(&[50.0, 50.0]), [45.0, 55.0]);
        assert_eq!(placed(&[50.0, 30.0, 50.0, 50.0]), [40.0, 30.0, 50.0, 60.0]);
        // A stack that grows reaches what was clear of it.
        assert_eq!(placed(&[50.0, 50.0, 38.0]), [46.0, 56.0, 36.0]);
    }

    #[test]
    fn labels_stay_inside() {
        assert_eq!(placed(&[0.0, 0.0]), [5.0, 15.0]);
        assert_eq!(placed(&[99.0, 100.0, 98.0]), [85.0, 95.0, 75.0]);
    }
}
