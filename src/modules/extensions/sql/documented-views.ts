/** A view as callers see it. */
export interface DocumentedView {
  readonly name: string;
  readonly description: string;
  /** In their order; docs/sql.md lists the same. */
  readonly columns: readonly (readonly [name: string, type: string, description: string])[];
}

export const documentedViews: readonly DocumentedView[] = [
  {
    name: 'v_records',
    description: 'The current state of each record, also of deleted ones until they are purged.',
    columns: [
      ['integration', 'String', 'unique key of the integration'],
      ['connection_id', 'String', 'id of the connection'],
      ['model', 'String', 'name of the model'],
      ['variant', 'String', 'variant of the sync; base for all others'],
      ['record_id', 'String', 'id of the record'],
      ['action', 'String', 'last action: added, updated or deleted'],
      ['seq', 'UInt64', 'number of the last change in its stream'],
      [
        'position',
        'UInt64',
        'number of the last modification in its stream, the order of GET /records',
      ],
      [
        'payload',
        'Nullable(String)',
        'the record as JSON; null once pruned, and where it is sealed',
      ],
      ['is_sealed', 'Bool', 'whether the payload is sealed'],
      ['first_seen_at', "DateTime64(6, 'UTC')", 'time of its first save'],
      ['last_modified_at', "DateTime64(6, 'UTC')", 'time of its last modification'],
      [
        'deleted_at',
        "Nullable(DateTime64(6, 'UTC'))",
        'time of its deletion; null where it is not deleted',
      ],
      [
        'pruned_at',
        "Nullable(DateTime64(6, 'UTC'))",
        'time at which its payload was removed; null before',
      ],
    ],
  },
  {
    name: 'v_record_history',
    description:
      'The changes of each record for 28 days, and the last one of each record for ever. Their payloads are in GET /records/history.',
    columns: [
      ['integration', 'String', 'unique key of the integration'],
      ['connection_id', 'String', 'id of the connection'],
      ['model', 'String', 'name of the model'],
      ['variant', 'String', 'variant of the sync'],
      ['record_id', 'String', 'id of the record'],
      ['action', 'String', 'added, updated, deleted or purged'],
      ['seq', 'UInt64', 'number of the change in its stream'],
      ['position', 'UInt64', 'position of the record after it'],
      ['last_modified_at', "DateTime64(6, 'UTC')", 'time of the last modification'],
      ['is_pruned', 'Bool', 'whether the payload had been removed'],
    ],
  },
  {
    name: 'v_changes',
    description:
      'The same changes by their place on the topic svc.records.v1. GET /changes has them with payload.',
    columns: [
      ['integration', 'String', 'unique key of the integration'],
      ['connection_id', 'String', 'id of the connection'],
      ['model', 'String', 'name of the model'],
      ['variant', 'String', 'variant of the sync'],
      ['log_partition', 'UInt16', 'partition of the topic'],
      ['log_offset', 'Int64', 'offset in it'],
      ['record_id', 'String', 'id of the record'],
      ['action', 'String', 'added, updated, deleted or purged'],
      ['seq', 'UInt64', 'number of the change in its stream'],
      ['position', 'UInt64', 'position of the record after it'],
      ['last_modified_at', "DateTime64(6, 'UTC')", 'time of the last modification'],
    ],
  },
  {
    name: 'v_runs',
    description: 'One row for each run of a function, for 90 days.',
    columns: [
      ['run_id', 'String', 'id of the run'],
      ['kind', 'String', 'sync, action, on-event, webhook or revert'],
      ['function', 'String', 'name of the function'],
      ['integration', 'String', 'unique key of the integration'],
      ['connection_id', 'String', 'id of the connection; empty where there is none'],
      ['variant', 'String', 'variant of the sync'],
      [
        'status',
        'String',
        'queued, started, or its end: succeeded, failed, cancelled, timed_out, interrupted',
      ],
      ['attempts', 'UInt32', 'number of attempts'],
      ['trigger', 'Nullable(String)', 'cause of the run: creation, start, schedule or api'],
      ['queued_at', "DateTime64(6, 'UTC')", 'time of its first step'],
      ['started_at', "Nullable(DateTime64(6, 'UTC'))", 'start of the first attempt'],
      ['ended_at', "Nullable(DateTime64(6, 'UTC'))", 'time of its end'],
      [
        'duration_ms',
        'Nullable(UInt64)',
        'milliseconds from the start of the first attempt to the end',
      ],
      ['error_code', 'Nullable(String)', 'code of the failure'],
      ['error_message', 'Nullable(String)', 'the same in words'],
      ['added', 'UInt64', 'number of records that it added, of all models'],
      ['updated', 'UInt64', 'number of records that it updated'],
      ['deleted', 'UInt64', 'number of records that it deleted'],
    ],
  },
  {
    name: 'v_webhook_attempts',
    description: 'One row for each attempt to deliver a webhook to the application, for 15 days.',
    columns: [
      ['attempted_at', "DateTime64(6, 'UTC')", 'time of the end of the attempt'],
      ['message_id', 'String', 'id of the message, the same in every attempt'],
      ['endpoint', 'String', 'primary, secondary, connection, or the id of a webhook endpoint'],
      ['kind', 'String', 'kind of the webhook, such as sync'],
      ['integration', 'String', 'unique key of the integration; empty where there is none'],
      ['connection_id', 'String', 'id of the connection; empty where there is none'],
      ['run_id', 'String', 'id of the run; empty where there is none'],
      ['attempt', 'UInt32', 'number of the attempt, from 1'],
      ['outcome', 'String', 'delivered, retried, failed or cancelled'],
      ['origin', 'String', 'origin of the address; its path may hold a secret and is left out'],
      ['status', 'Nullable(UInt16)', 'HTTP status of the response; null without one'],
      ['duration_ms', 'Nullable(Float64)', 'milliseconds that the attempt took'],
      ['error_code', 'Nullable(String)', 'why there was no response'],
    ],
  },
  {
    name: 'v_provider_calls',
    description:
      'The requests to providers that the log of operations has, for 15 days: those of the proxy, and those of functions. A request that a function makes is logged at its level: logs.',
    columns: [
      ['called_at', "DateTime64(6, 'UTC')", 'time of the end of the request'],
      ['operation_id', 'String', 'operation of the log, of a run the id of the run'],
      ['integration', 'String', 'unique key of the integration'],
      ['connection_id', 'String', 'id of the connection'],
      ['function', 'String', 'name of the function; empty for the proxy'],
      ['run_id', 'String', 'id of the run; empty for the proxy'],
      ['method', 'String', 'HTTP method'],
      ['url', 'String', 'address as the log has it'],
      ['status', 'Nullable(UInt16)', 'HTTP status of the response; null without one'],
      ['duration_ms', 'Nullable(Float64)', 'milliseconds that the request took'],
      ['error_code', 'Nullable(String)', 'why there was no response'],
    ],
  },
  {
    name: 'v_projection_failures',
    description: 'The records that a projection of the project could not map.',
    columns: [
      ['projection', 'String', 'name of the projection'],
      ['integration', 'String', 'unique key of the integration'],
      ['connection_id', 'String', 'id of the connection'],
      ['model', 'String', 'name of the model'],
      ['variant', 'String', 'variant of the sync'],
      ['record_id', 'String', 'id of the record'],
      ['last_modified_at', "DateTime64(6, 'UTC')", 'time of the change that was not mapped'],
      ['error', 'String', 'what the mapping threw, or what is wrong'],
    ],
  },
];
