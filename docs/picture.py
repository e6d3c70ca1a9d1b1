"""Draw the picture of the report on its page: `python docs/picture.py`, which needs Chromium."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURE = Path(__file__).parent / "report.png"
SIZE = (1280, 900)

with tempfile.TemporaryDirectory() as folder:
    report = Path(folder) / "report.html"
    subprocess.run([sys.executable, "-m", "stakes", "demo", "--report", report], check=True, capture_output=True)
    program = shutil.which("chromium") or shutil.which("google-chrome")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=5000"]
    size = f"--window-size={SIZE[0]},{SIZE[1]}"
    shot = [program, *flags, size, f"--screenshot={PICTURE}", report.as_uri()]
    subprocess.run(shot, check=True, capture_output=True)
