/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '#api/routes.ts';
import type { Sent } from '#test/support/judges/access/row.ts';
import { served } from '#test/support/judges/access/table.ts';
import {
  ask,
  missing,
  openAccessWorld,
  withoutRequestId,
  type AccessWorld,
} from '#test/support/judges/access/world.ts';
import type { Answer } from '#test/support/processes/gateway.ts';

let world: AccessWorld;
beforeAll(async () => {
  world = await openAccessWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Every route that changes something in the name of a key. */
const changing = served.filter(({ endpoint, takes }) => {
  const isRoute = routes.some(({ method, path }) => `${method} ${path}` === endpoint);
  return (
    isRoute && !endpoint.startsWith('GET ') && (takes === 'environment' || takes === 'account')
  );
});

const keyFor = (takes: string): string =>
  takes === 'account' ? world.crm.gateway.accountKey : world.crm.gateway.key;

const sentWith = (sent: Sent, key: string): Sent => ({
  ...sent,
  headers: { ...sent.headers, 'idempotency-key': key },
});

/** Of the gate, before anything is done under the key. */
const isUnread = ({ body }: Answer): boolean =>
  ['invalid_body', 'invalid_query_params', 'invalid_headers'].includes(body?.error?.code as string);
/** Such an answer is forgotten: another try may succeed. */
const isPassing = ({ status }: Answer): boolean => status >= 500 || status === 424;
/** Each refusal names its own request. */
const seen = ({ status, body }: Answer) => ({ status, body: withoutRequestId(body) });

describe('a request with an Idempotency-Key', () => {
  it.each(changing)('is answered twice as once: $endpoint', async ({ endpoint, takes, call }) => {
    const key = keyFor(takes);
    const idempotencyKey = randomUUID();
    // What a row makes up again each time stands still here.
    const sent = call.send(call.on === 'present' ? world.present : missing());
    const again = () => ask(world, endpoint, sentWith(sent, idempotencyKey), key);
    const first = await again();
    const second = await again();
    expect(seen(second)).toEqual(seen(first));
    if (isUnread(first) || isPassing(first)) return;
    if (first.status < 400) expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const other =
      takes === 'account'
        ? ({ endpoint: 'POST /environments', body: { name: 'another' } } as const)
        : ({ endpoint: 'POST /connections/metadata', body: noMetadata } as const);
    const path = other.endpoint.split(' ')[1] ?? '';
    const refused = await ask(
      world,
      other.endpoint,
      sentWith({ path, body: other.body }, idempotencyKey),
      key,
    );
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { code: 'idempotency_conflict' } },
    });
  });

  it('runs once for all who send it at the same time', async () => {
    const idempotencyKey = randomUUID();
    const { connection } = world;
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        connection.action('echo', { n: idempotencyKey }, { 'idempotency-key': idempotencyKey }),
      ),
    );
    expect(answers.map(({ status, body }) => ({ status, body: body as unknown }))).toEqual(
      Array(5).fill({ status: 200, body: { n: idempotencyKey } }),
    );
    const replayed = answers.filter(({ headers }) => headers.has('idempotent-replayed'));
    expect(replayed).toHaveLength(4);
  });

  it('is done again where it failed in a way that may pass', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const fail = () =>
      world.connection.action('fail', { how: 'action-error', payload: { code: 'x' } }, headers);
    const [first, second] = [await fail(), await fail()];
    expect([first.status, second.status]).toEqual([424, 424]);
  });
});

const noMetadata = { connection_id: 'none', provider_config_key: 'crm', metadata: { a: 1 } };
