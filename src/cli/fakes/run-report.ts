import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type Answer, type Client } from '#client/index.ts';
import type { Output } from '../output.ts';

type Run = Answer<'GET /runs'>['data'][number];

const lookAgainMs = 300;
const runsMax = 100;

/** Prints each run of a gateway when it has ended and its records can be read. */
export class RunReport {
  readonly #note: (line: string) => void;
  readonly #paint: Output['paint'];
  #stopping = new AbortController();

  constructor(note: (line: string) => void, paint: Output['paint']) {
    this.#note = note;
    this.#paint = paint;
  }

  follow(client: Client): void {
    this.#stopping = new AbortController();
    void this.#follow(client, this.#stopping.signal);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #follow(client: Client, signal: AbortSignal): Promise<void> {
    const printed = new Set<string>();
    for (;;) {
      const ended = await endedRuns(client);
      if (signal.aborted) return;
      for (const run of ended) {
        if (printed.has(run.id)) continue;
        printed.add(run.id);
        this.#print(run);
      }
      await pause(lookAgainMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  #print(run: Run): void {
    const { kind, status, error, counts, duration_ms: took } = run;
    const what = `${run.provider_config_key}/${run.function}`;
    if (status === 'succeeded') {
      const text = kind === 'sync' ? countsText(counts) : 'done';
      this.#note(this.#paint('green', `ran ${what}: ${text} (${took ?? 0} ms)`));
      return;
    }
    const location = error?.location ?? null;
    this.#note(
      this.#paint(
        'red',
        `${status} ${what}: ${error?.message ?? ''}${location === null ? '' : `, at ${location}`}`,
      ),
    );
    this.#note(`  npx svc runs show ${run.id}`);
  }
}

/** Oldest first. None while the gateway does not answer. */
async function endedRuns(client: Client): Promise<readonly Run[]> {
  try {
    const { data } = await client.request('GET /runs', { query: { limit: runsMax } });
    return data
      .filter(
        ({ ended_at: at, records_readable: isReadable }) => at !== null && isReadable !== false,
      )
      .reverse();
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}

function countsText(counts: Run['counts']): string {
  const parts = Object.entries(counts).map(([model, count]) => {
    const { added, updated, deleted, unchanged } = count;
    const named = Object.entries({ added, updated, deleted, unchanged });
    const shown = named.flatMap(([word, number]) => (number > 0 ? [`${number} ${word}`] : []));
    return `${model} ${shown.length === 0 ? 'nothing new' : shown.join(', ')}`;
  });
  return parts.length === 0 ? 'nothing new' : parts.join('; ');
}
