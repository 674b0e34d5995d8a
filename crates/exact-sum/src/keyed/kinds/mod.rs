//! The slots that keys can have, and the columns that hold them.

mod co_moments;
mod each;
mod mean;
mod moments;
mod powers;
mod product_sum;
mod sum;
mod weighted;
