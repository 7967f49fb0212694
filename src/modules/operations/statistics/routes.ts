import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { data, json } from '#http/responses.ts';
import { connectionTotals } from '#modules/connections/connections/queries.ts';
import { defineRoute } from '../services.ts';
import { seriesNames, seriesOf, type Steps } from './queries.ts';

/** About a hundred steps each. */
const ranges = {
  '1h': { seconds: 3_600, stepSeconds: 60 },
  '24h': { seconds: 86_400, stepSeconds: 900 },
  '7d': { seconds: 7 * 86_400, stepSeconds: 7_200 },
} as const;
const rangeNames = Object.keys(ranges) as [keyof typeof ranges, ...(keyof typeof ranges)[]];

const numbers = z.array(z.int());
const statisticsShape = data(
  z
    .strictObject({
      step_seconds: z.int().meta({ description: 'Length of a step.' }),
      times: numbers.meta({ description: 'Begin of each step in epoch seconds.' }),
      series: z
        .strictObject(
          Object.fromEntries(seriesNames.map((name) => [name, numbers])) as Record<
            (typeof seriesNames)[number],
            typeof numbers
          >,
        )
        .meta({ description: 'A number for each step; the last step is going on.' }),
      totals: z
        .strictObject({
          connections: z.int().describe('Number of connections.'),
          failing_connections: z.int().describe('Number of connections with an error.'),
        })
        .describe('Connections of now.'),
    })
    .meta({ id: 'Statistics' }),
);

const show = defineRoute({
  method: 'GET',
  path: '/statistics',
  credential: 'environment',
  scopes: ['environment:logs:read'],
  summary: 'Get statistics of the environment.',
  description: 'Runs, requests, webhooks and authorizations in steps of time.',
  query: z.strictObject({
    range: z.enum(rangeNames).default('24h').describe('Length of the time to show, up to now.'),
  }),
  answers: { 200: json('Time series, and the connections of now.', statisticsShape) },
  errors: [],
  async handle({ query, caller, services }) {
    const { environmentUid } = caller;
    const steps = stepsUntil(services.clock.now(), query.range);
    const { first, stepSeconds, count } = steps;
    const series = await seriesOf(services, environmentUid, steps);
    const { connections, failing } = connectionTotals(services.control, environmentUid);
    const body = {
      step_seconds: stepSeconds,
      times: Array.from({ length: count }, (_, at) => first + at * stepSeconds),
      series,
      totals: { connections, failing_connections: failing },
    };
    return { status: 200, body: { data: body } };
  },
});

/** The steps of the range that end with the one of now. @param now in ms */
export function stepsUntil(now: number, range: keyof typeof ranges): Steps {
  const { seconds, stepSeconds } = ranges[range];
  const count = seconds / stepSeconds;
  const last = Math.floor(now / 1000 / stepSeconds) * stepSeconds;
  return { first: last - (count - 1) * stepSeconds, stepSeconds, count };
}

export const statisticsRoutes: readonly AnyRoute[] = [show];
