-- The records topic as a table in a ClickHouse of your own, read by ClickHouse itself. The gateway's own
-- tables are internal and change with its releases.
-- Put your brokers, registry and topic in the settings of records_queue.

CREATE TABLE records_queue
(
    event_id String,
    environment_id String,
    integration Nullable(String),
    connection_id Nullable(String),
    connection_uid String,
    model String,
    variant String,
    record_id String,
    action String,
    owner_epoch Int64,
    payload Nullable(String),
    payload_encoding String,
    first_seen_at DateTime64(6, 'UTC'),
    last_modified_at DateTime64(6, 'UTC'),
    deleted_at Nullable(DateTime64(6, 'UTC'))
)
ENGINE = Kafka
SETTINGS
    kafka_broker_list = 'localhost:9092',
    kafka_topic_list = 'svc.records.v1',
    kafka_group_name = 'data.clickhouse.records',
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = 'http://localhost:8081',
    kafka_num_consumers = 1,
    -- An unreadable message becomes a row with _error and stops nothing. A tombstone is such a row, with an empty message.
    kafka_handle_error_mode = 'stream';

-- Redelivered messages change nothing: the highest version of a key stays. A message later in its partition is later,
-- unless its writer has a lower epoch, because it had lost the partition.
CREATE TABLE records
(
    environment_id String,
    connection_uid String,
    model LowCardinality(String),
    variant LowCardinality(String),
    record_id String,
    integration Nullable(String),
    connection_id Nullable(String),
    action LowCardinality(String),
    payload Nullable(String) CODEC(ZSTD(1)),
    payload_encoding LowCardinality(String),
    first_seen_at DateTime64(6, 'UTC'),
    last_modified_at DateTime64(6, 'UTC'),
    deleted_at Nullable(DateTime64(6, 'UTC')),
    version UInt64,
    is_gone UInt8
)
ENGINE = ReplacingMergeTree(version, is_gone)
ORDER BY (environment_id, connection_uid, model, variant, record_id);

-- Every tombstone follows a change with the action purged, which identifies the row and removes it.
CREATE MATERIALIZED VIEW records_writer TO records AS
SELECT
    environment_id, connection_uid, model, variant, record_id, integration, connection_id, action, payload,
    payload_encoding, first_seen_at, last_modified_at, deleted_at,
    bitShiftLeft(toUInt64(owner_epoch), 44) + _offset AS version,
    action = 'purged' AS is_gone
FROM records_queue
WHERE length(_error) = 0;

CREATE TABLE records_errors
(
    at DateTime DEFAULT now(),
    topic String,
    partition UInt64,
    offset UInt64,
    key String,
    error String,
    message String
)
ENGINE = MergeTree
ORDER BY at
TTL at + INTERVAL 30 DAY;

CREATE MATERIALIZED VIEW records_errors_writer TO records_errors AS
SELECT
    _topic AS topic, _partition AS partition, _offset AS offset, _key AS key, _error AS error,
    _raw_message AS message
FROM records_queue
WHERE length(_error) > 0 AND length(_raw_message) > 0;

CREATE VIEW records_live AS
SELECT * EXCEPT (version, is_gone) FROM records FINAL WHERE deleted_at IS NULL;
