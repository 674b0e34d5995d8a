//! Writes the comparisons as JSON, from which `cargo xtask draw` makes a picture. The picture shows how far each iterate is from the same
//! iterate on one rank.

use crate::{Comparison, Sums};

const HEAD: &str = r#"{
  "source": "cargo run --release --example conjugate_gradient conjugate-gradient.json",
  "title": "With plain sums the iterates depend on the number of ranks; with treefold they do not",
  "subtitle": "Distance of each iterate from the one on one rank, relative to the solution's largest value",
  "x": {
    "name": "iterate, iterations",
    "scale": "linear"
  },
  "y": {
    "name": "greatest distance, ratio",
    "scale": "decades and zero"
  },
  "size": "page",
  "lines": [
"#;

/// The JSON of the runs on more than one rank. The runs with treefold are drawn as one line, since their lines would cover each other.
pub(crate) fn json(comparisons: &[Comparison]) -> String {
    let of = |sums| {
        let several = comparisons.iter().filter(|one| one.ranks > 1);
        several.filter(move |one| one.sums == sums)
    };
    let ranks: Vec<String> = of(Sums::Treefold)
        .map(|one| one.ranks.to_string())
        .collect();
    let treefold = of(Sums::Treefold).take(1);
    let treefold = treefold.map(|one| line(&format!("treefold, {} ranks", ranks.join(", ")), one));
    let plain = of(Sums::Plain).map(|one| line(&format!("plain sum, {} ranks", one.ranks), one));
    let lines: Vec<String> = treefold.chain(plain).collect();
    format!("{HEAD}{}\n  ]\n}}\n", lines.join(",\n"))
}

fn line(name: &str, comparison: &Comparison) -> String {
    let points = comparison.distances.iter().enumerate();
    let points = points.map(|(at, distance)| {
        // Five digits are more than one can see in the picture.
        let distance: f64 = format!("{distance:.4e}").parse().unwrap_or(f64::NAN);
        // In the picture's file, numbers below 1e-5 are written with an exponent.
        let distance = match distance {
            1e-5.. => distance.to_string(),
            _ => format!("{distance:?}"),
        };
        format!("[{:?},{distance}]", (at + 1) as f64)
    });
    let points: Vec<String> = points.collect();
    format!(
        "{{\"name\":\"{name}\",\"style\":\"joined\",\"points\":[{}]}}",
        points.join(",")
    )
}
