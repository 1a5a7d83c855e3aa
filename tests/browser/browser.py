# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium, driven through chromedriver with nothing but the standard library."""
import base64, json, os, shutil, subprocess, sys, tempfile, time, urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--hide-scrollbars", "--window-size=1220,900"]


class Browser:
    def __init__(self, scripts=True):
        for tool in ("chromedriver", "chromium"):
            if not shutil.which(tool):
                print("no %s (scripts/install-deps browser)" % tool)
                sys.exit(77)
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self.profile = tempfile.mkdtemp(prefix="causeprof-browser.")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        port = None
        for line in self.driver.stdout:
            if "successfully on port" in line:
                port = line.split("on port")[1].strip(" .\n")
                break
        self.url = "http://127.0.0.1:%s" % port
        options = {"binary": shutil.which("chromium"),
                   "args": FLAGS + ["--user-data-dir=" + self.profile]}
        if not scripts:
            options["prefs"] = {"profile.managed_default_content_settings.javascript": 2}
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.url += "/session/" + answer["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method,
                                         headers={"Content-Type": "application/json"})
        with self.opener.open(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def open(self, path, query=""):
        self.call("POST", "/url", {"url": "file://" + os.path.abspath(path) + query})

    def run(self, script, *args):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def wait(self, script, *args):
        """The script ends by calling its last argument."""
        return self.call("POST", "/execute/async", {"script": script, "args": list(args)})

    def keys(self, text):
        """Real key presses; WebDriver's private characters name the special keys."""
        actions = []
        for c in text:
            actions += [{"type": "keyDown", "value": c}, {"type": "keyUp", "value": c}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def mouse(self, x, y, click=True):
        actions = [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "m", "actions": actions}]})

    def drag(self, x1, y1, x2, y2):
        move = lambda x, y, ms: {"type": "pointerMove", "duration": ms, "x": x, "y": y}
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "m", "actions": [
            move(x1, y1, 0), {"type": "pointerDown", "button": 0}, move(x2, y2, 50), {"type": "pointerUp", "button": 0}]}]})

    def media(self, **features):
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]}})

    def messages(self):
        return ["%s: %s" % (m["level"], m["message"])
                for m in self.call("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("GET", "/screenshot")))

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(10)
            time.sleep(0.2)
            shutil.rmtree(self.profile, ignore_errors=True)


class Checks:
    def __init__(self):
        self.failed = 0

    def check(self, what, ok, seen=""):
        print("%s %s%s" % ("ok  " if ok else "FAIL", what, "" if ok else ": " + str(seen)))
        self.failed += not ok

    def done(self):
        sys.exit(1 if self.failed else 0)
