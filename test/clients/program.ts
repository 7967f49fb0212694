/** Runs the programs of `docs/clients.md` with generated clients against a real gateway. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '#test/services/ports.ts';
import { accessTo } from '#test/support/processes/gateway.ts';
import { sharedGateway } from '#test/support/worlds/shared-gateways.ts';
import { generateClient, type Language } from './generate.ts';

const page = fileURLToPath(new URL('../../docs/clients.md', import.meta.url));

/** The program of the language. @throws Error unless the page has exactly one */
export async function programOf(language: Language): Promise<string> {
  const text = await readFile(page, 'utf8');
  const [program, ...more] = text.split(`\n\`\`\`${language}\n`).slice(1);
  if (program === undefined || more.length > 0)
    throw new Error(`docs/clients.md has no program in ${language}, or several`);
  return program.slice(0, program.indexOf('```'));
}

/** What both programs print. */
export const printed = 'webhook: contacts, 250 added\n250 records\n400 unknown_connection\n';

export interface ClientFolder extends AsyncDisposable {
  readonly folder: string;
  /** The generated client. */
  readonly client: string;
}

/** @throws ServiceUnavailable without the generator */
export async function openClient(language: Language): Promise<ClientFolder> {
  const folder = await mkdtemp(join(tmpdir(), `svc-client-${language}-`));
  const dispose = () => rm(folder, { recursive: true, force: true });
  const client = join(folder, language);
  try {
    await generateClient(language, client);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { folder, client, [Symbol.asyncDispose]: dispose };
}

interface Made {
  readonly data: { readonly id: number; readonly secret: string };
}

/** The variables of a program, for a new environment with the demo provider. */
export async function openEnvironment(): Promise<Readonly<Record<string, string>>> {
  const { url, accountKey, ...keys } = await sharedGateway();
  const gateway = accessTo(url, { accountKey, ...keys });
  const post = async (path: string, key: string, body: object): Promise<Made['data']> => {
    const made = await gateway.call('POST', path, { key, body });
    if (made.status >= 300)
      throw new Error(`POST ${path}: ${made.status} ${JSON.stringify(made.body)}`);
    return (made.body as Made).data;
  };
  const name = `t-${randomUUID().slice(0, 8)}`;
  const { id } = await post('/environments', accountKey, { name });
  const wanted = { environment_id: id, display_name: 'test', scopes: ['environment:*'] };
  const { secret } = await post('/environment/api-keys', accountKey, wanted);
  await post('/demo', secret, {});
  return { SVC_URL: url, SVC_KEY: secret, PORT: String(await freePort()) };
}
