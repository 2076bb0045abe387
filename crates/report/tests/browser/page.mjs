// Opens the pages of a folder in Chromium and tries what a reader would: receipts, filter, order, table, saving, print.
// Usage: node page.mjs FOLDER CHROMIUM. Prints a line a check; ends with 1 at the first that fails.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [folder, executablePath] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const facts = JSON.parse(readFileSync(folder + "/facts.json", "utf8"));
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

const fail = (words) => {
  console.log("FAILED " + words);
  process.exit(1);
};
setTimeout(() => fail("the tests took longer than two minutes"), 120_000).unref();
const equal = (found, expected, words) => {
  if (found !== expected) fail(`${words}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
};

// A page with everything it says, asks for and moves on record.
async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: false, ...options });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("dialog", (dialog) => { said.push("dialog " + dialog.message()); dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith("file:") && !request.url().startsWith("blob:")) said.push("asked for " + request.url()); });
  await page.addInitScript(() => {
    window.shifts = 0;
    window.hurt = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => (window.shifts += entry.value))).observe({ type: "layout-shift", buffered: true });
  });
  await page.goto("file://" + folder + "/" + name + ".html");
  // Where scripts are off nobody would call back.
  if (options.javaScriptEnabled !== false) await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return { page, said, context };
}
const quiet = (one, words) => equal(one.said.join("; "), "", words + " says nothing");

// Axe injects its own script: it runs in a page whose policy is bypassed, the rest of the tests do not.
async function accessible(name, scheme, width) {
  const one = await open(name, { bypassCSP: true, colorScheme: scheme, viewport: { width, height: 900 } });
  await one.page.evaluate(() => document.querySelectorAll("details").forEach((details, index) => (details.open = index < 12)));
  await one.page.addScriptTag({ content: axe });
  const found = await one.page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const words = found.violations.map((violation) => violation.id + ": " + violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | "));
  equal(words.join("\n"), "", `${name} in ${scheme} at ${width} passes axe`);
  const wide = await one.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) fail(`${name} at ${width}: ${wide} px wider than the window`);
  await one.context.close();
  console.log(`ok ${name} passes axe's rules in ${scheme} at ${width}`);
}

{
  const one = await open("page");
  const { page } = one;
  equal(await page.evaluate(() => window.shifts), 0, "layout shift after load");
  equal(await page.locator(".rows > li").count(), facts.figures, "rows");
  const first = page.locator(".rows > li").first();
  await first.locator("summary").focus();
  await page.keyboard.press("Enter");
  equal(await first.locator("details").evaluate((details) => details.open), true, "Enter opens the receipt");
  if (!(await first.locator(".evidence caption").innerText()).startsWith("Receipt")) fail("the receipt has its evidence");
  await page.locator(".find").fill(facts.find);
  equal(await page.locator(".rows > li:visible").count(), facts.found, "rows that match " + facts.find);
  await page.locator(".find").fill("no such figure");
  equal(await page.locator(".none").innerText(), "No figure matches.", "an empty list says so");
  await page.locator(".find").fill("");
  await page.locator(".family").selectOption(facts.family);
  equal(await page.locator(".rows > li:visible").count(), facts.family_figures, "rows of the family");
  await page.locator(".family").selectOption("");
  await page.locator(".order").selectOption("price");
  const prices = await page.locator(".rows > li").evaluateAll((rows) => rows.map((row) => Number(row.dataset.price)));
  if (prices.some((price, index) => index > 0 && price < prices[index - 1])) fail("rows are in the order of price");
  await page.locator(".data summary").click();
  equal(await page.locator(".data tbody tr").count(), facts.figures, "rows of the data table");
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator(".save-rows").click()]);
  const svg = readFileSync(await download.path(), "utf8");
  if (!svg.startsWith("<svg") || !svg.includes(facts.find)) fail("the saved picture has its rows: " + svg.slice(0, 200));
  equal(svg.includes("class="), false, "the saved picture needs no style sheet");
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  equal(await page.locator("details:not([open])").count(), 0, "everything is open on paper");
  quiet(one, "the page");
  await one.context.close();
  console.log("ok receipt by keyboard, filter, family, order, table, saving, print");
}
{
  const one = await open("page", { javaScriptEnabled: false });
  await one.page.locator(".rows > li").first().locator("summary").click();
  if (!(await one.page.locator(".rows > li").first().locator(".evidence").isVisible())) fail("a receipt opens without scripts");
  equal(await one.page.locator(".controls").isVisible(), false, "no controls without scripts");
  await one.context.close();
  console.log("ok receipts without scripts");
}
for (const scheme of ["light", "dark"]) for (const width of [420, 1280]) await accessible("page", scheme, width);
await accessible("page", "light", 2560);
for (const width of [420, 1280]) await accessible("two", "light", width);
{
  const one = await open("two");
  const link = one.page.locator(".compared tbody a").first();
  const target = (await link.getAttribute("href")).slice(1);
  await link.click();
  equal(await one.page.locator("[id='" + target + "'] details").evaluate((details) => details.open), true, "a verdict leads to its receipt");
  quiet(one, "the page of two results");
  await one.context.close();
  console.log("ok verdicts of two results lead to receipts");
}
{
  const one = await open("hostile");
  const { page } = one;
  equal(await page.evaluate(() => window.hurt), 0, "no script from data ran");
  equal(await page.locator("script").count(), facts.scripts, "scripts are the page's own");
  const text = await page.evaluate(() => { document.querySelectorAll("details").forEach((details) => (details.open = true)); return document.body.textContent; });
  for (const shown of facts.shown) if (!text.includes(shown)) fail("is not shown as it is: " + shown);
  equal(await page.locator("img, iframe, object, embed, base, link, [onload], [onerror], [onclick], [style]").count(), 0, "elements from data");
  equal(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(text), false, "control and direction characters");
  quiet(one, "the hostile page");
  await one.context.close();
  console.log(`ok ${facts.shown.length} hostile texts are shown as they are`);
}
await browser.close();
