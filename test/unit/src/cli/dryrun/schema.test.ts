import { describe, expect, it } from 'vitest';
import { schemaCheck } from '../../../../../src/cli/dryrun/schema.ts';
import type { Json, JsonObject } from '../../../../../src/kernel/stable-json.ts';

const numbers: JsonObject = { type: 'object', additionalProperties: { type: 'number' } };

describe('the check of a dry run', () => {
  it.each([
    ['{"a":1}', []],
    ['{"a":"x"}', ['a: Invalid input: expected number, received string']],
    ['{"__proto__":"x"}', ['__proto__: This key cannot be checked.']],
    [
      '{"a":{"__proto__":1}}',
      [
        'a: Invalid input: expected number, received object',
        'a.__proto__: This key cannot be checked.',
      ],
    ],
  ])('says of %s: %j', (text, lines) => {
    expect(schemaCheck(numbers)(JSON.parse(text) as Json)).toEqual(lines);
  });
});
