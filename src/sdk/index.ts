/* oxlint-disable typescript/triple-slash-reference -- globals, and a module that no import names */
/// <reference types="node" preserve="true" />
/// <reference path="./unzipper.d.ts" preserve="true" />
/**
 * The module `svc`, which files of functions import. The `create*` functions only add the type; the work
 * happens through the handle that a run passes to `exec`.
 */
import type {
  ActionDefinition,
  OnChangeDefinition,
  OnEventDefinition,
  ProjectionDefinition,
  SyncDefinition,
} from './definitions.ts';
import type { CheckpointSchema, MetadataSchema, Models, RowSchema, Schema } from './schemas.ts';

export type {
  ActionDefinition,
  OnChangeDefinition,
  OnEventDefinition,
  ProjectedChange,
  ProjectionDefinition,
  RecordChange,
  SyncDefinition,
} from './definitions.ts';
export type { ActionError, SvcAction, SvcSync } from './handle.ts';
export type {
  HttpMethod,
  PaginationConfiguration,
  ProxyConfiguration,
  ProxyResponse,
} from './http.ts';
export type { Connection, Integration, SvcMetadata } from './resources.ts';

/** A sync: replicates a provider's data into the record cache on a schedule. */
export function createSync<
  M extends Models,
  Meta extends MetadataSchema = MetadataSchema,
  C extends CheckpointSchema = CheckpointSchema,
>(definition: SyncDefinition<M, Meta, C>): SyncDefinition<M, Meta, C> & { type: 'sync' } {
  return { ...definition, type: 'sync' };
}

/** An action: runs on demand with an input and returns an output. */
export function createAction<
  I extends Schema,
  O extends Schema,
  Meta extends MetadataSchema = MetadataSchema,
  C extends CheckpointSchema = CheckpointSchema,
>(
  definition: ActionDefinition<I, O, Meta, C>,
): ActionDefinition<I, O, Meta, C> & { type: 'action' } {
  return { ...definition, type: 'action' };
}

/** A function that runs on an event of a connection. */
export function createOnEvent<
  Meta extends MetadataSchema = MetadataSchema,
  C extends CheckpointSchema = CheckpointSchema,
>(definition: OnEventDefinition<Meta, C>): OnEventDefinition<Meta, C> & { type: 'onEvent' } {
  return { ...definition, type: 'onEvent' };
}

/** A function that runs on the changes of records, in their order. */
export function createOnChange<
  Meta extends MetadataSchema = MetadataSchema,
  C extends CheckpointSchema = CheckpointSchema,
>(definition: OnChangeDefinition<Meta, C>): OnChangeDefinition<Meta, C> & { type: 'onChange' } {
  return { ...definition, type: 'onChange' };
}

/** A projection: a table of rows that are mapped from records, read with SQL. */
export function createProjection<R extends RowSchema>(
  definition: ProjectionDefinition<R>,
): ProjectionDefinition<R> & { type: 'projection' } {
  return { ...definition, type: 'projection' };
}
