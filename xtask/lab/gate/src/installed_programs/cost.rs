//! The cost of a call through the interposer: a picture of the times that `overhead.c` prints, for each MPI library.

use std::path::Path;

use checkout::machine::Machine;
use checkout::workspace::{target, workspace};
use serde_json::json;

use crate::commands::{Result, output};
use crate::pages::{Line, Picture, drawn};
use crate::pmpi::{Mode, OVERHEAD_RANKS, compile, launch};
use crate::steps::Steps;

/// Libraries: the suffix of their wrappers, and their name.
const LIBRARIES: [(&str, &str); 2] = [("openmpi", "Open MPI"), ("mpich", "MPICH")];

/// Repetitions of the shortest message.
const REPETITIONS: &str = "1000";

/// Measures with every library, and records the picture.
pub(super) fn measure(steps: &mut Steps, prefix: &Path) -> Result {
    let source = workspace().join("bindings/interposer/tests/c/overhead.c");
    let mut lines = Vec::new();
    for (library, name) in LIBRARIES {
        steps.with_library(library, |steps| {
            let program = target()?.join(format!("overhead-{library}"));
            let compiler = format!("mpicc.{library}");
            let program = compile(steps, &compiler, &source, Vec::new(), program)?;
            let mut command = launch(steps, prefix, Mode::On, OVERHEAD_RANKS, program);
            command.arg(REPETITIONS);
            let mut printed = String::new();
            steps.check(format!("{name}: what a call costs"), || {
                printed = output(command)?;
                Ok(printed.clone())
            })?;
            lines.extend(ratios(&printed, name));
            Ok(())
        })?;
    }
    // One panel for each call, with both libraries.
    lines.sort_by(|one, other| one.name.cmp(&other.name));
    steps.note_picture(record(&lines));
    Ok(())
}

/// A line for each table: bytes, and treefold's time divided by the library's.
fn ratios(printed: &str, library: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for line in printed.lines() {
        // A row may end with the gathered bytes.
        let gathered = line.strip_suffix(" B");
        let times = gathered.and_then(|row| row.rsplit_once(' '));
        let numbers: Option<Vec<f64>> = times
            .map_or(line, |(times, _)| times)
            .split_whitespace()
            .map(|word| word.parse().ok())
            .collect();
        match (numbers.as_deref(), line.split_once(", ")) {
            (Some(&[bytes, own_us, library_us, _]), _) => {
                if let Some(last) = lines.last_mut() {
                    last.points.push((bytes, own_us / library_us));
                }
            }
            (_, Some((call, rest))) if rest.contains("ranks") => {
                let name = format!("treefold's MPI_{call}, over {library}'s");
                let points = Vec::new();
                lines.push(Line { name, points });
            }
            _ => {}
        }
    }
    lines
}

fn record(lines: &[Line]) -> Picture {
    let Machine {
        processor,
        cores,
        date,
        commit,
    } = Machine::here();
    let ratios = lines.iter().flat_map(|line| &line.points);
    let extremes = (f64::INFINITY, 0.0);
    let (least, most) = ratios.fold(extremes, |(least, most), point| {
        (f64::min(least, point.1), f64::max(most, point.1))
    });
    let mut drawn = drawn(lines);
    drawn.push(json!({ "name": "the same time", "style": "level", "points": [[0.0, 1.0]] }));
    let record = json!({
        "source": format!(
            "cargo xtask test --stage programs --record; {processor}, {cores} cores; {date}, commit {commit}; shared with other programs"
        ),
        "title": format!(
            "A call through the interposer takes {least:.2} to {most:.2} times the MPI library's time"
        ),
        "subtitle": format!(
            "{OVERHEAD_RANKS} ranks on {cores} cores of {processor}; measured alternately, minimum of 31 times"
        ),
        "x": { "name": "message, bytes", "scale": "doublings" },
        "y": { "name": "time over the library's own, ratio", "scale": "decades" },
        "size": "panels",
        "lines": drawn,
    });
    Picture {
        name: "interposer-cost",
        record,
    }
}

#[cfg(test)]
mod tests {
    use super::{ratios, record};

    #[test]
    fn tables_become_lines() {
        let printed = "\nAllreduce, 2 ranks, least of 31\n bytes MPI_, µs PMPI_, µs ratio\n 8 0.5 0.25 2.00\n 16 1 1 1\n\nIallreduce and Wait, 2 ranks, least of 31\n 8 3 6 0.5 16 B\n\nshares\n 8 1 1 1 16\n";
        let lines = ratios(printed, "MPICH");
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1].points, [(8.0, 0.5)]);
        assert_eq!(lines[0].name, "treefold's MPI_Allreduce, over MPICH's");
        assert_eq!(lines[0].points, [(8.0, 2.0), (16.0, 1.0)]);
        let picture = record(&lines);
        let title = picture.record["title"].as_str().unwrap_or_default();
        assert!(title.contains("takes 0.50 to 2.00 times"), "{title}");
    }
}
