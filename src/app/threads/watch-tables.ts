import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { GatewayError } from '#kernel/errors.ts';
import type { RecordSource } from '#modules/records/read/reader.ts';
import type { RowQueries } from '#ports/projection-store.ts';

const lookEveryMs = 2_000;
const lookEveryAwayMs = 500;

export interface TablesWatch extends AsyncDisposable {
  /** @throws GatewayError `projection_unavailable` while the server is known to be away */
  refuseAway(): void;
  /** Resolves when the server is no longer known to be away; rejects on abort. */
  untilAnswers(signal: AbortSignal): Promise<void>;
}

/**
 * Polls the tables' server and reports changes: null = it responds, otherwise the reason. Each outage is logged
 * once, however long it lasts.
 */
export function watchTables(deps: {
  readonly store: RowQueries;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly report: (reason: string | null) => void;
}): TablesWatch {
  const ending = new AbortController();
  const { signal } = ending;
  let existing: string | null = null;

  const look = async (): Promise<void> => {
    const reason = await reasonOf(deps.store);
    if (reason === existing || signal.aborted) return;
    existing = reason;
    deps.report(reason);
    if (reason === null) deps.logger.info('ClickHouse answers again');
    else
      deps.logger.warn(
        { reason },
        'records cannot be read until ClickHouse answers; saves continue',
      );
  };
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      await look();
      const waitMs = existing === null ? lookEveryMs : lookEveryAwayMs;
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const watching = watch();
  return {
    refuseAway() {
      if (existing !== null) throw new GatewayError('projection_unavailable', { retryAfterS: 1 });
    },
    async untilAnswers(signal) {
      if (existing !== null) await look();
      while (existing !== null) {
        await sleep(lookEveryAwayMs, undefined, { signal });
        await look();
      }
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await watching;
    },
  };
}

/** Lets reads through that follow a publication, even if the server was last known to be away. */
export function readableWhenPublished(
  source: RecordSource,
  watch: TablesWatch | null,
): RecordSource {
  return {
    ...source,
    async published(partition, offset, signal) {
      await source.published(partition, offset, signal);
      await watch?.untilAnswers(signal);
    },
    async reached() {
      watch?.refuseAway();
      return source.reached();
    },
  };
}

async function reasonOf(store: RowQueries): Promise<string | null> {
  try {
    await store.queryRows('SELECT 1', {}, 'page');
    return null;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return `SVC_CLICKHOUSE_URL cannot be used: ${describe(cause)}`;
  }
}

/** A refused connection to a name with several addresses has no message of its own. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join(', ');
  return error instanceof Error ? error.message : String(error);
}
