"""``python qemu.py FIRMWARE ADDRESS PROGRAM.. -- FOLDER`` runs main.py of a folder in QEMU.

The firmware is MicroPython's, of its port for QEMU. The files of the folder lie in the board's
memory from the address on, where nothing else is; a program for the raw REPL makes a file system of
them. (A byte over the serial line may take QEMU a millisecond.)
"""

import subprocess
import sys
import tempfile
from pathlib import Path

# Where each name's content lies is in `FILES`.
BOOT = """
import io, os, uctypes, vfs
class Files:
    def mount(self, readonly, mkfs):
        pass
    def chdir(self, path):
        pass
    def stat(self, path):
        if path.strip("/") not in FILES:
            raise OSError(2)
        return (0x8000,) + (0,) * 9
    def open(self, path, mode):
        content = uctypes.bytes_at(*FILES[path.strip("/")])
        return io.BytesIO(content) if "b" in mode else io.StringIO(content.decode())
vfs.mount(Files(), "/files")
os.chdir("/files")
exec(open("main.py").read(), {"__name__": "__main__"})
"""
RAW, END = b"\x01", b"\x04"
PROMPT = b">>> "
STARTED = b"raw REPL; CTRL-B to exit\r\n>OK"


def read_until(stream, mark, into=None):
    """Read up to `mark`, byte by byte; write what comes before it to `into`."""
    last = b""
    while not last.endswith(mark):
        byte = stream.read(1)
        if not byte:
            raise EOFError(f"QEMU ended before {mark!r}")
        last = last[-len(mark) :] + byte
        if into and byte not in (mark, b"\r"):
            into.write(byte)
            into.flush()


def packed(folder, address):
    """All contents, one after the other, and the program for the REPL that knows where each is."""
    files, memory = {}, b""
    for path in sorted(Path(folder).iterdir()):
        files[path.name] = address + len(memory), path.stat().st_size
        memory += path.read_bytes()
    return memory, f"FILES = {files!r}\n{BOOT}".encode()


def main():
    """Print what main.py prints, then its exception."""
    firmware, address, *machine, _, folder = sys.argv[1:]
    memory, program = packed(folder, int(address, 0))
    # QEMU ends with this program, however that ends.
    command = ["setpriv", "--pdeathsig", "KILL", *machine]
    # One instruction takes 2^6 ns, and sleeping takes no time: what is measured is repeatable.
    command += ["-icount", "shift=6,sleep=off", "-display", "none", "-monitor", "none"]
    command += ["-semihosting", "-serial", "stdio", "-kernel", firmware]
    with tempfile.NamedTemporaryFile() as file:
        file.write(memory)
        file.flush()
        command += ["-device", f"loader,file={file.name},addr={address},force-raw=on"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as qemu:
            read_until(qemu.stdout, PROMPT)  # What is sent before is lost.
            qemu.stdin.write(RAW + program + END)
            qemu.stdin.flush()
            read_until(qemu.stdout, STARTED)
            for _ in range(2):
                read_until(qemu.stdout, END, sys.stdout.buffer)
            qemu.kill()


if __name__ == "__main__":
    main()
