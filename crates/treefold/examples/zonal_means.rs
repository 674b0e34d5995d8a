//! Computes means of a field over circles of latitude, weighted by area. The bits do not depend on how ranks divide the globe.

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;

use treefold::exact::{Keyed, WeightedMean};
use treefold::threads;

const LATITUDES: usize = 36;
const LONGITUDES: usize = 720;

/// A rectangle of cells that a rank has.
struct Part {
    latitudes: std::ops::Range<usize>,
    longitudes: std::ops::Range<usize>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let whole = means(&[Part::all()])?;
    for latitude in [0, 9, 18, 27] {
        println!("zone {latitude:2}: {}", whole[latitude]);
    }
    let plain_whole = plain(&[Part::all()]);
    for (rows, columns) in [(1, 4), (3, 5), (6, 2)] {
        let parts = parts(rows, columns);
        let differ = |one: &[f64], other: &[f64]| {
            let pairs = one.iter().zip(other);
            pairs
                .filter(|(one, other)| one.to_bits() != other.to_bits())
                .count()
        };
        println!(
            "{} ranks, {rows} by {columns}: {} zones differ, {} of plain sums",
            parts.len(),
            differ(&means(&parts)?, &whole),
            differ(&plain(&parts), &plain_whole),
        );
    }
    Ok(())
}

/// The means of all zones: each rank adds its cells, then the zones of all ranks are merged.
fn means(parts: &[Part]) -> Result<Vec<f64>, Box<dyn Error>> {
    let zones = threads::run(parts.len(), |world| {
        let (zones, items, weights) = parts[world.rank()].cells();
        let mut means = Keyed::<WeightedMean<f64>>::new(LATITUDES)?;
        means.add(&zones, [&items, &weights]).map(|()| means)
    })?;
    let mut all = Keyed::<WeightedMean<_>>::new(LATITUDES)?;
    for means in zones {
        all.merge(&means?)?;
    }
    Ok(all.values())
}

/// The same means, computed by plain sums.
fn plain(parts: &[Part]) -> Vec<f64> {
    let mut sums = vec![[0.0; 2]; LATITUDES];
    for part in parts {
        let mut own = vec![[0.0; 2]; LATITUDES];
        let (zones, items, weights) = part.cells();
        for (zone, (item, weight)) in zones.iter().zip(items.iter().zip(&weights)) {
            let [products, all] = &mut own[*zone];
            *products += item * weight;
            *all += weight;
        }
        for ([products, all], own) in sums.iter_mut().zip(own) {
            *products += own[0];
            *all += own[1];
        }
    }
    sums.iter().map(|[products, all]| products / all).collect()
}

impl Part {
    fn all() -> Self {
        Self {
            latitudes: 0..LATITUDES,
            longitudes: 0..LONGITUDES,
        }
    }

    /// The zone, the temperature and the area of each cell.
    fn cells(&self) -> (Vec<usize>, Vec<f64>, Vec<f64>) {
        let (mut zones, mut items, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for latitude in self.latitudes.clone() {
            for longitude in self.longitudes.clone() {
                zones.push(latitude);
                items.push(temperature(latitude, longitude));
                weights.push(area(latitude, longitude));
            }
        }
        (zones, items, weights)
    }
}

/// Divides the globe into rectangles.
fn parts(rows: usize, columns: usize) -> Vec<Part> {
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let part = |(row, column)| Part {
        latitudes: LATITUDES * row / rows..LATITUDES * (row + 1) / rows,
        longitudes: LONGITUDES * column / columns..LONGITUDES * (column + 1) / columns,
    };
    places.map(part).collect()
}

/// A temperature that is highest at the equator, with some noise.
fn temperature(latitude: usize, longitude: usize) -> f64 {
    let noise = (latitude * 7919 + longitude * 104_729) % 1000;
    300.0 - 60.0 * distance(latitude).powi(2) + noise as f64 / 77.0
}

/// The area of a cell. Only a part of a cell on a coast counts.
fn area(latitude: usize, longitude: usize) -> f64 {
    let share = 1 + (latitude * 31 + longitude * 17) % 10;
    (1.0 - distance(latitude).powi(2)) * share as f64 / 10.0
}

/// The distance from the equator, as a fraction of the distance to the poles.
fn distance(latitude: usize) -> f64 {
    (latitude as f64 + 0.5) / (LATITUDES as f64 / 2.0) - 1.0
}
