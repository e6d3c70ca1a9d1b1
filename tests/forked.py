"""Programs for tests, each in a fork of one process that has imported what they need, instead of a start of its own.

A program has its own arguments, streams, folder, environment, signals and exit code. What an interpreter does as it
starts and ends is not seen this way: tests of imports, of streams that break and of limits start true processes.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

LOADED = ["numpy", "polars", "pyarrow", "pyarrow.parquet", "rich", "click", "stakes.cli.program", "stakes.evaluation"]
LOADED += [f"stakes.cli.{name}" for name in ("boundary_shared", "correct", "decide", "evaluate")]
MAIN = "import sys; from stakes.cli import main; sys.exit(main(sys.argv[1:]))"
MOST = 1 << 16  # bytes of what is asked


class Program:
    """A program that was started; what it prints is kept in files."""

    def __init__(self, control, pid, out, err):
        self._control, self.pid, self.returncode, self._out, self._err = control, pid, None, out, err

    def ended(self, seconds=0.0):
        """Whether it ended by then."""
        if self.returncode is None and select.select([self._control], [], [], seconds)[0]:
            self.returncode = json.loads(self._control.recv(MOST))
        return self.returncode is not None

    def finish(self, seconds=120.0):
        """Wait for the end; return what it left, as of a completed process."""
        if not self.ended(seconds):
            os.kill(self.pid, signal.SIGKILL)
            self.ended(seconds)
            raise TimeoutError(f"the program did not end within {seconds:g} s.")
        texts = []
        for file in (self._out, self._err):
            file.seek(0)
            texts.append(file.read())
            file.close()
        return subprocess.CompletedProcess([], self.returncode, *texts)


class Forker:
    """Starts programs, one at a time."""

    def __init__(self):
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, __file__, str(theirs.fileno())]
        self._server = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        theirs.close()

    def close(self):
        self._control.close()
        self._server.wait(60)

    def start(self, *argv, code=MAIN, given=b"", stdout=None, env=None):
        """Start code with arguments in the current folder; ``given`` is the bytes of, or a file for, its input."""
        with contextlib.ExitStack() as stack:
            source = given
            if isinstance(given, bytes):
                source = stack.enter_context(tempfile.TemporaryFile())
                source.write(given)
                source.seek(0)
            out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115  (closed at the program's end)
            asked = {
                "argv": [str(each) for each in argv],
                "code": code,
                "cwd": str(Path.cwd()),
                "env": env or {**os.environ},
            }
            streams = [source.fileno(), (stdout or out).fileno(), err.fileno()]
            socket.send_fds(self._control, [json.dumps(asked).encode()], streams)
            return Program(self._control, json.loads(self._control.recv(MOST)), out, err)

    def run(self, *argv, **options):
        """Start a program and wait for its end."""
        return self.start(*argv, **options).finish()


def become(asked, streams):
    """Turn this process into the program that is asked for, and end with it."""
    status = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        sys.argv = ["stakes", *asked["argv"]]
        exec(compile(asked["code"], "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102  (the tests' own)
        sys.stdout.flush()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  (as the interpreter does)
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(status)


def serve(control):
    """Import what programs need, then fork for each that is asked for, until nobody asks."""
    warnings.filterwarnings("ignore", "Using fork")
    for name in LOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    while True:
        message, streams, *_ = socket.recv_fds(control, MOST, 3)
        if not message:
            return
        pid = os.fork()
        if pid == 0:
            control.close()
            become(json.loads(message), streams)
        for stream in streams:
            os.close(stream)
        control.send(json.dumps(pid).encode())
        control.send(json.dumps(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
