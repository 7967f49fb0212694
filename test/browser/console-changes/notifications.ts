/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-return,
   typescript/no-unsafe-call, typescript/no-unsafe-argument, typescript/restrict-plus-operands -- a test looks into any answer */
import { describe, expect, it } from 'vitest';
import { eventually } from '#test/support/worlds/crm-world.ts';
import type { CrmConsole } from '../console-crm.ts';
import { driverOf } from '../console-driver.ts';
import { screenshot } from '../world.ts';

/** Who is notified: alert destinations, endpoints of webhooks. */
export function changesOfNotifications(current: () => CrmConsole): void {
  const { button, choose, field, open, read, readOfAccount, seen, send } = driverOf(current);

  describe('a change of alerts and webhooks', () => {
    it('disables, edits and deletes an alert destination', async () => {
      const target = `${current().world.receiver.url}/alerts`;
      const body = { type: 'webhook', target, display_name: 'on duty' };
      await send('POST', '/alert-destinations', { body });
      await open('/env/dev/alerts');
      await choose('Actions of on duty', 'Disable');
      await seen('The destination was disabled');
      await seen('Nothing is observed, because no destination is enabled');
      expect(await current().page.getByText('not observed').count()).toBe(5);
      await choose('Actions of on duty', 'Enable');
      await seen('The destination was enabled');
      expect((await read('/alert-destinations')).data).toMatchObject([{ enabled: true }]);
      await choose('Actions of on duty', 'Disable');
      await seen('Nothing is observed, because no destination is enabled');
      await choose('Actions of on duty', 'Edit…');
      await field('Name').fill('on call');
      await field('Dead letters').uncheck();
      await button('Save the destination').click();
      await seen('The destination was saved');
      const [edited] = (await read('/alert-destinations')).data;
      expect(edited).toMatchObject({ display_name: 'on call', enabled: false });
      expect(edited.alerts).toHaveLength(4);
      await choose('Actions of on call', 'Delete…');
      await button('Delete the destination').click();
      await seen('on call was deleted');
      expect((await read('/alert-destinations')).data).toEqual([]);
    });

    it('tests, disables, edits and deletes an endpoint', async () => {
      const url = `${current().world.receiver.url}/more`;
      const only = { provider_config_key: 'crm', connection_id: current().crm.id };
      const made = await send('POST', '/webhook-endpoints', { body: { url, ...only } });
      const { id, display_name: name } = made.data;
      await open('/env/dev/webhooks-out/endpoints');
      const endpoint = async () =>
        (await read('/webhook-endpoints')).data.find((one: { id: string }) => one.id === id);
      await choose(`Actions of ${name}`, 'Send a test webhook');
      await eventually(
        () => Promise.resolve(current().world.receiver.received),
        (all) => all.some(({ path, body }) => path === '/more' && body.includes('"test"')),
      );
      await seen(/^Delivered: the endpoint answered 200 after/);
      await button('Close').click();
      await choose(`Actions of ${name}`, 'Disable');
      await seen('The endpoint was disabled');
      expect(await endpoint()).toMatchObject({ enabled: false });
      await choose(`Actions of ${name}`, 'Enable');
      await seen('The endpoint was enabled');
      expect(await endpoint()).toMatchObject({ enabled: true });
      await choose(`Actions of ${name}`, 'Edit…');
      await field('Name').fill('archive');
      await field('Only of the connection').fill('');
      await field('Only of the integration').selectOption('');
      await field('Headers').fill('Authorization: Bearer a:b\nX-Tenant: acme');
      await field('Waits before retries').fill('5, 60');
      await field('One webhook of a connection at a time, in order').check();
      await field('Disable after days of failures').fill('7');
      const conditions = [{ path: '/success', op: 'equals', value: false }];
      await field('Filter').fill(JSON.stringify({ match: 'all', conditions }));
      await button('Save the endpoint').click();
      await seen('The endpoint was saved');
      expect(await endpoint()).toMatchObject({
        display_name: 'archive',
        connection_id: null,
        header_names: ['authorization', 'x-tenant'],
        retry_waits_seconds: [5, 60],
        disable_after_days: 7,
        ordered: true,
        filter: { match: 'all', conditions },
      });
      await choose('Actions of archive', 'Signing key…');
      await button('Make a new key').click();
      await seen('The signing key was rotated');
      const { data: keys } = await read(`/webhook-endpoints/${id}/signing-key`);
      await seen(keys.webhook_signing_key);
      await button('Close').click();
      await choose('Actions of archive', 'Signing key…');
      await button('Reveal (audited)').click();
      await seen(keys.webhook_signing_key);
      await seen(/^The key of this endpoint alone\. The key before it signs too until/);
      await button('Close').click();
      await choose('Actions of archive', 'Edit…');
      await seen(/in place of authorization, x-tenant/);
      await field('Headers').fill('none');
      await button('Save the endpoint').click();
      await expect.poll(async () => (await endpoint()).header_names).toEqual([]);
      await choose('Actions of archive', 'Edit…');
      await field('Authenticate with OAuth 2.0 client credentials').check();
      await field('Token endpoint').fill('https://auth.example/token');
      await field('Client id').fill('svc');
      await field('Client secret').fill('secret');
      await field('Scopes').fill('hooks:write b');
      await button('Save the endpoint').click();
      const oauth = { token_url: 'https://auth.example/token', client_id: 'svc' };
      const shown = { ...oauth, client_authentication: 'basic', scopes: ['hooks:write', 'b'] };
      await expect.poll(async () => (await endpoint()).oauth).toMatchObject(shown);
      await choose('Actions of archive', 'Edit…');
      await field('Name').fill('archived');
      await button('Save the endpoint').click();
      await expect.poll(async () => (await endpoint()).display_name).toBe('archived');
      expect((await endpoint()).oauth).toMatchObject(shown);
      await choose('Actions of archived', 'Edit…');
      await field('Authenticate with OAuth 2.0 client credentials').uncheck();
      await field('Name').fill('archive');
      await button('Save the endpoint').click();
      await expect.poll(async () => (await endpoint()).oauth).toBeNull();
      await choose('Actions of archive', 'Delete…');
      await button('Delete the endpoint').click();
      await seen('The endpoint was deleted');
      expect(await endpoint()).toBeUndefined();
    });

    it('shows why a test of an endpoint fails, and which setting allows its address', async () => {
      const { receiver } = current().world;
      const before = (await read('/webhook-endpoints')).data.length;
      receiver.answer = ({ path }) => (path === '/test-fails' ? 500 : 200);
      const add = async (display_name: string, url: string) =>
        (await send('POST', '/webhook-endpoints', { body: { display_name, url } })).data.id;
      const ids = [
        await add('broken', `http://${new URL(receiver.url).host}/test-fails`),
        await add('internal', 'http://10.1.2.3:8080/hooks'),
      ];
      await open('/env/dev/webhooks-out/endpoints');
      await choose('Actions of broken', 'Send a test webhook');
      await seen(/^The endpoint answered 500 after/);
      await screenshot(current().page, 'console-webhook-test-500');
      await button('Close').click();
      await choose('Actions of internal', 'Send a test webhook');
      await seen('The service may not call this address.');
      await seen(/adds 10\.1\.2\.3:8080 to the setting SVC_EGRESS_ALLOW/);
      await screenshot(current().page, 'console-webhook-test-address');
      const [refused] = (await read(`/webhook-messages?endpoint_id=${ids[1]}`)).data;
      expect(refused).toMatchObject({ kind: 'test', status: null, error_code: 'url_not_allowed' });
      expect((await read('/webhook-endpoints')).data).toHaveLength(before + ids.length);
      receiver.answer = () => 200;
      for (const id of ids) await send('DELETE', `/webhook-endpoints/${id}`);
    });

    it('rotates the signing key', async () => {
      // That of dev was rotated a moment ago, so that two keys sign still.
      const key = current().world.gateway.prodKey;
      const before = (await read('/environment/webhook-signing-key', key)).data;
      await open('/env/prod/webhooks-out/signing-key');
      await button('Rotate…').click();
      await button('Rotate the key').click();
      await seen('The signing key was rotated');
      const { data } = await read('/environment/webhook-signing-key', key);
      expect(data.webhook_signing_key).not.toBe(before.webhook_signing_key);
      await seen(data.webhook_signing_key);
    });

    it('saves the addresses and events of the environment beside its endpoints', async () => {
      const path = `/environments/${current().world.environmentId}`;
      const before = (await readOfAccount(path)).data;
      await open('/env/dev/webhooks-out/endpoints');
      await field('Second webhook address').fill('https://hooks.example.com/second');
      await field('A sync failed').uncheck();
      await button('Save addresses and events').click();
      await seen('The addresses and events were saved');
      expect((await readOfAccount(path)).data).toMatchObject({
        webhook_url: before.webhook_url,
        webhook_url_secondary: 'https://hooks.example.com/second',
        on_sync_error: false,
      });
      await send('PATCH', path, {
        key: current().world.gateway.accountKey,
        body: { webhook_url_secondary: before.webhook_url_secondary ?? '', on_sync_error: true },
      });
    });

    it('recovers what failed', async () => {
      current().world.receiver.answer = ({ path }) => (path === '/primary' ? 410 : 200);
      await current().crm.trigger('contacts');
      await eventually(
        () => read('/webhook-messages?state=failed'),
        ({ data }) => data.length > 0,
      );
      current().world.receiver.answer = () => 200;
      const before = (await read('/webhook-messages?state=delivered')).data.length;
      await open('/env/dev/webhooks-out');
      await button('Recover failed…').click();
      await button('Count them').click();
      await current()
        .page.getByRole('button', { name: /^Send \d+ again$/ })
        .click();
      await seen(/Sending \d+ webhooks? again/);
      await eventually(
        () => read('/webhook-messages?state=delivered'),
        ({ data }) => data.length > before,
      );
    });
  });
}
