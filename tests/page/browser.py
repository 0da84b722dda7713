"""A browser without a window, and helpers for tests of a page in it."""

import os
import shutil
import sys
import time

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, where another Python runs the tests

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
except ImportError:
    webdriver = None

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


def why_not():
    """The reason why no browser can be used here; empty if one can."""
    if webdriver is None:
        return "python3-selenium is not installed"
    return "" if CHROMIUM and DRIVER else "chromium and chromedriver are not installed"


class Browser:
    def __init__(self, width=1400, height=900):
        options = Options()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1",
                         "--allow-file-access-from-files=false"):
            options.add_argument(argument)
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")  # it refuses to run as root with one
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.resize(width, height)

    def resize(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})

    def open(self, file, theme="light"):
        """Opens a page and waits until it is drawn."""
        self.driver.get(f"file://{file}?theme={theme}")
        for _ in range(600):
            if self.run("return 'ready' in document.documentElement.dataset"):
                return
            time.sleep(0.05)
        raise AssertionError(f"the page did not open: {self.log()}")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def log(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def press(self, *keys):
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()
        self.run("debubble.timeline.draw()")

    def pointer(self):
        return ActionChains(self.driver)

    def canvas(self):
        return self.driver.find_element("id", "timeline")

    def at(self, x, y):
        """A move to a point of the canvas."""
        size = self.canvas().size
        return self.pointer().move_to_element_with_offset(
            self.canvas(), round(x - size["width"] / 2), round(y - size["height"] / 2))

    def axis(self):
        return self.run("const a = debubble.timeline.axis; return [a.begin, a.end]")

    def answer(self):
        return self.run("return document.getElementById('answer').textContent")

    def close(self):
        self.driver.quit()
