import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { data, timestamp } from '#http/responses.ts';
import { isoMillisOrNull } from '#kernel/time.ts';
import { alertKinds, type AlertKind } from '../alert-destinations/alert-destination.ts';
import type { Alert } from './alert.ts';
import type { SendResult } from './send.ts';

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

export const presentAlert = shown.of;

export const alertsShape = data(z.array(shown.schema.meta({ id: 'Alert' })));

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

export const presentResult = result.of;
export const testedShape = data(result.schema);
