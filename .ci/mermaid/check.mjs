// Reads a JSON array of Mermaid diagrams (the file named by the first argument) with Mermaid's own parser, and prints a
// JSON array with what the parser made of each: `{ nodes, clusters, edges }` with labels as a reader sees them, or
// `{ error }`. The exit code is 0 if every diagram was parsed.

import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!doctype html><body></body>");
globalThis.window = window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");
// A page has lower limits, and sets them itself; what is checked here is the language.
mermaid.initialize({ startOnLoad: false, maxTextSize: Number.MAX_SAFE_INTEGER, maxEdges: Number.MAX_SAFE_INTEGER });

const holder = window.document.createElement("div");

// Mermaid's stand-ins for entities become entities.
const decode = (text) => text.replaceAll("ﬂ°°", "&#").replaceAll("ﬂ°", "&").replaceAll("¶ß", ";");

// The steps from the parser's text to the page, as Mermaid's renderer takes them for a label which isn't Markdown:
// line ends become breaks, the page decodes the entities, and the finished picture is decoded once more.
function seen(text = "") {
  holder.innerHTML = decode(text).replace(/\\n|\n/g, "<br/>");
  holder.innerHTML = decode(holder.innerHTML);
  for (const element of holder.querySelectorAll("*")) {
    if (element.localName !== "br") throw new Error(`raw HTML in a label: ${element.outerHTML}`);
    element.replaceWith("\n");
  }
  return holder.textContent;
}

async function read(source) {
  try {
    const { db, type } = await mermaid.mermaidAPI.getDiagramFromText(source);
    if (!type.startsWith("flowchart")) throw new Error(`read as ${type}`);
    const labelled = [...db.getVertices().values(), ...db.getEdges(), ...db.getSubGraphs()];
    const markdown = labelled.find(({ labelType }) => labelType !== "string" && labelType !== "text");
    if (markdown) throw new Error(`a label is read as ${markdown.labelType}`);
    return {
      nodes: Object.fromEntries([...db.getVertices()].map(([id, { text }]) => [id, seen(text)])),
      clusters: Object.fromEntries(db.getSubGraphs().map(({ id, title }) => [id, seen(title)])),
      edges: db.getEdges().map(({ start, end, text }) => [start, end, seen(text)]),
    };
  } catch (error) {
    return { error: String(error) };
  }
}

const results = [];
for (const source of JSON.parse(readFileSync(process.argv[2], "utf8"))) results.push(await read(source));
process.stdout.write(JSON.stringify(results), () => process.exit(results.some(({ error }) => error) ? 1 : 0));
