import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFakeAuth } from '#fake-providers/server.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { HttpClient } from '#ports/http-client.ts';
import { selfSigned } from '#test/support/fakes/certificate.ts';
import { callerOf } from '#test/support/fakes/fake-auth/caller.ts';
import { openHttpClient } from '#test/support/fakes/webhook-receiver.ts';
import { aProvider } from '#test/support/worlds/control.ts';

const server = selfSigned('provider');
const client = selfSigned('client');
const trusted = getCACertificates('default');

let stack: AsyncDisposableStack;
let http: HttpClient;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  setDefaultCACertificates([...trusted, server.certificate]);
  stack.defer(() => setDefaultCACertificates(trusted));
  http = stack.use(await openHttpClient());
});
afterEach(() => stack.disposeAsync());

/** A provider that takes calls of the client's certificate alone. */
async function play() {
  const fake = stack.use(await openFakeAuth({ ...server, clients: [client.certificate] }));
  const played = fake.play(
    aProvider({
      auth_mode: 'OAUTH2_CC',
      token_url: 'https://crm.example/token',
      require_client_certificate: true,
      proxy: { base_url: 'https://api.crm.example' },
    }),
  );
  const { rules, context } = callerOf(played, http);
  const submit = (certificate: JsonObject) =>
    rules.form!.submit({ ...played.form, ...certificate }, context());
  return { submit, outcomes: played.outcomes };
}

describe('client credentials with a certificate (RFC 8705)', () => {
  it('are proved by it', async () => {
    const { submit, outcomes } = await play();
    const given = { client_certificate: client.certificate, client_private_key: client.privateKey };
    expect((await submit(given)).credentials).toMatchObject({ type: 'OAUTH2_CC' });
    expect(outcomes('token')).toEqual(['granted']);
  });

  it.each([
    ['spaces', ' '],
    ['nothing', ''],
    ['\\n', '\\n'],
    ['CRLF', '\r\n'],
  ])('are proved by one whose line breaks became %s', async (_, lineBreak) => {
    const { submit, outcomes } = await play();
    const given = {
      client_certificate: client.certificate.replaceAll('\n', lineBreak),
      client_private_key: client.privateKey.replaceAll('\n', lineBreak),
    };
    expect((await submit(given)).credentials).toMatchObject({ type: 'OAUTH2_CC' });
    expect(outcomes('token')).toEqual(['granted']);
  });

  it('are refused with the certificate of another, as are the calls of nobody', async () => {
    const { submit, outcomes } = await play();
    const other = selfSigned('other');
    const given = { client_certificate: other.certificate, client_private_key: other.privateKey };
    await expect(submit(given)).rejects.toMatchObject({
      failure: { code: 'client_credentials_fetch_error', isDefinitive: false },
    });
    expect(outcomes('token')).toEqual([]);
  });

  it.each([
    ['without one', {}],
    [
      'with a key that is none',
      { client_certificate: client.certificate, client_private_key: 'x' },
    ],
    [
      'with a certificate that is none',
      { client_certificate: 'x', client_private_key: client.privateKey },
    ],
  ])('%s are a problem of what was given', async (_, given) => {
    const { submit } = await play();
    await expect(submit(given)).rejects.toMatchObject({
      code: 'invalid_certificate_or_key_format',
    });
  });
});
