import { z } from 'zod';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { FunctionDefinition } from '#ports/sandbox.ts';

type DefinitionInput = Readonly<Record<string, unknown>>;

const notOurs = 'Invalid default export: should be createAction(), createSync() or createOnEvent()';

/** @throws Error when the bundle's default export was not made with a `create*` function */
export function definitionOf(
  exported: unknown,
): DefinitionInput & { type: FunctionDefinition['type'] } {
  if (typeof exported !== 'object' || exported === null) throw new Error(notOurs);
  const { type } = exported as DefinitionInput;
  if (type !== 'sync' && type !== 'action' && type !== 'onEvent') throw new Error(notOurs);
  return exported as DefinitionInput & { type: FunctionDefinition['type'] };
}

/** The definition as data; schemas by `z.toJSONSchema` for draft 7. */
export function describeDefinition(exported: unknown): FunctionDefinition {
  const input = definitionOf(exported);
  const models = Object.entries((input['models'] ?? {}) as DefinitionInput);
  return {
    type: input.type,
    description: text(input['description']) ?? '',
    version: text(input['version']) ?? '',
    scopes: texts(input['scopes']),
    metadata:
      input['metadata'] === undefined || isVoid(input['metadata'])
        ? null
        : schemaOf(input['metadata'], 'metadata'),
    checkpoint:
      input['checkpoint'] === undefined ? null : schemaOf(input['checkpoint'], 'checkpoint'),
    hasExec: typeof input['exec'] === 'function',
    frequency: text(input['frequency']),
    models: Object.fromEntries(
      models.map(([name, schema]) => [name, schemaOf(schema, `models.${name}`)]),
    ),
    autoStart: input['autoStart'] === true,
    syncType: input['syncType'] === 'incremental' ? 'incremental' : 'full',
    trackDeletes: input['trackDeletes'] === true,
    webhookSubscriptions: texts(input['webhookSubscriptions']),
    hasOnWebhook: typeof input['onWebhook'] === 'function',
    endpoints: Array.isArray(input['endpoints']) ? input['endpoints'].map(plain) : [],
    input: input['input'] === undefined ? null : schemaOf(input['input'], 'input'),
    output: input['output'] === undefined ? null : schemaOf(input['output'], 'output'),
    endpoint:
      typeof input['endpoint'] === 'object' && input['endpoint'] !== null
        ? plain(input['endpoint'])
        : null,
    event: text(input['event']),
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
