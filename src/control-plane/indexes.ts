import type { ApiKey } from '../modules/access/api-keys/state.ts';
import type { Authorization } from '../modules/connections/authorizations/state.ts';
import type { ConnectSession } from '../modules/connections/connect-sessions/state.ts';
import type { Connection } from '../modules/connections/connections/state.ts';
import type { Environment } from '../modules/access/environments/state.ts';
import type { Integration } from '../modules/connections/integrations/state.ts';
import type { SyncInstance } from '../modules/functions/syncs/state.ts';
import type { EntityKind } from './entity.ts';

/** Values by which entities of a kind are found; null = this one is not in the index. */
type Indexes<S> = Readonly<Record<string, (state: S) => string | null>>;

const deleting = ({ isDeleting }: { readonly isDeleting: boolean }): string | null =>
  isDeleting ? 'yes' : null;

const environment: Indexes<Environment> = {
  id: ({ id }) => String(id),
  name: ({ name }) => name,
  deleting,
};
const apiKey: Indexes<ApiKey> = { hash: ({ hash }) => hash };
const integration: Indexes<Integration> = { uid: ({ uid }) => uid, deleting };
const connection: Indexes<Connection> = {
  uid: ({ uid }) => uid,
  id: ({ id }) => String(id),
  deleting,
};
const connectSession: Indexes<ConnectSession> = { hash: ({ hash }) => hash };
const authorization: Indexes<Authorization> = { hash: ({ hash }) => hash };
const sync: Indexes<SyncInstance> = {
  id: ({ id }) => id,
  run: ({ current }) => current?.runId ?? null,
};

/** Every index of the view. A change of this table makes each node build its view anew. */
export const indexes: Readonly<Partial<Record<EntityKind, Indexes<never>>>> = {
  environment,
  'api-key': apiKey,
  'account-key': apiKey,
  integration,
  connection,
  'connect-session': connectSession,
  authorization,
  sync,
};
