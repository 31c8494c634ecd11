// Refreshes the regions marked data-live from the page itself, every five seconds while it is looked at.
// The page says everything without this file.
const PERIOD = 5000;
const LIMIT = 10000;

// XMLHttpRequest parses without any of the sinks that Trusted Types forbid.
function load() {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", location.href);
    request.responseType = "document";
    request.timeout = LIMIT;
    request.onload = () => resolve(request);
    request.onerror = request.ontimeout = request.onabort = () => reject(new Error("no answer"));
    request.send();
  });
}

// Whoever marks text or follows a link with the keyboard must not lose the place.
function inUse(region) {
  const selection = getSelection();
  const marked = selection && !selection.isCollapsed && selection.containsNode(region, true);
  return marked || region.contains(document.activeElement);
}

function show(fresh) {
  for (const region of document.querySelectorAll("[data-live], footer")) {
    const name = region.dataset.live;
    const next = fresh.querySelector(name ? `[data-live="${CSS.escape(name)}"]` : "footer");
    if (next && !inUse(region)) region.replaceWith(document.importNode(next, true));
  }
}

function stale(is) {
  document.documentElement.classList.toggle("is-stale", is);
}

async function refresh() {
  try {
    const answer = await load();
    // Signed out, or another version of the page: start over.
    if (answer.status === 401 || answer.status === 403) return location.reload();
    if (answer.status !== 200 || !answer.response) throw new Error(`status ${answer.status}`);
    show(answer.response);
    stale(false);
  } catch {
    stale(true);
  }
  wait();
}

function wait() {
  setTimeout(() => (document.hidden ? sleep() : refresh()), PERIOD);
}

function sleep() {
  document.addEventListener("visibilitychange", refresh, { once: true });
}

wait();
