//! The colours of methods, which are the same in every picture of the book.

use plotters::style::RGBColor;

use super::Line;
use super::style::{BLUE, BROWN, GREEN, INK, MUTED, OCHRE, PINK, VERMILION, VIOLET};

/// The lengths of dashes and gaps; `None` for a solid line.
pub(super) type Dashes = Option<(i32, i32)>;

/// The dashes of references.
const LEVEL_DASHES: Dashes = Some((40, 30));

/// The dashes of lines that share a colour in a picture; the first is solid.
const VARIANTS: [Dashes; 4] = [None, Some((90, 50)), Some((30, 50)), Some((200, 60))];

/// The methods, which are names of plotted lines. Each row of text has the names that share a colour, and the rows are in the order of
/// [`COLOURS`]. Schedules that never appear in the same picture share a colour.
const METHODS: &str = "\
treefold|treefold's plan|treefold's MPI_Allreduce|treefold's MPI_Reduce|tree
treefold, exact|dissemination|fibonacci|two-tree
MPI_Allreduce|MPI_Reduce|unordered SIMD sum|unordered SIMD + allreduce|plain sum
left-to-right loop|left-to-right + allreduce|left to right|binary-pipelined|binary|ring
Algorithm 1|Algorithm 4|pairwise-exchange|pairwise exchange|dual-root
binomial|binomial by ranks|binomial tree|binomial spanning tree|linear-pipelined
recursive-doubling|recursive doubling|bruck|Bruck|reduce-scatter-gather|binary-doubly-pipelined
direct|recursive|reduce-broadcast|linear-doubly-pipelined";

/// The colours of methods.
const COLOURS: [RGBColor; 8] = [BLUE, GREEN, VERMILION, OCHRE, PINK, VIOLET, BROWN, INK];

/// The colours of lines that are not methods, beginning with those that none of treefold's own methods has.
const OTHERS: [RGBColor; 8] = [VIOLET, BROWN, OCHRE, PINK, INK, GREEN, BLUE, VERMILION];

/// The colour of a line, if its name is a method. The part after a comma distinguishes variants of a method.
fn colour(name: &str) -> Option<RGBColor> {
    let of = |name: &str| {
        let mut methods = METHODS.lines();
        let method = methods.position(|names| names.split('|').any(|known| known == name));
        method.map(|method| COLOURS[method])
    };
    of(name).or_else(|| of(family(name)))
}

/// The method of a line.
pub(super) fn family(name: &str) -> &str {
    name.split_once(", ").map_or(name, |(family, _)| family)
}

/// The colours and dashes of a picture's lines. Lines that are not methods share the remaining colours. All variants of a name have one colour.
pub(super) fn looks(lines: &[Line]) -> Vec<(RGBColor, Dashes)> {
    let mut taken: Vec<(&str, RGBColor)> = Vec::new();
    let mut looks: Vec<(RGBColor, Dashes)> = Vec::new();
    let methods = lines.iter().filter(|line| !line.is_reference());
    let of_methods: Vec<RGBColor> = methods.filter_map(|line| colour(&line.name)).collect();
    for line in lines {
        if line.is_reference() {
            looks.push((MUTED, LEVEL_DASHES));
            continue;
        }
        let family = family(&line.name);
        let known = colour(&line.name).or_else(|| {
            let mut taken = taken.iter();
            taken.find(|one| one.0 == family).map(|one| one.1)
        });
        let colour = known.unwrap_or_else(|| {
            let uses = |colour: &RGBColor| {
                let drawn = taken.iter().filter(|one| one.1 == *colour).count();
                drawn + of_methods.iter().filter(|one| *one == colour).count()
            };
            OTHERS.into_iter().min_by_key(uses).unwrap_or(INK)
        });
        if known.is_none() {
            taken.push((family, colour));
        }
        let before = looks.iter().filter(|look| look.0 == colour).count();
        looks.push((colour, VARIANTS[before % VARIANTS.len()]));
    }
    looks
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::style::{BLUE, GREEN, VERMILION};
    use super::{Line, METHODS, looks};

    fn of(names: &[&str]) -> Vec<(plotters::style::RGBColor, super::Dashes)> {
        let lines: Vec<Line> = names.iter().map(|&name| Line::new(name, vec![])).collect();
        looks(&lines)
    }

    #[test]
    fn a_method_has_one_colour_whatever_is_beside_it() {
        assert_eq!(of(&["MPI_Allreduce"])[0].0, VERMILION);
        let drawn = of(&["x", "treefold's plan", "MPI_Allreduce", "treefold, exact"]);
        assert_eq!(drawn[1..], [(BLUE, None), (VERMILION, None), (GREEN, None)]);
        assert!(![BLUE, VERMILION, GREEN].contains(&drawn[0].0));
    }

    #[test]
    fn names_are_in_the_table_once() {
        let names = METHODS.lines().flat_map(|names| names.split('|'));
        let distinct: BTreeSet<&str> = names.clone().collect();
        assert_eq!(distinct.len(), names.count());
    }
}
