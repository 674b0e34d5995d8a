//! Computes means of moving windows of 100 samples. There are a million samples, with rare spikes. The error of a running sum jumps at
//! spikes; an exact sum has no error.
//!
//! If the argument is the name of a file, the program writes the data of a plot to it, for `cargo xtask draw`.

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;
use std::{env, fs};

use treefold::exact::{Placement, Rolling, Statistic};

const SAMPLES: usize = 1_000_000;
const WINDOW: usize = 100;

/// The number of samples from one point of the picture to the next.
const STEP: usize = 10_000;

const HEAD: &str = r#"{
  "source": "cargo run --release --example rolling_mean rolling-mean.json",
  "title": "With a running sum, the error of a moving mean jumps at spikes; with treefold it is zero",
  "subtitle": "Samples from 0 to 1, one in 50,000 up to 10^9; means of the last 100 samples",
  "x": {
    "name": "sample, millions",
    "scale": "linear"
  },
  "y": {
    "name": "relative error, ratio",
    "scale": "decades and zero"
  },
  "size": "page",
  "lines": [
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let samples: Vec<f64> = (0..SAMPLES).map(sample).collect();
    let windows = Rolling::of_items(WINDOW, Placement::Trailing);
    let rolling = windows.values(Statistic::Mean, Statistic::Mean.defaults(), &[&samples])?;
    let running = running_means(&samples);
    println!("sample     relative error: treefold, running sum");
    let points = (STEP..=SAMPLES).step_by(STEP).map(|sample| {
        let exact = treefold::exact::mean(&samples[sample - WINDOW..sample]);
        let error = |means: &[f64]| (means[sample - 1] - exact).abs() / exact;
        (sample, error(&rolling), error(&running))
    });
    let points: Vec<_> = points.collect();
    for (sample, exact, plain) in points.iter().skip(9).step_by(30) {
        println!("{sample:7}    {exact}    {plain:.1e}");
    }
    if let Some(file) = env::args().nth(1) {
        let exact = points.iter().map(|(sample, exact, _)| (*sample, *exact));
        let plain = points.iter().map(|(sample, _, plain)| (*sample, *plain));
        let lines = [line("treefold", exact), line("running sum", plain)];
        fs::write(file, format!("{HEAD}{}\n  ]\n}}\n", lines.join(",\n")))?;
    }
    Ok(())
}

/// Adds samples that enter the window to a sum, and subtracts samples that leave the window.
fn running_means(samples: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let means = samples.iter().enumerate().map(|(at, sample)| {
        sum += sample;
        if at >= WINDOW {
            sum -= samples[at - WINDOW];
        }
        sum / WINDOW as f64
    });
    means.collect()
}

fn sample(at: usize) -> f64 {
    if at % 50_000 == 20_001 {
        1e9 / (1 + at % 7) as f64
    } else {
        ((at * 7919) % 10_007) as f64 / 10_007.0
    }
}

fn line(name: &str, points: impl Iterator<Item = (usize, f64)>) -> String {
    let point = |(sample, error): (usize, f64)| {
        // Three digits are more than one can see in the picture.
        let error: f64 = format!("{error:.2e}").parse().unwrap_or(f64::NAN);
        let millions = sample as f64 / 1e6;
        match error {
            1e-5.. => format!("[{millions:?},{error}]"),
            _ => format!("[{millions:?},{error:?}]"),
        }
    };
    let points: Vec<String> = points.map(point).collect();
    let points = points.join(",");
    format!("{{\"name\":\"{name}\",\"style\":\"joined\",\"points\":[{points}]}}")
}
