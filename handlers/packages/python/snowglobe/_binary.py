import os
import sys
import sysconfig
from pathlib import Path


def find_binary() -> str:
    """Path of the program: SNOWGLOBE_BINARY, or the one installed with this package."""
    named = os.environ.get("SNOWGLOBE_BINARY")
    if named:
        if not Path(named).is_file():
            raise FileNotFoundError(f"SNOWGLOBE_BINARY names {named}, which does not exist")
        return str(Path(named).resolve())
    name = "snowglobe.exe" if sys.platform == "win32" else "snowglobe"
    user = sysconfig.get_preferred_scheme("user") if hasattr(sysconfig, "get_preferred_scheme") else f"{os.name}_user"
    folders = [
        sysconfig.get_path("scripts"),  # in a virtual environment or system-wide
        sysconfig.get_path("scripts", scheme=user),
        Path(__file__).parent.parent / "bin",  # of pip install --target
    ]
    for folder in folders:
        path = Path(folder, name)
        if path.is_file():
            return str(path)
    tried = ", ".join(str(folder) for folder in folders)
    raise FileNotFoundError(f"there is no {name} in {tried}: install the wheel for this system and processor, or set SNOWGLOBE_BINARY to a program")
