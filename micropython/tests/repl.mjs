// node repl.mjs PATH/OF/micropython.mjs: MicroPython's prompt on stdin and stdout.
import { readSync, writeSync } from "node:fs";

const rawPaste = 5; // Ctrl-E
const byte = new Uint8Array(1);

function read() {
  return readSync(0, byte) ? byte[0] : null;
}

function write(bytes) {
  for (let start = 0; start < bytes.length; ) {
    start += writeSync(1, bytes.subarray(start));
  }
}

const { loadMicroPython } = await import(process.argv[2]);
const micropython = await loadMicroPython({ linebuffer: false, stdout: write, stderr: write });
// This build's number for "no such file" is none that mpremote knows.
micropython.FS.mkdir("/lib");
micropython.replInit();
for (let c = read(); c !== null; c = read()) {
  if (c === rawPaste && read() && read()) {
    // "Known, but not supported": this build would read what is pasted from nowhere.
    write(Buffer.from("R\0"));
  } else if (micropython.replProcessChar(c)) {
    write(Buffer.from("soft reboot\r\n"));
    micropython.replInit();
  }
}
