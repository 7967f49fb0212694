import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinKey } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { environmentByName } from '#modules/access/environments/queries.ts';
import {
  blankChange,
  recordsTopic,
  reservedKey,
  type RecordChange,
} from '#modules/records/model/events.ts';
import type { Message } from '#ports/event-log.ts';
import { codeOf, startApi, type Api } from '#test/support/worlds/api.ts';

let api: Api;
let environmentUid: string;
beforeAll(async () => {
  api = await startApi();
  environmentUid = environmentByName(api.services.control, 'dev')?.uid ?? '';
});
afterAll(() => api[Symbol.asyncDispose]());

const names = ['connection-1', 'Contact', 'base'] as const;
const keyOf = (recordId: string, environment = environmentUid) =>
  joinKey(environment, ...names, recordId);

async function changed(
  recordId: string,
  fields: Partial<RecordChange>,
  environment = environmentUid,
): Promise<Message> {
  const codec = await api.services.schemas.codec<RecordChange>(recordsTopic);
  const [connectionUid, model, variant] = names;
  const stream = { connection_uid: connectionUid, model, variant };
  const change = {
    ...blankChange,
    event_id: `e-${recordId}`,
    environment_id: environment,
    ...stream,
    record_id: recordId,
    ...fields,
  };
  return { key: keyOf(recordId, environment), value: codec.encode(change), headers: {} };
}
const tombstone = (key: string): Message => ({ key, value: null, headers: {} });

interface ChangesPage {
  readonly changes: readonly {
    readonly id: string | null;
    readonly record_id: string;
    readonly place: string;
  }[];
  readonly cursor: string;
}

const page = async (query: string): Promise<ChangesPage> =>
  (await api.call('GET', `/changes?${query}`)).body as ChangesPage;
const append = (...messages: Message[]) =>
  api.services.log.append([{ topic: recordsTopic, partition: 0, messages }]);

describe('the changes that a reader of the log gets', () => {
  it('leave out what a fenced owner wrote, also behind a cursor', async () => {
    const { cursor } = await page('from=end');
    await append(
      await changed('a', { owner_epoch: 7 }),
      await changed('stale', { owner_epoch: 6 }),
    );
    const first = await page(`cursor=${cursor}&limit=1`);
    expect(first.changes.map(({ record_id: id }) => id)).toEqual(['a']);
    expect(await page(`cursor=${first.cursor}`)).toMatchObject({ changes: [] });
    await append(await changed('late', { owner_epoch: 6 }), await changed('b', { owner_epoch: 7 }));
    const next = await page(`cursor=${first.cursor}`);
    expect(next.changes.map(({ record_id: id }) => id)).toEqual(['b']);
  });

  it('leave out the key of the filler, and other environments', async () => {
    const { cursor } = await page('from=end');
    await append(
      tombstone(reservedKey),
      await changed('foreign', {}, 'another-environment'),
      await changed('c', { owner_epoch: 7 }),
    );
    const { changes } = await page(`cursor=${cursor}`);
    expect(changes.map(({ record_id: id }) => id)).toEqual(['c']);
  });

  it('have a purge once, and a tombstone where the log has nothing else left', async () => {
    const { cursor } = await page('from=end');
    await append(
      await changed('d', { action: 'purged', owner_epoch: 7 }),
      tombstone(keyOf('d')),
      tombstone(keyOf('e')),
    );
    const { changes } = await page(`cursor=${cursor}`);
    expect(changes).toMatchObject([
      { id: 'e-d', action: 'purged', record_id: 'd', record: null },
      {
        id: null,
        action: 'purged',
        record_id: 'e',
        model: 'Contact',
        connection_id: null,
        connection_uid: names[0],
      },
    ]);
    // A tombstone of a deleted connection names none.
    const filtered = await page(`cursor=${cursor}&connection_id=other`);
    expect(filtered.changes).toEqual([]);
  });
});

describe('what a subscription refuses', () => {
  const refusal = async (method: string, path: string, body: object) =>
    codeOf(await api.call(method, path, { body }));

  it('is one more than an environment may have', async () => {
    for (let number = 0; number < limits.subscriptionsMax; number += 1) {
      const made = await api.call('PUT', `/subscriptions/s-${number}`, { body: {} });
      expect(made.status).toBe(200);
    }
    expect(await refusal('PUT', '/subscriptions/one-more', {})).toBe('400 resource_capped');
    expect(await refusal('PUT', '/subscriptions/s-0', {})).toBe('200 ');
  });

  it('is one more parked change than it may have', async () => {
    const count = limits.parkedChangesMax + 1;
    const names = Array.from({ length: count }, (_, number) => `p-${number}`);
    const { cursor } = await page('from=end');
    await append(...(await Promise.all(names.map((name) => changed(name, { owner_epoch: 7 })))));
    const { changes } = await page(`cursor=${cursor}`);
    const outcomes: string[] = [];
    for (const { place } of changes) {
      const body = { place, reason: 'A test.' };
      outcomes.push(await refusal('POST', '/subscriptions/s-0/parked', body));
    }
    expect(outcomes.slice(0, -1)).toEqual(Array(count - 1).fill('200 '));
    expect(outcomes.at(-1)).toBe('400 resource_capped');
  });
});

it('a stream of changes refuses a position that is too long', async () => {
  const headers = { 'last-event-id': 'x'.repeat(limits.changeCursorCharsMax + 1) };
  expect(codeOf(await api.call('GET', '/changes/stream', { headers }))).toBe('400 invalid_headers');
});
