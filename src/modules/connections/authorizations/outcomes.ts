import type { GatewayError } from '../../../kernel/errors.ts';
import type { Authorization } from './state.ts';

export type FailedAuthorization = Pick<
  Authorization,
  | 'environmentUid'
  | 'integrationKey'
  | 'connectionId'
  | 'reconnectsUid'
  | 'endUser'
  | 'webhookUrlOverride'
>;

/** Who is to know how authorizations ended. */
export interface AuthorizationOutcomes {
  /** A person came back from the provider, and no connection came of it. Never rejects. */
  failed(authorization: FailedAuthorization, error: GatewayError): Promise<void>;
}
