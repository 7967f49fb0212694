import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/kernel/stable-json.ts';
import { askChild, startChild } from './child.ts';
import { apply, models, operation, sameRecords, type Kept, type Records } from './crash-model.ts';
import { seeded } from './random.ts';

const child = './crash-child.ts';

/** Where the process is killed: by itself at a named point, or from outside after some time. */
export type Kill = { readonly point: string } | { readonly afterMs: number };

/** Where a process may be killed: each is passed by every save (issue text, "It must show" 2). */
export const faultPoints = [
  'records:after-command-append',
  'records:before-transaction',
  'records:during-transaction',
  'records:after-transaction',
  'records:before-state-commit',
  'records:after-state-commit',
  'projector:before-insert',
  'projector:after-insert',
  'projector:after-position',
] as const;

interface Told {
  readonly model: string;
  readonly records: readonly (JsonObject & {
    id: string;
    _svc_metadata: { deleted_at: string | null };
  })[];
  readonly changes: readonly {
    seq: number;
    id: string;
    action: string;
    hash: string;
    eventId: string;
  }[];
  readonly failures: readonly string[];
}

/** Kills a saving node again and again on one data folder, and after each kill compares all it holds with a model. */
export class CrashRounds {
  readonly folder: string;
  readonly seed: number;
  /** Number of acknowledged operations of each model. */
  readonly #acknowledged: number[] = models.map(() => 0);
  /** What the acknowledged operations of each model lead to. */
  readonly #known: { count: number; records: Records }[] = [];
  #round = 0;

  constructor(folder: string, seed: number) {
    this.folder = folder;
    this.seed = seed;
  }

  async round(kill: Kill): Promise<{ acknowledged: number }> {
    this.#round += 1;
    const before = this.#acknowledged.reduce((sum, count) => sum + count, 0);
    await this.#writeUntilKilled(kill);
    await this.#compare();
    return { acknowledged: this.#acknowledged.reduce((sum, count) => sum + count, 0) - before };
  }

  async #writeUntilKilled(kill: Kill): Promise<void> {
    const args = ['write', this.folder, this.seed, this.#round, ...this.#acknowledged];
    const env = 'point' in kill ? { SVC_TEST_FAULT_POINT: kill.point } : undefined;
    const writer = startChild(child, args, env);
    let timer: NodeJS.Timeout | undefined;
    for await (const line of writer.lines) {
      if (line['ready'] === true && 'afterMs' in kill) {
        timer = setTimeout(() => writer.process.kill('SIGKILL'), kill.afterMs);
      }
      const model = models.findIndex((name) => name === line['acknowledged']);
      if (model >= 0) this.#acknowledged[model] = Number(line['index']) + 1;
    }
    clearTimeout(timer);
    assert.equal(await writer.ended, 'SIGKILL', writer.errors.join('\n'));
  }

  async #compare(): Promise<void> {
    const args = ['tell', this.folder, this.seed, this.#round];
    const told = await askChild<Told[]>(child, this.folder, args);
    for (const [at, model] of models.entries()) {
      const one = told.find((candidate) => candidate.model === model);
      assert.ok(one, `${model} was told`);
      this.#judge(at, one);
    }
  }

  /** No acknowledged save lost: the state is that of the acknowledged operations, or of one more. */
  #judge(at: number, told: Told): void {
    assert.deepEqual(told.failures, []);
    const held: Records = new Map(told.records.map((record) => [record.id, keptOf(record)]));
    assert.equal(held.size, told.records.length, 'a record is on two pages');
    const certain = this.#model(at, this.#acknowledged[at]!);
    const possible = this.#model(at, this.#acknowledged[at]! + 1);
    if (!sameRecords(held, certain) && !sameRecords(held, possible)) {
      const where = `seed ${this.seed} round ${this.#round} ${told.model}`;
      assert.deepEqual(Object.fromEntries(held), Object.fromEntries(certain), where);
    }
    judgeChanges(told.changes);
  }

  /** Goes on from where it was asked last: the acknowledged operations only grow. */
  #model(at: number, operations: number): Records {
    let { count, records } = this.#known[at] ?? { count: 0, records: new Map<string, Kept>() };
    for (; count < operations; count += 1) {
      records = apply(records, operation(seeded(this.seed + count * models.length + at)));
    }
    if (operations === this.#acknowledged[at]) this.#known[at] = { count, records };
    return records;
  }
}

function keptOf({ _svc_metadata: metadata, ...payload }: Told['records'][number]): Kept {
  return { payload: payload, isDeleted: metadata.deleted_at !== null };
}

/** `stream_seq` without holes, no event twice, and no change that changes nothing. */
function judgeChanges(changes: Told['changes']): void {
  for (const [index, { seq }] of changes.entries())
    assert.equal(seq, index + 1, 'stream_seq has a hole');
  assert.equal(new Set(changes.map(({ eventId }) => eventId)).size, changes.length);
  const last = new Map<string, { action: string; hash: string }>();
  for (const { id, action, hash } of changes) {
    const before = last.get(id);
    const isRepeat =
      before !== undefined &&
      before.hash === hash &&
      (before.action === 'deleted') === (action === 'deleted');
    assert.ok(!isRepeat, `${id} ${action} twice`);
    last.set(id, { action, hash });
  }
}
