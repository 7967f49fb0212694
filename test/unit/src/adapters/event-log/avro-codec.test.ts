import { describe, expect, it } from 'vitest';
import { AvroCodec, schemaText, schemaType } from '#adapters/event-log/avro-codec.ts';
import { topics, type TopicName } from '#streams/topics.ts';

const names = Object.keys(topics) as TopicName[];

describe('the codec', () => {
  it.each(names)('gives back any value of %s', (topic) => {
    const type = schemaType(topic);
    const codec = new AvroCodec<unknown>(schemaText(topic), 7, () => null);
    for (let n = 0; n < 20; n++) {
      const value = type.random() as unknown;
      const bytes = codec.encode(value);
      expect(bytes.readUInt32BE(1)).toBe(7);
      expect(type.isValid(codec.decode(bytes))).toBe(true);
      expect(codec.encode(codec.decode(bytes))).toEqual(bytes);
    }
  });

  it('gives bytes that later encodings do not change', () => {
    const type = schemaType('svc.runs.v1');
    const codec = new AvroCodec<unknown>(schemaText('svc.runs.v1'), 1, () => null);
    const values = Array.from({ length: 50 }, () => type.random() as unknown);
    const encoded = values.map((value) => codec.encode(value));
    for (const [i, bytes] of encoded.entries()) {
      expect(codec.encode(values[i])).toEqual(bytes);
    }
  });
});
