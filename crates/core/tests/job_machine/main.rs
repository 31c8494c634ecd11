//! The job machine, seen from its host: events in, records and effects out.

#[cfg(test)]
mod accounts;
#[cfg(test)]
mod after;
#[cfg(test)]
mod callback_order;
#[cfg(test)]
mod callbacks;
#[cfg(test)]
mod edits;
#[cfg(test)]
mod host;
#[cfg(test)]
mod losses;
#[cfg(test)]
mod manual;
#[cfg(test)]
mod misfire;
#[cfg(test)]
mod occurrences;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod overlap;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod records;
#[cfg(test)]
mod retries;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod wakeups;
