import type { Instant } from '../../../kernel/time.ts';

/** What the client asked for. */
export interface DeploymentOrder {
  readonly id: string;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly functionName: string;
  readonly functionType: 'sync' | 'action';
  /** TypeScript of the function; empty once the deployment has ended. */
  readonly code: string;
  /** In place of the version that the code says; null: that one. */
  readonly version: string | null;
  /** Whether models, with their records, may go. */
  readonly allowsDestructive: boolean;
  readonly actor: string;
}

/** Scope = environment uid; path [environment uid, id]. */
export interface Deployment extends DeploymentOrder {
  readonly status: 'waiting' | 'running' | 'success' | 'failed';
  /** Of the node that carries it out; null before. */
  readonly token: string | null;
  readonly createdAt: Instant;
  readonly startedAt: Instant | null;
  readonly updatedAt: Instant;
  readonly endedAt: Instant | null;
  /** Label of the version that is deployed; null before. */
  readonly deployedVersion: string | null;
  readonly error: DeploymentFailure | null;
}

export interface DeploymentFailure {
  readonly code: string;
  readonly message: string;
}
