import { createRequire } from 'node:module';
import type { Ajv } from 'ajv';
import avro, { type Schema } from 'avsc';
import { describe, expect, it } from 'vitest';
import { addedTopics } from '#modules/extensions/registered.ts';
import { asyncapiDocument } from '#modules/operations/topics/asyncapi.ts';
import { isPublicTopic, topics, type Topic } from '#streams/topics.ts';
import { draft7 } from '#test/support/judges/json-schema.ts';

interface Message {
  readonly headers: object;
  readonly payload: { readonly schema?: Schema };
}

interface Document {
  readonly channels: Readonly<Record<string, { readonly bindings: { readonly kafka: object } }>>;
  readonly components: { readonly messages: Readonly<Record<string, Message>> };
}

const document = asyncapiDocument(
  {
    version: '1.2.3',
    floor: '1.0.0',
    ownedPartitions: 24,
    prefix: 'svc',
  },
  addedTopics,
);
const { channels, components } = document as unknown as Document;
const require = createRequire(import.meta.url);

/** `meta`: whether draft-07 is known beforehand; the schema of AsyncAPI brings it along. */
function validator(meta = true): Ajv {
  return draft7({ allErrors: true, meta, validateSchema: meta });
}

/** What stands at a local reference such as `#/channels/a`. */
function resolve(reference: string): unknown {
  const parts = reference.slice(2).split('/');
  return parts.reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], document);
}

function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { $ref } = value as { $ref?: unknown };
  return typeof $ref === 'string' ? [$ref] : Object.values(value).flatMap(references);
}

describe('the AsyncAPI document', () => {
  it('is valid by the schema of AsyncAPI 3.0 with its Kafka bindings', () => {
    const schema = require('@asyncapi/specs/schemas/3.0.0.json') as object;
    const validate = validator(false).compile(schema);
    expect(validate(document), JSON.stringify(validate.errors?.slice(0, 5))).toBe(true);
    // The judge is awake: a document that breaks a rule of a binding does not pass.
    const broken = structuredClone(document) as unknown as Document;
    Object.assign(broken.channels['svc.records.v1']!.bindings.kafka, { partitions: 0 });
    expect(validate(broken)).toBe(false);
  });

  it('refers to what is there', () => {
    const all = references(document);
    expect(all.length).toBeGreaterThan(0);
    expect(all.filter((one) => resolve(one) === undefined)).toEqual([]);
  });

  it('has the public topics, each with its partitions and cleanup, and no private one', () => {
    expect(Object.keys(channels)).toEqual([
      ...Object.keys(topics).filter(isPublicTopic),
      'typed',
      'heartbeat',
    ]);
    expect(JSON.stringify(document)).not.toContain('svc.internal.');
    expect(channels['svc.records.v1']?.bindings.kafka).toMatchObject({
      topic: 'svc.records.v1',
      partitions: 24,
      topicConfiguration: {
        'cleanup.policy': ['compact'],
        'min.compaction.lag.ms': 28 * 86_400_000,
        'max.compaction.lag.ms': 29 * 86_400_000,
        'delete.retention.ms': 7 * 86_400_000,
      },
    });
    expect(channels['svc.runs.v1']?.bindings.kafka).toMatchObject({
      topicConfiguration: { 'cleanup.policy': ['delete'], 'retention.ms': 90 * 86_400_000 },
    });
  });

  it.each([1, 4, 24])(
    'has the partitions of the definitions where owned topics have %i',
    (owned) => {
      const made = asyncapiDocument(
        {
          version: '1.2.3',
          floor: '1.0.0',
          ownedPartitions: owned,
          prefix: 'svc',
        },
        addedTopics,
      );
      const expected = Object.entries<Topic>(topics)
        .filter(([name]) => isPublicTopic(name))
        .map(([name, { partitions }]) => {
          if (partitions === 'owned') return [name, owned];
          return [name, partitions === 'quarter' ? Math.ceil(owned / 4) : partitions];
        });
      const shown = Object.entries((made as unknown as Document).channels).map(
        ([name, { bindings }]) => [name, (bindings.kafka as { partitions: number }).partitions],
      );
      expect(shown).toEqual([...expected, ['typed', owned], ['heartbeat', owned]]);
    },
  );

  it('names topics as the installation has them', () => {
    const own = asyncapiDocument(
      {
        version: '1.2.3',
        floor: '1.0.0',
        ownedPartitions: 4,
        prefix: 'gateway-eu',
      },
      addedTopics,
    );
    const { channels: named } = own as unknown as { channels: Record<string, { address: string }> };
    expect(named['svc.runs.v1']?.address).toBe('gateway-eu.runs.v1');
    expect(named['typed']?.address).toMatch(/^gateway-eu\.cdc\./);
  });

  it.each(Object.entries(components.messages))(
    '%s has headers in JSON Schema and values in Avro',
    (_, { headers, payload }) => {
      expect(validator().validateSchema(headers)).toBe(true);
      if (payload.schema !== undefined) {
        expect(() => avro.Type.forSchema(payload.schema!)).not.toThrow();
      } else expect(payload).toEqual({ type: 'null' });
    },
  );
});
