/**
 * `npm run docs:picture`: the picture of the console in the README, `docs/pictures/console.png`, of a gateway with the
 * demo provider, six customers and what their first minute leaves. Look at it before it is committed.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGateway, type GatewayAccess } from '#test/support/processes/gateway.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { openChromium } from './chromium.ts';

const file = fileURLToPath(new URL('../../docs/pictures/console.png', import.meta.url));
const customers = {
  acme: 'Acme Corporation',
  birch: 'Birch & Sons',
  castor: 'Castor Logistics',
  delta: 'Delta Dental',
  elm: 'Elm Street Books',
  fjord: 'Fjord Energy',
};

async function expectStatus(answer: Promise<{ readonly status: number; readonly body: unknown }>) {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(JSON.stringify(body));
  return body;
}

async function connectCustomers(gateway: GatewayAccess): Promise<void> {
  await expectStatus(gateway.call('POST', '/demo'));
  for (const [id, name] of Object.entries(customers)) {
    const connection = {
      provider_config_key: 'demo-key',
      connection_id: id,
      credentials: { type: 'API_KEY', apiKey: 'demo' },
      end_user: { id, display_name: name },
    };
    await expectStatus(gateway.call('POST', '/connections', { body: connection }));
  }
}

/** A day's work in a minute: actions that change records, and one whose input the provider does not know. */
async function useFunctions(gateway: GatewayAccess): Promise<void> {
  for (const id of Object.keys(customers)) {
    const headers = { 'provider-config-key': 'demo-key', 'connection-id': id };
    const rename = (contact: string) => ({
      action_name: 'rename-contact',
      input: { id: contact, name: 'Ada Lovelace' },
    });
    await gateway.call('POST', '/action/trigger', { headers, body: rename('contact-007') });
    await gateway.call('GET', '/proxy/contacts?limit=5', { headers });
    if (id === 'delta')
      await gateway.call('POST', '/action/trigger', { headers, body: rename('unknown') });
    const sync = { provider_config_key: 'demo-key', connection_id: id, syncs: ['contacts'] };
    await gateway.call('POST', '/sync/trigger', { body: sync });
  }
}

/** All contacts of every customer are readable. */
async function contactsOf(gateway: GatewayAccess): Promise<number> {
  const counts = Object.keys(customers).map(async (id) => {
    const headers = { 'provider-config-key': 'demo-key', 'connection-id': id };
    const answer = await gateway.call('GET', '/records?model=Contact&limit=1000', { headers });
    return (answer.body as { records?: readonly unknown[] }).records?.length ?? 0;
  });
  return Math.min(...(await Promise.all(counts)));
}

/** Runs that have not ended, and how many there are in all. */
async function runsOf(gateway: GatewayAccess): Promise<{ running: number; all: number }> {
  const answer = await gateway.call('GET', '/runs?limit=100');
  const { data } = answer.body as { data: readonly { ended_at: string | null }[] };
  return { running: data.filter((run) => run.ended_at === null).length, all: data.length };
}

const [path = '/console', scheme = 'light'] = process.argv.slice(2);
await using started = await startGateway({});
await connectCustomers(started);
await eventually(
  () => contactsOf(started),
  (count) => count >= 250,
);
const { all: before } = await runsOf(started);
await useFunctions(started);
await eventually(
  () => runsOf(started),
  ({ running, all }) => running === 0 && all > before,
);
await using stack = new AsyncDisposableStack();
const browser = await openChromium();
stack.defer(() => browser.close());
const context = await browser.newContext({
  viewport: { width: 1280, height: 800 },
  colorScheme: scheme === 'dark' ? 'dark' : 'light',
});
const page = await context.newPage();
await page.goto(`${started.url}/console`);
await page.getByLabel('API key').fill(started.key);
await page.getByRole('button', { name: 'Sign in', exact: true }).click();
await page.getByRole('heading', { name: 'dev' }).waitFor();
if (path !== '/console') await page.goto(started.url + path);
await page.waitForLoadState('networkidle');
// The charts are loaded after what is above them.
if (path === '/console') await page.locator('canvas').first().waitFor();
await page.screenshot({ path: file });
console.log(join('docs', 'pictures', 'console.png'));
