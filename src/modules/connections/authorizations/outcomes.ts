import type { GatewayError } from '#kernel/errors.ts';
import type { Authorization } from './authorization.ts';

export type FailedAuthorization = Pick<
  Authorization,
  | 'environmentUid'
  | 'integrationKey'
  | 'connectionId'
  | 'reconnectsUid'
  | 'endUser'
  | 'webhookUrlOverride'
>;

/** Receives the outcomes of authorizations. */
export interface AuthorizationOutcomes {
  /** An authorization failed after the return of the user. Never rejects. */
  failed(authorization: FailedAuthorization, error: GatewayError): Promise<void>;
}
