//! What kind of place an address is. The lists follow the registries of special-purpose addresses at IANA.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Reason;

/// Blocks of IPv4 that are no public host: first address, prefix length, what it is.
const V4: [(Ipv4Addr, u32, Reason); 17] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, Reason::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Reason::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Reason::CarrierNat),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Reason::Loopback),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Reason::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Reason::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Reason::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Reason::Documentation),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Reason::Transition),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Reason::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Reason::Reserved),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Reason::Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Reason::Documentation),
    // Where machines on Azure find their host.
    (Ipv4Addr::new(168, 63, 129, 16), 32, Reason::LinkLocal),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Reason::Multicast),
    (Ipv4Addr::new(255, 255, 255, 255), 32, Reason::Multicast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Reason::Reserved),
];

/// Blocks of IPv6 that are no public host, without those that hold an IPv4 address.
const V6: [(Ipv6Addr, u32, Reason); 14] = [
    (Ipv6Addr::UNSPECIFIED, 128, Reason::Unspecified),
    (Ipv6Addr::LOCALHOST, 128, Reason::Loopback),
    (v6(0x64, 0xff9b), 96, Reason::Transition),
    (
        Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0),
        48,
        Reason::Transition,
    ),
    (v6(0x100, 0), 64, Reason::Reserved),
    // Teredo.
    (v6(0x2001, 0), 32, Reason::Transition),
    (v6(0x2001, 0xdb8), 32, Reason::Documentation),
    // The rest of the protocol assignments, ORCHID among them.
    (v6(0x2001, 0), 23, Reason::Reserved),
    // 6to4.
    (v6(0x2002, 0), 16, Reason::Transition),
    (v6(0x3fff, 0), 20, Reason::Documentation),
    (v6(0xfc00, 0), 7, Reason::Private),
    (v6(0xfe80, 0), 10, Reason::LinkLocal),
    // Site-local, retired and still routed inside some networks.
    (v6(0xfec0, 0), 10, Reason::Private),
    (v6(0xff00, 0), 8, Reason::Multicast),
];

const fn v6(first: u16, second: u16) -> Ipv6Addr {
    Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0)
}

/// Why this address is not called. There always is a reason: the platform does not fetch bare addresses,
/// and no certificate names one.
pub(super) fn classify_v4(address: Ipv4Addr) -> Reason {
    special_v4(address).unwrap_or(Reason::PublicAddress)
}

/// The block of special purpose that holds this address.
pub(super) fn special_v4(address: Ipv4Addr) -> Option<Reason> {
    let bits = u32::from(address);
    V4.iter()
        .find(|(block, length, _)| (bits ^ u32::from(*block)).leading_zeros() >= *length)
        .map(|(_, _, reason)| *reason)
}

/// Why this address is not called; see [`classify_v4`].
pub(super) fn classify_v6(address: Ipv6Addr) -> Reason {
    let bits = u128::from(address);
    let block = V6
        .iter()
        .find(|(block, length, _)| (bits ^ u128::from(*block)).leading_zeros() >= *length);
    if let Some((_, _, reason)) = block {
        return *reason;
    }
    match address.segments() {
        // ::ffff:a.b.c.d, ::a.b.c.d and ::ffff:0:a.b.c.d are the IPv4 address they hold.
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0, 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low] => {
            classify_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
        }
        // 2000::/3 is all that was ever given out.
        [first, ..] if first >> 13 == 1 => Reason::PublicAddress,
        _ => Reason::Reserved,
    }
}

/// Whether WHATWG's fetch refuses the port: services that would take a request for their own protocol.
pub(super) fn is_bad_port(port: u16) -> bool {
    BAD_PORTS.binary_search(&port).is_ok()
}

/// In ascending order.
const BAD_PORTS: [u16; 83] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ports_are_sorted_so_that_each_is_found() {
        assert!(BAD_PORTS.is_sorted());
        assert!([0, 22, 25, 6000, 6667, 10080].into_iter().all(is_bad_port));
        assert!(
            ![80, 443, 8080, 8443, 8787, 3000]
                .into_iter()
                .any(is_bad_port)
        );
    }

    #[test]
    fn a_block_ends_where_its_prefix_ends() {
        for (inside, outside) in [
            ("100.64.0.0", "100.63.255.255"),
            ("100.127.255.255", "100.128.0.0"),
            ("172.16.0.0", "172.15.255.255"),
            ("172.31.255.255", "172.32.0.0"),
            ("198.19.255.255", "198.20.0.0"),
            ("224.0.0.0", "223.255.255.255"),
        ] {
            assert!(special_v4(inside.parse().unwrap()).is_some(), "{inside}");
            assert_eq!(special_v4(outside.parse().unwrap()), None, "{outside}");
        }
    }
}
