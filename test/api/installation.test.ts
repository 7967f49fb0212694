import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  providerOf,
  startAuthorizing,
  type AuthorizingApi,
} from '#test/support/worlds/authorizing.ts';
import { tellInstallation } from '#test/support/worlds/installation.ts';

const custom = 'custom';
let api: AuthorizingApi;
beforeAll(async () => {
  api = await startAuthorizing([{ provider: providerOf('CUSTOM', { name: custom }) }]);
  api.played(custom).on('/user', { login: 'ann' });
});
afterAll(() => api[Symbol.asyncDispose]());

describe('a connection whose app is not installed yet', () => {
  it('is completed by the webhook of the installation, and by no other', async () => {
    const started = await api.redirect(custom);
    expect((await started.back(await started.consent())).status).toBe(200);
    const pending = async () => {
      const { body } = await api.call('GET', '/connections');
      const all = (
        body as { connections: { connection_id: string; provider_config_key: string }[] }
      ).connections;
      const ours = all.filter((one) => one.provider_config_key === custom);
      const shown = await Promise.all(
        ours.map(async (one) => await api.connection(one.connection_id, custom)),
      );
      return shown.filter((one) => one.at('connection_config.pending') === true);
    };
    const before = await pending();
    const { installation_id: installation } = api.played(custom).importable();
    const event = { action: 'created', requester: { login: 'ann' } };
    expect(
      await tellInstallation(api, custom, { ...event, installation: { id: Number(installation) } }),
    ).toBe('200 ');
    expect(await pending()).toHaveLength(before.length - 1);
    expect(await tellInstallation(api, custom, event)).toBe(
      '400 webhook_no_connection_or_existing_installation_id',
    );
    const stranger = { ...event, requester: { login: 'ben' }, installation: { id: 1 } };
    expect(await tellInstallation(api, custom, stranger)).toBe(
      '400 webhook_no_connection_or_existing_installation_id',
    );
  });
});
