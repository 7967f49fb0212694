import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { text, wholeNumber } from '#http/fields.ts';
import { askOptions } from '#http/options.ts';
import { json } from '#http/responses.ts';
import { defineRoute, type OperationsServices } from '../services.ts';
import type { ProjectionFigures } from './figures.ts';
import {
  findProjection,
  listProjections,
  orderProjection,
  rebuildProjection,
  verifyProjection,
} from './handlers.ts';
import { presentProjection, oneProjectionShape, projectionsShape } from './presenter.ts';

const name = text(1, 255).meta({ description: 'Name of the projection.', examples: ['records'] });
const path = z.strictObject({ name });
const number = z.number().int().min(1).max(1_000_000);
/** Throttles the rebuild in favor of readers on the same machine. */
const pacePercentDefault = 75;

const read = ['account:projections:read'] as const;
const write = ['account:projections:write'] as const;

/** 200: done. 202: started; GET the projection shows its progress. */
const answer = (status: 200 | 202, figures: ProjectionFigures, { clock }: OperationsServices) => ({
  status,
  body: { data: presentProjection(figures, clock.now()) },
});

const list = defineRoute({
  method: 'GET',
  path: '/projections',
  credential: 'account',
  scopes: read,
  summary: 'List the projections.',
  description: 'With their generations, positions and lags.',
  answers: { 200: json('The projections.', projectionsShape) },
  errors: [],
  async handle({ services }) {
    const now = services.clock.now();
    const data = (await listProjections(services)).map((one) => presentProjection(one, now));
    return { status: 200, body: { data } };
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/projections/{name}',
  credential: 'account',
  scopes: read,
  summary: 'Get a projection.',
  params: path,
  answers: { 200: json('The projection.', oneProjectionShape) },
  errors: ['not_found'],
  async handle({ params, services }) {
    return answer(200, await findProjection(services, params.name), services);
  },
});

const command = {
  method: 'POST',
  credential: 'account',
  scopes: write,
  params: path,
  errors: ['not_found', 'conflict'],
} as const;
const begun = { 202: json('It has begun.', oneProjectionShape) };
const done = { 200: json('The projection.', oneProjectionShape) };

const rebuild = defineRoute({
  ...command,
  path: '/projections/{name}/rebuild',
  summary: 'Start to rebuild a projection.',
  description: 'The tables are built from the log beside those that are read, until `switch`.',
  body: z.strictObject({
    pace_percent: z
      .number()
      .int()
      .min(1)
      .max(100)
      .optional()
      .describe('Share of the processor time that the rebuild may use; 75 by default.'),
  }),
  answers: begun,
  async handle(input) {
    const { params, body, services } = input;
    const wanted = { pacePercent: body.pace_percent ?? pacePercentDefault };
    const found = await rebuildProjection(services, params.name, wanted, askOptions(input));
    return answer(202, found, services);
  },
});

const verify = defineRoute({
  ...command,
  path: '/projections/{name}/verify',
  summary: 'Start to verify a rebuilt generation.',
  description: 'It is compared with the active one by counts and checksums.',
  answers: begun,
  async handle(input) {
    const { params, services } = input;
    const found = await verifyProjection(services, params.name, askOptions(input));
    return answer(202, found, services);
  },
});

const switchTo = defineRoute({
  ...command,
  path: '/projections/{name}/switch',
  summary: 'Switch to the verified generation.',
  description: 'With `force` also to one that was not verified.',
  body: z.strictObject({
    force: z.boolean().optional().describe('True: switch to a generation that was not verified.'),
  }),
  answers: done,
  async handle(input) {
    const { params, body, services } = input;
    const order = { type: 'Switch', isForced: body.force ?? false } as const;
    const found = await orderProjection(services, params.name, order, askOptions(input));
    return answer(200, found, services);
  },
});

const rollBack = defineRoute({
  ...command,
  path: '/projections/{name}/rollback',
  summary: 'Switch back to the former generation.',
  answers: done,
  async handle(input) {
    const { params, services } = input;
    const order = { type: 'RollBack' } as const;
    const found = await orderProjection(services, params.name, order, askOptions(input));
    return answer(200, found, services);
  },
});

const pauseOrResume = (type: 'Pause' | 'Resume', word: 'pause' | 'resume', summary: string) =>
  defineRoute({
    ...command,
    path: `/projections/{name}/${word}`,
    summary,
    body: z.strictObject({
      generation: number
        .optional()
        .describe('Number of the generation; the one being built if absent.'),
    }),
    answers: done,
    async handle(input) {
      const { params, body, services } = input;
      const order = { type, generation: body.generation ?? null };
      const found = await orderProjection(services, params.name, order, askOptions(input));
      return answer(200, found, services);
    },
  });

const remove = defineRoute({
  ...command,
  method: 'DELETE',
  path: '/projections/{name}/generations/{generation}',
  summary: 'Drop a generation that is not read.',
  description: 'Its tables are deleted; a rebuild of it ends.',
  params: z.strictObject({ name, generation: wholeNumber(1, 1_000_000) }),
  answers: begun,
  async handle(input) {
    const { params, services } = input;
    const order = { type: 'Retire', generation: params.generation } as const;
    const found = await orderProjection(services, params.name, order, askOptions(input));
    return answer(202, found, services);
  },
});

export const projectionRoutes: readonly AnyRoute[] = [
  list,
  get,
  rebuild,
  verify,
  switchTo,
  rollBack,
  pauseOrResume('Pause', 'pause', 'Pause a generation: the one being built, or the given one.'),
  pauseOrResume('Resume', 'resume', 'Resume a paused generation at its position.'),
  remove,
];
