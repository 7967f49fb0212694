import { describe, expect, it } from 'vitest';
import {
  type PayloadSealing,
  type UnsealedPayloads,
  PayloadOpener,
} from '#modules/records/model/sealed-payload.ts';
import { streamKey } from '#modules/records/model/stream.ts';
import { PendingEncryption } from '#modules/records/owner/encryption.ts';
import { anOrigin, aStream, openRecordsWorld, sealHere } from '#test/support/worlds/records.ts';

const ownerOf = (name: string) => ({ key: name, connectionUid: name });

describe('payloads that are sealed together', () => {
  it('come back to their own changes, whichever group is sealed first', async () => {
    const answers: (() => void)[] = [];
    const asked: { readonly owner: string; readonly ids: readonly string[] }[] = [];
    const sealing: PayloadSealing = {
      begin: (owner) => (payloads: UnsealedPayloads) => {
        asked.push({ owner: owner.key, ids: payloads.ids });
        const { promise, resolve } = Promise.withResolvers<UnsealedPayloads>();
        answers.push(() => resolve(payloads));
        return promise;
      },
    };
    const sealings = new PendingEncryption(sealing);
    const got = new Map<string, string>();
    const add = (owner: string, id: string): void =>
      sealings.add(ownerOf(owner), id, Buffer.from(`${owner}/${id}`), (sealed) => {
        got.set(`${owner}/${id}`, Buffer.from(sealed).toString());
      });
    for (let at = 0; at < 300; at++) add('a', `r-${at}`);
    add('b', 'r-0');
    add('a', 'last');
    const finished = sealings.finish();
    expect(sealings.isUnderWay).toBe(false);
    expect(asked.map(({ owner, ids }) => [owner, ids.length])).toEqual([
      ['a', 250],
      ['a', 50],
      ['b', 1],
      ['a', 1],
    ]);
    for (const answer of answers.reverse()) answer();
    await finished;
    expect(got.size).toBe(302);
    expect([...got].every(([wanted, sealed]) => wanted === sealed)).toBe(true);
  });
});

describe('a partition whose sealing fails', () => {
  it('is acquired again, and decides what it had begun once', async () => {
    await using world = await openRecordsWorld();
    world.payloadMode = 'sealed';
    const stream = aStream();
    const origin = anOrigin();
    const real = sealHere(world.vault);
    let failures = 2;
    const sealing: PayloadSealing = {
      begin(owner) {
        const seal = real.begin(owner);
        return (payloads) =>
          failures-- > 0 ? Promise.reject(new Error('the thread is gone')) : seal(payloads);
      },
    };
    const records = Array.from({ length: 400 }, (_, at) => ({ id: `r-${at}`, v: at }));
    await world.writer.save(stream, origin, records);
    await using _owners = await world.startOwners({ sealing });
    const { counts } = await world.writer.barrier(stream, origin);
    expect(counts).toEqual({ added: 400, updated: 0, deleted: 0, unchanged: 0 });
    const opener = new PayloadOpener(world.vault);
    const { key, connectionUid } = { key: streamKey(stream), connectionUid: stream.connectionUid };
    const changes = await world.changes();
    expect(changes.map(({ stream_seq: seq }) => seq)).toEqual(records.map((_, at) => at + 1));
    const opened = changes.map(({ record_id: recordId, payload_encoding: encoding, payload }) =>
      opener.open({ key, connectionUid }, { recordId, encoding, bytes: payload! }).toString(),
    );
    expect(opened).toEqual(records.map((record) => JSON.stringify(record)));
  });
});
