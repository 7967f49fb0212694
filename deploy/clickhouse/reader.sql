-- A user for dashboards, who reads one environment: run by an administrator, once for each. Put the uid of the environment without
-- its hyphens (svc environments, or GET /environments) in place of ENVIRONMENT, and a password.
-- The gateway must have made the views: run one query with svc sql before.

CREATE SETTINGS PROFILE IF NOT EXISTS svc_dashboard SETTINGS
    readonly = 2,
    max_execution_time = 60 MAX 60,
    max_concurrent_queries_for_user = 4 READONLY,
    max_memory_usage = 2000000000 MAX 2000000000,
    max_threads = 2 MAX 2;

CREATE USER IF NOT EXISTS dashboard_ENVIRONMENT IDENTIFIED WITH sha256_password BY 'change-me'
    SETTINGS PROFILE svc_dashboard
    DEFAULT DATABASE gateway_sql_ENVIRONMENT;

-- Nothing but the views, which read the tables with the rights of the gateway's user.
GRANT SELECT ON gateway_sql_ENVIRONMENT.* TO dashboard_ENVIRONMENT;
