import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { AnyRoute, Caller } from '#http/define-route.ts';
import { takeQuota } from '#http/rate-limit.ts';
import { representation } from '#http/representation.ts';
import { json, data, timestamp } from '#http/responses.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis, isoMillisOrNull } from '#kernel/time.ts';
import { environmentName } from '#modules/access/environments/queries.ts';
import { mayListConnections } from '#modules/connections/connections/known-connections.ts';
import { defineRoute } from '#modules/operations/services.ts';
import { alertKinds, type AlertKind } from '../alert-destinations/alert-destination.ts';
import { requireDestination } from '../alert-destinations/handlers.ts';
import type { Alert } from './alert.ts';
import { alertRef } from './entity.ts';
import { sendNotice, type SendResult } from './send.ts';

/** Null: it has never fired. */
interface AlertShown {
  readonly kind: AlertKind;
  readonly alert: Alert | null;
}

const shown = representation<AlertShown>()({
  alert: [z.enum(alertKinds).describe('Name of the alert.'), ({ kind }) => kind],
  firing: [
    z.boolean().describe('Whether the state lasts.'),
    ({ alert }) => (alert?.count ?? 0) > 0,
  ],
  count: [z.int().describe('Number of affected subjects.'), ({ alert }) => alert?.count ?? 0],
  subjects: [
    z.array(z.string()).describe('The affected subjects; some of them if there are many.'),
    ({ alert }) => alert?.subjects ?? [],
  ],
  since: [
    timestamp
      .nullable()
      .describe('Time from which the state lasts (RFC 3339); null if it does not.'),
    ({ alert }) => isoMillisOrNull(alert?.since ?? null),
  ],
  notified_at: [
    timestamp.nullable().describe('Time of the last notification (RFC 3339); null without one.'),
    ({ alert }) => isoMillisOrNull(alert?.noticedAt ?? null),
  ],
});

const presentAlert = shown.of;

const alertsShape = data(z.array(shown.schema.meta({ id: 'Alert' })));

const result = representation<SendResult>()({
  delivered: [
    z.boolean().describe('Whether the destination accepted it.'),
    ({ isDelivered }) => isDelivered,
  ],
  status: z.int().nullable().describe('Status of the HTTP response; null without one.'),
  error: [
    z.string().nullable().describe('Why the delivery failed; null if it did not.'),
    ({ errorCode }) => errorCode,
  ],
});

const presentResult = result.of;
const testedShape = data(result.schema);

/** Some of them are names of connections. */
const withKnownSubjects = (caller: Caller, alert: Alert): Alert =>
  mayListConnections(caller) ? alert : { ...alert, subjects: [] };

const list = defineRoute({
  method: 'GET',
  path: '/alerts',
  credential: 'environment',
  scopes: ['environment:alerts:read'],
  summary: 'List the alerts with their state.',
  description: 'They are observed while the environment has an alert destination.',
  answers: { 200: json('Every kind.', alertsShape) },
  errors: [],
  handle({ caller, services: { control } }) {
    const alerts = alertKinds.map((kind) => {
      const alert = control.view.find(alertRef(caller.environmentUid, kind));
      return presentAlert({ kind, alert: alert && withKnownSubjects(caller, alert) });
    });
    return Promise.resolve({ status: 200, body: { data: alerts } });
  },
});

const test = defineRoute({
  method: 'POST',
  path: '/alert-destinations/{id}/test',
  credential: 'environment',
  scopes: ['environment:alerts:write'],
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
      reasons: {},
      at: isoMillis(clock.now()),
    });
    return { status: 200, body: { data: presentResult(result) } };
  },
});

export const alertRoutes: readonly AnyRoute[] = [list, test];
