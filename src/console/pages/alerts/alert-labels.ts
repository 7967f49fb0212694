import type { Alert } from '#client/index.ts';

export type AlertKind = Alert['alert'];

const labels: Readonly<Record<AlertKind, string>> = {
  connections_failing: 'Connections failing',
  refreshes_failing: 'Refreshes failing',
  dead_letters: 'Dead letters',
  projections_stuck: 'Projections stuck',
  webhook_endpoints_disabled: 'Webhook endpoints disabled',
};

export const alertKinds = Object.keys(labels) as readonly AlertKind[];

export const labelOfAlert = (kind: AlertKind): string => labels[kind];
