import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly example?: unknown;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly example?: unknown }>>;
  };
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Reads first, so that what the others delete is still there; sign-outs and deletions last. */
const order = ['get', 'post', 'put', 'patch', 'delete'];
/** Refusals of the form of a request: no example may get one. */
const ofForm = ['invalid_body', 'invalid_query_params', 'invalid_uri_params', 'invalid_headers'];

let gateway: RunningGateway;
let token: string;
let document: Document;
beforeAll(async () => {
  gateway = await startGateway();
  // What the examples name.
  const integration = { provider: 'demo-key', unique_key: 'crm' };
  await gateway.call('POST', '/integrations', { body: integration });
  const connection = { provider_config_key: 'crm', connection_id: 'acme-1' };
  const credentials = { type: 'API_KEY', apiKey: 'demo' };
  const made = await gateway.call('POST', '/connections', { body: { ...connection, credentials } });
  expect(made.status).toBe(201);
  const session = { end_user: { id: 'u' }, allowed_integrations: ['crm'] };
  const opened = await gateway.call('POST', '/connect/sessions', { body: session });
  ({ token } = (opened.body as { data: { token: string } }).data);
  document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as Document;
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** The request that the document shows: required parameters and the body. */
async function sent(method: string, path: string, operation: Operation) {
  const needed = (operation.parameters ?? []).filter(({ required }) => required === true);
  const of = (place: string) => needed.filter((one) => one.in === place);
  const address = new URL(
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(of('path').find((one) => one.name === name)?.example)),
    ),
    gateway.url,
  );
  for (const { name, example } of of('query')) address.searchParams.append(name, String(example));
  const [mediaType, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const schemes = new Set((operation.security ?? []).flatMap((one) => Object.keys(one)));
  if (schemes.has('connectTokenInQuery')) address.searchParams.set('connect_session_token', token);
  const keys = [
    ['environmentCredential', gateway.key],
    ['accountCredential', gateway.accountKey],
    ['connectCredential', token],
  ] as const;
  const key = keys.find(([name]) => schemes.has(name))?.[1];
  const body = media?.example;
  const leaving = new AbortController();
  const response = await fetch(address, {
    method,
    redirect: 'manual',
    signal: leaving.signal,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(mediaType === undefined ? {} : { 'content-type': mediaType }),
      ...Object.fromEntries(of('header').map(({ name, example }) => [name, String(example)])),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const text = isStream ? '' : await response.text();
  leaving.abort();
  return { status: response.status, text };
}

describe('the examples of the API reference', () => {
  it('are requests that the gateway takes, or refuses for their contents alone', async () => {
    const wrong: string[] = [];
    let accepted = 0;
    let all = 0;
    for (const method of order) {
      for (const [path, operations] of Object.entries(document.paths)) {
        const operation = operations[method];
        if (operation === undefined) continue;
        all++;
        const { status, text } = await sent(method.toUpperCase(), path, operation);
        if (status < 400) accepted++;
        const isDocumented = [String(status), 'default'].some((one) => one in operation.responses);
        const isOfForm =
          ofForm.some((code) => text.startsWith(`{"error":{"code":"${code}"`)) &&
          !/is taken|declares the model/.test(text);
        if (!isDocumented || isOfForm || status === 500)
          wrong.push(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
      }
    }
    console.log(`examples of ${all} operations sent: ${accepted} accepted`);
    expect(wrong).toEqual([]);
    expect(accepted).toBeGreaterThan(all / 3);
  });
});
