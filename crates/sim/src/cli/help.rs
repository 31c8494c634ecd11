//! What `--help` prints.

/// The whole of it.
pub const TEXT: &str = "\
cronwright-sim --seeds N [--from S] [--threads T] [--twice] [--verbose]
    Lives through N worlds, seeds S (0) and on, with T threads (one for each core). Seeds of
    crates/sim/regressions.txt come first. Every tenth seed is run twice and must come out equal;
    --twice does so with every seed. With 200 seeds or more every kind of fault must have fired.
    Ends with lines of key=value; --verbose adds how often each fault fired.

cronwright-sim --seed S [--trace] [--mutation NAME]
    Lives through one world and says what it holds. --trace prints all that happens in it.

cronwright-sim mutations [--seeds N] [--mutation NAME] [--threads T]
    Plants each bug, or that one, and runs seeds 0 and on, at most N (200), until a checker finds it.
    Prints a Markdown table. To look at a find: --mutation NAME --seed S --trace.

cronwright-sim coverage [--seeds N] [--write FILE] [--check FILE]
    Draws the machines' state diagrams, with the arrows marked that seeds 0 to N (400) took: to the
    screen, to a file, or to compare with one. An arrow that nobody took has to be explained.

cronwright-sim speed
    Steps one job through a million events without a world around it, and says how many a second.

cronwright-sim shrink --seed S [--mutation NAME]
    Makes the world of a failing seed smaller for as long as it violates the same invariant: fewer
    jobs, fewer faults, no people, a shorter storm.

Exits with 1 when an invariant is violated, a world is not deterministic, a fault never fired or a
planted bug stays unfound; with 2 when these words are not understood.
";
