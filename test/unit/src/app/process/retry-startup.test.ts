import { describe, expect, it } from 'vitest';
import { retryStartup } from '#app/process/retry-startup.ts';
import { GatewayError } from '#kernel/errors.ts';
import { silent } from '#test/support/worlds/control.ts';

const away = () => new GatewayError('log_unavailable', {}, { cause: new Error('no broker') });

describe('a start that waits for a server', () => {
  it('goes on when the server has come', async () => {
    let tries = 0;
    const step = async () => {
      if (++tries < 2) throw away();
      return 'opened';
    };
    expect(await retryStartup('Kafka', step, { logger: silent })).toBe('opened');
    expect(tries).toBe(2);
  });

  it('gives up in the end, and names the server and the reason', async () => {
    const step = () => Promise.reject(away());
    const start = retryStartup('Kafka at one:9092', step, { logger: silent, withinMs: 400 });
    await expect(start).rejects.toThrow(
      'gave up waiting for Kafka at one:9092 after 0.4 s: no broker',
    );
  });

  it('does not retry what waiting cannot fix', async () => {
    const step = () => Promise.reject(new GatewayError('incompatible_schema'));
    const start = retryStartup('the registry', step, { logger: silent });
    await expect(start).rejects.toMatchObject({ code: 'incompatible_schema' });
  });
});
