// The first page in a real browser: signing in by the link, what it shows, and that nothing on it breaks
// the content security policy. SCREENSHOTS=DIR keeps pictures to look at.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";
import { startWorld, until } from "../support/api.mjs";
import { testSecret } from "../support/runtime.mjs";

const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const hostile = `<img src=x onerror="alert(1)"> & "quotes"`;

function signInCode() {
  const expiry = Date.now() + 10 * 60_000;
  return `${expiry}.${createHmac("sha256", testSecret).update(`sign-in-code.v1.${expiry}`).digest("hex")}`;
}

describe("the first page", () => {
  let world, browser;
  before(async () => {
    world = await startWorld();
    await world.api.create({ jobId: "nightly", name: "Nightly backup", cron: "0 0 2 * * ?", timeZone: "Asia/Shanghai", owner: "ops", executor: world.receiver.url("/ok") });
    await world.api.create({ jobId: "hostile", name: hostile, executor: world.receiver.url("/ok") });
    await world.api.runNow("nightly", { wait: "25s" });
    await until("the run in D1", async () => (await world.api.ok("GET", "/api/v1/runs?limit=5")).items.length > 0);
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
  });
  after(async () => {
    await browser?.close();
    await world.stop();
  });

  /** A page whose errors, dialogs and policy reports are kept. `localhost`: browsers trust it as they trust https. */
  async function open(options) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const wrong = [];
    page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => (wrong.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
    page.on("console", (message) => message.type() === "error" && wrong.push(`console: ${message.text()}`));
    const url = world.runtime.url.replace("127.0.0.1", "localhost");
    return { context, page, wrong, url };
  }

  async function signIn(page, url) {
    await page.goto(`${url}/sign-in?code=${signInCode()}`);
    await page.click("button[type=submit]");
    await page.waitForURL(`${url}/`, { timeout: 10_000 });
  }

  test("without a session the browser is led to the sign-in page, and shown nothing", async () => {
    const { context, page, url } = await open();
    await page.goto(url);
    assert.equal(new URL(page.url()).pathname, "/sign-in");
    assert.ok(!(await page.content()).includes("Nightly backup"));
    await context.close();
  });

  test("the link of the deployer signs in with one press, once", async () => {
    const { context, page, url } = await open();
    const link = `${url}/sign-in?code=${signInCode()}`;
    await page.goto(link);
    await page.click("button[type=submit]");
    await page.waitForURL(`${url}/`);
    const other = await open();
    await other.page.goto(link);
    await other.page.click("button[type=submit]");
    await other.page.waitForLoadState();
    assert.equal(new URL(other.page.url()).pathname, "/sign-in", "the code is used up");
    await other.context.close();
    await context.close();
  });

  for (const locale of ["en-US", "zh-CN"]) {
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1440, 390]) {
        test(`jobs and runs are shown in ${locale}, ${colorScheme}, at ${width} px, and nothing overflows`, async () => {
          const { context, page, wrong, url } = await open({ locale, colorScheme, viewport: { width, height: 900 } });
          await signIn(page, url);
          const text = await page.innerText("body");
          assert.ok(text.includes("Nightly backup") && text.includes("nightly"));
          assert.ok(text.includes(hostile), "names are text");
          assert.ok(text.includes("Asia/Shanghai"));
          assert.match(text, locale === "zh-CN" ? /任务/ : /Jobs/);
          const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          assert.ok(over <= 0, `the page is ${over} px too wide`);
          assert.deepEqual(wrong, []);
          if (process.env.SCREENSHOTS) {
            mkdirSync(process.env.SCREENSHOTS, { recursive: true });
            await page.screenshot({ path: join(process.env.SCREENSHOTS, `home-${locale}-${colorScheme}-${width}.png`), fullPage: true });
          }
          await context.close();
        });
      }
    }
  }
});
