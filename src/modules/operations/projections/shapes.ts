import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';

const time = timestamp.nullable();
const position = { position: z.int(), end: z.int(), lag: z.int() };

const difference = z.strictObject({
  table: z.string(),
  partition: z.int(),
  stream: z.string(),
  expected_rows: z.int(),
  found_rows: z.int(),
  expected_last_position: z.int(),
  found_last_position: z.int(),
});

const verificationShape = z.strictObject({
  id: z.string(),
  state: z.string().meta({ examples: ['matched'] }),
  against: z.int(),
  requested_at: timestamp,
  failure: z.string().nullable(),
  streams: z.int(),
  expected_rows: z.int(),
  found_rows: z.int(),
  differences: z.int(),
  examples: z.array(difference),
});

const generationShape = z
  .strictObject({
    generation: z.int(),
    state: z.string().meta({ examples: ['active'] }),
    is_paused: z.boolean(),
    schema_version: z.int(),
    pace_percent: z.number(),
    tables: z.array(z.string()),
    rows: z.int(),
    bytes: z.int(),
    ...position,
    partitions: z.array(z.strictObject({ partition: z.int(), ...position })),
    progress: z.number(),
    rate_per_s: z.number().nullable(),
    seconds_left: z.number().nullable(),
    requested_at: time,
    ready_at: time,
    switched_at: time,
    failure: z.string().nullable(),
    verification: verificationShape.nullable(),
  })
  .meta({ id: 'ProjectionGeneration' });

const projectionShape = z
  .strictObject({
    name: z.string().meta({ examples: ['records'] }),
    topic: z.string(),
    active_generation: z.int(),
    schema_version: z.int(),
    latest_schema_version: z.int(),
    ...position,
    rows: z.int(),
    generations: z.array(generationShape),
  })
  .meta({ id: 'Projection' });

export const oneProjectionShape = data(projectionShape);
export const projectionsShape = data(z.array(projectionShape));
