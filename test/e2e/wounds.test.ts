import { mkdir, mkdtemp, rm, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import {
  copyFolder,
  drawWound,
  inflict,
  textOfWound,
  type KindOfFile,
  type Wound,
} from '#test/support/judges/wounds.ts';
import type { Answer } from '#test/support/processes/gateway.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const seed = seedOfRun();
console.info(`SVC_TEST_SEED=${seed}`);
const rounds = Number(process.env['SVC_TEST_WOUNDS'] ?? roundsOf({ push: 3, all: 200 }));

/** A busy machine starts in seconds; a gateway that has not served all by then never will. */
const patienceMs = 90_000;

type Outcome = 'whole' | 'whole, and logged' | 'start refused' | 'not ready';
const outcomes = new Map<KindOfFile, Map<Outcome, number>>();

let folder = '';
let world: CrmWorld;
let connections: readonly CrmConnection[];
let acknowledged: unknown;
/** Folders of the same data: a gateway was killed over the first, and has stopped over the second. */
const sources = ['killed', 'stopped'];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-wounds-'));
  const snapshots = join(folder, 'snapshots');
  await mkdir(snapshots);
  world = await openCrmWorld({ env: { SVC_SNAPSHOT_DIR: snapshots } });
  connections = await filledConnections();
  await eventually(
    () => readdir(snapshots, { recursive: true }),
    (names) => names.some((name) => name.endsWith('.db')),
  );
  acknowledged = await everythingServed();
  world.gateway.process.kill('SIGKILL');
  for (const source of sources) {
    await world.restart(async (dataDir) => {
      await copyFolder(dataDir, join(folder, source, 'data'));
      await copyFolder(snapshots, join(folder, source, 'snapshots'));
    });
  }
  expect(await everythingServed()).toEqual(acknowledged);
});
afterAll(async () => {
  console.table(
    Object.fromEntries([...outcomes].map(([kind, counts]) => [kind, Object.fromEntries(counts)])),
  );
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Two plain ones and a sealed one; some of their records were updated or deleted. */
async function filledConnections(): Promise<CrmConnection[]> {
  const filled: CrmConnection[] = [];
  for (const mode of ['plain', 'plain', 'sealed']) {
    const path = `/environments/${world.environmentId}`;
    const key = world.gateway.accountKey;
    succeeded(await world.gateway.call('PATCH', path, { key, body: { payload_mode: mode } }));
    const crm = await world.connect({ metadata: { mode, note: `of ${filled.length}` } });
    const ids = Array.from({ length: 60 }, (_, n) => n);
    crm.account.contacts = ids.map((n) => ({ id: `c-${n}`, name: `first ${n}` }));
    crm.account.deals = ids.slice(0, 7).map((id) => ({ id, amount: id * 10 }));
    await crm.run('contacts');
    await crm.run('deals');
    crm.account.contacts = ids.slice(5).map((n) => ({ id: `c-${n}`, name: `${n % 2} of ${n}` }));
    await crm.run('contacts');
    filled.push(crm);
  }
  return filled;
}

/** A response that is no 200. */
class Unserved extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super(`${answer.status}: ${JSON.stringify(answer.body)}`);
    this.answer = answer;
  }
}

async function served(path: string, headers = {}): Promise<Record<string, unknown>> {
  const answer = await world.gateway.call('GET', path, { headers });
  if (answer.status !== 200) throw new Unserved(answer);
  return answer.body as Record<string, unknown>;
}

/** All records by cursor, deleted ones too, and all connections with credentials and metadata. */
async function everythingServed(): Promise<unknown> {
  const all: unknown[] = [(await served('/connections'))['connections']];
  for (const { id, headers } of connections) {
    // When it was last fetched is not acknowledged to anyone.
    const { last_fetched_at: _, ...shown } = await served(
      `/connections/${id}?provider_config_key=crm`,
    );
    all.push(shown);
    for (const model of ['Contact', 'Deal']) {
      let cursor: unknown = '';
      do {
        const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(String(cursor))}`;
        const page = await served(`/records?model=${model}&limit=25${from}`, headers);
        all.push(page['records']);
        cursor = page['next_cursor'];
      } while (cursor !== null);
    }
  }
  return all;
}

/** A text for operators: the damaged thing, and how to go on. */
const names = (text: string): boolean =>
  /log\.sqlite|row-keys|root\.key|acknowledged|event log|SVC_ENCRYPTION_KEY|the table \S+ is damaged/.test(
    text,
  ) && /[Rr]estore |svc log accept-loss|svc projections rebuild|Delete /.test(text);

async function startOver(source: string, wound: Wound): Promise<string | null> {
  const snapshots = join(folder, 'snapshots');
  const refusal = await world
    .restart(async (dataDir) => {
      const wounded = join(folder, 'wounded');
      await copyFolder(join(folder, source), wounded);
      await inflict(wounded, wound);
      await copyFolder(join(wounded, 'data'), dataDir);
      await copyFolder(join(wounded, 'snapshots'), snapshots);
      // A snapshot is read where the state is gone.
      if (wound.kind === 'snapshots') await rm(join(dataDir, 'state/records'), { recursive: true });
    })
    .then(
      () => null,
      (error: unknown) => String(error),
    );
  return refusal;
}

/** The outcome of a start that goes on. @throws where something acknowledged is not as it was, and nothing says so */
async function outcomeOfService(): Promise<Outcome> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const attempt = await everythingServed().then(
      (value) => ({ value }),
      (error: unknown) => {
        if (error instanceof Unserved) return { error };
        throw error;
      },
    );
    const ready = await world.gateway.call('GET', '/ready', { key: null });
    if (ready.status !== 200 && names(JSON.stringify(ready.body))) return 'not ready';
    if ('value' in attempt && ready.status === 200) {
      expect(attempt.value).toEqual(acknowledged);
      return syncAgain(end);
    }
    const left = 'error' in attempt ? attempt.error.message : JSON.stringify(ready.body);
    if (performance.now() > end) throw new Error(`not served in ${patienceMs} ms: ${left}`);
    await wait(200);
  }
}

/** The state of records is right where a run finds nothing new in what the provider still has. */
async function syncAgain(end: number): Promise<Outcome> {
  for (const crm of connections) {
    const hook = await Promise.race([crm.run('contacts'), wait(end - performance.now(), null)]);
    const ready = await world.gateway.call('GET', '/ready', { key: null });
    if (ready.status !== 200 && names(JSON.stringify(ready.body))) return 'not ready';
    expect(hook).toMatchObject({
      success: true,
      responseResults: { added: 0, updated: 0, deleted: 0 },
    });
  }
  const hasLogged = world.gateway.log.some((line) =>
    /damaged|corrupt|rebuilt|not what was written|made of the log|thrown away|broken/.test(line),
  );
  return hasLogged ? 'whole, and logged' : 'whole';
}

describe('a start over a wounded data folder', () => {
  it.each(Array.from({ length: rounds }, (_, round) => round))(
    'serves all that was acknowledged, or names the damage: round %i',
    async (round) => {
      const random = seeded(seed + round);
      const source = random.pick(sources);
      const wound = await drawWound(random, join(folder, source));
      const refusal = await startOver(source, wound);
      const text = `SVC_TEST_SEED=${seed}, round ${round}, ${source}, ${textOfWound(wound)}`;
      let outcome: Outcome;
      try {
        if (refusal !== null) expect(refusal).toSatisfy(names, 'names the damage and a way on');
        outcome = refusal === null ? await outcomeOfService() : 'start refused';
      } catch (error) {
        console.error([text, ...world.gateway.log].join('\n'));
        throw new Error(text, { cause: error });
      }
      console.info(`${text}: ${outcome}${refusal === null ? '' : `: ${refusal.slice(0, 600)}`}`);
      const counts = outcomes.get(wound.kind) ?? new Map<Outcome, number>();
      outcomes.set(wound.kind, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
    },
  );
});
