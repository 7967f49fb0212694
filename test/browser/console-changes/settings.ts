/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-return,
   typescript/no-unsafe-call, typescript/no-unsafe-argument -- a test looks into any answer */
import { describe, expect, it } from 'vitest';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { driverOf, type Driven } from '../console-driver.ts';
import { connectionId, integration, refreshed, type ConsoleWorld } from '../console-world.ts';
import { screenshot } from '../world.ts';

/** An image of one pixel. */
const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Integrations, connections, environments, keys and variables. */
export function changesOfSettings(world: () => ConsoleWorld, current: () => Driven): void {
  const { button, choose, field, link, open, read, readOfAccount, readsAfter, seen, send } =
    driverOf(current);

  describe('a change of settings', () => {
    it('adds an integration, changes it and deletes it', async () => {
      const path = '/integrations/more-weather';
      await open(`/env/dev/integrations/new/${integration}`);
      await field('Key').fill('more-weather');
      await button('Add the integration').click();
      await seen('more-weather was added');
      expect((await read(path)).data).toMatchObject({ provider: integration });
      await link('Settings').click();
      await field('Display name').fill('More weather');
      await field('Forward webhooks of the provider to the application').uncheck();
      await button('Save the settings').click();
      await seen('The settings were saved');
      expect((await read(path)).data).toMatchObject({
        display_name: 'More weather',
        forward_webhooks: false,
      });
      await seen('Requests are sent as they come.');
      await field('Limit').selectOption('own');
      await field('Requests').fill('30');
      await field('In seconds').fill('10');
      await field('Counted for').selectOption('connection');
      await button('Save the limit').click();
      await seen('At most 30 requests in 10 s for each connection');
      const limit = { requests: 30, seconds: 10, per: 'connection' };
      expect((await read(path)).data).toMatchObject({ rate_limit: limit });
      await button('Delete the integration…').click();
      await field('Type more-weather to confirm').fill('more-weather');
      const reads = await readsAfter(path, async () => {
        await button('Delete the integration').click();
        await seen('more-weather was deleted');
      });
      expect(reads).toBe(0);
      const { data } = await read('/integrations');
      expect(data.map((one: { unique_key: string }) => one.unique_key)).not.toContain(
        'more-weather',
      );
    });

    it('replaces the app credentials of an integration, and reveals them', async () => {
      const path = `/integrations/${refreshed}`;
      const credentials = async () => (await read(`${path}?include=credentials`)).data.credentials;
      const before = await credentials();
      await open(`/env/dev${path}`);
      await button('Replace…').click();
      await field('Client id').fill('replaced-id');
      await field('Client secret').fill('replaced-secret');
      await field('Webhook secret (optional)').fill('signed-by-this');
      await button('Replace the credentials').click();
      await seen('The credentials were replaced');
      expect(await credentials()).toEqual({
        ...before,
        client_id: 'replaced-id',
        client_secret: 'replaced-secret',
        webhook_secret: 'signed-by-this',
      });
      await button('Reveal (audited)').click();
      await seen('replaced-secret');
      await send('PATCH', path, { body: { credentials: { ...before, webhook_secret: '' } } });
    });

    it('saves the metadata and the tags of a connection', async () => {
      const id = encodeURIComponent(connectionId);
      await open(`/env/dev/connections/${integration}/${id}/settings`);
      await field('Metadata').fill('{"region":"eu"}');
      await button('Save metadata').click();
      await seen('Metadata saved');
      await field('Tags').fill('{"team":"blue"}');
      await button('Save tags').click();
      await seen('Tags saved');
      expect(await read(`/connections/${id}?provider_config_key=${integration}`)).toMatchObject({
        metadata: { region: 'eu' },
        tags: { team: 'blue' },
      });
    });

    it('refreshes the credentials of a connection, and connects it again', async () => {
      const made = {
        provider_config_key: refreshed,
        connection_id: 'expiring',
        credentials: world().played[refreshed]!.importable(),
      };
      await send('POST', '/connections', { body: made });
      const path = `/connections/expiring?provider_config_key=${refreshed}`;
      const token = async () => (await read(path)).credentials.access_token;
      const before = await token();
      await open(`/env/dev/connections/${refreshed}/expiring`);
      await button('Refresh now').click();
      await seen('The credentials were refreshed');
      const after = await token();
      expect(after).not.toBe(before);
      const opening = current().page.context().waitForEvent('page');
      await button('Reconnect').click();
      const connectPage = await opening;
      await connectPage.getByRole('button', { name: 'Connect', exact: true }).click();
      await connectPage.getByRole('heading', { name: 'Beacon is connected' }).waitFor();
      expect(await token()).not.toBe(after);
      await connectPage.close();
    });

    it('processes a webhook of a provider again', async () => {
      const { webhook_url: url } = (await read(`/integrations/${integration}?include=webhook`))
        .data;
      await send('POST', new URL(url).pathname, { key: null, body: { type: 'rain' } });
      const find = async () => (await read('/webhook-deliveries')).data[0];
      const { id, disposition } = await eventually(
        find,
        (one) => one !== undefined && one.disposition !== 'received',
      );
      expect(disposition).toBe('accepted');
      await open(`/env/dev/webhooks-in?id=${id}`);
      await button('Process again').click();
      await seen('The webhook was processed again');
      expect((await read(`/webhook-deliveries/${id}`)).data.disposition).toBe('reprocessed');
    });

    it('removes a variable', async () => {
      await send('PUT', '/environment-variables/OLD', { body: { value: 'x' } });
      await open('/env/dev/variables');
      await button('Remove OLD…').click();
      await seen('Its value is lost');
      await button('Remove the variable').click();
      await seen('OLD was removed');
      const names = (await read('/environment-variables')).map((one: { name: string }) => one.name);
      expect(names).not.toContain('OLD');
    });

    it('reveals and deletes a key of an environment', async () => {
      const { data } = await send('POST', '/environment/api-keys', {
        key: world().gateway.accountKey,
        body: { environment_id: world().environmentId, display_name: 'old backend' },
      });
      await open(`/account/environments/${world().environmentId}`);
      await choose('Actions of old backend', 'Reveal (audited)');
      await seen(data.secret);
      await button('Close').click();
      await choose('Actions of old backend', 'Delete…');
      await button('Delete the key').click();
      await seen('old backend was deleted');
      const refused = await world().gateway.call('GET', '/environment-variables', {
        key: data.secret,
      });
      expect(refused.status).toBe(401);
    });

    it('creates a key with chosen scopes that expires, and rotates it', async () => {
      const keys = `/environment/api-keys?environment_id=${world().environmentId}`;
      const find = async (name: string) =>
        (await readOfAccount(keys)).data.find(
          (one: { display_name: string }) => one.display_name === name,
        );
      const secretOnPage = () => current().page.locator('code.secret').innerText();
      await open('/env/dev/keys');
      await button('Create a key').click();
      await field('Name').fill('reporting');
      await field('Access').selectOption('scopes');
      await button('Create the key').click();
      await seen('Choose at least one scope.');
      await field('Search the scopes').fill('records');
      await field('All of “Records” also those that a later version adds').check();
      await field('Search the scopes').fill('read runs');
      await field('Read runs and logs logs:read').check();
      await field('Expires').selectOption('30');
      await screenshot(current().page, 'console-key-scopes');
      await button('Create the key').click();
      await seen('Secret of the key');
      const first = await secretOnPage();
      await button('Close').click();
      expect((await find('reporting')).scopes).toEqual([
        'environment:records:*',
        'environment:logs:read',
      ]);
      const reads = (key: string) =>
        world().gateway.call('GET', '/runs?connection_id=none', { key });
      expect((await reads(first)).status).not.toBe(401);
      await choose('Actions of reporting', 'Rotate…');
      await screenshot(current().page, 'console-key-rotation-1');
      await button('Make a new secret').click();
      await seen('Copy it now, and put it wherever the old one stands.');
      const second = await secretOnPage();
      expect((await reads(second)).status).not.toBe(401);
      expect((await reads(first)).status).not.toBe(401);
      await button('It is in place').click();
      await seen('Works until');
      await screenshot(current().page, 'console-key-rotation-3');
      await button('Let it end by itself').click();
      await choose('Actions of reporting', 'Go on with the rotation…');
      await button('End the old secret now…').click();
      await button('End the old secret').click();
      await seen('The old secret of reporting has ended');
      expect((await reads(first)).status).toBe(401);
      expect((await reads(second)).status).not.toBe(401);
      expect((await find('reporting')).previous_secret).toBeNull();
    });

    it('rotates a key of the account', async () => {
      const made = await send('POST', '/account/api-keys', {
        key: world().gateway.accountKey,
        body: { display_name: 'nightly' },
      });
      const reads = (key: string) => world().gateway.call('GET', '/environments', { key });
      await open('/account/keys');
      await choose('Actions of nightly', 'Rotate…');
      await button('Make a new secret').click();
      await button('It is in place').click();
      await button('End the old secret now…').click();
      await button('End the old secret').click();
      await seen('The old secret of nightly has ended');
      expect((await reads(made.data.secret)).status).toBe(401);
      await choose('Actions of nightly', 'Delete…');
      await button('Delete the key').click();
      await seen('nightly was deleted');
      const { data } = await readOfAccount('/account/api-keys');
      expect(data.map((one: { display_name: string }) => one.display_name)).not.toContain(
        'nightly',
      );
    });

    it('creates an environment, changes its settings and deletes it', async () => {
      await open('/account/environments');
      await button('Create an environment').click();
      await field('Name').fill('staging');
      await button('Create the environment').click();
      await seen('staging was created');
      const all = async () =>
        (await readOfAccount('/environments')).data as { id: number; name: string }[];
      const { id } = (await all()).find(({ name }) => name === 'staging')!;
      await open(`/account/environments/${id}/settings`);
      await field('Webhook address').fill('https://hooks.example.com/svc');
      await field('A sync failed').uncheck();
      await field('Delete records after (days without a run)').fill('90');
      await field('Inputs of actions that do not fit').selectOption('warn');
      await field('Values of functions that do not fit their schema').selectOption('error');
      await button('Save the settings').click();
      await seen('The settings were saved');
      expect((await readOfAccount(`/environments/${id}`)).data).toMatchObject({
        webhook_url: 'https://hooks.example.com/svc',
        on_sync_error: false,
        retention: { delete_after_days: 90 },
        validation: 'error',
        input_validation: 'warn',
      });
      await button('Delete the environment…').click();
      await field('Type staging to confirm').fill('staging');
      const reads = await readsAfter(`/environments/${id}`, async () => {
        await button('Delete the environment').click();
        await seen('staging was deleted');
      });
      expect(reads).toBe(0);
      expect((await all()).map(({ name }) => name)).not.toContain('staging');
    });

    it('gives the connect page a logo, colors, a theme and texts', async () => {
      const path = `/environments/${world().environmentId}`;
      await open(`/account${path}/connect-page`);
      await field('Logo').setInputFiles({ name: 'a.gif', mimeType: 'image/gif', buffer: dot });
      await seen('Choose a PNG, JPEG, WebP or SVG image.');
      await field('Logo').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: dot });
      await field('Primary color, light').fill('#0b6e4f');
      await field('Default theme').selectOption('light');
      await field('Language').selectOption('en');
      await field('Text').selectOption('connect');
      await field('Replacement').fill('Link it');
      const sample = current().page.getByRole('region', { name: 'Preview, light' });
      await sample.getByText('Link it').waitFor();
      await sample.getByRole('img', { name: 'Logo' }).waitFor();
      await screenshot(current().page, 'console-connect-page-settings');
      await button('Save the connect page').click();
      await seen('The connect page was saved');
      const logo = `data:image/png;base64,${dot.toString('base64')}`;
      const { connect_ui: saved } = (await readOfAccount(path)).data;
      expect(saved).toMatchObject({
        logo,
        default_theme: 'light',
        texts: { en: { connect: 'Link it' } },
      });
      expect(saved.theme).toMatchObject({ light: { primary: '#0b6e4f' } });
      await button('Remove the logo').click();
      await field('Replacement').fill('');
      await button('Save the connect page').click();
      await current().page.getByText('The connect page was saved').nth(1).waitFor();
      const { connect_ui: removed } = (await readOfAccount(path)).data;
      expect(removed).not.toHaveProperty('logo');
      expect(removed).not.toHaveProperty('texts');
    });

    it('takes a key out of the session, whose pages stop reading before it is refused', async () => {
      await open('/env/dev');
      const { page } = current();
      const environments = page.getByRole('link', { name: 'Environments' });
      await environments.waitFor();
      const gone = environments.waitFor({ state: 'detached' });
      const removed = page.waitForResponse((response) => response.request().method() === 'DELETE');
      await page.route('**/*', async (route) => {
        // The gateway still takes the key until what it showed is gone.
        if (route.request().method() === 'DELETE') await gone;
        await route.continue();
      });
      await choose('Session', 'Remove the key of the account');
      await gone;
      await removed;
      await page.unroute('**/*');
      await page.reload();
      await button('Session').click();
      await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
      expect(await page.getByRole('menuitem', { name: /^Remove the key/ }).count()).toBe(0);
      // The key itself stays.
      await readOfAccount('/environments');
    });
  });
}
