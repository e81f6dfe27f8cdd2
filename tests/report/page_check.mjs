// Opens the report's page in Chromium as its readers do, and checks what they meet:
// node page_check.mjs PAGE.html EVALUATION.json CHROMIUM FOLDER-FOR-SCREENSHOTS
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {join, resolve} from "node:path";
import {pathToFileURL} from "node:url";

// the packages are in the folder where npm put them, which is not this file's
const require = createRequire(join(process.cwd(), "package.json"));
const {chromium} = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [file, evaluationFile, executablePath, screenshots] = process.argv.slice(2);
const url = pathToFileURL(resolve(file)).href;
const evaluation = JSON.parse(readFileSync(evaluationFile, "utf8"));
const names = evaluation.systems.map((system) => system.system);
const failures = [];
const check = (holds, what) => {
  if (!holds) failures.push(what);
};

const root = process.getuid?.() === 0;
const browser = await chromium.launch({executablePath, args: root ? ["--no-sandbox"] : []});

async function open(name, options, unfold = false) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on("console", (message) => failures.push(`${name}: the console says ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => failures.push(`${name}: an error: ${error.message}`));
  page.on("request", (request) => check(request.url() === url, `${name}: asks for ${request.url()}`));
  page.on("dialog", () => failures.push(`${name}: a dialog opened`));
  await page.goto(url);
  if (unfold) await page.evaluate(() => document.querySelectorAll("details").forEach((details) => { details.open = true; }));
  return page;
}

async function checkAccessibility(name, page) {
  // The page's policy lets no script in but its own: the browser's debugger does.
  await page.evaluate(axeSource);
  const {violations, passes} = await page.evaluate(() => globalThis.axe.run(document, {resultTypes: ["violations", "passes"]}));
  check(passes.some((rule) => rule.id === "color-contrast"), `${name}: axe did not look at the contrast`);
  for (const {id, help, nodes} of violations) {
    failures.push(`${name}: axe: ${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; ")}`);
  }
}

async function checkCharts(name, page) {
  const charts = await page.evaluate(() => [...document.querySelectorAll("figure.chart")].map((figure) => {
    const svg = figure.querySelector("svg.chart-drawing, svg.bar"), box = svg?.getBoundingClientRect();
    const lines = [...figure.querySelectorAll(".line .stroke, .bar .part")].map((path) => path.getBoundingClientRect());
    return {id: figure.id, label: svg?.getAttribute("aria-label") ?? "", width: box?.width ?? 0, height: box?.height ?? 0,
      drawn: lines.filter((line) => line.width > 0 || line.height > 0).length, caption: figure.querySelector("figcaption").innerText};
  }));
  const wanted = ["chart-length", "chart-loss", "chart-loss-time", "chart-dev-loss", "chart-dev-loss-time", "chart-dev-bleu",
    "chart-dev-bleu-time", "chart-rate", "chart-norm", "chart-speed", "chart-speed-time", "chart-waiting", "chart-split",
    "chart-frequency", "chart-unknown", "chart-rarest"];
  for (const id of wanted) {
    const chart = charts.find((other) => other.id === id);
    check(chart, `${name}: there is no ${id}`);
    if (!chart) continue;
    check(chart.width > 250 && (id === "chart-split" || chart.height > 150), `${name}: ${id} is ${chart.width} x ${chart.height}`);
    check(chart.drawn >= 2, `${name}: ${id} draws ${chart.drawn} lines`);
    check(chart.label !== "" && chart.caption !== "", `${name}: ${id} has no label or caption`);
  }
  const maps = await page.evaluate(() => [...document.querySelectorAll("figure.map svg rect")].filter((r) => r.getBoundingClientRect().width > 0).length);
  check(maps > 100, `${name}: heat maps have ${maps} squares`);
}

async function checkWidth(name, page) {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  check(content <= window, `${name}: ${content} pixels wide in a window of ${window}`);
  const out = await page.evaluate(() => [...document.querySelectorAll("main *")].filter((node) =>
    !node.closest(".scroll") && !node.closest("svg") && node.getBoundingClientRect().right > innerWidth + 0.5).map((node) => node.className || node.tagName));
  check(out.length === 0, `${name}: beyond the right edge: ${out.slice(0, 5).join(", ")}`);
}

async function checkTables(name, page) {
  const text = await page.evaluate(() => document.body.innerText);
  for (const system of evaluation.systems) {
    for (const row of system.buckets) check(text.includes(`${row.bleu.toFixed(2)} [${row.low.toFixed(2)}, ${row.high.toFixed(2)}]`), `${name}: no ${row.bleu} of ${row.label}`);
    check(text.includes(system.signature), `${name}: no signature`);
  }
  check(text.includes("< 0.001"), `${name}: no p value`);
  // as text, not as an element
  check(text.includes(`<img src=x onerror="document.title='broken'"> & </script>`), `${name}: a hostile text is not shown as it is`);
  check(!(await page.title()).includes("broken"), `${name}: a hostile text was run`);
}

// What a reader does with a chart.
async function checkReading(page) {
  const figure = page.locator("#chart-length"), cursor = figure.locator(".cursor");
  await cursor.scrollIntoViewIfNeeded();
  const box = await figure.locator(".chart-drawing").boundingBox();
  const place = await figure.locator(".chart-drawing").evaluate((svg) => {
    const {left, right, xLow, xHigh} = svg.dataset, at = 2;  // the third bucket
    return (Number(left) + (at - xLow) / (xHigh - xLow) * (right - left)) / svg.viewBox.baseVal.width;
  });
  await page.mouse.move(box.x + box.width * place + 4, box.y + box.height / 3);
  const values = () => figure.locator(".legend .value").allTextContents();
  const told = (index) => evaluation.systems.map((system) => {
    const row = system.buckets[index];
    return [row.bleu, row.low, row.high].map((value) => Number(value.toPrecision(4)));
  });
  const numbers = (texts) => texts.map((text) => (text.match(/[\d.]+/g) ?? []).map(Number));
  check(JSON.stringify(numbers(await values())) === JSON.stringify(told(2)), `hovering the third bucket says ${await values()}`);
  check((await figure.locator(".at").textContent()).startsWith("21\u201330"), "hovering does not name the bucket");
  check(await figure.locator(".spot").count() === names.length, "hovering does not mark the points");
  await page.mouse.move(5, 5);
  check((await values()).every((text) => text === ""), "the read-out stays when the pointer is gone");

  // the keyboard reaches the chart, and reads it
  await page.evaluate(() => document.querySelector("#chart-length .legend li:last-child button").focus());
  await page.keyboard.press("Tab");
  check(await page.evaluate(() => document.activeElement === document.querySelector("#chart-length .cursor")), "Tab does not reach the chart");
  check(JSON.stringify(numbers(await values())) === JSON.stringify(told(0)), `focus says ${await values()}`);
  await page.keyboard.press("ArrowRight");
  check(JSON.stringify(numbers(await values())) === JSON.stringify(told(1)), `the right arrow says ${await values()}`);
  check((await cursor.getAttribute("aria-valuetext")).includes(`${names[0]} ${evaluation.systems[0].buckets[1].bleu}`), "the slider does not tell its value");
  await page.keyboard.press("End");
  check(JSON.stringify(numbers(await values())) === JSON.stringify(told(6)), `End says ${await values()}`);
  const outline = await cursor.evaluate((node) => getComputedStyle(node).outlineStyle);
  check(outline !== "none", "the focus cannot be seen");
  await page.keyboard.press("Escape");
  check((await values()).every((text) => text === ""), "Escape does not end the reading");

  // a system is switched off in all charts, and on again
  const button = figure.getByRole("button", {name: names[1]});
  const shown = () => page.evaluate((name) => [...document.querySelectorAll(".line")].filter((line) =>
    line.dataset.name === name && getComputedStyle(line).display !== "none").length, names[1]);
  const before = await shown();
  check(before > 10, `${before} lines of ${names[1]}`);
  await button.click();
  check(await shown() === 0, "a system that was switched off is still drawn");
  check(await button.getAttribute("aria-pressed") === "false", "the switch does not tell its state");
  await cursor.focus();
  await page.keyboard.press("Home");
  check((await values())[1] === "", "a system that was switched off is still read out");
  await button.press("Enter");
  check(await shown() === before, "a system that was switched on again is not drawn");

  // what a finger does
  await page.evaluate(() => document.activeElement.blur());
  await cursor.dispatchEvent("pointerdown", {pointerType: "touch", clientX: box.x + box.width * place, clientY: box.y + 50});
  check(JSON.stringify(numbers(await values())) === JSON.stringify(told(2)), `a touch says ${await values()}`);

  // a learning curve reads the last update of both runs
  const loss = page.locator("#chart-dev-loss"), last = await loss.locator(".line").first().evaluate((line) => line.dataset.yText.split(" ").at(-1));
  await loss.locator(".cursor").focus();
  await page.keyboard.press("End");
  check((await loss.locator(".legend .value").first().textContent()) === last, "the end of a learning curve is not read out");
}

for (const scheme of ["light", "dark"]) {
  for (const width of [400, 1600]) {
    const name = `${scheme}, ${width} pixels`;
    const page = await open(name, {viewport: {width, height: 900}, colorScheme: scheme});
    await checkWidth(name, page);
    await checkCharts(name, page);
    await page.screenshot({path: join(screenshots, `${scheme}-${width}.png`), fullPage: true});
    await page.context().close();
    const unfolded = await open(`${name}, unfolded`, {viewport: {width, height: 900}, colorScheme: scheme}, true);
    await checkWidth(`${name}, unfolded`, unfolded);
    await checkTables(name, unfolded);
    // of each scheme once: it takes its time
    if ((scheme === "dark") === (width === 400)) await checkAccessibility(name, unfolded);
    if (scheme === "light" && width === 1600) await checkReading(unfolded);
    await unfolded.context().close();
  }
}
{
  // read by browsers and people who run no script
  const page = await open("without JavaScript", {viewport: {width: 1200, height: 900}, javaScriptEnabled: false});
  const count = (selector) => page.locator(selector).count();
  check(await count(".cursor, .legend button") === 0, "scripts run where they must not");
  check(await page.locator("table:visible").count() >= 8, "without JavaScript tables are missing");
  for (const chart of await page.locator(".chart-drawing").all()) {
    check(await chart.isVisible() && await chart.locator(".stroke").count() >= 2, "without JavaScript a chart is empty");
    check((await chart.locator(".ticks text").allTextContents()).length >= 4, "without JavaScript a chart has no numbers");
  }
  check((await page.locator("#chart-length .legend").textContent()).includes(names[0]), "without JavaScript there is no legend");
  await page.locator("#sentences summary").last().click();
  check(await page.locator("#sentences details").last().locator("article").first().isVisible(), "without JavaScript sentences do not unfold");
  await page.context().close();
}
{
  // what is printed is all of it
  const page = await open("print", {viewport: {width: 800, height: 900}});
  await page.emulateMedia({media: "print", colorScheme: "dark"});
  check(await page.evaluate(() => getComputedStyle(document.body).backgroundColor) === "rgb(255, 255, 255)", "print is not on white");
  const pdf = await page.pdf({path: join(screenshots, "print.pdf"), format: "A4"});
  check(pdf.length > 20000, `the print has ${pdf.length} bytes`);
}
await browser.close();
if (failures.length > 0) {
  console.error(failures.join("\n"));
  process.exit(1);
}
