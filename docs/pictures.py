"""Makes README's pictures: the roofline as SVG, and the page as a browser shows it. Needs the extras and Chromium.

python docs/pictures.py
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import mansard

IMAGES = Path(__file__).parent / "images"


def main() -> int:
    """Writes the pictures into docs/images."""
    IMAGES.mkdir(exist_ok=True)
    found = mansard.analyze("llama-3.1-8b", on="h100-sxm", batch=32)
    found.chart("roofline", along="batch").save(IMAGES / "roofline.svg")
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "mansard", "serve", "--port", "0", "--no-open"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        address = re.search(r"http://\S+", server.stderr.readline())
        assert address is not None
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 860})
            page.goto(f"{address[0]}#model=llama-3.1-8b&on=h100-sxm|mi300x&batch=32")
            page.wait_for_selector("#chart-view svg")
            page.wait_for_timeout(500)
            page.screenshot(path=IMAGES / "page.png")
            browser.close()
    finally:
        server.terminate()
        server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
