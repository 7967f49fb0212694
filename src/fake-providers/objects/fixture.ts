import { z } from 'zod';
import type { JsonObject } from '#kernel/stable-json.ts';

/**
 * A fixture of a template (templates/README.md): documents in the shape of the provider's API, and how the API lists
 * them. It holds no rule of authentication and of limits: these are in the catalog.
 */

const object = z.record(z.string(), z.json()) as z.ZodType<JsonObject>;
const texts = z.record(z.string(), z.string());
const method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

const pagination = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({
    type: z.literal('cursor'),
    /** Parameter with the cursor. */
    name: z.string(),
    /** Path of the next cursor in the response; left out where the cursor is the id of the last document. */
    path: z.string().optional(),
    /** Where that id is in an expression: a regular expression whose first group is the id. */
    pattern: z.string().optional(),
    /** What the path holds on the last page; default: it is left out. */
    end: z.enum(['absent', 'null', 'empty']).default('absent'),
    /** The last page has a cursor too, which lists what changes afterwards. */
    is_continued: z.boolean().default(false),
    /** A field that says whether more follows, with its value on the last page. */
    last: z.strictObject({ path: z.string(), value: z.boolean() }).optional(),
    /** The API may return an empty page before the last one. */
    has_empty_pages: z.boolean().default(false),
  }),
  z.strictObject({
    type: z.literal('offset'),
    name: z.string(),
    counts: z.enum(['rows', 'pages']),
    start: z.number().int().default(0),
    /** Where it is in an expression: a regular expression whose first group is the number. */
    pattern: z.string().optional(),
    /** Path of the number of all rows. */
    total: z.string().optional(),
    last: z.strictObject({ path: z.string(), value: z.boolean() }).optional(),
    /** Behind the last page the API returns that page again. */
    repeats_last: z.boolean().default(false),
  }),
  z.strictObject({
    type: z.literal('link'),
    /** Relation of the `Link` header. */
    rel: z.string().optional(),
    /** Path of the next address in the response. */
    path: z.string().optional(),
    end: z.enum(['absent', 'null', 'empty']).default('absent'),
    /** Parameter of the address with the position. */
    name: z.string().default('page'),
    /** The address begins with its path. */
    is_relative: z.boolean().default(false),
    /** The last page has an address in the header too: `results` says whether documents follow. */
    has_results: z.boolean().default(false),
    has_empty_pages: z.boolean().default(false),
  }),
]);

const timeFormat = z.enum(['iso', 'date', 'unix', 'unix_ms']);

const filter = z.strictObject({
  /** Parameter; in a body a dotted path. */
  name: z.string(),
  /** Path of the time in a document. */
  field: z.string(),
  format: timeFormat,
  comparison: z.enum(['>', '>=']),
  /** Where the parameter is an expression: a regular expression whose first group is the time. */
  pattern: z.string().optional(),
  /** The time is in a header. */
  in_header: z.boolean().default(false),
});

/** The last page has a token; a request with it lists what has changed since then. */
const delta = z.strictObject({
  name: z.string(),
  path: z.string(),
  /** The path holds an address with the token in it. */
  is_link: z.boolean().default(false),
  /** What the parameter holds where everything is asked for; default: it is left out. */
  start: z.string().optional(),
});

const list = z.strictObject({
  method: method.default('GET'),
  /** Below the base URL; `{name}` stands for the value of that field of the listed documents. */
  endpoint: z.string().startsWith('/'),
  /** Parameters that distinguish this list from others at the endpoint. */
  params: texts.default({}),
  /** The same as regular expressions, where one parameter is a whole query. */
  patterns: texts.default({}),
  /** Further parameters of the documentation. Others are refused. */
  parameters: z.array(z.string()).default([]),
  shows: z.enum(['present', 'deleted', 'all']).default('present'),
  /** Path of the documents in the response; empty: the response is the list. */
  documents: z.string().default(''),
  /** A list of changes: an entry has an id, these fields, and the document if it is not deleted. */
  entry: z
    .strictObject({
      id: z.string(),
      document: z.string(),
      present: object.default({}),
      deleted: object.default({}),
    })
    .optional(),
  /** Further fields of the response. */
  body: object.default({}),
  pagination,
  /** The page size: parameter, and the greatest value of the documentation; without a name it is always that. */
  limit: z
    .strictObject({
      name: z.string().optional(),
      max: z.number().int().positive(),
      /** Where it is in an expression: a regular expression whose first group is the number. */
      pattern: z.string().optional(),
    })
    .optional(),
  filter: filter.optional(),
  /**
   * Path of the time of the last change, where the API orders by it and has no filter: the function reads the newest
   * first, until what it has.
   */
  changed: z.string().optional(),
  delta: delta.optional(),
  /** Documents come by this field when the request has these parameters. */
  orders: z
    .array(
      z.strictObject({
        params: texts,
        field: z.string(),
        is_descending: z.boolean().default(false),
      }),
    )
    .default([]),
});

const deletes = z.discriminatedUnion('type', [
  /** A deleted document is no longer listed. */
  z.strictObject({
    type: z.literal('absent'),
    /** The function finds deletions only in a run from the start. */
    needs_reset: z.boolean().default(false),
  }),
  /** A deleted document is listed with these fields; `only` names the fields that are left of it. */
  z.strictObject({
    type: z.literal('marked'),
    set: object,
    only: z.array(z.string()).optional(),
  }),
  z.strictObject({ type: z.literal('none'), because: z.string().min(1) }),
]);

const response = z.strictObject({
  status: z.number().int().default(200),
  headers: texts.default({}),
  body: z.union([object, z.array(object), z.string()]).default({}),
});

const exchange = z.strictObject({
  method,
  endpoint: z.string().startsWith('/'),
  params: texts.default({}),
  /** Such as an idempotency key; names in lower case. Others may be sent too. */
  headers: texts.default({}),
  /** JSON. */
  body: z.json().optional(),
  form: texts.optional(),
  response,
});

const about = {
  /** Pages of the provider's documentation that show the shape and the parameters. */
  documentation: z.array(z.url()).min(1),
  checked_at: z.iso.date(),
  /** Names of further fixtures of the provider that the function reads. */
  uses: z.array(z.string()).default([]),
};

const recordsByModel = z.record(z.string(), z.array(object).min(1));

/** What the provider sends when something has changed. */
const webhook = z.strictObject({
  /** Such as its type; the signature is added. */
  headers: texts.default({}),
  body: object,
  /** Records that it saves, whole. */
  records: recordsByModel.optional(),
  /** Ids of the records that it deletes, by model. */
  deleted_records: z.record(z.string(), z.array(z.string())).default({}),
});

const objectFixture = z.strictObject({
  ...about,
  /** Path of the id in a document. */
  id: z.string().default('id'),
  lists: z.array(list).min(1),
  /** A single document: its address, and the path of the document in the response. */
  item: z
    .strictObject({
      endpoint: z.string().startsWith('/'),
      document: z.string().default(''),
      parameters: z.array(z.string()).default([]),
    })
    .optional(),
  /** Fields whose name begins with `$` are not sent. */
  documents: z.array(object).min(3),
  /** Documents that replace those of the same id, and new ones. */
  changes: z.array(object).default([]),
  deletes,
  deleted: z.array(z.union([z.string(), z.number()])).default([]),
  /** Metadata that the function needs. */
  metadata: object.optional(),
  /** Records of the documents, whole: of each model at least one. */
  records: recordsByModel.optional(),
  /** Records of the changes, whole. */
  changed_records: recordsByModel.optional(),
  /** Living records of a model after the first sync; default: one of each document. */
  counts: z.record(z.string(), z.number().int()).default({}),
  /** Ids of the records that the deletion deletes; default: those of `deleted`. */
  deleted_records: z.record(z.string(), z.array(z.string())).optional(),
  /** Where a run that was killed goes on; `start` where the API has no position to come back to. */
  resumes: z.enum(['checkpoint', 'start']).default('checkpoint'),
  /** Responses to the position of an earlier run that is no longer valid: the function reads everything again. */
  refused_positions: z.array(response).default([]),
  /** In a response `{token}` stands for a token of `delta` that lists what changes from now on. */
  exchanges: z.array(exchange).default([]),
  /** For a sync with `onWebhook`: sent in this order after a first run. */
  webhooks: z.array(webhook).default([]),
});

const callFixture = z.strictObject({
  ...about,
  cases: z
    .array(
      z.strictObject({
        name: z.string(),
        input: z.json().optional(),
        /** The requests in order, with their responses: the function makes these and no others. */
        exchanges: z.array(exchange).min(1),
        output: z.json().optional(),
        /** The function fails: what the caller receives has these fields. */
        error: object.optional(),
        /** Metadata before, and what the function leaves. */
        metadata: object.optional(),
        metadata_after: object.optional(),
        /** The connection is deleted at the end, which a `pre-connection-deletion` function sees. */
        is_deleted: z.boolean().default(false),
      }),
    )
    .min(1),
});

export type ObjectFixture = z.infer<typeof objectFixture>;
export type CallFixture = z.infer<typeof callFixture>;
export type CallCase = CallFixture['cases'][number];
export type SentWebhook = ObjectFixture['webhooks'][number];
export type Exchange = z.infer<typeof exchange>;
export type ListRules = z.infer<typeof list>;
export type Pagination = ListRules['pagination'];
export type Fixture = ObjectFixture | CallFixture;

/** Path of the time of the last change in a document. */
export const changeTimeOf = ({
  filter,
  changed,
}: Pick<ListRules, 'filter' | 'changed'>): string | undefined => filter?.field ?? changed;

/** @throws Error with every mistake of the fixture */
export function parseFixture(content: unknown): Fixture {
  const isObject = typeof content === 'object' && content !== null && 'lists' in content;
  const { data, error } = (isObject ? objectFixture : callFixture).safeParse(content);
  if (error !== undefined) throw new Error(z.prettifyError(error));
  return data;
}

export const isObjectFixture = (fixture: Fixture): fixture is ObjectFixture => 'lists' in fixture;
