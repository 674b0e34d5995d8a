//! A program without an operating system that uses every part of `tree-index`.
//!
//! The test is that the program links; it is never run. The program defines a panic handler. If any
//! dependency uses `std`, there are two handlers and the build fails ("duplicate lang item
//! `panic_impl`"). Code that allocates fails to build, because there is no allocator.
#![no_std]
#![no_main]

use core::hint::{black_box, spin_loop};
use core::panic::PanicInfo;

use tree_index::{Node, Tree, largest_subtree_child_index, message_count, parent};

/// The entry point, under the name that linkers look for.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    let tree = Tree::new(black_box(9));
    let node = black_box(Node { x: 4, y: 2 });
    black_box((tree.root(), tree.span(node), tree.children(node)));
    black_box(tree.subtree_roots(3..6).count());
    black_box(tree.intersecting_nodes(3..6).count());
    black_box((parent(node.x), largest_subtree_child_index(node.x)));
    black_box(message_count([0, 3, 6, tree.items()]));
    halt()
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    halt()
}

fn halt() -> ! {
    loop {
        spin_loop();
    }
}
