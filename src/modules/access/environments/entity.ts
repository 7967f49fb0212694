import { type EntityDefinition, type EntityRef, whileDeleting } from '#control-plane/entity.ts';
import { publishConfig } from '#control-plane/public-message.ts';
import {
  environment,
  type CreateEnvironment,
  type EnvironmentCommand,
  type EnvironmentEvent,
  type Environment,
} from './environment.ts';
import { presentRetention } from './retention.ts';

export interface EnvironmentEntity {
  readonly kind: 'environment';
  readonly state: Environment;
  readonly command: EnvironmentCommand;
  readonly event: EnvironmentEvent;
  readonly topic: 'svc.config.v1';
  readonly facts: Pick<CreateEnvironment, 'isNameTaken'>;
  readonly index: 'id' | 'name' | 'deleting';
}

export const environmentRef = (uid: string): EntityRef<EnvironmentEntity> => ({
  kind: 'environment',
  scope: 'account',
  path: [uid],
});

const actions = {
  EnvironmentCreated: 'created',
  EnvironmentChanged: 'updated',
  SigningKeyRotated: 'signing_key_rotated',
  EnvironmentDeletionBegun: 'deletion_begun',
  EnvironmentDeleted: 'deleted',
} as const;

export const environmentEntity: EntityDefinition<EnvironmentEntity> = {
  kind: 'environment',
  indexes: {
    id: ({ id }) => String(id),
    name: ({ name }) => name,
    deleting: whileDeleting,
  },
  decider: environment,
  isNumbered: true,

  facts(command, ref, siblings) {
    const changes = command.type === 'Patch' ? command.changes : command;
    const name = 'name' in changes ? changes.name : undefined;
    const others = siblings.list(ref, []);
    return {
      isNameTaken: others.some((other) => other.name === name && other.uid !== ref.path[0]),
    };
  },

  publishes: { 'svc.config.v1': true },
  publish: publishConfig('environment', actions, (subject) => ({
    id: [subject.uid],
    environmentUid: subject.uid,
    document: publicDocument(subject),
  })),
};

function publicDocument(state: Environment): Record<string, unknown> {
  const { uid, id, name, isProduction, webhookFlags, payloadMode, retention } = state;
  return {
    uid,
    id,
    name,
    is_production: isProduction,
    webhook_flags: webhookFlags,
    payload_mode: payloadMode,
    retention: presentRetention(retention),
    validation: state.validation ?? 'warn',
    input_validation: state.inputValidation ?? 'error',
  };
}
