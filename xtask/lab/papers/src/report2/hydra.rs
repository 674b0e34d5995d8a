//! The cluster of the report, *Hydra*: 36 nodes of two Xeon Gold 6139, and Omni-Path.

use schedule::Link;

use crate::Values;
use crate::cluster::{Cluster, Shape};

/// What such hardware usually takes; the report gives no constants.
///
/// Omni-Path carries 100 Gbit/s a rail, and a process uses the rail of its socket alone unless it is told otherwise: 0.08 ns a byte; a small
/// message takes about 1 us. Within a node Open MPI copies large messages once, at 6 to 7 GB/s while all cores do, and hands a small one
/// over in half a microsecond. A maximum of floats reads two streams and writes one, at about 10 GB/s from beyond the caches.
pub(super) const HYDRA: Cluster = Cluster {
    near: Link {
        latency_ns: 500.0,
        byte_ns: 0.15,
        combine_byte_ns: 0.1,
    },
    far: Link {
        latency_ns: 1000.0,
        byte_ns: 0.08,
        combine_byte_ns: 0.1,
    },
};

/// Table 2: nodes x processes.
pub(super) const SHAPES: [Shape; 8] = [
    Shape::new(1, 16),
    Shape::new(1, 32),
    Shape::new(20, 1),
    Shape::new(20, 16),
    Shape::new(20, 32),
    Shape::new(36, 1),
    Shape::new(36, 16),
    Shape::new(36, 32),
];

/// `MPI_FLOAT`, in bytes.
pub(super) const ELEMENT_BYTES: f64 = 4.0;

/// What every simulated page says of the machine.
pub(super) fn describe(page: &mut Values) {
    page.set("hydra", format!(
        "Simulated for *Hydra*, nodes of an Omni-Path network, `MPI_FLOAT`: the programs that run, message by message, {}. The constants are assumed from \
         the hardware, not published. Messages are synchronous, and links are not shared: what a crowded memory or network interface costs is \
         left out where it is not mentioned.",
        HYDRA.words()
    ));
}
