import { z } from 'zod';
import { mapOf, optional, params, text, textMap, texts, valueParts } from './schema-parts.ts';

const pathInAccount = z.strictObject({
  path: text.describe('Dotted path of the value.'),
  take: optional(z.enum(valueParts), 'Part of the value, as `take` of a source of webhooks.'),
});
/** The path alone is the short form. */
const lookedUpValue = z.union([
  text.transform((path): z.output<typeof pathInAccount> => ({ path })),
  pathInAccount,
]);

const chosenItem = z.strictObject({
  path: optional(text, 'Dotted path of the list; without it the response is the list.'),
  choose_by: optional(
    texts,
    'Names of `connection_config`: with values that the connection already has, only an item with the same values fits.',
  ),
  prefer: optional(
    z.strictObject({
      path: text.describe('Dotted path in the item.'),
      equals: z.string().describe('The value of the preferred item.'),
    }),
    '`path` and `equals`: the first such item that fits is used, else the first that fits.',
  ),
});

export const lookupStep = z
  .strictObject({
    endpoint: optional(
      text,
      'What is called with the new credentials: a path, or a whole address. A template.',
    ),
    relative_to: z
      .enum(['base_url', 'origin', 'token_url'])
      .default('base_url')
      .describe(
        'What a path belongs to: below `base_url` of `proxy` (default); the `origin` of that address; or beside the last part of `token_url`.',
      ),
    method: optional(z.enum(['GET', 'POST']), '`GET` (default, without a body) or `POST`.'),
    headers: optional(textMap, 'Headers of the call. Values are templates.'),
    body: optional(params, 'Body of the call, sent as JSON. Values are templates.'),
    graphql: optional(text, 'Query of GraphQL, sent as the field `query` of the body.'),
    claims: optional(
      z.enum(['id_token', 'access_token']),
      'Name of a token of the token response: its claims (JWT) are read, and nothing is called.',
    ),
    unless: optional(text, 'A template: where it can be filled, the step is left out.'),
    item: optional(
      chosenItem,
      '`path`, `choose_by`, `prefer`: one item of a list is read, in place of the response.',
    ),
    connection_config: mapOf(lookedUpValue).describe(
      'Map of name to dotted path, or to `path` and `take`. A value that the connection already has stays.',
    ),
    is_optional: z
      .boolean()
      .default(false)
      .describe(
        'True: where the step fails, the connection is made without its values. By default it is not made: 400 `connection_test_failed`.',
      ),
  })
  .refine((step) => (step.endpoint === undefined) !== (step.claims === undefined), {
    error: 'Name either endpoint or claims.',
  })
  .meta({ id: 'lookupStep' });

export const lookupSteps = z.array(lookupStep).min(1);
