import { expect, it } from 'vitest';
import type { RecordId } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { anOrigin, aStream, openRecordsWorld } from '#test/support/worlds/records.ts';

const stream = aStream();

it.each(['plain', 'sealed'] as const)(
  'a revert (%s) brings records back, each unless it has moved, and once',
  async (mode) => {
    await using world = await openRecordsWorld();
    world.payloadMode = mode;
    await using _owners = await world.startOwners();
    const { writer } = world;
    const [wrong, revert] = [anOrigin(), anOrigin({ runId: 'revert', actor: 'key:1' })];
    await writer.save(
      stream,
      wrong,
      ['a', 'b', 'c', 'd'].map((id) => ({ id, v: 2 })),
    );
    await writer.delete(stream, wrong, [{ id: 'd' }]);
    await writer.barrier(stream, wrong);
    const payload = (id: string) => JSON.stringify({ id, v: 1 });
    const former = [
      { id: 'a' as RecordId, expected: 1, payload: payload('a'), deletedAt: null },
      { id: 'b' as RecordId, expected: 2, payload: null, deletedAt: null },
      { id: 'c' as RecordId, expected: 1, payload: payload('c'), deletedAt: null },
      { id: 'd' as RecordId, expected: 5, payload: payload('d'), deletedAt: null },
      { id: 'never' as RecordId, expected: 1, payload: null, deletedAt: null },
    ];
    expect(await writer.revert(stream, revert, former)).toEqual(['c', 'never']);
    const read = await writer.lookup(stream, revert, ['a', 'b', 'c', 'd', 'never']);
    const stood = read.map(({ id, payload: kept, deletedAt }) => [
      id,
      kept['v'],
      deletedAt === null,
    ]);
    expect(stood).toEqual([
      ['a', 1, true],
      ['b', 2, false],
      ['c', 2, true],
      ['d', 1, true],
    ]);
    // Where they stand now they are what they are to be.
    const again = [{ id: 'a' as RecordId, expected: 6, payload: payload('a'), deletedAt: null }];
    expect(await writer.revert(stream, revert, again)).toEqual([]);
    expect((await writer.barrier(stream, revert)).counts).toEqual({
      added: 0,
      updated: 2,
      deleted: 1,
      unchanged: 1,
    });
    const changes = (await world.changes()).filter(({ run_id: run }) => run === 'revert');
    expect(
      changes.map(({ record_id: id, action, actor, version }) => [id, action, actor, version]),
    ).toEqual([
      ['a', 'updated', 'key:1', 2],
      ['b', 'deleted', 'key:1', 2],
      ['d', 'updated', 'key:1', 3],
    ]);
    const [first] = changes;
    expect(first?.payload_encoding).toBe(mode === 'plain' ? 'json' : 'json+deflate+aes256gcm');
    const plain = first?.payload == null ? '{}' : Buffer.from(first.payload).toString();
    if (mode === 'plain') expect(JSON.parse(plain) as JsonObject).toEqual({ id: 'a', v: 1 });
  },
);
