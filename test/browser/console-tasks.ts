/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-return,
   typescript/no-unsafe-call -- a test looks into any answer */
import { expect } from 'vitest';
import { eventually } from '#test/support/worlds/crm-world.ts';
import type { CrmConsole } from './console-crm.ts';
import type { Newcomer } from './console-newcomer.ts';

export interface ConsoleTask {
  readonly title: string;
  /** A setup that leads step by step has as many clicks as it needs. */
  readonly isGuided?: true;
  /** What has to be there before, made through the API. */
  prepare?(newcomer: Newcomer): Promise<void>;
  run(newcomer: Newcomer): Promise<void>;
  /** Removes what would be in the way of the same task in another look. */
  undo?(newcomer: Newcomer): Promise<void>;
}

const contact = (name: string) => [{ id: 'c1', name }];
/** The connection of the world. */
const person = 'Ada of Example';

const destinations = async ({ read }: Newcomer) => (await read('/alert-destinations')).data;

async function deleteDestinations(newcomer: Newcomer): Promise<void> {
  for (const { id } of await destinations(newcomer))
    await newcomer.send('DELETE', `/alert-destinations/${id}`);
}

const environmentKeys = async ({ opened, readOfAccount }: Newcomer) =>
  (await readOfAccount(`/environment/api-keys?environment_id=${opened.world.environmentId}`)).data;

async function deleteEnvironmentKey(newcomer: Newcomer, name: string): Promise<void> {
  const { opened, send } = newcomer;
  const { id } = (await environmentKeys(newcomer)).find(
    (one: { display_name: string }) => one.display_name === name,
  );
  const body = { environment_id: opened.world.environmentId, key_id: id };
  await send('DELETE', '/environment/api-keys', { key: opened.gateway.accountKey, body });
  await environmentKeys(newcomer);
}

/** What happens to the data of users. */
const dataTasks: readonly ConsoleTask[] = [
  {
    title: 'finds why a sync fails',
    async run({ page, go, press, link, seen, read }) {
      await go('Runs');
      await press(link('scripted'));
      await seen('the provider speaks another language');
      const { data } = await read('/runs?function=scripted');
      expect(page.url()).toContain(data[0].id);
    },
  },
  {
    title: "sees a record's history",
    async run({ opened, page, go, press, link, seen }) {
      await go('Connections');
      await press(link(person));
      await press(link('Records'));
      await press(link('c1'));
      await page.getByRole('dialog').getByRole('heading', { name: 'Changes' }).waitFor();
      const path = '/records/history?model=Contact&id=c1';
      const { headers } = opened.crm;
      const { body } = await opened.gateway.call('GET', path, { headers });
      expect(body.changes.length).toBeGreaterThan(1);
      await seen(`"${body.changes[1].payload.name}"`);
    },
  },
  {
    title: 'takes a run back',
    async prepare({ opened: { crm }, look }) {
      for (const name of [`before ${look}`, `mistaken ${look}`]) {
        crm.account.contacts = contact(name);
        await crm.run('contacts');
      }
    },
    async run({ opened: { crm }, look, go, press, button, link, seen }) {
      await go('Runs');
      await press(link('contacts'));
      await press(button('Revert…'));
      await press(button('Revert the run'));
      await seen('The writes of the run were reverted');
      await eventually(
        () => crm.records('Contact'),
        ({ records: [first] }) => first?.['name'] === `before ${look}`,
      );
    },
  },
  {
    title: 'runs an action',
    async run({ opened, look, go, select, type, press, button, seen, read }) {
      const newest = () => read('/runs?function=echo&status=succeeded&limit=1');
      const [before] = (await newest()).data;
      await go('Playground');
      await select('Action', 'echo');
      await type('Input', `{"hello":"world of ${look}"}`);
      await press(button('Run the action'));
      await seen(`"world of ${look}"`);
      const { data } = await eventually(newest, ({ data: [run] }) => run?.id !== before?.id);
      expect(data).toMatchObject([{ kind: 'action', connection_id: opened.crm.id }]);
    },
  },
  {
    title: 'retries a dead letter',
    async run({ go, press, link, button, seen, readOfAccount }) {
      const consumer = 'svc.lifecycle-hooks';
      const retries = async (): Promise<number> => {
        const { data } = await readOfAccount(`/dead-letters?consumer=${consumer}`);
        return data.reduce((sum: number, one: { retries: number }) => sum + one.retries, 0);
      };
      const before = await retries();
      await go('Dead letters');
      await press(link(consumer));
      await press(button('Retry'));
      await seen('The message goes to its consumer again');
      await eventually(retries, (count) => count === before + 1);
    },
  },
  {
    title: 'rebuilds a projection',
    async run({ go, press, link, button, seen, readOfAccount }) {
      await go('Projections');
      await press(link('records'));
      await press(button('Rebuild…'));
      await press(button('Rebuild'));
      await seen('Requested');
      await eventually(
        () => readOfAccount('/projections/records'),
        ({ data }) => data.generations.length > 1,
      );
    },
    async undo({ opened, send, readOfAccount }) {
      const { data } = await readOfAccount('/projections/records');
      const { generation } = data.generations.find(
        (one: { generation: number }) => one.generation !== data.active_generation,
      );
      const path = `/projections/records/generations/${generation}`;
      await send('DELETE', path, { key: opened.gateway.accountKey });
      await eventually(
        () => readOfAccount('/projections/records'),
        (left) => left.data.generations.length === 1,
      );
    },
  },
];

const webhookTasks: readonly ConsoleTask[] = [
  {
    title: 'resends a webhook',
    async run({ page, go, press, button, seen, read }) {
      const before = Number((await read('/webhook-messages')).data.length);
      await go('Webhooks out');
      await press(page.getByRole('link', { name: 'sync', exact: true }).first());
      await press(button('Resend'));
      await seen('The webhook is sent once more');
      expect((await read('/webhook-messages')).data).toHaveLength(before + 1);
    },
  },
  {
    title: 'replays a range of webhooks',
    async run({ page, go, press, button, seen, read }) {
      const before = Number((await read('/webhook-messages?limit=1000')).data.length);
      await go('Webhooks out');
      await press(button('Replay a range…'));
      await press(button('Count them'));
      const send = page.getByRole('button', { name: /^Send \d+ again$/ });
      const [, count] = /Send (\d+) again/.exec(await send.innerText()) ?? [];
      await press(send);
      await seen(new RegExp(`Sending ${count} webhooks? again`));
      const { data } = await read('/webhook-messages?limit=1000');
      expect(data).toHaveLength(before + Number(count));
    },
  },
  {
    title: 'adds an endpoint for one connection',
    async run({ opened, page, go, press, link, button, type, seen, read }) {
      await go('Webhooks out');
      await press(link('Endpoints'));
      await press(button('Add an endpoint'));
      await type('Address', `${opened.world.receiver.url}/more`);
      await type('Only of the connection', 'da of ex');
      const found = page.locator(`datalist option[value="${opened.crm.id}"]`);
      await found.waitFor({ state: 'attached' });
      await press(button('Add the endpoint'));
      await seen('The endpoint was added');
      const { data } = await read('/webhook-endpoints');
      expect(data.at(-1)).toMatchObject({
        url: `${opened.world.receiver.url}/more`,
        provider_config_key: 'crm',
        connection_id: opened.crm.id,
      });
    },
    async undo({ send, read }) {
      const { id } = (await read('/webhook-endpoints')).data.at(-1);
      await send('DELETE', `/webhook-endpoints/${id}`);
      await read('/webhook-endpoints');
    },
  },
  {
    title: 'reveals the signing key',
    async run({ opened, go, press, link, button, seen, read }) {
      await go('Webhooks out');
      await press(link('Signing key'));
      await press(button('Reveal (audited)'));
      await seen(opened.world.signingKey);
      const { data } = await read('/environment/webhook-signing-key');
      expect(data.webhook_signing_key).toBe(opened.world.signingKey);
    },
  },
  {
    title: 'sets an alert destination',
    async run({ opened, go, press, button, type, seen, ...rest }) {
      await go('Alerts');
      await press(button('Add a destination'));
      await type('Target', `${opened.world.receiver.url}/alerts`);
      await type('Name', 'on duty');
      await press(button('Add the destination'));
      await seen('The destination was added');
      expect((await rest.read('/alert-destinations')).data).toMatchObject([
        { type: 'webhook', display_name: 'on duty', alerts: null, enabled: true },
      ]);
    },
    undo: deleteDestinations,
  },
  {
    title: 'sends a test alert',
    async prepare({ opened, send, read }) {
      const target = `${opened.world.receiver.url}/alerts`;
      const body = { type: 'webhook', target, display_name: 'on duty' };
      await send('POST', '/alert-destinations', { body });
      await read('/alert-destinations');
    },
    async run({ opened, go, choose, seen }) {
      const before = opened.world.receiver.received.length;
      await go('Alerts');
      await choose('Actions of on duty', 'Send a test');
      await seen('The test was delivered');
      await eventually(
        () => Promise.resolve(opened.world.receiver.received.slice(before)),
        (all) => all.some(({ path, body }) => path === '/alerts' && body.includes('"test"')),
      );
    },
    undo: deleteDestinations,
  },
];

/** What lets people and programs in. */
const accessTasks: readonly ConsoleTask[] = [
  {
    title: 'connects an account',
    async run({ opened, look, page, go, press, link, button, type, read }) {
      await go('Connections');
      await press(link('Connect an account'));
      await type('End user', `newcomer-${look}`);
      const opening = page.context().waitForEvent('page');
      await press(button('Open the connect page'));
      const connectPage = await opening;
      await connectPage.getByLabel('Account', { exact: true }).fill(`account of ${look}`);
      await connectPage.getByLabel('API key', { exact: true }).fill(opened.world.provider.apiKey);
      await press(connectPage.getByRole('button', { name: 'Connect', exact: true }));
      await connectPage.getByRole('heading', { name: 'CRM is connected' }).waitFor();
      const { connections } = await read(`/connections?endUserId=newcomer-${look}`);
      expect(connections).toMatchObject([{ provider_config_key: 'crm', errors: [] }]);
      await connectPage.close();
    },
    async undo({ look, send, read }) {
      const { connections } = await read(`/connections?endUserId=newcomer-${look}`);
      const id = connections[0].connection_id;
      await send('DELETE', `/connections/${id}?provider_config_key=crm`);
      await read('/connections');
    },
  },
  {
    title: 'adds an integration',
    isGuided: true,
    async run({ look, page, go, press, link, button, type, seen, read }) {
      await go('Integrations');
      await press(link('Add an integration'));
      await type('Search', 'affinity');
      await press(page.getByRole('list', { name: 'Providers' }).getByRole('link').first());
      await type('Key', `affinity-${look}`);
      await press(button('Add the integration'));
      await seen(`affinity-${look} was added`);
      const { data } = await read(`/integrations/affinity-${look}`);
      expect(data).toMatchObject({ provider: 'affinity' });
    },
    async undo({ look, send, read }) {
      await send('DELETE', `/integrations/affinity-${look}`);
      await read('/integrations');
    },
  },
  {
    title: 'adds a variable',
    async run({ go, press, button, type, seen, read }) {
      await go('Variables');
      await press(button('Set a variable'));
      await type('Name', 'REGION');
      await type('Value', 'eu-1');
      await press(button('Set the variable'));
      await seen('REGION was set');
      expect(await read('/environment-variables')).toEqual([{ name: 'REGION', value: 'eu-1' }]);
    },
    async undo({ send, read }) {
      await send('DELETE', '/environment-variables/REGION');
      await read('/environment-variables');
    },
  },
  {
    title: 'creates a key of an environment',
    async run(newcomer) {
      const { go, press, button, type, seen } = newcomer;
      await go('API keys');
      await press(button('Create a key'));
      await type('Name', 'backend');
      await press(button('Create the key'));
      await seen('Secret of the key');
      const names = (await environmentKeys(newcomer)).map(
        (one: { display_name: string }) => one.display_name,
      );
      expect(names).toContain('backend');
    },
    undo: (newcomer) => deleteEnvironmentKey(newcomer, 'backend'),
  },
  {
    title: 'rotates a key of an environment',
    async prepare(newcomer) {
      const { opened, send } = newcomer;
      const body = {
        environment_id: opened.world.environmentId,
        display_name: 'worker',
        scopes: ['environment:*'],
      };
      await send('POST', '/environment/api-keys', { key: opened.gateway.accountKey, body });
      await environmentKeys(newcomer);
    },
    async run(newcomer) {
      const { page, go, choose, press, button, seen } = newcomer;
      await go('API keys');
      await choose('Actions of worker', 'Rotate…');
      await press(button('Make a new secret'));
      await seen('Copy it now');
      const key = await page.locator('code.secret').innerText();
      expect((await newcomer.opened.gateway.call('GET', '/runs', { key })).status).toBe(200);
      const worker = (await environmentKeys(newcomer)).find(
        (one: { display_name: string }) => one.display_name === 'worker',
      );
      expect(worker.previous_secret).not.toBeNull();
    },
    undo: (newcomer) => deleteEnvironmentKey(newcomer, 'worker'),
  },
  {
    title: 'creates a key of the account, and sees its secret once',
    async run({ opened, look, page, go, press, button, type, seen }) {
      await go('Account keys');
      await press(button('Create a key'));
      await type('Name', `operations ${look}`);
      await press(button('Create the key'));
      await seen('It is not shown again');
      const secret = await page.locator('code.secret').innerText();
      const listed = await opened.gateway.call('GET', '/account/api-keys', { key: secret });
      expect(listed.status).toBe(200);
    },
  },
  {
    title: 'deletes a key of the account',
    async run({ look, go, choose, press, button, seen, readOfAccount }) {
      await go('Account keys');
      await choose(`Actions of operations ${look}`, 'Delete…');
      await press(button('Delete the key'));
      await seen(`operations ${look} was deleted`);
      const { data } = await readOfAccount('/account/api-keys');
      const names = data.map((one: { display_name: string }) => one.display_name);
      expect(names).not.toContain(`operations ${look}`);
    },
  },
  {
    title: 'invites a person',
    async run({ look, go, press, button, type, select, seen, readOfAccount }) {
      const email = `${look}@example.com`;
      await go('People');
      await press(button('Invite a person'));
      await type('Name', `Grace ${look}`);
      await type('E-mail address', email);
      await select('Environment dev', 'developer');
      await press(button('Make the invitation'));
      await seen(`The link signs in as Grace ${look}`);
      const { data } = await readOfAccount('/people');
      expect(data.find((one: { email: string }) => one.email === email)).toMatchObject({
        display_name: `Grace ${look}`,
        roles: [{ environment: 'dev', role: 'developer' }],
      });
    },
  },
  {
    title: 'verifies and exports a chain of the audit trail',
    async run({ page, go, press, link, seen }) {
      await go('Audit');
      await press(link('Chains'));
      await press(page.getByTitle('Verify the chain of dev'));
      await seen('whole');
      const saving = page.waitForEvent('download');
      await press(page.getByTitle('Export the chain of dev as NDJSON'));
      const file = await saving;
      expect(file.suggestedFilename()).toBe('audit-dev.ndjson');
      expect(await file.failure()).toBeNull();
    },
  },
];

/** What people do in the console, each from Home on. */
export const consoleTasks: readonly ConsoleTask[] = [...dataTasks, ...webhookTasks, ...accessTasks];

/** Gives the connection of the world the name that the tasks know it by. */
export async function nameConnection(opened: CrmConsole): Promise<void> {
  const path = `/connections/${opened.crm.id}?provider_config_key=crm`;
  const body = { end_user: { id: 'ada', display_name: person } };
  const { status } = await opened.gateway.call('PATCH', path, { body });
  expect(status).toBe(200);
  await opened.crm.shown();
}
