import os
import subprocess
import sys

from ._binary import find_binary


def main() -> int:
    """Runs the program in place of python -m snowglobe."""
    command = [find_binary(), *sys.argv[1:]]
    if sys.platform == "win32":
        return subprocess.run(command).returncode
    os.execv(command[0], command)


if __name__ == "__main__":
    sys.exit(main())
