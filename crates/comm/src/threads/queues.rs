//! First-in-first-out queues, one for every stream of messages, in memory that is reserved for all of them together.
//!
//! A single list in order of time would have to be searched and shifted for every message. With thousands of waiting messages from each of
//! two senders, the time would be proportional to the square of their number.

/// A sender and a conversation. Messages of one stream keep their order.
pub(super) type Stream = (usize, u64);

/// A queue of values for each stream.
#[derive(Debug)]
pub(super) struct Queues<V> {
    /// A value that was added when there was no other. It moves to a queue when another value is added.
    lone: Option<(Stream, V)>,
    /// The number of values in queues.
    queued: usize,
    /// The lists of non-empty queues: the first queue of each. The lowest bits of a conversation's number choose the list.
    heads: Vec<Option<usize>>,
    queues: Vec<Queue>,
    /// The first queue in the list of empty queues.
    free_queue: Option<usize>,
    slots: Vec<Slot<V>>,
    /// The first slot in the list of empty slots.
    free: Option<usize>,
}

#[derive(Debug)]
struct Queue {
    stream: Stream,
    first: usize,
    last: usize,
    /// The next queue of the same list.
    next: Option<usize>,
}

#[derive(Debug)]
struct Slot<V> {
    value: Option<V>,
    /// The next slot of the same queue, or of the list of empty slots.
    next: Option<usize>,
}

/// The maximum number of lists of queues. Conversations are numbered consecutively, so few share a list.
const HEADS_MAX: usize = 1 << 12;

impl<V> Default for Queues<V> {
    fn default() -> Self {
        Self {
            lone: None,
            queued: 0,
            heads: vec![None],
            queues: Vec::new(),
            free_queue: None,
            slots: Vec::new(),
            free: None,
        }
    }
}

impl<V> Queues<V> {
    /// Allocates memory for this number of values in total.
    pub(super) fn reserve(&mut self, room: usize) {
        let (queues, slots) = (self.queues.len(), self.slots.len());
        self.queues.reserve(room.saturating_sub(queues));
        self.slots.reserve(room.saturating_sub(slots));
        let heads = room.min(HEADS_MAX).next_power_of_two();
        if heads > self.heads.len() {
            let before = std::mem::replace(&mut self.heads, vec![None; heads]);
            for mut following in before {
                while let Some(queue) = following {
                    let head = self.head(self.queues[queue].stream.1);
                    following = self.queues[queue].next;
                    self.queues[queue].next = self.heads[head].replace(queue);
                }
            }
        }
    }

    /// The index in `heads` of the list with a conversation's queues.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the lowest bits are enough"
    )]
    fn head(&self, conversation: u64) -> usize {
        conversation as usize & (self.heads.len() - 1)
    }

    /// The first queue of a conversation's list whose stream `is_it` accepts, and the queue before it.
    #[inline]
    fn find(
        &self,
        conversation: u64,
        is_it: impl Fn(Stream) -> bool,
    ) -> Option<(Option<usize>, usize)> {
        let (mut before, mut queue) = (None, self.heads[self.head(conversation)]?);
        while !is_it(self.queues[queue].stream) {
            before = Some(queue);
            queue = self.queues[queue].next?;
        }
        Some((before, queue))
    }

    /// Adds a value after the other values of its stream.
    #[inline]
    pub(super) fn push(&mut self, stream: Stream, value: V) {
        if self.queued == 0 {
            match self.lone.take() {
                None => {
                    self.lone = Some((stream, value));
                    return;
                }
                Some((earlier_stream, earlier)) => self.enqueue(earlier_stream, earlier),
            }
        }
        self.enqueue(stream, value);
    }

    fn enqueue(&mut self, stream: Stream, value: V) {
        self.queued += 1;
        let added = match self.free {
            Some(slot) => {
                self.free = self.slots[slot].next.take();
                self.slots[slot].value = Some(value);
                slot
            }
            None => {
                let (value, next) = (Some(value), None);
                self.slots.push(Slot { value, next });
                self.slots.len() - 1
            }
        };
        if let Some((_, queue)) = self.find(stream.1, |other| other == stream) {
            let queue = &mut self.queues[queue];
            self.slots[queue.last].next = Some(added);
            queue.last = added;
            return;
        }
        let head = self.head(stream.1);
        let queue = Queue {
            stream,
            first: added,
            last: added,
            next: self.heads[head],
        };
        let place = match self.free_queue {
            Some(place) => {
                self.free_queue = self.queues[place].next;
                self.queues[place] = queue;
                place
            }
            None => {
                self.queues.push(queue);
                self.queues.len() - 1
            }
        };
        self.heads[head] = Some(place);
    }

    /// Removes the oldest value of a stream.
    pub(super) fn pop(&mut self, stream: Stream) -> Option<V> {
        self.remove(stream, |_| true)
    }

    /// Removes all values of a conversation.
    pub(super) fn take_all(&mut self, conversation: u64) -> Vec<(Stream, V)> {
        let is_its = |&mut ((_, its), _): &mut (Stream, V)| its == conversation;
        let mut taken: Vec<(Stream, V)> = self.lone.take_if(is_its).into_iter().collect();
        while let Some((_, queue)) = self.find(conversation, |(_, its)| its == conversation) {
            let stream = self.queues[queue].stream;
            while let Some(value) = self.pop(stream) {
                taken.push((stream, value));
            }
        }
        taken
    }

    /// Removes a stream's oldest value for which `is_it` holds.
    #[inline]
    pub(super) fn remove(&mut self, stream: Stream, is_it: impl Fn(&V) -> bool) -> Option<V> {
        if self.queued == 0 {
            let lone = self
                .lone
                .take_if(|(its, value)| *its == stream && is_it(value));
            return lone.map(|(_, value)| value);
        }
        self.dequeue(stream, is_it)
    }

    fn dequeue(&mut self, stream: Stream, is_it: impl Fn(&V) -> bool) -> Option<V> {
        let (queue_before, place) = self.find(stream.1, |other| other == stream)?;
        let queue = &mut self.queues[place];
        let (mut before, mut slot) = (None, queue.first);
        while !self.slots[slot].value.as_ref().is_some_and(&is_it) {
            before = Some(slot);
            slot = self.slots[slot].next?;
        }
        self.queued -= 1;
        let next = std::mem::replace(&mut self.slots[slot].next, self.free);
        self.free = Some(slot);
        match (before, next) {
            (Some(before), _) => self.slots[before].next = next,
            (None, Some(next)) => queue.first = next,
            (None, None) => {
                let following = std::mem::replace(&mut queue.next, self.free_queue);
                self.free_queue = Some(place);
                match queue_before {
                    Some(before) => self.queues[before].next = following,
                    None => {
                        let head = self.head(stream.1);
                        self.heads[head] = following;
                    }
                }
                return self.slots[slot].value.take();
            }
        }
        if let (Some(before), None) = (before, next) {
            queue.last = before;
        }
        self.slots[slot].value.take()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::Queues;
    /// Compares queues with a single list in order of time, for all short sequences of calls.
    #[test]
    fn as_a_list_in_order_of_time() {
        const STEPS: u32 = 7;
        const CALLS: usize = 6;
        let streams = [(0, 1), (1, 1)];
        for sequence in 0..CALLS.pow(STEPS) {
            let mut queues = Queues::default();
            let mut list = VecDeque::new();
            for step in 0..STEPS {
                match sequence / CALLS.pow(step) % CALLS {
                    call @ (0 | 1) => {
                        queues.push(streams[call], step);
                        list.push_back((streams[call], step));
                    }
                    call @ (2 | 3) => {
                        let stream = streams[call - 2];
                        let oldest = list.iter().position(|(other, _)| *other == stream);
                        let oldest = oldest.and_then(|index| list.remove(index));
                        assert_eq!(queues.pop(stream), oldest.map(|(_, value)| value));
                    }
                    call => {
                        // Removes the newest value of all, which is the last of its queue, or the second oldest value.
                        let place = if call == 4 { list.len().max(1) - 1 } else { 1 };
                        let Some((stream, value)) = list.remove(place) else {
                            continue;
                        };
                        let is_it = |other: &u32| *other == value;
                        assert_eq!(queues.remove(stream, is_it), Some(value));
                        assert_eq!(queues.remove(stream, is_it), None);
                    }
                }
            }
            assert!(queues.take_all(2).is_empty());
            if sequence % 2 == 0 {
                let mut taken = queues.take_all(1);
                // The values of each stream are in order.
                taken.sort_by_key(|&(stream, _)| stream);
                list.make_contiguous().sort_by_key(|&(stream, _)| stream);
                assert_eq!(taken, Vec::from(std::mem::take(&mut list)));
            }
            for (stream, value) in list {
                assert_eq!(queues.pop(stream), Some(value));
            }
            assert!(queues.lone.is_none() && queues.heads.iter().all(Option::is_none));
        }
    }

    #[test]
    fn many_conversations_keep_their_values_while_room_is_made() {
        let mut queues = Queues::default();
        for number in 0..100 {
            queues.push((3, number), number);
            queues.push((4, number), 2 * number);
            queues.reserve(usize::try_from(number).unwrap());
        }
        for number in (0..100).rev() {
            assert_eq!(queues.pop((4, number)), Some(2 * number));
            assert_eq!(queues.take_all(number), [((3, number), number)]);
            assert_eq!(queues.pop((3, number)), None);
        }
        assert!(queues.lone.is_none() && queues.heads.iter().all(Option::is_none));
    }
}
