import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { text } from '#http/fields.ts';
import { askOptions, repeatableOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { json, succeeded, data, timestamp } from '#http/responses.ts';
import { isoMillis } from '#kernel/time.ts';
import { defineRoute } from '#modules/operations/services.ts';
import { alertKinds, destinationTypes, type AlertDestination } from './alert-destination.ts';
import {
  createDestination,
  deleteDestination,
  listDestinations,
  patchDestination,
} from './handlers.ts';

/** URLs are shown without their path, which may contain a token. */
const shown = representation<AlertDestination>()({
  id: z.string().describe('Id of the destination.'),
  display_name: z.string(),
  type: z.enum(destinationTypes).describe('JSON to a URL, an incoming webhook of Slack, or mail.'),
  target: [
    z.string().describe('URL without its path, or e-mail address.'),
    ({ shownTarget }) => shownTarget,
  ],
  alerts: [
    z
      .array(z.enum(alertKinds))
      .nullable()
      .describe('Names of the alerts that it receives; null: all of them.'),
    ({ kinds }) => kinds,
  ],
  enabled: [z.boolean().describe('Whether alerts are sent to it.'), ({ isEnabled }) => isEnabled],
  created_at: [timestamp, ({ createdAt }) => isoMillis(createdAt)],
  updated_at: [timestamp, ({ updatedAt }) => isoMillis(updatedAt)],
});

const presentDestination = shown.of;
const destinationShape = shown.schema.meta({ id: 'AlertDestination' });

const oneDestinationShape = data(destinationShape);
const destinationsShape = data(z.array(destinationShape));

const scopes = { read: ['environment:alerts:read'], write: ['environment:alerts:write'] };
const path = z.strictObject({ id: z.uuid().describe('Id of the destination.') });

const settings = {
  display_name: text(0, 255),
  target: text(1, 2048).meta({
    description: 'URL, or e-mail address for the type `email`.',
    examples: ['https://alerts.example.com/in'],
  }),
  alerts: z
    .array(z.enum(alertKinds))
    .min(1)
    .max(alertKinds.length)
    .nullable()
    .transform((input) => (input === null ? null : [...new Set(input)]))
    .describe('Names of the alerts to send; null: all of them.'),
  enabled: z.boolean().describe('Whether alerts are sent to it.'),
};

const list = defineRoute({
  method: 'GET',
  path: '/alert-destinations',
  credential: 'environment',
  scopes: scopes.read,
  summary: 'List the alert destinations, oldest first.',
  description: 'URLs are shown without their paths, which may be secret.',
  answers: { 200: json('All of them.', destinationsShape) },
  errors: [],
  handle({ caller, services }) {
    const all = listDestinations(services.control, caller.environmentUid);
    return Promise.resolve({ status: 200, body: { data: all.map(presentDestination) } });
  },
});

const create = defineRoute({
  method: 'POST',
  path: '/alert-destinations',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Create an alert destination.',
  description: 'A URL, an incoming webhook of Slack, or an e-mail address.',
  body: z.strictObject({
    type: z
      .enum(destinationTypes)
      .describe('JSON to a URL, an incoming webhook of Slack, or mail.'),
    target: settings.target,
    display_name: settings.display_name.optional(),
    alerts: settings.alerts.optional(),
    enabled: settings.enabled.optional(),
  }),
  answers: { 201: json('The destination.', oneDestinationShape) },
  errors: ['resource_capped', 'conflict'],
  async handle(input) {
    const { body, caller, services } = input;
    const wanted = {
      type: body.type,
      target: body.target,
      displayName: body.display_name ?? '',
      kinds: body.alerts ?? null,
      isEnabled: body.enabled ?? true,
    };
    const options = askOptions(input);
    const made = await createDestination(services, caller.environmentUid, wanted, options);
    return { status: 201, body: { data: presentDestination(made) } };
  },
});

const patch = defineRoute({
  method: 'PATCH',
  path: '/alert-destinations/{id}',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Update an alert destination.',
  description: 'Absent fields keep their value.',
  params: path,
  body: z.strictObject(settings).partial(),
  answers: { 200: json('The destination.', oneDestinationShape) },
  errors: ['not_found'],
  async handle(input) {
    const { params, body, caller, services } = input;
    const changes = {
      target: body.target,
      displayName: body.display_name,
      kinds: body.alerts,
      isEnabled: body.enabled,
    };
    const { environmentUid } = caller;
    const options = askOptions(input);
    const changed = await patchDestination(services, environmentUid, params.id, changes, options);
    return { status: 200, body: { data: presentDestination(changed) } };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/alert-destinations/{id}',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Delete an alert destination.',
  params: path,
  answers: succeeded,
  errors: ['not_found'],
  async handle(input) {
    const { params, caller, services } = input;
    const options = repeatableOptions(input);
    await deleteDestination(services, caller.environmentUid, params.id, options);
    return { status: 200, body: { success: true } };
  },
});

export const alertDestinationRoutes: readonly AnyRoute[] = [list, create, patch, remove];
