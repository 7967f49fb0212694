import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Clock } from '#kernel/time.ts';
import type { RecordChange } from '#modules/records/model/events.ts';
import { PayloadOpener } from '#modules/records/model/sealed-payload.ts';
import { streamKey, type Stream } from '#modules/records/model/stream.ts';
import { SimulatedOwners } from '#test/support/fakes/simulated-owners.ts';
import { seeded, seedOfRun, type Random } from '#test/support/judges/random.ts';
import { dumpStores } from '#test/support/judges/records-dump.ts';
import { StreamModel } from '#test/support/judges/stream-model.ts';
import {
  anOrigin,
  aStream,
  openRecordsWorld,
  type RecordsWorld,
} from '#test/support/worlds/records.ts';

const first = seedOfRun();
const seeds = Array.from(
  { length: process.env['SVC_TEST_SEED'] === undefined ? 25 : 1 },
  (_, i) => first + i,
);

/** Goes on by fits and starts, and back at times. */
function jumpingClock(random: Random): Clock {
  let micros = Date.UTC(2026, 1, 1) * 1000;
  const tick = (): number => {
    micros += random.chance(2) ? -5_000_000 : random.int(4000);
    return micros;
  };
  return { now: () => Math.floor(tick() / 1000), nowMicros: tick };
}

/** One saver of one stream: run after run, judged by the model as it goes. */
async function saver(world: RecordsWorld, stream: Stream, random: Random): Promise<StreamModel> {
  const model = new StreamModel();
  const { writer } = world;
  for (let run = 1; run <= 4; run++) {
    const origin = anOrigin({ runId: `run-${run}` });
    model.startRun();
    const isPass = random.chance(60);
    const isRunPass = random.chance(40);
    if (isRunPass) {
      await writer.runPassStart(stream, origin, { isResumed: random.chance(50) });
      model.runPassStart();
    }
    if (isPass) {
      await writer.passStart(stream, origin);
      model.passStart();
    }
    for (let step = 0; step < 6; step++) {
      const calls = Array.from({ length: 1 + random.int(3) }, () => model.randomCall(random));
      // Not waited for one by one: they are decided in the order of the calls all the same.
      await Promise.all(calls.map(({ kind, records }) => writer[kind](stream, origin, records)));
      for (const { kind, records } of calls) model[kind](records);
      if (random.chance(15)) await prune(world, stream, model, random);
      if (random.chance(3)) {
        await world.log.withoutFaults(() => writer.empty(stream, 'system'));
        model.empty();
      }
    }
    const found = await writer.lookup(stream, origin, [...model.ids(), 'unknown']);
    expect(Object.fromEntries(found.map(({ id, payload }) => [id, payload]))).toEqual(
      model.payloads(),
    );
    if (isPass && random.chance(80)) {
      const { deletedKeys } = await writer.passEnd(stream, origin);
      expect(deletedKeys.sort()).toEqual(model.passEnd());
    }
    if (isRunPass && random.chance(80)) {
      const { deletedKeys } = await writer.runPassEnd(stream, origin);
      expect(deletedKeys.sort()).toEqual(model.runPassEnd());
    }
    const { counts, failures } = await writer.barrier(stream, origin, { hasSucceeded: true });
    expect(counts).toEqual(model.counts);
    expect(failures).toEqual([]);
  }
  return model;
}

async function prune(world: RecordsWorld, stream: Stream, model: StreamModel, random: Random) {
  const until = { position: Number.MAX_SAFE_INTEGER, limit: 1 + random.int(10) };
  const { count } = await world.log.withoutFaults(() =>
    world.writer.prune(stream, 'system', until),
  );
  expect(count).toBe(model.prune(until.limit));
}

/** Folds the topic of changes as a data team would, and finds fault with its order and numbers. */
function readStream(changes: readonly RecordChange[]) {
  const records = new Map<string, RecordChange>();
  let [seq, modifiedAt, epoch] = [0, 0, 0];
  for (const change of changes) {
    expect(change.stream_seq).toBe(++seq);
    expect(change.owner_epoch).toBeGreaterThanOrEqual(epoch);
    epoch = change.owner_epoch;
    const before = records.get(change.record_id);
    expect(change.version).toBe((before?.version ?? 0) + 1);
    if (change.position === change.stream_seq) {
      expect(change.last_modified_at).toBeGreaterThan(modifiedAt);
      modifiedAt = change.last_modified_at;
      expect(change.previous_position).toBe(before?.position ?? null);
    } else expect(change.position).toBe(before?.position);
    if (change.action === 'purged') records.delete(change.record_id);
    else records.set(change.record_id, change);
  }
  expect(new Set(changes.map((change) => change.event_id)).size).toBe(changes.length);
  expect(new Set(changes.map((change) => change.stream_generation)).size).toBeLessThanOrEqual(1);
  return records;
}

function toPayload(change: RecordChange, world: RecordsWorld): JsonObject {
  if (change.payload === null) return { id: change.record_id };
  const owner = { key: streamKeyOf(change), connectionUid: change.connection_uid };
  const { record_id: recordId, payload_encoding: encoding, payload: bytes } = change;
  const plain = new PayloadOpener(world.vault).open(owner, { recordId, encoding, bytes });
  return JSON.parse(plain.toString()) as JsonObject;
}

const streamKeyOf = (change: RecordChange): string =>
  `${change.environment_id}/${change.connection_uid}/${change.model}/${change.variant}`;

describe('owners that crash, are fenced and take over, over a log that fails', () => {
  it.each(seeds)(
    'lose no save, change nothing twice, number without holes: seed %i',
    async (seed) => {
      const random = seeded(seed);
      await using world = await openRecordsWorld({ clock: jumpingClock(random) });
      world.payloadMode = random.chance(30) ? 'sealed' : 'plain';
      world.log.fault = (kind) => {
        if (!random.chance(kind === 'append' ? 8 : 3)) return 'none';
        return random.pick(['unsure-written', 'unsure-lost'] as const);
      };
      const streams = ['Alpha', 'Beta', 'Gamma'].map((model) => aStream({ model }));
      let models: StreamModel[];
      {
        await using owners = new SimulatedOwners(world, random);
        await owners.start();
        const savers = streams.map((stream, i) => saver(world, stream, seeded(seed * 31 + i)));
        models = await Promise.all(savers);
      }

      const changes = await world.changes();
      for (const [i, stream] of streams.entries()) {
        const records = readStream(
          changes.filter((change) => streamKeyOf(change) === streamKey(stream)),
        );
        const states = [...records].map(([id, change]) => {
          const { deleted_at: deletedAt, pruned_at: prunedAt } = change;
          const payload = toPayload(change, world);
          return [id, { payload, isDeleted: deletedAt !== null, isPruned: prunedAt !== null }];
        });
        expect(Object.fromEntries(states)).toEqual(models[i]?.states());
      }
      await expectRestorable(world);
    },
  );
});

/** A store made from the log alone is the store that grew with it. */
async function expectRestorable(world: RecordsWorld): Promise<void> {
  world.log.fault = () => 'none';
  const { vault } = world;
  const empty = await mkdtemp(join(tmpdir(), 'svc-restored-'));
  try {
    for (const folder of [world.folder, empty]) {
      await using running = await world.startOwners({ folder });
      await world.writer.lookup(aStream({ model: 'Alpha' }), anOrigin({ runId: 'z' }), ['x']);
      await running.untilDeciding();
    }
    // Both have seen the same log but for the second's own look-up: their records are the same.
    expect(withoutHeads(dumpStores(empty, vault))).toEqual(
      withoutHeads(dumpStores(world.folder, vault)),
    );
  } finally {
    await rm(empty, { recursive: true, force: true });
  }
}

function withoutHeads(dumped: ReturnType<typeof dumpStores>) {
  return Object.values(dumped).map(({ records, payloads }) => ({ records, payloads }));
}
