import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { text, webAddress } from '#http/fields.ts';
import { timestamp } from '#http/responses.ts';
import type { Sealed } from '#kernel/ids.ts';
import { parsePrivateKey, restorePem } from '#kernel/pem.ts';
import { isoMillis } from '#kernel/time.ts';
import { sealingContext, type Vault } from '#modules/access/vault/vault.ts';
import type { EndpointSettings, WebhookEndpoint } from './webhook-endpoint.ts';

const clientAuthentications = ['basic', 'body'] as const;

/** A client that gets tokens by RFC 6749 section 4.4, in clear. */
export interface OAuthClient {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** In a Basic header or in the form (RFC 6749 section 2.3.1). */
  readonly clientAuthentication: (typeof clientAuthentications)[number];
  readonly scopes: readonly string[];
  readonly audience: string | null;
}

/** For mutual TLS, both in PEM. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

/** How the service authenticates at an endpoint, in clear. */
export interface EndpointAuthentication {
  readonly oauth: OAuthClient | null;
  readonly clientCertificate: ClientCertificate | null;
}

/** RFC 6749 appendix A.1 and A.2: visible characters and blanks. */
const visible = (max: number) =>
  text(1, max).regex(/^[\x20-\x7e]+$/, 'Send visible ASCII characters.');
/** RFC 6749 section 3.3. */
const scope = z
  .string()
  .max(255)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'Not a scope: one word without quotes.');
const scopesMax = 50;
const pemCharsMax = 20_000;

const tokenUrl = webAddress.describe('Address of the token endpoint.').meta({
  examples: ['https://auth.example.com/oauth/token'],
});
const clientAuthentication = z
  .enum(clientAuthentications)
  .describe('Whether id and secret are sent in a Basic header or in the form.');

const clientIdText = 'Id of the client at the token URL.';
const audienceText = 'What the tokens are for, of servers that ask for it; null: not sent.';

/** The client of a request of the API. */
export const oauthShape = z
  .strictObject({
    token_url: tokenUrl.refine(hasNoUser, 'Send id and secret in client_id and client_secret.'),
    client_id: visible(255).describe(clientIdText),
    client_secret: visible(2_048).describe('Stored sealed, and never shown.'),
    client_authentication: clientAuthentication.default('basic'),
    scopes: z.array(scope).max(scopesMax).default([]),
    audience: visible(2_048).nullable().default(null).describe(audienceText),
  })
  .transform((input): OAuthClient => ({
    tokenUrl: input.token_url,
    clientId: input.client_id,
    clientSecret: input.client_secret,
    clientAuthentication: input.client_authentication,
    scopes: input.scopes,
    audience: input.audience,
  }));

/** The certificate of a request of the API. */
export const certificateShape = z
  .strictObject({
    certificate: text(1, pemCharsMax).describe('In PEM, with those between it and the authority.'),
    private_key: text(1, pemCharsMax).describe('In PEM. Stored sealed, and never shown.'),
  })
  .transform((input, context): ClientCertificate => {
    const refuse = (field: string, message: string) => {
      context.addIssue({ code: 'custom', message, path: [field] });
      return z.NEVER;
    };
    const certificate = restorePem(input.certificate);
    const parsed = parsedOrNull(() => new X509Certificate(certificate));
    if (parsed === null) return refuse('certificate', 'Not a certificate in PEM.');
    const key = parsedOrNull(() => parsePrivateKey(input.private_key));
    if (key === null)
      return refuse('private_key', 'Not a private key in PEM, without a passphrase.');
    if (!parsed.checkPrivateKey(key)) {
      return refuse('private_key', 'Not the private key of the certificate.');
    }
    const privateKey = key.export({ type: 'pkcs8', format: 'pem' }).toString();
    return { certificate, privateKey };
  });

export const shownOauthShape = z.strictObject({
  token_url: tokenUrl,
  client_id: z.string().describe(clientIdText),
  client_authentication: clientAuthentication,
  scopes: z.array(z.string()),
  audience: z.string().nullable().describe(audienceText),
});

export const shownCertificateShape = z.strictObject({
  subject: z.string().describe('Whose certificate it is, such as `CN=svc`.'),
  fingerprint_sha256: z.string().describe('SHA-256 of the certificate, in hex with colons.'),
  valid_until: timestamp.describe('When the certificate expires.'),
});

/** Without the secret. */
export const presentOauth = (client: OAuthClient): z.output<typeof shownOauthShape> => ({
  token_url: client.tokenUrl,
  client_id: client.clientId,
  client_authentication: client.clientAuthentication,
  scopes: [...client.scopes],
  audience: client.audience,
});

/** Without the private key. */
export function presentCertificate({
  certificate,
}: ClientCertificate): z.output<typeof shownCertificateShape> {
  const { subject, fingerprint256, validTo } = new X509Certificate(certificate);
  return {
    subject: subject.replaceAll('\n', ', '),
    fingerprint_sha256: fingerprint256,
    valid_until: isoMillis(Date.parse(validTo)),
  };
}

type EndpointId = Pick<WebhookEndpoint, 'environmentUid' | 'id'>;

const contextOf = ({ environmentUid, id }: EndpointId, field: 'oauth' | 'certificate'): string =>
  sealingContext(environmentUid, id, `webhook_endpoint_${field}`);

/** What is stored; undefined changes nothing. */
export async function sealAuthentication(
  vault: Vault,
  endpoint: EndpointId,
  {
    oauth,
    clientCertificate,
  }: Partial<{ [Name in keyof EndpointAuthentication]: EndpointAuthentication[Name] | undefined }>,
): Promise<Pick<EndpointSettings, 'oauth' | 'clientCertificate'>> {
  const { environmentUid } = endpoint;
  await vault.ready(environmentUid);
  const seal = (value: object | null, field: 'oauth' | 'certificate'): Sealed<string> | null =>
    value && vault.seal(environmentUid, JSON.stringify(value), contextOf(endpoint, field));
  return {
    ...(oauth === undefined ? {} : { oauth: seal(oauth, 'oauth') }),
    ...(clientCertificate === undefined
      ? {}
      : { clientCertificate: seal(clientCertificate, 'certificate') }),
  };
}

/** @throws GatewayError `not_found` when the key was destroyed */
export async function openOauth(
  vault: Vault,
  endpoint: EndpointId & Pick<WebhookEndpoint, 'oauth'>,
): Promise<OAuthClient | null> {
  const { environmentUid, oauth = null } = endpoint;
  if (oauth === null) return null;
  await vault.ready(environmentUid);
  return JSON.parse(vault.open(environmentUid, oauth, contextOf(endpoint, 'oauth'))) as OAuthClient;
}

/** @throws GatewayError `not_found` when the key was destroyed */
export async function openCertificate(
  vault: Vault,
  endpoint: EndpointId & Pick<WebhookEndpoint, 'clientCertificate'>,
): Promise<ClientCertificate | null> {
  const { environmentUid, clientCertificate: sealed = null } = endpoint;
  if (sealed === null) return null;
  await vault.ready(environmentUid);
  const opened = vault.open(environmentUid, sealed, contextOf(endpoint, 'certificate'));
  return JSON.parse(opened) as ClientCertificate;
}

function hasNoUser(address: string): boolean {
  const { username = '', password = '' } = URL.parse(address) ?? {};
  return username === '' && password === '';
}

/** The errors of the parsers may quote a key. */
function parsedOrNull<T>(parse: () => T): T | null {
  try {
    return parse();
  } catch {
    return null;
  }
}
