import { z } from 'zod';
import { optional, type SchemaOutput, text, valueParts } from './schema-parts.ts';

const sourceFields = {
  body: optional(text, 'Dotted path in the body.'),
  header: optional(text, 'Header, in lower case.'),
  query: optional(text, 'Parameter of the query.'),
  value: optional(text, 'A constant.'),
  decoded: optional(
    text,
    'The value is JSON in base64; only the value at this path in it is used.',
  ),
  take: optional(
    z.enum(valueParts),
    'Part of the value: `origin` of an address, `first-label` of a host name, `sha256` (hex), `calendar` in an address of Google Calendar, `calendar-sha256` of it.',
  ),
};
export const source = z.strictObject(sourceFields).meta({ id: 'source' });
const sources = z.array(source).min(1);

const condition = z
  .strictObject({
    ...sourceFields,
    equals: optional(z.string(), 'The value; any value when absent.'),
  })
  .meta({ id: 'condition' });

const key = z.union([
  z.enum(['webhook_secret', 'client_secret', 'app_digest']),
  z.strictObject({
    metadata: z
      .array(text)
      .min(1)
      .describe(
        "Path in the connection's metadata. `$identifier` stands for the value that the connection was found by.",
      ),
  }),
]);

export const signature = z.strictObject({
  scheme: z
    .enum([
      'hmac',
      'digest',
      'token',
      'basic',
      'standard-webhooks',
      'rsa',
      'ecdsa',
      'ed25519',
      'jwt',
    ])
    .describe(
      '`hmac` or `digest` (a plain hash) of `message`; `token`: the header is the secret; `basic`: the name and password of `Authorization: Basic` are the secret, `name:password`; `standard-webhooks`; `rsa` (RSA-SHA256), `ecdsa` (ECDSA-SHA256, DER) or `ed25519` of `message`, the secret is the public key; `jwt`: a bearer token.',
    ),
  header: optional(
    text,
    'The header with the signature. `standard-webhooks` uses `webhook-signature` unless it is named, `basic` and `jwt` use `authorization`.',
  ),
  body: optional(text, 'The dotted path of the signature, where it is in the body.'),
  query: optional(text, 'The parameter of the query with the signature.'),
  algorithm: z
    .enum(['sha256', 'sha1', 'sha512'])
    .default('sha256')
    .describe('`sha256` (default), `sha1` or `sha512`.'),
  encoding: z
    .enum(['hex', 'base64'])
    .default('hex')
    .describe('`hex` (default) or `base64`; public keys: `base64` unless it is `hex`.'),
  prefix: z.string().default('').describe('Text before the signature in the header.'),
  element: optional(
    text,
    'The header is a list `name=value,…`; signatures are the values of this name.',
  ),
  separator: text.default(',').describe('Between the elements of that list; a comma by default.'),
  message: text
    .default('$body')
    .describe(
      'The signed text, of `$body`, `$timestamp`, `$key`, `$url` (the address of the webhook with its query), `$form` (names and values of the form, sorted by name), `$header(name)`, `$query(name)` and `$body(path)`; `$body` by default.',
    ),
  timestamp: optional(
    z.strictObject({
      header: optional(text, 'Header with the time.'),
      element: optional(text, 'Element of the list with the time.'),
      body: optional(text, 'Dotted path of the time in the body.'),
      format: z
        .enum(['seconds', 'milliseconds', 'iso'])
        .default('seconds')
        .describe('`seconds` (default) or `milliseconds` since the epoch, or `iso` (ISO 8601).'),
    }),
    '`header`, `element` or `body` with the time, in seconds since the epoch or as `format` says.',
  ),
  tolerance_seconds: z
    .number()
    .int()
    .min(1)
    .default(300)
    .describe('Largest difference of the timestamp to the clock, either way; 300 by default.'),
  jwt: optional(
    z.strictObject({
      keys_url: z.url().describe('Address of the public keys.'),
      issuers: z.array(text).min(1).describe('Accepted values of the claim `iss`.'),
    }),
    '`keys_url` and `issuers` of `jwt`. The token is signed with RS256; its audience is the address of the webhook.',
  ),
  keys: z
    .array(key)
    .default([])
    .describe(
      "Where the secret comes from, the first that is set: `webhook_secret`, `client_secret`, `app_digest` (hex SHA-256 of id, private key and link of the app), or `metadata`: a path in the connection's metadata, in which `$identifier` is the value that the connection was found by. Required except by `jwt`. Where both the connection and the integration may have it, that of the connection counts.",
    ),
  key_encoding: z
    .enum(['utf8', 'base64', 'hex'])
    .default('utf8')
    .describe('`utf8` (default), `base64` or `hex`.'),
  is_required: z
    .boolean()
    .default(true)
    .describe(
      'Default true. False: verified only where a secret is set (`jwt`: where the header is present).',
    ),
});

export const connection = z
  .strictObject({
    when: optional(condition, 'Condition under which the rule applies.'),
    property: text.describe(
      '`connectionId`; `metadata.x` (equals the value, is a list that contains it, or is an object with it as a key); any other name is a value of `connection_config`, matched literally.',
    ),
    identifier: sources.describe('Sources of the value; the first that the request has.'),
    is_required: z
      .boolean()
      .default(false)
      .describe(
        'True: a delivery without an identifier, or of no connection, is rejected. False (default): it is attributed to none.',
      ),
    is_token: z
      .boolean()
      .default(false)
      .describe('True: the identifier is a secret of the connection and replaces a signature.'),
  })
  .meta({ id: 'connection' });

const hmacOfAnswer = optional(
  z.strictObject({
    key: z.enum(['client_secret', 'webhook_secret']).describe('The secret of the integration.'),
    encoding: z.enum(['hex', 'base64']).default('hex').describe('`hex` (default) or `base64`.'),
  }),
  'HMAC-SHA256 of the challenge, `$hmac` in `json`.',
);
const jsonOfAnswer = optional(
  z.record(text, z.union([text, z.number()])),
  'The response is an object of JSON with these fields, whose values are numbers, or contain `$value` (the challenge) or `$hmac`.',
);

const handshake = z.strictObject({
  when: condition.describe('Condition under which the request is a handshake.'),
  answer: source.nullable().describe('Source of the response body; null for an empty body.'),
  hmac: hmacOfAnswer,
  json: jsonOfAnswer,
  header: optional(text, 'Header of the response that repeats the value; its body is empty then.'),
});

export const challenge = z.strictObject({
  when: optional(condition, 'Condition under which the request is a challenge; default: any GET.'),
  token: optional(
    source,
    'Source of a text that must equal the `webhook_secret` of the integration; compared in constant time.',
  ),
  answer: source.describe('Source of the challenge, which is the response as plain text.'),
  hmac: hmacOfAnswer,
  json: jsonOfAnswer,
});

/**
 * How webhooks of a provider are verified and attributed (`webhook_routing` of a definition): data, so that a
 * provider needs no code.
 */
export const webhookRules = z.strictObject({
  signatures: z
    .array(signature)
    .default([])
    .describe('The first whose header is present is verified; the first of the list when none is.'),
  unsigned: z
    .array(condition)
    .default([])
    .describe(
      'Conditions: requests accepted without a signature. They start no run and belong to no connection.',
    ),
  handshakes: z
    .array(handshake)
    .default([])
    .describe(
      '`when` and `answer`: a source whose value is the response, or null for an empty response; with `json`, `hmac` and `header` as in `challenges`.',
    ),
  challenges: z
    .array(challenge)
    .default([])
    .describe(
      'A GET or HEAD with which the provider verifies the address: `when`, `token`, `answer`, `hmac`, `json`. Without one, both are answered 405.',
    ),
  connection: optional(
    z.union([connection.transform((only) => [only]), z.array(connection).min(1)]),
    'One rule, or a list of which the first that finds a connection applies.',
  ),
  is_for_all: z
    .boolean()
    .default(false)
    .describe('Without `connection`: every connection of the integration; otherwise none.'),
  type: optional(sources, 'Sources of the event type.'),
  delivery_id: optional(
    sources,
    'Sources of the id that repeats share: a repeat within 24 hours is dropped. Only where the provider documents it; not the id of the object of the event.',
  ),
  events: optional(
    z.strictObject({ path: optional(z.string(), 'Dotted path of the list in the body.') }),
    'The body is a list of events, or has one at `path`. Each event starts runs of its own.',
  ),
  event_token: optional(
    text,
    'Path at which each event repeats the `webhook_secret`, where one is set; events that do not are left out.',
  ),
  skip: z.array(condition).default([]).describe('Conditions: events that are left out.'),
  order: optional(
    z.strictObject({
      first: text.describe('End of the type of the events that come first.'),
      by: text.describe('Dotted path of the value that the others are sorted by.'),
    }),
    'Events whose type ends with `first` come first; then by the value at `by`.',
  ),
  form_field: optional(
    text,
    'The body is a form, urlencoded or multipart; this field holds the JSON.',
  ),
  body_of_headers: z
    .boolean()
    .default(false)
    .describe(
      'True: the body is empty, and the headers that may be forwarded are used in place of it.',
    ),
  installation: optional(
    z.strictObject({
      when: z.array(condition).min(1).describe('Conditions, all of which hold.'),
      handle: sources.describe('Sources of the handle of the pending connection.'),
      id: sources.describe('Sources of the id of the installation.'),
    }),
    '`when`, `handle`, `id`: the webhook that completes a connection which waits for an installation.',
  ),
});

export type WebhookRules = SchemaOutput<typeof webhookRules>;
export type SignatureRule = SchemaOutput<typeof signature>;
export type Source = SchemaOutput<typeof source>;
export type ConnectionRule = SchemaOutput<typeof connection>;
export type ChallengeRule = SchemaOutput<typeof challenge>;
export type HandshakeRule = SchemaOutput<typeof handshake>;
export type Condition = SchemaOutput<typeof condition>;
export type KeySource = SchemaOutput<typeof key>;
