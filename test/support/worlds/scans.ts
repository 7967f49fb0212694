import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { roundsOf } from '../judges/long-run.ts';
import { seeded, seedOfRun, type Random } from '../judges/random.ts';
import { ScanJudge, type ScannedPage } from '../judges/scan-judge.ts';
import type { GatewayAccess } from '../processes/gateway.ts';
import { eventually, succeeded } from './crm-world.ts';
import { compileFunctions } from './deploy.ts';

const functions = fileURLToPath(new URL('../../scans/functions', import.meta.url));
const integration = 'scans';
const sizes = { many: 2000, few: 200, still: 20 } as const;

/** The scans that issue a page after the other until there is no next cursor. */
interface ScanKind {
  readonly model: 'Many' | 'Few';
  readonly limit: number;
  readonly filter: 'all' | 'added' | 'updated' | 'deleted' | 'since' | 'ids';
}

const limitsOf = { Many: [100, 300, 700, 1000], Few: [1, 7] } as const;
const chasesMax = 20;
/** Scans at a time. */
const lanesOfModel = 4;
const filters = ['all', 'all', 'all', 'updated', 'since', 'added', 'deleted', 'ids'] as const;

/** What came of the scans of one model and limit. */
export interface ScanTally {
  scans: number;
  pages: number;
  endedEarly: number;
  missedSome: number;
}

/** For tests; `npm run test:scans` sets the number. */
export const scansAsked = { Many: roundsOf({ push: 10, all: 32 }), Few: 2 } as const;

export interface ScanWorld extends AsyncDisposable {
  /** So many scans of each model, each page from any of the gateways. By model and limit. */
  scan(counts: Readonly<Record<ScanKind['model'], number>>): Promise<Map<string, ScanTally>>;
}

type Query = Readonly<Record<string, string | string[]>>;

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`);

/** A connection whose records a run updates until the world is disposed of. */
export async function openScanWorld(gateways: readonly GatewayAccess[]): Promise<ScanWorld> {
  const [gateway] = gateways;
  if (gateway === undefined) throw new Error('nothing to scan');
  const connectionId = `scans-${randomUUID()}`;
  const name = { provider_config_key: integration, connection_id: connectionId };
  const known = await gateway.call('GET', `/integrations/${integration}`);
  if (known.status !== 200) {
    const body = { provider: 'unauthenticated', unique_key: integration };
    succeeded(await gateway.call('POST', '/integrations', { body }));
  }
  // The functions of other integrations stay.
  const reconciliationScope = { kind: 'integration', integrationId: integration };
  const body = { ...(await compileFunctions(functions)), reconciliationScope };
  succeeded(await gateway.call('POST', '/functions/deployments/bundle', { body }));
  const connection = { ...name, credentials: { type: 'NONE' }, metadata: sizes };
  succeeded(await gateway.call('POST', '/connections', { body: connection }));
  succeeded(await gateway.call('POST', '/sync/trigger', { body: { ...name, syncs: ['update'] } }));
  const shown = async () =>
    succeeded(
      await gateway.call('GET', `/connections/${connectionId}?provider_config_key=${integration}`),
    ) as { metadata: Record<string, unknown> };
  await eventually(shown, ({ metadata }) => metadata['isUpdating'] === true);
  const headers = { 'provider-config-key': integration, 'connection-id': connectionId };
  const scanner = new Scanner(gateways, headers, seeded(seedOfRun()));
  // Saved, they may not be readable yet.
  await eventually(
    () => scanner.run({ Many: limitsOf.Many.length, Few: limitsOf.Few.length }),
    (tallies) => [...tallies.values()].every(({ missedSome }) => missedSome === 0),
  );
  return {
    scan: (counts) => scanner.run(counts),
    async [Symbol.asyncDispose]() {
      const body = { ...name, metadata: { isDone: true } };
      succeeded(await gateway.call('PATCH', '/connections/metadata', { body }));
      const path = `/connections/${connectionId}?provider_config_key=${integration}`;
      succeeded(await gateway.call('DELETE', path));
    },
  };
}

class Scanner {
  readonly #gateways: readonly GatewayAccess[];
  readonly #headers: Readonly<Record<string, string>>;
  readonly #random: Random;
  #tallies = new Map<string, ScanTally>();
  readonly #judge = new ScanJudge();

  constructor(
    gateways: readonly GatewayAccess[],
    headers: Readonly<Record<string, string>>,
    random: Random,
  ) {
    this.#gateways = gateways;
    this.#headers = headers;
    this.#random = random;
  }

  async run(counts: Readonly<Record<ScanKind['model'], number>>): Promise<Map<string, ScanTally>> {
    this.#tallies = new Map();
    const models = ['Many', 'Few'] as const;
    const lanes = models.flatMap((model) => {
      const scans = this.#scans(model, counts[model]);
      return Array.from({ length: lanesOfModel }, () => scans);
    });
    await Promise.all(
      lanes.map(async (scans) => {
        for (const kind of scans) await this.#scan(kind);
      }),
    );
    return this.#tallies;
  }

  *#scans(model: ScanKind['model'], count: number): Generator<ScanKind> {
    const limits = limitsOf[model];
    for (let at = 0; at < count; at += 1) {
      const limit = limits[at % limits.length] ?? 1;
      const filter = filters[Math.floor(at / limits.length) % filters.length] ?? 'all';
      yield { model, limit, filter };
    }
  }

  async #scan(kind: ScanKind): Promise<void> {
    const { wanted, query } = this.#question(kind);
    const tally = this.#tallyOf(kind);
    // The ids of each scan are others.
    const question = kind.filter === 'ids' ? randomUUID() : `${kind.model} ${kind.filter}`;
    const pagesMax = chasesMax + wanted.length / kind.limit;
    const page = (cursor: string | null) =>
      this.#page({ ...query, ...(cursor === null ? {} : { cursor }) });
    const { pages, isEarly, missed } = await this.#judge.scan({ question, wanted, pagesMax, page });
    tally.scans += 1;
    tally.pages += pages;
    if (isEarly) tally.endedEarly += 1;
    if (missed.length > 0) tally.missedSome += 1;
  }

  /** What a scan asks, and what it must find. */
  #question({ model, limit, filter }: ScanKind) {
    const moved = numbered('moved-', model === 'Many' ? sizes.many : sizes.few);
    const kept = numbered('kept-', sizes.still);
    const gone = numbered('gone-', sizes.still);
    const query: Query = { model, limit: String(limit) };
    const all = [...moved, ...kept, ...gone];
    if (filter === 'all') return { wanted: all, query };
    if (filter === 'since') {
      return { wanted: all, query: { ...query, modified_after: '2026-01-01T00:00:00Z' } };
    }
    if (filter === 'ids') {
      const first = this.#random.int(moved.length - 90);
      const wanted = [...moved.slice(first, first + 90), ...kept.slice(0, 5), ...gone.slice(0, 5)];
      return { wanted, query: { ...query, ids: wanted } };
    }
    const wanted = { added: kept, updated: moved, deleted: gone }[filter];
    return { wanted, query: { ...query, filter } };
  }

  async #page(query: Query) {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      for (const one of [value].flat()) search.append(name, one);
    const path = `/records?${search.toString()}`;
    for (;;) {
      const gateway = this.#random.pick(this.#gateways);
      const answer = await gateway.call('GET', path, { headers: this.#headers });
      // A busy projection store says when to ask again, as every client does (docs/reference/errors.md).
      const waitS = answer.status === 503 ? Number(answer.headers.get('retry-after')) : 0;
      if (waitS === 0) return succeeded(answer) as ScannedPage;
      await setTimeout(1_000 * waitS);
    }
  }

  #tallyOf({ model, limit }: ScanKind): ScanTally {
    const key = `${model === 'Many' ? sizes.many : sizes.few} records, limit ${limit}`;
    const tally = this.#tallies.get(key) ?? { scans: 0, pages: 0, endedEarly: 0, missedSome: 0 };
    this.#tallies.set(key, tally);
    return tally;
  }
}
