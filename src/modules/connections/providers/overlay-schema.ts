import { z } from 'zod';
import { definitionSchema } from './schema.ts';

/**
 * JSON Schema (2020-12) of a file that `SVC_PROVIDERS` names: definitions by name, of which an alias may leave out what
 * its target has.
 */
export function overlaySchema(): Record<string, unknown> {
  const { $schema, properties, required, ...definition } = z.toJSONSchema(definitionSchema, {
    io: 'input',
    unrepresentable: 'any',
  });
  const alias = {
    type: 'string',
    description: 'A provider defined earlier, whose top-level fields these replace.',
  };
  return {
    $schema,
    title: 'Provider definitions',
    type: 'object',
    properties: { $schema: { type: 'string' } },
    propertyNames: { pattern: String.raw`^([a-z0-9-]{1,255}|\$schema)$` },
    additionalProperties: { $ref: '#/$defs/definition' },
    $defs: {
      definition: {
        ...definition,
        properties: { alias, ...properties },
        if: { required: ['alias'] },
        else: { required },
      },
    },
  };
}
