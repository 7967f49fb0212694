/** The kind of a message, which decides its headers (docs/reference/topics.md#headers). */
export type MessageKind = 'event' | 'tombstone' | 'record' | 'record-tombstone' | 'heartbeat';

interface HeaderSchema {
  readonly type: 'string';
  readonly description: string;
  readonly const?: string;
  readonly format?: string;
  readonly pattern?: string;
}

/** JSON Schema of the headers of a message. */
export interface HeadersSchema {
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, HeaderSchema>>;
}

const text = (description: string, more: Omit<HeaderSchema, 'type' | 'description'> = {}) =>
  ({ type: 'string', description, ...more }) as const;

const headers = {
  ce_specversion: text('Version of CloudEvents.', { const: '1.0' }),
  ce_id: text(
    'De-duplicate on it; event_id in a value that has one. Of version 8 on records, 5 on typed topics, 7 elsewhere.',
    { format: 'uuid' },
  ),
  ce_type: text('What happened, as type in the value. An open set: ignore unknown ones.', {
    pattern: '^svc\\.',
  }),
  ce_source: text('The connection, integration or environment that it happened to.', {
    format: 'uri-reference',
  }),
  ce_subject: text('The key of the message.'),
  ce_time: text('When it was decided: RFC 3339 with microseconds.', { format: 'date-time' }),
  ce_dataschema: text("The value's subject in the schema registry.", { format: 'uri' }),
  ce_correlationid: text('What belongs together: the run, or else the command at the beginning.'),
  ce_causationid: text('The command that it follows from; absent when none was needed.'),
  traceparent: text(
    'The trace that it belongs to (W3C Trace Context); a new one where nobody named one.',
    {
      pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
    },
  ),
  'content-type': text('Avro in registry framing.', { const: 'application/avro' }),
  'svc-stream': text('The stream: environment/connection uid/model/variant.'),
  'svc-seq': text('stream_seq as decimal digits.', { pattern: '^[1-9][0-9]*$' }),
} as const satisfies Record<string, HeaderSchema>;

type HeaderName = keyof typeof headers;

const required = ['ce_specversion', 'ce_id', 'ce_type', 'ce_source'] as const;
const described = ['ce_subject', 'ce_time', 'ce_correlationid', 'traceparent'] as const;
const stream = ['svc-stream', 'svc-seq'] as const;

const carried: Readonly<Record<MessageKind, readonly HeaderName[]>> = {
  event: [...required, ...described, 'ce_dataschema', 'content-type'],
  tombstone: [...required, ...described],
  // Only required headers, because more would cost more than the payloads of small records; a trace if it is recorded.
  record: [...required, 'content-type', ...stream],
  'record-tombstone': stream,
  heartbeat: ['content-type'],
};

const optional: Readonly<Record<MessageKind, readonly HeaderName[]>> = {
  event: ['ce_causationid'],
  tombstone: ['ce_causationid'],
  record: ['traceparent'],
  'record-tombstone': [],
  heartbeat: [],
};

/** The required and optional headers of messages of the kind; no others are allowed. */
export function headersSchema(kind: MessageKind): HeadersSchema {
  const names = [...carried[kind], ...optional[kind]];
  return {
    type: 'object',
    additionalProperties: false,
    required: carried[kind],
    properties: Object.fromEntries(names.map((name) => [name, headers[name]])),
  };
}
