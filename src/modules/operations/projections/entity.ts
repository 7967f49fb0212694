import type { EntityDefinition, EntityRef, PublicMessage } from '#control-plane/entity.ts';
import { messageOf, projectionsTopic } from '#streams/projector/projection-message.ts';
import type { Projection } from '#streams/projector/projection-state.ts';
import { verificationState } from '#streams/projector/projection-state.ts';
import { projection, type ProjectionCommand } from './decider.ts';
import type { ProjectionEvent } from './events.ts';

export interface ProjectionEntity {
  readonly kind: 'projection';
  readonly state: Projection;
  readonly command: ProjectionCommand;
  readonly event: ProjectionEvent;
  readonly topic: 'svc.projections.v1';
}

export const projectionsScope = 'projections';

export const projectionRef = (name: string): EntityRef<ProjectionEntity> => ({
  kind: 'projection',
  scope: projectionsScope,
  path: [name],
});

/** Which generation of a projection is active, built or kept. Projectors consume its events. */
export const projectionEntity: EntityDefinition<ProjectionEntity> = {
  kind: 'projection',
  decider: projection,

  publishes: { 'svc.projections.v1': true },
  publish(event, before, after) {
    if (after === null) return before === null ? [] : [tombstoneOf(before)];
    if (event.type === 'ProjectionForgotten') return [];
    const action = actionOf(event, after);
    const value = messageOf(after, action, subjectOf(event));
    return [
      {
        topic: projectionsTopic,
        key: after.name,
        type: `svc.projection.${action}`,
        environmentUid: 'account',
        value: { ...value },
      },
    ];
  },
};

const tombstoneOf = ({ name }: Projection): PublicMessage<'svc.projections.v1'> => ({
  topic: projectionsTopic,
  key: name,
  type: 'svc.projection.forgotten',
  environmentUid: 'account',
  value: null,
});

type PublishedEvent = Exclude<ProjectionEvent, { type: 'ProjectionForgotten' }>;

const subjectOf = (event: PublishedEvent): number => {
  if (event.type === 'ProjectionBegun' || event.type === 'GenerationRequested') {
    return event.generation.number;
  }
  return 'to' in event ? event.to : event.generation;
};

const actions = {
  ProjectionBegun: 'building',
  GenerationRequested: 'building',
  GenerationProgressed: 'progress',
  GenerationCaughtUp: 'ready',
  GenerationFailed: 'failed',
  VerificationRequested: 'verifying',
  PartsVerified: 'verified',
  VerificationFailed: 'failed',
  Switched: 'switched',
  RolledBack: 'rolled_back',
  GenerationPaused: 'paused',
  GenerationResumed: 'resumed',
  RetirementBegun: 'retiring',
  GenerationRetired: 'retired',
} as const satisfies Record<PublishedEvent['type'], string>;

/** `verified`: all partitions were compared and are equal. */
function actionOf(event: PublishedEvent, after: Projection): string {
  if (event.type !== 'PartsVerified') return actions[event.type];
  const verification = after.generations.find(
    ({ number }) => number === event.generation,
  )?.verification;
  const found = verification ? verificationState(verification, after.partitions) : 'running';
  if (found === 'running') return 'verifying';
  return found === 'passed' ? 'verified' : 'failed';
}
