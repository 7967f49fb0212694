import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '#test/services/commands.ts';

/** How TypeScript resolves modules, and what a file of the project is. */
interface Flavor {
  readonly resolution: 'nodenext' | 'bundler';
  readonly format: 'esm' | 'cjs';
}

export const flavors: readonly Flavor[] = (['nodenext', 'bundler'] as const).flatMap((resolution) =>
  (['esm', 'cjs'] as const).map((format) => ({ resolution, format })),
);

/** Where the declarations find `fetch` and its types: each of them is enough. */
export type Globals = 'node' | 'dom';

const globals: Readonly<Record<Globals, object>> = {
  node: { types: ['node'], lib: ['es2023'] },
  dom: { types: [], lib: ['es2023', 'dom', 'dom.iterable'] },
};

/** Every check that a careful application switches on; the declarations of packages are checked too. */
const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: false,
  isolatedModules: true,
  skipLibCheck: false,
  target: 'es2022',
  noEmit: true,
};

/** An application that uses the client, of the module that it names. */
const clientApplication = (module: string): string => `
import { ApiError, createClient, isWebhook, verifyWebhook, WebhookVerificationError } from '${module}';
import type { Answer, Client, Connection, Operation, ServerEvent } from '${module}';

export const client: Client = createClient({ url: 'http://127.0.0.1:3003', key: 'k', retries: 1 });
export const operation: Operation = 'GET /connections';
type Connections = Answer<'GET /connections'>;

export async function use(signal: AbortSignal): Promise<readonly string[]> {
  const found: string[] = [];
  const { connections }: Connections = await client.request('GET /connections', { query: { limit: 10 } });
  for (const one of connections) found.push(one.connection_id);
  const stream = { headers: { 'provider-config-key': 'crm', 'connection-id': 'acme' } };
  for await (const page of client.pages('GET /records', { ...stream, query: { model: 'Contact' } }))
    for (const record of page.records) found.push(record.id, record._svc_metadata.cursor);
  for await (const event of client.events('GET /logs/tail', { signal })) {
    const one: ServerEvent = event;
    found.push(one.event);
  }
  const connection: Connection = await client.request('GET /connections/{connectionId}', {
    params: { connectionId: 'acme' },
    query: { provider_config_key: 'crm' },
  });
  found.push(connection.provider);
  // @ts-expect-error -- no operation has this name
  await client.request('GET /nothing');
  // @ts-expect-error -- the model is missing
  await client.request('GET /records', { ...stream, query: {} });
  return found;
}

export async function receive(body: string, headers: Record<string, string>): Promise<string> {
  try {
    const { id, payload } = await verifyWebhook({ body, headers }, 'the key');
    if (!isWebhook(payload)) return id;
    return payload.type === 'sync' ? payload.syncName : payload.type;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}
`;

const functionsProject = `
import { createAction, createOnEvent, createSync } from 'svc';
import type { Connection, ProxyConfiguration, SvcSync } from 'svc';
import unzipper from 'unzipper';
import { z } from 'zod';

const Contact = z.object({ id: z.string(), name: z.string() });

export const sync = createSync({
  description: 'Contacts',
  frequency: 'every hour',
  models: { Contact },
  checkpoint: z.object({ since: z.string() }),
  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const request: ProxyConfiguration = { endpoint: '/contacts', params: { since: checkpoint?.since } };
    const { data } = await svc.get<{ id: string; name: string }[]>(request);
    await svc.batchSave(data, 'Contact');
    // @ts-expect-error -- the sync declares no such model
    await svc.batchSave(data, 'Company');
    const archive = await unzipper.Open.buffer(Buffer.from(''));
    await svc.log(archive.files.length);
  },
});

export const action = createAction({
  description: 'Renames',
  input: z.object({ id: z.string() }),
  output: z.object({ id: z.string() }),
  exec: async (svc, { id }) => {
    const connection: Connection = await svc.getConnection();
    if (connection.tags['closed'] === 'yes') throw new svc.ActionError({ message: 'closed' });
    return { id };
  },
});

export const event = createOnEvent({
  description: 'Looks',
  event: 'validate-connection',
  exec: async (svc) => svc.getToken(),
});

export type Handle = SvcSync<{ Contact: typeof Contact }>;
`;

const testOfFunction = `
import { replay } from 'svc/testing';

export async function failureOf(url: string): Promise<string | null> {
  const run = await replay(url, { kind: 'sync', name: 'contacts' });
  return run.failure === null ? null : JSON.stringify(run.mocks.svc.batchSave);
}
`;

/** What the project is made of. */
export interface Applications {
  /** Modules that are the client. */
  readonly clients: readonly string[];
  /** Also the functions and their tests. */
  readonly functions: boolean;
  readonly globals: Globals;
}

/**
 * Writes an application and checks its types with a compiler.
 * @param tsc its file
 * @throws Error with its messages
 */
export async function checkTypes(
  project: string,
  tsc: string,
  { resolution, format }: Flavor,
  applications: Applications,
): Promise<void> {
  const folder = join(project, `${resolution}-${format}-${applications.globals}`);
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write('package.json', JSON.stringify({ type: format === 'esm' ? 'module' : 'commonjs' }));
  for (const [at, module] of applications.clients.entries())
    write(`client-${at}.ts`, clientApplication(module));
  if (applications.functions) {
    write('functions.ts', functionsProject);
    // `svc/testing` is for ES modules only, as vitest is.
    if (format === 'esm') write('test.ts', testOfFunction);
  }
  const modules =
    resolution === 'nodenext'
      ? { module: 'nodenext', moduleResolution: 'nodenext' }
      : { module: format === 'esm' ? 'esnext' : 'preserve', moduleResolution: 'bundler' };
  const compilerOptions = { ...strict, ...modules, ...globals[applications.globals] };
  write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  await run(process.execPath, [tsc, '-p', folder], { cwd: folder });
}

/** Reads pages from a server that fails once, and verifies a webhook. */
const program = (module: string, load: (names: string, from: string) => string): string => `
${load('createClient, isWebhook, verifyWebhook', module)}
${load('createHmac', 'node:crypto')}
${load('createServer', 'node:http')}

let asked = 0;
const server = createServer((request, response) => {
  asked += 1;
  response.writeHead(asked === 1 ? 503 : 200, { 'content-type': 'application/json', 'retry-after': '0' });
  const next = request.url.includes('cursor') ? null : 'c1';
  response.end(JSON.stringify({ records: [{ id: String(asked) }], next_cursor: next }));
});

async function main() {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = createClient({ url: 'http://127.0.0.1:' + server.address().port, key: 'k' });
  const headers = { 'provider-config-key': 'crm', 'connection-id': 'acme' };
  const ids = [];
  for await (const page of client.pages('GET /records', { query: { model: 'M' }, headers }))
    ids.push(...page.records.map(({ id }) => id));
  const body = JSON.stringify({ type: 'test', from: 'svc' });
  const time = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', 'the key').update('m1.' + time + '.' + body).digest('base64');
  const signed = { 'webhook-id': 'm1', 'webhook-timestamp': time, 'webhook-signature': 'v1,' + signature };
  const { id, payload } = await verifyWebhook({ body, headers: signed }, 'the key');
  const forged = await verifyWebhook({ body: body + ' ', headers: signed }, 'the key').catch((e) => e.code);
  server.close();
  console.log(process.versions.node.split('.')[0], ids.join(), id, isWebhook(payload), forged);
}
main();
`;

/**
 * Runs a program that uses the client, as an ES module and as CommonJS, on a Node.
 * @returns what each printed
 */
export async function runOn(node: string, project: string, module: string): Promise<string[]> {
  const programs = {
    'use.mjs': program(module, (names, from) => `import { ${names} } from '${from}';`),
    'use.cjs': program(module, (names, from) => `const { ${names} } = require('${from}');`),
  };
  const printed: string[] = [];
  for (const [file, text] of Object.entries(programs)) {
    writeFileSync(join(project, file), text);
    printed.push((await run(node, [file], { cwd: project })).trim());
  }
  return printed;
}

/** What `runOn` returns. */
export const printedBy = (major: number): string[] =>
  Array.from({ length: 2 }, () => `${major} 2,3 m1 true wrong_signature`);
