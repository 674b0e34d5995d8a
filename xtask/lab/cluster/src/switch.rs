//! The switch: decides which ports a frame goes to, when, and whether it is lost. It does no input or output and knows no devices.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use crate::Loss;

/// The greatest number of frames in the switch. Further frames wait in the nodes' devices.
const ROOM: usize = 1 << 15;

/// An Ethernet address.
type Address = [u8; 6];

/// The length of a frame's header: destination, source, and type of the payload.
const HEADER_BYTES: usize = 14;

/// Joins nodes as an Ethernet switch does: learns which addresses are behind which port, and sends a frame with an unknown destination to all
/// other ports. Every frame has the same delay, so frames do not overtake each other.
///
/// ```
/// use std::time::{Duration, Instant};
/// use cluster::{Loss, switch::Switch};
///
/// let mut switch = Switch::new(3, Duration::from_millis(1), Loss::default(), 1);
/// let now = Instant::now();
/// let mut frame = [0; 60];
/// frame[..6].fill(0xFF); // to all
/// switch.accept(0, &frame, now);
/// let mut reached = Vec::new();
/// switch.deliver(now, |port, _| reached.push(port));
/// assert!(reached.is_empty());
/// switch.deliver(now + Duration::from_millis(1), |port, _| reached.push(port));
/// assert_eq!(reached, [1, 2]);
/// ```
#[derive(Debug)]
pub struct Switch {
    delay: Duration,
    loss: Loss,
    random: Random,
    is_cut: Vec<bool>,
    ports: HashMap<Address, usize>,
    under_way: VecDeque<Frame>,
}

#[derive(Debug)]
struct Frame {
    due: Instant,
    from: usize,
    bytes: Vec<u8>,
}

impl Switch {
    /// A switch with a port for each of `nodes` nodes.
    pub fn new(nodes: usize, delay: Duration, loss: Loss, seed: u64) -> Self {
        Self {
            delay,
            loss,
            random: Random::new(seed),
            is_cut: vec![false; nodes],
            ports: HashMap::new(),
            under_way: VecDeque::new(),
        }
    }

    /// Accepts a frame that arrives at a port, unless the frame is lost. Ignores data that is too short for a frame.
    ///
    /// # Panics
    /// There is no such port.
    pub fn accept(&mut self, from: usize, bytes: &[u8], now: Instant) {
        let Some(header) = bytes.get(..HEADER_BYTES) else {
            return;
        };
        if self.is_cut[from] || self.random.fraction() < self.loss.fraction() {
            return;
        }
        let source = address(&header[6..]);
        self.ports.insert(source, from);
        self.under_way.push_back(Frame {
            due: now + self.delay,
            from,
            bytes: bytes.to_vec(),
        });
    }

    /// Passes all frames that are due to `send`, in order of arrival, once for each output port.
    pub fn deliver(&mut self, now: Instant, mut send: impl FnMut(usize, &[u8])) {
        let is_due = |frame: &Frame| frame.due <= now;
        while self.under_way.front().is_some_and(is_due) {
            let Some(frame) = self.under_way.pop_front() else {
                return;
            };
            // A cut also loses frames under way.
            if self.is_cut[frame.from] {
                continue;
            }
            for port in self.destinations(&frame) {
                if !self.is_cut[port] {
                    send(port, &frame.bytes);
                }
            }
        }
    }

    /// The output ports of a frame, which never include its input port.
    fn destinations(&self, frame: &Frame) -> Vec<usize> {
        let is_to_many = frame.bytes[0] & 1 == 1;
        let known = self.ports.get(&address(&frame.bytes));
        match known.filter(|_| !is_to_many) {
            Some(&port) if port == frame.from => Vec::new(),
            Some(&port) => vec![port],
            None => {
                let all = 0..self.is_cut.len();
                all.filter(|&port| port != frame.from).collect()
            }
        }
    }

    /// When the next frame is due; `None` if none is under way.
    pub fn next_due(&self) -> Option<Instant> {
        self.under_way.front().map(|frame| frame.due)
    }

    /// Whether the switch accepts another frame. Otherwise the frame waits in its node.
    pub fn has_room(&self) -> bool {
        self.under_way.len() < ROOM
    }

    /// Cuts a port off, or reconnects it. Frames under way from and to a cut port are lost when they are due.
    ///
    /// # Panics
    /// There is no such port.
    pub fn set_cut(&mut self, port: usize, is_cut: bool) {
        self.is_cut[port] = is_cut;
    }
}

/// The address at the beginning of these bytes.
fn address(bytes: &[u8]) -> Address {
    *bytes.first_chunk().expect("a frame has a header")
}

/// The random number generator SplitMix64. Every seed is good, and gives the same sequence on every machine.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Starts the sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number from 0 (included) to 1 (not included).
    pub fn fraction(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below a bound that is not 0.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not below 0, and below a number of this type"
    )]
    pub fn below(&mut self, count: usize) -> usize {
        (self.fraction() * count as f64) as usize
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use std::time::{Duration, Instant};

    use super::{ROOM, Switch};
    use crate::Loss;

    const DELAY: Duration = Duration::from_micros(100);

    fn switch(nodes: usize, loss: &str, seed: u64) -> Switch {
        Switch::new(nodes, DELAY, Loss::parse(loss).unwrap(), seed)
    }

    /// A node's address, which is a unicast address.
    fn mac(node: u8) -> [u8; 6] {
        [2, 0, 0, 0, 0, node]
    }

    const ALL: [u8; 6] = [0xFF; 6];

    fn frame(to: [u8; 6], from: u8, number: u8) -> Vec<u8> {
        [&to[..], &mac(from), &[8, 0, number]].concat()
    }

    /// What the switch delivers at this time: for each frame, the port and the frame's last byte.
    fn delivered(switch: &mut Switch, now: Instant) -> Vec<(usize, u8)> {
        let mut all = Vec::new();
        switch.deliver(now, |port, bytes| all.push((port, *bytes.last().unwrap())));
        all
    }

    #[test]
    fn addresses_are_learned() {
        let mut switch = switch(4, "0", 1);
        let now = Instant::now();
        let mut pass = |port: usize, frame: Vec<u8>| {
            switch.accept(port, &frame, now);
            delivered(&mut switch, now + DELAY)
        };
        // The switch does not know node 2 yet.
        assert_eq!(pass(0, frame(mac(2), 0, 1)), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(pass(2, frame(mac(0), 2, 2)), [(0, 2)]);
        assert_eq!(pass(0, frame(mac(2), 0, 3)), [(2, 3)]);
        // An address may move to another port. A frame to an address behind its own port is not forwarded.
        assert_eq!(pass(3, frame(ALL, 2, 4)), [(0, 4), (1, 4), (2, 4)]);
        assert_eq!(pass(0, frame(mac(2), 0, 5)), [(3, 5)]);
        assert_eq!(pass(3, frame(mac(2), 1, 6)), []);
    }

    #[test]
    fn frames_are_due_after_the_delay_and_in_order() {
        let mut switch = switch(3, "0", 1);
        let now = Instant::now();
        let at = |tenths: u32| now + DELAY * tenths / 10;
        switch.accept(0, &frame(ALL, 0, 0), at(0));
        switch.accept(1, &frame(ALL, 1, 1), at(1));
        switch.accept(1, &frame(ALL, 1, 2), at(4));
        assert_eq!(switch.next_due(), Some(now + DELAY));
        assert_eq!(delivered(&mut switch, at(9)), []);
        assert_eq!(delivered(&mut switch, at(10)), [(1, 0), (2, 0)]);
        assert_eq!(switch.next_due(), Some(at(11)));
        let all = delivered(&mut switch, at(20));
        assert_eq!(all, [(0, 1), (2, 1), (0, 2), (2, 2)]);
        assert_eq!(switch.next_due(), None);
    }

    #[test]
    fn as_many_are_lost_as_was_asked_and_the_same_by_the_same_seed() {
        let lost = |loss: &str, seed| {
            let mut switch = switch(2, loss, seed);
            let now = Instant::now();
            let mut passed = Vec::new();
            for number in 0..20_000_u32 {
                switch.accept(0, &frame(ALL, 0, 0), now);
                switch.deliver(now + DELAY, |_, _| passed.push(number));
            }
            passed
        };
        assert_eq!(lost("0", 7).len(), 20_000);
        let five_percent = lost("5%", 7);
        // The expected number is 19,000; 6 standard deviations are 185.
        let count = five_percent.len();
        assert!((18_815..=19_185).contains(&count), "{count}");
        assert_eq!(lost("5%", 7), five_percent);
        assert_ne!(lost("5%", 8), five_percent);
    }

    #[test]
    fn a_node_that_is_cut_off_reaches_nobody_until_it_is_healed() {
        let mut switch = switch(3, "0", 1);
        let now = Instant::now();
        for from in 0..3 {
            switch.accept(usize::from(from), &frame(ALL, from, 0), now);
        }
        delivered(&mut switch, now + DELAY);
        switch.accept(1, &frame(mac(0), 1, 1), now);
        switch.accept(0, &frame(mac(1), 0, 2), now);
        // Frames under way are lost, too.
        switch.set_cut(1, true);
        switch.accept(1, &frame(mac(0), 1, 3), now);
        switch.accept(0, &frame(ALL, 0, 4), now);
        assert_eq!(delivered(&mut switch, now + DELAY), [(2, 4)]);
        switch.set_cut(1, false);
        switch.accept(1, &frame(mac(0), 1, 5), now);
        switch.accept(0, &frame(ALL, 0, 6), now);
        let all = delivered(&mut switch, now + DELAY);
        assert_eq!(all, [(0, 5), (1, 6), (2, 6)]);
    }

    #[test]
    fn scraps_are_ignored_and_room_ends() {
        let mut switch = switch(2, "0", 1);
        let now = Instant::now();
        switch.accept(0, &[0xFF; 13], now);
        assert_eq!(switch.next_due(), None);
        for _ in 0..ROOM {
            assert!(switch.has_room());
            switch.accept(0, &frame(ALL, 0, 0), now);
        }
        assert!(!switch.has_room());
        assert_eq!(delivered(&mut switch, now + DELAY).len(), ROOM);
        assert!(switch.has_room());
    }
}
