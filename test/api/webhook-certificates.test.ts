import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from '#test/support/fakes/certificate.ts';
import { codeOf } from '#test/support/worlds/api.ts';
import { openWebhookApi, type WebhookApi } from '#test/support/worlds/webhook-api.ts';

const receiver = selfSigned('receiver');
const client = selfSigned('svc');
const trusted = getCACertificates('default');
const certificateOf = (of: typeof client) => ({
  client_certificate: { certificate: of.certificate, private_key: of.privateKey },
});

let server: Server;
let url: string;
let world: WebhookApi;
/** Names of the clients whose requests came, by path. */
const came: { path: string; client: string }[] = [];

beforeAll(async () => {
  setDefaultCACertificates([...trusted, receiver.certificate]);
  const asks = { requestCert: true, rejectUnauthorized: true, ca: [client.certificate] };
  const identity = { cert: receiver.certificate, key: receiver.privateKey };
  server = createServer({ ...identity, ...asks }, (request, response) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    const path = request.url ?? '/';
    came.push({ path, client: String(subject.CN) });
    request.resume();
    if (path === '/moved') response.writeHead(307, { location: '/elsewhere' }).end();
    else response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  url = `https://${host}`;
  world = await openWebhookApi([host]);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  setDefaultCACertificates(trusted);
});

const waits = { retry_waits_seconds: [] };

describe('an endpoint that asks for a client certificate', () => {
  it('gets webhooks with that of the endpoint, and none without', async () => {
    const id = await world.endpoint('', { url: `${url}/own`, ...waits, ...certificateOf(client) });
    await world.tested(id);
    await world.settled(id, 'delivered');
    expect(came.filter(({ path }) => path === '/own')).toEqual([{ path: '/own', client: 'svc' }]);
    expect(await world.changed(id, { client_certificate: null })).toMatchObject({
      client_certificate: null,
    });
    await world.tested(id);
    expect((await world.settled(id, 'failed'))[0]).toMatchObject({ status: null });
    await world.changed(id, certificateOf(selfSigned('another')));
    await world.tested(id);
    await world.settled(id, 'failed', 2);
    expect(came.filter(({ path }) => path === '/own')).toHaveLength(1);
    await world.removed(id);
  });

  it('is not left by a redirect', async () => {
    const more = { url: `${url}/moved`, ...waits, ...certificateOf(client) };
    const id = await world.endpoint('', more);
    await world.tested(id);
    const [failed] = await world.settled(id, 'failed');
    expect(failed).toMatchObject({ status: 307 });
    expect(came.filter(({ path }) => path === '/elsewhere')).toEqual([]);
    await world.removed(id);
  });

  it('shows whose certificate it has, and never its key', async () => {
    const id = await world.endpoint('', { url: `${url}/own`, ...certificateOf(client) });
    const { body } = await world.api.call('GET', '/webhook-endpoints');
    expect(body).toMatchObject({
      data: [
        {
          client_certificate: {
            subject: 'CN=svc',
            fingerprint_sha256: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/) as string,
          },
        },
      ],
    });
    expect(JSON.stringify(body)).not.toContain('PRIVATE KEY');
    await world.removed(id);
  });

  it.each([
    ['certificate', 'text', client.privateKey, 'Not a certificate in PEM.'],
    ['private_key', client.certificate, 'text', 'Not a private key in PEM, without a passphrase.'],
    [
      'private_key',
      client.certificate,
      receiver.privateKey,
      'Not the private key of the certificate.',
    ],
  ])('refuses a wrong %s', async (field, certificate, private_key, message) => {
    const body = { url, client_certificate: { certificate, private_key } };
    const refused = await world.api.call('POST', '/webhook-endpoints', { body });
    expect(codeOf(refused)).toBe('400 invalid_body');
    expect(refused.at('error.errors.0')).toMatchObject({
      path: ['client_certificate', field],
      message,
    });
  });
});
