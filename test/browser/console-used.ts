/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-argument, typescript/no-unsafe-return,
   typescript/no-unsafe-assignment -- a test looks into any answer */
import { definitionsOf } from '#test/support/fakes/fake-provider.ts';
import { eventually, succeeded, type CrmConnection } from '#test/support/worlds/crm-world.ts';
import { openCrmConsole, type CrmConsole } from './console-crm.ts';

/** The console of an environment in which something of each kind happened, with the longest names that people give. */
export interface UsedConsole extends CrmConsole {
  /** Connections of people: with a name, with a mail address alone, of no one. */
  readonly people: readonly CrmConnection[];
  /** A run that failed. */
  readonly failedRun: string;
  /** The log of that run. */
  readonly operation: string;
}

/** Receives webhooks of its provider, which the fake provider plays. */
const received = 'crm-with-webhooks-of-its-provider';

export const longName = 'Maximiliane Freifrau von Hohenstein-Waldenburg (sales of the north-east)';

/** Has a parked change. */
export const subscription = 'warehouse-of-the-people-who-analyse-what-customers-do';

const owners = [
  {
    end_user: { id: 'user-8841', display_name: longName, email: 'maximiliane@hohenstein.example' },
  },
  {
    end_user: { id: 'b1a7c9d4-0f7e-4a6e-9a55-0f4a4a2d9a51', email: 'accounts.payable@example.com' },
  },
  {},
];

export async function openUsedConsole(): Promise<UsedConsole> {
  await using stack = new AsyncDisposableStack();
  const routed = (url: string) => {
    const { crm } = definitionsOf({ url }) as { crm: object };
    return { [received]: { ...crm, webhook_routing: { type: [{ body: 'type' }] } } };
  };
  const opened = stack.use(await openCrmConsole({ played: routed }));
  const { gateway, world, crm } = opened;
  const send = async (method: string, path: string, body?: object) =>
    succeeded(await gateway.call(method, path, body === undefined ? {} : { body }));
  const people = await Promise.all(owners.map((owner) => world.connect(owner)));
  for (const connection of people) {
    connection.account.contacts = [
      { id: 'contact-with-a-long-id-of-its-provider', name: longName },
    ];
    await connection.run('contacts');
    await connection.action('echo', { text: longName });
    await connection.action('fail', { how: 'exception' });
  }
  await gateway.call('GET', `/proxy/contacts?text=${'long'.repeat(40)}`, { headers: crm.headers });
  await send('PUT', '/environment-variables/A_VARIABLE_WITH_A_LONG_NAME_OF_ITS_OWN', {
    value: 'https://example.com/'.padEnd(200, 'value'),
  });
  await send('POST', '/alert-destinations', {
    type: 'webhook',
    target: `${world.receiver.url}/alerts/${'of-a-team/'.repeat(6)}`,
    display_name: 'The people who are on duty for integrations at night',
  });
  await send('POST', '/webhook-endpoints', {
    url: `${world.provider.url}/an/address/that/takes/no/webhooks/${'at-all/'.repeat(5)}`,
    display_name: 'An endpoint that answers with an error',
  });
  const invited = {
    email: 'maximiliane.freifrau.von.hohenstein-waldenburg@integrations.example.com',
    display_name: longName,
    roles: ['account', 'dev', 'prod'].map((environment) => ({ environment, role: 'developer' })),
  };
  succeeded(await gateway.call('POST', '/people', { key: gateway.accountKey, body: invited }));
  await people[0]?.run('contacts');
  await send('POST', '/integrations', {
    provider: received,
    unique_key: received,
    display_name: 'Customers and contacts of the whole company',
  });
  await subscribe(opened);
  await receiveWebhook(opened);
  await people[0]?.shown();
  const failed = await eventually(
    async () => (await send('GET', '/runs?function=scripted&status=failed')).data,
    (data: readonly { id: string; log_id: string }[]) => data.length > 0,
  );
  const { id: failedRun, log_id: operation } = failed[0]!;
  const owned = stack.move();
  const close = () => owned.disposeAsync();
  return { ...opened, people, failedRun, operation, [Symbol.asyncDispose]: close };
}

/** A reader that has parked a change and read on, and one that has read nothing. */
async function subscribe({ gateway }: CrmConsole): Promise<void> {
  const send = async (method: string, path: string, body?: object) =>
    succeeded(
      await gateway.call(method, `/subscriptions${path}`, body === undefined ? {} : { body }),
    );
  const name = subscription;
  await send('PUT', `/${name}`, { provider_config_key: 'crm', model: 'Contact' });
  await send('PUT', '/everything', {});
  const { changes, cursor } = await send('GET', `/${name}/changes?limit=2`);
  const reason =
    'The row has no owner, and no owner could be found in any of the tables of the warehouse';
  await send('POST', `/${name}/parked`, { place: changes[0].place, reason });
  await send('POST', `/${name}/commit`, { cursor });
}

/** Two webhooks of the provider: one with a type, one that is no JSON. */
async function receiveWebhook({ gateway }: CrmConsole): Promise<void> {
  const { data } = succeeded(
    await gateway.call('GET', `/integrations/${received}?include=webhook`),
  );
  const post = (body: string) =>
    fetch(data.webhook_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
  await post(
    JSON.stringify({ type: 'contact.updated.with-a-type-of-the-provider', contact: 'c1' }),
  );
  await post('{');
}
