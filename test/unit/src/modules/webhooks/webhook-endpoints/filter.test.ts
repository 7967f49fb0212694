import { describe, expect, it } from 'vitest';
import { parseRawJson } from '#kernel/exact-json.ts';
import type { Json } from '#kernel/stable-json.ts';
import {
  filterShape,
  matchesFilter,
  type Condition,
} from '#modules/webhooks/webhook-endpoints/filter.ts';

const body: Json = {
  type: 'sync',
  success: true,
  error: null,
  model: 'Contact',
  responseResults: { added: 3, updated: 0 },
  list: ['a', 7, { id: 'x' }],
  'a/b': { '~': 1 },
};
const holds = (path: string, op: Condition['op'], value?: Condition['value'], of: Json = body) =>
  matchesFilter({ match: 'all', conditions: [{ path, op, value }] }, of);

describe('a condition of a filter', () => {
  it.each<[string, Condition['op'], Condition['value'], boolean]>([
    ['/type', 'equals', 'sync', true],
    ['/type', 'equals', 'Sync', false],
    ['/success', 'equals', true, true],
    ['/success', 'equals', 'true', false],
    ['/error', 'equals', null, true],
    ['/none', 'equals', null, false],
    ['/responseResults', 'equals', 'x', false],
    ['/type', 'not_equals', 'auth', true],
    ['/none', 'not_equals', 'auth', true],
    ['/model', 'in', ['Deal', 'Contact'], true],
    ['/none', 'in', [null], false],
    ['/model', 'not_in', ['Contact'], false],
    ['/none', 'not_in', ['Contact'], true],
    ['/responseResults/added', 'greater_than', 2, true],
    ['/responseResults/added', 'greater_than', 3, false],
    ['/responseResults/updated', 'less_than', 1, true],
    ['/model', 'less_than', 1, false],
    ['/model', 'starts_with', 'Con', true],
    ['/model', 'ends_with', 'tact', true],
    ['/responseResults/added', 'starts_with', '3', false],
    ['/list', 'contains', 7, true],
    ['/list', 'contains', 'x', false],
    ['/model', 'contains', 'Contact', false],
    ['/list/0', 'equals', 'a', true],
    ['/list/2/id', 'equals', 'x', true],
    ['/list/3', 'exists', undefined, false],
    ['/list/length', 'exists', undefined, false],
    ['/a~1b/~0', 'equals', 1, true],
    ['/error', 'exists', undefined, true],
    ['/error/x', 'exists', undefined, false],
    ['/model/0', 'exists', undefined, false],
    ['/constructor', 'exists', undefined, false],
    ['/__proto__', 'not_exists', undefined, true],
    ['/', 'exists', undefined, false],
  ])('%s %s %j: %s', (path, op, value, expected) => {
    expect(holds(path, op, value)).toBe(expected);
  });

  it('compares an integer that a number cannot hold as its digits', () => {
    const large = parseRawJson('{"id":12345678901234567890}') as Json;
    expect(holds('/id', 'equals', '12345678901234567890', large)).toBe(true);
    expect(holds('/id', 'equals', 12345678901234567000, large)).toBe(false);
    expect(holds('/id/rawJSON', 'exists', undefined, large)).toBe(false);
  });
});

describe('a filter', () => {
  const conditions: Condition[] = [
    { path: '/type', op: 'equals', value: 'sync' },
    { path: '/success', op: 'equals', value: false },
  ];

  it('asks for all of its conditions, or for any', () => {
    expect(matchesFilter({ match: 'all', conditions }, body)).toBe(false);
    expect(matchesFilter({ match: 'any', conditions }, body)).toBe(true);
    expect(matchesFilter({ match: 'any', conditions }, 'a text')).toBe(false);
  });

  it.each<[unknown, string]>([
    [{ conditions: [{ path: '/a', op: 'exists' }] }, 'match'],
    [{ match: 'all', conditions: [] }, 'conditions'],
    [{ match: 'all', conditions: Array(21).fill({ path: '/a', op: 'exists' }) }, 'conditions'],
    [{ match: 'all', conditions: [{ path: 'a', op: 'exists' }] }, 'conditions.0.path'],
    [{ match: 'all', conditions: [{ path: '', op: 'exists' }] }, 'conditions.0.path'],
    [{ match: 'all', conditions: [{ path: '/a~2', op: 'exists' }] }, 'conditions.0.path'],
    [{ match: 'all', conditions: [{ path: '/a~', op: 'exists' }] }, 'conditions.0.path'],
    [{ match: 'all', conditions: [{ path: '/a'.repeat(17), op: 'exists' }] }, 'conditions.0.path'],
    [
      { match: 'all', conditions: [{ path: '/a', op: 'matches', value: '(a+)+$' }] },
      'conditions.0.op',
    ],
    [{ match: 'all', conditions: [{ path: '/a', op: 'equals' }] }, 'conditions.0.value'],
    [{ match: 'all', conditions: [{ path: '/a', op: 'in', value: 'x' }] }, 'conditions.0.value'],
    [{ match: 'all', conditions: [{ path: '/a', op: 'in', value: [] }] }, 'conditions.0.value'],
    [{ match: 'all', conditions: [{ path: '/a', op: 'exists', value: 1 }] }, 'conditions.0.value'],
    [
      { match: 'all', conditions: [{ path: '/a', op: 'less_than', value: '1' }] },
      'conditions.0.value',
    ],
    [
      { match: 'all', conditions: [{ path: '/a', op: 'starts_with', value: '' }] },
      'conditions.0.value',
    ],
    [
      { match: 'all', conditions: [{ path: '/a', op: 'equals', value: 2 ** 53 }] },
      'conditions.0.value',
    ],
    [{ match: 'all', conditions: [{ path: '/a', op: 'equals', value: {} }] }, 'conditions.0.value'],
    [{ match: 'all', conditions: [{ path: '/a', op: 'exists', not: true }] }, 'conditions.0'],
  ])('%j is refused at %s', (input, path) => {
    const parsed = filterShape.safeParse(input);
    expect(parsed.error?.issues.map((issue) => issue.path.join('.'))).toContain(path);
  });

  it('takes time linear in the text', () => {
    const text = 'a'.repeat(1_024);
    const long = { a: 'a'.repeat(1_000_000) };
    const many = Array.from({ length: 20 }, (): Condition => {
      return { path: '/a', op: 'ends_with', value: `b${text.slice(1)}` };
    });
    for (let round = 0; round < 1_000; round += 1) {
      expect(matchesFilter({ match: 'any', conditions: many }, long)).toBe(false);
    }
  });
});
