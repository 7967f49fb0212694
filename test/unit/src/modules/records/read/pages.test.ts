import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isoMicros, systemClock } from '#kernel/time.ts';
import { payloadContext, PayloadSealer } from '#modules/records/model/sealed-payload.ts';
import { streamKey } from '#modules/records/model/stream.ts';
import { createRecordReader } from '#modules/records/read/read-ahead.ts';
import type { PageQuery } from '#modules/records/read/reader.ts';
import { RecordModel } from '#test/support/judges/record-model.ts';
import { TestProjection } from '#test/support/worlds/projection.ts';
import {
  counted,
  idsOf,
  pageOf,
  question,
  storeOfFile,
  walk,
} from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();

describe('pages of records', () => {
  it('have the fields of the contract', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    const changes = [model.save('a', { name: 'Ada' }), model.save('b'), model.save('c')];
    changes.push(model.save('b', { name: 'Bo' }), model.delete('a'), model.prune('c'));
    await projection.publish(model, changes);
    const { records, next_cursor: next } = await pageOf(projection.reader, question(model));
    const times = (id: string) => {
      const { firstSeenAt, modifiedAt } = model.records.get(id)!;
      return { first_seen_at: isoMicros(firstSeenAt), last_modified_at: isoMicros(modifiedAt) };
    };
    const cursor = expect.stringMatching(/^[A-Za-z0-9+/]{32}$/) as string;
    const [a, c] = [model.records.get('a')!, model.records.get('c')!];
    expect(next).toBeNull();
    expect(records).toEqual([
      {
        id: 'c',
        _svc_metadata: {
          ...times('c'),
          last_action: 'ADDED',
          deleted_at: null,
          pruned_at: isoMicros(c.prunedAt!),
          cursor,
        },
      },
      {
        id: 'b',
        name: 'Bo',
        _svc_metadata: { ...times('b'), last_action: 'UPDATED', deleted_at: null, cursor },
      },
      {
        id: 'a',
        name: 'Ada',
        _svc_metadata: {
          ...times('a'),
          last_action: 'DELETED',
          deleted_at: isoMicros(a.deletedAt!),
          cursor,
        },
      },
    ]);
  });

  it('have their own times, however the seconds of first and last modification alternate', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    const saved = (n: number) => {
      // Two of them are 64 s apart, the next ones in other minutes.
      model.at += 32_000_000;
      return model.save(`r${n % 60}`, { n });
    };
    const changes = Array.from({ length: 90 }, (_, n) => saved(n));
    await projection.publish(model, changes);
    const { records } = await pageOf(projection.reader, question(model));
    const expected = model.ordered().map(({ held: { firstSeenAt, modifiedAt } }) => ({
      first_seen_at: isoMicros(firstSeenAt),
      last_modified_at: isoMicros(modifiedAt),
    }));
    expect(records.map(({ _svc_metadata: metadata }) => metadata)).toMatchObject(expected);
  });

  it('cover everything once with every limit', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    const changes = Array.from({ length: 23 }, (_, n) => model.save(`r${n}`));
    changes.push(...[3, 7, 22].map((n) => model.save(`r${n}`, { again: n })));
    await projection.publish(model, changes);
    const expected = idsOf(model.ordered());
    for (let limit = 1; limit <= 25; limit++) {
      expect(idsOf(await walk(projection.reader, question(model, { limit })))).toEqual(expected);
    }
  });

  it('cover streams longer than a chunk, also where pages lie across chunks', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await projection.publish(
      model,
      Array.from({ length: 12_345 }, (_, n) => model.save(`r${n}`)),
    );
    const expected = idsOf(model.ordered());
    for (const limit of [100, 999, 1000, 4999, 10_000]) {
      expect(idsOf(await walk(projection.reader, question(model, { limit })))).toEqual(expected);
    }
    const watched = counted(projection.source);
    const reader = createRecordReader(watched.source, systemClock);
    await walk(reader, question(model, { limit: 100 }));
    // 124 pages: the first, seven chunks of 2,000, and the last.
    expect(watched.slices()).toBeLessThan(15);
  });

  it('are filtered by action, time and id, all conditions together', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    const changes = Array.from({ length: 40 }, (_, n) => model.save(`r${n}`));
    for (let n = 0; n < 40; n += 3) changes.push(model.save(`r${n}`, { n }));
    for (let n = 0; n < 40; n += 4) changes.push(model.delete(`r${n}`));
    await projection.publish(model, changes);
    const ordered = model.ordered();
    const actionOf = ({ held }: (typeof ordered)[number]) =>
      held.deletedAt !== null
        ? 'DELETED'
        : held.firstSeenAt === held.modifiedAt
          ? 'ADDED'
          : 'UPDATED';
    const check = async (
      query: Partial<PageQuery>,
      holds: (record: (typeof ordered)[number]) => boolean,
    ) => {
      const expected = idsOf(ordered.filter(holds));
      for (const limit of [1, 4, 100]) {
        const found = await walk(projection.reader, question(model, { ...query, limit }));
        expect(idsOf(found)).toEqual(expected);
      }
    };
    const sets = [['ADDED'], ['UPDATED'], ['DELETED'], ['UPDATED', 'DELETED']] as const;
    for (const actions of sets) {
      await check({ actions }, (one) => (actions as readonly string[]).includes(actionOf(one)));
    }
    const middle = ordered[20]!;
    const from = middle.held.modifiedAt;
    await check({ modifiedAfter: isoMicros(from) }, ({ held }) => held.modifiedAt >= from);
    await check({ modifiedAfter: isoMicros(from + 1) }, ({ held }) => held.modifiedAt > from);
    await check({ modifiedAfter: isoMicros(model.at + 1) }, () => false);
    const ids = ['r1', 'r8', 'r9', 'unknown', 'r1'];
    await check({ ids }, ({ id }) => ids.includes(id));
    await check(
      { ids, actions: ['DELETED'], modifiedAfter: isoMicros(ordered[0]!.held.modifiedAt) },
      ({ id, held }) => ids.includes(id) && held.deletedAt !== null,
    );
    const all = await pageOf(projection.reader, question(model));
    const cursor = all.records[10]!._svc_metadata.cursor;
    const later = await walk(
      projection.reader,
      question(model, { cursor, modifiedAfter: isoMicros(from) }),
    );
    expect(idsOf(later)).toEqual(
      idsOf(ordered.slice(11).filter(({ held }) => held.modifiedAt >= from)),
    );
  });

  it('skip dead segments and find times in a long stream', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    const round = (n: number) =>
      Array.from({ length: 9_000 }, (_, id) => model.save(`r${id}`, { n }));
    await projection.publish(model, [...round(1), ...round(2), ...round(3)]);
    const ordered = model.ordered();
    expect(idsOf(await walk(projection.reader, question(model, { limit: 5000 })))).toEqual(
      idsOf(ordered),
    );
    const { held } = ordered[7_000]!;
    const query = question(model, { modifiedAfter: isoMicros(held.modifiedAt), limit: 5000 });
    expect(idsOf(await walk(projection.reader, query))).toEqual(idsOf(ordered.slice(7_000)));
  });

  it('return ids as strings, also where a payload has a number', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    const numeric = { ...model.save('42'), payload: Buffer.from('{"id":42,"of":{"id":7}}') };
    const signed = { ...model.save('-0.5'), payload: Buffer.from('{"id":-0.5}') };
    const text = { ...model.save('007'), payload: Buffer.from('{"of":{"id":7},"id":"007"}') };
    const nested = { ...model.save('7'), payload: Buffer.from('{"of":{"id":7},"id":"7"}') };
    const odd = {
      ...model.save('-"\\'),
      payload: Buffer.from('{"id":"-\\"\\\\","t":"\\t\\u0000"}'),
    };
    const bare = { ...model.save('x'), payload: Buffer.from('{}') };
    await projection.publish(model, [numeric, signed, text, nested, odd, bare]);
    const { records } = await pageOf(projection.reader, question(model));
    expect(records.map(({ _svc_metadata: _, ...fields }) => fields)).toEqual([
      { id: '42', of: { id: 7 } },
      { id: '-0.5' },
      { id: '007', of: { id: 7 } },
      { id: '7', of: { id: 7 } },
      { id: '-"\\', t: '\t\0' },
      {},
    ]);
  });

  it('are empty for an unknown model, and know nothing of other streams', async () => {
    const [model, other] = [new RecordModel(), new RecordModel('Contact', 'other-uid')];
    await using projection = await TestProjection.open(store);
    await projection.publish(model, [model.save('a')]);
    await projection.publish(other, [other.save('b')]);
    const unknown = new RecordModel('Nothing');
    const page = await pageOf(projection.reader, question(unknown));
    expect(page).toEqual({ records: [], next_cursor: null });
    expect(idsOf((await pageOf(projection.reader, question(other))).records)).toEqual(['b']);
    const counts = await projection.reader.counts([model.stream, unknown.stream]);
    expect([...counts]).toEqual([
      ['Contact', 1],
      ['Nothing', 0],
    ]);
  });

  it('refuse a cursor and a time that are none', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await expect(
      projection.reader.page(question(model, { cursor: 'bm9uc2Vuc2U=' })),
    ).rejects.toMatchObject({ code: 'invalid_cursor_value' });
    await expect(
      projection.reader.page(question(model, { modifiedAfter: 'yesterday' })),
    ).rejects.toMatchObject({ code: 'invalid_query_params' });
  });

  it('take a cursor of another generation by its time: they may repeat, never skip', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await projection.publish(model, [model.save('a'), model.save('b')]);
    const { records } = await pageOf(projection.reader, question(model));
    const cursor = records[1]!._svc_metadata.cursor;
    model.generation = 'generation-2';
    await projection.publish(model, [model.save('c')]);
    const later = await walk(projection.reader, question(model, { cursor }));
    expect(idsOf(later)).toEqual(['b', 'c']);
    expect(await projection.reader.positionOf(model.stream, cursor)).toBeLessThanOrEqual(2);
    const fresh = later[0]!._svc_metadata.cursor;
    expect(await projection.reader.positionOf(model.stream, fresh)).toBe(2);
  });

  it('at the head ask no table', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await projection.publish(model, [model.save('a')]);
    const { records } = await pageOf(projection.reader, question(model));
    const cursor = records[0]!._svc_metadata.cursor;
    // Without its table any question would fail.
    await store.command('RENAME TABLE records TO moved');
    const page = await pageOf(projection.reader, question(model, { cursor }));
    expect(page).toEqual({ records: [], next_cursor: null });
    const after = isoMicros(model.at + 1);
    expect(
      (await pageOf(projection.reader, question(model, { modifiedAfter: after }))).records,
    ).toEqual([]);
    await store.command('RENAME TABLE moved TO records');
    await projection.publish(model, [model.save('b')]);
    expect(idsOf((await pageOf(projection.reader, question(model, { cursor }))).records)).toEqual([
      'b',
    ]);
  });
});

describe('sealed payloads', () => {
  const cipher = createAesGcm(randomBytes(32));
  const sealBytes = (_keyId: string, plain: Uint8Array, context: string): Buffer =>
    cipher.seal(plain, context);
  const sealer = new PayloadSealer({ sealBytes });

  it.each([
    {
      encoding: 'json+deflate+aes256gcm' as const,
      seal: (key: string, id: string, text: string) =>
        sealer.seal({ key, connectionUid: 'key-1' }, id, Buffer.from(text)),
    },
    {
      encoding: 'json+aes256gcm' as const,
      seal: (key: string, id: string, text: string) =>
        sealBytes('key-1', Buffer.from(text), payloadContext(key, id)),
    },
  ])('of $encoding are opened, and read like pruned ones without a key', async (form) => {
    const model = new RecordModel();
    const keys = new Set(['key-1']);
    const vault = {
      ready: (keyId: string) =>
        keys.has(keyId) ? Promise.resolve() : Promise.reject(new GatewayError('not_found')),
      openBytes: (_keyId: string, sealed: Uint8Array, context: string): Buffer =>
        cipher.open(sealed, context),
    };
    model.seal = (id, text) => {
      const payload = form.seal(streamKey(model.stream), id, text);
      return { keyId: 'key-1', payload, encoding: form.encoding };
    };
    await using projection = await TestProjection.open(store, undefined, { vault });
    const ids = Array.from({ length: 60 }, (_, i) => `a${i}`);
    await projection.publish(
      model,
      ids.map((id) => model.save(id, { name: `Ada ${id}` })),
    );
    const [found] = await store.queryRows<{ count: string }>(
      "SELECT countIf(position(payload, 'Ada a') > 0 OR position(tryBase64Decode(payload), 'Ada a') > 0) AS count FROM records",
    );
    expect(Number(found?.count)).toBe(0);
    const open = await pageOf(projection.reader, question(model));
    expect(open.records.map(({ id, name }) => [id, name])).toEqual(
      ids.map((id) => [id, `Ada ${id}`]),
    );
    keys.clear();
    const shut = await pageOf(projection.reader, question(model));
    expect(Object.keys(shut.records[0]!)).toEqual(['id', '_svc_metadata']);
  });

  it('are opened a stretch at a time; a key that is destroyed meanwhile opens no more', async () => {
    const model = new RecordModel();
    const keys = new Set(['key-1']);
    let asked = 0;
    const vault = {
      ready: (keyId: string) => {
        if (++asked === 2) keys.clear();
        return keys.has(keyId) ? Promise.resolve() : Promise.reject(new GatewayError('not_found'));
      },
      openBytes: (keyId: string, sealed: Uint8Array, context: string): Buffer => {
        if (!keys.has(keyId)) throw new GatewayError('invalid_credentials');
        return cipher.open(sealed, context);
      },
    };
    model.seal = (id, text) => {
      const owner = { key: streamKey(model.stream), connectionUid: 'key-1' };
      const payload = sealer.seal(owner, id, Buffer.from(text));
      return { keyId: 'key-1', payload, encoding: 'json+deflate+aes256gcm' };
    };
    await using projection = await TestProjection.open(store, undefined, { vault });
    const changes = Array.from({ length: 600 }, (_, n) => model.save(`a${n}`, { n }));
    await projection.publish(model, changes);
    const { records } = await pageOf(projection.reader, question(model, { limit: 600 }));
    const opened = records.filter((record) => 'n' in record);
    expect(idsOf(records)).toEqual(idsOf(model.ordered()));
    expect(opened.length).toBeGreaterThan(0);
    expect(opened).toEqual(records.slice(0, opened.length));
    expect(opened.length).toBeLessThan(600);
  });
});
