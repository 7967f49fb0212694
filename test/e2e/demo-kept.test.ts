import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { longRunVariable } from '#test/support/judges/long-run.ts';
import { blocksOf, pageOf, Reader } from '#test/support/processes/reader.ts';

const program = fileURLToPath(new URL('../../examples/demo/run.ts', import.meta.url));

/** A package registry whose packages have thirty versions each. */
async function openRegistry() {
  const server = createServer(({ url = '/' }, response) => {
    const versions = Array.from({ length: 30 }, (_, at) => `1.${at}.0`);
    const document = {
      name: url.slice(1),
      'dist-tags': { latest: '1.29.0' },
      versions: Object.fromEntries(versions.map((version) => [version, { version }])),
    };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('the demo of the README', () => {
  it('is played word by word, with a registry of this machine', async () => {
    await using registry = await openRegistry();
    const [demo] = blocksOf(pageOf('README.md'));
    await using reader = await Reader.open({ npm_config_registry: registry.url });
    const output = await reader.terminal().run(demo?.text ?? '');
    expect(output).toMatch(/webhook verified: added \d+, updated 0, deleted 0/);
    expect(output).toContain('records on');
    console.log(`the demo of the README: 1 command, ${reader.seconds} s`);
  });
});

// A gateway of its own, and a deployment with its type check.
describe.runIf(process.env[longRunVariable] === '1')('npm run demo -- --keep', () => {
  it('leaves a gateway with data and a link to its console, until a signal', async () => {
    await using registry = await openRegistry();
    const child = spawn(process.execPath, [program, '--keep'], {
      env: { ...process.env, npm_config_registry: registry.url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    await expect.poll(() => out, { timeout: 120_000 }).toContain('SVC_SECRET_KEY_DEV=');
    const [, url = '', code = ''] = /console +(http\S+)\/console#code=(\S+)/.exec(out) ?? [];
    const [, key = ''] = /SVC_SECRET_KEY_DEV=(svc_env_\S+)/.exec(out) ?? [];
    const signIn = () =>
      fetch(`${url}/console/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: url },
        body: JSON.stringify({ code }),
      });
    expect((await signIn()).status).toBe(201);
    expect((await signIn()).status).not.toBe(201);
    const read = await fetch(`${url}/records?model=Release&limit=1`, {
      headers: {
        authorization: `Bearer ${key}`,
        'provider-config-key': 'npm',
        'connection-id': 'demo',
      },
    });
    expect(((await read.json()) as { records: unknown[] }).records).toHaveLength(1);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    await expect(fetch(url)).rejects.toThrow();
  });
});
