import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { functionName, integrationKey } from '#http/fields.ts';
import { askOptions } from '#http/options.ts';
import { data, json, timestamp } from '#http/responses.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis, isoMillisOrNull, minuteMs } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import { defineRoute } from '../services.ts';
import { functionKinds, type DeployedFunction } from './function.ts';
import { functionLogKey, listFunctions, requireFunction } from './queries.ts';

/** For how long functions keep log lines of every level (docs/reference/functions.md#log). */

const named = {
  integration_id: integrationKey,
  type: z.enum(functionKinds).describe('Kind of the function.'),
  name: functionName.describe('Name of the function.'),
};

const keptShape = data(
  z
    .strictObject({
      keep_all_logs_until: timestamp
        .nullable()
        .describe('Of all functions of the environment; null: not now.'),
      functions: z
        .array(
          z.strictObject({
            ...named,
            keep_all_logs_until: timestamp.describe('Until when lines of all levels are kept.'),
          }),
        )
        .describe('Functions that do so on their own.'),
    })
    .meta({ id: 'KeptLogs' }),
);

function presentKept(
  state: Environment | null,
  deployed: readonly DeployedFunction[],
  now: number,
): z.output<typeof keptShape> {
  const { allLogsUntil = 0, functionLogsUntil = {} } = state ?? {};
  return {
    data: {
      keep_all_logs_until: isoMillisOrNull(allLogsUntil > now ? allLogsUntil : null),
      functions: deployed.flatMap((one) => {
        const until = functionLogsUntil[functionLogKey(one)] ?? 0;
        if (until <= now) return [];
        const { integrationKey: integration_id, kind: type, name } = one;
        return [{ integration_id, type, name, keep_all_logs_until: isoMillis(until) }];
      }),
    },
  };
}

const read = defineRoute({
  method: 'GET',
  path: '/logs/keep',
  credential: 'environment',
  scopes: ['environment:logs:read'],
  summary: 'Show which functions keep log lines of every level.',
  answers: { 200: json('The environment and its functions.', keptShape) },
  errors: [],
  handle({ caller: { environmentUid }, services: { control, clock } }) {
    const state = control.view.find(environmentRef(environmentUid));
    const body = presentKept(state, listFunctions(control, environmentUid), clock.now());
    return Promise.resolve({ status: 200, body });
  },
});

const keep = defineRoute({
  method: 'POST',
  path: '/logs/keep',
  credential: 'environment',
  scopes: ['environment:logs:keep'],
  summary: 'Keep log lines of every level for some minutes.',
  description: 'Of the named functions, or of all functions of the environment.',
  body: z.strictObject({
    minutes: z
      .int()
      .min(0)
      .max(limits.allLogsMinutesMax)
      .describe('For how long, from now on; 0 ends it.'),
    functions: z
      .array(z.strictObject(named))
      .min(1)
      .max(limits.allLogsFunctionsMax)
      .optional()
      .describe('Only these functions; absent: all.'),
  }),
  answers: { 200: json('The environment and its functions.', keptShape) },
  errors: ['not_found', 'resource_capped'],
  async handle(input) {
    const { body, caller, services } = input;
    const { environmentUid } = caller;
    const { control, clock } = services;
    const functions = body.functions ?? [];
    for (const { integration_id, type, name } of functions) {
      await requireFunction(control, environmentUid, integration_id, type, name);
    }
    const keys = functions.map(({ integration_id, type, name }) =>
      functionLogKey({ integrationKey: integration_id, kind: type, name }),
    );
    const changed = await control.execute(
      environmentRef(environmentUid),
      {
        type: 'KeepAllLogs',
        functions: body.functions === undefined ? null : keys,
        forMs: body.minutes * minuteMs,
      },
      askOptions(input),
    );
    const shown = presentKept(changed, listFunctions(control, environmentUid), clock.now());
    return { status: 200, body: shown };
  },
});

export const keptLogRoutes: readonly AnyRoute[] = [read, keep];
