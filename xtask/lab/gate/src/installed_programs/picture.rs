//! LAMMPS' temperatures over its steps, as the picture of the page about unchanged programs.

use std::ops::RangeInclusive;

use harness::plot::{Axis, Line, Plot, Record, Size};

/// What the thermostat of the input holds the melt at: differences from it have room on an axis from 0.
const THERMOSTAT: f64 = 2.0;

/// Before the first of these steps all runs look the same, and after the last they have long parted.
const STEPS: RangeInclusive<f64> = 900.0..=1500.0;

/// The picture of runs without the interposer and with it; of each kind, one by each algorithm, which has a name.
pub(super) fn record(
    version: &str,
    algorithms: [&str; 2],
    [without, with]: [&[String; 2]; 2],
) -> Record {
    let lines = [
        line("both, with treefold", &with[0]),
        line(algorithms[0], &without[0]),
        line(algorithms[1], &without[1]),
    ];
    let plot = Plot {
        title: "Two algorithms of the MPI library lead a melt apart; with treefold both give one trajectory".to_owned(),
        subtitle: format!(
            "LAMMPS, 864 atoms under a thermostat at {THERMOSTAT:.1}, 5 ranks, Open MPI {version}, unchanged program"
        ),
        x: Axis::linear("step"),
        y: Axis::linear("temperature above the thermostat's"),
        lines: lines.to_vec(),
        size: Size::Page,
    };
    let source = "cargo xtask test --stage programs --record".to_owned();
    Record::new(source, plot)
}

/// A run's temperatures: the second word of lines that begin with a step.
fn line(name: &str, output: &str) -> Line {
    let points = super::thermodynamics(output).into_iter();
    let points = points.filter_map(|line| {
        let mut words = line.split_whitespace();
        let mut number = || words.next()?.parse::<f64>().ok();
        Some((number()?, number()? - THERMOSTAT))
    });
    Line::new(
        name,
        points.filter(|(step, _)| STEPS.contains(step)).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::record;

    #[test]
    fn temperatures_are_drawn() {
        let output =
            |end: &str| format!("   Step Temp\n  700 5\n 1000 2.5\n 1020 {end}\nLoop time\n");
        let run = |ends: [&str; 2]| ends.map(output);
        let (without, with) = (run(["2.25", "1.75"]), run(["2", "2"]));
        let record = record("4.1.4", ["linear", "other"], [&without, &with]);
        let lines = record.plot.lines.into_iter();
        let drawn: Vec<_> = lines.map(|line| line.points).collect();
        let end = |y| vec![(1000.0, 0.5), (1020.0, y)];
        assert_eq!(drawn, [end(0.0), end(0.25), end(-0.25)]);
    }
}
