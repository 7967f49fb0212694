"""Keeps the current records of an environment in SQLite, from a subscription of the gateway."""

import json
import os
import sqlite3
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Optional

PAGE_SIZE = 1000
WAIT_SECONDS = 20
TRY_AGAIN_SECONDS = 1
TIMEOUT_SECONDS = 60


class Subscription:
    def __init__(self, url: str, key: str, name: str) -> None:
        self._path = f"{url}/subscriptions/{urllib.parse.quote(name, safe='')}"
        self._headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}

    def create(self) -> None:
        self._call("PUT", "", {"from": "start"})

    def changes(self, wait_seconds: int) -> Any:
        return self._call("GET", f"/changes?limit={PAGE_SIZE}&wait_s={wait_seconds}")

    def commit(self, cursor: str) -> None:
        self._call("POST", "/commit", {"cursor": cursor})

    def _call(self, method: str, path: str, body: Optional[dict[str, str]] = None) -> Any:
        """Each call may be repeated: a gateway that is away or busy is asked again."""
        data = None if body is None else json.dumps(body).encode()
        while True:
            request = urllib.request.Request(self._path + path, data, self._headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                    return json.loads(response.read() or b"null")
            except urllib.error.HTTPError as error:
                if error.code != 429 and error.code < 500:
                    raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()}") from None
            except (OSError, ValueError):
                pass
            time.sleep(TRY_AGAIN_SECONDS)


class RecordsTable:
    def __init__(self, file: str) -> None:
        self._database = sqlite3.connect(file)
        self._database.execute(
            """CREATE TABLE IF NOT EXISTS records (
            connection_uid TEXT, model TEXT, variant TEXT, record_id TEXT, connection_id TEXT, record TEXT,
            PRIMARY KEY (connection_uid, model, variant, record_id)) WITHOUT ROWID"""
        )

    def apply(self, changes: list[dict[str, Any]]) -> None:
        """All of them or none. What was applied before changes nothing."""
        with self._database:
            for change in changes:
                row = tuple(change[name] for name in ("connection_uid", "model", "variant", "record_id"))
                if change["action"] in ("deleted", "purged"):
                    self._database.execute(
                        "DELETE FROM records WHERE (connection_uid, model, variant, record_id) = (?, ?, ?, ?)",
                        row,
                    )
                else:
                    record = json.dumps(change["record"], ensure_ascii=False)
                    self._database.execute(
                        "REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?)",
                        (*row, change["connection_id"], record),
                    )


def main() -> None:
    is_once = "--once" in sys.argv
    subscription = Subscription(
        os.environ.get("SVC_URL", "http://127.0.0.1:3003"),
        os.environ.get("SVC_KEY", ""),
        os.environ.get("SUBSCRIPTION", "records-table"),
    )
    table = RecordsTable(os.environ.get("DATABASE", "records.db"))
    subscription.create()
    count = 0
    while True:
        page = subscription.changes(0 if is_once else WAIT_SECONDS)
        table.apply(page["changes"])
        subscription.commit(page["cursor"])
        count += len(page["changes"])
        if page["changes"]:
            print(f"{count} changes", flush=True)
        if is_once and not page["changes"] and not page["has_more"]:
            break


if __name__ == "__main__":
    main()
