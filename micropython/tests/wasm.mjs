// node wasm.mjs PATH/OF/micropython.mjs: runs main.py of the current folder, whose files it sees.
import { readdirSync, readFileSync, writeSync } from "node:fs";

const newline = 10;
let line = [];

function flush() {
  for (let start = 0; start < line.length; ) {
    start += writeSync(1, Uint8Array.from(line), start);
  }
  line = [];
}

function write(bytes) {
  line.push(...bytes);
  if (bytes.includes(newline)) flush();
}

const { loadMicroPython } = await import(process.argv[2]);
const micropython = await loadMicroPython({ linebuffer: false, stdout: write, stderr: write });
for (const name of readdirSync(".")) micropython.FS.writeFile(name, readFileSync(name));
try {
  micropython.runPython(readFileSync("main.py", "utf8"));
} catch (error) {
  write(new TextEncoder().encode(error.message));
}
flush();
