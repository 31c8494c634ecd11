// One HTTP exchange in one crossing between Wasm and the runtime: at midnight thousands go through
// here, and a promise, a header or a string that crosses costs more than the request itself.
// What is sent, what may be called and what an answer means is decided in Rust (exchange.rs).

/** Sends a request and reads at most `cap` bytes of the answer. Redirects come back as they are. */
export async function exchange(url, init, signal, cap) {
  const answer = {};
  try {
    const response = await fetch(url, { ...JSON.parse(init), redirect: "manual", signal });
    const headers = response.headers;
    answer.status = response.status;
    answer.contentType = headers.get("content-type") ?? undefined;
    answer.location = headers.get("location") ?? undefined;
    answer.retryAfter = headers.get("retry-after") ?? undefined;
    // The length of a compressed body says nothing about what it unpacks to.
    const short = headers.get("content-encoding") === null && Number(headers.get("content-length") ?? Infinity) <= cap;
    if (short) answer.body = (await response.text()) || undefined;
    else if (response.body) await readUpTo(response.body, cap, answer);
  } catch (error) {
    answer.fault = { TimeoutError: "timeout", AbortError: "aborted" }[error?.name] ?? "network";
    answer.detail = String(error?.message ?? error).slice(0, 300);
  }
  return JSON.stringify(answer);
}

async function readUpTo(stream, cap, answer) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let room = cap;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value.subarray(0, room), { stream: true });
      room -= value.length;
      if (room < 0) {
        answer.truncated = true;
        await reader.cancel();
        break;
      }
    }
  } finally {
    text += decoder.decode();
    answer.body = text || undefined;
  }
}
