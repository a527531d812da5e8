// Check pages by axe, 1,280 and 390 px wide, light and dark, and that none scrolls sideways.
//
//     npm install --no-save axe-core puppeteer-core
//     node tools/accessible.mjs page.html ...      # CHROMIUM=PATH, if not /usr/bin/chromium
//
// Prints what axe objects to, and how many views were looked at; exits 1 if anything is wrong, or
// no page was named.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const from = createRequire(resolve("package.json"));
const puppeteer = from("puppeteer-core");
const axe = readFileSync(from.resolve("axe-core/axe.min.js"), "utf8");
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
let views = 0;
let wrong = 0;
for (const file of process.argv.slice(2)) {
  for (const value of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      const page = await browser.newPage();
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
      await page.goto(`file://${resolve(file)}`);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      views += 1;
      wrong += violations.length + wide;
      for (const { id, nodes } of violations) console.log(file, value, width, id, nodes[0].html);
      if (wide) console.log(file, value, width, "is wider than the screen");
      await page.close();
    }
  }
}
await browser.close();
console.log(`${views} views, ${wrong} wrong`);
process.exit(wrong || !views ? 1 : 0);
