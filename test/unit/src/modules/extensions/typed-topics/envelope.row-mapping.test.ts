import avro, { type Schema } from 'avsc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { incompatibilities } from '#adapters/event-log/schema-compatibility.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { typedSchema } from '#modules/extensions/typed-topics/envelope.ts';

const address = 'svc.cdc.dev.crm.contact';
const of = { recordId: 'c-1', connectionId: 'ada', variant: 'base' };

function modelOf(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { definitions: { Contact: { type: 'object', properties }, ...more } };
}

/** The row of a payload once it has been encoded and decoded. */
function rowOf(models: JsonObject | null, payload: JsonObject | null, isDeleted = false) {
  const { definition, row } = typedSchema(address, 'Contact', models);
  const type = avro.Type.forSchema(definition as Schema);
  const source = { version: '1', connector: 'svc', name: address, ts_ms: 1, snapshot: 'false' };
  const value = {
    before: null,
    after: row(of, isDeleted, payload),
    source: { ...source, connection_id: 'ada', sync: null, variant: 'base', seq: 1 },
    op: 'c',
    ts_ms: 1,
    ts_us: 1,
    transaction: null,
  };
  const decoded = type.fromBuffer(type.toBuffer(value)) as { after: object };
  return JSON.parse(JSON.stringify(decoded.after)) as JsonObject;
}

const text = { type: 'string' };
const meta = { id: 'c-1', _connection_id: 'ada', _variant: 'base', _deleted: false };

describe('a model as a row', () => {
  it('has a column of the fitting type for each field', () => {
    const models = modelOf({
      id: text,
      count: { type: 'integer' },
      score: { type: 'number' },
      isOpen: { type: 'boolean' },
      at: { type: 'string', format: 'date-time' },
      day: { type: 'string', format: 'date' },
      kind: { enum: ['a', 'b'] },
      tags: { type: 'array', items: text },
      address: { type: 'object', properties: { city: text, zip: { type: 'integer' } } },
      free: {},
      map: { type: 'object', additionalProperties: text },
    });
    const payload = {
      id: 'c-1',
      count: 7,
      score: 1.5,
      isOpen: true,
      at: '2026-01-02T03:04:05.123456789+01:00',
      day: '2026-01-02',
      kind: 'a',
      tags: ['x', null],
      address: { city: 'Rome', zip: 12 },
      free: [1, { a: null }],
      map: { a: 'b' },
    };
    expect(rowOf(models, payload)).toEqual({
      ...meta,
      ...payload,
      at: Date.UTC(2026, 0, 2, 2, 4, 5) * 1000 + 123_456,
      address: { city: 'Rome', zip: 12, _extra: {} },
      free: '[1,{"a":null}]',
      map: '{"a":"b"}',
      _extra: {},
    });
    const { definition } = typedSchema(address, 'Contact', models);
    const shown = JSON.stringify(definition);
    expect(shown).toContain('{"name":"count","type":["null","long"],"default":null}');
    expect(shown).toContain('{"name":"score","type":["null","double"],"default":null}');
    expect(shown).toContain('"logicalType":"timestamp-micros"');
    expect(shown).toContain('"namespace":"svc.cdc.dev.crm.contact"');
  });

  it('looks through null, references and unions of one', () => {
    const models = modelOf(
      {
        id: text,
        a: { type: ['integer', 'null'] },
        b: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
        c: { $ref: '#/definitions/Other' },
        d: { anyOf: [text, { type: 'integer' }] },
        e: { oneOf: [{ $ref: '#/definitions/Other' }, { type: 'null' }] },
      },
      { Other: { type: 'object', properties: { self: { $ref: '#/definitions/Other' }, n: text } } },
    );
    const payload = { id: 'c-1', a: 1, b: false, c: { self: { n: 'x' }, n: 'y' }, d: 3, e: null };
    expect(rowOf(models, payload)).toEqual({
      ...meta,
      a: 1,
      b: false,
      c: { self: '{"n":"x"}', n: 'y', _extra: {} },
      d: '3',
      e: null,
      _extra: {},
    });
    expect(rowOf(models, { id: 'c-1', a: null })).toMatchObject({ a: null, b: null, c: null });
  });

  it('keeps what does not fit as JSON in _extra, also within records', () => {
    const models = modelOf({
      id: text,
      count: { type: 'integer' },
      big: { type: 'integer' },
      at: { type: 'string', format: 'date-time' },
      list: { type: 'array', items: { type: 'integer' } },
      deep: { type: 'object', properties: { n: { type: 'integer' } } },
      _deleted: text,
    });
    const payload = {
      id: 'c-1',
      count: '12',
      big: 2 ** 60,
      at: 'yesterday',
      list: [1, 'two'],
      deep: { n: 1.5, more: true },
      unknown: { a: 1 },
      _deleted: 'own',
    };
    expect(rowOf(models, payload)).toEqual({
      ...meta,
      count: null,
      big: null,
      at: null,
      list: null,
      deep: { n: null, _extra: { n: '1.5', more: 'true' } },
      _extra: {
        count: '"12"',
        big: '1152921504606847000',
        at: '"yesterday"',
        list: '[1,"two"]',
        unknown: '{"a":1}',
        _deleted: '"own"',
      },
    });
  });

  it('gives names that Avro has not another one, and says which', () => {
    const models = modelOf({ id: text, 'first-name': text, '1st': text, first_name: text });
    expect(rowOf(models, { 'first-name': 'a', '1st': 'b', first_name: 'c' })).toEqual({
      ...meta,
      first_name: 'a',
      _1st: 'b',
      _extra: { first_name: '"c"' },
    });
    const { definition } = typedSchema(address, 'Contact', models);
    expect(JSON.stringify(definition)).toContain('The field \\"first-name\\".');
  });

  it('has only its names without a payload, or without a model', () => {
    expect(rowOf(modelOf({ id: text, a: text }), null, true)).toEqual({
      ...meta,
      _deleted: true,
      a: null,
      _extra: {},
    });
    expect(rowOf(null, { id: 'c-1', a: 1 })).toEqual({ ...meta, _extra: { a: '1' } });
  });

  it.each([
    ['a field more', { id: text, a: text }, { id: text, a: text, b: { type: 'integer' } }, true],
    ['a field less', { id: text, a: text }, { id: text }, true],
    ['another order', { id: text, a: text, b: text }, { id: text, b: text, a: text }, true],
    [
      'a field required or not',
      { id: text, a: text },
      { id: text, a: { type: ['string', 'null'] } },
      true,
    ],
    ['another type', { id: text, a: text }, { id: text, a: { type: 'integer' } }, false],
    [
      'a list of another type',
      { a: { type: 'array', items: text } },
      { a: { type: 'array', items: { type: 'number' } } },
      false,
    ],
  ])('is compatible or not after a change: %s', (_, before, after, isCompatible) => {
    const [older, newer] = [before, after].map((properties) =>
      JSON.stringify(typedSchema(address, 'Contact', modelOf(properties)).definition),
    );
    expect(incompatibilities(newer!, older!).length === 0).toBe(isCompatible);
  });

  it('loses nothing of any payload under any model', () => {
    const property = fc.constantFrom(
      text,
      { type: 'integer' },
      { type: 'number' },
      { type: 'boolean' },
      { type: 'string', format: 'date-time' },
      { type: 'array', items: { type: 'integer' } },
      { type: 'object', properties: { a: text, b: { type: 'number' } } },
      {},
    );
    const name = fc.constantFrom('a', 'b', 'c-d', 'c_d', '_extra', 'id', '_variant', '__proto__');
    fc.assert(
      fc.property(
        fc.dictionary(name, property),
        fc.dictionary(name, fc.jsonValue({ maxDepth: 3 })),
        (properties, payload) => {
          const row = rowOf(modelOf(properties), payload as JsonObject);
          const extra = row['_extra'] as JsonObject;
          for (const [field, value] of Object.entries(payload as JsonObject)) {
            const column = field.replaceAll('-', '_');
            const isKept = Object.hasOwn(extra, field) || row[column] !== null || value === null;
            expect(isKept || field === 'id', `${field}: ${JSON.stringify(value)}`).toBe(true);
          }
          expect(row).toMatchObject(meta);
        },
      ),
    );
  });
});
