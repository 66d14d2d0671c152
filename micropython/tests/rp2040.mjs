// node rp2040.mjs RP2040JS PROGRAM STREAM: what an emulated RP2040 sends to UART0 until it stops.
//
// The ELF file PROGRAM is loaded without a boot ROM, and STREAM behind it in the flash. RP2040JS is
// index.js of npm's rp2040js.
import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [package_, program, stream] = process.argv.slice(2);
const { RP2040 } = await import(pathToFileURL(package_));
const STREAM = 0x10100000;
const FLASH = 0x10000000;
const STACK = 0x20042000;

const chip = new RP2040();
const elf = new DataView(Uint8Array.from(readFileSync(program)).buffer);
const header = elf.getUint32(28, true);
for (let i = 0; i < elf.getUint16(44, true); i++) {
  const [type, offset, , address, size] = Array.from({ length: 5 }, (_, j) =>
    elf.getUint32(header + 32 * i + 4 * j, true));
  if (type === 1 && size) chip.flash.set(new Uint8Array(elf.buffer, offset, size), address - FLASH);
}
chip.flash.set(readFileSync(stream), STREAM - FLASH);
chip.core.SP = STACK;
chip.core.PC = elf.getUint32(24, true) & ~1;

const sent = [];
let running = true;
chip.uart[0].onByte = (byte) => sent.push(byte);
chip.onBreak = () => (running = false);
while (running) chip.core.executeInstruction();
writeSync(1, Uint8Array.from(sent));
