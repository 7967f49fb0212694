"""Runs a command in a pseudo-terminal: what comes in is typed, what it shows goes out, its exit code is ours."""
import fcntl
import os
import pty
import struct
import sys
import termios

ROWS, COLUMNS = 40, 120


def size_of_terminal() -> None:
    """In the child, whose standard output is the terminal."""
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))


child, terminal = pty.fork()
if child == 0:
    size_of_terminal()
    os.execvp(sys.argv[1], sys.argv[1:])

typed = os.fork()
if typed == 0:
    while data := os.read(0, 1024):
        os.write(terminal, data)
    os._exit(0)

try:
    while data := os.read(terminal, 65536):
        os.write(1, data)
except OSError:
    # Linux answers EIO once nobody holds the other end.
    pass
_, status = os.waitpid(child, 0)
os.kill(typed, 9)
sys.exit(os.waitstatus_to_exitcode(status))
