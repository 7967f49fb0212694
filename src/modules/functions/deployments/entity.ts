import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import {
  deployment,
  deploymentDueAt,
  type DeploymentCommand,
  type DeploymentEvent,
  type Deployment,
} from './deployment.ts';

export interface DeploymentEntity {
  readonly kind: 'deployment';
  readonly state: Deployment;
  readonly command: DeploymentCommand;
  readonly event: DeploymentEvent;
}

/** In the scope of the functions, so that its outcome is decided together with them. */
export const deploymentRef = (environmentUid: string, id: string): EntityRef<DeploymentEntity> => ({
  kind: 'deployment',
  scope: environmentUid,
  path: [environmentUid, id],
});

/** Not published on a public topic, unlike the function that it deploys. */
export const deploymentEntity: EntityDefinition<DeploymentEntity> = {
  kind: 'deployment',
  decider: deployment,
  dueAt: deploymentDueAt,
  publish: () => [],
};
