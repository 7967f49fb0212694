import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { takeUnread } from '#test/support/judges/answers.ts';
import { clippedIn } from './clipping.ts';
import { driverOf, type Driven } from './console-driver.ts';
import { openConsoleWorld, type ConsoleWorld } from './console-world.ts';
import { screenshot, violationsOf } from './world.ts';

let world: ConsoleWorld;
let driven: Driven;
let page: Page;
beforeAll(async () => {
  world = await openConsoleWorld();
  driven = { ...(await world.signedIn()), gateway: world.gateway };
  ({ page } = driven);
  const app = { type: 'OAUTH2', client_id: 'id', client_secret: 'secret' };
  await send('POST', '/integrations', {
    body: {
      provider: 'hubspot',
      unique_key: 'crm-eu',
      credentials: { ...app, scopes: 'oauth,crm.objects.contacts.write' },
    },
  });
  await send('POST', '/integrations', {
    body: { provider: 'github', unique_key: 'code', credentials: app },
  });
  for (const [key, id, name] of [
    ['crm-eu', 'c-1', 'Ada'],
    ['code', 'c-2', 'Grace'],
  ] as const) {
    await send('POST', '/connections', {
      body: {
        provider_config_key: key,
        connection_id: id,
        credentials: { type: 'OAUTH2', access_token: 'token' },
        end_user: { id, display_name: name },
      },
    });
  }
});
afterEach(() => {
  expect(driven.complaints).toEqual([]);
  expect(takeUnread(), 'not read back').toEqual([]);
});
afterAll(() => world[Symbol.asyncDispose]());

const { button, field, link, open, read, send, seen } = driverOf(() => driven);
const templates = '/env/dev/integrations/crm-eu/templates';

/** At the widths of a desk and of a phone: nothing is cut off, and axe accepts it. */
async function looksGood(name: string): Promise<void> {
  for (const [theme, width] of [
    ['light', 1440],
    ['dark', 1440],
    ['light', 390],
    ['dark', 390],
  ] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize({ width, height: 900 });
    await page.waitForFunction(
      (wanted) => document.documentElement.dataset['theme'] === wanted,
      theme,
    );
    await screenshot(page, `console-${name}-${theme}-${width}`);
    expect(await clippedIn(page), `${name} at ${width} px`).toEqual([]);
    expect(await violationsOf(page), `${name} ${theme} ${width}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 860 });
}

describe('the templates of an integration', () => {
  it('are offered where it has no functions', async () => {
    await open('/env/dev/integrations/crm-eu/functions');
    await link('Choose a template').click();
    await seen('Contacts that were changed or deleted since the last run');
    await link('create-contact').waitFor();
    await looksGood('templates');
  });

  it('show code, what is saved, and which scopes are missing', async () => {
    await open(`${templates}?template=contacts`);
    await seen('The integration does not ask for crm.objects.contacts.read.');
    await seen(/^id, first_name, last_name, emails/);
    await seen('Changes since the last run');
    await seen('npx svc add hubspot/contacts');
    await looksGood('template');
    await page.getByRole('tab', { name: 'crm.ts' }).click();
    await seen(/export const Company = z\.object/);
    await page.getByRole('tab', { name: 'contacts.ts' }).click();
    await seen(/createSync\(\{/);
    await looksGood('template-code');
  });

  it('deploy a sync, and lead to the connections that run it', async () => {
    await open(`${templates}?template=contacts`);
    await button('Deploy').click();
    await seen('The sync is deployed. It runs for each connection, every hour.');
    await looksGood('template-deployed');
    expect(await read('/integrations/crm-eu/functions')).toMatchObject({
      data: [{ name: 'contacts', type: 'sync', source: 'standalone' }],
    });
    await link('Run it for Ada').click();
    await page.getByRole('heading', { name: 'Ada' }).waitFor();
    await button('Actions of contacts').waitFor();
  });

  it('deploy an action, and lead to the playground', async () => {
    await open(`${templates}?template=create-contact`);
    await button('Deploy').click();
    await link('Run it in the playground').click();
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    await expect.poll(() => field('Action').inputValue()).toBe('create-contact');
    const path = '/integrations/crm-eu/functions/create-contact?type=action';
    expect(await read(path)).toMatchObject({ data: { source: 'standalone' } });
  });

  it('name the metadata that connections need', async () => {
    await open('/env/dev/integrations/code/templates?template=issues');
    await page.getByText('Metadata of a connection').waitFor();
    await page
      .getByRole('definition')
      .filter({ hasText: /^repository$/ })
      .waitFor();
    await button('Deploy').click();
    await link('Set the metadata of Grace').waitFor();
    expect(await read('/integrations/code/functions')).toMatchObject({
      data: [{ name: 'issues' }],
    });
  });

  it('show why a deployment failed, and its fix', async () => {
    const code = `import { createSync } from 'svc';
import { z } from 'zod';
export default createSync({
  description: 'People',
  frequency: 'every hour',
  models: { Contact: z.object({ id: z.string() }) },
  exec: async (svc) => {
    await svc.batchSave([{ id: '1' }], 'Contact');
  },
});
`;
    await send('DELETE', '/integrations/crm-eu/functions/contacts?type=sync');
    const queued: unknown = await send('POST', '/functions/deployments', {
      body: {
        type: 'function',
        integration_id: 'crm-eu',
        function_name: 'people',
        function_type: 'sync',
        code,
      },
    });
    const deployment = `/functions/deployments/${(queued as { id: string }).id}`;
    await expect.poll(() => read(deployment)).toMatchObject({ status: 'success' });
    await open(`${templates}?template=contacts`);
    await button('Deploy').click();
    await seen(/The model "Contact" is defined multiple times in "crm-eu"/);
    await seen(/Remove one of the two syncs/);
    await looksGood('template-failed');
    expect(await read('/integrations/crm-eu/functions?search=contacts')).toMatchObject({
      data: [],
    });
  });
});
