// node leash.mjs PROGRAM ARGS…: runs a program that starts others, and never leaves them behind.
//
// Whoever starts this keeps its stdin open and starts it as the leader of a process group. When stdin
// closes (the starter ended in whatever way, SIGKILL included) or TERM, INT or HUP comes, the program is
// asked to stop, and three seconds later the whole group is killed.
import { spawn } from "node:child_process";

const [program, ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ["ignore", "inherit", "inherit"] });

let stopping = false;
function stop() {
  if (stopping) return;
  stopping = true;
  child.kill("SIGTERM");
  setTimeout(() => {
    try {
      process.kill(-process.pid, "SIGKILL");
    } catch {
      child.kill("SIGKILL"); // not a group leader, or no groups on this system
    }
  }, 3000).unref();
}

process.stdin.on("end", stop).on("close", stop).on("error", stop).resume();
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, stop);
child.on("error", (error) => {
  console.error(`cannot run ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code) => process.exit(stopping ? 0 : (code ?? 1)));
