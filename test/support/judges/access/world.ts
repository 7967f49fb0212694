/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Answer } from '../../processes/gateway.ts';
import {
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '../../worlds/crm-world.ts';
import type { Names, Sent } from './row.ts';

/** Two environments: the first has something of every kind, the other an integration of the same key. */
export interface AccessWorld extends AsyncDisposable {
  readonly crm: SharedCrmWorld;
  readonly connection: CrmConnection;
  /** What is there in the first. */
  readonly present: Names;
  /** What stands in the first alone and may be seen by its keys alone. */
  readonly marks: Readonly<Record<string, string>>;
  /** A new key of the first. @param scopes without `environment:` */
  makeKey(scopes: readonly string[]): Promise<MadeKey>;
  /** The token of a new connect session of the first. */
  makeToken(): Promise<string>;
}

export interface MadeKey {
  readonly secret: string;
  remove(): Promise<void>;
}

const mark = (what: string) => `${what}-${randomBytes(9).toString('hex')}`;

/** Names of nothing; the shared integration is there in every environment. */
export const missing = (): Names => ({
  integration: randomUUID(),
  shared: 'crm',
  connection: randomUUID(),
  apiKey: randomUUID(),
  sync: randomUUID(),
  variant: randomUUID(),
  variable: randomUUID(),
  environmentId: 999_999,
  action: randomUUID(),
  cursor: 'none',
});

/** @param openCrm opens the world in which it is; default: that of the gateway which the files of a worker share */
export async function openAccessWorld(
  openCrm: (options: { readonly apiKey: string }) => Promise<SharedCrmWorld> = openSharedCrmWorld,
): Promise<AccessWorld> {
  await using stack = new AsyncDisposableStack();
  const marks = {
    apiKey: mark('api-key'),
    integration: mark('integration'),
    metadata: mark('metadata'),
    tag: mark('tag'),
    record: mark('record'),
    variable: mark('variable'),
    output: mark('output'),
    clientSecret: mark('client-secret'),
  };
  const crm = stack.use(await openCrm({ apiKey: marks.apiKey }));
  const { gateway } = crm;
  const connection = await crm.connect({
    metadata: { secret: marks.metadata },
    tags: { team: marks.tag },
  });
  connection.account.contacts = [
    { id: 'c-1', name: marks.record },
    { id: 'c-2', name: marks.record },
  ];
  await connection.run('contacts');
  const [record] = await connection.all('Contact');
  const credentials = { type: 'OAUTH2', client_id: 'app', client_secret: marks.clientSecret };
  const integration = { provider: 'crm-oauth', unique_key: marks.integration, credentials };
  succeeded(await gateway.call('POST', '/integrations', { body: integration }));
  const variable = mark('VARIABLE');
  const set = { body: { value: marks.variable } };
  succeeded(await gateway.call('PUT', `/environment-variables/${variable}`, set));
  const variant = mark('variant');
  const named = { body: { provider_config_key: 'crm', connection_id: connection.id } };
  succeeded(await gateway.call('POST', `/sync/contacts/variant/${variant}`, named));
  const asynchronous = { 'x-async': 'true' };
  const queued = succeeded(await connection.action('echo', marks.output, asynchronous)) as {
    readonly id: string;
  };
  const shared = { key: gateway.prodKey, body: { provider: 'crm', unique_key: 'crm' } };
  succeeded(await gateway.call('POST', '/integrations', shared));
  const present = {
    integration: marks.integration,
    shared: 'crm',
    connection: connection.id,
    apiKey: marks.apiKey,
    sync: 'contacts',
    variant,
    variable,
    environmentId: crm.environmentId,
    action: queued.id,
    cursor: record?._svc_metadata.cursor ?? '',
  };
  const opened = stack.move();
  return {
    crm,
    connection,
    present,
    marks: { ...marks, connection: connection.id },
    makeKey: (scopes) => makeKey(crm, scopes),
    async makeToken() {
      const body = { end_user: { id: randomUUID() } };
      const made = await gateway.call('POST', '/connect/sessions', { body });
      return (succeeded(made) as { data: { token: string } }).data.token;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function makeKey(
  { gateway, environmentId }: SharedCrmWorld,
  scopes: readonly string[],
): Promise<MadeKey> {
  const account = { key: gateway.accountKey };
  const body = {
    environment_id: environmentId,
    display_name: randomUUID(),
    scopes: scopes.map((scope) => `environment:${scope}`),
  };
  const { id, secret } = succeeded(
    await gateway.call('POST', '/environment/api-keys', { ...account, body }),
  ).data as { id: string; secret: string };
  const named = { environment_id: environmentId, key_id: id };
  return {
    secret,
    async remove() {
      succeeded(await gateway.call('DELETE', '/environment/api-keys', { ...account, body: named }));
    },
  };
}

/** Sends the request of a row with a key. @param key null: no Authorization header */
export function ask(
  { crm: { gateway } }: AccessWorld,
  endpoint: string,
  { path, body, headers = {} }: Sent,
  key: string | null,
): Promise<Answer> {
  const method = endpoint.slice(0, endpoint.indexOf(' '));
  return gateway.call(method, path, { key, headers, ...(body === undefined ? {} : { body }) });
}

export const textOf = ({ body }: Answer): string =>
  typeof body === 'string' ? body : JSON.stringify(body);

/** The body without what names the request in a refusal: no two requests have the same. */
export function withoutRequestId(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('error' in body)) return body;
  const { request_id: _, ...error } = body.error as Record<string, unknown>;
  return { ...body, error };
}
