import { afterEach, describe, expect, it } from 'vitest';
import { watchTables, type TablesWatch } from '#app/threads/watch-tables.ts';

const silent = { info: () => undefined, warn: () => undefined };

describe('what is known of the server of the tables', () => {
  let watch: TablesWatch;
  afterEach(() => watch[Symbol.asyncDispose]());

  /** A store that answers while it is not away. */
  function watched() {
    const server = { isAway: true, looks: 0 };
    const told: (string | null)[] = [];
    watch = watchTables({
      store: {
        async queryRows<T>(): Promise<T[]> {
          server.looks += 1;
          if (server.isAway) throw new Error('nobody listens');
          return [];
        },
      },
      logger: silent,
      report: (reason) => told.push(reason),
    });
    return { server, told };
  }

  it('refuses while it does not answer, and no more once someone has waited for its answer', async () => {
    const { server, told } = watched();
    await expect.poll(() => told.length).toBe(1);
    expect(() => watch.refuseAway()).toThrow('temporarily unavailable');
    server.isAway = false;
    await watch.untilAnswers(AbortSignal.timeout(10_000));
    watch.refuseAway();
    expect(told).toEqual(['SVC_CLICKHOUSE_URL cannot be used: nobody listens', null]);
  });

  it('lets nobody wait who has given up', async () => {
    const { told } = watched();
    await expect.poll(() => told.length).toBe(1);
    const given = new AbortController();
    const waiting = watch.untilAnswers(given.signal);
    given.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('asks nothing of a server that answers', async () => {
    const { server } = watched();
    server.isAway = false;
    await expect.poll(() => server.looks).toBeGreaterThan(0);
    await watch.untilAnswers(AbortSignal.timeout(10_000));
    const { looks } = server;
    await watch.untilAnswers(AbortSignal.timeout(10_000));
    expect(server.looks).toBe(looks);
  });
});
