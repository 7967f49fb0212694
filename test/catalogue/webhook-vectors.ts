import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const folder = new URL('webhook-vectors', import.meta.url).pathname;

const texts = z.record(z.string(), z.string());

/** A request by which the provider asks whether the address answers, and the response that it wants. */
const handshake = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST']),
  query: z.string().optional(),
  headers: texts.optional(),
  body: z.string().optional(),
  answer: z.strictObject({
    status: z.number().int(),
    headers: texts.optional(),
    body: z.string().optional(),
  }),
});

/** One genuine webhook. */
const vector = z
  .strictObject({
    /** Page of the provider that shows how it is signed. */
    documentation: z.url({ protocol: /^https$/ }),
    /** Null for an `earlier rule`. */
    checked_at: z.iso.date().nullable(),
    /**
     * `documentation`: the page was read; `official client`: code of the provider; `public code`: code of others that
     * verifies the same, while the page was not read; `earlier rule`: the catalog had the rule before it had vectors.
     */
    confirmed_by: z.enum(['documentation', 'official client', 'public code', 'earlier rule']),
    /** `published`: body, secret and signature stand in the documentation or in the provider's own client. */
    origin: z.enum(['published', 'computed']),
    /** What computed the signature, and of what: never the code under test. */
    computed: z.strictObject({ by: z.string(), as: z.string() }).optional(),
    /** When it was sent, in seconds since the epoch. */
    time: z.number().int(),
    /** The address that is signed too. */
    url: z.url().optional(),
    integration: z
      .strictObject({ webhook_secret: z.string().optional(), client_secret: z.string().optional() })
      .optional(),
    /** What is kept of the connection `acme`. */
    connection: z
      .strictObject({
        metadata: z.record(z.string(), z.json()).optional(),
        connection_config: texts.optional(),
      })
      .optional(),
    request: z.strictObject({ headers: texts, query: z.string().optional(), body: z.string() }),
    expected: z.strictObject({
      /** Of each event. */
      types: z.array(z.string().nullable()),
      delivery_id: z.string().nullable(),
      is_attributed: z.boolean(),
    }),
    handshakes: z.array(handshake).optional(),
  })
  .refine(
    ({ origin, computed }) => origin === 'computed' || computed === undefined,
    'A published signature is not computed.',
  );

const vectorFile = z.strictObject({
  /** Entries of the catalog that receive these webhooks. */
  entries: z.array(z.string()).min(1),
  vectors: z.array(vector).min(1),
});

export type WebhookVector = z.output<typeof vector>;

/** A webhook of an entry of the catalog. */
export interface EntryVector {
  readonly entry: string;
  readonly vector: WebhookVector;
}

export const webhookVectors = (): EntryVector[] =>
  readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const parsed = vectorFile.parse(JSON.parse(readFileSync(join(folder, name), 'utf8')));
      return parsed.entries.flatMap((entry) =>
        parsed.vectors.map((one) => ({ entry, vector: one })),
      );
    });
