import type { Json, JsonObject } from '#kernel/stable-json.ts';
import type { SavedRequest } from './identity.ts';

/** A provider's response as saved in the mocks. */
export interface SavedAnswer {
  readonly request: SavedRequest;
  readonly response: Json;
  /** Of `response`; absent for JSON and text. */
  readonly encoding?: 'base64';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the request: a replayed request finds its response by it. */
  readonly hash: string;
}

/** Responses by method and path, in the order of arrival. */
export type SavedAnswers = Readonly<
  Record<string, Readonly<Record<string, readonly SavedAnswer[]>>>
>;

/** A call of the handle that is no request to the provider, with its response. */
export interface SavedCall {
  readonly args: Json;
  readonly answer: Json;
}

/** `<integration>/tests/<name>.test.json` (docs/reference/cli.md#saved-answers). */
export interface Mocks {
  /** Absent when the function had no input. */
  readonly input?: Json;
  /** Absent when it returned nothing. */
  readonly output?: Json;
  /** Facts that the handle shows about the run. */
  readonly run: {
    readonly provider: string;
    readonly variant: string;
    readonly lastSyncDate: string | null;
    readonly paginate: JsonObject | null;
  };
  readonly svc: {
    /** Without the secret values of its credentials. */
    readonly getConnection: JsonObject;
    readonly getMetadata: JsonObject;
    readonly getCheckpoint: JsonObject | null;
    readonly batchSave: Readonly<Record<string, readonly Json[]>>;
    readonly batchUpdate: Readonly<Record<string, readonly Json[]>>;
    readonly batchDelete: Readonly<Record<string, readonly Json[]>>;
    /** Other calls, by method, in order. */
    readonly calls: Readonly<Record<string, readonly SavedCall[]>>;
  };
  readonly api: SavedAnswers;
  /** Of `uncontrolledFetch`; the path is the whole URL without its query. */
  readonly fetch: SavedAnswers;
}

/** Path of a function's mocks within its project. */
export const mocksPath = (integrationKey: string, name: string): string =>
  `${integrationKey}/tests/${name}.test.json`;
