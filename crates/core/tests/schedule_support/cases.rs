//! Random cases from a fixed seed.

use cronwright_core::schedule::Dialect;
use jiff::Timestamp;
use jiff::tz::TimeZoneDatabase;

#[derive(Debug)]
pub struct Case {
    pub text: String,
    pub dialect: Dialect,
    pub zone: &'static str,
    /// UTC seconds.
    pub from: i64,
}

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// `lo..=hi`.
    pub fn number(&mut self, lo: i64, hi: i64) -> i64 {
        lo + (self.word() % (hi - lo + 1) as u64) as i64
    }

    pub fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.number(0, items.len() as i64 - 1) as usize]
    }

    pub fn percent(&mut self, chance: i64) -> bool {
        self.number(1, 100) <= chance
    }
}

const ZONES: [&str; 27] = [
    "UTC",
    "America/New_York",
    "Europe/London",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "America/Nuuk",
    "Africa/Cairo",
    "America/Santiago",
    "Asia/Gaza",
    "Pacific/Apia",
    "Asia/Kolkata",
    "America/St_Johns",
    "Antarctica/Troll",
    "Asia/Shanghai",
    "America/Sao_Paulo",
    "Asia/Tehran",
    "Pacific/Chatham",
    "Europe/Dublin",
    "Antarctica/Casey",
    "Asia/Pyongyang",
    "America/Caracas",
    "Atlantic/Azores",
    "America/Havana",
    "Asia/Beirut",
    "Pacific/Kwajalein",
    "Pacific/Norfolk",
];

/// A field of numbers, `*` in `dense` percent.
pub fn field(r: &mut Random, lo: i64, hi: i64, wraps: bool, dense: i64) -> String {
    let one = r.number(lo, hi);
    let (mut a, mut b) = (r.number(lo, hi), r.number(lo, hi));
    if a > b && !wraps {
        (a, b) = (b, a);
    }
    if r.percent(dense) {
        return "*".to_owned();
    }
    match r.number(0, 7) {
        0..=2 => one.to_string(),
        3 => format!("{one},{a},{b}"),
        4 => format!("*/{}", r.number(1, hi)),
        5 => format!("{a}-{b}"),
        6 => format!("{a}-{b}/{}", r.number(1, 6)),
        _ => format!("{one}/{}", r.number(1, hi)),
    }
}

fn month_days(r: &mut Random, wraps: bool) -> String {
    let special = [
        "*", "*", "*", "L", "L-3", "LW", "15W", "1W", "31W", "30", "29", "L-3W", "1,15,L", "L-30W",
    ];
    if r.percent(25) {
        field(r, 1, 31, wraps, 10)
    } else {
        r.pick(&special).to_owned()
    }
}

fn week_days(r: &mut Random, quartz: bool) -> String {
    let name = r.pick(&["MON", "FRI", "SUN", "SAT", "wed"]).to_owned();
    let (number, nth) = (r.number(1, 7), r.number(1, 5));
    match r.number(0, 11) {
        0..=4 => "*".to_owned(),
        5 => name,
        6 => number.to_string(),
        7 => format!("{name}#{nth}"),
        8 => format!("{name}L,{number}#{nth}"),
        9 => format!("{number}L"),
        10 => "MON-FRI".to_owned(),
        _ => field(r, i64::from(quartz), 7, quartz, 0),
    }
}

/// Fires on ordinary and odd days, in any zone.
pub fn general_case(r: &mut Random) -> Case {
    let quartz = r.percent(60);
    let hour = match r.number(0, 3) {
        0 => field(r, 0, 23, quartz, 40),
        1 => r.number(0, 3).to_string(),
        _ => r.pick(&["2", "1", "0", "23", "1,2", "*"]).to_owned(),
    };
    let minute = match r.number(0, 2) {
        0 => field(r, 0, 59, quartz, 20),
        _ => r.pick(&["0", "30", "15,45", "*/15"]).to_owned(),
    };
    let second = r
        .pick(&["0", "0", "0", "30", "*/20", "59", "7/25"])
        .to_owned();
    let (mut day, mut weekday) = (month_days(r, quartz), week_days(r, quartz));
    let month = match r.number(0, 3) {
        0 => field(r, 1, 12, quartz, 10),
        _ => r.pick(&["*", "*", "2", "FEB,MAR", "nov"]).to_owned(),
    };
    let from = r.number(0, 2_208_988_800);
    let zone = r.pick(&ZONES);
    let (text, dialect) = if quartz {
        if day != "*" && r.percent(50) {
            weekday = "?".to_owned();
        } else {
            day = "?".to_owned();
        }
        let years = [
            "",
            "",
            "",
            " 2024-2030",
            " 1980/7",
            " */4",
            " 2011,2012,2018,2024",
        ];
        let year = r.pick(&years);
        (
            format!("{second} {minute} {hour} {day} {month} {weekday}{year}"),
            Dialect::Quartz,
        )
    } else if r.percent(80) {
        (
            format!("{minute} {hour} {day} {month} {weekday}"),
            Dialect::Unix,
        )
    } else {
        (
            format!("{second} {minute} {hour} {day} {month} {weekday}"),
            Dialect::UnixSeconds,
        )
    };
    Case {
        text,
        dialect,
        zone,
        from,
    }
}

/// A zone, the instant of a change, and the offsets before and after.
pub type Change = (&'static str, i64, i64, i64);

/// The changes of 1970-2045 in all [`ZONES`].
pub fn changes() -> Vec<Change> {
    let mut changes = Vec::new();
    for zone in ZONES {
        let tz = TimeZoneDatabase::bundled().get(zone).unwrap();
        let mut before = i64::from(tz.to_offset(Timestamp::UNIX_EPOCH).seconds());
        for change in tz.following(Timestamp::UNIX_EPOCH) {
            let (at, after) = (
                change.timestamp().as_second(),
                i64::from(change.offset().seconds()),
            );
            if at > 2_366_841_600 {
                break;
            }
            if after != before {
                changes.push((zone, at, before, after));
            }
            before = after;
        }
    }
    changes
}

/// Fires just around a change of the clock.
pub fn clock_change_case(r: &mut Random, changes: &[Change]) -> Case {
    let (zone, at, before, after) = changes[r.number(0, changes.len() as i64 - 1) as usize];
    let edge = at
        + if r.percent(50) {
            before.min(after)
        } else {
            before
        };
    let here = (edge.div_euclid(3_600) + r.number(-1, 1)).rem_euclid(24);
    let shift = [
        1, 60, 1_800, 3_600, 5_400, 7_200, 86_400, 43_200, 0, -600, -1_800, -3_000,
    ];
    let from = at - r.pick(&shift.each_ref());
    let low = here.min(22);
    let hour = match r.number(0, 6) {
        0..=1 => here.to_string(),
        2 => format!("{here},{}", (here + 1) % 24),
        3 => "*".to_owned(),
        4 => "*/2".to_owned(),
        5 => format!("{low}-{}", low + 1),
        _ => "0-23".to_owned(),
    };
    let minute = r.pick(&["0", "30", "15,45", "*/15", "*/20", "*", "0-20", "59", "5"]);
    let second = r.pick(&["0", "0", "0", "0,30", "*/30", "59"]);
    let day = r.pick(&["*", "*", "*", "*", "*", "L", "1"]);
    let (text, dialect) = if r.percent(50) {
        (
            format!("{second} {minute} {hour} {day} * ?"),
            Dialect::Quartz,
        )
    } else {
        (format!("{minute} {hour} {day} * *"), Dialect::Unix)
    };
    Case {
        text,
        dialect,
        zone,
        from,
    }
}
