//! The endpoint machine, seen from its host: events in, records and effects out.

#[cfg(test)]
mod breaker;
#[cfg(test)]
mod delays;
#[cfg(test)]
mod delivery;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod order;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod records;
#[cfg(test)]
mod world;
