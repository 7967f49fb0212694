import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { ProcessPorts } from '#control-plane/ports.ts';
import type { AnyRoute } from '#http/define-route.ts';
import type { AnyStreamRoute } from '#http/stream-route.ts';
import type { EnvironmentDependents } from '#modules/access/environments/dependents.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import type { IntegrationDependents } from '#modules/connections/integrations/dependents.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import type { OperationsServices } from '#modules/operations/services.ts';
import type { AddedTopics } from '#modules/operations/topics/catalogue.ts';

/**
 * An optional part, with everything that the rest of the service is handed of it; but for its entity kinds, which
 * threads load that know no routes.
 */
export interface Extension {
  readonly routes?: readonly AnyRoute[];
  readonly streamRoutes?: readonly AnyStreamRoute[];
  /** Topics that it makes at run time. */
  readonly topics?: AddedTopics;
  /** What it does when an environment changes or is deleted. */
  environmentDependents?(control: ControlPlane): readonly EnvironmentDependents[];
  /** What it does when an integration moves or is deleted. */
  integrationDependents?(control: ControlPlane): IntegrationDependents;
  /** Names of its topics in use with the records of a model. */
  topicsOfModel?(
    control: ControlPlane,
    environmentUid: string,
    integrationKey: string,
    model: string,
  ): readonly string[];
  /** Starts its work, in processes with the role `webhooks`. */
  start?(services: ExtensionServices): Promise<AsyncDisposable> | AsyncDisposable;
  /** Opens providers of its own, in a gateway that this machine alone can reach. */
  openProviders?(stack: AsyncDisposableStack, services: ProviderServices): Promise<AddedProviders>;
}

export type ExtensionServices = OperationsServices & {
  /** Where crash tests may end the process. */
  readonly faultPoint: (name: string) => void;
};

export interface ProviderServices extends ProcessPorts, Pick<SealedEntities, 'vault'> {
  /** Once the gateway listens. */
  readonly gatewayUrl: () => string;
}

export interface AddedProviders {
  readonly definitions: readonly Provider[];
  /** `host:port` that the egress guard must let through. */
  readonly allow: readonly string[];
}
