import type { Instant } from '#kernel/time.ts';

/** The request of the client. */
export interface DeploymentOrder {
  readonly id: string;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly functionName: string;
  readonly functionType: 'sync' | 'action';
  /** TypeScript of the function; empty once the deployment has ended. */
  readonly code: string;
  /** Replaces the version in the code; null: the version in the code. */
  readonly version: string | null;
  /** Whether models and their records may be deleted. */
  readonly allowsDestructive: boolean;
  readonly actor: string;
}

/** Scope = environment uid; path [environment uid, id]. */
export interface Deployment extends DeploymentOrder {
  readonly status: 'waiting' | 'running' | 'success' | 'failed';
  /** Of the node that executes it; null before. */
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
