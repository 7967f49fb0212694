-- Beside setup.sql, where SVC_CLICKHOUSE_CLUSTER=gateway is set. Run setup.sql on every node, or put
-- ON CLUSTER gateway into each of its statements when the users are kept in a replicated access storage.

-- Tables are made and dropped on all nodes of the cluster.
GRANT CLUSTER ON *.* TO svc;
