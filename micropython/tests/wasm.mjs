// node wasm.mjs PATH/OF/micropython.mjs: runs main.py of the current folder, whose files it sees.
import { readdirSync, readFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

const newline = 10;
const encoder = new TextEncoder();
let line = [];

function flush() {
  for (let start = 0; start < line.length; ) {
    start += writeSync(1, Uint8Array.from(line), start);
  }
  line = [];
}

// MicroPython 1.20 writes lines, later ones bytes.
function write(output) {
  const bytes = typeof output === "string" ? encoder.encode(`${output}\n`) : output;
  line.push(...bytes);
  if (bytes.includes(newline)) flush();
}

// MicroPython 1.20 looks for the wasm in the current folder, unless it is told where it is.
const url = join(dirname(process.argv[2]), "micropython.wasm");
const { loadMicroPython } = await import(process.argv[2]);
const micropython = await loadMicroPython({ url, linebuffer: false, stdout: write, stderr: write });
for (const name of readdirSync(".")) micropython.FS.writeFile(name, readFileSync(name));
try {
  micropython.runPython(readFileSync("main.py", "utf8"));
} catch (error) {
  write(encoder.encode(error.message));
}
flush();
