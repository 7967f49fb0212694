import { describe, expect, it } from 'vitest';
import type { ServedLog } from '#app/process/open-log.ts';
import { startOnLog } from '#app/process/start-on-log.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { EventLog } from '#ports/event-log.ts';
import { silent } from '#test/support/worlds/control.ts';

const away = () => new GatewayError('log_unavailable', {}, { cause: new Error('no broker') });

/** A log that fails so often before it answers. */
function failing(times: number): ServedLog {
  let failures = 0;
  const endOffset = async (): Promise<number> => {
    if (failures++ < times) throw away();
    return 7;
  };
  const outage = () => ({ ms: 1_000, error: new Error('no broker') });
  const servers = { kafka: 'Kafka at one:9092', registry: 'the registry', outage };
  const log = { endOffset } as unknown as EventLog;
  return { log, schemas: {} as ServedLog['schemas'], servers };
}

describe('a start on a log', () => {
  it('asks again while no broker answers, and no more once it has started', async () => {
    const start = startOnLog(failing(1), silent);
    expect(await start.run(() => start.log.endOffset('topic', 0))).toBe(7);
    const started = startOnLog(failing(1), silent);
    await started.run(() => Promise.resolve());
    await expect(started.log.endOffset('topic', 0)).rejects.toMatchObject({
      code: 'log_unavailable',
    });
  });

  it('gives up in one line also where it only follows', async () => {
    const start = startOnLog(failing(0), silent, 500);
    const forEver = new Promise<never>(() => undefined);
    await expect(start.run(() => forEver)).rejects.toMatchObject({
      name: 'CannotStart',
      message: 'gave up waiting for Kafka at one:9092 after 0.5 s: no broker',
    });
  });
});
