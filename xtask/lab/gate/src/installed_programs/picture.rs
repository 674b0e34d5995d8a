//! How far LAMMPS' temperatures part over its steps, as the picture of the page about unchanged programs.

use harness::plot::{Axis, Line, Plot, Record, Size};

/// The picture of pairs of runs without the interposer and with it: a pair has a run by each of two algorithms, which have names.
pub(super) fn record(
    version: &str,
    algorithms: [&str; 2],
    [without, with]: [&[String; 2]; 2],
) -> Record {
    let without = differences(without);
    let with = differences(with);
    let parted = without.iter().find(|point| point.1 > 0.0);
    let parted = parted.map_or("never part".to_owned(), |point| {
        format!("part from step {} on", point.0)
    });
    let title = format!(
        "By two algorithms of one MPI library, a melt's temperatures {parted}; with treefold they {}",
        if with.iter().all(|point| point.1 <= 0.0) {
            "are the same at every step"
        } else {
            "part as well"
        }
    );
    let plot = Plot {
        title,
        subtitle: format!(
            "LAMMPS, 864 atoms, 5 ranks, Open MPI {version}, unchanged program; allreduces {} and {}",
            algorithms[0], algorithms[1]
        ),
        x: Axis::linear("time, steps"),
        y: Axis::decades_and_zero("difference of temperatures, Lennard-Jones units"),
        lines: vec![
            Line::new("treefold", with),
            Line::new("MPI_Allreduce", without),
        ],
        size: Size::Page,
    };
    let source = "cargo xtask test --stage programs --record".to_owned();
    Record::new(source, plot)
}

/// How far the temperatures of two runs are apart, at the steps that both print.
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
    use super::record;

    #[test]
    fn differences_are_drawn() {
        let output =
            |end: &str| format!("   Step Temp\n    0 5\n   20 2.5\n   40 {end}\nLoop time\n");
        let run = |ends: [&str; 2]| ends.map(output);
        let (without, with) = (run(["2.25", "1.75"]), run(["2", "2"]));
        let record = record("4.1.4", ["linear", "other"], [&without, &with]);
        let lines = record.plot.lines.into_iter();
        let drawn: Vec<_> = lines.map(|line| line.points).collect();
        let end = |y| vec![(0.0, 0.0), (20.0, 0.0), (40.0, y)];
        assert_eq!(drawn, [end(0.0), end(0.5)]);
        let title = &record.plot.title;
        assert!(
            title.contains("part from step 40 on; with treefold they are the same"),
            "{title}"
        );
    }
}
