//! Combines nodes, within and between registers, into registers of their ancestors.

use crate::sets::vector::{Combine, Proven, Vector};

/// The roots of the first L registers, one per lane. There must be at least L registers.
#[inline(always)]
pub(crate) fn rows<V: Vector, O: Combine<V::Element>>(proven: Proven<V>, registers: &[V]) -> V {
    let registers = &registers[..V::LANES];
    match V::LANES {
        2 => level1::<V, O>(proven, registers, 0),
        4 => level2::<V, O>(proven, registers, 0),
        8 => level3::<V, O>(proven, registers, 0),
        _ => {
            let (left, right) = (
                level3::<V, O>(proven, registers, 0),
                level3::<V, O>(proven, registers, 8),
            );
            level::<V, O, 4>(proven, left, right)
        }
    }
}

/// The ancestors, one level up, of the nodes in two registers from `first` on.
#[inline(always)]
fn level1<V: Vector, O: Combine<V::Element>>(proven: Proven<V>, r: &[V], first: usize) -> V {
    level::<V, O, 1>(proven, r[first], r[first + 1])
}

/// The ancestors, two levels up, of the nodes in four registers.
#[inline(always)]
fn level2<V: Vector, O: Combine<V::Element>>(proven: Proven<V>, r: &[V], first: usize) -> V {
    let (left, right) = (
        level1::<V, O>(proven, r, first),
        level1::<V, O>(proven, r, first + 2),
    );
    level::<V, O, 2>(proven, left, right)
}

/// The ancestors, three levels up, of the nodes in eight registers.
#[inline(always)]
fn level3<V: Vector, O: Combine<V::Element>>(proven: Proven<V>, r: &[V], first: usize) -> V {
    let (left, right) = (
        level2::<V, O>(proven, r, first),
        level2::<V, O>(proven, r, first + 4),
    );
    level::<V, O, 3>(proven, left, right)
}

/// Combines the siblings at level `LEVEL` in two registers.
#[inline(always)]
pub(crate) fn level<V, O, const LEVEL: u32>(proven: Proven<V>, a: V, b: V) -> V
where
    V: Vector,
    O: Combine<V::Element>,
{
    if let Some(level) = O::pairs(proven, a, b) {
        return level;
    }
    let (left, right) = proven.neighbours::<LEVEL>(a, b);
    O::lanes(proven, left, right)
}

/// The root of one register's lanes.
#[inline(always)]
pub(crate) fn root<V: Vector, O: Combine<V::Element>>(
    proven: Proven<V>,
    register: V,
) -> V::Element {
    let mut nodes = [V::Element::default(); 16];
    proven.store(register, &mut nodes);
    let mut count = V::LANES;
    while count > 1 {
        count /= 2;
        for i in 0..count {
            nodes[i] = O::single(nodes[2 * i], nodes[2 * i + 1]);
        }
    }
    nodes[0]
}
