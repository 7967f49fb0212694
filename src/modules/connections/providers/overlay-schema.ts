import { z } from 'zod';
import { draft2020 } from '#json-schema/ajv.ts';
import { problemsOf, type Problem } from '#json-schema/problems.ts';
import type { Json } from '#kernel/stable-json.ts';
import { definitionSchema } from './schema.ts';

/**
 * JSON Schema (2020-12) of a file that `SVC_PROVIDERS` names: definitions by name, of which an alias may leave out what
 * its target has.
 */
export function overlaySchema(): Record<string, unknown> {
  const { $schema, $defs, properties, required, ...definition } = z.toJSONSchema(definitionSchema, {
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
    description: 'A map of provider name to definition.',
    type: 'object',
    properties: {
      $schema: {
        type: 'string',
        description: 'The JSON Schema of this file, for editors. It is not a provider.',
      },
    },
    propertyNames: {
      pattern: String.raw`^([a-z0-9-]{1,255}|\$schema)$`,
      description: 'a-z, 0-9 and -, at most 255 characters',
    },
    additionalProperties: { $ref: '#/$defs/definition' },
    $defs: {
      definition: {
        ...definition,
        properties: { alias, ...properties },
        if: { required: ['alias'] },
        else: { required },
      },
      ...$defs,
    },
  };
}

/** Every mistake in the content of a file; the path begins with the name of the provider. */
export type OverlayValidator = (content: Json) => Problem[];

export function overlayValidator(): OverlayValidator {
  const ajv = draft2020({ allErrors: true, validateSchema: false });
  const validate = ajv.compile(overlaySchema());
  return (content) => (validate(content) ? [] : problemsOf(validate.errors ?? []));
}
