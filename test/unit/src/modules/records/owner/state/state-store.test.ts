import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecordState } from '#modules/records/model/decider.ts';
import { createAtRestEncryption, type KeptPayload } from '#modules/records/owner/encryption.ts';
import { unreadable } from '#modules/records/owner/state/payload-block.ts';
import { StateStore, type Progress } from '#modules/records/owner/state/state-store.ts';
import { seeded, seedOfRun, type Random } from '#test/support/judges/random.ts';
import { memoryVault } from '#test/support/worlds/records.ts';

const progress: Progress = {
  changes: 1,
  heads: 2,
  command: 3,
  changesEpoch: 4,
  headsEpoch: 5,
  lastModifiedAt: 6,
  atEndAt: 7,
};

const stateAt = (position: number, more: Partial<RecordState> = {}): RecordState => ({
  hash: position.toString(16).padStart(32, '0'),
  position,
  version: 1,
  firstSeenAt: 1000 + position,
  modifiedAt: 1000 + position,
  deletedAt: null,
  prunedAt: null,
  ...more,
});

const payloadOf = (position: number): KeptPayload => ({
  bytes: Buffer.from(JSON.stringify({ id: `id-${position}`, name: 'a name that comes again' })),
  encoding: 'json',
});

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-state-store-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});
const vault = memoryVault();
const open = () =>
  new StateStore(join(folder, 'records.db'), 'a log', createAtRestEncryption(vault));

describe('a state store', () => {
  it('gives states back as they were put', () => {
    using store = open();
    const no = store.addStream('s');
    const states = {
      fresh: stateAt(1),
      modified: stateAt(2, { firstSeenAt: 7, version: 3 }),
      deleted: stateAt(3, { deletedAt: 9, prunedAt: 11 }),
    };
    for (const [id, state] of Object.entries(states)) store.put(no, id, state);
    const found = store.states(no, [...Object.keys(states), 'unknown']);
    expect(Object.fromEntries(found)).toEqual(states);
  });

  it('keeps what was committed and nothing else', () => {
    {
      using store = open();
      const no = store.addStream('s');
      store.put(no, 'a', stateAt(1));
      store.putPayload(no, 1, 'a', payloadOf(1));
      store.commit(progress);
      store.put(no, 'b', stateAt(2));
      store.putPayload(no, 2, 'b', payloadOf(2));
      store.removePayload(no, 1);
    }
    using store = open();
    const no = store.stream('s')?.no ?? 0;
    expect(store.progress()).toEqual(progress);
    expect([...store.states(no, ['a', 'b']).keys()]).toEqual(['a']);
    expect(store.payloads(no, [1, 2])).toEqual(new Map([[1, payloadOf(1)]]));
    expect(store.placed(no, 0, 10, 10)).toEqual([{ position: 1, id: 'a' }]);
  });

  it('gives memory back between two writes of a commit', () => {
    using store = open();
    const no = store.addStream('s');
    store.put(no, 'a', stateAt(1));
    store.commit(progress);
    store.put(no, 'b', stateAt(2));
    store.shrink();
    expect(Object.fromEntries(store.states(no, ['a', 'b']))).toEqual({
      a: stateAt(1),
      b: stateAt(2),
    });
    store.commit(progress);
    expect(store.states(no, ['b']).get('b')).toEqual(stateAt(2));
  });

  it('takes a part back, whether it has read or not', () => {
    using store = open();
    const no = store.addStream('s');
    store.put(no, 'a', stateAt(1));
    store.putPayload(no, 1, 'a', payloadOf(1));
    for (const isReading of [false, true]) {
      store.savepoint();
      store.put(no, 'a', stateAt(2, { version: 2 }));
      store.putPayload(no, 2, 'a', payloadOf(2));
      store.removePayload(no, 1);
      if (isReading) {
        expect(store.states(no, ['a']).get('a')?.position).toBe(2);
        expect([...store.payloads(no, [1, 2]).keys()]).toEqual([2]);
      }
      store.undo();
      expect(store.states(no, ['a']).get('a')).toEqual(stateAt(1));
      expect(store.placed(no, 0, 10, 10)).toEqual([{ position: 1, id: 'a' }]);
    }
  });

  it('does not open a file of another form', () => {
    open()[Symbol.dispose]();
    const db = new DatabaseSync(join(folder, 'records.db'));
    db.exec('PRAGMA user_version=1');
    db.close();
    rmSync(join(folder, 'records.db-crc'));
    expect(open).toThrow('another form');
  });
});

type Model = Map<number, { readonly id: string; readonly payload: KeptPayload }>;

/** The store beside plain maps, one per stream, through what a partition does to it. */
class Walk {
  readonly random: Random;
  store = open();
  streams: Model[] = [new Map() as Model, new Map() as Model];
  #committed: Model[] = [];
  readonly #numbers: number[];
  readonly #next: number[];

  constructor(random: Random) {
    this.random = random;
    this.#numbers = this.streams.map((_, at) => this.store.addStream(`stream-${at}`));
    this.#next = this.streams.map(() => 1);
    this.commit();
  }

  commit(): void {
    this.store.commit(progress);
    this.#committed = this.streams.map((model) => new Map(model));
  }

  reopen(): void {
    this.store[Symbol.dispose]();
    this.store = open();
    this.streams = this.#committed.map((model) => new Map(model));
  }

  /** Writes and reads, in a part that is sometimes taken back. */
  part(): void {
    const { random } = this;
    const before = this.streams.map((model) => new Map(model));
    this.store.savepoint();
    for (let steps = random.int(4); steps >= 0; steps--) {
      this.write();
      if (random.chance(40)) this.read();
    }
    if (random.chance(75)) this.store.keep();
    else {
      this.store.undo();
      this.streams = before;
    }
  }

  write(): void {
    const { random } = this;
    const at = random.int(this.streams.length);
    const count = random.pick([1, 1, 3, 20, 100, 700]);
    const kind = random.int(10);
    if (kind < 4) for (let n = 0; n < count; n++) this.#put(at, this.#nextOf(at));
    else if (kind < 7) for (const position of this.#some(at, count)) this.#remove(at, position);
    else if (kind < 8) for (const position of this.#some(at, count)) this.#put(at, position, true);
    // A place that is given back, or was never taken: the log has it out of order after compaction.
    else if (kind < 9) {
      for (let n = 0; n < count / 4; n++) this.#put(at, 1 + random.int(this.#next[at] ?? 1));
    } else for (let n = 0; n < 3; n++) this.#remove(at, random.int(this.#next[at] ?? 1));
  }

  read(): void {
    const { random, store } = this;
    const at = random.int(this.streams.length);
    const model = this.#model(at);
    const no = this.#numbers[at] ?? 0;
    const end = this.#next[at] ?? 1;
    const positions = [...this.#some(at, random.int(50)), random.int(end), end + 5];
    const wanted = new Map(positions.flatMap((p) => (model.has(p) ? [[p, model.get(p)]] : [])));
    const found = store.payloads(no, positions);
    expect(new Set(found.keys())).toEqual(new Set(wanted.keys()));
    for (const [position, payload] of found) expectSame(payload, model.get(position)?.payload);
    const from = random.int(end);
    const through = random.chance(30) ? Number.MAX_SAFE_INTEGER : from + random.int(400);
    const limit = random.pick([0, 1, 10, 5000]);
    const all = [...model]
      .filter(([position]) => position >= from && position <= through)
      .sort(([a], [b]) => a - b);
    const places = (some: typeof all) =>
      some.slice(0, limit).map(([position, { id }]) => ({ position, id }));
    expect(store.placed(no, from, through, limit)).toEqual(places(all));
    const withPayload = all.filter(([, { payload }]) => payload.bytes !== null);
    expect(store.placedWithPayload(no, from, through, limit)).toEqual(places(withPayload));
  }

  readAll(): void {
    for (const [at, model] of this.streams.entries()) {
      const no = this.#numbers[at] ?? 0;
      const placed = this.store.placed(no, 0, Number.MAX_SAFE_INTEGER, Infinity);
      expect(placed).toEqual(
        [...model].sort(([a], [b]) => a - b).map(([position, { id }]) => ({ position, id })),
      );
      const found = this.store.payloads(no, [...model.keys()]);
      for (const [position, { payload }] of model) expectSame(found.get(position), payload);
    }
  }

  #model(at: number): Model {
    return this.streams[at] ?? (new Map() as Model);
  }

  #nextOf(at: number): number {
    const next = this.#next[at] ?? 1;
    this.#next[at] = next + (this.random.chance(10) ? 1 + this.random.int(300) : 1);
    return next;
  }

  /** Places that are taken, neighbors or not. */
  #some(at: number, count: number): number[] {
    const places = [...this.#model(at).keys()];
    if (this.random.chance(50)) {
      const from = this.random.int(places.length + 1);
      return places.slice(from, from + count);
    }
    return places.length === 0
      ? []
      : [...new Set(Array.from({ length: count }, () => this.random.pick(places)))];
  }

  #put(at: number, position: number, isPruned = false): void {
    const { random } = this;
    const id = random.chance(5) ? `é-${position}` : `id-${position}`;
    const size = random.chance(1) ? random.int(80_000) : random.int(60);
    const bytes = isPruned ? null : Buffer.from(JSON.stringify({ id, text: 'x'.repeat(size) }));
    const encoding = random.pick(['json', 'secret', 'json+deflate+aes256gcm'] as const);
    const payload = { bytes, encoding: bytes === null ? 'none' : encoding } as const;
    this.store.putPayload(this.#numbers[at] ?? 0, position, id, payload);
    this.#model(at).set(position, { id, payload });
  }

  #remove(at: number, position: number): void {
    this.store.removePayload(this.#numbers[at] ?? 0, position);
    this.#model(at).delete(position);
  }
}

/** `toEqual` takes long for many bytes. */
function expectSame(found: KeptPayload | undefined, wanted: KeptPayload | undefined): void {
  expect(found?.encoding).toBe(wanted?.encoding);
  const [one, other] = [found, wanted].map((payload) => payload?.bytes ?? null);
  if (one == null || other == null) expect(one).toBe(other);
  else expect(Buffer.compare(one, other)).toBe(0);
}

describe('secrets in a state store', () => {
  const secretOf = (position: number): KeptPayload => ({
    bytes: Buffer.from(JSON.stringify({ id: `id-${position}`, name: `canary ${position}` })),
    encoding: 'secret',
  });
  const positions = Array.from({ length: 100 }, (_, i) => i + 1);

  it('stand nowhere in its files, and are there after it was opened again', () => {
    {
      using store = open();
      const no = store.addStream('env/conn/Contact/base');
      for (const position of positions)
        store.putPayload(no, position, `id-${position}`, secretOf(position));
      store.commit(progress);
      const files = ['', '-wal'].map((end) => readFileSync(store.file + end));
      for (const file of files) expect(file.includes('canary')).toBe(false);
    }
    using again = open();
    const found = again.payloads(1, [1, 50]);
    expect([...found.values()].map(({ bytes }) => String(bytes))).toEqual([
      '{"id":"id-1","name":"canary 1"}',
      '{"id":"id-50","name":"canary 50"}',
    ]);
  });

  it('are lost with the key of their connection alone, and what is beside them can still change', async () => {
    using store = open();
    const streams = ['env/one/Contact/base', 'env/two/Contact/base'].map((key) => {
      const no = store.addStream(key);
      for (const position of positions)
        store.putPayload(no, position, `id-${position}`, secretOf(position));
      return no;
    });
    const [gone = 0, kept = 0] = streams;
    store.commit(progress);
    await vault.shred('one');
    expect(() => store.payloads(gone, [75]).get(75)?.bytes).toThrow(/not valid/);
    store.putPayload(gone, 101, 'id-101', secretOf(101));
    // Blocks of which little is left are rebuilt, and a pruned payload goes into its block.
    for (const position of positions.slice(0, 70)) store.removePayload(gone, position);
    store.putPayload(gone, 90, 'id-90', { bytes: null, encoding: 'none' });
    store.commit(progress);
    expect(store.placed(gone, 0, 200, 200).map(({ position }) => position)).toEqual([
      ...positions.slice(70),
      101,
    ]);
    expect(store.placedWithPayload(gone, 0, 200, 200)).toHaveLength(30);
    const encodings = [...store.payloads(gone, [75, 90, 101]).values()].map((one) => one.encoding);
    expect(encodings).toEqual([unreadable.encoding, 'none', unreadable.encoding]);
    expect(String(store.payloads(kept, [75]).get(75)?.bytes)).toContain('canary 75');
  });
});

const seed = seedOfRun();

describe(`payloads of a state store (seed ${seed})`, () => {
  it.each(Array.from({ length: 8 }, (_, at) => seed + at))('are those of a map: seed %i', (one) => {
    const random = seeded(one);
    const walk = new Walk(random);
    for (let step = 0; step < 150; step++) {
      const kind = random.int(10);
      if (kind < 6) walk.part();
      // Without a part, as a restore writes.
      else if (kind < 7) walk.write();
      else if (kind < 8) walk.read();
      else if (kind < 9) walk.commit();
      else if (random.chance(30)) walk.reopen();
    }
    walk.readAll();
    walk.commit();
    walk.reopen();
    walk.readAll();
    walk.store[Symbol.dispose]();
  });
});
