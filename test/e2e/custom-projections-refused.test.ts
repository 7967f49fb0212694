/* oxlint-disable typescript/no-unsafe-assignment -- a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';
import { withLimits } from '#test/support/processes/with-limits.ts';
import { succeeded } from '#test/support/worlds/crm-world.ts';
import { contactNames, rowOfContact } from '#test/support/worlds/custom-projection.ts';

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: withLimits({ customProjectionsMax: 1 }) });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const deploy = (name: string, key = gateway.key) =>
  gateway.call('PUT', `/custom-projections/${name}`, {
    body: contactNames(rowOfContact()),
    key,
  });

describe('a projection of a project is refused', () => {
  it('where its environment has as many as it may', async () => {
    succeeded(await deploy('first'));
    succeeded(await deploy('first'));
    const second = await deploy('second');
    expect(second).toMatchObject({ status: 400, body: { error: { code: 'resource_capped' } } });
    expect(JSON.stringify(second.body)).toContain('at most 1 projections');
  });

  it('where the payloads of its environment are sealed', async () => {
    const account = { key: gateway.accountKey };
    const { data } = succeeded(await gateway.call('GET', '/environments', account));
    const { id } = (data as { id: number; name: string }[]).find(({ name }) => name === 'prod')!;
    const body = { payload_mode: 'sealed' };
    succeeded(await gateway.call('PATCH', `/environments/${id}`, { ...account, body }));
    const refused = await deploy('first', gateway.prodKey);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    expect(JSON.stringify(refused.body)).toContain('payload_mode');
  });
});
