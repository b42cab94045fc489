// Run by `npm run lock` after a change in package.json: takes all addresses out of the lock file.

import { readFileSync, writeFileSync } from "node:fs";

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
for (const entry of Object.values(lock.packages)) {
  delete entry.funding;
  delete entry.resolved;
}
const text = `${JSON.stringify(lock, null, 2)}\n`;
if (/https?:/.test(text)) throw new Error("package-lock.json still has an address");
writeFileSync("package-lock.json", text);
