import { z } from 'zod';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { ChangeDelivery, FunctionDefinition, ProjectionDefinition } from '#ports/sandbox.ts';

type DefinitionInput = Readonly<Record<string, unknown>>;

const notOurs = 'Invalid default export: should be createSync(), createAction() or another of svc';

/** @throws Error when the bundle's default export was not made with a `create*` function */
export function definitionOf(
  exported: unknown,
): DefinitionInput & { type: FunctionDefinition['type'] } {
  if (typeof exported !== 'object' || exported === null) throw new Error(notOurs);
  const { type } = exported as DefinitionInput;
  if (!/^(sync|action|on(Event|Change)|projection)$/.test(String(type))) throw new Error(notOurs);
  return exported as DefinitionInput & { type: FunctionDefinition['type'] };
}

/** The definition as data; schemas by `z.toJSONSchema` for draft 7. */
export function describeDefinition(exported: unknown): FunctionDefinition {
  const definition = definitionOf(exported);
  const { type, models, from, batchSize, retries, row, map } = definition;
  const schemaAt = (name: string): JsonObject | null =>
    definition[name] === undefined ? null : schemaOf(definition[name], name);
  return {
    type,
    description: text(definition['description']) ?? '',
    version: text(definition['version']) ?? '',
    scopes: texts(definition['scopes']),
    metadata: isVoid(definition['metadata']) ? null : schemaAt('metadata'),
    checkpoint: schemaAt('checkpoint'),
    hasExec: typeof definition['exec'] === 'function',
    frequency: text(definition['frequency']),
    models: Object.fromEntries(
      Array.isArray(models)
        ? texts(models).map((name): [string, JsonObject] => [name, {}])
        : Object.entries((models ?? {}) as DefinitionInput).map(([name, schema]) => [
            name,
            schemaOf(schema, `models.${name}`),
          ]),
    ),
    autoStart: definition['autoStart'] === true,
    syncType: definition['syncType'] === 'incremental' ? 'incremental' : 'full',
    trackDeletes: definition['trackDeletes'] === true,
    webhookSubscriptions: texts(definition['webhookSubscriptions']),
    hasOnWebhook: typeof definition['onWebhook'] === 'function',
    endpoints: Array.isArray(definition['endpoints']) ? definition['endpoints'].map(plain) : [],
    input: schemaAt('input'),
    output: schemaAt('output'),
    endpoint:
      typeof definition['endpoint'] === 'object' && definition['endpoint'] !== null
        ? plain(definition['endpoint'])
        : null,
    event: text(definition['event']),
    // Its reader adds what is left out, and refuses what is not allowed.
    ...(type === 'onChange' ? { delivery: { from, batchSize, retries } as ChangeDelivery } : {}),
    projection: (row && {
      ...definition,
      row: schemaAt('row'),
      hasMap: !!map,
    }) as ProjectionDefinition,
  };
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const plain = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

const isVoid = (schema: unknown): boolean =>
  schema instanceof z.ZodVoid || schema instanceof z.ZodUndefined;

/** JSON Schema, draft 7. @throws Error when it is no zod schema */
export function schemaOf(schema: unknown, where: string): JsonObject {
  if (!(schema instanceof z.ZodType)) throw new Error(`${where} should be a zod schema`);
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    target: 'draft-7',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const kind = zodSchema._zod.def.type;
      if (kind === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
      if (kind === 'void' || kind === 'undefined') jsonSchema.type = 'null';
    },
  });
  return plain(json);
}
