import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { data, timestamp } from '#http/responses.ts';
import { isoMillis } from '#kernel/time.ts';
import { alertKinds, destinationTypes, type AlertDestination } from './alert-destination.ts';

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

export const presentDestination = shown.of;
const destinationShape = shown.schema.meta({ id: 'AlertDestination' });

export const oneDestinationShape = data(destinationShape);
export const destinationsShape = data(z.array(destinationShape));
