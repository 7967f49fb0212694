import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { isoMillis } from '../../../kernel/time.ts';
import { alertKinds, destinationTypes, type AlertDestination } from './state.ts';

const destinationShape = z
  .strictObject({
    id: z.string().describe('Id of the destination.'),
    display_name: z.string(),
    type: z
      .enum(destinationTypes)
      .describe('JSON to a URL, an incoming webhook of Slack, or mail.'),
    target: z.string().describe('URL without its path, or e-mail address.'),
    alerts: z
      .array(z.enum(alertKinds))
      .nullable()
      .describe('Names of the alerts that it receives; null: all of them.'),
    enabled: z.boolean().describe('Whether alerts are sent to it.'),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'AlertDestination' });

export const oneDestinationShape = data(destinationShape);
export const destinationsShape = data(z.array(destinationShape));

/** URLs are shown without their path, which may contain a token. */
export const presentDestination = (destination: AlertDestination) => ({
  id: destination.id,
  display_name: destination.displayName,
  type: destination.type,
  target: destination.shownTarget,
  alerts: destination.kinds,
  enabled: destination.isEnabled,
  created_at: isoMillis(destination.createdAt),
  updated_at: isoMillis(destination.updatedAt),
});
