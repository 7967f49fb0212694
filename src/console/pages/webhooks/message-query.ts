import type { Input } from '#client/index.ts';
import type { UrlState } from '../../data/url-state.ts';

export const states = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export const kinds = ['auth', 'sync', 'async_action', 'forward', 'test'] as const;

/** The conditions in the address, of a list and of a replay. */
export const queryOf = (
  filters: UrlState,
): NonNullable<Input<'GET /webhook-messages'>['query']> => ({
  state: states.find((state) => state === filters.get('state')),
  kind: kinds.find((kind) => kind === filters.get('kind')),
  endpoint_id: filters.sent('endpoint'),
  provider_config_key: filters.sent('integration'),
  connection_id: filters.sent('connection'),
});
