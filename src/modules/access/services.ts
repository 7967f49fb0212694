import type { Logger } from 'pino';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { Ports } from '#control-plane/ports.ts';
import { routesWith } from '#http/define-route.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { IdentityProvider } from '#ports/identity-provider.ts';
import type { Mailer } from '#ports/mailer.ts';
import type { RowQueries } from '#ports/projection-store.ts';
import type { AuditRecorder } from './audit/recorder.ts';
import type { EnvironmentDependents } from './environments/dependents.ts';
import type { GroupRoles } from './oidc/group-roles.ts';
import type { RootKeyRing } from './vault/open-vault.ts';
import type { Vault } from './vault/vault.ts';

/** Entities, and the keys of their secrets. */
export interface SealedEntities {
  readonly control: ControlPlane;
  readonly vault: Vault;
}

/** Entities, and the rows of their past. */
export interface EntityQueries {
  readonly control: ControlPlane;
  readonly tables: RowQueries;
}

/** Values and signals between nodes; the log lines of those that are lost. */
export interface SharedValues {
  readonly coordination: Coordination;
  readonly logger: Logger;
}

/** The services that every wing shares. */
export type CommonServices = Ports & SealedEntities & EntityQueries & SharedValues;

export interface AccessParts {
  readonly rootKeys: RootKeyRing;
  readonly audit: AuditRecorder;
  /** Null without an identity provider. */
  readonly signIn: SignInSettings | null;
  /** Null without a mail server. */
  readonly mailer: Mailer | null;
  /** The state of other wings in environments, in the order of deletion. */
  readonly environmentDependents: readonly EnvironmentDependents[];
}

/** How people sign in with the identity provider. */
export interface SignInSettings {
  readonly provider: IdentityProvider;
  readonly groupRoles: GroupRoles;
  /** Whether addresses count as verified of which the provider does not say it. */
  readonly isEmailTrusted: boolean;
}

export interface AddressSettings {
  /** The address of the server itself when none is set; empty until it listens. */
  readonly publicUrl: string;
}

/** Services of the routes of this wing. */
export type AccessServices = CommonServices & AccessParts & { readonly settings: AddressSettings };

export const defineRoute = routesWith<AccessServices>();
