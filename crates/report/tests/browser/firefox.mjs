// Opens pages in Firefox by its own remote protocol, and tries what a reader would: finding, order, receipt, link, choice of a pair.
// Usage: node firefox.mjs FOLDER FIREFOX. Prints a line a check; ends with 1 at the first that fails, with 3 if Firefox does not start.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [folder, firefox] = process.argv.slice(2);
const facts = JSON.parse(readFileSync(join(folder, "facts.json"), "utf8"));
const profile = mkdtempSync(join(tmpdir(), "oscost-firefox-"));
// A port that nobody has: the system gives one, and it is free again.
const port = await new Promise((done) => {
  const server = net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});
writeFileSync(join(profile, "user.js"), [
  `user_pref("marionette.port", ${port});`,
  'user_pref("browser.shell.checkDefaultBrowser", false);',
  'user_pref("datareporting.policy.dataSubmissionEnabled", false);',
  'user_pref("app.update.enabled", false);',
  'user_pref("network.captive-portal-service.enabled", false);',
  'user_pref("network.connectivity-service.enabled", false);',
].join("\n"));
const child = spawn(firefox, ["--headless", "--marionette", "--no-remote", "--profile", profile], { stdio: "ignore", env: { ...process.env, HOME: profile, MOZ_HEADLESS: "1" } });
const end = (code, words) => {
  if (words) console.log(words);
  child.kill("SIGKILL");
  rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  process.exit(code);
};
const fail = (words) => end(1, "FAILED " + words);
process.on("uncaughtException", (error) => fail(String(error)));
process.on("unhandledRejection", (error) => fail(String(error)));
setTimeout(() => fail("the tests took longer than five minutes"), 300_000).unref();

// The first answer is Firefox's greeting.
async function connected() {
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) end(3, "Firefox ended with code " + child.exitCode);
    const socket = await new Promise((done) => {
      const socket = net.connect(port, "127.0.0.1");
      socket.once("connect", () => done(socket)).once("error", () => done(null));
    });
    if (socket) return socket;
    await new Promise((done) => setTimeout(done, 100));
  }
  end(3, "Firefox did not listen within a minute");
}
const socket = await connected();
let room = Buffer.alloc(0), waiting = null;
const came = [];
socket.on("data", (data) => {
  room = Buffer.concat([room, data]);
  for (;;) {
    const colon = room.indexOf(":");
    if (colon < 0) return;
    const size = Number(room.subarray(0, colon).toString());
    if (room.length < colon + 1 + size) return;
    came.push(JSON.parse(room.subarray(colon + 1, colon + 1 + size).toString()));
    room = room.subarray(colon + 1 + size);
    waiting?.();
  }
});
const next = async () => {
  while (came.length === 0) await new Promise((done) => (waiting = done));
  return came.shift();
};
let number = 0;
async function ask(command, parameters = {}) {
  const text = Buffer.from(JSON.stringify([0, ++number, command, parameters]));
  socket.write(Buffer.concat([Buffer.from(text.length + ":"), text]));
  const [, , error, answer] = await next();
  if (error) fail(`${command}: ${error.error} ${error.message}`);
  return answer;
}
await next();
const session = await ask("WebDriver:NewSession", { capabilities: {} });
await ask("WebDriver:SetTimeouts", { script: 60_000, pageLoad: 120_000, implicit: 0 });

const run = async (script, ...args) => (await ask("WebDriver:ExecuteScript", { script, args })).value;
const element = async (selector) => (await ask("WebDriver:FindElement", { using: "css selector", value: selector })).value["element-6066-11e4-a52e-4f735466cecf"];
const press = async (selector, keys) => ask("WebDriver:ElementSendKeys", { id: await element(selector), text: keys });
const click = async (selector) => ask("WebDriver:ElementClick", { id: await element(selector) });
const open = async (name) => {
  await ask("WebDriver:Navigate", { url: "about:blank" });
  await ask("WebDriver:Navigate", { url: "file://" + folder + "/" + name });
};
const equal = (found, expected, words) => {
  if (JSON.stringify(found) !== JSON.stringify(expected)) fail(`${words}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
};
const ENTER = "\uE007";
const shown = () => run("return [...document.querySelectorAll('.rows > .figure')].filter((row) => row.getClientRects().length).length");
const find = async (words) => {
  await run("document.querySelector('.find').value = ''");
  await press(".find", words);
  return shown();
};

await open("page.html");
equal(await shown(), facts.figures, "rows");
equal(await find(facts.find), facts.found, "rows that match " + facts.find);
equal(await find("no such figure"), 0, "rows that match nothing");
for (const word of (await run("return document.querySelector('.find').placeholder")).split(", ")) {
  const rows = await find(word);
  if (rows === 0 || rows === facts.figures) fail(`${word} is offered, and finds some and not all: ${rows}`);
}
await run("const find = document.querySelector('.find'); find.value = ''; find.dispatchEvent(new Event('input'))");
for (const order of ["price", "doubt"]) {
  await press(`.order[value=${order}]`, ENTER);
  const some = (await run("return [...document.querySelectorAll('.rows > .figure')].map((row) => Number(row.dataset[arguments[0]]))", order)).filter((one) => one >= 0);
  if (some.length < 3 || some.some((one, index) => index > 0 && one < some[index - 1])) fail("rows are in the order of " + order);
}
await press(".order[value=position]", ENTER);
console.log("ok finding and order in Firefox " + session.capabilities.browserVersion);

await press(".rows > .figure summary.row", ENTER);
equal(await run("return document.querySelector('.rows > .figure details').open"), true, "Enter opens the receipt");
const id = await run("return document.querySelector('.rows > .figure').id");
for (let tries = 0; tries < 50 && (await run("return location.hash")) !== "#" + id; tries++) await new Promise((done) => setTimeout(done, 100));
equal(await run("return location.hash"), "#" + id, "an open receipt sets the address");
const last = await run("return [...document.querySelectorAll('.rows > .figure')].at(-1).id");
await open("page.html#" + last);
equal(await run("return document.getElementById(arguments[0]).querySelector('details').open", last), true, "a link opens its receipt");
equal(await run("return document.documentElement.scrollWidth <= Math.ceil(document.documentElement.getBoundingClientRect().width)"), true, "the page is no wider than the window");
console.log("ok receipt by keyboard, address and link in Firefox");

await open("three.html");
const pair = () => run("return [...document.querySelectorAll('[data-pick]')].filter((part) => part.getClientRects().length).map((part) => part.dataset.pair)");
equal(await pair(), ["two \u2192 three"], "the one before comes first");
await click("#pick");
await press("#pick", "one");
await press("#pick", ENTER);
equal(await pair(), ["one \u2192 three"], "another one by the reader's choice");
console.log("ok a comparison of the reader's choice in Firefox");

await open("hostile.html");
equal(await run("return document.querySelectorAll('img, iframe, object, embed, base, link, [onload], [onerror], [onclick]').length"), 0, "elements from data");
equal(await run("return document.scripts.length"), facts.scripts, "scripts are the page's own");
console.log("ok hostile texts make no elements in Firefox");
end(0);
