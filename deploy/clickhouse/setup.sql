-- Run once by an administrator: clickhouse-client --multiquery < setup.sql
-- Then: SVC_CLICKHOUSE_URL=https://svc:<password, percent-encoded>@<host>:8443/gateway

CREATE DATABASE IF NOT EXISTS gateway;

-- One page reads a few thousand rows; a rebuild and its checks read a table partition by partition.
CREATE SETTINGS PROFILE IF NOT EXISTS svc SETTINGS
    max_memory_usage = 8000000000,
    max_threads = 4;

CREATE USER IF NOT EXISTS svc IDENTIFIED WITH sha256_password BY 'change-me' SETTINGS PROFILE svc;

-- The gateway creates, fills, cleans and drops its own tables, in this database only.
GRANT SELECT, INSERT, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW, OPTIMIZE,
    ALTER DELETE, ALTER ADD COLUMN, ALTER ADD INDEX, ALTER MATERIALIZE INDEX, ALTER SETTINGS
    ON gateway.* TO svc;
-- The views that `POST /sql` and people read: a database of views alone for each environment.
GRANT SELECT, CREATE DATABASE, DROP DATABASE, CREATE VIEW, DROP VIEW ON gateway_sql_*.* TO svc;
GRANT SELECT ON system.databases TO svc;
GRANT SELECT ON system.tables TO svc;
GRANT SELECT ON system.settings TO svc;
GRANT SELECT ON system.merge_tree_settings TO svc;
GRANT SELECT ON system.clusters TO svc;

-- For operators who look at the internal tables of all environments: read-only, with limits that protect the gateway.
-- People and dashboards of one environment: reader.sql.
CREATE SETTINGS PROFILE IF NOT EXISTS svc_reader SETTINGS
    readonly = 2,
    max_execution_time = 60,
    max_concurrent_queries_for_user = 10,
    max_memory_usage = 4000000000;
CREATE ROLE IF NOT EXISTS svc_reader SETTINGS PROFILE svc_reader;
GRANT SELECT ON gateway.* TO svc_reader;
