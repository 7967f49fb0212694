-- In addition to setup.sql, if SVC_CLICKHOUSE_CLUSTER=gateway is set. Run setup.sql on every node, or put
-- ON CLUSTER gateway into each of its statements if the users are in a replicated access storage.

-- Tables are created and dropped on all nodes of the cluster.
GRANT CLUSTER ON *.* TO svc;
