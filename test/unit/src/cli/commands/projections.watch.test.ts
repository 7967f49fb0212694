import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSandbox } from '#adapters/sandbox/sandbox.ts';
import { commandLine } from '#test/support/processes/command-line.ts';

/** What a gateway says of the projection, one after the other. */
const told = [
  { state: 'building', progress: 0.25, rate_per_s: 1_234, seconds_left: 56 },
  { state: 'ready', progress: 1, rate_per_s: null, seconds_left: null },
];
const server = createServer((request, response) => {
  const beside = { generation: 2, is_paused: false, failure: null, ...told.shift() };
  const data = { name: 'records', active_generation: 1, generations: [{ generation: 1 }, beside] };
  const isKnown = request.url === '/projections/records';
  response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ data }));
});

let url: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

it('a rebuild is shown with the speed that the gateway reports, not one of the command line', async () => {
  await using sandbox = await openSandbox({ isOnDemand: true });
  const { exitCode, err } = await commandLine(['projections', 'follow', 'records'], {
    root: tmpdir(),
    sandbox,
    variables: { SVC_HOSTPORT: url, SVC_ACCOUNT_KEY: `svc_acct_${'k'.repeat(43)}` },
  });
  expect(exitCode, err).toBe(0);
  expect(err).toContain('building  25 %  1234/s  56 s left');
  expect(err).toContain('Generation 2 has caught up');
});
