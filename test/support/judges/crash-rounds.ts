import assert from 'node:assert/strict';
import type { JsonObject } from '#kernel/stable-json.ts';
import { askChild, startChild, toldBy } from '../processes/child.ts';
import { apply, models, operation, sameRecords, type Kept, type Records } from './crash-model.ts';
import { seeded, type Random } from './random.ts';

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

/** The projector and the commits of the stores pass their points a few times a second, the owners theirs with every call. */
export function killAt(point: string, random: Random): Kill {
  const passes = /projector:|state-commit/.test(point) ? 4 : 40;
  return { point: `${point}@${1 + random.int(passes)}` };
}

/** What the child does, one after the other; its arguments. */
export interface Step {
  readonly does: 'tell' | 'write';
  readonly seed: number;
  readonly round: number;
  /** Of each model: changes reported before. */
  readonly told: readonly number[];
  /** Of each model: the first operation that was not acknowledged. */
  readonly next: readonly number[];
}

/** What was judged of the changes of a model. */
interface Judged {
  count: number;
  readonly eventIds: Set<string>;
  readonly last: Map<string, { readonly action: string; readonly hash: string }>;
}

/**
 * Kills a saving node again and again on one data folder, and after each kill compares its whole state with a model:
 * the next node reports it before it saves.
 */
export class CrashRounds {
  readonly folder: string;
  readonly seed: number;
  /** Number of acknowledged operations of each model. */
  readonly #acknowledged: number[] = models.map(() => 0);
  /** What the acknowledged operations of each model lead to. */
  readonly #known: { count: number; records: Records }[] = [];
  readonly #judged: readonly Judged[] = models.map(() => ({
    count: 0,
    eventIds: new Set(),
    last: new Map(),
  }));
  #round = 0;
  #isCompared = true;

  constructor(folder: string, seed: number) {
    this.folder = folder;
    this.seed = seed;
  }

  /** What it leaves is compared by the next round, or by `compare`. @returns the calls acknowledged before the kill */
  async round(kill: Kill): Promise<number> {
    // Reads at the start pass fault points too: a node that dies at one reports nothing before.
    if ('point' in kill) await this.compare();
    const before = this.#acknowledged.reduce((sum, count) => sum + count, 0);
    const toTell = this.#isCompared ? [] : [this.#step('tell')];
    this.#round += 1;
    await this.#writeUntilKilled(kill, [...toTell, this.#step('write')]);
    this.#isCompared = false;
    return this.#acknowledged.reduce((sum, count) => sum + count, 0) - before;
  }

  async compare(): Promise<void> {
    if (this.#isCompared) return;
    const args = [this.folder, JSON.stringify(this.#step('tell'))];
    this.#judgeAll(await askChild<Told[]>(child, this.folder, args));
  }

  #step(does: Step['does']): Step {
    const told = this.#judged.map(({ count }) => count);
    return { does, seed: this.seed, round: this.#round, told, next: this.#acknowledged };
  }

  async #writeUntilKilled(kill: Kill, steps: readonly Step[]): Promise<void> {
    const env = 'point' in kill ? { SVC_TEST_FAULT_POINT: kill.point } : undefined;
    const args = [this.folder, ...steps.map((step) => JSON.stringify(step))];
    const writer = startChild(child, args, env);
    let timer: NodeJS.Timeout | undefined;
    const killIt = (): void => void writer.process.kill('SIGKILL');
    try {
      for await (const line of writer.lines) {
        if (line['told'] === true) this.#judgeAll(toldBy(this.folder) as Told[]);
        if (line['writes'] === true && 'afterMs' in kill) timer = setTimeout(killIt, kill.afterMs);
        const model = models.findIndex((name) => name === line['acknowledged']);
        if (model >= 0) this.#acknowledged[model] = Number(line['index']) + 1;
      }
    } catch (error) {
      killIt();
      throw error;
    } finally {
      clearTimeout(timer);
    }
    assert.equal(await writer.ended, 'SIGKILL', writer.errors.join('\n'));
  }

  #judgeAll(told: readonly Told[]): void {
    for (const [at, model] of models.entries()) {
      const one = told.find((candidate) => candidate.model === model);
      assert.ok(one, `${model} was told`);
      this.#judge(at, one);
    }
    this.#isCompared = true;
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
    judgeChanges(told.changes, this.#judged[at]!);
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
function judgeChanges(changes: Told['changes'], judged: Judged): void {
  const { eventIds, last } = judged;
  for (const { id, action, hash, seq, eventId } of changes) {
    judged.count += 1;
    assert.equal(seq, judged.count, 'stream_seq has a hole');
    assert.ok(!eventIds.has(eventId), `${id}: an event is there twice`);
    eventIds.add(eventId);
    const before = last.get(id);
    const isRepeat =
      before !== undefined &&
      before.hash === hash &&
      (before.action === 'deleted') === (action === 'deleted');
    assert.ok(!isRepeat, `${id} ${action} twice`);
    last.set(id, { action, hash });
  }
}
