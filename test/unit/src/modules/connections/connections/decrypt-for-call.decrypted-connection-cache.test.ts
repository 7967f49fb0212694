import { expect, it } from 'vitest';
import { overridden } from '#kernel/overridden.ts';
import { environmentByName } from '#modules/access/environments/queries.ts';
import { createDecryptedConnectionCache } from '#modules/connections/connections/decrypt-for-call.ts';
import { startApiWithProviders } from '#test/support/worlds/api-with-providers.ts';

it('a connection that changes while a call decrypts it is decrypted again for the next', async () => {
  await using api = await startApiWithProviders();
  const { services } = api;
  const ref = { provider_config_key: 'tested', connection_id: 'one' };
  const credentials = { type: 'API_KEY', apiKey: 'good' };
  const write = (path: string, more: object) =>
    api.call('POST', path, { body: { ...ref, ...more } });
  expect((await write('/connections', { credentials, metadata: { plan: 'old' } })).status).toBe(
    201,
  );
  const isChanged = Promise.withResolvers<undefined>();
  const isReading = Promise.withResolvers<undefined>();
  const refresher = overridden(services.refresher, {
    async fresh(connection, options) {
      const stored = await services.refresher.fresh(connection, options);
      isReading.resolve(undefined);
      await isChanged.promise;
      return stored;
    },
  });
  using cache = createDecryptedConnectionCache({ ...services, refresher });
  const environmentUid = environmentByName(services.control, 'dev')?.uid ?? '';
  const name = { environmentUid, integrationKey: 'tested', connectionId: 'one' };
  const metadata = async () => (await cache.open(name)).connection.metadata;
  const first = metadata();
  await isReading.promise;
  expect((await write('/connections/metadata', { metadata: { plan: 'new' } })).status).toBe(201);
  await services.control.view.caughtUp();
  isChanged.resolve(undefined);
  expect(await first).toEqual({ plan: 'old' });
  expect(await metadata()).toEqual({ plan: 'new' });
});
