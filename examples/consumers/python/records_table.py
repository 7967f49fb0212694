"""Reads svc.records.v1 to its end and prints the table that it comes to, one row of JSON a line."""

import json
import os
import sys
import time
import uuid
from dataclasses import dataclass, field

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

HISTORY_SECONDS = 28 * 86_400


@dataclass
class Table:
    """The rows by their key, and what was met on the way."""

    rows: dict = field(default_factory=dict)
    met: dict = field(
        default_factory=lambda: {
            "changes": 0, "repeats": 0, "stale": 0, "tombstones": 0, "gaps": []
        }
    )
    seen: set = field(default_factory=set)
    epochs: dict = field(default_factory=dict)
    streams: dict = field(default_factory=dict)

    def tombstone(self, key):
        self.met["tombstones"] += 1
        self.rows.pop(key, None)

    def apply(self, partition, key, stream, change):
        if change["owner_epoch"] < self.epochs.get(partition, 0):
            self.met["stale"] += 1
            return
        self.epochs[partition] = change["owner_epoch"]
        if change["event_id"] in self.seen:
            self.met["repeats"] += 1
            return
        self.seen.add(change["event_id"])
        self.count(stream, change)
        self.met["changes"] += 1
        self.rows[key] = row_of(change)

    def count(self, stream, change):
        """A hole between young changes is a gap; between old ones it is compaction."""
        generation, seq = change["stream_generation"], change["stream_seq"]
        before = self.streams.get(stream)
        self.streams[stream] = (generation, seq)
        if before is None or before[0] != generation or seq == before[1] + 1:
            return
        if time.time() - change["occurred_at"].timestamp() < HISTORY_SECONDS:
            self.met["gaps"].append(f"{stream}: {before[1]} to {seq}")


def row_of(change):
    payload = change["payload"]
    is_plain = payload is not None and change["payload_encoding"] == "json"
    return {
        "model": change["model"],
        "id": change["record_id"],
        "isDeleted": change["action"] == "deleted",
        "record": json.loads(payload) if is_plain else None,
    }


def read_table(brokers, registry_url, topic):
    decode = AvroDeserializer(SchemaRegistryClient({"url": registry_url}))
    consumer = Consumer({
        "bootstrap.servers": brokers,
        "group.id": f"data.records-table.{uuid.uuid4()}",
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
    })
    partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in partitions])
    left, table = set(partitions), Table()
    while left:
        message = consumer.poll(30)
        if message is None:
            raise TimeoutError(f"nothing came of the partitions {sorted(left)}")
        error = message.error()
        if error is None:
            take(table, decode, message)
        elif error.code() == KafkaError._PARTITION_EOF:
            left.discard(message.partition())
        else:
            raise RuntimeError(error.str())
    consumer.close()
    return table


def take(table, decode, message):
    key = message.key().decode()
    if key == "-":
        return
    if message.value() is None:
        table.tombstone(key)
        return
    change = decode(message.value(), SerializationContext(message.topic(), MessageField.VALUE))
    stream = dict(message.headers())["svc-stream"].decode()
    table.apply(message.partition(), key, stream, change)


if __name__ == "__main__":
    found = read_table(
        os.environ.get("KAFKA_BROKERS", "localhost:9092"),
        os.environ.get("SCHEMA_REGISTRY_URL", "http://localhost:8081"),
        os.environ.get("TOPIC", "svc.records.v1"),
    )
    for name, row in found.rows.items():
        print(json.dumps({"key": name, **row}, ensure_ascii=False))
    print(json.dumps(found.met), file=sys.stderr)
