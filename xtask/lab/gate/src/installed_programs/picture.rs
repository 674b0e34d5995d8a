//! The picture of the page about unchanged programs: how LAMMPS' temperatures diverge over its steps.

use serde_json::json;

use crate::pages::{Line, Picture, drawn};

/// The picture of two pairs of runs, without and with the interposer. Each pair has one run by each of two named algorithms.
pub(super) fn record(
    version: &str,
    algorithms: [&str; 2],
    [without, with]: [&[String; 2]; 2],
) -> Picture {
    let without = differences(without);
    let with = differences(with);
    let first = without.iter().find(|point| point.1 > 0.0);
    let diverge = first.map_or("are equal at every step".to_owned(), |point| {
        format!("diverge from step {} on", point.0)
    });
    let title = format!(
        "With two algorithms of one MPI library, a melt's temperatures {diverge}; with treefold they {}",
        if with.iter().all(|point| point.1 <= 0.0) {
            "are equal at every step"
        } else {
            "diverge as well"
        }
    );
    let lines = [("treefold", with), ("MPI_Allreduce", without)];
    let lines = lines.map(|(name, points)| Line {
        name: name.to_owned(),
        points,
    });
    let record = json!({
        "source": "cargo xtask test --stage programs --record",
        "title": title,
        "subtitle": format!(
            "LAMMPS, 864 atoms, 5 ranks, Open MPI {version}, unchanged program; allreduces {} and {}",
            algorithms[0], algorithms[1]
        ),
        "x": { "name": "time, steps", "scale": "linear" },
        "y": { "name": "difference of temperatures, Lennard-Jones units", "scale": "decades and zero" },
        "lines": drawn(&lines),
    });
    Picture {
        name: "unchanged-programs",
        record,
    }
}

/// The differences between the temperatures of two runs, at the steps that both print.
fn differences([one, other]: &[String; 2]) -> Vec<(f64, f64)> {
    let pairs = temperatures(one).into_iter().zip(temperatures(other));
    let same = pairs.filter(|(one, other)| one.0.total_cmp(&other.0).is_eq());
    let points = same.map(|((step, one), (_, other))| (step, (one - other).abs()));
    points.collect()
}

/// A run's steps and temperatures: the first two words of lines that begin with a step.
fn temperatures(output: &str) -> Vec<(f64, f64)> {
    let lines = super::thermodynamics(output).into_iter();
    let pairs = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let mut number = || words.next()?.parse::<f64>().ok();
        Some((number()?, number()?))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use serde_json::json;

    use super::record;

    #[test]
    fn differences_are_drawn() {
        let output =
            |end: &str| format!("   Step Temp\n    0 5\n   20 2.5\n   40 {end}\nLoop time\n");
        let run = |ends: [&str; 2]| ends.map(output);
        let (without, with) = (run(["2.25", "1.75"]), run(["2", "2"]));
        let record = record("4.1.4", ["linear", "other"], [&without, &with]);
        let drawn = |line: usize| record.record["lines"][line]["points"].clone();
        let end = |y: f64| json!([[0.0, 0.0], [20.0, 0.0], [40.0, y]]);
        assert_eq!([0, 1].map(drawn), [end(0.0), end(0.5)]);
        let title = record.record["title"].as_str().unwrap();
        assert!(
            title.contains("diverge from step 40 on; with treefold they are equal"),
            "{title}"
        );
    }
}
