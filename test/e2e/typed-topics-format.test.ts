import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messagesShown, type TypedMessage } from '#test/support/judges/typed-topic.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const topic = 'svc.cdc.dev.crm.contact.v1';
const path = '/typed-topics/crm/Contact';

let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openCrmWorld();
  crm = await world.connect();
});
afterAll(() => world[Symbol.asyncDispose]());

async function save(...contacts: { id: string; name: string }[]): Promise<void> {
  crm.account.contacts = contacts;
  expect(await crm.run('contacts')).toMatchObject({ success: true });
}

/** The messages of a record, as soon as there are so many. */
async function messagesOf(id: string, count: number): Promise<TypedMessage[]> {
  const of = ({ messages }: { messages: readonly TypedMessage[] }) =>
    messages.filter(({ key }) => key.includes(`"id":"${id}"`));
  const fits = (found: { messages: readonly TypedMessage[] }) => of(found).length >= count;
  return of(await eventually(shown, fits));
}

/** The topic exists a moment after the opt-in. */
const shown = () =>
  messagesShown(world.gateway, topic).catch(() => ({ partitions: 0, messages: [] }));

const isIncremental = ({ value }: TypedMessage): boolean =>
  value?.source.snapshot === 'incremental';

const put = (query: string) => world.gateway.call('PUT', `${path}${query}`);

describe('a typed topic with old rows and structured keys', () => {
  it('has the row before each update, the first after the opt-in too', async () => {
    await save({ id: 'a', name: 'first' }, { id: 'b', name: 'B' });
    expect(succeeded(await put('?before=true&ts_ns=true&key=struct'))).toMatchObject({
      data: { before: true, ts_ns: true, key: 'struct' },
    });
    await messagesOf('a', 1);
    await save({ id: 'a', name: 'second' }, { id: 'b', name: 'B' });
    await save({ id: 'a', name: 'third' }, { id: 'b', name: 'B' });
    const found = await messagesOf('a', 3);
    const steps = found.map(({ value }) => [
      value?.op,
      value?.before?.['name'] ?? null,
      value?.after?.['name'],
    ]);
    expect(steps).toEqual([
      ['r', null, 'first'],
      ['u', 'first', 'second'],
      ['u', 'second', 'third'],
    ]);
  });

  it('reads the old rows from the log after a restart', async () => {
    await world.restart();
    await save({ id: 'a', name: 'third' }, { id: 'b', name: 'after the restart' });
    const update = (await messagesOf('b', 2)).at(-1);
    expect(update?.value).toMatchObject({
      op: 'u',
      before: { id: 'b', name: 'B', _deleted: false },
      after: { name: 'after the restart' },
    });
  });

  it('names each time in three units', async () => {
    const [{ value }] = (await messagesOf('a', 1)) as [TypedMessage];
    for (const { ts_ms: ms, ts_us: us, ts_ns: ns } of [value!, value!.source]) {
      expect(Math.floor(us / 1000)).toBe(ms);
      expect(ns).toBe(`${us}000`);
    }
  });

  it('has keys with their schema, and the same key for the tombstone of a delete', async () => {
    await save({ id: 'a', name: 'third' });
    const found = await messagesOf('b', 4);
    expect(found.slice(-2).map(({ value }) => value?.op ?? 'tombstone')).toEqual([
      'd',
      'tombstone',
    ]);
    expect(new Set(found.map(({ key }) => key)).size).toBe(1);
    expect(JSON.parse(found[0]!.key)).toMatchObject({
      schema: { type: 'struct', name: 'svc.cdc.dev.crm.contact.Key' },
      payload: { _variant: 'base', id: 'b' },
    });
  });

  it('publishes the latest state of each record once more on request, while records change', async () => {
    const people = (name: string) => ['a', 's', 't'].map((id) => ({ id, name: `${name} ${id}` }));
    await save(...people('before'));
    const named = (name: string) => put(`?before=true&ts_ns=true&key=struct&snapshot=${name}`);
    const incremental = async (count: number) => {
      const fits = ({ messages }: { messages: readonly TypedMessage[] }) =>
        messages.filter(isIncremental).length >= count;
      return (await eventually(shown, fits)).messages;
    };
    const [answer] = await Promise.all([named('one'), save(...people('meanwhile'))]);
    expect(succeeded(answer)).toMatchObject({ data: { snapshot: 'one' } });
    const first = await incremental(4);
    const ops = first.filter(isIncremental).map(({ value }) => value?.op);
    expect(ops.toSorted()).toEqual(['d', 'r', 'r', 'r']);
    succeeded(await named('one'));
    await save(...people('after'));
    succeeded(await named('two'));
    const second = await incremental(8);
    expect(second.filter(isIncremental)).toHaveLength(8);
    for (const id of ['a', 's', 't']) {
      const of = second.filter(({ key, value }) => key.includes(`"id":"${id}"`) && value !== null);
      const seqs = of.map(({ value }) => value!.source.seq);
      expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
      expect(of.at(-1)?.value?.after).toMatchObject({ name: `after ${id}` });
      expect(new Set(of.map(({ headers }) => headers['ce_id'])).size).toBe(of.length);
    }
  });

  it('keeps its format: another is refused, and named', async () => {
    for (const [query, words] of [
      ['', /keys are structures/],
      ['?key=struct', /written with old rows and with nanoseconds/],
    ] as const) {
      const answer = await put(query);
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
      expect(JSON.stringify(answer.body)).toMatch(words);
    }
    expect(await put('?key=number')).toMatchObject({ status: 400 });
    succeeded(await put('?before=true&ts_ns=true&key=struct'));
    succeeded(await world.gateway.call('DELETE', path));
    expect((await put('?before=true')).status).toBe(409);
    expect(succeeded(await put('?key=struct'))).toMatchObject({ data: { before: false } });
  });
});
