import type { Input } from '#client/index.ts';
import type { UrlState } from '../../data/url-state.ts';
import { webhookKinds } from './webhook-kinds.ts';

export const states = ['pending', 'delivered', 'failed', 'cancelled'] as const;

/** The conditions in the address, of a list and of a replay. */
export const queryOf = (
  filters: UrlState,
): NonNullable<Input<'GET /webhook-messages'>['query']> => ({
  state: states.find((state) => state === filters.get('state')),
  kind: webhookKinds.find((kind) => kind === filters.get('kind')),
  endpoint_id: filters.sent('endpoint'),
  provider_config_key: filters.sent('integration'),
  connection_id: filters.sent('connection'),
});
