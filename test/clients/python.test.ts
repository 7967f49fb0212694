import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '#test/services/commands.ts';
import { openWebhookReceiver } from '#test/support/fakes/webhook-receiver.ts';
import { openClient, openEnvironment, printed, programOf, type ClientFolder } from './program.ts';
import { installClientPackages } from './toolchains.ts';

let client: ClientFolder;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  const packages = await installClientPackages();
  client = await openClient('python');
  env = { ...process.env, PYTHONPATH: `${client.client}:${packages}` };
  await writeFile(join(client.folder, 'program.py'), await programOf('python'));
});
afterAll(() => client[Symbol.asyncDispose]());

const python = (...args: string[]) => run('python3', args, { cwd: client.folder, env });

/** Each model with all of its types resolved. */
const everyModel = `
import inspect, pydantic, svc_client.models as models
found = [one for _, one in inspect.getmembers(models, inspect.isclass) if issubclass(one, pydantic.BaseModel)]
for one in found: one.model_rebuild()
print(len(found))
`;

describe('the generated client for Python', () => {
  it('compiles, and loads every model', async () => {
    await python('-m', 'compileall', '-q', client.client);
    expect(Number(await python('-c', everyModel))).toBeGreaterThan(200);
  });

  it('gives the program of docs/clients.md the right types', async () => {
    const options = ['--strict', '--cache-dir=/dev/null'];
    expect(await python('-m', 'mypy', ...options, 'program.py')).toContain('Success');
  });

  it('connects, syncs, verifies a webhook and reads every page', async () => {
    const settings = { ...env, ...(await openEnvironment()) };
    const options = { cwd: client.folder, env: settings };
    // Its receiver logs requests on stderr.
    expect(await run('python3', ['program.py'], options)).toContain(printed);
  });
});

const verification = `
import json, sys
from standardwebhooks import Webhook, WebhookVerificationError
key, headers, body = sys.argv[1:]
webhook = Webhook(key)
print(webhook.verify(body, json.loads(headers))["type"])
try: webhook.verify(body + " ", json.loads(headers))
except WebhookVerificationError as error: print(error)
`;

describe('the library of Standard Webhooks for Python', () => {
  it('verifies a webhook with the signing key as it is shown', async () => {
    const { SVC_URL: url = '', SVC_KEY: key = '' } = await openEnvironment();
    await using receiver = await openWebhookReceiver();
    const call = async (method: string, path: string, body?: object): Promise<unknown> => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const text = body === undefined ? undefined : JSON.stringify(body);
      const init = { method, headers, ...(text === undefined ? {} : { body: text }) };
      return ((await (await fetch(url + path, init)).json()) as { data: unknown }).data;
    };
    const { id } = (await call('POST', '/webhook-endpoints', { url: receiver.url })) as {
      id: string;
    };
    await call('POST', `/webhook-endpoints/${id}/test`);
    const [{ headers, body } = { headers: {}, body: '' }] = await receiver.got(1);
    const keys = (await call('GET', '/environment/webhook-signing-key')) as {
      webhook_signing_key: string;
    };
    const args = [keys.webhook_signing_key, JSON.stringify(headers), body];
    const verified = 'test\nNo matching signature found\n';
    expect(await python('-c', verification, ...args)).toBe(verified);
    const path = `/webhook-endpoints/${id}/signing-key/rotate`;
    const own = (await call('POST', path, {})) as typeof keys;
    await call('POST', `/webhook-endpoints/${id}/test`);
    const [, both = { headers: {}, body: '' }] = await receiver.got(2);
    for (const one of [own, keys]) {
      const shown = [one.webhook_signing_key, JSON.stringify(both.headers), both.body];
      expect(await python('-c', verification, ...shown)).toBe(verified);
    }
  });
});
