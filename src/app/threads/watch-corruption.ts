import type { Logger } from 'pino';
import { damagedPartsInTurn, tableSizes } from '#adapters/projection-store/check-parts.ts';
import { isOutage } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { isOver, pause } from '#kernel/retry.ts';
import type { DamagedPart, ProjectionStore, TableDefinition } from '#ports/projection-store.ts';
import type { FollowedProjection } from '#streams/projector/consume-projections.ts';
import type { ProjectionTables } from '#streams/projector/define.ts';

const lookEveryMs = 1_000;
/** An error that names no part leads to a search in all tables, which reads all of their files. */
const searchEveryMs = 10 * 60_000;
/** Parts of a table in the reason; the log has each. */
const partsNamedMax = 3;

export interface CorruptionWatch extends AsyncDisposable {
  /** Call with each statement that failed because of a damaged part. */
  found(damaged: DamagedPart): void;
  /**
   * Call once for each projection. Returns a function to call with the generation that this thread reads, which may be
   * another than the decided one for a while; until it is called, the decided one counts.
   */
  follow(projection: ProjectionTables, followed: FollowedProjection): (generation: number) => void;
  /** Looks for damage in the tables that were too large to be checked before the start. */
  check(): void;
}

export interface CorruptionWatchDeps {
  readonly store: Pick<ProjectionStore, 'queryRows' | 'command'>;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Called with why the node is not ready; null: no table that is read is damaged (any more). */
  readonly report: (reason: string | null) => void;
  /**
   * Tables of this process that may be emptied at any time: what they held is done or noted again. Of a server, other
   * processes read them.
   */
  readonly disposable: readonly TableDefinition[];
  readonly isServer: boolean;
}

/**
 * Names each damaged part once in the log, and, while the table is read, in `/ready`, with the command that rebuilds it.
 */
export function watchCorruption(deps: CorruptionWatchDeps): CorruptionWatch {
  return new Watch(deps);
}

interface WatchedProjection {
  readonly projection: ProjectionTables;
  readonly state: FollowedProjection;
  /** The generation that is read; null = the decided one. */
  read: number | null;
}

class Watch implements CorruptionWatch {
  readonly #deps: CorruptionWatchDeps;
  readonly #ending = new AbortController();
  readonly #followed: WatchedProjection[] = [];
  /** By table and part. */
  readonly #damaged = new Map<string, DamagedPart>();
  readonly #tasks = new Set<Promise<void>>();
  #isLooking = false;
  /** What a search looks for, and since when the last one runs. */
  #searchedFor: string | null = null;
  #searchedAt = -Infinity;
  #reported: string | null = null;

  constructor(deps: CorruptionWatchDeps) {
    this.#deps = deps;
  }

  follow(projection: ProjectionTables, state: FollowedProjection): (generation: number) => void {
    const watched: WatchedProjection = { projection, state, read: null };
    this.#followed.push(watched);
    state.onChange(() => this.#report());
    this.#report();
    return (generation) => {
      watched.read = generation;
      this.#report();
    };
  }

  found(damaged: DamagedPart): void {
    if (damaged.part === '') {
      this.#search(damaged);
      return;
    }
    const key = `${damaged.table}/${damaged.part}`;
    if (this.#damaged.has(key)) return;
    this.#damaged.set(key, damaged);
    const { table, part, reason } = damaged;
    const fix = this.#fixOf(table);
    this.#deps.logger.error({ table, part, reason, fix }, 'a part of a table is damaged');
    this.#report();
    if (!this.#isLooking) this.#start(() => this.#look());
  }

  check(): void {
    if (this.#deps.isServer) return;
    this.#start(() => this.#check(limits.tableCheckedAtStartBytes));
  }

  #search({ reason }: DamagedPart): void {
    const now = performance.now();
    if (now - this.#searchedAt < searchEveryMs) return;
    this.#searchedAt = now;
    this.#searchedFor = reason;
    this.#deps.logger.error({ reason }, 'a part of a table is damaged; it is searched for');
    this.#report();
    this.#start(async () => {
      await this.#check(-1);
      this.#searchedFor = null;
      this.#report();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#tasks);
  }

  #start(task: () => Promise<void>): void {
    const { logger } = this.#deps;
    const running = task()
      .catch((err: unknown) => logger.warn({ err }, 'damaged tables could not be looked for'))
      .finally(() => this.#tasks.delete(running));
    this.#tasks.add(running);
  }

  /** Takes at most half of the time, so that cleanups and merges go on. */
  async #check(largerThanBytes: number): Promise<void> {
    const { store } = this.#deps;
    const { signal } = this.#ending;
    const tables = await tableSizes(store);
    for (const { name, bytes } of tables) {
      if (bytes <= largerThanBytes) continue;
      let startedAt = performance.now();
      for await (const damaged of damagedPartsInTurn(store, name)) {
        if (damaged !== null) this.found(damaged);
        await pause(performance.now() - startedAt, signal);
        if (signal.aborted) return;
        startedAt = performance.now();
      }
    }
  }

  /** Until no damaged part is left. */
  async #look(): Promise<void> {
    const { signal } = this.#ending;
    this.#isLooking = true;
    try {
      while (this.#damaged.size > 0 && !signal.aborted) {
        await this.#replaceDisposable();
        await pause(lookEveryMs, signal);
        if (!isOver(signal)) await this.#forgetGone();
      }
    } finally {
      this.#isLooking = false;
    }
  }

  async #replaceDisposable(): Promise<void> {
    const { store, disposable, logger } = this.#deps;
    const damaged = new Set([...this.#damaged.values()].map(({ table }) => table));
    for (const { name } of disposable) {
      if (!damaged.has(name)) continue;
      // Projectors that start read it meanwhile: it is never absent.
      await store.command(`TRUNCATE TABLE ${name}`);
      logger.warn({ table: name }, 'the damaged table was replaced by an empty one');
    }
  }

  async #forgetGone(): Promise<void> {
    const { store, logger } = this.#deps;
    const tables = [...new Set([...this.#damaged.values()].map(({ table }) => table))];
    const found = await store
      .queryRows<{ table: string; name: string }>(
        `SELECT table, name FROM system.parts
         WHERE active AND database = currentDatabase() AND table IN {tables:Array(String)}`,
        { tables },
        'page',
      )
      .catch((error: unknown) => {
        if (isOutage(error)) return null;
        throw error;
      });
    if (found === null) return;
    const active = new Set(found.map(({ table, name }) => `${table}/${name}`));
    const gone = [...this.#damaged].filter(([key]) => !active.has(key));
    for (const [key, { table, part }] of gone) {
      this.#damaged.delete(key);
      logger.info({ table, part }, 'the damaged part is gone');
    }
    if (gone.length > 0) this.#report();
  }

  #report(): void {
    const read = [...this.#damaged.values()].filter(({ table }) => this.#isRead(table));
    const byTable = Map.groupBy(read, ({ table }) => table);
    const reasons = [...byTable].map(([table, parts]) => {
      const named = parts.slice(0, partsNamedMax);
      const others = parts.length - named.length;
      const list = named.map(({ part, reason }) => `part ${part}: ${reason}`).join(', ');
      const more = others === 0 ? '' : `, and ${others} more`;
      return `the table ${table} is damaged (${list}${more}): ${this.#fixOf(table)}`;
    });
    if (this.#searchedFor !== null)
      reasons.push(`a table is damaged and is searched for (${this.#searchedFor})`);
    const reason = reasons.length === 0 ? null : reasons.join('; ');
    if (reason === this.#reported) return;
    this.#reported = reason;
    this.#deps.report(reason);
  }

  #generationOf(table: string) {
    for (const { projection, state, read } of this.#followed) {
      for (const { generation } of state.current.generations) {
        if (!projection.tableSet(generation).tables.includes(table)) continue;
        const isActive = generation === (read ?? state.current.active_generation);
        return { name: projection.name, generation, isActive };
      }
    }
    return null;
  }

  /** Tables of no generation are read with each of them, except the copies of a comparison. */
  #isRead(table: string): boolean {
    return this.#generationOf(table)?.isActive ?? !table.endsWith('_compared');
  }

  #fixOf(table: string): string {
    const found = this.#generationOf(table);
    if (found === null) {
      return this.#deps.isServer
        ? 'restore it, or stop every process of the service, drop it, and start again'
        : 'it is replaced by an empty one';
    }
    return found.isActive
      ? `rebuild it with svc projections rebuild ${found.name} --switch`
      : `drop it with svc projections drop ${found.name} --generation ${found.generation}`;
  }
}
