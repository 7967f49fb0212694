import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { isoMillis } from '../../../kernel/time.ts';
import { alertKinds, type AlertKind } from '../alert-destinations/state.ts';
import type { SendResult } from './send.ts';
import type { Alert } from './state.ts';

const alertShape = z
  .strictObject({
    alert: z.enum(alertKinds),
    firing: z.boolean(),
    count: z.int(),
    subjects: z.array(z.string()),
    since: timestamp.nullable(),
    notified_at: timestamp.nullable(),
  })
  .meta({ id: 'Alert' });

export const alertsShape = data(z.array(alertShape));

export const testedShape = data(
  z.strictObject({
    delivered: z.boolean(),
    status: z.int().nullable(),
    error: z.string().nullable(),
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
