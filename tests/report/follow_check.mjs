// Opens a page that report --follow keeps up to date, says so, and ends when the browser shows, without being asked to load it again, that
// the training has ended: node follow_check.mjs PAGE.html CHROMIUM
import {createRequire} from "node:module";
import {join, resolve} from "node:path";
import {pathToFileURL} from "node:url";

const require = createRequire(join(process.cwd(), "package.json"));
const {chromium} = require("playwright-core");

const [file, executablePath] = process.argv.slice(2);
const root = process.getuid?.() === 0;
const browser = await chromium.launch({executablePath, args: root ? ["--no-sandbox"] : []});
const page = await browser.newPage();
const lead = page.locator("p.lead");
await page.goto(pathToFileURL(resolve(file)).href);
const before = await lead.textContent();
if (!before.includes("has not ended")) throw new Error(`at first the page says: ${before}`);
console.log("open");
await lead.filter({hasNotText: "has not ended"}).waitFor({timeout: 120000});
console.log("the end was shown");
await browser.close();
