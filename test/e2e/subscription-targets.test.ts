/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any answer, and expect.any() is anything */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyDelivery } from '#rules/signature.ts';
import type { Received } from '#test/support/fakes/webhook-receiver.ts';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';
import type { SeenChange } from '#test/support/worlds/on-change.ts';

let world: SharedCrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  crm = await world.connect();
});
afterAll(() => world[Symbol.asyncDispose]());

const contact = (id: string, name = id) => ({ id, name });
const call = (method: string, path: string, body?: unknown) =>
  world.gateway.call(method, `/subscriptions${path}`, body === undefined ? {} : { body });
const create = async (name: string, more: object) => {
  const url = `${world.receiver.url}/${name}?token=secret`;
  const target = { type: 'webhook', url, ...more };
  return succeeded(await call('PUT', `/${name}`, { model: 'Contact', from: 'end', target })).data;
};

async function save(...list: ReturnType<typeof contact>[]): Promise<void> {
  crm.account.contacts = list;
  expect(await crm.run('contacts')).toMatchObject({ success: true });
}

interface Posted {
  readonly id: string;
  readonly subscription: string;
  readonly changes: readonly SeenChange[];
}

const bodyOf = ({ body }: Received): Posted => JSON.parse(body) as Posted;
const requestsOf = (name: string): Received[] =>
  world.receiver.received.filter(({ path }) => path.startsWith(`/${name}?`));
const idsOf = (requests: readonly Received[]): string[] =>
  requests.flatMap((one) => bodyOf(one).changes.map(({ record_id: id }) => id));

describe('a subscription with an address', () => {
  it('gets signed batches of changes, in order', async () => {
    const made = await create('mirror', { batch_size: 2 });
    expect(made.target).toEqual({
      type: 'webhook',
      url: `${world.receiver.url}/…`,
      payload: 'records',
      batch_size: 2,
      retries: 4,
    });
    await save(contact('a'), contact('b'), contact('c'));
    const requests = await eventually(
      () => Promise.resolve(requestsOf('mirror')),
      (all) => idsOf(all).length >= 3,
    );
    expect(idsOf(requests)).toEqual(['a', 'b', 'c']);
    for (const { headers, body } of requests) {
      const signature = headers['x-svc-hmac-sha256']?.toString();
      expect(verifyDelivery(world.signingKey, body, signature)).toBe(true);
      expect(headers['webhook-id']).toBe(bodyOf({ path: '', headers, body }).id);
    }
    expect(bodyOf(requests[0]!)).toMatchObject({
      subscription: 'mirror',
      changes: [{ action: 'added', record: { id: 'a' } }, { action: 'added' }],
    });
  });

  it('sends a batch again under the same id until it is taken', async () => {
    await create('away', { payload: 'ids' });
    world.receiver.answer = ({ path }, count) =>
      path.startsWith('/away') && count < 3 ? 503 : 200;
    await save(contact('a', 'A'), contact('b'), contact('c'));
    const requests = await eventually(
      () => Promise.resolve(requestsOf('away')),
      (all) => all.length >= 3,
    );
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(bodyOf(requests[0]!).changes).toEqual([expect.not.objectContaining({ record: {} })]);
    const shown = await eventually(
      async () => succeeded(await call('GET', '/away')).data,
      ({ failing }) => failing === 0,
    );
    expect(shown).toMatchObject({ parked: 0 });
  });

  it('parks the change that is refused, and delivers it after a fix', async () => {
    await create('picky', { retries: 0 });
    const refusing = ({ path, body }: Received) =>
      path.startsWith('/picky') && body.includes('"record_id":"bad"') ? 422 : 200;
    world.receiver.answer = refusing;
    await save(...['p1', 'bad', 'p2', 'p3'].map((id) => contact(id)));
    const taken = () => requestsOf('picky').filter((one) => refusing(one) === 200);
    await eventually(
      () => Promise.resolve(idsOf(taken())),
      (ids) => ['p1', 'p2', 'p3'].every((id) => ids.includes(id)),
    );
    const [parked] = succeeded(await call('GET', '/picky/parked')).data;
    expect(parked).toMatchObject({ reason: 'The address answered 422.', replaying: false });
    world.receiver.answer = () => 200;
    succeeded(await call('POST', `/picky/parked/${parked.place}/replay`));
    await eventually(
      async () => succeeded(await call('GET', '/picky/parked')).data,
      (left) => left.length === 0,
    );
    expect(idsOf(requestsOf('picky').slice(-1))).toEqual(['bad']);
  });

  it('gets another address under the same filter, and cannot become one that is read', async () => {
    const moved = await create('picky', { retries: 1, payload: 'ids' });
    expect(moved.target).toMatchObject({ retries: 1, payload: 'ids' });
    const read = await call('PUT', '/picky', { model: 'Contact' });
    expect(read).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    const target = { type: 'webhook', url: 'ftp://example.com' };
    const wrong = await call('PUT', '/other', { target });
    expect(wrong).toMatchObject({ status: 400, body: { error: { code: 'invalid_body' } } });
    expect(await call('POST', '/warehouse/parked/0-0/replay')).toMatchObject({ status: 404 });
    succeeded(await call('DELETE', '/picky'));
  });

  it('waits where the address may not be reached', async () => {
    const target = { type: 'webhook', url: 'http://10.1.2.3/hook' };
    succeeded(await call('PUT', '/inside', { model: 'Contact', from: 'start', target }));
    const waiting = await eventually(
      async () => succeeded(await call('GET', '/inside')).data,
      ({ failing }) => failing > 0,
    );
    expect(waiting).toMatchObject({ parked: 0, committed_at: null });
  });
});
