import { describe, expect, it } from 'vitest';
import {
  isRawInteger,
  mayLoseDigits,
  parseExactJson,
  parseRawJson,
  parseWrittenJson,
  rawInteger,
} from '#kernel/exact-json.ts';
import { isJsonObject, stableJson, type Json } from '#kernel/stable-json.ts';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { seeded, seedOfRun, type Random } from '#test/support/judges/random.ts';

const big = '9007199254740993';

const textsOfJson = ['', '"', '\\', '\\"', `:${big}`, `",${big},"`, 'é\u0000'];
/** Without escapes: V8 may take an escaped name for that of another object (Node 24.21). */
const namesOfJson = ['', `:${big}`, 'é', '__proto__'];

/** JSON text, its value with the digits of large integers, and the text of JSON with the same integers. */
interface Sample {
  readonly json: string;
  readonly value: unknown;
  readonly passed: string;
}

function anyNumber(random: Random): Sample {
  const digits = random.pick([
    big,
    '9007199254740991',
    '123',
    '1'.repeat(random.pick([15, 17, 40])),
  ]);
  const sign = random.pick(['', '-']);
  const json = sign + random.pick([digits, digits, `${digits}.5`, `0.${digits}`, `${digits}e2`]);
  const isLarge = json === sign + digits && !Number.isSafeInteger(Number(digits));
  const value = isLarge ? json : Number(json);
  return { json, value, passed: isLarge ? json : JSON.stringify(value) };
}

function anySample(random: Random, depth: number): Sample {
  const same = (value: unknown): Sample => {
    const json = JSON.stringify(value);
    return { json, value, passed: json };
  };
  if (depth === 0 || random.chance(40)) {
    if (random.chance(60)) return anyNumber(random);
    return same(random.pick([...textsOfJson, null, true]));
  }
  const space = () => random.pick(['', '', ' ', '\n']);
  const items = Array.from({ length: random.int(4) }, () => anySample(random, depth - 1));
  const spaced = (texts: readonly string[]) =>
    texts.map((text) => space() + text + space()).join(',');
  if (random.chance(50)) {
    const json = `[${spaced(items.map((item) => item.json))}]`;
    const passed = `[${items.map((item) => item.passed).join(',')}]`;
    return { json, value: items.map(({ value }) => value), passed };
  }
  // Names that are numbers come first, in their order.
  const names = items.map((_, at) =>
    random.chance(30) ? String(at) : random.pick(namesOfJson) + '~'.repeat(at),
  );
  const fields = items.map(
    ({ json }, at) => `${JSON.stringify(names[at])}${space()}:${space()}${json}`,
  );
  const order = names
    .map((_, at) => at)
    .sort((a, b) => Number(names[b] === String(b)) - Number(names[a] === String(a)) || a - b);
  return {
    json: `{${spaced(fields)}}`,
    value: Object.fromEntries(items.map(({ value }, at) => [names[at], value])),
    passed: `{${order.map((at) => `${JSON.stringify(names[at])}:${items[at]?.passed ?? ''}`).join(',')}}`,
  };
}

describe('integers beyond 2^53 − 1', () => {
  it.each([
    big,
    `-${big}`,
    ` ${big}`,
    `[${big}]`,
    `[1,${big}]`,
    `{"a":${big}}`,
    `{"a": -${big}}`,
    `{"a":\n\t${big}}`,
    '9007199254740992',
    '123456789012345678901234567890',
  ])('keep their digits: %j', (json) => {
    expect(mayLoseDigits(json)).toBe(true);
    expect(JSON.stringify(parseRawJson(json))).toBe(json.replaceAll(/\s/g, ''));
    expect(JSON.stringify(parseExactJson(json)).replaceAll('"', '')).toBe(
      json.replaceAll(/[\s"]/g, ''),
    );
  });

  it.each([
    '9007199254740991',
    '1.5',
    '1e30',
    '0.1234567890123456789',
    `"${big}"`,
    `{"${big}":"${big}"}`,
  ])('leave other values as they are: %s', (json) => {
    expect(parseRawJson(json)).toEqual(JSON.parse(json));
    expect(parseExactJson(json)).toEqual(JSON.parse(json));
    expect(parseWrittenJson(json)).toEqual(JSON.parse(json));
  });

  it.each([
    `{${big}:1}`,
    `[0${big}]`,
    `[+${big}]`,
    `["a${big}]`,
    `[${big} ${big}]`,
    `["${big}"${big}]`,
    `[${big}"${big}"]`,
    `"\\u${big}\\`,
  ])('do not make JSON of what is none: %s', (json) => {
    const errorOf = (parse: (text: string) => unknown): unknown => {
      try {
        return parse(json);
      } catch (error) {
        return String(error);
      }
    };
    expect(errorOf(parseExactJson)).toBe(errorOf(JSON.parse));
    expect(errorOf(parseWrittenJson)).toBe(errorOf(JSON.parse));
  });

  it('stay numbers where a function wrote them as numbers', () => {
    for (const number of [1.7e18, 2 ** 53, 2 ** 60, 1e20, -1e17]) {
      expect(parseWrittenJson(JSON.stringify([number]))).toEqual([number]);
    }
    expect(parseWrittenJson(`[${big}]`)).toEqual([big]);
  });

  it('are scalars of JSON', () => {
    const raw = parseRawJson(big);
    expect([isRawInteger(raw), isJsonObject(raw)]).toEqual([true, false]);
    expect([isRawInteger({}), isRawInteger(Object.create(null)), isRawInteger(big)]).toEqual([
      false,
      false,
      false,
    ]);
    expect(stableJson({ b: raw as Json, a: [rawInteger(`-${big}`) as Json] })).toBe(
      `{"a":[-${big}],"b":${big}}`,
    );
  });

  it('are found among any other values', () => {
    const random = seeded(seedOfRun());
    const note = `SVC_TEST_SEED=${random.seed}`;
    for (let round = 0; round < roundsOf({ push: 500, all: 20_000 }); round++) {
      const { json, value, passed } = anySample(random, 4);
      expect(parseExactJson(json), `${note} ${json}`).toEqual(value);
      expect(JSON.stringify(parseRawJson(json)), `${note} ${json}`).toBe(passed);
    }
  });

  it('leave deep JSON readable, and a field named __proto__ a field', () => {
    const deep = `${'['.repeat(100_000)}${big}${']'.repeat(100_000)}`;
    expect(Array.isArray(parseRawJson(deep))).toBe(true);
    for (const parse of [parseExactJson, parseRawJson]) {
      const own = parse(`{"__proto__":{"a":${big}}}`) as object;
      expect(Object.getOwnPropertyNames(own)).toEqual(['__proto__']);
      expect(JSON.stringify(parse(`{"__proto__":${big}}`))).toContain(big);
    }
    const marked = `["~${big}","\\u007e\\u007E${big}",${big}]`;
    expect(JSON.stringify(parseRawJson(marked))).toBe(`["~${big}","~~${big}",${big}]`);
    const beside = `{"a\\"":[{"b\\"":1},-${big}],"2":0}`;
    expect(JSON.stringify(parseRawJson(beside))).toBe(`{"2":0,"a\\"":[{"b\\"":1},-${big}]}`);
  });
});
