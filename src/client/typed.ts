import { createClient, type Client, type ClientOptions, type RequestOptions } from './client.ts';
import type { RecordMetadata } from './operations.ts';

/** A record as a sync saved it. One whose payload was pruned (`_svc_metadata.pruned_at`) has only its `id`. */
export type RecordOf<Model> = Model & { readonly _svc_metadata: RecordMetadata };

export interface RecordsOptions {
  readonly variant?: string | undefined;
  /** Only records modified after the one with this cursor. */
  readonly cursor?: string | undefined;
  /** Of a page; default 100. */
  readonly limit?: number | undefined;
  /** `added`, `updated`, `deleted`, with commas between them. */
  readonly filter?: string | undefined;
}

type Models<Integration> = Integration extends { readonly models: infer M } ? M : never;
type Actions<Integration> = Integration extends { readonly actions: infer A } ? A : never;
type InputOf<Action> = Action extends { readonly input: infer I } ? I : never;
type OutputOf<Action> = Action extends { readonly output: infer O } ? O : never;

/** The input may be omitted where the action takes none. */
type RunArguments<Input> = [Input] extends [null | undefined]
  ? [input?: Input, options?: RequestOptions]
  : [input: Input, options?: RequestOptions];

/** One connection, with the models and actions of the functions of its integration. */
export interface TypedConnection<Integration> {
  /** The records of a model in the order of modification, page by page. @throws ApiError */
  records<M extends keyof Models<Integration> & string>(
    model: M,
    options?: RecordsOptions,
  ): AsyncGenerator<RecordOf<Models<Integration>[M]>, undefined>;
  /** Runs an action and returns its output. @throws ApiError `action_script_failure` for an ActionError */
  run<A extends keyof Actions<Integration> & string>(
    action: A,
    ...input: RunArguments<InputOf<Actions<Integration>[A]>>
  ): Promise<OutputOf<Actions<Integration>[A]>>;
}

/** The client, with typed connections. `Deployed` has the models and actions of each integration. */
export interface TypedClient<Deployed> extends Client {
  connection<I extends keyof Deployed & string>(
    integration: I,
    connectionId: string,
  ): TypedConnection<Deployed[I]>;
}

/** A client with the types that `svc generate client` writes; nothing is validated when it runs. */
export function createTypedClient<Deployed>(options: ClientOptions): TypedClient<Deployed> {
  const client = createClient(options);
  return {
    ...client,
    connection: (integration, connectionId) => {
      const headers = { 'provider-config-key': integration, 'connection-id': connectionId };
      return {
        async *records(model, query = {}) {
          const pages = client.pages('GET /records', { query: { ...query, model }, headers });
          // The function has declared the shape.
          for await (const { records } of pages) yield* records as never[];
          return undefined;
        },
        run: async (action, ...[input, request]) => {
          const body = { action_name: action, input: input ?? undefined };
          return client.request('POST /action/trigger', { ...request, headers, body }) as never;
        },
      };
    },
  };
}
