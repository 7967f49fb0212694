import { describe, expect, it } from 'vitest';
import { startClickHouseFront } from '#test/support/fakes/clickhouse-front.ts';
import { startGateway } from '#test/support/processes/gateway.ts';

describe('a gateway whose ClickHouse is a server', () => {
  it('answers 503 with Retry-After while it is away, and says so to probes', async () => {
    await using front = await startClickHouseFront();
    await using gateway = await startGateway({ env: { SVC_CLICKHOUSE_URL: front.url } });
    const integration = { provider: 'hacker-news', unique_key: 'news' };
    await gateway.call('POST', '/integrations', { body: integration });
    const connection = {
      provider_config_key: 'news',
      connection_id: 'me',
      credentials: { type: 'NONE' },
    };
    await gateway.call('POST', '/connections', { body: connection });
    const headers = { 'provider-config-key': 'news', 'connection-id': 'me' };
    // No function declares the model, which is refused only after the tables have been asked.
    const read = () => gateway.call('GET', '/records?model=Story', { headers });
    const ready = () => gateway.call('GET', '/ready', { key: null });
    expect((await read()).status).toBe(400);
    await expect.poll(async () => (await ready()).status).toBe(200);
    await front.kill();
    await expect.poll(async () => (await ready()).status).toBe(503);
    const refused = await read();
    expect(refused).toMatchObject({
      status: 503,
      body: { error: { code: 'projection_unavailable' } },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(JSON.stringify((await ready()).body)).toContain('SVC_CLICKHOUSE_URL');
    const { password } = new URL(front.url);
    expect(gateway.log.join('\n')).not.toContain(decodeURIComponent(password));
    expect(gateway.log.join('\n')).toContain('records cannot be read until ClickHouse answers');
    await front.start();
    await expect.poll(async () => (await ready()).status).toBe(200);
    await expect.poll(async () => (await read()).status).toBe(400);
  });

  it('does not start with a wrong password, and names the setting and not the password', async () => {
    await using front = await startClickHouseFront();
    const url = new URL(front.url);
    url.password = 'wrong-password';
    const starting = startGateway({ env: { SVC_CLICKHOUSE_URL: url.href } });
    await expect(starting).rejects.toThrow(/SVC_CLICKHOUSE_URL cannot be used.*refuses the user/s);
    await expect(starting).rejects.not.toThrow(/wrong-password/);
  });
});
