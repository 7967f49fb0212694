import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { takeQuota } from '#http/rate-limit.ts';
import { json } from '#http/responses.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis } from '#kernel/time.ts';
import { environmentName } from '#modules/access/environments/names.ts';
import { alertKinds } from '../alert-destinations/alert-destination.ts';
import { requireDestination } from '../alert-destinations/handlers.ts';
import { defineRoute } from '../services.ts';
import { alertRef } from './entity.ts';
import { alertsShape, presentAlert, presentResult, testedShape } from './presenter.ts';
import { sendNotice } from './send.ts';

const scopes = ['environment:*'];

const list = defineRoute({
  method: 'GET',
  path: '/alerts',
  credential: 'environment',
  scopes,
  summary: 'List the alerts with their state.',
  description: 'They are observed while the environment has an alert destination.',
  answers: { 200: json('Every kind.', alertsShape) },
  errors: [],
  handle({ caller: { environmentUid }, services: { control } }) {
    const alerts = alertKinds.map((kind) => {
      const ref = alertRef(environmentUid, kind);
      return presentAlert({ kind, alert: control.view.find(ref) });
    });
    return Promise.resolve({ status: 200, body: { data: alerts } });
  },
});

const test = defineRoute({
  method: 'POST',
  path: '/alert-destinations/{id}/test',
  credential: 'environment',
  scopes,
  summary: 'Send a test to an alert destination.',
  description: 'Returns the outcome of the delivery; a few per minute.',
  params: z.strictObject({ id: z.uuid().describe('Id of the destination.') }),
  answers: { 200: json('The outcome.', testedShape) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    const { environmentUid } = caller;
    const { control, clock } = services;
    const destination = await requireDestination(control, environmentUid, params.id);
    const limit = limits.alertTestsPerMinute;
    const quota = await takeQuota(services, `alerts:${environmentUid}`, { cost: 1, limit });
    if (quota.refusal !== null) throw quota.refusal;
    const result = await sendNotice(services, destination, {
      id: randomUUID(),
      environment: environmentName(control, environmentUid),
      kind: 'test',
      state: 'test',
      count: 0,
      subjects: [],
      at: isoMillis(clock.now()),
    });
    return { status: 200, body: { data: presentResult(result) } };
  },
});

export const alertRoutes: readonly AnyRoute[] = [list, test];
