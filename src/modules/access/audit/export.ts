import { once } from 'node:events';
import { z } from 'zod';
import { checkQuery } from '#http/check-parts.ts';
import { text, wholeNumber } from '#http/fields.ts';
import { content } from '#http/responses.ts';
import type { StreamCall, StreamRoute } from '#http/stream-route.ts';
import type { AccessServices } from '../services.ts';
import { exportedEvent } from './presenter.ts';
import { chainFrom } from './queries.ts';

const pageSize = 5_000;

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
  const pageFrom = (seq: number, left: number) =>
    chainFrom(services, environment, seq, Math.min(pageSize, left));
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
