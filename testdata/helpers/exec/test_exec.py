"""What snowglobe exec owes the command that it runs: node --test, pytest, and what a terminal does."""
import os
import pathlib
import pty
import signal
import subprocess
import sys
import time

import pytest

HERE = pathlib.Path(__file__).parent
PROGRAM = [os.environ["SNOWGLOBE"], "exec", "--"]
NODE = ["node", "--test", str(HERE / "world.test.mjs")]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / "world_test.py")]

signal.signal(signal.SIGINT, signal.default_int_handler)  # commands in a shell's background ignore it, and so would theirs


def run(command, stdin=b"", **environment):
    return subprocess.run(PROGRAM + command, input=stdin, capture_output=True, env={**os.environ, **environment}, timeout=120)


@pytest.mark.parametrize("command", [NODE, PYTEST], ids=["node", "pytest"])
@pytest.mark.parametrize("environment,code", [({}, 0), ({"EXPECTED_CHAIN": "another"}, 1)])
def test_ends_with_the_code_of_the_tests(command, environment, code):
    ended = run(command, **environment)
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert ended.stderr == b""


def test_ends_with_any_code():
    assert run([sys.executable, "-m", "pytest", "--no-such-flag"]).returncode == 4
    assert run([sys.executable, "-c", "import os; os.abort()"]).returncode == 128 + signal.SIGABRT


def test_leaves_bytes_as_they_are():
    noise = bytes(range(256)) * 5000
    copy = "import shutil, sys; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer); sys.stderr.buffer.write(bytes(range(256)))"
    ended = run([sys.executable, "-c", copy], stdin=noise)
    assert (ended.returncode, ended.stdout == noise, ended.stderr) == (0, True, bytes(range(256)))


@pytest.mark.parametrize("command", [NODE, PYTEST], ids=["node", "pytest"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_passes_a_signal_on(command, name, tmp_path):
    def end(command, mark):
        begun = tmp_path / mark
        tests = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **world, "BEGUN": str(begun)}, start_new_session=True)
        deadline = time.monotonic() + 60
        while not begun.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        tests.send_signal(getattr(signal, name))
        return tests.wait(timeout=50)

    world = {}
    beside = end(PROGRAM + command, "beside")
    world = {"SNOWGLOBE_RPC_URL": "http://127.0.0.1:1", "SNOWGLOBE_DATA_URL": "http://127.0.0.1:1"}  # the tests fail, and go on to the long one
    alone = end(command, "alone")
    assert beside == (alone if alone >= 0 else 128 - alone)
    assert beside != 0


def test_a_terminal_interrupts_once():
    """^C reaches everything in the foreground of a terminal, so it is not passed on a second time; and the command goes on if it likes."""
    count = """
import os, signal, time
got, seen = [], 0
signal.signal(signal.SIGINT, lambda *_: got.append(1))
print("ready", flush=True)
for _ in range(2):
    while len(got) == seen:
        time.sleep(0.05)
    time.sleep(1)
    before, seen = seen, len(got)
    print("interrupted", seen - before, flush=True)
"""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(PROGRAM[0], PROGRAM + [sys.executable, "-c", count])
    with os.fdopen(terminal, "r+b", buffering=0) as screen:
        for expected, answer in (("ready", b"\x03"), ("interrupted 1", b"\x03"), ("interrupted 1", b"")):
            line = b""
            while not line.endswith(b"\n"):
                line += screen.read(1)
            assert line.decode().replace("^C", "").strip() == expected
            screen.write(answer)
        assert os.waitpid(pid, 0)[1] == 0
