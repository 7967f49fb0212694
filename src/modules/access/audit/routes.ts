import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { checkQuery } from '#http/check-parts.ts';
import type { AnyRoute } from '#http/define-route.ts';
import { text, wholeNumber } from '#http/fields.ts';
import { representation } from '#http/representation.ts';
import { json, content, data, timestamp } from '#http/responses.ts';
import type { StreamCall, StreamRoute } from '#http/stream-route.ts';
import type { ChainedEntry } from '#kernel/audit-chain.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { microsOf, isoMicros } from '#kernel/time.ts';
import { defineRoute, type AccessServices } from '../services.ts';
import {
  actorNames,
  chainsOf,
  findEvents,
  type AuditPlace,
  chainFrom,
  type AuditRow,
} from './queries.ts';

/** An event for people. */
const event = representation<
  ChainedEntry & { readonly hash: string; readonly actorName: string | null }
>()({
  environment: z.string().describe('UUID of the environment, or `account`.'),
  seq: z.int().describe('Number of the event in its chain, from 1.'),
  at: [timestamp, ({ occurred_at: at }) => isoMicros(at)],
  actor: z.string().meta({ examples: ['key:0198c1a2-7d30-7000-8000-000000000001'] }),
  actor_name: z
    .string()
    .nullable()
    .meta({
      description:
        'Name and e-mail address of the person, or name of the key, as it is now; null where unknown.',
      examples: ['Ada Lovelace <ada@example.com>'],
    }),
  action: z
    .string()
    .meta({ description: 'The action, as noun and verb.', examples: ['api_key.create'] }),
  target: z.string().describe('What the action was about.'),
  outcome: z
    .string()
    .meta({ description: '`success`, or the code of the error.', examples: ['success'] }),
  ip_prefix: [
    z
      .string()
      .nullable()
      .describe('Network of the client: /24 of IPv4, /48 of IPv6; null where unknown.'),
    ({ ip_prefix: prefix }) => prefix,
  ],
  details: [
    z.looseObject({}).nullable().describe('Further facts of the action; null without any.'),
    ({ details }) => (details === null ? null : (JSON.parse(details) as JsonObject)),
  ],
  chain_hash: [
    z.string().describe('Hash of the event and of the one before it.'),
    ({ hash }) => hash,
  ],
});

const presentEvent = (row: AuditRow, actorName: string | null) =>
  event.of({ ...entryOf(row), hash: row.chain_hash, actorName });

const eventsShape = z.strictObject({
  data: z.array(event.schema.meta({ id: 'AuditEvent' })),
  next_cursor: z.string().nullable(),
});

const chainsShape = data(
  z.array(
    z.strictObject({
      environment: z.string().describe('UUID of the environment, or `account`.'),
      name: z.string().nullable().describe('Name of the environment; null for the account.'),
      length: z.int().describe('Number of events in the chain.'),
      hash: z.string().describe('Hash of the last event, in hexadecimal.'),
    }),
  ),
);

/** An event of the chain: the input of `chainHash`, and the hash. */
const exportedEvent = (row: AuditRow): ChainedEntry & { readonly chain_hash: string } => ({
  ...entryOf(row),
  chain_hash: row.chain_hash,
});

const entryOf = (row: AuditRow): ChainedEntry => ({
  seq: Number(row.seq),
  environment: row.environment_id,
  occurred_at: Number(row.happened),
  actor: row.actor,
  action: row.action,
  target: row.target,
  outcome: row.outcome,
  ip_prefix: row.ip_prefix,
  details: row.details,
});

const pageSize = 5_000;
/** How long an export waits for events that the table does not have yet. */
const waitMs = 10_000;
const pollMs = 50;

const query = z.strictObject({
  environment: text(1, 255).describe('UUID of the environment, or `account`.'),
  from: wholeNumber(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Number of the first event, from 1.'),
  limit: wholeNumber(1, 1_000_000_000).optional(),
});

/** Every event of a chain in order, as NDJSON: the input of the chain hashes. */
export const auditExportRoute: StreamRoute<AccessServices> = {
  prefix: '/audit/export',
  path: '/audit/export',
  methods: ['GET'],
  credential: 'account',
  scopes: ['account:audit:read'],
  summary: 'Export a chain of the audit.',
  description: 'One event a line, in order, for verification.',
  query,
  headers: z.object({}),
  answers: { 200: content('One event a line.', 'application/x-ndjson') },
  errors: ['invalid_query_params'],
  async handle(call) {
    const request = checkQuery(query, call.target.split('?', 2)[1] ?? '');
    const { environment, from = 1, limit = Infinity } = request;
    await send(call, { environment, from, limit });
  },
};

async function send(
  { services, response, begin, signal }: StreamCall<AccessServices>,
  { environment, from, limit }: { environment: string; from: number; limit: number },
): Promise<void> {
  await services.control.view.caughtUp();
  const end = chainsOf(services.control.view).find((one) => one.environment === environment);
  const deadline = performance.now() + waitMs;
  /** The owner counts an event before the table has it: an export without its end would look cut off. */
  const pageFrom = async (seq: number, left: number): Promise<AuditRow[]> => {
    for (;;) {
      const rows = await chainFrom(services, environment, seq, Math.min(pageSize, left));
      const last = Number(rows.at(-1)?.seq ?? seq - 1);
      const isWhole = rows.length >= Math.min(pageSize, left) || last >= (end?.length ?? 0);
      if (isWhole || signal.aborted || performance.now() > deadline) return rows;
      await wait(pollMs);
    }
  };
  let left = limit;
  let page = await pageFrom(from, left);
  begin(200, ['content-type', 'application/x-ndjson']);
  while (page.length > 0 && !signal.aborted) {
    const lines = page.map((row) => `${JSON.stringify(exportedEvent(row))}\n`).join('');
    if (!response.write(lines)) await once(response, 'drain', { signal });
    left -= page.length;
    const next = Number(page.at(-1)?.seq ?? 0) + 1;
    page = page.length < pageSize || left === 0 ? [] : await pageFrom(next, left);
  }
  response.end();
}

const pageSizeDefault = 100;
const word = text(1, 1_000).optional();
const timeQuery = z.iso.datetime({ offset: true }).optional();

const list = defineRoute({
  method: 'GET',
  path: '/audit',
  credential: 'account',
  scopes: ['account:audit:read'],
  summary: 'List events of the audit, newest first.',
  description: 'Each with its actor, action, target, network and outcome.',
  query: z.strictObject({
    environment: word.describe('Only events of this environment: its UUID, or `account`.'),
    actor: word,
    action: word.describe('Only events of this action, such as `api_key.create`.'),
    target: word.describe('Only events about this target.'),
    outcome: word.describe('Only events with this outcome: `success`, or the code of an error.'),
    from: timeQuery.describe('Only events from this time on (RFC 3339).'),
    to: timeQuery.describe('Only events up to this time (RFC 3339).'),
    cursor: word,
    limit: wholeNumber(1, 1000).default(pageSizeDefault),
  }),
  answers: { 200: json('A page of events.', eventsShape) },
  errors: ['invalid_cursor_value'],
  async handle({ query, services }) {
    const { cursor, limit, from, to, ...wanted } = query;
    const filter = { ...wanted, from: micros(from), to: micros(to) };
    const before = cursor === undefined ? null : auditPositionOf(cursor);
    const rows = await findEvents(services, filter, { before, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    const next =
      last && cursorOf({ at: +last.happened, environment: last.environment_id, seq: +last.seq });
    const nameOf = actorNames(services.control);
    const events = page.map((row) => presentEvent(row, nameOf(row.actor)));
    return { status: 200, body: { data: events, next_cursor: next ?? null } };
  },
});

const chains = defineRoute({
  method: 'GET',
  path: '/audit/chains',
  credential: 'account',
  scopes: ['account:audit:read'],
  summary: 'List the chains of the audit.',
  description: 'With their length and last hash, against which an export is verified.',
  answers: { 200: json('The chains.', chainsShape) },
  errors: [],
  async handle({ services: { control } }) {
    await control.view.caughtUp();
    return { status: 200, body: { data: chainsOf(control.view) } };
  },
});

const micros = (input: string | undefined): number | undefined => {
  if (input === undefined) return undefined;
  return Math.max(0, microsOf(input) ?? 0);
};

const positionShape = z.tuple([z.int().min(0), z.string().max(255), z.int().min(0)]);

const cursorOf = ({ at, environment, seq }: AuditPlace): string =>
  Buffer.from(JSON.stringify([at, environment, seq])).toString('base64url');

/** @throws GatewayError `invalid_cursor_value` */
function auditPositionOf(cursor: string): AuditPlace {
  const parsed = positionShape.safeParse(jsonOf(Buffer.from(cursor, 'base64url').toString()));
  if (!parsed.success) throw new GatewayError('invalid_cursor_value');
  const [at, environment, seq] = parsed.data;
  return { at, environment, seq };
}

function jsonOf(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch (cause) {
    throw new GatewayError('invalid_cursor_value', {}, { cause });
  }
}

export const auditRoutes: readonly AnyRoute[] = [list, chains];
