import { z } from 'zod';

/**
 * How webhooks of a provider are verified and attributed (`webhook_routing` of a definition): data, so that a
 * provider needs no code. Names of headers are in lower case.
 */

const text = z.string().min(1);

/** A value of the request: at a dotted path in the body, in a header, in the query, or a constant. */
const source = z.strictObject({
  body: text.optional(),
  header: text.optional(),
  query: text.optional(),
  value: text.optional(),
  /** The value is JSON in base64, and what counts is at this path in it. */
  decoded: text.optional(),
  /**
   * What of it counts: the origin of an address, the first label of a host name, its SHA-256 as hex, or the calendar in
   * an address of Google Calendar, as it is or as its SHA-256.
   */
  take: z.enum(['origin', 'first-label', 'sha256', 'calendar', 'calendar-sha256']).optional(),
});
const sources = z.array(source).min(1);

/**
 * Where the secret is from; the first that is set counts. `app_digest`: SHA-256 of id, private key and link of the
 * app, as hex. In `metadata` a path into that of the connection.
 */
const key = z.union([
  z.enum(['webhook_secret', 'client_secret', 'app_digest']),
  z.strictObject({
    /** `$identifier` stands for the value that the connection was found by. */
    metadata: z.array(text).min(1),
  }),
]);

const signature = z.strictObject({
  /**
   * `hmac` of `message`; `digest`: a plain hash of `message`; `token`: the header is the secret;
   * `standard-webhooks`: HMAC as that specification has it; `rsa`: RSA-SHA256 of `message`, the secret is the public
   * key; `jwt`: the header is `Bearer` and a token that `jwt` says more of.
   */
  scheme: z.enum(['hmac', 'digest', 'token', 'standard-webhooks', 'rsa', 'jwt']),
  header: text.optional(),
  algorithm: z.enum(['sha256', 'sha1']).default('sha256'),
  encoding: z.enum(['hex', 'base64']).default('hex'),
  /** Stands before the signature in the header. */
  prefix: z.string().default(''),
  /** The header is a list `name=value,…`: signatures are those of this name. */
  element: text.optional(),
  /** What is signed, of `$body`, `$timestamp` and `$key`. */
  message: text.default('$body'),
  /** Seconds since the epoch: a header, or an element of the list. */
  timestamp: z.strictObject({ header: text.optional(), element: text.optional() }).optional(),
  tolerance_seconds: z.number().int().min(1).default(300),
  /** Of `jwt`, which is signed with RS256 for the address of the webhook: where the public keys are, and who signs. */
  jwt: z.strictObject({ keys_url: z.url(), issuers: z.array(text).min(1) }).optional(),
  /** Every scheme but `jwt` has some. */
  keys: z.array(key).default([]),
  key_encoding: z.enum(['utf8', 'base64']).default('utf8'),
  /** False: checked only where a secret is set. */
  is_required: z.boolean().default(true),
});

const condition = source.extend({
  /** The value; any value when absent. */
  equals: z.string().optional(),
});

const connection = z.strictObject({
  /** The rule counts only then. */
  when: condition.optional(),
  /** `connectionId`, `metadata.<key>`, or the name of a value of the connection configuration. */
  property: text,
  /** The identifier; the first that the request has. */
  identifier: sources,
  /** A delivery without an identifier, or of no connection, is rejected; otherwise it is attributed to none. */
  is_required: z.boolean().default(false),
  /** The identifier is known to nobody else, and stands for a signature. */
  is_token: z.boolean().default(false),
});

export const webhookRules = z.strictObject({
  /** The body is empty: the headers that may go to the application stand for it. */
  body_of_headers: z.boolean().default(false),
  /** The body is a form whose field of this name holds the JSON. */
  form_field: text.optional(),
  /** Those of which the first counts whose header is there; the first when none is. */
  signatures: z.array(signature).default([]),
  /** What is taken without a signature. */
  unsigned: z.array(condition).default([]),
  /** Answered with a value of the request, or with an empty body. */
  handshakes: z.array(z.strictObject({ when: condition, answer: source.nullable() })).default([]),
  /**
   * One, or several of which the first counts that finds a connection. Absent: every connection of the integration
   * with `is_for_all`, else none.
   */
  connection: z
    .union([connection.transform((only) => [only]), z.array(connection).min(1)])
    .optional(),
  is_for_all: z.boolean().default(false),
  type: sources.optional(),
  /**
   * Only where the provider documents that the value names a delivery and comes again with its repeats: a repeat within
   * 24 hours is dropped. Not the id of what the event is about.
   */
  delivery_id: sources.optional(),
  /** The body is a list of events, or has one at this path; each starts runs of its own. */
  events: z.strictObject({ path: z.string().optional() }).optional(),
  /** What tells of an installation that a pending connection waits for, found by its `handle`. */
  installation: z
    .strictObject({ when: z.array(condition).min(1), handle: sources, id: sources })
    .optional(),
  /** Each event repeats the secret of the integration, where one is set, at this path; those that do not are left out. */
  event_token: text.optional(),
  /** Events that are left out. */
  skip: z.array(condition).default([]),
  /** Events whose type ends so come first, then by the value at the path. */
  order: z.strictObject({ first: text, by: text }).optional(),
});

export type WebhookRules = z.output<typeof webhookRules>;
export type SignatureRule = z.output<typeof signature>;
export type Source = z.output<typeof source>;
export type ConnectionRule = z.output<typeof connection>;
export type Condition = z.output<typeof condition>;
export type KeySource = z.output<typeof key>;
