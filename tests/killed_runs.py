"""Training runs in a process of their own: one killed and continued, beside one that was left alone."""

import json
import subprocess
import sys

# The library is imported once, before the fork; the killed run is a child, so that nothing of it lives on in memory.
HARNESS = """
import json, os, signal, sys

def die():
    os.kill(os.getpid(), signal.SIGKILL)

child = os.fork()
if child == 0:
    run(os.path.join(sys.argv[1], "killed"), kill=True)
    os._exit(0)
status = os.waitpid(child, 0)[1]
found = {
    "killed by": os.WTERMSIG(status),
    "resumed": run(os.path.join(sys.argv[1], "killed"), kill=False),
    "whole": run(os.path.join(sys.argv[1], "whole"), kill=False),
}
print(json.dumps(found))
"""


def killed_and_whole(program, folder):
    """Run `run(folder, kill)` of a program: killed, then again in the same folder, then in a folder of its own."""
    command = [sys.executable, "-W", "ignore", "-c", program + HARNESS, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["killed by"] == 9
    return found["resumed"], found["whole"]
