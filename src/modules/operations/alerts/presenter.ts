import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { isoMillis } from '../../../kernel/time.ts';
import { alertKinds, type AlertKind } from '../alert-destinations/state.ts';
import type { SendResult } from './send.ts';
import type { Alert } from './state.ts';

const alertShape = z
  .strictObject({
    alert: z.enum(alertKinds).describe('Name of the alert.'),
    firing: z.boolean().describe('Whether the state lasts.'),
    count: z.int().describe('Number of affected subjects.'),
    subjects: z
      .array(z.string())
      .describe('The affected subjects; some of them if there are many.'),
    since: timestamp
      .nullable()
      .describe('Time from which the state lasts (RFC 3339); null if it does not.'),
    notified_at: timestamp
      .nullable()
      .describe('Time of the last notification (RFC 3339); null without one.'),
  })
  .meta({ id: 'Alert' });

export const alertsShape = data(z.array(alertShape));

export const testedShape = data(
  z.strictObject({
    delivered: z.boolean().describe('Whether the destination accepted it.'),
    status: z.int().nullable().describe('Status of the HTTP response; null without one.'),
    error: z.string().nullable().describe('Why the delivery failed; null if it did not.'),
  }),
);

/** Null: it has never fired. */
export const presentAlert = (kind: AlertKind, alert: Alert | null) => ({
  alert: kind,
  firing: (alert?.count ?? 0) > 0,
  count: alert?.count ?? 0,
  subjects: alert?.subjects ?? [],
  since: alert === null ? null : isoMillis(alert.since),
  notified_at: alert?.noticedAt == null ? null : isoMillis(alert.noticedAt),
});

export const presentResult = ({ isDelivered, status, errorCode }: SendResult) => ({
  delivered: isDelivered,
  status,
  error: errorCode,
});
